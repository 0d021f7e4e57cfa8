/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * ws - one WebSocket (RFC 6455), either end, over a byte stream that its owner moves. Frames are wslay's; limits, the
 * answer of the handshake and the order of closing are here.
 *
 *   OPEN ──ws_close(), or the peer's close frame──► CLOSING ──both close frames are through──► CLOSED
 *     └───────────── the stream broke, or the peer broke the protocol ─────────────────────────► CLOSED
 *
 * Invariants:
 *   1. A message is given whole, and one of text is UTF-8 (else the close code is 1007); one of more than
 *      LIMIT_WS_MESSAGE bytes is none (1009).
 *   2. Pings are answered here. While more than LIMIT_WS_QUEUE messages wait to be sent, nothing is read, so a peer
 *      that sends and does not read holds up itself.
 *   3. After the closing has begun no message is given or sent.
 *
 * Threads: one.
 */

#include "base/str.h"

#include <sys/types.h>

struct ws;

struct ws_config {
    bool client; /* it masks what it sends, and what it gets must not be masked; a server is the other way round */
    void *arg;
    /* Takes bytes of the stream: their number, -EAGAIN, 0 at its end, or an error. */
    ssize_t (*read)(void *arg, void *p, size_t n);
    /* Gives bytes to the stream: their number, -EAGAIN, or an error. */
    ssize_t (*write)(void *arg, const void *p, size_t n);
    /* A message, borrowed for the call. May put and close, not free. */
    void (*message)(void *arg, bool text, struct str data);
};

enum ws_close_code {
    WS_NORMAL = 1000,
    WS_GOING_AWAY = 1001,
    WS_PROTOCOL = 1002,
    WS_UNSUPPORTED = 1003,
    WS_NO_CODE = 1005, /* never sent: the close frame had none */
    WS_BROKEN = 1006,  /* never sent: there was no close frame */
    WS_BAD_DATA = 1007,
    WS_POLICY = 1008,
    WS_TOO_BIG = 1009,
    WS_INTERNAL = 1011,
};

/* One that is open (the handshake is the owner's); @cfg is copied. NULL: memory is short. */
struct ws *ws_new(const struct ws_config *cfg);
/* Accepts NULL. */
void ws_free(struct ws *w);

/* Reads what the stream has, a bounded part of it, and gives messages. */
void ws_receive(struct ws *w);
/* Writes what waits, as far as the stream takes it. */
void ws_flush(struct ws *w);
/* What the stream is to be polled for. */
bool ws_wants_read(const struct ws *w);
/* See ws_wants_read(). */
bool ws_wants_write(const struct ws *w);
/* No more messages are read until it is given false; some that were read already may still come. */
void ws_pause(struct ws *w, bool on);

/* Queues a message (copied). Nothing happens when it is closing, or closed. */
void ws_put(struct ws *w, bool text, struct str data);
/* Queues a ping. */
void ws_ping(struct ws *w);
/* Bytes of messages that wait. */
size_t ws_queued(const struct ws *w);

/* Begins the closing, behind what is queued. @reason: at most 123 bytes of UTF-8. */
void ws_close(struct ws *w, enum ws_close_code code, struct str reason);
/* Whether a close frame has come or is on its way. */
bool ws_closing(const struct ws *w);
/* Whether all is over: the stream can be closed. */
bool ws_closed(const struct ws *w);
/* Whether the stream itself has failed or ended. */
bool ws_broken(const struct ws *w);
/* The code of the peer's close frame; WS_BROKEN while none has come. */
int ws_close_code(const struct ws *w);

/* Bytes received and sent so far: whether the peer lives. */
void ws_moved(const struct ws *w, uint64_t *ret_in, uint64_t *ret_out);

#define WS_ACCEPT_MAX 32

/* Sec-WebSocket-Accept for a Sec-WebSocket-Key: 0, or -EINVAL when it is not base64 of 16 bytes. */
int ws_accept(struct str key, char ret[WS_ACCEPT_MAX]) __attribute__((warn_unused_result));
/* A key for a client's request, from 16 random bytes. */
void ws_key(const uint8_t random[16], char ret[WS_ACCEPT_MAX]);
