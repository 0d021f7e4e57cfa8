/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * attach - the messages of `GET …/execs/{e}/attach`, a WebSocket on a command: docs/api.md is the contract.
 *
 * A binary message is a byte that says what it is, then (but for ATTACH_BIN_STDIN) a place in the stream as 8 bytes,
 * the highest first, then bytes of the stream. A text message is a JSON object with a "type". Either side takes both;
 * a server sends output in the form that the client has asked for.
 *
 * Threads: pure functions.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "wire/api.h"

enum attach_binary {
    ATTACH_BIN_STDIN = 0,  /* from the client: behind what there was */
    ATTACH_BIN_STDOUT = 1, /* from the server */
    ATTACH_BIN_STDERR = 2, /* from the server */
    ATTACH_BIN_STDIN_AT = 3,
};

#define ATTACH_HEAD 9u /* bytes before those of the stream */

/* ---- what a client sends ---- */

enum attach_request_kind { ATTACH_STDIN, ATTACH_STDIN_CLOSE, ATTACH_RESIZE, ATTACH_SIGNAL };

struct attach_request {
    enum attach_request_kind kind;
    struct str data; /* STDIN */
    bool placed;     /* STDIN: its first byte is number @offset of the input */
    uint64_t offset;
    uint64_t cols, rows; /* RESIZE: 1 to 65535 */
    struct str signal;
};

/* A message into *ret, whose texts are borrowed from it or lie in @a: 0; -EINVAL and why, for a JSON text that is not
 * such an object; -EBADMSG for one that is no JSON object or no such binary message. */
int attach_get_request(bool text, struct str message, struct arena *a, struct attach_request *ret,
                       struct api_problem *why) __attribute__((warn_unused_result));

/* ---- what a server sends ---- */

enum attach_event_kind { ATTACH_READY, ATTACH_OUTPUT, ATTACH_STDIN_TAKEN, ATTACH_ERROR, ATTACH_EXIT };

struct attach_event {
    enum attach_event_kind kind;
    int stream;      /* OUTPUT: 1 or 2 */
    uint64_t offset; /* OUTPUT: of the first byte; STDIN_TAKEN: bytes of input taken */
    struct str data;
    struct str code, message; /* ERROR */
    struct str exec;          /* READY, EXIT: the exec as a JSON object */
    /* READY: */
    bool tty, stdin_open;
    uint64_t stdin_offset;
};

/* The same of what a server has sent. A member that is not known is an error: client and server are of one version. */
int attach_get_event(bool text, struct str message, struct arena *a, struct attach_event *ret, struct api_problem *why)
    __attribute__((warn_unused_result));

/* Appends a binary message, whatever the kind. */
void attach_put_binary(struct buf *out, enum attach_binary kind, uint64_t offset, struct str data);
/* Appends the JSON text of OUTPUT, STDIN_TAKEN or ERROR; READY and EXIT hold more than this module knows. */
void attach_put_event(struct buf *out, const struct attach_event *e);
