/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "policy/policy.h"
#include "session/journal.h"
#include "session/replay.h"
#include "types/errtab.h"
#include "vfs/vfs.h"
#include "worker/userland.h"

struct serving;

/* A session that is open. */
struct hosted {
    struct serving *w;
    uint32_t number;
    struct session *session;
    struct journal *journal; /* of a session that is kept: it owns the session */
    struct session_host host;
    char *pending; /* output not sent yet: LIMIT_MSG_DATA bytes; NULL until there is some (pending_get()) */
    struct policy policy; /* of the session */
    size_t n_pending;
    int stream;             /* which stream it is of */
    bool refused;           /* a process was told to wait with its output: it must hear when there is room */
    bool wanted, asked;     /* a process waits for input; WANT was sent */
    int64_t flushed;        /* when output was last sent */
    int64_t unsynced_since; /* when something was first answered that is not on the disk; 0: all is */
    bool running;
    bool due;     /* something has come for it: it gets a turn */
    bool syncing; /* its log is in the SYNC that is not answered */
    bool parking; /* it is closed when all of it is on the disk */
    int64_t wake; /* when it wants one by itself */
};

struct serving {
    struct chan chan;
    struct vfs *tmpl;
    const struct worker_config *cfg;
    struct userland *userland;
    struct journal_store *store;                /* of many sessions; opened for the first */
    uint32_t n_mounts;                          /* descriptors that are not a session's yet */
    struct hosted *open[LIMIT_WORKER_SESSIONS]; /* by number */
    uint32_t n_open;                            /* no number from here on is in use */
    char *spare;                                /* a buffer for the pending output of whoever prints next, or NULL */
    bool blocked;                               /* the socket was full */
    bool sync_asked;                            /* SYNC is not answered */
    int fatal;                                  /* negative errno: leave */
};

#define FLUSH_EVERY (5 * CLOCK_MS)
#define SYNC_AFTER_MS WORKER_QUIET_MS /* of quiet */
#define SYNC_AT_LAST (100 * CLOCK_MS) /* however busy the client is */
#define SYNC_MANY CLOCK_S             /* the same, where other sessions wait meanwhile */

/* ---- output ---- */

/* One message of output: 0, -EAGAIN (never with @wait), or an error, which ends the worker. */
static int send_output(struct hosted *h, int stream, struct str data, bool wait)
{
    struct serving *w = h->w;
    if (h->running && h->journal)
        journal_show(h->journal);
    struct buf *b = chan_scratch(&w->chan);
    w->chan.to = h->number;
    wire_put_output_head(b, (uint8_t)stream, data.n);
    if (wait)
        buf_adds(b, data);
    int r = b->err;
    if (r == 0)
        r = wait ? chan_send(&w->chan, WIRE_OUTPUT, buf_str(b))
                 : chan_try_send(&w->chan, WIRE_OUTPUT, buf_str(b), data);
    w->blocked = r == -EAGAIN;
    if (r == 0)
        h->flushed = clock_mono();
    else if (r != -EAGAIN)
        w->fatal = r;
    return r;
}

static int flush(struct hosted *h, bool wait)
{
    if (h->n_pending == 0)
        return 0;
    int r = send_output(h, h->stream, str_of(h->pending, h->n_pending), wait);
    if (r == 0)
        h->n_pending = 0;
    return r;
}

/* One buffer goes from exec to exec. Freeing that much each time makes the allocator put all its free pieces together,
 * which then have to be cut anew: a tenth of a short exec. */
static void pending_get(struct hosted *h)
{
    h->pending = h->w->spare ? h->w->spare : mem_alloc(LIMIT_MSG_DATA);
    h->w->spare = NULL;
}

static void pending_put(struct hosted *h)
{
    if (h->w->spare)
        mem_free(h->pending);
    else
        h->w->spare = h->pending;
    h->pending = NULL;
}

/* Little pieces are collected; one that fills a message is sent from where it lies. */
static ssize_t take_output(void *arg, int stream, const void *p, size_t n)
{
    struct hosted *h = arg;
    bool whole = n >= LIMIT_MSG_DATA;
    int r = 0;
    if (h->n_pending && (whole || stream != h->stream || h->n_pending == LIMIT_MSG_DATA))
        r = flush(h, false);
    if (r == 0 && whole)
        r = send_output(h, stream, str_of(p, LIMIT_MSG_DATA), false);
    h->refused |= r == -EAGAIN;
    if (r)
        return r == -EAGAIN ? -EAGAIN : -EPIPE;
    if (whole)
        return LIMIT_MSG_DATA;
    if (!h->pending)
        pending_get(h);
    size_t room = LIMIT_MSG_DATA - h->n_pending;
    size_t take = n < room ? n : room;
    memcpy(h->pending + h->n_pending, p, take);
    h->n_pending += take;
    h->stream = stream;
    return (ssize_t)take;
}

