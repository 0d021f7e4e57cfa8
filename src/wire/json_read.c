/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_read.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "wire/api.h"

#define KEY_MOST 64

static json_t *value(const struct json_tree *t)
{
    return (json_t *)(uintptr_t)t;
}

int json_tree_new(struct str text, struct json_tree **ret)
{
    json_t *v = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (!v)
        return -EINVAL;
    *ret = (struct json_tree *)v;
    return 0;
}

void json_tree_free(struct json_tree *t)
{
    json_decref(value(t));
}

const struct json_tree *json_tree_at(const struct json_tree *t, const char *path)
{
    json_t *v = value(t);
    while (v && *path) {
        char key[KEY_MOST];
        size_t n = strcspn(path, ".");
        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        v = json_object_get(v, key);
        path += n + (path[n] == '.');
    }
    return (const struct json_tree *)v;
}

struct str json_tree_text(const struct json_tree *t, const char *path)
{
    const json_t *v = value(json_tree_at(t, path));
    return json_is_string(v) ? str_of(json_string_value(v), json_string_length(v)) : str_of(NULL, 0);
}

struct str json_tree_bytes(const struct json_tree *t, const char *path, struct arena *a)
{
    char how[KEY_MOST];
    struct str s = json_tree_text(t, path);
    snprintf(how, sizeof(how), "%s_encoding", path);
    if (s.p && str_eqc(json_tree_text(t, how), "base64") && api_base64(s, a, &s))
        return str_of(NULL, 0);
    return s;
}

uint64_t json_tree_number(const struct json_tree *t, const char *path, uint64_t def)
{
    const json_t *v = value(json_tree_at(t, path));
    return json_is_integer(v) && json_integer_value(v) >= 0 ? (uint64_t)json_integer_value(v) : def;
}

bool json_tree_flag(const struct json_tree *t, const char *path)
{
    return json_is_true(value(json_tree_at(t, path)));
}

bool json_tree_has(const struct json_tree *t, const char *path)
{
    const json_t *v = value(json_tree_at(t, path));
    return v && !json_is_null(v);
}

size_t json_tree_count(const struct json_tree *t, const char *path)
{
    return json_array_size(value(json_tree_at(t, path)));
}

const struct json_tree *json_tree_element(const struct json_tree *t, const char *path, size_t i)
{
    return (const struct json_tree *)json_array_get(value(json_tree_at(t, path)), i);
}

static int append(const char *p, size_t n, void *arg)
{
    return buf_add(arg, p, n) ? -1 : 0;
}

int json_tree_line(const struct json_tree *t, struct buf *out)
{
    if (json_dump_callback(value(t), append, out, JSON_COMPACT | JSON_ENCODE_ANY) || buf_putc(out, '\n'))
        return -ENOMEM;
    return 0;
}
