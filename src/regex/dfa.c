/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/dfa.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"

#define CHUNK_SIZE 16384u

struct rx_chunk {
    struct rx_chunk *next;
    size_t cap;
    uint64_t data[];
};

/* ---- working memory ---- */

/* Pending assertions of RX_BACK are kept as node + program size, so sets hold twice the nodes. */
int rx__scratch_init(struct rx_scratch *s, const struct rx_prog *p)
{
    size_t n = 2 * (size_t)p->n + 2;
    uint32_t *m = mem_try_zalloc(9 * n * sizeof(uint32_t));
    if (!m)
        return -ENOMEM;
    s->block = m;
    s->a = (struct rx_set_of_nodes){m, m + n, 0};
    s->b = (struct rx_set_of_nodes){m + 2 * n, m + 3 * n, 0};
    s->stack = m + 4 * n;
    s->list = m + 6 * n;
    s->out = m + 7 * n + n / 2;
    return 0;
}

void rx__scratch_done(struct rx_scratch *s)
{
    mem_free(s->block);
    s->block = NULL;
}

static inline bool set_has(const struct rx_set_of_nodes *s, uint32_t id)
{
    return s->sparse[id] < s->n && s->dense[s->sparse[id]] == id;
}

static inline bool set_add(struct rx_set_of_nodes *s, uint32_t id)
{
    if (set_has(s, id))
        return false;
    s->sparse[id] = s->n;
    s->dense[s->n++] = id;
    return true;
}

/* ---- symbols ---- */

static enum rx_ctx byte_ctx(const struct rx_prog *p, unsigned b, bool newline)
{
    if (newline && b == '\n' && p->has_assert)
        return RX_NL;
    return p->has_word && b < 0x80 && unicode_is_word(b) ? RX_WORD : RX_OTHER;
}

static void add_sym(struct rx_syms *y, unsigned byte, enum rx_ctx right, enum rx_ctx left)
{
    y->byte[y->n] = (uint8_t)byte;
    y->right[y->n] = (uint8_t)right;
    y->left[y->n] = (uint8_t)left;
    y->n++;
}

/* The order in which sym_at() of exec.c counts. A first byte: of a letter, of another character, of none. A
 * continuation: inside, last of a letter, last of another, of none. */
static void add_wide(struct rx_syms *y, unsigned byte)
{
    if ((byte & 0xc0) == 0x80) {
        add_sym(y, byte, RX_MID, RX_MID);
        add_sym(y, byte, RX_MID, RX_WORD);
        add_sym(y, byte, RX_MID, RX_OTHER);
    } else {
        add_sym(y, byte, RX_WORD, RX_MID);
        add_sym(y, byte, RX_OTHER, RX_MID);
    }
    /* The GNU library takes a byte that is no UTF-8 for the character of that number here. */
    enum rx_ctx alone = unicode_is_word(byte) ? RX_WORD : RX_OTHER;
    add_sym(y, byte, alone, alone);
}

void rx__syms_init(struct rx_syms *y, const struct rx_prog *p, bool newline, bool lines)
{
    bool cut[257] = {true}; /* a new class begins here */
    for (uint32_t i = 0; i < p->n_ranges; i++)
        cut[p->range[i].lo] = cut[p->range[i].hi + 1] = true;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->node[i].op == RXN_BYTE)
            cut[p->node[i].lo] = cut[p->node[i].hi + 1] = true;
    }
    y->wide = p->utf8 && p->has_word;
    for (unsigned b = 0x80; y->wide && b < 256; b++)
        cut[b] = cut[b] || b == 0x80 || b == 0xc0 || unicode_is_word(b) != unicode_is_word(b - 1);
    for (unsigned b = 1; b < 256; b++)
        cut[b] = cut[b] || byte_ctx(p, b, newline) != byte_ctx(p, b - 1, newline);
    if (lines)
        cut[0] = cut[1] = cut['\n'] = cut['\n' + 1] = true;
    y->n = 0;
    for (unsigned b = 0; b < 256; b++) {
        if (cut[b] && y->wide && b >= 0x80) {
            y->of[b] = y->n;
            add_wide(y, b);
        } else if (cut[b]) {
            y->of[b] = y->n;
            add_sym(y, b, byte_ctx(p, b, newline), byte_ctx(p, b, newline));
        } else {
            y->of[b] = y->of[b - 1];
        }
    }
}

