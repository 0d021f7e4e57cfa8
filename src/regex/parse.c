/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/ast.h"

#include <errno.h>

#include "base/num.h"
#include "regex/regex.h"
#include "types/limits.h"

enum tok {
    T_END,
    T_CHAR,
    T_RAW, /* a byte that is no UTF-8 */
    T_LONE_BACKSLASH,
    T_ALT,
    T_OPEN,
    T_CLOSE,
    T_BRACKET,
    T_DOT,
    T_STAR,
    T_PLUS,
    T_QM,
    T_OPEN_DUP,
    T_CLOSE_DUP,
    T_BACKREF,
    T_ANCHOR,
    T_BOUNDARY,    /* \b */
    T_NO_BOUNDARY, /* \B */
    T_CLASS,       /* \w \W \s \S, c says which */
};

struct token {
    enum tok t;
    uint32_t c;             /* the character; digit of a back-reference */
    enum rx_assert assert_; /* T_ANCHOR */
};

/* One open parenthesis, or the pattern itself. */
struct level {
    struct level *up;
    struct rx_ast *alt, *alt_tail; /* finished branches; an empty one is RX_EMPTY */
    struct rx_ast *cat, *cat_tail; /* the branch being read */
    uint32_t group;
    uint32_t at_start, at_branches; /* groups complete when the level began, and at the end of its branches: bits */
};

struct parser {
    struct rx_parse *p;
    struct str s;
    size_t pos; /* behind the current token */
    struct token tok;
    struct level *level;
    uint32_t base;     /* groups of the patterns before this one */
    uint32_t complete; /* closed groups 1-9 of this pattern that a back-reference may name: bits */
};

static int fail(struct parser *ps, int code, const char *msg)
{
    ps->p->msg = msg;
    return code;
}

static const char *const msg_badrpt = "Invalid preceding regular expression";
static const char *const msg_badbr = "Invalid content of \\{\\}";
static const char *const msg_size = "Regular expression too big";

/* ---- tokens ---- */

static void next_token(struct parser *ps, bool caret_here);

static enum tok plain_char(struct parser *ps, size_t at, uint32_t *ret_c, size_t *ret_len)
{
    unsigned char b = (unsigned char)ps->s.p[at];
    *ret_c = b;
    *ret_len = 1;
    if (b < 0x80 || !ps->p->utf8)
        return T_CHAR;
    unsigned len = unicode_decode(ps->s.p + at, ps->s.n - at, ret_c);
    if (len == 0)
        return T_RAW;
    *ret_len = len;
    return T_CHAR;
}

/* What a backslash and the ASCII character @c mean. */
static struct token escaped(unsigned syn, unsigned char c)
{
    struct token t = {T_CHAR, c, RX_BOL};
    bool gnu = !(syn & RX_NO_GNU_OPS);
    switch (c) {
    case '|':
        if (!(syn & RX_LIMITED_OPS) && (syn & RX_BK_VBAR))
            t.t = T_ALT;
        break;
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        if (!(syn & RX_NO_BACKREFS))
            t = (struct token){T_BACKREF, c - '0', RX_BOL};
        break;
    case '<':
    case '>':
    case '`':
    case '\'':
        if (gnu)
            t = (struct token){T_ANCHOR, c,
                               c == '<'   ? RX_WORD_FIRST
                               : c == '>' ? RX_WORD_LAST
                               : c == '`' ? RX_BUF_FIRST
                                          : RX_BUF_LAST};
        break;
    case 'b':
    case 'B':
        if (gnu)
            t.t = c == 'b' ? T_BOUNDARY : T_NO_BOUNDARY;
        break;
    case 'w':
    case 'W':
    case 's':
    case 'S':
        if (gnu)
            t.t = T_CLASS;
        break;
    case '(':
    case ')':
        if (syn & RX_BK_PARENS)
            t.t = c == '(' ? T_OPEN : T_CLOSE;
        break;
    case '+':
    case '?':
        if (!(syn & RX_LIMITED_OPS) && (syn & RX_BK_PLUS_QM))
            t.t = c == '+' ? T_PLUS : T_QM;
        break;
    case '{':
    case '}':
        if ((syn & RX_INTERVALS) && (syn & RX_BK_BRACES))
            t.t = c == '{' ? T_OPEN_DUP : T_CLOSE_DUP;
        break;
    default:
        break;
    }
    return t;
}

