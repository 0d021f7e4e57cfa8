/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker.h"

#include <errno.h>
#include <sys/socket.h>

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

struct serving {
    struct chan chan;
    struct vfs *tmpl;
    struct session *session;
    struct journal *journal; /* of a session that is kept: it owns the session */
    struct session_host host;
    struct policy policy; /* of the session */
    bool has_policy;
    const struct worker_config *cfg;
    struct userland *userland;
    uint32_t n_mounts; /* descriptors that are not the session's yet */
    char *pending;     /* output not sent yet: LIMIT_MSG_DATA bytes */
    size_t n_pending;
    int stream;             /* which stream it is of */
    bool blocked;           /* the socket was full */
    bool refused;           /* a process was told to wait with its output: it must hear when there is room */
    bool wanted, asked;     /* a process waits for input; WANT was sent */
    int64_t flushed;        /* when output was last sent */
    int64_t unsynced_since; /* when something was first answered that is not on the disk; 0: all is */
    bool running;
    int fatal; /* negative errno: leave */
};

#define FLUSH_EVERY (5 * CLOCK_MS)
#define SYNC_AFTER_MS 5               /* of quiet */
#define SYNC_AT_LAST (100 * CLOCK_MS) /* however busy the client is */

/* ---- output ---- */

static int encode_output(struct serving *w, struct buf **ret)
{
    struct buf *b = chan_scratch(&w->chan);
    const struct wire_output m = {(uint8_t)w->stream, str_of(w->pending, w->n_pending)};
    wire_put_output(b, &m);
    *ret = b;
    return b->err;
}

static int flush(struct serving *w, bool wait)
{
    if (w->n_pending == 0)
        return 0;
    if (w->running && w->journal)
        journal_show(w->journal);
    struct buf *b;
    int r = encode_output(w, &b);
    if (r == 0)
        r = wait ? chan_send(&w->chan, WIRE_OUTPUT, buf_str(b)) : chan_try_send(&w->chan, WIRE_OUTPUT, buf_str(b));
    w->blocked = r == -EAGAIN;
    if (r == 0) {
        w->n_pending = 0;
        w->flushed = clock_mono();
    } else if (r != -EAGAIN) {
        w->fatal = r;
    }
    return r;
}

static ssize_t take_output(void *arg, int stream, const void *p, size_t n)
{
    struct serving *w = arg;
    if ((w->n_pending && stream != w->stream) || w->n_pending == LIMIT_MSG_DATA) {
        int r = flush(w, false);
        w->refused |= r == -EAGAIN;
        if (r)
            return r == -EAGAIN ? -EAGAIN : -EPIPE;
    }
    size_t room = LIMIT_MSG_DATA - w->n_pending;
    size_t take = n < room ? n : room;
    memcpy(w->pending + w->n_pending, p, take);
    w->n_pending += take;
    w->stream = stream;
    return (ssize_t)take;
}

/* ---- replies ---- */

static void send_scratch(struct serving *w, uint32_t type)
{
    int r = chan_send_scratch(&w->chan, type);
    if (r)
        w->fatal = r;
}

static void reply(struct serving *w, const struct wire_reply *m)
{
    wire_put_reply(chan_scratch(&w->chan), m);
    send_scratch(w, WIRE_REPLY);
}

static void reply_error(struct serving *w, int error, const char *text)
{
    const struct wire_reply m = {.error = error, .message = str_c(text)};
    reply(w, &m);
}

static void send_result(struct serving *w, const struct wire_result *m)
{
    if (flush(w, true))
        return;
    wire_put_result(chan_scratch(&w->chan), m);
    send_scratch(w, WIRE_RESULT);
}

/* ---- messages ---- */

