/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * wide - what commands need to know of Unicode characters: decoding, whether one prints, and its columns.
 *
 * The tables are those of regex/unicode.h; what is here decodes as the C library does, and knows ASCII without looking.
 */

#include "base/str.h"

/* Decodes one character of UTF-8, as mbrtowc(3) does (which also takes four bytes that stand for more than U+10FFFF),
 * at @p (n > 0 bytes): its length 1-4, or 0 when the bytes are not a character (also when cut). */
size_t wide_decode(const char *p, size_t n, uint32_t *ret);

/* Whether the bytes so far could begin a character that only lacks its end (mbrtowc's -2). */
bool wide_partial(const char *p, size_t n);

/* Columns of a character: 0-2, or -1 when it does not print (wcwidth(3), iswprint(3)). */
int wide_width(uint32_t ch);

/* iswspace(3). */
bool wide_space(uint32_t ch);
