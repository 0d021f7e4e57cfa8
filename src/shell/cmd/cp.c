/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/copy.h"

#include <errno.h>

enum {
    O_ATTRIBUTES = 256,
    O_BACKUP,
    O_CONTENTS,
    O_NO_PRESERVE,
    O_PARENTS,
    O_PRESERVE,
    O_REMOVE,
    O_SPARSE,
    O_REFLINK,
    O_STRIP,
    O_CONTEXT,
};

static const struct cmd_opt opts[] = {
    {'a', "archive", CMD_NO_ARG},
    {O_ATTRIBUTES, "attributes-only", CMD_NO_ARG},
    {O_BACKUP, "backup", CMD_OPT_ARG | CMD_REFUSED},
    {O_CONTENTS, "copy-contents", CMD_NO_ARG},
    {'L', "dereference", CMD_NO_ARG},
    {'f', "force", CMD_NO_ARG},
    {'i', "interactive", CMD_NO_ARG},
    {'l', "link", CMD_NO_ARG},
    {'n', "no-clobber", CMD_NO_ARG},
    {'P', "no-dereference", CMD_NO_ARG},
    {O_NO_PRESERVE, "no-preserve", CMD_ARG},
    {'T', "no-target-directory", CMD_NO_ARG},
    {'x', "one-file-system", CMD_NO_ARG},
    {O_PARENTS, "parents", CMD_NO_ARG},
    {O_PARENTS, "path", CMD_NO_ARG},
    {O_PRESERVE, "preserve", CMD_OPT_ARG},
    {'R', "recursive", CMD_NO_ARG},
    {O_REMOVE, "remove-destination", CMD_NO_ARG},
    {O_SPARSE, "sparse", CMD_ARG},
    {O_REFLINK, "reflink", CMD_OPT_ARG},
    {O_STRIP, "strip-trailing-slashes", CMD_NO_ARG},
    {'S', "suffix", CMD_ARG | CMD_REFUSED},
    {'s', "symbolic-link", CMD_NO_ARG},
    {'t', "target-directory", CMD_ARG},
    {'u', "update", CMD_NO_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {O_CONTEXT, "context", CMD_OPT_ARG | CMD_REFUSED},
    {'b', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'d', NULL, CMD_NO_ARG},
    {'H', NULL, CMD_NO_ARG},
    {'p', NULL, CMD_NO_ARG},
    {'r', NULL, CMD_NO_ARG},
    {'Z', NULL, CMD_NO_ARG | CMD_REFUSED},
    {0},
};

struct cp {
    struct cmd *c;
    struct copier k;
    bool parents, strip, contents, no_target_dir;
    const char *target_dir;
};

/* ---- --preserve and --no-preserve ---- */

enum { KEEP_MODE, KEEP_TIMES, KEEP_OWNER, KEEP_LINKS, KEEP_CONTEXT, KEEP_XATTR, KEEP_ALL };

static int keep_one(struct cp *x, int what, bool on)
{
    struct copy_opts *o = &x->k.o;
    switch (what) {
    case KEEP_MODE:
        o->keep_mode = on;
        o->no_mode = !on;
        break;
    case KEEP_TIMES:
        o->keep_times = on;
        break;
    case KEEP_OWNER:
        o->keep_owner = on;
        break;
    case KEEP_LINKS:
        o->keep_links = on;
        break;
    case KEEP_CONTEXT:
        if (!on)
            break;
        cmd_err(x->c, "cannot preserve security context without an SELinux-enabled kernel");
        return -1;
    case KEEP_ALL:
        o->keep_mode = o->keep_times = o->keep_owner = o->keep_links = on;
        o->no_mode = !on;
        break;
    default: /* extended attributes: the tree has none */
        break;
    }
    return 0;
}

/* A list of attributes: 0, -1 after a usage message, -2 after another. */
static int keep_list(struct cp *x, const char *list, bool on)
{
    static const char *const names[] = {"mode", "timestamps", "ownership", "links", "context", "xattr", "all", NULL};
    static const int vals[] = {KEEP_MODE, KEEP_TIMES, KEEP_OWNER, KEEP_LINKS, KEEP_CONTEXT, KEEP_XATTR, KEEP_ALL};
    for (;;) {
        size_t n = strcspn(list, ",");
        const char *name = arena_dup(x->c->arena, list, n);
        int k = cmd_choice(x->c, on ? "--preserve" : "--no-preserve", name, names, vals);
        if (k < 0)
            return -1;
        if (keep_one(x, k, on) < 0)
            return -2;
        if (list[n] == 0)
            return 0;
        list += n + 1;
    }
}

static void keep_usual(struct cp *x)
{
    keep_one(x, KEEP_OWNER, true);
    keep_one(x, KEEP_MODE, true);
    keep_one(x, KEEP_TIMES, true);
    x->k.o.require = true;
}

/* ---- options ---- */

static int option_choice(struct cp *x, int o)
{
    static const char *const sparse[] = {"never", "auto", "always", NULL};
    static const int sparse_vals[] = {COPY_SPARSE_NEVER, COPY_SPARSE_AUTO, COPY_SPARSE_ALWAYS};
    static const char *const reflink[] = {"auto", "always", "never", NULL};
    static const int reflink_vals[] = {0, 1, 2};
    struct cmd *c = x->c;
    if (o == O_SPARSE) {
        int k = cmd_choice(c, "--sparse", c->optarg, sparse, sparse_vals);
        if (k < 0)
            return -1;
        x->k.o.sparse = (enum copy_sparse)k;
        return 0;
    }
    int k = c->optarg ? cmd_choice(c, "--reflink", c->optarg, reflink, reflink_vals) : 1;
    if (k == 1) { /* whether blocks are shared is not for a caller to say here; "auto" and "never" give the same file */
        cmd_refuse(c, "option '--reflink=always' is not implemented here");
        return -3;
    }
    return k < 0 ? -1 : 0;
}

static int option(struct cp *x, int o)
{
    struct copy_opts *k = &x->k.o;
    switch (o) {
    case 'a':
        k->deref = COPY_DEREF_NEVER;
        keep_one(x, KEEP_ALL, true);
        k->require = true;
        k->recursive = true;
        return 0;
    case 'd':
        k->keep_links = true;
        k->deref = COPY_DEREF_NEVER;
        return 0;
    case 'H':
        k->deref = COPY_DEREF_ARGS;
        return 0;
    case 'L':
        k->deref = COPY_DEREF_ALWAYS;
        return 0;
    case 'P':
        k->deref = COPY_DEREF_NEVER;
        return 0;
    case 'f':
        k->unlink_after_fail = true;
        return 0;
    case 'i':
        k->ask = COPY_ASK_USER;
        return 0;
    case 'n':
        k->ask = COPY_ASK_ALWAYS_NO;
        return 0;
    case 'p':
        keep_usual(x);
        return 0;
    case 'R':
    case 'r':
        k->recursive = true;
        return 0;
    case O_PRESERVE:
        if (!x->c->optarg) {
            keep_usual(x);
            return 0;
        }
        k->require = true;
        return keep_list(x, x->c->optarg, true);
    case O_NO_PRESERVE:
        return keep_list(x, x->c->optarg, false);
    case O_SPARSE:
    case O_REFLINK:
        return option_choice(x, o);
    case 't':
        if (x->target_dir) {
            cmd_err(x->c, "multiple target directories specified");
            return -2;
        }
        x->target_dir = x->c->optarg;
        return 0;
    default:
        k->attributes_only |= o == O_ATTRIBUTES;
        k->hard_link |= o == 'l';
        k->symbolic_link |= o == 's';
        k->one_fs |= o == 'x';
        k->unlink_first |= o == O_REMOVE;
        k->update |= o == 'u';
        k->verbose |= o == 'v';
        x->contents |= o == O_CONTENTS;
        x->parents |= o == O_PARENTS;
        x->strip |= o == O_STRIP;
        x->no_target_dir |= o == 'T';
        return 0;
    }
}

/* ---- --parents ---- */

/* Directories that --parents has made on the way, with the status of those they stand for. */
struct made_dir {
    struct made_dir *next;
    const char *path;
    struct vfs_stat src;
    bool is_new;
};

/* Makes what is missing between the target directory (the first @base bytes of @path) and its last component. */
static bool make_parents(struct cp *x, const char *path, size_t base, struct made_dir **ret)
{
    struct cmd *c = x->c;
    struct vfs *v = cmd_vfs(c);
    struct vfs_ctx ctx = cmd_ctx(c);
    size_t n = strlen(path);
    while (n > 0 && path[n - 1] != '/')
        n--;
    for (size_t i = base; i < n; i++) {
        if (path[i] != '/' || i == base || path[i - 1] == '/')
            continue;
        struct made_dir *d = ARENA_NEW(c->arena, struct made_dir);
        struct vfs_stat st;
        d->path = arena_dup(c->arena, path, i);
        const char *src = d->path + base;
        int r = vfs_stat(v, &ctx, 0, str_c(src), 0, &d->src);
        if (r < 0 || !S_ISDIR(d->src.mode)) {
            cmd_errno(c, r < 0 ? r : -ENOTDIR, "failed to get attributes of %s", cmd_quote(c, src, true));
            return false;
        }
        r = vfs_stat(v, &ctx, 0, str_c(d->path), 0, &st);
        if (r == 0 && !S_ISDIR(st.mode)) {
            cmd_err(c, "%s exists but is not a directory", cmd_quote(c, d->path, true));
            return false;
        }
        if (r < 0) {
            uint32_t omit = x->k.o.keep_owner ? S_IRWXG | S_IRWXO : x->k.o.keep_mode ? S_IWGRP | S_IWOTH : 0;
            uint32_t mode = (x->k.o.no_mode ? 0777 & ~c->p->umask : d->src.mode & 07777) & ~omit;
            r = vfs_mkdir(v, &ctx, 0, str_c(d->path), mode | S_IRWXU);
            if (r < 0) {
                cmd_errno(c, r, "cannot make directory %s", cmd_quote(c, d->path, true));
                return false;
            }
            d->is_new = true;
            if (x->k.o.verbose)
                cmd_printf(c, "%s -> %s\n", src, d->path);
        }
        d->next = *ret;
        *ret = d;
    }
    return true;
}

/* Gives the directories of make_parents() the attributes that are kept; innermost first. */
static bool finish_parents(struct cp *x, const struct made_dir *d)
{
    struct cmd *c = x->c;
    struct vfs *v = cmd_vfs(c);
    struct vfs_ctx ctx = cmd_ctx(c);
    const struct copy_opts *o = &x->k.o;
    for (; d; d = d->next) {
        uint64_t ino;
        int r = vfs_lookup(v, &ctx, 0, str_c(d->path), 0, &ino);
        if (r == 0 && o->keep_times)
            r = vfs_utimens(v, ctx.cred, ino, d->src.atime, d->src.mtime);
        if (r == 0 && o->keep_owner) {
            r = vfs_chown(v, ctx.cred, ino, d->src.uid, d->src.gid);
            if (r == -EPERM && ctx.cred->uid != 0)
                r = 0;
        }
        if (r == 0 && o->keep_mode)
            r = vfs_chmod(v, ctx.cred, ino, d->src.mode & 07777);
        else if (r == 0 && d->is_new)
            r = vfs_chmod(v, ctx.cred, ino, (d->src.mode & 07777) & ~(o->no_mode ? 0u : c->p->umask));
        if (r < 0) {
            cmd_errno(c, r, "failed to preserve attributes for %s", cmd_quote(c, d->path, true));
            return false;
        }
    }
    return true;
}

/* ---- operands ---- */

static size_t trimmed(const char *s)
{
    size_t n = strlen(s);
    while (n > 1 && s[n - 1] == '/')
        n--;
    return n;
}

/* Copies one operand into the target directory. */
static bool into_dir(struct cp *x, const char *dir, const char *src)
{
    struct cmd *c = x->c;
    struct made_dir *made = NULL;
    size_t n = trimmed(src), from = n, d = strlen(dir);
    if (x->strip)
        src = arena_dup(c->arena, src, n);
    const char *slash = d > 0 && dir[d - 1] == '/' ? "" : "/";
    if (x->parents) {
        const char *rel = src;
        while (*rel == '/')
            rel++;
        const char *dst = arena_printf(c->arena, "%s%s%.*s", dir, slash, (int)(n - (size_t)(rel - src)), rel);
        bool ok = make_parents(x, dst, d + strlen(slash), &made) && copy_run(&x->k, src, dst, false, NULL);
        return finish_parents(x, made) && ok;
    }
    while (from > 0 && src[from - 1] != '/')
        from--;
    struct str base = str_of(src + from, n - from);
    if (str_eqc(base, ".."))
        base.n = 0; /* what is in the directory above, not a ".." in the target */
    const char *dst = arena_printf(c->arena, "%s%s%.*s", dir, slash, (int)base.n, base.p);
    return copy_run(&x->k, src, dst, false, NULL);
}

/* Whether @name is a directory to copy into: 0 or why not. */
static int is_dir(struct cp *x, const char *name)
{
    struct vfs_ctx ctx = cmd_ctx(x->c);
    uint64_t ino;
    return vfs_lookup(cmd_vfs(x->c), &ctx, 0, str_c(name), VFS_DIRECTORY, &ino);
}

static int run(struct cp *x)
{
    struct cmd *c = x->c;
    char **v = c->argv + c->optind;
    int n = c->argc - c->optind, r;
    const char *dir = x->target_dir;
    bool ok = true;
    if (n <= (dir ? 0 : 1)) {
        if (n == 0)
            return cmd_usage_error(c, "missing file operand");
        return cmd_usage_error(c, "missing destination file operand after %s", cmd_quote(c, v[0], true));
    }
    if (x->no_target_dir) {
        if (dir) {
            cmd_err(c, "cannot combine --target-directory (-t) and --no-target-directory (-T)");
            return 1;
        }
        if (n > 2)
            return cmd_usage_error(c, "extra operand %s", cmd_quote(c, v[2], true));
    } else if (dir) {
        if ((r = is_dir(x, dir)) < 0) {
            cmd_errno(c, r, "target directory %s", cmd_quote(c, dir, true));
            return 1;
        }
    } else if ((r = is_dir(x, v[n - 1])) == 0) {
        dir = v[--n];
    } else if (n > 2) {
        cmd_errno(c, r, "target %s", cmd_quote(c, v[n - 1], true));
        return 1;
    }
    if (!dir && x->parents)
        return cmd_usage_error(c, "with --parents, the destination must be a directory");
    copy_init(&x->k, c, dir && n > 1);
    if (!dir)
        ok = copy_run(&x->k, v[0], v[1], false, NULL);
    for (int i = 0; dir && i < n && !c->p->must_end; i++)
        ok &= into_dir(x, dir, v[i]);
    copy_done(&x->k);
    return !ok;
}

static int cp_main(struct cmd *c)
{
    struct cp x = {.c = c};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        int r = o == -2 ? -1 : option(&x, o);
        if (r < 0)
            return r == -1 ? cmd_usage_status(c) : r == -3 ? 2 : 1;
    }
    struct copy_opts *k = &x.k.o;
    if (k->hard_link && k->symbolic_link)
        return cmd_usage_error(c, "cannot make both hard and symbolic links");
    if (k->deref == COPY_DEREF_UNSET)
        k->deref = k->recursive && !k->hard_link ? COPY_DEREF_NEVER : COPY_DEREF_ALWAYS;
    k->as_regular = !k->recursive || x.contents;
    /* Corners that are the tool's own: links that are written through, hard links of one file, modes on the way. */
    if (cmd_can_hand_over(c) &&
        (cmd_getenv(c, "POSIXLY_CORRECT") || (k->symbolic_link && k->unlink_after_fail) || x.parents))
        return cmd_refuse(c, "POSIXLY_CORRECT, -sf and --parents are the tool's own");
    if (k->unlink_after_fail && (k->hard_link || k->symbolic_link))
        k->unlink_first = true;
    return run(&x);
}

