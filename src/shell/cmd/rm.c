/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/file_type.h"
#include "shell/cmd/walk.h"

static const struct cmd_opt opts[] = {
    {'f', "force", CMD_NO_ARG},
    {256, "interactive", CMD_OPT_ARG},
    {257, "one-file-system", CMD_NO_ARG},
    {258, "no-preserve-root", CMD_NO_ARG},
    {259, "preserve-root", CMD_OPT_ARG},
    {260, "-presume-input-tty", CMD_NO_ARG | CMD_REFUSED},
    {'r', "recursive", CMD_NO_ARG},
    {'d', "dir", CMD_NO_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {'i', NULL, CMD_NO_ARG},
    {'I', NULL, CMD_NO_ARG},
    {'R', NULL, CMD_NO_ARG},
    {0},
};

enum ask { ASK_SOMETIMES, ASK_NEVER, ASK_ALWAYS };

struct rm {
    struct cmd *c;
    enum ask ask;
    bool once, force, recurse, empty_dirs, verbose, keep_root, all_roots, one_fs, tty;
    struct vfs_stat root;
    unsigned failed; /* directories above this depth hold something that stays, and stay too */
};

enum answer { GO, GO_EMPTY, DECLINED, FAILED };

static void mark_failed(struct rm *m, const struct walk *w)
{
    m->failed = w->depth;
}

static enum answer cannot(struct rm *m, const struct walk *w, int err)
{
    cmd_errno(m->c, err, "cannot remove %s", cmd_quote(m->c, w->path.p, true));
    mark_failed(m, w);
    return FAILED;
}

static bool is_empty(struct rm *m, uint64_t ino)
{
    struct vfs_dirent e;
    struct vfs *v = cmd_vfs(m->c);
    return vfs_access_ino(v, &m->c->p->cred, ino, R_OK) == 0 && vfs_dir_next(v, ino, STR(""), &e) == 0;
}

/* Whether the entry goes: asks where -i, or a terminal and missing write permission, want it. @enter: a directory
 * before its entries. */
static enum answer ask(struct rm *m, const struct walk *w, bool enter)
{
    struct cmd *c = m->c;
    uint32_t type = w->st.mode & S_IFMT;
    bool protected = false, empty = enter && type == S_IFDIR && is_empty(m, w->st.ino);
    if (m->ask == ASK_NEVER)
        return empty ? GO_EMPTY : GO;
    if (!m->force && (m->ask == ASK_ALWAYS || m->tty) && type != S_IFLNK && w->err == 0)
    protected = vfs_access_ino(cmd_vfs(c), &c->p->cred, w->st.ino, W_OK) < 0;
    if (!protected && m->ask != ASK_ALWAYS)
        return empty ? GO_EMPTY : GO;
    struct vfs_stat st;
    if (vfs_stat_ino(cmd_vfs(c), w->st.ino, &st) < 0)
        return GO;
    const char *name = cmd_quote(c, w->path.p, true), *guard = protected ? "write-protected " : "";
    bool yes = enter && !empty ? cmd_ask(c, "%s: descend into %sdirectory %s? ", c->name, guard, name)
                               : cmd_ask(c, "%s: remove %s%s %s? ", c->name, guard, file_type_text(&st), name);
    if (yes)
        return empty ? GO_EMPTY : GO;
    mark_failed(m, w);
    return DECLINED;
}

static enum answer excise(struct rm *m, const struct walk *w, bool dir)
{
    struct cmd *c = m->c;
    struct vfs_ctx ctx = cmd_ctx(c);
    int r = dir ? vfs_rmdir(cmd_vfs(c), &ctx, w->parent, walk_ref(w))
                : vfs_unlink(cmd_vfs(c), &ctx, w->parent, walk_ref(w));
    if (r == 0) {
        if (m->verbose)
            cmd_printf(c, dir ? "removed directory %s\n" : "removed %s\n", cmd_quote(c, w->path.p, true));
        return GO;
    }
    if (m->force && (r == -ENOENT || r == -ENOTDIR || r == -EINVAL || r == -EILSEQ))
        return GO;
    if (dir && w->err < 0 && (r == -ENOTEMPTY || r == -EISDIR || r == -ENOTDIR || r == -EEXIST))
        r = w->err; /* why it could not be emptied */
    return cannot(m, w, r);
}

/* Operands that are never entered: ".", "..", "/". */
static bool forbidden(struct rm *m, struct walk *w)
{
    struct cmd *c = m->c;
    size_t n = w->path.n;
    while (n > 1 && w->path.p[n - 1] == '/')
        n--;
    size_t from = n;
    while (from > 0 && w->path.p[from - 1] != '/')
        from--;
    struct str last = str_of(w->path.p + from, n - from);
    if (str_eqc(last, ".") || str_eqc(last, "..")) {
        cmd_err(c, "refusing to remove %s or %s directory: skipping %s", cmd_quote(c, ".", true),
                cmd_quote(c, "..", true), cmd_quote(c, w->path.p, true));
        return true;
    }
    if (m->keep_root && w->st.ino == m->root.ino && w->st.dev == m->root.dev) {
        if (strcmp(w->path.p, "/") == 0)
            cmd_err(c, "it is dangerous to operate recursively on %s", cmd_quote(c, "/", true));
        else
            cmd_err(c, "it is dangerous to operate recursively on %s (same as %s)", cmd_quote(c, w->path.p, true),
                    cmd_quote(c, "/", true));
        cmd_err(c, "use --no-preserve-root to override this failsafe");
        return true;
    }
    return false;
}

/* A directory that is another device: -1 when it is to be left, with a message. */
static int check_device(struct rm *m, const struct walk *w)
{
    struct vfs_stat st, up;
    struct vfs_ctx ctx = cmd_ctx(m->c);
    struct vfs *v = cmd_vfs(m->c);
    if (vfs_stat_ino(v, w->st.ino, &st) < 0)
        return 0;
    if (m->one_fs && w->depth > 0 && st.dev != w->root_dev) {
        cmd_err(m->c, "skipping %s, since it's on a different device", cmd_quote(m->c, w->path.p, true));
        return -1;
    }
    if (m->all_roots && w->depth == 0 &&
        vfs_stat(v, &ctx, 0, str_c(arena_printf(m->c->arena, "%s/..", w->path.p)), 0, &up) == 0 && st.dev != up.dev) {
        cmd_err(m->c, "skipping %s, since it's on a different device", cmd_quote(m->c, w->path.p, true));
        cmd_err(m->c, "and --preserve-root=all is in effect");
        return -1;
    }
    return 0;
}

static enum answer enter(struct rm *m, struct walk *w)
{
    if (!m->recurse && !(m->empty_dirs && is_empty(m, w->st.ino))) {
        walk_skip(w);
        return cannot(m, w, m->empty_dirs ? -ENOTEMPTY : -EISDIR);
    }
    if ((w->depth == 0 && forbidden(m, w)) || ((m->one_fs || m->all_roots) && check_device(m, w) < 0)) {
        walk_skip(w);
        mark_failed(m, w);
        return FAILED;
    }
    enum answer a = ask(m, w, true);
    if (a == GO_EMPTY && m->ask == ASK_ALWAYS) { /* was asked for already */
        walk_skip(w);
        return excise(m, w, true);
    }
    if (a == DECLINED || a == FAILED)
        walk_skip(w);
    return a;
}

static enum answer event(struct rm *m, struct walk *w, enum walk_event ev)
{
    enum answer a;
    switch (ev) {
    case WALK_PRE:
        return enter(m, w);
    case WALK_POST:
    case WALK_UNREAD:
        if (w->depth < m->failed) {
            m->failed = w->depth;
            return GO;
        }
        a = ask(m, w, false);
        return a == GO ? excise(m, w, true) : a;
    case WALK_FILE:
        a = ask(m, w, false);
        return a == GO ? excise(m, w, false) : a;
    case WALK_LOST:
        return excise(m, w, false);
    case WALK_CYCLE:
    case WALK_END:
        break;
    }
    return GO;
}

static int run(struct rm *m)
{
    struct cmd *c = m->c;
    struct walk w;
    int status = 0;
    walk_init(&w, c, WALK_NO_STAT);
    for (int i = c->optind; i < c->argc && !c->p->must_end; i++) {
        m->failed = 0;
        walk_start(&w, c->argv[i]);
        for (enum walk_event ev; (ev = walk_next(&w)) != WALK_END;) {
            struct arena_mark mark = arena_mark(c->arena);
            status |= event(m, &w, ev) == FAILED;
            arena_reset(c->arena, mark);
        }
    }
    walk_done(&w);
    return status;
}

static int interactive(struct rm *m)
{
    static const char *const names[] = {"never", "no", "none", "once", "always", "yes", NULL};
    static const int vals[] = {0, 0, 0, 1, 2, 2};
    int k = m->c->optarg ? cmd_choice(m->c, "--interactive", m->c->optarg, names, vals) : 2;
    if (k < 0)
        return -1;
    m->ask = k == 2 ? ASK_ALWAYS : k == 1 ? ASK_SOMETIMES : ASK_NEVER;
    m->once = k == 1;
    if (k != 0)
        m->force = false;
    return 0;
}

static int options(struct rm *m)
{
    struct cmd *c = m->c;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        switch (o) {
        case -2:
            return -1;
        case 'f':
            m->force = true;
            m->ask = ASK_NEVER;
            m->once = false;
            break;
        case 'i':
        case 'I':
            m->ask = o == 'i' ? ASK_ALWAYS : ASK_SOMETIMES;
            m->once = o == 'I';
            m->force = false;
            break;
        case 256:
            if (interactive(m) < 0)
                return -1;
            break;
        case 257:
            m->one_fs = true;
            break;
        case 258:
            if (strcmp(c->argv[c->optind - 1], "--no-preserve-root") != 0) {
                cmd_err(c, "you may not abbreviate the --no-preserve-root option");
                return -2;
            }
            m->keep_root = false;
            break;
        case 259:
            if (c->optarg && strcmp(c->optarg, "all") != 0) {
                cmd_err(c, "unrecognized --preserve-root argument: %s", cmd_quote(c, c->optarg, true));
                return -2;
            }
            m->all_roots |= c->optarg != NULL;
            m->keep_root = true;
            break;
        case 'r':
        case 'R':
            m->recurse = true;
            break;
        case 'd':
            m->empty_dirs = true;
            break;
        default:
            m->verbose = true;
            break;
        }
    }
    return 0;
}

