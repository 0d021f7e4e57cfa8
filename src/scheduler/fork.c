/* SPDX-License-Identifier: Apache-2.0 */

/* Forks: names, and the settings that the server keeps beside the log. No tree is loaded. */

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"

struct fork_job {
    struct disk_job job;
    struct sched_tenant *tenant;
    struct state *state;
    struct cas **store; /* of the lane: opened by its first job */
    struct str spec;
    struct spare *spare; /* or NULL: it is made */
    bool used;
    char name[STATE_NAME_MAX + 2]; /* one byte more than a name has: a longer one is no name */
    struct sched_settings settings;
    struct arena arena;
    char id[STATE_ID_MAX];
    struct err err;
    sched_done *done;
    void *arg;
};

/* What was forbidden to its origin after that was made is forbidden to it, too, from when on anybody can see it. One
 * that could not be opened is not made. */
static int settings_of(struct fork_job *j, const struct state_place *from, struct buf *text)
{
    struct sched_settings made = {.limits = limits_default()};
    int r = sched__settings_created(&made, &j->arena, buf_str(&from->config), &j->err);
    r = r ? r : sched__settings_open(&made, &j->err);
    r = r ? r : sched__settings_changes(j->state, from->session, &j->settings, &j->arena, &j->err);
    return r ? r : sched__settings_text(&j->settings, text, &j->err);
}

/* Until the new one has a log, nothing but its origin names what it needs, and that may be destroyed: the store is held
 * from before the origin is looked for. */
static int fork_held(struct fork_job *j)
{
    struct state_place from;
    int r = cas_hold(*j->store);
    if (r)
        return err_set(&j->err, r, "the store: %s", errtab_text(r));
    r = state_resolve(j->state, j->spec, &from, &j->err);
    if (r)
        return r;
    BUF_AUTO struct buf text;
    buf_init(&text, LIMIT_SETTINGS);
    r = settings_of(j, &from, &text);
    struct state_session made;
    if (r == 0 && j->spare) {
        made = j->spare->made;
        state_session_renew(&made);
        r = state_session_call(j->state, &made, str_c(j->name), &j->err);
    } else if (r == 0) {
        r = state_session_create(j->state, str_c(j->name), &made, &j->err);
    }
    if (r == 0) {
        r = state_fork_show(j->state, &from, &made, buf_str(&text), j->id, &j->err);
        j->used = true;
    }
    state_place_done(&from);
    return r;
}

static void work(struct disk_job *job)
{
    struct fork_job *j = (struct fork_job *)job;
    int r = *j->store ? 0 : state_store(j->state, CAS_WRITE | CAS_CREATE, j->store, &j->err);
    if (r == 0) {
        r = fork_held(j);
        (void)cas_release(*j->store); /* nothing was put */
    }
    if (r == 0)
        j->err.code = 0;
}

static void forked(struct disk_job *job)
{
    struct fork_job *j = (struct fork_job *)job;
    struct sched_tenant *t = j->tenant;
    struct sched_session *s = NULL;
    t->n_forking--;
    if (j->used)
        mem_free(j->spare);
    else if (j->spare)
        sched__make_put(t, j->spare);
    sched__make_order(t);
    if (j->err.code == 0) {
        t->s->counts.sessions_created++;
        sched__make_sync(t, j->id);
        s = map_get(&t->sessions, str_c(j->id)); /* a client may have found it before us */
        s = sched_ref(s ? s : sched__session_new(t, j->id, j->name));
    }
    if (!t->s->ending)
        j->done(j->arg, s, j->err.code, j->err.text);
    sched_unref(s);
    arena_done(&j->arena);
    mem_free(j);
}

void sched_fork(struct sched_tenant *t, struct str spec, struct str name, const struct sched_settings *settings,
                struct sched_session *like, sched_done *done, void *arg)
{
    struct fork_job *j = mem_zalloc(sizeof(*j));
    j->job = (struct disk_job){NULL, work, forked};
    j->tenant = t;
    j->state = t->state;
    j->store = &t->fork_store;
    j->spec = arena_str(&j->arena, spec);
    memcpy(j->name, name.p ? name.p : "", NUM_MIN(name.n, sizeof(j->name) - 1));
    j->done = done;
    j->arg = arg;
    t->n_forking++;
    int r = t->s->draining ? err_set(&j->err, -ESHUTDOWN, "the server is shutting down") : 0;
    if (r == 0 && like && !settings) {
        r = sched__settings_load(like, &j->err);
        settings = &like->settings;
    }
    j->settings = sched__settings_copy(&j->arena, r == 0 && settings ? settings : &(struct sched_settings){0});
    if (r) {
        forked(&j->job);
    } else {
        j->spare = sched__make_take(t);
        sched__disk(t->s, DISK_NAMES, &j->job);
    }
}
