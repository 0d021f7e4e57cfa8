/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the tests of proc share: a machine on a base tree, with an output that is kept. */

#include "base/buf.h"
#include "base/test/test.h"
#include "proc/proc.h"

struct world {
    struct vfs *v;
    struct proc_set *ps;
    struct proc_feed *feed; /* standard input of what world_run() starts, when set before */
    struct proc_file *in;
    struct buf out;  /* standard output and error */
    size_t out_room; /* bytes the sink takes before it says EAGAIN */
    int attended;
    struct outcome outcome;
};

typedef struct outcome (*proc_main)(struct proc *p, void *arg);

/* A machine with the default limits. */
void world_init(struct world *w);
/* Frees it; everything must be whole. */
void world_done(struct world *w);
/* Runs @main as the first process to its end, sleeping for timers, with proc_check() between: its outcome. */
struct outcome world_run(struct world *w, proc_main main, const void *arg);
/* Starts without running. */
struct proc *world_start(struct world *w, proc_main main, const void *arg);
/* proc_check() of the set, reported. */
bool world_check(struct proc_set *ps);

/* An outcome of exit(@code). */
struct outcome exited(int code);
/* Writes a C string to a descriptor. */
void put(struct proc *p, int fd, const char *s);
/* fork + main; checks that it worked. */
struct proc *spawn(struct proc *p, proc_main main, const void *arg);
/* Waits for @pid (-1 any) and yields the outcome; 0 for errors. */
int wait_for(struct proc *p, int pid, struct outcome *ret);
