/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"

/*
 * The host side of mounts. Every descriptor below a mount comes from openat2() beneath the mount's own, by names that
 * the tree resolved, none of which may be a symlink on the host. What was a directory when it was listed and is
 * something else now gives ESTALE, never another place. Status and targets are asked for by one name in the
 * descriptor of its directory, with calls that do not follow a symlink. The descriptors of the directories used last
 * are kept, so that a walk that goes down and back up opens each once; none longer than DIR_KEEP, so that a directory
 * moved out of the mount is soon let go.
 *
 * System calls used: openat2, statx, getdents64, readlinkat, pread64, close.
 */

#define DIR_KEEP (100 * CLOCK_MS)
#define STATX_WANT (STATX_BASIC_STATS | STATX_BTIME)

/* ---- reaching a place ---- */

/* What a failure of the host means to the guest: a place that is no longer what it was is stale. */
static int host_error(int e)
{
    if (e == ELOOP || e == EXDEV || e == ENOTDIR || e == EAGAIN)
        return -ESTALE;
    return -e;
}

static int open_beneath(int dir, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC | O_NOFOLLOW,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS};
    if (!(flags & O_PATH))
        how.flags |= O_NONBLOCK | O_NOCTTY;
    /* A rename on the host during the walk gives EAGAIN; it is worth some more tries. */
    for (int tries = 0; tries < 100; tries++) {
        long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR)
            break;
    }
    return host_error(errno);
}

/* The host behind a node of a mount. */
static struct host *host_of(const struct vfs *v, const struct node *n)
{
    return v->mounts->m[n->mount - 1].host;
}

static bool is_root(const struct origin *o)
{
    return o->parent == NULL;
}

/* Opens the place @o from the mount's own descriptor. */
static int open_from_root(const struct host *host, const struct origin *o, int flags)
{
    char path[LIMIT_PATH];
    size_t at = sizeof(path) - 1;
    path[at] = 0;
    if (is_root(o))
        return host->fd < 0 ? host->fd : open_beneath(host->fd, ".", flags);
    for (; !is_root(o); o = o->parent) {
        if (o->len + 1u > at)
            return -ENAMETOOLONG;
        if (path[at])
            path[--at] = '/';
        at -= o->len;
        memcpy(path + at, o->name, o->len);
    }
    return host->fd < 0 ? host->fd : open_beneath(host->fd, path + at, flags);
}

/* Keeps @fd, of the directory @o, in the place of the one that was not used for the longest time. */
static void keep_dir(struct host *host, int fd, struct origin *o)
{
    struct kept_dir *last = &host->kept[HOST_KEPT - 1];
    fd_close(&last->fd);
    vfs__origin_unref(last->of);
    memmove(host->kept + 1, host->kept, sizeof(host->kept) - sizeof(*last));
    o->refs++;
    host->kept[0] = (struct kept_dir){.fd = fd, .of = o, .time = clock_mono()};
}

/* The kept descriptor of @dir, or -1. It becomes the first. */
static int kept_dir(struct host *host, const struct origin *dir)
{
    for (unsigned i = 0; i < HOST_KEPT; i++) {
        struct kept_dir k = host->kept[i];
        if (k.of != dir)
            continue;
        if (clock_mono() - k.time >= DIR_KEEP)
            return -1;
        memmove(host->kept + 1, host->kept, i * sizeof(k));
        host->kept[0] = k;
        return k.fd;
    }
    return -1;
}

/* A descriptor of the directory @dir, borrowed from the host: it may be O_PATH. */
static int dir_fd(struct host *host, struct origin *dir)
{
    if (is_root(dir))
        return host->fd;
    int fd = kept_dir(host, dir);
    if (fd >= 0)
        return fd;
    fd = open_from_root(host, dir, O_PATH | O_DIRECTORY);
    if (fd >= 0)
        keep_dir(host, fd, dir);
    return fd;
}

static int open_place(struct host *host, const struct origin *o, int flags)
{
    int dir = is_root(o) ? -1 : kept_dir(host, o->parent);
    return dir >= 0 ? open_beneath(dir, o->name, flags) : open_from_root(host, o, flags);
}

