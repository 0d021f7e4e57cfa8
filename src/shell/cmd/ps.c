/* SPDX-License-Identifier: Apache-2.0 */
/* ps of procps 4.0: which processes, which columns. What it shows comes from /proc. */
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "shell/cmd/ps_int.h"

#define MAX_COLUMNS 64

struct shown {
    const struct ps_column *col;
    const char *title;
};

/* One condition of the command line; a process is listed when it meets any. */
struct pick {
    enum { PICK_PID, PICK_PPID, PICK_USER, PICK_COMM } by;
    long n;
    const char *name;
};

struct key {
    const struct ps_column *col;
    bool down;
};

struct ps {
    struct cmd *c;
    struct ps_world w;
    bool every, with_tty, no_leaders, bsd, bsd_all, bsd_x, bsd_u, full, negate, running, true_name;
    bool no_title;
    int wide;
    struct shown cols[MAX_COLUMNS];
    size_t n_cols;
    struct pick *picks;
    size_t n_picks;
    struct key keys[8];
    size_t n_keys;
    const struct process *me;
};

/* ---- messages ---- */

static const char usage_text[] = "\nUsage:\n ps [options]\n\n"
                                 " Try 'ps --help <simple|list|output|threads|misc|all>'\n"
                                 "  or 'ps --help <s|l|o|t|m|a>'\n for additional help text.\n\n"
                                 "For more details see ps(1).\n";

static int fail(struct cmd *c, const char *why)
{
    cmd_err_raw(c, arena_printf(c->arena, "error: %s\n%s", why, usage_text));
    return 1;
}

/* ---- columns ---- */

static int add_column(struct ps *ps, struct str name, const char *title)
{
    const struct ps_column *col = ps_column(name);
    if (!col) {
        struct cmd *c = ps->c;
        return fail(c, arena_printf(c->arena, "unknown user-defined format specifier \"%.*s\"", (int)name.n, name.p));
    }
    if (ps->n_cols == MAX_COLUMNS)
        return cmd_refuse(ps->c, "more than %d columns are not implemented here", MAX_COLUMNS);
    ps->cols[ps->n_cols++] = (struct shown){col, title ? title : col->title};
    return 0;
}

static void add_columns(struct ps *ps, const char *names)
{
    while (*names) {
        size_t n = strcspn(names, " "), k = 0;
        struct str name = str_of(names, n);
        while (k < n && names[k] != '=')
            k++;
        const char *title = k < n ? arena_dup(ps->c->arena, names + k + 1, n - k - 1) : NULL;
        (void)add_column(ps, str_of(name.p, k), title); /* the names are ours */
        names += n + (names[n] == ' ');
    }
}

/* "pid,comm"; "pid=NAME" has a title of its own, up to the next comma or blank. */
static int parse_format(struct ps *ps, const char *spec)
{
    while (*spec) {
        size_t n = strcspn(spec, ", ="), len = 0;
        if (spec[n] == '=')
            len = strcspn(spec + n + 1, ", ");
        int r = add_column(ps, str_of(spec, n), spec[n] == '=' ? arena_dup(ps->c->arena, spec + n + 1, len) : NULL);
        if (r)
            return r;
        spec += n + (spec[n] == '=') + len;
        spec += *spec != 0;
    }
    return 0;
}

/* ---- selection ---- */

static void add_pick(struct ps *ps, struct pick p)
{
    struct pick *v = arena_alloc(ps->c->arena, (ps->n_picks + 1) * sizeof *v);
    if (ps->n_picks)
        memcpy(v, ps->picks, ps->n_picks * sizeof *v);
    v[ps->n_picks++] = p;
    ps->picks = v;
}

/* A list of what is picked, with commas or blanks between. */
static int parse_list(struct ps *ps, int by, const char *list)
{
    while (*list) {
        size_t n = strcspn(list, ", ");
        const char *word = arena_dup(ps->c->arena, list, n);
        uint64_t v;
        bool number = str_u64(str_of(word, n), &v) == 0 && v <= INT32_MAX;
        uint32_t uid, gid;
        if (by == PICK_COMM)
            add_pick(ps, (struct pick){PICK_COMM, 0, word});
        else if (by == PICK_USER && cmd_user_id(ps->c, word, &uid, &gid) == 0)
            add_pick(ps, (struct pick){PICK_USER, (long)uid, NULL});
        else if (by == PICK_USER && !number)
            return fail(ps->c, "user name does not exist");
        else if (!number)
            return fail(ps->c, "process ID list syntax error");
        else
            add_pick(ps, (struct pick){by == PICK_USER ? PICK_USER : by, (long)v, NULL});
        list += n + (list[n] != 0);
    }
    return 0;
}

