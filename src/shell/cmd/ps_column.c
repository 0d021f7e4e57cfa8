/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of ps as procps 4.0 lays them out: titles and widths were read off its output. */
#include "shell/cmd/ps_int.h"

#include <stdio.h>

#include "base/clock.h"

#define DAY 86400

void ps_world_init(struct ps_world *ret, struct cmd *c)
{
    *ret = (struct ps_world){
        .c = c,
        .uptime = processes_uptime(c),
        .boot = processes_boot(c),
        .now = proc_wall(c->p->ps) / CLOCK_S,
        .memory = processes_meminfo(c, "MemTotal"),
        .pid_digits = processes_pid_digits(c),
    };
}

const char *ps_user(struct cmd *c, uint32_t uid)
{
    const char *name = cmd_user_name(c, uid);
    return name ? name : arena_printf(c->arena, "%u", uid);
}

/* ---- figures ---- */

static double cpu_s(const struct ps_world *w, const struct process *p)
{
    (void)w;
    return (double)p->cpu / PROCESS_TICKS;
}

static double age_s(const struct ps_world *w, const struct process *p)
{
    double age = w->uptime - (double)p->start / PROCESS_TICKS;
    return age > 0 ? age : 0;
}

static int64_t start_at(const struct ps_world *w, const struct process *p)
{
    return w->boot + (int64_t)(p->start / PROCESS_TICKS);
}

double ps_cpu_percent(const struct ps_world *w, const struct process *p)
{
    int64_t age = (int64_t)age_s(w, p);
    return age > 0 ? cpu_s(w, p) * 100 / (double)age : 0;
}

double ps_memory_percent(const struct ps_world *w, const struct process *p)
{
    return w->memory ? (double)(p->rss * 4) * 100 / (double)w->memory : 0;
}

