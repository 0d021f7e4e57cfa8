/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/dateparse.h"

#include <errno.h>
#include <limits.h>

#include "base/clock.h"
#include "shell/cmd/dateparse_int.h"
#include "shell/cmd/zone.h"

struct dp_year {
    int64_t value;
    size_t digits;
};

struct dp_rel {
    int64_t year, month, day, hour, minutes, seconds, ns;
};

struct parse {
    struct cmd *c;
    struct dp_local local;
    const char *p;
    struct dp_token tok; /* the one looked at */
    struct dp_year year;
    int64_t month, day, hour, minutes, seconds;
    int32_t ns;
    enum dp_meridian meridian;
    int64_t zone; /* seconds east */
    bool local_dst;
    int64_t weekday, weekday_ordinal;
    struct dp_rel rel;
    bool rel_seen, timespec;
    size_t dates, days, times, zones, local_zones, dsts;
};

/* ---- small steps: each is false when the text is wrong ---- */

static struct dp_token take(struct parse *s)
{
    struct dp_token t = s->tok;
    s->tok = dp__lex(&s->local, &s->p);
    return t;
}

static bool is_char(const struct parse *s, char ch)
{
    return s->tok.kind == DP_CHAR && s->tok.value == ch;
}

static void set_time(struct parse *s, int64_t hour, int64_t minutes, int64_t seconds, int32_t ns)
{
    s->hour = hour;
    s->minutes = minutes;
    s->seconds = seconds;
    s->ns = ns;
    s->meridian = DP_24;
}

static bool add_to(int64_t *to, int64_t v, int sign)
{
    return sign < 0 ? !__builtin_sub_overflow(*to, v, to) : !__builtin_add_overflow(*to, v, to);
}

static bool add_rel(struct parse *s, const struct dp_rel *r, int sign)
{
    s->rel_seen = true;
    return add_to(&s->rel.ns, r->ns, sign) && add_to(&s->rel.seconds, r->seconds, sign) &&
           add_to(&s->rel.minutes, r->minutes, sign) && add_to(&s->rel.hour, r->hour, sign) &&
           add_to(&s->rel.day, r->day, sign) && add_to(&s->rel.month, r->month, sign) &&
           add_to(&s->rel.year, r->year, sign);
}

/* @n of the unit @unit. */
static bool rel_of(const struct dp_token *n, const struct dp_token *unit, struct dp_rel *r)
{
    *r = (struct dp_rel){0};
    if (unit->kind == DP_DAYS)
        return !__builtin_mul_overflow(n->value, unit->value, &r->day);
    if (unit->kind == DP_YEARS)
        r->year = n->value;
    else if (unit->kind == DP_MONTHS)
        r->month = n->value;
    else if (unit->kind == DP_HOURS)
        r->hour = n->value;
    else if (unit->kind == DP_MINUTES)
        r->minutes = n->value;
    else
        r->seconds = n->value;
    r->ns = n->ns;
    return true;
}

static bool is_unit(const struct parse *s)
{
    return s->tok.kind >= DP_YEARS && s->tok.kind <= DP_SECONDS;
}

/* A unit is next, @n of it: "ago" or "hence" may follow. */
static bool relative(struct parse *s, const struct dp_token *n)
{
    struct dp_rel r;
    struct dp_token unit = take(s);
    if (!rel_of(n, &unit, &r))
        return false;
    int sign = s->tok.kind == DP_AGO ? (int)take(s).value : 1;
    return add_rel(s, &r, sign);
}

/* The same where these cannot follow. */
static bool relative_plain(struct parse *s, const struct dp_token *n)
{
    struct dp_rel r;
    struct dp_token unit = take(s);
    return rel_of(n, &unit, &r) && add_rel(s, &r, 1);
}

/* Minutes after a ':' that may follow, else -1. */
static bool colon_minutes(struct parse *s, int64_t *ret)
{
    *ret = -1;
    if (!is_char(s, ':'))
        return true;
    take(s);
    if (s->tok.kind != DP_UNSIGNED)
        return false;
    *ret = take(s).value;
    return true;
}

/* The zone "+hhmm", "+hh" or "+hh:mm". */
static bool set_zone(struct parse *s, const struct dp_token *hh, int64_t mm)
{
    int64_t v = hh->value, m;
    if (mm < 0) {
        if (hh->digits <= 2 && __builtin_mul_overflow(v, 100, &v))
            return false;
        m = v / 100 * 60 + v % 100;
    } else if (__builtin_mul_overflow(v, 60, &m) || !add_to(&m, mm, hh->negative ? -1 : 1)) {
        return false;
    }
    if (m < -24 * 60 || m > 24 * 60)
        return false;
    s->zone = m * 60;
    return true;
}

