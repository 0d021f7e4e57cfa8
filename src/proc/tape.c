/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include "base/assert.h"
#include "base/varint.h"

/*
 * The tape: what makes a run repeatable.
 *
 * Every look at the clock that the guest or the scheduler depends on is counted. While one records, the clock stands
 * between changes that are REFRESH apart, so that a change costs a few bytes and most looks none. While one replays,
 * the clock goes on at the same looks, and host.attend is called at the look that the next event from outside is
 * recorded at.
 *
 * An entry is two varints: the looks since the entry before, and a value with its kind in the two lowest bits. A clock
 * that goes on by 0 is the end. Sizes of memory blocks are the C library's and not the same in each run, so that what
 * depends on them is on the tape too: when the memory limit was met, counted in allocations, and how much was used
 * where a process has asked. Code that cannot be looked at while it computes has counted steps instead (proc_step()).
 */

#define REFRESH (100 * CLOCK_US)
#define CHUNK 4096u   /* bytes of entries handed out at once */
#define ENTRY_MAX 20u /* two varints */

/* REPLAY: looks without an entry after which there will be none. In 100 us nobody looks so often. */
#define LOOKS_MAX 20000u

enum entry { ENTRY_CLOCK, ENTRY_OVER, ENTRY_REFUSED, ENTRY_VALUE };

/* Of an ENTRY_VALUE: no value that was asked for, but the end of a turn while a process computed. */
#define TURN_OVER (UINT64_MAX >> 2)

struct tape {
    struct proc_tape t;
    int64_t now;
    uint64_t at;     /* RECORD: look of the last entry; REPLAY: of the next */
    enum entry kind; /* REPLAY: of the next */
    uint64_t value;
    uint64_t due;   /* REPLAY: look of the next event */
    bool lost;      /* REPLAY: this run is not the recorded one */
    uint32_t since; /* REPLAY: looks since the last entry */
    const uint8_t *in, *in_end;
    uint32_t n;
    uint8_t out[CHUNK];
};

/* ---- entries ---- */

static void put_varint(struct tape *t, uint64_t v)
{
    t->n = (uint32_t)(varint_put(t->out + t->n, v) - t->out);
}

static void hand_out(struct tape *t)
{
    if (t->n)
        t->t.changes(t->t.arg, t->out, t->n);
    t->n = 0;
}

static void put_entry(struct proc_set *ps, enum entry kind, uint64_t value)
{
    struct tape *t = ps->tape;
    put_varint(t, ps->looks - t->at);
    put_varint(t, value << 2 | kind);
    t->at = ps->looks;
    if (t->n > CHUNK - ENTRY_MAX) {
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

static void get_entry(struct proc_set *ps)
{
    struct tape *t = ps->tape;
    uint64_t looks, value;
    struct mem_account *before = set__host_begin(ps);
    bool ok = get_varint(t, &looks) && get_varint(t, &value) && looks <= UINT64_MAX - t->at;
    set__host_end(before);
    t->kind = ok ? (enum entry)(value & 3) : ENTRY_CLOCK;
    t->value = ok ? value >> 2 : 0;
    t->at += ok ? looks : 0;
    if (t->kind == ENTRY_CLOCK && t->value > (uint64_t)(INT64_MAX - t->now))
        ok = false;
    t->lost |= !ok;
    t->since = 0;
    ps->acc.due = t->kind == ENTRY_OVER || t->kind == ENTRY_REFUSED ? t->value : 0;
    ps->acc.due_refused = t->kind == ENTRY_REFUSED;
}

static bool at_end(const struct tape *t)
{
    return t->kind == ENTRY_CLOCK && t->value == 0;
}

/* ---- looking ---- */

/* Whether it is time for the next event, or to find out that this run is not the recorded one. */
static void arrived(struct proc_set *ps)
{
    struct tape *t = ps->tape;
    if (ps->looks > t->due || ps->looks > t->at)
        t->lost = true;
    ps->due = t->lost || ps->looks == t->due;
}

static int64_t look_recorded(struct proc_set *ps)
{
    struct tape *t = ps->tape;
    /* Also when a timer is due by the true clock: nobody should wait for the clock to be looked at. */
    int64_t step = ps->raw - t->now;
    if (step >= REFRESH || (step > 0 && ps->n_timers && ps->timers[0]->priv->deadline <= ps->raw)) {
        put_entry(ps, ENTRY_CLOCK, (uint64_t)step);
        t->now = ps->raw;
    }
    return t->now;
}

int64_t tape__look(struct proc_set *ps)
{
    struct tape *t = ps->tape;
    ps->raw = clock_mono();
    if (t->t.mode == PROC_TAPE_RECORD)
        return look_recorded(ps);
    if (ps->looks == t->at && t->kind == ENTRY_CLOCK && t->value) {
        t->now += (int64_t)t->value;
        get_entry(ps);
    }
    t->lost |= ++t->since > LOOKS_MAX;
    arrived(ps);
    return t->now;
}

static void limit_met(struct mem_account *acc, bool refused)
{
    struct proc_set *ps = acc->met_arg;
    if (tape__replays(ps))
        get_entry(ps);
    else if (!ps->killed)
        put_entry(ps, refused ? ENTRY_REFUSED : ENTRY_OVER, acc->calls + refused);
}

uint64_t tape__value(struct proc_set *ps, uint64_t v)
{
    struct tape *t = ps->tape;
    if (t->t.mode == PROC_TAPE_RECORD) {
        put_entry(ps, ENTRY_VALUE, v);
        return v;
    }
    if (t->kind != ENTRY_VALUE || t->at != ps->looks) {
        t->lost = true;
        return v;
    }
    v = t->value;
    get_entry(ps);
    return v;
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

void tape__step(struct proc_set *ps)
{
    struct tape *t = ps->tape;
    ps->looks++;
    if (t->t.mode == PROC_TAPE_RECORD)
        return;
    if (t->at == ps->looks && t->kind == ENTRY_VALUE && t->value == TURN_OVER) {
        proc_budget = 0;
        get_entry(ps);
    }
    arrived(ps);
}

void tape__turn_over(struct proc_set *ps)
{
    put_entry(ps, ENTRY_VALUE, TURN_OVER);
}

size_t tape__gate(struct proc_set *ps, size_t n)
{
    struct tape *t = ps->tape;
    if (t->t.mode == PROC_TAPE_RECORD)
        return n;
    arrived(ps);
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
    ps->acc.calls = 0;
    ps->acc.met = limit_met;
    ps->acc.met_arg = ps;
    ps->acc.by_number = tape->mode == PROC_TAPE_REPLAY;
    if (tape->mode == PROC_TAPE_REPLAY)
        get_entry(ps);
    if (!ps->n_procs)
        set__boot(ps);
    return 0;
}

void proc_tape_due(struct proc_set *ps, uint64_t look)
{
    if (!ps->tape)
        return;
    ps->tape->due = look;
    arrived(ps);
}

int proc_tape_end(struct proc_set *ps)
{
    struct tape *t = ps->tape;
    if (!t)
        return 0;
    bool ok = true;
    if (t->t.mode == PROC_TAPE_RECORD) {
        put_entry(ps, ENTRY_CLOCK, 0);
        hand_out(t);
    } else {
        ok = !t->lost && t->due == UINT64_MAX && at_end(t) && t->at == ps->looks;
    }
    ps->acc.met = NULL;
    ps->acc.by_number = false;
    ps->tape = NULL;
    ps->due = false;
    mem_free(t);
    return ok ? 0 : -EILSEQ;
}

uint64_t proc_looks(const struct proc_set *ps)
{
    return ps->looks;
}
