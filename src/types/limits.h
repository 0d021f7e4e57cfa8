/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * limits - every limit of the product, in one place. docs/limits.md explains each and names its errno.
 *
 * LIMIT_* are hard: no setting raises them. struct limits holds what a session may be given (--limit NAME=VALUE); its
 * defaults are limits_default(). A limit of 0 means "none of this", not "unlimited".
 */

#include "base/str.h"

#include <stdint.h>

/* Paths and names (as Linux). */
#define LIMIT_NAME 255                 /* bytes of one name: ENAMETOOLONG */
#define LIMIT_PATH 4096                /* bytes of a path, its NUL counted: ENAMETOOLONG */
#define LIMIT_SYMLINKS 40              /* followed in one walk: ELOOP */
#define LIMIT_DEPTH 2048               /* directories below the root: EMLINK on mkdir/rename beyond it */
#define LIMIT_LINKS 65000              /* hard links of a file: EMLINK */
#define LIMIT_FILE (UINT64_C(1) << 40) /* bytes of one file: EFBIG */
#define LIMIT_MOUNTS 64
#define LIMIT_LAYER (1ull << 30)   /* bytes of the userland's file of read-only files */
#define LIMIT_LAYER_ENTRIES 100000 /* files and directories in it */
#define LIMIT_GROUPS 32
#define LIMIT_WORKER_FDS 4096 /* host descriptors of a worker: mounts and the host files open through them */
#define LIMIT_KEEP_FDS (LIMIT_MOUNTS + 8) /* descriptors a worker is born with */

/* Processes and descriptors. */
#define LIMIT_WASM_PROGRAMS 1024u /* WebAssembly programs that live at once in a worker: EAGAIN */
#define LIMIT_WASM_FILE (64u << 20) /* bytes of a WebAssembly module of the user's own: EFBIG */
#define LIMIT_WASM_CODE (UINT64_C(512) << 20) /* bytes of what it is compiled to: EFBIG */
#define LIMIT_WASM_OWN 32u /* compiled modules of the user's own that a worker keeps mapped, those that run apart */
#define LIMIT_MANIFEST (1u << 20) /* bytes of the userland's manifest */
#define LIMIT_FDS 1024           /* highest descriptor + 1 of a process: EMFILE */
#define LIMIT_PIPE 65536         /* bytes in a pipe */
#define LIMIT_TTY 4096           /* bytes typed at a terminal of the session's own that nobody has read */
#define LIMIT_PIPE_BUF 4096      /* bytes a write to a pipe does in one piece */
#define LIMIT_ARGS (2u << 20)    /* bytes of argv and environment together: E2BIG */
#define LIMIT_STACK (256u << 10) /* bytes of a command's stack */
#define LIMIT_SHELL_STACK                                                                                              \
    (4u << 20) /* bytes of a shell's stack: address space, of which a shallow script uses 16 KiB */

/* The shell. */
#define LIMIT_SCRIPT (64u << 20) /* bytes of one script text */
#define LIMIT_NESTING 1000       /* nested constructs in the parser */
#define LIMIT_RECURSION 4000     /* nested function calls, source and eval, when the stack allows so many */
#define LIMIT_STRING (1u << 30)  /* bytes of one variable or expanded word */
#define LIMIT_WORDS (16u << 20)  /* words one expansion may give */
#define LIMIT_SYMBOLS (1u << 20) /* distinct variable names of a session */
#define LIMIT_HEREDOC (1u << 30) /* bytes of one here-document after expansion */
#define LIMIT_LINE (1u << 30)    /* bytes of one line a command holds in memory */
#define LIMIT_HISTORY 32768        /* entries of a shell's history: the oldest go */
#define LIMIT_HISTORY_BYTES (16u << 20) /* bytes of them: the oldest go */

