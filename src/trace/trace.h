/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * trace - the log of a session: what was run, what it printed, what it changed, what was decided, in one append-only,
 * hash-chained file of events. It is the journal recovery reads, the audit, and the input of replay.
 *
 * Model. Events are numbered from 0; number 0 is CREATED. Bulk (output, stdin, scripts) is in the store and named here;
 * short texts lie in the event. An event is a header (length, type, schema version, seq, time), a body of fields, a
 * chain value, and its length again, so that the log can be read from its end too. The chain value is SHA-256 over a
 * value of the file's own, the chain value before it and the event's own bytes. So a flipped bit, a cut in the middle,
 * an exchange or a removal is found, and trace_verify() says at which event. trace/schema.h has the fields as tables,
 * docs/internals/trace.md the format.
 *
 * What is checked when:
 *   - trace_open() for append reads the head of the file and its last kilobytes, so it costs the same for a log of any
 *     length: it finds the last whole event from the end, verifies it and up to TRACE_OPEN_CHECKS events before it,
 *     each from the chain value that the event before it has stored. Older events it does not look at.
 *   - trace_next() and trace_prev() verify each event they yield. From trace_begin() on that is the whole chain; from
 *     trace_tail() backwards it is the whole chain as well, as each chain value that is stored is bound by the next.
 *   - trace_verify() verifies everything, and so does whoever reads all of it with trace_next().
 *   - That whole events at the very end are gone cannot be seen from the file. Who has kept the count and the head's
 *     chain value (trace_head()) can tell: together they stand for all of the log.
 *
 * Invariants:
 *   1. What trace_flush() has returned for survives the death of the process; after trace_sync() loss of power.
 *   2. Opening for append cuts a torn tail (bytes behind the last whole event in which no event is whole) and reports
 *      how many bytes; damage that is found before that is -EBADMSG and nothing is cut.
 *   3. Decoding accepts exactly what encoding gives; every length is checked; memory is bounded by LIMIT_TRACE_EVENT.
 *   4. The values of secrets never reach the file: they are masked when the event is appended.
 *
 * Threads: one at a time. One process appends, and keeps others from it with a lock of its own; others may read while
 * it does: an event that trace_next() finds cut short may then be one that is being written.
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
    TRACE_EXEC_ATOMIC = 1 << 5, /* what it changed was taken back unless it exited with 0 */
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
    struct str limits;  /* NAME=VALUE lines that held for this exec over the session's */
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
    struct cas_id before, after; /* of the content; zeros when there is none */
};

