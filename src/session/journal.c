/* SPDX-License-Identifier: Apache-2.0 */
#include "session/journal.h"

#include <errno.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "proc/proc.h"
#include "session/journal_int.h"
#include "types/errtab.h"
#include "vfs/vfs.h"

/* ---- what happens while an exec runs ---- */

int journal__append(struct journal *j, struct trace_event *e)
{
    if (j->error)
        return j->error;
    j->error = trace_append(j->trace, e);
    return j->error;
}

/* Bulk goes to the store, what is short into the event. */
int journal__keep(struct journal *j, struct str bytes, struct str *ret_data, struct cas_id *ret_blob)
{
    *ret_blob = (struct cas_id){{0}};
    *ret_data = str_of("", 0);
    if (bytes.n <= LIMIT_TRACE_INLINE) {
        *ret_data = bytes;
        return 0;
    }
    if (j->error == 0)
        j->error = cas_put(j->store, bytes, ret_blob);
    return j->error;
}

static void on_event(void *arg, const struct session_event *ev)
{
    struct journal *j = arg;
    struct trace_event e = {
        .type = TRACE_INPUT,
        .u.input = {.kind = (uint8_t)ev->kind, .look = ev->look, .value = ev->value, .size = ev->data.n}};
    if (journal__keep(j, ev->data, &e.u.input.data, &e.u.input.blob) == 0)
        (void)journal__append(j, &e); /* an error stays in the journal, and journal_ended() tells it */
}

static void put_clock(struct journal *j)
{
    struct str bytes = buf_str(&j->clock);
    if (bytes.n == 0)
        return;
    struct trace_event e = {.type = TRACE_CLOCK, .u.clock.size = bytes.n};
    if (journal__keep(j, bytes, &e.u.clock.data, &e.u.clock.blob) == 0)
        (void)journal__append(j, &e);
    buf_clear(&j->clock);
}

static void on_clock(void *arg, const void *p, size_t n)
{
    struct journal *j = arg;
    if (buf_add(&j->clock, p, n))
        j->why_not = "too many looks at the clock";
    if (j->clock.n >= JOURNAL_CHUNK)
        put_clock(j);
}

static void on_inexact(void *arg, const char *why)
{
    struct journal *j = arg;
    if (!j->why_not)
        j->why_not = why;
}

static void put_stream(struct journal *j, int stream)
{
    struct journal_stream *s = &j->streams[stream];
    struct str bytes = buf_str(&s->pending);
    if (s->size == 0)
        return;
    struct cas_hash h = s->hash;
    struct trace_event e = {
        .type = TRACE_OUTPUT,
        .u.output = {.stream = (uint8_t)stream, .offset = s->offset, .size = s->size, .kept = bytes.n}};
    cas_hash_end(&h, e.u.output.digest.b);
    if (journal__keep(j, bytes, &e.u.output.data, &e.u.output.blob) == 0)
        (void)journal__append(j, &e);
    s->offset += s->size;
    s->size = 0;
    buf_clear(&s->pending);
}

void journal__put_streams(struct journal *j)
{
    put_stream(j, j->last_stream == 2 ? 1 : 2);
    put_stream(j, j->last_stream == 2 ? 2 : 1);
    put_clock(j);
}

static ssize_t on_output(void *arg, int stream, const void *p, size_t n)
{
    struct journal *j = arg;
    ssize_t took = j->host->output(j->host->arg, stream, p, n);
    if (took <= 0)
        return took;
    struct journal_stream *s = &j->streams[stream];
    /* The order of the two streams among each other is kept as long as they do not change places too often. */
    if (stream != j->last_stream && j->switches < JOURNAL_SWITCHES) {
        put_stream(j, j->last_stream);
        j->switches++;
    }
    j->last_stream = stream;
    struct mem_account *acc = mem_use(NULL);
    cas_hash_add(&s->hash, p, (size_t)took);
    s->size += (uint64_t)took;
    if (j->kept < LIMIT_TRACE_OUTPUT && buf_add(&s->pending, p, (size_t)took) == 0)
        j->kept += (uint64_t)took;
    if (s->pending.n >= JOURNAL_CHUNK)
        put_stream(j, stream);
    mem_use(acc);
    return took;
}

static void on_want(void *arg)
{
    struct journal *j = arg;
    if (j->host->want_input)
        j->host->want_input(j->host->arg);
}

static void on_attend(void *arg)
{
    struct journal *j = arg;
    if (j->host->attend)
        j->host->attend(j->host->arg);
}

/* ---- beginning ---- */

static void put_list(struct buf *out, const struct wire_list *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        buf_adds(out, l->v[i]);
        buf_putc(out, 0);
    }
}

