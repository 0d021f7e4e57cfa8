/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/test/test.h"
#include "cas/cas_int.h"
#include "cas/test/cas_test.h"

/*
 * What happens when a system call fails, the process is killed at it, or power is lost. Every function of io.c is
 * wrapped by the linker; calls are counted, and the n-th does not do what it should. Each n is tried until the work is
 * done before it comes. Packs are small (see meson.build), so the work fills, indexes and seals some.
 */

enum mode { FAIL_EIO, FAIL_NOSPC, DISK_FULL, DIE, N_MODES };
#define FULL_FOR 12 /* calls for which a full disk stays full */

static uint64_t calls, at; /* at 0: none fails */
static enum mode mode;

/* What the present call shall fail with, or 0. */
static int fault(bool writes)
{
    calls++;
    if (at == 0 || calls < at)
        return 0;
    if (mode == DISK_FULL)
        return writes && calls < at + FULL_FOR ? -ENOSPC : 0;
    if (calls > at)
        return 0;
    if (mode == DIE)
        _exit(9);
    return mode == FAIL_EIO ? -EIO : -ENOSPC;
}

#define WRAP(writes, ret, name, params, args)                                                                          \
    ret __real_##name params;                                                                                          \
    ret __wrap_##name params;                                                                                          \
    ret __wrap_##name params                                                                                           \
    {                                                                                                                  \
        int e = fault(writes);                                                                                         \
        return e ? e : __real_##name args;                                                                             \
    }

WRAP(false, int, cas__open_at, (int dir, const char *name, int flags), (dir, name, flags))
WRAP(true, int, cas__unlink, (int dir, uint32_t num, enum cas_ext ext), (dir, num, ext))
WRAP(true, int, cas__rename, (int dir, uint32_t num, enum cas_ext from, enum cas_ext to), (dir, num, from, to))
WRAP(true, int, cas__mkdir, (int dir, const char *name), (dir, name))
WRAP(false, ssize_t, cas__pread, (int fd, void *p, size_t n, uint64_t off), (fd, p, n, off))
WRAP(false, int64_t, cas__size, (int fd), (fd))
WRAP(false, int64_t, cas__size_at, (int dir, uint32_t num, enum cas_ext ext), (dir, num, ext))
WRAP(false, int, cas__truncate, (int fd, uint64_t n), (fd, n))
WRAP(true, int, cas__sync_dir, (int fd), (fd))
WRAP(false, int, cas__lock, (int fd, int how), (fd, how))
WRAP(false, int, cas__map, (int fd, size_t n, const uint8_t **ret), (fd, n, ret))
WRAP(false, int, cas__list, (int dir, int (*fn)(void *, uint32_t, enum cas_ext), void *arg), (dir, fn, arg))

size_t __real_cas__pwrite(int fd, struct str a, struct str b, uint64_t off, int *ret_err);
size_t __wrap_cas__pwrite(int fd, struct str a, struct str b, uint64_t off, int *ret_err);

/* A write that fails does a part before; so does one at which the process dies. */
size_t __wrap_cas__pwrite(int fd, struct str a, struct str b, uint64_t off, int *ret_err)
{
    bool now = at && calls + 1 == at;
    size_t part = now ? (size_t)(at * 7919 % (a.n + b.n + 1)) : 0;
    struct str x = str_of(a.p, part < a.n ? part : a.n), y = str_of(b.p, part > a.n ? part - a.n : 0);
    size_t n = now ? __real_cas__pwrite(fd, x, y, off, ret_err) : 0;
    int e = fault(true);
    if (e == 0)
        return __real_cas__pwrite(fd, a, b, off, ret_err);
    *ret_err = e;
    return n;
}

/* ---- power ---- */

static struct {
    ino_t ino;
    off_t synced;
    bool dropped; /* a sync failed: the kernel has forgotten what was to be written, and syncs nothing of it later */
} files[200];
static size_t n_files;
static bool tracking; /* the tests of power look at these */

static uint64_t syncs, bad_sync; /* the n-th sync of a file fails */

