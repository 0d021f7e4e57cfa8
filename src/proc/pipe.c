/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <fcntl.h>

#include "base/num.h"

/*
 * Pipes, FIFOs and the buffer of feeds: a ring of LIMIT_PIPE bytes. Bytes never move in it, so what a reader peeks at
 * stays in place until it is consumed. An empty ring starts at its first byte again, so small transfers keep touching
 * the same memory. A reader that waits with a buffer of its own gets bytes straight from the writer.
 */

struct pipe *pipe__new(struct proc_set *ps)
{
    struct pipe *pp = mem_try_zalloc(sizeof(*pp));
    if (!pp)
        return NULL;
    pp->ps = ps;
    pp->refs = 1;
    pp->id = ps->next_pipe_id++;
    return pp;
}

static void drop_buf(struct pipe *pp)
{
    struct proc_set *ps = pp->ps;
    if (pp->buf && ps->n_bufs < SPARE_BUFS && ps->n_procs)
        ps->bufs[ps->n_bufs++] = pp->buf;
    else
        mem_free(pp->buf);
    pp->buf = NULL;
}

void pipe__unref(struct pipe *pp)
{
    if (--pp->refs)
        return;
    if (pp->ino) {
        struct pipe **at = &pp->ps->fifos;
        while (*at != pp)
            at = &(*at)->next;
        *at = pp->next;
    }
    drop_buf(pp);
    mem_free(pp);
}

struct proc_file *pipe__file(struct pipe *pp, int oflags)
{
    struct proc_file *f = file__new(pp->ps, FILE_PIPE, oflags);
    if (!f)
        return NULL;
    f->pipe = pp;
    pp->refs++;
    if (f->readable) {
        pp->readers++;
        pp->r_opens++;
    }
    if (f->writable) {
        pp->writers++;
        pp->w_opens++;
    }
    proc_wake(&pp->oq);
    return f;
}

void pipe__close_end(struct proc_file *f)
{
    struct pipe *pp = f->pipe;
    if (f->readable && --pp->readers == 0)
        proc_wake(&pp->wq);
    if (f->writable && --pp->writers == 0)
        proc_wake(&pp->rq);
    poll__notify(pp->ps);
    /* What nobody can read any more is gone, also from a FIFO that is opened again. */
    if (!pp->readers && !pp->writers)
        pp->head = pp->n = 0;
    pipe__unref(pp);
}

/* ---- FIFOs ---- */

static struct pipe *fifo_of(struct proc_set *ps, uint64_t ino)
{
    for (struct pipe *pp = ps->fifos; pp; pp = pp->next)
        if (pp->ino == ino) {
            pp->refs++;
            return pp;
        }
    struct pipe *pp = pipe__new(ps);
    if (pp) {
        pp->ino = ino;
        pp->next = ps->fifos;
        ps->fifos = pp;
    }
    return pp;
}

/* Waits for the other end: it is open, or has been since the count was @seen. */
static int await_end(struct proc *p, struct pipe *pp, const uint32_t *open, const uint32_t *opens)
{
    uint32_t seen = *opens;
    while (!*open && *opens == seen) {
        int r = proc_block(p, &pp->oq, INT64_MAX);
        if (r < 0)
            return r;
    }
    return 0;
}

int pipe__open_fifo(struct proc *p, struct vfs_handle *h, int oflags, struct proc_file **ret)
{
    struct pipe *pp = fifo_of(p->ps, vfs_handle_ino(h));
    if (!pp)
        return -ENOMEM;
    int acc = oflags & O_ACCMODE, r = 0;
    struct proc_file *f = NULL;
    if (acc == O_WRONLY && (oflags & O_NONBLOCK) && !pp->readers)
        r = -ENXIO;
    else if (!(f = pipe__file(pp, oflags)))
        r = -ENOMEM;
    pipe__unref(pp); /* the file holds it */
    if (r < 0)
        return r;
    if (acc == O_RDONLY && !(oflags & O_NONBLOCK))
        r = await_end(p, pp, &pp->writers, &pp->w_opens);
    else if (acc == O_WRONLY)
        r = await_end(p, pp, &pp->readers, &pp->r_opens);
    if (r < 0) {
        proc_file_unref(f);
        return r;
    }
    f->h = h;
    *ret = f;
    return 0;
}

/* ---- bytes ---- */

static uint32_t tail(const struct pipe *pp)
{
    return (pp->head + pp->n) % LIMIT_PIPE;
}

static void ring_put(struct pipe *pp, const char *src, uint32_t n)
{
    uint32_t at = tail(pp), first = NUM_MIN(n, LIMIT_PIPE - at);
    memcpy(pp->buf + at, src, first);
    memcpy(pp->buf, src + first, n - first);
    pp->n += n;
}

static void ring_take(struct pipe *pp, uint32_t n)
{
    pp->n -= n;
    pp->head = pp->n ? (pp->head + n) % LIMIT_PIPE : 0;
}

