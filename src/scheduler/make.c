/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sessions made and removed on the disk, without waiting for it here (disk.c). A new session takes a directory that was
 * made in advance, is opened in a worker, and then made visible by a rename; that answers its maker. What is on the
 * disk by then is what the kernel has written by itself: the wait for the rest comes after, for all that were made
 * meanwhile together.
 */

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"

#define SPARES 8u /* directories of a tenant that are made in advance, once it makes sessions */

/* ---- directories in advance ---- */

struct spare_job {
    struct disk_job job;
    struct sched_tenant *tenant;
    struct state *state;
    struct spare *spare;
    int error;
};

static void make_spare(struct disk_job *job)
{
    struct spare_job *j = (struct spare_job *)job;
    j->error = state_session_create(j->state, STR(""), &j->spare->made, NULL);
}

struct spare *sched__make_take(struct sched_tenant *t)
{
    struct spare *sp = t->spares;
    if (sp) {
        t->spares = sp->next;
        t->n_spares--;
    }
    return sp;
}

void sched__make_put(struct sched_tenant *t, struct spare *sp)
{
    sp->next = t->spares;
    t->spares = sp;
    t->n_spares++;
}

static void spare_made(struct disk_job *job)
{
    struct spare_job *j = (struct spare_job *)job;
    struct sched_tenant *t = j->tenant;
    t->n_spares_coming--;
    if (j->error) {
        mem_free(j->spare); /* who makes the next session meets the same, and is told */
    } else {
        sched__make_put(t, j->spare);
    }
    mem_free(j);
}

void sched__make_order(struct sched_tenant *t)
{
    while (t->n_spares + t->n_spares_coming < SPARES && !t->s->ending) {
        struct spare_job *j = mem_zalloc(sizeof(*j));
        *j = (struct spare_job){{NULL, make_spare, spare_made}, t, t->state, mem_zalloc(sizeof(*j->spare)), 0};
        t->n_spares_coming++;
        sched__disk(t->s, DISK_SPARES, &j->job);
    }
}

void sched__make_free(struct sched_tenant *t)
{
    while (t->spares) {
        struct spare *sp = t->spares;
        t->spares = sp->next;
        state_session_drop(t->state, &sp->made);
        mem_free(sp);
    }
    cas_close(t->fork_store);
    t->fork_store = NULL;
}

/* ---- one session's change of its directory ---- */

struct make_job {
    struct disk_job job;
    struct sched_session *session; /* a reference */
    struct state *state;
    struct state_session made;
    char name[STATE_NAME_MAX + 2]; /* one byte more than a name has: a longer one is no name */
    struct buf settings;
    bool keeps_log;
    struct err err;
    void (*fn)(struct sched_session *s, const struct err *err);
};

static struct make_job *job_new(struct sched_session *s, void (*work)(struct disk_job *j),
                                void (*done)(struct disk_job *j),
                                void (*fn)(struct sched_session *s, const struct err *err))
{
    struct make_job *j = mem_zalloc(sizeof(*j));
    j->job = (struct disk_job){NULL, work, done};
    j->session = sched_ref(s);
    j->state = s->tenant->state;
    j->fn = fn;
    buf_init(&j->settings, LIMIT_SETTINGS);
    return j;
}

static void job_end(struct make_job *j)
{
    j->fn(j->session, &j->err);
    sched_unref(j->session);
    buf_done(&j->settings);
    mem_free(j);
}

static void make_dir(struct disk_job *job)
{
    struct make_job *j = (struct make_job *)job;
    if (state_session_create(j->state, str_c(j->name), &j->made, &j->err) == 0)
        j->err.code = 0;
}

static void dir_made(struct disk_job *job)
{
    struct make_job *j = (struct make_job *)job;
    if (j->err.code == 0)
        j->session->made = j->made;
    job_end(j);
}

void sched__make_dir(struct sched_session *s, struct str name,
                     void (*fn)(struct sched_session *s, const struct err *err))
{
    struct sched_tenant *t = s->tenant;
    struct spare *sp = sched__make_take(t);
    if (sp) {
        struct err err = {0};
        state_session_renew(&sp->made);
        if (name.n && state_session_call(t->state, &sp->made, name, &err)) {
            sched__make_put(t, sp);
        } else {
            s->made = sp->made;
            mem_free(sp);
        }
        fn(s, &err);
    } else {
        struct make_job *j = job_new(s, make_dir, dir_made, fn);
        memcpy(j->name, name.p ? name.p : "", NUM_MIN(name.n, sizeof(j->name) - 1));
        sched__disk(t->s, DISK_NAMES, &j->job);
    }
}