static size_t file_of(ino_t ino)
{
    for (size_t i = 0; i < n_files; i++) {
        if (files[i].ino == ino)
            return i;
    }
    CHECK(n_files < sizeof(files) / sizeof(files[0]));
    memset(&files[n_files], 0, sizeof(files[0]));
    files[n_files].ino = ino;
    return n_files++;
}

int __real_cas__sync_file(int fd);
int __wrap_cas__sync_file(int fd);
int __wrap_cas__sync_file(int fd)
{
    struct stat st;
    int e = fault(true);
    if (e || !tracking || fstat(fd, &st) < 0)
        return e ? e : __real_cas__sync_file(fd);
    size_t i = file_of(st.st_ino);
    if (++syncs == bad_sync) {
        files[i].dropped = true;
        return -EIO;
    }
    if (!files[i].dropped)
        files[i].synced = st.st_size;
    return __real_cas__sync_file(fd);
}

int __real_cas__open(int dir, uint32_t num, enum cas_ext ext, int flags);
int __wrap_cas__open(int dir, uint32_t num, enum cas_ext ext, int flags);

int __wrap_cas__open(int dir, uint32_t num, enum cas_ext ext, int flags)
{
    struct stat st;
    int e = fault(true);
    if (e)
        return e;
    int fd = __real_cas__open(dir, num, ext, flags);
    /* A new file may have the number of one that is gone. */
    if (tracking && (flags & O_CREAT) && fd >= 0 && fstat(fd, &st) == 0 && st.st_size == 0)
        memset(&files[file_of(st.st_ino)].synced, 0, sizeof(files[0]) - offsetof(__typeof__(files[0]), synced));
    return fd;
}

/* ---- the work ---- */

enum { BLOBS = 90 };

/* What a run was told, in memory that outlives it. */
struct told {
    bool put[BLOBS], flushed[BLOBS], synced[BLOBS];
    struct cas_id id[BLOBS];
};

static struct str blob(int i)
{
    static char buf[20000];
    size_t n = (size_t)(i % 9 == 8 ? 9000 + i * 100 : i % 5 * 150);
    for (size_t k = 0; k < n; k++)
        buf[k] = (char)(i % 2 ? (k * k + k / 7) * (size_t)(i + 3) : (size_t)('a' + i % 26));
    return str_of(buf, n + (size_t)snprintf(buf + n, 20, "%d", i));
}

static struct cas *try_open(struct cas_test *t, int flags)
{
    struct cas *c = NULL;
    int r = cas_open(openat(t->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), flags, &c, NULL);
    return r < 0 ? NULL : c;
}

/* Tries @call until it does not fail: a fault is there for a while only. */
#define PERSIST(what, call)                                                                                            \
    do {                                                                                                               \
        int tries_ = 0, r_;                                                                                            \
        while ((r_ = (call)) < 0 && tries_ < 2 * FULL_FOR)                                                             \
            tries_++;                                                                                                  \
        if (!CHECK_INT(r_, 0))                                                                                         \
            fprintf(stderr, "# %s, mode %d, call %llu\n", what, mode, (unsigned long long)at);                         \
    } while (0)

static void work(struct cas_test *t, struct told *told)
{
    struct cas *c = NULL;
    for (int tries = 0; !c && tries < 2 * FULL_FOR; tries++)
        c = try_open(t, CAS_WRITE | CAS_CREATE);
    if (!CHECK(c))
        return;
    for (int i = 0; i < BLOBS; i++) {
        PERSIST("put", cas_put(c, blob(i), &told->id[i]));
        told->put[i] = true;
        if (i % 6 == 5) {
            PERSIST("flush", cas_flush(c));
            memcpy(told->flushed, told->put, sizeof(told->put));
        }
        if (i % 20 == 19) {
            PERSIST("sync", cas_sync(c));
            memcpy(told->flushed, told->put, sizeof(told->put));
            memcpy(told->synced, told->put, sizeof(told->put));
        }
        BUF_AUTO struct buf out;
        buf_init(&out, LIMIT_CAS_BLOB);
        PERSIST("get", cas_get(c, &told->id[i / 2], &out));
        CHECK_STR(buf_str(&out), blob(i / 2));
    }
    PERSIST("flush", cas_flush(c));
    memcpy(told->flushed, told->put, sizeof(told->put));
    cas_close(c);
}

