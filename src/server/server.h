/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * server - the HTTP API: connections, routes, streaming, back-pressure. docs/api.md is the contract from the user's
 * side, docs/internals/server.md how it is done.
 *
 * Model. libmicrohttpd owns the connections and is driven by this module's loop (its epoll descriptor is one of three,
 * beside the scheduler's and the signals'). A request is read whole, but for files, which are streamed; its route is
 * looked up in one table; a handler answers at once or later. One that answers later suspends the connection.
 *
 * Invariants:
 *   1. Nothing here runs guest code or waits for it.
 *   2. Every request is answered by its route's handler or by one error of the table in types/errtab.h, and is one line
 *      of the access log.
 *   3. A client that is gone stops no command.
 *   4. Without keys only the loopback addresses and Unix sockets are listened on, and requests that a browser sends
 *      from another site are refused.
 *
 * Threads: one.
 */

#include <stdbool.h>
#include <stdint.h>

struct err;
struct sched;

struct server_config {
    const char *listen;   /* ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH; NULL: what a service manager has passed, or
                             127.0.0.1:7070 */
    uint32_t connections; /* at most; 0: LIMIT_CONNECTIONS */
    uint32_t drain_ms;    /* for what runs when the server is told to end */
    bool access_log;
    const char *tls_cert, *tls_key; /* files (PEM): https; NULL: http */
};

/* Listens, and serves until SIGTERM or SIGINT: then takes no new work, waits for what runs up to drain_ms (a second
 * signal: not at all), and returns 0. SIGHUP reads the certificate anew. @listening is called with the address in use
 * when it listens. Other errors: the address, the certificate. */
int server_run(const struct server_config *cfg, struct sched *sched, void (*listening)(const char *address),
               struct err *err);
