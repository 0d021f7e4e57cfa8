/* SPDX-License-Identifier: Apache-2.0 */
/* histexpand - bash(1) HISTORY EXPANSION: !event:words:modifiers and ^old^new. */
#include "shell/history_int.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"
#include "shell/shell_int.h"

struct expansion {
    struct shell *sh;
    struct str line;
    size_t i;         /* next byte of line */
    struct buf *out;
    char bang, caret, hash; /* histchars; hash 0: none */
    bool in_single, in_double; /* inside quotes */
    bool outer[16];   /* the same, of what is around each open $( */
    uint32_t subs;    /* those that are open */
    bool print;       /* :p */
    bool failed;
};

static void set_chars(struct shell *sh, struct expansion *x)
{
    struct str chars = var_get(sh, "histchars");
    x->bang = chars.n > 0 ? chars.p[0] : '!';
    x->caret = chars.n > 1 ? chars.p[1] : '^';
    x->hash = chars.n > 2 ? chars.p[2] : chars.p ? 0 : '#';
}

bool sh_history_wanted(struct shell *sh, struct str line)
{
    struct expansion x = {0};
    set_chars(sh, &x);
    return str_find(line, x.bang, 0) >= 0 || (line.n && line.p[0] == x.caret);
}

static bool fail(struct expansion *x, struct str what, const char *why)
{
    if (!x->failed) {
        buf_clear(x->out);
        buf_addf(x->out, "%.*s: %s", (int)what.n, what.n ? what.p : "", why);
    }
    x->failed = true;
    return false;
}

