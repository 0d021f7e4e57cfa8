/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * replay - runs what a log recorded again, and compares.
 *
 * Model. Each exec begins with the state that the log names before it, loaded from the store, gets the recorded clocks,
 * entropy, pids and input, and must give the same outcome, output, shell state, next pid and root. No time passes. An
 * exec that went on in a living shell (a line at a prompt) goes on in the replayed one. The log and the store are only
 * read.
 *
 * Invariants:
 *   1. An exec is called equal only if all of these were compared and the same.
 *   2. One that its record calls not replayable, or that was lost, is told as such, not run and not counted as equal;
 * so are the lines that went on after it.
 *   3. A replay that leaves its record ends: it never waits for anything from outside.
 *
 * Threads: one at a time.
 */

#include "cas/store.h"
#include "session/session.h"
#include "trace/trace.h"

enum replay_verdict { REPLAY_EQUAL, REPLAY_DIFFERS, REPLAY_LEFT_OUT, REPLAY_VERDICTS };

struct replay_report {
    uint64_t seq;       /* of the exec's END, or of its EXEC when it has none */
    struct str command; /* as text */
    enum replay_verdict verdict;
    struct str what;               /* DIFFERS: the first thing that did; LEFT_OUT: why */
    struct str recorded, replayed; /* DIFFERS: that thing on both sides: output from where it differs, or a value */
    struct str files;              /* DIFFERS in the root: a letter and a path a line, at most REPLAY_FILES of them */
    int64_t recorded_us, replayed_us; /* wall time then and now */
};

#define REPLAY_FILES 100
#define REPLAY_TEXT 4096 /* bytes of a side */

/* Replays every exec whose END is at or after @from. @sc gives user and limits (no mounts). @fn is called for each; its
 * non-zero result ends the replay and is returned. 0, or an error of the log, the store or memory. */
int replay_run(struct cas *store, struct trace *t, struct vfs *tmpl, const struct session_config *sc, uint64_t from,
               int (*fn)(void *arg, const struct replay_report *r), void *arg, struct err *err)
    __attribute__((warn_unused_result));
