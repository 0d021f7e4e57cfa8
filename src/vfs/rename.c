/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/stat.h>

/*
 * rename(2), in the order in which Linux finds its errors: where the names are, what they lead to, whether it may be
 * done, whether there is memory for it; then it is done, and cannot fail any more.
 */

struct rename {
    struct walk old, new; /* to the last component of each */
    unsigned flags;
    uint64_t src, dst; /* inodes; dst is 0 when there is none */
    uint32_t src_type, dst_type;
    struct node tmp[4];
    struct node *src_node, *dst_node, *old_dir, *new_dir; /* views, for the checks only */
};

static bool exchange(const struct rename *r)
{
    return r->flags & RENAME_EXCHANGE;
}

static bool same_dir(const struct rename *r)
{
    return r->old.dir == r->new.dir;
}

/* Walks both paths; @rc_new is what the text of the new one is worth, which Linux tells after it has walked the old
 * one. */
static int resolve(struct rename *r, int rc_new)
{
    struct vfs *v = r->old.v;
    int rc = vfs__walk_run(&r->old);
    if (rc == 0)
        rc = rc_new < 0 ? rc_new : vfs__walk_run(&r->new);
    if (rc == 0)
        rc = vfs__view(v, r->old.dir, &r->tmp[0], &r->old_dir);
    if (rc == 0)
        rc = vfs__view(v, r->new.dir, &r->tmp[1], &r->new_dir);
    if (rc < 0)
        return rc;
    if (r->old_dir->mount != r->new_dir->mount)
        return -EXDEV;
    if (r->old.type != LAST_NAME)
        return -EBUSY;
    if (r->new.type != LAST_NAME)
        return r->flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
    return vfs__readonly(v, r->old_dir) ? -EROFS : 0;
}

/* Looks both names up. */
static int find(struct rename *r)
{
    struct vfs *v = r->old.v;
    int rc = vfs__child(v, r->old.dir, r->old.last, &r->src, &r->src_type);
    if (rc < 0)
        return rc;
    rc = vfs__child(v, r->new.dir, r->new.last, &r->dst, &r->dst_type);
    if (rc < 0 && rc != -ENOENT)
        return rc;
    if (rc < 0) {
        const struct node *d = vfs__is_provided(r->new.dir) ? NULL : vfs__node(v, r->new.dir);
        if (d && d->nlink == 0)
            return -ENOENT; /* a removed directory takes no name: Linux says so before all else */
        r->dst = 0;
    }
    if (r->dst && r->flags & RENAME_NOREPLACE)
        return -EEXIST;
    if (exchange(r) && !r->dst)
        return -ENOENT;
    if (exchange(r) && r->dst_type != S_IFDIR && r->new.slash)
        return -ENOTDIR;
    if (r->src_type != S_IFDIR && (r->old.slash || (r->new.slash && !exchange(r))))
        return -ENOTDIR;
    return 0;
}

/* True when @dir is @top or lies below it. */
static bool below(struct vfs *v, uint64_t dir, uint64_t top)
{
    while (dir != top) {
        uint64_t up;
        if (vfs_dir_parent(v, dir, &up) < 0 || up == dir)
            return false;
        dir = up;
    }
    return true;
}

/* Permissions of everything that changes. */
static int allowed(struct rename *r)
{
    struct vfs *v = r->old.v;
    const struct vfs_cred *cred = r->old.ctx->cred;
    bool src_dir = r->src_type == S_IFDIR, dst_dir = r->dst && r->dst_type == S_IFDIR;
    int rc = vfs__view(v, r->src, &r->tmp[2], &r->src_node);
    r->dst_node = NULL;
    if (rc == 0 && r->dst)
        rc = vfs__view(v, r->dst, &r->tmp[3], &r->dst_node);
    /* A view that read from the host may have made another one stale. */
    if (rc == 0)
        rc = vfs__view(v, r->src, &r->tmp[2], &r->src_node);
    if (rc == 0)
        rc = vfs__view(v, r->old.dir, &r->tmp[0], &r->old_dir);
    if (rc == 0)
        rc = vfs__view(v, r->new.dir, &r->tmp[1], &r->new_dir);
    if (rc == 0)
        rc = vfs__may_delete(cred, r->old_dir, r->src_node, src_dir);
    if (rc < 0)
        return rc;
    if (!r->dst_node)
        rc = vfs__may_create(v, cred, r->new.dir);
    else
        rc = vfs__may_delete(cred, r->new_dir, r->dst_node, exchange(r) ? dst_dir : src_dir);
    if (rc == 0 && !same_dir(r) && src_dir)
        rc = vfs__permit(cred, r->src_node, W_OK);
    if (rc == 0 && !same_dir(r) && exchange(r) && dst_dir)
        rc = vfs__permit(cred, r->dst_node, W_OK);
    if (rc < 0)
        return rc;
    if (r->src_node->flags & NODE_TOP || (r->dst_node && r->dst_node->flags & NODE_TOP))
        return -EBUSY;
    return r->old_dir == &r->tmp[0] ? -EPERM : 0;
}

