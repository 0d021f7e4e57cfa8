/* SPDX-License-Identifier: Apache-2.0 */
#include "session/replay.h"
#include "session/session_int.h"

#include <errno.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "proc/proc.h"
#include "session/journal_int.h"
#include "types/errtab.h"
#include "vfs/vfs.h"

struct stream {
    uint64_t size;
    struct cas_id digest;
};

/* An exec as the log has it. */
struct recorded {
    struct arena arena; /* everything below is in here */
    struct trace_exec exec;
    uint64_t exec_seq, end_seq;
    bool ended;
    struct trace_end end;
    struct session_event *inputs;
    size_t n_inputs, cap_inputs;
    struct trace_output *outputs;
    size_t n_outputs, cap_outputs;
    struct buf clock;
    struct trace_host_read *asks; /* what hosts answered */
    size_t n_asks, cap_asks;
    struct stream streams[3];
};

struct replay {
    struct cas *store;
    struct vfs *tmpl;
    const struct session_config *sc;
    struct session_host host;
    struct session *session; /* of the exec before, for lines that go on */
    bool broken;             /* the living shell is not what it was: lines that go on are left out */
    struct trace_state state;
    struct recorded rec;
    size_t next_input, next_ask;
    struct vfs_host_tape host_tape;
    bool clock_given;
    bool asked_other; /* of a host, than was recorded */
    /* what the replay gives */
    struct cas_hash hash[3];
    uint64_t size[3];
    struct buf text[3]; /* the first of it */
    struct replay_report report;
    struct buf recorded_text, files;
    char value[2][160];
};

/* ---- gathering an exec ---- */

static struct str keep_str(struct recorded *r, struct str s)
{
    return arena_str(&r->arena, s);
}

/* Bytes that are in the event, or in the store. */
static int bytes_of(struct replay *p, struct str data, const struct cas_id *blob, uint64_t size, struct str *ret)
{
    if (cas_id_none(blob)) {
        *ret = keep_str(&p->rec, data);
        return data.n == size ? 0 : -EBADMSG;
    }
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_CAS_BLOB);
    int r = cas_get(p->store, blob, &b);
    if (r == 0)
        *ret = keep_str(&p->rec, buf_str(&b));
    return r;
}

static void *grow(struct arena *a, void *v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    size_t more = *cap ? *cap * 2 : 16;
    void *to = arena_alloc(a, more * size);
    if (n)
        memcpy(to, v, n * size);
    *cap = more;
    return to;
}

static int add_input(struct replay *p, const struct trace_input *in)
{
    struct recorded *r = &p->rec;
    struct session_event ev = {.kind = (enum trace_input_kind)in->kind, .look = in->look, .value = in->value};
    int rc = in->size ? bytes_of(p, in->data, &in->blob, in->size, &ev.data) : 0;
    r->inputs = grow(&r->arena, r->inputs, r->n_inputs, &r->cap_inputs, sizeof(*r->inputs));
    r->inputs[r->n_inputs++] = ev;
    return rc;
}

static void add_ask(struct replay *p, const struct trace_host_read *h)
{
    struct recorded *r = &p->rec;
    r->asks = grow(&r->arena, r->asks, r->n_asks, &r->cap_asks, sizeof(*r->asks));
    r->asks[r->n_asks] = *h;
    r->asks[r->n_asks].path = keep_str(r, h->path);
    r->asks[r->n_asks++].data = keep_str(r, h->data);
}

/* What the host answered then, in place of the host. */
static int answer(void *arg, enum vfs_host_ask ask, unsigned mount, struct str path, struct buf *ret)
{
    struct replay *p = arg;
    const struct trace_host_read *h = p->next_ask < p->rec.n_asks ? &p->rec.asks[p->next_ask] : NULL;
    if (!h || h->kind != ask || h->mount != mount || !str_eq(h->path, path)) {
        p->asked_other = true;
        return -EIO;
    }
    p->next_ask++;
    if (h->error)
        return h->error;
    return cas_id_none(&h->digest) ? buf_adds(ret, h->data) : cas_get(p->store, &h->digest, ret);
}

static int add_clock(struct replay *p, const struct trace_clock *c)
{
    struct str bytes;
    int rc = bytes_of(p, c->data, &c->blob, c->size, &bytes);
    return rc ? rc : buf_adds(&p->rec.clock, bytes);
}

