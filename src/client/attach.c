/* SPDX-License-Identifier: Apache-2.0 */

/* attach: a terminal on a session of a server, that can be left and come back to. */

#include "client/client_int.h"

#include <errno.h>
#include <unistd.h>

#include "client/console.h"
#include "client/terminal.h"

/* An interactive shell at a terminal; else one that reads its commands from standard input. */
static int begin_shell(struct client *c, const char *session, char *id, size_t cap, struct err *err)
{
    uint16_t cols, rows;
    BUF_AUTO struct buf body;
    buf_init(&body, 4096);
    struct json_writer w = {.out = &body};
    json_begin(&w, NULL, '{');
    json_number(&w, "wait_ms", 0);
    json_begin(&w, "argv", '[');
    json_text(&w, NULL, STR("bash"));
    json_end(&w, ']');
    json_bool(&w, "stdin_open", true);
    if (isatty(STDIN_FILENO)) {
        terminal_size(&cols, &rows);
        json_begin(&w, "tty", '{');
        json_number(&w, "cols", cols);
        json_number(&w, "rows", rows);
        json_end(&w, '}');
    }
    json_end(&w, '}');
    return client_begin_exec(c, session, &body, id, cap, err);
}

/* Says that it @goes on, and how to come back. */
static void say_how(struct client *c, const char *goes, const char *session, const char *exec)
{
    const char *ca = client_ca(c);
    BUF_AUTO struct buf b;
    buf_init(&b, 64u << 10);
    cli_put_path(&b, str_c(exec));
    buf_addf(&b, " %s on; to attach again: frontal-sandbox attach --server ", goes);
    cli_put_path(&b, str_c(client_url(c)));
    if (ca) {
        buf_addc(&b, " --ca ");
        cli_put_path(&b, str_c(ca));
    }
    buf_addc(&b, " --exec ");
    cli_put_path(&b, str_c(exec));
    buf_putc(&b, ' ');
    cli_put_path(&b, str_c(session));
    if (!b.err)
        cli_error("%s", b.p);
}

static bool is_refused(int r)
{
    return r == -ENOENT || r == -EACCES || r == -EPERM || r == -EINVAL;
}

/* @began: we know that it is there. */
static int attach(struct client *c, const char *session, const char *exec, bool began)
{
    struct console_end end;
    struct err err = {0};
    const struct console_config cfg = {c, session, exec};
    int r = client_console(&cfg, &end, &err), status = end.signal ? 128 + end.signal : 0;
    if (end.exec && r == 0)
        status = client_explain(end.exec, CLIENT_NOTES);
    if (r)
        status = client_fail(&err);
    if (!end.exec && !is_refused(r) && (began || end.reached))
        say_how(c, r ? "may go" : "goes", session, exec);
    json_tree_free(end.exec);
    return status;
}

int client_attach(int argc, char **argv)
{
    struct client_verb v;
    struct err err = {0};
    const char *exec = NULL;
    char id[64];
    int status;
    const struct cli_opt opts[] = {{"exec", CLI_OPT_TEXT, &exec}, {NULL, CLI_OPT_FLAG, NULL}};
    if (client_options_read(&v, "attach", argc, argv, opts, 1, 1, "one session"))
        return CLIENT_FAILED;
    if (v.json) {
        cli_error("attach: --json is not an option of it (see frontal-sandbox attach --help)");
        status = CLIENT_FAILED;
    } else if (!exec && begin_shell(v.client, v.argv[0], id, sizeof(id), &err)) {
        status = client_fail(&err);
    } else {
        status = attach(v.client, v.argv[0], exec ? exec : id, !exec);
    }
    client_free(v.client);
    return status;
}
