/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * buf - a growing run of bytes with a limit set at birth.
 *
 * There is always a NUL after the last byte, so buf.p is a C string when it holds no NUL itself.
 * Errors stick: after a failed add, buf.err holds -EFBIG (limit) or -ENOMEM, the contents stay as they
 * were at the failure, and further adds do nothing. Callers may check each call or once at the end.
 *
 * Invariants: n <= max; p[n] == 0 (p points to a static "" while nothing is allocated); cap > n or p static.
 */

#include "base/str.h"

#include <stdarg.h>

struct buf {
    char *p;
    size_t n;
    size_t cap; /* allocated bytes, 0 while nothing is */
    size_t max; /* most bytes it may hold */
    int err;    /* 0, -EFBIG or -ENOMEM */
};

/* An empty buffer that never holds more than @max bytes. Allocates nothing. */
void buf_init(struct buf *b, size_t max);

/* Frees; the buffer is empty and reusable after. Accepts a zeroed struct. */
void buf_done(struct buf *b);

/* Empties, clears the error, keeps the allocation. */
void buf_clear(struct buf *b);

/* Makes room for @n more bytes: 0, -EFBIG, -ENOMEM. */
int buf_reserve(struct buf *b, size_t n);

/* Appends bytes: 0 or the sticky error. */
int buf_add(struct buf *b, const void *p, size_t n);

/* Appends a str. */
static inline int buf_adds(struct buf *b, struct str s)
{
    return buf_add(b, s.p, s.n);
}

/* Appends a C string. */
static inline int buf_addc(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

/* Appends one byte. */
static inline int buf_putc(struct buf *b, char c)
{
    if (b->n + 1 < b->cap && b->n < b->max && b->err == 0) {
        b->p[b->n++] = c;
        b->p[b->n] = 0;
        return 0;
    }
    return buf_add(b, &c, 1);
}

/* Appends as printf does. */
int buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends as vprintf does. */
int buf_vaddf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Appends a signed decimal number; faster than buf_addf(). */
int buf_addi(struct buf *b, int64_t v);

/* Inserts bytes at offset @at (<= n). */
int buf_insert(struct buf *b, size_t at, const void *p, size_t n);

/* Shortens to @n bytes (n <= b->n). */
void buf_trunc(struct buf *b, size_t n);

/* The contents, borrowed until the next change. */
static inline struct str buf_str(const struct buf *b)
{
    return str_of(b->p, b->n);
}

/* Gives the contents away as a NUL-terminated heap string (free with mem_free) and empties the buffer. */
char *buf_take(struct buf *b);
#define BUF_AUTO __attribute__((cleanup(buf_done)))
