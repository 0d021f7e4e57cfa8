/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/host_exec_int.h"

#include "base/mem.h"

#define DEFAULT_PATH "/bin:/usr/bin" /* where execvp(3) of glibc looks without PATH */

/* ---- taking it from the guest ---- */

/* How many strings a block has: WASI_FAULT, or WASI_INVAL when the last is not ended. */
static int block_count(const struct wasi *w, uint32_t p, uint32_t n, uint64_t *ret)
{
    if (!wasi_in(w, p, n))
        return WASI_FAULT;
    if (n > LIMIT_ARGS)
        return WASI_2BIG;
    if (n && *wasi_at(w, (uint64_t)p + n - 1))
        return WASI_INVAL;
    uint64_t count = 0;
    const uint8_t *s = wasi_at(w, p);
    for (uint32_t i = 0; i < n; i++)
        count += s[i] == 0;
    *ret = count;
    return 0;
}

/* Copies a block to @to and points @v at its strings. */
static void block_copy(const struct wasi *w, uint32_t p, uint32_t n, char **v, char *to)
{
    char *end = to + n;
    if (n)
        memcpy(to, wasi_at(w, p), n);
    while (to < end) {
        *v++ = to;
        to += strlen(to) + 1;
    }
    *v = NULL;
}

int wasi__program(const struct wasi *w, const uint64_t *args, bool search, struct program *ret)
{
    static char *nothing = (char *)(uintptr_t) "";
    struct str path;
    uint64_t argc, envc;
    uint32_t argv_n = ARG32(3), env_n = ARG32(5);
    TRY(wasi__path(w, ARG32(0), ARG32(1), &path));
    TRY(block_count(w, ARG32(2), argv_n, &argc));
    TRY(block_count(w, ARG32(4), env_n, &envc));
    if (path.n && memchr(path.p, 0, path.n))
        return WASI_INVAL;
    /* As Linux counts: a pointer each. */
    if ((argc + envc) * sizeof(char *) + argv_n + env_n > LIMIT_ARGS)
        return WASI_2BIG;
    size_t pointers = (argc + 2 + envc + 1) * sizeof(char *);
    char **v = mem_try(pointers + argv_n + env_n + path.n + 1);
    if (!v)
        return WASI_NOMEM;
    char *bytes = (char *)v + pointers;
    *ret = (struct program){.search = search, .argv = v, .env = v + argc + 2, .argc = (int)argc};
    block_copy(w, ARG32(2), argv_n, ret->argv, bytes);
    block_copy(w, ARG32(4), env_n, ret->env, bytes + argv_n);
    if (!argc) { /* Linux since 5.18: no program without a name */
        v[0] = nothing;
        v[1] = NULL;
        ret->argc = 1;
    }
    bytes += argv_n + env_n;
    if (path.n)
        memcpy(bytes, path.p, path.n);
    bytes[path.n] = 0;
    ret->path = str_of(bytes, path.n);
    return 0;
}

/* ---- PATH ---- */

static const char *path_of(char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return DEFAULT_PATH;
}

int wasi__search(const struct program *g, int (*try_one)(void *arg, struct str path), void *arg)
{
    if (!g->path.n)
        return -ENOENT;
    if (!g->search || memchr(g->path.p, '/', g->path.n))
        return try_one(arg, g->path);
    if (g->path.n > LIMIT_NAME)
        return -ENAMETOOLONG;
    char file[LIMIT_PATH];
    int found = -ENOENT;
    const char *dir = path_of(g->env);
    for (;;) {
        const char *e = strchrnul(dir, ':');
        size_t n = (size_t)(e - dir);
        if (n + 1 + g->path.n < sizeof file) {
            memcpy(file, dir, n);
            if (n)
                file[n++] = '/';
            memcpy(file + n, g->path.p, g->path.n);
            file[n + g->path.n] = 0;
            int r = try_one(arg, str_of(file, n + g->path.n));
            if (r == -EACCES)
                found = r;
            else if (r != -ENOENT && r != -ENOTDIR)
                return r;
        }
        if (!*e)
            return found;
        dir = e + 1;
    }
}
