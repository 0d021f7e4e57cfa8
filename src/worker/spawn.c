/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "confine/confine.h"
#include "types/errtab.h"
#include "wasm/wasm.h"
#include "worker/userland.h"

extern char **environ;

/* The driver's environment came along with the fork; a worker must not have it even in its memory. */
static void wipe_environment(void)
{
    for (char **e = environ; e && *e; e++)
        explicit_bzero(*e, strlen(*e));
    environ = NULL;
}

static void note_missing(const struct confine_report *r, struct buf *notes, uint64_t *missing)
{
    for (int p = 0; p < CONFINE_PARTS; p++) {
        if (r->applied >> p & 1 || r->error[p] == 0)
            continue;
        *missing |= UINT64_C(1) << p;
        buf_addf(notes, "%s: %s (%s)\n", confine_part_name((enum confine_part)p), errtab_text(r->error[p]),
                 confine_part_remedy((enum confine_part)p));
    }
}

static void default_signals(void)
{
    /* ^C at the terminal goes to the driver, which sends it on as a message; the worker itself must stay. */
    const int ignored[] = {SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGTERM, SIGPIPE};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        (void)signal(ignored[i], SIG_IGN);
}

static void child(int sock, const struct worker_config *cfg, struct confine_report *report)
{
    bool wasm = wasm_built() && (cfg->userland_fd >= 0 || cfg->own_modules);
    int pagemap_fd = wasm ? wasm_prepare() : -ENOSYS;
    const struct confine_config cc = {
        .sock = sock,
        .mount_fds = cfg->mount_fds,
        .n_mounts = cfg->n_mounts,
        .memory_ceiling = cfg->memory_ceiling,
        .kept = cfg->kept,
        .store_fd = cfg->store_fd,
        .trace_fd = cfg->trace_fd,
        .lock_fd = cfg->lock_fd,
        .wasm = wasm,
        .userland_fd = cfg->userland_fd,
        .pagemap_fd = pagemap_fd,
    };
    struct err err;
    wipe_environment();
    default_signals();
    if (confine_self(&cc, report, &err)) {
        fprintf(stderr, "frontal-sandbox: worker: %s\n", err.text);
        _exit(125);
    }
    char text[2048];
    BUF_AUTO struct buf notes;
    buf_init(&notes, sizeof(text));
    uint64_t missing = 0;
    note_missing(report, &notes, &missing);
    struct userland u;
    userland_init(&u, wasm ? cfg->userland_fd : -1, pagemap_fd >= 0, cfg->own_modules, cfg->programs);
    int r = worker_serve(sock, cfg, &u, report->applied, missing, buf_str(&notes));
    userland_done(&u);
    _exit(r ? 125 : 0);
}

int worker_spawn(const struct worker_config *cfg, struct worker *ret, struct err *err)
{
    int sv[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
        return err_set(err, -errno, "cannot make a socket pair: %s", errtab_text(errno));
    const struct timeval quiet = {.tv_usec = WORKER_QUIET_MS * 1000};
    if (setsockopt(sv[1], SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof(quiet))) {
        int e = -errno;
        fd_close(&sv[0]);
        fd_close(&sv[1]);
        return err_set(err, e, "cannot set up a worker's socket: %s", errtab_text(e));
    }
    (void)fflush(NULL); /* or both processes would write it */
    struct confine_report report;
    pid_t pid = confine_clone(&report);
    if (pid == 0) {
        child(sv[1], cfg, &report);
    } else if (pid < 0) {
        int e = -errno;
        fd_close(&sv[0]);
        fd_close(&sv[1]);
        return err_set(err, e, "cannot start a worker: %s", errtab_text(e));
    }
    fd_close(&sv[1]);
    ret->pid = pid;
    ret->kept = cfg->kept;
    chan_init(&ret->chan, sv[0]);
    return 0;
}

int worker_end(struct worker *w)
{
    if (w->pid <= 0)
        return -1;
    chan_done(&w->chan);
    /* It has nothing left to say, and holds nothing that outlives it. A build that looks for leaks lets it leave by
     * itself. */
    if (w->kept) {
        w->pid = 0;
        return -1;
    }
    if (!MEM_LEAK_CHECK)
        (void)kill(w->pid, SIGKILL);
    int status = -1;
    pid_t r;
    do
        r = waitpid(w->pid, &status, 0);
    while (r < 0 && errno == EINTR);
    w->pid = 0;
    return r > 0 ? status : -1;
}
