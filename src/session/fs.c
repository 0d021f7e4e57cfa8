/* SPDX-License-Identifier: Apache-2.0 */

/* File calls from outside (copy in, copy out), carried out beneath the tree's root with its rights, owned as asked. */

#include "session/session_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cas/hash.h"
#include "types/errtab.h"

static struct vfs_ctx root_ctx(void)
{
    return (struct vfs_ctx){&session__root_cred, VFS_ROOT_INO, 0};
}

int session__fs_own(struct session *s, const struct wire_fs *q, uint64_t ino)
{
    if (!q->as_user)
        return 0;
    return vfs_chown(s->tree, &session__root_cred, ino, s->user.cred.uid, s->user.cred.gid);
}

int session__fs_parents(struct session *s, const struct wire_fs *q)
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
            e = session__fs_own(s, q, ino);
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
    int e = q->offset == 0 ? session__fs_parents(s, q) : 0;
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
        e = session__fs_own(s, q, ino);
        if (e == 0)
            e = vfs_chmod(s->tree, &session__root_cred, ino, q->mode & 07777);
    }
    return e ? e : vfs_utimens(s->tree, &session__root_cred, ino, q->mtime, q->mtime);
}

static int make_dir(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    int e = session__fs_parents(s, q);
    if (e == 0)
        e = vfs_mkdir(s->tree, &ctx, 0, q->path, q->mode & 07777);
    uint64_t ino;
    if (e == -EEXIST)
        return vfs_lookup(s->tree, &ctx, 0, q->path, VFS_DIRECTORY, &ino);
    if (e == 0)
        e = vfs_lookup(s->tree, &ctx, 0, q->path, VFS_NOFOLLOW, &ino);
    return e ? e : session__fs_own(s, q, ino);
}

static int make_symlink(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    int e = session__fs_parents(s, q);
    if (e == 0)
        e = vfs_symlink(s->tree, &ctx, q->data, 0, q->path);
    uint64_t ino;
    if (e == 0)
        e = vfs_lookup(s->tree, &ctx, 0, q->path, VFS_NOFOLLOW, &ino);
    return e ? e : session__fs_own(s, q, ino);
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
    int e = vfs_open(v, &ctx, 0, q->path, O_RDONLY | O_NONBLOCK | (q->follow ? 0 : O_NOFOLLOW), 0, &h);
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

/* Names behind q->data, as many as fit into the reply; with what they are, when @entries. */
static int list_dir(struct session *s, struct vfs *v, const struct wire_fs *q, bool entries)
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
        if (s->reply.n + d.name.n + 32 > LIMIT_MSG_DATA)
            return 0;
        n = d.name.n;
        memcpy(after, d.name.p, n);
        struct vfs_stat st;
        if (!entries) {
            buf_adds(&s->reply, d.name);
            buf_putc(&s->reply, 0);
        } else if (vfs_stat_ino(v, d.ino, &st) == 0) {
            const struct wire_entry one = {st.mode, st.size, st.mtime, str_of(after, n)};
            wire_put_entry(&s->reply, &one);
        }
    }
    return e;
}

/* The SHA-256 of a regular file's bytes, as the reply's data. */
static int hash_file(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    struct vfs_handle *h;
    struct vfs_stat st;
    int e = vfs_open(s->tree, &ctx, 0, q->path, O_RDONLY | O_NONBLOCK, 0, &h);
    if (e)
        return e;
    e = vfs_stat_ino(s->tree, vfs_handle_ino(h), &st);
    if (e == 0 && !S_ISREG(st.mode))
        e = S_ISDIR(st.mode) ? -EISDIR : -EINVAL;
    struct cas_hash hash;
    cas_hash_init(&hash);
    MEM_AUTO char *block = mem_alloc(LIMIT_MSG_DATA);
    uint64_t at = 0;
    ssize_t n = e;
    while (e == 0 && (n = vfs_pread(h, block, LIMIT_MSG_DATA, at)) > 0) {
        cas_hash_add(&hash, block, (size_t)n);
        at += (uint64_t)n;
    }
    vfs_close(h);
    if (n < 0)
        return (int)n;
    uint8_t sum[CAS_HASH_SIZE];
    cas_hash_end(&hash, sum);
    return buf_add(&s->reply, sum, sizeof(sum));
}

