/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print - commands as text, laid out as bash's `declare -f`, `type`, `jobs` and BASH_COMMAND show them.
 *
 * There are two layouts. In a function's text each command of a list has a line of its own; elsewhere lists go on in
 * one line, and only the bodies of compound commands are indented. The bodies of here-documents wait until the next
 * place where a line may end.
 */
#include "shell/parse_int.h"

#include <errno.h>

#include "base/mem.h"

/* Stack that printing may use: a tree nested deeper is not printed (out->err is set), because what calls may be deep
 * itself. */
#define PRINT_STACK 40960

struct printer {
    struct buf *out;
    const char *entry; /* frame of the first function */
    int indent;
    bool function;             /* the layout of functions */
    bool newlines;             /* inside $(…): what ended with a newline keeps it */
    const struct redir **docs; /* here-documents whose bodies are still to be printed */
    uint32_t n_docs, cap_docs;
    bool source;       /* what is printed will be read: not as bash prints it where that says something else */
    bool no_semicolon; /* bodies were printed: bash leaves out the next ';' of a list */
};

static void print_node(struct printer *p, const struct node *n);
static void print_redirs(struct printer *p, const struct redir *r, bool space);

static bool too_deep(struct printer *p)
{
    if ((size_t)(p->entry - (const char *)__builtin_frame_address(0)) < PRINT_STACK)
        return false;
    if (!p->out->err)
        p->out->err = -ENOMEM;
    return true;
}

static char last_char(const struct printer *p)
{
    return p->out->n ? p->out->p[p->out->n - 1] : 0;
}

static void text(struct printer *p, const char *s)
{
    buf_addc(p->out, s);
}

static void new_line(struct printer *p, const char *s)
{
    buf_putc(p->out, '\n');
    for (int i = 0; i < p->indent; i++)
        buf_putc(p->out, ' ');
    text(p, s);
}

static void pad(struct printer *p)
{
    for (int i = 0; i < p->indent; i++)
        buf_putc(p->out, ' ');
}

/* ---- here-documents ---- */

static void doc_later(struct printer *p, const struct redir *r)
{
    if (p->n_docs == p->cap_docs) {
        p->cap_docs = p->cap_docs ? p->cap_docs * 2 : 4;
        p->docs = mem_realloc(p->docs, p->cap_docs * sizeof(*p->docs));
    }
    p->docs[p->n_docs++] = r;
}

/* The bodies that wait, each with its delimiter, from a new line on: false when none does. */
static bool docs_flush(struct printer *p)
{
    if (!p->n_docs)
        return false;
    text(p, "\n");
    for (uint32_t i = 0; i < p->n_docs; i++) {
        const struct redir *r = p->docs[i];
        buf_adds(p->out, r->heredoc);
        buf_adds(p->out, r->delim);
        text(p, "\n");
    }
    p->n_docs = 0;
    p->no_semicolon = true;
    return true;
}

static void semicolon(struct printer *p)
{
    docs_flush(p);
    char last = last_char(p);
    if (last != '&' && last != '\n')
        text(p, ";");
}

/* ---- words ---- */

static void print_cmdsub(struct printer *outer, const struct cmdsub *cs)
{
    struct buf *out = outer->out;
    struct printer p = {.out = out, .entry = outer->entry, .newlines = true, .source = outer->source};
    buf_putc(out, cs->direction ? cs->direction : '$');
    buf_putc(out, '(');
    size_t at = out->n;
    if (cs->body)
        print_node(&p, cs->body);
    /* "$((" would be arithmetic. */
    if (out->n > at && out->p[at] == '(' && !cs->direction)
        buf_insert(out, at, " ", 1);
    docs_flush(&p);
    buf_putc(out, ')');
    mem_free(p.docs);
}

static void print_word(struct printer *p, const struct word *w)
{
    struct buf *out = p->out;
    size_t at = 0;
    if (too_deep(p))
        return;
    for (uint32_t i = 0; i < w->n_edits; i++) {
        const struct word_edit *e = &w->edits[i];
        buf_add(out, w->src.p + at, e->from - at);
        at = e->to;
        if (e->cs) {
            print_cmdsub(p, e->cs);
        } else if (e->list) {
            buf_putc(out, '(');
            for (uint32_t k = 0; k < e->n_elems; k++) {
                if (k)
                    buf_putc(out, ' ');
                print_word(p, e->elems[k].word);
            }
            buf_putc(out, ')');
        } else {
            buf_adds(out, e->text);
        }
    }
    buf_add(out, w->src.p + at, w->src.n - at);
}

static void print_words(struct printer *p, struct word *const *v, uint32_t n, const char *sep)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            text(p, sep);
        print_word(p, v[i]);
    }
}

/* ---- redirections ---- */

