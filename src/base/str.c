/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <errno.h>

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int r = n ? memcmp(a.p, b.p, n) : 0;
    if (r)
        return r;
    return (a.n > b.n) - (a.n < b.n);
}

ptrdiff_t str_find(struct str s, char c, size_t from)
{
    if (from >= s.n)
        return -1;
    const char *p = memchr(s.p + from, c, s.n - from);
    return p ? p - s.p : -1;
}

/* The folded 64x64 -> 128 bit product: one multiplication mixes every bit of both words. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 r = (unsigned __int128)a * b;
    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

static inline uint64_t load64(const char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

static inline uint64_t load32(const char *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

#define K0 UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */
#define K1 UINT64_C(0xd6e8feb86659fd93) /* odd, half of its bits set */

uint64_t str_hash(struct str s, uint64_t seed)
{
    const char *p = s.p;
    size_t n = s.n;
    uint64_t h = seed ^ mix(seed ^ K0, (uint64_t)n ^ K1);
    uint64_t a = 0, b = 0;
    while (n > 16) {
        h = mix(load64(p) ^ h, load64(p + 8) ^ K1);
        p += 16;
        n -= 16;
    }
    /* The tail is read as two words that may overlap: no loop over bytes. */
    if (n >= 8) {
        a = load64(p);
        b = load64(p + n - 8);
    } else if (n >= 4) {
        a = load32(p);
        b = load32(p + n - 4);
    } else if (n) {
        a = (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[n >> 1] << 8 | (uint8_t)p[n - 1];
    }
    return mix(a ^ h ^ K0, mix(b ^ K1, h ^ K0) ^ K1);
}

int str_u64(struct str s, uint64_t *ret)
{
    uint64_t v = 0;
    bool over = false;
    if (s.n == 0)
        return -EINVAL;
    for (size_t i = 0; i < s.n; i++) {
        unsigned d = (unsigned)(uint8_t)s.p[i] - '0';
        if (d > 9)
            return -EINVAL;
        /* Goes on after an overflow: "99999999999999999999x" is no number at all. */
        over = over || __builtin_mul_overflow(v, UINT64_C(10), &v) || __builtin_add_overflow(v, d, &v);
    }
    if (over)
        return -ERANGE;
    *ret = v;
    return 0;
}

int str_i64(struct str s, int64_t *ret)
{
    uint64_t v;
    bool neg = s.n && s.p[0] == '-';
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_from(s, 1);
    int r = str_u64(s, &v);
    if (r < 0)
        return r;
    if (v > (uint64_t)INT64_MAX + neg)
        return -ERANGE;
    *ret = neg ? (int64_t)(0 - v) : (int64_t)v;
    return 0;
}