/* ---- predecessors ---- */

/* Calls for each way out of node @id: @consuming says which kind. */
static void each_edge(const struct rx_prog *p, uint32_t id, void (*fn)(struct rx_preds *, uint32_t, uint32_t, bool),
                      struct rx_preds *r)
{
    const struct rxn *x = &p->node[id];
    switch ((enum rxn_op)x->op) {
    case RXN_BYTE:
        fn(r, id, x->a, true);
        break;
    case RXN_SET: {
        uint32_t last = 0;
        for (uint32_t i = 0; i < x->n; i++) {
            uint32_t to = p->range[x->b + i].target ? x->base + p->range[x->b + i].target - 1 : x->a;
            if (to != last)
                fn(r, id, to, true);
            last = to;
        }
        break;
    }
    case RXN_SPLIT:
        fn(r, id, x->a, false);
        if (x->b != x->a)
            fn(r, id, x->b, false);
        break;
    case RXN_OPEN:
    case RXN_CLOSE:
    case RXN_ASSERT:
    case RXN_BACKREF:
        fn(r, id, x->a, false);
        break;
    case RXN_MATCH:
    default:
        break;
    }
}

static void count_edge(struct rx_preds *r, uint32_t from, uint32_t to, bool consuming)
{
    (void)from;
    (consuming ? r->byte_off : r->eps_off)[to]++;
}

static void put_edge(struct rx_preds *r, uint32_t from, uint32_t to, bool consuming)
{
    if (consuming)
        r->byte[--r->byte_off[to]] = from;
    else
        r->eps[--r->eps_off[to]] = from;
}

int rx__preds_init(struct rx_preds *r, const struct rx_prog *p)
{
    struct rx_preds x = {0};
    size_t off = (size_t)p->n + 1;
    x.eps_off = mem_try_zalloc(2 * off * sizeof(uint32_t));
    if (!x.eps_off)
        return -ENOMEM;
    x.byte_off = x.eps_off + off;
    for (uint32_t id = 1; id < p->n; id++)
        each_edge(p, id, count_edge, &x);
    for (uint32_t id = 1; id <= p->n; id++) {
        x.eps_off[id] += x.eps_off[id - 1];
        x.byte_off[id] += x.byte_off[id - 1];
    }
    size_t n_eps = x.eps_off[p->n], n_byte = x.byte_off[p->n];
    x.eps = mem_try((n_eps + n_byte + 1) * sizeof(uint32_t));
    if (!x.eps) {
        mem_free(x.eps_off);
        return -ENOMEM;
    }
    x.byte = x.eps + n_eps;
    /* Filling from the back turns the sums into the offsets of the first. */
    for (uint32_t id = 1; id < p->n; id++)
        each_edge(p, id, put_edge, &x);
    *r = x;
    return 0;
}

void rx__preds_done(struct rx_preds *r)
{
    mem_free(r->eps_off);
    mem_free(r->eps);
    *r = (struct rx_preds){0};
}

/* ---- assertions ---- */

#define CTX_UNKNOWN RX_N_CTX

enum verdict { NO, YES, MAYBE };

static enum verdict line_edge(unsigned ctx, bool text_only)
{
    if (ctx == CTX_UNKNOWN)
        return MAYBE;
    if (text_only)
        return ctx == RX_EDGE || ctx == RX_EDGE_NOT ? YES : NO;
    return ctx == RX_EDGE || ctx == RX_NL ? YES : NO;
}

/* Whether the side is (want) or is not (!want) a word character; inside a character nothing holds. */
static enum verdict word_side(unsigned ctx, bool want)
{
    if (ctx == CTX_UNKNOWN)
        return MAYBE;
    if (ctx == RX_MID)
        return NO;
    return (ctx == RX_WORD) == want ? YES : NO;
}

