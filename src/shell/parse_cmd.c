/* SPDX-License-Identifier: Apache-2.0 */
/* parse_cmd - lists, pipelines, simple commands and redirections: bash(1) SHELL GRAMMAR. */
#include "shell/parse_int.h"

#include <errno.h>

#include "base/mem.h"

struct node *parse_node(struct parser *ps, enum node_kind kind, int line)
{
    struct node *n = ARENA_NEW(ps->a, struct node);
    n->kind = kind;
    n->line = line;
    return n;
}

void parse_push(struct parser *ps, void *p)
{
    if (ps->n_stack == ps->cap_stack) {
        ps->cap_stack = ps->cap_stack ? ps->cap_stack * 2 : 32;
        ps->stack = mem_realloc(ps->stack, ps->cap_stack * sizeof(*ps->stack));
    }
    ps->stack[ps->n_stack++] = p;
}

void **parse_pop(struct parser *ps, size_t mark, uint32_t *ret_n)
{
    size_t n = ps->n_stack - mark;
    void **v = NULL;
    if (n) {
        v = arena_alloc(ps->a, n * sizeof(*v));
        memcpy(v, ps->stack + mark, n * sizeof(*v));
    }
    ps->n_stack = mark;
    *ret_n = (uint32_t)n;
    return v;
}

/* ---- redirections ---- */

static bool dup_target(struct str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return s.n && (n == s.n || (n + 1 == s.n && s.p[n] == '-'));
}

/* The delimiter of a here-document without its quotes. */
static struct str heredoc_delim(struct parser *ps, const struct word *w)
{
    struct buf out BUF_AUTO;
    buf_init(&out, w->src.n);
    char quote = 0;
    for (size_t i = 0; i < w->src.n; i++) {
        char c = w->src.p[i];
        if (quote ? c == quote : c == '\'' || c == '"') {
            quote = quote ? 0 : c;
        } else if (c == '\\' && quote != '\'' && i + 1 < w->src.n && (!quote || strchr("$`\"\\", w->src.p[i + 1]))) {
            buf_putc(&out, w->src.p[++i]);
        } else {
            buf_putc(&out, c);
        }
    }
    return arena_str(ps->a, buf_str(&out));
}

bool parse_redir(struct parser *ps, struct redir ***tail)
{
    struct token op = *lex_peek(ps, 0);
    lex_take(ps);
    struct token *t = lex_peek(ps, LEX_NO_ALIAS);
    if (t->kind != T_WORD) {
        parse_unexpected(ps, t);
        return false;
    }
    struct word *w = t->word;
    lex_take(ps);
    struct redir *r = ARENA_NEW(ps->a, struct redir);
    r->kind = op.redir;
    r->fd = op.has_fd ? op.fd : -1;
    r->var = op.var;
    r->line = op.line;
    if (op.redir == REDIR_HEREDOC) {
        r->strip_tabs = op.strip;
        r->delim_quoted = (w->flags & WORD_QUOTED) != 0;
        r->delim = r->delim_quoted ? heredoc_delim(ps, w) : w->src;
        /* The tabs go from the lines before they are compared, so the delimiter's would never match. */
        while (r->strip_tabs && r->delim.n && r->delim.p[0] == '\t')
            r->delim = str_from(r->delim, 1);
        lex_want_heredoc(ps, r);
    } else {
        r->target = w;
        if (op.redir == REDIR_DUP_OUT && !op.has_fd && !(w->parts && w->parts->next) && (w->flags & WORD_NOSPLIT) &&
            w->parts->kind != PART_DQUOTE && !dup_target(w->parts->text)) {
            r->kind = REDIR_BOTH;
            r->from_dup = true;
        }
    }
    **tail = r;
    *tail = &r->next;
    return true;
}

bool parse_redirs(struct parser *ps, struct redir **ret)
{
    struct redir *first = NULL, **tail = &first;
    while (lex_peek(ps, LEX_NO_ALIAS)->kind == T_REDIR) {
        if (!parse_redir(ps, &tail))
            return false;
    }
    *ret = first;
    return true;
}

/* ---- simple commands ---- */

