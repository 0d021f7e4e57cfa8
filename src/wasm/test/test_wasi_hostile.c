/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "wasm/test/wasi_test.h"

/*
 * Hostile arguments: for each function a call that is good, then the same with each argument, and each two of them, at
 * the edges of memory and of their type. Nothing may crash (the sanitizers' build is the judge), and a call that is
 * refused as `fault` has changed neither memory, nor the tree, nor the descriptors.
 */

/* Places in memory that the good calls use. */
enum {
    PATH = 256,  /* "tmp/f", a file */
    PATH2 = 272, /* "tmp/g", nothing */
    DIRNAME = 288,
    LIST = 320, /* one piece of 8 bytes at DATA */
    DATA = 384,
    SUB = 448, /* a subscription to a clock that is due */
    STRINGS = 512,
    ACTION = 544, /* close 99 */
    OUT = 1024,
};

struct good {
    const char *name;
    uint64_t args[10];
};

#define FILE_FD 4
#define DIR_FD 5
#define ALL ((UINT64_C(1) << 30) - 1)

static const struct good goods[] = {
    {"args_get", {OUT, OUT + 64}},
    {"args_sizes_get", {OUT, OUT + 4}},
    {"clock_res_get", {1, OUT}},
    {"clock_time_get", {1, 1, OUT}},
    {"environ_get", {OUT, OUT + 64}},
    {"environ_sizes_get", {OUT, OUT + 4}},
    {"fd_advise", {FILE_FD, 0, 10, 0}},
    {"fd_allocate", {FILE_FD, 0, 10}},
    {"fd_close", {FILE_FD}},
    {"fd_datasync", {FILE_FD}},
    {"fd_fdstat_get", {FILE_FD, OUT}},
    {"fd_fdstat_set_flags", {FILE_FD, 1}},
    {"fd_fdstat_set_rights", {FILE_FD, 2, 0}},
    {"fd_filestat_get", {FILE_FD, OUT}},
    {"fd_filestat_set_size", {FILE_FD, 5}},
    {"fd_filestat_set_times", {FILE_FD, 1, 2, 5}},
    {"fd_pread", {FILE_FD, LIST, 1, 0, OUT}},
    {"fd_prestat_dir_name", {3, OUT, 1}},
    {"fd_prestat_get", {3, OUT}},
    {"fd_pwrite", {FILE_FD, LIST, 1, 0, OUT}},
    {"fd_read", {FILE_FD, LIST, 1, OUT}},
    {"fd_readdir", {DIR_FD, OUT, 512, 0, OUT + 512}},
    {"fd_renumber", {FILE_FD, DIR_FD}},
    {"fd_seek", {FILE_FD, 1, 0, OUT}},
    {"fd_sync", {FILE_FD}},
    {"fd_tell", {FILE_FD, OUT}},
    {"fd_write", {FILE_FD, LIST, 1, OUT}},
    {"path_create_directory", {3, PATH2, 5}},
    {"path_filestat_get", {3, 0, PATH, 5, OUT}},
    {"path_filestat_set_times", {3, 0, PATH, 5, 1, 2, 5}},
    {"path_link", {3, 0, PATH, 5, 3, PATH2, 5}},
    {"path_open", {3, 0, PATH, 5, 0, ALL, ALL, 0, OUT}},
    {"path_readlink", {3, PATH, 5, OUT, 64, OUT + 64}},
    {"path_remove_directory", {3, PATH2, 5}},
    {"path_rename", {3, PATH, 5, 3, PATH2, 5}},
    {"path_symlink", {PATH, 5, 3, PATH2, 5}},
    {"path_unlink_file", {3, PATH, 5}},
    {"poll_oneoff", {SUB, OUT, 1, OUT + 64}},
    {"proc_exit", {1}},
    {"proc_raise", {0}},
    {"random_get", {OUT, 16}},
    {"sched_yield", {0}},
    {"sock_accept", {FILE_FD, 0, OUT}},
    {"sock_recv", {FILE_FD, LIST, 1, 0, OUT, OUT + 4}},
    {"sock_send", {FILE_FD, LIST, 1, 0, OUT}},
    {"sock_shutdown", {FILE_FD, 0}},
    {"spawn", {PATH, 5, STRINGS, 4, STRINGS, 4, ACTION, 1, 0, OUT}},
    {"wait", {UINT32_MAX, 1, OUT, OUT + 4}},
    {"exec", {PATH, 5, STRINGS, 4, STRINGS, 4, 0}},
    {"kill", {1, 0}},
    {"sig_disposition", {1, 0}},
    {"ids", {OUT}},
    {"umask", {022, OUT}},
    {"cpu_times", {OUT}},
    {"pipe", {0, OUT}},
    {"dup", {FILE_FD, 0, 0, OUT}},
    {"dup2", {FILE_FD, 9, 0}},
    {"cloexec", {FILE_FD, 1, OUT}},
    {"isatty", {FILE_FD}},
    {"tty_size", {FILE_FD, OUT}},
    {"create_mode", {0644}},
    {"stat", {3, PATH, 5, 0, OUT}},
    {"fstat", {FILE_FD, OUT}},
    {"chmod", {3, PATH, 5, 0600}},
    {"fchmod", {FILE_FD, 0600}},
    {"utimens", {3, PATH, 5, 0, 1, 2}},
    {"futimens", {FILE_FD, 1, 2}},
    {"chown", {3, PATH, 5, 0, 1000, 1000}},
    {"fchown", {FILE_FD, 1000, 1000}},
    {"access", {3, PATH, 5, 4, 0}},
    {"mkfifo", {3, PATH2, 5}},
    {"chdir", {DIRNAME, 4}},
    {"fchdir", {DIR_FD}},
    {"getcwd", {OUT, 64, OUT + 64}},
    {"realpath", {DIRNAME, 4, OUT, 64, OUT + 64}},
    {"statfs", {DIRNAME, 4, OUT}},
    {"hostname", {OUT, 64, OUT + 64}},
    {"random_seed", {OUT}},
};

