/* SPDX-License-Identifier: Apache-2.0 */

/* Attributes of files: stat and its kin with mode, owner and blocks, chmod, chown, access, statfs. */
#include "host.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

int __real_fstat(int fd, struct stat *st);
int __real_fstatat(int dirfd, const char *path, struct stat *st, int flags);

static struct timespec from_ns(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
}

static void convert(const struct host_stat *h, struct stat *st)
{
    *st = (struct stat){
        .st_dev = h->dev,
        .st_ino = h->ino,
        .st_nlink = h->nlink,
        .st_mode = h->mode,
        .st_uid = h->uid,
        .st_gid = h->gid,
        .st_rdev = h->rdev,
        .st_size = (off_t)h->size,
        .st_blksize = (blksize_t)h->blksize,
        .st_blocks = (blkcnt_t)h->blocks,
        .st_atim = from_ns(h->atime),
        .st_mtim = from_ns(h->mtime),
        .st_ctim = from_ns(h->ctime),
    };
}

/* What plain WASI says, made usable: it has no permission bits, and tools take 0 at its word. */
static int guess(int rc, struct stat *st)
{
    if (rc == 0) {
        st->st_mode |= S_ISDIR(st->st_mode) ? 0755 : 0644;
        st->st_blksize = 4096;
        st->st_blocks = (st->st_size + 511) / 512;
    }
    return rc;
}

int __wrap_fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
    struct host_stat h;
    int err;

#ifdef AT_EMPTY_PATH
    if ((flags & AT_EMPTY_PATH) != 0 && path[0] == '\0' && dirfd != AT_FDCWD)
        return fstat(dirfd, st);
#endif
    err = host_stat(host_dirfd(dirfd), path, strlen(path), (flags & AT_SYMLINK_NOFOLLOW) != 0, &h);
    if (err == ENOSYS)
        return guess(__real_fstatat(dirfd, path, st, flags & AT_SYMLINK_NOFOLLOW), st);
    if (err == 0)
        convert(&h, st);
    return host_result(err);
}

int __wrap_stat(const char *path, struct stat *st)
{
    return __wrap_fstatat(AT_FDCWD, path, st, 0);
}

int __wrap_lstat(const char *path, struct stat *st)
{
    return __wrap_fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int __wrap_fstat(int fd, struct stat *st)
{
    struct host_stat h;
    int err = host_fstat(fd, &h);

    if (err == ENOSYS)
        return guess(__real_fstat(fd, st), st);
    if (err == 0)
        convert(&h, st);
    return host_result(err);
}

/* --- permissions and owners */

int fchmodat(int dirfd, const char *path, mode_t mode, int flags)
{
    if ((flags & AT_SYMLINK_NOFOLLOW) != 0) {
        struct stat st;

        /* As on Linux: the mode of a link cannot be changed. */
        if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return -1;
        if (S_ISLNK(st.st_mode))
            return host_result(EOPNOTSUPP);
    }
    return host_result(host_chmod(host_dirfd(dirfd), path, strlen(path), mode & 07777));
}

int chmod(const char *path, mode_t mode)
{
    return fchmodat(AT_FDCWD, path, mode, 0);
}

int lchmod(const char *path, mode_t mode)
{
    return fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW);
}

int fchmod(int fd, mode_t mode)
{
    return host_result(host_fchmod(fd, mode & 07777));
}

int fchownat(int dirfd, const char *path, uid_t uid, gid_t gid, int flags)
{
#ifdef AT_EMPTY_PATH
    if ((flags & AT_EMPTY_PATH) != 0 && path[0] == '\0' && dirfd != AT_FDCWD)
        return fchown(dirfd, uid, gid);
#endif
    return host_result(
        host_chown(host_dirfd(dirfd), path, strlen(path), (flags & AT_SYMLINK_NOFOLLOW) != 0, uid, gid));
}

int chown(const char *path, uid_t uid, gid_t gid)
{
    return fchownat(AT_FDCWD, path, uid, gid, 0);
}