/* What NAME=(…) is among the arguments of a command. */
enum lists { LISTS_NONE, LISTS_ASSIGN, LISTS_TEXT };

static enum lists takes_lists(const struct word *w)
{
    static const char *const names[] = {"eval", "alias", "let", "declare", "export", "local", "readonly", "typeset"};
    if (!(w->flags & WORD_LITERAL))
        return LISTS_NONE;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (str_eqc(w->parts->text, names[i]))
            return i < 3 ? LISTS_TEXT : LISTS_ASSIGN;
    }
    return LISTS_NONE;
}

/* NAME=(…) that nobody assigns is a word like others, whatever stands between the parentheses. */
static void list_as_text(struct parser *ps, struct word *w)
{
    struct parser sub;
    struct str list = w->assign->raw_list;
    char *text = arena_printf(ps->a, "(%.*s)", (int)list.n, list.p);
    parse_sub_init(&sub, ps, str_c(text), w->line, ps->err);
    sub.one_word = true;
    struct word *t = parse_word(&sub, CTX_TEXT, false, 0);
    if (t) {
        struct part **tail = &w->parts;
        while (*tail)
            tail = &(*tail)->next;
        *tail = t->parts;
        w->flags = (uint16_t)((w->flags | t->flags) & ~(WORD_LITERAL | WORD_NOSPLIT));
        w->assign = NULL;
    }
    ps->failed = ps->failed ? ps->failed : sub.failed;
    parse_done(&sub);
}

/* Splits the pushed words into those that assign (before the command's name, or all with set -k) and the rest. */
static void simple_words(struct parser *ps, struct node *n, size_t mark, size_t n_assigns)
{
    struct word **v = (struct word **)(void *)parse_pop(ps, mark, &n->simple.n_words);
    n->simple.words = v;
    if (!n_assigns)
        return;
    n->simple.assigns = arena_alloc(ps->a, n_assigns * sizeof(*n->simple.assigns));
    uint32_t words = 0;
    bool keyword = ps->sh && sh_opt(ps->sh, OPT_KEYWORD), begun = false;
    for (uint32_t i = 0; i < n->simple.n_words; i++) {
        if (v[i]->assign && (!begun || keyword)) {
            n->simple.assigns[n->simple.n_assigns++] = v[i]->assign;
        } else {
            begun = true;
            v[words++] = v[i];
        }
    }
    n->simple.n_words = words;
}

struct node *parse_simple(struct parser *ps, struct word *first, int line)
{
    struct node *n = parse_node(ps, NODE_SIMPLE, line);
    struct redir **tail = &n->redirs;
    size_t mark = ps->n_stack, n_assigns = 0;
    bool keyword = ps->sh && sh_opt(ps->sh, OPT_KEYWORD);
    int flags = LEX_CMD | LEX_ASSIGN;
    struct word *w = first;
    enum lists lists = LISTS_NONE;
    for (uint32_t elems = 0;; elems++) {
        if (!w) {
            struct token *t = lex_peek(ps, flags);
            /* As bash counts: a command is on the line where its second word ends. */
            if (elems == 1 && (t->kind == T_REDIR || t->kind == T_WORD))
                n->line = ps->line;
            if (t->kind == T_REDIR) {
                if (!parse_redir(ps, &tail))
                    break;
                continue;
            }
            if (t->kind != T_WORD)
                break;
            w = t->word;
            lex_take(ps);
        }
        parse_push(ps, w);
        bool command = !(flags & LEX_CMD);
        if (w->assign && (!command || keyword)) {
            n_assigns++;
        } else if (!command) {
            lists = takes_lists(w);
            flags = lists ? LEX_ASSIGN_ARG : 0;
        } else if (lists == LISTS_TEXT && w->assign && w->assign->is_array) {
            list_as_text(ps, w);
        }
        w = NULL;
    }
    simple_words(ps, n, mark, n_assigns);
    return ps->failed ? NULL : n;
}

