/* SPDX-License-Identifier: Apache-2.0 */
/* parse - the parser's life, its errors, and its entry points. */
#include "shell/parse_int.h"

#include <errno.h>

#include "base/mem.h"
#include "types/limits.h"

/* Stack that must be left to go deeper: one construct takes well below it. */
#define STACK_RESERVE 49152u

/* ---- units ---- */

static struct ast *ast_new(void)
{
    struct ast *a = mem_zalloc(sizeof(*a));
    arena_init(&a->arena);
    a->refs = 1;
    return a;
}

struct ast *ast_ref(struct ast *a)
{
    a->refs++;
    return a;
}

void ast_unref(struct ast *a)
{
    if (!a || --a->refs)
        return;
    arena_done(&a->arena);
    mem_free(a);
}

/* ---- failures ---- */

static void source_line(const struct parser *ps, size_t at, char *out, size_t cap)
{
    const char *p = ps->in.p;
    size_t from = at < ps->in.n ? at : ps->in.n;
    while (from > 0 && p[from - 1] != '\n')
        from--;
    size_t to = from;
    while (to < ps->in.n && p[to] != '\n')
        to++;
    snprintf(out, cap, "%.*s", (int)NUM_MIN(to - from, cap), p + from);
}

void parse_fail(struct parser *ps, int line, size_t at, const char *fmt, ...)
{
    if (ps->failed)
        return;
    ps->failed = -EINVAL;
    ps->fail_pos = at != SIZE_MAX ? at : ps->have_tok ? ps->tok.start : ps->pos;
    struct parse_error *e = ps->err;
    if (!e)
        return;
    *e = (struct parse_error){.line = line};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof(e->text), fmt, ap);
    va_end(ap);
    if (at != SIZE_MAX)
        source_line(ps, at, e->source, sizeof(e->source));
}

void parse_fail_eof(struct parser *ps, int line, char c)
{
    if (ps->failed)
        return;
    parse_fail(ps, line, SIZE_MAX, "unexpected EOF while looking for matching `%c'", c);
    if (ps->err)
        ps->err->incomplete = true;
}

void parse_forget_failure(struct parser *ps, struct heredoc_ref **tail)
{
    ps->failed = 0;
    if (ps->err)
        *ps->err = (struct parse_error){0};
    *tail = NULL;
    ps->heredocs_tail = tail;
    buf_clear(&ps->acc);
}

struct str parse_token_text(const struct parser *ps, const struct token *t)
{
    if (t->kind == T_NEWLINE)
        return STR("newline");
    if (t->kind == T_WORD)
        return t->word->src;
    size_t n = 0;
    const char *p = ps->in.p + t->start;
    while (t->kind == T_REDIR && t->has_fd && !t->var.n && t->start + n < t->end && p[n] >= '0' && p[n] <= '9')
        n++;
    return str_of(p, n ? n : t->end - t->start);
}

void parse_unexpected(struct parser *ps, const struct token *t)
{
    if (ps->failed)
        return;
    if (t->kind == T_EOF && ps->subs) {
        parse_fail_eof(ps, t->line, ')');
        return;
    }
    if (t->kind == T_EOF) {
        parse_fail(ps, t->line, SIZE_MAX, "syntax error: unexpected end of file");
        if (ps->err)
            ps->err->incomplete = true;
        return;
    }
    struct str s = parse_token_text(ps, t);
    struct buf shown BUF_AUTO;
    buf_init(&shown, LIMIT_SCRIPT);
    bool utf8 = ps->sh && ps->sh->utf8;
    if (t->kind == T_WORD && quote_needs_ansi(s, utf8)) {
        quote_at_q(&shown, s, utf8);
        s = buf_str(&shown);
    }
    parse_fail(ps, t->line, t->start, "syntax error near unexpected token `%.*s'", (int)NUM_MIN(s.n, 300), s.p);
}

bool parse_enter(struct parser *ps)
{
    if (ps->failed)
        return false;
    bool stack = !ps->sh || !ps->sh->p || proc_stack_left(ps->sh->p) >= STACK_RESERVE;
    if (ps->depth >= LIMIT_NESTING || !stack) {
        parse_fail(ps, ps->line, SIZE_MAX, "syntax error: commands and words are nested too deep");
        return false;
    }
    ps->depth++;
    return true;
}

/* ---- life ---- */

void parse_init(struct parser *ps, struct shell *sh, struct str text, int line)
{
    *ps = (struct parser){.sh = sh, .text = text, .line = line, .alias_next = SIZE_MAX};
    buf_init(&ps->in, LIMIT_SCRIPT);
    buf_init(&ps->more, LIMIT_SCRIPT);
    buf_init(&ps->acc, LIMIT_SCRIPT);
    ps->heredocs_tail = &ps->heredocs;
}

