/* SPDX-License-Identifier: Apache-2.0 */
/* parse_param - ${…}: bash(1) Parameter Expansion. What is not one of its forms becomes OP_BAD, an error when it is
 * expanded. */
#include "shell/parse_int.h"

#include <errno.h>

/* Steps over a quoted or nested piece that begins at the position: 1 when it did, 0 when there is none, -1 at the end
 * of input. */
static int skip_piece(struct parser *ps)
{
    int line = ps->line;
    int c = lex_at(ps, 0), d = lex_at(ps, 1);
    if (c == '\\' && d >= 0) {
        lex_skip(ps, 1);
        if (d == '\n')
            lex_newline(ps);
        else
            lex_skip(ps, 1);
        return 1;
    }
    char close = c == '"' || c == '\'' || c == '`' ? (char)c : 0;
    if (c == '$' && (d == '(' || d == '{')) {
        lex_skip(ps, 1);
        close = d == '(' ? ')' : '}';
    }
    if (!close)
        return 0;
    lex_skip(ps, 1);
    return parse_skip_matched(ps, close, line) ? 1 : -1;
}

bool parse_skip_matched(struct parser *ps, char close, int line)
{
    int depth = 0;
    if (!parse_enter(ps))
        return false;
    while (!ps->failed) {
        int c = lex_at(ps, 0);
        if (c < 0) {
            parse_fail_eof(ps, line, close);
            break;
        }
        if (c == close && depth-- == 0) {
            lex_skip(ps, 1);
            break;
        }
        depth += c == '(' && close == ')';
        int piece = close == '\'' || c == close ? 0 : skip_piece(ps);
        if (piece)
            continue;
        if (c == '\n')
            lex_newline(ps);
        else
            lex_skip(ps, 1);
    }
    ps->depth--;
    return !ps->failed;
}