static int at(const struct expansion *x, size_t ahead)
{
    return x->i + ahead < x->line.n ? (unsigned char)x->line.p[x->i + ahead] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static size_t number(struct expansion *x)
{
    size_t n = 0;
    for (; is_digit(at(x, 0)); x->i++)
        n = n < LIMIT_HISTORY * (size_t)1000 ? n * 10 + (size_t)(at(x, 0) - '0') : n;
    return n;
}

/* ---- words of an entry ---- */

/* The place behind what begins at @i: a quoted or nested piece, or one byte. */
static size_t piece_end(struct str s, size_t i)
{
    char c = s.p[i], close = 0;
    if (c == '\\')
        return NUM_MIN(i + 2, s.n);
    if (c == '\'' || c == '"' || c == '`') {
        for (i++; i < s.n && s.p[i] != c; i++)
            i += s.p[i] == '\\' && c != '\'' && i + 1 < s.n;
        return NUM_MIN(i + 1, s.n);
    }
    if (i + 1 < s.n && ((strchr("$<>", c) && s.p[i + 1] == '(') || (strchr("@*+?!", c) && s.p[i + 1] == '(')))
        close = ')';
    if (!close)
        return i + 1;
    int depth = 0;
    for (i += 2; i < s.n; i = depth ? i + 1 : piece_end(s, i)) {
        if (s.p[i] == ')' && depth-- == 0)
            return i + 1;
        depth += depth && s.p[i] == '(';
    }
    return s.n;
}

/* Where the operator at @i ends. */
static size_t operator_end(struct str s, size_t i)
{
    char c = s.p[i], d = i + 1 < s.n ? s.p[i + 1] : 0;
    if (c == '(' || c == ')')
        return i + 1;
    if (d == c)
        return i + 2 + (c == '<' && i + 2 < s.n && (s.p[i + 2] == '-' || s.p[i + 2] == '<'));
    bool copies = d == '&' && (c == '<' || c == '>');
    if (!copies && !(d == '>' && (c == '&' || c == '<')) && !(d == '|' && c == '>'))
        return i + 1;
    for (i += 2; copies && i < s.n && (is_digit(s.p[i]) || s.p[i] == '-');)
        i++;
    return i;
}

/* Where the word that begins at @i ends: an operator is a word of its own, with the number in front of 2>file. */
static size_t word_end(struct str s, size_t i)
{
    bool nested = i + 1 < s.n && (s.p[i] == '<' || s.p[i] == '>') && s.p[i + 1] == '(';
    size_t k = i;
    while (k < s.n && is_digit(s.p[k]))
        k++;
    if (k > i && k < s.n && (s.p[k] == '<' || s.p[k] == '>'))
        return operator_end(s, k);
    if (!nested && s.p[i] && strchr("()<>;&|", s.p[i]))
        return operator_end(s, i);
    while (i < s.n && !strchr(" \t\n", s.p[i])) {
        bool sub = i + 1 < s.n && s.p[i + 1] == '(' && strchr("<>", s.p[i]);
        if (!sub && strchr("()<>;&|", s.p[i]))
            break;
        i = piece_end(s, i);
    }
    return i;
}

/* The words of an entry, in scratch. */
static uint32_t words_of(struct shell *sh, struct str s, struct str **ret)
{
    struct fields f = {0};
    for (size_t i = 0; i < s.n;) {
        if (strchr(" \t\n", s.p[i])) {
            i++;
            continue;
        }
        size_t end = word_end(s, i);
        if (fields_add(sh, &f, str_of(s.p + i, end - i)) < 0)
            break;
        i = end;
    }
    *ret = f.v;
    return f.n;
}

static struct str join_words(struct shell *sh, const struct str *v, size_t from, size_t to)
{
    struct buf b BUF_AUTO;
    buf_init(&b, LIMIT_SCRIPT);
    for (size_t i = from; i <= to; i++) {
        if (i > from)
            buf_putc(&b, ' ');
        buf_adds(&b, v[i]);
    }
    return arena_str(&sh->scratch, buf_str(&b));
}

/* ---- events ---- */

static bool entry(struct expansion *x, size_t back, struct str *ret)
{
    const struct history *h = x->sh->history;
    if (!h || back < 1 || back > h->n)
        return false;
    const struct history_entry *e = &h->v[h->n - back];
    *ret = str_of(e->text, e->n);
    return true;
}

/* The newest entry with @text in it, or at its beginning. */
static bool search(struct expansion *x, struct str text, bool anywhere, struct str *ret)
{
    for (size_t back = 1; entry(x, back, ret); back++)
        if (anywhere ? text.n && memmem(ret->p, ret->n, text.p, text.n) : str_starts(*ret, text))
            return true;
    return false;
}

static void keep(char **place, struct str s)
{
    mem_free(*place);
    *place = mem_dup(s.n ? s.p : "", s.n);
}

static bool not_found(struct expansion *x, size_t start)
{
    return fail(x, str_of(x->line.p + start, NUM_MIN(x->i, x->line.n) - start), "event not found");
}

/* !5 or !-5. */
static bool numbered(struct expansion *x, size_t start, struct str *ret)
{
    const struct history *h = x->sh->history;
    bool back = at(x, 0) == '-';
    x->i += back;
    size_t n = number(x);
    if (!back)
        n = h && (int64_t)n >= h->base ? (size_t)(h->base + (int64_t)h->n - (int64_t)n) : 0;
    return entry(x, n, ret) || not_found(x, start);
}

/* Whether @c, behind @i bytes, ends the text of !text or !?text. */
static bool ends_search(const struct expansion *x, int c, size_t i, bool anywhere)
{
    if (c == '\n' || anywhere)
        return c == '\n' || c == '?';
    return strchr(" \t:^$*%;&()|<>", c) || (c == '-' && i) || (x->in_double && c == '"');
}

/* !text or !?text?. */
static bool searched(struct expansion *x, size_t start, struct str *ret)
{
    int c;
    bool anywhere = at(x, 0) == '?';
    x->i += anywhere;
    size_t from = x->i;
    while ((c = at(x, 0)) >= 0 && !ends_search(x, c, x->i - from, anywhere))
        x->i++;
    struct str text = arena_str(&x->sh->scratch, str_of(x->line.p + from, x->i - from));
    x->i += anywhere && at(x, 0) == '?';
    struct history *own = sh_history_own(x->sh);
    if (anywhere && !text.n && own->search)
        text = str_c(own->search);
    else if (anywhere)
        keep(&own->search, text);
    return search(x, text, anywhere, ret) || not_found(x, start);
}

/* The event that begins behind the '!': its text. */
static bool event(struct expansion *x, size_t start, struct str *ret)
{
    int c = at(x, 0);
    *ret = STR("");
    if (c == x->bang) {
        x->i++;
        return entry(x, 1, ret) || not_found(x, start);
    }
    if (c == '#') {
        x->i++;
        *ret = arena_str(&x->sh->scratch, buf_str(x->out));
        return true;
    }
    if (c >= 0 && strchr(":$*%^", c))
        return entry(x, 1, ret) || fail(x, str_of(x->line.p + start, x->i + 1 - start), "event not found");
    if (is_digit(c) || (c == '-' && is_digit(at(x, 1))))
        return numbered(x, start, ret);
    return searched(x, start, ret);
}

/* ---- word designators ---- */

/* The word of @v in which the last !?text? was found. */
static bool found_word(struct expansion *x, const struct str *v, uint32_t n, size_t *ret)
{
    const struct history *h = x->sh->history;
    struct str text = h && h->search ? str_c(h->search) : STR("");
    for (size_t i = n; i-- > 0;)
        if (memmem(v[i].p, v[i].n, text.n ? text.p : "", text.n)) {
            *ret = i;
            return true;
        }
    return false;
}

/* One place: true when there is one. */
static bool place(struct expansion *x, const struct str *v, uint32_t n, size_t *ret)
{
    int c = at(x, 0);
    if (is_digit(c)) {
        *ret = number(x);
        return true;
    }
    if (c == '^')
        *ret = 1;
    else if (c == '$')
        *ret = n ? n - 1 : 0;
    else if (c != '%' || !found_word(x, v, n, ret))
        return false;
    x->i++;
    return true;
}

/* Picks words of *text; *@whole: no designator was there. */
static bool pick_words(struct expansion *x, struct str *text)
{
    size_t start = x->i, from, to;
    int c = at(x, 0);
    if (c == ':') {
        c = at(x, 1);
        if (c < 0 || (!is_digit(c) && !strchr("^$*%-", c)))
            return true; /* modifiers */
        x->i++;
    } else if (c < 0 || !strchr("^$*%-", c)) {
        return true;
    }
    struct str *v;
    uint32_t n = words_of(x->sh, *text, &v);
    if (c == '*') {
        x->i++;
        *text = n > 1 ? join_words(x->sh, v, 1, n - 1) : STR("");
        return true;
    }
    if (c == '-')
        from = 0;
    else if (!place(x, v, n, &from))
        return fail(x, str_of(x->line.p + start, NUM_MIN(x->i + 1, x->line.n) - start), "bad word specifier");
    to = from;
    if (at(x, 0) == '*') {
        x->i++;
        to = n ? n - 1 : 0;
        if (from == n) {
            *text = STR("");
            return true;
        }
    } else if (at(x, 0) == '-') {
        x->i++;
        if (!place(x, v, n, &to))
            to = n > 1 ? n - 2 : 0; /* x- leaves the last out */
    }
    if (from >= n || to >= n || from > to)
        return fail(x, str_of(x->line.p + start, x->i - start), "bad word specifier");
    *text = join_words(x->sh, v, from, to);
    return true;
}

/* ---- modifiers ---- */

static struct str quoted(struct shell *sh, struct str s, bool each)
{
    struct buf b BUF_AUTO;
    buf_init(&b, LIMIT_SCRIPT);
    buf_putc(&b, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\'')
            buf_addc(&b, "'\\''");
        else if (each && strchr(" \t\n", s.p[i]))
            buf_addf(&b, "'%c'", s.p[i]);
        else
            buf_putc(&b, s.p[i]);
    }
    buf_putc(&b, '\'');
    return arena_str(&sh->scratch, buf_str(&b));
}

