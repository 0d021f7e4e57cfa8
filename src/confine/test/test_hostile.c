/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A guest that has taken its worker over. Each attempt runs in a process of its own that was confined as a worker of
 * the server is, with the descriptors that such a worker has (socket, store, a session's log), and must be refused: by
 * an error, or by the end of the process. The store of another tenant lies beside its own. What was tried is printed.
 *
 * Attempts are system calls by number, because an intruder has no C library either.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/test/test.h"
#include "confine/confine.h"

enum { ESCAPED = 10, REFUSED = 11, UNCONFINED = 12 };

static char top[] = "/tmp/hostile-XXXXXX";
static int store_fd = -1, log_fd = -1, sock = -1;
static pid_t outside; /* the process that started it */
static int abstract;  /* a datagram socket of the host with an abstract name */
static bool sealed;   /* after its code was loaded */

/* ---- the worker ---- */

/* As src/worker/spawn.c does for the server: a kept session, WebAssembly, no modules of the user's own. */
static int confined(long (*attempt)(long arg), long arg)
{
    int sv[2];
    struct confine_report report;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
        return UNCONFINED;
    fd_close(&sv[0]); /* or what it sends may reach this end, whatever name it gives */
    pid_t pid = confine_clone(&report);
    if (pid == 0) {
        struct err err;
        const struct confine_config cfg = {.sock = sv[1],
                                           .kept = true,
                                           .store_fd = store_fd,
                                           .trace_fd = log_fd,
                                           .lock_fd = log_fd,
                                           .wasm = true,
                                           .userland_fd = -1,
                                           .pagemap_fd = -1,
                                           .memory_ceiling = UINT64_C(4) << 30};
        sock = sv[1];
        if (confine_self(&cfg, &report, &err) || (sealed && confine_no_more_code()))
            _exit(UNCONFINED);
        _exit(attempt(arg) >= 0 ? ESCAPED : REFUSED);
    }
    fd_close(&sv[1]);
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return UNCONFINED;
    if (WIFSIGNALED(status) && WCOREDUMP(status))
        return ESCAPED; /* what it held in memory lies in a file now */
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void make(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    if (!text) {
        CHECK_INT(mkdir(path, 0755), 0);
        return;
    }
    FD_AUTO int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static void link_to(const char *name, const char *target)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    CHECK_INT(symlink(target, path), 0);
}

static void set_up(void)
{
    char path[128];
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (!CHECK(mkdtemp(top) != NULL))
        return;
    make("mine", NULL);
    make("other", NULL);
    make("mine/own", "own");
    make("other/secret", "secret");
    make("log", "");
    link_to("mine/out", "../other/secret");
    link_to("mine/etc", "/etc/passwd");
    link_to("mine/proc", "/proc/self/root/etc/passwd");
    snprintf(path, sizeof(path), "%s/mine", top);
    store_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(path, sizeof(path), "%s/log", top);
    log_fd = open(path, O_RDWR | O_CLOEXEC);
    outside = getpid();
    abstract = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", top);
    CHECK_INT(bind(abstract, (struct sockaddr *)&a, sizeof(a)), 0);
}

static void tidy(void)
{
    static const char *const names[] = {"mine/own",  "mine/out",     "mine/etc", "mine/proc",
                                        "mine/made", "other/secret", "log"};
    char path[128];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", top, names[i]);
        (void)unlink(path);
    }
    snprintf(path, sizeof(path), "%s/mine", top);
    (void)rmdir(path);
    snprintf(path, sizeof(path), "%s/other", top);
    (void)rmdir(path);
    (void)rmdir(top);
}

struct attempt {
    const char *what;
    long (*fn)(long arg);
    long arg;
};

static void refused(const struct attempt *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int r = confined(v[i].fn, v[i].arg);
        bool ok = r == REFUSED || r == 128 + SIGSYS || r == 128 + SIGSEGV || r == 128 + SIGILL;
        fprintf(stderr, "# %s: %s\n", v[i].what, r == REFUSED ? "error" : ok ? "ended" : "NOT REFUSED");
        if (!CHECK(ok))
            fprintf(stderr, "# %s gave %d\n", v[i].what, r);
    }
}

#define REFUSED_ALL(v) refused((v), sizeof(v) / sizeof((v)[0]))

/* ---- a call of which nothing more than the number matters ---- */

static long call(long nr)
{
    static char page[4096];
    return syscall(nr, page, page, page, page, page, page);
}

static long call_zero(long nr)
{
    return syscall(nr, 0, 0, 0, 0, 0, 0);
}

#define CALL(x)                                                                                                        \
    {                                                                                                                  \
#x, call, SYS_##x                                                                                              \
    }
