/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"

static const struct cmd_opt opts[] = {
    {'c', "count", CMD_NO_ARG},
    {'d', "repeated", CMD_NO_ARG},
    {'D', NULL, CMD_NO_ARG},
    {256, "all-repeated", CMD_OPT_ARG},
    {257, "group", CMD_OPT_ARG},
    {'i', "ignore-case", CMD_NO_ARG},
    {'u', "unique", CMD_NO_ARG},
    {'f', "skip-fields", CMD_ARG},
    {'s', "skip-chars", CMD_ARG},
    {'w', "check-chars", CMD_ARG},
    {'z', "zero-terminated", CMD_NO_ARG},
    {'0', NULL, CMD_NO_ARG},
    {'1', NULL, CMD_NO_ARG},
    {'2', NULL, CMD_NO_ARG},
    {'3', NULL, CMD_NO_ARG},
    {'4', NULL, CMD_NO_ARG},
    {'5', NULL, CMD_NO_ARG},
    {'6', NULL, CMD_NO_ARG},
    {'7', NULL, CMD_NO_ARG},
    {'8', NULL, CMD_NO_ARG},
    {'9', NULL, CMD_NO_ARG},
    {0},
};

enum { SEP_NONE, SEP_PREPEND, SEP_APPEND, SEP_SEPARATE, SEP_BOTH };

struct uniq {
    struct cmd *c;
    bool count, ignore_case;
    /* what of a run of equal lines is printed: a single one; the first of several; the others */
    bool unique, first, later;
    bool groups;
    int sep; /* of --group and --all-repeated */
    uint64_t skip_fields, skip_chars, check_chars;
    char delim;
    struct buf prev; /* the first line of the run */
    struct str key;  /* its compared part, inside prev */
    uint64_t run;    /* lines in the run so far; 0 before the first */
    bool any_group;  /* a group was printed */
};

static struct str key_of(const struct uniq *u, struct str line)
{
    size_t i = 0;
    for (uint64_t f = 0; f < u->skip_fields && i < line.n; f++) {
        while (i < line.n && (isblank((unsigned char)line.p[i]) || line.p[i] == '\n'))
            i++;
        while (i < line.n && !(isblank((unsigned char)line.p[i]) || line.p[i] == '\n'))
            i++;
    }
    i += (size_t)NUM_MIN(u->skip_chars, (uint64_t)(line.n - i));
    return str_of(line.p + i, (size_t)NUM_MIN(u->check_chars, (uint64_t)(line.n - i)));
}

static bool same(const struct uniq *u, struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    if (!u->ignore_case)
        return memcmp(a.p, b.p, a.n) == 0;
    for (size_t i = 0; i < a.n; i++)
        if (toupper((unsigned char)a.p[i]) != toupper((unsigned char)b.p[i]))
            return false;
    return true;
}

static void put_line(struct uniq *u, struct str line)
{
    cmd_write(u->c, line.p, line.n);
    cmd_putc(u->c, u->delim);
}

/* "%7ju " */
static void put_count(struct uniq *u)
{
    char text[24];
    const char *p = num_u64_text(u->run, text);
    for (size_t n = strlen(p); n < 7; n++)
        cmd_putc(u->c, ' ');
    cmd_puts(u->c, p);
    cmd_putc(u->c, ' ');
}

/* The run has ended: one line for it, unless its lines were printed as they came. */
static void end_run(struct uniq *u)
{
    if (u->run == 0 || u->groups || (u->later && u->run > 1))
        return;
    if (u->run == 1 ? !u->unique : !u->first)
        return;
    if (u->count)
        put_count(u);
    put_line(u, buf_str(&u->prev));
}

/* A line that begins a run, when all lines are printed in groups. */
static void group_first(struct uniq *u, struct str line)
{
    bool before = u->sep == SEP_PREPEND || u->sep == SEP_BOTH ||
                  (u->any_group && (u->sep == SEP_APPEND || u->sep == SEP_SEPARATE));
    if (before)
        cmd_putc(u->c, u->delim);
    u->any_group = true;
    put_line(u, line);
}

