/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <sys/random.h>

#include "base/assert.h"
#include "engine/engine.h"

void set__uuid(struct proc_set *ps, char out[37])
{
    uint8_t b[16];
    proc_entropy(ps, b, sizeof(b));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40); /* RFC 9562: version 4, variant 10 */
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    char *o = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *o++ = '-';
        *o++ = "0123456789abcdef"[b[i] >> 4];
        *o++ = "0123456789abcdef"[b[i] & 15];
    }
    *o = 0;
}

static int64_t tree_time(void *arg)
{
    return proc_wall(arg);
}

/* Of a set that is all zeros. */
static void init(struct proc_set *ps, struct vfs *v, const struct limits *limits, const struct proc_host *host)
{
    ps->v = v;
    ps->limits = *limits;
    if (host)
        ps->host = *host;
    struct proc *one = &ps->init.p;
    one->ps = ps;
    one->priv = &ps->init.priv;
    one->pid = one->pgid = 1;
    one->state = PROC_BLOCKED;
    one->comm = "init";
    one->fds.v = one->fds.inline_v;
    ps->next_pid = PID_FIRST;
    ps->next_pipe_id = 1;
    ps->attend_ns = ps->host.attend_ns ? ps->host.attend_ns : ATTEND_NS;
    vfs_set_clock(v, tree_time, ps);
    set__boot(ps);
    proc_begin(ps);
}

struct proc_set *proc_set_new(struct vfs *v, const struct limits *limits, const struct proc_host *host)
{
    struct proc_set *ps = mem_try_zalloc(sizeof(*ps));
    if (ps)
        init(ps, v, limits, host);
    return ps;
}

void set__boot(struct proc_set *ps)
{
    ps->boot_mono = proc_now(ps);
    ps->boot_wall = proc_wall(ps);
    ps->boot_id[0] = 0;
    if (ps->tape)
        set__boot_id(ps);
}

const char *set__boot_id(struct proc_set *ps)
{
    if (!ps->boot_id[0])
        set__uuid(ps, ps->boot_id);
    return ps->boot_id;
}

/* Ends and frees all that is in it. */
static void empty(struct proc_set *ps)
{
    ASSERT(!ps->in_run);
    ps->host.attend = NULL;
    proc_kill_all(ps, REASON_SIGNAL);
    if (ps->n_co) /* of a set in which nothing lives this would only ask for the time */
        proc_run(ps, NULL, NULL);
    ASSERT(ps->n_co == 0);
    struct mem_account *before = set__use(ps);
    while (ps->all)
        life__reap(ps->all);
    while (ps->feeds)
        feed__free(ps->feeds);
    set__trim(ps);
    mem_use(before);
    (void)proc_tape_end(ps); /* nobody is left to hear of it */
    vfs_set_clock(ps->v, NULL, NULL);
}

void proc_set_free(struct proc_set *ps)
{
    if (!ps)
        return;
    empty(ps);
    mem_free(ps);
}

void proc_set_renew(struct proc_set *ps, struct vfs *v, const struct limits *limits, const struct proc_host *host)
{
    empty(ps);
    memset(ps, 0, sizeof(*ps));
    init(ps, v, limits, host);
}

struct vfs *proc_set_vfs(struct proc_set *ps)
{
    return ps->v;
}

struct mem_account *proc_set_mem(struct proc_set *ps)
{
    return &ps->acc;
}

uint64_t proc_mem_used(struct proc_set *ps)
{
    return ps->tape && ps->running ? tape__value(ps, ps->acc.used) : ps->acc.used;
}

struct limits *proc_set_limits(struct proc_set *ps)
{
    return &ps->limits;
}

int64_t set__cpu(const struct proc_set *ps)
{
    return ps->usage.cpu_ns + (ps->in_run ? clock_cpu() - ps->cpu_in : 0);
}

void proc_set_usage(struct proc_set *ps, struct proc_usage *ret)
{
    *ret = ps->usage;
    ret->cpu_ns = set__cpu(ps);
    ret->memory_peak = ps->acc.peak;
}

void proc_set_use_vfs(struct proc_set *ps, struct vfs *v)
{
    ASSERT(ps->n_procs == 0);
    ps->v = v;
    vfs_set_clock(v, tree_time, ps);
}

int proc_add_engine(struct proc_set *ps, const struct engine_ops *ops, void *engine)
{
    if (ps->n_engines == ENGINES_MAX)
        return -ENOSPC;
    ps->engines[ps->n_engines].ops = ops;
    ps->engines[ps->n_engines++].engine = engine;
    return 0;
}

void *proc_engine(const struct proc_set *ps, const struct engine_ops *ops)
{
    for (uint32_t i = 0; i < ps->n_engines; i++)
        if (ps->engines[i].ops == ops)
            return ps->engines[i].engine;
    return NULL;
}

uint32_t proc_count(const struct proc_set *ps)
{
    return ps->n_live;
}

/* Milliseconds as nanoseconds, and INT64_MAX when that is longer than the clock counts. */
static int64_t ms_after(int64_t now, uint64_t ms)
{
    return ms > (uint64_t)(INT64_MAX - now) / CLOCK_MS ? INT64_MAX : now + (int64_t)ms * CLOCK_MS;
}

