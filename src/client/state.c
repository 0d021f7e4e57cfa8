/* SPDX-License-Identifier: Apache-2.0 */

/* snapshot, restore, fork, diff, merge, replay: what a server answers has the form that the local verbs print. */

#include "client/client_int.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/mem.h"

#define BODY_MAX (64u << 10)
#define COMMAND_COLUMNS 60

/* ---- what they share ---- */

/* A place as the verbs name it, SESSION, SESSION@SEQ, SESSION:SNAPSHOT or snap_…, taken apart. */
struct place {
    char *session; /* heap; NULL of snap_… alone */
    struct str snapshot;
    bool has_seq;
    uint64_t seq;
};

static int parse_place(const char *spec, struct place *ret, struct err *err)
{
    size_t n = strcspn(spec, "@:");
    *ret = (struct place){.session = NULL};
    if (n == 0)
        return err_set(err, -EINVAL, "'%s' names no session", spec);
    if (spec[n] == '@') {
        ret->has_seq = true;
        if (str_u64(str_c(spec + n + 1), &ret->seq))
            return err_set(err, -EINVAL, "'%s': what stands after @ is no number of an event", spec);
    } else if (spec[n] == ':') {
        ret->snapshot = str_c(spec + n + 1);
    } else if (strncmp(spec, "snap_", 5) == 0) {
        ret->snapshot = str_c(spec);
        return 0;
    }
    ret->session = mem_dup(spec, n);
    return 0;
}

/* The session of a snapshot that was named by its id alone. */
static int complete_place(struct client *c, struct place *p, struct err *err)
{
    struct json_tree *t = NULL;
    if (p->session)
        return 0;
    BUF_AUTO struct buf path;
    buf_init(&path, BODY_MAX);
    buf_addc(&path, "/v1/snapshots/");
    client_put_encoded(&path, p->snapshot, false);
    int r = client_json(c, "GET", path.err ? "" : path.p, NULL, NULL, &t, err);
    struct str s = json_tree_text(t, "session");
    if (r == 0)
        p->session = mem_dup(s.n ? s.p : "", s.n);
    json_tree_free(t);
    return r;
}

static void put_place(struct json_writer *w, const struct place *p)
{
    if (p->snapshot.n)
        json_text(w, "snapshot", p->snapshot);
    else if (p->has_seq)
        json_number(w, "seq", p->seq);
}

/* Prints what a verb says in text, or the object itself; the exit status. */
static int finish(struct client_verb *v, int r, struct json_tree *t, struct buf *out, const struct err *err)
{
    if (r == 0 && v->json) {
        buf_clear(out);
        (void)json_tree_line(t, out); /* the buffer keeps its error */
    }
    int status = r ? client_fail(err) : cli_print(out) ? CLIENT_FAILED : 0;
    json_tree_free(t);
    client_free(v->client);
    return status;
}

/* ---- snapshot ---- */

static void put_snapshot(const struct cli_view *v, struct buf *out, const struct json_tree *t)
{
    BUF_AUTO struct buf b;
    char seq[32];
    buf_init(&b, 64u << 10);
    cli_put_guest(&b, json_tree_has(t, "name") ? json_tree_text(t, "name") : STR("-"), 0);
    cli_put(v, out, CLI_BOLD, b.err ? "?" : b.p, 20);
    buf_putc(out, ' ');
    buf_clear(&b);
    cli_put_guest(&b, json_tree_text(t, "id"), 0);
    cli_put(v, out, CLI_DIM, b.n ? b.p : "-", 32);
    snprintf(seq, sizeof(seq), "@%" PRIu64, json_tree_number(t, "seq", 0));
    cli_put(v, out, CLI_BLUE, seq, 6);
    buf_clear(&b);
    cli_put_size(&b, json_tree_number(t, "bytes", 0));
    cli_put(v, out, CLI_PLAIN, b.p, -10);
    buf_clear(&b);
    cli_put_size(&b, json_tree_number(t, "new_bytes", 0));
    buf_addc(&b, " new");
    cli_put(v, out, CLI_PLAIN, b.p, -12);
    buf_addc(out, "  ");
    client_put_time(v, out, json_tree_text(t, "time"));
    buf_addc(out, "  ");
    client_put_hash(v, out, json_tree_text(t, "root"));
    buf_putc(out, '\n');
}

