/* SPDX-License-Identifier: Apache-2.0 */

/* The output of an exec: bytes from an offset, or followed to its end as events (WHATWG server-sent events). */

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"
#include "server/exec_form.h"
#include "server/server_int.h"

#define PIECE (64u << 10)            /* bytes of output in one event */
#define KEEP_ALIVE (15 * CLOCK_S)    /* a comment, so that nobody between takes the stream for dead */

/* ---- bytes ---- */

struct reading {
    int stream;
    uint64_t offset, limit;
};

static void header_number(struct MHD_Response *resp, const char *name, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
    (void)MHD_add_response_header(resp, name, text); /* short of memory it is left out, and the body says as much */
}

static void send_bytes(struct request *r, const struct sched_exec_info *e)
{
    struct reading *q = r->state;
    struct str all = e->out[q->stream];
    uint64_t base = e->base[q->stream];
    if (q->offset > e->total[q->stream]) {
        request_fail(r, API_INVALID_ARGUMENT, "offset", "the stream has %llu bytes so far",
                     (unsigned long long)e->total[q->stream]);
        return;
    }
    q->offset = NUM_MAX(q->offset, base);
    struct str s = str_from(all, (size_t)NUM_MIN(q->offset - base, (uint64_t)all.n));
    s.n = s.n < q->limit ? s.n : (size_t)q->limit;
    struct MHD_Response *resp =
        MHD_create_response_from_buffer(s.n, (void *)(uintptr_t)(s.n ? s.p : ""), MHD_RESPMEM_MUST_COPY);
    if (resp) {
        bool ended = !e->running && !e->waiting;
        (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream");
        (void)MHD_add_response_header(resp, "Exec-Status", exec_form_status(e));
        header_number(resp, "Output-Offset", q->offset);
        header_number(resp, "Output-Total", e->total[q->stream]);
        (void)MHD_add_response_header(resp, "Output-End", ended && q->offset + s.n >= base + all.n ? "true" : "false");
        (void)MHD_add_response_header(resp, "Output-Truncated", e->total[q->stream] > all.n ? "true" : "false");
    }
    request_reply(r, resp, MHD_HTTP_OK);
}

static void send_kept(void *arg)
{
    struct request *r = arg;
    struct sched_exec_info info;
    sched_watch_cancel(r->watch);
    r->watch = NULL;
    sched_exec_info(r->exec, &info);
    send_bytes(r, &info);
}

static void send_record(void *arg, struct sched_session *s, int error, const char *text)
{
    struct request *r = arg;
    struct sched_record rec;
    struct err err = {0};
    if (error) {
        request_fail_errno(r, error, text);
        return;
    }
    int e = sched_record_find(s, r->params[1], &rec, &err);
    if (e) {
        request_fail_errno(r, e, err.text);
        return;
    }
    send_bytes(r, &rec.info);
    sched_record_done(&rec);
}

/* ---- events ---- */

struct following {
    struct request *r;
    uint64_t at[3];   /* told so far, of each stream */
    struct buf out;   /* made, and not given to the connection yet: */
    size_t given;
    bool ended, ping;
};

static void put_event(struct following *f, const char *name, struct str data)
{
    buf_addf(&f->out, "event: %s\nid: %llu-%llu\ndata: ", name, (unsigned long long)f->at[1],
             (unsigned long long)f->at[2]);
    buf_adds(&f->out, data);
    buf_addc(&f->out, "\n\n");
}

/* Makes the next event there is: whether there was one. */
static bool make_event(struct following *f)
{
    static const char *const names[] = {NULL, "stdout", "stderr"};
    struct sched_exec_info info;
    BUF_AUTO struct buf data;
    buf_init(&data, 64u << 20);
    struct json_writer w = {.out = &data};
    sched_exec_info(f->r->exec, &info);
    for (int i = 1; i <= 2; i++) {
        f->at[i] = NUM_MAX(f->at[i], info.base[i]); /* what is not kept any more is left out */
        struct str s = str_from(info.out[i], (size_t)NUM_MIN(f->at[i] - info.base[i], (uint64_t)info.out[i].n));
        if (s.n == 0)
            continue;
        s.n = s.n < PIECE ? s.n : PIECE;
        s.n = exec_form_whole(s, f->at[i] + s.n < info.total[i]);
        json_begin(&w, NULL, '{');
        json_text(&w, "stream", str_c(names[i]));
        json_number(&w, "offset", f->at[i]);
        json_text(&w, "data", s);
        json_end(&w, '}');
        f->at[i] += s.n;
        put_event(f, "output", buf_str(&data));
        return true;
    }
    if (info.running || info.waiting || f->ended)
        return false;
    json_begin(&w, NULL, '{');
    exec_form_put(&w, f->r->session, &info, 0);
    json_end(&w, '}');
    put_event(f, "exit", buf_str(&data));
    f->ended = true;
    return true;
}

static void on_change(void *arg)
{
    struct request *r = arg;
    sched_watch_cancel(r->watch);
    r->watch = NULL;
    request_go_on(r);
}

static void on_ping(void *arg)
{
    struct request *r = arg;
    struct following *f = r->state;
    sched_timer_cancel(r->sv->sched, r->timer);
    r->timer = NULL;
    f->ping = true;
    request_go_on(r);
}

static ssize_t read_events(void *cls, uint64_t pos, char *to, size_t max)
{
    struct following *f = cls;
    struct request *r = f->r;
    (void)pos;
    if (f->given == f->out.n) {
        buf_clear(&f->out);
        f->given = 0;
        if (!make_event(f)) {
            if (f->ended || r->sv->abandoned)
                return f->ended ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
            if (f->ping)
                buf_addc(&f->out, ": still running\n\n");
            f->ping = false;
        }
    }
    if (f->out.err)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    struct str rest = str_from(buf_str(&f->out), f->given);
    if (rest.n == 0) {
        if (!r->watch)
            r->watch = sched_exec_watch(r->exec, false, on_change, r);
        if (!r->timer)
            r->timer = sched_timer(r->sv->sched, clock_mono() + KEEP_ALIVE, on_ping, r);
        r->suspended = true;
        MHD_suspend_connection(r->c);
        return 0;
    }
    size_t n = rest.n < max ? rest.n : max;
    memcpy(to, rest.p, n);
    f->given += n;
    return (ssize_t)n;
}

static void following_free(void *p)
{
    struct following *f = p;
    buf_done(&f->out);
}

/* "OUT-ERR", as the id of each event has it. */
static bool resume_from(struct following *f, const char *id)
{
    const char *dash = id ? strchr(id, '-') : NULL;
    if (!id)
        return true;
    return dash && str_u64(str_of(id, (size_t)(dash - id)), &f->at[1]) == 0 &&
           str_u64(str_c(dash + 1), &f->at[2]) == 0;
}

static void follow(struct request *r)
{
    struct following *f = arena_alloc(&r->arena, sizeof(*f));
    *f = (struct following){.r = r};
    buf_init(&f->out, 64u << 20);
    if (!resume_from(f, request_header(r, "Last-Event-ID"))) {
        request_fail(r, API_INVALID_ARGUMENT, "Last-Event-ID", "it is not the id of an event of this stream");
        return;
    }
    r->state = f;
    r->state_free = following_free;
    r->streaming = true;
    struct MHD_Response *resp = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, read_events, f, NULL);
    if (resp) {
        (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
        (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    }
    request_reply(r, resp, MHD_HTTP_OK);
}

/* ---- the route ---- */

void h_execs_output(struct request *r)
{
    uint64_t offset, limit, wait;
    struct str stream = request_query(r, "stream");
    const char *accept = request_header(r, MHD_HTTP_HEADER_ACCEPT);
    struct sched_exec_info info;
    if (stream.p && !str_eqc(stream, "stdout") && !str_eqc(stream, "stderr")) {
        request_fail(r, API_INVALID_ARGUMENT, "stream", "'stream' is stdout or stderr");
        return;
    }
    if (!request_query_number(r, "offset", 0, UINT64_MAX, &offset) ||
        !request_query_number(r, "limit", LIMIT_TRACE_OUTPUT, LIMIT_TRACE_OUTPUT, &limit) ||
        !request_query_number(r, "wait_ms", 0, LIMIT_WAIT_MS, &wait) || !request_session(r))
        return;
    struct reading *q = arena_alloc(&r->arena, sizeof(*q));
    *q = (struct reading){str_eqc(stream, "stderr") ? 2 : 1, offset, limit};
    r->state = q;
    r->exec = sched_exec_find(r->session, r->params[1]);
    bool events = accept && strstr(accept, "text/event-stream");
    if (!r->exec && events) {
        request_fail(r, API_UNSUPPORTED, NULL, "the exec ended long ago: read its output without events");
    } else if (!r->exec) {
        sched_wake(r->session, send_record, r);
    } else if (events) {
        follow(r);
    } else {
        sched_exec_info(r->exec, &info);
        if (wait && (info.running || info.waiting) && offset >= info.base[q->stream] + info.out[q->stream].n) {
            r->watch = sched_exec_watch(r->exec, false, send_kept, r);
            r->timer = sched_timer(r->sv->sched, clock_mono() + (int64_t)wait * CLOCK_MS, send_kept, r);
        } else {
            send_bytes(r, &info);
        }
    }
}