static void print_fd(struct printer *p, const struct redir *r, int dflt, bool always)
{
    if (r->var.n)
        buf_addf(p->out, "{%s}", r->var.p);
    else if (always || (r->fd >= 0 && r->fd != dflt))
        buf_addi(p->out, r->fd >= 0 ? r->fd : dflt);
}

static void print_dup(struct printer *p, const struct redir *r)
{
    bool in = r->kind == REDIR_DUP_IN;
    const struct word *w = r->target;
    bool closes = str_eqc(w->src, "-"), moves = str_ends(w->src, STR("-"));
    bool number = (w->flags & WORD_LITERAL) && w->src.p[0] >= '0' && w->src.p[0] <= '9';
    print_fd(p, r, in ? 0 : 1, moves || number);
    text(p, in && !closes ? "<&" : ">&");
    print_word(p, w);
}

static void print_heredoc(struct printer *p, const struct redir *r)
{
    print_fd(p, r, 0, false);
    text(p, r->strip_tabs ? "<<-" : "<<");
    if (r->delim_quoted)
        quote_single(p->out, r->delim);
    else
        buf_adds(p->out, r->delim);
    doc_later(p, r);
}

static void print_redir(struct printer *p, const struct redir *r)
{
    static const struct {
        int dflt;
        char op[5];
    } ops[] = {
        [REDIR_IN] = {0, "< "},
        [REDIR_OUT] = {1, "> "},
        [REDIR_APPEND] = {1, ">> "},
        [REDIR_CLOBBER] = {1, ">| "},
        [REDIR_RDWR] = {1, "<> "},
        [REDIR_BOTH] = {-1, "&> "},
        [REDIR_BOTH_APPEND] = {-1, "&>> "},
        [REDIR_HERESTR] = {0, "<<< "},
    };
    if (r->kind == REDIR_DUP_IN || r->kind == REDIR_DUP_OUT) {
        print_dup(p, r);
        return;
    }
    if (r->kind == REDIR_HEREDOC) {
        print_heredoc(p, r);
        return;
    }
    if (r->kind == REDIR_RDWR && r->fd < 0 && !r->var.n)
        text(p, "0");
    else if (ops[r->kind].dflt >= 0)
        print_fd(p, r, ops[r->kind].dflt, false);
    text(p, r->from_dup ? ">&" : ops[r->kind].op);
    print_word(p, r->target);
}

static void print_redirs(struct printer *p, const struct redir *r, bool space)
{
    for (; r; r = r->next) {
        if (space)
            text(p, " ");
        print_redir(p, r);
        space = true;
    }
}

/* ---- commands ---- */

static void print_simple(struct printer *p, const struct node *n)
{
    bool any = false;
    /* A redirection in front of it is what made a reserved word a command's name: it must stay there. */
    bool first =
        n->redirs && !n->simple.n_assigns && n->simple.n_words && lex_reserved(n->simple.words[0]->src) != RES_NONE;
    if (first) {
        print_redirs(p, n->redirs, false);
        any = true;
    }
    for (uint32_t i = 0; i < n->simple.n_assigns; i++) {
        if (any)
            text(p, " ");
        print_word(p, n->simple.assigns[i]->word);
        any = true;
    }
    for (uint32_t i = 0; i < n->simple.n_words; i++) {
        if (any)
            text(p, " ");
        print_word(p, n->simple.words[i]);
        any = true;
    }
    if (!first)
        print_redirs(p, n->redirs, any);
}

/* The end of an operator such as " &&": bodies, and a blank before what follows. */
static void after_operator(struct printer *p)
{
    if (docs_flush(p))
        text(p, " ");
}

static void print_pipe(struct printer *p, const struct node *n)
{
    if (n->pipe.timed)
        text(p, n->pipe.time_posix ? "time -p " : "time ");
    if (n->pipe.negate)
        text(p, "! ");
    else if (!n->pipe.n && !n->pipe.timed)
        text(p, "! ! ");
    for (uint32_t i = 0; i < n->pipe.n; i++) {
        if (i) {
            text(p, n->pipe.err_too[i - 1] ? " 2>&1 |" : " |");
            after_operator(p);
            text(p, " ");
        }
        print_node(p, n->pipe.cmds[i]);
    }
}

static void print_seq(struct printer *p, const struct node *n)
{
    for (uint32_t i = 0; i < n->seq.n; i++) {
        const struct node *item = n->seq.items[i];
        print_node(p, item);
        if (i)
            docs_flush(p);
        if (i + 1 == n->seq.n)
            break;
        if (item->kind == NODE_BG) {
            text(p, " ");
            continue;
        }
        bool keep = p->newlines && item->newline_after;
        bool was = p->no_semicolon, docs = docs_flush(p);
        if (!docs && !keep && !(was && p->function) && last_char(p) != '\n')
            text(p, ";");
        p->no_semicolon = docs;
        if (p->function)
            new_line(p, "");
        else
            text(p, keep && last_char(p) != '\n' ? "\n" : keep ? "" : " ");
    }
}

