/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * err - a failure that a person will read: a code and a sentence, in the caller's memory.
 *
 * Below `session`, functions return negative errno and nothing else. From `session` upward the last parameter is a
 * struct err *, which may be NULL. Nothing has to be freed.
 */

#include <stddef.h>

struct err {
    int code;       /* negative errno */
    char text[256]; /* a sentence without a full stop; cut if longer */
};

/* Fills @e (may be NULL) and returns @code, so that `return err_set(e, -EINVAL, "…")` reads well. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "context: " in front of the text of @e and returns its code. */
int err_wrap(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