/* Whether the path is what the client believes it to be. */
static int match(struct session *s, const struct wire_fs *q)
{
    int e = hash_file(s, q);
    if (q->data.n == 0)
        return e == -ENOENT ? 0 : e == 0 || e == -EISDIR || e == -EINVAL ? -EILSEQ : e;
    return e ? e : str_eq(buf_str(&s->reply), q->data) ? 0 : -EILSEQ;
}

static int extend(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    struct vfs_stat st;
    int e = vfs_stat(s->tree, &ctx, 0, q->path, 0, &st);
    struct wire_fs put = *q;
    if (e && e != -ENOENT)
        return e;
    if (e == 0 && !S_ISREG(st.mode))
        return S_ISDIR(st.mode) ? -EISDIR : -EINVAL;
    put.offset = e == 0 ? st.size : 0;
    return put_file(s, &put);
}

/* ---- removing and renaming ---- */

static int remove_below(struct vfs *v, const struct vfs_ctx *ctx, uint64_t dir)
{
    struct vfs_dirent d;
    int e = 0;
    while (e == 0 && (e = vfs_dir_next(v, dir, str_of("", 0), &d)) == 1) {
        struct vfs_stat st;
        MEM_AUTO char *name = mem_dup(d.name.p, d.name.n);
        struct str path = str_of(name, d.name.n);
        e = vfs_stat_ino(v, d.ino, &st);
        if (e == 0 && S_ISDIR(st.mode)) {
            e = remove_below(v, ctx, d.ino); /* at most LIMIT_DEPTH deep */
            e = e ? e : vfs_rmdir(v, ctx, dir, path);
        } else if (e == 0) {
            e = vfs_unlink(v, ctx, dir, path);
        }
    }
    return e;
}

static int remove_path(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    uint64_t ino;
    struct vfs_stat st;
    int e = vfs_lookup(s->tree, &ctx, 0, q->path, VFS_NOFOLLOW, &ino);
    if (e == 0)
        e = vfs_stat_ino(s->tree, ino, &st);
    if (e)
        return e;
    if (!S_ISDIR(st.mode))
        return vfs_unlink(s->tree, &ctx, 0, q->path);
    if (q->length)
        e = remove_below(s->tree, &ctx, ino);
    return e ? e : vfs_rmdir(s->tree, &ctx, 0, q->path);
}

static int rename_path(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    struct wire_fs to = *q;
    to.path = q->data;
    int e = session__fs_parents(s, &to);
    return e ? e : vfs_rename(s->tree, &ctx, 0, q->path, 0, q->data, 0);
}

static int link_path(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    struct wire_fs to = *q;
    to.path = q->data;
    int e = session__fs_parents(s, &to);
    return e ? e : vfs_link(s->tree, &ctx, 0, q->path, 0, q->data, 0);
}

static int change_status(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    uint64_t ino;
    int e = vfs_lookup(s->tree, &ctx, 0, q->path, 0, &ino);
    if (e == 0 && q->op == WIRE_FS_CHMOD)
        e = vfs_chmod(s->tree, &session__root_cred, ino, q->mode & 07777);
    else if (e == 0)
        e = vfs_truncate(s->tree, ino, q->offset);
    return e;
}