/* ---- status ---- */

static int64_t nanoseconds(const struct statx_timestamp *t)
{
    int64_t ns;
    if (__builtin_mul_overflow(t->tv_sec, CLOCK_S, &ns) || __builtin_add_overflow(ns, (int64_t)t->tv_nsec, &ns))
        return t->tv_sec < 0 ? INT64_MIN + 1 : INT64_MAX - 1;
    return ns;
}

static int stat_fd(int fd, const char *name, struct statx *st)
{
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name[0] ? 0 : AT_EMPTY_PATH);
    return statx(fd, name, flags, STATX_WANT, st) < 0 ? host_error(errno) : 0;
}

/* Puts a host status into an edited node that had none. Its origin stays where it is. */
static void apply_status(struct node *n, const struct host *host, const struct statx *st)
{
    n->mode = (n->mode & S_IFMT) | (st->stx_mode & 07777u);
    n->uid = st->stx_uid == host->host_uid ? host->uid : st->stx_uid;
    n->gid = st->stx_gid == host->host_gid ? host->gid : st->stx_gid;
    n->atime = nanoseconds(&st->stx_atime);
    n->mtime = nanoseconds(&st->stx_mtime);
    n->ctime = nanoseconds(&st->stx_ctime);
    n->btime = st->stx_mask & STATX_BTIME ? nanoseconds(&st->stx_btime) : n->mtime;
    if (S_ISREG(n->mode)) {
        n->size = st->stx_size;
        n->u.origin->blocks = st->stx_blocks;
        n->u.origin->size_or_links = st->stx_nlink;
    } else if (S_ISDIR(n->mode)) {
        n->x.origin->blocks = st->stx_blocks;
        n->x.origin->size_or_links = st->stx_size;
    }
    n->flags &= (uint16_t)~NODE_UNSTAT;
}

/* The target of a symlink as a page. */
static int read_target(int dir, const char *name, struct page **ret)
{
    char target[LIMIT_PATH];
    ssize_t len = readlinkat(dir, name, target, sizeof(target));
    if (len < 0)
        return errno == EINVAL ? -ESTALE : host_error(errno);
    if (len == 0 || len >= LIMIT_PATH)
        return len == 0 ? -EIO : -ENAMETOOLONG;
    struct page *p = vfs__page_new((size_t)len);
    if (!p)
        return -ENOMEM;
    memcpy(p->p, target, (size_t)len);
    p->len = (uint32_t)len;
    *ret = p;
    return 0;
}

/* What an answer about a status holds: the owner as the session sees it. */
struct answer {
    uint32_t mode, nlink, uid, gid, rdev_major, rdev_minor;
    uint64_t size, blocks;
    int64_t atime, mtime, ctime, btime;
};

static void put_status(struct buf *out, const struct host *host, const struct statx *st)
{
    const struct answer a = {
        .mode = st->stx_mode,
        .nlink = st->stx_nlink,
        .uid = st->stx_uid == host->host_uid ? host->uid : st->stx_uid,
        .gid = st->stx_gid == host->host_gid ? host->gid : st->stx_gid,
        .rdev_major = st->stx_rdev_major,
        .rdev_minor = st->stx_rdev_minor,
        .size = st->stx_size,
        .blocks = st->stx_blocks,
        .atime = nanoseconds(&st->stx_atime),
        .mtime = nanoseconds(&st->stx_mtime),
        .ctime = nanoseconds(&st->stx_ctime),
        .btime = st->stx_mask & STATX_BTIME ? nanoseconds(&st->stx_btime) : nanoseconds(&st->stx_mtime),
    };
    buf_add(out, &a, sizeof(a));
}

static struct statx_timestamp timestamp(int64_t ns)
{
    int64_t s = ns / CLOCK_S - (ns % CLOCK_S < 0);
    return (struct statx_timestamp){.tv_sec = s, .tv_nsec = (uint32_t)(ns - s * CLOCK_S)};
}

