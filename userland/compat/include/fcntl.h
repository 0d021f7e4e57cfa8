/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include_next <fcntl.h>

/* wasi-libc writes these as casts of WASI types, which the preprocessor cannot read in #if. Same values. */
#undef O_APPEND
#undef O_DSYNC
#undef O_NONBLOCK
#undef O_RSYNC
#undef O_SYNC
#undef O_CREAT
#undef O_DIRECTORY
#undef O_EXCL
#undef O_TRUNC
#define O_APPEND 0x1
#define O_DSYNC 0x2
#define O_NONBLOCK 0x4
#define O_RSYNC 0x8
#define O_SYNC 0x10
#define O_CREAT 0x1000
#define O_DIRECTORY 0x2000
#define O_EXCL 0x4000
#define O_TRUNC 0x8000

/* 0 in wasi-libc, which has no exec. A bit that it does not use; open() and its kin here take it out. */
#undef O_CLOEXEC
#define O_CLOEXEC 0x00200000

#ifndef F_DUPFD
#define F_DUPFD 0
#endif
#ifndef F_DUPFD_CLOEXEC
#define F_DUPFD_CLOEXEC 1030
#endif
#ifndef F_SETLK
#define F_GETLK 5
#define F_SETLK 6
#define F_SETLKW 7
#endif
#ifndef F_RDLCK
#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2
#endif
#ifndef F_SETOWN
#define F_SETOWN 8
#define F_GETOWN 9
#endif

#undef AT_EACCESS
#define AT_EACCESS 0x200
#ifdef __cplusplus
extern "C" {
#endif
int creat(const char *path, mode_t mode);
int lockf(int fd, int cmd, off_t len);
#ifdef __cplusplus
}
#endif
