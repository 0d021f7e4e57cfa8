/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

static void look_pipe(const struct proc_file *f, struct proc_pollfd *e)
{
    const struct pipe *pp = f->pipe;
    if (f->readable) {
        e->hangup = !pp->writers;
        e->readable = e->want_read && (pp->n || !pp->writers);
    }
    if (f->writable) {
        e->bad = !pp->readers; /* POLLERR of Linux */
        /* As Linux: writable when a write of PIPE_BUF bytes would not block. */
        e->writable = e->want_write && (pp->n + LIMIT_PIPE_BUF <= LIMIT_PIPE || !pp->readers);
    }
}

/* Fills the results of @e: whether any is set. */
static bool look(struct proc *p, struct proc_pollfd *e)
{
    struct proc_file *f = proc_get(p, e->fd);
    e->readable = e->writable = e->hangup = e->bad = false;
    if (e->fd < 0)
        return false;
    if (!f) {
        e->bad = true;
        return true;
    }
    if (f->kind == FILE_TTY) {
        if (f->u.term.in && f->readable)
            look_pipe(f->u.term.in, e);
        e->writable = e->want_write && f->u.term.out && f->writable;
    } else if (f->kind == FILE_TERMINAL) {
        tty__look(f->u.tty, e);
    } else if (f->kind == FILE_PIPE) {
        look_pipe(f, e);
    } else {
        /* Files, devices, and sinks, whose back-pressure is seen only by writing. */
        e->readable = e->want_read && f->readable;
        e->writable = e->want_write && f->writable;
    }
    return e->readable || e->writable || e->hangup || e->bad;
}

int proc_look_fds(struct proc *p, struct proc_pollfd *v, size_t n)
{
    int ready = 0;
    for (size_t i = 0; i < n; i++)
        ready += look(p, &v[i]);
    return ready;
}

int proc_poll_fds(struct proc *p, struct proc_pollfd *v, size_t n, int64_t deadline)
{
    for (;;) {
        int ready = proc_look_fds(p, v, n);
        if (ready)
            return ready;
        for (size_t i = 0; i < n; i++) {
            struct proc_file *f = proc_get(p, v[i].fd);
            if (f && f->kind == FILE_TTY)
                f = f->u.term.in;
            if (f && v[i].want_read && f->kind == FILE_PIPE && f->pipe->feed && !f->pipe->n)
                feed__need(f->pipe->feed);
            if (f && v[i].want_read && f->kind == FILE_TERMINAL)
                tty__need(f->u.tty);
        }
        int r = proc_block(p, &p->ps->poll_q, deadline);
        if (r == -ETIMEDOUT)
            return proc_look_fds(p, v, n); /* the host may have fed what it was asked for just now */
        if (r < 0)
            return r;
    }
}
