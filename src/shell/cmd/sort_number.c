/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sort_int.h"

#include <ctype.h>
#include <float.h>
#include <math.h>

#include "base/num.h"

/* A decimal number without what does not count: zeros in front and behind. */
struct number {
    bool neg;
    const char *whole, *part; /* digits before and behind the point */
    size_t whole_n, part_n;
};

static bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

static struct str skip_blanks(struct str s)
{
    size_t i = 0;
    while (i < s.n && sort__blank(s.p[i]))
        i++;
    return str_from(s, i);
}

static struct number parse(struct str s)
{
    struct number r = {0};
    s = skip_blanks(s);
    const char *p = s.p, *end = s.p + s.n;
    if (p < end && *p == '-') {
        r.neg = true;
        p++;
    }
    while (p < end && *p == '0')
        p++;
    r.whole = p;
    while (p < end && is_digit(*p))
        p++;
    r.whole_n = (size_t)(p - r.whole);
    r.part = p;
    if (p < end && *p == '.') {
        r.part = ++p;
        while (p < end && is_digit(*p))
            p++;
        while (p > r.part && p[-1] == '0')
            p--;
        r.part_n = (size_t)(p - r.part);
    }
    if (r.whole_n == 0 && r.part_n == 0)
        r.neg = false;
    return r;
}

static int digits_cmp(const char *a, size_t an, const char *b, size_t bn)
{
    size_t n = NUM_MIN(an, bn);
    int r = n ? memcmp(a, b, n) : 0;
    return r ? r : (an > bn) - (an < bn);
}

static int number_cmp(const struct number *a, const struct number *b)
{
    if (a->neg != b->neg)
        return a->neg ? -1 : 1;
    int r = (a->whole_n > b->whole_n) - (a->whole_n < b->whole_n);
    if (r == 0)
        r = digits_cmp(a->whole, a->whole_n, b->whole, b->whole_n);
    if (r == 0)
        r = digits_cmp(a->part, a->part_n, b->part, b->part_n);
    return a->neg ? -r : r;
}

int sort__compare_number(struct str a, struct str b)
{
    struct number x = parse(a), y = parse(b);
    return number_cmp(&x, &y);
}

#define WHOLE_MAX 8191u /* digits before the point that 13 bits can count */

/*
 * Order of magnitude, @digits decimal digits (four bits each), and whether more follow: 13 + 4 * digits + 1 bits. A
 * number with more digits than fit is further from zero than one that ends there, which the last bit being the lowest
 * keeps true.
 */
static uint64_t magnitude(const struct number *x, unsigned digits)
{
    uint64_t m = 0;
    size_t w = 0, p = 0;
    bool more = x->whole_n >= WHOLE_MAX;
    for (unsigned i = 0; i < digits; i++) {
        unsigned d = 0;
        if (w < x->whole_n)
            d = (unsigned)(x->whole[w++] - '0');
        else if (p < x->part_n)
            d = (unsigned)(x->part[p++] - '0');
        m = m << 4 | d;
    }
    for (; w < x->whole_n && !more; w++)
        more = x->whole[w] != '0';
    more |= p < x->part_n;
    return ((uint64_t)NUM_MIN(x->whole_n, (size_t)WHOLE_MAX) << 4 * digits | m) << 1 | more;
}

/* A sign in front: @bits bits hold a magnitude. All bits of a negative one are turned (see sort__number_tells). */
static uint64_t with_sign(uint64_t m, bool neg, unsigned bits)
{
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    return neg ? ~m & mask : m | (UINT64_C(1) << bits);
}

#define NUMBER_BITS (13 + 12 * 4 + 1)
#define HUMAN_BITS (13 + 11 * 4 + 1)
#define GENERAL_BITS 63

uint64_t sort__number_word(struct str s)
{
    struct number x = parse(s);
    return with_sign(magnitude(&x, 12), x.neg, NUMBER_BITS);
}

/* ---- -h ---- */

/* How large the unit behind the number is: 0 none, 1 K …; negative for negative numbers. Of a number that is zero it
 * does not count. */
