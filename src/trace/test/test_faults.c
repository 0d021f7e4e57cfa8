/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Disks that fail, and processes that die. The linker gives this program's calls to the functions below (meson.build),
 * which let the n-th call fail.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/test/test.h"
#include "trace/test/trace_test.h"
#include "trace/trace_int.h"

static struct {
    int at;     /* this call fails, counted from 1; 0: none */
    int for_;   /* and so many after it */
    int err;    /* with this, or when 0 it does half of what it should */
    int calls;  /* so far */
    size_t got; /* bytes read */
} fault;

static bool failing(void)
{
    fault.calls++;
    return fault.at && fault.calls >= fault.at && fault.calls < fault.at + fault.for_;
}

#define REAL(type, name, args)                                                                                         \
    type __real_##name args;                                                                                           \
    type __wrap_##name args;                                                                                           \
    type __wrap_##name args

REAL(ssize_t, pwrite64, (int fd, const void *p, size_t n, off_t off))
{
    if (!failing())
        return __real_pwrite64(fd, p, n, off);
    /* A full disk takes what fits first. */
    if (n > 1 && (fault.err == 0 || (fault.err == ENOSPC && fault.calls == fault.at)))
        return __real_pwrite64(fd, p, n / 2, off);
    errno = fault.err;
    return fault.err ? -1 : __real_pwrite64(fd, p, n, off);
}

REAL(ssize_t, pread64, (int fd, void *p, size_t n, off_t off))
{
    bool bad = failing();
    if (bad && fault.err) {
        errno = fault.err;
        return -1;
    }
    ssize_t r = __real_pread64(fd, p, bad && n > 1 ? n / 2 : n, off);
    fault.got += r > 0 ? (size_t)r : 0;
    return r;
}

REAL(int, ftruncate64, (int fd, off_t n))
{
    if (failing() && fault.err) {
        errno = fault.err;
        return -1;
    }
    return __real_ftruncate64(fd, n);
}

REAL(int, fdatasync, (int fd))
{
    if (failing() && fault.err) {
        errno = fault.err;
        return -1;
    }
    return __real_fdatasync(fd);
}

REAL(int, fstat64, (int fd, struct stat64 *st))
{
    if (failing() && fault.err) {
        errno = fault.err;
        return -1;
    }
    return __real_fstat64(fd, st);
}

static void fail_at(int at, int for_, int err)
{
    fault.at = at;
    fault.for_ = for_;
    fault.err = err;
    fault.calls = 0;
    fault.got = 0;
}

static struct trace_event numbered(uint64_t i, char text[32])
{
    snprintf(text, 32, "event %llu", (unsigned long long)i);
    return (struct trace_event){.type = TRACE_FORK, .u.fork.session = str_c(text)};
}

/* Every event of the log is there, in order, @least at least. */
static void check_events(int fd, uint64_t least)
{
    struct trace *t = open_again(fd, NULL);
    struct trace_pos pos;
    struct trace_event e;
    struct err err = {0};
    char text[32];
    uint64_t n = 0;
    trace_begin(&pos);
    for (; trace_next(t, &pos, &e, &err) == 1; n++) {
        struct trace_event want = numbered(n, text);
        CHECK_STR(str_of(e.u.fork.session.p, NUM_MIN(e.u.fork.session.n, want.u.fork.session.n)), want.u.fork.session);
    }
    CHECK_C(err.text, "");
    CHECK(n >= least);
    CHECK_INT(n, trace_count(t));
    trace_pos_done(&pos);
    trace_close(t);
}

/* Opens, appends and flushes with faults at hand; yields how many events were acknowledged. */
static uint64_t work(int fd, uint64_t before)
{
    struct trace *t;
    char text[32];
    uint64_t acknowledged = before;
    if (trace_open(fcntl(fd, F_DUPFD_CLOEXEC, 0), TRACE_APPEND, &t, NULL, NULL))
        return acknowledged;
    CHECK(trace_count(t) >= before);
    for (int i = 0; i < 6; i++) {
        struct trace_event e = numbered(trace_count(t), text);
        CHECK_INT(trace_append(t, &e), 0);
        if (i % 2 == 0)
            continue;
        if ((i == 3 ? trace_sync(t) : trace_flush(t)) == 0)
            acknowledged = trace_count(t);
    }
    /* The fault is over: it is usable, and what could not be written is written. */
    fault.at = 0;
    CHECK_INT(trace_sync(t), 0);
    acknowledged = trace_count(t);
    trace_close(t);
    return acknowledged;
}

TEST(every_call_fails)
{
    const int errors[] = {0, EIO, ENOSPC, EINTR};
    for (size_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++) {
        for (int for_ = 1; for_ < 8; for_ += 3) {
            int fd = file_of(STR("")), calls = 1;
            uint64_t n = 0;
            for (int at = 1; at <= calls; at++) {
                fail_at(at, for_, errors[k]);
                n = work(fd, n);
                calls = NUM_MAX(fault.calls, 12);
                fail_at(0, 0, 0);
                check_events(fd, n);
            }
            CHECK(n > 0);
            fd_close(&fd);
        }
    }
}

