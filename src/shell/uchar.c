/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/uchar_int.h"

uint32_t uchar__decode(const char *p, size_t n, size_t *ret_len)
{
    uint32_t c = UCHAR_BAD;
    unsigned len = unicode_decode(p, n, &c);
    *ret_len = len ? len : 1;
    return c;
}

size_t uchar_put(uint32_t c, char out[4])
{
    return unicode_encode(c, out);
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
    static const enum unicode_class same[] = {
        [UCHAR_ALPHA] = UNICODE_ALPHA, [UCHAR_UPPER] = UNICODE_UPPER, [UCHAR_LOWER] = UNICODE_LOWER,
        [UCHAR_DIGIT] = UNICODE_DIGIT, [UCHAR_ALNUM] = UNICODE_ALNUM, [UCHAR_PUNCT] = UNICODE_PUNCT,
        [UCHAR_SPACE] = UNICODE_SPACE, [UCHAR_BLANK] = UNICODE_BLANK, [UCHAR_CNTRL] = UNICODE_CNTRL,
        [UCHAR_PRINT] = UNICODE_PRINT, [UCHAR_GRAPH] = UNICODE_GRAPH, [UCHAR_XDIGIT] = UNICODE_XDIGIT,
    };
    if (c < 0x80)
        return ascii_is(c, cls);
    if (!utf8 || c > UNICODE_MAX || cls >= UCHAR_ASCII)
        return false;
    return cls == UCHAR_WORD ? unicode_is_word(c) : unicode_is(same[cls], c);
}
