/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * session - one agent's world: its tree, its processes and shell, its limits, and what changed since it began.
 *
 * Model. A session is a fork of a template tree plus mounts. Until the first exec it is this struct and what the fork
 * copied: the process set and the shell's world are made on first use. An exec is a process that runs a shell (or one
 * program), with input fed and output taken by the owner; one exec runs at a time, processes it leaves behind go on
 * with the next. An exec of kind WIRE_EXEC_SERVE is a shell that stays and takes command lines one by one.
 *
 *   NEW ──session_exec──► RUNNING ──session_step = 1──► IDLE ──session_exec──► …
 *                            │ SERVE: session_line ► step = 1 (line done) ► session_line …
 *
 * Two trees: `base` (with what was copied in before the exec) and `tree` (now); session_diff() compares them.
 *
 * Invariants:
 *   1. The outcome of an exec is what its first process did, or the limit that ended it; it is given after its last
 * output.
 *   2. A session that met a limit is usable after: the next exec begins with fresh counters.
 *   3. No call blocks; the owner waits for host events and calls session_step().
 *
 * Threads: one at a time.
 */

#include "base/str.h"
#include "trace/trace.h"
#include "types/limits.h"
#include "wire/wire.h"

#include <sys/types.h>

struct err;
struct policy;
struct session;
struct vfs;
struct vfs_canon;
struct vfs_quota;

struct session_mount {
    struct str guest;
    uint32_t flags; /* enum vfs_mount_flags */
    int fd;         /* taken */
};

/* What programs there are besides the C commands. Borrowed; outlives every session. */
struct session_userland {
    const char *const *tools; /* names, sorted, each a file in /usr/bin */
    size_t n_tools;
    const struct engine_ops *engine; /* runs them; NULL: no such engine */
    void *engine_obj;
    const struct vfs_provider *layer; /* provides SESSION_LAYER; NULL: it is an empty directory */
    void *layer_arg;
};

/* Where the userland's read-only files appear. */
#define SESSION_LAYER "/usr/lib/frontal"

struct session_config {
    struct str user; /* name or number in the template's /etc/passwd; empty: "user" */
    struct str cwd;  /* empty: the user's home */
    struct limits limits;
    uint32_t host_uid, host_gid; /* what these own in a mount belongs to the session's user */
    const struct session_mount *mounts;
    uint32_t n_mounts;
    struct vfs *tree; /* taken: the tree of a session that goes on, its mounts in it; NULL: a fork of the template */
    struct vfs_canon *canon;                 /* taken: what is known of its hashes; may be NULL */
    const struct session_userland *userland; /* NULL: only C commands */
    /* Which programs may run. Borrowed; outlives the session. NULL: all. One that may not fails as with EPERM, is named
     * with its rule on the command's standard error, and is among the decisions with the engine "refused". */
    const struct policy *policy;
};

/* What a session needs of its owner. Borrowed; outlives the session. */
struct session_host {
    void *arg;
    /* Takes output of the exec: count, -EAGAIN (call session_output_ready() later) or -EPIPE. */
    ssize_t (*output)(void *arg, int stream, const void *p, size_t n);
    /* A process waits for input and there is none. */
    void (*want_input)(void *arg);
    /* Look for messages without blocking; called about once a millisecond while processes run. */
    void (*attend)(void *arg);
};

/* Names of the C commands, sorted, into @names: how many. */
#define SESSION_COMMANDS 256
size_t session_commands(const char *names[SESSION_COMMANDS]);

/* A row of the table of options: what runs @command with @name. */
struct session_option {
    const char *command;
    const char *name;     /* "-n, --number", "-name"; NULL: the command itself */
    const char *argument; /* "none", "required" or "optional"; NULL without a name */
    const char *by;       /* "builtin", "userland", "nobody" or "machine" */
    const char *why;      /* why it is not here; NULL: it is */
};

/* Calls @fn for each row, sorted by command, for a session with the userland. What it gets is borrowed for the call. */
void session_options(void (*fn)(void *arg, const struct session_option *o), void *arg);

