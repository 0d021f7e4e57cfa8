/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* trees - what the verbs about states share: sessions by name, trees of places, changes between them, a state put into
 * a log. */

#include "base/buf.h"
#include "cli/cli.h"
#include "snapshot/state.h"
#include "vfs/vfs.h"

struct cli_tree {
    struct state_place place;
    struct vfs *v;
    struct vfs_canon *canon;
};

/* The tree of what @spec names (snapshot/state.h). */
int cli_tree_open(struct state *s, struct cas *c, const char *spec, struct cli_tree *ret, struct err *err)
    __attribute__((warn_unused_result));
/* What the files of a state take. */
int cli_tree_usage(struct state *s, const struct trace_state *st, struct vfs_quota *ret, struct err *err);
/* The id of a session by name or id. */
int cli_session_id(struct state *s, const char *who, char ret[STATE_ID_MAX], struct err *err);
/* Frees, before the store is closed. */
void cli_tree_done(struct cli_tree *t);

/* The changes from @a to @b at or below one of @n paths (0: all), with unified diffs when @text. */
int cli_trees_compare(struct vfs *a, struct vfs *b, const struct str *below, size_t n, bool text,
                      struct cli_changes *ret, struct err *err) __attribute__((warn_unused_result));
/* Appends one JSON object a line for each. */
void cli_changes_json(const struct cli_changes *c, struct buf *out);

/* Appends to the log of a session that is owned: from now on it is in @state, which came @from there. *ret_seq (may be
 * NULL) is the event's number. It is on the disk after. */
int cli_put_back(struct state_session *ses, const char *from, const struct trace_state *state, uint64_t *ret_seq,
                 struct err *err) __attribute__((warn_unused_result));
