/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Snapshots, forks, differences, merges and replays. Forks are names, and made here; everything that loads a tree is
 * done by a verb of the command line in a process of its own, whose JSON is passed on.
 */

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "server/idempotency.h"
#include "server/server_int.h"

#define FORKS_MOST 100u
#define ERRNO_MOST 134

/* ---- verbs ---- */

struct verb {
    struct request *r;
    const char *argv[12];
    int n;
    struct sched_session *locked; /* a reference: unlocked when the verb has ended */
    const char *list;             /* name of the list that its lines become; NULL: its one object is the answer */
    unsigned status;              /* of success */
    bool may_differ;              /* exit status 1 is no failure */
    void (*done)(struct verb *v, int status, struct str out); /* NULL: as above */
};

static struct verb *verb_new(struct request *r)
{
    struct verb *v = arena_zalloc(&r->arena, sizeof(*v));
    v->r = r;
    v->status = MHD_HTTP_OK;
    return v;
}

static void add(struct verb *v, const char *arg)
{
    v->argv[v->n++] = arg;
}

/* An operand that a client has given. It must not be taken for an option. False after an answer. */
static bool add_operand(struct verb *v, const char *field, struct str s)
{
    if (s.n && s.p[0] != '-' && !memchr(s.p, 0, s.n)) {
        add(v, arena_str(&v->r->arena, s).p);
        return true;
    }
    request_fail(v->r, API_INVALID_ARGUMENT, field, "'%s' cannot be that", field);
    return false;
}

/* The first line of what it said: "frontal-sandbox: ENOENT: text", or without a name what the request lacked. */
static void fail_verb(struct request *r, int status, struct str errs)
{
    struct str head = STR("frontal-sandbox: ");
    ptrdiff_t nl = str_find(errs, '\n', 0);
    struct str line = str_of(errs.p, nl < 0 ? errs.n : (size_t)nl);
    if (str_starts(line, head))
        line = str_from(line, head.n);
    ptrdiff_t colon = str_find(line, ':', 0);
    int error = status < 0 ? -EIO : -EINVAL;
    for (int e = 1; colon > 0 && e < ERRNO_MOST; e++) {
        if (str_eqc(str_of(line.p, (size_t)colon), errtab_name(-e))) {
            error = -e;
            line = str_from(line, (size_t)colon + 2);
            break;
        }
    }
    request_fail_errno(r, error, line.n ? arena_str(&r->arena, line).p : "the verb failed and said nothing");
}

static void put_lines(struct json_writer *w, const char *key, struct str lines)
{
    json_begin(w, key, '[');
    while (lines.n) {
        ptrdiff_t nl = str_find(lines, '\n', 0);
        size_t n = nl < 0 ? lines.n : (size_t)nl;
        json_raw(w, NULL, str_of(lines.p, n));
        lines = str_from(lines, n + 1);
    }
    json_end(w, ']');
}

static void verb_done(void *arg, int status, struct str out, struct str errs)
{
    struct verb *v = arg;
    struct request *r = v->r;
    if (v->locked) {
        sched_unlock(v->locked);
        sched_unref(v->locked);
    }
    if (status != 0 && !(v->may_differ && status == 1)) {
        fail_verb(r, status, errs);
    } else if (v->done) {
        v->done(v, status, out);
    } else if (v->list) {
        struct answer *a = answer_begin(r);
        put_lines(&a->w, v->list, out);
        answer_send(r, a, v->status);
    } else {
        request_reply_bytes(r, v->status, "application/json", out);
    }
}

static void run(struct verb *v)
{
    v->argv[v->n] = NULL;
    sched_job(v->r->tenant, v->argv, verb_done, v);
}

static void settled(void *arg, struct sched_session *s, int error, const char *text)
{
    struct verb *v = arg;
    (void)s;
    if (error)
        request_fail_errno(v->r, error, text);
    else
        run(v);
}

static void locked(void *arg, struct sched_session *s, int error, const char *text)
{
    struct verb *v = arg;
    if (error) {
        request_fail_errno(v->r, error, text);
        return;
    }
    v->locked = sched_ref(s);
    run(v);
}

/* ---- snapshots ---- */

struct snapshot_body {
    struct str name;
};

void h_snapshots_create(struct request *r)
{
    static const struct api_field f[] = {{"name", API_TEXT, offsetof(struct snapshot_body, name)}};
    struct snapshot_body q = {{NULL, 0}};
    struct str none;
    if (idempotency_begin(r, &none) != IDEMPOTENCY_NONE || !request_decode(r, f, 1, &q) || !request_session(r))
        return;
    struct verb *v = verb_new(r);
    v->status = MHD_HTTP_CREATED;
    add(v, "snapshot");
    add(v, "--json");
    add(v, sched_session_id(r->session));
    if (q.name.p) {
        add(v, "--name");
        if (!add_operand(v, "name", q.name))
            return;
    }
    sched_lock(r->session, locked, v);
}

