/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* xargs_int - what xargs.c (options and reading) and xargs_run.c (the command line and its children) share. */

#include "base/buf.h"
#include "shell/cmd/cmd.h"

struct xargs {
    struct cmd *c;
    const char *file; /* -a, or NULL */
    int delim;        /* -1: blanks and newlines, with quotes */
    const char *eof_word, *replace, *slot_var;
    uint64_t args_per_run, lines_per_run; /* 0: no limit */
    uint64_t procs_max;
    uint64_t chars_max;  /* bytes of a command line, each argument with its NUL */
    uint64_t chars_most; /* what -s can ask for */
    uint64_t args_most;
    bool no_empty, verbose, exit_if_long;
    /* reading */
    int fd;
    char *block;
    size_t pos, end;
    bool input_end, ended, nul_told;
    struct buf word;
    uint64_t lines; /* since the last run */
    /* the command line */
    const char *name; /* of the command */
    struct buf text;  /* arguments, each ended by NUL */
    uint64_t args, initial_args, initial_chars;
    bool in_initial; /* what is pushed is of the command itself */
    uint64_t runs;
    /* children and the end */
    struct cmd_child *children;
    size_t n_children, cap_children, running;
    bool pending;        /* a child ended that was not looked at yet: see xargs__run() */
    struct outcome last; /* its outcome */
    bool no_input;       /* standard input was closed */
    bool failed;         /* stop with `stopped`, or with child_error when that came first */
    bool at_end;         /* there is nothing more to run: what is left is waited for */
    bool late;           /* it failed at the end */
    int stopped;
    int child_error; /* 123 when a child failed, else 0 */
};

/* Ends xargs with a message and status 1. */
void xargs__fail(struct xargs *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds an argument to the command line, running what is there first when it is full. */
void xargs__push(struct xargs *x, const char *arg, size_t n);
/* Adds @arg with what was read in the place of x->replace. */
void xargs__insert(struct xargs *x, const char *arg);
/* Runs the command line and empties it but for the initial arguments. */
void xargs__run(struct xargs *x);
/* Runs it when an error in the input leaves arguments that were read before. */
void xargs__run_if_possible(struct xargs *x);
/* Waits for the children that still run; the exit status. */
int xargs__finish(struct xargs *x);
