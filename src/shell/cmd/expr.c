/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/num.h"
#include "regex/regex.h"

/*
 * expr: an expression of which each word is an argument. Numbers beyond 64 bits, and characters beyond ASCII in a UTF-8
 * locale, are left to the userland's: nothing is read or written before the end, so that is possible at any point.
 */

#define STACK_LEAST 32768u /* bytes that a level of parentheses must find */

struct value {
    bool is_number;
    int64_t number;
    const char *text;
};

struct expr {
    struct cmd *c;
    char **args; /* what is not taken yet; NULL behind the last */
    bool stop;   /* the value does not matter any more: */
    int status;
};

static struct value of_number(int64_t v)
{
    return (struct value){.is_number = true, .number = v};
}

static struct value of_text(const char *s)
{
    return (struct value){.text = s};
}

/* Ends it all with a message; what comes back is a value that nobody looks at. */
__attribute__((format(printf, 2, 3))) static struct value fail(struct expr *e, const char *fmt, ...)
{
    if (!e->stop) {
        va_list ap;
        va_start(ap, fmt);
        struct buf b;
        buf_init(&b, LIMIT_ARGS * 8);
        buf_vaddf(&b, fmt, ap);
        va_end(ap);
        cmd_err(e->c, "%s", b.p);
        buf_done(&b);
        e->stop = true;
        e->status = 2;
    }
    return of_number(0);
}

static struct value refuse(struct expr *e, const char *what)
{
    if (!e->stop) {
        e->status = cmd_refuse(e->c, "%s is not implemented here", what);
        e->stop = true;
    }
    return of_number(0);
}

static bool looks_like_number(const char *s)
{
    s += *s == '-';
    if (!*s)
        return false;
    while (isdigit((unsigned char)*s))
        s++;
    return *s == 0;
}

/* Empty, or a number that is zero. */
static bool is_null(const struct value *v)
{
    if (v->is_number)
        return v->number == 0;
    const char *s = v->text;
    if (!*s)
        return true;
    s += *s == '-';
    if (!*s)
        return false;
    while (*s == '0')
        s++;
    return *s == 0;
}

static const char *text_of(struct expr *e, const struct value *v)
{
    return v->is_number ? arena_printf(e->c->arena, "%lld", (long long)v->number) : v->text;
}

/* The number that a value is: false if it is none. One that is too large is refused. */
static bool to_number(struct expr *e, struct value *v)
{
    if (v->is_number)
        return true;
    if (!looks_like_number(v->text))
        return false;
    errno = 0;
    int64_t n = strtoll(v->text, NULL, 10);
    if (errno != 0)
        refuse(e, "a number beyond 64 bits");
    *v = of_number(n);
    return true;
}

/* ---- words ---- */

/* Takes the next word if it is @word. */
static bool take(struct expr *e, const char *word)
{
    if (!*e->args || strcmp(*e->args, word) != 0)
        return false;
    e->args++;
    return true;
}

static bool more(struct expr *e)
{
    if (*e->args || e->stop)
        return !e->stop;
    fail(e, "syntax error: missing argument after %s", cmd_quote_loc(e->c, e->args[-1]));
    return false;
}

static struct value eval(struct expr *e, bool live);

static struct value primary(struct expr *e, bool live)
{
    if (!more(e))
        return of_number(0);
    if (take(e, "(")) {
        if (proc_stack_left(e->c->p) < STACK_LEAST)
            return refuse(e, "an expression so deep");
        struct value v = eval(e, live);
        if (e->stop)
            return v;
        if (!*e->args)
            return fail(e, "syntax error: expecting ')' after %s", cmd_quote_loc(e->c, e->args[-1]));
        if (!take(e, ")"))
            return fail(e, "syntax error: expecting ')' instead of %s", cmd_quote_loc(e->c, *e->args));
        return v;
    }
    if (take(e, ")"))
        return fail(e, "syntax error: unexpected ')'");
    return of_text(*e->args++);
}

/* ---- strings ---- */

