/* SPDX-License-Identifier: Apache-2.0 */

/* A session's places: made, opened in a worker, parked, removed. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"

#define FORK_WAIT_MS 1000
#define NAMES_KEPT 1024u
#define ROOM_LEFT (LIMIT_WORKER_SESSIONS / 2) /* from here on opening one closes the one used longest ago */

static void try_close(struct sched_session *s);
static void open_it(struct sched_session *s);
static void remove_it(struct sched_session *s);

/* ---- life of the record ---- */

static struct sched_session *record_new(struct sched_tenant *t)
{
    struct sched_session *s = mem_zalloc(sizeof(*s));
    s->tenant = t;
    s->pending_tail = &s->pending;
    s->fs_tail = &s->fs_waits;
    s->exec_tail = &s->execs;
    s->made = (struct state_session){.trace_fd = -1, .lock_fd = -1};
    return s;
}

/* From now on it is found by its id. */
static void enter(struct sched_session *s, const char *id, const char *name)
{
    memcpy(s->id, id, strlen(id) + 1);
    memcpy(s->name, name, strlen(name) + 1);
    map_set(&s->tenant->sessions, str_c(s->id), s);
}

struct sched_session *sched__session_new(struct sched_tenant *t, const char *id, const char *name)
{
    struct sched_session *s = record_new(t);
    enter(s, id, name);
    return s;
}

/* Parked, and nobody looks at it: then it costs nothing here. */
static void free_if_unused(struct sched_session *s)
{
    if (s->refs || s->execs || (s->place != PARKED && s->place != GONE) || s->opened || s->closed || s->fs_waits)
        return;
    if (s->place == PARKED && s->id[0])
        map_del(&s->tenant->sessions, str_c(s->id));
    sched_timer_cancel(s->tenant->s, s->idle);
    arena_done(&s->settings_arena);
    mem_free(s);
}

struct sched_session *sched_ref(struct sched_session *s)
{
    s->refs++;
    return s;
}

void sched_unref(struct sched_session *s)
{
    if (!s)
        return;
    ASSERT(s->refs > 0);
    s->refs--;
    free_if_unused(s);
}

const char *sched_session_id(const struct sched_session *s)
{
    return s->id;
}

const char *sched_session_name(const struct sched_session *s)
{
    return s->name;
}

void sched__session_used(struct sched_session *s)
{
    s->used = clock_mono();
}

/* ---- telling those who wait ---- */

static void add_waiter(struct waiter **list, sched_done *fn, void *arg)
{
    while (*list)
        list = &(*list)->next;
    *list = mem_zalloc(sizeof(**list));
    **list = (struct waiter){NULL, fn, arg};
}

static void tell(struct sched_session *s, struct waiter **list, int error, const char *text)
{
    struct waiter *w = *list;
    *list = NULL;
    while (w) {
        struct waiter *next = w->next;
        if (w->fn && !s->tenant->s->ending)
            w->fn(w->arg, s, error, text);
        mem_free(w);
        w = next;
    }
}

static void fail_files(struct sched_session *s, int error, const char *text)
{
    struct fs_wait *w = s->fs_waits;
    s->fs_waits = NULL;
    s->fs_tail = &s->fs_waits;
    while (w) {
        struct fs_wait *next = w->next;
        if (!s->tenant->s->ending)
            w->fn(w->arg, NULL, error, text);
        buf_done(&w->body);
        mem_free(w);
        w = next;
    }
}

static void fail_pending(struct sched_session *s)
{
    struct pending *p = s->pending;
    s->pending = NULL;
    s->pending_tail = &s->pending;
    while (p) {
        struct pending *next = p->next;
        if (p->fn && !s->tenant->s->ending)
            p->fn(p->arg, NULL, -EPIPE, "the worker of the session ended unexpectedly; try again");
        mem_free(p);
        p = next;
    }
}

/* ---- the place in a worker ---- */

