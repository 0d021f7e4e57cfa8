/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * snapshot/portable - a session as one stream of bytes: its log, its snapshots, and every blob they need.
 *
 *   "frontal-sandbox export 1\n", then records: a letter, the length (8 bytes, little-endian), the bytes
 *   S  KEY=VALUE lines: id and name of the session; first
 *   B  a blob; any number, each before it is needed by nothing later than the log
 *   L  the log, its file as it is
 *   N  a snapshot, its file as it is; any number
 *   E  SHA-256 of everything before this record; last, and nothing after it
 *
 * Invariants:
 *   1. What is imported was verified: the stream by its end, blobs by their names, the log by its chain; every blob
 * that is needed is in the stream itself, so a stream gets at nothing that the store has from others.
 *   2. An import that fails leaves no session. Blobs it put are nobody's, and go with the next gc.
 *   3. Memory is bounded by one blob, the names of all, and LIMIT_IMPORT_TREE for the last tree.
 *   4. What a session may use of the host is asked for anew: a log that has mounts is taken only when that is wanted.
 *
 * Threads: one at a time.
 */

#include "snapshot/state.h"

#define STATE_PORTABLE_MAGIC "frontal-sandbox export 1\n"

struct state_portable {
    uint64_t bytes, blobs, events, snapshots; /* of the stream */
    uint64_t seq;                             /* of the event that has the state */
    struct trace_state state;
    char id[STATE_ID_MAX], name[STATE_NAME_MAX + 1]; /* of the session that was made or written */
};

/* Writes the session as it is now to @fd (not taken). @progress (may be NULL) is told the bytes written. -EBADMSG when
 * something of it is damaged or missing. */
int state_export(struct state *s, struct str who, int fd, void (*progress)(void *arg, uint64_t done), void *arg,
                 struct state_portable *ret, struct err *err) __attribute__((warn_unused_result));

/* Makes a session of what @fd gives; @name empty: the one in the stream. Its log goes on with a RESTORE from "import
 * ID". -EBADMSG when the stream is damaged or not whole, -EEXIST, -EPERM for mounts without @mounts, -EFBIG
 * for a tree that takes too much to check. */
int state_import(struct state *s, int fd, struct str name, bool mounts, void (*progress)(void *arg, uint64_t done),
                 void *arg, struct state_portable *ret, struct err *err) __attribute__((warn_unused_result));
