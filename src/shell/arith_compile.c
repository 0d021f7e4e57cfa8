/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/arith_int.h"

#include "base/arena.h"
#include "shell/expander_int.h"

/* Nested parentheses and operators that the recursion below goes into. */
#define NESTING_MOST 1000

enum tok {
    T_END,
    T_NUM,
    T_STR,
    T_EQ,
    T_OPASSIGN,
    T_COMMA,
    T_QUES,
    T_COLON,
    T_LOR,
    T_LAND,
    T_BOR,
    T_XOR,
    T_BAND,
    T_EQEQ,
    T_NE,
    T_LE,
    T_GE,
    T_LT,
    T_GT,
    T_SHL,
    T_SHR,
    T_ADD,
    T_SUB,
    T_MUL,
    T_DIV,
    T_MOD,
    T_POW,
    T_NOT,
    T_COMPL,
    T_LPAR,
    T_RPAR,
    T_PREINC,
    T_PREDEC,
    T_POSTINC,
    T_POSTDEC,
};

struct compiler {
    struct shell *sh;
    struct arena *a;
    struct str text;
    size_t pos;  /* behind the current token */
    size_t last; /* start of the newest token that is not the end */
    enum tok tok, prev;
    enum arith_op assign_op; /* of T_OPASSIGN */
    int64_t num;             /* of T_NUM */
    struct str name;         /* of T_STR, without subscript */
    struct str sub;          /* its subscript */
    bool has_sub;
    struct str whole;
    bool lvalue; /* what was parsed last is a bare name, `target`; its value was not loaded when `=` follows */
    struct sym *target;
    struct arith_sub *target_sub;
    struct arith_insn *code;
    uint32_t n, cap;
    uint32_t depth, depth_max, refs, refs_max, nesting;
    uint32_t level; /* subscripts inside subscripts */
    bool failed;
    struct arith_insn waste; /* what is emitted after an error goes here */
};

/* Subscripts compiled inside subscripts; deeper ones are read when they are evaluated. */
#define LEVELS_MOST 16

/* ---- emitting ---- */

/* Doubles the code. Without memory the last instruction becomes an error. */
static bool grow(struct compiler *c)
{
    uint32_t cap = c->cap ? c->cap * 2 : 8;
    struct arith_insn *v = arena_try(c->a, cap * sizeof(*v));
    if (!v && c->cap) {
        c->code[c->n - 1] = (struct arith_insn){
            .op = AR_ERROR, .msg = "out of memory", .a = (uint32_t)c->last, .b = (uint32_t)c->text.n};
        c->failed = true;
        c->tok = T_END;
        return false;
    }
    if (!v)
        v = arena_alloc(c->a, cap * sizeof(*v));
    if (c->n)
        memcpy(v, c->code, c->n * sizeof(*v));
    c->code = v;
    c->cap = cap;
    return true;
}

static struct arith_insn *emit(struct compiler *c, enum arith_op op, int pushes)
{
    if (c->failed)
        return &c->waste;
    if (c->n == c->cap && !grow(c))
        return &c->waste;
    struct arith_insn *in = &c->code[c->n++];
    *in = (struct arith_insn){.op = op, .a = UINT32_MAX};
    c->depth += (uint32_t)pushes;
    if (pushes > 0 && c->depth > c->depth_max)
        c->depth_max = c->depth;
    return in;
}

static void fail_at(struct compiler *c, const char *msg, size_t from, size_t to, bool upto)
{
    if (c->failed)
        return;
    struct arith_insn *in = emit(c, AR_ERROR, 0);
    in->msg = msg;
    in->a = (uint32_t)from;
    in->b = (uint32_t)to;
    in->upto = upto;
    c->failed = true;
    c->tok = T_END;
}

/* An error at the newest token; it shows the rest of the expression from there. */
static void fail(struct compiler *c, const char *msg)
{
    fail_at(c, msg, c->last, c->text.n, false);
}

