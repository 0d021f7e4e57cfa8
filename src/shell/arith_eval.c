/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/arith_int.h"

#include <errno.h>

#include "proc/proc.h"
#include "shell/expander_int.h"
#include "shell/shell_int.h"

/* Values of variables that are expressions in turn, as in bash. */
#define DEPTH_MOST 1024

#define STACK_INLINE 24
#define REFS_INLINE 4

struct ref {
    struct arith_sub *sub;
    struct str key;
    int64_t index;
    bool bad; /* the subscript is not one: reads as 0 after a message */
    bool assoc;
};

struct machine {
    struct shell *sh;
    const struct arith *code;
    int64_t *sp;    /* the top of the stack */
    struct ref *rp; /* the newest reference */
};

bool arith__stack_low(const struct shell *sh)
{
    return sh->p && proc_stack_left(sh->p) < 49152;
}

int64_t arith__power(int64_t x, int64_t y)
{
    uint64_t r = 1, b = (uint64_t)x;
    for (; y > 0; y >>= 1, b *= b)
        if (y & 1)
            r *= b;
    return (int64_t)r;
}

bool arith__decimal(struct str s, int64_t *ret)
{
    size_t i = 0;
    bool minus = s.n && s.p[0] == '-';
    uint64_t v = 0;
    i += minus;
    if (s.n - i == 0 || s.n - i > 18 || (s.p[i] == '0' && s.n - i > 1))
        return false;
    for (; i < s.n; i++) {
        unsigned d = (unsigned)s.p[i] - '0';
        if (d > 9)
            return false;
        v = v * 10 + d;
    }
    *ret = minus ? -(int64_t)v : (int64_t)v;
    return true;
}

/* Prints the message of an error at bytes [from, to) of the expression. */
static int complain(struct shell *sh, struct str text, const char *msg, size_t from, size_t to, bool upto)
{
    size_t end = upto ? to : text.n;
    const char *who = sh->arith_who ? sh->arith_who : "", *colon = sh->arith_who ? ": " : "";
    sh_error(sh, "%s%s%.*s: %s (error token is \"%.*s\")", who, colon, (int)end, text.p ? text.p : "", msg,
             (int)(to - from), text.p ? text.p + from : "");
    return -EINVAL;
}

/* The value of a variable that is no plain number: evaluated as an expression. */
static int value_of(struct shell *sh, struct str text, int64_t *ret)
{
    if (!text.n) {
        *ret = 0;
        return 0;
    }
    if (arith__decimal(text, ret))
        return 0;
    return arith_eval_text(sh, text, ret);
}

static int unbound(struct shell *sh, const struct sym *s)
{
    sh_error(sh, "%s: unbound variable", s->name.p);
    return expand__exit(sh);
}

/* Slow half of reading a variable. */
static int load_slow(struct shell *sh, struct sym *s, int64_t *ret)
{
    struct str text;
    if (!var_text(sh, s, &text)) {
        *ret = 0;
        struct var *v = sh_opt(sh, OPT_NOUNSET) ? var_find(sh, s) : NULL;
        if (sh_opt(sh, OPT_NOUNSET) && (!v || !(v->flags & (VAR_ARRAY | VAR_ASSOC)) || !var_count(v)))
            return unbound(sh, s);
        return 0;
    }
    if (arith__decimal(text, ret)) {
        /* The number is kept beside the text, so that the next reading need not parse it. */
        struct var *v = sh->vars->v[s->id]; /* not by look-up, which would take the next RANDOM */
        if (v && v->p == text.p && !(v->flags & (VAR_DYN | VAR_NAMEREF | VAR_ARRAY | VAR_ASSOC))) {
            v->num = *ret;
            v->flags |= VAR_NUM;
        }
        return 0;
    }
    /* The text may be replaced while it is evaluated (x='x=3'). */
    return value_of(sh, arena_str(&sh->scratch, text), ret);
}

static inline int load(struct shell *sh, struct sym *s, int64_t *ret)
{
    struct var *v = s->id < sh->vars->n ? sh->vars->v[s->id] : NULL;
    if (v && (v->flags & (VAR_NUM | VAR_DYN | VAR_NAMEREF | VAR_ARRAY | VAR_ASSOC)) == VAR_NUM) {
        *ret = v->num;
        return 0;
    }
    struct arena_mark m = arena_mark(&sh->scratch);
    int r = load_slow(sh, s, ret);
    arena_reset(&sh->scratch, m);
    return r;
}