static void show(struct disk_job *job)
{
    struct make_job *j = (struct make_job *)job;
    if (state_session_show(j->state, &j->made, buf_str(&j->settings), &j->err) == 0)
        j->err.code = 0;
}

static void shown(struct disk_job *job)
{
    struct make_job *j = (struct make_job *)job;
    if (j->err.code == 0) {
        j->session->made.fresh = false;
        sched__make_sync(j->session->tenant, j->made.id);
    }
    sched__make_order(j->session->tenant); /* not before: the two would meet in the file system */
    job_end(j);
}

void sched__make_show(struct sched_session *s, void (*fn)(struct sched_session *s, const struct err *err))
{
    struct make_job *j = job_new(s, show, shown, fn);
    j->made = s->made;
    if (sched__settings_text(&s->settings, &j->settings, &j->err))
        job_end(j);
    else
        sched__disk(s->tenant->s, DISK_NAMES, &j->job);
}

static void remove_dir(struct disk_job *job)
{
    struct make_job *j = (struct make_job *)job;
    int r = state_session_in_use(j->state, j->made.id);
    if (r > 0)
        err_set(&j->err, -EBUSY, "session '%s' is in use by another process: wait until it is done", j->made.id);
    else if (r < 0)
        err_set(&j->err, r, "%s", errtab_text(r));
    else if ((j->keeps_log ? state_session_end : state_session_destroy)(j->state, str_c(j->made.id), &j->err) == 0)
        j->err.code = 0;
}

static void dir_removed(struct disk_job *job)
{
    struct make_job *j = (struct make_job *)job;
    if (j->err.code == 0)
        sched__make_sync(j->session->tenant, j->made.id); /* that it is gone, and what it has used */
    job_end(j);
}

void sched__make_gone(struct sched_session *s, void (*fn)(struct sched_session *s, const struct err *err))
{
    struct make_job *j = job_new(s, remove_dir, dir_removed, fn);
    memcpy(j->made.id, s->id, sizeof(s->id));
    j->keeps_log = s->tenant->s->cfg.trace_retention_ms > 0;
    sched__disk(s->tenant->s, DISK_NAMES, &j->job);
}

/* ---- to the disk ---- */

struct made_names {
    struct disk_job job;
    struct sched_tenant *tenant;
    struct state *state;
    int usage_fd; /* of the tenant's sums, or negative */
    char (*ids)[STATE_ID_MAX];
    size_t n, cap;
    int error;
};

static void sync_names(struct disk_job *job)
{
    struct made_names *m = (struct made_names *)job;
    m->error = state_session_sync(m->state, (const char(*)[STATE_ID_MAX])m->ids, m->n);
    if (m->usage_fd >= 0 && fdatasync(m->usage_fd) && !m->error)
        m->error = -errno;
}

static void begin_sync(struct sched_tenant *t)
{
    struct made_names *m = t->unsynced;
    t->unsynced = NULL;
    t->syncing = true;
    m->usage_fd = sched__usage_fd(t);
    sched__disk(t->s, DISK_SYNCS, &m->job);
}

static void names_synced(struct disk_job *job)
{
    struct made_names *m = (struct made_names *)job;
    struct sched_tenant *t = m->tenant;
    /* They are there, and the kernel tries again by itself: that is all that was promised. */
    if (m->error)
        log_event(LOG_ERROR, "not_synced", "tenant=%s sessions=%zu error=%s", t->name, m->n, errtab_name(m->error));
    fd_close(&m->usage_fd);
    mem_free(m->ids);
    mem_free(m);
    t->syncing = false;
    if (t->unsynced)
        begin_sync(t);
}

void sched__make_sync(struct sched_tenant *t, const char *id)
{
    struct made_names *m = t->unsynced;
    if (!m) {
        m = t->unsynced = mem_zalloc(sizeof(*m));
        *m = (struct made_names){.job = {NULL, sync_names, names_synced}, .tenant = t, .state = t->state};
    }
    if (m->n == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 8;
        m->ids = mem_realloc(m->ids, m->cap * sizeof(*m->ids));
    }
    memcpy(m->ids[m->n++], id, STATE_ID_MAX);
    if (!t->syncing)
        begin_sync(t);
}
