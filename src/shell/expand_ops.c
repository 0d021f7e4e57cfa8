/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expander_int.h"

#include <errno.h>

#include "shell/pattern_int.h"
#include "shell/uchar_int.h"

/* ---- lists ---- */

/* Calls @fn for each text of the value, which it replaces in a list of its own. */
static int map_value(struct shell *sh, struct value *v, int (*fn)(struct shell *sh, void *arg, struct str *s),
                     void *arg)
{
    if (!v->list)
        return fn(sh, arg, &v->s);
    struct str *out = v->n ? arena_try(&sh->scratch, v->n * sizeof(*out)) : NULL;
    if (v->n && !out)
        return expand__no_memory(sh);
    for (uint32_t i = 0; i < v->n; i++) {
        out[i] = v->v[i];
        int r = fn(sh, arg, &out[i]);
        if (r < 0)
            return r;
    }
    v->v = out;
    return 0;
}

/* ---- patterns of operators ---- */

static bool constant_parts(const struct part *p)
{
    for (; p; p = p->next)
        if (p->kind != PART_LIT && p->kind != PART_QUOTED && (p->kind != PART_DQUOTE || !constant_parts(p->parts)))
            return false;
    return true;
}

struct pat_use {
    struct str text;
    const struct pattern *compiled; /* for texts of its flags; NULL: none */
    int flags;
};

/* The pattern of @p; compiled once when it is constant. */
static int get_pattern(struct shell *sh, struct param *p, int flags, struct pat_use *ret)
{
    struct word *w = p->arg;
    *ret = (struct pat_use){.text = STR(""), .flags = flags};
    if (p->pattern && (p->pattern->flags & ~PATTERN_UTF8) == (flags & ~PATTERN_UTF8)) {
        ret->text = p->pattern->source;
        ret->compiled = p->pattern;
        return 0;
    }
    /* After the '#' or '%' of a substitution a '~' is not at the start of the pattern. */
    struct word plain;
    if (w && (p->op == OP_SUBST_HEAD || p->op == OP_SUBST_TAIL)) {
        plain = *w;
        plain.flags &= (uint16_t)~WORD_TILDE;
        w = &plain;
    }
    int r = expand_str(sh, w, EXPAND_PATTERN, &ret->text);
    if (r == 0 && !p->pattern && w && w->arena && !(w->flags & WORD_TILDE) && constant_parts(w->parts)) {
        bool wide = (flags & PATTERN_UTF8) && !uchar_ascii(ret->text) && uchar_valid(ret->text);
        p->pattern = pattern__compile(w->arena, arena_str(w->arena, ret->text), wide ? flags : flags & ~PATTERN_UTF8);
        ret->compiled = p->pattern;
    }
    return r;
}

/* The pattern compiled for @text, in @a when it has to be made. */
static const struct pattern *pattern_for(const struct pat_use *u, struct str text, struct arena *a)
{
    int flags = pattern__flags(u->text, text, u->flags);
    if (u->compiled && u->compiled->flags == flags)
        return u->compiled;
    return pattern__compile(a, u->text, flags);
}

