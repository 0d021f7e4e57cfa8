/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/find_int.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>

/* -O3: how hard to optimise, which here changes nothing. False after a message. */
static bool option_level(struct find *f, const char *arg)
{
    if (*arg == 0)
        return find__bad(f, "The -O option must be immediately followed by a decimal integer");
    if (!isdigit((unsigned char)*arg))
        return find__bad(f, "Please specify a decimal number immediately after -O");
    uint64_t n;
    if (str_u64(str_c(arg), &n) < 0 || n > USHRT_MAX)
        return find__bad(
            f,
            "Optimisation level %s is too high.  If you want to find files very quickly, consider using GNU "
            "locate.",
            arg);
    return true;
}

/* -H -L -P -O -D, which stand before everything else: the index after them, or -1. */
static int leading(struct find *f)
{
    struct cmd *c = f->c;
    int i = 1;
    for (; i < c->argc; i++) {
        const char *a = c->argv[i];
        if (strcmp(a, "-H") == 0 || strcmp(a, "-L") == 0 || strcmp(a, "-P") == 0) {
            f->follow = a[1] == 'L';
            f->follow_args = a[1] == 'H';
        } else if (strcmp(a, "--") == 0) {
            return i + 1;
        } else if (strcmp(a, "-D") == 0) {
            f->status = cmd_refuse(c, "option '-D' is not implemented here");
            return -1;
        } else if (a[0] == '-' && a[1] == 'O') {
            if (!option_level(f, a + 2))
                return -1;
        } else {
            break;
        }
    }
    return i;
}

/* Whether a word begins the expression; a start point never comes after it. */
static bool begins_expression(const char *a)
{
    return (a[0] == '-' && a[1]) || strcmp(a, "(") == 0 || strcmp(a, "!") == 0;
}

/* What was printed may not have gone out. */
static void check_output(struct find *f)
{
    struct cmd *c = f->c;
    if (c->p->must_end || cmd_flush(c) == 0 || c->p->must_end)
        return;
    cmd_errno(c, c->out_err, "%s", cmd_quote_loc(c, "standard output"));
    cmd_err(c, "write error");
    c->out_reported = true;
    f->status = 1;
}

static void run(struct find *f, int from, int to)
{
    struct cmd *c = f->c;
    static const char here[] = ".";
    find__walk_start(f);
    if (from == to)
        find__walk(f, here);
    for (int i = from; i < to && !f->stop; i++)
        find__walk(f, c->argv[i]);
    if (!f->fatal && !c->p->must_end)
        find__run_pending(f, true);
    find__walk_done(f);
}

static int find_main(struct cmd *c)
{
    struct find f = {
        .c = c,
        .v = cmd_vfs(c),
        .depth_max = UINT_MAX,
        .posix = cmd_getenv(c, "POSIXLY_CORRECT") != NULL,
        .start = find__time_of(proc_wall(c->p->ps)),
        .dialect = REGEX_DIALECT(REGEX_EMACS), /* which the real tool does not call its default */
        .w_ino = 9,
        .w_blocks = 6,
        .w_nlink = 3,
        .w_owner = 8,
        .w_group = 8,
        .w_size = 8,
        .w_major = 3,
        .w_minor = 3,
    };
    f.warn = !f.posix && proc_isatty(c->p, 0);
    f.day = f.start;
    f.day.s -= 86400;
    int i = leading(&f);
    if (i < 0)
        return f.status;
    int paths = i;
    while (i < c->argc && !begins_expression(c->argv[i]))
        i++;
    if (find__parse(&f, i) && !f.shown)
        run(&f, paths, i);
    find__execs_done(&f);
    find__sinks_done(&f);
    find__regexes_done(&f);
    check_output(&f);
    return f.status;
}

CMD(find, find_main, 1, "Usage: find [-H] [-L] [-P] [-Olevel] [path...] [expression]\n",
    "The entries of a directory come in byte order of their names.\n\n"
    "Operators, from the tightest:  ( EXPR )   ! EXPR   -not EXPR   A [-a] B   A -o B   A , B\n"
    "Options:  -d -depth -daystart -follow -ignore_readdir_race -maxdepth N -mindepth N -mount -noleaf\n"
    "          -noignore_readdir_race -nowarn -regextype TYPE -warn -xdev\n"
    "Tests (N may be +N or -N):\n"
    "          -amin N -anewer FILE -atime N -cmin N -cnewer FILE -ctime N -empty -executable -false -gid N\n"
    "          -group NAME -ilname PATTERN -iname PATTERN -inum N -ipath PATTERN -iregex REGEX -iwholename PATTERN\n"
    "          -links N -lname PATTERN -mmin N -mtime N -name PATTERN -newer FILE -newerXY FILE -nogroup -nouser\n"
    "          -path PATTERN -perm [-/]MODE -readable -regex REGEX -samefile FILE -size N[bcwkMG] -true -type "
    "[bcdpfls]\n"
    "          -uid N -user NAME -wholename PATTERN -writable -xtype [bcdpfls]\n"
    "Actions:  -delete -exec COMMAND ; -exec COMMAND {} + -execdir COMMAND ; -execdir COMMAND {} + -fls FILE\n"
    "          -fprint FILE -fprint0 FILE -fprintf FILE FORMAT -ls -ok COMMAND ; -okdir COMMAND ; -print -print0\n"
    "          -printf FORMAT -prune -quit\n");