static enum verdict both(enum verdict a, enum verdict b)
{
    if (a == NO || b == NO)
        return NO;
    return a == YES && b == YES ? YES : MAYBE;
}

static enum verdict holds(enum rx_assert what, unsigned left, unsigned right)
{
    switch (what) {
    case RX_BOL:
        return line_edge(left, false);
    case RX_EOL:
        return line_edge(right, false);
    case RX_BUF_FIRST:
        return line_edge(left, true);
    case RX_BUF_LAST:
        return line_edge(right, true);
    case RX_WORD_FIRST:
        return both(word_side(left, false), word_side(right, true));
    case RX_WORD_LAST:
        return both(word_side(left, true), word_side(right, false));
    case RX_INSIDE_WORD:
        return both(word_side(left, true), word_side(right, true));
    case RX_INSIDE_OTHER:
        return both(word_side(left, false), word_side(right, false));
    case RX_NOT_WORD_LEFT:
        return word_side(left, false);
    case RX_NOT_WORD_RIGHT:
        return word_side(right, false);
    case RX_BOUNDARY:
        return left == CTX_UNKNOWN ? MAYBE : left == RX_MID ? NO : YES;
    default:
        return NO;
    }
}

bool rx__holds(enum rx_assert what, enum rx_ctx left, enum rx_ctx right)
{
    return holds(what, left, right) == YES;
}

/* ---- sets of nodes ---- */

/* A list being built in scratch memory. */
struct list {
    uint32_t *item;
    uint32_t n;
    bool pending;
    bool match;
};

/* Adds what can be reached from @id without a byte: consuming nodes, the match, and assertions that wait. */
static void close_forward(struct rx_dfa *d, struct rx_set_of_nodes *seen, uint32_t id, unsigned left, unsigned right,
                          struct list *out)
{
    const struct rx_prog *p = d->p;
    uint32_t *stack = d->scratch->stack;
    uint32_t top = 0;
    stack[top++] = id;
    while (top > 0) {
        id = stack[--top];
        if (!set_add(seen, id))
            continue;
        const struct rxn *x = &p->node[id];
        switch ((enum rxn_op)x->op) {
        case RXN_MATCH:
            out->match = true;
            out->item[out->n++] = id;
            break;
        case RXN_BYTE:
        case RXN_SET:
            out->item[out->n++] = id;
            break;
        case RXN_BACKREF:
            out->item[out->n++] = id;
            stack[top++] = x->a;
            break;
        case RXN_SPLIT:
            stack[top++] = x->b;
            stack[top++] = x->a;
            break;
        case RXN_OPEN:
        case RXN_CLOSE:
            stack[top++] = x->a;
            break;
        case RXN_ASSERT: {
            enum verdict v = holds((enum rx_assert)x->n, left, right);
            if (v == YES) {
                stack[top++] = x->a;
            } else if (v == MAYBE) {
                out->item[out->n++] = id;
                out->pending = true;
            }
            break;
        }
        default:
            break;
        }
    }
}

/* Adds what leads to @id without a byte, itself included; an assertion that waits as its number + p->n. */
static void close_back(struct rx_dfa *d, struct rx_set_of_nodes *seen, uint32_t id, unsigned left, unsigned right,
                       struct list *out)
{
    const struct rx_prog *p = d->p;
    const struct rx_preds *r = d->preds;
    uint32_t *stack = d->scratch->stack;
    uint32_t top = 0;
    if (!set_add(seen, id))
        return;
    stack[top++] = id;
    while (top > 0) {
        id = stack[--top];
        out->item[out->n++] = id;
        for (uint32_t i = r->eps_off[id]; i < r->eps_off[id + 1]; i++) {
            uint32_t from = r->eps[i];
            const struct rxn *x = &p->node[from];
            if (x->op == RXN_ASSERT) {
                if (d->plain)
                    continue;
                enum verdict v = holds((enum rx_assert)x->n, left, right);
                if (v == MAYBE && set_add(seen, from + p->n)) {
                    out->item[out->n++] = from + p->n;
                    out->pending = true;
                }
                if (v != YES)
                    continue;
            }
            if (set_add(seen, from))
                stack[top++] = from;
        }
    }
}

