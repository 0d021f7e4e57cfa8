/* SPDX-License-Identifier: Apache-2.0 */

/* Reads events one after the other, forwards and backwards, through a window of the file. */

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/num.h"
#include "trace/trace_int.h"

#define AHEAD (128u << 10) /* bytes read at once forwards */
#define BEHIND (16u << 10) /* backwards, where most readers want a few events */

ssize_t trace_pread(int fd, char *p, size_t n, uint64_t off)
{
    size_t done = 0;
    while (done < n) {
        ssize_t r = pread(fd, p + done, n - done, (off_t)(off + done));
        if (r < 0 && errno != EINTR)
            return -errno;
        if (r == 0)
            break;
        done += r > 0 ? (size_t)r : 0;
    }
    return (ssize_t)done;
}

int trace_know(struct trace *t, struct err *err)
{
    char head[TRACE_FILE_HEAD];
    if (t->known)
        return 1;
    ssize_t n = trace_pread(t->fd, head, sizeof(head), 0);
    if (n < 0)
        return err_set(err, (int)n, "cannot read the log");
    if (n == 0)
        return 0;
    if (trace_head_check(str_of(head, (size_t)n), &t->genesis) <= 0)
        return err_set(err, -EBADMSG, "the head of the log is damaged, or it is no log");
    t->known = true;
    return 1;
}

static bool in_window(const struct trace_pos *pos, uint64_t off, size_t n)
{
    return off >= pos->window && off - pos->window + n <= pos->scratch.n;
}

int trace_view(struct trace *t, struct trace_pos *pos, uint64_t off, size_t n, uint64_t from, struct str *ret)
{
    struct buf *b = &pos->scratch;
    if (!in_window(pos, off, n)) {
        size_t want = NUM_MAX((size_t)(off - from) + n, (size_t)(from == off ? AHEAD : 0));
        if (t->flags & TRACE_APPEND) /* what lies behind is the rest of a write that failed */
            want = (size_t)NUM_MIN((uint64_t)want, t->end > from ? t->end - from : 0);
        buf_clear(b);
        if (buf_reserve(b, want))
            return -ENOMEM;
        ssize_t got = want ? trace_pread(t->fd, b->p, want, from) : 0;
        if (got < 0)
            return (int)got;
        buf_trunc(b, (size_t)got);
        pos->window = from;
    }
    size_t skip = NUM_MIN((size_t)(off - pos->window), b->n);
    *ret = str_of(b->p + skip, b->n - skip);
    return 0;
}

void trace_begin(struct trace_pos *pos)
{
    *pos = (struct trace_pos){0};
    buf_init(&pos->scratch, 4 * LIMIT_TRACE_EVENT);
}

void trace_pos_done(struct trace_pos *pos)
{
    buf_done(&pos->scratch);
}

/* Before event 0, once it is known where the chain begins. */
static void enter(struct trace *t, struct trace_pos *pos)
{
    if (pos->offset)
        return;
    pos->offset = TRACE_FILE_HEAD;
    pos->chain = t->genesis;
}

static int read_next(struct trace *t, struct trace_pos *pos, struct trace_event *ret, const char **ret_why)
{
    struct str s;
    int r = trace_view(t, pos, pos->offset, TRACE_HEAD, pos->offset, &s);
    if (r || s.n == 0)
        return r;
    *ret_why = "it is cut short";
    uint32_t n = s.n < TRACE_HEAD ? 0 : trace_event_length(s.p);
    if (n == 0) {
        *ret_why = s.n < TRACE_HEAD ? *ret_why : "its length is wrong";
        return -EBADMSG;
    }
    r = trace_view(t, pos, pos->offset, n, pos->offset, &s);
    if (r)
        return r;
    if (s.n < n)
        return -EBADMSG;
    struct trace_link at = {&t->genesis, &pos->chain, pos->seq};
    r = trace_event_get(str_of(s.p, n), &at, ret, ret_why);
    if (r)
        return r;
    memcpy(pos->chain.b, s.p + n - TRACE_TAIL, sizeof(pos->chain.b));
    pos->offset += n;
    pos->seq++;
    return 1;
}

int trace_frame_before(struct trace *t, struct trace_pos *pos, uint64_t end, uint64_t span, struct trace_frame *ret)
{
    struct str s;
    uint64_t from = end - NUM_MIN(end, span), room = end - TRACE_FILE_HEAD;
    if (room < TRACE_LEAST)
        return 0;
    int r = trace_view(t, pos, end - 4, 4, from, &s);
    if (r)
        return r;
    uint32_t n = s.n < 4 ? 0 : trace_event_length(s.p);
    bool first = n == room;
    if (n == 0 || n > room || (!first && room - n < TRACE_LEAST))
        return 0;
    size_t lead = first ? 0 : TRACE_TAIL;
    uint64_t begin = end - n - lead;
    r = trace_view(t, pos, begin, n + lead, NUM_MIN(from, begin), &s);
    if (r)
        return r;
    if (s.n < n + lead || trace_u32(s.p + lead) != n)
        return 0;
    *ret = (struct trace_frame){str_of(s.p + lead, n), t->genesis, first};
    if (!first)
        memcpy(ret->before.b, s.p, sizeof(ret->before.b));
    return 1;
}

static int read_prev(struct trace *t, struct trace_pos *pos, struct trace_event *ret, const char **ret_why)
{
    struct trace_frame f;
    if (pos->offset == TRACE_FILE_HEAD)
        return 0;
    *ret_why = "the event before it is not whole";
    int r = trace_frame_before(t, pos, pos->offset, BEHIND, &f);
    if (r < 0)
        return r;
    if (r == 0 || pos->seq == 0 || f.first != (pos->seq == 1) ||
        memcmp(f.s.p + f.s.n - TRACE_TAIL, pos->chain.b, sizeof(pos->chain.b)) != 0)
        return -EBADMSG;
    struct trace_link at = {&t->genesis, &f.before, pos->seq - 1};
    r = trace_event_get(f.s, &at, ret, ret_why);
    if (r)
        return r;
    pos->chain = f.before;
    pos->offset -= f.s.n;
    pos->seq--;
    return 1;
}

typedef int (*step)(struct trace *t, struct trace_pos *pos, struct trace_event *ret, const char **ret_why);

static int go(struct trace *t, struct trace_pos *pos, step fn, struct trace_event *ret, struct err *err)
{
    const char *why = "it cannot be read";
    int r = trace_know(t, err);
    if (r <= 0)
        return r;
    enter(t, pos);
    bool cached = pos->scratch.n > 0;
    r = fn(t, pos, ret, &why);
    /* What was read ahead may have been the rest of a write that failed and has been cut since. */
    if (r == -EBADMSG && cached) {
        buf_clear(&pos->scratch);
        r = fn(t, pos, ret, &why);
    }
    return r < 0 ? err_set(err, r, "event %" PRIu64 " at byte %" PRIu64 ": %s", pos->seq, pos->offset, why) : r;
}

int trace_next(struct trace *t, struct trace_pos *pos, struct trace_event *ret, struct err *err)
{
    return go(t, pos, read_next, ret, err);
}

int trace_prev(struct trace *t, struct trace_pos *pos, struct trace_event *ret, struct err *err)
{
    return go(t, pos, read_prev, ret, err);
}

int trace_last(struct trace *t, struct trace_pos *pos, uint32_t types, struct trace_event *ret, struct err *err)
{
    for (;;) {
        int r = trace_prev(t, pos, ret, err);
        if (r <= 0 || types >> ret->type & 1)
            return r;
    }
}
