/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

static const struct cmd_opt opts[] = {{0}};

static int logname_main(struct cmd *c)
{
    if (cmd_getopt(c, opts, false) == -2)
        return cmd_usage_status(c);
    if (c->optind < c->argc)
        return cmd_extra(c, c->argv[c->optind]);
    /* Whoever a session runs as has logged in. */
    const char *name = cmd_user_name(c, c->p->cred.uid);
    if (!name) {
        cmd_err(c, "no login name");
        return 1;
    }
    cmd_puts(c, name);
    cmd_putc(c, '\n');
    return 0;
}

CMD(logname, logname_main, 1, "Usage: logname [OPTION]\n", "Prints the user's login name.\n");
