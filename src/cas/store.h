/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * cas/store - the content-addressed store: blobs named by SHA-256, in one directory.
 *
 * Model. A blob is written once and never changes. Blobs lie one after the other in append-only pack files, compressed
 * with zstd where that pays. Every writer appends to a pack that only it holds (a lease on the pack), so several
 * processes write to one store at the same time, and readers need no lock. An index beside each pack says where its
 * blobs are; it can be made anew from the pack, and what it lacks is found by looking at the pack's tail.
 * docs/internals/store.md gives the formats, well enough to write another reader.
 *
 *   put → (buffer) → flush: in the kernel, survives the death of every process → sync: survives loss of power
 *
 * Invariants:
 *   1. A blob that is given out has the name it was asked by: content is hashed when read from a pack. One that does
 *      not is damage (-EIO), never returned.
 *   2. What was flushed before the process was killed, and what was synced before power was lost, is there after. A
 *      torn tail of a pack is cut by its next writer, and is no error.
 *   3. A call that fails (disk full, I/O) leaves all blobs that were there, and the store usable.
 *   4. Nothing in a pack or index is believed: lengths, offsets and counts are checked before use, memory is bounded by
 *      LIMIT_CAS_BLOB.
 *   5. gc removes no blob that was marked, and none that was put, or found to be there by a put, in a hold that began
 *      after gc did; gc begins when nobody holds. So what is named before its hold ends is never lost.
 *
 * Threads: one at a time uses a store.
 */

#include "base/buf.h"
#include "base/str.h"
#include "cas/hash.h"
#include "types/limits.h"

struct cas;
struct err;

struct cas_id {
    uint8_t b[CAS_HASH_SIZE];
};

enum cas_flags {
    CAS_WRITE = 1 << 0,  /* may put; else only get */
    CAS_CREATE = 1 << 1, /* makes what is missing of the store */
};

/* Opens the store in the directory @dirfd (taken, closed in every case): works by names below it only, so it can be
 * handed into a confined process. -EINVAL (a format that is not ours or newer), or errors of the file system. Costs
 * what the number of packs costs, not the number of blobs. */
int cas_open(int dirfd, int flags, struct cas **ret, struct err *err) __attribute__((warn_unused_result));

/* Flushes (errors are lost: call cas_flush() before) and closes. Accepts NULL. */
void cas_close(struct cas *c);

/* Puts a blob of at most LIMIT_CAS_BLOB bytes and yields its name; one that is there already costs its hash. -EFBIG,
 * -ENOMEM, -ENOSPC, -EIO; -EROFS without CAS_WRITE. */
int cas_put(struct cas *c, struct str data, struct cas_id *ret) __attribute__((warn_unused_result));

/* The same; but a blob of which the name is @named (may be NULL) is there, and is named where gc looks as long as the
 * caller says so: it costs its hash and begins no hold. */
int cas_put_unless(struct cas *c, struct str data, const struct cas_id *named, struct cas_id *ret)
    __attribute__((warn_unused_result));

/* Appends the blob's bytes to @out: 0; -ENOENT when there is none; -EIO when it is damaged; -EFBIG when it does not fit
 * into @out's limit. */
int cas_get(struct cas *c, const struct cas_id *id, struct buf *out) __attribute__((warn_unused_result));

/* Whether the blob is there (its content is not looked at). */
bool cas_has(struct cas *c, const struct cas_id *id);

/* Hands all that was put to the kernel. After it the blobs survive kill -9 of everything. */
int cas_flush(struct cas *c) __attribute__((warn_unused_result));

/* cas_flush(), and waits until it is on the disk. One sync for all that was put. */
int cas_sync(struct cas *c) __attribute__((warn_unused_result));

/* cas_sync() in two halves, for who lets others wait in between: hands all that was put to the kernel, and yields the
 * file that is to be waited for by fdatasync(2) (borrowed until cas_sync_end()), or -1 when there is none. -EBUSY: that
 * is not all that is to be done, and cas_sync() has to. */
