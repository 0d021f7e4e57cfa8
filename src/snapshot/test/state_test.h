/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* state_test - a state directory of its own for a test, sessions with a log as a worker writes it, and a way to count
 * or end what a process asks of the kernel. */

#include "base/err.h"
#include "snapshot/state.h"

struct state_test {
    char dir[64]; /* scratch */
    char path[80];
    struct state *s;
};

/* Makes and opens it. */
struct state_test state_test_new(void);
/* Closes and removes it. */
void state_test_done(struct state_test *t);

/* A state whose three names are made from @n; nothing of it is in a store. */
struct trace_state state_test_state(uint8_t n);
/* A session with an empty log but its CREATED. */
void state_test_session(struct state *s, const char *name, char ret_id[STATE_ID_MAX]);
/* Appends the events of a command that ended with @n's state; with @end false it never ended. */
void state_test_exec(struct state *s, const char *who, uint8_t n, bool end);

/* Runs @fn in a process of its own, killed when it enters its system call number @kill_at (0: never). How many it made,
 * or -1 when processes cannot be watched here. */
long state_test_watch(void (*fn)(void *arg), void *arg, long kill_at);
