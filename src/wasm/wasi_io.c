/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/num.h"
#include "wasm/wasi_int.h"

/*
 * Bytes: fd_read, fd_write, fd_pread, fd_pwrite.
 *
 * The pieces of a call are copied first, as Linux does, because a read may write over the guest's own list of them.
 */

#define PIECES_INLINE 16
#define TOTAL_MAX UINT64_C(0x7ffff000) /* bytes of one call, as Linux */
#define CHUNK (256u << 10)             /* bytes between looks whether the process must end */

struct piece {
    uint32_t p, n;
};

struct pieces {
    struct piece *v;
    uint32_t n;
    uint32_t used; /* those that are not empty */
    uint64_t total;
    struct piece inline_v[PIECES_INLINE];
};

static void pieces_done(struct pieces *s)
{
    if (s->v != s->inline_v)
        mem_free(s->v);
}
#define PIECES_AUTO __attribute__((cleanup(pieces_done)))

/* The list of @n at @p: WASI_INVAL WASI_FAULT WASI_NOMEM. */
static int pieces_load(const struct wasi *w, uint32_t p, uint32_t n, struct pieces *s)
{
    if (n > LIMIT_WASI_IOVS)
        return WASI_INVAL;
    if (!wasi_in_array(w, p, n, 8))
        return WASI_FAULT;
    if (n > PIECES_INLINE) {
        struct piece *v = mem_try(n * sizeof *v);
        if (!v)
            return WASI_NOMEM;
        s->v = v;
    }
    s->n = n;
    for (uint32_t i = 0; i < n; i++) {
        struct piece e = {wasi_get32(w, p + UINT64_C(8) * i), wasi_get32(w, p + UINT64_C(8) * i + 4)};
        if (!wasi_in(w, e.p, e.n))
            return WASI_FAULT;
        e.n = (uint32_t)NUM_MIN((uint64_t)e.n, TOTAL_MAX - s->total);
        s->total += e.n;
        s->used += e.n != 0;
        s->v[i] = e;
    }
    return 0;
}

/* One call on its way. */
struct io {
    struct wasi *w;
    int fd;
    bool write;
    bool at; /* from offset @off */
    uint64_t off;
    uint64_t done;
};

static ssize_t io_once(struct io *io, void *buf, size_t n)
{
    struct proc *p = io->w->p;
    uint64_t off = io->off + io->done;
    if (io->at)
        return io->write ? proc_pwrite(p, io->fd, buf, n, off) : proc_pread(p, io->fd, buf, n, off);
    return io->write ? proc_write(p, io->fd, buf, n) : proc_read(p, io->fd, buf, n);
}

/* Whether it would wait for more, now that some is done: only a file is read on to its end. */
static bool io_stops(const struct io *io)
{
    if (io->write || io->at || !io->done || proc_ready(io->w->p, io->fd, false, 1))
        return false;
    return proc_lseek(io->w->p, io->fd, 0, SEEK_CUR) == -ESPIPE;
}

/* One piece: 1 to go on, 0 when it fell short, or an error. The guest stands still while this waits, so that bytes may
 * come in at its address meanwhile. */
static int io_piece(struct io *io, struct piece e)
{
    while (e.n) {
        uint32_t k = NUM_MIN(e.n, CHUNK);
        if (!wasi_in(io->w, e.p, k))
            return -EFAULT;
        if (io_stops(io))
            return 0;
        ssize_t r = io_once(io, wasi_at(io->w, e.p), k);
        if (io->w->may_block)
            wasi__refresh(io->w);
        if (r < 0)
            return (int)r;
        io->done += (uint64_t)r;
        if ((size_t)r < k)
            return 0;
        e.p += k;
        e.n -= k;
    }
    return 1;
}

/* Short writes of several pieces go out as one, so that on a pipe they stay together. */
static int io_gather(struct io *io, const struct pieces *s)
{
    char buf[LIMIT_PIPE_BUF];
    size_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->v[i].n)
            memcpy(buf + n, wasi_at(io->w, s->v[i].p), s->v[i].n);
        n += s->v[i].n;
    }
    ssize_t r = io_once(io, buf, n);
    if (io->w->may_block)
        wasi__refresh(io->w);
    if (r > 0)
        io->done = (uint64_t)r;
    return r < 0 ? (int)r : 0;
}

static int io_all(struct io *io, const struct pieces *s)
{
    if (io->write && s->used > 1 && s->total <= LIMIT_PIPE_BUF)
        return io_gather(io, s);
    if (!s->used) { /* still finds out what is wrong with the descriptor */
        ssize_t r = io_once(io, NULL, 0);
        return r < 0 ? (int)r : 0;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        int r = io_piece(io, s->v[i]);
        if (r <= 0)
            return r;
    }
    return 0;
}

static int io_run(struct io *io, uint32_t fd, uint64_t rights, uint32_t list, uint32_t n, uint32_t ret)
{
    struct wasi *w = io->w;
    struct pieces s PIECES_AUTO;
    s.v = s.inline_v;
    s.n = s.used = 0;
    s.total = 0;
    TRY(wasi__fd(w, fd, rights));
    TRY(pieces_load(w, list, n, &s));
    if (!wasi_in(w, ret, 4))
        return WASI_FAULT;
    if (fd == PREOPEN)
        return io->write ? WASI_BADF : WASI_ISDIR;
    io->fd = (int)fd;
    if (!w->may_block && !proc_ready(w->p, io->fd, io->write, s.total))
        return WASI_BLOCK;
    int r = io_all(io, &s);
    if (w->p->must_end)
        return wasi__killed(w);
    if (r < 0 && !io->done)
        return wasi__errno(r);
    if (!wasi_in(w, ret, 4))
        return WASI_FAULT;
    wasi_put32(w, ret, (uint32_t)io->done);
    return 0;
}

int wasi__fd_read(struct wasi *w, const uint64_t *args)
{
    struct io io = {.w = w};
    return io_run(&io, ARG32(0), RIGHT_FD_READ, ARG32(1), ARG32(2), ARG32(3));
}

int wasi__fd_write(struct wasi *w, const uint64_t *args)
{
    struct io io = {.w = w, .write = true};
    return io_run(&io, ARG32(0), RIGHT_FD_WRITE, ARG32(1), ARG32(2), ARG32(3));
}

int wasi__fd_pread(struct wasi *w, const uint64_t *args)
{
    struct io io = {.w = w, .at = true, .off = args[3]};
    if (args[3] > INT64_MAX)
        return WASI_INVAL;
    return io_run(&io, ARG32(0), RIGHT_FD_READ | RIGHT_FD_SEEK, ARG32(1), ARG32(2), ARG32(4));
}

int wasi__fd_pwrite(struct wasi *w, const uint64_t *args)
{
    struct io io = {.w = w, .at = true, .write = true, .off = args[3]};
    if (args[3] > INT64_MAX)
        return WASI_INVAL;
    return io_run(&io, ARG32(0), RIGHT_FD_WRITE | RIGHT_FD_SEEK, ARG32(1), ARG32(2), ARG32(4));
}