/* Everything that was told to be there is, and nothing is damaged. */
static void check(struct cas_test *t, const struct told *told, const bool *there, bool clean)
{
    uint64_t was = at;
    at = 0;
    struct cas *c = cas_test_open(t, CAS_WRITE | CAS_CREATE);
    for (int i = 0; i < BLOBS; i++) {
        if (there[i] && !CHECK(cas_test_holds(c, &told->id[i], blob(i))))
            fprintf(stderr, "# blob %d, mode %d, call %llu\n", i, mode, (unsigned long long)was);
    }
    if (clean && !CHECK_INT(cas_test_fsck(c), 0))
        fprintf(stderr, "# mode %d, call %llu\n", mode, (unsigned long long)was);
    cas_close(c);
    at = was;
}

static struct told *new_told(void)
{
    struct told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(told != MAP_FAILED);
    return told;
}

/* The step between the calls that fail: 1 tries each. */
static uint64_t step(void)
{
    return test_env("FRONTAL_FAULT_STEP", 3);
}

static void fail_each(enum mode m)
{
    struct told *told = new_told();
    struct cas_test t = cas_test_new();
    mode = m;
    for (at = 1;; at += step()) {
        memset(told, 0, sizeof(*told));
        calls = 0;
        work(&t, told);
        bool over = calls < at;
        check(&t, told, told->put, true);
        cas_test_wipe(&t);
        if (over)
            break;
    }
    CHECK(at > 100);
    cas_test_done(&t);
}

TEST_LIMIT(each_call_fails, 200)
{
    fail_each(FAIL_EIO);
}

TEST_LIMIT(each_call_finds_no_space, 200)
{
    fail_each(FAIL_NOSPC);
}

TEST_LIMIT(the_disk_is_full_for_a_while, 200)
{
    fail_each(DISK_FULL);
}

TEST_LIMIT(killed_at_each_call, 200)
{
    struct told *told = new_told();
    struct cas_test t = cas_test_new();
    mode = DIE;
    int status = -1;
    for (at = 1; status != 0; at += step()) {
        memset(told, 0, sizeof(*told));
        calls = 0;
        pid_t pid = fork();
        if (pid == 0) {
            work(&t, told);
            _exit(0);
        }
        waitpid(pid, &status, 0);
        check(&t, told, told->flushed, true);
        /* The next run goes on with what this one left. */
        uint64_t was = at;
        at = 0;
        work(&t, told);
        check(&t, told, told->put, true);
        at = was;
        cas_test_wipe(&t);
    }
    CHECK(at > 100);
    cas_test_done(&t);
}

TEST_LIMIT(killed_at_random, 200)
{
    struct told *told = new_told();
    struct cas_test t = cas_test_new();
    uint64_t seed = test_seed();
    for (uint64_t i = 0; i < test_env("FRONTAL_KILLS", 30); i++) {
        memset(told, 0, sizeof(*told));
        pid_t pid = fork();
        if (pid == 0) {
            work(&t, told);
            _exit(0);
        }
        usleep((useconds_t)(test_rand(&seed) % 20000));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        check(&t, told, told->flushed, true);
        if (i % 4 == 3)
            cas_test_wipe(&t);
    }
    cas_test_done(&t);
}

/* ---- gc ---- */

static void collect(struct cas_test *t, const struct told *told)
{
    struct cas_gc *gc = NULL;
    struct cas *c = NULL;
    uint64_t n, bytes;
    for (int tries = 0; tries < 2 * FULL_FOR; tries++) {
        if (!c)
            c = try_open(t, CAS_WRITE);
        if (!c || cas_gc_begin(c, 0, &gc, NULL) < 0)
            continue;
        for (int i = 0; i < BLOBS; i += 3)
            CHECK_INT(cas_gc_mark(gc, &told->id[i]), 1);
        if (cas_gc_sweep(gc, false, &n, &bytes) == 0)
            break;
    }
    cas_close(c);
}

