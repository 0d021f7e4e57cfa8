/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sys/stat.h>

#include "wasm/wasi_int.h"

/* ---- what a descriptor is ---- */

uint8_t wasi__filetype(uint32_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return TYPE_REG;
    case S_IFDIR:
        return TYPE_DIR;
    case S_IFLNK:
        return TYPE_LINK;
    case S_IFCHR:
        return TYPE_CHAR;
    case S_IFBLK:
        return TYPE_BLOCK;
    case S_IFIFO: /* preview 1 has no pipes; programs that look take "unknown" for an error */
    case S_IFSOCK:
        return TYPE_STREAM;
    default:
        return TYPE_UNKNOWN;
    }
}

/* Open flags; the preopen is a directory open for reading. -EBADF. */
static int flags_of(const struct wasi *w, uint32_t fd)
{
    return fd == PREOPEN ? O_RDONLY : proc_fd_flags(w->p, (int)fd);
}

static bool writable(int oflags)
{
    return !(oflags & O_PATH) && (oflags & O_ACCMODE) != O_RDONLY;
}

static bool readable(int oflags)
{
    return !(oflags & O_PATH) && (oflags & O_ACCMODE) != O_WRONLY;
}

/* The rights that go with what is open. */
static uint64_t rights_of(const struct wasi *w, uint32_t fd, uint8_t type, int oflags)
{
    uint64_t r;
    if (type == TYPE_DIR)
        r = RIGHTS_DIR;
    else if (type == TYPE_STREAM || (type == TYPE_CHAR && proc_isatty(w->p, (int)fd)))
        /* isatty(3) of wasi-libc: a character device without seek and tell. */
        r = RIGHT_FD_READ | RIGHT_FD_WRITE | RIGHT_FD_FDSTAT_SET_FLAGS | RIGHT_FD_FILESTAT_GET |
            RIGHT_POLL_FD_READWRITE;
    else
        r = RIGHTS_REG;
    if (!readable(oflags))
        r &= ~(RIGHT_FD_READ | RIGHT_FD_READDIR);
    if (!writable(oflags))
        r &= ~(RIGHT_FD_WRITE | RIGHT_FD_DATASYNC | RIGHT_FD_ALLOCATE | RIGHT_FD_FILESTAT_SET_SIZE);
    return r;
}

int wasi__fd_fdstat_get(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0), at = ARG32(1);
    const struct wasi_fd *e = wasi__entry(w, fd);
    struct vfs_stat st;
    TRY(wasi__fd(w, fd, 0));
    if (!wasi_in(w, at, 24))
        return WASI_FAULT;
    int r = wasi__fstat(w, fd, &st), oflags = flags_of(w, fd);
    if (r < 0)
        return wasi__errno(r);
    uint8_t type = wasi__filetype(st.mode);
    uint64_t rights = rights_of(w, fd, type, oflags), inh = type == TYPE_DIR ? RIGHTS_ANY : 0;
    uint16_t flags = (uint16_t)((oflags & O_APPEND ? FDFLAG_APPEND : 0) | (oflags & O_NONBLOCK ? FDFLAG_NONBLOCK : 0));
    if (e) {
        rights &= ~e->lacks;
        inh &= ~e->lacks_inh;
        flags |= e->sync;
    }
    memset(wasi_at(w, at), 0, 24);
    *wasi_at(w, at) = type;
    wasi_put16(w, at + UINT64_C(2), flags);
    wasi_put64(w, at + UINT64_C(8), rights);
    wasi_put64(w, at + UINT64_C(16), inh);
    return 0;
}

int wasi__fd_fdstat_set_flags(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0), flags = ARG32(1);
    struct wasi_fd *e = wasi__entry(w, fd);
    TRY(wasi__fd(w, fd, RIGHT_FD_FDSTAT_SET_FLAGS));
    if (flags & ~(uint32_t)FDFLAG_ALL)
        return WASI_INVAL;
    if ((flags & FDFLAG_SYNCS) && !e)
        TRY(wasi__make_entry(w, fd, &e));
    if (fd != PREOPEN) {
        int oflags = (flags & FDFLAG_APPEND ? O_APPEND : 0) | (flags & FDFLAG_NONBLOCK ? O_NONBLOCK : 0);
        int r = proc_set_fd_flags(w->p, (int)fd, oflags);
        if (r < 0)
            return wasi__errno(r);
    }
    if (e)
        e->sync = flags & FDFLAG_SYNCS;
    return 0;
}

