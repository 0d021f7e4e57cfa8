/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sort_int.h"

#include <errno.h>

#include "base/num.h"

/* Ranges up to this are sorted by insertion. */
#define SMALL 20

/* Lines that are equal so far: what of them comes next. */
struct range {
    size_t from, n;
    size_t stage; /* n_stages: the order of input */
    size_t depth; /* bytes of the stage's text before the words */
};

struct order {
    struct sort *s;
    const char *text;
    struct sort_rec *v;
    struct range *todo;
    size_t n_todo, cap_todo;
    struct sort_rec *tmp;
    size_t tmp_n;
};

static struct str line_of(const struct order *o, const struct sort_rec *r)
{
    return str_of(o->text + r->off, r->n);
}

static int off_cmp(const struct sort_rec *a, const struct sort_rec *b)
{
    return a->off < b->off ? -1 : 1;
}

/* By all that comes after the words of @g. */
static int rest_cmp(const struct order *o, const struct range *g, const struct sort_rec *a, const struct sort_rec *b)
{
    struct sort *s = o->s;
    if (g->stage < s->n_stages) {
        const struct sort_stage *st = &s->stages[g->stage];
        int r;
        if (!st->key) { /* the bytes that are equal need not be looked at again */
            size_t na = a->n - NUM_MIN(a->n, g->depth), nb = b->n - NUM_MIN(b->n, g->depth), n = NUM_MIN(na, nb);
            r = n ? memcmp(o->text + a->off + g->depth, o->text + b->off + g->depth, n) : 0;
            r = r ? r : (na > nb) - (na < nb);
            r = st->reverse ? -r : r;
        } else {
            r = sort__compare_from(s, g->stage, line_of(o, a), line_of(o, b));
        }
        if (r)
            return r;
    }
    return off_cmp(a, b);
}

static int rec_cmp(const struct order *o, const struct range *g, const struct sort_rec *a, const struct sort_rec *b)
{
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    return rest_cmp(o, g, a, b);
}

static void insertion(const struct order *o, const struct range *g)
{
    struct sort_rec *v = o->v + g->from;
    for (size_t i = 1; i < g->n; i++) {
        struct sort_rec r = v[i];
        size_t j = i;
        for (; j > 0 && rec_cmp(o, g, &r, &v[j - 1]) < 0; j--)
            v[j] = v[j - 1];
        v[j] = r;
    }
}

/* ---- by comparison ---- */

/* Merges [from, mid) and [mid, end); the first half goes through o->tmp. */
static void merge(const struct order *o, const struct range *g, size_t from, size_t mid, size_t end)
{
    struct sort_rec *v = o->v, *a = o->tmp;
    size_t n = mid - from, i = 0, j = mid, to = from;
    if (rest_cmp(o, g, &v[mid - 1], &v[mid]) < 0)
        return;
    memcpy(a, v + from, n * sizeof *a);
    while (i < n && j < end) {
        if (rest_cmp(o, g, &v[j], &a[i]) < 0)
            v[to++] = v[j++];
        else
            v[to++] = a[i++];
    }
    memcpy(v + to, a + i, (n - i) * sizeof *a);
}

/* Sorts a range whose words are equal by all that follows them. */
static int by_comparison(struct order *o, const struct range *g)
{
    if (o->tmp_n < g->n) {
        struct sort_rec *t = mem_try(g->n * sizeof *t);
        if (!t)
            return -ENOMEM;
        mem_free(o->tmp);
        o->tmp = t;
        o->tmp_n = g->n;
    }
    size_t end = g->from + g->n;
    for (size_t i = g->from; i < end; i += SMALL) {
        struct range part = *g;
        part.from = i;
        part.n = NUM_MIN((size_t)SMALL, end - i);
        insertion(o, &part);
        if (cmd_poll(o->s->c) < 0)
            return -EINTR;
    }
    for (size_t w = SMALL; w < g->n; w *= 2)
        for (size_t i = g->from; end - i > w; i = end - i > 2 * w ? i + 2 * w : end) {
            merge(o, g, i, i + w, NUM_MIN(i + 2 * w, end));
            if (cmd_poll(o->s->c) < 0)
                return -EINTR;
        }
    return 0;
}

/* ---- by radix ---- */

/* Takes a range up, or sorts it at once when it is small. */
static int push(struct order *o, struct range g)
{
    if (g.n < 2)
        return 0;
    if (g.n <= SMALL) {
        insertion(o, &g);
        return 0;
    }
    if (o->n_todo == o->cap_todo) {
        size_t cap = o->cap_todo ? o->cap_todo * 2 : 512;
        struct range *t = mem_try_realloc(o->todo, cap * sizeof *t);
        if (!t)
            return -ENOMEM;
        o->todo = t;
        o->cap_todo = cap;
    }
    o->todo[o->n_todo++] = g;
    return 0;
}

