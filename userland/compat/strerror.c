/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The texts of errors, as the C library of Debian has them (its <errno.h> manual, errno(3)): wasi-libc's are musl's, and scripts
 * compare messages. Only what differs is here.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

char *__real_strerror(int err);

static const struct {
    int err;
    const char *text;
} texts[] = {
    {EADDRINUSE, "Address already in use"},
    {EADDRNOTAVAIL, "Cannot assign requested address"},
    {EBUSY, "Device or resource busy"},
    {ECHILD, "No child processes"},
    {ECONNABORTED, "Software caused connection abort"},
    {EDOM, "Numerical argument out of domain"},
    {EDQUOT, "Disk quota exceeded"},
    {EHOSTUNREACH, "No route to host"},
    {EILSEQ, "Invalid or incomplete multibyte or wide character"},
    {EINPROGRESS, "Operation now in progress"},
    {EIO, "Input/output error"},
    {EISCONN, "Transport endpoint is already connected"},
    {ELOOP, "Too many levels of symbolic links"},
    {EMFILE, "Too many open files"},
    {EMSGSIZE, "Message too long"},
    {ENAMETOOLONG, "File name too long"},
    {ENETRESET, "Network dropped connection on reset"},
    {ENETUNREACH, "Network is unreachable"},
    {ENOMEM, "Cannot allocate memory"},
    {ENOTCONN, "Transport endpoint is not connected"},
    {ENOTSOCK, "Socket operation on non-socket"},
    {ENOTSUP, "Operation not supported"},
    {ENOTTY, "Inappropriate ioctl for device"},
    {EOVERFLOW, "Value too large for defined data type"},
    {EOWNERDEAD, "Owner died"},
    {ERANGE, "Numerical result out of range"},
    {ESPIPE, "Illegal seek"},
    {ETIMEDOUT, "Connection timed out"},
    {EXDEV, "Invalid cross-device link"},
};

char *__wrap_strerror(int err)
{
    static char unknown[40];
    const char *text;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].err == err)
            return (char *)texts[i].text;
    text = __real_strerror(err);
    if (err == 0 || strcmp(text, __real_strerror(0)) != 0)
        return (char *)text;
    snprintf(unknown, sizeof(unknown), "Unknown error %d", err);
    return unknown;
}
