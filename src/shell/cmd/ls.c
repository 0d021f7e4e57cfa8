/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/ls_int.h"

#include <errno.h>

#include "base/num.h"

enum {
    O_AUTHOR = 256,
    O_BLOCK_SIZE,
    O_CLASSIFY,
    O_COLOR,
    O_LINK_DIRS,
    O_FILE_TYPE,
    O_FORMAT,
    O_FULL_TIME,
    O_DIRS_FIRST,
    O_HIDE,
    O_HYPERLINK,
    O_INDICATOR,
    O_QUOTING,
    O_SHOW_CONTROL,
    O_SI,
    O_SORT,
    O_TIME,
    O_TIME_STYLE,
    O_ZERO,
};

static const struct cmd_opt opts[] = {
    {'a', "all", CMD_NO_ARG},
    {'b', "escape", CMD_NO_ARG},
    {'d', "directory", CMD_NO_ARG},
    {'D', "dired", CMD_NO_ARG | CMD_REFUSED},
    {O_FULL_TIME, "full-time", CMD_NO_ARG},
    {O_DIRS_FIRST, "group-directories-first", CMD_NO_ARG},
    {'h', "human-readable", CMD_NO_ARG},
    {'i', "inode", CMD_NO_ARG},
    {'k', "kibibytes", CMD_NO_ARG},
    {'n', "numeric-uid-gid", CMD_NO_ARG},
    {'G', "no-group", CMD_NO_ARG},
    {'q', "hide-control-chars", CMD_NO_ARG},
    {'r', "reverse", CMD_NO_ARG},
    {'s', "size", CMD_NO_ARG},
    {'w', "width", CMD_ARG},
    {'A', "almost-all", CMD_NO_ARG},
    {'B', "ignore-backups", CMD_NO_ARG},
    {O_CLASSIFY, "classify", CMD_OPT_ARG},
    {O_FILE_TYPE, "file-type", CMD_NO_ARG},
    {O_SI, "si", CMD_NO_ARG},
    {'H', "dereference-command-line", CMD_NO_ARG},
    {O_LINK_DIRS, "dereference-command-line-symlink-to-dir", CMD_NO_ARG},
    {O_HIDE, "hide", CMD_ARG},
    {'I', "ignore", CMD_ARG},
    {O_INDICATOR, "indicator-style", CMD_ARG},
    {'L', "dereference", CMD_NO_ARG},
    {'N', "literal", CMD_NO_ARG},
    {'Q', "quote-name", CMD_NO_ARG},
    {O_QUOTING, "quoting-style", CMD_ARG},
    {'R', "recursive", CMD_NO_ARG},
    {O_FORMAT, "format", CMD_ARG},
    {O_SHOW_CONTROL, "show-control-chars", CMD_NO_ARG},
    {O_SORT, "sort", CMD_ARG},
    {'T', "tabsize", CMD_ARG},
    {O_TIME, "time", CMD_ARG},
    {O_TIME_STYLE, "time-style", CMD_ARG},
    {O_ZERO, "zero", CMD_NO_ARG},
    {O_COLOR, "color", CMD_OPT_ARG},
    {O_HYPERLINK, "hyperlink", CMD_OPT_ARG | CMD_REFUSED},
    {O_BLOCK_SIZE, "block-size", CMD_ARG},
    {'Z', "context", CMD_NO_ARG | CMD_REFUSED},
    {O_AUTHOR, "author", CMD_NO_ARG},
    {'c', NULL, CMD_NO_ARG},
    {'f', NULL, CMD_NO_ARG},
    {'F', NULL, CMD_NO_ARG},
    {'g', NULL, CMD_NO_ARG},
    {'l', NULL, CMD_NO_ARG},
    {'m', NULL, CMD_NO_ARG},
    {'o', NULL, CMD_NO_ARG},
    {'p', NULL, CMD_NO_ARG},
    {'t', NULL, CMD_NO_ARG},
    {'u', NULL, CMD_NO_ARG},
    {'v', NULL, CMD_NO_ARG},
    {'x', NULL, CMD_NO_ARG},
    {'C', NULL, CMD_NO_ARG},
    {'S', NULL, CMD_NO_ARG},
    {'U', NULL, CMD_NO_ARG},
    {'X', NULL, CMD_NO_ARG},
    {'1', NULL, CMD_NO_ARG},
    {0},
};