/* Regular expressions (regex/regex.h). */
#define LIMIT_REGEX_PATTERN (64u << 10)      /* bytes of a pattern: EFBIG */
#define LIMIT_REGEX_REPEAT 32767             /* RE_DUP_MAX */
#define LIMIT_REGEX_NODES 200000             /* after unrolling of {m,n}: ENOMEM */
#define LIMIT_REGEX_LITERALS (1u << 20)      /* nodes of a trie over plain strings (grep -F -f): ENOMEM */
#define LIMIT_REGEX_DEPTH 250                /* nested groups and repetitions: EFBIG */
#define LIMIT_REGEX_CACHE (8u << 20)         /* bytes of lazily made states, then they are dropped and made anew */
#define LIMIT_REGEX_STEPS UINT64_C(10000000) /* of back-reference matching in one call: E2BIG */

/* What is kept (cas/store.h, trace/trace.h). */
#define LIMIT_CAS_BLOB (32u << 20)     /* bytes of one blob: EFBIG */
#define LIMIT_SHELL_STATE (16u << 20)  /* bytes of what a shell goes on from (shell.h): EFBIG */
#define LIMIT_TRACE_EVENT (128u << 10) /* bytes of one event: EFBIG */
#define LIMIT_TRACE_OUTPUT (16u << 20) /* bytes of an exec's output that are kept; of more, the digest */
#define LIMIT_TRACE_INPUT (64u << 20)  /* bytes of an exec's input that its record keeps */
#define LIMIT_TRACE_HOST (256u << 20)  /* bytes that an exec reads through mounts and its record keeps */
#define LIMIT_TRACE_CHANGES 10000u     /* files that an exec changed and its record names; of more, the number */
#define LIMIT_TRACE_INLINE 256u        /* bytes of output, input or text in an event; more goes to the store */
#define LIMIT_IMPORT_TREE (UINT64_C(1) << 30) /* bytes of memory in which the tree of an import is checked: EFBIG */

/* Programs in WebAssembly (wasm/wasi.h). Counts that one call may give. */
#define LIMIT_WASI_IOVS 1024    /* pieces of one read or write: EINVAL */
#define LIMIT_WASI_POLL 4096    /* subscriptions of one poll: EINVAL */
#define LIMIT_WASI_ACTIONS 4096 /* descriptor actions of one spawn: EINVAL */

/* Compiling a module of the user's own (worker/compiler.h). */
#define LIMIT_COMPILE_MEMORY (UINT64_C(2) << 30) /* bytes of private memory */
#define LIMIT_COMPILE_CPU_S 60u                  /* seconds of CPU time */
#define LIMIT_COMPILE_WALL_MS 120000u            /* milliseconds by the clock */
#define LIMIT_COMPILE_TEXT 240u                  /* bytes of the message of one that failed */
#define LIMIT_MODULE_CACHE (UINT64_C(1) << 30)   /* bytes of compiled modules kept on the disk */

/* Policies (policy/policy.h). */
#define LIMIT_POLICY_RULES 1024u       /* rules of one kind: E2BIG */
#define LIMIT_POLICY_RULE 4096u        /* bytes of one rule: EINVAL */
#define LIMIT_POLICY_TEXT (256u << 10) /* bytes of a policy's text: E2BIG */

/* Messages between processes (wire/wire.h). */
#define LIMIT_MSG (256u << 10)     /* bytes of one message */
#define LIMIT_DECISIONS (4u << 10) /* bytes of the list of userland programs that one exec ran */
#define LIMIT_MSG_DATA (64u << 10) /* bytes of stream data in one message */
#define LIMIT_WORKER_SESSIONS 256u /* sessions that are open in one worker */

