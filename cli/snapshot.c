/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox snapshot: names for states of a session. */

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

static void put_json(struct buf *out, const struct state_snapshot *snap)
{
    const struct json_member m[] = {
        JSON_TEXT("id", str_c(snap->id)),
        JSON_TEXT_OR_NULL("name", str_c(snap->name)),
        JSON_TEXT("session", str_c(snap->session)),
        JSON_NUMBER("seq", snap->seq),
        JSON_TIME("time", snap->time),
        JSON_HASH("root", snap->state.root.b),
        JSON_NUMBER("bytes", snap->bytes),
        JSON_NUMBER("new_bytes", snap->new_bytes),
    };
    json_object_line(out, m, sizeof(m) / sizeof(m[0]));
}

/* ---- making one ---- */

static int read_config(struct state *s, const char *id, struct buf *out, struct err *err)
{
    struct state_place p;
    int r = state_resolve(s, str_c(id), &p, err);
    if (r)
        return r;
    buf_adds(out, buf_str(&p.config));
    state_place_done(&p);
    return out->err;
}

static int note(struct trace *t, const struct state_snapshot *snap)
{
    struct trace_event e = {
        .type = TRACE_SNAPSHOT,
        .u.snapshot = {str_c(snap->id), str_c(snap->name), snap->bytes, snap->new_bytes, snap->state},
    };
    int r = trace_append(t, &e);
    return r ? r : trace_sync(t);
}

/* With the session's lock held. */
static int make(struct state *s, struct trace *t, struct state_snapshot *snap, struct err *err)
{
    BUF_AUTO struct buf config;
    buf_init(&config, LIMIT_TRACE_EVENT);
    struct vfs_quota used = {0};
    int r = state_settle(t, err);
    if (r >= 0)
        r = state_last(t, &snap->seq, &snap->state, err);
    if (r == 0)
        r = cli_tree_usage(s, &snap->state, &used, err);
    if (r == 0)
        r = read_config(s, snap->session, &config, err);
    snap->config = buf_str(&config);
    snap->bytes = used.bytes;
    if (r == 0)
        r = state_snapshot_put(s, snap, err);
    snap->config = str_of(NULL, 0);
    if (r)
        return r;
    r = note(t, snap);
    if (r) {
        trace_drop(t);
        (void)state_snapshot_delete(s, str_c(snap->session), str_c(snap->id), NULL);
        return err_set(err, r, "the log of the session: %s", errtab_text(r));
    }
    return 0;
}

static int open_log(struct state *s, const char *who, struct state_session *ses, struct trace **ret, struct err *err)
{
    int r = state_session_open(s, str_c(who), true, CLI_LOCK_WAIT_MS, ses, err);
    if (r)
        return r;
    r = trace_open(fd_steal(&ses->trace_fd), TRACE_APPEND, ret, NULL, err);
    if (r) {
        err_wrap(err, r, "session '%s'", who);
        state_session_close(ses);
    }
    return r;
}

static void show(const struct cli_view *v, struct buf *out, const struct state_snapshot *snap)
{
    cli_put(v, out, CLI_BOLD, snap->name[0] ? snap->name : "-", 20);
    buf_putc(out, ' ');
    cli_put(v, out, CLI_DIM, snap->id, 32);
    char seq[32];
    snprintf(seq, sizeof(seq), "@%" PRIu64, snap->seq);
    cli_put(v, out, CLI_BLUE, seq, 6);
    BUF_AUTO struct buf b;
    buf_init(&b, 256);
    cli_put_size(&b, snap->bytes);
    cli_put(v, out, CLI_PLAIN, b.p, -10);
    buf_clear(&b);
    cli_put_size(&b, snap->new_bytes);
    buf_addc(&b, " new");
    cli_put(v, out, CLI_PLAIN, b.p, -12);
    buf_addc(out, "  ");
    cli_put_time(v, out, snap->time);
    buf_addc(out, "  ");
    cli_put_hash(v, out, &snap->state.root);
    buf_putc(out, '\n');
}

static int take(int argc, char **argv)
{
    struct cli_common c;
    const char *name = "";
    const struct cli_opt opts[] = {{"name", CLI_OPT_TEXT, &name}, {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_options_read(&c, "snapshot", argc, argv, opts, 1, 1, "one session");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct state_snapshot snap = {.seq = 0};
    struct state_session ses;
    struct trace *t;
    struct err err = {0};
    struct cli_view v;
    BUF_AUTO struct buf out;
    buf_init(&out, 8192);
    cli_view_init(&v);
    if (strlen(name) > STATE_NAME_MAX)
        r = err_set(&err, -EINVAL, "--name: a name has at most %d characters", STATE_NAME_MAX);
    else
        memcpy(snap.name, name, strlen(name));
    if (r == 0)
        r = open_log(s, c.argv[0], &ses, &t, &err);
    if (r == 0) {
        memcpy(snap.session, ses.id, sizeof(snap.session));
        r = make(s, t, &snap, &err);
        trace_close(t);
        state_session_close(&ses);
    }
    if (r == 0 && c.json)
        put_json(&out, &snap);
    else if (r == 0)
        show(&v, &out, &snap);
    state_close(s);
    return r ? cli_fail(&err) : cli_print(&out) ? CLI_FAILED : 0;
}

/* ---- list and delete ---- */

struct listing {
    bool json;
    struct cli_view view;
    struct buf out;
};

static int list_one(void *arg, const struct state_snapshot *snap)
{
    struct listing *l = arg;
    if (l->json)
        put_json(&l->out, snap);
    else
        show(&l->view, &l->out, snap);
    return l->out.n < 65536 ? 0 : cli_print(&l->out);
}

static int list(int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "snapshot", argc, argv, NULL, 0, 1, "at most one session after list");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct listing l = {.json = c.json};
    struct err err = {0};
    char id[STATE_ID_MAX] = "";
    buf_init(&l.out, 1u << 20);
    cli_view_init(&l.view);
    if (c.argc)
        r = cli_session_id(s, c.argv[0], id, &err);
    if (r == 0)
        r = state_snapshot_each(s, str_c(id), list_one, &l);
    if (r < 0 && !err.code)
        err_set(&err, r, "%s: %s", state_path(s), errtab_text(r));
    if (r < 0)
        cli_fail(&err);
    else
        r = cli_print(&l.out);
    buf_done(&l.out);
    state_close(s);
    return r ? CLI_FAILED : 0;
}

static int delete (int argc, char **argv)
{
    struct cli_common c;
    int r = cli_options_read(&c, "snapshot", argc, argv, NULL, 2, 2, "a session and its snapshot after delete");
    struct state *s = r ? NULL : cli_state_open(&c, false);
    if (!s)
        return r > 0 ? 0 : CLI_FAILED;
    struct err err = {0};
    char id[STATE_ID_MAX];
    BUF_AUTO struct buf out;
    buf_init(&out, 4096);
    r = cli_session_id(s, c.argv[0], id, &err);
    if (r == 0)
        r = state_snapshot_delete(s, str_c(id), str_c(c.argv[1]), &err);
    if (r == 0 && c.json) {
        const struct json_member m[] = {JSON_TEXT("snapshot", str_c(c.argv[1])), JSON_BOOL("deleted", true)};
        json_object_line(&out, m, 2);
    }
    state_close(s);
    return r ? cli_fail(&err) : cli_print(&out) ? CLI_FAILED : 0;
}

int cli_snapshot(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "list") == 0)
        return list(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "delete") == 0)
        return delete (argc - 1, argv + 1);
    return take(argc, argv);
}
