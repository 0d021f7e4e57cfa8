/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A session that is kept, when a call on its store or log fails, when its process is killed at one, and when it is
 * killed at any moment. The linker gives this program's calls to the functions below (meson.build).
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/test/test.h"
#include "session/journal_int.h"
#include "session/test/crash_test.h"

enum mode { FAIL_EIO, FAIL_NOSPC, DISK_FULL, FAIL_INTR, SHORT_WRITE, KILL_BEFORE, KILL_AFTER };
#define FULL_FOR 9 /* calls for which a full disk stays full */

static struct {
    uint64_t at; /* this call fails, counted from 1; 0: none */
    enum mode mode;
    uint64_t calls;
} fault;

enum kind { READS = 0, WRITES = 1, INTERRUPTIBLE = 2 };

/* What the present call shall fail with, or 0. */
static int failing(unsigned kind)
{
    fault.calls++;
    if (fault.at == 0 || fault.calls < fault.at)
        return 0;
    if (fault.mode == DISK_FULL)
        return kind & WRITES && fault.calls < fault.at + FULL_FOR ? ENOSPC : 0;
    if (fault.calls > fault.at)
        return 0;
    if (fault.mode == KILL_BEFORE)
        raise(SIGKILL);
    if (fault.mode == FAIL_INTR)
        return kind & INTERRUPTIBLE ? EINTR : 0;
    if (fault.mode == FAIL_NOSPC)
        return kind & WRITES ? ENOSPC : 0;
    return fault.mode == FAIL_EIO && !(crash_guest && !(kind & WRITES)) ? EIO : 0;
}

static void after(void)
{
    if (fault.at && fault.calls == fault.at && fault.mode == KILL_AFTER)
        raise(SIGKILL);
}

#define WRAP(kind, type, name, params, args)                                                                           \
    type __real_##name params;                                                                                         \
    type __wrap_##name params;                                                                                         \
    type __wrap_##name params                                                                                          \
    {                                                                                                                  \
        int e = failing(kind);                                                                                         \
        if (e) {                                                                                                       \
            errno = e;                                                                                                 \
            return (type)-1;                                                                                           \
        }                                                                                                              \
        type r = __real_##name args;                                                                                   \
        after();                                                                                                       \
        return r;                                                                                                      \
    }

WRAP(READS | INTERRUPTIBLE, ssize_t, pread64, (int fd, void *p, size_t n, off_t off), (fd, p, n, off))
WRAP(READS | INTERRUPTIBLE, int, ftruncate64, (int fd, off_t n), (fd, n))
WRAP(WRITES | INTERRUPTIBLE, int, fdatasync, (int fd), (fd))
WRAP(WRITES | INTERRUPTIBLE, int, fsync, (int fd), (fd))
WRAP(READS, int, fstat64, (int fd, struct stat *st), (fd, st))
WRAP(READS, int, flock, (int fd, int op), (fd, op))
WRAP(WRITES, int, mkdirat, (int dir, const char *name, mode_t mode), (dir, name, mode))
WRAP(WRITES, int, unlinkat, (int dir, const char *name, int flags), (dir, name, flags))
WRAP(WRITES, int, renameat, (int d1, const char *from, int d2, const char *to), (d1, from, d2, to))

/* Half of what is asked for, when that is what the present write shall do: a full disk takes what fits, too. */
static size_t part_of(size_t n)
{
    bool now = fault.at && fault.calls + 1 == fault.at;
    bool part = fault.mode == SHORT_WRITE || fault.mode == KILL_AFTER || fault.mode == DISK_FULL;
    return now && part && n > 1 ? (size_t)(1 + fault.at * 7919 % (n - 1)) : n;
}

ssize_t __real_pwrite64(int fd, const void *p, size_t n, off_t off);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t off);

ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t off)
{
    size_t part = part_of(n);
    int e = failing(WRITES | INTERRUPTIBLE);
    if (e && (fault.mode != DISK_FULL || part == n)) {
        errno = e;
        return -1;
    }
    ssize_t r = __real_pwrite64(fd, p, part, off);
    after();
    return r;
}

ssize_t __wrap_pwritev64(int fd, const struct iovec *v, int n, off_t off);

/* As one write of its first part that is not empty: what comes short of it is asked for again. */
ssize_t __wrap_pwritev64(int fd, const struct iovec *v, int n, off_t off)
{
    while (n > 1 && v->iov_len == 0) {
        v++;
        n--;
    }
    return __wrap_pwrite64(fd, v->iov_base, v->iov_len, off);
}

int __real_openat64(int dir, const char *name, int flags, mode_t mode);
int __wrap_openat64(int dir, const char *name, int flags, mode_t mode);

int __wrap_openat64(int dir, const char *name, int flags, mode_t mode)
{
    int e = failing(flags & O_CREAT ? WRITES : READS);
    if (e) {
        errno = e;
        return -1;
    }
    int fd = __real_openat64(dir, name, flags, mode);
    after();
    return fd;
}

/* ---- each call ---- */

static struct crash_told *new_told(void)
{
    struct crash_told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(told != MAP_FAILED);
    return told;
}

static uint64_t acknowledged, kills, lost; /* commands, and what became of them */

static int check(struct crash *c, struct crash_told *told, int more)
{
    fault.at = 0;
    int done = told->done, at = crash_check(c, told, done, done + more, false, true);
    acknowledged += (uint64_t)done;
    lost += at < done && told->made ? (uint64_t)(done - at) : 0;
    return at;
}

