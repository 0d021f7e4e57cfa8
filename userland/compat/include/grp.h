/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>
#include <sys/types.h>

struct group {
    char *gr_name;
    char *gr_passwd;
    gid_t gr_gid;
    char **gr_mem;
};

#ifdef __cplusplus
extern "C" {
#endif
struct group *getgrgid(gid_t gid);
struct group *getgrnam(const char *name);
int getgrgid_r(gid_t gid, struct group *gr, char *buf, size_t n, struct group **ret);
int getgrnam_r(const char *name, struct group *gr, char *buf, size_t n, struct group **ret);
struct group *getgrent(void);
void setgrent(void);
void endgrent(void);
int getgroups(int n, gid_t *ids);
int setgroups(size_t n, const gid_t *ids);
int initgroups(const char *name, gid_t gid);
int getgrouplist(const char *name, gid_t gid, gid_t *ids, int *n);
#ifdef __cplusplus
}
#endif
