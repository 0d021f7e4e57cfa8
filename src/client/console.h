/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * console - an exec of a server at our standard streams, over one WebSocket at a time (docs/api.md, "A WebSocket on a
 * command").
 *
 *   no connection ──handshake, READY──► connected ──EXIT──► ended
 *        ▲                                  │ └── ^P ^Q, TERM, HUP, … ──► left
 *        └────────── it was cut ◄───────────┘
 *
 * Invariants:
 *   1. A byte of output is written once: at[] counts what was written, and is what the server is asked to go on from.
 *   2. A byte of input that was read is kept until the server has said that it was taken; it is sent with its offset,
 *      so that one that comes twice is taken once.
 *   3. At most INPUT_WINDOW bytes of input are kept; then standard input is not read.
 *   4. The terminal is as it was before when client_console() returns.
 *
 * Signals are read from a descriptor: INT and QUIT go to the exec (while there is no connection they leave it), what
 * else would end this process leaves it.
 */

#include <stdbool.h>

struct client;
struct err;
struct json_tree;

struct console_config {
    struct client *client;
    const char *session, *exec;
};

struct console_end {
    struct json_tree *exec; /* it has ended: its object (to be freed) */
    bool reached;           /* there was a connection to it */
    int signal;             /* that made us leave it; 0: keys did */
};

/* Until the exec has ended, or is left, running: 0. Or an error. *ret is set in any case. */
int client_console(const struct console_config *cfg, struct console_end *ret, struct err *err);
