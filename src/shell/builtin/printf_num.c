/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/builtin/printf_num_int.h"

#include <math.h>

#include "base/mem.h"

/*
 * No long double has more digits behind its point than this (2^-16445, the smallest one, has 16445): what is asked for
 * beyond is zeros, which are counted rather than made, because the C library would allocate room for them that no
 * account knows of.
 */
#define MOST_DIGITS 16500
#define LONG_TEXT (5000 + MOST_DIGITS + 32) /* 4933 digits before the point */

static void put_sign(struct printf_num *f, const struct printf_spec *s, bool neg)
{
    if (neg)
        f->prefix[f->prefix_n++] = '-';
    else if (s->plus)
        f->prefix[f->prefix_n++] = '+';
    else if (s->space)
        f->prefix[f->prefix_n++] = ' ';
}

void printf_num_int(struct printf_num *f, const struct printf_spec *s, char conv, int64_t v)
{
    uint64_t u = (uint64_t)v;
    if (conv == 'd' || conv == 'i') {
        put_sign(f, s, v < 0);
        u = v < 0 ? 0 - u : u;
    }
    const char *set = conv == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned base = conv == 'o' ? 8 : conv == 'x' || conv == 'X' ? 16 : 10;
    char *end = f->text + sizeof f->text, *p = end;
    bool zero = u == 0;
    for (; u; u /= base)
        *--p = set[u % base];
    if (zero && s->prec != 0)
        *--p = '0';
    f->p = p;
    f->n = (size_t)(end - p);
    f->at = f->n;
    f->zeros = s->prec > (int64_t)f->n ? s->prec - (int64_t)f->n : 0;
    f->no_zero = s->prec >= 0;
    if (s->alt && base == 8 && f->zeros == 0 && (!zero || s->prec == 0))
        f->zeros = 1;
    if (s->alt && base == 16 && !zero) {
        f->prefix[f->prefix_n++] = '0';
        f->prefix[f->prefix_n++] = conv;
    }
}

/* snprintf(3) with constant formats. @v is not negative. */
static int text_of(char *p, size_t n, bool alt, char conv, int prec, long double v)
{
    switch (conv) {
    case 'f':
        return snprintf(p, n, alt ? "%#.*Lf" : "%.*Lf", prec, v);
    case 'F':
        return snprintf(p, n, alt ? "%#.*LF" : "%.*LF", prec, v);
    case 'e':
        return snprintf(p, n, alt ? "%#.*Le" : "%.*Le", prec, v);
    case 'E':
        return snprintf(p, n, alt ? "%#.*LE" : "%.*LE", prec, v);
    case 'g':
        return snprintf(p, n, alt ? "%#.*Lg" : "%.*Lg", prec, v);
    case 'G':
        return snprintf(p, n, alt ? "%#.*LG" : "%.*LG", prec, v);
    case 'a':
        return snprintf(p, n, alt ? "%#.*La" : "%.*La", prec, v);
    default:
        return snprintf(p, n, alt ? "%#.*LA" : "%.*LA", prec, v);
    }
}

/* Where zeros beyond MOST_DIGITS go: before the exponent, if there is one. */
static size_t exponent_at(const char *p, size_t n, char conv)
{
    const char *marks = conv == 'a' || conv == 'A' ? "pP" : "eE";
    size_t i = strcspn(p, marks);
    return i < n ? i : n;
}

bool printf_num_float(struct printf_num *f, const struct printf_spec *s, char conv, long double v, char **ret_heap)
{
    int prec = s->prec > MOST_DIGITS ? MOST_DIGITS : (int)s->prec;
    bool finite = isfinite(v);
    put_sign(f, s, signbit(v));
    v = fabsl(v);
    char *p = f->text;
    int n = text_of(p, sizeof f->text, s->alt, conv, prec, v);
    if (n >= (int)sizeof f->text) {
        p = *ret_heap = mem_try(LONG_TEXT);
        if (!p)
            return false;
        n = text_of(p, LONG_TEXT, s->alt, conv, prec, v);
    }
    if (n < 0 || n >= LONG_TEXT)
        return false;
    f->p = p;
    f->n = (size_t)n;
    f->no_zero = !finite;
    if (finite && (conv == 'a' || conv == 'A')) { /* zeros of the 0 flag go behind 0x */
        f->prefix[f->prefix_n++] = *f->p++;
        f->prefix[f->prefix_n++] = *f->p++;
        f->n -= 2;
    }
    f->at = exponent_at(f->p, f->n, conv);
    if (finite && ((conv != 'g' && conv != 'G') || s->alt))
        f->more = s->prec > MOST_DIGITS ? s->prec - MOST_DIGITS : 0;
    return true;
}
