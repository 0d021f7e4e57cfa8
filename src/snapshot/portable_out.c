/* SPDX-License-Identifier: Apache-2.0 */

/* Writing a session into a stream. */

#include <errno.h>
#include <fcntl.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/map.h"
#include "base/num.h"
#include "snapshot/portable.h"
#include "snapshot/state_int.h"
#include "types/errtab.h"
#include "vfs/image.h"

#define CHUNK 65536u

struct out {
    int fd;
    struct cas *c;
    struct cas_hash hash;
    struct buf pending; /* not written yet */
    struct buf blob;
    struct map seen;
    void (*progress)(void *arg, uint64_t done);
    void *arg;
    struct state_portable *rep;
    int write_error;
};

/* ---- bytes ---- */

static int flush(struct out *o)
{
    int r = fd_write_all(o->fd, buf_str(&o->pending));
    o->write_error = r;
    buf_clear(&o->pending);
    return r;
}

static int put(struct out *o, struct str bytes)
{
    cas_hash_add(&o->hash, bytes.p, bytes.n);
    o->rep->bytes += bytes.n;
    if (o->progress)
        o->progress(o->arg, o->rep->bytes);
    if (o->pending.n + bytes.n > CHUNK) {
        int r = flush(o);
        if (r)
            return r;
    }
    if (bytes.n <= CHUNK)
        return buf_adds(&o->pending, bytes);
    o->write_error = fd_write_all(o->fd, bytes);
    return o->write_error;
}

static int put_head(struct out *o, char type, uint64_t n)
{
    char head[9] = {type};
    for (int i = 0; i < 8; i++)
        head[1 + i] = (char)(n >> (8 * i));
    return put(o, str_of(head, sizeof(head)));
}

static int put_record(struct out *o, char type, struct str bytes)
{
    int r = put_head(o, type, bytes.n);
    return r ? r : put(o, bytes);
}

static int put_end(struct out *o)
{
    uint8_t sum[CAS_HASH_SIZE];
    cas_hash_end(&o->hash, sum);
    cas_hash_init(&o->hash);
    int r = put_record(o, 'E', str_of((const char *)sum, sizeof(sum)));
    return r ? r : flush(o);
}

/* ---- blobs ---- */

/* 1 when it was written now, 0 when it was before. */
static int put_blob(void *arg, const struct cas_id *id)
{
    struct out *o = arg;
    if (map_set(&o->seen, str_of((const char *)id->b, sizeof(id->b)), o))
        return 0;
    buf_clear(&o->blob);
    int r = cas_get(o->c, id, &o->blob);
    if (r == 0)
        r = put_record(o, 'B', buf_str(&o->blob));
    o->rep->blobs++;
    return r ? r : 1;
}

static int put_blobs(void *arg, const struct cas_id *id, const char *what)
{
    struct out *o = arg;
    if (state__may_lack(what) && !cas_has(o->c, id))
        return 0;
    int r = strcmp(what, "image") == 0 ? vfs_image_walk(o->c, id, put_blob, NULL, o) : put_blob(o, id);
    return NUM_MIN(r, 0);
}

static int put_blobs_of_log(struct out *o, struct trace *t, struct trace_pos *tail, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e;
    int r = trace_tail(t, tail, err);
    trace_begin(&pos);
    while (r == 0 && pos.seq < tail->seq) {
        r = trace_next(t, &pos, &e, err);
        if (r <= 0) {
            r = r ? r : -EBADMSG;
            break;
        }
        r = trace_blobs(&e, put_blobs, o);
        if (r && !o->write_error)
            err_set(err, r, "what event @%llu names cannot be read (%s): frontal-sandbox store fsck says more",
                    (unsigned long long)e.seq, errtab_text(r));
    }
    o->rep->events = tail->seq;
    trace_pos_done(&pos);
    return r;
}

/* ---- log and snapshots ---- */

