/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>

#include "base/num.h"
#include "wasm/test/wasi_test.h"

/*
 * Processes: spawn, wait, exec, kill, and programs that talk through pipes. A file that begins with "PROG\n" and a name
 * is a program of this test, run by an engine of its own, as the engine for WebAssembly will.
 */

#define P(s) text(g, s), sizeof(s) - 1

static int run_again(struct proc *p, struct wasi *w, struct outcome *ret);

/* ---- the programs ---- */

/* Reads all of 0 and writes it to 1 in capitals. */
static void upper(struct prog *g)
{
    char buf[1000];
    for (;;) {
        int n = read_some(g, 0, buf, sizeof buf);
        if (n <= 0)
            return;
        uint32_t iov = room(g, 16), p = room(g, (uint32_t)n);
        for (int i = 0; i < n; i++)
            g->mem[p + (uint32_t)i] = (uint8_t)(buf[i] >= 'a' && buf[i] <= 'z' ? buf[i] - 32 : buf[i]);
        set32(g, iov, p);
        set32(g, iov + 4, (uint32_t)n);
        if (CALL(g, fd_write, 1, iov, 1, iov + 8))
            return;
    }
}

/* Writes its arguments and environment. */
static void show(struct prog *g)
{
    for (int i = 0; i < g->w.argc; i++) {
        write_text(g, 1, g->w.argv[i]);
        write_text(g, 1, " ");
    }
    for (uint32_t i = 0; i < g->w.n_env; i++) {
        write_text(g, 1, g->w.env[i]);
        write_text(g, 1, " ");
    }
    CALL(g, proc_exit, 7);
}

static void forever(struct prog *g)
{
    while (call_v(g, PREVIEW1, "sched_yield", NULL, 0) == 0)
        ;
}

/* Which of the descriptors up to 9 are open, and the working directory. */
static void open_fds(struct prog *g)
{
    char line[64] = "";
    for (uint32_t fd = 0; fd < 10; fd++)
        line[fd] = CALL(g, fd_fdstat_get, fd, 64) ? '-' : (char)('0' + fd);
    write_text(g, 1, line);
    CHECK_INT(HCALL(g, getcwd, 64, 100, 200), 0);
    g->mem[64 + get32(g, 200)] = 0;
    write_text(g, 1, (char *)g->mem + 64);
}

static void raises(struct prog *g)
{
    CALL(g, proc_raise, 15);
}

static void becomes(struct prog *g)
{
    static const char argv[] = "show\0by exec", env[] = "PATH=/none:/tmp";
    memcpy(g->mem + 256, argv, sizeof argv);
    memcpy(g->mem + 512, env, sizeof env);
    CHECK_INT(HCALL(g, exec, P("none"), 256, sizeof argv, 512, sizeof env, 1), E_NOENT);
    CHECK_INT(HCALL(g, exec, P("show"), 256, sizeof argv, 512, sizeof env, 2), E_INVAL);
    CHECK_INT(HCALL(g, exec, P("show"), 256, sizeof argv, 512, sizeof env, 1), WASI_END);
    CHECK_INT(g->w.end, WASI_EXEC);
}

static const struct {
    const char *name;
    void (*main)(struct prog *g);
} programs[] = {
    {"upper", upper},       {"show", show},     {"forever", forever},
    {"open_fds", open_fds}, {"raises", raises}, {"becomes", becomes},
};

static int claims(void *engine, const struct exec_image *img)
{
    (void)engine;
    return str_starts(img->head, STR("PROG\n"));
}

static int run(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    (void)engine;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (!str_eqc(str_from(img->head, 5), programs[i].name))
            continue;
        struct prog *g = mem_alloc(sizeof *g);
        prog_init(g, p);
        struct wasi w = g->w;
        CHECK_INT(wasi_init(&w, p, img), 0);
        w.mem = g->mem;
        w.mem_n = MEM_BYTES;
        w.engine = g;
        w.refresh = g->w.refresh;
        g->w = w;
        programs[i].main(g);
        int r = 0;
        *ret = exited(g->w.end == WASI_EXITED ? (int)g->w.exit_code : 0);
        if (g->w.end == WASI_EXEC)
            r = run_again(p, &g->w, ret);
        prog_done(g);
        mem_free(g);
        return r;
    }
    return -ENOEXEC;
}

static char **given(void *arg)
{
    return arg;
}

/* What the engine does on WASI_EXEC. */
static int run_again(struct proc *p, struct wasi *w, struct outcome *ret)
{
    int argc = 0;
    while (w->exec_argv[argc])
        argc++;
    return proc_exec(p, w->exec_path, argc, w->exec_argv, given, w->exec_env, ret);
}

