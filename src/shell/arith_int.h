/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * arith_int - compiled arithmetic: code for a machine with a stack of numbers.
 *
 * Instructions come in the order in which bash, which evaluates while it parses, would do the same steps; a syntax
 * error is an instruction too (the last one). So side effects before an error happen, and a wrong operand is found
 * before a division by zero that stands in front of it, as in bash. Jumps over parts that are not evaluated lead to
 * that last instruction when the error is inside the part.
 *
 * An element of an array is a reference of its own stack from the moment its subscript was evaluated until it is read
 * or written, so that the subscript of a[i++] += 1 is evaluated once. Whether a name is an indexed or an associative
 * array is known only when it runs; an instruction holds the subscript both as text and as code.
 */

#include "shell/ast_int.h"
#include "shell/expand_int.h"
#include "shell/var_int.h"

enum arith_op {
    AR_END,
    AR_ERROR, /* msg, token [a, b) of the text; the expression is shown up to b when `upto` */
    AR_CONST,
    AR_VAR,
    AR_SET, /* top of the stack to a variable; stays */
    AR_PREINC,
    AR_PREDEC,
    AR_POSTINC,
    AR_POSTDEC, /* of a variable */
    AR_REF,     /* evaluates a subscript: pushes a reference */
    AR_LOAD,    /* pushes the value of the newest reference */
    AR_DROP,    /* pops a reference */
    AR_STORE,   /* top of the stack to the newest reference, and pops the reference */
    AR_REF_PREINC,
    AR_REF_PREDEC,
    AR_REF_POSTINC,
    AR_REF_POSTDEC, /* of the newest reference, and pop it */
    AR_POP,
    AR_AND, /* top zero: stays, jump; else pop */
    AR_OR,  /* top not zero: becomes 1, jump; else pop */
    AR_BOOL,
    AR_JZ, /* pops; jump when zero */
    AR_JMP,
    AR_NOT,
    AR_COMPL,
    AR_NEG,
    AR_POW,
    AR_MUL,
    AR_DIV,
    AR_MOD,
    AR_ADD,
    AR_SUB,
    AR_SHL,
    AR_SHR,
    AR_LE,
    AR_GE,
    AR_LT,
    AR_GT,
    AR_EQ,
    AR_NE,
    AR_BAND,
    AR_XOR,
    AR_BOR,
};

struct arith_sub {
    struct sym *sym;
    struct str name;    /* NAME[SUBSCRIPT] as written */
    struct str text;    /* the subscript */
    struct arith *code; /* of the subscript when nothing in it has to be expanded, else NULL */
};

struct arith_insn {
    enum arith_op op;
    uint32_t a; /* jump target; or start of the token that an error shows */
    union {
        int64_t k;
        struct sym *sym;
        struct arith_sub *sub;
        const char *msg;
    };
    uint32_t b; /* AR_ERROR: end of the token */
    bool upto;
};

struct arith {
    struct str text; /* without leading blanks; NUL-terminated */
    uint32_t n;
    uint32_t depth, refs; /* most numbers and references on the stacks */
    struct arith_insn *code;
};

/* As arith_compile(), but @text (which outlives the code) is not copied. @level: subscripts around it. */
struct arith *arith__compile(struct shell *sh, struct arena *a, struct str text, uint32_t level);

/* Wrapping x ** y for y >= 0. */
int64_t arith__power(int64_t x, int64_t y);

/* A decimal number and nothing else (a sign and blanks around are allowed; no leading zero): the common value of a
 * variable. */
bool arith__decimal(struct str s, int64_t *ret);
