/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire.h"

#include <errno.h>

#include "base/cursor.h"

static void put_u8(struct buf *b, uint8_t v)
{
    buf_add(b, &v, 1);
}

static void put_u32(struct buf *b, uint32_t v)
{
    uint8_t x[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    buf_add(b, x, sizeof(x));
}

static void put_u64(struct buf *b, uint64_t v)
{
    put_u32(b, (uint32_t)v);
    put_u32(b, (uint32_t)(v >> 32));
}

static void put_str(struct buf *b, struct str s)
{
    if (s.n > UINT32_MAX) {
        b->err = -EFBIG;
        return;
    }
    put_u32(b, (uint32_t)s.n);
    buf_adds(b, s);
}

static void put_list(struct buf *b, const struct wire_list *l)
{
    put_u32(b, l->n);
    for (uint32_t i = 0; i < l->n; i++)
        put_str(b, l->v[i]);
}

static void put_stat(struct buf *b, const struct wire_stat *st)
{
    put_u32(b, st->mode);
    put_u32(b, st->uid);
    put_u32(b, st->gid);
    put_u64(b, st->size);
    put_u64(b, (uint64_t)st->mtime);
}

static void put_limits(struct buf *b, const struct limits *l)
{
    put_u64(b, l->memory);
    put_u64(b, l->output);
    put_u64(b, l->files);
    put_u64(b, l->inodes);
    put_u64(b, l->processes);
    put_u64(b, l->cpu_ms);
    put_u64(b, l->wall_ms);
    put_u64(b, l->trace);
}

/* Reads a number that must be below @n. */
static uint8_t get_enum(struct cursor *c, uint8_t n)
{
    uint8_t v = cursor_u8(c);
    if (v >= n) {
        c->bad = true;
        return 0;
    }
    return v;
}

static bool get_bool(struct cursor *c)
{
    return get_enum(c, 2) != 0;
}

/* A count of things that take at least @each bytes: one that cannot be true is refused before anything is allocated. */
static uint32_t get_count(struct cursor *c, size_t each)
{
    uint32_t n = cursor_u32(c);
    if (c->bad || (size_t)(c->end - c->p) / each < n) {
        c->bad = true;
        return 0;
    }
    return n;
}

static void get_list(struct cursor *c, struct arena *a, struct wire_list *ret)
{
    uint32_t n = get_count(c, 4);
    ret->v = n ? arena_try(a, n * sizeof(*ret->v)) : NULL;
    ret->n = n;
    if (n && !ret->v) {
        c->bad = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        ret->v[i] = cursor_str(c);
}

static void get_stat(struct cursor *c, struct wire_stat *st)
{
    st->mode = cursor_u32(c);
    st->uid = cursor_u32(c);
    st->gid = cursor_u32(c);
    st->size = cursor_u64(c);
    st->mtime = (int64_t)cursor_u64(c);
}

static void get_limits(struct cursor *c, struct limits *l)
{
    l->memory = cursor_u64(c);
    l->output = cursor_u64(c);
    l->files = cursor_u64(c);
    l->inodes = cursor_u64(c);
    l->processes = cursor_u64(c);
    l->cpu_ms = cursor_u64(c);
    l->wall_ms = cursor_u64(c);
    l->trace = cursor_u64(c);
}

static int finish(const struct cursor *c)
{
    return cursor_ok(c) ? 0 : -EBADMSG;
}

void wire_put_ready(struct buf *out, const struct wire_ready *m)
{
    put_u32(out, m->version);
    put_u64(out, m->applied);
    put_u64(out, m->missing);
    put_str(out, m->notes);
}

int wire_get_ready(struct str body, struct wire_ready *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->version = cursor_u32(&c);
    ret->applied = cursor_u64(&c);
    ret->missing = cursor_u64(&c);
    ret->notes = cursor_str(&c);
    return finish(&c);
}

void wire_put_create(struct buf *out, const struct wire_create *m)
{
    put_str(out, m->user);
    put_str(out, m->cwd);
    put_limits(out, &m->limits);
    put_u32(out, m->host_uid);
    put_u32(out, m->host_gid);
    put_u8(out, m->kept);
    put_u8(out, m->fresh);
    put_u8(out, m->durable);
    put_u8(out, m->recheck);
    put_u8(out, m->changed);
    put_str(out, m->id);
    put_str(out, m->config);
    put_str(out, m->policy);
    put_str(out, m->over);
    put_u32(out, m->n_mounts);
    for (uint32_t i = 0; i < m->n_mounts; i++) {
        put_str(out, m->mounts[i].guest);
        put_u32(out, m->mounts[i].flags);
    }
}

int wire_get_create(struct str body, struct arena *a, struct wire_create *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->user = cursor_str(&c);
    ret->cwd = cursor_str(&c);
    get_limits(&c, &ret->limits);
    ret->host_uid = cursor_u32(&c);
    ret->host_gid = cursor_u32(&c);
    ret->kept = get_bool(&c);
    ret->fresh = get_bool(&c);
    ret->durable = get_bool(&c);
    ret->recheck = get_bool(&c);
    ret->changed = get_bool(&c);
    ret->id = cursor_str(&c);
    ret->config = cursor_str(&c);
    ret->policy = cursor_str(&c);
    ret->over = cursor_str(&c);
    ret->n_mounts = get_count(&c, 8);
    if (ret->n_mounts > LIMIT_MOUNTS)
        return -EBADMSG;
    ret->mounts = arena_alloc(a, (ret->n_mounts + 1) * sizeof(*ret->mounts));
    for (uint32_t i = 0; i < ret->n_mounts; i++) {
        ret->mounts[i].guest = cursor_str(&c);
        ret->mounts[i].flags = cursor_u32(&c);
    }
    return finish(&c);
}

void wire_put_exec(struct buf *out, const struct wire_exec *m)
{
    put_u8(out, (uint8_t)m->kind);
    put_str(out, m->text);
    put_list(out, &m->argv);
    put_list(out, &m->env);
    put_u32(out, m->n_secrets);
    put_u8(out, m->stdin_open);
    put_u8(out, m->tty);
    put_u32(out, (uint32_t)m->rows << 16 | m->cols);
    put_u8(out, m->posix);
    put_u8(out, m->want_root);
    put_u8(out, m->atomic);
    put_u8(out, m->durable);
    put_u8(out, m->keep);
    put_str(out, m->key);
    put_str(out, m->cwd);
}

int wire_get_exec(struct str body, struct arena *a, struct wire_exec *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->kind = (enum wire_exec_kind)get_enum(&c, WIRE_EXEC_KINDS);
    ret->text = cursor_str(&c);
    get_list(&c, a, &ret->argv);
    get_list(&c, a, &ret->env);
    ret->n_secrets = cursor_u32(&c);
    c.bad |= ret->n_secrets > ret->env.n;
    ret->stdin_open = get_bool(&c);
    ret->tty = get_enum(&c, WIRE_TTY + 1);
    uint32_t size = cursor_u32(&c);
    ret->rows = (uint16_t)(size >> 16);
    ret->cols = (uint16_t)size;
    ret->posix = get_bool(&c);
    ret->want_root = get_bool(&c);
    ret->atomic = get_bool(&c);
    ret->durable = get_bool(&c);
    ret->keep = get_bool(&c);
    ret->key = cursor_str(&c);
    ret->cwd = cursor_str(&c);
    return finish(&c);
}

void wire_put_output(struct buf *out, const struct wire_output *m)
{
    wire_put_output_head(out, m->stream, m->data.n);
    buf_adds(out, m->data);
}

void wire_put_output_head(struct buf *out, uint8_t stream, size_t n)
{
    put_u8(out, stream);
    put_u32(out, (uint32_t)n);
}

int wire_get_output(struct str body, struct wire_output *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->stream = get_enum(&c, 3);
    ret->data = cursor_str(&c);
    if (ret->stream == 0)
        return -EBADMSG;
    return finish(&c);
}

void wire_put_result(struct buf *out, const struct wire_result *m)
{
    put_u8(out, (uint8_t)m->outcome.kind);
    put_u8(out, m->outcome.code);
    put_u8(out, m->outcome.signal);
    put_u8(out, m->outcome.core);
    put_u8(out, (uint8_t)m->outcome.reason);
    const uint64_t v[] = {m->cpu_us,    m->wall_us,     m->output_bytes, m->memory_peak,
                          m->processes, m->files_bytes, m->inodes};
    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        put_u64(out, v[i]);
    buf_add(out, m->root, sizeof(m->root));
    put_u64(out, m->seq);
    put_u32(out, (uint32_t)m->error);
    put_str(out, m->message);
    put_str(out, m->prompt);
    put_str(out, m->prompt2);
    put_u8(out, m->exited);
    put_str(out, m->decisions);
    put_u8(out, m->stream);
    put_str(out, m->output);
}

int wire_get_result(struct str body, struct wire_result *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->outcome.kind = (enum outcome_kind)get_enum(&c, OUTCOME_LOST + 1);
    ret->outcome.code = cursor_u8(&c);
    ret->outcome.signal = get_enum(&c, 65);
    ret->outcome.core = get_bool(&c);
    ret->outcome.reason = (enum outcome_reason)get_enum(&c, REASON_CRASH + 1);
    uint64_t *v[] = {&ret->cpu_us,    &ret->wall_us,     &ret->output_bytes, &ret->memory_peak,
                     &ret->processes, &ret->files_bytes, &ret->inodes};
    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        *v[i] = cursor_u64(&c);
    for (size_t i = 0; i < sizeof(ret->root); i++)
        ret->root[i] = cursor_u8(&c);
    ret->seq = cursor_u64(&c);
    ret->error = (int32_t)cursor_u32(&c);
    ret->message = cursor_str(&c);
    ret->prompt = cursor_str(&c);
    ret->prompt2 = cursor_str(&c);
    ret->exited = get_bool(&c);
    ret->decisions = cursor_str(&c);
    ret->stream = get_enum(&c, 3);
    ret->output = cursor_str(&c);
    if ((ret->stream == 0) != (ret->output.n == 0))
        return -EBADMSG;
    return finish(&c);
}

/* The part of @s up to @end, or all of it; @s loses both. */
static struct str take_to(struct str *s, char end)
{
    ptrdiff_t at = str_find(*s, end, 0);
    struct str part = at < 0 ? *s : str_of(s->p, (size_t)at);
    *s = at < 0 ? str_of(s->p + s->n, 0) : str_from(*s, (size_t)at + 1);
    return part;
}

bool wire_next_decision(struct str *text, struct wire_decision *ret)
{
    if (text->n == 0)
        return false;
    struct str line = take_to(text, '\n');
    ret->command = take_to(&line, '\t');
    ret->engine = take_to(&line, '\t');
    ret->reason = line;
    return true;
}

void wire_put_query(struct buf *out, const struct wire_query *m)
{
    put_u8(out, (uint8_t)m->kind);
    put_str(out, m->text);
}

int wire_get_query(struct str body, struct wire_query *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->kind = (enum wire_query_kind)get_enum(&c, WIRE_QUERY_KINDS);
    ret->text = cursor_str(&c);
    return finish(&c);
}

void wire_put_answer(struct buf *out, const struct wire_answer *m)
{
    put_u32(out, m->value);
    put_str(out, m->text);
}

int wire_get_answer(struct str body, struct wire_answer *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->value = cursor_u32(&c);
    ret->text = cursor_str(&c);
    return finish(&c);
}

void wire_put_fs(struct buf *out, const struct wire_fs *m)
{
    put_u8(out, (uint8_t)m->op);
    put_u8(out, (uint8_t)m->side);
    put_str(out, m->path);
    put_str(out, m->data);
    put_str(out, m->text);
    put_u32(out, m->mode);
    put_u64(out, (uint64_t)m->mtime);
    put_u64(out, m->offset);
    put_u32(out, m->length);
    put_u8(out, m->as_user);
    put_u8(out, m->follow);
}

int wire_get_fs(struct str *body, struct wire_fs *ret)
{
    struct cursor c = cursor_of(body->p, body->n);
    ret->op = (enum wire_fs_op)get_enum(&c, WIRE_FS_OPS);
    ret->side = (enum wire_side)get_enum(&c, WIRE_OLD + 1);
    ret->path = cursor_str(&c);
    ret->data = cursor_str(&c);
    ret->text = cursor_str(&c);
    ret->mode = cursor_u32(&c);
    ret->mtime = (int64_t)cursor_u64(&c);
    ret->offset = cursor_u64(&c);
    ret->length = cursor_u32(&c);
    ret->as_user = get_bool(&c);
    ret->follow = get_bool(&c);
    *body = str_of((const char *)c.p, (size_t)(c.end - c.p));
    return c.bad ? -EBADMSG : 0;
}

bool wire_fs_changes(enum wire_fs_op op)
{
    switch (op) {
    case WIRE_FS_PUT:
    case WIRE_FS_MKDIR:
    case WIRE_FS_SYMLINK:
    case WIRE_FS_EXTEND:
    case WIRE_FS_REMOVE:
    case WIRE_FS_RENAME:
    case WIRE_FS_CHMOD:
    case WIRE_FS_TRUNCATE:
    case WIRE_FS_LINK:
    case WIRE_FS_COPY:
    case WIRE_FS_EDIT:
    case WIRE_FS_CLEAR:
    case WIRE_FS_BATCH:
        return true;
    case WIRE_FS_STAT:
    case WIRE_FS_READ:
    case WIRE_FS_READLINK:
    case WIRE_FS_LIST:
    case WIRE_FS_LOOK:
    case WIRE_FS_HASH:
    case WIRE_FS_MATCH:
    case WIRE_FS_ENTRIES:
    case WIRE_FS_OPS:
        break;
    }
    return false;
}

void wire_put_entry(struct buf *out, const struct wire_entry *e)
{
    put_u32(out, e->mode);
    put_u64(out, e->size);
    put_u64(out, (uint64_t)e->mtime);
    put_str(out, e->name);
}

int wire_get_entry(struct str *data, struct wire_entry *ret)
{
    if (data->n == 0)
        return 0;
    struct cursor c = cursor_of(data->p, data->n);
    ret->mode = cursor_u32(&c);
    ret->size = cursor_u64(&c);
    ret->mtime = (int64_t)cursor_u64(&c);
    ret->name = cursor_str(&c);
    *data = str_of((const char *)c.p, (size_t)(c.end - c.p));
    return c.bad ? -EBADMSG : 1;
}

void wire_put_reply(struct buf *out, const struct wire_reply *m)
{
    put_u32(out, (uint32_t)m->error);
    put_str(out, m->message);
    put_str(out, m->data);
    put_stat(out, &m->st);
    put_u32(out, m->index);
    put_u64(out, m->seq);
}

int wire_get_reply(struct str body, struct wire_reply *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->error = (int32_t)cursor_u32(&c);
    ret->message = cursor_str(&c);
    ret->data = cursor_str(&c);
    get_stat(&c, &ret->st);
    ret->index = cursor_u32(&c);
    ret->seq = cursor_u64(&c);
    return finish(&c);
}

void wire_put_diff(struct buf *out, const struct wire_diff *m)
{
    put_u8(out, m->text);
    put_str(out, m->prefix);
}

int wire_get_diff(struct str body, struct wire_diff *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->text = get_bool(&c);
    ret->prefix = cursor_str(&c);
    return finish(&c);
}

void wire_put_change(struct buf *out, const struct wire_change *m)
{
    put_u8(out, m->kind);
    put_u8(out, m->content);
    put_str(out, m->path);
    put_stat(out, &m->old_st);
    put_stat(out, &m->new_st);
    put_str(out, m->diff);
}

int wire_get_change(struct str body, struct wire_change *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->kind = get_enum(&c, 4);
    ret->content = get_bool(&c);
    ret->path = cursor_str(&c);
    get_stat(&c, &ret->old_st);
    get_stat(&c, &ret->new_st);
    ret->diff = cursor_str(&c);
    return finish(&c);
}

void wire_put_replay(struct buf *out, const struct wire_replay *m)
{
    put_u64(out, m->from);
    put_str(out, m->user);
    put_str(out, m->policy);
    put_limits(out, &m->limits);
}

int wire_get_replay(struct str body, struct wire_replay *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->from = cursor_u64(&c);
    ret->user = cursor_str(&c);
    ret->policy = cursor_str(&c);
    get_limits(&c, &ret->limits);
    return finish(&c);
}

void wire_put_replayed(struct buf *out, const struct wire_replayed *m)
{
    put_u64(out, m->seq);
    put_u8(out, m->verdict);
    put_str(out, m->command);
    put_str(out, m->what);
    put_str(out, m->recorded);
    put_str(out, m->replayed);
    put_str(out, m->files);
    put_u64(out, (uint64_t)m->recorded_us);
    put_u64(out, (uint64_t)m->replayed_us);
}

int wire_get_replayed(struct str body, struct wire_replayed *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->seq = cursor_u64(&c);
    ret->verdict = get_enum(&c, 3);
    ret->command = cursor_str(&c);
    ret->what = cursor_str(&c);
    ret->recorded = cursor_str(&c);
    ret->replayed = cursor_str(&c);
    ret->files = cursor_str(&c);
    ret->recorded_us = (int64_t)cursor_u64(&c);
    ret->replayed_us = (int64_t)cursor_u64(&c);
    return finish(&c);
}

void wire_put_number(struct buf *out, uint32_t v)
{
    put_u32(out, v);
}

int wire_get_number(struct str body, uint32_t *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    *ret = cursor_u32(&c);
    return finish(&c);
}

void wire_put_compile(struct buf *out, const struct wire_compile *m)
{
    put_u32(out, m->id);
    put_u64(out, m->size);
    put_u64(out, m->offset);
    put_str(out, m->data);
}

int wire_get_compile(struct str body, struct wire_compile *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->id = cursor_u32(&c);
    ret->size = cursor_u64(&c);
    ret->offset = cursor_u64(&c);
    ret->data = cursor_str(&c);
    if (ret->size > LIMIT_WASM_FILE || ret->offset > ret->size || ret->data.n > ret->size - ret->offset)
        return -EBADMSG;
    return finish(&c);
}

void wire_put_compiled(struct buf *out, const struct wire_compiled *m)
{
    put_u32(out, m->id);
    put_u32(out, (uint32_t)m->error);
    put_str(out, m->message);
}

int wire_get_compiled(struct str body, struct wire_compiled *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    ret->id = cursor_u32(&c);
    ret->error = (int32_t)cursor_u32(&c);
    ret->message = cursor_str(&c);
    return ret->error > 0 ? -EBADMSG : finish(&c);
}
