/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A file that is no log, or nearly one. The first byte is even: the rest is the file. Odd: the rest are bodies (a
 * length of two bytes, type, version, bytes), which are put into a log with lengths and chain values that are right, so
 * that what is behind these checks is reached; what is left over follows as it is.
 */

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/fd.h"
#include "trace/trace_int.h"

/* The target (its name is libFuzzer's). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_u32(struct buf *b, uint32_t v)
{
    char x[4] = {(char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24)};
    buf_add(b, x, sizeof(x));
}

static void make_log(struct buf *b, const uint8_t *p, size_t n)
{
    char head[TRACE_FILE_HEAD];
    struct cas_id genesis, chain;
    trace_head_make(head, &genesis);
    buf_add(b, head, sizeof(head));
    chain = genesis;
    for (uint64_t seq = 0; n >= 4; seq++) {
        size_t body = (size_t)p[0] | (size_t)p[1] << 8;
        body = body < n - 4 ? body : n - 4;
        size_t begin = b->n;
        uint32_t length = (uint32_t)(body + TRACE_LEAST);
        const char two[2] = {(char)p[2], (char)p[3]}, zero[CAS_HASH_SIZE] = {0};
        put_u32(b, length);
        buf_add(b, two, 2);
        buf_add(b, zero, 2);
        put_u32(b, (uint32_t)seq);
        buf_add(b, zero, 12);
        buf_add(b, p + 4, body);
        buf_add(b, zero, sizeof(zero));
        put_u32(b, length);
        struct trace_link at = {&genesis, &chain, seq};
        struct cas_id next;
        trace_event_chain(str_of(b->p + begin, length), &at, &next);
        memcpy(b->p + b->n - TRACE_TAIL, next.b, sizeof(next.b));
        chain = next;
        p += 4 + body;
        n -= 4 + body;
    }
    buf_add(b, p, n);
}

static uint64_t read_all(struct trace *t, bool back)
{
    struct trace_pos pos;
    struct trace_event e;
    uint64_t n = 0;
    trace_begin(&pos);
    if (!back || trace_tail(t, &pos, NULL) == 0) {
        while ((back ? trace_prev : trace_next)(t, &pos, &e, NULL) == 1)
            n++;
    }
    trace_pos_done(&pos);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    BUF_AUTO struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    if (data[0] & 1)
        make_log(&b, data + 1, size - 1);
    else
        buf_add(&b, data + 1, size - 1);
    FD_AUTO int fd = memfd_create("log", MFD_CLOEXEC);
    ASSERT(fd >= 0 && fd_write_all(fd, buf_str(&b)) == 0);
    struct trace *t;
    struct trace_report report;
    if (trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), 0, &t, NULL, NULL) == 0) {
        int r = trace_verify(t, &report);
        ASSERT(read_all(t, false) == report.events);
        uint64_t n = read_all(t, true);
        ASSERT(r != 0 || n == report.events);
        trace_close(t);
    }
    if (trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), TRACE_APPEND, &t, NULL, NULL) == 0) {
        struct trace_event e = {.type = TRACE_LIMIT};
        ASSERT(trace_append(t, &e) == 0 && trace_flush(t) == 0);
        read_all(t, true);
        trace_close(t);
    }
    return 0;
}
