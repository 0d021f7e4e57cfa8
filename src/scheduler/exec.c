/* SPDX-License-Identifier: Apache-2.0 */

/* Execs: their queue, what a worker says of the one that runs, and what is kept of those that have ended. */

#include <errno.h>
#include <signal.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"

/* ---- life ---- */

static void exec_free(struct sched_exec *e)
{
    sched_timer_cancel(e->session->tenant->s, e->timeout);
    buf_done(&e->request);
    buf_done(&e->input);
    for (int i = 1; i <= 2; i++)
        buf_done(&e->out[i]);
    buf_done(&e->result_text);
    mem_free(e);
}

struct sched_exec *sched_exec_ref(struct sched_exec *e)
{
    e->refs++;
    return e;
}

void sched_exec_unref(struct sched_exec *e)
{
    if (!e)
        return;
    ASSERT(e->refs > 0);
    if (--e->refs)
        return;
    struct sched_session *s = e->session;
    exec_free(e);
    sched_unref(s);
}

/* Out of the session's list. */
static void drop(struct sched_exec *e)
{
    struct sched_session *s = e->session;
    struct sched_exec **at = &s->execs;
    while (*at && *at != e)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = e->next;
    if (s->begun == e)
        s->begun = NULL;
    if (!e->next)
        s->exec_tail = at;
    sched_exec_unref(e);
}

/* ---- watching ---- */

static void hook(struct sched_exec *e, struct sched_watch *w)
{
    w->next = e->watches;
    w->at = &e->watches;
    if (w->next)
        w->next->at = &w->next;
    e->watches = w;
}

struct sched_watch *sched_exec_watch(struct sched_exec *e, bool end_only, void (*fn)(void *arg), void *arg)
{
    struct sched_watch *w = mem_zalloc(sizeof(*w));
    *w = (struct sched_watch){.end_only = end_only, .fn = fn, .arg = arg};
    hook(e, w);
    return w;
}

static void unhook(struct sched_watch *w)
{
    if (!w->at)
        return;
    *w->at = w->next;
    if (w->next)
        w->next->at = w->at;
    w->at = NULL;
}

void sched_watch_cancel(struct sched_watch *w)
{
    if (!w)
        return;
    unhook(w);
    mem_free(w);
}

static void notify(struct sched_exec *e)
{
    bool ended = e->place == EXEC_ENDED;
    struct sched_watch *now = e->watches, *w;
    if (!now)
        return;
    /* Who is called may watch anew, which is for the next time. */
    sched_exec_ref(e);
    e->watches = NULL;
    now->at = &now;
    while ((w = now) != NULL) {
        unhook(w);
        if (w->end_only && !ended)
            hook(e, w);
        else
            w->fn(w->arg); /* who may cancel, which frees it */
    }
    sched_exec_unref(e);
}

/* ---- the ended ones that are kept ---- */

static uint64_t cost(const struct sched_exec *e)
{
    return sizeof(*e) + e->out[1].cap + e->out[2].cap + e->result_text.cap;
}

static void unkeep(struct sched *s, struct sched_exec *e)
{
    if (!e->kept)
        return;
    e->kept = false;
    *(e->older ? &e->older->newer : &s->ended_oldest) = e->newer;
    *(e->newer ? &e->newer->older : &s->ended_newest) = e->older;
    s->n_ended--;
    s->ended_bytes -= cost(e);
    drop(e);
}

static void keep(struct sched *s, struct sched_exec *e)
{
    e->kept = true;
    e->newer = NULL;
    e->older = s->ended_newest;
    *(s->ended_newest ? &s->ended_newest->newer : &s->ended_oldest) = e;
    s->ended_newest = e;
    s->n_ended++;
    s->ended_bytes += cost(e);
    while (s->ended_oldest != e && (s->n_ended > LIMIT_EXECS_KEPT || s->ended_bytes > s->cfg.output_memory))
        unkeep(s, s->ended_oldest);
}

void sched__exec_forget(struct sched_session *s)
{
    while (s->execs) {
        struct sched_exec *e = s->execs;
        if (e->kept)
            unkeep(s->tenant->s, e);
        else
            drop(e);
    }
}

/* ---- the end ---- */

static void ended(struct sched_exec *e)
{
    struct sched *s = e->session->tenant->s;
    sched_timer_cancel(s, e->timeout);
    e->timeout = NULL;
    buf_done(&e->request);
    buf_done(&e->input);
    e->place = EXEC_ENDED;
    e->ended = clock_wall();
    s->counts.execs_ended++;
    s->counts.execs_lost += e->outcome.kind == OUTCOME_LOST;
    if (e->has_result) {
        s->counts.cpu_us += e->result.cpu_us;
        s->counts.output_bytes += e->result.output_bytes;
    }
    sched_exec_ref(e);
    keep(s, e);
    notify(e);
    sched_exec_unref(e);
}