static void add_output(struct replay *p, const struct trace_output *o)
{
    struct recorded *r = &p->rec;
    if (o->stream < 1 || o->stream > 2)
        return;
    r->streams[o->stream] = (struct stream){o->offset + o->size, o->digest};
    r->outputs = grow(&r->arena, r->outputs, r->n_outputs, &r->cap_outputs, sizeof(*r->outputs));
    r->outputs[r->n_outputs] = *o;
    r->outputs[r->n_outputs++].data = keep_str(r, o->data);
}

static int begin_exec(struct replay *p, const struct trace_event *e)
{
    struct recorded *r = &p->rec;
    arena_done(&r->arena);
    buf_done(&r->clock);
    *r = (struct recorded){.exec = e->u.exec, .exec_seq = e->seq};
    buf_init(&r->clock, SIZE_MAX / 2);
    for (int i = 1; i <= 2; i++) { /* of nothing */
        struct cas_hash h;
        cas_hash_init(&h);
        cas_hash_end(&h, r->streams[i].digest.b);
    }
    r->exec.args = keep_str(r, r->exec.args);
    r->exec.env = keep_str(r, r->exec.env);
    r->exec.cwd = keep_str(r, r->exec.cwd);
    r->exec.limits = keep_str(r, r->exec.limits);
    if (cas_id_none(&r->exec.script)) {
        r->exec.text = keep_str(r, r->exec.text);
        return 0;
    }
    return bytes_of(p, str_of("", 0), &r->exec.script, 1, &r->exec.text);
}

/* ---- running it ---- */

static ssize_t take_output(void *arg, int stream, const void *data, size_t n)
{
    struct replay *p = arg;
    cas_hash_add(&p->hash[stream], data, n);
    p->size[stream] += n;
    (void)buf_add(&p->text[stream], data, n); /* the first of it is kept, the hash has all */
    return (ssize_t)n;
}

static int next_input(void *arg, struct session_event *ret)
{
    struct replay *p = arg;
    if (p->next_input == p->rec.n_inputs)
        return 0;
    *ret = p->rec.inputs[p->next_input++];
    return 1;
}

static size_t next_clock(void *arg, const void **ret_p)
{
    struct replay *p = arg;
    if (p->clock_given)
        return 0;
    p->clock_given = true;
    *ret_p = p->rec.clock.p;
    return p->rec.clock.n;
}

static uint32_t count_list(struct str s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == 0;
    return n;
}

static struct wire_list split_list(struct arena *a, struct str s)
{
    struct wire_list l = {arena_alloc(a, (count_list(s) + 1) * sizeof(*l.v)), 0};
    for (size_t at = 0, i = 0; i < s.n; i++) {
        if (s.p[i])
            continue;
        l.v[l.n++] = str_of(s.p + at, i - at);
        at = i + 1;
    }
    return l;
}

static int apply_limits(struct limits *l, struct str text)
{
    while (text.n) {
        ptrdiff_t nl = str_find(text, '\n', 0);
        struct str line = str_of(text.p, nl < 0 ? text.n : (size_t)nl);
        ptrdiff_t eq = str_find(line, '=', 0);
        if (eq < 0 || limits_set(l, str_of(line.p, (size_t)eq), str_from(line, (size_t)eq + 1)))
            return -EBADMSG;
        text = str_from(text, nl < 0 ? text.n : (size_t)nl + 1);
    }
    return 0;
}

/* A session in the state before the exec. */
static int open_session(struct replay *p, struct err *err)
{
    struct session_config sc = *p->sc;
    struct vfs_image_provider providers[SESSION_PROVIDERS];
    struct vfs_image_env env = {.providers = providers, .n_providers = session__providers(p->sc, providers)};
    struct cas_id root;
    session_free(p->session);
    p->session = NULL;
    sc.cwd = p->rec.exec.cwd;
    sc.mounts = NULL;
    sc.n_mounts = 0;
    int r = apply_limits(&sc.limits, p->rec.exec.limits);
    if (r == 0)
        r = session_quota(p->tmpl, &sc.limits, &env.quota);
    if (r == 0)
        r = vfs_image_load(p->store, &p->state.image, &env, &sc.tree, &sc.canon, &root);
    if (r)
        return err_set(err, r, "the state before @%llu cannot be loaded: %s", (unsigned long long)p->rec.exec_seq,
                       errtab_text(r));
    r = session_new(p->tmpl, &sc, &p->host, &p->session, err);
    if (r)
        return r;
    r = journal__load_shell(p->store, &p->state, p->session);
    return r ? err_set(err, r, "the shell before @%llu cannot be loaded: %s", (unsigned long long)p->rec.exec_seq,
                       errtab_text(r))
             : 0;
}

