/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* hexdump of util-linux, with its ready-made formats, one of them at a time; -e and -f are a language of their own. */

#define LINE 16

/* Colours (-L) are of what -e and -f describe; the ready-made formats have none. */
static const struct cmd_opt opts[] = {
    {'b', "one-byte-octal", CMD_NO_ARG},
    {'C', "canonical", CMD_NO_ARG},
    {'c', "one-byte-char", CMD_NO_ARG},
    {'d', "two-bytes-decimal", CMD_NO_ARG},
    {'e', "format", CMD_ARG | CMD_REFUSED},
    {'f', "format-file", CMD_ARG | CMD_REFUSED},
    {'L', "color", CMD_OPT_ARG},
    {'n', "length", CMD_ARG},
    {'o', "two-bytes-octal", CMD_NO_ARG},
    {'s', "skip", CMD_ARG},
    {'v', "no-squeezing", CMD_NO_ARG},
    {'x', "two-bytes-hex", CMD_NO_ARG},
    {0},
};

struct hexdump {
    struct cmd *c;
    char form;      /* its option, 0: two bytes as hexadecimal */
    unsigned times; /* a line is printed: a format that is given again counts again */
    bool all;       /* -v */
    uint64_t skip, left;
    int next; /* operand */
    int fd;   /* -1: none is open */
    const char *name;
    int opened, status;
    char *block;
    size_t at, end;
};

/* ---- input: the operands one behind the other ---- */

static bool open_next(struct hexdump *h)
{
    struct cmd *c = h->c;
    bool operands = c->optind < c->argc;
    while (operands ? h->next < c->argc : h->next == c->optind) {
        h->name = operands ? c->argv[h->next] : "stdin";
        h->fd = operands ? cmd_open_safe(c, h->name, O_RDONLY, 0) : 0;
        h->next++;
        if (h->fd >= 0) {
            h->opened++;
            return true;
        }
        cmd_errno(c, h->fd, "%s", h->name);
        h->status = 1;
    }
    return false;
}

static void close_it(struct hexdump *h)
{
    cmd_close_input(h->c, h->fd);
    h->fd = -1;
}

/* What -s skips is skipped in a file as far as it goes: 0, or -errno after a message. */
static int skip(struct hexdump *h, uint64_t *ret_place)
{
    while (h->skip && open_next(h)) {
        int64_t size = proc_lseek(h->c->p, h->fd, 0, SEEK_END);
        int64_t to = size < 0 ? size : size < (int64_t)h->skip ? size : (int64_t)h->skip;
        if (size >= 0)
            size = proc_lseek(h->c->p, h->fd, to, SEEK_SET);
        if (size < 0) {
            cmd_errno(h->c, (int)size, "%s", h->name);
            return (int)size;
        }
        *ret_place += (uint64_t)to;
        h->skip -= (uint64_t)to;
        if (h->skip == 0)
            return 0;
        close_it(h);
    }
    return 0;
}

static size_t fill(struct hexdump *h, unsigned char *line)
{
    size_t n = 0;
    while (n < LINE && h->left > 0) {
        if (h->at < h->end) {
            line[n++] = (unsigned char)h->block[h->at++];
            h->left--;
            continue;
        }
        if (h->fd < 0 && !open_next(h))
            break;
        ssize_t got = cmd_poll(h->c) ? -EINTR : proc_read(h->c->p, h->fd, h->block, CMD_BLOCK);
        if (got == -EINTR && h->c->p->must_end)
            return 0;
        if (got < 0)
            cmd_errno(h->c, (int)got, "%s", h->name);
        h->at = 0;
        h->end = got < 0 ? 0 : (size_t)got;
        if (got <= 0)
            close_it(h);
    }
    return n;
}

/* ---- output ---- */

static int put_char(char *to, unsigned char b)
{
    static const char from[] = "\0\a\b\t\n\v\f\r", name[] = "0abtnvfr";
    const char *at = memchr(from, b, sizeof(from) - 1);
    if (at)
        return snprintf(to, 8, "  \\%c", name[at - from]);
    return snprintf(to, 8, b >= 32 && b < 127 ? "   %c" : " %03o", b);
}

static int put_pair(char *to, char form, unsigned v)
{
    switch (form) {
    case 'd':
        return snprintf(to, 16, "   %05u", v);
    case 'o':
        return snprintf(to, 16, "  %06o", v);
    case 'x':
        return snprintf(to, 16, "    %04x", v);
    default:
        return snprintf(to, 16, " %04x", v);
    }
}

static void put_canonical(struct cmd *c, const unsigned char *line, size_t n)
{
    char text[80];
    memset(text, ' ', sizeof(text));
    for (size_t i = 0; i < n; i++) {
        static const char digits[] = "0123456789abcdef";
        size_t to = 2 + 3 * i + (i >= LINE / 2);
        text[to] = digits[line[i] >> 4];
        text[to + 1] = digits[line[i] & 15];
        text[53 + i] = (char)(line[i] >= 32 && line[i] < 127 ? line[i] : '.');
    }
    text[52] = text[53 + n] = '|';
    text[54 + n] = '\n';
    cmd_write(c, text, 55 + n);
}

