/* SPDX-License-Identifier: Apache-2.0 */

/* Damage of every kind to small logs: what trace_verify() says of it, and what opening for append does. */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/test/test.h"
#include "trace/test/trace_test.h"
#include "trace/trace_int.h"

#define MOST 64

/* A log's bytes and where its events begin; at[n] is its end. */
struct image {
    struct buf b;
    size_t at[MOST + 1];
    unsigned n;
};

static struct image image_of(uint64_t seed, unsigned n, uint32_t most)
{
    struct image m = {.n = n};
    int fd;
    trace_close(log_of(seed, n, most, &fd));
    bytes_of(fd, &m.b);
    fd_close(&fd);
    m.at[0] = TRACE_FILE_HEAD;
    for (unsigned i = 0; i < n; i++)
        m.at[i + 1] = m.at[i] + trace_u32(m.b.p + m.at[i]);
    CHECK_INT(m.at[n], m.b.n);
    return m;
}

static struct str event_of(const struct image *m, unsigned i)
{
    return str_of(m->b.p + m->at[i], m->at[i + 1] - m->at[i]);
}

/* What verifying @bytes says. */
static int verify_with(struct str bytes, int flags, struct trace_report *ret)
{
    struct trace *t;
    CHECK_INT(trace_open(file_of(bytes), flags, &t, NULL, NULL), 0);
    int r = trace_verify(t, ret);
    CHECK((r < 0) == (ret->what[0] != 0));
    trace_close(t);
    return r;
}

static int verify(struct str bytes, struct trace_report *ret)
{
    return verify_with(bytes, 0, ret);
}

static void check_bad_at(struct str bytes, unsigned seq, size_t offset)
{
    struct trace_report report;
    CHECK_INT(verify(bytes, &report), -EBADMSG);
    CHECK_INT(report.torn, 0);
    CHECK_INT(report.events, seq);
    CHECK_INT(report.bad_offset, offset);
}

/* Opens for append: yields how many bytes were cut, or the error; then nothing has changed. */
static int64_t cut_of(struct str bytes, uint64_t *ret_count)
{
    int fd = file_of(bytes);
    struct trace *t;
    struct err err = {0};
    uint64_t cut = 0;
    int r = trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), TRACE_APPEND, &t, &cut, &err);
    CHECK((r < 0) == (err.text[0] != 0));
    BUF_AUTO struct buf after;
    bytes_of(fd, &after);
    if (r == 0) {
        *ret_count = trace_count(t);
        CHECK_STR(buf_str(&after), str_of(bytes.p, bytes.n - cut));
        struct trace_event e = {.type = TRACE_FORK, .u.fork.session = STR("goes on")};
        struct trace_report report;
        CHECK_INT(trace_append(t, &e), 0);
        CHECK_INT(trace_flush(t), 0);
        CHECK_INT(trace_verify(t, &report), 0);
        CHECK_INT(report.events, *ret_count + 1);
        trace_close(t);
    } else {
        CHECK_STR(buf_str(&after), bytes);
    }
    fd_close(&fd);
    return r ? r : (int64_t)cut;
}

TEST_LIMIT(every_bit, 120)
{
    struct image m = image_of(test_seed(), 14, 20);
    unsigned k = 0;
    for (size_t i = 0; i < m.b.n; i++) {
        bool head = i < TRACE_FILE_HEAD;
        while (!head && i >= m.at[k + 1])
            k++;
        for (int bit = 0; bit < 8; bit++) {
            uint64_t count = 0;
            m.b.p[i] = (char)(m.b.p[i] ^ 1 << bit);
            check_bad_at(buf_str(&m.b), k, head ? 0 : m.at[k]);
            int64_t cut = cut_of(buf_str(&m.b), &count);
            if (k == m.n - 1) {
                CHECK_INT(cut, m.b.n - m.at[k]);
                CHECK_INT(count, k);
            } else {
                CHECK_INT(cut, -EBADMSG);
            }
            m.b.p[i] = (char)(m.b.p[i] ^ 1 << bit);
        }
    }
    buf_done(&m.b);
}

