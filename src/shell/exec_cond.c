/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

#include "base/mem.h"
#include "regex/regex.h"
#include "shell/builtin/condition_int.h"

#define COND_TRUE 0
#define COND_FALSE 1
#define COND_ERROR 2

/* ---- =~ ---- */

/*
 * A loop asks the same question again and again, so a world keeps the last few compiled patterns. A shell takes one out
 * while it matches, because matching may let other shells run, and puts it back.
 */
#define REGEX_KEEP 8

struct kept {
    char *pattern;
    size_t n;
    unsigned flags;
    struct regex *re;
};

struct regex_cache {
    struct kept v[REGEX_KEEP];
    unsigned next;
};

static void kept_free(struct kept *k)
{
    mem_free(k->pattern);
    regex_free(k->re);
    *k = (struct kept){0};
}

void exec_regex_free(struct shell_world *w)
{
    for (int i = 0; w->regexes && i < REGEX_KEEP; i++)
        kept_free(&w->regexes->v[i]);
    mem_free(w->regexes);
    w->regexes = NULL;
}

static int poll_match(void *arg)
{
    struct shell *sh = arg;
    return proc_poll(sh->p) < 0 ? -1 : 0;
}

static bool regex_take(struct shell *sh, struct str pattern, unsigned flags, struct kept *ret)
{
    struct regex_cache *c = sh->world->regexes;
    for (int i = 0; c && i < REGEX_KEEP; i++) {
        struct kept *k = &c->v[i];
        if (k->re && k->flags == flags && str_eq(pattern, str_of(k->pattern, k->n))) {
            *ret = *k;
            *k = (struct kept){0};
            return true;
        }
    }
    struct regex *re;
    const char *why;
    if (regex_compile(pattern, flags, &re, &why) < 0)
        return false;
    *ret = (struct kept){mem_dup(pattern.p, pattern.n), pattern.n, flags, re};
    return true;
}

static void regex_give(struct shell *sh, struct kept *k)
{
    struct shell_world *w = sh->world;
    if (!w->regexes)
        w->regexes = mem_zalloc(sizeof *w->regexes);
    struct kept *to = &w->regexes->v[w->regexes->next++ % REGEX_KEEP];
    kept_free(to);
    *to = *k;
}

static int set_rematch(struct shell *sh, struct str text, const struct regex_span *spans, size_t n)
{
    struct sym *s = sym_get(sh, STR("BASH_REMATCH"));
    if (!s)
        return COND_ERROR;
    struct var *v = var_find_raw(sh, s);
    if (v && (v->flags & VAR_READONLY))
        return COND_ERROR;
    if (var_make_array(sh, s, VAR_ARRAY, false) < 0)
        return COND_ERROR;
    for (size_t i = 0; i < n; i++) {
        struct str part = STR("");
        if (spans[i].start >= 0)
            part = str_of(text.p + spans[i].start, (size_t)(spans[i].end - spans[i].start));
        if (var_set_elem(sh, s, (struct str){0}, (int64_t)i, part, false) < 0)
            return COND_ERROR;
    }
    return COND_TRUE;
}

static int match_regex(struct shell *sh, struct str text, struct str pattern)
{
    unsigned flags = REGEX_ERE | REGEX_DIALECT(REGEX_POSIX) | (sh->utf8 ? REGEX_UTF8 : 0u) |
                     (sh_shopt(sh, SHOPT_NOCASEMATCH) ? REGEX_ICASE : 0u);
    struct kept k;
    if (!regex_take(sh, pattern, flags, &k))
        return COND_ERROR;
    size_t n = regex_groups(k.re) + 1;
    struct regex_span *spans = arena_try(&sh->scratch, n * sizeof *spans);
    struct regex_poll poll = {poll_match, sh};
    int r = -1;
    if (spans) {
        regex_set_poll(k.re, &poll);
        r = regex_exec(k.re, text, 0, 0, spans, n);
        regex_set_poll(k.re, NULL);
    }
    regex_give(sh, &k);
    if (r < 0)
        return COND_ERROR;
    if (set_rematch(sh, text, spans, r ? n : 0) == COND_ERROR)
        return COND_ERROR;
    return r ? COND_TRUE : COND_FALSE;
}

/* ---- binary operators ---- */

static int compare_numbers(struct shell *sh, const char *op, struct str a, struct str b)
{
    int64_t x, y;
    if (arith_eval_text(sh, a, &x) < 0 || arith_eval_text(sh, b, &y) < 0)
        return COND_FALSE;
    bool r;
    if (op[1] == 'e' && op[2] == 'q')
        r = x == y;
    else if (op[1] == 'n')
        r = x != y;
    else if (op[1] == 'l')
        r = op[2] == 't' ? x < y : x <= y;
    else
        r = op[2] == 't' ? x > y : x >= y;
    return r ? COND_TRUE : COND_FALSE;
}