static void gc_each(enum mode m)
{
    struct told *told = new_told();
    struct cas_test t = cas_test_new();
    bool marked[BLOBS] = {0};
    for (int i = 0; i < BLOBS; i += 3)
        marked[i] = true;
    mode = m;
    bool over = false;
    for (uint64_t k = 1; !over; k += step()) {
        at = 0;
        work(&t, told);
        /* Another writer that has a pack, and names nothing: it goes on after, and finds what it puts. */
        struct cas_id id;
        struct cas *other = cas_test_open(&t, CAS_WRITE);
        CHECK_INT(cas_put(other, STR("other"), &id), 0);
        CHECK_INT(cas_flush(other), 0);
        CHECK_INT(cas_release(other), 0);
        at = k;
        calls = 0;
        int status = 0;
        pid_t pid = m == DIE ? fork() : -1;
        if (pid <= 0) {
            collect(&t, told);
            over = calls < at;
        }
        if (pid == 0)
            _exit(!over);
        if (pid > 0) {
            waitpid(pid, &status, 0);
            over = status == 0;
        }
        check(&t, told, marked, true);
        at = 0;
        for (int i = 0; i < BLOBS; i++) {
            CHECK(!marked[i] || cas_test_holds(other, &told->id[i], blob(i)));
            if (i % 2)
                CHECK_INT(cas_put(other, blob(i), &id), 0);
        }
        CHECK_INT(cas_sync(other), 0);
        cas_close(other);
        bool there[BLOBS];
        for (int i = 0; i < BLOBS; i++)
            there[i] = marked[i] || i % 2;
        check(&t, told, there, true);
        collect(&t, told);
        check(&t, told, marked, true);
        struct cas *c = cas_test_open(&t, 0);
        struct cas_stat st;
        CHECK_INT(cas_stat(c, &st), 0);
        if (!CHECK_INT(st.blobs, BLOBS / 3))
            fprintf(stderr, "# mode %d, call %llu\n", mode, (unsigned long long)k);
        cas_close(c);
        cas_test_wipe(&t);
    }
    cas_test_done(&t);
}

TEST_LIMIT(gc_killed_at_each_call, 200)
{
    gc_each(DIE);
}

TEST_LIMIT(gc_with_a_failing_call, 200)
{
    gc_each(FAIL_EIO);
}

TEST_LIMIT(gc_on_a_full_disk, 200)
{
    gc_each(DISK_FULL);
}

/* ---- loss of power ---- */

/* What was not synced is lost: of each file any prefix remains, and behind it nothing, or zeros. */
static void lose_power(struct cas_test *t, uint64_t *seed, bool zeros)
{
    for (unsigned num = 1; num < 40; num++) {
        static const char *const ext[] = {"pack", "log"};
        for (int k = 0; k < 2; k++) {
            char name[40];
            struct stat st;
            snprintf(name, sizeof(name), "packs/%08x.%s", num, ext[k]);
            int fd = openat(t->dir, name, O_RDWR | O_CLOEXEC);
            if (fd < 0)
                continue;
            CHECK_INT(fstat(fd, &st), 0);
            off_t synced = files[file_of(st.st_ino)].synced;
            off_t keep = synced + (off_t)(test_rand(seed) % (uint64_t)(st.st_size - synced + 1));
            CHECK_INT(ftruncate(fd, keep), 0);
            if (zeros)
                CHECK_INT(ftruncate(fd, st.st_size), 0);
            close(fd);
        }
    }
}

