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
    j->input_bytes += ev->data.n;
    if (j->input_bytes > LIMIT_TRACE_INPUT) {
        j->why_not = "it was given more input than is recorded";
        return;
    }
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

void journal__on_host(void *arg, enum vfs_host_ask ask, unsigned mount, struct str path, int error, struct str answer)
{
    struct journal *j = arg;
    struct trace_event e = {
        .type = TRACE_HOST_READ,
        .u.host_read = {.kind = (uint8_t)ask, .mount = (uint8_t)mount, .error = error, .path = path, .size = answer.n}};
    if (j->held_back) {
        if (j->n_held == JOURNAL_HELD) {
            j->why_not = "starting it asked the host too much";
            return;
        }
        j->held[j->n_held++] = (struct journal_held){ask, mount, error, arena_str(&j->held_arena, path),
                                                     arena_str(&j->held_arena, answer)};
        return;
    }
    j->host_bytes += answer.n;
    if (j->host_bytes > LIMIT_TRACE_HOST)
        j->why_not = "it read more of the host through a mount than is recorded";
    else if (journal__keep(j, answer, &e.u.host_read.data, &e.u.host_read.digest) == 0)
        (void)journal__append(j, &e);
}

static void on_inexact(void *arg, const char *why)
{
    struct journal *j = arg;
    if (!j->why_not)
        j->why_not = why;
}

/* Commands print in small pieces, and hashing these one by one costs more than hashing them together. */
static void hash_pending(struct journal_stream *s)
{
    if (s->pending.n > s->hashed)
        cas_hash_add(&s->hash, s->pending.p + s->hashed, s->pending.n - s->hashed);
    s->hashed = s->pending.n;
}

static void put_stream(struct journal *j, int stream)
{
    struct journal_stream *s = &j->streams[stream];
    struct str bytes = buf_str(&s->pending);
    if (s->size == 0)
        return;
    hash_pending(s);
    struct cas_hash h = s->hash;
    struct trace_event e = {
        .type = TRACE_OUTPUT,
        .u.output = {.stream = (uint8_t)stream, .offset = s->offset, .size = s->size, .kept = bytes.n}};
    cas_hash_end(&h, e.u.output.digest.b);
    if (journal__keep(j, bytes, &e.u.output.data, &e.u.output.blob) == 0)
        (void)journal__append(j, &e);
    s->offset += s->size;
    s->size = 0;
    s->hashed = 0;
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
    s->size += (uint64_t)took;
    if (j->kept < LIMIT_TRACE_OUTPUT && buf_add(&s->pending, p, (size_t)took) == 0) {
        j->kept += (uint64_t)took;
    } else {
        hash_pending(s);
        cas_hash_add(&s->hash, p, (size_t)took);
    }
    if (s->pending.n >= JOURNAL_CHUNK)
        put_stream(j, stream);
    mem_use(acc);
    return took;
}

static void on_want(void *arg)
{
    struct journal *j = arg;
    journal_show(j);
    if (j->host->want_input)
        j->host->want_input(j->host->arg);
}

static void on_attend(void *arg)
{
    struct journal *j = arg;
    journal_show(j);
    if (j->host->attend)
        j->host->attend(j->host->arg);
}

int journal__release(struct journal *j)
{
    if (!cas_held(j->store))
        return 0;
    /* Between two calls of the journal, all that it has put is named by what it has appended. */
    int r = j->shared ? cas_flush(j->store) : 0;
    for (struct journal *o = j->shared ? j->shared->journals : NULL; o && r == 0; o = o->next) {
        int e = o == j || o->broken ? 0 : trace_flush(o->trace);
        if (e && !o->error)
            o->error = e; /* it is told so when its exec ends */
        r = e;
    }
    return r ? 0 : cas_release(j->store); /* else the hold lasts longer than it needs */
}

void journal_show(struct journal *j)
{
    if (!j->hidden && !cas_held(j->store))
        return;
    j->hidden = false;
    struct mem_account *acc = mem_use(NULL);
    if (j->error == 0)
        j->error = cas_flush(j->store);
    if (j->error == 0)
        j->error = trace_flush(j->trace);
    /* What was put is named by events, all of which are in the file: gc need not wait until the exec ends. */
    if (j->error == 0)
        j->error = journal__release(j);
    mem_use(acc);
}

void journal__stand_between(struct journal *j)
{
    j->own = (struct session_host){.arg = j, .output = on_output, .want_input = on_want, .attend = on_attend};
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
    /* The number is recorded in any case: a replay begins each exec that found no processes on a new set. */
    *ret = (struct session_begin){.wall = clock_wall(),
                                  .mono = clock_mono(),
                                  .first_pid = j->ran ? session_next_pid(j->session) : j->next_pid};
    for (size_t n = 0; n < sizeof(ret->seed);) {
        ssize_t got = getrandom(ret->seed + n, sizeof(ret->seed) - n, 0);
        if (got < 0 && errno != EINTR)
            return -errno;
        n += got > 0 ? (size_t)got : 0;
    }
    const struct session_tape tape = {
        .arg = j, .begin = *ret, .event = on_event, .clock = on_clock, .inexact = on_inexact};
    session_record(j->session, &tape);
    j->held_back = true;
    vfs_set_host_tape(session_tree(j->session), &j->host_tape);
    return 0;
}

static void reset(struct journal *j)
{
    for (int i = 1; i <= 2; i++) {
        buf_clear(&j->streams[i].pending);
        j->streams[i].offset = j->streams[i].size = j->streams[i].hashed = 0;
        cas_hash_init(&j->streams[i].hash);
    }
    buf_clear(&j->clock);
    j->kept = j->host_bytes = j->input_bytes = 0;
    j->n_held = 0;
    j->switches = 0;
    j->last_stream = 1;
    j->why_not = j->changed ? "the session's policy or limits are not those that it was made with" : NULL;
}

