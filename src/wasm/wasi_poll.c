/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>

#include "base/mem.h"
#include "wasm/wasi_int.h"

/*
 * poll_oneoff. Subscriptions are taken over first, since the events may be written over them. Whatever is wrong with
 * one of them is an event of its own with an errno, and there is no waiting then.
 */

#define SUB_BYTES 48u
#define EVENT_BYTES 32u
#define SUBS_INLINE 8

enum { EVENT_CLOCK, EVENT_READ, EVENT_WRITE };
enum { CLOCK_REAL, CLOCK_MONO };
enum { ABSTIME = 1, HANGUP = 1 };

struct sub {
    uint64_t userdata;
    int64_t deadline; /* of a clock, proc_now() */
    uint32_t fd;
    uint8_t type;
    uint8_t error;
};

struct poll {
    struct wasi *w;
    uint32_t n, n_clocks, n_errors, n_reads;
    struct sub *subs;
    struct proc_pollfd *fds; /* of the same index; -1 for those that are not looked at */
    int64_t now, wall, deadline;
    struct sub subs_inline[SUBS_INLINE];
    struct proc_pollfd fds_inline[SUBS_INLINE];
};

static void poll_done(struct poll *q)
{
    if (q->subs != q->subs_inline) {
        mem_free(q->subs);
        mem_free(q->fds);
    }
}
#define POLL_AUTO __attribute__((cleanup(poll_done)))

/* When, by proc_now(), a clock shows @t: INT64_MAX is never. */
static int64_t deadline_of(const struct poll *q, uint32_t id, uint64_t t, bool absolute)
{
    int64_t r;
    if (t > INT64_MAX)
        return INT64_MAX;
    r = (int64_t)t;
    if (absolute && id == CLOCK_MONO)
        return r;
    if (absolute && __builtin_sub_overflow(r, q->wall, &r))
        return 0;
    return __builtin_add_overflow(r, q->now, &r) ? INT64_MAX : r;
}

static void take_clock(struct poll *q, struct sub *s, uint64_t at)
{
    uint32_t id = wasi_get32(q->w, at + 16);
    uint16_t flags = wasi_get16(q->w, at + 40);
    if (id > CLOCK_MONO || (flags & ~ABSTIME)) {
        /* Those of CPU time exist, but nothing can wait for them. */
        s->error = id == 2 || id == 3 ? WASI_NOTSUP : WASI_INVAL;
        return;
    }
    if (!q->n_clocks++) {
        q->now = proc_now(q->w->p->ps);
        q->wall = proc_wall(q->w->p->ps);
    }
    s->deadline = deadline_of(q, id, wasi_get64(q->w, at + 24), (flags & ABSTIME) != 0);
    if (s->deadline < q->deadline)
        q->deadline = s->deadline;
}

static void take_fd(struct poll *q, struct sub *s, struct proc_pollfd *f, uint64_t at)
{
    struct wasi *w = q->w;
    s->fd = wasi_get32(w, at + 16);
    s->error = (uint8_t)wasi__fd(w, s->fd, RIGHT_POLL_FD_READWRITE);
    if (s->error || s->fd == PREOPEN)
        return;
    int oflags = proc_fd_flags(w->p, (int)s->fd);
    if ((oflags & O_PATH) || (oflags & O_ACCMODE) == (s->type == EVENT_READ ? O_WRONLY : O_RDONLY)) {
        s->error = WASI_BADF;
        return;
    }
    f->fd = (int)s->fd;
    f->want_read = s->type == EVENT_READ;
    f->want_write = s->type == EVENT_WRITE;
    q->n_reads += f->want_read;
}

static int take_all(struct poll *q, uint32_t in)
{
    for (uint32_t i = 0; i < q->n; i++) {
        uint64_t at = in + (uint64_t)SUB_BYTES * i;
        struct sub *s = &q->subs[i];
        *s = (struct sub){.userdata = wasi_get64(q->w, at), .deadline = INT64_MAX, .type = *wasi_at(q->w, at + 8)};
        q->fds[i] = (struct proc_pollfd){.fd = -1};
        if (s->type == EVENT_CLOCK)
            take_clock(q, s, at);
        else if (s->type == EVENT_READ || s->type == EVENT_WRITE)
            take_fd(q, s, &q->fds[i], at);
        else
            return WASI_INVAL;
        /* The preopen is a directory, which is always ready. */
        q->n_errors += s->error || (s->type != EVENT_CLOCK && s->fd == PREOPEN);
    }
    return 0;
}

