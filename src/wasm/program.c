/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasm_int.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "proc/proc.h"
#include "wasm/wasi.h"

/*
 * One program: a call of Wasmtime's that is polled on the process's coroutine. A host function runs on the program's
 * fiber. It ends there when it can; when it must wait, or when something has to be looked at that only the coroutine
 * may look at, the fiber is suspended, and the rest is done between two polls.
 */

/* From here on memory is asked for in large pages. */
#define HUGE_FROM ((size_t)8 << 20)

struct program {
    struct wasi wasi; /* first: host functions get it */
    struct proc *p;
    const char *name;
    wtx_call_t *call;
    wasmtime_context_t *ctx;
    wasmtime_memory_t memory;
    bool has_memory;
    uint64_t charged; /* bytes of memory */
    bool refused;     /* the last growth */
    /* Why the fiber is suspended: a call that must wait, one that has ended and whose answer waits for a look around,
     * or neither (an epoch). */
    const struct wasi_call *waits;
    const uint64_t *args;
    bool answered;
    int answer;
    uint8_t trap;
};

/* ---- on the fiber ---- */

static void refresh(struct wasi *w)
{
    struct program *g = w->engine;
    if (!g->has_memory)
        return;
    w->mem = wasmtime_memory_data(g->ctx, &g->memory);
    w->mem_n = wasmtime_memory_data_size(g->ctx, &g->memory);
}

/* What a program's memory grows by is often walked in no order, and misses of the TLB are then most of its time. */
static void large_pages(const struct program *g, size_t now, size_t want)
{
    const size_t size = 2u << 20;
    size_t from = (now + size - 1) & ~(size - 1), to = want & ~(size - 1);
    if (from < to)
        (void)madvise(wasmtime_memory_data(g->ctx, &g->memory) + from, to - from, MADV_HUGEPAGE);
}

static bool on_grow(void *program, size_t now, size_t want)
{
    struct program *g = program;
    if (want <= now)
        return true;
    g->refused = !mem_charge(want - now);
    if (g->refused)
        return false;
    g->charged += want - now;
    if (g->has_memory && want >= HUGE_FROM)
        large_pages(g, now, want);
    return true;
}

static void on_began(void *program, wasmtime_context_t *ctx, const wasmtime_memory_t *memory)
{
    struct program *g = program;
    g->ctx = ctx;
    g->has_memory = memory != NULL;
    if (memory)
        g->memory = *memory;
}

int32_t wasm__host_call(void *program, const void *call, uint64_t *args, bool again)
{
    struct program *g = program;
    const struct wasi_call *c = call;
    if (!again) {
        refresh(&g->wasi);
        int r = c->fn(&g->wasi, args);
        if (r == WASI_BLOCK) {
            g->waits = c;
            g->args = args;
            return WTX_SUSPEND;
        }
        g->answer = r;
        if (r != WASI_END && proc_step(g->p)) {
            g->answered = true;
            return WTX_SUSPEND;
        }
    }
    if (g->answer == WASI_END)
        return WTX_END;
    args[0] = (uint32_t)g->answer;
    return WTX_DONE;
}

/* ---- on the coroutine ---- */

/* What the fiber was suspended for: 0, or -EINTR when the process must end. */
static int look_around(struct program *g)
{
    if (!g->waits && !g->answered)
        return proc_attend(g->p);
    if (g->waits) {
        const struct wasi_call *c = g->waits;
        g->waits = NULL;
        refresh(&g->wasi);
        g->wasi.may_block = true;
        g->answer = c->fn(&g->wasi, g->args);
        g->wasi.may_block = false;
        if (g->answer == WASI_END || !proc_step(g->p))
            return 0;
    }
    g->answered = false;
    return proc_step_slow(g->p);
}

/* Polls until it has ended; WTX_PENDING: it must end. */
static int32_t drive(const struct wasm_world *w, struct program *g)
{
    if (proc_step(g->p) && proc_step_slow(g->p) < 0)
        return WTX_PENDING;
    for (;;) {
        wasm__tick_begin(w->engine);
        int32_t how = wtx_call_poll(g->call, &g->trap);
        wasm__tick_end();
        if (how != WTX_PENDING || look_around(g) < 0)
            return how;
    }
}

/* ---- how it ended ---- */

void wasm__complain(struct proc *p, const char *name, const char *what)
{
    char line[600];
    int n = snprintf(line, sizeof(line), "%s: %s\n", name, what);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1;
    /* A program that has no standard error, or whose reader has gone, ends without a message, as a native one does. */
    (void)proc_write(p, 2, line, len);
}

static void complain(struct program *g, const char *what)
{
    wasm__complain(g->p, g->name, what);
}