/* @stays: what was copied in becomes part of the log, and the session stays open. */
static int send_park(struct sched_session *s, bool stays)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 64);
    wire_put_number(&b, stays);
    return sched__send(s->link, WIRE_PARK, s->number, buf_str(&b), NULL, 0);
}

static void leave(struct sched_session *s)
{
    if (s->link) {
        s->link->sessions[s->number] = NULL;
        s->link->n_sessions--;
        s->tenant->s->counts.open_sessions--;
    }
    s->link = NULL;
    s->place = PARKED;
    sched_timer_cancel(s->tenant->s, s->idle);
    s->idle = NULL;
}

static void on_idle(void *arg)
{
    struct sched_session *s = arg;
    sched_timer_cancel(s->tenant->s, s->idle);
    s->idle = NULL;
    uint64_t ms = s->settings.idle_timeout_ms;
    int64_t at = s->used + (int64_t)NUM_MIN(ms, UINT32_MAX) * CLOCK_MS;
    bool busy = s->running || s->n_waiting || s->pending || s->fs_waits;
    if (s->place != OPEN)
        return;
    if (busy || at > clock_mono())
        s->idle = sched_timer(s->tenant->s, busy ? clock_mono() + CLOCK_S : at, on_idle, s);
    else
        sched_park(s, NULL, NULL);
}

/* It could not be opened. */
static void open_failed(struct sched_session *s, int error, const char *text)
{
    char copy[256];
    snprintf(copy, sizeof(copy), "%s", text);
    sched_ref(s);
    state_session_drop(s->tenant->state, &s->made);
    bool fresh = s->made.fresh;
    leave(s);
    tell(s, &s->opened, error, copy);
    fail_files(s, error, copy);
    sched__exec_refuse(s, error, copy);
    if (fresh) {
        map_del(&s->tenant->sessions, str_c(s->id));
        s->place = GONE;
    }
    sched_unref(s);
}

static void send_files(struct sched_session *s)
{
    while (s->fs_waits && s->place == OPEN) {
        struct fs_wait *w = s->fs_waits;
        s->fs_waits = w->next;
        if (!s->fs_waits)
            s->fs_tail = &s->fs_waits;
        sched_fs(s, buf_str(&w->body), w->fn, w->arg);
        buf_done(&w->body);
        mem_free(w);
    }
}

static void now_open(struct sched_session *s)
{
    state_session_close(&s->made);
    s->place = OPEN;
    sched__session_used(s);
    s->idle = sched_timer(s->tenant->s, s->used + (int64_t)NUM_MIN(s->settings.idle_timeout_ms, UINT32_MAX) * CLOCK_MS,
                          on_idle, s);
    if (s->link->n_sessions > ROOM_LEFT)
        (void)sched__session_evict(s->link);
    sched_ref(s);
    tell(s, &s->opened, 0, "");
    send_files(s);
    sched__exec_next(s);
    sched__session_idle(s);
    sched_unref(s);
}

/* A new one is visible, or cannot be. Its worker may have died meanwhile. */
static void shown(struct sched_session *s, const struct err *err)
{
    s->showing = false;
    if (err->code && !s->link) {
        open_failed(s, err->code, err->text);
    } else if (err->code) { /* the worker has it open: it must give it up */
        int broken = send_park(s, false);
        s->place = CLOSING;
        s->destroying = true;
        tell(s, &s->opened, err->code, err->text);
        if (broken && s->place == CLOSING)
            sched__link_dead(s->link, "it takes no messages");
    } else {
        s->tenant->s->counts.sessions_created++;
        if (s->link) {
            now_open(s);
            return;
        }
        state_session_close(&s->made);
        s->place = PARKED;
        open_it(s);
    }
}

static void opened(struct sched_session *s, const struct wire_reply *rep)
{
    char text[256];
    snprintf(text, sizeof(text), "%.*s", (int)rep->message.n, rep->message.p);
    if (rep->error) {
        open_failed(s, rep->error, text);
    } else if (s->made.fresh) {
        s->showing = true;
        sched__make_show(s, shown);
    } else {
        state_session_whole(s->tenant->state, &s->made);
        now_open(s);
    }
}

