/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <fcntl.h>

#include "base/num.h"

/* ---- feeds: pipes whose writer is the host ---- */

struct proc_file *proc_file_feed(struct proc_set *ps, bool tty, void (*need)(void *arg), void *arg,
                                 struct proc_feed **ret)
{
    struct mem_account *before = set__use(ps);
    struct proc_feed *d = mem_try_zalloc(sizeof(*d));
    struct pipe *pp = d ? pipe__new(ps) : NULL;
    struct proc_file *f = pp ? pipe__file(pp, O_RDONLY) : NULL;
    if (f) {
        f->tty = tty;
        if (tty)
            ps->tty_in = f;
        pp->writers = 1;
        pp->feed = d;
        *d = (struct proc_feed){.ps = ps, .next = ps->feeds, .pipe = pp, .need = need, .arg = arg};
        ps->feeds = d;
        *ret = d;
    } else {
        if (pp)
            pipe__unref(pp);
        mem_free(d);
    }
    mem_use(before);
    return f;
}

void feed__need(struct proc_feed *d)
{
    if (!d->need)
        return;
    tape__place(d->ps);
    struct mem_account *before = set__host_begin(d->ps);
    d->need(d->arg);
    set__host_end(before);
}

size_t proc_feed_room(const struct proc_feed *d)
{
    return d->eof ? 0 : LIMIT_PIPE - d->pipe->n;
}

size_t proc_feed_push(struct proc_feed *d, const void *p, size_t n)
{
    n = NUM_MIN(n, proc_feed_room(d));
    if (!n)
        return 0;
    struct mem_account *before = set__use(d->ps);
    ssize_t r = pipe__push(d->pipe, p, n, false);
    mem_use(before);
    return r > 0 ? (size_t)r : 0;
}

void proc_feed_eof(struct proc_feed *d)
{
    if (d->eof)
        return;
    d->eof = true;
    d->pipe->writers--;
    proc_wake(&d->pipe->rq);
    poll__notify(d->ps);
}

bool proc_feed_wanted(const struct proc_feed *d)
{
    return d->pipe->rq.head != NULL;
}

bool proc_feed_has_readers(const struct proc_feed *d)
{
    return d->pipe->readers > 0;
}

void feed__free(struct proc_feed *d)
{
    struct proc_feed **at = &d->ps->feeds;
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    proc_feed_eof(d);
    d->pipe->feed = NULL;
    pipe__unref(d->pipe);
    mem_free(d);
}

void proc_feed_close(struct proc_feed *d)
{
    if (!d)
        return;
    struct mem_account *before = set__use(d->ps);
    feed__free(d);
    mem_use(before);
}

int stream__may_read(struct proc *p, const struct proc_file *f)
{
    const struct proc_set *ps = p->ps;
    uint64_t bit = SIG_BIT(SIGTTIN);
    while (f->tty && ps->foreground && p->pgid != ps->foreground) {
        if ((p->sig_ignored | p->sig_blocked) & bit)
            return -EIO;
        if (signal__orphaned(ps, p->pgid))
            return -EIO; /* POSIX 11.1.4: nobody is there to continue it */
        (void)proc_kill(p, 0, SIGTTIN);
        if (p->must_end || proc_signal_pending(p))
            return -EINTR;
    }
    return 0;
}

/* ---- sinks ---- */

struct proc_file *proc_file_sink(struct proc_set *ps, bool tty, ssize_t (*write)(void *arg, const void *p, size_t n),
                                 void *arg)
{
    struct mem_account *before = set__use(ps);
    struct proc_file *f = file__new(ps, FILE_SINK, O_WRONLY);
    if (f) {
        f->tty = tty;
        f->u.sink = (struct file_sink){.write = write, .arg = arg};
        if (tty)
            ps->tty_out = f;
    }
    mem_use(before);
    return f;
}

bool proc_file_is_sink(const struct proc_file *f)
{
    return f && f->kind == FILE_SINK;
}

void proc_sink_ready(struct proc_set *ps)
{
    ps->held_ready = true;
    if (ps->terminal)
        (void)tty__flush(ps->terminal);
    if (ps->tape) /* only the held one waits, and it is no event for anybody else */
        return;
    proc_wake(&ps->sink_q);
    poll__notify(ps);
}

/* What the sink takes of @n bytes now. A tape counts each byte, so that a place in the output has a number, and what
 * must wait holds everything. */
