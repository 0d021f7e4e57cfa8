/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#define BROKEN(text)                                                                                                   \
    do {                                                                                                               \
        *ret_what = text;                                                                                              \
        return -EUCLEAN;                                                                                               \
    } while (0)

static bool has_child(const struct proc *parent, const struct proc *p)
{
    const struct proc *c = parent->children;
    while (c && c != p)
        c = c->sibling;
    return c != NULL;
}

static bool in_run_queue(const struct proc_set *ps, const struct co *co)
{
    const struct co *c = ps->rq_head;
    while (c && c != co)
        c = c->next;
    return c != NULL;
}

static int check_family(const struct proc_set *ps, const char **ret_what)
{
    uint32_t n = 0, live = 0;
    for (const struct proc *p = ps->all; p; p = p->priv->all_next) {
        n++;
        live += p->state != PROC_ZOMBIE;
        if (p->parent != &ps->init.p && p->parent->state == PROC_ZOMBIE)
            BROKEN("1: the parent of a process has ended");
        if (!has_child(p->parent, p) || p->ppid != p->parent->pid)
            BROKEN("1: a process is not among its parent's children");
    }
    if (n != ps->n_procs || live != ps->n_live)
        BROKEN("4: the number of processes is miscounted");
    return 0;
}

static int check_files(struct proc_set *ps, const char **ret_what)
{
    for (struct proc_file *f = ps->files; f; f = f->next)
        f->seen = 0;
    for (const struct proc *p = ps->all; p; p = p->priv->all_next)
        for (uint32_t i = 0; i < p->fds.n; i++)
            if (p->fds.v[i].file)
                p->fds.v[i].file->seen++;
    for (const struct proc_file *f = ps->files; f; f = f->next)
        if (f->refs < f->seen || !f->refs)
            BROKEN("2: a file has fewer references than descriptors");
    return 0;
}

static int check_states(const struct proc_set *ps, const char **ret_what)
{
    uint32_t runnable = 0, queued = 0;
    for (const struct proc *p = ps->all; p; p = p->priv->all_next) {
        const struct proc_priv *pr = p->priv;
        bool waits = pr->waiter.q || pr->inline_child;
        if (p->state == PROC_BLOCKED && !waits)
            BROKEN("3: a blocked process waits for nothing");
        if (p->state == PROC_RUNNABLE && (++runnable, !in_run_queue(ps, pr->co)))
            BROKEN("3: a runnable process is not in the run queue");
        if (p->state == PROC_RUNNABLE && waits && !pr->inline_child)
            BROKEN("3: a runnable process is on a wait queue");
        if (pr->timer_i && (pr->timer_i > ps->n_timers || ps->timers[pr->timer_i - 1] != p))
            BROKEN("3: a timer is misplaced");
    }
    for (const struct co *c = ps->rq_head; c; c = c->next)
        queued++;
    if (queued != runnable)
        BROKEN("3: the run queue holds something else than the runnable processes");
    return 0;
}

int proc_check(struct proc_set *ps, const char **ret_what)
{
    int r = check_family(ps, ret_what);
    if (r == 0)
        r = check_files(ps, ret_what);
    return r < 0 ? r : check_states(ps, ret_what);
}
