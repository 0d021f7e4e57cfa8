/* SPDX-License-Identifier: Apache-2.0 */

/*
 * frontal-sandbox trace: a session's log for a person, a line a command.
 *
 * A command is read twice: to its END for the line, and when its files or output are asked for, once more from its
 * EXEC. So memory does not depend on what it did.
 */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/num.h"
#include "cli/view.h"
#include "snapshot/state.h"
#include "types/errtab.h"
#include "vfs/vfs.h"
#include "wire/json_object.h"
#include "wire/json_trace.h"

#define FOLLOW_PAUSE (100 * CLOCK_MS)
#define FOLLOW_TRIES 20 /* for an event that is half written to become whole */
#define TEXT_MAX 4096u  /* bytes of a command's text that are shown */
#define MINUS "\xe2\x88\x92"

struct command {
    bool open;           /* an EXEC was read, and no END yet */
    struct trace_pos at; /* of the EXEC */
    uint64_t seq;
    int64_t time;
    uint32_t added, removed, changed;
    struct buf text;
};

struct showing {
    struct state *s;
    struct trace *t;
    char id[STATE_ID_MAX]; /* of the session */
    struct cas *store;     /* opened when first needed; NULL: not, or not there */
    bool store_tried;
    struct cli_view view;
    bool json, files, output;
    struct command cmd;
    struct buf out;
};

static struct cas *store_of(struct showing *sh)
{
    if (!sh->store_tried && state_store(sh->s, 0, &sh->store, NULL))
        sh->store = NULL;
    sh->store_tried = true;
    return sh->store;
}

/* ---- the text of a command ---- */

/* Words joined by NUL, with quotes where a shell would need them. */
static void put_words(struct buf *out, struct str words)
{
    for (bool first = true; words.n || first; first = false) {
        ptrdiff_t nul = str_find(words, 0, 0);
        struct str w = str_of(words.p, nul < 0 ? words.n : (size_t)nul);
        if (!first)
            buf_putc(out, ' ');
        cli_put_word(out, w);
        words = str_from(words, w.n + 1);
        if (out->n > TEXT_MAX)
            return;
    }
}

/* What was run as a person would type it: a script by its name, a command by its words, a text as it is. */
static void put_text(struct showing *sh, const struct trace_exec *e, struct buf *out)
{
    struct buf script;
    struct str args = e->args.n ? e->args : e->text;
    if (args.n && args.p[args.n - 1] == 0)
        args.n--;
    buf_init(&script, LIMIT_CAS_BLOB);
    if (e->kind == WIRE_EXEC_STDIN)
        buf_addc(out, "(script on standard input)");
    else if (e->kind == WIRE_EXEC_ARGV || (e->kind == WIRE_EXEC_SCRIPT && e->args.n))
        put_words(out, args);
    else if (cas_id_none(&e->script))
        buf_add(out, e->text.p, NUM_MIN(e->text.n, TEXT_MAX));
    else if (store_of(sh) && cas_get(sh->store, &e->script, &script) == 0)
        buf_add(out, script.p, NUM_MIN(script.n, TEXT_MAX));
    else
        buf_addc(out, "(a script that is not in the store)");
    while (out->n && (out->p[out->n - 1] == '\n' || out->p[out->n - 1] == ' '))
        buf_trunc(out, out->n - 1);
    buf_done(&script);
}

/* ---- lines ---- */

static void begin_line(struct showing *sh, uint64_t seq, int64_t time)
{
    char text[32];
    snprintf(text, sizeof(text), "@%" PRIu64, seq);
    cli_put(&sh->view, &sh->out, CLI_BLUE, text, 6);
    buf_putc(&sh->out, ' ');
    BUF_AUTO struct buf when;
    buf_init(&when, 64);
    cli_put_time(&sh->view, &when, time);
    cli_put(&sh->view, &sh->out, CLI_DIM, when.p, sh->view.terminal ? -10 : 20);
    buf_addc(&sh->out, "  ");
}