/* One that runs no more: the next may begin. */
static void run_ended(struct sched_exec *e)
{
    struct sched_session *s = e->session;
    s->running = NULL;
    s->tenant->s->counts.execs_running--;
    if (s->link)
        s->link->n_running--;
    sched__session_used(s);
    sched_ref(s);
    ended(e);
    sched__exec_next(s);
    sched__session_idle(s);
    sched_unref(s);
}

void sched__exec_lost(struct sched_session *s)
{
    struct sched_exec *e = s->running;
    e->outcome = (struct outcome){.kind = OUTCOME_LOST, .reason = REASON_CRASH};
    s->running = NULL;
    s->tenant->s->counts.execs_running--;
    if (s->link)
        s->link->n_running--;
    ended(e);
}

/* One that never began. */
static void refuse(struct sched_exec *e, int error, const char *text)
{
    struct sched_session *s = e->session;
    s->n_waiting--;
    s->tenant->s->counts.execs_waiting--;
    e->has_result = true;
    buf_clear(&e->result_text);
    buf_addc(&e->result_text, text);
    e->result = (struct wire_result){.error = error, .message = buf_str(&e->result_text)};
    ended(e);
}

static struct sched_exec *first_waiting(const struct sched_session *s)
{
    struct sched_exec *e = !s->n_waiting ? NULL : s->begun ? s->begun : s->execs;
    while (e && e->place != EXEC_WAITING)
        e = e->next;
    return e;
}

void sched__exec_refuse(struct sched_session *s, int error, const char *text)
{
    struct sched_exec *e;
    sched_ref(s);
    while ((e = first_waiting(s)) != NULL)
        refuse(e, error, text);
    sched_unref(s);
}

/* ---- beginning ---- */

static void on_deaf(void *arg)
{
    struct sched_exec *e = arg;
    struct sched_session *s = e->session;
    sched_timer_cancel(s->tenant->s, e->timeout);
    e->timeout = NULL;
    if (s->running == e && s->link)
        sched__link_dead(s->link, "its command does not end when it is told to");
}

/* It was told to end: what does not is no stage of ours any more. */
static void expect_end(struct sched_exec *e)
{
    struct sched *s = e->session->tenant->s;
    sched_timer_cancel(s, e->timeout);
    int64_t ms = s->cfg.kill_ms ? s->cfg.kill_ms : LIMIT_WORKER_KILL_MS;
    e->timeout = sched_timer(s, clock_mono() + ms * CLOCK_MS, on_deaf, e);
}

static void on_timeout(void *arg)
{
    struct sched_exec *e = arg;
    struct sched_session *s = e->session;
    BUF_AUTO struct buf b;
    buf_init(&b, 64);
    sched_timer_cancel(s->tenant->s, e->timeout);
    e->timeout = NULL;
    wire_put_number(&b, REASON_TIMEOUT);
    if (s->running != e)
        return;
    expect_end(e);
    if (sched__send(s->link, WIRE_KILL, s->number, buf_str(&b), NULL, 0) && s->link)
        sched__link_dead(s->link, "it takes no messages");
}

static int send_number(struct sched_exec *e, uint32_t type, uint32_t number)
{
    struct sched_session *s = e->session;
    BUF_AUTO struct buf b;
    buf_init(&b, 64);
    wire_put_number(&b, number);
    int r = sched__send(s->link, type, s->number, buf_str(&b), NULL, 0);
    return r == -EPIPE ? 0 : r; /* it is lost, which is an end too */
}

void sched__exec_next(struct sched_session *s)
{
    struct sched_exec *e;
    while (s->place == OPEN && !s->running && !s->destroying && (e = first_waiting(s)) != NULL) {
        sched__usage_begins(s);
        int r = sched__send(s->link, WIRE_EXEC, s->number, buf_str(&e->request), NULL, 0);
        if (r == -EPIPE)
            return; /* its worker is gone: it waits for the next one */
        if (r) {
            refuse(e, r, "too much waits for the session's worker: try again later");
            continue;
        }
        e->place = EXEC_RUNNING;
        e->started = clock_wall();
        buf_done(&e->request);
        s->n_waiting--;
        s->running = s->begun = e;
        s->link->n_running++;
        s->tenant->s->counts.execs_waiting--;
        s->tenant->s->counts.execs_running++;
        if (e->timeout_ms)
            e->timeout = sched_timer(s->tenant->s, clock_mono() + (int64_t)NUM_MIN(e->timeout_ms, INT32_MAX) * CLOCK_MS,
                                     on_timeout, e);
        if (e->resize)
            (void)send_number(e, WIRE_RESIZE, e->resize); /* the queue took EXEC, and takes this */
    }
}

