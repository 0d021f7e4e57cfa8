/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions of string.h that programs spend their time in. wasi-libc's go byte by byte; these take 16 at a time. A vector
 * may be read where the bytes that are asked for do not reach, but never beyond the 64 KiB page that holds one of them:
 * memory ends with a whole page.
 */
#include <stdint.h>
#include <string.h>
#include <wasm_simd128.h>

#define PAGE 65536u
#define WIDE sizeof(v128_t)
/* From here on the engine's own copy, which is a call of the host's, is faster than a loop. */
#define LONG_COPY 512u

static uint32_t equal(v128_t a, v128_t b)
{
    return wasm_i8x16_bitmask(wasm_i8x16_eq(a, b));
}

/* The bytes of the vector below @p's 16 byte boundary which are equal to @c, less those before @p: bit i is p[i]. */
static uint32_t first_part(const unsigned char *p, v128_t c)
{
    unsigned off = (uintptr_t)p % WIDE;

    return equal(wasm_v128_load(p - off), c) >> off;
}

static uint64_t big_endian(const unsigned char *p)
{
    uint64_t v;

    __builtin_memcpy(&v, p, sizeof(v));
    return __builtin_bswap64(v);
}

int memcmp(const void *va, const void *vb, size_t n)
{
    const unsigned char *a = va, *b = vb;

    for (; n >= 8; n -= 8, a += 8, b += 8) {
        uint64_t x = big_endian(a), y = big_endian(b);

        if (x != y)
            return x < y ? -1 : 1;
    }
    for (; n > 0; n--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}

void *memchr(const void *s, int c, size_t n)
{
    const unsigned char *p = s, *end = n > UINTPTR_MAX - (uintptr_t)p ? (const unsigned char *)UINTPTR_MAX : p + n;
    v128_t want = wasm_i8x16_splat((int8_t)c);
    uint32_t found;

    if (n == 0)
        return NULL;
    found = first_part(p, want);
    if (found == 0) {
        p = (const unsigned char *)(((uintptr_t)p | (WIDE - 1)) + 1);
        /* At the end of a memory of 4 GiB the address after it is 0. */
        for (; p != NULL && p < end; p += WIDE)
            if ((found = equal(wasm_v128_load(p), want)) != 0)
                break;
        if (found == 0)
            return NULL;
    }
    p += __builtin_ctz(found);
    return p < end ? (void *)p : NULL;
}

void *memrchr(const void *s, int c, size_t n)
{
    const unsigned char *p = s;
    v128_t want = wasm_i8x16_splat((int8_t)c);

    for (; n >= WIDE; n -= WIDE) {
        uint32_t found = equal(wasm_v128_load(p + n - WIDE), want);

        if (found != 0)
            return (void *)(p + n - WIDE + 31 - __builtin_clz(found));
    }
    while (n-- > 0)
        if (p[n] == (unsigned char)c)
            return (void *)(p + n);
    return NULL;
}

/* Where @c is, which must be somewhere. */
static const unsigned char *find(const void *s, int c)
{
    const unsigned char *p = s;
    v128_t want = wasm_i8x16_splat((int8_t)c);
    uint32_t found = first_part(p, want);

    if (found == 0) {
        p -= (uintptr_t)p % WIDE;
        do {
            p += WIDE;
            found = equal(wasm_v128_load(p), want);
        } while (found == 0);
    }
    return p + __builtin_ctz(found);
}

size_t strlen(const char *s)
{
    return (size_t)(find(s, 0) - (const unsigned char *)s);
}

size_t strnlen(const char *s, size_t n)
{
    const char *end = memchr(s, 0, n);

    return end != NULL ? (size_t)(end - s) : n;
}

char *strchrnul(const char *s, int c)
{
    const unsigned char *p = (const unsigned char *)s;
    v128_t want = wasm_i8x16_splat((int8_t)c), zero = wasm_i8x16_const_splat(0);
    uint32_t found = first_part(p, want) | first_part(p, zero);

    if (found == 0) {
        p -= (uintptr_t)p % WIDE;
        do {
            v128_t v = wasm_v128_load(p += WIDE);

            found = equal(v, want) | equal(v, zero);
        } while (found == 0);
    }
    return (char *)(p + __builtin_ctz(found));
}

char *strchr(const char *s, int c)
{
    char *p = strchrnul(s, c);

    return *p == (char)c ? p : NULL;
}

int strcmp(const char *sa, const char *sb)
{
    const unsigned char *a = (const unsigned char *)sa, *b = (const unsigned char *)sb;

    for (;;) {
        /* Neither vector crosses into a page that may not be there. */
        while ((uintptr_t)a % PAGE <= PAGE - WIDE && (uintptr_t)b % PAGE <= PAGE - WIDE) {
            v128_t x = wasm_v128_load(a), y = wasm_v128_load(b);
            uint32_t stop = (equal(x, y) ^ 0xffff) | equal(x, wasm_i8x16_const_splat(0));

            if (stop != 0)
                return a[__builtin_ctz(stop)] - b[__builtin_ctz(stop)];
            a += WIDE;
            b += WIDE;
        }
        if (*a != *b || *a == 0)
            return *a - *b;
        a++;
        b++;
    }
}

/* Up to 16 bytes, all read before any is written, so that they may overlap. */
static void copy_short(unsigned char *d, const unsigned char *s, size_t n)
{
    if (n >= 8) {
        uint64_t x, y;

        __builtin_memcpy(&x, s, 8);
        __builtin_memcpy(&y, s + n - 8, 8);
        __builtin_memcpy(d, &x, 8);
        __builtin_memcpy(d + n - 8, &y, 8);
    } else if (n >= 4) {
        uint32_t x, y;

        __builtin_memcpy(&x, s, 4);
        __builtin_memcpy(&y, s + n - 4, 4);
        __builtin_memcpy(d, &x, 4);
        __builtin_memcpy(d + n - 4, &y, 4);
    } else if (n > 0) {
        unsigned char x = s[0], y = s[n / 2], z = s[n - 1];

        d[0] = x;
        d[n / 2] = y;
        d[n - 1] = z;
    }
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    unsigned char *d = to;
    const unsigned char *s = from;

    if (n <= WIDE) {
        copy_short(d, s, n);
    } else if (n >= LONG_COPY) {
        __builtin_memcpy(d, s, n); /* memory.copy */
    } else {
        v128_t last = wasm_v128_load(s + n - WIDE);
        unsigned char *end = d + n - WIDE;

        for (; d < end; d += WIDE, s += WIDE)
            wasm_v128_store(d, wasm_v128_load(s));
        wasm_v128_store(end, last);
    }
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    unsigned char *d = to;
    const unsigned char *s = from;

    if (n <= WIDE) {
        copy_short(d, s, n);
    } else if (n >= LONG_COPY) {
        __builtin_memmove(d, s, n); /* memory.copy */
    } else if ((uintptr_t)d - (uintptr_t)s >= n) {
        v128_t last = wasm_v128_load(s + n - WIDE);
        unsigned char *end = d + n - WIDE;

        for (; d < end; d += WIDE, s += WIDE)
            wasm_v128_store(d, wasm_v128_load(s));
        wasm_v128_store(end, last);
    } else {
        v128_t first = wasm_v128_load(s);

        for (; n > WIDE; n -= WIDE)
            wasm_v128_store(d + n - WIDE, wasm_v128_load(s + n - WIDE));
        wasm_v128_store(d, first);
    }
    return to;
}

void *memset(void *to, int c, size_t n)
{
    unsigned char *d = to;
    v128_t v = wasm_i8x16_splat((int8_t)c);

    if (n < WIDE) {
        while (n-- > 0)
            *d++ = (unsigned char)c;
    } else if (n >= LONG_COPY) {
        __builtin_memset(d, c, n); /* memory.fill */
    } else {
        unsigned char *end = d + n - WIDE;

        for (; d < end; d += WIDE)
            wasm_v128_store(d, v);
        wasm_v128_store(end, v);
    }
    return to;
}