static bool picked(const struct ps *ps, const struct process *p)
{
    for (size_t i = 0; i < ps->n_picks; i++) {
        const struct pick *k = &ps->picks[i];
        if ((k->by == PICK_PID && k->n == p->pid) || (k->by == PICK_PPID && k->n == p->ppid) ||
            (k->by == PICK_USER && k->n == (long)p->uid) || (k->by == PICK_COMM && strncmp(k->name, p->comm, 15) == 0))
            return true;
    }
    return false;
}

static bool selected(const struct ps *ps, const struct process *p)
{
    bool mine = p->uid == ps->c->p->cred.uid;
    if (ps->running && p->state != 'R')
        return false;
    if (ps->every || (ps->n_picks && picked(ps, p)))
        return true;
    if ((ps->with_tty && p->tty && p->sid != p->pid) || (ps->no_leaders && p->sid != p->pid))
        return true;
    if (ps->bsd_all || ps->bsd_x)
        return (ps->bsd_all || mine) && (ps->bsd_x || p->tty);
    if (ps->n_picks || ps->with_tty || ps->no_leaders)
        return false;
    return mine && (ps->bsd ? p->tty != 0 : !ps->me || p->tty == ps->me->tty);
}

/* ---- options ---- */

static int parse_sort(struct ps *ps, const char *spec)
{
    while (*spec) {
        bool down = *spec == '-';
        spec += *spec == '-' || *spec == '+';
        size_t n = strcspn(spec, ",");
        const struct ps_column *col = ps_column(str_of(spec, n));
        if (!col)
            return fail(ps->c, "unknown sort specifier");
        if (ps->n_keys == sizeof ps->keys / sizeof *ps->keys)
            return cmd_refuse(ps->c, "so many sort keys are not implemented here");
        ps->keys[ps->n_keys++] = (struct key){col, down};
        spec += n + (spec[n] == ',');
    }
    return 0;
}

/* The argument of the option at *i: the rest of its word, or the next one. NULL after a message. */
static const char *value(struct ps *ps, int *i, const char *rest, const char *why)
{
    if (*rest)
        return rest + (*rest == '=');
    if (*i + 1 < ps->c->argc)
        return ps->c->argv[++*i];
    fail(ps->c, why);
    return NULL;
}

/* The options that take a value: 0 or a status, and *ret_used tells whether @ch is one. */
static int valued(struct ps *ps, int *i, char ch, const char *rest, bool *ret_used)
{
    *ret_used = true;
    const char *v;
    switch (ch) {
    case 'o':
        v = value(ps, i, rest, "format specification must follow -o");
        return v ? parse_format(ps, v) : 1;
    case 'p':
    case 'q':
        v = value(ps, i, rest, "list of process IDs must follow -p");
        return v ? parse_list(ps, PICK_PID, v) : 1;
    case 'u':
    case 'U':
        v = value(ps, i, rest, "list of users must follow -u");
        return v ? parse_list(ps, PICK_USER, v) : 1;
    case 'C':
        v = value(ps, i, rest, "list of command names must follow -C");
        return v ? parse_list(ps, PICK_COMM, v) : 1;
    default:
        *ret_used = false;
        return 0;
    }
}

static int refuse_letter(struct ps *ps, const char *dash, char ch, const char *known)
{
    if (strchr(known, ch))
        return cmd_refuse(ps->c, "option '%s%c' is not implemented here", dash, ch);
    return fail(ps->c, *dash ? "unsupported SysV option" : "unsupported option (BSD syntax)");
}

static int show_version(struct cmd *c)
{
    cmd_printf(c, "ps (Frontal Sandbox) %s\n", FRONTAL_VERSION);
    return -1;
}

static int bsd_word(struct ps *ps, int *i, const char *w)
{
    ps->bsd = true;
    for (; *w; w++) {
        bool used = false;
        int r = 0;
        switch (*w) {
        case 'a':
            ps->bsd_all = true;
            break;
        case 'x':
            ps->bsd_x = true;
            break;
        case 'u':
            ps->bsd_u = true;
            break;
        case 'r':
            ps->running = true;
            break;
        case 'c':
            ps->true_name = true;
            break;
        case 'w':
            ps->wide++;
            break;
        case 'h':
            ps->no_title = true;
            break;
        case 'V':
            return show_version(ps->c);
        case 'o':
        case 'p':
        case 'U':
            r = valued(ps, i, *w, w + 1, &used);
            if (r || used)
                return r;
            break;
        default:
            return refuse_letter(ps, "", *w, "AHLMNOSTXZefgjklmnqstv");
        }
    }
    return 0;
}