/* The script in a process of its own, in which the @at-th call does as @mode says: whether there was one. */
static bool run_with(struct crash *c, struct crash_told *told, uint64_t at, enum mode mode, bool durable,
                     int *ret_status)
{
    unsigned bad = test_failed();
    memset(told, 0, sizeof(*told));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        fault.at = at;
        fault.mode = mode;
        fault.calls = 0;
        crash_run(c, told, durable, mode == DISK_FULL ? 2 * FULL_FOR : 1);
        CHECK_INT(told->done, CRASH_STEPS);
        uint64_t calls = fault.calls;
        fault.at = 0;
        _exit(test_failed() != bad ? 1 : calls < at ? 2 : 0);
    }
    waitpid(pid, ret_status, 0);
    return !WIFEXITED(*ret_status) || WEXITSTATUS(*ret_status) != 2;
}

static void each_call(enum mode mode, bool durable)
{
    struct crash c;
    struct crash_told *told = new_told();
    uint64_t step = test_env("FRONTAL_FAULT_STEP", 23), seed = test_seed(), tried = 0;
    int status;
    crash_begin(&c);
    for (uint64_t at = 1 + test_rand(&seed) % step; run_with(&c, told, at, mode, durable, &status);
         at += step, tried++) {
        bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        unsigned bad = test_failed();
        kills += killed;
        if (mode < KILL_BEFORE)
            CHECK_INT(status, 0);
        check(&c, told, killed);
        if (test_failed() != bad)
            fprintf(stderr, "# mode %d, call %llu\n", mode, (unsigned long long)at);
        crash_wipe(&c);
    }
    CHECK(tried * step > 100);
    printf("# %llu runs, %llu kills, %llu commands acknowledged, %llu lost\n", (unsigned long long)tried,
           (unsigned long long)kills, (unsigned long long)acknowledged, (unsigned long long)lost);
    crash_end(&c);
}

TEST_LIMIT(each_call_fails, 300)
{
    each_call(FAIL_EIO, false);
}

TEST_LIMIT(each_call_fails_durable, 300)
{
    each_call(FAIL_EIO, true);
}

TEST_LIMIT(each_call_finds_no_space, 300)
{
    each_call(FAIL_NOSPC, true);
}

TEST_LIMIT(the_disk_is_full_for_a_while, 300)
{
    each_call(DISK_FULL, false);
}

TEST_LIMIT(each_call_is_interrupted, 300)
{
    each_call(FAIL_INTR, false);
}

TEST_LIMIT(each_write_is_short, 300)
{
    each_call(SHORT_WRITE, false);
}

TEST_LIMIT(killed_before_each_call, 300)
{
    each_call(KILL_BEFORE, false);
}

TEST_LIMIT(killed_after_each_call, 300)
{
    each_call(KILL_AFTER, true);
}

/* ---- what an exec writes ---- */

static int64_t log_size(const struct crash *c)
{
    struct stat st;
    return fstatat(c->dir, "trace", &st, 0) ? -1 : (int64_t)st.st_size;
}

/* Runs "true"; with @show as one that does not end at once. Yields what the log grew by before it ended. */
static int64_t run_true(const struct crash *c, struct journal *j, bool show)
{
    const struct wire_exec e = {.kind = WIRE_EXEC_TEXT, .text = STR("true"), .keep = true};
    struct wire_result res;
    struct err err;
    int64_t wake, size = log_size(c);
    CHECK_INT(journal_exec(j, &e, &err), 0);
    if (show)
        journal_show(j);
    int64_t grown = log_size(c) - size;
    while (!session_step(journal_session(j), &wake))
        ;
    session_result(journal_session(j), &res);
    journal_ended(j, &res);
    CHECK_INT(res.error, 0);
    CHECK(log_size(c) > size + grown);
    return grown;
}

/* A command that changes nothing puts nothing into the store, and is one write of the log. */
TEST(quiet_command)
{
    struct crash c;
    struct crash_told told = {0};
    struct journal *j = NULL;
    struct cas_stat before, after;
    crash_begin(&c);
    if (CHECK_INT(crash_open(&c, &told, false, false, &j), 0)) {
        run_true(&c, j, false); /* it is the first to leave a shell's state */
        CHECK_INT(cas_stat(j->store, &before), 0);
        CHECK_INT(run_true(&c, j, false), 0);
        CHECK(run_true(&c, j, true) > 0);
        CHECK_INT(cas_stat(j->store, &after), 0);
        CHECK_INT((int64_t)after.put_blobs, (int64_t)before.put_blobs);
    }
    journal_close(j);
    crash_end(&c);
}

/* ---- at any moment ---- */

TEST_LIMIT(killed_at_random, 600)
{
    struct crash c;
    struct crash_told *told = new_told();
    uint64_t seed = test_seed(), rounds = test_env("FRONTAL_SESSION_KILLS", 1500);
    crash_begin(&c);
    while (kills < rounds) {
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
            crash_run(&c, told, kills % 4 == 3, 0);
            _exit(0);
        }
        usleep((useconds_t)(test_rand(&seed) % 15000));
        kill(pid, SIGKILL);
        int status;
        waitpid(pid, &status, 0);
        kills += WIFSIGNALED(status);
        int at = check(&c, told, 1);
        /* The check has gone on by a command; the next process goes on from there. */
        if (told->made && at < CRASH_STEPS - 1) {
            told->done = at + 1;
            continue;
        }
        memset(told, 0, sizeof(*told));
        crash_wipe(&c);
    }
    printf("# %llu kills, %llu commands acknowledged, %llu lost\n", (unsigned long long)kills,
           (unsigned long long)acknowledged, (unsigned long long)lost);
    CHECK_INT(lost, 0);
    crash_end(&c);
}
