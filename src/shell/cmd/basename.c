/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

static const struct cmd_opt opts[] = {
    {'a', "multiple", CMD_NO_ARG},
    {'s', "suffix", CMD_ARG},
    {'z', "zero", CMD_NO_ARG},
    {0},
};

static void put_base(struct cmd *c, const char *path, const char *suffix, char end)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    size_t from = n;
    while (from > 0 && path[from - 1] != '/')
        from--;
    if (from == n && n > 0)
        from = n - 1; /* only slashes */
    struct str base = str_of(path + from, n - from), tail = str_c(suffix);
    if (tail.n > 0 && tail.n < base.n && base.p[0] != '/' && str_ends(base, tail))
        base.n -= tail.n;
    cmd_write(c, base.p, base.n);
    cmd_putc(c, end);
}

static int basename_main(struct cmd *c)
{
    const char *suffix = "";
    bool many = false;
    char end = '\n';
    for (int o; (o = cmd_getopt(c, opts, true)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 's')
            suffix = c->optarg;
        if (o == 's' || o == 'a')
            many = true;
        if (o == 'z')
            end = 0;
    }
    int n = c->argc - c->optind;
    char **v = c->argv + c->optind;
    if (n == 0)
        return cmd_missing(c);
    if (!many && n > 2)
        return cmd_extra(c, v[2]);
    if (!many && n == 2) {
        put_base(c, v[0], v[1], end);
        return 0;
    }
    for (int i = 0; i < n; i++)
        put_base(c, v[i], suffix, end);
    return 0;
}

CMD(basename, basename_main, 1, "Usage: basename NAME [SUFFIX]\n  or:  basename OPTION... NAME...\n",
    "  -a, --multiple       every operand is a NAME\n"
    "  -s, --suffix=SUFFIX  take SUFFIX off; implies -a\n"
    "  -z, --zero           end each line with NUL\n");