/* Sends CREATE for a session of which s->made is owned. */
static void begin_open(struct sched_session *s, bool fresh)
{
    struct err err = {0};
    BUF_AUTO struct buf body, config, over;
    buf_init(&body, WIRE_BODY_MAX);
    buf_init(&over, 4096);
    if (s->settings.changed)
        sched__settings_limits(&over, "", &s->settings.limits);
    buf_init(&config, LIMIT_SETTINGS);
    s->link = sched__place(s->tenant, &s->number, &err);
    if (!s->link) {
        open_failed(s, err.code, err.text);
        return;
    }
    s->link->sessions[s->number] = s;
    s->link->n_sessions++;
    s->tenant->s->counts.open_sessions++;
    s->place = OPENING;
    int fds[CHAN_FDS] = {fcntl(s->made.trace_fd, F_DUPFD_CLOEXEC, 3), fcntl(s->made.lock_fd, F_DUPFD_CLOEXEC, 3)};
    int r = fds[0] < 0 || fds[1] < 0 ? -EMFILE : fresh ? sched__settings_config(&config, &s->settings) : 0;
    const struct wire_create m = {
        .user = s->settings.user,
        .cwd = s->settings.cwd,
        .limits = s->settings.limits,
        .policy = s->settings.policy,
        .over = buf_str(&over),
        .changed = s->settings.changed,
        .host_uid = geteuid(),
        .host_gid = getegid(),
        .kept = true,
        .fresh = fresh,
        .recheck = s->made.recheck,
        .id = str_c(s->id),
        .config = buf_str(&config),
    };
    wire_put_create(&body, &m);
    if (r == 0)
        r = body.err ? body.err : sched__send(s->link, WIRE_CREATE, s->number, buf_str(&body), fds, 2);
    fd_close(&fds[0]);
    fd_close(&fds[1]);
    if (r && s->place == OPENING)
        open_failed(s, r, errtab_text(r));
}

static void open_it(struct sched_session *s)
{
    struct err err = {0};
    if (s->locked)
        return; /* sched_unlock() does it */
    int r = sched__settings_load(s, &err);
    if (r == 0)
        r = sched__settings_open(&s->settings, &err);
    /* A fork of it may be being noted in its log: that takes moments. */
    if (r == 0)
        r = state_session_open(s->tenant->state, str_c(s->id), true, s->tenant->n_forking ? FORK_WAIT_MS : 0, &s->made,
                               &err);
    if (r) {
        open_failed(s, r, err.text);
        return;
    }
    memcpy(s->name, s->made.name, sizeof(s->name));
    sched__usage_opens(s);
    begin_open(s, false);
}

/* ---- closing ---- */

static bool wanted(const struct sched_session *s)
{
    return s->opened || s->fs_waits || s->n_waiting;
}

static void closed(struct sched_session *s)
{
    sched_ref(s);
    sched__usage_closed(s);
    leave(s);
    if (s->destroying) {
        state_session_drop(s->tenant->state, &s->made);
        remove_it(s);
    } else {
        tell(s, &s->closed, 0, "");
        if (s->place == PARKED && wanted(s) && !s->tenant->s->draining)
            open_it(s);
    }
    sched_unref(s);
}

static void removed(struct sched_session *s, const struct err *err)
{
    sched_ref(s);
    s->destroying = false;
    sched__usage_went(s, err->code == 0);
    if (err->code == 0) {
        sched__exec_refuse(s, -ENOENT, "the session was destroyed");
        fail_files(s, -ENOENT, "the session was destroyed");
        tell(s, &s->opened, -ENOENT, "the session was destroyed");
        sched__exec_forget(s);
        map_del(&s->tenant->sessions, str_c(s->id));
        s->place = GONE;
    }
    tell(s, &s->closed, err->code, err->text);
    sched_unref(s);
}

/* Takes it off the disk: it is PARKED. */
static void remove_it(struct sched_session *s)
{
    if (s->made.fresh) {
        removed(s, &(struct err){0}); /* it never was there */
    } else {
        sched__usage_goes(s);
        sched__make_gone(s, removed);
    }
}

