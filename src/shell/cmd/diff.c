/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/diff_int.h"

#include "base/num.h"
#include "shell/cmd/num.h"

/* The command line of diff. */

enum { O_NORMAL = 256, O_CONTEXT, O_UNIFIED, O_LABEL, O_OTHER };

#define OTHER(name_, arg_)                                                                                             \
    {                                                                                                                  \
        O_OTHER, name_, (arg_) | CMD_REFUSED                                                                           \
    }

static const struct cmd_opt opts[] = {
    {'b', "ignore-space-change", CMD_NO_ARG},
    {'a', "text", CMD_NO_ARG},
    {'B', "ignore-blank-lines", CMD_NO_ARG},
    {'q', "brief", CMD_NO_ARG},
    OTHER("changed-group-format", CMD_ARG),
    OTHER("color", CMD_OPT_ARG),
    {O_CONTEXT, "context", CMD_OPT_ARG},
    {'C', NULL, CMD_ARG},
    {'e', "ed", CMD_NO_ARG | CMD_REFUSED},
    {'x', "exclude", CMD_ARG | CMD_REFUSED},
    {'X', "exclude-from", CMD_ARG | CMD_REFUSED},
    {'t', "expand-tabs", CMD_NO_ARG | CMD_REFUSED},
    {'f', "forward-ed", CMD_NO_ARG | CMD_REFUSED},
    OTHER("from-file", CMD_ARG),
    OTHER("horizon-lines", CMD_ARG),
    {'D', "ifdef", CMD_ARG | CMD_REFUSED},
    {'w', "ignore-all-space", CMD_NO_ARG},
    {'i', "ignore-case", CMD_NO_ARG},
    OTHER("ignore-file-name-case", CMD_NO_ARG),
    {'I', "ignore-matching-lines", CMD_ARG | CMD_REFUSED},
    {'E', "ignore-tab-expansion", CMD_NO_ARG | CMD_REFUSED},
    {'Z', "ignore-trailing-space", CMD_NO_ARG},
    OTHER("inhibit-hunk-merge", CMD_NO_ARG),
    {'T', "initial-tab", CMD_NO_ARG | CMD_REFUSED},
    {O_LABEL, "label", CMD_ARG},
    {'L', NULL, CMD_ARG},
    OTHER("left-column", CMD_NO_ARG),
    OTHER("line-format", CMD_ARG),
    {'d', "minimal", CMD_NO_ARG},
    {'N', "new-file", CMD_NO_ARG},
    OTHER("new-group-format", CMD_ARG),
    OTHER("new-line-format", CMD_ARG),
    OTHER("no-dereference", CMD_NO_ARG),
    OTHER("no-ignore-file-name-case", CMD_NO_ARG),
    {O_NORMAL, "normal", CMD_NO_ARG},
    OTHER("old-group-format", CMD_ARG),
    OTHER("old-line-format", CMD_ARG),
    {'l', "paginate", CMD_NO_ARG | CMD_REFUSED},
    OTHER("palette", CMD_ARG),
    {'n', "rcs", CMD_NO_ARG | CMD_REFUSED},
    {'r', "recursive", CMD_NO_ARG},
    {'s', "report-identical-files", CMD_NO_ARG},
    OTHER("sdiff-merge-assist", CMD_NO_ARG),
    {'p', "show-c-function", CMD_NO_ARG | CMD_REFUSED},
    {'F', "show-function-line", CMD_ARG | CMD_REFUSED},
    {'y', "side-by-side", CMD_NO_ARG | CMD_REFUSED},
    {'H', "speed-large-files", CMD_NO_ARG | CMD_REFUSED},
    {'S', "starting-file", CMD_ARG | CMD_REFUSED},
    OTHER("strip-trailing-cr", CMD_NO_ARG),
    OTHER("suppress-blank-empty", CMD_NO_ARG),
    OTHER("suppress-common-lines", CMD_NO_ARG),
    OTHER("tabsize", CMD_ARG),
    OTHER("to-file", CMD_ARG),
    OTHER("unchanged-group-format", CMD_ARG),
    OTHER("unchanged-line-format", CMD_ARG),
    {O_UNIFIED, "unified", CMD_OPT_ARG},
    {'U', NULL, CMD_ARG},
    OTHER("unidirectional-new-file", CMD_NO_ARG),
    {'W', "width", CMD_ARG | CMD_REFUSED},
    {'c', NULL, CMD_NO_ARG},
    {'u', NULL, CMD_NO_ARG},
    {'h', NULL, CMD_NO_ARG},
    {'P', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'0', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'1', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'2', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'3', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'4', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'5', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'6', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'7', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'8', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'9', NULL, CMD_NO_ARG | CMD_REFUSED},
    {0},
};

/* Context of more lines than any file has. */
#define CONTEXT_MAX ((size_t)LIMIT_LINE)

struct seen {
    bool style;
    unsigned labels;
};

static int set_style(struct diff *d, struct seen *g, enum diff_style style)
{
    if (g->style && d->style != style)
        return cmd_refuse(d->c, "a conflict of output styles is not implemented here");
    g->style = true;
    d->style = style;
    return 0;
}

