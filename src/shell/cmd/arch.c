/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

static const struct cmd_opt none[] = {{0}};

static int arch_main(struct cmd *c)
{
    if (cmd_getopt(c, none, false) == -2)
        return cmd_usage_status(c);
    if (c->optind < c->argc)
        return cmd_extra(c, c->argv[c->optind]);
    cmd_printf(c, "%s\n", proc_machine());
    return 0;
}

CMD(arch, arch_main, 1, "Usage: arch [OPTION]...\n", "The kind of machine, as uname -m.\n");
