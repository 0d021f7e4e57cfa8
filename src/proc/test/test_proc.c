/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/test/proc_test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "base/clock.h"

/* Processes: order of turns, life, waiting, signals, timers, limits. */

static struct outcome main_exit(struct proc *p, void *arg)
{
    (void)p;
    return exited((int)(intptr_t)arg);
}

static struct outcome main_say(struct proc *p, void *arg)
{
    put(p, 1, arg);
    return exited(0);
}

/* ---- order ---- */

static struct outcome main_turns(struct proc *p, void *arg)
{
    char s[3] = {*(const char *)arg, 0};
    for (int i = 0; i < 3; i++) {
        put(p, 1, s);
        proc_yield(p);
    }
    return exited(0);
}

static struct outcome main_order(struct proc *p, void *arg)
{
    (void)arg;
    spawn(p, main_turns, "a");
    spawn(p, main_turns, "b");
    spawn(p, main_turns, "c");
    put(p, 1, ".");
    while (wait_for(p, -1, NULL) > 0)
        world_check(p->ps);
    put(p, 1, "!");
    return exited(7);
}

TEST(turns_go_in_order)
{
    struct world w;
    world_init(&w);
    struct outcome o = world_run(&w, main_order, NULL);
    CHECK_INT(o.kind, OUTCOME_EXITED);
    CHECK_INT(o.code, 7);
    CHECK_STR(buf_str(&w.out), STR(".abcabcabc!"));
    CHECK_INT(proc_count(w.ps), 0);
    world_done(&w);
}

static struct outcome main_spin(struct proc *p, void *arg)
{
    uint64_t *n = arg;
    while (proc_poll(p) == 0)
        ++*n;
    return exited(0);
}

static struct outcome main_share(struct proc *p, void *arg)
{
    uint64_t *n = arg;
    struct proc *a = spawn(p, main_spin, &n[0]), *b = spawn(p, main_spin, &n[1]);
    for (int i = 0; i < 100000; i++)
        proc_poll(p);
    CHECK_INT(proc_kill(p, a->pid, SIGTERM), 0);
    CHECK_INT(proc_kill(p, b->pid, SIGINT), 0);
    struct outcome o;
    wait_for(p, a->pid, &o);
    CHECK_INT(o.kind, OUTCOME_KILLED);
    CHECK_INT(o.signal, SIGTERM);
    wait_for(p, b->pid, &o);
    CHECK_INT(outcome_status(o), 130);
    return exited(0);
}

TEST(turns_are_equal)
{
    struct world w;
    uint64_t n[2] = {0, 0}, again[2] = {0, 0};
    world_init(&w);
    world_run(&w, main_share, n);
    CHECK(n[0] > 50000 && n[1] > 50000 && n[0] < n[1] + 3000 && n[1] < n[0] + 3000);
    world_run(&w, main_share, again);
    world_done(&w);
}

TEST(host_is_attended)
{
    struct world w;
    uint64_t n[2] = {0, 0};
    world_init(&w);
    proc_set_limits(w.ps)->wall_ms = 50;
    struct outcome o = world_run(&w, main_spin, n);
    CHECK_INT(o.kind, OUTCOME_KILLED);
    CHECK_INT(o.reason, REASON_TIMEOUT);
    CHECK(w.attended > 0 && w.attended < 60);
    world_done(&w);
}

/* ---- waiting ---- */

static struct outcome main_wait(struct proc *p, void *arg)
{
    (void)arg;
    struct outcome o;
    CHECK_INT(wait_for(p, -1, &o), -ECHILD);
    struct proc *a = spawn(p, main_exit, (void *)3), *b = spawn(p, main_exit, (void *)4);
    int pa = a->pid, pb = b->pid;
    CHECK(pb > pa);
    CHECK_INT(proc_wait(p, -1, WNOHANG, &o, NULL), 0);
    CHECK(proc_child(p, pa) == a);
    CHECK_INT(wait_for(p, pb, &o), pb);
    CHECK_INT(o.code, 4);
    CHECK_INT(wait_for(p, pb, &o), -ECHILD);
    CHECK(proc_find(p->ps, pa) == NULL); /* a zombie */
    CHECK_INT(proc_kill(p, pa, 0), 0);
    CHECK_INT(wait_for(p, -1, &o), pa);
    CHECK_INT(o.code, 3);
    CHECK_INT(proc_kill(p, pa, 0), -ESRCH);
    return exited(0);
}

