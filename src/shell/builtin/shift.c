/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include "shell/builtin/condition_int.h"

static int out_of_range(struct shell *sh, const struct builtin_args *a, const char *count, bool told)
{
    if (told)
        sh_error(sh, "%s: %s%sshift count out of range", a->argv[0].p, count, *count ? ": " : "");
    return 1;
}

static int builtin_shift(struct shell *sh, struct builtin_args *a)
{
    int64_t n = 1;
    int i = 1;
    if (i < a->argc && str_eq(a->argv[i], STR("--help")))
        return builtin_help(sh, builtin_find_any(a->argv[0]));
    if (i < a->argc && str_eq(a->argv[i], STR("--")))
        i++;
    const char *text = i < a->argc ? a->argv[i].p : "";
    if (i < a->argc && !condition_int(a->argv[i], &n)) {
        sh_error(sh, "%s: %s: numeric argument required", a->argv[0].p, text);
        return 1;
    }
    if (i + 1 < a->argc) {
        return builtin_too_many(sh, a);
    }
    uint32_t have = sh->args ? sh->args->n : 0;
    if (n < 0)
        return out_of_range(sh, a, text, true);
    if (n > (int64_t)have)
        return out_of_range(sh, a, text, sh_shopt(sh, SHOPT_SHIFT_VERBOSE));
    if (n == 0)
        return 0;
    if (sh->args->refs == 1) { /* nobody else looks: O(1), which loops over many arguments need */
        sh->args->v += n;
        sh->args->n -= (uint32_t)n;
        return 0;
    }
    struct posargs *rest = posargs_new(sh->args->v + n, have - (uint32_t)n);
    if (!rest) {
        sh_error(sh, "%s: cannot allocate memory", a->argv[0].p);
        return 1;
    }
    posargs_unref(sh->args);
    sh->args = rest;
    return 0;
}

BUILTIN(shift, "shift", builtin_shift, BUILTIN_SPECIAL, "shift [n]",
        "    Drop the first n positional parameters (1 when n is not given) and renumber the others.\n"
        "\n"
        "    The status is 0 unless n is negative or greater than $#.\n");
