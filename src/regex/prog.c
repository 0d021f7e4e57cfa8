/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/prog.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"

/* Code generation goes from the end to the beginning: each piece is told the node behind it. */

/* One node of a set's template. */
struct tnode {
    uint32_t off, n; /* its ranges */
    uint64_t hash;
};

struct tmpl {
    struct tnode *node;
    uint32_t n, cap;
};

struct gen {
    struct rx_prog *p;
    struct arena *a;
    struct tmpl *tmpl; /* by number, from 1 */
    uint32_t n_tmpl, cap_tmpl;
    bool copy; /* inside a copy that a repetition made */
};

static uint32_t fail(struct rx_prog *p)
{
    p->err = -ENOMEM;
    return 0;
}

/* Room for @n more nodes: the number of the first, 0 on failure. */
static uint32_t emit_n(struct rx_prog *p, uint32_t n)
{
    if (p->err || n > p->max_nodes || p->n > p->max_nodes - n)
        return fail(p);
    if (p->n + n > p->cap) {
        uint32_t cap = NUM_MAX(p->cap + p->cap / 2, p->n + n + 16);
        struct rxn *node = mem_try_realloc(p->node, cap * sizeof(*node));
        if (!node)
            return fail(p);
        p->node = node;
        p->cap = cap;
    }
    uint32_t id = p->n;
    p->n += n;
    memset(p->node + id, 0, n * sizeof(*p->node));
    return id;
}

static uint32_t emit(struct rx_prog *p, enum rxn_op op, uint32_t n, uint32_t a, uint32_t b)
{
    uint32_t id = emit_n(p, 1);
    if (id)
        p->node[id] = (struct rxn){.op = (uint8_t)op, .n = n, .a = a, .b = b};
    return id;
}

static uint32_t emit_byte(struct rx_prog *p, uint8_t lo, uint8_t hi, uint32_t next)
{
    uint32_t id = emit(p, RXN_BYTE, 0, next, 0);
    if (id) {
        p->node[id].lo = lo;
        p->node[id].hi = hi;
    }
    return id;
}

static uint32_t emit_assert(struct rx_prog *p, enum rx_assert what, uint32_t next)
{
    p->has_assert = true;
    if (what >= RX_WORD_FIRST)
        p->has_word = true;
    return emit(p, RXN_ASSERT, what, next, 0);
}

/* Appends ranges: the offset of the first; UINT32_MAX on failure. */
static uint32_t emit_ranges(struct rx_prog *p, const struct rxn_range *r, uint32_t n)
{
    if (p->n_ranges + n > p->cap_ranges) {
        uint32_t cap = NUM_MAX(p->cap_ranges * 2, p->n_ranges + n + 16);
        struct rxn_range *x = mem_try_realloc(p->range, cap * sizeof(*x));
        if (!x) {
            fail(p);
            return UINT32_MAX;
        }
        p->range = x;
        p->cap_ranges = cap;
    }
    if (n > 0)
        memcpy(p->range + p->n_ranges, r, n * sizeof(*r));
    p->n_ranges += n;
    return p->n_ranges - n;
}

/* ---- sets ---- */

/* Adds bytes lo..hi to @target behind what is in @out, joined where it can be. */
static void add_edge(struct rxn_range *out, uint32_t *n, uint32_t lo, uint32_t hi, uint32_t target)
{
    if (*n > 0 && out[*n - 1].hi + 1u == lo && out[*n - 1].target == target)
        out[*n - 1].hi = (uint8_t)hi;
    else
        out[(*n)++] = (struct rxn_range){(uint8_t)lo, (uint8_t)hi, 0, target};
}

/* The template node with these edges, made when it is new: its number + 1, as targets are. */
static uint32_t tmpl_node(struct gen *g, struct tmpl *t, const struct rxn_range *r, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ (r[i].lo | (uint32_t)r[i].hi << 8 | (uint64_t)r[i].target << 16)) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->node[i].hash == h && t->node[i].n == n && memcmp(g->p->range + t->node[i].off, r, n * sizeof(*r)) == 0)
            return i + 1;
    }
    uint32_t off = emit_ranges(g->p, r, n);
    if (off == UINT32_MAX)
        return 1;
    if (t->n == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 8;
        struct tnode *x = arena_alloc(g->a, cap * sizeof(*x));
        if (t->n > 0)
            memcpy(x, t->node, t->n * sizeof(*x));
        t->node = x;
        t->cap = cap;
    }
    t->node[t->n++] = (struct tnode){off, n, h};
    return t->n;
}

