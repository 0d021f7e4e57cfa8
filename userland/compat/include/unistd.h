/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* wasi-libc marks getpid() as deprecated unless its emulation is asked for; ours is real. */
#ifndef _WASI_EMULATED_GETPID
#define _WASI_EMULATED_GETPID
#endif
#include_next <unistd.h>

#undef F_ULOCK
#undef F_LOCK
#undef F_TLOCK
#undef F_TEST
#define F_ULOCK 0
#define F_LOCK 1
#define F_TLOCK 2
#define F_TEST 3
#define _POSIX_JOB_CONTROL 1
#define _POSIX_SAVED_IDS 1

#ifdef __cplusplus
extern "C" {
#endif
extern char **environ;

int dup(int fd);
int dup2(int fd, int fd2);
int dup3(int fd, int fd2, int flags);
int pipe(int fds[2]);
int pipe2(int fds[2], int flags);

pid_t fork(void);
pid_t vfork(void);
int execv(const char *path, char *const argv[]);
int execve(const char *path, char *const argv[], char *const envp[]);
int execvp(const char *file, char *const argv[]);
int execvpe(const char *file, char *const argv[], char *const envp[]);
int execl(const char *path, const char *arg, ...);
int execlp(const char *file, const char *arg, ...);
int execle(const char *path, const char *arg, ...);

pid_t getppid(void);
pid_t getpgrp(void);
pid_t getpgid(pid_t pid);
pid_t setpgrp(void);
int setpgid(pid_t pid, pid_t pgid);
pid_t setsid(void);
pid_t getsid(pid_t pid);
pid_t gettid(void);
pid_t tcgetpgrp(int fd);
int tcsetpgrp(int fd, pid_t pgrp);
int nice(int inc);
unsigned alarm(unsigned seconds);
int pause(void);
int daemon(int nochdir, int noclose);

uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
int setuid(uid_t uid);
int seteuid(uid_t uid);
int setgid(gid_t gid);
int setegid(gid_t gid);
int setreuid(uid_t ruid, uid_t euid);
int setregid(gid_t rgid, gid_t egid);
int setresuid(uid_t ruid, uid_t euid, uid_t suid);
int setresgid(gid_t rgid, gid_t egid, gid_t sgid);
int getgroups(int n, gid_t *ids);
int setgroups(size_t n, const gid_t *ids);
int issetugid(void);

int chown(const char *path, uid_t uid, gid_t gid);
int fchown(int fd, uid_t uid, gid_t gid);
int lchown(const char *path, uid_t uid, gid_t gid);
int fchownat(int dirfd, const char *path, uid_t uid, gid_t gid, int flags);
int fchdir(int fd);
int chroot(const char *path);
int eaccess(const char *path, int amode);
int euidaccess(const char *path, int amode);
int lockf(int fd, int cmd, off_t len);
void sync(void);
int syncfs(int fd);
char *get_current_dir_name(void);

int gethostname(char *buf, size_t n);
int sethostname(const char *name, size_t n);
int getdomainname(char *buf, size_t n);
long gethostid(void);
char *getlogin(void);
int getlogin_r(char *buf, size_t n);
char *getpass(const char *prompt);
char *ttyname(int fd);
int ttyname_r(int fd, char *buf, size_t n);
int getpagesize(void);
int getdtablesize(void);
#ifdef __cplusplus
}
#endif
