/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "shell/cmd/tabs.h"

static const struct cmd_opt opts[] = {
    {'i', "initial", CMD_NO_ARG}, {'t', "tabs", CMD_ARG},    {'0', NULL, CMD_OPT_ARG}, {'1', NULL, CMD_OPT_ARG},
    {'2', NULL, CMD_OPT_ARG},     {'3', NULL, CMD_OPT_ARG},  {'4', NULL, CMD_OPT_ARG}, {'5', NULL, CMD_OPT_ARG},
    {'6', NULL, CMD_OPT_ARG},     {'7', NULL, CMD_OPT_ARG},  {'8', NULL, CMD_OPT_ARG}, {'9', NULL, CMD_OPT_ARG},
    {0},
};

/* Lines go on from file to file. */
struct expand {
    struct cmd *c;
    bool initial;
    struct tabs tabs;
    uint64_t column;
    size_t stop;
    bool off; /* with -i: the line has begun with something else */
};

/* What is put in small pieces, on its way to the output. */
#define STAGE 8192u

struct stage {
    struct cmd *c;
    size_t n;
    char p[STAGE];
};

static void stage_flush(struct stage *s)
{
    cmd_write(s->c, s->p, s->n);
    s->n = 0;
}

static void put_text(struct stage *s, const char *p, size_t n)
{
    if (n > STAGE - s->n)
        stage_flush(s);
    if (n > STAGE) {
        cmd_write(s->c, p, n);
    } else {
        memcpy(s->p + s->n, p, n);
        s->n += n;
    }
}

static void put_blanks(struct stage *s, uint64_t n)
{
    while (n > 0 && s->c->out_err == 0 && cmd_poll(s->c) == 0) {
        size_t part = (size_t)NUM_MIN(n, (uint64_t)(STAGE - s->n));
        memset(s->p + s->n, ' ', part);
        s->n += part;
        n -= part;
        if (s->n == STAGE)
            stage_flush(s);
    }
}

/* False: the line is too long for a column's number. */
static bool expand_tab(struct expand *e, struct stage *s)
{
    uint64_t next = tabs_next(&e->tabs, e->column, &e->stop);
    if (next == 0)
        next = e->column + 1;
    if (next < e->column)
        return false;
    put_blanks(s, next - e->column);
    e->column = next;
    return true;
}

/* A byte that is neither plain text nor a tab that is changed. */
static void other_byte(struct expand *e, struct stage *s, char ch)
{
    put_text(s, &ch, 1);
    if (ch == '\n') {
        e->column = e->stop = 0;
        e->off = false;
        return;
    }
    if (ch == '\b') {
        e->column -= e->column > 0;
        e->stop -= e->stop > 0;
    }
    e->off = e->initial;
}

static bool expand_block(struct expand *e, const char *p, size_t n)
{
    struct stage s = {.c = e->c};
    bool ok = true;
    for (const char *end = p + n; ok && p < end && e->c->out_err == 0;) {
        const char *run = p;
        if (e->off) { /* nothing more in this line is changed */
            const char *nl = memchr(p, '\n', (size_t)(end - p));
            p = nl ? nl : end;
        } else {
            while (p < end && ((unsigned char)*p > '\n' || (unsigned char)*p < '\b') && !(e->initial && *p != ' '))
                p++;
        }
        put_text(&s, run, (size_t)(p - run));
        e->column += (size_t)(p - run);
        if (p == end)
            break;
        if (*p == '\t')
            ok = expand_tab(e, &s);
        else
            other_byte(e, &s, *p);
        p++;
    }
    stage_flush(&s);
    if (!ok)
        cmd_err(e->c, "input line is too long");
    return ok;
}

static int expand_file(struct expand *e, const char *name, char *block)
{
    struct cmd *c = e->c;
    ssize_t n = 0;
    int fd = cmd_open_input(c, name);
    bool ok = true;
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote(c, name, false));
        return 1;
    }
    while (ok && c->out_err == 0 && cmd_poll(c) == 0 && (n = proc_read(c->p, fd, block, CMD_BLOCK)) > 0)
        ok = expand_block(e, block, (size_t)n);
    cmd_close_input(c, fd);
    if (n < 0)
        cmd_errno(c, (int)n, "%s", cmd_quote(c, name, false));
    return ok ? n < 0 : -1;
}

static int expand_main(struct cmd *c)
{
    struct expand e = {.c = c, .tabs = {.c = c}};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        char digit[2] = {(char)o, 0};
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'i')
            e.initial = true;
        else if (tabs_parse(&e.tabs, o == 't' ? c->optarg : c->optarg ? c->optarg - 1 : digit) < 0)
            return 1;
    }
    if (tabs_finish(&e.tabs) < 0)
        return 1;
    char *block = cmd_block_get();
    int status = 0, r = 0;
    if (c->optind == c->argc)
        status = expand_file(&e, "-", block);
    for (int i = c->optind; i < c->argc && r >= 0 && c->out_err == 0 && !c->p->must_end; i++)
        status |= r = expand_file(&e, c->argv[i], block);
    cmd_block_put(block);
    return status != 0;
}

CMD(expand, expand_main, 1, "Usage: expand [OPTION]... [FILE]...\n",
    "  -i, --initial    only tabs that nothing but blanks stands before\n"
    "  -t, --tabs=N     a stop every N columns, not 8\n"
    "  -t, --tabs=LIST  stops at these columns; the last may be /N, for multiples of N beyond, or +N, for so far from\n"
    "                   it\n");
