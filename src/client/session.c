/* SPDX-License-Identifier: Apache-2.0 */

/* session list|show|rename|destroy, and execs. */

#include "client/client_int.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/mem.h"

#define PAGE 1000

/* ---- pages of a list ---- */

/* Calls @each with every element of @list of all pages of @path (which has a query already). 0, 1 when @each ended it,
 * or an error. */
static int each_page(struct client *c, const char *path, const char *list,
                     int (*each)(void *arg, const struct json_tree *one), void *arg, struct err *err)
{
    BUF_AUTO struct buf url;
    buf_init(&url, 64u << 10);
    buf_addc(&url, path);
    for (;;) {
        struct json_tree *t = NULL;
        int r = client_json(c, "GET", url.p, NULL, NULL, &t, err);
        for (size_t i = 0; r == 0 && i < json_tree_count(t, list); i++)
            r = each(arg, json_tree_element(t, list, i)) ? 1 : 0;
        struct str next = json_tree_text(t, "next");
        bool more = r == 0 && next.n;
        if (more) {
            buf_clear(&url);
            buf_addf(&url, "%s&after=", path);
            client_put_encoded(&url, next, false);
        }
        json_tree_free(t);
        if (!more)
            return r;
    }
}

/* ---- session list ---- */

struct listing {
    struct client_verb *v;
    uint64_t n;
    struct buf out;
};

static void put_cell(const struct cli_view *v, struct buf *out, enum cli_style style, struct str s, int columns)
{
    BUF_AUTO struct buf safe;
    buf_init(&safe, 64u << 10);
    cli_put_guest(&safe, s.n ? s : STR("-"), 0);
    cli_put(v, out, style, safe.err ? "?" : safe.p, columns);
}

static int list_one(void *arg, const struct json_tree *s)
{
    struct listing *l = arg;
    const struct cli_view *v = &l->v->view;
    if (l->v->json) {
        (void)json_tree_line(s, &l->out); /* the buffer keeps its error */
    } else {
        if (l->n == 0 && v->terminal) {
            cli_put(v, &l->out, CLI_BOLD, "NAME", 24);
            cli_put(v, &l->out, CLI_BOLD, " ID", 32);
            cli_put(v, &l->out, CLI_BOLD, " STATE", 9);
            cli_put(v, &l->out, CLI_BOLD, " CREATED", 0);
            buf_putc(&l->out, '\n');
        }
        put_cell(v, &l->out, CLI_PLAIN, json_tree_text(s, "name"), 24);
        buf_putc(&l->out, ' ');
        put_cell(v, &l->out, CLI_DIM, json_tree_text(s, "id"), 31);
        buf_putc(&l->out, ' ');
        put_cell(v, &l->out, CLI_PLAIN, json_tree_text(s, "state"), 8);
        buf_putc(&l->out, ' ');
        client_put_time(v, &l->out, json_tree_text(s, "created_at"));
        buf_putc(&l->out, '\n');
    }
    l->n++;
    return l->out.n < 65536 ? 0 : cli_print(&l->out);
}

static int list(int argc, char **argv)
{
    struct client_verb v;
    struct err err = {0};
    char path[64];
    if (client_options_read(&v, "session", argc, argv, NULL, 0, 0, "no argument after list"))
        return CLIENT_FAILED;
    struct listing l = {.v = &v};
    buf_init(&l.out, 1u << 20);
    snprintf(path, sizeof(path), "/v1/sessions?limit=%d", PAGE);
    int r = each_page(v.client, path, "sessions", list_one, &l, &err);
    if (r < 0)
        client_fail(&err);
    else
        r = r ? r : cli_print(&l.out);
    if (r == 0 && l.n == 0 && v.view.terminal && !v.json)
        cli_error("there is no session yet: frontal-sandbox run --session NAME makes one");
    buf_done(&l.out);
    client_free(v.client);
    return r ? CLIENT_FAILED : 0;
}

/* ---- session show ---- */

