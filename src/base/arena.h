/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * arena - allocations of one parse, one command or one request, freed together.
 *
 * Bump allocation in chunks from mem_alloc(). A mark taken with arena_mark() lets everything after it be
 * given back by arena_reset(). Memory is 16-byte aligned. Not for single sizes a guest chooses freely:
 * those go through arena_try(), which returns NULL at the account's limit.
 */

#include "base/str.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunk; /* the newest */
    char *p;                   /* next free byte */
    char *end;
};

struct arena_mark {
    struct arena_chunk *chunk;
    char *p;
};

/* An empty arena; allocates nothing. */
static inline void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

/* Frees everything; reusable after. Accepts a zeroed struct. */
void arena_done(struct arena *a);

/* The slow path of arena_alloc(). */
void *arena_grow(struct arena *a, size_t n) __attribute__((returns_nonnull));

/* @n bytes, uninitialised, 16-byte aligned; aborts on host OOM. */
static inline void *arena_alloc(struct arena *a, size_t n)
{
    size_t m = (n + 15) & ~(size_t)15;
    if (m >= n && (size_t)(a->end - a->p) >= m && a->p) {
        void *r = a->p;
        a->p += m;
        return r;
    }
    return arena_grow(a, n);
}

/* As arena_alloc(), zeroed. */
void *arena_zalloc(struct arena *a, size_t n) __attribute__((returns_nonnull));

/* As arena_alloc(), but NULL when the current account's limit does not allow it. */
void *arena_try(struct arena *a, size_t n) __attribute__((warn_unused_result));

/* A NUL-terminated copy of @n bytes. */
char *arena_dup(struct arena *a, const char *p, size_t n) __attribute__((returns_nonnull));

/* A copy of @s (NUL-terminated behind its end). */
static inline struct str arena_str(struct arena *a, struct str s)
{
    return str_of(arena_dup(a, s.p, s.n), s.n);
}

/* printf into the arena. For texts below 2 GiB (one string of LIMIT_STRING fits). */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A position to go back to. */
static inline struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->chunk, a->p};
}

/* Gives back everything allocated after @m was taken. */
void arena_reset(struct arena *a, struct arena_mark m);

/* One zeroed object. */
#define ARENA_NEW(a, T) ((T *)arena_zalloc((a), sizeof(T)))
#define ARENA_AUTO __attribute__((cleanup(arena_done)))
