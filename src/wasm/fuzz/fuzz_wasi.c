/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sequences of host calls by a program that means harm. Each call is a byte that chooses the function and, for each
 * argument, a byte that chooses a value: a small number, a place in memory, an edge, or the next bytes of the input.
 * Memory begins as the input itself, so that lists, paths and subscriptions are the fuzzer's too. When the process
 * waits for what will never come, it is killed. Afterwards the tree and the processes must be whole.
 */

#include <stdlib.h>

#include "base/mem.h"
#include "engine/engine.h"
#include "proc/proc.h"
#include "wasm/wasi.h"

/* The target (its name is libFuzzer's). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEM_BYTES 8192u
#define CALLS_MAX 200

struct program {
    struct wasi w;
    const uint8_t *data;
    size_t n, at;
    uint8_t mem[MEM_BYTES];
};

static uint64_t take(struct program *g, unsigned bytes)
{
    uint64_t v = 0;
    while (bytes--)
        v = v << 8 | (g->at < g->n ? g->data[g->at++] : 0);
    return v;
}

static uint64_t value(struct program *g)
{
    uint8_t b = (uint8_t)take(g, 1);
    if (b < 64)
        return b & 15; /* a descriptor, a flag, a length */
    if (b < 160)
        return (uint64_t)(b - 64) * 64; /* a place */
    if (b < 200)
        return take(g, 2) % (MEM_BYTES + 64);
    if (b < 210)
        return take(g, 4);
    if (b < 220)
        return take(g, 8);
    static const uint64_t edges[] = {0, 1, MEM_BYTES - 1, MEM_BYTES, UINT32_MAX, UINT64_MAX, INT64_MAX, 1 << 14};
    return edges[b & 7];
}

/* The engine's way: a call that would wait is made again with waiting. */
static int one_call(struct program *g)
{
    const struct wasi_call *c = &wasi_calls[take(g, 1) % wasi_n_calls];
    uint64_t args[16] = {0};
    for (size_t i = 0; c->params[i]; i++) {
        args[i] = value(g);
        if (c->params[i] == 'i')
            args[i] = (uint32_t)args[i];
    }
    g->w.may_block = false;
    int r = c->fn(&g->w, args);
    if (r == WASI_BLOCK) {
        if (c->kind != WASI_WAITS)
            abort();
        g->w.may_block = true;
        r = c->fn(&g->w, args);
    }
    if (r == WASI_BLOCK || r > 76 || (r == WASI_END) != (g->w.end != WASI_RUNS))
        abort();
    return r;
}

static struct outcome program_main(struct proc *p, void *arg)
{
    static char name[] = "fuzz";
    static char *argv[] = {name, NULL};
    struct program *g = arg;
    struct exec_image img = {.argc = 1, .argv = argv};
    if (wasi_init(&g->w, p, &img) < 0)
        abort();
    g->w.mem = g->mem;
    g->w.mem_n = MEM_BYTES;
    memcpy(g->mem, g->data, g->n < MEM_BYTES ? g->n : MEM_BYTES);
    for (int i = 0; i < CALLS_MAX && g->at < g->n; i++)
        if (one_call(g) == WASI_END)
            break;
    wasi_done(&g->w);
    return (struct outcome){.kind = OUTCOME_EXITED};
}

static ssize_t swallow(void *arg, const void *p, size_t n)
{
    (void)arg;
    (void)p;
    return (ssize_t)n;
}

static void entropy(void *arg, void *p, size_t n)
{
    (void)arg;
    memset(p, 0x5a, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"cat"};
    struct vfs_quota quota = {.bytes = 1 << 22, .inodes = 2000};
    struct limits limits = limits_default();
    struct proc_host host = {.entropy = entropy};
    struct vfs_cred cred = {.uid = 1000, .gid = 1000};
    const char *what = "";
    struct proc *p;
    limits.memory = 64 << 20;
    limits.processes = 16;
    struct vfs *v = vfs_new(&quota);
    if (!v || proc_base_tree(v, names, 1, NULL, 0) < 0)
        abort();
    struct proc_set *ps = proc_set_new(v, &limits, &host);
    if (!ps || proc_provide(ps) < 0)
        abort();
    struct program *g = mem_zalloc(sizeof *g);
    g->data = data;
    g->n = size;
    proc_begin(ps);
    struct proc_file *in = proc_file_text(ps, STR("some input\n"));
    struct proc_file *out = proc_file_sink(ps, false, swallow, NULL);
    if (proc_start(ps, &cred, STR("/home/user"), 022, in, out, proc_file_ref(out), program_main, g, &p) < 0)
        abort();
    if (!proc_run(ps, p, NULL)) {
        proc_kill_all(ps, REASON_SIGNAL);
        if (!proc_run(ps, p, NULL))
            abort();
    }
    if (proc_check(ps, &what) < 0 || vfs_check(v, &what) < 0)
        abort();
    proc_forget(ps, p);
    proc_set_free(ps);
    vfs_free(v);
    mem_free(g);
    return 0;
}
