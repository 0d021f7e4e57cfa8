/* SPDX-License-Identifier: Apache-2.0 */
/* parse_word - words: quoting, and where expansions begin and end. What stands after a '$' is in parse_dollar.c. */
#include "shell/parse_int.h"

#include <errno.h>

#include "base/mem.h"
#include "types/limits.h"

enum {
    K_META = 1,  /* ends a word */
    K_QUOTE = 2, /* \ ' " ` $ */
    K_GLOB = 4,  /* characters whose presence sets a flag, or that end some context */
    K_DQ = 8,    /* what a double-quoted context looks at */
};

static const uint8_t klass[256] = {
    [' '] = K_META,         ['\t'] = K_META,         ['\n'] = K_META | K_DQ,
    ['&'] = K_META,         [';'] = K_META | K_DQ,   ['|'] = K_META,
    ['<'] = K_META,         ['>'] = K_META,          ['('] = K_META | K_DQ,
    [')'] = K_META | K_DQ,  ['\\'] = K_QUOTE | K_DQ, ['\''] = K_QUOTE | K_DQ,
    ['"'] = K_QUOTE | K_DQ, ['`'] = K_QUOTE | K_DQ,  ['$'] = K_QUOTE | K_DQ,
    ['*'] = K_GLOB,         ['?'] = K_GLOB | K_DQ,   ['['] = K_GLOB | K_DQ,
    [']'] = K_GLOB | K_DQ,  ['{'] = K_GLOB,          ['}'] = K_GLOB | K_DQ,
    [','] = K_GLOB,         ['.'] = K_GLOB,          ['~'] = K_GLOB,
    ['='] = K_GLOB,         ['/'] = K_GLOB,          [':'] = K_DQ,
};

struct builder {
    struct part *head, **tail;
    enum part_kind kind; /* of what is in ps->acc */
    bool any;            /* acc counts even when it is empty: '' */
    bool lbracket, lbrace, comma, equals;
    uint16_t flags;
    int depth;   /* open ( of an extglob pattern or regular expression; of an arithmetic expression */
    int sub;     /* open [ of a subscript */
    int ternary; /* open ? of an offset */
    bool quote;  /* inside " of an arithmetic expression, or ' of the operand of "${x-…}" */
    int quote_line;
    struct array_elem *elems;
    uint32_t n_elems;
    bool list; /* a NAME=(…) was read */
    struct str raw_list;
};

static void flush(struct parser *ps, struct builder *b)
{
    if (!ps->acc.n && !b->any)
        return;
    struct part *p = ARENA_NEW(ps->a, struct part);
    p->kind = b->kind;
    p->text = arena_str(ps->a, buf_str(&ps->acc));
    *b->tail = p;
    b->tail = &p->next;
    buf_clear(&ps->acc);
    b->any = false;
}

static void add(struct parser *ps, struct builder *b, enum part_kind kind, const char *p, size_t n)
{
    if (b->kind != kind) {
        flush(ps, b);
        b->kind = kind;
    }
    if (buf_add(&ps->acc, p, n) != 0)
        ps->failed = -ENOMEM;
}

static void add_part(struct parser *ps, struct builder *b, struct part *p)
{
    flush(ps, b);
    *b->tail = p;
    b->tail = &p->next;
}

static void add_char(struct parser *ps, struct builder *b, int c)
{
    char ch = (char)c;
    add(ps, b, PART_LIT, &ch, 1);
    if (c == '\n')
        lex_newline(ps);
    else
        lex_skip(ps, 1);
}

/* The last character of unquoted text right before the position, or 0. */
static char last_lit(const struct parser *ps, const struct builder *b)
{
    return b->kind == PART_LIT && ps->acc.n ? ps->acc.p[ps->acc.n - 1] : 0;
}

/* ---- quotes ---- */

static void single_quote(struct parser *ps, struct builder *b)
{
    int line = ps->line;
    lex_skip(ps, 1);
    add(ps, b, PART_QUOTED, "", 0);
    b->any = true;
    for (;;) {
        if (lex_at(ps, 0) < 0) {
            parse_fail_eof(ps, line, '\'');
            return;
        }
        const char *p = ps->in.p + ps->pos;
        size_t left = ps->in.n - ps->pos;
        const char *q = memchr(p, '\'', left);
        size_t n = q ? (size_t)(q - p) : left;
        add(ps, b, PART_QUOTED, p, n);
        for (const char *nl = p; (nl = memchr(nl, '\n', (size_t)(p + n - nl))) != NULL; nl++)
            ps->line++;
        ps->pos += n + (q != NULL);
        if (q || ps->failed)
            return;
    }
}

