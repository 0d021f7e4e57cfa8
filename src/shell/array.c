/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/array_int.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"

/* ---- texts ---- */

struct text {
    char *p; /* NUL-terminated */
    size_t n;
};

static int text_make(struct str s, struct text *ret)
{
    char *p = mem_try(s.n + 1);
    if (!p)
        return -ENOMEM;
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    *ret = (struct text){p, s.n};
    return 0;
}

static int text_append(struct text *t, struct str s)
{
    size_t n;
    if (!num_add(t->n, s.n, &n) || !num_add(n, 1, &n))
        return -ENOMEM;
    char *p = mem_try(n);
    if (!p)
        return -ENOMEM;
    memcpy(p, t->p, t->n);
    if (s.n)
        memcpy(p + t->n, s.p, s.n);
    p[n - 1] = 0;
    mem_free(t->p);
    *t = (struct text){p, n - 1};
    return 0;
}

/* ---- indexed ---- */

struct elem {
    int64_t index;
    struct text t;
};

struct arr {
    struct elem *v; /* [0, gap) and [gap + cap - n, cap) hold the elements */
    size_t n, cap, gap;
};

static struct elem *elem_at(const struct arr *a, size_t pos)
{
    return &a->v[pos < a->gap ? pos : pos + (a->cap - a->n)];
}

struct arr *arr_new(void)
{
    return mem_try_zalloc(sizeof(struct arr));
}

void arr_free(struct arr *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++)
        mem_free(elem_at(a, i)->t.p);
    mem_free(a->v);
    mem_free(a);
}

struct arr *arr_copy(const struct arr *a)
{
    struct arr *c = arr_new();
    for (size_t i = 0; c && i < a->n; i++) {
        const struct elem *e = elem_at(a, i);
        if (arr_set(c, e->index, str_of(e->t.p, e->t.n)) < 0) {
            arr_free(c);
            return NULL;
        }
    }
    return c;
}

size_t arr_count(const struct arr *a)
{
    return a->n;
}

int64_t arr_max(const struct arr *a)
{
    return a->n ? elem_at(a, a->n - 1)->index : -1;
}

/* Place of the first element whose index is not below @index; *ret_found when it is that very index. */
static size_t arr_place(const struct arr *a, int64_t index, bool *ret_found)
{
    if (index >= 0 && (uint64_t)index < a->n && elem_at(a, (size_t)index)->index == index) {
        *ret_found = true;
        return (size_t)index;
    }
    *ret_found = false;
    if (!a->n || elem_at(a, a->n - 1)->index < index)
        return a->n;
    size_t lo = 0, hi = a->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (elem_at(a, mid)->index < index)
            lo = mid + 1;
        else
            hi = mid;
    }
    *ret_found = elem_at(a, lo)->index == index;
    return lo;
}

bool arr_get(const struct arr *a, int64_t index, struct str *ret)
{
    bool found;
    size_t pos = arr_place(a, index, &found);
    if (!found)
        return false;
    const struct elem *e = elem_at(a, pos);
    *ret = str_of(e->t.p, e->t.n);
    return true;
}

void arr_at(const struct arr *a, size_t pos, int64_t *ret_index, struct str *ret)
{
    const struct elem *e = elem_at(a, pos);
    *ret_index = e->index;
    *ret = str_of(e->t.p, e->t.n);
}

static int arr_grow(struct arr *a)
{
    size_t cap = a->cap ? a->cap * 2 : 8, bytes;
    if (!num_mul(cap, sizeof(struct elem), &bytes))
        return -ENOMEM;
    struct elem *v = mem_try(bytes);
    if (!v)
        return -ENOMEM;
    size_t tail = a->n - a->gap;
    if (a->gap)
        memcpy(v, a->v, a->gap * sizeof *v);
    if (tail)
        memcpy(v + cap - tail, a->v + a->cap - tail, tail * sizeof *v);
    mem_free(a->v);
    a->v = v;
    a->cap = cap;
    return 0;
}

static void arr_move_gap(struct arr *a, size_t pos)
{
    size_t room = a->cap - a->n;
    if (pos < a->gap)
        memmove(a->v + pos + room, a->v + pos, (a->gap - pos) * sizeof *a->v);
    else if (pos > a->gap)
        memmove(a->v + a->gap, a->v + a->gap + room, (pos - a->gap) * sizeof *a->v);
    a->gap = pos;
}

