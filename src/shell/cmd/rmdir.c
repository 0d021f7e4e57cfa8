/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

static const struct cmd_opt opts[] = {
    {256, "ignore-fail-on-non-empty", CMD_NO_ARG},
    {'p', "parents", CMD_NO_ARG},
    {'p', "path", CMD_NO_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {0},
};

struct rmdir {
    struct cmd *c;
    bool ignore, verbose;
};

/* Whether the failure is one that --ignore-fail-on-non-empty covers: errors that may only hide that it is not empty
 * count too. */
static bool ignorable(const struct rmdir *m, int err, const char *dir)
{
    struct vfs_ctx ctx = cmd_ctx(m->c);
    struct vfs *v = cmd_vfs(m->c);
    uint64_t ino, n;
    if (!m->ignore)
        return false;
    if (err == -ENOTEMPTY || err == -EEXIST)
        return true;
    return (err == -EACCES || err == -EPERM || err == -EROFS || err == -EBUSY) &&
           vfs_lookup(v, &ctx, 0, str_c(dir), VFS_NOFOLLOW | VFS_DIRECTORY, &ino) == 0 &&
           vfs_access_ino(v, ctx.cred, ino, R_OK) == 0 && vfs_dir_count(v, ino, &n) == 0 && n > 0;
}

static int try_remove(const struct rmdir *m, const char *dir)
{
    struct vfs_ctx ctx = cmd_ctx(m->c);
    if (m->verbose)
        cmd_printf(m->c, "%s: removing directory, %s\n", m->c->name, cmd_quote(m->c, dir, true));
    return vfs_rmdir(cmd_vfs(m->c), &ctx, 0, str_c(dir));
}

static int remove_parents(const struct rmdir *m, char *dir)
{
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/')
        dir[--n] = 0;
    for (;;) {
        char *slash = strrchr(dir, '/');
        if (!slash)
            return 0;
        while (slash > dir && slash[-1] == '/')
            slash--;
        if (slash == dir)
            slash[1] = 0;
        if (slash == dir && dir[0] == '/' && dir[1] == 0)
            return 0;
        *slash = 0;
        int r = try_remove(m, dir);
        if (r < 0) {
            if (ignorable(m, r, dir))
                return 0;
            /* No directory: a link in the path. */
            cmd_errno(m->c, r, r == -ENOTDIR ? "failed to remove %s" : "failed to remove directory %s",
                      cmd_quote(m->c, dir, true));
            return 1;
        }
    }
}

static int remove_one(const struct rmdir *m, const char *dir, bool parents)
{
    struct vfs_ctx ctx = cmd_ctx(m->c);
    struct vfs_stat st;
    int r = try_remove(m, dir);
    if (r == 0)
        return parents ? remove_parents(m, arena_dup(m->c->arena, dir, strlen(dir))) : 0;
    if (ignorable(m, r, dir))
        return 0;
    size_t n = strlen(dir);
    if (r == -ENOTDIR && n > 0 && dir[n - 1] == '/') {
        while (n > 1 && dir[n - 1] == '/')
            n--;
        int there = vfs_stat(cmd_vfs(m->c), &ctx, 0, str_of(dir, n), 0, &st);
        bool leads = there == 0 ? S_ISDIR(st.mode) : there == -ENOENT;
        if (leads && vfs_stat(cmd_vfs(m->c), &ctx, 0, str_of(dir, n), VFS_NOFOLLOW, &st) == 0 && S_ISLNK(st.mode)) {
            cmd_err(m->c, "failed to remove %s: Symbolic link not followed", cmd_quote(m->c, dir, true));
            return 1;
        }
    }
    cmd_errno(m->c, r, "failed to remove %s", cmd_quote(m->c, dir, true));
    return 1;
}

static int rmdir_main(struct cmd *c)
{
    struct rmdir m = {.c = c};
    bool parents = false;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 256)
            m.ignore = true;
        if (o == 'p')
            parents = true;
        if (o == 'v')
            m.verbose = true;
    }
    if (c->optind == c->argc)
        return cmd_missing(c);
    int status = 0;
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++) {
        struct arena_mark mark = arena_mark(c->arena);
        status |= remove_one(&m, c->argv[i], parents);
        arena_reset(c->arena, mark);
    }
    return status;
}

CMD_NAMED("rmdir", rmdir_, rmdir_main, 1, "Usage: rmdir [OPTION]... DIRECTORY...\n",
          "      --ignore-fail-on-non-empty  no error for a directory that is not empty\n"
          "  -p, --parents  remove DIRECTORY and the directories above it that its name holds\n"
          "  -v, --verbose  a line for each directory\n");
