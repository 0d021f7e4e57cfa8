/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * snapshot/keep - what of the store is needed, and by whom: checking and collecting.
 *
 * Every log and every snapshot names blobs; an image names more behind it. What is named is kept; what cannot be read
 * might name anything, so as long as something that names is damaged, nothing is collected.
 *
 * Threads: one at a time.
 */

#include "snapshot/state.h"

/* Who names a blob. */
struct state_ref {
    const char *session, *name; /* id; "" when it has no name */
    const char *snapshot;       /* id; NULL: its log does */
    uint64_t seq;
    const char *what; /* "stdin", "output", "image", … */
};

/* Calls @fn for each blob that a log or a snapshot names, until it returns non-zero; returns that. A log or snapshot
 * that cannot be read (to its end) is told to @bad, and the next one comes. */
int state_refs(struct state *s, int (*fn)(void *arg, const struct state_ref *ref, const struct cas_id *id),
               void (*bad)(void *arg, const struct state_ref *ref, const char *text), void *arg);

/* Removes what nothing needs, and what was left half made (@dry: only counts blobs), beside sessions that are in use.
 * -EBUSY when one writes all of CAS_GC_WAIT_MS, or another gc or fsck is at work as long; -EBADMSG while something that
 * names blobs is damaged. @progress may be NULL. */
int state_gc(struct state *s, bool dry, void (*progress)(void *arg, uint64_t done), void *arg, uint64_t *ret_blobs,
             uint64_t *ret_bytes, struct err *err) __attribute__((warn_unused_result));

enum state_fault {
    STATE_BLOB_DAMAGED, /* the blob is not what its name says */
    STATE_BLOB_MISSING, /* it is needed and not there */
    STATE_STORE,        /* a stretch of a pack or index: see text */
    STATE_LOG,          /* a session's log: see text */
    STATE_SNAPSHOT,     /* a snapshot's file: see text */
    STATE_FILE,         /* a file or directory of a tree cannot be read, as blobs of it are damaged or missing */
};

struct state_finding {
    enum state_fault fault;
    const struct cas_id *id;     /* of a blob */
    const struct state_ref *ref; /* who needs it; NULL: nobody */
    const char *text;            /* "" when there is no more to say */
    struct str path;             /* FILE */
};

struct state_watch {
    void (*found)(void *arg, const struct state_finding *f);
    void (*progress)(void *arg, const char *what, uint64_t done, uint64_t all); /* @all 0: nobody knows */
    void *arg;
};

/* Reads and verifies everything. A blob that several events of a session name is told once for the session. 0, whatever
 * was found; an error when looking failed. */
int state_fsck(struct state *s, const struct state_watch *w, struct err *err) __attribute__((warn_unused_result));
