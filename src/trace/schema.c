/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/schema.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SIZE(t, f) sizeof(((const struct trace_event *)0)->u.t.f)
#define FIELD(t, f, kind_, show_, most_, names_, blob_)                                                                \
    {                                                                                                                  \
        .name = #f, .offset = offsetof(struct trace_event, u.t.f), .size = SIZE(t, f), .kind = (kind_),                \
        .show = (show_), .since = 1, .most = (most_), .names = (names_), .blob = (blob_)                               \
    }

#define UINT(t, f) FIELD(t, f, TRACE_UINT, TRACE_AS_IS, UINT64_MAX >> (64 - 8 * SIZE(t, f)), NULL, NULL)
#define UPTO(t, f, most) FIELD(t, f, TRACE_UINT, TRACE_AS_IS, most, NULL, NULL)
#define BOOL(t, f) FIELD(t, f, TRACE_UINT, TRACE_AS_BOOL, 1, NULL, NULL)
#define NAME(t, f, names) FIELD(t, f, TRACE_UINT, TRACE_AS_NAME, COUNT(names) - 1, names, NULL)
#define FLAGS(t, f, names) FIELD(t, f, TRACE_UINT, TRACE_AS_FLAGS, (1u << COUNT(names)) - 1, names, NULL)
#define REASON(t, f) FIELD(t, f, TRACE_UINT, TRACE_AS_REASON, REASON_CRASH, NULL, NULL)
#define INT(t, f) FIELD(t, f, TRACE_INT, TRACE_AS_IS, 0, NULL, NULL)
#define WHEN(t, f) FIELD(t, f, TRACE_INT, TRACE_AS_TIME, 0, NULL, NULL)
#define TEXT(t, f) FIELD(t, f, TRACE_STR, TRACE_AS_IS, 0, NULL, NULL)
#define LIST(t, f) FIELD(t, f, TRACE_STR, TRACE_AS_LIST, 0, NULL, NULL)
#define HASH(t, f) FIELD(t, f, TRACE_ID, TRACE_AS_IS, 0, NULL, NULL)
#define BLOB(t, f, what) FIELD(t, f, TRACE_ID, TRACE_AS_IS, 0, NULL, what)
#define RAW(t, f) FIELD(t, f, TRACE_RAW, TRACE_AS_IS, 0, NULL, NULL)
#define STATE(t) HASH(t, state.root), BLOB(t, state.image, "image"), BLOB(t, state.shell, "shell")

static const char *const exec_kinds[] = {"text", "script", "argv", "stdin", "serve"};
static const char *const exec_flags[] = {"fresh", "stdin", "posix", "shell", "durable", "atomic"};
static const char *const input_kinds[] = {"stdin", "eof", "signal", "kill", "resize", "close"};
static const char *const change_kinds[] = {"added", "removed", "modified", "meta"};
static const char *const read_kinds[] = {"listing", "status", "content", "open"};
static const char *const outcome_kinds[] = {"exited", "killed", "lost"};

static const struct trace_field created[] = {
    TEXT(created, session),
    TEXT(created, from),
    TEXT(created, config),
    STATE(created),
};

static const struct trace_field exec[] = {
    NAME(exec, kind, exec_kinds),
    UPTO(exec, tty, 15),
    UINT(exec, rows),
    UINT(exec, cols),
    FLAGS(exec, flags, exec_flags),
    TEXT(exec, text),
    BLOB(exec, script, "script"),
    LIST(exec, args),
    LIST(exec, env),
    TEXT(exec, cwd),
    TEXT(exec, key),
    INT(exec, first_pid),
    RAW(exec, seed),
    WHEN(exec, wall),
    INT(exec, mono),
    TEXT(exec, limits),
};

static const struct trace_field input[] = {
    NAME(input, kind, input_kinds), UINT(input, look), UINT(input, value), TEXT(input, data),
    BLOB(input, blob, "stdin"),     UINT(input, size),
};

static const struct trace_field clocks[] = {
    BLOB(clock, blob, "clock"),
    TEXT(clock, data),
    UINT(clock, size),
};

static const struct trace_field output[] = {
    UPTO(output, stream, 2), UINT(output, offset), UINT(output, size),           UINT(output, kept),
    HASH(output, digest),    TEXT(output, data),   BLOB(output, blob, "output"),
};

static const struct trace_field decision[] = {
    TEXT(decision, command),
    TEXT(decision, depth),
    TEXT(decision, reason),
    TEXT(decision, rule),
};

static const struct trace_field change[] = {
    NAME(change, kind, change_kinds), TEXT(change, path),
    UINT(change, mode_before),        UINT(change, mode_after),
    UINT(change, size_before),        UINT(change, size_after),
    BLOB(change, before, "content"),  BLOB(change, after, "content"),
};

static const struct trace_field host_read[] = {
    NAME(host_read, kind, read_kinds),
    UINT(host_read, mount),
    INT(host_read, error),
    TEXT(host_read, path),
    UINT(host_read, size),
    TEXT(host_read, data),
    BLOB(host_read, digest, "host_read"),
};