/* The scheduler and the server (scheduler/scheduler.h, server/server.h). */
#define LIMIT_TENANTS 1024u              /* tenants of a server */
#define LIMIT_WORKERS 64u                /* workers of a tenant */
#define LIMIT_WORKER_QUEUE (64u << 20)   /* bytes that wait for a worker: EAGAIN */
#define LIMIT_EXECS_WAITING 1000u        /* execs of a session that wait for their turn: EAGAIN */
#define LIMIT_STDIN_QUEUED (8u << 20)    /* bytes of an exec's input that wait for it: EAGAIN */
#define LIMIT_EXECS_KEPT 10000u          /* ended execs that are kept beside their log */
#define LIMIT_JOB_OUTPUT (64u << 20)     /* bytes of a verb's answer: EFBIG */
#define LIMIT_JOBS 16u                   /* verbs that run at one time; others wait */
#define LIMIT_SETTINGS (1u << 20)        /* bytes of a session's settings */
#define LIMIT_CONNECTIONS 20000u         /* connections of a server: others are closed */
#define LIMIT_HEADERS (32u << 10)        /* bytes of a request's head: 431 */
#define LIMIT_REQUEST (16u << 20)        /* bytes of a JSON body: 413 */
#define LIMIT_BATCH 1000u                /* operations of one batch on files: 413 */
#define LIMIT_EDIT (16u << 20)           /* bytes of a file in which a text is replaced: EFBIG */
#define LIMIT_COPY_BYTES (UINT64_C(1) << 30) /* that one batch copies: EFBIG */
#define LIMIT_COPY_ENTRIES 100000u       /* the same of files and directories */
#define LIMIT_ARCHIVE (64u << 20)        /* bytes of an archive that is unpacked, as it comes and of what is in it */
#define LIMIT_ARCHIVE_ENTRIES 100000u    /* files, directories and links of one */
#define LIMIT_ARCHIVE_OUT 1000000u       /* the same of one that is made */
#define LIMIT_TOKENS 10000u              /* session tokens of a tenant that have not ended */
#define LIMIT_TOKEN_MS (UINT64_C(30) * 24 * 3600 * 1000) /* longest life of one */
#define LIMIT_UPLOAD (UINT64_C(4) << 30) /* bytes of a file that is put: 413 */
#define LIMIT_IDLE_S 120u                /* seconds in which a connection neither sends nor takes a byte */
#define LIMIT_WORKER_SILENT_MS 60000u    /* a worker that does not read its messages is ended */
#define LIMIT_WORKER_KILL_MS 120000u     /* and one whose command does not end when it was told to */
#define LIMIT_WAIT_MS 600000u            /* longest wait that a request may ask for */
#define LIMIT_WS_MESSAGE (256u << 10)    /* bytes of a message of a WebSocket: close code 1009 */
#define LIMIT_WS_QUEUE 64u               /* messages that wait for a peer that does not read: it is not read from */

/* What one session may use. */
struct limits {
    uint64_t memory;    /* bytes of shell and command memory */
    uint64_t output;    /* bytes to standard output and error together */
    uint64_t files;     /* bytes of file content in the tree that is not the template's or the host's */
    uint64_t inodes;    /* nodes in the tree */
    uint64_t processes; /* living at one time */
    uint64_t cpu_ms;    /* CPU time of one command line */
    uint64_t wall_ms;   /* --timeout; 0: none */
    uint64_t trace;     /* bytes of the log of a session that is kept, from which on no command begins */
};

/* The defaults: 512 MiB memory, 1 GiB output, 4 GiB files, 2 M inodes, 512 processes, 1 h CPU, no wall limit,
 * 1 GiB of log. */
struct limits limits_default(void);

/* Sets the limit called @name from @value ("64M", "10s", "1000"; suffixes K M G T, ms s m h where they fit).
 * 0, -ENOENT (no such limit), -EINVAL (not a value of its kind), -ERANGE. */
int limits_set(struct limits *l, struct str name, struct str value) __attribute__((warn_unused_result));

/* The names limits_set() takes, separated by ", ". */
const char *limits_names(void);

/* Limit number @i (0, 1, …) of those that limits_set() takes: its name and its value in @l, in bytes, milliseconds or
 * as a count. NULL: there is none of that number. */
const char *limits_at(const struct limits *l, size_t i, uint64_t *ret_value);

/* Its value as limits_set() takes it, exact: "1073741824", "512", "3600000ms". */
void limits_text(const struct limits *l, size_t i, char ret[32]);

/* A duration such as "10s", "1.5m", "200ms" or "3" (seconds) in milliseconds: 0, -EINVAL or -ERANGE. */
int limits_duration(struct str text, uint64_t *ret_ms) __attribute__((warn_unused_result));

/* A size such as "64M" or "1000" in bytes (powers of 1024): 0, -EINVAL or -ERANGE. */
int limits_size(struct str text, uint64_t *ret) __attribute__((warn_unused_result));
