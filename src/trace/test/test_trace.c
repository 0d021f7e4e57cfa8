/* SPDX-License-Identifier: Apache-2.0 */

/* The log as a file: append, read in both directions, open again, masks. */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/test/test.h"
#include "trace/test/trace_test.h"
#include "trace/trace_int.h"

static struct trace_event named(const char *text)
{
    return (struct trace_event){.type = TRACE_FORK, .u.fork.session = str_c(text)};
}

/* Reads the log in both directions and compares with the events that @seed gives. */
static void check_log(struct trace *t, uint64_t seed, unsigned n, uint32_t most)
{
    struct trace_pos pos, back;
    struct trace_event got;
    struct err err = {0};
    ARENA_AUTO struct arena a = {0};
    struct trace_event *want = arena_zalloc(&a, (n + 1) * sizeof(*want));
    trace_begin(&pos);
    for (unsigned i = 0; i < n; i++) {
        want[i] = random_event(&seed, &a, i ? (unsigned)(test_rand(&seed) % 13 + 1) : TRACE_CREATED, most);
        CHECK_INT(trace_next(t, &pos, &got, &err), 1);
        CHECK_INT(got.seq, i);
        CHECK(same_event(&want[i], &got));
    }
    CHECK_INT(trace_next(t, &pos, &got, &err), 0);
    trace_begin(&back);
    CHECK_INT(trace_tail(t, &back, &err), 0);
    CHECK_INT(back.seq, n);
    CHECK_INT(back.offset, pos.offset);
    CHECK(memcmp(&back.chain, &pos.chain, sizeof(pos.chain)) == 0);
    for (unsigned i = n; i-- > 0;) {
        CHECK_INT(trace_prev(t, &back, &got, &err), 1);
        CHECK_INT(got.seq, i);
        CHECK(same_event(&want[i], &got));
    }
    CHECK_INT(trace_prev(t, &back, &got, &err), 0);
    CHECK_INT(trace_next(t, &back, &got, &err), n > 0);
    CHECK_C(err.text, "");
    trace_pos_done(&pos);
    trace_pos_done(&back);
}

static void append_and_read(uint64_t seed, unsigned n, uint32_t most)
{
    int fd;
    uint64_t cut = 7;
    struct trace *t = log_of(seed, n, most, &fd), *reader;
    struct cas_id head, again;
    CHECK_INT(trace_count(t), n);
    trace_head(t, &head);
    check_log(t, seed, n, most);
    trace_close(t);
    CHECK_INT(trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), 0, &reader, NULL, NULL), 0);
    check_log(reader, seed, n, most);
    struct trace_event e = named("x");
    CHECK_INT(trace_append(reader, &e), -EROFS);
    struct trace_report report;
    CHECK_INT(trace_verify(reader, &report), 0);
    CHECK_INT(report.events, n);
    CHECK_C(report.what, "");
    CHECK(memcmp(&report.head, &head, sizeof(head)) == 0);
    trace_close(reader);
    t = open_again(fd, &cut);
    CHECK_INT(cut, 0);
    CHECK_INT(trace_count(t), n);
    trace_head(t, &again);
    CHECK(memcmp(&head, &again, sizeof(head)) == 0);
    check_log(t, seed, n, most);
    trace_close(t);
    fd_close(&fd);
}

TEST(logs_of_many_lengths)
{
    uint64_t seed = test_seed();
    for (unsigned n = 0; n < 40; n++)
        append_and_read(seed + n, n, 60);
}

TEST(long_log)
{
    append_and_read(test_seed(), 5000, 300);
}

TEST(large_events)
{
    append_and_read(test_seed(), 100, 20000);
}

TEST(open_refuses_what_is_no_log)
{
    struct trace *t;
    struct err err;
    CHECK_INT(trace_open(file_of(STR("FRTRACY")), TRACE_APPEND, &t, NULL, &err), -EBADMSG);
    CHECK_INT(trace_open(file_of(STR("#!/bin/sh\necho this is some script that is longer than the head of a log\n")),
                         TRACE_APPEND, &t, NULL, &err),
              -EBADMSG);
    CHECK_INT(trace_open(file_of(STR("x")), TRACE_APPEND | TRACE_NEW, &t, NULL, &err), -EEXIST);
    int pipes[2];
    CHECK_INT(pipe2(pipes, O_CLOEXEC), 0);
    CHECK_INT(trace_open(pipes[0], TRACE_APPEND, &t, NULL, &err), -EINVAL);
    CHECK_INT(trace_open(-1, TRACE_APPEND, &t, NULL, &err), -EBADF);
    close(pipes[1]);
}

