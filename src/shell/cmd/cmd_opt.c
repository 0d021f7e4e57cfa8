/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

enum cmd_opt_fail { OPT_OK, OPT_USAGE, OPT_REFUSED, OPT_SHOWN, OPT_CHOICE };

/* Codes of the two that every table has. */
enum { OPT_HELP = 0x7ffffff0, OPT_VERSION };

static const struct cmd_opt opt_help = {OPT_HELP, "help", CMD_NO_ARG};
static const struct cmd_opt opt_version = {OPT_VERSION, "version", CMD_NO_ARG};

int cmd_usage_status(const struct cmd *c)
{
    switch ((enum cmd_opt_fail)c->opt_fail) {
    case OPT_SHOWN:
        return 0;
    case OPT_REFUSED:
        return 2;
    case OPT_CHOICE: /* whatever the tool's own */
        return 1;
    case OPT_OK:
    case OPT_USAGE:
        break;
    }
    return c->def->usage_status;
}

static int opt_show(struct cmd *c, int code)
{
    c->opt_fail = OPT_SHOWN;
    if (cmd_can_hand_over(c))
        return cmd_refuse(c, "%s is the tool's own", code == OPT_VERSION ? "--version" : "--help"), -2;
    if (code == OPT_VERSION) {
        cmd_printf(c, "%s (Frontal Sandbox) %s\n", c->def->name, FRONTAL_VERSION);
    } else {
        cmd_puts(c, c->def->usage);
        if (c->def->help[0]) {
            cmd_putc(c, '\n');
            cmd_puts(c, c->def->help);
        }
    }
    return -2;
}

bool cmd_help_alone(struct cmd *c)
{
    if (c->argc != 2)
        return false;
    if (strcmp(c->argv[1], "--help") == 0)
        opt_show(c, OPT_HELP);
    else if (strcmp(c->argv[1], "--version") == 0)
        opt_show(c, OPT_VERSION);
    return c->opt_fail == OPT_SHOWN;
}

/* Whether the tool tells what is wrong with the options. */
static bool opt_left_to_tool(struct cmd *c)
{
    if (c->opt_by_tool && cmd_can_hand_over(c))
        cmd_refuse(c, "a wrong option is the tool's to tell");
    return c->hand_over;
}

static int opt_fail(struct cmd *c)
{
    c->opt_fail = OPT_USAGE;
    if (!c->opt_no_try && !c->hand_over)
        cmd_try_help(c);
    return -2;
}

/* What is left after a match: --help, --version, a refusal, or the code. */
static int opt_give(struct cmd *c, const struct cmd_opt *o)
{
    if (o == &opt_help || o == &opt_version)
        return opt_show(c, o->code);
    if (o->arg & CMD_REFUSED) {
        cmd_refuse(c, "option '%s' is not implemented here", c->opt_name);
        c->opt_fail = OPT_REFUSED;
        return -2;
    }
    return o->code;
}

/* ---- long options ---- */

/* The @i-th of the table with the two implied ones behind it (i < n + 2). */
static const struct cmd_opt *opt_at(const struct cmd_opt *opts, size_t n, size_t i)
{
    return i < n ? &opts[i] : i == n ? &opt_help : &opt_version;
}

static void opt_ambiguous(struct cmd *c, const struct cmd_opt *opts, size_t n, const char *word, size_t len)
{
    struct buf b;
    const struct cmd_opt *first = NULL;
    if (opt_left_to_tool(c))
        return;
    buf_init(&b, 1u << 20);
    for (size_t i = 0; i < n + 2; i++) {
        const struct cmd_opt *o = opt_at(opts, n, i);
        if (!o->lname || strncmp(o->lname, word, len) != 0)
            continue;
        /* Other names of the first one are not listed. */
        if (!first || o->code != first->code || o->arg != first->arg)
            buf_addf(&b, " '--%s'", o->lname);
        first = first ? first : o;
    }
    cmd_err(c, "option '--%s' is ambiguous; possibilities:%s", word, b.p);
    buf_done(&b);
}

/* Finds the long option that @word (its first @len bytes) names. NULL: the message was printed. */
static const struct cmd_opt *opt_find_long(struct cmd *c, const struct cmd_opt *opts, const char *word, size_t len)
{
    const struct cmd_opt *found = NULL;
    bool ambiguous = false;
    size_t n = 0;
    while (opts[n].code != 0)
        n++;
    for (size_t i = 0; i < n + 2; i++) {
        const struct cmd_opt *o = opt_at(opts, n, i);
        if (!o->lname || strncmp(o->lname, word, len) != 0)
            continue;
        if (o->lname[len] == 0)
            return o;
        if (!found)
            found = o;
        else if (found->code != o->code || found->arg != o->arg)
            ambiguous = true;
    }
    if (ambiguous)
        opt_ambiguous(c, opts, n, word, len);
    else if (!found && !opt_left_to_tool(c))
        cmd_err(c, "unrecognized option '--%s'", word);
    return ambiguous ? NULL : found;
}

