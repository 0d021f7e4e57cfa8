/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/num.h"
#include "shell/cmd/num.h"

/* od: the bytes of all files together, in blocks of which each type prints a line. Floats are left to the userland. */

enum { OPT_ENDIAN = 256, OPT_TRADITIONAL };

static const struct cmd_opt opts[] = {
    {'j', "skip-bytes", CMD_ARG},
    {'A', "address-radix", CMD_ARG},
    {'N', "read-bytes", CMD_ARG},
    {'t', "format", CMD_ARG},
    {'v', "output-duplicates", CMD_NO_ARG},
    {'S', "strings", CMD_OPT_ARG | CMD_REFUSED},
    {OPT_TRADITIONAL, "traditional", CMD_NO_ARG | CMD_REFUSED},
    {'w', "width", CMD_OPT_ARG},
    {OPT_ENDIAN, "endian", CMD_ARG},
    {'a', NULL, CMD_NO_ARG},
    {'b', NULL, CMD_NO_ARG},
    {'B', NULL, CMD_NO_ARG},
    {'c', NULL, CMD_NO_ARG},
    {'d', NULL, CMD_NO_ARG},
    {'D', NULL, CMD_NO_ARG},
    {'e', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'f', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'F', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'h', NULL, CMD_NO_ARG},
    {'H', NULL, CMD_NO_ARG},
    {'i', NULL, CMD_NO_ARG},
    {'I', NULL, CMD_NO_ARG},
    {'l', NULL, CMD_NO_ARG},
    {'L', NULL, CMD_NO_ARG},
    {'o', NULL, CMD_NO_ARG},
    {'O', NULL, CMD_NO_ARG},
    {'s', NULL, CMD_NO_ARG},
    {'x', NULL, CMD_NO_ARG},
    {'X', NULL, CMD_NO_ARG},
    {0},
};

/* The letters that stand for a type of their own. */
static const struct {
    char letter, type[3];
} short_types[] = {{'a', "a"},  {'b', "o1"}, {'B', "o2"}, {'c', "c"},  {'d', "u2"}, {'D', "u4"}, {'h', "x2"},
                   {'H', "x4"}, {'i', "d4"}, {'I', "d8"}, {'l', "d8"}, {'L', "d8"}, {'o', "o2"}, {'O', "o4"},
                   {'s', "d2"}, {'x', "x2"}, {'X', "x4"}};

/* One type: how it prints a block. */
struct spec {
    char kind; /* a c d o u x */
    unsigned size; /* bytes of a datum */
    int width;     /* of a field without the blank in front */
    bool text;     /* z: characters behind the line */
    int pad;       /* blanks that a block gets so that all types are equally wide */
};

struct od {
    struct cmd *c;
    struct spec *specs;
    size_t n_specs, cap_specs;
    char radix; /* d o x n */
    bool all;   /* -v */
    bool swap;
    uint64_t skip, limit; /* limit: UINT64_MAX: none */
    size_t block;         /* bytes in a line */
    /* the files as one */
    char **names;
    size_t n_names;
    int fd; /* -1: none */
    bool opened; /* one of them */
    const char *name;
    int status;
    struct buf line;
};

static int width_of(char kind, unsigned size)
{
    static const uint8_t octal[] = {[1] = 3, [2] = 6, [4] = 11, [8] = 22};
    static const uint8_t natural[] = {[1] = 3, [2] = 5, [4] = 10, [8] = 20};
    static const uint8_t integer[] = {[1] = 4, [2] = 6, [4] = 11, [8] = 20};
    switch (kind) {
    case 'o':
        return octal[size];
    case 'u':
        return natural[size];
    case 'd':
        return integer[size];
    case 'x':
        return (int)(2 * size);
    default:
        return 3;
    }
}

/* ---- types ---- */

static void add_spec(struct od *d, struct spec s)
{
    if (d->n_specs == d->cap_specs) {
        size_t cap = d->cap_specs ? 2 * d->cap_specs : 8;
        struct spec *v = arena_alloc(d->c->arena, cap * sizeof *v);
        if (d->n_specs)
            memcpy(v, d->specs, d->n_specs * sizeof *v);
        d->specs = v;
        d->cap_specs = cap;
    }
    d->specs[d->n_specs++] = s;
}

