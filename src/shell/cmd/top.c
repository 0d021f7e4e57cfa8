/* SPDX-License-Identifier: Apache-2.0 */
/* top of procps 4.0 in batch mode, once: "top -b -n 1". */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "shell/cmd/ps_int.h"
#include "shell/cmd/system.h"

static const struct cmd_opt opts[] = {
    {'b', NULL, CMD_NO_ARG},
    {'n', NULL, CMD_ARG},
    {'d', NULL, CMD_ARG},
    {'c', NULL, CMD_NO_ARG},
    {'w', NULL, CMD_OPT_ARG},
    {'o', NULL, CMD_ARG | CMD_REFUSED},
    {'O', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'p', NULL, CMD_ARG | CMD_REFUSED},
    {'u', NULL, CMD_ARG | CMD_REFUSED},
    {'U', NULL, CMD_ARG | CMD_REFUSED},
    {'E', NULL, CMD_ARG | CMD_REFUSED},
    {'e', NULL, CMD_ARG | CMD_REFUSED},
    {'H', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'i', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'S', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'s', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'1', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'v', NULL, CMD_NO_ARG},
    {'V', NULL, CMD_NO_ARG},
    {'h', NULL, CMD_NO_ARG},
    {0},
};

static int by_cpu(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? 1 : -1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static double mib(struct cmd *c, const char *key)
{
    return (double)processes_meminfo(c, key) / 1024;
}

static void print_machine(struct cmd *c, const struct process *v, size_t n)
{
    unsigned run = 0, stop = 0, zombie = 0;
    for (size_t i = 0; i < n; i++) {
        run += v[i].state == 'R';
        stop += v[i].state == 'T';
        zombie += v[i].state == 'Z';
    }
    cmd_printf(c, "Tasks: %3zu total, %3u running, %3zu sleeping, %3u stopped, %3u zombie\n", n, run,
               n - run - stop - zombie, stop, zombie);
    size_t len;
    const char *stat = system_file(c, "/proc/stat", &len);
    unsigned long long t[8] = {0}, all = 0;
    if (stat && sscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5],
                       &t[6], &t[7]) == 8)
        for (int i = 0; i < 8; i++)
            all += t[i];
    double one = all ? 100 / (double)all : 0;
    cmd_printf(c, "%%Cpu(s):%5.1f us,%5.1f sy,%5.1f ni,%5.1f id,%5.1f wa,%5.1f hi,%5.1f si,%5.1f st \n",
               (double)t[0] * one, (double)t[2] * one, (double)t[1] * one, all ? (double)t[3] * one : 100,
               (double)t[4] * one, (double)t[5] * one, (double)t[6] * one, (double)t[7] * one);
    double total = mib(c, "MemTotal"), avail = mib(c, "MemAvailable"), swap = mib(c, "SwapTotal"),
           swap_left = mib(c, "SwapFree");
    cmd_printf(c, "MiB Mem : %8.1f total, %8.1f free, %8.1f used, %8.1f buff/cache     \n", total, mib(c, "MemFree"),
               total - avail, mib(c, "Buffers") + mib(c, "Cached"));
    cmd_printf(c, "MiB Swap: %8.1f total, %8.1f free, %8.1f used. %8.1f avail Mem \n\n", swap, swap_left,
               swap - swap_left, avail);
}

static void print_process(const struct ps_world *w, const struct process *p, bool args)
{
    struct cmd *c = w->c;
    const char *user = ps_user(c, p->uid);
    if (strlen(user) > 8)
        user = arena_printf(c->arena, "%.7s+", user);
    unsigned long long hundredths = p->cpu * 100 / PROCESS_TICKS;
    const char *time =
        arena_printf(c->arena, "%llu:%02llu.%02llu", hundredths / 6000, hundredths / 100 % 60, hundredths % 100);
    cmd_printf(c, "%*d %-8s %3d %3d %7llu %6llu %6d %c %5.1f %5.1f %9s %s\n", w->pid_digits, p->pid, user, p->priority,
               p->nice, (unsigned long long)(p->vsize / 1024), (unsigned long long)(p->rss * 4), 0, p->state,
               ps_cpu_percent(w, p), ps_memory_percent(w, p), time, args ? p->args : p->comm);
}

static int top_main(struct cmd *c)
{
    bool batch = false, once = false, args = false;
    int o;
    if (cmd_help_alone(c))
        return 0;
    while ((o = cmd_getopt(c, opts, false)) >= 0) {
        if (o == 'v' || o == 'V')
            return cmd_printf(c, "top (Frontal Sandbox) %s\n", FRONTAL_VERSION), 0;
        if (o == 'h')
            return cmd_printf(c, "%s\n%s", c->def->usage, c->def->help), 0;
        batch = batch || o == 'b';
        args = args || o == 'c';
        if (o == 'n') {
            once = strcmp(c->optarg, "1") == 0;
            if (!once)
                return cmd_refuse(c, "more than one look is not implemented here");
        }
    }
    if (o == -2)
        return cmd_usage_status(c);
    if (c->optind < c->argc)
        return cmd_err(c, "unknown option '%s'", c->argv[c->optind]), 1;
    if (!batch && !c->out_tty)
        return cmd_err(c, "failed tty get"), 1;
    if (!batch || !once)
        return cmd_refuse(c, "looking again and again (without -b -n 1) is not implemented here");
    struct ps_world w;
    size_t n;
    ps_world_init(&w, c);
    struct process *v = processes_read(c, &n);
    cmd_puts(c, "top -");
    processes_uptime_line(c);
    print_machine(c, v, n);
    if (n)
        qsort(v, n, sizeof *v, by_cpu);
    cmd_printf(c, "%*s %-8s %3s %3s %7s %6s %6s %c %5s %5s %9s %s\n", w.pid_digits, "PID", "USER", "PR", "NI", "VIRT",
               "RES", "SHR", 'S', "%CPU", "%MEM", "TIME+", "COMMAND");
    for (size_t i = 0; i < n; i++)
        print_process(&w, &v[i], args);
    return 0;
}

CMD(top, top_main, 1, "Usage: top -b -n 1 [-c]\n", "  -b    no terminal\n  -n 1  once\n  -c    command lines\n");