/* EXEC becomes an event before anything of it has run. It goes to the file when something of it may be seen, or with
 * END when it was over before that. */
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
                                        .key = e->key,
                                        .env = buf_str(&env),
                                        .cwd = session_cwd(j->session),
                                        .limits = str_c(j->limits),
                                        .first_pid = b->first_pid,
                                        .wall = b->wall,
                                        .mono = b->mono}};
    memcpy(ev.u.exec.seed, b->seed, sizeof(b->seed));
    ev.u.exec.flags = (fresh ? TRACE_EXEC_FRESH : 0u) | (e->stdin_open ? TRACE_EXEC_STDIN : 0u) |
                      (e->posix ? TRACE_EXEC_POSIX : 0u) | (e->keep ? TRACE_EXEC_SHELL : 0u) |
                      (j->durable || j->sync_this ? TRACE_EXEC_DURABLE : 0u) | (e->atomic ? TRACE_EXEC_ATOMIC : 0u);
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
    /* A script in the store is there before the log names it, which may be any time from here on. */
    if (r == 0 && !cas_id_none(&ev.u.exec.script))
        r = cas_flush(j->store);
    if (r == 0)
        r = journal__append(j, &ev);
    j->held_back = false;
    for (uint32_t i = 0; i < j->n_held && r == 0; i++) {
        const struct journal_held *h = &j->held[i];
        journal__on_host(j, h->ask, h->mount, h->path, h->error, h->answer);
        r = j->error;
    }
    arena_done(&j->held_arena);
    j->n_held = 0;
    j->hidden = r == 0;
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
    if (r) {
        vfs_set_host_tape(session_tree(j->session), NULL);
        return r;
    }
    vfs_free(j->before);
    j->before = vfs_fork(session_tree(j->session));
    r = j->before ? log_begin(j, e, b, fresh) : -ENOMEM;
    if (r == 0) {
        j->running = j->ran = true;
        return 0;
    }
    vfs_set_host_tape(session_tree(j->session), NULL);
    /* Nothing of it has run, and nothing will. Ending it is an event too, so what is to be written is dropped after. */
    session_kill(j->session, REASON_CRASH);
    int64_t wake;
    while (!session_step(j->session, &wake))
        ;
    trace_drop(j->trace);
    (void)journal__release(j);
    j->error = 0;
    return err_set(err, r, "the command was not run, because its record cannot be written: %s", errtab_text(r));
}

/* Whether something may begin: the record of what runs already is written to its end, however long. */
static int may_begin(struct journal *j, struct err *err)
{
    if (j->broken)
        return err_set(err, j->broken, "the session's record could not be written before: %s", errtab_text(j->broken));
    if (trace_size(j->trace) < j->log_limit)
        return 0;
    return err_set(err, -EDQUOT,
                   "the session's log has %llu bytes, and its limit is %llu: raise it (--limit trace=SIZE), or fork "
                   "the session, which begins a log of its own",
                   (unsigned long long)trace_size(j->trace), (unsigned long long)j->log_limit);
}

int journal_exec(struct journal *j, const struct wire_exec *e, struct err *err)
{
    struct session_begin b;
    int r = may_begin(j, err);
    if (r)
        return r;
    r = j->touched ? journal_settle(j, "files") : 0;
    if (r == 0)
        r = note_secrets(j, e);
    if (r)
        return err_set(err, r, "the session's state cannot be kept: %s", errtab_text(r));
    reset(j);
    j->sync_this = e->durable;
    /* What is durable from now on stands on what others have put. */
    r = e->durable && !j->durable && !j->adopted ? cas_adopt(j->store) : 0;
    if (r)
        return err_set(err, r, "the session's state cannot be made durable: %s", errtab_text(r));
    j->adopted |= e->durable;
    r = begin_tape(j, &b);
    if (r)
        return err_set(err, r, "no entropy: %s", errtab_text(r));
    j->serving = e->kind == WIRE_EXEC_SERVE ? *e : (struct wire_exec){0};
    j->serving.argv = j->serving.env = (struct wire_list){0};
    j->serving.n_secrets = 0;
    j->serving.key = str_of(NULL, 0);
    r = session_exec(j->session, e, err);
    return started(j, r, e, &b, r == 0 && session_fresh(j->session), err);
}

int journal_line(struct journal *j, struct str line, bool end, struct err *err)
{
    struct session_begin b;
    int r = end && !j->broken ? 0 : may_begin(j, err);
    if (r)
        return r;
    reset(j);
    r = begin_tape(j, &b);
    if (r)
        return err_set(err, r, "no entropy: %s", errtab_text(r));
    struct wire_exec e = j->serving;
    e.text = end ? STR(JOURNAL_END_OF_INPUT) : line;
    return started(j, session_line(j->session, line, end), &e, &b, false, err);
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

int journal_store_sync_begin(struct journal_store *st, int *ret_fd)
{
    return cas_sync_begin(st->cas, ret_fd);
}

void journal_store_sync_end(struct journal_store *st, int result)
{
    (void)cas_sync_end(st->cas, result); /* what is not on the disk stays to be waited for */
}

int journal_sync_begin(struct journal *j, int *ret_fd)
{
    int r = trace_flush(j->trace);
    if (r)
        return r;
    j->unsynced = false;
    j->syncing = true;
    *ret_fd = trace_fd(j->trace);
    return 0;
}

void journal_sync_end(struct journal *j, int result)
{
    j->unsynced |= j->syncing && result < 0;
    j->syncing = false;
}

bool journal_dirty(const struct journal *j)
{
    return j->unsynced || j->syncing;
}
