/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/trap_int.h"

#include "shell/shell_int.h"

static void put_name(struct shell *sh, int sig)
{
    const char *name = trap_signal_name(sig);
    if (!name)
        sh_printf(sh, "%d\n", sig);
    else
        sh_printf(sh, "%s\n", sh_opt(sh, OPT_POSIX) && strncmp(name, "SIG", 3) == 0 ? name + 3 : name);
}

/* With @all also what is as it was when the shell started. */
static void print_one(struct shell *sh, int sig, bool all)
{
    const char *text = trap_listed(sh, sig);
    if (!text && !all)
        return;
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    if (text)
        quote_single(&out, str_c(text));
    sh_printf(sh, "trap -- %s ", !text ? "-" : out.n ? out.p : "''");
    put_name(sh, sig);
}

static int print_named(struct shell *sh, struct builtin_args *a, int from, bool all)
{
    int status = 0;
    if (from >= a->argc)
        for (int sig = 0; sig < TRAP_COUNT; sig++)
            print_one(sh, sig, all);
    for (int i = from; i < a->argc; i++) {
        int sig = trap_signal_number(a->argv[i]);
        if (sig < 0) {
            sh_error(sh, "trap: %s: invalid signal specification", a->argv[i].p);
            status = 1;
        } else {
            print_one(sh, sig, all);
        }
    }
    return status;
}

static int list_signals(struct shell *sh)
{
    int column = 0;
    for (int sig = 1; sig <= 64; sig++) {
        const char *name = trap_signal_name(sig);
        if (!name || sig == 32 || sig == 33)
            continue;
        sh_printf(sh, "%2d) %s%s", sig, name, ++column % 5 ? "\t" : "\n");
    }
    if (column % 5)
        sh_puts(sh, "\n");
    return 0;
}

static int set_named(struct shell *sh, struct builtin_args *a, int from, const char *text)
{
    int status = 0;
    for (int i = from; i < a->argc; i++) {
        int sig = trap_signal_number(a->argv[i]);
        if (sig < 0) {
            sh_error(sh, "trap: %s: invalid signal specification", a->argv[i].p);
            status = 1;
        } else {
            (void)trap_set(sh, sig, text);
        }
    }
    return status;
}

static int builtin_trap(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    bool print = false;
    int c;
    while ((c = builtin_getopt(sh, a, "lp", &o)) != -1) {
        if (c == 'l')
            return list_signals(sh);
        if (c != 'p')
            return 2;
        print = true;
    }
    int n = a->argc - o.i;
    if (print || n == 0)
        return print_named(sh, a, o.i, print && sh_opt(sh, OPT_POSIX));
    struct str first = a->argv[o.i];
    uint64_t number;
    /* A lone signal, and a number in front (POSIX), mean resetting. */
    if (n == 1 && trap_signal_number(first) >= 0)
        return set_named(sh, a, o.i, NULL);
    if (str_u64(first, &number) == 0 && trap_signal_number(first) >= 0)
        return set_named(sh, a, o.i, NULL);
    if (n == 1)
        return builtin_usage(sh, builtin_find_any(a->argv[0]));
    return set_named(sh, a, o.i + 1, str_eq(first, STR("-")) ? NULL : first.p);
}

BUILTIN(trap, "trap", builtin_trap, BUILTIN_SPECIAL, "trap [-lp] [[arg] signal_spec ...]",
        "    Run the commands arg when the shell gets a signal, or on other occasions.\n"
        "\n"
        "    arg - resets a signal to what it was, an empty arg ignores it. signal_spec is a name with or without SIG, "
        "a number,\n"
        "    EXIT (0) when the shell ends, DEBUG before each simple command, RETURN when a function or sourced file "
        "ends, or ERR\n"
        "    when a command fails where set -e would end the shell.\n"
        "      -l  list names and numbers of signals\n"
        "      -p  print what is set, or what is set for each signal_spec, in a form that can be used as input\n"
        "\n"
        "    The status is 0 unless a signal_spec or an option is wrong.\n");