/* Takes a status from the front of @s. */
static int get_status(struct str *s, struct statx *st)
{
    struct answer a;
    if (s->n < sizeof(a))
        return -EILSEQ;
    memcpy(&a, s->p, sizeof(a));
    *s = str_from(*s, sizeof(a));
    *st = (struct statx){.stx_mask = STATX_BTIME,
                         .stx_mode = (uint16_t)a.mode,
                         .stx_nlink = a.nlink,
                         .stx_uid = a.uid,
                         .stx_gid = a.gid,
                         .stx_rdev_major = a.rdev_major,
                         .stx_rdev_minor = a.rdev_minor,
                         .stx_size = a.size,
                         .stx_blocks = a.blocks,
                         .stx_atime = timestamp(a.atime),
                         .stx_mtime = timestamp(a.mtime),
                         .stx_ctime = timestamp(a.ctime),
                         .stx_btime = timestamp(a.btime)};
    return 0;
}

/* ---- tapes ---- */

void vfs_set_host_tape(struct vfs *v, const struct vfs_host_tape *tape)
{
    v->tape = tape;
}

static bool answers(const struct vfs *v)
{
    return v->tape && !v->tape->heard;
}

static void put_place(struct buf *out, const struct origin *o)
{
    if (is_root(o))
        return;
    put_place(out, o->parent);
    if (!is_root(o->parent))
        buf_putc(out, '/');
    buf_add(out, o->name, o->len);
}

/* Asks the tape: 0 and the answer, or the error that was recorded. */
static int ask_tape(const struct vfs *v, enum vfs_host_ask ask, unsigned mount, const struct origin *o, struct buf *ret)
{
    struct mem_account *acc = mem_use(NULL);
    BUF_AUTO struct buf place;
    buf_init(&place, (LIMIT_DEPTH + 1) * (LIMIT_NAME + 1));
    put_place(&place, o);
    int rc = v->tape->answer(v->tape->arg, ask, mount - 1, buf_str(&place), ret);
    mem_use(acc);
    return rc;
}

/* Tells a tape that records. */
static void tell_tape(const struct vfs *v, enum vfs_host_ask ask, unsigned mount, const struct origin *o, int error,
                      struct str answer)
{
    if (!v->tape || !v->tape->heard)
        return;
    struct mem_account *acc = mem_use(NULL);
    BUF_AUTO struct buf place;
    buf_init(&place, (LIMIT_DEPTH + 1) * (LIMIT_NAME + 1));
    put_place(&place, o);
    v->tape->heard(v->tape->arg, ask, mount - 1, buf_str(&place), error < 0 ? error : 0, answer);
    mem_use(acc);
}

/* ---- what a node is ---- */

static int page_of(struct str text, struct page **ret)
{
    if (text.n == 0 || text.n >= LIMIT_PATH)
        return -EILSEQ;
    struct page *p = vfs__page_new(text.n);
    if (!p)
        return -ENOMEM;
    memcpy(p->p, text.p, text.n);
    p->len = (uint32_t)text.n;
    *ret = p;
    return 0;
}

/* Status and target as the host has them now. */
static int look(struct host *host, const struct node *n, const struct origin *o, struct statx *st, struct page **target)
{
    const char *name = is_root(o) ? "" : o->name;
    int dir = is_root(o) ? host->fd : dir_fd(host, o->parent);
    int rc = dir < 0 ? dir : stat_fd(dir, name, st);
    if (rc == 0 && (st->stx_mode & S_IFMT) != (n->mode & S_IFMT))
        rc = -ESTALE;
    return rc == 0 && S_ISLNK(st->stx_mode) ? read_target(dir, name, target) : rc;
}

static int ask_status(struct vfs *v, struct host *host, const struct node *n, struct statx *st, struct page **target)
{
    struct origin *o = S_ISDIR(n->mode) ? n->x.origin : n->u.origin;
    if (!v->tape)
        return look(host, n, o, st, target);
    struct buf b;
    buf_init(&b, sizeof(struct answer) + LIMIT_PATH);
    int rc;
    if (answers(v)) {
        rc = ask_tape(v, VFS_ASK_STATUS, n->mount, o, &b);
        struct str s = buf_str(&b);
        if (rc == 0)
            rc = get_status(&s, st);
        if (rc == 0 && (st->stx_mode & S_IFMT) != (n->mode & S_IFMT))
            rc = -EILSEQ;
        if (rc == 0 && S_ISLNK(st->stx_mode))
            rc = page_of(s, target);
    } else {
        rc = look(host, n, o, st, target);
        if (rc == 0)
            put_status(&b, host, st);
        if (rc == 0 && *target)
            buf_add(&b, (*target)->p, (*target)->len);
        tell_tape(v, VFS_ASK_STATUS, n->mount, o, rc, buf_str(&b));
    }
    buf_done(&b);
    return rc;
}

