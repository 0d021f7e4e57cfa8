/* SPDX-License-Identifier: Apache-2.0 */
/* parse_dollar - what begins with '$' or '`', but for ${…}: parameters, command substitutions, arithmetic. */
#include "shell/parse_int.h"

#include <errno.h>

#include "base/mem.h"
#include "types/limits.h"

struct param *parse_param_name(struct parser *ps, struct str name)
{
    struct param *p = ARENA_NEW(ps->a, struct param);
    if (str_eqc(name, "_")) {
        p->kind = PARAM_SPECIAL;
        p->ch = '_';
        p->name = STR("_");
        return p;
    }
    p->kind = PARAM_VAR;
    p->name = arena_str(ps->a, name);
    if (ps->sh) {
        p->sym = sym_get(ps->sh, p->name);
        if (!p->sym)
            parse_fail(ps, ps->line, SIZE_MAX, "too many variable names");
    }
    return p;
}

static struct part *new_part(struct parser *ps, enum part_kind kind)
{
    struct part *p = ARENA_NEW(ps->a, struct part);
    p->kind = kind;
    return p;
}

/* $name, $1, $@ …; the position is behind the '$'. NULL when the '$' stands for itself. */
static struct part *simple_param(struct parser *ps, bool quoted)
{
    int c = lex_cur(ps);
    struct param *param;
    if (c < 0)
        return NULL;
    size_t n = lex_ident(ps);
    const char *at = ps->in.p + ps->pos;
    if (n) {
        param = parse_param_name(ps, str_of(at, n));
    } else if (strchr("@*#?-$!0", c)) {
        n = 1;
        param = ARENA_NEW(ps->a, struct param);
        param->kind = PARAM_SPECIAL;
        param->ch = (char)c;
        param->name = arena_str(ps->a, str_of(at, 1));
    } else if (c >= '1' && c <= '9') {
        n = 1;
        param = ARENA_NEW(ps->a, struct param);
        param->kind = PARAM_POS;
        param->pos = (uint32_t)(c - '0');
        param->name = arena_str(ps->a, str_of(at, 1));
    } else {
        return NULL;
    }
    param->quoted = quoted;
    lex_skip(ps, n);
    struct part *p = new_part(ps, PART_PARAM);
    p->param = param;
    return p;
}

/* ---- arithmetic ---- */