static int start(struct replay *p, struct err *err)
{
    const struct trace_exec *x = &p->rec.exec;
    struct session_playback play = {.arg = p, .event = next_input, .clock = next_clock};
    play.begin.wall = x->wall;
    play.begin.mono = x->mono;
    play.begin.first_pid = x->flags & TRACE_EXEC_FRESH ? x->first_pid : 0;
    memcpy(play.begin.seed, x->seed, sizeof(x->seed));
    p->next_input = p->next_ask = 0;
    p->asked_other = false;
    vfs_set_host_tape(session_tree(p->session), &p->host_tape);
    p->clock_given = false;
    for (int i = 1; i <= 2; i++) {
        cas_hash_init(&p->hash[i]);
        p->size[i] = 0;
        buf_clear(&p->text[i]);
    }
    session_replay(p->session, &play);
    if (x->kind == WIRE_EXEC_SERVE && !(x->flags & TRACE_EXEC_FRESH)) {
        bool end = str_eqc(x->text, JOURNAL_END_OF_INPUT);
        return session_line(p->session, end ? str_of("", 0) : x->text, end);
    }
    const struct wire_exec e = {
        .kind = (enum wire_exec_kind)x->kind,
        .text = x->text,
        .argv = split_list(&p->rec.arena, x->args),
        .env = split_list(&p->rec.arena, x->env),
        .stdin_open = (x->flags & TRACE_EXEC_STDIN) != 0,
        .tty = x->tty,
        .rows = x->rows,
        .cols = x->cols,
        .posix = (x->flags & TRACE_EXEC_POSIX) != 0,
        .atomic = (x->flags & TRACE_EXEC_ATOMIC) != 0,
        .keep = (x->flags & TRACE_EXEC_SHELL) != 0,
    };
    return session_exec(p->session, &e, err);
}

/* ---- comparing ---- */

static bool differ(struct replay *p, const char *what)
{
    if (p->report.what.n == 0)
        p->report.what = str_c(what);
    p->report.verdict = REPLAY_DIFFERS;
    return true;
}

static void show_values(struct replay *p)
{
    p->report.recorded = str_c(p->value[0]);
    p->report.replayed = str_c(p->value[1]);
}

static void say_outcome(char *out, size_t n, struct outcome o)
{
    if (o.kind == OUTCOME_EXITED)
        snprintf(out, n, "exited with %u", o.code);
    else
        snprintf(out, n, "%s by signal %u %s", outcome_kind_name(o.kind), o.signal, outcome_reason_name(o.reason));
}

static bool outcome_differs(struct replay *p, struct outcome a, struct outcome b)
{
    if (a.kind == b.kind && a.code == b.code && a.signal == b.signal && a.reason == b.reason)
        return false;
    say_outcome(p->value[0], sizeof(p->value[0]), a);
    say_outcome(p->value[1], sizeof(p->value[1]), b);
    show_values(p);
    return differ(p, "how it ended");
}

/* The first bytes that were recorded of a stream. */
static void recorded_text(struct replay *p, int stream)
{
    buf_clear(&p->recorded_text);
    for (size_t i = 0; i < p->rec.n_outputs && p->recorded_text.err == 0; i++) {
        const struct trace_output *o = &p->rec.outputs[i];
        if (o->stream != stream)
            continue;
        if (cas_id_none(&o->blob))
            (void)buf_adds(&p->recorded_text, o->data);
        else if (cas_get(p->store, &o->blob, &p->recorded_text))
            return; /* it is longer than what is shown, or gone: what is there is shown */
    }
}

static bool output_differs(struct replay *p, int stream)
{
    struct cas_id digest;
    cas_hash_end(&p->hash[stream], digest.b);
    if (p->size[stream] == p->rec.streams[stream].size && cas_id_cmp(&digest, &p->rec.streams[stream].digest) == 0)
        return false;
    recorded_text(p, stream);
    struct str a = buf_str(&p->recorded_text), b = buf_str(&p->text[stream]);
    size_t at = 0, line = 0;
    for (; at < a.n && at < b.n && a.p[at] == b.p[at]; at++)
        line = a.p[at] == '\n' ? at + 1 : line;
    a = str_from(a, line);
    b = str_from(b, line);
    p->report.recorded = str_of(a.p, a.n < REPLAY_TEXT ? a.n : REPLAY_TEXT);
    p->report.replayed = str_of(b.p, b.n < REPLAY_TEXT ? b.n : REPLAY_TEXT);
    return differ(p, stream == 1 ? "standard output" : "standard error");
}

