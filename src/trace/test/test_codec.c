/* SPDX-License-Identifier: Apache-2.0 */

/* The bodies of events: each comes back as it went, and nothing else decodes. */

#include <errno.h>

#include "base/test/test.h"
#include "trace/test/trace_test.h"
#include "trace/trace_int.h"

TEST(every_type_comes_back)
{
    uint64_t seed = test_seed();
    for (int round = 0; round < 200; round++) {
        for (unsigned type = 1; type < TRACE_TYPES; type++) {
            ARENA_AUTO struct arena a = {0};
            BUF_AUTO struct buf b;
            struct trace_event e = random_event(&seed, &a, type, 300), got;
            buf_init(&b, LIMIT_TRACE_EVENT);
            trace_encode(&b, &e);
            CHECK_INT(b.err, 0);
            CHECK_INT(trace_decode(e.type, 1, buf_str(&b), &got), 0);
            got.time = e.time;
            CHECK(same_event(&e, &got));
        }
    }
}

TEST(every_truncation_and_excess_is_refused)
{
    uint64_t seed = test_seed();
    for (int round = 0; round < 20; round++) {
        for (unsigned type = 1; type < TRACE_TYPES; type++) {
            ARENA_AUTO struct arena a = {0};
            BUF_AUTO struct buf b;
            struct trace_event e = random_event(&seed, &a, type, 40), got = {.seq = 77};
            buf_init(&b, LIMIT_TRACE_EVENT);
            trace_encode(&b, &e);
            for (size_t n = 0; n < b.n; n++)
                CHECK_INT(trace_decode(e.type, 1, str_of(b.p, n), &got), -EBADMSG);
            buf_putc(&b, (char)(round % 2));
            CHECK_INT(trace_decode(e.type, 1, buf_str(&b), &got), -EBADMSG);
            CHECK_INT(got.seq, 77);
        }
    }
}

