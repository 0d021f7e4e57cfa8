/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * snapshot/merge - three trees made one: what `theirs` changed since `base`, done to `ours`.
 *
 * Model. Both sides are compared with the base; each path that theirs changed is decided by itself, a directory apart
 * from anything else at its path, and the whole is done on a fork of ours that is given out only when nothing was in
 * conflict. For files, symlinks and directories the outcome is that of `git merge-tree` without its search for renames:
 *
 *   changed by one side only                    as that side has it; a rename is a removal and an addition
 *   changed alike by both                       as it is
 *   text changed by both                        merged by lines (snapshot/textdiff.h); changes that overlap or touch
 * are a conflict, and so is what holds a NUL or is larger than SNAPSHOT_TEXT_MAX added by both as text that began empty
 *   changed by one, removed by the other        conflict
 *   two targets, two types                      conflict
 *   a directory of one, something else of the other   conflict, if the directory has something in it at the end
 *
 * Where git has no rule:
 *   - Mode, user and group: each as the side that changed it has it; changed differently by both is a conflict. A time
 *     of modification is never one: the later counts, and a file of which only the time changed may be removed.
 *   - Directories are things of their own: an empty one is added and removed as a file is. A removed one stays while
 * the other side has something in it, and comes back where the other side put something into it. Changing its mode or
 *     owner on one side and removing it on the other is a conflict. Its times do not count.
 *   - FIFOs, sockets and devices are added, removed and changed as files are; of a device the number is its content.
 *   - Names of one file are merged each by itself. A name that is taken from theirs becomes a name of the same file as
 *     another of its names in theirs, when that has the same content, mode and owner after the merge; else it is a file
 * of its own.
 *   - Provided directories (/proc) are left out. Below a host mount only what a session wrote can be merged.
 *
 * Invariants:
 *   1. No tree but the one that is given out is changed by anything that can be seen.
 *   2. With a conflict nothing is given out, and every conflict is told.
 *   3. merge(base, base, X) and merge(base, X, X) give X; merge(base, X, base) gives X.
 *   4. Memory and time follow what the two sides changed; of both sides' hard links all of theirs is looked at.
 *
 * Threads: one at a time uses the three trees.
 */

#include "base/str.h"

struct err;
struct vfs;

enum snapshot_conflict_kind {
    SNAPSHOT_CONTENT, /* changed differently by both sides */
    SNAPSHOT_REMOVED, /* changed by one, removed by the other */
    SNAPSHOT_TYPES,   /* of different types */
    SNAPSHOT_META,    /* mode or owner changed differently */
    SNAPSHOT_IN_WAY,  /* a directory of one side, something else of the other */
};

struct snapshot_conflict {
    enum snapshot_conflict_kind kind;
    struct str path;
    const char *what; /* in words, behind the path: static text */
};

/* Merges: 0 and *ret is the tree; 1 after @conflict (may be NULL) was called for each path in conflict, in order. Else
 * -ENOMEM, -ENOSPC, -EDQUOT, -EIO, -ESTALE (needs what is only on a host that is not there), with the path in @err. */
int snapshot_merge(struct vfs *base, struct vfs *ours, struct vfs *theirs,
                   void (*conflict)(void *arg, const struct snapshot_conflict *c), void *arg, struct vfs **ret,
                   struct err *err) __attribute__((warn_unused_result));
