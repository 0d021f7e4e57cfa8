/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json.h"

#include <errno.h>
#include <inttypes.h>

#include "base/mem.h"
#include "types/errtab.h"
#include "wire/json_int.h"
#include "wire/json_write.h"
#include "wire/wire.h"

static json_t *base64(struct str s)
{
    BUF_AUTO struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    json_put_base64(&b, s);
    return b.err ? NULL : json_stringn(b.p, b.n);
}

/* json_stringn() checks the encoding. */
int json_put_bytes(json_t *o, const char *key, const char *enc_key, struct str s)
{
    json_t *v = json_stringn(s.n ? s.p : "", s.n);
    if (v)
        return json_object_set_new(o, key, v);
    if (json_object_set_new(o, key, base64(s)))
        return -1;
    return json_object_set_new(o, enc_key, json_string("base64"));
}

json_t *json_of_bytes(struct str s)
{
    json_t *v = json_stringn(s.n ? s.p : "", s.n);
    return v ? v : json_pack("{s:o}", "base64", base64(s));
}

json_t *json_of_number(uint64_t v)
{
    return v <= INT64_MAX ? json_integer((json_int_t)v) : json_sprintf("%" PRIu64, v);
}

static json_t *usage(const struct wire_result *r)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "cpu_us", json_of_number(r->cpu_us), "wall_us",
                     json_of_number(r->wall_us), "output_bytes", json_of_number(r->output_bytes), "memory_peak",
                     json_of_number(r->memory_peak), "processes", json_of_number(r->processes), "files_bytes",
                     json_of_number(r->files_bytes), "inodes", json_of_number(r->inodes));
}

json_t *json_of_hash(const uint8_t *p)
{
    char hex[2 * 32 + 1];
    for (size_t i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", p[i]);
    return json_sprintf("sha256:%s", hex);
}

int json_put_outcome(json_t *o, bool began, struct outcome outcome)
{
    bool exited = began && outcome.kind == OUTCOME_EXITED;
    bool killed = began && outcome.kind == OUTCOME_KILLED;
    bool reason = began && outcome.reason != REASON_NONE;
    int bad = 0;
    bad |= json_object_set_new(o, "status", json_string(began ? outcome_kind_name(outcome.kind) : "error"));
    bad |= json_object_set_new(o, "exit_code", exited ? json_integer(outcome.code) : json_null());
    bad |= json_object_set_new(o, "signal", killed && outcome.signal ? json_integer(outcome.signal) : json_null());
    bad |= json_object_set_new(o, "reason", reason ? json_string(outcome_reason_name(outcome.reason)) : json_null());
    return bad;
}

static int set_changes(json_t *o, const struct json_run *run)
{
    json_t *list = json_array();
    int bad = 0;
    for (size_t i = 0; i < run->n_changes; i++) {
        json_t *c = json_pack("{s:s}", "kind", run->changes[i].kind);
        bad |= json_put_bytes(c, "path", "path_encoding", run->changes[i].path);
        if (run->changes[i].diff.n)
            bad |= json_put_bytes(c, "diff", "diff_encoding", run->changes[i].diff);
        bad |= json_array_append_new(list, c);
    }
    return bad | json_object_set_new(o, "changes", list);
}

static int set_decisions(json_t *o, struct str text)
{
    json_t *list = json_array();
    struct wire_decision d;
    int bad = 0;
    while (wire_next_decision(&text, &d)) {
        json_t *one = json_object();
        bad |= json_put_bytes(one, "command", "command_encoding", d.command);
        bad |= json_put_bytes(one, "engine", "engine_encoding", d.engine);
        if (d.reason.n)
            bad |= json_put_bytes(one, "reason", "reason_encoding", d.reason);
        bad |= json_array_append_new(list, one);
    }
    return bad | json_object_set_new(o, "decisions", list);
}

static int fill(json_t *o, const struct wire_result *r, const struct json_run *run)
{
    bool began = r->error == 0;
    int bad = json_put_outcome(o, began, r->outcome);
    if (!began) {
        json_t *e = json_pack("{s:s,s:s}", "code", api_code_name(errtab_api(r->error)), "errno", errtab_name(r->error));
        bad |= json_object_set_new(o, "error", e);
        bad |= json_put_bytes(e, "message", "message_encoding", r->message);
    }
    bad |= json_object_set_new(o, "tier", began ? json_string("isolate") : json_null());
    bad |=
        json_object_set_new(o, "root", began && r->outcome.kind != OUTCOME_LOST ? json_of_hash(r->root) : json_null());
    bad |= json_object_set_new(o, "usage", usage(r));
    if (r->decisions.n)
        bad |= set_decisions(o, r->decisions);
    if (run && run->has_output) {
        bad |= json_put_bytes(o, "stdout", "stdout_encoding", run->out);
        bad |= json_put_bytes(o, "stderr", "stderr_encoding", run->errs);
        bad |= json_object_set_new(o, "stdout_bytes", json_of_number(run->out_total));
        bad |= json_object_set_new(o, "stderr_bytes", json_of_number(run->err_total));
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

int json_put_line(struct buf *out, json_t *o)
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
    return json_put_line(out, o);
}

int json_checks(struct buf *out, const struct json_check *v, size_t n, bool ok)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s}", "name", v[i].name, "state", v[i].state, "detail",
                                              v[i].detail, "remedy", v[i].remedy));
    json_t *o = json_pack("{s:o,s:b}", "checks", list, "ok", ok);
    return o ? json_put_line(out, o) : -ENOMEM;
}