/* ---- depth ---- */

struct layer {
    const struct vfs *v;
    uint64_t *ino;
    size_t n, cap;
};

static int add_subdir(void *arg, const struct dpage *p, const struct dslot *s)
{
    struct layer *l = arg;
    (void)p;
    if (s->type != S_IFDIR >> 12 || vfs__is_provided(s->u.ino))
        return 0;
    if (!vfs__grow(&l->ino, l->n, &l->cap, sizeof(*l->ino)))
        return -ENOMEM;
    l->ino[l->n++] = s->u.ino;
    return 0;
}

/* Whether the directory @top with all below it fits under @depth more directories: 0, -EMLINK, -ENOMEM. Layer by
 * layer, since a recursion could be as deep as the tree. */
static int fits(const struct vfs *v, uint64_t top, uint64_t depth)
{
    struct layer cur = {.v = v}, next = {.v = v};
    struct dslot first = {.u.ino = top, .type = S_IFDIR >> 12};
    int rc = add_subdir(&cur, NULL, &first);
    for (; rc == 0 && cur.n > 0; depth++) {
        if (depth > LIMIT_DEPTH)
            rc = -EMLINK;
        next.n = 0;
        for (uint64_t i = 0; rc == 0 && i < cur.n; i++) {
            struct node *n = vfs__node(v, cur.ino[i]);
            rc = n ? vfs__dpage_need(&n->u.dir) : vfs__absent(0);
            if (rc == 0 && n && n->nlink != 2)
                rc = vfs__dir_walk(n->u.dir, add_subdir, &next);
        }
        struct layer swap = cur;
        cur = next;
        next = swap;
    }
    vfs__free(cur.ino);
    vfs__free(next.ino);
    return rc;
}

/* Only a directory that moves to a deeper place in a tree of many directories can pass LIMIT_DEPTH. */
static int deep_enough(struct rename *r)
{
    struct vfs *v = r->old.v;
    if (same_dir(r) || v->n_dirs <= LIMIT_DEPTH)
        return 0;
    uint64_t from = vfs__depth(v, r->old.dir), to = vfs__depth(v, r->new.dir);
    if (r->src_type == S_IFDIR && to > from)
        return fits(v, r->src, to + 1);
    if (exchange(r) && r->dst_type == S_IFDIR && from > to)
        return fits(v, r->dst, from + 1);
    return 0;
}

/* ---- doing it ---- */

/* The four nodes that change, all edited. */
struct parts {
    struct node *od, *nd, *src, *dst;
};

/* Everything that can fail for want of memory. */
static int prepare(struct rename *r, struct parts *p)
{
    struct vfs *v = r->old.v;
    p->od = vfs__edit(v, r->old.dir);
    p->nd = p->od ? vfs__edit(v, r->new.dir) : NULL;
    p->src = p->nd ? vfs__edit(v, r->src) : NULL;
    p->dst = p->src && r->dst ? vfs__edit(v, r->dst) : NULL;
    if (!p->src || (r->dst && !p->dst) || vfs__dir_own(&p->od->u.dir, r->old.last) < 0)
        return -ENOMEM;
    int rc = r->dst ? vfs__dir_own(&p->nd->u.dir, r->new.last) : 0;
    if (rc == 0 && !S_ISDIR(p->src->mode) && (p->src->nlink > 1 || p->src->x.links))
        rc = vfs__links_reserve(p->src, r->new.dir);
    if (rc == 0 && p->dst && !S_ISDIR(p->dst->mode) && (p->dst->nlink > 1 || p->dst->x.links))
        rc = vfs__links_reserve(p->dst, exchange(r) ? r->old.dir : r->new.dir);
    if (rc == 0 && !r->dst)
        rc = vfs__dir_reserve(&p->nd->u.dir, r->new.last);
    return rc;
}

