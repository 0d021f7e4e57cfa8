/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/test/test.h"
#include "wire/json.h"
#include "wire/wire.h"

static struct wire_exec sample_exec(struct str *argv, struct str *env)
{
    argv[0] = STR("bash");
    argv[1] = str_of("a\0b", 3);
    env[0] = STR("K=V");
    return (struct wire_exec){.kind = WIRE_EXEC_TEXT,
                              .text = STR("echo hi"),
                              .argv = {argv, 2},
                              .env = {env, 1},
                              .stdin_open = true,
                              .tty = 5,
                              .rows = 24,
                              .cols = 80,
                              .keep = true};
}

TEST(exec_round_trip)
{
    struct str argv[2], env[1];
    struct wire_exec m = sample_exec(argv, env), got;
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    wire_put_exec(&b, &m);
    ARENA_AUTO struct arena a = {0};
    CHECK_INT(wire_get_exec(buf_str(&b), &a, &got), 0);
    CHECK_STR(got.text, m.text);
    CHECK_INT(got.argv.n, 2);
    CHECK_STR(got.argv.v[1], argv[1]);
    CHECK_STR(got.env.v[0], STR("K=V"));
    CHECK_INT(got.tty, 5);
    CHECK_INT(got.rows, 24);
    CHECK_INT(got.cols, 80);
    CHECK(got.keep);
    CHECK(!got.want_root);
}

TEST(every_truncation_and_excess_is_refused)
{
    struct str argv[2], env[1];
    struct wire_exec m = sample_exec(argv, env), got;
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    wire_put_exec(&b, &m);
    for (size_t n = 0; n < b.n; n++) {
        ARENA_AUTO struct arena a = {0};
        CHECK_INT(wire_get_exec(str_of(b.p, n), &a, &got), -EBADMSG);
    }
    buf_putc(&b, 0);
    ARENA_AUTO struct arena a = {0};
    CHECK_INT(wire_get_exec(buf_str(&b), &a, &got), -EBADMSG);
}

TEST(counts_that_cannot_be_true_are_refused)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    buf_add(&b, "\0\0\0\0\0\xff\xff\xff\xff", 9); /* kind, empty text, 4 G arguments */
    ARENA_AUTO struct arena a = {0};
    struct wire_exec got;
    CHECK_INT(wire_get_exec(buf_str(&b), &a, &got), -EBADMSG);
}

TEST(enums_out_of_range_are_refused)
{
    struct wire_output o = {.stream = 3, .data = STR("x")}, got;
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    wire_put_output(&b, &o);
    CHECK_INT(wire_get_output(buf_str(&b), &got), -EBADMSG);
    b.p[0] = 0;
    CHECK_INT(wire_get_output(buf_str(&b), &got), -EBADMSG);
    b.p[0] = 1;
    CHECK_INT(wire_get_output(buf_str(&b), &got), 0);
}

TEST(result_round_trip)
{
    struct wire_result m = {.outcome = {OUTCOME_KILLED, 0, 9, false, REASON_MEMORY},
                            .cpu_us = 1,
                            .inodes = UINT64_MAX,
                            .error = -ENOENT,
                            .message = STR("m"),
                            .exited = true},
                       got;
    m.root[31] = 7;
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    wire_put_result(&b, &m);
    CHECK_INT(wire_get_result(buf_str(&b), &got), 0);
    CHECK_INT(got.outcome.kind, OUTCOME_KILLED);
    CHECK_INT(got.outcome.reason, REASON_MEMORY);
    CHECK_INT(got.error, -ENOENT);
    CHECK(got.inodes == UINT64_MAX);
    CHECK_INT(got.root[31], 7);
    CHECK(got.exited);
    CHECK_INT(got.stream, 0);
    m.stream = 2;
    m.output = STR("late");
    buf_clear(&b);
    wire_put_result(&b, &m);
    CHECK_INT(wire_get_result(buf_str(&b), &got), 0);
    CHECK_INT(got.stream, 2);
    CHECK(str_eqc(got.output, "late"));
    m.stream = 0; /* bytes of no stream */
    buf_clear(&b);
    wire_put_result(&b, &m);
    CHECK_INT(wire_get_result(buf_str(&b), &got), -EBADMSG);
}

