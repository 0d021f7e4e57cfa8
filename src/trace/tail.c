/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where the last whole event ends, found from the end of the file, so that a long log costs no more than a short one.
 *
 * An event counts as whole when its chain value follows from the one that is stored before it. No guest can print bytes
 * for which that holds (head.c), so what is found inside a torn event is never taken for one.
 */

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/num.h"
#include "trace/trace_int.h"

#define CLEAN (16u << 10) /* bytes read at once when the file ends with a whole event */
#define SPAN LIMIT_TRACE_EVENT

/* Whether a whole event ends at @end; then @pos is behind it. */
static int whole_before(struct trace *t, struct trace_pos *pos, uint64_t end, uint64_t span)
{
    struct trace_frame f;
    const char *why;
    int r = trace_frame_before(t, pos, end, span, &f);
    if (r <= 0)
        return r;
    struct trace_link at = {&t->genesis, &f.before, trace_u64(f.s.p + 8)};
    if (f.first != (at.seq == 0) || trace_event_check(f.s, &at, &why))
        return 0;
    memcpy(pos->chain.b, f.s.p + f.s.n - TRACE_TAIL, sizeof(pos->chain.b));
    pos->seq = at.seq + 1;
    pos->offset = end;
    return 1;
}

/* The bytes of an event that begins at @off and has the length it says, or none. */
static int whole_frame(struct trace *t, struct trace_pos *pos, uint64_t off, struct str *ret)
{
    struct str s;
    *ret = str_of(NULL, 0);
    int r = trace_view(t, pos, off, TRACE_HEAD, off, &s);
    uint32_t n = r == 0 && s.n >= TRACE_HEAD ? trace_event_length(s.p) : 0;
    if (r || n == 0)
        return r;
    r = trace_view(t, pos, off, n, off, &s);
    if (r == 0 && s.n >= n)
        *ret = str_of(s.p, n);
    return r;
}

/*
 * Whether the event behind @pos is damaged in its chain value alone: then the one behind that follows from what the
 * chain value should be, and the bytes are no torn tail.
 */
static int goes_on(struct trace *t, struct trace_pos *pos)
{
    struct str s;
    struct cas_id chain;
    const char *why;
    int r = whole_frame(t, pos, pos->offset, &s);
    if (r || s.n == 0)
        return r;
    struct trace_link at = {&t->genesis, &pos->chain, pos->seq};
    trace_event_chain(s, &at, &chain);
    r = whole_frame(t, pos, pos->offset + s.n, &s);
    if (r || s.n == 0)
        return r;
    at = (struct trace_link){&t->genesis, &chain, pos->seq + 1};
    return trace_event_check(s, &at, &why) == 0;
}

int trace_tail_find(struct trace *t, uint64_t size, struct trace_pos *pos, struct err *err)
{
    pos->seq = 0;
    pos->offset = TRACE_FILE_HEAD;
    pos->chain = t->genesis;
    int r = whole_before(t, pos, size, CLEAN);
    for (uint64_t end = size; r == 0 && end > TRACE_FILE_HEAD; end--)
        r = whole_before(t, pos, end, SPAN);
    if (r >= 0 && pos->offset < size)
        r = goes_on(t, pos);
    else
        r = NUM_MIN(r, 0);
    if (r > 0)
        return err_set(err, -EBADMSG, "event %" PRIu64 " at byte %" PRIu64 ": its chain value is wrong", pos->seq,
                       pos->offset);
    return r < 0 ? err_set(err, r, "cannot read the end of the log") : 0;
}

/* Whether @s, which is no whole event, is the beginning of one, or one that was not written to its end. An event that
 * has its length at its end was written whole, so a length at its begin that does not fit is damage. */
static bool is_begin(struct str s, uint64_t rest)
{
    static const char zeros[TRACE_TAIL];
    struct str end = str_from(s, s.n - NUM_MIN(s.n, (size_t)TRACE_TAIL));
    if (s.n < rest)
        return false; /* longer than an event */
    if (s.n < TRACE_HEAD || memcmp(end.p, zeros, end.n) == 0)
        return true;
    return trace_event_length(s.p) > s.n && trace_u32(s.p + s.n - 4) != s.n;
}

/* ---- holes ---- */

#define SECTOR 512u /* the least that a disk has or has not */

static bool is_zero(const char *p, size_t n)
{
    return n == 0 || (*p == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Whether a sector of the event behind @pos, or the part of the first one that is its own, is zeros. */
static int hole_behind(struct trace *t, struct trace_pos *pos, uint64_t size)
{
    struct str s;
    int r = trace_view(t, pos, pos->offset, NUM_MIN(size - pos->offset, (uint64_t)LIMIT_TRACE_EVENT), pos->offset, &s);
    uint32_t n = r == 0 && s.n >= 4 ? trace_event_length(s.p) : 0;
    if (n && n <= s.n) {
        s.n = n;
        /* Its length stands at its end again; the upper bytes of that are zeros in a whole event too. */
        for (int shift = 24; n >> shift == 0; shift -= 8)
            s.n--;
    }
    size_t part = (size_t)(SECTOR - pos->offset % SECTOR);
    for (size_t at = 0; r == 0 && at < s.n; at += part, part = SECTOR)
        r = is_zero(s.p + at, NUM_MIN(part, s.n - at));
    return r;
}

int trace_hole_find(struct trace *t, uint64_t size, struct trace_pos *pos, struct err *err)
{
    struct trace_event e;
    int r;
    while ((r = trace_next(t, pos, &e, err)) == 1)
        ;
    if (r == -EBADMSG && pos->offset < size)
        r = hole_behind(t, pos, size);
    return r == -EBADMSG ? 0 : r;
}

/* ---- what lies behind the last event that can be read ---- */

int64_t trace_torn(struct trace *t, const struct trace_pos *at, bool *ret_hole)
{
    struct trace_pos pos;
    struct stat st;
    struct str s;
    *ret_hole = false;
    if (fstat(t->fd, &st) < 0)
        return -errno;
    uint64_t size = (uint64_t)st.st_size, rest = size - NUM_MIN(size, at->offset);
    if (rest == 0 || at->offset < TRACE_FILE_HEAD)
        return 0;
    trace_begin(&pos);
    int r = trace_view(t, &pos, at->offset, NUM_MIN(rest, (uint64_t)LIMIT_TRACE_EVENT), at->offset, &s);
    bool torn = r == 0 && is_begin(s, rest);
    if (r == 0 && !torn) {
        pos.offset = at->offset;
        r = hole_behind(t, &pos, size);
        *ret_hole = torn = r == 1;
        r = NUM_MIN(r, 0);
    }
    /* And no whole event lies in it: else only a loss of power explains it. */
    if (torn && !(*ret_hole && (t->flags & TRACE_HOLES))) {
        r = trace_tail_find(t, size, &pos, NULL);
        torn = r == 0 && pos.offset == at->offset;
    }
    *ret_hole &= torn;
    trace_pos_done(&pos);
    return torn ? (int64_t)rest : r == -EBADMSG ? 0 : r;
}

int trace_tail(struct trace *t, struct trace_pos *pos, struct err *err)
{
    struct stat st;
    int r = trace_know(t, err);
    if (r <= 0)
        return r;
    if (t->flags & TRACE_APPEND) {
        pos->seq = t->flushed;
        pos->offset = t->end ? t->end : TRACE_FILE_HEAD;
        pos->chain = t->flushed_head;
        return 0;
    }
    if (fstat(t->fd, &st) < 0)
        return err_set(err, -errno, "cannot look at the log");
    return trace_tail_find(t, (uint64_t)st.st_size, pos, err);
}
