/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Numbers of errors as Linux has them (errno(3), asm-generic/errno.h). WASI numbers errors by their names' order, which no script
 * would expect: "[Errno 2] No such file or directory" is what is compared and searched for. C code keeps WASI's; what Python code sees of a
 * number, or gives, goes through here.
 */
#include <errno.h>
#include <stddef.h>

static const struct {
    unsigned char code, number;
} frontal_errors[] = {
    {EPERM, 1}, {ENOENT, 2}, {ESRCH, 3}, {EINTR, 4}, {EIO, 5}, {ENXIO, 6}, {E2BIG, 7}, {ENOEXEC, 8}, {EBADF, 9},
    {ECHILD, 10}, {EAGAIN, 11}, {ENOMEM, 12}, {EACCES, 13}, {EFAULT, 14}, {EBUSY, 16}, {EEXIST, 17}, {EXDEV, 18},
    {ENODEV, 19}, {ENOTDIR, 20}, {EISDIR, 21}, {EINVAL, 22}, {ENFILE, 23}, {EMFILE, 24}, {ENOTTY, 25}, {ETXTBSY, 26},
    {EFBIG, 27}, {ENOSPC, 28}, {ESPIPE, 29}, {EROFS, 30}, {EMLINK, 31}, {EPIPE, 32}, {EDOM, 33}, {ERANGE, 34},
    {ENAMETOOLONG, 36}, {ENOLCK, 37}, {ENOSYS, 38}, {ENOTEMPTY, 39}, {ELOOP, 40}, {ENOMSG, 42}, {EIDRM, 43},
    {ENOLINK, 67}, {EPROTO, 71}, {EMULTIHOP, 72}, {EBADMSG, 74}, {EOVERFLOW, 75}, {EILSEQ, 84}, {ENOTSOCK, 88},
    {EDESTADDRREQ, 89}, {EMSGSIZE, 90}, {EPROTOTYPE, 91}, {ENOPROTOOPT, 92}, {EPROTONOSUPPORT, 93}, {ENOTSUP, 95},
    {EAFNOSUPPORT, 97}, {EADDRINUSE, 98}, {EADDRNOTAVAIL, 99}, {ENETDOWN, 100}, {ENETUNREACH, 101}, {ENETRESET, 102},
    {ECONNABORTED, 103}, {ECONNRESET, 104}, {ENOBUFS, 105}, {EISCONN, 106}, {ENOTCONN, 107}, {ETIMEDOUT, 110},
    {ECONNREFUSED, 111}, {EHOSTUNREACH, 113}, {EALREADY, 114}, {EINPROGRESS, 115}, {ESTALE, 116}, {EDQUOT, 122},
    {ECANCELED, 125}, {EOWNERDEAD, 130}, {ENOTRECOVERABLE, 131},
};

/* Linux's number of errno value @code; one that Linux does not have stays as it is. */
static inline int frontal_errno_number(int code)
{
    for (size_t i = 0; i < sizeof(frontal_errors) / sizeof(frontal_errors[0]); i++)
        if (frontal_errors[i].code == code)
            return frontal_errors[i].number;
    return code;
}

/* The other way; 0 for a number that no error here has. */
static inline int frontal_errno_code(int number)
{
    for (size_t i = 0; i < sizeof(frontal_errors) / sizeof(frontal_errors[0]); i++)
        if (frontal_errors[i].number == number)
            return frontal_errors[i].code;
    return 0;
}
