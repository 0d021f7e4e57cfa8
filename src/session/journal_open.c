/* SPDX-License-Identifier: Apache-2.0 */

/* A session is opened: what its log says last is what it is. */

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "proc/proc.h"
#include "session/journal_int.h"
#include "session/session_int.h"
#include "snapshot/state.h"
#include "types/errtab.h"
#include "vfs/vfs.h"

/* What the log says. */
struct last {
    struct trace_state state;
    uint64_t seq; /* of the event that holds it */
    int32_t next_pid;
    bool older; /* later ones are not whole in the store */
};

static int note_blob(void *arg, const struct cas_id *id)
{
    return cas_has(arg, id) ? 1 : -ENOENT;
}

/* Whether everything the state names is in the store. */
static bool is_whole(struct journal *j, const struct trace_state *st)
{
    return (cas_id_none(&st->shell) || cas_has(j->store, &st->shell)) &&
           vfs_image_walk(j->store, &st->image, note_blob, NULL, j->store) == 0;
}

/* The last state in the log; with @recheck the last that is whole. */
static int last_state(struct journal *j, bool recheck, struct last *ret, struct err *err)
{
    struct trace_pos pos;
    struct trace_event e;
    const uint32_t states = 1u << TRACE_CREATED | 1u << TRACE_END | 1u << TRACE_RESTORE;
    bool found = false, seen = false;
    *ret = (struct last){0};
    trace_begin(&pos);
    int r = trace_tail(j->trace, &pos, err);
    uint32_t want = states;
    while (r == 0 && (r = trace_last(j->trace, &pos, want, &e, err)) == 1) {
        r = 0;
        seen = true;
        if (!found) {
            ret->state = *trace_state_of(&e);
            ret->seq = e.seq;
            found = !recheck || is_whole(j, &ret->state);
            ret->older |= !found;
        }
        want = found ? 1u << TRACE_END : states;
        if (!found || e.type != TRACE_END)
            continue;
        ret->next_pid = e.u.end.next_pid;
        break;
    }
    trace_pos_done(&pos);
    if (r == 0 && !found)
        return seen ? err_set(err, -EIO, "no state of the session is whole in the store (see `store fsck`)")
                    : err_set(err, -EBADMSG, "the session's log holds no state");
    return r;
}

/* The log says which state it is that goes on, and why. */
static int say_older(struct journal *j, uint64_t seq)
{
    char text[96];
    snprintf(text, sizeof(text), "recovery: @%llu, as what came after it did not reach the disk",
             (unsigned long long)seq);
    struct trace_event e = {.type = TRACE_RESTORE, .u.restore = {.from = str_c(text), .state = j->state}};
    return trace_append(j->trace, &e);
}

static int load_tree(struct journal *j, struct vfs *tmpl, const struct session_config *sc, struct session_config *with,
                     struct err *err)
{
    ARENA_AUTO struct arena a = {0};
    struct vfs_image_host *hosts = arena_alloc(&a, (sc->n_mounts + 1) * sizeof(*hosts));
    struct vfs_image_env env = {.hosts = hosts, .n_hosts = sc->n_mounts};
    struct cas_id root;
    if (session_quota(tmpl, &sc->limits, &env.quota))
        return err_set(err, -ENOMEM, "no memory for the session's tree");
    struct vfs_image_provider providers[SESSION_PROVIDERS];
    env.providers = providers;
    env.n_providers = session__providers(sc, providers);
    for (uint32_t i = 0; i < sc->n_mounts; i++)
        hosts[i] = (struct vfs_image_host){sc->mounts[i].fd, sc->host_uid, sc->host_gid, 0,
                                           0}; /* see vfs_image_own_mounts() */
    int r = vfs_image_load(j->store, &j->state.image, &env, &with->tree, &with->canon, &root);
    if (r)
        return err_set(err, r, "the session's tree cannot be loaded from the store: %s (see `store fsck`)",
                       errtab_text(r));
    with->n_mounts = 0;
    with->mounts = NULL;
    if (cas_id_cmp(&root, &j->state.root) == 0)
        return 0;
    vfs_free(with->tree);
    vfs_canon_free(with->canon);
    with->tree = NULL;
    with->canon = NULL;
    return err_set(err, -EBADMSG, "the session's tree is not the one that its log names");
}

int journal__load_shell(struct cas *store, const struct trace_state *st, struct session *s)
{
    if (cas_id_none(&st->shell))
        return 0;
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_SHELL_STATE);
    int r = cas_get(store, &st->shell, &b);
    return r ? r : session_set_shell_state(s, buf_str(&b));
}

static int load(struct journal *j, struct vfs *tmpl, const struct session_config *sc, struct err *err)
{
    struct session_config with = *sc;
    int r = load_tree(j, tmpl, sc, &with, err);
    if (r == 0)
        r = session_new(tmpl, &with, &j->own, &j->session, err);
    if (r)
        return r;
    r = journal__load_shell(j->store, &j->state, j->session);
    return r ? err_set(err, r, "the session's shell cannot be loaded from the store: %s", errtab_text(r)) : 0;
}