/* An indented body; a semicolon ends it. */
static void print_body(struct printer *p, const struct node *n)
{
    p->indent += 4;
    pad(p);
    print_node(p, n);
    p->indent -= 4;
    semicolon(p);
}

static void print_group(struct printer *p, const struct node *n)
{
    if (p->function) {
        text(p, "{ \n");
        p->indent += 4;
        pad(p);
        print_node(p, n->body);
        docs_flush(p);
        p->indent -= 4;
        new_line(p, "}");
    } else {
        text(p, "{ ");
        print_node(p, n->body);
        semicolon(p);
        text(p, " }");
    }
}

static void print_if(struct printer *p, const struct node *n)
{
    text(p, "if ");
    print_node(p, n->if_.cond);
    semicolon(p);
    text(p, " then\n");
    print_body(p, n->if_.then);
    const struct node *other = n->if_.other;
    if (other) {
        new_line(p, "else\n");
        print_body(p, other);
    }
    new_line(p, "fi");
}

static void print_loop(struct printer *p, const struct node *n)
{
    text(p, n->kind == NODE_WHILE ? "while " : "until ");
    print_node(p, n->loop.cond);
    semicolon(p);
    text(p, " do\n");
    print_body(p, n->loop.body);
    new_line(p, "done");
}

static void print_for_head(struct printer *p, const struct node *n)
{
    text(p, n->kind == NODE_FOR ? "for " : "select ");
    buf_adds(p->out, n->for_.name);
    text(p, " in ");
    if (n->for_.has_in)
        print_words(p, n->for_.words, n->for_.n_words, " ");
    else
        text(p, "\"$@\"");
}

static void print_do(struct printer *p, const struct node *body)
{
    new_line(p, "do\n");
    print_body(p, body);
    new_line(p, "done");
}

static void print_for_arith(struct printer *p, const struct node *n)
{
    const struct word *const v[] = {n->for_arith.init, n->for_arith.cond, n->for_arith.step};
    text(p, "for ((");
    for (int i = 0; i < 3; i++) {
        if (i)
            text(p, "; ");
        if (v[i])
            print_word(p, v[i]);
        else
            text(p, "1");
    }
    text(p, "))");
    print_do(p, n->for_arith.body);
}

static void print_case(struct printer *p, const struct node *n)
{
    static const char *const ends[] = {[CASE_BREAK] = ";;", [CASE_FALL] = ";&", [CASE_NEXT] = ";;&"};
    text(p, "case ");
    print_word(p, n->case_.word);
    text(p, " in ");
    p->indent += 4;
    for (uint32_t i = 0; i < n->case_.n; i++) {
        const struct case_clause *c = &n->case_.clauses[i];
        new_line(p, "");
        print_words(p, c->patterns, c->n_patterns, " | ");
        text(p, ")\n");
        if (c->body) {
            p->indent += 4;
            pad(p);
            print_node(p, c->body);
            docs_flush(p);
            p->indent -= 4;
        }
        new_line(p, ends[c->end]);
    }
    p->indent -= 4;
    new_line(p, "esac");
}

static void print_cond(struct printer *p, const struct cond *c)
{
    if (too_deep(p))
        return;
    switch (c->kind) {
    case COND_AND:
    case COND_OR:
        print_cond(p, c->left);
        text(p, c->kind == COND_AND ? " && " : " || ");
        print_cond(p, c->right);
        break;
    case COND_NOT:
        text(p, "! ");
        print_cond(p, c->left);
        break;
    case COND_GROUP:
        text(p, "( ");
        print_cond(p, c->left);
        text(p, " )");
        break;
    case COND_UNARY:
        text(p, c->op);
        text(p, " ");
        print_word(p, c->a);
        break;
    case COND_WORD:
        text(p, "-n ");
        print_word(p, c->a);
        break;
    case COND_BINARY:
        print_word(p, c->a);
        text(p, " ");
        text(p, c->op);
        text(p, " ");
        print_word(p, c->b);
        break;
    }
}

/* "{ … }" around a function's body; redirections of the body stand behind it. */
static void print_function_body(struct printer *p, const struct node *body)
{
    bool was = p->function;
    p->function = true;
    text(p, "{ \n");
    p->indent += 4;
    pad(p);
    bool group = body->kind == NODE_GROUP;
    print_node(p, group ? body->body : body);
    docs_flush(p);
    p->indent -= 4;
    new_line(p, "}");
    p->function = was;
    p->no_semicolon = false;
    if (group)
        print_redirs(p, body->redirs, true);
}