/* A line equal to the one before, when repeated lines are all printed. */
static void later_line(struct uniq *u, struct str line)
{
    if (u->run == 2) {
        if (u->sep == SEP_PREPEND || (u->sep == SEP_SEPARATE && u->any_group))
            cmd_putc(u->c, u->delim);
        u->any_group = true;
        if (u->first)
            put_line(u, buf_str(&u->prev));
    }
    put_line(u, line);
}

static int next_line(struct uniq *u, struct str line)
{
    struct str key = key_of(u, line);
    if (u->run > 0 && same(u, key, u->key)) {
        u->run++;
        if (u->groups)
            put_line(u, line);
        else if (u->later)
            later_line(u, line);
        return u->c->out_err;
    }
    end_run(u);
    if (u->groups)
        group_first(u, line);
    buf_clear(&u->prev);
    if (buf_adds(&u->prev, line) < 0)
        return -ENOMEM;
    u->key = str_of(u->prev.p + (key.p - line.p), key.n);
    u->run = 1;
    return u->c->out_err;
}

static int process(struct uniq *u, const char *in)
{
    struct cmd *c = u->c;
    struct cmd_lines l;
    struct str line;
    int r;
    buf_init(&u->prev, LIMIT_LINE);
    cmd_lines_init(&l, c, 0, u->delim);
    while ((r = cmd_lines_next(&l, &line, NULL)) > 0 && (r = next_line(u, line)) == 0)
        ;
    if (r == 0)
        end_run(u);
    if (r == 0 && u->groups && u->any_group && (u->sep == SEP_APPEND || u->sep == SEP_BOTH))
        cmd_putc(c, u->delim);
    cmd_lines_done(&l);
    buf_done(&u->prev);
    if (r == -ENOMEM)
        return cmd_no_memory(c);
    if (r < 0 && c->out_err == 0 && !c->p->must_end)
        cmd_err(c, "error reading %s", cmd_quote(c, in, true));
    return r < 0;
}

/* ---- options ---- */

static int number(struct uniq *u, const char *text, const char *what, uint64_t *ret)
{
    enum num_status st = num_u64(text, "", ret);
    if (st == NUM_OK || st == NUM_OVERFLOW)
        return 0;
    cmd_err(u->c, "%s: invalid number of %s", text, what);
    return -1;
}

static int separator(struct uniq *u, int o)
{
    static const char *const group[] = {"prepend", "append", "separate", "both", NULL};
    static const int group_vals[] = {SEP_PREPEND, SEP_APPEND, SEP_SEPARATE, SEP_BOTH};
    static const char *const all[] = {"none", "prepend", "separate", NULL};
    static const int all_vals[] = {SEP_NONE, SEP_PREPEND, SEP_SEPARATE};
    const char *arg = u->c->optarg;
    if (o == 257)
        u->sep = arg ? cmd_choice(u->c, "--group", arg, group, group_vals) : SEP_SEPARATE;
    else
        u->sep = arg ? cmd_choice(u->c, "--all-repeated", arg, all, all_vals) : SEP_NONE;
    return u->sep < 0 ? -1 : 0;
}

/* State of option parsing beside struct uniq. */
struct uniq_opts {
    bool other;      /* one of -c -d -D -u was given */
    bool skip_given; /* digits are of -NUM */
};

