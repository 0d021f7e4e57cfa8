/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/test/wasi_test.h"

const struct wasi_call *find_call(const char *module, const char *name)
{
    for (size_t i = 0; i < wasi_n_calls; i++)
        if (strcmp(wasi_calls[i].name, name) == 0 && strcmp(wasi_calls[i].module, module) == 0)
            return &wasi_calls[i];
    fprintf(stderr, "# no function %s.%s\n", module, name);
    exit(1);
}

static void refresh(struct wasi *w)
{
    struct prog *g = w->engine;
    g->refreshed++;
    w->mem = g->mem;
    w->mem_n = MEM_BYTES;
}

static char **env(void *arg)
{
    static char var[] = "HOME=/home/user";
    static char *v[] = {var, NULL};
    (void)arg;
    return v;
}

void prog_init(struct prog *g, struct proc *p)
{
    static char name[] = "prog", arg[] = "an argument";
    static char *argv[] = {name, arg, NULL};
    memset(g, 0, sizeof *g);
    g->img = (struct exec_image){.path = STR("/bin/prog"), .argc = 2, .argv = argv, .env = env};
    CHECK_INT(wasi_init(&g->w, p, &g->img), 0);
    g->w.engine = g;
    g->w.refresh = refresh;
    g->w.mem = g->mem;
    g->w.mem_n = MEM_BYTES;
    g->top = 32768;
}

void prog_done(struct prog *g)
{
    wasi_done(&g->w);
}

uint32_t room(struct prog *g, uint32_t n)
{
    g->top = (g->top + 7) & ~7u;
    if (g->top + n > MEM_BYTES)
        g->top = 32768;
    uint32_t at = g->top;
    g->top += n;
    return at;
}

uint32_t text(struct prog *g, const char *s)
{
    uint32_t n = (uint32_t)strlen(s), at = room(g, n);
    memcpy(g->mem + at, s, n);
    return at;
}

uint32_t get32(const struct prog *g, uint32_t at)
{
    uint32_t v;
    memcpy(&v, g->mem + at, sizeof v);
    return v;
}

uint64_t get64(const struct prog *g, uint32_t at)
{
    uint64_t v;
    memcpy(&v, g->mem + at, sizeof v);
    return v;
}

void set32(struct prog *g, uint32_t at, uint32_t v)
{
    memcpy(g->mem + at, &v, sizeof v);
}

void set64(struct prog *g, uint32_t at, uint64_t v)
{
    memcpy(g->mem + at, &v, sizeof v);
}

int call_v(struct prog *g, const char *module, const char *name, const uint64_t *args, size_t n)
{
    const struct wasi_call *c = find_call(module, name);
    uint64_t a[16] = {0};
    CHECK_INT(strlen(c->params), n);
    for (size_t i = 0; i < n; i++)
        a[i] = c->params[i] == 'i' ? (uint32_t)args[i] : args[i];
    g->w.may_block = false;
    int r = c->fn(&g->w, a);
    if (r == WASI_BLOCK) {
        CHECK(c->kind == WASI_WAITS);
        g->blocked++;
        g->w.may_block = true;
        r = c->fn(&g->w, a);
        g->w.may_block = false;
        CHECK(r != WASI_BLOCK);
    }
    CHECK((r == WASI_END) == (g->w.end != WASI_RUNS));
    return r;
}

int open_at(struct prog *g, const char *path, uint32_t o, unsigned rights)
{
    const uint64_t rd = 1 << 1 | 1 << 14, wr = 1 << 6 | 1 << 0 | 1 << 8 | 1 << 22, all = (1 << 30) - 1;
    uint64_t base = (rights & 1 ? rd : 0) | (rights & 2 ? wr : 0) | (rights & 4 ? all & ~rd & ~wr : 0);
    uint32_t ret = room(g, 4), p = text(g, path);
    int r = CALL(g, path_open, 3, 1, p, strlen(path), o, base, all, 0, ret);
    return r ? -r : (int)get32(g, ret);
}

int write_text(struct prog *g, uint32_t fd, const char *s)
{
    uint32_t iov = room(g, 16), p = text(g, s);
    set32(g, iov, p);
    set32(g, iov + 4, (uint32_t)strlen(s));
    int r = CALL(g, fd_write, fd, iov, 1, iov + 8);
    return r ? -r : (int)get32(g, iov + 8);
}

int read_some(struct prog *g, uint32_t fd, void *buf, uint32_t n)
{
    uint32_t iov = room(g, 16), p = room(g, n);
    set32(g, iov, p);
    set32(g, iov + 4, n);
    int r = CALL(g, fd_read, fd, iov, 1, iov + 8);
    if (r)
        return -r;
    uint32_t k = get32(g, iov + 8);
    CHECK(k <= n);
    memcpy(buf, g->mem + p, k);
    return (int)k;
}

static struct outcome prog_main(struct proc *p, void *arg)
{
    void (**main)(struct prog *) = arg;
    struct prog *g = mem_alloc(sizeof *g);
    prog_init(g, p);
    (*main)(g);
    struct outcome o = exited(g->w.end == WASI_EXITED ? (int)g->w.exit_code : 0);
    prog_done(g);
    mem_free(g);
    return o;
}

struct outcome run_prog(void (*main)(struct prog *g), const char *want)
{
    struct world w;
    world_init(&w);
    struct outcome o = world_run(&w, prog_main, &main);
    CHECK_STR(buf_str(&w.out), str_c(want));
    const char *what = "";
    CHECK_INT(vfs_check(w.v, &what), 0);
    world_done(&w);
    return o;
}
