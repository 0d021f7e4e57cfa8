/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Time zones. wasi-libc asks __secs_to_zone() for the offset of a moment and answers "UTC" by itself; here it reads TZ:
 * the name of a file below /usr/share/zoneinfo (TZif, RFC 8536) or a rule (POSIX.1-2017, 8.3), else /etc/localtime.
 *
 * Data of a file is checked against its length when it is loaded; look-ups then rely on it.
 */
#include "host.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    DAY = 86400,
    FILE_MAX_SIZE = 65536,
    NAME_MAX_TZ = 8,
};

struct change {      /* when daylight saving time begins or ends, in local time */
    char kind;       /* 'J' day 1 to 365 without the 29th of February, 'D' day 0 to 365, 'M' week @week of month @month */
    int day, week, month;
    int seconds;
};

struct posix_rule {
    char std[NAME_MAX_TZ], dst[NAME_MAX_TZ];
    int std_off, dst_off; /* east of Greenwich */
    bool has_dst;
    struct change start, end;
};

struct zone {
    const unsigned char *times, *types, *kinds; /* @n_times of 8 bytes, one byte each; @n_kinds of 6 bytes */
    const char *names;
    uint32_t n_times, n_kinds, n_names;
    bool has_rule;
    struct posix_rule rule;
};

struct answer {
    int isdst, off, other; /* @other: the offset when isdst is the opposite */
    const char *name;
};

const char __utc[] = "UTC";
char *tzname[2] = {(char *)__utc, (char *)__utc};
long timezone;
int daylight;

static unsigned char file[FILE_MAX_SIZE];
static struct zone zone;
static char current[PATH_MAX]; /* the value of TZ that @zone is of */
static bool loaded;

/* --- rules */