TEST(one_value_has_one_form)
{
    struct trace_event got;
    const struct str bad[] = {
        STR("\x01\x80\x00"),                                     /* 0 in two bytes */
        STR("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),     /* beyond 64 bits */
        STR("\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), /* eleven bytes */
        STR("\x0a\x00"),                                         /* a reason there is not */
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(trace_decode(TRACE_LIMIT, 1, bad[i], &got), -EBADMSG);
    CHECK_INT(trace_decode(TRACE_LIMIT, 1, STR("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), &got), 0);
    CHECK(got.u.limit.value == UINT64_MAX);
    char clock[36] = {1}; /* an id of zeros, no data, size 0 */
    CHECK_INT(trace_decode(TRACE_CLOCK, 1, str_of(clock, 35), &got), -EBADMSG);
    clock[9] = 1;
    CHECK_INT(trace_decode(TRACE_CLOCK, 1, str_of(clock, 35), &got), 0);
    clock[0] = 2;
    CHECK_INT(trace_decode(TRACE_CLOCK, 1, str_of(clock, 35), &got), -EBADMSG);
}

TEST(types_and_versions_not_known_are_refused)
{
    struct trace_event got;
    CHECK_INT(trace_decode(TRACE_LIMIT, 1, STR("\1\1"), &got), 0);
    CHECK_INT(trace_decode(TRACE_LIMIT, 0, STR("\1\1"), &got), -EBADMSG);
    CHECK_INT(trace_decode(TRACE_LIMIT, 2, STR("\1\1"), &got), -EBADMSG);
    CHECK_INT(trace_decode((enum trace_type)0, 1, STR(""), &got), -EBADMSG);
    CHECK_INT(trace_decode(TRACE_TYPES, 1, STR(""), &got), -EBADMSG);
    CHECK_INT(trace_decode((enum trace_type)255, 1, STR(""), &got), -EBADMSG);
}

TEST(values_that_would_not_decode_do_not_encode)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    struct trace_event e = {.type = TRACE_LIMIT, .u.limit = {.reason = 99}};
    trace_encode(&b, &e);
    CHECK_INT(b.err, -EINVAL);
    buf_clear(&b);
    e.type = TRACE_TYPES;
    trace_encode(&b, &e);
    CHECK_INT(b.err, -EINVAL);
}

/* What a field that is added does: an older event has it zero, a newer one in full, an older program refuses. */
TEST(a_newer_field)
{
    struct trace_field f[3];
    uint32_t n = 0;
    memcpy(f, trace_fields(TRACE_LIMIT, &n, NULL), 2 * sizeof(f[0]));
    f[1].since = 2;
    struct trace_event e = {.type = TRACE_LIMIT, .u.limit = {REASON_CPU, 300}}, old = {0}, new = {0};
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    trace_put_fields(&b, &e, f, 1, NULL);
    CHECK_INT(trace_get_fields(buf_str(&b), 1, f, 2, &old), 0);
    CHECK_INT(old.u.limit.reason, REASON_CPU);
    CHECK_INT(old.u.limit.value, 0);
    CHECK_INT(trace_get_fields(buf_str(&b), 2, f, 2, &old), -EBADMSG);
    buf_clear(&b);
    trace_put_fields(&b, &e, f, 2, NULL);
    CHECK_INT(trace_get_fields(buf_str(&b), 2, f, 2, &new), 0);
    CHECK_INT(new.u.limit.value, 300);
    CHECK_INT(trace_get_fields(buf_str(&b), 1, f, 2, &new), -EBADMSG);
}

/* Every table is in order: versions rise, names are there for every value that is allowed. */
TEST(tables)
{
    for (unsigned type = 0; type < 300; type++) {
        uint32_t n = 0;
        unsigned version = 0;
        const struct trace_field *f = trace_fields(type, &n, &version);
        CHECK((f != NULL) == (type >= 1 && type < TRACE_TYPES));
        CHECK((trace_type_name(type)[0] != 0) == (f != NULL));
        for (uint32_t i = 0; i < n; i++) {
            CHECK(f[i].since >= 1 && f[i].since <= version && (i == 0 || f[i].since >= f[i - 1].since));
            CHECK(f[i].kind != TRACE_ID || f[i].size == CAS_HASH_SIZE);
            CHECK(f[i].kind != TRACE_STR || f[i].size == sizeof(struct str));
            CHECK(f[i].kind != TRACE_INT || f[i].size == 4 || f[i].size == 8);
            CHECK((f[i].names != NULL) == (f[i].show == TRACE_AS_NAME || f[i].show == TRACE_AS_FLAGS));
        }
    }
}

static int count_blob(void *arg, const struct cas_id *id, const char *what)
{
    struct buf *b = arg;
    buf_addf(b, "%s:%d ", what, id->b[0]);
    return what[0] == 'o';
}

TEST(blobs)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    struct trace_event e = {.type = TRACE_CREATED};
    e.u.created.state = (struct trace_state){{{1}}, {{2}}, {{3}}};
    CHECK_INT(trace_blobs(&e, count_blob, &b), 0);
    e.u.created.state.shell = (struct cas_id){0};
    CHECK_INT(trace_blobs(&e, count_blob, &b), 0);
    e = (struct trace_event){.type = TRACE_OUTPUT, .u.output = {.digest = {{4}}, .blob = {{5}}}};
    CHECK_INT(trace_blobs(&e, count_blob, &b), 1);
    CHECK_STR(buf_str(&b), STR("image:2 shell:3 image:2 output:5 "));
}

/* An ordinary command costs two events of at most 200 bytes beside its output. */
TEST(ordinary_events_are_small)
{
    struct trace_event e = {.type = TRACE_EXEC, .time = INT64_C(1767225600123456789)};
    e.u.exec = (struct trace_exec){.flags = TRACE_EXEC_FRESH,
                                   .text = STR("grep -rn pattern src | head"),
                                   .args = STR("bash"),
                                   .cwd = STR("/work/project"),
                                   .first_pid = 1234,
                                   .wall = INT64_C(1767225600123456789),
                                   .mono = INT64_C(86400123456789)};
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    struct cas_id zero = {0}, chain;
    struct trace_link at = {&zero, &zero, 1000};
    CHECK_INT(trace_event_put(&b, &e, &at, NULL, &chain), 0);
    printf("# EXEC: %zu bytes\n", b.n);
    CHECK(b.n <= 200);
    buf_clear(&b);
    e.type = TRACE_END;
    e.u.end = (struct trace_end){.cpu_us = 5000,
                                 .wall_us = 7000,
                                 .output_bytes = 500,
                                 .memory_peak = 3 << 20,
                                 .processes = 3,
                                 .files_bytes = 100000,
                                 .inodes = 2000,
                                 .next_pid = 1237,
                                 .changes = 5,
                                 .replayable = true,
                                 .state = {{{1}}, {{1}}, {{1}}}};
    CHECK_INT(trace_event_put(&b, &e, &at, NULL, &chain), 0);
    printf("# END: %zu bytes\n", b.n);
    CHECK(b.n <= 200);
}
