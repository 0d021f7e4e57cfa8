/* SPDX-License-Identifier: Apache-2.0 */

/* Workers: starting one, the queue of what its socket does not take yet, and its end. */

#include <errno.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"
#include "wasm/wasm.h"

#define MESSAGES_AT_ONCE 64     /* of one worker, then the others have a turn */
#define END_WAIT (10 * CLOCK_S) /* for a worker that was told to end: it writes what is not on the disk */
#define END_PAUSE (2 * CLOCK_MS)

/* ---- the watchdog ---- */

static int64_t patience(const struct link *l)
{
    uint32_t ms = l->tenant->s->cfg.silent_ms;
    return (int64_t)(ms ? ms : LIMIT_WORKER_SILENT_MS) * CLOCK_MS;
}

static void unwatch(struct link *l)
{
    sched_timer_cancel(l->tenant->s, l->watchdog);
    l->watchdog = NULL;
}

static void watch(struct link *l);

/* A worker looks at its messages about every millisecond, whatever its guests do. One that has neither read nor said
 * anything since the last look is broken, or was taken over. */
static void on_watchdog(void *arg)
{
    struct link *l = arg;
    int unread = 0;
    unwatch(l);
    if (ioctl(l->worker.chan.fd, SIOCOUTQ, &unread) || (unread == 0 && !l->head))
        return;
    if (unread >= l->unread_then && l->heard == l->heard_then) {
        sched__link_dead(l, "it does not read its messages");
        return;
    }
    watch(l);
}

/* From when there is something that it should read. */
static void watch(struct link *l)
{
    if (l->watchdog || l->dead)
        return;
    l->heard_then = l->heard;
    l->unread_then = 0;
    (void)ioctl(l->worker.chan.fd, SIOCOUTQ, &l->unread_then); /* 0 is the strictest */
    l->watchdog = sched_timer(l->tenant->s, clock_mono() + patience(l), on_watchdog, l);
}

/* ---- sending ---- */

static void frame_free(struct frame *f)
{
    for (int i = 0; i < CHAN_FDS; i++)
        fd_close(&f->fds[i]);
    mem_free(f);
}

static void drop_queue(struct link *l)
{
    while (l->head) {
        struct frame *f = l->head;
        l->head = f->next;
        frame_free(f);
    }
    l->tail = NULL;
    l->queued = 0;
}

static void poll_out(struct link *l, bool on)
{
    if (l->polls_out == on || l->dead)
        return;
    l->polls_out = on;
    sched__poll_change(l->tenant->s, l->worker.chan.fd, &l->source, EPOLLIN | (on ? EPOLLOUT : 0));
}

static int fds_of(const struct frame *f)
{
    int n = 0;
    while (n < CHAN_FDS && f->fds[n] >= 0)
        n++;
    return n;
}

static void push_queue(struct link *l)
{
    while (l->head && !l->dead) {
        struct frame *f = l->head;
        int r = chan_try_frame(&l->worker.chan, str_of(f->bytes, f->n), f->fds, fds_of(f));
        if (r == -EAGAIN)
            break;
        if (r) {
            sched__link_dead(l, "its socket is closed");
            return;
        }
        l->head = f->next;
        l->tail = l->head ? l->tail : NULL;
        l->queued -= f->n;
        frame_free(f);
    }
    poll_out(l, l->head != NULL);
}

static void enqueue(struct link *l, uint32_t type, uint32_t number, bool more, struct str part, int *fds, int n_fds)
{
    struct buf b;
    buf_init(&b, CHAN_FRAME);
    (void)chan_frame(&b, type, number, more, part); /* fits: parts are cut so */
    struct frame *f = mem_alloc(sizeof(*f) + b.n);
    *f = (struct frame){.n = b.n};
    for (int i = 0; i < CHAN_FDS; i++)
        f->fds[i] = i < n_fds ? fd_steal(&fds[i]) : -1;
    memcpy(f->bytes, b.p, b.n);
    buf_done(&b);
    *(l->tail ? &l->tail->next : &l->head) = f;
    l->tail = f;
    l->queued += f->n;
}

int sched__send(struct link *l, uint32_t type, uint32_t number, struct str body, int *fds, int n_fds)
{
    const size_t most = CHAN_FRAME - WIRE_HEADER;
    if (l->dead)
        return -EPIPE;
    if (l->queued + body.n > LIMIT_WORKER_QUEUE)
        return -EAGAIN;
    l->worker.chan.to = number;
    if (!l->head && n_fds == 0 && body.n <= most) {
        int r = chan_try_send(&l->worker.chan, type, body, (struct str){0});
        if (r == 0)
            watch(l);
        if (r == 0)
            return 0;
        if (r != -EAGAIN) {
            sched__link_dead(l, "its socket is closed");
            return -EPIPE;
        }
    }
    do {
        struct str part = str_of(body.p, body.n < most ? body.n : most);
        body = str_from(body, part.n);
        enqueue(l, type, number, body.n > 0, part, fds, body.n ? 0 : n_fds);
    } while (body.n);
    push_queue(l);
    watch(l);
    return l->dead ? -EPIPE : 0;
}

