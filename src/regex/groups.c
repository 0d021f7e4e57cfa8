/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex_int.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"

/*
 * Groups of a match whose bounds are known: a walk from its start through the program, which at each fork takes the
 * preferred way from which the end can still be reached, as the states of the backward pass tell. These are the choices
 * of the GNU C library (2.36), as are two rules: a fork whose first way has been taken since the last byte sends the
 * walk on by its second way, and a repeated group that may be left out and matched nothing keeps what it held before.
 *
 * The states of all places of a long match do not fit into memory, so it is cut into blocks; the content of the state
 * at the end of each is kept, and the states inside are made again when the walk gets there.
 */

#define BLOCK_MIN 16u
#define BLOCK_MAX 4096u

/* The content of a state at the end of a block. */
struct saved {
    size_t off; /* into walk.items */
    uint32_t n;
    uint8_t left;
};

struct walk {
    struct regex *re;
    struct str t;
    unsigned eflags;
    size_t begin, end;
    size_t block;          /* places in a block */
    size_t lo, hi;         /* block that is loaded: places lo..hi */
    const uint32_t *track; /* track[hi - p] */
    struct saved *saved;
    uint32_t *items;
    size_t n_items, cap_items;
    struct regex_span *cur, *prev;
    size_t n;
};

/* Makes the states of places @hi down to @lo into @track, from *s at @hi; leaves *s at @lo. */
static int pass(struct walk *w, uint32_t *s, size_t hi, size_t lo, uint32_t *track)
{
    struct rx_dfa *d = &w->re->back;
    struct rx_char c = {0};
    for (size_t p = hi;; p--) {
        if (track)
            track[hi - p] = *s;
        if (p == lo)
            return 0;
        unsigned sym = rx__sym(d->syms, w->t, p - 1, &c);
        uint32_t next = d->trans[*s + sym];
        int r = 0;
        if (next == RX_NONE)
            r = rx__make(w->re, d, s, sym, &next);
        if (r == 0 && p % RX_POLL_BYTES == 0)
            r = rx__poll(w->re);
        if (r)
            return r;
        *s = next & ~RX_STOP;
    }
}

static int save(struct walk *w, uint32_t s, struct saved *out)
{
    const struct rx_state *st = rx__dfa_state(&w->re->back, s);
    if (w->n_items + st->n > w->cap_items) {
        size_t cap = NUM_MAX(w->cap_items * 2, w->n_items + st->n + 64);
        uint32_t *v = mem_try_realloc(w->items, cap * sizeof(*v));
        if (!v)
            return -ENOMEM;
        w->items = v;
        w->cap_items = cap;
    }
    memcpy(w->items + w->n_items, st->item, st->n * sizeof(*st->item));
    *out = (struct saved){w->n_items, st->n, st->left};
    w->n_items += st->n;
    return 0;
}

/* Runs over the whole match once and keeps the state at the end of each block. 1, 0 when the match cannot be had this
 * way, or an error. @plain: as rx__dfa_start(). */
static int prepare(struct walk *w, bool plain)
{
    struct rx_dfa *d = &w->re->back;
    size_t size = rx__dfa_state_size(d), len = w->end - w->begin;
    w->block = NUM_MAX(BLOCK_MIN, NUM_MIN(BLOCK_MAX, (4u << 20) / size));
    size_t n_blocks = len / w->block + 1;
    if (!w->saved)
        w->saved = mem_try(n_blocks * sizeof(*w->saved));
    if (!w->saved)
        return -ENOMEM;
    if (w->re->track_cap < w->block + 1) {
        uint32_t *t = mem_try_realloc(w->re->track, (w->block + 1) * sizeof(*t));
        if (!t)
            return -ENOMEM;
        w->re->track = t;
        w->re->track_cap = w->block + 1;
    }
    d->hold = false;
    rx__dfa_trim(d);
    uint32_t s = rx__dfa_start(d, rx__right(w->re, w->t, w->end, w->eflags), !plain);
    if (s == RX_NONE)
        return -ENOMEM;
    s &= ~RX_STOP;
    size_t hi = w->end;
    w->n_items = 0;
    /* The one block of a short match is loaded at once. */
    bool one = n_blocks == 1;
    d->hold = one;
    for (size_t k = n_blocks; k-- > 0;) {
        int r = one ? 0 : save(w, s, &w->saved[k]);
        if (r == 0)
            r = pass(w, &s, hi, w->begin + k * w->block, one ? w->re->track : NULL);
        if (r)
            return r;
        hi = w->begin + k * w->block;
    }
    w->lo = one ? w->begin : 1;
    w->hi = one ? w->end : 0;
    w->track = w->re->track;
    return rx__dfa_has(d, s, rx__left(w->re, w->t, w->begin, w->eflags), w->re->prog.start);
}

/* Makes the states around place @p known. */
static int load(struct walk *w, size_t p)
{
    struct rx_dfa *d = &w->re->back;
    size_t k = (p - w->begin) / w->block;
    const struct saved *sv = &w->saved[k];
    d->hold = false;
    rx__dfa_trim(d);
    d->hold = true;
    uint32_t s = rx__dfa_put(d, w->items + sv->off, sv->n, sv->left, true);
    if (s == RX_NONE)
        return -ENOMEM;
    s &= ~RX_STOP;
    w->lo = w->begin + k * w->block;
    w->hi = NUM_MIN(w->lo + w->block, w->end);
    w->track = w->re->track;
    return pass(w, &s, w->hi, w->lo, w->re->track);
}

/* Whether the end can be reached from node @id at place @p: 1, 0 or an error. */
static int leads(struct walk *w, size_t p, uint32_t id)
{
    if (p < w->lo || p > w->hi) {
        int r = load(w, p);
        if (r)
            return r;
    }
    return rx__dfa_has(&w->re->back, w->track[w->hi - p], rx__left(w->re, w->t, p, w->eflags), id);
}

