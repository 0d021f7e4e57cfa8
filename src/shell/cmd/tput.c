/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tput, clear and reset of ncurses for the terminals xterm, xterm-256color and dumb: the machine has no terminfo, so
 * that others are as unknown as they would be there.
 */
#include "shell/cmd/cmd.h"

static const char *const terminals[] = {"dumb", "xterm", "xterm-256color", NULL};

enum terminal { DUMB, XTERM, XTERM_256 };

struct text_cap {
    const char *name;
    const char *text; /* %1 %2: the parameters; %a %b: the parameters plus one */
};

/* Of xterm; terminfo(5) says what they are for. */
static const struct text_cap texts[] = {
    {"bel", "\a"},
    {"blink", "\033[5m"},
    {"bold", "\033[1m"},
    {"civis", "\033[?25l"},
    {"clear", "\033[H\033[2J"},
    {"cnorm", "\033[?12l\033[?25h"},
    {"cr", "\r"},
    {"csr", "\033[%a;%br"},
    {"cub", "\033[%1D"},
    {"cub1", "\b"},
    {"cud", "\033[%1B"},
    {"cud1", "\n"},
    {"cuf", "\033[%1C"},
    {"cuf1", "\033[C"},
    {"cup", "\033[%a;%bH"},
    {"cuu", "\033[%1A"},
    {"cuu1", "\033[A"},
    {"cvvis", "\033[?12;25h"},
    {"dch", "\033[%1P"},
    {"dch1", "\033[P"},
    {"dim", "\033[2m"},
    {"dl", "\033[%1M"},
    {"dl1", "\033[M"},
    {"ech", "\033[%1X"},
    {"ed", "\033[J"},
    {"el", "\033[K"},
    {"el1", "\033[1K"},
    {"flash", "\033[?5h\033[?5l"},
    {"home", "\033[H"},
    {"hpa", "\033[%aG"},
    {"ht", "\t"},
    {"ich", "\033[%1@"},
    {"il", "\033[%1L"},
    {"il1", "\033[L"},
    {"ind", "\n"},
    {"invis", "\033[8m"},
    {"op", "\033[39;49m"},
    {"rc", "\0338"},
    {"rev", "\033[7m"},
    {"ri", "\033M"},
    {"ritm", "\033[23m"},
    {"rmcup", "\033[?1049l\033[23;0;0t"},
    {"rmso", "\033[27m"},
    {"rmul", "\033[24m"},
    {"rmkx", "\033[?1l\033>"},
    {"sc", "\0337"},
    {"sgr0", "\033(B\033[m"},
    {"sitm", "\033[3m"},
    {"smcup", "\033[?1049h\033[22;0;0t"},
    {"smkx", "\033[?1h\033="},
    {"smso", "\033[7m"},
    {"smul", "\033[4m"},
    {"vpa", "\033[%ad"},
};

static const char *const dumb_texts[] = {"bel", "cr", "cud1", "ind"};

struct number_cap {
    const char *name;
    int v[3]; /* dumb, xterm, xterm-256color */
};

static const struct number_cap numbers[] = {
    {"colors", {-1, 8, 256}}, {"cols", {80, 80, 80}},     {"it", {-1, 8, 8}},
    {"lines", {-1, 24, 24}},  {"pairs", {-1, 64, 65536}},
};

struct flag_cap {
    const char *name;
    bool v[3];
};

static const struct flag_cap flags[] = {
    {"am", {true, true, true}},   {"bce", {false, true, true}},  {"ccc", {false, false, true}},
    {"km", {false, true, true}},  {"mir", {false, true, true}},  {"msgr", {false, true, true}},
    {"npc", {false, true, true}}, {"xenl", {false, true, true}},
};

static bool is_dumb_text(const char *name)
{
    for (size_t i = 0; i < sizeof dumb_texts / sizeof *dumb_texts; i++)
        if (strcmp(name, dumb_texts[i]) == 0)
            return true;
    return false;
}

static int parameter(char **args, int i)
{
    int64_t v;
    return args[0] && (i == 0 || args[1]) && str_i64(str_c(args[i]), &v) == 0 ? (int)v : 0;
}

static void put_text(struct cmd *c, const char *text, char **args)
{
    for (; *text; text++) {
        if (*text != '%') {
            cmd_putc(c, *text);
            continue;
        }
        text++;
        int i = *text == '2' || *text == 'b';
        cmd_printf(c, "%d", parameter(args, i) + (*text >= 'a'));
    }
}

