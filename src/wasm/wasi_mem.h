/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * wasi_mem - the guest's linear memory, with each access checked.
 *
 * A guest's pointer is an offset. wasi_in() says whether a range lies inside; nothing else in this module turns an
 * offset into an address but wasi_at(), after it. Ranges are added up in 64 bits, where 32-bit numbers cannot wrap.
 * WebAssembly is little-endian, as are the machines that this is built for, and knows no alignment.
 */

#include "types/limits.h"
#include "wasm/wasi.h"

#include <string.h>

/* Whether @n bytes at @p are inside. The end itself is inside when @n is 0. */
static inline bool wasi_in(const struct wasi *w, uint64_t p, uint64_t n)
{
    return p <= w->mem_n && n <= w->mem_n - p;
}

/* Whether @count structs of @size bytes at @p are inside. */
static inline bool wasi_in_array(const struct wasi *w, uint32_t p, uint32_t count, uint32_t size)
{
    return wasi_in(w, p, (uint64_t)count * size);
}

/* The address of offset @p, which was checked. A program without memory has NULL, to which C adds nothing, not even 0;
 * hence the numbers. */
static inline uint8_t *wasi_at(const struct wasi *w, uint64_t p)
{
    return (uint8_t *)((uintptr_t)w->mem + (uintptr_t)p);
}

/* Reads at a checked offset. */
static inline uint16_t wasi_get16(const struct wasi *w, uint64_t p)
{
    uint16_t v;
    memcpy(&v, wasi_at(w, p), sizeof v);
    return v;
}

/* See wasi_get16(). */
static inline uint32_t wasi_get32(const struct wasi *w, uint64_t p)
{
    uint32_t v;
    memcpy(&v, wasi_at(w, p), sizeof v);
    return v;
}

/* See wasi_get16(). */
static inline uint64_t wasi_get64(const struct wasi *w, uint64_t p)
{
    uint64_t v;
    memcpy(&v, wasi_at(w, p), sizeof v);
    return v;
}

/* Writes at a checked offset. */
static inline void wasi_put16(const struct wasi *w, uint64_t p, uint16_t v)
{
    memcpy(wasi_at(w, p), &v, sizeof v);
}

/* See wasi_put16(). */
static inline void wasi_put32(const struct wasi *w, uint64_t p, uint32_t v)
{
    memcpy(wasi_at(w, p), &v, sizeof v);
}

/* See wasi_put16(). */
static inline void wasi_put64(const struct wasi *w, uint64_t p, uint64_t v)
{
    memcpy(wasi_at(w, p), &v, sizeof v);
}

/* Copies @n bytes to a checked offset. */
static inline void wasi_put(const struct wasi *w, uint64_t p, const void *from, size_t n)
{
    if (n)
        memcpy(wasi_at(w, p), from, n);
}

/* The bytes at a checked offset, borrowed. */
static inline struct str wasi_str(const struct wasi *w, uint32_t p, uint32_t n)
{
    return str_of((const char *)wasi_at(w, p), n);
}
