/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/find_int.h"

#include <stdarg.h>

#include "base/num.h"

/*
 * First every word becomes an item, with its arguments checked, then the items become a program. The real tool does the
 * same, so mistakes are found in its order. It puts the whole into parentheses of its own and adds -print when nothing
 * in it acts; its messages depend on them, so they are here too.
 */

enum item_kind { ITEM_TEST, ITEM_NOT, ITEM_AND, ITEM_OR, ITEM_COMMA, ITEM_OPEN, ITEM_CLOSE };

/* How tightly an item binds; others do not. */
enum prec { PREC_NONE, PREC_COMMA, PREC_OR, PREC_AND, PREC_NOT };

struct item {
    enum item_kind kind;
    bool own;     /* not a word of the user */
    bool effects; /* a test that does more than tell */
    const char *name;
    struct find_test t; /* of ITEM_TEST */
};

struct syntax {
    struct find *f;
    struct item *items;
    size_t n, at;
    bool acts; /* no -print need be added */
    unsigned nested;
};

/* Stack that is left for what a level of parentheses calls. */
#define NEST_STACK (48u << 10)

/*
 * A part of the program: its first test, and the list of places (2 * test, and 1 more for the place after a false test)
 * that will hold what follows it when it is true, and when it is false. The lists are chained through those very
 * places.
 */
struct part {
    int32_t first;
    int32_t yes, yes_end, no, no_end;
    bool effects;
    int need; /* the most that one of its tests needs: enum find_need */
};

bool find__fail(struct find *f, int status)
{
    f->status = status;
    return false;
}

bool find__bad(struct find *f, const char *fmt, ...)
{
    struct buf b;
    va_list ap;
    buf_init(&b, SIZE_MAX / 2);
    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    cmd_err(f->c, "%s", b.p);
    buf_done(&b);
    return find__fail(f, 1);
}

/* ---- the program ---- */

static int32_t *place(struct find *f, int32_t at)
{
    struct find_test *t = &f->tests[at / 2];
    return at % 2 ? &t->no : &t->yes;
}

static void fill(struct find *f, int32_t list, int32_t target)
{
    while (list >= 0) {
        int32_t *p = place(f, list);
        list = *p;
        *p = target;
    }
}

/* No list is ever empty: each part ends in tests that can be true and false. */
static void join(struct find *f, int32_t end, int32_t more)
{
    *place(f, end) = more;
}

static struct part part_of(struct find *f, const struct item *it)
{
    int32_t i = f->n_tests++;
    f->tests[i] = it->t;
    f->tests[i].yes = f->tests[i].no = -1;
    return (struct part){i, 2 * i, 2 * i, 2 * i + 1, 2 * i + 1, it->effects, it->t.need};
}

static struct part combine(struct find *f, enum item_kind op, struct part a, struct part b)
{
    struct part r = {.first = a.first, .effects = a.effects || b.effects, .need = NUM_MAX(a.need, b.need)};
    fill(f, op == ITEM_OR ? a.no : a.yes, b.first);
    if (op == ITEM_COMMA)
        fill(f, a.no, b.first);
    r.yes = b.yes;
    r.no = b.no;
    if (op == ITEM_AND) {
        join(f, a.no_end, b.no);
        r.no = a.no;
    } else if (op == ITEM_OR) {
        join(f, a.yes_end, b.yes);
        r.yes = a.yes;
    }
    r.yes_end = b.yes_end;
    r.no_end = b.no_end;
    return r;
}

/*
 * The operands of a chain of "and". Those that only tell are run in the order of what they need to know, as the real
 * tool does: so `-size +1 -name x` asks for the size of files called x only. Across one that does more nothing moves.
 */
struct chain {
    struct part done, by_need[NEED_STAT + 1];
    bool any, have[NEED_STAT + 1];
};

static void chain_end(struct find *f, struct chain *k)
{
    for (int i = 0; i <= NEED_STAT; i++) {
        if (k->have[i])
            k->done = k->any ? combine(f, ITEM_AND, k->done, k->by_need[i]) : k->by_need[i];
        k->any |= k->have[i];
        k->have[i] = false;
    }
}

