/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * copy - one file or tree to another name: what cp and mv stand on.
 *
 * A tree is walked with a stack on the heap; every step names its file by directory inode and name, so that depth and
 * length of paths have no limit of their own. Two tables go with a run of the command: which files were copied where
 * (hard links among them, and the directory that a tree must not be copied into), and what was made under a name of the
 * command line (which a later operand must not overwrite).
 */

#include "base/map.h"
#include "shell/cmd/cmd.h"

enum copy_deref { COPY_DEREF_UNSET, COPY_DEREF_NEVER, COPY_DEREF_ARGS, COPY_DEREF_ALWAYS };
enum copy_ask { COPY_ASK_UNSET, COPY_ASK_NEVER_SKIP, COPY_ASK_ALWAYS_NO, COPY_ASK_USER };
enum copy_sparse { COPY_SPARSE_AUTO, COPY_SPARSE_NEVER, COPY_SPARSE_ALWAYS };

struct copy_opts {
    enum copy_deref deref;
    enum copy_ask ask; /* -f of mv: never ask; -n: never overwrite; -i */
    enum copy_sparse sparse;
    bool move;                            /* mv */
    bool recursive, as_regular;           /* as_regular: read special files, do not make them anew */
    bool unlink_first, unlink_after_fail; /* --remove-destination; -f of cp */
    bool update, verbose, one_fs;
    bool hard_link, symbolic_link, attributes_only;
    bool keep_mode, keep_owner, keep_times, keep_links, no_mode; /* --preserve; --no-preserve=mode */
    bool require;                                                /* a failure to preserve fails the copy */
    bool tty;                                                    /* standard input is a terminal */
};

struct copy_frame;

struct copier {
    struct cmd *c;
    struct copy_opts o;
    struct map copied; /* (inode, device) of a source: path of its copy */
    struct map made;   /* (inode, device) and name of a destination made for an operand */
    struct map seen;   /* the same of source operands; both only when there are several */
    bool several;
    /* the operand at hand */
    const char *top_src, *top_dst;
    bool first_dir; /* its first directory was made and noted */
    bool into_self;
    struct buf src, dst; /* paths, for messages and for looking at operands */
    struct copy_frame *frames;
    size_t n, cap;
};

/* What a step works on. */
struct copy_item {
    uint64_t src_at, dst_at;    /* directories of src and dst; 0: cwd, with the whole path */
    struct str src, dst;        /* names there */
    bool top;                   /* an operand */
    bool new_dst;               /* nothing is at the destination */
    struct vfs_stat sst, dstat; /* status of the source, and of the destination unless new_dst */
    uint32_t mode;              /* of the source, set-id bits taken out when its owner could not be kept */
    uint32_t omitted;           /* permissions left out when the copy was made, to be added at the end */
};

/* Prepares; @several: more than one source operand. */
void copy_init(struct copier *k, struct cmd *c, bool several);
/* Frees. */
void copy_done(struct copier *k);
/* Copies or moves the operand @src to @dst. @new_dst: nothing is there, as far as the caller knows. *ret_renamed (may
 * be NULL): it was a rename, so nothing is left of the source. False when anything failed; messages were printed. */
bool copy_run(struct copier *k, const char *src, const char *dst, bool new_dst, bool *ret_renamed);

/* ---- between the files of copy ---- */

/* Content and attributes of a regular file (or what is read as one): false after a message. */
bool copy__regular(struct copier *k, struct copy_item *it);
/* Whether source and destination being the same file is fine; *ret_done: then there is nothing left to do. */
bool copy__same_ok(struct copier *k, const struct copy_item *it, bool *ret_done);
/* Whether two names are the same entry of the same directory. */
bool copy__same_name(struct copier *k, uint64_t at_a, struct str a, uint64_t at_b, struct str b);
/* Gives the copy its source's owner: 1 done, 0 not and that is fine, -1 after a message. */
int copy__owner(struct copier *k, const struct copy_item *it, uint64_t ino, const struct vfs_stat *now);
/* cmd_errno() with a quoted path behind @what. */
void copy__error(struct copier *k, int err, const char *what, const char *path);
