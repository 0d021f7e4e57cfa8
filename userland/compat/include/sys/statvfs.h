/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

struct statvfs {
    unsigned long f_bsize, f_frsize;
    unsigned long long f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail;
    unsigned long f_fsid, f_flag, f_namemax;
};
#define ST_RDONLY 1
#define ST_NOSUID 2

#ifdef __cplusplus
extern "C" {
#endif
int statvfs(const char *path, struct statvfs *s);
int fstatvfs(int fd, struct statvfs *s);
#ifdef __cplusplus
}
#endif