static const struct good *good_of(const char *name)
{
    for (size_t i = 0; i < sizeof goods / sizeof *goods; i++)
        if (strcmp(goods[i].name, name) == 0)
            return &goods[i];
    CHECK_C(name, "a good call");
    return &goods[0];
}

/* Everything as the good calls want it. */
static void set_up(struct prog *g)
{
    struct proc *p = g->w.p;
    for (int fd = 4; fd < 1024; fd++)
        (void)proc_close(p, fd);
    prog_done(g);
    prog_init(g, p);
    for (uint32_t i = 0; i < 2; i++) {
        const char *name = i ? "tmp/g" : "tmp/f";
        (void)CALL(g, path_unlink_file, 3, text(g, name), 5);
        (void)CALL(g, path_remove_directory, 3, text(g, name), 5);
    }
    CHECK_INT(open_at(g, "tmp/f", 1, 7), FILE_FD);
    CHECK_INT(open_at(g, "tmp", 2, 7), DIR_FD);
    memcpy(g->mem + PATH, "tmp/f", 5);
    memcpy(g->mem + PATH2, "tmp/g", 5);
    memcpy(g->mem + DIRNAME, "/tmp", 4);
    set32(g, LIST, DATA);
    set32(g, LIST + 4, 8);
    set32(g, SUB + 16, 1);
    memcpy(g->mem + STRINGS, "A=b", 4);
    set32(g, ACTION + 4, 99);
    p->umask = 022;
    g->w.end = WASI_RUNS;
}

/* What may not change in a call that is refused. */
struct before {
    uint64_t generation;
    uint32_t open, umask;
    uint64_t offset;
    uint8_t mem[MEM_BYTES];
};

static uint32_t count_open(const struct proc *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->fds.n; i++)
        n += p->fds.v[i].file != NULL;
    return n;
}

static void look(struct prog *g, struct before *b)
{
    struct proc *p = g->w.p;
    b->generation = vfs_generation(proc_set_vfs(p->ps));
    b->open = count_open(p);
    b->umask = p->umask;
    b->offset = (uint64_t)proc_lseek(p, FILE_FD, 0, SEEK_CUR);
    memcpy(b->mem, g->mem, MEM_BYTES);
}

/* One call the way the engine does it: its answer. */
static int call_raw(struct prog *g, const struct wasi_call *c, const uint64_t *args)
{
    g->w.may_block = false;
    int r = c->fn(&g->w, args);
    if (r == WASI_BLOCK) {
        g->w.may_block = true;
        r = c->fn(&g->w, args);
    }
    g->w.may_block = false;
    return r;
}

static void try_args(struct prog *g, const struct wasi_call *c, const uint64_t *args)
{
    static struct before a, b;
    look(g, &a);
    int r = call_raw(g, c, args);
    CHECK(r >= 0 ? r <= 76 : r == WASI_END);
    bool ok = (r == WASI_END) == (g->w.end != WASI_RUNS);
    if (r == E_FAULT) {
        look(g, &b);
        ok = ok && memcmp(&a, &b, sizeof a) == 0;
    }
    if (!CHECK(ok)) {
        fprintf(stderr, "# %s", c->name);
        for (size_t i = 0; c->params[i]; i++)
            fprintf(stderr, " %llx", (unsigned long long)args[i]);
        fprintf(stderr, " = %d\n", r);
    }
    set_up(g);
}

/* 17 is a signal that does no harm, in Linux and in WASI. */
static const uint64_t edges32[] = {0, MEM_BYTES - 1, MEM_BYTES, UINT32_MAX, UINT32_MAX - 7, INT32_MAX, 17};
static const uint64_t edges64[] = {0, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 40, UINT32_MAX, 7};
#define N_EDGES 7

static uint64_t edge(const struct wasi_call *c, size_t arg, int i)
{
    return c->params[arg] == 'i' ? edges32[i] : edges64[i];
}

/* A good call must be good, or the rest proves little. */
static void try_good(struct prog *g, const struct wasi_call *c, const struct good *k)
{
    int r = call_raw(g, c, k->args);
    CHECK(r != E_FAULT);
    set_up(g);
}

