/* SPDX-License-Identifier: Apache-2.0 */

/* Drives a worker: sends what it is asked to do, and passes streams and signals between the host and it until the
 * result comes. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "confine/confine.h"
#include "types/errtab.h"
#include "wasm/wasm.h"

/* A worker that has not ended this long after its own time limit, or after it was told to stop, is killed. */
#define GRACE (2 * CLOCK_S)
#define INTERRUPTS_TO_KILL 3
#define WORKER_SLACK (UINT64_C(1) << 30)
#define KEPT_MAX (64u << 20)

/* ---- start and end ---- */

static int open_signals(bool interactive)
{
    sigset_t set;
    sigemptyset(&set);
    const int sigs[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
        sigaddset(&set, sigs[i]);
    if (interactive)
        sigaddset(&set, SIGTSTP); /* ^Z stops the job in the session, not this program */
    (void)signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL))
        return -errno;
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

/* Private memory of the worker, above what the session's own limits allow, so that those are met first and with a
 * reason. */
static uint64_t ceiling(const struct limits *l, bool wasm)
{
    uint64_t sum;
    if (MEM_LEAK_CHECK) /* the sanitizer's shadow is far above any of them */
        return 0;
    if (!num_add64(l->memory, l->files, &sum) || !num_add64(sum, WORKER_SLACK + (wasm ? WASM_RESERVED : 0), &sum))
        return 0;
    return sum;
}

/* More slots than usual, which cost time, for who asked for more processes than usual. */
static uint32_t programs(const struct limits *l)
{
    return l->processes > limits_default().processes ? (uint32_t)NUM_MIN(l->processes, LIMIT_WASM_PROGRAMS) : 0;
}

static void send_create(struct driver *d, const struct cli_options *o)
{
    struct wire_mount mounts[LIMIT_MOUNTS];
    BUF_AUTO struct buf policy;
    buf_init(&policy, 4 * LIMIT_POLICY_TEXT);
    if (o->policy)
        policy_format(o->policy, &policy);
    for (uint32_t i = 0; i < o->n_mounts; i++)
        mounts[i] = (struct wire_mount){str_c(o->mounts[i].guest), o->mounts[i].flags};
    const struct wire_create m = {
        .user = str_c(o->user),
        .cwd = str_c(o->workdir),
        .limits = o->limits,
        .host_uid = geteuid(),
        .host_gid = getegid(),
        .mounts = mounts,
        .n_mounts = o->n_mounts,
        .kept = o->session != NULL,
        .fresh = d->keep.fresh,
        .durable = o->durable,
        .recheck = d->keep.ses.recheck,
        .id = str_c(d->keep.ses.id),
        .config = buf_str(&d->keep.config),
        .policy = buf_str(&policy),
        .over = buf_str(&d->keep.over),
    };
    wire_put_create(chan_scratch(&d->worker.chan), &m);
    if (chan_send_scratch(&d->worker.chan, WIRE_CREATE))
        d->gone = true;
}

static void note_ready(struct driver *d, struct str body)
{
    struct wire_ready m;
    d->ready_seen = true;
    if (wire_get_ready(body, &m)) {
        d->gone = true;
        return;
    }
    for (int p = 0; p < CONFINE_PARTS && !d->opts->quiet; p++) {
        if (m.missing >> p & 1 && confine_part_matters((enum confine_part)p))
            cli_error("warning: the worker runs without %s (see frontal-sandbox doctor)",
                      confine_part_name((enum confine_part)p));
    }
}

/* Takes a message that comes beside what is asked: whether it is one. */
static bool take_aside(struct driver *d, uint32_t type, struct str body)
{
    if (type == WIRE_READY)
        note_ready(d, body);
    else if (type != WIRE_COMPILE)
        return false;
    else if (modules_take(&d->modules, &d->worker.chan, body))
        d->gone = true;
    return true;
}

