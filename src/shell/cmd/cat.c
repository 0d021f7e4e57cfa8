/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/num.h"

static const struct cmd_opt opts[] = {
    {'b', "number-nonblank", CMD_NO_ARG},
    {'n', "number", CMD_NO_ARG},
    {'s', "squeeze-blank", CMD_NO_ARG},
    {'v', "show-nonprinting", CMD_NO_ARG},
    {'E', "show-ends", CMD_NO_ARG},
    {'T', "show-tabs", CMD_NO_ARG},
    {'A', "show-all", CMD_NO_ARG},
    {'e', NULL, CMD_NO_ARG},
    {'t', NULL, CMD_NO_ARG},
    {'u', NULL, CMD_NO_ARG},
    {0},
};

struct cat {
    struct cmd *c;
    bool number, nonblank, squeeze, nonprinting, ends, tabs;
    /* state that goes on from file to file */
    bool line_start; /* nothing of the current line was seen */
    unsigned blanks; /* empty lines in a row before it */
    uint64_t line;
    bool pending_cr; /* a CR at the end of a block, which with -E is ^M when a newline follows */
};

static void put_number(struct cat *k)
{
    char text[24];
    char *p = num_u64_text(++k->line, text);
    for (size_t n = strlen(p); n < 6; n++)
        cmd_putc(k->c, ' ');
    cmd_puts(k->c, p);
    cmd_putc(k->c, '\t');
}

/* One byte as -v shows it. */
static void put_visible(struct cat *k, unsigned char ch)
{
    if (ch >= 128) {
        cmd_write(k->c, "M-", 2);
        ch -= 128;
    } else if (ch == '\t') {
        cmd_write(k->c, k->tabs ? "^I" : "\t", k->tabs ? 2 : 1);
        return;
    }
    if (ch < 32 || ch == 127) {
        cmd_putc(k->c, '^');
        ch ^= 64;
    }
    cmd_putc(k->c, (char)ch);
}

static void put_text(struct cat *k, const char *p, size_t n)
{
    if (k->nonprinting) {
        for (size_t i = 0; i < n; i++)
            put_visible(k, (unsigned char)p[i]);
        return;
    }
    while (k->tabs && n > 0) {
        const char *t = memchr(p, '\t', n);
        if (!t)
            break;
        cmd_write(k->c, p, (size_t)(t - p));
        cmd_write(k->c, "^I", 2);
        n -= (size_t)(t - p) + 1;
        p = t + 1;
    }
    cmd_write(k->c, p, n);
}

/* Part of a line, without its newline; @ended tells whether that follows. */
static void line_part(struct cat *k, const char *p, size_t n, bool ended)
{
    if (n > 0) {
        if (k->pending_cr)
            cmd_putc(k->c, '\r');
        k->pending_cr = false;
        if (k->line_start && k->number)
            put_number(k);
        k->line_start = false;
        k->blanks = 0;
        bool cr = k->ends && !k->nonprinting && p[n - 1] == '\r';
        put_text(k, p, cr ? n - 1 : n);
        if (cr && ended)
            cmd_write(k->c, "^M", 2);
        else if (cr)
            k->pending_cr = true;
    } else if (k->pending_cr && ended) {
        cmd_write(k->c, "^M", 2);
        k->pending_cr = false;
    }
    if (!ended)
        return;
    if (k->line_start) {
        if (k->squeeze && k->blanks >= 1)
            return;
        k->blanks++;
        if (k->number && !k->nonblank)
            put_number(k);
    }
    cmd_puts(k->c, k->ends ? "$\n" : "\n");
    k->line_start = true;
}

static int show(struct cat *k, int fd, char *block)
{
    ssize_t n;
    while (cmd_poll(k->c) == 0 && (n = proc_read(k->c->p, fd, block, CMD_BLOCK)) != 0) {
        if (n < 0)
            return (int)n;
        for (char *p = block, *end = block + n; p < end;) {
            char *e = memchr(p, '\n', (size_t)(end - p));
            line_part(k, p, (size_t)((e ? e : end) - p), e != NULL);
            p = e ? e + 1 : end;
        }
        if (cmd_flush(k->c) < 0)
            return 0;
    }
    return 0;
}

