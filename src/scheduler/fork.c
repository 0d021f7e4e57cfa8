/* SPDX-License-Identifier: Apache-2.0 */

/* Forks: names, and the settings that the server keeps beside the log. No tree is loaded. */

#include <errno.h>

#include "base/mem.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"

/* Until the new one has a log, nothing but its origin names what it needs, and that may be destroyed: the store is held
 * from before the origin is looked for. */
static int fork_held(struct sched_tenant *t, struct str spec, struct str name, char ret_id[STATE_ID_MAX],
                     struct err *err)
{
    struct cas *store;
    struct state_place from;
    int r = state_store(t->state, CAS_WRITE | CAS_CREATE, &store, err);
    if (r)
        return r;
    r = cas_hold(store);
    if (r)
        err_set(err, r, "the store: %s", errtab_text(r));
    else
        r = state_resolve(t->state, spec, &from, err);
    if (r == 0) {
        r = state_fork(t->state, &from, name, ret_id, err);
        state_place_done(&from);
    }
    cas_close(store);
    return r;
}

int sched_fork(struct sched_tenant *t, struct str spec, struct str name, const struct sched_settings *settings,
               struct sched_session *like, struct sched_session **ret, struct err *err)
{
    char id[STATE_ID_MAX];
    struct sched_session *s;
    if (t->s->draining)
        return err_set(err, -ESHUTDOWN, "the server is shutting down");
    int r = like ? sched__settings_load(like, err) : 0;
    if (r == 0)
        r = fork_held(t, spec, name, id, err);
    if (r == 0)
        r = sched_find(t, str_c(id), &s, err);
    if (r)
        return r;
    t->s->counts.sessions_created++;
    if (!settings && like)
        settings = &like->settings;
    if (settings)
        r = sched_change(s, settings, err);
    if (r)
        sched_unref(s);
    else
        *ret = s;
    return r;
}
