/* SPDX-License-Identifier: Apache-2.0 */

/* The directory itself: where it is, whose it is, and how its entries are opened. */

#include "snapshot/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "snapshot/state_int.h"
#include "types/errtab.h"

#define VERSION_TEXT "frontal-sandbox state "
#define VERSION 1
#define REMOVE_DEPTH 16 /* of directories that state__remove() goes down */

static const char *const parts[] = {"store", "sessions", "names", "snapshots", "templates", "ended"};

/* ---- entries ---- */

int state__open_dir(int dirfd, const char *name)
{
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int state__open_file(int dirfd, const char *name, int oflags)
{
    FD_AUTO int fd = openat(dirfd, name, oflags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    struct stat st;
    if (fd < 0)
        return errno == ELOOP || errno == EISDIR || errno == ENXIO ? -EBADMSG : -errno;
    if (fstat(fd, &st))
        return -errno;
    return S_ISREG(st.st_mode) ? fd_steal(&fd) : -EBADMSG;
}

int state__read(int dirfd, const char *name, struct buf *out)
{
    FD_AUTO int fd = state__open_file(dirfd, name, O_RDONLY);
    return fd < 0 ? fd : fd_read_all(fd, out);
}

int state__write(int dirfd, const char *name, struct str text, bool sync)
{
    FD_AUTO int fd = state__open_file(dirfd, name, O_WRONLY | O_CREAT | O_EXCL);
    int r = fd < 0 ? fd : fd_write_all(fd, text);
    if (r == 0 && sync && fsync(fd))
        r = -errno;
    if (r && fd >= 0)
        unlinkat(dirfd, name, 0);
    return r;
}

int state__target(int dirfd, const char *name, char *ret, size_t cap)
{
    ssize_t n = readlinkat(dirfd, name, ret, cap);
    if (n < 0)
        return errno == EINVAL ? -EBADMSG : -errno;
    if ((size_t)n >= cap)
        return -EBADMSG;
    ret[n] = 0;
    return 0;
}

int state__point(int dirfd, const char *name, const char *target)
{
    static const char tmp[] = STATE_NEW "link";
    int r = state__remove(dirfd, tmp);
    if (r == 0 && symlinkat(target, dirfd, tmp))
        r = -errno;
    if (r == 0 && renameat(dirfd, tmp, dirfd, name)) {
        /* Only a directory is in the way of a rename, and none of ours is there. */
        r = state__remove(dirfd, name);
        if (r == 0 && renameat(dirfd, tmp, dirfd, name))
            r = -errno;
    }
    return r;
}

int state__each(int dirfd, int (*fn)(void *arg, const char *name), void *arg)
{
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        r = -errno;
        fd_close(&fd);
        return r;
    }
    struct dirent *e;
    for (errno = 0; r == 0 && (e = readdir(d)); errno = 0) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = fn(arg, e->d_name);
    }
    if (r == 0)
        r = -errno;
    closedir(d);
    return r;
}

struct removing {
    int fd, depth;
};

static int remove_below(int dirfd, const char *name, int depth);

static int remove_entry(void *arg, const char *name)
{
    const struct removing *rm = arg;
    return remove_below(rm->fd, name, rm->depth);
}

static int remove_below(int dirfd, const char *name, int depth)
{
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    if (depth == 0)
        return -ELOOP;
    FD_AUTO int fd = state__open_dir(dirfd, name);
    if (fd < 0)
        return fd;
    struct removing rm = {fd, depth - 1};
    int r = state__each(fd, remove_entry, &rm);
    return r ? r : unlinkat(dirfd, name, AT_REMOVEDIR) && errno != ENOENT ? -errno : 0;
}

int state__remove(int dirfd, const char *name)
{
    return remove_below(dirfd, name, REMOVE_DEPTH);
}

int state__lock(struct state *s, int *ret, struct err *err)
{
    /* A descriptor of its own: the lock goes with it. */
    FD_AUTO int fd = openat(s->names, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r;
    if (fd < 0)
        return err_set(err, -errno, "'%s/names': %s", s->path, errtab_text(errno));
    do
        r = flock(fd, LOCK_EX);
    while (r && errno == EINTR);
    if (r)
        return err_set(err, -errno, "'%s/names' cannot be locked: %s", s->path, errtab_text(errno));
    *ret = fd_steal(&fd);
    return 0;
}

int state_discard(const char *path)
{
    return state__remove(AT_FDCWD, path);
}

/* ---- opening ---- */

char *state_where(const char *path)
{
    struct buf b;
    buf_init(&b, PATH_MAX);
    const char *own = getenv("FRONTAL_SANDBOX_STATE"), *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (path)
        buf_addc(&b, path);
    else if (own && *own)
        buf_addc(&b, own);
    else if (xdg && *xdg == '/') /* one that is not absolute is to be ignored, says the XDG specification */
        buf_addf(&b, "%s/frontal-sandbox", xdg);
    else if (home && *home)
        buf_addf(&b, "%s/.local/state/frontal-sandbox", home);
    if (b.err || b.n == 0) {
        buf_done(&b);
        return NULL;
    }
    return buf_take(&b);
}

/* Waits until the name of a directory is on the disk. */
static int sync_above(const char *path)
{
    FD_AUTO int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FD_AUTO int above = dir < 0 ? -1 : openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0)
        return -errno;
    /* One that cannot be synced (another file system's root, say) is not ours to insist on. */
    (void)fsync(above);
    return 0;
}

