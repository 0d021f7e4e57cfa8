/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/zone.h"

#include <ctype.h>
#include <errno.h>

#include "shell/cmd/cmd.h"

#define ZONE_FILE_MAX (1u << 20) /* the largest of tzdata has 4 KiB */

/* ---- the calendar ---- */

int64_t zone_days(int64_t year, int mon, int64_t mday)
{
    /* Years that begin in March, so that the leap day is the last of its year. */
    int64_t y = mon < 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * ((mon + 10) % 12) + 2) / 5;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy + mday - 1 - 719468;
}

static bool is_leap(int64_t y)
{
    return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
}

/* ---- POSIX TZ strings ---- */

static bool tz_name(struct cmd *c, const char **p, const char **ret)
{
    const char *s = *p, *e = s;
    if (*s == '<') {
        e = ++s;
        while (isalnum((unsigned char)*e) || *e == '+' || *e == '-')
            e++;
        if (*e != '>' || e - s < 3)
            return false;
        *p = e + 1;
    } else {
        while (isalpha((unsigned char)*e))
            e++;
        if (e - s < 3)
            return false;
        *p = e;
    }
    *ret = arena_dup(c->keep, s, (size_t)(e - s));
    return true;
}

/* Up to three digits. */
static bool tz_num(const char **p, int max, int *ret)
{
    int v = 0, n = 0;
    for (; n < 3 && isdigit((unsigned char)**p); n++)
        v = v * 10 + (*(*p)++ - '0');
    if (n == 0 || v > max)
        return false;
    *ret = v;
    return true;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool tz_time(const char **p, int max_hour, int32_t *ret)
{
    int h = 0, m = 0, s = 0;
    bool neg = **p == '-';
    if (**p == '-' || **p == '+')
        (*p)++;
    if (!tz_num(p, max_hour, &h))
        return false;
    if (**p == ':' && isdigit((unsigned char)(*p)[1])) {
        (*p)++;
        if (!tz_num(p, 59, &m))
            return false;
        if (**p == ':' && isdigit((unsigned char)(*p)[1])) {
            (*p)++;
            if (!tz_num(p, 59, &s))
                return false;
        }
    }
    int32_t v = h * 3600 + m * 60 + s;
    *ret = neg ? -v : v;
    return true;
}

static bool tz_rule(const char **p, struct zone_rule *r)
{
    r->time = 7200;
    r->kind = 'N';
    if (**p == 'M') {
        r->kind = *(*p)++;
        if (!tz_num(p, 12, &r->mon) || r->mon < 1 || *(*p)++ != '.' || !tz_num(p, 5, &r->week) || r->week < 1 ||
            *(*p)++ != '.' || !tz_num(p, 6, &r->day))
            return false;
    } else {
        if (**p == 'J')
            r->kind = *(*p)++;
        if (!tz_num(p, 365, &r->day) || (r->kind == 'J' && r->day == 0))
            return false;
    }
    if (**p == '/') {
        (*p)++;
        return tz_time(p, 167, &r->time);
    }
    return true;
}

/* False when not even a name and an offset could be read; z->std.abbr is what was read of a name. */
static bool tz_string(struct cmd *c, const char *tz, struct cmd_zone *z)
{
    int32_t off;
    z->has_rule = true;
    z->std = z->dst = (struct zone_type){.abbr = ""};
    if (!tz_name(c, &tz, &z->std.abbr) || !tz_time(&tz, 24, &off))
        return false;
    z->std.off = -off;
    if (*tz == 0 || !tz_name(c, &tz, &z->dst.abbr))
        return true;
    z->has_dst = true;
    z->dst.dst = true;
    z->dst.off = z->std.off + 3600;
    if (*tz && *tz != ',') {
        if (!tz_time(&tz, 24, &off))
            return true;
        z->dst.off = -off;
    }
    const char *rules = *tz == ',' ? tz + 1 : "M3.2.0,M11.1.0";
    if (!tz_rule(&rules, &z->start) || *rules++ != ',' || !tz_rule(&rules, &z->end))
        z->has_dst = false;
    return true;
}

/* Seconds since 1970 of the local midnight-based moment of @r in @year, as a local time. */
static int64_t rule_at(const struct zone_rule *r, int64_t year)
{
    int64_t day = zone_days(year, 0, 1);
    if (r->kind == 'N') {
        day += r->day;
    } else if (r->kind == 'J') {
        day += r->day - 1 + (r->day >= 60 && is_leap(year));
    } else {
        int64_t first = zone_days(year, r->mon - 1, 1);
        int64_t next = r->mon == 12 ? zone_days(year + 1, 0, 1) : zone_days(year, r->mon, 1);
        int wday = (int)(((first + 4) % 7 + 7) % 7);
        day = first + (r->day - wday + 7) % 7 + (r->week - 1) * 7;
        while (day >= next)
            day -= 7;
    }
    return day * 86400 + r->time;
}

static struct zone_type rule_type(const struct cmd_zone *z, int64_t t)
{
    if (!z->has_dst)
        return z->std;
    /* As glibc: the year is that of UTC, and years before 1970 have the changes of 1970. The average year finds it or
     * its neighbour. */
    int64_t days = t / 86400 - (t % 86400 < 0);
    int64_t year = 1970 + days * 400 / 146097;
    while (zone_days(year, 0, 1) > days)
        year--;
    while (zone_days(year + 1, 0, 1) <= days)
        year++;
    year = year < 1970 ? 1970 : year;
    int64_t start = rule_at(&z->start, year) - z->std.off;
    int64_t end = rule_at(&z->end, year) - z->dst.off;
    bool dst = start < end ? t >= start && t < end : t >= start || t < end;
    return dst ? z->dst : z->std;
}

struct zone_type zone_at(const struct cmd_zone *z, int64_t t)
{
    /* Beyond these a year does not fit what callers can show; the rules need not be right there, only defined. */
    if (t > INT64_MAX / 64 || t < INT64_MIN / 64)
        return z->has_rule ? z->std : z->n_types ? z->types[0] : (struct zone_type){0, false, "UTC"};
    if (z->n_trans == 0 || (z->has_rule && t >= z->trans[z->n_trans - 1]))
        return z->has_rule ? rule_type(z, t) : z->types[0];
    if (t < z->trans[0]) {
        for (size_t i = 0; i < z->n_types; i++)
            if (!z->types[i].dst)
                return z->types[i];
        return z->types[0];
    }
    size_t lo = 0, hi = z->n_trans;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (z->trans[mid] <= t)
            lo = mid;
        else
            hi = mid;
    }
    return z->types[z->trans_type[lo]];
}

