/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * wasm - programs in WebAssembly as processes of the sandbox: Wasmtime, the userland's modules, and the engine.
 *
 * A struct wasm_world belongs to a worker process. It holds Wasmtime's engine, one linker with every host function, and
 * the modules of the userland; all of that is made at the first program (wasm_world_new() costs nothing), so that a
 * session that runs none pays for none. Its programs are stages like any other (engine/engine.h): engine_wasm claims
 * files that begin with "\0asm" and the tools' files (PROC_TOOL_MAGIC).
 *
 * One program is one store and one instance in a slot of the pool, called on a fiber of Wasmtime. run() polls the call
 * on the process's coroutine. The fiber gives way when a host function must wait (wasi.h) and, each millisecond, at an
 * epoch; there run() looks whether the process must end, without a switch to another process, because when an epoch
 * comes depends on time and who runs next must not. A process that must end has its call dropped: the fiber unwinds.
 *
 * Native code comes from precompiled files (.cwasm) of the userland's directory, which no guest can write, by way of a
 * descriptor that the worker was given. With a seal, all of them are mapped when the first program runs, and from then
 * on the process forbids itself new executable memory (a second seccomp filter). That cannot be where modules of the
 * user's own may run: those are compiled by the `compile` role, which is asked for through struct wasm_config, when
 * they are first run, and stay mapped for the next time (at most LIMIT_WASM_OWN that do not run). The userland's are
 * then mapped as well when they are first run.
 *
 * Invariants:
 *   1. The engine is made in the process that runs it (its dirty-page scan is bound to it), after the last fork.
 *   2. A slot that is used again shows the next program nothing of the last: its memory is that of the image or zero.
 *   3. The memory of all programs of a session is charged to the session's account before it is there.
 *   4. No trap, and nothing that a module holds, ends the process: a trap is OUTCOME_KILLED by SIGSEGV, SIGILL, SIGFPE
 *      or, for a deep recursion, SIGSEGV, with a message; a module that does not load is -ENOEXEC.
 *   5. Programs are called from the worker's one thread.
 */

#include "base/str.h"
#include "engine/engine.h"

struct err;
struct proc;

struct wasm_world;

struct wasm_config {
    int dir_fd;        /* the userland's directory, or -1: no userland; borrowed */
    uint32_t programs; /* most that live at once */
    bool scan;         /* wasm_prepare() has given a descriptor */
    /* Called once, when every module is mapped: forbid new executable memory. 0 or a negative errno; may be NULL. */
    int (*seal)(void *arg);
    void *seal_arg;
    /* The precompiled form of a module of the user's own, whose bytes are @wasm: a descriptor, which is taken, or a
     * negative errno and @err; -EINTR: @p must end. Called on the coroutine of @p, which waits there in one
     * proc_await(). NULL: such modules do not run. As it has executable memory made later, who gives it gives no seal.
     */
    int (*compile)(void *arg, struct proc *p, struct str wasm, struct err *err);
    void *compile_arg;
};

/* Programs that a worker of the command line has slots for, if the session may not have more processes than by default.
 * A slot costs time when the engine is made (a system call for the guard of its stack; 1 ms for 300 of them), so it is
 * not as many as there could be. */
#define WASM_PROGRAMS 256
/* Private writable memory that the runtime of so many maps in advance or keeps for the next program, and does not
 * charge to a session: stacks, tables, slots that are free again. */
#define WASM_RESERVED (UINT64_C(2) << 30)

/* Wasmtime's version and a hash of the settings that compiled code depends on: "48.0.8-0123456789abcdef". "": this
 * build has none. */
const char *wasm_key(void);

/* Whether this build has Wasmtime. */
bool wasm_built(void);

/* What must be done in the worker's own process before it gives up its rights, if it has a userland: opens what the
 * reset of slots by what was written needs. A descriptor that must stay open, or a negative errno: -ENOSYS (without
 * WebAssembly), -EOPNOTSUPP (the kernel cannot: Linux 6.7), -EBUSY (this machine swaps, and what is swapped out would
 * not be reset). Slots are then reset as a whole, which is slower. */
int wasm_prepare(void);

/* A world; nothing is loaded yet. NULL when memory is short. */
struct wasm_world *wasm_world_new(const struct wasm_config *cfg);
/* No program may be alive. Accepts NULL. */
void wasm_world_free(struct wasm_world *w);

/* Makes engine and modules now instead of at the first program (a worker of a pool). 0, or a negative errno and @err.
 */
int wasm_world_load(struct wasm_world *w, struct err *err);

/* A tool of the userland. */
struct wasm_tool {
    const char *name;    /* of the command: "git" */
    const char *module;  /* file name without .cwasm */
    const char *version; /* "2.39.5" */
    const char *licence; /* SPDX expression */
    const char *source;  /* Debian's source package and version */
};

/* The tools of the world's userland, sorted by name; they live as long as it. 0 of them when there is no userland, or
 * its manifest is none. Loads nothing. */
size_t wasm_world_tools(struct wasm_world *w, const struct wasm_tool **ret);

/* The tools of the manifest in @dir_fd, sorted by name, without loading any: 0, -ENOENT without a userland, or -EBADMSG
 * for a manifest that is none. Free with wasm_tools_free(). */
int wasm_tools_read(int dir_fd, struct wasm_tool **ret, size_t *ret_n, struct err *err);
/* Accepts NULL. */
void wasm_tools_free(struct wasm_tool *v);

/* Opens a file of the userland's directory, following no link: a descriptor, -ENOENT, or -EBADMSG for what is no file.
 */
int wasm_userland_open(int dir_fd, const char *name);

extern const struct engine_ops engine_wasm; /* its object is a struct wasm_world */
