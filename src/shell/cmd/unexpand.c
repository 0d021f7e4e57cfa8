/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "shell/cmd/tabs.h"

static const struct cmd_opt opts[] = {
    {'a', "all", CMD_NO_ARG}, {256, "first-only", CMD_NO_ARG}, {'t', "tabs", CMD_ARG}, {',', NULL, CMD_NO_ARG},
    {'0', NULL, CMD_NO_ARG},  {'1', NULL, CMD_NO_ARG},         {'2', NULL, CMD_NO_ARG}, {'3', NULL, CMD_NO_ARG},
    {'4', NULL, CMD_NO_ARG},  {'5', NULL, CMD_NO_ARG},         {'6', NULL, CMD_NO_ARG}, {'7', NULL, CMD_NO_ARG},
    {'8', NULL, CMD_NO_ARG},  {'9', NULL, CMD_NO_ARG},         {0},
};

/*
 * Blanks are held until it is known whether they reach a stop: then a tab stands for them. A single blank in front of a
 * stop stays one, unless more blanks follow it. Lines go on from file to file.
 */
struct unexpand {
    struct cmd *c;
    bool all;
    struct tabs tabs;
    uint64_t column;
    size_t stop;
    bool off;         /* nothing more in this line is changed */
    bool after_blank; /* or at the start of the line */
    uint64_t held;    /* blanks */
    bool held_tab;    /* the first of them is a tab */
    bool held_one;    /* the first of them stands alone in front of a stop */
};

static void let_go(struct unexpand *u)
{
    if (u->held == 0)
        return;
    bool tab = u->held_tab || (u->held > 1 && u->held_one);
    cmd_putc(u->c, tab ? '\t' : ' ');
    for (uint64_t n = u->held - 1; n > 0 && cmd_poll(u->c) == 0 && u->c->out_err == 0; n--)
        cmd_putc(u->c, ' ');
    u->held = 0;
    u->held_tab = u->held_one = false;
}

/* A blank that may become part of a tab. Returns the byte to print, 0: it is held, or -1 after a message. */
static int blank(struct unexpand *u, char ch)
{
    uint64_t next = tabs_next(&u->tabs, u->column, &u->stop);
    if (next == 0) {
        u->off = true;
        return ch;
    }
    if (next < u->column) {
        cmd_err(u->c, "input line is too long");
        return -1;
    }
    if (ch == '\t') {
        u->column = next;
        u->held_tab |= u->held > 0;
    } else {
        u->column++;
        if (!u->after_blank || u->column != next) {
            u->held_one |= u->column == next;
            u->held++;
            u->after_blank = true;
            return 0;
        }
        u->held_tab = true;
    }
    u->held = u->held_one;
    u->held_tab &= u->held > 0;
    return '\t';
}

static void start_line(struct unexpand *u)
{
    u->column = u->stop = 0;
    u->off = false;
    u->after_blank = true;
}

/* A byte of a line that is still changed: 0, or -1 after a message. */
static int one_byte(struct unexpand *u, char ch)
{
    bool is_blank = isblank((unsigned char)ch);
    if (is_blank) {
        int r = blank(u, ch);
        if (r <= 0)
            return r;
        ch = (char)r;
    } else if (ch == '\b') {
        u->column -= u->column > 0;
        u->stop -= u->stop > 0;
    } else {
        u->column++;
    }
    let_go(u);
    u->after_blank = is_blank;
    u->off |= !u->all && !is_blank;
    cmd_putc(u->c, ch);
    if (ch == '\n')
        start_line(u);
    return 0;
}

static int change(struct unexpand *u, const char *p, size_t n)
{
    struct cmd *c = u->c;
    for (const char *end = p + n; p < end && c->out_err == 0;) {
        if (u->off) {
            const char *nl = memchr(p, '\n', (size_t)(end - p));
            size_t part = nl ? (size_t)(nl - p) + 1 : (size_t)(end - p);
            cmd_write(c, p, part);
            p += part;
            if (nl)
                start_line(u);
            continue;
        }
        const char *run = p;
        while (p < end && (unsigned char)*p > ' ')
            p++;
        if (p - run > 1 && u->all) {
            let_go(u);
            cmd_write(c, run, (size_t)(p - run));
            u->column += (size_t)(p - run);
            u->after_blank = false;
            continue;
        }
        p = run;
        if (one_byte(u, *p++) < 0)
            return -1;
    }
    return 0;
}

/* 0, 1 after a message, or -1: after one that ends it all. */
static int unexpand_file(struct unexpand *u, const char *name, char *block)
{
    struct cmd *c = u->c;
    ssize_t n = 0;
    int r = 0, fd = cmd_open_input(c, name);
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote(c, name, false));
        return 1;
    }
    while (r == 0 && c->out_err == 0 && cmd_poll(c) == 0 && (n = proc_read(c->p, fd, block, CMD_BLOCK)) > 0)
        r = change(u, block, (size_t)n);
    cmd_close_input(c, fd);
    if (n < 0)
        cmd_errno(c, (int)n, "%s", cmd_quote(c, name, false));
    return r < 0 ? -1 : n < 0;
}

/* The stops of the options: 0, or -1 and *ret_status. */
static int options(struct unexpand *u, int *ret_status)
{
    struct cmd *c = u->c;
    bool first_only = false, have = false;
    uint64_t value = 0;
    *ret_status = 1;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2) {
            *ret_status = cmd_usage_status(c);
            return -1;
        }
        u->all |= o == 'a' || o == 't';
        first_only |= o == 256;
        if (o == 't' && tabs_parse(&u->tabs, c->optarg) < 0)
            return -1;
        if (o == ',') {
            if (have)
                tabs_add(&u->tabs, value);
            have = false;
        } else if (o >= '0' && o <= '9') {
            value = have ? value : 0;
            have = true;
            if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)o - '0', &value)) {
                cmd_err(c, "tab stop value is too large");
                return -1;
            }
        }
    }
    if (first_only)
        u->all = false;
    if (have)
        tabs_add(&u->tabs, value);
    return tabs_finish(&u->tabs);
}

static int unexpand_main(struct cmd *c)
{
    struct unexpand u = {.c = c, .tabs = {.c = c}};
    int status;
    if (options(&u, &status) < 0)
        return status;
    start_line(&u);
    char *block = cmd_block_get();
    int r = 0;
    status = 0;
    if (c->optind == c->argc)
        status = r = unexpand_file(&u, "-", block);
    for (int i = c->optind; i < c->argc && r >= 0 && c->out_err == 0 && !c->p->must_end; i++)
        status |= r = unexpand_file(&u, c->argv[i], block);
    if (r >= 0)
        let_go(&u);
    cmd_block_put(block);
    return status != 0;
}

CMD(unexpand, unexpand_main, 1, "Usage: unexpand [OPTION]... [FILE]...\n",
    "  -a, --all        all blanks, not only those at the start of lines\n"
    "      --first-only only those at the start, although -t is given\n"
    "  -t, --tabs=N     a stop every N columns, not 8; implies -a\n"
    "  -t, --tabs=LIST  stops at these columns, with /N and +N as expand has them; implies -a\n");
