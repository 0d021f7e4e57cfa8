/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* declare - what declare, local, export and readonly share with set: listing. */

#include "base/str.h"

struct shell;
struct func;

/* NAME=value of every variable and then the functions, as `set` lists them. */
void declare_list_all(struct shell *sh);
/* "declare -…" (in posix mode "export …", "readonly …" when @posix_word) of each variable that has all of @flags;
 * @local_only: of the running function. */
void declare_list(struct shell *sh, uint32_t flags, bool local_only, const char *posix_word);
/* Functions: their names with flags (@names_only, as declare -F) or their text, those with the attributes asked for. */
void declare_list_functions(struct shell *sh, bool names_only, bool exported, bool readonly, bool traced);
/* One function in the same forms; @attributes: followed by its "declare -f…" line if it has some. */
void declare_print_function(struct shell *sh, const struct func *f, bool names_only, bool attributes);