/* A simple command, or "name ()" and a function's body. */
static struct node *simple_or_function(struct parser *ps)
{
    struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    int line = t->line;
    if (t->kind == T_REDIR || (t->kind == T_WORD && t->word->assign))
        return parse_simple(ps, NULL, line);
    if (t->kind != T_WORD) {
        parse_unexpected(ps, t);
        return NULL;
    }
    struct word *w = t->word;
    lex_take(ps);
    t = lex_peek(ps, takes_lists(w) ? LEX_ASSIGN_ARG : 0);
    if (t->kind != T_LPAREN)
        return parse_simple(ps, w, line);
    /* A subscript takes blanks into a word, but no name has them. */
    if ((w->flags & WORD_GLOB) && str_find(w->src, ' ', 0) >= 0) {
        parse_unexpected(ps, t);
        return NULL;
    }
    lex_take(ps);
    t = lex_peek(ps, LEX_NO_ALIAS);
    if (t->kind != T_RPAREN) {
        parse_unexpected(ps, t);
        return NULL;
    }
    lex_take(ps);
    return parse_function(ps, w->src, false, line);
}

struct node *parse_command(struct parser *ps)
{
    if (!parse_enter(ps))
        return NULL;
    struct node *n = NULL;
    struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    if (parse_at_compound(t))
        n = parse_compound(ps);
    else if (t->kind == T_WORD && t->res != RES_NONE && t->res != RES_COND_END && t->res != RES_TIME)
        parse_unexpected(ps, t);
    else
        n = simple_or_function(ps);
    ps->depth--;
    return ps->failed ? NULL : n;
}

/* ---- pipelines ---- */

/* ! and time in front of a pipeline. */
static bool pipe_prefix(struct parser *ps, struct node *n)
{
    for (bool any = false;; any = true) {
        struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
        if (t->kind != T_WORD || (t->res != RES_BANG && t->res != RES_TIME))
            return any;
        if (t->res == RES_BANG) {
            n->pipe.negate = !n->pipe.negate;
            lex_take(ps);
            continue;
        }
        /* POSIX: "time" followed by an option is the command. */
        while (lex_at(ps, 0) == ' ' || lex_at(ps, 0) == '\t')
            lex_skip(ps, 1);
        if (ps->sh && sh_opt(ps->sh, OPT_POSIX) && lex_at(ps, 0) == '-')
            return any;
        n->pipe.timed = true;
        lex_take(ps);
        t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
        if (t->kind == T_WORD && str_eqc(t->word->src, "-p")) {
            n->pipe.time_posix = true;
            lex_take(ps);
            t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
        }
        if (t->kind == T_WORD && str_eqc(t->word->src, "--")) {
            n->pipe.time_posix = true; /* as bash has it, with and without -p */
            lex_take(ps);
        }
    }
}

static bool ends_pipeline(const struct token *t)
{
    return t->kind == T_NEWLINE || t->kind == T_SEMI || t->kind == T_EOF;
}

/* The commands behind @first, which a | follows. */
static bool pipe_commands(struct parser *ps, struct node *n, struct node *first)
{
    size_t mark = ps->n_stack;
    struct buf both BUF_AUTO;
    buf_init(&both, SIZE_MAX / 2);
    parse_push(ps, first);
    struct token *t = lex_peek(ps, 0);
    while (t->kind == T_PIPE || t->kind == T_PIPE_AMP) {
        buf_putc(&both, t->kind == T_PIPE_AMP);
        lex_take(ps);
        lex_newlines(ps, LEX_CMD | LEX_ASSIGN);
        struct node *c = parse_command(ps);
        if (!c)
            break;
        parse_push(ps, c);
        t = lex_peek(ps, 0);
    }
    n->pipe.cmds = (struct node **)(void *)parse_pop(ps, mark, &n->pipe.n);
    n->pipe.err_too = arena_zalloc(ps->a, n->pipe.n * sizeof(bool));
    for (size_t i = 0; i < both.n && i < n->pipe.n; i++)
        n->pipe.err_too[i] = both.p[i] != 0;
    return !ps->failed;
}

