/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* There is one file system, so no table of mounts: setmntent() fails, and readers take their way without one. */
#include <stdio.h>

#define MOUNTED "/etc/mtab"
#define MNTTYPE_IGNORE "ignore"
#define MNTTYPE_SWAP "swap"
#define MNTOPT_RO "ro"

struct mntent {
    char *mnt_fsname;
    char *mnt_dir;
    char *mnt_type;
    char *mnt_opts;
    int mnt_freq;
    int mnt_passno;
};

#ifdef __cplusplus
extern "C" {
#endif
FILE *setmntent(const char *path, const char *mode);
struct mntent *getmntent(FILE *f);
int endmntent(FILE *f);
char *hasmntopt(const struct mntent *m, const char *opt);
#ifdef __cplusplus
}
#endif