/* Index of the next instruction, as a jump target. */
static void land(struct compiler *c, uint32_t jump)
{
    if (!c->failed)
        c->code[jump].a = c->n;
}

/* ---- tokens ---- */

static int digit_value(char ch, int base)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    if (ch >= 'a' && ch <= 'z')
        return ch - 'a' + 10;
    if (ch >= 'A' && ch <= 'Z')
        return ch - 'A' + (base <= 36 ? 10 : 36);
    if (ch == '@')
        return 62;
    return ch == '_' ? 63 : -1;
}

/* Value of a constant [BASE#]N, 0N, 0xN: NULL, or what is wrong with it. */
static const char *number(struct str s, int64_t *ret)
{
    uint64_t val = 0;
    int base = 10;
    bool found_base = false;
    size_t i = 0;
    if (s.n > 1 && s.p[0] == '0') {
        bool hex = s.p[1] == 'x' || s.p[1] == 'X';
        base = hex ? 16 : 8;
        i = hex ? 2 : 1;
        found_base = true;
    }
    for (; i < s.n; i++) {
        if (s.p[i] == '#') {
            if (found_base)
                return "invalid number";
            if (val < 2 || val > 64)
                return "invalid arithmetic base";
            base = (int)val;
            val = 0;
            found_base = true;
            if (i + 1 == s.n)
                return "invalid integer constant";
            continue;
        }
        int d = digit_value(s.p[i], base);
        if (d < 0 || d >= base)
            return "value too great for base";
        val = val * (uint64_t)base + (uint64_t)d;
    }
    *ret = (int64_t)val;
    return NULL;
}

static bool name_start(char ch)
{
    return isalpha((unsigned char)ch) || ch == '_';
}

static bool name_char(char ch)
{
    return isalnum((unsigned char)ch) || ch == '_';
}

static size_t skip_blanks(struct str s, size_t i)
{
    while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '\n'))
        i++;
    return i;
}

/* Place of the ']' that closes the '[' at @i, or s.n. Quotes and nested brackets are skipped unless it is @plain text.
 */
static size_t subscript_end(struct str s, size_t i, bool plain)
{
    size_t depth = 0;
    for (; i < s.n; i++) {
        char ch = s.p[i];
        if (ch == '\\') {
            i++;
        } else if (plain) {
            if (ch == ']')
                return i;
        } else if (ch == '\'' || ch == '"') {
            ptrdiff_t q = str_find(s, ch, i + 1);
            if (q < 0)
                return s.n;
            i = (size_t)q;
        } else if (ch == '[') {
            depth++;
        } else if (ch == ']' && --depth == 0) {
            return i;
        }
    }
    return s.n;
}

static void next(struct compiler *c);

/* Behind a name bash reads one more token, to see whether it is assigned to: so what is wrong with that token comes
 * first. */
static void look_ahead(struct compiler *c)
{
    size_t i = skip_blanks(c->text, c->pos);
    if (i >= c->text.n || name_start(c->text.p[i]))
        return;
    struct compiler saved = *c;
    next(c);
    if (!c->failed)
        *c = saved;
}

/* With assoc_expand_once keys are what they are. */
static bool is_plain_key(struct shell *sh, struct str name)
{
    if (!sh_shopt(sh, SHOPT_ASSOC_EXPAND_ONCE))
        return false;
    struct sym *s = sym_get(sh, name);
    const struct var *v = s ? var_find(sh, s) : NULL;
    return v && (v->flags & VAR_ASSOC);
}

static void name_token(struct compiler *c, size_t start)
{
    struct str s = c->text;
    size_t i = start;
    while (i < s.n && name_char(s.p[i]))
        i++;
    c->name = str_of(s.p + start, i - start);
    c->has_sub = i < s.n && s.p[i] == '[';
    if (c->has_sub) {
        size_t end = subscript_end(s, i, is_plain_key(c->sh, c->name));
        if (end >= s.n) {
            fail(c, "bad array subscript");
            return;
        }
        c->sub = str_of(s.p + i + 1, end - i - 1);
        i = end + 1;
    }
    c->whole = str_of(s.p + start, i - start);
    c->pos = i;
    c->tok = T_STR;
    look_ahead(c);
}