TEST(wait_finds_children)
{
    struct world w;
    world_init(&w);
    world_run(&w, main_wait, NULL);
    world_done(&w);
}

static struct outcome main_late(struct proc *p, void *arg)
{
    (void)arg;
    CHECK_INT(proc_sleep(p, clock_mono() + 5 * CLOCK_MS), 0);
    CHECK_INT(p->ppid, 1);
    put(p, 2, "orphan");
    return exited(0);
}

static struct outcome main_leaves_orphan(struct proc *p, void *arg)
{
    (void)arg;
    spawn(p, main_exit, NULL); /* a zombie that init reaps */
    spawn(p, main_late, NULL);
    return exited(0);
}

static struct outcome main_reparent(struct proc *p, void *arg)
{
    (void)arg;
    int pid = spawn(p, main_leaves_orphan, NULL)->pid;
    CHECK_INT(wait_for(p, pid, NULL), pid);
    world_check(p->ps);
    CHECK_INT(wait_for(p, -1, NULL), -ECHILD);
    CHECK_INT(proc_sleep(p, clock_mono() + 30 * CLOCK_MS), 0);
    CHECK_INT(proc_count(p->ps), 1);
    return exited(0);
}

TEST(orphans_go_to_init)
{
    struct world w;
    world_init(&w);
    world_run(&w, main_reparent, NULL);
    CHECK_STR(buf_str(&w.out), STR("orphan"));
    world_done(&w);
}

/* ---- inline children ---- */

static struct outcome main_inline(struct proc *p, void *arg)
{
    (void)arg;
    struct proc *c;
    CHECK_INT(proc_chdir(p, STR("/tmp")), 0);
    CHECK_INT(proc_fork_inline(p, &c), 0);
    CHECK_INT(c->ppid, p->pid);
    CHECK_INT(p->state, PROC_BLOCKED);
    CHECK_INT(proc_chdir(c, STR("/")), 0);
    c->umask = 077;
    CHECK_INT(proc_close(c, 1), 0);
    CHECK_INT(proc_write(c, 1, "x", 1), -EBADF);
    put(c, 2, "in");
    world_check(p->ps);
    /* A child of an inline child goes to init when that ends. */
    spawn(c, main_late, NULL);
    struct outcome o = proc_end_inline(c, exited(9));
    CHECK_INT(o.code, 9);
    CHECK_INT(p->umask, 022);
    CHECK_INT(p->state, PROC_RUNNING);
    put(p, 1, "out");
    CHECK_INT(proc_sleep(p, clock_mono() + 20 * CLOCK_MS), 0);
    return exited(0);
}

TEST(inline_child)
{
    struct world w;
    world_init(&w);
    world_run(&w, main_inline, NULL);
    CHECK_STR(buf_str(&w.out), STR("inoutorphan"));
    world_done(&w);
}

/* A shell that runs a sleeping command inline; @arg: when to ignore SIGTERM in the child. */
static struct outcome main_fg(struct proc *p, void *arg)
{
    struct proc *c;
    if (proc_fork_inline(p, &c) < 0)
        return exited(99);
    if (arg)
        proc_sigaction(c, SIGTERM, PROC_SIG_IGNORE);
    int r = proc_sleep(c, clock_mono() + 40 * CLOCK_MS);
    if (r == 0)
        put(c, 1, "slept ");
    struct outcome o = proc_end_inline(c, exited(0));
    if (!arg && !p->must_end) {
        CHECK_INT(r, -EINTR);
        CHECK_INT(o.signal, SIGTERM);
        put(p, 1, "parent lives ");
    }
    return exited(5);
}