/* STRING : REGEX, at the string's start: the first group, or how many characters match. */
static struct value match(struct expr *e, const struct value *text, const struct value *pattern)
{
    const char *message = NULL, *s = text_of(e, text);
    struct regex_span spans[2] = {{-1, -1}, {-1, -1}};
    struct regex *re;
    int r = regex_compile(str_c(text_of(e, pattern)), REGEX_DIALECT(REGEX_EXPR), &re, &message);
    if (r == -EINVAL)
        return fail(e, "%s", message);
    if (r < 0)
        return refuse(e, "such a pattern");
    bool group = regex_groups(re) > 0;
    r = regex_exec(re, str_c(s), 0, REGEX_ANCHORED, spans, group ? 2 : 1);
    regex_free(re);
    if (r < 0)
        return refuse(e, "such a pattern");
    if (!group)
        return of_number(r ? spans[0].end : 0);
    if (!r || spans[1].start < 0)
        return of_text("");
    return of_text(arena_dup(e->c->arena, s + spans[1].start, (size_t)(spans[1].end - spans[1].start)));
}

static struct value substr(struct expr *e, const struct value *text, struct value *from, struct value *length)
{
    const char *s = text_of(e, text);
    if (!to_number(e, from) || !to_number(e, length) || from->number <= 0 || length->number <= 0)
        return of_text("");
    size_t n = strlen(s);
    if ((uint64_t)from->number > n)
        return of_text("");
    size_t at = (size_t)from->number - 1, part = (size_t)NUM_MIN((uint64_t)length->number, (uint64_t)(n - at));
    return of_text(arena_dup(e->c->arena, s + at, part));
}

static struct value unary(struct expr *e, bool live)
{
    if (take(e, "+"))
        return more(e) ? of_text(*e->args++) : of_number(0);
    if (take(e, "length")) {
        struct value v = unary(e, live);
        return of_number((int64_t)strlen(text_of(e, &v)));
    }
    if (take(e, "match")) {
        struct value s = unary(e, live), re = unary(e, live);
        return live && !e->stop ? match(e, &s, &re) : s;
    }
    if (take(e, "index")) {
        struct value s = unary(e, live), set = unary(e, live);
        const char *text = text_of(e, &s);
        size_t n = strcspn(text, text_of(e, &set));
        return of_number(text[n] ? (int64_t)n + 1 : 0);
    }
    if (take(e, "substr")) {
        struct value s = unary(e, live), from = unary(e, live), length = unary(e, live);
        return e->stop ? s : substr(e, &s, &from, &length);
    }
    return primary(e, live);
}

/* ---- operators, from what binds most ---- */

static struct value matches(struct expr *e, bool live)
{
    struct value l = unary(e, live);
    while (!e->stop && take(e, ":")) {
        struct value r = unary(e, live);
        if (live && !e->stop)
            l = match(e, &l, &r);
    }
    return l;
}

/* Applies an operator to two numbers. */
static struct value arithmetic(struct expr *e, char op, struct value l, struct value r)
{
    int64_t v = 0;
    bool over = false;
    if (!to_number(e, &l) || !to_number(e, &r))
        return fail(e, "non-integer argument");
    if (e->stop)
        return l;
    if ((op == '/' || op == '%') && r.number == 0)
        return fail(e, "division by zero");
    if (op == '+')
        over = __builtin_add_overflow(l.number, r.number, &v);
    else if (op == '-')
        over = __builtin_sub_overflow(l.number, r.number, &v);
    else if (op == '*')
        over = __builtin_mul_overflow(l.number, r.number, &v);
    else if (r.number == -1)
        over = op == '/' && __builtin_sub_overflow(0, l.number, &v);
    else
        v = op == '/' ? l.number / r.number : l.number % r.number;
    return over ? refuse(e, "a number beyond 64 bits") : of_number(v);
}

static struct value products(struct expr *e, bool live)
{
    struct value l = matches(e, live);
    while (!e->stop) {
        char op = take(e, "*") ? '*' : take(e, "/") ? '/' : take(e, "%") ? '%' : 0;
        if (!op)
            break;
        struct value r = matches(e, live);
        if (live && !e->stop)
            l = arithmetic(e, op, l, r);
    }
    return l;
}

