/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/tr_int.h"

#include <ctype.h>
#include <errno.h>

#include "shell/cmd/cmd.h"
#include "shell/cmd/num.h"

/* An argument with its escapes taken out. */
struct tr_text {
    uint8_t *p;
    bool *escaped;
    size_t n;
};

/* "\NNN" at @s (after the backslash): its value and length. Three digits above 377 are two bytes, with a warning. */
static size_t octal(struct cmd *c, const char *s, uint8_t *ret)
{
    unsigned v = 0;
    size_t n = 0;
    while (n < 3 && s[n] >= '0' && s[n] <= '7')
        v = v * 8 + (unsigned)(s[n++] - '0');
    if (v > 255) {
        v = (unsigned)(s[0] - '0') * 8 + (unsigned)(s[1] - '0');
        n = 2;
        cmd_err(
            c,
            "warning: the ambiguous octal escape \\%c%c%c is being\n\tinterpreted as the 2-byte sequence \\0%c%c, %c",
            s[0], s[1], s[2], s[0], s[1], s[2]);
    }
    *ret = (uint8_t)v;
    return n;
}

static void unquote(struct cmd *c, const char *s, struct tr_text *t)
{
    static const char letters[] = "abfnrtv\\", values[] = "\a\b\f\n\r\t\v\\";
    size_t len = strlen(s);
    t->p = arena_alloc(c->arena, len + 1);
    t->escaped = arena_zalloc(c->arena, len + 1);
    t->n = 0;
    while (*s) {
        uint8_t ch = (uint8_t)*s++;
        if (ch == '\\' && *s == 0) {
            cmd_err(c, "warning: an unescaped backslash at end of string is not portable");
        } else if (ch == '\\') {
            t->escaped[t->n] = true;
            const char *l = strchr(letters, *s);
            if (*s >= '0' && *s <= '7') {
                s += octal(c, s, &ch);
            } else {
                ch = (uint8_t)(l ? values[l - letters] : *s);
                s++;
            }
        }
        t->p[t->n++] = ch;
    }
}

static struct tr_elem *add(struct cmd *c, struct tr_set *set, struct tr_elem e)
{
    if (set->n == set->cap) {
        set->cap = set->cap ? set->cap * 2 : 16;
        struct tr_elem *v = arena_alloc(c->arena, set->cap * sizeof *v);
        if (set->n > 0)
            memcpy(v, set->v, set->n * sizeof *v);
        set->v = v;
    }
    set->v[set->n] = e;
    return &set->v[set->n++];
}

void tr__add_repeat(struct cmd *c, struct tr_set *set, uint8_t ch, uint64_t count)
{
    add(c, set, (struct tr_elem){.kind = TR_REPEAT, .lo = ch, .count = count});
    set->length += count;
}

