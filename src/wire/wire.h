/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * wire - the messages between a worker and whoever drives it: the command line, or the scheduler.
 *
 * Model. The two ends share a SOCK_SEQPACKET socket. A message is a type and a body; on the socket it is cut into
 * frames of at most LIMIT_MSG bytes, each with a 12-byte header (u32 type, u32 flags, u32 session), and WIRE_MORE set
 * in all frames but the last. This module turns structs into bodies and bodies into structs; it does no I/O
 * (worker/chan.h does).
 *
 * The session is a number that the driver gives with CREATE and that is free again after PARK. A driver of one session
 * calls it 0. READY, REPLAY, COMPILE, SYNC and what answers them are of no session, and their number says nothing.
 *
 *   driver                                worker
 *     │ ◄─────────── READY (what confines it)
 *     │ CREATE ────────────► REPLY
 *     │ FS (put, mkdir, …) ─► REPLY …          before and after execs; several may be on their way
 *     │ EXEC ──────────────►
 *     │ ◄── WANT   STDIN, STDIN_EOF ──►        input is sent only when a process waits for it
 *     │ ◄── OUTPUT …   SIGNAL, RESIZE, CLOSE ─►
 *     │ ◄── RESULT                             after the last OUTPUT of that exec
 *     │ LINE, QUERY ► ANSWER, RESULT           an exec of kind WIRE_SERVE (interactive shell)
 *     │ DIFF ─► CHANGE … REPLY
 *     │ REPLAY ─► REPLAYED … REPLY             in place of CREATE
 *     │ KILL ─►                                ends the exec that runs, for a reason
 *     │ PARK ─► REPLY                          the session is closed: all of it is on the disk; with a number that is
 *     │                                        not 0, it stays open, and what was copied in is in its log
 *     │ ◄── COMPILE …   COMPILED ─►            a module of the user's own, at any time while something runs
 *     │ ◄── SYNC        SYNCED ─►              files, as descriptors, that are to be on the disk: so that a worker of
 *     │                                        many sessions need not wait for it; the number is 0 when they are
 *
 * Invariants:
 *   1. Decoding accepts exactly what encoding gives: every field is read, nothing may be left over, enums and counts
 * are checked. A message that does not decode is -EBADMSG and the peer is not to be believed any more.
 *   2. A decoded struct borrows its strings from the body; lists lie in the arena given.
 *   3. Numbers are little-endian; a str is a u32 length and its bytes.
 *
 * Threads: pure functions.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "types/limits.h"
#include "types/outcome.h"

#define WIRE_VERSION 1u
#define WIRE_MORE 1u
#define WIRE_HEADER 12u
#define WIRE_TTY 15u /* of wire_exec.tty */
#define WIRE_BODY_MAX (LIMIT_SCRIPT + LIMIT_ARGS + LIMIT_MSG)

enum wire_type {
    WIRE_READY = 1,
    WIRE_CREATE,
    WIRE_REPLY,
    WIRE_EXEC,
    WIRE_STDIN,
    WIRE_STDIN_EOF,
    WIRE_WANT,
    WIRE_OUTPUT,
    WIRE_SIGNAL,
    WIRE_RESIZE,
    WIRE_CLOSE,
    WIRE_RESULT,
    WIRE_LINE,
    WIRE_QUERY,
    WIRE_ANSWER,
    WIRE_FS,
    WIRE_DIFF,
    WIRE_CHANGE,
    WIRE_REPLAY,
    WIRE_REPLAYED,
    WIRE_COMPILE,
    WIRE_COMPILED,
    WIRE_KILL,
    WIRE_PARK,
    WIRE_SYNC,
    WIRE_SYNCED,
    WIRE_TYPE_COUNT,
};

struct wire_list {
    struct str *v;
    uint32_t n;
};

struct wire_ready {
    uint32_t version;
    uint64_t applied; /* enum confine_part bits (confine/confine.h) */
    uint64_t missing; /* wanted but not to be had on this kernel */
    struct str notes; /* one line for each missing part, with the reason */
};

