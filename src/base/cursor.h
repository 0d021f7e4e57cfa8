/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * cursor - reads little-endian fields from bytes that came from outside, never past their end.
 *
 * A read that does not fit sets `bad` and yields 0 or an empty str; callers decode a whole message and check
 * cursor_ok() once, which also demands that nothing is left over.
 */

#include "base/str.h"

struct cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool bad;
};

/* Starts at the first of @n bytes. */
static inline struct cursor cursor_of(const void *p, size_t n)
{
    const uint8_t *b = (const uint8_t *)p;
    return (struct cursor){b, n ? b + n : b, false};
}

/* The next unsigned number of 1, 4 or 8 bytes. */
uint8_t cursor_u8(struct cursor *c);
/* See cursor_u8(). */
uint32_t cursor_u32(struct cursor *c);
/* See cursor_u8(). */
uint64_t cursor_u64(struct cursor *c);

/* A number as varint_put() writes it; another form of it is bad. */
uint64_t cursor_varint(struct cursor *c);

/* The next @n bytes, borrowed from the input. */
struct str cursor_bytes(struct cursor *c, uint64_t n);

/* A u32 length and that many bytes, borrowed from the input. */
struct str cursor_str(struct cursor *c);

/* True when every read fitted and nothing is left. */
static inline bool cursor_ok(const struct cursor *c)
{
    return !c->bad && c->p == c->end;
}