/* Walks sorted ranges; intervals are asked for in rising order. */
struct walk {
    const struct unicode_range *r;
    size_t n;
};

/* The node for the continuation bytes of the characters base .. base + 64^level - 1 that are in @w; 0 when none is. */
static uint32_t continuation(struct gen *g, struct tmpl *t, struct walk w, unsigned level, uint32_t base)
{
    struct rxn_range out[64];
    uint32_t n = 0, span = 1u << (6 * (level - 1));
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t lo = base + i * span, hi = lo + span - 1;
        while (w.n > 0 && w.r->hi < lo) {
            w.r++;
            w.n--;
        }
        if (w.n == 0)
            break;
        if (w.r->lo > hi)
            continue;
        uint32_t target = level > 1 ? continuation(g, t, w, level - 1, lo) : 0;
        if (level == 1 || target)
            add_edge(out, &n, 0x80 + i, 0x80 + i, target);
    }
    return n ? tmpl_node(g, t, out, n) : 0;
}

/* Adds the edges of all lead bytes of @len-byte characters, which are those in min..max. */
static void leads(struct gen *g, struct tmpl *t, const struct rx_set *s, unsigned len, uint32_t min, uint32_t max,
                  struct rxn_range *out, uint32_t *n)
{
    struct unicode_range *clip = arena_alloc(g->a, (s->n + 2) * sizeof(*clip));
    size_t k = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t lo = NUM_MAX(s->r[i].lo, min), hi = NUM_MIN(s->r[i].hi, max);
        if (lo > hi)
            continue;
        /* No surrogates. */
        if (lo < 0xd800 && hi >= 0xd800) {
            clip[k++] = (struct unicode_range){lo, 0xd7ff};
            lo = 0xd800;
        }
        if (lo >= 0xd800 && lo < 0xe000)
            lo = 0xe000;
        if (lo <= hi)
            clip[k++] = (struct unicode_range){lo, hi};
    }
    static const uint8_t first[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    uint32_t span = 1u << (6 * (len - 1));
    struct walk w = {clip, k};
    uint32_t full = 0; /* the node for a lead byte all of whose characters are in the set, once it is known */
    for (uint32_t lo = min & ~(span - 1); lo <= max; lo += span) {
        while (w.n > 0 && w.r->hi < lo) {
            w.r++;
            w.n--;
        }
        if (w.n == 0)
            break;
        if (w.r->lo > lo + span - 1)
            continue;
        bool whole = w.r->lo <= lo && w.r->hi >= lo + span - 1;
        uint32_t target = whole && full ? full : continuation(g, t, w, len - 1, lo);
        if (whole)
            full = target;
        if (target)
            add_edge(out, n, first[len] + lo / span, first[len] + lo / span, target);
    }
}

static uint32_t make_tmpl(struct gen *g, const struct rx_set *s)
{
    struct tmpl t = {0};
    struct rxn_range out[256];
    uint32_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t last = g->p->utf8 ? 0x7f : 0xff;
        if (s->r[i].lo <= last)
            add_edge(out, &n, s->r[i].lo, NUM_MIN(s->r[i].hi, last), 0);
    }
    if (g->p->utf8) {
        leads(g, &t, s, 2, 0x80, 0x7ff, out, &n);
        leads(g, &t, s, 3, 0x800, 0xffff, out, &n);
        leads(g, &t, s, 4, 0x10000, UNICODE_MAX, out, &n);
    }
    /* The root is the last: it must be a node of its own, so it is not shared. */
    tmpl_node(g, &t, out, n);
    if (g->n_tmpl == g->cap_tmpl) {
        uint32_t cap = g->cap_tmpl ? g->cap_tmpl * 2 : 8;
        struct tmpl *x = arena_alloc(g->a, cap * sizeof(*x));
        if (g->n_tmpl > 0)
            memcpy(x, g->tmpl, g->n_tmpl * sizeof(*x));
        g->tmpl = x;
        g->cap_tmpl = cap;
    }
    g->tmpl[g->n_tmpl++] = t;
    return g->n_tmpl;
}