static const struct trace_field limit[] = {
    REASON(limit, reason),
    UINT(limit, value),
};

static const struct trace_field end[] = {
    NAME(end, outcome.kind, outcome_kinds),
    UINT(end, outcome.code),
    UPTO(end, outcome.signal, 64),
    BOOL(end, outcome.core),
    REASON(end, outcome.reason),
    UINT(end, cpu_us),
    UINT(end, wall_us),
    UINT(end, output_bytes),
    UINT(end, memory_peak),
    UINT(end, processes),
    UINT(end, files_bytes),
    UINT(end, inodes),
    INT(end, next_pid),
    UINT(end, changes),
    BOOL(end, replayable),
    TEXT(end, why_not),
    STATE(end),
};

static const struct trace_field snapshot[] = {
    TEXT(snapshot, id), TEXT(snapshot, name), UINT(snapshot, bytes), UINT(snapshot, new_bytes), STATE(snapshot),
};

static const struct trace_field restored[] = {
    TEXT(restore, from),
    STATE(restore),
};

static const struct trace_field forked[] = {
    TEXT(fork, session),
};

#define ROW(type, table) [type] = {table, COUNT(table)}

static const struct {
    const struct trace_field *f;
    uint32_t n;
} types[TRACE_TYPES] = {
    ROW(TRACE_CREATED, created), ROW(TRACE_EXEC, exec),           ROW(TRACE_INPUT, input),
    ROW(TRACE_CLOCK, clocks),    ROW(TRACE_OUTPUT, output),       ROW(TRACE_DECISION, decision),
    ROW(TRACE_CHANGE, change),   ROW(TRACE_HOST_READ, host_read), ROW(TRACE_LIMIT, limit),
    ROW(TRACE_END, end),         ROW(TRACE_SNAPSHOT, snapshot),   ROW(TRACE_RESTORE, restored),
    ROW(TRACE_FORK, forked),
};

const struct trace_field *trace_fields(unsigned type, uint32_t *ret_n, unsigned *ret_version)
{
    if (type >= TRACE_TYPES || !types[type].f)
        return NULL;
    *ret_n = types[type].n;
    if (ret_version)
        *ret_version = types[type].f[types[type].n - 1].since;
    return types[type].f;
}

const char *trace_type_name(unsigned type)
{
    static const char *const names[TRACE_TYPES] = {
        [TRACE_CREATED] = "created", [TRACE_EXEC] = "exec",           [TRACE_INPUT] = "input",
        [TRACE_CLOCK] = "clock",     [TRACE_OUTPUT] = "output",       [TRACE_DECISION] = "decision",
        [TRACE_CHANGE] = "change",   [TRACE_HOST_READ] = "host_read", [TRACE_LIMIT] = "limit",
        [TRACE_END] = "end",         [TRACE_SNAPSHOT] = "snapshot",   [TRACE_RESTORE] = "restore",
        [TRACE_FORK] = "fork",
    };
    return type < TRACE_TYPES && names[type] ? names[type] : "";
}

uint64_t trace_field_number(const struct trace_event *e, const struct trace_field *f)
{
    const char *p = (const char *)e + f->offset;
    switch (f->size) {
    case 1:
        return *(const uint8_t *)p;
    case 2:
        return *(const uint16_t *)(const void *)p;
    case 4:
        return f->kind == TRACE_INT ? (uint64_t)(int64_t) * (const int32_t *)(const void *)p
                                    : *(const uint32_t *)(const void *)p;
    default:
        return *(const uint64_t *)(const void *)p;
    }
}

struct str trace_field_str(const struct trace_event *e, const struct trace_field *f)
{
    return *(const struct str *)(const void *)((const char *)e + f->offset);
}

const uint8_t *trace_field_bytes(const struct trace_event *e, const struct trace_field *f)
{
    return (const uint8_t *)e + f->offset;
}

int trace_blobs(const struct trace_event *e, int (*fn)(void *arg, const struct cas_id *id, const char *what), void *arg)
{
    uint32_t n = 0;
    const struct trace_field *f = trace_fields((unsigned)e->type, &n, NULL);
    int r = 0;
    for (uint32_t i = 0; i < n && r == 0; i++) {
        const struct cas_id *id = (const struct cas_id *)trace_field_bytes(e, &f[i]);
        if (f[i].blob && !cas_id_none(id))
            r = fn(arg, id, f[i].blob);
    }
    return r;
}

const struct trace_state *trace_state_of(const struct trace_event *e)
{
    switch (e->type) {
    case TRACE_CREATED:
        return &e->u.created.state;
    case TRACE_END:
        return &e->u.end.state;
    case TRACE_RESTORE:
        return &e->u.restore.state;
    case TRACE_SNAPSHOT:
        return &e->u.snapshot.state;
    case TRACE_EXEC:
    case TRACE_INPUT:
    case TRACE_CLOCK:
    case TRACE_OUTPUT:
    case TRACE_DECISION:
    case TRACE_CHANGE:
    case TRACE_HOST_READ:
    case TRACE_LIMIT:
    case TRACE_FORK:
    case TRACE_TYPES:
        break;
    }
    return NULL;
}
