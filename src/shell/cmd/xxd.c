/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "types/errtab.h"

/*
 * xxd, as vim's of 2022-01-14: bytes as hexadecimal text, and back. Its options are words of its own: each is known by
 * its first letters, a number may follow at once or in the next word, and the first operand ends them.
 */

#define COLS_MAX 256

enum form { NORMAL, PLAIN, BITS, INCLUDE, LITTLE };

struct xxd {
    struct cmd *c;
    enum form form;
    bool reverse, autoskip, upper, decimal, capitals, relative, backwards, sought;
    long cols, group; /* -1: not said */
    long length;      /* -1: to the end */
    long seek;        /* without its sign */
    long offset;
    const char *name; /* of what -i declares */
    int fd;
    char *block;
    size_t at, end;
    int err; /* of reading */
};

static const char usage[] = "Usage: xxd [OPTION]... [INFILE [OUTFILE]]\n"
                            "  or:  xxd -r [-p] [-c COLS] [-s [-]OFF] [INFILE [OUTFILE]]\n";
static const char help[] = "  -a           one * for lines of NUL bytes\n"
                           "  -b           binary digits\n"
                           "  -C           names of -i in capitals\n"
                           "  -c COLS      bytes in a line: 16; -b: 6, -i: 12, -p: 30\n"
                           "  -d           places in decimal\n"
                           "  -e           little-endian groups\n"
                           "  -g BYTES     bytes in a group: 2; -b: 1, -e: 4\n"
                           "  -i           a declaration in C\n"
                           "  -l LEN       that many bytes\n"
                           "  -n NAME      the name that -i declares\n"
                           "  -o OFF       adds OFF to the places shown\n"
                           "  -p           hexadecimal digits alone\n"
                           "  -r           text into bytes\n"
                           "  -s [+][-]N   begins at byte N, from where the input is, or from its end\n"
                           "  -u           capital hexadecimal digits\n";

/* ---- input ---- */

static int next(struct xxd *x)
{
    if (x->at == x->end) {
        ssize_t n = cmd_poll(x->c) ? -EINTR : proc_read(x->c->p, x->fd, x->block, CMD_BLOCK);
        if (n < 0)
            x->err = (int)n;
        if (n <= 0)
            return EOF;
        x->at = 0;
        x->end = (size_t)n;
    }
    return (unsigned char)x->block[x->at++];
}

/* The next line of at most @want bytes, as -l allows. */
static size_t take(struct xxd *x, unsigned char *line, size_t want)
{
    size_t n = 0;
    for (int ch; n < want && x->length != 0 && (ch = next(x)) != EOF; n++) {
        line[n] = (unsigned char)ch;
        x->length -= x->length > 0;
    }
    return n;
}

/* Goes to where -s says: 0, or the status. *ret is the place. */
static int go(struct xxd *x, long *ret)
{
    *ret = 0;
    if (!x->sought)
        return 0;
    int whence = x->relative ? SEEK_CUR : x->backwards ? SEEK_END : SEEK_SET;
    int64_t at = proc_lseek(x->c->p, x->fd, x->backwards ? -(int64_t)x->seek : x->seek, whence);
    if (at >= 0) {
        *ret = at;
        return 0;
    }
    if (x->backwards || at != -ESPIPE) {
        cmd_err(x->c, "Sorry, cannot seek.");
        return 4;
    }
    while (*ret < x->seek && next(x) != EOF)
        ++*ret;
    return 0;
}

/* ---- bytes to text ---- */

static const char *digits(const struct xxd *x)
{
    return x->upper ? "0123456789ABCDEF" : "0123456789abcdef";
}

