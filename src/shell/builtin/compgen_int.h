/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* compgen - where the words of compgen come from. */

#include "base/str.h"

struct shell;
struct fields;

enum compgen_source {
    GEN_ALIAS,
    GEN_ARRAY,
    GEN_BINDING,
    GEN_BUILTIN,
    GEN_COMMAND,
    GEN_DIRECTORY,
    GEN_DISABLED,
    GEN_ENABLED,
    GEN_EXPORT,
    GEN_FILE,
    GEN_FUNCTION,
    GEN_GROUP,
    GEN_HELP,
    GEN_HOST,
    GEN_JOB,
    GEN_KEYWORD,
    GEN_RUNNING,
    GEN_SERVICE,
    GEN_SETOPT,
    GEN_SHOPT,
    GEN_SIGNAL,
    GEN_STOPPED,
    GEN_USER,
    GEN_VARIABLE,
    GEN_COUNT,
};

/* The source called @name ("alias", "arrayvar" …), or -1. */
int compgen_source(struct str name);

/* Whether this source exists here. */
bool compgen_has(enum compgen_source s);

/* Appends the names of @s that begin with @word, in bash's order; in scratch. */
void compgen_names(struct shell *sh, enum compgen_source s, struct str word, struct fields *out);
