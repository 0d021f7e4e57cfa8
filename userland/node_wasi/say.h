/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* say - a line for each call of WASI preview 1: what was asked, the errno, and values that every host must give alike.
 * Everything happens below the directory work of the first preopen, descriptor 3, which the caller has made. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wasi/api.h>

#define ROOT 3
#define DIR_RIGHTS                                                                                                     \
    (__WASI_RIGHTS_FD_READDIR | __WASI_RIGHTS_FD_SYNC | __WASI_RIGHTS_FD_FILESTAT_GET | __WASI_RIGHTS_PATH_OPEN |      \
     __WASI_RIGHTS_PATH_FILESTAT_GET | __WASI_RIGHTS_PATH_CREATE_FILE)
#define FILE_RIGHTS                                                                                                    \
    (__WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_WRITE | __WASI_RIGHTS_FD_SEEK | __WASI_RIGHTS_FD_TELL |                  \
     __WASI_RIGHTS_FD_FILESTAT_GET | __WASI_RIGHTS_FD_FILESTAT_SET_SIZE | __WASI_RIGHTS_FD_FILESTAT_SET_TIMES |        \
     __WASI_RIGHTS_FD_SYNC | __WASI_RIGHTS_FD_DATASYNC | __WASI_RIGHTS_FD_ADVISE | __WASI_RIGHTS_FD_ALLOCATE |         \
     __WASI_RIGHTS_FD_FDSTAT_SET_FLAGS)

static const char *const errno_names[] = {
    "ok",          "2big",           "acces",       "addrinuse",   "addrnotavail",
    "afnosupport", "again",          "already",     "badf",        "badmsg",
    "busy",        "canceled",       "child",       "connaborted", "connrefused",
    "connreset",   "deadlk",         "destaddrreq", "dom",         "dquot",
    "exist",       "fault",          "fbig",        "hostunreach", "idrm",
    "ilseq",       "inprogress",     "intr",        "inval",       "io",
    "isconn",      "isdir",          "loop",        "mfile",       "mlink",
    "msgsize",     "multihop",       "nametoolong", "netdown",     "netreset",
    "netunreach",  "nfile",          "nobufs",      "nodev",       "noent",
    "noexec",      "nolck",          "nolink",      "nomem",       "nomsg",
    "noprotoopt",  "nospc",          "nosys",       "notconn",     "notdir",
    "notempty",    "notrecoverable", "notsock",     "notsup",      "notty",
    "nxio",        "overflow",       "ownerdead",   "perm",        "pipe",
    "proto",       "protonosupport", "prototype",   "range",       "rofs",
    "spipe",       "srch",           "stale",       "timedout",    "txtbsy",
    "xdev",        "notcapable",
};

/* "WHAT: ERRNO", and @format behind it when the call has worked. Returns the errno. */
__attribute__((format(printf, 3, 4))) static __wasi_errno_t say(const char *what, __wasi_errno_t err,
                                                                const char *format, ...)
{
    va_list ap;

    printf("%s: %s", what, err < sizeof(errno_names) / sizeof(errno_names[0]) ? errno_names[err] : "?");
    if (err == 0 && format[0] != '\0') {
        putchar(' ');
        va_start(ap, format);
        vprintf(format, ap);
        va_end(ap);
    }
    putchar('\n');
    return err;
}

/* The text of a call as its name. */
#define SAY(call) say(#call, (call), "%s", "")

/* A line, and the descriptor of @path, or -1. */
__attribute__((unused)) static __wasi_fd_t open_at(__wasi_fd_t dir, const char *path, __wasi_oflags_t how,
                                                   __wasi_rights_t rights, __wasi_fdflags_t flags)
{
    __wasi_fd_t fd = (__wasi_fd_t)-1;

    say(path, __wasi_path_open(dir, __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW, path, how, rights, rights, flags, &fd), "%s",
        "");
    return fd;
}
