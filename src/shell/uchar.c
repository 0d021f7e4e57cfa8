/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/uchar_int.h"

uint32_t uchar__decode(const char *p, size_t n, size_t *ret_len)
{
    const unsigned char *u = (const unsigned char *)p;
    uint32_t c = u[0], min;
    size_t len;
    *ret_len = 1;
    if (c < 0x80)
        return c;
    if (c >= 0xc2 && c < 0xe0) {
        len = 2;
        c &= 0x1f;
        min = 0x80;
    } else if (c >= 0xe0 && c < 0xf0) {
        len = 3;
        c &= 0x0f;
        min = 0x800;
    } else if (c >= 0xf0 && c < 0xf5) {
        len = 4;
        c &= 0x07;
        min = 0x10000;
    } else {
        return UCHAR_BAD;
    }
    if (n < len)
        return UCHAR_BAD;
    for (size_t i = 1; i < len; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return UCHAR_BAD;
        c = c << 6 | (u[i] & 0x3f);
    }
    if (c < min || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return UCHAR_BAD;
    *ret_len = len;
    return c;
}

size_t uchar_put(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | (c >> 18 & 7));
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* Bytes at the start of @s that are ASCII, eight at a time. */
static size_t ascii_run(struct str s)
{
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        uint64_t w;
        memcpy(&w, s.p + i, 8);
        if (w & UINT64_C(0x8080808080808080))
            break;
    }
    while (i < s.n && (unsigned char)s.p[i] < 0x80)
        i++;
    return i;
}

bool uchar_ascii(struct str s)
{
    return ascii_run(s) == s.n;
}

bool uchar_valid(struct str s)
{
    size_t i = 0;
    for (;;) {
        i += ascii_run(str_from(s, i));
        if (i >= s.n)
            return true;
        size_t len;
        if (uchar__decode(s.p + i, s.n - i, &len) == UCHAR_BAD)
            return false;
        i += len;
    }
}

size_t uchar_count(struct str s, bool utf8)
{
    if (!utf8)
        return s.n;
    size_t i = 0, count = 0;
    for (;;) {
        size_t run = ascii_run(str_from(s, i));
        i += run;
        count += run;
        if (i >= s.n)
            return count;
        size_t len;
        (void)uchar__decode(s.p + i, s.n - i, &len);
        i += len;
        count++;
    }
}

size_t uchar_offset(struct str s, size_t k, bool utf8)
{
    if (!utf8)
        return k < s.n ? k : s.n;
    size_t i = 0;
    for (; k && i < s.n; k--) {
        size_t len;
        (void)uchar_get(s.p + i, s.n - i, &len);
        i += len;
    }
    return i;
}

enum uchar_class uchar_class_find(struct str name)
{
    static const char *const names[] = {"alpha", "upper", "lower", "digit", "alnum",  "punct", "space",
                                        "blank", "cntrl", "print", "graph", "xdigit", "word",  "ascii"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_eqc(name, names[i]))
            return (enum uchar_class)i;
    return UCHAR_NONE;
}

static const struct uchar_range *range_find(uint32_t c, const struct uchar_range *t, size_t n)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (c > t[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    /* Ranges of step 2 may interleave (upper and lower letters in turn), so the neighbour can hold it as well. */
    for (; lo < n && t[lo].lo <= c; lo++)
        if (c <= t[lo].hi && (c - t[lo].lo) % (uint32_t)t[lo].step == 0)
            return &t[lo];
    return NULL;
}

static bool ascii_is(uint32_t c, enum uchar_class cls)
{
    bool upper = c - 'A' < 26u, lower = c - 'a' < 26u, digit = c - '0' < 10u, graph = c > 0x20 && c < 0x7f;
    switch (cls) {
    case UCHAR_ALPHA:
        return upper || lower;
    case UCHAR_UPPER:
        return upper;
    case UCHAR_LOWER:
        return lower;
    case UCHAR_DIGIT:
        return digit;
    case UCHAR_ALNUM:
        return upper || lower || digit;
    case UCHAR_WORD:
        return upper || lower || digit || c == '_';
    case UCHAR_PUNCT:
        return graph && !upper && !lower && !digit;
    case UCHAR_SPACE:
        return c == ' ' || c - '\t' < 5u;
    case UCHAR_BLANK:
        return c == ' ' || c == '\t';
    case UCHAR_CNTRL:
        return c < 0x20 || c == 0x7f;
    case UCHAR_PRINT:
        return graph || c == ' ';
    case UCHAR_GRAPH:
        return graph;
    case UCHAR_XDIGIT:
        return digit || c - 'A' < 6u || c - 'a' < 6u;
    case UCHAR_ASCII:
        return c < 0x80;
    case UCHAR_NONE:
        break;
    }
    return false;
}

bool uchar_is(uint32_t c, enum uchar_class cls, bool utf8)
{
    if (c < 0x80)
        return ascii_is(c, cls);
    if (!utf8 || c == UCHAR_BAD)
        return false;
    switch (cls) {
    case UCHAR_ALPHA:
    case UCHAR_ALNUM:
    case UCHAR_WORD:
        return range_find(c, uchar__alpha, uchar__n_alpha) != NULL;
    case UCHAR_UPPER:
        return range_find(c, uchar__upper, uchar__n_upper) != NULL;
    case UCHAR_LOWER:
        return range_find(c, uchar__lower, uchar__n_lower) != NULL;
    case UCHAR_SPACE:
        return range_find(c, uchar__space, uchar__n_space) != NULL;
    case UCHAR_BLANK: /* all spaces but the two separators of lines and paragraphs */
        return c != 0x2028 && c != 0x2029 && range_find(c, uchar__space, uchar__n_space) != NULL;
    case UCHAR_CNTRL:
        return c < 0xa0 || c == 0x2028 || c == 0x2029;
    case UCHAR_PRINT:
        return range_find(c, uchar__print, uchar__n_print) != NULL;
    case UCHAR_GRAPH:
        return uchar_is(c, UCHAR_PRINT, true) && !uchar_is(c, UCHAR_SPACE, true);
    case UCHAR_PUNCT:
        return uchar_is(c, UCHAR_GRAPH, true) && !uchar_is(c, UCHAR_ALPHA, true);
    case UCHAR_DIGIT:
    case UCHAR_XDIGIT:
    case UCHAR_ASCII:
    case UCHAR_NONE:
        break;
    }
    return false;
}

uint32_t uchar_upper(uint32_t c)
{
    if (c < 0x80)
        return c - 'a' < 26u ? c - 32 : c;
    const struct uchar_range *r = range_find(c, uchar__toupper, uchar__n_toupper);
    return r ? (uint32_t)((int32_t)c + r->delta) : c;
}

uint32_t uchar_lower(uint32_t c)
{
    if (c < 0x80)
        return c - 'A' < 26u ? c + 32 : c;
    const struct uchar_range *r = range_find(c, uchar__tolower, uchar__n_tolower);
    return r ? (uint32_t)((int32_t)c + r->delta) : c;
}
