/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/parse_int.h"

#include <errno.h>
#include <limits.h>

#include "base/mem.h"
#include "shell/history_int.h"
#include "types/limits.h"

/* ---- input ---- */

/* A line that goes into the history, and may be changed by an expansion of it; one that is not to be run leaves its
 * newline. */
static bool take_recorded(struct parser *ps, struct str line)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_SCRIPT);
    bool nl = line.n && line.p[line.n - 1] == '\n';
    line.n -= nl;
    int at = ps->sh->line;
    ps->sh->line = ps->line;
    if (!sh_history_take(ps->sh, line, buf_str(&ps->in), ps->in_document, &out))
        ps->line--; /* bash does not count it */
    ps->sh->line = at;
    for (size_t i = 0; i < out.n; i++)
        if (out.p[i])
            buf_putc(&ps->in, out.p[i]);
    if (nl || !out.n)
        buf_putc(&ps->in, '\n');
    if (out.err || ps->in.err)
        ps->failed = -ENOMEM;
    return !ps->failed;
}

/* Takes one line of the text given; NUL bytes are dropped, as bash does with scripts. */
static bool take_line(struct parser *ps)
{
    const char *nl = memchr(ps->text.p, '\n', ps->text.n);
    struct str line = str_of(ps->text.p, nl ? (size_t)(nl - ps->text.p) + 1 : ps->text.n);
    ps->text = str_from(ps->text, line.n);
    if (ps->echo && sh_opt(ps->sh, OPT_VERBOSE)) {
        sh_write_fd(ps->sh, 2, line);
        if (!nl)
            sh_write_fd(ps->sh, 2, STR("\n"));
    }
    if (ps->recorded && sh_opt(ps->sh, OPT_HISTORY))
        return take_recorded(ps, line);
    while (line.n) {
        const char *nul = memchr(line.p, 0, line.n);
        size_t n = nul ? (size_t)(nul - line.p) : line.n;
        if (buf_add(&ps->in, line.p, n) != 0) {
            ps->failed = -ENOMEM;
            return false;
        }
        line = str_from(line, nul ? n + 1 : n);
    }
    return true;
}

/* A last line that has no newline gets one; but a backslash that ends it stands for itself. */
static bool end_last_line(struct parser *ps)
{
    if (!ps->in.n || ps->in.p[ps->in.n - 1] == '\n' || ps->in.p[ps->in.n - 1] == '\\')
        return false;
    if (buf_putc(&ps->in, '\n') != 0)
        ps->failed = -ENOMEM;
    return true;
}

bool lex_fill(struct parser *ps)
{
    if (ps->eof || ps->failed)
        return false;
    if (ps->sh && ps->sh->p && proc_poll(ps->sh->p) != 0) {
        ps->failed = -EINTR;
        return false;
    }
    if (!ps->text.n) {
        int r = 0;
        if (ps->input && ps->input->more) {
            buf_clear(&ps->more);
            r = ps->input->more(ps->input->more_arg, &ps->more, ps->in.n > 0);
        }
        if (r < 0)
            ps->failed = r;
        if (r <= 0) {
            ps->eof = true;
            return r == 0 && ps->end_line && end_last_line(ps);
        }
        ps->text = buf_str(&ps->more);
        if (!ps->text.n)
            return lex_fill(ps);
    }
    return take_line(ps);
}

void lex_edit(struct parser *ps, size_t from, struct cmdsub *cs, struct str text)
{
    if (!ps->in_word)
        return;
    if (ps->n_edits == ps->cap_edits) {
        ps->cap_edits = ps->cap_edits ? ps->cap_edits * 2 : 16;
        ps->edits = mem_realloc(ps->edits, ps->cap_edits * sizeof(*ps->edits));
    }
    ps->edits[ps->n_edits++] = (struct word_edit){.from = from, .to = ps->pos, .cs = cs, .text = text};
}

int lex_join(struct parser *ps, size_t ahead)
{
    size_t at = ps->pos + ahead;
    while (lex_at(ps, ahead) == '\\' && lex_at(ps, ahead + 1) == '\n') {
        memmove(ps->in.p + at, ps->in.p + at + 2, ps->in.n - at - 2);
        buf_trunc(&ps->in, ps->in.n - 2);
        ps->line++;
        for (uint32_t i = 0; i < ps->n_uses; i++)
            ps->uses[i].end -= ps->uses[i].end > at ? 2 : 0;
    }
    return lex_at(ps, ahead);
}

size_t lex_ident(struct parser *ps)
{
    size_t n = 0;
    for (;; n++) {
        int c = lex_look(ps, n);
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(n && c >= '0' && c <= '9'))
            return n;
    }
}

