/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/find_int.h"

#include <limits.h>

/* ---- options ---- */

static bool arg_depth(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    (void)arg;
    if (ps->name[2] == 0 && f->warn)
        cmd_err(
            f->c,
            "warning: the -d option is deprecated; please use -depth instead, because the latter is a POSIX-compliant "
            "feature.");
    f->post = f->post_given = true;
    return true;
}

static bool arg_level(struct find_parse *ps, const char *arg)
{
    struct find *f = ps->f;
    uint64_t n;
    if (*arg == 0 || arg[strspn(arg, "0123456789")] != 0)
        return find__bad(f, "Expected a positive decimal integer argument to %s, but got %s", ps->name,
                         cmd_quote_loc(f->c, arg));
    if (str_u64(str_c(arg), &n) < 0 || n > INT_MAX)
        return find__bad(f, "%s: Numerical result out of range", arg);
    *(ps->name[2] == 'a' ? &f->depth_max : &f->depth_min) = (unsigned)n;
    return true;
}

static bool arg_mount(struct find_parse *ps, const char *arg)
{
    (void)arg;
    ps->f->one_fs = true;
    return true;
}

static bool arg_follow(struct find_parse *ps, const char *arg)
{
    (void)arg;
    ps->f->follow = true;
    return true;
}

static bool arg_warn(struct find_parse *ps, const char *arg)
{
    (void)arg;
    ps->f->warn = ps->name[1] == 'w';
    return true;
}

static bool arg_race(struct find_parse *ps, const char *arg)
{
    (void)arg;
    ps->f->ignore_race = ps->name[1] == 'i';
    return true;
}

static bool arg_prune(struct find_parse *ps, const char *arg)
{
    (void)arg;
    ps->f->prunes = true;
    return true;
}

static bool arg_context(struct find_parse *ps, const char *arg)
{
    (void)arg;
    return find__bad(ps->f, "invalid predicate -context: SELinux is not enabled.");
}

static bool arg_help(struct find_parse *ps, const char *arg)
{
    struct cmd *c = ps->f->c;
    (void)arg;
    ps->f->shown = true;
    if (strstr(ps->name, "version"))
        cmd_printf(c, "%s (Frontal Sandbox) %s\n", c->def->name, FRONTAL_VERSION);
    else
        cmd_printf(c, "%s\n%s", c->def->usage, c->def->help);
    return true;
}

/* ---- the table ---- */

#define OPTION(name_, kind_, arg_, parse_)                                                                             \
    {                                                                                                                  \
        name_, kind_, arg_, false, parse_, find__t_true, NEED_NAME                                                     \
    }
#define TEST(name_, arg_, parse_, fn_, need_)                                                                          \
    {                                                                                                                  \
        name_, FIND_TEST, arg_, false, parse_, fn_, need_                                                              \
    }
#define ACTION(name_, arg_, parse_, fn_, need_)                                                                        \
    {                                                                                                                  \
        name_, FIND_ACTION, arg_, false, parse_, fn_, need_                                                            \
    }
#define REFUSED(name_)                                                                                                 \
    {                                                                                                                  \
        .name = name_, .kind = FIND_REFUSED                                                                            \
    }

