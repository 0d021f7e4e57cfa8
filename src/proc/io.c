/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <fcntl.h>

#include "base/num.h"

#define MAX_IO 0x7ffff000u /* bytes one call moves, as Linux */

static char zeros[65536] __attribute__((aligned(4096)));

/* Moving bytes counts as work of the turn. Switches when the turn is over: 0 or -EINTR. */
static inline int charge(struct proc *p, size_t n)
{
    proc_budget -= (int32_t)(n >> 10) + 1;
    return proc_budget <= 0 || p->must_end ? proc_poll_slow(p) : 0;
}

/* The end of /dev/tty that reads or writes; others are themselves. */
static struct proc_file *input_of(struct proc_file *f)
{
    return f->kind == FILE_TTY ? f->u.term.in : f;
}

static struct proc_file *output_of(struct proc_file *f)
{
    return f->kind == FILE_TTY ? f->u.term.out : f;
}

static ssize_t read_text(struct proc_file *f, void *buf, size_t n)
{
    size_t size = f->u.text.n, at = f->off < size ? (size_t)f->off : size;
    n = NUM_MIN(n, size - at);
    if (n)
        memcpy(buf, f->u.text.p + at, n);
    f->off += n;
    return (ssize_t)n;
}

ssize_t proc_read(struct proc *p, int fd, void *buf, size_t n)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f || !f->readable || !(f = input_of(f)))
        return -EBADF;
    n = NUM_MIN(n, MAX_IO);
    int r = charge(p, n);
    if (r < 0)
        return r;
    ssize_t got = 0;
    switch (f->kind) {
    case FILE_VFS:
        got = vfs_pread(f->h, buf, n, f->off);
        if (got > 0)
            f->off += (uint64_t)got;
        return got;
    case FILE_PIPE:
        return n ? pipe__read(p, f, buf, n) : 0;
    case FILE_TERMINAL:
        return n ? tty__read(p, f, buf, n) : 0;
    case FILE_TEXT:
        return read_text(f, buf, n);
    case FILE_ZERO:
    case FILE_FULL:
        memset(buf, 0, n);
        return (ssize_t)n;
    case FILE_RANDOM:
        proc_entropy(p->ps, buf, n);
        return (ssize_t)n;
    case FILE_NULL:
        return 0;
    case FILE_SINK:
    case FILE_CAPTURE:
    case FILE_TTY:
        break;
    }
    return -EBADF;
}

/* Neither a place nor an order of reading: pread(2) of it is read(2). */
static bool placeless(const struct proc_file *f)
{
    return f->kind == FILE_NULL || f->kind == FILE_ZERO || f->kind == FILE_FULL || f->kind == FILE_RANDOM;
}

ssize_t proc_pread(struct proc *p, int fd, void *buf, size_t n, uint64_t off)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f || !f->readable)
        return -EBADF;
    if (placeless(f))
        return proc_read(p, fd, buf, n);
    if (f->kind != FILE_VFS && f->kind != FILE_TEXT)
        return -ESPIPE;
    n = NUM_MIN(n, MAX_IO);
    int r = charge(p, n);
    if (r < 0)
        return r;
    if (f->kind == FILE_VFS)
        return vfs_pread(f->h, buf, n, off);
    size_t size = f->u.text.n, at = off < size ? (size_t)off : size;
    n = NUM_MIN(n, size - at);
    if (n)
        memcpy(buf, f->u.text.p + at, n);
    return (ssize_t)n;
}

static ssize_t write_vfs(struct proc_file *f, const char *buf, size_t n)
{
    size_t done = 0;
    while (done < n) {
        uint64_t end;
        ssize_t r = vfs_pwrite(f->h, buf + done, n - done, f->off, &end);
        if (r <= 0)
            return done ? (ssize_t)done : r;
        f->off = end;
        done += (size_t)r;
    }
    return (ssize_t)done;
}

ssize_t proc_write(struct proc *p, int fd, const void *buf, size_t n)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f || !f->writable || !(f = output_of(f)))
        return -EBADF;
    n = NUM_MIN(n, MAX_IO);
    int r = charge(p, n);
    if (r < 0)
        return r;
    switch (f->kind) {
    case FILE_VFS:
        return write_vfs(f, buf, n);
    case FILE_PIPE:
        return pipe__write(p, f, buf, n);
    case FILE_SINK:
        return sink__write(p, f, buf, n);
    case FILE_TERMINAL:
        return tty__write(p, f, buf, n);
    case FILE_CAPTURE:
        return capture__write(p, f->u.capture, buf, n);
    case FILE_NULL:
    case FILE_ZERO:
    case FILE_RANDOM:
        return (ssize_t)n;
    case FILE_FULL:
        return n ? -ENOSPC : 0;
    case FILE_TEXT:
    case FILE_TTY:
        break;
    }
    return -EBADF;
}

ssize_t proc_pwrite(struct proc *p, int fd, const void *buf, size_t n, uint64_t off)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f || !f->writable)
        return -EBADF;
    if (placeless(f))
        return proc_write(p, fd, buf, n);
    if (f->kind != FILE_VFS)
        return -ESPIPE;
    n = NUM_MIN(n, MAX_IO);
    int r = charge(p, n);
    return r < 0 ? r : vfs_pwrite(f->h, buf, n, off, NULL);
}

