/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* host_exec_int - a program to run as spawn and exec take it from the guest: checked, and copied into one block. */

#include "wasm/wasi_int.h"

/* A program's file and strings. The block is argv's. */
struct program {
    struct str path; /* in the block, NUL behind it */
    bool search;     /* in PATH, when @path has no slash */
    int argc;
    char **argv, **env; /* NULL-terminated */
};

/* Copies what the guest gave: path, argv and env as blocks of strings. WASI_FAULT WASI_NAMETOOLONG WASI_INVAL WASI_2BIG
 * WASI_NOMEM. @args are the six numbers. */
int wasi__program(const struct wasi *w, const uint64_t *args, bool search, struct program *ret);

/* Finds the file as execvp(3) does: calls @try_one on one path after another until one does not fail with ENOENT,
 * ENOTDIR or EACCES. What that gave, or the error that is told of many. */
int wasi__search(const struct program *g, int (*try_one)(void *arg, struct str path), void *arg);
