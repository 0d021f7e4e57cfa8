/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * modules - the driver's side of compiling modules of the user's own: takes a worker's WIRE_COMPILE, and answers from
 * the cache (modcache.h) or by the compile role (compiler.h).
 *
 * The driver gives it messages and calls modules_turn() when modules_fd() can be read or modules_deadline() has come.
 * Nothing is opened or started before a worker asks. The worker is not believed: the module's name in the cache is made
 * here, of its bytes and of what compiles them.
 *
 * Threads: one.
 */

#include "base/buf.h"
#include "cas/hash.h"
#include "worker/compiler.h"
#include "worker/modcache.h"

struct chan;

struct modules {
    bool asked; /* for: */
    uint32_t id;
    uint64_t size, have; /* bytes */
    int module_fd;       /* those that have come; -1 none */
    struct cas_hash hash;
    char name[MODCACHE_NAME];
    struct compiler compiler;
};

/* Makes an empty one. */
void modules_init(struct modules *m);
/* Ends what runs. */
void modules_done(struct modules *m);

/* Takes the body of a WIRE_COMPILE, and answers on @c if it can at once: 0, -EBADMSG, or -EPIPE. */
int modules_take(struct modules *m, struct chan *c, struct str body) __attribute__((warn_unused_result));

/* What to wait for: a descriptor to be read, or -1. */
int modules_fd(const struct modules *m);
/* When to look again at the latest (clock_mono); INT64_MAX: never. */
int64_t modules_deadline(const struct modules *m);
/* Answers on @c when the compiler has ended: 0 or -EPIPE. */
int modules_turn(struct modules *m, struct chan *c) __attribute__((warn_unused_result));
