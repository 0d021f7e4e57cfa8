/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* varint - LEB128: seven bits a byte, low ones first, as many bytes as the number needs. */

#include <stdint.h>

#define VARINT_MOST 10u /* bytes of 64 bits */

/* Writes @v at @to, where VARINT_MOST bytes have room; where it ends. */
static inline uint8_t *varint_put(uint8_t *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (uint8_t)(v | 0x80);
    *to++ = (uint8_t)v;
    return to;
}

/* Signed numbers near zero as small unsigned ones, and back. */
static inline uint64_t varint_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

/* See varint_zigzag(). */
static inline int64_t varint_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}
