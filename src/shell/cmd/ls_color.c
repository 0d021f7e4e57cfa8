/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/ls_int.h"

#include <ctype.h>
#include <strings.h>

#include "shell/expand_int.h"

static const char keys[COLOR_N][3] = {"lc", "rc", "ec", "rs", "no", "fi", "di", "ln", "pi", "so", "bd", "cd",
                                      "mi", "or", "ex", "do", "su", "sg", "st", "ow", "tw", "ca", "mh", "cl"};

static void defaults(struct ls *l)
{
    static const char *const seq[COLOR_N] = {"\033[", "m",     NULL,    "0",     NULL,    NULL,    "01;34", "01;36",
                                             "33",    "01;35", "01;33", "01;33", NULL,    NULL,    "01;32", "01;35",
                                             "37;41", "30;43", "37;44", "34;42", "30;42", "30;41", NULL,    "\033[K"};
    for (int i = 0; i < COLOR_N; i++)
        l->seq[i] = str_c(seq[i]);
}

/* Terminals whose colours need no LS_COLORS. */
static bool known_terminal(struct cmd *c)
{
    static const char *const names[] = {
        "Eterm", "ansi",    "*color*", "con[0-9]*x[0-9]*", "cons25", "console", "cygwin",  "*direct*", "dtterm",
        "gnome", "hurd",    "jfbterm", "konsole",          "kterm",  "linux",   "linux-c", "mlterm",   "putty",
        "rxvt*", "screen*", "st",      "terminator",       "tmux*",  "vt100",   "xterm*",
    };
    const char *term = cmd_getenv(c, "TERM");
    if (!term || !*term)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pattern_match(str_c(names[i]), str_c(term), 0))
            return true;
    return false;
}

/* An escape after '\' at *p. */
static char escape(const char **p)
{
    static const char letters[] = "abefnrtv?_", values[] = "\a\b\033\f\n\r\t\v\177 ";
    char ch = **p;
    unsigned v = 0;
    if (ch >= '0' && ch <= '7') {
        for (; **p >= '0' && **p <= '7'; (*p)++)
            v = v * 8 + (unsigned)(**p - '0');
        return (char)v;
    }
    if (ch == 'x' || ch == 'X') {
        for ((*p)++; isxdigit((unsigned char)**p); (*p)++)
            v = v * 16 + (unsigned)(isdigit((unsigned char)**p) ? **p - '0' : (**p | 32) - 'a' + 10);
        return (char)v;
    }
    (*p)++;
    const char *k = ch ? strchr(letters, ch) : NULL;
    return k ? values[k - letters] : ch;
}

/* Reads text up to ':' (or '=' when @equals) or the end into c->arena: false when it is malformed. */
static bool text(struct cmd *c, const char **p, bool equals, struct str *ret)
{
    char *out = arena_alloc(c->arena, strlen(*p) + 1);
    size_t n = 0;
    while (**p && **p != ':' && !(equals && **p == '=')) {
        char ch = *(*p)++;
        if (ch == '\\') {
            if (**p == 0)
                return false;
            ch = escape(p);
        } else if (ch == '^') {
            ch = *(*p)++;
            if (ch >= '@' && ch <= '~')
                ch &= 037;
            else if (ch == '?')
                ch = 127;
            else
                return false;
        }
        out[n++] = ch;
    }
    *ret = str_of(out, n);
    return true;
}

/* One "xx=seq" or "*suffix=seq" at *p. */
static bool entry(struct ls *l, const char **p)
{
    struct cmd *c = l->c;
    if (**p == '*') {
        struct ls_ext *e = ARENA_NEW(c->arena, struct ls_ext);
        (*p)++;
        if (!text(c, p, true, &e->suffix) || *(*p)++ != '=' || !text(c, p, false, &e->seq))
            return false;
        e->next = l->exts;
        l->exts = e;
        return true;
    }
    const char *key = *p;
    if (!key[0] || !key[1] || key[2] != '=')
        return false;
    for (int i = 0; i < COLOR_N; i++)
        if (memcmp(keys[i], key, 2) == 0) {
            *p += 3;
            return text(c, p, false, &l->seq[i]);
        }
    cmd_err(c, "unrecognized prefix: %s", cmd_quote_loc(c, arena_dup(c->arena, key, 2)));
    return false;
}

void ls__color_init(struct ls *l)
{
    struct cmd *c = l->c;
    const char *p = cmd_getenv(c, "LS_COLORS");
    defaults(l);
    if (!p || !*p) {
        const char *colorterm = cmd_getenv(c, "COLORTERM");
        if (!(colorterm && *colorterm) && !known_terminal(c))
            l->color = false;
        return;
    }
    while (*p) {
        if (*p == ':') {
            p++;
        } else if (!entry(l, &p)) {
            cmd_err(c, "unparsable value for LS_COLORS environment variable");
            l->color = false;
            l->exts = NULL;
            return;
        }
    }
    l->color_target = str_eqc(l->seq[COLOR_LINK], "target");
}

