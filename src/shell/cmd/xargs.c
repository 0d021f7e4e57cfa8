/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/xargs_int.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>

#include "shell/cmd/num.h"

static const struct cmd_opt opts[] = {
    {'0', "null", CMD_NO_ARG},
    {'a', "arg-file", CMD_ARG},
    {'d', "delimiter", CMD_ARG},
    {'E', NULL, CMD_ARG},
    {'e', "eof", CMD_OPT_ARG},
    {'I', NULL, CMD_ARG},
    {'i', "replace", CMD_OPT_ARG},
    {'L', NULL, CMD_ARG},
    {'l', "max-lines", CMD_OPT_ARG},
    {'n', "max-args", CMD_ARG},
    {'o', "open-tty", CMD_NO_ARG | CMD_REFUSED},
    {'p', "interactive", CMD_NO_ARG | CMD_REFUSED},
    {'r', "no-run-if-empty", CMD_NO_ARG},
    {'s', "max-chars", CMD_ARG},
    {256, "show-limits", CMD_NO_ARG | CMD_REFUSED},
    {'t', "verbose", CMD_NO_ARG},
    {'x', "exit", CMD_NO_ARG},
    {'P', "max-procs", CMD_ARG},
    {257, "process-slot-var", CMD_ARG},
    {0},
};

/* Longest command line without -s, and what is kept free for the environment's growth, as the real tool has them. */
#define XARGS_CHARS (128u << 10)
#define XARGS_HEADROOM 2048

/* ---- reading ---- */

/* The next byte of the input, or -1 at its end (or after an error, which counts as the end). */
static int next_byte(struct xargs *x)
{
    if (x->pos == x->end) {
        ssize_t n = x->input_end || cmd_poll(x->c) < 0 ? 0 : proc_read(x->c->p, x->fd, x->block, CMD_BLOCK);
        x->pos = 0;
        x->end = n > 0 ? (size_t)n : 0;
        if (n <= 0) {
            x->input_end = true;
            return -1;
        }
    }
    return (unsigned char)x->block[x->pos++];
}

static bool is_eof_word(const struct xargs *x)
{
    return x->eof_word && strcmp(x->eof_word, x->word.p) == 0;
}

/* The word is whole: with -I it waits for the caller. */
static void push_word(struct xargs *x)
{
    if (!x->replace)
        xargs__push(x, x->word.p, x->word.n);
}

static void unmatched(struct xargs *x, int quote)
{
    xargs__run_if_possible(x);
    xargs__fail(x, "unmatched %s quote; by default quotes are special to xargs unless you use the -0 option",
                quote == '"' ? "double" : "single");
}

/* Adds a byte to the word: false when it has become too long. */
static bool add(struct xargs *x, int ch)
{
    if (x->word.n + 1 >= x->chars_max - x->initial_chars) {
        xargs__run_if_possible(x);
        xargs__fail(x, "argument line too long");
        return false;
    }
    if (ch == 0) {
        if (!x->nul_told && x->delim < 0)
            cmd_err(
                x->c,
                "WARNING: a NUL character occurred in the input.  It cannot be passed through in the argument list.  "
                "Did you mean to use the --null option?");
        x->nul_told = true;
    }
    buf_putc(&x->word, (char)ch);
    return true;
}

/* What is before the first NUL is all that an argument can hold. */
static void cut_word(struct xargs *x)
{
    if (x->replace) /* what it is put into ends at a NUL in it */
        return;
    buf_trunc(&x->word, strlen(x->word.p));
}

enum state { SPACE, NORMAL, QUOTED, ESCAPED };

/* Reads until a line is whole, pushing its words, or to the end: false at the end. With -I the line is left in x->word.
 */
