/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "base/num.h"
#include "regex/regex.h"
#include "shell/cmd/num.h"

static const struct cmd_opt opts[] = {
    {'h', "header-numbering", CMD_ARG},
    {'b', "body-numbering", CMD_ARG},
    {'f', "footer-numbering", CMD_ARG},
    {'v', "starting-line-number", CMD_ARG},
    {'i', "line-increment", CMD_ARG},
    {'p', "no-renumber", CMD_NO_ARG},
    {'l', "join-blank-lines", CMD_ARG},
    {'s', "number-separator", CMD_ARG},
    {'w', "number-width", CMD_ARG},
    {'n', "number-format", CMD_ARG},
    {'d', "section-delimiter", CMD_ARG},
    {0},
};

/* Which lines of a section get numbers. */
struct style {
    char kind; /* a: all, t: with something in them, n: none, p: that match */
    struct regex *re;
};

enum section { HEADER, BODY, FOOTER };

struct nl {
    struct cmd *c;
    struct style styles[3];
    enum section section;
    int64_t first, step, line;
    bool overflow, keep;
    int64_t join, blanks; /* so many empty lines in a row count as one; how many there were */
    struct str separator;
    int64_t width;
    char format; /* 'l' or 'r' of ln, rn; 'z' for rz */
    char delim[2];
};

static void pad(struct cmd *c, char ch, int64_t n)
{
    for (; n > 0 && c->out_err == 0 && cmd_poll(c) == 0; n--)
        cmd_putc(c, ch);
}

/* 0, or -1 after a message. */
static int put_number(struct nl *l)
{
    struct cmd *c = l->c;
    char text[24];
    if (l->overflow) {
        cmd_err(c, "line number overflow");
        return -1;
    }
    bool minus = l->line < 0;
    const char *digits = num_u64_text(minus ? 0 - (uint64_t)l->line : (uint64_t)l->line, text);
    int64_t room = l->width - minus - (int64_t)strlen(digits);
    if (l->format == 'r')
        pad(c, ' ', room);
    if (minus)
        cmd_putc(c, '-');
    if (l->format == 'z')
        pad(c, '0', room);
    cmd_puts(c, digits);
    if (l->format == 'l')
        pad(c, ' ', room);
    cmd_write(c, l->separator.p, l->separator.n);
    l->overflow = __builtin_add_overflow(l->line, l->step, &l->line);
    return 0;
}

/* 1, 0, or a negative errno of matching. */
static int gets_number(struct nl *l, struct str line)
{
    struct style *s = &l->styles[l->section];
    switch (s->kind) {
    case 'a':
        if (l->join <= 1)
            return 1;
        if (line.n == 0 && ++l->blanks != l->join)
            return 0;
        l->blanks = 0;
        return 1;
    case 't':
        return line.n > 0;
    case 'p':
        return regex_test(s->re, line);
    default:
        return 0;
    }
}

static bool is_section(const struct nl *l, struct str line, enum section *ret)
{
    if (line.n != 2 && line.n != 4 && line.n != 6)
        return false;
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] != l->delim[i % 2])
            return false;
    *ret = line.n == 6 ? HEADER : line.n == 4 ? BODY : FOOTER;
    return true;
}

/* 0, -1 after a message, or a negative errno of matching. */
static int one_line(struct nl *l, struct str line)
{
    struct cmd *c = l->c;
    if (is_section(l, line, &l->section)) {
        if (!l->keep) {
            l->line = l->first;
            l->overflow = false;
        }
        return cmd_putc(c, '\n'), 0;
    }
    int r = gets_number(l, line);
    if (r < 0)
        return r;
    if (r > 0 && put_number(l) < 0)
        return -1;
    if (r == 0)
        pad(c, ' ', l->width + (int64_t)l->separator.n);
    cmd_write(c, line.p, line.n);
    cmd_putc(c, '\n');
    return 0;
}

/* 0, 1 after a message, -1: after one that ends it all. */
static int one_file(struct nl *l, const char *name)
{
    struct cmd *c = l->c;
    struct cmd_lines lines;
    struct str line;
    int r, e = 0, fd = cmd_open_input(c, name);
    if (fd < 0) {
        cmd_errno(c, fd, "%s", cmd_quote(c, name, false));
        return 1;
    }
    cmd_lines_init(&lines, c, fd, '\n');
    while ((r = cmd_lines_next(&lines, &line, NULL)) > 0 && c->out_err == 0 && e == 0)
        e = one_line(l, line);
    cmd_lines_done(&lines);
    cmd_close_input(c, fd);
    if (r == -ENOMEM || e < -1)
        return cmd_no_memory(c), -1;
    if (r < 0)
        cmd_errno(c, r, "%s", cmd_quote(c, name, false));
    return e < 0 ? -1 : r < 0;
}

/* ---- options ---- */