static int copy(struct cat *k, int fd, char *block)
{
    ssize_t n;
    while (cmd_poll(k->c) == 0 && (n = proc_read(k->c->p, fd, block, CMD_BLOCK)) != 0) {
        if (n < 0)
            return (int)n;
        while (n > 0 && k->c->out_err == 0) {
            ssize_t w = proc_write(k->c->p, 1, block, (size_t)n);
            if (w < 0) {
                k->c->out_err = (int)w;
                return 0;
            }
            if (w < n)
                memmove(block, block + w, (size_t)(n - w));
            n -= w;
        }
    }
    return 0;
}

/* True when @fd is the file that standard output goes to and would feed itself. */
static bool is_output(struct cmd *c, int fd)
{
    struct vfs_stat in, out;
    if (proc_fstat(c->p, 1, &out) < 0 || !S_ISREG(out.mode) || proc_fstat(c->p, fd, &in) < 0)
        return false;
    return in.dev == out.dev && in.ino == out.ino && proc_lseek(c->p, fd, 0, SEEK_CUR) < (int64_t)in.size;
}

static int one(struct cat *k, const char *name, char *block)
{
    struct cmd *c = k->c;
    bool plain = !(k->number || k->squeeze || k->nonprinting || k->ends || k->tabs);
    int r = 0, fd = cmd_open_input(c, name);
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote(c, name, false));
        return 1;
    }
    if (is_output(c, fd)) {
        cmd_err(c, "%s: input file is output file", cmd_quote(c, name, false));
        r = 1;
    } else {
        r = plain ? copy(k, fd, block) : show(k, fd, block);
        if (r < 0)
            cmd_errno(c, r, "%s", cmd_quote(c, name, false));
        r = r < 0;
    }
    cmd_close_input(c, fd);
    return r;
}

static int options(struct cat *k)
{
    for (int o; (o = cmd_getopt(k->c, opts, false)) != -1;) {
        if (o == -2)
            return -2;
        if (o == 'b')
            k->nonblank = true;
        if (o == 'b' || o == 'n')
            k->number = true;
        if (o == 's')
            k->squeeze = true;
        if (strchr("vAet", o))
            k->nonprinting = true;
        if (strchr("EAe", o))
            k->ends = true;
        if (strchr("TAt", o))
            k->tabs = true;
    }
    return 0;
}

static int cat_main(struct cmd *c)
{
    struct cat k = {.c = c, .line_start = true};
    if (options(&k) < 0)
        return cmd_usage_status(c);
    if (proc_fd_flags(c->p, 1) < 0) {
        cmd_errno(c, proc_fd_flags(c->p, 1), "standard output");
        return 1;
    }
    char *block = cmd_block_get();
    int status = 0;
    if (c->optind == c->argc)
        status = one(&k, "-", block);
    for (int i = c->optind; i < c->argc && c->out_err == 0 && !c->p->must_end; i++)
        status |= one(&k, c->argv[i], block);
    if (k.pending_cr)
        cmd_putc(c, '\r');
    cmd_block_put(block);
    return status;
}

CMD(cat, cat_main, 1, "Usage: cat [OPTION]... [FILE]...\n",
    "  -A, --show-all          as -vET\n"
    "  -b, --number-nonblank   number the lines that are not empty; overrides -n\n"
    "  -e                      as -vE\n"
    "  -E, --show-ends         show $ at the end of each line\n"
    "  -n, --number            number all lines\n"
    "  -s, --squeeze-blank     one empty line where there are several in a row\n"
    "  -t                      as -vT\n"
    "  -T, --show-tabs         show tabs as ^I\n"
    "  -u                      nothing: output is never held back\n"
    "  -v, --show-nonprinting  use ^ and M- notation, but not for newline and tab\n");
