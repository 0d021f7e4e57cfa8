/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* tabs - the tab stops of expand and unexpand, as -t gives them ("8", "2,6,10", "2,/4", "2,+4"). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cmd;

struct tabs {
    struct cmd *c;
    uint64_t *v; /* in the command's arena, ascending */
    size_t n, cap;
    uint64_t every; /* all stops are multiples of it; 0: they are not that simple */
    uint64_t extend, increment; /* of '/' and '+': beyond the last stop, multiples, or so far from it; 0: none */
};

/* Adds the stops of a list: 0, or -1 after a message. */
int tabs_parse(struct tabs *t, const char *list);
/* Adds one stop. */
void tabs_add(struct tabs *t, uint64_t stop);
/* Checks the stops and makes them ready for tabs_next(): 0, or -1 after a message. */
int tabs_finish(struct tabs *t);
/* The first stop beyond @column. *index is where among the stops the line is, 0 at its start. 0: there is none. */
uint64_t tabs_next(const struct tabs *t, uint64_t column, size_t *index);