#define CALL0(x)                                                                                                       \
    {                                                                                                                  \
#x, call_zero, SYS_##x                                                                                         \
    }

/* ---- network ---- */

static long open_socket(long family)
{
    return syscall(SYS_socket, (int)family, SOCK_DGRAM, 0);
}

static long open_stream(long family)
{
    return syscall(SYS_socket, (int)family, SOCK_STREAM, 0);
}

static long open_pair(long arg)
{
    int sv[2];
    (void)arg;
    return syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, sv);
}

/* The socket it has, with another's name. */
static long send_to_abstract(long arg)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char x = 'x';
    struct iovec v = {&x, 1};
    struct msghdr m = {.msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &v, .msg_iovlen = 1};
    (void)arg;
    snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", top);
    return syscall(SYS_sendmsg, sock, &m, MSG_NOSIGNAL);
}

TEST(hostile_no_network)
{
    static const struct attempt v[] = {
        {"sendmsg to an abstract socket of the host", send_to_abstract, 0},
        {"socketpair", open_pair, 0},
        CALL(connect),
        CALL(bind),
        CALL(listen),
        CALL(accept),
        CALL(accept4),
        CALL(sendto),
        CALL(sendmmsg),
        CALL(recvmmsg),
        CALL(setsockopt),
        CALL(getsockopt),
        CALL(getpeername),
        CALL(getsockname),
        CALL(shutdown),
    };
    set_up();
    REFUSED_ALL(v);
    for (int family = 0; family < AF_MAX; family++) {
        struct attempt a[] = {{"socket of a family, datagrams", open_socket, family},
                              {"socket of a family, streams", open_stream, family}};
        refused(a, family % 8 ? 1 : 2);
    }
    char c;
    CHECK(recv(abstract, &c, 1, MSG_DONTWAIT) < 0); /* nothing has arrived */
    tidy();
}

/* ---- other processes ---- */

static long trace_outside(long arg)
{
    (void)arg;
    return syscall(SYS_ptrace, PTRACE_ATTACH, outside, 0, 0);
}

static long read_outside(long nr)
{
    char b[8];
    struct iovec mine = {b, sizeof(b)}, theirs = {top, sizeof(b)};
    return syscall(nr, outside, &mine, 1, &theirs, 1, 0);
}

static long signal_outside(long sig)
{
    return syscall(SYS_kill, outside, sig);
}

static long abort_outside(long sig)
{
    return syscall(SYS_tgkill, outside, outside, sig);
}

static long signal_all(long sig)
{
    return syscall(SYS_kill, -1, sig);
}

static long signal_group(long sig)
{
    return syscall(SYS_kill, 0, sig);
}

static long queue_outside(long nr)
{
    siginfo_t si = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
    return syscall(nr, outside, SIGUSR1, &si);
}

static long open_pid(long pid)
{
    return syscall(SYS_pidfd_open, pid ? pid : outside, 0);
}

static long limit_outside(long what)
{
    const struct rlimit none = {0, 0};
    return syscall(SYS_prlimit64, outside, what, &none, NULL);
}

TEST(hostile_no_other_process)
{
    static const struct attempt v[] = {
        {"ptrace of its parent", trace_outside, 0},
        {"process_vm_readv of its parent", read_outside, SYS_process_vm_readv},
        {"process_vm_writev of its parent", read_outside, SYS_process_vm_writev},
        {"kill of its parent", signal_outside, 0},
        {"kill of all", signal_all, 0},
        {"kill of its group", signal_group, 0},
        {"tgkill, the one signal it may send, of its parent", abort_outside, SIGABRT},
        {"tgkill of another signal", abort_outside, SIGTERM},
        {"rt_sigqueueinfo", queue_outside, SYS_rt_sigqueueinfo},
        {"pidfd_open of its parent", open_pid, 0},
        {"pidfd_open of process 1", open_pid, 1},
        {"limits of its parent", limit_outside, RLIMIT_NOFILE},
        CALL0(ptrace),
        CALL0(tkill),
        CALL(pidfd_send_signal),
        CALL(pidfd_getfd),
        CALL(kcmp),
        CALL(process_madvise),
        CALL0(setpgid),
        CALL0(setsid),
        CALL(sched_setaffinity),
        CALL(sched_setscheduler),
        CALL0(setpriority),
        CALL0(ioprio_set),
        CALL(migrate_pages),
        CALL(move_pages),
        CALL(get_robust_list),
    };
    set_up();
    REFUSED_ALL(v);
    tidy();
}

/* ---- files ---- */