/* Makes the directory and its parents. */
static int make_path(char *path)
{
    for (char *p = path + 1;; p++) {
        char c = *p;
        if (c != '/' && c != 0)
            continue;
        *p = 0;
        bool made = mkdir(path, 0700) == 0;
        int r = made ? sync_above(path) : errno != EEXIST ? -errno : 0;
        *p = c;
        if (r || c == 0)
            return r;
    }
}

/* 0; -ENOENT: none; -EBADMSG: not one of ours; -ENOTSUP: newer. */
static int read_version(int root)
{
    BUF_AUTO struct buf text;
    uint64_t version;
    buf_init(&text, 64);
    int r = state__read(root, "version", &text);
    if (r)
        return r == -EFBIG ? -EBADMSG : r;
    struct str t = buf_str(&text);
    if (!str_starts(t, STR(VERSION_TEXT)) || !str_ends(t, STR("\n")))
        return -EBADMSG;
    t = str_from(t, sizeof(VERSION_TEXT) - 1);
    t.n--;
    if (str_u64(t, &version) || version == 0)
        return -EBADMSG;
    return version > VERSION ? -ENOTSUP : 0;
}

static int is_foreign(void *arg, const char *name)
{
    (void)arg;
    /* The history of shell at a prompt has its place there too. */
    if (strncmp(name, "version", 7) == 0 || strcmp(name, "history") == 0)
        return 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strcmp(name, parts[i]) == 0)
            return 0;
    }
    return 1;
}

static int write_version(int root)
{
    char name[32];
    snprintf(name, sizeof(name), "version.%d", (int)getpid());
    int r = state__remove(root, name);
    if (r == 0)
        r = state__write(root, name, STR(VERSION_TEXT "1\n"), true);
    return r ? r : renameat(root, name, root, "version") ? -errno : 0;
}

static int check_version(struct state *s, bool create, struct err *err)
{
    int r = read_version(s->root);
    if (r == -ENOENT) {
        r = state__each(s->root, is_foreign, NULL);
        if (r > 0)
            return err_set(err, -EINVAL, "'%s' holds other things: name an empty directory, or one that does not exist",
                           s->path);
        if (r == 0 && !create)
            return err_set(err, -ENOENT,
                           "'%s' is empty: frontal-sandbox run --session NAME makes a session, --state DIR names "
                           "another place",
                           s->path);
        if (r == 0)
            r = write_version(s->root);
    }
    if (r == -EBADMSG)
        return err_set(err, -EINVAL,
                       "'%s' is no state directory of frontal-sandbox (its version file is something else)", s->path);
    if (r == -ENOTSUP)
        return err_set(err, -EINVAL, "'%s' was written by a newer frontal-sandbox: use that one", s->path);
    return r ? err_set(err, r, "'%s/version': %s", s->path, errtab_text(r)) : 0;
}

/* A part of the directory, made when it is missing: a crash may have come between. */
static int open_part(struct state *s, const char *name, int *ret, struct err *err)
{
    int fd = state__open_dir(s->root, name);
    if (fd == -ENOENT && (mkdirat(s->root, name, 0700) == 0 || errno == EEXIST))
        fd = state__open_dir(s->root, name);
    if (fd < 0)
        return err_set(err, fd, "'%s/%s': %s", s->path, name,
                       fd == -ELOOP || fd == -ENOTDIR ? "not a directory: remove it, or restore the directory"
                                                      : errtab_text(fd));
    *ret = fd;
    return 0;
}

static int open_root(struct state *s, bool create, struct err *err)
{
    int r = create ? make_path(s->path) : 0;
    if (r == 0) {
        s->root = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        r = s->root < 0 ? -errno : 0;
    }
    if (r == -ENOENT)
        return err_set(err, r,
                       "there is no state directory '%s': frontal-sandbox run --session NAME makes it, --state DIR or "
                       "$FRONTAL_SANDBOX_STATE names another",
                       s->path);
    if (r)
        return err_set(err, r, "state directory '%s': %s", s->path, errtab_text(r));
    return check_version(s, create, err);
}

int state_open(const char *path, bool create, struct state **ret, struct err *err)
{
    char *where = state_where(path);
    if (!where)
        return err_set(err, -ENOENT,
                       "no state directory is known ($HOME is not set): name one with --state DIR or "
                       "$FRONTAL_SANDBOX_STATE");
    struct state *s = mem_alloc(sizeof(*s));
    *s = (struct state){where, -1, -1, -1, -1, -1, -1};
    int store = -1;
    int r = open_root(s, create, err);
    if (r == 0)
        r = open_part(s, "store", &store, err);
    if (r == 0)
        r = open_part(s, "sessions", &s->sessions, err);
    if (r == 0)
        r = open_part(s, "names", &s->names, err);
    if (r == 0)
        r = open_part(s, "snapshots", &s->snapshots, err);
    if (r == 0)
        r = open_part(s, "templates", &s->templates, err);
    if (r == 0)
        r = open_part(s, "ended", &s->ended, err);
    fd_close(&store);
    if (r) {
        state_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

void state_close(struct state *s)
{
    if (!s)
        return;
    fd_close(&s->root);
    fd_close(&s->sessions);
    fd_close(&s->names);
    fd_close(&s->snapshots);
    fd_close(&s->templates);
    fd_close(&s->ended);
    mem_free(s->path);
    mem_free(s);
}

const char *state_path(const struct state *s)
{
    return s->path;
}

int state_store_fd(struct state *s)
{
    return state__open_dir(s->root, "store");
}

int state_store(struct state *s, int cas_flags, struct cas **ret, struct err *err)
{
    int fd = state_store_fd(s);
    if (fd < 0)
        return err_set(err, fd, "'%s/store': %s", s->path, errtab_text(fd));
    return cas_open(fd, cas_flags, ret, err);
}