static int unit_order(struct str s, bool fold)
{
    static const char units[] = "KMGTPEZY";
    s = skip_blanks(s);
    const char *p = s.p, *end = s.p + s.n;
    bool neg = p < end && *p == '-', zero = true;
    p += neg;
    for (; p < end && is_digit(*p); p++)
        zero &= *p == '0';
    if (p < end && *p == '.')
        for (p++; p < end && is_digit(*p); p++)
            zero &= *p == '0';
    if (zero || p == end || *p == 0)
        return 0;
    const char *u = strchr(units, fold || *p == 'k' ? toupper((unsigned char)*p) : *p);
    int order = u ? (int)(u - units) + 1 : 0;
    return neg ? -order : order;
}

int sort__compare_human(struct str a, struct str b, bool fold)
{
    int r = unit_order(a, fold) - unit_order(b, fold);
    return r ? r : sort__compare_number(a, b);
}

uint64_t sort__human_word(struct str s, bool fold)
{
    struct number x = parse(s);
    return (uint64_t)(unit_order(s, fold) + 8) << (HUMAN_BITS + 1) | with_sign(magnitude(&x, 11), x.neg, HUMAN_BITS);
}

/* ---- -g ---- */

enum { GENERAL_NONE, GENERAL_NAN, GENERAL_VALUE };

/* The number at the start of @s. */
static int general(struct str s, long double *ret)
{
    char small[256], *text = small, *end;
    s = skip_blanks(s);
    size_t n = 0;
    while (n < s.n && (isalnum((unsigned char)s.p[n]) || (s.p[n] && strchr("+-.()_ \f\v\r", s.p[n]))))
        n++;
    MEM_AUTO char *heap = NULL;
    if (n >= sizeof small) {
        heap = mem_try(n + 1);
        if (!heap)
            n = sizeof small - 1; /* the account is over its limit: the command must end */
        else
            text = heap;
    }
    memcpy(text, s.p, n);
    text[n] = 0;
    long double v = strtold(text, &end);
    if (end == text)
        return GENERAL_NONE;
    *ret = v;
    return isnan(v) ? GENERAL_NAN : GENERAL_VALUE;
}

static int nan_cmp(long double a, long double b)
{
    /* By their bits, without the padding behind them. */
    unsigned char x[sizeof a] = {0}, y[sizeof b] = {0};
    size_t n = LDBL_MANT_DIG == 64 ? 10 : sizeof a;
    memcpy(x, &a, n);
    memcpy(y, &b, n);
    return memcmp(x, y, sizeof x);
}

int sort__compare_general(struct str a, struct str b)
{
    long double x = 0, y = 0;
    int kx = general(a, &x), ky = general(b, &y);
    if (kx != ky)
        return kx - ky;
    if (kx == GENERAL_VALUE)
        return (x > y) - (x < y);
    return kx == GENERAL_NONE ? 0 : nan_cmp(x, y);
}

uint64_t sort__general_word(struct str s)
{
    long double v = 0;
    int k = general(s, &v);
    if (k != GENERAL_VALUE)
        return k == GENERAL_NONE ? 1 : 2; /* below all numbers; the second does not tell all */
    long double a = fabsl(v);
    bool neg = v < 0;
    double d = (double)a;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    bool more = (bits & 1) || (long double)d < a || (long double)d > a;
    if ((long double)d > a) /* towards zero, or rounding could change the order: the next double below */
        bits--;
    uint64_t m = (bits & ~UINT64_C(1)) | more; /* the sign bit is 0 */
    return with_sign(m, neg, GENERAL_BITS);
}

bool sort__word_tells(const struct sort_key *k, uint64_t word)
{
    unsigned bits = k->human ? HUMAN_BITS : k->general ? GENERAL_BITS : NUMBER_BITS;
    bool neg = (word >> bits & 1) == 0;
    return ((word & 1) != 0) == neg;
}

/* ---- -M ---- */

int sort__month(struct str s)
{
    static const char names[] = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
    s = skip_blanks(s);
    if (s.n < 3)
        return 0;
    char up[3];
    for (int i = 0; i < 3; i++)
        up[i] = (char)toupper((unsigned char)s.p[i]);
    for (int m = 0; m < 12; m++)
        if (memcmp(names + m * 3, up, 3) == 0)
            return m + 1;
    return 0;
}