void h_snapshots_list(struct request *r)
{
    struct str session = request_query(r, "session");
    struct verb *v = verb_new(r);
    v->list = "snapshots";
    add(v, "snapshot");
    add(v, "list");
    add(v, "--json");
    if (session.p && !add_operand(v, "session", session))
        return;
    run(v);
}

/* The line of the snapshot that the path names. */
static struct str find_line(struct request *r, struct str lines)
{
    MEM_AUTO char *want = mem_alloc(r->params[0].n + 16);
    snprintf(want, r->params[0].n + 16, "\"id\":\"%s\"", r->params[0].p);
    while (lines.n) {
        ptrdiff_t nl = str_find(lines, '\n', 0);
        size_t n = nl < 0 ? lines.n : (size_t)nl;
        if (n > strlen(want) && memmem(lines.p, n, want, strlen(want)))
            return str_of(lines.p, n);
        lines = str_from(lines, n + 1);
    }
    request_fail(r, API_NOT_FOUND, NULL, "there is no snapshot '%.60s'", r->params[0].p);
    return str_of(NULL, 0);
}

static void show_one(struct verb *v, int status, struct str out)
{
    struct str line = find_line(v->r, out);
    (void)status;
    if (line.p)
        request_reply_bytes(v->r, MHD_HTTP_OK, "application/json", line);
}

static void deleted(struct verb *v, int status, struct str out)
{
    (void)status, (void)out;
    request_reply_bytes(v->r, MHD_HTTP_NO_CONTENT, NULL, STR(""));
}

static void delete_one(struct verb *v, int status, struct str out)
{
    static const char key[] = "\"session\":\"";
    struct request *r = v->r;
    struct str line = find_line(r, out);
    const char *at = line.p ? memmem(line.p, line.n, key, sizeof(key) - 1) : NULL;
    (void)status;
    if (!line.p)
        return;
    struct str rest = at ? str_from(line, (size_t)(at - line.p) + sizeof(key) - 1) : str_of(NULL, 0);
    ptrdiff_t quote = str_find(rest, '"', 0);
    struct verb *next = verb_new(r);
    next->done = deleted;
    add(next, "snapshot");
    add(next, "delete");
    if (add_operand(next, "session", str_of(rest.p, quote < 0 ? 0 : (size_t)quote)) &&
        add_operand(next, "snapshot", r->params[0]))
        run(next);
}

static void with_list(struct request *r, void (*done)(struct verb *v, int status, struct str out))
{
    struct id id;
    if (id_parse(ID_SNAPSHOT, r->params[0], &id)) {
        request_fail(r, API_NOT_FOUND, NULL, "there is no snapshot '%.60s'", r->params[0].p);
        return;
    }
    struct verb *v = verb_new(r);
    v->done = done;
    add(v, "snapshot");
    add(v, "list");
    add(v, "--json");
    run(v);
}

void h_snapshots_show(struct request *r)
{
    with_list(r, show_one);
}

void h_snapshots_delete(struct request *r)
{
    char name[65];
    if (sched_template_of(r->tenant, r->params[0].p, name)) {
        request_fail(r, API_CONFLICT, NULL, "the template '%s' is this snapshot: delete the template first", name);
        return;
    }
    with_list(r, delete_one);
}

/* ---- places: a snapshot or the number of an event ---- */

#define NO_SEQ UINT64_MAX

struct place {
    struct str snapshot;
    uint64_t seq;
};

static bool check_place(struct request *r, const struct place *p, bool needed)
{
    bool both = p->snapshot.p && p->seq != NO_SEQ, none = !p->snapshot.p && p->seq == NO_SEQ;
    if (!both && !(none && needed))
        return true;
    request_fail(r, API_INVALID_ARGUMENT, "snapshot", "one of 'snapshot' (id or name) and 'seq' (an event of the log)");
    return false;
}

/* As the verbs name it: SESSION, SESSION@SEQ, SESSION:SNAPSHOT or snap_… */
static const char *spec_of(struct request *r, const struct place *p)
{
    const char *id = sched_session_id(r->session);
    struct id snap;
    if (p->seq != NO_SEQ)
        return arena_printf(&r->arena, "%s@%llu", id, (unsigned long long)p->seq);
    if (!p->snapshot.p)
        return id;
    if (id_parse(ID_SNAPSHOT, p->snapshot, &snap) == 0)
        return arena_str(&r->arena, p->snapshot).p;
    return arena_printf(&r->arena, "%s:%.*s", id, (int)p->snapshot.n, p->snapshot.p);
}

