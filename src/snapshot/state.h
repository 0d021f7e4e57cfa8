/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * snapshot/state - the state directory: what outlives a process.
 *
 *   STATE/version                   "frontal-sandbox state 1"
 *   STATE/store/                    blobs (cas/store.h)
 *   STATE/sessions/ID/trace         the session's log (trace/trace.h); its last END, RESTORE or CREATED has its state
 *   STATE/sessions/ID/lock          flock: one process at a time runs commands in a session
 *   STATE/sessions/ID/name          symlink: under which name to look for it first
 *   STATE/sessions/ID/boot          symlink: boot id of the machine when the session was last found, or made, whole
 *   STATE/sessions/ID/snapshots/X   symlink: id, or name within the session, of a snapshot -> its id
 *   STATE/names/NAME                symlink: name of a session -> its id
 *   STATE/snapshots/ID              what a snapshot is, KEY=VALUE lines
 *   STATE/ended/ID                  log of a session that was destroyed, for as long as it is kept
 *   STATE/templates/NAME            symlink: name of a template -> id of the snapshot it is
 *
 * docs/internals/state.md describes each well enough to write another reader.
 *
 * Model. A session is its log; everything else is named there. What a session is now (or was after any command) is a
 * struct trace_state: three blobs. Making, renaming, forking and destroying change names only, in one atomic step each,
 * so a crash at any moment leaves either the old or the new; what was half made is not visible and is cleared by gc.
 *
 * Names of sessions and snapshots are 1 to 64 of A-Z a-z 0-9 . _ -, not beginning with '.', '-' or an id's prefix. Ids
 * (types/id.h) are sbx_… and snap_….
 *
 * Invariants:
 *   1. A name leads to at most one session, and to a whole one.
 *   2. Only who holds the session's lock appends to its log. Reading needs no lock.
 *   3. Everything a log or a snapshot names stays in the store until the session or snapshot is destroyed and gc ran.
 *
 * Threads: one at a time uses what a call has given (a session, a place, the store). The struct state itself does not
 * change after it was opened, and several threads may call functions with it.
 */

#include <time.h>

#include "base/buf.h"
#include "cas/store.h"
#include "trace/trace.h"

struct err;
struct state;
struct vfs;
struct vfs_canon;

#define STATE_NAME_MAX 64
#define STATE_ID_MAX 40
#define STATE_HIDDEN_MAX (STATE_ID_MAX + 8)

/* The directory: @path, or when NULL $FRONTAL_SANDBOX_STATE, $XDG_STATE_HOME/frontal-sandbox, $HOME/.local/state/…;
 * made (0700) with @create, else -ENOENT with the remedy in @err. -EINVAL for one that is not ours or of a newer
 * version. */
int state_open(const char *path, bool create, struct state **ret, struct err *err) __attribute__((warn_unused_result));
/* The path that state_open() would use: heap, or NULL when nothing says so. */
char *state_where(const char *path);
/* Accepts NULL. */
void state_close(struct state *s);
/* Removes the directory @path and all below it: of a state that was made for a moment. */
int state_discard(const char *path);
/* The path in use, for messages. */
const char *state_path(const struct state *s);

/* Opens the store. */
int state_store(struct state *s, int cas_flags, struct cas **ret, struct err *err) __attribute__((warn_unused_result));
/* A new descriptor of the store's directory, to hand into a worker: the caller's. */
int state_store_fd(struct state *s);

/* ---- sessions ---- */

struct state_session {
    char id[STATE_ID_MAX];
    char dir[STATE_HIDDEN_MAX];    /* of sessions/: its id, or as long as it is not visible another name */
    char name[STATE_NAME_MAX + 1]; /* "" when it has none */
    int trace_fd;                  /* of the log; O_RDWR when owned, else O_RDONLY; -1 after it was handed on */
    int lock_fd;                   /* holds the lock while open; -1: not owned */
    bool fresh;                    /* just made: the log is empty */
    bool recheck;                  /* the machine was started anew since it was last found whole (journal_open()) */
};

/* A new session with a new id, owned. @name may be empty. -EEXIST, -EINVAL (name). It becomes visible under its name
 * when state_session_commit() is called, after its CREATED event was written and synced as the caller needs. */
