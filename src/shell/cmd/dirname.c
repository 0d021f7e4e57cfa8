/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

static const struct cmd_opt opts[] = {
    {'z', "zero", CMD_NO_ARG},
    {0},
};

static struct str dir_of(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    if (n == 0)
        return STR(".");
    while (n > 1 && path[n - 1] == '/')
        n--;
    return str_of(path, n);
}

static int dirname_main(struct cmd *c)
{
    char end = '\n';
    for (int o; (o = cmd_getopt(c, opts, true)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        end = 0;
    }
    if (c->optind == c->argc)
        return cmd_missing(c);
    for (int i = c->optind; i < c->argc; i++) {
        struct str d = dir_of(c->argv[i]);
        cmd_write(c, d.p, d.n);
        cmd_putc(c, end);
    }
    return 0;
}

CMD(dirname, dirname_main, 1, "Usage: dirname [OPTION] NAME...\n", "  -z, --zero  end each line with NUL\n");
