/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

/* link and unlink: one call of the system each. */

static const struct cmd_opt opts[] = {{0}};

static int link_main(struct cmd *c)
{
    if (cmd_getopt(c, opts, false) == -2)
        return cmd_usage_status(c);
    char **v = c->argv + c->optind;
    int n = c->argc - c->optind;
    if (n == 0)
        return cmd_missing(c);
    if (n == 1)
        return cmd_usage_error(c, "missing operand after %s", cmd_quote_loc(c, v[0]));
    if (n > 2)
        return cmd_extra(c, v[2]);
    struct vfs_ctx ctx = cmd_ctx(c);
    int r = vfs_link(cmd_vfs(c), &ctx, 0, str_c(v[0]), 0, str_c(v[1]), VFS_NOFOLLOW);
    if (r < 0)
        cmd_errno(c, r, "cannot create link %s to %s", cmd_quote(c, v[1], true), cmd_quote(c, v[0], true));
    return r < 0;
}

static int unlink_main(struct cmd *c)
{
    if (cmd_getopt(c, opts, false) == -2)
        return cmd_usage_status(c);
    char **v = c->argv + c->optind;
    int n = c->argc - c->optind;
    if (n == 0)
        return cmd_missing(c);
    if (n > 1)
        return cmd_extra(c, v[1]);
    struct vfs_ctx ctx = cmd_ctx(c);
    int r = vfs_unlink(cmd_vfs(c), &ctx, 0, str_c(v[0]));
    if (r < 0)
        cmd_errno(c, r, "cannot unlink %s", cmd_quote(c, v[0], true));
    return r < 0;
}

CMD_NAMED("link", link_, link_main, 1, "Usage: link FILE1 FILE2\n", "Makes FILE2 another name of FILE1.\n");
CMD_NAMED("unlink", unlink_, unlink_main, 1, "Usage: unlink FILE\n", "Removes FILE.\n");