static bool read_line(struct xargs *x)
{
    enum state state = SPACE;
    int ch = -1, quote = 0;
    bool first = true;
    buf_clear(&x->word);
    while (!x->ended && !x->failed) {
        int before = ch;
        ch = next_byte(x);
        if (ch < 0) {
            x->ended = true;
            if (x->word.n == 0)
                return false;
            cut_word(x);
            if (state == QUOTED) {
                unmatched(x, quote);
                return false;
            }
            if (first && is_eof_word(x))
                return false;
            push_word(x);
            return true;
        }
        if (state == SPACE) {
            if (isspace(ch))
                continue;
            state = NORMAL;
        }
        if (state == NORMAL) {
            bool newline = ch == '\n';
            if (newline || (!x->replace && isblank(ch))) {
                x->lines += newline && !isblank(before);
                cut_word(x);
                if (is_eof_word(x)) {
                    x->ended = true;
                    return !first;
                }
                push_word(x);
                if (newline)
                    return true;
                buf_clear(&x->word);
                state = SPACE;
                first = false;
                continue;
            }
            if (ch == '\\') {
                state = ESCAPED;
                continue;
            }
            if (ch == '\'' || ch == '"') {
                state = QUOTED;
                quote = ch;
                continue;
            }
        } else if (state == QUOTED) {
            if (ch == '\n') {
                unmatched(x, quote);
                return false;
            }
            if (ch == quote) {
                state = NORMAL;
                continue;
            }
        } else {
            state = NORMAL;
        }
        if (!add(x, ch))
            return false;
    }
    return false;
}

/* The same for items that end with x->delim, in which nothing is special. */
static bool read_item(struct xargs *x)
{
    buf_clear(&x->word);
    while (!x->ended && !x->failed) {
        int ch = next_byte(x);
        if (ch < 0) {
            x->ended = true;
            if (x->word.n == 0)
                return false;
        }
        if (ch < 0 || ch == x->delim) {
            x->lines += ch >= 0;
            cut_word(x);
            push_word(x);
            return true;
        }
        if (!add(x, ch))
            return false;
    }
    return false;
}

static bool read_next(struct xargs *x)
{
    return x->delim >= 0 ? read_item(x) : read_line(x);
}

/* ---- options ---- */

/* A number of an option: clamped (*ret set) or, when @fatal, an error; false to end. */
static bool number(struct xargs *x, char opt, int64_t lo, int64_t hi, bool fatal, int64_t *ret)
{
    struct cmd *c = x->c;
    int64_t v = 0;
    enum num_status st = num_i64(c->optarg, NULL, &v);
    const char *rel = NULL;
    if (st == NUM_BAD || st == NUM_SUFFIX) {
        cmd_usage_error(c, "invalid number \"%s\" for -%c option", c->optarg, opt);
        return false;
    }
    if (v < lo)
        rel = ">=";
    else if (v > hi)
        rel = "<=";
    if (rel) {
        cmd_err(c, "value %s for -%c option should be %s %lld", c->optarg, opt, rel, (long long)(v < lo ? lo : hi));
        if (fatal) {
            cmd_try_help(c);
            return false;
        }
        v = v < lo ? lo : hi;
    }
    *ret = v;
    return true;
}

static void exclusive(struct xargs *x, const char *option, const char *offending)
{
    cmd_err(x->c, "warning: options %s and %s are mutually exclusive, ignoring previous %s value", offending, option,
            offending);
}

/* -I, -i */
static void set_replace(struct xargs *x, const char *pattern)
{
    if (x->args_per_run)
        exclusive(x, "--replace/-I/-i", "--max-args");
    if (x->lines_per_run)
        exclusive(x, "--replace/-I/-i", "--max-lines");
    x->args_per_run = x->lines_per_run = 0;
    x->replace = pattern;
}

/* -L, -l */
static void set_lines(struct xargs *x, int64_t n, const char *option)
{
    if (x->args_per_run)
        exclusive(x, option, "--max-args");
    if (x->replace)
        exclusive(x, option, "--replace");
    x->args_per_run = 0;
    x->replace = NULL;
    x->lines_per_run = (uint64_t)n;
}

/* -n */
static void set_args(struct xargs *x, int64_t n)
{
    x->args_per_run = (uint64_t)n;
    if (x->lines_per_run)
        exclusive(x, "--max-args/-n", "--max-lines");
    x->lines_per_run = 0;
    if (x->replace && n == 1) {
        x->args_per_run = 0; /* what -I does anyway */
    } else if (x->replace) {
        exclusive(x, "--max-args/-n", "--replace");
        x->replace = NULL;
    }
}