static void number_token(struct compiler *c, size_t start)
{
    struct str s = c->text;
    size_t i = start;
    while (i < s.n && (name_char(s.p[i]) || s.p[i] == '#' || s.p[i] == '@'))
        i++;
    const char *msg = number(str_of(s.p + start, i - start), &c->num);
    c->pos = i;
    if (msg)
        fail_at(c, msg, start, i, true);
    else
        c->tok = T_NUM;
}

/* "++" or "--" at c->pos: one operator next to a name, else two signs. True when it was one operator. */
static bool step_token(struct compiler *c)
{
    struct str s = c->text;
    bool inc = s.p[c->pos] == '+';
    if (c->prev == T_STR) {
        c->tok = inc ? T_POSTINC : T_POSTDEC;
        c->pos += 2;
        return true;
    }
    size_t i = skip_blanks(s, c->pos + 2);
    if (i < s.n && name_start(s.p[i])) {
        c->tok = inc ? T_PREINC : T_PREDEC;
        c->pos += 2;
        return true;
    }
    return false;
}

static const struct op_token {
    char text[4];
    enum tok tok;
    enum arith_op assign; /* of an assignment operator */
} op_tokens[] = {
    {"<<=", T_OPASSIGN, AR_SHL}, {">>=", T_OPASSIGN, AR_SHR}, {"==", T_EQEQ, AR_END},     {"!=", T_NE, AR_END},
    {"<=", T_LE, AR_END},        {">=", T_GE, AR_END},        {"<<", T_SHL, AR_END},      {">>", T_SHR, AR_END},
    {"&&", T_LAND, AR_END},      {"||", T_LOR, AR_END},       {"**", T_POW, AR_END},      {"*=", T_OPASSIGN, AR_MUL},
    {"/=", T_OPASSIGN, AR_DIV},  {"%=", T_OPASSIGN, AR_MOD},  {"+=", T_OPASSIGN, AR_ADD}, {"-=", T_OPASSIGN, AR_SUB},
    {"&=", T_OPASSIGN, AR_BAND}, {"|=", T_OPASSIGN, AR_BOR},  {"^=", T_OPASSIGN, AR_XOR}, {"=", T_EQ, AR_END},
    {"<", T_LT, AR_END},         {">", T_GT, AR_END},         {"+", T_ADD, AR_END},       {"-", T_SUB, AR_END},
    {"*", T_MUL, AR_END},        {"/", T_DIV, AR_END},        {"%", T_MOD, AR_END},       {"!", T_NOT, AR_END},
    {"~", T_COMPL, AR_END},      {"(", T_LPAR, AR_END},       {")", T_RPAR, AR_END},      {"?", T_QUES, AR_END},
    {":", T_COLON, AR_END},      {",", T_COMMA, AR_END},      {"&", T_BAND, AR_END},      {"|", T_BOR, AR_END},
    {"^", T_XOR, AR_END},
};

static void op_token(struct compiler *c)
{
    struct str rest = str_from(c->text, c->pos);
    for (size_t i = 0; i < sizeof(op_tokens) / sizeof(op_tokens[0]); i++)
        if (str_starts(rest, str_c(op_tokens[i].text))) {
            c->tok = op_tokens[i].tok;
            c->assign_op = op_tokens[i].assign;
            c->pos += strlen(op_tokens[i].text);
            return;
        }
    bool operand = c->prev == T_NUM || c->prev == T_STR || c->prev == T_POSTINC || c->prev == T_POSTDEC;
    fail(c, operand ? "syntax error: invalid arithmetic operator" : "syntax error: operand expected");
}

