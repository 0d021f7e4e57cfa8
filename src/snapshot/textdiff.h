/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * snapshot/textdiff - what differs between two texts, line by line; and two changed texts made one.
 *
 * Model. A difference marks lines of the old text that are gone and lines of the new text that came; the rest are the
 * same lines in the same order. Runs of marked lines that could as well lie elsewhere (one of two equal lines is gone)
 * lie where git puts them: beside a change of the other text, else as far down as they can. A merge is that of git: the
 * changes of each side apply where those of the other neither overlap nor touch them; the same change on both sides is
 * one change; anything else is a conflict.
 *
 * Invariants:
 *   1. The new text is the old one without what is gone and with what came.
 *   2. Memory and time are bounded whatever the texts are: texts that differ by more lines than are searched for are
 *      taken as replaced between their common head and tail.
 *   3. A line ends after its newline; a last line without one differs from one that has it.
 *
 * Threads: pure functions on the caller's memory.
 */

#include "base/buf.h"
#include "base/str.h"

struct textdiff_side {
    struct str *line;
    size_t n;
    uint8_t *changed; /* of each line: 1 gone or come. One more, always 0, stands before and behind */
};

struct textdiff {
    struct textdiff_side a, b;
};

/* Compares. Lines are borrowed from the texts. -EFBIG (too many lines), -ENOMEM. */
int textdiff_make(struct str a, struct str b, struct textdiff *ret) __attribute__((warn_unused_result));
/* Frees. */
void textdiff_done(struct textdiff *d);

/* Appends the hunks of a unified diff with three lines of context; nothing when equal. -EFBIG, -ENOMEM. */
int textdiff_unified(struct str a, struct str b, struct buf *out);

/* Whether a text is one that lines can be compared of: it holds no NUL. */
bool textdiff_is_text(struct str s);

/* Appends @base with the changes of both: 0; 1 when they conflict (@out is then of no use); -EFBIG, -ENOMEM. */
int textdiff_merge(struct str base, struct str ours, struct str theirs, struct buf *out);
