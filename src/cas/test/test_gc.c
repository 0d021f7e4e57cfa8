/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/test/test.h"
#include "cas/test/cas_test.h"

/* Collections beside other writers. Compiled with packs of a few kilobytes, so that some blobs fill several. */

enum { BLOBS = 120 };

static struct str blob(int i)
{
    static char buf[900];
    uint64_t seed = (uint64_t)i + 1;
    size_t n = (size_t)(i % 10 * 60);
    for (size_t k = 0; k < n; k++)
        buf[k] = (char)test_rand(&seed);
    return str_of(buf, n + (size_t)snprintf(buf + n, 20, "%d", i));
}

static void put_all(struct cas *c, struct cas_id ids[BLOBS])
{
    for (int i = 0; i < BLOBS; i++)
        CHECK_INT(cas_put(c, blob(i), &ids[i]), 0);
}

static int begin(struct cas *c, struct cas_gc **ret)
{
    struct err err = {0};
    int r = cas_gc_begin(c, 0, ret, &err);
    CHECK_INT(err.code, r);
    return r;
}

/* A whole collection that leaves every third blob. */
static void keep_thirds(struct cas_test *t, const struct cas_id ids[BLOBS])
{
    struct cas *c = cas_test_open(t, CAS_WRITE);
    struct cas_gc *gc;
    uint64_t n, bytes;
    CHECK_INT(begin(c, &gc), 0);
    for (int i = 0; i < BLOBS; i += 3)
        CHECK_INT(cas_gc_mark(gc, &ids[i]), 1);
    CHECK_INT(cas_gc_sweep(gc, false, &n, &bytes), 0);
    cas_close(c);
}