static int by_number(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    return (a > b) - (a < b);
}

static void sort_items(uint32_t *v, uint32_t n)
{
    if (n > 40) {
        qsort(v, n, sizeof(*v), by_number);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        uint32_t x = v[i], k = i;
        for (; k > 0 && v[k - 1] > x; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

/* The state's nodes now that the other side is @ctx, into @out (its memory: scratch->list). Groups of RX_LONGEST stay
 * apart. */
static void resolve(struct rx_dfa *d, const struct rx_state *s, unsigned ctx, struct list *out)
{
    struct rx_set_of_nodes *seen = &d->scratch->a;
    seen->n = 0;
    *out = (struct list){.item = d->scratch->list};
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t id = s->item[i];
        if (id == RX_SEP) {
            out->item[out->n++] = RX_SEP;
        } else if (d->kind == RX_BACK) {
            if (id < d->p->n)
                close_back(d, seen, id, ctx, s->left, out);
            else if (holds((enum rx_assert)d->p->node[id - d->p->n].n, ctx, s->left) == YES)
                close_back(d, seen, id - d->p->n, ctx, s->left, out);
        } else if (d->p->node[id].op == RXN_ASSERT) {
            if (holds((enum rx_assert)d->p->node[id].n, s->left, ctx) == YES)
                close_forward(d, seen, d->p->node[id].a, s->left, ctx, out);
        } else {
            close_forward(d, seen, id, s->left, ctx, out);
        }
    }
}

/* ---- states ---- */

static void *take(struct rx_dfa *d, size_t n)
{
    n = (n + 7) & ~(size_t)7;
    if (!d->chunk || d->chunk->cap - d->chunk_used < n) {
        size_t cap = NUM_MAX((size_t)CHUNK_SIZE, n);
        if (!d->chunk && n < 512)
            cap = 2048;
        struct rx_chunk *c = mem_try(sizeof(*c) + cap);
        if (!c)
            return NULL;
        c->next = d->chunk;
        c->cap = cap;
        d->chunk = c;
        d->chunk_used = 0;
        d->used += sizeof(*c) + cap;
    }
    void *r = (char *)d->chunk->data + d->chunk_used;
    d->chunk_used += n;
    return r;
}

static void drop_chunks(struct rx_dfa *d)
{
    while (d->chunk) {
        struct rx_chunk *c = d->chunk;
        d->chunk = c->next;
        mem_free(c);
    }
    d->chunk_used = 0;
}

static void empty_cache(struct rx_dfa *d)
{
    drop_chunks(d);
    d->n_states = 0;
    d->used =
        d->cap_states * ((sizeof(uint32_t) << d->shift) + sizeof(struct rx_state *)) + d->n_buckets * sizeof(uint32_t);
    if (d->bucket)
        memset(d->bucket, 0, d->n_buckets * sizeof(uint32_t));
    for (unsigned i = 0; i < RX_N_CTX; i++)
        d->start[i][0] = d->start[i][1] = RX_NONE;
    d->flushes++;
}

void rx__dfa_init(struct rx_dfa *d, enum rx_dfa_kind kind, const struct rx_prog *p, const struct rx_syms *syms,
                  struct rx_scratch *scratch, size_t limit)
{
    *d = (struct rx_dfa){.p = p, .syms = syms, .scratch = scratch, .kind = kind, .eol = -1, .limit = limit};
    while ((1u << d->shift) < syms->n)
        d->shift++;
    empty_cache(d);
}

void rx__dfa_done(struct rx_dfa *d)
{
    drop_chunks(d);
    mem_free(d->trans);
    mem_free(d->state);
    mem_free(d->bucket);
    d->trans = NULL;
    d->state = NULL;
    d->bucket = NULL;
}

size_t rx__dfa_state_size(const struct rx_dfa *d)
{
    return sizeof(struct rx_state) + 2 * (size_t)d->p->n * sizeof(uint32_t) + (sizeof(uint32_t) << d->shift);
}

/* Room for one more state and its row. */
static int grow(struct rx_dfa *d)
{
    if (d->n_states < d->cap_states)
        return 0;
    uint32_t cap = d->cap_states ? d->cap_states * 2 : 8;
    if ((uint64_t)cap << d->shift >= RX_STOP >> 1)
        return -ENOMEM;
    uint32_t *trans = mem_try_realloc(d->trans, ((size_t)cap << d->shift) * sizeof(*trans));
    if (!trans)
        return -ENOMEM;
    d->trans = trans;
    struct rx_state **state = mem_try_realloc(d->state, cap * sizeof(*state));
    if (!state)
        return -ENOMEM;
    d->state = state;
    uint32_t *bucket = mem_try_zalloc(2 * (size_t)cap * sizeof(*bucket));
    if (!bucket)
        return -ENOMEM;
    mem_free(d->bucket);
    d->bucket = bucket;
    d->n_buckets = 2 * cap;
    for (uint32_t i = 0; i < d->n_states; i++) {
        struct rx_state *s = d->state[i];
        s->link = bucket[s->hash & (d->n_buckets - 1)];
        bucket[s->hash & (d->n_buckets - 1)] = i + 1;
    }
    d->used += (size_t)(cap - d->cap_states) *
               ((sizeof(*trans) << d->shift) + sizeof(struct rx_state *) + 2 * sizeof(*bucket));
    d->cap_states = cap;
    return 0;
}

static uint32_t hash_items(const uint32_t *item, uint32_t n, unsigned left, bool closed)
{
    uint64_t h = n * 4u + left * 2u + closed;
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ item[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
    return (uint32_t)(h ^ h >> 32);
}

/* The contexts of the other side in which the state accepts. */
static uint8_t accept_mask(struct rx_dfa *d, const struct rx_state *s)
{
    uint32_t goal = d->kind == RX_BACK ? d->p->start : d->p->match;
    uint8_t mask = 0;
    if (!s->pending) {
        for (uint32_t i = 0; i < s->n; i++) {
            if (s->item[i] == goal)
                return RX_ANY_CTX;
        }
        return 0;
    }
    for (unsigned ctx = 0; ctx < RX_N_CTX; ctx++) {
        struct list l;
        resolve(d, s, ctx, &l);
        if (set_has(&d->scratch->a, goal))
            mask |= (uint8_t)(1u << ctx);
    }
    return mask;
}

static bool waits(const struct rx_dfa *d, const uint32_t *item, uint32_t n)
{
    if (!d->p->has_assert)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (item[i] != RX_SEP && (item[i] >= d->p->n || (d->kind != RX_BACK && d->p->node[item[i]].op == RXN_ASSERT)))
            return true;
    }
    return false;
}

static uint32_t encode(const struct rx_dfa *d, uint32_t index)
{
    const struct rx_state *s = d->state[index];
    bool look = s->mask || s->n == 0;
    return index << d->shift | (look ? RX_STOP : 0);
}

uint32_t rx__dfa_put(struct rx_dfa *d, const uint32_t *item, uint32_t n, uint8_t left, bool closed)
{
    bool pending = waits(d, item, n);
    if (!pending)
        left = 0;
    uint32_t hash = hash_items(item, n, left, closed);
    for (uint32_t i = d->n_buckets ? d->bucket[hash & (d->n_buckets - 1)] : 0; i; i = d->state[i - 1]->link) {
        const struct rx_state *s = d->state[i - 1];
        if (s->hash == hash && s->n == n && s->left == left && s->closed == closed &&
            (n == 0 || memcmp(s->item, item, n * sizeof(*item)) == 0))
            return encode(d, i - 1);
    }
    if (grow(d) < 0)
        return RX_NONE;
    struct rx_state *s = take(d, sizeof(*s) + n * sizeof(*item));
    if (!s)
        return RX_NONE;
    *s = (struct rx_state){.hash = hash, .n = n, .left = left, .pending = pending, .closed = closed};
    if (n > 0)
        memcpy(s->item, item, n * sizeof(*item));
    s->mask = accept_mask(d, s);
    uint32_t index = d->n_states++;
    d->state[index] = s;
    s->link = d->bucket[hash & (d->n_buckets - 1)];
    d->bucket[hash & (d->n_buckets - 1)] = index + 1;
    memset(d->trans + ((size_t)index << d->shift), 0xff, sizeof(uint32_t) << d->shift);
    d->made++;
    return encode(d, index);
}

uint32_t rx__dfa_start(struct rx_dfa *d, enum rx_ctx ctx, bool closed)
{
    closed = closed || (d->p->anchored && d->kind != RX_BACK);
    if (d->start[ctx][closed] != RX_NONE)
        return d->start[ctx][closed];
    if (d->used > d->limit && !d->hold)
        empty_cache(d);
    struct list out = {.item = d->scratch->out};
    d->scratch->b.n = 0;
    d->plain = d->kind == RX_BACK && !closed;
    if (d->kind == RX_BACK)
        close_back(d, &d->scratch->b, d->p->match, CTX_UNKNOWN, ctx, &out);
    else
        close_forward(d, &d->scratch->b, d->p->start, ctx, CTX_UNKNOWN, &out);
    d->plain = false;
    sort_items(out.item, out.n);
    uint32_t s = rx__dfa_put(d, out.item, out.n, (uint8_t)ctx, closed || d->kind == RX_BACK);
    d->start[ctx][closed] = s;
    return s;
}

/* ---- transitions ---- */

/* Steps the nodes in @from (one group) over byte @b, into @out. */
static void step_forward(struct rx_dfa *d, const uint32_t *from, uint32_t n, uint8_t b, unsigned left, struct list *out)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = rx__step(d->p, from[i], b);
        if (to)
            close_forward(d, &d->scratch->b, to, left, CTX_UNKNOWN, out);
    }
}