void parse_done(struct parser *ps)
{
    buf_done(&ps->in);
    buf_done(&ps->more);
    buf_done(&ps->acc);
    mem_free(ps->stack);
    mem_free(ps->edits);
    mem_free(ps->memo);
}

void parse_sub_init(struct parser *sub, const struct parser *parent, struct str text, int line, struct parse_error *err)
{
    parse_init(sub, parent->sh, text, line);
    sub->ast = parent->ast;
    sub->a = parent->a;
    sub->err = err;
    sub->depth = parent->depth;
    sub->check_only = parent->check_only;
}

struct parser *parser_new(struct shell *sh, struct str text, const struct parse_input *input, int line)
{
    struct parser *ps = mem_alloc(sizeof(*ps));
    parse_init(ps, sh, text, line);
    ps->end_line = true;
    ps->input = input;
    ps->echo = sh && sh->p;
    return ps;
}

void parser_check_only(struct parser *ps)
{
    ps->check_only = true;
}

void parser_free(struct parser *ps)
{
    if (!ps)
        return;
    parse_done(ps);
    mem_free(ps);
}

/* Forgets what is left of the unit; after an error also the rest of its last line. */
static void unit_reset(struct parser *ps)
{
    size_t keep = ps->pos;
    if (ps->failed) {
        size_t from = NUM_MIN(ps->fail_pos, ps->in.n);
        const char *nl = memchr(ps->in.p + from, '\n', ps->in.n - from);
        keep = nl ? NUM_MAX(keep, (size_t)(nl - ps->in.p) + 1) : ps->in.n;
    }
    for (size_t i = ps->pos; i < keep; i++)
        ps->line += ps->in.p[i] == '\n';
    size_t left = ps->in.n - keep;
    if (left)
        memmove(ps->in.p, ps->in.p + keep, left);
    if (ps->in.err)
        left = 0;
    ps->in.err = 0;
    buf_trunc(&ps->in, left);
    buf_clear(&ps->acc);
    ps->pos = 0;
    ps->failed = 0;
    ps->depth = ps->in_word = ps->subs = 0;
    ps->have_tok = false;
    ps->n_stack = ps->n_edits = ps->n_memo = 0;
    ps->n_uses = 0;
    ps->alias_next = SIZE_MAX;
    ps->heredocs = NULL;
    ps->heredocs_tail = &ps->heredocs;
}

/* Takes blank lines and comments: false at the end of input or after a failure. */
static bool skip_blank_lines(struct parser *ps)
{
    for (;;) {
        struct token *t = lex_peek(ps, LEX_CMD | LEX_ASSIGN);
        if (ps->failed || t->kind == T_EOF)
            return false;
        if (t->kind != T_NEWLINE)
            return true;
        lex_take(ps);
        /* Nothing refers to what was read, so it need not be kept. */
        unit_reset(ps);
    }
}

int parser_next(struct parser *ps, struct ast **ret, struct parse_error *ret_err)
{
    struct parse_error err = {0};
    struct ast *a = ast_new();
    ps->ast = a;
    ps->a = &a->arena;
    ps->err = &err;
    unit_reset(ps);
    int r = 0;
    if (skip_blank_lines(ps)) {
        a->root = parse__line(ps);
        if (!ps->failed)
            lex_take(ps);
        r = 1;
    }
    r = ps->failed ? ps->failed : r;
    ps->err = NULL;
    if (r == 1) {
        *ret = a;
        return 1;
    }
    ast_unref(a);
    if (r == -EINVAL)
        *ret_err = err;
    return r;
}

void parser_record(struct parser *ps)
{
    ps->recorded = true;
}

bool parser_has_crlf(const struct parser *ps)
{
    struct str in = buf_str(&ps->in), text = ps->text;
    return (in.n && memmem(in.p, in.n, "\r\n", 2)) || (text.n && memmem(text.p, text.n, "\r\n", 2));
}

struct str parser_rest(const struct parser *ps)
{
    /* Lines are taken whole, so `in` holds something that is still to come only where an alias is several lines. */
    return ps->pos < ps->in.n ? str_from(buf_str(&ps->in), ps->pos) : ps->text;
}

/* ---- pieces of text ---- */

static int parse_piece(struct shell *sh, struct ast *a, struct str text, enum word_ctx ctx, struct word **ret,
                       struct parse_error *ret_err)
{
    struct parser ps;
    parse_init(&ps, sh, text, sh ? sh->line : 1);
    ps.ast = a;
    ps.a = &a->arena;
    ps.err = ret_err;
    ps.one_word = true;
    struct word *w = parse_word(&ps, ctx, ctx >= CTX_DQUOTE, 0);
    int r = ps.failed;
    parse_done(&ps);
    if (r == 0)
        *ret = w;
    return r;
}