/* A signed number was taken, which begins a zone offset behind a time. */
static bool zone_offset(struct parse *s, const struct dp_token *hh)
{
    int64_t mm;
    s->zones++;
    return colon_minutes(s, &mm) && set_zone(s, hh, mm);
}

/* A number that stands alone is a year, a date or a time. */
static void lone_number(struct parse *s, const struct dp_token *n)
{
    if (s->dates > 0 && s->year.digits == 0 && !s->rel_seen && (s->times > 0 || n->digits > 2)) {
        s->year = (struct dp_year){n->value, n->digits};
    } else if (n->digits > 4) {
        s->dates++;
        s->day = n->value % 100;
        s->month = n->value / 100 % 100;
        s->year = (struct dp_year){n->value / 10000, n->digits - 4};
    } else {
        s->times++;
        if (n->digits <= 2)
            set_time(s, n->value, 0, 0, 0);
        else
            set_time(s, n->value / 100, n->value % 100, 0, 0);
    }
}

/* ---- items ---- */

/* A time of which @hour was taken and ':' is next. @iso: no meridian. */
static bool clock_time(struct parse *s, const struct dp_token *hour, bool iso)
{
    take(s);
    if (s->tok.kind != DP_UNSIGNED)
        return false;
    struct dp_token minutes = take(s), seconds = {.value = 0};
    if (is_char(s, ':')) {
        take(s);
        if (s->tok.kind != DP_UNSIGNED && s->tok.kind != DP_UDECIMAL)
            return false;
        seconds = take(s);
    }
    set_time(s, hour->value, minutes.value, seconds.value, seconds.ns);
    if (s->tok.kind == DP_MERIDIAN && !iso) {
        s->meridian = (enum dp_meridian)take(s).value;
        return true;
    }
    if (s->tok.kind != DP_SIGNED)
        return true;
    struct dp_token hh = take(s);
    return zone_offset(s, &hh);
}

/* After a date and 'T'. */
static bool iso_time(struct parse *s)
{
    if (s->tok.kind != DP_UNSIGNED)
        return false;
    struct dp_token hour = take(s);
    s->times++;
    if (is_char(s, ':'))
        return clock_time(s, &hour, true);
    if (s->tok.kind != DP_SIGNED)
        return false;
    set_time(s, hour.value, 0, 0, 0);
    struct dp_token hh = take(s);
    return zone_offset(s, &hh);
}

static bool set_date(struct parse *s, struct dp_year year, int64_t month, int64_t day)
{
    s->year = year;
    s->month = month;
    s->day = day;
    s->dates++;
    return true;
}

/* Two numbers, the second with a sign: a date, a time with a zone, or a number and a relative item. */
static bool number_signed(struct parse *s, const struct dp_token *n)
{
    struct dp_token second = take(s);
    if (s->tok.kind == DP_SIGNED) { /* 2024-02-29 */
        struct dp_token third = take(s);
        int64_t month, day;
        if (__builtin_sub_overflow(0, second.value, &month) || __builtin_sub_overflow(0, third.value, &day))
            return false;
        set_date(s, (struct dp_year){n->value, n->digits}, month, day);
        if (s->tok.kind != DP_T)
            return true;
        take(s);
        return iso_time(s);
    }
    if (is_unit(s)) {
        lone_number(s, n);
        return relative_plain(s, &second);
    }
    set_time(s, n->value, 0, 0, 0);
    s->times++;
    return zone_offset(s, &second);
}

/* 2/29, 2/29/2024, 2024/2/29 */
static bool slashes(struct parse *s, const struct dp_token *n)
{
    take(s);
    if (s->tok.kind != DP_UNSIGNED)
        return false;
    struct dp_token second = take(s);
    if (!is_char(s, '/'))
        return set_date(s, s->year, n->value, second.value);
    take(s);
    if (s->tok.kind != DP_UNSIGNED)
        return false;
    struct dp_token third = take(s);
    if (n->digits >= 4)
        return set_date(s, (struct dp_year){n->value, n->digits}, second.value, third.value);
    return set_date(s, (struct dp_year){third.value, third.digits}, n->value, second.value);
}

/* 29 february, 29-feb-2024, 29 feb 2024 */
static bool day_month(struct parse *s, const struct dp_token *day)
{
    int64_t month = take(s).value;
    struct dp_year year = s->year;
    if (s->tok.kind == DP_SIGNED || s->tok.kind == DP_UNSIGNED) {
        struct dp_token t = take(s);
        year = (struct dp_year){t.value, t.digits};
        if (t.kind == DP_SIGNED && __builtin_sub_overflow(0, t.value, &year.value))
            return false;
    }
    return set_date(s, year, month, day->value);
}