/* The next message that is no such, waiting for it: its type, or 0 when the worker is gone. */
static uint32_t next_message(struct driver *d, struct str *body)
{
    uint32_t type = 0;
    int r;
    do
        r = chan_recv(&d->worker.chan, true, &type, body);
    while (r == -EINTR || (r == 1 && take_aside(d, type, *body) && !d->gone));
    if (r != 1 || d->gone) {
        d->gone = true;
        return 0;
    }
    return type;
}

/* The worker and its session; a new one is not visible to others yet. */
static int begin(struct driver *d, struct cli_options *o, struct err *err)
{
    *d = (struct driver){.opts = o, .sigfd = -1, .started = clock_wall(), .deadline = INT64_MAX};
    modules_init(&d->modules);
    for (int i = 1; i <= 2; i++) {
        d->streams[i].fd = i;
        buf_init(&d->streams[i].kept, KEPT_MAX);
    }
    int r = cli_policy_apply(o, err);
    if (r == 0 && o->session)
        r = cli_keep_open(o, &d->keep, err);
    if (r)
        return r;
    /* A session that exists brings its own. */
    if (o->session && !d->keep.fresh && cli_policy_apply(o, err)) {
        cli_keep_close(&d->keep);
        return err->code;
    }
    int fds[LIMIT_MOUNTS];
    for (uint32_t i = 0; i < o->n_mounts; i++)
        fds[i] = o->mounts[i].fd;
    d->sigfd = open_signals(o->interactive);
    d->interactive = o->interactive;
    if (d->sigfd < 0)
        return err_set(err, d->sigfd, "cannot watch signals: %s", errtab_text(d->sigfd));
    FD_AUTO int userland_fd = cli_userland_open();
    const struct worker_config cfg = {
        .mount_fds = fds,
        .n_mounts = o->n_mounts,
        .memory_ceiling = ceiling(&o->limits, userland_fd >= 0 || cli_own_modules(o)),
        .kept = o->session != NULL,
        .store_fd = d->keep.store_fd,
        .trace_fd = d->keep.ses.trace_fd,
        .lock_fd = d->keep.ses.lock_fd,
        .userland_fd = userland_fd,
        .own_modules = cli_own_modules(o),
        .programs = programs(&o->limits),
    };
    r = worker_spawn(&cfg, &d->worker, err);
    if (r && o->session)
        cli_keep_close(&d->keep);
    if (r)
        return r;
    send_create(d, o);
    struct str body;
    struct wire_reply rep;
    if (next_message(d, &body) != WIRE_REPLY || wire_get_reply(body, &rep))
        return err_set(err, -EPIPE, "the worker ended before it was ready");
    if (rep.error)
        return err_set(err, rep.error, "%.*s", (int)rep.message.n, rep.message.p);
    return 0;
}

int driver_start(struct driver *d, struct cli_options *o, struct err *err)
{
    for (;;) {
        int r = begin(d, o, err);
        if (r || !o->session)
            return r;
        r = cli_keep_commit(&d->keep, err);
        if (r != -EEXIST)
            return r;
        /* Another first run made a session of this name meanwhile. Nothing has run in ours: this run is one of the
         * other's session, as if it had come a moment later. */
        driver_end(d, NULL);
    }
}

void driver_end(struct driver *d, int *ret_status)
{
    modules_done(&d->modules);
    int status = worker_end(&d->worker);
    if (d->opts->session)
        cli_keep_close(&d->keep);
    if (ret_status)
        *ret_status = status;
    fd_close(&d->sigfd);
    for (int i = 1; i <= 2; i++)
        buf_done(&d->streams[i].kept);
}

/* ---- output ---- */

/* Writes without blocking: count, or -EAGAIN, or another error. Where the kernel cannot promise that (a terminal), what
 * poll() calls writable is written in pieces that fit. */
