/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <sys/stat.h>

/* ---- making a name ---- */

void vfs__inherit(const struct vfs_ctx *ctx, const struct node *dir, struct node *n)
{
    const struct vfs_cred *cred = ctx->cred;
    n->uid = cred->uid;
    n->gid = cred->gid;
    if (dir && dir->mode & S_ISGID) {
        n->gid = dir->gid;
        if (S_ISDIR(n->mode))
            n->mode |= S_ISGID;
        else if ((n->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && cred->uid != 0 &&
                 !vfs__in_group(cred, n->gid))
            n->mode &= ~(uint32_t)S_ISGID;
    }
    if (!S_ISLNK(n->mode))
        n->mode &= ~(ctx->umask & 0777);
}

int vfs__may_create(struct vfs *v, const struct vfs_cred *cred, uint64_t dir)
{
    struct node tmp, *n;
    int rc = vfs__view(v, dir, &tmp, &n);
    if (rc < 0)
        return rc;
    if (vfs__readonly(v, n))
        return -EROFS;
    if (n->nlink == 0)
        return -ENOENT;
    rc = vfs__permit(cred, n, W_OK | X_OK);
    return rc == 0 && n == &tmp ? -EPERM : rc;
}

uint64_t vfs__depth(struct vfs *v, uint64_t dir)
{
    uint64_t depth = 0;
    while (dir != VFS_ROOT_INO && vfs_dir_parent(v, dir, &dir) == 0)
        depth++;
    return depth;
}

/* A symlink's target as a page, within the quota. */
static int target_page(struct vfs *v, struct str target, struct page **ret)
{
    int rc = vfs__room(v, vfs__page_cap(target.n));
    if (rc < 0)
        return rc;
    struct page *p = vfs__page_new(target.n);
    if (!p)
        return -ENOMEM;
    memcpy(p->p, target.p, target.n);
    p->len = (uint32_t)target.n;
    *ret = p;
    return 0;
}

int vfs__create(struct vfs *v, const struct vfs_ctx *ctx, uint64_t dir, struct str name, uint32_t mode, uint64_t rdev,
                struct str target, uint64_t *ret_ino)
{
    uint64_t ino = v->next_ino;
    struct page *page = NULL;
    if (v->used.inodes >= v->quota.inodes)
        return -ENOSPC;
    if (S_ISDIR(mode) && v->n_dirs > LIMIT_DEPTH && vfs__depth(v, dir) >= LIMIT_DEPTH)
        return -EMLINK;
    if (S_ISLNK(mode)) {
        int rc = target_page(v, target, &page);
        if (rc < 0)
            return rc;
    }
    struct node *n = vfs__node_new(mode);
    struct node *d = n ? vfs__edit(v, dir) : NULL;
    if (!d || vfs__radix_reserve(&v->root, RADIX_NODES, ino) < 0 || vfs__dir_reserve(&d->u.dir, name) < 0) {
        vfs__node_unref(n);
        vfs__page_unref(page);
        return -ENOMEM;
    }
    vfs__inherit(ctx, d, n);
    n->nlink = 1;
    n->parent = dir;
    n->mount = d->mount;
    n->atime = n->mtime = n->ctime = n->btime = vfs__now(v);
    if (S_ISDIR(mode)) {
        n->nlink = 2;
        d->nlink++;
        v->n_dirs++;
    } else if (S_ISLNK(mode)) {
        n->u.page = page;
        n->size = target.n;
        v->used.bytes += page->cap;
    } else {
        n->u.rdev = S_ISCHR(mode) || S_ISBLK(mode) ? rdev : 0;
    }
    vfs__radix_put(v->root, ino, n);
    vfs__dir_put(&d->u.dir, name, ino, (uint8_t)(mode >> 12));
    v->next_ino++;
    v->used.inodes++;
    d->size++;
    d->mtime = d->ctime = n->mtime;
    vfs__changed(v, d, VFS_EV_CREATE, dir, name, ino);
    *ret_ino = ino;
    return 0;
}

/* Walks to where a new name is to be made, and finds the reasons against it that come before permissions. */
static int find_place(struct walk *w, bool dir)
{
    uint64_t ino;
    uint32_t type;
    int rc = vfs__walk_run(w);
    if (rc < 0)
        return rc;
    if (w->type != LAST_NAME)
        return -EEXIST;
    rc = vfs__child(w->v, w->dir, w->last, &ino, &type);
    if (rc == 0)
        return -EEXIST;
    if (rc < 0 && rc != -ENOENT)
        return rc;
    const struct node *d = vfs__is_provided(w->dir) ? NULL : vfs__node(w->v, w->dir);
    bool removed = d && d->nlink == 0;
    return removed || (w->slash && !dir) ? -ENOENT : 0;
}

/* What mkdir, mknod and symlink share. */
static int make(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, uint32_t mode, uint64_t rdev,
                struct str target)
{
    struct walk w;
    uint64_t ino;
    int rc = vfs__walk_init(&w, v, ctx, at, path, 0);
    if (rc == 0)
        rc = find_place(&w, S_ISDIR(mode));
    if (rc == 0)
        rc = vfs__may_create(v, ctx->cred, w.dir);
    if (rc == 0 && (S_ISCHR(mode) || S_ISBLK(mode)) && ctx->cred->uid != 0)
        rc = -EPERM;
    if (rc == 0)
        rc = vfs__create(v, ctx, w.dir, w.last, mode, rdev, target, &ino);
    vfs__walk_done(&w);
    return rc;
}

int vfs_mkdir(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, uint32_t mode)
{
    return make(v, ctx, at, path, S_IFDIR | (mode & 01777), 0, str_of("", 0));
}

int vfs_mknod(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, uint32_t mode, uint64_t rdev)
{
    uint32_t type = mode & S_IFMT;
    if (type == S_IFDIR)
        return -EPERM;
    if (type == 0)
        type = S_IFREG;
    if (type != S_IFREG && type != S_IFIFO && type != S_IFSOCK && type != S_IFCHR && type != S_IFBLK)
        return -EINVAL;
    return make(v, ctx, at, path, type | (mode & 07777), rdev, str_of("", 0));
}

int vfs_symlink(struct vfs *v, const struct vfs_ctx *ctx, struct str target, uint64_t at, struct str path)
{
    if (target.n == 0)
        return -ENOENT;
    if (target.n >= LIMIT_PATH)
        return -ENAMETOOLONG;
    if (memchr(target.p, 0, target.n))
        return -EINVAL;
    return make(v, ctx, at, path, S_IFLNK | 0777, 0, target);
}

/* ---- link ---- */

/* Linux's protected_hardlinks, which Debian switches on: whose files others may link to. */
static int may_link(const struct vfs_cred *cred, const struct node *n)
{
    if (cred->uid == 0 || cred->uid == n->uid)
        return 0;
    bool safe = S_ISREG(n->mode) && !(n->mode & S_ISUID) && (n->mode & (S_ISGID | S_IXGRP)) != (S_ISGID | S_IXGRP) &&
                vfs__permit(cred, n, R_OK | W_OK) == 0;
    return safe ? 0 : -EPERM;
}

/* Adds the name once nothing speaks against it. */
static int link_commit(struct vfs *v, uint64_t ino, uint64_t dir, struct str name)
{
    if (v->used.inodes >= v->quota.inodes)
        return -ENOSPC;
    struct node *n = vfs__edit(v, ino);
    struct node *d = n ? vfs__edit(v, dir) : NULL;
    if (!d || vfs__links_reserve(n, dir) < 0 || vfs__dir_reserve(&d->u.dir, name) < 0)
        return -ENOMEM;
    vfs__links_add(n, dir);
    n->nlink++;
    v->used.inodes++;
    vfs__dir_put(&d->u.dir, name, ino, (uint8_t)(n->mode >> 12));
    d->size++;
    n->ctime = d->mtime = d->ctime = vfs__now(v);
    vfs__changed(v, n, VFS_EV_META, 0, name, ino);
    vfs__changed(v, d, VFS_EV_CREATE, dir, name, ino);
    return 0;
}

/* The checks of link(2) once both ends are known. */
static int link_node(struct vfs *v, const struct vfs_ctx *ctx, uint64_t ino, const struct walk *w)
{
    struct node tmp, *n, tmp_dir, *d;
    int rc = vfs__view(v, ino, &tmp, &n);
    if (rc == 0)
        rc = vfs__view(v, w->dir, &tmp_dir, &d);
    if (rc < 0)
        return rc;
    if (vfs__readonly(v, d))
        return -EROFS;
    if (n->mount != d->mount)
        return -EXDEV;
    rc = may_link(ctx->cred, n);
    if (rc == 0)
        rc = vfs__may_create(v, ctx->cred, w->dir);
    if (rc < 0)
        return rc;
    if (S_ISDIR(n->mode) || n == &tmp)
        return -EPERM;
    if (n->nlink == 0)
        return -ENOENT;
    if (n->nlink >= LIMIT_LINKS)
        return -EMLINK;
    return link_commit(v, ino, w->dir, w->last);
}

int vfs_link(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at_old, struct str old, uint64_t at_new,
             struct str new_path, int flags)
{
    uint64_t ino;
    struct walk w;
    int rc = vfs_lookup(v, ctx, at_old, old, flags & VFS_FOLLOW_OLD ? 0 : VFS_NOFOLLOW, &ino);
    if (rc < 0)
        return rc;
    rc = vfs__walk_init(&w, v, ctx, at_new, new_path, 0);
    if (rc == 0)
        rc = find_place(&w, false);
    if (rc == 0)
        rc = link_node(v, ctx, ino, &w);
    vfs__walk_done(&w);
    return rc;
}

/* ---- removing a name ---- */

int vfs__may_delete(const struct vfs_cred *cred, const struct node *dir, const struct node *n, bool as_dir)
{
    int rc = vfs__permit(cred, dir, W_OK | X_OK);
    if (rc < 0)
        return rc;
    if (dir->mode & S_ISVTX && cred->uid != 0 && cred->uid != n->uid && cred->uid != dir->uid)
        return -EPERM;
    if (as_dir != (bool)S_ISDIR(n->mode))
        return as_dir ? -ENOTDIR : -EISDIR;
    return dir->nlink == 0 ? -ENOENT : 0;
}

static int is_empty(struct vfs *v, uint64_t dir)
{
    uint64_t count;
    int rc = vfs_dir_count(v, dir, &count);
    return rc < 0 ? rc : count > 0 ? -ENOTEMPTY : 0;
}

void vfs__unname(struct vfs *v, struct node *n, uint64_t ino, uint64_t dir)
{
    if (S_ISDIR(n->mode)) {
        n->nlink = 0;
    } else {
        vfs__links_del(n, dir);
        n->nlink--;
        v->used.inodes -= n->nlink > 0;
    }
    if (n->nlink == 0)
        vfs__drop(v, ino);
}

static int remove_commit(struct vfs *v, uint64_t dir, struct str name, uint64_t ino)
{
    struct node *d = vfs__edit(v, dir);
    struct node *n = d ? vfs__edit(v, ino) : NULL;
    if (!n || vfs__dir_own(&d->u.dir, name) < 0)
        return -ENOMEM;
    if (!S_ISDIR(n->mode) && n->x.links && vfs__links_reserve(n, dir) < 0)
        return -ENOMEM;
    vfs__dir_del(&d->u.dir, name);
    d->size--;
    d->nlink -= S_ISDIR(n->mode);
    d->mtime = d->ctime = n->ctime = vfs__now(v);
    vfs__changed(v, n, VFS_EV_META, 0, name, ino);
    vfs__changed(v, d, VFS_EV_REMOVE, dir, name, ino);
    vfs__unname(v, n, ino, dir);
    return 0;
}

static int remove_name(struct walk *w, bool as_dir)
{
    struct vfs *v = w->v;
    struct node tmp_dir, *d, tmp, *n;
    uint64_t ino;
    uint32_t type;
    int rc = vfs__view(v, w->dir, &tmp_dir, &d);
    if (rc < 0)
        return rc;
    if (vfs__readonly(v, d))
        return -EROFS;
    rc = vfs__child(v, w->dir, w->last, &ino, &type);
    if (rc == 0 && w->slash && !as_dir)
        rc = type == S_IFDIR ? -EISDIR : -ENOTDIR;
    if (rc == 0)
        rc = vfs__view(v, ino, &tmp, &n);
    if (rc == 0)
        rc = vfs__view(v, w->dir, &tmp_dir, &d);
    if (rc == 0)
        rc = vfs__may_delete(w->ctx->cred, d, n, as_dir);
    if (rc < 0)
        return rc;
    if (n->flags & NODE_TOP)
        return -EBUSY;
    if (d == &tmp_dir)
        return -EPERM;
    rc = as_dir ? is_empty(v, ino) : 0;
    return rc < 0 ? rc : remove_commit(v, w->dir, w->last, ino);
}

int vfs_unlink(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path)
{
    struct walk w;
    int rc = vfs__walk_init(&w, v, ctx, at, path, 0);
    if (rc == 0)
        rc = vfs__walk_run(&w);
    if (rc == 0)
        rc = w.type == LAST_NAME ? remove_name(&w, false) : -EISDIR;
    vfs__walk_done(&w);
    return rc;
}

int vfs_rmdir(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path)
{
    static const int special[] = {
        [LAST_NAME] = 0, [LAST_DOT] = -EINVAL, [LAST_DOTDOT] = -ENOTEMPTY, [LAST_ROOT] = -EBUSY};
    struct walk w;
    int rc = vfs__walk_init(&w, v, ctx, at, path, 0);
    if (rc == 0)
        rc = vfs__walk_run(&w);
    if (rc == 0)
        rc = w.type == LAST_NAME ? remove_name(&w, true) : special[w.type];
    vfs__walk_done(&w);
    return rc;
}