/* ---- TZif ---- */

static int64_t be(const uint8_t *p, int n)
{
    uint64_t v = p[0] & 0x80 ? UINT64_MAX : 0;
    for (int i = 0; i < n; i++)
        v = v << 8 | p[i];
    return (int64_t)v;
}

/* The six counts of a TZif header, and the bytes of its data block. */
struct tzif_head {
    size_t isut, isstd, leap, time, type, chars, size;
};

static bool tzif_head(struct str f, size_t at, int word, struct tzif_head *h)
{
    if (f.n < 44 || at > f.n - 44 || memcmp(f.p + at, "TZif", 4) != 0)
        return false;
    size_t v[6];
    for (int i = 0; i < 6; i++) {
        int64_t k = be((const uint8_t *)f.p + at + 20 + 4 * i, 4);
        if (k < 0 || k > ZONE_FILE_MAX)
            return false;
        v[i] = (size_t)k;
    }
    *h = (struct tzif_head){v[0], v[1], v[2], v[3], v[4], v[5], 0};
    size_t w = (size_t)word;
    h->size = h->time * (w + 1) + h->type * 6 + h->chars + h->leap * (w + 4) + h->isstd + h->isut;
    return h->size <= f.n - at - 44 && h->type > 0 && h->type <= 256 && h->chars > 0;
}

