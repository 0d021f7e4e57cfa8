/* SPDX-License-Identifier: Apache-2.0 */
/* timeout of coreutils: a group of its own, one child in it, signals passed on. */
#include "shell/cmd/cmd.h"

#include <errno.h>
#include <math.h>
#include <signal.h>

#include "base/clock.h"
#include "shell/cmd/num.h"
#include "shell/shell_int.h"
#include "types/errtab.h"

enum { FAILED = 125, CANNOT = 126, NOT_FOUND = 127, TIMED_OUT = 124 };
enum { O_PRESERVE = 256, O_FOREGROUND };

static const struct cmd_opt opts[] = {
    {'k', "kill-after", CMD_ARG},
    {'s', "signal", CMD_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {O_FOREGROUND, "foreground", CMD_NO_ARG},
    {O_PRESERVE, "preserve-status", CMD_NO_ARG},
    {0},
};

struct timeout {
    struct cmd *c;
    int sig; /* sent when the time is over */
    double first, kill_after; /* seconds; 0: no limit */
    bool foreground, preserve, verbose, timed_out;
    int64_t deadline;
    const char *command;
    struct cmd_child child;
};

static int64_t deadline_in(struct cmd *c, double seconds)
{
    int64_t now = proc_now(c->p->ps);
    double ns = ceil(seconds * 1e9);
    if (seconds <= 0 || ns >= (double)(INT64_MAX - now))
        return INT64_MAX;
    return now + (int64_t)ns;
}

/* Number of "TERM", "sigterm" or "15"; -1 after a message. */
static int signal_of(struct cmd *c, const char *text)
{
    int sig = trap_signal_number(str_c(text));
    if (sig >= 0 && sig <= 64)
        return sig;
    cmd_err(c, "%s: invalid signal", cmd_quote_loc(c, text));
    cmd_try_help(c);
    return -1;
}

static bool duration(struct cmd *c, const char *text, double *ret)
{
    if (cmd_interval(text, ret))
        return true;
    cmd_usage_error(c, "invalid time interval %s", cmd_quote_loc(c, text));
    return false;
}

/* 0, or -1 with the status to end with. */
static int options(struct timeout *t, int *ret_status)
{
    struct cmd *c = t->c;
    *ret_status = FAILED;
    for (int o; (o = cmd_getopt(c, opts, true)) != -1;) {
        switch (o) {
        case 'k':
            if (!duration(c, c->optarg, &t->kill_after))
                return -1;
            break;
        case 's':
            t->sig = signal_of(c, c->optarg);
            if (t->sig < 0)
                return -1;
            break;
        case 'v':
            t->verbose = true;
            break;
        case O_FOREGROUND:
            t->foreground = true;
            break;
        case O_PRESERVE:
            t->preserve = true;
            break;
        default:
            *ret_status = cmd_usage_status(c);
            return -1;
        }
    }
    if (c->argc - c->optind < 2) {
        cmd_try_help(c);
        return -1;
    }
    return duration(c, c->argv[c->optind++], &t->first) ? 0 : -1;
}

/* Sends @sig to the child, and to the group without us. What cannot be ignored ends us too, as it does there. */
static void send(struct timeout *t, int sig)
{
    struct proc *p = t->c->p;
    (void)proc_kill(p, t->child.pid, sig);
    if (t->foreground)
        return;
    (void)proc_sigaction(p, sig, PROC_SIG_IGNORE);
    (void)proc_kill(p, 0, sig);
    if (sig != SIGKILL && sig != SIGCONT) {
        (void)proc_kill(p, t->child.pid, SIGCONT);
        (void)proc_sigaction(p, SIGCONT, PROC_SIG_IGNORE);
        (void)proc_kill(p, 0, SIGCONT);
    }
}

/* The time is over (@sig SIGALRM) or a signal came: passes it on. The next one, after --kill-after, is SIGKILL. */
static void pass(struct timeout *t, int sig)
{
    struct cmd *c = t->c;
    if (sig == SIGALRM) {
        t->timed_out = true;
        sig = t->sig;
    }
    t->deadline = deadline_in(c, t->kill_after);
    if (t->kill_after > 0) {
        t->sig = SIGKILL;
        t->kill_after = 0;
    }
    if (t->verbose) {
        const char *name = trap_signal_name(sig);
        cmd_err(c, "sending signal %s to command %s", name && strncmp(name, "SIG", 3) == 0 ? name + 3 : name,
                cmd_quote_loc(c, t->command));
    }
    send(t, sig);
}

/* Waits to the child's end: false when we must end before. */
static bool attend(struct timeout *t, struct outcome *ret)
{
    for (;;) {
        int r = cmd_spawn_wait_until(t->c, &t->child, t->deadline, ret);
        if (r == 0)
            return true;
        if (r == -ETIMEDOUT)
            pass(t, SIGALRM);
        else if (r == -EINTR && !t->c->p->must_end)
            for (int sig; (sig = proc_take_signal(t->c->p)) != 0;)
                pass(t, sig);
        else
            return false;
    }
}

static int end_status(struct timeout *t, struct outcome o)
{
    struct cmd *c = t->c;
    if (t->child.err < 0) {
        cmd_err(c, "failed to run command %s: %s", cmd_quote_loc(c, t->command), errtab_text(t->child.err));
        return t->child.err == -ENOENT ? NOT_FOUND : CANNOT;
    }
    if (o.kind == OUTCOME_KILLED) {
        if (!t->timed_out)
            proc_die(c->p, o.signal);
        if (t->timed_out && o.signal == SIGKILL)
            t->preserve = true;
    }
    return t->timed_out && !t->preserve ? TIMED_OUT : outcome_status(o);
}

static int timeout_main(struct cmd *c)
{
    static const int caught[] = {SIGALRM, SIGINT, SIGQUIT, SIGHUP, SIGTERM};
    struct timeout t = {.c = c, .sig = SIGTERM};
    struct outcome o;
    int status;
    if (options(&t, &status) < 0)
        return status;
    t.command = c->argv[c->optind];
    if (!t.foreground)
        (void)proc_setpgid(c->p, 0, 0);
    int r = cmd_spawn_start(c, c->argc - c->optind, c->argv + c->optind, NULL, &t.child);
    if (r < 0) {
        cmd_errno(c, r, "fork system call failed");
        return FAILED;
    }
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        (void)proc_sigaction(c->p, caught[i], PROC_SIG_CATCH);
    if (t.sig > 0)
        (void)proc_sigaction(c->p, t.sig, PROC_SIG_CATCH);
    t.deadline = deadline_in(c, t.first);
    return attend(&t, &o) ? end_status(&t, o) : FAILED;
}

CMD(timeout, timeout_main, FAILED, "Usage: timeout [OPTION] DURATION COMMAND [ARG]...\n",
    "Runs COMMAND and ends it when it still runs after DURATION: a number with s (the default), m, h or d, 0 no\n"
    "limit. Status 124 then, 125 when timeout fails, 126 and 127 when COMMAND cannot be run, else COMMAND's.\n"
    "  -k, --kill-after=DURATION  send KILL if it still runs that long after the first signal\n"
    "  -s, --signal=SIGNAL        the signal to send (TERM)\n"
    "  -v, --verbose              tell of each signal on standard error\n"
    "      --foreground           stay in the caller's process group; children of COMMAND are not ended\n"
    "      --preserve-status      COMMAND's status also when the time was over\n");
