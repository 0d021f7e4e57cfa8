/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sed_int.h"

#include <ctype.h>

#include "shell/cmd/wide.h"

/* What a script has between delimiters: regular expressions, replacements, the strings of y; and the text of a, i, c.
 */

static struct str keep(struct sed_parse *ps, const struct buf *b)
{
    return arena_str(ps->s->c->keep, buf_str(b));
}

/* ---- up to a delimiter ---- */

/* Copies a bracket expression, whose [ was read, up to its end. What ended it: ], a newline or SED_END. */
static int copy_bracket(struct sed_parse *ps, struct buf *b)
{
    enum { OUTSIDE, OPENED, INSIDE, CLOSING } state = OUTSIDE; /* of [. .], [: :] and [= =] */
    int kind = 0, ch = sed_next(ps);
    if (ch == '^') {
        buf_putc(b, '^');
        ch = sed_next(ps);
    }
    if (ch == ']') {
        buf_putc(b, ']');
        ch = sed_next(ps);
    }
    for (;; ch = sed_next(ps)) {
        if (ch == SED_END || ch == '\n')
            return ch;
        bool mark = ch == '.' || ch == ':' || ch == '=';
        if (ch == ']' && (state == OUTSIDE || state == OPENED))
            return ch;
        if (mark && state == OPENED) {
            kind = ch;
            state = INSIDE;
        } else if (mark && state == INSIDE && ch == kind) {
            state = CLOSING;
        } else if (ch == '[' && state == OUTSIDE) {
            state = OPENED;
        } else if (ch == '[' && (state == OPENED || state == CLOSING)) {
            /* stays */
        } else {
            bool leaves = state == OPENED || (state == CLOSING && ch == ']');
            state = leaves ? OUTSIDE : state == CLOSING ? INSIDE : state;
        }
        buf_putc(b, (char)ch);
    }
}

int sed_delimited(struct sed_parse *ps, int delim, bool regex, struct str *ret)
{
    BUF_AUTO struct buf b;
    uint32_t wide;
    buf_init(&b, LIMIT_SCRIPT);
    if (delim >= 0x80 && ps->s->utf8 &&
        (wide_decode(ps->p + ps->pos - 1, ps->n - ps->pos + 1, &wide) > 0 ||
         wide_partial(ps->p + ps->pos - 1, ps->n - ps->pos + 1)))
        return sed_parse_error(ps, "delimiter character is not a single-byte character");
    int ch;
    while ((ch = sed_next(ps)) != SED_END && ch != '\n') {
        if (ch == delim) {
            if (b.err)
                return sed_no_memory(ps->s);
            *ret = keep(ps, &b);
            return 1;
        }
        if (ch == '\\') {
            ch = sed_next(ps);
            if (ch == SED_END)
                break;
            if (ch != '\n' && (ch != delim || (!regex && ch == '&')))
                buf_putc(&b, '\\');
        } else if (ch == '[' && regex) {
            buf_putc(&b, '[');
            ch = copy_bracket(ps, &b);
            if (ch != ']')
                break;
        }
        buf_putc(&b, (char)ch);
    }
    if (ch == '\n')
        sed_back(ps, ch); /* for the line in the message */
    return 0;
}

/* ---- escapes ---- */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* The number in @base behind the letter at @p: as many digits as a byte needs. Where it ends; without a digit, the
 * letter stands for itself. */
static const char *number(const char *p, const char *end, int base, char *ret)
{
    const char *q = p + 1;
    int n = 0;
    for (int max = 1; q < end && max <= 255 && digit(*q) < base; max *= base)
        n = n * base + digit(*q++);
    *ret = q == p + 1 ? *p : (char)n;
    return q;
}

/* The single letters that stand for a control character; 0: none. */
static char control(char c)
{
    switch (c) {
    case 'a':
        return '\a';
    case 'f':
        return '\f';
    case '\n':
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'v':
        return '\v';
    default:
        return 0;
    }
}

int sed_unescape(struct sed_parse *ps, struct str *text, enum sed_text kind)
{
    /* The text is c->keep's own copy. */
    char *q = (char *)(uintptr_t)text->p, ch;
    const char *p = text->p, *end = p + text->n;
    while (p < end) {
        if (*p != '\\' || p + 1 == end) {
            *q++ = *p++;
            continue;
        }
        p++;
        int base = *p == 'd' ? 10 : *p == 'x' ? 16 : *p == 'o' ? 8 : 0;
        if (control(*p)) {
            *q++ = control(*p++);
        } else if (base) {
            p = number(p, end, base, &ch);
            if (kind == SED_TEXT_REPLACEMENT && (ch == '&' || ch == '\\'))
                *q++ = '\\';
            *q++ = ch;
        } else if (*p == 'c' && p + 1 < end) {
            p++;
            *q++ = (char)(toupper((unsigned char)*p) ^ 0x40);
            if (*p == '\\' && (++p == end || *p != '\\'))
                return sed_parse_error(ps, "recursive escaping after \\c not allowed");
            p++;
        } else {
            if (kind != SED_TEXT_PLAIN)
                *q++ = '\\';
            if (*p == 'c')
                p++;
            else
                *q++ = *p++;
        }
    }
    text->n = (size_t)(q - text->p);
    return 0;
}

/* ---- replacements ---- */

struct parts {
    struct sed_parse *ps;
    struct sed_part **end;
    unsigned letters, saved;
};