CMD(cp, cp_main, 1,
    "Usage: cp [OPTION]... [-T] SOURCE DEST\n  or:  cp [OPTION]... SOURCE... DIRECTORY\n"
    "  or:  cp [OPTION]... -t DIRECTORY SOURCE...\n",
    "  -a, --archive          as -dR --preserve=all\n"
    "      --attributes-only  attributes, not the content\n"
    "      --copy-contents    read special files, with -R\n"
    "  -d                     as --no-dereference --preserve=links\n"
    "  -f, --force            remove a destination that cannot be opened\n"
    "  -i, --interactive      ask before overwriting\n"
    "  -H, -L, --dereference, -P, --no-dereference  follow links that are operands; all; none\n"
    "  -l, --link             hard links, not copies\n"
    "  -n, --no-clobber       overwrite nothing\n"
    "  -p, --preserve[=LIST]  mode, ownership, timestamps; also links, xattr, all\n"
    "      --no-preserve=LIST\n"
    "      --parents          the source's directories too, below DIRECTORY\n"
    "  -R, -r, --recursive    directories\n"
    "      --reflink[=auto|never]  no effect\n"
    "      --remove-destination  remove before opening\n"
    "      --sparse=WHEN      holes: auto, always, never\n"
    "      --strip-trailing-slashes\n"
    "  -s, --symbolic-link    symbolic links, not copies\n"
    "  -t, --target-directory=DIRECTORY\n"
    "  -T, --no-target-directory\n"
    "  -u, --update           only what is newer than its destination\n"
    "  -v, --verbose          a line for each file\n"
    "  -x, --one-file-system\n");
