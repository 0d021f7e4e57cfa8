/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* ps - its columns (ps_column.c) and its options (ps.c). */

#include "shell/cmd/cmd.h"
#include "shell/cmd/processes.h"

struct ps_world {
    struct cmd *c;
    double uptime;
    int64_t boot, now; /* seconds since 1970 */
    uint64_t memory;   /* KiB of the machine */
    int pid_digits;
};

struct ps_column {
    const char *name, *title;
    int width; /* 0: of a process number; the title may make it wider */
    bool left;
    /* Appends what the column shows of @p. */
    void (*text)(const struct ps_world *w, const struct process *p, struct buf *out);
    /* What it is sorted by; NULL: the text. */
    double (*number)(const struct ps_world *w, const struct process *p);
};

/* The column called @name, or NULL. */
const struct ps_column *ps_column(struct str name);

/* Fills @ret from the tree. */
void ps_world_init(struct ps_world *ret, struct cmd *c);

/* Share of a processor since @p began, in percent. */
double ps_cpu_percent(const struct ps_world *w, const struct process *p);
/* Share of the machine's memory, in percent. */
double ps_memory_percent(const struct ps_world *w, const struct process *p);
/* Name of a user, or the number where there is none. */
const char *ps_user(struct cmd *c, uint32_t uid);
