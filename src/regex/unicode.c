/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/unicode.h"

#include <errno.h>

#include "regex/unicode_int.h"

static const char *const class_names[UNICODE_N_CLASSES] = {"alpha", "digit", "alnum", "upper", "lower", "space",
                                                           "blank", "punct", "print", "graph", "cntrl", "xdigit"};

static const struct unicode_range digits[] = {{'0', '9'}};
static const struct unicode_range xletters[] = {{'A', 'F'}, {'a', 'f'}};

int unicode_class_find(struct str name, enum unicode_class *ret)
{
    for (unsigned i = 0; i < UNICODE_N_CLASSES; i++) {
        if (str_eqc(name, class_names[i])) {
            *ret = (enum unicode_class)i;
            return 0;
        }
    }
    return -ENOENT;
}

struct part {
    const struct unicode_range *r;
    const size_t *n;
};

static const size_t one = 1, two = 2;

static const struct part parts[UNICODE_N_CLASSES][3] = {
    [UNICODE_ALPHA] = {{unicode__alpha, &unicode__n_alpha}},
    [UNICODE_DIGIT] = {{digits, &one}},
    [UNICODE_ALNUM] = {{digits, &one}, {unicode__alpha, &unicode__n_alpha}},
    [UNICODE_UPPER] = {{unicode__upper, &unicode__n_upper}},
    [UNICODE_LOWER] = {{unicode__lower, &unicode__n_lower}},
    [UNICODE_SPACE] = {{unicode__space, &unicode__n_space}},
    [UNICODE_BLANK] = {{unicode__blank, &unicode__n_blank}},
    [UNICODE_PUNCT] = {{unicode__punct, &unicode__n_punct}},
    [UNICODE_PRINT] = {{unicode__gap, &unicode__n_gap}},
    [UNICODE_GRAPH] = {{unicode__punct, &unicode__n_punct}, {digits, &one}, {unicode__alpha, &unicode__n_alpha}},
    [UNICODE_CNTRL] = {{unicode__cntrl, &unicode__n_cntrl}},
    [UNICODE_XDIGIT] = {{digits, &one}, {xletters, &two}},
};

const struct unicode_range *unicode_class_table(enum unicode_class cls, unsigned i, size_t *ret_n)
{
    /* print is graph and the spaces: the one class of four tables. */
    if (cls == UNICODE_PRINT && i > 0) {
        cls = UNICODE_GRAPH;
        i--;
    }
    if (i >= 3 || !parts[cls][i].r)
        return NULL;
    *ret_n = *parts[cls][i].n;
    return parts[cls][i].r;
}

static bool in_ranges(const struct unicode_range *r, size_t n, uint32_t c)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (c > r[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && c >= r[lo].lo;
}

bool unicode_is(enum unicode_class cls, uint32_t c)
{
    const struct unicode_range *r;
    size_t n;
    for (unsigned i = 0; (r = unicode_class_table(cls, i, &n)); i++) {
        if (in_ranges(r, n, c))
            return true;
    }
    return false;
}

bool unicode_is_word(uint32_t c)
{
    if (c < 0x80)
        return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
    return in_ranges(unicode__alpha, unicode__n_alpha, c);
}

int unicode_width(uint32_t c)
{
    size_t lo = 0, hi = unicode__n_widths;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (unicode__widths[mid] >> 2 <= c)
            lo = mid;
        else
            hi = mid;
    }
    return (int)(unicode__widths[lo] & 3) - 1;
}

static uint32_t map_case(const struct unicode_map *m, size_t n, uint32_t c)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (c > m[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == n || c < m[lo].lo || (c - m[lo].lo) % m[lo].step != 0)
        return c;
    return (uint32_t)((int32_t)c + m[lo].delta);
}

uint32_t unicode_upper(uint32_t c)
{
    if (c < 0x80)
        return c >= 'a' && c <= 'z' ? c - 32 : c;
    return map_case(unicode__to_upper, unicode__n_to_upper, c);
}

uint32_t unicode_lower(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    return map_case(unicode__to_lower, unicode__n_to_lower, c);
}

const struct unicode_map *unicode_upper_table(size_t *ret_n)
{
    *ret_n = unicode__n_to_upper;
    return unicode__to_upper;
}

unsigned unicode_decode(const char *p, size_t n, uint32_t *ret)
{
    const unsigned char *s = (const unsigned char *)p;
    if (n == 0)
        return 0;
    uint32_t c = s[0];
    if (c < 0x80) {
        *ret = c;
        return 1;
    }
    unsigned len = c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (len == 0 || n < len)
        return 0;
    c &= 0xffu >> (len + 1);
    for (unsigned i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < least[len] || c > UNICODE_MAX || (c >= 0xd800 && c < 0xe000))
        return 0;
    *ret = c;
    return len;
}

unsigned unicode_decode_back(const char *begin, const char *p, uint32_t *ret)
{
    for (unsigned k = 1; k <= 4 && (size_t)(p - begin) >= k; k++) {
        unsigned char b = (unsigned char)p[-(ptrdiff_t)k];
        if ((b & 0xc0) == 0x80)
            continue;
        uint32_t c = 0;
        if (unicode_decode(p - k, k, &c) != k)
            return 0;
        *ret = c;
        return k;
    }
    return 0;
}

unsigned unicode_encode(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    unsigned len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (unsigned i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    out[0] = (char)((0xf00u >> len) | c);
    return len;
}
