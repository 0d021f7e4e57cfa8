/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* scheduler_int - what the files of the scheduler share. */

#include <sys/types.h>
#include <time.h>

#include "base/map.h"
#include "cas/store.h"
#include "scheduler/scheduler.h"
#include "snapshot/state.h"
#include "worker/worker.h"

struct sched_timer {
    int64_t at;
    uint32_t i; /* place in the heap + 1; 0: not in it */
    void (*fn)(void *arg);
    void *arg;
};

/* What is polled. */
struct source {
    void (*ready)(void *arg, uint32_t events);
    void *arg;
};

/* One frame that the worker's socket did not take yet, with its descriptors. */
struct frame {
    struct frame *next;
    int fds[CHAN_FDS]; /* owned, or -1 */
    size_t n;
    char bytes[];
};

struct link { /* a worker */
    struct link *next;
    struct sched_tenant *tenant;
    struct worker worker;
    struct source source;
    bool ready, dead;
    bool polls_out;
    struct sync_job *sync; /* that it waits for, or NULL */
    struct frame *head, *tail;
    size_t queued; /* bytes */
    struct sched_session *sessions[LIMIT_WORKER_SESSIONS];
    uint32_t n_sessions, n_running;
    struct sched_timer *watchdog; /* while it has not read all that was sent */
    uint64_t heard, heard_then;   /* messages of it, by now and when it was looked at last */
    int unread_then;              /* bytes */
};

/* Something that waits for the disk (disk.c): the first member of a struct that has what it needs. */
struct disk_job {
    struct disk_job *next;
    void (*work)(struct disk_job *j); /* on a thread of its own: nothing of the scheduler is touched */
    void (*done)(struct disk_job *j); /* on the scheduler's, afterwards; frees it */
};

enum disk_lane { DISK_NAMES, DISK_SPARES, DISK_SYNCS, DISK_LANES };

/* A session's directory that was made in advance. */
struct spare {
    struct spare *next;
    struct state_session made;
};

struct sched_tenant {
    struct sched_tenant *next;
    struct sched *s;
    char *name;
    struct state *state;
    struct cas *store; /* to read; opened when it is wanted */
    struct link *links;
    uint32_t n_links;
    struct map sessions; /* by id: those that are open or referred to */
    struct map named; /* ids (heap) by name, as of: */
    struct timespec names_of;
    struct cas *fork_store; /* of the lane of names, while a job of it runs */
    uint32_t n_forking;
    struct usage *usage;
    struct spare *spares;
    uint32_t n_spares, n_spares_coming;
    struct made_names *unsynced; /* that were shown since the last wait for the disk began; NULL: none */
    bool syncing;
};

enum place { PARKED, OPENING, OPEN, CLOSING, GONE };

/* Who waits for a session to change its place. */
struct waiter {
    struct waiter *next;
    sched_done *fn;
    void *arg;
};

/* What an open session's worker still has to answer, in order. */
struct pending {
    struct pending *next;
    sched_replied *fn; /* NULL: nobody waits for it */
    void *arg;
};

/* Requests that wait until the session is open. */
struct fs_wait {
    struct fs_wait *next;
    struct buf body;
    sched_replied *fn;
    void *arg;
};

struct sched_session {
    struct sched_tenant *tenant;
    char id[STATE_ID_MAX], name[STATE_NAME_MAX + 1];
    uint32_t refs;
    enum place place;
    bool destroying;
    bool showing; /* OPENING: it is open in its worker, and becomes visible on the disk */
    bool unsettled; /* see sched_unsettled() */
    bool locked; /* parked, and a verb has its lock: it is not opened */
    struct link *link; /* while it has a place there */
    uint32_t number;
    struct state_session made; /* OPENING of a new one */
    struct waiter *opened, *closed;
    struct pending *pending, **pending_tail;
    struct fs_wait *fs_waits, **fs_tail;
    bool has_settings;
    struct sched_settings settings;
    struct arena settings_arena;
    struct sched_exec *execs, **exec_tail; /* all that are kept, oldest first */
    struct sched_exec *begun; /* the last that began: those that wait lie behind it; NULL: it is not kept */
    struct sched_exec *running;
    uint32_t n_waiting;
    struct sched_timer *idle; /* when it is parked */
    int64_t used;             /* clock_mono */
    bool has_root;
    uint8_t root[32];
    uint64_t seq;
};

enum exec_place { EXEC_WAITING, EXEC_RUNNING, EXEC_ENDED };