static struct outcome main_kill_inline(struct proc *p, void *arg)
{
    (void)arg;
    struct outcome o;
    /* The child alone: its parent goes on. */
    struct proc *sh = spawn(p, main_fg, NULL);
    proc_yield(p);
    CHECK_INT(proc_kill(p, sh->children->pid, SIGTERM), 0);
    world_check(p->ps);
    wait_for(p, -1, &o);
    CHECK_INT(o.code, 5);
    /* The whole group. */
    sh = spawn(p, main_fg, NULL);
    CHECK_INT(proc_setpgid(p, sh->pid, 0), 0);
    proc_yield(p);
    CHECK_INT(proc_kill(p, -sh->pid, SIGTERM), 0);
    wait_for(p, -1, &o);
    CHECK_INT(o.signal, SIGTERM);
    /* The parent alone: it is gone at once, the child goes on. */
    int64_t t = clock_mono();
    sh = spawn(p, main_fg, "ignore");
    proc_yield(p);
    struct proc *c = sh->children;
    CHECK_INT(proc_kill(p, sh->pid, SIGTERM), 0);
    CHECK_INT(wait_for(p, -1, &o), sh->pid);
    CHECK_INT(o.signal, SIGTERM);
    CHECK(clock_mono() - t < 30 * CLOCK_MS);
    CHECK_INT(c->ppid, 1);
    world_check(p->ps);
    put(p, 1, "ghost ");
    CHECK_INT(proc_sleep(p, clock_mono() + 60 * CLOCK_MS), 0);
    CHECK_INT(proc_count(p->ps), 1);
    /* With SIGKILL, left for proc_set_free() to clean up. */
    sh = spawn(p, main_fg, "ignore");
    proc_yield(p);
    CHECK_INT(proc_kill(p, sh->pid, SIGKILL), 0);
    return exited(0);
}

TEST(signals_and_inline_children)
{
    struct world w;
    world_init(&w);
    world_run(&w, main_kill_inline, NULL);
    CHECK_STR(buf_str(&w.out), STR("parent lives ghost slept "));
    world_done(&w);
}

static struct outcome main_first_killed(struct proc *p, void *arg)
{
    (void)arg;
    struct proc *c;
    CHECK_INT(proc_fork_inline(p, &c), 0);
    CHECK_INT(proc_kill(c, p->pid, SIGTERM), 0);
    CHECK_INT(proc_sleep(c, clock_mono() + 10 * CLOCK_S), -EINTR);
    proc_end_inline(c, exited(0));
    CHECK_INT(proc_sleep(p, clock_mono() + 10 * CLOCK_S), -EINTR);
    return exited(0);
}

TEST(first_process_takes_its_inline_child_along)
{
    struct world w;
    world_init(&w);
    struct outcome o = world_run(&w, main_first_killed, NULL);
    CHECK_INT(o.signal, SIGTERM);
    CHECK_INT(o.reason, REASON_SIGNAL);
    world_done(&w);
}

/* ---- signals ---- */

static struct outcome main_traps(struct proc *p, void *arg)
{
    (void)arg;
    CHECK_INT(proc_sigaction(p, SIGKILL, PROC_SIG_IGNORE), -EINVAL);
    CHECK_INT(proc_sigaction(p, 65, PROC_SIG_IGNORE), -EINVAL);
    CHECK_INT(proc_sigaction(p, SIGUSR1, PROC_SIG_CATCH), 0);
    put(p, 1, "ready ");
    CHECK_INT(proc_sleep(p, INT64_MAX), -EINTR);
    CHECK(proc_signal_pending(p));
    CHECK_INT(proc_sleep(p, clock_mono() + CLOCK_MS), 0); /* interrupts once only */
    CHECK_INT(proc_take_signal(p), SIGUSR1);
    CHECK_INT(proc_take_signal(p), 0);
    CHECK_INT(proc_sigaction(p, SIGUSR1, PROC_SIG_IGNORE), 0);
    put(p, 1, "again ");
    CHECK_INT(proc_sleep(p, clock_mono() + 20 * CLOCK_MS), 0);
    CHECK_INT(proc_sigaction(p, SIGUSR1, PROC_SIG_DEFAULT), 0);
    CHECK_INT(proc_kill(p, p->pid, SIGUSR1), 0);
    CHECK_INT(proc_poll(p), -EINTR);
    return exited(1);
}