static struct sed_part *add_part(struct parts *b, const char *from, const char *to)
{
    struct sed_part *part = ARENA_NEW(b->ps->s->c->keep, struct sed_part);
    part->text = str_of(from, (size_t)(to - from));
    part->group = -1;
    part->letters = b->letters;
    b->letters = b->saved;
    *b->end = part;
    b->end = &part->next;
    return part;
}

static void change_letters(struct parts *b, char c)
{
    switch (c) {
    case 'L':
    case 'U':
    case 'E':
        b->letters = b->saved = c == 'L' ? SED_LOWER : c == 'U' ? SED_UPPER : SED_AS_IS;
        break;
    default:
        b->saved = b->letters;
        b->letters |= c == 'l' ? SED_LOWER_FIRST : SED_UPPER_FIRST;
        break;
    }
}

int sed_replacement(struct sed_parse *ps, struct str text, struct sed_subst *sub)
{
    struct parts b = {.ps = ps, .end = &sub->parts};
    sub->max_group = 0;
    if (sed_unescape(ps, &text, SED_TEXT_REPLACEMENT) < 0)
        return -1;
    const char *base = text.p, *end = text.p + text.n;
    for (const char *p = base; p < end; p++) {
        if (*p == '&') {
            add_part(&b, base, p)->group = 0;
            base = p + 1;
        } else if (*p == '\\') {
            struct sed_part *part = add_part(&b, base, p);
            p++;
            if (p == end) {
                part->text.n++;
            } else if (isdigit((unsigned char)*p)) {
                part->group = *p - '0';
                sub->max_group = part->group > sub->max_group ? part->group : sub->max_group;
            } else if (strchr("LUElu", *p) && *p) {
                change_letters(&b, *p);
            } else {
                /* The character in the place of its backslash belongs to the text before it. */
                ((char *)(uintptr_t)p)[-1] = *p;
                part->text.n++;
            }
            base = p + 1;
        }
    }
    if (base < end)
        add_part(&b, base, end);
    return 0;
}

/* ---- a, i, c ---- */

int sed_read_text(struct sed_parse *ps, int first, bool fresh)
{
    struct sed *s = ps->s;
    struct buf *b = &s->pending;
    if (fresh) {
        buf_clear(b);
        s->pending_open = true;
        s->pending_cmd = s->n_cmds;
        s->cmds[s->n_cmds].text = str_of(NULL, 0);
    }
    if (first == SED_END)
        return 0;
    if (first != '\n')
        buf_putc(b, (char)first);
    for (int ch = sed_next(ps); ch != SED_END && ch != '\n'; ch = sed_next(ps)) {
        if (ch == '\\') {
            ch = sed_next(ps);
            buf_putc(b, ch == SED_END ? '\n' : '\\');
            if (ch == SED_END)
                return b->err ? sed_no_memory(s) : 0;
        }
        buf_putc(b, (char)ch);
    }
    if (buf_putc(b, '\n') < 0)
        return sed_no_memory(s);
    struct str text = keep(ps, b);
    s->pending_open = false;
    if (sed_unescape(ps, &text, SED_TEXT_PLAIN) < 0)
        return -1;
    s->cmds[s->pending_cmd].text = text;
    return 0;
}

/* ---- y ---- */

/* Bytes of the character at @at of @s. */
static size_t char_len(const struct sed *s, struct str t, size_t at)
{
    uint32_t ch;
    size_t n = s->utf8 ? wide_decode(t.p + at, t.n - at, &ch) : 1;
    return n > 0 ? n : 1;
}

/* In UTF-8 the first of two pairs for a character counts, else the last. */
static void add_pair(const struct sed *s, struct sed_trans *t, bool seen[256], struct str from, struct str to)
{
    uint8_t f = (uint8_t)from.p[0];
    if (!s->utf8 || !seen[f])
        t->byte[f] = (uint8_t)to.p[0];
    seen[f] = true;
    t->bytes_only = t->bytes_only && from.n == 1 && to.n == 1 && (!s->utf8 || (uint8_t)from.p[0] < 0x80);
    t->pairs[t->n++] = (struct sed_pair){from, to};
}

int sed_translation(struct sed_parse *ps, struct sed_trans **ret)
{
    struct sed *s = ps->s;
    struct str from, to;
    int delim = sed_next(ps);
    int r = sed_delimited(ps, delim, false, &from);
    if (r == 1)
        r = sed_unescape(ps, &from, SED_TEXT_PLAIN) < 0 ? -1 : sed_delimited(ps, delim, false, &to);
    if (r == 1)
        r = sed_unescape(ps, &to, SED_TEXT_PLAIN) < 0 ? -1 : 1;
    if (r <= 0)
        return r < 0 ? r : sed_parse_error(ps, "unterminated `y' command");
    struct sed_trans *t = ARENA_NEW(s->c->keep, struct sed_trans);
    t->pairs = arena_alloc(s->c->keep, (from.n + 1) * sizeof *t->pairs);
    t->bytes_only = true;
    for (unsigned i = 0; i < 256; i++)
        t->byte[i] = (uint8_t)i;
    bool seen[256] = {false};
    size_t k = 0;
    for (size_t i = 0, n; i < from.n; i += n) {
        if (k >= to.n || cmd_poll(s->c) < 0)
            return sed_parse_error(ps, "strings for `y' command are different lengths");
        n = char_len(s, from, i);
        size_t m = char_len(s, to, k);
        add_pair(s, t, seen, str_of(from.p + i, n), str_of(to.p + k, m));
        k += m;
    }
    if (k != to.n)
        return sed_parse_error(ps, "strings for `y' command are different lengths");
    *ret = t;
    return 0;
}