static int take_snapshot(int argc, char **argv)
{
    struct client_verb v;
    struct json_tree *t = NULL;
    struct err err = {0};
    const char *name = NULL;
    char key[40];
    const struct cli_opt opts[] = {{"name", CLI_OPT_TEXT, &name}, {NULL, CLI_OPT_FLAG, NULL}};
    if (client_options_read(&v, "snapshot", argc, argv, opts, 1, 1, "one session"))
        return CLIENT_FAILED;
    BUF_AUTO struct buf path, body, out;
    buf_init(&path, BODY_MAX);
    buf_init(&body, BODY_MAX);
    buf_init(&out, BODY_MAX);
    struct json_writer w = {.out = &body};
    json_begin(&w, NULL, '{');
    if (name)
        json_text(&w, "name", str_c(name));
    json_end(&w, '}');
    client_new_key(key, sizeof(key));
    int r = client_json(v.client, "POST", client_session_path(&path, v.argv[0], "/snapshots"), &body, key, &t, &err);
    if (r == 0)
        put_snapshot(&v.view, &out, t);
    return finish(&v, r, t, &out, &err);
}

static int list_snapshots(int argc, char **argv)
{
    struct client_verb v;
    struct json_tree *t = NULL;
    struct err err = {0};
    if (client_options_read(&v, "snapshot", argc, argv, NULL, 0, 1, "at most one session after list"))
        return CLIENT_FAILED;
    BUF_AUTO struct buf path, out;
    buf_init(&path, BODY_MAX);
    buf_init(&out, SIZE_MAX / 2);
    buf_addc(&path, "/v1/snapshots");
    if (v.argc) {
        buf_addc(&path, "?session=");
        client_put_encoded(&path, str_c(v.argv[0]), false);
    }
    int r = client_json(v.client, "GET", path.p, NULL, NULL, &t, &err), status = r ? client_fail(&err) : 0;
    if (r == 0 && v.json) {
        status = client_print_lines(t, "snapshots") ? CLIENT_FAILED : 0;
    } else if (r == 0) {
        for (size_t i = 0; i < json_tree_count(t, "snapshots"); i++)
            put_snapshot(&v.view, &out, json_tree_element(t, "snapshots", i));
        status = cli_print(&out) ? CLIENT_FAILED : 0;
    }
    json_tree_free(t);
    client_free(v.client);
    return status;
}

/* The id of a session's snapshot that is given by name or id. */
static int snapshot_id(struct client *c, const char *session, const char *who, struct buf *ret, struct err *err)
{
    struct json_tree *t = NULL;
    BUF_AUTO struct buf path;
    buf_init(&path, BODY_MAX);
    buf_addc(&path, "/v1/snapshots?session=");
    client_put_encoded(&path, str_c(session), false);
    int r = client_json(c, "GET", path.p, NULL, NULL, &t, err);
    for (size_t i = 0; r == 0 && i < json_tree_count(t, "snapshots") && ret->n == 0; i++) {
        const struct json_tree *one = json_tree_element(t, "snapshots", i);
        if (str_eqc(json_tree_text(one, "id"), who) || str_eqc(json_tree_text(one, "name"), who))
            buf_adds(ret, json_tree_text(one, "id"));
    }
    json_tree_free(t);
    return r ? r
           : ret->n
               ? 0
               : err_set(err, -ENOENT, "session '%s' has no snapshot '%s': snapshot list shows them", session, who);
}

