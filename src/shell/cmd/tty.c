/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

static const struct cmd_opt opts[] = {
    {'s', "silent", CMD_NO_ARG},
    {'s', "quiet", CMD_NO_ARG},
    {0},
};

static int tty_main(struct cmd *c)
{
    bool silent = false;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        silent = true;
    }
    if (c->optind < c->argc)
        return cmd_extra(c, c->argv[c->optind]);
    bool is = proc_isatty(c->p, 0);
    if (is && !silent)
        return cmd_refuse(c, "the name of a terminal is not known here");
    if (!silent)
        cmd_puts(c, "not a tty\n");
    return !is;
}

CMD(tty, tty_main, 2, "Usage: tty [OPTION]...\n",
    "Prints the name of the terminal that is standard input.\n"
    "  -s, --silent, --quiet  only the status says whether it is one\n");
