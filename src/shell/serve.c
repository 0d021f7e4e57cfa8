/* SPDX-License-Identifier: Apache-2.0 */

/* The shell that stays: takes command lines from its driver one by one, and answers what a prompt needs to know. */

#include "shell/shell.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/exec_int.h"
#include "shell/job_int.h"
#include "shell/options_int.h"
#include "shell/start_int.h"
#include "shell/state_int.h"
#include "types/errtab.h"

/* As bash(1), SIGNALS, has it for interactive shells: ^C ends a command, not the shell. */
void shell__serve_signals(struct shell *sh)
{
    static const int ignored[] = {SIGTERM, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        (void)proc_sigaction(sh->p, ignored[i], PROC_SIG_IGNORE); /* valid numbers cannot fail */
    (void)proc_sigaction(sh->p, SIGINT, PROC_SIG_CATCH);
}

static struct shell *open_shell(struct proc *p, struct shell_serve *s)
{
    struct shell *sh = shell_new(s->start.world, p);
    BUF_AUTO struct buf script;
    struct str text;
    buf_init(&script, LIMIT_SCRIPT);
    sh->interactive = s->interactive;
    if (s->interactive)
        (void)options_set(sh, OPT_MONITOR, true);
    (void)start_prepare(sh, &s->start, &script, &text); /* what fails there leaves a shell that can say so */
    /* After it: what it ignores itself was not ignored at its start, and its children do not. */
    if (s->interactive)
        shell__serve_signals(sh);
    if (sh->flow != FLOW_KILLED)
        sh->flow = FLOW_NONE;
    return sh;
}

/* Back to the top level after a line, whatever it did. */
static void settle(struct shell *sh)
{
    if (sh->flow != FLOW_EXIT && sh->flow != FLOW_KILLED)
        sh->flow = FLOW_NONE;
    sh->errexit_off = 0;
    sh->loop_depth = 0;
    if (sh->interactive) {
        job_reap(sh);
        job_notify(sh);
        proc_set_foreground(sh->ps, sh->p->pgid);
    }
}

static void run_prompt_command(struct shell *sh)
{
    struct str text = var_get(sh, "PROMPT_COMMAND");
    if (!sh->interactive || text.n == 0)
        return;
    int status = sh->last_status;
    char *copy = mem_dup(text.p, text.n);
    (void)exec_text(sh, str_of(copy, text.n), 1, "PROMPT_COMMAND");
    mem_free(copy);
    sh->last_status = status;
    settle(sh);
}

static void run_line(struct shell *sh, struct str text)
{
    struct parser *ps = parser_new(sh, text, NULL, 1);
    if (!ps) {
        sh_error(sh, "%s", errtab_text(ENOMEM));
        sh->last_status = 1;
        return;
    }
    (void)exec_script(sh, ps);
    parser_free(ps);
    (void)sh_flush(sh);
}

void shell__serve_lines(struct shell *sh, const struct shell_driver *d)
{
    struct str line;
    run_prompt_command(sh);
    while (sh->flow == FLOW_NONE && d->next(d->arg, sh->p, &line) == 1) {
        struct arena_mark m = arena_mark(&sh->scratch);
        if (sh->interactive)
            exec__check_window(sh); /* bash's line editor does it before the line is run */
        run_line(sh, line);
        settle(sh);
        if (sh->flow == FLOW_NONE)
            run_prompt_command(sh);
        arena_reset(&sh->scratch, m);
        d->done(d->arg, sh->p, sh->last_status, sh->flow != FLOW_NONE);
    }
    if (sh->flow == FLOW_NONE)
        sh->flow = FLOW_EXIT; /* ^D ends a shell as `exit` does */
}

struct outcome shell_serve_main(struct proc *p, void *arg)
{
    struct shell_serve *s = arg;
    struct shell *sh = open_shell(p, s);
    s->shell = sh;
    shell__serve_lines(sh, s->driver);
    s->shell = NULL;
    struct outcome o = shell_finish(sh);
    shell__state_end(sh, o);
    shell_free(sh);
    return o;
}

/* A last line that ends in an odd number of backslashes goes on in the next. */
static bool ends_in_backslash(struct str text)
{
    size_t n = text.n, count = 0;
    if (n && text.p[n - 1] == '\n')
        n--;
    while (n > count && text.p[n - 1 - count] == '\\')
        count++;
    return count % 2 == 1;
}

enum shell_syntax shell_check_syntax(struct shell *sh, struct str text)
{
    if (ends_in_backslash(text))
        return SHELL_INCOMPLETE;
    struct parser *ps = parser_new(sh, text, NULL, 1);
    if (!ps)
        return SHELL_BROKEN;
    parser_check_only(ps);
    struct parse_error err = {0};
    struct ast *a;
    int r;
    while ((r = parser_next(ps, &a, &err)) == 1)
        ast_unref(a);
    parser_free(ps);
    if (r == 0)
        return SHELL_COMPLETE;
    return r == -EINVAL && err.incomplete ? SHELL_INCOMPLETE : SHELL_BROKEN;
}

void shell_prompt(struct shell *sh, bool second, struct buf *out)
{
    struct str ps = var_get(sh, second ? "PS2" : "PS1");
    struct arena_mark m = arena_mark(&sh->scratch);
    if (ps.n)
        (void)expand_prompt(sh, arena_str(&sh->scratch, ps),
                            out); /* a prompt that fails to expand is shown as far as it went */
    arena_reset(&sh->scratch, m);
}
