/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/cas_int.h"

#include <errno.h>

/* Ids are uniform, but a guest chooses what is hashed and may look for ids that begin alike: slots are seeded. */
static uint32_t slot_of(const struct table *t, const struct cas_id *id)
{
    return (uint32_t)str_hash(str_of((const char *)id->b, 16), t->seed) & (t->n_slots - 1);
}

void cas__table_done(struct table *t)
{
    mem_free(t->e);
    mem_free(t->slots);
    *t = (struct table){.seed = t->seed};
}

static void put_slot(struct table *t, uint32_t i)
{
    uint32_t s = slot_of(t, &t->e[i].id);
    while (t->slots[s])
        s = (s + 1) & (t->n_slots - 1);
    t->slots[s] = i + 1;
}

int cas__table_reserve(struct table *t, uint32_t n)
{
    if (n <= t->cap - t->n)
        return 0;
    uint32_t cap = t->cap ? t->cap : 64;
    while (cap - t->n < n) {
        if (cap > UINT32_MAX / 8)
            return -ENOMEM;
        cap *= 2;
    }
    struct entry *e = mem_try_realloc(t->e, (size_t)cap * sizeof(*e));
    if (!e)
        return -ENOMEM;
    t->e = e;
    uint32_t *slots = mem_try_zalloc((size_t)cap * 2 * sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    mem_free(t->slots);
    t->slots = slots;
    t->n_slots = cap * 2;
    t->cap = cap;
    for (uint32_t i = 0; i < t->n; i++)
        put_slot(t, i);
    return 0;
}

uint32_t cas__table_add(struct table *t, const struct entry *e)
{
    t->e[t->n] = *e;
    put_slot(t, t->n);
    return t->n++;
}

struct entry *cas__table_next(const struct table *t, const struct cas_id *id, uint32_t *pos)
{
    if (t->n == 0)
        return NULL;
    /* *pos counts the slots looked at. */
    for (uint32_t s = (slot_of(t, id) + *pos) & (t->n_slots - 1); t->slots[s]; s = (s + 1) & (t->n_slots - 1)) {
        struct entry *e = &t->e[t->slots[s] - 1];
        ++*pos;
        if (cas_id_cmp(&e->id, id) == 0)
            return e;
    }
    return NULL;
}

void cas__table_drop(struct table *t, uint32_t pack, uint64_t end)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->e[i].pack != pack || t->e[i].off >= end)
            t->e[n++] = t->e[i];
    }
    t->n = n;
    if (t->slots)
        memset(t->slots, 0, (size_t)t->n_slots * sizeof(*t->slots));
    for (uint32_t i = 0; i < n; i++)
        put_slot(t, i);
}
