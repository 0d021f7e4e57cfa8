/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/ast.h"

#include <errno.h>

#include "regex/regex.h"

/* Bracket expressions, and the other single-character expressions that are sets. */

#define NAME_MAX_LEN 32 /* of [:name:]: longer ones are unmatched, as in the GNU library */

static const char *const msg_brack = "Unmatched [, [^, [:, [., or [=";
static const char *const msg_range = "Invalid range end";
static const char *const msg_coll = "Invalid collation character";

enum elem_kind { E_CHAR, E_CLASS, E_EQUIV };

struct elem {
    enum elem_kind kind;
    uint32_t c;
    enum unicode_class cls;
};

enum btok { B_END, B_CHAR, B_CLOSE, B_RANGE, B_COLL, B_EQUIV, B_NAMED };

struct bracket {
    struct rx_parse *p;
    struct str s;
    size_t pos;
    struct rx_set *set;
    /* For [:space:] without its outer brackets. */
    bool colon_first, colon_last, other, not_plain;
};

static int fail(struct bracket *b, const char *msg)
{
    b->p->msg = msg;
    return -EINVAL;
}

/* What stands at b->pos, and its length. */
static enum btok peek(struct bracket *b, size_t *ret_len, uint32_t *ret_c)
{
    struct str s = b->s;
    size_t at = b->pos;
    *ret_len = 1;
    if (at >= s.n)
        return B_END;
    unsigned char c = (unsigned char)s.p[at];
    *ret_c = c;
    if (c >= 0x80 && b->p->utf8) {
        unsigned len = unicode_decode(s.p + at, s.n - at, ret_c);
        if (len > 0)
            *ret_len = len;
        return B_CHAR;
    }
    unsigned char c2 = at + 1 < s.n ? (unsigned char)s.p[at + 1] : 0;
    if (c == '\\' && (b->p->syntax & RX_BK_IN_LISTS) && at + 1 < s.n) {
        *ret_c = c2;
        *ret_len = 2;
        return B_CHAR;
    }
    if (c == '[' && (c2 == '.' || c2 == '=' || (c2 == ':' && (b->p->syntax & RX_CLASSES)))) {
        *ret_len = 2;
        return c2 == '.' ? B_COLL : c2 == '=' ? B_EQUIV : B_NAMED;
    }
    if (c == ']')
        return B_CLOSE;
    if (c == '-') {
        /* Three minus signs stand for one. */
        if (c2 == '-' && at + 2 < s.n && s.p[at + 2] == '-') {
            *ret_len = 3;
            return B_CHAR;
        }
        return B_RANGE;
    }
    return B_CHAR;
}

/* [.x.], [=x=] or [:name:]; b->pos is behind the opening two characters. */
static int named(struct bracket *b, enum btok t, struct elem *ret)
{
    char delim = t == B_COLL ? '.' : t == B_EQUIV ? '=' : ':';
    size_t from = b->pos, i = from;
    if (i >= b->s.n)
        return fail(b, msg_brack);
    for (;; i++) {
        if (i - from >= NAME_MAX_LEN || i + 1 >= b->s.n)
            return fail(b, msg_brack);
        if (b->s.p[i] == delim && b->s.p[i + 1] == ']')
            break;
    }
    struct str name = str_of(b->s.p + from, i - from);
    b->pos = i + 2;
    if (t == B_NAMED) {
        if (unicode_class_find(name, &ret->cls) < 0)
            return fail(b, "Invalid character class name");
        ret->kind = E_CLASS;
        return 0;
    }
    uint32_t c = 0;
    unsigned len = name.n == 1 ? 1 : b->p->utf8 ? unicode_decode(name.p, name.n, &c) : 0;
    if (len != name.n || len == 0)
        return fail(b, msg_coll);
    ret->kind = t == B_COLL ? E_CHAR : E_EQUIV;
    ret->c = len == 1 ? (unsigned char)name.p[0] : c;
    return 0;
}

/* The element at b->pos, which is a token @t of length @len. */
static int element(struct bracket *b, enum btok t, size_t len, uint32_t c, bool hyphen_ok, struct elem *ret)
{
    b->pos += len;
    if (t == B_COLL || t == B_EQUIV || t == B_NAMED)
        return named(b, t, ret);
    if (t == B_RANGE && !hyphen_ok) {
        size_t len2;
        uint32_t c2;
        if (peek(b, &len2, &c2) != B_CLOSE)
            return fail(b, msg_range);
    }
    *ret = (struct elem){E_CHAR, c, UNICODE_ALPHA};
    return 0;
}

static void add_char(struct bracket *b, uint32_t lo, uint32_t hi)
{
    rx__set_add(b->p->a, b->set, lo, hi);
}

static uint32_t folded(const struct bracket *b, uint32_t c)
{
    if (!b->p->icase)
        return c;
    return b->p->utf8 || c < 0x80 ? unicode_upper(c) : c;
}

static void add_element(struct bracket *b, const struct elem *e)
{
    if (e->kind != E_CLASS) {
        add_char(b, folded(b, e->c), folded(b, e->c));
        return;
    }
    enum unicode_class cls = e->cls;
    if (b->p->icase && (cls == UNICODE_UPPER || cls == UNICODE_LOWER))
        cls = UNICODE_ALPHA;
    rx__set_add_class(b->p->a, b->set, cls, b->p->utf8);
}

