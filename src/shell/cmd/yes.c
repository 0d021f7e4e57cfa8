/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

static const struct cmd_opt opts[] = {{0}};

/* The line, with its newline, in c->arena. */
static struct str line_of(struct cmd *c)
{
    size_t n = 0;
    if (c->optind == c->argc)
        return STR("y\n");
    for (int i = c->optind; i < c->argc; i++)
        n += strlen(c->argv[i]) + 1;
    char *line = arena_alloc(c->arena, n), *p = line;
    for (int i = c->optind; i < c->argc; i++) {
        size_t k = strlen(c->argv[i]);
        memcpy(p, c->argv[i], k);
        p += k;
        *p++ = ' ';
    }
    p[-1] = '\n';
    return str_of(line, n);
}

static int yes_main(struct cmd *c)
{
    int o = cmd_getopt(c, opts, false);
    if (o == -2)
        return cmd_usage_status(c);
    struct str line = line_of(c);
    /* As many lines as fit a block, but no more than one whole line at least. */
    char *block = cmd_block_get();
    const char *p = line.p;
    size_t n = line.n;
    if (line.n <= CMD_BLOCK / 2) {
        for (n = 0; n + line.n <= CMD_BLOCK; n += line.n)
            memcpy(block + n, line.p, line.n);
        p = block;
    }
    ssize_t w;
    do {
        w = cmd_poll(c);
        for (size_t at = 0; at < n && w >= 0; at += (size_t)w)
            w = proc_write(c->p, 1, p + at, n - at);
    } while (w >= 0);
    cmd_block_put(block);
    cmd_errno(c, (int)w, "standard output");
    return 1;
}

CMD(yes, yes_main, 1, "Usage: yes [STRING]...\n", "Prints a line with all STRINGs, or 'y', until it is stopped.\n");
