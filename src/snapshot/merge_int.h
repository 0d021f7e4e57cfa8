/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* merge_int - what the two halves of a merge share: merge.c decides, merge_apply.c does. */

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "snapshot/diff.h"
#include "snapshot/merge.h"

enum merge_side { MERGE_BASE, MERGE_OURS, MERGE_THEIRS, MERGE_SIDES };

enum merge_act {
    MERGE_KEEP,   /* as ours has it */
    MERGE_REMOVE, /* a directory: if it is empty then */
    MERGE_PLACE,
};

/* A path that a side changed. A directory and anything else at one path are two entries. */
struct merge_entry {
    struct str path;
    bool dir;
    bool changed[MERGE_SIDES], content[MERGE_SIDES]; /* against the base */
    struct vfs_stat st[MERGE_SIDES];                 /* mode 0: not there */
    enum merge_act act;
    enum merge_side from; /* whose content is placed; MERGE_BASE: it is @text */
    struct str text;      /* heap */
    struct vfs_stat to;   /* mode, owner and times that are placed */
};

struct merge {
    struct vfs *tree[MERGE_SIDES];
    struct vfs *out; /* the fork of ours that becomes the result */
    struct merge_entry *v;
    size_t n;
    struct snapshot_conflict *conflicts;
    size_t n_conflicts, cap_conflicts;
    struct arena arena; /* paths of conflicts, names */
    struct map names;   /* of theirs: inode as text -> struct merge_names */
    bool names_known;
    struct err *err;
};

/* The other names of a file of theirs. */
struct merge_names {
    struct str path;
    struct merge_names *next;
};

extern const struct vfs_ctx merge__ctx;

/* Order of paths in which a directory comes before what it holds, and nothing between these. */
int merge__path_cmp(struct str a, struct str b);
/* Notes a conflict: 0 or -ENOMEM. */
int merge__conflict(struct merge *m, enum snapshot_conflict_kind kind, struct str path, const char *what);
/* Does to @m->out what was decided. Conflicts that only show now are noted. */
int merge__apply(struct merge *m);
