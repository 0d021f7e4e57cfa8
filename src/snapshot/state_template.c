/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Templates: templates/NAME is a symlink to the id of a snapshot. While one leads to it a snapshot is not deleted, and
 * stays when its session is destroyed; after that the next gc removes it.
 */

#include "snapshot/state_int.h"

#include <errno.h>

#include "base/err.h"
#include "base/fd.h"
#include "types/errtab.h"

static int no_template(struct str name, struct err *err)
{
    return err_set(err, -ENOENT, "there is no template '%.*s'", (int)(name.n < 64 ? name.n : 64), name.p);
}

int state_template_get(struct state *s, struct str name, char ret_id[STATE_ID_MAX], struct err *err)
{
    char text[STATE_NAME_MAX + 1] = "", target[STATE_ID_MAX];
    struct id id;
    if (state__check_name(name, NULL))
        return no_template(name, err);
    memcpy(text, name.p, name.n);
    int r = state__target(s->templates, text, target, sizeof(target));
    if (r == -EBADMSG || (r == 0 && id_parse(ID_SNAPSHOT, str_c(target), &id)))
        r = -ENOENT; /* what else may be at its place is nobody's */
    if (r)
        return r == -ENOENT ? no_template(name, err)
                            : err_set(err, r, "'%s/templates': %s", s->path, errtab_text(r));
    memcpy(ret_id, id.text, STATE_ID_MAX < sizeof(id.text) ? STATE_ID_MAX : sizeof(id.text));
    return 0;
}

int state_template_put(struct state *s, struct str name, struct str snapshot, struct err *err)
{
    FD_AUTO int lock = -1;
    struct state_snapshot snap;
    char text[STATE_NAME_MAX + 1] = "";
    int r = state__check_name(name, err);
    if (r == 0)
        r = state__lock(s, &lock, err);
    if (r == 0)
        r = state_snapshot_get(s, str_of(NULL, 0), snapshot, &snap, err);
    if (r)
        return r;
    memcpy(text, name.p, name.n);
    r = state__point(s->templates, text, snap.id);
    state_snapshot_done(&snap);
    return r ? err_set(err, r, "'%s/templates': %s", s->path, errtab_text(r)) : 0;
}

int state_template_delete(struct state *s, struct str name, struct err *err)
{
    FD_AUTO int lock = -1;
    char id[STATE_ID_MAX], text[STATE_NAME_MAX + 1] = "";
    int r = state__lock(s, &lock, err);
    if (r == 0)
        r = state_template_get(s, name, id, err);
    if (r)
        return r;
    memcpy(text, name.p, name.n);
    r = state__remove(s->templates, text);
    return r ? err_set(err, r, "'%s/templates': %s", s->path, errtab_text(r)) : 0;
}

struct walking {
    struct state *s;
    int (*fn)(void *arg, const char *name, const char *snapshot);
    void *arg;
};

static int tell(void *arg, const char *name)
{
    struct walking *w = arg;
    char id[STATE_ID_MAX];
    return state_template_get(w->s, str_c(name), id, NULL) ? 0 : w->fn(w->arg, name, id);
}

int state_template_each(struct state *s, int (*fn)(void *arg, const char *name, const char *snapshot), void *arg)
{
    struct walking w = {s, fn, arg};
    return state__each(s->templates, tell, &w);
}

struct finding {
    const char *id;
    char *name;
};

static int is_it(void *arg, const char *name, const char *snapshot)
{
    const struct finding *f = arg;
    if (strcmp(snapshot, f->id) != 0)
        return 0;
    if (f->name)
        memcpy(f->name, name, strlen(name) + 1);
    return 1;
}

bool state_template_of(struct state *s, const char *snapshot, char ret_name[STATE_NAME_MAX + 1])
{
    struct finding f = {snapshot, ret_name};
    return state_template_each(s, is_it, &f) == 1;
}

bool state__snapshot_stays(struct state *s, const struct state_snapshot *snap)
{
    return state__has(s, snap->session) || state_template_of(s, snap->id, NULL);
}
