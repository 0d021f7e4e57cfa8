/* SPDX-License-Identifier: Apache-2.0 */
/* parse_comp - compound commands and functions: bash(1) Compound Commands, Coprocesses, Shell Function Definitions. */
#include "shell/parse_int.h"

#include <errno.h>

bool parse_at_compound(const struct token *t)
{
    if (t->kind == T_LPAREN)
        return true;
    if (t->kind != T_WORD)
        return false;
    switch (t->res) {
    case RES_IF:
    case RES_CASE:
    case RES_FOR:
    case RES_SELECT:
    case RES_WHILE:
    case RES_UNTIL:
    case RES_FUNCTION:
    case RES_LBRACE:
    case RES_COND:
    case RES_COPROC:
        return true;
    case RES_NONE:
    case RES_THEN:
    case RES_ELSE:
    case RES_ELIF:
    case RES_FI:
    case RES_ESAC:
    case RES_DO:
    case RES_DONE:
    case RES_IN:
    case RES_TIME:
    case RES_RBRACE:
    case RES_BANG:
    case RES_COND_END:
        break;
    }
    return false;
}

/* Takes the reserved word @res, or fails. */
static bool expect(struct parser *ps, enum reserved res)
{
    struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    if (t->kind != T_WORD || t->res != res) {
        parse_unexpected(ps, t);
        return false;
    }
    lex_take(ps);
    return true;
}

/* A list that must not be empty. */
static struct node *list_required(struct parser *ps)
{
    struct node *n = parse_list(ps);
    if (!n && !ps->failed)
        parse_unexpected(ps, lex_peek(ps, LEX_CMD | LEX_ASSIGN));
    return n;
}

/* do LIST done, or { LIST } where bash takes it too. */
static struct node *do_group(struct parser *ps, bool braces)
{
    struct token *t = lex_newlines(ps, LEX_CMD | LEX_ASSIGN);
    bool brace = braces && t->kind == T_WORD && t->res == RES_LBRACE;
    if (brace)
        lex_take(ps);
    else if (!expect(ps, RES_DO))
        return NULL;
    struct node *body = list_required(ps);
    if (!body || !expect(ps, brace ? RES_RBRACE : RES_DONE))
        return NULL;
    return body;
}

/* ---- if, while ---- */

/* "if" or "elif" was taken. */
static struct node *if_rest(struct parser *ps, int line, bool is_elif)
{
    struct node *n = parse_node(ps, NODE_IF, line);
    n->if_.is_elif = is_elif;
    n->if_.cond = list_required(ps);
    if (!n->if_.cond || !expect(ps, RES_THEN))
        return NULL;
    n->if_.then = list_required(ps);
    if (!n->if_.then || !parse_enter(ps))
        return NULL;
    struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    bool ok = true;
    if (t->kind == T_WORD && t->res == RES_ELIF) {
        int at = t->line;
        lex_take(ps);
        n->if_.other = if_rest(ps, at, true);
        ok = n->if_.other != NULL;
    } else {
        if (t->kind == T_WORD && t->res == RES_ELSE) {
            lex_take(ps);
            n->if_.other = list_required(ps);
            ok = n->if_.other != NULL;
        }
        ok = ok && expect(ps, RES_FI);
    }
    ps->depth--;
    return ok ? n : NULL;
}

static struct node *while_rest(struct parser *ps, int line, bool until)
{
    struct node *n = parse_node(ps, until ? NODE_UNTIL : NODE_WHILE, line);
    n->loop.cond = list_required(ps);
    if (!n->loop.cond)
        return NULL;
    n->loop.body = do_group(ps, false);
    return n->loop.body ? n : NULL;
}

/* ---- for, select ---- */

static void for_arith_error(struct parser *ps, size_t start, size_t end, const char *what)
{
    parse_fail(ps, ps->line, SIZE_MAX, "syntax error: %s", what);
    if (ps->err) {
        snprintf(ps->err->source, sizeof(ps->err->source), "%.*s", (int)(end - start), ps->in.p + start);
        ps->err->source_syntax = true;
    }
}

/* for (( INIT; COND; STEP )); the position is at "((". */
static struct node *for_arith(struct parser *ps, int line)
{
    struct node *n = parse_node(ps, NODE_FOR_ARITH, line);
    struct word *v[3] = {NULL};
    size_t start = ps->pos;
    unsigned i = 0;
    lex_skip(ps, 2);
    for (;;) {
        while (lex_cur(ps) == ' ' || lex_cur(ps) == '\t' || lex_cur(ps) == '\n') {
            if (lex_cur(ps) == '\n')
                lex_newline(ps);
            else
                lex_skip(ps, 1);
        }
        struct word *w = parse_word(ps, CTX_ARITH_FOR, true, 0);
        if (!w)
            return NULL;
        if (i < 3)
            v[i] = w->parts ? w : NULL;
        i++;
        int c = lex_at(ps, 0);
        if (c < 0) {
            parse_fail_eof(ps, line, ')');
            return NULL;
        }
        lex_skip(ps, 1);
        if (c == ')')
            break;
    }
    if (lex_cur(ps) != ')') {
        parse_fail(ps, ps->line, ps->pos, "syntax error near unexpected token `%c'",
                   lex_cur(ps) < 0 ? ' ' : lex_cur(ps));
        return NULL;
    }
    lex_skip(ps, 1);
    if (i != 3) {
        for_arith_error(ps, start, ps->pos, i < 3 ? "arithmetic expression required" : "`;' unexpected");
        return NULL;
    }
    n->for_arith.init = v[0];
    n->for_arith.cond = v[1];
    n->for_arith.step = v[2];
    struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    if (t->kind == T_SEMI)
        lex_take(ps);
    n->for_arith.body = do_group(ps, true);
    return n->for_arith.body ? n : NULL;
}

