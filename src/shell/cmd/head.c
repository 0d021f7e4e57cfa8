/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"

/* What the real tool reads at once: from a pipe it takes so much more than it prints. */
#define HEAD_READ 8192u

static const struct cmd_opt opts[] = {
    {'c', "bytes", CMD_ARG},
    {'n', "lines", CMD_ARG},
    {'q', "quiet", CMD_NO_ARG},
    {'q', "silent", CMD_NO_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {'z', "zero-terminated", CMD_NO_ARG},
    /* Digits after the first argument: known only to be refused. */
    {'0', NULL, CMD_NO_ARG},
    {'1', NULL, CMD_NO_ARG},
    {'2', NULL, CMD_NO_ARG},
    {'3', NULL, CMD_NO_ARG},
    {'4', NULL, CMD_NO_ARG},
    {'5', NULL, CMD_NO_ARG},
    {'6', NULL, CMD_NO_ARG},
    {'7', NULL, CMD_NO_ARG},
    {'8', NULL, CMD_NO_ARG},
    {'9', NULL, CMD_NO_ARG},
    {0},
};

struct head {
    struct cmd *c;
    bool bytes, elide; /* elide: all but the last `n` */
    uint64_t n;
    char delim;
    bool headers, first_done;
    char *block;
    uint64_t written;
};

static int read_error(struct head *h, int err, const char *name)
{
    cmd_errno(h->c, err, "error reading %s", cmd_quote(h->c, name, true));
    return 1;
}

static int put(struct head *h, const char *p, size_t n)
{
    h->written += n;
    return cmd_write(h->c, p, n);
}

static int head_bytes(struct head *h, int fd, const char *name)
{
    for (uint64_t left = h->n; left > 0 && cmd_poll(h->c) == 0;) {
        ssize_t n = proc_read(h->c->p, fd, h->block, NUM_MIN(left, (uint64_t)CMD_BLOCK));
        if (n < 0)
            return read_error(h, (int)n, name);
        if (n == 0 || put(h, h->block, (size_t)n) < 0)
            break;
        left -= (uint64_t)n;
    }
    return 0;
}

static int head_lines(struct head *h, int fd, const char *name)
{
    for (uint64_t left = h->n; left > 0 && cmd_poll(h->c) == 0;) {
        ssize_t n = proc_read(h->c->p, fd, h->block, HEAD_READ);
        if (n < 0)
            return read_error(h, (int)n, name);
        if (n == 0)
            break;
        size_t take = (size_t)n;
        for (char *p = h->block, *e; (e = memchr(p, h->delim, (size_t)(h->block + n - p)));) {
            p = e + 1;
            if (--left == 0) {
                take = (size_t)(p - h->block);
                if (take < (size_t)n)
                    proc_lseek(h->c->p, fd, (int64_t)take - n, SEEK_CUR);
                break;
            }
        }
        if (put(h, h->block, take) < 0)
            break;
    }
    return 0;
}

/* What may still be among the last `n`: b.p[start..b.n), with so many ends of lines in it. */
struct held {
    struct buf b;
    size_t start;
    uint64_t lines;
};

/* Prints what lies before the last `n` bytes or lines. @ended: no more will come, so an unfinished line counts. */
static void let_go(struct head *h, struct held *k, bool ended)
{
    const char *p = k->b.p + k->start;
    size_t n = k->b.n - k->start, go = 0;
    if (h->bytes) {
        go = n > h->n ? (size_t)(n - h->n) : 0;
    } else {
        uint64_t have = k->lines + (ended && n > 0 && p[n - 1] != h->delim);
        for (; have > h->n; have--) {
            const char *e = memchr(p + go, h->delim, n - go);
            if (!e)
                break;
            go = (size_t)(e - p) + 1;
            k->lines--;
        }
    }
    put(h, p, go);
    k->start += go;
    /* Moving what is held only once it is outweighed keeps the work linear. */
    if (k->start > k->b.n / 2) {
        memmove(k->b.p, k->b.p + k->start, k->b.n - k->start);
        buf_trunc(&k->b, k->b.n - k->start);
        k->start = 0;
    }
}

static uint64_t count_lines(const char *p, size_t n, char delim)
{
    uint64_t k = 0;
    for (const char *end = p + n, *e; (e = memchr(p, delim, (size_t)(end - p))); p = e + 1)
        k++;
    return k;
}

/* All but the last lines or bytes. */
static int head_elide(struct head *h, int fd, const char *name)
{
    struct held k = {0};
    int status = 0;
    ssize_t n = 0;
    buf_init(&k.b, LIMIT_LINE);
    while (cmd_poll(h->c) == 0 && h->c->out_err == 0 && (n = proc_read(h->c->p, fd, h->block, CMD_BLOCK)) > 0) {
        if (!h->bytes)
            k.lines += count_lines(h->block, (size_t)n, h->delim);
        if (buf_add(&k.b, h->block, (size_t)n) < 0) {
            buf_done(&k.b);
            return cmd_no_memory(h->c);
        }
        let_go(h, &k, false);
    }
    if (n < 0)
        status = read_error(h, (int)n, name);
    else
        let_go(h, &k, true);
    if (n == 0 && k.b.n > k.start) /* who reads on gets what was held back */
        proc_lseek(h->c->p, fd, -(int64_t)(k.b.n - k.start), SEEK_CUR);
    buf_done(&k.b);
    return status;
}

/* What the real tool's buffer of standard output holds: more than that fails while it is written, less at the end. */
#define HEAD_BUFFER 4096u

/* A write that failed, as the real tool tells of it when it did not come to the end: "error writing". */
static int write_error(struct head *h, int status)
{
    struct cmd *c = h->c;
    if (h->written >= HEAD_BUFFER && cmd_flush(c) < 0 && !c->out_reported && !c->p->must_end) {
        cmd_errno(c, c->out_err, "error writing %s", cmd_quote(c, "standard output", true));
        c->out_reported = true;
        status = 1;
    }
    return status;
}

static int one(struct head *h, const char *name)
{
    struct cmd *c = h->c;
    bool in = strcmp(name, "-") == 0;
    int fd = cmd_open_input(c, name);
    if (fd < 0) {
        cmd_errno(c, fd, "cannot open %s for reading", cmd_quote(c, name, true));
        return 1;
    }
    if (in)
        name = "standard input";
    if (h->headers)
        cmd_printf(c, "%s==> %s <==\n", h->first_done ? "\n" : "", name);
    h->first_done = true;
    int status;
    if (h->elide)
        status = head_elide(h, fd, name);
    else if (h->bytes)
        status = head_bytes(h, fd, name);
    else
        status = head_lines(h, fd, name);
    cmd_close_input(c, fd);
    return status;
}

/* The number of -n or -c: a leading '-' means all but the last. */
static int number(struct head *h, const char *text, bool bytes)
{
    h->bytes = bytes;
    h->elide = *text == '-';
    const char *digits = h->elide ? text + 1 : text;
    enum num_status st = num_u64(digits, "bkKmMGTPEZY0", &h->n);
    if (st == NUM_OK)
        return 0;
    cmd_errno(h->c, st == NUM_OVERFLOW ? EOVERFLOW : 0, "invalid number of %s: %s", bytes ? "bytes" : "lines",
              cmd_quote_loc(h->c, digits));
    return -1;
}

/* "-NUM[bkm][cqvlz]…" as the first argument, of old. 1 when it was one, 0 not, -1 after an error. */
static int obsolete(struct head *h, int *quiet)
{
    struct cmd *c = h->c;
    if (c->argc < 2 || c->argv[1][0] != '-' || !isdigit((unsigned char)c->argv[1][1]))
        return 0;
    const char *p = c->argv[1] + 1;
    size_t digits = strspn(p, "0123456789");
    const char *unit = "";
    bool bytes = false;
    for (const char *s = p + digits; *s; s++) {
        if (*s == 'c') {
            bytes = true;
            unit = "";
        } else if (*s == 'b' || *s == 'k' || *s == 'm') {
            bytes = true;
            unit = *s == 'b' ? "b" : *s == 'k' ? "k" : "m";
        } else if (*s == 'l') {
            bytes = false;
        } else if (*s == 'q' || *s == 'v') {
            *quiet = *s == 'q' ? 1 : -1;
        } else if (*s == 'z') {
            h->delim = 0;
        } else {
            cmd_err(c, "invalid trailing option -- %c", *s);
            cmd_try_help(c);
            return -1;
        }
    }
    c->optind = 2;
    return number(h, arena_printf(c->arena, "%.*s%s", (int)digits, p, unit), bytes) < 0 ? -1 : 1;
}

static int head_main(struct cmd *c)
{
    struct head h = {.c = c, .n = 10, .delim = '\n'};
    int quiet = 0;
    if (obsolete(&h, &quiet) < 0)
        return 1;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (isdigit(o))
            return cmd_usage_error(c, "invalid trailing option -- %c", o);
        if ((o == 'c' || o == 'n') && number(&h, c->optarg, o == 'c') < 0)
            return 1;
        if (o == 'q' || o == 'v')
            quiet = o == 'q' ? 1 : -1;
        if (o == 'z')
            h.delim = 0;
    }
    h.headers = quiet < 0 || (quiet == 0 && c->argc - c->optind > 1);
    if (h.elide && h.n == 0) { /* all of it */
        h.n = UINT64_MAX;
        h.elide = false;
        h.bytes = true;
    }
    h.block = cmd_block_get();
    int status = 0;
    if (c->optind == c->argc)
        status = one(&h, "-");
    for (int i = c->optind; i < c->argc && c->out_err == 0 && !c->p->must_end; i++)
        status |= one(&h, c->argv[i]);
    cmd_block_put(h.block);
    return write_error(&h, status);
}

CMD(head, head_main, 1, "Usage: head [OPTION]... [FILE]...\n",
    "  -c, --bytes=[-]NUM       the first NUM bytes; with '-' all but the last NUM\n"
    "  -n, --lines=[-]NUM       the first NUM lines (10); with '-' all but the last NUM\n"
    "  -q, --quiet, --silent    no headers with file names\n"
    "  -v, --verbose            always headers\n"
    "  -z, --zero-terminated    lines end with NUL\n"
    "NUM may have a suffix: b 512, kB 1000, K 1024, MB, M and so on for G, T, P, E, Z, Y.\n");