static void next(struct compiler *c)
{
    struct str s = c->text;
    if (c->failed)
        return;
    c->prev = c->tok;
    c->pos = skip_blanks(s, c->pos);
    if (c->pos >= s.n) {
        c->tok = T_END;
        return;
    }
    c->last = c->pos;
    char ch = s.p[c->pos];
    if (name_start(ch))
        name_token(c, c->pos);
    else if (isdigit((unsigned char)ch))
        number_token(c, c->pos);
    else if ((ch != '+' && ch != '-') || c->pos + 1 >= s.n || s.p[c->pos + 1] != ch || !step_token(c))
        op_token(c);
}

/* ---- names ---- */

/* True when the subscript's text can be taken as it is. */
static bool plain_subscript(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr("$`\\\"'", s.p[i]))
            return false;
    return true;
}

/* The symbol and subscript of the current T_STR become the target. */
static bool take_name(struct compiler *c)
{
    struct arith_sub *sub = NULL;
    struct sym *sym = sym_get(c->sh, c->name);
    if (!sym) {
        fail(c, "too many variables");
        return false;
    }
    if (c->has_sub) {
        sub = ARENA_NEW(c->a, struct arith_sub);
        sub->sym = sym;
        sub->name = arena_str(c->a, c->whole);
        sub->text = arena_str(c->a, c->sub);
        if (plain_subscript(c->sub) && c->level < LEVELS_MOST)
            sub->code = arith__compile(c->sh, c->a, sub->text, c->level + 1);
    }
    c->target = sym;
    c->target_sub = sub;
    return true;
}

/* What follows the current name: '=' an assignment, '+' or '-' twice a step, else 0. */
static char peek_after_name(const struct compiler *c)
{
    size_t i = skip_blanks(c->text, c->pos);
    if (i + 1 >= c->text.n)
        return 0; /* `x=` at the end is an error, found when the value is missing */
    char ch = c->text.p[i], after = c->text.p[i + 1];
    if (ch == '=' && after != '=')
        return '=';
    return (ch == '+' || ch == '-') && after == ch ? ch : 0;
}

/* Emits the value of the target; an element leaves its reference. */
static void load_target(struct compiler *c, struct sym *sym, struct arith_sub *sub)
{
    if (!sub) {
        emit(c, AR_VAR, 1)->sym = sym;
        return;
    }
    emit(c, AR_REF, 0)->sub = sub;
    if (++c->refs > c->refs_max)
        c->refs_max = c->refs;
    emit(c, AR_LOAD, 1);
}

/* ++ and --; @base is the operator for a variable, its neighbour table for a reference goes the same way. */
static void emit_step(struct compiler *c, bool post, bool inc)
{
    struct arith_sub *sub = c->target_sub;
    if (!sub) {
        enum arith_op op = post ? (inc ? AR_POSTINC : AR_POSTDEC) : (inc ? AR_PREINC : AR_PREDEC);
        emit(c, op, 1)->sym = c->target;
        return;
    }
    emit(c, AR_REF, 0)->sub = sub;
    if (++c->refs > c->refs_max)
        c->refs_max = c->refs;
    emit(c, post ? (inc ? AR_REF_POSTINC : AR_REF_POSTDEC) : (inc ? AR_REF_PREINC : AR_REF_PREDEC), 1);
    c->refs--;
}

/* ---- grammar, from the loosest operator to the tightest ---- */

static void parse_comma(struct compiler *c);
static void parse_assign(struct compiler *c);

static bool enter(struct compiler *c)
{
    if (c->failed)
        return false;
    if (++c->nesting > NESTING_MOST || arith__stack_low(c->sh))
        fail(c, "expression recursion level exceeded");
    return !c->failed;
}

static void parse_step(struct compiler *c)
{
    bool inc = c->tok == T_PREINC;
    next(c);
    if (!take_name(c))
        return;
    emit_step(c, false, inc);
    next(c);
    if (c->tok == T_POSTINC || c->tok == T_POSTDEC)
        fail(c, c->tok == T_POSTINC ? "++: assignment requires lvalue" : "--: assignment requires lvalue");
    c->lvalue = false;
}

