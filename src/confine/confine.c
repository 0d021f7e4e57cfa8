/* SPDX-License-Identifier: Apache-2.0 */
#include "confine/confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/assert.h"
#include "base/err.h"
#include "base/fd.h"
#include "types/limits.h"

#include "confine/seccomp_program.h"

static const struct {
    const char *name;
    bool matters;
    const char *remedy;
} parts[CONFINE_PARTS] = {
    [CONFINE_NO_NEW_PRIVS] = {"no_new_privs", true, "needs Linux 3.5"},
    [CONFINE_SECCOMP] = {"seccomp", true, "needs a kernel with CONFIG_SECCOMP_FILTER"},
    [CONFINE_LANDLOCK] = {"landlock", true,
                          "needs Linux 5.13 with landlock among the security modules (lsm=landlock,…)"},
    [CONFINE_EMPTY_ROOT] = {"empty_root", true,
                            "needs user namespaces (sysctl user.max_user_namespaces) or root, and Linux 5.2"},
    [CONFINE_OWN_MOUNTS] = {"own_mounts", true, "needs user namespaces or root, and Linux 5.2"},
    [CONFINE_USER_NS] = {"user_ns", false, "sysctl user.max_user_namespaces=10000; not used when started by root"},
    [CONFINE_MOUNT_NS] = {"mount_ns", true, "needs user namespaces or root"},
    [CONFINE_PID_NS] = {"pid_ns", true, "needs user namespaces or root"},
    [CONFINE_NET_NS] = {"net_ns", true, "needs user namespaces or root; seccomp refuses sockets all the same"},
    [CONFINE_IPC_NS] = {"ipc_ns", false, "needs user namespaces or root"},
    [CONFINE_UTS_NS] = {"uts_ns", false, "needs user namespaces or root"},
    [CONFINE_CAPS] = {"no_capabilities", true,
                      "dropping capabilities was refused: look at the container's security profile"},
    [CONFINE_RLIMITS] = {"rlimits", true, "setting limits was refused: look at the hard limits (ulimit -aH)"},
};

static const struct {
    enum confine_part part;
    unsigned long flag;
} namespaces[] = {
    {CONFINE_USER_NS, CLONE_NEWUSER}, {CONFINE_MOUNT_NS, CLONE_NEWNS}, {CONFINE_PID_NS, CLONE_NEWPID},
    {CONFINE_NET_NS, CLONE_NEWNET},   {CONFINE_IPC_NS, CLONE_NEWIPC},  {CONFINE_UTS_NS, CLONE_NEWUTS},
};
#define N_NAMESPACES (sizeof(namespaces) / sizeof(namespaces[0]))

const char *confine_part_name(enum confine_part p)
{
    return parts[p].name;
}

const char *confine_part_remedy(enum confine_part p)
{
    return parts[p].remedy;
}

bool confine_part_matters(enum confine_part p)
{
    return parts[p].matters;
}

static void applied(struct confine_report *r, enum confine_part p, int error)
{
    r->error[p] = error;
    if (error == 0)
        r->applied |= UINT64_C(1) << p;
}

/* fork(2) with namespaces: the raw call, because glibc's fork() takes no flags. The process has one thread, so no lock
 * can be held. */
