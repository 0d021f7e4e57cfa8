/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

void cmd_lines_init(struct cmd_lines *l, struct cmd *c, int fd, char delim)
{
    *l = (struct cmd_lines){.c = c, .fd = fd, .delim = delim};
}

/* A buffer of one block is a block; a larger one is the guest's to pay for. */
static void lines_free(struct cmd_lines *l)
{
    if (l->cap == CMD_BLOCK)
        cmd_block_put(l->buf);
    else
        mem_free(l->buf);
}

void cmd_lines_done(struct cmd_lines *l)
{
    lines_free(l);
    l->buf = NULL;
    l->cap = l->pos = l->end = 0;
}

/* Makes room behind `end`: moves the begun line to the front, and doubles when it fills the buffer. */
static int lines_room(struct cmd_lines *l)
{
    size_t have = l->end - l->pos;
    if (!l->buf) {
        l->buf = cmd_block_get();
        l->cap = CMD_BLOCK;
    } else if (have == l->cap) {
        if (l->cap >= LIMIT_LINE)
            return -ENOMEM;
        char *b = mem_try(l->cap * 2);
        if (!b)
            return -ENOMEM;
        memcpy(b, l->buf, have);
        lines_free(l);
        l->buf = b;
        l->cap *= 2;
    } else if (l->pos > 0 && have > 0) {
        memmove(l->buf, l->buf + l->pos, have);
    }
    l->pos = 0;
    l->end = have;
    return 0;
}

/* Reads on until the line at `pos` is whole. */
static int lines_more(struct cmd_lines *l, struct str *ret, bool *ret_delim)
{
    size_t seen = l->end - l->pos;
    while (!l->eof) {
        int r = cmd_poll(l->c);
        if (r == 0 && (l->end == l->cap || seen == 0))
            r = lines_room(l);
        if (r < 0)
            return r;
        ssize_t n = proc_read(l->c->p, l->fd, l->buf + l->end, l->cap - l->end);
        if (n < 0)
            return (int)n;
        if (n == 0)
            l->eof = true;
        l->end += (size_t)n;
        char *line = l->buf + l->pos;
        char *e = memchr(line + seen, l->delim, l->end - l->pos - seen);
        seen = l->end - l->pos;
        if (e) {
            *ret = str_of(line, (size_t)(e - line));
            l->pos += ret->n + 1;
            if (ret_delim)
                *ret_delim = true;
            return 1;
        }
    }
    if (l->pos == l->end)
        return 0;
    *ret = str_of(l->buf + l->pos, l->end - l->pos);
    l->pos = l->end;
    if (ret_delim)
        *ret_delim = false;
    return 1;
}

int cmd_lines_next(struct cmd_lines *l, struct str *ret, bool *ret_delim)
{
    if (l->pos == l->end)
        return lines_more(l, ret, ret_delim);
    char *line = l->buf + l->pos;
    char *e = memchr(line, l->delim, l->end - l->pos);
    if (!e)
        return lines_more(l, ret, ret_delim);
    *ret = str_of(line, (size_t)(e - line));
    l->pos += ret->n + 1;
    if (ret_delim)
        *ret_delim = true;
    return 1;
}