static void chain_add(struct find *f, struct chain *k, struct part p)
{
    if (p.effects) {
        chain_end(f, k);
        k->done = k->any ? combine(f, ITEM_AND, k->done, p) : p;
        k->any = true;
    } else {
        k->by_need[p.need] = k->have[p.need] ? combine(f, ITEM_AND, k->by_need[p.need], p) : p;
        k->have[p.need] = true;
    }
}

/* ---- from items to the program ---- */

static bool expression(struct syntax *s, enum prec least, const struct item *before, struct part *ret);

static enum prec prec_of(const struct item *it)
{
    switch (it->kind) {
    case ITEM_COMMA:
        return PREC_COMMA;
    case ITEM_OR:
        return PREC_OR;
    case ITEM_AND:
        return PREC_AND;
    case ITEM_NOT:
        return PREC_NOT;
    case ITEM_TEST:
    case ITEM_OPEN:
    case ITEM_CLOSE:
        break;
    }
    return PREC_NONE;
}

static bool is_binary(const struct item *it)
{
    return it->kind == ITEM_AND || it->kind == ITEM_OR || it->kind == ITEM_COMMA;
}

/* An item that cannot begin an operand: why. */
static bool misplaced(struct syntax *s, const struct item *it, const struct item *before)
{
    if (is_binary(it))
        return find__bad(s->f, "invalid expression; you have used a binary operator '%s' with nothing before it.",
                         it->name);
    if (it->own)
        return find__bad(s->f, "expected an expression after '%s'", before ? before->name : "(");
    if (before && (before->kind == ITEM_NOT || is_binary(before)))
        return find__bad(s->f, "expected an expression between '%s' and ')'", before->name);
    return find__bad(s->f, "invalid expression; you have too many ')'");
}

/* What follows "(". */
static bool group(struct syntax *s, const struct item *open, struct part *ret)
{
    if (s->at == s->n || s->items[s->at].own)
        return find__bad(s->f,
                         "invalid expression; expected to find a ')' but didn't see one. "
                         "Perhaps you need an extra predicate after '%s'",
                         open->name);
    if (s->items[s->at].kind == ITEM_CLOSE) {
        if (open->own)
            return find__bad(s->f, "invalid expression: expected expression before closing parentheses '%s'.",
                             open->name);
        return find__bad(s->f, "invalid expression; empty parentheses are not allowed.");
    }
    if (!expression(s, PREC_NONE, open, ret))
        return false;
    if (s->at == s->n || s->items[s->at].kind != ITEM_CLOSE)
        return find__bad(s->f, "invalid expression; I was expecting to find a ')' somewhere but did not see one.");
    s->at++;
    return true;
}

static bool operand(struct syntax *s, const struct item *before, struct part *ret)
{
    if (s->at == s->n)
        return find__bad(s->f, "invalid expression");
    const struct item *it = &s->items[s->at];
    struct part p;
    switch (it->kind) {
    case ITEM_TEST:
        s->at++;
        *ret = part_of(s->f, it);
        return true;
    case ITEM_NOT:
        s->at++;
        if (!expression(s, PREC_NOT, it, &p))
            return false;
        *ret = (struct part){p.first, p.no, p.no_end, p.yes, p.yes_end, p.effects, p.need};
        return true;
    case ITEM_OPEN:
        s->at++;
        return group(s, it, ret);
    case ITEM_AND:
    case ITEM_OR:
    case ITEM_COMMA:
    case ITEM_CLOSE:
        break;
    }
    return misplaced(s, it, before);
}

/* The operands that "and" joins, the first of them in @ret. */
static bool conjunction(struct syntax *s, struct part *ret)
{
    struct chain k = {0};
    struct part p = *ret;
    chain_add(s->f, &k, p);
    while (s->at < s->n && s->items[s->at].kind == ITEM_AND) {
        const struct item *op = &s->items[s->at++];
        if (!expression(s, PREC_AND, op, &p))
            return false;
        chain_add(s->f, &k, p);
    }
    chain_end(s->f, &k);
    *ret = k.done;
    return true;
}

