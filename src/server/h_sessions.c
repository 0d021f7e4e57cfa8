/* SPDX-License-Identifier: Apache-2.0 */

/* Sessions: create, list, show, change, sleep, wake, delete. */

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "server/idempotency.h"
#include "server/policy.h"

#define LIST_MOST 1000u
#define NO_NUMBER UINT64_MAX /* not given */

/* ---- forms ---- */

static void put_env(struct json_writer *w, const struct wire_list *env)
{
    json_begin(w, "env", '{');
    for (uint32_t i = 0; i < env->n; i++) {
        ptrdiff_t eq = str_find(env->v[i], '=', 0);
        MEM_AUTO char *name = mem_dup(env->v[i].p, eq < 0 ? 0 : (size_t)eq);
        json_text(w, name, str_from(env->v[i], (size_t)eq + 1)); /* a name holds no byte that JSON would escape */
    }
    json_end(w, '}');
}

static void put_limits(struct json_writer *w, const struct limits *l)
{
    json_begin(w, "limits", '{');
    json_number(w, "memory", l->memory);
    json_number(w, "output", l->output);
    json_number(w, "files", l->files);
    json_number(w, "inodes", l->inodes);
    json_number(w, "processes", l->processes);
    json_number(w, "cpu_ms", l->cpu_ms);
    json_number(w, "trace", l->trace);
    json_end(w, '}');
}

static const char *state_name(enum sched_session_state s)
{
    return s == SCHED_PARKED ? "parked" : s == SCHED_RUNNING ? "running" : "ready";
}

static void put_session(struct json_writer *w, const struct sched_session_info *i)
{
    json_text(w, "id", str_c(i->id));
    json_text_or_null(w, "name", str_c(i->name));
    json_text(w, "state", str_c(state_name(i->state)));
    json_text(w, "tier", STR("isolate"));
    json_time(w, "created_at", i->created);
    json_text(w, "user", i->settings->user.n ? i->settings->user : STR("user"));
    json_text_or_null(w, "cwd", i->settings->cwd);
    put_env(w, &i->settings->env);
    put_limits(w, &i->settings->limits);
    json_number(w, "idle_timeout_ms", i->settings->idle_timeout_ms);
    json_raw(w, "metadata", i->settings->metadata.n ? i->settings->metadata : STR("{}"));
    if (i->has_root)
        json_sha256(w, "root", i->root);
    else
        json_none(w, "root");
    if (i->seq)
        json_number(w, "trace_seq", i->seq);
    else
        json_none(w, "trace_seq");
    json_number(w, "execs_waiting", i->waiting);
}

static void reply_session(struct request *r, struct sched_session *s, unsigned status)
{
    struct sched_session_info info;
    struct err err = {0};
    int e = sched_info(s, &info, &err);
    if (e) {
        request_fail_errno(r, e, err.text);
        return;
    }
    struct answer *a = answer_begin(r);
    put_session(&a->w, &info);
    policy_put(&a->w, info.settings);
    answer_send(r, a, status);
}

/* ---- create ---- */

struct create {
    struct str from, name, cwd, user, limits, policy, metadata, files;
    struct wire_list env;
    uint64_t idle_timeout_ms;
};

static const struct api_field create_fields[] = {
    {"from", API_TEXT, offsetof(struct create, from)},
    {"name", API_TEXT, offsetof(struct create, name)},
    {"cwd", API_TEXT, offsetof(struct create, cwd)},
    {"user", API_TEXT, offsetof(struct create, user)},
    {"env", API_PAIRS, offsetof(struct create, env)},
    {"limits", API_VALUE, offsetof(struct create, limits)},
    {"policy", API_VALUE, offsetof(struct create, policy)},
    {"metadata", API_VALUE, offsetof(struct create, metadata)},
    {"files", API_VALUE, offsetof(struct create, files)},
    {"idle_timeout_ms", API_NUMBER, offsetof(struct create, idle_timeout_ms)},
};

bool request_env(struct request *r, const struct wire_list *env)
{
    for (uint32_t i = 0; i < env->n; i++) {
        const struct str kv = env->v[i];
        size_t n = 0;
        while (n < kv.n && ((kv.p[n] | 0x20) >= 'a' && (kv.p[n] | 0x20) <= 'z'))
            n++;
        while (n < kv.n && (kv.p[n] == '_' || ((kv.p[n] | 0x20) >= 'a' && (kv.p[n] | 0x20) <= 'z') ||
                            (n && kv.p[n] >= '0' && kv.p[n] <= '9')))
            n++;
        if (n == 0 || n == kv.n || kv.p[n] != '=' || memchr(kv.p, 0, kv.n)) {
            request_fail(r, API_INVALID_ARGUMENT, "env",
                         "field 'env': a name is of A-Z a-z 0-9 _ and does not begin with a digit, a value has no NUL");
            return false;
        }
    }
    return true;
}

