/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "shell/builtin/cd_int.h"

static void set_pwd(struct shell *sh, struct str s)
{
    char *old = (char *)(uintptr_t)sh->pwd.p;
    sh->pwd = str_of(mem_dup(s.p, s.n), s.n);
    mem_free(old);
}

/* The path of the working directory as the tree has it; -ENOENT when it was removed. */
static int physical(struct shell *sh, struct buf *out)
{
    return vfs_dir_path(proc_set_vfs(sh->ps), vfs_handle_ino(sh->p->cwd), out);
}

static void complain_gone(struct shell *sh, const char *who)
{
    char text[200];
    int n = snprintf(text, sizeof text,
                     "%s: error retrieving current directory: getcwd: cannot access parent directories: "
                     "No such file or directory\n",
                     who);
    sh_write_fd(sh, 2, str_of(text, (size_t)n));
}

/* @dir under the working directory, not yet cleaned. */
static void join(const struct shell *sh, struct str dir, struct buf *out)
{
    if (dir.n == 0 || dir.p[0] != '/') {
        buf_adds(out, sh->pwd);
        if (out->n == 0 || out->p[out->n - 1] != '/')
            buf_putc(out, '/');
    }
    buf_adds(out, dir);
}

static bool is_dir(struct shell *sh, struct str path)
{
    struct vfs_stat st;
    return proc_stat(sh->p, path, 0, &st) == 0 && (st.mode & S_IFMT) == S_IFDIR;
}

bool cd__clean(struct shell *sh, struct str path, struct buf *out)
{
    size_t i = 0;
    buf_putc(out, '/');
    if (path.n >= 2 && path.p[1] == '/' && (path.n == 2 || path.p[2] != '/'))
        buf_putc(out, '/');
    size_t root = out->n;
    while (i < path.n) {
        while (i < path.n && path.p[i] == '/')
            i++;
        size_t from = i;
        while (i < path.n && path.p[i] != '/')
            i++;
        struct str part = str_of(path.p + from, i - from);
        if (part.n == 0 || str_eq(part, STR(".")))
            continue;
        if (!str_eq(part, STR(".."))) {
            if (out->n > root)
                buf_putc(out, '/');
            buf_adds(out, part);
            continue;
        }
        if (!is_dir(sh, buf_str(out)))
            return false;
        size_t n = out->n;
        while (n > root && out->p[n - 1] != '/')
            n--;
        buf_trunc(out, n > root ? n - 1 : root);
    }
    return out->err == 0;
}

/* After a chdir() that the logical path does not tell of: the physical one, or when that is gone too the joined one. */
static int find_pwd(struct shell *sh, const char *who, struct str joined)
{
    struct buf real BUF_AUTO;
    buf_init(&real, LIMIT_STRING);
    int r = physical(sh, &real);
    if (r < 0)
        complain_gone(sh, who);
    set_pwd(sh, r < 0 ? joined : buf_str(&real));
    return r;
}

int cd__enter(struct shell *sh, const char *who, struct str dir, bool no_links, bool *ret_lost)
{
    struct buf joined BUF_AUTO, path BUF_AUTO;
    buf_init(&joined, 2 * LIMIT_PATH);
    buf_init(&path, 2 * LIMIT_PATH);
    *ret_lost = false;
    join(sh, dir, &joined);
    if (joined.err)
        return -ENAMETOOLONG;
    bool logical = !no_links && cd__clean(sh, buf_str(&joined), &path);
    int r = proc_chdir(sh->p, logical ? buf_str(&path) : dir.n ? dir : STR("."));
    if (r < 0 && logical && r != -EINTR) {
        /* The name under which the shell knows its directory may no longer lead to it. */
        logical = false;
        if (proc_chdir(sh->p, dir.n ? dir : STR(".")) < 0)
            return r;
    } else if (r < 0) {
        return r;
    }
    if (logical)
        set_pwd(sh, buf_str(&path));
    else
        *ret_lost = find_pwd(sh, who, buf_str(&joined)) < 0;
    return 0;
}

