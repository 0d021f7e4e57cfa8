/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/test/test.h"
#include "cas/cas.h"
#include "cas/digest.h"

static void check_hex(const char *text, size_t n, const char *want)
{
    struct cas_hash h;
    uint8_t d[CAS_HASH_SIZE];
    char hex[2 * CAS_HASH_SIZE + 1];
    cas_hash_init(&h);
    for (size_t i = 0; i < n; i++)
        cas_hash_add(&h, text + i, 1);
    cas_hash_end(&h, d);
    for (size_t i = 0; i < sizeof(d); i++)
        snprintf(hex + 2 * i, 3, "%02x", d[i]);
    CHECK_C(hex, want);
}

/* FIPS 180-4 examples. */
TEST(known_answers)
{
    check_hex("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_hex("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void check_digest(enum cas_digest_kind kind, const char *want)
{
    struct cas_digest d;
    uint8_t out[CAS_DIGEST_MAX];
    char hex[2 * CAS_DIGEST_MAX + 1];
    cas_digest_init(&d, kind);
    cas_digest_add(&d, "a", 1);
    cas_digest_add(&d, "bc", 2);
    cas_digest_end(&d, out);
    for (size_t i = 0; i < cas_digest_size(kind); i++)
        snprintf(hex + 2 * i, 3, "%02x", out[i]);
    CHECK_C(hex, want);
}

/* "abc": RFC 1321 A.5, FIPS 180-4 examples. */
TEST(digests_of_abc)
{
    check_digest(CAS_MD5, "900150983cd24fb0d6963f7d28e17f72");
    check_digest(CAS_SHA1, "a9993e364706816aba3e25717850c26c9cd0d89d");
    check_digest(CAS_SHA224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7");
    check_digest(CAS_SHA256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_digest(CAS_SHA384, "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded163"
                             "1a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7");
    check_digest(CAS_SHA512, "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                             "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}
