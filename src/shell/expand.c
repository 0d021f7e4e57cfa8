/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expander_int.h"

#include <ctype.h>
#include <errno.h>

#include "base/mem.h"
#include "shell/uchar_int.h"

/* ---- state ---- */

/* More than this is not kept in the buffer between words. */
#define KEEP_BYTES 65536u

struct expand_state *expand__state(struct shell *sh)
{
    if (sh->expand && sh->expand->owner == sh)
        return sh->expand;
    struct expand_state *st = mem_zalloc(sizeof(*st));
    st->owner = sh;
    buf_init(&st->buf, LIMIT_STRING);
    sh->expand = st;
    return st;
}

void expand_done(struct shell *sh)
{
    struct expand_state *st = sh->expand;
    sh->expand = NULL;
    if (!st || st->owner != sh)
        return;
    buf_done(&st->buf);
    mem_free(st->marks);
    char *ifs = (char *)(uintptr_t)st->ifs_now.p;
    mem_free(ifs);
    mem_free(st);
}

int expand__no_memory(struct shell *sh)
{
    sh_error(sh, "expansion: cannot allocate memory");
    sh_abort(sh, 1);
    return -ENOMEM;
}

int expand__poll(struct shell *sh)
{
    if (!sh->p || proc_poll(sh->p) == 0)
        return 0;
    sh->flow = FLOW_KILLED;
    return -EINTR;
}

int expand__copy(struct shell *sh, struct str s, struct str *ret)
{
    char *p = s.n < 4096 ? arena_alloc(&sh->scratch, s.n + 1) : arena_try(&sh->scratch, s.n + 1);
    if (!p)
        return expand__no_memory(sh);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    *ret = str_of(p, s.n);
    return 0;
}

/* Empties the buffer down to @start; a failure that stuck is reported. */
static int buffer_reset(struct shell *sh, size_t start)
{
    struct buf *b = &sh->expand->buf;
    int err = b->err;
    b->err = 0;
    buf_trunc(b, start);
    if (start == 0 && b->cap > KEEP_BYTES)
        buf_done(b);
    return err ? expand__no_memory(sh) : 0;
}

int expand__take(struct shell *sh, size_t start, struct str *ret)
{
    struct buf *b = &sh->expand->buf;
    int r = b->err ? 0 : expand__copy(sh, str_of(b->p + start, b->n - start), ret);
    int e = buffer_reset(sh, start);
    return r < 0 ? r : e;
}

int fields_add(struct shell *sh, struct fields *f, struct str s)
{
    if (f->n == f->cap) {
        uint32_t cap = f->cap ? f->cap * 2 : 16;
        struct str *v = f->n < LIMIT_WORDS ? arena_try(&sh->scratch, cap * sizeof(*v)) : NULL;
        if (!v)
            return expand__no_memory(sh);
        if (f->n)
            memcpy(v, f->v, f->n * sizeof(*v));
        f->v = v;
        f->cap = cap;
    }
    f->v[f->n++] = s;
    return 0;
}

/* ---- putting text ---- */

static const char pattern_special[256] = {
    ['*'] = 1, ['?'] = 1, ['['] = 1, [']'] = 1, ['\\'] = 1, ['('] = 1, [')'] = 1, ['|'] = 1,
    ['+'] = 1, ['@'] = 1, ['!'] = 1, ['^'] = 1, ['-'] = 1,  [':'] = 1, ['='] = 1, ['.'] = 1,
};

static const char regex_special[256] = {
    ['*'] = 1, ['?'] = 1, ['['] = 1, [']'] = 1, ['\\'] = 1, ['('] = 1, [')'] = 1,
    ['|'] = 1, ['+'] = 1, ['{'] = 1, ['}'] = 1, ['^'] = 1,  ['$'] = 1, ['.'] = 1,
};

static void put_escaped(struct buf *b, struct str s, const char *special)
{
    for (size_t i = 0; i < s.n; i++) {
        if (special[(unsigned char)s.p[i]])
            buf_putc(b, '\\');
        buf_putc(b, s.p[i]);
    }
}