static const char *const places[] = {
    "../other/secret",
    "../../../../../../etc/passwd",
    "/etc/passwd",
    "/etc/shadow",
    "/proc/1/environ",
    "/proc/self/mem",
    "/proc/self/root/etc/passwd",
    "/proc/self/fd/0",
    "/dev/mem",
    "/dev/kmsg",
    "/sys/kernel/security",
    "out",
    "etc",
    "proc",
};
#define PLACES ((long)(sizeof(places) / sizeof(places[0])))

static long open_there(long i)
{
    struct open_how how = {.flags = O_RDONLY};
    return syscall(SYS_openat2, store_fd, places[i], &how, sizeof(how));
}

static long write_there(long i)
{
    struct open_how how = {.flags = O_WRONLY};
    return syscall(SYS_openat2, store_fd, places[i], &how, sizeof(how));
}

static long open_there_old(long i)
{
    return syscall(SYS_openat, store_fd, places[i], O_RDONLY | O_NOCTTY);
}

/* Landlock does not ask for these: only that nothing is there to be named holds. */
static long path_there(long i)
{
    struct open_how how = {.flags = O_PATH};
    return syscall(SYS_openat2, store_fd, places[i], &how, sizeof(how));
}

static long look_there(long i)
{
    char st[256];
    return syscall(SYS_statx, store_fd, places[i], 0, 0x7ff, st);
}

static long look_there_old(long i)
{
    char st[256];
    return syscall(SYS_newfstatat, store_fd, places[i], st, 0);
}

/* Its root may be opened, when Landlock is not there, and is empty: two entries of 24 bytes. */
static long read_root(long arg)
{
    char b[1024];
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY};
    (void)arg;
    long fd = syscall(SYS_openat2, store_fd, "/", &how, sizeof(how));
    return fd >= 0 && syscall(SYS_getdents64, fd, b, sizeof(b)) > 48 ? 0 : -1;
}

static long move_out(long nr)
{
    return syscall(nr, store_fd, "own", store_fd, "../other/own", 0);
}

static long move_in(long nr)
{
    return syscall(nr, store_fd, "../other/secret", store_fd, "made", 0);
}

static long remove_there(long arg)
{
    (void)arg;
    return syscall(SYS_unlinkat, store_fd, "../other/secret", 0);
}

static long make_there(long arg)
{
    (void)arg;
    return syscall(SYS_mkdirat, store_fd, "../other/made", 0700);
}

static long link_here(long nr)
{
    return syscall(nr, nr == SYS_symlinkat ? (long)"/etc/passwd" : store_fd,
                   nr == SYS_symlinkat ? store_fd : (long)"own", nr == SYS_symlinkat ? (long)"made" : store_fd, "made",
                   0);
}

/* Any descriptor that was open before and is not one of its own. */
static long inherited(long arg)
{
    (void)arg;
    for (int fd = 0; fd < 4096; fd++) {
        if (fd != 2 && fd != sock && fd != store_fd && fd != log_fd && syscall(SYS_fcntl, fd, F_GETFL) >= 0)
            return fd;
    }
    return -1;
}

static long handle(long arg)
{
    struct {
        unsigned bytes;
        int type;
        char h[128];
    } h = {.bytes = sizeof(h.h)};
    int mount;
    (void)arg;
    if (syscall(SYS_name_to_handle_at, store_fd, "own", &h, &mount, 0))
        return -1;
    return syscall(SYS_open_by_handle_at, store_fd, &h, O_RDONLY);
}

static long change_root(long arg)
{
    (void)arg;
    return syscall(SYS_fchdir, store_fd);
}