static struct outcome main_signals(struct proc *p, void *arg)
{
    (void)arg;
    struct outcome o;
    struct proc *c = spawn(p, main_traps, NULL);
    CHECK_INT(proc_kill(p, 1, SIGTERM), -EPERM);
    CHECK_INT(proc_kill(p, 99999, SIGTERM), -ESRCH);
    CHECK_INT(proc_kill(p, c->pid, 65), -EINVAL);
    proc_yield(p);
    CHECK_INT(proc_kill(p, c->pid, SIGUSR1), 0);
    CHECK_INT(proc_kill(p, c->pid, SIGCHLD), 0);
    CHECK_INT(proc_sleep(p, clock_mono() + 8 * CLOCK_MS), 0);
    CHECK_INT(proc_kill(p, c->pid, SIGUSR1), 0);
    wait_for(p, -1, &o);
    CHECK_INT(o.signal, SIGUSR1);
    CHECK_INT(o.reason, REASON_SIGNAL);
    /* SIGCHLD interrupts a sleep, but a wait first gives the child. */
    CHECK_INT(proc_sigaction(p, SIGCHLD, PROC_SIG_CATCH), 0);
    spawn(p, main_exit, NULL);
    CHECK_INT(proc_sleep(p, clock_mono() + CLOCK_S), -EINTR);
    CHECK_INT(proc_take_signal(p), SIGCHLD);
    CHECK(wait_for(p, -1, &o) > 0);
    return exited(0);
}

TEST(signals_as_signal_7)
{
    struct world w;
    world_init(&w);
    world_run(&w, main_signals, NULL);
    CHECK_STR(buf_str(&w.out), STR("ready again "));
    world_done(&w);
}

static struct outcome main_counts(struct proc *p, void *arg)
{
    int *n = arg;
    while (proc_sleep(p, clock_mono() + CLOCK_MS) == 0)
        ++*n;
    return exited(0);
}

static struct outcome main_stops(struct proc *p, void *arg)
{
    (void)arg;
    struct outcome o;
    int n = 0, sig = 0;
    struct proc *c = spawn(p, main_counts, &n);
    proc_setpgid(p, c->pid, 0);
    CHECK_INT(proc_sleep(p, clock_mono() + 5 * CLOCK_MS), 0);
    CHECK_INT(proc_kill(p, c->pid, SIGTSTP), 0);
    CHECK_INT(c->state, PROC_STOPPED);
    CHECK_INT(proc_wait(p, -1, WUNTRACED, &o, &sig), c->pid);
    CHECK_INT(sig, SIGTSTP);
    CHECK_INT(proc_wait(p, -1, WUNTRACED | WNOHANG, &o, &sig), 0);
    int before = n;
    CHECK_INT(proc_sleep(p, clock_mono() + 5 * CLOCK_MS), 0);
    CHECK_INT(n, before);
    world_check(p->ps);
    CHECK_INT(proc_kill(p, c->pid, SIGTERM), 0); /* waits until it goes on */
    CHECK_INT(c->state, PROC_STOPPED);
    CHECK_INT(proc_kill(p, c->pid, SIGCONT), 0);
    CHECK_INT(proc_wait(p, -1, 0, &o, &sig), c->pid);
    CHECK_INT(o.signal, SIGTERM);
    /* Continued ones are reported; SIGKILL ends a stopped one. */
    c = spawn(p, main_counts, &n);
    proc_yield(p);
    proc_kill(p, c->pid, SIGSTOP);
    proc_kill(p, c->pid, SIGCONT);
    CHECK_INT(proc_wait(p, -1, WUNTRACED | WCONTINUED, &o, &sig), c->pid);
    CHECK_INT(sig, SIGCONT);
    proc_kill(p, c->pid, SIGSTOP);
    world_check(p->ps);
    proc_kill(p, c->pid, SIGKILL);
    CHECK_INT(proc_wait(p, -1, 0, &o, &sig), c->pid);
    CHECK_INT(o.signal, SIGKILL);
    /* The group of the first process is orphaned: SIGTSTP does nothing there. */
    CHECK_INT(proc_kill(p, p->pid, SIGTSTP), 0);
    CHECK_INT(p->state, PROC_RUNNING);
    return exited(0);
}

