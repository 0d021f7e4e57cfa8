/* SPDX-License-Identifier: Apache-2.0 */
/* uptime, and w, of procps 4.0. Nobody is ever logged in: a session has no log-ins. */
#include "shell/cmd/cmd.h"

#include "base/clock.h"
#include "shell/cmd/processes.h"
#include "shell/cmd/system.h"

#define DAY 86400

static const struct cmd_opt opts[] = {
    {'p', "pretty", CMD_NO_ARG}, {'s', "since", CMD_NO_ARG}, {'V', NULL, CMD_NO_ARG}, {0}};

static const struct cmd_opt w_opts[] = {
    {'h', "no-header", CMD_NO_ARG}, {'u', "no-current", CMD_NO_ARG}, {'s', "short", CMD_NO_ARG},
    {'f', "from", CMD_NO_ARG},      {'o', "old-style", CMD_NO_ARG},  {'i', "ip-addr", CMD_NO_ARG},
    {'p', "pids", CMD_NO_ARG},      {'V', NULL, CMD_NO_ARG},         {0},
};

static const char *plural(long long n)
{
    return n == 1 ? "" : "s";
}

static void print_pretty(struct cmd *c, long long s)
{
    static const struct {
        const char *name;
        long long n;
    } units[] = {{"decade", 315360000}, {"year", 31536000}, {"week", 7 * DAY},
                 {"day", DAY},          {"hour", 3600},     {"minute", 60}};
    bool any = false;
    cmd_puts(c, "up ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        long long n = s / units[i].n;
        s %= units[i].n;
        /* Minutes are shown even when there are none. */
        if (n == 0 && units[i].n != 60)
            continue;
        cmd_printf(c, "%s%lld %s%s", any ? ", " : "", n, units[i].name, plural(n));
        any = true;
    }
    cmd_putc(c, '\n');
}

/* " 14:41:51 up 15:54,  0 user,  load average: 7.57, 7.48, 7.76" */
void processes_uptime_line(struct cmd *c)
{
    struct cmd_time t;
    long long up = (long long)processes_uptime(c);
    cmd_localtime(c, proc_wall(c->p->ps) / CLOCK_S, false, &t);
    cmd_printf(c, " %02d:%02d:%02d up ", t.hour, t.min, t.sec);
    if (up >= DAY)
        cmd_printf(c, "%lld day%s, ", up / DAY, plural(up / DAY));
    if (up % DAY >= 3600)
        cmd_printf(c, "%2lld:%02lld, ", up % DAY / 3600, up / 60 % 60);
    else
        cmd_printf(c, "%lld min, ", up / 60 % 60);
    size_t n;
    const char *load = system_file(c, "/proc/loadavg", &n);
    const char *v[3];
    for (int i = 0; i < 3; i++) {
        size_t len = load ? strcspn(load, " ") : 0;
        v[i] = len ? arena_dup(c->arena, load, len) : "0.00";
        load = load ? load + len + (load[len] != 0) : NULL;
    }
    cmd_printf(c, " 0 user,  load average: %s, %s, %s\n", v[0], v[1], v[2]);
}

static int uptime_main(struct cmd *c)
{
    int o, how = 0;
    c->opt_no_try = true;
    while ((o = cmd_getopt(c, opts, false)) >= 0) {
        if (o == 'V') {
            cmd_printf(c, "uptime (Frontal Sandbox) %s\n", FRONTAL_VERSION);
            return 0;
        }
        how = o;
    }
    if (o == -2 || c->optind < c->argc)
        return o == -2 ? processes_usage(c) : (c->optind = c->argc, processes_usage(c));
    if (how == 'p')
        print_pretty(c, (long long)processes_uptime(c));
    else if (how == 's') {
        struct cmd_time t;
        cmd_localtime(c, processes_boot(c), false, &t);
        cmd_printf(c, "%04lld-%02d-%02d %02d:%02d:%02d\n", (long long)t.year, t.mon + 1, t.mday, t.hour, t.min, t.sec);
    } else {
        processes_uptime_line(c);
    }
    return 0;
}

static int w_main(struct cmd *c)
{
    int o;
    bool head = true, brief = false, from = true;
    c->opt_no_try = true;
    while ((o = cmd_getopt(c, w_opts, false)) >= 0) {
        if (o == 'V') {
            cmd_printf(c, "w (Frontal Sandbox) %s\n", FRONTAL_VERSION);
            return 0;
        }
        head = head && o != 'h';
        brief = brief || o == 's';
        from = o == 'f' ? !from : from;
    }
    if (o == -2)
        return processes_usage(c);
    if (!head)
        return 0;
    processes_uptime_line(c);
    cmd_printf(c, "USER     TTY      %s%s\n", from ? "FROM             " : "",
               brief ? " IDLE WHAT" : "LOGIN@   IDLE   JCPU   PCPU WHAT");
    return 0;
}

CMD(uptime, uptime_main, 1, "Usage: uptime [options]\n",
    "  -p, --pretty   how long, in words\n  -s, --since    since when\n  -V, --version  the version\n");
CMD(w, w_main, 1, "Usage: w [options] [user]\n",
    "Who is logged in: nobody is.\n\n"
    "  -h, --no-header  no header\n"
    "  -s, --short      the short format\n"
    "  -f, --from       without the column FROM\n"
    "  -u, -o, -i, -p   concern only those who are logged in\n"
    "  -V, --version    the version\n");