int parse_dquoted(struct shell *sh, struct ast *a, struct str text, struct word **ret, struct parse_error *ret_err)
{
    return parse_piece(sh, a, text, CTX_HEREDOC, ret, ret_err);
}

int parse_word_text(struct shell *sh, struct ast *a, struct str text, struct word **ret, struct parse_error *ret_err)
{
    return parse_piece(sh, a, text, CTX_TEXT, ret, ret_err);
}

int parse_array_text(struct shell *sh, struct ast *a, struct str text, struct array_elem **ret, uint32_t *ret_n,
                     struct parse_error *ret_err)
{
    struct parser ps;
    parse_init(&ps, sh, text, sh ? sh->line : 1);
    ps.ast = a;
    ps.a = &a->arena;
    ps.err = ret_err;
    ps.one_word = true;
    parse_array_elems(&ps, ret, ret_n);
    int r = ps.failed;
    parse_done(&ps);
    return r;
}

bool parse_is_reserved(struct str w)
{
    return lex_reserved(w) != RES_NONE;
}

/* ---- $'…' ---- */

static void add_utf8(struct buf *out, uint32_t c)
{
    if (c < 0x80) {
        buf_putc(out, (char)c);
    } else if (c < 0x800) {
        buf_putc(out, (char)(0xc0 | c >> 6));
        buf_putc(out, (char)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        buf_putc(out, (char)(0xe0 | c >> 12));
        buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
        buf_putc(out, (char)(0x80 | (c & 63)));
    } else if (c < 0x200000) {
        buf_putc(out, (char)(0xf0 | c >> 18));
        buf_putc(out, (char)(0x80 | (c >> 12 & 63)));
        buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
        buf_putc(out, (char)(0x80 | (c & 63)));
    }
}

/* Up to @max digits of @base at @i: their number, and the value. */
static size_t digits(struct str s, size_t i, size_t max, unsigned base, uint32_t *ret)
{
    size_t n = 0;
    *ret = 0;
    while (n < max && i + n < s.n) {
        char c = s.p[i + n];
        unsigned d = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                            : 99;
        if (d >= base)
            break;
        *ret = *ret * base + d;
        n++;
    }
    return n;
}

/* The escape whose letter is at @i, appended: the number of bytes it took, 0 when it is none. A NUL sets *ret_nul. */
static size_t ansi_escape(struct str s, size_t i, struct buf *out, bool *ret_nul)
{
    static const char from[] = "abefnrtvE\\'\"?", to[] = "\a\b\033\f\n\r\t\v\033\\'\"?";
    char c = s.p[i];
    const char *at = strchr(from, c);
    uint32_t v;
    size_t n;
    if (at && c) {
        buf_putc(out, to[at - from]);
        return 1;
    }
    if (c >= '0' && c <= '7') {
        n = digits(s, i, 3, 8, &v);
        *ret_nul = (v & 255) == 0;
        buf_putc(out, (char)v);
        return n;
    }
    if (c == 'x') {
        bool brace = i + 1 < s.n && s.p[i + 1] == '{';
        n = digits(s, i + 1 + brace, brace ? 8 : 2, 16, &v);
        if (!n && !brace)
            return 0;
        n += 1 + (size_t)brace;
        if (brace && i + n < s.n && s.p[i + n] == '}')
            n++;
        *ret_nul = (v & 255) == 0;
        buf_putc(out, (char)v);
        return n;
    }
    if (c == 'u' || c == 'U') {
        n = digits(s, i + 1, c == 'u' ? 4 : 8, 16, &v);
        if (!n)
            return 0;
        *ret_nul = v == 0;
        add_utf8(out, v);
        return n + 1;
    }
    if (c == 'c' && i + 1 < s.n) {
        /* \c\\ is control-backslash, written with both. */
        n = s.p[i + 1] == '\\' && i + 2 < s.n && s.p[i + 2] == '\\' ? 3 : 2;
        char ctl = (char)(s.p[i + 1] == '?' ? 0x7f : s.p[i + 1] & 0x1f);
        *ret_nul = ctl == 0;
        buf_putc(out, ctl);
        return n;
    }
    return 0;
}

void parse_ansi_c(struct str text, struct buf *out)
{
    size_t i = 0;
    while (i < text.n) {
        char c = text.p[i++];
        if (c != '\\' || i == text.n) {
            buf_putc(out, c);
            continue;
        }
        bool nul = false;
        size_t len = out->n;
        size_t n = ansi_escape(text, i, out, &nul);
        i += n;
        if (!n)
            buf_putc(out, '\\');
        if (nul) {
            /* A NUL ends the string, as in C. */
            buf_trunc(out, len);
            return;
        }
    }
}
