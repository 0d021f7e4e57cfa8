/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cd - changing the shell's directory, for cd, pushd and popd. */

#include <stdbool.h>

#include "base/str.h"

struct buf;
struct shell;

/* Enters @dir (with "..", as -L or with @no_links as -P takes it) and sets sh->pwd: 0 or a negative errno, nothing
 * printed. *ret_lost: the directory's own name could not be found (a message of @who told so). */
int cd__enter(struct shell *sh, const char *who, struct str dir, bool no_links, bool *ret_lost);

/*
 * The logical form of an absolute path, appended to @out: no "." and no "..", each of which must follow a directory
 * that is there (POSIX cd, step 8). Two slashes at the start, and no more, stay. False when a directory is missing or
 * @out is full.
 */
bool cd__clean(struct shell *sh, struct str path, struct buf *out);

/* After it: OLDPWD is what PWD was, PWD is sh->pwd. 0, or 1 when one is readonly. */
int cd__bind(struct shell *sh);

/* cd as pushd and popd call it, with messages of @who: the status. */
int cd__change(struct shell *sh, const char *who, struct str dir);