/* Sends PARK, when nothing is under way. */
static void try_close(struct sched_session *s)
{
    if (s->place != OPEN || s->running || s->pending)
        return;
    s->place = CLOSING;
    int r = send_park(s, false);
    if (r && s->place == CLOSING)
        sched__link_dead(s->link, "it takes no messages");
}

void sched__session_idle(struct sched_session *s)
{
    if (s->destroying)
        try_close(s);
}

bool sched__session_evict(struct link *l)
{
    struct sched_session *oldest = NULL;
    for (uint32_t i = 0; i < LIMIT_WORKER_SESSIONS; i++) {
        struct sched_session *s = l->sessions[i];
        if (s && s->place == OPEN && !s->running && !s->n_waiting && !s->pending && !s->fs_waits && !s->destroying &&
            (!oldest || s->used < oldest->used))
            oldest = s;
    }
    if (oldest)
        sched_park(oldest, NULL, NULL);
    return oldest != NULL;
}

void sched__session_lost(struct sched_session *s)
{
    enum place was = s->place;
    bool fresh = s->made.fresh;
    sched_ref(s);
    if (s->running)
        sched__exec_lost(s);
    if (s->showing) { /* it is in its log already: shown() goes on */
        leave(s);
        s->place = OPENING;
    } else if (was == OPENING) {
        open_failed(s, -EPIPE, "the worker ended before the session was open; try again");
    } else {
        leave(s);
        fail_pending(s);
        if (s->destroying && !fresh)
            remove_it(s);
        else if (s->place == PARKED) {
            tell(s, &s->closed, 0, "");
            if (s->place == PARKED && wanted(s) && !s->tenant->s->draining)
                open_it(s);
        }
    }
    sched_unref(s);
}

/* ---- what others ask for ---- */

static void dir_made(struct sched_session *s, const struct err *err)
{
    if (err->code || s->tenant->s->draining) {
        open_failed(s, err->code ? err->code : -ESHUTDOWN, err->code ? err->text : "the server is shutting down");
        return;
    }
    enter(s, s->made.id, s->made.name);
    begin_open(s, true);
}

void sched_create(struct sched_tenant *t, struct str name, const struct sched_settings *settings, sched_done *done,
                  void *arg)
{
    if (t->s->draining) {
        done(arg, NULL, -ESHUTDOWN, "the server is shutting down");
        return;
    }
    struct sched_session *s = record_new(t);
    sched__settings_set(s, settings);
    sched_ref(s);
    s->place = OPENING;
    add_waiter(&s->opened, done, arg);
    sched__make_dir(s, name, dir_made);
    sched_unref(s);
}

void sched__names_forget(struct sched_tenant *t)
{
    struct map_iter it = {0};
    while (map_next(&t->named, &it))
        mem_free(it.val);
    map_done(&t->named);
    t->named = (struct map){0};
}

/* The session with this name, if it is open here: nobody can remove that. Other processes may give its name to another
 * one at any time, which changes the directory of names; a change in the tick of the clock in which it was looked at
 * would not show, so what is younger than a second is not kept. */
static struct sched_session *find_named(struct sched_tenant *t, struct str who)
{
    struct timespec now_of;
    char id[STATE_ID_MAX];
    bool known = state_names_changed(t->state, &now_of) == 0;
    if (!known || now_of.tv_sec != t->names_of.tv_sec || now_of.tv_nsec != t->names_of.tv_nsec ||
        t->named.count > NAMES_KEPT)
        sched__names_forget(t);
    t->names_of = now_of;
    const char *kept = known ? map_get(&t->named, who) : NULL;
    struct sched_session *s = kept ? map_get(&t->sessions, str_c(kept)) : NULL;
    if (s && s->place == OPEN)
        return s;
    if (state_session_named(t->state, who, id))
        return NULL;
    if (known && !kept && clock_wall() - (now_of.tv_sec + 1) * CLOCK_S > 0)
        map_set(&t->named, who, mem_dup(id, strlen(id)));
    return map_get(&t->sessions, str_c(id));
}

