/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/wide.h"

/* rev of util-linux: the characters of each line from the last to the first. */

static const struct cmd_opt opts[] = {{0}};

/* Bytes of the first character, 0: it is none. The C locale is ASCII alone. */
static size_t character(const char *p, size_t n, bool utf8)
{
    uint32_t ch;
    if ((unsigned char)*p < 0x80)
        return 1;
    return utf8 ? wide_decode(p, n, &ch) : 0;
}

/* Writes @line backwards: 0, or -EILSEQ before anything is written. */
static int put_reversed(struct cmd *c, struct str line, bool utf8)
{
    MEM_AUTO char *out = mem_try(line.n + 1);
    if (!out)
        return -ENOMEM;
    for (size_t at = 0, n; at < line.n; at += n) {
        n = character(line.p + at, line.n - at, utf8);
        if (n == 0)
            return -EILSEQ;
        memcpy(out + line.n - at - n, line.p + at, n);
    }
    return cmd_write(c, out, line.n);
}

/* @name is NULL for standard input. */
static int one(struct cmd *c, const char *name)
{
    struct cmd_lines lines;
    struct str line;
    bool whole, utf8 = cmd_utf8(c);
    unsigned long number = 0;
    int fd = name ? cmd_open_safe(c, name, O_RDONLY, 0) : 0;
    if (fd < 0) {
        cmd_errno(c, fd, "cannot open %s", name);
        return 1;
    }
    cmd_lines_init(&lines, c, fd, '\n');
    BUF_AUTO struct buf begun; /* of a line, up to a NUL */
    buf_init(&begun, LIMIT_LINE);
    int r;
    while ((r = cmd_lines_next(&lines, &line, &whole)) == 1 && c->out_err == 0) {
        /* The real one reads strings: it does not see what follows a NUL, nor the newline, and reads on. */
        const char *nul = memchr(line.p, 0, line.n);
        if (nul || begun.n) {
            r = buf_add(&begun, line.p, nul ? (size_t)(nul - line.p) : line.n);
            line = buf_str(&begun);
        }
        if (r < 0)
            break;
        if (nul && whole)
            continue;
        r = put_reversed(c, line, utf8);
        if (r < 0)
            break;
        if (whole && !nul)
            cmd_putc(c, '\n');
        buf_clear(&begun);
        number++;
    }
    if (r == 0 && begun.n)
        r = put_reversed(c, buf_str(&begun), utf8);
    if (r < 0)
        cmd_errno(c, r, "%s: %lu", name ? name : "stdin", number);
    cmd_lines_done(&lines);
    cmd_close_input(c, fd);
    return r < 0;
}

static int rev_main(struct cmd *c)
{
    int status = 0;
    if (cmd_getopt(c, opts, false) == -2)
        return cmd_usage_status(c);
    if (c->optind == c->argc)
        return one(c, NULL);
    for (int i = c->optind; i < c->argc && c->out_err == 0 && !c->p->must_end; i++)
        status |= one(c, c->argv[i]);
    return status;
}

CMD(rev, rev_main, 1, "Usage: rev [OPTION]... [FILE]...\n",
    "Prints the lines of each FILE (or standard input), each backwards.\n");
