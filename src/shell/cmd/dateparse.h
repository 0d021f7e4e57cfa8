/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * dateparse - GNU's language of dates ("next friday 10:00", "2024-02-29T12:00Z", "3 days ago", "@86400"), for date and
 * touch.
 *
 * It is the language of the manual's chapter "Date input formats": items in any order, read from left to right without
 * going back. Where the manual leaves a choice open ("10:00 +1 day" reads +1 as a zone) the real tool decides, and
 * tests compare.
 */

#include <stdint.h>

struct cmd;

struct dateparse_time {
    int64_t s;
    uint32_t ns; /* below 1e9 */
};

/* Reads @text against the clock @now, in the zone of cmd_localtime() unless it names another with TZ="…". 0 or -EINVAL.
 */
int dateparse_time(struct cmd *c, const char *text, struct dateparse_time now, struct dateparse_time *ret);

/* The same in nanoseconds since 1970: -EINVAL also for what they cannot hold (years before 1678 and after 2261). */
int dateparse(struct cmd *c, const char *text, int64_t now_ns, int64_t *ret_ns);
