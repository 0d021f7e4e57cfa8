/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include "base/assert.h"

/*
 * The scheduler. A coroutine that parks switches straight to the next runnable one; it goes to proc_run() only when
 * there is none, when the process that proc_run() waits for has ended, and for good when it has ended. When the host
 * wants a look (attend), it goes there and comes back, and all is as if it had not.
 */

_Thread_local int32_t proc_budget;

/* ---- run queue ---- */

static void enqueue(struct proc_set *ps, struct co *co)
{
    ASSERT(!co->queued);
    co->queued = true;
    co->next = NULL;
    co->prev = ps->rq_tail;
    *(ps->rq_tail ? &ps->rq_tail->next : &ps->rq_head) = co;
    ps->rq_tail = co;
}

void sched__unqueue(struct proc_set *ps, struct co *co)
{
    ASSERT(co->queued);
    *(co->prev ? &co->prev->next : &ps->rq_head) = co->next;
    *(co->next ? &co->next->prev : &ps->rq_tail) = co->prev;
    co->queued = false;
    co->next = co->prev = NULL;
}

void sched__ready(struct proc *p)
{
    if (p->priv->stopped) {
        p->priv->ready_on_cont = true;
        return;
    }
    p->state = PROC_RUNNABLE;
    enqueue(p->ps, p->priv->co);
}

/* ---- timers: a binary heap, earliest deadline first, then first armed ---- */

static bool earlier(const struct proc *a, const struct proc *b)
{
    const struct proc_priv *x = a->priv, *y = b->priv;
    return x->deadline != y->deadline ? x->deadline < y->deadline : x->timer_seq < y->timer_seq;
}

static void timer_put(struct proc_set *ps, uint32_t i, struct proc *p)
{
    ps->timers[i] = p;
    p->priv->timer_i = i + 1;
}

