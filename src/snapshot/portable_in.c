/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading a session from a stream, of which nothing is believed. Blobs go into the store as they come, the log into a
 * session that nobody sees; when the stream has ended as it should, everything the log and the snapshots name is looked
 * for among the blobs that came, and the session becomes visible.
 */

#include <errno.h>
#include <fcntl.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "snapshot/portable.h"
#include "snapshot/state_int.h"
#include "types/errtab.h"
#include "types/limits.h"
#include "vfs/image.h"

#define CHUNK 65536u
#define SNAPSHOTS_MAX (64u << 20) /* bytes of all snapshots' files */

struct in {
    struct state *s;
    struct cas *c;
    int fd, log; /* the new session's log */
    bool mounts; /* a session with directories of the host is welcome */
    struct cas_hash hash;
    struct buf blob, about, snapshots; /* snapshots: records as they came, each with its length before it */
    struct map came;                   /* ids of blobs */
    struct map seen;                   /* of these, needed */
    void (*progress)(void *arg, uint64_t done);
    void *arg;
    struct state_portable *rep;
    struct err *err;
};

static int broken(struct in *in, const char *what)
{
    return err_set(in->err, -EBADMSG, "at byte %llu of the file: %s", (unsigned long long)in->rep->bytes, what);
}

static int failed(struct in *in, int r, const char *what)
{
    return r == 0 ? 0 : err_set(in->err, r, "%s: %s", what, errtab_text(r));
}

/* ---- bytes ---- */

/* Exactly @n bytes; 0, or -EBADMSG when there are fewer (and *ret_none, may be NULL, when there are none). */
static int take(struct in *in, void *p, size_t n, bool *ret_none)
{
    size_t got = 0;
    while (got < n) {
        ssize_t k = read(in->fd, (char *)p + got, n - got);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return failed(in, -errno, "the file");
        if (k == 0) {
            if (ret_none && got == 0)
                *ret_none = true;
            return broken(in, "it ends early");
        }
        got += (size_t)k;
    }
    cas_hash_add(&in->hash, p, n);
    in->rep->bytes += n;
    if (in->progress)
        in->progress(in->arg, in->rep->bytes);
    return 0;
}

static int take_buf(struct in *in, uint64_t n, struct buf *out)
{
    buf_clear(out);
    if (n > out->max)
        return broken(in, "a record that is too long");
    char block[CHUNK];
    int r = 0;
    while (r == 0 && out->n < n) {
        size_t k = (size_t)NUM_MIN(n - out->n, sizeof(block));
        r = take(in, block, k, NULL);
        if (r == 0 && buf_add(out, block, k))
            r = failed(in, out->err, "the file");
    }
    return r;
}

/* ---- records ---- */

static int take_blob(struct in *in, uint64_t n)
{
    struct cas_id id;
    int r = take_buf(in, n, &in->blob);
    if (r == 0)
        r = failed(in, cas_put(in->c, buf_str(&in->blob), &id), "the store");
    if (r == 0)
        map_set(&in->came, str_of((const char *)id.b, sizeof(id.b)), in);
    in->rep->blobs++;
    return r;
}

static int take_log(struct in *in, uint64_t n)
{
    char block[CHUNK];
    int r = 0;
    while (r == 0 && n > 0) {
        size_t k = (size_t)NUM_MIN(n, sizeof(block));
        r = take(in, block, k, NULL);
        if (r == 0)
            r = failed(in, fd_write_all(in->log, str_of(block, k)), "the log");
        n -= k;
    }
    return r;
}

static int take_snapshot(struct in *in, uint64_t n)
{
    int r = take_buf(in, n, &in->blob);
    uint32_t size = (uint32_t)in->blob.n;
    if (r == 0) {
        buf_add(&in->snapshots, &size, sizeof(size));
        buf_adds(&in->snapshots, buf_str(&in->blob));
        in->rep->snapshots++;
        if (in->snapshots.err)
            r = broken(in, "too many snapshots");
    }
    return r;
}

