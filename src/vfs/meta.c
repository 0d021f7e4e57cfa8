/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/num.h"

/* tmpfs counts this much for each entry of a directory, and "." and "..". */
#define DIRENT_BYTES 20u

/* A directory that came from a host: its size and blocks stay the host's, as a disk's do when entries come and go. */
static bool is_host_dir(const struct node *n)
{
    return S_ISDIR(n->mode) && n->mount && n->x.origin;
}

/* Blocks of 512 bytes: whole pages, the last one as far as it is filled, to 4 KiB. */
static uint64_t blocks_of(const struct node *n)
{
    if (is_host_dir(n))
        return n->x.origin->blocks;
    if (!S_ISREG(n->mode) || n->size == 0)
        return 0;
    if (n->flags & NODE_HOST)
        return n->u.origin->blocks;
    const struct page *last = vfs__content_page(n, (n->size - 1) / VFS_PAGE);
    if (!(n->flags & NODE_MAPPED))
        last = n->u.page;
    uint64_t whole = n->flags & NODE_MAPPED ? n->u.map->pages - (last != NULL) : 0;
    return whole * (VFS_PAGE / 512) + (last ? ((uint64_t)last->len + 4095) / 4096 * 8 : 0);
}

/* A file that is still the host's has its other names there too, though they are files of their own here. */
static uint32_t links_of(const struct node *n)
{
    bool host = S_ISREG(n->mode) && n->flags & NODE_HOST;
    return host ? (uint32_t)n->u.origin->size_or_links - 1 + n->nlink : n->nlink;
}

static void fill(const struct node *n, uint64_t ino, struct vfs_stat *st)
{
    *st = (struct vfs_stat){.dev = VFS_DEV_BASE + n->mount,
                            .ino = ino,
                            .mode = n->mode,
                            .nlink = links_of(n),
                            .uid = n->uid,
                            .gid = n->gid,
                            .size = n->size,
                            .blocks = blocks_of(n),
                            .blksize = 4096,
                            .atime = n->atime,
                            .mtime = n->mtime,
                            .ctime = n->ctime,
                            .btime = n->btime};
    if (S_ISCHR(n->mode) || S_ISBLK(n->mode))
        st->rdev = n->u.rdev;
    if (S_ISDIR(n->mode))
        st->size = is_host_dir(n) ? n->x.origin->size_or_links : (n->size + 2) * DIRENT_BYTES;
}

int vfs_stat_ino(struct vfs *v, uint64_t ino, struct vfs_stat *ret)
{
    struct node tmp, *n;
    int rc = vfs__view(v, ino, &tmp, &n);
    if (rc == 0)
        fill(n, ino, ret);
    return rc;
}

int vfs_stat(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int flags, struct vfs_stat *ret)
{
    uint64_t ino;
    int rc = vfs_lookup(v, ctx, at, path, flags, &ino);
    return rc < 0 ? rc : vfs_stat_ino(v, ino, ret);
}

/* The node of @ino for a change of status: its view in *n, after the refusals that do not depend on who asks. */
static int for_change(struct vfs *v, uint64_t ino, struct node *tmp, struct node **n)
{
    int rc = vfs__view(v, ino, tmp, n);
    if (rc < 0)
        return rc;
    if (vfs__readonly(v, *n))
        return -EROFS;
    return *n == tmp ? -EPERM : 0;
}

int vfs_chmod(struct vfs *v, const struct vfs_cred *cred, uint64_t ino, uint32_t mode)
{
    struct node tmp, *n;
    int rc = for_change(v, ino, &tmp, &n);
    if (rc < 0)
        return rc;
    if (S_ISLNK(n->mode))
        return -EOPNOTSUPP;
    if (cred->uid != 0 && cred->uid != n->uid)
        return -EPERM;
    if (cred->uid != 0 && !vfs__in_group(cred, n->gid))
        mode &= ~(uint32_t)S_ISGID;
    n = vfs__edit(v, ino);
    if (!n)
        return -ENOMEM;
    n->mode = (n->mode & S_IFMT) | (mode & 07777);
    n->ctime = vfs__now(v);
    vfs__changed(v, n, VFS_EV_META, 0, str_of("", 0), ino);
    return 0;
}

/* Who may give a node of @n's owner to @uid and @gid (UINT32_MAX: not asked). */
static bool may_chown(const struct vfs_cred *cred, const struct node *n, uint32_t uid, uint32_t gid)
{
    if (cred->uid == 0)
        return true;
    if (uid != UINT32_MAX && (cred->uid != n->uid || uid != n->uid))
        return false;
    return gid == UINT32_MAX || (cred->uid == n->uid && (gid == n->gid || vfs__in_group(cred, gid)));
}

int vfs_chown(struct vfs *v, const struct vfs_cred *cred, uint64_t ino, uint32_t uid, uint32_t gid)
{
    struct node tmp, *n;
    int rc = for_change(v, ino, &tmp, &n);
    if (rc < 0)
        return rc;
    if (!may_chown(cred, n, uid, gid))
        return -EPERM;
    n = vfs__edit(v, ino);
    if (!n)
        return -ENOMEM;
    if (!S_ISDIR(n->mode)) {
        bool strange = cred->uid != 0 && !vfs__in_group(cred, n->gid);
        n->mode &= ~(uint32_t)S_ISUID;
        if (n->mode & S_IXGRP || strange)
            n->mode &= ~(uint32_t)S_ISGID;
    }
    if (uid != UINT32_MAX)
        n->uid = uid;
    if (gid != UINT32_MAX)
        n->gid = gid;
    n->ctime = vfs__now(v);
    vfs__changed(v, n, VFS_EV_META, 0, str_of("", 0), ino);
    return 0;
}

int vfs_utimens(struct vfs *v, const struct vfs_cred *cred, uint64_t ino, int64_t atime, int64_t mtime)
{
    struct node tmp, *n;
    if (atime == INT64_MIN && mtime == INT64_MIN)
        return 0;
    int rc = for_change(v, ino, &tmp, &n);
    if (rc < 0)
        return rc;
    if (cred->uid != 0 && cred->uid != n->uid) {
        if (atime != INT64_MAX || mtime != INT64_MAX)
            return -EPERM;
        rc = vfs__permit(cred, n, W_OK);
        if (rc < 0)
            return rc;
    }
    n = vfs__edit(v, ino);
    if (!n)
        return -ENOMEM;
    n->ctime = vfs__now(v);
    if (atime != INT64_MIN)
        n->atime = atime == INT64_MAX ? n->ctime : atime;
    if (mtime != INT64_MIN)
        n->mtime = mtime == INT64_MAX ? n->ctime : mtime;
    vfs__changed(v, n, VFS_EV_META, 0, str_of("", 0), ino);
    return 0;
}
