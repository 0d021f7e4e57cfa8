/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include "engine/engine.h"

/* signal(7): what a signal does when nobody ignores or catches it. */
#define STOPS (SIG_BIT(SIGSTOP) | SIG_BIT(SIGTSTP) | SIG_BIT(SIGTTIN) | SIG_BIT(SIGTTOU))
#define HARMLESS (SIG_BIT(SIGCHLD) | SIG_BIT(SIGCONT) | SIG_BIT(SIGURG) | SIG_BIT(SIGWINCH))
#define SIG_MAX 64

static bool valid(int sig)
{
    return sig >= 1 && sig <= SIG_MAX;
}

/* ---- stopping ---- */

static void unstop(struct proc *p)
{
    if (!p->priv->stopped)
        return;
    p->priv->stopped = false;
    if (p->priv->ready_on_cont) {
        p->priv->ready_on_cont = false;
        sched__ready(p);
    } else if (p->state == PROC_STOPPED) {
        p->state = PROC_BLOCKED;
    }
}

static void tell_parent(struct proc *p)
{
    if (p->inline_child || p->parent == &p->ps->init.p)
        return;
    signal__child(p->parent);
    proc_wake(&p->parent->priv->child_q);
}

/* A group whose every member's parent is in the group or outside the session: nobody is there to continue it
 * (POSIX 3.271). */
bool signal__orphaned(const struct proc_set *ps, int pgid)
{
    for (const struct proc *p = ps->all; p; p = p->priv->all_next)
        if (p->pgid == pgid && p->parent != &ps->init.p && p->parent->pgid != pgid)
            return false;
    return true;
}

static void stop(struct proc *p, int sig)
{
    struct proc_priv *pr = p->priv;
    if (pr->stopped || (sig != SIGSTOP && signal__orphaned(p->ps, p->pgid)))
        return;
    pr->stopped = true;
    pr->stop_signal = (uint8_t)sig;
    pr->report_stop = true;
    pr->report_cont = false;
    if (p->state == PROC_RUNNABLE) {
        sched__unqueue(p->ps, pr->co);
        pr->ready_on_cont = true;
        p->state = PROC_STOPPED;
    } else if (p->state == PROC_BLOCKED && !pr->inline_child) {
        p->state = PROC_STOPPED;
    }
    /* One that runs parks in proc_kill() or at its next poll; one with an inline child when that has ended. */
    if (p->state == PROC_RUNNING)
        proc_budget = 0;
    tell_parent(p);
}

void signal__continue(struct proc *p)
{
    if (!p->priv->stopped)
        return;
    unstop(p);
    p->priv->report_stop = false;
    p->priv->report_cont = true;
    tell_parent(p);
}

/* ---- ending ---- */

/* Whether somebody who need not end acts on @p's coroutine, so that @p's code cannot return soon. */
static bool held_up(const struct proc *p)
{
    for (const struct proc *c = p->priv->inline_child; c; c = c->priv->inline_child)
        if (!c->must_end)
            return true;
    return false;
}

void signal__must_end(struct proc *p, int sig, enum outcome_reason reason)
{
    struct proc_priv *pr = p->priv;
    if (p->state == PROC_ZOMBIE || p->must_end)
        return;
    p->must_end = true;
    p->end_signal = (uint8_t)sig;
    p->end_reason = reason;
    unstop(p);
    if (p->engine && p->engine->interrupt)
        p->engine->interrupt(pr->engine_obj, p);
    if (pr->waiter.q)
        sched__unblock(p, -EINTR);
    if (held_up(p)) {
        if (pr->first) {
            /* The command line itself has ended: what it was running ends with it, as when the first process of a
             * container goes. */
            for (struct proc *c = pr->inline_child; c; c = c->priv->inline_child)
                signal__must_end(c, SIGKILL, REASON_SIGNAL);
        } else if (!p->inline_child && (pr->co == p->ps->running || pr->co->active != p)) {
            pr->ghost_due = true;
            p->ps->ghosts_due = true;
        }
    }
}

void proc_die(struct proc *p, int sig)
{
    signal__must_end(p, sig, REASON_SIGNAL);
}

/* ---- sending ---- */

/* Does what a pending signal that is not blocked must do by default, or leaves it pending for who catches it. */
static void act(struct proc *p, int sig)
{
    uint64_t bit = SIG_BIT(sig);
    if (p->sig_blocked & bit)
        return;
    if (p->sig_caught & bit) {
        p->priv->interrupt = true;
        if (p->priv->waiter.q)
            sched__unblock(p, -EINTR);
        return;
    }
    p->sig_pending &= ~bit;
    if (bit & STOPS)
        stop(p, sig);
    else if (!(bit & HARMLESS))
        signal__must_end(p, sig, REASON_SIGNAL);
}