/* The size behind a letter at *s, which is moved: 0, or -1 after a message. */
static int parse_size(struct od *d, const char **s, const char *all, unsigned *ret)
{
    static const char letters[] = "CSIL";
    static const unsigned sizes[] = {1, 2, 4, 8};
    const char *p = *s, *letter = *p ? strchr(letters, *p) : NULL;
    uint64_t n = 0;
    if (letter) {
        *ret = sizes[letter - letters];
        (*s)++;
        return 0;
    }
    *ret = 4;
    if (!isdigit((unsigned char)*p))
        return 0;
    for (; isdigit((unsigned char)*p); p++)
        n = NUM_MIN(n * 10 + (uint64_t)(*p - '0'), UINT64_C(1) << 40);
    if (n >= UINT64_C(1) << 40) {
        cmd_err(d->c, "invalid type string %s", cmd_quote_loc(d->c, all));
        return -1;
    }
    if (n != 1 && n != 2 && n != 4 && n != 8) {
        cmd_err(d->c, "invalid type string %s;\nthis system doesn't provide a %llu-byte integral type",
                cmd_quote_loc(d->c, all), (unsigned long long)n);
        return -1;
    }
    *ret = (unsigned)n;
    *s = p;
    return 0;
}

/* 0, -1 after a message, -2: refused. */
static int parse_types(struct od *d, const char *all)
{
    const char *s = all;
    while (*s) {
        struct spec t = {.kind = *s++, .size = 1};
        if (t.kind == 'f') {
            cmd_refuse(d->c, "floating-point types are not implemented here");
            return -2;
        }
        if (!strchr("acdoux", t.kind)) {
            cmd_err(d->c, "invalid character '%c' in type string %s", t.kind, cmd_quote_loc(d->c, all));
            return -1;
        }
        if (strchr("doux", t.kind) && parse_size(d, &s, all, &t.size) < 0)
            return -1;
        t.width = width_of(t.kind, t.size);
        if (*s == 'z') {
            t.text = true;
            s++;
        }
        add_spec(d, t);
    }
    return 0;
}

/* Makes the fields of all types line up. */
static void set_pads(struct od *d)
{
    int widest = 0;
    for (size_t i = 0; i < d->n_specs; i++) {
        struct spec *s = &d->specs[i];
        s->pad = (s->width + 1) * (int)(d->block / s->size);
        widest = NUM_MAX(widest, s->pad);
    }
    for (size_t i = 0; i < d->n_specs; i++)
        d->specs[i].pad = widest - d->specs[i].pad;
}

/* ---- printing ---- */

static const char *name_of(unsigned char ch)
{
    static const char names[33][4] = {"nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs",  "ht",  "nl",
                                      "vt",  "ff",  "cr",  "so",  "si",  "dle", "dc1", "dc2", "dc3", "dc4", "nak",
                                      "syn", "etb", "can", "em",  "sub", "esc", "fs",  "gs",  "rs",  "us",  "sp"};
    return ch <= 32 ? names[ch] : "del";
}

/* A byte as 'a' or 'c' shows it; @to holds four bytes. Returns its text. */
static const char *character(char kind, unsigned char ch, char to[4])
{
    static const char escaped[] = "\0\a\b\f\n\r\t\v", letters[] = "0abfnrtv";
    const char *e = memchr(escaped, ch, 8);
    if (kind == 'a')
        ch &= 127;
    to[0] = (char)ch;
    to[1] = 0;
    if (kind == 'a' && (ch <= 32 || ch == 127))
        return name_of(ch);
    if (kind == 'c' && e) {
        to[0] = '\\';
        to[1] = letters[e - escaped];
        to[2] = 0;
    } else if (kind == 'c' && (ch < 32 || ch > 126)) {
        to[0] = (char)('0' + (ch >> 6));
        to[1] = (char)('0' + (ch >> 3 & 7));
        to[2] = (char)('0' + (ch & 7));
        to[3] = 0;
    }
    return to;
}