static pid_t raw_clone(unsigned long flags)
{
    return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Root keeps its own user namespace: a new one would take away its right to read what it mounts. */
static unsigned long wanted_namespaces(void)
{
    unsigned long all = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    return geteuid() == 0 ? all : all | CLONE_NEWUSER;
}

static void report_namespaces(struct confine_report *report, unsigned long want, int error)
{
    for (size_t i = 0; i < N_NAMESPACES; i++) {
        bool got = (want & namespaces[i].flag) != 0;
        if (got || error)
            applied(report, namespaces[i].part, got ? 0 : error);
    }
}

pid_t confine_clone(struct confine_report *report)
{
    unsigned long want = wanted_namespaces();
    *report = (struct confine_report){0};
    int error = 0;
    pid_t pid = raw_clone(want);
    if (pid < 0) {
        error = -errno;
        want = 0;
        pid = raw_clone(0);
    }
    if (pid == 0)
        report_namespaces(report, want, error);
    return pid;
}

void confine_unshare(struct confine_report *report)
{
    unsigned long want = wanted_namespaces() & ~(unsigned long)CLONE_NEWPID;
    *report = (struct confine_report){0};
    int error = unshare((int)want) ? -errno : 0;
    report_namespaces(report, error ? 0 : want, error);
}

/* The descriptors that stay, in @keep: how many. */
static int kept_fds(const struct confine_config *cfg, int keep[LIMIT_KEEP_FDS])
{
    int n = 0;
    keep[n++] = STDERR_FILENO;
    if (cfg->compiles) {
        keep[n++] = STDIN_FILENO;
        keep[n++] = STDOUT_FILENO;
        return n;
    }
    keep[n++] = cfg->sock;
    for (uint32_t i = 0; i < cfg->n_mounts; i++)
        keep[n++] = cfg->mount_fds[i];
    if (cfg->kept) {
        keep[n++] = cfg->store_fd;
        if (cfg->trace_fd >= 0)
            keep[n++] = cfg->trace_fd;
        if (cfg->lock_fd >= 0)
            keep[n++] = cfg->lock_fd;
    }
    if (cfg->wasm && cfg->userland_fd >= 0)
        keep[n++] = cfg->userland_fd;
    if (cfg->wasm && cfg->pagemap_fd >= 0)
        keep[n++] = cfg->pagemap_fd;
    return n;
}

/* Closes every other descriptor: what the driver had open is none of ours. */
static void close_others(const struct confine_config *cfg)
{
    int keep[LIMIT_KEEP_FDS];
    int n = kept_fds(cfg, keep);
    for (int i = 1; i < n; i++) {
        int v = keep[i], j = i;
        for (; j > 0 && keep[j - 1] > v; j--)
            keep[j] = keep[j - 1];
        keep[j] = v;
    }
    unsigned from = 0;
    for (int i = 0; i < n; i++) {
        if ((unsigned)keep[i] > from)
            (void)syscall(SYS_close_range, from, (unsigned)keep[i] - 1, 0); /* what cannot be closed was not open */
        from = (unsigned)keep[i] + 1;
    }
    (void)syscall(SYS_close_range, from, ~0U, 0);
}

enum isolated { ISOLATED_MOUNT, ISOLATED_STORE /* is written to */, ISOLATED_CODE /* is mapped to be executed */ };

/* Puts the directory that @fd is, and what is mounted below it, into a mount of its own that is attached nowhere, and
 * @fd to be that: ".." of it is itself, so that no path leads from it to what lies beside it. Landlock does not hold
 * that: it has no say about stat and O_PATH. In the new mount namespace the directory has to be found by its path
 * again; that it is the same is looked at. */
static int isolate(int fd, enum isolated what)
{
    char link[40], path[LIMIT_PATH];
    struct stat was, is;
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                          (what == ISOLATED_CODE ? 0u : MOUNT_ATTR_NOEXEC) |
                                          (what == ISOLATED_STORE ? 0u : MOUNT_ATTR_RDONLY)};
    if (fstat(fd, &was))
        return -errno;
    if (!S_ISDIR(was.st_mode))
        return 0;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path));
    if (n < 0 || (size_t)n == sizeof(path))
        return n < 0 ? -errno : -ENAMETOOLONG;
    path[n] = 0;
    FD_AUTO int tree =
        (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0 || fstat(tree, &is))
        return -errno;
    if (is.st_dev != was.st_dev || is.st_ino != was.st_ino)
        return -ESTALE;
    /* Linux 5.12; what it adds is held by Landlock and the filter, too. */
    (void)syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr));
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -errno;
    FD_AUTO int dir =
        flags & O_PATH ? dup(tree) : (int)syscall(SYS_openat, tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir < 0 || dup3(dir, fd, O_CLOEXEC) < 0 ? -errno : 0;
}

