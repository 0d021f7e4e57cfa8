/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/copy.h"

#include <errno.h>

#include "shell/cmd/walk.h"

static const struct cmd_opt opts[] = {
    {256, "backup", CMD_OPT_ARG | CMD_REFUSED},
    {257, "context", CMD_NO_ARG | CMD_REFUSED},
    {'f', "force", CMD_NO_ARG},
    {'i', "interactive", CMD_NO_ARG},
    {'n', "no-clobber", CMD_NO_ARG},
    {'T', "no-target-directory", CMD_NO_ARG},
    {258, "strip-trailing-slashes", CMD_NO_ARG},
    {'S', "suffix", CMD_ARG | CMD_REFUSED},
    {'t', "target-directory", CMD_ARG},
    {'u', "update", CMD_NO_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {'b', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'Z', NULL, CMD_NO_ARG | CMD_REFUSED},
    {0},
};

struct mv {
    struct cmd *c;
    struct copier k;
    bool strip, no_target_dir;
    const char *target_dir;
};

/* Removes the source of a move that had to copy: false after a message. */
static bool remove_source(struct mv *m, const char *src)
{
    struct cmd *c = m->c;
    struct vfs *v = cmd_vfs(c);
    struct walk w;
    bool ok = true;
    walk_init(&w, c, WALK_NO_STAT);
    walk_start(&w, src);
    for (enum walk_event ev; (ev = walk_next(&w)) != WALK_END;) {
        struct vfs_ctx ctx = cmd_ctx(c);
        bool dir = ev == WALK_POST || ev == WALK_UNREAD;
        if (ev == WALK_PRE)
            continue;
        int r = dir ? vfs_rmdir(v, &ctx, w.parent, walk_ref(&w)) : vfs_unlink(v, &ctx, w.parent, walk_ref(&w));
        if (r == 0 && m->k.o.verbose)
            cmd_printf(c, dir ? "removed directory %s\n" : "removed %s\n", cmd_quote(c, w.path.p, true));
        if (r < 0 && r != -ENOENT) {
            if (ok)
                cmd_errno(c, r, "cannot remove %s", cmd_quote(c, w.path.p, true));
            ok = false;
        }
    }
    walk_done(&w);
    return ok;
}

static bool move(struct mv *m, const char *src, const char *dst)
{
    bool renamed;
    bool ok = copy_run(&m->k, src, dst, false, &renamed);
    return ok && !renamed ? remove_source(m, src) : ok;
}

static size_t trimmed(const char *s)
{
    size_t n = strlen(s);
    while (n > 1 && s[n - 1] == '/')
        n--;
    return n;
}

static bool into_dir(struct mv *m, const char *dir, const char *src)
{
    size_t n = trimmed(src), from = n, d = strlen(dir);
    while (from > 0 && src[from - 1] != '/')
        from--;
    return move(
        m, src,
        arena_printf(m->c->arena, "%s%s%.*s", dir, d > 0 && dir[d - 1] == '/' ? "" : "/", (int)(n - from), src + from));
}

static int is_dir(struct mv *m, const char *name)
{
    struct vfs_ctx ctx = cmd_ctx(m->c);
    uint64_t ino;
    return vfs_lookup(cmd_vfs(m->c), &ctx, 0, str_c(name), VFS_DIRECTORY, &ino);
}

static int run(struct mv *m)
{
    struct cmd *c = m->c;
    char **v = c->argv + c->optind;
    int n = c->argc - c->optind, r;
    const char *dir = m->target_dir;
    bool ok = true;
    if (n <= (dir ? 0 : 1)) {
        if (n == 0)
            return cmd_usage_error(c, "missing file operand");
        return cmd_usage_error(c, "missing destination file operand after %s", cmd_quote(c, v[0], true));
    }
    if (m->no_target_dir) {
        if (dir) {
            cmd_err(c, "cannot combine --target-directory (-t) and --no-target-directory (-T)");
            return 1;
        }
        if (n > 2)
            return cmd_usage_error(c, "extra operand %s", cmd_quote(c, v[2], true));
    } else if (dir) {
        if ((r = is_dir(m, dir)) < 0) {
            cmd_errno(c, r, "target directory %s", cmd_quote(c, dir, true));
            return 1;
        }
    } else if ((r = is_dir(m, v[n - 1])) == 0) {
        dir = v[--n];
    } else if (n > 2) {
        cmd_errno(c, r, "target %s", cmd_quote(c, v[n - 1], true));
        return 1;
    }
    for (int i = 0; i < n && m->strip; i++)
        v[i][trimmed(v[i])] = 0;
    copy_init(&m->k, c, dir && n > 1);
    if (!dir)
        ok = move(m, v[0], v[1]);
    for (int i = 0; dir && i < n && !c->p->must_end; i++)
        ok &= into_dir(m, dir, v[i]);
    copy_done(&m->k);
    return !ok;
}

static int mv_main(struct cmd *c)
{
    struct mv m = {.c = c};
    struct copy_opts *k = &m.k.o;
    *k = (struct copy_opts){
        .deref = COPY_DEREF_NEVER,
        .move = true,
        .recursive = true,
        .keep_mode = true,
        .keep_owner = true,
        .keep_times = true,
        .keep_links = true,
    };
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 't' && m.target_dir) {
            cmd_err(c, "multiple target directories specified");
            return 1;
        }
        if (o == 't')
            m.target_dir = c->optarg;
        if (o == 'f' || o == 'i' || o == 'n')
            k->ask = o == 'f' ? COPY_ASK_NEVER_SKIP : o == 'i' ? COPY_ASK_USER : COPY_ASK_ALWAYS_NO;
        k->update |= o == 'u';
        k->verbose |= o == 'v';
        m.strip |= o == 258;
        m.no_target_dir |= o == 'T';
    }
    k->tty = proc_isatty(c->p, 0);
    return run(&m);
}

CMD(mv, mv_main, 1,
    "Usage: mv [OPTION]... [-T] SOURCE DEST\n  or:  mv [OPTION]... SOURCE... DIRECTORY\n"
    "  or:  mv [OPTION]... -t DIRECTORY SOURCE...\n",
    "  -f, --force, -i, --interactive, -n, --no-clobber  do not ask before overwriting; ask; overwrite nothing\n"
    "      --strip-trailing-slashes\n"
    "  -t, --target-directory=DIRECTORY\n"
    "  -T, --no-target-directory\n"
    "  -u, --update   only what is newer than its destination\n"
    "  -v, --verbose  a line for each file\n");
