/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"

/* ---- mem ---- */

TEST(mem_account_counts_what_is_live)
{
    struct mem_account acc = {0};
    CHECK(mem_use(&acc) == NULL);
    CHECK(mem_current() == &acc);
    char *p = mem_alloc(100);
    CHECK(acc.used >= 100);
    uint64_t one = acc.used;
    p = mem_realloc(p, 1000);
    CHECK(acc.used >= 1000 && acc.peak >= 1000);
    p = mem_realloc(p, 100);
    CHECK(acc.used <= one + 64);
    char *q = mem_dup("abc", 3);
    CHECK_C(q, "abc");
    int *z = mem_zalloc(40);
    CHECK(z[0] == 0 && z[9] == 0);
    mem_free(z);
    mem_free(q);
    mem_free(p);
    mem_free(NULL);
    CHECK_INT(acc.used, 0);
    CHECK(!acc.hit);
    CHECK(mem_use(NULL) == &acc);
}

TEST(mem_try_stops_at_the_limit)
{
    struct mem_account acc = {.limit = 10000};
    mem_use(&acc);
    void *p = mem_try(8000);
    CHECK(p != NULL && !acc.hit);
    CHECK(mem_try(8000) == NULL);
    CHECK(acc.hit);
    acc.hit = false;
    CHECK(mem_try_zalloc(8000) == NULL && acc.hit);
    acc.hit = false;
    CHECK(mem_try_realloc(p, 20000) == NULL && acc.hit);
    acc.hit = false;
    p = mem_try_realloc(p, 9000);
    CHECK(p != NULL && !acc.hit);
    CHECK(mem_try(SIZE_MAX / 2) == NULL);
    CHECK(acc.hit);
    mem_free(p);
    CHECK_INT(acc.used, 0);
    mem_use(NULL);
}

TEST(mem_alloc_goes_on_and_marks)
{
    struct mem_account acc = {.limit = 1000};
    mem_use(&acc);
    void *p = mem_alloc(4000);
    CHECK(acc.hit && acc.used >= 4000);
    mem_free(p);
    CHECK_INT(acc.used, 0);
    CHECK(acc.hit); /* its owner clears it */
    acc.hit = false;
    p = mem_alloc(900);
    void *q = mem_alloc(200);
    CHECK(acc.hit);
    acc.hit = false;
    mem_free(q);
    q = mem_alloc(200); /* below the peak, above the limit */
    CHECK(acc.hit);
    mem_free(p);
    mem_free(q);
    mem_use(NULL);
}

TEST(mem_freed_elsewhere_saturates)
{
    struct mem_account acc = {0};
    void *p = mem_alloc(100);
    mem_use(&acc);
    mem_free(p);
    CHECK_INT(acc.used, 0);
    mem_use(NULL);
}

TEST(mem_huge_requests_fail_cleanly)
{
    /* Beyond PTRDIFF_MAX no host gives memory; a sanitizer would end the process instead of returning NULL. */
#ifndef FRONTAL_SANITIZE
    volatile size_t huge = SIZE_MAX - 4096;
    CHECK(mem_try(huge) == NULL);
    CHECK(mem_try_zalloc(huge) == NULL);
    char *p = mem_dup("x", 1);
    CHECK(mem_try_realloc(p, huge) == NULL);
    CHECK_C(p, "x");
    mem_free(p);
#endif
}

TEST(mem_fail_after_hits_the_nth)
{
    mem_fail_after(2);
    void *a = mem_try(1), *b = mem_try(1), *c = mem_try(1);
    CHECK(a && !b && c);
    mem_fail_after(1);
    CHECK(mem_try_realloc(a, 100) == NULL);
    mem_fail_after(0);
    mem_free(a);
    mem_free(c);
}

/* ---- str ---- */

TEST(str_compares)
{
    CHECK(str_eq(STR(""), str_of(NULL, 0)));
    CHECK(str_eq(STR("a\0b"), STR("a\0b")));
    CHECK(!str_eq(STR("a\0b"), STR("a\0c")));
    CHECK(str_eqc(STR("abc"), "abc"));
    CHECK(str_cmp(STR("a"), STR("ab")) < 0);
    CHECK(str_cmp(STR("b"), STR("ab")) > 0);
    CHECK(str_cmp(STR("\x7f"), STR("\x80")) < 0); /* unsigned */
    CHECK_INT(str_cmp(STR("same"), STR("same")), 0);
    CHECK_INT(str_cmp(str_of(NULL, 0), STR("")), 0);
    CHECK(str_starts(STR("abc"), STR("ab")) && str_starts(STR("abc"), STR("")));
    CHECK(!str_starts(STR("a"), STR("ab")));
    CHECK(str_ends(STR("abc"), STR("bc")) && !str_ends(STR("c"), STR("bc")));
}

