/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * outcome - how something that ran ended. Never invented: a caller that does not know says OUTCOME_LOST.
 */

#include <stdbool.h>
#include <stdint.h>

enum outcome_kind {
    OUTCOME_EXITED, /* by itself; code is valid */
    OUTCOME_KILLED, /* by a signal or a limit; signal and reason are valid */
    OUTCOME_LOST,   /* the process that ran it is gone; nothing is known */
};

enum outcome_reason {
    REASON_NONE,
    REASON_SIGNAL,  /* a signal sent by a client or a guest */
    REASON_TIMEOUT, /* wall time */
    REASON_CPU,
    REASON_MEMORY,
    REASON_OUTPUT,
    REASON_FILES,
    REASON_INODES,
    REASON_PROCESSES,
    REASON_CRASH, /* the worker ended */
};

struct outcome {
    enum outcome_kind kind;
    uint8_t code;   /* exit status 0-255 */
    uint8_t signal; /* Linux number */
    bool core;      /* unused by C engines; a VM may set it */
    enum outcome_reason reason;
};

/* The status a POSIX shell gives: the code; 128+signal; 124 for a timeout; 125 for lost. */
int outcome_status(struct outcome o);

/* "exited", "killed", "lost". */
const char *outcome_kind_name(enum outcome_kind k);

/* "timeout", "memory", …; "" for REASON_NONE. */
const char *outcome_reason_name(enum outcome_reason r);
