/* SPDX-License-Identifier: Apache-2.0 */

/* Processes: exec, wait, ids, times. Spawning is in spawn.c. */
#include "host.h"
#include "block.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A copy of a running program cannot be made; what wants a child is changed to posix_spawn(). */
pid_t fork(void)
{
    return host_result(ENOSYS);
}

pid_t vfork(void)
{
    return host_result(ENOSYS);
}

int daemon(int nochdir, int noclose)
{
    (void)nochdir, (void)noclose;
    return host_result(ENOSYS);
}

static int exec_block(const char *path, char *const argv[], char *const envp[], int flags)
{
    struct block a, e;
    int err;

    if (block_init(&a, argv) < 0)
        return -1;
    if (block_init(&e, envp) < 0) {
        block_done(&a);
        return -1;
    }
    compat_before_exec();
    err = host_exec(path, strlen(path), a.text, a.n, e.text, e.n, flags);
    compat_after_exec();
    block_done(&a);
    block_done(&e);
    return host_result(err);
}

int execve(const char *path, char *const argv[], char *const envp[])
{
    return exec_block(path, argv, envp, 0);
}

int execv(const char *path, char *const argv[])
{
    return exec_block(path, argv, environ, 0);
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return exec_block(file, argv, envp, 1);
}

int execvp(const char *file, char *const argv[])
{
    return exec_block(file, argv, environ, 1);
}

/* Collects the arguments of an execl function; after them comes the environment when @with_env. */
static int exec_list(const char *path, const char *arg, va_list ap, bool with_env, int flags)
{
    va_list count;
    size_t n = 1;
    char **argv;
    int rc;

    va_copy(count, ap);
    while (arg != NULL && va_arg(count, const char *) != NULL)
        n++;
    va_end(count);
    argv = malloc((n + 1) * sizeof(*argv));
    if (argv == NULL)
        return host_result(ENOMEM);
    argv[0] = (char *)arg;
    for (size_t i = 1; i <= n; i++)
        argv[i] = arg == NULL ? NULL : va_arg(ap, char *);
    rc = exec_block(path, argv, with_env ? va_arg(ap, char **) : environ, flags);
    free(argv);
    return rc;
}

int execl(const char *path, const char *arg, ...)
{
    va_list ap;
    int rc;

    va_start(ap, arg);
    rc = exec_list(path, arg, ap, false, 0);
    va_end(ap);
    return rc;
}

int execlp(const char *file, const char *arg, ...)
{
    va_list ap;
    int rc;

    va_start(ap, arg);
    rc = exec_list(file, arg, ap, false, 1);
    va_end(ap);
    return rc;
}

int execle(const char *path, const char *arg, ...)
{
    va_list ap;
    int rc;

    va_start(ap, arg);
    rc = exec_list(path, arg, ap, true, 0);
    va_end(ap);
    return rc;
}

pid_t waitpid(pid_t pid, int *ret_status, int options)
{
    int got, status;

    if ((options & ~(WNOHANG | WUNTRACED | WCONTINUED)) != 0)
        return host_result(EINVAL);
    if (host_result(host_wait(pid, options & (WNOHANG | WUNTRACED), &got, &status)) < 0)
        return -1;
    if (got != 0 && ret_status != NULL)
        *ret_status = status;
    return got;
}

pid_t wait(int *ret_status)
{
    return waitpid(-1, ret_status, 0);
}

pid_t wait4(pid_t pid, int *ret_status, int options, struct rusage *ru)
{
    pid_t got = waitpid(pid, ret_status, options);

    /* The host counts the children's time together: what this one took cannot be told. */
    if (ru != NULL)
        *ru = (struct rusage){0};
    return got;
}

pid_t wait3(int *ret_status, int options, struct rusage *ru)
{
    return wait4(-1, ret_status, options, ru);
}

/* --- ids */

static struct host_ids ids(void)
{
    struct host_ids r;

    if (host_ids(&r) != 0)
        r = (struct host_ids){.pid = 2, .ppid = 1, .pgid = 2, .sid = 2, .uid = 1000, .euid = 1000, .gid = 1000, .egid = 1000};
    return r;
}

pid_t getpid(void)
{
    return (pid_t)ids().pid;
}

pid_t gettid(void)
{
    return (pid_t)ids().pid;
}

pid_t getppid(void)
{
    return (pid_t)ids().ppid;
}

pid_t getpgrp(void)
{
    return (pid_t)ids().pgid;
}

pid_t getpgid(pid_t pid)
{
    struct host_ids r = ids();

    return pid == 0 || pid == (pid_t)r.pid ? (pid_t)r.pgid : host_result(ESRCH);
}

pid_t getsid(pid_t pid)
{
    struct host_ids r = ids();

    return pid == 0 || pid == (pid_t)r.pid ? (pid_t)r.sid : host_result(ESRCH);
}