TEST(hostile_no_other_file)
{
    static const struct attempt v[] = {
        {"a descriptor of its parent", inherited, 0},
        {"a root that is not empty", read_root, 0},
        {"renameat to another tenant", move_out, SYS_renameat2},
        {"renameat from another tenant", move_in, SYS_renameat2},
        {"unlinkat at another tenant", remove_there, 0},
        {"mkdirat at another tenant", make_there, 0},
        {"linkat", link_here, SYS_linkat},
        {"symlinkat", link_here, SYS_symlinkat},
        {"open_by_handle_at of its own file", handle, 0},
        {"fchdir", change_root, 0},
        CALL(open),
        CALL(creat),
        CALL(link),
        CALL(symlink),
        CALL(mknod),
        CALL(mknodat),
        CALL(chmod),
        CALL(fchmod),
        CALL(fchmodat),
        CALL(chown),
        CALL(fchown),
        CALL(fchownat),
        CALL(truncate),
        CALL(utimensat),
        CALL(setxattr),
        CALL(fsetxattr),
        CALL(getxattr),
        CALL(chdir),
        CALL(chroot),
        CALL(pivot_root),
        CALL(statfs),
        CALL(readlink),
        CALL(stat),
        CALL(access),
        CALL(faccessat),
        CALL(inotify_init1),
        CALL(fanotify_init),
        CALL(name_to_handle_at),
        CALL(sendfile),
        CALL(splice),
        CALL(tee),
        CALL(vmsplice),
        CALL(copy_file_range),
        CALL(dup2),
        CALL(dup3),
        CALL(quotactl),
        CALL(acct),
        CALL(sync),
        CALL(syncfs),
        CALL(flistxattr),
        CALL(umask),
    };
    set_up();
    REFUSED_ALL(v);
    for (long i = 0; i < PLACES; i++) {
        const struct attempt a[] = {{places[i], open_there, i},     {places[i], write_there, i},
                                    {places[i], open_there_old, i}, {places[i], path_there, i},
                                    {places[i], look_there, i},     {places[i], look_there_old, i}};
        REFUSED_ALL(a);
    }
    tidy();
}

/* ---- code and memory ---- */

static long map(long prot)
{
    return mmap(NULL, 4096, (int)prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

/* A file that it has written itself. */
static long map_file(long prot)
{
    struct open_how how = {.flags = O_RDWR};
    long fd = syscall(SYS_openat2, store_fd, "own", &how, sizeof(how));
    if (fd < 0)
        return 0; /* then the attempt says nothing */
    return mmap(NULL, 4096, (int)prot, MAP_PRIVATE, (int)fd, 0) == MAP_FAILED ? -1 : 0;
}

static long protect(long prot)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? 0 : syscall(SYS_mprotect, p, 4096, prot);
}

static long protect_key(long prot)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? 0 : syscall(SYS_pkey_mprotect, p, 4096, prot, -1);
}

static long execute_data(long arg)
{
    static unsigned char code[4096] __attribute__((aligned(4096))) = {0xc3}; /* ret */
    const union {
        unsigned char *data;
        void (*fn)(void);
    } u = {code};
    (void)arg;
    u.fn();
    return 0;
}

static long become(long at)
{
    char *argv[] = {(char[]){"x"}, NULL};
    return at ? syscall(SYS_execveat, store_fd, "own", argv, argv, 0) : syscall(SYS_execve, "/bin/true", argv, argv);
}

static long read_implies_exec(long arg)
{
    return syscall(SYS_personality, arg);
}

TEST(hostile_no_code_after_it_was_loaded)
{
    static const struct attempt v[] = {
        {"mmap, executable", map, PROT_READ | PROT_EXEC},
        {"mmap, writable and executable", map, PROT_READ | PROT_WRITE | PROT_EXEC},
        {"mmap of its file, executable", map_file, PROT_READ | PROT_EXEC},
        {"mprotect, executable", protect, PROT_READ | PROT_EXEC},
        {"mprotect, writable and executable", protect, PROT_READ | PROT_WRITE | PROT_EXEC},
        {"pkey_mprotect, executable", protect_key, PROT_READ | PROT_EXEC},
        {"to execute data", execute_data, 0},
        {"personality READ_IMPLIES_EXEC", read_implies_exec, 0x0400000},
        {"execve", become, 0},
        {"execveat", become, 1},
        CALL(memfd_create),
        CALL0(memfd_secret),
        CALL(shmget),
        CALL(shmat),
        CALL(remap_file_pages),
        CALL(userfaultfd),
        CALL(seccomp),
        CALL(uselib),
        CALL(modify_ldt),
        CALL(arch_prctl),
    };
    set_up();
    sealed = true;
    REFUSED_ALL(v);
    tidy();
}

/* ---- rights, namespaces, the kernel ---- */

static long leave(long flag)
{
    return syscall(SYS_unshare, flag);
}

static long new_process(long flag)
{
    return syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0);
}

static long be_dumpable(long v)
{
    return syscall(SYS_prctl, PR_SET_DUMPABLE, v, 0, 0, 0);
}

static long core_limit(long arg)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    (void)arg;
    return syscall(SYS_setrlimit, RLIMIT_CORE, &all);
}

static long crash(long arg)
{
    (void)arg;
    static volatile uintptr_t nowhere = 8;
    *(volatile int *)nowhere = 1;
    return 0;
}

/* The table of another architecture, in which the same numbers are other calls. */
static long call_ia32(long nr)
{
#ifdef __x86_64__
    long r;
    __asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(0L), "c"(0L), "d"(0L) : "memory", "r8", "r9", "r10", "r11");
    return r;
#else
    return call(nr);