static uint64_t datum(const struct od *d, const unsigned char *p, unsigned size)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++)
        v |= (uint64_t)p[i] << 8 * (d->swap ? size - 1 - i : i);
    return v;
}

/* A number right-aligned in @width columns, filled with '0' or ' '. */
static void put_number(struct buf *out, const struct spec *s, uint64_t v, int width)
{
    static const char digits[] = "0123456789abcdef";
    char text[32], *p = text + sizeof text;
    bool minus = s->kind == 'd' && v >> (8 * s->size - 1) & 1;
    if (minus) {
        v = 0 - v;
        if (s->size < 8)
            v &= (UINT64_C(1) << 8 * s->size) - 1;
    }
    if (s->kind == 'x' || s->kind == 'o') {
        unsigned bits = s->kind == 'x' ? 4 : 3;
        for (int i = 0; i < s->width; i++, v >>= bits)
            *--p = digits[v & ((1u << bits) - 1)];
    } else {
        do {
            *--p = digits[v % 10];
            v /= 10;
        } while (v > 0);
        if (minus)
            *--p = '-';
    }
    int n = (int)(text + sizeof text - p);
    for (int i = n; i < width; i++)
        buf_putc(out, ' ');
    buf_add(out, p, (size_t)n);
}

static void put_text(struct buf *out, const unsigned char *p, size_t n)
{
    buf_addc(out, "  >");
    for (size_t i = 0; i < n; i++)
        buf_putc(out, p[i] >= 32 && p[i] < 127 ? (char)p[i] : '.');
    buf_putc(out, '<');
}

/* The line of one type: @n bytes of a block. What a datum at the end lacks is zero. */
static void put_fields(struct od *d, const struct spec *s, const unsigned char *p, size_t n)
{
    struct buf *out = &d->line;
    int fields = (int)(d->block / s->size), blank = (int)((d->block - n) / s->size), left = s->pad;
    char text[4];
    for (int i = fields; i > blank; i--, p += s->size) {
        int next = s->pad * (i - 1) / fields, width = left - next + s->width;
        left = next;
        buf_putc(out, ' ');
        if (s->kind == 'a' || s->kind == 'c') {
            const char *t = character(s->kind, *p, text);
            for (int k = (int)strlen(t); k < width; k++)
                buf_putc(out, ' ');
            buf_addc(out, t);
        } else {
            put_number(out, s, datum(d, p, s->size), width);
        }
    }
    if (s->text)
        for (int k = blank * (s->width + 1) + s->pad * blank / fields; k > 0; k--)
            buf_putc(out, ' ');
}

static void put_address(const struct od *d, struct buf *out, uint64_t at)
{
    unsigned base = d->radix == 'd' ? 10 : d->radix == 'x' ? 16 : 8, least = d->radix == 'x' ? 6 : 7;
    char text[24], *p = text + sizeof text;
    if (d->radix == 'n')
        return;
    while (at > 0 || p > text + sizeof text - least) {
        *--p = "0123456789abcdef"[at % base];
        at /= base;
    }
    buf_add(out, p, (size_t)(text + sizeof text - p));
}

static int put_block(struct od *d, const unsigned char *p, size_t n, uint64_t at)
{
    struct buf *out = &d->line;
    buf_clear(out);
    for (size_t i = 0; i < d->n_specs; i++) {
        if (i == 0)
            put_address(d, out, at);
        else
            for (int k = d->radix == 'n' ? 0 : d->radix == 'x' ? 6 : 7; k > 0; k--)
                buf_putc(out, ' ');
        put_fields(d, &d->specs[i], p, n);
        if (d->specs[i].text)
            put_text(out, p, n);
        buf_putc(out, '\n');
    }
    if (out->err)
        return cmd_no_memory(d->c);
    cmd_write(d->c, out->p, out->n);
    return 0;
}

/* ---- input ---- */

/* Opens the next file there is. False: there are no more. */
static bool open_next(struct od *d)
{
    while (d->fd < 0 && d->n_names > 0) {
        d->name = *d->names++;
        d->n_names--;
        d->fd = cmd_open_input(d->c, d->name);
        if (d->fd < 0) {
            cmd_errno(d->c, d->fd, "%s", cmd_quote(d->c, d->name, false));
            d->status = 1;
        }
        d->opened |= d->fd >= 0;
    }
    return d->fd >= 0;
}