static int dash_word(struct ps *ps, int *i, const char *w)
{
    /* "-aux" and "-ax" cannot be options of their own kind and are read as the others. */
    if (strchr(w, 'x') && w[strspn(w, "auxwr")] == 0)
        return bsd_word(ps, i, w);
    for (; *w; w++) {
        bool used;
        int r = valued(ps, i, *w, w + 1, &used);
        if (r || used)
            return r;
        if (*w == 'e' || *w == 'A')
            ps->every = true;
        else if (*w == 'a')
            ps->with_tty = true;
        else if (*w == 'd')
            ps->no_leaders = true;
        else if (*w == 'f')
            ps->full = true;
        else if (*w == 'N')
            ps->negate = true;
        else if (*w == 'w')
            ps->wide++;
        else if (*w == 'V')
            return show_version(ps->c);
        else
            return refuse_letter(ps, "-", *w, "FGHLMOPTZcgjlmnsty");
    }
    return 0;
}

static int long_word(struct ps *ps, int *i, const char *w)
{
    static const struct {
        const char *name;
        char as; /* the short option it stands for; 0: see below */
    } known[] = {{"pid", 'p'},    {"quick-pid", 'q'}, {"user", 'u'}, {"User", 'U'},
                 {"format", 'o'}, {"ppid", 'P'},      {"sort", 's'}};
    static const char *const refused[] = {"Group", "group",   "sid",   "tty",  "forest", "context",    "headers",
                                          "cols",  "columns", "width", "rows", "lines",  "cumulative", "info"};
    size_t n = strcspn(w, "=");
    struct str name = str_of(w, n);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (!str_eqc(name, known[k].name))
            continue;
        bool used;
        if (known[k].as != 'P' && known[k].as != 's')
            return valued(ps, i, known[k].as, w + n, &used);
        const char *v = value(ps, i, w + n, "long option requires an argument");
        return !v ? 1 : known[k].as == 'P' ? parse_list(ps, PICK_PPID, v) : parse_sort(ps, v);
    }
    if (str_eqc(name, "no-headers") || str_eqc(name, "no-heading") || str_eqc(name, "no-headings") ||
        str_eqc(name, "noheaders") || str_eqc(name, "noheading") || str_eqc(name, "no-header"))
        ps->no_title = true;
    else if (str_eqc(name, "deselect"))
        ps->negate = true;
    else if (str_eqc(name, "version"))
        return show_version(ps->c);
    else if (str_eqc(name, "help")) {
        cmd_puts(ps->c, ps->c->def->usage);
        cmd_putc(ps->c, '\n');
        cmd_puts(ps->c, ps->c->def->help);
        return -1;
    } else {
        for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
            if (str_eqc(name, refused[k]))
                return cmd_refuse(ps->c, "option '--%s' is not implemented here", refused[k]);
        return fail(ps->c, "unknown gnu long option");
    }
    return 0;
}

static int parse(struct ps *ps)
{
    struct cmd *c = ps->c;
    int r = 0;
    for (int i = 1; i < c->argc && r == 0; i++) {
        const char *w = c->argv[i];
        if (w[0] == '-' && w[1] == '-')
            r = long_word(ps, &i, w + 2);
        else if (w[0] == '-' && w[1] >= '0' && w[1] <= '9')
            r = cmd_refuse(c, "a session's number is not implemented here");
        else if (w[0] == '-')
            r = dash_word(ps, &i, w + 1);
        else if (w[0] >= '0' && w[0] <= '9')
            r = parse_list(ps, PICK_PID, w);
        else
            r = bsd_word(ps, &i, w);
    }
    return r;
}

/* ---- output ---- */

static const struct ps *sorting;

/* Text of a column, in the command's arena. */
static const char *text_of(const struct ps *ps, const struct ps_column *col, const struct process *p)
{
    struct buf b;
    buf_init(&b, LIMIT_PATH * 64);
    col->text(&ps->w, p, &b);
    const char *text = arena_dup(ps->c->arena, b.n ? b.p : "", b.n);
    buf_done(&b);
    return text;
}

