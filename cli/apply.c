/* SPDX-License-Identifier: Apache-2.0 */

/*
 * --apply: writes a session's changes below a copy-on-write mount back to the host directory.
 *
 * Every path comes from the worker and is hostile. It is resolved beneath the mount's own descriptor by openat2() with
 * RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, so no "..", symlink or race leads out of the mount. Four passes: check that
 * each change can be applied and that the host still is as the session saw it; write the new files under temporary
 * names at the top of the mount (their bytes may still come from files that go); remove; put in place. A file is
 * renamed over its old self, so it is old or new, never half.
 */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/fd.h"
#include "base/mem.h"
#include "types/errtab.h"
#include "vfs/vfs.h"

struct applying {
    struct driver *d;
    const struct cli_mount *m;
    const struct cli_changes *all;
    size_t i; /* of the change in hand: its temporary file has this number */
    struct err *err;
};

/* The part of @path below the mount, without a leading slash; false when it is not below it. An empty part is the
 * mount's root. */
static bool below(const struct cli_mount *m, struct str path, struct str *ret)
{
    struct str g = str_c(m->guest);
    while (g.n > 1 && g.p[g.n - 1] == '/')
        g.n--;
    if (g.n == 1)
        g.n = 0;
    if (!str_starts(path, g) || (path.n > g.n && path.p[g.n] != '/'))
        return false;
    *ret = str_from(path, g.n + (path.n > g.n));
    return true;
}

static int open_beneath(int dir, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
    return fd < 0 ? -errno : (int)fd;
}

/* Opens the directory that holds @rel and yields its last component. */
static int open_parent(const struct applying *a, struct str rel, char name[LIMIT_NAME + 1], int *ret_dir)
{
    size_t base = rel.n;
    while (base && rel.p[base - 1] != '/')
        base--;
    size_t n = rel.n - base;
    if (n == 0 || n > LIMIT_NAME || rel.n >= LIMIT_PATH)
        return -EINVAL;
    memcpy(name, rel.p + base, n);
    name[n] = 0;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return -EINVAL;
    MEM_AUTO char *dir = base > 1 ? mem_dup(rel.p, base - 1) : mem_dup(".", 1);
    int fd = open_beneath(a->m->fd, dir, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    *ret_dir = fd;
    return 0;
}

static int say(const struct applying *a, int code, const struct cli_change *c, const char *what)
{
    return err_set(a->err, code, "--apply: %.*s: %s", (int)c->path.n, c->path.p, what);
}

/* ---- the first pass ---- */

static bool same_type(uint32_t a, uint32_t b)
{
    return (a & S_IFMT) == (b & S_IFMT);
}

static int64_t nanoseconds(const struct timespec *t)
{
    return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

/* Whether the host still has what the session saw. The worker reads a mount when it first looks, perhaps only now, so
 * the time of the last change on the host counts too: after the session began is meanwhile. */
static bool unchanged(const struct applying *a, const struct stat *st, const struct wire_stat *was)
{
    if (!same_type(st->st_mode, was->mode))
        return false;
    if (S_ISDIR(st->st_mode))
        return true;
    if (nanoseconds(&st->st_ctim) > a->d->started)
        return false;
    return !S_ISREG(st->st_mode) || ((uint64_t)st->st_size == was->size && nanoseconds(&st->st_mtim) == was->mtime);
}

static int check_type(const struct applying *a, const struct cli_change *c)
{
    uint32_t mode = c->new_st.mode;
    if (c->kind == VFS_REMOVED || S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode))
        return 0;
    return say(a, -EOPNOTSUPP, c, "only files, directories and symbolic links can be applied; nothing was");
}

/* Whether @path is also removed: something of another kind takes its place. */
static bool removed_too(const struct cli_changes *all, struct str path)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].kind == VFS_REMOVED && str_eq(all->v[i].path, path))
            return true;
    return false;
}

static int check_host(const struct applying *a, const struct cli_change *c, struct str rel)
{
    char name[LIMIT_NAME + 1];
    FD_AUTO int dir = -1;
    int r = open_parent(a, rel, name, &dir);
    if ((r == -ENOENT || r == -ENOTDIR) && c->kind == VFS_ADDED)
        return 0; /* its directory is added too */
    if (r)
        return say(a, r, c, errtab_text(r));
    struct stat st;
    bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (c->kind == VFS_ADDED && there && !removed_too(a->all, c->path))
        return say(a, -EEXIST, c, "exists on the host by now; nothing was applied");
    if (c->kind != VFS_ADDED && !there)
        return say(a, -ENOENT, c, "is gone from the host by now; nothing was applied");
    if (c->kind != VFS_ADDED && !unchanged(a, &st, &c->old_st))
        return say(a, -EBUSY, c, "was changed on the host meanwhile; nothing was applied");
    return 0;
}

