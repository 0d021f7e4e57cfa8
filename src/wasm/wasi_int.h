/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * wasi_int - what the files of this folder share: constants of WASI preview 1, the descriptor side table, and helpers
 * that answer as a host function does: 0, an errno of WASI, WASI_BLOCK or WASI_END.
 */

#include "proc/proc.h"
#include "wasm/wasi_calls_int.h"
#include "wasm/wasi_mem.h"

#include <errno.h>

/* Errno values of WASI preview 1 that are given by name here; wasi_errno.c has all. */
enum {
    WASI_2BIG = 1,
    WASI_AGAIN = 6,
    WASI_BADF = 8,
    WASI_FAULT = 21,
    WASI_FBIG = 22,
    WASI_INTR = 27,
    WASI_INVAL = 28,
    WASI_IO = 29,
    WASI_ISDIR = 31,
    WASI_LOOP = 32,
    WASI_NAMETOOLONG = 37,
    WASI_NODEV = 43,
    WASI_NOENT = 44,
    WASI_NOMEM = 48,
    WASI_NOTDIR = 54,
    WASI_NOTSOCK = 57,
    WASI_NOTSUP = 58,
    WASI_NOTTY = 59,
    WASI_RANGE = 68,
    WASI_SPIPE = 70,
    WASI_NOTCAPABLE = 76,
};

enum {
    TYPE_UNKNOWN,
    TYPE_BLOCK,
    TYPE_CHAR,
    TYPE_DIR,
    TYPE_REG,
    TYPE_DGRAM,
    TYPE_STREAM,
    TYPE_LINK,
};

enum {
    FDFLAG_APPEND = 1,
    FDFLAG_DSYNC = 2,
    FDFLAG_NONBLOCK = 4,
    FDFLAG_RSYNC = 8,
    FDFLAG_SYNC = 16,
    FDFLAG_ALL = 31,
    FDFLAG_SYNCS = FDFLAG_DSYNC | FDFLAG_RSYNC | FDFLAG_SYNC,
};

enum { LOOKUP_FOLLOW = 1 };

enum { FST_ATIM = 1, FST_ATIM_NOW = 2, FST_MTIM = 4, FST_MTIM_NOW = 8, FST_ALL = 15 };

#define RIGHT(bit) (UINT64_C(1) << (bit))
#define RIGHT_FD_DATASYNC RIGHT(0)
#define RIGHT_FD_READ RIGHT(1)
#define RIGHT_FD_SEEK RIGHT(2)
#define RIGHT_FD_FDSTAT_SET_FLAGS RIGHT(3)
#define RIGHT_FD_SYNC RIGHT(4)
#define RIGHT_FD_TELL RIGHT(5)
#define RIGHT_FD_WRITE RIGHT(6)
#define RIGHT_FD_ADVISE RIGHT(7)
#define RIGHT_FD_ALLOCATE RIGHT(8)
#define RIGHT_PATH_CREATE_DIRECTORY RIGHT(9)
#define RIGHT_PATH_CREATE_FILE RIGHT(10)
#define RIGHT_PATH_LINK_SOURCE RIGHT(11)
#define RIGHT_PATH_LINK_TARGET RIGHT(12)
#define RIGHT_PATH_OPEN RIGHT(13)
#define RIGHT_FD_READDIR RIGHT(14)
#define RIGHT_PATH_READLINK RIGHT(15)
#define RIGHT_PATH_RENAME_SOURCE RIGHT(16)
#define RIGHT_PATH_RENAME_TARGET RIGHT(17)
#define RIGHT_PATH_FILESTAT_GET RIGHT(18)
#define RIGHT_PATH_FILESTAT_SET_SIZE RIGHT(19)
#define RIGHT_PATH_FILESTAT_SET_TIMES RIGHT(20)
#define RIGHT_FD_FILESTAT_GET RIGHT(21)
#define RIGHT_FD_FILESTAT_SET_SIZE RIGHT(22)
#define RIGHT_FD_FILESTAT_SET_TIMES RIGHT(23)
#define RIGHT_PATH_SYMLINK RIGHT(24)
#define RIGHT_PATH_REMOVE_DIRECTORY RIGHT(25)
#define RIGHT_PATH_UNLINK_FILE RIGHT(26)
#define RIGHT_POLL_FD_READWRITE RIGHT(27)
#define RIGHT_SOCK_SHUTDOWN RIGHT(28)

/* What a regular file and what a directory can be asked. */
#define RIGHTS_REG                                                                                                     \
    (RIGHT_FD_DATASYNC | RIGHT_FD_READ | RIGHT_FD_SEEK | RIGHT_FD_FDSTAT_SET_FLAGS | RIGHT_FD_SYNC | RIGHT_FD_TELL |   \
     RIGHT_FD_WRITE | RIGHT_FD_ADVISE | RIGHT_FD_ALLOCATE | RIGHT_FD_FILESTAT_GET | RIGHT_FD_FILESTAT_SET_SIZE |       \
     RIGHT_FD_FILESTAT_SET_TIMES | RIGHT_POLL_FD_READWRITE)
