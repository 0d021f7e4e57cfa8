/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the files of the matcher share. */

#include "regex/dfa.h"
#include "regex/lit.h"
#include "regex/regex.h"

struct regex {
    struct rx_prog prog;
    struct rx_syms syms;
    struct rx_lit lit;
    unsigned flags;
    bool newline;  /* REGEX_NEWLINE */
    bool nonempty; /* only matches of at least a byte count (the inner regex of a word search) */
    struct regex_poll poll;

    /* Made at first use. */
    bool ready;
    struct rx_scratch scratch;
    struct rx_preds preds;
    struct rx_dfa fwd, lines, longest, back;
    uint32_t *track; /* states of the backward pass, for the groups */
    size_t track_cap;
    uint32_t *stamp; /* per node, for the walk through the groups */

    /* REGEX_WORD with a pattern that matches the empty string: GNU grep's retries need these (word.c). */
    struct regex *word_nonempty, *word_plain;
};

/* Makes working memory and automata: 0 or -ENOMEM. */
int rx__ready(struct regex *re) __attribute__((warn_unused_result));

/* 0, or what the poll function gave. */
static inline int rx__poll(const struct regex *re)
{
    return re->poll.fn ? re->poll.fn(re->poll.arg) : 0;
}

/* Bytes or states between two polls. */
#define RX_POLL_BYTES 65536u
#define RX_POLL_STATES 256u
#define RX_POLL_STEPS 4096u

/* The character that covers the byte last asked for. */
struct rx_char {
    size_t begin, end;
    bool valid, word;
};

/* Symbol of byte @i of @t; with syms->wide it depends on the character around it. */
unsigned rx__wide_sym(const struct rx_syms *y, struct str t, size_t i, struct rx_char *c);

static inline unsigned rx__sym(const struct rx_syms *y, struct str t, size_t i, struct rx_char *c)
{
    uint8_t b = (uint8_t)t.p[i];
    return y->wide && b >= 0x80 ? rx__wide_sym(y, t, i, c) : y->of[b];
}

/* Context on either side of the place before byte @i. */
enum rx_ctx rx__left(const struct regex *re, struct str t, size_t i, unsigned eflags);
enum rx_ctx rx__right(const struct regex *re, struct str t, size_t i, unsigned eflags);

/* Makes a transition as rx__dfa_make() and polls now and then: 0, -ENOMEM or the poll's result. */
int rx__make(struct regex *re, struct rx_dfa *d, uint32_t *s, unsigned sym, uint32_t *ret);

/* Runs @d (RX_FWD or RX_LONGEST) from @start: 1 and where the match ends (RX_FWD: some place where one does), 0 or an
 * error. */
int rx__scan(struct regex *re, struct rx_dfa *d, struct str t, size_t start, unsigned eflags, size_t *ret_end)
    __attribute__((warn_unused_result));

/* The first place at or after @start from which a match ends at @end (one does): 0 or an error. */
int rx__find_start(struct regex *re, struct str t, size_t start, size_t end, unsigned eflags, size_t *ret_start)
    __attribute__((warn_unused_result));

/* Fills spans[1..n) of the match spans[0]: 0 or an error. Leaves re->back.hold set. */
int rx__groups(struct regex *re, struct str t, unsigned eflags, struct regex_span *spans, size_t n)
    __attribute__((warn_unused_result));

/* Search with back-references, as regex_exec(). */
int rx__backref(struct regex *re, struct str t, size_t start, unsigned eflags, struct regex_span *spans, size_t n)
    __attribute__((warn_unused_result));

/* Search with grep's word rule where the pattern matches the empty string, as regex_exec(). */
int rx__word(struct regex *re, struct str t, size_t start, unsigned eflags, struct regex_span *spans, size_t n)
    __attribute__((warn_unused_result));