/* The words behind "in", up to ; or a newline. */
static bool for_words(struct parser *ps, struct node *n)
{
    size_t mark = ps->n_stack;
    struct token *t;
    while ((t = lex_peek(ps, LEX_NO_ALIAS))->kind == T_WORD) {
        parse_push(ps, t->word);
        lex_take(ps);
    }
    n->for_.has_in = true;
    n->for_.words = (struct word **)(void *)parse_pop(ps, mark, &n->for_.n_words);
    if (t->kind != T_SEMI && t->kind != T_NEWLINE) {
        parse_unexpected(ps, t);
        return false;
    }
    lex_take(ps);
    return true;
}

static struct node *for_rest(struct parser *ps, int line, bool select)
{
    struct token *t = lex_peek(ps, LEX_NO_ALIAS);
    if (!select && t->kind == T_LPAREN && lex_cur(ps) == '(') {
        lex_unread(ps);
        return for_arith(ps, line);
    }
    if (t->kind != T_WORD) {
        parse_unexpected(ps, t);
        return NULL;
    }
    struct node *n = parse_node(ps, select ? NODE_SELECT : NODE_FOR, line);
    n->for_.name = t->word->src;
    if (ps->sh && sym_valid(n->for_.name))
        n->for_.sym = sym_get(ps->sh, n->for_.name);
    lex_take(ps);
    t = lex_peek(ps, LEX_CMD);
    if (t->kind == T_SEMI) {
        lex_take(ps);
    } else {
        t = lex_newlines(ps, LEX_CMD);
        if (t->kind == T_WORD && t->res == RES_IN) {
            lex_take(ps);
            if (!for_words(ps, n))
                return NULL;
        }
    }
    n->for_.body = do_group(ps, true);
    return n->for_.body ? n : NULL;
}

/* ---- case ---- */

static bool case_patterns(struct parser *ps, struct case_clause *c)
{
    size_t mark = ps->n_stack;
    struct token *t;
    for (;;) {
        t = lex_peek(ps, LEX_NO_ALIAS);
        if (t->kind != T_WORD)
            break;
        parse_push(ps, t->word);
        lex_take(ps);
        t = lex_peek(ps, LEX_NO_ALIAS);
        if (t->kind != T_PIPE)
            break;
        lex_take(ps);
    }
    bool ok = t->kind == T_RPAREN && ps->n_stack > mark;
    if (!ok)
        parse_unexpected(ps, t);
    c->patterns = (struct word **)(void *)parse_pop(ps, mark, &c->n_patterns);
    lex_take(ps);
    return ok && !ps->failed;
}

/* One clause: 1, 0 when it was the last ("esac" follows), -1 after a failure. */
static int case_clause(struct parser *ps, struct case_clause *c)
{
    struct token *t = lex_peek(ps, LEX_NO_ALIAS);
    if (t->kind == T_LPAREN)
        lex_take(ps);
    if (!case_patterns(ps, c))
        return -1;
    c->body = parse_list(ps);
    t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    if (ps->failed)
        return -1;
    if (t->kind != T_DSEMI && t->kind != T_SEMI_AMP && t->kind != T_DSEMI_AMP)
        return 0;
    c->end = t->kind == T_DSEMI ? CASE_BREAK : t->kind == T_SEMI_AMP ? CASE_FALL : CASE_NEXT;
    lex_take(ps);
    return 1;
}

static struct node *case_rest(struct parser *ps, int line)
{
    struct node *n = parse_node(ps, NODE_CASE, line);
    struct token *t = lex_peek(ps, LEX_NO_ALIAS);
    if (t->kind != T_WORD) {
        parse_unexpected(ps, t);
        return NULL;
    }
    n->case_.word = t->word;
    lex_take(ps);
    lex_newlines(ps, LEX_CMD | LEX_NO_ALIAS);
    if (!expect(ps, RES_IN))
        return NULL;
    size_t mark = ps->n_stack;
    int more = 1;
    while (more > 0) {
        t = lex_newlines(ps, LEX_NO_ALIAS);
        if (t->kind == T_WORD && t->res == RES_ESAC)
            break;
        struct case_clause *c = ARENA_NEW(ps->a, struct case_clause);
        more = case_clause(ps, c);
        parse_push(ps, c);
    }
    uint32_t count;
    struct case_clause **v = (struct case_clause **)(void *)parse_pop(ps, mark, &count);
    if (more < 0 || !expect(ps, RES_ESAC))
        return NULL;
    n->case_.n = count;
    n->case_.clauses = arena_zalloc(ps->a, (count + 1) * sizeof(struct case_clause));
    for (uint32_t i = 0; i < count; i++)
        n->case_.clauses[i] = *v[i];
    return n;
}