/* Index in the sorted list of the first offset not below @at. */
static size_t memo_index(const struct parser *ps, size_t at)
{
    size_t lo = 0, hi = ps->n_memo;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (ps->memo[mid] < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool parse_memo_has(const struct parser *ps, size_t at)
{
    size_t i = memo_index(ps, at);
    return i < ps->n_memo && ps->memo[i] == at;
}

void parse_memo_add(struct parser *ps, size_t at)
{
    if (ps->n_memo == ps->cap_memo) {
        ps->cap_memo = ps->cap_memo ? ps->cap_memo * 2 : 8;
        ps->memo = mem_realloc(ps->memo, ps->cap_memo * sizeof(*ps->memo));
    }
    size_t i = memo_index(ps, at);
    memmove(ps->memo + i + 1, ps->memo + i, (ps->n_memo - i) * sizeof(*ps->memo));
    ps->memo[i] = at;
    ps->n_memo++;
}

bool parse_arith_try(struct parser *ps, struct word **ret)
{
    size_t start = ps->pos, edits = ps->n_edits;
    if (parse_memo_has(ps, start))
        return false;
    int line = ps->line;
    struct heredoc_ref **tail = ps->heredocs_tail;
    lex_skip(ps, 2);
    struct word *w = parse_word(ps, CTX_ARITH, true, 0);
    if (w && lex_at(ps, 0) < 0)
        parse_fail_eof(ps, line, ')');
    if (w && !ps->failed && lex_look(ps, 1) == ')') {
        lex_skip(ps, 2);
        *ret = w;
        return true;
    }
    if (ps->failed && (ps->failed != -EINVAL || (ps->err && ps->err->incomplete)))
        return false;
    parse_forget_failure(ps, tail);
    ps->n_edits = edits;
    ps->pos = start;
    ps->line = line;
    parse_memo_add(ps, start);
    return false;
}

static struct part *arith_part(struct parser *ps, struct word *expr)
{
    struct part *p = new_part(ps, PART_ARITH);
    p->arith = ARENA_NEW(ps->a, struct arith_part);
    p->arith->expr = expr;
    return p;
}

/* $[…]; the position is at the '['. */
static struct part *bracket_arith(struct parser *ps)
{
    int line = ps->line;
    lex_skip(ps, 1);
    struct word *w = parse_word(ps, CTX_ARITH_BRACKET, true, 0);
    if (!w)
        return NULL;
    if (lex_at(ps, 0) != ']') {
        parse_fail_eof(ps, line, ']');
        return NULL;
    }
    lex_skip(ps, 1);
    return arith_part(ps, w);
}

/* ---- command substitution ---- */

/* $(< file) reads the file without running anything. */
static struct word *cmdsub_file(const struct node *n)
{
    if (!n || n->kind != NODE_SIMPLE || n->simple.n_words || n->simple.n_assigns || !n->redirs || n->redirs->next)
        return NULL;
    const struct redir *r = n->redirs;
    return r->kind == REDIR_IN && r->fd < 0 && !r->var.n ? r->target : NULL;
}

struct cmdsub *parse_cmdsub_body(struct parser *ps, int line)
{
    if (!parse_enter(ps))
        return NULL;
    struct token tok = ps->tok;
    bool have = ps->have_tok;
    uint32_t in_word = ps->in_word;
    struct heredoc_ref *docs = ps->heredocs, **tail = ps->heredocs_tail;
    size_t start = ps->pos, alias_next = ps->alias_next;
    ps->have_tok = false;
    ps->in_word = 0;
    ps->heredocs = NULL;
    ps->heredocs_tail = &ps->heredocs;
    ps->alias_next = SIZE_MAX;
    ps->subs++;
    struct node *body = parse_list(ps);
    struct token *t = lex_peek(ps, LEX_CMD);
    if (!ps->failed && t->kind == T_EOF)
        parse_fail_eof(ps, t->line, ')');
    else if (!ps->failed && t->kind != T_RPAREN)
        parse_unexpected(ps, t);
    lex_take(ps);
    ps->subs--;
    ps->depth--;
    struct heredoc_ref *left = ps->heredocs, **left_tail = ps->heredocs_tail;
    ps->heredocs = docs;
    ps->heredocs_tail = docs ? tail : &ps->heredocs;
    if (left && !ps->failed) {
        /* Bodies that did not come before the ')' are looked for after the line. */
        lex_warn_heredocs(ps, left);
        *ps->heredocs_tail = left;
        ps->heredocs_tail = left_tail;
    }
    ps->tok = tok;
    ps->have_tok = have;
    ps->in_word = in_word;
    ps->alias_next = alias_next;
    if (ps->failed)
        return NULL;
    struct cmdsub *cs = ARENA_NEW(ps->a, struct cmdsub);
    cs->ast = ps->ast;
    cs->body = body;
    cs->line = line;
    cs->source = arena_str(ps->a, str_of(ps->in.p + start, ps->pos - 1 - start));
    cs->file = cmdsub_file(body);
    return cs;
}

/* $(…); the position is at the '('. */
static struct part *paren_cmdsub(struct parser *ps, size_t from, bool raw)
{
    size_t mark = ps->n_edits;
    int real = ps->line, line = ps->body_line ? ps->body_line : real;
    lex_skip(ps, 1);
    ps->line = line;
    struct cmdsub *cs = parse_cmdsub_body(ps, line);
    ps->line += real - line;
    if (!cs)
        return NULL;
    ps->n_edits = mark;
    /* What was tried as arithmetic first keeps its text. */
    if (!raw)
        lex_edit(ps, from, cs, STR(""));
    struct part *p = new_part(ps, PART_CMDSUB);
    p->cmd = cs;
    return p;
}

/* Collects the text up to the closing '`', with the backslashes removed that belong to the quoting. */
static bool backquote_text(struct parser *ps, bool quoted, struct buf *out)
{
    int line = ps->line;
    for (;;) {
        int c = lex_cur(ps);
        if (c < 0) {
            parse_fail_eof(ps, line, '`');
            return false;
        }
        if (c == '`') {
            lex_skip(ps, 1);
            return true;
        }
        if (c == '\\') {
            int d = lex_at(ps, 1);
            bool drop = d == '$' || d == '`' || d == '\\' || (d == '"' && quoted);
            if (!drop)
                buf_putc(out, '\\');
            lex_skip(ps, 1);
            if (d < 0)
                continue;
            c = d;
        }
        buf_putc(out, (char)c);
        if (c == '\n')
            lex_newline(ps);
        else
            lex_skip(ps, 1);
    }
}

/* Parses the text of a substitution of its own; what is wrong in it shows when it runs, as in bash. */
static void backquote_parse(struct parser *ps, struct cmdsub *cs, int line)
{
    struct parse_error err = {0};
    struct parser sub;
    parse_sub_init(&sub, ps, cs->source, line, &err);
    sub.end_line = true;
    cs->body = parse_list(&sub);
    struct token *t = lex_peek(&sub, LEX_CMD);
    if (!sub.failed && t->kind != T_EOF)
        parse_unexpected(&sub, t);
    int failed = sub.failed;
    parse_done(&sub);
    if (failed == -EINVAL) {
        cs->body = NULL;
        cs->error = ARENA_NEW(ps->a, struct parse_error);
        *cs->error = err;
    } else if (failed) {
        ps->failed = failed;
    }
    cs->file = cmdsub_file(cs->body);
}

static struct part *backquote(struct parser *ps, bool quoted)
{
    int line = ps->line;
    struct buf text BUF_AUTO;
    buf_init(&text, LIMIT_SCRIPT);
    lex_skip(ps, 1);
    if (!backquote_text(ps, quoted, &text))
        return NULL;
    if (text.err)
        ps->failed = -ENOMEM;
    struct cmdsub *cs = ARENA_NEW(ps->a, struct cmdsub);
    cs->ast = ps->ast;
    cs->backquote = true;
    cs->line = line;
    cs->source = arena_str(ps->a, buf_str(&text));
    if (!parse_enter(ps))
        return NULL;
    backquote_parse(ps, cs, ps->body_line ? ps->body_line : line);
    ps->depth--;
    struct part *p = new_part(ps, PART_CMDSUB);
    p->cmd = cs;
    return ps->failed ? NULL : p;
}

/* ---- all of it ---- */

struct part *parse_dollar(struct parser *ps, bool quoted)
{
    if (lex_at(ps, 0) == '`')
        return backquote(ps, quoted);
    size_t from = ps->pos;
    int line = ps->line;
    lex_skip(ps, 1);
    int c = lex_cur(ps);
    struct part *p = NULL;
    struct word *expr = NULL;
    if (c == '(') {
        bool twice = lex_look(ps, 1) == '(';
        if (twice && parse_arith_try(ps, &expr))
            p = arith_part(ps, expr);
        else if (!ps->failed)
            p = paren_cmdsub(ps, from, twice);
    } else if (c == '{') {
        lex_skip(ps, 1);
        p = parse_param_braced(ps, quoted, line);
    } else if (c == '[') {
        p = bracket_arith(ps);
    } else {
        p = simple_param(ps, quoted);
    }
    if (!p && !ps->failed) {
        ps->pos = from;
        ps->line = line;
    }
    return p;
}
