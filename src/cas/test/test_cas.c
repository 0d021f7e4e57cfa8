/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/test/test.h"
#include "cas/cas.h"

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