static int go_on_from(struct journal *j, bool recheck, struct vfs *tmpl, const struct session_config *sc,
                      struct err *err)
{
    struct last l;
    int settled = state_settle(j->trace, err);
    int r = settled < 0 ? settled : last_state(j, recheck, &l, err);
    if (r)
        return r;
    j->state = l.state;
    j->next_pid = l.next_pid;
    r = load(j, tmpl, sc, err);
    if (r)
        return r;
    j->unsynced |= settled > 0 || l.older;
    if (l.older)
        r = say_older(j, l.seq);
    if (r == 0)
        r = trace_flush(j->trace);
    return r ? err_set(err, r, "the session's log cannot be written: %s", errtab_text(r)) : 0;
}

static int open_old(struct journal *j, struct vfs *tmpl, const struct journal_config *cfg,
                    const struct session_config *sc, struct err *err)
{
    int r = go_on_from(j, cfg->recheck, tmpl, sc, err);
    if (r == -EIO && !cfg->recheck && !j->session)
        r = go_on_from(j, true, tmpl, sc, err);
    /* What is durable from now on stands on what others have put. */
    return r == 0 && j->durable ? cas_adopt(j->store) : r;
}

static int open_new(struct journal *j, struct vfs *tmpl, const struct journal_config *cfg,
                    const struct session_config *sc, struct err *err)
{
    int r = session_new(tmpl, sc, &j->own, &j->session, err);
    if (r)
        return r;
    r = vfs_image_store(session_tree(j->session), session_canon(j->session), j->store, &j->state.root, &j->state.image);
    struct trace_event e = {.type = TRACE_CREATED,
                            .u.created = {.session = cfg->id, .config = cfg->config, .state = j->state}};
    if (r == 0)
        r = trace_append(j->trace, &e);
    if (r == 0 && cfg->lazy)
        r = journal__hand_over(j);
    else if (r == 0 && (r = journal_sync(j)) == 0)
        r = journal__release(j);
    return r ? err_set(err, r, "the session cannot be kept: %s", errtab_text(r)) : 0;
}

int journal_open(const struct journal_config *cfg, struct vfs *tmpl, const struct session_config *sc,
                 const struct session_host *host, struct journal **ret, struct err *err)
{
    struct journal *j = mem_zalloc(sizeof(*j));
    j->host = host;
    j->durable = cfg->durable;
    j->changed = cfg->changed;
    j->lock_fd = cfg->lock_fd;
    j->log_limit = sc->limits.trace;
    j->host_tape = (struct vfs_host_tape){.arg = j, .heard = journal__on_host};
    j->limits = mem_dup(cfg->limits.p, cfg->limits.n);
    journal__stand_between(j);
    for (int i = 1; i <= 2; i++)
        buf_init(&j->streams[i].pending, LIMIT_TRACE_OUTPUT);
    buf_init(&j->clock, LIMIT_CAS_BLOB);
    int trace_fd = cfg->trace_fd;
    int r = 0;
    if (cfg->shared) {
        j->shared = cfg->shared;
        j->store = cfg->shared->cas;
        j->next = j->shared->journals;
        j->shared->journals = j;
    } else {
        r = cas_open(cfg->store_fd, CAS_WRITE | CAS_CREATE, &j->store, err);
    }
    if (r == 0)
        r = trace_open(trace_fd,
                       TRACE_APPEND | (cfg->fresh     ? TRACE_NEW
                                       : cfg->recheck ? TRACE_HOLES
                                                      : 0),
                       &j->trace, NULL, err);
    else
        fd_close(&trace_fd);
    if (r == 0)
        r = cfg->fresh ? open_new(j, tmpl, cfg, sc, err) : open_old(j, tmpl, cfg, sc, err);
    if (r) {
        journal_close(j);
        return r;
    }
    *ret = j;
    return 0;
}

/* It is lost, but what it has printed was seen. */
static void keep_output(struct journal *j)
{
    vfs_set_host_tape(session_tree(j->session), NULL);
    journal__put_streams(j);
    if (j->error == 0 && cas_flush(j->store) == 0 && trace_flush(j->trace))
        trace_drop(j->trace); /* nobody is left to be told */
}

static void leave_store(struct journal *j)
{
    if (!j->shared) {
        cas_close(j->store);
        return;
    }
    struct journal **at = &j->shared->journals;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
}

int journal_store_open(int store_fd, struct journal_store **ret, struct err *err)
{
    struct cas *cas;
    int r = cas_open(store_fd, CAS_WRITE | CAS_CREATE, &cas, err);
    if (r)
        return r;
    *ret = mem_zalloc(sizeof(**ret));
    (*ret)->cas = cas;
    return 0;
}

void journal_store_close(struct journal_store *st)
{
    if (!st)
        return;
    cas_close(st->cas);
    mem_free(st);
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    if (j->running && j->session && !j->broken)
        keep_output(j);
    if (j->touched && j->session && !j->running && !j->broken)
        (void)journal_settle(j, "files");
    if (journal_dirty(j))
        (void)journal_sync(j); /* nobody is left to be told */
    session_free(j->session);
    vfs_free(j->before);
    for (int i = 1; i <= 2; i++)
        buf_done(&j->streams[i].pending);
    buf_done(&j->clock);
    arena_done(&j->secrets);
    trace_close(j->trace);
    leave_store(j);
    arena_done(&j->held_arena);
    mem_free(j->limits);
    fd_close(&j->lock_fd);
    mem_free(j);
}