/* Inside [...] a backslash would be a member of the set: quoted text stays as it is there. */
static void put_regex(struct expander *x, struct str s, bool quoted)
{
    struct buf *b = &x->st->buf;
    if (quoted && !x->in_bracket) {
        put_escaped(b, s, regex_special);
        return;
    }
    for (size_t i = 0; i < s.n && !quoted; i++) {
        if (s.p[i] == '\\' && !x->in_bracket) {
            i++;
        } else if (s.p[i] == '[' && !x->in_bracket) {
            x->in_bracket = true;
            i += i + 1 < s.n && s.p[i + 1] == '^';
            i += i + 1 < s.n && s.p[i + 1] == ']';
        } else if (s.p[i] == ']') {
            x->in_bracket = false;
        }
    }
    buf_adds(b, s);
}

static int add_mark(struct expander *x)
{
    struct expand_state *st = x->st;
    if (st->n_marks == st->cap_marks) {
        size_t cap = st->cap_marks ? st->cap_marks * 2 : 32;
        size_t *v = mem_try_realloc(st->marks, cap * sizeof(*v));
        if (!v)
            return expand__no_memory(x->sh);
        st->marks = v;
        st->cap_marks = cap;
    }
    st->marks[st->n_marks++] = st->buf.n;
    x->quoted = !x->quoted;
    return 0;
}

static bool has_pattern_char(struct str s, bool extglob)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '*' || s.p[i] == '?' || s.p[i] == '[' || (extglob && s.p[i] == '('))
            return true;
    return false;
}

int expand__put(struct expander *x, struct str s, bool quoted)
{
    struct buf *b = &x->st->buf;
    x->have = x->have || quoted || s.n;
    x->ws_ended = x->list_start = false;
    if (x->out) {
        if (!quoted && !x->glob_char)
            x->glob_char = has_pattern_char(s, sh_shopt(x->sh, SHOPT_EXTGLOB));
        if (s.n && quoted != x->quoted) {
            int r = add_mark(x);
            if (r < 0)
                return r;
        }
        buf_adds(b, s);
    } else if (x->mode == EXPAND_PATTERN && quoted) {
        put_escaped(b, s, pattern_special);
    } else if (x->mode == EXPAND_REGEX) {
        put_regex(x, s, quoted);
    } else if (x->mode == EXPAND_REPLACEMENT && quoted) {
        static const char special[256] = {['&'] = 1, ['\\'] = 1};
        put_escaped(b, s, special);
    } else {
        buf_adds(b, s);
    }
    return 0;
}

/* The pattern that the field in the buffer stands for: quoted stretches get backslashes. */
static int field_pattern(struct expander *x, struct str *ret)
{
    struct expand_state *st = x->st;
    size_t end = st->buf.n, at = x->start;
    bool quoted = false;
    for (size_t k = x->first_mark; k <= st->n_marks; k++) {
        size_t stop = k < st->n_marks ? st->marks[k] : end;
        if (buf_reserve(&st->buf, (stop - at) * 2) < 0)
            break; /* the error sticks */
        struct str run = str_of(st->buf.p + at, stop - at);
        if (quoted)
            put_escaped(&st->buf, run, pattern_special);
        else
            buf_adds(&st->buf, run);
        at = stop;
        quoted = !quoted;
    }
    return expand__take(x->sh, end, ret);
}

/* Pathname expansion of the field: the number of matches, or an error. */
static int field_glob(struct expander *x)
{
    struct shell *sh = x->sh;
    struct str pat;
    int r = field_pattern(x, &pat);
    if (r < 0)
        return r;
    if (!pattern_is_glob(pat, sh_shopt(sh, SHOPT_EXTGLOB) ? PATTERN_EXTGLOB : 0))
        return 0;
    r = pathglob(sh, pat, x->out);
    if (r != 0)
        return r;
    if (sh_shopt(sh, SHOPT_FAILGLOB)) {
        struct buf *b = &x->st->buf;
        sh_error(sh, "no match: %.*s", (int)(b->n - x->start), b->p + x->start);
        return expand__refuse(sh);
    }
    return sh_shopt(sh, SHOPT_NULLGLOB) ? 1 : 0;
}