int state_session_create(struct state *s, struct str name, struct state_session *ret, struct err *err)
    __attribute__((warn_unused_result));
/* See state_session_create(). When it returns all of it is on the disk, the log included. */
int state_session_commit(struct state *s, struct state_session *ses, struct err *err);
/* As state_session_commit(), with what is to be in its file `settings` (empty: no file), and without waiting for the
 * disk: it outlives every process, and power only after state_session_sync(). When power is lost before that, either
 * all of it is there or nothing. */
int state_session_show(struct state *s, struct state_session *ses, struct str settings, struct err *err)
    __attribute__((warn_unused_result));
/* Waits until these sessions are on the disk; one that was destroyed is none of them. Returns the first error.
 * Allocates nothing. */
int state_session_sync(struct state *s, const char (*ids)[STATE_ID_MAX], size_t n) __attribute__((warn_unused_result));
/* A new id, which tells of the present time, for one that was made in advance. Its log must be empty. */
void state_session_renew(struct state_session *ses);
/* An owned session was found whole, if that was in question. That it cannot be noted costs the next opening time. */
void state_session_whole(struct state *s, struct state_session *ses);
/* Another name for a session that was not committed. -EEXIST, -EINVAL. */
int state_session_call(struct state *s, struct state_session *ses, struct str name, struct err *err);
/* Closes a session, and gives it up when it was not committed. */
void state_session_drop(struct state *s, struct state_session *ses);

/* Whether there is a session with this id. */
bool state_session_is(struct state *s, const char *id);
/* When a name was given, changed or taken away last, as the file system has it: what state_session_named() has said is
 * so as long as this does not change (but a session may be gone before its name is), once it lies some while back. */
int state_names_changed(struct state *s, struct timespec *ret) __attribute__((warn_unused_result));
/* The id of the session that has the name: 0, or -ENOENT. */
int state_session_named(struct state *s, struct str name, char ret_id[STATE_ID_MAX]);

/* An existing session by name or id. @own: takes its lock, waiting up to @wait_ms for it; -EBUSY names the process that
 * has it. -ENOENT with what there is instead (near names, or how to make one). */
int state_session_open(struct state *s, struct str who, bool own, int wait_ms, struct state_session *ret,
                       struct err *err) __attribute__((warn_unused_result));
/* Whether a process has the lock of the session with this id now: 1, 0, or why that cannot be known. One that is not
 * there (any more) is nobody's. */
int state_session_in_use(struct state *s, const char *id) __attribute__((warn_unused_result));
/* Closes descriptors, which gives the lock back. */
void state_session_close(struct state_session *ses);

/* Calls @fn for each session, by name and then by id, until it returns non-zero; returns that, 0 or an error. */
int state_session_each(struct state *s, int (*fn)(void *arg, const char *id, const char *name), void *arg);
/* Another name. The session need not be owned. */
int state_session_rename(struct state *s, struct str who, struct str name, struct err *err);
/* Ends it: its log, name and snapshots are gone; blobs stay until gc. -EBUSY while a command runs in it, or
 * a gc is at work for all of CAS_GC_WAIT_MS. */
int state_session_destroy(struct state *s, struct str who, struct err *err);
/* The same, and its log is kept: state_ended_open(). */
int state_session_end(struct state *s, struct str who, struct err *err);
/* The log of a session that was ended so, by its id: a descriptor to read, the caller's, and when that was (wall clock,
 * ns). -ENOENT. */
int state_ended_open(struct state *s, struct str who, int *ret_fd, int64_t *ret_time, struct err *err)
    __attribute__((warn_unused_result));
/* Removes the logs of sessions that were ended before that time. */
int state_ended_tidy(struct state *s, int64_t before);
/* Removes what was half made or half removed when a process was killed, and is not visible. */
int state_tidy(struct state *s, struct err *err);

/* ---- snapshots ---- */

struct state_snapshot {
    char id[STATE_ID_MAX], name[STATE_NAME_MAX + 1], session[STATE_ID_MAX];
    uint64_t seq;
    int64_t time;
    uint64_t bytes, new_bytes; /* of the tree; written for it */
    struct trace_state state;
    struct str config; /* of the session, as in CREATED; heap, freed by state_snapshot_done() */
};
/* Writes it; its id is made. -EEXIST when the session has one of that name. */
int state_snapshot_put(struct state *s, struct state_snapshot *snap, struct err *err)
    __attribute__((warn_unused_result));