/* A node that was named in @from is now named in @to. */
static void move_parent(struct node *n, struct node *from_node, struct node *to_node, uint64_t from, uint64_t to)
{
    if (from == to)
        return;
    if (S_ISDIR(n->mode)) {
        n->parent = to;
        from_node->nlink--;
        to_node->nlink++;
    } else if (n->nlink == 1 && !n->x.links) {
        n->parent = to;
    } else {
        vfs__links_add(n, to);
        vfs__links_del(n, from);
    }
}

static void commit_exchange(struct rename *r, struct parts *p)
{
    struct dslot *a = vfs__dir_find(p->od->u.dir, r->old.last);
    struct dslot *b = vfs__dir_find(p->nd->u.dir, r->new.last);
    a->u.ino = r->dst;
    a->type = (uint8_t)(r->dst_type >> 12);
    b->u.ino = r->src;
    b->type = (uint8_t)(r->src_type >> 12);
    move_parent(p->src, p->od, p->nd, r->old.dir, r->new.dir);
    move_parent(p->dst, p->nd, p->od, r->new.dir, r->old.dir);
}

static void commit_move(struct rename *r, struct parts *p)
{
    if (p->dst) {
        struct dslot *s = vfs__dir_find(p->nd->u.dir, r->new.last);
        s->u.ino = r->src;
        s->type = (uint8_t)(r->src_type >> 12);
        p->nd->nlink -= S_ISDIR(p->dst->mode);
    } else {
        vfs__dir_put(&p->nd->u.dir, r->new.last, r->src, (uint8_t)(r->src_type >> 12));
        p->nd->size++;
    }
    vfs__dir_del(&p->od->u.dir, r->old.last);
    p->od->size--;
    move_parent(p->src, p->od, p->nd, r->old.dir, r->new.dir);
}

static int commit(struct rename *r)
{
    struct vfs *v = r->old.v;
    struct parts p;
    int rc = prepare(r, &p);
    if (rc < 0)
        return rc;
    if (exchange(r))
        commit_exchange(r, &p);
    else
        commit_move(r, &p);
    p.src->ctime = p.od->mtime = p.od->ctime = p.nd->mtime = p.nd->ctime = vfs__now(v);
    if (p.dst)
        p.dst->ctime = p.src->ctime;
    vfs__changed(v, p.od, VFS_EV_RENAME, r->old.dir, r->old.last, r->src);
    vfs__changed(v, p.nd, VFS_EV_RENAME, r->new.dir, r->new.last, r->src);
    p.src->flags &= (uint16_t)~NODE_CLEAN;
    if (p.dst) {
        p.dst->flags &= (uint16_t)~NODE_CLEAN;
        if (!exchange(r))
            vfs__unname(v, p.dst, r->dst, r->new.dir);
    }
    return 0;
}

static int run(struct rename *r, int rc_new)
{
    struct vfs *v = r->old.v;
    int rc = resolve(r, rc_new);
    if (rc == 0)
        rc = find(r);
    if (rc < 0)
        return rc;
    if (!same_dir(r) && r->src_type == S_IFDIR && below(v, r->new.dir, r->src))
        return -EINVAL;
    if (!same_dir(r) && r->dst && r->dst_type == S_IFDIR && below(v, r->old.dir, r->dst))
        return exchange(r) ? -EINVAL : -ENOTEMPTY;
    if (r->src == r->dst)
        return 0;
    rc = allowed(r);
    if (rc < 0)
        return rc;
    if (r->dst && r->dst_type == S_IFDIR && !exchange(r)) {
        uint64_t count;
        rc = vfs_dir_count(v, r->dst, &count);
        if (rc < 0 || count > 0)
            return rc < 0 ? rc : -ENOTEMPTY;
    }
    rc = deep_enough(r);
    return rc < 0 ? rc : commit(r);
}

int vfs_rename(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at_old, struct str old, uint64_t at_new,
               struct str new_path, unsigned flags)
{
    if (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE) || flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
        return -EINVAL;
    struct rename r = {.flags = flags};
    int rc = vfs__walk_init(&r.old, v, ctx, at_old, old, 0);
    int rc_new = vfs__walk_init(&r.new, v, ctx, at_new, new_path, 0);
    if (rc == 0)
        rc = run(&r, rc_new);
    vfs__walk_done(&r.old);
    vfs__walk_done(&r.new);
    return rc;
}
