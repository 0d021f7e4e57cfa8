/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/lit.h"

#include "base/num.h"

/* ---- which string ---- */

struct walk {
    bool icase;
    bool broken;   /* something other than plain characters was met */
    bool at_start; /* the run in `run` began where the pattern does */
    uint32_t n;
    uint8_t run[RX_LIT_MAX];
    struct rx_lit *best;
    unsigned best_score;
};

/* How common a byte is in texts and sources: a rough guess, higher is more common. */
static unsigned commonness(uint8_t c)
{
    static const char order[] = "zqjxkvbpygfwmcuhldrnsiaot e";
    if (c >= 'A' && c <= 'Z')
        return 60;
    if (c >= '0' && c <= '9')
        return 70;
    if (c == '\n' || c == 0 || c == '\t')
        return 150;
    if (c >= 0x80)
        return 80;
    if ((c >= 'a' && c <= 'z') || c == ' ')
        return 80 + 4 * (unsigned)((const char *)memchr(order, c, sizeof(order) - 1) - order);
    return c < 0x20 ? 10 : 50;
}

static void end_run(struct walk *w)
{
    unsigned score = 0;
    for (uint32_t i = 0; i < w->n; i++)
        score += 260 - commonness(w->run[i]);
    if (w->n > 0 && score > w->best_score) {
        w->best_score = score;
        w->best->n = w->n;
        w->best->prefix = w->at_start;
        memcpy(w->best->p, w->run, w->n);
    }
    w->n = 0;
    w->at_start = false;
    w->broken = true;
}

static void add_bytes(struct walk *w, const char *p, unsigned n)
{
    if (w->n + n > RX_LIT_MAX)
        end_run(w);
    memcpy(w->run + w->n, p, n);
    w->n += n;
}

/* The small letter when the set is one ASCII letter in both cases, else 0. */
static uint8_t letter_pair(const struct rx_set *s)
{
    if (s->n != 2 || s->r[0].lo != s->r[0].hi || s->r[1].lo != s->r[1].hi || s->r[1].lo - s->r[0].lo != 32)
        return 0;
    uint32_t c = s->r[1].lo;
    return c >= 'a' && c <= 'z' ? (uint8_t)c : 0;
}

static void visit(struct walk *w, const struct rx_ast *t, bool utf8)
{
    char b[4];
    switch (t->kind) {
    case RX_EMPTY:
        break;
    case RX_CHAR:
        if (utf8) {
            unsigned n = unicode_encode(t->u.c, b);
            add_bytes(w, b, n);
        } else {
            b[0] = (char)t->u.c;
            add_bytes(w, b, 1);
        }
        break;
    case RX_SET:
        b[0] = (char)(w->icase ? letter_pair(t->u.set) : 0);
        if (b[0])
            add_bytes(w, b, 1);
        else
            end_run(w);
        break;
    case RX_CAT:
        for (const struct rx_ast *c = t->child; c; c = c->next)
            visit(w, c, utf8);
        break;
    case RX_GROUP:
        if (t->child)
            visit(w, t->child, utf8);
        break;
    case RX_REPEAT:
        if (t->u.rep.min > 0)
            visit(w, t->child, utf8);
        end_run(w);
        break;
    case RX_ASSERT:
        w->broken = true;
        break;
    case RX_RAW:
    case RX_ALT:
    case RX_BACKREF:
    case RX_TRIE:
    default:
        end_run(w);
        break;
    }
}

void rx__lit_init(struct rx_lit *l, const struct rx_ast *t, bool icase, bool utf8)
{
    struct walk w = {.icase = icase, .at_start = true, .best = l};
    *l = (struct rx_lit){.fold = icase};
    visit(&w, t, utf8);
    l->exact = !w.broken && w.n > 0;
    end_run(&w);
    for (uint32_t i = 1; i < l->n; i++) {
        if (commonness(l->p[i]) < commonness(l->p[l->i]))
            l->i = i;
    }
    l->k = l->i == 0 && l->n > 1 ? 1 : 0;
    for (uint32_t i = 0; i < l->n; i++) {
        if (i != l->i && commonness(l->p[i]) < commonness(l->p[l->k]))
            l->k = i;
    }
}

/* ---- searching ---- */

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

static inline bytes16 load16(const uint8_t *p)
{
    bytes16 v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline bytes16 all16(uint8_t c)
{
    return (bytes16){c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c};
}

static inline uint8_t fold_byte(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static inline uint8_t fold_mask(const struct rx_lit *l, uint8_t c)
{
    return l->fold && c >= 'a' && c <= 'z' ? 0x20 : 0;
}

static bool stands_at(const struct rx_lit *l, const uint8_t *p)
{
    if (!l->fold)
        return memcmp(p, l->p, l->n) == 0;
    for (uint32_t i = 0; i < l->n; i++) {
        if (fold_byte(p[i]) != l->p[i])
            return false;
    }
    return true;
}

static size_t find_slow(const struct rx_lit *l, const uint8_t *t, size_t from, size_t last)
{
    uint8_t mi = fold_mask(l, l->p[l->i]);
    for (size_t at = from; at <= last; at++) {
        if ((t[at + l->i] | mi) == l->p[l->i] && stands_at(l, t + at))
            return at;
    }
    return SIZE_MAX;
}

/* Sixteen places at a time: both rare bytes must be where they belong. */
static size_t find_pair(const struct rx_lit *l, const uint8_t *t, size_t from, size_t last)
{
    uint8_t ci = l->p[l->i], ck = l->p[l->k];
    bytes16 vi = all16(ci), vk = all16(ck);
    bytes16 mi = all16(fold_mask(l, ci)), mk = all16(fold_mask(l, ck));
    size_t at = from;
    for (; at + 15 <= last; at += 16) {
        union {
            bytes16 b;
            words2 w;
        } eq;
        eq.b = (bytes16)(((load16(t + at + l->i) | mi) == vi) & ((load16(t + at + l->k) | mk) == vk));
        if (__builtin_expect((eq.w[0] | eq.w[1]) == 0, 1))
            continue;
        for (unsigned j = 0; j < 16; j++) {
            if (eq.b[j] && stands_at(l, t + at + j))
                return at + j;
        }
    }
    return find_slow(l, t, at, last);
}

size_t rx__lit_find(const struct rx_lit *l, struct str text, size_t from)
{
    if (text.n < l->n || from > text.n - l->n)
        return SIZE_MAX;
    size_t last = text.n - l->n;
    const uint8_t *t = (const uint8_t *)text.p;
    if (l->n == 1 && !fold_mask(l, l->p[0])) {
        const uint8_t *hit = memchr(t + from, l->p[0], last + 1 - from);
        return hit ? (size_t)(hit - t) : SIZE_MAX;
    }
    return find_pair(l, t, from, last);
}