/* ---- elements ---- */

/* The expression goes on, with 0; unless the shell ends. */
static int bad_subscript(struct shell *sh, struct str name)
{
    sh_error(sh, "%.*s: bad array subscript", (int)name.n, name.p);
    sh_reported(sh);
    return sh->flow == FLOW_NONE ? 0 : -EINVAL;
}

/* A number that is a subscript. An error in it abandons the command, whatever it is part of, and names no builtin. */
static int eval_index(struct shell *sh, const struct arith_sub *sub, int64_t *ret)
{
    const char *who = sh->arith_who;
    sh->arith_who = NULL;
    int r;
    if (sub->code) {
        r = arith_eval(sh, sub->code, ret);
    } else {
        struct str text;
        r = expand__arith_subscript(sh, sub->text, false, &text);
        if (r == 0)
            r = arith_eval_text(sh, text, ret);
    }
    sh->arith_who = who;
    return r < 0 ? expand__discard(sh) : 0;
}

static int push_ref(struct machine *m, struct arith_sub *sub)
{
    struct shell *sh = m->sh;
    struct ref *r = ++m->rp;
    struct var *v = var_find(sh, sub->sym);
    *r = (struct ref){.sub = sub};
    r->assoc = v && (v->flags & VAR_ASSOC);
    if (!sub->text.n) {
        r->bad = true;
        return 0;
    }
    if (r->assoc) {
        r->key = sub->text;
        int e = sub->code ? 0 : expand__arith_subscript(sh, sub->text, true, &r->key);
        r->bad = !r->key.n;
        return e;
    }
    if (str_eqc(sub->text, "@") || str_eqc(sub->text, "*")) {
        r->bad = true;
        return 0;
    }
    return eval_index(sh, sub, &r->index);
}

static int load_ref(struct machine *m, int64_t *ret)
{
    struct shell *sh = m->sh;
    struct ref *r = m->rp;
    struct var *v = var_find(sh, r->sub->sym);
    struct str text;
    *ret = 0;
    if (r->bad) {
        int e = bad_subscript(sh, r->assoc && r->sub->text.n ? r->sub->sym->name : r->sub->name);
        return e == 0 && !r->sub->text.n ? bad_subscript(sh, r->sub->name) : e; /* bash says it twice */
    }
    if ((!v || !var_count(v)) && sh_opt(sh, OPT_NOUNSET))
        return unbound(sh, r->sub->sym);
    if (!r->assoc && r->index < 0) {
        r->index += v && (v->flags & VAR_ARRAY) ? var_max_index(v) : 0;
        if (r->index < 0)
            return bad_subscript(sh, r->sub->sym->name);
    }
    if (!v)
        return 0;
    if (!var_elem(sh, v, r->key, r->index, &text))
        return 0;
    if (arith__decimal(text, ret))
        return 0;
    struct arena_mark mark = arena_mark(&sh->scratch);
    int e = value_of(sh, arena_str(&sh->scratch, text), ret);
    arena_reset(&sh->scratch, mark);
    return e;
}

static int store_ref(struct machine *m, int64_t val)
{
    struct shell *sh = m->sh;
    struct ref *r = m->rp--;
    char digits[24];
    if (r->bad) {
        if (!r->sub->text.n)
            sh_error(sh, "%s%s`%.*s': not a valid identifier", sh->arith_who ? sh->arith_who : "",
                     sh->arith_who ? ": " : "", (int)r->sub->name.n, r->sub->name.p);
        else
            return bad_subscript(sh, r->sub->name);
        return 0;
    }
    int n = snprintf(digits, sizeof(digits), "%lld", (long long)val);
    int e = var_set_elem(sh, r->sub->sym, r->key, r->index, str_of(digits, (size_t)n), false);
    return e == -ERANGE ? 0 : e;
}

