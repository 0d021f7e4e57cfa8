/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox run: one command in a new session. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cli/script.h"
#include "types/errtab.h"
#include "vfs/vfs.h"
#include "wire/json.h"

/* ---- what to run ---- */

struct plan {
    struct wire_exec exec;
    struct str *argv;
    struct buf script;
};

/* Standard input is there and is not /dev/null, which the command gets as such: many programs look (rg, ssh). */
static bool has_input(void)
{
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 && !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

/* 0, or a negative errno after a message. */
static int make_plan(const struct cli_options *o, struct plan *p)
{
    buf_init(&p->script, LIMIT_SCRIPT);
    p->argv = mem_alloc(((size_t)o->argc + 1) * sizeof(*p->argv));
    for (int i = 0; i < o->argc; i++)
        p->argv[i] = str_c(o->argv[i]);
    p->exec = (struct wire_exec){.argv = {p->argv, (uint32_t)o->argc},
                                 .env = {o->env, o->n_env},
                                 .n_secrets = o->n_secrets,
                                 .stdin_open = has_input(),
                                 .want_root = o->json,
                                 .keep = o->session != NULL};
    for (int fd = 0; fd <= 2; fd++) {
        if (isatty(fd) && !(fd && o->json && !o->json_file))
            p->exec.tty |= (uint8_t)(1 << fd);
    }
    if (p->exec.tty) {
        uint32_t window = driver_window();
        p->exec.rows = (uint16_t)(window >> 16);
        p->exec.cols = (uint16_t)window;
    }
    if (o->text) {
        p->exec.kind = WIRE_EXEC_TEXT;
        p->exec.text = str_c(o->text);
    } else if (o->argv_only) {
        p->exec.kind = WIRE_EXEC_ARGV;
    } else if (o->argc == 0) {
        p->exec.kind = WIRE_EXEC_STDIN;
    } else {
        p->exec.kind = WIRE_EXEC_SCRIPT;
        int r = cli_script_read(o->argv[0], &p->script, &p->exec.posix);
        p->exec.text = buf_str(&p->script);
        return r;
    }
    return 0;
}

/* ---- what came of it ---- */

/* Whether the result is worth a line of our own: the reason of a limit, or a failure. */
static void explain(const struct driver *d, const struct wire_result *r, int worker_status)
{
    if (r->error || (r->message.n && !d->opts->quiet))
        cli_error("%.*s", (int)r->message.n, r->message.p);
    else if (r->outcome.kind == OUTCOME_LOST && WIFSIGNALED(worker_status))
        cli_error("the worker ended unexpectedly (signal %d); how the command ended is not known",
                  WTERMSIG(worker_status));
    else if (r->outcome.kind == OUTCOME_LOST)
        cli_error("the worker ended unexpectedly; how the command ended is not known");
    else if (r->outcome.kind == OUTCOME_KILLED && r->outcome.reason > REASON_SIGNAL && !d->opts->quiet)
        cli_error("killed: %s limit (raise it with %s)", outcome_reason_name(r->outcome.reason),
                  r->outcome.reason == REASON_TIMEOUT ? "--timeout" : "--limit");
}

static int status_of(const struct wire_result *r)
{
    return r->error ? CLI_FAILED : outcome_status(r->outcome);
}

static int write_json(const struct cli_options *o, const struct buf *line)
{
    FD_AUTO int fd =
        o->json_file ? open(o->json_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : dup(STDOUT_FILENO);
    int r = fd < 0 ? -errno : fd_write_all(fd, buf_str(line));
    if (r)
        cli_error("writing %s: %s", o->json_file ? o->json_file : "standard output", errtab_text(r));
    return r ? CLI_FAILED : 0;
}

static int print_json(const struct driver *d, const struct cli_options *o, const struct wire_result *r,
                      const struct cli_changes *c)
{
    MEM_AUTO struct json_change *v = mem_alloc((c->n + 1) * sizeof(*v));
    for (size_t i = 0; i < c->n; i++)
        v[i] = (struct json_change){cli_change_name(c->v[i].kind), c->v[i].path,
                                    o->diff == CLI_DIFF_TEXT ? c->v[i].diff : str_of(NULL, 0)};
    const struct json_run run = {
        .changes = v,
        .n_changes = c->n,
        .has_changes = o->diff != CLI_DIFF_NONE || o->apply,
        .has_output = !o->json_file,
        .out = buf_str(&d->streams[1].kept),
        .errs = buf_str(&d->streams[2].kept),
        .out_total = d->streams[1].total,
        .err_total = d->streams[2].total,
    };
    BUF_AUTO struct buf line;
    buf_init(&line, SIZE_MAX / 2);
    if (json_result(&line, r, &run) || buf_putc(&line, '\n')) {
        cli_error("no memory for the result");
        return CLI_FAILED;
    }
    return write_json(o, &line);
}

/* The result of what never came to a session. */
static void fail_json(const struct cli_options *o, int error)
{
    const struct driver none = {.sigfd = -1};
    const struct cli_changes no_changes = {0};
    const struct wire_result res = {.error = error, .message = str_c(cli_last_error())};
    (void)print_json(&none, o, &res, &no_changes); /* the command line has failed already */
}

static int list_changes(struct driver *d, const struct cli_options *o, struct cli_changes *c, struct err *err)
{
    int r = cli_changes_get(d, o->diff == CLI_DIFF_TEXT, c, err);
    if (r || (o->json && !o->json_file))
        return r;
    BUF_AUTO struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    cli_changes_print(c, o->diff == CLI_DIFF_TEXT, &text);
    r = fd_write_all(STDOUT_FILENO, buf_str(&text));
    if (r && r != -EPIPE) /* when nobody reads the list any more, the rest goes on */
        return err_set(err, r, "writing the list of changes: %s", errtab_text(r));
    return 0;
}

int cli_follow_up(struct driver *d, const struct cli_options *o, const struct wire_result *r, struct cli_changes *c)
{
    struct err err;
    int failed = 0;
    if ((o->diff != CLI_DIFF_NONE || o->apply) && list_changes(d, o, c, &err))
        goto fail;
    for (uint32_t i = 0; i < o->n_copy_out; i++) {
        if (cli_copy_out(d, &o->copy_out[i], &err)) {
            cli_error("%s", err.text);
            failed = CLI_FAILED;
        }
    }
    if (!o->apply)
        return failed;
    if (r->outcome.kind != OUTCOME_EXITED || r->outcome.code != 0) {
        cli_error("--apply: nothing was applied, because the command did not exit with 0");
        return failed;
    }
    size_t n = 0;
    if (cli_apply(d, o, c, &n, &err))
        goto fail;
    if (!o->quiet)
        cli_error("applied %zu change%s", n, n == 1 ? "" : "s");
    return failed;
fail:
    cli_error("%s", err.text);
    return CLI_FAILED;
}

static int prepare(struct driver *d, struct cli_options *o, struct err *err)
{
    int r = driver_start(d, o, err);
    for (uint32_t i = 0; r == 0 && i < o->n_copy_in; i++)
        r = cli_copy_in(d, &o->copy_in[i], err);
    return r;
}

static int run_plan(struct cli_options *o, const struct plan *p)
{
    struct driver d;
    struct err err = {0};
    struct wire_result res = {0};
    struct cli_changes changes = {0};
    BUF_AUTO struct buf text;
    buf_init(&text, WIRE_BODY_MAX);
    int failed = 0, worker_status = -1;
    int r = prepare(&d, o, &err);
    if (r) {
        res.error = r;
        res.message = str_c(err.text);
    } else {
        if (o->json && !o->json_file)
            d.streams[1].fd = d.streams[2].fd = -1;
        driver_exec(&d, &p->exec, &res, &text);
        if (!d.gone)
            failed = cli_follow_up(&d, o, &res, &changes);
        if (d.streams[1].failed || d.streams[2].failed)
            failed = CLI_FAILED; /* what it printed has not arrived: then its status alone would be a lie */
    }
    if (o->json) {
        int e = print_json(&d, o, &res, &changes);
        failed = failed ? failed : e;
    }
    if (d.worker.pid > 0)
        driver_end(&d, &worker_status);
    explain(&d, &res, worker_status);
    cli_changes_done(&changes);
    return failed ? failed : status_of(&res);
}

int cli_run(int argc, char **argv)
{
    struct cli_options o;
    struct plan p = {0};
    int r = cli_parse(argc, argv, false, &o);
    int status = r > 0 ? 0 : CLI_FAILED;
    if (r == 0) {
        r = make_plan(&o, &p);
        status = r == 0 ? run_plan(&o, &p) : r == -ENOENT ? 127 : 126;
    }
    if (r < 0 && o.json)
        fail_json(&o, r);
    buf_done(&p.script);
    mem_free(p.argv);
    cli_options_done(&o);
    return status;
}
