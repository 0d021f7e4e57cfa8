/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * service - what a service manager and the server say to each other, by systemd's documented protocols alone:
 * sd_listen_fds(3) (a socket that listens already) and sd_notify(3) (READY, STOPPING, RELOADING, WATCHDOG).
 *
 * Without a manager (NOTIFY_SOCKET, LISTEN_FDS and WATCHDOG_USEC are not set) nothing is done.
 *
 * Threads: one.
 */

#include <stdint.h>

struct err;

/* Takes the socket that was passed, which then is close-on-exec and does not block, and its variables out of the
 * environment: the descriptor, -ENOENT when none was, or an error with text. */
int service_socket(struct err *err);
/* Tells the manager "READY=1" and its like, lines of them. What cannot be told is not: the manager has its own times.
 */
void service_tell(const char *text);
/* How often the manager wants to hear, in nanoseconds; 0: never. */
int64_t service_watchdog(void);