static void make_forward(struct rx_dfa *d, const struct rx_state *s, const uint32_t *from, uint32_t n, unsigned sym,
                         struct list *out)
{
    uint8_t b = d->syms->byte[sym];
    unsigned left = d->syms->left[sym];
    step_forward(d, from, n, b, left, out);
    if (!s->closed)
        close_forward(d, &d->scratch->b, d->p->start, left, CTX_UNKNOWN, out);
    sort_items(out->item, out->n);
}

static bool holds_match(const struct rx_dfa *d, const uint32_t *item, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (item[i] == d->p->match)
            return true;
    }
    return false;
}

/* As make_forward(), beginnings apart: true when one of them matches, which ends all later ones. */
static bool make_longest(struct rx_dfa *d, const struct rx_state *s, const uint32_t *from, uint32_t n, unsigned sym,
                         struct list *out)
{
    uint8_t b = d->syms->byte[sym];
    unsigned left = d->syms->left[sym];
    bool cut = false;
    for (uint32_t i = 0; i <= n && !cut;) {
        uint32_t end = i;
        while (end < n && from[end] != RX_SEP)
            end++;
        uint32_t at = out->n;
        if (at > 0)
            out->item[out->n++] = RX_SEP;
        uint32_t first = out->n;
        step_forward(d, from + i, end - i, b, left, out);
        if (out->n == first)
            out->n = at;
        else
            sort_items(out->item + first, out->n - first);
        cut = holds_match(d, from + i, end - i);
        i = end + 1;
    }
    if (cut || s->closed)
        return true;
    uint32_t at = out->n;
    if (at > 0)
        out->item[out->n++] = RX_SEP;
    uint32_t first = out->n;
    close_forward(d, &d->scratch->b, d->p->start, left, CTX_UNKNOWN, out);
    if (out->n == first)
        out->n = at;
    else
        sort_items(out->item + first, out->n - first);
    return false;
}