/* ---- replies ---- */

static void send_scratch(struct serving *w, uint32_t type, uint32_t to)
{
    w->chan.to = to;
    int r = chan_send_scratch(&w->chan, type);
    if (r)
        w->fatal = r;
}

static void reply(struct serving *w, uint32_t to, const struct wire_reply *m)
{
    wire_put_reply(chan_scratch(&w->chan), m);
    send_scratch(w, WIRE_REPLY, to);
}

static void reply_error(struct serving *w, uint32_t to, int error, const char *text)
{
    const struct wire_reply m = {.error = error, .message = str_c(text)};
    reply(w, to, &m);
}

#define WITH_RESULT 8192u /* bytes of output that RESULT takes along */

static void send_result(struct hosted *h, const struct wire_result *m)
{
    struct wire_result all = *m;
    if (h->w->cfg->many && h->n_pending && h->n_pending <= WITH_RESULT) {
        all.stream = (uint8_t)h->stream;
        all.output = str_of(h->pending, h->n_pending);
        h->n_pending = 0;
    } else if (flush(h, true)) {
        return;
    }
    wire_put_result(chan_scratch(&h->w->chan), &all);
    send_scratch(h->w, WIRE_RESULT, h->number);
}

/* ---- sessions ---- */

static void want_input(void *arg)
{
    struct hosted *h = arg;
    h->wanted = true;
}

static void attend(void *arg);

static struct hosted *hosted_new(struct serving *w, uint32_t number)
{
    struct hosted *h = mem_zalloc(sizeof(*h));
    h->w = w;
    h->number = number;
    h->host = (struct session_host){.arg = h, .output = take_output, .want_input = want_input, .attend = attend};
    return h;
}

/* Everything of it is on the disk after this. */
static void hosted_free(struct hosted *h)
{
    if (h->journal)
        journal_close(h->journal);
    else
        session_free(h->session);
    policy_done(&h->policy);
    mem_free(h->pending);
    mem_free(h);
}

/* The log and the lock: those the worker was started with, or that came with the message. */
static int open_journal(struct hosted *h, const struct wire_create *m, const struct session_config *cfg,
                        struct err *err)
{
    struct serving *w = h->w;
    if (!w->cfg->kept)
        return err_set(err, -EINVAL, "this worker was given no store");
    FD_AUTO int trace_fd = w->cfg->many ? chan_take_fd(&w->chan) : w->cfg->trace_fd;
    FD_AUTO int store_fd = w->cfg->many ? -1 : w->cfg->store_fd;
    FD_AUTO int lock_fd = w->cfg->many ? chan_take_fd(&w->chan) : -1; /* else it stays as long as the worker */
    if (trace_fd < 0 || (w->cfg->many && lock_fd < 0))
        return err_set(err, -EBADF, "the session's log did not come with its name");
    if (w->cfg->many && !w->store) {
        int r = journal_store_open(dup(w->cfg->store_fd), &w->store, err);
        if (r)
            return r;
    }
    const struct journal_config jc = {.shared = w->store,
                                      .store_fd = fd_steal(&store_fd),
                                      .trace_fd = fd_steal(&trace_fd),
                                      .lock_fd = fd_steal(&lock_fd),
                                      .fresh = m->fresh,
                                      .durable = m->durable,
                                      .lazy = w->cfg->many,
                                      .recheck = m->recheck,
                                      .changed = m->changed,
                                      .id = m->id,
                                      .config = m->config,
                                      .limits = m->over};
    int r = journal_open(&jc, w->tmpl, cfg, &h->host, &h->journal, err);
    if (r == 0)
        h->session = journal_session(h->journal);
    return r;
}

/* The session's policy into @p, from the text that came; *ret is NULL when it is empty. */
static int take_policy(struct policy *p, struct str text, const struct policy **ret, struct err *err)
{
    *ret = NULL;
    if (text.n == 0)
        return 0;
    policy_init(p);
    int r = policy_parse(p, text, err);
    if (r == 0)
        *ret = p;
    return r < 0 ? err_wrap(err, r, "policy") : 0;
}

