/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * ask - the worker's side of compiling modules of the user's own: asks the driver, which has the compile role.
 *
 * A module goes to the driver in pieces, as the socket takes them, and its precompiled form comes back as a descriptor.
 * One is asked for at a time; other processes wait for that as for the answer itself. The process waits in
 * proc_await(), so it can be killed, and the worker serves its socket meanwhile. What nobody waits for any more is
 * taken back.
 *
 * Threads: one.
 */

#include "base/err.h"
#include "base/str.h"

struct chan;
struct proc;

struct ask {
    struct chan *chan; /* set by who serves it, before anybody asks */
    bool alone;        /* nobody serves the socket (a replay): the answer is waited for in place */
    uint32_t id;       /* of the last that was asked for */
    const void *asker; /* whose module it is; NULL: nobody waits */
    struct str module;
    size_t sent;    /* of its bytes */
    bool take_back; /* the driver must still be told that nobody waits */
    bool answered;  /* by: */
    int fd;         /* owned, or -1 and */
    struct err why; /* why there is none */
};

/* As struct wasm_config's compile; @arg is the struct ask. */
int ask_compile(void *arg, struct proc *p, struct str wasm, struct err *err);

/* Sends what the socket takes now: 0 when all is sent, -EAGAIN when it is full, -EPIPE. */
int ask_push(struct ask *a);

/* Takes the body of a WIRE_COMPILED, and the descriptor that came with it: 0 or -EBADMSG. Then proc_sink_ready() wakes
 * who waits. */
int ask_answer(struct ask *a, struct str body) __attribute__((warn_unused_result));