/* OLDPWD is what PWD was; when that had no value it has none, but stays exported. */
static int bind_oldpwd(struct shell *sh)
{
    struct str old = var_get(sh, "PWD");
    struct sym *s = sym_get(sh, STR("OLDPWD"));
    struct var *v = s ? var_find(sh, s) : NULL;
    if (!s)
        return -ENOMEM;
    if (old.p)
        return var_set(sh, s, old);
    bool exported = v && (v->flags & VAR_EXPORT);
    int r = var_unset(sh, s);
    return r == 0 && exported ? var_attr(sh, s, VAR_EXPORT, 0) : r;
}

int cd__bind(struct shell *sh)
{
    int status = bind_oldpwd(sh) < 0;
    if (var_set_name(sh, "PWD", sh->pwd) < 0)
        status = 1;
    return status;
}

static void print_line(struct shell *sh, struct str s)
{
    sh_write(sh, s);
    sh_puts(sh, "\n");
}

/* What is printed when the directory was not named by the user: its new name (CDPATH), or the text that led there ("-",
 * cdable_vars). */
enum show { SHOW_NOTHING, SHOW_PWD, SHOW_TEXT };

struct going {
    struct shell *sh;
    const char *who;
    bool no_links, strict; /* -P, -e */
};

/* Enters @dir: true and *ret_status when it could, false when it could not (negative errno in *ret_err). */
static bool enter(const struct going *g, struct str dir, enum show show, int *ret_status, int *ret_err)
{
    bool lost;
    int r = cd__enter(g->sh, g->who, dir, g->no_links, &lost);
    if (r < 0) {
        *ret_err = r;
        return false;
    }
    *ret_status = cd__bind(g->sh);
    if (lost && g->no_links && g->strict)
        *ret_status = 1;
    if (show != SHOW_NOTHING)
        print_line(g->sh, show == SHOW_PWD ? g->sh->pwd : dir);
    return true;
}

/* Looks for @dir in the directories of CDPATH. */
static bool enter_by_cdpath(const struct going *g, struct str dir, int *ret_status)
{
    struct str list = var_get(g->sh, "CDPATH");
    struct buf path BUF_AUTO;
    buf_init(&path, 2 * LIMIT_PATH);
    /* The list may be changed while the directory is (PWD may be its nameref), so each entry is found anew. */
    for (size_t i = 0; list.n > 0 && i <= list.n; list = var_get(g->sh, "CDPATH")) {
        size_t from = i;
        int err;
        while (i < list.n && list.p[i] != ':')
            i++;
        struct str part = str_of(list.p + from, i - from);
        buf_clear(&path);
        buf_adds(&path, part);
        if (part.n > 0 && part.p[part.n - 1] != '/')
            buf_putc(&path, '/');
        buf_adds(&path, dir);
        enum show show = part.n == 0 ? SHOW_NOTHING : g->no_links ? SHOW_TEXT : SHOW_PWD;
        if (path.err == 0 && is_dir(g->sh, buf_str(&path)) && enter(g, buf_str(&path), show, ret_status, &err))
            return true;
        i++;
    }
    return false;
}

/* POSIX: CDPATH is for names that begin neither with '/' nor with a "." or ".." component. */
static bool wants_cdpath(struct str dir)
{
    if (dir.n == 0 || dir.p[0] == '/')
        return false;
    size_t dots = dir.p[0] == '.' ? dir.n > 1 && dir.p[1] == '.' ? 2 : 1 : 0;
    return dots == 0 || (dots < dir.n && dir.p[dots] != '/');
}

