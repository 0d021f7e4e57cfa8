/* SPDX-License-Identifier: Apache-2.0 */
/* stty of coreutils, for the one thing that can be asked of the session's terminal: its size. */
#include "shell/cmd/cmd.h"

static int stty_main(struct cmd *c)
{
    if (cmd_help_alone(c))
        return 0;
    for (int i = 1; i < c->argc; i++)
        if (strncmp(c->argv[i], "-F", 2) == 0 || strncmp(c->argv[i], "--file", 6) == 0)
            return cmd_refuse(c, "option '--file' is not implemented here");
    if (!proc_isatty(c->p, 0)) {
        cmd_err(c, "'standard input': Inappropriate ioctl for device");
        return 1;
    }
    uint16_t rows, cols;
    proc_winsize(c->p->ps, &rows, &cols);
    if (c->argc == 2 && strcmp(c->argv[1], "size") == 0) {
        cmd_printf(c, "%u %u\n", rows, cols);
        return 0;
    }
    return cmd_refuse(c, "settings of the terminal are not implemented here");
}

CMD(stty, stty_main, 1, "Usage: stty size\n", "Rows and columns of the terminal on standard input.\n");