static int open_journal(struct serving *w, const struct wire_create *m, const struct session_config *cfg,
                        struct err *err)
{
    if (!w->cfg->kept)
        return err_set(err, -EINVAL, "this worker was given no store");
    const struct journal_config jc = {.store_fd = w->cfg->store_fd,
                                      .trace_fd = w->cfg->trace_fd,
                                      .fresh = m->fresh,
                                      .durable = m->durable,
                                      .recheck = m->recheck,
                                      .id = m->id,
                                      .config = m->config,
                                      .limits = m->over};
    int r = journal_open(&jc, w->tmpl, cfg, &w->host, &w->journal, err);
    if (r == 0)
        w->session = journal_session(w->journal);
    return r;
}

/* The session's policy, from the text that came; *ret is NULL when it is empty. */
static int take_policy(struct serving *w, struct str text, const struct policy **ret, struct err *err)
{
    *ret = NULL;
    if (text.n == 0)
        return 0;
    if (!w->has_policy)
        policy_init(&w->policy);
    w->has_policy = true;
    int r = policy_parse(&w->policy, text, err);
    if (r == 0)
        *ret = &w->policy;
    return r < 0 ? err_wrap(err, r, "policy") : 0;
}

static void on_create(struct serving *w, struct str body)
{
    ARENA_AUTO struct arena a = {0};
    struct wire_create m;
    if (w->session || wire_get_create(body, &a, &m) || m.n_mounts != w->n_mounts) {
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
    int r = take_policy(w, m.policy, &cfg.policy, &err);
    if (r == 0)
        r = m.kept ? open_journal(w, &m, &cfg, &err) : session_new(w->tmpl, &cfg, &w->host, &w->session, &err);
    w->n_mounts = 0; /* the descriptors are the session's now, or closed */
    reply_error(w, r, r ? err.text : "");
}

static void on_exec(struct serving *w, struct str body)
{
    ARENA_AUTO struct arena a = {0};
    struct wire_exec m;
    if (!w->session || wire_get_exec(body, &a, &m)) {
        w->fatal = -EBADMSG;
        return;
    }
    struct err err = {0};
    w->wanted = w->asked = false;
    int r = w->journal ? journal_exec(w->journal, &m, &err) : session_exec(w->session, &m, &err);
    if (r) {
        const struct wire_result res = {.error = r, .message = str_c(err.text)};
        send_result(w, &res);
        return;
    }
    w->running = true;
}

static void on_input(struct serving *w, struct str body)
{
    w->asked = w->wanted = false;
    if (body.n > session_input_room(w->session)) {
        /* Only what was asked for may come; the end of an exec may cross with it. */
        if (session_input_room(w->session) > 0)
            w->fatal = -EBADMSG;
        return;
    }
    (void)session_input(w->session, body); /* fits: looked at above */
}

static int send_change(void *arg, const struct wire_change *c)
{
    struct serving *w = arg;
    wire_put_change(chan_scratch(&w->chan), c);
    send_scratch(w, WIRE_CHANGE);
    return w->fatal;
}

static void on_diff(struct serving *w, struct str body)
{
    struct wire_diff m;
    if (wire_get_diff(body, &m)) {
        w->fatal = -EBADMSG;
        return;
    }
    int r = session_diff(w->session, m.text, m.prefix, send_change, w);
    if (w->fatal == 0)
        reply_error(w, r, r ? errtab_text(r) : "");
}

static void on_fs(struct serving *w, struct str body)
{
    struct wire_reply rep;
    do {
        struct wire_fs m;
        if (wire_get_fs(&body, &m)) {
            w->fatal = -EBADMSG;
            return;
        }
        bool changes = m.op == WIRE_FS_PUT || m.op == WIRE_FS_MKDIR || m.op == WIRE_FS_SYMLINK;
        session_fs(w->session, &m, &rep);
        if (w->journal && changes)
            journal_touched(w->journal);
        if (rep.error)
            rep.data = m.path;
    } while (rep.error == 0 && body.n);
    reply(w, &rep);
}

static void on_line(struct serving *w, struct str body)
{
    /* The first byte tells a line from the end of input. */
    if (body.n == 0) {
        w->fatal = -EBADMSG;
        return;
    }
    struct str line = str_from(body, 1);
    bool end = body.p[0] == 1;
    struct err err = {0};
    int r = w->journal ? journal_line(w->journal, line, end, &err) : session_line(w->session, line, end);
    if (r) {
        const struct wire_result res = {.error = r, .message = str_c(err.text[0] ? err.text : errtab_text(r))};
        send_result(w, &res);
        return;
    }
    w->running = true;
}

static void on_query(struct serving *w, struct str body)
{
    struct wire_query m;
    struct wire_answer ans = {0};
    if (wire_get_query(body, &m)) {
        w->fatal = -EBADMSG;
        return;
    }
    if (session_query(w->session, &m, &ans))
        ans = (struct wire_answer){0};
    wire_put_answer(chan_scratch(&w->chan), &ans);
    send_scratch(w, WIRE_ANSWER);
}

static void on_number(struct serving *w, enum wire_type type, struct str body)
{
    uint32_t v;
    if (wire_get_number(body, &v)) {
        w->fatal = -EBADMSG;
        return;
    }
    if (type == WIRE_SIGNAL)
        session_signal(w->session, (int)(v & 0x7f), v >> 31);
    else if (type == WIRE_RESIZE)
        session_resize(w->session, (uint16_t)(v >> 16), (uint16_t)v);
    else
        session_close_output(w->session, (int)v);
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
    send_scratch(w, WIRE_REPLAYED);
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
    int r = take_policy(w, m.policy, &sc.policy, &err);
    if (r == 0)
        r = cas_open(w->cfg->store_fd, 0, &store, &err);
    if (r == 0)
        r = trace_open(w->cfg->trace_fd, 0, &t, NULL, &err);
    w->userland->ask.alone = true;
    if (r == 0)
        r = replay_run(store, t, w->tmpl, &sc, m.from, send_replayed, w, &err);
    trace_close(t);
    cas_close(store);
    if (w->fatal == 0)
        reply_error(w, r, r ? err.text : "");
}

static void on_compiled(struct serving *w, struct str body)
{
    if (ask_answer(&w->userland->ask, body))
        w->fatal = -EBADMSG;
    else
        session_output_ready(w->session);
}

static void on_message(struct serving *w, enum wire_type type, struct str body)
{
    if (!w->session && type == WIRE_REPLAY) {
        on_replay(w, body);
        return;
    }
    if (!w->session && type != WIRE_CREATE) {
        if (type == WIRE_EXEC || type == WIRE_FS)
            reply_error(w, -ESRCH, "no session");
        else
            w->fatal = -EBADMSG;
        return;
    }
    switch (type) {
    case WIRE_CREATE:
        on_create(w, body);
        break;
    case WIRE_EXEC:
        on_exec(w, body);
        break;
    case WIRE_STDIN:
        on_input(w, body);
        break;
    case WIRE_STDIN_EOF:
        session_input_end(w->session);
        break;
    case WIRE_SIGNAL:
    case WIRE_RESIZE:
    case WIRE_CLOSE:
        on_number(w, type, body);
        break;
    case WIRE_LINE:
        on_line(w, body);
        break;
    case WIRE_QUERY:
        on_query(w, body);
        break;
    case WIRE_FS:
        on_fs(w, body);
        break;
    case WIRE_DIFF:
        on_diff(w, body);
        break;
    case WIRE_COMPILED:
        on_compiled(w, body);
        break;
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
        on_message(w, (enum wire_type)type, body);
    if (r < 0 && w->fatal == 0)
        w->fatal = r;
}

/* ---- the loop ---- */

static void want_input(void *arg)
{
    struct serving *w = arg;
    w->wanted = true;
}

static void attend(void *arg)
{
    struct serving *w = arg;
    if (w->n_pending && !w->blocked && clock_mono() - w->flushed > FLUSH_EVERY)
        (void)flush(w, false);         /* a full socket is waited for in the loop */
    (void)ask_push(&w->userland->ask); /* the same */
    receive(w);
    if (w->fatal)
        session_kill(w->session, REASON_CRASH);
}

static void ask_for_input(struct serving *w)
{
    if (!w->wanted || w->asked)
        return;
    w->asked = true;
    int r = chan_send(&w->chan, WIRE_WANT, str_of(NULL, 0));
    if (r)
        w->fatal = r;
}

static int timeout_of(int64_t wake)
{
    if (wake == INT64_MAX)
        return -1;
    int64_t ms = (wake - clock_mono() + CLOCK_MS - 1) / CLOCK_MS;
    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

static void turn(struct serving *w)
{
    int64_t wake = INT64_MAX;
    if (w->running && session_step(w->session, &wake)) {
        struct wire_result res;
        w->running = false;
        /* Nobody is left to be answered, and it may have been ended for that, half done: it is lost. */
        if (w->fatal)
            return;
        session_result(w->session, &res);
        if (w->journal)
            journal_ended(w->journal, &res);
        send_result(w, &res);
        wake = INT64_MAX;
    } else if (w->running && w->journal) {
        journal_show(w->journal);
    }
    (void)flush(w, false); /* a full socket is waited for below, a broken one is fatal */
    if (w->fatal)
        return;
    ask_for_input(w);
    bool wait = !(w->refused && !w->blocked);
    /* What was answered goes to the disk a little later, so that several commands share one wait for it. */
    bool dirty = w->journal && journal_dirty(w->journal), sync = dirty && !w->running;
    if (!dirty)
        w->unsynced_since = 0;
    else if (w->unsynced_since == 0)
        w->unsynced_since = clock_mono();
    bool late = sync && clock_mono() - w->unsynced_since >= SYNC_AT_LAST;
    int timeout = !wait ? 0 : sync ? SYNC_AFTER_MS : timeout_of(wake);
    bool room = w->blocked || ask_push(&w->userland->ask) == -EAGAIN;
    if ((chan_wait(&w->chan, true, room, timeout) == -ETIMEDOUT && sync) || late)
        (void)journal_sync(w->journal); /* it stays to be done when it fails, and closing tries again */
    if (w->blocked)
        (void)flush(w, false);
    if (w->refused && !w->blocked) {
        w->refused = false;
        session_output_ready(w->session);
    }
    receive(w);
}

static int say_ready(struct serving *w, uint64_t applied, uint64_t missing, struct str notes)
{
    const struct wire_ready m = {WIRE_VERSION, applied, missing, notes};
    wire_put_ready(chan_scratch(&w->chan), &m);
    return chan_send_scratch(&w->chan, WIRE_READY);
}

int worker_serve(int sock, const struct worker_config *cfg, struct userland *userland, uint64_t ready_applied,
                 uint64_t ready_missing, struct str notes)
{
    struct serving *w = mem_zalloc(sizeof(*w));
    chan_init(&w->chan, sock);
    w->chan.takes_fds = cfg->own_modules;
    userland->ask.chan = &w->chan;
    w->cfg = cfg;
    w->n_mounts = cfg->n_mounts;
    w->pending = mem_alloc(LIMIT_MSG_DATA);
    w->host = (struct session_host){.arg = w, .output = take_output, .want_input = want_input, .attend = attend};
    w->tmpl = session_template(&userland->session);
    w->userland = userland;
    w->fatal = w->tmpl ? say_ready(w, ready_applied, ready_missing, notes) : -ENOMEM;
    while (w->fatal == 0)
        turn(w);
    int r = w->fatal;
    journal_close(w->journal);
    /* The process ends now: freeing what it holds would only take time, unless a leak checker looks. */
    if (MEM_LEAK_CHECK) {
        if (!w->journal)
            session_free(w->session);
        vfs_free(w->tmpl);
        policy_done(&w->policy);
        chan_done(&w->chan);
        mem_free(w->pending);
        mem_free(w);
    }
    return r == -EPIPE ? 0 : r;
}
