/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Recording what an exec depends on, and replaying it: the clock's changes go through the process set (proc/proc.h),
 * events from outside and entropy are here.
 */

#include "session/session_int.h"

#include <errno.h>

#include "base/mem.h"
#include "cas/hash.h"

void session_record(struct session *s, const struct session_tape *tape)
{
    s->tape.next = TAPE_RECORDS;
    s->tape.rec = *tape;
}

void session_replay(struct session *s, const struct session_playback *play)
{
    s->tape.next = TAPE_REPLAYS;
    s->tape.play = *play;
}

int session_replayed(const struct session *s, const char **ret_what)
{
    if (!s->tape.wrong)
        return 0;
    *ret_what = s->tape.wrong;
    return -EILSEQ;
}

int32_t session_next_pid(const struct session *s)
{
    return s->ps ? proc_next_pid(s->ps) : 0;
}

bool session_fresh(const struct session *s)
{
    return s->tape.fresh;
}

/* ---- entropy: SHA-256 of the seed and a counter, block after block ---- */

static void next_block(struct tape_state *t)
{
    uint8_t count[8];
    for (unsigned i = 0; i < sizeof(count); i++)
        count[i] = (uint8_t)(t->blocks >> (8 * i));
    t->blocks++;
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, t->begin->seed, sizeof(t->begin->seed));
    cas_hash_add(&h, count, sizeof(count));
    cas_hash_end(&h, t->block);
    t->block_left = sizeof(t->block);
}

static void entropy(void *arg, void *p, size_t n)
{
    struct tape_state *t = &((struct session *)arg)->tape;
    for (uint8_t *o = p; n;) {
        if (!t->block_left)
            next_block(t);
        size_t k = n < t->block_left ? n : t->block_left;
        memcpy(o, t->block + sizeof(t->block) - t->block_left, k);
        t->block_left -= (uint32_t)k;
        o += k;
        n -= k;
    }
}

/* ---- recording ---- */

static void changes(void *arg, const void *p, size_t n)
{
    const struct session *s = arg;
    s->tape.rec.clock(s->tape.rec.arg, p, n);
}

void session__note(struct session *s, enum trace_input_kind kind, uint32_t value, struct str data)
{
    if (s->tape.now == TAPE_RECORDS) {
        const struct session_event e = {kind, proc_looks(s->ps), value, data};
        s->tape.rec.event(s->tape.rec.arg, &e);
    } else if (s->tape.now == TAPE_NONE && session__alive(s) && s->run->serving) {
        /* The shell that waits for a line throws its signals away; a size is told when the line begins. */
        if (kind == TRACE_IN_RESIZE)
            s->tape.resized = true;
        else if (kind != TRACE_IN_SIGNAL || proc_count(s->ps) > 1)
            session__inexact(s, "input or a signal came between two command lines");
    }
}

static void note_size(struct session *s)
{
    uint16_t rows, cols;
    proc_winsize(s->ps, &rows, &cols);
    if (s->tape.resized)
        session__note(s, TRACE_IN_RESIZE, (uint32_t)rows << 16 | cols, STR(""));
    s->tape.resized = false;
}

static void limit(void *arg, enum outcome_reason reason)
{
    session__note(arg, TRACE_IN_KILL, reason, STR(""));
}

void session__inexact(struct session *s, const char *why)
{
    if (s->tape.now == TAPE_RECORDS)
        s->tape.rec.inexact(s->tape.rec.arg, why);
    else
        s->tape.inexact = why;
}

/* ---- replaying ---- */

static size_t more(void *arg, const void **ret_p)
{
    const struct session *s = arg;
    return s->tape.play.clock(s->tape.play.arg, ret_p);
}

static void fetch(struct session *s)
{
    struct tape_state *t = &s->tape;
    t->have_due = t->play.event(t->play.arg, &t->due) == 1;
    proc_tape_due(s->ps, t->have_due ? t->due.look : UINT64_MAX);
}

static void play(struct session *s, const struct session_event *e)
{
    switch (e->kind) {
    case TRACE_IN_STDIN:
        if ((!s->run->feed && !s->run->tty) || session__put_input(s, e->data) != e->data.n)
            session__wrong(s, "the feed has no room for input that was taken");
        break;
    case TRACE_IN_EOF:
        if (s->run->feed || s->run->tty)
            session__put_eof(s);
        else
            session__wrong(s, "input ends that was never open");
        break;
    case TRACE_IN_SIGNAL:
        session__send(s, (int)(e->value & 0xff), (e->value & SIGNAL_ALL) != 0);
        break;
    case TRACE_IN_KILL:
        proc_kill_all(s->ps, (enum outcome_reason)e->value);
        break;
    case TRACE_IN_RESIZE:
        session__set_size(s, (uint16_t)(e->value >> 16), (uint16_t)e->value);
        break;
    case TRACE_IN_CLOSE:
        session__close(s, (int)e->value);
        break;
    }
}

bool session__play_due(struct session *s)
{
    struct tape_state *t = &s->tape;
    bool any = false;
    while (t->now == TAPE_REPLAYS && t->have_due && t->due.look == proc_looks(s->ps)) {
        any = true;
        play(s, &t->due);
        fetch(s);
    }
    return any;
}

void session__wrong(struct session *s, const char *what)
{
    if (!s->tape.wrong)
        s->tape.wrong = what;
}

/* ---- the begin and the end ---- */

int session__tape_begin(struct session *s)
{
    struct tape_state *t = &s->tape;
    t->now = t->next;
    t->next = TAPE_NONE;
    t->wrong = NULL;
    if (t->now == TAPE_NONE)
        return 0;
    t->begin = t->now == TAPE_RECORDS ? &t->rec.begin : &t->play.begin;
    t->blocks = 0;
    t->block_left = 0;
    const struct proc_tape tape = {
        .mode = t->now == TAPE_RECORDS ? PROC_TAPE_RECORD : PROC_TAPE_REPLAY,
        .wall = t->begin->wall,
        .mono = t->begin->mono,
        .arg = s,
        .entropy = entropy,
        .changes = changes,
        .limit = limit,
        .more = more,
    };
    int r = proc_tape_begin(s->ps, &tape);
    if (r) {
        t->now = TAPE_NONE;
        return r;
    }
    if (t->begin->first_pid)
        proc_set_next_pid(s->ps, t->begin->first_pid);
    if (t->now == TAPE_REPLAYS) {
        fetch(s);
    } else {
        note_size(s);
        if (t->inexact)
            session__inexact(s, t->inexact);
    }
    t->inexact = NULL;
    return 0;
}

void session__tape_end(struct session *s)
{
    if (s->tape.now == TAPE_NONE)
        return;
    if (s->tape.have_due && s->tape.now == TAPE_REPLAYS)
        session__wrong(s, "it ended before the last event");
    if (proc_tape_end(s->ps))
        session__wrong(s, "it looked at the clock more or less often, or at another time");
    s->tape.have_due = false;
    s->tape.now = TAPE_NONE;
}