static int compare_pattern(struct shell *sh, struct str text, struct str pattern)
{
    int flags = (pattern_flags(sh) & ~PATTERN_NOCASE) | PATTERN_EXTGLOB;
    if (sh_shopt(sh, SHOPT_NOCASEMATCH))
        flags |= PATTERN_NOCASE;
    return sh_match(sh, pattern, text, flags) ? COND_TRUE : COND_FALSE;
}

static bool is_op(const char *op, const char *what)
{
    return strcmp(op, what) == 0;
}

static void trace_binary(struct shell *sh, const char *op, struct str a, struct str b)
{
    struct str x = a.n ? a : STR("''"), y = b.n ? b : STR("''");
    exec__trace_text(sh, str_c(arena_printf(&sh->scratch, "[[ %.*s %s %.*s ]]", (int)x.n, x.p, op, (int)y.n, y.p)));
}

static int cond_binary(struct shell *sh, const struct cond *c)
{
    const char *op = c->op;
    bool pattern = is_op(op, "==") || is_op(op, "=") || is_op(op, "!="), regex = is_op(op, "=~");
    bool number = op[0] == '-' && !is_op(op, "-ef") && !is_op(op, "-nt") && !is_op(op, "-ot");
    struct str a, b;
    if (expand_str(sh, c->a, number ? EXPAND_ARITH : EXPAND_PLAIN, &a) < 0)
        return COND_FALSE;
    enum expand_mode mode = number ? EXPAND_ARITH : regex ? EXPAND_REGEX : pattern ? EXPAND_PATTERN : EXPAND_PLAIN;
    if (expand_str(sh, c->b, mode, &b) < 0)
        return COND_FALSE;
    if (sh_opt(sh, OPT_XTRACE))
        trace_binary(sh, op, a, b);
    if (regex)
        return match_regex(sh, a, b);
    if (pattern)
        return compare_pattern(sh, a, b) ^ (op[0] == '!');
    if (is_op(op, "<"))
        return str_cmp(a, b) < 0 ? COND_TRUE : COND_FALSE;
    if (is_op(op, ">"))
        return str_cmp(a, b) > 0 ? COND_TRUE : COND_FALSE;
    if (number)
        return compare_numbers(sh, op, a, b);
    return condition_files(sh->p, op[1], a, b) ? COND_TRUE : COND_FALSE;
}

/* ---- the rest ---- */

static int cond_unary(struct shell *sh, const struct cond *c, const char *op)
{
    struct str a;
    if (expand_str(sh, c->a, EXPAND_PLAIN, &a) < 0)
        return COND_FALSE;
    if (sh_opt(sh, OPT_XTRACE)) {
        struct str x = a.n ? a : STR("''");
        exec__trace_text(sh, str_c(arena_printf(&sh->scratch, "[[ %s %.*s ]]", op, (int)x.n, x.p)));
    }
    if (is_op(op, "-n"))
        return a.n ? COND_TRUE : COND_FALSE;
    if (is_op(op, "-z"))
        return a.n ? COND_FALSE : COND_TRUE;
    /* What a quoted '…' leaves is expanded as a subscript; everything else was expanded above. */
    if (is_op(op, "-v") && !(c->a->parts && !c->a->parts->next && c->a->parts->kind == PART_QUOTED))
        return condition_is_set(sh, a, true) > 0 ? COND_TRUE : COND_FALSE;
    int r = condition_unary(sh, str_c(op), a);
    return r < 0 ? COND_ERROR : r ? COND_TRUE : COND_FALSE;
}

static int cond_eval(struct shell *sh, const struct cond *c)
{
    int r;
    switch (c->kind) {
    case COND_AND:
        r = cond_eval(sh, c->left);
        return r != COND_TRUE || sh->flow != FLOW_NONE ? r : cond_eval(sh, c->right);
    case COND_OR:
        r = cond_eval(sh, c->left);
        return r == COND_TRUE || sh->flow != FLOW_NONE ? r : cond_eval(sh, c->right);
    case COND_NOT:
        r = cond_eval(sh, c->left);
        return r == COND_ERROR ? r : !r;
    case COND_GROUP:
        return cond_eval(sh, c->left);
    case COND_UNARY:
        return cond_unary(sh, c, c->op);
    case COND_BINARY:
        return cond_binary(sh, c);
    case COND_WORD:
        return cond_unary(sh, c, "-n");
    }
    return COND_ERROR;
}

int exec_cond(struct shell *sh, const struct cond *c)
{
    struct arena_mark m = arena_mark(&sh->scratch);
    int r = cond_eval(sh, c);
    arena_reset(&sh->scratch, m);
    return sh->flow == FLOW_NONE ? r : sh->last_status;
}