static int opt_long(struct cmd *c, const struct cmd_opt *opts, const char *word)
{
    size_t len = strcspn(word, "=");
    c->optind++;
    const struct cmd_opt *o = opt_find_long(c, opts, word, len);
    if (!o)
        return opt_fail(c);
    c->opt_name = arena_printf(c->arena, "--%s", o->lname);
    int arg = o->arg & ~CMD_REFUSED;
    c->optarg = NULL;
    if (word[len] == '=') {
        if (arg == CMD_NO_ARG) {
            if (!opt_left_to_tool(c))
                cmd_err(c, "option '--%s' doesn't allow an argument", o->lname);
            return opt_fail(c);
        }
        c->optarg = word + len + 1;
    } else if (arg == CMD_ARG) {
        if (c->optind >= c->argc) {
            if (!opt_left_to_tool(c))
                cmd_err(c, "option '--%s' requires an argument", o->lname);
            return opt_fail(c);
        }
        c->optarg = c->argv[c->optind++];
    }
    return opt_give(c, o);
}

/* ---- short options ---- */

static int opt_short(struct cmd *c, const struct cmd_opt *opts)
{
    const char *word = c->argv[c->optind];
    char ch = word[c->opt_pos++];
    bool last = word[c->opt_pos] == 0;
    const struct cmd_opt *o = opts;
    while (o->code != 0 && (o->code != (unsigned char)ch || ch == ':'))
        o++;
    c->opt_short[0] = '-';
    c->opt_short[1] = ch;
    c->opt_short[2] = 0;
    c->opt_name = c->opt_short;
    c->optarg = NULL;
    if (last) {
        c->optind++;
        c->opt_pos = 0;
    }
    if (o->code == 0) {
        if (!opt_left_to_tool(c))
            cmd_err(c, "invalid option -- '%c'", ch);
        return opt_fail(c);
    }
    int arg = o->arg & ~CMD_REFUSED;
    if (arg != CMD_NO_ARG && !last) {
        c->optarg = word + c->opt_pos;
        c->opt_pos = 0;
        c->optind++;
    } else if (arg == CMD_ARG) {
        if (c->optind >= c->argc) {
            if (!opt_left_to_tool(c))
                cmd_err(c, "option requires an argument -- '%c'", ch);
            return opt_fail(c);
        }
        c->optarg = c->argv[c->optind++];
    }
    return opt_give(c, o);
}

/* ---- the walk over argv ---- */

/* Puts the operands that stood before options in front of the rest. */
static int opt_end(struct cmd *c)
{
    if (c->opt_moved > 0) {
        char **to = c->argv + c->optind - c->opt_moved;
        memmove(to, c->argv + 1, (size_t)c->opt_moved * sizeof *to);
        c->optind -= c->opt_moved;
        c->opt_moved = 0;
    }
    return -1;
}

static bool opt_is_operand(const char *w)
{
    return w[0] != '-' || w[1] == 0;
}

/*
 * Operands found on the way are moved down to argv[1…], over words that were looked at already, and back up at the end:
 * linear, and without memory, however the words alternate.
 */
int cmd_getopt(struct cmd *c, const struct cmd_opt *opts, bool posix_order)
{
    if (c->ask_table) {
        c->table = opts;
        c->opt_fail = OPT_SHOWN;
        return -2;
    }
    if (c->opt_pos > 0)
        return opt_short(c, opts);
    int from = c->optind;
    while (c->optind < c->argc && opt_is_operand(c->argv[c->optind])) {
        if (posix_order)
            return opt_end(c);
        c->optind++;
    }
    int n = c->optind - from;
    if (n > 0 || c->opt_moved > 0) {
        bool more = c->optind < c->argc;
        if (more && c->opt_moved == 0 && cmd_getenv(c, "POSIXLY_CORRECT")) {
            c->optind = from;
            return opt_end(c);
        }
        memmove(c->argv + 1 + c->opt_moved, c->argv + from, (size_t)n * sizeof *c->argv);
        c->opt_moved += n;
    }
    if (c->optind >= c->argc)
        return opt_end(c);
    const char *w = c->argv[c->optind];
    if (w[1] == '-') {
        if (w[2] != 0)
            return opt_long(c, opts, w + 2);
        c->optind++;
        return opt_end(c);
    }
    c->opt_pos = 1;
    return opt_short(c, opts);
}

/* ---- arguments that are one of a few words ---- */

/* Index of @arg in @names: exact, or an abbreviation whose candidates all have one value. -1 none, -2 ambiguous. */
static int choice_find(const char *arg, const char *const *names, const int *vals)
{
    size_t len = strlen(arg);
    int found = -1;
    bool ambiguous = false;
    for (int i = 0; names[i]; i++) {
        if (strncmp(names[i], arg, len) != 0)
            continue;
        if (names[i][len] == 0)
            return i;
        if (found < 0)
            found = i;
        else if (vals[found] != vals[i])
            ambiguous = true;
    }
    return ambiguous ? -2 : found;
}

int cmd_choice(struct cmd *c, const char *opt, const char *arg, const char *const *names, const int *vals)
{
    int i = choice_find(arg, names, vals);
    if (i >= 0)
        return vals[i];
    cmd_err(c, "%s argument %s for %s", i == -1 ? "invalid" : "ambiguous", cmd_quote_loc(c, arg),
            cmd_quote_loc(c, opt));
    struct buf b;
    buf_init(&b, 1u << 20);
    buf_addc(&b, "Valid arguments are:");
    for (int k = 0; names[k]; k++)
        buf_addf(&b, "%s%s", k == 0 || vals[k] != vals[k - 1] ? "\n  - " : ", ", cmd_quote_loc(c, names[k]));
    buf_putc(&b, '\n');
    cmd_err_raw(c, b.p);
    buf_done(&b);
    if (!c->opt_no_try)
        cmd_try_help(c);
    c->opt_fail = OPT_CHOICE;
    return -2;
}