#define RIGHTS_DIR                                                                                                     \
    (RIGHT_FD_FDSTAT_SET_FLAGS | RIGHT_FD_SYNC | RIGHT_FD_ADVISE | RIGHT_PATH_CREATE_DIRECTORY |                       \
     RIGHT_PATH_CREATE_FILE | RIGHT_PATH_LINK_SOURCE | RIGHT_PATH_LINK_TARGET | RIGHT_PATH_OPEN | RIGHT_FD_READDIR |   \
     RIGHT_PATH_READLINK | RIGHT_PATH_RENAME_SOURCE | RIGHT_PATH_RENAME_TARGET | RIGHT_PATH_FILESTAT_GET |             \
     RIGHT_PATH_FILESTAT_SET_SIZE | RIGHT_PATH_FILESTAT_SET_TIMES | RIGHT_FD_FILESTAT_GET |                            \
     RIGHT_FD_FILESTAT_SET_TIMES | RIGHT_PATH_SYMLINK | RIGHT_PATH_REMOVE_DIRECTORY | RIGHT_PATH_UNLINK_FILE |         \
     RIGHT_POLL_FD_READWRITE)
#define RIGHTS_ANY (RIGHTS_REG | RIGHTS_DIR)
/* Those that go with the access mode of an open file. To lack one of them gives the errno of Linux, not `notcapable`.
 */
#define RIGHTS_ACCESS                                                                                                  \
    (RIGHT_FD_DATASYNC | RIGHT_FD_READ | RIGHT_FD_WRITE | RIGHT_FD_ALLOCATE | RIGHT_FD_READDIR |                       \
     RIGHT_FD_FILESTAT_SET_SIZE)

#define PREOPEN 3u   /* the descriptor of "/", the guest's alone */
#define FIRST_FREE 4 /* where new descriptors begin */

/* What the guest's descriptor has beside the process's. One that has no entry is as a zeroed one. */
struct wasi_fd {
    uint64_t lacks;     /* rights that its opener did not ask for, or that were given up */
    uint64_t lacks_inh; /* the same of what is opened through it */
    uint16_t sync;      /* FDFLAG_SYNCS: kept to be told; nothing here is ever unwritten */
    bool gone;          /* PREOPEN only: was closed */
    struct wasi_dir *dir;
};

#define ARG32(i) ((uint32_t)args[i])
#define TRY(x)                                                                                                         \
    do {                                                                                                               \
        int try_ = (x);                                                                                                \
        if (try_)                                                                                                      \
            return try_;                                                                                               \
    } while (0)

/* ---- wasi_errno.c ---- */

/* WASI's number of a positive or negative errno of Linux; 0 stays 0. */
int wasi__errno(int err);

/* ---- wasi.c ---- */

/* The process must end. */
int wasi__killed(struct wasi *w);
/* What a call that gave @r (0 or more, or a negative errno) answers. */
int wasi__result(struct wasi *w, int64_t r);
/* Reads mem and mem_n anew after something that may have blocked. */
void wasi__refresh(struct wasi *w);
/* Counts the call in the process's turn, so that one who asks again and again lets others go on: 0, WASI_BLOCK or
 * WASI_END. To be called before guest memory is looked at. */
int wasi__turn(struct wasi *w);
/* The entry of a descriptor, or NULL. */
struct wasi_fd *wasi__entry(const struct wasi *w, uint32_t fd);
/* The entry, made when it is missing: 0 or WASI_NOMEM. */
int wasi__make_entry(struct wasi *w, uint32_t fd, struct wasi_fd **ret);
/* Forgets what is known of a descriptor that was closed. */
void wasi__drop_entry(struct wasi *w, uint32_t fd);
/* Whether @fd is open and has the rights: 0, WASI_BADF, WASI_NOTCAPABLE. */
int wasi__fd(const struct wasi *w, uint32_t fd, uint64_t rights);
/* The same for a descriptor that paths start at: its inode; WASI_NOTDIR for what is not in the tree. */
int wasi__dirfd(const struct wasi *w, uint32_t fd, uint64_t rights, uint64_t *ret_ino);
/* A path of the guest's, borrowed. */
int wasi__path(const struct wasi *w, uint32_t p, uint32_t n, struct str *ret);
/* An open directory's or file's inode, 0 for what is not in the tree. @fd is open. */
uint64_t wasi__ino(const struct wasi *w, uint32_t fd);
/* fstat(2), the preopen too. */
int wasi__fstat(struct wasi *w, uint32_t fd, struct vfs_stat *ret);
/* A copy of an open descriptor at the lowest number >= @min, or (@to >= 0) at @to. The number, or a negative errno. */
int wasi__dup(struct wasi *w, uint32_t fd, int min, int to, bool cloexec);

/* ---- wasi_fd.c ---- */

/* File type by S_IF* bits. */
uint8_t wasi__filetype(uint32_t mode);
/* Writes a filestat of 64 bytes at a checked offset. */
void wasi__put_filestat(struct wasi *w, uint32_t p, const struct vfs_stat *st);
/* Times and fstflags as vfs_utimens() takes them: 0 or WASI_INVAL. */
int wasi__times(uint64_t atim, uint64_t mtim, uint32_t flags, int64_t ret[2]);

/* ---- wasi_dir.c ---- */

/* Frees; accepts NULL. */
void wasi__dir_free(struct wasi_dir *d);
