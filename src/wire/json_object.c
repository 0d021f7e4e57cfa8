/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_object.h"

#include <errno.h>

#include "wire/json_int.h"

static json_t *of_list(struct str lines)
{
    json_t *list = json_array();
    while (lines.n) {
        ptrdiff_t nl = str_find(lines, '\n', 0);
        size_t n = nl < 0 ? lines.n : (size_t)nl;
        json_array_append_new(list, json_loadb(lines.p, n, JSON_DECODE_ANY, NULL));
        lines = str_from(lines, n + 1);
    }
    return list;
}

static int put(json_t *o, const struct json_member *m)
{
    char enc_key[64];
    switch (m->as) {
    case JSON_AS_NULL:
        return json_object_set_new(o, m->key, json_null());
    case JSON_AS_TEXT:
        snprintf(enc_key, sizeof(enc_key), "%s_encoding", m->key);
        return json_put_bytes(o, m->key, enc_key, m->text);
    case JSON_AS_NUMBER:
        return json_object_set_new(o, m->key, json_of_number(m->number));
    case JSON_AS_BOOL:
        return json_object_set_new(o, m->key, json_boolean(m->number));
    case JSON_AS_TIME:
        return json_object_set_new(o, m->key, json_of_time((int64_t)m->number));
    case JSON_AS_HASH:
        return json_object_set_new(o, m->key, json_of_hash(m->hash));
    case JSON_AS_LIST:
        return json_object_set_new(o, m->key, of_list(m->text));
    }
    return -1;
}

int json_object_line(struct buf *out, const struct json_member *m, size_t n)
{
    json_t *o = json_object();
    int bad = o ? 0 : -1;
    for (size_t i = 0; i < n && !bad; i++)
        bad = put(o, &m[i]);
    if (bad) {
        json_decref(o);
        return -ENOMEM;
    }
    int r = json_put_line(out, o);
    return r ? r : buf_putc(out, '\n');
}
