/* SPDX-License-Identifier: Apache-2.0 */

/* Execs: run, list, show, signal, input. */

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"
#include "server/exec_form.h"
#include "server/idempotency.h"
#include "server/policy.h"
#include "server/server_int.h"

#define WAIT_MS 30000u            /* unless the client says so */
#define OUTPUT_LIMIT (1u << 20)   /* bytes of each stream in an answer, unless the client says so */

/* ---- waiting for the end, or for the time that the client gives it ---- */

struct waiting {
    uint64_t output_limit;
    bool created; /* the request has made it: what never began is that request's error */
    bool repeats; /* the request is a repeat: an exec that was never sent is sent */
};

static void answer_exec(struct request *r)
{
    struct waiting *w = r->state;
    struct sched_exec_info info;
    sched_watch_cancel(r->watch);
    r->watch = NULL;
    sched_exec_info(r->exec, &info);
    bool ended = !info.running && !info.waiting;
    if (w->created && ended && info.result && info.result->error) {
        BUF_AUTO struct buf text;
        buf_init(&text, 512);
        buf_adds(&text, str_of(info.result->message.p, NUM_MIN(info.result->message.n, (size_t)400)));
        request_fail_errno(r, info.result->error, text.p);
        return;
    }
    struct answer *a = answer_begin(r);
    exec_form_put(&a->w, r->session, &info, w->output_limit);
    answer_send(r, a, MHD_HTTP_OK);
}

static void on_end(void *arg)
{
    answer_exec(arg);
}

static void on_time(void *arg)
{
    answer_exec(arg);
}

/* Answers now when it has ended, or later. */
static void wait_for(struct request *r, uint64_t ms, uint64_t output_limit, bool created)
{
    struct sched_exec_info info;
    struct waiting *w = arena_alloc(&r->arena, sizeof(*w));
    *w = (struct waiting){.output_limit = output_limit, .created = created};
    r->state = w;
    sched_exec_info(r->exec, &info);
    if ((!info.running && !info.waiting) || ms == 0) {
        answer_exec(r);
        return;
    }
    r->watch = sched_exec_watch(r->exec, true, on_end, r);
    r->timer = sched_timer(r->sv->sched, clock_mono() + (int64_t)ms * CLOCK_MS, on_time, r);
}

/* ---- run ---- */

struct run {
    struct str command, input, input_encoding, cwd, shell, tier;
    struct wire_list argv, env;
    bool stdin_open, atomic, durable;
    uint64_t timeout_ms, wait_ms, output_limit;
    struct str tty;
    uint16_t rows, cols; /* 0: no terminal */
};

static const struct api_field fields[] = {
    {"command", API_TEXT, offsetof(struct run, command)},
    {"argv", API_TEXTS, offsetof(struct run, argv)},
    {"stdin", API_TEXT, offsetof(struct run, input)},
    {"stdin_encoding", API_TEXT, offsetof(struct run, input_encoding)},
    {"stdin_open", API_FLAG, offsetof(struct run, stdin_open)},
    {"env", API_PAIRS, offsetof(struct run, env)},
    {"cwd", API_TEXT, offsetof(struct run, cwd)},
    {"shell", API_TEXT, offsetof(struct run, shell)},
    {"tier", API_TEXT, offsetof(struct run, tier)},
    {"timeout_ms", API_NUMBER, offsetof(struct run, timeout_ms)},
    {"wait_ms", API_NUMBER, offsetof(struct run, wait_ms)},
    {"output_limit", API_NUMBER, offsetof(struct run, output_limit)},
    {"atomic", API_FLAG, offsetof(struct run, atomic)},
    {"durable", API_FLAG, offsetof(struct run, durable)},
    {"tty", API_VALUE, offsetof(struct run, tty)},
};

static bool check_tier(struct request *r, const struct run *q)
{
    if (q->tier.p && !str_eqc(q->tier, "auto") && !str_eqc(q->tier, "isolate")) {
        bool vm = str_eqc(q->tier, "vm");
        request_fail(r, vm ? API_UNSUPPORTED : API_INVALID_ARGUMENT, "tier",
                     vm ? "this server has no virtual machines" : "field 'tier' is auto, isolate or vm");
        return false;
    }
    return true;
}