static void put_status(struct showing *sh, const struct outcome *o)
{
    char text[32];
    enum cli_style style = CLI_RED;
    if (o->kind == OUTCOME_EXITED && o->code == 0) {
        snprintf(text, sizeof(text), "ok");
        style = CLI_GREEN;
    } else if (o->kind == OUTCOME_EXITED) {
        snprintf(text, sizeof(text), "exit %u", o->code);
    } else if (o->kind == OUTCOME_LOST) {
        snprintf(text, sizeof(text), "lost");
    } else if (o->reason > REASON_SIGNAL) {
        snprintf(text, sizeof(text), "%s", outcome_reason_name(o->reason));
        style = CLI_YELLOW;
    } else {
        const char *name = sigabbrev_np(o->signal);
        snprintf(text, sizeof(text), "%s%s", name ? "SIG" : "signal", name ? name : "");
    }
    cli_put(&sh->view, &sh->out, style, text, 9);
}

static void put_counts(struct showing *sh)
{
    const struct command *c = &sh->cmd;
    BUF_AUTO struct buf b;
    buf_init(&b, 128);
    if (c->added)
        buf_addf(&b, "+%u ", c->added);
    if (c->removed)
        buf_addf(&b, MINUS "%u ", c->removed);
    if (c->changed)
        buf_addf(&b, "~%u ", c->changed);
    cli_put(&sh->view, &sh->out, CLI_DIM, b.p, 12);
}

static void put_rest(struct showing *sh, size_t line)
{
    /* What is there of the line so far, without the colours. */
    unsigned used = 0;
    if (sh->view.width) {
        BUF_AUTO struct buf bare;
        buf_init(&bare, 4096);
        for (size_t i = line; i < sh->out.n; i++) {
            if (sh->out.p[i] == '\033')
                while (i < sh->out.n && sh->out.p[i] != 'm')
                    i++;
            else
                buf_putc(&bare, sh->out.p[i]);
        }
        used = cli_columns(buf_str(&bare));
    }
    unsigned left = sh->view.width > used + 20 ? sh->view.width - used : sh->view.width ? 20 : 0;
    cli_put_guest(&sh->out, buf_str(&sh->cmd.text), left);
    buf_putc(&sh->out, '\n');
}

/* @end NULL: there is none, and @without says what that means. */
static void command_line(struct showing *sh, const struct trace_end *end, const char *without)
{
    BUF_AUTO struct buf took;
    size_t line = sh->out.n;
    buf_init(&took, 64);
    begin_line(sh, sh->cmd.seq, sh->cmd.time);
    if (end) {
        put_status(sh, &end->outcome);
        cli_put_duration(&took, end->wall_us);
    } else {
        cli_put(&sh->view, &sh->out, CLI_YELLOW, without, 9);
    }
    cli_put(&sh->view, &sh->out, CLI_PLAIN, took.p, -8);
    buf_addc(&sh->out, "  ");
    put_counts(sh);
    put_rest(sh, line);
}

/* ---- what a command did ---- */

static void put_change(struct showing *sh, const struct trace_change *c)
{
    static const struct {
        const char *mark;
        enum cli_style style;
    } marks[] = {{"+", CLI_GREEN}, {MINUS, CLI_RED}, {"~", CLI_YELLOW}, {"m", CLI_DIM}};
    if (c->kind > VFS_META)
        return;
    buf_addc(&sh->out, "       ");
    cli_put(&sh->view, &sh->out, marks[c->kind].style, marks[c->kind].mark, 2);
    cli_put_guest(&sh->out, c->path, 0);
    if (S_ISDIR(c->mode_after ? c->mode_after : c->mode_before))
        buf_putc(&sh->out, '/');
    if (c->kind == VFS_META && c->mode_before != c->mode_after)
        buf_addf(&sh->out, "  mode %04o to %04o", c->mode_before & 07777, c->mode_after & 07777);
    else if (S_ISREG(c->mode_after) && c->kind != VFS_META) {
        buf_addc(&sh->out, "  ");
        cli_put_size(&sh->out, c->size_after);
    }
    buf_putc(&sh->out, '\n');
}