void proc_begin(struct proc_set *ps)
{
    struct mem_account *before = set__use(ps);
    for (struct proc *p = ps->all, *next; p; p = next) {
        next = p->priv->all_next;
        if (p->priv->first && p->state == PROC_ZOMBIE)
            life__reap(p);
    }
    mem_use(before);
    int64_t now = clock_mono();
    ps->busy_ns = 0;
    ps->usage = (struct proc_usage){0};
    ps->killed = REASON_NONE;
    ps->n_eagain = 0;
    ps->cpu_check = ms_after(now, ps->limits.cpu_ms);
    ps->wall_deadline = ps->limits.wall_ms && !tape__replays(ps) ? ms_after(now, ps->limits.wall_ms) : INT64_MAX;
    ps->acc.limit = ps->limits.memory ? ps->limits.memory : 1; /* an account's 0 is "no limit" */
    ps->acc.peak = ps->acc.used;
    ps->acc.hit = false;
    ps->acc.alarm = &proc_budget;
}

void set__check_memory(struct proc_set *ps)
{
    if (ps->acc.hit && !ps->killed && ps->n_live)
        proc_kill_all(ps, REASON_MEMORY);
}

static void time_is_up(struct proc_set *ps, enum outcome_reason reason)
{
    tape__limit(ps, reason);
    proc_kill_all(ps, reason);
}

void set__check_time(struct proc_set *ps, int64_t raw)
{
    if (ps->killed || !ps->n_live)
        return;
    if (tape__replays(ps)) {
        if (tape__lost(ps))
            proc_kill_all(ps, REASON_CRASH);
    } else if (raw >= ps->wall_deadline) {
        time_is_up(ps, REASON_TIMEOUT);
    } else if (raw >= ps->cpu_check) {
        /* CPU time grows no faster than the clock, so the next look can wait for as long as is left. */
        int64_t limit = ms_after(0, ps->limits.cpu_ms), cpu = set__cpu(ps);
        if (cpu >= limit)
            time_is_up(ps, REASON_CPU);
        else
            ps->cpu_check = limit == INT64_MAX ? INT64_MAX : raw + (limit - cpu);
    }
}

void proc_kill_all(struct proc_set *ps, enum outcome_reason reason)
{
    if (!ps->killed)
        ps->killed = reason;
    struct mem_account *before = set__use(ps);
    /* Newest first, so that an inline child is told before the process whose coroutine it has. */
    for (struct proc *p = ps->all; p; p = p->priv->all_next)
        signal__must_end(p, SIGKILL, reason);
    mem_use(before);
}

void set__trim(struct proc_set *ps)
{
    while (ps->spare) {
        struct proc_node *n = ps->spare;
        ps->spare = (struct proc_node *)(void *)n->p.sibling;
        if (n->p.fds.v != n->p.fds.inline_v)
            mem_free(n->p.fds.v);
        mem_free(n);
    }
    ps->n_spare = 0;
    while (ps->n_bufs)
        mem_free(ps->bufs[--ps->n_bufs]);
    mem_free(ps->timers);
    ps->timers = NULL;
    ps->cap_timers = 0;
}

struct mem_account *set__host_begin(struct proc_set *ps)
{
    return mem_use(ps->in_run ? ps->host_acc : mem_current());
}

void set__host_end(struct mem_account *before)
{
    mem_use(before);
}

void proc_set_winsize(struct proc_set *ps, uint16_t rows, uint16_t cols)
{
    ps->rows = rows;
    ps->cols = cols;
}

void proc_winsize(const struct proc_set *ps, uint16_t *ret_rows, uint16_t *ret_cols)
{
    *ret_rows = ps->rows;
    *ret_cols = ps->cols;
}

int64_t proc_now(struct proc_set *ps)
{
    return ps->running ? set__look(ps) : set__peek(ps);
}

int64_t proc_wall(struct proc_set *ps)
{
    return ps->tape ? tape__wall(ps, proc_now(ps)) : clock_wall();
}

int64_t proc_cpu(const struct proc_set *ps)
{
    if (!ps->tape)
        return set__cpu(ps);
    int64_t turn = ps->running ? tape__now(ps) - ps->slice_start : 0;
    return ps->busy_ns + (turn < SLICE_MAX ? turn : SLICE_MAX);
}

int proc_next_pid(const struct proc_set *ps)
{
    return ps->next_pid;
}

void proc_set_next_pid(struct proc_set *ps, int pid)
{
    ps->pid_wrapped |= ps->n_procs != 0; /* numbers from here on may be in use */
    ps->next_pid = pid >= PID_FIRST && pid < PID_MAX ? pid : PID_FIRST;
}

void proc_entropy(struct proc_set *ps, void *p, size_t n)
{
    if (ps->tape) {
        tape__entropy(ps, p, n);
        return;
    }
    if (ps->host.entropy) {
        ps->host.entropy(ps->host.arg, p, n);
        return;
    }
    char *o = p;
    while (n) {
        ssize_t r = getrandom(o, n, 0);
        ASSERT(r > 0 || errno == EINTR); /* every kernel this runs on has it */
        if (r > 0) {
            o += r;
            n -= (size_t)r;
        }
    }
}