/* Up to @n bytes of all files; fewer only at the end of the last one. */
static size_t take(struct od *d, unsigned char *to, size_t n)
{
    struct cmd *c = d->c;
    size_t have = 0;
    while (have < n && cmd_poll(c) == 0 && open_next(d)) {
        ssize_t got = proc_read(c->p, d->fd, to + have, n - have);
        if (got > 0) {
            have += (size_t)got;
            continue;
        }
        if (got < 0) {
            cmd_errno(c, (int)got, "%s", cmd_quote(c, d->name, false));
            d->status = 1;
        }
        cmd_close_input(c, d->fd);
        d->fd = -1;
    }
    return have;
}

static int skip_bytes(struct od *d)
{
    char *block = cmd_block_get();
    uint64_t left = d->skip;
    while (left > 0 && cmd_poll(d->c) == 0) {
        size_t n = take(d, (unsigned char *)block, (size_t)NUM_MIN(left, (uint64_t)CMD_BLOCK));
        if (n == 0)
            break;
        left -= n;
    }
    cmd_block_put(block);
    if (left == 0 || d->c->p->must_end)
        return 0;
    if (d->opened)
        cmd_err(d->c, "cannot skip past end of combined input");
    return -1;
}

/* The dump itself; @two holds two blocks: the one before and this one. */
static int dump(struct od *d, unsigned char *two, size_t room)
{
    struct cmd *c = d->c;
    uint64_t at = d->skip, left = d->limit;
    bool first = true, starred = false;
    size_t n;
    for (int now = 0; c->out_err == 0 && !c->p->must_end; now = !now) {
        unsigned char *p = two + (size_t)now * room;
        n = take(d, p, (size_t)NUM_MIN((uint64_t)d->block, left));
        if (n == 0)
            break;
        if (n < d->block)
            memset(p + n, 0, room - n);
        bool same = !first && !d->all && n == d->block && memcmp(p, two + (size_t)!now * room, n) == 0;
        if (!same) {
            int r = put_block(d, p, n, at);
            if (r != 0)
                return r;
        } else if (!starred) {
            cmd_puts(c, "*\n");
        }
        starred = same;
        first = false;
        at += n;
        left -= n;
    }
    if (d->radix == 'n' || (!d->opened && d->limit > 0))
        return 0;
    buf_clear(&d->line);
    put_address(d, &d->line, at);
    buf_putc(&d->line, '\n');
    cmd_write(c, d->line.p, d->line.n);
    return 0;
}

/* ---- options ---- */

static bool number(struct cmd *c, uint64_t *ret)
{
    enum num_status st = num_u64_any(c->optarg, "bEGKkMPTYZ0", ret);
    if (st != NUM_OK)
        num_block_error(c, st, c->opt_name, c->optarg);
    return st == NUM_OK;
}

/* Names of files that were an offset once: "+10", and "10" behind a file. */
static bool old_offset(const struct cmd *c)
{
    int n = c->argc - c->optind;
    const char *last = n > 0 ? c->argv[c->argc - 1] : "";
    return (n == 1 && last[0] == '+') || (n == 2 && (last[0] == '+' || isdigit((unsigned char)last[0])));
}

static int endian(struct od *d)
{
    static const char *const names[] = {"little", "big", NULL};
    static const int vals[] = {0, 1};
    int v = cmd_choice(d->c, "--endian", d->c->optarg, names, vals);
    d->swap = v == 1;
    return v < 0 ? -1 : 0;
}

static int radix(struct od *d)
{
    if (strchr("doxn", d->c->optarg[0]) && d->c->optarg[0]) {
        d->radix = d->c->optarg[0];
        return 0;
    }
    cmd_err(d->c, "invalid output address radix '%c'; it must be one character from [doxn]", d->c->optarg[0]);
    return -1;
}