/* Numbers that are shown as they are. */
#define NUMBER(name, value)                                                                                            \
    static double n_##name(const struct ps_world *w, const struct process *p)                                          \
    {                                                                                                                  \
        (void)w;                                                                                                       \
        return (double)(value);                                                                                        \
    }                                                                                                                  \
    static void t_##name(const struct ps_world *w, const struct process *p, struct buf *out)                           \
    {                                                                                                                  \
        buf_addf(out, "%.0f", n_##name(w, p));                                                                         \
    }

NUMBER(pid, p->pid)
NUMBER(ppid, p->ppid)
NUMBER(pgid, p->pgid)
NUMBER(sid, p->sid)
NUMBER(tpgid, p->tpgid)
NUMBER(uid, p->uid)
NUMBER(gid, p->gid)
NUMBER(vsz, p->vsize / 1024)
NUMBER(rss, p->rss * 4)
NUMBER(nice, p->nice)
NUMBER(priority, 39 - p->priority)
NUMBER(threads, p->threads)
NUMBER(cpu, (int)ps_cpu_percent(w, p))
NUMBER(etimes, (int64_t)age_s(w, p))
NUMBER(cputimes, (int64_t)cpu_s(w, p))

/* A name too long for its column ends with '+'. */
static void name_in(struct buf *out, const char *name, size_t width)
{
    size_t n = strlen(name);
    if (n > width)
        buf_addf(out, "%.*s+", (int)width - 1, name);
    else
        buf_add(out, name, n);
}

static void t_user(const struct ps_world *w, const struct process *p, struct buf *out)
{
    name_in(out, ps_user(w->c, p->uid), 8);
}

static void t_group(const struct ps_world *w, const struct process *p, struct buf *out)
{
    const char *name = cmd_group_name(w->c, p->gid);
    name_in(out, name ? name : arena_printf(w->c->arena, "%u", p->gid), 8);
}

static void t_state(const struct ps_world *w, const struct process *p, struct buf *out)
{
    (void)w;
    buf_putc(out, p->state);
}

static void t_stat(const struct ps_world *w, const struct process *p, struct buf *out)
{
    (void)w;
    buf_putc(out, p->state);
    if (p->nice < 0)
        buf_putc(out, '<');
    else if (p->nice > 0)
        buf_putc(out, 'N');
    if (p->sid == p->pid)
        buf_putc(out, 's');
    if (p->threads > 1)
        buf_putc(out, 'l');
    if (p->tpgid > 0 && p->pgid == p->tpgid)
        buf_putc(out, '+');
}

static void t_percent(struct buf *out, double v)
{
    if (v > 99.9)
        buf_addf(out, "%.0f", v);
    else
        buf_addf(out, "%.1f", (double)(int)(v * 10) / 10);
}

static void t_pcpu(const struct ps_world *w, const struct process *p, struct buf *out)
{
    t_percent(out, ps_cpu_percent(w, p));
}

static void t_pmem(const struct ps_world *w, const struct process *p, struct buf *out)
{
    t_percent(out, ps_memory_percent(w, p));
}

static void t_tty(const struct ps_world *w, const struct process *p, struct buf *out)
{
    (void)w;
    buf_addc(out, processes_tty(p));
}

/* "[dd-]hh:mm:ss" */
static void t_time(const struct ps_world *w, const struct process *p, struct buf *out)
{
    long long s = (long long)cpu_s(w, p);
    if (s >= DAY)
        buf_addf(out, "%lld-", s / DAY);
    buf_addf(out, "%02lld:%02lld:%02lld", s % DAY / 3600, s / 60 % 60, s % 60);
}

static void t_bsdtime(const struct ps_world *w, const struct process *p, struct buf *out)
{
    long long s = (long long)cpu_s(w, p);
    buf_addf(out, "%lld:%02lld", s / 60, s % 60);
}

/* "[[dd-]hh:]mm:ss" */
static void t_etime(const struct ps_world *w, const struct process *p, struct buf *out)
{
    long long s = (long long)age_s(w, p);
    if (s >= DAY)
        buf_addf(out, "%lld-", s / DAY);
    if (s >= 3600)
        buf_addf(out, "%02lld:", s % DAY / 3600);
    buf_addf(out, "%02lld:%02lld", s / 60 % 60, s % 60);
}

static void when(const struct ps_world *w, const struct process *p, struct buf *out, const char *recent,
                 const char *this_year, const char *older)
{
    struct cmd_time t, now;
    int64_t at = start_at(w, p);
    cmd_localtime(w->c, at, false, &t);
    cmd_localtime(w->c, w->now, false, &now);
    const char *fmt = w->now - at < DAY && t.yday == now.yday ? recent : t.year == now.year ? this_year : older;
    cmd_strftime(w->c, out, fmt, &t, at, 0);
}

static void t_stime(const struct ps_world *w, const struct process *p, struct buf *out)
{
    when(w, p, out, "%H:%M", "%b%d", "%Y");
}

static void t_start(const struct ps_world *w, const struct process *p, struct buf *out)
{
    int64_t at = start_at(w, p);
    struct cmd_time t;
    cmd_localtime(w->c, at, false, &t);
    cmd_strftime(w->c, out, w->now - at < DAY ? "%H:%M:%S" : "  %b %d", &t, at, 0);
}

static void t_lstart(const struct ps_world *w, const struct process *p, struct buf *out)
{
    int64_t at = start_at(w, p);
    struct cmd_time t;
    cmd_localtime(w->c, at, false, &t);
    cmd_strftime(w->c, out, "%a %b %e %H:%M:%S %Y", &t, at, 0);
}

static double n_start(const struct ps_world *w, const struct process *p)
{
    (void)w;
    return (double)p->start;
}

static void t_comm(const struct ps_world *w, const struct process *p, struct buf *out)
{
    (void)w;
    for (const char *s = p->comm; *s; s++)
        buf_putc(out, (unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s);
    if (p->state == 'Z')
        buf_addc(out, " <defunct>");
}

static void t_args(const struct ps_world *w, const struct process *p, struct buf *out)
{
    (void)w;
    buf_addc(out, p->args);
}

#define RIGHT false
#define LEFT true

static const struct ps_column columns[] = {
    {"pid", "PID", 0, RIGHT, t_pid, n_pid},
    {"tgid", "TGID", 0, RIGHT, t_pid, n_pid},
    {"ppid", "PPID", 0, RIGHT, t_ppid, n_ppid},
    {"pgid", "PGID", 0, RIGHT, t_pgid, n_pgid},
    {"pgrp", "PGRP", 0, RIGHT, t_pgid, n_pgid},
    {"sid", "SID", 0, RIGHT, t_sid, n_sid},
    {"sess", "SESS", 0, RIGHT, t_sid, n_sid},
    {"session", "SESS", 0, RIGHT, t_sid, n_sid},
    {"tpgid", "TPGID", 0, RIGHT, t_tpgid, n_tpgid},
    {"user", "USER", 8, LEFT, t_user, NULL},
    {"euser", "EUSER", 8, LEFT, t_user, NULL},
    {"ruser", "RUSER", 8, LEFT, t_user, NULL},
    {"uname", "USER", 8, LEFT, t_user, NULL},
    {"uid", "UID", 5, RIGHT, t_uid, n_uid},
    {"euid", "EUID", 5, RIGHT, t_uid, n_uid},
    {"ruid", "RUID", 5, RIGHT, t_uid, n_uid},
    {"gid", "GID", 5, RIGHT, t_gid, n_gid},
    {"egid", "EGID", 5, RIGHT, t_gid, n_gid},
    {"rgid", "RGID", 5, RIGHT, t_gid, n_gid},
    {"group", "GROUP", 8, LEFT, t_group, NULL},
    {"egroup", "EGROUP", 8, LEFT, t_group, NULL},
    {"rgroup", "RGROUP", 8, LEFT, t_group, NULL},
    {"stat", "STAT", 4, LEFT, t_stat, NULL},
    {"state", "S", 1, LEFT, t_state, NULL},
    {"s", "S", 1, LEFT, t_state, NULL},
    {"pcpu", "%CPU", 4, RIGHT, t_pcpu, ps_cpu_percent},
    {"%cpu", "%CPU", 4, RIGHT, t_pcpu, ps_cpu_percent},
    {"pmem", "%MEM", 4, RIGHT, t_pmem, ps_memory_percent},
    {"%mem", "%MEM", 4, RIGHT, t_pmem, ps_memory_percent},
    {"c", "C", 2, RIGHT, t_cpu, n_cpu},
    {"vsz", "VSZ", 6, RIGHT, t_vsz, n_vsz},
    {"vsize", "VSZ", 6, RIGHT, t_vsz, n_vsz},
    {"rss", "RSS", 5, RIGHT, t_rss, n_rss},
    {"rssize", "RSS", 5, RIGHT, t_rss, n_rss},
    {"rsz", "RSZ", 5, RIGHT, t_rss, n_rss},
    {"tty", "TT", 8, LEFT, t_tty, NULL},
    {"tt", "TT", 8, LEFT, t_tty, NULL},
    {"tname", "TTY", 8, LEFT, t_tty, NULL},
    {"time", "TIME", 8, RIGHT, t_time, cpu_s},
    {"cputime", "TIME", 8, RIGHT, t_time, cpu_s},
    {"cputimes", "TIME", 8, RIGHT, t_cputimes, cpu_s},
    {"bsdtime", "TIME", 6, RIGHT, t_bsdtime, cpu_s},
    {"etime", "ELAPSED", 11, RIGHT, t_etime, age_s},
    {"etimes", "ELAPSED", 7, RIGHT, t_etimes, age_s},
    {"stime", "STIME", 5, RIGHT, t_stime, n_start},
    {"start_time", "START", 5, RIGHT, t_stime, n_start},
    {"start", "STARTED", 8, RIGHT, t_start, n_start},
    {"lstart", "STARTED", 24, RIGHT, t_lstart, n_start},
    {"ni", "NI", 3, RIGHT, t_nice, n_nice},
    {"nice", "NI", 3, RIGHT, t_nice, n_nice},
    {"pri", "PRI", 3, RIGHT, t_priority, n_priority},
    {"nlwp", "NLWP", 4, RIGHT, t_threads, n_threads},
    {"thcount", "THCNT", 5, RIGHT, t_threads, n_threads},
    {"comm", "COMMAND", 15, LEFT, t_comm, NULL},
    {"ucmd", "CMD", 15, LEFT, t_comm, NULL},
    {"ucomm", "COMMAND", 15, LEFT, t_comm, NULL},
    {"args", "COMMAND", 27, LEFT, t_args, NULL},
    {"cmd", "CMD", 27, LEFT, t_args, NULL},
    {"command", "COMMAND", 27, LEFT, t_args, NULL},
};

const struct ps_column *ps_column(struct str name)
{
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (str_eqc(name, columns[i].name))
            return &columns[i];
    return NULL;
}
