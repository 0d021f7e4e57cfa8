/* SPDX-License-Identifier: Apache-2.0 */

/* File calls from outside (copy in, copy out), carried out beneath the tree's root with its rights, owned as asked. */

#include "session/session_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "types/errtab.h"

static struct vfs_ctx root_ctx(void)
{
    return (struct vfs_ctx){&session__root_cred, VFS_ROOT_INO, 0};
}

static int own(struct session *s, const struct wire_fs *q, uint64_t ino)
{
    if (!q->as_user)
        return 0;
    return vfs_chown(s->tree, &session__root_cred, ino, s->user.cred.uid, s->user.cred.gid);
}

/* Makes the missing directories above the last component. */
static int make_parents(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    for (size_t i = 1; i < q->path.n; i++) {
        if (q->path.p[i] != '/')
            continue;
        struct str dir = str_of(q->path.p, i);
        int e = vfs_mkdir(s->tree, &ctx, 0, dir, 0755);
        if (e && e != -EEXIST)
            return e;
        uint64_t ino;
        if (e == 0 && vfs_lookup(s->tree, &ctx, 0, dir, 0, &ino) == 0)
            e = own(s, q, ino);
        if (e && e != -EEXIST)
            return e;
    }
    return 0;
}

static int put_file(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    struct vfs_handle *h;
    int flags = O_WRONLY | (q->offset == 0 ? O_CREAT | O_TRUNC : 0);
    int e = q->offset == 0 ? make_parents(s, q) : 0;
    if (e == 0)
        e = vfs_open(s->tree, &ctx, 0, q->path, flags, q->mode & 07777, &h);
    if (e)
        return e;
    uint64_t ino = vfs_handle_ino(h);
    ssize_t n = q->data.n ? vfs_pwrite(h, q->data.p, q->data.n, q->offset, NULL) : 0;
    vfs_close(h);
    if (n < 0)
        return (int)n;
    if ((size_t)n < q->data.n)
        return -EDQUOT;
    if (q->offset == 0) {
        e = own(s, q, ino);
        if (e == 0)
            e = vfs_chmod(s->tree, &session__root_cred, ino, q->mode & 07777);
    }
    return e ? e : vfs_utimens(s->tree, &session__root_cred, ino, q->mtime, q->mtime);
}

static int make_dir(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    int e = make_parents(s, q);
    if (e == 0)
        e = vfs_mkdir(s->tree, &ctx, 0, q->path, q->mode & 07777);
    uint64_t ino;
    if (e == -EEXIST)
        return vfs_lookup(s->tree, &ctx, 0, q->path, VFS_DIRECTORY, &ino);
    if (e == 0)
        e = vfs_lookup(s->tree, &ctx, 0, q->path, VFS_NOFOLLOW, &ino);
    return e ? e : own(s, q, ino);
}

static int make_symlink(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    int e = make_parents(s, q);
    if (e == 0)
        e = vfs_symlink(s->tree, &ctx, q->data, 0, q->path);
    uint64_t ino;
    if (e == 0)
        e = vfs_lookup(s->tree, &ctx, 0, q->path, VFS_NOFOLLOW, &ino);
    return e ? e : own(s, q, ino);
}

static void wire_stat_of(const struct vfs_stat *st, struct wire_stat *ret)
{
    *ret = (struct wire_stat){st->mode, st->uid, st->gid, st->size, st->mtime};
}

static int read_file(struct session *s, struct vfs *v, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    struct vfs_handle *h;
    uint32_t want = q->length < LIMIT_MSG_DATA ? q->length : LIMIT_MSG_DATA;
    int e = vfs_open(v, &ctx, 0, q->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, &h);
    if (e)
        return e;
    struct vfs_stat st;
    e = vfs_stat_ino(v, vfs_handle_ino(h), &st);
    if (e == 0 && !S_ISREG(st.mode))
        e = S_ISDIR(st.mode) ? -EISDIR : -EINVAL;
    if (e == 0)
        e = buf_reserve(&s->reply, want);
    ssize_t n = e ? e : vfs_pread(h, s->reply.p, want, q->offset);
    vfs_close(h);
    if (n < 0)
        return (int)n;
    s->reply.n = (size_t)n;
    return 0;
}

static int list_dir(struct session *s, struct vfs *v, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    uint64_t ino;
    int e = vfs_lookup(v, &ctx, 0, q->path, VFS_DIRECTORY, &ino);
    if (e)
        return e;
    char after[LIMIT_NAME + 1];
    if (q->data.n > LIMIT_NAME)
        return -ENAMETOOLONG;
    size_t n = q->data.n;
    memcpy(after, q->data.n ? q->data.p : "", n);
    struct vfs_dirent d;
    while ((e = vfs_dir_next(v, ino, str_of(after, n), &d)) == 1) {
        if (s->reply.n + d.name.n + 1 > LIMIT_MSG_DATA)
            return 0;
        n = d.name.n;
        memcpy(after, d.name.p, n);
        buf_adds(&s->reply, d.name);
        buf_putc(&s->reply, 0);
    }
    return e;
}

static int look(struct session *s, const struct wire_fs *q, struct wire_reply *ret)
{
    struct vfs *v = q->side == WIRE_OLD ? s->base : s->tree;
    struct vfs_ctx ctx = root_ctx();
    struct vfs_stat st;
    int e = vfs_stat(v, &ctx, 0, q->path, VFS_NOFOLLOW, &st);
    if (e)
        return e;
    wire_stat_of(&st, &ret->st);
    if (q->op == WIRE_FS_READ)
        return read_file(s, v, q);
    if (q->op == WIRE_FS_READLINK)
        return vfs_readlink(v, &ctx, 0, q->path, &s->reply);
    if (q->op == WIRE_FS_LIST)
        return list_dir(s, v, q);
    return 0;
}

void session_fs(struct session *s, const struct wire_fs *q, struct wire_reply *ret)
{
    *ret = (struct wire_reply){0};
    buf_clear(&s->reply);
    bool writes = q->op == WIRE_FS_PUT || q->op == WIRE_FS_MKDIR || q->op == WIRE_FS_SYMLINK;
    if (writes && session__alive(s))
        session__inexact(s, "files were copied in while it ran");
    int e;
    if (q->path.n == 0 || q->path.p[0] != '/')
        e = -EINVAL;
    else if (q->op == WIRE_FS_PUT)
        e = put_file(s, q);
    else if (q->op == WIRE_FS_MKDIR)
        e = make_dir(s, q);
    else if (q->op == WIRE_FS_SYMLINK)
        e = make_symlink(s, q);
    else
        e = look(s, q, ret);
    ret->error = e;
    ret->message = e ? str_c(errtab_text(e)) : str_of(NULL, 0);
    ret->data = buf_str(&s->reply);
}
