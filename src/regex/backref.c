/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex_int.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"
#include "types/limits.h"

/*
 * Patterns with back-references: the automaton, for which \1 is any text, rules out most texts; the rest is a search
 * from each beginning, preferred ways first, that keeps the longest match found. Forks already tried in the same
 * situation (place, and what the groups hold that back-references name) are not tried again, which makes the usual
 * cases polynomial. Steps are counted: finding the answer for every pattern is NP-hard.
 */

#define MEMO_MAX (32u << 20) /* bytes of situations that are remembered */
#define LOG_MAX (2u << 20)   /* entries of the undo log and of the stack of forks */

struct undo {
    struct regex_span *at;
    struct regex_span old;
};

struct fork {
    uint32_t id;
    bool closed; /* id is the end of a group that now keeps its empty match */
    size_t p;
    size_t n_log;
};

struct memo {
    uint32_t *slot; /* offset into keys / 8 + 1 */
    size_t n_slots, n;
    uint64_t *keys;
    size_t n_keys, cap_keys; /* in words */
};

struct search {
    struct regex *re;
    struct str t;
    unsigned eflags;
    uint64_t steps;
    struct regex_span *cur, *prev, *best; /* n_all each */
    size_t n_all;
    uint32_t *named; /* groups that back-references name */
    size_t n_named;
    struct undo *log;
    size_t n_log, cap_log;
    struct fork *fork;
    size_t n_fork, cap_fork;
    struct memo memo;
    bool found;
};

/* Room for one more entry of @size bytes: 0, -E2BIG or -ENOMEM. */
static int room(void *vec, size_t *cap, size_t n, size_t size)
{
    void **v = vec;
    if (n < *cap)
        return 0;
    if (n >= LOG_MAX)
        return -E2BIG;
    size_t more = *cap ? *cap * 2 : 64;
    void *x = mem_try_realloc(*v, more * size);
    if (!x)
        return -ENOMEM;
    *v = x;
    *cap = more;
    return 0;
}

static int set_span(struct search *s, struct regex_span *at, struct regex_span v)
{
    if (at->start == v.start && at->end == v.end)
        return 0;
    int r = room(&s->log, &s->cap_log, s->n_log, sizeof(*s->log));
    if (r < 0)
        return r;
    s->log[s->n_log++] = (struct undo){at, *at};
    *at = v;
    return 0;
}

static void undo_to(struct search *s, size_t n)
{
    while (s->n_log > n) {
        const struct undo *u = &s->log[--s->n_log];
        *u->at = u->old;
    }
}

static int copy_spans(struct search *s, struct regex_span *to, const struct regex_span *from)
{
    int r = 0;
    for (size_t i = 1; i < s->n_all && r == 0; i++)
        r = set_span(s, &to[i], from[i]);
    return r;
}

/* ---- situations ---- */

static uint64_t hash_key(const uint64_t *k, size_t n)
{
    uint64_t h = 0;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ k[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 31;
    }
    return h;
}

static int memo_grow(struct memo *m, size_t words)
{
    size_t n_slots = m->n_slots ? m->n_slots * 2 : 256;
    uint32_t *slot = mem_try_zalloc(n_slots * sizeof(*slot));
    if (!slot)
        return -ENOMEM;
    for (size_t off = 0; off < m->n_keys; off += words) {
        size_t i = hash_key(m->keys + off, words) & (n_slots - 1);
        while (slot[i])
            i = (i + 1) & (n_slots - 1);
        slot[i] = (uint32_t)(off + 1);
    }
    mem_free(m->slot);
    m->slot = slot;
    m->n_slots = n_slots;
    return 0;
}

/* 1 when the situation at fork @id was met before, 0 when it is new (and remembered while there is room), or -ENOMEM.
 */