#endif
}

static long call_x32(long nr)
{
    return syscall(nr | 0x40000000, 0, 0, 0, 0, 0, 0);
}

static long own_ioctl(long request)
{
    char b[64] = {0};
    return syscall(SYS_ioctl, request == 0x5412 ? 2 : store_fd, request, b);
}

TEST(hostile_no_rights_and_no_kernel)
{
    static const struct attempt v[] = {
        {"unshare, users", leave, CLONE_NEWUSER},
        {"unshare, mounts", leave, CLONE_NEWNS},
        {"unshare, network", leave, CLONE_NEWNET},
        {"clone", new_process, 0},
        {"clone, users", new_process, CLONE_NEWUSER},
        {"a thread", new_process, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND},
        {"to be dumpable", be_dumpable, 1},
        {"core dumps", core_limit, 0},
        {"a crash that leaves a core", crash, 0},
        {"getpid of ia32", call_ia32, 20},
        {"execve of ia32", call_ia32, 11},
        {"getpid of x32", call_x32, SYS_getpid},
        {"ioctl TIOCSTI", own_ioctl, 0x5412},
        {"ioctl FS_IOC_SETFLAGS", own_ioctl, 0x40086602},
        {"ioctl FIFREEZE", own_ioctl, 0xc0045877},
        CALL0(setuid),
        CALL0(setgid),
        CALL0(setreuid),
        CALL0(setresuid),
        CALL0(setresgid),
        CALL0(setfsuid),
        CALL0(setfsgid),
        CALL(setgroups),
        CALL(capset),
        CALL(prctl),
        CALL(setrlimit),
        CALL(prlimit64),
        CALL0(fork),
        CALL0(vfork),
        CALL(clone3),
        CALL0(setns),
        CALL0(unshare),
        CALL(mount),
        CALL(umount2),
        CALL(fsopen),
        CALL(fspick),
        CALL(fsconfig),
        CALL(fsmount),
        CALL(move_mount),
        CALL(open_tree),
        CALL(mount_setattr),
        CALL(bpf),
        CALL(perf_event_open),
        CALL(io_uring_setup),
        CALL0(io_uring_enter),
        CALL0(io_uring_register),
        CALL0(io_setup),
        CALL(keyctl),
        CALL(add_key),
        CALL(request_key),
        CALL(landlock_create_ruleset),
        CALL(init_module),
        CALL(finit_module),
        CALL(delete_module),
        CALL(kexec_load),
        CALL(reboot),
        CALL(swapon),
        CALL(swapoff),
        CALL(settimeofday),
        CALL(clock_settime),
        CALL(adjtimex),
        CALL(clock_adjtime),
        CALL(sethostname),
        CALL(setdomainname),
        CALL(syslog),
        CALL0(iopl),
        CALL0(ioperm),
        CALL0(vhangup),
        CALL(lookup_dcookie),
        CALL(msgget),
        CALL(semget),
        CALL(mq_open),
        CALL0(timer_create),
        CALL0(timerfd_create),
        CALL0(eventfd2),
        CALL0(epoll_create1),
        CALL(signalfd4),
        CALL0(mlockall),
        CALL0(mlock2),
        CALL(mbind),
        CALL(set_mempolicy),
        CALL(uname),
        CALL(sysinfo),
        CALL(getcwd),
        CALL0(getuid),
        CALL0(getppid),
        CALL(times),
        CALL(getrusage),
    };
    set_up();
    REFUSED_ALL(v);
    tidy();
}

/* ---- what must still go, or the refusals would say nothing ---- */

static long own_file(long arg)
{
    struct open_how how = {.flags = O_RDWR};
    (void)arg;
    return syscall(SYS_openat2, store_fd, "own", &how, sizeof(how));
}

static long own_socket(long arg)
{
    (void)arg;
    return syscall(SYS_write, sock, "x", 1) == 1 || errno == EPIPE || errno == ECONNRESET ? 0 : -1;
}

static long new_file(long arg)
{
    struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 0600};
    (void)arg;
    long fd = syscall(SYS_openat2, store_fd, "made", &how, sizeof(how));
    return fd < 0 || syscall(SYS_pwrite64, fd, "x", 1, 0) != 1 ? -1 : syscall(SYS_fsync, fd);
}

TEST(hostile_its_own_is_left_to_it)
{
    set_up();
    (void)signal(SIGPIPE, SIG_IGN);
    CHECK_INT(confined(own_file, 0), ESCAPED);
    CHECK_INT(confined(own_socket, 0), ESCAPED);
    CHECK_INT(confined(new_file, 0), ESCAPED);
    tidy();
}
