/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

static int builtin_exec(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct str arg0 = {0};
    bool clear = false, login = false;
    int c;
    while ((c = builtin_getopt(sh, a, "cla:", &o)) != -1) {
        if (c == 'c')
            clear = true;
        else if (c == 'l')
            login = true;
        else if (c == 'a')
            arg0 = o.arg;
        else
            return 2;
    }
    if (o.i >= a->argc) {
        sh->keep_redirs = true;
        return 0;
    }
    if (sh_restricted(sh, "exec", NULL))
        return 1;
    if (login)
        arg0 = str_c(arena_printf(&sh->scratch, "-%s", arg0.p ? arg0.p : a->argv[o.i].p));
    int status = exec__replace(sh, a->argc - o.i, a->argv + o.i, arg0, clear);
    if (!sh->exec_done && !sh->interactive && !sh_shopt(sh, SHOPT_EXECFAIL)) {
        sh->last_status = status;
        sh->flow = FLOW_EXIT;
    }
    return status;
}

BUILTIN(exec, "exec", builtin_exec, BUILTIN_SPECIAL, "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
        "    Replace this shell by a program. Without a command its redirections change the shell itself.\n"
        "\n"
        "      -a name  passed as the program's own name\n"
        "      -c       with an empty environment\n"
        "      -l       with a dash in front of its own name, as login(1) does\n"
        "\n"
        "    If the program cannot be run the shell ends, unless execfail is set or it is interactive.\n");