/* What options said, -1 where none did; the defaults depend on each other. */
struct ls_opts {
    int format, sort, hide_control, quoting;
    int64_t width, tab;
    bool explicit_time, kibibytes, block_size;
    const char *time_style;
};

static const char *const when_names[] = {"always", "yes",  "force", "never",  "no",
                                         "none",   "auto", "tty",   "if-tty", NULL};
static const int when_vals[] = {1, 1, 1, 0, 0, 0, 2, 2, 2};

static const char *const quoting_names[] = {"literal", "shell",   "shell-always", "shell-escape", "shell-escape-always",
                                            "c",       "c-maybe", "escape",       "locale",       "clocale",
                                            NULL};
static const int quoting_vals[] = {
    QUOTE_LITERAL, QUOTE_SHELL,   QUOTE_SHELL_ALWAYS, QUOTE_SHELL_ESCAPE, QUOTE_SHELL_ESCAPE_ALWAYS,
    QUOTE_C,       QUOTE_C_MAYBE, QUOTE_ESCAPE,       QUOTE_LOCALE,       QUOTE_CLOCALE};

/* --color and --classify: 0, 1, or -1 after a message. */
static int when(struct ls *l, const char *opt)
{
    int k = l->c->optarg ? cmd_choice(l->c, opt, l->c->optarg, when_names, when_vals) : 1;
    return k == 2 ? l->c->out_tty : k;
}

static void add_pattern(struct ls *l, struct ls_pattern **list, const char *text)
{
    struct ls_pattern *p = ARENA_NEW(l->c->arena, struct ls_pattern);
    *p = (struct ls_pattern){*list, text};
    *list = p;
}

static int choice_format(struct ls *l, struct ls_opts *s)
{
    static const char *const names[] = {"verbose", "long",     "commas",        "horizontal",
                                        "across",  "vertical", "single-column", NULL};
    static const int vals[] = {LS_LONG, LS_LONG, LS_COMMAS, LS_ACROSS, LS_ACROSS, LS_COLUMNS, LS_SINGLE};
    s->format = cmd_choice(l->c, "--format", l->c->optarg, names, vals);
    return s->format;
}

static int choice_sort(struct ls *l, struct ls_opts *s)
{
    static const char *const names[] = {"none", "time", "size", "extension", "version", "width", NULL};
    static const int vals[] = {LS_BY_NONE, LS_BY_TIME, LS_BY_SIZE, LS_BY_EXTENSION, LS_BY_VERSION, LS_BY_WIDTH};
    s->sort = cmd_choice(l->c, "--sort", l->c->optarg, names, vals);
    return s->sort;
}

static int choice_time(struct ls *l, struct ls_opts *s)
{
    static const char *const names[] = {"atime", "access", "use", "ctime", "status", "birth", "creation", NULL};
    static const int vals[] = {LS_ATIME, LS_ATIME, LS_ATIME, LS_CTIME, LS_CTIME, LS_BTIME, LS_BTIME};
    int k = cmd_choice(l->c, "--time", l->c->optarg, names, vals);
    if (k < 0)
        return -1;
    l->time = (enum ls_time)k;
    s->explicit_time = true;
    return 0;
}

static int choice_indicator(struct ls *l)
{
    static const char *const names[] = {"none", "slash", "file-type", "classify", NULL};
    static const int vals[] = {LS_NO_MARK, LS_SLASH, LS_FILE_TYPE, LS_CLASSIFY};
    int k = cmd_choice(l->c, "--indicator-style", l->c->optarg, names, vals);
    if (k < 0)
        return -1;
    l->indicator = (enum ls_indicator)k;
    return 0;
}

static int line_width(const char *text, int64_t *ret)
{
    uint64_t v = 0;
    enum num_status st = num_u64_any(text, "", &v);
    if (st != NUM_OK && st != NUM_OVERFLOW)
        return -1;
    *ret = v > INT64_MAX ? 0 : (int64_t)v;
    return 0;
}

