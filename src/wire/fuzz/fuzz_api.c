/* SPDX-License-Identifier: Apache-2.0 */

/* Bodies of requests: whatever comes is decoded or refused with a text; a text that was decoded and is written again is
 * the same when it is read once more. */

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "wire/api.h"
#include "wire/json_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct body {
    struct str text, value;
    uint64_t number;
    bool flag;
    struct wire_list texts, pairs;
};

static const struct api_field fields[] = {
    {"t", API_TEXT, offsetof(struct body, text)},   {"n", API_NUMBER, offsetof(struct body, number)},
    {"f", API_FLAG, offsetof(struct body, flag)},   {"l", API_TEXTS, offsetof(struct body, texts)},
    {"p", API_PAIRS, offsetof(struct body, pairs)}, {"v", API_VALUE, offsetof(struct body, value)},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static void write_again(const struct body *b)
{
    ARENA_AUTO struct arena a = {0};
    BUF_AUTO struct buf out;
    struct body again = {.number = 0};
    struct api_problem why;
    buf_init(&out, 16u << 20);
    struct json_writer w = {.out = &out};
    json_begin(&w, NULL, '{');
    json_text(&w, "t", b->text);
    json_number(&w, "n", b->number);
    json_begin(&w, "l", '[');
    for (uint32_t i = 0; i < b->texts.n; i++)
        json_text(&w, NULL, b->texts.v[i]);
    json_end(&w, ']');
    json_end(&w, '}');
    ASSERT(api_decode(buf_str(&out), fields, FIELDS, &a, &again, &why) == 0);
    ASSERT(str_eq(again.text, b->text) && again.number == b->number && again.texts.n == b->texts.n);
    for (uint32_t i = 0; i < b->texts.n; i++)
        ASSERT(str_eq(again.texts.v[i], b->texts.v[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_AUTO struct arena a = {0};
    struct str in = str_of((const char *)data, size), bytes;
    struct wire_list list;
    struct body b = {.text = {"", 0}};
    struct api_problem why = {"", ""};
    if (api_decode(in, fields, FIELDS, &a, &b, &why) == 0)
        write_again(&b);
    else
        ASSERT(why.text[0]);
    if (api_members(in, &a, &list) == 0)
        ASSERT(list.n % 2 == 0);
    if (api_elements(in, &a, &list) == 0)
        ASSERT(list.v != NULL);
    if (api_base64(in, &a, &bytes) == 0) {
        BUF_AUTO struct buf out;
        struct str again;
        buf_init(&out, 16u << 20);
        json_put_base64(&out, bytes);
        ASSERT(api_base64(buf_str(&out), &a, &again) == 0 && str_eq(again, bytes));
    }
    return 0;
}