int expand__end_field(struct expander *x)
{
    struct expand_state *st = x->st;
    struct str s;
    int r = 0;
    if (x->glob_char && !sh_opt(x->sh, OPT_NOGLOB) && !st->buf.err)
        r = field_glob(x);
    if (r == 0) {
        r = expand__take(x->sh, x->start, &s);
        if (r == 0)
            r = fields_add(x->sh, x->out, s);
    } else {
        int e = buffer_reset(x->sh, x->start);
        r = r < 0 ? r : e;
    }
    st->n_marks = x->first_mark;
    x->quoted = x->have = x->glob_char = x->ws_ended = false;
    x->fields_done++;
    return r < 0 ? r : expand__poll(x->sh);
}

/* ---- parts ---- */

/* Without trailing newlines; NUL bytes are dropped with bash's warning. */
static struct str trim_capture(struct shell *sh, struct str s)
{
    if (s.n && memchr(s.p, 0, s.n)) {
        char *p = arena_dup(&sh->scratch, s.p, s.n);
        size_t n = 0;
        for (size_t i = 0; i < s.n; i++)
            if (p[i])
                p[n++] = p[i];
        sh_error(sh, "warning: command substitution: ignored null byte in input");
        s = str_of(p, n);
    }
    while (s.n && s.p[s.n - 1] == '\n')
        s.n--;
    return s;
}

static int put_cmdsub(struct expander *x, struct cmdsub *cs, bool quoted)
{
    struct str s;
    struct arena_mark m = arena_mark(&x->sh->scratch);
    int r = exec_capture(x->sh, cs, &s);
    if (r < 0)
        return r;
    s = trim_capture(x->sh, s);
    r = quoted ? expand__put(x, s, true) : expand__put_split(x, s);
    if (!x->out) /* fields would lie behind the text */
        arena_reset(&x->sh->scratch, m);
    return r;
}

/* Decimal digits of @v at the end of @buf. */
static struct str int_text(int64_t v, char buf[24])
{
    char *p = buf + 24;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        *--p = '-';
    return str_of(p, (size_t)(buf + 24 - p));
}

static int put_arith(struct expander *x, struct arith_part *a, bool quoted)
{
    struct shell *sh = x->sh;
    const char *who = sh->arith_who;
    char digits[24];
    int64_t val = 0;
    sh->arith_who = NULL;
    int r = arith_eval_word(sh, a->expr, &a->code, &val);
    sh->arith_who = who;
    if (r < 0)
        return expand__discard(sh);
    struct str s = int_text(val, digits);
    return quoted ? expand__put(x, s, true) : expand__put_split(x, s);
}

static int put_procsub(struct expander *x, struct cmdsub *cs)
{
    struct str s;
    int r = exec_procsub(x->sh, cs, &s);
    return r < 0 ? r : expand__put(x, s, true);
}

/* A "$@" or "${a[@]}" that may turn out to be no word at all; "${@+word}" is none when there are no elements. */
static bool is_at_list(struct shell *sh, const struct part *p)
{
    if (p->kind != PART_PARAM)
        return false;
    struct param *q = p->param;
    bool at = q->all == '@' || (q->kind == PARAM_SPECIAL && q->ch == '@');
    if (at && q->op == OP_ALT)
        return !q->indirect && expand__no_elements(sh, q);
    return at && q->op != OP_DEFAULT && q->op != OP_ASSIGN && q->op != OP_ERROR && q->op != OP_LENGTH;
}

static int put_part(struct expander *x, const struct part *p, enum expand_ctx ctx);

/* "…": keeps the field alive, unless it holds only texts that are empty and a "$@" without elements. */
static int put_dquote(struct expander *x, const struct part *parts)
{
    bool empty_at = false;
    size_t n = x->st->buf.n;
    uint32_t fields = x->fields_done;
    for (const struct part *p = parts; p; p = p->next) {
        size_t before = x->st->buf.n;
        uint32_t done = x->fields_done;
        bool at = x->out && is_at_list(x->sh, p), had = x->have;
        int r = put_part(x, p, XP_QUOTE);
        if (r < 0)
            return r;
        if (at && x->st->buf.n == before && x->fields_done == done && x->have == had)
            empty_at = true;
    }
    if (empty_at && x->st->buf.n == n && x->fields_done == fields)
        return 0;
    return expand__put(x, STR(""), true);
}

