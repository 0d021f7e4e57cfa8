/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * pattern_int - compiled patterns: what pattern.c (compiling, patterns without extglob) and pattern_ext.c (with) share.
 *
 * A pattern is a sequence of items. Without extglob groups it is cut at its `*` into segments of fixed length, so that
 * the shortest and longest match come from placing each segment at its first (or last) possible place: no backtracking.
 * With groups, the set of all positions a match can end at is computed item by item; its cost is a polynomial of the
 * length of the text.
 */

#include "base/arena.h"
#include "base/str.h"
#include "shell/expand_int.h"
#include "shell/uchar_int.h"

struct proc;
struct shell;
struct pat_item;

enum pat_kind {
    PAT_CHAR,
    PAT_ANY,   /* ? */
    PAT_STAR,  /* * */
    PAT_SET,   /* [...] */
    PAT_GROUP, /* ?( *( +( @( !( */
    PAT_NEVER, /* matches nothing */
};

struct pat_range {
    uint32_t lo, hi;
};

struct pat_set {
    uint64_t low[4];          /* characters (or bytes) below 256 */
    struct pat_range *ranges; /* above */
    uint32_t n_ranges;
    uint32_t classes; /* bits of enum uchar_class, for characters above 255 */
    bool negate;
};

struct pat_seq {
    struct pat_item *items;
    uint32_t n;
};

struct pat_item {
    enum pat_kind kind;
    char op;    /* of a group */
    uint32_t c; /* of a char; folded when case is ignored */
    union {
        const struct pat_set *set;
        struct pat_seq *alts; /* of a group */
    };
    uint32_t n_alts;
};

struct pattern {
    struct pat_seq seq;
    int flags;
    bool has_group;
    bool too_deep; /* groups nested beyond the limit: matches nothing, and must not be used silently */
    bool odd;      /* a '*', maybe '?', and then @(…), +(…) or !(…): see pattern_ext.c */
    bool literal;  /* only chars below 0x80 (or bytes), case matters: text holds them */
    uint32_t stars;
    uint32_t first_star, last_star; /* indices, when stars > 0 */
    struct str text;                /* of a literal */
    struct str source;              /* what it was compiled from; borrowed */
};

/* Compiles @pat into @a. @flags as it is for the texts: PATTERN_UTF8 only for valid UTF-8. Never NULL. */
struct pattern *pattern__compile(struct arena *a, struct str pat, int flags);

/* @c in lower case; bytes of another encoding than UTF-8 have none. */
static inline uint32_t pattern__fold(uint32_t c, int flags)
{
    return c < 0x80 || (flags & PATTERN_UTF8) ? unicode_lower(c) : c;
}

/* Whether one character @c matches a char, any or set item. */
bool pattern__item(const struct pattern *p, const struct pat_item *it, uint32_t c);

/* Whether the pattern can begin with a literal '.' (glob's rule for hidden names). */
bool pattern__starts_dot(const struct pattern *p);

enum pat_want { PAT_WHOLE, PAT_PREFIX_SHORT, PAT_PREFIX_LONG, PAT_SUFFIX_SHORT, PAT_SUFFIX_LONG };

/* The flags to match this pair with: characters are bytes unless both are valid UTF-8 and one holds more than ASCII. */
int pattern__flags(struct str pat, struct str text, int flags);

/* False after a message and an abort of the command when @p is too deep. */
bool pattern__usable(struct shell *sh, const struct pattern *p);

/* Runs @p on @text: the length of what matched, or -1. @proc (may be NULL) is polled. */
ptrdiff_t pattern__run(const struct pattern *p, struct proc *proc, struct str text, enum pat_want want);

/* Leftmost longest match at or after @from. */
bool pattern__search(const struct pattern *p, struct proc *proc, struct str text, size_t from, size_t *ret_start,
                     size_t *ret_len);

/* The same for patterns with groups. */
ptrdiff_t pattern__run_ext(const struct pattern *p, struct proc *proc, struct str text, enum pat_want want);
/* See pattern__run_ext(). */
bool pattern__search_ext(const struct pattern *p, struct proc *proc, struct str text, size_t from, size_t *ret_start,
                         size_t *ret_len);