bool lex_extglob(const struct parser *ps)
{
    return ps->sh && sh_shopt(ps->sh, SHOPT_EXTGLOB);
}

/* ---- here-documents ---- */

#define HEREDOCS_MOST 16 /* that wait at a time; more end the shell, as in bash */

void lex_want_heredoc(struct parser *ps, struct redir *r)
{
    int n = 0;
    for (const struct heredoc_ref *h = ps->heredocs; h; h = h->next)
        n++;
    if (n >= HEREDOCS_MOST) {
        parse_fail(ps, ps->line, SIZE_MAX, "maximum here-document count exceeded");
        if (ps->err)
            ps->err->fatal = true;
        return;
    }
    struct heredoc_ref *h = ARENA_NEW(ps->a, struct heredoc_ref);
    h->r = r;
    h->line = ps->line;
    *ps->heredocs_tail = h;
    ps->heredocs_tail = &h->next;
}

static void warn(struct parser *ps, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void warn(struct parser *ps, int line, const char *fmt, ...)
{
    if (!ps->sh || !ps->sh->p || ps->check_only)
        return;
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    int saved = ps->sh->line;
    ps->sh->line = line;
    sh_error(ps->sh, "warning: %s", text);
    ps->sh->line = saved;
}

/* Appends one line of a body to @out, lines joined by a backslash being one when @join: false at the end of input. */
static bool heredoc_line(struct parser *ps, bool join, struct buf *out)
{
    bool any = false;
    for (;;) {
        ps->in_document = true;
        int c = lex_at(ps, 0);
        ps->in_document = false;
        if (c < 0)
            break;
        any = true;
        const char *p = ps->in.p + ps->pos;
        size_t left = ps->in.n - ps->pos;
        const char *nl = memchr(p, '\n', left);
        size_t n = nl ? (size_t)(nl - p) : left;
        size_t slashes = 0;
        while (join && slashes < n && p[n - 1 - slashes] == '\\')
            slashes++;
        bool joined = nl && (slashes & 1);
        buf_add(out, p, joined ? n - 1 : n);
        ps->pos += n;
        if (nl)
            lex_newline(ps);
        if (joined)
            continue;
        if (nl)
            buf_putc(out, '\n');
        break;
    }
    return any;
}

/* Whether @line is the delimiter's; inside $(…) the closing parenthesis may stand behind it (*ret_rest bytes are given
 * back). */
static bool heredoc_ends(const struct parser *ps, struct str line, const struct redir *r, size_t *ret_rest)
{
    *ret_rest = 0;
    if (!str_starts(line, r->delim))
        return false;
    struct str rest = str_from(line, r->delim.n);
    if (rest.n == 0 || str_eqc(rest, "\n"))
        return true;
    if (!ps->subs || str_find(rest, ')', 0) < 0)
        return false;
    *ret_rest = rest.n;
    return true;
}

void lex_warn_heredocs(struct parser *ps, const struct heredoc_ref *left)
{
    int n = 0;
    for (; left; left = left->next)
        n++;
    warn(ps, ps->line, "command substitution: %d unterminated here-document%s", n, n == 1 ? "" : "s");
}

static struct word *heredoc_word(struct parser *ps, const struct redir *r, struct str body, int line, int operator_line)
{
    bool special = false;
    for (size_t i = 0; i < body.n && !r->delim_quoted && !special; i++)
        special = body.p[i] == '$' || body.p[i] == '`' || body.p[i] == '\\';
    if (!special) {
        struct word *w = ARENA_NEW(ps->a, struct word);
        w->arena = ps->a;
        w->line = line;
        w->flags = WORD_LITERAL | WORD_NOSPLIT;
        w->src = body;
        w->parts = ARENA_NEW(ps->a, struct part);
        w->parts->kind = PART_LIT;
        w->parts->text = body;
        return w;
    }
    struct parse_error err = {0};
    struct parser sub;
    parse_sub_init(&sub, ps, body, line, &err);
    sub.body_line = operator_line;
    struct word *w = parse_word(&sub, CTX_HEREDOC, true, 0);
    int failed = sub.failed;
    parse_done(&sub);
    if (!failed)
        return w;
    if (failed != -EINVAL) {
        ps->failed = failed;
        return NULL;
    }
    /* What is wrong in a body shows when it is expanded. */
    w = ARENA_NEW(ps->a, struct word);
    w->arena = ps->a;
    w->line = line;
    w->parts = ARENA_NEW(ps->a, struct part);
    w->parts->kind = PART_CMDSUB;
    w->parts->cmd = ARENA_NEW(ps->a, struct cmdsub);
    w->parts->cmd->ast = ps->ast;
    w->parts->cmd->error = ARENA_NEW(ps->a, struct parse_error);
    *w->parts->cmd->error = err;
    return w;
}

static void read_heredoc(struct parser *ps, struct redir *r, int operator_line)
{
    struct buf body BUF_AUTO, line BUF_AUTO;
    buf_init(&body, LIMIT_SCRIPT);
    buf_init(&line, LIMIT_SCRIPT);
    int first = ps->line;
    int start = first > 1 ? first - 1 : first;
    for (;;) {
        size_t rest;
        buf_clear(&line);
        if (!heredoc_line(ps, !r->delim_quoted, &line)) {
            int last = ps->in.n && ps->in.p[ps->in.n - 1] == '\n' ? ps->line - 1 : ps->line;
            if (!ps->failed && ps->check_only)
                parse_fail_eof(ps, start, '<');
            if (!ps->failed)
                warn(ps, last, "here-document at line %d delimited by end-of-file (wanted `%.*s')", start,
                     (int)NUM_MIN(r->delim.n, 200), r->delim.p);
            break;
        }
        struct str l = buf_str(&line);
        while (r->strip_tabs && l.n && l.p[0] == '\t')
            l = str_from(l, 1);
        if (heredoc_ends(ps, l, r, &rest)) {
            if (rest) {
                if (l.p[l.n - 1] == '\n')
                    ps->line--;
                ps->pos -= rest;
                warn(ps, ps->line, "here-document at line %d delimited by end-of-file (wanted `%.*s')", start,
                     (int)NUM_MIN(r->delim.n, 200), r->delim.p);
            }
            break;
        }
        buf_adds(&body, l);
    }
    if (body.err || line.err) {
        ps->failed = -ENOMEM;
        return;
    }
    r->heredoc = arena_str(ps->a, buf_str(&body));
    r->target = heredoc_word(ps, r, r->heredoc, first, operator_line);
}

void lex_heredocs(struct parser *ps)
{
    while (ps->heredocs && !ps->failed) {
        const struct heredoc_ref *h = ps->heredocs;
        ps->heredocs = h->next;
        read_heredoc(ps, h->r, h->line);
    }
    ps->heredocs = NULL;
    ps->heredocs_tail = &ps->heredocs;
}

/* ---- reserved words ---- */

enum reserved lex_reserved(struct str s)
{
    static const struct {
        char text[9];
        uint8_t res;
    } words[] = {
        {"!", RES_BANG},
        {"{", RES_LBRACE},
        {"}", RES_RBRACE},
        {"if", RES_IF},
        {"fi", RES_FI},
        {"do", RES_DO},
        {"in", RES_IN},
        {"[[", RES_COND},
        {"]]", RES_COND_END},
        {"for", RES_FOR},
        {"then", RES_THEN},
        {"else", RES_ELSE},
        {"elif", RES_ELIF},
        {"done", RES_DONE},
        {"case", RES_CASE},
        {"esac", RES_ESAC},
        {"time", RES_TIME},
        {"while", RES_WHILE},
        {"until", RES_UNTIL},
        {"select", RES_SELECT},
        {"coproc", RES_COPROC},
        {"", RES_NONE},
        {"function", RES_FUNCTION},
    };
    static const uint8_t first[] = {0, 0, 3, 9, 10, 17, 19, 21, 22, 23};
    if (s.n == 0 || s.n > 8)
        return RES_NONE;
    for (unsigned i = first[s.n]; i < first[s.n + 1]; i++) {
        if (words[i].text[0] == s.p[0] && memcmp(words[i].text, s.p, s.n) == 0)
            return (enum reserved)words[i].res;
    }
    return RES_NONE;
}

/* ---- tokens ---- */

static void skip_blanks(struct parser *ps)
{
    for (;;) {
        int c = lex_cur(ps);
        if (c == ' ' || c == '\t') {
            lex_skip(ps, 1);
        } else if (c == '#' && (!ps->sh || !ps->sh->interactive || sh_shopt(ps->sh, SHOPT_INTERACTIVE_COMMENTS))) {
            const char *nl = memchr(ps->in.p + ps->pos, '\n', ps->in.n - ps->pos);
            ps->pos = nl ? (size_t)(nl - ps->in.p) : ps->in.n;
        } else {
            return;
        }
    }
}

/* Steps over one more character of an operator if it is @c. */
static bool op_more(struct parser *ps, char c)
{
    if (lex_cur(ps) != c)
        return false;
    lex_skip(ps, 1);
    return true;
}

static void lex_redir_op(struct parser *ps, struct token *t)
{
    bool in = lex_at(ps, 0) == '<';
    t->kind = T_REDIR;
    lex_skip(ps, 1);
    if (in) {
        if (op_more(ps, '<')) {
            t->redir = op_more(ps, '<') ? REDIR_HERESTR : REDIR_HEREDOC;
            t->strip = t->redir == REDIR_HEREDOC && op_more(ps, '-');
        } else {
            t->redir = op_more(ps, '&') ? REDIR_DUP_IN : op_more(ps, '>') ? REDIR_RDWR : REDIR_IN;
        }
        return;
    }
    t->redir = op_more(ps, '>')   ? REDIR_APPEND
               : op_more(ps, '&') ? REDIR_DUP_OUT
               : op_more(ps, '|') ? REDIR_CLOBBER
                                  : REDIR_OUT;
}

static void lex_operator(struct parser *ps, struct token *t, int c)
{
    if (c == '<' || c == '>') {
        lex_redir_op(ps, t);
        return;
    }
    lex_skip(ps, 1);
    if (c == '(') {
        t->kind = T_LPAREN;
    } else if (c == ')') {
        t->kind = T_RPAREN;
    } else if (c == ';') {
        t->kind = T_SEMI;
        if (op_more(ps, ';'))
            t->kind = op_more(ps, '&') ? T_DSEMI_AMP : T_DSEMI;
        else if (op_more(ps, '&'))
            t->kind = T_SEMI_AMP;
    } else if (c == '|') {
        t->kind = op_more(ps, '|') ? T_OR_OR : op_more(ps, '&') ? T_PIPE_AMP : T_PIPE;
    } else if (op_more(ps, '&')) {
        t->kind = T_AND_AND;
    } else if (op_more(ps, '>')) {
        t->kind = T_REDIR;
        t->redir = op_more(ps, '>') ? REDIR_BOTH_APPEND : REDIR_BOTH;
    } else {
        t->kind = T_AMP;
    }
}

/* A number or {name} right before a redirection. */
static bool lex_redir_prefix(struct parser *ps, struct token *t)
{
    size_t n = 0;
    int c = lex_at(ps, 0);
    int64_t fd = 0;
    if (c == '{') {
        const char *p = ps->in.p + ps->pos + 1;
        struct str rest = str_of(p, ps->in.n - ps->pos - 1);
        n = parse_ident(rest);
        size_t name = n;
        if (n && n < rest.n && rest.p[n] == '[') {
            while (n < rest.n && rest.p[n] != '}' && rest.p[n] != '\n')
                n++;
        }
        if (!name || n + 1 >= rest.n || rest.p[n] != '}' || (rest.p[n + 1] != '<' && rest.p[n + 1] != '>'))
            return false;
        t->var = arena_str(ps->a, str_of(p, n));
        n += 2;
    } else {
        while ((c = lex_at(ps, n)) >= '0' && c <= '9') {
            fd = fd * 10 + (c - '0');
            if (fd > INT_MAX)
                return false;
            n++;
        }
        if (!n || (c != '<' && c != '>'))
            return false;
    }
    if (lex_at(ps, n + 1) == '(')
        return false;
    t->has_fd = true;
    t->fd = t->var.n ? -1 : (int)fd;
    lex_skip(ps, n);
    lex_redir_op(ps, t);
    return true;
}

/* ---- aliases ---- */

static void splice(struct parser *ps, size_t from, size_t to, struct str text)
{
    size_t old_n = to - from;
    if (text.n > old_n && buf_reserve(&ps->in, text.n - old_n) != 0) {
        ps->failed = -ENOMEM;
        return;
    }
    memmove(ps->in.p + from + text.n, ps->in.p + to, ps->in.n - to);
    memcpy(ps->in.p + from, text.p, text.n);
    ps->in.n = ps->in.n - old_n + text.n;
    ps->in.p[ps->in.n] = 0;
    for (uint32_t i = 0; i < ps->n_uses; i++)
        ps->uses[i].end = ps->uses[i].end - old_n + text.n;
    ps->pos = from;
}

/* Whether @s ends in a word that is not quoted, as a character behind it would see it. */
static bool ends_in_word(struct str s)
{
    char quote = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        else if (c == '\\' && quote != '\'' && ++i == s.n)
            return false;
    }
    return s.n && !quote && !strchr(" \t\n;&|<>()", s.p[s.n - 1]);
}