int sched_find(struct sched_tenant *t, struct str who, struct sched_session **ret, struct err *err)
{
    struct sched_session *s = map_get(&t->sessions, who);
    if (!s)
        s = find_named(t, who);
    if (s && !str_eqc(who, s->id)) { /* another process may have named it so since */
        memcpy(s->name, who.p, who.n);
        s->name[who.n] = 0;
    }
    if (!s) {
        struct state_session ses;
        int r = state_session_open(t->state, who, false, 0, &ses, err);
        if (r)
            return r;
        state_session_close(&ses);
        s = map_get(&t->sessions, str_c(ses.id));
        if (!s)
            s = sched__session_new(t, ses.id, ses.name);
        memcpy(s->name, ses.name, sizeof(s->name));
    }
    if (s->destroying)
        return err_set(err, -ENOENT, "the session is being destroyed");
    *ret = sched_ref(s);
    return 0;
}

int sched_info(struct sched_session *s, struct sched_session_info *ret, struct err *err)
{
    int r = sched__settings_load(s, err);
    struct id id;
    if (r)
        return r;
    *ret = (struct sched_session_info){
        .id = s->id,
        .name = s->name,
        .state = s->running || s->n_waiting ? SCHED_RUNNING : s->place == PARKED ? SCHED_PARKED : SCHED_READY,
        .settings = &s->settings,
        .seq = s->seq,
        .has_root = s->has_root,
        .waiting = s->n_waiting,
    };
    if (id_parse(ID_SESSION, str_c(s->id), &id) == 0)
        ret->created = (int64_t)id_ms(&id) * CLOCK_MS;
    memcpy(ret->root, s->root, sizeof(ret->root));
    return 0;
}

void sched_wake(struct sched_session *s, sched_done *done, void *arg)
{
    if (s->place == OPEN && !s->destroying) {
        sched__session_used(s);
        done(arg, s, 0, "");
        return;
    }
    if (s->place == GONE || s->destroying || s->tenant->s->draining) {
        done(arg, s, s->place == GONE || s->destroying ? -ENOENT : -ESHUTDOWN,
             s->tenant->s->draining ? "the server is shutting down" : "the session was destroyed");
        return;
    }
    add_waiter(&s->opened, done, arg);
    if (s->place == PARKED)
        open_it(s);
}

void sched_park(struct sched_session *s, sched_done *done, void *arg)
{
    bool busy = s->place == OPENING || s->running || s->n_waiting || s->pending || s->fs_waits || s->destroying ||
                s->locked;
    if (s->place == GONE || busy) {
        if (done)
            done(arg, s, busy ? -EBUSY : -ENOENT, busy ? "the session is in use" : "the session was destroyed");
        return;
    }
    if (s->place == PARKED) {
        if (done)
            done(arg, s, 0, "");
        return;
    }
    add_waiter(&s->closed, done, arg);
    if (s->place == OPEN)
        try_close(s);
}

/* ---- for who reads or writes its log ---- */

struct settling {
    struct sched_session *s;
    sched_done *done;
    void *arg;
};

static void settled(void *arg, const struct wire_reply *reply, int error, const char *text)
{
    struct settling *w = arg;
    (void)reply;
    w->done(w->arg, w->s, error, text);
    sched_unref(w->s);
    mem_free(w);
}

bool sched_unsettled(const struct sched_session *s)
{
    return s->unsettled && s->place == OPEN && !s->running;
}

bool sched_exists(const struct sched_session *s)
{
    return s->place != GONE && !s->destroying;
}

