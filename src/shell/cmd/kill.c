/* SPDX-License-Identifier: Apache-2.0 */
/* kill of procps 4.0: what `env kill` and `xargs kill` run; the shell has its own. */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "types/errtab.h"

/* Linux names of 1 to 31; the tool lists no others. */
static const char *const names[] = {
    "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1", "SEGV",
    "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN", "TTOU",
    "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "POLL", "PWR",  "SYS",
};
#define N_NAMES ((int)(sizeof(names) / sizeof(names[0])))

/* Number of a signal by name (any case, with or without SIG) or number; -1 when it is none. */
static int signal_number(const char *text)
{
    int64_t n;
    if (str_i64(str_c(text), &n) == 0)
        return n >= 0 && n <= 64 ? (int)n : -1;
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    for (int i = 0; i < N_NAMES; i++) {
        if (strcasecmp(text, names[i]) == 0)
            return i + 1;
    }
    return -1;
}

static int list_one(struct cmd *c, const char *what)
{
    int sig = signal_number(what);
    if (sig < 1 || sig > N_NAMES)
        cmd_err(c, "unknown signal name %s", what);
    else if (what[0] >= '0' && what[0] <= '9')
        cmd_printf(c, "%s\n", names[sig - 1]);
    else
        cmd_printf(c, "%d\n", sig);
    return 0;
}

static int list_all(struct cmd *c, bool table)
{
    size_t width = 0;
    for (int i = 0; i < N_NAMES; i++) {
        if (table) {
            cmd_printf(c, "%2d %-8s%s", i + 1, names[i], i % 7 == 6 || i + 1 == N_NAMES ? "\n" : "");
            continue;
        }
        width += strlen(names[i]) + 1;
        bool end = i + 1 == N_NAMES || width + strlen(names[i + 1]) > 78;
        cmd_printf(c, "%s%s", names[i], end ? "\n" : " ");
        width = end ? 0 : width;
    }
    return 0;
}

/* The signal named by the arguments from *i on, which may give none: false after a message. */
static bool signal_option(struct cmd *c, int *i, int *ret_sig)
{
    const char *w = c->argv[*i], *name = w + 1;
    if (w[0] != '-' || !w[1] || strcmp(w, "--") == 0)
        return true;
    *i += 1;
    if (strcmp(w, "-s") == 0 || strcmp(w, "--signal") == 0) {
        name = *i < c->argc ? c->argv[*i] : "";
        *i += 1;
    } else if (strncmp(w, "--signal=", 9) == 0) {
        name = w + 9;
    } else if (w[1] == 's' && signal_number(name) < 0) {
        name = w + 2;
    }
    *ret_sig = signal_number(name);
    if (*ret_sig < 0)
        cmd_usage_error(c, "invalid argument %s", name);
    return *ret_sig >= 0;
}

static int send(struct cmd *c, const char *text, int sig)
{
    int64_t pid;
    if (str_i64(str_c(text), &pid) != 0 || pid < INT32_MIN || pid > INT32_MAX) {
        cmd_err(c, "failed to parse argument: '%s'", text);
        return 1;
    }
    int r = proc_kill(c->p, (int)pid, sig);
    if (r < 0)
        cmd_err(c, "(%lld): %s", (long long)pid, errtab_text(r));
    return r < 0;
}

static int kill_main(struct cmd *c)
{
    int i = 1, sig = SIGTERM, status = 0;
    if (cmd_help_alone(c))
        return 0;
    const char *first = c->argc > 1 ? c->argv[1] : "";
    if (strcmp(first, "-l") == 0 || strcmp(first, "--list") == 0)
        return c->argc > 2 ? list_one(c, c->argv[2]) : list_all(c, false);
    if (strncmp(first, "--list=", 7) == 0 || (strncmp(first, "-l", 2) == 0 && first[2]))
        return list_one(c, first + (first[1] == '-' ? 7 : 2));
    if (strcmp(first, "-L") == 0 || strcmp(first, "--table") == 0)
        return list_all(c, true);
    if (strncmp(first, "-q", 2) == 0 || strncmp(first, "--queue", 7) == 0)
        return cmd_refuse(c, "option '%s' is not implemented here", first);
    if (c->argc > 1 && !signal_option(c, &i, &sig))
        return 1;
    if (i < c->argc && strcmp(c->argv[i], "--") == 0)
        i++;
    if (i >= c->argc)
        return cmd_missing(c);
    for (; i < c->argc && !cmd_poll(c); i++)
        status |= send(c, c->argv[i], sig);
    return status;
}

CMD(kill, kill_main, 1, "Usage: kill [options] <pid> [...]\n",
    "  -SIGNAL, -s, --signal SIGNAL  the signal to send (TERM)\n"
    "  -l, --list[=SIGNAL]           list the names, or convert one\n"
    "  -L, --table                   list numbers and names\n"
    "A negative PID after '--' or a signal means a process group.\n");