/* $'…'; the position is at the quote. */
static void ansi_quote(struct parser *ps, struct builder *b, enum part_kind kind)
{
    int line = ps->line;
    size_t from = ps->pos - 1;
    lex_skip(ps, 1);
    size_t start = ps->pos;
    int c;
    while ((c = lex_at(ps, 0)) != '\'') {
        if (c == '\\' && lex_at(ps, 1) >= 0) {
            lex_skip(ps, 1);
            c = lex_at(ps, 0);
        }
        if (c < 0) {
            parse_fail_eof(ps, line, '\'');
            return;
        }
        if (c == '\n')
            lex_newline(ps);
        else
            lex_skip(ps, 1);
    }
    struct buf text BUF_AUTO, shown BUF_AUTO;
    buf_init(&text, LIMIT_SCRIPT);
    buf_init(&shown, LIMIT_SCRIPT);
    parse_ansi_c(str_of(ps->in.p + start, ps->pos - start), &text);
    lex_skip(ps, 1);
    add(ps, b, kind, text.p, text.n);
    b->any = b->any || kind == PART_QUOTED;
    if (kind == PART_LIT)
        buf_adds(&shown, buf_str(&text));
    else if (str_eqc(buf_str(&text), "'"))
        buf_addc(&shown, "\\'");
    else
        quote_single(&shown, buf_str(&text));
    lex_edit(ps, from, NULL, arena_str(ps->a, buf_str(&shown)));
    if (text.err || shown.err)
        ps->failed = -ENOMEM;
}

static void quoted_parts(struct parser *ps, enum word_ctx ctx, bool quoted, struct builder *b);

void parse_tell_around(struct parser *ps, struct part *parts, struct str text)
{
    for (; parts; parts = parts->next)
        if (parts->kind == PART_PARAM && parts->param->bad_form && !parts->param->around.n)
            parts->param->around = arena_str(ps->a, text);
}

/* "…" as @ctx says; the position is at the quote. */
static void double_quote(struct parser *ps, enum word_ctx ctx, struct builder *b)
{
    int line = ps->line;
    lex_skip(ps, 1);
    size_t start = ps->pos;
    flush(ps, b);
    struct builder in = {.tail = &in.head, .kind = PART_LIT};
    if (!parse_enter(ps))
        return;
    quoted_parts(ps, ctx, true, &in);
    flush(ps, &in);
    ps->depth--;
    if (ps->failed)
        return;
    if (lex_at(ps, 0) != '"') {
        parse_fail_eof(ps, line, '"');
        return;
    }
    parse_tell_around(ps, in.head, str_of(ps->in.p + start, ps->pos - start));
    lex_skip(ps, 1);
    struct part *p = ARENA_NEW(ps->a, struct part);
    p->kind = PART_DQUOTE;
    p->parts = in.head;
    add_part(ps, b, p);
}

static void backslash(struct parser *ps, struct builder *b)
{
    int c = lex_at(ps, 1);
    if (c < 0) {
        add_char(ps, b, '\\');
        return;
    }
    char ch = (char)c;
    add(ps, b, PART_QUOTED, &ch, 1);
    lex_skip(ps, 2);
}

/* At one of \ ' " ` $ outside double quotes. */
static void plain_quote(struct parser *ps, struct builder *b, int c)
{
    if (c == '\\') {
        backslash(ps, b);
        return;
    }
    if (c == '\'') {
        single_quote(ps, b);
        return;
    }
    if (c == '"') {
        double_quote(ps, CTX_DQUOTE, b);
        return;
    }
    if (c == '$' && (lex_look(ps, 1) == '\'' || lex_look(ps, 1) == '"')) {
        size_t from = ps->pos;
        lex_skip(ps, 1);
        if (lex_at(ps, 0) == '\'') {
            ansi_quote(ps, b, PART_QUOTED);
        } else {
            lex_edit(ps, from, NULL, STR(""));
            double_quote(ps, CTX_DQUOTE, b);
        }
        return;
    }
    flush(ps, b);
    struct part *p = parse_dollar(ps, false);
    if (p)
        add_part(ps, b, p);
    else if (!ps->failed)
        add_char(ps, b, c);
}

/* ---- unquoted contexts ---- */