/* {"cols", "rows"} of a terminal; false after an answer. */
static bool take_tty(struct request *r, struct run *q)
{
    struct {
        uint64_t cols, rows;
    } size = {80, 24};
    const struct api_field size_fields[] = {{"cols", API_NUMBER, 0}, {"rows", API_NUMBER, sizeof(uint64_t)}};
    struct api_problem why = {"", ""};
    if (!q->tty.p || str_eqc(q->tty, "false") || str_eqc(q->tty, "null"))
        return true;
    if (api_decode(q->tty, size_fields, 2, &r->arena, &size, &why) || size.cols < 1 || size.cols > UINT16_MAX ||
        size.rows < 1 || size.rows > UINT16_MAX) {
        request_fail(r, API_INVALID_ARGUMENT, "tty", "field 'tty' is {\"cols\", \"rows\"}, 1 to 65535 each");
        return false;
    }
    q->cols = (uint16_t)size.cols;
    q->rows = (uint16_t)size.rows;
    return true;
}

static bool check(struct request *r, struct run *q)
{
    if (!check_tier(r, q) || !take_tty(r, q) || !request_env(r, &q->env))
        return false;
    const char *field = NULL, *text = NULL;
    if ((q->command.p != NULL) == (q->argv.v != NULL))
        field = "command", text = "one of 'command' (shell text) and 'argv' (a program and its arguments) is needed";
    else if (q->argv.v && q->argv.n == 0)
        field = "argv", text = "field 'argv' is empty";
    else if (q->shell.p && !str_eqc(q->shell, "main") && !str_eqc(q->shell, "fresh"))
        field = "shell", text = "field 'shell' is 'main' (goes on from the command before) or 'fresh'";
    else if (q->cwd.p && (q->cwd.n == 0 || q->cwd.p[0] != '/'))
        field = "cwd", text = "field 'cwd' is not an absolute path";
    else if (q->cwd.p && !str_eqc(q->shell, "fresh"))
        field = "cwd", text = "the main shell is where its last command left it: use cd, or \"shell\":\"fresh\"";
    else if (q->wait_ms > LIMIT_WAIT_MS)
        field = "wait_ms", text = "field 'wait_ms' is at most 600000";
    else if (q->timeout_ms > INT32_MAX)
        field = "timeout_ms", text = "field 'timeout_ms' is at most 2147483647";
    else if (q->output_limit > LIMIT_TRACE_OUTPUT)
        field = "output_limit", text = "field 'output_limit' is at most 16777216: read longer output by offset";
    else if (q->input_encoding.p && !str_eqc(q->input_encoding, "base64"))
        field = "stdin_encoding", text = "field 'stdin_encoding' is 'base64', or left out for text";
    else if (q->input_encoding.p && (!q->input.p || api_base64(q->input, &r->arena, &q->input)))
        field = "stdin", text = "field 'stdin' is not base64";
    if (!field)
        return true;
    request_fail(r, API_INVALID_ARGUMENT, field, "%s", text);
    return false;
}

/* The session's environment, and over it that of the exec. */
static struct wire_list join(struct request *r, const struct wire_list *a, const struct wire_list *b)
{
    struct wire_list all = {arena_alloc(&r->arena, (a->n + b->n + 1) * sizeof(struct str)), 0};
    for (uint32_t i = 0; i < a->n; i++)
        all.v[all.n++] = a->v[i];
    for (uint32_t i = 0; i < b->n; i++)
        all.v[all.n++] = b->v[i];
    return all;
}

static void begin(struct request *r, const struct id *again);

/* One that is not kept here is in the log, once its session was opened: then a command that a dead process left without
 * an end has one. */
static void show_record(void *arg, struct sched_session *s, int error, const char *text)
{
    struct request *r = arg;
    struct waiting *w = r->state;
    struct sched_record rec;
    struct err err = {0};
    if (error) {
        request_fail_errno(r, error, text);
        return;
    }
    int e = sched_record_find(s, r->params[1], &rec, &err);
    struct id id;
    if (e == -ENOENT && w->repeats && id_parse(ID_EXEC, r->params[1], &id) == 0) {
        sched_unref(r->session); /* it is found anew */
        r->session = NULL;
        begin(r, &id);
        return;
    }
    if (e) {
        request_fail_errno(r, e, err.text);
        return;
    }
    struct answer *a = answer_begin(r);
    exec_form_put(&a->w, s, &rec.info, w->output_limit);
    sched_record_done(&rec);
    answer_send(r, a, MHD_HTTP_OK);
}