static uint32_t gen_set(struct gen *g, struct rx_set *s, uint32_t next)
{
    struct rx_prog *p = g->p;
    if (s->tmpl == 0)
        s->tmpl = make_tmpl(g, s);
    if (p->err)
        return 0;
    const struct tmpl *t = &g->tmpl[s->tmpl - 1];
    const struct rxn_range *r = p->range ? p->range + t->node[0].off : NULL;
    if (r && t->n == 1 && t->node[0].n == 1)
        return emit_byte(p, r->lo, r->hi, next);
    uint32_t base = emit_n(p, t->n);
    if (!base)
        return 0;
    for (uint32_t i = 0; i < t->n; i++)
        p->node[base + i] =
            (struct rxn){.op = RXN_SET, .n = t->node[i].n, .a = next, .b = t->node[i].off, .base = base};
    return base + t->n - 1;
}

static uint32_t gen_char(struct gen *g, uint32_t c, uint32_t next)
{
    char b[4];
    if (!g->p->utf8 || c < 0x80)
        return emit_byte(g->p, (uint8_t)c, (uint8_t)c, next);
    for (unsigned i = unicode_encode(c, b); i > 0; i--)
        next = emit_byte(g->p, (uint8_t)b[i - 1], (uint8_t)b[i - 1], next);
    return next;
}

/* A byte that is no character must not be found inside one. */
static uint32_t gen_raw(struct gen *g, uint32_t c, uint32_t next)
{
    next = emit_assert(g->p, RX_BOUNDARY, next);
    next = emit_byte(g->p, (uint8_t)c, (uint8_t)c, next);
    return emit_assert(g->p, RX_BOUNDARY, next);
}

/* ---- strings ---- */

struct edge {
    struct edge *next;
    uint8_t c;
    uint32_t target;
};

/* A node of the trie that may still get edges. */
struct open_node {
    struct edge *edges, *tail;
    bool word; /* a word ends here */
};

/* The two characters beyond ASCII whose upper case is an ASCII letter: dotless i and long s. */
static void add_foreign(struct rx_prog *p, struct rxn_range *out, uint32_t *n)
{
    static const uint8_t seq[2][3] = {{'I', 0xc4, 0xb1}, {'S', 0xc5, 0xbf}};
    for (unsigned k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < *n && out[i].lo <= seq[k][0]; i++) {
            if (out[i].hi < seq[k][0])
                continue;
            uint32_t id = emit_byte(p, seq[k][2], seq[k][2], out[i].target);
            out[(*n)++] = (struct rxn_range){seq[k][1], seq[k][1], 0, id};
            break;
        }
    }
}

static uint32_t close_node(struct gen *g, const struct open_node *o, bool icase, uint32_t next)
{
    struct rxn_range out[256];
    uint32_t n = 0;
    if (!o->edges)
        return next;
    for (const struct edge *e = o->edges; e; e = e->next)
        add_edge(out, &n, e->c, e->c, e->target);
    if (icase) {
        /* Words are upper case; the small letters come behind '_' and '`', so the order is kept by a second pass. */
        struct rxn_range both[256];
        uint32_t m = 0, i = 0;
        for (; i < n && out[i].lo < 'a'; i++)
            both[m++] = out[i];
        for (const struct edge *e = o->edges; e; e = e->next) {
            if (e->c >= 'A' && e->c <= 'Z')
                both[m++] = (struct rxn_range){(uint8_t)(e->c + 32), (uint8_t)(e->c + 32), 0, e->target};
        }
        for (; i < n; i++)
            both[m++] = out[i];
        memcpy(out, both, m * sizeof(*out));
        n = m;
    }
    if (icase && g->p->utf8)
        add_foreign(g->p, out, &n);
    uint32_t off = emit_ranges(g->p, out, n);
    uint32_t id = emit(g->p, RXN_SET, n, next, off);
    if (!id)
        return 0;
    g->p->node[id].base = 1; /* targets are node numbers */
    return o->word ? emit(g->p, RXN_SPLIT, 0, id, next) : id;
}