static bool name_start(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool one_of(int c, const char *set)
{
    return c > 0 && strchr(set, c) != NULL;
}

/* The parameter itself: a name, a number or a special character. NULL when there is none. */
static struct param *param_base(struct parser *ps)
{
    int c = lex_cur(ps);
    size_t n = lex_ident(ps);
    if (n) {
        struct param *p = parse_param_name(ps, str_of(ps->in.p + ps->pos, n));
        lex_skip(ps, n);
        return p;
    }
    struct param *p = ARENA_NEW(ps->a, struct param);
    uint64_t pos = 0;
    for (int d; (d = lex_look(ps, n)) >= '0' && d <= '9'; n++) {
        pos = pos * 10 + (uint64_t)(d - '0');
        pos = pos > UINT32_MAX ? UINT32_MAX : pos;
    }
    if (n) {
        p->kind = pos ? PARAM_POS : PARAM_SPECIAL;
        p->ch = pos ? 0 : '0';
        p->pos = (uint32_t)pos;
    } else if (one_of(c, "@*#?-$!")) {
        p->kind = PARAM_SPECIAL;
        p->ch = (char)c;
        n = 1;
    } else {
        return NULL;
    }
    p->name = arena_str(ps->a, str_of(ps->in.p + ps->pos, n));
    lex_skip(ps, n);
    return p;
}

/* [@], [*] or [subscript]. False: a bad substitution, or a failure. */
static bool param_subscript(struct parser *ps, struct param *p)
{
    int c = lex_look(ps, 1);
    if ((c == '@' || c == '*') && lex_look(ps, 2) == ']') {
        p->all = (char)c;
        lex_skip(ps, 3);
        return true;
    }
    lex_skip(ps, 1);
    struct heredoc_ref **tail = ps->heredocs_tail;
    if (!parse_word_opt(ps, CTX_SUBSCRIPT, false, &p->subscript)) {
        /* bash finds the '}' first; what lies before it need not be a subscript at all. */
        if (ps->failed == -EINVAL)
            parse_forget_failure(ps, tail);
        ps->unclosed = true;
        return false;
    }
    if (!p->subscript || lex_at(ps, 0) != ']')
        return false;
    lex_skip(ps, 1);
    return true;
}

/* ${x:offset:length}; the position is behind the first ':'. */
static bool op_substring(struct parser *ps, struct param *p)
{
    p->op = OP_SUBSTRING;
    if (!parse_word_opt(ps, CTX_OFFSET, true, &p->arg))
        return false;
    if (lex_at(ps, 0) != ':')
        return p->arg != NULL;
    lex_skip(ps, 1);
    p->arg2 = parse_word(ps, CTX_OFFSET, true, 0);
    return p->arg2 != NULL;
}

/* ${x/pattern/string}; the position is behind the first '/'. */
static bool op_subst(struct parser *ps, struct param *p)
{
    int c = lex_cur(ps);
    p->op = c == '/' ? OP_SUBST_ALL : c == '#' ? OP_SUBST_HEAD : c == '%' ? OP_SUBST_TAIL : OP_SUBST;
    if (p->op != OP_SUBST)
        lex_skip(ps, 1);
    struct word *pat = parse_word(ps, CTX_SLASH, false, p->op == OP_SUBST_ALL ? LEX_ELEM : 0);
    if (!pat)
        return false;
    p->arg = pat->parts ? pat : NULL;
    if (lex_at(ps, 0) != '/')
        return true;
    lex_skip(ps, 1);
    return parse_word_opt(ps, CTX_BRACE, false, &p->arg2);
}

/* An operator that may be doubled, and its pattern. */
static bool op_doubled(struct parser *ps, struct param *p, int c, enum param_op once, enum param_op twice)
{
    lex_skip(ps, 1);
    p->op = once;
    if (lex_cur(ps) == c) {
        p->op = twice;
        lex_skip(ps, 1);
    }
    return parse_word_opt(ps, CTX_BRACE, false, &p->arg);
}

/* - = ? + and their word. */
static bool op_word(struct parser *ps, struct param *p, int c, bool quoted)
{
    lex_skip(ps, 1);
    p->op = c == '-' ? OP_DEFAULT : c == '=' ? OP_ASSIGN : c == '?' ? OP_ERROR : OP_ALT;
    return parse_word_opt(ps, quoted ? CTX_BRACE_DQ : CTX_BRACE, quoted, &p->arg);
}

static bool op_transform(struct parser *ps, struct param *p)
{
    int c = lex_look(ps, 1);
    p->op = OP_TRANSFORM;
    if (one_of(c, "QEPAaKkUuL") && lex_look(ps, 2) == '}') {
        p->transform = (char)c;
        lex_skip(ps, 2);
        return true;
    }
    p->bad_form = true;
    if (!parse_skip_matched(ps, '}', ps->line))
        return false;
    ps->pos--;
    return true;
}

/* The operator and its operands, up to the '}'. False: a bad substitution, or a failure. */
static bool param_operator(struct parser *ps, struct param *p, bool quoted)
{
    int c = lex_cur(ps);
    /* Behind these bash does not look for a change of case. */
    if (p->kind == PARAM_SPECIAL && one_of(p->ch, "-?#") && one_of(c, "^,~"))
        return false;
    switch (c) {
    case '}':
        return true;
    case ':':
        lex_skip(ps, 1);
        c = lex_cur(ps);
        if (!one_of(c, "-=?+"))
            return op_substring(ps, p);
        p->colon = true;
        return op_word(ps, p, c, quoted);
    case '-':
    case '=':
    case '?':
    case '+':
        return op_word(ps, p, c, quoted);
    case '#':
        return op_doubled(ps, p, c, OP_PREFIX, OP_PREFIX_LONG);
    case '%':
        return op_doubled(ps, p, c, OP_SUFFIX, OP_SUFFIX_LONG);
    case '^':
        return op_doubled(ps, p, c, OP_UPPER1, OP_UPPER);
    case ',':
        return op_doubled(ps, p, c, OP_LOWER1, OP_LOWER);
    case '~':
        return op_doubled(ps, p, c, OP_TOGGLE1, OP_TOGGLE);
    case '/':
        lex_skip(ps, 1);
        return op_subst(ps, p);
    case '@':
        return op_transform(ps, p);
    default:
        return false;
    }
}

/* What a leading '#' or '!' means. */
static void param_prefix(struct parser *ps, bool *ret_length, bool *ret_indirect)
{
    int c = lex_cur(ps), d = lex_look(ps, 1);
    bool named = name_start(d) || (d >= '0' && d <= '9');
    bool all = d == '@' && !one_of(lex_look(ps, 2), "QEPAaKkUuL"); /* else a transformation of $# */
    if (c == '#')
        *ret_length = named || all || one_of(d, "*!$") || (one_of(d, "#?-=") && lex_look(ps, 2) == '}');
    if (c == '!')
        *ret_indirect = named || one_of(d, "@*#?");
    if (*ret_length || *ret_indirect)
        lex_skip(ps, 1);
}

/* All between "${" and "}". NULL: a bad substitution, or a failure. */
static struct param *param_inside(struct parser *ps, bool quoted)
{
    bool length = false, indirect = false;
    param_prefix(ps, &length, &indirect);
    struct param *p = param_base(ps);
    if (!p)
        return NULL;
    p->indirect = indirect;
    int c = lex_cur(ps), d = lex_look(ps, 1);
    if (indirect && p->kind == PARAM_VAR && (c == '@' || c == '*') && d == '}') {
        p->op = OP_NAMES;
        p->all = (char)c;
        lex_skip(ps, 1);
        return p;
    }
    if (c == '[' && (p->kind == PARAM_VAR || p->ch == '_') && !param_subscript(ps, p))
        return NULL;
    c = lex_cur(ps);
    d = lex_look(ps, 1);
    if (length) {
        p->op = OP_LENGTH;
        return c == '}' ? p : NULL;
    }
    if (indirect && p->all && c == '}') {
        p->op = OP_KEYS;
        p->indirect = false;
        return p;
    }
    /* ${#+}, ${#%} and the like might be lengths, and are neither that nor operators of $#. */
    if (p->ch == '#' && d == '}' && one_of(c, "+%/^,~"))
        return NULL;
    return param_operator(ps, p, quoted) ? p : NULL;
}

struct part *parse_param_braced(struct parser *ps, bool quoted, int line)
{
    size_t start = ps->pos, mark = ps->n_edits;
    int at_line = ps->line;
    ps->unclosed = false;
    struct param *p = param_inside(ps, quoted);
    if (p && !ps->failed && lex_at(ps, 0) < 0)
        parse_fail_eof(ps, line, '}');
    if (ps->failed)
        return NULL;
    if (!p || lex_at(ps, 0) != '}') {
        ps->pos = start;
        ps->line = at_line;
        ps->n_edits = mark;
        buf_clear(&ps->acc);
        p = ARENA_NEW(ps->a, struct param);
        p->op = OP_BAD;
        p->bad_form = true;
        p->unclosed = quoted && ps->unclosed;
        if (!parse_skip_matched(ps, '}', line))
            return NULL;
        ps->pos--;
    }
    p->braced = true;
    p->quoted = quoted;
    p->source = arena_str(ps->a, str_of(ps->in.p + start, ps->pos - start));
    lex_skip(ps, 1);
    struct part *part = ARENA_NEW(ps->a, struct part);
    part->kind = PART_PARAM;
    part->param = p;
    return part;
}