/* february 29, feb 29, 2024; feb-29-2024 */
static bool month_day(struct parse *s)
{
    int64_t month = take(s).value;
    struct dp_token day = take(s);
    if (day.kind == DP_SIGNED) {
        if (s->tok.kind != DP_SIGNED)
            return false;
        struct dp_token t = take(s);
        struct dp_year year = {0, t.digits};
        if (__builtin_sub_overflow(0, day.value, &day.value) || __builtin_sub_overflow(0, t.value, &year.value))
            return false;
        return set_date(s, year, month, day.value);
    }
    if (day.kind != DP_UNSIGNED)
        return false;
    if (!is_char(s, ','))
        return set_date(s, s->year, month, day.value);
    take(s);
    if (s->tok.kind != DP_UNSIGNED)
        return false;
    struct dp_token t = take(s);
    return set_date(s, (struct dp_year){t.value, t.digits}, month, day.value);
}

static bool set_weekday(struct parse *s, int64_t ordinal)
{
    s->weekday_ordinal = ordinal;
    s->weekday = take(s).value;
    s->days++;
    return true;
}

/* An item that begins with a number without a sign. */
static bool number_item(struct parse *s)
{
    struct dp_token n = take(s);
    if (s->tok.kind == DP_MERIDIAN) {
        set_time(s, n.value, 0, 0, 0);
        s->meridian = (enum dp_meridian)take(s).value;
        s->times++;
        return true;
    }
    if (is_char(s, ':')) {
        s->times++;
        return clock_time(s, &n, false);
    }
    if (is_char(s, '/'))
        return slashes(s, &n);
    if (s->tok.kind == DP_SIGNED)
        return number_signed(s, &n);
    if (s->tok.kind == DP_MONTH)
        return day_month(s, &n);
    if (s->tok.kind == DP_WEEKDAY)
        return set_weekday(s, n.value);
    if (is_unit(s))
        return relative(s, &n);
    lone_number(s, &n);
    return true;
}

/* A zone, with what may follow: DST, a relative item or an offset. */
static bool zone_item(struct parse *s)
{
    struct dp_token z = take(s);
    s->zones++;
    s->zone = z.value;
    if (z.kind == DP_DAYZONE) {
        s->zone += 3600;
        return true;
    }
    if (z.kind == DP_ZONE && s->tok.kind == DP_DST) {
        take(s);
        s->zone += 3600;
        return true;
    }
    if (s->tok.kind != DP_SIGNED)
        return true;
    struct dp_token n = take(s);
    if (is_unit(s))
        return relative_plain(s, &n);
    int64_t mm;
    return z.kind == DP_ZONE && colon_minutes(s, &mm) && set_zone(s, &n, mm) && add_to(&s->zone, z.value, 1);
}

static bool item(struct parse *s)
{
    struct dp_token one = {.value = 1}, t;
    switch (s->tok.kind) {
    case DP_UNSIGNED:
        return number_item(s);
    case DP_SIGNED:
        t = take(s);
        return is_unit(s) && relative(s, &t);
    case DP_UDECIMAL:
    case DP_SDECIMAL:
        t = take(s);
        return s->tok.kind == DP_SECONDS && relative(s, &t);
    case DP_YEARS:
    case DP_MONTHS:
    case DP_DAYS:
    case DP_HOURS:
    case DP_MINUTES:
    case DP_SECONDS:
        return relative(s, &one);
    case DP_ORDINAL:
        t = take(s);
        if (s->tok.kind == DP_WEEKDAY)
            return set_weekday(s, t.value);
        return is_unit(s) && relative(s, &t);
    case DP_DAY_SHIFT:
        return add_rel(s, &(struct dp_rel){.day = take(s).value}, 1);
    case DP_WEEKDAY:
        set_weekday(s, 0);
        if (is_char(s, ','))
            take(s);
        return true;
    case DP_MONTH:
        return month_day(s);
    case DP_ZONE:
    case DP_DAYZONE:
    case DP_T:
        return zone_item(s);
    case DP_LOCAL_ZONE:
        s->local_zones++;
        s->local_dst = take(s).value;
        if (s->tok.kind == DP_DST) {
            take(s);
            s->local_dst = true;
            s->dsts++;
        }
        return true;
    case DP_END:
    case DP_CHAR:
    case DP_BAD:
    case DP_AGO:
    case DP_DST:
    case DP_MERIDIAN:
        break;
    }
    return false;
}

