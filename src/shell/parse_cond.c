/* SPDX-License-Identifier: Apache-2.0 */
/* parse_cond - [[ … ]]: bash(1) Compound Commands and CONDITIONAL EXPRESSIONS. */
#include "shell/parse_int.h"

#include <errno.h>

static struct cond *cond_or(struct parser *ps);

static struct cond *new_cond(struct parser *ps, enum cond_kind kind)
{
    struct cond *c = ARENA_NEW(ps->a, struct cond);
    c->kind = kind;
    return c;
}

static void set_op(struct cond *c, struct str op)
{
    memcpy(c->op, op.p, op.n);
}

static bool is_end(const struct token *t)
{
    return t->kind == T_WORD && t->res == RES_COND_END;
}

/* What may stand behind a whole primary. */
static bool ends_primary(const struct token *t)
{
    return is_end(t) || t->kind == T_AND_AND || t->kind == T_OR_OR || t->kind == T_RPAREN;
}

static bool is_unary(const struct word *w)
{
    struct str s = w->src;
    return s.n == 2 && s.p[0] == '-' && strchr("abcdefghknoprstuvwxzGLNORS", s.p[1]);
}

/* The text decides: none of these can be written with a quote. */
static bool is_binary(const struct word *w)
{
    static const char *const ops[] = {"==",  "!=",  "=",   "=~",  "-eq", "-ne", "-lt",
                                      "-le", "-gt", "-ge", "-nt", "-ot", "-ef"};
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (str_eqc(w->src, ops[i]))
            return true;
    }
    return false;
}

/* The end of input has a message of its own. */
static bool at_eof(struct parser *ps, const struct token *t)
{
    if (t->kind != T_EOF)
        return false;
    parse_fail(ps, t->line, SIZE_MAX, "unexpected token `EOF' in conditional command");
    if (ps->err)
        ps->err->incomplete = true;
    return true;
}

static void fail_arg(struct parser *ps, const struct token *t, const char *what)
{
    if (at_eof(ps, t))
        return;
    struct str s = parse_token_text(ps, t);
    parse_fail(ps, t->line, SIZE_MAX, "unexpected argument `%.*s' to conditional %s operator", (int)NUM_MIN(s.n, 300),
               s.p, what);
}

/* A failure that bash tells in two lines. */
static void second_line(struct parser *ps, int line, const char *text)
{
    if (!ps->err)
        return;
    ps->err->second = true;
    ps->err->second_line = line;
    snprintf(ps->err->source, sizeof(ps->err->source), "%s", text);
}

static struct cond *unary(struct parser *ps, struct word *op)
{
    struct token *t = lex_peek(ps, LEX_COND);
    if (t->kind != T_WORD || is_end(t)) {
        fail_arg(ps, t, "unary");
        return NULL;
    }
    struct cond *c = new_cond(ps, COND_UNARY);
    set_op(c, op->src);
    c->a = t->word;
    lex_take(ps);
    lex_newlines(ps, LEX_COND);
    return c;
}

/* @a was taken; an operator, or what ends the primary, follows. */
static struct cond *binary_or_word(struct parser *ps, struct word *a)
{
    struct token *t = lex_peek(ps, LEX_COND);
    bool order = t->kind == T_REDIR && (t->redir == REDIR_IN || t->redir == REDIR_OUT);
    if (!order && !(t->kind == T_WORD && is_binary(t->word))) {
        if (ends_primary(t)) {
            struct cond *c = new_cond(ps, COND_WORD);
            c->a = a;
            return c;
        }
        if (at_eof(ps, t))
            return NULL;
        struct str s = parse_token_text(ps, t);
        if (t->kind == T_WORD)
            parse_fail(ps, t->line, SIZE_MAX, "conditional binary operator expected");
        else
            parse_fail(ps, t->line, SIZE_MAX, "unexpected token `%.*s', conditional binary operator expected",
                       (int)NUM_MIN(s.n, 300), s.p);
        return NULL;
    }
    struct cond *c = new_cond(ps, COND_BINARY);
    set_op(c, order ? (t->redir == REDIR_IN ? STR("<") : STR(">")) : t->word->src);
    lex_take(ps);
    int flags = LEX_COND;
    if (c->op[0] == '=' || c->op[0] == '!')
        flags |= c->op[1] == '~' ? LEX_REGEX : LEX_PATTERN;
    t = lex_peek(ps, flags);
    if (ps->failed == -EINVAL && ps->err && ps->err->incomplete)
        second_line(ps, ps->line, "unexpected argument to conditional binary operator");
    if (t->kind != T_WORD || is_end(t)) {
        fail_arg(ps, t, "binary");
        return NULL;
    }
    c->a = a;
    c->b = t->word;
    lex_take(ps);
    lex_newlines(ps, LEX_COND);
    return c;
}