static int ring_alloc(struct pipe *pp)
{
    if (pp->buf)
        return 0;
    struct proc_set *ps = pp->ps;
    pp->buf = ps->n_bufs ? ps->bufs[--ps->n_bufs] : mem_try(LIMIT_PIPE);
    return pp->buf ? 0 : -ENOMEM;
}

/* After bytes left: writers may go on. */
static inline void made_room(struct pipe *pp)
{
    if (pp->wq.head)
        proc_wake(&pp->wq);
    poll__notify(pp->ps);
}

/* Waits for bytes: 1 when there are some or @dst got some, 0 at the end of input, else an error. */
static int await_bytes(struct proc *p, struct proc_file *f, struct pipe_dst *dst)
{
    struct pipe *pp = f->pipe;
    bool asked = false;
    while (!pp->n) {
        if (!pp->writers)
            return 0;
        if (f->oflags & O_NONBLOCK)
            return -EAGAIN;
        int r = f->tty ? stream__may_read(p, f) : 0;
        if (r < 0)
            return r;
        if (pp->feed && !asked) {
            asked = true;
            feed__need(pp->feed);
            if (pp->n || !pp->writers)
                continue;
        }
        if (dst && !pp->dst)
            pp->dst = dst;
        r = proc_block(p, &pp->rq, INT64_MAX);
        if (pp->dst == dst)
            pp->dst = NULL;
        if (dst && dst->got)
            return 1;
        if (r < 0)
            return r;
    }
    return 1;
}

ssize_t pipe__read(struct proc *p, struct proc_file *f, char *buf, size_t n)
{
    struct pipe *pp = f->pipe;
    struct pipe_dst dst = {buf, n, 0};
    if (!pp->n || f->tty) {
        int r = f->tty && pp->n ? stream__may_read(p, f) : 0;
        if (r == 0)
            r = await_bytes(p, f, &dst);
        if (r <= 0)
            return r;
        if (dst.got)
            return (ssize_t)dst.got;
    }
    uint32_t k = (uint32_t)NUM_MIN(n, (size_t)pp->n), first = NUM_MIN(k, LIMIT_PIPE - pp->head);
    memcpy(buf, pp->buf + pp->head, first);
    memcpy(buf + first, pp->buf, k - first);
    ring_take(pp, k);
    made_room(pp);
    return (ssize_t)k;
}

int pipe__peek(struct proc *p, struct proc_file *f, const void **ret_p, size_t *ret_n)
{
    struct pipe *pp = f->pipe;
    int r = f->tty && pp->n ? stream__may_read(p, f) : 0;
    if (r == 0)
        r = pp->n ? 1 : await_bytes(p, f, NULL);
    if (r < 0)
        return r;
    if (r == 0) {
        *ret_p = "";
        *ret_n = 0;
        return 0;
    }
    *ret_p = pp->buf + pp->head;
    *ret_n = NUM_MIN(pp->n, LIMIT_PIPE - pp->head);
    return 0;
}

void pipe__consume(struct pipe *pp, size_t n)
{
    ring_take(pp, (uint32_t)NUM_MIN(n, (size_t)pp->n));
    made_room(pp);
}

ssize_t pipe__push(struct pipe *pp, const char *src, size_t n, bool whole)
{
    size_t done = 0;
    if (pp->dst && !pp->n) {
        struct pipe_dst *d = pp->dst;
        done = NUM_MIN(n, d->n);
        memcpy(d->p, src, done);
        d->got = done;
        pp->dst = NULL;
    }
    size_t room = LIMIT_PIPE - pp->n, rest = n - done;
    if (rest && (room >= rest || (room && !whole))) {
        if (ring_alloc(pp) < 0)
            return done ? (ssize_t)done : -ENOMEM;
        size_t k = NUM_MIN(rest, room);
        ring_put(pp, src + done, (uint32_t)k);
        done += k;
    }
    if (done) {
        if (pp->rq.head)
            proc_wake(&pp->rq);
        poll__notify(pp->ps);
    }
    return (ssize_t)done;
}

ssize_t pipe__write(struct proc *p, struct proc_file *f, const char *buf, size_t n)
{
    struct pipe *pp = f->pipe;
    bool whole = n <= LIMIT_PIPE_BUF;
    size_t done = 0;
    while (done < n) {
        if (!pp->readers) {
            signal__send(p, SIGPIPE);
            return done ? (ssize_t)done : -EPIPE;
        }
        ssize_t k = pipe__push(pp, buf + done, n - done, whole);
        if (k < 0)
            return done ? (ssize_t)done : k;
        done += (size_t)k;
        if (done == n)
            break;
        if (f->oflags & O_NONBLOCK)
            return done ? (ssize_t)done : -EAGAIN;
        int r = proc_block(p, &pp->wq, INT64_MAX);
        if (r < 0)
            return done ? (ssize_t)done : r;
    }
    return (ssize_t)done;
}