static int add_range(struct bracket *b, const struct elem *from, const struct elem *to)
{
    if (from->kind != E_CHAR || to->kind != E_CHAR)
        return fail(b, msg_range);
    uint32_t lo = folded(b, from->c), hi = folded(b, to->c);
    if (lo <= hi)
        add_char(b, lo, hi);
    else if (b->p->syntax & RX_NO_EMPTY_RANGES)
        return fail(b, msg_range);
    return 0;
}

/* One element or range. 1: more follow, 0: the closing bracket was read, else an error. */
static int item(struct bracket *b, bool first)
{
    size_t len;
    uint32_t c = 0;
    struct elem from = {0}, to = {0};
    enum btok t = peek(b, &len, &c);
    if (t == B_END)
        return fail(b, msg_brack);
    if (t == B_CLOSE && !first) {
        b->pos++;
        return 0;
    }
    if (t == B_CLOSE)
        t = B_CHAR;
    int r = element(b, t, len, c, first, &from);
    if (r < 0)
        return r;
    b->colon_last = from.kind == E_CHAR && from.c == ':';
    b->colon_first = b->colon_first || (first && b->colon_last);
    b->other = b->other || !b->colon_last;
    b->not_plain = b->not_plain || t == B_NAMED || t == B_EQUIV || t == B_COLL;
    if (from.kind == E_CHAR) {
        t = peek(b, &len, &c);
        if (t == B_END)
            return fail(b, msg_brack);
        if (t == B_RANGE) {
            size_t dash = b->pos++;
            t = peek(b, &len, &c);
            if (t == B_END)
                return fail(b, msg_brack);
            if (t != B_CLOSE) {
                b->not_plain = true;
                r = element(b, t, len, c, true, &to);
                if (r < 0)
                    return r;
                r = add_range(b, &from, &to);
                return r < 0 ? r : 1;
            }
            /* A minus before the closing bracket is itself. */
            b->pos = dash + 1;
            add_char(b, '-', '-');
        }
    }
    add_element(b, &from);
    return 1;
}

static struct rx_ast *set_node(struct rx_parse *p, struct rx_set *set)
{
    struct rx_ast *t;
    if (set->n == 1 && set->r[0].lo == set->r[0].hi) {
        t = rx__ast(p->a, RX_CHAR);
        t->u.c = set->r[0].lo;
        return t;
    }
    t = rx__ast(p->a, RX_SET);
    t->u.set = set;
    return t;
}

int rx__parse_bracket(struct rx_parse *p, struct str pattern, size_t *pos, struct rx_ast **ret)
{
    struct bracket b = {.p = p, .s = pattern, .pos = *pos, .set = ARENA_NEW(p->a, struct rx_set)};
    bool negate = b.pos < pattern.n && pattern.p[b.pos] == '^';
    if (negate)
        b.pos++;
    /* The GNU library has this text for a pattern that ends here, and another one for one that ends later. */
    if (b.pos == pattern.n)
        return fail(&b, "Invalid regular expression");
    int r = item(&b, true);
    while (r > 0)
        r = item(&b, false);
    if (r < 0)
        return r;
    /* GNU grep's own check, which the C library does not make. */
    if (p->warn && b.colon_first && b.colon_last && b.other && !b.not_plain)
        return fail(&b, "character class syntax is [[:space:]], not [:space:]");
    rx__set_finish(b.set);
    if (p->icase)
        rx__set_unfold(p->a, b.set, p->utf8);
    if (negate) {
        if (p->syntax & RX_HAT_NOT_NEWLINE) {
            add_char(&b, '\n', '\n');
            rx__set_finish(b.set);
        }
        rx__set_negate(p->a, b.set, p->utf8);
    }
    *pos = b.pos;
    *ret = set_node(p, b.set);
    return 0;
}

struct rx_ast *rx__char(struct rx_parse *p, uint32_t c)
{
    struct rx_set *set = NULL;
    if (p->icase && (p->utf8 || c < 0x80)) {
        set = ARENA_NEW(p->a, struct rx_set);
        rx__set_unfold_char(p->a, set, unicode_upper(c), p->utf8);
    }
    if (set && set->n > 0)
        return set_node(p, set);
    struct rx_ast *t = rx__ast(p->a, RX_CHAR);
    t->u.c = c;
    return t;
}

struct rx_ast *rx__class(struct rx_parse *p, enum unicode_class cls, bool underscore, bool negate)
{
    struct rx_set *set = ARENA_NEW(p->a, struct rx_set);
    rx__set_add_class(p->a, set, cls, p->utf8);
    if (underscore)
        rx__set_add(p->a, set, '_', '_');
    rx__set_finish(set);
    if (negate)
        rx__set_negate(p->a, set, p->utf8);
    return set_node(p, set);
}

struct rx_ast *rx__dot(struct rx_parse *p)
{
    struct rx_set *set = ARENA_NEW(p->a, struct rx_set);
    rx__set_negate(p->a, set, p->utf8);
    if (!(p->syntax & RX_DOT_NEWLINE))
        rx__set_remove(p->a, set, '\n');
    if (p->syntax & RX_DOT_NOT_NUL)
        rx__set_remove(p->a, set, 0);
    return set_node(p, set);
}