static int begin_tape(struct journal *j, struct session_begin *ret)
{
    *ret = (struct session_begin){.wall = clock_wall(), .mono = clock_mono(), .first_pid = j->ran ? 0 : j->next_pid};
    for (size_t n = 0; n < sizeof(ret->seed);) {
        ssize_t got = getrandom(ret->seed + n, sizeof(ret->seed) - n, 0);
        if (got < 0 && errno != EINTR)
            return -errno;
        n += got > 0 ? (size_t)got : 0;
    }
    const struct session_tape tape = {
        .arg = j, .begin = *ret, .event = on_event, .clock = on_clock, .inexact = on_inexact};
    session_record(j->session, &tape);
    return 0;
}

static void reset(struct journal *j)
{
    for (int i = 1; i <= 2; i++) {
        buf_clear(&j->streams[i].pending);
        j->streams[i].offset = j->streams[i].size = 0;
        cas_hash_init(&j->streams[i].hash);
    }
    buf_clear(&j->clock);
    j->kept = 0;
    j->switches = 0;
    j->last_stream = 1;
    j->why_not = NULL;
}

/* EXEC into the log, before anything of it has run. */
static int log_begin(struct journal *j, const struct wire_exec *e, const struct session_begin *b, bool fresh)
{
    BUF_AUTO struct buf args, env;
    buf_init(&args, LIMIT_ARGS);
    buf_init(&env, LIMIT_ARGS);
    put_list(&args, &e->argv);
    struct wire_list open_env = {e->env.v, e->env.n - e->n_secrets};
    put_list(&env, &open_env);
    struct trace_event ev = {.type = TRACE_EXEC,
                             .u.exec = {.kind = (uint8_t)e->kind,
                                        .tty = e->tty,
                                        .rows = e->rows,
                                        .cols = e->cols,
                                        .args = buf_str(&args),
                                        .env = buf_str(&env),
                                        .cwd = session_cwd(j->session),
                                        .limits = str_c(j->limits),
                                        .first_pid = b->first_pid,
                                        .wall = b->wall,
                                        .mono = b->mono}};
    memcpy(ev.u.exec.seed, b->seed, sizeof(b->seed));
    ev.u.exec.flags = (fresh ? TRACE_EXEC_FRESH : 0u) | (e->stdin_open ? TRACE_EXEC_STDIN : 0u) |
                      (e->posix ? TRACE_EXEC_POSIX : 0u) | (e->keep ? TRACE_EXEC_SHELL : 0u) |
                      (j->durable ? TRACE_EXEC_DURABLE : 0u);
    int r = args.err ? args.err : env.err;
    if (r == 0)
        r = journal__keep(j, e->text, &ev.u.exec.text, &ev.u.exec.script);
    /* A list of arguments that is longer than an event may be is kept by its beginning, and the record says so. */
    if (r == 0 && args.n + env.n > LIMIT_TRACE_EVENT / 2) {
        ev.u.exec.args.n = ev.u.exec.args.n < LIMIT_TRACE_EVENT / 4 ? ev.u.exec.args.n : LIMIT_TRACE_EVENT / 4;
        ev.u.exec.env.n = ev.u.exec.env.n < LIMIT_TRACE_EVENT / 4 ? ev.u.exec.env.n : LIMIT_TRACE_EVENT / 4;
        j->why_not = "its arguments or environment are too long to be recorded whole";
    }
    if (e->n_secrets)
        j->why_not = "it was given a secret, which is not recorded";
    if (r == 0)
        r = cas_flush(j->store);
    if (r == 0)
        r = journal__append(j, &ev);
    if (r == 0)
        r = trace_flush(j->trace);
    j->exec_seq = ev.seq;
    return r;
}

static int note_secrets(struct journal *j, const struct wire_exec *e)
{
    for (uint32_t i = e->env.n - e->n_secrets; i < e->env.n; i++) {
        ptrdiff_t eq = str_find(e->env.v[i], '=', 0);
        struct str value = eq < 0 ? str_of("", 0) : str_from(e->env.v[i], (size_t)eq + 1);
        if (value.n < 4)
            continue; /* trace.h: too short to be told from other text */
        struct str copy = arena_str(&j->secrets, value);
        int r = trace_mask(j->trace, &copy, 1);
        if (r)
            return r;
    }
    return 0;
}

