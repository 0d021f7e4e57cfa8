/* SPDX-License-Identifier: Apache-2.0 */

/* string.h's functions beside loops of one byte: all lengths up to some vectors, all places in a vector, overlaps, and at
 * the end of a page with nothing behind it. */
#include "tap.h"

#include <stdint.h>
#include <sys/mman.h>

enum { N = 96, LONG = 3000 };

static unsigned char a[LONG + 64], b[LONG + 64], want[LONG + 64];
/* Calls that no compiler may replace. */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
static void *(*volatile move)(void *, const void *, size_t) = memmove;
static void *(*volatile set)(void *, int, size_t) = memset;
static int (*volatile compare)(const void *, const void *, size_t) = memcmp;
static int (*volatile scompare)(const char *, const char *) = strcmp;
static void *(*volatile find)(const void *, int, size_t) = memchr;
static void *(*volatile rfind)(const void *, int, size_t) = memrchr;
static size_t (*volatile len)(const char *) = strlen;
static size_t (*volatile nlen)(const char *, size_t) = strnlen;
static char *(*volatile schr)(const char *, int) = strchr;
static char *(*volatile schrnul)(const char *, int) = strchrnul;

static void fill(unsigned char *p, size_t n, unsigned seed)
{
    while (n-- > 0)
        *p++ = (unsigned char)(seed = seed * 1103515245 + 12345, seed >> 16);
}

static int same(const unsigned char *x, const unsigned char *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            return 0;
    return 1;
}

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

static int copies(size_t n, size_t from, size_t to)
{
    fill(a, sizeof(a), 1);
    fill(b, sizeof(b), 2);
    for (size_t i = 0; i < sizeof(want); i++)
        want[i] = i >= to && i < to + n ? a[from + i - to] : b[i];
    return copy(b + to, a + from, n) == b + to && same(b, want, sizeof(b));
}

static int moves(size_t n, size_t from, size_t to)
{
    fill(a, sizeof(a), 3);
    fill(b, sizeof(b), 3);
    for (size_t i = 0; i < sizeof(want); i++)
        want[i] = i >= to && i < to + n ? b[from + i - to] : b[i];
    return move(a + to, a + from, n) == a + to && same(a, want, sizeof(a));
}

static int sets(size_t n, size_t at)
{
    fill(a, sizeof(a), 4);
    for (size_t i = 0; i < sizeof(want); i++)
        want[i] = i >= at && i < at + n ? 0xfe : a[i];
    return set(a + at, 0xfe, n) == a + at && same(a, want, sizeof(a));
}

/* Two strings of @n bytes that differ at @at, with bytes on both sides of 128. */
static int compares(size_t n, size_t x, size_t y, size_t at)
{
    unsigned char *p = a + x, *q = b + y;

    for (size_t i = 0; i < n; i++)
        p[i] = q[i] = (unsigned char)(i * 37 | 1);
    p[n] = q[n] = 0;
    if (compare(p, q, n) != 0 || scompare((char *)p, (char *)q) != 0)
        return 0;
    p[at] = 0x7f;
    q[at] = 0x80;
    if (sign(compare(p, q, n)) != -1 || sign(compare(q, p, n)) != 1 || compare(p, q, at) != 0)
        return 0;
    if (sign(scompare((char *)p, (char *)q)) != -1 || sign(scompare((char *)q, (char *)p)) != 1)
        return 0;
    p[at] = 0;
    return sign(scompare((char *)p, (char *)q)) == -1;
}

/* One byte among others, with the same byte before and behind what is asked for. */
static int finds(unsigned char *p, size_t n, size_t at)
{
    for (size_t i = 0; i < n; i++)
        p[i] = 'x';
    p[-1] = '!';
    p[at] = '!';
    if (find(p, '!', n) != p + at || rfind(p, '!', n) != p + at || find(p, '!', at) || rfind(p + at + 1, '!', n - at - 1))
        return 0;
    p[n - 1] = 0;
    if (len((char *)p) != n - 1 || nlen((char *)p, n + 100) != n - 1 || nlen((char *)p, at) != at)
        return 0;
    if (at == n - 1)
        return schr((char *)p, '!') == NULL && schrnul((char *)p, '!') == (char *)p + at && find(p, 0, n) == p + at;
    return schr((char *)p, '!') == (char *)p + at && schrnul((char *)p, '?') == (char *)p + n - 1 &&
           schr((char *)p, 0) == (char *)p + n - 1 && find(p, '!', SIZE_MAX) == p + at;
}

int main(void)
{
    static const size_t long_ones[] = {255, 256, 511, 512, 513, 1000, LONG};
    int good = 1;
    unsigned char *last;

    for (size_t n = 0; n <= N; n++)
        for (size_t x = 0; x < 17; x++)
            good &= copies(n, x, 5) && copies(n, 3, x) && moves(n, x, 8) && moves(n, 8, x) && sets(n, x);
    for (size_t i = 0; i < sizeof(long_ones) / sizeof(long_ones[0]); i++)
        good &= copies(long_ones[i], 1, 2) && moves(long_ones[i], 1, 2) && moves(long_ones[i], 9, 2) && sets(long_ones[i], 3);
    ok(good, "memcpy, memmove, memset");

    good = 1;
    for (size_t n = 1; n <= N; n++)
        for (size_t x = 0; x < 17; x++)
            good &= compares(n, x, 0, n - 1) && compares(n, 0, x, n / 2) && compares(n, x, x, 0);
    ok(good, "memcmp, strcmp");

    good = 1;
    for (size_t n = 1; n <= N; n++)
        for (size_t x = 1; x < 18; x++)
            good &= finds(a + x, n, n - 1) && finds(a + x, n, n / 2) && finds(a + x, n, 0);
    ok(good, "memchr, memrchr, strlen, strnlen, strchr, strchrnul");

    /* A page that nothing follows: the last of a program's memory, as its heap grows, or a page before one without rights. */
#ifdef __wasm__
    last = (unsigned char *)(__builtin_wasm_memory_grow(0, 1) << 16) + 65536;
    ok(last == (unsigned char *)(__builtin_wasm_memory_size(0) << 16), "memory has grown by a page");
#else
    last = (unsigned char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096;
    ok(mprotect(last, 4096, PROT_NONE) == 0, "a page without rights");
#endif
    good = 1;
    for (size_t n = 1; n <= 40; n++) {
        good &= finds(last - n, n, n - 1) && finds(last - n, n, 0);
        for (size_t i = 0; i < n; i++)
            last[i - n] = a[i + 7] = i + 1 < n ? 'k' : 0;
        good &= scompare((char *)last - n, (char *)a + 7) == 0 && scompare((char *)a + 7, (char *)last - n) == 0;
        good &= compare(last - n, a + 7, n) == 0 && copy(b, last - n, n) == b && scompare((char *)b, (char *)last - n) == 0;
    }
    ok(good, "at the end of memory");
    return done_testing();
}
