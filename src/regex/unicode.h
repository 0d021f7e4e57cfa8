/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * unicode - what a C.UTF-8 locale knows of characters: UTF-8 itself, the twelve POSIX classes, simple case mapping,
 * widths. The shell and its commands use it as well.
 *
 * The tables (unicode_tab.c) are printed by test/gen_unicode.c from the C library's C.UTF-8 locale, and the test
 * compares them with it. They are ours so that nothing of the host's locale files is needed at run time.
 *
 * UTF-8 is strict: no surrogates, nothing above U+10FFFF, no overlong forms. A byte that begins no such sequence is not
 * a character.
 */

#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

enum unicode_class {
    UNICODE_ALPHA,
    UNICODE_DIGIT,
    UNICODE_ALNUM,
    UNICODE_UPPER,
    UNICODE_LOWER,
    UNICODE_SPACE,
    UNICODE_BLANK,
    UNICODE_PUNCT,
    UNICODE_PRINT,
    UNICODE_GRAPH,
    UNICODE_CNTRL,
    UNICODE_XDIGIT,
};
#define UNICODE_N_CLASSES 12
#define UNICODE_MAX 0x10ffffu

struct unicode_range {
    uint32_t lo, hi; /* both inside */
};

/* Characters lo, lo + step, ... hi map to themselves plus delta. */
struct unicode_map {
    uint32_t lo, hi;
    int32_t delta;
    uint32_t step;
};

/* The class called @name ("alpha", ...): 0 or -ENOENT. */
int unicode_class_find(struct str name, enum unicode_class *ret) __attribute__((warn_unused_result));

/* Whether @c is in @cls, as iswctype() says in C.UTF-8. */
bool unicode_is(enum unicode_class cls, uint32_t c);

/* Whether @c is a letter, a digit or '_'. */
bool unicode_is_word(uint32_t c);

/* A class is the union of up to three tables: the @i-th, or NULL when there are no more. */
const struct unicode_range *unicode_class_table(enum unicode_class cls, unsigned i, size_t *ret_n);

/* Columns of @c: 0-2, or -1 when it does not print, as wcwidth() and iswprint() say in C.UTF-8. */
int unicode_width(uint32_t c);

/* Simple case mapping, as towupper() and towlower() in C.UTF-8. */
uint32_t unicode_upper(uint32_t c);
/* See unicode_upper(). */
uint32_t unicode_lower(uint32_t c);

/* The table behind unicode_upper(), in order. */
const struct unicode_map *unicode_upper_table(size_t *ret_n);

/* Length in bytes (1-4) of the character at @p, which has @n bytes left, and the character; 0 when it is none (*ret
 * untouched). */
unsigned unicode_decode(const char *p, size_t n, uint32_t *ret);

/* Length of the character that ends right before @p, looking back at most to @begin; 0 when none does. */
unsigned unicode_decode_back(const char *begin, const char *p, uint32_t *ret);

/* Writes @c (a valid character) to @out (4 bytes) and returns the length. */
unsigned unicode_encode(uint32_t c, char *out);

#ifdef __cplusplus
}
#endif
