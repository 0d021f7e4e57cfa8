/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* fd - host file descriptors, owned like memory. None is -1; every one is close-on-exec from birth. */

#include "base/str.h"

struct buf;

/* Closes *fd unless it is -1, sets it to -1, keeps errno. For __attribute__((cleanup)). */
void fd_close(int *fd);
#define FD_AUTO __attribute__((cleanup(fd_close)))

/* Takes the descriptor out of its owner: returns *fd and sets it to -1. */
static inline int fd_steal(int *fd)
{
    int r = *fd;
    *fd = -1;
    return r;
}

/* Writes all bytes, over EINTR and short writes (and waits when the descriptor does not block): 0 or -errno. */
int fd_write_all(int fd, struct str s) __attribute__((warn_unused_result));

/* Appends what can be read up to the end, over EINTR: 0, -errno, or the buffer's error (-EFBIG: more than its limit).
 */
int fd_read_all(int fd, struct buf *out) __attribute__((warn_unused_result));
