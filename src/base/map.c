/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <errno.h>
#include <sys/random.h>

#include "base/assert.h"
#include "base/mem.h"

/*
 * A slot holds index + 1 into the entries. A deletion leaves the slot and a hole in the entries, so that probing past
 * it still works; both go when the table is made anew. Slots are at most three quarters full, holes included.
 */

#define MAP_FIRST 8u /* entries of the first allocation */

static uint64_t seed; /* 0: not chosen yet. Set once; a race writes one of two random values before any is used. */

void map_seed(uint64_t s)
{
    __atomic_store_n(&seed, s, __ATOMIC_RELAXED);
}

/* Picks the seed from the kernel. Without entropy (which Linux always has once it booted) the address of the stack and
 * of this program still differ from run to run. */
static __attribute__((cold, noinline)) uint64_t choose_seed(void)
{
    uint64_t s = 0, none = 0;
    ssize_t n;
    do
        n = getrandom(&s, sizeof(s), 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(s))
        s = (uint64_t)(uintptr_t)&s ^ (uint64_t)(uintptr_t)&seed << 17;
    s |= 1;
    return __atomic_compare_exchange_n(&seed, &none, s, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? s : none;
}

static inline uint32_t hash_of(struct str key)
{
    uint64_t s = __atomic_load_n(&seed, __ATOMIC_RELAXED);
    if (__builtin_expect(s == 0, 0))
        s = choose_seed();
    return (uint32_t)str_hash(key, s);
}

void map_done(struct map *m)
{
    for (uint32_t i = 0; i < m->n_used; i++)
        mem_free(m->entries[i].key);
    mem_free(m->entries);
    mem_free(m->slots);
    map_init(m);
}

/* The entry of @key, or NULL. */
static struct map_entry *find(const struct map *m, struct str key, uint32_t hash)
{
    if (m->count == 0)
        return NULL;
    uint32_t mask = m->n_slots - 1;
    for (uint32_t i = hash & mask; m->slots[i]; i = (i + 1) & mask) {
        struct map_entry *e = &m->entries[m->slots[i] - 1];
        if (e->hash == hash && e->key && str_eq(str_of(e->key, e->key_len), key))
            return e;
    }
    return NULL;
}

void *map_get(const struct map *m, struct str key)
{
    if (m->count == 0)
        return NULL;
    const struct map_entry *e = find(m, key, hash_of(key));
    return e ? e->val : NULL;
}

static void put_slot(struct map *m, uint32_t index)
{
    uint32_t mask = m->n_slots - 1;
    uint32_t i = m->entries[index].hash & mask;
    while (m->slots[i])
        i = (i + 1) & mask;
    m->slots[i] = index + 1;
}

/* Drops holes, and doubles when more than half of the entries live. */
static void rebuild(struct map *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_used; i++) {
        if (m->entries[i].key)
            m->entries[n++] = m->entries[i];
    }
    m->n_used = n;
    if (n >= m->cap / 2) {
        ASSERT(m->cap <= UINT32_MAX / 4);
        m->cap = m->cap ? m->cap * 2 : MAP_FIRST;
        m->entries = mem_realloc(m->entries, (size_t)m->cap * sizeof(*m->entries));
        mem_free(m->slots);
        /* cap is a power of two, so twice as many slots are at most half full. */
        m->n_slots = m->cap * 2;
        m->slots = mem_zalloc((size_t)m->n_slots * sizeof(*m->slots));
    } else {
        memset(m->slots, 0, (size_t)m->n_slots * sizeof(*m->slots));
    }
    for (uint32_t i = 0; i < n; i++)
        put_slot(m, i);
}

void *map_set(struct map *m, struct str key, void *val)
{
    ASSERT(val && key.n <= UINT32_MAX);
    uint32_t hash = hash_of(key);
    struct map_entry *e = find(m, key, hash);
    if (e) {
        void *before = e->val;
        e->val = val;
        return before;
    }
    if (m->n_used == m->cap)
        rebuild(m);
    m->entries[m->n_used] = (struct map_entry){mem_dup(key.p, key.n), (uint32_t)key.n, hash, val};
    put_slot(m, m->n_used++);
    m->count++;
    return NULL;
}

void *map_del(struct map *m, struct str key)
{
    if (m->count == 0)
        return NULL;
    struct map_entry *e = find(m, key, hash_of(key));
    if (!e)
        return NULL;
    void *val = e->val;
    mem_free(e->key);
    e->key = NULL;
    e->val = NULL;
    m->count--;
    return val;
}

bool map_next(const struct map *m, struct map_iter *it)
{
    while (it->i < m->n_used) {
        const struct map_entry *e = &m->entries[it->i++];
        if (e->key) {
            it->key = str_of(e->key, e->key_len);
            it->val = e->val;
            return true;
        }
    }
    return false;
}
