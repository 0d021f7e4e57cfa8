/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * crash_test - a session that is kept, and what its states should be, for tests that let calls fail, kill, and lose
 * power. A script of commands is run once undisturbed: it says what the state after each is. Whatever happens later,
 * a session that is opened must be in one of these.
 */

#include "session/journal.h"

enum { CRASH_STEPS = 12 };

struct crash {
    char path[64];
    int dir;
    struct vfs *tmpl;
    struct cas_id root[CRASH_STEPS + 1]; /* after so many commands */
    struct cas_id made;                  /* as it was made */
    char *seen[CRASH_STEPS + 1];         /* what a look at the session prints then */
};

/* What a run was told, in memory that outlives it. */
struct crash_told {
    volatile int done;    /* commands answered */
    volatile int on_disk; /* of them before the last sync that was answered */
    volatile bool made;   /* the session was */
    volatile int refused; /* commands answered with an error */
};

/* A command runs: what fails now is told to it, as EIO of a file, and its state is what it makes of that. */
extern bool crash_guest;

/* Makes the directory and runs the script once. */
void crash_begin(struct crash *c);
/* Removes it. */
void crash_end(struct crash *c);
/* Removes the session and its store, leaves the directory. */
void crash_wipe(struct crash *c);

/* Opens the session, or makes it when it was not @told to be there: 0 or an error. */
int crash_open(struct crash *c, struct crash_told *told, bool durable, bool recheck, struct journal **ret);
/* Runs what is left of the script, opening anew now and then, as long as things fail no more than @patience times. */
void crash_run(struct crash *c, struct crash_told *told, bool durable, int patience);
/* How many commands the state of @j is the work of, or -1. */
int crash_place(const struct crash *c, struct journal *j);

/* Opens the session and checks all of it: it is the work of @least to @most commands, it looks so from inside, its log
 * is whole, no exec in it is without an end, and it goes on. Yields how many commands. @strict: the store has no
 * damage. */
int crash_check(struct crash *c, struct crash_told *told, int least, int most, bool recheck, bool strict);