static bool items(struct parse *s)
{
    take(s);
    if (is_char(s, '@')) {
        take(s);
        struct dp_token t = take(s);
        s->timespec = true;
        s->seconds = t.value;
        s->ns = t.ns;
        return t.kind >= DP_UNSIGNED && t.kind <= DP_SDECIMAL && s->tok.kind == DP_END;
    }
    while (s->tok.kind != DP_END)
        if (!item(s) || cmd_poll(s->c) < 0)
            return false;
    return true;
}

/* ---- what the items mean together ---- */

static bool full_year(struct dp_year y, int64_t *ret)
{
    int64_t v = y.value;
    if (v >= 0 && y.digits == 2)
        v += v < 69 ? 2000 : 1900;
    /* A year behind a plus sign has come out negative. */
    if (v < 0 && __builtin_sub_overflow(0, v, &v))
        return false;
    if (v > (int64_t)INT_MAX + 1900)
        return false;
    *ret = v;
    return true;
}

static int full_hour(int64_t h, enum dp_meridian m)
{
    if (m == DP_24)
        return h >= 0 && h < 24 ? (int)h : -1;
    if (h < 1 || h > 12)
        return -1;
    return (int)(h % 12) + (m == DP_PM ? 12 : 0);
}

static bool same_time(const struct cmd_time *a, const struct cmd_time *b)
{
    return a->year == b->year && a->mon == b->mon && a->mday == b->mday && a->hour == b->hour && a->min == b->min &&
           a->sec == b->sec;
}

/* mktime(3), which must give the very time that was asked for. */
static bool make_exact(struct parse *s, struct cmd_time *t, int64_t *ret)
{
    struct cmd_time want = *t;
    if (cmd_mktime(s->c, t, false, ret) == 0 && same_time(&want, t))
        return true;
    if (s->zones == 0)
        return false;
    /* A time that this zone skips may exist in the zone that was named. */
    *t = want;
    if (cmd_mktime(s->c, t, true, ret) < 0 || !same_time(&want, t) || !add_to(ret, s->zone, -1))
        return false;
    t->gmtoff = (int32_t)s->zone;
    return true;
}

static bool to_int(int64_t v, int64_t add, int *ret)
{
    return !__builtin_add_overflow(v, add, &v) && !__builtin_add_overflow(v, 0, ret);
}

/* Goes on to the weekday that was named. */
static bool to_weekday(struct parse *s, struct cmd_time *t, int64_t *ret)
{
    int64_t weeks = s->weekday_ordinal - (s->weekday_ordinal > 0 && t->wday != s->weekday), days;
    if (__builtin_mul_overflow(weeks, 7, &days) || !add_to(&days, (s->weekday - t->wday + 7) % 7, 1) ||
        !to_int(days, t->mday, &t->mday))
        return false;
    t->want_dst = 0;
    return cmd_mktime(s->c, t, false, ret) == 0;
}

/* Adds years, months and days; the time of day stays what was asked for in @want. */
static bool add_days(struct parse *s, const struct cmd_time *want, struct cmd_time *t, int64_t *ret)
{
    int64_t year;
    if (__builtin_add_overflow(t->year, s->rel.year, &year) || year - 1900 > INT_MAX || year - 1900 < INT_MIN ||
        !to_int(s->rel.month, t->mon, &t->mon) || !to_int(s->rel.day, t->mday, &t->mday))
        return false;
    t->year = year;
    t->hour = want->hour;
    t->min = want->min;
    t->sec = want->sec;
    t->want_dst = want->want_dst;
    return cmd_mktime(s->c, t, false, ret) == 0;
}

static bool add_clock(struct parse *s, int64_t at, struct dateparse_time *ret)
{
    int64_t h, m, ns;
    if (__builtin_add_overflow(s->rel.ns, (int64_t)s->ns, &ns))
        return false;
    int64_t rest = ns % CLOCK_S;
    rest = rest < 0 ? rest + CLOCK_S : rest;
    if (__builtin_mul_overflow(s->rel.hour, 3600, &h) || !add_to(&at, h, 1) ||
        __builtin_mul_overflow(s->rel.minutes, 60, &m) || !add_to(&at, m, 1) || !add_to(&at, s->rel.seconds, 1) ||
        !add_to(&at, (ns - rest) / CLOCK_S, 1))
        return false;
    *ret = (struct dateparse_time){at, (uint32_t)rest};
    return true;
}