static struct value sums(struct expr *e, bool live)
{
    struct value l = products(e, live);
    while (!e->stop) {
        char op = take(e, "+") ? '+' : take(e, "-") ? '-' : 0;
        if (!op)
            break;
        struct value r = products(e, live);
        if (live && !e->stop)
            l = arithmetic(e, op, l, r);
    }
    return l;
}

enum relation { LESS, LESS_OR_EQUAL, EQUAL, NOT_EQUAL, MORE_OR_EQUAL, MORE, NO_RELATION };

static enum relation take_relation(struct expr *e)
{
    static const struct {
        const char *word;
        enum relation is;
    } words[] = {{"<", LESS},       {"<=", LESS_OR_EQUAL}, {"=", EQUAL}, {"==", EQUAL},
                 {"!=", NOT_EQUAL}, {">=", MORE_OR_EQUAL}, {">", MORE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (take(e, words[i].word))
            return words[i].is;
    return NO_RELATION;
}

/* As numbers when both look like some, else as text. */
static int compare(struct expr *e, struct value *l, struct value *r)
{
    bool numbers = (l->is_number || looks_like_number(l->text)) && (r->is_number || looks_like_number(r->text));
    if (!numbers)
        return strcmp(text_of(e, l), text_of(e, r));
    to_number(e, l);
    to_number(e, r);
    return (l->number > r->number) - (l->number < r->number);
}

static struct value relations(struct expr *e, bool live)
{
    struct value l = sums(e, live);
    while (!e->stop) {
        enum relation is = take_relation(e);
        if (is == NO_RELATION)
            break;
        struct value r = sums(e, live);
        int d = live && !e->stop ? compare(e, &l, &r) : 1;
        bool holds = is == LESS            ? d < 0
                     : is == LESS_OR_EQUAL ? d <= 0
                     : is == EQUAL         ? d == 0
                     : is == NOT_EQUAL     ? d != 0
                     : is == MORE_OR_EQUAL ? d >= 0
                                           : d > 0;
        l = of_number(live && holds);
    }
    return l;
}

static struct value ands(struct expr *e, bool live)
{
    struct value l = relations(e, live);
    while (!e->stop && take(e, "&")) {
        struct value r = relations(e, live && !is_null(&l));
        if (is_null(&l) || is_null(&r))
            l = of_number(0);
    }
    return l;
}

static struct value eval(struct expr *e, bool live)
{
    struct value l = ands(e, live);
    while (!e->stop && take(e, "|")) {
        struct value r = ands(e, live && is_null(&l));
        if (is_null(&l))
            l = is_null(&r) ? of_number(0) : r;
    }
    return l;
}

static bool beyond_ascii(char **args)
{
    for (; *args; args++)
        for (const char *s = *args; *s; s++)
            if ((unsigned char)*s > 127)
                return true;
    return false;
}

static int expr_main(struct cmd *c)
{
    struct expr e = {.c = c, .args = c->argv + 1};
    if (cmd_help_alone(c))
        return c->hand_over ? 2 : 0;
    take(&e, "--");
    if (!*e.args)
        return cmd_usage_error(c, "missing operand");
    if (cmd_utf8(c) && beyond_ascii(e.args))
        return cmd_refuse(c, "text beyond ASCII is not implemented here");
    struct value v = eval(&e, true);
    if (!e.stop && *e.args)
        fail(&e, "syntax error: unexpected argument %s", cmd_quote_loc(c, *e.args));
    if (e.stop)
        return e.status;
    cmd_puts(c, text_of(&e, &v));
    cmd_putc(c, '\n');
    return is_null(&v);
}

CMD(expr, expr_main, 2, "Usage: expr EXPRESSION\n",
    "Prints the value of EXPRESSION, each word of which is an argument. From what binds least:\n"
    "  A | B             A if it is neither empty nor 0, else B\n"
    "  A & B             A if neither is empty or 0, else 0\n"
    "  A < B, <= = != >= >\n"
    "  A + B, A - B\n"
    "  A * B, A / B, A % B\n"
    "  STRING : REGEX    the part of the first group, or how many characters match from the start\n"
    "  match STRING REGEX, substr STRING POS LENGTH, index STRING CHARS, length STRING\n"
    "  + TOKEN           TOKEN as a string\n"
    "  ( EXPRESSION )\n");
