/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/test/test.h"
#include "base/mem.h"
#include "cas/test/cas_test.h"

/* ---- what is put is got ---- */

TEST(put_get_reopen)
{
    struct cas_test t = cas_test_new();
    struct cas_id id[4], again;
    struct cas *c = cas_test_open(&t, CAS_WRITE | CAS_CREATE);
    struct str text = STR("hello, hello, hello, hello, hello, hello, hello, hello, hello, hello, hello, hello, hello, "
                          "hello, hello, hello, hello, hello, hello, hello, hello, hello, hello, hello, hello, hello");
    CHECK_INT(cas_put(c, STR(""), &id[0]), 0);
    CHECK_INT(cas_put(c, STR("a"), &id[1]), 0);
    CHECK_INT(cas_put(c, text, &id[2]), 0);
    CHECK(cas_test_holds(c, &id[2], text));
    CHECK_INT(cas_put(c, text, &again), 0);
    CHECK(cas_id_cmp(&again, &id[2]) == 0);
    struct cas_stat st;
    CHECK_INT(cas_stat(c, &st), 0);
    CHECK_INT(st.put_blobs, 3);
    CHECK_INT(st.blobs, 3);
    CHECK_INT(st.bytes, text.n + 1);
    CHECK_INT(cas_flush(c), 0);
    CHECK(cas_test_holds(c, &id[2], text));
    cas_close(c);

    c = cas_test_open(&t, 0);
    CHECK(cas_test_holds(c, &id[0], STR("")));
    CHECK(cas_test_holds(c, &id[1], STR("a")));
    CHECK(cas_test_holds(c, &id[2], text));
    CHECK(cas_has(c, &id[2]));
    memset(&id[3], 7, sizeof(id[3]));
    CHECK(!cas_has(c, &id[3]));
    BUF_AUTO struct buf out;
    buf_init(&out, 1000);
    CHECK_INT(cas_get(c, &id[3], &out), -ENOENT);
    CHECK_INT(cas_put(c, text, &again), -EROFS);
    CHECK_INT(cas_stat(c, &st), 0);
    CHECK_INT(st.blobs, 3);
    CHECK_INT(st.packs, 1);
    cas_close(c);
    cas_test_done(&t);
}

TEST(limits)
{
    struct cas_test t = cas_test_new();
    struct cas *c = cas_test_open(&t, CAS_WRITE | CAS_CREATE);
    struct cas_id id;
    char *big = mem_zalloc(LIMIT_CAS_BLOB + 1);
    uint64_t s = 42;
    for (size_t i = 0; i < LIMIT_CAS_BLOB; i += 8) {
        uint64_t v = test_rand(&s);
        memcpy(big + i, &v, 8);
    }
    CHECK_INT(cas_put(c, str_of(big, LIMIT_CAS_BLOB + 1), &id), -EFBIG);
    CHECK_INT(cas_put(c, str_of(big, LIMIT_CAS_BLOB), &id), 0);
    CHECK(cas_test_holds(c, &id, str_of(big, LIMIT_CAS_BLOB)));
    BUF_AUTO struct buf out;
    buf_init(&out, 100);
    buf_add(&out, "x", 1);
    CHECK_INT(cas_get(c, &id, &out), -EFBIG);
    CHECK_STR(buf_str(&out), STR("x"));
    /* Compressible and large: by the side of the buffer too. */
    memset(big, 'z', LIMIT_CAS_BLOB);
    CHECK_INT(cas_put(c, str_of(big, LIMIT_CAS_BLOB), &id), 0);
    CHECK(cas_test_holds(c, &id, str_of(big, LIMIT_CAS_BLOB)));
    struct cas_stat st;
    CHECK_INT(cas_sync(c), 0);
    CHECK_INT(cas_stat(c, &st), 0);
    CHECK_INT(st.blobs, 2);
    CHECK(st.stored_bytes < LIMIT_CAS_BLOB + (1u << 20));
    mem_free(big);
    cas_close(c);
    cas_test_done(&t);
}

/* ---- opening ---- */