static void process_sub(struct parser *ps, struct builder *b)
{
    flush(ps, b);
    size_t from = ps->pos, mark = ps->n_edits;
    char direction = ps->in.p[ps->pos];
    int line = ps->line;
    lex_skip(ps, 2);
    struct cmdsub *cs = parse_cmdsub_body(ps, line);
    if (!cs)
        return;
    cs->direction = direction;
    cs->file = NULL;
    ps->n_edits = mark;
    lex_edit(ps, from, cs, STR(""));
    struct part *p = ARENA_NEW(ps->a, struct part);
    p->kind = PART_PROCSUB;
    p->cmd = cs;
    add_part(ps, b, p);
}

/* Whether what was read so far can be the left side of NAME=(…). */
static bool list_may_follow(const struct parser *ps, const struct builder *b)
{
    struct str first = b->head ? b->head->text : buf_str(&ps->acc);
    if ((b->head && b->head->kind != PART_LIT) || b->kind != PART_LIT)
        return false;
    size_t n = parse_ident(first);
    if (!n)
        return false;
    struct str last = buf_str(&ps->acc);
    if (last.n && last.p[last.n - 1] == '+')
        last.n--;
    if (!b->head && last.n == n)
        return true;
    return n < first.n && first.p[n] == '[' && last.n && last.p[last.n - 1] == ']';
}

/* At the '=' of NAME=(…): true when the list is all of the value; else the position is at the '('. */
static bool array_list(struct parser *ps, struct builder *b)
{
    add_char(ps, b, '=');
    lex_skip(ps, 1);
    flush(ps, b);
    size_t start = ps->pos, mark = ps->n_edits;
    int line = ps->line;
    if (!parse_array_elems(ps, &b->elems, &b->n_elems))
        return false;
    int c = lex_cur(ps);
    if (c >= 0 && !(klass[c] & K_META)) {
        /* a=(x)y is a scalar. Noted, so that nested ones are read again once and not once for every level above. */
        parse_memo_add(ps, start - 1);
        ps->pos = start - 1;
        ps->line = line;
        ps->n_edits = mark;
        return false;
    }
    b->list = true;
    ps->n_edits = mark;
    lex_edit(ps, start - 1, NULL, STR(""));
    ps->edits[mark].list = true;
    ps->edits[mark].elems = b->elems;
    ps->edits[mark].n_elems = b->n_elems;
    b->raw_list = arena_str(ps->a, str_of(ps->in.p + start, ps->pos - 1 - start));
    return true;
}

/* What a character with K_GLOB says about the word. */
static void note_glob(const struct parser *ps, struct builder *b, int c)
{
    char prev = last_lit(ps, b);
    switch (c) {
    case '*':
    case '?':
        b->flags |= WORD_GLOB;
        break;
    case '[':
        b->lbracket = true;
        break;
    case ']':
        if (b->lbracket)
            b->flags |= WORD_GLOB;
        break;
    case '{':
        b->lbrace = true;
        break;
    case ',':
        b->comma = b->comma || b->lbrace;
        break;
    case '.':
        b->comma = b->comma || (b->lbrace && prev == '.');
        break;
    case '}':
        if (b->comma)
            b->flags |= WORD_BRACE;
        break;
    case '~':
        if ((!b->head && !ps->acc.n && !b->any) || prev == ':' || prev == '=')
            b->flags |= WORD_TILDE;
        break;
    case '=':
        b->equals = true;
        break;
    default:
        break;
    }
}

/* A metacharacter in a word of the command line: true when it ends the word. */
static bool meta_in_word(struct parser *ps, struct builder *b, int c, enum word_ctx ctx, int lex)
{
    if (b->sub) {
        add_char(ps, b, c);
        return false;
    }
    if ((c == '<' || c == '>') && lex_look(ps, 1) == '(' && !b->depth) {
        process_sub(ps, b);
        return false;
    }
    if (c == '(') {
        char prev = last_lit(ps, b);
        bool ext = prev && strchr("?*+@!", prev) && ((lex & LEX_PATTERN) || lex_extglob(ps));
        if (b->depth || ext || ctx == CTX_REGEX) {
            b->flags |= WORD_GLOB;
            b->depth++;
            add_char(ps, b, c);
            return false;
        }
        return true;
    }
    if (b->depth) {
        b->depth -= c == ')';
        add_char(ps, b, c);
        return false;
    }
    if (ctx == CTX_REGEX && c == '|') {
        add_char(ps, b, c);
        return false;
    }
    return true;
}

