/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * lit - a string that every match holds, and a fast search for it. Most texts and lines are ruled out by it alone.
 */

#include "regex/ast.h"

#define RX_LIT_MAX 64

struct rx_lit {
    uint8_t p[RX_LIT_MAX]; /* small letters when fold */
    uint32_t n;            /* 0: there is none */
    uint32_t i, k;         /* the two bytes that are rarest in texts, i < k unless n is 1 */
    bool fold;             /* ASCII letters match both cases */
    bool exact;            /* the string is the whole pattern: where it is found, there is a match */
    bool prefix;           /* every match begins with it */
};

/* The best string of the tree. @icase: letters were compiled to sets of both cases. */
void rx__lit_init(struct rx_lit *l, const struct rx_ast *t, bool icase, bool utf8);

/* First place at or after @from where the string stands, or SIZE_MAX. */
size_t rx__lit_find(const struct rx_lit *l, struct str text, size_t from);