static void woken(void *arg, struct sched_session *s, int error, const char *text)
{
    (void)arg, (void)s, (void)error, (void)text; /* opening begins what waits, and refuses it when it fails */
}

int sched_exec(struct sched_session *s, const struct sched_exec_request *q, const struct id *id,
               struct sched_exec **ret, struct err *err)
{
    struct sched *sc = s->tenant->s;
    if (s->place == GONE || s->destroying)
        return err_set(err, -ENOENT, "the session was destroyed");
    if (sc->draining)
        return err_set(err, -ESHUTDOWN, "the server is shutting down");
    if (s->n_waiting >= sc->cfg.execs_waiting)
        return err_set(err, -EAGAIN, "%u execs of the session wait for their turn: try again later", s->n_waiting);
    struct sched_exec *e = mem_zalloc(sizeof(*e));
    const struct id new_id = id ? *id : id_new(ID_EXEC);
    memcpy(e->id, new_id.text, sizeof(e->id));
    e->session = sched_ref(s);
    e->refs = 2; /* the list's and the caller's */
    e->timeout_ms = q->timeout_ms;
    e->created = clock_wall();
    e->input_stays = q->stdin_stays;
    buf_init(&e->request, WIRE_BODY_MAX);
    buf_init(&e->input, LIMIT_STDIN_QUEUED + (q->has_stdin ? q->input.n : 0));
    buf_init(&e->result_text, WIRE_BODY_MAX);
    for (int i = 1; i <= 2; i++)
        buf_init(&e->out[i], LIMIT_TRACE_OUTPUT);
    if (q->has_stdin)
        buf_adds(&e->input, q->input);
    e->input_total = e->input.n;
    struct wire_exec x = q->exec;
    x.key = str_c(e->id);
    e->tty = x.tty == WIRE_TTY;
    e->input_stays |= e->tty;
    x.stdin_open = q->has_stdin || e->input_stays;
    x.want_root = true;
    wire_put_exec(&e->request, &x);
    int r = e->request.err ? e->request.err : e->input.err;
    if (r) {
        e->refs = 1;
        sched_exec_unref(e);
        return err_set(err, r == -EFBIG ? -E2BIG : r, "the command, its arguments or its input are too long");
    }
    *s->exec_tail = e;
    s->exec_tail = &e->next;
    s->n_waiting++;
    sc->counts.execs_waiting++;
    sched__session_used(s);
    if (s->place == OPEN)
        sched__exec_next(s);
    else
        sched_wake(s, woken, NULL);
    *ret = e;
    return 0;
}

/* ---- what the worker says ---- */

static void send_input(struct sched_exec *e)
{
    struct sched_session *s = e->session;
    struct str rest = str_from(buf_str(&e->input), e->input_sent);
    int r = 0;
    if (!e->wanted || !s->link)
        return;
    if (rest.n) {
        size_t n = rest.n < LIMIT_MSG_DATA ? rest.n : LIMIT_MSG_DATA;
        e->wanted = false;
        r = sched__send(s->link, WIRE_STDIN, s->number, str_of(rest.p, n), NULL, 0);
        e->input_sent += n;
        if (e->input_sent == e->input.n) {
            buf_clear(&e->input);
            e->input_sent = 0;
        }
    } else if (!e->input_stays) {
        e->wanted = false;
        r = sched__send(s->link, WIRE_STDIN_EOF, s->number, str_of(NULL, 0), NULL, 0);
    }
    if (r && s->link)
        sched__link_dead(s->link, "it takes no messages");
    if (e->input_refused && e->input.n - e->input_sent < LIMIT_STDIN_QUEUED / 2) {
        e->input_refused = false;
        notify(e);
    }
}

static void add_output(struct sched_exec *e, uint8_t stream, struct str data)
{
    struct buf *b = &e->out[stream];
    /* What a terminal shows now matters more than what it showed first. */
    if (e->tty && data.n > LIMIT_TRACE_OUTPUT - b->n) {
        size_t gone = NUM_MAX(b->n / 2, data.n);
        memmove(b->p, b->p + gone, b->n - gone);
        buf_trunc(b, b->n - gone);
        e->base[stream] += gone;
    }
    size_t room = LIMIT_TRACE_OUTPUT - b->n;
    if (e->base[stream] + b->n == e->total[stream])
        buf_add(b, data.p, data.n < room ? data.n : room);
    e->total[stream] += data.n;
}