/* bash reads a variable's value when it reads its name, unless `=` follows: so its errors come before those of the next
 * token. */
static void parse_name(struct compiler *c)
{
    char after = peek_after_name(c);
    if (!take_name(c))
        return;
    struct sym *sym = c->target;
    struct arith_sub *sub = c->target_sub;
    if (after == '+' || after == '-') {
        emit_step(c, true, after == '+');
        next(c);
        next(c);
        c->lvalue = false;
        return;
    }
    if (after == 0)
        load_target(c, sym, sub);
    else
        emit(c, AR_CONST, 1)->k = 0; /* the value is not looked at; should the `=` be an error, it counts as 0 */
    next(c);
    if (after == 0 && sub && c->tok != T_OPASSIGN) {
        emit(c, AR_DROP, 0);
        c->refs--;
    }
    c->lvalue = true;
}

static void parse_primary(struct compiler *c)
{
    switch ((int)c->tok) {
    case T_PREINC:
    case T_PREDEC:
        parse_step(c);
        break;
    case T_LPAR:
        next(c);
        parse_comma(c);
        if (c->tok != T_RPAR)
            fail(c, "missing `)'");
        next(c);
        c->lvalue = false;
        break;
    case T_NUM:
        emit(c, AR_CONST, 1)->k = c->num;
        next(c);
        c->lvalue = false;
        break;
    case T_STR:
        parse_name(c);
        break;
    default:
        fail(c, "syntax error: operand expected");
    }
}

static void parse_unary(struct compiler *c)
{
    enum tok op = c->tok;
    if (op != T_NOT && op != T_COMPL && op != T_SUB && op != T_ADD) {
        parse_primary(c);
        return;
    }
    if (!enter(c))
        return;
    next(c);
    parse_unary(c);
    if (op != T_ADD)
        emit(c, op == T_NOT ? AR_NOT : op == T_COMPL ? AR_COMPL : AR_NEG, 0);
    c->lvalue = false;
    c->nesting--;
}

/* Strength of a binary operator; 0 for what is none. */
static int binary_level(enum tok t, enum arith_op *ret)
{
    static const struct {
        enum tok tok;
        enum arith_op op;
        int level;
    } ops[] = {
        {T_BOR, AR_BOR, 1}, {T_XOR, AR_XOR, 2}, {T_BAND, AR_BAND, 3}, {T_EQEQ, AR_EQ, 4}, {T_NE, AR_NE, 4},
        {T_LE, AR_LE, 5},   {T_GE, AR_GE, 5},   {T_LT, AR_LT, 5},     {T_GT, AR_GT, 5},   {T_SHL, AR_SHL, 6},
        {T_SHR, AR_SHR, 6}, {T_ADD, AR_ADD, 7}, {T_SUB, AR_SUB, 7},   {T_MUL, AR_MUL, 8}, {T_DIV, AR_DIV, 8},
        {T_MOD, AR_MOD, 8}, {T_POW, AR_POW, 9},
    };
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (ops[i].tok == t) {
            *ret = ops[i].op;
            return ops[i].level;
        }
    return 0;
}

static void parse_binary(struct compiler *c, int least)
{
    enum arith_op op = AR_END;
    int level;
    if (!enter(c))
        return;
    parse_unary(c);
    while (!c->failed && (level = binary_level(c->tok, &op)) >= least && level) {
        next(c);
        size_t operand = c->last;
        parse_binary(c, level == 9 ? 9 : level + 1);
        struct arith_insn *in = emit(c, op, -1);
        in->a = (uint32_t)(op == AR_POW ? c->last : operand);
        c->lvalue = false;
    }
    c->nesting--;
}