static int go(const struct going *g, struct str dir, bool print)
{
    struct shell *sh = g->sh;
    int status = 1, err = 0;
    if (!print && wants_cdpath(dir) && enter_by_cdpath(g, dir, &status))
        return status;
    if (enter(g, dir, print ? SHOW_TEXT : SHOW_NOTHING, &status, &err))
        return status;
    if (sh_shopt(sh, SHOPT_CDABLE_VARS) && sym_valid(dir)) {
        struct str value = var_get(sh, dir.p);
        int again;
        if (value.n > 0 && enter(g, arena_str(&sh->scratch, value), SHOW_TEXT, &status, &again))
            return status;
    }
    if (err != -EINTR)
        sh_errno(sh, err, "%s: %s", g->who, sh_shown(sh, dir));
    return 1;
}

/* The directory that no operand, or "-", means. */
static int go_variable(const struct going *g, const char *name, bool print)
{
    struct str dir = var_get(g->sh, name);
    if (!dir.p) {
        sh_error(g->sh, "%s: %s not set", g->who, name);
        return 1;
    }
    return go(g, arena_str(&g->sh->scratch, dir), print);
}

int cd__change(struct shell *sh, const char *who, struct str dir)
{
    struct going g = {.sh = sh, .who = who, .no_links = sh_opt(sh, OPT_PHYSICAL)};
    if (str_eq(dir, STR("-")))
        return go_variable(&g, "OLDPWD", true);
    return go(&g, dir, false);
}

static int builtin_cd(struct shell *sh, struct builtin_args *a)
{
    struct going g = {.sh = sh, .who = a->argv[0].p, .no_links = sh_opt(sh, OPT_PHYSICAL)};
    struct builtin_opt o = {0};
    int c;
    if (sh_restricted(sh, g.who, NULL))
        return 1;
    while ((c = builtin_getopt(sh, a, "eLP", &o)) != -1) {
        if (c == 'e')
            g.strict = true;
        else if (c == 'L' || c == 'P')
            g.no_links = c == 'P';
        else
            return 2;
    }
    if (a->argc - o.i > 1) {
        sh_error(sh, "%s: too many arguments", g.who);
        return 1;
    }
    if (o.i == a->argc)
        return go_variable(&g, "HOME", false);
    if (str_eq(a->argv[o.i], STR("-")))
        return go_variable(&g, "OLDPWD", true);
    return go(&g, a->argv[o.i], false);
}

static int builtin_pwd(struct shell *sh, struct builtin_args *a)
{
    bool no_links = sh_opt(sh, OPT_PHYSICAL);
    struct builtin_opt o = {0};
    int c;
    while ((c = builtin_getopt(sh, a, "LP", &o)) != -1) {
        if (c == '?')
            return 2;
        no_links = c == 'P';
    }
    if (!no_links && sh->pwd.n > 0) {
        print_line(sh, sh->pwd);
        return 0;
    }
    struct buf path BUF_AUTO;
    buf_init(&path, LIMIT_STRING);
    if (physical(sh, &path) < 0) {
        complain_gone(sh, a->argv[0].p);
        return 1;
    }
    print_line(sh, buf_str(&path));
    return 0;
}

BUILTIN(
    cd, "cd", builtin_cd, BUILTIN_POSIX, "cd [-L|[-P [-e]] [-@]] [dir]",
    "    Change the working directory to dir, to $HOME without one, to $OLDPWD for \"-\" (then its name is printed).\n"
    "\n"
    "      -L    take symbolic links in dir as they are: \"..\" undoes the name before it (the default)\n"
    "      -P    follow symbolic links before \"..\", and keep none in PWD\n"
    "      -e    with -P, fail when the new directory's name cannot be found\n"
    "\n"
    "    A dir that does not begin with a slash or a dot is looked for in the directories of CDPATH; what is found\n"
    "    there is printed. With cdable_vars a word that is no directory may be a variable that holds one.\n"
    "\n"
    "    The status is 0 when the directory was changed.\n");
BUILTIN(pwd, "pwd", builtin_pwd, BUILTIN_POSIX, "pwd [-LP]",
        "    Print the working directory.\n"
        "\n"
        "      -L    by the name it was entered by (the default)\n"
        "      -P    without symbolic links\n"
        "\n"
        "    The status is 0 unless an option is wrong or the directory is gone.\n");