/* Files as one message of requests: {"PATH":"text", …} or {"PATH":{"base64":…,"mode":…}}. */
struct file_entry {
    struct str text, base64;
    uint64_t mode;
};

static bool put_file(struct request *r, struct buf *out, struct str path, struct str value)
{
    static const struct api_field fields[] = {
        {"text", API_TEXT, offsetof(struct file_entry, text)},
        {"base64", API_TEXT, offsetof(struct file_entry, base64)},
        {"mode", API_NUMBER, offsetof(struct file_entry, mode)},
    };
    struct api_problem why = {"", ""};
    struct file_entry f = {.mode = 0644};
    struct str bytes = {NULL, 0};
    int e = api_decode(value, fields, sizeof(fields) / sizeof(fields[0]), &r->arena, &f, &why);
    if (e == 0)
        e = f.base64.p ? api_base64(f.base64, &r->arena, &bytes) : 0;
    if (f.text.p)
        bytes = f.text;
    if (e || !bytes.p || (f.text.p && f.base64.p) || f.mode > 07777 || path.n == 0 || path.p[0] != '/') {
        request_fail(r, API_INVALID_ARGUMENT, "files",
                     "field 'files': an object of absolute paths, each with {\"text\" or \"base64\", \"mode\"}");
        return false;
    }
    size_t at = 0;
    do {
        struct str part = str_from(bytes, at);
        part.n = part.n < LIMIT_MSG_DATA ? part.n : LIMIT_MSG_DATA;
        const struct wire_fs q = {.op = WIRE_FS_PUT,
                                  .path = path,
                                  .data = part,
                                  .mode = (uint32_t)f.mode,
                                  .mtime = clock_wall(),
                                  .offset = at,
                                  .as_user = true};
        wire_put_fs(out, &q);
        at += part.n;
    } while (at < bytes.n);
    return true;
}

static bool put_files(struct request *r, struct buf *out, struct str json)
{
    struct wire_list pairs;
    if (api_members(json, &r->arena, &pairs)) {
        request_fail(r, API_INVALID_ARGUMENT, "files", "field 'files' is not an object");
        return false;
    }
    for (uint32_t i = 0; i + 1 < pairs.n; i += 2) {
        if (!put_file(r, out, pairs.v[i], pairs.v[i + 1]))
            return false;
    }
    if (out->err || out->n > WIRE_BODY_MAX) {
        request_fail(r, API_TOO_LARGE, "files", "field 'files' is too large: put files by themselves");
        return false;
    }
    return true;
}

struct creating {
    struct request *r;
    struct buf files;
    struct str from, name;
    struct sched_settings settings;
};

static void free_creating(void *p)
{
    struct creating *c = p;
    buf_done(&c->files);
}

static void files_put(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct request *r = arg;
    (void)reply;
    if (error)
        request_fail_errno(r, error, text);
    else
        reply_session(r, r->session, MHD_HTTP_CREATED);
}

static void created(void *arg, struct sched_session *s, int error, const char *text)
{
    struct request *r = arg;
    struct creating *c = r->state;
    if (error) {
        request_fail_errno(r, error, text);
        return;
    }
    r->session = sched_ref(s);
    if (c->files.n)
        sched_fs(s, buf_str(&c->files), files_put, r);
    else
        reply_session(r, s, MHD_HTTP_CREATED);
}

/* A new session that begins where another one is or was. */
static void create_from(void *arg, struct sched_session *origin, int error, const char *text)
{
    struct request *r = arg;
    struct creating *c = r->state;
    (void)origin;
    if (error)
        request_fail_errno(r, error, text);
    else
        sched_fork(r->tenant, c->from, c->name, &c->settings, NULL, created, r);
}

/* What was put into a session that is named by itself is part of what it is. */
static void settle_and_create(struct request *r, struct str from)
{
    struct sched_session *origin = NULL;
    if (sched_find(r->tenant, from, &origin, NULL)) {
        create_from(r, NULL, 0, "");
        return;
    }
    sched_settle(origin, create_from, r);
    sched_unref(origin);
}

/* A text that lives as long as the request. */
static struct str policy_text(struct request *r, const struct policy *p)
{
    BUF_AUTO struct buf text;
    buf_init(&text, 4 * LIMIT_POLICY_TEXT);
    policy_format(p, &text);
    return arena_str(&r->arena, buf_str(&text));
}