/* The hash of what came before the record whose head was just taken. */
static int take_end(struct in *in, uint64_t n, const uint8_t want[CAS_HASH_SIZE])
{
    uint8_t sum[CAS_HASH_SIZE], more;
    bool none = false;
    int r = n == sizeof(sum) ? take(in, sum, sizeof(sum), NULL) : broken(in, "an end that is none");
    if (r == 0 && memcmp(sum, want, sizeof(sum)) != 0)
        r = broken(in, "its hash is another than that of what came before");
    if (r)
        return r;
    struct err *err = in->err, ignored;
    in->err = &ignored;
    r = take(in, &more, 1, &none);
    in->err = err;
    return none ? 0 : r == 0 ? broken(in, "bytes after the end") : err_set(err, r, "%s", ignored.text);
}

static int take_records(struct in *in)
{
    static const char order[] = "SBLNE"; /* of the records; S and L come once */
    char magic[sizeof(STATE_PORTABLE_MAGIC) - 1];
    int r = take(in, magic, sizeof(magic), NULL);
    if (r == 0 && memcmp(magic, STATE_PORTABLE_MAGIC, sizeof(magic)) != 0)
        return broken(in, "it is no export of frontal-sandbox, or of a newer one");
    for (size_t at = 0; r == 0;) {
        uint8_t head[9], sum[CAS_HASH_SIZE];
        struct cas_hash h = in->hash;
        cas_hash_end(&h, sum);
        r = take(in, head, sizeof(head), NULL);
        if (r)
            return r;
        const char *place = head[0] ? strchr(order, (char)head[0]) : NULL;
        size_t now = place ? (size_t)(place - order) : 0;
        uint64_t n = 0;
        for (int i = 7; i >= 0; i--)
            n = n << 8 | head[1 + i];
        /* After S comes B or L, after L comes N or E. */
        bool fits = place && (in->about.n == 0 ? now == 0 : now >= at && now > 0 && (now <= 2 || at >= 2));
        if (!fits || (now == 2 && at == 2))
            return broken(in, "a record that does not belong here");
        at = now;
        switch (order[now]) {
        case 'S':
            r = take_buf(in, n, &in->about);
            if (r == 0 && in->about.n == 0)
                r = broken(in, "an empty record");
            break;
        case 'B':
            r = take_blob(in, n);
            break;
        case 'L':
            r = take_log(in, n);
            break;
        case 'N':
            r = take_snapshot(in, n);
            break;
        default:
            return take_end(in, n, sum);
        }
    }
    return r;
}

/* ---- what must be there ---- */

static int need(void *arg, const struct cas_id *id)
{
    struct in *in = arg;
    struct str key = str_of((const char *)id->b, sizeof(id->b));
    if (map_set(&in->seen, key, in))
        return 0;
    return map_get(&in->came, key) ? 1 : -ENOENT;
}

static int need_blobs(void *arg, const struct cas_id *id, const char *what)
{
    struct in *in = arg;
    if (state__may_lack(what))
        return 0;
    int r = strcmp(what, "image") == 0 ? vfs_image_walk(in->c, id, need, NULL, in) : need(in, id);
    return NUM_MIN(r, 0);
}

static int need_state(struct in *in, const struct trace_event *e, const char *what)
{
    int r = trace_blobs(e, need_blobs, in);
    if (r == 0 || r == -ENOMEM)
        return failed(in, r, what);
    return err_set(in->err, -EBADMSG, "%s @%llu: %s", what, (unsigned long long)e->seq,
                   r == -ENOENT ? "it names what is not in the file" : "a tree that is damaged");
}

static bool has_mounts(struct str config)
{
    while (config.n) {
        if (str_starts(config, STR("mount=")))
            return true;
        ptrdiff_t nl = str_find(config, '\n', 0);
        config = str_from(config, nl < 0 ? config.n : (size_t)nl + 1);
    }
    return false;
}