/* ---- the second pass ---- */

static int copy_content(const struct applying *a, const struct cli_change *c, int fd)
{
    struct wire_fs q = {.op = WIRE_FS_READ, .path = c->path, .length = LIMIT_MSG_DATA};
    struct wire_reply rep;
    for (;;) {
        int r = driver_fs(a->d, &q, &rep);
        if (r || rep.error)
            return r ? r : rep.error;
        if (rep.data.n == 0)
            return 0;
        r = fd_write_all(fd, rep.data);
        if (r)
            return r;
        q.offset += rep.data.n;
    }
}

static void temporary_name(const struct applying *a, char name[64])
{
    snprintf(name, 64, ".frontal-apply.%d.%zu", (int)getpid(), a->i);
}

/* setuid and setgid bits of a guest are not for the host. */
static mode_t host_mode(uint32_t mode)
{
    return (mode_t)(mode & 0777);
}

static bool needs_content(const struct cli_change *c, struct str rel)
{
    return rel.n > 0 && S_ISREG(c->new_st.mode) && c->kind != VFS_REMOVED &&
           (c->kind != VFS_META || !S_ISREG(c->old_st.mode));
}

static void set_times(int fd, int64_t mtime)
{
    const struct timespec t[2] = {{0, UTIME_OMIT}, {mtime / 1000000000, mtime % 1000000000}};
    (void)futimens(fd, t); /* the bytes are what was asked for */
}

static int stage_step(const struct applying *a, const struct cli_change *c, struct str rel)
{
    char temp[64];
    if (!needs_content(c, rel))
        return 0;
    temporary_name(a, temp);
    FD_AUTO int fd = openat(a->m->fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int r = fd < 0 ? -errno : copy_content(a, c, fd);
    if (r == 0 && fchmod(fd, host_mode(c->new_st.mode)))
        r = -errno;
    if (r == 0)
        set_times(fd, c->new_st.mtime);
    return r ? say(a, r, c, errtab_text(r)) : 0;
}

static int unstage_step(const struct applying *a, const struct cli_change *c, struct str rel)
{
    char temp[64];
    if (needs_content(c, rel)) {
        temporary_name(a, temp);
        (void)unlinkat(a->m->fd, temp, 0); /* most were put in place */
    }
    return 0;
}

static int put_file(const struct applying *a, int dir, const char *name)
{
    char temp[64];
    temporary_name(a, temp);
    struct stat st;
    /* Root keeps the owner that the file had. */
    if (geteuid() == 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        fchownat(a->m->fd, temp, st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW))
        return -errno;
    return renameat(a->m->fd, temp, dir, name) ? -errno : 0;
}

static int put_status(const struct cli_change *c, int dir, const char *name)
{
    const struct timespec t[2] = {{0, UTIME_OMIT}, {c->new_st.mtime / 1000000000, c->new_st.mtime % 1000000000}};
    if (fchmodat(dir, name, host_mode(c->new_st.mode), 0) || utimensat(dir, name, t, AT_SYMLINK_NOFOLLOW))
        return -errno;
    return 0;
}

static int put_link(const struct applying *a, const struct cli_change *c, int dir, const char *name)
{
    const struct wire_fs q = {.op = WIRE_FS_READLINK, .path = c->path};
    struct wire_reply rep;
    int r = driver_fs(a->d, &q, &rep);
    if (r || rep.error)
        return r ? r : rep.error;
    MEM_AUTO char *target = mem_dup(rep.data.p, rep.data.n);
    if (c->kind != VFS_ADDED && unlinkat(dir, name, 0) && errno != ENOENT)
        return -errno;
    return symlinkat(target, dir, name) ? -errno : 0;
}

static int remove_old(const struct cli_change *c, int dir, const char *name)
{
    int flags = S_ISDIR(c->old_st.mode) ? AT_REMOVEDIR : 0;
    return unlinkat(dir, name, flags) && errno != ENOENT ? -errno : 0;
}

static int put_new(const struct applying *a, const struct cli_change *c, int dir, const char *name)
{
    uint32_t mode = c->new_st.mode;
    if (c->kind != VFS_ADDED && !same_type(mode, c->old_st.mode)) {
        int r = remove_old(c, dir, name);
        if (r)
            return r;
    }
    if (S_ISDIR(mode)) {
        bool made = mkdirat(dir, name, host_mode(mode)) == 0;
        if (!made && errno != EEXIST)
            return -errno;
        return fchmodat(dir, name, host_mode(mode) | (made ? 0700 : 0), 0) ? -errno : 0;
    }
    if (S_ISLNK(mode))
        return put_link(a, c, dir, name);
    return c->kind == VFS_META ? put_status(c, dir, name) : put_file(a, dir, name);
}

static int apply_one(const struct applying *a, const struct cli_change *c, struct str rel)
{
    char name[LIMIT_NAME + 1];
    FD_AUTO int dir = -1;
    int r = open_parent(a, rel, name, &dir);
    if (r == 0)
        r = c->kind == VFS_REMOVED ? remove_old(c, dir, name) : put_new(a, c, dir, name);
    return r ? say(a, r, c, errtab_text(r)) : 0;
}

/* A mounted file: there is no directory to rename in, so it is written in place. */
static int apply_to_file(const struct applying *a, const struct cli_change *c)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", a->m->fd);
    FD_AUTO int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    int r = fd < 0 ? -errno : copy_content(a, c, fd);
    return r ? say(a, r, c, errtab_text(r)) : 0;
}

