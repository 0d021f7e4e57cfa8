/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/canon.h"

static const struct cmd_opt opts[] = {
    {256, "backup", CMD_OPT_ARG | CMD_REFUSED},
    {'d', "directory", CMD_NO_ARG},
    {'n', "no-dereference", CMD_NO_ARG},
    {'T', "no-target-directory", CMD_NO_ARG},
    {'f', "force", CMD_NO_ARG},
    {'i', "interactive", CMD_NO_ARG},
    {'S', "suffix", CMD_ARG | CMD_REFUSED},
    {'t', "target-directory", CMD_ARG},
    {'L', "logical", CMD_NO_ARG},
    {'P', "physical", CMD_NO_ARG},
    {'r', "relative", CMD_NO_ARG},
    {'s', "symbolic", CMD_NO_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {'b', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'F', NULL, CMD_NO_ARG},
    {0},
};

struct ln {
    struct cmd *c;
    bool symbolic, relative, force, ask, verbose, logical, dir_links, no_deref, no_target_dir;
    const char *target_dir;
};

/* DIR/NAME's last component, in c->arena. */
static const char *join(struct cmd *c, const char *dir, const char *name)
{
    size_t n = strlen(name), d = strlen(dir);
    while (n > 1 && name[n - 1] == '/')
        n--;
    size_t from = n;
    while (from > 0 && name[from - 1] != '/')
        from--;
    return arena_printf(c->arena, "%s%s%.*s", dir, d > 0 && dir[d - 1] == '/' ? "" : "/", (int)(n - from), name + from);
}

/* -r: the target as seen from the link's directory. */
static const char *relative_target(struct ln *l, const char *from, const char *dest)
{
    struct cmd *c = l->c;
    struct buf dir, src, out;
    const char *slash = strrchr(dest, '/'), *r = from;
    const char *parent = !slash ? "." : slash == dest ? "/" : arena_dup(c->arena, dest, (size_t)(slash - dest));
    buf_init(&dir, 1u << 20);
    buf_init(&src, 1u << 20);
    buf_init(&out, 1u << 20);
    if (canon_path(c, parent, CANON_MISSING, false, &dir) == 0 &&
        canon_path(c, from, CANON_MISSING, false, &src) == 0) {
        canon_relative(src.p, dir.p, &out);
        r = arena_dup(c->arena, out.p, out.n);
    }
    buf_done(&dir);
    buf_done(&src);
    buf_done(&out);
    return r;
}

static int make(struct ln *l, const char *from, const char *dest)
{
    struct vfs *v = cmd_vfs(l->c);
    struct vfs_ctx ctx = cmd_ctx(l->c);
    if (l->symbolic)
        return vfs_symlink(v, &ctx, str_c(from), 0, str_c(dest));
    return vfs_link(v, &ctx, 0, str_c(from), 0, str_c(dest), l->logical ? VFS_FOLLOW_OLD : 0);
}

static int cannot(struct ln *l, int err, const char *from, const char *dest)
{
    struct cmd *c = l->c;
    if (l->symbolic)
        cmd_errno(c, err,
                  err == -ENAMETOOLONG || !*from ? "failed to create symbolic link %s -> %s"
                                                 : "failed to create symbolic link %s%s",
                  cmd_quote(c, dest, true), err == -ENAMETOOLONG || !*from ? cmd_quote(c, from, true) : "");
    else if (err == -EMLINK)
        cmd_errno(c, err, "failed to create hard link to %.0s%s", dest, cmd_quote(c, from, true));
    else if (err == -EDQUOT || err == -EEXIST || err == -ENOSPC || err == -EROFS)
        cmd_errno(c, err, "failed to create hard link %s%.0s", cmd_quote(c, dest, true), from);
    else
        cmd_errno(c, err, "failed to create hard link %s => %s", cmd_quote(c, dest, true), cmd_quote(c, from, true));
    return 1;
}

/* A new link under a name of its own that then takes the place of @dest, so that there is no moment without one. */
static int replace(struct ln *l, const char *from, const char *dest)
{
    struct cmd *c = l->c;
    struct vfs *v = cmd_vfs(c);
    struct vfs_ctx ctx = cmd_ctx(c);
    const char *slash = strrchr(dest, '/');
    int dir_n = slash ? (int)(slash - dest) + 1 : 0;
    for (int i = 0; i < 100; i++) {
        uint64_t rnd;
        proc_entropy(c->p->ps, &rnd, sizeof rnd);
        const char *tmp = arena_printf(c->arena, "%.*sCu%08x", dir_n, dest, (unsigned)rnd);
        int r = make(l, from, tmp);
        if (r == -EEXIST)
            continue;
        if (r < 0)
            return r;
        r = vfs_rename(v, &ctx, 0, str_c(tmp), 0, str_c(dest), 0);
        vfs_unlink(v, &ctx, 0, str_c(tmp)); /* a rename onto another link of the same file does nothing */
        return r;
    }
    return -EEXIST;
}

/* Looks at what is in the way. 0: go on, *ret_there tells whether something is; 1: leave it (an answer); -1 after a
 * message. */
static int check(struct ln *l, const char *from, const char *dest, const struct vfs_stat *src, bool *ret_there)
{
    struct cmd *c = l->c;
    struct vfs *v = cmd_vfs(c);
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_stat st;
    *ret_there = false;
    if (!l->force && !l->ask)
        return 0;
    int r = vfs_stat(v, &ctx, 0, str_c(dest), VFS_NOFOLLOW, &st);
    if (r == -ENOENT)
        return 0;
    if (r < 0) {
        cmd_errno(c, r, "failed to access %s", cmd_quote(c, dest, true));
        return -1;
    }
    if (S_ISDIR(st.mode)) {
        cmd_err(c, "%s: cannot overwrite directory", cmd_quote(c, dest, false));
        return -1;
    }
    /* A symbolic link in place of the file that it would name loses that file too. */
    struct vfs_stat target;
    bool known = !l->symbolic || vfs_stat(v, &ctx, 0, str_c(from), 0, &target) == 0;
    if (l->symbolic)
        src = &target;
    if (l->force && known && src->ino == st.ino && src->dev == st.dev) {
        const char *x = strrchr(from, '/'), *y = strrchr(dest, '/');
        size_t a = x ? (size_t)(x - from) : 0, b = y ? (size_t)(y - dest) : 0;
        uint64_t pa = 0, pb = 0;
        vfs_lookup(v, &ctx, 0, x ? str_of(from, a ? a : 1) : STR("."), 0, &pa);
        vfs_lookup(v, &ctx, 0, y ? str_of(dest, b ? b : 1) : STR("."), 0, &pb);
        if (src->nlink == 1 || (pa == pb && strcmp(x ? x + 1 : from, y ? y + 1 : dest) == 0)) {
            cmd_err(c, "%s and %s are the same file", cmd_quote(c, from, true), cmd_quote(c, dest, true));
            return -1;
        }
    }
    if (l->ask && !cmd_ask(c, "%s: replace %s? ", c->name, cmd_quote(c, dest, true)))
        return 1;
    *ret_there = true;
    return 0;
}

static int one(struct ln *l, const char *from, const char *dest)
{
    struct cmd *c = l->c;
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_stat src = {0};
    bool there;
    if (!l->symbolic) {
        int r = vfs_stat(cmd_vfs(c), &ctx, 0, str_c(from), l->logical ? 0 : VFS_NOFOLLOW, &src);
        if (r < 0) {
            cmd_errno(c, r, "failed to access %s", cmd_quote(c, from, true));
            return 1;
        }
        if (S_ISDIR(src.mode) && !l->dir_links) {
            cmd_err(c, "%s: hard link not allowed for directory", cmd_quote(c, from, false));
            return 1;
        }
    }
    int r = check(l, from, dest, &src, &there);
    if (r != 0)
        return 1;
    const char *target = l->relative ? relative_target(l, from, dest) : from;
    r = there ? -EEXIST : make(l, target, dest);
    if (r == -EEXIST && there)
        r = replace(l, target, dest);
    if (r < 0)
        return cannot(l, r, target, dest);
    if (l->verbose)
        cmd_printf(c, "%s %c> %s\n", cmd_quote(c, dest, true), l->symbolic ? '-' : '=', cmd_quote(c, target, true));
    return 0;
}

static bool is_dir(struct ln *l, const char *name, bool follow)
{
    struct vfs_ctx ctx = cmd_ctx(l->c);
    struct vfs_stat st;
    return vfs_stat(cmd_vfs(l->c), &ctx, 0, str_c(name), follow ? 0 : VFS_NOFOLLOW, &st) == 0 && S_ISDIR(st.mode);
}

/* Why @name is no directory to link into, said as the real tool does. */
static int no_dir(struct ln *l, const char *name)
{
    struct cmd *c = l->c;
    struct vfs_ctx ctx = cmd_ctx(c);
    uint64_t ino;
    int r = vfs_lookup(cmd_vfs(c), &ctx, 0, str_c(name), VFS_DIRECTORY, &ino);
    if (r == 0 && l->no_deref)
        r = -ENOTDIR;
    cmd_errno(c, r, "target %s", cmd_quote(c, name, true));
    return 1;
}

/* The same for the directory of -t. */
static int no_target(struct ln *l, const char *name)
{
    struct cmd *c = l->c;
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_stat st;
    int r = vfs_stat(cmd_vfs(c), &ctx, 0, str_c(name), 0, &st);
    if (r < 0)
        cmd_errno(c, r, "failed to access %s", cmd_quote(c, name, true));
    else
        cmd_err(c, "target %s is not a directory", cmd_quote(c, name, true));
    return 1;
}

static int run(struct ln *l)
{
    struct cmd *c = l->c;
    char **v = c->argv + c->optind;
    int n = c->argc - c->optind, status = 0;
    if (n == 0)
        return cmd_usage_error(c, "missing file operand");
    if (l->no_target_dir) {
        if (n == 1)
            return cmd_usage_error(c, "missing destination file operand after %s", cmd_quote(c, v[0], true));
        if (n > 2)
            return cmd_usage_error(c, "extra operand %s", cmd_quote(c, v[2], true));
        return one(l, v[0], v[1]);
    }
    const char *dir = l->target_dir;
    if (dir) {
        if (!is_dir(l, dir, true))
            return no_target(l, dir);
    } else if (n == 1) {
        dir = ".";
    } else if (is_dir(l, v[n - 1], !l->no_deref)) {
        dir = v[--n];
    } else if (n > 2) {
        return no_dir(l, v[n - 1]);
    } else {
        return one(l, v[0], v[1]);
    }
    for (int i = 0; i < n && cmd_poll(c) == 0; i++) {
        struct arena_mark m = arena_mark(c->arena);
        status |= one(l, v[i], join(c, dir, v[i]));
        arena_reset(c->arena, m);
    }
    return status;
}

static int options(struct ln *l)
{
    struct cmd *c = l->c;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return -1;
        if (o == 't' && l->target_dir) {
            cmd_err(c, "multiple target directories specified");
            return -2;
        }
        if (o == 't')
            l->target_dir = c->optarg;
        if (o == 'f' || o == 'i') {
            l->force = o == 'f';
            l->ask = o == 'i';
        }
        if (o == 'L' || o == 'P')
            l->logical = o == 'L';
        l->symbolic |= o == 's';
        l->relative |= o == 'r';
        l->verbose |= o == 'v';
        l->no_deref |= o == 'n';
        l->no_target_dir |= o == 'T';
        l->dir_links |= o == 'd' || o == 'F';
    }
    return 0;
}