/* ---- groups, (( )), functions, coprocesses ---- */

static struct node *paren(struct parser *ps, int line)
{
    struct word *expr = NULL;
    size_t pos = ps->pos;
    if (lex_cur(ps) == '(') {
        ps->pos = pos - 1;
        if (parse_arith_try(ps, &expr)) {
            struct node *n = parse_node(ps, NODE_ARITH, line);
            n->arith.expr = expr;
            return n;
        }
        if (ps->failed)
            return NULL;
        ps->pos = pos;
    }
    struct node *n = parse_node(ps, NODE_SUBSHELL, line);
    n->body = list_required(ps);
    struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    if (!n->body)
        return NULL;
    if (t->kind != T_RPAREN) {
        parse_unexpected(ps, t);
        return NULL;
    }
    lex_take(ps);
    return n;
}

static struct node *brace_group(struct parser *ps, int line)
{
    struct node *n = parse_node(ps, NODE_GROUP, line);
    n->body = list_required(ps);
    return n->body && expect(ps, RES_RBRACE) ? n : NULL;
}

struct node *parse_function(struct parser *ps, struct str name, bool keyword, int line)
{
    struct node *n = parse_node(ps, NODE_FUNC, line);
    n->func.name = name;
    n->func.keyword = keyword;
    n->func.ast = ps->ast;
    struct token *t = lex_newlines(ps, LEX_CMD | LEX_ASSIGN);
    if (!parse_at_compound(t) || t->res == RES_FUNCTION || t->res == RES_COPROC) {
        parse_unexpected(ps, t);
        return NULL;
    }
    n->func.body = parse_compound(ps);
    return n->func.body ? n : NULL;
}

/* "function" was taken. */
static struct node *function_rest(struct parser *ps, int line)
{
    struct token *t = lex_peek(ps, LEX_NO_ALIAS);
    if (t->kind != T_WORD) {
        parse_unexpected(ps, t);
        return NULL;
    }
    struct str name = t->word->src;
    lex_take(ps);
    t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    /* "()" is optional; a '(' that anything else follows begins the body. */
    if (t->kind == T_LPAREN) {
        size_t pos = ps->pos;
        while (lex_at(ps, 0) == ' ' || lex_at(ps, 0) == '\t')
            lex_skip(ps, 1);
        if (lex_at(ps, 0) == ')') {
            lex_skip(ps, 1);
            lex_take(ps);
        } else {
            ps->pos = pos;
        }
    }
    return parse_function(ps, name, true, line);
}

/* "coproc" was taken. */
static struct node *coproc_rest(struct parser *ps, int line)
{
    struct node *n = parse_node(ps, NODE_COPROC, line);
    n->coproc.name = STR("COPROC");
    struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    if (parse_at_compound(t)) {
        n->coproc.body = parse_compound(ps);
        return n->coproc.body ? n : NULL;
    }
    if (t->kind == T_REDIR || (t->kind == T_WORD && t->word->assign)) {
        n->coproc.body = parse_simple(ps, NULL, line);
        return n->coproc.body ? n : NULL;
    }
    if (t->kind != T_WORD || t->res != RES_NONE) {
        parse_unexpected(ps, t);
        return NULL;
    }
    struct word *w = t->word;
    lex_take(ps);
    t = lex_peek(ps, LEX_CMD | LEX_NO_ALIAS);
    if (parse_at_compound(t)) {
        n->coproc.name = w->src;
        n->coproc.body = parse_compound(ps);
    } else {
        n->coproc.body = parse_simple(ps, w, line);
    }
    return n->coproc.body ? n : NULL;
}

struct node *parse_compound(struct parser *ps)
{
    struct token t = *lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    struct node *n = NULL;
    if (!parse_enter(ps))
        return NULL;
    lex_take(ps);
    if (t.kind == T_LPAREN)
        n = paren(ps, t.line);
    else if (t.res == RES_IF)
        n = if_rest(ps, t.line, false);
    else if (t.res == RES_WHILE || t.res == RES_UNTIL)
        n = while_rest(ps, t.line, t.res == RES_UNTIL);
    else if (t.res == RES_FOR || t.res == RES_SELECT)
        n = for_rest(ps, t.line, t.res == RES_SELECT);
    else if (t.res == RES_CASE)
        n = case_rest(ps, t.line);
    else if (t.res == RES_LBRACE)
        n = brace_group(ps, t.line);
    else if (t.res == RES_COND)
        n = parse_cond(ps, t.line);
    else if (t.res == RES_FUNCTION)
        n = function_rest(ps, t.line);
    else
        n = coproc_rest(ps, t.line);
    ps->depth--;
    if (ps->failed || !n)
        return NULL;
    /* Redirections behind a function are its body's; a coprocess's command has taken them. */
    if (n->kind != NODE_FUNC && n->kind != NODE_COPROC && !parse_redirs(ps, &n->redirs))
        return NULL;
    return n;
}