static int tab_size(struct ls *l, const char *text, int64_t *ret)
{
    uint64_t v;
    enum num_status st = num_u64_any(text, "", &v);
    if (st == NUM_OK && v <= INT64_MAX) {
        *ret = (int64_t)v;
        return 0;
    }
    const char *shown = cmd_quote_loc(l->c, text);
    if (st == NUM_OK || st == NUM_OVERFLOW)
        cmd_errno(l->c, -EOVERFLOW, "invalid tab size: %s", shown);
    else
        cmd_err(l->c, "invalid tab size: %s", shown);
    return -2;
}

/* Options with an argument: 0, -1 after a usage message, -2 after another. */
static int option_arg(struct ls *l, int o, struct ls_opts *s)
{
    struct cmd *c = l->c;
    int k;
    switch (o) {
    case 'w':
        if (line_width(c->optarg, &s->width) == 0)
            return 0;
        cmd_err(c, "invalid line width: %s", cmd_quote_loc(c, c->optarg));
        return -2;
    case 'T':
        return tab_size(l, c->optarg, &s->tab);
    case O_CLASSIFY:
    case O_COLOR:
        k = when(l, o == O_CLASSIFY ? "--classify" : "--color");
        if (o == O_CLASSIFY && k > 0)
            l->indicator = LS_CLASSIFY;
        if (o == O_COLOR)
            l->color = k > 0;
        return k < 0 ? -1 : 0;
    case 'I':
        add_pattern(l, &l->ignored, c->optarg);
        return 0;
    case O_HIDE:
        add_pattern(l, &l->hidden, c->optarg);
        return 0;
    case O_INDICATOR:
        return choice_indicator(l);
    case O_QUOTING:
        s->quoting = cmd_choice(c, "--quoting-style", c->optarg, quoting_names, quoting_vals);
        return s->quoting < 0 ? -1 : 0;
    case O_FORMAT:
        return choice_format(l, s) < 0 ? -1 : 0;
    case O_SORT:
        return choice_sort(l, s) < 0 ? -1 : 0;
    case O_TIME:
        return choice_time(l, s);
    case O_TIME_STYLE:
        s->time_style = c->optarg;
        return 0;
    case O_BLOCK_SIZE: {
        enum num_status st = num_block_size(c->optarg, &l->human);
        if (st != NUM_OK) {
            num_block_error(c, st, "--block-size", c->optarg);
            return -2;
        }
        l->size_human = l->human;
        s->block_size = true;
        return 0;
    }
    default:
        return 1;
    }
}

/* Options that choose a format, an order or a time. */
static bool option_shape(struct ls *l, int o, struct ls_opts *s)
{
    switch (o) {
    case 'l':
        s->format = LS_LONG;
        return true;
    case 'g':
        s->format = LS_LONG;
        l->no_owner = true;
        return true;
    case 'o':
        s->format = LS_LONG;
        l->no_group = true;
        return true;
    case 'n':
        s->format = LS_LONG;
        l->numeric = true;
        return true;
    case 'm':
        s->format = LS_COMMAS;
        return true;
    case 'x':
        s->format = LS_ACROSS;
        return true;
    case 'C':
        s->format = LS_COLUMNS;
        return true;
    case '1':
        if (s->format != LS_LONG)
            s->format = LS_SINGLE;
        return true;
    case O_FULL_TIME:
        s->format = LS_LONG;
        s->time_style = "full-iso";
        return true;
    case 't':
        s->sort = LS_BY_TIME;
        return true;
    case 'S':
        s->sort = LS_BY_SIZE;
        return true;
    case 'U':
        s->sort = LS_BY_NONE;
        return true;
    case 'X':
        s->sort = LS_BY_EXTENSION;
        return true;
    case 'v':
        s->sort = LS_BY_VERSION;
        return true;
    case 'c':
    case 'u':
        l->time = o == 'c' ? LS_CTIME : LS_ATIME;
        s->explicit_time = true;
        return true;
    case 'f':
        l->ignore = LS_IGNORE_NONE;
        s->sort = LS_BY_NONE;
        if (s->format == LS_LONG)
            s->format = -1;
        l->color = l->blocks = false;
        return true;
    default:
        return false;
    }
}