static void put_line(struct xxd *x, long at, const unsigned char *line, size_t n)
{
    char text[32 + COLS_MAX * 10 + COLS_MAX];
    size_t each = x->form == BITS ? 8 : 2, cols = (size_t)x->cols, group = (size_t)x->group;
    size_t width = each * group + 1; /* of a group */
    int head = snprintf(text, 32, x->decimal ? "%08ld:" : "%08lx:", at + x->offset);
    size_t from = (size_t)head + 1, ascii = (size_t)head + 3 + (width * cols - 1) / group;
    memset(text + head, ' ', sizeof(text) - (size_t)head);
    for (size_t i = 0; i < n; i++) {
        size_t to = from + width * ((x->form == LITTLE ? i ^ (group - 1) : i) / group) +
                    each * ((x->form == LITTLE ? i ^ (group - 1) : i) % group);
        if (x->form == BITS)
            for (int k = 0; k < 8; k++)
                text[to + (size_t)k] = (char)('0' + (line[i] >> (7 - k) & 1));
        else {
            text[to] = digits(x)[line[i] >> 4];
            text[to + 1] = digits(x)[line[i] & 15];
        }
        text[ascii + i] = (char)(line[i] > 31 && line[i] < 127 ? line[i] : '.');
    }
    text[ascii + n] = '\n';
    cmd_write(x->c, text, ascii + n + 1);
}

static void dump(struct xxd *x, long at)
{
    unsigned char line[COLS_MAX], zero[COLS_MAX] = {0};
    size_t n, skipped = 0, last = 0;
    while ((n = take(x, line, (size_t)x->cols)) > 0 && x->c->out_err == 0) {
        bool nul = x->autoskip && memcmp(line, zero, n) == 0;
        if (nul && skipped == 2)
            cmd_puts(x->c, "*\n");
        if (!nul && skipped == 2) /* a single line stands for itself */
            put_line(x, at - (long)last, zero, last);
        if (!nul || skipped == 0)
            put_line(x, at, line, n);
        skipped = nul ? skipped + 1 : 0;
        at += (long)n;
        last = n;
    }
    if (skipped > 1)
        put_line(x, at - (long)last, zero, last);
}

static void dump_plain(struct xxd *x)
{
    long column = 0;
    unsigned char b;
    while (take(x, &b, 1) == 1 && x->c->out_err == 0) {
        cmd_putc(x->c, digits(x)[b >> 4]);
        cmd_putc(x->c, digits(x)[b & 15]);
        if (x->cols > 0 && ++column == x->cols) {
            cmd_putc(x->c, '\n');
            column = 0;
        }
    }
    if (column || x->cols == 0)
        cmd_putc(x->c, '\n');
}

static void put_name(struct xxd *x, const char *name)
{
    if (isdigit((unsigned char)*name))
        cmd_puts(x->c, "__");
    for (; *name; name++) {
        unsigned char ch = (unsigned char)*name;
        cmd_putc(x->c, (char)(!isalnum(ch) ? '_' : x->capitals ? toupper(ch) : ch));
    }
}

static void include(struct xxd *x, const char *file)
{
    const char *name = x->name ? x->name : file;
    unsigned char b;
    long n = 0;
    if (name) {
        cmd_puts(x->c, "unsigned char ");
        put_name(x, name);
        cmd_puts(x->c, "[] = {\n");
    }
    for (; take(x, &b, 1) == 1 && x->c->out_err == 0; n++)
        cmd_printf(x->c, x->upper ? "%s0X%02X" : "%s0x%02x", n % x->cols ? ", " : n ? ",\n  " : "  ", b);
    if (n)
        cmd_putc(x->c, '\n');
    if (!name)
        return;
    cmd_puts(x->c, "};\nunsigned int ");
    put_name(x, name);
    cmd_printf(x->c, "_%s = %ld;\n", x->capitals ? "LEN" : "len", n);
}

/* ---- text to bytes ---- */

static int digit(int ch)
{
    return ch >= '0' && ch <= '9'   ? ch - '0'
           : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
           : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                    : -1;
}

static void skip_line(struct xxd *x)
{
    int ch;
    do
        ch = next(x);
    while (ch != '\n' && ch != EOF);
}

static void undo_plain(struct xxd *x)
{
    int high = -1;
    for (int ch; (ch = next(x)) != EOF && x->c->out_err == 0;) {
        int d = digit(ch);
        if (d >= 0 && high >= 0) {
            cmd_putc(x->c, (char)(high << 4 | d));
            high = -1;
        } else if (d >= 0) {
            high = d;
        } else if (!isspace(ch)) {
            skip_line(x);
            high = -1;
        }
    }
}

