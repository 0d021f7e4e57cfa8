/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/mode.h"

static const struct cmd_opt opts[] = {
    {256, "context", CMD_OPT_ARG | CMD_REFUSED},
    {'m', "mode", CMD_ARG},
    {'p', "parents", CMD_NO_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {'Z', NULL, CMD_NO_ARG | CMD_REFUSED},
    {0},
};

struct mkdir {
    struct cmd *c;
    bool parents, verbose;
    uint32_t mode, bits; /* of the last component; the bits that -m speaks of */
};

static void created(const struct mkdir *m, const char *dir)
{
    if (m->verbose)
        cmd_printf(m->c, "%s: created directory %s\n", m->c->name, cmd_quote(m->c, dir, true));
}

/* The mode -m asks for where mkdir(2) and inheritance did not give it. */
static int set_mode(const struct mkdir *m, const char *dir)
{
    struct vfs_ctx ctx = cmd_ctx(m->c);
    struct vfs_stat st;
    if (m->bits == 0)
        return 0;
    int r = vfs_stat(cmd_vfs(m->c), &ctx, 0, str_c(dir), VFS_NOFOLLOW, &st);
    if (r < 0 || ((st.mode ^ m->mode) & m->bits) == 0)
        return r;
    return vfs_chmod(cmd_vfs(m->c), ctx.cred, st.ino, m->mode | (st.mode & 07777 & ~m->bits));
}

static int fail(const struct mkdir *m, int err, const char *what, const char *dir)
{
    cmd_errno(m->c, err, "%s %s", what, cmd_quote_loc(m->c, dir));
    return 1;
}

static bool is_dir(const struct mkdir *m, const char *path)
{
    struct vfs_ctx ctx = cmd_ctx(m->c);
    struct vfs_stat st;
    return vfs_stat(cmd_vfs(m->c), &ctx, 0, str_c(path), 0, &st) == 0 && S_ISDIR(st.mode);
}

/* Directories above the last component; they can be written and entered by their owner whatever the umask. */
static int make_parents(const struct mkdir *m, const char *dir)
{
    struct vfs_ctx ctx = cmd_ctx(m->c);
    size_t n = strlen(dir);
    while (n > 0 && dir[n - 1] == '/')
        n--;
    ctx.umask &= ~(uint32_t)(S_IWUSR | S_IXUSR);
    for (size_t i = 1; i < n; i++) {
        if (dir[i] != '/' || dir[i - 1] == '/')
            continue;
        const char *part = arena_dup(m->c->arena, dir, i);
        int r = vfs_mkdir(cmd_vfs(m->c), &ctx, 0, str_c(part), 0777);
        if (r == 0)
            created(m, part);
        else if (!is_dir(m, part))
            return fail(m, r == -EEXIST ? -ENOTDIR : r, "cannot create directory", part);
    }
    return 0;
}

static int make(const struct mkdir *m, const char *dir)
{
    struct vfs_ctx ctx = cmd_ctx(m->c);
    if (m->parents && make_parents(m, dir) != 0)
        return 1;
    ctx.umask = 0;
    /* With special bits, others may write only once they are set: -m +t alone, which mkdir(2) does, leaves 1755. */
    uint32_t late = (m->bits & (S_ISUID | S_ISGID)) | (m->mode & S_ISVTX) ? S_IWGRP | S_IWOTH : 0;
    int r = vfs_mkdir(cmd_vfs(m->c), &ctx, 0, str_c(dir), m->mode & 01777 & ~late);
    if (r < 0)
        return m->parents && is_dir(m, dir) ? 0 : fail(m, r, "cannot create directory", dir);
    created(m, dir);
    r = set_mode(m, dir);
    return r < 0 ? fail(m, r, "cannot set permissions", dir) : 0;
}

static int mkdir_main(struct cmd *c)
{
    struct mkdir m = {.c = c, .mode = 0777 & ~c->p->umask};
    const char *mode = NULL;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'm')
            mode = c->optarg;
        if (o == 'p')
            m.parents = true;
        if (o == 'v')
            m.verbose = true;
    }
    if (c->optind == c->argc)
        return cmd_missing(c);
    if (mode && mode_apply(mode, 0777, true, c->p->umask, &m.mode, &m.bits) < 0) {
        cmd_err(c, "invalid mode %s", cmd_quote_loc(c, mode));
        return 1;
    }
    int status = 0;
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++) {
        struct arena_mark mark = arena_mark(c->arena);
        status |= make(&m, c->argv[i]);
        arena_reset(c->arena, mark);
    }
    return status;
}

CMD_NAMED("mkdir", mkdir_, mkdir_main, 1, "Usage: mkdir [OPTION]... DIRECTORY...\n",
          "  -m, --mode=MODE  set the mode (as in chmod), not a=rwx less the umask\n"
          "  -p, --parents    make parents as needed; no error if DIRECTORY exists\n"
          "  -v, --verbose    a line for each directory made\n");
