/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * quote - names made fit for messages and listings, in the styles of GNU's --quoting-style.
 *
 * A name is bytes; in a UTF-8 locale characters that are printable stay, all else is escaped or left as the style says.
 * The two cmd_quote*() calls of cmd.h stand on this.
 */

#include "base/str.h"

struct buf;

enum quote_style {
    QUOTE_LITERAL,
    QUOTE_SHELL, /* quoted when a shell would need it */
    QUOTE_SHELL_ALWAYS,
    QUOTE_SHELL_ESCAPE, /* as SHELL, with $'…' around what does not print */
    QUOTE_SHELL_ESCAPE_ALWAYS,
    QUOTE_C,       /* "a\nb" */
    QUOTE_C_MAYBE, /* as C, without quotes when nothing needs them */
    QUOTE_ESCAPE,  /* as C, never with quotes */
    QUOTE_LOCALE,  /* ‘a’ in UTF-8, else 'a' */
    QUOTE_CLOCALE, /* ‘a’ in UTF-8, else "a" */
};

struct quote_opts {
    enum quote_style style;
    bool utf8;
    const char *extra; /* further characters that need quoting, or NULL */
};

/* Appends @s quoted to @out. */
void quote_add(struct buf *out, struct str s, const struct quote_opts *o);