/* ---- receiving ---- */

static bool take_ready(struct link *l, struct str body)
{
    struct wire_ready m;
    struct sched *s = l->tenant->s;
    if (l->ready || wire_get_ready(body, &m) || m.version != WIRE_VERSION)
        return false;
    l->ready = true;
    s->has_ready = true;
    s->applied = m.applied;
    s->missing = m.missing;
    mem_free(s->notes);
    s->notes = mem_dup(m.notes.n ? m.notes.p : "", m.notes.n);
    return true;
}

struct sync_job {
    struct disk_job job;
    struct link *link; /* NULL when it is gone */
    int fds[CHAN_FDS], n;
    int error;
};

static void sync_files(struct disk_job *job)
{
    struct sync_job *j = (struct sync_job *)job;
    for (int i = 0; i < j->n; i++) {
        int r;
        do
            r = fdatasync(j->fds[i]);
        while (r && errno == EINTR);
        if (r && !j->error)
            j->error = -errno;
    }
}

static void files_synced(struct disk_job *job)
{
    struct sync_job *j = (struct sync_job *)job;
    struct link *l = j->link;
    BUF_AUTO struct buf b;
    buf_init(&b, 64);
    wire_put_number(&b, j->error != 0);
    for (int i = 0; i < j->n; i++)
        fd_close(&j->fds[i]);
    if (l)
        l->sync = NULL;
    mem_free(j);
    if (l && sched__send(l, WIRE_SYNCED, 0, buf_str(&b), NULL, 0) && !l->dead)
        sched__link_dead(l, "it takes no messages");
}

/* Its files wait for the disk on a thread of ours, as it has none. What is no file is no harm: the kernel says so. */
static bool take_sync(struct link *l, struct str body)
{
    if (l->sync || body.n)
        return false;
    struct sync_job *j = l->sync = mem_zalloc(sizeof(*j));
    j->job = (struct disk_job){NULL, sync_files, files_synced};
    j->link = l;
    while (j->n < CHAN_FDS && (j->fds[j->n] = chan_take_fd(&l->worker.chan)) >= 0)
        j->n++;
    sched__disk(l->tenant->s, DISK_SYNCS, &j->job);
    return true;
}

static bool take_message(struct link *l, uint32_t type, struct str body)
{
    uint32_t number = l->worker.chan.from;
    if (type == WIRE_SYNC)
        return take_sync(l, body);
    if (type == WIRE_READY)
        return take_ready(l, body);
    /* It compiles nothing: it was started without own_modules. */
    struct sched_session *s = number < LIMIT_WORKER_SESSIONS ? l->sessions[number] : NULL;
    return s && sched__session_message(s, type, body);
}

static void on_events(void *arg, uint32_t events)
{
    struct link *l = arg;
    uint32_t type;
    struct str body;
    int r = 0;
    if (l->dead)
        return;
    if (events & EPOLLOUT)
        push_queue(l);
    for (int i = 0; i < MESSAGES_AT_ONCE && !l->dead; i++) {
        r = chan_recv(&l->worker.chan, false, &type, &body);
        if (r != 1)
            break;
        l->heard++;
        if (!take_message(l, type, body) && !l->dead)
            sched__link_dead(l, "it sent what the protocol does not allow");
        if (l->n_running == 0)
            break; /* hardly anything more has come, and if so it is told again */
    }
    if (r < 0 && !l->dead)
        sched__link_dead(l, r == -EBADMSG ? "it sent a message that is none" : "its socket is closed");
}

/* ---- the end ---- */

static void unlink_it(struct link *l)
{
    if (l->sync)
        l->sync->link = NULL;
    l->sync = NULL;
    struct link **at = &l->tenant->links;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    l->tenant->n_links--;
    l->tenant->s->counts.workers--;
}

/* Waits for the process, and kills it when it takes too long. */
static void reap(pid_t pid)
{
    int64_t until = clock_mono() + END_WAIT;
    for (;;) {
        pid_t r = waitpid(pid, NULL, WNOHANG);
        if (r == pid || (r < 0 && errno != EINTR))
            return;
        if (clock_mono() > until)
            (void)kill(pid, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = END_PAUSE}, NULL);
    }
}