static int put_part(struct expander *x, const struct part *p, enum expand_ctx ctx)
{
    bool quoted = ctx == XP_QUOTE;
    switch (p->kind) {
    case PART_LIT:
        return ctx == XP_ARG ? expand__put_split(x, p->text) : expand__put(x, p->text, quoted);
    case PART_QUOTED:
        return expand__put(x, p->text, true);
    case PART_DQUOTE:
        return put_dquote(x, p->parts);
    case PART_PARAM:
        return expand__param(x, p->param, ctx);
    case PART_CMDSUB:
        return put_cmdsub(x, p->cmd, quoted);
    case PART_ARITH:
        return put_arith(x, p->arith, quoted);
    case PART_PROCSUB:
        return put_procsub(x, p->cmd);
    }
    return 0;
}

int expand__parts(struct expander *x, const struct part *p, enum expand_ctx ctx)
{
    int r = 0;
    for (; p && r == 0; p = p->next)
        r = put_part(x, p, ctx);
    return r;
}

/* Parts whose literal texts may have tilde prefixes. */
static int tilde_parts(struct expander *x, const struct part *p, enum expand_ctx ctx, bool colons, bool equals)
{
    for (bool first = true; p; p = p->next, first = false) {
        int r;
        if (p->kind == PART_LIT)
            r = expand__put_tilde(x, p->text, first, colons, equals && first, p->next == NULL, ctx == XP_ARG);
        else
            r = put_part(x, p, ctx);
        if (r < 0)
            return r;
    }
    return 0;
}

int expand__arg(struct expander *x, const struct word *w, enum expand_ctx ctx)
{
    if (!w)
        return 0;
    bool in_arg = x->in_arg;
    const struct word *word = x->word;
    int r;
    x->in_arg = ctx == XP_ARG;
    x->word = w;
    if ((w->flags & WORD_TILDE) && ctx != XP_QUOTE)
        r = tilde_parts(x, w->parts, ctx, x->mode == EXPAND_ASSIGN && !x->out, false);
    else
        r = expand__parts(x, w->parts, ctx);
    x->in_arg = in_arg;
    x->word = word;
    return r;
}

/* ---- fields ---- */

/* What decides whether the value of a lone $x is one field as it is. */
static bool plain_field(const struct expand_state *st, struct str s, bool extglob)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (st->ifs_class[c] || c == '*' || c == '?' || c == '[' || (extglob && c == '('))
            return false;
    }
    return true;
}

/* The text of a parameter without operator, subscript or anything else: false when it is something else, or unset. */
static bool simple_param(struct shell *sh, const struct param *p, struct str *ret)
{
    if (p->op != OP_NONE || p->indirect || p->subscript || p->all)
        return false;
    if (p->kind == PARAM_VAR) {
        struct var *v = p->sym && p->sym->id < sh->vars->n ? sh->vars->v[p->sym->id] : NULL;
        const uint32_t odd = VAR_SET | VAR_DYN | VAR_NAMEREF | VAR_ARRAY | VAR_ASSOC;
        if (v && (v->flags & odd) == VAR_SET) {
            *ret = str_of(v->p, v->n);
            return true;
        }
        if (!v || expand__list_ref(v))
            return false;
        bool there = var_text(sh, p->sym, ret);
        if (there || !(v->flags & VAR_NAMEREF) || sh_opt(sh, OPT_NOUNSET))
            return there;
        *ret = STR(""); /* not looked for again: what is wrong with the reference was told */
        return true;
    }
    if (p->kind == PARAM_POS && sh->args && p->pos <= sh->args->n) {
        *ret = sh->args->v[p->pos - 1];
        return true;
    }
    return false;
}

/* A word that is one $x or "$x": 1 when it was done. */
static int fast_word(struct shell *sh, const struct word *w, struct fields *out)
{
    const struct part *p = w->parts;
    bool quoted = p->kind == PART_DQUOTE;
    struct str s;
    if (p->next || (quoted && !p->parts))
        return 0;
    if (quoted)
        p = p->parts;
    if (p->next || p->kind != PART_PARAM || !simple_param(sh, p->param, &s))
        return 0;
    if (!quoted) {
        struct expand_state *st = expand__state(sh);
        expand__ifs(sh, st);
        if (st->ifs_wide || !plain_field(st, s, sh_shopt(sh, SHOPT_EXTGLOB)))
            return 0;
        if (!s.n)
            return 1;
    }
    int r = expand__copy(sh, s, &s);
    if (r == 0)
        r = fields_add(sh, out, s);
    return r < 0 ? r : 1;
}

