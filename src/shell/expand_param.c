/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expander_int.h"

#include <errno.h>

#include "shell/options_int.h"
#include "shell/uchar_int.h"
#include "shell/var_special_int.h"

/* ---- names and subscripts ---- */

struct str expand__name(struct shell *sh, const struct param *p)
{
    if (p->all)
        return str_c(arena_printf(&sh->scratch, "%.*s[%c]", (int)p->name.n, p->name.p, p->all));
    if (p->subscript) {
        struct str sub = p->subscript->src.n || !p->subscript->parts ? p->subscript->src : p->subscript->parts->text;
        return str_c(
            arena_printf(&sh->scratch, "%.*s[%.*s]", (int)p->name.n, p->name.p, (int)sub.n, sub.p ? sub.p : ""));
    }
    return p->name;
}

/* The message shows all of the word, or of the quoted text, whose expansion failed. */
static int bad_substitution(struct expander *x, const struct param *p, enum expand_ctx ctx)
{
    struct shell *sh = x->sh;
    if (p->unclosed)
        sh_error(sh, "bad substitution: no closing `}' in \"%.*s\"", (int)p->around.n, p->around.p);
    else if (p->around.n)
        sh_error(sh, "%.*s: bad substitution", (int)p->around.n, p->around.p);
    else if (ctx != XP_QUOTE && x->word && x->word->src.n)
        sh_error(sh, "%.*s: bad substitution", (int)x->word->src.n, x->word->src.p);
    else
        sh_error(sh, "${%.*s}: bad substitution", (int)p->source.n, p->source.p);
    return expand__refuse(sh);
}

static int unbound(struct shell *sh, const struct param *p, struct str name)
{
    bool dollar = p->op == OP_NONE && !p->around.n && (p->kind == PARAM_POS || p->ch == '!');
    sh_error(sh, "%s%.*s: unbound variable", dollar ? "$" : "", (int)name.n, name.p);
    return expand__exit(sh);
}

int expand__subscript(struct shell *sh, struct param *p, const struct var *v, struct str *ret_key, int64_t *ret_index)
{
    struct str src = p->subscript ? p->subscript->src : STR(""), text;
    *ret_key = STR("");
    *ret_index = 0;
    if (v && (v->flags & VAR_ASSOC))
        return expand_str(sh, p->subscript, EXPAND_PLAIN, ret_key);
    const char *who = sh->arith_who;
    sh->arith_who = NULL;
    int r;
    if (src.n && (p->subscript->flags & WORD_QUOTED) && memchr(src.p, '\'', src.n)) { /* they are no quotes here */
        r = expand__subscript_text(sh, src, false, &text);
        r = r < 0 ? r : arith_eval_text(sh, text, ret_index);
    } else {
        r = arith_eval_word(sh, p->subscript, &p->arith_sub, ret_index);
    }
    sh->arith_who = who;
    return r < 0 ? expand__discard(sh) : 0;
}

/* An element: 1, 0 when unset, or an error. */
static int get_element(struct shell *sh, struct param *p, struct str *ret)
{
    struct var *v = var_find(sh, p->sym);
    struct str key;
    int64_t index;
    int r = expand__subscript(sh, p, v, &key, &index);
    if (r < 0)
        return r;
    v = var_find(sh, p->sym); /* the subscript may have assigned to it */
    bool empty = v && v->flags & VAR_ASSOC && !key.n;
    if (empty && p->op == OP_LENGTH) {
        struct str sub = p->subscript->src;
        sh_error(sh, "%.*s]: bad array subscript", (int)sub.n, sub.p ? sub.p : "");
        return expand__refuse(sh);
    }
    if (empty) {
        sh_error(sh, "%.*s: bad array subscript", (int)p->name.n, p->name.p);
        sh_reported(sh);
        return sh->flow == FLOW_NONE ? 0 : -EINVAL;
    }
    if (!(v && v->flags & VAR_ASSOC) && index < 0) {
        index += v && (v->flags & VAR_ARRAY) ? var_max_index(v) : 0;
        bool some = v && (v->flags & VAR_SET || ((v->flags & VAR_ARRAY) && var_count(v)));
        if (index < 0 && (some || p->op != OP_LENGTH)) {
            if (p->op == OP_LENGTH) {
                struct str sub = p->subscript->src;
                sh_error(sh, "%.*s]: bad array subscript", (int)sub.n, sub.p ? sub.p : "");
                return expand__refuse(sh);
            }
            sh_error(sh, "%.*s: bad array subscript", (int)p->name.n, p->name.p);
            sh_reported(sh);
            return sh->flow == FLOW_NONE ? 0 : -EINVAL;
        }
    }
    return v && var_elem(sh, v, key, index, ret);
}