bool ls__colored(const struct ls *l, enum ls_color k)
{
    struct str s = l->seq[k];
    return s.n > 0 && !str_eqc(s, "0") && !str_eqc(s, "00");
}

static enum ls_color kind_of_file(const struct ls *l, uint32_t mode, uint32_t nlink)
{
    if ((mode & S_ISUID) && ls__colored(l, COLOR_SETUID))
        return COLOR_SETUID;
    if ((mode & S_ISGID) && ls__colored(l, COLOR_SETGID))
        return COLOR_SETGID;
    if ((mode & 0111) && ls__colored(l, COLOR_EXEC))
        return COLOR_EXEC;
    return nlink > 1 && ls__colored(l, COLOR_MULTIHARDLINK) ? COLOR_MULTIHARDLINK : COLOR_FILE;
}

static enum ls_color kind_of_dir(const struct ls *l, uint32_t mode)
{
    bool sticky = mode & S_ISVTX, writable = mode & S_IWOTH;
    if (sticky && writable && ls__colored(l, COLOR_STICKY_OTHER_WRITABLE))
        return COLOR_STICKY_OTHER_WRITABLE;
    if (writable && ls__colored(l, COLOR_OTHER_WRITABLE))
        return COLOR_OTHER_WRITABLE;
    return sticky && ls__colored(l, COLOR_STICKY) ? COLOR_STICKY : COLOR_DIR;
}

/* By type alone, when there is no status. */
static enum ls_color kind_of_type(uint32_t type)
{
    switch (type) {
    case S_IFDIR:
        return COLOR_DIR;
    case S_IFLNK:
        return COLOR_LINK;
    case S_IFIFO:
        return COLOR_FIFO;
    case S_IFSOCK:
        return COLOR_SOCK;
    case S_IFBLK:
        return COLOR_BLK;
    case S_IFCHR:
        return COLOR_CHR;
    case S_IFREG:
        return COLOR_FILE;
    default:
        return COLOR_ORPHAN;
    }
}

static enum ls_color kind_of(const struct ls *l, const struct ls_file *f, bool target)
{
    uint32_t mode = target ? f->target_mode : f->st ? f->st->mode : f->type;
    bool broken = target && !f->target_ok; /* the real tool sees only a link's text as missing */
    if (!target && l->color_target && f->target_ok)
        mode = f->target_mode;
    if (broken && ls__colored(l, COLOR_MISSING))
        return COLOR_MISSING;
    if (!target && !f->st)
        return kind_of_type(f->type);
    enum ls_color k = S_ISREG(mode)   ? kind_of_file(l, mode, f->st ? f->st->nlink : 1)
                      : S_ISDIR(mode) ? kind_of_dir(l, mode)
                                      : kind_of_type(mode & S_IFMT);
    if (k == COLOR_LINK && !target && !f->target_ok && (l->color_target || ls__colored(l, COLOR_ORPHAN)))
        k = COLOR_ORPHAN;
    return k;
}

static void put(struct ls *l, struct str s)
{
    if (!l->used_color) {
        l->used_color = true;
        if (l->seq[COLOR_END].p) {
            put(l, l->seq[COLOR_END]);
        } else {
            put(l, l->seq[COLOR_LEFT]);
            put(l, l->seq[COLOR_RESET]);
            put(l, l->seq[COLOR_RIGHT]);
        }
    }
    cmd_write(l->c, s.p, s.n);
}

bool ls__color_begin(struct ls *l, const struct ls_file *f, bool target)
{
    enum ls_color k = kind_of(l, f, target);
    struct str s = l->seq[k];
    struct str name = str_c(target ? f->target : f->name);
    for (const struct ls_ext *e = k == COLOR_FILE ? l->exts : NULL; e; e = e->next)
        if (name.n >= e->suffix.n && strncasecmp(name.p + name.n - e->suffix.n, e->suffix.p, e->suffix.n) == 0) {
            s = e->seq;
            break;
        }
    if (!s.p)
        return ls__colored(l, COLOR_NORM);
    if (ls__colored(l, COLOR_NORM)) {
        put(l, l->seq[COLOR_LEFT]);
        put(l, l->seq[COLOR_RIGHT]);
    }
    put(l, l->seq[COLOR_LEFT]);
    put(l, s);
    put(l, l->seq[COLOR_RIGHT]);
    return true;
}

void ls__color_plain(struct ls *l)
{
    if (!l->color || !ls__colored(l, COLOR_NORM))
        return;
    put(l, l->seq[COLOR_LEFT]);
    put(l, l->seq[COLOR_NORM]);
    put(l, l->seq[COLOR_RIGHT]);
}

void ls__color_end(struct ls *l, size_t from, size_t len)
{
    if (l->seq[COLOR_END].p) {
        put(l, l->seq[COLOR_END]);
    } else {
        put(l, l->seq[COLOR_LEFT]);
        put(l, l->seq[COLOR_RESET]);
        put(l, l->seq[COLOR_RIGHT]);
    }
    if (l->line && len > 0 && from / l->line != (from + len - 1) / l->line)
        put(l, l->seq[COLOR_CLR_TO_EOL]);
}
