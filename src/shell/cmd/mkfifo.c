/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/mode.h"

static const struct cmd_opt opts[] = {
    {'m', "mode", CMD_ARG},
    {'Z', NULL, CMD_NO_ARG | CMD_REFUSED},
    {256, "context", CMD_OPT_ARG | CMD_REFUSED},
    {0},
};

static int mkfifo_main(struct cmd *c)
{
    const char *text = NULL;
    uint32_t mode = 0666;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        text = c->optarg;
    }
    if (c->optind == c->argc)
        return cmd_missing(c);
    if (text && mode_apply(text, 0666, false, c->p->umask, &mode, NULL) < 0) {
        cmd_err(c, "invalid mode");
        return 1;
    }
    if (mode & ~0777u) {
        cmd_err(c, "mode must specify only file permission bits");
        return 1;
    }
    struct vfs_ctx ctx = cmd_ctx(c);
    if (text) /* it is exact */
        ctx.umask = 0;
    int status = 0;
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++) {
        int r = vfs_mknod(cmd_vfs(c), &ctx, 0, str_c(c->argv[i]), S_IFIFO | mode, 0);
        if (r == 0)
            continue;
        cmd_errno(c, r, "cannot create fifo %s", cmd_quote(c, c->argv[i], true));
        status = 1;
    }
    return status;
}

CMD_NAMED("mkfifo", mkfifo_, mkfifo_main, 1, "Usage: mkfifo [OPTION]... NAME...\n",
          "Makes FIFOs.\n"
          "  -m, --mode=MODE  set the mode (as in chmod), not a=rw less the umask\n");