/* What is the same for an exec and a line: @r is what starting it gave. */
static int started(struct journal *j, int r, const struct wire_exec *e, const struct session_begin *b, bool fresh,
                   struct err *err)
{
    if (r)
        return r;
    vfs_free(j->before);
    j->before = vfs_fork(session_tree(j->session));
    j->host_reads = vfs_host_reads();
    r = j->before ? log_begin(j, e, b, fresh) : -ENOMEM;
    if (r == 0) {
        j->running = j->ran = true;
        return 0;
    }
    /* Nothing of it has run, and nothing will. */
    trace_drop(j->trace);
    j->error = 0;
    session_kill(j->session, REASON_CRASH);
    int64_t wake;
    while (!session_step(j->session, &wake))
        ;
    return err_set(err, r, "the command was not run, because its record cannot be written: %s", errtab_text(r));
}

int journal_exec(struct journal *j, const struct wire_exec *e, struct err *err)
{
    struct session_begin b;
    if (j->broken)
        return err_set(err, j->broken, "the session's record could not be written before: %s", errtab_text(j->broken));
    int r = j->touched ? journal_settle(j, "files") : 0;
    if (r == 0)
        r = note_secrets(j, e);
    if (r)
        return err_set(err, r, "the session's state cannot be kept: %s", errtab_text(r));
    reset(j);
    r = begin_tape(j, &b);
    if (r)
        return err_set(err, r, "no entropy: %s", errtab_text(r));
    j->serving = e->kind == WIRE_EXEC_SERVE ? *e : (struct wire_exec){0};
    j->serving.argv = j->serving.env = (struct wire_list){0};
    j->serving.n_secrets = 0;
    r = session_exec(j->session, e, err);
    return started(j, r, e, &b, r == 0 && session_fresh(j->session), err);
}

int journal_line(struct journal *j, struct str line, bool end)
{
    struct session_begin b;
    struct err err;
    if (j->broken)
        return j->broken;
    reset(j);
    int r = begin_tape(j, &b);
    if (r)
        return r;
    struct wire_exec e = j->serving;
    e.text = end ? STR(JOURNAL_END_OF_INPUT) : line;
    return started(j, session_line(j->session, line, end), &e, &b, false, &err);
}

struct session *journal_session(struct journal *j)
{
    return j->session;
}

void journal_touched(struct journal *j)
{
    j->touched = true;
}

int journal_sync(struct journal *j)
{
    int r = cas_sync(j->store);
    if (r == 0)
        r = trace_sync(j->trace);
    if (r == 0)
        j->unsynced = false;
    return r;
}

bool journal_dirty(const struct journal *j)
{
    return j->unsynced;
}

/* ---- opening ---- */

/* The last state in the log; *ret_lost when an exec had begun after it. */
static int last_state(struct trace *t, struct trace_state *ret, int32_t *ret_pid, bool *ret_lost, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e;
    const uint32_t states = 1u << TRACE_CREATED | 1u << TRACE_END | 1u << TRACE_RESTORE;
    *ret_lost = false;
    *ret_pid = 0;
    bool found = false;
    trace_begin(&pos);
    int r = trace_tail(t, &pos, err);
    uint32_t want = states | 1u << TRACE_EXEC;
    while (r == 0 && (r = trace_last(t, &pos, want, &e, err)) == 1) {
        r = 0;
        if (e.type == TRACE_EXEC) {
            *ret_lost = !found;
            want = states;
            continue;
        }
        if (!found)
            *ret = e.type == TRACE_CREATED ? e.u.created.state
                   : e.type == TRACE_END   ? e.u.end.state
                                           : e.u.restore.state;
        found = true;
        want = 1u << TRACE_END;
        if (e.type != TRACE_END)
            continue;
        *ret_pid = e.u.end.next_pid;
        break;
    }
    trace_pos_done(&pos);
    if (r == 0 && !found)
        return err_set(err, -EBADMSG, "the session's log holds no state");
    return r;
}

static int end_lost(struct journal *j)
{
    struct trace_event e = {.type = TRACE_END,
                            .u.end = {.outcome = {.kind = OUTCOME_LOST, .reason = REASON_CRASH},
                                      .next_pid = j->next_pid,
                                      .why_not = STR("it was lost"),
                                      .state = j->state}};
    int r = trace_append(j->trace, &e);
    return r ? r : trace_flush(j->trace);
}