static bool take_output(struct sched_exec *e, struct str body)
{
    struct wire_output m;
    if (wire_get_output(body, &m))
        return false;
    add_output(e, m.stream, m.data);
    notify(e);
    return true;
}

static bool take_result(struct sched_exec *e, struct str body)
{
    struct sched_session *s = e->session;
    buf_clear(&e->result_text);
    if (buf_adds(&e->result_text, body) || wire_get_result(buf_str(&e->result_text), &e->result) ||
        e->result.error > 0)
        return false;
    if (e->result.stream)
        add_output(e, e->result.stream, e->result.output);
    e->has_result = true;
    e->outcome = e->result.outcome;
    if (e->result.error == 0) {
        memcpy(s->root, e->result.root, sizeof(s->root));
        s->has_root = true;
        s->seq = e->result.seq;
    }
    sched__usage_ended(s, &e->result);
    run_ended(e);
    return true;
}

bool sched__exec_message(struct sched_session *s, uint32_t type, struct str body)
{
    struct sched_exec *e = s->running;
    if (type == WIRE_OUTPUT)
        return take_output(e, body);
    if (type == WIRE_RESULT)
        return take_result(e, body);
    if (type != WIRE_WANT || body.n)
        return false;
    e->wanted = true;
    send_input(e);
    return true;
}

/* ---- what clients ask for ---- */

struct sched_exec *sched_exec_find(struct sched_session *s, struct str id)
{
    for (struct sched_exec *e = s->execs; e; e = e->next) {
        if (str_eqc(id, e->id))
            return sched_exec_ref(e);
    }
    return NULL;
}

void sched_exec_each(struct sched_session *s, void (*fn)(void *arg, struct sched_exec *e), void *arg)
{
    for (struct sched_exec *e = s->execs; e; e = e->next)
        fn(arg, e);
}

void sched_exec_info(const struct sched_exec *e, struct sched_exec_info *ret)
{
    *ret = (struct sched_exec_info){
        .id = e->id,
        .running = e->place == EXEC_RUNNING,
        .waiting = e->place == EXEC_WAITING,
        .outcome = e->outcome,
        .result = e->has_result ? &e->result : NULL,
        .created = e->created,
        .started = e->started,
        .ended = e->ended,
        .input_open = e->place != EXEC_ENDED && e->input_stays,
        .input_total = e->input_total,
        .tty = e->tty,
    };
    for (int i = 1; i <= 2; i++) {
        ret->out[i] = buf_str(&e->out[i]);
        ret->base[i] = e->base[i];
        ret->total[i] = e->total[i];
    }
}

int sched_signal(struct sched_exec *e, int sig)
{
    struct sched_session *s = e->session;
    if (e->place == EXEC_ENDED)
        return -ESRCH;
    if (e->place == EXEC_WAITING) {
        s->n_waiting--;
        s->tenant->s->counts.execs_waiting--;
        e->outcome = (struct outcome){.kind = OUTCOME_KILLED, .signal = (uint8_t)sig, .reason = REASON_SIGNAL};
        ended(e);
        return 0;
    }
    /* A kill reaches every process of the exec, not only the group in front. */
    if (sig == SIGKILL) {
        expect_end(e);
        return send_number(e, WIRE_KILL, REASON_SIGNAL);
    }
    return send_number(e, WIRE_SIGNAL, (uint32_t)sig | UINT32_C(1) << 31);
}

int sched_resize(struct sched_exec *e, uint16_t rows, uint16_t cols)
{
    uint32_t size = (uint32_t)rows << 16 | cols;
    if (e->place == EXEC_ENDED)
        return -ESRCH;
    if (e->place == EXEC_RUNNING)
        return send_number(e, WIRE_RESIZE, size);
    e->resize = size;
    return 0;
}

int sched_input(struct sched_exec *e, struct str data, bool end)
{
    if (e->place == EXEC_ENDED || !e->input_stays)
        return -EPIPE;
    if (e->input.n - e->input_sent + data.n > LIMIT_STDIN_QUEUED) {
        e->input_refused = true;
        return -EAGAIN;
    }
    struct str rest = str_from(buf_str(&e->input), e->input_sent);
    BUF_AUTO struct buf all;
    buf_init(&all, LIMIT_STDIN_QUEUED);
    buf_adds(&all, rest);
    buf_adds(&all, data);
    if (all.err)
        return all.err;
    buf_clear(&e->input);
    e->input.max = LIMIT_STDIN_QUEUED;
    if (buf_adds(&e->input, buf_str(&all)))
        return -ENOMEM;
    e->input_sent = 0;
    e->input_total += data.n;
    e->input_stays = !end;
    if (e->place == EXEC_RUNNING)
        send_input(e);
    return 0;
}
