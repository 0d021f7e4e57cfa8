/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * scheduler - tenants, their workers, their sessions and what runs in them. It sees messages only: guest code runs in
 * workers, and no guest memory is mapped here.
 *
 * Model. A tenant is a state directory (snapshot/state.h) and up to `workers` worker processes. A session is its log in
 * that directory; while it is open it has a place in one worker, else it is parked and costs nothing here. Whoever
 * wants something of a parked session wakes it.
 *
 *   PARKED ──wake──► OPENING ──► OPEN ──idle, room needed──► CLOSING ──► PARKED
 *                                 │ execs of a session run one after the other, in the order in which they came
 *                                 └ worker died: PARKED; the exec that ran is `lost`, those behind it go on
 *
 * An exec has an id before it is sent to a worker, and the id is in the session's log (struct trace_exec, key). So what
 * an exec was is known as long as its log is: after a restart of the server it is looked up there. While it runs, and
 * for a while after, it is kept here with the first bytes of its output.
 *
 * Invariants:
 *   1. An exit code is what the worker's RESULT said, or what the log says; nothing else.
 *   2. An exec is sent to a worker once. One whose worker dies before RESULT is lost, and is not run again.
 *   3. A reader, however slow, holds nothing up: output is taken from the worker at once and kept up to a bound.
 *   4. Nothing here waits for a worker: what its socket does not take is queued, up to a bound.
 *
 * Threads: one. sched_fd() is polled by the owner, who calls sched_turn() when it can be read or sched_deadline() has
 * come. Callbacks are called from within sched_turn() or from the call that was given them.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "types/id.h"
#include "wire/wire.h"

struct sched;
struct sched_tenant;
struct sched_session;
struct sched_exec;
struct sched_timer;

struct sched_config {
    const char *state_dir;   /* NULL: as state_open() finds it */
    int userland_fd;         /* directory of the userland, borrowed; -1: none */
    const char *program;     /* path of frontal-sandbox, for the verbs that are run as processes */
    uint32_t workers;        /* of a tenant, at most; 0: as many as there are processors, at most 4 */
    uint32_t execs_waiting;  /* of a session, at most: above it 429 */
    uint64_t trace_retention_ms; /* how long the log of a destroyed session is kept; 0: not at all */
    uint64_t output_memory;  /* bytes of output of ended execs that are kept here */
    uint32_t silent_ms, kill_ms; /* 0: LIMIT_WORKER_SILENT_MS, LIMIT_WORKER_KILL_MS */
};

/* The state directory of the tenant "local" is opened and its first worker started. */
int sched_new(const struct sched_config *cfg, struct sched **ret, struct err *err) __attribute__((warn_unused_result));
/* Ends all workers once what was answered is on the disk. What runs is lost. Accepts NULL. */
void sched_free(struct sched *s);
/* To be polled for reading. */
int sched_fd(const struct sched *s);
/* When sched_turn() is to be called at the latest (clock_mono, INT64_MAX: no matter when). */
int64_t sched_deadline(const struct sched *s);
/* Takes what has come. Does not block. */
void sched_turn(struct sched *s);
/* From now on no exec begins: those that wait are refused. */
void sched_drain(struct sched *s);
/* Whether an exec runs or waits. */
bool sched_busy(const struct sched *s);

/* ---- timers ---- */

/* Calls @fn once, at @at (clock_mono). The owner frees it by sched_timer_cancel(), before or after. */
struct sched_timer *sched_timer(struct sched *s, int64_t at, void (*fn)(void *arg), void *arg);
/* Accepts NULL. */
void sched_timer_cancel(struct sched *s, struct sched_timer *t);

/* ---- tenants ---- */

/* The tenant of that name, opened when it is not: "local" is the state directory itself, others lie below it. */
int sched_tenant(struct sched *s, const char *name, struct sched_tenant **ret, struct err *err)
    __attribute__((warn_unused_result));
/* "local". */
const char *sched_tenant_name(const struct sched_tenant *t);
/* Its state directory. */
const char *sched_tenant_path(const struct sched_tenant *t);

/* What a worker said of its confinement: the bits applied and missing (confine/confine.h); false before the first was
 * ready. */
bool sched_confinement(const struct sched *s, uint64_t *ret_applied, uint64_t *ret_missing, struct str *ret_notes);

