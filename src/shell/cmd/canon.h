/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* canon - absolute names without ".", ".." and links: realpath, readlink -f, ln -r. */

#include "base/buf.h"

struct cmd;

enum canon_mode {
    CANON_EXISTING,     /* every component must exist */
    CANON_ALL_BUT_LAST, /* the last need not */
    CANON_MISSING,      /* none needs to */
};

/* Appends the canonical name of @name to @out; with @no_links links stay as they are. 0 or a negative errno. */
int canon_path(struct cmd *c, const char *name, enum canon_mode mode, bool no_links, struct buf *out);

/* Whether @prefix is @path or a directory above it, both canonical. */
bool canon_prefix(const char *prefix, const char *path);

/* Appends the way from the directory @dir to @path, both canonical. */
void canon_relative(const char *path, const char *dir, struct buf *out);
