/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/builtin/duration_int.h"

#include "base/clock.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool duration_parse(struct str s, int64_t *ret)
{
    int64_t whole = 0, part = 0, unit = CLOCK_S / 10;
    size_t i = s.n > 0 && s.p[0] == '+';
    size_t from = i;
    for (; i < s.n && is_digit(s.p[i]); i++)
        if (whole <= INT64_MAX / CLOCK_S)
            whole = whole * 10 + (s.p[i] - '0');
    size_t digits = i - from;
    if (i < s.n && s.p[i] == '.')
        for (i++; i < s.n && is_digit(s.p[i]); i++, digits++, unit /= 10)
            part += (s.p[i] - '0') * unit;
    if (i < s.n || digits == 0)
        return false;
    if (whole >= INT64_MAX / CLOCK_S)
        *ret = INT64_MAX;
    else
        *ret = whole * CLOCK_S + part;
    return true;
}
