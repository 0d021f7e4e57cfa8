/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/test/proc_test.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/num.h"

bool world_check(struct proc_set *ps)
{
    const char *what = "";
    int r = proc_check(ps, &what);
    if (r < 0)
        fprintf(stderr, "# %s\n", what);
    return CHECK_INT(r, 0);
}

static void attend(void *arg)
{
    struct world *w = arg;
    w->attended++;
    world_check(w->ps);
}

static ssize_t take(void *arg, const void *p, size_t n)
{
    struct world *w = arg;
    n = NUM_MIN(n, w->out_room);
    if (!n)
        return -EAGAIN;
    w->out_room -= n;
    buf_add(&w->out, p, n);
    return (ssize_t)n;
}

void world_init(struct world *w)
{
    struct vfs_quota q = {.bytes = UINT64_C(1) << 32, .inodes = 100000};
    struct limits l = limits_default();
    struct proc_host host = {.arg = w, .attend = attend};
    static const char *const names[] = {"cat", "bash"};
    *w = (struct world){.out_room = SIZE_MAX};
    buf_init(&w->out, 1 << 28);
    w->v = vfs_new(&q);
    CHECK_INT(proc_base_tree(w->v, names, 2, NULL, 0), 0);
    w->ps = proc_set_new(w->v, &l, &host);
    CHECK_INT(proc_provide(w->ps), 0);
}

void world_done(struct world *w)
{
    world_check(w->ps);
    proc_set_free(w->ps);
    vfs_free(w->v);
    buf_done(&w->out);
}

struct proc *world_start(struct world *w, proc_main main, const void *arg)
{
    struct vfs_cred cred = {.uid = 1000, .gid = 1000};
    struct proc_file *out = proc_file_sink(w->ps, false, take, w);
    struct proc *p = NULL;
    if (!w->in)
        w->in = proc_file_text(w->ps, STR(""));
    int r = proc_start(w->ps, &cred, STR("/home/user"), 022, w->in, out, proc_file_ref(out), main,
                       (void *)(uintptr_t)arg, &p);
    CHECK_INT(r, 0);
    w->in = NULL;
    return p;
}

struct outcome world_run(struct world *w, proc_main main, const void *arg)
{
    proc_begin(w->ps);
    struct proc *p = world_start(w, main, arg);
    int64_t wake;
    while (!proc_run(w->ps, p, &wake)) {
        world_check(w->ps);
        if (!CHECK(wake != INT64_MAX))
            exit(1); /* nothing will ever happen */
        int64_t ns = wake - clock_mono();
        if (ns > 0) {
            struct timespec ts = {ns / CLOCK_S, ns % CLOCK_S};
            nanosleep(&ts, NULL);
        }
    }
    world_check(w->ps);
    w->outcome = p->outcome;
    proc_forget(w->ps, p);
    return w->outcome;
}

struct outcome exited(int code)
{
    return (struct outcome){.kind = OUTCOME_EXITED, .code = (uint8_t)code};
}

void put(struct proc *p, int fd, const char *s)
{
    size_t n = strlen(s);
    ssize_t r = proc_write(p, fd, s, n);
    if (!p->must_end)
        CHECK_INT(r, n);
}

struct proc *spawn(struct proc *p, proc_main main, const void *arg)
{
    struct proc *c = NULL;
    CHECK_INT(proc_fork(p, false, main, (void *)(uintptr_t)arg, &c), 0);
    return c;
}

int wait_for(struct proc *p, int pid, struct outcome *ret)
{
    struct outcome o = {.kind = OUTCOME_LOST};
    int r = proc_wait(p, pid, 0, &o, NULL);
    if (ret)
        *ret = o;
    return r;
}
