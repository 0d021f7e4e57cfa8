/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expander_int.h"

#include "base/clock.h"
#include "engine/engine.h"
#include "shell/cmd/cmd.h"

struct prompt {
    struct shell *sh;
    struct buf *out;
    bool expands; /* promptvars: what escapes give is protected from the expansions that follow */
};

static void put_safe(struct prompt *p, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (p->expands && (s.p[i] == '$' || s.p[i] == '`' || s.p[i] == '\\'))
            buf_putc(p->out, '\\');
        buf_putc(p->out, s.p[i]);
    }
}

/* ---- \w \W ---- */

/* The last PROMPT_DIRTRIM directories of a path, behind "..." */
static struct str trim_dirs(struct prompt *p, struct str s)
{
    uint64_t keep;
    size_t from = s.n, head = s.n && s.p[0] == '~' ? 2 : 0;
    if (str_u64(var_get(p->sh, "PROMPT_DIRTRIM"), &keep) < 0 || !keep || s.n <= head)
        return s;
    while (from > head && keep) {
        from--;
        keep -= s.p[from] == '/';
    }
    if (keep || from < head + 3)
        return s;
    return str_c(arena_printf(&p->sh->scratch, "%.*s...%.*s", (int)head, s.p, (int)(s.n - from), s.p + from));
}

static struct str prompt_dir(struct prompt *p, bool last_only)
{
    struct shell *sh = p->sh;
    struct str dir = var_get(sh, "PWD"), home = var_get(sh, "HOME");
    if (!dir.p)
        dir = sh->pwd;
    bool at_home = home.n > 1 && str_starts(dir, home) && (dir.n == home.n || dir.p[home.n] == '/');
    if (last_only && !(at_home && dir.n == home.n)) {
        size_t i = dir.n;
        while (i && dir.p[i - 1] != '/')
            i--;
        return i < dir.n ? str_from(dir, i) : dir;
    }
    if (at_home)
        dir = str_c(arena_printf(&sh->scratch, "~%.*s", (int)(dir.n - home.n), dir.p + home.n));
    return last_only ? dir : trim_dirs(p, dir);
}

/* ---- time ---- */

/* The only variable that the time conversions look at. */
static char **zone_env(void *arg)
{
    struct shell *sh = arg;
    char **env = arena_alloc(&sh->scratch, 2 * sizeof(*env));
    struct str tz = var_get(sh, "TZ");
    env[0] = tz.p ? arena_printf(&sh->scratch, "TZ=%.*s", (int)tz.n, tz.p) : NULL;
    env[1] = NULL;
    return env;
}

void expand_time(struct shell *sh, const char *fmt, int64_t when, struct buf *out)
{
    struct exec_image img = {.env = zone_env, .env_arg = sh};
    struct cmd c = {.p = sh->p, .name = "bash", .arena = &sh->scratch, .keep = &sh->scratch, .img = &img};
    struct cmd_time t;
    cmd_localtime(&c, when, false, &t);
    cmd_strftime(&c, out, fmt, &t, when, 0);
}

static void put_time(struct prompt *p, const char *fmt)
{
    struct buf text BUF_AUTO;
    buf_init(&text, 4096);
    expand_time(p->sh, fmt, proc_wall(p->sh->ps) / CLOCK_S, &text);
    put_safe(p, buf_str(&text));
}

/* \D{format}; the position is behind the 'D'. Returns the place after it, or 0 when there is no {…}. */
static size_t put_date(struct prompt *p, struct str s, size_t i)
{
    ptrdiff_t end = i < s.n && s.p[i] == '{' ? str_find(s, '}', i) : -1;
    if (end < 0)
        return 0;
    size_t n = (size_t)end - i - 1;
    put_time(p, n ? arena_dup(&p->sh->scratch, s.p + i + 1, n) : "%X");
    return (size_t)end + 1;
}

/* ---- escapes ---- */

static void put_user(struct prompt *p)
{
    struct buf name BUF_AUTO;
    buf_init(&name, LIMIT_PATH);
    if (expand__passwd(p->sh, STR(""), PASSWD_NAME, &name) < 0)
        buf_addc(&name, "I have no name!");
    put_safe(p, buf_str(&name));
}

