/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/fd.h"
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

static _Thread_local uint64_t host_reads;

uint64_t vfs_host_reads(void)
{
    return host_reads;
}

int vfs__host_status(struct vfs *v, uint64_t ino, struct node **node)
{
    host_reads++;
    struct host *host = host_of(v, *node);
    struct origin *o = S_ISDIR((*node)->mode) ? (*node)->x.origin : (*node)->u.origin;
    const char *name = is_root(o) ? "" : o->name;
    int dir = is_root(o) ? host->fd : dir_fd(host, o->parent);
    if (dir < 0)
        return dir;
    struct statx st;
    struct page *target = NULL;
    int rc = stat_fd(dir, name, &st);
    if (rc == 0 && (st.stx_mode & S_IFMT) != ((*node)->mode & S_IFMT))
        rc = -ESTALE;
    if (rc == 0 && S_ISLNK(st.stx_mode))
        rc = read_target(dir, name, &target);
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

int vfs__host_open(struct vfs *v, uint64_t ino, struct node **node, int *ret_fd, bool *ret_borrowed)
{
    host_reads++;
    struct host *host = host_of(v, *node);
    struct origin *o = (*node)->u.origin;
    bool borrowed = host->file;
    int fd = borrowed ? host->fd : open_place(host, o, O_RDONLY);
    if (fd < 0)
        return fd;
    if ((*node)->flags & NODE_UNSTAT) {
        struct statx st;
        int rc = stat_fd(fd, "", &st);
        if (rc == 0 && !S_ISREG(st.stx_mode))
            rc = -ESTALE;
        struct node *n = rc == 0 ? vfs__edit(v, ino) : NULL;
        if (!n) {
            if (!borrowed)
                fd_close(&fd);
            return rc < 0 ? rc : -ENOMEM;
        }
        apply_status(n, host, &st);
        *node = n;
    }
    *ret_fd = fd;
    *ret_borrowed = borrowed;
    return 0;
}

ssize_t vfs__host_pread(int fd, void *p, size_t n, uint64_t off)
{
    host_reads++;
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
static int copy_in(struct vfs *v, struct node *to, int fd, uint64_t size, struct page *window)
{
    while (to->size < size) {
        size_t want = (size_t)NUM_MIN(size - to->size, (uint64_t)VFS_PAGE);
        ssize_t got = vfs__host_pread(fd, window->p, want, to->size);
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
    rc = window ? copy_in(v, &copy, fd, size, window) : -ENOMEM;
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

int vfs__host_list(struct vfs *v, uint64_t ino, const struct node *n)
{
    host_reads++;
    struct host *host = host_of(v, n);
    struct list l = {.v = v, .dir = ino, .mount = n->mount, .origin = n->x.origin};
    uint64_t first = v->next_ino;
    struct statx st;
    int fd = open_place(host, l.origin, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    struct page *window = vfs__window_take(host);
    int rc = window ? 0 : -ENOMEM;
    if (rc == 0 && n->flags & NODE_UNSTAT)
        rc = stat_fd(fd, "", &st);
    if (rc == 0)
        rc = read_entries(&l, fd, window);
    struct node *edit = rc == 0 ? vfs__edit(v, ino) : NULL;
    if (window)
        vfs__window_give(host, window);
    if (!edit) {
        undo(&l, first);
        fd_close(&fd);
        return rc < 0 ? rc : -ENOMEM;
    }
    if (edit->flags & NODE_UNSTAT)
        apply_status(edit, host, &st);
    edit->u.dir = l.names;
    edit->size = l.count;
    edit->nlink = 2 + (uint32_t)l.subdirs;
    edit->flags &= (uint16_t)~NODE_HOST;
    v->n_dirs += l.subdirs;
    keep_dir(host, fd, l.origin);
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
