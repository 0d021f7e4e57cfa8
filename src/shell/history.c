/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/history_int.h"

#include <errno.h>
#include <fcntl.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"
#include "shell/shell_int.h"
#include "shell/start_int.h"

#define HISTORY_DEFAULT 500 /* HISTSIZE, where nothing says otherwise */

/* ---- the list ---- */

struct history *sh_history_ref(struct history *h)
{
    if (h)
        h->refs++;
    return h;
}

void sh_history_unref(struct history *h)
{
    if (!h || --h->refs)
        return;
    for (size_t i = 0; i < h->n; i++)
        mem_free(h->v[i].text);
    mem_free(h->v);
    mem_free(h->search);
    mem_free(h->old);
    mem_free(h->new);
    mem_free(h);
}

static char *dup_text(const char *s)
{
    return s ? mem_dup(s, strlen(s)) : NULL;
}

struct history *sh_history_own(struct shell *sh)
{
    struct history *h = sh->history;
    if (h && h->refs == 1)
        return h;
    struct history *own = mem_zalloc(sizeof(*own));
    if (h)
        *own = *h;
    else
        own->base = 1;
    own->refs = 1;
    own->cap = own->n;
    own->v = own->n ? mem_alloc(own->n * sizeof(*own->v)) : NULL;
    for (size_t i = 0; h && i < h->n; i++) {
        own->v[i] = h->v[i];
        own->v[i].text = mem_dup(h->v[i].text, h->v[i].n);
    }
    own->search = h ? dup_text(h->search) : NULL;
    own->old = h ? dup_text(h->old) : NULL;
    own->new = h ? dup_text(h->new) : NULL;
    sh_history_unref(h);
    return sh->history = own;
}

bool sh_history_drop(struct shell *sh, size_t from, size_t to)
{
    struct history *h = sh_history_own(sh);
    if (from > to || to >= h->n)
        return false;
    for (size_t i = from; i <= to; i++) {
        h->bytes -= h->v[i].n;
        mem_free(h->v[i].text);
    }
    memmove(h->v + from, h->v + to + 1, (h->n - to - 1) * sizeof(*h->v));
    h->n -= to - from + 1;
    return true;
}

void sh_history_clear(struct shell *sh)
{
    struct history *h = sh_history_own(sh);
    if (h->n)
        (void)sh_history_drop(sh, 0, h->n - 1);
    h->base = 1;
    h->fresh = 0;
}

/* The most entries that there may be. */
static size_t most(struct shell *sh)
{
    int64_t n;
    struct str size = var_get(sh, "HISTSIZE");
    if (!size.n || str_i64(size, &n) < 0 || n < 0 || n > LIMIT_HISTORY)
        return LIMIT_HISTORY;
    return (size_t)n;
}

void sh_history_resize(struct shell *sh)
{
    size_t max = most(sh), drop = 0, bytes;
    const struct history *h = sh->history;
    if (!h)
        return;
    for (bytes = h->bytes; drop < h->n && (h->n - drop > max || bytes > LIMIT_HISTORY_BYTES); drop++)
        bytes -= h->v[drop].n;
    if (!drop)
        return;
    (void)sh_history_drop(sh, 0, drop - 1);
    sh_history_own(sh)->base += (int64_t)drop;
}

/* The time is noted in interactive shells and once HISTTIMEFORMAT is set. */
static int64_t now(struct shell *sh)
{
    return sh->interactive || var_get(sh, "HISTTIMEFORMAT").p ? proc_wall(sh->ps) / CLOCK_S : 0;
}

static void put(struct shell *sh, struct str text, int64_t when)
{
    struct history *h = sh_history_own(sh);
    if (h->n == h->cap) {
        h->cap = h->cap ? h->cap * 2 : 16;
        h->v = mem_realloc(h->v, h->cap * sizeof(*h->v));
    }
    h->v[h->n++] = (struct history_entry){mem_dup(text.n ? text.p : "", text.n), text.n, when};
    h->bytes += text.n;
    sh_history_resize(sh);
}

void sh_history_add(struct shell *sh, struct str text)
{
    put(sh, text, now(sh));
    struct history *h = sh_history_own(sh);
    h->fresh++;
    h->added = true;
    h->pushed = false;
}

void sh_history_drop_current(struct shell *sh)
{
    struct history *h = sh->history;
    if (!h || !h->n || h->pushed || !(h->added || (h->reading.lines > 0 && h->reading.saved)))
        return;
    (void)sh_history_drop(sh, h->n - 1, h->n - 1);
    h = sh_history_own(sh);
    h->added = false;
    h->fresh -= h->fresh > 0;
}

