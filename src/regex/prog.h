/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * prog - the byte automaton of a pattern.
 *
 * Nodes have numbers; 0 is never a node. A node either consumes a byte or is passed through. RXN_SPLIT prefers `a`. The
 * nodes of a set of characters are copies of one template: their ranges name targets relative to `base`, and 0 is the
 * node behind the set.
 *
 * Invariants:
 *   1. Every path from `start` ends at `match`, or nowhere (an empty set has no way on).
 *   2. Nodes between the bytes of one character are never RXN_SPLIT, RXN_OPEN, RXN_CLOSE or RXN_ASSERT.
 */

#include "regex/ast.h"

enum rxn_op {
    RXN_BYTE,    /* bytes lo..hi */
    RXN_SET,     /* n ranges from `b` */
    RXN_SPLIT,   /* to a, else to b */
    RXN_OPEN,    /* group n begins */
    RXN_CLOSE,   /* group n ends; opt: it is repeated and may be left out */
    RXN_ASSERT,  /* n is an enum rx_assert */
    RXN_BACKREF, /* the text of group n; the automaton takes any bytes */
    RXN_MATCH,
};

struct rxn {
    uint8_t op;
    uint8_t opt;
    uint8_t lo, hi;
    uint32_t n;
    uint32_t a;
    uint32_t b;
    uint32_t base;
};

struct rxn_range {
    uint8_t lo, hi;
    uint16_t zero;   /* no padding: templates are compared as bytes */
    uint32_t target; /* 0: the node's `a`; else base + target - 1 */
};

struct rx_prog {
    struct rxn *node;
    uint32_t n, cap;
    struct rxn_range *range;
    uint32_t n_ranges, cap_ranges;
    uint32_t start, match;
    uint32_t n_groups;
    uint32_t max_nodes;
    bool utf8;
    bool has_assert; /* any RXN_ASSERT */
    bool has_word;   /* any that looks at words or at character boundaries */
    bool has_backref;
    bool anchored; /* a match can only begin where the text does */
    int err;       /* sticky: 0 or -ENOMEM */
};

enum rx_wrap { RX_WRAP_NONE, RX_WRAP_WORD, RX_WRAP_LINE };

/* Compiles the tree: 0 or -ENOMEM (also for an automaton of more than @p->max_nodes nodes). @p is zeroed but for utf8,
 * n_groups, has_backref and max_nodes; the arena is scratch. */
int rx__prog(struct rx_prog *p, struct rx_ast *ast, enum rx_wrap wrap, struct arena *scratch)
    __attribute__((warn_unused_result));

/* Frees what the program holds. */
void rx__prog_done(struct rx_prog *p);

/* Changes the start so that only matches of at least one byte are left: 0 or -ENOMEM. */
int rx__prog_nonempty(struct rx_prog *p) __attribute__((warn_unused_result));

/* Whether the tree may match the empty string (a back-reference may). */
bool rx__nullable(const struct rx_ast *t);

/* Where node @id goes on byte @c: a node, or 0. Only for nodes that consume. */
static inline uint32_t rx__step(const struct rx_prog *p, uint32_t id, uint8_t c)
{
    const struct rxn *x = &p->node[id];
    if (x->op == RXN_BYTE)
        return c >= x->lo && c <= x->hi ? x->a : 0;
    if (x->op == RXN_BACKREF)
        return id;
    if (x->op != RXN_SET)
        return 0;
    if (x->n == 0) /* no range anywhere leaves no array to point into */
        return 0;
    const struct rxn_range *r = p->range + x->b;
    uint32_t lo = 0, hi = x->n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (c > r[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == x->n || c < r[lo].lo)
        return 0;
    return r[lo].target ? x->base + r[lo].target - 1 : x->a;
}