static struct cond *group(struct parser *ps)
{
    struct cond *inner = cond_or(ps);
    if (!inner) {
        if (ps->err && ps->failed == -EINVAL && ps->fail_pos == ps->tok.start && ps->tok.kind == T_RPAREN)
            second_line(ps, ps->err->line, "expected `)'");
        return NULL;
    }
    struct token *t = lex_peek(ps, LEX_COND);
    if (t->kind != T_RPAREN) {
        if (at_eof(ps, t))
            return NULL;
        struct str s = parse_token_text(ps, t);
        parse_fail(ps, t->line, SIZE_MAX, "unexpected token `%.*s', expected `)'", (int)NUM_MIN(s.n, 300), s.p);
        return NULL;
    }
    lex_take(ps);
    lex_newlines(ps, LEX_COND);
    struct cond *c = new_cond(ps, COND_GROUP);
    c->left = inner;
    return c;
}

static struct cond *primary(struct parser *ps)
{
    struct token *t = lex_newlines(ps, LEX_COND);
    if (t->kind == T_LPAREN) {
        lex_take(ps);
        return group(ps);
    }
    if (t->kind != T_WORD || is_end(t)) {
        if (at_eof(ps, t))
            return NULL;
        struct str s = parse_token_text(ps, t);
        if (t->kind == T_WORD) /* bash says nothing */
            parse_fail(ps, t->line, SIZE_MAX, "%s", "");
        else
            parse_fail(ps, t->line, SIZE_MAX, "unexpected token `%.*s' in conditional command",
                       (int)NUM_MIN(s.n, 300), s.p);
        return NULL;
    }
    struct word *w = t->word;
    bool bang = t->res == RES_BANG;
    lex_take(ps);
    if (bang) {
        struct cond *inner = parse_enter(ps) ? primary(ps) : NULL;
        if (!inner)
            return NULL;
        ps->depth--;
        /* Two cancel out, in what is shown too. */
        if (inner->kind == COND_NOT)
            return inner->left;
        struct cond *c = new_cond(ps, COND_NOT);
        c->left = inner;
        return c;
    }
    return is_unary(w) ? unary(ps, w) : binary_or_word(ps, w);
}

static struct cond *cond_and(struct parser *ps)
{
    struct cond *left = primary(ps);
    while (left && lex_peek(ps, LEX_COND)->kind == T_AND_AND) {
        lex_take(ps);
        struct cond *c = new_cond(ps, COND_AND);
        c->left = left;
        c->right = primary(ps);
        left = c->right ? c : NULL;
    }
    return left;
}

static struct cond *cond_or(struct parser *ps)
{
    if (!parse_enter(ps))
        return NULL;
    struct cond *left = cond_and(ps);
    while (left && lex_peek(ps, LEX_COND)->kind == T_OR_OR) {
        lex_take(ps);
        struct cond *c = new_cond(ps, COND_OR);
        c->left = left;
        c->right = cond_and(ps);
        left = c->right ? c : NULL;
    }
    ps->depth--;
    return left;
}

static struct node *whole(struct parser *ps, int line)
{
    struct node *n = parse_node(ps, NODE_COND, line);
    n->cond = cond_or(ps);
    if (!n->cond)
        return NULL;
    struct token *t = lex_peek(ps, LEX_COND);
    if (!is_end(t)) {
        if (t->kind == T_EOF) {
            parse_fail(ps, t->line, SIZE_MAX, "unexpected EOF while looking for `]]'");
            if (ps->err)
                ps->err->incomplete = true;
            return NULL;
        }
        struct str s = parse_token_text(ps, t);
        if (t->kind == T_WORD)
            parse_fail(ps, t->line, SIZE_MAX, "syntax error in conditional expression");
        else
            parse_fail(ps, t->line, SIZE_MAX, "syntax error in conditional expression: unexpected token `%.*s'",
                       (int)NUM_MIN(s.n, 300), s.p);
        return NULL;
    }
    lex_take(ps);
    return n;
}

struct node *parse_cond(struct parser *ps, int line)
{
    struct node *n = whole(ps, line);
    if (!n && ps->failed == -EINVAL && ps->err)
        ps->err->keep_status = true;
    return n;
}
