/* SPDX-License-Identifier: Apache-2.0 */

/*
 * bench_proc - what a process costs: fork + exit + wait, an inline child, a switch, and bytes through a pipe.
 * Prints "name value unit"; an argument (0 < x <= 1) scales the number of rounds.
 */

#include <fcntl.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "proc/proc.h"

#define BLOCK 65536

static double scale = 1;

static struct outcome done(void)
{
    return (struct outcome){.kind = OUTCOME_EXITED};
}

static void report(const char *name, double value, const char *unit)
{
    printf("%-28s %10.1f %s\n", name, value, unit);
}

static long rounds(long n)
{
    double d = (double)n * scale;
    return d < 1 ? 1 : (long)d;
}

static struct outcome child(struct proc *p, void *arg)
{
    (void)p;
    (void)arg;
    return done();
}

static void bench_fork(struct proc *p)
{
    long n = rounds(2000000);
    struct outcome o;
    struct proc *c;
    int64_t t = clock_mono();
    for (long i = 0; i < n; i++)
        if (proc_fork(p, false, child, NULL, &c) < 0 || proc_wait(p, c->pid, 0, &o, NULL) < 0)
            return;
    report("fork+exit+wait", (double)(clock_mono() - t) / (double)n, "ns");
    n = rounds(10000000);
    t = clock_mono();
    for (long i = 0; i < n; i++) {
        if (proc_fork_inline(p, &c) < 0)
            return;
        proc_end_inline(c, done());
    }
    report("fork_inline+end_inline", (double)(clock_mono() - t) / (double)n, "ns");
    n = rounds(1000000);
    t = clock_mono();
    int fds[2];
    for (long i = 0; i < n; i++) {
        if (proc_pipe(p, fds, false) < 0)
            return;
        proc_close(p, fds[0]);
        proc_close(p, fds[1]);
    }
    report("pipe+close+close", (double)(clock_mono() - t) / (double)n, "ns");
    n = rounds(1000000);
    t = clock_mono();
    for (long i = 0; i < n; i++) {
        int fd = proc_open(p, STR("/dev/null"), O_WRONLY, 0);
        if (fd < 0)
            return;
        proc_close(p, fd);
    }
    report("open+close /dev/null", (double)(clock_mono() - t) / (double)n, "ns");
}

static int claims(void *engine, const struct exec_image *img)
{
    (void)engine;
    return str_starts(img->head, STR(PROC_COMMAND_MAGIC));
}

static int run(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    (void)engine;
    (void)p;
    (void)img;
    *ret = done();
    return 0;
}

static const struct engine_ops nothing = {.name = "nothing", .tier = "isolate", .claims = claims, .run = run};

static void bench_exec(struct proc *p)
{
    long n = rounds(2000000);
    char name[] = "true";
    char *argv[] = {name, NULL};
    int64_t t = clock_mono();
    for (long i = 0; i < n; i++) {
        struct outcome o = done();
        struct proc *c;
        if (proc_fork_inline(p, &c) < 0 || proc_exec(c, STR("/usr/bin/true"), 1, argv, NULL, NULL, &o) < 0)
            return;
        proc_end_inline(c, o);
    }
    report("fork_inline+exec+end_inline", (double)(clock_mono() - t) / (double)n, "ns");
}

static struct outcome yielder(struct proc *p, void *arg)
{
    for (long i = *(const long *)arg; i > 0; i--)
        proc_yield(p);
    return done();
}

static void bench_switch(struct proc *p)
{
    long n = rounds(5000000);
    struct outcome o;
    struct proc *c;
    int64_t t = clock_mono();
    if (proc_fork(p, false, yielder, &n, &c) < 0)
        return;
    for (long i = 0; i < n; i++)
        proc_yield(p);
    proc_wait(p, -1, 0, &o, NULL);
    report("switch", (double)(clock_mono() - t) / (double)(2 * n), "ns");
}

struct flow {
    int fds[2];
    size_t block;
    uint64_t total;
};

static struct outcome writer(struct proc *p, void *arg)
{
    const struct flow *f = arg;
    static char buf[4 * BLOCK];
    proc_close(p, f->fds[0]);
    for (uint64_t n = 0; n < f->total; n += f->block)
        if (proc_write(p, f->fds[1], buf, f->block) < 0)
            break;
    return done();
}

static void bench_pipe(struct proc *p, const char *name, size_t block, uint64_t total, bool peek)
{
    struct flow f = {.block = block, .total = (uint64_t)rounds((long)total)};
    static char buf[4 * BLOCK];
    struct outcome o;
    struct proc *c;
    uint64_t got = 0;
    int64_t t = clock_mono();
    if (proc_pipe(p, f.fds, false) < 0 || proc_fork(p, false, writer, &f, &c) < 0)
        return;
    proc_close(p, f.fds[1]);
    for (;;) {
        const void *q;
        size_t k = 0;
        ssize_t r;
        if (peek) {
            r = proc_peek(p, f.fds[0], &q, &k);
            if (r < 0 || !k)
                break;
            proc_consume(p, f.fds[0], k);
        } else {
            r = proc_read(p, f.fds[0], buf, block);
            if (r <= 0)
                break;
            k = (size_t)r;
        }
        got += k;
    }
    proc_close(p, f.fds[0]);
    proc_wait(p, -1, 0, &o, NULL);
    report(name, (double)got / (double)(clock_mono() - t) * 1000, "MB/s");
}

static struct outcome all(struct proc *p, void *arg)
{
    (void)arg;
    bench_fork(p);
    bench_exec(p);
    bench_switch(p);
    bench_pipe(p, "pipe 64K write, peek", BLOCK, UINT64_C(20) << 30, true);
    bench_pipe(p, "pipe 64K write, read", BLOCK, UINT64_C(10) << 30, false);
    bench_pipe(p, "pipe 256K write, read", 4 * (size_t)BLOCK, UINT64_C(10) << 30, false);
    bench_pipe(p, "pipe 4K write, read", 4096, UINT64_C(5) << 30, false);
    bench_pipe(p, "pipe 100 B write, peek", 100, UINT64_C(1) << 30, true);
    return done();
}

int main(int argc, char **argv)
{
    struct vfs_quota q = {.bytes = UINT64_C(1) << 30, .inodes = 10000};
    struct vfs_cred cred = {.uid = 1000, .gid = 1000};
    struct limits l = limits_default();
    struct vfs *v = vfs_new(&q);
    struct proc_set *ps = v ? proc_set_new(v, &l, NULL) : NULL;
    struct proc *p;
    int64_t wake;
    static const char *const names[] = {"true"};
    if (argc > 1)
        scale = strtod(argv[1], NULL);
    if (!ps || proc_base_tree(v, names, 1, NULL, 0) < 0 || proc_provide(ps) < 0 ||
        proc_add_engine(ps, &nothing, NULL) < 0)
        return 1;
    proc_begin(ps);
    if (proc_start(ps, &cred, STR("/home/user"), 022, NULL, NULL, NULL, all, NULL, &p) < 0)
        return 1;
    while (!proc_run(ps, p, &wake))
        ;
    proc_set_free(ps);
    vfs_free(v);
    return 0;
}
