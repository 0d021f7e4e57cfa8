/* SPDX-License-Identifier: Apache-2.0 */
/* break, continue, return, exit: what sets sh->flow. */
#include "shell/shell_int.h"

#include "shell/builtin/condition_int.h"
#include "shell/trap_int.h"

/* The optional number behind the options: 1 and *ret, 0 when there is none, -1 after a message. */
static int number(struct shell *sh, const struct builtin_args *a, int i, int64_t *ret)
{
    if (i < a->argc && str_eq(a->argv[i], STR("--")))
        i++;
    if (i >= a->argc)
        return 0;
    if (!condition_int(a->argv[i], ret)) {
        sh_error(sh, "%s: %s: numeric argument required", a->argv[0].p, a->argv[i].p);
        return -1;
    }
    if (i + 1 < a->argc) {
        (void)builtin_too_many(sh, a);
        return -2;
    }
    return 1;
}

static bool wants_help(struct shell *sh, const struct builtin_args *a)
{
    if (a->argc < 2 || !str_eq(a->argv[1], STR("--help")))
        return false;
    (void)builtin_help(sh, builtin_find_any(a->argv[0]));
    return true;
}

/* ---- break, continue ---- */

static int leave(struct shell *sh, struct builtin_args *a, enum flow flow)
{
    int64_t n = 1;
    if (wants_help(sh, a))
        return 2;
    if (!sh->loop_depth && sh_opt(sh, OPT_POSIX))
        return 0;
    if (!sh->loop_depth) {
        sh_error(sh, "%s: only meaningful in a `for', `while', or `until' loop", a->argv[0].p);
        return 0;
    }
    int r = number(sh, a, 1, &n);
    if (r == -1)
        (void)sh_fatal(sh, 128);
    if (r < 0)
        return sh->last_status;
    if (n <= 0) {
        sh_error(sh, "%s: %s: loop count out of range", a->argv[0].p, a->argv[a->argc - 1].p);
        sh->flow = FLOW_BREAK;
        sh->flow_n = sh->loop_depth;
        return 1;
    }
    sh->flow = flow;
    sh->flow_n = n > (int64_t)sh->loop_depth ? sh->loop_depth : (uint32_t)n;
    return 0;
}

static int builtin_break(struct shell *sh, struct builtin_args *a)
{
    return leave(sh, a, FLOW_BREAK);
}

BUILTIN(break, "break", builtin_break, BUILTIN_SPECIAL, "break [n]",
        "    Leave the innermost for, while, until or select loop, or the n innermost.\n"
        "\n"
        "    The status is 0 unless n is below 1.\n");

static int builtin_continue(struct shell *sh, struct builtin_args *a)
{
    return leave(sh, a, FLOW_CONTINUE);
}

BUILTIN(continue, "continue", builtin_continue, BUILTIN_SPECIAL, "continue [n]",
        "    Go on with the next turn of the innermost loop, or of the n-th around.\n"
        "\n"
        "    The status is 0 unless n is below 1.\n");

/* ---- return, exit ---- */

/* $? as `exit` and `return` give it on: in a trap, what it was before the trap. */
static int default_status(const struct shell *sh)
{
    return sh->trap_running ? sh->trap_status : sh->last_status;
}

static int builtin_return(struct shell *sh, struct builtin_args *a)
{
    int64_t n;
    if (wants_help(sh, a))
        return 2;
    if (!sh->func_depth && !sh->source_depth) {
        sh_error(sh, "return: can only `return' from a function or sourced script");
        return 2;
    }
    int r = number(sh, a, 1, &n);
    if (r == -2)
        return sh->last_status;
    if (r == 0)
        n = sh->trap_running == TRAP_DEBUG + 1 || !sh->trap_running ? sh->last_status : default_status(sh);
    else if (r < 0)
        n = 2;
    sh->flow = FLOW_RETURN;
    return sh->last_status = (int)(n & 255);
}

BUILTIN(return, "return", builtin_return, BUILTIN_SPECIAL, "return [n]",
              "    Return from a function or a sourced file, with status n or that of the last command.\n"
              "\n"
              "    The status is n, or 2 where there is nothing to return from.\n");

static int builtin_exit(struct shell *sh, struct builtin_args *a)
{
    int64_t n;
    if (wants_help(sh, a))
        return 2;
    if (sh->interactive && !sh->is_subshell)
        sh_write_fd(sh, 2, sh->login ? STR("logout\n") : STR("exit\n"));
    int r = number(sh, a, 1, &n);
    if (r == -2)
        return sh->last_status;
    if (r == 0)
        n = default_status(sh);
    else if (r < 0)
        n = 2;
    sh->last_status = (int)(n & 255);
    trap_exit(sh);
    return sh->last_status;
}

BUILTIN(exit, "exit", builtin_exit, BUILTIN_SPECIAL, "exit [n]",
        "    End the shell with status n, or that of the last command.\n");
