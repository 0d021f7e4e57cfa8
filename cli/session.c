/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox session: the sessions that are kept. */

#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>

#include "base/fd.h"
#include "cli/trees.h"
#include "cli/view.h"
#include "snapshot/state.h"
#include "types/errtab.h"
#include "vfs/image.h"
#include "wire/json_object.h"

/* ---- what a log tells ---- */

struct about {
    uint64_t events, bytes, seq; /* seq: of the event that holds the state */
    int64_t created, last;
    struct trace_state state;
    struct buf from, config;
};

static void about_init(struct about *a)
{
    *a = (struct about){0};
    buf_init(&a->from, 4096);
    buf_init(&a->config, LIMIT_TRACE_EVENT);
}

static void about_done(struct about *a)
{
    buf_done(&a->from);
    buf_done(&a->config);
}

static int read_first(struct trace *t, struct about *a, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e;
    trace_begin(&pos);
    int r = trace_next(t, &pos, &e, err);
    if (r > 0 && e.type == TRACE_CREATED) {
        a->created = e.time;
        buf_adds(&a->from, e.u.created.from);
        buf_adds(&a->config, e.u.created.config);
    }
    trace_pos_done(&pos);
    return r > 0 ? 0 : r ? r : err_set(err, -EBADMSG, "the log is empty");
}

static int read_tail(struct trace *t, struct about *a, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e;
    trace_begin(&pos);
    int r = trace_tail(t, &pos, err);
    a->events = pos.seq;
    a->bytes = pos.offset;
    if (r == 0)
        r = trace_prev(t, &pos, &e, err);
    if (r > 0)
        a->last = e.time;
    trace_pos_done(&pos);
    return r < 0 ? r : state_last(t, &a->seq, &a->state, err);
}

static int look(struct state *s, const char *id, bool all, struct about *a, struct err *err)
{
    struct state_session ses;
    struct trace *t;
    int r = state_session_open(s, str_c(id), false, 0, &ses, err);
    if (r)
        return r;
    r = trace_open(fd_steal(&ses.trace_fd), 0, &t, NULL, err);
    state_session_close(&ses);
    if (r)
        return r;
    if (all)
        r = read_first(t, a, err);
    if (r == 0)
        r = read_tail(t, a, err);
    trace_close(t);
    return r;
}

/* ---- list ---- */

struct listing {
    struct state *s;
    struct cli_view view;
    struct cli_progress progress;
    bool json;
    uint64_t n;
    struct buf out;
};

static int list_one(void *arg, const char *id, const char *name)
{
    struct listing *l = arg;
    struct about a;
    struct err err = {0};
    char text[32];
    about_init(&a);
    int r = look(l->s, id, false, &a, &err);
    if (l->json) {
        const struct json_member m[] = {
            JSON_TEXT_OR_NULL("name", str_c(name)),
            JSON_TEXT("id", str_c(id)),
            JSON_NUMBER("events", a.events),
            JSON_NUMBER("bytes", a.bytes),
            {"last", r ? JSON_AS_NULL : JSON_AS_TIME, {NULL, 0}, (uint64_t)a.last, NULL},
            {"root", r ? JSON_AS_NULL : JSON_AS_HASH, {NULL, 0}, 0, a.state.root.b},
            JSON_TEXT_OR_NULL("error", str_c(err.text)),
        };
        json_object_line(&l->out, m, sizeof(m) / sizeof(m[0]));
    } else {
        if (l->n == 0 && l->view.terminal) {
            cli_put(&l->view, &l->out, CLI_BOLD, "NAME", 24);
            cli_put(&l->view, &l->out, CLI_BOLD, " ID", 32);
            cli_put(&l->view, &l->out, CLI_BOLD, "EVENTS", -8);
            cli_put(&l->view, &l->out, CLI_BOLD, "  LAST", 0);
            buf_putc(&l->out, '\n');
        }
        cli_put(&l->view, &l->out, CLI_PLAIN, name[0] ? name : "-", 24);
        buf_putc(&l->out, ' ');
        cli_put(&l->view, &l->out, CLI_DIM, id, 31);
        snprintf(text, sizeof(text), "%" PRIu64, a.events);
        cli_put(&l->view, &l->out, CLI_PLAIN, text, -8);
        buf_addc(&l->out, "  ");
        if (r)
            cli_put(&l->view, &l->out, CLI_RED, "damaged: see frontal-sandbox trace --verify", 0);
        else
            cli_put_time(&l->view, &l->out, a.last);
        buf_putc(&l->out, '\n');
    }
    about_done(&a);
    cli_progress_show(&l->progress, ++l->n, 0);
    return l->out.n < 65536 ? 0 : cli_print(&l->out);
}