struct sched_counts {
    uint64_t workers, open_sessions, execs_running, execs_waiting;
    uint64_t execs_ended, execs_lost, workers_lost, sessions_created; /* since the start */
    uint64_t cpu_us, output_bytes;                                    /* of execs that ended */
};
/* Of all tenants. */
void sched_counts(const struct sched *s, struct sched_counts *ret);

/* All that are open, one after the other: the one after @t (NULL: the first), or NULL. */
struct sched_tenant *sched_tenant_next(struct sched *s, struct sched_tenant *t);

/* What execs that ended have used, since the session was made. It outlives every process: it is what the logs say. */
struct sched_usage {
    uint64_t execs, execs_lost; /* the second are among the first */
    uint64_t cpu_us;
    uint64_t memory_byte_seconds; /* the most memory that each has had, times how long it ran */
    uint64_t output_bytes;
    uint64_t files_bytes; /* of the tree, after the last */
};
/* Of all sessions of a tenant, and of those among them that were destroyed. */
void sched_usage(struct sched_tenant *t, struct sched_usage *ret_all, struct sched_usage *ret_gone);
/* Calls @fn for at most @most sessions of which something is known, by id, from the one after @after on. True: there
 * are more. */
bool sched_usage_each(struct sched_tenant *t, struct str after, uint32_t most,
                      void (*fn)(void *arg, const char *id, const struct sched_usage *u), void *arg);
/* Bytes of the tenant's store on the disk: what several sessions have is there once. Looks at every index. */
int sched_stored(struct sched_tenant *t, uint64_t *ret, struct err *err) __attribute__((warn_unused_result));

/* ---- sessions ---- */

/* What a session is made with, and keeps: in sessions/ID/settings, as JSON. */
struct sched_settings {
    struct str user, cwd;
    struct wire_list env;     /* NAME=VALUE for each exec */
    struct limits limits;     /* of its creation */
    uint64_t idle_timeout_ms; /* parked after so long */
    struct str metadata;      /* a JSON object, or empty */
    struct str policy;        /* text of rules (policy/policy.h), or empty */
    bool mounts;              /* it shows directories of the host, and is not opened here */
    bool changed;             /* limits and policy are not those that it was made with */
};

enum sched_session_state { SCHED_PARKED, SCHED_READY, SCHED_RUNNING };

struct sched_session_info {
    const char *id, *name; /* name "" when it has none */
    enum sched_session_state state;
    const struct sched_settings *settings;
    int64_t created;      /* wall clock */
    uint64_t seq;         /* events in its log, of the last exec that ended; 0: not known */
    bool has_root;
    uint8_t root[32];
    uint32_t waiting;     /* execs */
};

/* Called with 0, or with an error and what it means. */
typedef void sched_done(void *arg, struct sched_session *s, int error, const char *text);

/* Makes a session; @settings is copied. @done is called when it is open and will be there whatever process dies; it is
 * on the disk soon after. The session is held for the callback's time; when it failed there is none, or one that is of
 * no use. */
void sched_create(struct sched_tenant *t, struct str name, const struct sched_settings *settings, sched_done *done,
                  void *arg);
/* The session of that id or name: 0 and a reference, which sched_unref() gives back. -ENOENT, or what reading gave. */
int sched_find(struct sched_tenant *t, struct str who, struct sched_session **ret, struct err *err)
    __attribute__((warn_unused_result));
/* See sched_find(). */
struct sched_session *sched_ref(struct sched_session *s);
/* Accepts NULL. */
void sched_unref(struct sched_session *s);
/* Its id. */
const char *sched_session_id(const struct sched_session *s);
/* What it is now; borrowed until it changes. Reads its settings from the disk when it is parked. */
int sched_info(struct sched_session *s, struct sched_session_info *ret, struct err *err)
    __attribute__((warn_unused_result));
/* Opens it if it is parked: @done at once or later. */
void sched_wake(struct sched_session *s, sched_done *done, void *arg);
/* Parks it when nothing runs or waits: -EBUSY otherwise. After it, no process holds the session's lock. */
void sched_park(struct sched_session *s, sched_done *done, void *arg);
/* What was copied in by sched_fs() becomes part of its log; while an exec runs, the log ends with the one before it. */
void sched_settle(struct sched_session *s, sched_done *done, void *arg);
/* Whether something was sent to it by sched_fs() that may not be part of its log yet. */
bool sched_unsettled(const struct sched_session *s);
/* Whether it was not destroyed. */
bool sched_exists(const struct sched_session *s);
/* Parks it, and keeps it parked until sched_unlock(): for verbs that take its lock. -EBUSY as sched_park(). */
void sched_lock(struct sched_session *s, sched_done *done, void *arg);
/* See sched_lock(). */
void sched_unlock(struct sched_session *s);
/* A new session called @name (may be empty) that begins where @spec says: a session, SESSION@SEQ or a snapshot. It has
 * @settings (but user and limits, which are its origin's), or when NULL those of @like (may be NULL). @done is called
 * with it when it is made. */