/* ---- messages ---- */

static void on_create(struct serving *w, uint32_t number, struct str body)
{
    ARENA_AUTO struct arena a = {0};
    struct wire_create m;
    if (number >= LIMIT_WORKER_SESSIONS || w->open[number] || (number && !w->cfg->many) ||
        wire_get_create(body, &a, &m) || m.n_mounts != w->n_mounts) {
        w->fatal = -EBADMSG;
        return;
    }
    struct session_mount *mounts = arena_alloc(&a, (m.n_mounts + 1) * sizeof(*mounts));
    for (uint32_t i = 0; i < m.n_mounts; i++)
        mounts[i] = (struct session_mount){m.mounts[i].guest, m.mounts[i].flags, w->cfg->mount_fds[i]};
    struct session_config cfg = {
        .user = m.user,
        .cwd = m.cwd,
        .limits = m.limits,
        .host_uid = m.host_uid,
        .host_gid = m.host_gid,
        .mounts = mounts,
        .n_mounts = m.n_mounts,
        .userland = &w->userland->session,
    };
    struct err err = {0};
    struct hosted *h = hosted_new(w, number);
    int r = take_policy(&h->policy, m.policy, &cfg.policy, &err);
    if (r == 0)
        r = m.kept ? open_journal(h, &m, &cfg, &err) : session_new(w->tmpl, &cfg, &h->host, &h->session, &err);
    w->n_mounts = 0; /* the descriptors are the session's now, or closed */
    if (r) {
        hosted_free(h);
    } else {
        w->open[number] = h;
        w->n_open = number < w->n_open ? w->n_open : number + 1;
    }
    reply_error(w, number, r, r ? err.text : "");
}

static void close_hosted(struct hosted *h)
{
    struct serving *w = h->w;
    uint32_t number = h->number;
    w->open[number] = NULL;
    hosted_free(h);
    reply_error(w, number, 0, "");
}

/* Only an idle session is parked: whoever wants it sooner ends what runs, and hears of that. */
static void on_park(struct hosted *h, struct str body)
{
    struct serving *w = h->w;
    uint32_t stays;
    if (h->running || h->parking || wire_get_number(body, &stays)) {
        w->fatal = -EBADMSG;
        return;
    }
    int r = h->journal ? journal_settle_touched(h->journal) : 0;
    if (stays)
        reply_error(w, h->number, r, r ? errtab_text(r) : "");
    else if (w->cfg->many && h->journal && journal_dirty(h->journal))
        h->parking = true; /* others go on while the disk is waited for */
    else
        close_hosted(h);
}

static void on_exec(struct hosted *h, struct str body)
{
    ARENA_AUTO struct arena a = {0};
    struct wire_exec m;
    if (wire_get_exec(body, &a, &m)) {
        h->w->fatal = -EBADMSG;
        return;
    }
    struct err err = {0};
    h->wanted = h->asked = false;
    int r = h->journal ? journal_exec(h->journal, &m, &err) : session_exec(h->session, &m, &err);
    if (r) {
        const struct wire_result res = {.error = r, .message = str_c(err.text)};
        send_result(h, &res);
        return;
    }
    h->running = true;
}

static void on_input(struct hosted *h, struct str body)
{
    h->asked = h->wanted = false;
    if (body.n > session_input_room(h->session)) {
        /* Only what was asked for may come; the end of an exec may cross with it. */
        if (session_input_room(h->session) > 0)
            h->w->fatal = -EBADMSG;
        return;
    }
    (void)session_input(h->session, body); /* fits: looked at above */
}

static int send_change(void *arg, const struct wire_change *c)
{
    struct hosted *h = arg;
    wire_put_change(chan_scratch(&h->w->chan), c);
    send_scratch(h->w, WIRE_CHANGE, h->number);
    return h->w->fatal;
}

static void on_diff(struct hosted *h, struct str body)
{
    struct wire_diff m;
    if (wire_get_diff(body, &m)) {
        h->w->fatal = -EBADMSG;
        return;
    }
    int r = session_diff(h->session, m.text, m.prefix, send_change, h);
    if (h->w->fatal == 0)
        reply_error(h->w, h->number, r, r ? errtab_text(r) : "");
}