/* One part of s/old/new/, up to the delimiter, which is stepped over. */
static void subst_part(struct expansion *x, int delim, bool second, struct buf *out)
{
    struct history *h = x->sh->history;
    int c;
    for (; (c = at(x, 0)) >= 0 && c != delim; x->i++) {
        if (c == '\\' && (at(x, 1) == delim || (second && at(x, 1) == '&')))
            c = at(x, 1), x->i++;
        else if (second && c == '&') {
            buf_addc(out, h && h->old ? h->old : "");
            continue;
        }
        buf_putc(out, (char)c);
    }
    x->i += c == delim;
}

/* @words: once for each word (G); @all: each time (g). */
static bool substitute(struct expansion *x, struct str *text, bool all, bool words, size_t start)
{
    struct history *h = sh_history_own(x->sh);
    if (!h->old)
        return fail(x, str_of(x->line.p + start, x->i - start), "no previous substitution");
    struct str old = str_c(h->old), new = str_c(h->new ? h->new : "");
    struct buf b BUF_AUTO;
    bool any = false, here = true;
    buf_init(&b, LIMIT_SCRIPT);
    for (size_t i = 0; i < text->n;) {
        if (words && strchr(" \t\n", text->p[i]))
            here = true;
        if (here && old.n && i + old.n <= text->n && !memcmp(text->p + i, old.p, old.n)) {
            buf_adds(&b, new);
            i += old.n;
            any = true;
            here = all;
        } else {
            buf_putc(&b, text->p[i++]);
        }
    }
    if (!any)
        return fail(x, str_of(x->line.p + start, x->i - start), "substitution failed");
    *text = arena_str(&x->sh->scratch, buf_str(&b));
    return true;
}

