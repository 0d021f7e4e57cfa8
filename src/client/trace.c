/* SPDX-License-Identifier: Apache-2.0 */

/* trace: a line a command of a session's log, as the local verb has it, or its events. */

#include "client/client_int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "client/sse.h"

#define TEXT_MAX 4096u
#define MINUS "\xe2\x88\x92"
#define AGAIN_MS 500

struct showing {
    struct client_verb *v;
    struct sse sse;
    struct buf line, out; /* line: of NDJSON, not whole yet */
    bool follows;
    uint64_t next; /* event */
    /* The command that is open. */
    bool open;
    uint64_t seq, added, removed, changed;
    char time[40];
    struct buf text;
};

/* ---- lines ---- */

static void begin_line(struct showing *s, uint64_t seq, struct str time)
{
    char text[32];
    BUF_AUTO struct buf when;
    buf_init(&when, 64);
    snprintf(text, sizeof(text), "@%" PRIu64, seq);
    cli_put(&s->v->view, &s->out, CLI_BLUE, text, 6);
    buf_putc(&s->out, ' ');
    client_put_time(&s->v->view, &when, time);
    cli_put(&s->v->view, &s->out, CLI_DIM, when.p, s->v->view.terminal ? -10 : 20);
    buf_addc(&s->out, "  ");
}

static void put_text(struct buf *out, const struct json_tree *e)
{
    ARENA_AUTO struct arena a = {0};
    struct str kind = json_tree_text(e, "kind"), text = json_tree_bytes(e, "text", &a);
    size_t words = json_tree_count(e, "args");
    if (str_eqc(kind, "stdin")) {
        buf_addc(out, "(script on standard input)");
    } else if (str_eqc(kind, "argv") || (str_eqc(kind, "script") && words)) {
        for (size_t i = 0; i < words && out->n < TEXT_MAX; i++) {
            if (i)
                buf_putc(out, ' ');
            cli_put_word(out, json_tree_text(json_tree_element(e, "args", i), ""));
        }
    } else if (json_tree_has(e, "script")) {
        buf_addc(out, "(a long script: the server's log has it)");
    } else {
        buf_add(out, text.p ? text.p : "", text.n < TEXT_MAX ? text.n : TEXT_MAX);
    }
    while (out->n && (out->p[out->n - 1] == '\n' || out->p[out->n - 1] == ' '))
        buf_trunc(out, out->n - 1);
}

static void put_status(struct showing *s, const struct json_tree *end)
{
    char text[32];
    struct str status = json_tree_text(end, "status"), reason = json_tree_text(end, "reason");
    uint64_t code = json_tree_number(end, "exit_code", 0), sig = json_tree_number(end, "signal", 0);
    enum cli_style style = CLI_RED;
    if (str_eqc(status, "exited") && code == 0) {
        snprintf(text, sizeof(text), "ok");
        style = CLI_GREEN;
    } else if (str_eqc(status, "exited")) {
        snprintf(text, sizeof(text), "exit %" PRIu64, code);
    } else if (str_eqc(status, "lost")) {
        snprintf(text, sizeof(text), "lost");
    } else if (reason.n && !str_eqc(reason, "signal")) {
        snprintf(text, sizeof(text), "%.*s", (int)(reason.n < 20 ? reason.n : 20), reason.p);
        style = CLI_YELLOW;
    } else {
        const char *name = sig < 65 ? sigabbrev_np((int)sig) : NULL;
        snprintf(text, sizeof(text), "%s%s", name ? "SIG" : "signal", name ? name : "");
    }
    cli_put(&s->v->view, &s->out, style, text, 9);
}

/* @end NULL: the command has none, and @without says what that means. */
static void command_line(struct showing *s, const struct json_tree *end, const char *without)
{
    const struct cli_view *v = &s->v->view;
    BUF_AUTO struct buf b;
    buf_init(&b, 128);
    s->open = false;
    begin_line(s, s->seq, str_c(s->time));
    if (end) {
        put_status(s, end);
        cli_put_duration(&b, json_tree_number(end, "wall_us", 0));
    } else {
        cli_put(v, &s->out, CLI_YELLOW, without, 9);
    }
    cli_put(v, &s->out, CLI_PLAIN, b.n ? b.p : "", -8);
    buf_addc(&s->out, "  ");
    buf_clear(&b);
    if (s->added)
        buf_addf(&b, "+%" PRIu64 " ", s->added);
    if (s->removed)
        buf_addf(&b, MINUS "%" PRIu64 " ", s->removed);
    if (s->changed)
        buf_addf(&b, "~%" PRIu64 " ", s->changed);
    cli_put(v, &s->out, CLI_DIM, b.n ? b.p : "", 12);
    unsigned used = 60;
    cli_put_guest(&s->out, buf_str(&s->text), v->width > used + 20 ? v->width - used : v->width ? 20 : 0);
    buf_putc(&s->out, '\n');
}

static void put_note(struct showing *s, const struct json_tree *e, struct str type)
{
    static const struct {
        const char *type, *text, *field;
    } notes[] = {{"created", "created", "from"},
                 {"snapshot", "snapshot ", "id"},
                 {"restore", "restored from ", "from"},
                 {"fork", "forked to ", "session"}};
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
        struct str f = json_tree_text(e, notes[i].field);
        if (!str_eqc(type, notes[i].type))
            continue;
        begin_line(s, json_tree_number(e, "seq", 0), json_tree_text(e, "time"));
        buf_addc(&s->out, notes[i].text);
        if (i == 0 && f.n)
            buf_addc(&s->out, " from ");
        cli_put_guest(&s->out, f, 0);
        if (i == 1 && json_tree_text(e, "name").n) {
            buf_putc(&s->out, ' ');
            cli_put_guest(&s->out, json_tree_text(e, "name"), 0);
        }
        buf_putc(&s->out, '\n');
    }
}