static int step_ref(struct machine *m, enum arith_op op, int64_t *ret)
{
    int64_t old;
    bool inc = op == AR_REF_PREINC || op == AR_REF_POSTINC, post = op == AR_REF_POSTINC || op == AR_REF_POSTDEC;
    int r = load_ref(m, &old);
    if (r < 0)
        return r;
    int64_t val = (int64_t)((uint64_t)old + (inc ? 1 : UINT64_MAX));
    *ret = post ? old : val;
    return store_ref(m, val);
}

static int step_var(struct shell *sh, enum arith_op op, struct sym *s, int64_t *ret)
{
    int64_t old;
    bool inc = op == AR_PREINC || op == AR_POSTINC, post = op == AR_POSTINC || op == AR_POSTDEC;
    int r = load(sh, s, &old);
    if (r < 0)
        return r;
    int64_t val = (int64_t)((uint64_t)old + (inc ? 1 : UINT64_MAX));
    *ret = post ? old : val;
    return var_set_int(sh, s, val);
}

/* ---- the machine ---- */

/* Operators that can fail. */
static int divide(struct machine *m, const struct arith_insn *in)
{
    int64_t y = m->sp[0], *x = &m->sp[-1];
    const struct arith *c = m->code;
    if (in->op == AR_POW) {
        if (y < 0)
            return complain(m->sh, c->text, "exponent less than 0", in->a, c->text.n, false);
        *x = arith__power(*x, y);
    } else if (y == 0) {
        return complain(m->sh, c->text, "division by 0", in->a, c->text.n, false);
    } else if (y == -1) { /* INT64_MIN / -1 wraps, and would trap */
        *x = in->op == AR_DIV ? (int64_t)(0 - (uint64_t)*x) : 0;
    } else {
        *x = in->op == AR_DIV ? *x / y : *x % y;
    }
    m->sp--;
    return 0;
}

static inline int64_t binary(enum arith_op op, int64_t x, int64_t y)
{
    uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
    switch ((int)op) {
    case AR_MUL:
        return (int64_t)(ux * uy);
    case AR_ADD:
        return (int64_t)(ux + uy);
    case AR_SUB:
        return (int64_t)(ux - uy);
    case AR_SHL:
        return (int64_t)(ux << (uy & 63));
    case AR_SHR:
        return x >> (uy & 63);
    case AR_LE:
        return x <= y;
    case AR_GE:
        return x >= y;
    case AR_LT:
        return x < y;
    case AR_GT:
        return x > y;
    case AR_EQ:
        return x == y;
    case AR_NE:
        return x != y;
    case AR_BAND:
        return x & y;
    case AR_XOR:
        return x ^ y;
    default: /* AR_BOR */
        return x | y;
    }
}

static int64_t unary(enum arith_op op, int64_t x)
{
    if (op == AR_NOT)
        return !x;
    return op == AR_COMPL ? ~x : (int64_t)(0 - (uint64_t)x);
}

/* Instructions that touch variables: pushes, stores. */
static int access_var(struct machine *m, const struct arith_insn *in)
{
    struct shell *sh = m->sh;
    switch ((int)in->op) {
    case AR_VAR:
        return load(sh, in->sym, ++m->sp);
    case AR_SET:
        return var_set_int(sh, in->sym, *m->sp);
    case AR_PREINC:
    case AR_PREDEC:
    case AR_POSTINC:
    case AR_POSTDEC:
        return step_var(sh, in->op, in->sym, ++m->sp);
    case AR_REF:
        return push_ref(m, in->sub);
    case AR_LOAD:
        return load_ref(m, ++m->sp);
    case AR_STORE:
        return store_ref(m, *m->sp);
    default:
        return step_ref(m, in->op, ++m->sp);
    }
}

/* A jump of && || ?: — the index of the next instruction. */
static uint32_t jump(struct machine *m, const struct arith_insn *in, uint32_t next)
{
    switch ((int)in->op) {
    case AR_AND:
        if (*m->sp == 0)
            return in->a;
        m->sp--;
        return next;
    case AR_OR:
        if (*m->sp) {
            *m->sp = 1;
            return in->a;
        }
        m->sp--;
        return next;
    case AR_JZ:
        return *m->sp-- == 0 ? in->a : next;
    default:
        return in->a;
    }
}