/* Policy and limits of a new session: what is not asked for is as much as the policy grants. */
static bool take_policy(struct request *r, const struct create *q, struct sched_settings *set)
{
    struct policy p;
    policy_init(&p);
    bool ok = !q->policy.p || policy_take(r, q->policy, &p);
    if (ok && q->policy.p)
        policy_cap_limits(&p, &set->limits);
    ok = ok && policy_take_limits(r, q->limits, &p.limits, !q->policy.p, &set->limits);
    if (ok && q->policy.p)
        set->policy = policy_text(r, &p);
    policy_done(&p);
    return ok;
}

void h_sessions_create(struct request *r)
{
    struct create q = {.idle_timeout_ms = 0};
    struct str none;
    if (idempotency_begin(r, &none) != IDEMPOTENCY_NONE)
        return;
    if (!request_decode(r, create_fields, sizeof(create_fields) / sizeof(create_fields[0]), &q) ||
        !request_env(r, &q.env))
        return;
    struct sched_settings set = {.user = q.user,
                                 .cwd = q.cwd,
                                 .env = q.env,
                                 .limits = limits_default(),
                                 .idle_timeout_ms = q.idle_timeout_ms,
                                 .metadata = q.metadata};
    if (!take_policy(r, &q, &set))
        return;
    if (q.cwd.n && q.cwd.p[0] != '/') {
        request_fail(r, API_INVALID_ARGUMENT, "cwd", "field 'cwd' is not an absolute path");
        return;
    }
    if (q.metadata.p && q.metadata.p[0] != '{') {
        request_fail(r, API_INVALID_ARGUMENT, "metadata", "field 'metadata' is not an object");
        return;
    }
    struct creating *c = arena_alloc(&r->arena, sizeof(*c));
    c->r = r;
    buf_init(&c->files, WIRE_BODY_MAX);
    r->state = c;
    r->state_free = free_creating;
    if (q.files.p && !put_files(r, &c->files, q.files))
        return;
    if (!q.from.p) {
        sched_create(r->tenant, q.name, &set, created, r);
        return;
    }
    if (q.user.p || q.limits.p || q.policy.p) {
        request_fail(r, API_INVALID_ARGUMENT, q.user.p ? "user" : q.limits.p ? "limits" : "policy",
                     "a session that begins from another has its user, limits and policy: PATCH changes the latter");
        return;
    }
    /* A template's name hides a session's: what a template is does not change while somebody works. */
    char snapshot[ID_MAX];
    bool named = sched_template_get(r->tenant, q.from, snapshot, NULL) == 0;
    c->from = named ? arena_str(&r->arena, str_c(snapshot)) : q.from;
    c->name = q.name;
    c->settings = set;
    settle_and_create(r, c->from);
}

/* ---- the others ---- */

/* Whether it was answered: one that was deleted, as long as its log is kept. */
static bool show_ended(struct request *r)
{
    struct sched_log *log;
    int64_t when;
    if ((r->only && !str_eqc(r->params[0], r->only)) || sched_log_ended(r->tenant, r->params[0], 0, &log, &when, NULL))
        return false;
    sched_log_close(log);
    struct answer *a = answer_begin(r);
    json_text(&a->w, "id", r->params[0]);
    json_text(&a->w, "state", STR("ended"));
    json_text(&a->w, "reason", STR("destroyed"));
    json_time(&a->w, "ended_at", when);
    answer_send(r, a, MHD_HTTP_OK);
    return true;
}

void h_sessions_show(struct request *r)
{
    if (!show_ended(r) && request_session(r))
        reply_session(r, r->session, MHD_HTTP_OK);
}

struct listing {
    struct request *r;
    struct answer *a;
    struct str state;
    uint64_t most, n;
    char last[64];
};

static int list_one(void *arg, const char *id, const char *name)
{
    struct listing *l = arg;
    struct sched_session *s;
    struct sched_session_info info;
    struct err err;
    (void)name;
    if (l->n == l->most)
        return 1;
    if (sched_find(l->r->tenant, str_c(id), &s, &err))
        return 0; /* it was destroyed meanwhile */
    if (sched_info(s, &info, &err) == 0 && (!l->state.p || str_eqc(l->state, state_name(info.state)))) {
        json_begin(&l->a->w, NULL, '{');
        put_session(&l->a->w, &info);
        json_end(&l->a->w, '}');
        l->n++;
        snprintf(l->last, sizeof(l->last), "%s", id);
    }
    sched_unref(s);
    return 0;
}

void h_sessions_list(struct request *r)
{
    struct listing l = {.r = r, .state = request_query(r, "state")};
    struct str after = request_query(r, "after");
    if (!request_query_number(r, "limit", 100, LIST_MOST, &l.most))
        return;
    l.a = answer_begin(r);
    json_begin(&l.a->w, "sessions", '[');
    int e = sched_each(r->tenant, after.p ? after : STR(""), list_one, &l);
    json_end(&l.a->w, ']');
    json_text_or_null(&l.a->w, "next", e > 0 ? str_c(l.last) : STR(""));
    if (e < 0) {
        buf_done(&l.a->buf);
        request_fail_errno(r, e, "");
        return;
    }
    answer_send(r, l.a, MHD_HTTP_OK);
}