TEST(open_refuses)
{
    struct cas_test t = cas_test_new();
    struct err err;
    struct cas *c = NULL;
    CHECK_INT(cas_open(dup(t.dir), CAS_WRITE, &c, &err), -ENOENT);
    CHECK_C(err.text, "there is no store");
    cas_close(cas_test_open(&t, CAS_WRITE | CAS_CREATE));
    int fd = openat(t.dir, "lock", O_WRONLY | O_TRUNC | O_CLOEXEC);
    CHECK_INT(write(fd, "frontal-cas 2\n", 14), 14);
    close(fd);
    CHECK_INT(cas_open(dup(t.dir), CAS_WRITE | CAS_CREATE, &c, &err), -EINVAL);
    cas_test_done(&t);
}

/* ---- several at a time ---- */

TEST(short_runs_share_a_pack)
{
    struct cas_test t = cas_test_new();
    struct cas_id id;
    struct cas_stat st;
    for (int i = 0; i < 50; i++) {
        char text[20];
        struct cas *c = cas_test_open(&t, CAS_WRITE | CAS_CREATE);
        int n = snprintf(text, sizeof(text), "blob %d", i);
        CHECK_INT(cas_put(c, str_of(text, (size_t)n), &id), 0);
        CHECK_INT(i % 3 ? cas_flush(c) : cas_sync(c), 0);
        cas_close(c);
    }
    struct cas *c = cas_test_open(&t, 0);
    CHECK_INT(cas_stat(c, &st), 0);
    CHECK_INT(st.packs, 1);
    CHECK_INT(st.blobs, 50);
    cas_close(c);
    cas_test_done(&t);
}

TEST(readers_see_what_is_flushed)
{
    struct cas_test t = cas_test_new();
    struct cas_id a, b, d;
    struct cas *w1 = cas_test_open(&t, CAS_WRITE | CAS_CREATE), *w2 = cas_test_open(&t, CAS_WRITE);
    struct cas *r = cas_test_open(&t, 0);
    CHECK_INT(cas_put(w1, STR("one"), &a), 0);
    CHECK_INT(cas_put(w2, STR("two"), &b), 0);
    CHECK(!cas_has(r, &a));
    CHECK_INT(cas_flush(w1), 0);
    CHECK_INT(cas_flush(w2), 0);
    CHECK(cas_test_holds(r, &a, STR("one")));
    CHECK(cas_test_holds(r, &b, STR("two")));
    CHECK(cas_test_holds(w1, &b, STR("two")));
    CHECK_INT(cas_put(w1, STR("three"), &d), 0);
    CHECK_INT(cas_flush(w1), 0);
    CHECK(cas_test_holds(r, &d, STR("three")));
    /* What another process has flushed is not written again. */
    CHECK(cas_test_holds(w2, &d, STR("three")));
    CHECK_INT(cas_put(w2, STR("three"), &d), 0);
    CHECK_INT(cas_sync(w2), 0);
    struct cas_stat st;
    CHECK_INT(cas_stat(w2, &st), 0);
    CHECK_INT(st.put_blobs, 1);
    CHECK_INT(st.packs, 2);
    cas_close(w1);
    cas_close(w2);
    cas_close(r);
    cas_test_done(&t);
}

TEST(processes_write_at_the_same_time)
{
    struct cas_test t = cas_test_new();
    enum { WRITERS = 8, BLOBS = 300 };
    pid_t pid[WRITERS];
    cas_close(cas_test_open(&t, CAS_CREATE));
    for (int k = 0; k < WRITERS; k++) {
        pid[k] = fork();
        if (pid[k])
            continue;
        for (int i = 0; i < BLOBS; i++) {
            struct cas_id id;
            char text[20];
            struct cas *c = cas_test_open(&t, CAS_WRITE);
            /* Half of them are common to all. */
            int n = snprintf(text, sizeof(text), "%d %d", i % 2 ? k : -1, i);
            if (cas_put(c, str_of(text, (size_t)n), &id) < 0 || cas_flush(c) < 0)
                _exit(1);
            cas_close(c);
        }
        _exit(0);
    }
    for (int k = 0; k < WRITERS; k++) {
        int status = -1;
        waitpid(pid[k], &status, 0);
        CHECK_INT(status, 0);
    }
    struct cas *c = cas_test_open(&t, 0);
    struct cas_stat st;
    CHECK_INT(cas_stat(c, &st), 0);
    CHECK_INT(st.blobs, WRITERS * BLOBS / 2 + BLOBS / 2);
    CHECK(st.packs <= WRITERS);
    cas_close(c);
    cas_test_done(&t);
}

/* ---- sealing ---- */

