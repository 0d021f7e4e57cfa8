/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the tests of recording share: an exec is recorded in a session, replayed in a new one on the same template, and
 * everything that can be seen of the two must be equal.
 */

#include "base/buf.h"
#include "session/session.h"

struct replay_case {
    const char *name;
    struct str text; /* of the command line */
    const char *in;  /* standard input, fed in odd chunks at odd moments; NULL: at its end */
    int sig;         /* sent when the output holds @when */
    bool sig_all;
    const char *when;
    int close;                  /* stream closed then, if not 0 */
    enum outcome_reason kill;   /* session_kill() then, if not REASON_NONE */
    bool resize;                /* the terminal's size changes then */
    struct limits limits;       /* 0: the default's */
    bool refuses;               /* the owner takes output in odd parts, or not at once */
    enum outcome_reason reason; /* it must be ended by this */
    int last;                   /* unused: what a list of the members above may end with */
};

/* Records and replays @c; failed checks are reported. */
void replay_check(struct vfs *tmpl, const struct replay_case *c);

/* The same with changes to the recording: @spoil is called with it in between, and the replay must tell. */
struct recording;
void replay_check_spoiled(struct vfs *tmpl, const struct replay_case *c, void (*spoil)(struct recording *r));

struct recording {
    struct session_begin begin;
    struct session_event *events;
    uint32_t n_events, cap_events;
    struct buf clock; /* changes of the clock */
    size_t n_clock;   /* bytes of it that a replay has taken */
    uint32_t next_event;
    const char *inexact;
};

/* Callbacks that fill and read @r. */
struct session_tape recording_tape(struct recording *r);
/* See recording_tape(). */
struct session_playback recording_playback(struct recording *r);
/* An empty recording with clocks of now and a random seed. */
void recording_init(struct recording *r, uint64_t *rnd);
/* Frees what it holds. */
void recording_done(struct recording *r);
/* Compares two trees, times of all kinds included. */
void replay_same_trees(struct vfs *a, struct vfs *b);
