/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* journal_int - what the files of the journal share. */

#include "base/arena.h"
#include "base/buf.h"
#include "session/journal.h"
#include "vfs/image.h"
#include "vfs/vfs.h"

#define JOURNAL_CHUNK (64u << 10) /* bytes of output or clock that make one event */
#define JOURNAL_HELD 256u
#define JOURNAL_SWITCHES 256u /* events of an exec that only keep the order of its two streams */

/* In place of a line, when the shell's input ended. */
#define JOURNAL_END_OF_INPUT "\004"

struct journal_stream {
    struct buf pending;    /* bytes to keep that are in no event yet */
    uint64_t offset, size; /* of what is in events; of what came since */
    struct cas_hash hash;  /* of all but what is pending behind @hashed */
    size_t hashed;
};

struct journal_store {
    struct cas *cas;
    struct journal *journals;
};

struct journal {
    struct journal_store *shared; /* NULL: the store is its own */
    struct journal *next;         /* of that store */
    struct cas *store;
    struct trace *trace;
    struct session *session;
    const struct session_host *host; /* the owner's */
    struct session_host own;         /* the session's: this journal in between */
    struct trace_state state;        /* that the log says */
    struct vfs *before;              /* the tree when the exec began */
    int32_t next_pid;
    bool durable;
    bool sync_this; /* the exec that runs asks for it */
    bool changed;   /* see struct journal_config */
    bool adopted;   /* the store waits for what others have put, too */
    int lock_fd;        /* or -1 */
    char *limits;       /* NAME=VALUE lines over the session's own; heap */
    uint64_t log_limit; /* bytes of the log from which on nothing begins */
    bool running, touched, unsynced;
    bool syncing; /* journal_sync_begin(): what was appended since is unsynced */
    bool hidden; /* EXEC is not in the log's file yet: nobody has seen anything of it */
    bool ran;    /* something did, in this process */
    int error;   /* the first that happened while the exec ran */
    int broken;  /* why no more is recorded */
    /* the exec */
    struct wire_exec serving; /* what lines are run with */
    struct journal_stream streams[3];
    int last_stream;
    uint32_t switches;
    uint64_t kept; /* bytes of output */
    struct buf clock;
    char message[256];   /* of a result that is an error */
    const char *why_not; /* it cannot be replayed exactly; static text */
    struct vfs_host_tape host_tape;
    uint64_t host_bytes, input_bytes; /* that the exec was told by hosts, and given */
    /* What hosts answered before EXEC was in the log: starting a process looks at its directory. */
    bool held_back;
    struct arena held_arena;
    struct journal_held {
        enum vfs_host_ask ask;
        unsigned mount;
        int error;
        struct str path, answer;
    } held[JOURNAL_HELD];
    uint32_t n_held;
    struct arena secrets;
};

/* Appends; the first error stays in the journal. */
int journal__append(struct journal *j, struct trace_event *e);
/* Puts @bytes into the store, or when they are few yields them for the event. */
int journal__keep(struct journal *j, struct str bytes, struct str *ret_data, struct cas_id *ret_blob);
/* What a host answered: of struct vfs_host_tape. */
void journal__on_host(void *arg, enum vfs_host_ask ask, unsigned mount, struct str path, int error, struct str answer);
/* What is left of output and clock becomes events. */
void journal__put_streams(struct journal *j);
/* Sets @j->own: what the session does reaches its owner through the journal. */
void journal__stand_between(struct journal *j);
/* Gives @s the shell's state that @st names, if it names one: 0, or an error of the store or of the state. */
int journal__load_shell(struct cas *store, const struct trace_state *st, struct session *s);
/* What it has put is named in its log's file: ends the hold on the store, once that is so of all who share it. */
int journal__release(struct journal *j);
/* What was appended and is in the store, to the kernel, or to the disk when the session is durable. */
int journal__hand_over(struct journal *j);
