/* SPDX-License-Identifier: Apache-2.0 */

/* What a person means by a place, the state that is there, and a session that begins with it. */

#include "snapshot/state_int.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "types/errtab.h"
#include "vfs/image.h"

#define BIT(type) (1u << (type))
#define STATES (BIT(TRACE_CREATED) | BIT(TRACE_RESTORE) | BIT(TRACE_END))

static int damaged(const char *who, int r, struct err *err)
{
    return err_wrap(err, r, "the log of session '%s' is damaged (frontal-sandbox trace %s --verify says where)", who,
                    who);
}

/* ---- places in a log ---- */

static int read_created(struct trace *t, const char *who, struct state_place *p, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e;
    trace_begin(&pos);
    int r = trace_next(t, &pos, &e, err);
    if (r == 0 || (r > 0 && e.type != TRACE_CREATED))
        r = err_set(err, -EBADMSG, "it does not begin with its making");
    if (r < 0)
        r = damaged(who, r, err);
    else if (buf_adds(&p->config, e.u.created.config))
        r = err_set(err, p->config.err, "the configuration of session '%s': %s", who, errtab_text(p->config.err));
    else
        r = 0;
    trace_pos_done(&pos);
    return r;
}

int state_last(struct trace *t, uint64_t *ret_seq, struct trace_state *ret, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e;
    trace_begin(&pos);
    int r = trace_tail(t, &pos, err);
    if (r == 0)
        r = trace_last(t, &pos, STATES, &e, err);
    if (r == 0)
        r = err_set(err, -EBADMSG, "it has no state");
    const struct trace_state *st = r > 0 ? trace_state_of(&e) : NULL;
    if (st) {
        *ret_seq = e.seq;
        *ret = *st;
        r = 0;
    }
    trace_pos_done(&pos);
    return r;
}

static int unfinished(const char *who, uint64_t seq, struct err *err)
{
    return err_set(err, -ENOENT,
                   "the command at @%" PRIu64 " of session '%s' has not ended: there is no state after it", seq, who);
}

/*
 * The state that event @seq stands for, looked for from the end of the log: that of the command it belongs to, or the
 * one that held when it was written. @pos is at the tail.
 */
static int state_at(struct trace *t, struct trace_pos *pos, const char *who, uint64_t seq, struct state_place *p,
                    struct err *err)
{
    struct trace_event e;
    struct state_place end = {.seq = 0};
    bool ended = false; /* `end` is of the command that the events here belong to */
    int r;
    while ((r = trace_prev(t, pos, &e, err)) > 0) {
        const struct trace_state *st = trace_state_of(&e);
        if (st && (e.seq == seq || (e.seq < seq && e.type != TRACE_SNAPSHOT))) {
            p->seq = e.seq;
            p->state = *st;
            return 0;
        }
        if (e.type == TRACE_END) {
            end.seq = e.seq;
            end.state = e.u.end.state;
            ended = true;
        }
        if (e.seq <= seq && e.type == TRACE_EXEC) {
            if (!ended)
                return unfinished(who, e.seq, err);
            p->seq = end.seq;
            p->state = end.state;
            return 0;
        }
        if (e.type == TRACE_EXEC || e.type == TRACE_RESTORE)
            ended = false;
    }
    return r ? damaged(who, r, err) : damaged(who, err_set(err, -EBADMSG, "it has no state"), err);
}

/* The same, read from the begin: for a log that is damaged behind the event. -EBADMSG when it is so before. */
static int state_at_from_begin(struct trace *t, uint64_t seq, struct state_place *p)
{
    struct trace_pos pos;
    struct trace_event e;
    bool running = false, found = false;
    int r;
    trace_begin(&pos);
    while (!found && (r = trace_next(t, &pos, &e, NULL)) > 0) {
        const struct trace_state *st = trace_state_of(&e);
        bool ends = running && e.type == TRACE_END;
        running = e.type == TRACE_EXEC || (running && !ends);
        if (st && (e.seq == seq || e.type != TRACE_SNAPSHOT) && (e.seq <= seq || ends)) {
            p->seq = e.seq;
            p->state = *st;
        }
        found = e.seq >= seq && !running;
    }
    trace_pos_done(&pos);
    return found ? 0 : -EBADMSG;
}

/* @err keeps what is wrong with the log when it is of no use. */
static int state_at_seq(struct trace *t, const char *who, uint64_t seq, struct state_place *p, struct err *err)
{
    struct trace_pos pos;
    trace_begin(&pos);
    int r = trace_tail(t, &pos, err);
    if (r)
        r = damaged(who, r, err);
    else if (seq >= pos.seq)
        r = err_set(err, -ENOENT, "session '%s' has no @%" PRIu64 ": its events are @0 to @%" PRIu64, who, seq,
                    pos.seq - 1);
    else
        r = state_at(t, &pos, who, seq, p, err);
    trace_pos_done(&pos);
    return r == -EBADMSG && state_at_from_begin(t, seq, p) == 0 ? 0 : r;
}