static int list(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "session", argc, argv, NULL, 0, 0, "no argument after list");
    struct listing l = {.s = r ? NULL : cli_state_open(&c, false), .json = c.json};
    if (!l.s)
        return r > 0 ? 0 : CLI_FAILED;
    buf_init(&l.out, 1u << 20);
    cli_view_init(&l.view);
    cli_progress_begin(&l.progress, "sessions");
    r = state_session_each(l.s, list_one, &l);
    cli_progress_end(&l.progress);
    if (r == 0)
        r = cli_print(&l.out);
    if (l.n == 0 && l.view.terminal && !c.json)
        cli_error("there is no session yet: frontal-sandbox run --session NAME makes one");
    buf_done(&l.out);
    state_close(l.s);
    return r ? CLI_FAILED : 0;
}

/* ---- show ---- */

static int snapshot_name(void *arg, const struct state_snapshot *snap)
{
    buf_addf(arg, "%s\n", snap->name[0] ? snap->name : snap->id);
    return 0;
}

static int snapshot_json(void *arg, const struct state_snapshot *snap)
{
    const struct json_member m[] = {
        JSON_TEXT("id", str_c(snap->id)),
        JSON_TEXT_OR_NULL("name", str_c(snap->name)),
        JSON_NUMBER("seq", snap->seq),
    };
    return json_object_line(arg, m, sizeof(m) / sizeof(m[0]));
}

static void label(const struct cli_view *v, struct buf *out, const char *text)
{
    cli_put(v, out, CLI_DIM, text, 12);
}

/* Lines of @text, each after the label's column but the first. */
static void put_lines(struct buf *out, struct str text)
{
    bool first = true;
    while (text.n) {
        ptrdiff_t nl = str_find(text, '\n', 0);
        size_t n = nl < 0 ? text.n : (size_t)nl;
        buf_addf(out, "%*s", first ? 0 : 12, "");
        cli_put_guest(out, str_of(text.p, n), 0);
        buf_putc(out, '\n');
        text = str_from(text, n + 1);
        first = false;
    }
    if (first)
        buf_addc(out, "-\n");
}

static void show_text(struct buf *out, struct state *s, const struct state_session *ses, const struct about *a,
                      const struct vfs_quota *size, const struct err *no_size)
{
    struct cli_view v;
    BUF_AUTO struct buf names;
    buf_init(&names, 1u << 20);
    cli_view_init(&v);
    label(&v, out, "name");
    cli_put(&v, out, CLI_BOLD, ses->name[0] ? ses->name : "-", 0);
    buf_putc(out, '\n');
    label(&v, out, "id");
    buf_addf(out, "%s\n", ses->id);
    label(&v, out, "created");
    cli_put_time(&v, out, a->created);
    if (a->from.n)
        buf_addf(out, " from %s", a->from.p);
    buf_putc(out, '\n');
    label(&v, out, "last");
    cli_put_time(&v, out, a->last);
    buf_putc(out, '\n');
    label(&v, out, "log");
    cli_put_count(out, a->events, "event");
    buf_addc(out, ", ");
    cli_put_size(out, a->bytes);
    buf_putc(out, '\n');
    label(&v, out, "state");
    buf_addf(out, "@%" PRIu64 " ", a->seq);
    cli_put_hash(&v, out, &a->state.root);
    buf_putc(out, '\n');
    label(&v, out, "files");
    if (no_size->code) {
        cli_put(&v, out, CLI_RED, no_size->text, 0);
    } else {
        buf_addf(out, "%" PRIu64 ", ", size->inodes);
        cli_put_size(out, size->bytes);
    }
    buf_putc(out, '\n');
    label(&v, out, "snapshots");
    state_snapshot_each(s, str_c(ses->id), snapshot_name, &names);
    put_lines(out, buf_str(&names));
    label(&v, out, "config");
    put_lines(out, buf_str(&a->config));
}

