/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json.h"

#include <errno.h>
#include <jansson.h>

#include "base/buf.h"
#include "base/mem.h"
#include "types/errtab.h"
#include "wire/wire.h"

static const char b64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static json_t *base64(struct str s)
{
    BUF_AUTO struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < s.n; i += 3) {
        size_t left = s.n - i;
        uint32_t v = (uint32_t)(uint8_t)s.p[i] << 16;
        v |= left > 1 ? (uint32_t)(uint8_t)s.p[i + 1] << 8 : 0;
        v |= left > 2 ? (uint32_t)(uint8_t)s.p[i + 2] : 0;
        buf_putc(&b, b64[v >> 18]);
        buf_putc(&b, b64[v >> 12 & 63]);
        buf_putc(&b, left > 1 ? b64[v >> 6 & 63] : '=');
        buf_putc(&b, left > 2 ? b64[v & 63] : '=');
    }
    return b.err ? NULL : json_stringn(b.p, b.n);
}

/* Bytes as text when they are UTF-8, else in base64 with a note beside; json_stringn() checks the encoding. */
static int set_bytes(json_t *o, const char *key, const char *enc_key, struct str s)
{
    json_t *v = json_stringn(s.n ? s.p : "", s.n);
    if (v)
        return json_object_set_new(o, key, v);
    if (json_object_set_new(o, key, base64(s)))
        return -1;
    return json_object_set_new(o, enc_key, json_string("base64"));
}

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static json_t *usage(const struct wire_result *r)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "cpu_us", number(r->cpu_us), "wall_us", number(r->wall_us),
                     "output_bytes", number(r->output_bytes), "memory_peak", number(r->memory_peak), "processes",
                     number(r->processes), "files_bytes", number(r->files_bytes), "inodes", number(r->inodes));
}

static json_t *root_text(const struct wire_result *r)
{
    char hex[2 * sizeof(r->root) + 1];
    for (size_t i = 0; i < sizeof(r->root); i++)
        snprintf(hex + 2 * i, 3, "%02x", r->root[i]);
    return json_sprintf("sha256:%s", hex);
}

static int set_changes(json_t *o, const struct json_run *run)
{
    json_t *list = json_array();
    int bad = 0;
    for (size_t i = 0; i < run->n_changes; i++) {
        json_t *c = json_pack("{s:s}", "kind", run->changes[i].kind);
        bad |= set_bytes(c, "path", "path_encoding", run->changes[i].path);
        if (run->changes[i].diff.n)
            bad |= set_bytes(c, "diff", "diff_encoding", run->changes[i].diff);
        bad |= json_array_append_new(list, c);
    }
    return bad | json_object_set_new(o, "changes", list);
}

static int fill(json_t *o, const struct wire_result *r, const struct json_run *run)
{
    bool began = r->error == 0;
    bool exited = began && r->outcome.kind == OUTCOME_EXITED;
    bool killed = began && r->outcome.kind == OUTCOME_KILLED;
    int bad = 0;
    bad |= json_object_set_new(o, "status", json_string(began ? outcome_kind_name(r->outcome.kind) : "error"));
    bad |= json_object_set_new(o, "exit_code", exited ? number(r->outcome.code) : json_null());
    bad |= json_object_set_new(o, "signal", killed && r->outcome.signal ? number(r->outcome.signal) : json_null());
    bad |= json_object_set_new(
        o, "reason",
        began && r->outcome.reason != REASON_NONE ? json_string(outcome_reason_name(r->outcome.reason)) : json_null());
    if (!began) {
        json_t *e = json_pack("{s:s,s:s}", "code", api_code_name(errtab_api(r->error)), "errno", errtab_name(r->error));
        bad |= json_object_set_new(o, "error", e);
        bad |= set_bytes(e, "message", "message_encoding", r->message);
    }
    bad |= json_object_set_new(o, "tier", began ? json_string("isolate") : json_null());
    bad |= json_object_set_new(o, "root", began && r->outcome.kind != OUTCOME_LOST ? root_text(r) : json_null());
    bad |= json_object_set_new(o, "usage", usage(r));
    if (run && run->has_output) {
        bad |= set_bytes(o, "stdout", "stdout_encoding", run->out);
        bad |= set_bytes(o, "stderr", "stderr_encoding", run->errs);
        bad |= json_object_set_new(o, "stdout_bytes", number(run->out_total));
        bad |= json_object_set_new(o, "stderr_bytes", number(run->err_total));
        bool cut = run->out_total > run->out.n || run->err_total > run->errs.n;
        bad |= json_object_set_new(o, "truncated", json_boolean(cut));
    }
    if (run && run->has_changes)
        bad |= set_changes(o, run);
    return bad ? -ENOMEM : 0;
}

static int append(const char *p, size_t n, void *arg)
{
    return buf_add(arg, p, n) ? -1 : 0;
}

static int dump(struct buf *out, json_t *o)
{
    int r = json_dump_callback(o, append, out, JSON_COMPACT);
    json_decref(o);
    return r ? -ENOMEM : 0;
}

int json_result(struct buf *out, const struct wire_result *r, const struct json_run *run)
{
    json_t *o = json_object();
    if (!o)
        return -ENOMEM;
    int e = fill(o, r, run);
    if (e) {
        json_decref(o);
        return e;
    }
    return dump(out, o);
}

int json_checks(struct buf *out, const struct json_check *v, size_t n, bool ok)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s}", "name", v[i].name, "state", v[i].state, "detail",
                                              v[i].detail, "remedy", v[i].remedy));
    json_t *o = json_pack("{s:o,s:b}", "checks", list, "ok", ok);
    return o ? dump(out, o) : -ENOMEM;
}
