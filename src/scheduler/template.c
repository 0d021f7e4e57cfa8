/* SPDX-License-Identifier: Apache-2.0 */

/* Templates of a tenant, and what a session was made from. */

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "scheduler/scheduler_int.h"

_Static_assert(STATE_ID_MAX == ID_MAX && STATE_NAME_MAX == 64, "as scheduler.h says");

int sched_template_get(struct sched_tenant *t, struct str name, char ret_id[ID_MAX], struct err *err)
{
    return state_template_get(t->state, name, ret_id, err);
}

int sched_template_put(struct sched_tenant *t, struct str name, struct str snapshot, struct err *err)
{
    return state_template_put(t->state, name, snapshot, err);
}

int sched_template_delete(struct sched_tenant *t, struct str name, struct err *err)
{
    return state_template_delete(t->state, name, err);
}

bool sched_template_of(struct sched_tenant *t, const char *snapshot, char ret_name[65])
{
    return state_template_of(t->state, snapshot, ret_name);
}

struct template {
    char name[STATE_NAME_MAX + 1], snapshot[STATE_ID_MAX];
};

struct listing {
    struct template *v;
    size_t n, cap;
};

static int add(void *arg, const char *name, const char *snapshot)
{
    struct listing *l = arg;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->v = mem_realloc(l->v, l->cap * sizeof(*l->v));
    }
    struct template *t = &l->v[l->n++];
    memcpy(t->name, name, strlen(name) + 1);
    memcpy(t->snapshot, snapshot, strlen(snapshot) + 1);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct template *)a)->name, ((const struct template *)b)->name);
}

int sched_template_each(struct sched_tenant *t, int (*fn)(void *arg, const char *name, const char *snapshot), void *arg)
{
    struct listing l = {.n = 0};
    int r = state_template_each(t->state, add, &l);
    if (l.n)
        qsort(l.v, l.n, sizeof(*l.v), by_name);
    for (size_t i = 0; i < l.n && r == 0; i++)
        r = fn(arg, l.v[i].name, l.v[i].snapshot);
    mem_free(l.v);
    return r;
}

struct origin {
    struct sched_tenant *tenant;
    char *id; /* ID_MAX bytes */
};

/* "session ID@SEQ" or "snapshot ID", as CREATED has it. */
static int take_origin(void *arg, const struct trace_created *c, struct err *err)
{
    struct origin *o = arg;
    struct str from = c->from;
    struct state_snapshot snap;
    struct id id;
    ptrdiff_t at = str_find(from, '@', 0);
    if (str_starts(from, STR("session ")) && at > 8 &&
        id_parse(ID_SESSION, str_of(from.p + 8, (size_t)at - 8), &id) == 0) {
        memcpy(o->id, id.text, ID_MAX);
        return 0;
    }
    if (!str_starts(from, STR("snapshot ")))
        return err_set(err, -ENOENT, "the session was made from no other one");
    int r = state_snapshot_get(o->tenant->state, str_of(NULL, 0), str_from(from, 9), &snap, err);
    if (r == 0) {
        memcpy(o->id, snap.session, ID_MAX);
        state_snapshot_done(&snap);
    }
    return r;
}

int sched_origin(struct sched_session *s, char ret_id[ID_MAX], struct err *err)
{
    return sched__created(s, take_origin, &(struct origin){s->tenant, ret_id}, err);
}