static void pairs(struct prog *g, const struct wasi_call *c, const struct good *k, size_t i)
{
    uint64_t args[16] = {0};
    for (size_t j = i + 1; c->params[j]; j++)
        for (int a = 0; a < N_EDGES; a++)
            for (int b = 0; b < N_EDGES; b++) {
                memcpy(args, k->args, sizeof k->args);
                args[i] = edge(c, i, a);
                args[j] = edge(c, j, b);
                try_args(g, c, args);
            }
}

static void hostile(struct prog *g)
{
    CHECK_INT(sizeof goods / sizeof *goods, wasi_n_calls);
    proc_sigaction(g->w.p, SIGPIPE, PROC_SIG_IGNORE);
    set_up(g);
    for (size_t n = 0; n < wasi_n_calls && !test_failed(); n++) {
        const struct wasi_call *c = &wasi_calls[n];
        const struct good *k = good_of(c->name);
        uint64_t args[16] = {0};
        try_good(g, c, k);
        for (size_t i = 0; c->params[i]; i++) {
            for (int a = 0; a < N_EDGES; a++) {
                memcpy(args, k->args, sizeof k->args);
                args[i] = edge(c, i, a);
                try_args(g, c, args);
            }
            pairs(g, c, k, i);
        }
    }
}

TEST_LIMIT(every_argument_of_every_function, 600)
{
    CHECK_INT(run_prog(hostile, NULL).kind, OUTCOME_EXITED);
}

/* Lists whose entries point outside. */
static void lists(struct prog *g)
{
    static const uint32_t bad[][2] = {{MEM_BYTES, 1}, {0, MEM_BYTES + 1}, {UINT32_MAX, UINT32_MAX}, {MEM_BYTES - 1, 2}};
    static const char *const names[] = {"fd_read", "fd_write", "fd_pread", "fd_pwrite"};
    set_up(g);
    CHECK_INT(write_text(g, FILE_FD, "0123456789"), 10);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) {
            const struct wasi_call *c = find_call(PREVIEW1, names[k]);
            uint64_t args[16] = {FILE_FD, LIST, 2, k < 2 ? OUT : 0, OUT};
            set32(g, LIST, DATA);
            set32(g, LIST + 4, 8);
            set32(g, LIST + 8, bad[i][0]);
            set32(g, LIST + 12, bad[i][1]);
            int r = c->fn(&g->w, args);
            CHECK_INT(r, E_FAULT);
        }
    CHECK_INT(CALL(g, fd_filestat_get, FILE_FD, OUT), 0);
    CHECK_INT(get64(g, OUT + 32), 10);
}

TEST(lists_that_point_outside)
{
    run_prog(lists, NULL);
}

/* A program without memory. */
static void without(struct prog *g)
{
    set_up(g);
    for (size_t n = 0; n < wasi_n_calls; n++) {
        uint64_t args[16] = {0};
        for (int zero = 0; zero < 2; zero++) {
            if (!zero)
                memcpy(args, good_of(wasi_calls[n].name)->args, sizeof goods[0].args);
            else
                memset(args, 0, sizeof args);
            g->w.refresh = NULL;
            g->w.mem = NULL;
            g->w.mem_n = 0;
            int r = call_raw(g, &wasi_calls[n], args);
            CHECK(r >= 0 || r == WASI_END);
            set_up(g);
        }
    }
}

TEST(without_memory)
{
    run_prog(without, NULL);
}

/* The largest memory: every 32-bit pointer is inside, and only what reaches over the end is not. */
static void largest(struct prog *g)
{
    uint64_t n = UINT64_C(1) << 32;
    uint8_t *m = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(m != MAP_FAILED);
    set_up(g);
    int fd = open_at(g, "dev/null", 0, 7);
    g->w.refresh = NULL;
    g->w.mem = m;
    g->w.mem_n = n;
    CHECK_INT(CALL(g, random_get, UINT32_MAX, 1), 0);
    CHECK_INT(CALL(g, random_get, UINT32_MAX, 2), E_FAULT);
    CHECK_INT(CALL(g, fd_filestat_get, FILE_FD, UINT32_MAX - 63), 0);
    CHECK_INT(CALL(g, fd_filestat_get, FILE_FD, UINT32_MAX - 62), E_FAULT);
    memcpy(m + n - 4, "/tmp", 4);
    CHECK_INT(HCALL(g, chdir, UINT32_MAX - 3, 4), 0);
    CHECK_INT(HCALL(g, chdir, UINT32_MAX - 3, 5), E_FAULT);
    /* Pieces that add up to more than 4 GiB: as Linux, a little less than 2 GiB go. */
    for (int i = 0; i < 4; i++) {
        const uint32_t piece[] = {0, UINT32_MAX};
        memcpy(m + LIST + 8 * i, piece, sizeof piece);
    }
    CHECK_INT(CALL(g, fd_write, fd, LIST, 4, OUT), 0);
    uint32_t done;
    memcpy(&done, m + OUT, 4);
    CHECK_INT(done, 0x7ffff000);
    munmap(m, n);
    g->w.mem = g->mem;
    g->w.mem_n = MEM_BYTES;
}

TEST(the_largest_memory)
{
    run_prog(largest, NULL);
}