static int run(struct machine *m, int64_t *ret)
{
    const struct arith *c = m->code;
    int r = 0;
    for (uint32_t i = 0; r == 0;) {
        const struct arith_insn *in = &c->code[i++];
        switch (in->op) {
        case AR_END:
            *ret = *m->sp;
            return 0;
        case AR_ERROR:
            return complain(m->sh, c->text, in->msg, in->a, in->b, in->upto);
        case AR_CONST:
            *++m->sp = in->k;
            break;
        case AR_VAR:
        case AR_SET:
        case AR_PREINC:
        case AR_PREDEC:
        case AR_POSTINC:
        case AR_POSTDEC:
        case AR_REF:
        case AR_LOAD:
        case AR_STORE:
        case AR_REF_PREINC:
        case AR_REF_PREDEC:
        case AR_REF_POSTINC:
        case AR_REF_POSTDEC:
            r = access_var(m, in);
            break;
        case AR_DROP:
            m->rp--;
            break;
        case AR_POP:
            m->sp--;
            break;
        case AR_AND:
        case AR_OR:
        case AR_JZ:
        case AR_JMP:
            i = jump(m, in, i);
            break;
        case AR_BOOL:
            *m->sp = *m->sp != 0;
            break;
        case AR_NOT:
        case AR_COMPL:
        case AR_NEG:
            *m->sp = unary(in->op, *m->sp);
            break;
        case AR_POW:
        case AR_DIV:
        case AR_MOD:
            r = divide(m, in);
            break;
        case AR_MUL:
        case AR_ADD:
        case AR_SUB:
        case AR_SHL:
        case AR_SHR:
        case AR_LE:
        case AR_GE:
        case AR_LT:
        case AR_GT:
        case AR_EQ:
        case AR_NE:
        case AR_BAND:
        case AR_XOR:
        case AR_BOR:
            m->sp--;
            *m->sp = binary(in->op, m->sp[0], m->sp[1]);
            break;
        }
    }
    return r;
}

int arith_eval(struct shell *sh, const struct arith *code, int64_t *ret)
{
    int64_t stack[STACK_INLINE];
    struct ref refs[REFS_INLINE];
    struct machine m = {sh, code, stack, refs};
    if (sh->arith_depth >= DEPTH_MOST || arith__stack_low(sh))
        return complain(sh, code->text, "expression recursion level exceeded", 0, code->text.n, false);
    if (code->depth < STACK_INLINE && code->refs < REFS_INLINE && code->refs == 1) {
        sh->arith_depth++;
        int r = run(&m, ret);
        sh->arith_depth--;
        return r;
    }
    struct arena_mark mark = arena_mark(&sh->scratch);
    if (code->depth >= STACK_INLINE)
        m.sp = arena_try(&sh->scratch, (code->depth + (size_t)1) * sizeof(*m.sp));
    if (code->refs >= REFS_INLINE)
        m.rp = arena_try(&sh->scratch, (code->refs + (size_t)1) * sizeof(*m.rp));
    int r = -ENOMEM;
    if (m.sp && m.rp) {
        sh->arith_depth++;
        r = run(&m, ret);
        sh->arith_depth--;
    }
    arena_reset(&sh->scratch, mark);
    return r;
}

int arith_eval_text(struct shell *sh, struct str text, int64_t *ret)
{
    if (arith__decimal(text, ret))
        return 0;
    if (sh->arith_depth >= DEPTH_MOST || arith__stack_low(sh))
        return complain(sh, text, "expression recursion level exceeded", 0, text.n, false);
    struct arena_mark m = arena_mark(&sh->scratch);
    int r = arith_eval(sh, arith__compile(sh, &sh->scratch, text, 0), ret);
    arena_reset(&sh->scratch, m);
    return r;
}

int arith_eval_word(struct shell *sh, const struct word *w, struct arith **cache, int64_t *ret)
{
    struct str text;
    if (cache && *cache)
        return arith_eval(sh, *cache, ret);
    if (cache && w && w->arena && (w->flags & WORD_LITERAL)) {
        *cache = arith__compile(sh, w->arena, w->parts->text, 0);
        return arith_eval(sh, *cache, ret);
    }
    struct arena_mark m = arena_mark(&sh->scratch);
    int r = expand_str(sh, w, EXPAND_ARITH, &text);
    if (r == 0)
        r = arith_eval_text(sh, text, ret);
    arena_reset(&sh->scratch, m);
    return r;
}
