/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/builtin/declare_int.h"
#include "shell/options_int.h"

static const struct builtin *self(void)
{
    return builtin_find_any(STR("set"));
}

/* `set -o` and `set +o` without a name. */
static void list_options(struct shell *sh, bool reusable)
{
    size_t n;
    const struct opt_def *all = options_all(&n);
    for (size_t i = 0; i < n; i++) {
        bool on = sh_opt(sh, all[i].bit);
        if (reusable)
            sh_printf(sh, "set %co %s\n", on ? '-' : '+', all[i].name);
        else
            sh_printf(sh, "%-15s\t%s\n", all[i].name, on ? "on" : "off");
    }
}

/* What a first pass checks, so that a wrong option changes nothing. */
static int check_word(struct shell *sh, struct str w, struct str next, bool has_next, bool *ret_takes_next)
{
    *ret_takes_next = false;
    for (size_t k = 1; k < w.n; k++) {
        if (w.p[k] == 'o') {
            if (!has_next || (next.n && (next.p[0] == '-' || next.p[0] == '+')))
                continue;
            *ret_takes_next = true;
            if (!options_find(next)) {
                sh_error(sh, "set: %s: invalid option name", next.p);
                return 2;
            }
        } else if (w.p[k] == 'r' && (w.p[0] == '-' || !sh->restricted)) {
            continue;
        } else if (!options_letter(w.p[k])) {
            sh_error(sh, "set: %c%c: invalid option", w.p[0], w.p[k]);
            int status = builtin_usage(sh, self());
            return w.p[k] == 'r' ? 1 : status;
        }
    }
    return 0;
}

static bool is_option_word(struct str w)
{
    return w.n > 1 && (w.p[0] == '-' || w.p[0] == '+') && !str_eqc(w, "--");
}

static int check_all(struct shell *sh, struct builtin_args *a)
{
    for (int i = 1; i < a->argc && is_option_word(a->argv[i]); i++) {
        bool skip, has_next = i + 1 < a->argc;
        int r = check_word(sh, a->argv[i], has_next ? a->argv[i + 1] : STR(""), has_next, &skip);
        if (r)
            return r;
        i += skip;
    }
    return 0;
}

static void apply_word(struct shell *sh, struct str w, struct str next, bool takes_next)
{
    bool on = w.p[0] == '-';
    for (size_t k = 1; k < w.n; k++) {
        if (w.p[k] == 'r' && on)
            options_restrict(sh);
        else if (w.p[k] == 'r')
            continue;
        else if (w.p[k] != 'o')
            (void)options_set(sh, options_letter(w.p[k])->bit, on); /* what cannot be changed stays, as in bash */
        else if (takes_next)
            (void)options_set(sh, options_find(next)->bit, on);
        else
            list_options(sh, !on);
    }
}

static int set_arguments(struct shell *sh, struct builtin_args *a, int i)
{
    struct posargs *args = posargs_new(a->argv + i, (uint32_t)(a->argc - i));
    if (!args) {
        sh_error(sh, "set: cannot allocate memory");
        return 1;
    }
    posargs_unref(sh->args);
    sh->args = args;
    return 0;
}

static int builtin_set(struct shell *sh, struct builtin_args *a)
{
    if (a->argc == 1) {
        declare_list_all(sh);
        return 0;
    }
    if (str_eqc(a->argv[1], "--help"))
        return builtin_help(sh, self());
    int r = check_all(sh, a), i = 1;
    if (r)
        return r;
    for (; i < a->argc && is_option_word(a->argv[i]); i++) {
        bool takes_next, has_next = i + 1 < a->argc;
        struct str next = has_next ? a->argv[i + 1] : STR("");
        (void)check_word(sh, a->argv[i], next, has_next, &takes_next); /* was checked above */
        apply_word(sh, a->argv[i], next, takes_next);
        i += takes_next;
    }
    if (i == a->argc)
        return 0;
    if (str_eqc(a->argv[i], "--"))
        return set_arguments(sh, a, i + 1);
    if (str_eqc(a->argv[i], "-")) {
        (void)options_set(sh, OPT_XTRACE, false);
        (void)options_set(sh, OPT_VERBOSE, false);
        return i + 1 < a->argc ? set_arguments(sh, a, i + 1) : 0;
    }
    if (str_eqc(a->argv[i], "+"))
        return i + 1 < a->argc ? set_arguments(sh, a, i + 1) : 0;
    return set_arguments(sh, a, i);
}

BUILTIN(set, "set", builtin_set, BUILTIN_SPECIAL, "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
        "    Switch options, set the positional parameters, or list variables and functions.\n"
        "\n"
        "      -a allexport  -B braceexpand  -C noclobber  -e errexit  -E errtrace  -f noglob  -h hashall\n"
        "      -H histexpand  -k keyword  -m monitor  -n noexec  -p privileged  -P physical  -t onecmd\n"
        "      -T functrace  -u nounset  -v verbose  -x xtrace\n"
        "      -o NAME  by name; without one, list the options (+o: as commands)\n"
        "      --       the rest are positional parameters, none removes them\n"
        "      -        the same if there are any, and -x and -v are switched off\n"
        "\n"
        "    With + instead of - an option is switched off. The status is 0 unless an option is wrong.\n");