static ssize_t write_some(int fd, struct str s)
{
    struct iovec v = {(void *)(uintptr_t)s.p, s.n};
    ssize_t n = pwritev2(fd, &v, 1, -1, RWF_NOWAIT);
    if (n >= 0)
        return n;
    if (errno == EAGAIN) {
        struct stat st;
        if (fstat(fd, &st) || !S_ISREG(st.st_mode))
            return -EAGAIN;
    } else if (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS && errno != ESPIPE) {
        return -errno;
    }
    struct pollfd p = {fd, POLLOUT, 0};
    if (poll(&p, 1, 0) == 0)
        return -EAGAIN;
    n = write(fd, s.p, s.n < 4096 ? s.n : 4096);
    return n < 0 ? -errno : n;
}

static void stream_closed(struct driver *d, int stream)
{
    d->streams[stream].closed = true;
    wire_put_number(chan_scratch(&d->worker.chan), (uint32_t)stream);
    if (chan_send_scratch(&d->worker.chan, WIRE_CLOSE))
        d->gone = true;
}

/* Writes what was received; true when all of it is written. */
static bool drain(struct driver *d)
{
    struct cli_stream *st = &d->streams[d->out_stream];
    while (d->out_rest.n && !st->closed) {
        ssize_t n = write_some(st->fd, d->out_rest);
        if (n == -EAGAIN)
            return false;
        if (n == -EINTR)
            continue;
        if (n < 0) {
            d->streams[d->out_stream].failed = n != -EPIPE;
            if (n != -EPIPE)
                cli_error("writing standard %s: %s", d->out_stream == 1 ? "output" : "error", errtab_text((int)n));
            stream_closed(d, d->out_stream);
            break;
        }
        d->out_rest = str_from(d->out_rest, (size_t)n);
    }
    d->out_rest.n = 0;
    return true;
}

static void take_output(struct driver *d, struct str body)
{
    struct wire_output m;
    if (wire_get_output(body, &m)) {
        d->gone = true;
        return;
    }
    struct cli_stream *st = &d->streams[m.stream];
    st->total += m.data.n;
    if (st->fd < 0) {
        size_t room = st->kept.max - st->kept.n;
        buf_add(&st->kept, m.data.p, m.data.n < room ? m.data.n : room);
        return;
    }
    d->out_stream = m.stream;
    d->out_rest = m.data;
    (void)drain(d); /* the rest is written when poll() says so */
}

/* ---- input ---- */

static void send_input(struct driver *d)
{
    char block[LIMIT_MSG_DATA];
    ssize_t n = read(STDIN_FILENO, block, sizeof(block));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    d->want_input = false;
    int r;
    if (n > 0) {
        r = chan_send(&d->worker.chan, WIRE_STDIN, str_of(block, (size_t)n));
    } else {
        /* A terminal's ^D ends one read; the next command of an interactive session reads again. */
        d->input_ended = !d->interactive;
        r = chan_send(&d->worker.chan, WIRE_STDIN_EOF, str_of(NULL, 0));
    }
    if (r)
        d->gone = true;
}

/* ---- signals ---- */

static void send_number(struct driver *d, uint32_t type, uint32_t v)
{
    wire_put_number(chan_scratch(&d->worker.chan), v);
    if (chan_send_scratch(&d->worker.chan, type))
        d->gone = true;
}

uint32_t driver_window(void)
{
    struct winsize ws;
    for (int fd = 0; fd <= 2; fd++) {
        if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_row)
            return (uint32_t)ws.ws_row << 16 | ws.ws_col;
    }
    return 0;
}

void driver_resize(struct driver *d)
{
    uint32_t now = driver_window();
    if (now != d->window)
        send_number(d, WIRE_RESIZE, now);
    d->window = now;
}

