/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
    if (e) {
        va_list ap;
        va_start(ap, fmt);
        e->code = code;
        vsnprintf(e->text, sizeof(e->text), fmt, ap);
        va_end(ap);
    }
    return code;
}

int err_wrap(struct err *e, int code, const char *fmt, ...)
{
    if (e) {
        char before[sizeof(e->text)];
        va_list ap;
        memcpy(before, e->text, sizeof(before));
        va_start(ap, fmt);
        int n = vsnprintf(e->text, sizeof(e->text), fmt, ap);
        va_end(ap);
        e->code = code;
        if (n >= 0 && (size_t)n < sizeof(e->text))
            snprintf(e->text + n, sizeof(e->text) - (size_t)n, ": %s", before);
    }
    return code;
}
