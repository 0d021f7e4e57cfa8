/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/num.h"

/*
 * Chunks form a stack, newest first. A reset keeps one chunk that it empties as the `spare` of the chunk that stays, so
 * that a loop of mark, allocate, reset at a chunk's edge does not go to malloc each turn. Sanitizer builds keep
 * none, so that they see a use after reset.
 */
struct arena_chunk {
    struct arena_chunk *prev;
    struct arena_chunk *spare;
    char *end;
    char *pad; /* makes the header a multiple of 16 bytes */
};

#define CHUNK_FIRST 1008u /* bytes with the header; 1024 less what malloc adds */
#define CHUNK_MOST 65536u

#ifdef FRONTAL_SANITIZE
#define CHUNK_KEEP 0
#else
#define CHUNK_KEEP CHUNK_MOST /* no chunk above this size is kept as a spare */
#endif

_Static_assert(sizeof(struct arena_chunk) % 16 == 0, "allocations are 16-byte aligned");

static size_t chunk_size(const struct arena_chunk *c)
{
    return (size_t)(c->end - (const char *)c);
}

static char *chunk_start(struct arena_chunk *c)
{
    return (char *)(c + 1);
}

static void free_chunk(struct arena_chunk *c)
{
    mem_free(c->spare);
    mem_free(c);
}

void arena_done(struct arena *a)
{
    while (a->chunk) {
        struct arena_chunk *prev = a->chunk->prev;
        free_chunk(a->chunk);
        a->chunk = prev;
    }
    arena_init(a);
}

/* Makes @c, of @size bytes with its header, the newest chunk, and takes @n bytes of it. */
static void *push(struct arena *a, struct arena_chunk *c, size_t size, size_t n)
{
    c->prev = a->chunk;
    c->spare = NULL;
    c->end = (char *)c + size;
    a->chunk = c;
    a->p = chunk_start(c) + n;
    a->end = c->end;
    return chunk_start(c);
}

/* Size of a chunk that holds @n bytes: twice the last one's within bounds, or what @n needs. False on overflow. */
static bool next_size(const struct arena *a, size_t n, size_t *ret)
{
    size_t want = CHUNK_FIRST, need;
    if (!num_add(n, sizeof(struct arena_chunk) + 15, &need))
        return false;
    if (a->chunk)
        want = NUM_MIN(chunk_size(a->chunk) * 2, CHUNK_MOST);
    *ret = NUM_MAX(want, need) & ~(size_t)15;
    return true;
}

/* The spare of the newest chunk if it has room for @n bytes, else NULL. */
static struct arena_chunk *take_spare(struct arena *a, size_t n)
{
    struct arena_chunk *c = a->chunk ? a->chunk->spare : NULL;
    if (!c || chunk_size(c) - sizeof(*c) < n)
        return NULL;
    a->chunk->spare = NULL;
    return c;
}

void *arena_grow(struct arena *a, size_t n)
{
    size_t size = 0;
    ASSERT(n <= SIZE_MAX - 64);
    n = (n + 15) & ~(size_t)15;
    struct arena_chunk *c = take_spare(a, n);
    if (c)
        return push(a, c, chunk_size(c), n);
    ASSERT(next_size(a, n, &size));
    return push(a, mem_alloc(size), size, n);
}

void *arena_zalloc(struct arena *a, size_t n)
{
    return memset(arena_alloc(a, n), 0, n);
}

void *arena_try(struct arena *a, size_t n)
{
    size_t size, m;
    if (!num_add(n, 15, &m))
        return NULL;
    m &= ~(size_t)15;
    if (a->p && (size_t)(a->end - a->p) >= m) {
        void *r = a->p;
        a->p += m;
        return r;
    }
    struct arena_chunk *c = take_spare(a, m);
    if (c)
        return push(a, c, chunk_size(c), m);
    if (!next_size(a, m, &size))
        return NULL;
    c = mem_try(size);
    return c ? push(a, c, size, m) : NULL;
}

char *arena_dup(struct arena *a, const char *p, size_t n)
{
    char *q = arena_alloc(a, n + 1);
    if (n)
        memcpy(q, p, n);
    q[n] = 0;
    return q;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t room = a->p ? (size_t)(a->end - a->p) : 0;
    int n = vsnprintf(a->p, room, fmt, ap);
    ASSERT(n >= 0);
    char *q = arena_alloc(a, (size_t)n + 1);
    if ((size_t)n >= room)
        vsnprintf(q, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return q;
}

void arena_reset(struct arena *a, struct arena_mark m)
{
    struct arena_chunk *last = NULL; /* the oldest of those given back */
    while (a->chunk && a->chunk != m.chunk) {
        struct arena_chunk *c = a->chunk;
        a->chunk = c->prev;
        if (last)
            free_chunk(last);
        last = c;
    }
    if (last && chunk_size(last) > CHUNK_KEEP) {
        free_chunk(last);
        last = NULL;
    }
    if (a->chunk) {
        if (last && !a->chunk->spare) {
            mem_free(last->spare);
            last->spare = NULL;
            a->chunk->spare = last;
        } else if (last) {
            free_chunk(last);
        }
        a->p = m.p;
        a->end = a->chunk->end;
    } else if (last) {
        /* The mark was of the empty arena: its first chunk stays for the next use. */
        a->chunk = last;
        a->p = chunk_start(last);
        a->end = last->end;
    } else {
        arena_init(a);
    }
}