static void begin(struct request *r, const struct id *again)
{
    struct run q = {.wait_ms = WAIT_MS, .output_limit = OUTPUT_LIMIT};
    struct sched_session_info info;
    struct err err = {0};
    if (!request_session(r) || !request_decode(r, fields, sizeof(fields) / sizeof(fields[0]), &q) || !check(r, &q))
        return;
    if (!policy_allows(r, "tier isolate"))
        return;
    int e = sched_info(r->session, &info, &err);
    if (e) {
        request_fail_errno(r, e, err.text);
        return;
    }
    const struct sched_exec_request x = {
        .exec = {.kind = q.argv.v ? WIRE_EXEC_ARGV : WIRE_EXEC_TEXT,
                 .text = q.command,
                 .argv = q.argv,
                 .env = join(r, &info.settings->env, &q.env),
                 .atomic = q.atomic,
                 .durable = q.durable,
                 .keep = !str_eqc(q.shell, "fresh"),
                 .tty = q.cols ? WIRE_TTY : 0,
                 .rows = q.rows,
                 .cols = q.cols,
                 .cwd = q.cwd},
        .has_stdin = q.input.p != NULL,
        .input = q.input,
        .stdin_stays = q.stdin_open,
        .timeout_ms = q.timeout_ms,
    };
    /* An id that a repeat has brought is of an exec that never came to its session: it begins now. */
    struct id id = again ? *again : id_new(ID_EXEC);
    e = again ? 0 : idempotency_exec(r, str_c(id.text));
    if (e == 0)
        e = sched_exec(r->session, &x, &id, &r->exec, &err);
    if (e)
        request_fail_errno(r, e, err.text);
    else
        wait_for(r, q.wait_ms, q.output_limit, true);
}

/* The first request's exec is waited for as if it were this one's, or found in the log. */
static void attach(struct request *r, struct str id)
{
    struct run q = {.wait_ms = WAIT_MS, .output_limit = OUTPUT_LIMIT};
    if (!request_session(r) || !request_decode(r, fields, sizeof(fields) / sizeof(fields[0]), &q) || !check(r, &q))
        return;
    r->exec = sched_exec_find(r->session, id);
    if (r->exec) {
        wait_for(r, q.wait_ms, q.output_limit, true);
        return;
    }
    struct waiting *w = arena_alloc(&r->arena, sizeof(*w));
    *w = (struct waiting){.output_limit = q.output_limit, .repeats = true};
    r->params[1] = arena_str(&r->arena, id);
    r->state = w;
    sched_wake(r->session, show_record, r);
}

void h_exec(struct request *r)
{
    struct str id;
    switch (idempotency_begin(r, &id)) {
    case IDEMPOTENCY_NONE:
        begin(r, NULL);
        break;
    case IDEMPOTENCY_EXEC:
        attach(r, id);
        break;
    case IDEMPOTENCY_ANSWERED:
        break;
    }
}

/* ---- show and list ---- */

void h_execs_show(struct request *r)
{
    uint64_t wait, limit;
    if (!request_query_number(r, "wait_ms", 0, LIMIT_WAIT_MS, &wait) ||
        !request_query_number(r, "output_limit", OUTPUT_LIMIT, LIMIT_TRACE_OUTPUT, &limit) || !request_session(r))
        return;
    r->exec = sched_exec_find(r->session, r->params[1]);
    if (r->exec) {
        wait_for(r, wait, limit, false);
        return;
    }
    struct waiting *w = arena_alloc(&r->arena, sizeof(*w));
    *w = (struct waiting){.output_limit = limit};
    r->state = w;
    sched_wake(r->session, show_record, r);
}

struct listing {
    struct request *r;
    struct answer *a;
    struct str after;
    uint64_t most, n;
    char last[ID_MAX];
    bool more;
};

static void list_info(struct listing *l, const struct sched_exec_info *info)
{
    if (str_cmp(str_c(info->id), l->after) <= 0)
        return;
    if (l->n == l->most) {
        l->more = true;
        return;
    }
    json_begin(&l->a->w, NULL, '{');
    exec_form_put(&l->a->w, l->r->session, info, 0);
    json_end(&l->a->w, '}');
    l->n++;
    snprintf(l->last, sizeof(l->last), "%s", info->id);
}