static bool tzif_body(struct cmd *c, const uint8_t *p, const struct tzif_head *h, struct cmd_zone *z)
{
    int64_t *trans = arena_alloc(c->keep, h->time * sizeof *trans + 1);
    struct zone_type *types = arena_alloc(c->keep, h->type * sizeof *types);
    const uint8_t *idx = p + h->time * 8, *tt = idx + h->time;
    const char *chars = arena_dup(c->keep, (const char *)tt + h->type * 6, h->chars);
    for (size_t i = 0; i < h->time; i++) {
        trans[i] = be(p + i * 8, 8);
        if (idx[i] >= h->type || (i > 0 && trans[i] <= trans[i - 1]))
            return false;
    }
    for (size_t i = 0; i < h->type; i++) {
        int64_t off = be(tt + i * 6, 4);
        if (tt[i * 6 + 5] >= h->chars || off < -100 * 3600 || off > 100 * 3600)
            return false;
        types[i] = (struct zone_type){(int32_t)off, tt[i * 6 + 4] != 0, chars + tt[i * 6 + 5]};
    }
    z->n_trans = h->time;
    z->n_types = h->type;
    z->trans = trans;
    z->trans_type = (const uint8_t *)arena_dup(c->keep, (const char *)idx, h->time);
    z->types = types;
    return true;
}

/* Version 2 and later: the second block with 64-bit times, and the TZ string behind it. */
static bool tzif(struct cmd *c, struct str f, struct cmd_zone *z)
{
    struct tzif_head h;
    if (!tzif_head(f, 0, 4, &h) || f.p[4] < '2')
        return false;
    size_t at = 44 + h.size;
    if (!tzif_head(f, at, 8, &h) || !tzif_body(c, (const uint8_t *)f.p + at + 44, &h, z))
        return false;
    at += 44 + h.size;
    if (at + 2 < f.n && f.p[at] == '\n') {
        ptrdiff_t e = str_find(f, '\n', at + 1);
        if (e > 0 && (size_t)e > at + 1) {
            struct cmd_zone tail = {0};
            if (tz_string(c, arena_dup(c->keep, f.p + at + 1, (size_t)e - at - 1), &tail)) {
                z->has_rule = true;
                z->has_dst = tail.has_dst;
                z->std = tail.std;
                z->dst = tail.dst;
                z->start = tail.start;
                z->end = tail.end;
            }
        }
    }
    return true;
}

static bool zone_file(struct cmd *c, const char *path, struct cmd_zone *z)
{
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_handle *h;
    struct vfs_stat st;
    bool ok = false;
    if (vfs_stat(cmd_vfs(c), &ctx, 0, str_c(path), 0, &st) < 0 || !S_ISREG(st.mode) || st.size > ZONE_FILE_MAX ||
        vfs_open(cmd_vfs(c), &ctx, 0, str_c(path), O_RDONLY, 0, &h) < 0)
        return false;
    char *text = mem_try(st.size + 1);
    ssize_t n = text ? vfs_pread(h, text, st.size, 0) : -1;
    if (n > 0)
        ok = tzif(c, str_of(text, (size_t)n), z);
    mem_free(text);
    vfs_close(h);
    return ok;
}

struct cmd_zone *zone_load(struct cmd *c, const char *tz)
{
    struct cmd_zone *z = ARENA_NEW(c->keep, struct cmd_zone);
    const struct zone_type utc = {0, false, "UTC"};
    z->std = utc;
    z->has_rule = true;
    if (!tz) {
        zone_file(c, "/etc/localtime", z);
        return z;
    }
    if (*tz == ':')
        tz++;
    if (*tz == 0 || strcmp(tz, "UTC") == 0 || strcmp(tz, "UTC0") == 0)
        return z;
    const char *path = tz[0] == '/' ? tz : arena_printf(c->keep, "/usr/share/zoneinfo/%s", tz);
    z->has_rule = false;
    if (!zone_file(c, path, z))
        tz_string(c, tz, z);
    return z;
}
