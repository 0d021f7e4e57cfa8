/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * journal - a session that outlives its process: every exec is recorded in its log, and its state after each is in the
 * store.
 *
 * Model. A journal owns a session, its log and the store. An exec goes through it:
 *
 *   journal_exec   EXEC is an event before the first instruction
 *   journal_show   and is in the log's file before anything of it is seen: output, a wait for input, a millisecond
 *   …runs…         INPUT, OUTPUT as they come
 *   journal_ended  the tree and the shell's state are stored, CHANGE for each file, CLOCK, END with the state after;
 *                  blobs are handed to the kernel before the log is: END in the log is the acknowledgement
 *   journal_sync   in groups, soon after; before the answer when the session is durable
 *
 * What the log says last is what the session is: opening it finds the last state, loads it lazily, and, when an EXEC
 * has no END, ends that as lost with the state before it.
 *
 * After loss of power what was not synced may be gone in any order: a log may name blobs that are not there, and have
 * holes. Who opens a session the first time after that says so (@recheck), and pays for a look at the whole log and
 * tree: the log is cut before the first hole, and the session is the last state of which every blob is whole. When that
 * is not the last one, a RESTORE from "recovery: …" says so. The same is done, unasked, when the last state cannot be
 * loaded.
 *
 * Invariants:
 *   1. An exec that was answered has its END in the log, and everything its state names is in the store.
 *   2. An exec of which the effects could not be kept is answered with an error, and the session on the disk is as it
 * was before; the journal takes no further exec.
 *   3. What was opened is what was acknowledged: its image is the one the log names, verified by its name. What was
 *      acknowledged of a durable session survives loss of power, and so does that a session was made, unless its
 *      opener has asked for less (@lazy).
 *   4. Whether an exec can be replayed exactly is in its END when it is written.
 *
 * Threads: one at a time.
 */

#include "cas/store.h"
#include "session/session.h"
#include "trace/trace.h"

struct journal;

/* A store that several journals of one thread put into: each would else have descriptors of every pack. What one has
 * put is kept from gc as long as what any of them has put is not named in its log's file. */
struct journal_store;
/* Opens the store in the directory @store_fd (taken). As cas_open(). */
int journal_store_open(int store_fd, struct journal_store **ret, struct err *err) __attribute__((warn_unused_result));
/* Closes it, after the last of its journals. Accepts NULL. */
void journal_store_close(struct journal_store *st);

struct journal_config {
    struct journal_store *shared; /* borrowed; NULL: a store of its own, in: */
    int store_fd;                 /* directory of the store: taken; -1 with @shared */
    int trace_fd;      /* of the log: taken */
    int lock_fd;       /* closed when all is written: taken, or -1 */
    bool fresh;        /* the log is empty: the session is made now */
    bool durable;      /* an exec is answered when it is on the disk */
    bool lazy;         /* so is not that it was made: it is synced as execs are */
    bool changed;      /* policy or limits were changed since the session was made: nothing is replayed exactly */
    bool recheck;      /* power may have been lost since the log was written: see below */
    struct str id;     /* of the session, for CREATED */
    struct str config; /* canonical text of what it was made with, for CREATED */
    struct str limits; /* NAME=VALUE lines that hold now over those, for EXEC */
};

/* Opens (or makes) the session. @sc is as for session_new(); an existing session has its user, tree and mounts already:
 * of @sc the mounts give the descriptors, in order. Everything of @host reaches it through the journal. -EBUSY,
 * -EBADMSG, -EIO, -ENOSPC, and what session_new() gives. */
int journal_open(const struct journal_config *cfg, struct vfs *tmpl, const struct session_config *sc,
                 const struct session_host *host, struct journal **ret, struct err *err)
    __attribute__((warn_unused_result));
/* Syncs, ends the session and frees. What an exec that still runs has printed so far is in the log after it. Accepts
 * NULL. */
void journal_close(struct journal *j);

/* The session; its exec, line and result go through the journal. */
struct session *journal_session(struct journal *j);

/* As session_exec(); -EDQUOT when the log has reached the session's limit (trace). */
int journal_exec(struct journal *j, const struct wire_exec *e, struct err *err) __attribute__((warn_unused_result));
/* As session_line(). The end of input is taken whatever the log's limit is. */
int journal_line(struct journal *j, struct str line, bool end, struct err *err) __attribute__((warn_unused_result));
/* Something of the exec that runs is about to be seen: its output is sent, or it does not end at once. From here on it
 * is told as lost when the process dies. A failure is told by journal_ended(). To be called before each wait: what was
 * put for the exec is kept from gc by its record in the log, and until that is in the file gc has to wait. */
void journal_show(struct journal *j);
/* The exec or line has ended (session_step() said so) as @r: records it, and puts root and place into @r, or an error
 * when it could not be kept. */
void journal_ended(struct journal *j, struct wire_result *r);

/* The owner changed the tree (files put in from outside): recorded before the next exec. */
void journal_touched(struct journal *j);
/* Records that now, if there is something, as "files": 0 or an error. */
int journal_settle_touched(struct journal *j);
/* Records the tree as it is, as @what: 0 or an error. */
int journal_settle(struct journal *j, const char *what);

/* session_fs_batch() as one entry of the log, of which the number is in *ret; while a command runs it is a part of that
 * one's entry. What cannot be recorded is not done. Errors as session_fs_batch(). */
int journal_batch(struct journal *j, struct str requests, struct wire_reply *ret) __attribute__((warn_unused_result));

/* Waits until everything recorded is on the disk. */
int journal_sync(struct journal *j);
/* Whether something waits for that, or is waited for (journal_sync_begin()). */
bool journal_dirty(const struct journal *j);

/* journal_sync() in two halves, for who lets others wait in between; one at a time of a store. The store's half comes
 * first: blobs are handed to the kernel, and *ret_fd is the file to be waited for by fdatasync(2) (borrowed; -1: none).
 * -EBUSY: journal_sync() of one of its journals has to do it. Then the logs of as many of its journals as are to be
 * synced with it: journal_sync_begin() yields the file of one. */
int journal_store_sync_begin(struct journal_store *st, int *ret_fd) __attribute__((warn_unused_result));
/* See journal_store_sync_begin(). */
int journal_sync_begin(struct journal *j, int *ret_fd) __attribute__((warn_unused_result));
/* What waiting for all of them gave: first the journals are told, then the store. */
void journal_sync_end(struct journal *j, int result);
/* See journal_sync_end(). */
void journal_store_sync_end(struct journal_store *st, int result);
