/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/buf.h"

void fd_close(int *fd)
{
    if (*fd < 0)
        return;
    int e = errno;
    close(*fd); /* Linux frees the number even when close() reports an error */
    *fd = -1;
    errno = e;
}

int fd_write_all(int fd, struct str s)
{
    while (s.n) {
        ssize_t n = write(fd, s.p, s.n);
        if (n >= 0) {
            s = str_from(s, (size_t)n);
        } else if (errno == EAGAIN) {
            struct pollfd pf = {.fd = fd, .events = POLLOUT};
            if (poll(&pf, 1, -1) < 0 && errno != EINTR)
                return -errno;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

int fd_read_all(int fd, struct buf *out)
{
    char block[65536];
    ssize_t n;
    while ((n = read(fd, block, sizeof(block))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (buf_add(out, block, (size_t)n))
            return out->err;
    }
    return out->err;
}