static void put_output(struct showing *sh, const struct trace_output *o)
{
    struct buf blob;
    struct str text = o->data;
    buf_init(&blob, LIMIT_CAS_BLOB);
    if (!cas_id_none(&o->blob))
        text = store_of(sh) && cas_get(sh->store, &o->blob, &blob) == 0 ? buf_str(&blob)
                                                                        : STR("(output that is not in the store)");
    while (text.n) {
        ptrdiff_t nl = str_find(text, '\n', 0);
        size_t n = nl < 0 ? text.n : (size_t)nl;
        buf_addc(&sh->out, "       ");
        cli_put(&sh->view, &sh->out, o->stream == 2 ? CLI_RED : CLI_DIM, o->stream == 2 ? "!" : "|", 2);
        cli_put_guest(&sh->out, str_of(text.p, n), 0);
        buf_putc(&sh->out, '\n');
        text = str_from(text, n + 1);
        if (sh->out.n > 65536 && cli_print(&sh->out))
            break;
    }
    if (o->kept < o->size)
        buf_addf(&sh->out, "       (%" PRIu64 " bytes more were not kept)\n", o->size - o->kept);
    buf_done(&blob);
}

/* Reads the command again, up to @end. */
static int unfold(struct showing *sh, uint64_t end, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e = {.seq = 0};
    int r = 1;
    trace_begin(&pos);
    pos.seq = sh->cmd.at.seq;
    pos.offset = sh->cmd.at.offset;
    pos.chain = sh->cmd.at.chain;
    while (pos.seq < end && (r = trace_next(sh->t, &pos, &e, err)) > 0) {
        if (e.type == TRACE_CHANGE && sh->files)
            put_change(sh, &e.u.change);
        else if (e.type == TRACE_OUTPUT && sh->output)
            put_output(sh, &e.u.output);
        if (sh->out.n > 65536 && cli_print(&sh->out))
            break;
    }
    trace_pos_done(&pos);
    return r < 0 ? r : 0;
}

/* ---- events ---- */

static void count_change(struct command *c, uint8_t kind)
{
    if (kind == VFS_ADDED)
        c->added++;
    else if (kind == VFS_REMOVED)
        c->removed++;
    else
        c->changed++;
}

/* An event that is no command's. */
static void put_note(struct showing *sh, const struct trace_event *e)
{
    begin_line(sh, e->seq, e->time);
    BUF_AUTO struct buf b;
    buf_init(&b, 8192);
    if (e->type == TRACE_CREATED) {
        buf_addc(&b, "created");
        if (e->u.created.from.n)
            buf_addf(&b, " from %.*s", (int)e->u.created.from.n, e->u.created.from.p);
    } else if (e->type == TRACE_SNAPSHOT) {
        buf_addf(&b, "snapshot %.*s", (int)e->u.snapshot.id.n, e->u.snapshot.id.p);
        if (e->u.snapshot.name.n)
            buf_addf(&b, " %.*s", (int)e->u.snapshot.name.n, e->u.snapshot.name.p);
    } else if (e->type == TRACE_RESTORE) {
        buf_addf(&b, "restored from %.*s", (int)e->u.restore.from.n, e->u.restore.from.p);
    } else if (e->type == TRACE_FORK) {
        buf_addf(&b, "forked to %.*s", (int)e->u.fork.session.n, e->u.fork.session.p);
    }
    cli_put_guest(&sh->out, buf_str(&b), 0);
    buf_putc(&sh->out, '\n');
}

