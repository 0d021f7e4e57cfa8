/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

static int builtin_suspend(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    bool force = false;
    int c;
    while ((c = builtin_getopt(sh, a, "f", &o)) != -1) {
        if (c != 'f')
            return 2;
        force = true;
    }
    if (!force && !sh_opt(sh, OPT_MONITOR)) {
        sh_error(sh, "suspend: cannot suspend: no job control");
        return 1;
    }
    if (!force && sh->login) {
        sh_error(sh, "suspend: cannot suspend a login shell");
        return 1;
    }
    return proc_kill(sh->p, sh->p->pid, SIGSTOP) ? 1 : 0;
}

BUILTIN(suspend, "suspend", builtin_suspend, 0, "suspend [-f]",
        "    Stop this shell until it gets SIGCONT.\n"
        "\n"
        "      -f  even if it is a login shell or there is no job control\n"
        "\n"
        "    The status is 0 unless there is no job control or an option is wrong.\n");

static int builtin_logout(struct shell *sh, struct builtin_args *a)
{
    if (!sh->login) {
        sh_error(sh, "logout: not login shell: use `exit'");
        return 1;
    }
    const struct builtin *b = builtin_find(sh, STR("exit"));
    return b ? b->fn(sh, a) : 1;
}

BUILTIN(logout, "logout", builtin_logout, 0, "logout [n]",
        "    Leave a login shell, with status n or that of the last command.\n"
        "\n"
        "    An error in other shells.\n");