/* setaf and setab; @base is 3 or 4. */
static void put_colour(struct cmd *c, enum terminal t, int base, char **args)
{
    int n = parameter(args, 0);
    if (!args[0])
        cmd_printf(c, "\033[%d%%p1%%dm", base); /* the tool shows what waits for a parameter */
    else if (t == XTERM || n < 8)
        cmd_printf(c, "\033[%d%dm", base, n);
    else if (n < 16)
        cmd_printf(c, "\033[%d%dm", base == 3 ? 9 : 10, n - 8);
    else
        cmd_printf(c, "\033[%d8;5;%dm", base, n);
}

static int number(struct cmd *c, const struct number_cap *cap, enum terminal t)
{
    int v = cap->v[t];
    uint16_t rows, cols;
    proc_winsize(c->p->ps, &rows, &cols);
    if (rows && cols && (proc_isatty(c->p, 1) || proc_isatty(c->p, 2) || proc_isatty(c->p, 0))) {
        if (strcmp(cap->name, "cols") == 0)
            v = cols;
        else if (strcmp(cap->name, "lines") == 0)
            v = rows;
    }
    /* Without a terminal lines are as many as those of a terminal that says nothing. */
    if (v < 0 && strcmp(cap->name, "lines") == 0)
        v = 24;
    cmd_printf(c, "%d\n", v);
    return 0;
}

static int terminal_of(const char *name)
{
    for (int i = 0; terminals[i]; i++)
        if (strcmp(name, terminals[i]) == 0)
            return i;
    return -1;
}

static void clear_screen(struct cmd *c, bool keep_scrollback)
{
    cmd_puts(c, keep_scrollback ? "\033[H\033[2J" : "\033[H\033[2J\033[3J");
}

static bool on_terminal(const struct cmd *c)
{
    return proc_isatty(c->p, 2) || proc_isatty(c->p, 1) || proc_isatty(c->p, 0);
}

static void reset_terminal(struct cmd *c, enum terminal t)
{
    if (t != DUMB)
        cmd_puts(c, t == XTERM ? "\033c\033[!p\033[?3;4l\033[4l\033>" : "\033c\033]104\a\033[!p\033[?3;4l\033[4l\033>");
}

/* One capability with its parameters: the status. */
static int show(struct cmd *c, enum terminal t, const char *name, char **args, bool keep_scrollback)
{
    if (strcmp(name, "clear") == 0 && t != DUMB)
        return clear_screen(c, keep_scrollback), 0;
    if (strcmp(name, "init") == 0 || strcmp(name, "reset") == 0) {
        if (!on_terminal(c))
            return cmd_err(c, "terminal attributes: No such device or address\n"), 1;
        if (strcmp(name, "reset") == 0)
            reset_terminal(c, t);
        else if (t != DUMB)
            cmd_puts(c, "\033[!p\033[?3;4l\033[4l\033>");
        return 0;
    }
    if (strcmp(name, "longname") == 0) {
        static const char *const names[] = {"80-column dumb tty", "xterm terminal emulator (X Window System)",
                                            "xterm with 256 colors"};
        return cmd_puts(c, names[t]), 0;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return number(c, &numbers[i], t);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(name, flags[i].name) == 0)
            return !flags[i].v[t];
    bool colour = strcmp(name, "setaf") == 0 || strcmp(name, "setab") == 0;
    if (colour && t == XTERM_256 && !args[0])
        return cmd_refuse(c, "%s without a colour is not implemented here", name);
    if (colour && t != DUMB)
        return put_colour(c, t, name[4] == 'f' ? 3 : 4, args), 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0) {
            if (t == DUMB && !is_dumb_text(name))
                return 1;
            return put_text(c, texts[i].text, args), 0;
        }
    return colour ? 1 : cmd_refuse(c, "the capability '%s' is not implemented here", name);
}

#define USAGE "Usage: tput [-T TERM] [-x] CAPABILITY [PARAMETER]...\n"

/* The terminal of -T or TERM; negative after a message, with the status. */
static int choose(struct cmd *c, const char *given, int *ret_status)
{
    const char *name = given ? given : cmd_getenv(c, "TERM");
    int t = name && *name ? terminal_of(name) : -1;
    if (!name || !*name) {
        cmd_err(c, "No value for $TERM and no -T specified");
        *ret_status = 2;
    } else if (t < 0) {
        cmd_err(c, "unknown terminal \"%s\"", name);
        *ret_status = 3;
    }
    return t;
}

