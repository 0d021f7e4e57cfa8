/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include_next <sys/stat.h>

/* The same value as S_IFSOCK in wasi-libc, which cannot tell a pipe; the host's modes can. */
#undef S_IFIFO
#define S_IFIFO 0x1000

#ifdef __cplusplus
extern "C" {
#endif
int chmod(const char *path, mode_t mode);
int fchmod(int fd, mode_t mode);
int fchmodat(int dirfd, const char *path, mode_t mode, int flags);
int lchmod(const char *path, mode_t mode);
mode_t umask(mode_t mask);
int mkfifo(const char *path, mode_t mode);
int mkfifoat(int dirfd, const char *path, mode_t mode);
int mknod(const char *path, mode_t mode, dev_t dev);
int mknodat(int dirfd, const char *path, mode_t mode, dev_t dev);
#ifdef __cplusplus
}
#endif