void signal__send(struct proc *p, int sig)
{
    uint64_t bit = SIG_BIT(sig);
    if (p->state == PROC_ZOMBIE || p == &p->ps->init.p)
        return;
    if (sig == SIGKILL) {
        signal__must_end(p, sig, REASON_SIGNAL);
        return;
    }
    if (sig == SIGCONT) {
        p->sig_pending &= ~STOPS;
        bool was = p->priv->stopped;
        signal__continue(p);
        if (was) {
            /* What came while it was stopped happens now. */
            uint64_t later = p->sig_pending & ~p->sig_blocked;
            for (int s = 1; s <= SIG_MAX && later; s++)
                if (later & SIG_BIT(s))
                    act(p, s);
        }
    } else if (bit & STOPS) {
        p->sig_pending &= ~SIG_BIT(SIGCONT);
    }
    if (sig == SIGSTOP) {
        stop(p, sig);
        return;
    }
    if (p->sig_ignored & bit)
        return;
    if ((bit & HARMLESS) && !(p->sig_caught & bit))
        return;
    p->sig_pending |= bit;
    if (!p->priv->stopped)
        act(p, sig);
}

void signal__child(struct proc *parent)
{
    if (parent->sig_caught & SIG_BIT(SIGCHLD))
        signal__send(parent, SIGCHLD);
}

/* kill(2): same user, or root. */
static bool may_signal(const struct proc *p, const struct proc *to)
{
    return p->cred.uid == 0 || p->cred.uid == to->cred.uid;
}

static int kill_one(struct proc *p, struct proc *to, int sig)
{
    if (!may_signal(p, to) || (to == &p->ps->init.p && p->cred.uid != 0))
        return -EPERM;
    if (sig)
        signal__send(to, sig);
    return 0;
}

/* A group (> 0), or all but init and the caller (-1). */
static int kill_many(struct proc *p, int pgid, int sig)
{
    bool any = false, done = false;
    /* Newest first: see proc_kill_all(). */
    for (struct proc *q = p->ps->all; q; q = q->priv->all_next) {
        if (pgid == -1 ? q == p : q->pgid != pgid)
            continue;
        any = true;
        if (kill_one(p, q, sig) == 0)
            done = true;
    }
    return done ? 0 : any ? -EPERM : -ESRCH;
}

int proc_kill(struct proc *p, int pid, int sig)
{
    int r;
    if (sig != 0 && !valid(sig))
        return -EINVAL;
    if (pid > 0) {
        struct proc *to = life__find(p->ps, pid);
        r = to ? kill_one(p, to, sig) : -ESRCH;
    } else if (pid == INT32_MIN) {
        r = -ESRCH;
    } else {
        r = kill_many(p, pid == 0 ? p->pgid : pid == -1 ? -1 : -pid, sig);
    }
    if (p->ps->running && p->ps->running->top == p)
        sched__park_stopped(p); /* it may have stopped itself */
    return r;
}

void proc_signal_group(struct proc_set *ps, int pgid, int sig)
{
    if (!valid(sig))
        return;
    struct mem_account *before = set__use(ps);
    for (struct proc *q = ps->all; q; q = q->priv->all_next)
        if (q->pgid == pgid)
            signal__send(q, sig);
    mem_use(before);
}

/* ---- dispositions ---- */

int proc_sigaction(struct proc *p, int sig, enum proc_disposition d)
{
    if (!valid(sig) || sig == SIGKILL || sig == SIGSTOP)
        return -EINVAL;
    uint64_t bit = SIG_BIT(sig);
    p->sig_ignored &= ~bit;
    p->sig_caught &= ~bit;
    if (d == PROC_SIG_CATCH) {
        p->sig_caught |= bit;
    } else if (d == PROC_SIG_IGNORE || (bit & HARMLESS)) {
        p->sig_pending &= ~bit;
        if (d == PROC_SIG_IGNORE)
            p->sig_ignored |= bit;
    } else if (p->sig_pending & bit) {
        act(p, sig); /* it came while it was caught or blocked, and nobody has fetched it */
    }
    return 0;
}

int proc_take_signal(struct proc *p)
{
    uint64_t due = p->sig_pending & p->sig_caught & ~p->sig_blocked;
    p->priv->interrupt = false;
    if (!due)
        return 0;
    int sig = __builtin_ctzll(due) + 1;
    p->sig_pending &= ~SIG_BIT(sig);
    return sig;
}

/* ---- groups ---- */

int proc_setpgid(struct proc *p, int pid, int pgid)
{
    struct proc *t = pid ? proc_find(p->ps, pid) : p;
    if (pgid < 0)
        return -EINVAL;
    if (!t || (t != p && t->parent != p))
        return -ESRCH;
    if (!pgid)
        pgid = t->pid;
    if (pgid != t->pid) {
        const struct proc *q = p->ps->all;
        while (q && q->pgid != pgid)
            q = q->priv->all_next;
        if (!q)
            return -EPERM;
    }
    t->pgid = pgid;
    return 0;
}

void proc_set_foreground(struct proc_set *ps, int pgid)
{
    ps->foreground = pgid;
}

int proc_foreground(const struct proc_set *ps)
{
    return ps->foreground;
}
