/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * client - the verbs of the command line against a server (docs/api.md), over libcurl, which this module alone
 * includes.
 *
 * Model. A client is a server's URL with a key. A request is begun, goes on while client_turn() is called, and has an
 * answer in the end; several may be under way at a time (the events of a command, and its input). client_ask() is the
 * three in one. An answer that is no success becomes an error whose text is for a person: what the server said, and
 * what helps.
 *
 * A request that may be repeated (it reads only, or carries an Idempotency-Key) is begun again by itself when its
 * connection was cut or the server said "later" (429, 503), with growing pauses, for CLIENT_PATIENCE.
 *
 * Invariants:
 *   1. A request that may not be repeated is sent once.
 *   2. The key goes to the URL's server only: no redirect is followed.
 *   3. What a server sends is hostile: bodies are bounded, and bytes for a terminal are escaped but for the streams of
 *      a command.
 *
 * Threads: one.
 */

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/str.h"

struct client;
struct client_op;
struct err;

/* How long a request that may be repeated is tried. */
#define CLIENT_PATIENCE_MS 30000
/* Bytes of an answer that is taken whole. */
#define CLIENT_ANSWER_MAX (256u << 20)

struct client_config {
    const char *url; /* http://HOST[:PORT], https://…, unix:PATH, HOST:PORT; a path in front of /v1 is kept */
    const char *key; /* "" or NULL: none */
    const char *ca;  /* a file of certificates (PEM) to believe instead of the system's; NULL: the system's */
};

struct client_request {
    const char *method;
    const char *path; /* with its query, encoded: "/v1/sessions" */
    struct str body;  /* .p NULL: none; borrowed until the end */
    const char *type; /* of the body; NULL: JSON */
    const char *accept;
    const char *header; /* one more, "Name: value", or NULL */
    int upload;         /* with @uploads: a descriptor whose bytes are the body */
    uint64_t upload_size;
    bool uploads;
    bool repeat; /* it may be begun again */
    /* Takes the body of a success in pieces instead of into the answer: 0, or an error that ends the request. When the
     * connection is cut afterwards the request is not begun again, whatever @repeat says. */
    int (*piece)(void *arg, struct str s);
    void *arg;
};

struct client_answer {
    unsigned status; /* of HTTP; 0: there was none */
    struct buf body;
};

/* Checks the URL. -EINVAL: it is none. */
int client_new(const struct client_config *cfg, struct client **ret, struct err *err);
/* Frees; requests that are under way must have been ended. */
void client_free(struct client *c);
/* The URL as given, for messages. */
const char *client_url(const struct client *c);

/* The file of certificates of the configuration, or NULL. */
const char *client_ca(const struct client *c);

/* Begins a request; the struct is copied, what it points to is borrowed. */
struct client_op *client_begin(struct client *c, const struct client_request *q);
/* Lets requests go on for up to @timeout_ms (-1: until something happens), or until one of @n descriptors is ready,
 * whose revents are then set. */
void client_turn(struct client *c, struct pollfd *fds, size_t n, int timeout_ms);
/* Whether it has ended. */
bool client_done(const struct client_op *op);
/* Ends it, whether it is done or not, and frees it. @ret may be NULL; its body is the caller's (buf_done) in any case.
 * 0; or an error of the server, as the errno nearest to its code; or -ECONNREFUSED, -EHOSTUNREACH (nothing was sent),
 * -ECONNRESET (cut), -EPROTO (TLS or HTTP). */
int client_end(struct client_op *op, struct client_answer *ret, struct err *err);
/* The error that an answer without success is, as client_end() has it: its code. */
int client_refusal(const struct client *c, unsigned status, struct str body, struct err *err);
/* Begins, waits, ends. */
int client_ask(struct client *c, const struct client_request *q, struct client_answer *ret, struct err *err);

/* ---- a connection of one's own, for WebSocket ---- */

struct client_stream;
/* Connects, with TLS where the URL has it. Same errors as client_end(). */
int client_stream_open(struct client *c, struct client_stream **ret, struct err *err);
/* Closes. */
void client_stream_close(struct client_stream *s);
/* The socket, to poll; it may be readable without a byte to read (TLS), and hold bytes while it is not: read first. */
int client_stream_fd(const struct client_stream *s);
/* Bytes sent; -EAGAIN; or an error. */
ssize_t client_stream_send(struct client_stream *s, struct str data);
/* Bytes read, 0 at the end; -EAGAIN; or an error. */
ssize_t client_stream_recv(struct client_stream *s, void *to, size_t max);
/* The value for a Host header, and what stands in front of every path ("" or "/prefix"). */
const char *client_host(const struct client *c);
/* See client_host(). */
const char *client_prefix(const struct client *c);
/* "Bearer KEY", or NULL without a key. */
const char *client_authorization(const struct client *c);