TEST(a_reader_follows)
{
    int fd = file_of(STR(""));
    struct trace *t = open_again(fd, NULL), *reader;
    struct trace_pos pos;
    struct trace_event e = named("one"), got;
    CHECK_INT(trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), 0, &reader, NULL, NULL), 0);
    trace_begin(&pos);
    CHECK_INT(trace_next(reader, &pos, &got, NULL), 0);
    CHECK_INT(trace_append(t, &e), 0);
    CHECK_INT(trace_next(reader, &pos, &got, NULL), 0);
    CHECK_INT(trace_flush(t), 0);
    CHECK_INT(trace_next(reader, &pos, &got, NULL), 1);
    CHECK_STR(got.u.fork.session, STR("one"));
    CHECK_INT(trace_next(reader, &pos, &got, NULL), 0);
    e = named("two");
    CHECK_INT(trace_append(t, &e), 0);
    CHECK_INT(trace_sync(t), 0);
    CHECK_INT(trace_next(reader, &pos, &got, NULL), 1);
    CHECK_STR(got.u.fork.session, STR("two"));
    trace_pos_done(&pos);
    trace_close(reader);
    trace_close(t);
    fd_close(&fd);
}

/* What was read ahead was the rest of a write that failed; it was cut, and something else was written there. */
TEST(a_reader_forgets_what_was_cut)
{
    int fd = file_of(STR(""));
    struct trace *t = open_again(fd, NULL), *reader;
    struct trace_pos pos;
    struct trace_event e = named("one"), got;
    CHECK_INT(trace_append(t, &e), 0);
    CHECK_INT(trace_flush(t), 0);
    BUF_AUTO struct buf b;
    bytes_of(fd, &b);
    CHECK_INT(pwrite(fd, b.p + TRACE_FILE_HEAD, b.n - TRACE_FILE_HEAD, (off_t)b.n), b.n - TRACE_FILE_HEAD);
    CHECK_INT(trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), 0, &reader, NULL, NULL), 0);
    trace_begin(&pos);
    CHECK_INT(trace_next(reader, &pos, &got, NULL), 1);
    CHECK_INT(ftruncate(fd, (off_t)b.n), 0);
    e = named("two");
    CHECK_INT(trace_append(t, &e), 0);
    CHECK_INT(trace_flush(t), 0);
    CHECK_INT(trace_next(reader, &pos, &got, NULL), 1);
    CHECK_STR(got.u.fork.session, STR("two"));
    trace_pos_done(&pos);
    trace_close(reader);
    trace_close(t);
    fd_close(&fd);
}

TEST(last_of_a_type)
{
    int fd = file_of(STR(""));
    struct trace *t = open_again(fd, NULL);
    const unsigned order[] = {TRACE_CREATED, TRACE_EXEC, TRACE_END, TRACE_EXEC, TRACE_OUTPUT, TRACE_CHANGE};
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        struct trace_event e = {.type = (enum trace_type)order[i]};
        CHECK_INT(trace_append(t, &e), 0);
    }
    CHECK_INT(trace_flush(t), 0);
    struct trace_pos pos;
    struct trace_event got;
    trace_begin(&pos);
    CHECK_INT(trace_tail(t, &pos, NULL), 0);
    CHECK_INT(trace_last(t, &pos, 1u << TRACE_EXEC | 1u << TRACE_END, &got, NULL), 1);
    CHECK_INT(got.seq, 3);
    CHECK_INT(trace_last(t, &pos, 1u << TRACE_EXEC | 1u << TRACE_END, &got, NULL), 1);
    CHECK_INT(got.seq, 2);
    CHECK_INT(trace_last(t, &pos, 1u << TRACE_OUTPUT, &got, NULL), 0);
    trace_pos_done(&pos);
    trace_close(t);
    fd_close(&fd);
}

TEST(what_is_dropped_leaves_nothing)
{
    int fd = file_of(STR(""));
    struct trace *t = open_again(fd, NULL);
    struct trace_event e = named("a");
    CHECK_INT(trace_append(t, &e), 0);
    trace_drop(t);
    CHECK_INT(trace_count(t), 0);
    CHECK_INT(trace_append(t, &e), 0);
    CHECK_INT(trace_flush(t), 0);
    struct trace_event f = named("b");
    CHECK_INT(trace_append(t, &f), 0);
    trace_drop(t);
    trace_drop(t);
    f = named("c");
    CHECK_INT(trace_append(t, &f), 0);
    CHECK_INT(f.seq, 1);
    CHECK_INT(trace_flush(t), 0);
    struct trace_report report;
    CHECK_INT(trace_verify(t, &report), 0);
    CHECK_INT(report.events, 2);
    trace_close(t);
    fd_close(&fd);
}

TEST(events_have_a_limit)
{
    static char big[LIMIT_TRACE_EVENT];
    int fd = file_of(STR(""));
    struct trace *t = open_again(fd, NULL);
    struct trace_event e = {.type = TRACE_FORK, .u.fork.session = str_of(big, sizeof(big))};
    CHECK_INT(trace_append(t, &e), -EFBIG);
    CHECK_INT(e.time, 0);
    e.u.fork.session.n = sizeof(big) - TRACE_LEAST - 3; /* its length takes three bytes */
    CHECK_INT(trace_append(t, &e), 0);
    e = (struct trace_event){.type = TRACE_LIMIT, .u.limit.reason = 50};
    CHECK_INT(trace_append(t, &e), -EINVAL);
    e.type = TRACE_TYPES;
    CHECK_INT(trace_append(t, &e), -EINVAL);
    CHECK_INT(trace_flush(t), 0);
    struct trace_report report;
    CHECK_INT(trace_verify(t, &report), 0);
    CHECK_INT(report.events, 1);
    trace_close(t);
    fd_close(&fd);
}