struct sched_watch {
    struct sched_watch *next, **at; /* at: NULL when it was called or cancelled */
    bool end_only;
    void (*fn)(void *arg);
    void *arg;
};

struct sched_exec {
    struct sched_exec *next;                   /* of the session */
    struct sched_exec *newer, *older, **oldest; /* among the ended ones that are kept */
    struct sched_session *session;
    uint32_t refs;
    char id[ID_MAX];
    enum exec_place place;
    struct buf request; /* encoded, until it is sent */
    struct sched_timer *timeout; /* its own, and once it was told to end, that of its end */
    uint64_t timeout_ms;
    struct buf input; /* that waits */
    size_t input_sent;
    uint64_t input_total;
    bool input_stays, wanted, kept;
    bool input_refused; /* who tried is told when there is room */
    uint32_t resize;    /* rows << 16 | cols, since it was queued; 0: none */
    struct buf out[3];
    uint64_t base[3], total[3];
    bool tty;
    struct outcome outcome;
    bool has_result;
    struct wire_result result;
    struct buf result_text; /* of its strings */
    int64_t created, started, ended;
    struct sched_watch *watches;
};

struct job;

struct sched {
    struct sched_config cfg;
    char *program;
    int epoll;
    struct sched_timer **timers;
    uint32_t n_timers, cap_timers;
    struct sched_tenant *tenants;
    struct link *graveyard; /* links that died within this turn */
    struct sched_exec *ended_oldest, *ended_newest;
    uint32_t n_ended;
    uint64_t ended_bytes;
    struct sched_timer *tidy; /* of logs that are kept for a time */
    struct job *jobs;
    uint32_t n_jobs;
    struct disk *disk;
    bool draining;
    bool ending; /* sched_free(): nobody is left to be told */
    bool has_ready;
    uint64_t applied, missing;
    char *notes;
    struct sched_counts counts;
};

/* Polls @fd for EPOLLIN and @more; src->ready is called with the events. */
int sched__poll(struct sched *s, int fd, struct source *src, uint32_t more);
/* Other events. */
void sched__poll_change(struct sched *s, int fd, struct source *src, uint32_t events);
/* No more. */
void sched__poll_end(struct sched *s, int fd);

/* ---- disk.c ---- */

/* Starts its threads. */
int sched__disk_new(struct sched *s, struct err *err);
/* Gives @j to a thread of the lane; after sched__disk_settle() it is done at once. */
void sched__disk(struct sched *s, enum disk_lane lane, struct disk_job *j);
/* While it is held no thread is anywhere but in the kernel: for who starts a process that runs on without exec. */
void sched__disk_hold(struct sched *s, bool hold);
/* Waits until all that was given is done, and ends the threads. */
void sched__disk_settle(struct sched *s);
/* The same, and frees. Accepts that there is none. */
void sched__disk_free(struct sched *s);

/* ---- make.c ---- */

/* A directory for @s, of the tenant's spare ones or a new one: s->made, with its name; @fn(@s, error) is called now or
 * later. */
void sched__make_dir(struct sched_session *s, struct str name,
                     void (*fn)(struct sched_session *s, const struct err *err));
/* Makes the session in s->made visible: @fn is called later. */
void sched__make_show(struct sched_session *s, void (*fn)(struct sched_session *s, const struct err *err));
/* Takes the session off the disk: @fn is called later. */
void sched__make_gone(struct sched_session *s, void (*fn)(struct sched_session *s, const struct err *err));
/* It was made visible: it will be on the disk soon. */
void sched__make_sync(struct sched_tenant *t, const char *id);
/* One of the tenant's spare directories, the caller's, or NULL; and back. */
struct spare *sched__make_take(struct sched_tenant *t);
/* See sched__make_take(). */
void sched__make_put(struct sched_tenant *t, struct spare *sp);
/* Has those made that are missing. */
void sched__make_order(struct sched_tenant *t);
/* Removes spare directories. */
void sched__make_free(struct sched_tenant *t);

/* ---- usage.c ---- */