static void on_batch(struct hosted *h, struct str requests)
{
    struct wire_reply rep;
    h->w->fatal =
        h->journal ? journal_batch(h->journal, requests, &rep) : session_fs_batch(h->session, requests, &rep);
    if (h->w->fatal == 0)
        reply(h->w, h->number, &rep);
}

static void on_fs(struct hosted *h, struct str body)
{
    struct wire_reply rep;
    uint32_t i = 0;
    do {
        struct wire_fs m;
        if (wire_get_fs(&body, &m)) {
            h->w->fatal = -EBADMSG;
            return;
        }
        if (m.op == WIRE_FS_BATCH && i == 0) {
            on_batch(h, body);
            return;
        }
        session_fs(h->session, &m, &rep);
        if (h->journal && wire_fs_changes(m.op))
            journal_touched(h->journal);
        if (rep.error)
            rep.data = m.path;
        rep.index = i++;
    } while (rep.error == 0 && body.n);
    reply(h->w, h->number, &rep);
}

static void on_line(struct hosted *h, struct str body)
{
    /* The first byte tells a line from the end of input. */
    if (body.n == 0) {
        h->w->fatal = -EBADMSG;
        return;
    }
    struct str line = str_from(body, 1);
    bool end = body.p[0] == 1;
    struct err err = {0};
    int r = h->journal ? journal_line(h->journal, line, end, &err) : session_line(h->session, line, end);
    if (r) {
        const struct wire_result res = {.error = r, .message = str_c(err.text[0] ? err.text : errtab_text(r))};
        send_result(h, &res);
        return;
    }
    h->running = true;
}

static void on_query(struct hosted *h, struct str body)
{
    struct wire_query m;
    struct wire_answer ans = {0};
    if (wire_get_query(body, &m)) {
        h->w->fatal = -EBADMSG;
        return;
    }
    if (session_query(h->session, &m, &ans))
        ans = (struct wire_answer){0};
    wire_put_answer(chan_scratch(&h->w->chan), &ans);
    send_scratch(h->w, WIRE_ANSWER, h->number);
}

static void on_number(struct hosted *h, enum wire_type type, struct str body)
{
    uint32_t v;
    if (wire_get_number(body, &v) || (type == WIRE_KILL && v > REASON_CRASH)) {
        h->w->fatal = -EBADMSG;
        return;
    }
    if (type == WIRE_SIGNAL)
        session_signal(h->session, (int)(v & 0x7f), v >> 31);
    else if (type == WIRE_RESIZE)
        session_resize(h->session, (uint16_t)(v >> 16), (uint16_t)v);
    else if (type == WIRE_KILL)
        session_kill(h->session, (enum outcome_reason)v);
    else
        session_close_output(h->session, (int)v);
}

static int send_replayed(void *arg, const struct replay_report *r)
{
    struct serving *w = arg;
    const struct wire_replayed m = {
        .seq = r->seq,
        .verdict = (uint8_t)r->verdict,
        .command = r->command,
        .what = r->what,
        .recorded = r->recorded,
        .replayed = r->replayed,
        .files = r->files,
        .recorded_us = r->recorded_us,
        .replayed_us = r->replayed_us,
    };
    wire_put_replayed(chan_scratch(&w->chan), &m);
    send_scratch(w, WIRE_REPLAYED, 0);
    return w->fatal;
}

/* Carries the whole log out; nothing else is listened to meanwhile, and the driver ends it by ending us. */
static void on_replay(struct serving *w, struct str body)
{
    ARENA_AUTO struct arena a = {0};
    struct wire_replay m;
    struct err err = {0};
    struct cas *store = NULL;
    struct trace *t = NULL;
    if (wire_get_replay(body, &m) || !w->cfg->kept) {
        w->fatal = -EBADMSG;
        return;
    }
    m.user = arena_str(&a, m.user); /* a module that is compiled meanwhile comes as a message, too */
    struct session_config sc = {.user = m.user, .limits = m.limits, .userland = &w->userland->session};
    struct policy policy = {0};
    int r = take_policy(&policy, m.policy, &sc.policy, &err);
    if (r == 0)
        r = cas_open(w->cfg->store_fd, 0, &store, &err);
    if (r == 0)
        r = trace_open(w->cfg->trace_fd, 0, &t, NULL, &err);
    w->userland->ask.alone = true;
    if (r == 0)
        r = replay_run(store, t, w->tmpl, &sc, m.from, send_replayed, w, &err);
    trace_close(t);
    cas_close(store);
    policy_done(&policy);
    if (w->fatal == 0)
        reply_error(w, 0, r, r ? err.text : "");
}

