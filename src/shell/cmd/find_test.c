/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/find_int.h"

#include <ctype.h>
#include <errno.h>

/* ---- numbers ---- */

bool find__number(const char *arg, uint64_t *ret, int *ret_cmp)
{
    const char *p = arg + (*arg == '+' || *arg == '-');
    while (isspace((unsigned char)*p))
        p++;
    if (*p == '+')
        p++;
    if (str_u64(str_c(p), ret) < 0)
        return false;
    *ret_cmp = *arg == '+' ? CMP_MORE : *arg == '-' ? CMP_LESS : CMP_EQ;
    return true;
}

static bool number_is(const struct find_test *t, uint64_t v)
{
    return t->num.cmp == CMP_EQ ? v == t->num.n : t->num.cmp == CMP_MORE ? v > t->num.n : v < t->num.n;
}

bool find__arg_num(struct find_parse *ps, const char *arg)
{
    return find__number(arg, &ps->t->num.n, &ps->t->num.cmp);
}

bool find__arg_size(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    size_t n = strlen(arg);
    if (n == 0)
        return find__bad(f, "invalid null argument to -size");
    char unit = arg[n - 1];
    uint64_t bytes = 512;
    switch (unit) {
    case 'b':
        break;
    case 'c':
        bytes = 1;
        break;
    case 'w':
        bytes = 2;
        break;
    case 'k':
        bytes = 1024;
        break;
    case 'M':
        bytes = 1u << 20;
        break;
    case 'G':
        bytes = 1u << 30;
        break;
    default:
        if (!isdigit((unsigned char)unit))
            return find__bad(f, "invalid -size type `%c'", unit);
        n++;
        break;
    }
    ps->t->num.unit = bytes;
    if (!find__number(arena_dup(f->c->arena, arg, n - 1), &ps->t->num.n, &ps->t->num.cmp))
        return find__bad(f, "Invalid argument `%s' to -size", arg);
    return true;
}

bool find__t_size(struct find *f, const struct find_test *t)
{
    return number_is(t, f->st.size / t->num.unit + (f->st.size % t->num.unit != 0));
}

bool find__t_links(struct find *f, const struct find_test *t)
{
    return number_is(t, f->st.nlink);
}

bool find__t_inum(struct find *f, const struct find_test *t)
{
    return number_is(t, f->st.ino);
}

bool find__t_uid(struct find *f, const struct find_test *t)
{
    return number_is(t, f->st.uid);
}

bool find__t_gid(struct find *f, const struct find_test *t)
{
    return number_is(t, f->st.gid);
}

/* ---- types ---- */

/* S_IF* of a letter of -type, or 0. */
static uint32_t type_of(char letter)
{
    switch (letter) {
    case 'b':
        return S_IFBLK;
    case 'c':
        return S_IFCHR;
    case 'd':
        return S_IFDIR;
    case 'f':
        return S_IFREG;
    case 'l':
        return S_IFLNK;
    case 'p':
        return S_IFIFO;
    case 's':
        return S_IFSOCK;
    default:
        return 0;
    }
}

static uint32_t type_bit(uint32_t mode)
{
    return 1u << ((mode & S_IFMT) >> 12);
}

bool find__arg_type(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    if (*arg == 0)
        return find__bad(f, "Arguments to %s should contain at least one letter", ps->name);
    for (const char *p = arg;; p++) {
        uint32_t type = type_of(*p);
        if (*p == 'D')
            return find__bad(
                f,
                "%s D is not supported because Solaris doors are not supported on the platform find was compiled on.",
                ps->name);
        if (!type)
            return find__bad(f, "Unknown argument to %s: %c", ps->name, *p);
        if (ps->t->types & type_bit(type))
            return find__bad(f, "Duplicate file type '%c' in the argument list to %s.", *p, ps->name);
        ps->t->types |= type_bit(type);
        if (*++p == 0)
            return true;
        if (*p != ',')
            return find__bad(f, "Must separate multiple arguments to %s using: ','", ps->name);
        if (p[1] == 0)
            return find__bad(f, "Last file type in list argument to %s is missing, i.e., list is ending on: ','",
                             ps->name);
    }
}

bool find__t_type(struct find *f, const struct find_test *t)
{
    return (t->types & type_bit(f->type)) != 0;
}

/* -type of the other side of a link. */
bool find__t_xtype(struct find *f, const struct find_test *t)
{
    struct vfs_stat st;
    if (f->type != S_IFLNK && !find__follows(f))
        return find__t_type(f, t);
    int r = find__stat_as(f, !find__follows(f), &st);
    if (r < 0) {
        find__error(f, r);
        return false;
    }
    return (t->types & type_bit(st.mode)) != 0;
}

/* ---- owners ---- */

/* A uid or gid in digits. */
static bool id_number(struct find_parse *ps, const char *arg, uint32_t *ret)
{
    uint64_t n;
    if (str_u64(str_c(arg), &n) < 0 || n > UINT32_MAX)
        return find__bad(ps->f, "%s: Numerical result out of range", arg);
    *ret = (uint32_t)n;
    return true;
}

