/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"

/* Bytes of a provided file. */
#define PROVIDED_MAX (16u << 20)

const struct vfs_cred vfs__nobody = {.uid = UINT32_MAX, .gid = UINT32_MAX};

/* Permission bits that an open asks for; truncating is writing. */
static int wanted(int oflags)
{
    static const int by_mode[] = {
        [O_RDONLY] = R_OK, [O_WRONLY] = W_OK, [O_RDWR] = R_OK | W_OK, [O_ACCMODE] = R_OK | W_OK};
    return by_mode[oflags & O_ACCMODE] | (oflags & O_TRUNC ? W_OK : 0);
}

static struct vfs_handle *handle_new(struct vfs *v, uint64_t ino, int oflags, const struct vfs_cred *cred)
{
    struct vfs_handle *h = vfs__alloc(sizeof(*h));
    if (!h)
        return NULL;
    *h = (struct vfs_handle){.v = v, .oflags = oflags, .cred = *cred, .fd = -1};
    h->hold = vfs__hold(v, ino);
    if (!h->hold) {
        vfs__free(h);
        return NULL;
    }
    return h;
}

void vfs_close(struct vfs_handle *h)
{
    if (!h)
        return;
    if (!h->fd_borrowed)
        fd_close(&h->fd);
    if (h->window)
        vfs__window_give(h->host, h->window);
    vfs__host_unref(h->host);
    if (!h->data_borrowed)
        vfs__free(h->data);
    vfs__release(h->v, h->hold);
    vfs__free(h);
}

int vfs__handle_host(struct vfs_handle *h)
{
    if (h->fd >= 0)
        return 0;
    struct node *n = vfs__node(h->v, h->hold->ino);
    return vfs__host_open(h->v, h->hold->ino, &n, &h->fd, &h->fd_borrowed);
}

/* Reads what a provided file holds now. */
static int read_provided(struct vfs_handle *h)
{
    struct str there;
    if (vfs__provided_bytes(h->v, h->hold->ino, &there) == 0) {
        h->data = (char *)(uintptr_t)there.p;
        h->data_n = there.n;
        h->data_borrowed = true;
        return 0;
    }
    struct mem_account *acc = mem_use(NULL);
    struct buf b;
    buf_init(&b, PROVIDED_MAX);
    int rc = vfs__provided_read(h->v, h->hold->ino, &b);
    if (rc == 0)
        rc = b.err;
    if (rc == 0) {
        h->data_n = b.n;
        h->data = buf_take(&b);
    }
    buf_done(&b);
    mem_use(acc);
    return rc;
}

/* Linux lets O_CREAT open no device, socket or symlink of somebody else's in a sticky directory others may write to. */
static int may_create_sticky(const struct walk *w, const struct node *n)
{
    struct node tmp, *d;
    int rc = vfs__view(w->v, w->dir, &tmp, &d);
    if (rc < 0 || S_ISREG(n->mode) || S_ISFIFO(n->mode) || !(d->mode & S_ISVTX))
        return rc;
    bool own = n->uid == d->uid || n->uid == w->ctx->cred->uid;
    return own || !(d->mode & S_IWOTH) ? 0 : -EACCES;
}

/* Linux's may_open() and the checks around it, for a file that was there before. @n's status is known. */
static int may_open(const struct walk *w, const struct node *n, int oflags)
{
    int want = wanted(oflags);
    if (oflags & O_CREAT && oflags & O_EXCL)
        return -EEXIST;
    if (oflags & O_CREAT && S_ISDIR(n->mode))
        return -EISDIR;
    int rc = oflags & O_CREAT ? may_create_sticky(w, n) : 0;
    if (rc < 0)
        return rc;
    if ((oflags & O_DIRECTORY || w->slash) && !S_ISDIR(n->mode))
        return -ENOTDIR;
    if (oflags & O_PATH)
        return 0;
    if (S_ISLNK(n->mode))
        return -ELOOP;
    if (S_ISDIR(n->mode) && want & W_OK)
        return -EISDIR;
    if (S_ISREG(n->mode) && want & W_OK && vfs__readonly(w->v, n))
        return -EROFS;
    rc = vfs__permit(w->ctx->cred, n, want);
    if (rc < 0)
        return rc;
    return S_ISSOCK(n->mode) ? -ENXIO : 0;
}

/* The part of an open that looks at what the node is: host content is opened, provided content read, the file cut. */
static int attach(struct vfs_handle *h, const struct walk *w)
{
    struct vfs *v = h->v;
    uint64_t ino = h->hold->ino;
    struct node tmp, *n = vfs__is_provided(ino) ? NULL : vfs__node(v, ino);
    bool reads = wanted(h->oflags) & R_OK && !(h->oflags & (O_PATH | O_TRUNC | O_EXCL));
    int rc = 0;
    /* Opening a host file for reading tells its status too, so that is done first: one call of the kernel less. */
    if (n && n->flags & NODE_UNSTAT && S_ISREG(n->mode) && reads)
        rc = vfs__host_open(v, ino, &n, &h->fd, &h->fd_borrowed);
    if (rc == 0)
        rc = vfs__view(v, ino, &tmp, &n);
    if (rc == 0)
        rc = may_open(w, n, h->oflags);
    if (rc < 0 || h->oflags & O_PATH || !S_ISREG(n->mode))
        return rc;
    if (n == &tmp)
        return wanted(h->oflags) & W_OK ? -EACCES : read_provided(h);
    if (h->oflags & O_TRUNC)
        return vfs__truncate(v, ino, 0, &h->cred);
    return n->flags & NODE_HOST && reads ? vfs__handle_host(h) : 0;
}