/* ---- the disk, of many sessions ---- */

/* Waits for the disk is somebody else's: all that was answered, and is not there, in one go. False: it has to be done
 * here. */
static bool ask_for_sync(struct serving *w)
{
    int fds[CHAN_FDS], n = 0;
    if (journal_store_sync_begin(w->store, &fds[0]))
        return false;
    n += fds[0] >= 0;
    for (uint32_t i = 0; i < 2 * w->n_open && n < CHAN_FDS; i++) {
        struct hosted *h = w->open[i % w->n_open];
        bool first = i < w->n_open; /* those that are waited for */
        if (!h || h->syncing || h->running || !h->journal || h->parking != first || !journal_dirty(h->journal) ||
            journal_sync_begin(h->journal, &fds[n]))
            continue;
        h->syncing = true;
        h->unsynced_since = 0;
        n++;
    }
    w->chan.to = 0;
    int r = chan_send_fds(&w->chan, WIRE_SYNC, fds, n);
    if (r)
        w->fatal = r;
    w->sync_asked = true;
    return true;
}

static void on_synced(struct serving *w, struct str body)
{
    uint32_t failed;
    if (!w->sync_asked || wire_get_number(body, &failed)) {
        w->fatal = -EBADMSG;
        return;
    }
    w->sync_asked = false;
    int result = failed ? -EIO : 0;
    for (uint32_t i = 0; i < w->n_open; i++) {
        if (w->open[i] && w->open[i]->syncing)
            journal_sync_end(w->open[i]->journal, result);
    }
    journal_store_sync_end(w->store, result);
    for (uint32_t i = 0; i < w->n_open && w->fatal == 0; i++) {
        struct hosted *h = w->open[i];
        bool was = h && h->syncing;
        if (h)
            h->syncing = false;
        if (was && h->parking)
            close_hosted(h); /* what failed is tried once more there */
    }
}

static void on_compiled(struct serving *w, struct str body)
{
    if (ask_answer(&w->userland->ask, body))
        w->fatal = -EBADMSG;
    /* Whoever it is for, and who waits for a turn to ask. */
    for (uint32_t i = 0; i < w->n_open && w->fatal == 0; i++) {
        if (w->open[i] && w->open[i]->running) {
            session_output_ready(w->open[i]->session);
            w->open[i]->due = true;
        }
    }
}

/* What is of no session that is open. */
static void on_other(struct serving *w, enum wire_type type, uint32_t number, struct str body)
{
    if (type == WIRE_CREATE)
        on_create(w, number, body);
    else if (type == WIRE_COMPILED)
        on_compiled(w, body);
    else if (type == WIRE_SYNCED)
        on_synced(w, body);
    else if (type == WIRE_REPLAY && w->n_open == 0)
        on_replay(w, body);
    else if (type == WIRE_EXEC || type == WIRE_FS || type == WIRE_PARK)
        reply_error(w, number, -ESRCH, "no session");
    else
        w->fatal = -EBADMSG;
}

static void on_message(struct serving *w, enum wire_type type, uint32_t number, struct str body)
{
    struct hosted *h = number < LIMIT_WORKER_SESSIONS ? w->open[number] : NULL;
    if (!h || type == WIRE_COMPILED || type == WIRE_SYNCED) {
        on_other(w, type, number, body);
        return;
    }
    h->due = true;
    switch (type) {
    case WIRE_EXEC:
        on_exec(h, body);
        break;
    case WIRE_STDIN:
        on_input(h, body);
        break;
    case WIRE_STDIN_EOF:
        session_input_end(h->session);
        break;
    case WIRE_SIGNAL:
    case WIRE_RESIZE:
    case WIRE_CLOSE:
    case WIRE_KILL:
        on_number(h, type, body);
        break;
    case WIRE_LINE:
        on_line(h, body);
        break;
    case WIRE_QUERY:
        on_query(h, body);
        break;
    case WIRE_FS:
        on_fs(h, body);
        break;
    case WIRE_DIFF:
        on_diff(h, body);
        break;
    case WIRE_PARK:
        on_park(h, body);
        break;
    case WIRE_CREATE: /* its number is in use */
    case WIRE_READY:
    case WIRE_REPLY:
    case WIRE_WANT:
    case WIRE_OUTPUT:
    case WIRE_RESULT:
    case WIRE_ANSWER:
    case WIRE_CHANGE:
    case WIRE_REPLAY: /* in place of a session */
    case WIRE_REPLAYED:
    case WIRE_COMPILE:
    case WIRE_COMPILED: /* of no session */
    case WIRE_SYNC:
    case WIRE_SYNCED: /* the same */
    case WIRE_TYPE_COUNT:
        w->fatal = -EBADMSG;
        break;
    }
}