bool find__arg_user(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    uint32_t gid;
    if (*arg == 0)
        return find__bad(f, "The argument to %s should not be empty", ps->name);
    if (cmd_user_id(f->c, arg, &ps->t->id, &gid) == 0)
        return true;
    if (arg[strspn(arg, "0123456789")] != 0)
        return find__bad(f, "%s is not the name of a known user", cmd_quote_loc(f->c, arg));
    return id_number(ps, arg, &ps->t->id);
}

bool find__arg_group(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    if (*arg == 0)
        return find__bad(f, "argument to %s is empty, but should be a group name", ps->name);
    if (cmd_group_id(f->c, arg, &ps->t->id) == 0)
        return true;
    size_t digits = strspn(arg, "0123456789");
    if (digits == 0)
        return find__bad(f, "%s is not the name of an existing group", cmd_quote_loc(f->c, arg));
    if (arg[digits])
        return find__bad(
            f,
            "%s is not the name of an existing group and it does not look like a numeric group ID because it has "
            "the unexpected suffix %s",
            cmd_quote_loc(f->c, arg), cmd_quote_loc(f->c, arg + digits));
    return id_number(ps, arg, &ps->t->id);
}

bool find__t_user(struct find *f, const struct find_test *t)
{
    return f->st.uid == t->id;
}

bool find__t_group(struct find *f, const struct find_test *t)
{
    return f->st.gid == t->id;
}

bool find__t_nouser(struct find *f, const struct find_test *t)
{
    (void)t;
    return !cmd_user_name(f->c, f->st.uid);
}

bool find__t_nogroup(struct find *f, const struct find_test *t)
{
    (void)t;
    return !cmd_group_name(f->c, f->st.gid);
}

/* ---- permission ---- */

bool find__arg_perm(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    struct find_test *t = ps->t;
    const char *mode = arg + (*arg == '-' || *arg == '/');
    bool old = arg[0] == '+' && arg[1] >= '0' && arg[1] <= '7'; /* +MODE once was /MODE */
    if (old || cmd_mode_parse(mode, 0, false, 0, &t->perm.file) < 0 ||
        cmd_mode_parse(mode, 0, true, 0, &t->perm.dir) < 0)
        return find__bad(f, "invalid mode %s", cmd_quote_loc(f->c, arg));
    t->perm.kind = mode > arg ? *arg : 0;
    if (t->perm.kind == '/' && t->perm.file == 0 && t->perm.dir == 0) {
        cmd_err(f->c,
                "warning: you have specified a mode pattern %s (which is equivalent to /000). The meaning of -perm "
                "/000 has now "
                "been changed to be consistent with -perm -000; that is, while it used to match no files, it now "
                "matches all "
                "files.",
                arg);
        t->perm.kind = '-';
    }
    return true;
}

bool find__t_perm(struct find *f, const struct find_test *t)
{
    uint32_t mode = f->st.mode & 07777, want = f->type == S_IFDIR ? t->perm.dir : t->perm.file;
    if (t->perm.kind == '-')
        return (mode & want) == want;
    if (t->perm.kind == '/')
        return want == 0 || (mode & want) != 0;
    return mode == want;
}

bool find__arg_access(struct find_parse *ps, const char *arg)
{
    (void)arg;
    ps->t->access = ps->name[1] == 'r' ? R_OK : ps->name[1] == 'w' ? W_OK : X_OK;
    return true;
}

bool find__t_access(struct find *f, const struct find_test *t)
{
    struct vfs_ctx ctx = cmd_ctx(f->c);
    return vfs_access(f->v, &ctx, f->parent, find__ref(f), t->access, 0) == 0;
}

/* ---- the rest ---- */

bool find__arg_same(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    struct vfs_stat st;
    int r = find__stat_arg(f, arg, &st);
    if (r < 0) {
        cmd_errno(f->c, r, "%s", cmd_quote_loc(f->c, arg));
        return find__fail(f, 1);
    }
    ps->t->same.dev = st.dev;
    ps->t->same.ino = st.ino;
    return true;
}

bool find__t_same(struct find *f, const struct find_test *t)
{
    return f->st.ino == t->same.ino && f->st.dev == t->same.dev;
}

bool find__t_empty(struct find *f, const struct find_test *t)
{
    struct vfs_dirent e;
    (void)t;
    if (f->type == S_IFREG)
        return f->st.size == 0;
    if (f->type != S_IFDIR)
        return false;
    int r = vfs_access_ino(f->v, &f->c->p->cred, f->ino, R_OK);
    if (r == 0)
        r = vfs_dir_next(f->v, f->ino, STR(""), &e);
    if (r < 0)
        find__error(f, r);
    return r == 0;
}

bool find__t_true(struct find *f, const struct find_test *t)
{
    (void)f;
    (void)t;
    return true;
}

bool find__t_false(struct find *f, const struct find_test *t)
{
    (void)f;
    (void)t;
    return false;
}

bool find__t_prune(struct find *f, const struct find_test *t)
{
    (void)t;
    f->prune = true;
    return true;
}

bool find__t_quit(struct find *f, const struct find_test *t)
{
    (void)t;
    f->stop = true;
    return true;
}
