/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stty of coreutils for the terminal on standard input. A terminal of the session's own has the settings of
 * proc/proc.h; of the host's terminal only the size is known. What there is not (flow control, parity, speeds) is shown
 * as it is, and cannot be set.
 */
#include "shell/cmd/cmd.h"

#include <errno.h>

struct setting {
    const char *name;
    char kind;     /* i o l: which group shows it */
    uint32_t flag; /* PROC_…; 0: fixed */
    bool on;       /* when it is fixed */
    bool sane;     /* what a sane terminal has, which is not shown without -a */
};

/* In the order of stty -a. */
static const struct setting settings[] = {
    {"ignbrk", 'i', 0, false, false},
    {"brkint", 'i', 0, false, false},
    {"ignpar", 'i', 0, false, false},
    {"parmrk", 'i', 0, false, false},
    {"inpck", 'i', 0, false, false},
    {"istrip", 'i', 0, false, false},
    {"inlcr", 'i', PROC_INLCR, false, false},
    {"igncr", 'i', PROC_IGNCR, false, false},
    {"icrnl", 'i', PROC_ICRNL, false, true},
    {"ixon", 'i', 0, false, true},
    {"ixoff", 'i', 0, false, false},
    {"iuclc", 'i', 0, false, false},
    {"ixany", 'i', 0, false, false},
    {"imaxbel", 'i', 0, true, true},
    {"iutf8", 'i', PROC_IUTF8, false, false},
    {"opost", 'o', PROC_OPOST, false, true},
    {"olcuc", 'o', 0, false, false},
    {"ocrnl", 'o', 0, false, false},
    {"onlcr", 'o', PROC_ONLCR, false, true},
    {"onocr", 'o', 0, false, false},
    {"onlret", 'o', 0, false, false},
    {"ofill", 'o', 0, false, false},
    {"ofdel", 'o', 0, false, false},
    {"isig", 'l', PROC_ISIG, false, true},
    {"icanon", 'l', PROC_ICANON, false, true},
    {"iexten", 'l', PROC_IEXTEN, false, true},
    {"echo", 'l', PROC_ECHO, false, true},
    {"echoe", 'l', PROC_ECHOE, false, true},
    {"echok", 'l', PROC_ECHOK, false, true},
    {"echonl", 'l', PROC_ECHONL, false, false},
    {"noflsh", 'l', PROC_NOFLSH, false, false},
    {"xcase", 'l', 0, false, false},
    {"tostop", 'l', 0, false, false},
    {"echoprt", 'l', 0, false, false},
    {"echoctl", 'l', PROC_ECHOCTL, false, true},
    {"echoke", 'l', PROC_ECHOKE, false, true},
    {"flusho", 'l', 0, false, false},
    {"extproc", 'l', 0, false, false},
};
#define SETTINGS (sizeof settings / sizeof *settings)

struct character {
    const char *name;
    int at; /* enum proc_cc; -1: there is none, but it is shown */
    uint8_t sane;
};

static const struct character characters[] = {
    {"intr", PROC_VINTR, 3},
    {"quit", PROC_VQUIT, 28},
    {"erase", PROC_VERASE, 127},
    {"kill", PROC_VKILL, 21},
    {"eof", PROC_VEOF, 4},
    {"eol", PROC_VEOL, 0},
    {"eol2", -1, 0},
    {"swtch", -1, 0},
    {"start", -1, 0},
    {"stop", -1, 0},
    {"susp", PROC_VSUSP, 26},
    {"rprnt", PROC_VREPRINT, 18},
    {"werase", PROC_VWERASE, 23},
    {"lnext", PROC_VLNEXT, 22},
    {"discard", -1, 0},
};
#define CHARACTERS (sizeof characters / sizeof *characters)

struct stty {
    struct cmd *c;
    struct proc_tty *t; /* NULL: the host's */
    struct proc_termios s;
    uint16_t rows, cols;
    uint32_t column; /* of what is shown */
    bool changed, resized;
};

/* ---- showing ---- */

