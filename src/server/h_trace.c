/* SPDX-License-Identifier: Apache-2.0 */

/* The log of a session: JSON, JSON lines (NDJSON), or followed as events; and what the server counts. */

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "server/server_int.h"

#define LOOK_EVERY (100 * CLOCK_MS) /* for what was appended, while a client follows */
#define KEEP_ALIVE (15 * CLOCK_S)
#define PIECE (64u << 10)

struct tracing {
    struct request *r;
    struct sched_log *log;
    struct buf out; /* made, and not given to the connection yet */
    size_t given;
    uint64_t left; /* events that are still asked for */
    bool follows, failed;
    bool ended; /* nothing comes any more */
    int64_t told; /* when something was sent last */
};

static void tracing_free(void *p)
{
    struct tracing *t = p;
    sched_log_close(t->log);
    buf_done(&t->out);
}

/* ---- as one object ---- */

static void send_object(struct tracing *t)
{
    struct request *r = t->r;
    struct answer *a = answer_begin(r);
    struct err err = {0};
    uint64_t seq = 0, n = 0;
    int e = 0;
    json_begin(&a->w, "events", '[');
    BUF_AUTO struct buf one;
    buf_init(&one, 64u << 20);
    while (t->left && (e = sched_log_next(t->log, &one, &seq, &err)) == 1) {
        json_raw(&a->w, NULL, buf_str(&one));
        buf_clear(&one);
        t->left--;
        n++;
    }
    json_end(&a->w, ']');
    if (n)
        json_number(&a->w, "next_seq", seq + 1);
    else
        json_none(&a->w, "next_seq");
    if (e < 0) {
        buf_done(&a->buf);
        request_fail_errno(r, e, err.text);
        return;
    }
    answer_send(r, a, MHD_HTTP_OK);
}

/* ---- as a stream ---- */

static void make_piece(struct tracing *t)
{
    struct err err;
    uint64_t seq;
    int e = 1;
    buf_clear(&t->out);
    t->given = 0;
    BUF_AUTO struct buf one;
    buf_init(&one, 64u << 20);
    while (t->left && t->out.n < PIECE && (e = sched_log_next(t->log, &one, &seq, &err)) == 1) {
        if (t->follows)
            buf_addf(&t->out, "id: %llu\ndata: ", (unsigned long long)seq);
        buf_adds(&t->out, buf_str(&one));
        buf_addc(&t->out, t->follows ? "\n\n" : "\n");
        buf_clear(&one);
        t->left--;
    }
    t->failed |= e < 0 || t->out.err;
}

static void on_look(void *arg)
{
    struct request *r = arg;
    sched_timer_cancel(r->sv->sched, r->timer);
    r->timer = NULL;
    request_go_on(r);
}

static ssize_t read_trace(void *cls, uint64_t pos, char *to, size_t max)
{
    struct tracing *t = cls;
    struct request *r = t->r;
    int64_t now = clock_mono();
    (void)pos;
    if (t->given == t->out.n)
        make_piece(t);
    if (t->out.n == 0 && t->follows && now - t->told >= KEEP_ALIVE)
        buf_addc(&t->out, ": nothing new\n\n");
    struct str rest = str_from(buf_str(&t->out), t->given);
    if (rest.n == 0) {
        if (t->failed || r->sv->draining)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (!t->follows || !t->left || t->ended || sched_gone(r->session))
            return MHD_CONTENT_READER_END_OF_STREAM;
        r->timer = sched_timer(r->sv->sched, now + LOOK_EVERY, on_look, r);
        r->suspended = true;
        MHD_suspend_connection(r->c);
        return 0;
    }
    size_t n = rest.n < max ? rest.n : max;
    memcpy(to, rest.p, n);
    t->given += n;
    t->told = now;
    return (ssize_t)n;
}

static void send_stream(struct tracing *t)
{
    struct request *r = t->r;
    r->streaming = true;
    t->told = clock_mono();
    struct MHD_Response *resp = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, read_trace, t, NULL);
    if (resp)
        (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_TYPE,
                                      t->follows ? "text/event-stream" : "application/x-ndjson");
    request_reply(r, resp, MHD_HTTP_OK);
}

/* The first event that is asked for; false after an answer. */
static bool first_event(struct tracing *t, uint64_t *ret)
{
    struct request *r = t->r;
    const char *accept = request_header(r, MHD_HTTP_HEADER_ACCEPT), *last = request_header(r, "Last-Event-ID");
    uint64_t seen;
    if (!request_query_number(r, "from_seq", 0, INT64_MAX, ret))
        return false;
    t->follows = accept && strstr(accept, "text/event-stream");
    if (t->follows && last && str_u64(str_c(last), &seen) == 0)
        *ret = seen + 1;
    return true;
}

static void send_log(struct tracing *t)
{
    const char *accept = request_header(t->r, MHD_HTTP_HEADER_ACCEPT);
    if (t->follows || (accept && strstr(accept, "ndjson")))
        send_stream(t);
    else
        send_object(t);
}