TEST(every_cut)
{
    struct image m = image_of(test_seed(), 14, 20);
    for (size_t n = 0; n < m.b.n; n++) {
        struct trace_report report;
        unsigned whole = 0;
        while (whole < m.n && m.at[whole + 1] <= n)
            whole++;
        size_t begin = n < TRACE_FILE_HEAD ? 0 : m.at[whole];
        CHECK_INT(verify(str_of(m.b.p, n), &report), n == begin ? 0 : -EBADMSG);
        CHECK_INT(report.events, whole);
        CHECK_INT(report.bad_offset, begin);
        CHECK_INT(report.torn, n < TRACE_FILE_HEAD ? 0 : n - begin);
        uint64_t count = 99;
        CHECK_INT(cut_of(str_of(m.b.p, n), &count), n - begin);
        CHECK_INT(count, whole);
    }
    buf_done(&m.b);
}

/* The end of the last event did not reach the disk, but the length of the file did. */
TEST(zeros_for_an_end)
{
    struct image m = image_of(test_seed(), 5, 300);
    for (size_t n = m.at[4]; n < m.b.n - TRACE_TAIL; n++) {
        struct trace_report report;
        BUF_AUTO struct buf b;
        buf_init(&b, SIZE_MAX / 2);
        buf_add(&b, m.b.p, n);
        for (size_t i = n; i < m.b.n; i++)
            buf_putc(&b, 0);
        CHECK_INT(verify(buf_str(&b), &report), -EBADMSG);
        CHECK_INT(report.events, 4);
        CHECK_INT(report.torn, m.b.n - m.at[4]);
    }
    buf_done(&m.b);
}

/* Puts a log together from the events of another, in the order given. */
static void check_order(const struct image *m, const unsigned *order, unsigned n, unsigned bad)
{
    BUF_AUTO struct buf b;
    size_t offset = 0;
    buf_init(&b, SIZE_MAX / 2);
    buf_add(&b, m->b.p, TRACE_FILE_HEAD);
    for (unsigned i = 0; i < n; i++) {
        offset = i == bad ? b.n : offset;
        buf_adds(&b, event_of(m, order[i]));
    }
    check_bad_at(buf_str(&b), bad, offset);
}

TEST(every_swap_removal_and_copy)
{
    struct image m = image_of(test_seed(), 12, 20);
    unsigned order[MOST];
    for (unsigned i = 0; i < m.n; i++) {
        for (unsigned k = i + 1; k < m.n; k++) {
            for (unsigned j = 0; j < m.n; j++)
                order[j] = j == i ? k : j == k ? i : j;
            check_order(&m, order, m.n, i);
        }
        for (unsigned j = 0; j + 1 < m.n; j++)
            order[j] = j < i ? j : j + 1;
        if (i + 1 < m.n)
            check_order(&m, order, m.n - 1, i);
        for (unsigned k = 0; k <= m.n; k++) { /* a copy of event i in front of event k */
            for (unsigned j = 0; j <= m.n; j++)
                order[j] = j < k ? j : j == k ? i : j - 1;
            check_order(&m, order, m.n + 1, i == k ? k + 1 : k);
        }
    }
    buf_done(&m.b);
}

/* Whole events that are gone at the end are not seen, but the head is another one. */
TEST(removal_at_the_end)
{
    struct image m = image_of(test_seed(), 5, 20);
    struct trace_report whole, less;
    CHECK_INT(verify(buf_str(&m.b), &whole), 0);
    CHECK_INT(verify(str_of(m.b.p, m.at[4]), &less), 0);
    CHECK_INT(less.events, 4);
    CHECK(memcmp(&whole.head, &less.head, sizeof(less.head)) != 0);
    buf_done(&m.b);
}