void sched_settle(struct sched_session *s, sched_done *done, void *arg)
{
    if (s->place != OPEN || s->running) {
        done(arg, s, s->place == GONE ? -ENOENT : 0, s->place == GONE ? "the session was destroyed" : "");
        return;
    }
    s->unsettled = false;
    struct settling *w = mem_zalloc(sizeof(*w));
    struct pending *p = mem_zalloc(sizeof(*p));
    *w = (struct settling){sched_ref(s), done, arg};
    *p = (struct pending){NULL, settled, w};
    *s->pending_tail = p;
    s->pending_tail = &p->next;
    if (send_park(s, true) == -EAGAIN)
        sched__link_dead(s->link, "it takes no messages");
}

static void now_locked(void *arg, struct sched_session *s, int error, const char *text)
{
    struct settling *w = arg;
    if (error == 0)
        s->locked = true;
    w->done(w->arg, s, error, text);
    mem_free(w);
}

void sched_lock(struct sched_session *s, sched_done *done, void *arg)
{
    struct settling *w = mem_zalloc(sizeof(*w));
    *w = (struct settling){s, done, arg};
    sched_park(s, now_locked, w);
}

void sched_unlock(struct sched_session *s)
{
    s->locked = false;
    s->has_root = false; /* it may have been put back */
    s->seq = 0;
    if (s->place == PARKED && wanted(s) && !s->tenant->s->draining)
        open_it(s);
}

void sched_destroy(struct sched_session *s, sched_done *done, void *arg)
{
    if (s->place == GONE || s->destroying) {
        done(arg, s, -ENOENT, "the session was destroyed");
        return;
    }
    add_waiter(&s->closed, done, arg);
    s->destroying = true;
    sched__exec_refuse(s, -ENOENT, "the session was destroyed");
    if (s->place == PARKED) {
        remove_it(s);
        return;
    }
    BUF_AUTO struct buf b;
    buf_init(&b, 64);
    wire_put_number(&b, REASON_SIGNAL);
    if (s->running && sched__send(s->link, WIRE_KILL, s->number, buf_str(&b), NULL, 0) && s->link)
        sched__link_dead(s->link, "it takes no messages");
    else
        try_close(s);
}

static int replace_settings(struct sched_session *s, const struct sched_settings *set, struct err *err)
{
    struct arena before = s->settings_arena; /* @set may lie in it */
    s->settings_arena = (struct arena){0};
    sched__settings_set(s, set);
    arena_done(&before);
    return sched__settings_save(s, err);
}

int sched_change(struct sched_session *s, const struct sched_settings *set, struct err *err)
{
    int r = sched__settings_load(s, err);
    if (r)
        return r;
    struct sched_settings copy = *set;
    copy.limits = s->settings.limits;
    copy.user = s->settings.user;
    copy.policy = s->settings.policy;
    copy.mounts = s->settings.mounts;
    copy.changed = s->settings.changed;
    return replace_settings(s, &copy, err);
}

int sched_restrict(struct sched_session *s, const struct limits *limits, struct str policy, struct err *err)
{
    int r = sched__settings_load(s, err);
    if (r)
        return r;
    struct sched_settings copy = s->settings;
    copy.limits = *limits;
    copy.policy = policy;
    copy.changed = true;
    return replace_settings(s, &copy, err);
}

bool sched_gone(const struct sched_session *s)
{
    return s->place == GONE;
}

int sched_rename(struct sched_session *s, struct str name, struct err *err)
{
    int r = state_session_rename(s->tenant->state, str_c(s->id), name, err);
    if (r == 0) /* a name that is too long for it was refused */
        snprintf(s->name, sizeof(s->name), "%.*s", (int)name.n, name.p);
    return r;
}

struct listing {
    struct str after;
    int (*fn)(void *arg, const char *id, const char *name);
    void *arg;
    struct wire_list ids, names;
    struct arena arena;
    uint32_t cap;
};

static int list_one(void *arg, const char *id, const char *name)
{
    struct listing *l = arg;
    if (str_cmp(str_c(id), l->after) <= 0)
        return 0;
    if (l->ids.n == l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 256;
        l->ids.v = mem_realloc(l->ids.v, cap * sizeof(struct str));
        l->names.v = mem_realloc(l->names.v, cap * sizeof(struct str));
        l->cap = cap;
    }
    l->ids.v[l->ids.n++] = arena_str(&l->arena, str_c(id));
    l->names.v[l->names.n++] = arena_str(&l->arena, str_c(name));
    return 0;
}