/* -U, -C: the larger of several counts. */
static int set_context(struct diff *d, struct seen *g, enum diff_style style, const char *arg)
{
    int64_t n = 3;
    if (arg) {
        enum num_status st = num_i64(arg, NULL, &n);
        if ((st != NUM_OK && st != NUM_OVERFLOW) || n < 0 || arg[0] == '+' || arg[0] == '-')
            return cmd_refuse(d->c, "context length '%s' is not implemented here", arg);
    }
    d->context = NUM_MAX(d->context, NUM_MIN((size_t)n, CONTEXT_MAX));
    return set_style(d, g, style);
}

/* 0, or the exit status. */
static int option(struct diff *d, struct seen *g, int code)
{
    const char *arg = d->c->optarg;
    switch (code) {
    case 'a':
        d->as_text = true;
        return 0;
    case 'b':
        d->space = NUM_MAX(d->space, DIFF_SPACE_AMOUNT);
        return 0;
    case 'B':
        d->ignore_blank = true;
        return 0;
    case 'c':
    case 'C':
    case O_CONTEXT:
        return set_context(d, g, DIFF_CONTEXT, arg);
    case 'u':
    case 'U':
    case O_UNIFIED:
        return set_context(d, g, DIFF_UNIFIED, arg);
    case 'd':
        d->minimal = true;
        return 0;
    case 'i':
        d->ignore_case = true;
        return 0;
    case 'L':
    case O_LABEL:
        if (g->labels == 2)
            return cmd_refuse(d->c, "a third label is not implemented here");
        d->labels[g->labels++] = arg;
        return 0;
    case 'N':
        d->new_file = true;
        return 0;
    case 'q':
        d->brief = true;
        return 0;
    case 'r':
        d->recursive = true;
        return 0;
    case 's':
        d->report_same = true;
        return 0;
    case 'w':
        d->space = DIFF_SPACE_ALL;
        return 0;
    case 'Z':
        d->space = NUM_MAX(d->space, DIFF_SPACE_TRAILING);
        return 0;
    case O_NORMAL:
        return set_style(d, g, DIFF_NORMAL);
    default: /* h: did nothing already long ago */
        return 0;
    }
}

/* The options as the shell would have them: of the words @given those that are no operands. */
static const char *switches(struct diff *d, char *const *given)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 8 * LIMIT_ARGS);
    int next = d->c->optind;
    for (int i = 1; i < d->c->argc; i++) {
        if (next < d->c->argc && given[i] == d->c->argv[next])
            next++;
        else
            buf_addf(&b, " %s", cmd_quote(d->c, given[i], false));
    }
    return b.n ? arena_dup(d->c->keep, b.p, b.n) : "";
}

static int diff_main(struct cmd *c)
{
    struct diff d = {.c = c, .f = {{.fd = -1}, {.fd = -1}}, .utf8 = cmd_utf8(c)};
    struct seen g = {0};
    int code, r = 0;
    /* cmd_getopt() moves the operands over the options. */
    char **words = arena_alloc(c->keep, (size_t)(c->argc + 1) * sizeof *words);
    memcpy(words, c->argv, (size_t)c->argc * sizeof *words);
    c->opt_by_tool = true;
    while ((code = cmd_getopt(c, opts, false)) != -1) {
        if (code == -2)
            return cmd_usage_status(c);
        if ((r = option(&d, &g, code)) != 0)
            return r;
    }
    if (c->argc - c->optind != 2)
        return cmd_refuse(c, "a number of operands other than two is not implemented here");
    if (d.ignore_blank && d.space == DIFF_SPACE_TRAILING)
        return cmd_refuse(c, "-B with -Z is not implemented here");
    if (cmd_getenv(c, "POSIXLY_CORRECT"))
        return cmd_refuse(c, "POSIXLY_CORRECT is not implemented here");
    d.switches = switches(&d, words);
    return (int)diff_operands(&d, c->argv[c->optind], c->argv[c->optind + 1]);
}

CMD(diff, diff_main, 2, "Usage: diff [OPTION]... FILES\n",
    "  -a, --text                    all files are text\n"
    "  -b, --ignore-space-change     amounts of white space do not count\n"
    "  -B, --ignore-blank-lines      changes of blank lines do not count\n"
    "  -c, -C NUM, --context[=NUM]   NUM (3) lines of context\n"
    "  -d, --minimal                 the smallest set of changes\n"
    "  -i, --ignore-case             case does not count\n"
    "      --label LABEL             LABEL for a file's name\n"
    "  -N, --new-file                missing files are empty\n"
    "      --normal                  normal output\n"
    "  -q, --brief                   only whether files differ\n"
    "  -r, --recursive               compares directories below, too\n"
    "  -s, --report-identical-files  tells of files that are the same\n"
    "  -u, -U NUM, --unified[=NUM]   NUM (3) lines of unified context\n"
    "  -w, --ignore-all-space        white space does not count\n"
    "  -Z, --ignore-trailing-space   white space at the end of a line does not count\n");
