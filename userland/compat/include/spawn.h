/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <sys/types.h>

typedef struct {
    short flags;
    pid_t pgroup;
    sigset_t sigdefault, sigmask;
} posix_spawnattr_t;

struct compat_spawn_action;
typedef struct {
    struct compat_spawn_action *list;
    unsigned n, size;
} posix_spawn_file_actions_t;

#define POSIX_SPAWN_RESETIDS 1
#define POSIX_SPAWN_SETPGROUP 2
#define POSIX_SPAWN_SETSIGDEF 4
#define POSIX_SPAWN_SETSIGMASK 8
#define POSIX_SPAWN_USEVFORK 64
#define POSIX_SPAWN_SETSID 128

#ifdef __cplusplus
extern "C" {
#endif
int posix_spawn(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *fa, const posix_spawnattr_t *attr,
                char *const argv[], char *const envp[]);
int posix_spawnp(pid_t *ret_pid, const char *file, const posix_spawn_file_actions_t *fa, const posix_spawnattr_t *attr,
                 char *const argv[], char *const envp[]);
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *fa);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *fa);
int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *fa, int fd);
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *fa, int fd, int fd2);
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *fa, int fd, const char *path, int flags, mode_t mode);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *fa, const char *path);
int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t *fa, int fd);
int posix_spawnattr_init(posix_spawnattr_t *a);
int posix_spawnattr_destroy(posix_spawnattr_t *a);
int posix_spawnattr_setflags(posix_spawnattr_t *a, short flags);
int posix_spawnattr_getflags(const posix_spawnattr_t *a, short *flags);
int posix_spawnattr_setpgroup(posix_spawnattr_t *a, pid_t pgroup);
int posix_spawnattr_getpgroup(const posix_spawnattr_t *a, pid_t *pgroup);
int posix_spawnattr_setsigdefault(posix_spawnattr_t *a, const sigset_t *set);
int posix_spawnattr_getsigdefault(const posix_spawnattr_t *a, sigset_t *set);
int posix_spawnattr_setsigmask(posix_spawnattr_t *a, const sigset_t *set);
int posix_spawnattr_getsigmask(const posix_spawnattr_t *a, sigset_t *set);
#ifdef __cplusplus
}
#endif
