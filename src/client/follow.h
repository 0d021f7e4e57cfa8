/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * follow - an exec of a server until its end: its output as it comes, our standard input and our signals to it.
 *
 * Output is asked for by offset, so that a connection that was cut is begun again without a byte lost or doubled. Input
 * is sent once: when its connection is cut nobody knows whether it has arrived, and that is told. SIGINT, SIGTERM,
 * SIGHUP and SIGQUIT go to the command; the third of them is KILL.
 */

#include <stdbool.h>

struct client;
struct err;
struct json_tree;

struct follow_config {
    struct client *client;
    const char *session, *exec;
    bool input;  /* standard input is the command's */
    bool silent; /* output is not passed through */
    bool quiet;  /* no notes */
};

/* 0 with the exec's object at its end (to be freed); or an error, with *ret NULL when how it ended is not known: the
 * command goes on. Errors with *ret: output that did not arrive (the server keeps LIMIT_TRACE_OUTPUT of a stream), or
 * that could not be written. */
int client_follow(const struct follow_config *cfg, struct json_tree **ret, struct err *err);