/* The rest: switches. */
static void option_switch(struct ls *l, int o, struct ls_opts *s)
{
    switch (o) {
    case 'a':
        l->ignore = LS_IGNORE_NONE;
        break;
    case 'A':
        l->ignore = LS_IGNORE_DOTS;
        break;
    case 'b':
        s->quoting = QUOTE_ESCAPE;
        break;
    case 'N':
        s->quoting = QUOTE_LITERAL;
        break;
    case 'Q':
        s->quoting = QUOTE_C;
        break;
    case 'd':
        l->immediate = true;
        break;
    case 'h':
    case O_SI:
        l->human = l->size_human = (struct num_human){.block = 1, .scale = true, .suffix = true, .base1024 = o == 'h'};
        s->block_size = true;
        break;
    case 'k':
        s->kibibytes = true;
        break;
    case 'q':
    case O_SHOW_CONTROL:
        s->hide_control = o == 'q';
        break;
    case 'B':
        add_pattern(l, &l->ignored, "*~");
        add_pattern(l, &l->ignored, ".*~");
        break;
    case 'F':
        l->indicator = LS_CLASSIFY;
        break;
    case 'p':
        l->indicator = LS_SLASH;
        break;
    case O_FILE_TYPE:
        l->indicator = LS_FILE_TYPE;
        break;
    case 'H':
        l->deref = LS_DEREF_ARGS;
        break;
    case 'L':
        l->deref = LS_DEREF_ALWAYS;
        break;
    case O_LINK_DIRS:
        l->deref = LS_DEREF_ARG_DIRS;
        break;
    case O_ZERO:
        l->zero = true;
        l->eol = 0;
        s->hide_control = 0;
        if (s->format != LS_LONG)
            s->format = LS_SINGLE;
        l->color = false;
        s->quoting = QUOTE_LITERAL;
        break;
    default:
        l->inode |= o == 'i';
        l->blocks |= o == 's';
        l->reverse |= o == 'r';
        l->recursive |= o == 'R';
        l->no_group |= o == 'G';
        l->dirs_first |= o == O_DIRS_FIRST;
        l->author |= o == O_AUTHOR;
        break;
    }
}

/* ---- defaults ---- */

static void set_line(struct ls *l, const struct ls_opts *s)
{
    struct cmd *c = l->c;
    int64_t width = s->width, tab = s->tab;
    bool wanted = l->format == LS_COLUMNS || l->format == LS_ACROSS || l->format == LS_COMMAS || l->color;
    if (width < 0 && wanted) {
        uint16_t rows = 0, cols = 0;
        if (c->out_tty)
            proc_winsize(c->p->ps, &rows, &cols);
        const char *env = cols ? NULL : cmd_getenv(c, "COLUMNS");
        if (cols)
            width = cols;
        else if (env && *env && line_width(env, &width) < 0)
            cmd_err(c, "ignoring invalid width in environment variable COLUMNS: %s", cmd_quote_loc(c, env));
    }
    l->line = width < 0 ? 80 : (size_t)width;
    if (tab < 0 && wanted) {
        const char *env = cmd_getenv(c, "TABSIZE");
        uint64_t v;
        if (env && num_u64_any(env, "", &v) == NUM_OK)
            tab = (int64_t)NUM_MIN(v, (uint64_t)INT64_MAX);
        else if (env)
            cmd_err(c, "ignoring invalid tab size in environment variable TABSIZE: %s", cmd_quote_loc(c, env));
    }
    l->tab = l->color ? 0 : tab < 0 ? 8 : (size_t)tab;
}

static void set_quoting(struct ls *l, const struct ls_opts *s)
{
    struct cmd *c = l->c;
    int style = s->quoting;
    if (style < 0) {
        const char *env = cmd_getenv(c, "QUOTING_STYLE");
        for (int i = 0; env && quoting_names[i]; i++)
            if (strcmp(env, quoting_names[i]) == 0)
                style = quoting_vals[i];
        if (env && style < 0)
            cmd_err(c, "ignoring invalid value of environment variable QUOTING_STYLE: %s", cmd_quote_loc(c, env));
    }
    if (style < 0)
        style = c->out_tty ? QUOTE_SHELL_ESCAPE : QUOTE_LITERAL;
    l->quote = (struct quote_opts){.style = (enum quote_style)style, .utf8 = cmd_utf8(c)};
    if (style == QUOTE_ESCAPE)
        l->quote.extra = l->indicator == LS_CLASSIFY ? " *=>@|" : l->indicator == LS_FILE_TYPE ? " =>@|" : " ";
    else if (l->indicator >= LS_FILE_TYPE)
        l->quote.extra = l->indicator == LS_CLASSIFY ? "*=>@|" : "=>@|";
    l->dir_quote = (struct quote_opts){
        .style = l->quote.style, .utf8 = l->quote.utf8, .extra = style == QUOTE_ESCAPE ? " :" : ":"};
    l->align_quotes = (l->format == LS_LONG || ((l->format == LS_COLUMNS || l->format == LS_ACROSS) && l->line)) &&
                      (style == QUOTE_SHELL || style == QUOTE_SHELL_ESCAPE || style == QUOTE_C_MAYBE);
    l->hide_control = s->hide_control < 0 ? c->out_tty : s->hide_control;
}