/* A character that is special only to some contexts, or to patterns: true when it ends the word. */
static bool glob_in_word(struct parser *ps, struct builder *b, int c, enum word_ctx ctx, int lex)
{
    if ((ctx == CTX_BRACE || ctx == CTX_SLASH) && c == '}')
        return true;
    if (ctx == CTX_SLASH && c == '/' && !((lex & LEX_ELEM) && !b->head && !ps->acc.n && !b->any))
        return true;
    if (ctx == CTX_SUBSCRIPT) {
        if (c == ']' && !b->sub)
            return true;
        b->sub += c == '[' ? 1 : c == ']' ? -1 : 0;
    } else if (b->sub) {
        b->sub += c == '[' ? 1 : c == ']' ? -1 : 0;
    } else if (c == '[' && (lex & LEX_ELEM) && !b->head && !ps->acc.n && !b->any) {
        b->sub = 1;
    } else if (c == '[' && (lex & LEX_ASSIGN) && ctx == CTX_WORD && !b->head && b->kind == PART_LIT && ps->acc.n &&
               parse_ident(buf_str(&ps->acc)) == ps->acc.n) {
        b->sub = 1;
    } else if (c == '=' && ctx == CTX_WORD && !b->depth && lex_look(ps, 1) == '(' &&
               (lex & (LEX_ASSIGN | LEX_ASSIGN_ARG)) && list_may_follow(ps, b)) {
        b->equals = true;
        if (!parse_memo_has(ps, ps->pos + 1) && array_list(ps, b))
            return true;
        if (ps->failed)
            return true;
        if (lex_cur(ps) == '=')
            add_char(ps, b, '=');
        b->depth++;
        add_char(ps, b, '(');
        return false;
    }
    note_glob(ps, b, c);
    add_char(ps, b, c);
    return false;
}

static void plain_parts(struct parser *ps, enum word_ctx ctx, int lex, struct builder *b)
{
    int line = ps->line;
    while (!ps->failed) {
        const char *p = ps->in.p;
        size_t i = ps->pos;
        while (i < ps->in.n && !klass[(unsigned char)p[i]])
            i++;
        if (i > ps->pos) {
            add(ps, b, PART_LIT, p + ps->pos, i - ps->pos);
            ps->pos = i;
        }
        int c = lex_cur(ps);
        if (c < 0) {
            if (b->depth || b->sub)
                parse_fail_eof(ps, line, b->depth ? ')' : ']');
            return;
        }
        unsigned k = klass[c];
        if (k & K_QUOTE) {
            plain_quote(ps, b, c);
        } else if (k & K_GLOB) {
            if (glob_in_word(ps, b, c, ctx, lex))
                return;
        } else if ((k & K_META) && (ctx == CTX_WORD || ctx == CTX_REGEX)) {
            if (meta_in_word(ps, b, c, ctx, lex))
                return;
        } else if ((c == '<' || c == '>') && (ctx == CTX_BRACE || ctx == CTX_TEXT) && lex_at(ps, 1) == '(') {
            process_sub(ps, b);
        } else {
            add_char(ps, b, c);
        }
    }
}

/* ---- contexts like double quotes ---- */

static void quoted_backslash(struct parser *ps, enum word_ctx ctx, struct builder *b)
{
    int c = lex_at(ps, 1);
    bool drop = c == '$' || c == '`' || c == '\\' || (c == '"' && ctx != CTX_HEREDOC) ||
                (c == '}' && ctx == CTX_BRACE_DQ) || (c >= 0 && ctx == CTX_DQUOTE_INNER);
    if (drop) {
        lex_skip(ps, 1);
        add_char(ps, b, c);
        return;
    }
    add_char(ps, b, '\\');
    if (c == '\'' && ctx == CTX_BRACE_DQ)
        add_char(ps, b, c);
}

/* A character of NAME[…] in an arithmetic expression, where quotes are what they are in a word, so that a key can be
 * any text: what they keep gets backslashes, which the evaluation takes away. False: as outside of it. */
