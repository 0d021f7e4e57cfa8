/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

static const struct cmd_opt opts[] = {
    {'L', "logical", CMD_NO_ARG},
    {'P', "physical", CMD_NO_ARG},
    {0},
};

/* $PWD when it is a clean absolute path to the working directory, or NULL. */
static const char *logical(struct cmd *c)
{
    const char *wd = cmd_getenv(c, "PWD");
    struct vfs_ctx ctx = cmd_ctx(c);
    uint64_t ino;
    if (!wd || wd[0] != '/')
        return NULL;
    for (const char *p = wd; (p = strstr(p, "/.")); p++)
        if (!p[2] || p[2] == '/' || (p[2] == '.' && (!p[3] || p[3] == '/')))
            return NULL;
    if (vfs_lookup(cmd_vfs(c), &ctx, 0, str_c(wd), 0, &ino) < 0 || ino != ctx.cwd)
        return NULL;
    return wd;
}

static int pwd_main(struct cmd *c)
{
    bool use_env = cmd_getenv(c, "POSIXLY_CORRECT") != NULL;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        use_env = o == 'L';
    }
    if (c->optind < c->argc)
        cmd_err(c, "ignoring non-option arguments");
    const char *wd = use_env ? logical(c) : NULL;
    struct buf path;
    buf_init(&path, (size_t)LIMIT_DEPTH * (LIMIT_NAME + 2));
    int r = wd ? buf_addc(&path, wd) : vfs_dir_path(cmd_vfs(c), cmd_ctx(c).cwd, &path);
    if (r < 0) {
        cmd_err(c, "couldn't find directory entry in %s with matching i-node", cmd_quote_loc(c, ".."));
    } else {
        cmd_write(c, path.p, path.n);
        cmd_putc(c, '\n');
    }
    buf_done(&path);
    return r < 0;
}

CMD(pwd, pwd_main, 1, "Usage: pwd [OPTION]...\n",
    "  -L, --logical   use PWD from the environment, even if it holds symlinks\n"
    "  -P, --physical  resolve all symlinks (the default)\n");