static int place_in(struct state *s, struct str who, const uint64_t *seq, struct state_place *p, struct err *err)
{
    char name[STATE_NAME_MAX + 1];
    struct trace *t;
    int r = state__find(s, who, p->session, name, err);
    if (r)
        return r;
    const char *said = name[0] ? name : p->session;
    r = state__trace(s, p->session, &t, err);
    if (r)
        return r;
    r = read_created(t, said, p, err);
    if (r == 0 && !seq) {
        r = state_last(t, &p->seq, &p->state, err);
        r = r ? damaged(said, r, err) : 0;
    } else if (r == 0) {
        r = state_at_seq(t, said, *seq, p, err);
    }
    trace_close(t);
    return r;
}

static int place_of_snapshot(struct state *s, struct str session, struct str who, struct state_place *p,
                             struct err *err)
{
    struct state_snapshot snap;
    char name[STATE_NAME_MAX + 1];
    int r = session.n ? state__find(s, session, p->session, name, err) : 0;
    if (r == 0)
        r = state_snapshot_get(s, session.n ? str_c(p->session) : session, who, &snap, err);
    if (r)
        return r;
    memcpy(p->session, snap.session, sizeof(p->session));
    p->seq = snap.seq;
    p->state = snap.state;
    r = buf_adds(&p->config, snap.config);
    memcpy(p->snapshot, snap.id, sizeof(p->snapshot));
    state_snapshot_done(&snap);
    return r;
}

static int resolve(struct state *s, struct str spec, struct state_place *p, struct err *err)
{
    ptrdiff_t at = str_find(spec, '@', 0), colon = str_find(spec, ':', 0);
    uint64_t seq;
    struct err as_session = {0};
    if (at >= 0 && str_u64(str_from(spec, (size_t)at + 1), &seq))
        return err_set(err, -EINVAL,
                       "'%.*s': after '@' stands the number of an event, as frontal-sandbox trace shows it",
                       (int)spec.n, spec.p);
    if (at >= 0)
        return place_in(s, str_of(spec.p, (size_t)at), &seq, p, err);
    if (colon >= 0)
        return place_of_snapshot(s, str_of(spec.p, (size_t)colon), str_from(spec, (size_t)colon + 1), p, err);
    if (str_starts(spec, STR("snap_")))
        return place_of_snapshot(s, str_of(NULL, 0), spec, p, err);
    int r = place_in(s, spec, NULL, p, &as_session);
    if (r == -ENOENT && !p->session[0]) {
        /* A snapshot of that name will do; when there is none, a session is what was meant. */
        int r2 = place_of_snapshot(s, str_of(NULL, 0), spec, p, err);
        if (r2 != -ENOENT)
            return r2;
    }
    return r ? err_set(err, r, "%s", as_session.text) : 0;
}

int state_resolve(struct state *s, struct str spec, struct state_place *ret, struct err *err)
{
    struct state_place p = {.seq = 0};
    struct err why = {0};
    buf_init(&p.config, LIMIT_TRACE_EVENT);
    int r = resolve(s, spec, &p, &why);
    if (r) {
        state_place_done(&p);
        return err_set(err, r, "%s", why.text);
    }
    *ret = p;
    return 0;
}

void state_place_done(struct state_place *p)
{
    buf_done(&p->config);
}

/* ---- the tree ---- */

/* What a provider shows is of a running session; here there is none. */
int state__load(struct cas *c, const struct cas_id *image, struct vfs **ret, struct vfs_canon **ret_canon,
                struct cas_id *ret_root)
{
    struct vfs_image_env env = {.quota = {UINT64_MAX, UINT64_MAX}};
    struct cas_id root;
    return vfs_image_load(c, image, &env, ret, ret_canon, ret_root ? ret_root : &root);
}

int state_tree(struct cas *c, const struct trace_state *st, struct vfs **ret, struct vfs_canon **ret_canon,
               struct err *err)
{
    struct vfs *v;
    struct vfs_canon *k;
    struct cas_id root;
    int r = state__load(c, &st->image, &v, &k, &root);
    if (r)
        return err_set(err, r, "the tree cannot be loaded (%s): frontal-sandbox store fsck says what is missing",
                       errtab_text(r));
    if (cas_id_cmp(&root, &st->root) != 0) {
        vfs_canon_free(k);
        vfs_free(v);
        return err_set(err, -EBADMSG, "the tree is not the one that the log names");
    }
    *ret = v;
    *ret_canon = k;
    return 0;
}