/* The second way when the first is blocked, or when it was taken before without a byte in between. */
static int fork_way(struct walk *w, size_t p, uint32_t id, uint32_t stamp, uint32_t *ret)
{
    const struct rxn *x = &w->re->prog.node[id];
    const uint32_t *seen = w->re->stamp;
    int a = leads(w, p, x->a);
    if (a < 0)
        return a;
    if (a && seen[x->a] != stamp) {
        *ret = x->a;
        return 0;
    }
    int b = leads(w, p, x->b);
    if (b < 0)
        return b;
    *ret = b ? x->b : x->a;
    return 0;
}

static void close_group(struct walk *w, const struct rxn *x, size_t p)
{
    struct regex_span *g = &w->cur[x->n];
    ptrdiff_t at = (ptrdiff_t)p;
    if (g->start < at) {
        g->end = at;
        memcpy(w->prev, w->cur, w->n * sizeof(*w->cur));
    } else if (x->opt && w->prev[x->n].start != -1) {
        memcpy(w->cur, w->prev, w->n * sizeof(*w->cur));
    } else {
        g->end = at;
    }
}

/* What passing a node does to the groups. */
static void pass_node(struct walk *w, const struct rxn *x, size_t p)
{
    if (x->n >= w->n)
        return;
    if (x->op == RXN_OPEN)
        w->cur[x->n] = (struct regex_span){(ptrdiff_t)p, -1};
    else if (x->op == RXN_CLOSE)
        close_group(w, x, p);
}

static bool consumes(const struct rxn *x)
{
    return x->op == RXN_BYTE || x->op == RXN_SET || x->op == RXN_MATCH;
}

/* Finds a way from @id to a node that consumes (or the match), breadth first: from[node] is the one before it. The
 * node, or 0. */
static int find_way(struct walk *w, size_t p, uint32_t id, uint32_t *from, uint32_t *queue, uint32_t *ret)
{
    const struct rx_prog *g = &w->re->prog;
    uint32_t head = 0, tail = 0;
    queue[tail++] = id;
    from[id] = id;
    while (head < tail) {
        id = queue[head++];
        const struct rxn *x = &g->node[id];
        if (consumes(x)) {
            *ret = id;
            return 0;
        }
        uint32_t to[2] = {x->a, x->op == RXN_SPLIT ? x->b : x->a};
        for (unsigned i = 0; i < 2; i++) {
            if (from[to[i]])
                continue;
            int r = leads(w, p, to[i]);
            if (r < 0)
                return r;
            if (r) {
                from[to[i]] = id;
                queue[tail++] = to[i];
            }
        }
    }
    return -E2BIG;
}

/* The choices above can go round for ever without a byte in between; the GNU library then does not return. The shortest
 * way out is as good as any. */
static int way_out(struct walk *w, size_t p, uint32_t id, uint32_t *ret)
{
    uint32_t n = w->re->prog.n, last = 0, len = 0;
    uint32_t *from = mem_try_zalloc(2 * (size_t)n * sizeof(*from));
    if (!from)
        return -ENOMEM;
    uint32_t *queue = from + n;
    int r = find_way(w, p, id, from, queue, &last);
    if (r == 0) {
        for (uint32_t at = last; at != id; at = from[at])
            queue[len++] = at;
        for (; len > 0; len--)
            pass_node(w, &w->re->prog.node[queue[len - 1]], p);
        *ret = last;
    }
    mem_free(from);
    return r;
}

static int go(struct walk *w)
{
    const struct rx_prog *g = &w->re->prog;
    uint32_t id = g->start, stamp = 1;
    size_t p = w->begin, idle = 0;
    while (id != g->match) {
        const struct rxn *x = &g->node[id];
        uint32_t next = x->a;
        int r = 0;
        w->re->stamp[id] = stamp;
        if (++idle > 4 * (size_t)g->n + 16) {
            r = way_out(w, p, id, &next);
            idle = 0;
        } else if (x->op == RXN_SPLIT) {
            r = fork_way(w, p, id, stamp, &next);
        } else if (consumes(x)) {
            next = p < w->end ? rx__step(g, id, (uint8_t)w->t.p[p]) : 0;
            r = next ? 0 : -E2BIG;
            p++;
            stamp++;
            idle = 0;
        } else {
            pass_node(w, x, p);
        }
        if (r)
            return r;
        id = next;
    }
    return 0;
}

int rx__groups(struct regex *re, struct str t, unsigned eflags, struct regex_span *spans, size_t n)
{
    struct walk w = {.re = re,
                     .t = t,
                     .eflags = eflags,
                     .begin = (size_t)spans[0].start,
                     .end = (size_t)spans[0].end,
                     .cur = spans,
                     .n = n};
    /* Stamps of one walk must not repeat; zero is none. */
    if (re->stamp)
        memset(re->stamp, 0, re->prog.n * sizeof(*re->stamp));
    else
        re->stamp = mem_try_zalloc(re->prog.n * sizeof(*re->stamp));
    w.prev = mem_try(n * sizeof(*w.prev));
    int r = re->stamp && w.prev ? 0 : -ENOMEM;
    if (r == 0) {
        memcpy(w.prev, spans, n * sizeof(*w.prev));
        /* The GNU library prefers ways on which no anchor stands between the last byte and the end. */
        if (re->prog.has_assert)
            r = prepare(&w, true);
        if (r == 0)
            r = prepare(&w, false);
        /* There is a way, as the match is one. */
        if (r >= 0)
            r = go(&w);
    }
    mem_free(w.saved);
    mem_free(w.items);
    mem_free(w.prev);
    return r;
}