/* ctype functions, by name. */
static int (*class_of(struct str name))(int)
{
    static const struct {
        const char *name;
        int (*is)(int);
    } classes[] = {
        {"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
        {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
        {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (str_eqc(name, classes[i].name))
            return classes[i].is;
    return NULL;
}

/* The name as messages show it. */
static const char *shown(struct cmd *c, struct str s)
{
    struct buf b;
    buf_init(&b, 1u << 20);
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];
        if (ch == '\\')
            buf_addc(&b, "\\\\");
        else if (isprint(ch))
            buf_putc(&b, (char)ch);
        else
            buf_addf(&b, "\\%03o", ch);
    }
    const char *r = arena_dup(c->arena, b.p, b.n);
    buf_done(&b);
    return r;
}

static int add_class(struct cmd *c, struct tr_set *set, struct str name)
{
    int (*is)(int) = class_of(name);
    if (!is) {
        cmd_err(c, "invalid character class %s", cmd_quote_loc(c, shown(c, name)));
        return -1;
    }
    uint8_t *list = arena_alloc(c->arena, 256);
    unsigned n = 0;
    for (int ch = 0; ch < 128; ch++)
        if (is(ch))
            list[n++] = (uint8_t)ch;
    struct tr_elem e = {.kind = TR_CLASS, .count = n, .list = list};
    e.upper = is == isupper;
    e.lower = is == islower;
    e.restricted = !e.upper && !e.lower;
    set->has_class = true;
    set->has_restricted |= e.restricted;
    add(c, set, e);
    return 0;
}

/* "[:name:]" or "[=x=]" at @i: its length, 0 when it is none, -1 after a message. */
static ptrdiff_t bracket(struct cmd *c, struct tr_set *set, const struct tr_text *t, size_t i)
{
    uint8_t mark = t->p[i + 1];
    size_t end = i + 2;
    while (end + 1 < t->n && !(t->p[end] == mark && t->p[end + 1] == ']' && !t->escaped[end] && !t->escaped[end + 1]))
        end++;
    if (end + 1 >= t->n)
        return 0;
    struct str name = str_of((const char *)t->p + i + 2, end - i - 2);
    if (name.n == 0) {
        cmd_err(c, mark == ':' ? "missing character class name '[::]'" : "missing equivalence class character '[==]'");
        return -1;
    }
    if (mark == ':')
        return add_class(c, set, name) < 0 ? -1 : (ptrdiff_t)(end + 2 - i);
    if (name.n != 1) {
        cmd_err(c, "%s: equivalence class operand must be a single character", shown(c, name));
        return -1;
    }
    add(c, set, (struct tr_elem){.kind = TR_EQUIV, .lo = (uint8_t)name.p[0], .count = 1});
    set->has_equiv = true;
    return (ptrdiff_t)(end + 2 - i);
}

/* "[c*n]" at @i: its length, 0 when it is none, -1 after a message. */
static ptrdiff_t repeat(struct cmd *c, struct tr_set *set, const struct tr_text *t, size_t i)
{
    size_t end = i + 3;
    while (end < t->n && !(t->p[end] == ']' && !t->escaped[end])) {
        if (t->escaped[end])
            return 0;
        end++;
    }
    if (end >= t->n)
        return 0;
    struct str digits = str_of((const char *)t->p + i + 3, end - i - 3);
    uint64_t n = 0;
    bool bad = false;
    unsigned base = digits.n > 0 && digits.p[0] == '0' ? 8 : 10;
    for (size_t k = 0; k < digits.n; k++) {
        unsigned d = (unsigned)(digits.p[k] - '0');
        if (d >= base || __builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, (uint64_t)d, &n))
            bad = true;
    }
    if (bad) {
        cmd_err(c, "invalid repeat count %s in [c*n] construct", cmd_quote_loc(c, shown(c, digits)));
        return -1;
    }
    add(c, set, (struct tr_elem){.kind = TR_REPEAT, .lo = t->p[i + 1], .count = n, .endless = n == 0});
    set->n_endless += n == 0;
    return (ptrdiff_t)(end + 1 - i);
}

/* How a range's end is named in a message. */
static const char *end_name(struct cmd *c, uint8_t ch)
{
    if (ch == '\\')
        return "\\\\";
    return isprint(ch) ? arena_printf(c->arena, "%c", ch) : arena_printf(c->arena, "\\%03o", ch);
}

static int range(struct cmd *c, struct tr_set *set, uint8_t lo, uint8_t hi)
{
    if (lo > hi) {
        cmd_err(c, "range-endpoints of '%s-%s' are in reverse collating sequence order", end_name(c, lo),
                end_name(c, hi));
        return -1;
    }
    add(c, set, (struct tr_elem){.kind = TR_RANGE, .lo = lo, .hi = hi, .count = (uint64_t)(hi - lo) + 1});
    return 0;
}

int tr__parse(struct cmd *c, const char *text, struct tr_set *set)
{
    struct tr_text t;
    *set = (struct tr_set){0};
    unquote(c, text, &t);
    for (size_t i = 0; i < t.n;) {
        ptrdiff_t n = 0;
        bool open = t.p[i] == '[' && !t.escaped[i];
        if (open && i + 3 < t.n && (t.p[i + 1] == ':' || t.p[i + 1] == '=') && !t.escaped[i + 1])
            n = bracket(c, set, &t, i);
        if (n == 0 && open && i + 3 < t.n && t.p[i + 2] == '*' && !t.escaped[i + 2])
            n = repeat(c, set, &t, i);
        if (n < 0)
            return -1;
        if (n > 0) {
            i += (size_t)n;
        } else if (i + 2 < t.n && t.p[i + 1] == '-' && !t.escaped[i + 1]) {
            if (range(c, set, t.p[i], t.p[i + 2]) < 0)
                return -1;
            i += 3;
        } else {
            add(c, set, (struct tr_elem){.kind = TR_CHAR, .lo = t.p[i], .count = 1});
            i++;
        }
    }
    for (size_t i = 0; i < set->n; i++)
        if (__builtin_add_overflow(set->length, set->v[i].count, &set->length)) {
            cmd_err(c, "too many characters in set");
            return -1;
        }
    return 0;
}

const struct tr_elem *tr__get(struct tr_walk *w, uint8_t *ret)
{
    while (w->i < w->set->n && w->at >= w->set->v[w->i].count) {
        w->i++;
        w->at = 0;
    }
    if (w->i >= w->set->n)
        return NULL;
    const struct tr_elem *e = &w->set->v[w->i];
    switch (e->kind) {
    case TR_RANGE:
        *ret = (uint8_t)(e->lo + w->at);
        break;
    case TR_CLASS:
        *ret = e->list[w->at];
        break;
    case TR_CHAR:
    case TR_EQUIV:
    case TR_REPEAT:
        *ret = e->lo;
        break;
    }
    return e;
}

void tr__step(struct tr_walk *w, uint64_t n)
{
    w->at += n;
}

uint64_t tr__left(const struct tr_walk *w)
{
    return w->set->v[w->i].count - w->at;
}
