/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * apikey - who may ask: keys of a server and their capabilities.
 *
 * Model. A key belongs to a tenant and carries capabilities, one for each kind of request. What a client sends is
 * ID.SECRET; what is kept is one line with the id and the SHA-256 of the secret, never the secret. The secret is 256
 * bits of the kernel's entropy, so a plain hash of it cannot be turned back.
 *
 *   key_01J… SHA-256 TENANT CAPABILITY,… CREATED-NS NAME
 *
 * Invariants:
 *   1. Comparing secrets takes the same time wherever they differ.
 *   2. A line that does not parse grants nothing.
 *
 * Threads: pure functions, but for apikey_new(), which asks the kernel for entropy.
 */

#include "base/buf.h"
#include "base/str.h"
#include "types/id.h"

#include <stdint.h>

enum apikey_cap {
    APIKEY_SESSIONS_READ,
    APIKEY_SESSIONS_WRITE,
    APIKEY_EXEC,
    APIKEY_FS_READ,
    APIKEY_FS_WRITE,
    APIKEY_STATE, /* snapshots, forks, restore, merge */
    APIKEY_TRACE, /* logs, differences, replays */
    APIKEY_METRICS,
    APIKEY_POLICY, /* to grant a session more than it has */
    APIKEY_CAPS
};

#define APIKEY_ALL ((1u << APIKEY_CAPS) - 1)
#define APIKEY_NAME_MAX 64
#define APIKEY_SECRET_MAX 64

/* "sessions.read" and so on. */
const char *apikey_cap_name(enum apikey_cap c);
/* Bits of "exec,fs.read" or "all": 0 or -EINVAL. */
int apikey_caps(struct str text, uint32_t *ret) __attribute__((warn_unused_result));
/* The other way; "all" for all of them. */
void apikey_put_caps(struct buf *out, uint32_t caps);

struct apikey {
    struct id id;
    char hash[65]; /* SHA-256 of the secret, hex */
    char tenant[APIKEY_NAME_MAX + 1];
    uint32_t caps;
    int64_t created; /* wall clock, ns */
    char name[APIKEY_NAME_MAX + 1]; /* what it is for; may be empty */
};

/* A new key of @tenant: fills *ret, and @secret (at least APIKEY_SECRET_MAX bytes) with what its owner keeps: ID.SECRET
 * is what is sent. -EINVAL for names that are none: 1 to 64 (a key's: 0 to 64) of A-Z a-z 0-9 . _ -. */
int apikey_new(struct str tenant, struct str name, uint32_t caps, struct apikey *ret, char *secret)
    __attribute__((warn_unused_result));
/* Appends its line, with the newline. */
void apikey_put(struct buf *out, const struct apikey *k);
/* The key of a line without its newline: 0 or -EINVAL. */
int apikey_get(struct str line, struct apikey *ret) __attribute__((warn_unused_result));
/* Whether @token (ID.SECRET) is this key's. */
bool apikey_matches(const struct apikey *k, struct str token);