static const struct engine_ops engine_test = {.name = "test", .tier = "isolate", .claims = claims, .run = run};

/* ---- the parent ---- */

static void install(struct prog *g)
{
    CHECK_INT(proc_add_engine(g->w.p->ps, &engine_test, NULL), 0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char path[64], content[64];
        (void)snprintf(path, sizeof path, "tmp/%s", programs[i].name);
        (void)snprintf(content, sizeof content, "PROG\n%s", programs[i].name);
        CHECK_INT(HCALL(g, create_mode, 0755), 0);
        int fd = open_at(g, path, 1, 7);
        CHECK(write_text(g, (uint32_t)fd, content) > 0);
        CHECK_INT(CALL(g, fd_close, fd), 0);
    }
}

struct action {
    uint32_t kind, fd, fd2;
};

/* spawn of @name with itself as only argument: the pid, or a negative errno of WASI. */
static int start_with(struct prog *g, const char *name, const struct action *a, uint32_t n, uint32_t flags)
{
    static const char env[] = "PATH=/tmp\0A=b";
    uint32_t path = text(g, name), argv = room(g, (uint32_t)strlen(name) + 1), e = room(g, sizeof env);
    uint32_t actions = room(g, 12 * n), ret = room(g, 4);
    memcpy(g->mem + argv, name, strlen(name) + 1);
    memcpy(g->mem + e, env, sizeof env);
    if (n)
        memcpy(g->mem + actions, a, 12 * n);
    int r = HCALL(g, spawn, path, strlen(name), argv, strlen(name) + 1, e, sizeof env, actions, n, flags, ret);
    return r ? -r : (int)get32(g, ret);
}

static int start(struct prog *g, const char *name)
{
    return start_with(g, name, NULL, 0, 1);
}

/* wait(pid): the status word, or a negative errno of WASI. */
static int status_of(struct prog *g, int pid)
{
    int r = HCALL(g, wait, (uint32_t)pid, 0, 64, 68);
    if (r)
        return -r;
    CHECK(pid < 0 || (int)get32(g, 64) == pid);
    return (int)get32(g, 68);
}

static void spawns(struct prog *g)
{
    install(g);
    int pid = start(g, "show");
    CHECK(pid > 0);
    CHECK_INT(status_of(g, pid), 7 << 8);
    CHECK_INT(status_of(g, pid), -E_CHILD);
    CHECK_INT(status_of(g, start(g, "raises")), SIGTERM);
    CHECK_INT(start_with(g, "show", NULL, 0, 0), -E_NOENT);
    CHECK_INT(start(g, "none"), -E_NOENT);
    CHECK_INT(start(g, ""), -E_NOENT);
    CHECK_INT(start(g, "/etc/passwd"), -E_ACCES);
    CHECK_INT(start(g, "/tmp"), -E_ACCES);
    CHECK_INT(start_with(g, "show", NULL, 0, 8), -E_INVAL);
    /* A file that no engine knows, and one that its engine cannot begin. */
    CHECK_INT(HCALL(g, create_mode, 0755), 0);
    CHECK_INT(write_text(g, (uint32_t)open_at(g, "tmp/odd", 1, 7), "what is this"), 12);
    CHECK_INT(start(g, "odd"), -E_NOEXEC);
    CHECK_INT(HCALL(g, create_mode, 0755), 0);
    CHECK_INT(write_text(g, (uint32_t)open_at(g, "tmp/broken", 1, 7), "PROG\nnone"), 9);
    CHECK_INT(start(g, "broken"), -E_NOEXEC);
    /* No child is left of those. */
    CHECK_INT(status_of(g, -1), -E_CHILD);
    /* Groups, ids. */
    pid = start_with(g, "forever", NULL, 0, 3);
    CHECK(pid > 0);
    CHECK_INT(proc_find(g->w.p->ps, pid)->pgid, pid);
    CHECK_INT(HCALL(g, wait, (uint32_t)pid, 1, 64, 68), 0);
    CHECK_INT(get32(g, 64), 0);
    CHECK_INT(HCALL(g, wait, (uint32_t)pid, 4, 64, 68), E_INVAL);
    CHECK_INT(HCALL(g, kill, (uint32_t)pid, 0), 0);
    CHECK_INT(HCALL(g, kill, (uint32_t)pid, 65), E_INVAL);
    CHECK_INT(HCALL(g, kill, 99999, 0), E_SRCH);
    CHECK_INT(HCALL(g, kill, (uint32_t)-pid, SIGKILL), 0);
    CHECK_INT(status_of(g, pid), SIGKILL);
    CHECK_INT(HCALL(g, ids, 64), 0);
    CHECK_INT(get32(g, 64), g->w.p->pid);
    CHECK_INT(get32(g, 80), 1000);
    CHECK_INT(HCALL(g, cpu_times, 64), 0);
}