static int ln_main(struct cmd *c)
{
    struct ln l = {.c = c};
    int r = options(&l);
    if (r < 0)
        return r == -1 ? cmd_usage_status(c) : 1;
    if (l.relative && !l.symbolic) {
        cmd_err(c, "cannot do --relative without --symbolic");
        return 1;
    }
    if (l.target_dir && l.no_target_dir) {
        cmd_err(c, "cannot combine --target-directory and --no-target-directory");
        return 1;
    }
    return run(&l);
}

CMD(ln, ln_main, 1,
    "Usage: ln [OPTION]... [-T] TARGET LINK_NAME\n  or:  ln [OPTION]... TARGET\n  or:  ln [OPTION]... TARGET... "
    "DIRECTORY\n"
    "  or:  ln [OPTION]... -t DIRECTORY TARGET...\n",
    "  -d, -F, --directory       try to hard link directories (the tree refuses)\n"
    "  -f, --force               replace what is there\n"
    "  -i, --interactive         ask before\n"
    "  -L, --logical             follow TARGETs that are links\n"
    "  -n, --no-dereference      a LINK_NAME that is a link to a directory is no directory\n"
    "  -P, --physical            hard links to links themselves (the default)\n"
    "  -r, --relative            with -s, targets as seen from the link\n"
    "  -s, --symbolic            symbolic links\n"
    "  -t, --target-directory=DIRECTORY\n"
    "  -T, --no-target-directory\n"
    "  -v, --verbose             a line for each link\n");