/* Events of one log do not go on another, though all their bytes are the same. */
TEST(events_of_another_log)
{
    uint64_t seed = test_seed();
    struct image a = image_of(seed, 5, 20), b = image_of(seed, 5, 20);
    CHECK_INT(a.b.n, b.b.n);
    for (unsigned i = 0; i < 5; i++) {
        BUF_AUTO struct buf mixed;
        buf_init(&mixed, SIZE_MAX / 2);
        buf_add(&mixed, a.b.p, a.at[i]);
        buf_add(&mixed, b.b.p + b.at[i], b.b.n - b.at[i]);
        check_bad_at(buf_str(&mixed), i, a.at[i]);
    }
    buf_done(&a.b);
    buf_done(&b.b);
}

TEST(torn_tails_of_many_sizes)
{
    uint64_t seed = test_seed(), count = 0;
    struct image m = image_of(seed, 30, 50);
    for (size_t n = 1; n < 600000; n += n / 2 + 1) {
        for (int fill = 0; fill < 3; fill++) {
            BUF_AUTO struct buf b;
            buf_init(&b, SIZE_MAX / 2);
            buf_adds(&b, buf_str(&m.b));
            for (size_t i = 0; i < n; i++)
                buf_putc(&b, (char)(fill == 2 ? test_rand(&seed) : (uint64_t)fill * 0x3c));
            CHECK_INT(cut_of(buf_str(&b), &count), n);
            CHECK_INT(count, 30);
            /* What no write leaves is damage, though it is cut. */
            struct trace_report report;
            CHECK_INT(verify(buf_str(&b), &report), -EBADMSG);
            CHECK_INT(report.torn, n < TRACE_HEAD || fill == 0 ? n : 0);
        }
    }
    buf_done(&m.b);
}

/* Opening looks at the last events only; verifying at all. */
TEST(what_open_checks)
{
    struct image m = image_of(test_seed(), 60, 30);
    for (unsigned k = 0; k < m.n - 1; k++) {
        uint64_t count;
        size_t in_body = m.at[k] + TRACE_HEAD;
        m.b.p[in_body] ^= 1;
        check_bad_at(buf_str(&m.b), k, m.at[k]);
        if (k >= m.n - 1 - TRACE_OPEN_CHECKS) {
            CHECK_INT(cut_of(buf_str(&m.b), &count), -EBADMSG);
        } else {
            struct trace *t;
            CHECK_INT(trace_open(file_of(buf_str(&m.b)), TRACE_APPEND, &t, NULL, NULL), 0);
            CHECK_INT(trace_count(t), m.n);
            trace_close(t);
        }
        m.b.p[in_body] ^= 1;
    }
    buf_done(&m.b);
}

/* A guest prints two events that follow from each other, and the log is torn right behind them. */
TEST(printed_events_are_none)
{
    struct cas_id guess = {{1, 2, 3}}, chain = guess, next;
    BUF_AUTO struct buf fake;
    buf_init(&fake, 4096);
    for (unsigned i = 1; i < 40; i++, chain = next) {
        struct trace_event f = {.type = TRACE_FORK, .u.fork.session = STR("forged")};
        struct trace_link at = {&guess, &chain, i};
        CHECK_INT(trace_event_put(&fake, &f, &at, NULL, &next), 0);
    }
    int fd;
    struct trace *t = log_of(test_seed(), 5, 20, &fd);
    struct trace_event e = {.type = TRACE_CHANGE, .u.change.path = buf_str(&fake)};
    CHECK_INT(trace_append(t, &e), 0);
    CHECK_INT(trace_flush(t), 0);
    trace_close(t);
    BUF_AUTO struct buf all;
    bytes_of(fd, &all);
    const char *in = memmem(all.p, all.n, fake.p, fake.n);
    CHECK(in != NULL);
    uint64_t count = 0;
    CHECK(cut_of(str_of(all.p, (size_t)(in - all.p) + fake.n), &count) > (int64_t)fake.n);
    CHECK_INT(count, 5);
    fd_close(&fd);
}

/* An event of a newer program, or one with a wrong seq, chained as it should be: it is neither torn nor ours to append
 * behind. */
