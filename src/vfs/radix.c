/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>

#include "base/assert.h"

/* Slot number of @key in a page of @level. */
static unsigned index_of(uint64_t key, unsigned level)
{
    return (unsigned)(key >> (level * RADIX_BITS)) & (RADIX_WIDTH - 1);
}

static struct radix *page_new(unsigned level)
{
    struct radix *r = vfs__alloc(sizeof(*r));
    if (!r)
        return NULL;
    memset(r, 0, sizeof(*r));
    r->refs = 1;
    r->level = (uint8_t)level;
    return r;
}

/* Makes the page at @link one's own: children then have one more parent. */
static struct radix *own(struct radix **link)
{
    struct radix *r = *link;
    if (r->refs == 1)
        return r;
    struct radix *copy = vfs__alloc(sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *r;
    copy->refs = 1;
    for (unsigned i = 0; i < RADIX_WIDTH; i++) {
        if (copy->slot[i])
            ++*(uint32_t *)copy->slot[i];
    }
    r->refs--;
    *link = copy;
    return copy;
}

/* Raises the root until it reaches @key. */
static int raise_root(struct radix **root, uint64_t key)
{
    while (!vfs__radix_covers(*root, key)) {
        struct radix *up = page_new((*root)->level + 1u);
        if (!up)
            return -ENOMEM;
        up->slot[0] = *root;
        up->n = 1;
        *root = up;
    }
    return 0;
}

int vfs__radix_reserve(struct radix **root, uint64_t key)
{
    if (!*root) {
        *root = page_new(0);
        if (!*root)
            return -ENOMEM;
    }
    if (raise_root(root, key) < 0 || !own(root))
        return -ENOMEM;
    struct radix *r = *root;
    while (r->level > 0) {
        void **slot = &r->slot[index_of(key, r->level)];
        if (!*slot) {
            *slot = page_new(r->level - 1u);
            if (!*slot)
                return -ENOMEM;
            r->n++;
        }
        r = own((struct radix **)slot);
        if (!r)
            return -ENOMEM;
    }
    return 0;
}

int vfs__radix_own(struct radix **root, uint64_t key)
{
    if (!*root)
        return 0;
    struct radix *r = own(root);
    if (!r)
        return -ENOMEM;
    if (!vfs__radix_covers(r, key))
        return 0;
    while (r->level > 0) {
        struct radix **link = (struct radix **)&r->slot[index_of(key, r->level)];
        if (!*link)
            return 0;
        r = own(link);
        if (!r)
            return -ENOMEM;
    }
    return 0;
}

void **vfs__radix_slot(struct radix *root, uint64_t key)
{
    if (!root || !vfs__radix_covers(root, key))
        return NULL;
    while (root && root->level > 0)
        root = root->slot[index_of(key, root->level)];
    return root ? &root->slot[index_of(key, 0)] : NULL;
}

void *vfs__radix_put(struct radix *root, uint64_t key, void *obj)
{
    while (root->level > 0)
        root = root->slot[index_of(key, root->level)];
    void *old = root->slot[index_of(key, 0)];
    root->slot[index_of(key, 0)] = obj;
    root->n = (uint8_t)(root->n + (obj != NULL) - (old != NULL));
    return old;
}

void *vfs__radix_take(struct radix **root, uint64_t key)
{
    struct radix *path[64 / RADIX_BITS + 1];
    struct radix *r = *root;
    if (!r || !vfs__radix_covers(r, key))
        return NULL;
    for (;;) {
        path[r->level] = r;
        if (r->level == 0)
            break;
        r = r->slot[index_of(key, r->level)];
        if (!r)
            return NULL;
    }
    void *old = r->slot[index_of(key, 0)];
    if (!old)
        return NULL;
    unsigned top = (*root)->level;
    for (unsigned l = 0; l <= top; l++) {
        r = path[l];
        ASSERT(r->refs == 1);
        r->slot[index_of(key, l)] = NULL;
        if (--r->n > 0)
            return old;
        vfs__free(r);
    }
    *root = NULL;
    return old;
}

/* Drops a child of a page of @level. */
static void drop_child(void *child, unsigned level, void (*drop)(void *obj))
{
    if (level == 0)
        drop(child);
    else
        vfs__radix_unref(child, drop);
}

void vfs__radix_unref(struct radix *r, void (*drop)(void *obj))
{
    if (!r || --r->refs > 0)
        return;
    for (unsigned i = 0; i < RADIX_WIDTH && r->n > 0; i++) {
        if (r->slot[i]) {
            drop_child(r->slot[i], r->level, drop);
            r->n--;
        }
    }
    vfs__free(r);
}

static void trim_page(struct radix *r, uint64_t from, void (*drop)(void *obj))
{
    unsigned first = index_of(from, r->level);
    for (unsigned i = first + 1; i < RADIX_WIDTH; i++) {
        if (r->slot[i]) {
            drop_child(r->slot[i], r->level, drop);
            r->slot[i] = NULL;
            r->n--;
        }
    }
    if (!r->slot[first])
        return;
    if (r->level > 0) {
        struct radix *child = r->slot[first];
        trim_page(child, from, drop);
        if (child->n > 0)
            return;
        vfs__free(child);
    } else {
        drop(r->slot[first]);
    }
    r->slot[first] = NULL;
    r->n--;
}

void vfs__radix_trim(struct radix **root, uint64_t from, void (*drop)(void *obj))
{
    struct radix *r = *root;
    if (!r || !vfs__radix_covers(r, from))
        return;
    trim_page(r, from, drop);
    if (r->n == 0) {
        vfs__free(r);
        *root = NULL;
    }
}

static int each_page(const struct radix *r, uint64_t base, uint64_t from, int (*fn)(void *arg, uint64_t key, void *obj),
                     void *arg)
{
    for (unsigned i = 0; i < RADIX_WIDTH; i++) {
        uint64_t key = base + ((uint64_t)i << (r->level * RADIX_BITS));
        if (!r->slot[i] || key + ((UINT64_C(1) << (r->level * RADIX_BITS)) - 1) < from)
            continue;
        int rc = r->level == 0 ? fn(arg, key, r->slot[i]) : each_page(r->slot[i], key, from, fn, arg);
        if (rc)
            return rc;
    }
    return 0;
}

int vfs__radix_each(const struct radix *r, uint64_t from, int (*fn)(void *arg, uint64_t key, void *obj), void *arg)
{
    return r ? each_page(r, 0, from, fn, arg) : 0;
}

/* Child @i of @r seen as a page of @level; a lower root stands for its first child. */
static void *child_at(const struct radix *r, unsigned level, unsigned i)
{
    if (!r)
        return NULL;
    if (r->level < level) {
        const void *self = r;
        return i == 0 ? (void *)(uintptr_t)self : NULL;
    }
    return r->slot[i];
}

static int diff_page(const struct radix *a, const struct radix *b, unsigned level, uint64_t base,
                     int (*fn)(void *arg, uint64_t key, void *obj_a, void *obj_b), void *arg)
{
    for (unsigned i = 0; i < RADIX_WIDTH; i++) {
        void *ca = child_at(a, level, i);
        void *cb = child_at(b, level, i);
        if (ca == cb)
            continue;
        uint64_t key = base + ((uint64_t)i << (level * RADIX_BITS));
        int rc = level == 0 ? fn(arg, key, ca, cb) : diff_page(ca, cb, level - 1, key, fn, arg);
        if (rc)
            return rc;
    }
    return 0;
}

int vfs__radix_diff(const struct radix *a, const struct radix *b,
                    int (*fn)(void *arg, uint64_t key, void *obj_a, void *obj_b), void *arg)
{
    if (a == b)
        return 0;
    unsigned level = a ? a->level : b->level;
    if (b && b->level > level)
        level = b->level;
    return diff_page(a, b, level, 0, fn, arg);
}
