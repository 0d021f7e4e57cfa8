/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/hash.h"

/* The low-level calls: they need no provider, no allocation and no start-up, unlike EVP, and use the same SHA-NI code.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct cas_hash), "struct cas_hash is too small");

void cas_hash_init(struct cas_hash *h)
{
    SHA256_Init((SHA256_CTX *)h->state);
}

void cas_hash_add(struct cas_hash *h, const void *p, size_t n)
{
    SHA256_Update((SHA256_CTX *)h->state, p, n);
}

void cas_hash_end(struct cas_hash *h, uint8_t ret[CAS_HASH_SIZE])
{
    SHA256_Final(ret, (SHA256_CTX *)h->state);
}