#define STACK_BYTES 1024
/* An arena that begins on the stack, for patterns of one text. */
#define STACK_ARENA(name)                                                                                              \
    _Alignas(16) char name##_stack[STACK_BYTES];                                                                       \
    ARENA_AUTO struct arena name = {NULL, name##_stack, name##_stack + STACK_BYTES}

/* ---- # ## % %% ---- */

struct trim {
    struct pat_use use;
    enum pat_want want;
};

static int trim_one(struct shell *sh, void *arg, struct str *s)
{
    struct trim *t = arg;
    STACK_ARENA(a);
    const struct pattern *p = pattern_for(&t->use, *s, &a);
    if (!pattern__usable(sh, p))
        return -EINVAL;
    ptrdiff_t n = pattern__run(p, sh->p, *s, t->want);
    if (n <= 0)
        return expand__poll(sh);
    if (t->want == PAT_PREFIX_SHORT || t->want == PAT_PREFIX_LONG)
        *s = str_from(*s, (size_t)n);
    else
        s->n -= (size_t)n;
    return 0;
}

int expand__trim(struct shell *sh, struct param *p, struct value *v)
{
    struct trim t;
    /* nocasematch does not count here. */
    int r = get_pattern(sh, p, pattern_flags(sh) & ~PATTERN_NOCASE, &t.use);
    if (r < 0)
        return r;
    t.want = p->op == OP_PREFIX        ? PAT_PREFIX_SHORT
             : p->op == OP_PREFIX_LONG ? PAT_PREFIX_LONG
             : p->op == OP_SUFFIX      ? PAT_SUFFIX_SHORT
                                       : PAT_SUFFIX_LONG;
    return map_value(sh, v, trim_one, &t);
}

/* ---- /pattern/string ---- */

struct subst {
    struct pat_use use;
    enum param_op op;
    struct str rep;
    bool ampersand; /* & stands for what matched, \ quotes */
};

static void put_replacement(struct buf *b, const struct subst *t, struct str matched)
{
    if (!t->ampersand) {
        buf_adds(b, t->rep);
        return;
    }
    for (size_t i = 0; i < t->rep.n; i++) {
        char c = t->rep.p[i];
        if (c == '\\' && i + 1 < t->rep.n && (t->rep.p[i + 1] == '&' || t->rep.p[i + 1] == '\\'))
            buf_putc(b, t->rep.p[++i]);
        else if (c == '&')
            buf_adds(b, matched);
        else
            buf_putc(b, c);
    }
}

/* The one match of ${x/p/r}, ${x/#p/r} and ${x/%p/r}; bash looks at an empty text only for some patterns. */
static bool find_one(struct shell *sh, const struct subst *t, const struct pattern *p, struct str s, size_t *ret_at,
                     size_t *ret_n)
{
    struct str pat = t->use.text;
    bool star = pat.n && pat.p[0] == '*';
    ptrdiff_t n;
    if (t->op == OP_SUBST)
        return pat.n && (s.n || star) && pattern__search(p, sh->p, s, 0, ret_at, ret_n);
    if (t->op == OP_SUBST_HEAD && !s.n && pat.n && !star)
        return false;
    n = pattern__run(p, sh->p, s, t->op == OP_SUBST_HEAD ? PAT_PREFIX_LONG : PAT_SUFFIX_LONG);
    if (n < 0)
        return false;
    *ret_at = t->op == OP_SUBST_HEAD ? 0 : s.n - (size_t)n;
    *ret_n = (size_t)n;
    return true;
}

/* bash first asks whether the pattern with a '*' on each open side matches all of the text; with groups that is not
 * always what the search would find (see pattern_ext.c). */
static bool may_match(struct shell *sh, const struct subst *t, struct str s, int flags)
{
    STACK_ARENA(a);
    struct str pat = t->use.text;
    bool open = pat.n && pat.p[0] == '*' && !(pat.n > 1 && pat.p[1] == '(');
    bool head = t->op != OP_SUBST_HEAD && !open, tail = t->op != OP_SUBST_TAIL;
    char *p = arena_printf(&a, "%s%.*s%s", head ? "*" : "", (int)pat.n, pat.p, tail ? "*" : "");
    return pattern__run(pattern__compile(&a, str_c(p), flags), sh->p, s, PAT_WHOLE) >= 0;
}

static int subst_all(struct shell *sh, const struct subst *t, const struct pattern *p, struct str *s)
{
    struct buf *b = &expand__state(sh)->buf;
    size_t start = b->n, pos = 0, at, n;
    bool any = false;
    if (!t->use.text.n || (!s->n && t->use.text.p[0] != '*'))
        return 0;
    do {
        if (p->has_group && pos && !may_match(sh, t, str_from(*s, pos), p->flags))
            break;
        if (!pattern__search(p, sh->p, *s, pos, &at, &n) || (at == s->n && s->n))
            break;
        any = true;
        buf_add(b, s->p + pos, at - pos);
        put_replacement(b, t, str_of(s->p + at, n));
        pos = at + n;
        if (n == 0 && pos < s->n) {
            size_t len = 1;
            if (p->flags & PATTERN_UTF8)
                (void)uchar_get(s->p + pos, s->n - pos, &len);
            buf_add(b, s->p + pos, len);
            pos += len;
        }
        if (expand__poll(sh) < 0)
            break;
    } while (pos < s->n && !b->err);
    if (!any)
        return sh->flow == FLOW_KILLED ? -EINTR : 0;
    buf_adds(b, str_from(*s, pos));
    return expand__take(sh, start, s);
}

static int subst_one(struct shell *sh, void *arg, struct str *s)
{
    struct subst *t = arg;
    STACK_ARENA(a);
    const struct pattern *p = pattern_for(&t->use, *s, &a);
    size_t at, n;
    if (!pattern__usable(sh, p))
        return -EINVAL;
    if (p->has_group && !may_match(sh, t, *s, p->flags))
        return expand__poll(sh);
    if (t->op == OP_SUBST_ALL)
        return subst_all(sh, t, p, s);
    if (!find_one(sh, t, p, *s, &at, &n))
        return expand__poll(sh);
    struct buf *b = &expand__state(sh)->buf;
    size_t start = b->n;
    buf_add(b, s->p, at);
    put_replacement(b, t, str_of(s->p + at, n));
    buf_adds(b, str_from(*s, at + n));
    return expand__take(sh, start, s);
}

int expand__subst(struct shell *sh, struct param *p, struct value *v)
{
    struct subst t = {.op = p->op, .rep = STR("")};
    if (!v->set && !v->list)
        return 0;
    int r = get_pattern(sh, p, pattern_flags(sh), &t.use);
    bool active = sh_shopt(sh, SHOPT_PATSUB_REPLACEMENT);
    if (r == 0)
        r = expand_str(sh, p->arg2, active ? EXPAND_REPLACEMENT : EXPAND_PLAIN, &t.rep);
    if (r < 0)
        return r;
    t.ampersand = active && (str_find(t.rep, '&', 0) >= 0 || str_find(t.rep, '\\', 0) >= 0);
    return map_value(sh, v, subst_one, &t);
}

/* ---- :offset:length ---- */

static int eval_operand(struct shell *sh, const struct param *p, const struct word *w, struct arith **cache,
                        int64_t *ret)
{
    const char *who = sh->arith_who;
    struct str name = expand__name(sh, p);
    sh->arith_who = arena_dup(&sh->scratch, name.p, name.n);
    int r = arith_eval_word(sh, w, cache, ret);
    sh->arith_who = who;
    sh->line_only |= r < 0;
    return r < 0 ? expand__discard(sh) : 0;
}

static int negative_length(struct shell *sh, const struct param *p)
{
    struct str text = STR("");
    int r = expand_str(sh, p->arg2, EXPAND_ARITH, &text);
    if (r < 0)
        return r;
    sh_error(sh, "%.*s: substring expression < 0", (int)text.n, text.p);
    sh->line_only = true;
    return expand__discard(sh);
}

/* The range [*off, *end) within 0..@n of an offset and a length; false when it is empty. -EINVAL after a message. */
static int clip(struct shell *sh, const struct param *p, int64_t n, bool has_len, int64_t len, int64_t *off,
                int64_t *end)
{
    if (*off < 0)
        *off += n;
    if (*off < 0 || *off > n) {
        *off = *end = 0;
        return 0;
    }
    *end = n;
    if (has_len && len < 0) {
        *end = n + len;
        if (*end < *off)
            return negative_length(sh, p);
    } else if (has_len && len < n - *off) {
        *end = *off + len;
    }
    return 0;
}

static int slice_text(struct shell *sh, const struct param *p, struct value *v, int64_t off, bool has_len, int64_t len)
{
    int64_t end;
    int r = clip(sh, p, (int64_t)uchar_count(v->s, sh->utf8), has_len, len, &off, &end);
    if (r < 0)
        return r;
    size_t from = uchar_offset(v->s, (size_t)off, sh->utf8);
    struct str rest = str_from(v->s, from);
    if (off == end)
        rest = STR("");
    v->s = str_of(rest.p, uchar_offset(rest, (size_t)(end - off), sh->utf8));
    return 0;
}

/* A list's length may not be negative, however long the list. */
static int list_length(struct shell *sh, const struct param *p, bool has_len, int64_t len)
{
    return has_len && len < 0 ? negative_length(sh, p) : 0;
}

/* $0 counts as element 0 of the positional parameters. */
static int slice_args(struct shell *sh, const struct param *p, struct value *v, int64_t off, bool has_len, int64_t len)
{
    int64_t n = (int64_t)v->n + 1;
    if (off < 0)
        off += n;
    if (off < 0 || off >= n) {
        v->n = 0;
        return 0;
    }
    int r = list_length(sh, p, has_len, len);
    if (r < 0)
        return r;
    struct str *out = arena_try(&sh->scratch, (size_t)n * sizeof(*out));
    if (!out)
        return expand__no_memory(sh);
    out[0] = sh->arg0;
    if (v->n)
        memcpy(out + 1, v->v, v->n * sizeof(*out));
    v->v = out + off;
    v->n = (uint32_t)(has_len && len < n - off ? len : n - off);
    return 0;
}

/* An associative array has no order that a script could rely on. bash counts its elements from 1, with 0 as another
 * name of the first, and gives at least one. */
static int slice_assoc(struct shell *sh, const struct param *p, struct value *v, int64_t off, bool has_len, int64_t len)
{
    int64_t n = (int64_t)v->n + 1;
    if (off < 0)
        off += n;
    if (off < 0 || off >= n || n == 1) {
        v->n = 0;
        return 0;
    }
    int r = list_length(sh, p, has_len, len);
    if (r < 0)
        return r;
    uint32_t skip = off ? (uint32_t)off - 1 : 0;
    v->v += skip;
    v->n -= skip;
    if (has_len && len < v->n)
        v->n = len ? (uint32_t)len : 1;
    return 0;
}

/* Elements of an indexed array are counted from the first whose index is not below the offset. */
static int slice_array(struct shell *sh, struct param *p, struct value *v, int64_t off, bool has_len, int64_t len)
{
    const struct var *var = var_find(sh, p->sym);
    bool indexed = var && (var->flags & VAR_ARRAY);
    if (var && (var->flags & VAR_ASSOC))
        return slice_assoc(sh, p, v, off, has_len, len);
    int64_t max = indexed ? var_max_index(var) : (int64_t)v->n;
    uint32_t skip = 0;
    if (off < 0)
        off += max;
    if (off < 0 || off >= max) {
        v->n = 0;
        return 0;
    }
    int r = list_length(sh, p, has_len, len);
    if (r < 0)
        return r;
    if (indexed) {
        struct str key, val;
        int64_t index;
        for (size_t pos = 0; skip < v->n && var_next(var, &pos, &key, &index, &val) && index < off;)
            skip++;
    } else {
        skip = (uint32_t)off;
    }
    v->v += skip;
    v->n -= skip;
    if (has_len && len < v->n)
        v->n = (uint32_t)len;
    return 0;
}

int expand__substring(struct shell *sh, struct param *p, struct value *v)
{
    int64_t off = 0, len = 0;
    bool has_len = p->arg2 != NULL;
    if (!v->set && !v->list)
        return 0;
    int r = eval_operand(sh, p, p->arg, &p->arith1, &off);
    if (r == 0 && has_len)
        r = eval_operand(sh, p, p->arg2, &p->arith2, &len);
    if (r < 0)
        return r;
    if (!v->list)
        return slice_text(sh, p, v, off, has_len, len);
    return p->all ? slice_array(sh, p, v, off, has_len, len) : slice_args(sh, p, v, off, has_len, len);
}

/* ---- ^ ^^ , ,, ~ ~~ ---- */

struct case_op {
    struct pat_use use;
    enum param_op op;
    bool any; /* every character is meant */
};

static uint32_t change_case(enum param_op op, uint32_t c)
{
    switch ((int)op) {
    case OP_UPPER1:
    case OP_UPPER:
        return unicode_upper(c);
    case OP_LOWER1:
    case OP_LOWER:
        return unicode_lower(c);
    default:
        return unicode_lower(c) != c ? unicode_lower(c) : unicode_upper(c);
    }
}

static int case_one(struct shell *sh, void *arg, struct str *s)
{
    struct case_op *t = arg;
    bool first_only = t->op == OP_UPPER1 || t->op == OP_LOWER1 || t->op == OP_TOGGLE1;
    struct buf *b = &expand__state(sh)->buf;
    size_t start = b->n, i = 0;
    STACK_ARENA(a);
    const struct pattern *p = t->any ? NULL : pattern_for(&t->use, *s, &a);
    if (p && !pattern__usable(sh, p))
        return -EINVAL;
    while (i < s->n && !b->err) {
        size_t len = 1;
        uint32_t c = sh->utf8 ? uchar_get(s->p + i, s->n - i, &len) : (unsigned char)s->p[i];
        struct str one = str_of(s->p + i, len);
        i += len;
        char utf[4];
        if (c != UCHAR_BAD && (c < 0x80 || sh->utf8) && (!p || pattern__run(p, sh->p, one, PAT_WHOLE) >= 0))
            one = str_of(utf, uchar_put(change_case(t->op, c), utf));
        buf_adds(b, one);
        if (first_only)
            break;
    }
    buf_adds(b, str_from(*s, i));
    int r = expand__take(sh, start, s);
    return r < 0 ? r : expand__poll(sh);
}

int expand__case(struct shell *sh, struct param *p, struct value *v)
{
    struct case_op t = {.op = p->op};
    int r = get_pattern(sh, p, pattern_flags(sh) & ~PATTERN_NOCASE, &t.use);
    if (r < 0)
        return r;
    t.any = !p->arg || str_eqc(t.use.text, "?");
    return map_value(sh, v, case_one, &t);
}
