/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Names of sessions. names/NAME is what counts: it leads to an id. The other way, sessions/ID/name says under which
 * name to look; it is written before the name changes, and where it does not lead back (a crash between the two), all
 * names are looked through. So finding a session never depends on how many there are.
 */

#include "snapshot/state_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "types/errtab.h"

#define NEAR 2 /* changes that still make a name near to another */

int state__check_name(struct str name, struct err *err)
{
    static const struct str prefixes[] = {{"sbx_", 4}, {"snap_", 5}, {"exec_", 5}, {"key_", 4}};
    bool ok = name.n >= 1 && name.n <= STATE_NAME_MAX && name.p[0] != '.' && name.p[0] != '-';
    for (size_t i = 0; ok && i < name.n; i++) {
        uint8_t c = (uint8_t)name.p[i];
        uint8_t lower = c | 0x20;
        ok = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    }
    for (size_t i = 0; ok && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        ok = !str_starts(name, prefixes[i]);
    if (ok)
        return 0;
    return err_set(
        err, -EINVAL,
        "'%.*s' cannot be a name: 1 to %d of A-Z a-z 0-9 . _ -, not beginning with '.', '-', 'sbx_' or 'snap_'",
        (int)NUM_MIN(name.n, STATE_NAME_MAX), name.p, STATE_NAME_MAX);
}

bool state__has(struct state *s, const char *id)
{
    struct stat st;
    return fstatat(s->sessions, id, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

bool state_session_is(struct state *s, const char *id)
{
    return state__has(s, id);
}

int state__name_owner(struct state *s, const char *name, char ret_id[STATE_ID_MAX])
{
    char target[STATE_ID_MAX];
    struct id id;
    int r = state__target(s->names, name, target, sizeof(target));
    if (r == -EBADMSG || (r == 0 && (id_parse(ID_SESSION, str_c(target), &id) || !state__has(s, target))))
        return -ENOENT;
    if (r == 0)
        memcpy(ret_id, target, sizeof(target));
    return r;
}

int state_names_changed(struct state *s, struct timespec *ret)
{
    struct stat st;
    if (fstat(s->names, &st))
        return -errno;
    *ret = st.st_mtim;
    return 0;
}

int state_session_named(struct state *s, struct str name, char ret_id[STATE_ID_MAX])
{
    char text[STATE_NAME_MAX + 1] = "";
    if (state__check_name(name, NULL))
        return -ENOENT;
    memcpy(text, name.p, name.n);
    int r = state__name_owner(s, text, ret_id);
    return r < 0 ? -ENOENT : 0;
}

/* ---- from id to name ---- */

struct looking {
    struct state *s;
    const char *id;
    char *name;
};

static int look_for_name(void *arg, const char *name)
{
    struct looking *l = arg;
    char id[STATE_ID_MAX];
    if (state__check_name(str_c(name), NULL) || state__name_owner(l->s, name, id) || strcmp(id, l->id) != 0)
        return 0;
    memcpy(l->name, name, strlen(name) + 1);
    return 1;
}

static void name_of(struct state *s, const char *id, char ret[STATE_NAME_MAX + 1])
{
    char hint[STATE_NAME_MAX + 1], owner[STATE_ID_MAX];
    FD_AUTO int fd = state__open_dir(s->sessions, id);
    int r = fd < 0 ? fd : state__target(fd, "name", hint, sizeof(hint));
    ret[0] = 0;
    if (r == 0 && state__check_name(str_c(hint), NULL) == 0 && state__name_owner(s, hint, owner) == 0 &&
        strcmp(owner, id) == 0) {
        memcpy(ret, hint, sizeof(hint));
    } else if (r != -ENOENT) {
        struct looking l = {s, id, ret};
        state__each(s->names, look_for_name, &l);
    }
}

/* ---- what else there is ---- */

struct nearest {
    struct state *s;
    struct str want;
    size_t best;
    bool any;
    char name[STATE_NAME_MAX + 1];
};

/* Levenshtein's distance. */
static size_t distance(struct str a, struct str b)
{
    size_t row[STATE_NAME_MAX + 1];
    for (size_t j = 0; j <= b.n; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t above = row[j];
            size_t by_change = diagonal + (a.p[i - 1] != b.p[j - 1]);
            row[j] = NUM_MIN(by_change, NUM_MIN(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[b.n];
}

static int look_near(void *arg, const char *name)
{
    struct nearest *n = arg;
    char id[STATE_ID_MAX];
    if (state__check_name(str_c(name), NULL) || state__name_owner(n->s, name, id))
        return 0;
    n->any = true;
    size_t d = str_starts(str_c(name), n->want) ? 1 : distance(n->want, str_c(name));
    if (d < n->best) {
        n->best = d;
        memcpy(n->name, name, strlen(name) + 1);
    }
    return 0;
}

static int not_found(struct state *s, struct str who, struct err *err)
{
    struct nearest n = {.s = s, .want = who, .best = NEAR + 1};
    state__each(s->names, look_near, &n);
    if (n.name[0])
        return err_set(err, -ENOENT, "there is no session '%.*s': is it '%s'?", (int)who.n, who.p, n.name);
    if (n.any)
        return err_set(err, -ENOENT, "there is no session '%.*s': frontal-sandbox session list shows those there are",
                       (int)who.n, who.p);
    return err_set(err, -ENOENT,
                   "there is no session '%.*s': frontal-sandbox run --session NAME makes one (state directory '%s')",
                   (int)who.n, who.p, s->path);
}

int state__find(struct state *s, struct str who, char ret_id[STATE_ID_MAX], char ret_name[STATE_NAME_MAX + 1],
                struct err *err)
{
    struct id id;
    char name[STATE_NAME_MAX + 1] = "";
    if (id_parse(ID_SESSION, who, &id) == 0) {
        if (!state__has(s, id.text))
            return not_found(s, who, err);
        memcpy(ret_id, id.text, sizeof(id.text));
        name_of(s, id.text, ret_name);
        return 0;
    }
    int r = state__check_name(who, err);
    if (r)
        return r;
    memcpy(name, who.p, who.n);
    r = state__name_owner(s, name, ret_id);
    if (r == -ENOENT)
        return not_found(s, who, err);
    if (r)
        return err_set(err, r, "'%s/names/%s': %s", s->path, name, errtab_text(r));
    memcpy(ret_name, name, sizeof(name));
    return 0;
}

/* ---- changing ---- */

int state_session_rename(struct state *s, struct str who, struct str name, struct err *err)
{
    char id[STATE_ID_MAX], old[STATE_NAME_MAX + 1], new_name[STATE_NAME_MAX + 1] = "", owner[STATE_ID_MAX];
    FD_AUTO int lock = -1, dir = -1;
    int r = state__check_name(name, err);
    if (r == 0)
        r = state__lock(s, &lock, err);
    if (r == 0)
        r = state__find(s, who, id, old, err);
    if (r)
        return r;
    memcpy(new_name, name.p, name.n);
    if (strcmp(old, new_name) == 0)
        return 0;
    if (state__name_owner(s, new_name, owner) == 0)
        return err_set(err, -EEXIST, "there is a session '%s' already (%s): rename or destroy that one first", new_name,
                       owner);
    dir = state__open_dir(s->sessions, id);
    r = dir < 0 ? dir : state__point(dir, "name", new_name);
    if (r == 0)
        r = state__remove(s->names, new_name);
    if (r == 0 && old[0])
        r = renameat(s->names, old, s->names, new_name) ? -errno : 0;
    else if (r == 0)
        r = state__point(s->names, new_name, id);
    return r ? err_set(err, r, "'%s/names/%s': %s", s->path, new_name, errtab_text(r)) : 0;
}

/* ---- all of them ---- */

struct listed {
    char name[STATE_NAME_MAX + 1], id[STATE_ID_MAX];
};

struct listing {
    struct state *s;
    struct listed *v;
    size_t n, cap;
    struct map by_id;
};

static struct listed *add_listed(struct listing *l)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->v = mem_realloc(l->v, l->cap * sizeof(*l->v));
    }
    l->v[l->n] = (struct listed){0};
    return &l->v[l->n++];
}

static int list_name(void *arg, const char *name)
{
    struct listing *l = arg;
    char id[STATE_ID_MAX];
    if (state__check_name(str_c(name), NULL) || state__name_owner(l->s, name, id) || map_get(&l->by_id, str_c(id)))
        return 0;
    struct listed *e = add_listed(l);
    memcpy(e->name, name, strlen(name) + 1);
    memcpy(e->id, id, sizeof(id));
    map_set(&l->by_id, str_c(id), l);
    return 0;
}

static int list_id(void *arg, const char *name)
{
    struct listing *l = arg;
    struct id id;
    if (id_parse(ID_SESSION, str_c(name), &id) || map_get(&l->by_id, str_c(name)) || !state__has(l->s, name))
        return 0;
    memcpy(add_listed(l)->id, id.text, sizeof(id.text));
    return 0;
}

static int order(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (!x->name[0] != !y->name[0])
        return x->name[0] ? -1 : 1;
    int c = strcmp(x->name, y->name);
    return c ? c : strcmp(x->id, y->id);
}

int state_session_each(struct state *s, int (*fn)(void *arg, const char *id, const char *name), void *arg)
{
    struct listing l = {.s = s};
    int r = state__each(s->names, list_name, &l);
    if (r == 0)
        r = state__each(s->sessions, list_id, &l);
    if (l.n)
        qsort(l.v, l.n, sizeof(*l.v), order);
    for (size_t i = 0; r == 0 && i < l.n; i++)
        r = fn(arg, l.v[i].id, l.v[i].name);
    map_done(&l.by_id);
    mem_free(l.v);
    return r;
}