int arr_set(struct arr *a, int64_t index, struct str val)
{
    struct text t;
    int r = text_make(val, &t);
    if (r < 0)
        return r;
    bool found;
    size_t pos = arr_place(a, index, &found);
    if (found) {
        struct elem *e = elem_at(a, pos);
        mem_free(e->t.p);
        e->t = t;
        return 0;
    }
    if (a->n == a->cap && arr_grow(a) < 0) {
        mem_free(t.p);
        return -ENOMEM;
    }
    arr_move_gap(a, pos);
    a->v[a->gap++] = (struct elem){index, t};
    a->n++;
    return 0;
}

int arr_append(struct arr *a, int64_t index, struct str val)
{
    bool found;
    size_t pos = arr_place(a, index, &found);
    return found ? text_append(&elem_at(a, pos)->t, val) : arr_set(a, index, val);
}

void arr_unset(struct arr *a, int64_t index)
{
    bool found;
    size_t pos = arr_place(a, index, &found);
    if (!found)
        return;
    arr_move_gap(a, pos);
    mem_free(a->v[pos + (a->cap - a->n)].t.p);
    a->n--;
}

/* ---- associative ---- */

struct entry {
    struct entry *next;
    uint32_t hash;
    struct text key, val;
};

struct assoc {
    struct entry **buckets; /* NULL while empty */
    uint32_t n_buckets;     /* a power of two */
    uint32_t first;         /* what there are of them at first: it tells the order of listing */
    size_t n;
    size_t walk_pos; /* assoc_at(): the place that walk_entry is; walk_entry NULL: none */
    struct entry *walk_entry;
    uint32_t walk_bucket;
};

#define ASSOC_BUCKETS 1024u

/* bash's order of listing follows from this function: FNV-1 of 32 bits (Fowler, Noll, Vo). */
static uint32_t assoc_hash(struct str key)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < key.n; i++) {
        h *= 16777619u;
        h ^= (uint8_t)key.p[i];
    }
    return h;
}

struct assoc *assoc_new(uint32_t buckets)
{
    struct assoc *a = mem_try_zalloc(sizeof(struct assoc));
    if (a)
        a->first = buckets ? buckets : ASSOC_BUCKETS;
    return a;
}

static void entry_free(struct entry *e)
{
    mem_free(e->key.p);
    mem_free(e->val.p);
    mem_free(e);
}

void assoc_free(struct assoc *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < a->n_buckets; i++) {
        while (a->buckets[i]) {
            struct entry *e = a->buckets[i];
            a->buckets[i] = e->next;
            entry_free(e);
        }
    }
    mem_free(a->buckets);
    mem_free(a);
}

/* Room for one more. Rehashing goes bucket by bucket and puts each entry at the front of its new one, as bash's does.
 */
static int assoc_grow(struct assoc *a)
{
    if (a->n_buckets && a->n < (size_t)a->n_buckets * 2)
        return 0;
    if (a->n_buckets > UINT32_MAX / 4)
        return 0;
    uint32_t n = a->n_buckets ? a->n_buckets * 4 : a->first;
    struct entry **b = mem_try_zalloc((size_t)n * sizeof *b);
    if (!b)
        return -ENOMEM;
    for (uint32_t i = 0; i < a->n_buckets; i++) {
        struct entry *next;
        for (struct entry *e = a->buckets[i]; e; e = next) {
            next = e->next;
            struct entry **to = &b[e->hash & (n - 1)];
            e->next = *to;
            *to = e;
        }
    }
    mem_free(a->buckets);
    a->buckets = b;
    a->n_buckets = n;
    a->walk_entry = NULL;
    return 0;
}

static struct entry *assoc_find(const struct assoc *a, struct str key, uint32_t hash)
{
    if (!a->n_buckets)
        return NULL;
    for (struct entry *e = a->buckets[hash & (a->n_buckets - 1)]; e; e = e->next)
        if (e->hash == hash && str_eq(key, str_of(e->key.p, e->key.n)))
            return e;
    return NULL;
}

static int assoc_add(struct assoc *a, struct str key, uint32_t hash, struct text val)
{
    struct entry *e = mem_try_zalloc(sizeof *e);
    if (!e)
        return -ENOMEM;
    if (assoc_grow(a) < 0 || text_make(key, &e->key) < 0) {
        mem_free(e);
        return -ENOMEM;
    }
    e->hash = hash;
    e->val = val;
    struct entry **b = &a->buckets[hash & (a->n_buckets - 1)];
    e->next = *b;
    *b = e;
    a->n++;
    a->walk_entry = NULL;
    return 0;
}