static void put_host(struct prompt *p, bool whole)
{
    struct str host = var_get(p->sh, "HOSTNAME");
    ptrdiff_t dot = str_find(host, '.', 0);
    if (!whole && dot > 0)
        host.n = (size_t)dot;
    put_safe(p, host);
}

static void put_jobs(struct prompt *p)
{
    int n = 0;
    for (const struct job *j = p->sh->jobs; j; j = j->next)
        n++;
    buf_addf(p->out, "%d", n);
}

/* Escapes that are one text: true when @c is one. */
static bool put_fixed(struct prompt *p, char c)
{
    static const struct {
        char c;
        const char *text;
    } texts[] = {{'a', "\a"},  {'e', "\033"}, {'n', "\n"}, {'r', "\r"}, {'v', "5.2"}, {'V', "5.2.15"},
                 {'l', "tty"}, {'!', "1"},    {'#', "1"},  {'[', ""},   {']', ""},    {'\\', "\\"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].c == c) {
            buf_addc(p->out, texts[i].text);
            return true;
        }
    return false;
}

static bool put_escape(struct prompt *p, char c)
{
    switch (c) {
    case 'd':
        put_time(p, "%a %b %d");
        return true;
    case 't':
        put_time(p, "%H:%M:%S");
        return true;
    case 'T':
        put_time(p, "%I:%M:%S");
        return true;
    case '@':
        put_time(p, "%I:%M %p");
        return true;
    case 'A':
        put_time(p, "%H:%M");
        return true;
    case 's':
        buf_addc(p->out, p->sh->posix_started ? "sh" : "bash");
        return true;
    case 'w':
    case 'W':
        put_safe(p, prompt_dir(p, c == 'W'));
        return true;
    case 'u':
        put_user(p);
        return true;
    case 'h':
    case 'H':
        put_host(p, c == 'H');
        return true;
    case 'j':
        put_jobs(p);
        return true;
    case '$':
        put_safe(p, p->sh->p->cred.uid ? STR("$") : STR("#"));
        return true;
    default:
        return put_fixed(p, c);
    }
}

static bool octal(struct str s, size_t i, char *ret)
{
    unsigned v = 0;
    if (i + 3 > s.n)
        return false;
    for (size_t k = i; k < i + 3; k++) {
        if (s.p[k] < '0' || s.p[k] > '7')
            return false;
        v = v * 8 + (unsigned)(s.p[k] - '0');
    }
    *ret = (char)v;
    return true;
}

static void decode(struct prompt *p, struct str s)
{
    for (size_t i = 0; i < s.n;) {
        char c, next = i + 1 < s.n ? s.p[i + 1] : 0;
        size_t after;
        if (s.p[i] != '\\' || i + 1 >= s.n) {
            buf_putc(p->out, s.p[i++]);
        } else if (octal(s, i + 1, &c)) {
            put_safe(p, str_of(&c, 1));
            i += 4;
        } else if (next == 'D' && (after = put_date(p, s, i + 2)) > 0) {
            i = after;
        } else if (put_escape(p, next)) {
            i += 2;
        } else {
            buf_putc(p->out, '\\');
            buf_putc(p->out, next);
            i += 2;
        }
    }
}

int expand_prompt(struct shell *sh, struct str ps, struct buf *out)
{
    struct arena_mark m = arena_mark(&sh->scratch);
    struct prompt p = {.sh = sh, .expands = sh_shopt(sh, SHOPT_PROMPTVARS)};
    struct buf text BUF_AUTO;
    struct str s;
    buf_init(&text, LIMIT_STRING);
    p.out = p.expands ? &text : out;
    decode(&p, ps);
    int r = 0;
    if (p.expands) {
        r = text.err ? expand__no_memory(sh) : expand__dquoted_text(sh, buf_str(&text), &s);
        if (r == 0)
            buf_adds(out, s);
    }
    arena_reset(&sh->scratch, m);
    return r;
}