/* A word, on the next line when it does not fit, as stty does it. */
static void show(struct stty *y, const char *text)
{
    uint32_t n = (uint32_t)strlen(text), width = y->cols ? y->cols : 80;
    if (y->column && y->column + 1 + n >= width) {
        cmd_putc(y->c, '\n');
        y->column = 0;
    } else if (y->column) {
        cmd_putc(y->c, ' ');
        y->column++;
    }
    cmd_puts(y->c, text);
    y->column += n;
}

static void end_line(struct stty *y)
{
    if (y->column)
        cmd_putc(y->c, '\n');
    y->column = 0;
}

static bool is_on(const struct stty *y, const struct setting *s)
{
    return s->flag ? (y->s.flags & s->flag) != 0 : s->on;
}

static void show_character(struct stty *y, const struct character *ch)
{
    uint8_t v = ch->at < 0 ? 0 : y->s.cc[ch->at];
    char text[16] = "<undef>";
    if (v && (v < 32 || v == 127))
        snprintf(text, sizeof text, "^%c", v ^ 64);
    else if (v)
        snprintf(text, sizeof text, v < 128 ? "%c" : "M-%c", v & 127);
    show(y, arena_printf(y->c->arena, "%s = %s;", ch->name, text));
}

static void show_flags(struct stty *y, char kind, bool all)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];
        bool on = is_on(y, s);
        if (s->kind == kind && (all || on != s->sane))
            show(y, arena_printf(y->c->arena, "%s%s", on ? "" : "-", s->name));
        if (all && strcmp(s->name, "ofdel") == 0)
            for (const char *w = "nl0\0cr0\0tab0\0bs0\0vt0\0ff0\0"; kind == 'o' && *w; w += strlen(w) + 1)
                show(y, w);
    }
    end_line(y);
}

static void show_all(struct stty *y, bool all)
{
    show(y, "speed 38400 baud;");
    if (all) {
        show(y, arena_printf(y->c->arena, "rows %u;", y->rows));
        show(y, arena_printf(y->c->arena, "columns %u;", y->cols));
    }
    show(y, "line = 0;");
    end_line(y);
    for (size_t i = 0; i < CHARACTERS; i++)
        if (all || (characters[i].at >= 0 && y->s.cc[characters[i].at] != characters[i].sane))
            show_character(y, &characters[i]);
    bool raw = !(y->s.flags & PROC_ICANON);
    if (all || raw) {
        show(y, arena_printf(y->c->arena, "min = %u;", y->s.cc[PROC_VMIN]));
        show(y, arena_printf(y->c->arena, "time = %u;", y->s.cc[PROC_VTIME]));
    }
    end_line(y);
    if (all) {
        static const char *const control[] = {"-parenb", "-parodd", "-cmspar", "cs8",     "-hupcl",
                                              "-cstopb", "cread",   "-clocal", "-crtscts"};
        for (size_t i = 0; i < sizeof control / sizeof *control; i++)
            show(y, control[i]);
        end_line(y);
    }
    show_flags(y, 'i', all);
    show_flags(y, 'o', all);
    show_flags(y, 'l', all);
}

/* ---- all settings as one word, for stty "$(stty -g)" ---- */

static void show_word(struct stty *y)
{
    cmd_printf(y->c, "%x", y->s.flags);
    for (int i = 0; i < PROC_CC; i++)
        cmd_printf(y->c, ":%x", y->s.cc[i]);
    cmd_putc(y->c, '\n');
}

static bool take_word(struct stty *y, const char *word)
{
    struct proc_termios s = {0};
    for (int i = -1; i < PROC_CC; i++) {
        uint32_t v = 0;
        const char *from = word;
        for (; *word && *word != ':' && word - from < 8; word++) {
            int d = *word >= '0' && *word <= '9' ? *word - '0' : *word >= 'a' && *word <= 'f' ? *word - 'a' + 10 : -1;
            if (d < 0)
                return false;
            v = v << 4 | (uint32_t)d;
        }
        if (word == from || *word != (i + 1 < PROC_CC ? ':' : 0) || (i >= 0 && v > 255))
            return false;
        word++;
        if (i < 0)
            s.flags = v & (2 * PROC_NOFLSH - 1);
        else
            s.cc[i] = (uint8_t)v;
    }
    y->s = s;
    return y->changed = true;
}