/* The tree all sessions of a worker start from: base directories, the C commands, and the userland (NULL: none). NULL
 * when memory is short. */
struct vfs *session_template(const struct session_userland *u);

/* A session on a fork of @tmpl. -EINVAL (unknown user, bad mount path), -ENOMEM, or what mounting gave. */
int session_new(struct vfs *tmpl, const struct session_config *cfg, const struct session_host *host,
                struct session **ret, struct err *err) __attribute__((warn_unused_result));

/* Ends its processes and frees it. Accepts NULL. */
void session_free(struct session *s);

/* ---- exec ---- */

/* Starts @e (copied). -EBUSY while one runs; -ENOENT/-ENOTDIR (cwd), -E2BIG, -ENOMEM, -EAGAIN. */
int session_exec(struct session *s, const struct wire_exec *e, struct err *err) __attribute__((warn_unused_result));

/* Lets it run: 1 when the exec (SERVE: the line) has ended, else 0 and *ret_wake is when to call again at the latest
 * (clock_mono, INT64_MAX: only after input or a signal). */
int session_step(struct session *s, int64_t *ret_wake);

/*
 * The session's shell goes on from exec to exec. An exec with `keep` begins with the session's shell state (shell.h,
 * struct shell_keep) and leaves its own there when it ends by itself, or, served, at the end of each line. One that a
 * signal or limit ends leaves the state as it was before. Kinds ARGV and SCRIPT are programs that the shell runs: they
 * get its directory and what it exports, and change nothing. The exec's env is for this exec only.
 *
 * A state that could not be kept (LIMIT_SHELL_STATE, memory) leaves the one before, and the result a message.
 */
struct str session_shell_state(const struct session *s);

/* Sets it (copied): 0, -EBUSY while an exec runs, -EBADMSG, -EFBIG or -ENOMEM. */
int session_set_shell_state(struct session *s, struct str state) __attribute__((warn_unused_result));

/* Has session_step() return soon, in the middle of what runs, with *ret_wake 0; the next call goes on there. Called by
 * host.attend, when another session of the thread is to have a turn. */
void session_pause(struct session *s);

/* How the exec ended. Strings are borrowed until the next call. */
void session_result(struct session *s, struct wire_result *ret);

/* Input: bytes taken now (never more than the feed has room for), and the end. */
size_t session_input(struct session *s, struct str data);
/* See session_input(). */
void session_input_end(struct session *s);
/* Room for input. */
size_t session_input_room(const struct session *s);

/* The client reads a stream no more: writers get SIGPIPE. */
void session_close_output(struct session *s, int stream);
/* Output can be taken again. */
void session_output_ready(struct session *s);

/* A signal to the whole command: the foreground group, and with @all every process of the exec. */
void session_signal(struct session *s, int sig, bool all);
/* Ends the exec with a reason. */
void session_kill(struct session *s, enum outcome_reason reason);
/* The client's terminal changed size. */
void session_resize(struct session *s, uint16_t rows, uint16_t cols);

/* ---- recording and replay ---- */

/*
 * What an exec (of kind SERVE: each of its command lines) depends on beside its text and the tree: clocks, entropy,
 * pids, and when something came from outside. Recorded, it can be carried out again with every byte and every time of
 * the tree the same. docs/internals/proc.md says how.
 */

struct session_begin {
    uint8_t seed[32];   /* of its entropy */
    int64_t wall, mono; /* clock_wall() and clock_mono() */
    int32_t first_pid;  /* 0: goes on */
};

struct session_event {
    enum trace_input_kind kind;
    uint64_t look;  /* looks at the clock before it */
    uint32_t value; /* as in struct trace_input */
    struct str data;
};

struct session_tape {
    void *arg;
    struct session_begin begin; /* clocks of now */
    /* Something came from outside, in this order. Borrowed during the call. */
    void (*event)(void *arg, const struct session_event *e);
    /* Bytes of the clock's changes, the last at the latest when session_step() says that it has ended. */
    void (*clock)(void *arg, const void *p, size_t n);
    /* It cannot be replayed exactly, because of something that is no event. @why is static text. */
    void (*inexact)(void *arg, const char *why);
};