/* ---- values ---- */

static struct str number_text(struct shell *sh, long long n)
{
    return str_c(arena_printf(&sh->scratch, "%lld", n));
}

static int get_special(struct shell *sh, char ch, struct str *ret)
{
    switch (ch) {
    case '#':
        *ret = number_text(sh, sh->args ? sh->args->n : 0);
        return 1;
    case '?':
        *ret = number_text(sh, sh->last_status);
        return 1;
    case '$':
        *ret = number_text(sh, sh->root_pid);
        return 1;
    case '!':
        if (!sh->last_bg_pid)
            return 0;
        *ret = number_text(sh, sh->last_bg_pid);
        return 1;
    case '0':
        *ret = sh->arg0;
        return 1;
    case '_':
        *ret = sh->last_arg;
        return 1;
    default: /* '-' */
        break;
    }
    struct buf *b = &expand__state(sh)->buf;
    size_t start = b->n;
    options_flags(sh, b);
    int r = expand__take(sh, start, ret);
    return r < 0 ? r : 1;
}

/* A value that is one text: 1, 0 when unset, or an error. */
static int get_scalar(struct shell *sh, struct param *p, struct str *ret)
{
    switch (p->kind) {
    case PARAM_POS:
        if (!sh->args || p->pos > sh->args->n)
            return 0;
        *ret = sh->args->v[p->pos - 1];
        return 1;
    case PARAM_SPECIAL:
        return get_special(sh, p->ch, ret);
    case PARAM_VAR:
        break;
    }
    if (!p->sym)
        return 0;
    return p->subscript ? get_element(sh, p, ret) : var_text(sh, p->sym, ret);
}

static bool is_list(const struct param *p)
{
    return p->all || (p->kind == PARAM_SPECIAL && (p->ch == '@' || p->ch == '*'));
}

/* The elements of an array, or its keys. */
static int get_elements(struct shell *sh, const struct var *v, bool keys, struct value *ret)
{
    size_t n = v ? var_count(v) : 0, pos = 0;
    struct str *out = NULL, key, val;
    int64_t index;
    uint32_t k = 0;
    if (n) {
        out = n < LIMIT_WORDS ? arena_try(&sh->scratch, n * sizeof(*out)) : NULL;
        if (!out)
            return expand__no_memory(sh);
    }
    bool assoc = v && (v->flags & VAR_ASSOC);
    while (k < n && var_next(v, &pos, &key, &index, &val))
        out[k++] = !keys ? val : assoc ? key : number_text(sh, index);
    ret->v = out;
    ret->n = k;
    ret->set = k > 0;
    return 0;
}

static int get_list(struct shell *sh, struct param *p, struct value *ret)
{
    *ret = (struct value){.list = true, .all = p->all ? p->all : p->ch};
    if (p->all)
        return get_elements(sh, p->sym ? var_find(sh, p->sym) : NULL, false, ret);
    ret->args = true;
    if (sh->args) {
        ret->v = sh->args->v;
        ret->n = sh->args->n;
    }
    ret->set = ret->n > 0;
    return 0;
}

/* A reference to all of an array gives its elements; what an operator changes is one text of them. */
static int get_referred(struct shell *sh, struct param *p, char all, struct value *ret)
{
    struct str sub;
    struct param q = *p;
    q.all = all;
    q.sym = var_resolve(sh, p->sym, &sub);
    int r = get_list(sh, &q, ret);
    if (r < 0 || p->op <= OP_ALT || !ret->set)
        return r;
    struct str text;
    r = expand__join(sh, ret, &text);
    *ret = (struct value){.s = text, .set = true};
    return r;
}

static int get_value(struct shell *sh, struct param *p, struct value *ret)
{
    if (is_list(p))
        return get_list(sh, p, ret);
    bool plain = p->kind == PARAM_VAR && p->sym && !p->subscript && p->sym->id < sh->vars->n;
    char all = plain ? expand__list_ref(sh->vars->v[p->sym->id]) : 0;
    if (all)
        return get_referred(sh, p, all, ret);
    *ret = (struct value){0};
    int r = get_scalar(sh, p, &ret->s);
    ret->set = r > 0;
    return r < 0 ? r : 0;
}