/* Each line of standard input is one capability. */
static int from_input(struct cmd *c, enum terminal t, bool keep)
{
    struct cmd_lines l;
    struct str line;
    int r, status = 0;
    cmd_lines_init(&l, c, 0, '\n');
    while (status == 0 && (r = cmd_lines_next(&l, &line, NULL)) == 1) {
        char *words[4] = {NULL}, *text = arena_dup(c->arena, line.p, line.n), *save = NULL;
        int n = 0;
        for (char *w = strtok_r(text, " \t", &save); w && n < 3; w = strtok_r(NULL, " \t", &save))
            words[n++] = w;
        if (n)
            status = show(c, t, words[0], words + 1, keep);
    }
    cmd_lines_done(&l);
    return status;
}

static int takes(const char *name)
{
    static const char *const two[] = {"cup", "csr"};
    for (size_t i = 0; i < 2; i++)
        if (strcmp(name, two[i]) == 0)
            return 2;
    if (strcmp(name, "setaf") == 0 || strcmp(name, "setab") == 0)
        return 1;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0)
            return strchr(texts[i].text, '%') ? 1 : 0;
    return 0;
}

static int tput_main(struct cmd *c)
{
    const char *term = NULL;
    bool keep = false, input = false;
    int i = 1, status = 0;
    if (cmd_help_alone(c))
        return 0;
    for (; i < c->argc && c->argv[i][0] == '-' && c->argv[i][1]; i++) {
        const char *w = c->argv[i];
        if (w[1] == 'V') {
            cmd_printf(c, "tput (Frontal Sandbox) %s\n", FRONTAL_VERSION);
            return 0;
        }
        if (w[1] == 'x')
            keep = true;
        else if (w[1] == 'S')
            input = true;
        else if (w[1] == 'T' && (w[2] || i + 1 < c->argc))
            term = w[2] ? w + 2 : c->argv[++i];
        else {
            cmd_err(c, w[1] == 'T' ? "option requires an argument -- '%c'" : "invalid option -- '%c'", w[1]);
            cmd_err_raw(c, USAGE);
            return 2;
        }
    }
    if (i == c->argc && !input) {
        cmd_err_raw(c, USAGE);
        return 2;
    }
    int t = choose(c, term, &status);
    if (t < 0)
        return status;
    if (input)
        return from_input(c, (enum terminal)t, keep);
    while (i < c->argc && status == 0) {
        char *name = c->argv[i++], *args[3] = {NULL};
        for (int k = 0; k < takes(name) && i < c->argc; k++)
            args[k] = c->argv[i++];
        status = show(c, (enum terminal)t, name, args, keep);
    }
    return status;
}

static int clear_main(struct cmd *c)
{
    const char *term = cmd_getenv(c, "TERM");
    bool keep = false;
    if (cmd_help_alone(c))
        return 0;
    for (int i = 1; i < c->argc; i++) {
        const char *w = c->argv[i];
        if (strcmp(w, "-x") == 0)
            keep = true;
        else if (strncmp(w, "-T", 2) == 0 && (w[2] || i + 1 < c->argc))
            term = w[2] ? w + 2 : c->argv[++i];
        else if (strcmp(w, "-V") == 0)
            return cmd_printf(c, "clear (Frontal Sandbox) %s\n", FRONTAL_VERSION), 0;
        else
            return cmd_err_raw(c, c->def->usage), 1;
    }
    if (!term || !*term)
        return cmd_err_raw(c, "TERM environment variable not set.\n"), 1;
    int t = terminal_of(term);
    if (t < 0)
        return cmd_err_raw(c, arena_printf(c->arena, "'%s': unknown terminal type.\n", term)), 1;
    if (t == DUMB)
        return 1;
    clear_screen(c, keep);
    return 0;
}

static int reset_main(struct cmd *c)
{
    const char *term = cmd_getenv(c, "TERM");
    if (cmd_help_alone(c))
        return 0;
    if (c->argc > 1)
        return cmd_refuse(c, "operands and options are not implemented here");
    if (!on_terminal(c))
        return cmd_err(c, "terminal attributes: No such device or address\n"), 1;
    int t = term ? terminal_of(term) : -1;
    if (t < 0)
        return cmd_err(c, "unknown terminal type %s", term && *term ? term : "unknown"), 1;
    reset_terminal(c, (enum terminal)t);
    return 0;
}

CMD(tput, tput_main, 2, USAGE,
    "Capabilities of the terminals xterm, xterm-256color and dumb.\n\n"
    "  -T TERM  instead of $TERM\n  -S       capabilities from standard input\n  -x       clear without the "
    "scrollback\n");
CMD(clear, clear_main, 1, "Usage: clear [-T TERM] [-x] [-V]\n", "  -x  not the scrollback\n");
CMD(reset, reset_main, 1, "Usage: reset\n", "Puts the terminal back in order.\n");