static int expand_fields(struct shell *sh, const struct word *w, struct fields *out)
{
    struct expand_state *st = expand__state(sh);
    struct expander x = {.sh = sh, .st = st, .out = out, .start = st->buf.n, .first_mark = st->n_marks, .word = w};
    int r;
    if (w->flags & WORD_TILDE)
        r = tilde_parts(&x, w->parts, XP_TOP, w->assign && !sh_opt(sh, OPT_POSIX), w->assign && !sh_opt(sh, OPT_POSIX));
    else
        r = expand__parts(&x, w->parts, XP_TOP);
    if (r == 0 && x.have)
        return expand__end_field(&x);
    st->n_marks = x.first_mark;
    int e = buffer_reset(sh, x.start);
    return r < 0 ? r : e;
}

/* Braces come before parameters and are textual: $x{1,2} is $x1 $x2. Makes @p the longer parameter when it is a bare $x
 * and name characters follow; returns how many. */
static size_t lengthen_name(struct shell *sh, struct part *p, struct str rest)
{
    size_t n = 0;
    if (p->kind != PART_PARAM || p->param->braced || p->param->kind != PARAM_VAR)
        return 0;
    while (n < rest.n && (isalnum((unsigned char)rest.p[n]) || rest.p[n] == '_'))
        n++;
    if (!n)
        return 0;
    struct param *q = ARENA_NEW(&sh->scratch, struct param);
    struct str name = p->param->name;
    q->kind = PARAM_VAR;
    q->name = str_c(arena_printf(&sh->scratch, "%.*s%.*s", (int)name.n, name.p, (int)n, rest.p));
    q->sym = sym_get(sh, q->name);
    p->param = q;
    return n;
}

/* One text of a brace expansion, as a word of its own. */
static int brace_field(struct shell *sh, const struct word *w, struct str text, const struct part *const *parts,
                       struct fields *out)
{
    struct word one = {.flags = w->flags & (WORD_TILDE | WORD_QUOTED), .line = w->line};
    struct part **tail = &one.parts;
    for (size_t i = 0; i < text.n;) {
        struct part *p = ARENA_NEW(&sh->scratch, struct part);
        if (text.p[i] == BRACE_PART) {
            uint32_t k;
            memcpy(&k, text.p + i + 1, 4);
            *p = *parts[k];
            p->next = NULL;
            i += 5;
            i += lengthen_name(sh, p, str_from(text, i));
        } else {
            const char *q = memchr(text.p + i, BRACE_PART, text.n - i);
            size_t n = q ? (size_t)(q - text.p) - i : text.n - i;
            p->kind = PART_LIT;
            p->text = str_of(text.p + i, n);
            if (i == 0 && text.p[0] == '~')
                one.flags |= WORD_TILDE;
            i += n;
        }
        *tail = p;
        tail = &p->next;
    }
    return one.parts ? expand_fields(sh, &one, out) : 0;
}

/* A text of a brace expansion in which nothing is left to expand. */
static bool plain_text(struct str s)
{
    return s.n && s.p[0] != '~' && !memchr(s.p, BRACE_PART, s.n) && !has_pattern_char(s, true);
}

static int brace_fields(struct shell *sh, const struct word *w, struct fields *out)
{
    struct str *texts;
    const struct part **parts;
    uint32_t n;
    int r = expand__braces(sh, w, &texts, &n, &parts);
    uint32_t done = 0;
    while (r == 0 && out->n == 0 && done < n && plain_text(texts[done]))
        done++;
    if (r == 0 && done) { /* the first fields of all: the array itself */
        out->v = texts;
        out->n = done;
        out->cap = done;
    }
    for (uint32_t i = done; r == 0 && i < n; i++) {
        r = plain_text(texts[i]) ? fields_add(sh, out, texts[i]) : brace_field(sh, w, texts[i], parts, out);
        if (r == 0)
            r = expand__poll(sh);
    }
    return r;
}