/* Records the next exec or line (@tape is copied). A session without processes starts it on a new process set, so that
 * nothing of an exec before counts. While it runs, output that the owner does not take holds up everything. */
void session_record(struct session *s, const struct session_tape *tape);

/* Whether the exec began on a new process set. One that did not can only be replayed after those before it. */
bool session_fresh(const struct session *s);

/* The pid that the next process gets; 0 before the first exec. */
int32_t session_next_pid(const struct session *s);

struct session_playback {
    void *arg;
    struct session_begin begin; /* as recorded */
    /* The next event, borrowed until the next call: 1, or 0 when there are no more. */
    int (*event)(void *arg, struct session_event *ret);
    /* The next bytes of the clock's changes, borrowed until the next call; 0 when there are no more. */
    size_t (*clock)(void *arg, const void **ret_p);
};

/* Replays: the next session_exec() or session_line() is what it was when recorded, on an equal tree, and @play (copied)
 * says what came from outside. The owner calls session_step() and takes output as ever, but no time passes: step waits
 * for nothing but room for output. What else comes from the owner is not let in, except session_kill(). */
void session_replay(struct session *s, const struct session_playback *play);

/* After it has ended: 0, or -EILSEQ and what was different (static text). A replay that leaves its tape is ended with
 * REASON_CRASH. */
int session_replayed(const struct session *s, const char **ret_what);

/* ---- an interactive shell ---- */

/* Gives the serving shell a command line (copied): -EBUSY while one runs, -ESRCH when there is no shell. An empty @line
 * with @end: ends the shell as ^D does. */
int session_line(struct session *s, struct str line, bool end);
/* Asks the idle serving shell; the answer's text is borrowed until the next call. -EBUSY, -ESRCH. */
int session_query(struct session *s, const struct wire_query *q, struct wire_answer *ret);

/* ---- files ---- */

/* Carries out @q on the tree, as root beneath the tree's root: negative errno in ret->error. The reply's data is
 * borrowed until the next call. */
void session_fs(struct session *s, const struct wire_fs *q, struct wire_reply *ret);

/* Carries out @requests (wire_put_fs(), one behind the other) all, or none: then ret->error and ret->index say why
 * and which. 0; -EBADMSG: they do not decode; another error: memory has run out in the middle, and the session's tree
 * is of no use any more. */
int session_fs_batch(struct session *s, struct str requests, struct wire_reply *ret)
    __attribute__((warn_unused_result));

/* Makes the tree equal to @before, a fork of it from before. No command may run; processes that one has left end. The
 * shell's state stays. -ENOMEM: nothing was done. */
int session_put_back(struct session *s, struct vfs *before) __attribute__((warn_unused_result));
/* When the exec that has ended was atomic, and did other than to exit with 0: makes the tree what it was before, and
 * ends what is left of its processes. Called once session_result() has told of it. 0 or -ENOMEM. */
int session_take_back(struct session *s) __attribute__((warn_unused_result));

/* From here on session_diff() compares: called when what was copied in is in place. */
int session_mark_base(struct session *s);

/* Calls @fn with each change since the mark, in byte order of paths, below @prefix (empty: all), with a unified diff of
 * text files when @text. @fn's non-zero result ends it and is returned. */
int session_diff(struct session *s, bool text, struct str prefix, int (*fn)(void *arg, const struct wire_change *c),
                 void *arg);

/* The root hash of the tree (vfs/image.h): equal trees have equal ones, whatever led to them. Times do not count. */
int session_root(struct session *s, uint8_t ret[32]);

/* The quota of a session's tree: what the template holds is not the session's use. -ENOMEM when it does not add up. */
int session_quota(struct vfs *tmpl, const struct limits *limits, struct vfs_quota *ret);
/* What is known of the hashes of its tree. */
struct vfs_canon *session_canon(struct session *s);
/* The limits that hold. */
const struct limits *session_limits(const struct session *s);
/* Where its present exec began, or the next will; borrowed. */
struct str session_cwd(const struct session *s);

/* The tree, for owners that look at it (tests, benchmarks). */
struct vfs *session_tree(struct session *s);