/* 1: good, 0: it is no style, -1: refused. */
static int parse_style(struct cmd *c, struct style *s, const char *text)
{
    if (strchr("atn", text[0]) && text[0] && text[1] == 0) {
        regex_free(s->re);
        *s = (struct style){.kind = text[0]};
        return 1;
    }
    if (text[0] != 'p')
        return 0;
    unsigned flags = REGEX_NOSUB | REGEX_DIALECT(REGEX_POSIX) | (cmd_utf8(c) ? REGEX_UTF8 : 0);
    struct regex *re;
    if (regex_compile(str_c(text + 1), flags, &re, NULL) < 0)
        return cmd_refuse(c, "a pattern like %s is not implemented here", cmd_quote_loc(c, text + 1)), -1;
    regex_free(s->re);
    *s = (struct style){.kind = 'p', .re = re};
    return 1;
}

static bool number(struct nl *l, int64_t min, int64_t max, const char *what, int64_t *ret)
{
    return num_option_signed(l->c, l->c->optarg, NULL, min, max, what, ret);
}

static bool parse_format(struct nl *l, const char *text)
{
    if (strcmp(text, "ln") != 0 && strcmp(text, "rn") != 0 && strcmp(text, "rz") != 0)
        return false;
    l->format = text[1] == 'z' ? 'z' : text[0];
    return true;
}

/* One option: 0, 1: to be told at the end, -1 after a message, -2 refused. */
static int option(struct nl *l, int o)
{
    static const char *const names[] = {"header", "body", "footer"};
    struct cmd *c = l->c;
    int s = o == 'h' ? HEADER : o == 'b' ? BODY : FOOTER, r;
    switch (o) {
    case 'h':
    case 'b':
    case 'f':
        r = parse_style(c, &l->styles[s], c->optarg);
        if (r == 0)
            cmd_err(c, "invalid %s numbering style: %s", names[s], cmd_quote_loc(c, c->optarg));
        return r < 0 ? -2 : r == 0;
    case 'v':
        return number(l, INT64_MIN, INT64_MAX, "invalid starting line number", &l->first) ? 0 : -1;
    case 'i':
        return number(l, INT64_MIN, INT64_MAX, "invalid line number increment", &l->step) ? 0 : -1;
    case 'l':
        return number(l, 1, INT64_MAX, "invalid line number of blank lines", &l->join) ? 0 : -1;
    case 'w':
        return number(l, 1, INT32_MAX, "invalid line number field width", &l->width) ? 0 : -1;
    case 'p':
        l->keep = true;
        return 0;
    case 's':
        l->separator = str_c(c->optarg);
        return 0;
    case 'n':
        if (parse_format(l, c->optarg))
            return 0;
        cmd_err(c, "invalid line numbering format: %s", cmd_quote_loc(c, c->optarg));
        return 1;
    default: /* -d */
        if (c->optarg[0] == 0 || (c->optarg[1] && c->optarg[2])) {
            cmd_refuse(c, "a delimiter of another length than 1 or 2 is not implemented here");
            return -2;
        }
        l->delim[0] = c->optarg[0];
        l->delim[1] = c->optarg[1] ? c->optarg[1] : ':';
        return 0;
    }
}

static int run(struct nl *l)
{
    struct cmd *c = l->c;
    bool wrong = false;
    for (int o, r; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        r = option(l, o);
        if (r < 0)
            return r == -2 ? 2 : 1;
        wrong |= r > 0;
    }
    if (wrong) {
        cmd_try_help(c);
        return 1;
    }
    l->line = l->first;
    int status = 0, r = 0;
    if (c->optind == c->argc)
        status = one_file(l, "-");
    for (int i = c->optind; i < c->argc && r >= 0 && c->out_err == 0 && !c->p->must_end; i++)
        status |= r = one_file(l, c->argv[i]);
    return status != 0;
}

static int nl_main(struct cmd *c)
{
    struct nl l = {.c = c,
                   .styles = {{.kind = 'n'}, {.kind = 't'}, {.kind = 'n'}},
                   .section = BODY,
                   .first = 1,
                   .step = 1,
                   .join = 1,
                   .separator = str_c("\t"),
                   .width = 6,
                   .format = 'r',
                   .delim = {'\\', ':'}};
    int status = run(&l);
    for (int i = 0; i < 3; i++)
        regex_free(l.styles[i].re);
    return status;
}

CMD(nl, nl_main, 1, "Usage: nl [OPTION]... [FILE]...\n",
    "  -b, --body-numbering=STYLE       which lines of the body get numbers: t\n"
    "  -d, --section-delimiter=CC       begins sections, not \\:\n"
    "  -f, --footer-numbering=STYLE     which lines of footers get numbers: n\n"
    "  -h, --header-numbering=STYLE     which lines of headers get numbers: n\n"
    "  -i, --line-increment=N           from number to number\n"
    "  -l, --join-blank-lines=N         N empty lines in a row count as one\n"
    "  -n, --number-format=FORMAT       ln (left), rn (right), rz (right, zeros)\n"
    "  -p, --no-renumber                numbers go on in the next section\n"
    "  -s, --number-separator=STRING    behind numbers, not TAB\n"
    "  -v, --starting-line-number=N     the first number of a section\n"
    "  -w, --number-width=N             columns of numbers, not 6\n"
    "STYLE is a (all lines), t (that are not empty), n (none) or pBRE (that match).\n");
