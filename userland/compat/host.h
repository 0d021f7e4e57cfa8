/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * host - the import module frontal_sandbox_1, as docs/internals/host-imports.md describes it.
 *
 * Every function gives an errno of WASI, whose values are wasi-libc's own. host_result() turns it into C's convention.
 * A host without the module (a plain WASI runtime with stubs) answers ENOSYS everywhere; the few functions that a
 * program cannot start without (stat, chdir, open) then fall back to what WASI alone can do.
 */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HOST(name) __attribute__((import_module("frontal_sandbox_1"), import_name(#name))) int host_##name

struct host_action {
    uint32_t kind, fd, fd2;
};

enum {
    HOST_CLOSE = 0,
    HOST_DUP = 1,
    HOST_CHDIR = 2,
};

struct host_ids {
    uint32_t pid, ppid, pgid, sid, uid, euid, gid, egid;
};

struct host_stat {
    uint64_t dev, ino, nlink, rdev, size, blocks;
    uint32_t mode, uid, gid, blksize;
    uint64_t atime, mtime, ctime, spare;
};

struct host_statfs {
    uint64_t bsize, blocks, bfree, files, ffree, namemax;
};

HOST(spawn)(const char *path, size_t path_n, const char *argv, size_t argv_n, const char *env, size_t env_n,
            const struct host_action *actions, size_t n_actions, int flags, int *ret_pid);
HOST(wait)(int pid, int flags, int *ret_pid, int *ret_status);
HOST(exec)(const char *path, size_t path_n, const char *argv, size_t argv_n, const char *env, size_t env_n, int flags);
HOST(kill)(int pid, int sig);
HOST(sig_disposition)(int sig, int what);
HOST(ids)(struct host_ids *ret);
HOST(umask)(unsigned mask, unsigned *ret_old);
HOST(cpu_times)(uint64_t ret[2]);
HOST(pipe)(int flags, int ret[2]);
HOST(dup)(int fd, int min, int flags, int *ret_fd);
HOST(dup2)(int fd, int fd2, int flags);
HOST(cloexec)(int fd, int set, int *ret_old);
HOST(isatty)(int fd);
HOST(tty_size)(int fd, unsigned ret[2]);
HOST(create_mode)(unsigned mode);
HOST(stat)(int dirfd, const char *path, size_t path_n, int flags, struct host_stat *ret);
HOST(fstat)(int fd, struct host_stat *ret);
HOST(chmod)(int dirfd, const char *path, size_t path_n, unsigned mode);
HOST(fchmod)(int fd, unsigned mode);
HOST(chown)(int dirfd, const char *path, size_t path_n, int flags, unsigned uid, unsigned gid);
HOST(fchown)(int fd, unsigned uid, unsigned gid);
HOST(utimens)(int dirfd, const char *path, size_t path_n, int flags, int64_t atime, int64_t mtime);
HOST(futimens)(int fd, int64_t atime, int64_t mtime);
HOST(access)(int dirfd, const char *path, size_t path_n, int amode, int flags);
HOST(mkfifo)(int dirfd, const char *path, size_t path_n);
HOST(chdir)(const char *path, size_t path_n);
HOST(fchdir)(int fd);
HOST(getcwd)(char *buf, size_t buf_n, size_t *ret_n);
HOST(realpath)(const char *path, size_t path_n, char *buf, size_t buf_n, size_t *ret_n);
HOST(statfs)(const char *path, size_t path_n, struct host_statfs *ret);
HOST(hostname)(char *buf, size_t buf_n, size_t *ret_n);
HOST(random_seed)(uint64_t *ret);

/* 0, or -1 with errno. */
static inline int host_result(int err)
{
    if (err == 0)
        return 0;
    errno = err;
    return -1;
}

/* AT_FDCWD is -2 in wasi-libc, -1 to the host. */
static inline int host_dirfd(int dirfd)
{
    return dirfd == -2 ? -1 : dirfd;
}

/* cwd.c: makes wasi-libc's idea of the working directory that of the host. */
void compat_sync_cwd(void);
/* signal.c: what the program set for @sig: a handler, or SIG_DFL, SIG_IGN. */
void (*compat_handler(int sig))(int);
/* signal.c: around a spawn or an exec. Neither changes errno. */
void compat_before_exec(void);
void compat_after_exec(void);
