/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"

/* base64 and base32 (RFC 4648): bytes as groups of characters, and back. */

static const struct cmd_opt opts[] = {
    {'d', "decode", CMD_NO_ARG},
    {'i', "ignore-garbage", CMD_NO_ARG},
    {'w', "wrap", CMD_ARG},
    {0},
};

/* Of a group: @bytes become @chars of @bits each. */
static const struct code {
    const char *command, *alphabet;
    unsigned bytes, chars, bits;
} codes[] = {
    {"base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 3, 4, 6},
    {"base32", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5, 8, 5},
};

struct base {
    struct cmd *c;
    const struct code *code;
    bool ignore;
    uint64_t wrap, column;
    char pairs[4096][2]; /* of the bits of two characters */
    uint8_t value[256];  /* of a character; NO_VALUE */
    char group[8];       /* of decoding: what is there of one */
    unsigned in_group;
};

#define NO_VALUE 255

/* ---- encoding ---- */

/* Prints characters in lines. */
static void put_wrapped(struct base *b, const char *p, size_t n)
{
    if (b->wrap == 0) {
        cmd_write(b->c, p, n);
        return;
    }
    while (n > 0 && b->c->out_err == 0) {
        size_t part = (size_t)NUM_MIN((uint64_t)n, b->wrap - b->column);
        cmd_write(b->c, p, part);
        p += part;
        n -= part;
        b->column += part;
        if (b->column == b->wrap) {
            cmd_putc(b->c, '\n');
            b->column = 0;
        }
    }
}

/* Whole groups; returns the end of what was written. */
static char *encode_groups(const struct base *b, const uint8_t *p, size_t groups, char *to)
{
    if (b->code->bytes == 3) {
        for (; groups > 0; groups--, p += 3, to += 4) {
            unsigned v = (unsigned)p[0] << 16 | (unsigned)p[1] << 8 | p[2];
            memcpy(to, b->pairs[v >> 12], 2);
            memcpy(to + 2, b->pairs[v & 4095], 2);
        }
        return to;
    }
    for (; groups > 0; groups--, p += 5, to += 8) {
        uint64_t v = (uint64_t)p[0] << 32 | (uint64_t)p[1] << 24 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 8 | p[4];
        for (unsigned i = 0; i < 4; i++)
            memcpy(to + 2 * i, b->pairs[v >> (30 - 10 * i) & 1023], 2);
    }
    return to;
}

/* The last group, which lacks bytes. */
static void encode_last(struct base *b, const uint8_t *p, size_t n)
{
    uint8_t in[5] = {0};
    char out[8];
    if (n == 0)
        return;
    memcpy(in, p, n);
    encode_groups(b, in, 1, out);
    for (size_t i = (n * 8 + b->code->bits - 1) / b->code->bits; i < b->code->chars; i++)
        out[i] = '=';
    put_wrapped(b, out, b->code->chars);
}

#define IN_BYTES 30720u /* a multiple of both groups */

static int encode(struct base *b, int fd, char *in, char *out)
{
    size_t have = 0;
    for (;;) {
        ssize_t n = cmd_poll(b->c) < 0 ? -EINTR : proc_read(b->c->p, fd, in + have, IN_BYTES - have);
        if (n < 0)
            return (int)n;
        have += (size_t)n;
        size_t groups = have / b->code->bytes, used = groups * b->code->bytes;
        put_wrapped(b, out, (size_t)(encode_groups(b, (uint8_t *)in, groups, out) - out));
        have -= used;
        memmove(in, in + used, have);
        if (b->c->out_err != 0)
            return 0;
        if (n == 0)
            break;
    }
    encode_last(b, (uint8_t *)in, have);
    if (b->wrap > 0 && b->column > 0)
        cmd_putc(b->c, '\n');
    return 0;
}

/* ---- decoding ---- */

/* Decodes a group of which @n characters are there, to @to. Returns whether it is a whole and right one; *ret_n tells
 * how many bytes there are all the same. */
static bool decode_group(const struct base *b, const char *g, unsigned n, char *to, size_t *ret_n)
{
    const struct code *k = b->code;
    uint64_t v = 0;
    unsigned have = 0;
    while (have < n && b->value[(unsigned char)g[have]] != NO_VALUE)
        v = v << k->bits | b->value[(unsigned char)g[have++]];
    bool padded = have < n;
    for (unsigned i = have; i < n; i++)
        padded &= g[i] == '=';
    /* Characters that carry a byte's last bits: 2 3 4 of base64, 2 4 5 7 8 of base32. */
    unsigned bytes = have * k->bits / 8;
    bool fits = padded && bytes > 0 && (bytes * 8 + k->bits - 1) / k->bits == have;
    bool full = n == k->chars && (have == k->chars || fits);
    *ret_n = 0;
    if (k->bytes == 5 && n != k->chars)
        return false;
    v <<= (k->chars - have) * k->bits;
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (char)(v >> 8 * (k->bytes - 1 - i));
    *ret_n = bytes;
    return full;
}

/* Whole groups of characters of the alphabet alone, at once: returns how many characters were taken. */
static size_t decode_plain(const struct base *b, const char *p, size_t n, char **to)
{
    const uint8_t *value = b->value;
    const char *start = p;
    char *out = *to;
    for (; b->code->chars == 4 && n >= 4; n -= 4, p += 4) {
        unsigned a = value[(unsigned char)p[0]], c = value[(unsigned char)p[1]], d = value[(unsigned char)p[2]],
                 e = value[(unsigned char)p[3]];
        if ((a | c | d | e) > 63)
            break;
        unsigned v = a << 18 | c << 12 | d << 6 | e;
        *out++ = (char)(v >> 16);
        *out++ = (char)(v >> 8);
        *out++ = (char)v;
    }
    *to = out;
    return (size_t)(p - start);
}

/* False: the input is not what it should be; what came before is printed. */
static bool decode_block(struct base *b, const char *p, size_t n, char *out)
{
    char *to = out;
    bool ok = true;
    for (const char *end = p + n; p < end && ok;) {
        if (b->in_group == 0)
            p += decode_plain(b, p, (size_t)(end - p), &to);
        if (p == end)
            break;
        char ch = *p++;
        if (ch == '\n' || (b->ignore && ch != '=' && b->value[(unsigned char)ch] == NO_VALUE))
            continue;
        b->group[b->in_group++] = ch;
        if (b->in_group < b->code->chars)
            continue;
        size_t got;
        ok = decode_group(b, b->group, b->in_group, to, &got);
        to += got;
        b->in_group = 0;
    }
    cmd_write(b->c, out, (size_t)(to - out));
    return ok;
}

static int decode(struct base *b, int fd, char *in, char *out)
{
    struct cmd *c = b->c;
    ssize_t n;
    bool ok = true;
    while ((n = cmd_poll(c) < 0 ? -EINTR : proc_read(c->p, fd, in, IN_BYTES)) > 0 && ok && c->out_err == 0)
        ok = decode_block(b, in, (size_t)n, out);
    if (n < 0)
        return (int)n;
    if (ok && b->in_group > 0 && c->out_err == 0) {
        size_t got;
        ok = decode_group(b, b->group, b->in_group, out, &got);
        cmd_write(c, out, got);
    }
    if (ok)
        return 0;
    cmd_err(c, "invalid input");
    return 1;
}

/* ---- the command ---- */

static void tables(struct base *b)
{
    const char *alphabet = b->code->alphabet;
    memset(b->value, NO_VALUE, sizeof b->value);
    for (int i = 0; alphabet[i]; i++)
        b->value[(unsigned char)alphabet[i]] = (uint8_t)i;
    unsigned bits = b->code->bits;
    for (unsigned i = 0; i < 1u << 2 * bits; i++) {
        b->pairs[i][0] = alphabet[i >> bits];
        b->pairs[i][1] = alphabet[i & ((1u << bits) - 1)];
    }
}

static int one(struct base *b, const char *name, bool back)
{
    struct cmd *c = b->c;
    int fd = cmd_open_input(c, name);
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote(c, name, false));
        return 1;
    }
    char *in = cmd_block_get(), *out = cmd_block_get();
    int r = back ? decode(b, fd, in, out) : encode(b, fd, in, out);
    cmd_block_put(out);
    cmd_block_put(in);
    cmd_close_input(c, fd);
    if (r < 0)
        cmd_errno(c, r, "read error");
    return r != 0;
}