static int delete_snapshot(int argc, char **argv)
{
    struct client_verb v;
    struct json_tree *none = NULL;
    struct err err = {0};
    if (client_options_read(&v, "snapshot", argc, argv, NULL, 2, 2, "a session and its snapshot after delete"))
        return CLIENT_FAILED;
    BUF_AUTO struct buf id, path, out;
    buf_init(&id, 4096);
    buf_init(&path, BODY_MAX);
    buf_init(&out, BODY_MAX);
    int r = snapshot_id(v.client, v.argv[0], v.argv[1], &id, &err);
    if (r == 0) {
        buf_addc(&path, "/v1/snapshots/");
        client_put_encoded(&path, buf_str(&id), false);
        r = client_json(v.client, "DELETE", path.p, NULL, NULL, &none, &err);
    }
    if (r == 0 && v.json) {
        struct json_writer w = {.out = &out};
        json_begin(&w, NULL, '{');
        json_text(&w, "snapshot", str_c(v.argv[1]));
        json_bool(&w, "deleted", true);
        json_end(&w, '}');
        buf_putc(&out, '\n');
    }
    json_tree_free(none);
    client_free(v.client);
    return r ? client_fail(&err) : cli_print(&out) ? CLIENT_FAILED : 0;
}

int client_snapshot(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "list") == 0)
        return list_snapshots(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "delete") == 0)
        return delete_snapshot(argc - 1, argv + 1);
    return take_snapshot(argc, argv);
}

/* ---- restore ---- */

int client_restore(int argc, char **argv)
{
    struct client_verb v;
    struct json_tree *t = NULL;
    struct err err = {0};
    uint64_t seq = 0;
    if (client_options_read(&v, "restore", argc, argv, NULL, 2, 2, "a session and a snapshot or @SEQ"))
        return CLIENT_FAILED;
    BUF_AUTO struct buf path, body, out;
    buf_init(&path, BODY_MAX);
    buf_init(&body, BODY_MAX);
    buf_init(&out, BODY_MAX);
    struct json_writer w = {.out = &body};
    const char *what = v.argv[1];
    int r = what[0] == '@' && str_u64(str_c(what + 1), &seq)
                ? err_set(&err, -EINVAL, "'%s': what stands after @ is no number of an event", what)
                : 0;
    json_begin(&w, NULL, '{');
    if (what[0] == '@')
        json_number(&w, "seq", seq);
    else
        json_text(&w, "snapshot", str_c(what));
    json_end(&w, '}');
    if (r == 0)
        r = client_json(v.client, "POST", client_session_path(&path, v.argv[0], "/restore"), &body, NULL, &t, &err);
    if (r == 0) {
        buf_addf(&out, "%s is back at @%" PRIu64 " ", v.argv[0], json_tree_number(t, "seq", 0));
        client_put_hash(&v.view, &out, json_tree_text(t, "root"));
        buf_putc(&out, '\n');
    }
    return finish(&v, r, t, &out, &err);
}

/* ---- fork ---- */

static void put_forks(struct client_verb *v, const struct json_tree *t, struct buf *out)
{
    for (size_t i = 0; i < json_tree_count(t, "sessions"); i++) {
        const struct json_tree *s = json_tree_element(t, "sessions", i);
        BUF_AUTO struct buf name;
        buf_init(&name, 4096);
        cli_put_guest(&name, json_tree_text(s, "name"), 0);
        cli_put(&v->view, out, CLI_BOLD, name.n ? name.p : "-", 24);
        buf_putc(out, ' ');
        buf_clear(&name);
        cli_put_guest(&name, json_tree_text(s, "id"), 0);
        cli_put(&v->view, out, CLI_DIM, name.n ? name.p : "-", 0);
        buf_putc(out, '\n');
    }
    buf_addc(out, "from ");
    cli_put_guest(out, json_tree_text(t, "from"), 0);
    buf_addc(out, "\nbegun anew:");
    for (size_t i = 0; i < json_tree_count(t, "reset"); i++) {
        buf_addc(out, i ? ", " : " ");
        cli_put_guest(out, json_tree_text(json_tree_element(t, "reset", i), ""), 0);
    }
    buf_putc(out, '\n');
}