static void receive(struct serving *w)
{
    uint32_t type;
    struct str body;
    int r = 0;
    while (w->fatal == 0 && (r = chan_recv(&w->chan, false, &type, &body)) == 1)
        on_message(w, (enum wire_type)type, w->chan.from, body);
    if (r < 0 && w->fatal == 0)
        w->fatal = r;
}

/* ---- the loop ---- */

/* Whether a session beside @h wants a turn. */
static bool others_due(const struct serving *w, const struct hosted *h)
{
    int64_t now = clock_mono();
    for (uint32_t i = 0; i < w->n_open; i++) {
        const struct hosted *o = w->open[i];
        if (o && o != h && o->running && (o->due || o->wake <= now))
            return true;
    }
    return false;
}

static void attend(void *arg)
{
    struct hosted *h = arg;
    struct serving *w = h->w;
    if (h->n_pending && !w->blocked && clock_mono() - h->flushed > FLUSH_EVERY)
        (void)flush(h, false);         /* a full socket is waited for in the loop */
    (void)ask_push(&w->userland->ask); /* the same */
    receive(w);
    if (w->fatal)
        session_kill(h->session, REASON_CRASH);
    else if (others_due(w, h))
        session_pause(h->session);
}

static void ask_for_input(struct hosted *h)
{
    if (!h->wanted || h->asked)
        return;
    h->asked = true;
    h->w->chan.to = h->number;
    int r = chan_send(&h->w->chan, WIRE_WANT, str_of(NULL, 0));
    if (r)
        h->w->fatal = r;
}

