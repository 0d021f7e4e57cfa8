/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * worker - the confined process that holds sessions, and the handle its driver has on it.
 *
 * worker_spawn() makes a socket pair and a child in namespaces of its own; the child gives up its rights (confine.h),
 * says READY with what could be applied, and serves messages (wire/wire.h) until the socket closes. It holds one
 * session (what `run` and `shell` need), or many of one tenant (the server). Many take turns on its one thread: one
 * that computes is interrupted about every millisecond when another has something to do.
 *
 * Invariants:
 *   1. No guest byte is looked at before confine_self() has succeeded.
 *   2. A worker answers while a guest computes: messages are looked at about once a millisecond.
 *   3. RESULT comes after the last OUTPUT of its exec. Output is never dropped; when the driver does not read, the
 * guest waits.
 *   4. When the driver is gone, so is the worker.
 *
 * Threads: one in the child; the driver uses a handle from one thread.
 */

#include "worker/chan.h"

#include <sys/types.h>

struct err;
struct userland;

struct worker {
    pid_t pid;
    struct chan chan;
    bool kept;
};

#define WORKER_QUIET_MS 5 /* a worker waits so long for a message before it uses the time for the disk */

struct worker_config {
    const int *mount_fds; /* O_PATH descriptors; the worker gets copies, the caller keeps and closes its own */
    uint32_t n_mounts;
    uint64_t memory_ceiling; /* RLIMIT_DATA of the worker, bytes */
    /* A session that is kept: the directory of its store (not O_PATH), its log, and what holds its lock. As the mounts.
     * Such a worker ends by itself when the socket closes, after everything is on the disk. */
    bool kept;
    int store_fd, trace_fd, lock_fd;
    bool many; /* sessions that are kept in the one store: log and lock (-1 here) of each come with its CREATE */
    /* The directory of the userland (manifest.tsv and precompiled files), as the mounts but not O_PATH; -1: none.
     * Nobody may write in it but by putting whole files in place. */
    int userland_fd;
    /* Whether modules of the user's own run. The driver then answers WIRE_COMPILE (worker/modules.h), and the worker
     * does not forbid itself new executable memory. */
    bool own_modules;
    uint32_t programs; /* slots for WebAssembly programs; 0: WASM_PROGRAMS */
};

/* Starts a worker. -errno and @err when no process or socket can be had; what goes wrong in the child arrives as a
 * closed socket, and its reason on standard error. */
int worker_spawn(const struct worker_config *cfg, struct worker *ret, struct err *err);

/* Ends it: closes the socket, and kills it unless its session is kept (then it goes on until all is on the disk, and is
 * not waited for). Returns its wait status (of a worker that had ended before, its own), or -1
 * if that is not known. Accepts a zeroed struct. */
int worker_end(struct worker *w);

/* The body of the worker role: serves @sock until it closes. Only worker_spawn() and tests call it. */
int worker_serve(int sock, const struct worker_config *cfg, struct userland *userland, uint64_t ready_applied,
                 uint64_t ready_missing, struct str notes);
