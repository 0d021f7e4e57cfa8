/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * layer - the userland's read-only files: one file of the host, mapped once, shown in every session.
 *
 * Libraries, data, man pages and licences of the userland lie in one file, which the worker maps when a program first
 * looks at it. Its provider (vfs/vfs.h) shows it below a directory of the tree: a session pays neither bytes nor time
 * for it, and a tree's root hash does not name it.
 *
 * The file, made by userland/bin/mklayer; numbers are little-endian:
 *
 *   8 bytes   "FSLAYER\1"
 *   u32       entries, at most LIMIT_LAYER_ENTRIES
 *   u32       bytes of names
 *   entries   40 bytes each: u32 parent, u32 mode (with S_IFMT), u32 name's place and u32 its length, u64 content's
 *             place in the file and u64 its length, u32 first child, u32 children
 *   names, contents
 *
 * Entry 0 is the root and its own parent. Children of a directory are neighbours in byte order of their names and come
 * after it. The content of a symlink is its target. Owners are root.
 *
 * Invariants:
 *   1. An entry is checked each time before it is used: places and lengths within the file, children after parents.
 *      A damaged one is an I/O error of its path and of no other; opening costs the same for every size.
 *   2. The mapping stays as long as the process; the file is replaced by rename only, never changed in place.
 */

#include "base/str.h"

#include <stdint.h>

struct err;
struct layer;
struct vfs_provider;

/* The layer in the file @fd (taken; mapped, and closed). 0, -EBADMSG when it is none, or an error of mapping; @err says
 * which. */
int layer_open(int fd, struct layer **ret, struct err *err) __attribute__((warn_unused_result));
/* Frees it; no tree may show it. Accepts NULL. */
void layer_close(struct layer *l);

/* What shows it; its argument is the struct layer. */
extern const struct vfs_provider layer_provider;