static int met(struct search *s, uint32_t id, size_t p)
{
    struct memo *m = &s->memo;
    size_t words = 2 + 4 * s->n_named;
    if (2 * (m->n + 1) > m->n_slots && m->n_keys * sizeof(uint64_t) < MEMO_MAX && memo_grow(m, words) < 0)
        return -ENOMEM;
    if (m->n_keys + words > m->cap_keys && m->n_keys * sizeof(uint64_t) < MEMO_MAX) {
        size_t cap = NUM_MAX(m->cap_keys * 2, 64 * words);
        uint64_t *k = mem_try_realloc(m->keys, cap * sizeof(*k));
        if (!k)
            return -ENOMEM;
        m->keys = k;
        m->cap_keys = cap;
    }
    uint64_t key[2 + 4 * 64];
    if (s->n_named > 64)
        return 0;
    key[0] = id;
    key[1] = p;
    for (size_t i = 0; i < s->n_named; i++) {
        const struct regex_span *c = &s->cur[s->named[i]], *o = &s->prev[s->named[i]];
        key[2 + 4 * i] = (uint64_t)c->start;
        key[3 + 4 * i] = (uint64_t)c->end;
        key[4 + 4 * i] = (uint64_t)o->start;
        key[5 + 4 * i] = (uint64_t)o->end;
    }
    size_t i = hash_key(key, words) & (m->n_slots - 1);
    for (; m->slot[i]; i = (i + 1) & (m->n_slots - 1)) {
        if (memcmp(m->keys + m->slot[i] - 1, key, words * sizeof(*key)) == 0)
            return 1;
    }
    if (m->n_keys + words <= m->cap_keys && 2 * (m->n + 1) <= m->n_slots) {
        memcpy(m->keys + m->n_keys, key, words * sizeof(*key));
        m->slot[i] = (uint32_t)(m->n_keys + 1);
        m->n_keys += words;
        m->n++;
    }
    return 0;
}

/* ---- steps ---- */

/* Whether the text of @g stands at @p; *ret is then the place behind it. */
static bool same_text(const struct search *s, struct regex_span g, size_t p, size_t *ret)
{
    size_t len = (size_t)(g.end - g.start);
    const char *from = s->t.p + g.start;
    if (!(s->re->flags & REGEX_ICASE)) {
        if (s->t.n - p < len || memcmp(from, s->t.p + p, len) != 0)
            return false;
        *ret = p + len;
        return true;
    }
    bool utf8 = s->re->prog.utf8;
    for (size_t i = 0; i < len;) {
        uint32_t a = 0, b = 0;
        unsigned la = utf8 ? unicode_decode(from + i, len - i, &a) : 0;
        unsigned lb = utf8 ? unicode_decode(s->t.p + p, s->t.n - p, &b) : 0;
        if (p >= s->t.n || (la == 0) != (lb == 0))
            return false;
        if (la == 0) {
            a = (unsigned char)from[i];
            b = (unsigned char)s->t.p[p];
            la = lb = 1;
            if (!utf8 || a < 0x80) {
                a = a < 0x80 ? unicode_upper(a) : a;
                b = b < 0x80 ? unicode_upper(b) : b;
            }
        } else {
            a = unicode_upper(a);
            b = unicode_upper(b);
        }
        if (a != b)
            return false;
        i += la;
        p += lb;
    }
    *ret = p;
    return true;
}

static void keep(struct search *s, size_t begin, size_t p)
{
    if (s->re->nonempty && p == begin)
        return;
    if (s->found && (size_t)s->best[0].end >= p)
        return;
    s->found = true;
    memcpy(s->best, s->cur, s->n_all * sizeof(*s->best));
    s->best[0] = (struct regex_span){(ptrdiff_t)begin, (ptrdiff_t)p};
}

static int push_fork(struct search *s, uint32_t id, size_t p, bool closed)
{
    int r = room(&s->fork, &s->cap_fork, s->n_fork, sizeof(*s->fork));
    if (r == 0)
        s->fork[s->n_fork++] = (struct fork){id, closed, p, s->n_log};
    return r;
}

/* The end of a group at @p. As in groups.c one that may be left out and matched nothing keeps what it held; but a
 * back-reference may need the empty match, so that is tried too (@empty), later. */
static int close_group(struct search *s, uint32_t id, size_t p, bool empty)
{
    const struct rxn *x = &s->re->prog.node[id];
    struct regex_span *g = &s->cur[x->n];
    ptrdiff_t at = (ptrdiff_t)p;
    if (!empty && g->start >= at && x->opt && s->prev[x->n].start != -1) {
        int r = push_fork(s, id, p, true);
        return r < 0 ? r : copy_spans(s, s->cur, s->prev);
    }
    int r = set_span(s, g, (struct regex_span){g->start, at});
    if (r == 0 && g->start < at)
        r = copy_spans(s, s->prev, s->cur);
    return r;
}

