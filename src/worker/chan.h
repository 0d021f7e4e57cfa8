/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * chan - one end of the socket between a worker and its driver: messages in and out as frames (wire/wire.h).
 *
 * A frame is at most CHAN_FRAME bytes; a longer message goes as several. The peer is not believed: a frame with a
 * broken header, an unknown type, a type that changes inside a message, or more than WIRE_BODY_MAX bytes is -EBADMSG.
 *
 * A message may bring descriptors, at most CHAN_FDS, with its last frame. An end that does not say that it takes them
 * is given none: the kernel closes what comes.
 *
 * Threads: one.
 */

#include "base/buf.h"
#include "wire/wire.h"

#define CHAN_FRAME (WIRE_HEADER + LIMIT_MSG_DATA + 1024u)
#define CHAN_FDS 16

struct chan {
    int fd;             /* owned */
    struct buf body;    /* the message being put together, or the last one given out that came in several frames */
    struct buf out;     /* scratch for encoding */
    uint32_t type;      /* of the message being put together; 0 none */
    uint32_t from;      /* its session, or that of the last one given out */
    uint32_t to;        /* the session that what is sent is for; set by who sends */
    bool takes_fds;     /* set by who wants descriptors */
    int came[CHAN_FDS]; /* descriptors of the last message, or -1; closed at the next unless taken */
    char *frame;        /* CHAN_FRAME bytes */
};

/* Takes @fd. */
void chan_init(struct chan *c, int fd);
/* Closes. Accepts a zeroed struct. */
void chan_done(struct chan *c);

/* The next message: 1 and its type and body (borrowed until the next call), 0 when none is whole and @wait is false
 * (the socket may still be readable: a peer that sends small pieces must not keep its reader), -EPIPE when the peer is
 * gone, -EBADMSG, -EINTR (only with @wait). */
int chan_recv(struct chan *c, bool wait, uint32_t *ret_type, struct str *ret_body);

/* Sends, waiting while the socket is full: 0, -EPIPE, -EINTR is not given. */
int chan_send(struct chan *c, uint32_t type, struct str body);

/* Sends a message of one frame, @head and then @rest, if the socket takes it now: 0, -EAGAIN, -EPIPE, -EMSGSIZE. */
int chan_try_send(struct chan *c, uint32_t type, struct str head, struct str rest);

/* Sends the scratch buffer, which fits into one frame, together with @fd (not taken): as chan_send_scratch(). */
int chan_send_fd(struct chan *c, uint32_t type, int fd);
/* Sends a message without a body, with @n descriptors (not taken): as chan_send(). */
int chan_send_fds(struct chan *c, uint32_t type, const int *fds, int n);
/* The next descriptor that came with the last message, which is then the caller's, or -1. */
int chan_take_fd(struct chan *c);

/* One frame as it lies on the socket, for who keeps a queue of what the socket does not take: sends what chan_frame()
 * has made, with @n_fds descriptors (not taken), if the socket takes it now: 0, -EAGAIN, -EPIPE. */
int chan_try_frame(struct chan *c, struct str frame, const int *fds, int n_fds);
/* Appends to @out the frame that carries @part of a message: 0 or its error. @more: others follow. */
int chan_frame(struct buf *out, uint32_t type, uint32_t session, bool more, struct str part);

/* An empty scratch buffer to encode a body into, good until the next call of this. */
struct buf *chan_scratch(struct chan *c);
/* Sends the scratch buffer: 0, -EPIPE, or the buffer's own error. */
int chan_send_scratch(struct chan *c, uint32_t type);

/* Waits until the socket can be written (or read, when @read): 0, -EINTR, -ETIMEDOUT after @timeout_ms (-1: none). */
int chan_wait(struct chan *c, bool read, bool write, int timeout_ms);
