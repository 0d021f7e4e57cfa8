/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Programs in WebAssembly: how they run and end, what they can and cannot do to the host and to each other. The modules
 * are in modules/, a userland of their own. What is right is what the same program does as a Linux process.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "engine/engine.h"
#include "proc/test/proc_test.h"
#include "wasm/wasm.h"

#define WORLD_PROGRAMS 128

static struct world w;
static struct wasm_world *wasm;
static int dir_fd = -1;

static void begin(void)
{
    const char *dir = getenv("WASM_USERLAND");
    world_init(&w);
    dir_fd = open(dir ? dir : "", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct wasm_config cfg = {.dir_fd = dir_fd, .programs = WORLD_PROGRAMS, .scan = wasm_prepare() >= 0};
    wasm = wasm_world_new(&cfg);
    CHECK_INT(proc_add_engine(w.ps, &engine_wasm, wasm), 0);
}

static void end(void)
{
    world_done(&w);
    wasm_world_free(wasm);
    CHECK_INT(close(dir_fd), 0);
}

static char **no_env(void *arg)
{
    static char *none[] = {NULL};
    (void)arg;
    return none;
}

/* The file that stands for a tool, made if it is not there. */
static void tool_file(struct proc *p, const char *name, char path[64])
{
    snprintf(path, 64, "/tmp/%s", name);
    int fd = proc_open(p, str_c(path), O_WRONLY | O_CREAT | O_EXCL, 0755);
    if (fd < 0)
        return;
    put(p, fd, PROC_TOOL_MAGIC);
    put(p, fd, name);
    put(p, fd, "\n");
    CHECK_INT(proc_close(p, fd), 0);
}

/* Runs a tool in @p itself: its outcome; of one that did not begin, exit(128 - errno). */
static struct outcome run_tool(struct proc *p, const char *name)
{
    char path[64], arg[64];
    struct outcome o;
    tool_file(p, name, path);
    snprintf(arg, sizeof(arg), "%s", name);
    char *argv[] = {arg, NULL};
    int r = proc_exec(p, str_c(path), 1, argv, no_env, NULL, &o);
    return r < 0 ? exited(128 + r) : o;
}

static struct outcome main_tool(struct proc *p, void *arg)
{
    return run_tool(p, arg);
}

/* Runs one tool as the command line: its outcome. */
static struct outcome run_one(const char *name)
{
    buf_clear(&w.out);
    return world_run(&w, main_tool, name);
}

static void check_exit(const char *name, int code)
{
    struct outcome o = run_one(name);
    if (!CHECK_INT(o.kind, OUTCOME_EXITED) || !CHECK_INT(o.code, code))
        fprintf(stderr, "# %s: kind %d code %d signal %d: %s\n", name, o.kind, o.code, o.signal, w.out.p);
}

static void check_killed(const char *name, int sig, const char *message)
{
    struct outcome o = run_one(name);
    if (!CHECK_INT(o.kind, OUTCOME_KILLED) || !CHECK_INT(o.signal, sig) || !CHECK(strcmp(w.out.p, message) == 0))
        fprintf(stderr, "# %s: kind %d code %d signal %d: %s\n", name, o.kind, o.code, o.signal, w.out.p);
}

TEST(runs)
{
    begin();
    check_exit("hello", 0);
    CHECK(strcmp(w.out.p, "hello\n") == 0);
    check_exit("greet", 0);
    CHECK(strcmp(w.out.p, "hello\n") == 0);
    check_exit("seven", 7);
    check_exit("catches", 5);
    end();
}

TEST(traps)
{
    begin();
    for (int i = 0; i < 20; i++) {
        check_killed("bounds", SIGSEGV, "bounds: memory access out of bounds (trap)\n");
        check_killed("never", SIGILL, "never: unreachable code reached (trap)\n");
        check_killed("divide", SIGFPE, "divide: integer division by zero (trap)\n");
        check_killed("nowhere", SIGSEGV, "nowhere: call through a null pointer (trap)\n");
        check_killed("deep", SIGSEGV, "deep: call stack exhausted (trap)\n");
        check_killed("throws", SIGILL, "throws: exception that nobody catches (trap)\n");
        check_exit("hello", 0);
    }
    end();
}

TEST(does_not_load)
{
    begin();
    check_exit("missing", 128 - ENOEXEC);
    CHECK(strstr(w.out.p, "missing: unknown import") && strstr(w.out.p, "env::fork"));
    check_exit("nostart", 128 - ENOEXEC);
    CHECK(strstr(w.out.p, "nostart: ") && strstr(w.out.p, "_start"));
    check_exit("gone", 128 - ENOEXEC);
    CHECK(strstr(w.out.p, "precompiled file is missing"));
    check_exit("unheard-of", 128 - ENOEXEC); /* nobody claims it */
    CHECK_INT(w.out.n, 0);
    end();
}

TEST(endless_loop)
{
    begin();
    proc_set_limits(w.ps)->wall_ms = 50;
    int64_t t = clock_mono();
    struct outcome o = run_one("loop");
    t = clock_mono() - t;
    CHECK_INT(o.kind, OUTCOME_KILLED);
    CHECK_INT(o.reason, REASON_TIMEOUT);
    /* Far more than it takes, for a machine that does other things. */
    CHECK(t >= 49 * CLOCK_MS && t < 2 * CLOCK_S);
    fprintf(stderr, "# stopped %.2f ms after the limit\n", (double)(t - 50 * CLOCK_MS) / CLOCK_MS);
    proc_set_limits(w.ps)->wall_ms = 0;
    proc_set_limits(w.ps)->cpu_ms = 30;
    o = run_one("loop");
    CHECK_INT(o.reason, REASON_CPU);
    proc_set_limits(w.ps)->cpu_ms = 100000;
    check_exit("hello", 0);
    end();
}

static struct outcome main_timer(struct proc *p, void *arg)
{
    struct outcome o;
    struct proc *c = spawn(p, main_tool, "loop");
    (void)arg;
    CHECK_INT(proc_sleep(p, proc_now(p->ps) + 20 * CLOCK_MS), 0);
    CHECK_INT(proc_kill(p, c->pid, SIGTERM), 0);
    wait_for(p, -1, &o);
    CHECK_INT(o.kind, OUTCOME_KILLED);
    CHECK_INT(o.signal, SIGTERM);
    return exited(3);
}

TEST(timer_beside_a_loop)
{
    begin();
    CHECK_INT(world_run(&w, main_timer, NULL).code, 3);
    end();
}

TEST(memory_limit)
{
    begin();
    wasm_world_load(wasm, NULL);
    struct mem_account *acc = proc_set_mem(w.ps);
    proc_set_limits(w.ps)->memory = acc->used + (100u << 20);
    check_exit("grows", 6); /* of 16 MiB each */
    CHECK(!acc->hit && acc->peak > (96u << 20));
    CHECK(acc->used < (4u << 20));
    proc_set_limits(w.ps)->memory = acc->used + (1u << 20);
    check_exit("dirty", 128 - ENOMEM); /* 4 MiB from the beginning */
    CHECK(strcmp(w.out.p, "dirty: not enough memory\n") == 0);
    end();
}

TEST(slots_are_clean)
{
    begin();
    for (int i = 0; i < 300; i++)
        check_exit(i % 3 == 2 ? "hello" : "dirty", 0);
    end();
}

#define SUSPENDED 50

/* cat | cat | … : all of them wait at once, then a line goes through. */
static struct outcome main_chain(struct proc *p, void *arg)
{
    bool kill_them = arg != NULL;
    int in[2], next[2], pids[SUSPENDED];
    char line[16];
    CHECK_INT(proc_pipe(p, in, true), 0);
    int first = in[1], from = in[0];
    for (int i = 0; i < SUSPENDED; i++) {
        CHECK_INT(proc_pipe(p, next, true), 0);
        int saved_in = proc_dup(p, 0, 200, true), saved_out = proc_dup(p, 1, 200, true);
        CHECK_INT(proc_dup2(p, from, 0, false), 0);
        CHECK_INT(proc_dup2(p, next[1], 1, false), 1);
        struct proc *c = spawn(p, main_tool, "cat");
        pids[i] = c->pid;
        CHECK_INT(proc_dup2(p, saved_in, 0, false), 0);
        CHECK_INT(proc_dup2(p, saved_out, 1, false), 1);
        for (int j = 0; j < 4; j++)
            CHECK_INT(proc_close(p, ((int[]){saved_in, saved_out, from, next[1]})[j]), 0);
        from = next[0];
        proc_yield(p);
    }
    CHECK_INT(proc_sleep(p, proc_now(p->ps) + 5 * CLOCK_MS), 0);
    if (kill_them)
        for (int i = 0; i < SUSPENDED; i++)
            CHECK_INT(proc_kill(p, pids[i], SIGKILL), 0);
    else
        put(p, first, "through\n");
    CHECK_INT(proc_close(p, first), 0);
    ssize_t n = proc_read(p, from, line, sizeof(line));
    CHECK_INT(n, kill_them ? 0 : 8);
    for (int i = 0; i < SUSPENDED; i++) {
        struct outcome o;
        wait_for(p, -1, &o);
        CHECK_INT(o.kind, kill_them ? OUTCOME_KILLED : OUTCOME_EXITED);
        CHECK_INT(o.code, 0);
    }
    return exited(0);
}

TEST(fifty_suspended)
{
    begin();
    CHECK_INT(world_run(&w, main_chain, NULL).code, 0);
    CHECK_INT(world_run(&w, main_chain, "kill").code, 0);
    CHECK_INT(world_run(&w, main_chain, NULL).code, 0);
    end();
}

static struct outcome main_many(struct proc *p, void *arg)
{
    int pipe[2], ended = 0;
    (void)arg;
    CHECK_INT(proc_pipe(p, pipe, true), 0);
    CHECK_INT(proc_dup2(p, pipe[0], 0, false), 0);
    for (int i = 0; i < WORLD_PROGRAMS + 3; i++)
        spawn(p, main_tool, "cat");
    CHECK_INT(proc_sleep(p, proc_now(p->ps) + 5 * CLOCK_MS), 0);
    CHECK_INT(proc_close(p, pipe[1]), 0);
    for (int i = 0; i < WORLD_PROGRAMS + 3; i++) {
        struct outcome o;
        wait_for(p, -1, &o);
        ended += o.kind == OUTCOME_EXITED && o.code == 0;
    }
    return exited(ended);
}

TEST(too_many)
{
    begin();
    proc_set_limits(w.ps)->memory = UINT64_C(4) << 30;
    CHECK_INT(world_run(&w, main_many, NULL).code, WORLD_PROGRAMS);
    CHECK(strstr(w.out.p, "cat: too many programs run at once\n") != NULL);
    end();
}

TEST(tools)
{
    struct wasm_tool *v = NULL;
    size_t n = 0;
    int fd = open(getenv("WASM_USERLAND"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(wasm_tools_read(fd, &v, &n, NULL), 0);
    CHECK(n > 10);
    for (size_t i = 1; i < n; i++)
        CHECK(strcmp(v[i - 1].name, v[i].name) < 0);
    for (size_t i = 0; i < n; i++)
        if (strcmp(v[i].name, "greet") == 0)
            CHECK(strcmp(v[i].module, "hello") == 0 && strcmp(v[i].licence, "Apache-2.0") == 0);
    wasm_tools_free(v);
    CHECK_INT(close(fd), 0);
    CHECK_INT(wasm_tools_read(-1, &v, &n, NULL), -ENOENT);
}

/* ---- modules of the user's own: their "compiler" gives the precompiled file that the module's bytes name ---- */

static int compiled;

static bool at_once(void *arg)
{
    (void)arg;
    return true;
}

static int compile(void *arg, struct proc *p, struct str bytes, struct err *err)
{
    char name[64];
    (void)arg;
    compiled++;
    if (proc_await(p, at_once, NULL) < 0)
        return -EINTR;
    struct str what = str_from(bytes, 4);
    what.n = (size_t)str_find(what, '\n', 0);
    snprintf(name, sizeof(name), "%.*s.cwasm", (int)what.n, what.p);
    int fd = wasm_userland_open(dir_fd, name);
    return fd < 0 ? err_set(err, fd, "there is none of that name") : fd;
}

static void begin_own(bool may)
{
    begin();
    wasm_world_free(wasm);
    const struct wasm_config cfg = {
        .dir_fd = -1, .programs = WORLD_PROGRAMS, .scan = wasm_prepare() >= 0, .compile = may ? compile : NULL};
    wasm = wasm_world_new(&cfg);
    proc_set_free(w.ps);
    const struct limits l = limits_default();
    w.ps = proc_set_new(w.v, &l, &(struct proc_host){.arg = &w});
    CHECK_INT(proc_add_engine(w.ps, &engine_wasm, wasm), 0);
    compiled = 0;
}

/* Runs the module of the bytes "\0asm", @arg and a line end. */
static struct outcome main_own(struct proc *p, void *arg)
{
    char path[] = "/tmp/own", name[] = "own";
    char *argv[] = {name, NULL};
    struct outcome o;
    int fd = proc_open(p, str_c(path), O_WRONLY | O_CREAT | O_TRUNC, 0755);
    CHECK_INT(proc_write(p, fd, "\0asm", 4), 4);
    put(p, fd, arg);
    put(p, fd, "\n");
    CHECK_INT(proc_close(p, fd), 0);
    int r = proc_exec(p, str_c(path), 1, argv, no_env, NULL, &o);
    return r < 0 ? exited(128 + r) : o;
}

static void check_own(const char *what, int code, const char *out, int compiled_so_far)
{
    buf_clear(&w.out);
    struct outcome o = world_run(&w, main_own, what);
    CHECK_INT(o.kind, OUTCOME_EXITED);
    CHECK_INT(o.code, code);
    CHECK_STR(buf_str(&w.out), str_c(out));
    CHECK_INT(compiled, compiled_so_far);
}

TEST(own_modules_are_compiled_once)
{
    begin_own(true);
    check_own("hello", 0, "hello\n", 1);
    check_own("seven", 7, "", 2);
    check_own("hello", 0, "hello\n", 2);
    check_own("nothing", (uint8_t)(128 - ENOEXEC), "own: there is none of that name\n", 3);
    check_own("nothing", (uint8_t)(128 - ENOEXEC), "own: there is none of that name\n", 4);
    check_own("manifest", (uint8_t)(128 - ENOEXEC), "own: there is none of that name\n", 5);
    end();
}

TEST(own_modules_that_stay_are_few)
{
    char name[32];
    begin_own(true);
    /* Different bytes, and the same file. */
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i <= LIMIT_WASM_OWN; i++) {
            snprintf(name, sizeof(name), "seven\n%u", i);
            check_own(name, 7, "", (int)(round * (LIMIT_WASM_OWN + 1) + i + 1));
        }
    }
    check_own(name, 7, "", 2 * (LIMIT_WASM_OWN + 1));
    end();
}

TEST(own_modules_may_be_refused)
{
    begin_own(false);
    buf_clear(&w.out);
    CHECK_INT(world_run(&w, main_own, "hello").code, (uint8_t)(128 - ENOEXEC));
    CHECK(str_starts(buf_str(&w.out), STR("own: a module of the session's own, and only programs of the userland")));
    end();
}