/* ---- HISTCONTROL, HISTIGNORE ---- */

/* Whether the list that HISTCONTROL is has @word, or "ignoreboth" for what that stands for. */
static bool controls(struct shell *sh, const char *word, bool both)
{
    struct str list = var_get(sh, "HISTCONTROL");
    while (list.n) {
        ptrdiff_t colon = str_find(list, ':', 0);
        struct str one = str_of(list.p, colon < 0 ? list.n : (size_t)colon);
        if (str_eqc(one, word) || (both && str_eqc(one, "ignoreboth")))
            return true;
        list = colon < 0 ? (struct str){0} : str_from(list, (size_t)colon + 1);
    }
    return false;
}

static struct str last_entry(const struct history *h)
{
    return h && h->n ? str_of(h->v[h->n - 1].text, h->v[h->n - 1].n) : STR("");
}

static bool ignored(struct shell *sh, struct str text)
{
    struct str list = var_get(sh, "HISTIGNORE");
    while (list.n) {
        struct buf pattern BUF_AUTO;
        size_t i = 0;
        buf_init(&pattern, LIMIT_STRING);
        for (; i < list.n && list.p[i] != ':'; i++) {
            if (list.p[i] == '\\' && i + 1 < list.n) {
                if (list.p[i + 1] != '&')
                    buf_putc(&pattern, list.p[i]);
                buf_putc(&pattern, list.p[++i]);
            } else if (list.p[i] == '&') {
                struct str last = last_entry(sh->history);
                for (size_t k = 0; k < last.n; k++) {
                    buf_putc(&pattern, '\\');
                    buf_putc(&pattern, last.p[k]);
                }
            } else {
                buf_putc(&pattern, list.p[i]);
            }
        }
        if (pattern.n && pattern_match(buf_str(&pattern), text, pattern_flags(sh)))
            return true;
        list = i < list.n ? str_from(list, i + 1) : (struct str){0};
    }
    return false;
}

bool sh_history_offer(struct shell *sh, struct str text)
{
    if ((controls(sh, "ignorespace", true) && text.n && text.p[0] == ' ') || ignored(sh, text))
        return false;
    const struct history *h = sh->history;
    if (controls(sh, "ignoredups", true) && h && h->n && str_eq(last_entry(h), text))
        return false;
    if (controls(sh, "erasedups", false))
        for (size_t i = h ? h->n : 0; i-- > 0;)
            if (str_eq(str_of(h->v[i].text, h->v[i].n), text)) {
                (void)sh_history_drop(sh, i, i);
                h = sh->history;
            }
    sh_history_add(sh, text);
    return true;
}

/* ---- what is read ---- */

char sh_history_quote(struct str text)
{
    char quote = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '\\' && quote != '\'')
            i++;
        else if (quote ? c == quote : c == '\'' || c == '"' || c == '`')
            quote = quote ? 0 : c;
        else if (c == '#' && !quote && (!i || strchr(" \t\n;|&(", text.p[i - 1])))
            while (i + 1 < text.n && text.p[i + 1] != '\n')
                i++;
    }
    return quote;
}

static struct str trimmed(struct str s)
{
    while (s.n && strchr(" \t\n", s.p[s.n - 1]))
        s.n--;
    return s;
}

/* The last word of @s, which is taken off it. */
static struct str take_word(struct str *s)
{
    *s = trimmed(*s);
    size_t n = 0;
    while (n < s->n && !strchr(" \t\n;&|()", s->p[s->n - 1 - n]))
        n++;
    s->n -= n;
    return str_of(s->p + s->n, n);
}

static bool is_comment(struct str line)
{
    while (line.n && (*line.p == ' ' || *line.p == '\t'))
        line = str_from(line, 1);
    return line.n && *line.p == '#';
}

