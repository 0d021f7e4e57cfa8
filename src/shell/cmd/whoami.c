/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

static const struct cmd_opt opts[] = {{0}};

static int whoami_main(struct cmd *c)
{
    if (cmd_getopt(c, opts, false) == -2)
        return cmd_usage_status(c);
    if (c->optind < c->argc)
        return cmd_extra(c, c->argv[c->optind]);
    const char *name = cmd_user_name(c, c->p->cred.uid);
    if (!name) {
        cmd_err(c, "cannot find name for user ID %u", c->p->cred.uid);
        return 1;
    }
    cmd_puts(c, name);
    cmd_putc(c, '\n');
    return 0;
}

CMD(whoami, whoami_main, 1, "Usage: whoami [OPTION]...\n", "Prints the name of the effective user.\n");
