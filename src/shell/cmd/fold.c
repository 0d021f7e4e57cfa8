/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"

#define TAB 8

static const struct cmd_opt opts[] = {
    {'b', "bytes", CMD_NO_ARG},  {'s', "spaces", CMD_NO_ARG}, {'w', "width", CMD_ARG},  {'0', NULL, CMD_OPT_ARG},
    {'1', NULL, CMD_OPT_ARG},    {'2', NULL, CMD_OPT_ARG},    {'3', NULL, CMD_OPT_ARG}, {'4', NULL, CMD_OPT_ARG},
    {'5', NULL, CMD_OPT_ARG},    {'6', NULL, CMD_OPT_ARG},    {'7', NULL, CMD_OPT_ARG}, {'8', NULL, CMD_OPT_ARG},
    {'9', NULL, CMD_OPT_ARG},    {0},
};

struct fold {
    struct cmd *c;
    bool bytes, spaces;
    uint64_t width;
    uint64_t column;
    bool begun;      /* something is in the output's line */
    struct buf line; /* with -s: that line, which is not printed yet */
};

static uint64_t column_after(const struct fold *f, uint64_t column, char ch)
{
    if (f->bytes)
        return column + 1;
    switch (ch) {
    case '\b':
        return column - (column > 0);
    case '\r':
        return 0;
    case '\t':
        return column + TAB - column % TAB;
    default:
        return column + 1;
    }
}

/* Bytes at @p, @n at most, that take a column each and fit. */
static size_t plain_run(const struct fold *f, const char *p, size_t n)
{
    size_t i = 0;
    n = (size_t)NUM_MIN((uint64_t)n, f->width - NUM_MIN(f->column, f->width));
    if (f->bytes) {
        const char *e = memchr(p, '\n', n);
        return e ? (size_t)(e - p) : n;
    }
    while (i < n && ((unsigned char)p[i] > '\r' || (unsigned char)p[i] < '\b'))
        i++;
    return i;
}

static int put(struct fold *f, const char *p, size_t n)
{
    f->begun = true;
    return f->spaces ? buf_add(&f->line, p, n) : cmd_write(f->c, p, n);
}

static void end_line(struct fold *f)
{
    if (f->spaces) {
        cmd_write(f->c, f->line.p, f->line.n);
        buf_clear(&f->line);
    }
    cmd_putc(f->c, '\n');
    f->column = 0;
    f->begun = false;
}

/* Ends the line behind its last blank, and begins another with what follows. False: it has no blank. */
static bool break_at_blank(struct fold *f)
{
    size_t n = f->line.n;
    while (n > 0 && !isblank((unsigned char)f->line.p[n - 1]))
        n--;
    if (n == 0)
        return false;
    cmd_write(f->c, f->line.p, n);
    cmd_putc(f->c, '\n');
    memmove(f->line.p, f->line.p + n, f->line.n - n);
    buf_trunc(&f->line, f->line.n - n);
    f->begun = f->line.n > 0;
    f->column = 0;
    for (size_t i = 0; i < f->line.n; i++)
        f->column = column_after(f, f->column, f->line.p[i]);
    return true;
}

/* A byte that is no newline: 0 or -ENOMEM, -EFBIG. */
static int one_byte(struct fold *f, char ch)
{
    for (;;) {
        uint64_t next = column_after(f, f->column, ch);
        if (next <= f->width || (!f->begun && !(f->spaces && f->line.n > 0))) {
            f->column = next;
            return put(f, &ch, 1);
        }
        if (!(f->spaces && break_at_blank(f)))
            end_line(f);
    }
}

static int fold_block(struct fold *f, const char *p, size_t n)
{
    int r = 0;
    for (const char *end = p + n; p < end && r == 0 && f->c->out_err == 0;) {
        size_t run = plain_run(f, p, (size_t)(end - p));
        if (run > 0) {
            r = put(f, p, run);
            f->column += run;
            p += run;
        } else if (*p == '\n') {
            end_line(f);
            p++;
        } else {
            r = one_byte(f, *p++);
        }
    }
    return r < 0 && f->c->out_err == 0 ? r : 0;
}

static int fold_file(struct fold *f, const char *name, char *block)
{
    struct cmd *c = f->c;
    ssize_t n = 0;
    int r = 0, fd = cmd_open_input(c, name);
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote(c, name, false));
        return 1;
    }
    while (r == 0 && c->out_err == 0 && (r = cmd_poll(c)) == 0 && (n = proc_read(c->p, fd, block, CMD_BLOCK)) > 0)
        r = fold_block(f, block, (size_t)n);
    if (f->spaces)
        cmd_write(c, f->line.p, f->line.n);
    buf_clear(&f->line);
    f->column = 0;
    f->begun = false;
    cmd_close_input(c, fd);
    if (r == -ENOMEM || r == -EFBIG)
        return cmd_no_memory(c);
    if (n < 0)
        cmd_errno(c, (int)n, "%s", cmd_quote(c, name, false));
    return n < 0;
}

static int fold_main(struct cmd *c)
{
    struct fold f = {.c = c, .width = 80};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        f.bytes |= o == 'b';
        f.spaces |= o == 's';
        if (o == 'b' || o == 's')
            continue;
        char digit[2] = {(char)o, 0};
        const char *text = o == 'w' ? c->optarg : c->optarg ? c->optarg - 1 : digit;
        if (!num_option(c, text, NULL, 1, SIZE_MAX - TAB - 1, "invalid number of columns", &f.width))
            return 1;
    }
    buf_init(&f.line, LIMIT_LINE);
    char *block = cmd_block_get();
    int status = 0;
    if (c->optind == c->argc)
        status = fold_file(&f, "-", block);
    for (int i = c->optind; i < c->argc && c->out_err == 0 && !c->p->must_end; i++)
        status |= fold_file(&f, c->argv[i], block);
    cmd_block_put(block);
    buf_done(&f.line);
    return status;
}

CMD(fold, fold_main, 1, "Usage: fold [OPTION]... [FILE]...\n",
    "  -b, --bytes        count bytes, not columns\n"
    "  -s, --spaces       break behind a blank where there is one\n"
    "  -w, --width=WIDTH  that many columns, not 80\n");