struct wire_mount {
    struct str guest;
    uint32_t flags; /* enum vfs_mount_flags */
};

struct wire_create {
    struct str user; /* name or number; empty: "user" */
    struct str cwd;  /* empty: the user's home */
    struct limits limits;
    uint32_t host_uid, host_gid; /* of the invoking user */
    /* A session that is kept (session/journal.h): the worker was given its store and its log. */
    bool kept, fresh, durable, recheck;
    bool changed; /* policy or limits are not those it was made with: what runs cannot be replayed exactly */
    struct str id, config;
    struct str policy;         /* text of rules (policy/policy.h); empty: everything is granted */
    struct str over;           /* NAME=VALUE lines: limits of now, which @limits has too */
    struct wire_mount *mounts; /* in the order of the descriptors the worker was given */
    uint32_t n_mounts;
};

enum wire_exec_kind {
    WIRE_EXEC_TEXT,
    WIRE_EXEC_SCRIPT,
    WIRE_EXEC_ARGV,
    WIRE_EXEC_STDIN,
    WIRE_EXEC_SERVE,
    WIRE_EXEC_KINDS
};

struct wire_exec {
    enum wire_exec_kind kind;
    struct str text;       /* script, or -c's text */
    struct wire_list argv; /* TEXT, SCRIPT: $0 and arguments; ARGV: the command */
    struct wire_list env;  /* K=V over the session's */
    uint32_t n_secrets;    /* the last so many of them are secret: in no record */
    bool stdin_open;       /* else standard input is /dev/null */
    uint8_t tty;           /* bit n: descriptor n is the client's terminal; WIRE_TTY: all are one of our own */
    uint16_t rows, cols;
    bool posix;     /* started as sh */
    bool want_root; /* the result carries the root hash (costs reading what changed) */
    bool atomic;    /* what it changed is taken back unless it exits with 0; -EBUSY while a process of before lives */
    bool durable;   /* the result comes when all of it is on the disk */
    bool keep;      /* goes on from the session's shell state, and leaves its own there (session.h) */
    struct str key; /* by which the log knows it (struct trace_exec); may be empty */
    struct str cwd; /* where it begins, when it does not go on from a shell's state; empty: the session's */
};

struct wire_output {
    uint8_t stream; /* 1 or 2 */
    struct str data;
};

struct wire_result {
    struct outcome outcome;
    uint64_t cpu_us, wall_us, output_bytes, memory_peak, processes, files_bytes, inodes;
    uint8_t root[32]; /* see session_root() */
    uint64_t seq;     /* place in the session's log; 0: it has none */
    int32_t error;    /* 0, or negative errno: it never began */
    struct str message;
    struct str prompt; /* SERVE: the next prompt */
    struct str prompt2;
    bool exited; /* SERVE: the shell has ended */
    /* Which programs of the userland, and modules of the session's own, ran, each once: lines of name, engine and why
     * the C command of that name did not (empty: there is none), apart by tabs. */
    struct str decisions;
    /* What it printed last, when the worker has not sent it as OUTPUT: of stream 1 or 2 (0: none). To a driver of many
     * sessions, which then is woken once. */
    uint8_t stream;
    struct str output;
};

/* One line of wire_result.decisions. */
struct wire_decision {
    struct str command, engine, reason;
};

/* Cuts the first line off @text into *ret, whose texts are borrowed from it; a part that is not there is empty. False:
 * there is none left. */
bool wire_next_decision(struct str *text, struct wire_decision *ret);

enum wire_query_kind { WIRE_QUERY_SYNTAX, WIRE_QUERY_COMPLETE, WIRE_QUERY_KINDS };

struct wire_query {
    enum wire_query_kind kind;
    struct str text;
};

struct wire_answer {
    uint32_t value;  /* SYNTAX: enum shell_syntax; COMPLETE: where the word begins */
    struct str text; /* COMPLETE: candidates, one a line */
};