bool expand__no_elements(struct shell *sh, struct param *p)
{
    struct value v;
    return is_list(p) && get_list(sh, p, &v) == 0 && v.list && v.n == 0;
}

/* ---- adding values ---- */

/* What stands between the elements of a list when they are joined. */
static struct str list_separator(struct shell *sh, char all)
{
    if (all == '@')
        return STR(" ");
    struct expand_state *st = expand__state(sh);
    expand__ifs(sh, st);
    return st->ifs_first;
}

int expand__join(struct shell *sh, const struct value *v, struct str *ret)
{
    if (!v->list) {
        *ret = v->s;
        return 0;
    }
    struct str sep = list_separator(sh, v->all);
    struct buf *b = &expand__state(sh)->buf;
    size_t start = b->n;
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            buf_adds(b, sep);
        buf_adds(b, v->v[i]);
    }
    return expand__take(sh, start, ret);
}

static int emit_joined(struct expander *x, const struct value *v, bool quoted)
{
    struct str sep = list_separator(x->sh, v->all);
    /* Two places where bash takes a blank for "$*" whatever IFS is. */
    if ((v->args && x->mode == EXPAND_HEREDOC) || (!sep.n && v->args && x->in_arg && !quoted))
        sep = STR(" ");
    for (uint32_t i = 0; i < v->n; i++) {
        int r = i ? expand__put(x, sep, quoted) : 0;
        if (r == 0)
            r = expand__put(x, v->v[i], quoted);
        if (r < 0)
            return r;
    }
    return 0;
}

/* $@ or $* without quotes: as if joined by the first character of IFS and then split; with an empty IFS each element is
 * a field. */
static int emit_split_list(struct expander *x, const struct value *v)
{
    expand__ifs(x->sh, x->st);
    struct str sep = x->st->ifs_first;
    bool whole =
        x->in_arg && v->all == '@' && sep.n && sep.p[0] != ' '; /* then only the blanks between them are split at */
    if (whole || (!sep.n && v->trimmed && !v->args))
        sep = STR(" ");
    x->list_start = !x->have && !x->fields_done;
    for (uint32_t i = 0; i < v->n; i++) {
        int r = 0;
        if (i && sep.n)
            r = expand__put_split(x, sep);
        else if (i && x->have)
            r = expand__end_field(x);
        if (r == 0 && v->v[i].n)
            r = whole && !v->changed ? expand__put(x, v->v[i], false) : expand__put_split(x, v->v[i]);
        if (r < 0)
            return r;
    }
    x->list_start = false;
    return 0;
}