static bool subscript_char(struct parser *ps, struct builder *b, int c)
{
    int d = lex_at(ps, 1);
    if ((c == '[' || c == ']') && !b->quote) {
        b->sub += c == '[' ? 1 : -1;
        add_char(ps, b, c);
        return true;
    }
    if (c == '\\' && d >= 0 && d != '\n' && (!b->quote || strchr("$`\"\\", d))) {
        add_char(ps, b, c);
        add_char(ps, b, d);
        return true;
    }
    if (b->quote && strchr("[]'\\", c)) {
        add(ps, b, PART_LIT, "\\", 1);
        add_char(ps, b, c);
        return true;
    }
    const char *p = ps->in.p + ps->pos + 1, *q = c == '\'' ? memchr(p, c, ps->in.n - ps->pos - 1) : NULL;
    if (!q || memchr(p, '\n', (size_t)(q - p)))
        return false;
    size_t n = (size_t)(q - p);
    if (strcspn(p, SUBSCRIPT_SPECIAL) >=
        n) { /* the quotes are part of an index, which is wrong then, but not of a key */
        add(ps, b, PART_LIT, p - 1, n + 2);
        p = q;
    }
    for (; p < q; p++) {
        if (strchr(SUBSCRIPT_SPECIAL, *p))
            add(ps, b, PART_LIT, "\\", 1);
        add(ps, b, PART_LIT, p, 1);
    }
    ps->pos = (size_t)(q + 1 - ps->in.p);
    return true;
}

static bool in_subscript(const struct parser *ps, const struct builder *b, enum word_ctx ctx, int c)
{
    char last = last_lit(ps, b);
    bool name =
        (last >= 'a' && last <= 'z') || (last >= 'A' && last <= 'Z') || last == '_' || (last >= '0' && last <= '9');
    return b->sub || (c == '[' && name && !b->quote && (ctx == CTX_ARITH || ctx == CTX_ARITH_FOR || ctx == CTX_OFFSET));
}

/* Whether @c, which is not a quoting character, ends @ctx; counts what nests. */
static bool quoted_ends(enum word_ctx ctx, struct builder *b, int c)
{
    if (b->quote)
        return false;
    bool arith = ctx == CTX_ARITH || ctx == CTX_ARITH_FOR || ctx == CTX_OFFSET;
    if (c == '(' && arith)
        b->depth++;
    if (c == '[' && ctx == CTX_ARITH_BRACKET)
        b->depth++;
    if ((c == ')' && arith) || (c == ']' && ctx == CTX_ARITH_BRACKET)) {
        if (b->depth == 0)
            return ctx != CTX_OFFSET;
        b->depth--;
        return false;
    }
    if (c == '}')
        return ctx == CTX_BRACE_DQ || ctx == CTX_OFFSET;
    if (c == ';')
        return ctx == CTX_ARITH_FOR && b->depth == 0;
    if (ctx == CTX_OFFSET && c == '?')
        b->ternary++;
    if (ctx == CTX_OFFSET && c == ':' && b->depth == 0) {
        if (!b->ternary)
            return true;
        b->ternary--;
    }
    return false;
}

/* At a '"' in a context like double quotes: true when it ends it. */
static bool quoted_quote(struct parser *ps, enum word_ctx ctx, struct builder *b)
{
    if (ctx == CTX_DQUOTE || ctx == CTX_DQUOTE_INNER)
        return true;
    if (ctx == CTX_HEREDOC) {
        add_char(ps, b, '"');
    } else if (ctx == CTX_BRACE_DQ && b->quote) {
        lex_skip(ps, 1);
    } else if (ctx == CTX_BRACE_DQ) {
        double_quote(ps, CTX_DQUOTE_INNER, b);
    } else {
        b->quote = !b->quote;
        lex_skip(ps, 1);
    }
    return false;
}

