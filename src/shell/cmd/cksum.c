/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* cksum (the CRC of POSIX) and sum (BSD's and System V's). */

static const struct cmd_opt cksum_opts[] = {
    {'a', "algorithm", CMD_ARG | CMD_REFUSED},
    {'b', "binary", CMD_NO_ARG | CMD_REFUSED},
    {'c', "check", CMD_NO_ARG | CMD_REFUSED},
    {256, "debug", CMD_NO_ARG | CMD_REFUSED},
    {257, "ignore-missing", CMD_NO_ARG | CMD_REFUSED},
    {'l', "length", CMD_ARG | CMD_REFUSED},
    {258, "quiet", CMD_NO_ARG | CMD_REFUSED},
    {259, "status", CMD_NO_ARG | CMD_REFUSED},
    {260, "strict", CMD_NO_ARG | CMD_REFUSED},
    {261, "tag", CMD_NO_ARG | CMD_REFUSED},
    {'t', "text", CMD_NO_ARG | CMD_REFUSED},
    {262, "untagged", CMD_NO_ARG | CMD_REFUSED},
    {'w', "warn", CMD_NO_ARG | CMD_REFUSED},
    {'z', "zero", CMD_NO_ARG | CMD_REFUSED},
    {0},
};

static const struct cmd_opt sum_opts[] = {
    {'r', NULL, CMD_NO_ARG},
    {'s', "sysv", CMD_NO_ARG},
    {0},
};

struct cksum {
    struct cmd *c;
    enum kind { CRC, BSD, SYSV } kind;
    /* crc[k][b]: what byte b, with k zero bytes behind it, does to the remainder */
    uint32_t crc[8][256];
    bool folds;                        /* the processor multiplies without carry */
    uint32_t far_by_4[2], far_by_1[2]; /* what fold() takes for 64 and for 16 bytes */
};

#define POLYNOMIAL 0x04c11db7u

/* x to the power @n, modulo the polynomial. */
static uint32_t power(unsigned n)
{
    uint32_t v = 1;
    while (n-- > 0)
        v = v << 1 ^ (v >> 31 ? POLYNOMIAL : 0);
    return v;
}

static void make_table(struct cksum *k)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t v = b << 24;
        for (int i = 0; i < 8; i++)
            v = v << 1 ^ (v >> 31 ? POLYNOMIAL : 0);
        k->crc[0][b] = v;
    }
    for (int n = 1; n < 8; n++)
        for (int b = 0; b < 256; b++)
            k->crc[n][b] = k->crc[n - 1][b] << 8 ^ k->crc[0][k->crc[n - 1][b] >> 24];
    for (unsigned half = 0; half < 2; half++) {
        k->far_by_4[half] = power(512 + 64 * half);
        k->far_by_1[half] = power(128 + 64 * half);
    }
#if defined(__x86_64__)
    k->folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3");
#endif
}

#if defined(__x86_64__)
#define FOLDING __attribute__((target("pclmul,ssse3")))

/* 16 bytes of the text as a polynomial, the first byte on top. */
FOLDING static __m128i load(const uint8_t *p)
{
    const __m128i turn = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), turn);
}

/* What @acc comes to some bytes further on, where @next lies: each half times x to the power of its distance, which has
 * the same remainder and is again of 128 bits. */
FOLDING static __m128i fold(__m128i acc, __m128i by, __m128i next)
{
    return _mm_xor_si128(next, _mm_xor_si128(_mm_clmulepi64_si128(acc, by, 0x00), _mm_clmulepi64_si128(acc, by, 0x11)));
}

/* Folding of Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ" (Intel, 2009): takes the
 * whole 16-byte pieces of @n bytes (64 at least), puts what is left of them into @last, of the same remainder as all
 * that went before, and returns how many bytes it took. */
FOLDING static size_t fold_all(const struct cksum *k, uint32_t v, const uint8_t *p, size_t n, uint8_t last[16])
{
    const __m128i by_4 = _mm_set_epi64x(k->far_by_4[1], k->far_by_4[0]);
    const __m128i by_1 = _mm_set_epi64x(k->far_by_1[1], k->far_by_1[0]);
    __m128i acc[4];
    size_t at = 64;
    for (size_t i = 0; i < 4; i++)
        acc[i] = load(p + 16 * i);
    acc[0] = _mm_xor_si128(acc[0], _mm_set_epi32((int)v, 0, 0, 0));
    for (; n - at >= 64; at += 64)
        for (size_t i = 0; i < 4; i++)
            acc[i] = fold(acc[i], by_4, load(p + at + 16 * i));
    for (size_t i = 1; i < 4; i++)
        acc[0] = fold(acc[0], by_1, acc[i]);
    for (; n - at >= 16; at += 16)
        acc[0] = fold(acc[0], by_1, load(p + at));
    uint8_t turned[16];
    _mm_storeu_si128((__m128i *)(void *)turned, acc[0]);
    for (size_t i = 0; i < 16; i++)
        last[i] = turned[15 - i];
    return at;
}
#else
static size_t fold_all(const struct cksum *k, uint32_t v, const uint8_t *p, size_t n, uint8_t last[16])
{
    (void)k, (void)v, (void)p, (void)n, (void)last;
    return 0;
}
#endif