void h_restore(struct request *r)
{
    static const struct api_field f[] = {{"snapshot", API_TEXT, offsetof(struct place, snapshot)},
                                         {"seq", API_NUMBER, offsetof(struct place, seq)}};
    struct place q = {.seq = NO_SEQ};
    struct id other;
    if (!request_decode(r, f, 2, &q) || !check_place(r, &q, true) || !request_session(r))
        return;
    if (r->only && q.snapshot.p && id_parse(ID_SNAPSHOT, q.snapshot, &other) == 0) {
        request_fail(r, API_PERMISSION_DENIED, "snapshot", "a token names snapshots of its session by their names");
        return;
    }
    struct verb *v = verb_new(r);
    add(v, "restore");
    add(v, "--json");
    add(v, sched_session_id(r->session));
    if (q.snapshot.p && !add_operand(v, "snapshot", q.snapshot))
        return;
    if (!q.snapshot.p)
        add(v, arena_printf(&r->arena, "@%llu", (unsigned long long)q.seq));
    sched_lock(r->session, locked, v);
}

/* ---- forks ---- */

struct forking {
    struct place from;
    struct str name;
    uint64_t count, made;
    struct answer *answer;
};

static void put_fork(struct answer *a, struct sched_session *s)
{
    json_begin(&a->w, NULL, '{');
    json_text(&a->w, "id", str_c(sched_session_id(s)));
    json_text_or_null(&a->w, "name", str_c(sched_session_name(s)));
    json_end(&a->w, '}');
}

static void fork_next(struct request *r);

static void forked(void *arg, struct sched_session *s, int error, const char *text)
{
    struct request *r = arg;
    struct forking *q = r->state;
    if (error) {
        /* Those that were made are there: the message says how many. */
        struct err err = {0};
        err_set(&err, error, "%s", text);
        if (q->made)
            (void)err_wrap(&err, error, "after %llu forks", (unsigned long long)q->made);
        buf_done(&q->answer->buf);
        request_fail_errno(r, error, err.text);
        return;
    }
    q->made++;
    put_fork(q->answer, s);
    fork_next(r);
}

static void fork_next(struct request *r)
{
    static const char *const reset[] = {"ids", "entropy", "clock", "streams", "jobs"};
    struct forking *q = r->state;
    struct json_writer *w = &q->answer->w;
    struct str name = q->name;
    if (q->made < q->count) {
        if (q->count > 1 && name.n)
            name = str_c(
                arena_printf(&r->arena, "%.*s-%llu", (int)name.n, name.p, (unsigned long long)q->made + 1));
        sched_fork(r->tenant, str_c(spec_of(r, &q->from)), name, NULL, r->session, forked, r);
        return;
    }
    json_end(w, ']');
    json_text(w, "from", str_c(sched_session_id(r->session)));
    json_begin(w, "reset", '[');
    for (size_t i = 0; i < sizeof(reset) / sizeof(reset[0]); i++)
        json_text(w, NULL, str_c(reset[i]));
    json_end(w, ']');
    answer_send(r, q->answer, MHD_HTTP_CREATED);
}

static void fork_all(void *arg, struct sched_session *origin, int error, const char *text)
{
    struct request *r = arg;
    struct forking *q = r->state;
    (void)origin;
    if (error) {
        request_fail_errno(r, error, text);
        return;
    }
    q->answer = answer_begin(r);
    json_begin(&q->answer->w, "sessions", '[');
    fork_next(r);
}

void h_fork(struct request *r)
{
    static const struct api_field f[] = {{"snapshot", API_TEXT, offsetof(struct forking, from.snapshot)},
                                         {"seq", API_NUMBER, offsetof(struct forking, from.seq)},
                                         {"name", API_TEXT, offsetof(struct forking, name)},
                                         {"count", API_NUMBER, offsetof(struct forking, count)}};
    struct forking *q = arena_zalloc(&r->arena, sizeof(*q));
    struct str none;
    if (idempotency_begin(r, &none) != IDEMPOTENCY_NONE)
        return;
    q->from.seq = NO_SEQ;
    q->count = 1;
    if (!request_decode(r, f, sizeof(f) / sizeof(f[0]), q) || !check_place(r, &q->from, false))
        return;
    if (q->count == 0 || q->count > FORKS_MOST) {
        request_fail(r, API_INVALID_ARGUMENT, "count", "field 'count' is 1 to %u", FORKS_MOST);
        return;
    }
    if (!request_session(r))
        return;
    r->state = q;
    sched_settle(r->session, fork_all, r);
}

/* ---- merge ---- */

struct merge_body {
    struct str into;
    bool dry_run;
};