static void label(const struct cli_view *v, struct buf *out, const char *text)
{
    cli_put(v, out, CLI_DIM, text, 12);
}

static void put_text(const struct cli_view *v, struct buf *out, const char *name, struct str s)
{
    label(v, out, name);
    cli_put_guest(out, s.n ? s : STR("-"), 0);
    buf_putc(out, '\n');
}

static void show_text(struct client_verb *verb, const struct json_tree *t, struct buf *out)
{
    const struct cli_view *v = &verb->view;
    put_text(v, out, "name", json_tree_text(t, "name"));
    put_text(v, out, "id", json_tree_text(t, "id"));
    label(v, out, "created");
    client_put_time(v, out, json_tree_text(t, "created_at"));
    buf_putc(out, '\n');
    label(v, out, "state");
    cli_put_guest(out, json_tree_text(t, "state"), 0);
    if (json_tree_has(t, "trace_seq"))
        buf_addf(out, " @%" PRIu64 " ", json_tree_number(t, "trace_seq", 0));
    if (json_tree_has(t, "root"))
        client_put_hash(v, out, json_tree_text(t, "root"));
    buf_putc(out, '\n');
    put_text(v, out, "user", json_tree_text(t, "user"));
    put_text(v, out, "cwd", json_tree_text(t, "cwd"));
}

static int show(int argc, char **argv)
{
    struct client_verb v;
    struct err err = {0};
    struct json_tree *t = NULL;
    if (client_options_read(&v, "session", argc, argv, NULL, 1, 1, "one session after show"))
        return CLIENT_FAILED;
    BUF_AUTO struct buf path, out;
    buf_init(&path, 64u << 10);
    buf_init(&out, CLIENT_ANSWER_MAX);
    int r = client_json(v.client, "GET", client_session_path(&path, v.argv[0], ""), NULL, NULL, &t, &err);
    if (r)
        client_fail(&err);
    else if (v.json)
        r = json_tree_line(t, &out);
    else
        show_text(&v, t, &out);
    if (r == 0)
        r = cli_print(&out);
    json_tree_free(t);
    client_free(v.client);
    return r ? CLIENT_FAILED : 0;
}

/* ---- session rename ---- */

static int rename_one(int argc, char **argv)
{
    struct client_verb v;
    struct err err = {0};
    struct json_tree *t = NULL;
    if (client_options_read(&v, "session", argc, argv, NULL, 2, 2, "a session and its new name after rename"))
        return CLIENT_FAILED;
    BUF_AUTO struct buf path, body, out;
    buf_init(&path, 64u << 10);
    buf_init(&body, 64u << 10);
    buf_init(&out, 4096);
    struct json_writer w = {.out = &body}, o = {.out = &out};
    json_begin(&w, NULL, '{');
    json_text(&w, "name", str_c(v.argv[1]));
    json_end(&w, '}');
    int r = client_json(v.client, "PATCH", client_session_path(&path, v.argv[0], ""), &body, NULL, &t, &err);
    if (r == 0 && v.json) {
        json_begin(&o, NULL, '{');
        json_text(&o, "id", json_tree_text(t, "id"));
        json_text(&o, "name", json_tree_text(t, "name"));
        json_end(&o, '}');
        buf_putc(&out, '\n');
    }
    json_tree_free(t);
    client_free(v.client);
    return r ? client_fail(&err) : cli_print(&out) ? CLIENT_FAILED : 0;
}

/* ---- session destroy ---- */

