/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * var - symbols, variables and scopes.
 *
 * A name that occurs anywhere in a session is a struct sym with a dense index. A shell's variables are an array from
 * that index to struct var: looking up is an array access. The array (struct vartab) is counted: a subshell shares it
 * and copies on its first write; a struct var is counted likewise. `local` saves the binding it replaces in the
 * function's frame (shallow binding) and var_pop_frame() puts it back.
 *
 * A variable's text and number are kept together: an assignment from arithmetic stores both, so reading it in
 * arithmetic does not parse.
 */

#include "base/str.h"

#include <stdbool.h>

struct shell;
struct buf;
struct map;
struct arena;
struct frame;

enum var_flags {
    VAR_SET = 1 << 0, /* has a value (else only attributes) */
    VAR_EXPORT = 1 << 1,
    VAR_READONLY = 1 << 2,
    VAR_INTEGER = 1 << 3,
    VAR_LOWER = 1 << 4,
    VAR_UPPER = 1 << 5,
    VAR_CAPCASE = 1 << 6,
    VAR_ARRAY = 1 << 7,
    VAR_ASSOC = 1 << 8,
    VAR_NAMEREF = 1 << 9,
    VAR_TRACE = 1 << 10,
    VAR_LOCAL = 1 << 11,    /* belongs to the function frame at depth `depth` */
    VAR_NUM = 1 << 12,      /* num is the value of text */
    VAR_IMPORTED = 1 << 13, /* came from the environment */
    VAR_DYN = 1 << 14,      /* its value is made when it is read (var_special.c) */
    VAR_TEMP = 1 << 15,     /* bound by the temporary environment of a command (A=1 cmd) */
    VAR_NOASSIGN = 1 << 16, /* assignments are ignored (FUNCNAME, GROUPS …) */
    VAR_NOUNSET = 1 << 17,  /* "cannot unset" (BASH_LINENO …) */
};

struct sym {
    struct str name; /* NUL-terminated */
    uint32_t id;
    uint8_t special; /* enum sym_special (var_special_int.h): its reading or writing does something; 0: nothing */
};

struct arr;   /* indexed: sparse, ordered by index (array.c) */
struct assoc; /* string keys, in bash's order (array.c) */

struct var {
    uint32_t refs;
    uint32_t flags;
    uint32_t depth; /* of the function that declared it local */
    uint32_t place; /* of OPTIND: where getopts is inside a clustered argument; 0: at its start */
    char *p;        /* text, NUL-terminated, when scalar and set; for a nameref its target's name */
    size_t n, cap;
    int64_t num; /* with VAR_NUM */
    struct arr *arr;
    struct assoc *assoc;
};

struct vartab {
    uint32_t refs;
    uint32_t n;
    struct var **v;
};

/* ---- symbols ---- */

/* The symbol of @name, made if new. NULL at LIMIT_SYMBOLS. */
struct sym *sym_get(struct shell *sh, struct str name);
/* A valid shell identifier? */
bool sym_valid(struct str name);

/* ---- reading ---- */

/* The variable bound to @s, namerefs followed, dynamic ones brought up to date; NULL when neither set nor declared. A
 * nameref to an element (NAME[sub]) gives the array: var_text() is what reads the element. */
struct var *var_find(struct shell *sh, struct sym *s);
/* The same without following a nameref. */
struct var *var_find_raw(struct shell *sh, struct sym *s);
/* The scalar value (element 0 or "0" of an array): true and *ret, borrowed until the next assignment; false when unset.
 */
bool var_text(struct shell *sh, struct sym *s, struct str *ret);
/* By name; for the shell's own use (IFS, PATH, HOME …). Empty str with p NULL when unset. */
struct str var_get(struct shell *sh, const char *name);
/* Element of an array (or of a scalar seen as one): @key is the number or string key. */
bool var_elem(struct shell *sh, const struct var *v, struct str key, int64_t index, struct str *ret);
/* Number of elements; scalars count as one. */
size_t var_count(const struct var *v);
/* Walks elements in order (indexed: by index; assoc: in bash's order or insertion order): *pos starts at 0; false at
 * the end. */
bool var_next(const struct var *v, size_t *pos, struct str *ret_key, int64_t *ret_index, struct str *ret_val);
/* Largest index + 1 of an indexed array. */
int64_t var_max_index(const struct var *v);

/* ---- writing ---- */

/* Assigns a scalar (element 0 of an array), with attributes applied (integer, case), namerefs followed: 0, -EPERM
 * (readonly; the message "NAME: readonly variable" is printed), -EINVAL (bad arithmetic or nameref; printed), -ENOMEM.
 */