static void timer_sift(struct proc_set *ps, uint32_t i, struct proc *p)
{
    while (i && earlier(p, ps->timers[(i - 1) / 2])) {
        timer_put(ps, i, ps->timers[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    for (;;) {
        uint32_t c = 2 * i + 1;
        if (c >= ps->n_timers)
            break;
        if (c + 1 < ps->n_timers && earlier(ps->timers[c + 1], ps->timers[c]))
            c++;
        if (!earlier(ps->timers[c], p))
            break;
        timer_put(ps, i, ps->timers[c]);
        i = c;
    }
    timer_put(ps, i, p);
}

static void timer_add(struct proc *p, int64_t deadline)
{
    struct proc_set *ps = p->ps;
    if (ps->n_timers == ps->cap_timers) {
        uint32_t cap = ps->cap_timers ? 2 * ps->cap_timers : 8;
        ps->timers = mem_realloc(ps->timers, cap * sizeof(struct proc *));
        ps->cap_timers = cap;
    }
    p->priv->deadline = deadline;
    p->priv->timer_seq = ++ps->timer_seq;
    timer_sift(ps, ps->n_timers++, p);
}

static void timer_del(struct proc *p)
{
    struct proc_set *ps = p->ps;
    uint32_t i = p->priv->timer_i;
    if (!i)
        return;
    p->priv->timer_i = 0;
    struct proc *last = ps->timers[--ps->n_timers];
    if (last != p)
        timer_sift(ps, i - 1, last);
}

static void expire(struct proc_set *ps, int64_t now)
{
    while (ps->n_timers && ps->timers[0]->priv->deadline <= now)
        sched__unblock(ps->timers[0], -ETIMEDOUT);
}

/* ---- wait queues ---- */

static void waiter_add(struct proc_waitq *q, struct proc *p)
{
    struct proc_waiter *w = &p->priv->waiter;
    w->p = p;
    w->q = q;
    w->next = NULL;
    w->prev = q->tail;
    *(q->tail ? &q->tail->next : &q->head) = w;
    q->tail = w;
}

static void waiter_del(struct proc *p)
{
    struct proc_waiter *w = &p->priv->waiter;
    struct proc_waitq *q = w->q;
    if (!q)
        return;
    *(w->prev ? &w->prev->next : &q->head) = w->next;
    *(w->next ? &w->next->prev : &q->tail) = w->prev;
    w->q = NULL;
}

void sched__unblock(struct proc *p, int result)
{
    waiter_del(p);
    timer_del(p);
    p->priv->wait_result = result;
    sched__ready(p);
}

void proc_wake(struct proc_waitq *q)
{
    while (q->head)
        sched__unblock(q->head->p, 0);
}

/* ---- switching ---- */

void sched__account(struct proc_set *ps, int64_t now)
{
    int64_t ns = now - ps->slice_start;
    if (ps->tape && ns > SLICE_MAX)
        ns = SLICE_MAX;
    if (ps->running) {
        ps->running->top->cpu_ns += ns;
        ps->busy_ns += ns;
    }
    ps->slice_start = now;
}

static void free_dead(struct proc_set *ps)
{
    if (ps->dead) {
        co__free(ps->dead);
        ps->dead = NULL;
        ps->n_co--;
        if (!ps->n_procs && !ps->n_co)
            set__trim(ps);
    }
}

/* Not inlined: see co.c about a thread's variables. */
static __attribute__((noinline)) void new_turn(void)
{
    proc_budget = TURN;
}

/* What a coroutine does when it has been switched to. */
static void arrive(struct proc_set *ps, struct co *co)
{
    ps->running = co;
    free_dead(ps);
    if (co->active->state != PROC_ZOMBIE)
        co->active->state = PROC_RUNNING;
    new_turn();
}

/* The coroutine to go on with; NULL: proc_run(). */
static struct co *next_co(struct proc_set *ps, int64_t now)
{
    if (ps->n_timers)
        expire(ps, now);
    if (ps->ghosts_due)
        life__make_ghosts(ps);
    if (ps->to_main || !ps->rq_head)
        return NULL;
    struct co *co = ps->rq_head;
    sched__unqueue(ps, co);
    return co;
}

/* Whether the host wants a look. True at most once a look at the clock, and only right after one, so that the number of
 * looks says where it was. */
static inline bool attend_due(const struct proc_set *ps)
{
    return ps->due || ps->raw - ps->last_attend >= ps->attend_ns;
}

/* Goes to proc_run() and comes back. */
static void visit_main(struct proc_set *ps)
{
    struct co *self = ps->running;
    ps->visitor = self;
    ps->running = NULL;
    co__switch(self, &ps->main_co);
    ps->running = self;
}

void sched__let_in(struct proc_set *ps)
{
    ps->running->active = ps->running->top;
    visit_main(ps);
}

void sched__hold(struct proc_set *ps)
{
    ps->held = ps->running;
    sched__let_in(ps);
}

static void switch_away(struct proc_set *ps)
{
    struct co *self = ps->running;
    int64_t now = set__look(ps);
    sched__account(ps, now);
    if (attend_due(ps))
        visit_main(ps);
    struct co *next = next_co(ps, now);
    if (next != self) {
        ps->running = NULL;
        co__switch(self, next ? next : &ps->main_co);
    }
    arrive(ps, self);
}

void sched__park(struct proc *p)
{
    struct proc_set *ps = p->ps;
    ASSERT(ps->running && p->priv->co == ps->running);
    ps->running->active = p;
    switch_away(ps);
}

void sched__park_stopped(struct proc *p)
{
    while (p->priv->stopped && !p->must_end) {
        p->state = PROC_STOPPED;
        p->priv->ready_on_cont = true;
        sched__park(p);
    }
}

void co__main(struct co *co)
{
    struct proc_set *ps = co->carrier->ps;
    co__arrived(co);
    arrive(ps, co);
    struct outcome o = co->main(co->carrier, co->arg);
    int64_t now = set__look(ps);
    sched__account(ps, now);
    life__main_returned(co->carrier, o);
    ps->dead = co;
    /* Straight on to the next, unless proc_run() has something to do. */
    struct co *next = next_co(ps, now);
    ps->running = NULL;
    co__leave(co, next ? next : &ps->main_co);
}

/* ---- what processes call ---- */

/* Gives the others a turn. */
static void requeue(struct proc *p)
{
    p->state = PROC_RUNNABLE;
    enqueue(p->ps, p->priv->co);
    sched__park(p);
}

int proc_poll_slow(struct proc *p)
{
    struct proc_set *ps = p->ps;
    if (p->must_end)
        return -EINTR;
    new_turn();
    if (!ps->running) /* called by the host, who acts as no process */
        return 0;
    int64_t now = set__look(ps);
    set__check_memory(ps);
    if (attend_due(ps))
        sched__let_in(ps);
    if (p->must_end)
        return -EINTR;
    if (p->priv->stopped)
        sched__park_stopped(p);
    else {
        /* Who has slept goes before who has just had a turn; code that cannot be looked at may have a long one. */
        if (ps->n_timers)
            expire(ps, now);
        if (ps->rq_head)
            requeue(p);
    }
    return p->must_end ? -EINTR : 0;
}

/* Nanoseconds that code which computes without a step may keep others waiting. */
#define LONG_TURN (10 * CLOCK_MS)

bool proc_step(struct proc *p)
{
    struct proc_set *ps = p->ps;
    if (ps->tape)
        tape__step(ps);
    return --proc_budget <= 0 || p->must_end || p->priv->stopped || ps->due;
}

int proc_step_slow(struct proc *p)
{
    if (p->must_end)
        return -EINTR;
    if (p->ps->due)
        sched__let_in(p->ps);
    if (!p->must_end && p->priv->stopped)
        sched__park_stopped(p);
    if (p->must_end)
        return -EINTR;
    return proc_budget <= 0 ? proc_poll_slow(p) : 0;
}

/*
 * Nothing that others can see has happened since the last proc_step(). So what is done here is done after that step,
 * and a replay, which does not know when this was called, does it right there.
 */
int proc_attend(struct proc *p)
{
    struct proc_set *ps = p->ps;
    if (p->must_end)
        return -EINTR;
    if (!ps->running || (ps->tape && tape__replays(ps)))
        return 0;
    ps->raw = clock_mono();
    if (attend_due(ps))
        sched__let_in(ps);
    if (!p->must_end && p->priv->stopped)
        sched__park_stopped(p);
    if (p->must_end)
        return -EINTR;
    bool sleeper_due = ps->n_timers && ps->timers[0]->priv->deadline <= ps->raw;
    if (!sleeper_due && (!ps->rq_head || ps->raw - ps->slice_start < LONG_TURN))
        return 0;
    if (ps->tape)
        tape__turn_over(ps);
    return proc_poll_slow(p);
}

void proc_yield(struct proc *p)
{
    if (p->ps->running && p->ps->rq_head && !p->must_end)
        requeue(p);
}

int proc_block(struct proc *p, struct proc_waitq *q, int64_t deadline)
{
    struct proc_priv *pr = p->priv;
    if (p->must_end)
        return -EINTR;
    if (pr->interrupt) {
        pr->interrupt = false;
        return -EINTR;
    }
    if (deadline != INT64_MAX && deadline <= set__look(p->ps))
        return -ETIMEDOUT;
    waiter_add(q, p);
    if (deadline != INT64_MAX)
        timer_add(p, deadline);
    p->state = PROC_BLOCKED;
    sched__park(p);
    if (p->must_end)
        return -EINTR;
    if (pr->wait_result == -EINTR)
        pr->interrupt = false;
    return pr->wait_result;
}

int proc_sleep(struct proc *p, int64_t deadline)
{
    for (;;) {
        int r = proc_block(p, &p->ps->sleep_q, deadline);
        if (r == -ETIMEDOUT)
            return 0;
        if (r < 0)
            return r;
    }
}

int proc_await(struct proc *p, bool (*ready)(void *arg), void *arg)
{
    struct proc_set *ps = p->ps;
    tape__place(ps);
    /* Whether it must end comes first: a replay, in which that is known at the place, does not get to ask @ready. */
    while (!p->must_end && !ready(arg)) {
        if (ps->tape)
            sched__hold(ps);
        else
            (void)proc_block(p, &ps->sink_q, INT64_MAX); /* for whatever reason it ends, what counts is looked at */
    }
    return p->must_end ? -EINTR : 0;
}

size_t proc_stack_left(const struct proc *p)
{
    struct co *co = p->priv->co;
    char *here = __builtin_frame_address(0);
    if (!co || here < co->low || here > co->low + co->size)
        return SIZE_MAX;
    if (here < co->deepest)
        co->deepest = here;
    return (size_t)(here - co->low);
}

void proc_times(struct proc *p, int64_t *ret_self, int64_t *ret_children)
{
    sched__account(p->ps, proc_now(p->ps));
    *ret_self = p->cpu_ns;
    *ret_children = p->child_cpu_ns;
}

/* ---- proc_run ---- */

static void attend(struct proc_set *ps)
{
    ps->last_attend = ps->raw;
    ps->due = false;
    set__check_time(ps, ps->raw);
    if (!ps->host.attend)
        return;
    struct mem_account *before = set__host_begin(ps);
    ps->host.attend(ps->host.arg);
    set__host_end(before);
}

/* Lets coroutines run, from @co on, until one has nobody to switch to. False when output must wait. */
static bool enter(struct proc_set *ps, struct co *co)
{
    while (co) {
        co__switch(&ps->main_co, co);
        ps->running = NULL;
        co = ps->visitor;
        ps->visitor = NULL;
        if (ps->held)
            return false;
        if (co)
            attend(ps);
        if (co && ps->pause) {
            ps->held = co;
            ps->held_ready = true;
            return false;
        }
    }
    free_dead(ps);
    return true;
}

/* The same from where the set was held. */
static bool resume_held(struct proc_set *ps)
{
    struct co *co = ps->held;
    if (!co)
        return true;
    if (!ps->held_ready && !co->top->must_end)
        return false;
    ps->held = NULL;
    return enter(ps, co);
}

/* Runs coroutines until none is runnable or @until has ended. */
static void run(struct proc_set *ps)
{
    bool go_on = resume_held(ps);
    while (go_on) {
        int64_t now = set__look(ps);
        expire(ps, now);
        set__check_memory(ps);
        if (ps->ghosts_due)
            life__make_ghosts(ps);
        if (ps->to_main || !ps->rq_head)
            return;
        if (attend_due(ps))
            attend(ps);
        if (ps->pause)
            return;
        struct co *co = ps->rq_head;
        if (!co)
            continue;
        sched__unqueue(ps, co);
        ps->slice_start = now;
        go_on = enter(ps, co);
    }
}

void proc_pause(struct proc_set *ps)
{
    ps->pause = ps->in_run;
}

bool proc_held(const struct proc_set *ps)
{
    return ps->held != NULL;
}

int proc_run(struct proc_set *ps, struct proc *until, int64_t *ret_wake)
{
    ASSERT(!ps->in_run);
    struct mem_account *before = mem_use(&ps->acc);
    ps->host_acc = before;
    ps->in_run = true;
    ps->cpu_in = clock_cpu();
    ps->last_attend = ps->raw = clock_mono(); /* the host has just looked */
    ps->until = until;
    ps->to_main = until && until->state == PROC_ZOMBIE;
    set__check_time(ps, ps->raw);
    run(ps);
    bool ended = until && until->state == PROC_ZOMBIE;
    ps->usage.cpu_ns += clock_cpu() - ps->cpu_in;
    ps->until = NULL;
    ps->to_main = false;
    /* What a pause has interrupted goes on at the next call, whatever the sinks are ready for. */
    ps->held_ready = ps->pause && ps->held_ready;
    ps->in_run = false;
    mem_use(before);
    int64_t wake = ps->n_timers && !ps->held ? ps->timers[0]->priv->deadline : INT64_MAX;
    if (ps->pause)
        wake = 0;
    ps->pause = false;
    if (ps->n_live && ps->wall_deadline < wake && !ps->killed)
        wake = ps->wall_deadline;
    if (ret_wake)
        *ret_wake = wake;
    return ended;
}
