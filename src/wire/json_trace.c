/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "base/clock.h"
#include "trace/schema.h"
#include "wire/json_int.h"
#include "wire/wire.h"

#define KEY_MOST 64 /* bytes of a key, of which the longest has about a quarter */

_Static_assert(WIRE_EXEC_KINDS == 5, "the kinds of an exec have their names in trace/schema.c");

json_t *json_of_time(int64_t ns)
{
    char text[32];
    time_t s = ns / CLOCK_S - (ns % CLOCK_S < 0);
    struct tm tm;
    if (!gmtime_r(&s, &tm) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        return json_null();
    return json_sprintf("%s.%09" PRId64 "Z", text, ns - s * CLOCK_S);
}

static json_t *of_list(struct str s)
{
    json_t *list = json_array();
    int bad = 0;
    for (size_t at = 0; at < s.n;) {
        ptrdiff_t nul = str_find(s, 0, at);
        size_t end = nul < 0 ? s.n : (size_t)nul;
        bad |= json_array_append_new(list, json_of_bytes(str_of(s.p + at, end - at)));
        at = end + 1;
    }
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *of_flags(uint64_t v, const char *const *names)
{
    json_t *list = json_array();
    int bad = 0;
    for (; v; v >>= 1, names++) {
        if (v & 1)
            bad |= json_array_append_new(list, json_string(*names));
    }
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *of_hex(const uint8_t *p, size_t n)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 2 * n);
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "%02x", p[i]);
    return b.err ? NULL : json_stringn(b.p, b.n);
}

static json_t *of_id(const uint8_t *p)
{
    static const struct cas_id none;
    return memcmp(p, none.b, sizeof(none.b)) == 0 ? json_null() : json_of_hash(p);
}

static json_t *of_number(const struct trace_event *e, const struct trace_field *f)
{
    uint64_t v = trace_field_number(e, f);
    switch ((enum trace_show)f->show) {
    case TRACE_AS_BOOL:
        return json_boolean(v);
    case TRACE_AS_TIME:
        return json_of_time((int64_t)v);
    case TRACE_AS_NAME:
        return json_string(f->names[v]);
    case TRACE_AS_FLAGS:
        return of_flags(v, f->names);
    case TRACE_AS_REASON:
        return v == REASON_NONE ? json_null() : json_string(outcome_reason_name((enum outcome_reason)v));
    case TRACE_AS_IS:
    case TRACE_AS_LIST:
        break;
    }
    return f->kind == TRACE_INT ? json_integer((json_int_t)v) : json_of_number(v);
}

static int put_field(json_t *o, const char *key, const struct trace_event *e, const struct trace_field *f)
{
    char enc_key[KEY_MOST];
    switch ((enum trace_kind)f->kind) {
    case TRACE_UINT:
    case TRACE_INT:
        return json_object_set_new(o, key, of_number(e, f));
    case TRACE_STR:
        if (f->show == TRACE_AS_LIST)
            return json_object_set_new(o, key, of_list(trace_field_str(e, f)));
        snprintf(enc_key, sizeof(enc_key), "%s_encoding", key);
        return json_put_bytes(o, key, enc_key, trace_field_str(e, f));
    case TRACE_ID:
        return json_object_set_new(o, key, of_id(trace_field_bytes(e, f)));
    case TRACE_RAW:
        return json_object_set_new(o, key, of_hex(trace_field_bytes(e, f), f->size));
    }
    return -1;
}

/* The object that holds "state.root" is "state"; *key goes on to "root". */
static json_t *holder(json_t *o, const char **key)
{
    const char *dot = strchr(*key, '.');
    if (!dot)
        return o;
    char name[KEY_MOST];
    snprintf(name, sizeof(name), "%.*s", (int)(dot - *key), *key);
    *key = dot + 1;
    json_t *in = json_object_get(o, name);
    if (!in && json_object_set_new(o, name, json_object()) == 0)
        in = json_object_get(o, name);
    return in;
}

static int put_fields(json_t *o, const struct trace_event *e)
{
    uint32_t n = 0;
    const struct trace_field *f = trace_fields((unsigned)e->type, &n, NULL);
    int bad = 0;
    if (e->type == TRACE_END)
        bad |= json_put_outcome(o, true, e->u.end.outcome);
    for (; n; n--, f++) {
        const char *key = f->name;
        /* An outcome has the form that it has in a result. */
        if (strncmp(key, "outcome.", 8) == 0)
            continue;
        json_t *in = holder(o, &key);
        bad |= in ? put_field(in, key, e, f) : -1;
    }
    return bad;
}

int json_trace_event(struct buf *out, const struct trace_event *e)
{
    json_t *o = json_object();
    if (!o)
        return -ENOMEM;
    int bad = json_object_set_new(o, "seq", json_of_number(e->seq));
    bad |= json_object_set_new(o, "time", json_of_time(e->time));
    bad |= json_object_set_new(o, "type", json_string(trace_type_name((unsigned)e->type)));
    bad |= put_fields(o, e);
    if (bad) {
        json_decref(o);
        return -ENOMEM;
    }
    return json_put_line(out, o);
}