/* Shows one event; @before is the place it was read from. */
static int show(struct showing *sh, const struct trace_pos *before, const struct trace_event *e, struct err *err)
{
    struct command *c = &sh->cmd;
    if (sh->json) {
        int r = json_trace_event(&sh->out, e);
        buf_putc(&sh->out, '\n');
        return r;
    }
    switch (e->type) {
    case TRACE_EXEC:
        if (c->open)
            command_line(sh, NULL, "lost");
        c->open = true;
        c->at = *before;
        c->seq = e->seq;
        c->time = e->time;
        c->added = c->removed = c->changed = 0;
        buf_clear(&c->text);
        put_text(sh, &e->u.exec, &c->text);
        return 0;
    case TRACE_CHANGE:
        count_change(c, e->u.change.kind);
        return 0;
    case TRACE_END: {
        if (!c->open)
            return 0;
        c->open = false;
        command_line(sh, &e->u.end, NULL);
        return sh->files || sh->output ? unfold(sh, e->seq, err) : 0;
    }
    case TRACE_CREATED:
    case TRACE_SNAPSHOT:
    case TRACE_RESTORE:
    case TRACE_FORK:
        put_note(sh, e);
        return 0;
    case TRACE_INPUT:
    case TRACE_CLOCK:
    case TRACE_OUTPUT:
    case TRACE_DECISION:
    case TRACE_HOST_READ:
    case TRACE_LIMIT:
    case TRACE_TYPES:
        break;
    }
    return 0;
}

/* What is there now, from @pos on: 0, or an error. */
static int show_more(struct showing *sh, struct trace_pos *pos, uint64_t until, struct err *err)
{
    struct trace_event e;
    int r = 0;
    while (pos->seq < until) {
        struct trace_pos before = {.seq = pos->seq, .offset = pos->offset, .chain = pos->chain};
        r = trace_next(sh->t, pos, &e, err);
        if (r <= 0)
            break;
        r = show(sh, &before, &e, err);
        if (r || (sh->out.n > 65536 && cli_print(&sh->out)))
            break;
    }
    return r < 0 ? r : cli_print(&sh->out) ? -EIO : 0;
}

static int show_all(struct showing *sh, struct trace_pos *pos, struct err *err)
{
    struct trace_pos tail;
    trace_begin(&tail);
    /* Bytes behind the last whole event are one that is being written, or what a killed process left. */
    int r = trace_tail(sh->t, &tail, err);
    if (r == 0)
        r = show_more(sh, pos, tail.seq, err);
    trace_pos_done(&tail);
    return r;
}

/* The log's last command has no end: it runs, or its processes are gone and the next who opens the session says so.
 * Only who holds the lock writes, so what a log says after the lock was seen free is the last word. */
static int show_open(struct showing *sh, struct trace_pos *pos, struct err *err)
{
    int used, r = 0;
    uint64_t seen;
    do {
        used = state_session_in_use(sh->s, sh->id);
        seen = pos->seq;
        if (used == 0)
            r = show_all(sh, pos, err);
    } while (r == 0 && pos->seq != seen);
    if (r == 0 && sh->cmd.open)
        command_line(sh, NULL, used > 0 ? "running" : used == 0 ? "lost" : "unknown");
    return r;
}

static int follow(struct showing *sh, struct trace_pos *pos, int fd, struct err *err)
{
    struct stat st;
    int tries = 0, r = 0;
    while (fstat(fd, &st) == 0 && st.st_nlink > 0) {
        sh->view.now = clock_wall();
        r = show_more(sh, pos, UINT64_MAX, err);
        tries = r == -EBADMSG ? tries + 1 : 0;
        if (r && (r != -EBADMSG || tries >= FOLLOW_TRIES))
            return r;
        nanosleep(&(struct timespec){.tv_nsec = FOLLOW_PAUSE}, NULL);
    }
    return 0;
}

/* The last event before the damage that a session can go on from. */
static uint64_t last_good(struct trace *t)
{
    struct trace_pos pos;
    struct trace_event e;
    uint64_t seq = 0;
    trace_begin(&pos);
    while (trace_next(t, &pos, &e, NULL) > 0) {
        if (e.type == TRACE_CREATED || e.type == TRACE_END || e.type == TRACE_RESTORE)
            seq = e.seq;
    }
    trace_pos_done(&pos);
    return seq;
}

