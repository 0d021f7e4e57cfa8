/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/cas_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/fd.h"

/*
 * The system calls of the store, each in one place, so that tests can let every one of them fail. (hold.c sleeps, too.)
 *
 * System calls used: openat, mkdirat, renameat, unlinkat, newfstatat, fstat, flock, pread64, pwritev, ftruncate,
 * fdatasync, fsync, mmap (PROT_READ), munmap, getdents64, lseek, close, getrandom.
 */

#define NAME_SIZE 24

static const char *const extensions[] = {"pack", "log", "idx", "tmp"};

static const char *name_of(char buf[NAME_SIZE], uint32_t num, enum cas_ext ext)
{
    snprintf(buf, NAME_SIZE, "%08x.%s", num, extensions[ext]);
    return buf;
}

int cas__open_at(int dir, const char *name, int flags)
{
    int fd;
    do
        fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0644);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

int cas__open(int dir, uint32_t num, enum cas_ext ext, int flags)
{
    char name[NAME_SIZE];
    return cas__open_at(dir, name_of(name, num, ext), flags);
}

int cas__unlink(int dir, uint32_t num, enum cas_ext ext)
{
    char name[NAME_SIZE];
    return unlinkat(dir, name_of(name, num, ext), 0) < 0 && errno != ENOENT ? -errno : 0;
}

int cas__rename(int dir, uint32_t num, enum cas_ext from, enum cas_ext to)
{
    char a[NAME_SIZE], b[NAME_SIZE];
    return renameat(dir, name_of(a, num, from), dir, name_of(b, num, to)) < 0 ? -errno : 0;
}

int64_t cas__size_at(int dir, uint32_t num, enum cas_ext ext)
{
    char name[NAME_SIZE];
    struct stat st;
    return fstatat(dir, name_of(name, num, ext), &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : st.st_size;
}

int cas__mkdir(int dir, const char *name)
{
    return mkdirat(dir, name, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

ssize_t cas__pread(int fd, void *p, size_t n, uint64_t off)
{
    size_t done = 0;
    while (done < n) {
        ssize_t r = pread(fd, (char *)p + done, n - done, (off_t)(off + done));
        if (r == 0)
            break;
        if (r > 0)
            done += (size_t)r;
        else if (errno != EINTR)
            return -errno;
    }
    return (ssize_t)done;
}

size_t cas__pwrite(int fd, struct str a, struct str b, uint64_t off, int *ret_err)
{
    size_t done = 0, all = a.n + b.n;
    *ret_err = 0;
    while (done < all) {
        struct str x = str_from(a, done), y = str_from(b, done > a.n ? done - a.n : 0);
        struct iovec v[2] = {{(void *)(uintptr_t)x.p, x.n}, {(void *)(uintptr_t)y.p, y.n}};
        ssize_t r = pwritev(fd, x.n ? v : v + 1, x.n && y.n ? 2 : 1, (off_t)(off + done));
        if (r > 0) {
            done += (size_t)r;
        } else if (r == 0 || errno != EINTR) {
            *ret_err = r == 0 ? -EIO : -errno;
            break;
        }
    }
    return done;
}

int64_t cas__size(int fd)
{
    struct stat st;
    return fstat(fd, &st) < 0 ? -errno : st.st_size;
}

int cas__truncate(int fd, uint64_t n)
{
    int r;
    do
        r = ftruncate(fd, (off_t)n);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

int cas__sync_file(int fd)
{
    int r;
    do
        r = fdatasync(fd);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

int cas__sync_dir(int fd)
{
    int r;
    do
        r = fsync(fd);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

int cas__lock(int fd, int how)
{
    int r;
    do
        r = flock(fd, how);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

int cas__map(int fd, size_t n, const uint8_t **ret)
{
    void *p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return -errno;
    *ret = p;
    return 0;
}

void cas__unmap(const uint8_t *p, size_t n)
{
    munmap((void *)(uintptr_t)p, n);
}

/* Whether @name is that of a pack's file. */
static bool parse_name(const char *name, uint32_t *num, enum cas_ext *ext)
{
    uint32_t v = 0;
    for (int i = 0; i < 8; i++) {
        char c = name[i];
        if (c >= '0' && c <= '9')
            v = v << 4 | (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v << 4 | (uint32_t)(c - 'a' + 10);
        else
            return false;
    }
    if (name[8] != '.')
        return false;
    for (unsigned i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
        if (strcmp(name + 9, extensions[i]) == 0) {
            *num = v;
            *ext = (enum cas_ext)i;
            return true;
        }
    }
    return false;
}

int cas__list(int dir, int (*fn)(void *arg, uint32_t num, enum cas_ext ext), void *arg)
{
    _Alignas(8) char buf[16384];
    if (lseek(dir, 0, SEEK_SET) < 0)
        return -errno;
    for (;;) {
        ssize_t n = getdents64(dir, buf, sizeof(buf));
        if (n <= 0)
            return n == 0 ? 0 : -errno;
        for (ssize_t at = 0; at < n;) {
            struct dirent64 *d = (struct dirent64 *)(void *)(buf + at);
            uint32_t num;
            enum cas_ext ext;
            at += d->d_reclen;
            int r = parse_name(d->d_name, &num, &ext) ? fn(arg, num, ext) : 0;
            if (r != 0)
                return r;
        }
    }
}

uint64_t cas__random(void)
{
    uint64_t v = 0;
    ssize_t n;
    do
        n = getrandom(&v, sizeof(v), 0);
    while (n < 0 && errno == EINTR);
    /* Only without a kernel source, which Linux always has: an address of this process still differs. */
    return n == (ssize_t)sizeof(v) ? v : (uint64_t)(uintptr_t)&v * UINT64_C(0x9e3779b97f4a7c15);
}
