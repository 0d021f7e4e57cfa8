/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * walk - goes over directory trees, as fts(3) does for GNU tools.
 *
 * It holds no directory open and no list of names: the place in a directory is the name that was given last, so entries
 * may come and go meanwhile. Its stack is on the heap, a few words a level. Entries come in byte order of their names.
 *
 *   walk_init(&w, c, flags);
 *   for each operand: walk_start(&w, path); while ((ev = walk_next(&w)) != WALK_END) …;
 *   walk_done(&w);
 */

#include "base/buf.h"
#include "vfs/vfs.h"

struct cmd;

enum walk_flags {
    WALK_FOLLOW_ARGS = 1 << 0, /* -H */
    WALK_FOLLOW = 1 << 1,      /* -L */
    WALK_NO_STAT = 1 << 2,     /* w->st holds only mode (its type) and ino, but for operands */
    WALK_ONE_FS = 1 << 3,      /* do not enter other devices (their PRE and POST come) */
};

enum walk_event {
    WALK_END,
    WALK_FILE,   /* anything but a directory that can be entered */
    WALK_PRE,    /* a directory, before its entries */
    WALK_POST,   /* after them */
    WALK_UNREAD, /* instead of POST: it cannot be read, w->err says why */
    WALK_LOST,   /* no status: w->err */
    WALK_CYCLE,  /* a directory that holds itself, by links that are followed; not entered */
};

struct walk_dir {
    uint64_t ino, dev;
    size_t path_n; /* length of its path, without the '/' that follows */
};

struct walk {
    struct cmd *c;
    int flags;
    struct buf path;  /* of the current entry, as messages name it */
    const char *name; /* its last component inside `path` */
    uint64_t parent;  /* inode that `name` is looked up in; 0: the cwd, with `path` whole (operands) */
    struct vfs_stat st;
    int err;
    unsigned depth; /* 0 for operands */
    uint64_t root_dev;
    struct walk_dir *dirs;
    size_t n, cap;
    const char *operand; /* as given, less extra slashes; borrowed from argv */
    size_t operand_n;
    bool started, descend, post;
};

/* A walk over nothing yet. */
void walk_init(struct walk *w, struct cmd *c, int flags);
/* Frees. */
void walk_done(struct walk *w);
/* Begins at the operand @path. */
void walk_start(struct walk *w, const char *path);
/* The next event. WALK_END also when the command must end. */
enum walk_event walk_next(struct walk *w);
/* Leaves out the entries (and the POST) of the directory that WALK_PRE just gave. */
void walk_skip(struct walk *w);
/* How vfs calls name the current entry: (w->parent, this). */
static inline struct str walk_ref(const struct walk *w)
{
    return w->parent ? str_c(w->name) : buf_str(&w->path);
}