/* A trie over sorted words: the nodes of the last word's path are open, the others are done. */
static uint32_t gen_trie(struct gen *g, const struct rx_ast *t, uint32_t next)
{
    const struct str *w = t->u.trie.words;
    size_t max = 0;
    for (size_t i = 0; i < t->u.trie.n; i++)
        max = NUM_MAX(max, w[i].n);
    struct open_node *open = arena_zalloc(g->a, (max + 1) * sizeof(*open));
    size_t depth = 0;
    for (size_t i = 0; i <= t->u.trie.n && !g->p->err; i++) {
        size_t same = 0;
        if (i < t->u.trie.n) {
            while (i > 0 && same < depth && same < w[i].n && w[i].p[same] == w[i - 1].p[same])
                same++;
        }
        for (; depth > same; depth--) {
            uint32_t id = close_node(g, &open[depth], t->u.trie.icase, next);
            open[depth - 1].tail->target = id ? id : 1;
            open[depth] = (struct open_node){0};
        }
        if (i == t->u.trie.n)
            break;
        for (; depth < w[i].n; depth++) {
            struct edge *e = ARENA_NEW(g->a, struct edge);
            e->c = (uint8_t)w[i].p[depth];
            if (open[depth].tail)
                open[depth].tail->next = e;
            else
                open[depth].edges = e;
            open[depth].tail = e;
        }
        open[depth].word = true;
    }
    return close_node(g, &open[0], t->u.trie.icase, next);
}

/* ---- the tree ---- */

static uint32_t gen(struct gen *g, struct rx_ast *t, uint32_t next);
static uint32_t gen_group(struct gen *g, struct rx_ast *t, uint32_t next, bool opt, bool copy);

static bool is_single(const struct rx_ast *t)
{
    return t->kind == RX_CHAR || t->kind == RX_SET;
}

/* x{m,n} of a single character: optional copies are nested inwards, which keeps the sets of nodes small. */
static uint32_t gen_repeat_single(struct gen *g, struct rx_ast *x, int min, int max, uint32_t next)
{
    struct rx_prog *p = g->p;
    uint32_t cur = next;
    if (max == RX_INF) {
        uint32_t split = emit(p, RXN_SPLIT, 0, 0, next);
        uint32_t body = gen(g, x, split);
        if (!split || !body)
            return 0;
        p->node[split].a = body;
        cur = min > 0 ? body : split;
        min = min > 0 ? min - 1 : 0;
    } else {
        for (int i = min; i < max && !p->err; i++)
            cur = emit(p, RXN_SPLIT, 0, gen(g, x, cur), next);
    }
    for (int i = 0; i < min && !p->err; i++)
        cur = gen(g, x, cur);
    return cur;
}

/* One of the copies of @x; @first: it is the one the pattern holds, @opt: it may be left out. */
static uint32_t gen_copy(struct gen *g, struct rx_ast *x, uint32_t next, bool first, bool opt)
{
    bool copy = g->copy;
    uint32_t id;
    if (x->kind == RX_GROUP) {
        id = gen_group(g, x, next, opt && !copy, !first);
    } else {
        g->copy = copy || !first;
        id = gen(g, x, next);
        g->copy = copy;
    }
    return id;
}

/* Groups and their kin: the optional copies are x? inside (x?x)? inside ..., as the GNU library has them, because which
 * copy takes part decides what the groups hold. Of those only the first is told that it may be left out, and copies
 * forget what was told to the groups inside them; so does that library. */