TEST_LIMIT(power_is_lost, 200)
{
    struct told *told = new_told();
    struct cas_test t = cas_test_new();
    uint64_t seed = test_seed();
    mode = DIE;
    for (uint64_t i = 0; i < test_env("FRONTAL_POWER", 60); i++) {
        bool zeros = i % 3 == 2;
        memset(told, 0, sizeof(*told));
        n_files = 0;
        tracking = true;
        at = 0;
        int flags = CAS_WRITE | CAS_CREATE;
        uint64_t stop = test_rand(&seed) % BLOBS;
        struct cas *c = cas_test_open(&t, flags);
        for (int k = 0; k < (int)stop; k++) {
            CHECK_INT(cas_put(c, blob(k), &told->id[k]), 0);
            told->put[k] = true;
            uint64_t what = test_rand(&seed) % 12;
            if (what < 3)
                CHECK_INT(cas_flush(c), 0);
            if (what == 0) {
                cas_close(c);
                c = cas_test_open(&t, flags);
            }
            if (what == 3) {
                CHECK_INT(cas_sync(c), 0);
                memcpy(told->synced, told->put, sizeof(told->put));
            }
        }
        cas_close(c);
        lose_power(&t, &seed, zeros);
        check(&t, told, told->synced, !zeros);
        /* What was lost is not taken for there when it is put again. */
        c = cas_test_open(&t, flags);
        for (int k = 0; k < (int)stop; k++)
            CHECK_INT(cas_put(c, blob(k), &told->id[k]), 0);
        CHECK_INT(cas_sync(c), 0);
        cas_close(c);
        check(&t, told, told->put, false);
        cas_test_wipe(&t);
    }
    cas_test_done(&t);
}

/* What gc found in a pack of another writer, who did not sync it, is on the disk before its own copy goes. */
TEST_LIMIT(power_is_lost_after_gc, 200)
{
    struct told *told = new_told();
    struct cas_test t = cas_test_new();
    uint64_t seed = test_seed();
    for (int round = 0; round < 12; round++) {
        struct cas_gc *gc;
        struct cas_id id;
        uint64_t n, bytes;
        n_files = 0;
        tracking = true;
        at = 0;
        struct cas *c = cas_test_open(&t, CAS_WRITE | CAS_CREATE), *other = cas_test_open(&t, CAS_WRITE);
        for (int i = 0; i < BLOBS; i++)
            CHECK_INT(cas_put(c, blob(i), &told->id[i]), 0);
        CHECK_INT(round % 2 ? cas_sync(c) : cas_flush(c), 0);
        CHECK_INT(cas_gc_begin(c, 0, &gc, NULL), 0);
        for (int i = 0; i < BLOBS; i += 2)
            CHECK_INT(cas_put(other, blob(i), &id), 0);
        CHECK_INT(cas_flush(other), 0);
        CHECK_INT(cas__refresh(c), 0);
        for (int i = 0; i < BLOBS; i += 3)
            CHECK_INT(cas_gc_mark(gc, &told->id[i]), 1);
        CHECK_INT(cas_gc_sweep(gc, false, &n, &bytes), 0);
        lose_power(&t, &seed, round % 3 == 0);
        struct cas *fresh = cas_test_open(&t, 0);
        for (int i = 0; i < BLOBS; i += 3)
            CHECK(cas_test_holds(fresh, &told->id[i], blob(i)));
        cas_close(fresh);
        cas_close(other);
        cas_close(c);
        cas_test_wipe(&t);
    }
    cas_test_done(&t);
}

/* A sync that failed and one that then says yes: what was put before both is on the disk. */
TEST_LIMIT(a_sync_fails_and_power_is_lost, 200)
{
    struct told *told = new_told();
    struct cas_test t = cas_test_new();
    uint64_t seed = test_seed();
    bool over = false;
    for (bad_sync = 1; !over; bad_sync++) {
        memset(told, 0, sizeof(*told));
        n_files = 0;
        tracking = true;
        syncs = 0;
        struct cas *c = cas_test_open(&t, CAS_WRITE | CAS_CREATE);
        for (int k = 0; k < BLOBS; k++) {
            CHECK_INT(cas_put(c, blob(k), &told->id[k]), 0);
            told->put[k] = true;
            if (k % 7 == 6) {
                PERSIST("sync", cas_sync(c));
                memcpy(told->synced, told->put, sizeof(told->put));
            }
        }
        cas_close(c);
        over = syncs < bad_sync;
        lose_power(&t, &seed, false);
        check(&t, told, told->synced, false);
        cas_test_wipe(&t);
    }
    CHECK(bad_sync > 10);
    cas_test_done(&t);
}

