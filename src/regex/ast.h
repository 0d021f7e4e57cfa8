/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * ast - the tree a pattern is parsed into, and sets of characters.
 *
 * Everything lives in the arena of one compilation. Children are sibling lists, so that a long pattern is wide and not
 * deep; depth is counted and bounded by LIMIT_REGEX_DEPTH, which is what lets later passes recurse.
 */

#include "base/arena.h"
#include "regex/unicode.h"

/* What GNU calls syntax bits: one for each point where dialects differ. */
enum rx_syntax {
    RX_BK_PARENS = 1 << 0,               /* \( \) group, ( ) are plain */
    RX_BK_BRACES = 1 << 1,               /* \{ \} repeat */
    RX_BK_VBAR = 1 << 2,                 /* \| alternates */
    RX_BK_PLUS_QM = 1 << 3,              /* \+ \? repeat, + ? are plain */
    RX_INTERVALS = 1 << 4,               /* there are intervals at all */
    RX_LIMITED_OPS = 1 << 5,             /* no + ? | in any spelling */
    RX_NO_BACKREFS = 1 << 6,             /* \1 is plain */
    RX_NO_GNU_OPS = 1 << 7,              /* no \w \b \< ... */
    RX_INDEP_ANCHORS = 1 << 8,           /* ^ $ are anchors everywhere */
    RX_INDEP_OPS = 1 << 9,               /* a leading * is skipped rather than plain */
    RX_INVALID_OPS = 1 << 10,            /* a leading * is an error */
    RX_INVALID_DUP = 1 << 11,            /* a leading \{ and a** are errors */
    RX_INVALID_INTERVAL_PLAIN = 1 << 12, /* an interval that is none is plain text */
    RX_UNMATCHED_PAREN_PLAIN = 1 << 13,  /* so is a ) without ( */
    RX_NO_EMPTY_RANGES = 1 << 14,        /* [z-a] is an error */
    RX_CLASSES = 1 << 15,                /* [[:alpha:]] */
    RX_BK_IN_LISTS = 1 << 16,            /* \ quotes inside brackets */
    RX_NEWLINE_ALT = 1 << 17,            /* a newline alternates */
    RX_DOT_NEWLINE = 1 << 18,            /* . matches a newline */
    RX_DOT_NOT_NUL = 1 << 19,            /* . does not match NUL */
    RX_HAT_NOT_NEWLINE = 1 << 20,        /* [^a] does not match a newline */
    RX_EMPTY_OPS = 1 << 21, /* a leading * repeats the empty string, with a warning (GNU grep's own parser) */
};

/* Characters in order, without overlaps or neighbours that could be one range. */
struct rx_set {
    struct unicode_range *r;
    size_t n;
    size_t cap;
    uint32_t tmpl; /* where prog.c compiled it, 0 not yet */
};

enum rx_kind {
    RX_EMPTY,
    RX_CHAR, /* one character; in byte mode a byte */
    RX_RAW,  /* a byte of the pattern that is no UTF-8 */
    RX_SET,
    RX_CAT,    /* the children one after the other */
    RX_ALT,    /* any child, the first preferred */
    RX_REPEAT, /* the one child min to max times */
    RX_GROUP,  /* the one child, recorded; child NULL: empty */
    RX_BACKREF,
    RX_ASSERT,
    RX_TRIE, /* one of n_words strings */
};

enum rx_assert {
    RX_BOL,           /* ^ */
    RX_EOL,           /* $ */
    RX_BUF_FIRST,     /* \` */
    RX_BUF_LAST,      /* \' */
    RX_WORD_FIRST,    /* \< */
    RX_WORD_LAST,     /* \> */
    RX_INSIDE_WORD,   /* one half of \B */
    RX_INSIDE_OTHER,  /* the other half */
    RX_NOT_WORD_LEFT, /* no word character before (grep -w) */
    RX_NOT_WORD_RIGHT,
    RX_BOUNDARY, /* not inside a character */
};

#define RX_INF (-1)

struct rx_ast {
    enum rx_kind kind;
    uint32_t depth;       /* of the tree below, 1 for a leaf */
    struct rx_ast *next;  /* sibling */
    struct rx_ast *child; /* first child */
    union {
        uint32_t c;             /* RX_CHAR, RX_RAW */
        struct rx_set *set;     /* RX_SET */
        uint32_t group;         /* RX_GROUP, RX_BACKREF: number from 1 */
        enum rx_assert assert_; /* RX_ASSERT */
        struct {
            int32_t min, max;
        } rep;
        struct {
            const struct str *words; /* sorted, no two equal */
            size_t n;
            bool icase; /* ASCII letters match both cases; words are upper case */
        } trie;
    } u;
};

struct regex_warn;

struct rx_parse {
    struct arena *a;
    unsigned syntax;
    bool icase, utf8;
    uint32_t n_groups; /* counted through all patterns of one regex */
    bool has_backref;
    const char *msg; /* set on failure */
    const struct regex_warn *warn;
};

/* A leaf or inner node in the arena; depth 1. */
struct rx_ast *rx__ast(struct arena *a, enum rx_kind kind);

/* Parses one pattern: 0, -EINVAL or -EFBIG with p->msg set. *ret may be an RX_EMPTY node. */
int rx__parse(struct rx_parse *p, struct str pattern, struct rx_ast **ret) __attribute__((warn_unused_result));

/* Parses a bracket expression; *pos is behind the '[' and moves behind the ']'. Errors as rx__parse(). */
int rx__parse_bracket(struct rx_parse *p, struct str pattern, size_t *pos, struct rx_ast **ret)
    __attribute__((warn_unused_result));

/* A node for one character, with all it matches when p->icase. */
struct rx_ast *rx__char(struct rx_parse *p, uint32_t c);

/* \w \W \s \S as a set. */
struct rx_ast *rx__class(struct rx_parse *p, enum unicode_class cls, bool underscore, bool negate);

/* `.` as a set. */
struct rx_ast *rx__dot(struct rx_parse *p);

/* Adds lo..hi in any order; rx__set_finish() makes the invariant true. */
void rx__set_add(struct arena *a, struct rx_set *s, uint32_t lo, uint32_t hi);
/* Adds a class, of ASCII only in byte mode. */
void rx__set_add_class(struct arena *a, struct rx_set *s, enum unicode_class cls, bool utf8);
/* Sorts and joins. */
void rx__set_finish(struct rx_set *s);
/* Whether a finished set holds @c. */
bool rx__set_has(const struct rx_set *s, uint32_t c);
/* All characters (bytes when not @utf8) that are not in the finished set. */
void rx__set_negate(struct arena *a, struct rx_set *s, bool utf8);
/* Every character whose upper case is in the finished set @s, which holds upper case. */
void rx__set_unfold(struct arena *a, struct rx_set *s, bool utf8);
/* Adds every character whose upper case is @up, and finishes the set. */
void rx__set_unfold_char(struct arena *a, struct rx_set *s, uint32_t up, bool utf8);
/* Takes one character out of a finished set. */
void rx__set_remove(struct arena *a, struct rx_set *s, uint32_t c);