static int base_main(struct cmd *c)
{
    struct base *b = arena_alloc(c->arena, sizeof *b);
    bool back = false;
    *b = (struct base){.c = c, .code = codes, .wrap = 76};
    while (strcmp(b->code->command, c->def->name) != 0)
        b->code++;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        back |= o == 'd';
        b->ignore |= o == 'i';
        if (o != 'w')
            continue;
        enum num_status st = num_u64(c->optarg, NULL, &b->wrap);
        if (st == NUM_OVERFLOW || (st == NUM_OK && b->wrap > INT64_MAX)) {
            b->wrap = 0; /* lines longer than any output */
        } else if (st != NUM_OK) {
            cmd_err(c, "invalid wrap size: %s", cmd_quote_loc(c, c->optarg));
            return 1;
        }
    }
    if (c->argc - c->optind > 1)
        return cmd_extra(c, c->argv[c->optind + 1]);
    tables(b);
    return one(b, c->optind < c->argc ? c->argv[c->optind] : "-", back);
}

#define BASE(name)                                                                                                     \
    CMD(name, base_main, 1, "Usage: " #name " [OPTION]... [FILE]\n",                                                   \
        "  -d, --decode          characters into bytes\n"                                                              \
        "  -i, --ignore-garbage  with -d, pass over other characters\n"                                                \
        "  -w, --wrap=COLS       lines of COLS characters, not 76; 0: one line\n")

BASE(base64);
BASE(base32);