TEST(spawn_and_wait)
{
    run_prog(spawns, "show PATH=/tmp A=b ");
}

static void becoming(struct prog *g)
{
    install(g);
    CHECK_INT(status_of(g, start(g, "becomes")), 7 << 8);
}

TEST(exec_replaces_the_program)
{
    run_prog(becoming, "show by exec PATH=/none:/tmp ");
}

/* Letters go through a child and come back as capitals, more than pipes hold. */
static void talks(struct prog *g)
{
    enum { TOTAL = 300000 };
    install(g);
    CHECK_INT(HCALL(g, pipe, 1, 64), 0);
    CHECK_INT(HCALL(g, pipe, 1, 72), 0);
    uint32_t to_r = get32(g, 64), to_w = get32(g, 68), from_r = get32(g, 72), from_w = get32(g, 76);
    const struct action a[] = {{1, to_r, 0}, {1, from_w, 1}};
    int pid = start_with(g, "upper", a, 2, 1);
    CHECK(pid > 0);
    CHECK_INT(CALL(g, fd_close, to_r), 0);
    CHECK_INT(CALL(g, fd_close, from_w), 0);
    uint32_t sent = 0, got = 0, iov = 128;
    memset(g->mem + 4096, 'x', 8192);
    while (got < TOTAL && !test_failed()) {
        uint32_t n = sent - got < 100000 ? NUM_MIN(8192u, TOTAL - sent) : 0;
        set32(g, iov, 4096);
        set32(g, iov + 4, n);
        if (n) {
            CHECK_INT(CALL(g, fd_write, to_w, iov, 1, 136), 0);
            CHECK_INT(get32(g, 136), n);
            sent += n;
        }
        if (sent == TOTAL && n)
            (void)CALL(g, fd_close, to_w);
        char buf[4096];
        int r = read_some(g, from_r, buf, sizeof buf);
        CHECK(r > 0);
        for (int i = 0; i < r; i++)
            if (buf[i] != 'X')
                CHECK_INT(buf[i], 'X');
        got += r > 0 ? (uint32_t)r : 0;
    }
    char c;
    CHECK_INT(read_some(g, from_r, &c, 1), 0);
    CHECK_INT(status_of(g, pid), 0);
}

TEST(two_programs_talk)
{
    run_prog(talks, "");
}

static void descriptors(struct prog *g)
{
    install(g);
    int dir = open_at(g, "etc", 2, 5), f = open_at(g, "tmp/show", 0, 5);
    CHECK_INT(dir, 4);
    CHECK_INT(f, 5);
    CHECK_INT(HCALL(g, cloexec, 5, 1, 64), 0);
    CHECK_INT(status_of(g, start(g, "open_fds")), 0);
    write_text(g, 1, "\n");
    /* The same number stays open; closing what is closed is no error; a directory becomes the working one. */
    const struct action a[] = {{1, 5, 5}, {0, 99, 0}, {1, 5, 8}, {2, 4, 0}, {0, 4, 0}, {0, 0, 0}};
    CHECK_INT(status_of(g, start_with(g, "open_fds", a, 6, 1)), 0);
    write_text(g, 1, "\n");
    const struct action bad[][1] = {{{1, 98, 1}}, {{2, 98, 0}}, {{2, 1, 0}}, {{3, 0, 0}}, {{1, 3, 7}}};
    const int errors[] = {E_BADF, E_BADF, E_NOTDIR, E_INVAL, E_BADF};
    for (int i = 0; i < 5; i++)
        CHECK_INT(start_with(g, "open_fds", bad[i], 1, 1), -errors[i]);
    const struct action root[] = {{2, 3, 0}};
    CHECK_INT(status_of(g, start_with(g, "open_fds", root, 1, 1)), 0);
    CHECK_INT(status_of(g, -1), -E_CHILD);
}

TEST(descriptors_of_a_child)
{
    run_prog(descriptors, "01234-----/home/user\n-123-5--8-/etc\n01234-----/");
}

