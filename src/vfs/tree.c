/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/clock.h"

static int64_t wall(void *arg)
{
    (void)arg;
    return clock_wall();
}

struct vfs *vfs_new(const struct vfs_quota *quota)
{
    struct vfs *v = vfs__alloc(sizeof(*v));
    struct family *f = vfs__alloc(sizeof(*f));
    struct node *root = vfs__node_new(S_IFDIR | 0755);
    struct radix *table = NULL;
    if (!v || !f || !root || vfs__radix_reserve(&table, RADIX_NODES, VFS_ROOT_INO) < 0) {
        vfs__node_unref(root);
        vfs__radix_unref(table, vfs__node_unref);
        vfs__free(f);
        vfs__free(v);
        return NULL;
    }
    *v = (struct vfs){.root = table,
                      .next_ino = VFS_ROOT_INO + 1,
                      .quota = *quota,
                      .used.inodes = 1,
                      .n_dirs = 1,
                      .now = wall,
                      .family = f};
    f->trees = 1;
    root->nlink = 2;
    root->parent = VFS_ROOT_INO;
    root->atime = root->mtime = root->ctime = root->btime = clock_wall();
    vfs__radix_put(v->root, VFS_ROOT_INO, root);
    return v;
}

struct vfs *vfs_fork(struct vfs *v)
{
    struct vfs *f = vfs__alloc(sizeof(*f));
    if (!f)
        return NULL;
    *f = *v;
    f->now = wall;
    f->now_arg = NULL;
    f->watch = NULL;
    f->tape = NULL;
    f->watch_arg = NULL;
    f->holds = NULL;
    f->holds_cap = f->n_holds = f->n_orphans = 0;
    f->root->refs++;
    f->family->trees++;
    if (f->mounts)
        f->mounts->refs++;
    for (uint32_t i = 0; v->n_orphans > 0 && i < v->holds_cap; i++) {
        const struct node *n = v->holds[i] ? v->holds[i]->node : NULL;
        if (!n)
            continue;
        f->used.inodes--;
        f->used.bytes -= vfs__node_bytes(n);
        f->n_dirs -= S_ISDIR(n->mode);
    }
    return f;
}

void vfs_free(struct vfs *v)
{
    if (!v)
        return;
    ASSERT(v->n_holds == 0);
    vfs__radix_unref(v->root, vfs__node_unref);
    vfs__mounts_unref(v->mounts);
    if (--v->family->trees == 0)
        vfs__free(v->family);
    vfs__free(v->holds);
    vfs__free(v);
}

void vfs_set_quota(struct vfs *v, const struct vfs_quota *quota)
{
    v->quota = *quota;
}

void vfs_get_quota(const struct vfs *v, struct vfs_quota *ret)
{
    *ret = v->quota;
}

void vfs_usage(const struct vfs *v, struct vfs_quota *ret_used)
{
    *ret_used = v->used;
}

void vfs_set_clock(struct vfs *v, int64_t (*now)(void *arg), void *arg)
{
    v->now = now ? now : wall;
    v->now_arg = arg;
}

void vfs_set_watch(struct vfs *v, void (*fn)(void *arg, enum vfs_event ev, uint64_t dir, struct str name, uint64_t ino),
                   void *arg)
{
    v->watch = fn;
    v->watch_arg = arg;
}

uint64_t vfs_generation(const struct vfs *v)
{
    return v->gen;
}

int64_t vfs__now(const struct vfs *v)
{
    return v->now(v->now_arg);
}

int vfs__room(const struct vfs *v, uint64_t bytes)
{
    uint64_t total;
    if (__builtin_add_overflow(v->used.bytes, bytes, &total))
        return -EDQUOT;
    return bytes == 0 || total <= v->quota.bytes ? 0 : -EDQUOT;
}

void vfs__changed(struct vfs *v, struct node *n, enum vfs_event ev, uint64_t dir, struct str name, uint64_t ino)
{
    v->gen++;
    if (n)
        n->flags &= (uint16_t)~NODE_CLEAN;
    if (v->watch)
        v->watch(v->watch_arg, ev, dir, name, ino);
}

/* ---- inodes that handles keep alive ---- */