static const struct {
    uint8_t code, signal;
    const char *text;
} traps[] = {
    {WASMTIME_TRAP_CODE_STACK_OVERFLOW, SIGSEGV, "call stack exhausted (trap)"},
    {WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS, SIGSEGV, "memory access out of bounds (trap)"},
    {WASMTIME_TRAP_CODE_TABLE_OUT_OF_BOUNDS, SIGSEGV, "table access out of bounds (trap)"},
    {WASMTIME_TRAP_CODE_INDIRECT_CALL_TO_NULL, SIGSEGV, "call through a null pointer (trap)"},
    {WASMTIME_TRAP_CODE_BAD_SIGNATURE, SIGSEGV, "call through a pointer to another type of function (trap)"},
    {WASMTIME_TRAP_CODE_INTEGER_OVERFLOW, SIGFPE, "integer overflow (trap)"},
    {WASMTIME_TRAP_CODE_INTEGER_DIVISION_BY_ZERO, SIGFPE, "integer division by zero (trap)"},
    {WASMTIME_TRAP_CODE_BAD_CONVERSION_TO_INTEGER, SIGFPE, "invalid conversion to integer (trap)"},
    {WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED, SIGILL, "unreachable code reached (trap)"},
};

static struct outcome killed_by(int sig)
{
    return (struct outcome){.kind = OUTCOME_KILLED, .signal = (uint8_t)sig, .reason = REASON_SIGNAL};
}

static struct outcome trapped(struct program *g)
{
    for (size_t i = 0; i < sizeof(traps) / sizeof(traps[0]); i++) {
        if (traps[i].code == g->trap) {
            complain(g, traps[i].text);
            return killed_by(traps[i].signal);
        }
    }
    char text[200];
    wtx_call_message(g->call, text, sizeof(text));
    complain(g, text);
    return killed_by(SIGILL);
}

static int never_began(struct program *g)
{
    char text[400];
    if (g->refused && !g->ctx) {
        complain(g, "not enough memory");
        return -ENOMEM;
    }
    wtx_call_message(g->call, text, sizeof(text));
    complain(g, text);
    return -ENOEXEC;
}

/* By @how: 0 and *ret, or the errno of a program that did not begin. */
static int ended(struct program *g, int32_t how, struct outcome *ret)
{
    switch (how) {
    case WTX_RETURNED:
        *ret = (struct outcome){.kind = OUTCOME_EXITED};
        return 0;
    case WTX_ENDED:
        if (g->wasi.end == WASI_EXITED)
            *ret = (struct outcome){.kind = OUTCOME_EXITED, .code = (uint8_t)g->wasi.exit_code};
        else
            *ret = killed_by(SIGKILL); /* the process says by which signal, or why */
        return 0;
    case WTX_TRAPPED:
        *ret = trapped(g);
        return 0;
    case WTX_THREW:
        complain(g, "exception that nobody catches (trap)");
        *ret = killed_by(SIGILL);
        return 0;
    case WTX_FULL:
        complain(g, "too many programs run at once");
        return -EAGAIN;
    case WTX_PENDING:
        *ret = killed_by(SIGKILL);
        return 0;
    default:
        return never_began(g);
    }
}

static char **exec_env(void *arg)
{
    const struct wasi *w = arg;
    return w->exec_env;
}

/* The program has become another. Only what the call did not check can fail now; then, as in Linux past the point of no
 * return, the process is killed. */
static int become(struct program *g, struct outcome *ret)
{
    struct wasi *w = &g->wasi;
    int argc = 0;
    while (w->exec_argv[argc])
        argc++;
    if (proc_exec(g->p, w->exec_path, argc, w->exec_argv, exec_env, w, ret) < 0)
        *ret = killed_by(SIGKILL);
    return 0;
}

static const char *last_component(struct str path)
{
    const char *slash = memrchr(path.p, '/', path.n);
    return slash ? slash + 1 : path.p;
}

int wasm__run(const struct wasm_world *w, const struct wasm_module *m, struct proc *p, const struct exec_image *img,
              struct outcome *ret)
{
    struct program g = {.p = p, .name = img->argc ? last_component(str_c(img->argv[0])) : m->name};
    int r = wasi_init(&g.wasi, p, img);
    if (r < 0)
        return r;
    g.wasi.engine = &g;
    g.wasi.refresh = refresh;
    const struct wtx_hooks hooks = {&g, on_grow, on_began};
    g.call = wtx_call_new(w->engine, m->pre, &hooks);
    r = ended(&g, drive(w, &g), ret);
    wtx_call_delete(g.call);
    mem_uncharge(g.charged);
    if (r == 0 && g.wasi.end == WASI_EXEC && !p->must_end)
        r = become(&g, ret);
    wasi_done(&g.wasi);
    return r;
}
