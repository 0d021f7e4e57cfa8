/* SPDX-License-Identifier: Apache-2.0 */

/* Policies of sessions: read, shown, changed, explained, and what they say of a request. */

#include "server/policy.h"

#include <errno.h>

#include "apikey/apikey.h"
#include "base/mem.h"
#include "wire/json_policy.h"

/* ---- what a session has ---- */

void policy_of_settings(const struct sched_settings *set, struct policy *ret)
{
    policy_init(ret);
    ret->limits = set->limits;
    /* What was taken when it was set. One that is not is no policy: nothing is granted. */
    if (set->policy.n && policy_parse(ret, set->policy, NULL)) {
        for (int k = 0; k < POLICY_LISTS; k++)
            policy_clear(ret, (enum policy_kind)k);
    }
}

void policy_put(struct json_writer *w, const struct sched_settings *set)
{
    struct policy p;
    BUF_AUTO struct buf text;
    buf_init(&text, 4 * LIMIT_POLICY_TEXT);
    policy_of_settings(set, &p);
    if (json_policy_write(&text, &p))
        json_none(w, "policy");
    else
        json_raw(w, "policy", str_of(text.p, text.n - 1));
    policy_done(&p);
}

/* ---- setting one ---- */

/* "commands.deny[1]: why" is about the field "policy.commands.deny[1]". */
static void fail_field(struct request *r, const char *text)
{
    char field[128];
    size_t n = strcspn(text, ":");
    bool named = text[n] && n < 100 && !memchr(text, ' ', n);
    snprintf(field, sizeof(field), "policy%s%.*s", named ? "." : "", named ? (int)n : 0, text);
    request_fail(r, API_INVALID_ARGUMENT, field, "field 'policy': %s", text);
}

bool policy_take(struct request *r, struct str json, struct policy *p)
{
    struct err err = {0};
    if (json_policy_read(json, p, &err) == 0)
        return true;
    if (err.code == -E2BIG)
        request_fail(r, API_TOO_LARGE, "policy", "field 'policy': %s", err.text);
    else
        fail_field(r, err.text);
    return false;
}

bool policy_take_limits(struct request *r, struct str json, const struct limits *most, bool may_widen,
                        struct limits *limits)
{
    static const struct api_field fields[] = {
        {"memory", API_NUMBER, offsetof(struct limits, memory)},
        {"output", API_NUMBER, offsetof(struct limits, output)},
        {"files", API_NUMBER, offsetof(struct limits, files)},
        {"inodes", API_NUMBER, offsetof(struct limits, inodes)},
        {"processes", API_NUMBER, offsetof(struct limits, processes)},
        {"cpu_ms", API_NUMBER, offsetof(struct limits, cpu_ms)},
        {"trace", API_NUMBER, offsetof(struct limits, trace)},
    };
    struct api_problem why = {"", ""};
    char field[96];
    if (json.p && api_decode(json, fields, sizeof(fields) / sizeof(fields[0]), &r->arena, limits, &why)) {
        snprintf(field, sizeof(field), "limits%s%s", why.field[0] ? "." : "", why.field);
        request_fail(r, API_INVALID_ARGUMENT, field, "field '%s': %s", field, why.text);
        return false;
    }
    for (size_t i = 0; json.p && !may_widen && i < sizeof(fields) / sizeof(fields[0]); i++) {
        const uint64_t *v = (const void *)((const char *)limits + fields[i].at),
                       *top = (const void *)((const char *)most + fields[i].at);
        if (*v <= *top)
            continue;
        snprintf(field, sizeof(field), "limits.%s", fields[i].name);
        request_fail(r, API_PERMISSION_DENIED, field,
                     "field '%s': the policy grants at most %llu; a key with the capability 'policy' may raise it",
                     field, (unsigned long long)*top);
        return false;
    }
    return true;
}

void policy_cap_limits(const struct policy *p, struct limits *l)
{
    l->memory = l->memory < p->limits.memory ? l->memory : p->limits.memory;
    l->output = l->output < p->limits.output ? l->output : p->limits.output;
    l->files = l->files < p->limits.files ? l->files : p->limits.files;
    l->inodes = l->inodes < p->limits.inodes ? l->inodes : p->limits.inodes;
    l->processes = l->processes < p->limits.processes ? l->processes : p->limits.processes;
    l->cpu_ms = l->cpu_ms < p->limits.cpu_ms ? l->cpu_ms : p->limits.cpu_ms;
    l->trace = l->trace < p->limits.trace ? l->trace : p->limits.trace;
}

bool policy_may_widen(const struct request *r)
{
    return !r->only && (r->caps >> APIKEY_POLICY & 1);
}

/* ---- what it says of a request ---- */

