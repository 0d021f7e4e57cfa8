/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/test/proc_test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/num.h"

/*
 * Random processes: each takes random steps (fork, inline fork, read, write, signals, stops, sleeps, closes, ends), and
 * the set is checked as it goes. What must hold: no invariant breaks, every process ends once it is told to, nothing
 * leaks.
 */

struct stress {
    uint64_t rng;
    uint64_t steps;
    int depth;
};

static void step_io(struct proc *p, struct stress *s)
{
    char buf[9000];
    size_t n = test_rand(&s->rng) % sizeof(buf);
    int fd = 3 + (int)(test_rand(&s->rng) % 12);
    const void *q;
    size_t k;
    struct proc_pollfd v[2] = {{.fd = fd, .want_read = true}, {.fd = fd + 1, .want_write = true}};
    switch (test_rand(&s->rng) % 8) {
    case 0:
    case 1:
        memset(buf, 'x', n);
        proc_write(p, fd, buf, n);
        break;
    case 2:
        if (proc_read(p, fd, buf, n) > 0)
            CHECK(buf[0] == 'x');
        break;
    case 3:
        if (proc_peek(p, fd, &q, &k) == 0) {
            CHECK(!k || *(const char *)q == 'x');
            proc_consume(p, fd, NUM_MIN(k, n));
        }
        break;
    case 4:
        proc_pipe(p, (int[2]){0}, n & 1);
        break;
    case 5:
        proc_close(p, fd);
        break;
    case 6:
        proc_dup2(p, fd, 3 + (int)(n % 20), false);
        break;
    default:
        proc_poll_fds(p, v, 2, clock_mono() + 20 * CLOCK_US);
        break;
    }
}

static int random_pid(struct proc *p, struct stress *s)
{
    int span = p->pid > 30 ? 30 : p->pid;
    int pid = p->pid + 5 - (int)(test_rand(&s->rng) % (uint64_t)(span + 5));
    return test_rand(&s->rng) % 8 == 0 ? -pid : pid;
}

static void step_signal(struct proc *p, struct stress *s)
{
    static const int sigs[] = {SIGSTOP, SIGCONT, SIGCONT, SIGCONT, SIGTERM,
                               SIGKILL, SIGUSR1, SIGCHLD, SIGPIPE, SIGTSTP};
    int sig = sigs[test_rand(&s->rng) % (sizeof(sigs) / sizeof(sigs[0]))];
    if (p->ppid == 1 && (sig == SIGSTOP || sig == SIGTSTP))
        sig = SIGCONT;
    switch (test_rand(&s->rng) % 4) {
    case 0:
        proc_sigaction(p, sig, (enum proc_disposition)(test_rand(&s->rng) % 3));
        break;
    case 1:
        proc_take_signal(p);
        break;
    case 2:
        proc_setpgid(p, 0, test_rand(&s->rng) & 1 ? 0 : p->ppid);
        break;
    default:
        proc_kill(p, random_pid(p, s), sig);
        break;
    }
}

static struct outcome main_random(struct proc *p, void *arg)
{
    struct stress *s = arg;
    int n = (int)(test_rand(&s->rng) % 40);
    for (int i = 0; i < n && proc_poll(p) == 0; i++) {
        struct proc *c;
        struct outcome o;
        if (s->steps == 0)
            break;
        if (--s->steps % 32 == 0)
            world_check(p->ps);
        switch (test_rand(&s->rng) % 10) {
        case 0:
            proc_fork(p, test_rand(&s->rng) & 1, main_random, s, &c);
            break;
        case 1:
            if (proc_stack_left(p) > 128 << 10 && proc_fork_inline(p, &c) == 0)
                proc_end_inline(c, main_random(c, s));
            break;
        case 2:
            proc_wait(p, -1, (int)(test_rand(&s->rng) & (WNOHANG | WUNTRACED | WCONTINUED)), &o, NULL);
            break;
        case 3:
            proc_sleep(p, clock_mono() + (int64_t)(test_rand(&s->rng) % 30) * CLOCK_US);
            break;
        case 4:
            proc_yield(p);
            break;
        case 5:
        case 6:
            step_signal(p, s);
            break;
        default:
            step_io(p, s);
            break;
        }
    }
    return exited((int)(test_rand(&s->rng) & 0xff));
}

/* The first process starts random ones until the steps are used up. */
static struct outcome main_stress(struct proc *p, void *arg)
{
    struct stress *s = arg;
    struct outcome o;
    p->cred.uid = 0;
    proc_pipe(p, (int[2]){0}, false);
    proc_pipe(p, (int[2]){0}, false);
    while (s->steps && !p->must_end) {
        struct proc *c;
        if (proc_count(p->ps) < 60 && proc_fork(p, false, main_random, s, &c) == 0)
            c->cred.uid = 1000; /* so that it cannot stop or end this one */
        proc_sleep(p, clock_mono() + 10 * CLOCK_US);
        proc_kill(p, -1, SIGCONT);
        if (test_rand(&s->rng) % 16 == 0)
            proc_kill(p, -1, SIGTERM);
        if (proc_count(p->ps) > 120)
            proc_kill(p, -1, SIGKILL); /* all stuck on pipes */
        while (proc_wait(p, -1, WNOHANG, &o, NULL) > 0)
            ;
    }
    return exited(3);
}

TEST_LIMIT(random_processes, 300)
{
    struct stress s = {.rng = test_seed()};
    uint64_t rounds = test_env("FRONTAL_PROC_ROUNDS", 20);
    for (uint64_t i = 0; i < rounds; i++) {
        struct world w;
        s.steps = 20000;
        world_init(&w);
        proc_set_limits(w.ps)->processes = 400;
        struct outcome o = world_run(&w, main_stress, &s);
        CHECK(o.kind == OUTCOME_EXITED ? o.code == 3 : o.reason == REASON_PROCESSES || o.signal == SIGKILL);
        if (i % 4 == 0)
            proc_kill_all(w.ps, REASON_SIGNAL);
        s.steps = 0;
        world_done(&w);
    }
}