static uint32_t gen_repeat(struct gen *g, struct rx_ast *t, uint32_t next)
{
    struct rx_prog *p = g->p;
    struct rx_ast *x = t->child;
    int min = t->u.rep.min, max = t->u.rep.max;
    if (is_single(x))
        return gen_repeat_single(g, x, min, max, next);
    uint32_t cur = next;
    if (max == RX_INF) {
        cur = emit(p, RXN_SPLIT, 0, 0, next);
        uint32_t body = gen_copy(g, x, cur, min == 0, true);
        if (!cur || !body)
            return 0;
        p->node[cur].a = body;
    } else if (max > min) {
        uint32_t outer = 0, first = 0;
        for (int i = max; i > min && !p->err; i--) {
            uint32_t split = emit(p, RXN_SPLIT, 0, 0, cur);
            if (outer)
                p->node[outer].a = split;
            else
                first = split;
            outer = split;
            cur = gen_copy(g, x, cur, i == 1, i == min + 1);
        }
        if (p->err)
            return 0;
        p->node[outer].a = cur;
        cur = first;
    }
    for (int i = min; i > 0 && !p->err; i--)
        cur = gen_copy(g, x, cur, i == 1, false);
    return cur;
}

static uint32_t gen_cat(struct gen *g, struct rx_ast *t, uint32_t next)
{
    size_t n = 0;
    for (const struct rx_ast *c = t->child; c; c = c->next)
        n++;
    struct rx_ast **list = arena_alloc(g->a, n * sizeof(struct rx_ast *));
    n = 0;
    for (struct rx_ast *c = t->child; c; c = c->next)
        list[n++] = c;
    while (n > 0 && !g->p->err)
        next = gen(g, list[--n], next);
    return next;
}

/* Nested to the left, ((x|y)|z), which decides where a walk that has passed a fork before goes on. */
static uint32_t gen_alt(struct gen *g, struct rx_ast *t, uint32_t next)
{
    uint32_t cur = gen(g, t->child, next);
    for (struct rx_ast *c = t->child->next; c && !g->p->err; c = c->next)
        cur = emit(g->p, RXN_SPLIT, 0, cur, gen(g, c, next));
    return cur;
}

/* @opt: this group may be left out; @copy: what is inside is a copy. */
static uint32_t gen_group(struct gen *g, struct rx_ast *t, uint32_t next, bool opt, bool copy)
{
    struct rx_prog *p = g->p;
    if (p->n_groups == 0 && !p->has_backref)
        return t->child ? gen(g, t->child, next) : next;
    uint32_t close = emit(p, RXN_CLOSE, t->u.group, next, 0);
    if (!close)
        return 0;
    p->node[close].opt = opt;
    bool outer = g->copy;
    g->copy = outer || copy;
    uint32_t body = t->child ? gen(g, t->child, close) : close;
    g->copy = outer;
    return emit(p, RXN_OPEN, t->u.group, body, 0);
}

static uint32_t gen(struct gen *g, struct rx_ast *t, uint32_t next)
{
    if (g->p->err)
        return 0;
    switch (t->kind) {
    case RX_EMPTY:
        return next;
    case RX_CHAR:
        return gen_char(g, t->u.c, next);
    case RX_RAW:
        return gen_raw(g, t->u.c, next);
    case RX_SET:
        return gen_set(g, t->u.set, next);
    case RX_CAT:
        return gen_cat(g, t, next);
    case RX_ALT:
        return gen_alt(g, t, next);
    case RX_REPEAT:
        return gen_repeat(g, t, next);
    case RX_GROUP:
        return gen_group(g, t, next, false, false);
    case RX_BACKREF:
        return emit(g->p, RXN_BACKREF, t->u.group, next, 0);
    case RX_ASSERT:
        return emit_assert(g->p, t->u.assert_, next);
    case RX_TRIE:
        return gen_trie(g, t, next);
    default:
        return fail(g->p);
    }
}

static bool is_anchored(const struct rx_ast *t)
{
    switch (t->kind) {
    case RX_ASSERT:
        return t->u.assert_ == RX_BOL || t->u.assert_ == RX_BUF_FIRST;
    case RX_CAT:
        return is_anchored(t->child);
    case RX_GROUP:
        return t->child && is_anchored(t->child);
    case RX_ALT:
        for (const struct rx_ast *c = t->child; c; c = c->next) {
            if (!is_anchored(c))
                return false;
        }
        return true;
    case RX_REPEAT:
        return t->u.rep.min > 0 && is_anchored(t->child);
    case RX_EMPTY:
    case RX_CHAR:
    case RX_RAW:
    case RX_SET:
    case RX_BACKREF:
    case RX_TRIE:
    default:
        return false;
    }
}

