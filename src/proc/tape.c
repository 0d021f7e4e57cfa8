/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include "base/assert.h"

/*
 * The tape: what makes a run repeatable.
 *
 * Every look at the clock that the guest or the scheduler depends on is counted. While one records, the clock stands
 * between changes that are REFRESH apart, so that a change costs a few bytes and most looks none; a change is written
 * as two varints, the looks since the change before and the nanoseconds it went on. A change by nothing is the end.
 * While one replays, the clock goes on at the same looks, and host.attend is called at the look that the next event
 * from outside is recorded at.
 */

#define REFRESH (100 * CLOCK_US)
#define CHUNK 4096u    /* bytes of changes handed out at once */
#define CHANGE_MAX 20u /* two varints */

struct tape {
    struct proc_tape t;
    int64_t now;
    uint64_t change; /* RECORD: look of the last change; REPLAY: of the next, or of the end */
    int64_t step;    /* REPLAY: of the next change; 0: it is the end */
    uint64_t due;    /* REPLAY: look of the next event */
    bool lost;       /* REPLAY: this run is not the recorded one */
    const uint8_t *in, *in_end;
    uint32_t n;
    uint8_t out[CHUNK];
};

/* ---- changes of the clock ---- */

static void put_varint(struct tape *t, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        t->out[t->n++] = (uint8_t)(v | 0x80);
    t->out[t->n++] = (uint8_t)v;
}

static void hand_out(struct tape *t)
{
    if (t->n)
        t->t.changes(t->t.arg, t->out, t->n);
    t->n = 0;
}

static void put_change(struct proc_set *ps, struct tape *t, int64_t step)
{
    put_varint(t, ps->looks - t->change);
    put_varint(t, (uint64_t)step);
    t->change = ps->looks;
    if (t->n > CHUNK - CHANGE_MAX) {
        struct mem_account *before = set__host_begin(ps);
        hand_out(t);
        set__host_end(before);
    }
}

/* A varint of at most 64 bits; false when there is none. */
static bool get_varint(struct tape *t, uint64_t *ret)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (t->in == t->in_end) {
            const void *p = NULL;
            size_t n = t->t.more(t->t.arg, &p);
            if (!n)
                return false;
            t->in = p;
            t->in_end = t->in + n;
        }
        uint8_t b = *t->in++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *ret = v;
            return true;
        }
    }
    return false;
}

static void get_change(struct proc_set *ps, struct tape *t)
{
    uint64_t looks, step;
    struct mem_account *before = set__host_begin(ps);
    bool ok = get_varint(t, &looks) && get_varint(t, &step) && step <= (uint64_t)(INT64_MAX - t->now) &&
              looks <= UINT64_MAX - t->change;
    set__host_end(before);
    t->lost |= !ok;
    t->change += ok ? looks : 0;
    t->step = ok ? (int64_t)step : 0;
}

/* ---- looking ---- */

/* Whether it is time for the next event, or to find out that this run is not the recorded one. */
static void arrived(struct proc_set *ps, struct tape *t)
{
    if (ps->looks > t->due || (t->step == 0 && ps->looks > t->change))
        t->lost = true;
    ps->due = t->lost || ps->looks == t->due;
}

int64_t tape__look(struct proc_set *ps)
{
    struct tape *t = ps->tape;
    ps->raw = clock_mono();
    if (t->t.mode == PROC_TAPE_RECORD) {
        /* Also when a timer is due by the true clock: nobody should wait for the clock to be looked at. */
        int64_t step = ps->raw - t->now;
        if (step >= REFRESH || (step > 0 && ps->n_timers && ps->timers[0]->priv->deadline <= ps->raw)) {
            put_change(ps, t, step);
            t->now = ps->raw;
        }
        return t->now;
    }
    if (ps->looks == t->change && t->step) {
        t->now += t->step;
        get_change(ps, t);
    }
    if (ps->looks > t->change)
        t->lost = true;
    arrived(ps, t);
    return t->now;
}

int64_t tape__now(const struct proc_set *ps)
{
    return ps->tape->now;
}

int64_t tape__wall(const struct proc_set *ps, int64_t now)
{
    return ps->tape->t.wall + (now - ps->tape->t.mono);
}

void tape__entropy(struct proc_set *ps, void *p, size_t n)
{
    ps->tape->t.entropy(ps->tape->t.arg, p, n);
}

bool tape__replays(const struct proc_set *ps)
{
    return ps->tape && ps->tape->t.mode == PROC_TAPE_REPLAY;
}

bool tape__lost(const struct proc_set *ps)
{
    return ps->tape && ps->tape->lost;
}

void tape__limit(struct proc_set *ps, enum outcome_reason reason)
{
    if (ps->tape && ps->tape->t.limit)
        ps->tape->t.limit(ps->tape->t.arg, reason);
}

void tape__place(struct proc_set *ps)
{
    if (!ps->tape)
        return;
    ps->looks++;
    (void)tape__gate(ps, 1);
}

size_t tape__gate(struct proc_set *ps, size_t n)
{
    struct tape *t = ps->tape;
    if (t->t.mode == PROC_TAPE_RECORD)
        return n;
    arrived(ps, t);
    if (ps->due)
        sched__let_in(ps);
    uint64_t room = t->due > ps->looks ? t->due - ps->looks : n;
    return room < n ? (size_t)room : n;
}

/* ---- the begin and the end ---- */

int proc_tape_begin(struct proc_set *ps, const struct proc_tape *tape)
{
    ASSERT(!ps->in_run && !ps->tape && !ps->held);
    struct tape *t = mem_try_zalloc(sizeof(*t));
    if (!t)
        return -ENOMEM;
    t->t = *tape;
    t->now = tape->mono;
    t->due = UINT64_MAX;
    ps->tape = t;
    ps->looks = 0;
    ps->slice_start = t->now;
    if (tape->mode == PROC_TAPE_REPLAY)
        get_change(ps, t);
    if (!ps->n_procs)
        set__boot(ps);
    return 0;
}

void proc_tape_due(struct proc_set *ps, uint64_t look)
{
    if (!ps->tape)
        return;
    ps->tape->due = look;
    arrived(ps, ps->tape);
}

int proc_tape_end(struct proc_set *ps)
{
    struct tape *t = ps->tape;
    if (!t)
        return 0;
    bool ok = true;
    if (t->t.mode == PROC_TAPE_RECORD) {
        put_change(ps, t, 0);
        hand_out(t);
    } else {
        ok = !t->lost && t->due == UINT64_MAX && t->step == 0 && t->change == ps->looks;
    }
    ps->tape = NULL;
    ps->due = false;
    mem_free(t);
    return ok ? 0 : -EILSEQ;
}

uint64_t proc_looks(const struct proc_set *ps)
{
    return ps->looks;
}
