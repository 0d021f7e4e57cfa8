/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

static int builtin_let(struct shell *sh, struct builtin_args *a)
{
    int i = 1, r = 0;
    int64_t value = 0;
    if (i < a->argc && str_eqc(a->argv[i], "--help"))
        return builtin_help(sh, builtin_find_any(STR("let")));
    if (i < a->argc && str_eqc(a->argv[i], "--"))
        i++;
    if (i == a->argc) {
        sh_error(sh, "let: expression expected");
        return 1;
    }
    const char *who = sh->arith_who;
    sh->arith_who = "let";
    for (; i < a->argc && r == 0; i++)
        r = arith_eval_text(sh, a->argv[i], &value);
    sh->arith_who = who;
    return r < 0 || value == 0;
}

BUILTIN(let, "let", builtin_let, 0, "let arg [arg ...]",
        "    Evaluate each argument as an arithmetic expression, as (( )) does.\n"
        "\n"
        "    The status is 1 when the last one is 0 (or wrong), else 0.\n");
