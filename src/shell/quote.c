/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expand_int.h"

#include "base/buf.h"
#include "shell/uchar_int.h"

bool quote_needs_ansi(struct str s, bool utf8)
{
    for (size_t i = 0; i < s.n;) {
        size_t len = 1;
        uint32_t c = utf8 ? uchar_get(s.p + i, s.n - i, &len) : (unsigned char)s.p[i];
        if (c == UCHAR_BAD || !uchar_is(c, UCHAR_PRINT, utf8))
            return true;
        i += len;
    }
    return false;
}

/* Letter of the escape of a control character in $'…', or 0. */
static char ansi_letter(unsigned char c)
{
    static const char letters[] = "abtnvfr"; /* 7..13 */
    if (c >= 7 && c <= 13)
        return letters[c - 7];
    return c == 0x1b ? 'E' : 0;
}

static void add_ansi(struct buf *out, struct str s, bool utf8)
{
    buf_addc(out, "$'");
    for (size_t i = 0; i < s.n;) {
        size_t len = 1;
        unsigned char b = (unsigned char)s.p[i];
        uint32_t c = utf8 ? uchar_get(s.p + i, s.n - i, &len) : b;
        if (c == '\'' || c == '\\' || ansi_letter(b)) {
            buf_putc(out, '\\');
            buf_putc(out, ansi_letter(b) ? ansi_letter(b) : (char)b);
        } else if (c != UCHAR_BAD && uchar_is(c, UCHAR_PRINT, utf8)) {
            buf_add(out, s.p + i, len);
        } else {
            for (size_t k = 0; k < len; k++)
                buf_addf(out, "\\%03o", (unsigned char)s.p[i + k]);
        }
        i += len;
    }
    buf_putc(out, '\'');
}

/* A '~' that would be expanded if it stood there unquoted. */
static bool tilde_at(struct str s, size_t i)
{
    return s.p[i] == '~' && (i == 0 || s.p[i - 1] == ':' || s.p[i - 1] == '=');
}

void quote_printf_q(struct buf *out, struct str s, bool utf8)
{
    if (!s.n) {
        buf_addc(out, "''");
        return;
    }
    if (quote_needs_ansi(s, utf8)) {
        add_ansi(out, s, utf8);
        return;
    }
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (strchr(" '\"\\|&;()<>!{}*[]?^$`,", c) || tilde_at(s, i) || (c == '#' && i == 0))
            buf_putc(out, '\\');
        buf_putc(out, c);
    }
}

void quote_single(struct buf *out, struct str s)
{
    if (str_eqc(s, "'")) {
        buf_addc(out, "\\'");
        return;
    }
    buf_putc(out, '\'');
    for (size_t i = 0; i < s.n;) {
        ptrdiff_t q = str_find(s, '\'', i);
        size_t end = q < 0 ? s.n : (size_t)q;
        buf_add(out, s.p + i, end - i);
        if (q >= 0)
            buf_addc(out, "'\\''");
        i = end + (q >= 0);
    }
    buf_putc(out, '\'');
}

void quote_at_q(struct buf *out, struct str s, bool utf8)
{
    if (quote_needs_ansi(s, utf8))
        add_ansi(out, s, utf8);
    else
        quote_single(out, s);
}

void quote_set(struct buf *out, struct str s, bool utf8)
{
    if (quote_needs_ansi(s, utf8)) {
        add_ansi(out, s, utf8);
        return;
    }
    for (size_t i = 0; i < s.n; i++)
        if (strchr(" '\"\\|&;()<>!{}*[]?^$`", s.p[i]) || tilde_at(s, i) || (s.p[i] == '#' && i == 0)) {
            quote_single(out, s);
            return;
        }
    buf_adds(out, s);
}

void quote_declare(struct buf *out, struct str s, bool utf8)
{
    if (quote_needs_ansi(s, utf8)) {
        add_ansi(out, s, utf8);
        return;
    }
    buf_putc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (strchr("$`\"\\", s.p[i]))
            buf_putc(out, '\\');
        buf_putc(out, s.p[i]);
    }
    buf_putc(out, '"');
}
