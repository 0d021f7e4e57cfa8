/* SPDX-License-Identifier: Apache-2.0 */

/* Execs that are known from their session's log only. */

#include <errno.h>

#include "base/fd.h"
#include "base/mem.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"
#include "wire/json_trace.h"
#include "wire/json_write.h"

/* The tenant's store, to read. */
static int open_store(struct sched_tenant *t, struct cas **ret, struct err *err)
{
    int r = t->store ? 0 : state_store(t->state, 0, &t->store, err);
    if (r == 0)
        *ret = t->store;
    return r;
}

static int open_log(struct sched_session *s, struct trace **ret, struct err *err)
{
    struct state_session ses;
    int r = state_session_open(s->tenant->state, str_c(s->id), false, 0, &ses, err);
    if (r)
        return r;
    r = trace_open(fd_steal(&ses.trace_fd), 0, ret, NULL, err);
    state_session_close(&ses);
    return r;
}

static void record_init(struct sched_record *r)
{
    *r = (struct sched_record){.seq = 0};
    for (int i = 1; i <= 2; i++)
        buf_init(&r->out[i], LIMIT_TRACE_OUTPUT);
}

void sched_record_done(struct sched_record *r)
{
    for (int i = 1; i <= 2; i++)
        buf_done(&r->out[i]);
}

static bool take_exec(struct sched_record *r, const struct trace_event *e)
{
    const struct trace_exec *x = &e->u.exec;
    struct id id;
    if (id_parse(ID_EXEC, x->key, &id))
        return false;
    memcpy(r->id, id.text, sizeof(r->id));
    r->seq = e->seq;
    r->info = (struct sched_exec_info){.id = r->id, .running = true, .created = x->wall, .started = x->wall};
    r->result = (struct wire_result){.error = 0};
    return true;
}

static int take_output(struct sched_record *r, struct cas *store, const struct trace_output *o)
{
    struct buf *b = &r->out[o->stream];
    r->info.total[o->stream] = o->offset + o->size;
    if (!store || b->n != o->offset)
        return 0; /* without its output, or behind what is not there any more */
    int e = cas_id_none(&o->blob) ? buf_adds(b, o->data) : cas_get(store, &o->blob, b);
    return e == -EFBIG ? 0 : e;
}

static void take_end(struct sched_record *r, const struct trace_event *e)
{
    const struct trace_end *x = &e->u.end;
    r->info.running = false;
    r->info.outcome = x->outcome;
    r->info.ended = e->time;
    r->result = (struct wire_result){
        .outcome = x->outcome,
        .cpu_us = x->cpu_us,
        .wall_us = x->wall_us,
        .output_bytes = x->output_bytes,
        .memory_peak = x->memory_peak,
        .processes = x->processes,
        .files_bytes = x->files_bytes,
        .inodes = x->inodes,
        .seq = e->seq,
    };
    memcpy(r->result.root, x->state.root.b, sizeof(r->result.root));
}

/* Points the info at what it borrows. */
static void point(struct sched_record *r)
{
    r->info.id = r->id;
    r->info.result = r->info.running || r->result.outcome.kind == OUTCOME_LOST ? NULL : &r->result;
    for (int i = 1; i <= 2; i++)
        r->info.out[i] = buf_str(&r->out[i]);
}

int sched_record_find(struct sched_session *s, struct str id, struct sched_record *ret, struct err *err)
{
    struct trace *t;
    struct trace_pos pos;
    struct trace_event e;
    struct cas *store = NULL;
    bool found = false, ended = false;
    int r = open_store(s->tenant, &store, err);
    if (r == 0)
        r = open_log(s, &t, err);
    if (r)
        return r;
    record_init(ret);
    trace_begin(&pos);
    while (!ended && (r = trace_next(t, &pos, &e, err)) == 1) {
        r = 0;
        if (e.type == TRACE_EXEC && !found && str_eq(e.u.exec.key, id))
            found = take_exec(ret, &e);
        else if (e.type == TRACE_OUTPUT && found)
            r = take_output(ret, store, &e.u.output);
        else if (e.type == TRACE_END && found) {
            take_end(ret, &e);
            ended = true;
        }
        if (r) {
            err_set(err, r, "output of %.*s: %s", (int)id.n, id.p, errtab_text(r));
            break;
        }
    }
    trace_pos_done(&pos);
    trace_close(t);
    if (r >= 0 && !found)
        r = err_set(err, -ENOENT, "there is no exec '%.*s' in the session", (int)(id.n < 64 ? id.n : 64), id.p);
    if (r < 0) {
        sched_record_done(ret);
        return r;
    }
    point(ret);
    return 0;
}

