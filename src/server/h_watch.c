/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What changes in a session's files, as server-sent events: one for each entry of the log that changed some, with the
 * entry's number as its id. Who comes back with the last id has the next one, so nothing is missed or told twice.
 *
 * The log names the changes of a command. Those of an entry that puts a state in place (a batch, files that were put, a
 * restore, a merge), and those of a command that were too many, are what `diff` says of the states before and after.
 */

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "server/server_int.h"

#define LOOK_EVERY (100 * CLOCK_MS) /* for what was appended */
#define KEEP_ALIVE (15 * CLOCK_S)
#define FROM_NOW UINT64_MAX

struct watching {
    struct request *r;
    struct sched_log *log;
    struct str path;
    struct buf out; /* not given to the connection yet */
    size_t given;
    uint64_t from, left; /* first entry that is told, and how many more */
    struct sched_step step;
    bool comparing, settled, failed;
    int64_t told; /* when something was sent last */
    const char *argv[8];
};

static void watching_free(void *p)
{
    struct watching *w = p;
    sched_log_close(w->log);
    buf_done(&w->out);
}

/* One event. @changes: JSON objects, one a line, in which @path may be above what is asked for. */
static void put_event(struct watching *w, struct str changes)
{
    struct json_writer j = {.out = &w->out};
    if (changes.n == 0)
        return;
    buf_addf(&w->out, "id: %llu\nevent: changes\ndata: ", (unsigned long long)w->step.seq);
    json_begin(&j, NULL, '{');
    json_number(&j, "trace_seq", w->step.seq);
    json_text(&j, "from", str_c(w->step.from));
    json_text_or_null(&j, "exec_id", str_c(w->step.exec));
    json_begin(&j, "changes", '[');
    while (changes.n) {
        ptrdiff_t nl = str_find(changes, '\n', 0);
        size_t n = nl < 0 ? changes.n : (size_t)nl;
        json_raw(&j, NULL, str_of(changes.p, n));
        changes = str_from(changes, nl < 0 ? n : n + 1);
    }
    json_end(&j, ']');
    json_end(&j, '}');
    buf_addc(&w->out, "\n\n");
    w->left--;
}

static void compared(void *arg, int status, struct str out, struct str errs)
{
    struct watching *w = arg;
    (void)errs;
    w->comparing = false;
    if (status == 0 || status == 1)
        put_event(w, out);
    else
        w->failed = true;
    request_go_on(w->r);
}

/* What differs between the states before and after the entry. */
static void compare(struct watching *w)
{
    const char *id = sched_session_id(w->r->session);
    int n = 0;
    w->argv[n++] = "diff";
    w->argv[n++] = "--json";
    w->argv[n++] = arena_printf(&w->r->arena, "%s@%llu", id, (unsigned long long)w->step.before);
    w->argv[n++] = arena_printf(&w->r->arena, "%s@%llu", id, (unsigned long long)w->step.seq);
    if (w->path.n)
        w->argv[n++] = w->path.p;
    w->argv[n] = NULL;
    w->comparing = true;
    sched_job(w->r->tenant, w->argv, compared, w);
}

/* Reads on in the log until there is something to tell, or to wait for. True: the log is at its end. */
static bool read_on(struct watching *w)
{
    struct err err = {0};
    int e = 0;
    while (w->left && w->out.n == 0 && !w->comparing && !w->failed &&
           (e = sched_log_step(w->log, w->path, &w->step, &err)) == 1) {
        if (w->step.seq < w->from || w->from == FROM_NOW)
            continue;
        if (w->step.listed)
            put_event(w, w->step.changes);
        else
            compare(w);
    }
    w->failed |= e < 0 || w->out.err;
    return e == 0 && w->left && w->out.n == 0 && !w->comparing;
}