int wasi__fd_fdstat_set_rights(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0);
    struct vfs_stat st;
    struct wasi_fd *e = wasi__entry(w, fd);
    TRY(wasi__fd(w, fd, 0));
    int r = wasi__fstat(w, fd, &st);
    if (r < 0)
        return wasi__errno(r);
    uint8_t type = wasi__filetype(st.mode);
    uint64_t has = rights_of(w, fd, type, flags_of(w, fd)), inh = type == TYPE_DIR ? RIGHTS_ANY : 0;
    if (e) {
        has &= ~e->lacks;
        inh &= ~e->lacks_inh;
    }
    if ((args[1] & ~has) || (args[2] & ~inh))
        return WASI_NOTCAPABLE; /* rights are only given up */
    if (args[1] == has && args[2] == inh)
        return 0;
    TRY(wasi__make_entry(w, fd, &e));
    e->lacks |= has & ~args[1];
    e->lacks_inh |= inh & ~args[2];
    return 0;
}

/* ---- status ---- */

static uint64_t time_of(int64_t t)
{
    return t < 0 ? 0 : (uint64_t)t; /* a timestamp of WASI has no sign */
}

void wasi__put_filestat(struct wasi *w, uint32_t p, const struct vfs_stat *st)
{
    uint64_t at = p;
    memset(wasi_at(w, at), 0, 64);
    wasi_put64(w, at, st->dev);
    wasi_put64(w, at + 8, st->ino);
    *wasi_at(w, at + 16) = wasi__filetype(st->mode);
    wasi_put64(w, at + 24, st->nlink);
    wasi_put64(w, at + 32, st->size);
    wasi_put64(w, at + 40, time_of(st->atime));
    wasi_put64(w, at + 48, time_of(st->mtime));
    wasi_put64(w, at + 56, time_of(st->ctime));
}

int wasi__fd_filestat_get(struct wasi *w, const uint64_t *args)
{
    struct vfs_stat st;
    TRY(wasi__turn(w));
    TRY(wasi__fd(w, ARG32(0), RIGHT_FD_FILESTAT_GET));
    if (!wasi_in(w, ARG32(1), 64))
        return WASI_FAULT;
    int r = wasi__fstat(w, ARG32(0), &st);
    if (r == 0)
        wasi__put_filestat(w, ARG32(1), &st);
    return wasi__result(w, r);
}

int wasi__fd_filestat_set_size(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0);
    TRY(wasi__fd(w, fd, RIGHT_FD_FILESTAT_SET_SIZE));
    if (fd == PREOPEN || args[1] > INT64_MAX)
        return WASI_INVAL;
    return wasi__result(w, proc_ftruncate(w->p, (int)fd, args[1]));
}

static int64_t one_time(uint64_t t, bool set, bool now)
{
    return now ? INT64_MAX : set ? (int64_t)t : INT64_MIN;
}

int wasi__times(uint64_t atim, uint64_t mtim, uint32_t flags, int64_t ret[2])
{
    bool a = flags & FST_ATIM, an = flags & FST_ATIM_NOW, m = flags & FST_MTIM, mn = flags & FST_MTIM_NOW;
    if ((flags & ~(uint32_t)FST_ALL) || (a && an) || (m && mn))
        return WASI_INVAL;
    if ((a && atim >= INT64_MAX) || (m && mtim >= INT64_MAX))
        return WASI_INVAL; /* beyond the year 2262 */
    ret[0] = one_time(atim, a, an);
    ret[1] = one_time(mtim, m, mn);
    return 0;
}

int wasi__fd_filestat_set_times(struct wasi *w, const uint64_t *args)
{
    int64_t t[2];
    TRY(wasi__fd(w, ARG32(0), RIGHT_FD_FILESTAT_SET_TIMES));
    TRY(wasi__times(args[1], args[2], ARG32(3), t));
    uint64_t ino = wasi__ino(w, ARG32(0));
    if (!ino)
        return 0; /* a pipe's times are nobody's */
    return wasi__result(w, vfs_utimens(proc_set_vfs(w->p->ps), &w->p->cred, ino, t[0], t[1]));
}

/* ---- place, size and store ---- */

int wasi__fd_seek(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0);
    TRY(wasi__fd(w, fd, RIGHT_FD_SEEK));
    if (ARG32(2) > SEEK_END)
        return WASI_INVAL;
    if (!wasi_in(w, ARG32(3), 8))
        return WASI_FAULT;
    if (fd == PREOPEN)
        return WASI_NOTCAPABLE;
    int64_t r = proc_lseek(w->p, (int)fd, (int64_t)args[1], (int)ARG32(2));
    if (r >= 0)
        wasi_put64(w, ARG32(3), (uint64_t)r);
    return wasi__result(w, r);
}