int expand__emit(struct expander *x, const struct value *v, bool quoted)
{
    if (!v->list) {
        if (quoted)
            return v->s.n ? expand__put(x, v->s, true) : 0;
        return expand__put_split(x, v->s);
    }
    if (!x->out)
        return emit_joined(x, v, quoted);
    if (!quoted)
        return emit_split_list(x, v);
    if (v->all == '*')
        return emit_joined(x, v, true);
    for (uint32_t i = 0; i < v->n; i++) {
        int r = i ? expand__end_field(x) : 0;
        if (r == 0)
            r = expand__put(x, v->v[i], true);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- ${x:-word} and its like ---- */

/* Null in the sense of the colon forms. */
static int is_null(struct shell *sh, const struct value *v)
{
    if (!v->list)
        return v->s.n == 0;
    if (v->n > 1 && v->all == '@')
        return 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (v->v[i].n)
            return 0;
    return v->n < 2 || list_separator(sh, v->all).n == 0;
}

static int op_error(struct expander *x, struct param *p, enum expand_ctx ctx)
{
    struct shell *sh = x->sh;
    struct str name = p->around.n ? p->around : expand__name(sh, p), text;
    if (!p->arg) {
        sh_error(sh, "%.*s: parameter %snot set", (int)name.n, name.p, p->colon ? "null or " : "");
        return expand__exit(sh);
    }
    int r;
    if (ctx == XP_QUOTE || !p->arg->parts || (p->arg->flags & WORD_LITERAL)) {
        r = expand_str(sh, p->arg, ctx == XP_QUOTE ? EXPAND_QUOTED : EXPAND_PLAIN, &text);
    } else {
        /* Without quotes the word is split, and put together again with blanks. */
        struct fields f = {0};
        struct word *w[1] = {p->arg};
        uint32_t noglob = sh->opts & OPT_NOGLOB;
        sh->opts |= OPT_NOGLOB;
        r = expand_words(sh, w, 1, &f);
        sh->opts = (sh->opts & ~(uint32_t)OPT_NOGLOB) | noglob;
        struct value v = {.list = true, .all = '@', .v = f.v, .n = f.n};
        if (r == 0)
            r = expand__join(sh, &v, &text);
    }
    if (r < 0)
        return r;
    sh_error(sh, "%.*s: %.*s", (int)name.n, name.p, (int)text.n, text.p);
    return expand__exit(sh);
}

static int op_assign(struct expander *x, struct param *p, enum expand_ctx ctx)
{
    struct shell *sh = x->sh;
    struct str text, key = STR("");
    int64_t index = 0;
    if (p->kind != PARAM_VAR) {
        sh_error(sh, "$%.*s: cannot assign in this way", (int)p->name.n, p->name.p);
        return expand__refuse(sh);
    }
    const struct var *v = p->sym ? var_find(sh, p->sym) : NULL;
    if ((p->all && !(v && v->flags & VAR_ASSOC)) || !p->sym) {
        struct str name = expand__name(sh, p);
        sh_error(sh, "%.*s: bad array subscript", (int)name.n, name.p);
        return expand__refuse(sh);
    }
    int r = expand_str(sh, p->arg, ctx == XP_QUOTE ? EXPAND_QUOTED : EXPAND_PLAIN, &text);
    if (p->all)
        key = p->all == '@' ? STR("@") : STR("*");
    if (r == 0 && p->subscript)
        r = expand__subscript(sh, p, var_find(sh, p->sym), &key, &index);
    if (r < 0)
        return r;
    r = p->subscript || p->all ? var_set_elem(sh, p->sym, key, index, text, false) : var_set(sh, p->sym, text);
    if (r < 0) {
        expand__discard(sh);
        return r;
    }
    struct value now = {.set = true};
    if (p->all)
        r = (v = var_find(sh, p->sym)) && var_elem(sh, v, key, 0, &now.s);
    else
        r = get_scalar(sh, p, &now.s);
    return r < 0 ? r : expand__emit(x, &now, ctx == XP_QUOTE);
}

static int op_word(struct expander *x, struct param *p, const struct value *v, enum expand_ctx ctx)
{
    bool there = v->set && !(p->colon && is_null(x->sh, v));
    enum expand_ctx arg_ctx = ctx == XP_QUOTE ? XP_QUOTE : XP_ARG;
    if (p->op == OP_ALT)
        return there ? expand__arg(x, p->arg, arg_ctx) : 0;
    if (there)
        return expand__emit(x, v, ctx == XP_QUOTE);
    if (p->op == OP_DEFAULT)
        return expand__arg(x, p->arg, arg_ctx);
    return p->op == OP_ASSIGN ? op_assign(x, p, ctx) : op_error(x, p, ctx);
}

/* ---- length, names, keys ---- */

static int op_length(struct expander *x, struct param *p, bool quoted)
{
    struct shell *sh = x->sh;
    struct value v, n = {.set = true};
    int r = 0;
    if (is_list(p) && p->all) {
        struct var *var = p->sym ? var_find(sh, p->sym) : NULL;
        size_t count = var ? var_count(var) : 0;
        if (!count && sh_opt(sh, OPT_NOUNSET) && !(var && (var->flags & (VAR_ARRAY | VAR_ASSOC))))
            return unbound(sh, p, p->name);
        n.s = number_text(sh, (long long)count);
        return expand__emit(x, &n, quoted);
    }
    r = get_value(sh, p, &v);
    if (r < 0)
        return r;
    if (!v.list && !v.set && sh_opt(sh, OPT_NOUNSET))
        return unbound(sh, p, p->name);
    n.s = number_text(sh, v.list ? (long long)v.n : (long long)uchar_count(v.s, sh->utf8));
    return expand__emit(x, &n, quoted);
}

struct name_search {
    struct shell *sh;
    struct str prefix;
    struct value *v;
    uint32_t cap;
    int err;
};

static void add_name(void *arg, struct sym *s, struct var *v)
{
    struct name_search *n = arg;
    (void)v;
    if (n->err || !str_starts(s->name, n->prefix))
        return;
    struct fields f = {n->v->v, n->v->n, n->cap};
    n->err = fields_add(n->sh, &f, s->name);
    n->v->v = f.v;
    n->v->n = f.n;
    n->cap = f.cap;
}

static int op_names(struct expander *x, struct param *p, bool quoted)
{
    struct value v = {.list = true, .all = p->all, .set = true};
    struct name_search n = {.sh = x->sh, .prefix = p->name, .v = &v};
    var_each(x->sh, add_name, &n);
    return n.err ? n.err : expand__emit(x, &v, quoted);
}

static int op_keys(struct expander *x, struct param *p, bool quoted)
{
    struct value v = {.list = true, .all = p->all};
    int r = get_elements(x->sh, p->sym ? var_find(x->sh, p->sym) : NULL, true, &v);
    return r < 0 ? r : expand__emit(x, &v, quoted);
}

/* ---- indirection ---- */

static int invalid_name(struct shell *sh, struct str s)
{
    sh_error(sh, "%.*s: invalid variable name", (int)s.n, s.p ? s.p : "");
    sh->line_only = true;
    return expand__refuse(sh);
}

/* The number that @s is, of a positional parameter: true. */
static bool is_position(struct str s, uint32_t *ret)
{
    uint64_t n = 0;
    if (!s.n || s.n > 9)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(s.p[i] - '0');
    }
    *ret = (uint32_t)n;
    return true;
}

/* Fills @q's parameter from its name as text: a name, a number, a special character, NAME[SUB]. @part and @word hold a
 * subscript. */
static int name_param(struct shell *sh, struct str s, struct param *q, struct part *part, struct word *word)
{
    uint32_t pos;
    size_t n = 0;
    q->name = s;
    q->sym = NULL;
    q->subscript = NULL;
    q->arith_sub = NULL;
    q->all = 0;
    if (is_position(s, &pos)) {
        q->kind = pos ? PARAM_POS : PARAM_SPECIAL;
        q->ch = pos ? 0 : '0';
        q->pos = pos;
        return 0;
    }
    if (s.n == 1 && strchr("@*#?-$!", s.p[0])) {
        q->kind = PARAM_SPECIAL;
        q->ch = s.p[0];
        return 0;
    }
    while (n < s.n && s.p[n] != '[')
        n++;
    q->name = str_of(s.p, n);
    if (!sym_valid(q->name) || (n < s.n && (s.p[s.n - 1] != ']' || s.n - n < 3)))
        return invalid_name(sh, s);
    q->kind = PARAM_VAR;
    q->sym = sym_get(sh, q->name);
    if (!q->sym)
        return invalid_name(sh, s);
    q->name = q->sym->name;
    if (n == s.n)
        return 0;
    struct str sub = str_of(s.p + n + 1, s.n - n - 2);
    if (str_eqc(sub, "@") || str_eqc(sub, "*")) {
        q->all = sub.p[0];
        return 0;
    }
    struct var *v = var_find(sh, q->sym);
    int r = expand__subscript_text(sh, sub, v && (v->flags & VAR_ASSOC), &sub);
    *part = (struct part){.kind = PART_LIT, .text = sub};
    *word = (struct word){.parts = part, .flags = WORD_LITERAL, .src = sub};
    q->subscript = word;
    return r;
}

/* What ${!x} refers to, as a parameter: 1; 0 when there is nothing (an unset positional); or an error. */
static int resolve_indirect(struct shell *sh, struct param *p, struct param *q, struct part *part, struct word *word)
{
    struct value v;
    struct str name;
    *q = *p;
    q->indirect = false;
    struct param base = *p;
    base.op = OP_NONE;
    int r = get_value(sh, &base, &v);
    p->arith_sub = base.arith_sub;
    if (r == 0)
        r = expand__join(sh, &v, &name);
    if (r < 0)
        return r;
    if (!v.set) {
        if (p->kind != PARAM_VAR)
            return 0;
        name = expand__name(sh, p);
        sh_error(sh, "%.*s: invalid indirect expansion", (int)name.n, name.p);
        sh->line_only = true;
        return expand__refuse(sh);
    }
    r = expand__copy(sh, name, &name);
    if (r == 0)
        r = name_param(sh, name, q, part, word);
    return r < 0 ? r : 1;
}

static int param_value(struct expander *x, struct param *p, enum expand_ctx ctx);

/* An indirection through a positional parameter that is not set; @q has its operator and its name. */
static int indirect_unset(struct expander *x, struct param *q, enum expand_ctx ctx)
{
    struct value v = {0};
    if (q->op == OP_ASSIGN) {
        sh_error(x->sh, "%.*s: invalid indirect expansion", (int)q->around.n, q->around.p);
        x->sh->line_only = true;
        return expand__refuse(x->sh);
    }
    if (q->op >= OP_DEFAULT && q->op <= OP_ALT)
        return op_word(x, q, &v, ctx);
    return sh_opt(x->sh, OPT_NOUNSET) ? unbound(x->sh, q, q->around) : 0;
}

static int op_indirect(struct expander *x, struct param *p, enum expand_ctx ctx)
{
    struct shell *sh = x->sh;
    struct param q;
    struct part part;
    struct word word;
    struct var *raw = p->kind == PARAM_VAR && p->sym && !p->subscript && !p->all ? var_find_raw(sh, p->sym) : NULL;
    if (raw && (raw->flags & VAR_NAMEREF) && p->op == OP_NONE) {
        struct value v = {.set = true, .s = str_of(raw->p, raw->n)};
        return expand__emit(x, &v, ctx == XP_QUOTE);
    }
    int r = resolve_indirect(sh, p, &q, &part, &word);
    if (r < 0)
        return r;
    struct str name = expand__name(sh, p);
    if (r == 0 || p->op == OP_ERROR)
        q.around = str_c(arena_printf(&sh->scratch, "!%.*s", (int)name.n, name.p));
    if (r == 0)
        return indirect_unset(x, &q, ctx);
    r = param_value(x, &q, ctx);
    /* What was compiled belongs to the operands, which are the same each time. */
    p->arith1 = q.arith1;
    p->arith2 = q.arith2;
    p->pattern = q.pattern;
    return r;
}

/* ---- all of it ---- */

static int apply(struct shell *sh, struct param *p, struct value *v)
{
    switch (p->op) {
    case OP_PREFIX:
    case OP_PREFIX_LONG:
    case OP_SUFFIX:
    case OP_SUFFIX_LONG:
        return expand__trim(sh, p, v);
    case OP_SUBST:
    case OP_SUBST_ALL:
    case OP_SUBST_HEAD:
    case OP_SUBST_TAIL:
        return expand__subst(sh, p, v);
    case OP_SUBSTRING:
        return expand__substring(sh, p, v);
    case OP_UPPER1:
    case OP_UPPER:
    case OP_LOWER1:
    case OP_LOWER:
    case OP_TOGGLE1:
    case OP_TOGGLE:
        return expand__case(sh, p, v);
    case OP_TRANSFORM:
        return expand__transform(sh, p, v);
    case OP_NONE:
    case OP_DEFAULT:
    case OP_ASSIGN:
    case OP_ERROR:
    case OP_ALT:
    case OP_LENGTH:
    case OP_NAMES:
    case OP_KEYS:
    case OP_BAD:
        break;
    }
    return 0;
}

static int param_value(struct expander *x, struct param *p, enum expand_ctx ctx)
{
    struct shell *sh = x->sh;
    struct value v;
    if (p->op == OP_LENGTH)
        return op_length(x, p, ctx == XP_QUOTE);
    int r = get_value(sh, p, &v);
    if (r < 0)
        return r;
    if (p->op >= OP_DEFAULT && p->op <= OP_ALT)
        return op_word(x, p, &v, ctx);
    if (!v.set && !v.list && sh_opt(sh, OPT_NOUNSET))
        return unbound(sh, p, expand__name(sh, p));
    if (p->op == OP_NONE)
        return expand__emit(x, &v, ctx == XP_QUOTE);
    if (p->bad_form && v.set)
        return bad_substitution(x, p, ctx);
    /* The operands may assign to the variable whose text is looked at: a reference keeps it. */
    struct var *held = p->kind == PARAM_VAR && p->sym ? var_find(sh, p->sym) : NULL;
    if (held)
        var__ref(held);
    r = apply(sh, p, &v);
    v.changed = true;
    v.trimmed = p->op >= OP_PREFIX && p->op <= OP_SUFFIX_LONG;
    if (r == 0)
        r = expand__emit(x, &v, ctx == XP_QUOTE);
    var__unref(held);
    return r;
}

int expand__param(struct expander *x, struct param *p, enum expand_ctx ctx)
{
    struct shell *sh = x->sh;
    if ((p->op != OP_NONE || p->subscript) && arith__stack_low(sh)) {
        sh_error(sh, "expansion is nested too deeply");
        return expand__discard(sh);
    }
    switch ((int)p->op) {
    case OP_BAD:
        return bad_substitution(x, p, ctx);
    case OP_NAMES:
        return op_names(x, p, ctx == XP_QUOTE);
    case OP_KEYS:
        return op_keys(x, p, ctx == XP_QUOTE);
    default:
        return p->indirect ? op_indirect(x, p, ctx) : param_value(x, p, ctx);
    }
}
