/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * wasi - what a WASM program sees of the sandbox: WASI preview 1 and our own import module, on a struct proc.
 *
 * This half of the module knows no Wasmtime: a program is a struct wasi (its process, its linear memory, its
 * descriptors), and the host's functions are the table wasi_calls[], each a C function of a struct wasi and its
 * arguments. The engine (wasm.h) puts the table into Wasmtime's linker; the tests call it directly.
 *
 * How a call waits. A host function runs while the guest's frames are on the stack, where the process may not be
 * switched out. So the engine calls it with may_block false, and a function of the kind WASI_WAITS that would have to
 * wait, or that would switch, answers WASI_BLOCK and has changed nothing. The engine then suspends the program's fiber
 * and calls the same function again, with may_block true, on the process's own coroutine, where proc_*() may block.
 *
 * Descriptors. Descriptor n of the guest is descriptor n of the process, but for 3, the preopened directory "/", which
 * is the guest's alone: what the process has open there is not visible to the program. New descriptors are 4 and above.
 * Rights, flags and directory cookies are kept here.
 *
 * Invariants:
 *   1. Every pointer and length of the guest is checked against mem_n before it is used, in arithmetic that cannot
 *      wrap; a bad one is WASI_EFAULT and nothing is done. mem and mem_n are read anew after anything that may block.
 *   2. A result is written only when the call succeeds.
 *   3. A call's memory is the guest's, the arena of the call, or charged to the session.
 *   4. No call runs longer than its arguments explain: what loops over guest counts polls, or the count has a limit.
 *   5. Time and random bytes come from the session (proc_now(), proc_wall(), proc_entropy()), so that a replay repeats.
 *
 * Source: WASI preview 1, witx of wasi_snapshot_preview1; errno values are its own. Our imports:
 * docs/internals/host-imports.md.
 */

#include "base/str.h"
#include "types/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc;
struct exec_image;

/* What a host function answers besides an errno of WASI (0: success). */
#define WASI_BLOCK (-1) /* must wait: call again with may_block */
#define WASI_END (-2)   /* the program is over: wasi.end says how */

enum wasi_end {
    WASI_RUNS,
    WASI_EXITED, /* exit_code */
    WASI_KILLED, /* the process must end: a signal or a limit, as struct proc says */
    WASI_EXEC,   /* becomes another program: exec_* */
};

struct wasi_fd;

struct wasi {
    struct proc *p;
    uint8_t *mem;   /* the linear memory as it is now; the engine sets both before each call */
    uint64_t mem_n; /* its bytes */
    /* The same, for calls that have blocked: memory may have moved meanwhile. */
    void (*refresh)(struct wasi *w);
    void *engine; /* the engine's own */
    bool may_block;
    enum wasi_end end;
    uint32_t exit_code;
    struct str exec_path; /* WASI_EXEC: owned by @w, argv and envp NULL-terminated */
    char **exec_argv, **exec_env;
    int argc;
    char **argv; /* borrowed from the image */
    char **env;
    uint32_t n_env;
    bool create_mode_set; /* mode of the next file or directory that is made: see host-imports.md */
    uint32_t create_mode;
    struct wasi_fd *fds; /* by descriptor */
    uint32_t n_fds;
};

enum wasi_kind {
    WASI_PLAIN, /* never waits, never switches */
    WASI_WAITS, /* may answer WASI_BLOCK */
};

struct wasi_call {
    const char *module; /* "wasi_snapshot_preview1" or "frontal_sandbox_1" */
    const char *name;
    const char *params; /* one letter each: i is i32, I is i64 */
    bool returns;       /* an i32, the errno; only proc_exit has none */
    enum wasi_kind kind;
    int (*fn)(struct wasi *w, const uint64_t *args); /* an i32 is zero-extended */
};

extern const struct wasi_call wasi_calls[];
extern const size_t wasi_n_calls;

/* Starts @w for a program of @p: arguments and environment of @img, descriptors 0 to 2 and the preopen. -ENOMEM. */
int wasi_init(struct wasi *w, struct proc *p, const struct exec_image *img);
/* Frees what @w holds; the process's descriptors stay the process's. Accepts a zeroed struct. */
void wasi_done(struct wasi *w);