static uint32_t hold_slot(const struct vfs *v, uint64_t ino)
{
    return (uint32_t)((ino * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (v->holds_cap - 1);
}

/* Index of the hold of @ino, or of the empty slot where it belongs. There is always an empty one. */
static uint32_t hold_find(const struct vfs *v, uint64_t ino)
{
    uint32_t i = hold_slot(v, ino);
    while (v->holds[i] && v->holds[i]->ino != ino)
        i = (i + 1) & (v->holds_cap - 1);
    return i;
}

struct hold *vfs__held(const struct vfs *v, uint64_t ino)
{
    return v->n_holds > 0 ? v->holds[hold_find(v, ino)] : NULL;
}

struct node *vfs__orphan(const struct vfs *v, uint64_t ino)
{
    struct hold *h = vfs__held(v, ino);
    return h ? h->node : NULL;
}

static int holds_grow(struct vfs *v)
{
    if (v->n_holds * 2 < v->holds_cap)
        return 0;
    uint32_t old_cap = v->holds_cap;
    struct hold **old = v->holds;
    uint32_t cap = old_cap ? old_cap * 2 : 8;
    struct hold **fresh = vfs__alloc(cap * sizeof(struct hold *));
    if (!fresh)
        return -ENOMEM;
    memset(fresh, 0, cap * sizeof(struct hold *));
    v->holds = fresh;
    v->holds_cap = cap;
    for (uint32_t i = 0; i < old_cap; i++) {
        if (old[i])
            v->holds[hold_find(v, old[i]->ino)] = old[i];
    }
    vfs__free(old);
    return 0;
}

struct hold *vfs__hold(struct vfs *v, uint64_t ino)
{
    struct hold *h = vfs__held(v, ino);
    if (h) {
        h->count++;
        return h;
    }
    if (holds_grow(v) < 0)
        return NULL;
    h = vfs__alloc(sizeof(*h));
    if (!h)
        return NULL;
    *h = (struct hold){.ino = ino, .count = 1};
    v->holds[hold_find(v, ino)] = h;
    v->n_holds++;
    return h;
}

/* A node leaves the tree for good. */
static void forget(struct vfs *v, struct node *n)
{
    v->used.inodes--;
    v->used.bytes -= vfs__node_bytes(n);
    v->n_dirs -= S_ISDIR(n->mode);
    vfs__node_unref(n);
}

void vfs__release(struct vfs *v, struct hold *h)
{
    if (--h->count > 0)
        return;
    uint32_t mask = v->holds_cap - 1;
    uint32_t gap = hold_find(v, h->ino);
    v->holds[gap] = NULL;
    v->n_holds--;
    /* Close the gap: an entry moves back when its own slot is not between the gap and it. */
    for (uint32_t i = (gap + 1) & mask; v->holds[i]; i = (i + 1) & mask) {
        if (((i - hold_slot(v, v->holds[i]->ino)) & mask) >= ((i - gap) & mask)) {
            v->holds[gap] = v->holds[i];
            v->holds[i] = NULL;
            gap = i;
        }
    }
    if (h->node) {
        v->n_orphans--;
        forget(v, h->node);
    }
    vfs__free(h);
}

/* ---- changing nodes ---- */

struct node *vfs__edit(struct vfs *v, uint64_t ino)
{
    if (vfs__radix_own(&v->root, ino) < 0)
        return NULL;
    struct node **slot = (struct node **)vfs__radix_slot(v->root, ino);
    if (!slot || !*slot) {
        struct hold *h = vfs__held(v, ino);
        if (!h || !h->node)
            return NULL;
        slot = &h->node;
    }
    if ((*slot)->refs > 1) {
        struct node *copy = vfs__node_copy(*slot);
        if (!copy)
            return NULL;
        (*slot)->refs--;
        *slot = copy;
    }
    return *slot;
}

void vfs__drop(struct vfs *v, uint64_t ino)
{
    struct node *n = vfs__radix_take(&v->root, ino);
    ASSERT(n);
    struct hold *h = vfs__held(v, ino);
    if (h) {
        h->node = n;
        v->n_orphans++;
    } else {
        forget(v, n);
    }
}