static void quoted_parts(struct parser *ps, enum word_ctx ctx, bool quoted, struct builder *b)
{
    while (!ps->failed) {
        const char *p = ps->in.p;
        size_t i = ps->pos;
        while (i < ps->in.n && !(klass[(unsigned char)p[i]] & K_DQ))
            i++;
        if (i > ps->pos) {
            add(ps, b, PART_LIT, p + ps->pos, i - ps->pos);
            ps->pos = i;
        }
        int c = lex_cur(ps);
        if (c < 0) {
            if (b->quote && ctx == CTX_BRACE_DQ)
                parse_fail_eof(ps, b->quote_line, '\'');
            return;
        }
        if (in_subscript(ps, b, ctx, c) && subscript_char(ps, b, c))
            continue;
        if (c == '\\') {
            quoted_backslash(ps, ctx, b);
        } else if (c == '\'') {
            if (ctx == CTX_BRACE_DQ && !(ps->sh && sh_opt(ps->sh, OPT_POSIX))) {
                b->quote = !b->quote;
                b->quote_line = ps->line;
            }
            add_char(ps, b, c);
        } else if (c == '"') {
            if (quoted_quote(ps, ctx, b))
                return;
        } else if (c == '$' && ctx == CTX_BRACE_DQ && lex_at(ps, 1) == '\'') {
            lex_skip(ps, 1);
            ansi_quote(ps, b, PART_LIT);
        } else if (c == '$' && ctx == CTX_BRACE_DQ && lex_at(ps, 1) == '"') {
            lex_skip(ps, 1);
            double_quote(ps, CTX_DQUOTE, b);
        } else if (c == '$' || c == '`') {
            flush(ps, b);
            /* In a here-document \" is no escape of the backquotes' own: there are no double quotes around them. */
            struct part *part = parse_dollar(ps, quoted && !(c == '`' && ctx == CTX_HEREDOC));
            if (part)
                add_part(ps, b, part);
            else if (!ps->failed)
                add_char(ps, b, c);
        } else {
            if (quoted_ends(ctx, b, c))
                return;
            add_char(ps, b, c);
        }
    }
}

/* ---- whole words ---- */

/* True when the parameter can give several fields even inside double quotes. */
static bool dquote_one_field(const struct part *p);

static bool param_many(const struct param *p)
{
    return p->indirect || p->all == '@' || (p->kind == PARAM_SPECIAL && p->ch == '@') || p->op == OP_NAMES ||
           p->op == OP_KEYS || (p->arg && !dquote_one_field(p->arg->parts));
}

static bool dquote_one_field(const struct part *p)
{
    for (; p; p = p->next) {
        if (p->kind == PART_PARAM && param_many(p->param))
            return false;
        if (p->kind == PART_DQUOTE && !dquote_one_field(p->parts))
            return false;
    }
    return true;
}

static void word_flags(struct word *w, const struct builder *b)
{
    w->flags |= b->flags;
    bool nosplit = true;
    for (const struct part *p = w->parts; p; p = p->next) {
        if (p->kind == PART_QUOTED || p->kind == PART_DQUOTE)
            w->flags |= WORD_QUOTED;
        if (p->kind == PART_DQUOTE ? !dquote_one_field(p->parts) : p->kind != PART_LIT && p->kind != PART_QUOTED)
            nosplit = false;
    }
    bool special = (w->flags & (WORD_BRACE | WORD_GLOB)) != 0;
    if (nosplit && !special && w->parts)
        w->flags |= WORD_NOSPLIT;
    if (w->parts && !w->parts->next && w->parts->kind == PART_LIT && !special && !(w->flags & WORD_TILDE))
        w->flags |= WORD_LITERAL;
}

void parse_word_simple_flags(struct word *w)
{
    w->flags = WORD_NOSPLIT;
    if (w->parts && !w->parts->next && w->parts->kind == PART_LIT)
        w->flags |= WORD_LITERAL;
    for (const struct part *p = w->parts; p; p = p->next) {
        if (p->kind == PART_QUOTED || p->kind == PART_DQUOTE)
            w->flags |= WORD_QUOTED;
    }
}

static void word_source(struct parser *ps, struct word *w, size_t start, size_t mark)
{
    if ((w->flags & WORD_LITERAL) && ps->n_edits == mark && w->parts->text.n == ps->pos - start) {
        w->src = w->parts->text;
        return;
    }
    w->src = arena_str(ps->a, str_of(ps->in.p + start, ps->pos - start));
    size_t n = ps->n_edits - mark;
    if (!n)
        return;
    w->n_edits = (uint32_t)n;
    w->edits = arena_alloc(ps->a, n * sizeof(*w->edits));
    for (size_t i = 0; i < n; i++) {
        w->edits[i] = ps->edits[mark + i];
        w->edits[i].from -= start;
        w->edits[i].to -= start;
    }
}

