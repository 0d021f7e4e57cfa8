/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "types/errtab.h"

#define PROGRAM "frontal-sandbox-compile"

int compiler_find(struct buf *path)
{
    static const char *const places[] = {PROGRAM, "src/wasm/" PROGRAM};
    char self[LIMIT_PATH];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
    while (n > 0 && self[n - 1] != '/')
        n--;
    for (size_t i = 0; n > 0 && i < sizeof(places) / sizeof(places[0]); i++) {
        buf_clear(path);
        (void)buf_add(path, self, (size_t)n);
        (void)buf_addc(path, places[i]);
        if (path->err == 0 && access(path->p, X_OK) == 0)
            return 0;
    }
    return -ENOENT;
}

/* ---- starting ---- */

/* The new process up to its exec; nothing here may touch what it shares with its parent. */
static void child(const char *path, int module_fd, int code_fd, int text_fd)
{
    char name[] = PROGRAM, confined[] = "--confined";
    char *argv[] = {name, confined, NULL}, *envp[] = {NULL};
    sigset_t none;
    sigemptyset(&none);
    (void)setpgid(0, 0); /* ^C is for the command */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || sigprocmask(SIG_SETMASK, &none, NULL) ||
        dup2(module_fd, STDIN_FILENO) < 0 || dup2(code_fd, STDOUT_FILENO) < 0 || dup2(text_fd, STDERR_FILENO) < 0)
        _exit(126);
    execve(path, argv, envp);
    _exit(127);
}

/* Takes @fd and gives it again as one above the standard streams, which may be closed. */
static int above_standard(int fd)
{
    FD_AUTO int low = fd;
    if (low < 0 || low > STDERR_FILENO)
        return fd_steal(&low);
    return fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static int fork_it(struct compiler *c, const char *path, int module_fd, int text_fd)
{
    c->pid = fork();
    if (c->pid == 0)
        child(path, module_fd, c->code_fd, text_fd);
    if (c->pid < 0)
        return -errno;
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    return c->pidfd < 0 ? -errno : 0;
}

int compiler_start(struct compiler *c, const char *path, int module_fd, struct err *err)
{
    int text[2];
    *c = (struct compiler){.pidfd = -1, .code_fd = -1, .text_fd = -1};
    if (pipe2(text, O_CLOEXEC))
        return err_set(err, -errno, "the compiler cannot be started: %s", errtab_text(errno));
    FD_AUTO int module = -1, text_fd = above_standard(text[1]);
    c->text_fd = text[0];
    c->code_fd = above_standard(memfd_create("code", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    module = fcntl(module_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int r = text_fd < 0 || c->code_fd < 0 || module < 0 || lseek(module, 0, SEEK_SET) < 0
                ? -errno
                : fork_it(c, path, module, text_fd);
    if (r < 0) {
        compiler_stop(c);
        return err_set(err, r, "the compiler cannot be started: %s", errtab_text(r));
    }
    c->deadline = clock_mono() + LIMIT_COMPILE_WALL_MS * CLOCK_MS;
    return 0;
}

/* ---- ending ---- */

bool compiler_ended(const struct compiler *c)
{
    struct pollfd p = {c->pidfd, POLLIN, 0};
    return c->pid > 0 && (clock_mono() >= c->deadline || poll(&p, 1, 0) == 1);
}

static int reap(const struct compiler *c)
{
    int status = 0;
    pid_t r;
    do
        r = waitpid(c->pid, &status, 0);
    while (r < 0 && errno == EINTR);
    return status;
}

void compiler_stop(struct compiler *c)
{
    if (c->pid > 0) {
        (void)kill(c->pid, SIGKILL);
        (void)reap(c);
    }
    c->pid = 0;
    fd_close(&c->pidfd);
    fd_close(&c->code_fd);
    fd_close(&c->text_fd);
}

/* The first line of what it said, cut to fit and without control characters: it may be made of bytes of the module. */
static void read_text(const struct compiler *c, char text[LIMIT_COMPILE_TEXT])
{
    struct pollfd p = {c->text_fd, POLLIN, 0};
    ssize_t n = poll(&p, 1, 0) == 1 ? read(c->text_fd, text, LIMIT_COMPILE_TEXT - 1) : 0;
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    for (char *s = text; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            *s = '?';
}

/* Why there is no code. */
static int failed(int status, const char *text, struct err *err)
{
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (strncmp(text, "memory allocation of", strlen("memory allocation of")) == 0) /* what Rust's runtime says last */
        return err_set(err, -ENOMEM, "the module needs too much memory to compile (limit: %llu MiB)",
                       (unsigned long long)(LIMIT_COMPILE_MEMORY >> 20));
    if (sig == SIGXCPU || sig == SIGKILL)
        return err_set(err, -ETIMEDOUT, "the module takes too long to compile (limit: %u s of CPU time)",
                       LIMIT_COMPILE_CPU_S);
    if (sig == SIGXFSZ)
        return err_set(err, -EFBIG, "the code of the module is too large (limit: %llu MiB)",
                       (unsigned long long)(LIMIT_WASM_CODE >> 20));
    if (sig)
        return err_set(err, -EIO, "the compiler was ended by signal %d%s%s", sig, *text ? ": " : "", text);
    if (WEXITSTATUS(status) > 125)
        return err_set(err, -EIO, "the compiler cannot be run");
    return err_set(err, -ENOEXEC, "the module cannot be compiled: %s", *text ? text : "the compiler does not say why");
}

int compiler_take(struct compiler *c, struct err *err)
{
    char text[LIMIT_COMPILE_TEXT];
    struct pollfd p = {c->pidfd, POLLIN, 0};
    struct stat st;
    bool late = poll(&p, 1, 0) == 0;
    if (late)
        (void)kill(c->pid, SIGKILL);
    int status = reap(c), r = 0;
    c->pid = 0;
    read_text(c, text);
    if (late)
        r = err_set(err, -ETIMEDOUT, "the module takes too long to compile (limit: %u s)",
                    LIMIT_COMPILE_WALL_MS / 1000);
    else if (!WIFEXITED(status) || WEXITSTATUS(status))
        r = failed(status, text, err);
    else if (fstat(c->code_fd, &st) || st.st_size == 0 ||
             fcntl(c->code_fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
        r = err_set(err, -EIO, "the compiler has made nothing that can be used");
    int fd = r < 0 ? r : fd_steal(&c->code_fd);
    compiler_stop(c);
    return fd;
}