static int destroy_one(struct client_verb *v, const char *who, struct err *err)
{
    struct json_tree *t = NULL, *none = NULL;
    BUF_AUTO struct buf path, out;
    buf_init(&path, 64u << 10);
    buf_init(&out, 4096);
    client_session_path(&path, who, "");
    /* By its id, so that a second try of ours cannot meet another session of that name. */
    int r = client_json(v->client, "GET", path.p, NULL, NULL, &t, err);
    struct str id = json_tree_text(t, "id");
    if (r == 0) {
        BUF_AUTO struct buf by_id;
        buf_init(&by_id, 4096);
        buf_adds(&out, id);
        r = client_json(v->client, "DELETE", client_session_path(&by_id, out.n ? out.p : who, ""), NULL, NULL, &none,
                        err);
        buf_clear(&out);
    }
    if (r == 0 && v->json) {
        struct json_writer w = {.out = &out};
        json_begin(&w, NULL, '{');
        json_text(&w, "id", id);
        json_bool(&w, "destroyed", true);
        json_end(&w, '}');
        buf_putc(&out, '\n');
        r = cli_print(&out) ? err_set(err, -EIO, "the answer could not be written") : 0;
    }
    json_tree_free(none);
    json_tree_free(t);
    return r;
}

static int destroy(int argc, char **argv)
{
    struct client_verb v;
    int status = 0;
    if (client_options_read(&v, "session", argc, argv, NULL, 1, INT_MAX, "one session or more after destroy"))
        return CLIENT_FAILED;
    for (int i = 0; i < v.argc; i++) {
        struct err err = {0};
        if (destroy_one(&v, v.argv[i], &err))
            status = client_fail(&err);
    }
    client_free(v.client);
    return status;
}

/* ---- execs ---- */

static int exec_one(void *arg, const struct json_tree *e)
{
    struct listing *l = arg;
    const struct cli_view *v = &l->v->view;
    if (l->v->json) {
        (void)json_tree_line(e, &l->out); /* the buffer keeps its error */
        return l->out.n < 65536 ? 0 : cli_print(&l->out);
    }
    char how[48];
    struct str status = json_tree_text(e, "status"), reason = json_tree_text(e, "reason");
    if (str_eqc(status, "exited"))
        snprintf(how, sizeof(how), "exit %" PRIu64, json_tree_number(e, "exit_code", 0));
    else
        snprintf(how, sizeof(how), "%.*s", (int)(reason.n ? reason.n : status.n) & 31, reason.n ? reason.p : status.p);
    put_cell(v, &l->out, CLI_DIM, json_tree_text(e, "exec_id"), 32);
    put_cell(v, &l->out, CLI_PLAIN, str_c(how), 10);
    client_put_time(v, &l->out, json_tree_text(e, "created_at"));
    if (json_tree_has(e, "usage.wall_us")) {
        buf_addc(&l->out, "  ");
        cli_put_duration(&l->out, json_tree_number(e, "usage.wall_us", 0));
    }
    buf_putc(&l->out, '\n');
    return l->out.n < 65536 ? 0 : cli_print(&l->out);
}

int client_execs(int argc, char **argv)
{
    struct client_verb v;
    struct err err = {0};
    if (client_options_read(&v, "execs", argc, argv, NULL, 1, 1, "one session"))
        return CLIENT_FAILED;
    struct listing l = {.v = &v};
    BUF_AUTO struct buf path;
    buf_init(&path, 64u << 10);
    buf_init(&l.out, 1u << 20);
    int r =
        each_page(v.client, client_session_path(&path, v.argv[0], "/execs?limit=1000"), "execs", exec_one, &l, &err);
    if (r < 0)
        client_fail(&err);
    else
        r = r ? r : cli_print(&l.out);
    buf_done(&l.out);
    client_free(v.client);
    return r ? CLIENT_FAILED : 0;
}

int client_session(int argc, char **argv)
{
    const char *sub = argc > 1 ? argv[1] : "";
    if (strcmp(sub, "list") == 0)
        return list(argc - 1, argv + 1);
    if (strcmp(sub, "show") == 0)
        return show(argc - 1, argv + 1);
    if (strcmp(sub, "rename") == 0)
        return rename_one(argc - 1, argv + 1);
    if (strcmp(sub, "destroy") == 0)
        return destroy(argc - 1, argv + 1);
    if (strcmp(sub, "--help") == 0 || strcmp(sub, "-h") == 0)
        client_help("session");
    cli_error("session: '%s' is none of list, show, rename or destroy", sub);
    return CLIENT_FAILED;
}