static int put_log(struct out *o, int fd, uint64_t size)
{
    char block[CHUNK];
    int r = put_head(o, 'L', size);
    for (uint64_t at = 0; r == 0 && at < size;) {
        ssize_t n = pread(fd, block, (size_t)NUM_MIN(size - at, sizeof(block)), (off_t)at);
        if (n <= 0)
            return n < 0 ? -errno : -EBADMSG;
        r = put(o, str_of(block, (size_t)n));
        at += (uint64_t)n;
    }
    return r;
}

struct snapshots {
    struct out *o;
    struct state *s;
    bool blobs; /* the pass for what they need, before the log */
};

static int put_snapshot(void *arg, const struct state_snapshot *snap)
{
    struct snapshots *sn = arg;
    if (sn->blobs) {
        struct trace_event e = {.type = TRACE_SNAPSHOT, .u.snapshot.state = snap->state};
        return trace_blobs(&e, put_blobs, sn->o);
    }
    buf_clear(&sn->o->blob);
    state__snapshot_encode(&sn->o->blob, snap);
    sn->o->rep->snapshots++;
    return sn->o->blob.err ? sn->o->blob.err : put_record(sn->o, 'N', buf_str(&sn->o->blob));
}

static int write_all(struct state *s, struct out *o, const struct state_session *ses, int fd, struct trace *t,
                     struct err *err)
{
    struct trace_pos tail;
    struct snapshots sn = {o, s, true};
    char about[256];
    trace_begin(&tail);
    snprintf(about, sizeof(about), "id=%s\nname=%s\n", ses->id, ses->name);
    int r = put(o, STR(STATE_PORTABLE_MAGIC));
    if (r == 0)
        r = put_record(o, 'S', str_c(about));
    if (r == 0)
        r = put_blobs_of_log(o, t, &tail, err);
    if (r == 0)
        r = state_snapshot_each(s, str_c(ses->id), put_snapshot, &sn);
    sn.blobs = false;
    if (r == 0)
        r = put_log(o, fd, tail.offset);
    if (r == 0)
        r = state_snapshot_each(s, str_c(ses->id), put_snapshot, &sn);
    if (r == 0)
        r = put_end(o);
    if (r == 0)
        r = state_last(t, &o->rep->seq, &o->rep->state, err);
    trace_pos_done(&tail);
    return r;
}

int state_export(struct state *s, struct str who, int fd, void (*progress)(void *arg, uint64_t done), void *arg,
                 struct state_portable *ret, struct err *err)
{
    struct state_session ses;
    struct state_portable rep = {.bytes = 0};
    struct out o = {.fd = fd, .progress = progress, .arg = arg, .rep = &rep};
    struct trace *t = NULL;
    struct err why = {0};
    FD_AUTO int log = -1;
    int r = state_session_open(s, who, false, 0, &ses, &why);
    if (r)
        return err_set(err, r, "%s", why.text);
    log = fcntl(ses.trace_fd, F_DUPFD_CLOEXEC, 3);
    r = log < 0 ? -errno : trace_open(fd_steal(&ses.trace_fd), 0, &t, NULL, &why);
    state_session_close(&ses);
    if (r == 0)
        r = state_store(s, 0, &o.c, &why);
    buf_init(&o.pending, CHUNK);
    buf_init(&o.blob, LIMIT_CAS_BLOB);
    cas_hash_init(&o.hash);
    if (r == 0)
        r = write_all(s, &o, &ses, log, t, &why);
    trace_close(t);
    cas_close(o.c);
    map_done(&o.seen);
    buf_done(&o.pending);
    buf_done(&o.blob);
    if (r)
        return err_set(err, r, "%s", o.write_error || !why.code ? errtab_text(r) : why.text);
    memcpy(rep.id, ses.id, sizeof(rep.id));
    memcpy(rep.name, ses.name, sizeof(rep.name));
    *ret = rep;
    return 0;
}