static int list_record(void *arg, const struct sched_record *rec)
{
    struct listing *l = arg;
    struct sched_exec *kept = sched_exec_find(l->r->session, str_c(rec->id));
    if (kept)
        sched_exec_unref(kept); /* told from there, behind those that are not */
    else
        list_info(l, &rec->info);
    return l->more;
}

static void list_kept(void *arg, struct sched_exec *e)
{
    struct sched_exec_info info;
    struct listing *l = arg;
    sched_exec_info(e, &info);
    if (!l->more)
        list_info(l, &info);
}

static void list_all(void *arg, struct sched_session *s, int error, const char *text)
{
    struct request *r = arg;
    struct listing *l = r->state;
    struct err err = {0};
    if (error) {
        request_fail_errno(r, error, text);
        return;
    }
    l->a = answer_begin(r);
    json_begin(&l->a->w, "execs", '[');
    int e = sched_record_each(s, list_record, l, &err);
    if (e < 0) {
        buf_done(&l->a->buf);
        request_fail_errno(r, e, err.text);
        return;
    }
    sched_exec_each(s, list_kept, l);
    json_end(&l->a->w, ']');
    json_text_or_null(&l->a->w, "next", l->more ? str_c(l->last) : STR(""));
    answer_send(r, l->a, MHD_HTTP_OK);
}

void h_execs_list(struct request *r)
{
    struct listing *l = arena_alloc(&r->arena, sizeof(*l));
    struct str after = request_query(r, "after");
    *l = (struct listing){.r = r, .after = after.p ? after : STR("")};
    if (!request_query_number(r, "limit", 100, 1000, &l->most) || !request_session(r))
        return;
    r->state = l;
    sched_wake(r->session, list_all, r);
}

/* ---- signal and input ---- */

/* The exec that a path names, if it still can be reached; false after an answer. */
static bool find_live(struct request *r)
{
    struct sched_exec_info info;
    if (!request_session(r))
        return false;
    r->exec = sched_exec_find(r->session, r->params[1]);
    if (r->exec)
        sched_exec_info(r->exec, &info);
    if (r->exec && (info.running || info.waiting))
        return true;
    if (r->exec)
        request_fail(r, API_CONFLICT, NULL, "the exec has ended");
    else
        request_fail(r, API_NOT_FOUND, NULL, "no such exec runs in the session");
    return false;
}

struct signal_body {
    struct str signal;
};

void h_execs_signal(struct request *r)
{
    static const struct api_field f[] = {{"signal", API_TEXT, offsetof(struct signal_body, signal)}};
    struct signal_body q = {STR("TERM")};
    if (!request_decode(r, f, 1, &q))
        return;
    int sig = exec_form_signal(q.signal);
    if (sig == 0) {
        request_fail(r, API_INVALID_ARGUMENT, "signal",
                     "field 'signal' is HUP, INT, QUIT, KILL, USR1, USR2, TERM, CONT, STOP, TSTP or WINCH");
        return;
    }
    if (!find_live(r))
        return;
    int e = sched_signal(r->exec, sig);
    if (e)
        request_fail_errno(r, e, "");
    else
        request_reply_bytes(r, MHD_HTTP_NO_CONTENT, NULL, STR(""));
}

struct input_body {
    struct str data, encoding;
    bool close;
};

void h_execs_stdin(struct request *r)
{
    static const struct api_field f[] = {{"data", API_TEXT, offsetof(struct input_body, data)},
                                         {"encoding", API_TEXT, offsetof(struct input_body, encoding)},
                                         {"close", API_FLAG, offsetof(struct input_body, close)}};
    struct input_body q = {.close = false};
    if (!request_decode(r, f, 3, &q))
        return;
    if (q.encoding.p && (!str_eqc(q.encoding, "base64") || api_base64(q.data, &r->arena, &q.data))) {
        request_fail(r, API_INVALID_ARGUMENT, "data", "field 'encoding' is 'base64' or left out, and 'data' is such");
        return;
    }
    if (!find_live(r))
        return;
    int e = sched_input(r->exec, q.data, q.close);
    if (e == -EPIPE)
        request_fail(r, API_CONFLICT, NULL, "its standard input is closed (\"stdin_open\":true keeps it open)");
    else if (e)
        request_fail_errno(r, e, "its standard input is full: send more when it has read some");
    else
        request_reply_bytes(r, MHD_HTTP_NO_CONTENT, NULL, STR(""));
}