static void print_func(struct printer *p, const struct node *n)
{
    text(p, "function ");
    buf_adds(p->out, n->func.name);
    text(p, " () \n");
    pad(p);
    print_function_body(p, n->func.body);
}

static void print_compound(struct printer *p, const struct node *n)
{
    switch (n->kind) {
    case NODE_GROUP:
        print_group(p, n);
        break;
    case NODE_SUBSHELL:
        text(p, "( ");
        print_node(p, n->body);
        docs_flush(p);
        /* A lone "!" or "time" needs something that ends it. */
        text(p, last_char(p) == ' ' ? "; )" : " )");
        break;
    case NODE_IF:
        print_if(p, n);
        break;
    case NODE_WHILE:
    case NODE_UNTIL:
        print_loop(p, n);
        break;
    case NODE_FOR:
    case NODE_SELECT:
        print_for_head(p, n);
        text(p, ";");
        print_do(p, n->for_.body);
        break;
    case NODE_FOR_ARITH:
        print_for_arith(p, n);
        break;
    case NODE_CASE:
        print_case(p, n);
        break;
    case NODE_COND:
        text(p, "[[ ");
        print_cond(p, n->cond);
        text(p, " ]]");
        break;
    case NODE_ARITH:
        text(p, "((");
        print_word(p, n->arith.expr);
        text(p, "))");
        break;
    case NODE_SIMPLE:
    case NODE_PIPE:
    case NODE_AND:
    case NODE_OR:
    case NODE_SEQ:
    case NODE_BG:
    case NODE_FUNC:
    case NODE_COPROC:
        break;
    }
    print_redirs(p, n->redirs, true);
}

static void print_node(struct printer *p, const struct node *n)
{
    if (too_deep(p))
        return;
    switch (n->kind) {
    case NODE_SIMPLE:
        print_simple(p, n);
        break;
    case NODE_PIPE:
        print_pipe(p, n);
        break;
    case NODE_AND:
    case NODE_OR:
        print_node(p, n->pair.left);
        text(p, n->kind == NODE_AND ? " && " : " || ");
        after_operator(p);
        print_node(p, n->pair.right);
        break;
    case NODE_SEQ:
        print_seq(p, n);
        break;
    case NODE_BG:
        print_node(p, n->body);
        text(p, " &");
        after_operator(p);
        break;
    case NODE_FUNC:
        print_func(p, n);
        break;
    case NODE_COPROC:
        text(p, "coproc ");
        /* A simple command takes no name: it would be its first word. */
        if (!p->source || n->coproc.body->kind != NODE_SIMPLE) {
            buf_adds(p->out, n->coproc.name);
            text(p, " ");
        }
        print_node(p, n->coproc.body);
        break;
    case NODE_GROUP:
    case NODE_SUBSHELL:
    case NODE_IF:
    case NODE_WHILE:
    case NODE_UNTIL:
    case NODE_FOR:
    case NODE_FOR_ARITH:
    case NODE_SELECT:
    case NODE_CASE:
    case NODE_COND:
    case NODE_ARITH:
        print_compound(p, n);
        break;
    }
}

void ast_print_word(struct buf *out, const struct word *w)
{
    struct printer p = {.out = out, .entry = __builtin_frame_address(0)};
    print_word(&p, w);
}

void ast_print_node(struct buf *out, const struct node *n, int indent)
{
    struct printer p = {.out = out, .entry = __builtin_frame_address(0), .indent = indent, .function = true};
    print_node(&p, n);
    docs_flush(&p);
    mem_free(p.docs);
}

void ast_print_source(struct buf *out, const struct node *body)
{
    struct printer p = {.out = out, .entry = __builtin_frame_address(0), .function = true, .source = true};
    print_node(&p, body);
    docs_flush(&p);
    mem_free(p.docs);
}

void ast_print_function(struct buf *out, struct str name, const struct node *body)
{
    struct printer p = {.out = out, .entry = __builtin_frame_address(0)};
    buf_adds(out, name);
    buf_addc(out, " () \n");
    print_function_body(&p, body);
    docs_flush(&p);
    buf_putc(out, '\n');
    mem_free(p.docs);
}

void ast_print_oneline(struct buf *out, const struct node *n)
{
    struct printer p = {.out = out, .entry = __builtin_frame_address(0)};
    print_node(&p, n);
    docs_flush(&p);
    mem_free(p.docs);
}

void ast_print_head(struct buf *out, const struct node *n)
{
    struct printer p = {.out = out, .entry = __builtin_frame_address(0)};
    if (n->kind == NODE_FOR || n->kind == NODE_SELECT) {
        print_for_head(&p, n);
    } else if (n->kind == NODE_CASE) {
        buf_addc(out, "case ");
        print_word(&p, n->case_.word);
        buf_addc(out, " in ");
    } else {
        ast_print_oneline(out, n);
    }
}