int client_fork(int argc, char **argv)
{
    struct client_verb v;
    struct json_tree *t = NULL;
    struct err err = {0};
    struct place from;
    uint64_t count = 0;
    char key[40];
    const struct cli_opt opts[] = {{"count", CLI_OPT_COUNT, &count}, {NULL, CLI_OPT_FLAG, NULL}};
    if (client_options_read(&v, "fork", argc, argv, opts, 2, 2, "a session and the name of the new one"))
        return CLIENT_FAILED;
    BUF_AUTO struct buf path, body, out, name;
    buf_init(&path, BODY_MAX);
    buf_init(&body, BODY_MAX);
    buf_init(&out, CLIENT_ANSWER_MAX);
    buf_init(&name, 4096);
    int r = parse_place(v.argv[0], &from, &err);
    if (r == 0)
        r = complete_place(v.client, &from, &err);
    if (r == 0) {
        struct json_writer w = {.out = &body};
        buf_addf(&name, "%s%s", v.argv[1],
                 count == 1 ? "-1" : ""); /* as the local verb names the only one of --count */
        json_begin(&w, NULL, '{');
        put_place(&w, &from);
        json_text(&w, "name", buf_str(&name));
        json_number(&w, "count", count ? count : 1);
        json_end(&w, '}');
        client_new_key(key, sizeof(key));
        r = client_json(v.client, "POST", client_session_path(&path, from.session, "/fork"), &body, key, &t, &err);
    }
    if (r == 0)
        put_forks(&v, t, &out);
    mem_free(from.session);
    return finish(&v, r, t, &out, &err);
}

/* ---- diff ---- */

