/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * condition - conditional expressions: the operators that test, [, [[ and /usr/bin/test share, and the grammar of test
 * and [.
 *
 * The grammar is POSIX's (test, by number of arguments up to four), then an expression parser for what is longer, in
 * which both sides of -a and -o are always looked at. bash 5.2 and coreutils 9.1 differ in operators, in what is an
 * integer and in messages.
 */

#include "base/str.h"

struct proc;

struct condition_ops {
    /* A message on standard error, after the command's name. */
    void (*error)(void *arg, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
    /* -v, -R, -o of one argument: 1, 0, or a negative number after a message. NULL: there are none. */
    int (*shell_test)(void *arg, char op, struct str s);
    /* GNU: @s in quotation marks. */
    const char *(*name)(void *arg, struct str s);
};

struct condition {
    const struct condition_ops *ops;
    void *arg;
    struct proc *p;
    bool gnu;
    bool bracket; /* called as [: messages name the closing bracket */
};

/* Evaluates argv (without the command's name and without "]"; in a bracket argv[argc] is that "]"): 0 true, 1 false, 2
 * after a message. Each str is NUL-terminated. */
int condition_run(const struct condition *c, const struct str *argv, int argc);

/* Whether @op is a unary operator of bash's test and [[ ("-f"). */
bool condition_is_unary(struct str op);

/* The file tests: -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -u -w -x and -a. */
bool condition_file(struct proc *p, char op, struct str path);

/* -ef -nt -ot: @which is 'e', 'n', 'o'. */
bool condition_files(struct proc *p, char which, struct str a, struct str b);

/* -t: @fd is the text of a number; false for any other text. */
bool condition_tty(struct proc *p, struct str fd);

/* An integer as bash takes one: decimal with blanks around and a sign. False when it is none or does not fit. */
bool condition_int(struct str s, int64_t *ret);

struct shell;
/* -v NAME, NAME[sub], a positional parameter's number: 1 set, 0 not, or -EINVAL after a message. @done: the subscript
 * was expanded. */
int condition_is_set(struct shell *sh, struct str name, bool done);
/* Any unary operator of the shell: 1, 0, or negative after a message ([[ -f x ]]). @op as in condition_is_unary(). */
int condition_unary(struct shell *sh, struct str op, struct str s);
