/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * cas/digest - the digests that programs of a session ask for by name: MD5 (RFC 1321), SHA-1 and SHA-2 (FIPS 180-4), by
 * libcrypto. No name of the store is made with them: that is cas/hash.h.
 */

#include <stddef.h>
#include <stdint.h>

enum cas_digest_kind { CAS_MD5, CAS_SHA1, CAS_SHA224, CAS_SHA256, CAS_SHA384, CAS_SHA512 };

#define CAS_DIGEST_MAX 64 /* bytes of the longest */

struct cas_digest {
    enum cas_digest_kind kind;
    uint64_t state[28]; /* opaque; large enough for libcrypto's contexts (checked at compile time) */
};

/* Bytes of a digest. */
size_t cas_digest_size(enum cas_digest_kind kind);
/* Starts a digest. Cannot fail. */
void cas_digest_init(struct cas_digest *d, enum cas_digest_kind kind);
/* Adds bytes. */
void cas_digest_add(struct cas_digest *d, const void *p, size_t n);
/* Ends it: cas_digest_size() bytes; @d must be started anew after. */
void cas_digest_end(struct cas_digest *d, uint8_t ret[CAS_DIGEST_MAX]);
