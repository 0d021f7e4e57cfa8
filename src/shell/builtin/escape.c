/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/builtin/escape_int.h"

#include <stdio.h>

static bool is_gnu(enum escape_kind k)
{
    return k >= ESCAPE_GNU_ECHO;
}

static bool is_echo(enum escape_kind k)
{
    return k == ESCAPE_ECHO || k == ESCAPE_GNU_ECHO;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Up to @max digits of base 8 or 16 at @p; *ret_n says how many there were. */
static uint32_t digits(const char *p, size_t n, size_t max, int base, size_t *ret_n)
{
    uint32_t v = 0;
    size_t i = 0;
    while (i < n && i < max) {
        int d = hex_value(p[i]);
        if (d < 0 || d >= base)
            break;
        v = v * (uint32_t)base + (uint32_t)d;
        i++;
    }
    *ret_n = i;
    return v;
}

static void put(struct escape *e, char c)
{
    e->text[e->n++] = c;
}

/* UTF-8 as it was first defined, up to 31 bits: what bash writes for a number beyond Unicode. */
static void put_utf8(struct escape *e, uint32_t c)
{
    if (c < 0x80) {
        put(e, (char)c);
        return;
    }
    if (c > 0x7fffffff)
        return;
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : c < 0x200000 ? 3 : c < 0x4000000 ? 4 : 5;
    put(e, (char)(0xff << (7 - more) | (int)(c >> (6 * more))));
    while (more-- > 0)
        put(e, (char)(0x80 | (c >> (6 * more) & 0x3f)));
}

/* A character that the locale cannot say stays a name. */
static void put_name(struct escape *e, uint32_t c)
{
    int n = snprintf(e->text, sizeof e->text, c > 0xffff ? "\\U%08X" : "\\u%04X", c);
    e->n = (uint8_t)n;
}

/* Characters that C forbids as universal character names (C99 6.4.3). */
static bool bad_name(uint32_t c)
{
    return (c < 0xa0 && c != '$' && c != '@' && c != '`') || (c >= 0xd800 && c <= 0xdfff);
}

static size_t decode_unicode(enum escape_kind kind, bool utf8, const char *p, size_t n, struct escape *e)
{
    size_t max = p[1] == 'u' ? 4 : 8, len;
    uint32_t c = digits(p + 2, n - 2, max, 16, &len);
    e->letter = p[1];
    e->code = c;
    if (len == 0 || (is_gnu(kind) && len < max)) {
        put(e, '\\');
        put(e, p[1]);
        e->fault = ESCAPE_NO_UNICODE;
        return 2;
    }
    if (is_gnu(kind) && bad_name(c))
        e->fault = ESCAPE_BAD_NAME;
    else if (c < 0x80 || (utf8 && (!is_gnu(kind) || c < 0x110000)))
        put_utf8(e, c);
    else
        put_name(e, c);
    return 2 + len;
}

static size_t decode_hex(const char *p, size_t n, struct escape *e)
{
    size_t len;
    uint32_t v = digits(p + 2, n - 2, 2, 16, &len);
    if (len == 0) {
        put(e, '\\');
        put(e, 'x');
        e->fault = ESCAPE_NO_HEX;
        return 2;
    }
    put(e, (char)v);
    return 2 + len;
}

/* \NNN, and the \0NNN of echo and %b. False: not a sequence of this kind. */
static bool decode_octal(enum escape_kind kind, const char *p, size_t n, struct escape *e, size_t *ret_len)
{
    bool leading = p[1] == '0' && kind != ESCAPE_FORMAT && kind != ESCAPE_GNU_FORMAT;
    if (p[1] < '0' || p[1] > '7' || (!leading && kind == ESCAPE_ECHO))
        return false;
    size_t from = leading ? 2 : 1, len;
    put(e, (char)digits(p + from, n - from, 3, 8, &len));
    *ret_len = from + len;
    return true;
}

/* A letter that stands for one character, or -1. */
static int simple(enum escape_kind kind, char c)
{
    switch (c) {
    case 'a':
        return '\a';
    case 'b':
        return '\b';
    case 'e':
        return 033;
    case 'E':
        return is_gnu(kind) ? -1 : 033;
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'v':
        return '\v';
    case '\\':
        return '\\';
    case '"':
        return kind == ESCAPE_FORMAT || kind == ESCAPE_GNU_FORMAT || kind == ESCAPE_GNU_B ? '"' : -1;
    case '\'':
    case '?':
        return kind == ESCAPE_FORMAT ? c : -1;
    default:
        return -1;
    }
}

size_t escape_decode(enum escape_kind kind, bool utf8, const char *p, size_t n, struct escape *ret)
{
    size_t len;
    ret->n = 0;
    ret->stop = false;
    ret->fault = ESCAPE_OK;
    if (n < 2) {
        put(ret, '\\');
        return 1;
    }
    int c = simple(kind, p[1]);
    if (c >= 0) {
        put(ret, (char)c);
        return 2;
    }
    if (p[1] == 'c' && kind != ESCAPE_FORMAT) {
        ret->stop = true;
        return 2;
    }
    if (p[1] == 'x')
        return decode_hex(p, n, ret);
    if ((p[1] == 'u' || p[1] == 'U') && kind != ESCAPE_GNU_ECHO)
        return decode_unicode(kind, utf8, p, n, ret);
    if (decode_octal(kind, p, n, ret, &len))
        return len;
    put(ret, '\\');
    if (is_echo(kind) || p[1] != 0) {
        put(ret, p[1]);
        return 2;
    }
    return 1;
}
