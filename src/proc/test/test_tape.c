/* SPDX-License-Identifier: Apache-2.0 */

/* The order of turns does not depend on when the host looks for messages, and a tape repeats what time decides. */

#include "proc/test/proc_test.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/num.h"

#define TRACE_MAX 100000
#define CHILDREN 5

struct machine {
    struct vfs *v;
    struct proc_set *ps;
    int trace[TRACE_MAX]; /* pids as they got their turns */
    size_t n;
    int fds[2];
    uint64_t attended;
    struct buf tape;
    size_t played;
    int asks, needed; /* of proc_await() */
};

static void saw(struct machine *m, const struct proc *p)
{
    if (m->n < TRACE_MAX && (!m->n || m->trace[m->n - 1] != p->pid))
        m->trace[m->n++] = p->pid;
}

static void work(struct machine *m, struct proc *p, int polls)
{
    while (polls-- > 0 && proc_poll(p) == 0)
        saw(m, p);
}

/* Loops, pipe traffic, forks and ends: what moves the run queue. */
static struct outcome grandchild(struct proc *p, void *arg)
{
    work(arg, p, 300 * (p->pid % 7));
    return exited(0);
}

static struct outcome child(struct proc *p, void *arg)
{
    struct machine *m = arg;
    char buf[3000];
    memset(buf, 'x', sizeof(buf));
    proc_close(p, m->fds[p->pid % 2 ? 0 : 1]);
    for (int i = 0; i < 60; i++) {
        work(m, p, 97 * (p->pid % 11));
        if (p->pid % 2)
            proc_write(p, m->fds[1], buf, sizeof(buf));
        else
            proc_read(p, m->fds[0], buf, sizeof(buf));
        saw(m, p);
        if (i % 20 == 0) {
            struct proc *c;
            if (proc_fork(p, false, grandchild, m, &c) == 0)
                wait_for(p, -1, NULL);
        }
        proc_yield(p);
    }
    return exited(0);
}

static struct outcome first(struct proc *p, void *arg)
{
    struct machine *m = arg;
    CHECK_INT(proc_pipe(p, m->fds, false), 0);
    for (int i = 0; i < CHILDREN; i++)
        spawn(p, child, m);
    work(m, p, 100000);
    proc_close(p, m->fds[0]);
    proc_close(p, m->fds[1]);
    for (int i = 0; i < CHILDREN; i++)
        wait_for(p, -1, NULL);
    return exited(0);
}

/* Sleepers beside a loop: time says who is next. */
static struct outcome sleeper(struct proc *p, void *arg)
{
    struct machine *m = arg;
    for (int i = 1; i <= 10; i++) {
        (void)proc_sleep(p, proc_now(p->ps) + i * (p->pid % 5) * 50 * CLOCK_US);
        saw(m, p);
    }
    return exited(0);
}

static struct outcome sleepers(struct proc *p, void *arg)
{
    struct proc *c;
    for (int i = 0; i < CHILDREN; i++)
        (void)proc_fork(p, false, sleeper, arg, &c);
    (void)proc_fork(p, false, grandchild, arg, &c);
    work(arg, p, 200000);
    for (int i = 0; i <= CHILDREN; i++)
        wait_for(p, -1, NULL);
    return exited((int)(proc_now(p->ps) % 251));
}

/* Beside those, one that waits for the host, which takes it for ready when it has asked as often as is needed. */
static bool asked_enough(void *arg)
{
    struct machine *m = arg;
    return m->asks++ >= m->needed;
}

static struct outcome awaiter(struct proc *p, void *arg)
{
    struct machine *m = arg;
    int r = 0;
    for (int i = 0; i < 5 && r == 0; i++) {
        m->asks = 0;
        r = proc_await(p, asked_enough, m);
        saw(m, p);
        work(m, p, 1000);
    }
    return exited(r < 0);
}

static struct outcome sleepers_and_awaiter(struct proc *p, void *arg)
{
    struct proc *c;
    (void)proc_fork(p, false, awaiter, arg, &c);
    struct outcome o = sleepers(p, arg);
    wait_for(p, -1, NULL);
    return o;
}

static struct outcome kills_awaiter(struct proc *p, void *arg)
{
    struct outcome o = {0};
    struct proc *c = spawn(p, awaiter, arg);
    int pid = c->pid;
    (void)proc_sleep(p, proc_now(p->ps) + CLOCK_MS);
    CHECK_INT(proc_kill(p, pid, SIGTERM), 0);
    CHECK_INT(wait_for(p, pid, &o), pid);
    CHECK_INT(o.kind, OUTCOME_KILLED);
    return exited(o.signal);
}

/* ---- machines ---- */

static void attend(void *arg)
{
    struct machine *m = arg;
    m->attended++;
    world_check(m->ps);
}

static void begin(struct machine *m, int64_t attend_ns)
{
    static const char *const names[] = {"cat"};
    const struct vfs_quota q = {.bytes = 1u << 30, .inodes = 10000};
    const struct limits l = limits_default();
    const struct proc_host host = {.arg = m, .attend = attend, .attend_ns = attend_ns};
    *m = (struct machine){.v = vfs_new(&q)};
    buf_init(&m->tape, 1u << 20);
    CHECK_INT(proc_base_tree(m->v, names, 1, NULL, 0), 0);
    m->ps = proc_set_new(m->v, &l, &host);
}