static int timeout_of(int64_t wake)
{
    if (wake == INT64_MAX)
        return -1;
    int64_t ms = (wake - clock_mono() + CLOCK_MS - 1) / CLOCK_MS;
    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

/* Lets a session run until it waits, has ended what it does, or another wants a turn. */
static void step(struct hosted *h)
{
    struct serving *w = h->w;
    h->due = false;
    if (session_step(h->session, &h->wake)) {
        struct wire_result res;
        h->running = false;
        h->wanted = false; /* nobody reads any more */
        /* Nobody is left to be answered, and it may have been ended for that, half done: it is lost. */
        if (w->fatal)
            return;
        session_result(h->session, &res);
        if (h->journal)
            journal_ended(h->journal, &res);
        send_result(h, &res);
        h->wake = INT64_MAX;
        if (h->pending)
            pending_put(h); /* an idle session holds nothing of it */
    } else if (h->journal) {
        journal_show(h->journal);
    }
}

/* Gives a turn to each session that wants one: when the next of them wants one. */
static int64_t step_all(struct serving *w)
{
    int64_t first = INT64_MAX, now = clock_mono();
    for (uint32_t i = 0; i < w->n_open && w->fatal == 0; i++) {
        struct hosted *h = w->open[i];
        if (!h)
            continue;
        if (h->running && (h->due || h->wake <= now))
            step(h);
        if (w->fatal)
            break;
        (void)flush(h, false); /* a full socket is waited for below, a broken one is fatal */
        ask_for_input(h);
        if (h->running && h->wake < first)
            first = h->wake;
        if (h->running && (h->due || (h->refused && !w->blocked)))
            first = 0;
    }
    return first;
}

/* What was answered goes to the disk a little later, so that several commands share one wait for it. When @quiet,
 * nobody has wanted anything for a while. What has to be done here is done for one session at a time. */
static void sync_some(struct serving *w, bool quiet)
{
    int64_t now = clock_mono();
    struct hosted *oldest = NULL;
    for (uint32_t i = 0; i < w->n_open; i++) {
        struct hosted *h = w->open[i];
        bool waits = h && h->unsynced_since && !h->running && !h->syncing;
        quiet |= waits && h->parking;
        if (waits && (!oldest || h->unsynced_since < oldest->unsynced_since))
            oldest = h;
    }
    if (!oldest || (!quiet && now - oldest->unsynced_since < (w->cfg->many ? SYNC_MANY : SYNC_AT_LAST)))
        return;
    if (w->cfg->many && ask_for_sync(w))
        return;
    /* It stays to be done when it fails, and closing tries again. */
    oldest->unsynced_since = journal_sync(oldest->journal) ? now : 0;
    if (oldest->parking)
        close_hosted(oldest);
}

/* Whether something idle is not on the disk, and can be brought there now. */
static bool unsynced(struct serving *w)
{
    bool any = false;
    for (uint32_t i = 0; i < w->n_open; i++) {
        struct hosted *h = w->open[i];
        if (!h || !h->journal || h->syncing)
            continue;
        if (!journal_dirty(h->journal))
            h->unsynced_since = 0;
        else if (h->unsynced_since == 0)
            h->unsynced_since = clock_mono();
        any |= h->unsynced_since && !h->running;
    }
    return any && !w->sync_asked;
}

/* There is room in the socket: what waits for that goes on. */
static void flush_all(struct serving *w)
{
    w->blocked = false;
    for (uint32_t i = 0; i < w->n_open && !w->blocked && w->fatal == 0; i++) {
        struct hosted *h = w->open[i];
        if (!h || flush(h, false) || !h->refused)
            continue;
        h->refused = false;
        h->due = true;
        session_output_ready(h->session);
    }
}

static void turn(struct serving *w)
{
    int64_t wake = step_all(w);
    if (w->fatal)
        return;
    bool sync = unsynced(w);
    int timeout = timeout_of(wake);
    if (sync && (timeout < 0 || timeout > SYNC_AFTER_MS))
        timeout = SYNC_AFTER_MS;
    bool room = w->blocked || ask_push(&w->userland->ask) == -EAGAIN;
    uint32_t type;
    struct str body;
    bool quiet = false, timed = sync && !room && timeout == SYNC_AFTER_MS;
    /* The socket's own time limit is this one: one call in place of two, between two execs of a client that goes on. */
    if (!timed)
        (void)chan_wait(&w->chan, true, room, timeout);
    int r = chan_recv(&w->chan, timed, &type, &body);
    quiet = timed && r == 0;
    if (sync)
        sync_some(w, quiet);
    flush_all(w);
    /* One message, then whoever it is for has a turn: that nothing else has come need not be asked. */
    if (r == 1)
        on_message(w, (enum wire_type)type, w->chan.from, body);
    else if (r < 0 && r != -EINTR && w->fatal == 0)
        w->fatal = r;
}

static int say_ready(struct serving *w, uint64_t applied, uint64_t missing, struct str notes)
{
    const struct wire_ready m = {WIRE_VERSION, applied, missing, notes};
    wire_put_ready(chan_scratch(&w->chan), &m);
    return chan_send_scratch(&w->chan, WIRE_READY);
}

static void free_all(struct serving *w)
{
    vfs_free(w->tmpl);
    chan_done(&w->chan);
    mem_free(w);
}

int worker_serve(int sock, const struct worker_config *cfg, struct userland *userland, uint64_t ready_applied,
                 uint64_t ready_missing, struct str notes)
{
    struct serving *w = mem_zalloc(sizeof(*w));
    chan_init(&w->chan, sock);
    w->chan.takes_fds = cfg->own_modules || cfg->many;
    userland->ask.chan = &w->chan;
    w->cfg = cfg;
    w->n_mounts = cfg->n_mounts;
    w->tmpl = session_template(&userland->session);
    w->userland = userland;
    w->fatal = w->tmpl ? say_ready(w, ready_applied, ready_missing, notes) : -ENOMEM;
    while (w->fatal == 0)
        turn(w);
    int r = w->fatal;
    for (uint32_t i = 0; i < w->n_open; i++) {
        /* The process ends now: freeing what it holds would only take time, unless a leak checker looks. */
        if (w->open[i] && (w->open[i]->journal || MEM_LEAK_CHECK))
            hosted_free(w->open[i]);
    }
    journal_store_close(w->store);
    mem_free(w->spare);
    if (MEM_LEAK_CHECK)
        free_all(w);
    return r == -EPIPE ? 0 : r;
}
