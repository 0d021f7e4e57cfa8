/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a worker can no longer do. Each attempt runs in a process of its own that has confined itself as a worker does,
 * with one mount; it must be refused (a negative errno) or end the process (SIGSYS). One that succeeds is an escape.
 */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/openat2.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/test/test.h"
#include "confine/confine.h"

static int mount_fd = -1;
static char mount_dir[] = "/tmp/confine-XXXXXX";

enum { ESCAPED = 10, REFUSED = 11, UNCONFINED = 12 };

static bool wasm; /* as a worker with a userland, and: */
static int userland_fd = -1;
static bool with_userland; /* whose directory is the mount's */
static bool sealed;
static bool compiles; /* as the compile role */

/* Runs @attempt confined: ESCAPED when it gave >= 0, REFUSED, 128 + signal, or UNCONFINED. */
static int confined(long (*attempt)(void))
{
    int sv[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
        return UNCONFINED;
    struct confine_report report;
    pid_t pid = compiles ? fork() : confine_clone(&report);
    if (pid == 0) {
        struct err err;
        userland_fd = with_userland ? open(mount_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (compiles)
            confine_unshare(&report);
        const struct confine_config cfg = {.sock = sv[1],
                                           .mount_fds = &mount_fd,
                                           .n_mounts = 1,
                                           .wasm = wasm,
                                           .userland_fd = userland_fd,
                                           .pagemap_fd = -1,
                                           .compiles = compiles};
        if (confine_self(&cfg, &report, &err) || (sealed && confine_no_more_code()))
            _exit(UNCONFINED);
        _exit(attempt() >= 0 ? ESCAPED : REFUSED);
    }
    fd_close(&sv[0]);
    fd_close(&sv[1]);
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return UNCONFINED;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void tidy(void)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/inside", mount_dir);
    (void)unlink(path);
    (void)rmdir(mount_dir);
}

/* A mount with a file in it, removed again when the test's process exits. */
static void set_up(void)
{
    char path[64];
    if (!CHECK(mkdtemp(mount_dir) != NULL))
        return;
    mount_fd = open(mount_dir, O_PATH | O_CLOEXEC);
    snprintf(path, sizeof(path), "%s/inside", mount_dir);
    FD_AUTO int in = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(write(in, "x", 1) == 1);
}

static void check_refused(const char *what, long (*attempt)(void))
{
    int r = confined(attempt);
    if (!CHECK(r == REFUSED || r == 128 + SIGSYS || r == 128 + SIGKILL))
        fprintf(stderr, "# %s: %d\n", what, r);
}

static long try_nothing(void)
{
    return 0;
}

static long try_exec(void)
{
    char *argv[] = {(char[]){"/bin/true"}, NULL};
    return execv(argv[0], argv) == 0 ? 0 : -1;
}

static long try_fork(void)
{
    return syscall(SYS_fork);
}

static long try_clone(void)
{
    return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static long try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}

static long try_unix_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

static long try_ptrace(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static long try_vm_read(void)
{
    return syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0);
}

static long try_kill(void)
{
    return kill(-1, 0) == 0 ? 0 : -1;
}

static long try_open_passwd(void)
{
    return open("/etc/passwd", O_RDONLY);
}

static long openat2_at(int dir, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags, .mode = flags & O_CREAT ? 0600 : 0};
    return syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static long try_openat2_passwd(void)
{
    return openat2_at(AT_FDCWD, "/etc/passwd", O_RDONLY);
}

static long try_openat2_root(void)
{
    return openat2_at(AT_FDCWD, "/proc/1/environ", O_RDONLY);
}

static long try_leave_mount(void)
{
    return openat2_at(mount_fd, "../../etc/passwd", O_RDONLY);
}

static long try_write_in_mount(void)
{
    return openat2_at(mount_fd, "made", O_WRONLY | O_CREAT);
}

static long try_write_to_file_in_mount(void)
{
    return openat2_at(mount_fd, "inside", O_WRONLY);
}

static long try_executable_memory(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1
                                                                                                                  : 0;
}

static long try_make_executable(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? 0 : mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

/* As wasm/ maps the machine code of a program. */
static long map_code(void)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC};
    int fd = (int)syscall(SYS_openat2, userland_fd, "inside", &how, sizeof(how));
    void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    return fd < 0 || p == MAP_FAILED ? -1 : mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static long try_unshare(void)
{
    return syscall(SYS_unshare, 0x10000000);
}

static long try_mount(void)
{
    return mount("none", "/", "tmpfs", 0, NULL);
}

static long try_chroot(void)
{
    return chroot(".");
}

static long try_setuid(void)
{
    return syscall(SYS_setuid, 0);
}

static long try_bpf(void)
{
    return syscall(SYS_bpf, 0, NULL, 0);
}

static long try_io_uring(void)
{
    return syscall(SYS_io_uring_setup, 8, NULL);
}

static long try_handle(void)
{
    return syscall(SYS_open_by_handle_at, mount_fd, NULL, O_RDONLY);
}

static long try_ioctl(void)
{
    int n;
    return syscall(SYS_ioctl, 2, 0x5412 /* TIOCSTI */, &n);
}

static long try_memfd(void)
{
    return memfd_create("x", 0);
}

static long try_dumpable(void)
{
    return prctl(PR_SET_DUMPABLE, 1);
}

/* If the process could not confine itself at all, every refusal below would be worth nothing. */
TEST(a_worker_confines_itself_and_runs)
{
    set_up();
    CHECK_INT(confined(try_nothing), ESCAPED);
    tidy();
}

static long read_inside(void)
{
    return openat2_at(mount_fd, "inside", O_RDONLY);
}

TEST(what_lies_in_a_mount_can_be_read)
{
    set_up();
    CHECK_INT(confined(read_inside), ESCAPED);
    tidy();
}

TEST(no_program_is_started)
{
    set_up();
    check_refused("execve", try_exec);
    check_refused("fork", try_fork);
    check_refused("clone", try_clone);
    tidy();
}

TEST(no_network)
{
    set_up();
    check_refused("socket", try_socket);
    check_refused("unix socket", try_unix_socket);
    tidy();
}

TEST(no_other_process_is_touched)
{
    set_up();
    check_refused("ptrace", try_ptrace);
    check_refused("process_vm_readv", try_vm_read);
    check_refused("kill", try_kill);
    tidy();
}

TEST(no_host_file_outside_the_mounts)
{
    set_up();
    check_refused("open", try_open_passwd);
    check_refused("openat2", try_openat2_passwd);
    check_refused("openat2 /proc", try_openat2_root);
    check_refused("..", try_leave_mount);
    check_refused("open_by_handle_at", try_handle);
    tidy();
}

TEST(nothing_is_written_in_a_mount)
{
    set_up();
    check_refused("create", try_write_in_mount);
    check_refused("write", try_write_to_file_in_mount);
    tidy();
}

TEST(no_executable_memory)
{
    set_up();
    check_refused("mmap", try_executable_memory);
    check_refused("mprotect", try_make_executable);
    check_refused("memfd_create", try_memfd);
    tidy();
}

static long try_writable_code(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? 0 : mprotect(p, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static long try_another_filter(void)
{
    return confine_no_more_code();
}

/* With a userland, until its code is mapped: that can be made executable, and nothing more. */
TEST(executable_memory_of_a_userland)
{
    set_up();
    wasm = true;
    CHECK_INT(confined(try_make_executable), ESCAPED);
    with_userland = true;
    CHECK_INT(confined(map_code), ESCAPED);
    with_userland = false;
    check_refused("mmap", try_executable_memory);
    check_refused("mprotect, writable", try_writable_code);
    check_refused("memfd_create", try_memfd);
    check_refused("ioctl", try_ioctl);
    sealed = true;
    CHECK_INT(confined(try_nothing), ESCAPED);
    check_refused("mprotect", try_make_executable);
    check_refused("mmap", try_executable_memory);
    check_refused("another filter", try_another_filter);
    check_refused("execve", try_exec);
    tidy();
}

static long try_abort_another(void)
{
    return syscall(SYS_tgkill, getppid(), getppid(), 0);
}

static long try_time(void)
{
    const struct rlimit more = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    return setrlimit(RLIMIT_CPU, &more);
}

/* A lower limit than what was had before, and of everything else nothing. */
static long look_at_limits(void)
{
    struct rlimit cpu, files;
    if (syscall(SYS_prlimit64, 0, RLIMIT_CPU, NULL, &cpu) == 0 ||
        syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &files) == 0)
        return -1; /* not even that is among its calls */
    return 0;
}

TEST(the_compile_role_has_nothing)
{
    set_up();
    compiles = true;
    CHECK_INT(confined(try_nothing), ESCAPED);
    CHECK_INT(confined(look_at_limits), ESCAPED);
    check_refused("execve", try_exec);
    check_refused("fork", try_fork);
    check_refused("clone", try_clone);
    check_refused("socket", try_socket);
    check_refused("unix socket", try_unix_socket);
    check_refused("ptrace", try_ptrace);
    check_refused("process_vm_readv", try_vm_read);
    check_refused("kill", try_kill);
    check_refused("tgkill", try_abort_another);
    check_refused("open", try_open_passwd);
    check_refused("openat2", try_openat2_passwd);
    check_refused("a mount", read_inside);
    check_refused("mmap", try_executable_memory);
    check_refused("mprotect", try_make_executable);
    check_refused("memfd_create", try_memfd);
    check_refused("unshare", try_unshare);
    check_refused("setrlimit", try_time);
    check_refused("ioctl", try_ioctl);
    tidy();
}

TEST(no_way_back_to_rights)
{
    set_up();
    check_refused("unshare", try_unshare);
    check_refused("mount", try_mount);
    check_refused("chroot", try_chroot);
    check_refused("setuid", try_setuid);
    check_refused("prctl", try_dumpable);
    tidy();
}

TEST(no_large_kernel_surface)
{
    set_up();
    check_refused("bpf", try_bpf);
    check_refused("io_uring", try_io_uring);
    check_refused("ioctl", try_ioctl);
    tidy();
}