static void settled(void *arg, struct sched_session *s, int error, const char *text)
{
    struct tracing *t = arg;
    struct request *r = t->r;
    struct err err = {0};
    uint64_t from;
    if (error) {
        request_fail_errno(r, error, text);
        return;
    }
    if (!first_event(t, &from))
        return;
    int e = sched_log_open(s, from, &t->log, &err);
    if (e)
        request_fail_errno(r, e, err.text);
    else
        send_log(t);
}

/* Whether it was answered: by the log of a session that was deleted, to which nothing is added any more. */
static bool send_ended(struct tracing *t)
{
    struct request *r = t->r;
    uint64_t from;
    int64_t when;
    if (r->only && !str_eqc(r->params[0], r->only))
        return false;
    if (!first_event(t, &from))
        return true;
    if (sched_log_ended(r->tenant, r->params[0], from, &t->log, &when, NULL))
        return false;
    t->ended = true;
    send_log(t);
    return true;
}

void h_trace(struct request *r)
{
    const char *accept = request_header(r, MHD_HTTP_HEADER_ACCEPT);
    bool streams = accept && (strstr(accept, "text/event-stream") || strstr(accept, "ndjson"));
    struct tracing *t = arena_zalloc(&r->arena, sizeof(*t));
    t->r = r;
    buf_init(&t->out, 64u << 20);
    r->state = t;
    r->state_free = tracing_free;
    if (request_query_number(r, "limit", streams ? UINT64_MAX : 1000, UINT64_MAX, &t->left) &&
        !send_ended(t) && request_session(r))
        sched_settle(r->session, settled, t);
}

/* ---- what the server counts ---- */

/* Prometheus's text format, 0.0.4. */
/* What tenants have used: by the logs, so a restart does not begin anew. */
static void put_usage(struct buf *b, struct sched *s)
{
    static const struct {
        const char *name, *help;
        size_t at;
    } all[] = {
        {"execs", "Commands that have ended", offsetof(struct sched_usage, execs)},
        {"execs_lost", "Those among them whose process died", offsetof(struct sched_usage, execs_lost)},
        {"cpu_microseconds", "CPU time of commands", offsetof(struct sched_usage, cpu_us)},
        {"memory_byte_seconds", "Most memory of commands times how long they ran",
         offsetof(struct sched_usage, memory_byte_seconds)},
        {"output_bytes", "What commands printed", offsetof(struct sched_usage, output_bytes)},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        buf_addf(b, "# HELP frontal_sandbox_usage_%s_total %s.\n# TYPE frontal_sandbox_usage_%s_total counter\n",
                 all[i].name, all[i].help, all[i].name);
        for (struct sched_tenant *t = sched_tenant_next(s, NULL); t; t = sched_tenant_next(s, t)) {
            struct sched_usage u, gone;
            uint64_t v;
            sched_usage(t, &u, &gone);
            memcpy(&v, (const char *)&u + all[i].at, sizeof(v));
            buf_addf(b, "frontal_sandbox_usage_%s_total{tenant=\"%s\"} %llu\n", all[i].name, sched_tenant_name(t),
                     (unsigned long long)v);
        }
    }
}

void h_metrics(struct request *r)
{
    struct sched_counts n;
    BUF_AUTO struct buf b;
    buf_init(&b, 1u << 20);
    sched_counts(r->sv->sched, &n);
    const struct {
        const char *name, *type, *help;
        uint64_t v;
    } all[] = {
        {"workers", "gauge", "Worker processes", n.workers},
        {"open_sessions", "gauge", "Sessions that are open in a worker", n.open_sessions},
        {"execs_running", "gauge", "Commands that run", n.execs_running},
        {"execs_waiting", "gauge", "Commands that wait for their turn", n.execs_waiting},
        {"requests_open", "gauge", "Requests that are not answered", r->sv->n_requests},
        {"sessions_created_total", "counter", "Sessions made, forks included", n.sessions_created},
        {"execs_ended_total", "counter", "Commands that have ended", n.execs_ended},
        {"execs_lost_total", "counter", "Commands whose process died", n.execs_lost},
        {"workers_lost_total", "counter", "Workers that died", n.workers_lost},
        {"exec_cpu_microseconds_total", "counter", "CPU time of commands that have ended", n.cpu_us},
        {"exec_output_bytes_total", "counter", "What these printed", n.output_bytes},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        buf_addf(&b, "# HELP frontal_sandbox_%s %s.\n# TYPE frontal_sandbox_%s %s\nfrontal_sandbox_%s %llu\n",
                 all[i].name, all[i].help, all[i].name, all[i].type, all[i].name, (unsigned long long)all[i].v);
    buf_addc(&b, "# HELP frontal_sandbox_answers_total Requests answered, by class of status.\n"
                 "# TYPE frontal_sandbox_answers_total counter\n");
    for (int c = 2; c <= 5; c++)
        buf_addf(&b, "frontal_sandbox_answers_total{status=\"%dxx\"} %llu\n", c,
                 (unsigned long long)r->sv->answered[c]);
    put_usage(&b, r->sv->sched);
    request_reply_bytes(r, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", buf_str(&b));
}