TEST(str_finds)
{
    CHECK_INT(str_find(STR("a/b/c"), '/', 0), 1);
    CHECK_INT(str_find(STR("a/b/c"), '/', 2), 3);
    CHECK_INT(str_find(STR("a/b/c"), '/', 4), -1);
    CHECK_INT(str_find(STR("abc"), 'a', 99), -1);
    CHECK_INT(str_find(str_of(NULL, 0), 'a', 0), -1);
    CHECK_STR(str_from(STR("abc"), 1), STR("bc"));
    CHECK_STR(str_from(STR("abc"), 9), STR(""));
    CHECK_STR(str_from(str_of(NULL, 0), 1), STR(""));
}

TEST(str_hash_spreads)
{
    /* Every length has its own path through the tail; a changed byte or seed must change the hash. */
    char text[64] = {0};
    for (size_t n = 1; n < sizeof(text); n++) {
        uint64_t h = str_hash(str_of(text, n), 1);
        CHECK(h != str_hash(str_of(text, n - 1), 1));
        CHECK(h != str_hash(str_of(text, n), 2));
        for (size_t i = 0; i < n; i++) {
            text[i] = 1;
            CHECK(h != str_hash(str_of(text, n), 1));
            text[i] = 0;
        }
    }
    /* Low bits are what the map uses: 64 Ki numbers in 64 Ki buckets hit about 63 % of them. */
    static uint8_t seen[65536];
    unsigned hit = 0;
    for (unsigned i = 0; i < 65536; i++) {
        char name[16];
        int n = snprintf(name, sizeof(name), "file%u", i);
        uint8_t *s = &seen[str_hash(str_of(name, (size_t)n), 7) & 65535];
        hit += !*s;
        *s = 1;
    }
    CHECK(hit > 40500 && hit < 42500);
}

TEST(str_parses_numbers)
{
    static const struct {
        const char *text;
        int ru;
        uint64_t u;
        int ri;
        int64_t i;
    } t[] = {
        {"", -EINVAL, 0, -EINVAL, 0},
        {"0", 0, 0, 0, 0},
        {"007", 0, 7, 0, 7},
        {"18446744073709551615", 0, UINT64_MAX, -ERANGE, 0},
        {"18446744073709551616", -ERANGE, 0, -ERANGE, 0},
        {"99999999999999999999999", -ERANGE, 0, -ERANGE, 0},
        {"99999999999999999999999x", -EINVAL, 0, -EINVAL, 0},
        {"9223372036854775807", 0, INT64_MAX, 0, INT64_MAX},
        {"9223372036854775808", 0, UINT64_C(1) << 63, -ERANGE, 0},
        {"-9223372036854775808", -EINVAL, 0, 0, INT64_MIN},
        {"-9223372036854775809", -EINVAL, 0, -ERANGE, 0},
        {"-1", -EINVAL, 0, 0, -1},
        {"+1", -EINVAL, 0, 0, 1},
        {"-", -EINVAL, 0, -EINVAL, 0},
        {"+-1", -EINVAL, 0, -EINVAL, 0},
        {" 1", -EINVAL, 0, -EINVAL, 0},
        {"1 ", -EINVAL, 0, -EINVAL, 0},
        {"0x1", -EINVAL, 0, -EINVAL, 0},
    };
    for (size_t k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
        uint64_t u = 42;
        int64_t i = 42;
        CHECK_INT(str_u64(str_c(t[k].text), &u), t[k].ru);
        CHECK_INT(u, t[k].ru ? 42 : t[k].u);
        CHECK_INT(str_i64(str_c(t[k].text), &i), t[k].ri);
        CHECK_INT(i, t[k].ri ? 42 : t[k].i);
    }
}

/* ---- buf ---- */

