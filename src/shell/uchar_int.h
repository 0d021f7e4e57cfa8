/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * uchar - characters of UTF-8 text as the shell reads it: decoding and classes, by the tables of regex/unicode.h. A
 * guest's LC_ALL decides between them and those of the C locale, and must not change the host process.
 *
 * A byte that begins no valid sequence is a character of its own; it decodes to UCHAR_BAD.
 */

#include "base/str.h"
#include "regex/unicode.h"

#define UCHAR_BAD UINT32_MAX

enum uchar_class {
    UCHAR_ALPHA,
    UCHAR_UPPER,
    UCHAR_LOWER,
    UCHAR_DIGIT,
    UCHAR_ALNUM,
    UCHAR_PUNCT,
    UCHAR_SPACE,
    UCHAR_BLANK,
    UCHAR_CNTRL,
    UCHAR_PRINT,
    UCHAR_GRAPH,
    UCHAR_XDIGIT,
    UCHAR_WORD,
    UCHAR_ASCII,
    UCHAR_NONE,
};

/* The slow path of uchar_get(): the sequence at @p of at most @n > 0 bytes. */
uint32_t uchar__decode(const char *p, size_t n, size_t *ret_len);

/* The character at @p (@n > 0 bytes are there) and its length; UCHAR_BAD and 1 when it is not valid UTF-8 (RFC 3629).
 */
static inline uint32_t uchar_get(const char *p, size_t n, size_t *ret_len)
{
    if ((unsigned char)*p < 0x80) {
        *ret_len = 1;
        return (unsigned char)*p;
    }
    return uchar__decode(p, n, ret_len);
}

/* Writes @c (< 0x110000) as UTF-8 and returns how many bytes it took, 1..4. */
size_t uchar_put(uint32_t c, char out[4]);

/* Whether all of @s is valid UTF-8. */
bool uchar_valid(struct str s);

/* Whether all of @s is ASCII. */
bool uchar_ascii(struct str s);

/* Characters in @s; with @utf8 false, bytes. */
size_t uchar_count(struct str s, bool utf8);

/* Byte offset of character number @k of @s (s.n when there are fewer). */
size_t uchar_offset(struct str s, size_t k, bool utf8);

/* The class called @name ("alpha"), or UCHAR_NONE. */
enum uchar_class uchar_class_find(struct str name);

/* Whether @c is of the class, as in C.UTF-8; with @utf8 false, as in C. */
bool uchar_is(uint32_t c, enum uchar_class cls, bool utf8);