int cas_sync_begin(struct cas *c, int *ret_fd) __attribute__((warn_unused_result));
/* What waiting for it gave: 0 or an error. As cas_sync() of what was put before cas_sync_begin(). */
int cas_sync_end(struct cas *c, int result);

/* The next cas_sync() waits for all that is in the store now, whoever put it: for who is to name what others have put.
 */
int cas_adopt(struct cas *c) __attribute__((warn_unused_result));

/* Holds. Until a blob is named where gc looks, only a hold keeps it: the first cas_put() begins one, and it lasts until
 * cas_release() or cas_close(). Who is to name blobs that others have put begins it before looking for them. While
 * somebody holds, no gc begins; one that is at work goes on. May wait for moments. -EROFS without CAS_WRITE. */
int cas_hold(struct cas *c) __attribute__((warn_unused_result));
/* All that was put since is named where gc looks, or never will be: flushes, and ends the hold (unless flushing fails).
 */
int cas_release(struct cas *c);
/* Whether it is in a hold: costs nothing. */
bool cas_held(const struct cas *c);

struct cas_stat {
    uint64_t blobs, packs;
    uint64_t bytes;                            /* of blobs, as they were put */
    uint64_t stored_bytes;                     /* of packs and indexes on the disk */
    uint64_t put_blobs, put_bytes, put_stored; /* by this handle: new ones only */
};
/* What is in it. Looks at every index. */
int cas_stat(struct cas *c, struct cas_stat *ret);

/* Reads and verifies everything: @bad is called for each damaged blob (and once with @id NULL for each damaged stretch
 * of a pack or index, @what says where and what). 0, or a negative error when looking itself failed; -EBUSY when a gc
 * is at work for long. @progress (may be NULL) is called with bytes done and bytes in all. */
int cas_fsck(struct cas *c, void (*bad)(void *arg, const struct cas_id *id, const char *what),
             void (*progress)(void *arg, uint64_t done, uint64_t all), void *arg);

/* ---- garbage collection: begin, mark all that is to stay, sweep ---- */

#define CAS_GC_WAIT_MS 10000 /* so long gc waits for who writes, and others for gc, before they say so */

struct cas_gc;
/* Begins one beside other processes that write and read. Needs CAS_WRITE. What is named now and from now on is to be
 * marked, by reading it after this call. -EBUSY when somebody holds, checks (cas_fsck()), collects or bars it all of
 * @wait_ms. */
int cas_gc_begin(struct cas *c, int wait_ms, struct cas_gc **ret, struct err *err) __attribute__((warn_unused_result));
/* Marks a blob: 1 when it was not marked before, 0 when it was, -ENOENT when the store has none. */
int cas_gc_mark(struct cas_gc *gc, const struct cas_id *id);
/* Writes packs anew without what is not marked (@dry: only counts) and frees @gc. A crash in the middle loses nothing.
 */
int cas_gc_sweep(struct cas_gc *gc, bool dry, uint64_t *ret_blobs, uint64_t *ret_bytes);
/* Gives up. Accepts NULL. */
void cas_gc_abort(struct cas_gc *gc);
/* No gc is at work from here on until cas_close(): for who takes names of blobs away, which others may be about to name
 * themselves. Waits for one that is; -EBUSY after @wait_ms. */
int cas_bar_gc(struct cas *c, int wait_ms, struct err *err) __attribute__((warn_unused_result));

/* Whether it is all zeros, which stands for no name. */
static inline bool cas_id_none(const struct cas_id *id)
{
    static const uint8_t none[CAS_HASH_SIZE] = {0};
    return memcmp(id->b, none, sizeof(none)) == 0;
}

/* Order, for maps and sorting; 0 when equal. */
int cas_id_cmp(const struct cas_id *a, const struct cas_id *b);
