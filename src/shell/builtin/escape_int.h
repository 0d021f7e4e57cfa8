/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * escape - backslash sequences of echo -e, of printf's format and of %b, as bash 5.2 and as coreutils 9.1 read them.
 */

#include "base/str.h"

enum escape_kind {
    ESCAPE_ECHO,       /* bash's echo -e */
    ESCAPE_FORMAT,     /* bash's printf, the format */
    ESCAPE_B,          /* bash's printf, an argument of %b */
    ESCAPE_GNU_ECHO,   /* the same of /usr/bin/echo … */
    ESCAPE_GNU_FORMAT, /* … and /usr/bin/printf */
    ESCAPE_GNU_B,
};

enum escape_fault {
    ESCAPE_OK,
    ESCAPE_NO_HEX,     /* \x without a digit */
    ESCAPE_NO_UNICODE, /* \u or \U with too few digits */
    ESCAPE_BAD_NAME,   /* GNU: no universal character name that C allows */
};

struct escape {
    char text[12]; /* what it stands for */
    uint8_t n;
    bool stop; /* \c: no more output */
    enum escape_fault fault;
    char letter;   /* 'u' or 'U', for a message */
    uint32_t code; /* likewise */
};

/* Decodes the sequence at @p (a backslash, @n > 0 bytes are there) and returns its length. One that means nothing
 * stands for itself. */
size_t escape_decode(enum escape_kind kind, bool utf8, const char *p, size_t n, struct escape *ret);
