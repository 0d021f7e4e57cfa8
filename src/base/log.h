/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * log - one event, one line on standard error, key=value. Only worker and the modules above it log.
 *
 *   log_event(LOG_WARN, "confine", "feature=landlock errno=%d", e);
 */

#include "base/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Drops events above @level. The default is LOG_WARN. */
void log_set_level(enum log_level level);

/* Writes one line: time level event key=value… . @fmt must already be key=value text. */
void log_event(enum log_level level, const char *event, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Writes @s into @out (size @n) quoted, with control bytes and quotes escaped, cut if too long; returns @out. */
const char *log_quote(char *out, size_t n, struct str s);
