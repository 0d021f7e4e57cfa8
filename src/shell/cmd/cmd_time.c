/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "base/num.h"
#include "shell/cmd/zone.h"

static struct cmd_zone *zone_of(struct cmd *c)
{
    if (!c->zone)
        c->zone = zone_load(c, cmd_getenv(c, "TZ"));
    return c->zone;
}

void zone_use(struct cmd *c, struct cmd_zone *z)
{
    c->zone = z;
}

/* Day number to year, month, day (the inverse of zone_days()). */
static void civil(int64_t days, struct cmd_time *t)
{
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    t->mday = (int)(doy - (153 * mp + 2) / 5 + 1);
    t->mon = (int)(mp < 10 ? mp + 2 : mp - 10);
    t->year = yoe + era * 400 + (t->mon < 2);
    t->wday = (int)(((days + 4) % 7 + 7) % 7);
    t->yday = (int)(days - zone_days(t->year, 0, 1));
}

static void broken_down(int64_t unix_s, struct zone_type type, struct cmd_time *ret)
{
    /* The offset is added after the split, so that nothing overflows at the ends of int64. */
    int64_t days = unix_s / 86400, rest = unix_s % 86400 + type.off;
    days += rest / 86400;
    rest %= 86400;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    civil(days, ret);
    ret->hour = (int)(rest / 3600);
    ret->min = (int)(rest / 60 % 60);
    ret->sec = (int)(rest % 60);
    ret->gmtoff = type.off;
    ret->zone = type.abbr;
    ret->dst = type.dst;
    ret->want_dst = 0;
}

void cmd_localtime(struct cmd *c, int64_t unix_s, bool utc, struct cmd_time *ret)
{
    static const struct zone_type utc_type = {0, false, "UTC"};
    broken_down(unix_s, utc ? utc_type : zone_at(zone_of(c), unix_s), ret);
}

/* The fields as if they were UTC. */
static int as_utc(const struct cmd_time *t, int64_t *ret)
{
    int64_t year = t->year, mon = t->mon % 12, s;
    if (__builtin_add_overflow(year, t->mon / 12, &year))
        return -EOVERFLOW;
    if (mon < 0) {
        mon += 12;
        year--;
    }
    if (year > INT64_C(1) << 40 || year < -(INT64_C(1) << 40))
        return -EOVERFLOW;
    int64_t days = zone_days(year, (int)mon, 1) + (int64_t)t->mday - 1;
    if (__builtin_mul_overflow(days, 86400, &s) || __builtin_add_overflow(s, (int64_t)t->hour * 3600, &s) ||
        __builtin_add_overflow(s, (int64_t)t->min * 60, &s) || __builtin_add_overflow(s, (int64_t)t->sec, &s))
        return -EOVERFLOW;
    *ret = s;
    return 0;
}

/* The other side of a daylight saving change: the nearest moment that has the wanted kind of time lends its offset.
 * False when there is none. */
static bool other_dst(const struct cmd_zone *z, int64_t local, int64_t *t, bool want)
{
    const int64_t stride = 601200, most = 268828200; /* as mktime(3) of glibc looks */
    for (int64_t d = stride; d < most; d += stride)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct zone_type k = zone_at(z, *t + sign * d);
            if (k.dst == want) {
                *t = local - k.off;
                return true;
            }
        }
    return false;
}

int cmd_mktime(struct cmd *c, struct cmd_time *t, bool utc, int64_t *ret)
{
    struct cmd_zone none = {.has_rule = true, .std = {0, false, "UTC"}};
    struct cmd_zone *z = utc ? &none : zone_of(c);
    int64_t local;
    int r = as_utc(t, &local);
    if (r < 0)
        return r;
    if (local > INT64_MAX - (1 << 20) || local < INT64_MIN + (1 << 20))
        return -EOVERFLOW;
    int64_t at = local - z->guess, before = INT64_MIN;
    for (int i = 0; i < 6; i++) {
        int64_t next = local - zone_at(z, at).off;
        if (next == at)
            break;
        if (next == before) { /* inside a gap: the time after it */
            at = NUM_MAX(at, next);
            break;
        }
        before = at;
        at = next;
    }
    if (t->want_dst && zone_at(z, at).dst != (t->want_dst == 2) && !other_dst(z, local, &at, t->want_dst == 2))
        return -EOVERFLOW;
    z->guess = local - at;
    broken_down(at, zone_at(z, at), t);
    *ret = at;
    return 0;
}