TEST(buf_grows_to_its_limit)
{
    struct buf b;
    buf_init(&b, 1000);
    CHECK_C(b.p, "");
    for (int i = 0; i < 1000; i++)
        CHECK_INT(buf_putc(&b, 'x'), 0);
    CHECK_INT(b.n, 1000);
    CHECK(b.cap <= 1001);
    CHECK_INT(b.p[1000], 0);
    CHECK_INT(buf_putc(&b, 'y'), -EFBIG);
    CHECK_INT(buf_addc(&b, ""), -EFBIG); /* sticks */
    CHECK_INT(b.n, 1000);
    buf_clear(&b);
    CHECK_INT(buf_addc(&b, "again"), 0);
    CHECK_STR(buf_str(&b), STR("again"));
    buf_done(&b);
    CHECK_INT(b.cap, 0);
    CHECK_INT(buf_addc(&b, "reused"), 0);
    buf_done(&b);
}

TEST(buf_zeroed_is_safe)
{
    struct buf b = {0};
    buf_done(&b);
    b = (struct buf){0};
    CHECK_INT(buf_add(&b, "a", 1), -EFBIG);
    buf_done(&b);
    buf_init(&b, SIZE_MAX);
    CHECK_INT(buf_addc(&b, "abc"), 0);
    CHECK_INT(buf_reserve(&b, SIZE_MAX), -EFBIG);
    CHECK_STR(buf_str(&b), STR("abc"));
    buf_done(&b);
}

TEST(buf_formats)
{
    struct buf b;
    buf_init(&b, 300);
    CHECK_INT(buf_addf(&b, "%s-%d", "a", 5), 0);
    CHECK_INT(buf_addf(&b, "%s", ""), 0);
    CHECK_INT(buf_addf(&b, "%070d", 1), 0); /* over the first allocation */
    CHECK_INT(b.n, 73);
    buf_clear(&b);
    CHECK_INT(buf_addi(&b, INT64_MIN), 0);
    CHECK_INT(buf_putc(&b, ' '), 0);
    CHECK_INT(buf_addi(&b, 0), 0);
    CHECK_INT(buf_putc(&b, ' '), 0);
    CHECK_INT(buf_addi(&b, INT64_MAX), 0);
    CHECK_STR(buf_str(&b), STR("-9223372036854775808 0 9223372036854775807"));
    CHECK_INT(buf_addf(&b, "%0300d", 1), -EFBIG);
    CHECK_STR(buf_str(&b), STR("-9223372036854775808 0 9223372036854775807"));
    CHECK_INT(b.p[b.n], 0);
    buf_done(&b);
}

TEST(buf_edits)
{
    struct buf b;
    buf_init(&b, 100);
    CHECK_INT(buf_insert(&b, 0, "ace", 3), 0);
    CHECK_INT(buf_insert(&b, 1, "b", 1), 0);
    CHECK_INT(buf_insert(&b, 3, "d", 1), 0);
    CHECK_INT(buf_insert(&b, 5, "f", 1), 0);
    CHECK_C(b.p, "abcdef");
    buf_trunc(&b, 2);
    CHECK_C(b.p, "ab");
    char *s = buf_take(&b);
    CHECK_C(s, "ab");
    mem_free(s);
    CHECK_INT(b.n, 0);
    s = buf_take(&b);
    CHECK_C(s, "");
    mem_free(s);
    buf_trunc(&b, 0);
    buf_done(&b);
}

TEST(buf_without_memory_stays_whole)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    CHECK_INT(buf_addc(&b, "kept"), 0);
    mem_fail_after(1);
    CHECK_INT(buf_addf(&b, "%01000d", 1), -ENOMEM);
    CHECK_STR(buf_str(&b), STR("kept"));
    CHECK_C(b.p, "kept");
    CHECK_INT(b.err, -ENOMEM);
    buf_done(&b);
}

/* ---- arena ---- */

TEST(arena_gives_aligned_memory)
{
    ARENA_AUTO struct arena a = {0};
    for (size_t n = 0; n < 3000; n += 37) {
        char *p = arena_alloc(&a, n);
        CHECK_INT((uintptr_t)p & 15, 0);
        memset(p, 0xaa, n);
        char *z = arena_zalloc(&a, n);
        for (size_t i = 0; i < n; i++) {
            if (z[i])
                CHECK_INT(z[i], 0);
        }
    }
    CHECK_C(arena_dup(&a, "abc", 3), "abc");
    CHECK_C(arena_dup(&a, NULL, 0), "");
    CHECK_STR(arena_str(&a, STR("x\0y")), STR("x\0y"));
    for (int i = 0; i < 200; i++)
        CHECK_INT(strlen(arena_printf(&a, "%0*d", 30, i)), 30);
    CHECK_INT(strlen(arena_printf(&a, "%0100000d", 1)), 100000);
    int *one = ARENA_NEW(&a, int);
    CHECK_INT(*one, 0);
}