/* A line that is not whole is as wide as one that is. */
static void put_line(struct hexdump *h, uint64_t place, const unsigned char *line, size_t n)
{
    char text[160];
    size_t at = 0, width = h->form ? 64 : 40;
    cmd_printf(h->c, h->form == 'C' ? "%08llx" : "%07llx", (unsigned long long)place);
    if (h->form == 'C') {
        put_canonical(h->c, line, n);
        return;
    }
    if (h->form == 'b' || h->form == 'c')
        for (size_t i = 0; i < n; i++)
            at += (size_t)(h->form == 'b' ? snprintf(text + at, 8, " %03o", line[i]) : put_char(text + at, line[i]));
    else
        for (size_t i = 0; i < n; i += 2)
            at += (size_t)put_pair(text + at, h->form, line[i] | (i + 1 < n ? (unsigned)line[i + 1] << 8 : 0));
    memset(text + at, ' ', width - at);
    text[width] = '\n';
    cmd_write(h->c, text, width + 1);
}

static void dump(struct hexdump *h, uint64_t place)
{
    unsigned char line[LINE], last[LINE];
    bool have_last = false, star = false;
    for (size_t n; (n = fill(h, line)) > 0 && h->c->out_err == 0; place += n) {
        if (!h->all && have_last && n == LINE && memcmp(line, last, LINE) == 0) {
            if (!star)
                cmd_puts(h->c, "*\n");
            star = true;
            continue;
        }
        for (unsigned i = 0; i < h->times; i++)
            put_line(h, place, line, n);
        memcpy(last, line, n);
        have_last = n == LINE;
        star = false;
    }
    if (place > 0 && h->opened)
        cmd_printf(h->c, h->form == 'C' ? "%08llx\n" : "%07llx\n", (unsigned long long)place);
}

/* ---- options ---- */

static int size(struct cmd *c, const char *what, const char *s, uint64_t *ret)
{
    static const char suffixes[] = "kmgtp";
    char *end;
    errno = 0;
    unsigned long long n = strtoull(s, &end, 0);
    if (end != s && *end && end[0] != 'i') {
        const char *at = strchr(suffixes, *end | 0x20);
        unsigned shift = at ? 10 * (unsigned)(at - suffixes + 1) : 64;
        end += end[1] == 'i' && end[2] == 'B' ? 3 : 1;
        if (shift > 50 || n >> (63 - shift))
            end = (char *)(uintptr_t)s;
        else
            n <<= shift;
    }
    if (end == s || *end || errno || *s == '-' || n > INT64_MAX) {
        cmd_err(c, "failed to parse %s: '%s': Invalid argument", what, s);
        return 1;
    }
    *ret = n;
    return 0;
}

static int options(struct hexdump *h)
{
    struct cmd *c = h->c;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        int r = 0;
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'n')
            r = size(c, "length", c->optarg, &h->left);
        else if (o == 's')
            r = size(c, "offset", c->optarg, &h->skip);
        else if (o == 'v')
            h->all = true;
        else if (o != 'L' && h->form && h->form != o)
            return cmd_refuse(c, "several formats at once are not implemented here");
        else if (o != 'L') {
            h->times = h->form ? h->times + 1 : 1;
            h->form = (char)o;
        }
        if (r)
            return r;
    }
    return -1;
}

static int run(struct cmd *c, char form)
{
    struct hexdump h = {.c = c, .form = form, .times = 1, .left = UINT64_MAX, .fd = -1};
    uint64_t place = 0;
    int r = options(&h);
    if (r >= 0)
        return r;
    h.next = c->optind;
    h.block = cmd_block_get();
    if (skip(&h, &place) < 0)
        h.status = 1;
    else
        dump(&h, place);
    if (h.opened == 0 && h.status)
        cmd_err(c, "all input file arguments failed");
    cmd_block_put(h.block);
    if (h.fd >= 0)
        close_it(&h);
    return h.status;
}

static int hexdump_main(struct cmd *c)
{
    return run(c, 0);
}

static int hd_main(struct cmd *c)
{
    return run(c, 'C');
}

#define HELP                                                                                                           \
    "  -b, --one-byte-octal     bytes as three octal digits\n"                                                         \
    "  -C, --canonical          bytes as hexadecimal digits, and as text\n"                                            \
    "  -c, --one-byte-char      bytes as characters\n"                                                                 \
    "  -d, --two-bytes-decimal  pairs as decimal numbers\n"                                                            \
    "  -n, --length=LENGTH      that many bytes\n"                                                                     \
    "  -o, --two-bytes-octal    pairs as octal numbers\n"                                                              \
    "  -s, --skip=OFFSET        begins at that byte\n"                                                                 \
    "  -v, --no-squeezing       all lines, also equal ones\n"                                                          \
    "  -x, --two-bytes-hex      pairs as hexadecimal numbers\n"

CMD(hexdump, hexdump_main, 1, "Usage: hexdump [OPTION]... [FILE]...\n", HELP);
CMD(hd, hd_main, 1, "Usage: hd [OPTION]... [FILE]...\n", HELP);