/* All directories that stay. The first error. */
static int isolate_all(const struct confine_config *cfg)
{
    int r = 0;
    if (cfg->compiles)
        return 0; /* it keeps none */
    for (uint32_t i = 0; i < cfg->n_mounts && r == 0; i++)
        r = isolate(cfg->mount_fds[i], ISOLATED_MOUNT);
    if (r == 0 && cfg->kept)
        r = isolate(cfg->store_fd, ISOLATED_STORE);
    if (r == 0 && cfg->wasm && cfg->userland_fd >= 0)
        r = isolate(cfg->userland_fd, ISOLATED_CODE);
    return r;
}

/* Makes an empty read-only tmpfs the root directory; it is mounted nowhere, so nothing else can see it. */
static int enter_empty_root(void)
{
    FD_AUTO int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
    if (fs < 0)
        return -errno;
    if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "size", "4096", 0) ||
        syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
        return -errno;
    FD_AUTO int mnt = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
                                   MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    if (mnt < 0)
        return -errno;
    if (fchdir(mnt) || chroot("."))
        return -errno;
    return 0;
}

int confine_landlock_abi(void)
{
    long r = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return r > 0 ? (int)r : 0;
}

/* The kernel's structs and rights grew since Debian 12's headers: as many as this kernel knows are handled. */
#define FS_RIGHTS_ABI1 ((UINT64_C(1) << 13) - 1)
#define FS_REFER (UINT64_C(1) << 13)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define NET_RIGHTS UINT64_C(3)
#define SCOPE_RIGHTS UINT64_C(3)

struct ruleset_attr {
    uint64_t fs, net, scoped;
};

static int allow_mount(int ruleset, int fd)
{
    struct stat st;
    if (fstat(fd, &st))
        return -errno;
    struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE, .parent_fd = fd};
    if (S_ISDIR(st.st_mode))
        rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) ? -errno : 0;
}

/* Packs and indexes are made, appended to, renamed and removed in the store's directory. */
static int allow_store(int ruleset, int fd, int abi)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                          LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR,
        .parent_fd = fd};
    rule.allowed_access |= (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0);
    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) ? -errno : 0;
}

static int enter_landlock(const struct confine_config *cfg)
{
    int abi = confine_landlock_abi();
    if (abi < 1)
        return -EOPNOTSUPP;
    struct ruleset_attr attr = {.fs = FS_RIGHTS_ABI1};
    attr.fs |= (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) | (abi >= 5 ? FS_IOCTL_DEV : 0);
    attr.net = abi >= 4 ? NET_RIGHTS : 0;
    attr.scoped = abi >= 6 ? SCOPE_RIGHTS : 0;
    size_t size = abi >= 6 ? sizeof(attr) : abi >= 4 ? 16 : 8;
    FD_AUTO int rs = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    if (rs < 0)
        return -errno;
    for (uint32_t i = 0; i < cfg->n_mounts; i++) {
        int e = allow_mount(rs, cfg->mount_fds[i]);
        if (e)
            return e;
    }
    int e = cfg->wasm && cfg->userland_fd >= 0 ? allow_mount(rs, cfg->userland_fd) : 0;
    if (e == 0 && cfg->kept)
        e = allow_store(rs, cfg->store_fd, abi);
    if (e)
        return e;
    return syscall(SYS_landlock_restrict_self, rs, 0) ? -errno : 0;
}

/* The bounding set need not be cut as well: with no_new_privs and without exec nothing can raise a capability again. */
static int drop_capabilities(bool keep_read)
{
    struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct d[2] = {0};
    if (keep_read)
        d[0].effective = d[0].permitted = 1u << CAP_DAC_READ_SEARCH;
    return syscall(SYS_capset, &h, d) ? -errno : 0;
}

