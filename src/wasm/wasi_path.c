/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/num.h"
#include "wasm/wasi_int.h"

/* Paths are not copied: nothing that looks at one waits or writes to the guest's memory. */

static struct vfs *tree(const struct wasi *w)
{
    return proc_set_vfs(w->p->ps);
}

/* Where a path starts and the path itself, from three arguments that lie apart in some calls. */
static int place(struct wasi *w, uint32_t fd, uint64_t rights, uint32_t p, uint32_t n, uint64_t *ret_at,
                 struct str *ret)
{
    TRY(wasi__dirfd(w, fd, rights, ret_at));
    return wasi__path(w, p, n, ret);
}

int wasi__path_create_directory(struct wasi *w, const uint64_t *args)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    uint64_t at;
    struct str path;
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), RIGHT_PATH_CREATE_DIRECTORY, ARG32(1), ARG32(2), &at, &path));
    uint32_t mode = w->create_mode_set ? w->create_mode : 0777;
    w->create_mode_set = false;
    return wasi__result(w, vfs_mkdir(tree(w), &ctx, at, path, mode));
}

int wasi__path_filestat_get(struct wasi *w, const uint64_t *args)
{
    uint64_t at;
    struct str path;
    struct vfs_stat st;
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), RIGHT_PATH_FILESTAT_GET, ARG32(2), ARG32(3), &at, &path));
    if (ARG32(1) & ~(uint32_t)LOOKUP_FOLLOW)
        return WASI_INVAL;
    if (!wasi_in(w, ARG32(4), 64))
        return WASI_FAULT;
    int r = proc_stat_at(w->p, at, path, ARG32(1) ? 0 : VFS_NOFOLLOW, &st);
    if (r == 0)
        wasi__put_filestat(w, ARG32(4), &st);
    return wasi__result(w, r);
}

int wasi__path_filestat_set_times(struct wasi *w, const uint64_t *args)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    uint64_t at, ino;
    struct str path;
    int64_t t[2];
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), RIGHT_PATH_FILESTAT_SET_TIMES, ARG32(2), ARG32(3), &at, &path));
    if (ARG32(1) & ~(uint32_t)LOOKUP_FOLLOW)
        return WASI_INVAL;
    TRY(wasi__times(args[4], args[5], ARG32(6), t));
    int r = vfs_lookup(tree(w), &ctx, at, path, ARG32(1) ? 0 : VFS_NOFOLLOW, &ino);
    if (r == 0)
        r = vfs_utimens(tree(w), &w->p->cred, ino, t[0], t[1]);
    return wasi__result(w, r);
}

int wasi__path_link(struct wasi *w, const uint64_t *args)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    uint64_t at, at2;
    struct str path, path2;
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), RIGHT_PATH_LINK_SOURCE, ARG32(2), ARG32(3), &at, &path));
    TRY(place(w, ARG32(4), RIGHT_PATH_LINK_TARGET, ARG32(5), ARG32(6), &at2, &path2));
    if (ARG32(1) & ~(uint32_t)LOOKUP_FOLLOW)
        return WASI_INVAL;
    return wasi__result(w, vfs_link(tree(w), &ctx, at, path, at2, path2, ARG32(1) ? VFS_FOLLOW_OLD : 0));
}

int wasi__path_readlink(struct wasi *w, const uint64_t *args)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    struct buf target BUF_AUTO;
    uint64_t at;
    struct str path;
    buf_init(&target, LIMIT_PATH);
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), RIGHT_PATH_READLINK, ARG32(1), ARG32(2), &at, &path));
    if (!wasi_in(w, ARG32(3), ARG32(4)) || !wasi_in(w, ARG32(5), 4))
        return WASI_FAULT;
    int r = vfs_readlink(tree(w), &ctx, at, path, &target);
    if (r == 0) {
        uint32_t n = (uint32_t)NUM_MIN(target.n, (size_t)ARG32(4));
        wasi_put(w, ARG32(3), target.p, n);
        wasi_put32(w, ARG32(5), n);
    }
    return wasi__result(w, r);
}

int wasi__path_remove_directory(struct wasi *w, const uint64_t *args)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    uint64_t at;
    struct str path;
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), RIGHT_PATH_REMOVE_DIRECTORY, ARG32(1), ARG32(2), &at, &path));
    return wasi__result(w, vfs_rmdir(tree(w), &ctx, at, path));
}

int wasi__path_unlink_file(struct wasi *w, const uint64_t *args)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    uint64_t at;
    struct str path;
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), RIGHT_PATH_UNLINK_FILE, ARG32(1), ARG32(2), &at, &path));
    return wasi__result(w, vfs_unlink(tree(w), &ctx, at, path));
}

int wasi__path_rename(struct wasi *w, const uint64_t *args)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    uint64_t at, at2;
    struct str path, path2;
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), RIGHT_PATH_RENAME_SOURCE, ARG32(1), ARG32(2), &at, &path));
    TRY(place(w, ARG32(3), RIGHT_PATH_RENAME_TARGET, ARG32(4), ARG32(5), &at2, &path2));
    return wasi__result(w, vfs_rename(tree(w), &ctx, at, path, at2, path2, 0));
}