TEST(chained_and_wrong)
{
    struct image m = image_of(test_seed(), 3, 20);
    for (int at = 4; at < 9; at++) {
        BUF_AUTO struct buf b;
        buf_init(&b, SIZE_MAX / 2);
        buf_add(&b, m.b.p, m.at[2]);
        buf_adds(&b, event_of(&m, 2));
        b.p[m.at[2] + (size_t)at] = 77;
        struct cas_id genesis, before;
        memcpy(genesis.b, b.p + TRACE_FILE_HEAD - sizeof(genesis.b), sizeof(genesis.b));
        memcpy(before.b, b.p + m.at[2] - TRACE_TAIL, sizeof(before.b));
        struct trace_link link = {&genesis, &before, 2};
        struct cas_id chain;
        trace_event_chain(str_of(b.p + m.at[2], b.n - m.at[2]), &link, &chain);
        memcpy(b.p + b.n - TRACE_TAIL, chain.b, sizeof(chain.b));
        check_bad_at(buf_str(&b), 2, m.at[2]);
        uint64_t count;
        CHECK_INT(cut_of(buf_str(&b), &count), -EBADMSG);
    }
    buf_done(&m.b);
}

/* ---- loss of power ---- */

/* Sectors that are zeros end the log before the event they are in. */
static void check_holes(const struct image *m, unsigned *ret_torn)
{
    for (size_t sector = 512; sector + 512 <= m->b.n; sector += 512) {
        BUF_AUTO struct buf b;
        buf_init(&b, 1u << 20);
        buf_adds(&b, buf_str(&m->b));
        memset(b.p + sector, 0, 512);
        /* Where the sector begins there may be zeros already: the upper bytes of an event's length. */
        size_t changed = sector;
        while (b.p[changed] == m->b.p[changed])
            changed++;
        unsigned first = 0;
        while (m->at[first + 1] <= changed)
            first++;
        struct trace *t = NULL;
        uint64_t cut = 0, count;
        int fd = file_of(buf_str(&b));
        CHECK_INT(trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), TRACE_APPEND | TRACE_HOLES, &t, &cut, NULL), 0);
        CHECK_INT(trace_count(t), first);
        CHECK_INT(cut, m->b.n - m->at[first]);
        trace_close(t);
        t = open_again(fd, NULL);
        CHECK_INT(trace_count(t), first);
        trace_close(t);
        fd_close(&fd);
        /* Verifying tells before what opening will do, be it that power may have been lost or not. */
        struct trace_report report;
        CHECK_INT(verify_with(buf_str(&b), TRACE_HOLES, &report), -EBADMSG);
        CHECK_INT(report.torn, cut);
        CHECK_INT(report.bad_offset, m->at[first]);
        CHECK_INT(verify(buf_str(&b), &report), -EBADMSG);
        *ret_torn += report.hole;
        if (m->n > TRACE_OPEN_CHECKS)
            continue; /* what opening does not look at it does not tell */
        int64_t without = cut_of(buf_str(&b), &count);
        CHECK_INT(without, report.torn ? (int64_t)report.torn : -EBADMSG);
        CHECK(first < m->n - 1 || report.torn == cut);
    }
}

TEST(holes_end_the_log)
{
    unsigned torn = 0;
    for (unsigned i = 0; i < 20; i++) {
        struct image m = image_of(test_seed() + i, 3, 4000);
        check_holes(&m, &torn);
        buf_done(&m.b);
    }
    CHECK(torn > 0);
    struct image m = image_of(test_seed(), MOST, 60);
    check_holes(&m, &torn);
    /* Another kind of damage does not. */
    m.b.p[m.at[MOST - 3] + 20] ^= 1;
    struct trace *t = NULL;
    CHECK_INT(trace_open(file_of(buf_str(&m.b)), TRACE_APPEND | TRACE_HOLES, &t, NULL, NULL), -EBADMSG);
    buf_done(&m.b);
}