int vfs__host_status(struct vfs *v, uint64_t ino, struct node **node)
{
    struct host *host = host_of(v, *node);
    struct statx st;
    struct page *target = NULL;
    int rc = ask_status(v, host, *node, &st, &target);
    struct node *n = rc == 0 ? vfs__edit(v, ino) : NULL;
    if (!n) {
        vfs__page_unref(target);
        return rc < 0 ? rc : -ENOMEM;
    }
    *node = n;
    apply_status(n, host, &st);
    if (S_ISDIR(n->mode)) {
        if (n->flags & NODE_HOST)
            n->nlink = st.stx_nlink;
    } else if (!S_ISREG(n->mode)) {
        vfs__origin_unref(n->u.origin);
        n->u.rdev = makedev(st.stx_rdev_major, st.stx_rdev_minor);
        if (S_ISLNK(n->mode)) {
            n->u.page = target;
            n->size = target->len;
            v->used.bytes += target->cap;
        }
    }
    return 0;
}

/* ---- content ---- */

/* Opens a file; its status with it when @st is given. */
static int open_file(struct host *host, const struct origin *o, struct statx *st, int *ret_fd)
{
    int fd = host->file ? host->fd : open_place(host, o, O_RDONLY);
    int rc = fd < 0 ? fd : st ? stat_fd(fd, "", st) : 0;
    if (rc == 0 && st && !S_ISREG(st->stx_mode))
        rc = -ESTALE;
    if (rc < 0 && !host->file)
        fd_close(&fd);
    *ret_fd = fd;
    return rc;
}

static int ask_open(struct vfs *v, struct host *host, const struct node *n, struct statx *st, int *ret_fd)
{
    const struct origin *o = n->u.origin;
    if (!v->tape)
        return open_file(host, o, st, ret_fd);
    struct buf b;
    buf_init(&b, sizeof(struct answer));
    int rc;
    if (answers(v)) {
        rc = ask_tape(v, VFS_ASK_OPEN, n->mount, o, &b);
        struct str s = buf_str(&b);
        if (rc == 0 && st)
            rc = get_status(&s, st);
        *ret_fd = HOST_NO_FD;
    } else {
        rc = open_file(host, o, st, ret_fd);
        if (rc == 0 && st)
            put_status(&b, host, st);
        tell_tape(v, VFS_ASK_OPEN, n->mount, o, rc, buf_str(&b));
    }
    buf_done(&b);
    return rc;
}

int vfs__host_open(struct vfs *v, uint64_t ino, struct node **node, int *ret_fd, bool *ret_borrowed)
{
    struct host *host = host_of(v, *node);
    struct statx st;
    bool unknown = ((*node)->flags & NODE_UNSTAT) != 0;
    bool borrowed = host->file || answers(v);
    int fd;
    int rc = ask_open(v, host, *node, unknown ? &st : NULL, &fd);
    if (rc < 0)
        return rc;
    if (unknown) {
        struct node *n = vfs__edit(v, ino);
        if (!n) {
            if (!borrowed)
                fd_close(&fd);
            return -ENOMEM;
        }
        apply_status(n, host, &st);
        *node = n;
    }
    *ret_fd = fd;
    *ret_borrowed = borrowed;
    return 0;
}

ssize_t vfs__host_read(struct vfs *v, const struct node *n, int fd, void *p, size_t len, uint64_t off)
{
    if (!v->tape)
        return vfs__host_pread(fd, p, len, off);
    if (!answers(v)) {
        ssize_t got = vfs__host_pread(fd, p, len, off);
        tell_tape(v, VFS_ASK_READ, n->mount, n->u.origin, (int)(got < 0 ? got : 0),
                  str_of(p, got > 0 ? (size_t)got : 0));
        return got;
    }
    struct buf b;
    buf_init(&b, len);
    ssize_t rc = ask_tape(v, VFS_ASK_READ, n->mount, n->u.origin, &b);
    if (rc == 0) {
        rc = (ssize_t)b.n;
        if (b.n)
            memcpy(p, b.p, b.n);
    }
    buf_done(&b);
    return rc;
}