int var_set(struct shell *sh, struct sym *s, struct str val);
/* NAME+=value. */
int var_append(struct shell *sh, struct sym *s, struct str val);
/* The fast way for arithmetic results. */
int var_set_int(struct shell *sh, struct sym *s, int64_t val);
/* By name; for the shell's own use. */
int var_set_name(struct shell *sh, const char *name, struct str val);
/* Element assignment; @key is for associative arrays, @index for indexed ones (negative: from the end; -ERANGE "bad
 * array subscript" printed). */
int var_set_elem(struct shell *sh, struct sym *s, struct str key, int64_t index, struct str val, bool append);
/* Makes it an (empty) array of the kind @flag (VAR_ARRAY or VAR_ASSOC), for NAME=(…): with @keep the elements stay
 * (+=). */
int var_make_array(struct shell *sh, struct sym *s, uint32_t flag, bool keep);
/* Removes the variable or element: 0, -EPERM (readonly). */
int var_unset(struct shell *sh, struct sym *s);
/* See var_unset(). */
int var_unset_elem(struct shell *sh, struct sym *s, struct str key, int64_t index);
/* Sets and clears attribute flags, making the variable if needed. */
int var_attr(struct shell *sh, struct sym *s, uint32_t set, uint32_t clear);
/* The variable to change in place: table and variable unshared, made if missing (no attributes). For builtins that need
 * more than the above. */
struct var *var_own(struct shell *sh, struct sym *s);
/* Whether a nameref @name to @target (NAME or NAME[sub]) would mean itself. */
bool var_refers_to(struct str target, struct str name);
/* What is said when a nameref @s gets a target that means itself: an error outside of functions (-EINVAL), inside a
 * warning (0). */
int var_check_self(struct shell *sh, struct sym *s, struct str target);
/* Resolves namerefs: the symbol finally meant (NULL and a message on a loop). A nameref to NAME[sub] yields the base
 * and *ret_sub; *ret_sub (may be NULL) is empty otherwise. */
struct sym *var_resolve(struct shell *sh, struct sym *s, struct str *ret_sub);

/* ---- scopes ---- */

/* Declares @s local to the running function: saves the binding and makes a new one (with @inherit a copy of value and
 * attributes). */
int var_local(struct shell *sh, struct sym *s, bool inherit);
/* A frame for a function call, or for the temporary environment of a command (A=1 cmd). */
void var_push_frame(struct shell *sh, bool function);
/* Undoes it. */
void var_pop_frame(struct shell *sh);
/* Ends a temporary environment whose variables stay (special builtins in posix mode). */
void var_keep_frame(struct shell *sh);
/* What the newest frame hides is seen, and what hides it is not; again: as before. For the redirections of a command
 * with assignments in front. Does nothing when the frame is a call's. */
void var_swap_temps(struct shell *sh);
/* Counting of frames (a clone shares its parent's). Accept NULL. */
struct frame *frame_ref(struct frame *f);
/* See frame_ref(). */
void frame_unref(struct frame *f);
/* For `declare -g`: makes the outermost (global) binding of @s the current one until var_global_end(); calls do not
 * nest for one symbol. The token is what end() wants back. */
struct var *var_global_begin(struct shell *sh, struct sym *s);
/* See var_global_begin(). */
void var_global_end(struct shell *sh, struct sym *s, struct var *token);
/* A=1 before a command: binds temporarily and exported in the newest frame. */
int var_temp(struct shell *sh, struct sym *s, struct str val, bool append);

/* ---- environment and listing ---- */

/* Splits "NAME[sub]" (a nameref's target, a builtin's argument) into its parts: false when @text has no such form. */
bool var_split_ref(struct str text, struct str *ret_name, struct str *ret_sub);
/* The exported variables as "K=V" strings in @arena, NULL-terminated; functions exported with export -f included as
 * bash encodes them. */
char **var_environ(struct shell *sh, struct arena *a);
/* Calls @fn for every declared variable, sorted by name. */
void var_each(struct shell *sh, void (*fn)(void *arg, struct sym *s, struct var *v), void *arg);
/* Whether @k needs no quotes: what `set` and `declare -p` print as it is (the empty text needs some). */
bool var_plain_text(struct str k);
/* "([0]="x" [1]="y")", the elements as declare -p prints them. */
void var_print_elems(struct shell *sh, const struct var *v, struct buf *out);
/* "declare -ax a=([0]="x")" as declare -p prints it. */
void var_print_declare(struct shell *sh, struct sym *s, struct var *v, struct buf *out);

/* Counting of the table; a clone shares it. */
struct vartab *vartab_ref(struct vartab *t);
/* See vartab_ref(). Accepts NULL. */
void vartab_unref(struct vartab *t);