enum wire_fs_op {
    WIRE_FS_PUT, /* a file's bytes at offset (0: made or emptied first); parents are made */
    WIRE_FS_MKDIR,
    WIRE_FS_SYMLINK, /* data: target */
    WIRE_FS_STAT,
    WIRE_FS_READ, /* length bytes at offset; side */
    WIRE_FS_READLINK,
    WIRE_FS_LIST,   /* names after `data`, as many as fit, each followed by a NUL */
    WIRE_FS_LOOK,   /* STAT that follows symlinks */
    WIRE_FS_HASH,   /* LOOK at a regular file, and the SHA-256 of its bytes as data: 32 bytes */
    WIRE_FS_MATCH,  /* the same; -EILSEQ unless the hash is `data` (empty: unless there is no such path) */
    WIRE_FS_EXTEND, /* appends the bytes to a file, which is made if it is not there */
    WIRE_FS_REMOVE, /* a file, or with `length` a directory and all below it */
    WIRE_FS_RENAME, /* to `data`, as rename(2) */
    WIRE_FS_CHMOD,
    WIRE_FS_TRUNCATE, /* to `offset` bytes */
    WIRE_FS_LINK,     /* `data` becomes another name of the file */
    WIRE_FS_ENTRIES,  /* as LIST, and what each is: struct wire_entry */
    WIRE_FS_COPY,     /* to `data`: a file, a symlink as itself, or with `length` a directory and all below it */
    WIRE_FS_EDIT,     /* the one place where `data` stands in a file becomes `text`; -ENOMSG unless there is just one */
    WIRE_FS_CLEAR,    /* -ELOOP when a name of the path behind its first `offset` bytes, but for the last, is a symlink.
                         Removes what has the last name, unless it is a directory; with `length` looks only */
    WIRE_FS_BATCH,    /* stands first: the requests behind it are carried out all, or none */
    WIRE_FS_OPS,
};

/* Whether it changes the tree. */
bool wire_fs_changes(enum wire_fs_op op);

/* One entry of WIRE_FS_ENTRIES: what the name itself is, no symlink followed. */
struct wire_entry {
    uint32_t mode;
    uint64_t size;
    int64_t mtime;
    struct str name;
};
/* Appends one to the reply's data. */
void wire_put_entry(struct buf *out, const struct wire_entry *e);
/* Takes the next one off @data: 1, 0 at its end, or -EBADMSG. */
int wire_get_entry(struct str *data, struct wire_entry *ret);

enum wire_side { WIRE_NEW, WIRE_OLD }; /* the tree now; the tree before the exec */

/* A message of several requests is carried out up to the first that fails (behind WIRE_FS_BATCH: if none does), and has
 * one reply: that of the last that was carried out. One that fails replies with its path as data. */
struct wire_fs {
    enum wire_fs_op op;
    enum wire_side side;
    struct str path;
    struct str data;
    struct str text;
    uint32_t mode;
    int64_t mtime;
    uint64_t offset;
    uint32_t length;
    bool as_user; /* owner: the session's user, else root */
    bool follow;  /* READ: a symlink is followed */
};

struct wire_stat {
    uint32_t mode, uid, gid;
    uint64_t size;
    int64_t mtime;
};

struct wire_reply {
    int32_t error; /* 0 or a negative errno */
    struct str message;
    struct str data;
    struct wire_stat st;
    uint32_t index; /* of its message's requests, the one that this answers; BATCH itself does not count */
    uint64_t seq;   /* BATCH: its entry in the log; 0 while a command runs, of whose entry it is a part */
};

struct wire_diff {
    bool text;         /* with a unified diff of each text file */
    struct str prefix; /* only at or below this path; empty: everything */
};

struct wire_change {
    uint8_t kind; /* enum vfs_change_kind */
    bool content;
    struct str path;
    struct wire_stat old_st, new_st;
    struct str diff; /* unified diff, when asked for and both sides are text */
};

