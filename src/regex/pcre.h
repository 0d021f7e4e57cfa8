/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * pcre - Perl's regular expressions (grep -P) by PCRE2, linked statically.
 *
 * The interpreter only: a worker makes no executable memory. Match, depth, heap and nesting limits are set, so every
 * call ends. Memory is charged to the session (mem_try). With REGEX_UTF8 text that is no UTF-8 is a barrier no match
 * crosses. Flags that count are REGEX_ICASE, REGEX_UTF8, REGEX_WORD, REGEX_LINE and REGEX_NEWLINE (^ and $ match at
 * newlines inside the text).
 *
 * Threads: one thread at a time uses a pattern.
 */

#include "regex/regex.h"

#ifdef __cplusplus
extern "C" {
#endif

struct regex_pcre;

#define REGEX_PCRE_MSG 256

/* Compiles: 0, or -EINVAL (PCRE2's text in @msg, REGEX_PCRE_MSG bytes, may be NULL), -EFBIG or -ENOMEM (text too). */
int regex_pcre_compile(struct str pattern, unsigned flags, struct regex_pcre **ret, char *msg)
    __attribute__((warn_unused_result));

/* Frees; accepts NULL. */
void regex_pcre_free(struct regex_pcre *re);

/* Number of groups. */
size_t regex_pcre_groups(const struct regex_pcre *re);

/* Searches from @start, as regex_exec(): 1, 0, -E2BIG (backtracking limit), -ENOBUFS (depth or heap limit), -ENOMEM, or
 * -EIO for what PCRE2 says must not happen. Of the eflags REGEX_NOTBOL, REGEX_NOTEOL and REGEX_ANCHORED count. */
int regex_pcre_exec(struct regex_pcre *re, struct str text, size_t start, unsigned eflags, struct regex_span *spans,
                    size_t n_spans) __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif
