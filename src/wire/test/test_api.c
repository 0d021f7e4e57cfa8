/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/test/test.h"
#include "wire/api.h"
#include "wire/json_write.h"

struct body {
    struct str text, value;
    uint64_t number;
    bool flag;
    struct wire_list texts, pairs;
};

static const struct api_field fields[] = {
    {"text", API_TEXT, offsetof(struct body, text)},    {"number", API_NUMBER, offsetof(struct body, number)},
    {"flag", API_FLAG, offsetof(struct body, flag)},    {"texts", API_TEXTS, offsetof(struct body, texts)},
    {"pairs", API_PAIRS, offsetof(struct body, pairs)}, {"value", API_VALUE, offsetof(struct body, value)},
};

static int decode(const char *json, struct arena *a, struct body *ret, struct api_problem *why)
{
    return api_decode(str_c(json), fields, sizeof(fields) / sizeof(fields[0]), a, ret, why);
}

TEST(api_takes_what_the_table_has)
{
    ARENA_AUTO struct arena a = {0};
    struct body b = {.number = 7};
    struct api_problem why = {"", ""};
    CHECK_INT(decode("{\"text\":\"a\\u0000b\",\"flag\":true,\"texts\":[\"x\",\"\"],\"pairs\":{\"K\":\"v=w\"},"
                     "\"value\":{\"n\":[1, 2]}}",
                     &a, &b, &why),
              0);
    CHECK_STR(b.text, str_of("a\0b", 3));
    CHECK_INT(b.number, 7);
    CHECK(b.flag);
    CHECK_INT(b.texts.n, 2);
    CHECK_STR(b.pairs.v[0], STR("K=v=w"));
    CHECK_STR(b.value, STR("{\"n\":[1,2]}"));
    CHECK_INT(decode("", &a, &b, &why), 0);
    CHECK_INT(decode("{\"text\":\"\"}", &a, &b, &why), 0);
    CHECK(b.text.p && b.text.n == 0);
}

TEST(api_names_what_is_wrong)
{
    static const struct {
        const char *json, *field;
    } bad[] = {{"{\"text\":1}", "text"},          {"{\"number\":-1}", "number"},  {"{\"number\":1.5}", "number"},
               {"{\"flag\":1}", "flag"},          {"{\"texts\":[1]}", "texts"},   {"{\"pairs\":{\"a\":1}}", "pairs"},
               {"{\"pairs\":{\"a=\":\"\"}}", "pairs"}, {"{\"other\":1}", "other"}, {"[]", ""},
               {"{", ""},                         {"nonsense", ""},
               {"{\"text\":\"a\",\"text\":\"b\"}", ""}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ARENA_AUTO struct arena a = {0};
        struct body b = {.number = 0};
        struct api_problem why = {"", ""};
        CHECK_INT(decode(bad[i].json, &a, &b, &why), -EINVAL);
        CHECK_C(why.field, bad[i].field);
        CHECK(why.text[0] != 0);
    }
}

TEST(base64_both_ways)
{
    ARENA_AUTO struct arena a = {0};
    /* RFC 4648, 10. */
    static const char *const pairs[][2] = {{"", ""},         {"f", "Zg=="},         {"fo", "Zm8="},
                                           {"foo", "Zm9v"},  {"foob", "Zm9vYg=="},  {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        BUF_AUTO struct buf b;
        struct str got;
        buf_init(&b, 100);
        json_put_base64(&b, str_c(pairs[i][0]));
        CHECK_STR(buf_str(&b), str_c(pairs[i][1]));
        CHECK_INT(api_base64(str_c(pairs[i][1]), &a, &got), 0);
        CHECK_STR(got, str_c(pairs[i][0]));
    }
    static const char *const bad[] = {"A", "A===", "Zg=", "Z g=", "Zm9v\n", "*"};
    struct str got;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(api_base64(str_c(bad[i]), &a, &got), -EINVAL);
}

TEST(json_is_written_as_rfc_8259_has_it)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 1000);
    struct json_writer w = {.out = &b};
    json_begin(&w, NULL, '{');
    json_text(&w, "t", STR("a\"\\\n\t\x01 é"));
    json_text(&w, "bytes", STR("\xff"));
    json_begin(&w, "list", '[');
    json_text(&w, NULL, STR("x"));
    json_text(&w, NULL, STR("\xfe"));
    json_number(&w, NULL, UINT64_MAX);
    json_end(&w, ']');
    json_bool(&w, "yes", true);
    json_none(&w, "none");
    json_time(&w, "at", INT64_C(1767323045678901234));
    json_end(&w, '}');
    CHECK_C(b.p, "{\"t\":\"a\\\"\\\\\\n\\u0009\\u0001 é\",\"bytes\":\"/w==\",\"bytes_encoding\":\"base64\","
                 "\"list\":[\"x\","
                 "{\"base64\":\"/g==\"},18446744073709551615],\"yes\":true,\"none\":null,"
                 "\"at\":\"2026-01-02T03:04:05.678Z\"}");
}

/* The bounds of RFC 3629: each first and last code point of a length, and what lies outside. */
TEST(utf8_is_told_from_bytes)
{
    static const char *const good[] = {"", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                                       "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xef\xbf",
                                      "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xffz"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(json_is_utf8(str_c(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!json_is_utf8(str_c(bad[i])));
}
