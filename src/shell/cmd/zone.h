/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * zone - time zones: the rules behind cmd_localtime().
 *
 * A zone comes from a TZif file of the tree (RFC 8536) or a POSIX TZ string. Both may be a guest's, so every number
 * in them is checked; a file that is not whole is as missing.
 */

#include "base/str.h"

struct cmd;

struct zone_type {
    int32_t off; /* seconds east of UTC */
    bool dst;
    const char *abbr;
};

/* When a rule of a POSIX TZ string strikes. */
struct zone_rule {
    char kind;          /* 'M' month, week, day; 'J' day 1-365 without 29 February; 'N' day 0-365 */
    int mon, week, day; /* day: of the week for 'M', else of the year */
    int32_t time;       /* seconds after local midnight; may be negative or beyond a day */
};

struct cmd_zone {
    bool has_rule; /* std (and dst) below hold after the last transition */
    bool has_dst;
    struct zone_type std, dst;
    struct zone_rule start, end;
    size_t n_trans, n_types;
    const int64_t *trans; /* ascending */
    const uint8_t *trans_type;
    const struct zone_type *types;
    int64_t guess; /* where cmd_mktime() begins to look, as mktime(3) remembers it */
};

/* The zone of the TZ value @tz (NULL: TZ is not set), in c->keep. Never fails: what cannot be read is UTC, named as
 * glibc names it. */
struct cmd_zone *zone_load(struct cmd *c, const char *tz);

/* Sets the zone that cmd_localtime() and cmd_mktime() use from now on (date's TZ="…" form); NULL: look at the
 * environment again. */
void zone_use(struct cmd *c, struct cmd_zone *z);

/* The type in force at @unix_s. */
struct zone_type zone_at(const struct cmd_zone *z, int64_t unix_s);

/* Days from 1970-01-01 to a date of the proleptic Gregorian calendar; @mon 0-11, @mday may be out of range. */
int64_t zone_days(int64_t year, int mon, int64_t mday);