TEST(it_begins_when_nobody_holds)
{
    struct cas_test t = cas_test_new();
    struct cas *w = cas_test_open(&t, CAS_WRITE | CAS_CREATE), *c = cas_test_open(&t, CAS_WRITE),
               *reader = cas_test_open(&t, 0);
    struct cas_gc *gc, *second;
    struct cas_id id;
    struct err err;
    CHECK_INT(cas_hold(reader), -EROFS);
    CHECK(!cas_held(w));
    CHECK_INT(cas_put(w, STR("x"), &id), 0);
    CHECK(cas_held(w));
    CHECK_INT(cas_gc_begin(c, 0, &gc, &err), -EBUSY);
    CHECK(strstr(err.text, "writing all the time"));
    /* Flushing and syncing end no hold, and one by itself begins none. */
    CHECK_INT(cas_flush(w), 0);
    CHECK_INT(cas_sync(w), 0);
    CHECK_INT(begin(c, &gc), -EBUSY);
    CHECK_INT(cas_release(w), 0);
    CHECK_INT(cas_sync(w), 0);
    CHECK(!cas_held(w));
    CHECK_INT(begin(c, &gc), 0);
    /* One at a time, and none while it is barred or the store is checked. */
    CHECK_INT(cas_gc_begin(w, 0, &second, &err), -EBUSY);
    CHECK(strstr(err.text, "another process collects"));
    CHECK_INT(cas_bar_gc(reader, 0, &err), -EBUSY);
    CHECK(strstr(err.text, "a garbage collection is at work"));
    cas_gc_abort(gc);
    CHECK_INT(cas_bar_gc(reader, 0, &err), 0);
    CHECK_INT(begin(c, &gc), -EBUSY);
    CHECK_INT(cas_test_fsck(w), 0);
    cas_close(reader);
    CHECK_INT(cas_test_fsck(w), 0);
    CHECK_INT(begin(c, &gc), 0);
    cas_gc_abort(gc);
    /* A process that dies holds no more. */
    pid_t pid = fork();
    if (pid == 0) {
        struct cas *mine = cas_test_open(&t, CAS_WRITE);
        _exit(cas_put(mine, STR("y"), &id) < 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
    CHECK_INT(begin(c, &gc), 0);
    cas_gc_abort(gc);
    cas_close(c);
    cas_close(w);
    cas_test_done(&t);
}

/* What nothing names, and a put finds there while a collection is at work: it is put again. @how: what of @w is in the
 * condemned packs when it begins. */
static void put_meanwhile(bool synced, bool other_wrote)
{
    struct cas_test t = cas_test_new();
    struct cas_id ids[BLOBS], id;
    struct cas *w = cas_test_open(&t, CAS_WRITE | CAS_CREATE), *c = cas_test_open(&t, CAS_WRITE);
    struct cas_gc *gc;
    uint64_t n, bytes;
    put_all(other_wrote ? c : w, ids);
    CHECK_INT(synced ? cas_sync(other_wrote ? c : w) : 0, 0);
    CHECK_INT(cas_release(w), 0);
    CHECK_INT(cas_release(c), 0);
    for (int i = 0; i < BLOBS; i++)
        CHECK(cas_test_holds(w, &ids[i], blob(i)));
    CHECK_INT(begin(c, &gc), 0);
    for (int i = 0; i < BLOBS; i += 3)
        CHECK_INT(cas_gc_mark(gc, &ids[i]), 1);
    /* Every second, marked or not. */
    for (int i = 0; i < BLOBS; i += 2)
        CHECK_INT(cas_put(w, blob(i), &id), 0);
    CHECK_INT(cas_put(w, STR("new"), &id), 0);
    CHECK_INT(cas_flush(w), 0);
    CHECK_INT(cas_gc_sweep(gc, false, &n, &bytes), 0);
    CHECK_INT(n, BLOBS - BLOBS / 3);
    for (int round = 0; round < 3; round++) {
        struct cas *look = round == 0 ? w : round == 1 ? c : cas_test_open(&t, 0);
        for (int i = 0; i < BLOBS; i++) {
            bool there = cas_test_holds(look, &ids[i], blob(i)), want = i % 3 == 0 || i % 2 == 0;
            /* Who has a pack open can read it after it was removed. */
            if (!CHECK(there == want || (there && round == 0)))
                fprintf(stderr, "# blob %d, round %d\n", i, round);
        }
        CHECK(cas_test_holds(look, &id, STR("new")));
        if (round == 2)
            cas_close(look);
    }
    /* And it is found again after. */
    CHECK_INT(cas_release(w), 0);
    CHECK_INT(cas_sync(w), 0);
    struct cas_stat before, after;
    CHECK_INT(cas_stat(w, &before), 0);
    CHECK_INT(cas_put(w, blob(0), &id), 0);
    CHECK_INT(cas_put(w, blob(2), &id), 0);
    CHECK_INT(cas_stat(w, &after), 0);
    CHECK_INT(after.put_blobs, before.put_blobs);
    CHECK_INT(cas_put(w, blob(1), &id), 0);
    CHECK_INT(cas_stat(w, &after), 0);
    CHECK_INT(after.put_blobs, before.put_blobs + 1);
    CHECK_INT(cas_test_fsck(w), 0);
    cas_close(w);
    cas_close(c);
    cas_test_done(&t);
}

TEST(what_is_put_meanwhile_stays)
{
    for (int i = 0; i < 4; i++)
        put_meanwhile(i & 1, i & 2);
}

/* A handle that slept through collections does not count on what it knew. */
TEST(who_slept_hears_of_it)
{
    struct cas_test t = cas_test_new();
    struct cas_id ids[BLOBS];
    struct cas *w = cas_test_open(&t, CAS_WRITE | CAS_CREATE);
    for (int round = 0; round < 4; round++) {
        put_all(w, ids);
        CHECK_INT(round % 2 ? cas_sync(w) : cas_flush(w), 0);
        CHECK_INT(cas_release(w), 0);
        for (int i = 0; i <= round; i++)
            keep_thirds(&t, ids);
        put_all(w, ids);
        CHECK_INT(cas_sync(w), 0);
        CHECK_INT(cas_release(w), 0);
        struct cas *fresh = cas_test_open(&t, 0);
        for (int i = 0; i < BLOBS; i++)
            CHECK(cas_test_holds(w, &ids[i], blob(i)) && cas_test_holds(fresh, &ids[i], blob(i)));
        CHECK_INT(cas_test_fsck(fresh), 0);
        cas_close(fresh);
    }
    cas_close(w);
    cas_test_done(&t);
}

/* One that was killed condemns nothing any more. */
TEST(one_that_died)
{
    struct cas_test t = cas_test_new();
    struct cas_id ids[BLOBS];
    struct cas_stat st;
    struct cas *w = cas_test_open(&t, CAS_WRITE | CAS_CREATE);
    put_all(w, ids);
    CHECK_INT(cas_sync(w), 0);
    CHECK_INT(cas_release(w), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct cas_gc *gc;
        _exit(begin(cas_test_open(&t, CAS_WRITE), &gc) < 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
    put_all(w, ids);
    CHECK_INT(cas_stat(w, &st), 0);
    CHECK_INT(st.put_blobs, BLOBS);
    cas_close(w);
    /* Collections of nothing leave no packs behind. */
    keep_thirds(&t, ids);
    int packs = cas_test_files(&t, ".pack");
    for (int i = 0; i < 5; i++)
        keep_thirds(&t, ids);
    CHECK(cas_test_files(&t, ".pack") <= packs + 1);
    cas_test_done(&t);
}

/* ---- many processes ---- */

enum { WRITERS = 3, UNIVERSE = 60 };

/* What is named, by whom: the count rises with each change, and is odd while it is. */
struct names {
    _Atomic uint32_t by[WRITERS][UNIVERSE];
    _Atomic bool stop;
    _Atomic uint32_t collected;
    struct cas_id id[UNIVERSE];
};

static bool is_named(uint32_t v)
{
    return v & 1;
}

/* Puts, names, takes names away; what is named is there all the time. Returns the exit status. */
static int write_on(struct cas_test *t, struct names *s, int who, uint64_t seed)
{
    struct cas *c = NULL;
    int fails = 0;
    while (!s->stop && fails == 0) {
        if (!c)
            c = cas_test_open(t, CAS_WRITE);
        bool put[UNIVERSE] = {false};
        for (int k = 0; k < 8; k++) {
            int i = (int)(test_rand(&seed) % UNIVERSE);
            struct cas_id id;
            fails += cas_put(c, blob(i), &id) < 0;
            put[i] = true;
            if (test_rand(&seed) % 4 == 0)
                usleep(100);
        }
        fails += (test_rand(&seed) % 3 ? cas_flush(c) : cas_sync(c)) < 0;
        for (int i = 0; i < UNIVERSE; i++) {
            uint32_t v = s->by[who][i];
            if (put[i] != is_named(v) && (put[i] || test_rand(&seed) % 2))
                s->by[who][i] = v + 1;
        }
        fails += cas_release(c) < 0;
        for (int k = 0; k < 10; k++) {
            int i = (int)(test_rand(&seed) % UNIVERSE);
            if (is_named(s->by[who][i]) && !cas_test_holds(c, &s->id[i], blob(i))) {
                fprintf(stderr, "# writer %d: blob %d is lost\n", who, i);
                fails++;
            }
        }
        if (test_rand(&seed) % 8 == 0) {
            cas_close(c);
            c = NULL;
        }
    }
    cas_close(c);
    return fails != 0;
}

static int read_on(struct cas_test *t, struct names *s, uint64_t seed)
{
    struct cas *c = cas_test_open(t, 0);
    while (!s->stop) {
        int who = (int)(test_rand(&seed) % WRITERS), i = (int)(test_rand(&seed) % UNIVERSE);
        uint32_t v = s->by[who][i];
        bool there = cas_test_holds(c, &s->id[i], blob(i));
        if (!there && is_named(v) && v == s->by[who][i]) {
            fprintf(stderr, "# reader: blob %d of %d is lost\n", i, who);
            return 1;
        }
    }
    cas_close(c);
    return 0;
}

static int collect_on(struct cas_test *t, struct names *s)
{
    struct cas *c = cas_test_open(t, CAS_WRITE);
    while (!s->stop) {
        struct cas_gc *gc;
        uint64_t n, bytes;
        if (cas_gc_begin(c, 5000, &gc, NULL) < 0)
            continue;
        for (int who = 0; who < WRITERS; who++) {
            for (int i = 0; i < UNIVERSE; i++) {
                if (is_named(s->by[who][i]) && cas_gc_mark(gc, &s->id[i]) < 0 && !cas_has(c, &s->id[i]) &&
                    is_named(s->by[who][i]))
                    return 1;
            }
        }
        if (cas_gc_sweep(gc, false, &n, &bytes) < 0)
            return 2;
        s->collected++;
    }
    cas_close(c);
    return 0;
}

TEST_LIMIT(many_write_and_it_never_rests, 200)
{
    struct cas_test t = cas_test_new();
    struct names *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t seed = test_seed();
    pid_t pid[WRITERS + 1], gc = 0;
    CHECK(s != MAP_FAILED);
    cas_close(cas_test_open(&t, CAS_WRITE | CAS_CREATE));
    for (int i = 0; i < UNIVERSE; i++) {
        struct cas_hash h;
        cas_hash_init(&h);
        cas_hash_add(&h, blob(i).p, blob(i).n);
        cas_hash_end(&h, s->id[i].b);
    }
    for (int who = 0; who <= WRITERS; who++) {
        uint64_t own = test_rand(&seed);
        pid[who] = fork();
        if (pid[who] == 0)
            _exit(who < WRITERS ? write_on(&t, s, who, own) : read_on(&t, s, own));
    }
    /* It is killed at any moment, and begun again. */
    uint32_t want = (uint32_t)test_env("FRONTAL_COLLECTIONS", 150), kills = 0;
    int status = 0;
    while (s->collected < want && status == 0) {
        if (gc == 0 && (gc = fork()) == 0)
            _exit(collect_on(&t, s));
        usleep((useconds_t)(test_rand(&seed) % 30000));
        if (test_rand(&seed) % 2 && s->collected > kills * 3) {
            kill(gc, SIGKILL);
            kills++;
        }
        for (int who = 0; who <= WRITERS && status == 0; who++) {
            if (waitpid(pid[who], &status, WNOHANG) == pid[who])
                pid[who] = 0;
        }
        int how = 0;
        if (waitpid(gc, &how, WNOHANG) == gc) {
            CHECK(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
            status |= WIFEXITED(how);
            gc = 0;
        }
    }
    s->stop = true;
    CHECK_INT(status, 0);
    CHECK(kills > 3);
    for (int who = 0; who <= WRITERS; who++) {
        status = 0;
        if (pid[who])
            waitpid(pid[who], &status, 0);
        CHECK_INT(status, 0);
    }
    if (gc) {
        waitpid(gc, &status, 0);
        CHECK(WIFSIGNALED(status) || status == 0);
    }
    struct cas *c = cas_test_open(&t, CAS_WRITE);
    CHECK_INT(cas_test_fsck(c), 0);
    for (int i = 0; i < UNIVERSE * WRITERS; i++)
        CHECK(!is_named(s->by[i / UNIVERSE][i % UNIVERSE]) ||
              cas_test_holds(c, &s->id[i % UNIVERSE], blob(i % UNIVERSE)));
    cas_close(c);
    munmap(s, sizeof(*s));
    cas_test_done(&t);
}
