/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>
#include <sys/types.h>

struct passwd {
    char *pw_name;
    char *pw_passwd;
    uid_t pw_uid;
    gid_t pw_gid;
    char *pw_gecos;
    char *pw_dir;
    char *pw_shell;
};

#ifdef __cplusplus
extern "C" {
#endif
struct passwd *getpwuid(uid_t uid);
struct passwd *getpwnam(const char *name);
int getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t n, struct passwd **ret);
int getpwnam_r(const char *name, struct passwd *pw, char *buf, size_t n, struct passwd **ret);
struct passwd *getpwent(void);
void setpwent(void);
void endpwent(void);
#ifdef __cplusplus
}
#endif