/* Reads the tenant's file. */
int sched__usage_new(struct sched_tenant *t, struct err *err);
/* Frees. Accepts that there is none. */
void sched__usage_free(struct sched_tenant *t);
/* A descriptor of its file, the caller's; or a negative number. */
int sched__usage_fd(const struct sched_tenant *t);
/* The session is about to be opened, s->made has its log: what is behind is counted. */
void sched__usage_opens(struct sched_session *s);
/* An exec is about to begin. */
void sched__usage_begins(struct sched_session *s);
/* One has ended. */
void sched__usage_ended(struct sched_session *s, const struct wire_result *r);
/* Its worker has closed it. */
void sched__usage_closed(struct sched_session *s);
/* It is about to be removed; and then it is @gone, or is not. */
void sched__usage_goes(struct sched_session *s);
/* See sched__usage_goes(). */
void sched__usage_went(struct sched_session *s, bool gone);

/* ---- link.c ---- */

/* A worker of the tenant with room for one more session, started if need be: NULL and @err when there is none. */
struct link *sched__place(struct sched_tenant *t, uint32_t *ret_number, struct err *err);
/* Sends or queues a message: 0, -EAGAIN when too much waits, -EPIPE. Descriptors are taken when it succeeds. */
int sched__send(struct link *l, uint32_t type, uint32_t number, struct str body, int *fds, int n_fds)
    __attribute__((warn_unused_result));
/* The worker has broken its word, or is gone: what it had is lost. */
void sched__link_dead(struct link *l, const char *why);
/* Ends it; its sessions are told. */
void sched__link_free(struct link *l);
/* Frees links that died. */
void sched__bury(struct sched *s);
/* Starts a worker. */
struct link *sched__link_new(struct sched_tenant *t, struct err *err);

/* ---- session.c ---- */

/* The record of a session that is there; it is found by its id from now on. */
struct sched_session *sched__session_new(struct sched_tenant *t, const char *id, const char *name);

/* Forgets which names are known to lead where. */
void sched__names_forget(struct sched_tenant *t);
/* A message of the session's worker. False: it is not what the protocol allows. */
bool sched__session_message(struct sched_session *s, uint32_t type, struct str body);
/* Its worker is gone. */
void sched__session_lost(struct sched_session *s);
/* Something has ended: what waits for it to be idle may go on. */
void sched__session_idle(struct sched_session *s);
/* Notes that it was used. */
void sched__session_used(struct sched_session *s);
/* Closes an idle session of the worker to make room: whether there was one. */
bool sched__session_evict(struct link *l);
/* An error of the worker's REPLY or the like as an errno and text for a callback. */

/* ---- exec.c ---- */

/* Sends the next one that waits, if the session is open and nothing runs. */
void sched__exec_next(struct sched_session *s);
/* A message about the exec that runs. */
bool sched__exec_message(struct sched_session *s, uint32_t type, struct str body);
/* The exec that ran is lost. */
void sched__exec_lost(struct sched_session *s);
/* Refuses all that wait, for @error. */
void sched__exec_refuse(struct sched_session *s, int error, const char *text);
/* Forgets all: the session is freed. */
void sched__exec_forget(struct sched_session *s);

/* ---- settings.c ---- */

/* Copies. */
void sched__settings_set(struct sched_session *s, const struct sched_settings *set);
/* Reads them if they are not there. */
int sched__settings_load(struct sched_session *s, struct err *err);
/* Writes the file, in place of the one before. */
int sched__settings_save(struct sched_session *s, struct err *err);
/* Its text; nothing when all of it is as it is without a file. */
int sched__settings_text(const struct sched_settings *set, struct buf *out, struct err *err);
/* A copy in @a. */
struct sched_settings sched__settings_copy(struct arena *a, const struct sched_settings *set);
/* Limits and policy of @set become those of session @id, when they are not those that it was made with any more; else
 * @set has none that were changed. For any thread. */
int sched__settings_changes(struct state *state, const char *id, struct sched_settings *set, struct arena *a,
                            struct err *err);
/* Whether a session with them can be opened here: 0, or -EOPNOTSUPP. */
int sched__settings_open(const struct sched_settings *set, struct err *err);
/* NAME=VALUE lines of limits, each name behind @prefix. */
int sched__settings_limits(struct buf *out, const char *prefix, const struct limits *l);
/* Calls @use with what the log of the session begins with: its result, or an error of reading. */
int sched__created(struct sched_session *s, int (*use)(void *arg, const struct trace_created *c, struct err *err),
                   void *arg, struct err *err);
/* The text of CREATED. */
int sched__settings_config(struct buf *out, const struct sched_settings *set);
/* What it says, in @a. For any thread. */
int sched__settings_created(struct sched_settings *set, struct arena *a, struct str text, struct err *err);

/* ---- record.c, job.c ---- */

/* Ends all jobs: nobody is told. */
void sched__jobs_end(struct sched *s);