void sched_fork(struct sched_tenant *t, struct str spec, struct str name, const struct sched_settings *settings,
                struct sched_session *like, sched_done *done, void *arg);
/* Its name, "" when it has none; as it was when it was last looked at. */
const char *sched_session_name(const struct sched_session *s);
/* The id of the session that it was made from, and still is there: 0, -ENOENT, or what reading gave. */
int sched_origin(struct sched_session *s, char ret_id[ID_MAX], struct err *err) __attribute__((warn_unused_result));

/* Templates of a tenant, as state_template_get() and its like. */
int sched_template_get(struct sched_tenant *t, struct str name, char ret_id[ID_MAX], struct err *err)
    __attribute__((warn_unused_result));
/* See sched_template_get(). */
int sched_template_put(struct sched_tenant *t, struct str name, struct str snapshot, struct err *err)
    __attribute__((warn_unused_result));
/* See sched_template_get(). */
int sched_template_delete(struct sched_tenant *t, struct str name, struct err *err) __attribute__((warn_unused_result));
/* See sched_template_get(); by name. */
int sched_template_each(struct sched_tenant *t, int (*fn)(void *arg, const char *name, const char *snapshot),
                        void *arg);
/* See sched_template_get(). */
bool sched_template_of(struct sched_tenant *t, const char *snapshot, char ret_name[65]);
/* Ends what runs, parks and removes it with its log and snapshots. */
void sched_destroy(struct sched_session *s, sched_done *done, void *arg);
/* Whether it was destroyed. */
bool sched_gone(const struct sched_session *s);
/* Gives it another name: -EEXIST when a session has that. */
int sched_rename(struct sched_session *s, struct str name, struct err *err) __attribute__((warn_unused_result));
/* Changes settings (@set is copied whole). */
int sched_change(struct sched_session *s, const struct sched_settings *set, struct err *err)
    __attribute__((warn_unused_result));
/* Changes limits and policy of a session that sched_lock() has parked. */
int sched_restrict(struct sched_session *s, const struct limits *limits, struct str policy, struct err *err)
    __attribute__((warn_unused_result));
/* Calls @fn with the id of each session of the tenant whose id comes after @after, in order, until it returns non-zero;
 * returns that, 0 or an error. */
int sched_each(struct sched_tenant *t, struct str after, int (*fn)(void *arg, const char *id, const char *name),
               void *arg);

/* ---- execs ---- */

struct sched_exec_request {
    struct wire_exec exec; /* copied; key is set here */
    bool has_stdin;        /* all of its input: */
    struct str input;
    bool stdin_stays; /* and more comes by sched_input() */
    uint64_t timeout_ms; /* 0: none */
};

struct sched_exec_info {
    const char *id;
    bool running, waiting; /* waiting: for its turn. Neither: it has ended, as: */
    struct outcome outcome;
    const struct wire_result *result; /* NULL while it has none */
    int64_t created, started, ended;  /* wall clock; 0: not yet */
    struct str out[3];                /* 1 and 2: the bytes kept, which begin at: */
    uint64_t base[3];                 /* 0, but for a terminal that has shown more than is kept: its last bytes are */
    uint64_t total[3];                /* printed */
    bool tty;                         /* it has a terminal, and its input stays open */
    bool input_open;                  /* sched_input() takes more */
    uint64_t input_total;             /* bytes of input that were taken for it */
};

/* Queues an exec: 0 and a reference. -EAGAIN (too many wait), -ESHUTDOWN, -E2BIG. @id: its id (NULL: a new one). */
int sched_exec(struct sched_session *s, const struct sched_exec_request *q, const struct id *id,
               struct sched_exec **ret, struct err *err) __attribute__((warn_unused_result));
/* One that is kept here, with a reference: NULL when it is not. */
struct sched_exec *sched_exec_find(struct sched_session *s, struct str id);
/* See sched_unref(). */
struct sched_exec *sched_exec_ref(struct sched_exec *e);
/* Accepts NULL. */
void sched_exec_unref(struct sched_exec *e);
/* What is known of it. Texts are borrowed until sched_turn(). */
void sched_exec_info(const struct sched_exec *e, struct sched_exec_info *ret);
/* Calls @fn once, at the next output or change of status (with @end_only: when it has ended), or when input that was
 * refused may be tried again. */