/* Advice for a file whose name looks like an option. */
static void advise(struct cmd *c)
{
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_stat st;
    for (int i = 1; i < c->argc; i++) {
        const char *a = c->argv[i];
        if (a[0] == '-' && a[1] && vfs_stat(cmd_vfs(c), &ctx, 0, str_c(a), VFS_NOFOLLOW, &st) == 0) {
            const char *line = arena_printf(c->arena, "Try '%s ./%s' to remove the file %s.\n", c->name,
                                            cmd_quote(c, a, false), cmd_quote(c, a, true));
            cmd_err_raw(c, line);
            return;
        }
    }
}

static int rm_main(struct cmd *c)
{
    struct rm m = {.c = c, .keep_root = true};
    c->opt_no_try = true;
    int r = options(&m);
    if (r == -1 && cmd_usage_status(c) == 1) {
        advise(c);
        cmd_try_help(c);
    }
    if (r < 0)
        return r == -1 ? cmd_usage_status(c) : 1;
    int n = c->argc - c->optind;
    if (n == 0)
        return m.force ? 0 : cmd_missing(c);
    struct vfs_ctx ctx = cmd_ctx(c);
    m.keep_root &= m.recurse;
    if (m.keep_root)
        vfs_stat(cmd_vfs(c), &ctx, 0, STR("/"), 0, &m.root);
    m.tty = m.ask == ASK_SOMETIMES && proc_isatty(c->p, 0);
    if (m.once && (m.recurse || n > 3)) {
        const char *what = m.recurse ? (n == 1 ? "argument recursively" : "arguments recursively")
                           : n == 1  ? "argument"
                                     : "arguments";
        if (!cmd_ask(c, "%s: remove %d %s? ", c->name, n, what))
            return 0;
    }
    return run(&m);
}

CMD(rm, rm_main, 1, "Usage: rm [OPTION]... [FILE]...\n",
    "  -f, --force           missing files are no error, never ask\n"
    "  -i                    ask for each file\n"
    "  -I                    ask once before more than three files, or recursively\n"
    "      --interactive[=WHEN]  WHEN is never, once (-I) or always (-i)\n"
    "      --one-file-system  with -r skip directories of other devices than their operand's\n"
    "      --no-preserve-root  '/' is not special\n"
    "      --preserve-root[=all]  do not remove '/' (the default); with 'all' no operand on another device than its "
    "parent\n"
    "  -r, -R, --recursive   directories and what is in them\n"
    "  -d, --dir             empty directories\n"
    "  -v, --verbose         a line for each file\n");