/* Whether a $ before position ps->pos ends a branch. */
static bool dollar_is_anchor(struct parser *ps)
{
    if ((ps->p->syntax & RX_INDEP_ANCHORS) || ps->pos == ps->s.n)
        return true;
    struct parser look = *ps;
    next_token(&look, false);
    return look.tok.t == T_ALT || look.tok.t == T_CLOSE;
}

static bool caret_is_anchor(const struct parser *ps, bool caret_here)
{
    size_t at = ps->pos - 1;
    return caret_here || (ps->p->syntax & RX_INDEP_ANCHORS) || at == 0 ||
           ((ps->p->syntax & RX_NEWLINE_ALT) && ps->s.p[at - 1] == '\n');
}

/* What the ASCII character @c means without a backslash; ps->pos is behind it. */
static struct token unescaped(struct parser *ps, unsigned char c, bool caret_here)
{
    unsigned syn = ps->p->syntax;
    struct token t = {T_CHAR, c, RX_BOL};
    switch (c) {
    case '\n':
        if (syn & RX_NEWLINE_ALT)
            t.t = T_ALT;
        break;
    case '|':
        if (!(syn & (RX_LIMITED_OPS | RX_BK_VBAR)))
            t.t = T_ALT;
        break;
    case '*':
        t.t = T_STAR;
        break;
    case '+':
    case '?':
        if (!(syn & (RX_LIMITED_OPS | RX_BK_PLUS_QM)))
            t.t = c == '+' ? T_PLUS : T_QM;
        break;
    case '{':
    case '}':
        if ((syn & RX_INTERVALS) && !(syn & RX_BK_BRACES))
            t.t = c == '{' ? T_OPEN_DUP : T_CLOSE_DUP;
        break;
    case '(':
    case ')':
        if (!(syn & RX_BK_PARENS))
            t.t = c == '(' ? T_OPEN : T_CLOSE;
        break;
    case '[':
        t.t = T_BRACKET;
        break;
    case '.':
        t.t = T_DOT;
        break;
    case '^':
        if (caret_is_anchor(ps, caret_here))
            t = (struct token){T_ANCHOR, c, RX_BOL};
        break;
    case '$':
        if (dollar_is_anchor(ps))
            t = (struct token){T_ANCHOR, c, RX_EOL};
        break;
    default:
        break;
    }
    return t;
}

/* Reads the next token into ps->tok. @caret_here: a ^ would begin a branch. */
static void next_token(struct parser *ps, bool caret_here)
{
    struct str s = ps->s;
    if (ps->pos == s.n) {
        ps->tok = (struct token){T_END, 0, RX_BOL};
        return;
    }
    unsigned char c = (unsigned char)s.p[ps->pos];
    bool quoted = c == '\\';
    size_t at = ps->pos + quoted;
    if (at == s.n) {
        ps->pos = at;
        ps->tok = (struct token){T_LONE_BACKSLASH, c, RX_BOL};
        return;
    }
    c = (unsigned char)s.p[at];
    if (c < 0x80) {
        ps->pos = at + 1;
        ps->tok = quoted ? escaped(ps->p->syntax, c) : unescaped(ps, c, caret_here);
        return;
    }
    size_t len;
    ps->tok = (struct token){T_CHAR, 0, RX_BOL};
    ps->tok.t = plain_char(ps, at, &ps->tok.c, &len);
    ps->pos = at + len;
}

/* ---- tree ---- */

struct rx_ast *rx__ast(struct arena *a, enum rx_kind kind)
{
    struct rx_ast *t = ARENA_NEW(a, struct rx_ast);
    t->kind = kind;
    t->depth = 1;
    return t;
}

static struct rx_ast *assertion(struct parser *ps, enum rx_assert what)
{
    struct rx_ast *t = rx__ast(ps->p->a, RX_ASSERT);
    t->u.assert_ = what;
    return t;
}