/* An operand and the operators after it that bind tighter than @least. */
static bool expression(struct syntax *s, enum prec least, const struct item *before, struct part *ret)
{
    struct part left, right;
    if (++s->nested > LIMIT_NESTING || proc_stack_left(s->f->c->p) < NEST_STACK) {
        s->f->status = cmd_refuse(s->f->c, "an expression nested as deeply as this is not implemented here");
        return false;
    }
    if (!operand(s, before, &left))
        return false;
    while (s->at < s->n && prec_of(&s->items[s->at]) > least) {
        const struct item *op = &s->items[s->at];
        if (!is_binary(op))
            return find__bad(s->f, "invalid expression");
        if (op->kind == ITEM_AND) {
            if (!conjunction(s, &left))
                return false;
            continue;
        }
        s->at++;
        if (!expression(s, prec_of(op), op, &right))
            return false;
        left = combine(s->f, op->kind, left, right);
    }
    s->nested--;
    *ret = left;
    return true;
}

/* ---- from words to items ---- */

static struct item *add(struct syntax *s, enum item_kind kind, const char *name, bool own)
{
    struct item *it = &s->items[s->n++];
    it->kind = kind;
    it->own = own;
    it->name = name;
    return it;
}

/* Adds something that an operand can begin with; two operands in a row are joined by "and". */
static struct item *add_operand(struct syntax *s, enum item_kind kind, const char *name, bool own)
{
    enum item_kind last = s->items[s->n - 1].kind;
    if (last == ITEM_TEST || last == ITEM_CLOSE)
        add(s, ITEM_AND, "-a", true);
    return add(s, kind, name, own);
}

/* Operators: true when @word is one. */
static bool operator_word(struct syntax *s, const char *word)
{
    static const struct {
        const char *name;
        enum item_kind kind;
    } ops[] = {
        {"!", ITEM_NOT}, {"not", ITEM_NOT}, {"(", ITEM_OPEN}, {")", ITEM_CLOSE}, {",", ITEM_COMMA},
        {"a", ITEM_AND}, {"and", ITEM_AND}, {"o", ITEM_OR},   {"or", ITEM_OR},
    };
    const char *name = word[0] == '-' ? word + 1 : word;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (strcmp(name, ops[i].name) != 0)
            continue;
        if (ops[i].kind == ITEM_NOT || ops[i].kind == ITEM_OPEN)
            add_operand(s, ops[i].kind, word, false);
        else
            add(s, ops[i].kind, word, false);
        return true;
    }
    return false;
}

/* Options stand in front: tells on a terminal when one does not. */
static void remember(struct find_parse *ps, const struct find_primary *p)
{
    if (p->kind == FIND_OPTION) {
        if (ps->first_test && ps->f->warn)
            cmd_err(
                ps->f->c,
                "warning: you have specified the global option %s after the argument %s, but global options are not "
                "positional, i.e., %s affects tests specified before it as well as those specified after it.  Please "
                "specify global options before other arguments.",
                ps->name, ps->first_test, ps->name);
    } else if (p->kind != FIND_POSITION && !ps->first_test) {
        ps->first_test = ps->name;
    }
}

/* A primary and its argument; ps->i is behind its name. */
static bool primary(struct syntax *s, struct find_parse *ps, const struct find_primary *p)
{
    struct find *f = s->f;
    const char *arg = NULL;
    remember(ps, p);
    if (p->kind == FIND_REFUSED) {
        f->status = cmd_refuse(f->c, "'%s' is not implemented here", ps->name);
        return false;
    }
    if (p->arg) {
        if (ps->i == ps->argc)
            return find__bad(f, "missing argument to `%s'", ps->name);
        arg = ps->argv[ps->i++];
    }
    struct find_test *t = ARENA_NEW(f->c->arena, struct find_test);
    t->fn = p->fn;
    t->need = p->need;
    ps->t = t;
    if (p->parse && !p->parse(ps, arg)) {
        if (f->status == 0)
            find__bad(f, "invalid argument `%s' to `%s'", arg ? arg : "", ps->name);
        return false;
    }
    if (f->shown || p->none)
        return true;
    ps->t = NULL;
    s->acts |= p->kind == FIND_ACTION;
    f->any_stat |= t->need == NEED_STAT;
    struct item *it = add_operand(s, ITEM_TEST, ps->name, false);
    it->t = *t;
    it->effects = p->kind == FIND_ACTION || p->fn == find__t_prune || p->fn == find__t_quit;
    return true;
}

