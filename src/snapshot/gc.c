/* SPDX-License-Identifier: Apache-2.0 */

/* Who names what, and removing what nobody does. */

#include <errno.h>

#include "base/err.h"
#include "snapshot/keep.h"
#include "snapshot/state_int.h"
#include "types/errtab.h"
#include "vfs/image.h"

/* ---- names of blobs ---- */

struct refs {
    struct state *s;
    int (*fn)(void *arg, const struct state_ref *ref, const struct cas_id *id);
    void (*bad)(void *arg, const struct state_ref *ref, const char *text);
    void *arg;
    struct state_ref at;
};

static int tell(void *arg, const struct cas_id *id, const char *what)
{
    struct refs *r = arg;
    r->at.what = what;
    return r->fn(r->arg, &r->at, id);
}

static void tell_bad(struct refs *r, const char *text)
{
    r->at.what = r->at.snapshot ? "snapshot" : "log";
    r->bad(r->arg, &r->at, text);
}

static int refs_of_log(struct refs *r, struct err *err)
{
    struct trace *t = NULL;
    struct trace_pos pos, tail;
    struct trace_event e;
    int found = 0;
    trace_begin(&pos);
    trace_begin(&tail);
    int rc = state__trace(r->s, r->at.session, &t, err);
    /* Behind the last whole event is what is being written, or what a killed process left: it names nothing yet. */
    if (rc == 0)
        rc = trace_tail(t, &tail, err);
    if (rc == 0 && tail.seq == 0)
        rc = err_set(err, -EBADMSG, "it is empty");
    while (rc == 0 && found == 0 && pos.seq < tail.seq) {
        rc = trace_next(t, &pos, &e, err);
        if (rc == 0)
            rc = err_set(err, -EBADMSG, "it ends early");
        if (rc < 0)
            break;
        rc = 0;
        r->at.seq = e.seq;
        found = trace_blobs(&e, tell, r);
    }
    r->at.seq = pos.seq;
    trace_pos_done(&pos);
    trace_pos_done(&tail);
    trace_close(t);
    if (rc)
        tell_bad(r, err->text);
    return found;
}

static int refs_of_session(void *arg, const char *id, const char *name)
{
    struct refs *r = arg;
    struct err err = {0};
    r->at = (struct state_ref){.session = id, .name = name};
    return refs_of_log(r, &err);
}

static int refs_of_snapshot(void *arg, const char *name)
{
    struct refs *r = arg;
    struct state_snapshot snap;
    struct id id;
    if (id_parse(ID_SNAPSHOT, str_c(name), &id))
        return 0;
    int rc = state__snapshot_read(r->s, name, &snap);
    if (rc) {
        r->at = (struct state_ref){.session = "", .name = "", .snapshot = name};
        if (rc != -ENOENT)
            tell_bad(r, rc == -EBADMSG ? "it is no whole snapshot" : errtab_text(rc));
        return 0;
    }
    if (state__snapshot_stays(r->s, &snap)) {
        struct trace_event e = {.type = TRACE_SNAPSHOT, .seq = snap.seq, .u.snapshot.state = snap.state};
        r->at = (struct state_ref){.session = snap.session, .name = "", .snapshot = name, .seq = snap.seq};
        rc = trace_blobs(&e, tell, r);
    }
    state_snapshot_done(&snap);
    return rc;
}

int state_refs(struct state *s, int (*fn)(void *arg, const struct state_ref *ref, const struct cas_id *id),
               void (*bad)(void *arg, const struct state_ref *ref, const char *text), void *arg)
{
    struct refs r = {.s = s, .fn = fn, .bad = bad, .arg = arg};
    int rc = state_session_each(s, refs_of_session, &r);
    return rc ? rc : state__each(s->snapshots, refs_of_snapshot, &r);
}

/* ---- collecting ---- */

struct marking {
    struct cas *c;
    struct cas_gc *gc;
    void (*progress)(void *arg, uint64_t done);
    void *arg;
    uint64_t done;
    struct err bad; /* the first thing that could name more than is known */
};

