/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* dateparse_int - the tokens that dateparse_lex.c finds and dateparse.c puts together. */

#include "base/str.h"
#include "shell/cmd/cmd.h"

enum dp_kind {
    DP_END,
    DP_CHAR, /* value is a character with a meaning of its own, or none */
    DP_BAD,
    DP_UNSIGNED,
    DP_SIGNED,
    DP_UDECIMAL, /* a number with a fraction: value and ns */
    DP_SDECIMAL,
    DP_AGO, /* value: -1, or 1 for "hence" */
    DP_DST,
    DP_YEARS,
    DP_MONTHS,
    DP_DAYS, /* value: days in the unit */
    DP_HOURS,
    DP_MINUTES,
    DP_SECONDS,
    DP_DAY_SHIFT,
    DP_WEEKDAY,
    DP_MERIDIAN, /* value: enum dp_meridian */
    DP_MONTH,
    DP_ORDINAL,
    DP_ZONE, /* value: seconds east */
    DP_DAYZONE,
    DP_LOCAL_ZONE, /* value: whether it is the one of daylight saving time */
    DP_T,          /* the letter: a military zone, or between date and time */
};

enum dp_meridian { DP_AM, DP_PM, DP_24 };

struct dp_token {
    enum dp_kind kind;
    int64_t value;
    int32_t ns;
    bool negative;
    size_t digits;
};

/* Names of the local zone: in use now, and within the next three quarters when that is of another kind. */
struct dp_local {
    const char *name[2];
    bool dst[2];
};

/* The next token at *p, which moves behind it. */
struct dp_token dp__lex(const struct dp_local *local, const char **p);