struct trace_host_read {
    uint8_t kind; /* enum vfs_host_ask */
    uint8_t mount;
    int32_t error;
    struct str path; /* below the mount */
    uint64_t size;
    struct str data;      /* what was read, when it is short */
    struct cas_id digest; /* else of the blob that holds it */
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

/* The name of a type: "created", "exec", …; "" for no type. */
const char *trace_type_name(unsigned type);

/* Appends the encoded body of @e (no header, no chain) to @out, in the newest version. Its sticky error tells of
 * failure; -EINVAL: a number that its field cannot have. */
void trace_encode(struct buf *out, const struct trace_event *e);
/* The other way: strings are borrowed from @body; seq and time are zero. 0 or -EBADMSG (a type or version that is not
 * known too). */
int trace_decode(enum trace_type type, unsigned version, struct str body, struct trace_event *ret)
    __attribute__((warn_unused_result));

/* The state an event holds, or NULL. */
const struct trace_state *trace_state_of(const struct trace_event *e);

/* Lists the blobs an event names, with what they are ("stdin", "output", "image", …; "image" is the root of more). */
int trace_blobs(const struct trace_event *e, int (*fn)(void *arg, const struct cas_id *id, const char *what),
                void *arg);

/* ---- the file ---- */

struct trace;

#define TRACE_OPEN_CHECKS 16 /* events before the last that opening for append verifies */

enum trace_open_flags {
    TRACE_APPEND = 1 << 0, /* else only for reading */
    TRACE_NEW = 1 << 1,    /* @fd is empty */
    TRACE_HOLES = 1 << 2,  /* power may have been lost: reads everything, and the log ends before the first hole */
};

/* Opens the log in the regular file @fd (taken in every case; opened read-write for TRACE_APPEND). What appending looks
 * at is said above; reading looks at nothing yet. -EBADMSG with the place in @err; -EEXIST for TRACE_NEW when the file
 * is not empty. *ret_cut (may be NULL): bytes of a torn tail that were cut.
 * A hole is an event in which whole sectors are zeros: one of the pages that a file had got and that were not on the
 * disk yet. What comes after it was not on the disk for certain either. An event that is damaged in another way is
 * damage. */
int trace_open(int fd, int flags, struct trace **ret, uint64_t *ret_cut, struct err *err)
    __attribute__((warn_unused_result));
/* Writes what is buffered (errors are lost: call trace_flush() before) and closes. Accepts NULL. */
void trace_close(struct trace *t);

/* Appends an event; its seq is set (and its time, when 0). It is buffered: trace_flush() is the acknowledgement. When
 * much is buffered it is flushed first. -ENOMEM -EFBIG -EINVAL (see trace_encode()) -EROFS, or what trace_flush() says:
 * the event is not appended then. */
int trace_append(struct trace *t, struct trace_event *e) __attribute__((warn_unused_result));
/* Values that are masked in every string of everything appended from now on, beside those of calls before (each at
 * least 4 bytes, else -EINVAL; borrowed until close; -ENOMEM). Each of their bytes becomes '*', so lengths and offsets
 * stay true. What lies in the store, and a value that is cut in two or written in another form, is the caller's to
 * mask. */
int trace_mask(struct trace *t, const struct str *secrets, uint32_t n) __attribute__((warn_unused_result));
/* Hands it to the kernel with one write(2). After an error (-ENOSPC, -EIO, …) the file ends with the last event of the
 * flush before, and what is buffered stays so: a later flush may work. */
int trace_flush(struct trace *t) __attribute__((warn_unused_result));
/* trace_flush(), and waits for the disk. After it failed once, Linux may have dropped what it covered, and says no more
 * of it. */
int trace_sync(struct trace *t) __attribute__((warn_unused_result));
/* The log's file, borrowed: for who flushes, and lets others wait for the disk (fdatasync(2)). */
int trace_fd(const struct trace *t);
/* Forgets what was appended and not flushed: an exec that is refused as its begin could not be written leaves none. */
void trace_drop(struct trace *t);

/* Number of events, what is buffered included, and the chain value after the last; of a log opened for append. */
uint64_t trace_count(const struct trace *t);
/* How long the file is with it. */
uint64_t trace_size(const struct trace *t);
/* See trace_count(). */
void trace_head(const struct trace *t, struct cas_id *ret);

/* A place in the log: between two events. */
struct trace_pos {
    uint64_t seq, offset; /* of the event behind it */
    struct cas_id chain;  /* chain value of the event before it */
    struct buf scratch;   /* bytes of the file, from @window on */
    uint64_t window;
};
/* The begin. trace_pos_done() frees. */
void trace_begin(struct trace_pos *pos);
/* See trace_begin(). */
void trace_pos_done(struct trace_pos *pos);
/* The end, behind the last whole event of what was flushed; @pos has been through trace_begin(). Costs what the length
 * of a torn tail costs, not that of the log. After it, seq is the number of events and chain the head. */
int trace_tail(struct trace *t, struct trace_pos *pos, struct err *err) __attribute__((warn_unused_result));
/* The next event of what was flushed: 1, 0 at the end (one may come later), -EBADMSG with the place in @err (flipped
 * bit, cut, order), and @pos stays. The chain is verified as it goes. Strings are borrowed until the next call. */
int trace_next(struct trace *t, struct trace_pos *pos, struct trace_event *ret, struct err *err);
/* As trace_next(), backwards: the event before @pos, and 0 at the begin. */
int trace_prev(struct trace *t, struct trace_pos *pos, struct trace_event *ret, struct err *err);
/* The last event of which the type's bit (1 << TRACE_EXEC, …) is in @types, at or before the place that trace_tail() or
 * a call of this one has left in @pos: 1, 0, or an error as trace_prev(). */
int trace_last(struct trace *t, struct trace_pos *pos, uint32_t types, struct trace_event *ret, struct err *err);

struct trace_report {
    uint64_t events, bytes; /* that are whole, from the begin on */
    struct cas_id head;     /* chain value after them */
    uint64_t bad_offset;    /* of the first event that is not whole; its seq is @events */
    uint64_t torn;          /* bytes from there on, when they are what a write that was not finished leaves; else 0 */
    bool hole;              /* they begin with a hole, which a loss of power leaves */
    char what[256];         /* a sentence that says where and what; "" when nothing is wrong */
};
/* Reads and verifies everything from the begin on. 0; -EBADMSG and *ret says where and what; or another error when
 * looking itself failed. A torn tail (the log ends with the beginning of an event, with zeros in place of its end, or
 * with a hole) is told apart by ret->torn: opening for append cuts it, and nothing that was acknowledged is in it
 * (after loss of power: nothing that was synced). With whole events behind it a hole is that only for a log that was
 * opened with TRACE_HOLES, as only then it will be cut there. */
int trace_verify(struct trace *t, struct trace_report *ret) __attribute__((warn_unused_result));