struct sched_watch;
struct sched_watch *sched_exec_watch(struct sched_exec *e, bool end_only, void (*fn)(void *arg), void *arg);
/* Accepts NULL, and one that was called. */
void sched_watch_cancel(struct sched_watch *w);
/* To its foreground group and its first process group; one that waits for its turn is taken out of the queue and ends
 * as killed. -ESRCH when it has ended. */
int sched_signal(struct sched_exec *e, int sig);
/* More input, at most LIMIT_STDIN_QUEUED bytes waiting: -EAGAIN; -EPIPE when it was closed or has ended. */
int sched_input(struct sched_exec *e, struct str data, bool end) __attribute__((warn_unused_result));
/* The size of its terminal, also of one that waits for its turn: -ESRCH when it has ended. */
int sched_resize(struct sched_exec *e, uint16_t rows, uint16_t cols);
/* The execs of a session that are kept here, oldest first. */
void sched_exec_each(struct sched_session *s, void (*fn)(void *arg, struct sched_exec *e), void *arg);

/* What the log says of an exec that is not kept here. */
struct sched_record {
    struct sched_exec_info info;
    struct wire_result result;
    struct buf out[3];
    char id[ID_MAX];
    uint64_t seq; /* of its EXEC */
};
/* Looks for @id in the log: 0, -ENOENT, or an error. */
int sched_record_find(struct sched_session *s, struct str id, struct sched_record *ret, struct err *err)
    __attribute__((warn_unused_result));
/* Frees. */
void sched_record_done(struct sched_record *r);
/* Each exec of the log that has an id, without its output, until @fn returns non-zero. */
int sched_record_each(struct sched_session *s, int (*fn)(void *arg, const struct sched_record *r), void *arg,
                      struct err *err);

/* ---- files ---- */

/* @reply is NULL when the worker is gone or the session could not be opened; then @text says why. */
typedef void sched_replied(void *arg, const struct wire_reply *reply, int error, const char *text);
/* Sends @requests (wire_put_fs(), one or several) and calls @fn with the reply. */
void sched_fs(struct sched_session *s, struct str requests, sched_replied *fn, void *arg);

/* ---- the log ---- */

struct sched_log;
/* Opens the log of a session for reading, at the event @from. */
int sched_log_open(struct sched_session *s, uint64_t from, struct sched_log **ret, struct err *err)
    __attribute__((warn_unused_result));
/* The log of a session that was destroyed, by its id: as sched_log_open(), and when it was (wall clock). -ENOENT. */
int sched_log_ended(struct sched_tenant *t, struct str id, uint64_t from, struct sched_log **ret, int64_t *ret_time,
                    struct err *err) __attribute__((warn_unused_result));
/* Appends the next event as one JSON object: 1, 0 when there is none yet, or an error. *ret_seq is its number. */
int sched_log_next(struct sched_log *l, struct buf *out, uint64_t *ret_seq, struct err *err)
    __attribute__((warn_unused_result));
/* An entry of the log that may have changed files: the end of a command, or a state that was put in place. */
struct sched_step {
    uint64_t seq, before; /* of it, and of the entry that has the state before it */
    char exec[ID_MAX];    /* of a command that has an id, else "" */
    char from[128];       /* "exec", or what a state was put in place from: "files", "batch", "snapshot …", "@SEQ" */
    bool listed;          /* what changed is known: */
    struct str changes;   /* at or below the path: JSON objects, one a line; borrowed until the next call */
};
/* The next such entry: 1, 0 when there is none yet, or an error. A log that is read so begins at event 0. @path may be
 * empty. */
int sched_log_step(struct sched_log *l, struct str path, struct sched_step *ret, struct err *err)
    __attribute__((warn_unused_result));
/* Accepts NULL. */
void sched_log_close(struct sched_log *l);

/* ---- verbs as processes ---- */

/* @status -1: it could not be started, was killed, or its answer is too long. */
typedef void sched_job_done(void *arg, int status, struct str out, struct str errs);
/* Runs `frontal-sandbox ARGV…` on the tenant's state (--state is added at the end) and calls @fn with its exit status,
 * output and messages. At most LIMIT_JOB_OUTPUT bytes of output. */
void sched_job(struct sched_tenant *t, const char *const *argv, sched_job_done *fn, void *arg);