static int load_tree(struct journal *j, struct vfs *tmpl, const struct session_config *sc, struct session_config *with,
                     struct err *err)
{
    ARENA_AUTO struct arena a = {0};
    struct vfs_image_host *hosts = arena_alloc(&a, (sc->n_mounts + 1) * sizeof(*hosts));
    struct vfs_image_env env = {.hosts = hosts, .n_hosts = sc->n_mounts};
    struct cas_id root;
    if (session_quota(tmpl, &sc->limits, &env.quota))
        return err_set(err, -ENOMEM, "no memory for the session's tree");
    env.provider = proc_provider();
    for (uint32_t i = 0; i < sc->n_mounts; i++)
        hosts[i] = (struct vfs_image_host){sc->mounts[i].fd, sc->host_uid, sc->host_gid, 0,
                                           0}; /* see vfs_image_own_mounts() */
    int r = vfs_image_load(j->store, &j->state.image, &env, &with->tree, &with->canon, &root);
    if (r)
        return err_set(err, r, "the session's tree cannot be loaded from the store: %s (see `store fsck`)",
                       errtab_text(r));
    with->n_mounts = 0;
    with->mounts = NULL;
    if (cas_id_cmp(&root, &j->state.root) == 0)
        return 0;
    vfs_free(with->tree);
    vfs_canon_free(with->canon);
    with->tree = NULL;
    with->canon = NULL;
    return err_set(err, -EBADMSG, "the session's tree is not the one that its log names");
}

static int load_shell(struct journal *j, struct err *err)
{
    static const struct cas_id none;
    if (cas_id_cmp(&j->state.shell, &none) == 0)
        return 0;
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_SHELL_STATE);
    int r = cas_get(j->store, &j->state.shell, &b);
    if (r == 0)
        r = session_set_shell_state(j->session, buf_str(&b));
    return r ? err_set(err, r, "the session's shell cannot be loaded from the store: %s", errtab_text(r)) : 0;
}

static int open_old(struct journal *j, struct vfs *tmpl, const struct session_config *sc, struct err *err)
{
    bool lost;
    int r = last_state(j->trace, &j->state, &j->next_pid, &lost, err);
    if (r)
        return r;
    struct session_config with = *sc;
    r = load_tree(j, tmpl, sc, &with, err);
    if (r == 0)
        r = session_new(tmpl, &with, &j->own, &j->session, err);
    if (r == 0)
        r = load_shell(j, err);
    if (r == 0 && lost && (r = end_lost(j)) != 0)
        return err_set(err, r, "the session's log cannot be written: %s", errtab_text(r));
    return r;
}

static int open_new(struct journal *j, struct vfs *tmpl, const struct journal_config *cfg,
                    const struct session_config *sc, struct err *err)
{
    int r = session_new(tmpl, sc, &j->own, &j->session, err);
    if (r)
        return r;
    r = vfs_image_store(session_tree(j->session), session_canon(j->session), j->store, &j->state.root, &j->state.image);
    struct trace_event e = {.type = TRACE_CREATED,
                            .u.created = {.session = cfg->id, .config = cfg->config, .state = j->state}};
    if (r == 0)
        r = cas_flush(j->store);
    if (r == 0)
        r = trace_append(j->trace, &e);
    if (r == 0)
        r = trace_flush(j->trace);
    j->unsynced = true;
    return r ? err_set(err, r, "the session cannot be kept: %s", errtab_text(r)) : 0;
}

int journal_open(const struct journal_config *cfg, struct vfs *tmpl, const struct session_config *sc,
                 const struct session_host *host, struct journal **ret, struct err *err)
{
    struct journal *j = mem_zalloc(sizeof(*j));
    j->host = host;
    j->durable = cfg->durable;
    j->limits = mem_dup(cfg->limits.p, cfg->limits.n);
    j->own = (struct session_host){.arg = j, .output = on_output, .want_input = on_want, .attend = on_attend};
    for (int i = 1; i <= 2; i++)
        buf_init(&j->streams[i].pending, LIMIT_TRACE_OUTPUT);
    buf_init(&j->clock, LIMIT_CAS_BLOB);
    int trace_fd = cfg->trace_fd;
    int r = cas_open(cfg->store_fd, CAS_WRITE | CAS_CREATE, &j->store, err);
    if (r == 0)
        r = trace_open(trace_fd, TRACE_APPEND | (cfg->fresh ? TRACE_NEW : 0), &j->trace, NULL, err);
    else
        fd_close(&trace_fd);
    if (r == 0)
        r = cfg->fresh ? open_new(j, tmpl, cfg, sc, err) : open_old(j, tmpl, sc, err);
    if (r) {
        journal_close(j);
        return r;
    }
    *ret = j;
    return 0;
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    if (j->touched && j->session && !j->running && !j->broken)
        (void)journal_settle(j, "files");
    if (j->unsynced)
        (void)journal_sync(j); /* nobody is left to be told */
    session_free(j->session);
    vfs_free(j->before);
    for (int i = 1; i <= 2; i++)
        buf_done(&j->streams[i].pending);
    buf_done(&j->clock);
    arena_done(&j->secrets);
    mem_free(j->limits);
    trace_close(j->trace);
    cas_close(j->store);
    mem_free(j);
}