TEST(arena_reset_gives_back)
{
    struct mem_account acc = {0};
    mem_use(&acc);
    struct arena a;
    arena_init(&a);
    struct arena_mark empty = arena_mark(&a);
    char *first = arena_dup(&a, "first", 5);
    struct arena_mark m = arena_mark(&a);
    for (int turn = 0; turn < 100; turn++) {
        for (int i = 0; i < 100; i++)
            memset(arena_alloc(&a, 3000), turn, 3000);
        memset(arena_alloc(&a, 200000), turn, 200000);
        arena_reset(&a, m);
        CHECK_C(first, "first");
    }
    CHECK(acc.used < 150000); /* the first chunk and at most one spare */
    arena_reset(&a, empty);
    for (int turn = 0; turn < 100; turn++) {
        arena_alloc(&a, 5000);
        arena_reset(&a, empty);
    }
    CHECK(acc.used < 150000);
    arena_done(&a);
    CHECK_INT(acc.used, 0);
    mem_use(NULL);
}

TEST(arena_try_obeys_the_account)
{
    struct mem_account acc = {.limit = 100000};
    mem_use(&acc);
    struct arena a;
    arena_init(&a);
    CHECK(arena_try(&a, 100) != NULL);
    CHECK(arena_try(&a, 1000000) == NULL);
    CHECK(acc.hit);
    CHECK(arena_try(&a, SIZE_MAX) == NULL);
    CHECK(arena_try(&a, SIZE_MAX - 20) == NULL);
    CHECK(arena_try(&a, 16) != NULL);
    arena_done(&a);
    CHECK_INT(acc.used, 0);
    mem_use(NULL);
}

/* ---- map ---- */

TEST(map_holds_what_was_set)
{
    struct map m = {0};
    char key[16];
    static int vals[5000];
    CHECK(map_get(&m, STR("absent")) == NULL);
    CHECK(map_del(&m, STR("absent")) == NULL);
    for (int i = 0; i < 5000; i++) {
        int n = snprintf(key, sizeof(key), "key%d", i);
        CHECK(map_set(&m, str_of(key, (size_t)n), &vals[i]) == NULL);
    }
    CHECK_INT(map_count(&m), 5000);
    for (int i = 0; i < 5000; i++) {
        int n = snprintf(key, sizeof(key), "key%d", i);
        CHECK(map_get(&m, str_of(key, (size_t)n)) == &vals[i]);
    }
    struct map_iter it = {0};
    int n = 0;
    while (map_next(&m, &it))
        CHECK(it.val == &vals[n++]); /* insertion order */
    CHECK_INT(n, 5000);
    CHECK(map_set(&m, STR("key7"), &vals[0]) == &vals[7]);
    CHECK_INT(map_count(&m), 5000);
    map_done(&m);
    CHECK_INT(map_count(&m), 0);
}

TEST(map_keys_are_bytes)
{
    struct map m = {0};
    int a, b, c;
    map_set(&m, STR(""), &a);
    map_set(&m, STR("\0"), &b);
    map_set(&m, STR("\0\0"), &c);
    CHECK(map_get(&m, STR("")) == &a && map_get(&m, STR("\0")) == &b && map_get(&m, STR("\0\0")) == &c);
    CHECK(map_get(&m, str_of(NULL, 0)) == &a);
    map_done(&m);
}

TEST(map_deletes_while_iterating)
{
    struct map m = {0};
    char key[16];
    static int vals[100];
    for (int i = 0; i < 100; i++)
        map_set(&m, str_of(key, (size_t)snprintf(key, sizeof(key), "%d", i)), &vals[i]);
    struct map_iter it = {0};
    int seen = 0;
    while (map_next(&m, &it)) {
        seen++;
        if (((const int *)it.val - vals) % 2)
            CHECK(map_del(&m, it.key) != NULL);
    }
    CHECK_INT(seen, 100);
    CHECK_INT(map_count(&m), 50);
    map_done(&m);
}

/* A random run against an array: the model is too simple to be wrong. */
TEST(map_random_against_array)
{
    uint64_t state = test_seed();
    static int on[200];
    int live = 0;
    struct map m = {0};
    for (uint64_t k = test_env("FRONTAL_MAP_OPS", 100000); k; k--) {
        char text[16];
        size_t i = test_rand(&state) % 200;
        struct str key = str_of(text, (size_t)snprintf(text, sizeof(text), "k%zu", i));
        switch (test_rand(&state) % 3) {
        case 0:
            CHECK((map_set(&m, key, &on[i]) != NULL) == on[i]);
            live += !on[i];
            on[i] = 1;
            break;
        case 1:
            CHECK((map_del(&m, key) != NULL) == on[i]);
            live -= on[i];
            on[i] = 0;
            break;
        default:
            CHECK(map_get(&m, key) == (on[i] ? &on[i] : NULL));
        }
        CHECK_INT(map_count(&m), live);
    }
    CHECK(m.cap <= 1024); /* holes are reused, not piled up */
    map_done(&m);
}