/* A group is chosen when a process is spawned. Asking for the one that it has is no change. */
int setpgid(pid_t pid, pid_t pgid)
{
    struct host_ids r = ids();

    if (pid != 0 && pid != (pid_t)r.pid)
        return 0; /* of a child: spawned with what its parent asked for */
    if ((pgid == 0 ? r.pid : (uint32_t)pgid) != r.pgid)
        return host_result(EPERM);
    return 0;
}

pid_t setpgrp(void)
{
    return setpgid(0, 0);
}

pid_t setsid(void)
{
    return host_result(EPERM);
}

pid_t tcgetpgrp(int fd)
{
    return isatty(fd) ? getpgrp() : host_result(ENOTTY);
}

int tcsetpgrp(int fd, pid_t pgrp)
{
    (void)pgrp;
    return isatty(fd) ? 0 : host_result(ENOTTY);
}

pid_t tcgetsid(int fd)
{
    return isatty(fd) ? (pid_t)ids().sid : host_result(ENOTTY);
}

uid_t getuid(void)
{
    return ids().uid;
}

uid_t geteuid(void)
{
    return ids().euid;
}

gid_t getgid(void)
{
    return ids().gid;
}

gid_t getegid(void)
{
    return ids().egid;
}

/* Nobody becomes another: only what changes nothing succeeds. */
static int same_id(uint32_t want, uint32_t real, uint32_t effective)
{
    return want == (uint32_t)-1 || want == real || want == effective ? 0 : host_result(EPERM);
}

int setuid(uid_t uid)
{
    struct host_ids r = ids();

    return same_id(uid, r.uid, r.euid);
}

int seteuid(uid_t uid)
{
    return setuid(uid);
}

int setgid(gid_t gid)
{
    struct host_ids r = ids();

    return same_id(gid, r.gid, r.egid);
}

int setegid(gid_t gid)
{
    return setgid(gid);
}

int setreuid(uid_t ruid, uid_t euid)
{
    return setuid(ruid) < 0 ? -1 : setuid(euid);
}

int setregid(gid_t rgid, gid_t egid)
{
    return setgid(rgid) < 0 ? -1 : setgid(egid);
}

int setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
    return setreuid(ruid, euid) < 0 ? -1 : setuid(suid);
}

int setresgid(gid_t rgid, gid_t egid, gid_t sgid)
{
    return setregid(rgid, egid) < 0 ? -1 : setgid(sgid);
}

int issetugid(void)
{
    return 0;
}

/* --- time and limits */

static void cpu(uint64_t ns[2])
{
    if (host_cpu_times(ns) != 0) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        ns[0] = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
        ns[1] = 0;
    }
}

clock_t clock(void)
{
    uint64_t ns[2];

    cpu(ns);
    return (clock_t)(ns[0] / (1000000000 / CLOCKS_PER_SEC));
}

/* In ticks of a hundredth of a second, as sysconf(_SC_CLK_TCK) says. */
clock_t times(struct tms *t)
{
    struct timespec now;
    uint64_t ns[2];

    cpu(ns);
    if (t != NULL)
        *t = (struct tms){.tms_utime = (clock_t)(ns[0] / 10000000), .tms_cutime = (clock_t)(ns[1] / 10000000)};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (clock_t)now.tv_sec * 100 + now.tv_nsec / 10000000;
}

int getrusage(int who, struct rusage *ru)
{
    uint64_t ns[2], n;

    if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN)
        return host_result(EINVAL);
    cpu(ns);
    n = ns[who == RUSAGE_CHILDREN];
    *ru = (struct rusage){
        .ru_utime = {.tv_sec = (time_t)(n / 1000000000), .tv_usec = (suseconds_t)(n % 1000000000 / 1000)}};
    return 0;
}

/* The session's policy sets limits; a program sees none that it could exceed by itself, but for descriptors. */
int getrlimit(int what, struct rlimit *l)
{
    if (what < 0 || what > RLIMIT_AS)
        return host_result(EINVAL);
    l->rlim_cur = l->rlim_max = what == RLIMIT_NOFILE ? 1024 : RLIM_INFINITY;
    if (what == RLIMIT_STACK)
        l->rlim_cur = 1 << 20;
    if (what == RLIMIT_CORE)
        l->rlim_cur = 0;
    return 0;
}

int setrlimit(int what, const struct rlimit *l)
{
    struct rlimit now;

    if (getrlimit(what, &now) < 0)
        return -1;
    return l->rlim_cur == now.rlim_cur || what == RLIMIT_CORE ? 0 : host_result(EPERM);
}

int getpriority(int which, id_t who)
{
    (void)which, (void)who;
    return 0;
}

int setpriority(int which, id_t who, int prio)
{
    (void)which, (void)who;
    return prio == 0 ? 0 : host_result(EACCES);
}

/* Being nicer is always allowed, and has no effect. */
int nice(int inc)
{
    return inc >= 0 ? 0 : host_result(EPERM);
}
