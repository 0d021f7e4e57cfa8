/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/find_int.h"

#include "shell/cmd/dateparse.h"

#define DAY 86400
#define SECOND_NS 1000000000

struct find_time find__time_of(int64_t ns)
{
    int64_t s = ns / SECOND_NS, rest = ns % SECOND_NS;
    if (rest < 0) {
        rest += SECOND_NS;
        s--;
    }
    return (struct find_time){s, (int32_t)rest};
}

bool find__clock(const struct vfs_stat *st, int clock, struct find_time *ret)
{
    int64_t ns = clock == CLOCK_A ? st->atime : clock == CLOCK_B ? st->btime : clock == CLOCK_C ? st->ctime : st->mtime;
    if (clock == CLOCK_B && ns == 0)
        return false;
    *ret = find__time_of(ns);
    return true;
}

static int compare(struct find_time a, struct find_time b)
{
    if (a.s != b.s)
        return a.s < b.s ? -1 : 1;
    return a.ns < b.ns ? -1 : a.ns > b.ns;
}

/* Seconds that do not fit are as good as endless. */
static int64_t saturate(double s)
{
    return s >= 9.2e18 ? INT64_MAX : s <= -9.2e18 ? INT64_MIN : (int64_t)s;
}

/*
 * What @arg says in units of @unit seconds, back from @origin: false when it is no number. '+' asks for a greater age,
 * so for an earlier time.
 */
static bool ago(struct find_parse *ps, const char *arg, struct find_time origin, int unit)
{
    struct find_test *t = ps->t;
    const char *p = arg + (*arg == '+' || *arg == '-');
    char *end;
    double v = strtod(p, &end) * unit;
    if (end == p || *end)
        return false;
    if (__builtin_isnan(v))
        return find__bad(ps->f, "invalid not-a-number argument: `%s'", p);
    int64_t s = saturate(v), at, ns = origin.ns;
    if (s != INT64_MAX && s != INT64_MIN)
        ns -= (int64_t)((v - (double)s) * 1e9);
    if (__builtin_sub_overflow(origin.s, s, &at))
        at = s < 0 ? INT64_MAX - 1 : INT64_MIN + 1;
    at += ns < 0 ? -1 : ns >= SECOND_NS;
    ns += ns < 0 ? SECOND_NS : ns >= SECOND_NS ? -SECOND_NS : 0;
    t->time.at = (struct find_time){at, (int32_t)ns};
    t->time.cmp = *arg == '+' ? CMP_LESS : *arg == '-' ? CMP_MORE : CMP_EQ;
    return true;
}

static int clock_of(char letter)
{
    return letter == 'a' ? CLOCK_A : letter == 'B' ? CLOCK_B : letter == 'c' ? CLOCK_C : CLOCK_M;
}

bool find__arg_minutes(struct find_parse *ps, const char *arg)
{
    struct find_time origin = ps->f->day;
    origin.s += DAY;
    ps->t->time.clock = clock_of(ps->name[1]);
    ps->t->time.window = 60;
    return ago(ps, arg, origin, 60);
}

bool find__arg_days(struct find_parse *ps, const char *arg)
{
    struct find_time origin = ps->f->day;
    if (*arg == '-') /* to the end of the day */
        origin.s += DAY - 1;
    ps->t->time.clock = clock_of(ps->name[1]);
    ps->t->time.window = DAY;
    return ago(ps, arg, origin, DAY);
}

/* From now on days begin at midnight. */
bool find__arg_daystart(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    struct cmd_time t;
    (void)arg;
    if (f->days)
        return true;
    f->days = true;
    cmd_localtime(f->c, f->start.s, false, &t);
    f->day = (struct find_time){f->start.s - t.sec - t.min * 60 - t.hour * 3600, 0};
    return true;
}

bool find__t_time(struct find *f, const struct find_test *t)
{
    struct find_time at;
    if (!find__clock(&f->st, t->time.clock, &at))
        return false;
    int d = compare(at, t->time.at);
    if (t->time.cmp != CMP_EQ)
        return t->time.cmp == CMP_MORE ? d > 0 : d < 0;
    double delta = ((double)at.s - (double)t->time.at.s) + 1e-9 * (at.ns - t->time.at.ns);
    return delta > 0 && delta <= t->time.window;
}

/* ---- -newer and its kin ---- */

/* The time of @file that counts. */
static bool reference(struct find_parse *ps, const char *file, int clock)
{
    struct find *f = ps->f;
    struct vfs_stat st;
    int r = find__stat_arg(f, file, &st);
    if (r < 0) {
        cmd_errno(f->c, r, "%s", cmd_quote_loc(f->c, file));
        return find__fail(f, 1);
    }
    if (!find__clock(&st, clock, &ps->t->time.at))
        return find__bad(f, "Cannot obtain birth time of file %s", cmd_quote_loc(f->c, file));
    return true;
}

bool find__arg_newer(struct find_parse *ps, const char *arg)
{
    ps->t->time.clock = ps->name[1] == 'n' ? CLOCK_M : clock_of(ps->name[1]);
    return reference(ps, arg, CLOCK_M);
}

bool find__newer_xy(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    char x = ps->name[6], y = ps->name[7];
    (void)arg;
    if (!strchr("aBcm", x) || !strchr("aBcmt", y))
        return find__bad(f, "invalid predicate `%s'", ps->name);
    if (ps->i == ps->argc)
        return find__bad(f, "The %s test needs an argument", cmd_quote_loc(f->c, ps->name));
    const char *ref = ps->argv[ps->i++];
    ps->t->time.clock = clock_of(x);
    if (y != 't')
        return reference(ps, ref, clock_of(y));
    struct dateparse_time at, now = {f->start.s, (uint32_t)f->start.ns};
    if (dateparse_time(f->c, ref, now, &at) < 0)
        return find__bad(f, "I cannot figure out how to interpret %s as a date or time", cmd_quote_loc(f->c, ref));
    ps->t->time.at = (struct find_time){at.s, (int32_t)at.ns};
    return true;
}

bool find__t_newer(struct find *f, const struct find_test *t)
{
    struct find_time at;
    if (!find__clock(&f->st, t->time.clock, &at)) {
        cmd_err(f->c, "WARNING: cannot determine birth time of file %s", cmd_quote_loc(f->c, f->path.p));
        return false;
    }
    return compare(at, t->time.at) > 0;
}
