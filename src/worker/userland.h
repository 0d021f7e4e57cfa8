/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* userland - what a worker's sessions have of the userland: the tools' names, the engine that runs them, and the
 * layer of read-only files. Made after the worker has given up its rights. */

#include "session/session.h"
#include "worker/ask.h"

struct layer;
struct wasm_world;

struct userland {
    struct wasm_world *world;
    const char **names;
    struct layer *layer;
    struct ask ask; /* for modules of the user's own */
    struct session_userland
        session; /* without a userland, its engine says of a module why it does not run, or runs it */
};

/* Of the directory @dir_fd, -1: there is none. @scan: wasm_prepare() has worked. @own: modules of the user's own run;
 * else the process forbids itself new executable memory when the programs of the userland are mapped. @programs:
 * slots, 0: WASM_PROGRAMS. What is missing or broken there is as if it were not there. */
void userland_init(struct userland *u, int dir_fd, bool scan, bool own, uint32_t programs);
/* Frees it; no session may live. */
void userland_done(struct userland *u);