static int verify(struct showing *sh, const char *who, struct err *err)
{
    struct trace_report rep;
    int r = trace_verify(sh->t, &rep);
    if (r && r != -EBADMSG)
        return err_set(err, r, "%s: %s", who, errtab_text(r));
    if (rep.torn) /* a process was killed while it wrote, or writes now, or power was lost: the next run goes on */
        r = 0;
    if (sh->json) {
        const struct json_member m[] = {
            JSON_BOOL("ok", r == 0),
            JSON_NUMBER("events", rep.events),
            JSON_NUMBER("bytes", rep.bytes),
            JSON_NUMBER("torn_bytes", rep.torn),
            JSON_HASH("head", rep.head.b),
            JSON_TEXT_OR_NULL("error", str_c(r ? rep.what : "")),
        };
        json_object_line(&sh->out, m, sizeof(m) / sizeof(m[0]));
    } else if (r == 0) {
        buf_addc(&sh->out, "whole: ");
        cli_put_count(&sh->out, rep.events, "event");
        buf_addc(&sh->out, ", ");
        cli_put_size(&sh->out, rep.bytes);
        buf_addc(&sh->out, ", head ");
        cli_put_hash(&sh->view, &sh->out, &rep.head);
        buf_putc(&sh->out, '\n');
        if (rep.torn)
            buf_addf(&sh->out, "torn tail, will be cut by the next run: %" PRIu64 " bytes that %s\n", rep.torn,
                     rep.hole ? "were not on the disk when power was lost"
                              : "a process did not write to their end; no command's result is lost by it");
    } else {
        buf_addf(&sh->out, "damaged: %s\n", rep.what);
        if (rep.events)
            buf_addf(&sh->out,
                     "what was before can be saved: frontal-sandbox fork %s@%" PRIu64 " NEW, then session destroy %s\n",
                     who, last_good(sh->t), who);
    }
    return cli_print(&sh->out) ? -EIO : r ? 1 : 0;
}

int cli_trace(int argc, char **argv)
{
    struct cli_common c;
    struct showing sh = {.store_tried = false};
    bool want_follow = false, want_verify = false;
    const struct cli_opt opts[] = {{"files", CLI_OPT_FLAG, &sh.files},
                                   {"output", CLI_OPT_FLAG, &sh.output},
                                   {"follow", CLI_OPT_FLAG, &want_follow},
                                   {"verify", CLI_OPT_FLAG, &want_verify},
                                   {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_options_read(&c, "trace", argc, argv, opts, 1, 1, "one session");
    sh.s = r ? NULL : cli_state_open(&c, false);
    if (!sh.s)
        return r > 0 ? 0 : CLI_FAILED;
    struct state_session ses;
    struct trace_pos pos;
    struct err err = {0};
    FD_AUTO int fd = -1;
    trace_begin(&pos);
    buf_init(&sh.out, 256u << 20);
    buf_init(&sh.cmd.text, 2 * TEXT_MAX + 64);
    cli_view_init(&sh.view);
    sh.json = c.json;
    r = state_session_open(sh.s, str_c(c.argv[0]), false, 0, &ses, &err);
    if (r == 0) {
        memcpy(sh.id, ses.id, sizeof(sh.id));
        fd = fcntl(ses.trace_fd, F_DUPFD_CLOEXEC, 3);
        r = trace_open(fd_steal(&ses.trace_fd), ses.recheck ? TRACE_HOLES : 0, &sh.t, NULL, &err);
        state_session_close(&ses);
    }
    if (r == 0 && want_verify)
        r = verify(&sh, c.argv[0], &err);
    else if (r == 0)
        r = show_all(&sh, &pos, &err);
    if (r == 0 && want_follow && !want_verify)
        r = follow(&sh, &pos, fd, &err);
    if (r == 0 && sh.cmd.open)
        r = show_open(&sh, &pos, &err);
    (void)cli_print(&sh.out);
    if (r < 0)
        cli_fail(&err);
    trace_pos_done(&pos);
    trace_close(sh.t);
    cas_close(sh.store);
    buf_done(&sh.out);
    buf_done(&sh.cmd.text);
    state_close(sh.s);
    return r == -EBADMSG ? 1 : r < 0 ? CLI_FAILED : r;
}
