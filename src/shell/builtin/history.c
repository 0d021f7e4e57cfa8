/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history, fc, bind - what belongs to line editing. The session's line editor keeps the lines that were typed; a shell
 * itself has an empty list, as bash has when it is not interactive. Whatever would change or run something from that
 * list is refused.
 */
#include "shell/shell_int.h"

#include <errno.h>

static int refuse(struct shell *sh, const char *name, int c)
{
    sh_error(sh, "%s: -%c: this shell keeps no history", name, c);
    return 1;
}

static int builtin_history(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    int c;
    int64_t n;
    while ((c = builtin_getopt(sh, a, "acd:npsrw", &o)) != -1) {
        if (c == '?')
            return 2;
        if (c != 'c')
            return refuse(sh, "history", c);
    }
    if (o.i < a->argc && str_i64(a->argv[o.i], &n) != 0) {
        sh_error(sh, "history: %s: numeric argument required", a->argv[o.i].p);
        return 1;
    }
    return 0;
}

static int builtin_fc(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    int c;
    while ((c = builtin_getopt(sh, a, "e:lnrs", &o)) != -1) {
        if (c == '?')
            return 2;
    }
    sh_error(sh, "fc: history specification out of range");
    return 1;
}

static int builtin_bind(struct shell *sh, struct builtin_args *a)
{
    (void)a;
    sh_error(sh, "bind: key bindings cannot be changed in this shell");
    return 1;
}

BUILTIN(history, "history", builtin_history, 0,
        "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
        "    List the commands typed before.\n"
        "\n"
        "    The shell itself keeps none: the list is empty, -c does nothing, and the other options are refused.\n");
BUILTIN(fc, "fc", builtin_fc, BUILTIN_POSIX, "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]",
        "    List or run again commands typed before.\n"
        "\n"
        "    The shell itself keeps none, so there is nothing in range.\n");
BUILTIN(bind, "bind", builtin_bind, 0,
        "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] "
        "[keyseq:readline-function or readline-command]",
        "    Change the keys of the line editor.\n"
        "\n"
        "    They are fixed here: the status is always 1.\n");