int expand_words(struct shell *sh, struct word *const *words, uint32_t n, struct fields *out)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct word *w = words[i];
        int r;
        if (w->flags & WORD_LITERAL)
            r = fields_add(sh, out, w->parts->text);
        else if (!w->parts)
            continue;
        else if ((w->flags & WORD_BRACE) && sh_opt(sh, OPT_BRACEEXPAND))
            r = brace_fields(sh, w, out);
        else if ((r = fast_word(sh, w, out)) == 0)
            r = expand_fields(sh, w, out);
        if (r < 0)
            return r;
    }
    return 0;
}

int expand_redir_target(struct shell *sh, const struct word *w, struct str *ret)
{
    struct fields f = {0};
    struct word *words[1] = {(struct word *)(uintptr_t)w};
    uint32_t opts = sh->opts;
    if (sh_opt(sh, OPT_POSIX) && !sh->interactive)
        sh->opts |= OPT_NOGLOB;
    int r = expand_words(sh, words, 1, &f);
    sh->opts = (sh->opts & ~(uint32_t)OPT_NOGLOB) | (opts & OPT_NOGLOB);
    if (r < 0)
        return r;
    if (f.n != 1) {
        sh_error(sh, "%.*s: ambiguous redirect", (int)w->src.n, w->src.p);
        return -EINVAL;
    }
    *ret = f.v[0];
    return 0;
}

/* ---- arithmetic ---- */

/* Open brackets of NAME[…] at the end of @b, when there were @level before what begins at @from. */
static size_t subscript_level(const struct buf *b, size_t from, size_t start, size_t level)
{
    for (size_t i = from; i < b->n; i++) {
        char c = b->p[i];
        if (c == '\\' && level)
            i++;
        else if (c == '[')
            level += level || (i > start && (isalnum((unsigned char)b->p[i - 1]) || b->p[i - 1] == '_'));
        else if (c == ']' && level)
            level--;
    }
    return level;
}

/* The end of the buffer from @from on gets backslashes. */
static int keep_key(struct expander *x, size_t from)
{
    static const char special[256] = {
        ['['] = 1, [']'] = 1, ['$'] = 1, ['`'] = 1, ['~'] = 1, ['\\'] = 1, ['\''] = 1, ['"'] = 1};
    struct buf *b = &x->st->buf;
    size_t i = from;
    while (i < b->n && !special[(unsigned char)b->p[i]])
        i++;
    if (i == b->n)
        return 0;
    struct str s;
    int r = expand__take(x->sh, from, &s);
    if (r == 0)
        put_escaped(b, s, special);
    return r;
}

/* What expands inside of NAME[…] is a key, or part of one: it is not expanded once more when that is read. */
static int put_expression(struct expander *x, const struct part *p)
{
    struct buf *b = &x->st->buf;
    size_t level = 0;
    int r = 0;
    for (; p && r == 0; p = p->next) {
        size_t from = b->n;
        if (level && p->kind == PART_PROCSUB) /* [[ a[1<(2)] -eq 1 ]]: here these are operators */
            buf_addf(b, "%c(%.*s)", p->cmd->direction, (int)p->cmd->source.n, p->cmd->source.p);
        else
            r = put_part(x, p, XP_QUOTE);
        if (r == 0 && level && p->kind != PART_LIT)
            r = keep_key(x, from);
        else
            level = subscript_level(b, from, x->start, level);
    }
    return r;
}

/* ---- one string ---- */

static int expand_one(struct shell *sh, const struct word *w, enum expand_mode mode, struct str *ret)
{
    struct expand_state *st = expand__state(sh);
    struct expander x = {.sh = sh, .st = st, .mode = mode, .start = st->buf.n, .first_mark = st->n_marks, .word = w};
    bool dquoted = mode == EXPAND_HEREDOC || mode == EXPAND_ARITH || mode == EXPAND_QUOTED;
    int r;
    if ((w->flags & WORD_TILDE) && !dquoted)
        r = tilde_parts(&x, w->parts, XP_TOP, mode == EXPAND_ASSIGN, false);
    else if (mode == EXPAND_ARITH)
        r = put_expression(&x, w->parts);
    else
        r = expand__parts(&x, w->parts, dquoted ? XP_QUOTE : XP_TOP);
    if (r == 0)
        return expand__take(sh, x.start, ret);
    int e = buffer_reset(sh, x.start);
    return e < 0 ? e : r;
}