static int option(struct uniq *u, int o, struct uniq_opts *s)
{
    const char *arg = u->c->optarg;
    if (isdigit(o)) {
        if (!s->skip_given)
            u->skip_fields = 0;
        s->skip_given = true;
        if (__builtin_mul_overflow(u->skip_fields, 10, &u->skip_fields) ||
            __builtin_add_overflow(u->skip_fields, (uint64_t)(o - '0'), &u->skip_fields))
            u->skip_fields = UINT64_MAX;
        return 0;
    }
    switch (o) {
    case 'c':
        u->count = true;
        break;
    case 'd':
        u->unique = false;
        break;
    case 'D':
    case 256:
        u->unique = false;
        u->later = true;
        s->other = true;
        u->sep = SEP_NONE;
        return o == 256 ? separator(u, o) : 0;
    case 257:
        u->groups = true;
        return separator(u, o);
    case 'u':
        u->first = false;
        break;
    case 'i':
        u->ignore_case = true;
        return 0;
    case 'f':
        s->skip_given = false;
        return number(u, arg, "fields to skip", &u->skip_fields);
    case 's':
        return number(u, arg, "bytes to skip", &u->skip_chars);
    case 'w':
        return number(u, arg, "bytes to compare", &u->check_chars);
    case 'z':
        u->delim = 0;
        return 0;
    default:
        return 0;
    }
    s->other = true;
    return 0;
}

/* Takes "+NUM" (of old: bytes to skip) out of the operands. */
static void old_skip(struct uniq *u)
{
    struct cmd *c = u->c;
    for (int i = c->optind; i < c->argc;) {
        uint64_t n;
        if (c->argv[i][0] == '+' && isdigit((unsigned char)c->argv[i][1]) && num_u64(c->argv[i], "", &n) == NUM_OK) {
            u->skip_chars = n;
            memmove(c->argv + i, c->argv + i + 1, (size_t)(c->argc - i - 1) * sizeof *c->argv);
            c->argc--;
        } else {
            i++;
        }
    }
}

/* Standard input and output become the operands. */
static int redirect(struct cmd *c, const char *name, int oflags, int to)
{
    if (strcmp(name, "-") == 0)
        return 0;
    int fd = cmd_open_safe(c, name, oflags, 0666);
    int r = fd < 0 ? fd : proc_dup2(c->p, fd, to, false);
    if (fd >= 0)
        proc_close(c->p, fd);
    if (r < 0)
        cmd_errno(c, r, "%s", cmd_quote(c, name, false));
    return r < 0 ? -1 : 0;
}

static int uniq_main(struct cmd *c)
{
    struct uniq u = {.c = c, .unique = true, .first = true, .delim = '\n', .check_chars = UINT64_MAX};
    struct uniq_opts s = {0};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;)
        if (o == -2 || option(&u, o, &s) < 0)
            return o == -2 ? cmd_usage_status(c) : 1;
    old_skip(&u);
    int n = c->argc - c->optind;
    if (n > 2)
        return cmd_extra(c, c->argv[c->optind + 2]);
    if (u.groups && s.other)
        return cmd_usage_error(c, "--group is mutually exclusive with -c/-d/-D/-u");
    if (u.count && u.later)
        return cmd_usage_error(c, "printing all duplicated lines and repeat counts is meaningless");
    const char *in = n > 0 ? c->argv[c->optind] : "-";
    if (redirect(c, in, O_RDONLY, 0) < 0 ||
        (n > 1 && redirect(c, c->argv[c->optind + 1], O_WRONLY | O_CREAT | O_TRUNC, 1) < 0))
        return 1;
    c->out_tty = proc_isatty(c->p, 1);
    return process(&u, in);
}

CMD(uniq, uniq_main, 1, "Usage: uniq [OPTION]... [INPUT [OUTPUT]]\n",
    "  -c, --count               the number of times in front of each line\n"
    "  -d, --repeated            only lines that come more than once, one of each\n"
    "  -D                        all lines that come more than once\n"
    "      --all-repeated[=METHOD]  as -D, with empty lines: METHOD is none, prepend or separate\n"
    "  -f, --skip-fields=N       do not compare the first N fields\n"
    "      --group[=METHOD]      all lines, with empty ones between groups: separate, prepend, append or both\n"
    "  -i, --ignore-case         capitals are as small letters\n"
    "  -s, --skip-chars=N        do not compare the first N bytes\n"
    "  -u, --unique              only lines that come once\n"
    "  -z, --zero-terminated     lines end with NUL\n"
    "  -w, --check-chars=N       compare at most N bytes\n");
