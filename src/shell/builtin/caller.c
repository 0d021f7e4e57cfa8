/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

/* Element @i of one of the arrays that describe the call stack. */
static bool element(struct shell *sh, const char *array, int64_t i, struct str *ret)
{
    struct sym *s = sym_get(sh, str_c(array));
    const struct var *v = s ? var_find(sh, s) : NULL;
    if (!v || !var_elem(sh, v, (struct str){0}, i, ret))
        return false;
    *ret = arena_str(&sh->scratch, *ret);
    return true;
}

static int builtin_caller(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct str line, file, func;
    int64_t n;
    if (builtin_getopt(sh, a, "", &o) != -1)
        return 2;
    if (o.i == a->argc) {
        if (!element(sh, "BASH_LINENO", 0, &line))
            return 1;
        if (!element(sh, "BASH_SOURCE", 1, &file))
            file = STR("NULL");
        sh_printf(sh, "%s %s\n", line.p, file.p);
        return 0;
    }
    if (str_i64(a->argv[o.i], &n) != 0) {
        sh_error(sh, "caller: %s: invalid number", a->argv[o.i].p);
        return builtin_usage(sh, builtin_find_any(STR("caller")));
    }
    if (n < 0 || n == INT64_MAX || !element(sh, "BASH_LINENO", n, &line) || !element(sh, "FUNCNAME", n + 1, &func) ||
        !element(sh, "BASH_SOURCE", n + 1, &file))
        return 1;
    sh_printf(sh, "%s %s %s\n", line.p, func.p, file.p);
    return 0;
}

BUILTIN(caller, "caller", builtin_caller, 0, "caller [expr]",
        "    Print where the running function or sourced file was called from.\n"
        "\n"
        "    Without expr: line and file. With a number: line, function and file of that many calls further out.\n"
        "\n"
        "    The status is 0 unless there is no such call.\n");