static bool read_subst(struct expansion *x)
{
    struct history *h = sh_history_own(x->sh);
    struct buf old BUF_AUTO, new BUF_AUTO;
    int delim = at(x, 0);
    buf_init(&old, LIMIT_SCRIPT);
    buf_init(&new, LIMIT_SCRIPT);
    if (delim < 0)
        return true;
    x->i++;
    subst_part(x, delim, false, &old);
    if (old.n)
        keep(&h->old, buf_str(&old));
    else if (h->search && !h->old)
        keep(&h->old, str_c(h->search));
    subst_part(x, delim, true, &new);
    keep(&h->new, buf_str(&new));
    return true;
}

static bool modifiers(struct expansion *x, struct str *text)
{
    char quote = 0;
    while (at(x, 0) == ':') {
        size_t start = x->i++;
        bool all = false, words = false;
        int c = at(x, 0);
        for (; (c == 'g' || c == 'a' || c == 'G') && at(x, 1) > 0 && strchr("s&", at(x, 1)); c = at(x, 0)) {
            all |= c != 'G';
            words |= c == 'G';
            x->i++;
        }
        x->i += c >= 0;
        ptrdiff_t slash = -1, dot = -1;
        for (size_t i = 0; i < text->n; i++) {
            slash = text->p[i] == '/' ? (ptrdiff_t)i : slash;
            dot = text->p[i] == '.' ? (ptrdiff_t)i : dot;
        }
        if (c == 'p')
            x->print = true;
        else if (c == 'q' || c == 'x')
            quote = (char)c;
        else if (c == 'h')
            text->n = slash >= 0 ? (size_t)slash : text->n;
        else if (c == 't')
            *text = slash >= 0 ? str_from(*text, (size_t)slash + 1) : *text;
        else if (c == 'r')
            text->n = dot >= 0 ? (size_t)dot : text->n;
        else if (c == 'e')
            *text = dot >= 0 ? str_from(*text, (size_t)dot) : *text;
        else if (c == '&' || (c == 's' && read_subst(x))) {
            if (!substitute(x, text, all, words, start))
                return false;
        } else {
            return fail(x, str_of(x->line.p + start + (c >= 0), c >= 0 ? 1 : 0), "unrecognized history modifier");
        }
    }
    if (quote)
        *text = quoted(x->sh, *text, quote == 'x');
    return true;
}