/* What joins a command so far to its next line, neither being in quotes: what can stand between the tokens. */
static const char *joint(struct str before, struct str line)
{
    static const char *const open[] = {"{", "do", "then", "else", "if", "while", "until", "in", "case"};
    struct str rest = trimmed(before), next = line;
    while (next.n && (*next.p == ' ' || *next.p == '\t'))
        next = str_from(next, 1);
    if (!rest.n)
        return "";
    char end = rest.p[rest.n - 1];
    if (end == ')') {
        struct str inside = trimmed(str_of(rest.p, rest.n - 1));
        int depth = 0;
        for (size_t i = 0; i < inside.n; i++)
            depth += inside.p[i] == '(' ? 1 : inside.p[i] == ')' ? -1 : 0;
        bool function = inside.n && inside.p[inside.n - 1] == '(', pattern = depth < 1;
        return function || pattern ? " " : "; ";
    }
    if (strchr(";&|(", end))
        return " ";
    struct str last = take_word(&rest), before_last = take_word(&rest);
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        if (str_eqc(last, open[i]))
            return " ";
    if (str_eqc(before_last, "function") || str_eqc(before_last, "case"))
        return " ";
    if (str_eqc(before_last, "for") || str_eqc(before_last, "select"))
        return str_starts(next, STR("in")) ? " " : ";";
    return next.n ? "; " : "";
}

/* A line behind the first of a command goes into its entry. */
static void add_more(struct shell *sh, struct str line, struct str before, bool document)
{
    struct history *h = sh_history_own(sh);
    bool literal = sh_shopt(sh, SHOPT_LITHIST), comment = is_comment(line);
    if (!h->n)
        return;
    struct history_entry *e = &h->v[h->n - 1];
    char quote = sh_history_quote(before);
    struct str text = str_of(e->text, e->n);
    const char *between;
    if (document)
        between = h->reading.body++ == 0 ? "\n" : "";
    else if (quote || literal || h->reading.lines == h->reading.comment + 1 || memmem(line.p, line.n, "<<", 2))
        between = "\n";
    else
        between = h->reading.document ? "\n" : joint(text, line);
    h->reading.document = memmem(line.p, line.n, "<<", 2) != NULL;
    if (!quote && !document && text.n && text.p[text.n - 1] == '\\' && (text.n < 2 || text.p[text.n - 2] != '\\')) {
        text.n--;
        between = "";
    }
    if (!quote && text.n && text.p[text.n - 1] == '\n' && *between == ';')
        between++;
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_SCRIPT);
    buf_adds(&out, text);
    buf_addc(&out, between);
    buf_adds(&out, line);
    if (document)
        buf_putc(&out, '\n');
    h->reading.comment = comment ? h->reading.lines : -2;
    if (out.err)
        return;
    h->bytes = h->bytes - e->n + out.n;
    mem_free(e->text);
    e->text = mem_dup(out.p, out.n);
    e->n = out.n;
}

static void record(struct shell *sh, struct str line, struct str before, bool document)
{
    struct history *h = sh_history_own(sh);
    bool comment = is_comment(line);
    h->added = false;
    if (before.n) {
        h->reading.lines++;
        if (!h->reading.saved)
            return;
        if (!sh_shopt(sh, SHOPT_CMDHIST))
            sh_history_add(sh, line);
        else if (document || sh_shopt(sh, SHOPT_LITHIST) || sh_history_quote(before) || !comment)
            add_more(sh, line, before, document);
        h = sh_history_own(sh);
        h->reading.comment = comment ? h->reading.lines : -2;
        h->added = true;
        return;
    }
    h->reading.lines = 1;
    h->reading.body = 0;
    h->reading.document = false;
    h->reading.comment = comment ? 1 : -2;
    bool saved = sh_history_offer(sh, line);
    sh_history_own(sh)->reading.saved = saved;
}

bool sh_history_take(struct shell *sh, struct str line, struct str before, bool document, struct buf *out)
{
    char quote = document ? 0 : sh_history_quote(before);
    if (document || !sh_opt(sh, OPT_HISTEXPAND) || !sh_history_wanted(sh, line)) {
        buf_adds(out, line);
        if (line.n)
            record(sh, line, before, document);
        return true;
    }
    /* The lines of the command that is being read are not what !! means in it. */
    struct history *h = sh_history_own(sh);
    size_t hidden = before.n && h->n && h->reading.saved && sh_shopt(sh, SHOPT_CMDHIST);
    h->n -= hidden;
    enum history_result r = sh_history_expand(sh, line, quote, out);
    sh_history_own(sh)->n += hidden;
    if (r == HISTORY_FAILED) {
        int at = sh->line;
        sh_error(sh, "%.*s", (int)out->n, out->n ? out->p : "");
        sh->line = at;
        buf_clear(out);
        return false;
    }
    if (r != HISTORY_SAME) {
        sh_write_fd(sh, 2, buf_str(out));
        sh_write_fd(sh, 2, STR("\n"));
    }
    if (out->n)
        record(sh, buf_str(out), r == HISTORY_PRINT ? STR("") : before, false);
    if (r == HISTORY_PRINT)
        buf_clear(out);
    return r != HISTORY_PRINT;
}

