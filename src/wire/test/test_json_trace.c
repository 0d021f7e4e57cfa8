/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>

#include "base/test/test.h"
#include "trace/schema.h"
#include "wire/json_trace.h"

#define ZEROS8 "0000000000000000"
#define ONE "sha256:01" ZEROS8 ZEROS8 ZEROS8 "00000000000000"

static void check_json(const struct trace_event *e, const char *want)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 65536);
    CHECK_INT(json_trace_event(&b, e), 0);
    CHECK_STR(buf_str(&b), str_c(want));
}

TEST(json_of_an_end)
{
    struct trace_event e = {.seq = 7, .time = INT64_C(1767225600000000042), .type = TRACE_END};
    e.u.end = (struct trace_end){.outcome = {OUTCOME_KILLED, 0, 9, false, REASON_MEMORY},
                                 .cpu_us = 5,
                                 .next_pid = -1,
                                 .why_not = STR("reads the network"),
                                 .state = {{{1}}, {{1}}, {{0}}}};
    check_json(&e, "{\"seq\":7,\"time\":\"2026-01-01T00:00:00.000000042Z\",\"type\":\"end\",\"status\":\"killed\","
                   "\"exit_code\":null,\"signal\":9,\"reason\":\"memory\",\"cpu_us\":5,\"wall_us\":0,"
                   "\"output_bytes\":0,\"memory_peak\":0,\"processes\":0,\"files_bytes\":0,\"inodes\":0,"
                   "\"next_pid\":-1,\"changes\":0,\"replayable\":false,\"why_not\":\"reads the network\","
                   "\"state\":{\"root\":\"" ONE "\",\"image\":\"" ONE "\",\"shell\":null}}");
}

TEST(json_of_an_exec)
{
    struct trace_event e = {.time = -1, .type = TRACE_EXEC};
    e.u.exec = (struct trace_exec){.kind = 2,
                                   .flags = TRACE_EXEC_FRESH | TRACE_EXEC_SHELL,
                                   .text = str_of("a\0b", 3),
                                   .args = str_of("x\0\0\xff\0", 5),
                                   .env = STR("K=V"),
                                   .cwd = STR("/\xfe"),
                                   .wall = INT64_MAX,
                                   .mono = INT64_MIN};
    check_json(&e,
               "{\"seq\":0,\"time\":\"1969-12-31T23:59:59.999999999Z\",\"type\":\"exec\",\"kind\":\"argv\",\"tty\":0,"
               "\"rows\":0,\"cols\":0,\"flags\":[\"fresh\",\"shell\"],\"text\":\"a\\u0000b\",\"script\":null,"
               "\"args\":[\"x\",\"\",{\"base64\":\"/w==\"}],\"env\":[\"K=V\"],\"cwd\":\"L/4=\",\"cwd_encoding\":"
               "\"base64\",\"key\":\"\",\"first_pid\":0,\"seed\":\"" ZEROS8 ZEROS8 ZEROS8 ZEROS8 "\","
               "\"wall\":\"2262-04-11T23:47:16.854775807Z\",\"mono\":-9223372036854775808,\"limits\":\"\"}");
}

TEST(json_of_numbers_and_names)
{
    struct trace_event e = {.type = TRACE_LIMIT, .u.limit = {REASON_CPU, UINT64_MAX}};
    check_json(&e, "{\"seq\":0,\"time\":\"1970-01-01T00:00:00.000000000Z\",\"type\":\"limit\",\"reason\":\"cpu\","
                   "\"value\":\"18446744073709551615\"}");
}

/* Every event of every type is one line of JSON, whatever its values, with each of its fields. */
TEST(json_of_every_type)
{
    uint64_t seed = test_seed();
    for (int round = 0; round < 100; round++) {
        for (unsigned type = 1; type < TRACE_TYPES; type++) {
            struct trace_event e = {.type = (enum trace_type)type, .time = (int64_t)test_rand(&seed)};
            char text[64];
            for (size_t i = 0; i < sizeof(text); i++)
                text[i] = (char)(round % 2 ? test_rand(&seed) : test_rand(&seed) % 128);
            uint32_t n = 0;
            const struct trace_field *f = trace_fields(type, &n, NULL);
            for (uint32_t i = 0; i < n; i++) {
                char *p = (char *)&e + f[i].offset;
                uint64_t v = test_rand(&seed);
                struct str s = str_of(text, test_rand(&seed) % sizeof(text));
                if (f[i].kind == TRACE_UINT)
                    v = f[i].most == UINT64_MAX ? v : v % (f[i].most + 1);
                if (f[i].kind == TRACE_STR)
                    memcpy(p, &s, sizeof(s));
                else if (f[i].kind == TRACE_UINT || f[i].kind == TRACE_INT)
                    memcpy(p, &v, f[i].size);
            }
            BUF_AUTO struct buf b;
            buf_init(&b, 65536);
            CHECK_INT(json_trace_event(&b, &e), 0);
            CHECK(strchr(b.p, '\n') == NULL);
            json_t *o = json_loads(b.p, JSON_ALLOW_NUL, NULL);
            CHECK(o != NULL);
            for (uint32_t i = 0; i < n; i++)
                CHECK(strchr(f[i].name, '.') != NULL || json_object_get(o, f[i].name) != NULL);
            json_decref(o);
        }
    }
}
