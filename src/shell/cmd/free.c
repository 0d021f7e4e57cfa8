/* SPDX-License-Identifier: Apache-2.0 */
/* free of procps 4.0: the session's limit of memory and what it uses of it, from /proc/meminfo. */
#include "shell/cmd/cmd.h"

#include <stdio.h>

#include "shell/cmd/processes.h"

enum {
    FREE_SI = 256,
    FREE_KILO,
    FREE_MEGA,
    FREE_GIGA,
    FREE_TERA,
    FREE_PETA,
    FREE_KIBI = 'k',
    FREE_MEBI = 'm',
    FREE_GIBI = 'g'
};
enum { FREE_TEBI = 300, FREE_PEBI };

static const struct cmd_opt opts[] = {
    {'b', "bytes", CMD_NO_ARG},
    {FREE_KILO, "kilo", CMD_NO_ARG},
    {FREE_MEGA, "mega", CMD_NO_ARG},
    {FREE_GIGA, "giga", CMD_NO_ARG},
    {FREE_TERA, "tera", CMD_NO_ARG},
    {FREE_PETA, "peta", CMD_NO_ARG},
    {FREE_KIBI, "kibi", CMD_NO_ARG},
    {FREE_MEBI, "mebi", CMD_NO_ARG},
    {FREE_GIBI, "gibi", CMD_NO_ARG},
    {FREE_TEBI, "tebi", CMD_NO_ARG},
    {FREE_PEBI, "pebi", CMD_NO_ARG},
    {'h', "human", CMD_NO_ARG},
    {FREE_SI, "si", CMD_NO_ARG},
    {'t', "total", CMD_NO_ARG},
    {'w', "wide", CMD_NO_ARG},
    {'v', "committed", CMD_NO_ARG | CMD_REFUSED},
    {'l', "lohi", CMD_NO_ARG | CMD_REFUSED},
    {'s', "seconds", CMD_ARG | CMD_REFUSED},
    {'c', "count", CMD_ARG | CMD_REFUSED},
    {'V', NULL, CMD_NO_ARG},
    {0},
};

struct shape {
    unsigned power; /* of 1024, or of 1000 */
    bool si, human;
};

static double unit_of(const struct shape *s, unsigned power)
{
    double u = 1;
    for (unsigned i = 0; i < power; i++)
        u *= s->si ? 1000 : 1024;
    return u;
}

/* An amount as the tool scales it: cut, not rounded. For people the first unit in which it fits its columns, with one
 * digit behind the point if that fits too. */
static const char *amount(struct cmd *c, const struct shape *s, uint64_t kib)
{
    static const char letters[] = "BKMGTPEZY";
    double bytes = (double)kib * 1024;
    size_t room = s->si ? 4 : 5;
    const char *text =
        arena_printf(c->arena, "%llu", (unsigned long long)(bytes / unit_of(s, s->human ? 0 : s->power)));
    if (!s->human)
        return text;
    text = arena_printf(c->arena, "%sB", text);
    for (unsigned p = 1; letters[p] && strlen(text) > (p == 1 ? 4 : room); p++) {
        double v = bytes / unit_of(s, p);
        const char *tail = s->si ? "" : "i";
        text = arena_printf(c->arena, "%.1f%c%s", v, letters[p], tail);
        if (strlen(text) > room)
            text = arena_printf(c->arena, "%llu%c%s", (unsigned long long)v, letters[p], tail);
    }
    return text;
}

static void print_head(struct cmd *c, bool wide)
{
    cmd_printf(c, wide ? "%-9s%11s %11s %11s %11s %11s %11s %11s\n" : "%-9s%11s %11s %11s %11s %11s %11s\n", "",
               "total", "used", "free", "shared", wide ? "buffers" : "buff/cache", wide ? "cache" : "available",
               "available");
}

static void print_three(struct cmd *c, const struct shape *s, const char *name, uint64_t total, uint64_t used,
                        uint64_t left)
{
    cmd_printf(c, "%-9s%11s %11s %11s", name, amount(c, s, total), amount(c, s, used), amount(c, s, left));
}

static int free_main(struct cmd *c)
{
    struct shape s = {.power = 1};
    bool total = false, wide = false;
    int o, units = 0;
    c->opt_no_try = true;
    while ((o = cmd_getopt(c, opts, false)) >= 0) {
        units += o != 'h' && o != FREE_SI && o != 't' && o != 'w';
        if (o == 'b')
            s.power = 0;
        else if (o >= FREE_KILO && o <= FREE_PETA) {
            s.power = (unsigned)(o - FREE_KILO) + 1;
            s.si = true;
        } else if (o == FREE_TEBI || o == FREE_PEBI)
            s.power = o == FREE_TEBI ? 4 : 5;
        else if (o == FREE_KIBI || o == FREE_MEBI || o == FREE_GIBI)
            s.power = o == FREE_KIBI ? 1 : o == FREE_MEBI ? 2 : 3;
        else if (o == 'h')
            s.human = true;
        else if (o == FREE_SI)
            s.si = true;
        else if (o == 't')
            total = true;
        else if (o == 'w')
            wide = true;
        else {
            cmd_printf(c, "free (Frontal Sandbox) %s\n", FRONTAL_VERSION);
            return 0;
        }
    }
    if (o == -2)
        return processes_usage(c);
    if (units > 1)
        return cmd_err(c, "Multiple unit options don't make sense."), 1;
    if (c->optind < c->argc)
        return processes_usage(c);
    uint64_t all = processes_meminfo(c, "MemTotal"), left = processes_meminfo(c, "MemFree");
    uint64_t avail = processes_meminfo(c, "MemAvailable"), buffers = processes_meminfo(c, "Buffers");
    uint64_t cached = processes_meminfo(c, "Cached"), shared = processes_meminfo(c, "Shmem");
    uint64_t swap = processes_meminfo(c, "SwapTotal"), swap_left = processes_meminfo(c, "SwapFree");
    uint64_t used = all > avail ? all - avail : 0, swap_used = swap > swap_left ? swap - swap_left : 0;
    print_head(c, wide);
    print_three(c, &s, "Mem:", all, used, left);
    if (wide)
        cmd_printf(c, " %11s %11s %11s %11s\n", amount(c, &s, shared), amount(c, &s, buffers), amount(c, &s, cached),
                   amount(c, &s, avail));
    else
        cmd_printf(c, " %11s %11s %11s\n", amount(c, &s, shared), amount(c, &s, buffers + cached),
                   amount(c, &s, avail));
    print_three(c, &s, "Swap:", swap, swap_used, swap_left);
    cmd_putc(c, '\n');
    if (total) {
        print_three(c, &s, "Total:", all + swap, used + swap_used, left + swap_left);
        cmd_putc(c, '\n');
    }
    return 0;
}

CMD(free, free_main, 1, "Usage: free [options]\n",
    "  -b, --bytes  -k, --kibi  -m, --mebi  -g, --gibi  --tebi  --pebi\n"
    "      --kilo  --mega  --giga  --tera  --peta    the unit\n"
    "  -h, --human   units that fit\n"
    "      --si      powers of 1000\n"
    "  -t, --total   a line of sums\n"
    "  -w, --wide    buffers and cache apart\n");