/* What another process put and did not sync, into a pack of its own, is on the disk with what stands on it. */
TEST(what_is_adopted_is_synced)
{
    struct cas_test t = cas_test_new();
    struct cas_id id[2];
    uint64_t seed = test_seed();
    for (int i = 0; i < 10; i++) {
        n_files = 0;
        tracking = true;
        at = 0;
        struct cas *other = cas_test_open(&t, CAS_WRITE | CAS_CREATE), *c;
        CHECK_INT(cas_put(other, blob(1), &id[0]), 0);
        CHECK_INT(cas_flush(other), 0);
        c = cas_test_open(&t, CAS_WRITE);
        CHECK_INT(cas_adopt(c), 0);
        CHECK_INT(cas_put(c, blob(2), &id[1]), 0);
        CHECK_INT(cas_sync(c), 0);
        cas_close(c);
        cas_close(other);
        lose_power(&t, &seed, i % 2);
        c = cas_test_open(&t, 0);
        CHECK(cas_test_holds(c, &id[0], blob(1)));
        CHECK(cas_test_holds(c, &id[1], blob(2)));
        cas_close(c);
        cas_test_wipe(&t);
    }
    cas_test_done(&t);
}

/* ---- a torn tail ---- */

TEST_LIMIT(the_tail_is_cut_or_spoilt_at_each_byte, 200)
{
    struct cas_test t = cas_test_new();
    struct cas_id id[3];
    static const char *const text[] = {"first", "second", "the third and last"};
    for (int spoil = 0; spoil < 3; spoil++) {
        for (off_t cut = 0;; cut++) {
            struct cas *c = cas_test_open(&t, CAS_WRITE | CAS_CREATE);
            for (int i = 0; i < 3; i++)
                CHECK_INT(cas_put(c, str_c(text[i]), &id[i]), 0);
            CHECK_INT(cas_flush(c), 0);
            cas_close(c);
            int fd = openat(t.dir, "packs/00000001.pack", O_RDWR | O_CLOEXEC);
            struct stat st;
            CHECK_INT(fstat(fd, &st), 0);
            off_t last = st.st_size - 64 - (off_t)strlen(text[2]);
            bool over = last + cut >= st.st_size;
            if (!over && spoil == 1) {
                char b;
                CHECK_INT(pread(fd, &b, 1, last + cut), 1);
                b = (char)~b;
                CHECK_INT(pwrite(fd, &b, 1, last + cut), 1);
            } else if (!over)
                CHECK_INT(ftruncate(fd, last + cut), 0);
            close(fd);
            /* With and without the log. */
            if (spoil != 0)
                unlinkat(t.dir, "packs/00000001.log", 0);
            c = cas_test_open(&t, CAS_WRITE);
            CHECK(cas_test_holds(c, &id[0], str_c(text[0])));
            CHECK(cas_test_holds(c, &id[1], str_c(text[1])));
            if (!over)
                CHECK(!cas_has(c, &id[2]));
            CHECK_INT(cas_put(c, str_c(text[2]), &id[2]), 0);
            CHECK_INT(cas_put(c, str_c(text[2]), &id[2]), 0);
            CHECK_INT(cas_flush(c), 0);
            cas_close(c);
            c = cas_test_open(&t, 0);
            for (int i = 0; i < 3; i++)
                CHECK(cas_test_holds(c, &id[i], str_c(text[i])));
            CHECK_INT(cas_test_fsck(c), 0);
            struct cas_stat s;
            CHECK_INT(cas_stat(c, &s), 0);
            CHECK_INT(s.packs, 1);
            cas_close(c);
            cas_test_wipe(&t);
            if (over)
                break;
        }
    }
    cas_test_done(&t);
}
