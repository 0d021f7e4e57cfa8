/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* printf_num - what printf's numeric conversions look like, with widths and precisions of any size kept as counts of
 * padding. */

#include "base/str.h"

struct printf_spec {
    bool minus, plus, space, alt, zero, group, other_digits; /* flags - + ' ' # 0 ' I */
    bool has_prec, plain;                                    /* plain: the letter stands right behind the '%' */
    int64_t width;                                           /* 0: none */
    int64_t prec;                                            /* -1: none */
};

/* A field: prefix, zeros, then the text with `more` zeros put in at `at`. */
struct printf_num {
    char prefix[4]; /* sign, 0x */
    uint8_t prefix_n;
    bool no_zero; /* the 0 flag does not apply */
    int64_t zeros, more;
    const char *p;
    size_t n, at;
    char text[512];
};

/* %d %i %o %u %x %X of the 64 bits in @v. */
void printf_num_int(struct printf_num *f, const struct printf_spec *s, char conv, int64_t v);

/* %f %F %e %E %g %G %a %A. *ret_heap (mem_free) holds the text when it is long. False: memory is short. */
bool printf_num_float(struct printf_num *f, const struct printf_spec *s, char conv, long double v, char **ret_heap);