static void show_json(struct buf *out, struct state *s, const struct state_session *ses, const struct about *a,
                      const struct vfs_quota *size, const struct err *no_size)
{
    BUF_AUTO struct buf snaps;
    enum json_as as_size = no_size->code ? JSON_AS_NULL : JSON_AS_NUMBER;
    buf_init(&snaps, 16u << 20);
    state_snapshot_each(s, str_c(ses->id), snapshot_json, &snaps);
    const struct json_member m[] = {
        JSON_TEXT_OR_NULL("name", str_c(ses->name)),
        JSON_TEXT("id", str_c(ses->id)),
        JSON_TIME("created", a->created),
        JSON_TEXT_OR_NULL("from", buf_str(&a->from)),
        JSON_TIME("last", a->last),
        JSON_NUMBER("events", a->events),
        JSON_NUMBER("bytes", a->bytes),
        JSON_NUMBER("seq", a->seq),
        JSON_HASH("root", a->state.root.b),
        JSON_HASH("image", a->state.image.b),
        {"files", as_size, {NULL, 0}, size->inodes, NULL},
        {"files_bytes", as_size, {NULL, 0}, size->bytes, NULL},
        JSON_LIST("snapshots", buf_str(&snaps)),
        JSON_TEXT("config", buf_str(&a->config)),
    };
    json_object_line(out, m, sizeof(m) / sizeof(m[0]));
}

static int show(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "session", argc, argv, NULL, 1, 1, "one session after show");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct state_session ses;
    struct about a;
    struct vfs_quota size = {0};
    struct err err = {0}, no_size = {0};
    BUF_AUTO struct buf out;
    buf_init(&out, 32u << 20);
    about_init(&a);
    r = state_session_open(s, str_c(c.argv[0]), false, 0, &ses, &err);
    if (r == 0) {
        state_session_close(&ses);
        r = look(s, ses.id, true, &a, &err);
        if (r)
            err_wrap(&err, r, "session '%s' (frontal-sandbox trace --verify says more)", c.argv[0]);
    }
    if (r == 0) {
        (void)cli_tree_usage(s, &a.state, &size, &no_size);
        (c.json ? show_json : show_text)(&out, s, &ses, &a, &size, &no_size);
        r = cli_print(&out);
    } else {
        cli_fail(&err);
    }
    about_done(&a);
    state_close(s);
    return r ? CLI_FAILED : 0;
}

/* ---- rename, destroy ---- */

static int rename_one(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "session", argc, argv, NULL, 2, 2, "a session and its new name after rename");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct err err = {0};
    char id[STATE_ID_MAX];
    BUF_AUTO struct buf out;
    buf_init(&out, 4096);
    r = cli_session_id(s, c.argv[0], id, &err);
    if (r == 0)
        r = state_session_rename(s, str_c(id), str_c(c.argv[1]), &err);
    if (r == 0 && c.json) {
        const struct json_member m[] = {JSON_TEXT("id", str_c(id)), JSON_TEXT("name", str_c(c.argv[1]))};
        json_object_line(&out, m, 2);
    }
    state_close(s);
    return r ? cli_fail(&err) : cli_print(&out) ? CLI_FAILED : 0;
}

static int destroy(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "session", argc, argv, NULL, 1, INT32_MAX, "one session or more after destroy");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    BUF_AUTO struct buf out;
    buf_init(&out, 1u << 20);
    int status = 0;
    for (int i = 0; i < c.argc; i++) {
        struct err err = {0};
        char id[STATE_ID_MAX] = "";
        /* A session whose files are damaged can be destroyed too: its id is only for the answer. */
        (void)cli_session_id(s, c.argv[i], id, NULL);
        if (state_session_destroy(s, str_c(c.argv[i]), &err)) {
            status = cli_fail(&err);
        } else if (c.json) {
            const struct json_member m[] = {JSON_TEXT_OR_NULL("id", str_c(id)), JSON_BOOL("destroyed", true)};
            json_object_line(&out, m, 2);
            status = cli_print(&out) ? CLI_FAILED : status;
        }
    }
    state_close(s);
    return status;
}

int cli_session(int argc, char **argv)
{
    static const struct cli_sub subs[] = {
        {"list", list}, {"show", show}, {"rename", rename_one}, {"destroy", destroy}, {NULL, NULL}};
    return cli_sub_verb("session", subs, argc, argv);
}