static int check_log(struct in *in, struct trace *t, bool mounts)
{
    struct trace_report rep;
    struct trace_pos pos;
    struct trace_event e;
    int r = trace_verify(t, &rep);
    if (r == 0 && rep.events == 0)
        return err_set(in->err, -EBADMSG, "the log is empty");
    if (r)
        return err_set(in->err, r, "the log: %s", r == -EBADMSG ? rep.what : errtab_text(r));
    in->rep->events = rep.events;
    trace_begin(&pos);
    for (uint64_t i = 0; r == 0 && i < rep.events; i++) {
        r = trace_next(t, &pos, &e, in->err);
        r = r == 0 ? broken(in, "the log ends early") : NUM_MIN(r, 0);
        if (r == 0 && i == 0 && e.type != TRACE_CREATED)
            r = err_set(in->err, -EBADMSG, "the log does not begin with the making of a session");
        if (r == 0 && i == 0 && !mounts && has_mounts(e.u.created.config))
            r = err_set(in->err, -EPERM,
                        "the session has directories of the host mounted, and would get those of this "
                        "one: --mounts allows it");
        if (r == 0)
            r = need_state(in, &e, "event");
    }
    trace_pos_done(&pos);
    return r ? r : state_last(t, &in->rep->seq, &in->rep->state, in->err);
}

static int look_at_tree(struct in *in, struct vfs *v, struct vfs_canon *own)
{
    struct cas_id root;
    const char *what = "";
    int r = vfs_check(v, &what);
    if (r)
        return err_set(in->err, r == -ENOMEM ? r : -EBADMSG, "the tree of the last state is damaged: %s",
                       *what ? what : errtab_text(r));
    r = vfs_root_hash(v, own, &root);
    if (r != 0 || cas_id_cmp(&root, &in->rep->state.root) != 0)
        return err_set(in->err, r == -ENOMEM ? r : -EBADMSG,
                       "the tree of the last state is not the one that the log names");
    return 0;
}

/* The last tree is looked at whole, and its hash made anew. A page of it that is in the file once may stand in many
 * places, so what this takes has little to do with how long the file is. */
static int check_tree(struct in *in)
{
    struct vfs *v = NULL;
    struct vfs_canon *told = NULL, *own = vfs_canon_new();
    struct mem_account acc = {.limit = LIMIT_IMPORT_TREE};
    struct mem_account *before = mem_use(&acc), *tree_before = vfs_charge(&acc);
    int r = own ? state_tree(in->c, &in->rep->state, &v, &told, in->err) : failed(in, -ENOMEM, "the tree");
    if (r == 0)
        r = look_at_tree(in, v, own);
    bool hit = acc.hit;
    vfs_canon_free(own);
    vfs_canon_free(told);
    vfs_free(v);
    vfs_charge(tree_before);
    mem_use(before);
    if (r && hit)
        return err_set(in->err, -EFBIG, "checking the tree of the last state takes more than %llu MiB of memory",
                       (unsigned long long)(LIMIT_IMPORT_TREE >> 20));
    return r;
}

/* ---- snapshots ---- */

/* Calls @fn with each that came. */
static int each_snapshot(struct in *in, int (*fn)(struct in *in, struct state_snapshot *snap))
{
    struct str rest = buf_str(&in->snapshots);
    int r = 0;
    while (r == 0 && rest.n) {
        uint32_t n;
        struct state_snapshot snap;
        memcpy(&n, rest.p, sizeof(n));
        r = state__snapshot_decode(str_of(rest.p + sizeof(n), n), &snap);
        if (r)
            return err_set(in->err, -EBADMSG, "a snapshot in the file is damaged");
        r = fn(in, &snap);
        state_snapshot_done(&snap);
        rest = str_from(rest, sizeof(n) + n);
    }
    return r;
}

static int check_snapshot(struct in *in, struct state_snapshot *snap)
{
    struct trace_event e = {.type = TRACE_SNAPSHOT, .seq = snap->seq, .u.snapshot.state = snap->state};
    /* It is forked with the configuration that it carries itself. */
    if (!in->mounts && has_mounts(snap->config))
        return err_set(
            in->err, -EPERM,
            "a snapshot has directories of the host mounted, and would get those of this one: --mounts allows it");
    if (snap->seq >= in->rep->events)
        return broken(in, "a snapshot of what is not in the log");
    return need_state(in, &e, "snapshot of");
}

static int keep_snapshot(struct in *in, struct state_snapshot *snap)
{
    memcpy(snap->session, in->rep->id, sizeof(snap->session));
    return state_snapshot_put(in->s, snap, in->err);
}

/* ---- all ---- */