TEST(map_seed_is_obeyed)
{
    struct map a = {0}, b = {0};
    int v;
    map_seed(5);
    map_set(&a, STR("x"), &v);
    map_set(&b, STR("x"), &v);
    CHECK_INT(a.entries[0].hash, b.entries[0].hash);
    map_done(&a);
    map_done(&b);
    map_seed(6);
    map_set(&b, STR("x"), &v);
    CHECK(map_get(&b, STR("x")) == &v);
    map_done(&b);
}

/* ---- err, num, cursor ---- */

TEST(err_sets_and_wraps)
{
    struct err e = {0};
    CHECK_INT(err_set(NULL, -EINVAL, "x"), -EINVAL);
    CHECK_INT(err_wrap(NULL, -EINVAL, "x"), -EINVAL);
    CHECK_INT(err_set(&e, -ENOENT, "no %s", "file"), -ENOENT);
    CHECK_C(e.text, "no file");
    CHECK_INT(err_wrap(&e, -EIO, "read %d", 3), -EIO);
    CHECK_C(e.text, "read 3: no file");
    CHECK_INT(e.code, -EIO);
    char wide[400];
    memset(wide, 'w', sizeof(wide));
    wide[399] = 0;
    err_set(&e, -EIO, "%s", wide);
    err_wrap(&e, -EIO, "%s", "front");
    CHECK_INT(strlen(e.text), 255);
    CHECK(str_starts(str_c(e.text), STR("front: w")));
    err_wrap(&e, -EIO, "%s", wide);
    CHECK_INT(strlen(e.text), 255);
}

TEST(num_refuses_overflow)
{
    size_t s = 7;
    uint64_t u = 7;
    CHECK(!num_add(SIZE_MAX, 1, &s) && !num_mul(SIZE_MAX / 2, 3, &s));
    CHECK(!num_add64(UINT64_MAX, 1, &u) && !num_mul64(UINT64_C(1) << 40, UINT64_C(1) << 40, &u));
    CHECK(num_add(1, 2, &s) && s == 3 && num_mul(3, 4, &s) && s == 12);
    CHECK(num_add64(1, 2, &u) && u == 3 && num_mul64(3, 4, &u) && u == 12);
    CHECK_INT(NUM_MIN(1, 2) * 10 + NUM_MAX(1, 2), 12);
}

TEST(cursor_reads_little_endian)
{
    static const uint8_t in[] = {7, 1, 2, 3, 4, 1, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0, 0, 'h', 'i'};
    struct cursor c = cursor_of(in, sizeof(in));
    CHECK_INT(cursor_u8(&c), 7);
    CHECK_INT(cursor_u32(&c), 0x04030201);
    CHECK(cursor_u64(&c) == UINT64_C(0x8000000000000001));
    CHECK(!cursor_ok(&c)); /* something is left */
    CHECK_STR(cursor_str(&c), STR("hi"));
    CHECK(cursor_ok(&c));
    CHECK_INT(cursor_u8(&c), 0);
    CHECK(!cursor_ok(&c));
}

TEST(cursor_never_passes_the_end)
{
    static const uint8_t in[] = {0xff, 0xff, 0xff, 0xff, 'x'};
    struct cursor c = cursor_of(in, sizeof(in));
    CHECK_STR(cursor_str(&c), STR(""));
    CHECK(c.bad);
    CHECK_INT(cursor_u8(&c), 0); /* bad sticks, though a byte is there */
    for (size_t n = 0; n < 4; n++) {
        c = cursor_of(in, n);
        CHECK_INT(cursor_u32(&c), 0);
        CHECK(c.bad);
    }
    c = cursor_of(NULL, 0);
    CHECK(cursor_ok(&c));
    CHECK_INT(cursor_u64(&c), 0);
    CHECK(!cursor_ok(&c));
}

/* ---- fd, clock, log, assert ---- */

