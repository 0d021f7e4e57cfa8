/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

/* A session's tree has no cache in front of it: sync only says which files it could not open. */

static const struct cmd_opt opts[] = {
    {'d', "data", CMD_NO_ARG},
    {'f', "file-system", CMD_NO_ARG},
    {0},
};

static int one(struct cmd *c, const char *name)
{
    int fd = cmd_open_safe(c, name, O_RDONLY | O_NONBLOCK, 0), r = fd;
    if (fd < 0)
        fd = cmd_open_safe(c, name, O_WRONLY | O_NONBLOCK, 0);
    if (fd < 0) {
        cmd_errno(c, r, "error opening %s", cmd_quote(c, name, true));
        return 1;
    }
    proc_close(c->p, fd);
    return 0;
}

static int sync_main(struct cmd *c)
{
    bool data = false, system = false;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        data |= o == 'd';
        system |= o == 'f';
    }
    if (data && system) {
        cmd_err(c, "cannot specify both --data and --file-system");
        return 1;
    }
    if (data && c->optind == c->argc) {
        cmd_err(c, "--data needs at least one argument");
        return 1;
    }
    int status = 0;
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++)
        status |= one(c, c->argv[i]);
    return status;
}

CMD_NAMED("sync", sync_, sync_main, 1, "Usage: sync [OPTION] [FILE]...\n",
          "Writes what is not yet on the disk: nothing is, all is in the session's tree.\n"
          "  -d, --data         only the data of the FILEs\n"
          "  -f, --file-system  the file systems of the FILEs\n");