static int open_found(struct walk *w, uint64_t ino, int oflags, struct vfs_handle **ret)
{
    struct vfs_handle *h = handle_new(w->v, ino, oflags, w->ctx->cred);
    if (!h)
        return -ENOMEM;
    int rc = attach(h, w);
    if (rc < 0) {
        vfs_close(h);
        return rc;
    }
    *ret = h;
    return 0;
}

/* The handle is made first, so that nothing can fail once the file is there. */
static int open_new(struct walk *w, int oflags, uint32_t mode, struct vfs_handle **ret)
{
    struct vfs *v = w->v;
    uint64_t ino;
    int rc = vfs__may_create(v, w->ctx->cred, w->dir);
    if (rc < 0)
        return rc;
    struct vfs_handle *h = handle_new(v, v->next_ino, oflags, w->ctx->cred);
    if (!h)
        return -ENOMEM;
    rc = vfs__create(v, w->ctx, w->dir, w->last, S_IFREG | (mode & 07777), 0, str_of("", 0), &ino);
    if (rc < 0) {
        vfs_close(h);
        return rc;
    }
    *ret = h;
    return 0;
}

/* Walks to the file, through symlinks as far as @oflags let it. */
static int open_walk(struct walk *w, int oflags, uint32_t mode, struct vfs_handle **ret)
{
    bool keep_link = oflags & O_NOFOLLOW || (oflags & O_CREAT && oflags & O_EXCL);
    for (;;) {
        uint64_t ino;
        uint32_t type;
        int rc = vfs__walk_run(w);
        if (rc < 0)
            return rc;
        if (oflags & O_CREAT && w->type == LAST_NAME && w->slash)
            return -EISDIR;
        rc = vfs__walk_last(w, &ino, &type);
        if (rc == -ENOENT && oflags & O_CREAT && w->type == LAST_NAME)
            return open_new(w, oflags, mode, ret);
        if (rc < 0)
            return rc;
        if (type != S_IFLNK || (keep_link && !w->slash))
            return open_found(w, ino, oflags, ret);
        rc = vfs__walk_follow(w, ino);
        if (rc < 0)
            return rc;
    }
}

int vfs_open(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int oflags, uint32_t mode,
             struct vfs_handle **ret)
{
    if (oflags & O_PATH)
        oflags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if ((oflags & O_TMPFILE) == O_TMPFILE)
        return -EOPNOTSUPP;
    if (oflags & O_CREAT && oflags & O_DIRECTORY)
        return -EINVAL;
    struct walk w;
    int rc = vfs__walk_init(&w, v, ctx, at, path, 0);
    if (rc == 0)
        rc = open_walk(&w, oflags, mode, ret);
    vfs__walk_done(&w);
    return rc;
}

int vfs_open_anon(struct vfs *v, const struct vfs_ctx *ctx, uint32_t mode, struct vfs_handle **ret)
{
    if (v->used.inodes >= v->quota.inodes)
        return -ENOSPC;
    struct node *n = vfs__node_new(S_IFREG | (mode & 07777));
    if (!n)
        return -ENOMEM;
    struct vfs_handle *h = handle_new(v, v->next_ino, O_RDWR, ctx->cred);
    if (!h) {
        vfs__node_unref(n);
        return -ENOMEM;
    }
    vfs__inherit(ctx, NULL, n);
    n->atime = n->mtime = n->ctime = n->btime = vfs__now(v);
    h->hold->node = n;
    v->n_orphans++;
    v->next_ino++;
    v->used.inodes++;
    *ret = h;
    return 0;
}

int vfs_open_ino(struct vfs *v, uint64_t ino, int oflags, struct vfs_handle **ret)
{
    struct node tmp, *n;
    int rc = vfs__is_provided(ino) ? vfs__provided_node(v, ino, &tmp) : vfs__node(v, ino) ? 0 : vfs__absent(-ESTALE);
    if (rc < 0)
        return rc;
    struct vfs_handle *h = handle_new(v, ino, oflags & ~(O_CREAT | O_EXCL | O_TRUNC), &vfs__nobody);
    if (!h)
        return -ENOMEM;
    n = vfs__is_provided(ino) ? &tmp : vfs__node(v, ino);
    if (vfs__is_provided(ino) && S_ISREG(n->mode) && !(oflags & O_PATH))
        rc = read_provided(h);
    if (rc < 0) {
        vfs_close(h);
        return rc;
    }
    *ret = h;
    return 0;
}

uint64_t vfs_handle_ino(const struct vfs_handle *h)
{
    return h->hold->ino;
}

void vfs_handle_set_append(struct vfs_handle *h, bool on)
{
    h->oflags = on ? h->oflags | O_APPEND : h->oflags & ~O_APPEND;
}

struct vfs *vfs_handle_vfs(const struct vfs_handle *h)
{
    return h->v;
}