static struct outcome run(struct machine *m, proc_main main)
{
    const struct vfs_cred cred = {.uid = 1000, .gid = 1000};
    struct proc *p;
    int64_t wake;
    proc_begin(m->ps);
    CHECK_INT(proc_start(m->ps, &cred, STR("/"), 022, NULL, NULL, NULL, main, m, &p), 0);
    while (!proc_run(m->ps, p, &wake)) {
        proc_sink_ready(m->ps);
        int64_t ns = wake - clock_mono();
        const struct timespec ts = {0, (long)NUM_MIN(ns, CLOCK_MS)};
        if (ns > 0)
            nanosleep(&ts, NULL);
    }
    return p->outcome;
}

static void done(struct machine *m)
{
    proc_set_free(m->ps);
    vfs_free(m->v);
    buf_done(&m->tape);
    mem_free(m);
}

static void same_trace(const struct machine *a, const struct machine *b)
{
    CHECK_INT(a->n, b->n);
    CHECK(a->n > 20);
    CHECK(memcmp(a->trace, b->trace, a->n * sizeof(a->trace[0])) == 0);
    CHECK_INT(proc_looks(a->ps), proc_looks(b->ps));
}

TEST(attend_changes_nothing)
{
    struct machine *always = mem_alloc(sizeof(*always)), *never = mem_alloc(sizeof(*never));
    begin(always, 1);
    begin(never, INT64_MAX);
    (void)run(always, first);
    (void)run(never, first);
    CHECK(always->attended > 100);
    CHECK_INT(never->attended, 0);
    same_trace(always, never);
    done(always);
    done(never);
}

/* ---- tapes ---- */

static void put_tape(void *arg, const void *p, size_t n)
{
    struct machine *m = arg;
    buf_add(&m->tape, p, n);
}

static size_t get_tape(void *arg, const void **ret_p)
{
    struct machine *m = arg;
    size_t n = m->tape.n - m->played;
    *ret_p = m->tape.p + m->played;
    m->played = m->tape.n;
    return n;
}

static void no_entropy(void *arg, void *p, size_t n)
{
    (void)arg;
    memset(p, 1, n);
}

/* Runs @main recorded and again, with a host that is slower when it is recorded: the same. */
static void check_repeats(proc_main main, int64_t attend_ns, int slower)
{
    struct machine *rec = mem_alloc(sizeof(*rec)), *play = mem_alloc(sizeof(*play));
    struct proc_tape t = {PROC_TAPE_RECORD, .wall = clock_wall(), .mono = clock_mono(), .entropy = no_entropy};
    begin(rec, 0);
    begin(play, attend_ns);
    rec->needed = slower;
    t.changes = put_tape;
    t.arg = rec;
    CHECK_INT(proc_tape_begin(rec->ps, &t), 0);
    struct outcome a = run(rec, main);
    CHECK_INT(proc_tape_end(rec->ps), 0);
    buf_add(&play->tape, rec->tape.p, rec->tape.n);
    t.mode = PROC_TAPE_REPLAY;
    t.more = get_tape;
    t.arg = play;
    CHECK_INT(proc_tape_begin(play->ps, &t), 0);
    struct outcome b = run(play, main);
    CHECK_INT(proc_tape_end(play->ps), 0);
    CHECK_INT(a.code, b.code);
    CHECK_INT(b.kind, OUTCOME_EXITED);
    same_trace(rec, play);
    done(rec);
    done(play);
}

TEST(a_tape_repeats_time)
{
    for (int i = 0; i < 20; i++)
        check_repeats(sleepers, i % 2, 0);
}

TEST(what_is_awaited_of_the_host_changes_nothing)
{
    for (int i = 0; i < 6; i++)
        check_repeats(sleepers_and_awaiter, i % 2, i);
}

TEST(who_awaits_the_host_can_be_killed)
{
    struct machine *m = mem_alloc(sizeof(*m));
    begin(m, 0);
    m->needed = INT_MAX;
    CHECK_INT(run(m, kills_awaiter).code, SIGTERM);
    m->needed = 3;
    CHECK_INT(run(m, sleepers_and_awaiter).kind, OUTCOME_EXITED);
    done(m);
}

/* Whatever bytes it is given, a replay ends. */
TEST(a_broken_tape_ends_the_run)
{
    uint64_t rnd = test_seed();
    for (int i = 0; i < 10; i++) {
        struct machine *m = mem_alloc(sizeof(*m));
        begin(m, 0);
        for (uint64_t n = test_rand(&rnd) % 20; n; n--)
            buf_putc(&m->tape, (char)(test_rand(&rnd) >> (test_rand(&rnd) % 60)));
        const struct proc_tape t = {PROC_TAPE_REPLAY, .arg = m, .entropy = no_entropy, .more = get_tape};
        CHECK_INT(proc_tape_begin(m->ps, &t), 0);
        struct outcome o = run(m, sleepers);
        CHECK_INT(o.kind, OUTCOME_KILLED);
        CHECK(proc_tape_end(m->ps) < 0);
        done(m);
    }
}
