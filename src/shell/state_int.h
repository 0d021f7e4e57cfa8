/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * state - what a shell goes on from, as bytes: state.c writes and says when, state_read.c reads.
 *
 * A state is STATE_MAGIC and records in ascending order of tags; records of one tag ascend in their names or numbers.
 * So there is one form of each state, and nothing comes twice. Numbers are little-endian, a str is a u32 length and its
 * bytes, none of them NUL. Attributes are letters, options and builtins names, signals numbers: none depends on how
 * this build numbers things.
 */

#include "base/cursor.h"
#include "shell/shell_int.h"

#define STATE_MAGIC "fsshell1"

/* In the order in which they are applied. */
enum state_tag {
    STATE_UMASK = 1, /* u32 */
    STATE_CWD,       /* str */
    STATE_DIRSTACK,  /* u32 n, str … */
    STATE_ARGS,      /* u32 n, str … */
    STATE_ARG0,      /* str */
    STATE_SECONDS,   /* u64: the wall clock's second when SECONDS was 0 */
    STATE_UNSET,     /* str name: a variable of fresh shells that is gone */
    STATE_VAR,       /* str name, str attributes, value: str when set; arrays: u32 n, (u64 index or str key, str) … */
    STATE_GETOPTS,   /* u32: place in a clustered argument */
    STATE_FUNC,      /* str name, str attributes, str file, str body */
    STATE_ALIAS,     /* str name, str value */
    STATE_BUILTIN,   /* str name: switched off */
    STATE_TRAP,      /* u8 number, str commands */
    STATE_OPT,       /* str name, u8 on */
    STATE_SHOPT,     /* str name, u8 on */
    STATE_STATUS,    /* u8 */
    STATE_PIPESTATUS, /* u32 n, u8 … */
    STATE_TAGS,
};

struct state_letter {
    char c;
    uint32_t flag;
};

/* Attributes of variables (enum var_flags) and of functions (enum state_func), in the order in which they are written;
 * c is 0 at the end. */
extern const struct state_letter shell__state_var_letters[];
/* See shell__state_var_letters. */
extern const struct state_letter shell__state_func_letters[];
enum state_func { STATE_FUNC_READONLY = 1, STATE_FUNC_TRACED = 2, STATE_FUNC_EXPORTED = 4 };

/* Attributes that the binding of a dynamic variable may get. */
#define STATE_DYN_FLAGS                                                                                                \
    ((uint32_t)(VAR_EXPORT | VAR_READONLY | VAR_INTEGER | VAR_LOWER | VAR_UPPER | VAR_CAPCASE | VAR_TRACE))

/* What a shell that goes on began with. */
struct shell_kept {
    const struct shell_keep *keep;
    struct vartab *vars; /* of a fresh shell */
    uint32_t opts;
    uint64_t shopts;
    uint32_t umask;
    struct str pwd;               /* heap */
    int64_t zero;                 /* second in which SECONDS was 0 */
    struct vartab *given, *under; /* shell_keep.env as it was bound, and what the state has of those names; or NULL */
    bool has_args, has_arg0;      /* the start gave them */
    struct posargs *args_under;   /* then: the state's; counted */
    char *arg0_under;             /* heap */
};

/* Notes what fresh shells are like and applies the state of @keep (NULL: none): true when there was one, so that
 * startup files are not read again. */
bool shell__state_begin(struct shell *sh, const struct shell_keep *keep);
/* The main shell has ended with @o: gives its owner the chance to save it. */
void shell__state_end(struct shell *sh, struct outcome o);
/* Frees sh->kept. */
void shell__kept_free(struct shell *sh);
/* Applies a state that is valid: all of it, or only what a child of such a shell would see. */
void shell__state_apply(struct shell *sh, struct str state, bool exports_only);