int lchown(const char *path, uid_t uid, gid_t gid)
{
    return fchownat(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

int fchown(int fd, uid_t uid, gid_t gid)
{
    return host_result(host_fchown(fd, uid, gid));
}

/* --- times: bookworm's wasi-libc asks WASI for a time and for "now" at once, which is refused, and sets what it should omit */

static int64_t to_ns(const struct timespec *t)
{
    if (t == NULL || t->tv_nsec == UTIME_NOW)
        return INT64_MAX;
    return t->tv_nsec == UTIME_OMIT ? INT64_MIN : (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static int good_times(const struct timespec t[2])
{
    for (int i = 0; t != NULL && i < 2; i++)
        if (t[i].tv_nsec != UTIME_NOW && t[i].tv_nsec != UTIME_OMIT && (t[i].tv_nsec < 0 || t[i].tv_nsec > 999999999))
            return 0;
    return 1;
}

int futimens(int fd, const struct timespec t[2])
{
    if (!good_times(t))
        return host_result(EINVAL);
    return host_result(host_futimens(fd, to_ns(t), to_ns(t == NULL ? NULL : t + 1)));
}

int __wrap_utimensat(int dirfd, const char *path, const struct timespec t[2], int flags)
{
    if (!good_times(t))
        return host_result(EINVAL);
    return host_result(host_utimens(host_dirfd(dirfd), path, strlen(path), (flags & AT_SYMLINK_NOFOLLOW) != 0, to_ns(t),
                                    to_ns(t == NULL ? NULL : t + 1)));
}

mode_t umask(mode_t mask)
{
    static mode_t own = 022;
    unsigned old;

    if (host_umask(mask & 0777, &old) == 0)
        return (mode_t)old;
    old = own;
    own = mask & 0777;
    return (mode_t)old;
}

int __wrap_faccessat(int dirfd, const char *path, int amode, int flags)
{
    struct stat st;
    int err = host_access(host_dirfd(dirfd), path, strlen(path), amode, (flags & AT_EACCESS) != 0 ? 2 : 0);

    if (err == ENOSYS)
        return fstatat(dirfd, path, &st, 0);
    return host_result(err);
}

int __wrap_access(const char *path, int amode)
{
    return __wrap_faccessat(AT_FDCWD, path, amode, 0);
}

int eaccess(const char *path, int amode)
{
    return __wrap_faccessat(AT_FDCWD, path, amode, AT_EACCESS);
}

int euidaccess(const char *path, int amode)
{
    return eaccess(path, amode);
}

/* --- the file system */

int statvfs(const char *path, struct statvfs *s)
{
    struct host_statfs h;
    int err = host_statfs(path, strlen(path), &h);

    if (err == 0)
        *s = (struct statvfs){
            .f_bsize = (unsigned long)h.bsize,
            .f_frsize = (unsigned long)h.bsize,
            .f_blocks = h.blocks,
            .f_bfree = h.bfree,
            .f_bavail = h.bfree,
            .f_files = h.files,
            .f_ffree = h.ffree,
            .f_favail = h.ffree,
            .f_namemax = (unsigned long)h.namemax,
        };
    return host_result(err);
}

/* There is one file system: any path tells, once the descriptor is known to be one. */
int fstatvfs(int fd, struct statvfs *s)
{
    struct stat st;

    return fstat(fd, &st) < 0 ? -1 : statvfs("/", s);
}

int statfs(const char *path, struct statfs *s)
{
    struct statvfs v;

    if (statvfs(path, &v) < 0)
        return -1;
    *s = (struct statfs){
        .f_type = 0x01021994, /* tmpfs of Linux, the nearest that tools know */
        .f_bsize = v.f_bsize,
        .f_frsize = v.f_frsize,
        .f_blocks = v.f_blocks,
        .f_bfree = v.f_bfree,
        .f_bavail = v.f_bavail,
        .f_files = v.f_files,
        .f_ffree = v.f_ffree,
        .f_namelen = v.f_namemax,
    };
    return 0;
}

int fstatfs(int fd, struct statfs *s)
{
    struct stat st;

    return fstat(fd, &st) < 0 ? -1 : statfs("/", s);
}