TEST(full_packs_are_sealed)
{
    struct cas_test t = cas_test_new();
    enum { BLOBS = 80000 };
    struct cas_id id;
    struct cas_stat st;
    struct cas *c = cas_test_open(&t, CAS_WRITE | CAS_CREATE);
    for (int i = 0; i < BLOBS; i++) {
        char text[20];
        CHECK_INT(cas_put(c, str_of(text, (size_t)snprintf(text, sizeof(text), "blob %d", i)), &id), 0);
    }
    CHECK_INT(cas_sync(c), 0);
    CHECK_INT(cas_stat(c, &st), 0);
    CHECK_INT(st.blobs, BLOBS);
    CHECK_INT(st.packs, 3);
    cas_close(c);
    CHECK_INT(cas_test_files(&t, ".idx"), 3);
    CHECK_INT(cas_test_files(&t, ".log"), 0);
    c = cas_test_open(&t, CAS_WRITE);
    for (int i = 0; i < BLOBS; i++) {
        char text[20];
        struct str s = str_of(text, (size_t)snprintf(text, sizeof(text), "blob %d", i));
        CHECK_INT(cas_put(c, s, &id), 0);
        if (i % 97 == 0)
            CHECK(cas_test_holds(c, &id, s));
    }
    CHECK_INT(cas_stat(c, &st), 0);
    CHECK_INT(st.put_blobs, 0);
    CHECK_INT(st.blobs, BLOBS);
    cas_close(c);
    cas_test_done(&t);
}

/* ---- memory ---- */

TEST(each_allocation_fails)
{
    struct cas_test t = cas_test_new();
    enum { BLOBS = 12 };
    struct cas_id id[BLOBS];
    char *text = mem_zalloc(400000);
    size_t len[BLOBS];
    uint64_t seed = 99;
    for (size_t i = 0; i < 400000; i++)
        text[i] = (char)(test_rand(&seed) % 16);
    for (int i = 0; i < BLOBS; i++)
        len[i] = i % 4 == 3 ? 350000 + (size_t)i : 500 * (size_t)i;
    bool failed = true;
    for (uint64_t n = 1; failed && n < 500; n++) {
        failed = false;
        struct cas *c = cas_test_open(&t, CAS_WRITE | CAS_CREATE);
        mem_fail_after(n);
        for (int i = 0; i < BLOBS; i++) {
            int r;
            while ((r = cas_put(c, str_of(text, len[i]), &id[i])) == -ENOMEM)
                failed = true;
            CHECK_INT(r, 0);
            while ((r = cas_flush(c)) == -ENOMEM)
                failed = true;
            CHECK_INT(r, 0);
            BUF_AUTO struct buf out;
            buf_init(&out, LIMIT_CAS_BLOB);
            while ((r = cas_get(c, &id[i], &out)) == -ENOMEM) {
                failed = true;
                buf_clear(&out);
            }
            CHECK_INT(r, 0);
            CHECK_STR(buf_str(&out), str_of(text, len[i]));
        }
        failed |= cas_sync(c) == -ENOMEM;
        mem_fail_after(0);
        for (int i = 0; i < BLOBS; i++)
            CHECK(cas_test_holds(c, &id[i], str_of(text, len[i])));
        CHECK_INT(cas_test_fsck(c), 0);
        cas_close(c);
        /* Every other time on what is there: the logs are read then. */
        if (n % 2)
            cas_test_wipe(&t);
    }
    CHECK(!failed);
    mem_free(text);
    cas_test_done(&t);
}

/* What the store needs is its own; what cas_get() gives out is charged to who asks. */
TEST(memory_is_the_stores_own)
{
    struct cas_test t = cas_test_new();
    struct mem_account acc = {0};
    struct cas *c = cas_test_open(&t, CAS_WRITE | CAS_CREATE);
    struct cas_id id;
    mem_use(&acc);
    CHECK_INT(cas_put(c, STR("some text"), &id), 0);
    CHECK_INT(cas_flush(c), 0);
    CHECK_INT(acc.used, 0);
    struct buf out;
    buf_init(&out, 1000);
    CHECK_INT(cas_get(c, &id, &out), 0);
    CHECK(acc.used > 0 && acc.used < 1000);
    buf_done(&out);
    CHECK_INT(acc.used, 0);
    cas_close(c);
    CHECK_INT(acc.used, 0);
    mem_use(NULL);
    cas_test_done(&t);
}