/* ---- a line ---- */

/* Whether the '!' at the position is none of ours. */
static bool literal_bang(const struct expansion *x, size_t start)
{
    int c = at(x, 1), before = x->i > start ? (unsigned char)x->line.p[x->i - 1] : -1;
    int before2 = x->i > start + 1 ? (unsigned char)x->line.p[x->i - 2] : -1;
    struct str rest = str_from(x->line, x->i + 1);
    if (c < 0 || strchr(" \t\n\r=", c))
        return true;
    if (before == '[' && str_find(rest, ']', 0) >= 0)
        return true;
    if ((before == '{' && before2 == '$' && str_find(rest, '}', 0) >= 0) || before == '$')
        return true;
    if (sh_shopt(x->sh, SHOPT_EXTGLOB) && c == '(' && str_find(rest, ')', 0) >= 0 && x->i > start + 1)
        return true;
    return x->in_double && (c == '"' || sh_opt(x->sh, OPT_POSIX));
}

static bool one_expansion(struct expansion *x)
{
    struct str text;
    size_t start = x->i++;
    return event(x, start, &text) && pick_words(x, &text) && modifiers(x, &text) && buf_adds(x->out, text) == 0;
}

/* ^old^new^ is !!:s^old^new^. */
static bool quick_subst(struct expansion *x)
{
    struct str text;
    if (!entry(x, 1, &text))
        return fail(x, x->line, "event not found");
    (void)read_subst(x);
    return substitute(x, &text, false, false, 0) && modifiers(x, &text) && buf_adds(x->out, text) == 0;
}

/* Quotes and $( ) at the position, which moves to their last byte. */
static void note_quotes(struct expansion *x)
{
    char c = x->line.p[x->i];
    bool sub = !x->in_single && strchr("$<>", c) && at(x, 1) == '(' && at(x, 2) > 0 && at(x, 2) != '(';
    if (sub && x->subs < sizeof(x->outer) / sizeof(x->outer[0])) {
        buf_putc(x->out, c);
        x->i++;
        x->outer[x->subs++] = x->in_double;
        x->in_double = false;
    } else if (c == ')' && x->subs && !x->in_single && !x->in_double) {
        x->in_double = x->outer[--x->subs];
    } else if (c == '\'' && !x->in_double) {
        x->in_single = !x->in_single;
    } else if (c == '"' && !x->in_single) {
        x->in_double = !x->in_double;
    }
}

static bool at_comment(const struct expansion *x)
{
    return x->hash && at(x, 0) == x->hash && !x->in_single && !x->in_double &&
           (!x->i || strchr(" \t\n;|&(", x->line.p[x->i - 1]));
}

enum history_result sh_history_expand(struct shell *sh, struct str line, char quote, struct buf *out)
{
    struct expansion x = {.sh = sh, .line = line, .out = out, .in_double = quote == '"', .in_single = quote == '\''};
    bool changed = false;
    set_chars(sh, &x);
    if (line.n && line.p[0] == x.caret && !quote) {
        changed = true;
        if (!quick_subst(&x))
            return HISTORY_FAILED;
    }
    while (x.i < line.n && !at_comment(&x)) {
        if (line.p[x.i] == '\\' && !x.in_single) {
            size_t n = NUM_MIN(line.n - x.i, (size_t)2);
            buf_add(out, line.p + x.i, n);
            x.i += n;
        } else if (line.p[x.i] == x.bang && !x.in_single && !literal_bang(&x, 0)) {
            changed = true;
            if (!one_expansion(&x))
                return HISTORY_FAILED;
        } else {
            note_quotes(&x);
            buf_putc(out, line.p[x.i++]);
        }
    }
    buf_adds(out, str_from(line, x.i));
    return x.print ? HISTORY_PRINT : changed ? HISTORY_EXPANDED : HISTORY_SAME;
}