/* The disk is full in the middle of a flush; then the cut after it works, or fails too and the next open cuts. */
TEST(full_and_then_killed)
{
    for (int cut_fails = 0; cut_fails < 2; cut_fails++) {
        int fd = file_of(STR(""));
        char text[32];
        struct trace *t = open_again(fd, NULL);
        struct trace_event e = numbered(0, text), got;
        CHECK_INT(trace_append(t, &e), 0);
        CHECK_INT(trace_flush(t), 0);
        for (uint64_t i = 1; i < 9; i++) {
            e = numbered(i, text);
            CHECK_INT(trace_append(t, &e), 0);
        }
        fail_at(1, 2 + cut_fails, ENOSPC);
        CHECK_INT(trace_flush(t), -ENOSPC);
        fail_at(0, 0, 0);
        struct stat st;
        CHECK_INT(fstat(fd, &st), 0);
        CHECK(cut_fails ? (uint64_t)st.st_size > t->end : (uint64_t)st.st_size == t->end);
        /* Who reads through this handle does not see the rest. */
        struct trace_pos pos;
        trace_begin(&pos);
        CHECK_INT(trace_next(t, &pos, &got, NULL), 1);
        CHECK_INT(trace_next(t, &pos, &got, NULL), 0);
        trace_pos_done(&pos);
        check_events(fd, 1);
        trace_drop(t);
        trace_close(t);
        check_events(fd, 1);
        fd_close(&fd);
    }
}

TEST(a_sync_that_fails_is_said)
{
    int fd = file_of(STR(""));
    char text[32];
    struct trace *t = open_again(fd, NULL);
    struct trace_event e = numbered(0, text);
    CHECK_INT(trace_append(t, &e), 0);
    fail_at(2, 1, EIO);
    CHECK_INT(trace_sync(t), -EIO);
    fail_at(0, 0, 0);
    CHECK_INT(trace_sync(t), 0);
    trace_close(t);
    check_events(fd, 1);
    fd_close(&fd);
}

TEST(no_memory)
{
    for (uint64_t k = 1; k < 12; k++) {
        int fd = file_of(STR(""));
        char text[32];
        struct trace *t = open_again(fd, NULL);
        uint64_t n = 0;
        mem_fail_after(k);
        for (int i = 0; i < 40; i++) {
            struct trace_event e = numbered(n, text);
            int r = trace_append(t, &e);
            CHECK(r == 0 || r == -ENOMEM);
            n += r == 0;
        }
        mem_fail_after(0);
        CHECK_INT(trace_flush(t), 0);
        CHECK_INT(trace_count(t), n);
        trace_close(t);
        check_events(fd, n);
        fd_close(&fd);
    }
}

/* Much that is appended without a flush goes to the file by and by, and memory stays bounded. */
TEST(the_buffer_is_bounded)
{
    static char big[30000];
    int fd = file_of(STR(""));
    struct trace *t = open_again(fd, NULL);
    struct trace_event e = {.type = TRACE_FORK, .u.fork.session = str_of(big, sizeof(big))};
    for (int i = 0; i < 100; i++) {
        CHECK_INT(trace_append(t, &e), 0);
        CHECK(t->out.n <= TRACE_BUFFER + LIMIT_TRACE_EVENT);
    }
    fail_at(1, 1000, EIO);
    int r = 0;
    for (int i = 0; i < 100 && r == 0; i++)
        r = trace_append(t, &e);
    CHECK_INT(r, -EIO);
    fail_at(0, 0, 0);
    CHECK_INT(trace_append(t, &e), 0);
    uint64_t n = trace_count(t);
    trace_close(t);
    struct trace_report report;
    t = open_again(fd, NULL);
    CHECK_INT(trace_verify(t, &report), 0);
    CHECK_INT(report.events, n);
    trace_close(t);
    fd_close(&fd);
}

/* However long the log, opening it reads some kilobytes. */
TEST(open_reads_the_end_only)
{
    int fd;
    trace_close(log_of(test_seed(), 20000, 60, &fd));
    fail_at(0, 0, 0);
    trace_close(open_again(fd, NULL));
    printf("# read %zu bytes\n", fault.got);
    CHECK(fault.got < 40000);
    fd_close(&fd);
}

/* Appends and flushes until it is killed; *shared counts what was acknowledged. */
static void append_for_ever(int fd, volatile uint64_t *shared, uint64_t seed)
{
    static char text[60000];
    struct trace *t;
    if (trace_open(fd, TRACE_APPEND, &t, NULL, NULL))
        _exit(1);
    for (;;) {
        for (uint64_t k = test_rand(&seed) % 4; k < 4; k++) {
            struct trace_event e = numbered(trace_count(t), text);
            e.u.fork.session.n = 32 + test_rand(&seed) % (sizeof(text) - 32);
            if (trace_append(t, &e))
                _exit(2);
        }
        if (trace_flush(t))
            _exit(3);
        *shared = trace_count(t);
    }
}

TEST(what_was_flushed_survives_a_kill)
{
    uint64_t seed = test_seed(), torn = 0, rounds = test_env("FRONTAL_TRACE_KILLS", 60);
    volatile uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int fd = file_of(STR(""));
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t until = *shared + test_rand(&seed) % 30, cut = 0;
        pid_t pid = fork();
        if (pid == 0)
            append_for_ever(fd, shared, test_rand(&seed));
        while (*shared < until && waitpid(pid, NULL, WNOHANG) == 0)
            ;
        for (uint64_t spin = test_rand(&seed) % 20000; spin; spin--)
            __asm__ volatile("");
        CHECK_INT(kill(pid, SIGKILL), 0);
        CHECK_INT(waitpid(pid, NULL, 0), pid);
        struct trace *t = open_again(fd, &cut);
        CHECK(trace_count(t) >= *shared);
        *shared = trace_count(t);
        torn += cut > 0;
        trace_close(t);
    }
    printf("# %llu of %llu left a torn tail; %llu events\n", (unsigned long long)torn, (unsigned long long)rounds,
           (unsigned long long)*shared);
    check_events(fd, *shared);
    fd_close(&fd);
    munmap((void *)(uintptr_t)shared, 4096);
}