bool rx__nullable(const struct rx_ast *t)
{
    switch (t->kind) {
    case RX_EMPTY:
    case RX_ASSERT:
    case RX_BACKREF:
        return true;
    case RX_CAT:
        for (const struct rx_ast *c = t->child; c; c = c->next) {
            if (!rx__nullable(c))
                return false;
        }
        return true;
    case RX_ALT:
        for (const struct rx_ast *c = t->child; c; c = c->next) {
            if (rx__nullable(c))
                return true;
        }
        return false;
    case RX_GROUP:
        return !t->child || rx__nullable(t->child);
    case RX_REPEAT:
        return t->u.rep.min == 0 || rx__nullable(t->child);
    case RX_TRIE:
        return t->u.trie.n > 0 && t->u.trie.words[0].n == 0;
    case RX_CHAR:
    case RX_RAW:
    case RX_SET:
    default:
        return false;
    }
}

int rx__prog(struct rx_prog *p, struct rx_ast *ast, enum rx_wrap wrap, struct arena *scratch)
{
    struct gen g = {.p = p, .a = scratch};
    if (emit_n(p, 1) != 0 || p->err) /* number 0 is no node */
        return -ENOMEM;
    p->match = emit(p, RXN_MATCH, 0, 0, 0);
    uint32_t end = p->match;
    if (wrap == RX_WRAP_WORD)
        end = emit_assert(p, RX_NOT_WORD_RIGHT, end);
    else if (wrap == RX_WRAP_LINE)
        end = emit_assert(p, RX_BUF_LAST, end);
    p->start = gen(&g, ast, end);
    if (wrap == RX_WRAP_WORD)
        p->start = emit_assert(p, RX_NOT_WORD_LEFT, p->start);
    else if (wrap == RX_WRAP_LINE)
        p->start = emit_assert(p, RX_BUF_FIRST, p->start);
    p->anchored = wrap == RX_WRAP_LINE || is_anchored(ast);
    return p->err;
}

void rx__prog_done(struct rx_prog *p)
{
    mem_free(p->node);
    mem_free(p->range);
    p->node = NULL;
    p->range = NULL;
}

int rx__prog_nonempty(struct rx_prog *p)
{
    uint32_t n = p->n;
    uint32_t *copy = mem_try_zalloc(n * sizeof(*copy));
    uint32_t *todo = mem_try((2 * (size_t)n + 1) * sizeof(*todo)); /* a node adds two at most, and only once */
    uint32_t n_todo = 0;
    /* A byte range that holds nothing: where the empty match would have been. */
    uint32_t dead = emit_byte(p, 1, 0, p->match);
    if (!copy || !todo || !dead) {
        fail(p);
        goto out;
    }
    copy[p->match] = dead;
    todo[n_todo++] = p->start;
    while (n_todo > 0 && !p->err) {
        uint32_t id = todo[--n_todo];
        struct rxn x = p->node[id];
        if (copy[id])
            continue;
        if (x.op == RXN_BYTE || x.op == RXN_SET || x.op == RXN_BACKREF) {
            copy[id] = id;
            continue;
        }
        copy[id] = emit(p, RXN_SPLIT, 0, 0, 0);
        if (p->err)
            break;
        p->node[copy[id]] = x;
        if (!copy[x.a])
            todo[n_todo++] = x.a;
        if (x.op == RXN_SPLIT && !copy[x.b])
            todo[n_todo++] = x.b;
    }
    for (uint32_t id = n; id < p->n && !p->err; id++) {
        struct rxn *x = &p->node[id];
        if (x->op == RXN_BYTE)
            continue;
        x->a = copy[x->a];
        if (x->op == RXN_SPLIT)
            x->b = copy[x->b];
    }
    if (!p->err)
        p->start = copy[p->start];
out:
    mem_free(copy);
    mem_free(todo);
    return p->err;
}
