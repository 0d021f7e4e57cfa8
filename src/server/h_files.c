/* SPDX-License-Identifier: Apache-2.0 */

/* Files of a session: read, written and listed by messages to its worker. */

#include <errno.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"
#include "cas/hash.h"
#include "server/glob.h"
#include "server/server_int.h"

#define BLOCK LIMIT_MSG_DATA
#define HEX (2 * CAS_HASH_SIZE)

/* ---- paths and errors ---- */

struct str h_fs_path(struct request *r)
{
    struct str p = r->params[1];
    char *s = arena_alloc(&r->arena, p.n + 2);
    s[0] = '/';
    memcpy(s + 1, p.p ? p.p : "", p.n);
    s[p.n + 1] = 0;
    return str_of(s, p.n + 1);
}

void h_fs_fail(struct request *r, struct str path, int error, const char *text)
{
    struct str shown = str_of(path.p, NUM_MIN(path.n, (size_t)300));
    if (error == -EILSEQ)
        request_fail_as(r, MHD_HTTP_PRECONDITION_FAILED, API_CONFLICT, "'%.*s' is not what the request says it is",
                        (int)shown.n, shown.p);
    else if (error == -EISDIR)
        request_fail(r, API_INVALID_ARGUMENT, "path", "'%.*s' is a directory: ?list shows what is in it", (int)shown.n,
                     shown.p);
    else if (error == -ENOENT && text && strstr(text, "destroyed"))
        request_fail_errno(r, error, text);
    else {
        char said[512];
        snprintf(said, sizeof(said), "'%.*s': %s", (int)shown.n, shown.p, text && *text ? text : errtab_text(error));
        request_fail_errno(r, error, said);
    }
}

/* ---- entity tags: "sha256 in hex" ---- */

