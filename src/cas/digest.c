/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/digest.h"

/* The low-level calls, for the reasons that hash.c gives. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/md5.h>
#include <openssl/sha.h>

struct kind {
    size_t size;
    int (*init)(void *ctx);
    int (*add)(void *ctx, const void *p, size_t n);
    int (*end)(unsigned char *out, void *ctx);
};

/* Calls through a table need one type: each context behind a void pointer. */
#define KIND(id, CTX, INIT, ADD, END)                                                                                  \
    static int id##_init(void *ctx)                                                                                    \
    {                                                                                                                  \
        return INIT((CTX *)ctx);                                                                                       \
    }                                                                                                                  \
    static int id##_add(void *ctx, const void *p, size_t n)                                                            \
    {                                                                                                                  \
        return ADD((CTX *)ctx, p, n);                                                                                  \
    }                                                                                                                  \
    static int id##_end(unsigned char *out, void *ctx)                                                                 \
    {                                                                                                                  \
        return END(out, (CTX *)ctx);                                                                                   \
    }                                                                                                                  \
    _Static_assert(sizeof(CTX) <= sizeof(((struct cas_digest *)0)->state), "struct cas_digest is too small")

KIND(md5, MD5_CTX, MD5_Init, MD5_Update, MD5_Final);
KIND(sha1, SHA_CTX, SHA1_Init, SHA1_Update, SHA1_Final);
KIND(sha224, SHA256_CTX, SHA224_Init, SHA224_Update, SHA224_Final);
KIND(sha256, SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final);
KIND(sha384, SHA512_CTX, SHA384_Init, SHA384_Update, SHA384_Final);
KIND(sha512, SHA512_CTX, SHA512_Init, SHA512_Update, SHA512_Final);

static const struct kind kinds[] = {
    [CAS_MD5] = {16, md5_init, md5_add, md5_end},          [CAS_SHA1] = {20, sha1_init, sha1_add, sha1_end},
    [CAS_SHA224] = {28, sha224_init, sha224_add, sha224_end}, [CAS_SHA256] = {32, sha256_init, sha256_add, sha256_end},
    [CAS_SHA384] = {48, sha384_init, sha384_add, sha384_end}, [CAS_SHA512] = {64, sha512_init, sha512_add, sha512_end},
};

size_t cas_digest_size(enum cas_digest_kind kind)
{
    return kinds[kind].size;
}

void cas_digest_init(struct cas_digest *d, enum cas_digest_kind kind)
{
    d->kind = kind;
    kinds[kind].init(d->state);
}

void cas_digest_add(struct cas_digest *d, const void *p, size_t n)
{
    kinds[d->kind].add(d->state, p, n);
}

void cas_digest_end(struct cas_digest *d, uint8_t ret[CAS_DIGEST_MAX])
{
    kinds[d->kind].end(ret, d->state);
}