/* ---- changing ---- */

static void set(struct stty *y, uint32_t flags, bool on)
{
    y->s.flags = on ? y->s.flags | flags : y->s.flags & ~flags;
    y->changed = true;
}

static void make_sane(struct stty *y)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (settings[i].flag && settings[i].flag != PROC_IUTF8)
            set(y, settings[i].flag, settings[i].sane);
    for (size_t i = 0; i < CHARACTERS; i++)
        if (characters[i].at >= 0)
            y->s.cc[characters[i].at] = characters[i].sane;
}

static void make_raw(struct stty *y, bool on)
{
    set(y, PROC_ICRNL | PROC_INLCR | PROC_IGNCR, false);
    set(y, PROC_OPOST | PROC_ISIG | PROC_ICANON, !on);
    if (on) {
        y->s.cc[PROC_VMIN] = 1;
        y->s.cc[PROC_VTIME] = 0;
    } else {
        set(y, PROC_ICRNL, true);
        y->s.cc[PROC_VEOF] = 4;
        y->s.cc[PROC_VEOL] = 0;
    }
}

/* A setting that stands for several: whether it is one. */
static bool combination(struct stty *y, const char *name, bool on)
{
    if (strcmp(name, "raw") == 0)
        make_raw(y, on);
    else if (strcmp(name, "cooked") == 0)
        make_raw(y, !on);
    else if (strcmp(name, "cbreak") == 0)
        set(y, PROC_ICANON, !on);
    else if (strcmp(name, "nl") == 0)
        set(y, PROC_ICRNL | PROC_ONLCR, !on);
    else if (strcmp(name, "crterase") == 0)
        set(y, PROC_ECHOE, on);
    else if (strcmp(name, "crtkill") == 0)
        set(y, PROC_ECHOKE, on);
    else if (strcmp(name, "ctlecho") == 0)
        set(y, PROC_ECHOCTL, on);
    else if (strcmp(name, "sane") == 0 && on)
        make_sane(y);
    else
        return false;
    return true;
}

/* ^C, ^?, ^- or undef, a character, or a number: 0 and *ret. */
static int character_of(const char *text, uint8_t *ret)
{
    uint64_t v;
    if (strcmp(text, "^-") == 0 || strcmp(text, "undef") == 0)
        *ret = 0;
    else if (text[0] == '^' && text[1] && !text[2])
        *ret = text[1] == '?' ? 127 : (uint8_t)(text[1] & 31);
    else if (text[0] && !text[1])
        *ret = (uint8_t)text[0];
    else if (str_u64(str_c(text), &v) == 0 && v < 256)
        *ret = (uint8_t)v;
    else
        return -EINVAL;
    return 0;
}

static int number(struct stty *y, const char *text, uint64_t max, uint64_t *ret)
{
    if (text && str_u64(str_c(text), ret) == 0 && *ret <= max)
        return 0;
    cmd_err(y->c, "invalid integer argument: '%s'", text ? text : "");
    return 1;
}

/* A setting that takes an argument: 1 when it is none, 0, or the status + 2 to end with. */
static int with_argument(struct stty *y, const char *name, const char *value)
{
    uint64_t v;
    bool rows = strcmp(name, "rows") == 0, cols = strcmp(name, "cols") == 0 || strcmp(name, "columns") == 0;
    bool min = strcmp(name, "min") == 0, time = strcmp(name, "time") == 0;
    const struct character *ch = NULL;
    for (size_t i = 0; i < CHARACTERS; i++)
        if (strcmp(characters[i].name, name) == 0)
            ch = &characters[i];
    if (!rows && !cols && !min && !time && !ch)
        return 1;
    if (!value)
        return 2 + (cmd_usage_error(y->c, "missing argument to '%s'", name), 1);
    if (ch) {
        if (ch->at < 0)
            return 2 + cmd_refuse(y->c, "the setting '%s' is not implemented here", name);
        if (character_of(value, &y->s.cc[ch->at]))
            return 2 + (cmd_err(y->c, "invalid integer argument: '%s'", value), 1);
        y->changed = true;
        return 0;
    }
    if (number(y, value, rows || cols ? UINT16_MAX : 255, &v))
        return 3;
    if (rows || cols) {
        *(rows ? &y->rows : &y->cols) = (uint16_t)v;
        y->resized = true;
    } else {
        y->s.cc[min ? PROC_VMIN : PROC_VTIME] = (uint8_t)v;
        y->changed = true;
    }
    return 0;
}

