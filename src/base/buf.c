/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"

#define BUF_FIRST 64 /* bytes of the first allocation */

/* What an empty buffer points to. Never written: cap == 0 says so. */
static char nothing[1];

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.p = nothing, .max = max};
}

void buf_done(struct buf *b)
{
    if (b->cap)
        mem_free(b->p);
    buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->err = 0;
    if (b->cap)
        b->p[0] = 0;
}

static int fail(struct buf *b, int err)
{
    b->err = err;
    return err;
}

/* Makes cap hold @need bytes and a NUL; need <= max. */
static int grow(struct buf *b, size_t need)
{
    size_t cap = b->cap ? b->cap : BUF_FIRST;
    while (cap <= need) {
        if (!num_mul(cap, 2, &cap))
            return fail(b, -ENOMEM);
    }
    if (b->max < SIZE_MAX && cap > b->max + 1)
        cap = b->max + 1;
    char *p = mem_try_realloc(b->cap ? b->p : NULL, cap);
    if (!p)
        return fail(b, -ENOMEM);
    if (!b->cap)
        p[0] = 0;
    b->p = p;
    b->cap = cap;
    return 0;
}

int buf_reserve(struct buf *b, size_t n)
{
    size_t need;
    if (b->err)
        return b->err;
    if (!num_add(b->n, n, &need) || need > b->max)
        return fail(b, -EFBIG);
    if (need < b->cap || (need == 0 && b->cap == 0))
        return 0;
    return grow(b, need);
}

int buf_add(struct buf *b, const void *p, size_t n)
{
    int r = buf_reserve(b, n);
    if (r < 0 || n == 0)
        return r;
    memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = 0;
    return 0;
}

int buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    if (b->err)
        return b->err;
    va_copy(again, ap);
    size_t room = b->cap ? b->cap - b->n : 0;
    int n = vsnprintf(room ? b->p + b->n : NULL, room, fmt, ap);
    int r = n < 0 ? fail(b, -EFBIG) : buf_reserve(b, (size_t)n);
    if (r == 0 && n > 0 && (size_t)n >= room)
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
    va_end(again);
    if (r == 0)
        b->n += (size_t)n;
    else if (b->cap)
        b->p[b->n] = 0; /* the first attempt wrote a part behind the end */
    return r;
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int r = buf_vaddf(b, fmt, ap);
    va_end(ap);
    return r;
}

int buf_addi(struct buf *b, int64_t v)
{
    char text[20];
    char *p = text + sizeof(text);
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        *--p = '-';
    return buf_add(b, p, (size_t)(text + sizeof(text) - p));
}

int buf_insert(struct buf *b, size_t at, const void *p, size_t n)
{
    int r = buf_reserve(b, n);
    if (r < 0 || n == 0)
        return r;
    memmove(b->p + at + n, b->p + at, b->n - at + 1);
    memcpy(b->p + at, p, n);
    b->n += n;
    return 0;
}

void buf_trunc(struct buf *b, size_t n)
{
    b->n = n;
    if (b->cap)
        b->p[n] = 0;
}

char *buf_take(struct buf *b)
{
    char *p = b->cap ? b->p : mem_dup("", 0);
    buf_init(b, b->max);
    return p;
}