static void make_back(struct rx_dfa *d, const uint32_t *from, uint32_t n, unsigned sym, struct list *out)
{
    uint8_t b = d->syms->byte[sym];
    unsigned right = d->syms->right[sym];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = from[i];
        for (uint32_t k = d->preds->byte_off[to]; k < d->preds->byte_off[to + 1]; k++) {
            if (rx__step(d->p, d->preds->byte[k], b) == to)
                close_back(d, &d->scratch->b, d->preds->byte[k], CTX_UNKNOWN, right, out);
        }
    }
    sort_items(out->item, out->n);
}

/* RX_LINES at the end of a line: a hit, or the beginning of the next one. */
static uint32_t end_of_line(struct rx_dfa *d, const struct rx_state *s)
{
    if (s->mask & 1u << RX_EDGE)
        return RX_EOL_HIT;
    /* The caller's state must stay where it is. */
    bool hold = d->hold;
    d->hold = true;
    uint32_t t = rx__dfa_start(d, RX_EDGE, false);
    d->hold = hold;
    return t;
}

void rx__dfa_trim(struct rx_dfa *d)
{
    if (d->used > d->limit / 2)
        empty_cache(d);
}

uint32_t rx__dfa_make(struct rx_dfa *d, uint32_t *s, unsigned sym)
{
    if (d->used > d->limit && !d->hold) {
        /* The current state lives through it. */
        const struct rx_state *old = rx__dfa_state(d, *s);
        uint32_t n = old->n;
        uint8_t left = old->left;
        bool closed = old->closed;
        memcpy(d->scratch->list, old->item, n * sizeof(uint32_t));
        empty_cache(d);
        *s = rx__dfa_put(d, d->scratch->list, n, left, closed);
        if (*s == RX_NONE)
            return RX_NONE;
        *s &= ~RX_STOP;
    }
    const struct rx_state *st = rx__dfa_state(d, *s);
    uint32_t t;
    if (d->eol >= 0 && d->syms->byte[sym] == (uint8_t)d->eol) {
        t = end_of_line(d, st);
    } else {
        bool back = d->kind == RX_BACK;
        const uint32_t *from = st->item;
        uint32_t n = st->n;
        if (st->pending) {
            struct list l;
            resolve(d, st, back ? d->syms->left[sym] : d->syms->right[sym], &l);
            from = l.item;
            n = l.n;
        }
        struct list out = {.item = d->scratch->out};
        bool closed = st->closed;
        d->scratch->b.n = 0;
        if (back)
            make_back(d, from, n, sym, &out);
        else if (d->kind == RX_LONGEST)
            closed = make_longest(d, st, from, n, sym, &out);
        else
            make_forward(d, st, from, n, sym, &out);
        t = rx__dfa_put(d, out.item, out.n, back ? d->syms->right[sym] : d->syms->left[sym], closed);
    }
    if (t != RX_NONE)
        d->trans[*s + sym] = t;
    return t;
}

/* The list, count first, of the state's nodes when the other side is @ctx. */
static const uint32_t *resolved(struct rx_dfa *d, struct rx_state *s, enum rx_ctx ctx)
{
    if (s->resolved[ctx])
        return s->resolved[ctx];
    struct list l;
    resolve(d, s, ctx, &l);
    sort_items(l.item, l.n);
    uint32_t *r = take(d, (l.n + 1) * sizeof(*r));
    if (!r)
        return NULL;
    r[0] = l.n;
    memcpy(r + 1, l.item, l.n * sizeof(*r));
    s->resolved[ctx] = r;
    return r;
}

int rx__dfa_has(struct rx_dfa *d, uint32_t s, enum rx_ctx ctx, uint32_t id)
{
    struct rx_state *st = rx__dfa_state(d, s);
    const uint32_t *v = st->item;
    uint32_t lo = 0, hi = st->n;
    if (st->pending) {
        v = resolved(d, st, ctx);
        if (!v)
            return -ENOMEM;
        hi = *v++;
    }
    uint32_t end = hi;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (v[mid] < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < end && v[lo] == id;
}
