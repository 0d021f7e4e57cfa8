/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * vfs/image - a tree in the store: written page by page, loaded when looked at; and the root hash that names it.
 *
 * Model. An image is the tree's own structure with names for pointers: a blob for each page of the inode table (with
 * the nodes in it), of directories, of long files' tables, and for each page of content. A page that did not change
 * keeps its name, so what is written is what changed and the way to it. A loaded tree is the image's first blob and
 * nothing else until somebody looks: each page is fetched, verified by its name, and put in place at first use
 * (vfs_int.h, lazy.c). docs/internals/image.md gives the formats.
 *
 * The root hash is another thing: it names what the tree holds, not how. It is the same for equal trees whatever led to
 * them, and does not see inode numbers, times, and where a directory's pages begin.
 *
 * Invariants:
 *   1. Loading gives a tree equal to the stored one in everything that can be seen, inode numbers and times included.
 *   2. Storing what was loaded and not changed writes nothing.
 *   3. Equal trees have equal root hashes: the same names, types, modes, owners, sizes, bytes, targets, device numbers
 * and hard links. Of a host mount, what was changed counts, and the names beside it; what is as on the host does not.
 *   4. What a blob holds is checked before it is used; one that is missing or damaged is -EIO for what lies behind it,
 * and for nothing else.
 *
 * Threads: as the tree's.
 */

#include "cas/store.h"
#include "vfs/vfs.h"

/* ---- the root hash ---- */

/* What is known of a tree's hashes, kept from one time to the next so that only what changed is hashed. */
struct vfs_canon;
/* Knows nothing yet; NULL: no memory. */
struct vfs_canon *vfs_canon_new(void);
/* The same knowledge for a fork, in O(1); NULL: no memory. */
struct vfs_canon *vfs_canon_fork(const struct vfs_canon *k);
/* Accepts NULL. */
void vfs_canon_free(struct vfs_canon *k);
/* The root hash of @v as it is now. @k was used for this tree or one it was forked from, or is new. Names pages of
 * content on the way, puts nothing. -ENOMEM, -EIO. */
int vfs_root_hash(struct vfs *v, struct vfs_canon *k, struct cas_id *ret) __attribute__((warn_unused_result));

/* Names the content of a file or the target of a symlink: that of one page is SHA-256 of its bytes without the zeros at
 * the end. Zeros for what has none, and for what is the host's still. */
int vfs_content_id(struct vfs *v, uint64_t ino, struct cas_id *ret) __attribute__((warn_unused_result));

/* ---- storing and loading ---- */

/* Puts what of @v is not in @c yet, and yields the blob it can be loaded from. The root hash is made on the way. The
 * tree must be stored in the same store each time. -ENOSPC, -EIO, -ENOMEM. */
int vfs_image_store(struct vfs *v, struct vfs_canon *k, struct cas *c, struct cas_id *ret_root,
                    struct cas_id *ret_image) __attribute__((warn_unused_result));

/* The same, of a tree whose image was @named the last time, which something still names where gc looks (cas/store.h):
 * when it is that still, nothing is put. */
int vfs_image_store_again(struct vfs *v, struct vfs_canon *k, struct cas *c, const struct cas_id *named,
                          struct cas_id *ret_root, struct cas_id *ret_image) __attribute__((warn_unused_result));

/* What a loaded tree needs of its surroundings. */
struct vfs_image_host {
    int fd; /* of the mount's directory or file, taken when loading succeeds; -1: not there, ESTALE for what is the
               host's */
    uint32_t host_uid, host_gid, uid, gid; /* as of vfs_mount_host() */
};
struct vfs_image_provider {
    const struct vfs_provider *ops;
    void *arg;
};
struct vfs_image_env {
    const struct vfs_image_provider *providers; /* by their kind; provided directories of other kinds are empty */
    uint32_t n_providers;
    struct vfs_image_host *hosts; /* in the order in which they were mounted */
    uint32_t n_hosts;             /* mounts beyond these are not there */
    struct vfs_quota quota;
};

/* A tree from an image, and what is known of its hashes. @c outlives the tree. -EIO, -EBADMSG, -ENOMEM. */
int vfs_image_load(struct cas *c, const struct cas_id *image, struct vfs_image_env *env, struct vfs **ret,
                   struct vfs_canon **ret_canon, struct cas_id *ret_root) __attribute__((warn_unused_result));

/* Who owns what the host's user owns, in every mount of a tree just loaded (as of vfs_mount_host()). */
void vfs_image_own_mounts(struct vfs *v, uint32_t uid, uint32_t gid);

/* Calls @fn for each blob of an image, the image itself first: @fn gives 1 to go on to what lies behind this one, 0 to
 * leave that out, or a negative error, which ends the walk. A blob that cannot be read is told to @bad (may be NULL:
 * the walk ends with its error). */
int vfs_image_walk(struct cas *c, const struct cas_id *image, int (*fn)(void *arg, const struct cas_id *id),
                   void (*bad)(void *arg, const struct cas_id *id, int error), void *arg);