static struct node *parse_pipeline(struct parser *ps)
{
    struct node head = {.kind = NODE_PIPE};
    bool prefixed = pipe_prefix(ps, &head);
    struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
    int line = t->line;
    struct node *first = NULL;
    if (!prefixed || !ends_pipeline(t)) {
        first = parse_command(ps);
        if (!first)
            return NULL;
        t = lex_peek(ps, 0);
        if (!prefixed && t->kind != T_PIPE && t->kind != T_PIPE_AMP)
            return first;
    }
    struct node *n = parse_node(ps, NODE_PIPE, line);
    *n = head;
    n->line = line;
    if (first && !pipe_commands(ps, n, first))
        return NULL;
    return n;
}

struct node *parse_and_or(struct parser *ps)
{
    struct node *left = parse_pipeline(ps);
    while (left) {
        struct token *t = lex_peek(ps, 0);
        if (t->kind != T_AND_AND && t->kind != T_OR_OR)
            break;
        struct node *n = parse_node(ps, t->kind == T_AND_AND ? NODE_AND : NODE_OR, left->line);
        lex_take(ps);
        t = lex_newlines(ps, LEX_CMD | LEX_ASSIGN);
        n->pair.left = left;
        n->pair.right = parse_pipeline(ps);
        left = n->pair.right ? n : NULL;
    }
    return left;
}

/* ---- lists ---- */

/* Whether the peeked token cannot begin a command but may follow a list: the list ends here. */
static bool ends_list(const struct token *t)
{
    switch (t->kind) {
    case T_EOF:
    case T_RPAREN:
    case T_DSEMI:
    case T_SEMI_AMP:
    case T_DSEMI_AMP:
        return true;
    case T_WORD:
        return t->res == RES_THEN || t->res == RES_ELSE || t->res == RES_ELIF || t->res == RES_FI || t->res == RES_DO ||
               t->res == RES_DONE || t->res == RES_ESAC || t->res == RES_RBRACE;
    case T_NEWLINE:
    case T_SEMI:
    case T_AMP:
    case T_AND_AND:
    case T_OR_OR:
    case T_PIPE:
    case T_PIPE_AMP:
    case T_LPAREN:
    case T_REDIR:
        break;
    }
    return false;
}

static struct node *list_node(struct parser *ps, size_t mark)
{
    uint32_t n;
    struct node **items = (struct node **)(void *)parse_pop(ps, mark, &n);
    if (ps->failed || n == 0)
        return NULL;
    if (n == 1)
        return items[0];
    struct node *seq = parse_node(ps, NODE_SEQ, items[0]->line);
    seq->seq.items = items;
    seq->seq.n = n;
    return seq;
}

/* One and-or list, put in the background when '&' follows. False: a failure. *ret_more: a separator was taken. */
static bool list_item(struct parser *ps, bool newline_too, bool *ret_more)
{
    struct node *n = parse_and_or(ps);
    if (!n)
        return false;
    struct token *t = lex_peek(ps, 0);
    *ret_more = true;
    if (t->kind == T_AMP) {
        struct node *bg = parse_node(ps, NODE_BG, n->line);
        bg->body = n;
        n = bg;
        lex_take(ps);
    } else if (t->kind == T_SEMI || (newline_too && t->kind == T_NEWLINE)) {
        n->newline_after = t->kind == T_NEWLINE;
        lex_take(ps);
    } else {
        *ret_more = false;
    }
    parse_push(ps, n);
    return true;
}

struct node *parse_list(struct parser *ps)
{
    size_t mark = ps->n_stack;
    bool more = true;
    while (more) {
        struct token *t = lex_newlines(ps, LEX_CMD | LEX_ASSIGN);
        if (ends_list(t) || !list_item(ps, true, &more))
            break;
    }
    return list_node(ps, mark);
}

struct node *parse__line(struct parser *ps)
{
    size_t mark = ps->n_stack;
    bool more = true;
    while (more) {
        struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
        if (t->kind == T_NEWLINE || t->kind == T_EOF || !list_item(ps, false, &more))
            break;
    }
    struct token *t = lex_peek(ps, 0);
    if (!ps->failed && t->kind != T_NEWLINE && t->kind != T_EOF)
        parse_unexpected(ps, t);
    return list_node(ps, mark);
}
