/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* target - variables that builtins assign by a name given at run time: NAME or NAME[subscript] (read, printf -v,
 * mapfile, getopts …). */

#include "base/str.h"

struct shell;
struct sym;
struct var;

/* A place to assign to. */
struct target {
    struct sym *sym; /* namerefs not followed */
    bool elem;       /* NAME[subscript]: key or index, by the kind of array that NAME is */
    struct str key;  /* in scratch */
    int64_t index;
};

/* Takes NAME[SUBSCRIPT] apart: false when @text is not that. Brackets and quotes inside must match, but with
 * assoc_expand_once a key ends at the first ']', and one that was @written as such, at the last. */
bool target_split(struct shell *sh, struct str text, bool written, struct str *ret_name, struct str *ret_sub);
/* Offset behind the ']' that closes the '[' at @i of @s, or 0: quotes and nested brackets are stepped over. */
size_t target_end(struct str s, size_t i);

/* Reads @text (@written: see target_split()): 0; -EINVAL when it is no such name (nothing is printed); another error
 * after a message (of the subscript). */
int target_parse(struct shell *sh, struct str text, bool written, struct target *ret);

/* Assigns: 0, or an error after a message. */
int target_set(struct shell *sh, const struct target *t, struct str val);

/* Both; a wrong name is told as "WHO: `TEXT': not a valid identifier". */
int target_assign(struct shell *sh, const char *who, struct str text, bool written, struct str val);

/* The element of @v that the text between brackets means: key (associative) or index. Expands @sub as the shell does
 * once more for such names, unless assoc_expand_once is set. 0, or an error after a message. */
int target_subscript(struct shell *sh, const struct var *v, struct str sub, struct str *ret_key, int64_t *ret_index);
/* The same whatever assoc_expand_once says: for names that are kept as they were written. */
int target_expand(struct shell *sh, const struct var *v, struct str sub, struct str *ret_key, int64_t *ret_index);