/* One option: 0, or a status + 1 after a message. */
static int option(struct od *d, int o, uint64_t *width, bool *modern)
{
    struct cmd *c = d->c;
    int r = 0;
    *modern |= strchr("AjNtvw", o) != NULL && o < 256;
    switch (o) {
    case 'A':
        return radix(d) < 0 ? 2 : 0;
    case 'j':
        return number(c, &d->skip) ? 0 : 2;
    case 'N':
        return number(c, &d->limit) ? 0 : 2;
    case 't':
        r = parse_types(d, c->optarg);
        return r < 0 ? -r + 1 : 0;
    case 'v':
        d->all = true;
        return 0;
    case 'w':
        *width = 32;
        return !c->optarg || number(c, width) ? 0 : 2;
    case OPT_ENDIAN:
        return endian(d) < 0 ? 1 + cmd_usage_status(c) : 0;
    default:
        for (size_t i = 0; i < sizeof short_types / sizeof *short_types; i++)
            if (short_types[i].letter == o)
                parse_types(d, short_types[i].type);
        return 0;
    }
}

/* Bytes in a line, a multiple of each datum: false after a message. */
static void set_block(struct od *d, uint64_t width)
{
    unsigned unit = 1; /* sizes are powers of two, so the largest is a multiple of all */
    for (size_t i = 0; i < d->n_specs; i++)
        unit = NUM_MAX(unit, d->specs[i].size);
    d->block = 16;
    if (width == UINT64_MAX)
        return;
    d->block = (size_t)width;
    if (width == 0 || width % unit != 0) {
        cmd_err(d->c, "warning: invalid width %llu; using %u instead", (unsigned long long)width, unit);
        d->block = unit;
    }
}

static int run(struct od *d)
{
    size_t room;
    if (!num_add(d->block, 16, &room) || room > LIMIT_LINE / 8)
        return cmd_no_memory(d->c);
    unsigned char *two MEM_AUTO = mem_try(2 * room);
    if (!two)
        return cmd_no_memory(d->c);
    memset(two, 0, 2 * room);
    buf_init(&d->line, LIMIT_LINE);
    int r = skip_bytes(d) < 0 ? 1 : dump(d, two, room);
    buf_done(&d->line);
    if (d->fd >= 0)
        cmd_close_input(d->c, d->fd);
    return r ? r : d->status;
}

static int od_main(struct cmd *c)
{
    static char *input[] = {(char *)(uintptr_t) "-"};
    struct od d = {.c = c, .radix = 'o', .limit = UINT64_MAX, .fd = -1};
    uint64_t width = UINT64_MAX, end;
    bool modern = false;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        int r = o == -2 ? 1 + cmd_usage_status(c) : option(&d, o, &width, &modern);
        if (r > 0)
            return r - 1;
    }
    if (!modern && old_offset(c))
        return cmd_refuse(c, "an offset as operand is not implemented here");
    if (d.limit != UINT64_MAX && !num_add64(d.skip, d.limit, &end)) {
        cmd_err(c, "skip-bytes + read-bytes is too large");
        return 1;
    }
    if (d.n_specs == 0)
        parse_types(&d, "o2");
    set_block(&d, width);
    set_pads(&d);
    d.n_names = c->optind < c->argc ? (size_t)(c->argc - c->optind) : 1;
    d.names = c->optind < c->argc ? c->argv + c->optind : input;
    return run(&d);
}

CMD(od, od_main, 1, "Usage: od [OPTION]... [FILE]...\n",
    "Prints bytes of the FILEs (or standard input) as numbers or characters.\n"
    "  -A, --address-radix=R    of places: d, o, x or n (none)\n"
    "      --endian=ORDER       of bytes in numbers: little or big\n"
    "  -j, --skip-bytes=N       leave N bytes out first\n"
    "  -N, --read-bytes=N       N bytes at most\n"
    "  -t, --format=TYPE        a (names), c (characters), d, o, u, x (numbers) and their size, z for text behind\n"
    "  -v, --output-duplicates  equal lines, too, which a * stands for\n"
    "  -w, --width[=N]          N bytes in a line: 32, and 16 without it\n"
    "  -a -b -c -d -h -i -l -o -s -x  as -t a, o1, c, u2, x2, dI, dL, o2, d2, x2\n");