/* Output goes on at @want, and is now at *have: 0 or the status. */
static int go_on(struct xxd *x, long want, long *have)
{
    if (want == *have)
        return 0;
    cmd_flush(x->c);
    if (proc_lseek(x->c->p, 1, want - *have, SEEK_CUR) >= 0) {
        *have = want;
        return 0;
    }
    if (want < *have) {
        cmd_err(x->c, "Sorry, cannot seek backwards.");
        return 5;
    }
    for (; *have < want && cmd_putc(x->c, 0) == 0; ++*have)
        ;
    return 0;
}

/* A line is a place, a colon, and pairs of digits apart by blanks; two blanks, or what is no digit, end it. */
static int undo(struct xxd *x)
{
    long base = x->backwards ? -x->seek : x->seek, have = 0;
    for (int ch = 0; ch != EOF && x->c->out_err == 0;) {
        unsigned long place = 0;
        bool any = false;
        while ((ch = next(x)) != EOF && digit(ch) >= 0) {
            place = place << 4 | (unsigned)digit(ch);
            any = true;
        }
        if (ch == '\n' || ch == EOF)
            continue;
        if (!any || ch != ':') {
            skip_line(x);
            continue;
        }
        int r = go_on(x, base + (long)place, &have);
        if (r)
            return r;
        int blanks = 0, high = -1;
        for (long n = 0; n < x->cols && (ch = next(x)) != EOF && ch != '\n';) {
            int d = digit(ch);
            if (d < 0) {
                if (ch != ' ' || ++blanks > 1 || high >= 0)
                    break;
                continue;
            }
            blanks = 0;
            if (high < 0) {
                high = d;
                continue;
            }
            cmd_putc(x->c, (char)(high << 4 | d));
            high = -1;
            have++;
            n++;
        }
        if (ch != '\n' && ch != EOF)
            skip_line(x);
    }
    return 0;
}

/* ---- options ---- */

static int wrong(struct cmd *c)
{
    cmd_err_raw(c, usage);
    cmd_err_raw(c, "Try 'xxd -h' for more information.\n");
    return 1;
}

/* The value of option @word, whose name has a letter: behind it, or the next word. */
static const char *value(struct cmd *c, const char *word, const char *name)
{
    const char *p = word + 1;
    if (strcmp(p, name) == 0 || p[1] == 0)
        return c->optind < c->argc ? c->argv[c->optind++] : NULL;
    return p + 1;
}

static long number(const char *s)
{
    long n = strtol(s, NULL, 0);
    return n < -(1L << 40) ? -(1L << 40) : n > 1L << 40 ? 1L << 40 : n;
}

static void seek_value(struct xxd *x, const char *s)
{
    x->relative = *s == '+';
    s += x->relative;
    x->backwards = *s == '-';
    s += x->backwards;
    x->seek = number(s);
    x->sought = true;
}