struct wire_replay {
    uint64_t from;
    struct str user;
    struct str policy; /* as in struct wire_create */
    struct limits limits;
};

/* As struct replay_report of session/replay.h. */
struct wire_replayed {
    uint64_t seq;
    uint8_t verdict;
    struct str command, what, recorded, replayed, files;
    int64_t recorded_us, replayed_us;
};

/* A module to be compiled, in pieces that follow one another. One is asked for at a time: a piece with offset 0 gives
 * up what was asked for before, and one of a module of no bytes asks for nothing else. */
struct wire_compile {
    uint32_t id;
    uint64_t size; /* of the whole module, at most LIMIT_WASM_FILE */
    uint64_t offset;
    struct str data;
};

/* With a descriptor of the precompiled file, or without one and why not. */
struct wire_compiled {
    uint32_t id; /* as asked */
    int32_t error;
    struct str message;
};

/* Encoders append a body to @out; its sticky error tells of failure. */
void wire_put_ready(struct buf *out, const struct wire_ready *m);
/* See wire_put_ready(). */
void wire_put_create(struct buf *out, const struct wire_create *m);
/* See wire_put_ready(). */
void wire_put_exec(struct buf *out, const struct wire_exec *m);
/* See wire_put_ready(). */
void wire_put_output(struct buf *out, const struct wire_output *m);
/* What stands before the @n bytes of data of an output message, for who has them elsewhere. */
void wire_put_output_head(struct buf *out, uint8_t stream, size_t n);
/* See wire_put_ready(). */
void wire_put_result(struct buf *out, const struct wire_result *m);
/* See wire_put_ready(). */
void wire_put_query(struct buf *out, const struct wire_query *m);
/* See wire_put_ready(). */
void wire_put_answer(struct buf *out, const struct wire_answer *m);
/* A message is one request or several, one behind the other; see struct wire_fs. */
void wire_put_fs(struct buf *out, const struct wire_fs *m);
/* See wire_put_ready(). */
void wire_put_reply(struct buf *out, const struct wire_reply *m);
/* See wire_put_ready(). */
void wire_put_diff(struct buf *out, const struct wire_diff *m);
/* See wire_put_ready(). */
void wire_put_change(struct buf *out, const struct wire_change *m);
/* See wire_put_ready(). */
void wire_put_replay(struct buf *out, const struct wire_replay *m);
/* See wire_put_ready(). */
void wire_put_replayed(struct buf *out, const struct wire_replayed *m);
/* See wire_put_ready(). */
void wire_put_compile(struct buf *out, const struct wire_compile *m);
/* See wire_put_ready(). */
void wire_put_compiled(struct buf *out, const struct wire_compiled *m);
/* A body that is one number: SIGNAL (its number), RESIZE (rows << 16 | cols), CLOSE (the stream), KILL (the reason). */
void wire_put_number(struct buf *out, uint32_t v);

/* Decoders: 0, or -EBADMSG and *ret is undefined. */
int wire_get_ready(struct str body, struct wire_ready *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_create(struct str body, struct arena *a, struct wire_create *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_exec(struct str body, struct arena *a, struct wire_exec *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_output(struct str body, struct wire_output *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_result(struct str body, struct wire_result *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_query(struct str body, struct wire_query *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_answer(struct str body, struct wire_answer *ret) __attribute__((warn_unused_result));
/* Takes the next request off @body, which is then what is behind it. */
int wire_get_fs(struct str *body, struct wire_fs *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_reply(struct str body, struct wire_reply *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_diff(struct str body, struct wire_diff *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_change(struct str body, struct wire_change *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_replay(struct str body, struct wire_replay *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_replayed(struct str body, struct wire_replayed *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_compile(struct str body, struct wire_compile *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_compiled(struct str body, struct wire_compiled *ret) __attribute__((warn_unused_result));
/* See wire_get_ready(). */
int wire_get_number(struct str body, uint32_t *ret) __attribute__((warn_unused_result));