static void put_change(struct buf *out, const struct json_tree *c, bool text)
{
    static const struct {
        const char *kind, *letter;
    } kinds[] = {{"added", "A"}, {"removed", "D"}, {"modified", "M"}, {"meta", "m"}};
    ARENA_AUTO struct arena a = {0};
    struct str diff = json_tree_bytes(c, "diff", &a), kind = json_tree_text(c, "kind");
    uint64_t before = json_tree_number(c, "mode_before", 0), after = json_tree_number(c, "mode_after", 0);
    const char *letter = "?";
    if (text && diff.n) {
        buf_adds(out, diff);
        return;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        letter = str_eqc(kind, kinds[i].kind) ? kinds[i].letter : letter;
    buf_addf(out, "%s ", letter);
    cli_put_path(out, json_tree_bytes(c, "path", &a));
    if (S_ISDIR(after ? after : before))
        buf_putc(out, '/');
    if (letter[0] == 'm' && before != after)
        buf_addf(out, " (mode %04o -> %04o)", (unsigned)before & 07777, (unsigned)after & 07777);
    buf_putc(out, '\n');
}

/* A name of digits only would be a number of an event there: then its id is said. */
static int put_operand(struct client *c, struct buf *path, const char *key, const char *spec, struct err *err)
{
    size_t n = strcspn(spec, "@:");
    buf_addf(path, "%c%s=", strchr(path->p, '?') ? '&' : '?', key);
    if (spec[n] == 0 && strspn(spec, "0123456789") == n) {
        struct json_tree *t = NULL;
        BUF_AUTO struct buf show;
        buf_init(&show, BODY_MAX);
        int r = client_json(c, "GET", client_session_path(&show, spec, ""), NULL, NULL, &t, err);
        client_put_encoded(path, json_tree_text(t, "id"), false);
        json_tree_free(t);
        return r;
    }
    client_put_encoded(path, str_c(spec), false);
    return 0;
}

static int ask_diff(struct client_verb *v, const char *session, const char *of, bool text, struct json_tree **ret,
                    struct err *err)
{
    BUF_AUTO struct buf path;
    buf_init(&path, BODY_MAX);
    client_session_path(&path, session, "/diff");
    int r = put_operand(v->client, &path, "from", v->argv[0], err);
    if (r == 0)
        r = put_operand(v->client, &path, "to", v->argv[1], err);
    if (text)
        buf_addc(&path, "&text");
    if (of) {
        buf_addc(&path, "&path=");
        client_put_encoded(&path, str_c(of), false);
    }
    return r ? r : client_json(v->client, "GET", path.err ? "" : path.p, NULL, NULL, ret, err);
}

int client_diff(int argc, char **argv)
{
    struct client_verb v;
    struct err err = {0};
    struct place from;
    bool text = false;
    size_t n = 0;
    int status = 0;
    const struct cli_opt opts[] = {{"text", CLI_OPT_FLAG, &text}, {NULL, CLI_OPT_FLAG, NULL}};
    if (client_options_read(&v, "diff", argc, argv, opts, 2, INT_MAX, "two sessions, snapshots or SESSION@SEQ"))
        return CLIENT_FAILED;
    BUF_AUTO struct buf out;
    buf_init(&out, SIZE_MAX / 2);
    int r = parse_place(v.argv[0], &from, &err);
    if (r == 0)
        r = complete_place(v.client, &from, &err);
    for (int i = 2; r == 0 && (i < v.argc || i == 2); i++) {
        struct json_tree *t = NULL;
        r = ask_diff(&v, from.session, i < v.argc ? v.argv[i] : NULL, text, &t, &err);
        n += json_tree_count(t, "changes");
        if (v.json && r == 0 && client_print_lines(t, "changes"))
            status = CLIENT_FAILED;
        for (size_t k = 0; !v.json && k < json_tree_count(t, "changes"); k++)
            put_change(&out, json_tree_element(t, "changes", k), text);
        json_tree_free(t);
    }
    mem_free(from.session);
    client_free(v.client);
    return r ? client_fail(&err) : cli_print(&out) || status ? CLIENT_FAILED : n > 0;
}

/* ---- merge ---- */

static void put_merge(struct client_verb *v, const struct json_tree *t, struct buf *out)
{
    ARENA_AUTO struct arena a = {0};
    size_t conflicts = json_tree_count(t, "conflicts"), changes = json_tree_count(t, "changes");
    for (size_t i = 0; i < conflicts; i++) {
        const struct json_tree *c = json_tree_element(t, "conflicts", i);
        buf_addc(out, "C ");
        cli_put_guest(out, json_tree_bytes(c, "path", &a), 0);
        buf_addc(out, ": ");
        cli_put_guest(out, json_tree_text(c, "what"), 0);
        buf_putc(out, '\n');
    }
    for (size_t i = 0; i < changes && !conflicts; i++)
        put_change(out, json_tree_element(t, "changes", i), false);
    if (!conflicts && !changes) {
        buf_addf(out, "%s has all of it already\n", v->argv[1]);
    } else if (json_tree_flag(t, "merged")) {
        buf_addf(out, "%s is at @%" PRIu64 " ", v->argv[1], json_tree_number(t, "seq", 0));
        client_put_hash(&v->view, out, json_tree_text(t, "root"));
        buf_putc(out, '\n');
    }
}

int client_merge(int argc, char **argv)
{
    struct client_verb v;
    struct json_tree *t = NULL;
    struct err err = {0};
    bool dry = false;
    const struct cli_opt opts[] = {{"dry-run", CLI_OPT_FLAG, &dry}, {NULL, CLI_OPT_FLAG, NULL}};
    if (client_options_read(&v, "merge", argc, argv, opts, 2, 2, "a fork and the session it is merged into"))
        return CLIENT_FAILED;
    BUF_AUTO struct buf path, body, out;
    buf_init(&path, BODY_MAX);
    buf_init(&body, BODY_MAX);
    buf_init(&out, SIZE_MAX / 2);
    struct json_writer w = {.out = &body};
    json_begin(&w, NULL, '{');
    json_text(&w, "into", str_c(v.argv[1]));
    json_bool(&w, "dry_run", dry);
    json_end(&w, '}');
    int r = client_json(v.client, "POST", client_session_path(&path, v.argv[0], "/merge"), &body, NULL, &t, &err);
    size_t conflicts = json_tree_count(t, "conflicts");
    if (r == 0)
        put_merge(&v, t, &out);
    int status = finish(&v, r, t, &out, &err);
    if (status == 0 && conflicts) {
        cli_error("%zu conflict%s: nothing was merged", conflicts, conflicts == 1 ? "" : "s");
        status = 1;
    }
    return status;
}

/* ---- replay ---- */

struct tally {
    uint64_t equal, differs, left_out, recorded_us, replayed_us;
};

static void put_replayed(const struct cli_view *v, struct buf *out, const struct json_tree *c, bool quiet,
                         struct tally *n)
{
    ARENA_AUTO struct arena a = {0};
    struct str verdict = json_tree_text(c, "verdict"), what = json_tree_bytes(c, "what", &a);
    bool equal = str_eqc(verdict, "equal"), left_out = str_eqc(verdict, "left_out");
    n->equal += equal;
    n->left_out += left_out;
    n->differs += !equal && !left_out;
    n->recorded_us += left_out ? 0 : json_tree_number(c, "recorded_us", 0);
    n->replayed_us += json_tree_number(c, "replayed_us", 0);
    if (equal && quiet)
        return;
    buf_addf(out, "@%-6" PRIu64 " ", json_tree_number(c, "seq", 0));
    cli_put(v, out,
            equal      ? CLI_GREEN
            : left_out ? CLI_YELLOW
                       : CLI_RED,
            equal      ? "equal"
            : left_out ? "left out"
                       : "differs",
            9);
    cli_put_guest(out, json_tree_bytes(c, "command", &a), COMMAND_COLUMNS);
    buf_putc(out, '\n');
    if (equal)
        return;
    buf_addf(out, "      %s: ", left_out ? "not run" : "first difference");
    cli_put_guest(out, what, 0);
    buf_putc(out, '\n');
    cli_put_side(out, "-", json_tree_bytes(c, "recorded", &a));
    cli_put_side(out, "+", json_tree_bytes(c, "replayed", &a));
    cli_put_side(out, " ", json_tree_bytes(c, "files", &a));
}

static void put_replay(struct client_verb *v, const struct json_tree *t, bool quiet, struct buf *out)
{
    struct tally n = {0};
    for (size_t i = 0; i < json_tree_count(t, "commands"); i++)
        put_replayed(&v->view, out, json_tree_element(t, "commands", i), quiet, &n);
    uint64_t all = n.equal + n.differs + n.left_out;
    buf_addf(out, "%" PRIu64 " command%s: %" PRIu64 " equal, %" PRIu64 " different, %" PRIu64 " left out; recorded ",
             all, all == 1 ? "" : "s", n.equal, n.differs, n.left_out);
    cli_put_duration(out, n.recorded_us);
    buf_addc(out, ", replayed ");
    cli_put_duration(out, n.replayed_us);
    buf_putc(out, '\n');
}

int client_replay(int argc, char **argv)
{
    struct client_verb v;
    struct json_tree *t = NULL;
    struct err err = {0};
    const char *from = NULL;
    bool quiet = false;
    uint64_t seq = 0;
    const struct cli_opt opts[] = {
        {"from", CLI_OPT_TEXT, &from}, {"quiet", CLI_OPT_FLAG, &quiet}, {NULL, CLI_OPT_FLAG, NULL}};
    if (client_options_read(&v, "replay", argc, argv, opts, 1, 1, "a session"))
        return CLIENT_FAILED;
    BUF_AUTO struct buf body, out;
    buf_init(&body, BODY_MAX);
    buf_init(&out, SIZE_MAX / 2);
    struct json_writer w = {.out = &body};
    int r = from && str_u64(str_c(from + (*from == '@')), &seq)
                ? err_set(&err, -EINVAL, "--from: '%s' is not a place in the log such as @12", from)
                : 0;
    json_begin(&w, NULL, '{');
    json_text(&w, "session", str_c(v.argv[0]));
    if (from)
        json_number(&w, "from_seq", seq);
    json_end(&w, '}');
    if (r == 0)
        r = client_json(v.client, "POST", "/v1/replays", &body, NULL, &t, &err);
    int status = r ? client_fail(&err) : json_tree_flag(t, "equal") ? 0 : 1;
    if (r == 0 && v.json) {
        status = client_print_lines(t, "commands") ? CLIENT_FAILED : status;
    } else if (r == 0) {
        put_replay(&v, t, quiet, &out);
        status = cli_print(&out) ? CLIENT_FAILED : status;
    }
    json_tree_free(t);
    client_free(v.client);
    return status;
}
