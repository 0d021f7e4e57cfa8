/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasm_int.h"

#include <errno.h>

#include "base/fd.h"
#include "base/mem.h"
#include "proc/proc.h"
#include "types/limits.h"

/*
 * Modules of the user's own that are mapped, by the hash of their bytes. They are few, so they lie in a plain list.
 * What they take serves every session after, so it is charged to none; there are at most LIMIT_WASM_OWN beside those
 * that run, and as many as programs may run.
 */

static struct wasm_own *find(const struct wasm_world *w, const uint8_t id[CAS_HASH_SIZE])
{
    for (size_t i = 0; i < w->n_own; i++)
        if (memcmp(w->own[i]->id, id, CAS_HASH_SIZE) == 0)
            return w->own[i];
    return NULL;
}

static void forget(struct wasm_world *w, size_t i)
{
    wasm__module_done(&w->own[i]->m);
    mem_free(w->own[i]);
    w->own[i] = w->own[--w->n_own];
}

/* Forgets those unused for longest, until there are not too many. */
static void trim(struct wasm_world *w)
{
    for (;;) {
        size_t idle = 0, oldest = 0;
        for (size_t i = 0; i < w->n_own; i++) {
            if (w->own[i]->users)
                continue;
            if (idle++ == 0 || w->own[i]->used < w->own[oldest]->used)
                oldest = i;
        }
        if (idle <= LIMIT_WASM_OWN)
            return;
        forget(w, oldest);
    }
}

/* Maps the file @fd (taken): NULL and @err when it cannot be run. */
static struct wasm_own *map(struct wasm_world *w, const uint8_t id[CAS_HASH_SIZE], int fd, struct err *err)
{
    struct mem_account *before = mem_use(NULL);
    struct wasm_own *o = mem_zalloc(sizeof(*o));
    memcpy(o->id, id, CAS_HASH_SIZE);
    wasm__module_open(w, &o->m, fd);
    if (!o->m.pre) {
        (void)err_set(err, -ENOEXEC, "%s", o->m.why);
        wasm__module_done(&o->m);
        mem_free(o);
        o = NULL;
    } else if (w->n_own == w->cap_own) {
        w->cap_own = w->cap_own ? 2 * w->cap_own : 8;
        w->own = mem_realloc(w->own, w->cap_own * sizeof(*w->own));
    }
    if (o)
        w->own[w->n_own++] = o;
    mem_use(before);
    return o;
}

static bool at_once(void *arg)
{
    (void)arg;
    return true;
}

int wasm__own_get(struct wasm_world *w, struct proc *p, struct str wasm, struct wasm_own **ret, struct err *err)
{
    uint8_t id[CAS_HASH_SIZE];
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, wasm.p, wasm.n);
    cas_hash_end(&h, id);
    struct wasm_own *o = find(w, id);
    /* On a tape, whether the module was there must make no difference. */
    int r = o ? proc_await(p, at_once, NULL) : w->cfg.compile(w->cfg.compile_arg, p, wasm, err);
    if (r == -EINTR)
        return r;
    if (r < 0)
        return -ENOEXEC;
    if (!o) {
        /* Somebody else may have had the same compiled meanwhile. */
        o = find(w, id);
        if (o)
            fd_close(&r);
        else
            o = map(w, id, r, err);
    }
    if (!o)
        return -ENOEXEC;
    o->users++;
    o->used = ++w->own_runs;
    *ret = o;
    return 0;
}

void wasm__own_put(struct wasm_world *w, struct wasm_own *o)
{
    struct mem_account *before = mem_use(NULL);
    o->users--;
    trim(w);
    mem_use(before);
}

void wasm__own_done(struct wasm_world *w)
{
    while (w->n_own)
        forget(w, w->n_own - 1);
    mem_free(w->own);
}
