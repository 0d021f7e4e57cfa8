/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * trace - the log of a session: what was run, what it printed, what it changed, what was decided, in one append-only,
 * hash-chained file of events. It is the journal recovery reads, the audit, and the input of replay.
 *
 * Model. Events are numbered from 0; number 0 is CREATED. Bulk (output, stdin, scripts) is in the store and named here;
 * short texts lie in the event. An event is a header (length, type, schema version, time), a body of fields, and a
 * chain value: SHA-256 over the chain value before it and the event's own bytes. So a flipped bit, a cut in the middle,
 * an exchange or a removal is found, and trace_verify() says at which event. docs/internals/trace.md has the format.
 *
 * Invariants:
 *   1. What trace_append() has returned for survives the death of the process; after trace_sync() loss of power.
 *   2. Opening for append cuts a torn last event (one whose bytes end early or whose chain value is wrong with nothing
 *      valid after it) and reports how many bytes; damage before that is -EBADMSG and nothing is cut.
 *   3. Decoding accepts exactly what encoding gives; every length is checked; memory is bounded by LIMIT_TRACE_EVENT.
 *   4. The values of secrets never reach the file: they are masked when the event is appended.
 *
 * Threads: one at a time.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "cas/store.h"
#include "types/limits.h"
#include "types/outcome.h"

struct err;

enum trace_type {
    TRACE_CREATED = 1, /* from nothing, a session, a snapshot or an import; what it may use */
    TRACE_EXEC,        /* an exec begins */
    TRACE_INPUT,     /* what came from outside while it ran: stdin, signals, kills, resizes (see struct trace_input) */
    TRACE_CLOCK,     /* clock and entropy it was given */
    TRACE_OUTPUT,    /* what it printed */
    TRACE_DECISION,  /* which depth runs a command, why, by which rule */
    TRACE_CHANGE,    /* a file it changed */
    TRACE_HOST_READ, /* what was read from a host mount */
    TRACE_LIMIT,     /* a limit was hit */
    TRACE_END,       /* the exec ended; the state after it */
    TRACE_SNAPSHOT,  /* the state got a name */
    TRACE_RESTORE,   /* the state was put back */
    TRACE_FORK,      /* another session was made from this one */
    TRACE_TYPES
};

/* A state: everything a session is at one moment. */
struct trace_state {
    struct cas_id root;  /* canonical root hash of the tree: equal trees, equal roots */
    struct cas_id image; /* blob from which the tree is loaded */
    struct cas_id shell; /* blob of the shell's state, or zeros: a fresh shell */
};

struct trace_created {
    struct str session; /* id of this session */
    struct str from;    /* "": nothing; else "session ID@SEQ", "snapshot ID", "import ID" */
    struct str config;  /* canonical text of user, cwd, limits, mounts, policy: KEY=VALUE lines */
    struct trace_state state;
};

enum trace_exec_flags {
    TRACE_EXEC_FRESH = 1 << 0, /* a new process set: nothing of an exec before it was alive */
    TRACE_EXEC_STDIN = 1 << 1, /* standard input was open */
    TRACE_EXEC_POSIX = 1 << 2,
    TRACE_EXEC_SHELL = 1 << 3, /* ran in the session's shell: its state went on */
    TRACE_EXEC_DURABLE = 1 << 4,
};

struct trace_exec {
    uint8_t kind; /* enum wire_exec_kind */
    uint8_t tty;
    uint16_t rows, cols;
    uint32_t flags;       /* enum trace_exec_flags */
    struct str text;      /* of -c, a line, or argv[0..] joined by NUL; "" when it is in @script */
    struct cas_id script; /* text that is long (> LIMIT_TRACE_INLINE); else zeros */
    struct str args;      /* $0 and arguments, each ended by NUL */
    struct str env;       /* K=V, each ended by NUL: over the session's */
    struct str cwd;
    struct str key; /* idempotency key or "" */
    int32_t first_pid;
    uint8_t seed[32];   /* of its entropy */
    int64_t wall, mono; /* clocks at its begin */
};

enum trace_input_kind { TRACE_IN_STDIN, TRACE_IN_EOF, TRACE_IN_SIGNAL, TRACE_IN_KILL, TRACE_IN_RESIZE, TRACE_IN_CLOSE };

struct trace_input {
    uint8_t kind;       /* enum trace_input_kind */
    uint64_t look;      /* the look at the clock after which it came: proc/proc.h */
    uint32_t value;     /* signal (| 0x100: to all), reason, rows << 16 | cols, stream */
    struct str data;    /* STDIN: the bytes when few */
    struct cas_id blob; /* STDIN: else */
    uint64_t size;
};

struct trace_clock {
    struct cas_id blob; /* or zeros and @data: changes of the clock, proc/proc.h */
    struct str data;
    uint64_t size;
};

struct trace_output {
    uint8_t stream;       /* 1, 2 */
    uint64_t offset;      /* of these bytes in the stream */
    uint64_t size;        /* bytes printed */
    uint64_t kept;        /* of them in @data or @blob: less when the session's limit was reached */
    struct cas_id digest; /* SHA-256 of all bytes of the stream so far, @size included */
    struct str data;      /* when few */
    struct cas_id blob;   /* else */
};

