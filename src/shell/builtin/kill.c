/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>

#include "types/errtab.h"

static const struct builtin *self(void)
{
    return builtin_find_any(STR("kill"));
}

/* ---- kill -l ---- */

static bool listed(int sig)
{
    return trap_signal_name(sig) && sig != 32 && sig != 33;
}

static void list_all(struct shell *sh)
{
    int column = 0;
    bool posix = sh_opt(sh, OPT_POSIX);
    for (int sig = 1; sig <= 64; sig++) {
        if (!listed(sig))
            continue;
        if (posix) {
            sh_printf(sh, "%s%s", sig > 1 ? " " : "", trap_signal_name(sig) + 3);
            continue;
        }
        sh_printf(sh, "%2d) %s", sig, trap_signal_name(sig));
        column++;
        sh_puts(sh, column % 5 == 0 ? "\n" : "\t");
    }
    if (posix || column % 5)
        sh_puts(sh, "\n");
}

/* Names for numbers (also those of statuses, 128 + n), numbers for names. */
static int list_one(struct shell *sh, struct str what)
{
    int64_t n;
    if (str_i64(what, &n) == 0) {
        if (n > 128)
            n -= 128;
        if (n == 0) {
            sh_puts(sh, "EXIT\n");
            return 0;
        }
        if (n >= 1 && n <= 64 && listed((int)n)) {
            sh_printf(sh, "%s\n", trap_signal_name((int)n) + 3);
            return 0;
        }
    } else {
        int sig = trap_signal_number(what);
        if (sig >= 0 && sig <= 64) {
            sh_printf(sh, "%d\n", sig);
            return 0;
        }
    }
    sh_error(sh, "kill: %s: invalid signal specification", what.p);
    return 1;
}

static int list(struct shell *sh, struct builtin_args *a, int i)
{
    if (i < a->argc && str_eqc(a->argv[i], "--"))
        i++;
    if (i == a->argc) {
        list_all(sh);
        return 0;
    }
    int status = 0;
    for (; i < a->argc; i++)
        status |= list_one(sh, a->argv[i]);
    return status;
}

/* ---- sending ---- */

static int sent(struct shell *sh, int r, struct str who)
{
    if (r == 0)
        return 0;
    if (who.p[0] == '%')
        sh_error(sh, "kill: %s: %s", who.p, errtab_text(r));
    else
        sh_error(sh, "kill: (%s) - %s", who.p, errtab_text(r));
    return 1;
}

static int to_job(struct shell *sh, struct str spec, int sig)
{
    struct job *j = job_find(sh, spec, "kill");
    if (!j)
        return 1;
    /* Without job control its processes are in the shell's own group, which must not be hit. */
    if (j->pgid && j->pgid != sh->p->pgid)
        return sent(sh, proc_kill(sh->p, -j->pgid, sig), spec);
    int r = -ESRCH;
    for (uint32_t i = 0; i < j->n; i++)
        if (proc_kill(sh->p, j->pids[i], sig) == 0)
            r = 0;
    return sent(sh, r, spec);
}

static int to_one(struct shell *sh, struct str who, int sig)
{
    if (who.n && who.p[0] == '%')
        return to_job(sh, who, sig);
    int64_t pid;
    if (str_i64(who, &pid) || pid < INT32_MIN || pid > INT32_MAX) {
        sh_error(sh, "kill: %s: arguments must be process or job IDs", who.p);
        return 1;
    }
    return sent(sh, proc_kill(sh->p, (int)pid, sig), who);
}

static int bad_signal(struct shell *sh, const char *text)
{
    sh_error(sh, "kill: %s: invalid signal specification", text);
    return 1;
}

static int signal_of(struct str text)
{
    int sig = trap_signal_number(text);
    return sig > 64 ? -1 : sig;
}

/* The signal that the words from *i on ask for: its number, or -1 after a message with *ret_status set. */
static int parse_signal(struct shell *sh, struct builtin_args *a, int *i, int *ret_status)
{
    struct str w = *i < a->argc ? a->argv[*i] : STR("");
    *ret_status = 1;
    if (w.n < 2 || w.p[0] != '-' || str_eqc(w, "--"))
        return SIGTERM;
    *i += 1;
    if (str_eqc(w, "-s") || str_eqc(w, "-n")) {
        if (*i == a->argc) {
            sh_error(sh, "kill: %s: option requires an argument", w.p);
            return -1;
        }
        w = a->argv[*i];
        *i += 1;
    } else if (signal_of(str_from(w, 1)) < 0 && (w.p[1] == 's' || w.p[1] == 'n')) {
        w = str_from(w, 2);
    } else {
        w = str_from(w, 1);
    }
    int sig = signal_of(w);
    if (sig < 0)
        *ret_status = bad_signal(sh, w.p);
    return sig;
}

static int builtin_kill(struct shell *sh, struct builtin_args *a)
{
    int i = 1, status;
    if (a->argc > 1 && (str_eqc(a->argv[1], "-l") || str_eqc(a->argv[1], "-L")))
        return list(sh, a, 2);
    if (a->argc > 1 && str_eqc(a->argv[1], "--help"))
        return builtin_help(sh, self());
    int sig = parse_signal(sh, a, &i, &status);
    if (sig < 0)
        return status;
    if (i < a->argc && str_eqc(a->argv[i], "--"))
        i++;
    if (i == a->argc)
        return builtin_usage(sh, self());
    /* It succeeds when it reached one of them. */
    bool reached = false;
    for (; i < a->argc; i++)
        reached |= to_one(sh, a->argv[i], sig) == 0;
    return reached ? 0 : 1;
}

BUILTIN(kill, "kill", builtin_kill, 0,
        "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]",
        "    Send a signal (SIGTERM when none is named) to processes or jobs.\n"
        "\n"
        "      -s sig  the signal by name\n"
        "      -n sig  the signal by number\n"
        "      -l      list the signals; with arguments, translate names and numbers\n"
        "      -L      the same\n"
        "\n"
        "    The status is 0 when at least one signal was sent.\n");