TEST(fd_closes_and_steals)
{
    int p[2];
    CHECK_INT(pipe2(p, O_CLOEXEC), 0);
    errno = 99;
    int fd = fd_steal(&p[0]);
    CHECK_INT(p[0], -1);
    fd_close(&p[0]);
    fd_close(&fd);
    CHECK_INT(fd, -1);
    CHECK_INT(errno, 99);
    signal(SIGPIPE, SIG_IGN);
    CHECK_INT(fd_write_all(p[1], STR("x")), -EPIPE);
    fd_close(&p[1]);
    CHECK_INT(fd_write_all(-1, STR("x")), -EBADF);
}

TEST(fd_read_all_reads_to_the_end_or_its_limit)
{
    int p[2];
    BUF_AUTO struct buf b;
    buf_init(&b, 5);
    CHECK_INT(pipe(p), 0);
    CHECK_INT(fd_write_all(p[1], STR("12345")), 0);
    close(p[1]);
    CHECK_INT(fd_read_all(p[0], &b), 0);
    CHECK_STR(buf_str(&b), STR("12345"));
    CHECK_INT(fd_read_all(p[0], &b), 0); /* the end once more */
    close(p[0]);
    CHECK_INT(pipe(p), 0);
    CHECK_INT(fd_write_all(p[1], STR("6")), 0);
    CHECK_INT(fd_read_all(p[0], &b), -EFBIG);
    CHECK_INT(fd_read_all(-1, &b), -EBADF);
    close(p[0]);
    close(p[1]);
}

TEST(fd_write_all_waits_for_a_slow_reader)
{
    enum { TOTAL = 1 << 20 };
    int p[2], status;
    CHECK_INT(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
    pid_t pid = fork();
    if (pid == 0) {
        static char part[4096];
        size_t got = 0;
        close(p[1]);
        fcntl(p[0], F_SETFL, 0);
        for (ssize_t n; (n = read(p[0], part, sizeof(part))) > 0;)
            got += (size_t)n;
        _exit(got == TOTAL ? 0 : 1);
    }
    fd_close(&p[0]);
    char *big = mem_zalloc(TOTAL);
    CHECK_INT(fd_write_all(p[1], str_of(big, TOTAL)), 0);
    mem_free(big);
    fd_close(&p[1]);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(status, 0);
}

TEST(clock_goes_forward)
{
    CHECK(clock_wall() > INT64_C(1600000000) * CLOCK_S);
    int64_t a = clock_mono(), c = clock_cpu();
    for (volatile int i = 0; i < 100000; i++)
        ;
    CHECK(clock_mono() > a);
    CHECK(clock_cpu() > c);
}

/* What @fn writes to standard error, into @out. */
static void catch_stderr(void (*fn)(void), char *out, size_t n)
{
    int p[2], keep = dup(2);
    CHECK_INT(pipe2(p, O_CLOEXEC), 0);
    dup2(p[1], 2);
    fn();
    dup2(keep, 2);
    close(keep);
    fd_close(&p[1]);
    ssize_t got = read(p[0], out, n - 1);
    out[got > 0 ? got : 0] = 0;
    fd_close(&p[0]);
}

static void log_two(void)
{
    char q[32];
    log_event(LOG_INFO, "hidden", "a=1");
    log_event(LOG_WARN, "shown", "name=%s n=%d", log_quote(q, sizeof(q), STR("a\n\"b")), 3);
}

static void log_long(void)
{
    char wide[3000];
    memset(wide, 'w', sizeof(wide));
    wide[2999] = 0;
    log_set_level(LOG_DEBUG);
    log_event(LOG_DEBUG, "long", "t=%s", wide);
}

TEST(log_is_one_line)
{
    char out[4096];
    catch_stderr(log_two, out, sizeof(out));
    CHECK(strstr(out, "Z level=warn event=shown name=\"a\\x0a\\\"b\" n=3\n") != NULL);
    CHECK(strstr(out, "hidden") == NULL);
    catch_stderr(log_long, out, sizeof(out));
    CHECK(strlen(out) < 1100);
    CHECK(str_ends(str_c(out), STR("w\n")));
}

TEST(log_quote_fits)
{
    char q[64];
    for (size_t n = 0; n < sizeof(q); n++) {
        memset(q, '#', sizeof(q));
        log_quote(q, n, STR("\"\x01\xff plain text that is longer than the room"));
        if (n < sizeof(q))
            CHECK_INT(q[n], '#');
        if (n)
            CHECK(memchr(q, 0, n) != NULL);
    }
}

TEST(assert_ends_the_process)
{
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        close(2);
        ASSERT(1 + 1 == 3);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
