/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>

#include "base/assert.h"

/* Slot number of @key in a page of @level. */
static unsigned index_of(uint64_t key, unsigned level)
{
    return (unsigned)(key >> (level * RADIX_BITS)) & (RADIX_WIDTH - 1);
}

static struct radix *page_new(unsigned level, uint8_t kind)
{
    struct radix *r = vfs__alloc(sizeof(*r));
    if (!r)
        return NULL;
    memset(r, 0, sizeof(*r));
    r->refs = 1;
    r->level = (uint8_t)level;
    r->kind = kind;
    return r;
}

/* Makes the page at @link one's own: children then have one more parent. */
static struct radix *own(struct radix **link)
{
    struct radix *r = *link;
    if (r->absent)
        r = vfs__radix_load(link);
    if (!r)
        return NULL;
    if (r->refs == 1) {
        r->stored = false;
        return r;
    }
    struct radix *copy = vfs__alloc(sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *r;
    copy->refs = 1;
    copy->stored = false;
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
        struct radix *up = page_new((*root)->level + 1u, (*root)->kind);
        if (!up)
            return -ENOMEM;
        up->slot[0] = *root;
        up->n = 1;
        *root = up;
    }
    return 0;
}

int vfs__radix_reserve(struct radix **root, uint8_t kind, uint64_t key)
{
    if (!*root) {
        *root = page_new(0, kind);
        if (!*root)
            return -ENOMEM;
    }
    if (raise_root(root, key) < 0 || !own(root))
        return -ENOMEM;
    struct radix *r = *root;
    while (r->level > 0) {
        void **slot = &r->slot[index_of(key, r->level)];
        if (!*slot) {
            *slot = page_new(r->level - 1u, kind);
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

/* The child in a slot of @r, loaded if it is a page; NULL and vfs__load_error when it cannot be had. */
static void *child_of(const struct radix *r, unsigned i)
{
    struct radix *const *slot = (struct radix *const *)&r->slot[i];
    if (r->level > 0 && *slot && (*slot)->absent)
        return vfs__radix_load((struct radix **)(uintptr_t)slot);
    return *slot;
}

void **vfs__radix_slot(struct radix *root, uint64_t key)
{
    if (!root || !vfs__radix_covers(root, key))
        return NULL;
    while (root && root->level > 0)
        root = child_of(root, index_of(key, root->level));
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
        ASSERT(r->refs == 1 && !r->stored);
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
    if (r->absent)
        vfs__library_unref(((struct absent *)r->slot)->lib);
    for (unsigned i = 0; !r->absent && i < RADIX_WIDTH && r->n > 0; i++) {
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
        struct radix *child = r->slot[first]; /* owned, so it is loaded */
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
        void *child = child_of(r, i);
        int rc = !child          ? vfs__absent(-EIO)
                 : r->level == 0 ? fn(arg, key, child)
                                 : each_page(child, key, from, fn, arg);
        if (rc)
            return rc;
    }
    return 0;
}

int vfs__radix_each(const struct radix *r, uint64_t from, int (*fn)(void *arg, uint64_t key, void *obj), void *arg)
{
    return r ? each_page(r, 0, from, fn, arg) : 0;
}

/* Slot @i of @r seen as a page of @level, @self being its place; a lower root stands for its first child. */
static void *const *child_at(struct radix *const *self, unsigned level, unsigned i)
{
    static void *const none = NULL;
    if (!*self)
        return &none;
    if ((*self)->level < level)
        return i == 0 ? (void *const *)self : &none;
    return &(*self)->slot[i];
}

/* Whether two pages are equal by their names in the store. */
static bool same_stored(const struct radix *a, const struct radix *b)
{
    return a && b && a->stored && b->stored && a->level == b->level && cas_id_cmp(&a->id, &b->id) == 0;
}

/* The page in a slot, loaded. */
static int need(void *const *slot)
{
    struct radix **link = (struct radix **)(uintptr_t)slot;
    return !*link || !(*link)->absent || vfs__radix_load(link) ? 0 : vfs__absent(-EIO);
}

static int diff_page(struct radix *const *a, struct radix *const *b, unsigned level, uint64_t base,
                     int (*fn)(void *arg, uint64_t key, void *obj_a, void *obj_b), void *arg)
{
    int rc = need((void *const *)a);
    if (rc == 0)
        rc = need((void *const *)b);
    for (unsigned i = 0; rc == 0 && i < RADIX_WIDTH; i++) {
        void *const *ca = child_at(a, level, i), *const *cb = child_at(b, level, i);
        uint64_t key = base + ((uint64_t)i << (level * RADIX_BITS));
        if (*ca == *cb || (level > 0 && same_stored(*ca, *cb)))
            continue;
        if (level == 0)
            rc = fn(arg, key, *ca, *cb);
        else
            rc = diff_page((struct radix *const *)ca, (struct radix *const *)cb, level - 1, key, fn, arg);
    }
    return rc;
}

int vfs__radix_diff(struct radix *const *a, struct radix *const *b,
                    int (*fn)(void *arg, uint64_t key, void *obj_a, void *obj_b), void *arg)
{
    if (*a == *b || same_stored(*a, *b))
        return 0;
    unsigned level = *a ? (*a)->level : (*b)->level;
    if (*b && (*b)->level > level)
        level = (*b)->level;
    return diff_page(a, b, level, 0, fn, arg);
}
