/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cmd_world - a tree and a process set on which tests run commands without a shell. */

#include "base/buf.h"
#include "proc/proc.h"

struct cmd_world {
    struct vfs *v;
    struct proc_set *ps;
    struct buf out, err;
    bool closed;  /* nobody reads standard output */
    bool to_host; /* pass output on to descriptors 1 and 2 instead */
    const char *cwd;
    char **env;
    uint32_t uid;
};

/* A base tree with every command that is linked. */
void cmd_world_init(struct cmd_world *w);
/* Frees. */
void cmd_world_done(struct cmd_world *w);
/* Runs argv with @in on standard input; what it wrote is in w->out and w->err. */
struct outcome cmd_world_run(struct cmd_world *w, int argc, char **argv, struct str in);