static void merge_settled(void *arg, struct sched_session *s, int error, const char *text)
{
    struct verb *v = arg;
    struct sched_session *origin;
    struct err err = {0};
    const struct merge_body *q = v->r->state;
    if (error) {
        request_fail_errno(v->r, error, text);
        return;
    }
    char from[ID_MAX];
    struct str into = q->into;
    int e = into.n ? 0 : sched_origin(s, from, &err);
    if (e == -ENOENT) {
        request_fail(v->r, API_INVALID_ARGUMENT, "into",
                     "field 'into' is needed: the session was made from no other one that is there");
        return;
    }
    if (e == 0 && !into.n)
        into = str_c(from);
    e = e ? e : sched_find(v->r->tenant, into, &origin, &err);
    if (e) {
        request_fail_errno(v->r, e, err.text);
        return;
    }
    add(v, sched_session_id(v->r->session));
    add(v, arena_str(&v->r->arena, str_c(sched_session_id(origin))).p);
    sched_lock(origin, locked, v);
    sched_unref(origin);
}

void h_merge(struct request *r)
{
    static const struct api_field f[] = {{"into", API_TEXT, offsetof(struct merge_body, into)},
                                         {"dry_run", API_FLAG, offsetof(struct merge_body, dry_run)}};
    struct merge_body *q = arena_zalloc(&r->arena, sizeof(*q));
    if (!request_decode(r, f, 2, q))
        return;
    if (!request_session(r))
        return;
    struct verb *v = verb_new(r);
    v->may_differ = true;
    add(v, "merge");
    add(v, "--json");
    if (q->dry_run)
        add(v, "--dry-run");
    r->state = q;
    sched_settle(r->session, merge_settled, v);
}

/* ---- diff ---- */

/* A place as the query has it: a number is one of the session's events; else as the verbs name places. */
static bool add_place(struct verb *v, const char *field, struct str s, const char *otherwise)
{
    uint64_t seq;
    struct place p = {.seq = NO_SEQ};
    if (!s.p) {
        add(v, otherwise);
        return true;
    }
    if (str_u64(s, &seq) && v->r->only) {
        request_fail(v->r, API_PERMISSION_DENIED, field, "a token reads events of its own session: '%s' is a number",
                     field);
        return false;
    }
    if (str_u64(s, &seq))
        return add_operand(v, field, s);
    p.seq = seq;
    add(v, spec_of(v->r, &p));
    return true;
}

void h_diff(struct request *r)
{
    struct str path = request_query(r, "path");
    if (!request_session(r))
        return;
    const char *id = sched_session_id(r->session);
    struct verb *v = verb_new(r);
    v->list = "changes";
    v->may_differ = true;
    add(v, "diff");
    add(v, "--json");
    if (request_query(r, "text").p)
        add(v, "--text");
    if (!add_place(v, "from", request_query(r, "from"), arena_printf(&r->arena, "%s@0", id)) ||
        !add_place(v, "to", request_query(r, "to"), id))
        return;
    if (path.p && (path.p[0] != '/' || !add_operand(v, "path", path))) {
        request_fail(r, API_INVALID_ARGUMENT, "path", "'path' is an absolute path of the session");
        return;
    }
    sched_settle(r->session, settled, v);
}

/* ---- replay ---- */

struct replay_body {
    struct str session;
    uint64_t from_seq;
};

static void replayed(struct verb *v, int status, struct str out)
{
    struct answer *a = answer_begin(v->r);
    json_text(&a->w, "session_id", str_c(sched_session_id(v->r->session)));
    json_bool(&a->w, "equal", status == 0);
    put_lines(&a->w, "commands", out);
    answer_send(v->r, a, MHD_HTTP_OK);
}

void h_replays(struct request *r)
{
    static const struct api_field f[] = {{"session", API_TEXT, offsetof(struct replay_body, session)},
                                         {"from_seq", API_NUMBER, offsetof(struct replay_body, from_seq)}};
    struct replay_body q = {.from_seq = NO_SEQ};
    if (!request_decode(r, f, 2, &q))
        return;
    if (!q.session.n) {
        request_fail(r, API_INVALID_ARGUMENT, "session", "field 'session' is needed");
        return;
    }
    r->params[0] = q.session;
    if (!request_session(r))
        return;
    struct verb *v = verb_new(r);
    v->may_differ = true;
    v->done = replayed;
    add(v, "replay");
    add(v, "--json");
    if (q.from_seq != NO_SEQ) {
        add(v, "--from");
        add(v, arena_printf(&r->arena, "@%llu", (unsigned long long)q.from_seq));
    }
    add(v, sched_session_id(r->session));
    sched_settle(r->session, settled, v);
}