struct pair {
    struct str id, name;
};

static int by_id(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return str_cmp(x->id, y->id);
}

int sched_each(struct sched_tenant *t, struct str after, int (*fn)(void *arg, const char *id, const char *name),
               void *arg)
{
    struct listing l = {.after = after, .fn = fn, .arg = arg};
    int r = state_session_each(t->state, list_one, &l);
    struct pair *v = mem_alloc((l.ids.n + 1) * sizeof(*v));
    for (uint32_t i = 0; i < l.ids.n; i++)
        v[i] = (struct pair){l.ids.v[i], l.names.v[i]};
    qsort(v, l.ids.n, sizeof(*v), by_id);
    for (uint32_t i = 0; i < l.ids.n && r == 0; i++)
        r = fn(arg, v[i].id.p, v[i].name.p);
    mem_free(v);
    mem_free(l.ids.v);
    mem_free(l.names.v);
    arena_done(&l.arena);
    return r;
}

/* ---- files ---- */

static void note_changes(struct sched_session *s, struct str requests)
{
    struct wire_fs q;
    while (!s->unsettled && requests.n && wire_get_fs(&requests, &q) == 0)
        s->unsettled = wire_fs_changes(q.op);
}

void sched_fs(struct sched_session *s, struct str requests, sched_replied *fn, void *arg)
{
    sched__session_used(s);
    if (s->place == GONE || s->destroying || s->tenant->s->draining) {
        bool gone = s->place == GONE || s->destroying;
        fn(arg, NULL, gone ? -ENOENT : -ESHUTDOWN, gone ? "the session was destroyed" : "the server is shutting down");
        return;
    }
    if (s->place != OPEN) {
        struct fs_wait *w = mem_zalloc(sizeof(*w));
        w->fn = fn;
        w->arg = arg;
        buf_init(&w->body, WIRE_BODY_MAX);
        buf_adds(&w->body, requests);
        *s->fs_tail = w;
        s->fs_tail = &w->next;
        if (s->place == PARKED)
            open_it(s);
        return;
    }
    note_changes(s, requests);
    struct pending *p = mem_zalloc(sizeof(*p));
    *p = (struct pending){NULL, fn, arg};
    *s->pending_tail = p;
    s->pending_tail = &p->next;
    int r = sched__send(s->link, WIRE_FS, s->number, requests, NULL, 0);
    if (r != -EAGAIN)
        return; /* sent, or its end has told everybody */
    /* Nobody has asked in between, so it is the last. */
    struct pending **at = &s->pending;
    while (*at != p)
        at = &(*at)->next;
    *at = NULL;
    s->pending_tail = at;
    mem_free(p);
    fn(arg, NULL, -EAGAIN, "too much waits for the session's worker: try again later");
}

static void take_reply(struct sched_session *s, const struct wire_reply *rep)
{
    struct pending *p = s->pending;
    s->pending = p->next;
    if (!s->pending)
        s->pending_tail = &s->pending;
    char text[256];
    snprintf(text, sizeof(text), "%.*s", (int)rep->message.n, rep->message.p);
    if (p->fn)
        p->fn(p->arg, rep, rep->error, text);
    mem_free(p);
    sched__session_used(s);
    if (!s->pending)
        sched__session_idle(s);
}

bool sched__session_message(struct sched_session *s, uint32_t type, struct str body)
{
    if (type != WIRE_REPLY)
        return s->running && sched__exec_message(s, type, body);
    struct wire_reply rep;
    if (wire_get_reply(body, &rep) || rep.error > 0)
        return false;
    bool ok = true;
    sched_ref(s);
    if (s->place == OPENING && !s->showing)
        opened(s, &rep);
    else if (s->pending)
        take_reply(s, &rep);
    else if (s->place == CLOSING)
        closed(s);
    else
        ok = false;
    sched_unref(s);
    return ok;
}