TEST(stop_and_continue)
{
    struct world w;
    world_init(&w);
    world_run(&w, main_stops, NULL);
    world_done(&w);
}

static struct outcome main_stops_itself(struct proc *p, void *arg)
{
    (void)arg;
    put(p, 1, "1");
    CHECK_INT(proc_kill(p, p->pid, SIGSTOP), 0);
    put(p, 1, "2");
    struct proc *c;
    CHECK_INT(proc_fork_inline(p, &c), 0);
    CHECK_INT(proc_kill(c, p->pid, SIGSTOP), 0);
    put(c, 1, "3");
    proc_end_inline(c, exited(0));
    put(p, 1, "4");
    return exited(0);
}

static struct outcome main_self_stop(struct proc *p, void *arg)
{
    (void)arg;
    struct outcome o;
    int sig;
    int pid = spawn(p, main_stops_itself, NULL)->pid;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(proc_wait(p, pid, WUNTRACED, &o, &sig), pid);
        CHECK_INT(sig, SIGSTOP);
        CHECK_INT(proc_sleep(p, clock_mono() + CLOCK_MS), 0);
        put(p, 1, "|");
        CHECK_INT(proc_kill(p, pid, SIGCONT), 0);
    }
    CHECK_INT(wait_for(p, pid, &o), pid);
    CHECK_INT(o.code, 0);
    return exited(0);
}

TEST(stops_itself)
{
    struct world w;
    world_init(&w);
    world_run(&w, main_self_stop, NULL);
    CHECK_STR(buf_str(&w.out), STR("1|23|4"));
    world_done(&w);
}

/* ---- timers ---- */

static struct outcome main_sleeper(struct proc *p, void *arg)
{
    intptr_t ms = (intptr_t)arg;
    proc_sleep(p, clock_mono() + ms * CLOCK_MS);
    char s[2] = {(char)('0' + ms / 4), 0};
    put(p, 1, s);
    return exited(0);
}

static struct outcome main_sleep_sort(struct proc *p, void *arg)
{
    (void)arg;
    static const int order[] = {5, 2, 9, 1, 7, 3, 8, 6, 4};
    for (size_t i = 0; i < 9; i++)
        spawn(p, main_sleeper, (void *)(intptr_t)(order[i] * 4));
    while (wait_for(p, -1, NULL) > 0)
        world_check(p->ps);
    struct proc_waitq q = {0};
    CHECK_INT(proc_block(p, &q, clock_mono() + CLOCK_MS), -ETIMEDOUT);
    CHECK_INT(proc_block(p, &q, 0), -ETIMEDOUT);
    return exited(0);
}

TEST(timers_fire_in_order)
{
    struct world w;
    world_init(&w);
    world_run(&w, main_sleep_sort, NULL);
    CHECK_STR(buf_str(&w.out), STR("123456789"));
    world_done(&w);
}

/* ---- limits ---- */

static struct outcome main_bomb(struct proc *p, void *arg)
{
    (void)arg;
    struct proc *c;
    for (int i = 0; i < 2; i++) {
        while (proc_fork(p, true, main_bomb, NULL, &c) == -EAGAIN && proc_poll(p) == 0)
            ;
    }
    while (wait_for(p, -1, NULL) > 0)
        ;
    return exited(0);
}

TEST(fork_bomb_ends)
{
    struct world w;
    world_init(&w);
    int64_t t = clock_mono();
    struct outcome o = world_run(&w, main_bomb, NULL);
    CHECK_INT(o.kind, OUTCOME_KILLED);
    CHECK_INT(o.reason, REASON_PROCESSES);
    CHECK(clock_mono() - t < 3000 * CLOCK_MS * (int64_t)test_env("FRONTAL_TEST_SLOW", 1));
    int64_t wake;
    proc_run(w.ps, NULL, &wake);
    CHECK_INT(proc_count(w.ps), 0);
    /* The set is usable again. */
    o = world_run(&w, main_exit, (void *)6);
    CHECK_INT(o.code, 6);
    world_done(&w);
}