static int show_event(struct showing *s, struct str json)
{
    struct json_tree *e = NULL;
    if (json_tree_new(json, &e))
        return -EPROTO;
    struct str type = json_tree_text(e, "type"), kind = json_tree_text(e, "kind"), time = json_tree_text(e, "time");
    s->next = json_tree_number(e, "seq", s->next) + 1;
    if (s->v->json) {
        buf_adds(&s->out, json);
        buf_putc(&s->out, '\n');
    } else if (str_eqc(type, "exec")) {
        if (s->open)
            command_line(s, NULL, "lost");
        s->open = true;
        s->seq = json_tree_number(e, "seq", 0);
        s->added = s->removed = s->changed = 0;
        snprintf(s->time, sizeof(s->time), "%.*s", (int)(time.n < 39 ? time.n : 39), time.n ? time.p : "");
        buf_clear(&s->text);
        put_text(&s->text, e);
    } else if (str_eqc(type, "change")) {
        s->added += str_eqc(kind, "added");
        s->removed += str_eqc(kind, "removed");
        s->changed += !str_eqc(kind, "added") && !str_eqc(kind, "removed");
    } else if (str_eqc(type, "end") && s->open) {
        command_line(s, e, "");
    } else {
        put_note(s, e, type);
    }
    json_tree_free(e);
    return (s->follows || s->out.n > 65536) && cli_print(&s->out) ? -EIO : 0;
}

/* ---- what comes ---- */

static int on_event(void *arg, const struct sse_event *e)
{
    return show_event(arg, e->data);
}

static int on_piece(void *arg, struct str p)
{
    struct showing *s = arg;
    if (s->follows)
        return sse_feed(&s->sse, p, on_event, s);
    int r = 0;
    while (p.n && r == 0) {
        ptrdiff_t nl = str_find(p, '\n', 0);
        size_t n = nl < 0 ? p.n : (size_t)nl;
        r = buf_add(&s->line, p.p, n);
        if (r == 0 && nl >= 0) {
            r = show_event(s, buf_str(&s->line));
            buf_clear(&s->line);
        }
        p = str_from(p, nl < 0 ? p.n : n + 1);
    }
    return r;
}

/* Once from s->next to the end, or until the connection ends. */
static int ask(struct showing *s, struct err *err)
{
    char rest[64];
    BUF_AUTO struct buf path;
    buf_init(&path, 64u << 10);
    buf_clear(&s->line);
    sse_reset(&s->sse);
    snprintf(rest, sizeof(rest), "/trace?from_seq=%" PRIu64, s->next);
    const struct client_request q = {.method = "GET",
                                     .path = client_session_path(&path, s->v->argv[0], rest),
                                     .accept = s->follows ? "text/event-stream" : "application/x-ndjson",
                                     .repeat = true,
                                     .piece = on_piece,
                                     .arg = s};
    return client_ask(s->v->client, &q, NULL, err);
}

/* Whether the command that has no end runs. */
static void show_open(struct showing *s)
{
    struct json_tree *t = NULL;
    struct err err = {0};
    BUF_AUTO struct buf path;
    buf_init(&path, 64u << 10);
    int r = client_json(s->v->client, "GET", client_session_path(&path, s->v->argv[0], ""), NULL, NULL, &t, &err);
    command_line(s, NULL, r ? "unknown" : str_eqc(json_tree_text(t, "state"), "running") ? "running" : "lost");
    json_tree_free(t);
}

int client_trace(int argc, char **argv)
{
    struct client_verb v;
    struct err err = {0};
    struct showing s = {.v = &v};
    const struct cli_opt opts[] = {{"follow", CLI_OPT_FLAG, &s.follows}, {NULL, CLI_OPT_FLAG, NULL}};
    if (client_options_read(&v, "trace", argc, argv, opts, 1, 1, "one session"))
        return CLIENT_FAILED;
    buf_init(&s.line, CLIENT_ANSWER_MAX);
    buf_init(&s.out, CLIENT_ANSWER_MAX);
    buf_init(&s.text, 2 * TEXT_MAX + 64);
    sse_init(&s.sse, CLIENT_ANSWER_MAX);
    int r;
    do { /* what was shown is not asked for again, so a cut connection loses and doubles nothing */
        r = ask(&s, &err);
        if (s.follows && (r == 0 || r == -ECONNRESET))
            client_turn(v.client, NULL, 0, AGAIN_MS);
    } while (s.follows && (r == 0 || r == -ECONNRESET));
    if (r == -ENOENT && s.follows && s.next)
        r = 0; /* the session was destroyed meanwhile */
    if (s.open && r == 0)
        show_open(&s);
    if (cli_print(&s.out) && r == 0)
        r = err_set(&err, -EIO, "the answer could not be written");
    sse_done(&s.sse);
    buf_done(&s.line);
    buf_done(&s.out);
    buf_done(&s.text);
    client_free(v.client);
    return r ? client_fail(&err) : 0;
}