static int set_limit(int what, rlim_t v)
{
    struct rlimit now, want = {v, v};
    if (getrlimit(what, &now))
        return -errno;
    if (now.rlim_max < v)
        want.rlim_cur = want.rlim_max = now.rlim_max;
    return setrlimit(what, &want) ? -errno : 0;
}

static int set_limits(const struct confine_config *cfg)
{
    int e = set_limit(RLIMIT_CORE, 0);
#ifndef FRONTAL_SANITIZE /* whose reports go to standard error, which may be a file */
    e = e || cfg->kept ? e : set_limit(RLIMIT_FSIZE, cfg->compiles ? LIMIT_WASM_CODE : 0);
#endif
    e = e || !cfg->compiles ? e : set_limit(RLIMIT_CPU, LIMIT_COMPILE_CPU_S);
    e = e ? e : set_limit(RLIMIT_NPROC, 0);
    e = e ? e : set_limit(RLIMIT_MEMLOCK, 0);
    e = e ? e : set_limit(RLIMIT_MSGQUEUE, 0);
    e = e ? e : set_limit(RLIMIT_NOFILE, LIMIT_WORKER_FDS);
    if (e == 0 && cfg->memory_ceiling)
        e = set_limit(RLIMIT_DATA, cfg->memory_ceiling);
    return e;
}

static int add_filter(const struct sock_filter *v, size_t n)
{
    struct sock_fprog prog = {.len = (unsigned short)n, .filter = (struct sock_filter *)(uintptr_t)v};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) ? -errno : 0;
}

#define ADD_FILTER(v) add_filter((v), sizeof(v) / sizeof((v)[0]))

static int enter_seccomp(const struct confine_config *cfg)
{
    if (cfg->compiles)
        return ADD_FILTER(seccomp_program_compile);
    if (cfg->wasm)
        return cfg->kept ? ADD_FILTER(seccomp_program_kept_wasm) : ADD_FILTER(seccomp_program_wasm);
    return cfg->kept ? ADD_FILTER(seccomp_program_kept) : ADD_FILTER(seccomp_program);
}

int confine_no_more_code(void)
{
    return ADD_FILTER(seccomp_program_seal);
}

int confine_self(const struct confine_config *cfg, struct confine_report *report, struct err *err)
{
    ASSERT(cfg->n_mounts <= LIMIT_MOUNTS);
    close_others(cfg);
    if (!cfg->kept)
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0,
                    0); /* the closed socket ends us too, and a kept session first syncs */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    bool in_namespaces = (report->applied >> CONFINE_MOUNT_NS & 1) != 0;
    applied(report, CONFINE_OWN_MOUNTS, in_namespaces ? isolate_all(cfg) : -EPERM);
    applied(report, CONFINE_EMPTY_ROOT, in_namespaces ? enter_empty_root() : -EPERM);
    bool host_root = geteuid() == 0 && !(report->applied >> CONFINE_USER_NS & 1);
    applied(report, CONFINE_RLIMITS, set_limits(cfg));
    applied(report, CONFINE_NO_NEW_PRIVS, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0);
    applied(report, CONFINE_LANDLOCK, enter_landlock(cfg));
    applied(report, CONFINE_CAPS, drop_capabilities(host_root && cfg->n_mounts > 0));
    if (report->error[CONFINE_NO_NEW_PRIVS])
        return err_set(err, report->error[CONFINE_NO_NEW_PRIVS],
                       "no_new_privs cannot be set; a worker does not run without it");
    if (report->error[CONFINE_LANDLOCK] && (report->error[CONFINE_EMPTY_ROOT] || report->error[CONFINE_OWN_MOUNTS]))
        return err_set(err, -EPERM,
                       "neither Landlock nor an empty root with mounts of its own can be had; a worker does not run "
                       "without one of them");
    applied(report, CONFINE_SECCOMP, enter_seccomp(cfg));
    if (report->error[CONFINE_SECCOMP])
        return err_set(err, report->error[CONFINE_SECCOMP],
                       "the seccomp filter cannot be set; a worker does not run without it");
    return 0;
}
