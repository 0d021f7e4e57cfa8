/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* num - arithmetic on numbers that a guest or a peer chose. Each returns false when the result does not fit. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* *ret = a + b, or false. */
static inline bool num_add(size_t a, size_t b, size_t *ret)
{
    return !__builtin_add_overflow(a, b, ret);
}

/* *ret = a * b, or false. */
static inline bool num_mul(size_t a, size_t b, size_t *ret)
{
    return !__builtin_mul_overflow(a, b, ret);
}

/* *ret = a + b over 64 bits, or false. */
static inline bool num_add64(uint64_t a, uint64_t b, uint64_t *ret)
{
    return !__builtin_add_overflow(a, b, ret);
}

/* *ret = a * b over 64 bits, or false. */
static inline bool num_mul64(uint64_t a, uint64_t b, uint64_t *ret)
{
    return !__builtin_mul_overflow(a, b, ret);
}

#define NUM_MIN(a, b) ((a) < (b) ? (a) : (b))
#define NUM_MAX(a, b) ((a) > (b) ? (a) : (b))