static void blocks(struct prog *g)
{
    install(g);
    uint32_t path = text(g, "/tmp/show");
    memcpy(g->mem + 256, "a\0b", 4);
    CHECK_INT(HCALL(g, spawn, path, 9, 256, 3, 0, 0, 0, 0, 0, 64), E_INVAL); /* the last is not ended */
    CHECK_INT(HCALL(g, spawn, path, 9, MEM_BYTES - 2, 3, 0, 0, 0, 0, 0, 64), E_FAULT);
    CHECK_INT(HCALL(g, spawn, path, 9, 256, 4, MEM_BYTES, 1, 0, 0, 0, 64), E_FAULT);
    CHECK_INT(HCALL(g, spawn, path, 9, 256, 4, 0, 0, MEM_BYTES - 11, 1, 0, 64), E_FAULT);
    CHECK_INT(HCALL(g, spawn, path, 9, 256, 4, 0, 0, 0, 4097, 0, 64), E_INVAL);
    CHECK_INT(HCALL(g, spawn, path, 9, 256, 4, 0, 0, 0, 0, 0, MEM_BYTES - 3), E_FAULT);
    CHECK_INT(HCALL(g, spawn, path, 5000, 256, 4, 0, 0, 0, 0, 0, 64), E_NAMETOOLONG);
    /* No arguments: one empty, as in Linux. */
    CHECK_INT(HCALL(g, spawn, path, 9, 0, 0, 0, 0, 0, 0, 0, 64), 0);
    CHECK_INT(status_of(g, (int)get32(g, 64)), 7 << 8);
    /* Empty strings count, and their pointers do. */
    g->w.mem_n = MEM_BYTES;
    memset(g->mem + 1024, 0, 20000);
    CHECK_INT(HCALL(g, spawn, path, 9, 1024, 20000, 0, 0, 0, 0, 0, 64), 0);
    CHECK_INT(status_of(g, (int)get32(g, 64)), 7 << 8);
}

TEST(blocks_of_strings)
{
    struct outcome o;
    char want[20003];
    want[0] = ' ';
    memset(want + 1, ' ', 20000);
    want[20001] = 0;
    o = run_prog(blocks, want);
    CHECK_INT(o.kind, OUTCOME_EXITED);
}

/* ---- ends at the wrong moment ---- */

static struct outcome kills(struct proc *p, void *arg)
{
    CHECK_INT(proc_kill(p, *(int *)arg, SIGKILL), 0);
    return exited(0);
}

/* One that is to run between a fork and what follows kills the parent. */
static void parent_killed(struct prog *g)
{
    install(g);
    int self = g->w.p->pid;
    spawn(g->w.p, kills, &self);
    CHECK_INT(start(g, "show"), -WASI_END);
    CHECK_INT(g->w.end, WASI_KILLED);
}

TEST(parent_is_killed_in_spawn)
{
    /* The child goes on, as after fork. */
    CHECK_INT(run_prog(parent_killed, "show PATH=/tmp A=b ").signal, SIGKILL);
}

static void child_killed(struct prog *g)
{
    install(g);
    int next = proc_next_pid(g->w.p->ps) + 1; /* after the killer */
    int killer = spawn(g->w.p, kills, &next)->pid;
    int pid = start(g, "show");
    CHECK_INT(pid, next);
    CHECK_INT(status_of(g, pid), SIGKILL);
    CHECK_INT(status_of(g, killer), 0);
}

TEST(child_is_killed_before_its_exec)
{
    run_prog(child_killed, "");
}

static void limited(struct prog *g)
{
    install(g);
    proc_set_limits(g->w.p->ps)->processes = 4;
    int pids[8], n = 0, r;
    while ((r = start(g, "forever")) > 0 && n < 8)
        pids[n++] = r;
    CHECK_INT(r, -E_AGAIN);
    CHECK_INT(n, 3);
    for (int i = 0; i < n; i++) {
        CHECK_INT(HCALL(g, kill, (uint32_t)pids[i], SIGTERM), 0);
        CHECK_INT(status_of(g, pids[i]), SIGTERM);
    }
    for (int i = 0; i < 40; i++) {
        mem_fail_after((uint64_t)i + 1);
        r = start(g, "show");
        mem_fail_after(0);
        CHECK(r > 0 || r == -E_NOMEM);
        if (r > 0)
            CHECK_INT(status_of(g, r), 7 << 8);
    }
}

TEST(limits_and_short_memory)
{
    struct outcome o = run_prog(limited, NULL);
    CHECK_INT(o.kind, OUTCOME_EXITED);
}

/* A bomb: each one starts others until the command line is ended. */
static void bomb(struct prog *g)
{
    install(g);
    proc_set_limits(g->w.p->ps)->processes = 64; /* proc_check() at each look is dear with more */
    for (int i = 0; i < 100000; i++)
        if (start(g, "forever") == -WASI_END)
            return;
    CHECK(false); /* never ended */
}

TEST(spawn_bombs_end)
{
    CHECK_INT(run_prog(bomb, "").reason, REASON_PROCESSES);
}