/* @list as one node: itself when it is alone, else a node of @kind over it. NULL for no list. */
static struct rx_ast *join(struct parser *ps, enum rx_kind kind, struct rx_ast *list)
{
    if (!list || !list->next)
        return list;
    struct rx_ast *t = rx__ast(ps->p->a, kind);
    t->child = list;
    for (const struct rx_ast *c = list; c; c = c->next)
        t->depth = NUM_MAX(t->depth, c->depth + 1);
    return t;
}

static void append(struct level *l, struct rx_ast *t)
{
    if (t->kind == RX_EMPTY)
        return;
    if (l->cat_tail)
        l->cat_tail->next = t;
    else
        l->cat = t;
    l->cat_tail = t;
}

static void end_branch(struct parser *ps)
{
    struct level *l = ps->level;
    struct rx_ast *t = join(ps, RX_CAT, l->cat);
    if (!t)
        t = rx__ast(ps->p->a, RX_EMPTY);
    if (l->alt_tail)
        l->alt_tail->next = t;
    else
        l->alt = t;
    l->alt_tail = t;
    l->cat = l->cat_tail = NULL;
    l->at_branches |= ps->complete;
}

/* Ends the level's last branch and yields the whole; NULL when it is empty. */
static struct rx_ast *end_level(struct parser *ps)
{
    struct level *l = ps->level;
    end_branch(ps);
    ps->complete = l->at_branches;
    struct rx_ast *first = l->alt, *second = first->next;
    if (!second)
        return first->kind == RX_EMPTY ? NULL : first;
    /* The GNU library prefers the second of two branches when the first is empty. */
    if (first->kind == RX_EMPTY && second->kind != RX_EMPTY) {
        first->next = second->next;
        second->next = first;
        l->alt = second;
    }
    return join(ps, RX_ALT, l->alt);
}

static void open_level(struct parser *ps, uint32_t group)
{
    struct level *l = ARENA_NEW(ps->p->a, struct level);
    l->up = ps->level;
    l->group = group;
    l->at_start = ps->complete;
    ps->level = l;
}

static struct rx_ast *close_group(struct parser *ps)
{
    struct rx_ast *t = rx__ast(ps->p->a, RX_GROUP);
    t->child = end_level(ps);
    t->depth = (t->child ? t->child->depth : 0) + 1;
    t->u.group = ps->level->group;
    uint32_t local = ps->level->group - ps->base;
    if (local <= 9)
        ps->complete |= 1u << local;
    ps->level = ps->level->up;
    return t;
}

/* ---- repetition ---- */

/* A number of an interval: -1 when there is none, -2 when it is not a number, or when the pattern ends. */
static int interval_number(struct parser *ps)
{
    int num = -1;
    for (;;) {
        next_token(ps, false);
        const struct token *t = &ps->tok;
        if (t->t == T_END)
            return -2;
        if (t->t == T_CLOSE_DUP || t->c == ',')
            return num;
        if (t->t != T_CHAR || t->c < '0' || t->c > '9' || num == -2)
            num = -2;
        else
            num = NUM_MIN(LIMIT_REGEX_REPEAT + 1, (num == -1 ? 0 : num * 10) + (int)(t->c - '0'));
    }
}

/* Reads {m,n} behind its brace. 1: read, the current token is the closing brace; 0: it is none and the brace is plain
 * text (the current token is that); else an error. */
static int interval(struct parser *ps, int *ret_min, int *ret_max)
{
    struct token brace = ps->tok;
    size_t behind = ps->pos;
    int max = 0, min = interval_number(ps);
    bool comma = ps->tok.t == T_CHAR && ps->tok.c == ',';
    if (min == -1) {
        if (!comma)
            return fail(ps, -EINVAL, msg_badbr);
        min = 0;
    }
    if (min != -2)
        max = ps->tok.t == T_CLOSE_DUP ? min : comma ? interval_number(ps) : -2;
    if (min == -2 || max == -2) {
        if (!(ps->p->syntax & RX_INVALID_INTERVAL_PLAIN))
            return fail(ps, -EINVAL, ps->tok.t == T_END ? "Unmatched \\{" : msg_badbr);
        ps->pos = behind;
        ps->tok = brace;
        ps->tok.t = T_CHAR;
        return 0;
    }
    if ((max != -1 && min > max) || ps->tok.t != T_CLOSE_DUP)
        return fail(ps, -EINVAL, msg_badbr);
    if ((max == -1 ? min : max) > LIMIT_REGEX_REPEAT)
        return fail(ps, -EFBIG, msg_size);
    *ret_min = min;
    *ret_max = max;
    return 1;
}