struct trace_decision {
    struct str command, depth, reason, rule;
};

struct trace_change {
    uint8_t kind; /* enum vfs_change_kind */
    struct str path;
    uint32_t mode_before, mode_after;
    uint64_t size_before, size_after;
    uint32_t lines_added, lines_removed; /* of text files; 0 else */
    struct cas_id before, after;         /* of the content; zeros when there is none */
};

struct trace_host_read {
    uint8_t kind; /* 0 listing, 1 status, 2 content, 3 target of a symlink */
    uint8_t mount;
    int32_t error;
    struct str path; /* below the mount */
    uint64_t size;
    struct cas_id digest; /* of the blob that holds what was read */
};

struct trace_limit {
    uint8_t reason; /* enum outcome_reason */
    uint64_t value;
};

struct trace_end {
    struct outcome outcome; /* LOST: found so when the session was opened again */
    uint64_t cpu_us, wall_us, output_bytes, memory_peak, processes, files_bytes, inodes;
    int32_t next_pid;
    uint32_t changes; /* number of CHANGE events of this exec */
    bool replayable;
    struct str why_not; /* when it cannot be replayed exactly */
    struct trace_state state;
};

struct trace_snapshot {
    struct str id, name;
    uint64_t bytes, new_bytes;
    struct trace_state state;
};

struct trace_restore {
    struct str from; /* "snapshot ID" or "@SEQ" */
    struct trace_state state;
};

struct trace_fork {
    struct str session; /* the new one's id */
};

struct trace_event {
    uint64_t seq;
    int64_t time; /* wall clock, ns */
    enum trace_type type;
    union {
        struct trace_created created;
        struct trace_exec exec;
        struct trace_input input;
        struct trace_clock clock;
        struct trace_output output;
        struct trace_decision decision;
        struct trace_change change;
        struct trace_host_read host_read;
        struct trace_limit limit;
        struct trace_end end;
        struct trace_snapshot snapshot;
        struct trace_restore restore;
        struct trace_fork fork;
    } u;
};

/* Appends the encoded body of @e (no header, no chain) to @out. */
void trace_encode(struct buf *out, const struct trace_event *e);
/* The other way: strings are borrowed from @body. 0 or -EBADMSG. */
int trace_decode(enum trace_type type, unsigned version, struct str body, struct trace_event *ret)
    __attribute__((warn_unused_result));

/* Lists the blobs an event names, with what they are ("stdin", "output", "image", …; "image" is the root of more). */
int trace_blobs(const struct trace_event *e, int (*fn)(void *arg, const struct cas_id *id, const char *what),
                void *arg);

/* ---- the file ---- */

struct trace;

enum trace_open_flags {
    TRACE_APPEND = 1 << 0, /* else only for reading */
    TRACE_NEW = 1 << 1,    /* @fd is empty */
};

/* Opens the log in the file @fd (taken in every case; opened read-write for TRACE_APPEND). Appending looks at the whole
 * file once; reading looks at nothing yet. -EBADMSG with the place in @err. *ret_cut (may be NULL): bytes of a torn
 * tail that were cut. */
int trace_open(int fd, int flags, struct trace **ret, uint64_t *ret_cut, struct err *err)
    __attribute__((warn_unused_result));
/* Writes what is buffered and closes. Accepts NULL. */
void trace_close(struct trace *t);

/* Appends an event; its seq is set (and its time, when 0). It is buffered: trace_flush() is the acknowledgement.
 * -ENOMEM -ENOSPC -EFBIG. After an error of the disk the file ends with the last whole event, and a later append may
 * work. */
int trace_append(struct trace *t, struct trace_event *e) __attribute__((warn_unused_result));
/* Values that are masked in everything appended from now on (each at least 4 bytes; borrowed until close). */
int trace_mask(struct trace *t, const struct str *secrets, uint32_t n);
/* Hands it to the kernel with one write(2). */
int trace_flush(struct trace *t) __attribute__((warn_unused_result));
/* trace_flush(), and waits for the disk. */
int trace_sync(struct trace *t) __attribute__((warn_unused_result));

/* Number of events, and the chain value after the last. */
uint64_t trace_count(const struct trace *t);
/* See trace_count(). */
void trace_head(const struct trace *t, struct cas_id *ret);

/* A place in the log. */
struct trace_pos {
    uint64_t seq, offset;
    struct cas_id chain;
    struct buf scratch;
};
/* The begin. trace_pos_done() frees. */
void trace_begin(struct trace_pos *pos);
/* See trace_begin(). */
void trace_pos_done(struct trace_pos *pos);
/* The next event: 1, 0 at the end (one may come later), -EBADMSG with the place in @err (flipped bit, cut, order). The
 * chain is verified as it goes. Strings are borrowed until the next call. */
int trace_next(struct trace *t, struct trace_pos *pos, struct trace_event *ret, struct err *err);
