/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * engine - the ops table of anything that runs a program as a process of the sandbox.
 *
 * A program is a file of the tree plus argv and environment (struct exec_image). proc_exec() reads the file's
 * first bytes, follows "#!", and asks each registered engine in turn whether it claims the image; the first that does
 * runs it. An engine runs on the process's own coroutine (proc/proc.h): run() is called there, may block in any
 * proc_* call (read from a pipe, wait for a child), and returns when the program has ended. So
 *   - a C command ("builtin") is a plain function call;
 *   - WASM polls its fiber in run() and blocks in proc_block() when a host call is pending;
 *   - JavaScript and a microVM process, which live in other host processes, send their request over wire/ and
 *     block in proc_block() until the worker's loop has fed the reply.
 * Descriptors, cwd, credentials, umask, limits and signal state are those of the struct proc; an engine uses them
 * through the proc_* calls only, so inheritance, dup and close-on-exec are the same for all. A program starts children
 * through proc_fork()/proc_exec(), whatever engine runs them.
 *
 * Interruption. When a process must end (signal, limit), its blocking calls return -EINTR and proc_poll() is negative;
 * run() then returns soon. An engine whose code cannot poll (compiled WASM, another host process) gives interrupt(),
 * which is called from the worker's thread at that moment and makes the code stop (epoch bump, kill of the host
 * process).
 *
 * Rules: an engine never invents an exit code. If it does not know how the program ended it yields OUTCOME_LOST.
 */

#include "base/str.h"
#include "types/outcome.h"

struct proc;

#define ENGINE_HEAD 256

struct exec_image {
    uint64_t ino;    /* of the file that the engine claims */
    struct str path; /* as the caller named it; of a script, the interpreter's */
    struct str head; /* its first bytes, at most ENGINE_HEAD */
    int argc;
    char **argv; /* argc strings and NULL; borrowed until run() returns */
    /* The environment, made on demand because most commands never look: NULL-terminated, valid while the process runs.
     */
    char **(*env)(void *env_arg);
    void *env_arg;
};

struct engine_ops {
    const char *name; /* "builtin", "wasm", "js", "vm": shown by type -a and the trace */
    const char *tier; /* "isolate" or "vm" */

    /* Whether this engine runs the image: 1, 0, or a negative errno that ends the search (-ENOEXEC: a broken file of
     * its kind). */
    int (*claims)(void *engine, const struct exec_image *img);

    /* Runs the program to its end in @p, on @p's coroutine. Returns 0 and *ret_outcome, or a negative errno if it never
     * began. */
    int (*run)(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret_outcome);

    /* Makes a running program of @p stop soon; NULL when run() polls by itself. */
    void (*interrupt)(void *engine, struct proc *p);
};