/* One node. 1: *id and *p moved on; 0: this way ends; else an error. */
static int step(struct search *s, uint32_t *id, size_t *p, size_t begin)
{
    const struct rxn *x = &s->re->prog.node[*id];
    int r = 0;
    uint32_t next = x->a;
    switch ((enum rxn_op)x->op) {
    case RXN_MATCH:
        keep(s, begin, *p);
        return 0;
    case RXN_BYTE:
    case RXN_SET:
        next = *p < s->t.n ? rx__step(&s->re->prog, *id, (uint8_t)s->t.p[*p]) : 0;
        if (!next)
            return 0;
        ++*p;
        break;
    case RXN_SPLIT:
        r = met(s, *id, *p);
        if (r)
            return r < 0 ? r : 0;
        r = push_fork(s, x->b, *p, false);
        break;
    case RXN_OPEN:
        r = set_span(s, &s->cur[x->n], (struct regex_span){(ptrdiff_t)*p, -1});
        break;
    case RXN_CLOSE:
        r = close_group(s, *id, *p, false);
        break;
    case RXN_ASSERT:
        if (!rx__holds((enum rx_assert)x->n, rx__left(s->re, s->t, *p, s->eflags),
                       rx__right(s->re, s->t, *p, s->eflags)))
            return 0;
        break;
    case RXN_BACKREF:
        if (s->cur[x->n].end == -1 || !same_text(s, s->cur[x->n], *p, p))
            return 0;
        break;
    default:
        return 0;
    }
    *id = next;
    return r < 0 ? r : 1;
}

/* All ways from @begin: 0 or an error; s->found and s->best tell. */
static int from_place(struct search *s, size_t begin)
{
    uint32_t id = s->re->prog.start;
    size_t p = begin;
    for (;;) {
        if (++s->steps > LIMIT_REGEX_STEPS)
            return -E2BIG;
        int r = s->steps % RX_POLL_STEPS == 0 ? rx__poll(s->re) : 0;
        if (r == 0)
            r = step(s, &id, &p, begin);
        if (r < 0)
            return r;
        if (r > 0)
            continue;
        /* Nothing is longer than the rest of the text. */
        if (s->n_fork == 0 || (s->found && (size_t)s->best[0].end == s->t.n))
            break;
        const struct fork *f = &s->fork[--s->n_fork];
        undo_to(s, f->n_log);
        id = f->id;
        p = f->p;
        if (f->closed) {
            r = close_group(s, id, p, true);
            if (r < 0)
                return r;
            id = s->re->prog.node[id].a;
        }
    }
    s->n_fork = 0;
    undo_to(s, 0);
    return 0;
}

static int init(struct search *s)
{
    const struct rx_prog *g = &s->re->prog;
    uint32_t max = 0;
    for (uint32_t i = 1; i < g->n; i++) {
        if (g->node[i].op == RXN_OPEN || g->node[i].op == RXN_BACKREF)
            max = NUM_MAX(max, g->node[i].n);
    }
    s->n_all = (size_t)max + 1;
    s->cur = mem_try(3 * s->n_all * sizeof(*s->cur));
    s->named = mem_try_zalloc(s->n_all * sizeof(*s->named));
    if (!s->cur || !s->named)
        return -ENOMEM;
    s->prev = s->cur + s->n_all;
    s->best = s->prev + s->n_all;
    for (size_t i = 0; i < 3 * s->n_all; i++)
        s->cur[i] = (struct regex_span){-1, -1};
    /* A mark for each, then packed. */
    for (uint32_t i = 1; i < g->n; i++) {
        if (g->node[i].op == RXN_BACKREF)
            s->named[g->node[i].n] = 1;
    }
    for (uint32_t i = 1; i <= max; i++) {
        if (s->named[i])
            s->named[s->n_named++] = i;
    }
    return 0;
}

static bool inside_char(const struct search *s, size_t p)
{
    uint32_t c;
    if (!s->re->prog.utf8 || p == 0 || p >= s->t.n || ((unsigned char)s->t.p[p] & 0xc0) != 0x80)
        return false;
    for (size_t k = 1; k <= 3 && k <= p; k++) {
        if (((unsigned char)s->t.p[p - k] & 0xc0) != 0x80)
            return unicode_decode(s->t.p + p - k, s->t.n - (p - k), &c) > k;
    }
    return false;
}

int rx__backref(struct regex *re, struct str t, size_t start, unsigned eflags, struct regex_span *spans, size_t n)
{
    size_t some;
    int r = rx__scan(re, &re->fwd, t, start, eflags, &some);
    if (r <= 0)
        return r;
    struct search s = {.re = re, .t = t, .eflags = eflags};
    r = init(&s);
    for (size_t p = start; r == 0 && p <= t.n; p++) {
        if (!inside_char(&s, p))
            r = from_place(&s, p);
        if (s.found || (eflags & REGEX_ANCHORED))
            break;
    }
    if (r == 0 && s.found) {
        for (size_t i = 0; i < n; i++)
            spans[i] = i < s.n_all && i <= re->prog.n_groups ? s.best[i] : (struct regex_span){-1, -1};
        r = 1;
    }
    mem_free(s.cur);
    mem_free(s.named);
    mem_free(s.log);
    mem_free(s.fork);
    mem_free(s.memo.slot);
    mem_free(s.memo.keys);
    return r;
}