static void parse_logic(struct compiler *c, bool or)
{
    if (or)
        parse_logic(c, false);
    else
        parse_binary(c, 1);
    while (!c->failed && c->tok == (or ? T_LOR : T_LAND)) {
        uint32_t jump = c->n;
        emit(c, or ? AR_OR : AR_AND, -1);
        next(c);
        if (or)
            parse_logic(c, false);
        else
            parse_binary(c, 1);
        emit(c, AR_BOOL, 0);
        land(c, jump);
        c->lvalue = false;
    }
}

static void parse_cond(struct compiler *c)
{
    parse_logic(c, true);
    if (c->failed || c->tok != T_QUES || !enter(c))
        return;
    uint32_t jz = c->n;
    emit(c, AR_JZ, -1);
    next(c);
    if (c->tok == T_END || c->tok == T_COLON)
        fail(c, "expression expected");
    parse_comma(c);
    uint32_t jmp = c->n;
    emit(c, AR_JMP, -1);
    if (c->tok != T_COLON)
        fail(c, "`:' expected for conditional expression");
    next(c);
    if (c->tok == T_END)
        fail(c, "expression expected");
    land(c, jz);
    parse_cond(c);
    land(c, jmp);
    c->lvalue = false;
    c->nesting--;
}

static void parse_assign(struct compiler *c)
{
    parse_cond(c);
    if (c->failed || (c->tok != T_EQ && c->tok != T_OPASSIGN))
        return;
    if (!c->lvalue) {
        fail(c, "attempted assignment to non-variable");
        return;
    }
    enum arith_op op = c->tok == T_EQ ? AR_END : c->assign_op;
    struct sym *sym = c->target;
    struct arith_sub *sub = c->target_sub;
    if (!enter(c))
        return;
    if (op == AR_END) { /* takes the 0 back */
        c->n--;
        c->depth--;
    }
    next(c);
    parse_assign(c);
    if (op != AR_END)
        emit(c, op, -1)->a = (uint32_t)c->last;
    if (!sub) {
        emit(c, AR_SET, 0)->sym = sym;
    } else if (op != AR_END) {
        emit(c, AR_STORE, 0);
        c->refs--;
    } else {
        emit(c, AR_REF, 0)->sub = sub;
        if (c->refs + 1 > c->refs_max)
            c->refs_max = c->refs + 1;
        emit(c, AR_STORE, 0);
    }
    c->lvalue = false;
    c->nesting--;
}

static void parse_comma(struct compiler *c)
{
    if (!enter(c))
        return;
    parse_assign(c);
    while (!c->failed && c->tok == T_COMMA) {
        emit(c, AR_POP, -1);
        next(c);
        parse_assign(c);
        c->lvalue = false;
    }
    c->nesting--;
}

struct arith *arith__compile(struct shell *sh, struct arena *a, struct str text, uint32_t level)
{
    size_t skip = 0;
    while (skip < text.n && isspace((unsigned char)text.p[skip]))
        skip++;
    text = str_from(text, skip);
    struct compiler c = {.sh = sh, .a = a, .text = text, .level = level};
    next(&c);
    if (c.tok == T_END && !c.failed) {
        emit(&c, AR_CONST, 1)->k = 0;
    } else {
        parse_comma(&c);
        if (!c.failed && c.tok != T_END)
            fail(&c, "syntax error in expression");
    }
    uint32_t error = c.n - 1;
    if (!c.failed)
        emit(&c, AR_END, 0);
    for (uint32_t i = 0; c.failed && i < error; i++)
        if (c.code[i].a == UINT32_MAX)
            c.code[i].a = error; /* jumps over the part that is broken; other instructions do not look at it */
    struct arith *r = arena_alloc(a, sizeof(*r));
    *r = (struct arith){text, c.n, c.depth_max + 2, c.refs_max + 1, c.code};
    return r;
}

struct arith *arith_compile(struct shell *sh, struct arena *a, struct str text)
{
    return arith__compile(sh, a, arena_str(a, text), 0);
}