struct file_list {
    struct buf *out;
    unsigned n;
};

static int list_file(void *arg, const struct vfs_change *c)
{
    struct file_list *l = arg;
    static const char letters[] = {'A', 'D', 'M', 'm'};
    (void)buf_addf(l->out, "%c %.*s\n", c->kind < sizeof(letters) ? letters[c->kind] : '?', (int)c->path.n, c->path.p);
    return ++l->n >= REPLAY_FILES;
}

/* Which files of the recorded state the replay has otherwise. */
static void list_files(struct replay *p)
{
    struct vfs_image_env env = {.quota = {UINT64_MAX / 2, UINT64_MAX / 2}};
    struct vfs *was = NULL;
    struct vfs_canon *k = NULL;
    struct cas_id root;
    buf_clear(&p->files);
    if (vfs_image_load(p->store, &p->rec.end.state.image, &env, &was, &k, &root))
        return; /* then the roots alone say it */
    struct file_list l = {&p->files, 0};
    (void)vfs_diff(was, session_tree(p->session), list_file, &l);
    vfs_canon_free(k);
    vfs_free(was);
    p->report.files = buf_str(&p->files);
}

static void hex(char *out, const uint8_t *b)
{
    for (size_t i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", b[i]);
}

static bool state_differs(struct replay *p)
{
    struct cas_id root, shell = {{0}};
    struct str text = session_shell_state(p->session);
    int r = session_root(p->session, root.b);
    if (r) {
        snprintf(p->value[0], sizeof(p->value[0]), "a root");
        snprintf(p->value[1], sizeof(p->value[1]), "%s", errtab_text(r));
        show_values(p);
        return differ(p, "root");
    }
    if (text.n) {
        struct cas_hash h;
        cas_hash_init(&h);
        cas_hash_add(&h, text.p, text.n);
        cas_hash_end(&h, shell.b);
    }
    const struct trace_state *was = &p->rec.end.state;
    bool tree = cas_id_cmp(&root, &was->root) != 0;
    if (!tree && cas_id_cmp(&shell, &was->shell) == 0)
        return false;
    hex(p->value[0], tree ? was->root.b : was->shell.b);
    hex(p->value[1], tree ? root.b : shell.b);
    show_values(p);
    if (tree)
        list_files(p);
    return differ(p, tree ? "root" : "the shell's state");
}

static void compare(struct replay *p)
{
    struct wire_result res;
    const char *what = "";
    session_result(p->session, &res);
    p->report.verdict = REPLAY_EQUAL;
    vfs_set_host_tape(session_tree(p->session), NULL);
    bool left = session_replayed(p->session, &what) < 0;
    int r = session_take_back(p->session);
    if (r) {
        p->report.replayed = str_c(errtab_text(r));
        (void)differ(p, "the state before it cannot be had");
        return;
    }
    if (output_differs(p, 1) || output_differs(p, 2) || outcome_differs(p, p->rec.end.outcome, res.outcome) ||
        state_differs(p))
        return;
    if (session_next_pid(p->session) != p->rec.end.next_pid) {
        snprintf(p->value[0], sizeof(p->value[0]), "%d", p->rec.end.next_pid);
        snprintf(p->value[1], sizeof(p->value[1]), "%d", session_next_pid(p->session));
        show_values(p);
        (void)differ(p, "the next process number");
    } else if (p->asked_other || p->next_ask != p->rec.n_asks) {
        (void)differ(p, "what it asked of the host");
    } else if (left) {
        p->report.replayed = str_c(what);
        (void)differ(p, "the record was left");
    }
}

/* ---- one exec ---- */

static void leave_out(struct replay *p, struct str why)
{
    p->report.verdict = REPLAY_LEFT_OUT;
    p->report.what = why;
    p->broken = true;
}

static int replay_exec(struct replay *p, struct err *err)
{
    const struct recorded *r = &p->rec;
    bool fresh = (r->exec.flags & TRACE_EXEC_FRESH) != 0;
    p->report = (struct replay_report){.seq = r->ended ? r->end_seq : r->exec_seq,
                                       .command = r->exec.kind == WIRE_EXEC_ARGV || r->exec.text.n == 0 ? r->exec.args
                                                                                                        : r->exec.text,
                                       .recorded_us = (int64_t)r->end.wall_us};
    if (!r->ended || r->end.outcome.kind == OUTCOME_LOST) {
        leave_out(p, STR("it was lost"));
        return 0;
    }
    if (!r->end.replayable) {
        leave_out(p, r->end.why_not);
        return 0;
    }
    if (!fresh && (!p->session || p->broken)) {
        leave_out(p, STR("it went on in a shell that is not there"));
        return 0;
    }
    int64_t began = clock_mono(), wake;
    int rc = fresh ? open_session(p, err) : 0;
    if (rc == 0)
        rc = start(p, err);
    if (rc)
        return rc;
    while (!session_step(p->session, &wake))
        session_output_ready(p->session);
    p->report.replayed_us = (clock_mono() - began) / CLOCK_US;
    compare(p);
    p->broken = p->report.verdict != REPLAY_EQUAL;
    return 0;
}

/* One event of the log. */
static int on_event(struct replay *p, const struct trace_event *e, bool *ret_ready)
{
    *ret_ready = false;
    switch (e->type) {
    case TRACE_CREATED:
        p->state = e->u.created.state;
        return 0;
    case TRACE_RESTORE:
        p->state = e->u.restore.state;
        return 0;
    case TRACE_EXEC:
        return begin_exec(p, e);
    case TRACE_INPUT:
        return add_input(p, &e->u.input);
    case TRACE_CLOCK:
        return add_clock(p, &e->u.clock);
    case TRACE_HOST_READ:
        add_ask(p, &e->u.host_read);
        return 0;
    case TRACE_OUTPUT:
        add_output(p, &e->u.output);
        return 0;
    case TRACE_END:
        p->rec.end = e->u.end;
        p->rec.end.why_not = keep_str(&p->rec, e->u.end.why_not);
        p->rec.end_seq = e->seq;
        p->rec.ended = true;
        *ret_ready = true;
        return 0;
    case TRACE_DECISION:
    case TRACE_CHANGE:
    case TRACE_LIMIT:
    case TRACE_SNAPSHOT:
    case TRACE_FORK:
    case TRACE_TYPES:
        break;
    }
    return 0;
}

static int replay_log(struct replay *p, struct trace *t, uint64_t from,
                      int (*fn)(void *arg, const struct replay_report *r), void *arg, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e;
    bool ready;
    int r;
    trace_begin(&pos);
    while ((r = trace_next(t, &pos, &e, err)) == 1) {
        r = on_event(p, &e, &ready);
        if (r) {
            r = err_set(err, r, "@%llu: what it names cannot be had from the store: %s", (unsigned long long)e.seq,
                        errtab_text(r));
            break;
        }
        if (!ready)
            continue;
        if (e.seq >= from && ((r = replay_exec(p, err)) != 0 || (r = fn(arg, &p->report)) != 0))
            break;
        p->state = p->rec.end.state;
    }
    trace_pos_done(&pos);
    return r;
}

int replay_run(struct cas *store, struct trace *t, struct vfs *tmpl, const struct session_config *sc, uint64_t from,
               int (*fn)(void *arg, const struct replay_report *r), void *arg, struct err *err)
{
    struct replay *p = mem_zalloc(sizeof(*p));
    p->store = store;
    p->tmpl = tmpl;
    p->sc = sc;
    p->host = (struct session_host){.arg = p, .output = take_output};
    p->host_tape = (struct vfs_host_tape){.arg = p, .answer = answer};
    for (int i = 1; i <= 2; i++)
        buf_init(&p->text[i], 256u << 10);
    buf_init(&p->recorded_text, 256u << 10);
    buf_init(&p->files, 1u << 20);
    buf_init(&p->rec.clock, 0);
    int r = replay_log(p, t, from, fn, arg, err);
    session_free(p->session);
    arena_done(&p->rec.arena);
    buf_done(&p->rec.clock);
    for (int i = 1; i <= 2; i++)
        buf_done(&p->text[i]);
    buf_done(&p->recorded_text);
    buf_done(&p->files);
    mem_free(p);
    return r;
}
