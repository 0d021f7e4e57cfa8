/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/api.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "base/buf.h"

static int wrong(struct api_problem *why, const char *field, const char *text)
{
    if (why) {
        snprintf(why->field, sizeof(why->field), "%s", field);
        snprintf(why->text, sizeof(why->text), "%s", text);
    }
    return -EINVAL;
}

static struct str text_of(const json_t *v, struct arena *a)
{
    /* Never NULL, so that an empty text is told from none. */
    return str_of(arena_dup(a, json_string_value(v), json_string_length(v)), json_string_length(v));
}

static int append(const char *p, size_t n, void *arg)
{
    return buf_add(arg, p, n) ? -1 : 0;
}

static struct str compact(const json_t *v, struct arena *a)
{
    BUF_AUTO struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    /* What came fits, and does not go out longer than it can be. */
    (void)json_dump_callback(v, append, &b, JSON_COMPACT | JSON_ENCODE_ANY);
    return arena_str(a, buf_str(&b));
}

static int texts(const json_t *v, struct arena *a, struct wire_list *ret)
{
    size_t n = json_array_size(v);
    struct str *list = arena_alloc(a, (n + 1) * sizeof(*list));
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(v, i);
        if (!json_is_string(one))
            return -EINVAL;
        list[i] = text_of(one, a);
    }
    *ret = (struct wire_list){list, (uint32_t)n};
    return 0;
}

static int pairs(json_t *v, struct arena *a, struct wire_list *ret)
{
    size_t n = json_object_size(v), i = 0;
    struct str *list = arena_alloc(a, (n + 1) * sizeof(*list));
    const char *key;
    json_t *one;
    json_object_foreach(v, key, one)
    {
        size_t klen = strlen(key);
        if (!json_is_string(one) || strchr(key, '='))
            return -EINVAL;
        size_t vlen = json_string_length(one);
        char *p = arena_alloc(a, klen + vlen + 2);
        memcpy(p, key, klen);
        p[klen] = '=';
        memcpy(p + klen + 1, json_string_value(one), vlen);
        list[i++] = str_of(p, klen + 1 + vlen);
    }
    *ret = (struct wire_list){list, (uint32_t)n};
    return 0;
}

static int take(const struct api_field *f, json_t *v, struct arena *a, void *ret, struct api_problem *why)
{
    void *to = (char *)ret + f->at;
    switch (f->kind) {
    case API_TEXT:
        if (!json_is_string(v))
            return wrong(why, f->name, "it is not a string");
        *(struct str *)to = text_of(v, a);
        return 0;
    case API_NUMBER:
        if (!json_is_integer(v) || json_integer_value(v) < 0)
            return wrong(why, f->name, "it is not a whole number from 0");
        *(uint64_t *)to = (uint64_t)json_integer_value(v);
        return 0;
    case API_FLAG:
        if (!json_is_boolean(v))
            return wrong(why, f->name, "it is not true or false");
        *(bool *)to = json_is_true(v);
        return 0;
    case API_TEXTS:
        return json_is_array(v) && texts(v, a, to) == 0 ? 0 : wrong(why, f->name, "it is not an array of strings");
    case API_PAIRS:
        return json_is_object(v) && pairs(v, a, to) == 0 ? 0 : wrong(why, f->name, "it is not an object of strings");
    case API_VALUE:
        *(struct str *)to = compact(v, a);
        return 0;
    }
    return -EINVAL;
}

static const struct api_field *find(const struct api_field *fields, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

int api_decode(struct str body, const struct api_field *fields, size_t n, struct arena *a, void *ret,
               struct api_problem *why)
{
    json_error_t e;
    if (body.n == 0)
        return 0;
    json_t *o = json_loadb(body.p, body.n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
    if (!o || !json_is_object(o)) {
        char text[192] = "it is not a JSON object";
        if (!o)
            snprintf(text, sizeof(text), "it is not JSON: %.120s (byte %d)", e.text, e.position);
        json_decref(o);
        return wrong(why, "", text);
    }
    const char *key;
    json_t *v;
    int r = 0;
    json_object_foreach(o, key, v)
    {
        const struct api_field *f = find(fields, n, key);
        r = f ? take(f, v, a, ret, why) : wrong(why, key, "there is no such field");
        if (r)
            break;
    }
    json_decref(o);
    return r;
}

int api_elements(struct str json, struct arena *a, struct wire_list *ret)
{
    json_t *o = json_loadb(json.p, json.n, 0, NULL);
    if (!json_is_array(o)) {
        json_decref(o);
        return -EINVAL;
    }
    size_t n = json_array_size(o);
    struct str *list = arena_alloc(a, (n + 1) * sizeof(*list));
    for (size_t i = 0; i < n; i++)
        list[i] = compact(json_array_get(o, i), a);
    *ret = (struct wire_list){list, (uint32_t)n};
    json_decref(o);
    return 0;
}

int api_members(struct str json, struct arena *a, struct wire_list *ret)
{
    json_t *o = json_loadb(json.p, json.n, 0, NULL);
    if (!json_is_object(o)) {
        json_decref(o);
        return -EINVAL;
    }
    struct str *list = arena_alloc(a, (2 * json_object_size(o) + 1) * sizeof(*list));
    const char *key;
    json_t *v;
    uint32_t n = 0;
    json_object_foreach(o, key, v)
    {
        list[n++] = arena_str(a, str_c(key));
        list[n++] = compact(v, a);
    }
    *ret = (struct wire_list){list, n};
    json_decref(o);
    return 0;
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int api_base64(struct str text, struct arena *a, struct str *ret)
{
    size_t pad = 0;
    while (pad < 2 && text.n && text.p[text.n - 1] == '=') {
        text.n--;
        pad++;
    }
    if (text.n % 4 == 1 || (pad && (text.n + pad) % 4))
        return -EINVAL;
    char *out = arena_alloc(a, text.n / 4 * 3 + 3);
    size_t n = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < text.n; i++) {
        int d = digit(text.p[i]);
        if (d < 0)
            return -EINVAL;
        bits = bits << 6 | (uint32_t)d;
        if (i % 4)
            out[n++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    *ret = str_of(out, n);
    return 0;
}