static bool bad_delimiter(struct xargs *x, const char *s, const char *more)
{
    cmd_err(x->c, "Invalid escape sequence %s in input delimiter specification%s", s, more);
    return false;
}

/* -d: false after a message. */
static bool delimiter(struct xargs *x, const char *s)
{
    static const char from[] = "abfnrtv\\", to[] = "\a\b\f\n\r\t\v\\";
    struct cmd *c = x->c;
    if (strlen(s) == 1) {
        x->delim = (unsigned char)*s;
        return true;
    }
    if (*s != '\\') {
        cmd_err(
            c,
            "Invalid input delimiter specification %s: the delimiter must be either a single character or an escape "
            "sequence starting with \\.",
            s);
        return false;
    }
    const char *known = strchr(from, s[1]);
    if (known) {
        x->delim = (unsigned char)to[known - from];
        return true;
    }
    bool hex = s[1] == 'x';
    if (!hex && !isdigit((unsigned char)s[1]))
        return bad_delimiter(x, s, ".");
    char *end;
    unsigned long v = strtoul(s + (hex ? 2 : 1), &end, hex ? 16 : 8);
    if (v > UCHAR_MAX)
        return bad_delimiter(
            x, s, hex ? "; character values must not exceed ff." : "; character values must not exceed 377.");
    if (*end)
        return bad_delimiter(x, s, arena_printf(c->arena, "; trailing characters %s not recognised.", end));
    x->delim = (int)v;
    return true;
}

/* One option: false after a message. */
static bool option(struct xargs *x, int o)
{
    struct cmd *c = x->c;
    int64_t v = 1;
    switch (o) {
    case '0':
        x->delim = 0;
        return true;
    case 'a':
        x->file = c->optarg;
        return true;
    case 'd':
        return delimiter(x, c->optarg);
    case 'E':
    case 'e':
        x->eof_word = c->optarg && *c->optarg ? c->optarg : NULL;
        return true;
    case 'I':
    case 'i':
        set_replace(x, c->optarg ? c->optarg : "{}");
        return true;
    case 'L':
    case 'l':
        if (c->optarg && !number(x, (char)o, 1, INT64_MAX, true, &v))
            return false;
        set_lines(x, v, o == 'L' ? "-L" : "--max-lines/-l");
        return true;
    case 'n':
        if (!number(x, 'n', 1, INT64_MAX, true, &v))
            return false;
        set_args(x, v);
        return true;
    case 's':
        if (!number(x, 's', 1, (int64_t)x->chars_most, false, &v))
            return false;
        x->chars_max = (uint64_t)v;
        return true;
    case 'P':
        if (!number(x, 'P', 0, INT_MAX, true, &v))
            return false;
        x->procs_max = v == 0 ? INT_MAX : (uint64_t)v;
        return true;
    case 257:
        if (strchr(c->optarg, '=')) {
            cmd_err(c, "option --process-slot-var may not be set to a value which includes `='");
            return false;
        }
        x->slot_var = c->optarg;
        return true;
    default:
        x->no_empty |= o == 'r';
        x->verbose |= o == 't';
        x->exit_if_long |= o == 'x';
        return true;
    }
}

/* ---- the run ---- */

/* Input apart from standard input, which the children get as /dev/null: false after a message. */
static bool open_input(struct xargs *x)
{
    struct cmd *c = x->c;
    if (x->file && strcmp(x->file, "-") != 0) {
        x->fd = cmd_open_safe(c, x->file, O_RDONLY | O_CLOEXEC, 0);
        if (x->fd < 0) {
            cmd_errno(c, x->fd, "Cannot open input file %s", cmd_quote_loc(c, x->file));
            return false;
        }
        return true;
    }
    x->fd = proc_dup(c->p, 0, 3, true);
    x->input_end = x->no_input = x->fd < 0;
    proc_close(c->p, 0);
    /* The lowest free descriptor: 0. */
    (void)proc_open(c->p, STR("/dev/null"), O_RDONLY, 0);
    return true;
}

