/* SPDX-License-Identifier: Apache-2.0 */

/* A batch of operations on the files of a session: all of them, or none. */

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "server/server_int.h"

struct batch {
    struct wire_list operations; /* each as JSON */
    struct str *kinds, *paths;   /* of each */
};

struct operation {
    struct str op, path, to, target, text, base64, mode, old, new_text;
    uint64_t size;
    bool recursive, append;
};

#define NO_SIZE UINT64_MAX
#define OP {"op", API_TEXT, offsetof(struct operation, op)}
#define PATH {"path", API_TEXT, offsetof(struct operation, path)}
#define TO {"to", API_TEXT, offsetof(struct operation, to)}
#define MODE {"mode", API_TEXT, offsetof(struct operation, mode)}
#define RECURSIVE {"recursive", API_FLAG, offsetof(struct operation, recursive)}

/* What each takes; PATH and what stands behind it up to @needed has to be there. */
static const struct kind {
    const char *name;
    enum wire_fs_op op;
    size_t needed; /* of the fields, the last that has to be there */
    size_t n;
    struct api_field fields[6];
} kinds[] = {
    {"write", WIRE_FS_PUT, 1, 6,
     {OP, PATH,
      {"text", API_TEXT, offsetof(struct operation, text)},
      {"base64", API_TEXT, offsetof(struct operation, base64)},
      MODE,
      {"append", API_FLAG, offsetof(struct operation, append)}}},
    {"mkdir", WIRE_FS_MKDIR, 1, 3, {OP, PATH, MODE}},
    {"move", WIRE_FS_RENAME, 2, 3, {OP, PATH, TO}},
    {"copy", WIRE_FS_COPY, 2, 4, {OP, PATH, TO, RECURSIVE}},
    {"link", WIRE_FS_LINK, 2, 3, {OP, PATH, TO}},
    {"symlink", WIRE_FS_SYMLINK, 2, 3, {OP, PATH, {"target", API_TEXT, offsetof(struct operation, target)}}},
    {"remove", WIRE_FS_REMOVE, 1, 3, {OP, PATH, RECURSIVE}},
    {"chmod", WIRE_FS_CHMOD, 2, 3, {OP, PATH, MODE}},
    {"truncate", WIRE_FS_TRUNCATE, 2, 3, {OP, PATH, {"size", API_NUMBER, offsetof(struct operation, size)}}},
    {"edit", WIRE_FS_EDIT, 3, 4,
     {OP, PATH,
      {"old", API_TEXT, offsetof(struct operation, old)},
      {"new", API_TEXT, offsetof(struct operation, new_text)}}},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool fail_field(struct request *r, uint32_t i, const char *name, const char *text)
{
    char field[96];
    snprintf(field, sizeof(field), *name ? "operations[%u].%s" : "operations[%u]%s", i, name);
    request_fail(r, API_INVALID_ARGUMENT, field, "field '%s': %s", field, text);
    return false;
}

static const struct kind *kind_of(struct request *r, struct str json)
{
    struct wire_list members;
    if (api_members(json, &r->arena, &members))
        return NULL;
    for (uint32_t i = 0; i + 1 < members.n; i += 2) {
        for (size_t k = 0; str_eqc(members.v[i], "op") && k < N_KINDS; k++) {
            const struct str v = members.v[i + 1];
            if (v.n == strlen(kinds[k].name) + 2 && str_eqc(str_of(v.p + 1, v.n - 2), kinds[k].name))
                return &kinds[k];
        }
    }
    return NULL;
}

static bool is_path(struct str s)
{
    return s.n && s.p[0] == '/' && s.n < LIMIT_PATH && !memchr(s.p, 0, s.n);
}

/* The values of fields that are there. */
static bool check(struct request *r, uint32_t i, const struct kind *k, struct operation *o)
{
    uint32_t mode;
    for (size_t f = 1; f <= k->needed; f++) {
        const struct api_field *field = &k->fields[f];
        const struct str *text = (const void *)((const char *)o + field->at);
        if (field->kind == API_TEXT ? !text->p : o->size == NO_SIZE)
            return fail_field(r, i, field->name, "is needed");
    }
    if (!is_path(o->path))
        return fail_field(r, i, "path", "an absolute path is wanted");
    if (o->to.p && !is_path(o->to))
        return fail_field(r, i, "to", "an absolute path is wanted");
    if (o->target.p && (o->target.n == 0 || o->target.n >= LIMIT_PATH || memchr(o->target.p, 0, o->target.n)))
        return fail_field(r, i, "target", "the target of a symlink is 1 to 4095 bytes without NUL");
    if (o->mode.p && !request_octal(o->mode, &mode))
        return fail_field(r, i, "mode", "an octal number of at most 4 digits is wanted, as \"0644\"");
    if (o->old.p && o->old.n == 0)
        return fail_field(r, i, "old", "the text to be replaced is empty");
    if (k->op == WIRE_FS_PUT && (o->text.p != NULL) == (o->base64.p != NULL))
        return fail_field(r, i, "text", "one of 'text' and 'base64' is needed");
    if (o->base64.p && api_base64(o->base64, &r->arena, &o->text))
        return fail_field(r, i, "base64", "is not base64");
    if (o->size != NO_SIZE && o->size > LIMIT_FILE)
        return fail_field(r, i, "size", "a file is not so long");
    return true;
}

static void put(struct buf *out, const struct kind *k, const struct operation *o)
{
    uint32_t mode = k->op == WIRE_FS_MKDIR ? 0755 : 0644;
    if (o->mode.p)
        (void)request_octal(o->mode, &mode);
    struct wire_fs q = {.op = k->op == WIRE_FS_PUT && o->append ? WIRE_FS_EXTEND : k->op,
                        .path = o->path,
                        .data = o->to.p       ? o->to
                                : o->target.p ? o->target
                                : o->old.p    ? o->old
                                              : o->text,
                        .text = o->new_text,
                        .mode = mode,
                        .mtime = clock_wall(),
                        .offset = k->op == WIRE_FS_TRUNCATE ? o->size : 0,
                        .length = o->recursive,
                        .as_user = true};
    wire_put_fs(out, &q);
}

static bool put_all(struct request *r, struct batch *b, struct buf *out)
{
    for (uint32_t i = 0; i < b->operations.n; i++) {
        const struct kind *k = kind_of(r, b->operations.v[i]);
        struct operation o = {.size = NO_SIZE};
        struct api_problem why = {"", ""};
        if (!k)
            return fail_field(r, i, "op",
                              "an object is wanted with one of write, mkdir, move, copy, link, symlink, remove, chmod, "
                              "truncate, edit");
        if (api_decode(b->operations.v[i], k->fields, k->n, &r->arena, &o, &why))
            return fail_field(r, i, why.field, why.text);
        if (!check(r, i, k, &o))
            return false;
        b->kinds[i] = str_c(k->name);
        b->paths[i] = o.path;
        put(out, k, &o);
    }
    return true;
}

static void carried_out(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct request *r = arg;
    const struct batch *b = r->state;
    if (!error) {
        struct answer *a = answer_begin(r);
        json_number(&a->w, "applied", b->operations.n);
        if (reply->seq)
            json_number(&a->w, "trace_seq", reply->seq);
        else
            json_none(&a->w, "trace_seq");
        answer_send(r, a, MHD_HTTP_OK);
        return;
    }
    if (!reply || reply->index >= b->operations.n || !reply->data.n) {
        request_fail_errno(r, error, text);
        return;
    }
    char field[64];
    struct str path = b->paths[reply->index];
    snprintf(field, sizeof(field), "operations[%u]", reply->index);
    request_fail(r, error == -ENOMSG ? API_CONFLICT : errtab_api(error), field, "%s, %.*s '%.*s': %s; nothing was done",
                 field, (int)b->kinds[reply->index].n, b->kinds[reply->index].p, (int)(path.n < 300 ? path.n : 300),
                 path.p, text);
}

void h_fs_batch(struct request *r)
{
    struct body {
        struct str operations;
    } q = {{NULL, 0}};
    static const struct api_field f[] = {{"operations", API_VALUE, offsetof(struct body, operations)}};
    struct batch *b = arena_zalloc(&r->arena, sizeof(*b));
    if (!request_decode(r, f, 1, &q))
        return;
    if (!q.operations.p || api_elements(q.operations, &r->arena, &b->operations)) {
        request_fail(r, API_INVALID_ARGUMENT, "operations", "field 'operations': a list of operations is wanted");
        return;
    }
    if (b->operations.n > LIMIT_BATCH) {
        request_fail(r, API_TOO_LARGE, "operations", "a batch has at most %u operations", LIMIT_BATCH);
        return;
    }
    b->kinds = arena_zalloc(&r->arena, (b->operations.n + 1) * sizeof(*b->kinds));
    b->paths = arena_zalloc(&r->arena, (b->operations.n + 1) * sizeof(*b->paths));
    BUF_AUTO struct buf out;
    buf_init(&out, WIRE_BODY_MAX);
    const struct wire_fs all = {.op = WIRE_FS_BATCH};
    wire_put_fs(&out, &all);
    if (!put_all(r, b, &out) || !request_session(r))
        return;
    r->state = b;
    if (out.err)
        request_fail_errno(r, -E2BIG, "the batch is too large");
    else
        sched_fs(r->session, buf_str(&out), carried_out, r);
}