static bool is_repeat(enum tok t)
{
    return t == T_STAR || t == T_PLUS || t == T_QM || t == T_OPEN_DUP;
}

static struct rx_ast *repeat(struct parser *ps, struct rx_ast *t, int min, int max)
{
    if (t->kind == RX_EMPTY || (min == 1 && max == 1))
        return t;
    if (max == 0)
        return rx__ast(ps->p->a, RX_EMPTY);
    bool star = min == 0 && max == RX_INF;
    if (star && t->kind == RX_REPEAT && t->u.rep.min == 0 && t->u.rep.max == RX_INF)
        return t;
    struct rx_ast *r = rx__ast(ps->p->a, RX_REPEAT);
    r->child = t;
    r->depth = t->depth + 1;
    r->u.rep.min = min;
    r->u.rep.max = max;
    return r;
}

/* Reads the operator in ps->tok. 1: *ret_min and *ret_max are set and the next token is current; 0: it was plain text
 * after all. */
static int read_repeat(struct parser *ps, int *ret_min, int *ret_max)
{
    enum tok t = ps->tok.t;
    *ret_min = t == T_PLUS;
    *ret_max = t == T_QM ? 1 : RX_INF;
    if (t == T_OPEN_DUP) {
        int r = interval(ps, ret_min, ret_max);
        if (r <= 0)
            return r;
    }
    next_token(ps, false);
    return 1;
}

/* Applies the operators behind the expression @t, and appends the result to the branch. */
static int postfix(struct parser *ps, struct rx_ast *t)
{
    while (is_repeat(ps->tok.t)) {
        int min, max;
        int r = read_repeat(ps, &min, &max);
        if (r < 0)
            return r;
        if (r == 0)
            break;
        t = repeat(ps, t, min, max);
        if (t->depth > LIMIT_REGEX_DEPTH)
            return fail(ps, -EFBIG, msg_size);
        if ((ps->p->syntax & RX_INVALID_DUP) && (ps->tok.t == T_STAR || ps->tok.t == T_OPEN_DUP))
            return fail(ps, -EINVAL, msg_badrpt);
    }
    append(ps->level, t);
    return 0;
}

static void warn_leading(const struct parser *ps, const char *text)
{
    if (ps->p->warn && ps->p->warn->fn)
        ps->p->warn->fn(ps->p->warn->arg, text);
}

/* An operator with nothing to repeat. 1: skipped; 0: it is plain text (ps->tok says so now); else an error. */
static int leading_repeat(struct parser *ps)
{
    unsigned syn = ps->p->syntax;
    enum tok t = ps->tok.t;
    if (syn & RX_EMPTY_OPS) {
        int min, max;
        int r = read_repeat(ps, &min, &max);
        if (r == 1)
            warn_leading(ps, t == T_STAR   ? "* at start of expression"
                             : t == T_PLUS ? "+ at start of expression"
                             : t == T_QM   ? "? at start of expression"
                                           : "{...} at start of expression");
        return r;
    }
    if ((t == T_OPEN_DUP && (syn & RX_INVALID_DUP)) || (syn & RX_INVALID_OPS))
        return fail(ps, -EINVAL, msg_badrpt);
    if (syn & RX_INDEP_OPS) {
        next_token(ps, false);
        return 1;
    }
    ps->tok.t = T_CHAR;
    return 0;
}

/* ---- expressions ---- */

static struct rx_ast *two_sides(struct parser *ps, enum rx_assert a, enum rx_assert b)
{
    struct rx_ast *t = assertion(ps, a);
    t->next = assertion(ps, b);
    return join(ps, RX_ALT, t);
}

static void anchor(struct parser *ps)
{
    struct rx_ast *t;
    if (ps->tok.t == T_BOUNDARY)
        t = two_sides(ps, RX_WORD_FIRST, RX_WORD_LAST);
    else if (ps->tok.t == T_NO_BOUNDARY)
        t = two_sides(ps, RX_INSIDE_WORD, RX_INSIDE_OTHER);
    else
        t = assertion(ps, ps->tok.assert_);
    append(ps->level, t);
    next_token(ps, false);
}

