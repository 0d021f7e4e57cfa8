/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* image_int - what the files that store and load trees share. */

#include "base/cursor.h"
#include "vfs/image.h"
#include "vfs/vfs_int.h"

#define IMAGE_INLINE 64u /* bytes of content that lie in the node */
#define IMAGE_LEVELS 14u /* of any table: 5 bits each */

/* Appends a varint (LEB128). */
void vfs__image_put_num(struct buf *out, uint64_t v);
/* Appends a name. */
void vfs__image_put_id(struct buf *out, const struct cas_id *id);
/* The other way. */
struct cas_id vfs__image_get_id(struct cursor *c);

/* Whether @name may stand in a directory (invariant 6 of the tree). */
bool vfs__image_name_ok(struct str name);

/* An object of a table of kind RADIX_HASHES. */
struct image_hash {
    uint32_t refs;
    struct cas_id id;
};
/* With one reference; NULL: no memory. */
struct image_hash *vfs__image_hash_new(const struct cas_id *id);
/* Drops one reference; accepts NULL. */
void vfs__image_hash_unref(void *obj);

struct vfs_canon {
    struct vfs *at;       /* the tree as it was when it was hashed last; NULL: never */
    struct radix *dirs;   /* directory -> struct image_hash of all below it */
    struct radix *linked; /* files with more than one name -> struct image_hash (zeros) */
    struct cas_id root;   /* of @at */
};

/* Gives a page of content its name, without putting it. */
void vfs__image_name_page(struct page *p);