static ssize_t sink_put(struct proc *p, struct proc_file *f, const char *buf, size_t n)
{
    struct proc_set *ps = p->ps;
    for (;;) {
        if (ps->tape)
            n = tape__gate(ps, n);
        if (ps->tape && p->must_end)
            return -EINTR;
        struct mem_account *before = set__host_begin(ps);
        bool quiet = !f->u.sink.tty || tty__flush(f->u.sink.tty);
        ssize_t r = quiet ? f->u.sink.write(f->u.sink.arg, buf, n) : -EAGAIN;
        set__host_end(before);
        if (!ps->tape)
            return r;
        if (r > 0)
            ps->looks += (uint64_t)r;
        if (r != -EAGAIN && r != 0)
            return r;
        sched__hold(ps);
    }
}

ssize_t sink__write(struct proc *p, struct proc_file *f, const char *buf, size_t n)
{
    struct proc_set *ps = p->ps;
    size_t done = 0;
    if (ps->tape)
        ps->looks++;
    while (done < n) {
        uint64_t left = ps->limits.output > ps->usage.output_bytes ? ps->limits.output - ps->usage.output_bytes : 0;
        if (!left) {
            proc_kill_all(ps, REASON_OUTPUT);
            return done ? (ssize_t)done : -EINTR;
        }
        ssize_t r = sink_put(p, f, buf + done, (size_t)NUM_MIN((uint64_t)(n - done), left));
        if (r > 0) {
            done += (size_t)r;
            ps->usage.output_bytes += (uint64_t)r;
            continue;
        }
        if (r != -EAGAIN && r != 0) {
            if (r == -EPIPE)
                signal__send(p, SIGPIPE);
            return done ? (ssize_t)done : r;
        }
        int e = proc_block(p, &ps->sink_q, INT64_MAX);
        if (e < 0)
            return done ? (ssize_t)done : e;
    }
    return (ssize_t)done;
}

/* ---- captures ---- */

struct proc_capture {
    struct proc_set *ps;
    char *p;
    size_t n, cap, max;
    bool open;  /* the write end is referred to */
    bool freed; /* nobody will read it: writes are EPIPE, and it goes with the write end */
    struct proc_waitq q;
};

struct proc_file *proc_file_capture(struct proc_set *ps, size_t max, struct proc_capture **ret)
{
    struct proc_capture *c = mem_try_zalloc(sizeof(*c));
    struct proc_file *f = c ? file__new(ps, FILE_CAPTURE, O_WRONLY) : NULL;
    if (!f) {
        mem_free(c);
        return NULL;
    }
    *c = (struct proc_capture){.ps = ps, .max = max, .open = true};
    f->u.capture = c;
    *ret = c;
    return f;
}

static int capture_grow(struct proc_capture *c, size_t n)
{
    size_t want;
    if (!num_add(c->n, n, &want) || want > c->max)
        return -ENOMEM;
    if (want <= c->cap)
        return 0;
    size_t cap = NUM_MIN(NUM_MAX(want, c->cap > SIZE_MAX / 2 ? SIZE_MAX : 2 * c->cap), c->max);
    cap = NUM_MAX(cap, NUM_MIN((size_t)256, c->max));
    char *p = mem_try_realloc(c->p, cap);
    if (!p && cap > want)
        p = mem_try_realloc(c->p, cap = want);
    if (!p)
        return -ENOMEM;
    c->p = p;
    c->cap = cap;
    return 0;
}

ssize_t capture__write(struct proc *p, struct proc_capture *c, const char *buf, size_t n)
{
    if (!n)
        return 0;
    if (c->freed) {
        signal__send(p, SIGPIPE);
        return -EPIPE;
    }
    if (capture_grow(c, n) < 0) {
        proc_kill_all(p->ps, REASON_MEMORY);
        return -EINTR;
    }
    memcpy(c->p + c->n, buf, n);
    c->n += n;
    return (ssize_t)n;
}

void capture__closed(struct proc_capture *c)
{
    c->open = false;
    if (c->freed)
        mem_free(c);
    else
        proc_wake(&c->q);
}

int proc_capture_wait(struct proc *p, struct proc_capture *c, struct proc_file *own)
{
    proc_file_unref(own);
    while (c->open) {
        int r = proc_block(p, &c->q, INT64_MAX);
        if (r < 0)
            return r;
    }
    return 0;
}

struct str proc_capture_text(const struct proc_capture *c)
{
    return str_of(c->p, c->n);
}

void proc_capture_free(struct proc_capture *c)
{
    if (!c)
        return;
    mem_free(c->p);
    c->p = NULL;
    c->freed = true;
    if (!c->open)
        mem_free(c);
}
