/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* upgrade - the connection of a WebSocket, and the client's side of its handshake (RFC 6455, 4.1); frames are ws's. */

struct buf;
struct client;
struct client_stream;
struct err;

/* Connects and asks for @path (as in struct client_request). 0 with the stream, whose first bytes may be in @early (an
 * empty buffer of the caller's) already; or the errors of client_end(). Blocks, for 10 s to connect and 10 s more. */
int client_upgrade(struct client *c, const char *path, struct client_stream **ret, struct buf *early, struct err *err);
