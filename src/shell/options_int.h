/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* options - the names, letters and defaults of set -o and shopt, and what changing one does. */

#include "base/str.h"

#include <stdbool.h>

struct shell;
struct buf;

struct opt_def {
    const char *name; /* of set -o */
    char letter;      /* of set -X and $-; 0: none */
    uint32_t bit;     /* enum shell_opt */
};

/* All options of set -o, sorted by name. */
const struct opt_def *options_all(size_t *ret_n);
/* By name, or NULL. */
const struct opt_def *options_find(struct str name);
/* By letter, or NULL. */
const struct opt_def *options_letter(char c);
/* Switches an option with what follows from it (posix, monitor …): 0, or -EINVAL when it cannot be changed. */
int options_set(struct shell *sh, uint32_t bit, bool on);
/* posix mode with the settings it brings. */
void options_set_posix(struct shell *sh, bool on);
/* Makes the shell a restricted one, which it stays. */
void options_restrict(struct shell *sh);
/* Names of options that are on, separated by ':' (SHELLOPTS). */
void options_list(struct shell *sh, struct buf *out);
/* $-, appended. */
void options_flags(const struct shell *sh, struct buf *out);

/* Name of a shopt option by its enum shopt_index. */
const char *options_shopt_name(int i);
/* Index of the shopt option @name, or -1. */
int options_shopt_find(struct str name);
/* Switches a shopt option; login_shell and restricted_shell stay what they are. */
void options_set_shopt(struct shell *sh, int i, bool on);
/* Names of shopt options that are on (BASHOPTS). */
void options_list_shopt(struct shell *sh, struct buf *out);
/* The settings a new shell begins with. */
void options_init(struct shell *sh);