static void note_bad(void *arg, const struct state_ref *ref, const char *text)
{
    struct marking *m = arg;
    if (m->bad.code)
        return;
    if (ref->snapshot)
        err_set(&m->bad, -EBADMSG, "snapshot %s is damaged", ref->snapshot);
    else
        err_set(&m->bad, -EBADMSG, "the log of session '%s' is damaged (%.80s)",
                ref->name[0] ? ref->name : ref->session, text);
}

static int mark_of_image(void *arg, const struct cas_id *id)
{
    struct marking *m = arg;
    int r = cas_gc_mark(m->gc, id);
    /* It may have been put since gc began, where gc does not look unless asked. */
    if (r == -ENOENT && cas_has(m->c, id))
        r = cas_gc_mark(m->gc, id);
    if (r != -ENOENT)
        return r;
    if (!m->bad.code)
        err_set(&m->bad, -EBADMSG, "a part of a tree is missing");
    return 0;
}

static void unreadable(void *arg, const struct cas_id *id, int error)
{
    struct marking *m = arg;
    (void)id;
    if (!m->bad.code)
        err_set(&m->bad, -EBADMSG, "a part of a tree is damaged (%s)", errtab_text(error));
}

static int mark(void *arg, const struct state_ref *ref, const struct cas_id *id)
{
    struct marking *m = arg;
    if (m->progress)
        m->progress(m->arg, ++m->done);
    if (strcmp(ref->what, "image") == 0)
        return vfs_image_walk(m->c, id, mark_of_image, unreadable, m);
    int r = cas_gc_mark(m->gc, id);
    /* Nothing lies behind these, so one that is missing hides nothing. */
    return r < 0 && r != -ENOENT ? r : 0;
}

static void ignore_bad(void *arg, const struct state_ref *ref, const char *text)
{
    (void)arg;
    (void)ref;
    (void)text; /* what is no whole log yet, or any more, is no session */
}

/* Marks what a session names that is being made: it may be visible when gc has removed what nobody named. */
static int mark_of_new(void *arg, const char *name)
{
    struct refs *r = arg;
    struct err err = {0};
    r->at = (struct state_ref){.session = name, .name = ""};
    return str_starts(str_c(name), STR(STATE_NEW)) ? refs_of_log(r, &err) : 0;
}

/* Marks all that is named. Sessions that are being made first: one that becomes visible meanwhile is met in either. */
static int mark_all(struct state *s, struct marking *m)
{
    struct refs made = {.s = s, .fn = mark, .bad = ignore_bad, .arg = m};
    int r = state__each(s->sessions, mark_of_new, &made);
    return r ? r : state_refs(s, mark, note_bad, m);
}

int state_gc(struct state *s, bool dry, void (*progress)(void *arg, uint64_t done), void *arg, uint64_t *ret_blobs,
             uint64_t *ret_bytes, struct err *err)
{
    struct marking m = {.progress = progress, .arg = arg};
    int r = state_store(s, CAS_WRITE | CAS_CREATE, &m.c, err);
    if (r)
        return r;
    if (!dry)
        r = state_tidy(s, err);
    if (r == 0)
        r = cas_gc_begin(m.c, CAS_GC_WAIT_MS, &m.gc, err);
    if (r == 0) {
        r = mark_all(s, &m);
        if (r)
            err_set(err, r, "the store: %s", errtab_text(r));
        else if (m.bad.code)
            r = err_set(err, m.bad.code,
                        "%.120s, and what it needs is not known: see frontal-sandbox store fsck, destroy what is lost, "
                        "then run gc again",
                        m.bad.text);
        if (r)
            cas_gc_abort(m.gc);
        else if ((r = cas_gc_sweep(m.gc, dry, ret_blobs, ret_bytes)) != 0)
            err_set(err, r, "the store: %s", errtab_text(r));
    }
    cas_close(m.c);
    return r;
}
