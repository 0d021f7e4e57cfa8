/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * sse - events of a text/event-stream as they come in pieces (WHATWG HTML, 9.2.6). Comments and fields other than
 * event, data and id are passed over; lines end with LF, CR or CR LF.
 *
 * Threads: one a parser.
 */

#include <stdbool.h>

#include "base/buf.h"

struct sse_event {
    struct str name; /* "message" when the stream has none */
    struct str id, data;
};

struct sse {
    struct buf line, data, name, id;
    bool has_data, after_cr;
};

/* @max: bytes of a line, and of the data of one event. */
void sse_init(struct sse *s, size_t max);
/* Frees. */
void sse_done(struct sse *s);
/* As after sse_init(): what was half an event is dropped. */
void sse_reset(struct sse *s);
/* Takes bytes; @each gets every event that is whole, and ends the feeding by an error. 0, its error, or -EFBIG. */
int sse_feed(struct sse *s, struct str bytes, int (*each)(void *arg, const struct sse_event *e), void *arg);
