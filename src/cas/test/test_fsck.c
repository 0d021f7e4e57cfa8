/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/test/test.h"
#include "cas/test/cas_test.h"

/* Compiled with packs of a few kilobytes, so that a hundred blobs fill several. */

enum { BLOBS = 100 };

static struct str blob(int i, char buf[600])
{
    int n = i % 10 * 60;
    for (int k = 0; k < n; k++)
        buf[k] = (char)(i % 3 ? i * k * 7 + k / 3 : 'a' + i % 26);
    return str_of(buf, (size_t)(n + snprintf(buf + n, 20, "%d", i)));
}

static void fill(struct cas_test *t, struct cas_id ids[BLOBS])
{
    char buf[600];
    struct cas *c = cas_test_open(t, CAS_WRITE | CAS_CREATE);
    for (int i = 0; i < BLOBS; i++) {
        CHECK_INT(cas_put(c, blob(i, buf), &ids[i]), 0);
        if (i % 25 == 24)
            CHECK_INT(cas_sync(c), 0);
    }
    cas_close(c);
    c = cas_test_open(t, CAS_WRITE);
    CHECK_INT(cas_put(c, STR("one for the log"), &ids[0]), 0);
    CHECK_INT(cas_flush(c), 0);
    cas_close(c);
}

/* ---- gc ---- */

static void mark_even(struct cas_gc *gc, const struct cas_id ids[BLOBS])
{
    for (int i = 2; i < BLOBS; i += 2)
        CHECK_INT(cas_gc_mark(gc, &ids[i]), 1);
}

TEST(gc_removes_what_is_not_marked)
{
    struct cas_test t = cas_test_new();
    struct cas_id ids[BLOBS], none = {{1}};
    struct cas_stat before, st;
    char buf[600];
    fill(&t, ids);
    struct cas *c = cas_test_open(&t, 0);
    struct cas_gc *gc;
    CHECK_INT(cas_gc_begin(c, 0, &gc, NULL), -EROFS);
    CHECK_INT(cas_stat(c, &before), 0);
    CHECK_INT(before.blobs, BLOBS + 1);
    cas_close(c);

    c = cas_test_open(&t, CAS_WRITE);
    uint64_t n[2], bytes[2];
    for (int wet = 0; wet < 2; wet++) {
        CHECK_INT(cas_gc_begin(c, 0, &gc, NULL), 0);
        mark_even(gc, ids);
        CHECK_INT(cas_gc_mark(gc, &ids[2]), 0);
        CHECK_INT(cas_gc_mark(gc, &none), -ENOENT);
        CHECK_INT(cas_gc_sweep(gc, !wet, &n[wet], &bytes[wet]), 0);
        CHECK_INT(cas_stat(c, &st), 0);
        CHECK_INT(st.blobs, wet ? BLOBS / 2 - 1 : BLOBS + 1);
        CHECK_INT(st.put_blobs, 0);
    }
    CHECK_INT(n[0], BLOBS / 2 + 2);
    CHECK_INT(n[1], n[0]);
    CHECK_INT(bytes[1], bytes[0]);
    CHECK(st.stored_bytes < before.stored_bytes);
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i < BLOBS; i++)
            CHECK(i % 2 ? !cas_has(c, &ids[i]) : cas_test_holds(c, &ids[i], blob(i, buf)));
        CHECK_INT(cas_test_fsck(c), 0);
        cas_close(c);
        c = cas_test_open(&t, CAS_WRITE);
    }
    /* What was removed can be put again. */
    CHECK_INT(cas_put(c, blob(7, buf), &none), 0);
    CHECK(cas_test_holds(c, &ids[7], blob(7, buf)));
    cas_close(c);
    /* Nothing is marked. */
    c = cas_test_open(&t, CAS_WRITE);
    CHECK_INT(cas_gc_begin(c, 0, &gc, NULL), 0);
    CHECK_INT(cas_gc_sweep(gc, false, &n[0], &bytes[0]), 0);
    CHECK_INT(cas_stat(c, &st), 0);
    CHECK_INT(st.blobs, 0);
    CHECK_INT(st.stored_bytes, 0);
    CHECK_INT(cas_gc_begin(c, 0, &gc, NULL), 0);
    cas_gc_abort(gc);
    cas_gc_abort(NULL);
    cas_close(c);
    cas_test_done(&t);
}