/* ---- what a killed process left open ---- */

/* The number that the next process gets, of the last command that ended, or of @exec when none has. */
static int next_pid(struct trace *t, struct trace_pos *pos, const struct trace_exec *exec, int32_t *ret,
                    struct err *err)
{
    struct trace_event e;
    *ret = exec->first_pid;
    int r = trace_last(t, pos, BIT(TRACE_END), &e, err);
    if (r > 0)
        *ret = e.u.end.next_pid;
    return NUM_MIN(r, 0);
}

int state_settle(struct trace *t, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e;
    struct trace_event end = {.type = TRACE_END,
                              .u.end = {.outcome = {.kind = OUTCOME_LOST, .reason = REASON_CRASH},
                                        .why_not = STR("the process that ran it is gone")}};
    uint64_t seq;
    trace_begin(&pos);
    int r = trace_tail(t, &pos, err);
    /* A SNAPSHOT, FORK or RESTORE is appended only after this function was called: what lies before it need not be
     * looked through for each of the thousand forks that a session may have since its last command. */
    if (r == 0)
        r = trace_last(t, &pos, STATES | BIT(TRACE_EXEC) | BIT(TRACE_SNAPSHOT) | BIT(TRACE_FORK), &e, err);
    bool open = r > 0 && e.type == TRACE_EXEC;
    r = NUM_MIN(r, 0);
    if (r == 0 && open) {
        r = next_pid(t, &pos, &e.u.exec, &end.u.end.next_pid, err);
        if (r == 0)
            r = state_last(t, &seq, &end.u.end.state, err);
        if (r == 0 && ((r = trace_append(t, &end)) != 0 || (r = trace_flush(t)) != 0))
            err_set(err, r, "the session's log cannot be written: %s", errtab_text(r));
        r = r ? r : 1;
    }
    trace_pos_done(&pos);
    return r;
}

/* ---- forks ---- */

static void put_from(const struct state_place *from, char *ret, size_t cap)
{
    if (from->snapshot[0])
        snprintf(ret, cap, "snapshot %s", from->snapshot);
    else
        snprintf(ret, cap, "session %s@%" PRIu64, from->session, from->seq);
}

/* Notes the fork in the origin's log, if nobody is writing there now. */
static void note_fork(struct state *s, const char *origin, const char *id)
{
    struct state_session ses;
    struct trace *t;
    struct trace_event e = {.type = TRACE_FORK, .u.fork.session = str_c(id)};
    if (state_session_open(s, str_c(origin), true, 0, &ses, NULL))
        return;
    if (trace_open(fd_steal(&ses.trace_fd), TRACE_APPEND, &t, NULL, NULL) == 0) {
        if (state_settle(t, NULL) >= 0 && trace_append(t, &e) == 0 && trace_flush(t))
            trace_drop(t);
        trace_close(t);
    }
    state_session_close(&ses);
}

/* In the directory of @ses. @settings NULL: waits for the disk. */
static int make_fork(struct state *s, const struct state_place *from, struct state_session ses,
                     const struct str *settings, char ret_id[STATE_ID_MAX], struct err *err)
{
    struct trace *t = NULL;
    char origin[2 * STATE_ID_MAX];
    put_from(from, origin, sizeof(origin));
    struct trace_event e = {
        .type = TRACE_CREATED,
        .u.created = {str_c(ses.id), str_c(origin), buf_str(&from->config), from->state},
    };
    int r = trace_open(fd_steal(&ses.trace_fd), TRACE_APPEND | TRACE_NEW, &t, NULL, err);
    if (r == 0) {
        r = trace_append(t, &e);
        if (r == 0)
            r = trace_flush(t);
        if (r)
            err_set(err, r, "the log of the new session: %s", errtab_text(r));
    }
    trace_close(t);
    if (r == 0)
        r = settings ? state_session_show(s, &ses, *settings, err) : state_session_commit(s, &ses, err);
    if (r) {
        state_session_drop(s, &ses);
        return r;
    }
    memcpy(ret_id, ses.id, sizeof(ses.id));
    state_session_close(&ses);
    note_fork(s, from->session, ret_id);
    return 0;
}

int state_fork(struct state *s, const struct state_place *from, struct str name, char ret_id[STATE_ID_MAX],
               struct err *err)
{
    struct state_session ses;
    int r = state_session_create(s, name, &ses, err);
    return r ? r : make_fork(s, from, ses, NULL, ret_id, err);
}

int state_fork_show(struct state *s, const struct state_place *from, struct state_session *made, struct str settings,
                    char ret_id[STATE_ID_MAX], struct err *err)
{
    return make_fork(s, from, *made, &settings, ret_id, err);
}