bool policy_allows(struct request *r, const char *ask)
{
    struct sched_session_info info;
    struct err err = {0};
    int e = sched_info(r->session, &info, &err);
    /* One whose log cannot be read can be removed, and its log looked at as far as it goes. */
    if (e && (strcmp(ask, "verb destroy") == 0 || strcmp(ask, "verb trace") == 0))
        return true;
    if (e) {
        request_fail_errno(r, e, err.text);
        return false;
    }
    if (!info.settings->policy.n)
        return true;
    struct policy p;
    BUF_AUTO struct buf rules, change;
    buf_init(&rules, LIMIT_POLICY_TEXT);
    buf_init(&change, LIMIT_POLICY_TEXT);
    struct policy_answer a = {.rules = &rules, .change = &change};
    policy_of_settings(info.settings, &p);
    e = policy_explain(&p, str_c(ask), &a, &err);
    policy_done(&p);
    if (e == 0 && a.allowed)
        return true;
    ptrdiff_t nl = str_find(buf_str(&change), '\n', 0);
    request_fail(r, API_PERMISSION_DENIED, NULL, "the policy of the session refuses '%s'; it would be allowed by: %.*s",
                 ask, nl < 0 ? 0 : (int)nl, nl < 0 ? "" : change.p);
    return false;
}

const char *policy_verb_of(const struct route *route)
{
    static const struct {
        const char *method, *path, *verb;
    } all[] = {
        {"PATCH", "/v1/sessions/{}", "update"},        {"DELETE", "/v1/sessions/{}", "destroy"},
        {"POST", "/v1/sessions/{}/sleep", "update"},   {"POST", "/v1/sessions/{}/wake", "update"},
        {"POST", "/v1/sessions/{}/exec", "exec"},      {"POST", "/v1/sessions/{}/execs/{}/signal", "exec"},
        {"POST", "/v1/sessions/{}/execs/{}/stdin", "exec"},
        {"POST", "/v1/sessions/{}/snapshots", "snapshot"},
        {"POST", "/v1/sessions/{}/restore", "restore"}, {"POST", "/v1/sessions/{}/fork", "fork"},
        {"POST", "/v1/sessions/{}/merge", "merge"},    {"GET", "/v1/sessions/{}/diff", "trace"},
        {"GET", "/v1/sessions/{}/trace", "trace"},     {"POST", "/v1/sessions/{}/tokens", "keys"},
        {"POST", "/v1/sessions/{}/explain", NULL},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcmp(all[i].method, route->method) == 0 && strcmp(all[i].path, route->path) == 0)
            return all[i].verb;
    }
    return route->cap == APIKEY_FS_READ     ? "fs.read"
           : route->cap == APIKEY_FS_WRITE  ? "fs.write"
           : route->cap == APIKEY_SESSIONS_WRITE ? "keys"
                                            : "show";
}

/* ---- explain ---- */

static void put_lines(struct json_writer *w, const char *key, struct str text)
{
    json_begin(w, key, '[');
    while (text.n) {
        ptrdiff_t nl = str_find(text, '\n', 0);
        size_t n = nl < 0 ? text.n : (size_t)nl;
        json_text(w, NULL, str_of(text.p, n));
        text = str_from(text, nl < 0 ? n : n + 1);
    }
    json_end(w, ']');
}

void h_explain(struct request *r)
{
    struct body {
        struct str ask;
    } q = {{NULL, 0}};
    static const struct api_field f[] = {{"ask", API_TEXT, offsetof(struct body, ask)}};
    struct sched_session_info info;
    struct err err = {0};
    struct policy p;
    if (!request_decode(r, f, 1, &q))
        return;
    if (!q.ask.n) {
        request_fail(r, API_INVALID_ARGUMENT, "ask", "field 'ask': a question such as \"command git\" is needed");
        return;
    }
    if (!request_session(r))
        return;
    int e = sched_info(r->session, &info, &err);
    if (e) {
        request_fail_errno(r, e, err.text);
        return;
    }
    BUF_AUTO struct buf rules, change;
    buf_init(&rules, LIMIT_POLICY_TEXT);
    buf_init(&change, LIMIT_POLICY_TEXT);
    struct policy_answer a = {.rules = &rules, .change = &change};
    policy_of_settings(info.settings, &p);
    e = policy_explain(&p, q.ask, &a, &err);
    policy_done(&p);
    if (e) {
        request_fail(r, API_INVALID_ARGUMENT, "ask", "field 'ask': %s", err.text);
        return;
    }
    struct answer *out = answer_begin(r);
    json_text(&out->w, "ask", q.ask);
    json_bool(&out->w, "allowed", a.allowed);
    put_lines(&out->w, "rules", buf_str(&rules));
    put_lines(&out->w, "change", buf_str(&change));
    /* No part of this version has a network, whatever a policy grants. */
    bool network = a.allowed && str_starts(q.ask, STR("network "));
    json_text_or_null(&out->w, "note", network ? STR("this version has no network: nothing is connected") : STR(""));
    answer_send(r, out, MHD_HTTP_OK);
}
