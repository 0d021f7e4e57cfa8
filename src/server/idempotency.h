/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * idempotency - requests that carry an Idempotency-Key: a repeat within 24 hours gets the first one's answer, or is led
 * to the exec that it began; the same key with another request is a conflict.
 *
 * Model. A key belongs to a tenant. What it stands for is one line of the file `idempotency` in the tenant's state
 * directory: when, the SHA-256 of the key, that of the request (method, path, body), the status, and the answer, which
 * is one line of JSON. An exec has its line before it is sent to a worker, with its id as answer; what became of it is
 * asked of the exec itself. Anything else has it when it is answered. A request that failed leaves none.
 *
 * Invariants:
 *   1. A line is written before anything of the request can be seen by its client, so it survives every process.
 *   2. A repeat that comes while the first is being carried out is refused (409), unless it is an exec.
 *
 * Threads: one.
 */

#include "base/str.h"

struct request;

struct idempotency; /* one key that is in use */

enum idempotency_state {
    IDEMPOTENCY_NONE,     /* the request has no key, or has one that is new */
    IDEMPOTENCY_EXEC,     /* it is a repeat of an exec, of which the id is given */
    IDEMPOTENCY_ANSWERED, /* it was answered, with what the first got or with an error */
};

/* Looks at the request's key, if it has one. */
enum idempotency_state idempotency_begin(struct request *r, struct str *ret_exec);
/* The request of a new key is an exec with this id. 0, or an error: it must not begin. */
int idempotency_exec(struct request *r, struct str id);
/* The request is answered with @body; when @status is no success, the key is free again. */
void idempotency_answered(struct request *r, unsigned status, struct str body);
/* The request is over, whatever became of it. */
void idempotency_end(struct request *r);
struct server;
/* Frees what is known of all keys; their files stay. */
void idempotency_free(struct server *sv);