/* By id, or by name within @session (id, or empty: of any session, -EEXIST when several have it). */
int state_snapshot_get(struct state *s, struct str session, struct str who, struct state_snapshot *ret, struct err *err)
    __attribute__((warn_unused_result));
/* Frees. */
void state_snapshot_done(struct state_snapshot *snap);
/* Each snapshot (of @session, or all), oldest first. */
int state_snapshot_each(struct state *s, struct str session, int (*fn)(void *arg, const struct state_snapshot *snap),
                        void *arg);
/* Forgets one. */
int state_snapshot_delete(struct state *s, struct str session, struct str who, struct err *err);

/* ---- templates: names for snapshots ---- */

/* The snapshot that the template is. -ENOENT. */
int state_template_get(struct state *s, struct str name, char ret_id[STATE_ID_MAX], struct err *err)
    __attribute__((warn_unused_result));
/* The snapshot (by id, or a name that one session has) is what the template is from now on. -ENOENT, -EINVAL. While it
 * is, it stays: deleting it is -EBUSY, and destroying its session leaves it. */
int state_template_put(struct state *s, struct str name, struct str snapshot, struct err *err)
    __attribute__((warn_unused_result));
/* The name is gone, the snapshot is not. -ENOENT. */
int state_template_delete(struct state *s, struct str name, struct err *err) __attribute__((warn_unused_result));
/* Calls @fn for each, in no order, until it returns non-zero; returns that, 0 or an error. */
int state_template_each(struct state *s, int (*fn)(void *arg, const char *name, const char *snapshot), void *arg);
/* Whether a template is this snapshot; its name into @ret_name (may be NULL). */
bool state_template_of(struct state *s, const char *snapshot, char ret_name[STATE_NAME_MAX + 1]);

/* ---- what a log says ---- */

/* The state at its end, and the event that holds it: the last END, RESTORE or CREATED. Costs the last command. */
int state_last(struct trace *t, uint64_t *ret_seq, struct trace_state *ret, struct err *err)
    __attribute__((warn_unused_result));
/* Whoever has the lock and is to append calls this first: a command whose process was killed has an EXEC and no END; it
 * gets one that says OUTCOME_LOST, with the state and the next process's number before it. 1 when it did, else 0 or an
 * error. */
int state_settle(struct trace *t, struct err *err) __attribute__((warn_unused_result));

/* ---- places ---- */

/* What "SESSION", "SESSION@SEQ", "snapshot" or "SESSION:snapshot" means: a state, and whose. SEQ is any event of a
 * command: the state after that command; @0 is the state it began with. */
struct state_place {
    char session[STATE_ID_MAX];
    char snapshot[STATE_ID_MAX]; /* when it is one */
    uint64_t seq;                /* of the event that holds the state */
    struct trace_state state;
    struct buf config; /* of the session; state_place_done() frees */
};
/* See struct state_place. -ENOENT with the remedy. */
int state_resolve(struct state *s, struct str spec, struct state_place *ret, struct err *err)
    __attribute__((warn_unused_result));
/* Frees. */
void state_place_done(struct state_place *p);
/* The tree of a state, without host directories behind its mounts (what is only there gives ESTALE). */
int state_tree(struct cas *c, const struct trace_state *st, struct vfs **ret, struct vfs_canon **ret_canon,
               struct err *err) __attribute__((warn_unused_result));

/* A new session whose log begins with a CREATED from @from: with @name, not owned after. Costs the same whatever the
 * size of the tree and the length of the log. When nobody uses the session it comes from, that one's log gets a FORK;
 * else this is left out, rather than to wait: the new one's CREATED tells it too. When it returns the new one is on the
 * disk, as far as what it names is. */
int state_fork(struct state *s, const struct state_place *from, struct str name, char ret_id[STATE_ID_MAX],
               struct err *err) __attribute__((warn_unused_result));
/* The same without waiting for the disk, and with @settings: as state_session_show(). @made is a new session, with its
 * name: taken in every case. */
int state_fork_show(struct state *s, const struct state_place *from, struct state_session *made, struct str settings,
                    char ret_id[STATE_ID_MAX], struct err *err) __attribute__((warn_unused_result));