static void on_settled(void *arg, struct sched_session *s, int error, const char *text)
{
    struct watching *w = arg;
    (void)s, (void)error, (void)text;
    /* What could not be recorded now is when it can; a session that is gone has no log any more. */
    w->settled = true;
    request_go_on(w->r);
}

static void on_look(void *arg)
{
    struct watching *w = arg;
    struct request *r = w->r;
    sched_timer_cancel(r->sv->sched, r->timer);
    r->timer = NULL;
    if (sched_unsettled(r->session))
        sched_settle(r->session, on_settled, w);
    else
        request_go_on(r);
}

static ssize_t read_watch(void *cls, uint64_t pos, char *to, size_t max)
{
    struct watching *w = cls;
    struct request *r = w->r;
    int64_t now = clock_mono();
    (void)pos;
    if (w->given == w->out.n && !w->comparing) {
        w->given = 0;
        buf_clear(&w->out);
        if (read_on(w) && now - w->told >= KEEP_ALIVE)
            buf_addc(&w->out, ": nothing new\n\n");
    }
    struct str rest = str_from(buf_str(&w->out), w->given);
    if (rest.n == 0) {
        if (w->failed || r->sv->draining || r->sv->abandoned || !sched_exists(r->session))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (!w->left && !w->comparing)
            return MHD_CONTENT_READER_END_OF_STREAM;
        r->suspended = true;
        MHD_suspend_connection(r->c);
        if (!w->comparing)
            r->timer = sched_timer(r->sv->sched, now + LOOK_EVERY, on_look, w);
        return 0;
    }
    size_t n = rest.n < max ? rest.n : max;
    memcpy(to, rest.p, n);
    w->given += n;
    w->told = now;
    return (ssize_t)n;
}

static void begin(void *arg, struct sched_session *s, int error, const char *text)
{
    struct watching *w = arg;
    struct request *r = w->r;
    struct err err = {0};
    if (error) {
        request_fail_errno(r, error, text);
        return;
    }
    int e = sched_log_open(s, 0, &w->log, &err);
    if (e == 0 && w->from == FROM_NOW) {
        while ((e = sched_log_step(w->log, w->path, &w->step, &err)) == 1)
            ;
        w->from = w->step.seq + 1;
    }
    if (e < 0) {
        request_fail_errno(r, e, err.text);
        return;
    }
    /* Where it begins: who loses the connection before the first change knows what to come back with. */
    buf_addf(&w->out, "id: %llu\nevent: ready\ndata: {\"from_seq\":%llu}\n\n",
             (unsigned long long)(w->from ? w->from - 1 : 0), (unsigned long long)w->from);
    r->streaming = true;
    w->told = clock_mono();
    struct MHD_Response *resp = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64u << 10, read_watch, w, NULL);
    if (resp)
        (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
    request_reply(r, resp, MHD_HTTP_OK);
}

void h_watch(struct request *r)
{
    struct watching *w = arena_zalloc(&r->arena, sizeof(*w));
    const char *last = request_header(r, "Last-Event-ID");
    uint64_t seen;
    w->r = r;
    w->path = request_query(r, "path");
    if (w->path.p && (w->path.n == 0 || w->path.p[0] != '/')) {
        request_fail(r, API_INVALID_ARGUMENT, "path", "'path' is an absolute path of the session");
        return;
    }
    while (w->path.n && w->path.p[w->path.n - 1] == '/')
        w->path.n--;
    w->path = w->path.n ? arena_str(&r->arena, w->path) : str_of(NULL, 0);
    buf_init(&w->out, 128u << 20);
    r->state = w;
    r->state_free = watching_free;
    if (!request_query_number(r, "from_seq", FROM_NOW, INT64_MAX, &w->from) ||
        !request_query_number(r, "limit", UINT64_MAX, UINT64_MAX, &w->left) || !request_session(r))
        return;
    if (last && str_u64(str_c(last), &seen) == 0 && seen < INT64_MAX)
        w->from = seen + 1;
    sched_settle(r->session, begin, w);
}