/* For names that somebody else than the client has chosen: a symlink among them leads wherever it says. */
static int clear_path(struct session *s, const struct wire_fs *q)
{
    struct vfs_ctx ctx = root_ctx();
    struct vfs_stat st;
    int e = 0;
    for (size_t i = (size_t)q->offset + 1; i <= q->path.n && e == 0; i++) {
        bool last = i == q->path.n;
        if (!last && q->path.p[i] != '/')
            continue;
        e = vfs_stat(s->tree, &ctx, 0, str_of(q->path.p, i), VFS_NOFOLLOW, &st);
        if (e == 0 && !last && S_ISLNK(st.mode))
            return -ELOOP;
        if (e == 0 && last && !q->length && !S_ISDIR(st.mode))
            e = vfs_unlink(s->tree, &ctx, 0, q->path);
    }
    return e == -ENOENT && !q->length ? 0 : e;
}

/* ---- looking ---- */

static int look(struct session *s, const struct wire_fs *q, struct wire_reply *ret)
{
    struct vfs *v = q->side == WIRE_OLD ? s->base : s->tree;
    struct vfs_ctx ctx = root_ctx();
    struct vfs_stat st;
    if (q->op == WIRE_FS_MATCH)
        return match(s, q);
    bool follows = q->follow || q->op == WIRE_FS_LOOK || q->op == WIRE_FS_HASH || q->op == WIRE_FS_ENTRIES;
    int e = vfs_stat(v, &ctx, 0, q->path, follows ? 0 : VFS_NOFOLLOW, &st);
    if (e)
        return e;
    wire_stat_of(&st, &ret->st);
    if (q->op == WIRE_FS_READ)
        return read_file(s, v, q);
    if (q->op == WIRE_FS_READLINK)
        return vfs_readlink(v, &ctx, 0, q->path, &s->reply);
    if (q->op == WIRE_FS_LIST || q->op == WIRE_FS_ENTRIES)
        return list_dir(s, v, q, q->op == WIRE_FS_ENTRIES);
    if (q->op == WIRE_FS_HASH)
        return hash_file(s, q);
    return 0;
}

static int change(struct session *s, const struct wire_fs *q)
{
    switch (q->op) {
    case WIRE_FS_PUT:
        return put_file(s, q);
    case WIRE_FS_MKDIR:
        return make_dir(s, q);
    case WIRE_FS_SYMLINK:
        return make_symlink(s, q);
    case WIRE_FS_EXTEND:
        return extend(s, q);
    case WIRE_FS_REMOVE:
        return remove_path(s, q);
    case WIRE_FS_RENAME:
        return rename_path(s, q);
    case WIRE_FS_LINK:
        return link_path(s, q);
    case WIRE_FS_CHMOD:
    case WIRE_FS_TRUNCATE:
        return change_status(s, q);
    case WIRE_FS_COPY:
        return session__fs_copy(s, q);
    case WIRE_FS_EDIT:
        return session__fs_edit(s, q);
    case WIRE_FS_CLEAR:
        return clear_path(s, q);
    case WIRE_FS_BATCH:
    case WIRE_FS_STAT:
    case WIRE_FS_READ:
    case WIRE_FS_READLINK:
    case WIRE_FS_LIST:
    case WIRE_FS_LOOK:
    case WIRE_FS_HASH:
    case WIRE_FS_MATCH:
    case WIRE_FS_ENTRIES:
    case WIRE_FS_OPS:
        break;
    }
    return -EINVAL;
}

void session_fs(struct session *s, const struct wire_fs *q, struct wire_reply *ret)
{
    *ret = (struct wire_reply){0};
    buf_clear(&s->reply);
    bool changes = wire_fs_changes(q->op);
    if (changes && session__alive(s))
        session__inexact(s, "files were copied in while it ran");
    int e;
    if (q->path.n == 0 || q->path.p[0] != '/')
        e = -EINVAL;
    else
        e = changes ? change(s, q) : look(s, q, ret);
    ret->error = e;
    ret->message = e ? str_c(errtab_text(e)) : str_of(NULL, 0);
    if (e == -ENOMSG)
        ret->message = buf_str(&s->reply);
    else
        ret->data = buf_str(&s->reply);
}
