/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * compgen - how words are completed: where they come from (compgen_names.c), what a specification makes of them
 * (compgen.c), and the specifications that `complete` keeps by the names of commands (complete.c).
 */

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct builtin_args;
struct builtin_opt;
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

/* Options of -o, in the order in which bash shows them. */
enum compgen_option {
    COMP_BASHDEFAULT = 1 << 0,
    COMP_DEFAULT = 1 << 1,
    COMP_DIRNAMES = 1 << 2,
    COMP_FILENAMES = 1 << 3,
    COMP_NOQUOTE = 1 << 4,
    COMP_NOSORT = 1 << 5,
    COMP_NOSPACE = 1 << 6,
    COMP_PLUSDIRS = 1 << 7,
};

/* A specification. A str without p is not there. */
struct compspec {
    uint32_t sources; /* bits of enum compgen_source */
    uint32_t options; /* enum compgen_option */
    struct str glob, words, prefix, suffix, filter, function, command;
};

#define COMPGEN_OPTIONS "abcdefgjksuvo:A:G:W:P:S:X:F:C:"

/* One option of compgen or complete (@who), taken into @spec; its texts are borrowed. 0, or the status to end with
 * after a message. */
int compgen_take(struct shell *sh, const char *who, struct compspec *spec, int c, struct str arg);
/* The bit of the option @name, or 0. */
uint32_t compgen_option(struct str name);
/* Names of the options: NULL behind the last. */
extern const char *const compgen_option_names[];
/* The name of a source. */
const char *compgen_source_name(enum compgen_source s);
/* The letter that stands for a source, or 0. */
char compgen_source_letter(enum compgen_source s);

struct completions; /* what complete keeps */
/* Counting. Accept NULL. */
struct completions *compgen_specs_ref(struct completions *c);
/* See compgen_specs_ref(). */
void compgen_specs_unref(struct completions *c);
