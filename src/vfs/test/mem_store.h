/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * mem_store - a store in memory in place of the real one: stands behind cas/store.h's put and get, counts, and can lose
 * blobs and fail at will.
 */

#include "cas/store.h"

struct mem_store_stat {
    uint64_t blobs, bytes;    /* held */
    uint64_t puts, new_bytes; /* since mem_store_count() */
    uint64_t fetched;
};

/* An empty store. */
struct cas *mem_store_new(void);
/* Frees it. */
void mem_store_free(struct cas *c);
/* Figures so far; what counts since the last call begins anew. */
struct mem_store_stat mem_store_count(struct cas *c);
/* Takes a blob away: whether it was there. */
bool mem_store_lose(struct cas *c, const struct cas_id *id);
/* The @n-th put from now on fails with @error (0: none does). */
void mem_store_fail(struct cas *c, uint64_t n, int error);
/* Calls @fn for each blob. */
void mem_store_each(struct cas *c, void (*fn)(void *arg, const struct cas_id *id, struct str data), void *arg);