/* One argument; *i is moved over its value. 0, or the status + 1 to end with. */
static int change(struct stty *y, int *i)
{
    const char *word = y->c->argv[*i], *name = word + (*word == '-');
    int r = *word == '-' ? 1 : with_argument(y, word, *i + 1 < y->c->argc ? y->c->argv[*i + 1] : NULL);
    if (r == 0)
        ++*i;
    if (r != 1)
        return r ? r - 1 : 0;
    if (strcmp(word, "size") == 0)
        return cmd_printf(y->c, "%u %u\n", y->rows, y->cols), 0;
    if (combination(y, name, *word != '-') || take_word(y, word))
        return 0;
    for (size_t k = 0; k < SETTINGS; k++) {
        if (strcmp(settings[k].name, name) != 0)
            continue;
        if (settings[k].flag)
            set(y, settings[k].flag, *word != '-');
        else if (settings[k].on != (*word != '-'))
            return 1 + cmd_refuse(y->c, "the setting '%s' is not implemented here", word);
        return 0;
    }
    return 1 + (cmd_usage_error(y->c, "invalid argument '%s'", word), 1);
}

static int apply(struct stty *y)
{
    for (int i = 1; i < y->c->argc; i++) {
        int r = change(y, &i);
        if (r)
            return r - 1;
    }
    if (y->changed)
        proc_tty_set(y->t, &y->s);
    if (y->resized)
        proc_set_winsize(y->c->p->ps, y->rows, y->cols);
    return 0;
}

static int stty_main(struct cmd *c)
{
    struct stty y = {.c = c};
    if (cmd_help_alone(c))
        return 0;
    for (int i = 1; i < c->argc; i++)
        if (strncmp(c->argv[i], "-F", 2) == 0 || strncmp(c->argv[i], "--file", 6) == 0)
            return cmd_refuse(c, "option '--file' is not implemented here");
    if (!proc_isatty(c->p, 0)) {
        cmd_err(c, "'standard input': Inappropriate ioctl for device");
        return 1;
    }
    proc_winsize(c->p->ps, &y.rows, &y.cols);
    if (c->argc == 2 && strcmp(c->argv[1], "size") == 0) {
        cmd_printf(c, "%u %u\n", y.rows, y.cols);
        return 0;
    }
    y.t = proc_terminal(c->p, 0);
    if (!y.t)
        return cmd_refuse(c, "settings of the terminal are not implemented here");
    proc_tty_get(y.t, &y.s);
    const char *only = c->argc == 2 ? c->argv[1] : "";
    if (c->argc == 1 || strcmp(only, "-a") == 0 || strcmp(only, "--all") == 0)
        show_all(&y, c->argc > 1);
    else if (strcmp(only, "-g") == 0 || strcmp(only, "--save") == 0)
        show_word(&y);
    else
        return apply(&y);
    return 0;
}

CMD(stty, stty_main, 1, "Usage: stty [-a | -g | SETTING...]\n",
    "Shows or changes the settings of the terminal on standard input.\n\n"
    "  -a, --all   all of them\n  -g, --save  all of them as one word, which can be given as a setting\n\n"
    "Settings: [-]echo [-]icanon [-]isig [-]icrnl [-]opost [-]onlcr and others that -a shows, raw, cooked, cbreak,\n"
    "sane, nl, size, rows N, cols N, min N, time N, and characters as `intr ^C'.\n");
