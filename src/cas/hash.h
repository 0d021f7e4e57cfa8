/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * cas/hash - SHA-256 (FIPS 180-4) by libcrypto, which only this module includes.
 *
 * The names of blobs, and of a session's state.
 */

#include "base/str.h"

#define CAS_HASH_SIZE 32

struct cas_hash {
    uint64_t state[16]; /* opaque; large enough for libcrypto's context (checked at compile time) */
};

/* Starts a hash. */
void cas_hash_init(struct cas_hash *h);
/* Adds bytes. */
void cas_hash_add(struct cas_hash *h, const void *p, size_t n);
/* Ends it; @h must be started anew after. */
void cas_hash_end(struct cas_hash *h, uint8_t ret[CAS_HASH_SIZE]);
