/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

#define LINE 1024 /* bytes of one event; longer ones are cut */

static enum log_level most = LOG_WARN;

void log_set_level(enum log_level level)
{
    most = level;
}

static const char *level_name(enum log_level level)
{
    switch (level) {
    case LOG_ERROR:
        return "error";
    case LOG_WARN:
        return "warn";
    case LOG_INFO:
        return "info";
    case LOG_DEBUG:
        return "debug";
    }
    return "?";
}

void log_event(enum log_level level, const char *event, const char *fmt, ...)
{
    char line[LINE];
    struct tm tm;
    va_list ap;
    if (level > most)
        return;
    int64_t t = clock_wall();
    time_t sec = (time_t)(t / CLOCK_S);
    gmtime_r(&sec, &tm);
    size_t n = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &tm);
    n += (size_t)snprintf(line + n, sizeof(line) - n, ".%03dZ level=%s event=%.64s ", (int)(t % CLOCK_S / CLOCK_MS),
                          level_name(level), event);
    va_start(ap, fmt);
    int m = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
    va_end(ap);
    n += m < 0 ? 0 : (size_t)m;
    if (n > sizeof(line) - 2)
        n = sizeof(line) - 2;
    line[n++] = '\n';
    /* A log that cannot be written must not stop the work it tells of. */
    int r = fd_write_all(STDERR_FILENO, str_of(line, n));
    (void)r;
}

const char *log_quote(char *out, size_t n, struct str s)
{
    static const char hex[] = "0123456789abcdef";
    size_t k = 0;
    if (n < 3) {
        if (n)
            out[0] = 0;
        return out;
    }
    out[k++] = '"';
    for (size_t i = 0; i < s.n && k + 6 <= n; i++) { /* an escape, the closing quote, the NUL */
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\') {
            out[k++] = '\\';
            out[k++] = (char)c;
        } else if (c < 32 || c >= 127) {
            out[k++] = '\\';
            out[k++] = 'x';
            out[k++] = hex[c >> 4];
            out[k++] = hex[c & 15];
        } else {
            out[k++] = (char)c;
        }
    }
    out[k++] = '"';
    out[k] = 0;
    return out;
}