struct word *parse_word(struct parser *ps, enum word_ctx ctx, bool quoted, int lex)
{
    struct builder b = {.tail = &b.head, .kind = PART_LIT};
    size_t start = ps->pos, mark = ps->n_edits;
    struct word *w = ARENA_NEW(ps->a, struct word);
    w->arena = ps->a;
    w->line = ps->line;
    ps->in_word++;
    if (parse_enter(ps)) {
        if (ctx >= CTX_DQUOTE)
            quoted_parts(ps, ctx, quoted, &b);
        else
            plain_parts(ps, ctx, lex, &b);
        ps->depth--;
    }
    ps->in_word--;
    if (ps->failed) {
        buf_clear(&ps->acc);
        return NULL;
    }
    flush(ps, &b);
    w->parts = b.head;
    if (ctx >= CTX_DQUOTE)
        parse_tell_around(ps, w->parts, str_of(ps->in.p + start, ps->pos - start));
    if (ctx >= CTX_DQUOTE || ctx == CTX_SUBSCRIPT)
        parse_word_simple_flags(w);
    else
        word_flags(w, &b);
    word_source(ps, w, start, mark);
    if (ps->in_word == 0)
        ps->n_edits = mark;
    if (b.equals && ctx == CTX_WORD && !(lex & LEX_ELEM)) /* x=~ is no assignment there */
        parse_word_assign(ps, w);
    if (w->assign && b.list) {
        w->assign->is_array = true;
        w->assign->elems = b.elems;
        w->assign->n_elems = b.n_elems;
        w->assign->raw_list = b.raw_list;
    }
    return w;
}

bool parse_word_opt(struct parser *ps, enum word_ctx ctx, bool quoted, struct word **ret)
{
    struct word *w = parse_word(ps, ctx, quoted, 0);
    if (!w)
        return false;
    *ret = w->parts ? w : NULL;
    return true;
}

/* ---- assignments ---- */

size_t parse_ident(struct str s)
{
    size_t n = 0;
    while (n < s.n) {
        unsigned char c = (unsigned char)s.p[n];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(n && c >= '0' && c <= '9'))
            break;
        n++;
    }
    return n;
}

/* The ']' that closes the '[' at @at of @p: its part, and offset in *ret_at. */
static struct part *subscript_end(struct part *p, size_t at, size_t *ret_at)
{
    int depth = 0;
    for (; p; p = p->next, at = 0) {
        for (; p->kind == PART_LIT && at < p->text.n; at++) {
            depth += p->text.p[at] == '[' ? 1 : p->text.p[at] == ']' ? -1 : 0;
            if (depth == 0) {
                *ret_at = at;
                return p;
            }
        }
    }
    return NULL;
}

static struct part *lit_part(struct parser *ps, struct str text)
{
    struct part *p = ARENA_NEW(ps->a, struct part);
    p->kind = PART_LIT;
    p->text = text;
    return p;
}

/* The word between offset @from of @first and offset @to of @last. */
static struct word *subscript_word(struct parser *ps, const struct part *first, size_t from, const struct part *last,
                                   size_t to, int line)
{
    struct word *w = ARENA_NEW(ps->a, struct word);
    w->arena = ps->a;
    struct part **tail = &w->parts;
    w->line = line;
    for (const struct part *p = first;; p = p->next) {
        struct part *c = ARENA_NEW(ps->a, struct part);
        *c = *p;
        c->next = NULL;
        if (p == first || p == last) {
            size_t lo = p == first ? from : 0;
            size_t hi = p == last ? to : p->text.n;
            c->text = arena_str(ps->a, str_of(p->text.p + lo, hi - lo));
        }
        if (c->kind != PART_LIT || c->text.n) {
            *tail = c;
            tail = &c->next;
        }
        if (p == last)
            break;
    }
    parse_word_simple_flags(w);
    if (w->flags & WORD_LITERAL)
        w->src = w->parts->text;
    return w;
}

/* What follows offset @at of @q as a value, which is not split: NULL when empty. */
static struct word *value_word(struct parser *ps, struct part *q, size_t at, int line)
{
    struct str rest = str_from(q->text, at);
    struct part *parts = q->next;
    if (rest.n) {
        parts = lit_part(ps, rest);
        parts->next = q->next;
    }
    if (!parts)
        return NULL;
    struct word *v = ARENA_NEW(ps->a, struct word);
    v->arena = ps->a;
    v->line = line;
    v->parts = parts;
    parse_word_simple_flags(v);
    char prev = ':';
    for (const struct part *p = parts; p; p = p->next) {
        for (size_t i = 0; p->kind == PART_LIT && i < p->text.n; i++) {
            if (p->text.p[i] == '~' && prev == ':')
                v->flags = (v->flags & ~WORD_LITERAL) | WORD_TILDE;
            prev = p->text.p[i];
        }
        if (p->kind != PART_LIT)
            prev = 0;
    }
    if (v->flags & WORD_LITERAL)
        v->src = parts->text;
    return v;
}

