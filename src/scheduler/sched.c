/* SPDX-License-Identifier: Apache-2.0 */

/* The scheduler's loop, its timers and its tenants. */

#include "scheduler/scheduler.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"

#define EVENTS 64

/* ---- polling ---- */

int sched__poll(struct sched *s, int fd, struct source *src, uint32_t more)
{
    struct epoll_event e = {.events = EPOLLIN | more, .data.ptr = src};
    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

void sched__poll_change(struct sched *s, int fd, struct source *src, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = src};
    (void)epoll_ctl(s->epoll, EPOLL_CTL_MOD, fd, &e); /* it is there: added before */
}

void sched__poll_end(struct sched *s, int fd)
{
    (void)epoll_ctl(s->epoll, EPOLL_CTL_DEL, fd, NULL); /* closing it would end it as well */
}

int sched_fd(const struct sched *s)
{
    return s->epoll;
}

/* ---- timers: a binary heap, earliest first ---- */

static void put(struct sched *s, uint32_t i, struct sched_timer *t)
{
    s->timers[i] = t;
    t->i = i + 1;
}

static void sift(struct sched *s, uint32_t i, struct sched_timer *t)
{
    while (i && t->at < s->timers[(i - 1) / 2]->at) {
        put(s, i, s->timers[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    for (;;) {
        uint32_t c = 2 * i + 1;
        if (c >= s->n_timers)
            break;
        if (c + 1 < s->n_timers && s->timers[c + 1]->at < s->timers[c]->at)
            c++;
        if (s->timers[c]->at >= t->at)
            break;
        put(s, i, s->timers[c]);
        i = c;
    }
    put(s, i, t);
}

static void take_out(struct sched *s, struct sched_timer *t)
{
    uint32_t i = t->i;
    if (i == 0)
        return;
    t->i = 0;
    struct sched_timer *last = s->timers[--s->n_timers];
    if (last != t)
        sift(s, i - 1, last);
}

struct sched_timer *sched_timer(struct sched *s, int64_t at, void (*fn)(void *arg), void *arg)
{
    struct sched_timer *t = mem_zalloc(sizeof(*t));
    *t = (struct sched_timer){.at = at, .fn = fn, .arg = arg};
    if (s->n_timers == s->cap_timers) {
        s->cap_timers = s->cap_timers ? 2 * s->cap_timers : 64;
        s->timers = mem_realloc(s->timers, s->cap_timers * sizeof(struct sched_timer *));
    }
    sift(s, s->n_timers++, t);
    return t;
}

void sched_timer_cancel(struct sched *s, struct sched_timer *t)
{
    if (!t)
        return;
    take_out(s, t);
    mem_free(t);
}

int64_t sched_deadline(const struct sched *s)
{
    return s->n_timers ? s->timers[0]->at : INT64_MAX;
}

void sched_turn(struct sched *s)
{
    struct epoll_event ev[EVENTS];
    int n = epoll_wait(s->epoll, ev, EVENTS, 0);
    for (int i = 0; i < n; i++) {
        struct source *src = ev[i].data.ptr;
        src->ready(src->arg, ev[i].events);
    }
    int64_t now = clock_mono();
    while (s->n_timers && s->timers[0]->at <= now) {
        struct sched_timer *t = s->timers[0];
        take_out(s, t);
        t->fn(t->arg);
    }
    sched__bury(s);
}

/* ---- tenants ---- */

static bool is_tenant_name(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > STATE_NAME_MAX || name[0] == '.' || name[0] == '-')
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

static struct sched_tenant *tenant_open(struct sched *s, const char *name, struct err *err)
{
    BUF_AUTO struct buf path;
    buf_init(&path, LIMIT_PATH);
    struct state *st = NULL;
    bool local = strcmp(name, "local") == 0;
    if (!local) {
        const char *root = sched_tenant_path(s->tenants); /* local's, which is opened first and stays the last */
        for (struct sched_tenant *t = s->tenants; t; t = t->next)
            root = sched_tenant_path(t);
        buf_addf(&path, "%s/tenants", root);
        if (path.err == 0 && mkdir(path.p, 0700) && errno != EEXIST) {
            err_set(err, -errno, "'%s': %s", path.p, errtab_text(errno));
            return NULL;
        }
        buf_addf(&path, "/%s", name);
        if (path.err) {
            err_set(err, path.err, "the path of the tenant's state is too long");
            return NULL;
        }
    }
    if (state_open(local ? s->cfg.state_dir : path.p, true, &st, err))
        return NULL;
    struct sched_tenant *t = mem_zalloc(sizeof(*t));
    t->s = s;
    t->name = mem_dup(name, strlen(name));
    t->state = st;
    if (sched__usage_new(t, err)) {
        sched__usage_free(t);
        state_close(st);
        mem_free(t->name);
        mem_free(t);
        return NULL;
    }
    t->next = s->tenants;
    s->tenants = t;
    return t;
}

int sched_tenant(struct sched *s, const char *name, struct sched_tenant **ret, struct err *err)
{
    uint32_t n = 0;
    for (struct sched_tenant *t = s->tenants; t; t = t->next, n++) {
        if (strcmp(t->name, name) == 0) {
            *ret = t;
            return 0;
        }
    }
    if (!is_tenant_name(name))
        return err_set(err, -EINVAL, "'%.64s' cannot be a tenant's name: 1 to 64 of A-Z a-z 0-9 . _ -", name);
    if (n >= LIMIT_TENANTS)
        return err_set(err, -EAGAIN, "the server has %u tenants, and no more are opened", LIMIT_TENANTS);
    struct sched_tenant *t = tenant_open(s, name, err);
    if (!t)
        return err->code;
    *ret = t;
    return 0;
}

const char *sched_tenant_name(const struct sched_tenant *t)
{
    return t->name;
}

const char *sched_tenant_path(const struct sched_tenant *t)
{
    return state_path(t->state);
}

static void tenant_free(struct sched_tenant *t)
{
    while (t->links)
        sched__link_free(t->links);
    struct map_iter it = {0};
    sched__make_free(t);
    while (map_next(&t->sessions, &it)) {
        struct sched_session *s = sched_ref(it.val);
        sched__exec_forget(s);
        s->refs = 1; /* nobody is left who has another */
        sched_unref(s);
    }
    map_done(&t->sessions);
    sched__names_forget(t);
    sched__usage_free(t);
    cas_close(t->store);
    state_close(t->state);
    mem_free(t->name);
    mem_free(t);
}

/* ---- the whole ---- */

#define TIDY_EVERY (3600 * CLOCK_S)

/* Logs whose time is over. */
static void on_tidy(void *arg)
{
    struct sched *s = arg;
    sched_timer_cancel(s, s->tidy);
    int64_t kept = (int64_t)NUM_MIN(s->cfg.trace_retention_ms, (uint64_t)INT64_MAX / CLOCK_MS) * CLOCK_MS;
    for (struct sched_tenant *t = s->tenants; t; t = t->next)
        (void)state_ended_tidy(t->state, clock_wall() - kept); /* what cannot be looked at now can be in an hour */
    s->tidy = sched_timer(s, clock_mono() + TIDY_EVERY, on_tidy, s);
}

int sched_new(const struct sched_config *cfg, struct sched **ret, struct err *err)
{
    struct sched *s = mem_zalloc(sizeof(*s));
    struct sched_tenant *local;
    s->cfg = *cfg;
    s->program = mem_dup(cfg->program, strlen(cfg->program));
    if (s->cfg.workers == 0) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        s->cfg.workers = n < 1 ? 1 : n > 4 ? 4 : (uint32_t)n;
    }
    s->cfg.workers = NUM_MIN(s->cfg.workers, LIMIT_WORKERS);
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    int r = s->epoll < 0 ? err_set(err, -errno, "epoll: %s", errtab_text(errno)) : 0;
    if (r == 0)
        r = sched__disk_new(s, err);
    if (r == 0)
        r = sched_tenant(s, "local", &local, err);
    if (r == 0 && !sched__link_new(local, err))
        r = err->code;
    if (r) {
        sched_free(s);
        return r;
    }
    on_tidy(s);
    *ret = s;
    return 0;
}

void sched_free(struct sched *s)
{
    if (!s)
        return;
    s->draining = s->ending = true;
    sched_timer_cancel(s, s->tidy);
    sched__disk_settle(s);
    sched__jobs_end(s);
    while (s->tenants) {
        struct sched_tenant *t = s->tenants;
        s->tenants = t->next;
        tenant_free(t);
    }
    sched__bury(s);
    sched__disk_free(s);
    fd_close(&s->epoll);
    for (uint32_t i = 0; i < s->n_timers; i++)
        s->timers[i]->i = 0; /* their owners free them, or end with the process */
    mem_free(s->timers);
    mem_free(s->program);
    mem_free(s->notes);
    mem_free(s);
}

void sched_drain(struct sched *s)
{
    s->draining = true;
    for (struct sched_tenant *t = s->tenants; t; t = t->next) {
        struct map_iter it = {0};
        while (map_next(&t->sessions, &it))
            sched__exec_refuse(it.val, -ESHUTDOWN, "the server is shutting down");
    }
}

bool sched_busy(const struct sched *s)
{
    return s->counts.execs_running + s->counts.execs_waiting > 0;
}

bool sched_confinement(const struct sched *s, uint64_t *ret_applied, uint64_t *ret_missing, struct str *ret_notes)
{
    if (!s->has_ready)
        return false;
    *ret_applied = s->applied;
    *ret_missing = s->missing;
    *ret_notes = str_c(s->notes);
    return true;
}

void sched_counts(const struct sched *s, struct sched_counts *ret)
{
    *ret = s->counts;
}