int sched_record_each(struct sched_session *s, int (*fn)(void *arg, const struct sched_record *r), void *arg,
                      struct err *err)
{
    struct trace *t;
    struct trace_pos pos;
    struct trace_event e;
    struct sched_record rec;
    bool open = false;
    int r = open_log(s, &t, err);
    if (r)
        return r;
    record_init(&rec);
    trace_begin(&pos);
    while ((r = trace_next(t, &pos, &e, err)) == 1) {
        r = 0;
        if (e.type == TRACE_EXEC)
            open = take_exec(&rec, &e);
        else if (e.type == TRACE_OUTPUT && open)
            r = take_output(&rec, NULL, &e.u.output);
        else if (e.type == TRACE_END && open) {
            take_end(&rec, &e);
            point(&rec);
            open = false;
            r = fn(arg, &rec);
        }
        if (r)
            break;
    }
    trace_pos_done(&pos);
    trace_close(t);
    sched_record_done(&rec);
    return r;
}

/* ---- events ---- */

struct sched_log {
    struct trace *t;
    struct trace_pos pos;
    uint64_t from;
    struct buf changes; /* of the command that was read up to here, for sched_log_step() */
    char exec[ID_MAX];
    uint64_t before; /* the last entry with a state */
};

static struct sched_log *log_new(struct trace *t, uint64_t from)
{
    struct sched_log *l = mem_zalloc(sizeof(*l));
    l->t = t;
    buf_init(&l->changes, 64u << 20);
    l->from = from;
    trace_begin(&l->pos);
    return l;
}

int sched_log_open(struct sched_session *s, uint64_t from, struct sched_log **ret, struct err *err)
{
    struct trace *t;
    int r = open_log(s, &t, err);
    if (r == 0)
        *ret = log_new(t, from);
    return r;
}

int sched_log_ended(struct sched_tenant *t, struct str id, uint64_t from, struct sched_log **ret, int64_t *ret_time,
                    struct err *err)
{
    struct trace *log;
    FD_AUTO int fd = -1;
    int r = state_ended_open(t->state, id, &fd, ret_time, err);
    if (r == 0)
        r = trace_open(fd_steal(&fd), 0, &log, NULL, err);
    if (r == 0)
        *ret = log_new(log, from);
    return r;
}

int sched_log_next(struct sched_log *l, struct buf *out, uint64_t *ret_seq, struct err *err)
{
    struct trace_event e;
    int r;
    while ((r = trace_next(l->t, &l->pos, &e, err)) == 1) {
        if (e.seq < l->from)
            continue; /* the chain is verified from its begin */
        *ret_seq = e.seq;
        r = json_trace_event(out, &e);
        return r ? err_set(err, r, "event %llu: %s", (unsigned long long)e.seq, errtab_text(r)) : 1;
    }
    return r;
}

static bool is_below(struct str path, struct str top)
{
    return top.n == 0 || (str_starts(path, top) && (path.n == top.n || path.p[top.n] == '/'));
}

static void add_change(struct sched_log *l, const struct trace_change *c, struct str path)
{
    static const char *const kinds[] = {"added", "removed", "modified", "meta"}; /* enum vfs_change_kind */
    struct json_writer w = {.out = &l->changes};
    if (c->kind >= sizeof(kinds) / sizeof(kinds[0]) || !is_below(c->path, path))
        return;
    json_begin(&w, NULL, '{');
    json_text(&w, "kind", str_c(kinds[c->kind]));
    json_text(&w, "path", c->path);
    json_end(&w, '}');
    buf_putc(&l->changes, '\n');
}

int sched_log_step(struct sched_log *l, struct str path, struct sched_step *ret, struct err *err)
{
    struct trace_event e;
    struct id id;
    int r;
    while ((r = trace_next(l->t, &l->pos, &e, err)) == 1) {
        if (e.type == TRACE_CHANGE)
            add_change(l, &e.u.change, path);
        if (e.type == TRACE_EXEC) {
            buf_clear(&l->changes);
            l->exec[0] = 0;
            if (id_parse(ID_EXEC, e.u.exec.key, &id) == 0)
                memcpy(l->exec, id.text, sizeof(l->exec));
        }
        if (e.type != TRACE_END && e.type != TRACE_RESTORE && e.type != TRACE_CREATED)
            continue;
        uint64_t before = l->before;
        l->before = e.seq;
        if (e.type == TRACE_CREATED)
            continue;
        *ret = (struct sched_step){.seq = e.seq, .before = before, .from = "exec"};
        if (e.type == TRACE_END) {
            memcpy(ret->exec, l->exec, sizeof(ret->exec));
            ret->listed = e.u.end.changes <= LIMIT_TRACE_CHANGES && !l->changes.err;
            ret->changes = buf_str(&l->changes);
        } else {
            snprintf(ret->from, sizeof(ret->from), "%.*s", (int)(e.u.restore.from.n < 127 ? e.u.restore.from.n : 127),
                     e.u.restore.from.p);
        }
        return 1;
    }
    return r;
}

void sched_log_close(struct sched_log *l)
{
    if (!l)
        return;
    trace_pos_done(&l->pos);
    trace_close(l->t);
    buf_done(&l->changes);
    mem_free(l);
}