static const struct find_primary table[] = {
    OPTION("d", FIND_OPTION, false, arg_depth),
    OPTION("depth", FIND_OPTION, false, arg_depth),
    OPTION("ignore_readdir_race", FIND_OPTION, false, arg_race),
    OPTION("maxdepth", FIND_OPTION, true, arg_level),
    OPTION("mindepth", FIND_OPTION, true, arg_level),
    OPTION("mount", FIND_OPTION, false, arg_mount),
    OPTION("noignore_readdir_race", FIND_OPTION, false, arg_race),
    OPTION("noleaf", FIND_OPTION, false, NULL),
    OPTION("nowarn", FIND_POSITION, false, arg_warn),
    OPTION("xdev", FIND_OPTION, false, arg_mount),
    {"daystart", FIND_POSITION, false, true, find__arg_daystart, NULL, NEED_NAME},
    OPTION("follow", FIND_POSITION, false, arg_follow),
    OPTION("regextype", FIND_POSITION, true, find__arg_regextype),
    OPTION("warn", FIND_POSITION, false, arg_warn),
    TEST("amin", true, find__arg_minutes, find__t_time, NEED_STAT),
    TEST("anewer", true, find__arg_newer, find__t_newer, NEED_STAT),
    TEST("atime", true, find__arg_days, find__t_time, NEED_STAT),
    TEST("cmin", true, find__arg_minutes, find__t_time, NEED_STAT),
    TEST("cnewer", true, find__arg_newer, find__t_newer, NEED_STAT),
    TEST("context", true, arg_context, NULL, NEED_NAME),
    TEST("ctime", true, find__arg_days, find__t_time, NEED_STAT),
    TEST("empty", false, NULL, find__t_empty, NEED_STAT),
    TEST("executable", false, find__arg_access, find__t_access, NEED_NAME),
    TEST("false", false, NULL, find__t_false, NEED_NAME),
    TEST("gid", true, find__arg_num, find__t_gid, NEED_STAT),
    TEST("group", true, find__arg_group, find__t_group, NEED_STAT),
    TEST("ilname", true, find__arg_ilname, find__t_lname, NEED_STAT),
    TEST("iname", true, find__arg_iname, find__t_name, NEED_NAME),
    TEST("inum", true, find__arg_num, find__t_inum, NEED_STAT),
    TEST("ipath", true, find__arg_ipath, find__t_path, NEED_NAME),
    TEST("iregex", true, find__arg_iregex, find__t_regex, NEED_NAME),
    TEST("iwholename", true, find__arg_ipath, find__t_path, NEED_NAME),
    TEST("links", true, find__arg_num, find__t_links, NEED_STAT),
    TEST("lname", true, find__arg_lname, find__t_lname, NEED_STAT),
    TEST("mmin", true, find__arg_minutes, find__t_time, NEED_STAT),
    TEST("mtime", true, find__arg_days, find__t_time, NEED_STAT),
    TEST("name", true, find__arg_name, find__t_name, NEED_NAME),
    TEST("newer", true, find__arg_newer, find__t_newer, NEED_STAT),
    TEST("nogroup", false, NULL, find__t_nogroup, NEED_STAT),
    TEST("nouser", false, NULL, find__t_nouser, NEED_STAT),
    TEST("path", true, find__arg_path, find__t_path, NEED_NAME),
    TEST("perm", true, find__arg_perm, find__t_perm, NEED_STAT),
    TEST("readable", false, find__arg_access, find__t_access, NEED_NAME),
    TEST("regex", true, find__arg_regex, find__t_regex, NEED_NAME),
    TEST("samefile", true, find__arg_same, find__t_same, NEED_STAT),
    TEST("size", true, find__arg_size, find__t_size, NEED_STAT),
    TEST("true", false, NULL, find__t_true, NEED_NAME),
    TEST("type", true, find__arg_type, find__t_type, NEED_TYPE),
    TEST("uid", true, find__arg_num, find__t_uid, NEED_STAT),
    TEST("user", true, find__arg_user, find__t_user, NEED_STAT),
    TEST("wholename", true, find__arg_path, find__t_path, NEED_NAME),
    TEST("writable", false, find__arg_access, find__t_access, NEED_NAME),
    TEST("xtype", true, find__arg_type, find__t_xtype, NEED_STAT),
    ACTION("delete", false, find__arg_delete, find__t_delete, NEED_NAME),
    ACTION("exec", false, find__arg_exec, find__t_exec, NEED_NAME),
    ACTION("execdir", false, find__arg_exec, find__t_exec, NEED_NAME),
    ACTION("fls", true, find__arg_file, find__t_ls, NEED_STAT),
    ACTION("fprint", true, find__arg_file, find__t_print, NEED_NAME),
    ACTION("fprint0", true, find__arg_file, find__t_print0, NEED_NAME),
    ACTION("fprintf", true, find__arg_fprintf, find__t_printf, NEED_NAME),
    ACTION("ls", false, NULL, find__t_ls, NEED_STAT),
    ACTION("ok", false, find__arg_exec, find__t_exec, NEED_NAME),
    ACTION("okdir", false, find__arg_exec, find__t_exec, NEED_NAME),
    ACTION("print", false, NULL, find__t_print, NEED_NAME),
    ACTION("print0", false, NULL, find__t_print0, NEED_NAME),
    ACTION("printf", true, find__arg_printf, find__t_printf, NEED_NAME),
    /* These two do not keep -print away. */
    TEST("prune", false, arg_prune, find__t_prune, NEED_NAME),
    TEST("quit", false, NULL, find__t_quit, NEED_NAME),
    REFUSED("files0-from"),
    REFUSED("fstype"),
    REFUSED("used"),
    {"help", FIND_HELP, false, true, arg_help, NULL, NEED_NAME},
    {"-help", FIND_HELP, false, true, arg_help, NULL, NEED_NAME},
    {"version", FIND_HELP, false, true, arg_help, NULL, NEED_NAME},
    {"-version", FIND_HELP, false, true, arg_help, NULL, NEED_NAME},
};

/* Its words are six letters and the two that name the times. */
static const struct find_primary newer_xy = TEST("newerXY", false, find__newer_xy, find__t_newer, NEED_STAT);

const struct find_primary *find__primary(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(name, table[i].name) == 0)
            return &table[i];
    return strncmp(name, "newer", 5) == 0 && strlen(name) == 7 ? &newer_xy : NULL;
}