int expand_str(struct shell *sh, const struct word *w, enum expand_mode mode, struct str *ret)
{
    struct str s;
    if (!w || !w->parts) {
        *ret = STR("");
        return 0;
    }
    if (w->flags & WORD_LITERAL) {
        *ret = w->parts->text;
        return 0;
    }
    const struct part *p = w->parts;
    if (!p->next && mode != EXPAND_PATTERN && mode != EXPAND_REGEX && mode != EXPAND_REPLACEMENT) {
        if (p->kind == PART_DQUOTE && p->parts && !p->parts->next)
            p = p->parts;
        if (p->kind == PART_PARAM && simple_param(sh, p->param, &s))
            return expand__copy(sh, s, ret);
    }
    return expand_one(sh, w, mode, ret);
}

/* ---- text that is parsed when it is expanded ---- */

static bool has_expansion(struct str s, const char *special)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr(special, s.p[i]) && s.p[i])
            return true;
    return false;
}

int expand__dquoted_text(struct shell *sh, struct str text, struct str *ret)
{
    struct parse_error err;
    struct word *w = NULL;
    if (!has_expansion(text, "$`\\"))
        return expand__copy(sh, text, ret);
    struct ast *a = mem_zalloc(sizeof(*a));
    a->refs = 1;
    int r = parse_dquoted(sh, a, text, &w, &err);
    if (r == 0)
        r = expand_str(sh, w, EXPAND_QUOTED, ret);
    else if (r == -EINVAL)
        sh_syntax_error(sh, &err);
    /* The result may borrow from the tree. */
    if (r == 0)
        r = expand__copy(sh, *ret, ret);
    ast_unref(a);
    return r;
}

/* Without double quotes, which arithmetic ignores. */
static struct str drop_quotes(struct shell *sh, struct str s)
{
    char *p = arena_alloc(&sh->scratch, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' && i + 1 < s.n)
            p[n++] = s.p[i++];
        else if (s.p[i] == '"')
            continue;
        p[n++] = s.p[i];
    }
    p[n] = 0;
    return str_of(p, n);
}

/* Whether something in it is to be expanded, or to be taken off, before it is an expression. */
static bool index_expands(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\')
            i++;
        else if (strchr("$`\"", s.p[i]))
            return true;
    }
    return false;
}

/* A key that is taken as it is: only what the expansion of the expression put there goes. */
static int drop_backslashes(struct shell *sh, struct str s, struct str *ret)
{
    char *p = arena_try(&sh->scratch, s.n + 1);
    size_t n = 0;
    if (!p)
        return -ENOMEM;
    for (size_t i = 0; i < s.n; i++) {
        i += s.p[i] == '\\' && i + 1 < s.n && strchr(SUBSCRIPT_SPECIAL, s.p[i + 1]);
        p[n++] = s.p[i];
    }
    p[n] = 0;
    *ret = str_of(p, n);
    return 0;
}

int expand__arith_subscript(struct shell *sh, struct str text, bool assoc, struct str *ret)
{
    if (assoc && sh_shopt(sh, SHOPT_ASSOC_EXPAND_ONCE))
        return drop_backslashes(sh, text, ret);
    if (!assoc && !index_expands(text))
        return expand__copy(sh, text, ret);
    return expand__subscript_text(sh, text, assoc, ret);
}

int expand__subscript_text(struct shell *sh, struct str text, bool assoc, struct str *ret)
{
    struct parse_error err;
    struct word *w = NULL;
    if (!has_expansion(text, "$`\\\"'"))
        return expand__copy(sh, text, ret);
    if (!assoc)
        return expand__dquoted_text(sh, drop_quotes(sh, text), ret);
    struct ast *a = mem_zalloc(sizeof(*a));
    a->refs = 1;
    int r = parse_word_text(sh, a, text, &w, &err);
    if (r == 0)
        r = expand_str(sh, w, EXPAND_PLAIN, ret);
    else if (r == -EINVAL)
        sh_syntax_error(sh, &err);
    if (r == 0)
        r = expand__copy(sh, *ret, ret);
    ast_unref(a);
    return r;
}