static void run(struct xargs *x, char **v, int n)
{
    x->name = v[0];
    if (!x->replace) {
        for (int i = 0; i < n && !x->failed; i++)
            xargs__push(x, v[i], strlen(v[i]));
        x->in_initial = false;
        x->initial_args = x->args;
        x->initial_chars = x->text.n;
        while (!x->failed && read_next(x))
            if (x->lines_per_run && x->lines >= x->lines_per_run) {
                xargs__run(x);
                x->lines = 0;
            }
        if (!x->failed && (x->args != x->initial_args || (!x->no_empty && x->runs == 0)))
            xargs__run(x);
        return;
    }
    while (!x->failed && read_next(x)) {
        x->in_initial = true;
        buf_clear(&x->text);
        x->args = x->initial_args = 0;
        xargs__push(x, v[0], strlen(v[0]));
        x->in_initial = false;
        for (int i = 1; i < n && !x->failed; i++)
            xargs__insert(x, v[i]);
        if (!x->failed)
            xargs__run(x);
    }
}

static int xargs_main(struct cmd *c)
{
    static char echo[] = "echo";
    static char *echo_v[] = {echo, NULL};
    struct xargs x = {.c = c, .delim = -1, .procs_max = 1, .fd = -1, .in_initial = true};
    size_t env = 0;
    for (char **e = cmd_environ(c); *e; e++)
        env += strlen(*e) + 1;
    x.chars_most = env + XARGS_HEADROOM < LIMIT_ARGS ? LIMIT_ARGS - XARGS_HEADROOM - env : 1;
    x.chars_max = x.chars_most < XARGS_CHARS ? x.chars_most : XARGS_CHARS;
    for (int o; (o = cmd_getopt(c, opts, true)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (!option(&x, o))
            return 1;
    }
    if (x.eof_word && x.delim >= 0) {
        cmd_err(c, "warning: the -E option has no effect if -0 or -d is used.\n");
        x.eof_word = NULL;
    }
    if (!open_input(&x))
        return 1;
    x.exit_if_long |= x.replace != NULL || x.lines_per_run != 0;
    x.args_most = x.chars_most / sizeof(char *) - 2;
    buf_init(&x.word, LIMIT_ARGS);
    buf_init(&x.text, LIMIT_ARGS);
    x.block = cmd_block_get();
    bool given = c->optind < c->argc;
    run(&x, given ? c->argv + c->optind : echo_v, given ? c->argc - c->optind : 1);
    int status = xargs__finish(&x);
    cmd_block_put(x.block);
    buf_done(&x.word);
    buf_done(&x.text);
    mem_free(x.children);
    if (x.fd >= 0)
        proc_close(c->p, x.fd);
    return status;
}

CMD(xargs, xargs_main, 1, "Usage: xargs [OPTION]... COMMAND [INITIAL-ARGS]...\n",
    "Runs COMMAND with INITIAL-ARGS and more arguments read from standard input.\n"
    "  -0, --null                   items end with NUL; quotes, backslashes and -E mean nothing\n"
    "  -a, --arg-file=FILE          read from FILE, and leave standard input to COMMAND\n"
    "  -d, --delimiter=CHARACTER    items end with CHARACTER; as -0 otherwise\n"
    "  -E END                       a line or word END is the end of input\n"
    "  -e, --eof[=END]              as -E END, or no such word\n"
    "  -I R                         run once for each line, which stands for R in INITIAL-ARGS\n"
    "  -i, --replace[=R]            as -I R, or -I {}\n"
    "  -L, --max-lines=N            at most N lines that are not blank for a run\n"
    "  -l[N]                        as -L N, or -L 1\n"
    "  -n, --max-args=N             at most N arguments for a run\n"
    "  -P, --max-procs=N            N runs beside each other; 0: as many as there are\n"
    "      --process-slot-var=VAR   VAR tells each run its place among them\n"
    "  -r, --no-run-if-empty        no run without arguments\n"
    "  -s, --max-chars=N            at most N bytes for a command line\n"
    "  -t, --verbose                print each command line on standard error\n"
    "  -x, --exit                   end when a command line is longer than -s\n");
