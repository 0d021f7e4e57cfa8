/* SPDX-License-Identifier: Apache-2.0 */

/* Opens the log for append and appends. */

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "trace/trace_int.h"

#define KEPT (16u << 10) /* bytes of the buffer that a log which is idle keeps */

/* A log of which nothing is in the file yet: its head goes there with the first flush. */
static int make_new(struct trace *t)
{
    char head[TRACE_FILE_HEAD];
    trace_head_make(head, &t->genesis);
    t->known = true;
    t->end = 0;
    t->head = t->flushed_head = t->genesis;
    return buf_add(&t->out, head, sizeof(head));
}

/* Finds the end of a log of @size bytes and verifies the events before it. */
static int find_end(struct trace *t, uint64_t size, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e;
    int r = trace_know(t, err);
    if (r <= 0)
        return r < 0 ? r : err_set(err, -EBADMSG, "the log has become empty");
    trace_begin(&pos);
    t->end = size;
    r = t->flags & TRACE_HOLES ? trace_hole_find(t, size, &pos, err) : 0;
    if (r == 0)
        r = trace_tail_find(t, size, &pos, err);
    else
        r = NUM_MIN(r, 0);
    if (r == 0) {
        t->end = pos.offset;
        t->count = t->flushed = pos.seq;
        t->head = t->flushed_head = pos.chain;
        r = 1;
        for (int i = 0; r == 1 && i <= TRACE_OPEN_CHECKS; i++)
            r = trace_prev(t, &pos, &e, err);
    }
    trace_pos_done(&pos);
    return r < 0 ? r : 0;
}

static int cut(struct trace *t, uint64_t to)
{
    int r;
    do
        r = ftruncate(t->fd, (off_t)to);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

static int open_append(struct trace *t, uint64_t size, uint64_t *ret_cut, struct err *err)
{
    char head[TRACE_FILE_HEAD];
    int r;
    if (size < TRACE_FILE_HEAD) {
        struct cas_id none;
        ssize_t n = trace_pread(t->fd, head, (size_t)size, 0);
        if (n < 0)
            return err_set(err, (int)n, "cannot read the log");
        if (trace_head_check(str_of(head, (size_t)n), &none) < 0)
            return err_set(err, -EBADMSG, "this is no log");
        if (make_new(t))
            return err_set(err, -ENOMEM, "no memory");
    } else {
        r = find_end(t, size, err);
        if (r)
            return r;
    }
    *ret_cut = size - t->end;
    r = *ret_cut ? cut(t, t->end) : 0;
    return r ? err_set(err, r, "cannot cut the torn end of the log") : 0;
}

int trace_open(int fd, int flags, struct trace **ret, uint64_t *ret_cut, struct err *err)
{
    FD_AUTO int own = fd;
    struct stat st;
    if (fstat(own, &st) < 0)
        return err_set(err, -errno, "cannot look at the log");
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EINVAL, "the log is no regular file");
    if ((flags & TRACE_NEW) && st.st_size)
        return err_set(err, -EEXIST, "the log is there already");
    struct trace *t = mem_try_zalloc(sizeof(*t));
    if (!t)
        return err_set(err, -ENOMEM, "no memory");
    t->fd = fd_steal(&own);
    t->flags = flags;
    buf_init(&t->out, LIMIT_TRACE_EVENT);
    uint64_t n_cut = 0;
    int r = flags & TRACE_APPEND ? open_append(t, (uint64_t)st.st_size, &n_cut, err) : 0;
    if (r) {
        buf_clear(&t->out); /* nothing is to be written to what is damaged */
        trace_close(t);
        return r;
    }
    if (ret_cut)
        *ret_cut = n_cut;
    *ret = t;
    return 0;
}

void trace_close(struct trace *t)
{
    if (!t)
        return;
    if (trace_flush(t))
        trace_drop(t);
    fd_close(&t->fd);
    buf_done(&t->out);
    trace_mask_done(&t->masks);
    mem_free(t);
}

int trace_append(struct trace *t, struct trace_event *e)
{
    if (!(t->flags & TRACE_APPEND))
        return -EROFS;
    int r = t->out.n >= TRACE_BUFFER ? trace_flush(t) : 0;
    if (r)
        return r;
    struct trace_link at = {&t->genesis, &t->head, t->count};
    int64_t time = e->time;
    e->time = time ? time : clock_wall();
    struct cas_id chain;
    r = trace_event_put(&t->out, e, &at, &t->masks, &chain);
    if (r) {
        e->time = time;
        return r;
    }
    e->seq = t->count++;
    t->head = chain;
    return 0;
}

static int write_out(struct trace *t)
{
    for (size_t done = 0; done < t->out.n;) {
        ssize_t r = pwrite(t->fd, t->out.p + done, t->out.n - done, (off_t)(t->end + done));
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return r < 0 ? -errno : -EIO;
        done += (size_t)r;
    }
    return 0;
}

int trace_flush(struct trace *t)
{
    if (t->out.n == 0)
        return 0;
    int r = write_out(t);
    if (r) {
        /* When even that fails, the next flush writes the same bytes to the same place, or the next open cuts them. */
        (void)cut(t, t->end);
        return r;
    }
    t->end += t->out.n;
    t->flushed = t->count;
    t->flushed_head = t->head;
    if (t->out.cap > KEPT)
        buf_done(&t->out);
    else
        buf_clear(&t->out);
    return 0;
}

int trace_sync(struct trace *t)
{
    int r = trace_flush(t);
    if (r)
        return r;
    do
        r = fdatasync(t->fd);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

int trace_fd(const struct trace *t)
{
    return t->fd;
}

void trace_drop(struct trace *t)
{
    /* What is not in the file of its head stays. */
    buf_trunc(&t->out, t->end || t->out.n == 0 ? 0 : TRACE_FILE_HEAD);
    t->count = t->flushed;
    t->head = t->flushed_head;
}

uint64_t trace_count(const struct trace *t)
{
    return t->count;
}

uint64_t trace_size(const struct trace *t)
{
    return t->end + t->out.n;
}

void trace_head(const struct trace *t, struct cas_id *ret)
{
    *ret = t->head;
}