/* @now as local time, and what was read, make the result. */
static bool resolve(struct parse *s, const struct cmd_time *now, struct dateparse_time *ret)
{
    struct cmd_time t = *now;
    int64_t at;
    if (s->times > 1 || s->dates > 1 || s->days > 1 || s->dsts > 1 || s->local_zones + s->zones > 1)
        return false;
    if (!full_year(s->year, &t.year) || !to_int(s->month, -1, &t.mon) || !to_int(s->day, 0, &t.mday))
        return false;
    if (s->times || (s->rel_seen && !s->dates && !s->days)) {
        t.hour = full_hour(s->hour, s->meridian);
        if (t.hour < 0)
            return false;
        t.min = (int)s->minutes;
        t.sec = (int)s->seconds;
    } else {
        t.hour = t.min = t.sec = 0;
        s->ns = 0;
    }
    t.want_dst = now->dst ? 2 : 1;
    if (s->dates || s->days || s->times)
        t.want_dst = 0;
    if (s->local_zones)
        t.want_dst = s->local_dst ? 2 : 1;
    struct cmd_time want = t;
    if (!make_exact(s, &t, &at))
        return false;
    if (s->days && !s->dates && !to_weekday(s, &t, &at))
        return false;
    if ((s->rel.year || s->rel.month || s->rel.day) && !add_days(s, &want, &t, &at))
        return false;
    if (s->zones && !add_to(&at, s->zone - t.gmtoff, -1))
        return false;
    return add_clock(s, at, ret);
}

/* Names of the zone now, and of its other kind of time soon. */
static void local_zones(struct parse *s, int64_t now_s, const struct cmd_time *now)
{
    s->local.name[0] = now->zone;
    s->local.dst[0] = now->dst;
    for (int quarter = 1; quarter <= 3; quarter++) {
        struct cmd_time t;
        int64_t at;
        if (__builtin_add_overflow(now_s, quarter * 90 * 86400, &at))
            return;
        cmd_localtime(s->c, at, false, &t);
        if (t.dst != now->dst) {
            s->local.name[1] = t.zone;
            s->local.dst[1] = t.dst;
            return;
        }
    }
}

static const char *skip_space(const char *p)
{
    while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
        p++;
    return p;
}

/* TZ="…" at the front: the zone for this text. *p moves behind it. */
static void tz_prefix(struct cmd *c, const char **p)
{
    if (strncmp(*p, "TZ=\"", 4) != 0)
        return;
    struct buf b;
    buf_init(&b, LIMIT_PATH);
    const char *s = *p + 4;
    for (; *s && *s != '"'; s++) {
        if (*s == '\\' && *++s != '\\' && *s != '"')
            break;
        buf_putc(&b, *s);
    }
    if (*s == '"') {
        *p = skip_space(s + 1);
        int64_t guess = c->zone->guess;
        zone_use(c, zone_load(c, b.p));
        c->zone->guess = guess;
    }
    buf_done(&b);
}

int dateparse_time(struct cmd *c, const char *text, struct dateparse_time now, struct dateparse_time *ret)
{
    struct parse s = {.c = c, .p = skip_space(text), .meridian = DP_24};
    struct cmd_time t;
    cmd_localtime(c, now.s, false, &t); /* c->zone is there from now on */
    struct cmd_zone *zone = c->zone;
    tz_prefix(c, &s.p);
    if (!*s.p)
        s.p = "0";
    cmd_localtime(c, now.s, false, &t);
    s.year.value = t.year;
    s.month = t.mon + 1;
    s.day = t.mday;
    s.hour = t.hour;
    s.minutes = t.min;
    s.seconds = t.sec;
    s.ns = (int32_t)now.ns;
    local_zones(&s, now.s, &t);
    bool ok = items(&s);
    if (ok && s.timespec)
        *ret = (struct dateparse_time){s.seconds, (uint32_t)s.ns};
    else if (ok)
        ok = resolve(&s, &t, ret);
    zone->guess = c->zone->guess; /* mktime(3) remembers one for all zones */
    zone_use(c, zone);
    return ok ? 0 : -EINVAL;
}

int dateparse(struct cmd *c, const char *text, int64_t now_ns, int64_t *ret_ns)
{
    int64_t ns = now_ns % CLOCK_S, v;
    ns = ns < 0 ? ns + CLOCK_S : ns;
    struct dateparse_time now = {(now_ns - ns) / CLOCK_S, (uint32_t)ns}, t;
    int r = dateparse_time(c, text, now, &t);
    if (r < 0)
        return r;
    if (__builtin_mul_overflow(t.s, CLOCK_S, &v) || __builtin_add_overflow(v, (int64_t)t.ns, &v))
        return -EINVAL;
    *ret_ns = v;
    return 0;
}
