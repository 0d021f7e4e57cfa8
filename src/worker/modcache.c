/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/modcache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "cas/hash.h"
#include "types/limits.h"

#define BLOCK (256u << 10)

/* ---- the directory ---- */

static bool ours(const struct stat *st)
{
    return st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int open_dir(int at, const char *name, mode_t mode)
{
    if (mkdirat(at, name, mode) && errno != EEXIST)
        return -errno;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int modcache_open(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    BUF_AUTO struct buf path;
    buf_init(&path, LIMIT_PATH);
    if (cache && cache[0] == '/')
        buf_addc(&path, cache);
    else if (home && home[0] == '/')
        buf_addf(&path, "%s/.cache", home);
    if (path.err || path.n == 0)
        return -ENOENT;
    if (mkdir(path.p, 0700) && errno != EEXIST)
        return -errno;
    FD_AUTO int base = open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FD_AUTO int product = base < 0 ? -errno : open_dir(base, "frontal-sandbox", 0755);
    FD_AUTO int dir = product < 0 ? product : open_dir(product, "modules", 0700);
    struct stat st;
    if (dir < 0)
        return fd_steal(&dir);
    /* Who may write in the one above could put another in its place, but none that is ours. */
    if (fstat(dir, &st))
        return -errno;
    return ours(&st) ? fd_steal(&dir) : -EPERM;
}

/* ---- one file ---- */

/* Hashes @n bytes of @fd after the name, and copies them to @to unless it is -1: 0, -errno or -EBADMSG (it is shorter).
 */
static int hash_file(const char *name, int fd, uint64_t n, int to, uint8_t ret[CAS_HASH_SIZE])
{
    MEM_AUTO char *block = mem_alloc(BLOCK);
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, name, MODCACHE_NAME);
    for (uint64_t at = 0; at < n;) {
        ssize_t k = pread(fd, block, n - at < BLOCK ? (size_t)(n - at) : BLOCK, (off_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return k < 0 ? -errno : -EBADMSG;
        int r = to < 0 ? 0 : fd_write_all(to, str_of(block, (size_t)k));
        if (r < 0)
            return r;
        cas_hash_add(&h, block, (size_t)k);
        at += (uint64_t)k;
    }
    cas_hash_end(&h, ret);
    return 0;
}

/* Whether @fd is a file of ours that is whole. */
static int check(const char *name, int fd)
{
    uint8_t is[CAS_HASH_SIZE], said[CAS_HASH_SIZE];
    struct stat st;
    if (fstat(fd, &st))
        return -errno;
    if (!S_ISREG(st.st_mode) || !ours(&st) || st.st_nlink != 1 || st.st_size <= CAS_HASH_SIZE ||
        (uint64_t)st.st_size > LIMIT_WASM_CODE + CAS_HASH_SIZE)
        return -EBADMSG;
    uint64_t n = (uint64_t)st.st_size - CAS_HASH_SIZE;
    if (pread(fd, said, sizeof(said), (off_t)n) != (ssize_t)sizeof(said))
        return -EBADMSG;
    int r = hash_file(name, fd, n, -1, is);
    return r < 0 ? r : memcmp(is, said, sizeof(is)) == 0 ? 0 : -EBADMSG;
}

int modcache_get(int dir, const char name[MODCACHE_NAME])
{
    FD_AUTO int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? -ENOENT : -EBADMSG;
    if (check(name, fd) < 0) {
        (void)unlinkat(dir, name, 0); /* what cannot be removed is replaced, or found bad again */
        return -EBADMSG;
    }
    (void)futimens(fd, NULL); /* it is in use; when this fails it goes a little too early */
    return fd_steal(&fd);
}

/* ---- not too much of it ---- */

/* Removes the file that was not asked for for longest if all together are too many bytes; false: they are not. */
static bool remove_one(int dir)
{
    uint64_t sum = 0;
    struct timespec oldest = {0, 0};
    char name[NAME_MAX + 1] = "";
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    if (!d) {
        fd_close(&copy);
        return false;
    }
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        struct stat st;
        if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        sum += (uint64_t)st.st_size;
        bool older = st.st_mtim.tv_sec != oldest.tv_sec ? st.st_mtim.tv_sec < oldest.tv_sec
                                                        : st.st_mtim.tv_nsec < oldest.tv_nsec;
        if (*name && !older)
            continue;
        oldest = st.st_mtim;
        snprintf(name, sizeof(name), "%s", e->d_name);
    }
    closedir(d);
    return sum > LIMIT_MODULE_CACHE && unlinkat(dir, name, 0) == 0;
}

int modcache_put(int dir, const char name[MODCACHE_NAME], int fd)
{
    uint8_t digest[CAS_HASH_SIZE];
    char tmp[MODCACHE_NAME + 32];
    struct stat st;
    if (fstat(fd, &st))
        return -errno;
    snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", name, (long)getpid());
    (void)unlinkat(dir, tmp, 0); /* of a process that had our number and did not come to its end */
    FD_AUTO int out = openat(dir, tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out < 0)
        return -errno;
    int r = hash_file(name, fd, (uint64_t)st.st_size, out, digest);
    if (r == 0)
        r = fd_write_all(out, str_of((const char *)digest, sizeof(digest)));
    /* Not synced: what a loss of power leaves half written is found out by its hash. */
    FD_AUTO int again = r < 0 ? r : openat(dir, tmp, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (r == 0 && (again < 0 || renameat(dir, tmp, dir, name)))
        r = -errno;
    if (r < 0)
        (void)unlinkat(dir, tmp, 0);
    while (remove_one(dir))
        ;
    return r < 0 ? r : fd_steal(&again);
}