/* --time-style: 0, or -1 after a message. */
static int set_time_style(struct ls *l, const char *style)
{
    static const char *const names[] = {"full-iso", "long-iso", "iso", "locale", NULL};
    static const int vals[] = {0, 1, 2, 3};
    struct cmd *c = l->c;
    l->time_old = "%b %e  %Y";
    l->time_recent = "%b %e %H:%M";
    if (!style)
        style = cmd_getenv(c, "TIME_STYLE");
    if (!style)
        return 0;
    for (; strncmp(style, "posix-", 6) == 0; style += 6)
        if (!cmd_utf8(c)) /* the POSIX locale itself */
            return 0;
    if (*style == '+') {
        const char *nl = strchr(style, '\n');
        if (nl && strchr(nl + 1, '\n')) {
            cmd_err(c, "invalid time style format %s", cmd_quote_loc(c, style + 1));
            return -2;
        }
        l->time_old = arena_dup(c->arena, style + 1, nl ? (size_t)(nl - style - 1) : strlen(style + 1));
        l->time_recent = nl ? nl + 1 : l->time_old;
        return 0;
    }
    int found = -1;
    size_t n = strlen(style), hits = 0;
    for (int i = 0; names[i]; i++)
        if (strncmp(names[i], style, n) == 0) {
            hits++;
            if (found < 0 || names[i][n] == 0)
                found = vals[i];
        }
    if (hits != 1 && !(hits > 1 && found >= 0 && strlen(names[found]) == n)) {
        cmd_err(c, "%s argument %s for %s", hits ? "ambiguous" : "invalid", cmd_quote_loc(c, style),
                cmd_quote_loc(c, "time style"));
        cmd_err_raw(
            c, "Valid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n  - [posix-]locale\n"
               "  - +FORMAT (e.g., +%H:%M) for a 'date'-style format\n");
        cmd_try_help(c);
        return -2;
    }
    if (found == 0)
        l->time_old = l->time_recent = "%Y-%m-%d %H:%M:%S.%N %z";
    if (found == 1)
        l->time_old = l->time_recent = "%Y-%m-%d %H:%M";
    if (found == 2) {
        l->time_old = "%Y-%m-%d ";
        l->time_recent = "%m-%d %H:%M";
    }
    return 0;
}

static void set_blocks(struct ls *l, const struct ls_opts *s)
{
    struct cmd *c = l->c;
    if (!s->block_size) {
        const char *env = cmd_getenv(c, "LS_BLOCK_SIZE");
        num_block_env(c, "LS_BLOCK_SIZE", &l->human);
        l->size_human = (struct num_human){.block = 1};
        if (env || cmd_getenv(c, "BLOCK_SIZE"))
            l->size_human = l->human;
    }
    if (s->kibibytes && !s->block_size)
        l->human = (struct num_human){.block = 1024};
}

static int set_defaults(struct ls *l, const struct ls_opts *s)
{
    struct cmd *c = l->c;
    l->format = s->format >= 0 ? (enum ls_format)s->format : c->out_tty ? LS_COLUMNS : LS_SINGLE;
    if (l->color)
        ls__color_init(l);
    set_line(l, s);
    set_quoting(l, s);
    set_blocks(l, s);
    l->sort = s->sort >= 0 ? (enum ls_sort)s->sort : l->format != LS_LONG && s->explicit_time ? LS_BY_TIME : LS_BY_NAME;
    if (l->format == LS_LONG) {
        int r = set_time_style(l, s->time_style);
        if (r < 0)
            return r;
        l->now = INT64_MIN;
    }
    if (l->deref == LS_DEREF_UNSET)
        l->deref =
            l->immediate || l->indicator == LS_CLASSIFY || l->format == LS_LONG ? LS_DEREF_NEVER : LS_DEREF_ARG_DIRS;
    if (l->immediate)
        l->recursive = false;
    l->need_stat = l->sort == LS_BY_TIME || l->sort == LS_BY_SIZE || l->format == LS_LONG || l->blocks;
    l->need_type = !l->need_stat && (l->recursive || l->color || l->indicator != LS_NO_MARK || l->dirs_first);
    return 0;
}