/* What is to hold, within what does now unless the key may widen it. */
static bool restrict_it(struct request *r, const struct create *q, const struct sched_settings *set)
{
    struct policy now, next;
    struct err err = {0};
    struct limits limits = set->limits;
    bool widens = policy_may_widen(r);
    policy_of_settings(set, &now);
    policy_copy(&next, &now);
    bool ok = !q->policy.p || policy_take(r, q->policy, &next);
    if (ok && !widens && policy_within(&next, &now, &err)) {
        request_fail(r, API_PERMISSION_DENIED, "policy",
                     "field 'policy': %s; a key with the capability 'policy' may grant more", err.text);
        ok = false;
    }
    if (ok)
        policy_cap_limits(&next, &limits);
    ok = ok && policy_take_limits(r, q->limits, &next.limits, widens, &limits);
    struct str text = ok && (set->policy.n || q->policy.p) ? policy_text(r, &next) : str_of(NULL, 0);
    policy_done(&now);
    policy_done(&next);
    int e = ok ? sched_restrict(r->session, &limits, text, &err) : 0;
    if (e)
        request_fail_errno(r, e, err.text);
    return ok && e == 0;
}

static void patch(struct request *r)
{
    const struct create *q = r->state;
    struct sched_session_info info;
    struct err err = {0};
    int e = q->name.p ? sched_rename(r->session, q->name, &err) : 0;
    e = e ? e : sched_info(r->session, &info, &err);
    if (e == 0 && (q->policy.p || q->limits.p)) {
        if (!restrict_it(r, q, info.settings))
            return;
        e = sched_info(r->session, &info, &err);
    }
    if (e == 0) {
        struct sched_settings set = *info.settings;
        if (q->metadata.p)
            set.metadata = q->metadata;
        if (q->idle_timeout_ms != NO_NUMBER)
            set.idle_timeout_ms = q->idle_timeout_ms;
        e = sched_change(r->session, &set, &err);
    }
    if (e)
        request_fail_errno(r, e, err.text);
    else
        reply_session(r, r->session, MHD_HTTP_OK);
}

static void patch_locked(void *arg, struct sched_session *s, int error, const char *text)
{
    struct request *r = arg;
    if (error) {
        request_fail_errno(r, error, text);
        return;
    }
    patch(r);
    sched_unlock(s);
}

void h_sessions_patch(struct request *r)
{
    static const struct api_field fields[] = {
        {"metadata", API_VALUE, offsetof(struct create, metadata)},
        {"idle_timeout_ms", API_NUMBER, offsetof(struct create, idle_timeout_ms)},
        {"name", API_TEXT, offsetof(struct create, name)},
        {"limits", API_VALUE, offsetof(struct create, limits)},
        {"policy", API_VALUE, offsetof(struct create, policy)},
    };
    struct create *q = arena_zalloc(&r->arena, sizeof(*q));
    q->idle_timeout_ms = NO_NUMBER;
    if (!request_session(r) || !request_decode(r, fields, sizeof(fields) / sizeof(fields[0]), q))
        return;
    if (q->metadata.p && q->metadata.p[0] != '{') {
        request_fail(r, API_INVALID_ARGUMENT, "metadata", "field 'metadata' is not an object");
        return;
    }
    r->state = q;
    /* Its worker learns limits and policy when it opens the session. */
    if (q->policy.p || q->limits.p)
        sched_lock(r->session, patch_locked, r);
    else
        patch(r);
}

static void destroyed(void *arg, struct sched_session *s, int error, const char *text)
{
    struct request *r = arg;
    (void)s;
    if (error)
        request_fail_errno(r, error, text);
    else
        request_reply_bytes(r, MHD_HTTP_NO_CONTENT, NULL, STR(""));
}

void h_sessions_delete(struct request *r)
{
    if (request_session(r))
        sched_destroy(r->session, destroyed, r);
}

static void moved(void *arg, struct sched_session *s, int error, const char *text)
{
    struct request *r = arg;
    if (error)
        request_fail_errno(r, error, text);
    else
        reply_session(r, s, MHD_HTTP_OK);
}

void h_sessions_sleep(struct request *r)
{
    if (request_decode(r, NULL, 0, NULL) && request_session(r))
        sched_park(r->session, moved, r);
}

void h_sessions_wake(struct request *r)
{
    if (request_decode(r, NULL, 0, NULL) && request_session(r))
        sched_wake(r->session, moved, r);
}