/* The expression that the current token is or begins; ps->pos moves behind it. NULL with ps->p->msg set on failure. */
static int atom(struct parser *ps, struct rx_ast **ret)
{
    struct rx_parse *p = ps->p;
    uint32_t c = ps->tok.c;
    switch (ps->tok.t) {
    case T_BRACKET:
        return rx__parse_bracket(p, ps->s, &ps->pos, ret);
    case T_DOT:
        *ret = rx__dot(p);
        return 0;
    case T_CLASS:
        *ret = rx__class(p, (c | 0x20) == 'w' ? UNICODE_ALNUM : UNICODE_SPACE, (c | 0x20) == 'w', c == 'W' || c == 'S');
        return 0;
    case T_BACKREF:
        if (!(ps->complete & (1u << c)))
            return fail(ps, -EINVAL, "Invalid back reference");
        *ret = rx__ast(p->a, RX_BACKREF);
        (*ret)->u.group = ps->base + c;
        p->has_backref = true;
        return 0;
    case T_RAW:
        *ret = rx__ast(p->a, RX_RAW);
        (*ret)->u.c = c;
        return 0;
    case T_LONE_BACKSLASH:
        return fail(ps, -EINVAL, "Trailing backslash");
    case T_END:
    case T_CHAR:
    case T_ALT:
    case T_OPEN:
    case T_CLOSE:
    case T_STAR:
    case T_PLUS:
    case T_QM:
    case T_OPEN_DUP:
    case T_CLOSE_DUP:
    case T_ANCHOR:
    case T_BOUNDARY:
    case T_NO_BOUNDARY:
    default:
        *ret = rx__char(p, c);
        return 0;
    }
}

/* One step: what the current token begins. 1: go on, 0: the pattern is read, else an error. */
static int step(struct parser *ps)
{
    struct rx_ast *t = NULL;
    int r;
    switch (ps->tok.t) {
    case T_END:
        if (ps->level->up)
            return fail(ps, -EINVAL, "Unmatched ( or \\(");
        return 0;
    case T_ALT:
        end_branch(ps);
        ps->complete = ps->level->at_start;
        next_token(ps, true);
        return 1;
    case T_OPEN:
        open_level(ps, ++ps->p->n_groups);
        next_token(ps, true);
        return 1;
    case T_CLOSE:
        if (ps->level->up) {
            t = close_group(ps);
            if (t->depth > LIMIT_REGEX_DEPTH)
                return fail(ps, -EFBIG, msg_size);
            next_token(ps, false);
            r = postfix(ps, t);
            return r < 0 ? r : 1;
        }
        if (!(ps->p->syntax & RX_UNMATCHED_PAREN_PLAIN))
            return fail(ps, -EINVAL, "Unmatched ) or \\)");
        break;
    case T_ANCHOR:
    case T_BOUNDARY:
    case T_NO_BOUNDARY:
        anchor(ps);
        return 1;
    case T_STAR:
    case T_PLUS:
    case T_QM:
    case T_OPEN_DUP:
        r = leading_repeat(ps);
        if (r != 0)
            return r;
        break;
    case T_CHAR:
    case T_RAW:
    case T_LONE_BACKSLASH:
    case T_BRACKET:
    case T_DOT:
    case T_CLOSE_DUP:
    case T_BACKREF:
    case T_CLASS:
    default:
        break;
    }
    r = atom(ps, &t);
    if (r < 0)
        return r;
    next_token(ps, false);
    r = postfix(ps, t);
    return r < 0 ? r : 1;
}

int rx__parse(struct rx_parse *p, struct str pattern, struct rx_ast **ret)
{
    struct parser ps = {.p = p, .s = pattern, .base = p->n_groups};
    if (pattern.n > LIMIT_REGEX_PATTERN)
        return fail(&ps, -EFBIG, msg_size);
    open_level(&ps, 0);
    next_token(&ps, true);
    int r;
    while ((r = step(&ps)) > 0)
        ;
    if (r < 0)
        return r;
    struct rx_ast *t = end_level(&ps);
    *ret = t ? t : rx__ast(p->a, RX_EMPTY);
    return 0;
}