static struct outcome main_few(struct proc *p, void *arg)
{
    (void)arg;
    struct proc *c;
    CHECK_INT(proc_fork(p, false, main_exit, NULL, &c), 0);
    CHECK_INT(proc_fork(p, false, main_exit, NULL, &c), -EAGAIN);
    CHECK_INT(proc_fork_inline(p, &c), -EAGAIN);
    CHECK(wait_for(p, -1, NULL) > 0);
    CHECK_INT(proc_fork_inline(p, &c), 0);
    proc_end_inline(c, exited(0));
    return exited(0);
}

TEST(process_limit_refuses)
{
    struct world w;
    world_init(&w);
    proc_set_limits(w.ps)->processes = 2;
    struct outcome o = world_run(&w, main_few, NULL);
    CHECK_INT(o.kind, OUTCOME_EXITED);
    world_done(&w);
}

static struct outcome main_eat(struct proc *p, void *arg)
{
    struct {
        void *next;
        char pad[1000];
    } *list = NULL, *e;
    (void)arg;
    while (proc_poll(p) == 0) {
        e = mem_alloc(sizeof(*e));
        e->next = list;
        list = e;
    }
    while (list) {
        e = list;
        list = e->next;
        mem_free(e);
    }
    return exited(0);
}

TEST(memory_limit_ends)
{
    struct world w;
    world_init(&w);
    proc_set_limits(w.ps)->memory = 8 << 20;
    struct outcome o = world_run(&w, main_eat, NULL);
    CHECK_INT(o.kind, OUTCOME_KILLED);
    CHECK_INT(o.reason, REASON_MEMORY);
    struct proc_usage u;
    proc_set_usage(w.ps, &u);
    CHECK(u.memory_peak > 8 << 20 && u.memory_peak < 12 << 20);
    o = world_run(&w, main_exit, (void *)6);
    CHECK_INT(o.code, 6);
    world_done(&w);
}

TEST(cpu_limit_ends)
{
    struct world w;
    uint64_t n = 0;
    world_init(&w);
    proc_set_limits(w.ps)->cpu_ms = 30;
    struct outcome o = world_run(&w, main_spin, &n);
    CHECK_INT(o.reason, REASON_CPU);
    struct proc_usage u;
    proc_set_usage(w.ps, &u);
    CHECK(u.cpu_ns >= 30 * CLOCK_MS && u.cpu_ns < 130 * CLOCK_MS);
    world_done(&w);
}

TEST(output_limit_ends)
{
    struct world w;
    world_init(&w);
    proc_set_limits(w.ps)->output = 4;
    struct outcome o = world_run(&w, main_say, "hello");
    CHECK_INT(o.reason, REASON_OUTPUT);
    CHECK_STR(buf_str(&w.out), STR("hell"));
    buf_clear(&w.out);
    o = world_run(&w, main_say, "fits");
    CHECK_INT(o.kind, OUTCOME_EXITED);
    world_done(&w);
}

/* Recursion as deep as the stack allows. */
static int dig(struct proc *p, int depth)
{
    volatile char pad[512];
    pad[0] = (char)depth;
    if (proc_stack_left(p) < 64 << 10)
        return depth;
    return dig(p, depth + 1) + (pad[0] != (char)depth);
}

static struct outcome main_dig(struct proc *p, void *arg)
{
    (void)arg;
    CHECK(dig(p, 0) > 200);
    return exited(0);
}

TEST(stack_left_is_known)
{
    struct world w;
    world_init(&w);
    for (int i = 0; i < 3; i++)
        world_run(&w, main_dig, NULL);
    world_done(&w);
}

TEST(idle_set_is_small)
{
    struct world w;
    uint64_t n[2] = {0, 0};
    world_init(&w);
    world_run(&w, main_share, n);
    CHECK(proc_set_mem(w.ps)->used < 1024);
    world_done(&w);
}

TEST(set_free_ends_all)
{
    struct world w;
    static uint64_t n[2];
    world_init(&w);
    proc_begin(w.ps);
    world_start(&w, main_share, n);
    world_start(&w, main_fg, "x");
    int64_t wake;
    proc_set_limits(w.ps)->wall_ms = 0;
    CHECK_INT(proc_run(w.ps, NULL, &wake), 0);
    world_start(&w, main_fg, NULL);
    world_done(&w);
}
