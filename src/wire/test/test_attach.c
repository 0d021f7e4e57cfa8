/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/attach.h"

#include <errno.h>

#include "base/test/test.h"

static int get(const char *text, struct arena *a, struct attach_request *q, struct api_problem *why)
{
    return attach_get_request(true, str_c(text), a, q, why);
}

TEST(what_a_client_says)
{
    ARENA_AUTO struct arena a = {0};
    struct attach_request q;
    struct api_problem why;
    CHECK_INT(get("{\"type\":\"stdin\",\"data\":\"aGk=\",\"encoding\":\"base64\",\"offset\":7}", &a, &q, &why), 0);
    CHECK(q.kind == ATTACH_STDIN && q.placed);
    CHECK_INT(q.offset, 7);
    CHECK_STR(q.data, STR("hi"));
    CHECK_INT(get("{\"type\":\"stdin\",\"data\":\"\"}", &a, &q, &why), 0);
    CHECK(!q.placed && q.data.n == 0);
    CHECK_INT(get("{\"type\":\"resize\",\"cols\":65535,\"rows\":1}", &a, &q, &why), 0);
    CHECK_INT(q.cols, 65535);
    CHECK_INT(get("{\"type\":\"signal\",\"signal\":\"INT\"}", &a, &q, &why), 0);
    CHECK_STR(q.signal, STR("INT"));
    CHECK_INT(get("{\"type\":\"stdin_close\"}", &a, &q, &why), 0);
    CHECK_INT(q.kind, ATTACH_STDIN_CLOSE);
    CHECK_INT(attach_get_request(false, str_of("\0", 1), &a, &q, &why), 0);
    CHECK_INT(q.data.n, 0);
    CHECK_INT(attach_get_request(false, str_of("\3\0\0\0\0\0\0\1\2xy", 11), &a, &q, &why), 0);
    CHECK_INT(q.offset, 258);
    CHECK_STR(q.data, STR("xy"));
}

TEST(what_is_none_of_it)
{
    static const struct {
        const char *text, *field;
    } bad[] = {
        {"{}", "type"},
        {"{\"type\":\"stdin\"}", "data"},
        {"{\"type\":\"stdin\",\"data\":\"x\",\"signal\":\"INT\"}", "type"},
        {"{\"type\":\"stdin\",\"data\":\"x\",\"encoding\":\"base64\"}", "data"},
        {"{\"type\":\"stdin\",\"data\":\"x\",\"encoding\":\"hex\"}", "data"},
        {"{\"type\":\"stdin\",\"data\":\"x\",\"offset\":-1}", "offset"},
        {"{\"type\":\"stdin_close\",\"offset\":1}", "type"},
        {"{\"type\":\"resize\",\"cols\":0,\"rows\":1}", "cols"},
        {"{\"type\":\"resize\",\"cols\":1}", "cols"},
        {"{\"type\":\"signal\"}", "signal"},
        {"{\"type\":\"exit\"}", "type"},
        {"{\"type\":\"stdin\",\"data\":\"x\",\"more\":1}", "more"},
    };
    ARENA_AUTO struct arena a = {0};
    struct attach_request q;
    struct api_problem why;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK_INT(get(bad[i].text, &a, &q, &why), -EINVAL);
        CHECK_C(why.field, bad[i].field);
    }
    CHECK_INT(get("[]", &a, &q, &why), -EBADMSG);
    CHECK_INT(get("{", &a, &q, &why), -EBADMSG);
    CHECK_INT(attach_get_request(false, STR(""), &a, &q, &why), -EBADMSG);
    CHECK_INT(attach_get_request(false, STR("\1abcdefghi"), &a, &q, &why), -EBADMSG);
    CHECK_INT(attach_get_request(false, STR("\3abcdefg"), &a, &q, &why), -EBADMSG);
}

TEST(what_a_server_says)
{
    ARENA_AUTO struct arena a = {0};
    BUF_AUTO struct buf b;
    struct attach_event e;
    struct api_problem why;
    buf_init(&b, 1000);
    attach_put_binary(&b, ATTACH_BIN_STDERR, UINT64_C(1) << 40, STR("out"));
    CHECK_INT(attach_get_event(false, buf_str(&b), &a, &e, &why), 0);
    CHECK_INT(e.stream, 2);
    CHECK_INT(e.offset, UINT64_C(1) << 40);
    CHECK_STR(e.data, STR("out"));
    buf_clear(&b);
    const struct attach_event out = {.kind = ATTACH_OUTPUT, .stream = 1, .offset = 5, .data = STR("\377")};
    attach_put_event(&b, &out);
    CHECK_STR(buf_str(&b), STR("{\"type\":\"output\",\"stream\":\"stdout\",\"offset\":5,\"data\":\"/w==\","
                               "\"data_encoding\":\"base64\"}"));
    CHECK_INT(attach_get_event(true, buf_str(&b), &a, &e, &why), 0);
    CHECK_STR(e.data, STR("\377"));
    CHECK_INT(attach_get_event(true, STR("{\"type\":\"exit\",\"exec\":{\"a\":1}}"), &a, &e, &why), 0);
    CHECK_STR(e.exec, STR("{\"a\":1}"));
    CHECK_INT(attach_get_event(true, STR("{\"type\":\"exit\"}"), &a, &e, &why), -EINVAL);
    CHECK_INT(attach_get_event(true, STR("{\"type\":\"resize\"}"), &a, &e, &why), -EINVAL);
    CHECK_INT(attach_get_event(true, STR("1"), &a, &e, &why), -EBADMSG);
    CHECK_INT(attach_get_event(false, STR("\0abcdefghi"), &a, &e, &why), -EBADMSG);
}