static const char *parse_name(const char *s, char name[NAME_MAX_TZ])
{
    bool quoted = *s == '<';
    size_t n = 0;

    if (quoted)
        s++;
    while (quoted ? *s != '>' && *s != '\0' : (*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z')) {
        if (n + 1 == NAME_MAX_TZ)
            return NULL;
        name[n++] = *s++;
    }
    name[n] = '\0';
    if (quoted && *s++ != '>')
        return NULL;
    return n >= 3 ? s : NULL;
}

static const char *parse_int(const char *s, int max, int *ret)
{
    int n = 0;

    if (*s < '0' || *s > '9')
        return NULL;
    while (*s >= '0' && *s <= '9') {
        n = n * 10 + (*s++ - '0');
        if (n > max)
            return NULL;
    }
    *ret = n;
    return s;
}

/* [+-]hh[:mm[:ss]] */
static const char *parse_seconds(const char *s, int *ret)
{
    int sign = 1, part[3] = {0};

    if (*s == '+' || *s == '-')
        sign = *s++ == '-' ? -1 : 1;
    for (int i = 0; i < 3; i++) {
        s = parse_int(s, i == 0 ? 167 : 59, &part[i]);
        if (s == NULL)
            return NULL;
        if (*s != ':')
            break;
        if (i < 2)
            s++;
    }
    *ret = sign * (part[0] * 3600 + part[1] * 60 + part[2]);
    return s;
}

static const char *parse_change(const char *s, struct change *c)
{
    *c = (struct change){.kind = 'D', .seconds = 7200};
    if (*s == 'M') {
        c->kind = 'M';
        s = parse_int(s + 1, 12, &c->month);
        if (s == NULL || *s++ != '.' || (s = parse_int(s, 5, &c->week)) == NULL || *s++ != '.' ||
            (s = parse_int(s, 6, &c->day)) == NULL || c->month == 0 || c->week == 0)
            return NULL;
    } else {
        if (*s == 'J') {
            c->kind = 'J';
            s++;
        }
        s = parse_int(s, 365, &c->day);
        if (s == NULL)
            return NULL;
    }
    if (*s == '/')
        s = parse_seconds(s + 1, &c->seconds);
    return s;
}

static bool parse_rule(const char *s, struct posix_rule *r)
{
    *r = (struct posix_rule){0};
    s = parse_name(s, r->std);
    if (s == NULL || (s = parse_seconds(s, &r->std_off)) == NULL)
        return false;
    r->std_off = -r->std_off;
    if (*s == '\0')
        return true;
    s = parse_name(s, r->dst);
    if (s == NULL)
        return false;
    r->has_dst = true;
    r->dst_off = r->std_off + 3600;
    if (*s != ',' && *s != '\0') {
        s = parse_seconds(s, &r->dst_off);
        if (s == NULL)
            return false;
        r->dst_off = -r->dst_off;
    }
    if (*s == '\0')
        s = ",M3.2.0,M11.1.0"; /* the rule of the United States, as glibc and musl take it */
    if (*s++ != ',' || (s = parse_change(s, &r->start)) == NULL || *s++ != ',' ||
        (s = parse_change(s, &r->end)) == NULL)
        return false;
    return *s == '\0';
}

static bool leap(long long y)
{
    return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
}

static long long floor_div(long long a, long long b)
{
    return a / b - (a % b < 0);
}

/* Days from 1970-01-01 to the first of January of @y. */
static long long year_start(long long y)
{
    long long p = y - 1;

    return 365 * (y - 1970) + floor_div(p, 4) - floor_div(p, 100) + floor_div(p, 400) - (1969 / 4 - 1969 / 100 + 1969 / 400);
}

static long long year_of(long long days)
{
    long long y = 1970 + floor_div(days * 400, 146097);

    while (year_start(y) > days)
        y--;
    while (year_start(y + 1) <= days)
        y++;
    return y;
}

/* The moment of @c in year @y, in seconds of the local time that holds before it. */
static long long change_time(const struct change *c, long long y)
{
    static const short before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    long long day = year_start(y);

    if (c->kind == 'M') {
        bool add = leap(y) && c->month > 2;
        int first, last = before[c->month] - before[c->month - 1] + (leap(y) && c->month == 2), d;

        day += before[c->month - 1] + add;
        first = (int)((day % 7 + 7 + 4) % 7); /* weekday of the month's first: 1970-01-01 was a Thursday */
        d = (c->day - first + 7) % 7 + (c->week - 1) * 7;
        while (d >= last)
            d -= 7;
        day += d;
    } else if (c->kind == 'J') {
        day += c->day - 1 + (leap(y) && c->day > 59);
    } else {
        day += c->day;
    }
    return day * DAY + c->seconds;
}

static void ask_rule(const struct posix_rule *r, long long t, struct answer *a)
{
    bool dst = false;

    if (r->has_dst) {
        long long y = year_of(floor_div(t + r->std_off, DAY));
        long long start = change_time(&r->start, y) - r->std_off, end = change_time(&r->end, y) - r->dst_off;

        dst = start < end ? t >= start && t < end : t >= start || t < end;
    }
    *a = (struct answer){.isdst = dst,
                         .off = dst ? r->dst_off : r->std_off,
                         .other = dst || !r->has_dst ? r->std_off : r->dst_off,
                         .name = dst ? r->dst : r->std};
}

/* --- files */

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static long long be64(const unsigned char *p)
{
    return (long long)((uint64_t)be32(p) << 32 | be32(p + 4));
}

struct header {
    uint32_t isut, isstd, leap, times, kinds, names;
};

/* Reads the header at @at of @n bytes: its counts, and the bytes of its block with times of @time_n bytes. 0 is bad. */
static size_t read_header(size_t at, size_t n, unsigned time_n, struct header *h)
{
    const unsigned char *p = file + at;
    uint64_t size;

    if (at > n || n - at < 44 || memcmp(p, "TZif", 4) != 0)
        return 0;
    *h = (struct header){be32(p + 20), be32(p + 24), be32(p + 28), be32(p + 32), be32(p + 36), be32(p + 40)};
    if (h->isut > n || h->isstd > n || h->leap > n || h->times > n || h->kinds > n || h->names > n)
        return 0;
    size = 44 + (uint64_t)h->times * (time_n + 1) + (uint64_t)h->kinds * 6 + h->names +
           (uint64_t)h->leap * (time_n + 4) + h->isstd + h->isut;
    return size <= n - at ? (size_t)size : 0;
}

/* Fills @z from the first @n bytes of file[], version 2 or newer. */
static bool parse_file(size_t n, struct zone *z)
{
    struct header h;
    size_t first = read_header(0, n, 4, &h), second;
    const char *rule;
    char *end;

    if (first == 0 || file[4] < '2')
        return false;
    second = read_header(first, n, 8, &h);
    if (second == 0 || h.kinds == 0 || h.names == 0)
        return false;
    *z = (struct zone){.n_times = h.times, .n_kinds = h.kinds, .n_names = h.names};
    z->times = file + first + 44;
    z->types = z->times + (size_t)h.times * 8;
    z->kinds = z->types + h.times;
    z->names = (const char *)z->kinds + (size_t)h.kinds * 6;
    if (z->names[h.names - 1] != '\0')
        return false;
    for (uint32_t i = 0; i < h.times; i++)
        if (z->types[i] >= h.kinds)
            return false;
    for (uint32_t i = 0; i < h.kinds; i++)
        if (z->kinds[i * 6 + 5] >= h.names)
            return false;
    /* The rule for times after the last: a line of its own. */
    file[n < FILE_MAX_SIZE ? n : FILE_MAX_SIZE - 1] = '\0';
    if (first + second < n && file[first + second] == '\n') {
        rule = (const char *)file + first + second + 1;
        end = strchr(rule, '\n');
        if (end != NULL) {
            *end = '\0';
            z->has_rule = parse_rule(rule, &z->rule);
        }
    }
    return true;
}

static bool load_file(const char *path, struct zone *z)
{
    FILE *f = fopen(path, "re");
    size_t n;

    if (f == NULL)
        return false;
    n = fread(file, 1, sizeof(file) - 1, f);
    fclose(f);
    return parse_file(n, z);
}

static struct answer kind_answer(const struct zone *z, uint32_t kind)
{
    const unsigned char *k = z->kinds + (size_t)kind * 6;
    int off = (int)be32(k);

    return (struct answer){.isdst = k[4] != 0, .off = off, .other = off, .name = z->names + k[5]};
}

static void ask_file(const struct zone *z, long long t, struct answer *a)
{
    uint32_t lo = 0, hi = z->n_times;

    while (lo < hi) { /* the number of transitions that are not after @t */
        uint32_t mid = lo + (hi - lo) / 2;

        if (be64(z->times + (size_t)mid * 8) <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == z->n_times && z->has_rule) {
        ask_rule(&z->rule, t, a);
        return;
    }
    *a = kind_answer(z, lo == 0 ? 0 : z->types[lo - 1]);
    /* The other offset is that of the nearest time of the other kind, before or else after. */
    for (uint32_t i = lo; i-- > 0;) {
        struct answer b = kind_answer(z, z->types[i]);

        if (b.isdst != a->isdst) {
            a->other = b.off;
            return;
        }
    }
    for (uint32_t i = lo; i < z->n_times; i++) {
        struct answer b = kind_answer(z, z->types[i]);

        if (b.isdst != a->isdst) {
            a->other = b.off;
            return;
        }
    }
}

/* --- the zone of TZ */

static void ask(long long t, struct answer *a)
{
    if (zone.n_kinds != 0)
        ask_file(&zone, t, a);
    else if (zone.has_rule)
        ask_rule(&zone.rule, t, a);
    else
        *a = (struct answer){.name = __utc};
}

/* The globals tell the standard and the daylight time of the present: January and July of a year near it. */
static void set_globals(void)
{
    daylight = 0;
    for (int half = 0; half < 2; half++) {
        struct answer a;

        ask((year_start(2026) + half * 182) * DAY, &a);
        if (half == 0)
            tzname[0] = tzname[1] = (char *)a.name;
        tzname[a.isdst != 0] = (char *)a.name;
        if (a.isdst == 0)
            timezone = -a.off;
        else
            daylight = 1;
    }
}

void tzset(void)
{
    const char *tz = getenv("TZ");
    char path[PATH_MAX + 32];

    if (loaded && strcmp(tz != NULL ? tz : "\n", current) == 0)
        return;
    loaded = true;
    snprintf(current, sizeof(current), "%s", tz != NULL ? tz : "\n");
    zone = (struct zone){0};
    if (tz == NULL) {
        (void)load_file("/etc/localtime", &zone);
    } else {
        if (*tz == ':')
            tz++;
        if (tz[0] == '/')
            snprintf(path, sizeof(path), "%s", tz);
        else
            snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", tz);
        if (tz[0] != '\0' && (strstr(tz, "..") != NULL || !load_file(path, &zone))) {
            zone = (struct zone){0};
            zone.has_rule = parse_rule(tz, &zone.rule);
        }
    }
    set_globals();
}

/* Finds the moment whose local time is @t; @a is the answer for it. */
static void ask_local(long long t, struct answer *a)
{
    struct answer before, after, b;

    ask(t - DAY, &before);
    ask(t + DAY, &after);
    ask(t - before.off, a);
    if (before.off == after.off || a->off == before.off)
        return; /* the first of two moments, when clocks were set back */
    ask(t - after.off, &b);
    *a = b.off == after.off ? b : before; /* no such time, when they were set forward: as if they had not been yet */
}

void __secs_to_zone(long long t, int local, int *isdst, int *off, long *other, const char **name)
{
    struct answer a;

    tzset();
    if (local)
        ask_local(t, &a);
    else
        ask(t, &a);
    *isdst = a.isdst;
    *off = a.off;
    if (other != NULL)
        *other = a.other;
    *name = a.name;
}

/* The name in @tm, if it is one that was given out: a program may have left the member unset. */
const char *__tm_to_tzname(const struct tm *tm)
{
    const char *p = tm->__tm_zone;

    if (p == __utc || p == zone.rule.std || p == zone.rule.dst)
        return p;
    return zone.n_kinds != 0 && p >= zone.names && p < zone.names + zone.n_names ? p : "";
}