int wasi__fd_tell(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0);
    TRY(wasi__fd(w, fd, RIGHT_FD_TELL));
    if (!wasi_in(w, ARG32(1), 8))
        return WASI_FAULT;
    if (fd == PREOPEN)
        return WASI_NOTCAPABLE;
    int64_t r = proc_lseek(w->p, (int)fd, 0, SEEK_CUR);
    if (r >= 0)
        wasi_put64(w, ARG32(1), (uint64_t)r);
    return wasi__result(w, r);
}

/* Whether it is a stream, which has no places: then the errno, @stream. */
static int has_places(struct wasi *w, uint32_t fd, int stream)
{
    return fd != PREOPEN && proc_lseek(w->p, (int)fd, 0, SEEK_CUR) == -ESPIPE ? stream : 0;
}

int wasi__fd_advise(struct wasi *w, const uint64_t *args)
{
    TRY(wasi__fd(w, ARG32(0), RIGHT_FD_ADVISE));
    if (ARG32(3) > 5 || args[1] > INT64_MAX || args[2] > INT64_MAX)
        return WASI_INVAL;
    return has_places(w, ARG32(0), WASI_SPIPE);
}

int wasi__fd_allocate(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0);
    uint64_t end;
    TRY(wasi__fd(w, fd, RIGHT_FD_ALLOCATE));
    if (args[1] > INT64_MAX || args[2] > INT64_MAX || !args[2])
        return WASI_INVAL;
    end = args[1] + args[2];
    if (fd == PREOPEN || !writable(flags_of(w, fd)))
        return WASI_BADF;
    TRY(has_places(w, fd, WASI_SPIPE));
    const struct vfs_handle *h = proc_fd_handle(w->p, (int)fd);
    if (!h)
        return WASI_NODEV;
    if (end > LIMIT_FILE)
        return WASI_FBIG;
    if (end <= vfs_handle_size(h))
        return 0;
    return wasi__result(w, proc_ftruncate(w->p, (int)fd, end));
}

/* fsync(2): nothing is ever unwritten, but not everything can be asked. */
int wasi__fd_sync(struct wasi *w, const uint64_t *args)
{
    TRY(wasi__fd(w, ARG32(0), RIGHT_FD_SYNC));
    return has_places(w, ARG32(0), WASI_INVAL);
}

int wasi__fd_datasync(struct wasi *w, const uint64_t *args)
{
    TRY(wasi__fd(w, ARG32(0), RIGHT_FD_DATASYNC));
    return has_places(w, ARG32(0), WASI_INVAL);
}

/* ---- the table ---- */

int wasi__fd_close(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0);
    struct wasi_fd *e;
    TRY(wasi__fd(w, fd, 0));
    if (fd == PREOPEN) {
        TRY(wasi__make_entry(w, fd, &e));
        wasi__drop_entry(w, fd);
        e->gone = true;
        return 0;
    }
    wasi__drop_entry(w, fd);
    return wasi__result(w, proc_close(w->p, (int)fd));
}

/* dup2(2) and close(2) in one, of two open descriptors. */
int wasi__fd_renumber(struct wasi *w, const uint64_t *args)
{
    uint32_t from = ARG32(0), to = ARG32(1);
    TRY(wasi__fd(w, from, 0));
    TRY(wasi__fd(w, to, 0));
    if (from == to)
        return 0;
    bool cloexec = from != PREOPEN && w->p->fds.v[from].cloexec;
    int r = wasi__dup(w, from, 0, (int)to, cloexec);
    if (r < 0)
        return wasi__result(w, r);
    struct wasi_fd *e = wasi__entry(w, from);
    if (e && e->dir && wasi__make_entry(w, to, &e) == 0) { /* places in a directory go along */
        e->dir = w->fds[from].dir;
        w->fds[from].dir = NULL;
    }
    const uint64_t close_args[] = {from};
    return wasi__fd_close(w, close_args);
}

int wasi__fd_prestat_get(struct wasi *w, const uint64_t *args)
{
    if (ARG32(0) != PREOPEN)
        return WASI_BADF;
    TRY(wasi__fd(w, PREOPEN, 0));
    if (!wasi_in(w, ARG32(1), 8))
        return WASI_FAULT;
    wasi_put32(w, ARG32(1), 0);               /* a directory */
    wasi_put32(w, ARG32(1) + UINT64_C(4), 1); /* bytes of "/" */
    return 0;
}

int wasi__fd_prestat_dir_name(struct wasi *w, const uint64_t *args)
{
    if (ARG32(0) != PREOPEN)
        return WASI_BADF;
    TRY(wasi__fd(w, PREOPEN, 0));
    if (!wasi_in(w, ARG32(1), ARG32(2)))
        return WASI_FAULT;
    if (ARG32(2) < 1)
        return WASI_NAMETOOLONG;
    *wasi_at(w, ARG32(1)) = '/';
    return 0;
}