void sched__link_dead(struct link *l, const char *why)
{
    if (l->dead)
        return;
    struct sched *s = l->tenant->s;
    l->dead = true;
    unwatch(l);
    log_event(LOG_ERROR, "worker_lost", "tenant=%s pid=%d sessions=%u why=\"%s\"", l->tenant->name, (int)l->worker.pid,
              l->n_sessions, why);
    sched__poll_end(s, l->worker.chan.fd);
    (void)kill(l->worker.pid, SIGKILL);
    reap(l->worker.pid); /* its locks go with it, and its sessions may be wanted at once */
    drop_queue(l);
    unlink_it(l);
    l->next = s->graveyard;
    s->graveyard = l;
    s->counts.workers_lost++;
    for (uint32_t i = 0; i < LIMIT_WORKER_SESSIONS; i++) {
        if (l->sessions[i])
            sched__session_lost(l->sessions[i]);
    }
}

void sched__bury(struct sched *s)
{
    while (s->graveyard) {
        struct link *l = s->graveyard;
        s->graveyard = l->next;
        (void)worker_end(&l->worker); /* closes; the process was waited for */
        mem_free(l);
    }
}

void sched__link_free(struct link *l)
{
    pid_t pid = l->worker.pid;
    l->dead = true;
    unwatch(l);
    sched__poll_end(l->tenant->s, l->worker.chan.fd);
    drop_queue(l);
    unlink_it(l);
    for (uint32_t i = 0; i < LIMIT_WORKER_SESSIONS; i++) {
        if (l->sessions[i])
            sched__session_lost(l->sessions[i]);
    }
    (void)worker_end(&l->worker);
    reap(pid);
    mem_free(l);
}

/* ---- the beginning ---- */

/* All of the machine: what a session may use is its own limits' matter. */
static uint64_t ceiling(void)
{
    struct sysinfo si;
    if (MEM_LEAK_CHECK || sysinfo(&si))
        return 0;
    return (uint64_t)si.totalram * si.mem_unit + WASM_RESERVED;
}

struct link *sched__link_new(struct sched_tenant *t, struct err *err)
{
    FD_AUTO int store_fd = state_store_fd(t->state);
    if (store_fd < 0) {
        err_set(err, store_fd, "cannot open the store: %s", errtab_text(store_fd));
        return NULL;
    }
    const struct worker_config cfg = {
        .memory_ceiling = ceiling(),
        .kept = true,
        .many = true,
        .store_fd = store_fd,
        .trace_fd = -1,
        .lock_fd = -1,
        .userland_fd = t->s->cfg.userland_fd,
    };
    struct link *l = mem_zalloc(sizeof(*l));
    l->tenant = t;
    l->source = (struct source){on_events, l};
    sched__disk_hold(t->s, true);
    int r = worker_spawn(&cfg, &l->worker, err);
    sched__disk_hold(t->s, false);
    if (r == 0) {
        r = sched__poll(t->s, l->worker.chan.fd, &l->source, 0);
        if (r)
            err_set(err, r, "epoll: %s", errtab_text(r));
    }
    if (r) {
        pid_t pid = l->worker.pid;
        if (pid > 0) {
            (void)worker_end(&l->worker);
            reap(pid);
        }
        mem_free(l);
        return NULL;
    }
    l->worker.chan.takes_fds = true;
    l->next = t->links;
    t->links = l;
    t->n_links++;
    t->s->counts.workers++;
    return l;
}

static uint32_t free_number(const struct link *l)
{
    uint32_t i = 0;
    while (i < LIMIT_WORKER_SESSIONS && l->sessions[i])
        i++;
    return i;
}

/* The worker with the fewest sessions; one more is started when all have something running, up to the bound. */
struct link *sched__place(struct sched_tenant *t, uint32_t *ret_number, struct err *err)
{
    struct link *best = NULL;
    for (struct link *l = t->links; l; l = l->next) {
        if (!best || l->n_running < best->n_running ||
            (l->n_running == best->n_running && l->n_sessions < best->n_sessions))
            best = l;
    }
    if (!best || (t->n_links < t->s->cfg.workers && (best->n_running || best->n_sessions == LIMIT_WORKER_SESSIONS))) {
        struct link *more = sched__link_new(t, err);
        if (!more && !best)
            return NULL;
        best = more ? more : best;
    }
    uint32_t n = free_number(best);
    if (n == LIMIT_WORKER_SESSIONS && !sched__session_evict(best)) {
        err_set(err, -EAGAIN, "all places for sessions that run are taken: try again later");
        return NULL;
    }
    n = n == LIMIT_WORKER_SESSIONS ? free_number(best) : n;
    if (n == LIMIT_WORKER_SESSIONS) {
        err_set(err, -EAGAIN, "a place for the session is being made free: try again");
        return NULL;
    }
    *ret_number = n;
    return best;
}