typedef int step_fn(const struct applying *a, const struct cli_change *c, struct str rel);

static int check_step(const struct applying *a, const struct cli_change *c, struct str rel)
{
    if (rel.n == 0 && c->kind == VFS_META)
        return 0;
    if (rel.n == 0 && (a->m->is_dir || c->kind != VFS_MODIFIED))
        return say(a, -EBUSY, c, "the mount itself cannot be removed or replaced; nothing was applied");
    int r = check_type(a, c);
    return r || rel.n == 0 ? r : check_host(a, c, rel);
}

static int write_step(const struct applying *a, const struct cli_change *c, struct str rel)
{
    if (c->kind == VFS_REMOVED)
        return 0;
    if (rel.n == 0)
        return c->kind == VFS_META ? 0 : apply_to_file(a, c);
    return apply_one(a, c, rel);
}

/* Removed paths go last entry first, because a directory is listed before what is in it. */
static int remove_step(const struct applying *a, const struct cli_change *c, struct str rel)
{
    return c->kind == VFS_REMOVED ? apply_one(a, c, rel) : 0;
}

/* The innermost cow mount that holds @path. */
static const struct cli_mount *mount_of(const struct cli_options *o, struct str path, struct str *ret_rel)
{
    const struct cli_mount *best = NULL;
    for (uint32_t i = 0; i < o->n_mounts; i++) {
        struct str rel;
        if (!below(&o->mounts[i], path, &rel))
            continue;
        if (!best || rel.n < ret_rel->n) {
            best = &o->mounts[i];
            *ret_rel = rel;
        }
    }
    return best && best->flags & VFS_MOUNT_COW ? best : NULL;
}

static int each(struct driver *d, const struct cli_options *o, const struct cli_changes *c, bool backwards, step_fn *fn,
                size_t *n, struct err *err)
{
    for (size_t i = 0; i < c->n; i++) {
        size_t at = backwards ? c->n - 1 - i : i;
        const struct cli_change *ch = &c->v[at];
        struct str rel = {0};
        const struct cli_mount *m = mount_of(o, ch->path, &rel);
        if (!m)
            continue;
        const struct applying a = {d, m, c, at, err};
        int r = fn(&a, ch, rel);
        if (r)
            return r;
        *n += 1;
    }
    return 0;
}

int cli_apply(struct driver *d, const struct cli_options *o, const struct cli_changes *c, size_t *ret_n,
              struct err *err)
{
    size_t n = 0, ignored = 0;
    int r = each(d, o, c, false, check_step, &n, err);
    if (r == 0)
        r = each(d, o, c, false, stage_step, &ignored, err);
    if (r == 0)
        r = each(d, o, c, true, remove_step, &ignored, err);
    if (r == 0)
        r = each(d, o, c, false, write_step, &ignored, err);
    if (r)
        (void)each(d, o, c, false, unstage_step, &ignored, NULL); /* cannot fail */
    if (r == 0)
        *ret_n = n;
    return r;
}