TEST(pieces_of_a_module_lie_within_it)
{
    struct wire_compile got;
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    const struct wire_compile m = {.id = 7, .size = 10, .offset = 6, .data = STR("abcd")};
    wire_put_compile(&b, &m);
    CHECK_INT(wire_get_compile(buf_str(&b), &got), 0);
    CHECK(got.id == 7 && got.size == 10 && got.offset == 6);
    CHECK_STR(got.data, m.data);
    const struct wire_compile wrong[] = {{.size = 10, .offset = 7, .data = STR("abcd")},
                                         {.size = 10, .offset = 11},
                                         {.size = 10, .offset = UINT64_MAX, .data = STR("abcd")},
                                         {.size = LIMIT_WASM_FILE + 1}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        buf_clear(&b);
        wire_put_compile(&b, &wrong[i]);
        CHECK_INT(wire_get_compile(buf_str(&b), &got), -EBADMSG);
    }
}

TEST(a_compiled_module_or_an_error)
{
    struct wire_compiled got;
    BUF_AUTO struct buf b;
    buf_init(&b, 4096);
    const struct wire_compiled m = {.id = 7, .error = -ENOEXEC, .message = STR("why")};
    wire_put_compiled(&b, &m);
    CHECK_INT(wire_get_compiled(buf_str(&b), &got), 0);
    CHECK(got.id == 7 && got.error == -ENOEXEC);
    CHECK_STR(got.message, m.message);
    buf_clear(&b);
    const struct wire_compiled wrong = {.error = 1};
    wire_put_compiled(&b, &wrong);
    CHECK_INT(wire_get_compiled(buf_str(&b), &got), -EBADMSG);
}

TEST(json_of_an_exit)
{
    struct wire_result r = {.outcome = {.kind = OUTCOME_EXITED, .code = 3}};
    struct json_run run = {
        .has_output = true, .out = STR("h\xc3\xa9\n"), .errs = str_of("\xff\0", 2), .out_total = 4, .err_total = 9};
    BUF_AUTO struct buf b;
    buf_init(&b, 65536);
    CHECK_INT(json_result(&b, &r, &run), 0);
    CHECK(strstr(b.p, "\"status\":\"exited\",\"exit_code\":3,\"signal\":null,\"reason\":null,\"tier\":\"isolate\"") !=
          NULL);
    CHECK(strstr(b.p, "\"stdout\":\"h\xc3\xa9\\n\"") != NULL);
    CHECK(strstr(b.p, "\"stderr\":\"/wA=\",\"stderr_encoding\":\"base64\"") != NULL);
    CHECK(strstr(b.p, "\"truncated\":true") != NULL);
    CHECK(strchr(b.p, '\n') == NULL);
}

TEST(json_of_a_kill_and_of_a_failure)
{
    struct wire_result r = {.outcome = {.kind = OUTCOME_KILLED, .signal = 9, .reason = REASON_TIMEOUT}};
    BUF_AUTO struct buf b;
    buf_init(&b, 65536);
    CHECK_INT(json_result(&b, &r, NULL), 0);
    CHECK(strstr(b.p, "\"status\":\"killed\",\"exit_code\":null,\"signal\":9,\"reason\":\"timeout\"") != NULL);
    buf_clear(&b);
    r = (struct wire_result){.error = -ENOENT, .message = STR("no such user")};
    CHECK_INT(json_result(&b, &r, NULL), 0);
    CHECK(strstr(b.p, "\"status\":\"error\"") != NULL);
    CHECK(strstr(b.p, "\"error\":{\"code\":\"not_found\",\"errno\":\"ENOENT\",\"message\":\"no such user\"}") != NULL);
}