static int poll_init(struct poll *q, uint32_t n)
{
    q->n = n;
    if (n > SUBS_INLINE) {
        q->subs = mem_try(n * sizeof *q->subs);
        q->fds = mem_try(n * sizeof *q->fds);
        if (!q->subs || !q->fds)
            return WASI_NOMEM;
    }
    return 0;
}

/* Looks, and waits if it must: 0, or WASI_BLOCK or WASI_END. */
static int wait_for(struct poll *q)
{
    struct wasi *w = q->w;
    int ready = proc_look_fds(w->p, q->fds, q->n), r = 0;
    if (ready || q->n_errors)
        return 0;
    if (!w->may_block) {
        /* Who only looks at input still has to ask the host for it. */
        bool over = q->n_clocks && q->deadline <= q->now && !q->n_reads;
        return over ? 0 : WASI_BLOCK;
    }
    if (q->n_clocks < q->n)
        r = proc_poll_fds(w->p, q->fds, q->n, q->deadline);
    else
        r = proc_sleep(w->p, q->deadline);
    wasi__refresh(w);
    if (q->n_clocks)
        q->now = proc_now(w->p->ps);
    return r < 0 ? wasi__result(w, r) : 0;
}

/* Writes the event of subscription @i at @at, if there is one. */
static bool put_event(const struct poll *q, uint32_t i, uint64_t at)
{
    const struct wasi *w = q->w;
    const struct sub *s = &q->subs[i];
    const struct proc_pollfd *f = &q->fds[i];
    bool dir = s->type != EVENT_CLOCK && s->fd == PREOPEN;
    bool due =
        s->type == EVENT_CLOCK ? s->deadline <= q->now : dir || f->readable || f->writable || f->hangup || f->bad;
    if (!s->error && !due)
        return false;
    memset(wasi_at(w, at), 0, EVENT_BYTES);
    wasi_put64(w, at, s->userdata);
    wasi_put16(w, at + 8, s->error);
    *wasi_at(w, at + 10) = s->type;
    if (s->type == EVENT_CLOCK || s->error || dir)
        return true;
    bool end = f->hangup || f->bad;
    uint64_t bytes = s->type == EVENT_READ ? proc_available(w->p, (int)s->fd) : end ? 0 : LIMIT_PIPE_BUF;
    wasi_put64(w, at + 16, bytes);
    wasi_put16(w, at + 24, end ? HANGUP : 0);
    return true;
}

int wasi__poll_oneoff(struct wasi *w, const uint64_t *args)
{
    uint32_t in = ARG32(0), out = ARG32(1), n = ARG32(2), ret = ARG32(3), k = 0;
    struct poll q POLL_AUTO;
    q.w = w;
    q.subs = q.subs_inline;
    q.fds = q.fds_inline;
    q.n = q.n_clocks = q.n_errors = q.n_reads = 0;
    q.deadline = INT64_MAX;
    TRY(wasi__turn(w));
    if (!n || n > LIMIT_WASI_POLL)
        return WASI_INVAL;
    if (!wasi_in_array(w, in, n, SUB_BYTES) || !wasi_in_array(w, out, n, EVENT_BYTES) || !wasi_in(w, ret, 4))
        return WASI_FAULT;
    TRY(poll_init(&q, n));
    TRY(take_all(&q, in));
    TRY(wait_for(&q));
    if (!wasi_in_array(w, out, n, EVENT_BYTES) || !wasi_in(w, ret, 4))
        return WASI_FAULT;
    for (uint32_t i = 0; i < n; i++)
        k += put_event(&q, i, out + (uint64_t)EVENT_BYTES * k);
    wasi_put32(w, ret, k);
    return 0;
}
