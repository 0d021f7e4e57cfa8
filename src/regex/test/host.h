/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * host - the C library's matcher, the reference of the tests. Its names are banned in the product, so the tests reach
 * it by its symbols. There are patterns on which it loops or eats memory, so it runs in a child process with limits.
 */

#include "base/str.h"
#include "regex/regex.h"

#define HOST_SPANS 12
#define HOST_TEXTS 16

struct host_text {
    const char *text; /* NUL-terminated */
    unsigned eflags;
    int found; /* 1, 0, or -1 when the C library did not end */
    struct regex_span spans[HOST_SPANS];
};

/* Compiles @pattern with the C library and searches @n texts; the locale is the caller's. 0, or its error number with
 * the text in @msg; -1 when it did not even compile in time. */
int host_search(const char *pattern, unsigned flags, struct host_text *texts, size_t n, char msg[128]);
