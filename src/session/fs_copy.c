/* SPDX-License-Identifier: Apache-2.0 */

/* Copying within the tree: as `cp -r --no-dereference`, modes kept, times and owner those of something new. */

#include "session/session_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"

struct copying {
    struct session *s;
    const struct wire_fs *q;
    struct vfs_ctx ctx;
};

static int finish(struct copying *c, uint64_t ino, uint32_t mode)
{
    int e = session__fs_own(c->s, c->q, ino);
    /* After the owner: changing that takes setuid away. */
    e = e ? e : vfs_chmod(c->s->tree, c->ctx.cred, ino, mode & 07777);
    return e ? e : vfs_utimens(c->s->tree, c->ctx.cred, ino, c->q->mtime, c->q->mtime);
}

static int count(struct copying *c, uint64_t entries, uint64_t bytes)
{
    c->s->copied_entries += entries;
    c->s->copied_bytes += bytes;
    return c->s->copied_entries > LIMIT_COPY_ENTRIES || c->s->copied_bytes > LIMIT_COPY_BYTES ? -EFBIG : 0;
}

static int copy_bytes(struct copying *c, struct vfs_handle *from, struct vfs_handle *to)
{
    uint64_t at = 0;
    for (;;) {
        const void *p;
        size_t n;
        int e = vfs_peek(from, at, &p, &n);
        e = e ? e : count(c, 0, n);
        if (e || n == 0)
            return e;
        /* What is borrowed does not outlive a change of the tree. */
        MEM_AUTO char *copy = mem_dup(p, n);
        ssize_t put = vfs_pwrite(to, copy, n, at, NULL);
        if (put < 0 || (size_t)put < n)
            return put < 0 ? (int)put : -EDQUOT;
        at += n;
    }
}

static int copy_file(struct copying *c, uint64_t ino, uint32_t mode, uint64_t dir, struct str name)
{
    struct vfs_handle *from, *to;
    int e = vfs_open_ino(c->s->tree, ino, O_RDONLY, &from);
    if (e)
        return e;
    e = vfs_open(c->s->tree, &c->ctx, dir, name, O_WRONLY | O_CREAT | O_TRUNC, mode & 07777, &to);
    if (e == 0) {
        uint64_t made = vfs_handle_ino(to);
        e = made == ino ? -EINVAL : copy_bytes(c, from, to);
        vfs_close(to);
        e = e ? e : finish(c, made, mode);
    }
    vfs_close(from);
    return e;
}

static int copy_symlink(struct copying *c, uint64_t from_dir, struct str from, uint64_t dir, struct str name)
{
    BUF_AUTO struct buf target;
    uint64_t made;
    buf_init(&target, LIMIT_PATH);
    int e = vfs_readlink(c->s->tree, &c->ctx, from_dir, from, &target);
    e = e ? e : vfs_symlink(c->s->tree, &c->ctx, buf_str(&target), dir, name);
    e = e ? e : vfs_lookup(c->s->tree, &c->ctx, dir, name, VFS_NOFOLLOW, &made);
    return e ? e : session__fs_own(c->s, c->q, made);
}

static int copy_node(struct copying *c, uint64_t from_dir, struct str from, uint64_t dir, struct str name);

static int copy_dir(struct copying *c, uint64_t ino, uint32_t mode, uint64_t dir, struct str name)
{
    struct vfs_dirent d;
    uint64_t made;
    char after[LIMIT_NAME + 1];
    size_t n = 0;
    int e = vfs_mkdir(c->s->tree, &c->ctx, dir, name, 0700);
    e = e ? e : vfs_lookup(c->s->tree, &c->ctx, dir, name, VFS_NOFOLLOW, &made);
    while (e == 0 && (e = vfs_dir_next(c->s->tree, ino, str_of(after, n), &d)) == 1) {
        n = d.name.n;
        memcpy(after, d.name.p, n);
        e = copy_node(c, ino, str_of(after, n), made, str_of(after, n)); /* at most LIMIT_DEPTH deep */
    }
    return e ? e : finish(c, made, mode);
}

static int copy_node(struct copying *c, uint64_t from_dir, struct str from, uint64_t dir, struct str name)
{
    struct vfs_stat st;
    uint64_t made;
    int e = vfs_stat(c->s->tree, &c->ctx, from_dir, from, VFS_NOFOLLOW, &st);
    e = e ? e : count(c, 1, 0);
    if (e)
        return e;
    if (S_ISDIR(st.mode))
        return c->q->length ? copy_dir(c, st.ino, st.mode, dir, name) : -EISDIR;
    if (S_ISREG(st.mode))
        return copy_file(c, st.ino, st.mode, dir, name);
    if (S_ISLNK(st.mode))
        return copy_symlink(c, from_dir, from, dir, name);
    e = vfs_mknod(c->s->tree, &c->ctx, dir, name, st.mode, st.rdev);
    e = e ? e : vfs_lookup(c->s->tree, &c->ctx, dir, name, VFS_NOFOLLOW, &made);
    return e ? e : finish(c, made, st.mode);
}

/* Whether the directory @ino is the one that @path is in, or above it. */
static int holds(struct copying *c, uint64_t ino, struct str path)
{
    uint64_t at;
    size_t n = path.n;
    while (n > 1 && path.p[n - 1] == '/')
        n--;
    while (n > 1 && path.p[n - 1] != '/')
        n--;
    int e = vfs_lookup(c->s->tree, &c->ctx, 0, str_of(path.p, n), VFS_DIRECTORY, &at);
    while (e == 0 && at != ino && at != VFS_ROOT_INO)
        e = vfs_dir_parent(c->s->tree, at, &at);
    return e ? e : at == ino ? -EINVAL : 0;
}

int session__fs_copy(struct session *s, const struct wire_fs *q)
{
    struct copying c = {s, q, {&session__root_cred, VFS_ROOT_INO, 0}};
    struct wire_fs to = *q;
    struct vfs_stat st;
    to.path = q->data;
    int e = q->data.n && q->data.p[0] == '/' ? session__fs_parents(s, &to) : -EINVAL;
    e = e ? e : vfs_stat(s->tree, &c.ctx, 0, q->path, VFS_NOFOLLOW, &st);
    if (e == 0 && S_ISDIR(st.mode))
        e = holds(&c, st.ino, q->data);
    return e ? e : copy_node(&c, 0, q->path, 0, q->data);
}