struct assoc *assoc_copy(const struct assoc *a)
{
    struct assoc *c = assoc_new(a->first);
    if (!c || !a->n_buckets)
        return c;
    c->n_buckets = a->n_buckets;
    c->buckets = mem_try_zalloc((size_t)a->n_buckets * sizeof *c->buckets);
    if (!c->buckets) {
        mem_free(c);
        return NULL;
    }
    for (uint32_t i = 0; i < a->n_buckets; i++) {
        struct entry **tail = &c->buckets[i];
        for (const struct entry *e = a->buckets[i]; e; e = e->next) {
            struct entry *d = mem_try_zalloc(sizeof *d);
            if (!d || text_make(str_of(e->key.p, e->key.n), &d->key) < 0 ||
                text_make(str_of(e->val.p, e->val.n), &d->val) < 0) {
                if (d)
                    entry_free(d);
                assoc_free(c);
                return NULL;
            }
            d->hash = e->hash;
            *tail = d;
            tail = &d->next;
            c->n++;
        }
    }
    return c;
}

static uint32_t buckets_for(size_t n)
{
    uint32_t b = ASSOC_BUCKETS;
    while (n > (size_t)b * 2 && b <= UINT32_MAX / 4)
        b *= 4;
    return b;
}

struct assoc *assoc_sized(size_t n)
{
    struct assoc *a = assoc_new(0);
    uint32_t b = buckets_for(n);
    if (a && n) {
        a->buckets = mem_try_zalloc((size_t)b * sizeof *a->buckets);
        a->n_buckets = b;
    }
    if (a && n && !a->buckets) {
        mem_free(a);
        return NULL;
    }
    return a;
}

bool assoc_settled(const struct assoc *a)
{
    return !a->n || a->n_buckets == buckets_for(a->n);
}

int assoc_add_last(struct assoc *a, struct str key, struct str val)
{
    uint32_t hash = assoc_hash(key);
    if (assoc_find(a, key, hash))
        return -EEXIST;
    int r = assoc_set(a, key, val);
    if (r < 0)
        return r;
    struct entry **at = &a->buckets[hash & (a->n_buckets - 1)], *e = *at;
    *at = e->next;
    while (*at)
        at = &(*at)->next;
    *at = e;
    e->next = NULL;
    return 0;
}

size_t assoc_count(const struct assoc *a)
{
    return a->n;
}

bool assoc_get(const struct assoc *a, struct str key, struct str *ret)
{
    struct entry *e = assoc_find(a, key, assoc_hash(key));
    if (!e)
        return false;
    *ret = str_of(e->val.p, e->val.n);
    return true;
}

int assoc_set(struct assoc *a, struct str key, struct str val)
{
    uint32_t hash = assoc_hash(key);
    struct text t;
    int r = text_make(val, &t);
    if (r < 0)
        return r;
    struct entry *e = assoc_find(a, key, hash);
    if (e) {
        mem_free(e->val.p);
        e->val = t;
        return 0;
    }
    r = assoc_add(a, key, hash, t);
    if (r < 0)
        mem_free(t.p);
    return r;
}

int assoc_append(struct assoc *a, struct str key, struct str val)
{
    struct entry *e = assoc_find(a, key, assoc_hash(key));
    return e ? text_append(&e->val, val) : assoc_set(a, key, val);
}

void assoc_unset(struct assoc *a, struct str key)
{
    uint32_t hash = assoc_hash(key);
    struct entry *e = assoc_find(a, key, hash);
    if (!e)
        return;
    struct entry **b = &a->buckets[hash & (a->n_buckets - 1)];
    while (*b != e)
        b = &(*b)->next;
    *b = e->next;
    entry_free(e);
    a->n--;
    a->walk_entry = NULL;
}

/* The first entry in buckets from @b on. */
static bool assoc_first_from(struct assoc *a, uint32_t b)
{
    for (; b < a->n_buckets; b++) {
        if (a->buckets[b]) {
            a->walk_bucket = b;
            a->walk_entry = a->buckets[b];
            return true;
        }
    }
    return false;
}

bool assoc_at(struct assoc *a, size_t pos, struct str *ret_key, struct str *ret)
{
    if (pos >= a->n)
        return false;
    if (!a->walk_entry || pos < a->walk_pos) {
        a->walk_pos = 0;
        if (!assoc_first_from(a, 0))
            return false;
    }
    while (a->walk_pos < pos) {
        if (a->walk_entry->next)
            a->walk_entry = a->walk_entry->next;
        else if (!assoc_first_from(a, a->walk_bucket + 1))
            return false;
        a->walk_pos++;
    }
    const struct entry *e = a->walk_entry;
    *ret_key = str_of(e->key.p, e->key.n);
    *ret = str_of(e->val.p, e->val.n);
    return true;
}
