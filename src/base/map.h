/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * map - a hash table from bytes to a pointer, which also keeps insertion order.
 *
 * Open addressing over a dense entry array. Keys are copied; values are the caller's. Hashes are seeded per
 * process (map_seed()) so that a guest cannot choose collisions. Iteration goes in insertion order, and
 * deleting while iterating is allowed, inserting is not.
 *
 *   struct map_iter it = {0};
 *   while (map_next(&m, &it)) use(it.key, it.val);
 */

#include "base/str.h"

struct map_entry {
    char *key; /* NULL: a hole left by a deletion */
    uint32_t key_len;
    uint32_t hash;
    void *val;
};

struct map {
    struct map_entry *entries;
    uint32_t *slots;  /* index + 1 into entries, 0 empty */
    uint32_t n_slots; /* power of two, or 0 */
    uint32_t n_used;  /* entries in use, holes included */
    uint32_t cap;
    uint32_t count; /* live entries */
};

struct map_iter {
    uint32_t i;
    struct str key;
    void *val;
};

/* An empty map; allocates nothing. A zeroed struct is one too. */
static inline void map_init(struct map *m)
{
    *m = (struct map){0};
}

/* Fixes the seed of every later hash (not 0), for runs that must repeat; call it before the first map_set(). Without
 * it the first use asks the kernel for one. */
void map_seed(uint64_t seed);

/* Frees the table and the keys, not the values. */
void map_done(struct map *m);

/* The value of @key, or NULL. */
void *map_get(const struct map *m, struct str key);

/* Sets @key to @val (not NULL) and returns the value it had, or NULL. */
void *map_set(struct map *m, struct str key, void *val);

/* Removes @key and returns its value, or NULL. */
void *map_del(struct map *m, struct str key);

/* Steps to the next entry: false at the end. */
bool map_next(const struct map *m, struct map_iter *it);

/* Entries in the map. */
static inline size_t map_count(const struct map *m)
{
    return m->count;
}