/* Whether the word token names an alias; then its text was put in its place. */
static bool lex_alias(struct parser *ps, struct token *t, int flags)
{
    if (!ps->sh || !ps->sh->aliases || !sh_shopt(ps->sh, SHOPT_EXPAND_ALIASES))
        return false;
    while (ps->n_uses && ps->uses[ps->n_uses - 1].end <= t->start)
        ps->n_uses--;
    bool here = (flags & (LEX_CMD | LEX_ALIAS)) && !(flags & LEX_NO_ALIAS);
    if (ps->alias_next != SIZE_MAX && t->start >= ps->alias_next) {
        here = here || !(flags & LEX_NO_ALIAS);
        ps->alias_next = SIZE_MAX;
    }
    const struct word *w = t->word;
    if (!here || (w->flags & WORD_QUOTED) || !w->parts || w->parts->kind != PART_LIT || w->parts->next)
        return false;
    const char *text = map_get(ps->sh->aliases, w->parts->text);
    if (!text || ps->n_uses == PARSE_ALIASES)
        return false;
    for (uint32_t i = 0; i < ps->n_uses; i++) {
        if (str_eq(ps->uses[i].name, w->parts->text))
            return false;
    }
    struct str s = str_c(text);
    bool redir = t->end < ps->in.n && (ps->in.p[t->end] == '<' || ps->in.p[t->end] == '>');
    if (redir && ends_in_word(s)) /* the word is whole: it is no number or {name} of the redirection */
        s = str_c(arena_printf(ps->a, "%s ", text));
    splice(ps, t->start, t->end, s);
    if (ps->failed)
        return false;
    ps->line = t->line;
    ps->uses[ps->n_uses++] = (struct alias_use){w->parts->text, t->start + s.n};
    size_t n = strlen(text);
    if (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        ps->alias_next = t->start + s.n;
    return true;
}

static void lex_one(struct parser *ps, struct token *t, int flags)
{
    int c = lex_cur(ps);
    if (c < 0) {
        t->kind = T_EOF;
        t->line += ps->in.n && ps->in.p[ps->in.n - 1] != '\n';
        lex_heredocs(ps);
    } else if (c == '\n') {
        t->kind = T_NEWLINE;
        lex_newline(ps);
        lex_heredocs(ps);
    } else if ((c == '<' || c == '>') && lex_look(ps, 1) == '(') {
        t->kind = T_WORD;
    } else if ((flags & LEX_COND) && (c == '<' || c == '>')) {
        t->kind = T_REDIR;
        t->redir = c == '<' ? REDIR_IN : REDIR_OUT;
        lex_skip(ps, 1);
    } else if ((flags & LEX_REGEX) && (c == '(' || c == '|')) {
        t->kind = T_WORD;
    } else if (c == '(' || c == ')' || c == ';' || c == '|' || c == '&' || c == '<' || c == '>') {
        lex_operator(ps, t, c);
    } else if ((flags & LEX_COND) || !((c >= '0' && c <= '9') || c == '{') || !lex_redir_prefix(ps, t)) {
        t->kind = T_WORD;
    }
    if (t->kind != T_WORD)
        return;
    t->word = parse_word(ps, flags & LEX_REGEX ? CTX_REGEX : CTX_WORD, false, flags);
    t->res = t->word && (t->word->flags & WORD_LITERAL) ? lex_reserved(t->word->parts->text) : RES_NONE;
}

struct token *lex_peek(struct parser *ps, int flags)
{
    struct token *t = &ps->tok;
    if (ps->have_tok && !(ps->failed && t->kind != T_EOF))
        return t;
    ps->have_tok = true;
    for (;;) {
        if (!ps->failed)
            skip_blanks(ps);
        *t = (struct token){.kind = T_EOF, .fd = -1, .line = ps->line, .start = ps->pos};
        if (!ps->failed)
            lex_one(ps, t, flags);
        t->end = ps->pos;
        if (ps->failed)
            t->kind = T_EOF;
        if (t->kind != T_WORD || !lex_alias(ps, t, flags))
            break;
        /* What an alias put there may be one again, also where only a blank before it made it one. */
        flags |= LEX_ALIAS;
    }
    return t;
}

void lex_take(struct parser *ps)
{
    ps->have_tok = false;
}

void lex_unread(struct parser *ps)
{
    ps->have_tok = false;
    ps->pos = ps->tok.start;
    ps->line = ps->tok.line;
}

struct token *lex_newlines(struct parser *ps, int flags)
{
    struct token *t = lex_peek(ps, flags);
    while (t->kind == T_NEWLINE) {
        lex_take(ps);
        t = lex_peek(ps, flags);
    }
    return t;
}
