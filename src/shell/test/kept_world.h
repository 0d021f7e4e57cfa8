/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * kept_world - shells that go on from one to the next, in a session without a session: what the tests of shell_save()
 * stand on.
 */

#include "base/buf.h"
#include "types/outcome.h"

struct kept_world;

/* A tree with the base directories, and a set of processes. */
struct kept_world *kept_world_new(void);
/* Takes it down and checks that all is whole. */
void kept_world_free(struct kept_world *w);

struct kept_run {
    const char *text; /* of -c; NULL: the shell reads it from @input */
    const char *input;
    const char *name, *arg; /* $0 and $1; NULL: none */
    char **env;             /* for this run only */
    struct str state;
    bool plain;   /* no shell_keep at all */
    bool exports; /* only what is exported */
    bool idle;    /* nothing is run */
    const char *script;
};

/* Runs a shell as root in / to its end. What it prints is appended to @out, its state is put in @state (emptied first)
 * when it ended by itself: ret_saved of shell_save(), or -ECHILD when it was not asked. */
struct outcome kept_world_run(struct kept_world *w, const struct kept_run *run, struct buf *out, struct buf *state,
                              int *ret_saved);
