/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * dfa - deterministic automata over a program, made state by state while a text is read, in a bounded cache.
 *
 * A state lists program nodes. Going forward it lists what may come next; going backward, what leads to a match from
 * here. The place between two bytes has a context on either side (enum rx_ctx); the side already read is known, the
 * other one not yet, so a node that asserts something of it stays in the state as pending and is decided when the next
 * byte (a symbol) is. Whether a state accepts may thus depend on the context that follows: `mask` holds a bit for each.
 *
 * Symbols are classes of bytes that the program does not tell apart. Where the program looks at words, UTF-8 bytes have
 * more than one symbol each, since whether they belong to a letter is part of the context.
 *
 * Kinds: RX_FWD finds whether there is a match, RX_LINES the same for each line of a buffer, RX_LONGEST the end of the
 * leftmost-longest match: its states keep nodes of earlier beginnings apart from later ones, and drop the later ones
 * when an earlier one has matched. RX_BACK goes from a known end to the beginnings.
 *
 * Invariants:
 *   1. A cache never holds more than its limit, except that one state always fits and rx_dfa.hold lets it grow.
 *   2. Emptying the cache changes no result.
 */

#include "regex/prog.h"

enum rx_ctx {
    RX_OTHER,
    RX_WORD,
    RX_NL,       /* a newline that ends lines inside a text (REGEX_NEWLINE) */
    RX_EDGE,     /* the text's end, which is a line's too */
    RX_EDGE_NOT, /* the text's end, which is no line's (NOTBOL, NOTEOL) */
    RX_MID,      /* inside a character */
};
#define RX_N_CTX 6
#define RX_ANY_CTX 0x3f /* a mask of all */

enum rx_dfa_kind { RX_FWD, RX_LINES, RX_LONGEST, RX_BACK };

/* Symbols of a program; the same for all its automata. */
struct rx_syms {
    uint16_t of[256]; /* symbol of a byte; with `wide` the first of up to four for bytes above 0x7f */
    uint16_t n;
    bool wide;
    uint8_t byte[1024];  /* a byte of each symbol */
    uint8_t right[1024]; /* context before it */
    uint8_t left[1024];  /* and behind it */
};

/* Who leads to whom, for going backward. */
struct rx_preds {
    uint32_t *eps_off, *eps;   /* passed through */
    uint32_t *byte_off, *byte; /* consuming */
};

struct rx_set_of_nodes {
    uint32_t *dense, *sparse;
    uint32_t n;
};

/* Working memory of building states, shared by the automata of one regex. */
struct rx_scratch {
    struct rx_set_of_nodes a, b;
    uint32_t *stack, *list, *out;
    void *block;
};

struct rx_state {
    uint32_t hash;
    uint32_t link; /* next state of the bucket + 1 */
    uint32_t n;
    uint8_t left;                 /* context of the side already read; 0 when nothing is pending */
    uint8_t mask;                 /* contexts of the other side in which it accepts */
    bool pending;                 /* some node waits for the other side */
    bool closed;                  /* no new beginnings */
    uint32_t *resolved[RX_N_CTX]; /* RX_BACK: nodes when the other side is known, count first */
    uint32_t item[];
};

#define RX_STOP 0x80000000u    /* in a transition: look at the state it leads to */
#define RX_NONE 0xffffffffu    /* not made yet */
#define RX_EOL_HIT 0xfffffffeu /* RX_LINES: the line that ends here matches */
#define RX_SEP 0xffffffffu     /* in a list of nodes: a later beginning follows */

struct rx_chunk;

struct rx_dfa {
    const struct rx_prog *p;
    const struct rx_syms *syms;
    const struct rx_preds *preds; /* RX_BACK */
    struct rx_scratch *scratch;
    enum rx_dfa_kind kind;
    int eol;        /* RX_LINES: the byte, else -1 */
    unsigned shift; /* a row of `trans` has 1 << shift entries */
    uint32_t *trans;
    struct rx_state **state; /* a transition holds the number of a state << shift */
    uint32_t n_states, cap_states;
    uint32_t *bucket;
    uint32_t n_buckets;
    struct rx_chunk *chunk; /* memory of states */
    size_t chunk_used, used, limit;
    uint32_t start[RX_N_CTX][2];
    uint32_t flushes;
    uint32_t made; /* states ever made */
    bool hold;     /* do not empty the cache */
    bool plain;    /* RX_BACK, while a start is made: pass no assertion */
};

/* Fills in the symbols. @newline: lines end inside texts; @lines: for RX_LINES. */
void rx__syms_init(struct rx_syms *y, const struct rx_prog *p, bool newline, bool lines);

/* 0 or -ENOMEM. */
int rx__preds_init(struct rx_preds *r, const struct rx_prog *p) __attribute__((warn_unused_result));
/* Frees what rx__preds_init() and use have made. */
void rx__preds_done(struct rx_preds *r);

/* 0 or -ENOMEM. */
int rx__scratch_init(struct rx_scratch *s, const struct rx_prog *p) __attribute__((warn_unused_result));
/* Frees what rx__scratch_init() and use have made. */
void rx__scratch_done(struct rx_scratch *s);

/* An empty automaton; allocates nothing. */
void rx__dfa_init(struct rx_dfa *d, enum rx_dfa_kind kind, const struct rx_prog *p, const struct rx_syms *syms,
                  struct rx_scratch *scratch, size_t limit);
/* Frees what rx__dfa_init() and use have made. */
void rx__dfa_done(struct rx_dfa *d);

/* The state to begin in, where the context on the side already passed is @ctx; @closed: no later beginnings (RX_BACK:
 * false means that no assertion stands between the end and the byte before it). A value as in `trans`, or RX_NONE when
 * memory is short. */
uint32_t rx__dfa_start(struct rx_dfa *d, enum rx_ctx ctx, bool closed);

/* Makes the transition of state @s (an offset) on symbol @sym: a value as in `trans` but never RX_NONE, or RX_NONE when
 * memory is short. May empty the cache: *s is then the state's new offset. */
uint32_t rx__dfa_make(struct rx_dfa *d, uint32_t *s, unsigned sym);

/* The state behind an offset. */
static inline struct rx_state *rx__dfa_state(const struct rx_dfa *d, uint32_t s)
{
    return d->state[(s & ~RX_STOP) >> d->shift];
}

/* RX_BACK: whether node @id is in state @s when the context on the left is @ctx; -ENOMEM. */
int rx__dfa_has(struct rx_dfa *d, uint32_t s, enum rx_ctx ctx, uint32_t id);

/* Puts a state given by its content into the cache, as rx__dfa_start(). */
uint32_t rx__dfa_put(struct rx_dfa *d, const uint32_t *item, uint32_t n, uint8_t left, bool closed);

/* Whether an assertion is true between two contexts. */
bool rx__holds(enum rx_assert what, enum rx_ctx left, enum rx_ctx right);

/* Empties a cache that is more than half full, so that what follows fits in under `hold`. */
void rx__dfa_trim(struct rx_dfa *d);

/* Bytes that one state may take. */
size_t rx__dfa_state_size(const struct rx_dfa *d);
