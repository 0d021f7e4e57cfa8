/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * printf - the format machine that the shell's printf and /usr/bin/printf share. It writes as it goes, so neither a
 * huge width nor a million arguments needs memory. What differs between the two (messages, %q, which conversions there
 * are) is in the job.
 */

#include "base/str.h"

struct proc;
struct buf;

struct printf_ops {
    /* Takes output: 0, or negative when more is useless. */
    int (*write)(void *arg, const char *p, size_t n);
    /* A message on standard error. */
    void (*error)(void *arg, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
    /* @s as a message names it; borrowed until the next message. */
    const char *(*name)(void *arg, struct str s);
    /* %q. */
    void (*quote)(void *arg, struct buf *out, struct str s);
    /* %(fmt)T of @secs; -1 is the present time, -2 that of the shell's start. NULL: there is no such conversion. */
    void (*time)(void *arg, struct buf *out, struct str fmt, int64_t secs);
    /* %n: sets the variable @name; false after a message. NULL: there is no such conversion. */
    bool (*count)(void *arg, struct str name, int64_t n);
};

struct printf_job {
    const struct printf_ops *ops;
    void *arg;
    struct proc *p;
    bool gnu; /* coreutils 9.1, else bash 5.2 */
    bool utf8;
    bool warn_const; /* GNU: characters behind 'c are worth a warning */
};

/* Prints @args by @fmt, over and over while arguments are left: the status, 0 or 1. Every str is NUL-terminated. */
int printf_run(const struct printf_job *job, struct str fmt, const struct str *args, uint32_t n_args);