static int by_keys(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    for (size_t i = 0; i < sorting->n_keys; i++) {
        const struct key *k = &sorting->keys[i];
        double d;
        if (k->col->number)
            d = k->col->number(&sorting->w, x) - k->col->number(&sorting->w, y);
        else
            d = strcmp(text_of(sorting, k->col, x), text_of(sorting, k->col, y));
        if (d > 0 || d < 0)
            return (d > 0) == !k->down ? 1 : -1;
    }
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static int width_of(const struct ps *ps, const struct shown *s)
{
    int w = s->col->width ? s->col->width : ps->w.pid_digits;
    return NUM_MAX(w, (int)strlen(s->title));
}

/* Bytes of a line: all of it unless it goes to a terminal. */
static size_t line_width(const struct ps *ps)
{
    uint16_t rows, cols;
    if (!ps->c->out_tty || ps->wide > 1)
        return SIZE_MAX;
    proc_winsize(ps->c->p->ps, &rows, &cols);
    size_t n = cols ? cols : 80;
    return ps->wide ? NUM_MAX(n, (size_t)132) : n;
}

static void print_row(const struct ps *ps, const struct process *p, size_t limit)
{
    struct buf line BUF_AUTO;
    buf_init(&line, LIMIT_PATH * 64);
    for (size_t i = 0; i < ps->n_cols; i++) {
        const struct shown *s = &ps->cols[i];
        bool last = i + 1 == ps->n_cols;
        const char *text = p ? text_of(ps, s->col, p) : s->title;
        int w = width_of(ps, s);
        if (i > 0)
            buf_putc(&line, ' ');
        if (!s->col->left)
            buf_addf(&line, "%*s", w, text);
        else if (last)
            buf_addc(&line, text);
        else if (s->col->number || s->col->width < 15)
            buf_addf(&line, "%-*s", w, text);
        else
            buf_addf(&line, "%-*.*s", w, w, text);
    }
    cmd_write(ps->c, line.p, NUM_MIN(line.n, limit));
    cmd_putc(ps->c, '\n');
}

static void choose_columns(struct ps *ps)
{
    if (ps->n_cols)
        return;
    if (ps->full)
        add_columns(ps, "user=UID pid ppid c stime tname time cmd");
    else if (ps->bsd_u)
        add_columns(ps, ps->true_name ? "user pid %cpu %mem vsz rss tname stat start_time bsdtime comm"
                                      : "user pid %cpu %mem vsz rss tname stat start_time bsdtime args");
    else if (ps->bsd)
        add_columns(ps, ps->true_name ? "pid tname stat bsdtime comm" : "pid tname stat bsdtime args");
    else
        add_columns(ps, "pid tname time ucmd");
}

static bool titles(const struct ps *ps)
{
    bool any = false;
    for (size_t i = 0; i < ps->n_cols; i++)
        any = any || ps->cols[i].title[0];
    return any && !ps->no_title;
}

static int ps_main(struct cmd *c)
{
    struct ps ps = {.c = c};
    int r = parse(&ps);
    if (r)
        return r < 0 ? 0 : r;
    if (ps.full && ps.bsd_u)
        return fail(c, "conflicting format options");
    ps_world_init(&ps.w, c);
    choose_columns(&ps);
    size_t n, kept = 0;
    struct process *all = processes_read(c, &n);
    struct process *v = arena_alloc(c->arena, (n + 1) * sizeof *v);
    for (size_t i = 0; i < n; i++)
        if (all[i].pid == c->p->pid)
            ps.me = &all[i];
    for (size_t i = 0; i < n; i++)
        if (selected(&ps, &all[i]) != ps.negate)
            v[kept++] = all[i];
    if (ps.n_keys && kept) {
        sorting = &ps;
        qsort(v, kept, sizeof *v, by_keys);
        sorting = NULL;
    }
    size_t limit = line_width(&ps);
    if (titles(&ps))
        print_row(&ps, NULL, limit);
    for (size_t i = 0; i < kept; i++)
        print_row(&ps, &v[i], limit);
    return kept ? 0 : 1;
}

CMD(ps, ps_main, 1, "Usage: ps [options]\n",
    "  -e, -A               all processes\n"
    "  -a                   all with a terminal, but session leaders\n"
    "  -d                   all but session leaders\n"
    "  -N, --deselect       those that are not selected\n"
    "  a, x, r              of all users; also without a terminal; running ones\n"
    "  -p, p, --pid LIST    by number; also -q and LIST alone\n"
    "      --ppid LIST      by the number of the parent\n"
    "  -u, -U, U LIST       by user\n"
    "  -C LIST              by name\n"
    "  -f                   full format\n"
    "  u                    format for users\n"
    "  c                    the name instead of the command line\n"
    "  -o, o, --format LIST columns; NAME=TITLE changes a title\n"
    "      --sort LIST      by columns, after '-' downwards\n"
    "  h, --no-headers      no line of titles\n"
    "  -w, w                wide lines on a terminal; twice: no limit\n"
    "  -V, --version        the version\n");