/* id and name out of the first record: 0 or -EBADMSG. */
static int read_about(struct in *in, char id[STATE_ID_MAX], char name[STATE_NAME_MAX + 1])
{
    char want[256];
    struct id parsed;
    if (sscanf(in->about.p, "id=%39[^\n]\nname=%64[^\n]", id, name) < 1 || id_parse(ID_SESSION, str_c(id), &parsed) ||
        (name[0] && state__check_name(str_c(name), NULL)))
        return broken(in, "no session's id and name");
    snprintf(want, sizeof(want), "id=%s\nname=%s\n", id, name);
    return strcmp(want, in->about.p) == 0 ? 0 : broken(in, "no session's id and name");
}

static int append_import(struct in *in, struct state_session *ses, const char *origin)
{
    struct trace *t;
    char from[STATE_ID_MAX + 8];
    snprintf(from, sizeof(from), "import %s", origin);
    struct trace_event e = {.type = TRACE_RESTORE, .u.restore = {str_c(from), in->rep->state}};
    int r = trace_open(fd_steal(&ses->trace_fd), TRACE_APPEND, &t, NULL, in->err);
    if (r)
        return r;
    r = state_settle(t, in->err);
    if (r >= 0) {
        r = trace_append(t, &e);
        r = failed(in, r ? r : trace_sync(t), "the log");
    }
    trace_close(t);
    return r;
}

static int check_all(struct in *in, bool mounts)
{
    struct trace *t;
    int fd = fcntl(in->log, F_DUPFD_CLOEXEC, 3);
    int r = fd < 0 ? failed(in, -errno, "the log") : trace_open(fd, 0, &t, NULL, in->err);
    if (r)
        return r;
    r = check_log(in, t, mounts);
    trace_close(t);
    if (r == 0)
        r = each_snapshot(in, check_snapshot);
    if (r == 0)
        r = check_tree(in);
    return r ? r : failed(in, cas_sync(in->c), "the store");
}

static int import_into(struct in *in, struct state_session *ses, struct str name, bool mounts)
{
    char origin[STATE_ID_MAX] = "", its_name[STATE_NAME_MAX + 1] = "";
    in->log = ses->trace_fd;
    in->mounts = mounts;
    int r = take_records(in);
    if (r == 0)
        r = read_about(in, origin, its_name);
    if (r == 0)
        r = check_all(in, mounts);
    if (r == 0)
        r = append_import(in, ses, origin);
    if (r == 0 && name.n == 0)
        r = state_session_call(in->s, ses, str_c(its_name), in->err);
    if (r == 0)
        r = state_session_commit(in->s, ses, in->err);
    if (r)
        return r;
    memcpy(in->rep->id, ses->id, sizeof(ses->id));
    memcpy(in->rep->name, ses->name, sizeof(ses->name));
    r = each_snapshot(in, keep_snapshot);
    if (r) {
        fd_close(&ses->lock_fd);
        (void)cas_release(in->c); /* destroying waits for a gc, which may wait for us */
        (void)state_session_destroy(in->s, str_c(ses->id), NULL);
    }
    return r;
}

int state_import(struct state *s, int fd, struct str name, bool mounts, void (*progress)(void *arg, uint64_t done),
                 void *arg, struct state_portable *ret, struct err *err)
{
    struct state_portable rep = {.bytes = 0};
    struct state_session ses;
    struct err why = {0};
    struct in in = {.s = s, .fd = fd, .progress = progress, .arg = arg, .rep = &rep, .err = &why};
    int r = state_store(s, CAS_WRITE | CAS_CREATE, &in.c, err);
    if (r)
        return r;
    r = state_session_create(s, name, &ses, err);
    if (r) {
        cas_close(in.c);
        return r;
    }
    buf_init(&in.blob, LIMIT_CAS_BLOB);
    buf_init(&in.about, 200);
    buf_init(&in.snapshots, SNAPSHOTS_MAX);
    cas_hash_init(&in.hash);
    r = import_into(&in, &ses, name, mounts);
    state_session_drop(s, &ses);
    cas_close(in.c);
    buf_done(&in.blob);
    buf_done(&in.about);
    buf_done(&in.snapshots);
    map_done(&in.came);
    map_done(&in.seen);
    if (r)
        return err_set(err, r, "%s", why.text);
    *ret = rep;
    return 0;
}