static uint32_t add_crc(const struct cksum *k, uint32_t v, const uint8_t *p, size_t n)
{
    if (k->folds && n >= 64) {
        uint8_t last[16];
        size_t took = fold_all(k, v, p, n, last);
        v = add_crc(k, 0, last, sizeof last);
        p += took;
        n -= took;
    }
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t w = v ^ ((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]);
        v = k->crc[7][w >> 24] ^ k->crc[6][w >> 16 & 255] ^ k->crc[5][w >> 8 & 255] ^ k->crc[4][w & 255] ^
            k->crc[3][p[4]] ^ k->crc[2][p[5]] ^ k->crc[1][p[6]] ^ k->crc[0][p[7]];
    }
    for (; n > 0; n--)
        v = v << 8 ^ k->crc[0][(v >> 24 ^ *p++) & 255];
    return v;
}

static uint32_t add_bsd(uint32_t v, const uint8_t *p, size_t n)
{
    for (; n > 0; n--)
        v = ((v >> 1 | v << 15) + *p++) & 0xffff;
    return v;
}

static uint32_t add_sysv(uint32_t v, const uint8_t *p, size_t n)
{
    for (; n > 0; n--)
        v += *p++;
    return v;
}

static int sum_fd(struct cksum *k, int fd, uint32_t *ret, uint64_t *ret_bytes)
{
    const void *p;
    size_t n;
    int r;
    while ((r = cmd_poll(k->c)) == 0 && (r = proc_peek(k->c->p, fd, &p, &n)) == 0 && n > 0) {
        *ret = k->kind == CRC ? add_crc(k, *ret, p, n) : k->kind == BSD ? add_bsd(*ret, p, n) : add_sysv(*ret, p, n);
        *ret_bytes += n;
        proc_consume(k->c->p, fd, n);
    }
    return r;
}

/* What ends the sum: of the CRC, the number of bytes is part of it. */
static uint32_t finish(const struct cksum *k, uint32_t v, uint64_t bytes)
{
    if (k->kind == CRC) {
        for (; bytes > 0; bytes >>= 8) {
            uint8_t b = (uint8_t)bytes;
            v = add_crc(k, v, &b, 1);
        }
        return ~v;
    }
    if (k->kind == SYSV) {
        v = (v & 0xffff) + (v >> 16);
        v = (v & 0xffff) + (v >> 16);
    }
    return v;
}

/* @name NULL: standard input, without a name. */
static int one(struct cksum *k, const char *name)
{
    struct cmd *c = k->c;
    uint32_t v = 0;
    uint64_t bytes = 0;
    int fd = cmd_open_input(c, name ? name : "-"), r = fd;
    if (fd >= 0) {
        r = sum_fd(k, fd, &v, &bytes);
        cmd_close_input(c, fd);
        if (r == -EISDIR && k->kind == CRC) /* the real cksum takes one for an empty file */
            r = 0;
    }
    if (r < 0) {
        cmd_errno(c, r, "%s", cmd_quote(c, name ? name : "-", false));
        return 1;
    }
    v = finish(k, v, bytes);
    if (k->kind == CRC)
        cmd_printf(c, "%u %llu", v, (unsigned long long)bytes);
    else if (k->kind == BSD)
        cmd_printf(c, "%05u %5llu", v, (unsigned long long)(bytes / 1024 + (bytes % 1024 > 0)));
    else
        cmd_printf(c, "%u %llu", v, (unsigned long long)(bytes / 512 + (bytes % 512 > 0)));
    if (name) {
        cmd_putc(c, ' ');
        cmd_puts(c, name);
    }
    cmd_putc(c, '\n');
    return 0;
}

static int cksum_main(struct cmd *c)
{
    struct cksum *k = arena_alloc(c->arena, sizeof *k);
    bool crc = strcmp(c->def->name, "cksum") == 0;
    *k = (struct cksum){.c = c, .kind = crc ? CRC : BSD};
    for (int o; (o = cmd_getopt(c, crc ? cksum_opts : sum_opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        k->kind = o == 's' ? SYSV : BSD;
    }
    if (crc)
        make_table(k);
    int status = 0;
    if (c->optind == c->argc)
        status = one(k, NULL);
    for (int i = c->optind; i < c->argc && c->out_err == 0 && !c->p->must_end; i++)
        status |= one(k, c->argv[i]);
    return status;
}

CMD(cksum, cksum_main, 1, "Usage: cksum [FILE]...\n",
    "Prints the CRC and the number of bytes of each FILE (or standard input).\n");
CMD(sum, cksum_main, 1, "Usage: sum [OPTION]... [FILE]...\n",
    "Prints a checksum and the number of blocks of each FILE (or standard input).\n"
    "  -r          BSD's, in blocks of 1 KiB: the default\n"
    "  -s, --sysv  System V's, in blocks of 512 bytes\n");
