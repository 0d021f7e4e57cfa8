/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions that make files: the mode goes to the host just before WASI's call, which has no place for it. And
 * close-on-exec, which in WASI does not exist: O_CLOEXEC here is a bit of ours (include/fcntl.h) that is taken out.
 */
#include "host.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int __real_open(const char *path, int flags, ...);
int __real_openat(int dirfd, const char *path, int flags, ...);
int __real_mkdir(const char *path, mode_t mode);
int __real_mkdirat(int dirfd, const char *path, mode_t mode);
int __real_linkat(int olddirfd, const char *old, int newdirfd, const char *path, int flags);
DIR *__real_opendir(const char *path);
DIR *__real_fdopendir(int fd);
FILE *__real_fopen(const char *path, const char *mode);

static void set_cloexec(int fd)
{
    int saved = errno, old;

    (void)host_cloexec(fd, 1, &old);
    errno = saved;
}

static int opened(int fd, int flags)
{
    if (fd >= 0 && (flags & O_CLOEXEC) != 0)
        set_cloexec(fd);
    return fd;
}

/* Programs leave O_RDONLY out, which is 0 elsewhere; wasi-libc's has a bit, and its open() refuses flags without any. */
static int with_access_mode(int flags)
{
    return (flags & O_ACCMODE) != 0 ? flags : flags | O_RDONLY;
}

int __wrap_open(const char *path, int flags, ...)
{
    if ((flags & O_CREAT) != 0) {
        va_list ap;

        va_start(ap, flags);
        (void)host_create_mode(va_arg(ap, mode_t) & 07777);
        va_end(ap);
    }
    return opened(__real_open(path, with_access_mode(flags & ~O_CLOEXEC)), flags);
}

int __wrap_openat(int dirfd, const char *path, int flags, ...)
{
    mode_t mode = 0;

    if ((flags & O_CREAT) != 0) {
        va_list ap;

        va_start(ap, flags);
        mode = va_arg(ap, mode_t) & 07777;
        va_end(ap);
    }
    /* For the working directory wasi-libc's calls open(), which is ours, without a mode. */
    if (dirfd == AT_FDCWD)
        return __wrap_open(path, flags, mode);
    if ((flags & O_CREAT) != 0)
        (void)host_create_mode(mode);
    return opened(__real_openat(dirfd, path, with_access_mode(flags & ~O_CLOEXEC)), flags);
}

/* wasi-libc's passes no mode on, being in the same file as its open(). */
int creat(const char *path, mode_t mode)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    (void)host_create_mode(mode & 07777);
    return __real_mkdir(path, mode);
}

int __wrap_mkdirat(int dirfd, const char *path, mode_t mode)
{
    (void)host_create_mode(mode & 07777);
    return __real_mkdirat(dirfd, path, mode);
}

int mkfifoat(int dirfd, const char *path, mode_t mode)
{
    (void)host_create_mode(mode & 07777);
    return host_result(host_mkfifo(host_dirfd(dirfd), path, strlen(path)));
}

int mkfifo(const char *path, mode_t mode)
{
    return mkfifoat(AT_FDCWD, path, mode);
}

/* Files and pipes; devices are for the host to make. */
int mknodat(int dirfd, const char *path, mode_t mode, dev_t dev)
{
    int fd;

    (void)dev;
    switch (mode & S_IFMT) {
    case S_IFIFO:
        return mkfifoat(dirfd, path, mode);
    case 0:
    case S_IFREG:
        fd = openat(dirfd, path, O_WRONLY | O_CREAT | O_EXCL, mode & 07777);
        return fd < 0 ? -1 : close(fd);
    default:
        errno = EPERM;
        return -1;
    }
}

int mknod(const char *path, mode_t mode, dev_t dev)
{
    return mknodat(AT_FDCWD, path, mode, dev);
}

/* POSIX has directory streams close on exec. */
DIR *__wrap_opendir(const char *path)
{
    DIR *d = __real_opendir(path);

    if (d != NULL)
        set_cloexec(dirfd(d));
    return d;
}

DIR *__wrap_fdopendir(int fd)
{
    DIR *d = __real_fdopendir(fd);

    if (d != NULL)
        set_cloexec(fd);
    return d;
}

/* wasi-libc's finds neither name when both are those of the working directory; its link() does. */
int __wrap_linkat(int olddirfd, const char *old, int newdirfd, const char *path, int flags)
{
    char *target;
    int r;

    if (olddirfd != AT_FDCWD || newdirfd != AT_FDCWD)
        return __real_linkat(olddirfd, old, newdirfd, path, flags);
    if ((flags & AT_SYMLINK_FOLLOW) == 0)
        return link(old, path);
    target = realpath(old, NULL);
    if (target == NULL)
        return -1;
    r = link(target, path);
    free(target);
    return r;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    FILE *f = __real_fopen(path, mode);

    if (f != NULL && strchr(mode, 'e') != NULL)
        set_cloexec(fileno(f));
    return f;
}
