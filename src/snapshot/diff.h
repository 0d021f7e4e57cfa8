/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * snapshot/diff - the changes between two trees as a list, and the text of each.
 *
 * They are gathered first, because reading content may touch a tree, and the walk that finds them must not see that.
 *
 * Threads: one at a time.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "vfs/vfs.h"

struct snapshot_changes {
    struct vfs_change *v; /* in the order of vfs_diff(); paths end in NUL */
    size_t n, cap;
    struct arena arena;
};

/* What differs between @a and @b at or below one of @n_below paths (0: all). -ENOMEM, or errors of vfs_diff(). */
int snapshot_changes_get(struct vfs *a, struct vfs *b, const struct str *below, size_t n_below,
                         struct snapshot_changes *ret) __attribute__((warn_unused_result));
/* Frees. */
void snapshot_changes_done(struct snapshot_changes *c);

/* Appends the unified diff of a change between @a and @b: of text files whose content changed; one line that says so of
 * those that hold a NUL, are large, or cannot be read; of anything else nothing. -ENOMEM, -EFBIG. */
int snapshot_change_text(struct vfs *a, struct vfs *b, const struct vfs_change *c, struct buf *out);

/* Files larger than this are not compared line by line. */
#define SNAPSHOT_TEXT_MAX (4u << 20)

/* The bytes of a regular file of at most SNAPSHOT_TEXT_MAX, appended to @out. -EFBIG when it is longer. */
int snapshot_read_text(struct vfs *v, struct str path, struct buf *out);