/* ---- fsck ---- */

/* Flips each bit, one of @step, of a file, and looks that it is found; what is damaged is never given out. */
static void flip(struct cas_test *t, const struct cas_id ids[BLOBS], const char *name, size_t step)
{
    char path[100], buf[600];
    snprintf(path, sizeof(path), "packs/%s", name);
    int fd = openat(t->dir, path, O_RDWR | O_CLOEXEC);
    struct stat st;
    CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0);
    for (size_t bit = 0; bit < (size_t)st.st_size * 8; bit += step) {
        char b;
        CHECK_INT(pread(fd, &b, 1, (off_t)(bit / 8)), 1);
        b = (char)(b ^ 1 << bit % 8);
        CHECK_INT(pwrite(fd, &b, 1, (off_t)(bit / 8)), 1);
        struct cas *c = cas_test_open(t, 0);
        if (!CHECK(cas_test_fsck(c) > 0))
            fprintf(stderr, "# %s: bit %zu\n", name, bit);
        BUF_AUTO struct buf out;
        buf_init(&out, LIMIT_CAS_BLOB);
        for (int i = bit % 7 ? BLOBS : 1; i < BLOBS; i++) {
            buf_clear(&out);
            if (cas_get(c, &ids[i], &out) == 0)
                CHECK_STR(buf_str(&out), blob(i, buf));
        }
        cas_close(c);
        b = (char)(b ^ 1 << bit % 8);
        CHECK_INT(pwrite(fd, &b, 1, (off_t)(bit / 8)), 1);
    }
    close(fd);
    struct cas *c = cas_test_open(t, 0);
    CHECK_INT(cas_test_fsck(c), 0);
    cas_close(c);
}

TEST_LIMIT(fsck_finds_each_flipped_bit, 200)
{
    struct cas_test t = cas_test_new();
    struct cas_id ids[BLOBS];
    fill(&t, ids);
    CHECK(cas_test_files(&t, ".idx") >= 2);
    CHECK_INT(cas_test_files(&t, ".log"), 1);
    flip(&t, ids, "00000001.pack", 37);
    flip(&t, ids, "00000001.idx", 13);
    char last[20];
    snprintf(last, sizeof(last), "%08x.pack", (unsigned)cas_test_files(&t, ".pack"));
    flip(&t, ids, last, 37);
    snprintf(last, sizeof(last), "%08x.log", (unsigned)cas_test_files(&t, ".pack"));
    flip(&t, ids, last, 3);
    cas_test_done(&t);
}

/* Writes @n bytes of nonsense over a file, or cuts it there when @n is 0. */
static void spoil(struct cas_test *t, const char *name, off_t at, size_t n)
{
    char path[100];
    static const char junk[4096] = "junk";
    snprintf(path, sizeof(path), "packs/%s", name);
    int fd = openat(t->dir, path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    if (n)
        CHECK_INT(pwrite(fd, junk, n, at), (ssize_t)n);
    else
        CHECK_INT(ftruncate(fd, at), 0);
    close(fd);
}

TEST(a_damaged_index_is_made_anew)
{
    static const char *const names[] = {"00000001.idx", "00000001.idx", "00000001.idx", "00000001.idx"};
    static const struct {
        off_t at;
        size_t n;
    } how[] = {{0, 4}, {100, 8}, {1200, 40}, {500, 0}};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        struct cas_test t = cas_test_new();
        struct cas_id ids[BLOBS];
        char buf[600];
        fill(&t, ids);
        spoil(&t, names[k], how[k].at, how[k].n);
        struct cas *c = cas_test_open(&t, CAS_WRITE);
        CHECK_INT(cas_test_fsck(c), 1);
        CHECK_INT(cas_test_fsck(c), 0);
        for (int round = 0; round < 2; round++) {
            for (int i = 1; i < BLOBS; i++)
                CHECK(cas_test_holds(c, &ids[i], blob(i, buf)));
            cas_close(c);
            c = cas_test_open(&t, 0);
        }
        CHECK_INT(cas_test_fsck(c), 0);
        cas_close(c);
        cas_test_done(&t);
    }
}