int wasi__path_symlink(struct wasi *w, const uint64_t *args)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    uint64_t at;
    struct str target, path;
    TRY(wasi__turn(w));
    TRY(wasi__path(w, ARG32(0), ARG32(1), &target));
    TRY(place(w, ARG32(2), RIGHT_PATH_SYMLINK, ARG32(3), ARG32(4), &at, &path));
    return wasi__result(w, vfs_symlink(tree(w), &ctx, target, at, path));
}

/* ---- path_open ---- */

enum { OPEN_CREAT = 1, OPEN_DIRECTORY = 2, OPEN_EXCL = 4, OPEN_TRUNC = 8, OPEN_ALL = 15 };

/*
 * open(2)'s flags. What is asked for decides the access mode: rights are the most that the opener wants, so a directory
 * is opened for reading whatever else is among them, and one that nobody wants to read is opened for its paths only.
 */
static int open_flags(uint32_t dirflags, uint32_t oflags, uint64_t rights, uint32_t fdflags)
{
    bool rd = rights & (RIGHT_FD_READ | RIGHT_FD_READDIR), wr = rights & RIGHT_FD_WRITE;
    int f;
    if (oflags & OPEN_DIRECTORY)
        f = O_DIRECTORY | (rd ? O_RDONLY : O_PATH);
    else
        f = wr ? rd ? O_RDWR : O_WRONLY : O_RDONLY;
    f |= oflags & OPEN_CREAT ? O_CREAT : 0;
    f |= oflags & OPEN_EXCL ? O_EXCL : 0;
    f |= oflags & OPEN_TRUNC ? O_TRUNC : 0;
    f |= fdflags & FDFLAG_APPEND ? O_APPEND : 0;
    f |= fdflags & FDFLAG_NONBLOCK ? O_NONBLOCK : 0;
    f |= dirflags & LOOKUP_FOLLOW ? 0 : O_NOFOLLOW;
    return f;
}

/* Notes what the opener did not ask for. The usual one asks for all, and then there is nothing to note. */
static int note_rights(struct wasi *w, int fd, uint64_t lacks, uint64_t lacks_inh, uint32_t fdflags)
{
    struct wasi_fd *e;
    wasi__drop_entry(w, (uint32_t)fd);
    if (!lacks && !lacks_inh && !(fdflags & FDFLAG_SYNCS))
        return 0;
    if (wasi__make_entry(w, (uint32_t)fd, &e)) {
        (void)proc_close(w->p, fd);
        return WASI_NOMEM;
    }
    *e = (struct wasi_fd){.lacks = lacks, .lacks_inh = lacks_inh, .sync = fdflags & FDFLAG_SYNCS};
    return 0;
}

int wasi__path_open(struct wasi *w, const uint64_t *args)
{
    uint32_t dirflags = ARG32(1), oflags = ARG32(4), fdflags = ARG32(7), ret = ARG32(8);
    uint64_t need = RIGHT_PATH_OPEN, at;
    struct str path;
    TRY(wasi__turn(w));
    if (oflags & OPEN_CREAT)
        need |= RIGHT_PATH_CREATE_FILE;
    if (oflags & OPEN_TRUNC)
        need |= RIGHT_PATH_FILESTAT_SET_SIZE;
    TRY(place(w, ARG32(0), need, ARG32(2), ARG32(3), &at, &path));
    if ((dirflags & ~(uint32_t)LOOKUP_FOLLOW) || (oflags & ~(uint32_t)OPEN_ALL) || (fdflags & ~(uint32_t)FDFLAG_ALL))
        return WASI_INVAL;
    if (!wasi_in(w, ret, 4))
        return WASI_FAULT;
    const struct wasi_fd *dir = wasi__entry(w, ARG32(0));
    uint64_t never = dir ? dir->lacks_inh : 0;
    if ((args[5] | args[6]) & never)
        return WASI_NOTCAPABLE;
    uint32_t mode = w->create_mode_set ? w->create_mode : 0666;
    int flags = open_flags(dirflags, oflags, args[5], fdflags);
    int fd = proc_open_at(w->p, at, path, flags, mode, FIRST_FREE, w->may_block);
    if (fd == -EAGAIN && !w->may_block)
        return WASI_BLOCK; /* a FIFO waits for its other end */
    if (oflags & OPEN_CREAT)
        w->create_mode_set = false;
    if (w->may_block)
        wasi__refresh(w);
    if (fd < 0)
        return wasi__result(w, fd);
    TRY(note_rights(w, fd, (RIGHTS_ANY & ~args[5] & ~RIGHTS_ACCESS) | never, (RIGHTS_ANY & ~args[6]) | never, fdflags));
    wasi_put32(w, ret, (uint32_t)fd);
    return wasi__result(w, 0);
}
