/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/grep_int.h"

#include <errno.h>

#include "base/num.h"
#include "shell/cmd/num.h"

/* The command line of grep, and its patterns. Behaviour and messages are those of GNU grep 3.8. */

enum {
    O_BINARY_FILES = 256,
    O_COLOR,
    O_EXCLUDE,
    O_EXCLUDE_FROM,
    O_EXCLUDE_DIR,
    O_INCLUDE,
    O_GROUP_SEP,
    O_NO_GROUP_SEP,
    O_LABEL,
    O_LINE_BUFFERED,
    O_NO_IGNORE_CASE,
};

static const struct cmd_opt opts[] = {
    {'G', "basic-regexp", CMD_NO_ARG},
    {'E', "extended-regexp", CMD_NO_ARG},
    {'F', "fixed-regexp", CMD_NO_ARG},
    {'F', "fixed-strings", CMD_NO_ARG},
    {'P', "perl-regexp", CMD_NO_ARG},
    {'A', "after-context", CMD_ARG},
    {'B', "before-context", CMD_ARG},
    {O_BINARY_FILES, "binary-files", CMD_ARG},
    {'U', "binary", CMD_NO_ARG},
    {'b', "byte-offset", CMD_NO_ARG},
    {'C', "context", CMD_ARG},
    {O_COLOR, "color", CMD_OPT_ARG},
    {O_COLOR, "colour", CMD_OPT_ARG},
    {'c', "count", CMD_NO_ARG},
    {'D', "devices", CMD_ARG},
    {'d', "directories", CMD_ARG},
    {O_EXCLUDE, "exclude", CMD_ARG},
    {O_EXCLUDE_FROM, "exclude-from", CMD_ARG},
    {O_EXCLUDE_DIR, "exclude-dir", CMD_ARG},
    {'f', "file", CMD_ARG},
    {'l', "files-with-matches", CMD_NO_ARG},
    {'L', "files-without-match", CMD_NO_ARG},
    {O_GROUP_SEP, "group-separator", CMD_ARG},
    {O_INCLUDE, "include", CMD_ARG},
    {'i', "ignore-case", CMD_NO_ARG},
    {O_NO_IGNORE_CASE, "no-ignore-case", CMD_NO_ARG},
    {'T', "initial-tab", CMD_NO_ARG},
    {O_LABEL, "label", CMD_ARG},
    {O_LINE_BUFFERED, "line-buffered", CMD_NO_ARG},
    {'n', "line-number", CMD_NO_ARG},
    {'x', "line-regexp", CMD_NO_ARG},
    {'m', "max-count", CMD_ARG},
    {'h', "no-filename", CMD_NO_ARG},
    {O_NO_GROUP_SEP, "no-group-separator", CMD_NO_ARG},
    {'s', "no-messages", CMD_NO_ARG},
    {'Z', "null", CMD_NO_ARG},
    {'z', "null-data", CMD_NO_ARG},
    {'o', "only-matching", CMD_NO_ARG},
    {'q', "quiet", CMD_NO_ARG},
    {'r', "recursive", CMD_NO_ARG},
    {'R', "dereference-recursive", CMD_NO_ARG},
    {'e', "regexp", CMD_ARG},
    {'v', "invert-match", CMD_NO_ARG},
    {'q', "silent", CMD_NO_ARG},
    {'a', "text", CMD_NO_ARG},
    {'u', "unix-byte-offsets", CMD_NO_ARG},
    {'H', "with-filename", CMD_NO_ARG},
    {'w', "word-regexp", CMD_NO_ARG},
    {'I', NULL, CMD_NO_ARG},
    {'X', NULL, CMD_ARG | CMD_REFUSED},
    {'V', NULL, CMD_NO_ARG},
    {'y', NULL, CMD_NO_ARG},
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

static int usage(struct grep *g)
{
    cmd_flush(g->c);
    cmd_err_raw(g->c, arena_printf(g->c->arena, "Usage: %s [OPTION]... PATTERNS [FILE]...\n", g->c->name));
    cmd_try_help(g->c);
    return 2;
}

/* ---- patterns ---- */

static void add_pattern(struct grep *g, struct str text, const char *file, size_t line)
{
    if (g->n_patterns == g->cap_patterns) {
        g->cap_patterns = g->cap_patterns ? g->cap_patterns * 2 : 8;
        struct grep_pattern *v = arena_alloc(g->c->keep, g->cap_patterns * sizeof *v);
        if (g->n_patterns > 0)
            memcpy(v, g->patterns, g->n_patterns * sizeof *v);
        g->patterns = v;
    }
    g->patterns[g->n_patterns++] = (struct grep_pattern){text, file, line};
}

/* Each line of @text is a pattern; a newline at its end ends the last one. */
static void add_patterns(struct grep *g, struct str text, const char *file)
{
    size_t line = 1;
    for (size_t from = 0; from <= text.n; line++) {
        ptrdiff_t nl = str_find(text, '\n', from);
        size_t end = nl < 0 ? text.n : (size_t)nl;
        add_pattern(g, str_of(text.p + from, end - from), file, line);
        from = end + 1;
        if (file && from == text.n)
            break;
    }
}

static int pattern_file(struct grep *g, const char *name)
{
    struct buf b;
    buf_init(&b, LIMIT_SCRIPT);
    int fd = cmd_open_input(g->c, name);
    int r = fd < 0 ? fd : cmd_read_all(g->c, fd, &b);
    if (fd >= 0)
        cmd_close_input(g->c, fd);
    if (r == 0 && b.n > 0)
        add_patterns(g, arena_str(g->c->keep, buf_str(&b)), strcmp(name, "-") == 0 ? "(standard input)" : name);
    buf_done(&b);
    if (r < 0)
        cmd_errno(g->c, r, "%s", name);
    return r;
}

static void warn(void *arg, const char *text)
{
    struct grep *g = arg;
    cmd_err(g->c, "warning: %s", text);
}

static unsigned regex_flags(const struct grep *g)
{
    return REGEX_DIALECT(REGEX_GREP) | REGEX_LINES | REGEX_NOSUB | (g->matcher == GREP_EXTENDED ? REGEX_ERE : 0) |
           (g->matcher == GREP_FIXED ? REGEX_LITERAL : 0) | (g->icase ? REGEX_ICASE : 0) | (g->utf8 ? REGEX_UTF8 : 0) |
           (g->words ? REGEX_WORD : 0) | (g->lines ? REGEX_LINE : 0);
}

/* Tells what is wrong with each pattern, once. */
static void bad_patterns(struct grep *g, const char *msg)
{
    bool told = false;
    struct regex_warn w = {NULL, NULL};
    for (size_t i = 0; i < g->n_patterns; i++) {
        const struct grep_pattern *p = &g->patterns[i];
        struct regex *re = NULL;
        const char *text = NULL;
        bool again = false;
        for (size_t k = 0; k < i && !again; k++)
            again = str_eq(g->patterns[k].text, p->text);
        if (again || cmd_poll(g->c) < 0)
            continue;
        if (regex_compile_many(&p->text, 1, regex_flags(g), &w, &re, &text, NULL) == 0) {
            regex_free(re);
            continue;
        }
        told = true;
        if (p->file)
            cmd_err(g->c, "%s:%zu: %s", p->file, p->line, text);
        else
            cmd_err(g->c, "%s", text);
    }
    if (!told)
        cmd_err(g->c, "%s", msg);
}

static int poll_cmd(void *arg)
{
    return cmd_poll(arg);
}

static int compile_perl(struct grep *g)
{
    char msg[REGEX_PCRE_MSG];
    if (g->n_patterns > 1) {
        cmd_err(g->c, "the -P option only supports a single pattern");
        return -EINVAL;
    }
    int r = regex_pcre_compile(g->patterns[0].text, regex_flags(g), &g->pcre, msg);
    if (r < 0)
        cmd_err(g->c, "%s", msg);
    return r;
}

static int compile(struct grep *g)
{
    /* No pattern matches no line, whatever the matcher. */
    if (g->matcher == GREP_PERL && g->n_patterns > 0)
        return compile_perl(g);
    struct str *v = mem_try((g->n_patterns + 1) * sizeof *v);
    if (!v) {
        cmd_no_memory(g->c);
        return -ENOMEM;
    }
    for (size_t i = 0; i < g->n_patterns; i++)
        v[i] = g->patterns[i].text;
    struct regex_warn w = {warn, g};
    const char *msg = NULL;
    int r = regex_compile_many(v, g->n_patterns, regex_flags(g), &w, &g->re, &msg, NULL);
    mem_free(v);
    if (r == -ENOMEM)
        cmd_err(g->c, "%s", msg);
    else if (r < 0)
        bad_patterns(g, msg);
    if (r == 0)
        regex_set_poll(g->re, &(struct regex_poll){poll_cmd, g->c});
    return r;
}

/* ---- options ---- */

static int set_matcher(struct grep *g, enum grep_matcher m)
{
    if (g->matcher_given && g->matcher != m) {
        cmd_err(g->c, "conflicting matchers specified");
        return 2;
    }
    g->matcher = m;
    g->matcher_given = true;
    return 0;
}

static int context_arg(struct grep *g, const char *arg, int64_t *ret)
{
    enum num_status st = num_i64(arg, NULL, ret);
    if ((st == NUM_OK || st == NUM_OVERFLOW) && *ret >= 0)
        return 0;
    cmd_err(g->c, "%s: invalid context length argument", arg);
    return 2;
}

static int count_arg(struct grep *g, const char *arg)
{
    enum num_status st = num_i64(arg, NULL, &g->max_count);
    if (st != NUM_OK && st != NUM_OVERFLOW) {
        cmd_err(g->c, "invalid max count");
        return 2;
    }
    if (g->max_count < 0)
        g->max_count = INT64_MAX;
    return 0;
}

static int color_arg(struct grep *g, const char *arg)
{
    static const char *const on[] = {"always", "yes", "force"}, *const off[] = {"never", "no", "none"},
                             *const maybe[] = {"auto", "tty", "if-tty"};
    bool tty = false, known = !arg;
    for (unsigned i = 0; arg && i < 3; i++) {
        if (strcmp(arg, on[i]) == 0)
            g->color.on = known = true;
        if (strcmp(arg, off[i]) == 0)
            g->color.on = !(known = true);
        if (strcmp(arg, maybe[i]) == 0)
            tty = known = true;
    }
    if (!arg || tty) {
        const char *term = cmd_getenv(g->c, "TERM");
        g->color.on = proc_isatty(g->c->p, 1) && term && strcmp(term, "dumb") != 0;
    }
    if (known)
        return 0;
    /* As the real one: help, and success. */
    cmd_puts(g->c, g->c->def->usage);
    cmd_putc(g->c, '\n');
    cmd_puts(g->c, g->c->def->help);
    return -2;
}

static int dirs_arg(struct grep *g, const char *arg)
{
    static const char *const names[] = {"read", "recurse", "skip", NULL};
    static const int vals[] = {GREP_DIR_READ, GREP_DIR_RECURSE, GREP_DIR_SKIP};
    int v = cmd_choice(g->c, "--directories", arg, names, vals);
    if (v < 0) {
        usage(g);
        return 1;
    }
    g->dirs = (enum grep_dirs)v;
    return 0;
}

static int devices_arg(struct grep *g, const char *arg)
{
    if (strcmp(arg, "read") == 0)
        g->devices = GREP_DEV_READ;
    else if (strcmp(arg, "skip") == 0)
        g->devices = GREP_DEV_SKIP;
    else {
        cmd_err(g->c, "unknown devices method");
        return 2;
    }
    return 0;
}

static int binary_arg(struct grep *g, const char *arg)
{
    if (strcmp(arg, "binary") == 0)
        g->binary = GREP_BINARY;
    else if (strcmp(arg, "text") == 0)
        g->binary = GREP_TEXT;
    else if (strcmp(arg, "without-match") == 0)
        g->binary = GREP_WITHOUT_MATCH;
    else {
        cmd_err(g->c, "unknown binary-files type");
        return 2;
    }
    return 0;
}

static const char *without_slashes(struct grep *g, const char *name)
{
    size_t n = strlen(name);
    while (n > 1 && name[n - 1] == '/')
        n--;
    return arena_dup(g->c->keep, name, n);
}

/* Options with an argument, and the long ones. 0, an exit status, or -2 to end with 0. */
static int option_arg(struct grep *g, int code, const char *arg)
{
    int r;
    switch (code) {
    case 'A':
        return context_arg(g, arg, &g->after);
    case 'B':
        return context_arg(g, arg, &g->before);
    case 'C':
        return context_arg(g, arg, &g->context);
    case 'D':
        return devices_arg(g, arg);
    case 'd':
        return dirs_arg(g, arg);
    case 'e':
        g->patterns_given = true;
        add_patterns(g, str_c(arg), NULL);
        return 0;
    case 'f':
        g->patterns_given = true;
        return pattern_file(g, arg) < 0 ? 2 : 0;
    case 'm':
        return count_arg(g, arg);
    case O_BINARY_FILES:
        return binary_arg(g, arg);
    case O_COLOR:
        return color_arg(g, arg);
    case O_EXCLUDE:
    case O_INCLUDE:
        grep_glob_add(g, &g->files, arg, code == O_INCLUDE);
        return 0;
    case O_EXCLUDE_DIR:
        grep_glob_add(g, &g->dirs_excluded, without_slashes(g, arg), false);
        return 0;
    case O_EXCLUDE_FROM:
        r = grep_glob_file(g, arg);
        if (r < 0)
            cmd_errno(g->c, r, "%s", arg);
        return r < 0 ? 2 : 0;
    case O_GROUP_SEP:
        g->group_sep = arg;
        return 0;
    case O_LABEL:
        g->label = arg;
        return 0;
    default:
        return 0;
    }
}

static int option(struct grep *g, int code)
{
    switch (code) {
    case 'E':
        return set_matcher(g, GREP_EXTENDED);
    case 'F':
        return set_matcher(g, GREP_FIXED);
    case 'G':
        return set_matcher(g, GREP_BASIC);
    case 'P':
        return set_matcher(g, GREP_PERL);
    case 'H':
        g->with_filename = 1;
        break;
    case 'h':
        g->with_filename = -1;
        break;
    case 'I':
        g->binary = GREP_WITHOUT_MATCH;
        break;
    case 'a':
        g->binary = GREP_TEXT;
        break;
    case 'T':
        g->align = true;
        break;
    case 'U': /* carriage returns are nothing special here */
        break;
    case 'u':
        cmd_err(g->c, "warning: --unix-byte-offsets (-u) is obsolete");
        break;
    case 'b':
        g->byte_offsets = true;
        break;
    case 'c':
        g->count = true;
        break;
    case 'i':
    case 'y':
        g->icase = true;
        break;
    case O_NO_IGNORE_CASE:
        g->icase = false;
        break;
    case 'L':
        g->list = GREP_LIST_NONMATCHING;
        break;
    case 'l':
        g->list = GREP_LIST_MATCHING;
        break;
    case 'n':
        g->line_numbers = true;
        break;
    case 'o':
        g->only_matching = true;
        break;
    case 'q':
        g->quiet = true;
        break;
    case 'R':
    case 'r':
        g->dirs = GREP_DIR_RECURSE;
        g->follow_all = code == 'R';
        break;
    case 's':
        g->no_messages = true;
        break;
    case 'v':
        g->invert = true;
        break;
    case 'w':
        g->words = true;
        break;
    case 'x':
        g->lines = true;
        break;
    case 'Z':
        g->null_names = true;
        break;
    case 'z':
        g->eol = 0;
        break;
    case O_LINE_BUFFERED:
        g->line_buffered = true;
        break;
    case O_NO_GROUP_SEP:
        g->group_sep = NULL;
        break;
    default:
        return option_arg(g, code, g->c->optarg);
    }
    return 0;
}

/* -NUM may be spread over a cluster's digits: "-12" is twelve, "-1 -2" two. */
static int options(struct grep *g)
{
    char digits[24];
    size_t n = 0;
    for (;;) {
        bool same_word = g->c->opt_pos > 0;
        int code = cmd_getopt(g->c, opts, false);
        if (code == -1)
            return 0;
        if (code == -2) {
            int st = cmd_usage_status(g->c);
            if (st != 0)
                usage(g);
            return st ? st : -2;
        }
        if (code == 'V') {
            cmd_printf(g->c, "%s (Frontal Sandbox) %s\n", g->c->def->name, FRONTAL_VERSION);
            return -2;
        }
        if (code < '0' || code > '9') {
            n = 0;
            int r = option(g, code);
            if (r)
                return r;
            continue;
        }
        n = same_word ? n : 0;
        n -= n == 1 && digits[0] == '0';
        if (n < sizeof digits - 1)
            digits[n++] = (char)code;
        digits[n] = 0;
        int r = context_arg(g, digits, &g->context);
        if (r)
            return r;
    }
}

/* ---- running ---- */

static void settle(struct grep *g)
{
    struct cmd *c = g->c;
    g->utf8 = cmd_utf8(c);
    if (g->before < 0)
        g->before = g->context;
    if (g->after < 0)
        g->after = g->context;
    if (g->quiet)
        g->list = GREP_LIST_NONE;
    if (g->quiet || g->list != GREP_LIST_NONE)
        g->count = false;
    g->first_only = g->quiet || g->list != GREP_LIST_NONE;
    g->out_quiet = g->count || g->first_only;
    g->out_regular = proc_fstat(c->p, 1, &g->out_st) == 0 && S_ISREG(g->out_st.mode);
    grep_colors(g);
}

/* No line can be selected: no patterns (-f /dev/null), or all but what the empty one matches. GNU grep then opens no
 * file, so that one that is not there is no error. */
static bool selects_none(const struct grep *g)
{
    if (g->n_patterns == 0)
        return !g->invert;
    return g->n_patterns == 1 && g->patterns[0].text.n == 0 && g->invert && !g->words && !g->lines;
}

static int run(struct grep *g)
{
    struct cmd *c = g->c;
    int r = options(g);
    if (r)
        return r == -2 ? 0 : r;
    if (!g->patterns_given) {
        if (c->optind >= c->argc)
            return usage(g);
        add_patterns(g, str_c(c->argv[c->optind++]), NULL);
    }
    settle(g);
    if ((g->max_count == 0 || selects_none(g)) && g->list != GREP_LIST_NONMATCHING)
        return 1;
    if (compile(g) < 0)
        return 2;
    int n = c->argc - c->optind;
    g->names = g->with_filename > 0 || (g->with_filename == 0 && n > 1);
    bool hit = false;
    if (n == 0) {
        g->omit_dot = g->dirs == GREP_DIR_RECURSE;
        hit = grep_operand(g, g->omit_dot ? "." : "-");
    }
    for (int i = c->optind; i < c->argc && !g->stop; i++)
        hit |= grep_operand(g, c->argv[i]);
    if (g->quiet && hit)
        return 0;
    return g->error ? 2 : hit ? 0 : 1;
}

static int main_as(struct cmd *c, enum grep_matcher matcher)
{
    struct grep g = {
        .c = c, .eol = '\n', .max_count = INT64_MAX, .before = -1, .after = -1, .context = -1, .group_sep = "--"};
    g.matcher = matcher;
    g.matcher_given = matcher != GREP_BASIC;
    c->name = "grep"; /* also where an old name was used */
    c->opt_no_try = true;
    int status = run(&g);
    grep_scan_done(&g);
    regex_free(g.re);
    regex_pcre_free(g.pcre);
    return status;
}

static int main_grep(struct cmd *c)
{
    return main_as(c, GREP_BASIC);
}

static int main_egrep(struct cmd *c)
{
    return main_as(c, GREP_EXTENDED);
}

static int main_fgrep(struct cmd *c)
{
    return main_as(c, GREP_FIXED);
}

#define OLD_HELP "An old name of grep with this option; see grep --help.\n"

CMD(egrep, main_egrep, 2, "Usage: egrep [OPTION]... PATTERNS [FILE]...\n", "grep -E. " OLD_HELP);
CMD(fgrep, main_fgrep, 2, "Usage: fgrep [OPTION]... PATTERNS [FILE]...\n", "grep -F. " OLD_HELP);
CMD(grep, main_grep, 2, "Usage: grep [OPTION]... PATTERNS [FILE]...\n",
    "Prints the lines of each FILE that match one of PATTERNS (one a line). \"-\" is standard input.\n"
    "  -G, -E, -F, -P    patterns are basic or extended expressions, strings, Perl's\n"
    "  -e, --regexp=PATTERNS, -f, --file=FILE    patterns; may be repeated\n"
    "  -i, --ignore-case  --no-ignore-case  -w, --word-regexp  -x, --line-regexp\n"
    "  -v, --invert-match     select lines that do not match\n"
    "  -z, --null-data        lines end in NUL\n"
    "  -c, --count  -l, --files-with-matches  -L, --files-without-match  -q, --quiet\n"
    "  -m, --max-count=NUM    stop after NUM selected lines of a file\n"
    "  -o, --only-matching    print only what matched\n"
    "  -n, --line-number  -b, --byte-offset  -H, --with-filename  -h, --no-filename\n"
    "  -Z, --null  -T, --initial-tab  --label=NAME  --line-buffered\n"
    "  -A NUM, -B NUM, -C NUM, -NUM    lines of context after, before, around\n"
    "  --group-separator=TEXT  --no-group-separator  --color[=WHEN]\n"
    "  -a, --text  -I  --binary-files=TYPE  -U, --binary\n"
    "  -r, --recursive  -R, --dereference-recursive  -d ACTION  -D ACTION\n"
    "  --include=GLOB  --exclude=GLOB  --exclude-from=FILE  --exclude-dir=GLOB\n"
    "  -s, --no-messages      say nothing of files that cannot be read\n"
    "Status: 0 when a line was selected, 1 when none was, 2 after an error.\n");