/* An option with a value: 0, or the status. */
static int valued(struct xxd *x, const char *word)
{
    static const struct {
        char letter;
        const char *name;
    } known[] = {{'c', "cols"}, {'g', "group"}, {'l', "len"}, {'n', "name"}, {'o', "offset"}, {'s', "seek"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (word[1] != known[i].letter)
            continue;
        const char *v = value(x->c, word, known[i].name);
        if (!v)
            return wrong(x->c);
        switch (word[1]) {
        case 'c':
            x->cols = number(v);
            return 0;
        case 'g':
            x->group = number(v);
            return 0;
        case 'l':
            x->length = number(v);
            return 0;
        case 'n':
            x->name = v;
            return 0;
        case 'o':
            x->offset = number(v);
            return 0;
        default:
            seek_value(x, v);
            return 0;
        }
    }
    return wrong(x->c);
}

/* 0, or the status. */
static int one_option(struct xxd *x, const char *word)
{
    switch (word[1]) {
    case 'a':
        x->autoskip = !x->autoskip;
        return 0;
    case 'b':
        x->form = BITS;
        return 0;
    case 'C':
        x->capitals = true;
        return 0;
    case 'd':
        x->decimal = true;
        return 0;
    case 'e':
        x->form = LITTLE;
        return 0;
    case 'i':
        x->form = INCLUDE;
        return 0;
    case 'p':
        x->form = PLAIN;
        return 0;
    case 'r':
        x->reverse = true;
        return 0;
    case 'u':
        x->upper = true;
        return 0;
    case 'h':
        cmd_err_raw(x->c, usage);
        cmd_err_raw(x->c, help);
        return 1;
    case 'v':
        cmd_err_raw(x->c, "xxd (frontal-sandbox " FRONTAL_VERSION ")\n");
        return 1;
    case 'E':
    case 'R':
        cmd_err(x->c, "option '-%c' is not implemented here", word[1]);
        return 2;
    default:
        return valued(x, word);
    }
}

static int options(struct xxd *x)
{
    struct cmd *c = x->c;
    while (c->optind < c->argc) {
        const char *word = c->argv[c->optind];
        if (word[0] != '-' || !word[1])
            return 0;
        c->optind++;
        if (word[1] == '-') {
            if (!word[2])
                return 0;
            word++;
        }
        int r = one_option(x, word);
        if (r)
            return r;
    }
    return 0;
}

/* What follows from the options together: 0, or the status. */
static int settle(struct xxd *x)
{
    if (x->cols < 0 || (x->cols == 0 && x->form != PLAIN))
        x->cols = x->form == PLAIN ? 30 : x->form == INCLUDE ? 12 : x->form == BITS ? 6 : 16;
    if (x->group < 0)
        x->group = x->form == BITS ? 1 : x->form == LITTLE ? 4 : 2;
    if (x->group == 0 || x->group > x->cols)
        x->group = x->cols;
    if (x->cols > COLS_MAX && x->form != PLAIN && x->form != INCLUDE) {
        cmd_err(x->c, "invalid number of columns (max. %d).", COLS_MAX);
        return 1;
    }
    if (x->form == LITTLE && (x->group & (x->group - 1))) {
        cmd_err(x->c, "number of octets per group must be a power of 2 with -e.");
        return 1;
    }
    if (x->reverse && x->form != NORMAL && x->form != PLAIN) {
        cmd_err(x->c, "Sorry, cannot revert this type of hexdump");
        return -1;
    }
    return x->c->argc - x->c->optind > 2 ? wrong(x->c) : 0;
}

/* Opens the operands; output is descriptor 1 from then on. 0, or the status. */
static int open_files(struct xxd *x, const char **ret_name)
{
    struct cmd *c = x->c;
    const char *in = c->optind < c->argc ? c->argv[c->optind] : "-";
    const char *out = c->optind + 1 < c->argc ? c->argv[c->optind + 1] : "-";
    *ret_name = strcmp(in, "-") == 0 ? NULL : in;
    x->fd = cmd_open_input(c, in);
    if (x->fd < 0) {
        cmd_errno(c, x->fd, "%s", in);
        return 2;
    }
    if (strcmp(out, "-") == 0)
        return 0;
    int fd = cmd_open_safe(c, out, O_WRONLY | O_CREAT | (x->reverse ? 0 : O_TRUNC), 0666);
    int r = fd < 0 ? fd : proc_dup2(c->p, fd, 1, false);
    if (fd >= 0)
        proc_close(c->p, fd);
    if (r < 0) {
        cmd_errno(c, r, "%s", out);
        return 3;
    }
    return 0;
}

static int work(struct xxd *x, const char *name)
{
    long at = 0;
    if (x->reverse && x->form == PLAIN) {
        undo_plain(x);
        return 0;
    }
    if (x->reverse)
        return undo(x);
    int r = go(x, &at);
    if (r)
        return r;
    if (x->form == PLAIN)
        dump_plain(x);
    else if (x->form == INCLUDE)
        include(x, name);
    else
        dump(x, at);
    return 0;
}

static int xxd_main(struct cmd *c)
{
    struct xxd x = {.c = c, .cols = -1, .group = -1, .length = -1};
    const char *name;
    if (cmd_help_alone(c))
        return 0;
    int status = options(&x);
    if (status == 0)
        status = settle(&x);
    if (status == 0)
        status = open_files(&x, &name);
    if (status)
        return status < 0 ? 255 : status;
    x.block = cmd_block_get();
    status = work(&x, name);
    if (x.err < 0 && !c->p->must_end) {
        cmd_err(c, "%s", errtab_text(x.err));
        status = 2;
    }
    cmd_block_put(x.block);
    cmd_close_input(c, x.fd);
    return status;
}

CMD(xxd, xxd_main, 3, usage, help);
