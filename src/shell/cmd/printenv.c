/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

static const struct cmd_opt opts[] = {
    {'0', "null", CMD_NO_ARG},
    {0},
};

/* Every value that the environment has of a name. */
static bool put_value(struct cmd *c, const char *name, char end)
{
    size_t n = strlen(name);
    bool found = false;
    if (strchr(name, '='))
        return false;
    for (char **e = cmd_environ(c); *e; e++) {
        if (strncmp(*e, name, n) != 0 || (*e)[n] != '=')
            continue;
        cmd_puts(c, *e + n + 1);
        cmd_putc(c, end);
        found = true;
    }
    return found;
}

static int printenv_main(struct cmd *c)
{
    char end = '\n';
    for (int o; (o = cmd_getopt(c, opts, true)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        end = 0;
    }
    int status = 0;
    if (c->optind == c->argc) {
        for (char **e = cmd_environ(c); *e; e++) {
            cmd_puts(c, *e);
            cmd_putc(c, end);
        }
    }
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++)
        status |= !put_value(c, c->argv[i], end);
    return status;
}

CMD(printenv, printenv_main, 2, "Usage: printenv [OPTION]... [VARIABLE]...\n",
    "Prints the values of the VARIABLEs, or the environment.\n"
    "  -0, --null  NUL at ends of lines\n");