ssize_t vfs__host_pread(int fd, void *p, size_t n, uint64_t off)
{
    size_t done = 0;
    while (done < n) {
        if (off + done > INT64_MAX)
            break;
        ssize_t got = pread(fd, (char *)p + done, n - done, (off_t)(off + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return done > 0 ? (ssize_t)done : host_error(errno);
        done += (size_t)got;
        /* Of a regular file, less than was asked for is the end: no second call to hear 0. */
        if (got == 0 || done < n)
            break;
    }
    return (ssize_t)done;
}

void vfs__host_forget(struct node *n)
{
    vfs__origin_unref(n->u.origin);
    n->u.page = NULL;
    n->size = 0;
    n->flags &= (uint16_t)~NODE_HOST;
}

/* Copies from @fd into @to, which is in no table yet. */
static int copy_in(struct vfs *v, const struct node *from, struct node *to, int fd, uint64_t size, struct page *window)
{
    while (to->size < size) {
        size_t want = (size_t)NUM_MIN(size - to->size, (uint64_t)VFS_PAGE);
        ssize_t got = vfs__host_read(v, from, fd, window->p, want, to->size);
        if (got <= 0)
            return (int)got;
        if (to->size + (uint64_t)got > LIMIT_FILE)
            return -EFBIG;
        ssize_t put = vfs__content_write(v, to, window->p, (size_t)got, to->size);
        if (put != got)
            return put < 0 ? (int)put : -EDQUOT;
    }
    return 0;
}

int vfs__host_copy_up(struct vfs *v, uint64_t ino, uint64_t size)
{
    struct node *n = vfs__node(v, ino);
    struct node copy = {.refs = 1, .mode = S_IFREG};
    int fd = -1;
    bool borrowed = false;
    int rc = vfs__host_open(v, ino, &n, &fd, &borrowed);
    if (rc < 0)
        return rc;
    struct page *window = vfs__page_new(VFS_PAGE);
    rc = window ? copy_in(v, n, &copy, fd, size, window) : -ENOMEM;
    vfs__page_unref(window);
    if (!borrowed)
        fd_close(&fd);
    n = rc == 0 ? vfs__edit(v, ino) : NULL;
    if (!n) {
        vfs__resize(v, &copy, 0);
        return rc < 0 ? rc : -ENOMEM;
    }
    vfs__host_forget(n);
    n->u = copy.u;
    n->size = copy.size;
    n->flags |= copy.flags & NODE_MAPPED;
    return 0;
}

/* ---- listing ---- */

struct list {
    struct vfs *v;
    uint64_t dir;
    uint16_t mount;
    struct origin *origin;
    struct dpage *names;
    uint64_t count, subdirs;
    struct buf *tape; /* each entry's type and name, when a tape records */
};

/* An entry and the node behind it, of which only the type is known. */
static int add_entry(struct list *l, struct str name, uint32_t type)
{
    struct vfs *v = l->v;
    uint64_t ino = v->next_ino;
    if (name.n == 0 || name.n > LIMIT_NAME || memchr(name.p, '/', name.n))
        return -EIO;
    if (vfs__dir_find(l->names, name)) /* a directory that changes while it is read may give a name twice */
        return 0;
    if (v->used.inodes >= v->quota.inodes)
        return -ENOSPC;
    struct origin *o = vfs__origin_new(l->origin, name);
    struct node *n = o ? vfs__node_new(type) : NULL;
    if (!n || vfs__radix_reserve(&v->root, RADIX_NODES, ino) < 0 || vfs__dir_reserve(&l->names, name) < 0) {
        vfs__free(n);
        vfs__origin_unref(o);
        return -ENOMEM;
    }
    n->flags = NODE_UNSTAT | NODE_CLEAN;
    n->nlink = type == S_IFDIR ? 2 : 1;
    n->parent = l->dir;
    n->mount = l->mount;
    if (type == S_IFDIR)
        n->x.origin = o;
    else
        n->u.origin = o;
    if (type == S_IFDIR || type == S_IFREG)
        n->flags |= NODE_HOST;
    vfs__dir_put(&l->names, name, ino, (uint8_t)(type >> 12));
    vfs__radix_put(v->root, ino, n);
    v->next_ino++;
    v->used.inodes++;
    l->count++;
    l->subdirs += type == S_IFDIR;
    return 0;
}

static bool type_known(uint32_t type)
{
    return type == S_IFREG || type == S_IFDIR || type == S_IFLNK || type == S_IFIFO || type == S_IFSOCK ||
           type == S_IFCHR || type == S_IFBLK;
}

static int type_of(int fd, const struct dirent64 *e, uint32_t *ret)
{
    if (e->d_type != DT_UNKNOWN) {
        *ret = (uint32_t)DTTOIF(e->d_type);
        return 0;
    }
    struct statx st;
    int rc = stat_fd(fd, e->d_name, &st);
    if (rc == 0)
        *ret = st.stx_mode & S_IFMT;
    return rc;
}

static void put_entry(struct buf *out, struct str name, uint32_t type)
{
    buf_putc(out, (char)(type >> 12));
    buf_putc(out, (char)name.n);
    buf_adds(out, name);
}

/* The entries of an answer. */
static int get_entries(struct list *l, struct str s)
{
    int rc = 0;
    while (rc == 0 && s.n) {
        size_t n = s.n > 1 ? (uint8_t)s.p[1] : 0;
        if (s.n < 2 + n)
            return -EILSEQ;
        uint32_t type = (uint32_t)(uint8_t)s.p[0] << 12;
        rc = type_known(type) ? add_entry(l, str_of(s.p + 2, n), type) : -EILSEQ;
        s = str_from(s, 2 + n);
    }
    return rc;
}

/* All entries of @fd, through @window. */
static int read_entries(struct list *l, int fd, struct page *window)
{
    for (;;) {
        long got = syscall(SYS_getdents64, fd, window->p, VFS_PAGE);
        if (got <= 0)
            return got < 0 ? host_error(errno) : 0;
        for (long at = 0; at < got;) {
            const struct dirent64 *e = (const struct dirent64 *)(window->p + at);
            at += e->d_reclen;
            struct str name = str_c(e->d_name);
            if (str_eq(name, STR(".")) || str_eq(name, STR("..")))
                continue;
            uint32_t type;
            int rc = type_of(fd, e, &type);
            if (rc == 0)
                rc = add_entry(l, name, type);
            if (rc == 0 && l->tape)
                put_entry(l->tape, name, type);
            if (rc < 0 && rc != -ENOENT)
                return rc;
        }
    }
}

/* Takes back what a listing that failed has put into the table. */
static void undo(struct list *l, uint64_t first)
{
    struct vfs *v = l->v;
    while (v->next_ino > first)
        vfs__node_unref(vfs__radix_take(&v->root, --v->next_ino));
    v->used.inodes -= l->count;
    vfs__dir_unref(l->names);
}

/* Reads the directory, and its status when @st is given. The descriptor stays with the host. */
static int read_dir(struct host *host, struct list *l, struct statx *st)
{
    int fd = open_place(host, l->origin, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    struct page *window = vfs__window_take(host);
    int rc = window ? 0 : -ENOMEM;
    if (rc == 0 && st)
        rc = stat_fd(fd, "", st);
    if (rc == 0)
        rc = read_entries(l, fd, window);
    if (window)
        vfs__window_give(host, window);
    if (rc == 0)
        keep_dir(host, fd, l->origin);
    else
        fd_close(&fd);
    return rc;
}

static int ask_list(struct vfs *v, struct host *host, struct list *l, struct statx *st)
{
    if (!v->tape)
        return read_dir(host, l, st);
    struct buf b, entries;
    struct mem_account *acc = mem_use(NULL);
    buf_init(&b, SIZE_MAX / 2);
    buf_init(&entries, SIZE_MAX / 2);
    mem_use(acc);
    int rc;
    if (answers(v)) {
        rc = ask_tape(v, VFS_ASK_LIST, l->mount, l->origin, &b);
        struct str s = buf_str(&b);
        if (rc == 0 && st)
            rc = get_status(&s, st);
        if (rc == 0)
            rc = get_entries(l, s);
    } else {
        acc = mem_use(NULL);
        l->tape = &entries;
        rc = read_dir(host, l, st);
        if (rc == 0 && st)
            put_status(&b, host, st);
        buf_adds(&b, buf_str(&entries));
        mem_use(acc);
        if (rc == 0 && (b.err || entries.err))
            rc = -ENOMEM;
        tell_tape(v, VFS_ASK_LIST, l->mount, l->origin, rc, buf_str(&b));
    }
    acc = mem_use(NULL);
    buf_done(&b);
    buf_done(&entries);
    mem_use(acc);
    return rc;
}

int vfs__host_list(struct vfs *v, uint64_t ino, const struct node *n)
{
    struct host *host = host_of(v, n);
    struct list l = {.v = v, .dir = ino, .mount = n->mount, .origin = n->x.origin};
    uint64_t first = v->next_ino;
    struct statx st;
    bool unknown = (n->flags & NODE_UNSTAT) != 0;
    int rc = ask_list(v, host, &l, unknown ? &st : NULL);
    struct node *edit = rc == 0 ? vfs__edit(v, ino) : NULL;
    if (!edit) {
        undo(&l, first);
        return rc < 0 ? rc : -ENOMEM;
    }
    if (unknown)
        apply_status(edit, host, &st);
    edit->u.dir = l.names;
    edit->size = l.count;
    edit->nlink = 2 + (uint32_t)l.subdirs;
    edit->flags &= (uint16_t)~NODE_HOST;
    v->n_dirs += l.subdirs;
    return 0;
}

/* ---- counted things ---- */

struct origin *vfs__origin_new(struct origin *parent, struct str name)
{
    struct origin *o = vfs__alloc(sizeof(*o) + name.n + 1);
    if (!o)
        return NULL;
    *o = (struct origin){.refs = 1, .len = (uint32_t)name.n, .parent = parent};
    if (name.n)
        memcpy(o->name, name.p, name.n);
    o->name[name.n] = 0;
    if (parent)
        parent->refs++;
    return o;
}

void vfs__origin_unref(struct origin *o)
{
    while (o && --o->refs == 0) {
        struct origin *up = o->parent;
        vfs__free(o);
        o = up;
    }
}

bool vfs__origin_same(const struct origin *a, const struct origin *b)
{
    while (a != b) {
        if (!a || !b || a->len != b->len || memcmp(a->name, b->name, a->len) != 0)
            return false;
        a = a->parent;
        b = b->parent;
    }
    return true;
}

struct page *vfs__window_take(struct host *h)
{
    struct page *p = h->window;
    h->window = NULL;
    if (!p)
        return vfs__page_new(VFS_PAGE);
    p->len = 0;
    return p;
}

void vfs__window_give(struct host *h, struct page *p)
{
    if (h->window)
        vfs__page_unref(p);
    else
        h->window = p;
}

struct host *vfs__host_new(int fd, uint32_t host_uid, uint32_t host_gid, uint32_t uid, uint32_t gid)
{
    struct host *h = vfs__alloc(sizeof(*h));
    if (!h)
        return NULL;
    *h = (struct host){
        .refs = 1, .fd = fd < 0 ? -ESTALE : fd, .host_uid = host_uid, .host_gid = host_gid, .uid = uid, .gid = gid};
    for (unsigned i = 0; i < HOST_KEPT; i++)
        h->kept[i].fd = -1;
    return h;
}

void vfs__host_unref(struct host *h)
{
    if (!h || --h->refs > 0)
        return;
    fd_close(&h->fd);
    for (unsigned i = 0; i < HOST_KEPT; i++) {
        fd_close(&h->kept[i].fd);
        vfs__origin_unref(h->kept[i].of);
    }
    vfs__page_unref(h->window);
    vfs__free(h);
}
