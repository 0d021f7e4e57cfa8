/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * var_special - variables whose reading or writing does something. Which symbols they are is fixed when a world begins;
 * whether one still is special is VAR_DYN of its binding: `unset RANDOM` makes it ordinary, as in bash.
 */

#include "shell/var_int.h"

struct shell_world;

enum sym_special {
    SPECIAL_NONE,
    /* made when read */
    SPECIAL_RANDOM,
    SPECIAL_SRANDOM,
    SPECIAL_SECONDS,
    SPECIAL_LINENO,
    SPECIAL_BASHPID,
    SPECIAL_EPOCHSECONDS,
    SPECIAL_EPOCHREALTIME,
    SPECIAL_BASH_COMMAND,
    SPECIAL_BASH_SUBSHELL,
    SPECIAL_BASH_ARGV0,
    SPECIAL_HISTCMD,
    SPECIAL_SHELLOPTS,
    SPECIAL_BASHOPTS,
    SPECIAL_UNDERSCORE,
    SPECIAL_FUNCNAME,
    SPECIAL_BASH_SOURCE,
    SPECIAL_BASH_LINENO,
    SPECIAL_PIPESTATUS,
    SPECIAL_DIRSTACK,
    SPECIAL_GROUPS,
    SPECIAL_BASH_ARGC,
    SPECIAL_BASH_ARGV,
    SPECIAL_BASH_ALIASES,
    SPECIAL_BASH_CMDS,
    SPECIAL_DYN_COUNT,
    /* ordinary values; writing does something */
    SPECIAL_IFS,
    SPECIAL_PATH,
    SPECIAL_OPTIND,
    SPECIAL_LOCALE, /* LANG, LC_ALL, LC_CTYPE */
    SPECIAL_XTRACEFD,
    SPECIAL_POSIXLY_CORRECT,
    SPECIAL_GLOBIGNORE,
    SPECIAL_HISTSIZE,
};

/* Marks the symbols of a new world. */
void var__special_symbols(struct shell *sh);
/* Binds the dynamic variables of a new shell. */
void var__special_bind(struct shell *sh);
/* The value of a dynamic variable as it is now; borrowed until the next call for it. */
struct var *var__special_read(struct shell *sh, struct sym *s, struct var *bound);
/* Whether listings show the value of the dynamic variable @s. */
bool var__special_listed(const struct sym *s);
/* An assignment to a dynamic variable (@bound): 1 when it is done or ignored, 0 when the ordinary way applies, or an
 * error. */
int var__special_write(struct shell *sh, struct sym *s, struct var *bound, struct str val);
/* As var__special_write(), of one element. */
int var__special_write_elem(struct shell *sh, struct sym *s, struct str key, int64_t index, struct str val,
                            bool append);
/* As var__special_write(), removing an element. */
int var__special_unset_elem(struct shell *sh, struct sym *s, struct str key, int64_t index);
/* The binding of a special symbol was assigned, unset or put back. */
void var__special_changed(struct shell *sh, struct sym *s);
/* Frees what var__special_read() made. */
void var__special_done(struct shell *sh);

/* ---- var.c, for its neighbours ---- */

/* A variable without value or attributes. */
struct var *var__new(void);
/* Counting. */
struct var *var__ref(struct var *v);
/* See var__ref(). Accepts NULL. */
void var__unref(struct var *v);
/* A copy with one reference, or NULL when memory is short. */
struct var *var__copy(const struct var *v);
/* The table, made this shell's own and wide enough for @id; NULL when memory is short. */
struct vartab *var__table(struct shell *sh, uint32_t id);
/* Puts @v (taken; NULL: nothing) in place of the binding of @s and returns the one before (the caller's). -ENOMEM
 * leaves all as it was. */
int var__swap(struct shell *sh, struct sym *s, struct var *v, struct var **ret_old);
/* Stores text without looking at attributes. */
int var__store(struct var *v, struct str val);
/* Drops value (text, array) but not attributes. */
void var__clear(struct var *v);
/* Prints "NAME: readonly variable"; -EPERM. */
int var__readonly(struct shell *sh, const struct sym *s);
/* `A=1 export A`: a variable of the command's own temporary environment stays. */
void var__keep_temp(struct shell *sh, struct sym *s);
/* What @v's attributes make of @val (integer, case): text in the shell's scratch arena, or @val itself. */
int var__transform(struct shell *sh, const struct var *v, struct str val, struct str *ret);
