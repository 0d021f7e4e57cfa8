/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * str - a borrowed run of bytes.
 *
 * A struct str looks at bytes that somebody else owns. It may hold any byte, NUL included, and is
 * not NUL-terminated. It is passed by value. An empty str may have p == NULL.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

/* A str of a string literal; the length is known at compile time. */
#define STR(lit) ((struct str){(lit), sizeof(lit) - 1})

/* Borrows @n bytes at @p. */
static inline struct str str_of(const char *p, size_t n)
{
    return (struct str){p, n};
}

/* Borrows a NUL-terminated string; NULL gives the empty str. */
static inline struct str str_c(const char *s)
{
    return (struct str){s, s ? strlen(s) : 0};
}

/* True if both hold the same bytes. */
static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* True if @a holds the bytes of the C string @s. */
static inline bool str_eqc(struct str a, const char *s)
{
    return str_eq(a, str_c(s));
}

/* Orders by unsigned bytes, shorter first on a tie: <0, 0, >0. */
int str_cmp(struct str a, struct str b);

/* True if @s begins with @prefix. */
static inline bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

/* True if @s ends with @suffix. */
static inline bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* The bytes from @from (clamped) to the end. */
static inline struct str str_from(struct str s, size_t from)
{
    from = from < s.n ? from : s.n;
    return from ? str_of(s.p + from, s.n - from) : s;
}

/* Offset of the first byte @c at or after @from, or -1. */
ptrdiff_t str_find(struct str s, char c, size_t from);

/* 64-bit hash of the bytes (wyhash-like, not for hostile-proof tables: see map.h for seeding). */
uint64_t str_hash(struct str s, uint64_t seed);

/* Parses a whole unsigned decimal number: 0, -EINVAL (not one) or -ERANGE (does not fit). */
int str_u64(struct str s, uint64_t *ret) __attribute__((warn_unused_result));

/* Parses a whole signed decimal number: 0, -EINVAL or -ERANGE. */
int str_i64(struct str s, int64_t *ret) __attribute__((warn_unused_result));
