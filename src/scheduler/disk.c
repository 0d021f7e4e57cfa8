/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What waits for the disk, off the scheduler's thread. Three threads, as one kind of wait must not hold up the other:
 *
 *   names   shows, forks and removes sessions: system calls on directories, which now and then meet a commit of the
 *           file system's journal. Somebody waits for the answer.
 *   spares  makes directories in advance.
 *   syncs   waits until what was answered is on the disk: fsync(2) and nothing else. Nobody waits, workers excepted
 *           that close a session.
 *
 * A job belongs to the scheduler's thread, which makes and frees it; in between one thread has it. The threads see no
 * struct of the scheduler, only what was copied into the job.
 *
 * A worker is a fork of this process that runs on without exec. So that no lock of the allocator or of a library is
 * held at that moment by a thread which the new process does not have, `names` and `spares` work with a lock (shared)
 * that starting a worker takes, too (alone); `syncs` takes no lock that a worker could want: it only calls the kernel.
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/fd.h"
#include "base/mem.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"

struct lane {
    struct disk *disk;
    pthread_t thread;
    bool begun;
    bool bars; /* keeps workers from being started while it works */
    pthread_cond_t more;
    struct disk_job *head, **tail;
};

struct disk {
    struct sched *s;
    pthread_mutex_t lock;     /* of all below */
    pthread_rwlock_t start;   /* shared by lanes that bar, while they work; alone by who starts a worker */
    bool ends;
    struct lane lanes[DISK_LANES];
    struct disk_job *done, **done_tail;
    int event;
    struct source source;
};

static struct disk_job *next_job(struct lane *l)
{
    struct disk_job *j;
    pthread_mutex_lock(&l->disk->lock);
    while (!l->head && !l->disk->ends)
        pthread_cond_wait(&l->more, &l->disk->lock);
    j = l->head;
    if (j)
        l->head = j->next;
    if (!l->head)
        l->tail = &l->head;
    pthread_mutex_unlock(&l->disk->lock);
    return j;
}

static void give_back(struct disk *d, struct disk_job *j)
{
    const uint64_t one = 1;
    pthread_mutex_lock(&d->lock);
    bool first = d->done == NULL;
    j->next = NULL;
    *d->done_tail = j;
    d->done_tail = &j->next;
    pthread_mutex_unlock(&d->lock);
    if (first && write(d->event, &one, sizeof(one)) < 0)
        UNREACHABLE(); /* it counts to 2^64 */
}

static void *run(void *arg)
{
    struct lane *l = arg;
    struct disk_job *j;
    while ((j = next_job(l)) != NULL) {
        if (l->bars)
            pthread_rwlock_rdlock(&l->disk->start);
        j->work(j);
        if (l->bars)
            pthread_rwlock_unlock(&l->disk->start);
        give_back(l->disk, j);
    }
    return NULL;
}

static void take_done(struct disk *d)
{
    pthread_mutex_lock(&d->lock);
    struct disk_job *j = d->done;
    d->done = NULL;
    d->done_tail = &d->done;
    pthread_mutex_unlock(&d->lock);
    while (j) {
        struct disk_job *next = j->next;
        j->done(j);
        j = next;
    }
}

static void on_done(void *arg, uint32_t events)
{
    struct disk *d = arg;
    uint64_t n;
    (void)events;
    if (read(d->event, &n, sizeof(n)) == (ssize_t)sizeof(n))
        take_done(d);
}

void sched__disk(struct sched *s, enum disk_lane lane, struct disk_job *j)
{
    struct disk *d = s->disk;
    struct lane *l = &d->lanes[lane];
    pthread_mutex_lock(&d->lock);
    j->next = NULL;
    *l->tail = j;
    l->tail = &j->next;
    pthread_mutex_unlock(&d->lock);
    pthread_cond_signal(&l->more);
}

void sched__disk_hold(struct sched *s, bool hold)
{
    if (hold)
        pthread_rwlock_wrlock(&s->disk->start);
    else
        pthread_rwlock_unlock(&s->disk->start);
}

/* Signals are the owner's. */
static int start(struct lane *l)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&l->thread, NULL, run, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    l->begun = r == 0;
    return -r;
}

int sched__disk_new(struct sched *s, struct err *err)
{
    struct disk *d = mem_zalloc(sizeof(*d));
    s->disk = d;
    d->s = s;
    d->done_tail = &d->done;
    d->source = (struct source){on_done, d};
    pthread_mutex_init(&d->lock, NULL);
    pthread_rwlock_init(&d->start, NULL);
    for (int i = 0; i < DISK_LANES; i++) {
        d->lanes[i] = (struct lane){.disk = d, .bars = i != DISK_SYNCS};
        d->lanes[i].tail = &d->lanes[i].head;
        pthread_cond_init(&d->lanes[i].more, NULL);
    }
    d->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r = d->event < 0 ? -errno : sched__poll(s, d->event, &d->source, 0);
    for (int i = 0; i < DISK_LANES && r == 0; i++)
        r = start(&d->lanes[i]);
    return r ? err_set(err, r, "a thread for the disk: %s", errtab_text(r)) : 0;
}

void sched__disk_settle(struct sched *s)
{
    struct disk *d = s->disk;
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->ends = true;
    pthread_mutex_unlock(&d->lock);
    for (int i = 0; i < DISK_LANES; i++) {
        pthread_cond_signal(&d->lanes[i].more);
        if (d->lanes[i].begun)
            pthread_join(d->lanes[i].thread, NULL);
        d->lanes[i].begun = false;
    }
    take_done(d);
}

void sched__disk_free(struct sched *s)
{
    struct disk *d = s->disk;
    if (!d)
        return;
    sched__disk_settle(s);
    for (int i = 0; i < DISK_LANES; i++)
        pthread_cond_destroy(&d->lanes[i].more);
    pthread_mutex_destroy(&d->lock);
    pthread_rwlock_destroy(&d->start);
    fd_close(&d->event);
    mem_free(d);
    s->disk = NULL;
}