/* A damaged blob is an error when asked for; the others are not touched. */
TEST(a_damaged_blob)
{
    struct cas_test t = cas_test_new();
    struct cas_id ids[BLOBS];
    char buf[600];
    fill(&t, ids);
    spoil(&t, "00000001.pack", 64 + 64 + 1 + 64 + 10, 3); /* inside the second record */
    struct cas *c = cas_test_open(&t, CAS_WRITE);
    BUF_AUTO struct buf out;
    buf_init(&out, 1000);
    CHECK_INT(cas_get(c, &ids[1], &out), -EIO);
    CHECK_INT(out.n, 0);
    CHECK_INT(cas_test_fsck(c), 1);
    for (int i = 2; i < BLOBS; i++)
        CHECK(cas_test_holds(c, &ids[i], blob(i, buf)));
    cas_close(c);
    /* gc keeps a pack whose damaged blob is marked. */
    c = cas_test_open(&t, CAS_WRITE);
    struct cas_gc *gc;
    uint64_t n, bytes;
    CHECK_INT(cas_gc_begin(c, 0, &gc, NULL), 0);
    CHECK_INT(cas_gc_mark(gc, &ids[1]), 1);
    CHECK_INT(cas_gc_mark(gc, &ids[9]), 1);
    CHECK_INT(cas_gc_sweep(gc, false, &n, &bytes), 0);
    CHECK_INT(cas_get(c, &ids[1], &out), -EIO);
    CHECK(cas_test_holds(c, &ids[9], blob(9, buf)));
    CHECK(!cas_has(c, &ids[BLOBS - 1]));
    cas_close(c);
    cas_test_done(&t);
}

/* ---- many processes, packs that fill and are sealed meanwhile ---- */

enum { WRITERS = 5, RUNS = 30, PUTS = 4 };

static struct str unique(int who, int i, char buf[600])
{
    struct str s = blob(i, buf);
    return str_of(buf, s.n + (size_t)snprintf(buf + s.n, 30, " by %d", who));
}

static int write_much(struct cas_test *t, int who, uint64_t seed)
{
    char buf[600];
    struct cas_id id;
    for (int run = 0; run < RUNS; run++) {
        struct cas *c;
        if (cas_open(openat(t->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), CAS_WRITE, &c, NULL) < 0)
            return 1;
        for (int k = 0; k < PUTS; k++) {
            int i = run * PUTS + k;
            if (cas_put(c, unique(i % 3 ? who : -1, i, buf), &id) < 0)
                return 2;
        }
        if (test_rand(&seed) % 2 ? cas_flush(c) < 0 : cas_sync(c) < 0)
            return 3;
        if (test_rand(&seed) % 8 == 0 && cas_test_fsck(c) != 0)
            return 4;
        cas_close(c);
    }
    return 0;
}

TEST(many_processes_fill_and_seal)
{
    struct cas_test t = cas_test_new();
    pid_t pid[WRITERS];
    char buf[600];
    uint64_t seed = test_seed();
    struct cas *old = cas_test_open(&t, CAS_CREATE);
    CHECK(!cas_has(old, &(struct cas_id){{0}}));
    for (int who = 0; who < WRITERS; who++) {
        pid[who] = fork();
        if (pid[who] == 0)
            _exit(write_much(&t, who, seed + (uint64_t)who * 77 + 1));
    }
    for (int who = 0; who < WRITERS; who++) {
        int status = -1;
        waitpid(pid[who], &status, 0);
        CHECK_INT(status, 0);
    }
    struct cas *c = cas_test_open(&t, CAS_WRITE);
    CHECK_INT(cas_test_fsck(c), 0);
    for (int who = 0; who < WRITERS; who++) {
        for (int i = 0; i < RUNS * PUTS; i++) {
            struct cas_hash h;
            struct cas_id id;
            struct str s = unique(i % 3 ? who : -1, i, buf);
            cas_hash_init(&h);
            cas_hash_add(&h, s.p, s.n);
            cas_hash_end(&h, id.b);
            CHECK(cas_test_holds(c, &id, s));
            CHECK(cas_test_holds(old, &id, s));
        }
    }
    CHECK_INT(cas_test_fsck(old), 0);
    cas_close(c);
    cas_close(old);
    cas_test_done(&t);
}