/* Whether a word can stand in an expression. */
static bool is_expression(const char *a)
{
    return (a[0] == '-' && a[1]) || (a[0] && strchr("(),!", a[0]) && a[1] == 0);
}

/* A word that is no expression. */
static bool stray(struct find *f, const char *word, const char *before)
{
    struct vfs_ctx ctx = cmd_ctx(f->c);
    find__bad(f, "paths must precede expression: `%s'", word);
    if (before && vfs_access(f->v, &ctx, 0, str_c(word), F_OK, 0) == 0)
        cmd_err(f->c, "possible unquoted pattern after predicate `%s'?", before);
    return false;
}

static bool words(struct syntax *s, struct find_parse *ps)
{
    struct find *f = s->f;
    const char *before = NULL;
    while (ps->i < ps->argc && !f->shown) {
        const char *word = ps->argv[ps->i];
        if (!is_expression(word))
            return stray(f, word, before);
        ps->name = word;
        ps->i++;
        if (!operator_word(s, word)) {
            const struct find_primary *p = find__primary(word + (word[0] == '-'));
            if (!p)
                return find__bad(f, "unknown predicate `%s'", word);
            if (!primary(s, ps, p))
                return false;
        }
        before = word;
    }
    return true;
}

/* The -print that is understood: like one that is given it keeps its place behind what decides. */
static void understood(struct item *it)
{
    it->t.fn = find__t_print;
    it->effects = true;
}

static bool to_program(struct syntax *s)
{
    struct find *f = s->f;
    struct part p;
    if (s->n == 1) {
        s->n = 0;
        understood(add(s, ITEM_TEST, "-print", true));
    } else if (s->acts) {
        s->at = 1;
    } else {
        add(s, ITEM_CLOSE, ")", true);
        understood(add_operand(s, ITEM_TEST, "-print", true));
    }
    if (!expression(s, PREC_NONE, s->at ? &s->items[0] : NULL, &p))
        return false;
    if (s->at < s->n)
        return find__bad(f,
                         s->items[s->at].kind == ITEM_CLOSE ? "you have too many ')'" : "unexpected extra predicate");
    fill(f, p.yes, -1);
    fill(f, p.no, -1);
    f->first = p.first;
    if (f->deletes && f->prunes && !f->post_given)
        return find__bad(
            f, "The -delete action automatically turns on -depth, but -prune does nothing when -depth is in effect.  "
               "If you want to carry on anyway, just explicitly use the -depth option.");
    return true;
}

bool find__parse(struct find *f, int i)
{
    struct cmd *c = f->c;
    struct find_parse ps = {.f = f, .argv = c->argv, .argc = c->argc, .i = i};
    struct syntax s = {.f = f};
    /* Each word gives at most itself and an "and"; five items are ours. */
    size_t most = 2 * (size_t)(c->argc - i) + 5;
    s.items = mem_try_zalloc(most * sizeof *s.items);
    f->tests = mem_try(most * sizeof *f->tests);
    bool ok = s.items && f->tests;
    if (!ok) {
        f->status = cmd_no_memory(c);
    } else {
        add(&s, ITEM_OPEN, "(", true);
        ok = words(&s, &ps) && (f->shown || to_program(&s));
    }
    mem_free(s.items);
    return ok;
}

void find__eval(struct find *f)
{
    for (int32_t i = f->first; i >= 0;) {
        const struct find_test *t = &f->tests[i];
        bool known = t->need == NEED_NAME || (t->need == NEED_TYPE && f->type) || find__stat(f);
        bool r = known && t->fn(f, t);
        if (f->stop)
            return;
        i = r ? t->yes : t->no;
    }
}