/* New words for a range, at g->stage and g->depth. -EINTR. */
static int load_words(const struct order *o, struct range *g)
{
    struct sort *s = o->s;
    struct sort_rec *v = o->v + g->from;
    const struct sort_stage *st = g->stage < s->n_stages ? &s->stages[g->stage] : NULL;
    uint64_t flip = st && st->reverse ? UINT64_MAX : 0;
    for (size_t i = 0; i < g->n; i++) {
        if (i % 1024 == 1023 && cmd_poll(s->c) < 0)
            return -EINTR;
        v[i].word = st ? sort__word(s, st, line_of(o, &v[i]), g->depth) ^ flip : v[i].off;
    }
    return 0;
}

static int next_stage(struct order *o, struct range g)
{
    g.stage++;
    g.depth = 0;
    int r = load_words(o, &g);
    return r < 0 ? r : push(o, g);
}

/*
 * The words of a text stage are equal. Lines whose text ends within them go before the others (behind them in reverse),
 * and on to the next stage. They have one length but for NULs at their end; then they are compared.
 */
static int text_ended(struct order *o, struct range g)
{
    struct sort *s = o->s;
    const struct sort_stage *st = &s->stages[g.stage];
    struct sort_rec *v = o->v + g.from;
    size_t ended = 0, length = 0, next = g.depth + 8;
    bool same = true;
    for (size_t i = 0; i < g.n; i++) {
        size_t n = sort__length(s, st, line_of(o, &v[i]));
        if (n > next)
            continue;
        same &= ended == 0 || n == length;
        length = n;
        struct sort_rec r = v[i];
        v[i] = v[ended];
        v[ended++] = r;
    }
    if (ended && st->reverse && ended < g.n) { /* swap the two parts; their order does not matter yet */
        size_t k = NUM_MIN(ended, g.n - ended);
        for (size_t i = 0; i < k; i++) {
            struct sort_rec r = v[i];
            v[i] = v[g.n - k + i];
            v[g.n - k + i] = r;
        }
    }
    struct range a = g, b = g;
    a.n = ended;
    b.n = g.n - ended;
    if (st->reverse)
        a.from += b.n;
    else
        b.from += ended;
    b.depth = next;
    int r = load_words(o, &b);
    if (r == 0)
        r = push(o, b);
    if (r < 0 || a.n < 2)
        return r;
    return same ? next_stage(o, a) : by_comparison(o, &a);
}

/* All words of the range are equal and used up. */
static int go_on(struct order *o, struct range g)
{
    struct sort *s = o->s;
    if (g.stage == s->n_stages)
        return 0;
    const struct sort_stage *st = &s->stages[g.stage];
    uint64_t word = st->reverse ? ~o->v[g.from].word : o->v[g.from].word;
    if (st->kind == SORT_TEXT)
        return text_ended(o, g);
    if (st->kind == SORT_WORD || (st->kind == SORT_NUMBER && sort__word_tells(st->key, word)))
        return next_stage(o, g);
    return by_comparison(o, &g);
}

/* Puts the records into the order of one byte of their words, in place ("American flag" sort, McIlroy, Bostic and
 * McIlroy 1993). */
static void distribute(struct sort_rec *v, int shift, size_t *at, const size_t *end)
{
    for (unsigned b = 0; b < 256; b++)
        while (at[b] < end[b]) {
            struct sort_rec r = v[at[b]];
            unsigned d = (unsigned)(r.word >> shift & 255);
            while (d != b) {
                struct sort_rec t = v[at[d]];
                v[at[d]++] = r;
                r = t;
                d = (unsigned)(r.word >> shift & 255);
            }
            v[at[b]++] = r;
        }
}

static int split(struct order *o, struct range g)
{
    size_t count[256] = {0}, at[256], end[256];
    struct sort_rec *v = o->v + g.from;
    uint64_t differ = 0;
    for (size_t i = 1; i < g.n; i++)
        differ |= v[i].word ^ v[0].word;
    if (differ == 0)
        return go_on(o, g);
    int shift = (63 - __builtin_clzll(differ)) & ~7;
    for (size_t i = 0; i < g.n; i++)
        count[v[i].word >> shift & 255]++;
    size_t sum = 0;
    for (unsigned b = 0; b < 256; b++) {
        at[b] = sum;
        sum += count[b];
        end[b] = sum;
    }
    distribute(v, shift, at, end);
    struct range part = g;
    for (unsigned b = 0; b < 256; b++) {
        part.from = g.from + end[b] - count[b];
        part.n = count[b];
        int r = push(o, part);
        if (r < 0)
            return r;
    }
    return 0;
}

int sort__order(struct sort *s, struct sort_chunk *k)
{
    struct order o = {.s = s, .text = k->text, .v = k->v};
    struct range all = {.n = k->n};
    if (k->n == 0)
        return 0;
    int r = load_words(&o, &all);
    if (r == 0)
        r = push(&o, all);
    while (r == 0 && o.n_todo > 0) {
        r = cmd_poll(s->c) < 0 ? -EINTR : 0;
        if (r == 0)
            r = split(&o, o.todo[--o.n_todo]);
    }
    mem_free(o.todo);
    mem_free(o.tmp);
    return r;
}