/* ---- files ---- */

/* A line that tells when the next entry was read. */
static bool is_time(struct str line, int64_t *ret)
{
    return line.n > 1 && line.p[0] == '#' && str_i64(str_from(line, 1), ret) == 0;
}

int sh_history_read(struct shell *sh, struct str path, bool only_new)
{
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_SCRIPT);
    int r = start_read_file(sh, path, &text);
    if (r < 0)
        return r;
    struct history *h = sh_history_own(sh);
    size_t skip = only_new ? h->file_lines : 0, lines = 0;
    int64_t when = 0;
    for (struct str rest = buf_str(&text); rest.n;) {
        ptrdiff_t nl = str_find(rest, '\n', 0);
        struct str line = nl < 0 ? rest : str_of(rest.p, (size_t)nl);
        rest = nl < 0 ? (struct str){0} : str_from(rest, (size_t)nl + 1);
        if (is_time(line, &when) || !line.n)
            continue;
        if (lines++ >= skip)
            put(sh, line, when ? when : now(sh));
        when = 0;
    }
    h = sh_history_own(sh);
    if (only_new)
        h->fresh += lines - NUM_MIN(lines, h->file_lines);
    h->file_lines = lines;
    return 0;
}

int sh_history_write(struct shell *sh, struct str path, bool append)
{
    struct history *h = sh_history_own(sh);
    bool times = var_get(sh, "HISTTIMEFORMAT").p != NULL;
    size_t from = append ? h->n - NUM_MIN(h->n, h->fresh) : 0;
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_SCRIPT);
    for (size_t i = from; i < h->n; i++) {
        if (times && h->v[i].when)
            buf_addf(&out, "#%lld\n", (long long)h->v[i].when);
        buf_add(&out, h->v[i].text, h->v[i].n);
        buf_putc(&out, '\n');
    }
    int fd = proc_open(sh->p, path, O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC), 0600);
    if (fd < 0)
        return fd;
    sh_write_fd(sh, fd, buf_str(&out));
    (void)proc_close(sh->p, fd);
    h->file_lines = append ? h->file_lines + h->n - from : h->n;
    h->fresh = 0;
    return out.err ? -ENOMEM : 0;
}

static void set_default(struct shell *sh, const char *name, struct str val)
{
    struct sym *s = sym_get(sh, str_c(name));
    if (s && !var_get(sh, name).p)
        (void)var_set(sh, s, val);
}

void sh_history_begin(struct shell *sh)
{
    struct history *h = sh_history_own(sh);
    if (h->fresh)
        return;
    char text[24];
    snprintf(text, sizeof(text), "%d", HISTORY_DEFAULT);
    set_default(sh, "HISTSIZE", str_c(text));
    set_default(sh, "HISTFILESIZE", arena_str(&sh->scratch, var_get(sh, "HISTSIZE")));
    sh_history_resize(sh);
    struct str file = var_get(sh, "HISTFILE");
    if (file.n)
        (void)sh_history_read(sh, arena_str(&sh->scratch, file), false); /* there may be none yet */
}

/* Keeps the last HISTFILESIZE lines of the file. */
static void shorten(struct shell *sh, struct str path)
{
    int64_t max;
    struct str size = var_get(sh, "HISTFILESIZE");
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_SCRIPT);
    if (!size.n || str_i64(size, &max) < 0 || max < 0 || start_read_file(sh, path, &text) < 0)
        return;
    size_t at = text.n;
    for (int64_t lines = 0; at; at--)
        if (text.p[at - 1] == '\n' && lines++ == max)
            break;
    if (!at)
        return;
    int fd = proc_open(sh->p, path, O_WRONLY | O_TRUNC, 0600);
    if (fd < 0)
        return;
    sh_write_fd(sh, fd, str_from(buf_str(&text), at));
    (void)proc_close(sh->p, fd);
}

void sh_history_end(struct shell *sh)
{
    const struct history *h = sh->history;
    struct str file = var_get(sh, "HISTFILE");
    if (!h || !h->fresh || !sh_opt(sh, OPT_HISTORY) || sh->is_subshell || !file.n)
        return;
    file = arena_str(&sh->scratch, file);
    if (sh_history_write(sh, file, h->fresh <= h->n || sh_shopt(sh, SHOPT_HISTAPPEND)) == 0)
        shorten(sh, file);
}
