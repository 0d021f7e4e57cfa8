/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_read.h"

#include <errno.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/test/test.h"

TEST(json_read_gives_what_is_there_and_passes_over_the_rest)
{
    ARENA_AUTO struct arena a = {0};
    BUF_AUTO struct buf line;
    struct json_tree *t = NULL;
    buf_init(&line, 4096);
    CHECK_INT(json_tree_new(STR("{\"e\":{\"code\":\"x\",\"n\":5,\"neg\":-1,\"ok\":true,\"no\":null},"
                                "\"l\":[1,{\"k\":2}],\"data\":\"AP8=\",\"data_encoding\":\"base64\","
                                "\"text\":\"é\",\"new\":[[]]}"),
                            &t),
              0);
    CHECK_STR(json_tree_text(t, "e.code"), STR("x"));
    CHECK(json_tree_text(t, "e.n").p == NULL);
    CHECK(json_tree_text(t, "e.code.deeper").p == NULL);
    CHECK_INT(json_tree_number(t, "e.n", 9), 5);
    CHECK_INT(json_tree_number(t, "e.neg", 9), 9);
    CHECK_INT(json_tree_number(t, "nothing", 9), 9);
    CHECK(json_tree_flag(t, "e.ok") && !json_tree_flag(t, "e.code"));
    CHECK(json_tree_has(t, "e.ok") && !json_tree_has(t, "e.no") && !json_tree_has(t, "e.none"));
    CHECK_INT(json_tree_count(t, "l"), 2);
    CHECK_INT(json_tree_count(t, "e"), 0);
    CHECK_INT(json_tree_number(json_tree_element(t, "l", 1), "k", 0), 2);
    CHECK(json_tree_element(t, "l", 2) == NULL);
    CHECK_STR(json_tree_bytes(t, "data", &a), str_of("\0\xff", 2));
    CHECK_STR(json_tree_bytes(t, "text", &a), STR("é"));
    CHECK_INT(json_tree_line(json_tree_at(t, "e"), &line), 0);
    CHECK_STR(buf_str(&line), STR("{\"code\":\"x\",\"n\":5,\"neg\":-1,\"ok\":true,\"no\":null}\n"));
    json_tree_free(t);
}

TEST(json_read_refuses_what_is_no_json)
{
    ARENA_AUTO struct arena a = {0};
    struct json_tree *t = NULL;
    CHECK_INT(json_tree_new(STR("{\"a\":"), &t), -EINVAL);
    CHECK_INT(json_tree_new(STR(""), &t), -EINVAL);
    CHECK_INT(json_tree_new(STR("{} x"), &t), -EINVAL);
    CHECK(t == NULL);
    CHECK_INT(json_tree_new(STR("{\"b\":\"?\",\"b_encoding\":\"base64\"}"), &t), 0);
    CHECK(json_tree_bytes(t, "b", &a).p == NULL);
    json_tree_free(t);
    json_tree_free(NULL);
}