void parse_word_assign(struct parser *ps, struct word *w)
{
    struct part *p = w->parts, *q = p;
    if (!p || p->kind != PART_LIT)
        return;
    size_t n = parse_ident(p->text), at = n;
    if (!n || n == p->text.n)
        return;
    if (p->text.p[n] == '[') {
        q = subscript_end(p, n, &at);
        if (!q)
            return;
        at++;
    }
    bool append = at + 1 < q->text.n && q->text.p[at] == '+' && q->text.p[at + 1] == '=';
    if (!append && !(at < q->text.n && q->text.p[at] == '='))
        return;
    struct assign *as = ARENA_NEW(ps->a, struct assign);
    as->name = arena_str(ps->a, str_of(p->text.p, n));
    as->line = w->line;
    as->word = w;
    as->append = append;
    if (ps->sh) {
        as->sym = sym_get(ps->sh, as->name);
        if (!as->sym)
            parse_fail(ps, ps->line, SIZE_MAX, "too many variable names");
    }
    if (p->text.p[n] == '[')
        as->subscript = subscript_word(ps, p, n + 1, q, at - 1, w->line);
    as->value = value_word(ps, q, at + 1 + append, w->line);
    if (as->value && !as->subscript)
        parse_tell_around(ps, as->value->parts, str_from(w->src, n + 1 + append));
    w->assign = as;
}

/* ---- array lists ---- */

/* One element: a word, or [key]=value, [key]+=value. */
static bool array_elem(struct parser *ps, struct array_elem *e)
{
    struct word *w = parse_word(ps, CTX_WORD, false, LEX_ELEM);
    if (!w)
        return false;
    e->value = e->word = w;
    struct part *p = w->parts;
    size_t at;
    if (!p || p->kind != PART_LIT || p->text.p[0] != '[')
        return true;
    struct part *q = subscript_end(p, 0, &at);
    if (!q)
        return true;
    struct str rest = str_from(q->text, at + 1);
    if (!str_starts(rest, STR("=")) && !str_starts(rest, STR("+=")))
        return true;
    e->append = rest.p[0] == '+';
    e->key = subscript_word(ps, p, 1, q, at, w->line);
    e->value = value_word(ps, q, at + 2 + e->append, w->line);
    return true;
}

/* Blanks, newlines and comments between elements. */
static int elem_gap(struct parser *ps)
{
    for (;;) {
        int c = lex_cur(ps);
        if (c == ' ' || c == '\t') {
            lex_skip(ps, 1);
        } else if (c == '\n') {
            lex_newline(ps);
        } else if (c == '#') {
            while ((c = lex_at(ps, 0)) >= 0 && c != '\n')
                lex_skip(ps, 1);
        } else {
            return c;
        }
    }
}

bool parse_array_elems(struct parser *ps, struct array_elem **ret, uint32_t *ret_n)
{
    size_t mark = ps->n_stack;
    int line = ps->line;
    bool ok = false;
    while (!ps->failed) {
        int c = elem_gap(ps);
        if (c < 0 && ps->one_word) {
            ok = true;
            break;
        }
        if (c < 0) {
            parse_fail_eof(ps, line, ')');
            break;
        }
        if (c == ')' && !ps->one_word) {
            lex_skip(ps, 1);
            ok = true;
            break;
        }
        if ((klass[c] & K_META) && !((c == '<' || c == '>') && lex_at(ps, 1) == '(')) {
            struct token t = {.start = ps->pos, .line = ps->line};
            bool twice = c != '(' && c != ')' && lex_at(ps, 1) == c;
            parse_fail(ps, t.line, t.start, "syntax error near unexpected token `%.*s'", twice ? 2 : 1,
                       ps->in.p + ps->pos);
            break;
        }
        struct array_elem *e = ARENA_NEW(ps->a, struct array_elem);
        if (!array_elem(ps, e))
            break;
        parse_push(ps, e);
    }
    if (ps->failed && ps->err)
        ps->err->discard = true;
    uint32_t n = 0;
    void **v = parse_pop(ps, mark, &n);
    if (!ok || ps->failed)
        return false;
    *ret_n = n;
    *ret = n ? arena_alloc(ps->a, n * sizeof(**ret)) : NULL;
    for (uint32_t i = 0; i < n; i++)
        (*ret)[i] = *(struct array_elem *)v[i];
    return true;
}