static int ls_main(struct cmd *c)
{
    struct ls l = {.c = c, .eol = '\n'};
    struct ls_opts s = {.format = -1, .sort = -1, .hide_control = -1, .quoting = -1, .width = -1, .tab = -1};
    static char *here[] = {(char *)(uintptr_t) "."};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        int r = option_arg(&l, o, &s);
        if (r < 0)
            return r == -1 ? cmd_usage_status(c) : 2;
        if (r > 0 && !option_shape(&l, o, &s))
            option_switch(&l, o, &s);
    }
    buf_init(&l.scratch, 1u << 24);
    if (set_defaults(&l, &s) < 0)
        return 2;
    int n = c->argc - c->optind;
    ls__run(&l, n > 0 ? n : 1, n > 0 ? c->argv + c->optind : here);
    return l.status;
}

CMD(ls, ls_main, 2, "Usage: ls [OPTION]... [FILE]...\n",
    "  -a, --all                  entries that begin with . too\n"
    "  -A, --almost-all           the same, without . and ..\n"
    "      --author               with -l the author, who is the owner\n"
    "  -b, --escape               C escapes for what does not print\n"
    "      --block-size=SIZE      sizes in units of SIZE\n"
    "  -B, --ignore-backups       no entries that end with ~\n"
    "  -c                         with -lt sort by, with -l show the time of the last status change; else sort by it\n"
    "  -C, -x, -m, -1             names in columns, across, with commas, one a line\n"
    "      --color[=WHEN]         colours: always, auto or never\n"
    "  -d, --directory            directories themselves, not what is in them\n"
    "  -f                         all entries, unsorted\n"
    "  -F, --classify[=WHEN]      one of */=@| behind names\n"
    "      --file-type            the same, without *\n"
    "      --format=WORD          across, commas, horizontal, long, single-column, verbose, vertical\n"
    "      --full-time            as -l --time-style=full-iso\n"
    "  -g, -o, -G, --no-group     as -l without owner, without group; no group\n"
    "      --group-directories-first\n"
    "  -h, --human-readable, --si  sizes such as 1K, 234M, in powers of 1024, of 1000\n"
    "  -H, --dereference-command-line, --dereference-command-line-symlink-to-dir, -L, --dereference\n"
    "      --hide=PATTERN, -I, --ignore=PATTERN  leave out what matches (--hide not with -a or -A)\n"
    "      --indicator-style=WORD  none, slash (-p), file-type, classify (-F)\n"
    "  -i, --inode                inode numbers\n"
    "  -k, --kibibytes            blocks of 1024 bytes\n"
    "  -l                         long lines\n"
    "  -n, --numeric-uid-gid      as -l with numbers of owner and group\n"
    "  -N, --literal, -Q, --quote-name, --quoting-style=WORD  how names are quoted\n"
    "  -p                         / behind directories\n"
    "  -q, --hide-control-chars, --show-control-chars  ? for what does not print, or as it is\n"
    "  -r, --reverse              the other way round\n"
    "  -R, --recursive            directories below, too\n"
    "  -s, --size                 blocks of each file\n"
    "  -S, -t, -U, -v, -X, --sort=WORD  by size, by time, not, by version, by extension (none, size, time, version,\n"
    "                             extension, width)\n"
    "      --time=WORD            atime (access, use), ctime (status), birth (creation)\n"
    "      --time-style=STYLE     full-iso, long-iso, iso, locale or +FORMAT\n"
    "  -T, --tabsize=COLS  -w, --width=COLS\n"
    "  -u                         as -c, with the time of the last access\n"
    "      --zero                 end each line with NUL\n");
