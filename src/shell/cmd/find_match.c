/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/find_int.h"

#include <errno.h>

#include "shell/pattern_int.h"

/* ---- patterns ---- */

static void glob_arg(struct find_parse *ps, const char *arg, int flags)
{
    struct cmd *c = ps->f->c;
    struct find_glob *g = ARENA_NEW(c->keep, struct find_glob);
    g->text = str_c(arg);
    g->flags = flags | (cmd_utf8(c) ? PATTERN_UTF8 : 0);
    g->bytes = pattern__compile(c->keep, g->text, flags);
    g->utf8 = g->flags & PATTERN_UTF8 ? pattern__compile(c->keep, g->text, g->flags) : g->bytes;
    ps->t->glob = g;
}

static bool glob_match(struct find *f, const struct find_glob *g, struct str text)
{
    if (!g->text.n) /* compiled, it would match anything; no name is empty */
        return false;
    int flags = g->flags & PATTERN_UTF8 ? pattern__flags(g->text, text, g->flags) : g->flags;
    return pattern__run(flags & PATTERN_UTF8 ? g->utf8 : g->bytes, f->c->p, text, PAT_WHOLE) >= 0;
}

static bool name_arg(struct find_parse *ps, const char *arg, int flags)
{
    struct cmd *c = ps->f->c;
    if (ps->f->warn && strchr(arg, '/') && strcmp(arg, "/") != 0) {
        const char *other = arena_printf(c->arena, "%swholename", flags ? "-i" : "-");
        cmd_err(c,
                "warning: %s matches against basenames only, but the given pattern contains a directory separator "
                "(%s), thus "
                "the expression will evaluate to false all the time.  Did you mean %s?",
                cmd_quote_loc(c, ps->name), cmd_quote_loc(c, "/"), cmd_quote_loc(c, other));
    }
    glob_arg(ps, arg, flags);
    return true;
}

bool find__arg_name(struct find_parse *ps, const char *arg)
{
    return name_arg(ps, arg, 0);
}

bool find__arg_iname(struct find_parse *ps, const char *arg)
{
    return name_arg(ps, arg, PATTERN_NOCASE);
}

static bool path_arg(struct find_parse *ps, const char *arg, int flags)
{
    size_t n = strlen(arg);
    if (n > 0 && arg[n - 1] == '/')
        cmd_err(ps->f->c, "warning: %s %s will not match anything because it ends with /.", ps->name, arg);
    glob_arg(ps, arg, flags);
    return true;
}

bool find__arg_path(struct find_parse *ps, const char *arg)
{
    return path_arg(ps, arg, 0);
}

bool find__arg_ipath(struct find_parse *ps, const char *arg)
{
    return path_arg(ps, arg, PATTERN_NOCASE);
}

bool find__arg_lname(struct find_parse *ps, const char *arg)
{
    glob_arg(ps, arg, 0);
    return true;
}

bool find__arg_ilname(struct find_parse *ps, const char *arg)
{
    glob_arg(ps, arg, PATTERN_NOCASE);
    return true;
}

bool find__t_name(struct find *f, const struct find_test *t)
{
    return glob_match(f, t->glob, find__base(f));
}

bool find__t_path(struct find *f, const struct find_test *t)
{
    return glob_match(f, t->glob, buf_str(&f->path));
}

bool find__t_lname(struct find *f, const struct find_test *t)
{
    if (f->type != S_IFLNK)
        return false;
    struct vfs_ctx ctx = cmd_ctx(f->c);
    BUF_AUTO struct buf b;
    buf_init(&b, 2 * LIMIT_PATH);
    int r = vfs_readlink(f->v, &ctx, f->parent, find__ref(f), &b);
    if (r < 0) {
        find__error(f, r);
        return false;
    }
    return glob_match(f, t->glob, buf_str(&b));
}

/* ---- regular expressions ---- */

static int poll_cmd(void *arg)
{
    return cmd_poll(arg);
}

static bool regex_arg(struct find_parse *ps, const char *arg, unsigned flags)
{
    struct find *f = ps->f;
    struct regex *re;
    const char *why = "";
    flags |= f->dialect | REGEX_NOSUB | REGEX_LINE | (cmd_utf8(f->c) ? REGEX_UTF8 : 0);
    int r = regex_compile(str_c(arg), flags, &re, &why);
    if (r < 0)
        return find__bad(f, "failed to compile regular expression '%s': %s", arg, why);
    struct regex_poll poll = {poll_cmd, f->c};
    regex_set_poll(re, &poll);
    struct find_regex *k = ARENA_NEW(f->c->keep, struct find_regex);
    *k = (struct find_regex){f->regexes, re};
    f->regexes = k;
    ps->t->regex = re;
    return true;
}

bool find__arg_regex(struct find_parse *ps, const char *arg)
{
    return regex_arg(ps, arg, 0);
}

bool find__arg_iregex(struct find_parse *ps, const char *arg)
{
    return regex_arg(ps, arg, REGEX_ICASE);
}

bool find__arg_regextype(struct find_parse *ps, const char *arg)
{
    static const struct {
        const char *name;
        unsigned flags;
    } types[] = {
        {"findutils-default", REGEX_DIALECT(REGEX_FINDUTILS)},
        {"ed", REGEX_DIALECT(REGEX_POSIX)},
        {"emacs", REGEX_DIALECT(REGEX_EMACS)},
        {"gnu-awk", REGEX_DIALECT(REGEX_GNU_AWK) | REGEX_ERE},
        {"grep", REGEX_DIALECT(REGEX_GREP)},
        {"posix-awk", REGEX_DIALECT(REGEX_POSIX_AWK) | REGEX_ERE},
        {"awk", REGEX_DIALECT(REGEX_AWK) | REGEX_ERE},
        {"posix-basic", REGEX_DIALECT(REGEX_POSIX)},
        {"posix-egrep", REGEX_DIALECT(REGEX_GREP) | REGEX_ERE},
        {"egrep", REGEX_DIALECT(REGEX_GREP) | REGEX_ERE},
        {"posix-extended", REGEX_DIALECT(REGEX_POSIX) | REGEX_ERE},
        {"posix-minimal-basic", REGEX_DIALECT(REGEX_MINIMAL_BASIC)},
        {"sed", REGEX_DIALECT(REGEX_POSIX)},
    };
    struct find *f = ps->f;
    BUF_AUTO struct buf b;
    buf_init(&b, 1u << 16);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(arg, types[i].name) == 0) {
            f->dialect = types[i].flags;
            return true;
        }
        buf_addf(&b, "%s%s", i ? ", " : "", cmd_quote_loc(f->c, types[i].name));
    }
    return find__bad(f, "Unknown regular expression type %s; valid types are %s.", cmd_quote_loc(f->c, arg), b.p);
}

bool find__t_regex(struct find *f, const struct find_test *t)
{
    int r = regex_test(t->regex, buf_str(&f->path));
    if (r < 0) {
        if (!f->c->p->must_end)
            cmd_errno(f->c, r, "cannot match %s against a regular expression", cmd_quote_loc(f->c, f->path.p));
        f->status = 1;
        f->stop = f->fatal = true;
    }
    return r > 0;
}

void find__regexes_done(struct find *f)
{
    for (struct find_regex *k = f->regexes; k; k = k->next)
        regex_free(k->re);
}