static bool ready_to_read(const struct proc *p, const struct proc_file *f, size_t n)
{
    if ((f->kind != FILE_PIPE && f->kind != FILE_TERMINAL) || !n)
        return true;
    /* A terminal's reader may have to be stopped first. */
    if (f->tty && p->ps->foreground && p->pgid != p->ps->foreground)
        return false;
    if (f->kind == FILE_TERMINAL)
        return tty__readable(f->u.tty) || (f->oflags & O_NONBLOCK);
    return f->pipe->n || !f->pipe->writers || (f->oflags & O_NONBLOCK);
}

static bool ready_to_write(const struct proc_file *f, size_t n)
{
    if (f->kind == FILE_SINK || f->kind == FILE_TERMINAL)
        return !n; /* how much it takes is known only by writing */
    if (f->kind != FILE_PIPE || !n)
        return true;
    return !f->pipe->readers || LIMIT_PIPE - f->pipe->n >= n || (f->oflags & O_NONBLOCK);
}

uint64_t proc_available(const struct proc *p, int fd)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f || !f->readable || !(f = input_of(f)))
        return 0;
    uint64_t size;
    switch (f->kind) {
    case FILE_PIPE:
        return f->pipe->n;
    case FILE_TERMINAL:
        return tty__available(f->u.tty);
    case FILE_VFS:
        size = vfs_handle_size(f->h);
        return size > f->off ? size - f->off : 0;
    case FILE_TEXT:
        return f->u.text.n > f->off ? f->u.text.n - f->off : 0;
    case FILE_ZERO:
    case FILE_FULL:
    case FILE_RANDOM:
        return sizeof(zeros);
    case FILE_NULL:
    case FILE_SINK:
    case FILE_CAPTURE:
    case FILE_TTY:
        break;
    }
    return 0;
}

bool proc_ready(struct proc *p, int fd, bool write, size_t n)
{
    struct proc_file *f = proc_get(p, fd);
    if (p->must_end || !f || !(write ? f->writable : f->readable))
        return true;
    n = NUM_MIN(n, MAX_IO);
    if (proc_budget <= (int32_t)(n >> 10) + 1)
        return false;
    f = write ? output_of(f) : input_of(f);
    return !f || (write ? ready_to_write(f, n) : ready_to_read(p, f, n));
}

int proc_peek(struct proc *p, int fd, const void **ret_p, size_t *ret_n)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f || !f->readable || !(f = input_of(f)))
        return -EBADF;
    int r = charge(p, 0);
    if (r < 0)
        return r;
    switch (f->kind) {
    case FILE_VFS:
        return vfs_peek(f->h, f->off, ret_p, ret_n);
    case FILE_PIPE:
        return pipe__peek(p, f, ret_p, ret_n);
    case FILE_TERMINAL:
        return tty__peek(p, f, ret_p, ret_n);
    case FILE_TEXT: {
        size_t size = f->u.text.n, at = f->off < size ? (size_t)f->off : size;
        *ret_p = f->u.text.p + at;
        *ret_n = size - at;
        return 0;
    }
    case FILE_ZERO:
    case FILE_FULL:
        *ret_p = zeros;
        *ret_n = sizeof(zeros);
        return 0;
    case FILE_RANDOM:
        return file__random_peek(f, ret_p, ret_n);
    case FILE_NULL:
        *ret_p = zeros;
        *ret_n = 0;
        return 0;
    case FILE_SINK:
    case FILE_CAPTURE:
    case FILE_TTY:
        break;
    }
    return -EBADF;
}

void proc_consume(struct proc *p, int fd, size_t n)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f || !(f = input_of(f)))
        return;
    proc_budget -= (int32_t)(NUM_MIN(n, MAX_IO) >> 10);
    if (f->kind == FILE_PIPE)
        pipe__consume(f->pipe, n);
    else if (f->kind == FILE_TERMINAL)
        tty__consume(f->u.tty, n);
    else if (f->kind == FILE_RANDOM)
        f->u.rnd.pos += (uint32_t)NUM_MIN(n, (size_t)(f->u.rnd.n - f->u.rnd.pos));
    else
        f->off += n;
}

/* Where @off from @whence lies, for something of @size bytes; -EINVAL, -EOVERFLOW. */
static int64_t seek_to(uint64_t cur, uint64_t size, int64_t off, int whence)
{
    int64_t base, to;
    if (whence == SEEK_SET)
        base = 0;
    else if (whence == SEEK_CUR)
        base = (int64_t)cur;
    else if (whence == SEEK_END)
        base = (int64_t)size;
    else
        return -EINVAL;
    if (__builtin_add_overflow(base, off, &to))
        return -EOVERFLOW;
    return to < 0 ? -EINVAL : to;
}

int64_t proc_lseek(struct proc *p, int fd, int64_t off, int whence)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f || (f->oflags & O_PATH))
        return -EBADF;
    int64_t to;
    if (f->kind == FILE_VFS && (whence == SEEK_DATA || whence == SEEK_HOLE)) {
        uint64_t at;
        if (off < 0)
            return -ENXIO;
        int r = vfs_seek_data(f->h, (uint64_t)off, whence == SEEK_HOLE, &at);
        if (r < 0)
            return r;
        to = (int64_t)at;
    } else if (f->kind == FILE_VFS) {
        to = seek_to(f->off, whence == SEEK_END ? vfs_handle_size(f->h) : 0, off, whence);
    } else if (f->kind == FILE_TEXT) {
        to = seek_to(f->off, f->u.text.n, off, whence);
    } else if (f->kind == FILE_NULL || f->kind == FILE_ZERO || f->kind == FILE_FULL || f->kind == FILE_RANDOM) {
        return 0; /* drivers/char/mem.c of Linux: null_lseek */
    } else {
        return -ESPIPE;
    }
    if (to >= 0)
        f->off = (uint64_t)to;
    return to;
}