static void put_etag(struct MHD_Response *resp, const uint8_t *hash)
{
    static const char hex[] = "0123456789abcdef";
    char tag[HEX + 3];
    for (size_t i = 0; i < CAS_HASH_SIZE; i++) {
        tag[1 + 2 * i] = hex[hash[i] >> 4];
        tag[2 + 2 * i] = hex[hash[i] & 15];
    }
    tag[0] = tag[HEX + 1] = '"';
    tag[HEX + 2] = 0;
    (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_ETAG, tag);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The hash that an entity tag is; false when it is none of ours. */
static bool take_etag(const char *tag, uint8_t ret[CAS_HASH_SIZE])
{
    if (strlen(tag) != HEX + 2 || tag[0] != '"' || tag[HEX + 1] != '"')
        return false;
    for (size_t i = 0; i < CAS_HASH_SIZE; i++) {
        int a = digit(tag[1 + 2 * i]), b = digit(tag[2 + 2 * i]);
        if (a < 0 || b < 0)
            return false;
        ret[i] = (uint8_t)(a << 4 | b);
    }
    return true;
}

static bool same_etag(const char *tag, const uint8_t *hash)
{
    uint8_t got[CAS_HASH_SIZE];
    return strcmp(tag, "*") == 0 || (take_etag(tag, got) && memcmp(got, hash, sizeof(got)) == 0);
}

/* ---- reading ---- */

struct reading {
    struct request *r;
    struct str path;
    uint8_t hash[CAS_HASH_SIZE];
    struct wire_stat st;
    uint64_t from, to; /* bytes of the file that are sent: [from, to) */
    uint64_t at;       /* of those, the next to ask for */
    struct buf block;  /* that has come, and what of it was given on */
    size_t given;
    bool asked, failed, partial, head;
};

static void reading_free(void *p)
{
    struct reading *f = p;
    buf_done(&f->block);
}

void h_fs_send(struct request *r, const struct wire_fs *q, sched_replied *fn, void *arg)
{
    BUF_AUTO struct buf b;
    buf_init(&b, WIRE_BODY_MAX);
    wire_put_fs(&b, q);
    if (b.err)
        request_fail_errno(r, -ENOMEM, "");
    else
        sched_fs(r->session, buf_str(&b), fn, arg);
}

static void block_came(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct reading *f = arg;
    (void)text;
    f->asked = false;
    /* Shorter than it was: what was announced cannot be sent. */
    if (error || !reply || reply->data.n == 0)
        f->failed = true;
    else if (buf_adds(&f->block, reply->data))
        f->failed = true;
    request_go_on(f->r);
}

static void ask_block(struct reading *f)
{
    const struct wire_fs q = {.op = WIRE_FS_READ,
                              .path = f->path,
                              .offset = f->at,
                              .length = (uint32_t)NUM_MIN(f->to - f->at, (uint64_t)BLOCK),
                              .follow = true};
    f->asked = true;
    f->given = 0;
    buf_clear(&f->block);
    h_fs_send(f->r, &q, block_came, f);
}

static ssize_t read_blocks(void *cls, uint64_t pos, char *to, size_t max)
{
    struct reading *f = cls;
    (void)pos;
    if (f->failed || f->r->sv->abandoned)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    struct str rest = str_from(buf_str(&f->block), f->given);
    if (rest.n == 0 && !f->asked) {
        if (f->at >= f->to)
            return MHD_CONTENT_READER_END_OF_STREAM;
        ask_block(f);
        if (f->failed)
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (f->asked) {
        f->r->suspended = true;
        MHD_suspend_connection(f->r->c);
        return 0;
    }
    rest = str_from(buf_str(&f->block), f->given);
    size_t n = NUM_MIN(NUM_MIN(rest.n, max), (size_t)(f->to - f->at));
    memcpy(to, rest.p, n);
    f->given += n;
    f->at += n;
    return (ssize_t)n;
}

/* One range (RFC 9110, 14.1.2): 0, -ERANGE when nothing of it is there; 1 when there is none that counts. */
static int take_range(const char *text, uint64_t size, uint64_t *from, uint64_t *to)
{
    if (!text || strncmp(text, "bytes=", 6) != 0 || strchr(text, ','))
        return 1;
    const char *a = text + 6, *dash = strchr(a, '-');
    uint64_t x = 0, y = 0;
    bool has_x = dash && dash > a, has_y = dash && dash[1];
    if (!dash || (has_x && str_u64(str_of(a, (size_t)(dash - a)), &x)) || (has_y && str_u64(str_c(dash + 1), &y)) ||
        (!has_x && !has_y) || (has_x && has_y && x > y))
        return 1;
    if (!has_x) {
        *from = y < size ? size - y : 0;
        *to = size;
        return y ? 0 : -ERANGE;
    }
    *from = x;
    *to = has_y && y < size ? y + 1 : size;
    return x < size ? 0 : -ERANGE;
}

static void add_headers(const struct reading *f, struct MHD_Response *resp)
{
    char text[96];
    time_t t = (time_t)(f->st.mtime / CLOCK_S);
    struct tm tm;
    put_etag(resp, f->hash);
    (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream");
    (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
    if (gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm))
        (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_LAST_MODIFIED, text);
    if (!f->partial)
        return;
    snprintf(text, sizeof(text), "bytes %llu-%llu/%llu", (unsigned long long)f->from, (unsigned long long)f->to - 1,
             (unsigned long long)f->st.size);
    (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_CONTENT_RANGE, text);
}

/* The file is known: conditions and range, then its bytes. */
static void send_file(struct reading *f)
{
    struct request *r = f->r;
    const char *match = request_header(r, MHD_HTTP_HEADER_IF_MATCH),
               *none = request_header(r, MHD_HTTP_HEADER_IF_NONE_MATCH);
    f->from = 0;
    f->to = f->st.size;
    if (match && !same_etag(match, f->hash)) {
        h_fs_fail(r, f->path, -EILSEQ, NULL);
        return;
    }
    int range = take_range(request_header(r, MHD_HTTP_HEADER_RANGE), f->st.size, &f->from, &f->to);
    if (range < 0) {
        request_fail_as(r, MHD_HTTP_RANGE_NOT_SATISFIABLE, API_INVALID_ARGUMENT, "the file has %llu bytes",
                        (unsigned long long)f->st.size);
        return;
    }
    bool unchanged = none && same_etag(none, f->hash);
    f->partial = range == 0 && !unchanged;
    f->at = f->from;
    /* What has come with the first look is all of it, or is asked for anew. */
    bool whole = f->block.n == f->st.size;
    struct str bytes = unchanged || !whole ? STR("") : str_of(f->block.p + f->from, (size_t)(f->to - f->from));
    if (!whole)
        buf_clear(&f->block);
    r->streaming = !unchanged && !whole;
    struct MHD_Response *resp =
        r->streaming
            ? MHD_create_response_from_callback(f->to - f->from, BLOCK, read_blocks, f, NULL)
            : MHD_create_response_from_buffer(bytes.n, (void *)(uintptr_t)(bytes.n ? bytes.p : ""),
                                              MHD_RESPMEM_MUST_COPY);
    if (resp)
        add_headers(f, resp);
    request_reply(r, resp,
                  unchanged    ? MHD_HTTP_NOT_MODIFIED
                  : f->partial ? MHD_HTTP_PARTIAL_CONTENT
                               : MHD_HTTP_OK);
}

static void hash_came(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct reading *f = arg;
    if (error || reply->data.n != CAS_HASH_SIZE) {
        h_fs_fail(f->r, f->path, error ? error : -EIO, text);
        return;
    }
    f->st = reply->st;
    memcpy(f->hash, reply->data.p, CAS_HASH_SIZE);
    send_file(f);
}

/* The first block: most files are one. */
static void first_came(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct reading *f = arg;
    if (error) {
        h_fs_fail(f->r, f->path, error, text);
        return;
    }
    f->st = reply->st;
    if (reply->data.n != reply->st.size) {
        const struct wire_fs q = {.op = WIRE_FS_HASH, .path = f->path};
        h_fs_send(f->r, &q, hash_came, f);
        return;
    }
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, reply->data.p, reply->data.n);
    cas_hash_end(&h, f->hash);
    if (buf_adds(&f->block, reply->data))
        request_fail_errno(f->r, -ENOMEM, "");
    else
        send_file(f);
}

/* ---- status and lists ---- */

static const char *type_name(uint32_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "file";
    case S_IFDIR:
        return "directory";
    case S_IFLNK:
        return "symlink";
    case S_IFIFO:
        return "fifo";
    case S_IFSOCK:
        return "socket";
    default:
        return "device";
    }
}

static void put_mode(struct json_writer *w, uint32_t mode)
{
    char text[8];
    snprintf(text, sizeof(text), "%04o", mode & 07777);
    json_text(w, "type", str_c(type_name(mode)));
    json_text(w, "mode", str_c(text));
}

struct looking {
    struct request *r;
    struct str path;
};

static void stat_came(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct looking *l = arg;
    if (error) {
        h_fs_fail(l->r, l->path, error, text);
        return;
    }
    struct answer *a = answer_begin(l->r);
    json_text(&a->w, "path", l->path);
    put_mode(&a->w, reply->st.mode);
    json_number(&a->w, "size", reply->st.size);
    json_number(&a->w, "uid", reply->st.uid);
    json_number(&a->w, "gid", reply->st.gid);
    json_time(&a->w, "modified_at", reply->st.mtime);
    answer_send(l->r, a, MHD_HTTP_OK);
}

/* Directories that are still to be listed, and the one that is. */
struct listing {
    struct request *r;
    struct answer *a;
    struct todo {
        struct todo *next;
        struct str rel; /* below the path, "" for itself */
        uint64_t depth;
    } *todo, **tail, *now;
    struct str path;
    struct buf after; /* name in the present directory */
    struct str glob;  /* that paths match; .p NULL: all do */
    uint64_t most;    /* levels */
    uint64_t n, looked;
};

#define LIST_ENTRIES 100000u /* in an answer */
#define LIST_LOOKED 1000000u /* looked at for one */

static void listing_free(void *p)
{
    struct listing *l = p;
    buf_done(&l->after);
}

static void list_next(struct listing *l);

static struct str join(struct request *r, struct str a, struct str b)
{
    if (a.n == 0)
        return arena_str(&r->arena, b);
    char *p = arena_alloc(&r->arena, a.n + b.n + 2);
    memcpy(p, a.p, a.n);
    p[a.n] = '/';
    memcpy(p + a.n + 1, b.p, b.n);
    p[a.n + 1 + b.n] = 0;
    return str_of(p, a.n + 1 + b.n);
}

static void add_todo(struct listing *l, struct str rel, uint64_t depth)
{
    struct todo *t = arena_alloc(&l->r->arena, sizeof(*t));
    *t = (struct todo){NULL, rel, depth};
    *l->tail = t;
    l->tail = &t->next;
}

static void add_entry(struct listing *l, const struct wire_entry *e)
{
    BUF_AUTO struct buf path;
    buf_init(&path, LIMIT_PATH);
    buf_adds(&path, l->now->rel);
    if (path.n)
        buf_putc(&path, '/');
    buf_adds(&path, e->name);
    struct str rel = buf_str(&path);
    l->looked++;
    if (S_ISDIR(e->mode) && l->now->depth < l->most)
        add_todo(l, arena_str(&l->r->arena, rel), l->now->depth + 1);
    if (l->glob.p && !glob_matches(l->glob, rel))
        return;
    json_begin(&l->a->w, NULL, '{');
    json_text(&l->a->w, "path", rel);
    put_mode(&l->a->w, e->mode);
    json_number(&l->a->w, "size", e->size);
    json_time(&l->a->w, "modified_at", e->mtime);
    json_end(&l->a->w, '}');
    l->n++;
}

static void entries_came(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct listing *l = arg;
    struct wire_entry e;
    struct str data = reply ? reply->data : str_of(NULL, 0);
    int more = 0;
    if (error && l->now->rel.n == 0) {
        buf_done(&l->a->buf);
        h_fs_fail(l->r, l->path, error, text);
        return;
    }
    uint64_t before = l->looked;
    while (!error && (more = wire_get_entry(&data, &e)) == 1) {
        add_entry(l, &e);
        buf_clear(&l->after);
        buf_adds(&l->after, e.name);
    }
    if (l->n > LIST_ENTRIES || l->looked > LIST_LOOKED || more < 0) {
        buf_done(&l->a->buf);
        request_fail(l->r, API_TOO_LARGE, NULL, "there are more than %u entries: list a directory further down",
                     l->n > LIST_ENTRIES ? LIST_ENTRIES : LIST_LOOKED);
        return;
    }
    /* A directory that was removed meanwhile has no entries. */
    if (error || l->looked == before)
        l->now = NULL;
    list_next(l);
}

static void list_next(struct listing *l)
{
    if (!l->now) {
        l->now = l->todo;
        buf_clear(&l->after);
        if (l->now)
            l->todo = l->now->next;
        if (!l->todo)
            l->tail = &l->todo;
    }
    if (!l->now) {
        json_end(&l->a->w, ']');
        answer_send(l->r, l->a, MHD_HTTP_OK);
        return;
    }
    struct str path = l->now->rel.n ? join(l->r, str_eqc(l->path, "/") ? STR("") : l->path, l->now->rel) : l->path;
    if (path.p[0] != '/')
        path = join(l->r, STR(""), str_of(arena_printf(&l->r->arena, "/%.*s", (int)path.n, path.p), path.n + 1));
    const struct wire_fs q = {.op = WIRE_FS_ENTRIES, .path = path, .data = buf_str(&l->after)};
    h_fs_send(l->r, &q, entries_came, l);
}

static void list(struct request *r, struct str path)
{
    struct listing *l = arena_alloc(&r->arena, sizeof(*l));
    *l = (struct listing){.r = r, .path = path};
    l->tail = &l->todo;
    l->glob = request_query(r, "glob");
    if (!request_query_number(r, "depth", l->glob.p ? glob_depth(l->glob) : 1, LIMIT_DEPTH, &l->most))
        return;
    buf_init(&l->after, LIMIT_NAME + 1);
    r->state = l;
    r->state_free = listing_free;
    l->a = answer_begin(r);
    json_text(&l->a->w, "path", path);
    json_begin(&l->a->w, "entries", '[');
    add_todo(l, str_of("", 0), 1);
    list_next(l);
}

/* ---- GET and HEAD ---- */

static void get(struct request *r, bool head)
{
    struct str path = h_fs_path(r);
    bool lists = request_query(r, "list").p != NULL, stats = request_query(r, "stat").p != NULL;
    const char *of_list = request_query(r, "depth").p ? "depth" : request_query(r, "glob").p ? "glob" : NULL;
    if (of_list && !lists) {
        request_fail(r, API_INVALID_ARGUMENT, of_list, "'%s' belongs to ?list", of_list);
        return;
    }
    if (lists && stats) {
        request_fail(r, API_INVALID_ARGUMENT, "stat", "one of ?list and ?stat");
        return;
    }
    if (!request_session(r))
        return;
    if (lists) {
        list(r, path);
    } else if (stats) {
        struct looking *l = arena_alloc(&r->arena, sizeof(*l));
        *l = (struct looking){r, path};
        const struct wire_fs q = {.op = WIRE_FS_STAT, .path = path};
        h_fs_send(r, &q, stat_came, l);
    } else {
        struct reading *f = arena_alloc(&r->arena, sizeof(*f));
        *f = (struct reading){.r = r, .path = path, .head = head};
        buf_init(&f->block, BLOCK);
        r->state = f;
        r->state_free = reading_free;
        const struct wire_fs q = {.op = WIRE_FS_READ, .path = path, .length = BLOCK, .follow = true};
        h_fs_send(r, &q, first_came, f);
    }
}

void h_fs_get(struct request *r)
{
    get(r, false);
}

void h_fs_head(struct request *r)
{
    get(r, true);
}

/* ---- PUT ---- */

struct writing {
    struct request *r;
    struct str path;
    struct buf gathered; /* not sent yet */
    struct cas_hash hash;
    uint64_t size;       /* of what came */
    uint64_t sent;
    uint32_t mode;
    bool append, begun, ended;
    uint32_t asked;      /* messages that are not answered */
    int error;
    char text[256];
};

#define AHEAD 4u /* messages of an upload on their way */

static void writing_free(void *p)
{
    struct writing *f = p;
    buf_done(&f->gathered);
}

static void put_done(struct writing *f)
{
    struct request *r = f->r;
    if (f->error) {
        h_fs_fail(r, f->path, f->error, f->text);
        return;
    }
    uint8_t sum[CAS_HASH_SIZE];
    cas_hash_end(&f->hash, sum);
    struct answer *a = answer_begin(r);
    json_text(&a->w, "path", f->path);
    json_number(&a->w, "written", f->size);
    answer_send(r, a, MHD_HTTP_OK);
    if (r->response && !f->append)
        put_etag(r->response, sum);
}

static void put_replied(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct writing *f = arg;
    (void)reply;
    f->asked--;
    if (error && !f->error) {
        f->error = error;
        snprintf(f->text, sizeof(f->text), "%s", text);
    }
    if (f->ended && f->asked == 0)
        put_done(f);
    else if (!f->ended)
        request_go_on(f->r);
}

/* The condition of the request, as the first of the message's requests. */
static bool put_condition(struct writing *f, struct buf *out)
{
    const char *match = request_header(f->r, MHD_HTTP_HEADER_IF_MATCH),
               *none = request_header(f->r, MHD_HTTP_HEADER_IF_NONE_MATCH);
    uint8_t hash[CAS_HASH_SIZE];
    struct wire_fs q = {.op = WIRE_FS_MATCH, .path = f->path};
    if (match && strcmp(match, "*") == 0)
        q.op = WIRE_FS_LOOK;
    else if (match && take_etag(match, hash))
        q.data = str_of((const char *)hash, sizeof(hash));
    else if (match || (none && strcmp(none, "*") != 0))
        return false;
    else if (!none)
        return true;
    wire_put_fs(out, &q);
    return true;
}

/* Sends what was gathered, in one message: a file that fits into one is written all or not at all. */
static void send_gathered(struct writing *f)
{
    BUF_AUTO struct buf b;
    buf_init(&b, WIRE_BODY_MAX);
    if (!f->begun && !put_condition(f, &b)) {
        f->error = -EILSEQ;
        buf_clear(&f->gathered);
        return;
    }
    size_t at = 0;
    do {
        struct str part = str_from(buf_str(&f->gathered), at);
        part.n = NUM_MIN(part.n, (size_t)LIMIT_MSG_DATA);
        const struct wire_fs q = {.op = f->append ? WIRE_FS_EXTEND : WIRE_FS_PUT,
                                  .path = f->path,
                                  .data = part,
                                  .mode = f->mode,
                                  .mtime = clock_wall(),
                                  .offset = f->sent + at,
                                  .as_user = true};
        wire_put_fs(&b, &q);
        at += part.n;
    } while (at < f->gathered.n);
    f->begun = true;
    f->sent += f->gathered.n;
    buf_clear(&f->gathered);
    f->asked++;
    sched_fs(f->r->session, buf_str(&b), put_replied, f);
}

static struct writing *writing_begin(struct request *r)
{
    struct str mode = request_query(r, "mode"), append = request_query(r, "append");
    uint32_t bits = 0;
    if (mode.p && !request_octal(mode, &bits)) {
        request_fail(r, API_INVALID_ARGUMENT, "mode", "'mode' is an octal number of at most 4 digits, as 0644");
        return NULL;
    }
    if (!request_session(r))
        return NULL;
    struct writing *f = arena_alloc(&r->arena, sizeof(*f));
    *f = (struct writing){.r = r, .path = h_fs_path(r), .mode = mode.p ? bits : 0644, .append = append.p != NULL};
    buf_init(&f->gathered, 2 * LIMIT_REQUEST);
    cas_hash_init(&f->hash);
    r->state = f;
    r->state_free = writing_free;
    return f;
}

#define GATHER (1u << 20) /* bytes of one message of an upload */

size_t h_fs_put_piece(struct request *r, struct str s)
{
    struct writing *f = r->state ? r->state : writing_begin(r);
    if (!f || f->error)
        return s.n; /* what is left of the body is not looked at */
    if (f->asked >= AHEAD)
        return 0;
    if (f->size + s.n > LIMIT_UPLOAD) {
        f->error = -EFBIG;
        return s.n;
    }
    cas_hash_add(&f->hash, s.p, s.n);
    f->size += s.n;
    if (buf_adds(&f->gathered, s))
        f->error = -ENOMEM;
    else if (f->gathered.n >= GATHER)
        send_gathered(f);
    return s.n;
}

void h_fs_put(struct request *r)
{
    struct writing *f = r->state ? r->state : writing_begin(r);
    if (!f)
        return;
    if (!f->error && (f->gathered.n || !f->begun))
        send_gathered(f);
    f->ended = true;
    if (f->asked == 0)
        put_done(f);
}

/* ---- DELETE ---- */

static void removed(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct looking *l = arg;
    (void)reply;
    if (error)
        h_fs_fail(l->r, l->path, error, text);
    else
        request_reply_bytes(l->r, MHD_HTTP_NO_CONTENT, NULL, STR(""));
}

void h_fs_delete(struct request *r)
{
    if (!request_session(r))
        return;
    struct looking *l = arena_alloc(&r->arena, sizeof(*l));
    *l = (struct looking){r, h_fs_path(r)};
    const struct wire_fs q = {
        .op = WIRE_FS_REMOVE, .path = l->path, .length = request_query(r, "recursive").p != NULL};
    h_fs_send(r, &q, removed, l);
}