static void take_signals(struct driver *d)
{
    struct signalfd_siginfo si;
    while (read(d->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
        if (si.ssi_signo == SIGWINCH) {
            driver_resize(d);
            continue;
        }
        d->interrupts++;
        send_number(d, WIRE_SIGNAL, si.ssi_signo | (d->interactive ? 0 : UINT32_C(1) << 31));
        if (d->interrupts == INTERRUPTS_TO_KILL && !d->interactive) {
            cli_error("interrupted %d times: the worker is killed", d->interrupts);
            (void)kill(d->worker.pid, SIGKILL);
        }
        if (si.ssi_signo == SIGTERM || si.ssi_signo == SIGHUP)
            d->deadline = clock_mono() + GRACE;
    }
}

/* Keys pressed at the prompt were for the line editor. */
static void forget_signals(struct driver *d)
{
    struct signalfd_siginfo si;
    while (d->interactive && read(d->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
        if (si.ssi_signo == SIGTERM || si.ssi_signo == SIGHUP)
            d->deadline = clock_mono() + GRACE;
}

/* ---- the loop ---- */

static void copy_result(struct str body, struct wire_result *ret, struct buf *text, struct driver *d)
{
    buf_clear(text);
    if (buf_adds(text, body) || wire_get_result(buf_str(text), ret))
        d->gone = true;
}

/* Takes messages until the result (true), or none is left to take now. */
static bool take_messages(struct driver *d, struct wire_result *ret, struct buf *text)
{
    uint32_t type;
    struct str body;
    int r = 0;
    while (!d->gone && d->out_rest.n == 0 && (r = chan_recv(&d->worker.chan, false, &type, &body)) == 1) {
        if (type == WIRE_RESULT) {
            copy_result(body, ret, text, d);
            return !d->gone;
        }
        if (type == WIRE_OUTPUT)
            take_output(d, body);
        else if (type == WIRE_WANT)
            d->want_input = true;
        else if (!take_aside(d, type, body))
            d->gone = true;
        if (d->want_input && d->input_ended) {
            d->want_input = false;
            if (chan_send(&d->worker.chan, WIRE_STDIN_EOF, str_of(NULL, 0)))
                d->gone = true;
        }
    }
    if (r < 0)
        d->gone = true;
    return false;
}

static int wait_ms(const struct driver *d)
{
    int64_t until = NUM_MIN(d->deadline, modules_deadline(&d->modules));
    if (until == INT64_MAX)
        return -1;
    int64_t ms = (until - clock_mono()) / CLOCK_MS + 1;
    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

static void check_deadline(struct driver *d)
{
    if (d->deadline == INT64_MAX || clock_mono() < d->deadline)
        return;
    d->killed_late = true;
    d->deadline = INT64_MAX;
    (void)kill(d->worker.pid, SIGKILL);
    d->gone = true;
}

static void turn(struct driver *d)
{
    struct pollfd p[5];
    nfds_t n = 0;
    bool full = d->out_rest.n > 0;
    p[n++] = (struct pollfd){d->sigfd, POLLIN, 0};
    p[n++] = (struct pollfd){d->worker.chan.fd, full ? 0 : POLLIN, 0};
    nfds_t in = 0, out = 0;
    if (d->want_input)
        p[in = n++] = (struct pollfd){STDIN_FILENO, POLLIN, 0};
    if (full)
        p[out = n++] = (struct pollfd){d->streams[d->out_stream].fd, POLLOUT, 0};
    if (modules_fd(&d->modules) >= 0)
        p[n++] = (struct pollfd){modules_fd(&d->modules), POLLIN, 0};
    if (poll(p, n, wait_ms(d)) < 0)
        return;
    if (p[0].revents)
        take_signals(d);
    if (in && p[in].revents)
        send_input(d);
    if (out && p[out].revents)
        (void)drain(d); /* what is left is tried again */
    if (modules_turn(&d->modules, &d->worker.chan))
        d->gone = true;
    check_deadline(d);
}

static void lost(struct driver *d, struct wire_result *ret)
{
    *ret = (struct wire_result){.outcome = {.kind = OUTCOME_LOST, .reason = REASON_CRASH}};
    bool timeout = d->killed_late && d->opts->limits.wall_ms && d->interrupts == 0;
    if (timeout || d->interrupts) {
        ret->outcome.kind = OUTCOME_KILLED;
        ret->outcome.signal = SIGKILL;
        ret->outcome.reason = timeout ? REASON_TIMEOUT : REASON_SIGNAL;
    }
}

void driver_wait(struct driver *d, struct wire_result *ret, struct buf *text)
{
    if (d->opts->limits.wall_ms)
        d->deadline = clock_mono() + (int64_t)d->opts->limits.wall_ms * CLOCK_MS + GRACE;
    d->interrupts = 0;
    forget_signals(d);
    while (!d->gone) {
        if (take_messages(d, ret, text)) {
            d->deadline = INT64_MAX;
            return;
        }
        if (!d->gone)
            turn(d);
    }
    lost(d, ret);
}

void driver_exec(struct driver *d, const struct wire_exec *e, struct wire_result *ret, struct buf *text)
{
    d->window = (uint32_t)e->rows << 16 | e->cols;
    wire_put_exec(chan_scratch(&d->worker.chan), e);
    if (chan_send_scratch(&d->worker.chan, WIRE_EXEC))
        d->gone = true;
    driver_wait(d, ret, text);
}

/* ---- requests ---- */

int driver_fs_send(struct driver *d, struct str requests)
{
    if (d->gone || chan_send(&d->worker.chan, WIRE_FS, requests)) {
        d->gone = true;
        return -EPIPE;
    }
    return 0;
}

int driver_fs_reply(struct driver *d, struct wire_reply *ret)
{
    struct str body;
    if (d->gone || next_message(d, &body) != WIRE_REPLY || wire_get_reply(body, ret)) {
        d->gone = true;
        return -EPIPE;
    }
    return 0;
}

int driver_fs(struct driver *d, const struct wire_fs *q, struct wire_reply *ret)
{
    struct buf *out = chan_scratch(&d->worker.chan);
    wire_put_fs(out, q);
    if (out->err)
        d->gone = true;
    int r = driver_fs_send(d, buf_str(out));
    return r ? r : driver_fs_reply(d, ret);
}

int driver_diff(struct driver *d, bool text, struct str prefix, int (*fn)(void *arg, const struct wire_change *c),
                void *arg, struct err *err)
{
    const struct wire_diff q = {text, prefix};
    wire_put_diff(chan_scratch(&d->worker.chan), &q);
    if (d->gone || chan_send_scratch(&d->worker.chan, WIRE_DIFF))
        return err_set(err, -EPIPE, "the worker is gone; what changed is not known");
    struct str body;
    uint32_t type;
    int r = 0;
    while ((type = next_message(d, &body)) == WIRE_CHANGE) {
        struct wire_change c;
        if (wire_get_change(body, &c))
            break;
        if (r == 0)
            r = fn(arg, &c);
    }
    struct wire_reply rep;
    if (type != WIRE_REPLY || wire_get_reply(body, &rep))
        return err_set(err, -EPIPE, "the worker is gone; what changed is not known");
    if (rep.error)
        return err_set(err, rep.error, "listing the changes: %.*s", (int)rep.message.n, rep.message.p);
    return r;
}

int driver_query(struct driver *d, enum wire_query_kind kind, struct str text, struct wire_answer *ret)
{
    const struct wire_query q = {kind, text};
    struct str body;
    wire_put_query(chan_scratch(&d->worker.chan), &q);
    if (d->gone || chan_send_scratch(&d->worker.chan, WIRE_QUERY))
        return -EPIPE;
    /* Jobs in the background may print meanwhile. */
    uint32_t type;
    while ((type = next_message(d, &body)) == WIRE_OUTPUT) {
        take_output(d, body);
        while (d->out_rest.n && !d->gone)
            turn(d);
    }
    return type == WIRE_ANSWER && wire_get_answer(body, ret) == 0 ? 0 : -EPIPE;
}
