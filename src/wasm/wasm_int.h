/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the files of this folder share that know Wasmtime. */

#include "base/err.h"
#include "cas/hash.h"
#include "wasm/wasm.h"

#include <wtx.h>

/* A precompiled file of the userland. */
struct wasm_module {
    char *name;
    wasmtime_module_t *module; /* NULL: not asked for yet, or it cannot be run, and @why says why */
    wasmtime_instance_pre_t *pre;
    char *why;
};

/* A module of the user's own. */
struct wasm_own {
    uint8_t id[CAS_HASH_SIZE]; /* of its bytes */
    uint32_t users;            /* programs of it that live */
    uint64_t used;             /* when last, counted in runs */
    struct wasm_module m;
};

struct wasm_world {
    struct wasm_config cfg;
    bool tried; /* to load; @error and @why say how it went */
    int error;
    struct err why;
    wasm_engine_t *engine;
    wasmtime_linker_t *linker;
    bool known;              /* what stands in the manifest */
    struct wasm_tool *tools; /* sorted by name */
    size_t n_tools;
    struct wasm_module *modules; /* sorted by name */
    size_t n_modules;
    struct wasm_own **own;
    size_t n_own, cap_own;
    uint64_t own_runs;
};

/* ---- settings.c ---- */

/* The settings that compiled code depends on: the compiler and every worker have the same. The caller owns it. */
wasm_config_t *wasm__settings(void);

/* ---- world.c ---- */

/* The tool @name, or NULL. */
const struct wasm_tool *wasm__tool(struct wasm_world *w, struct str name);
/* The module of that name, mapped when it is first asked for, or NULL. */
const struct wasm_module *wasm__module(struct wasm_world *w, const char *name);
/* Makes @m from an open precompiled file (taken): m->why is set when it cannot be run. */
void wasm__module_open(const struct wasm_world *w, struct wasm_module *m, int fd);
/* Frees what @m holds. */
void wasm__module_done(struct wasm_module *m);

/* ---- own.c ---- */

/* The module whose bytes are @wasm, compiled if it is not mapped yet; @p may wait. Put it back. 0, -ENOEXEC and @err,
 * or -EINTR when @p must end. */
int wasm__own_get(struct wasm_world *w, struct proc *p, struct str wasm, struct wasm_own **ret, struct err *err);
/* No program of the caller's uses it any more. */
void wasm__own_put(struct wasm_world *w, struct wasm_own *o);
/* Frees all. */
void wasm__own_done(struct wasm_world *w);

/* ---- calls.c ---- */

/* Puts wasi_calls[] into the linker. */
int wasm__define(wasmtime_linker_t *l, wtx_host_fn fn, struct err *err);

/* ---- program.c ---- */

/* Runs the module to its end in @p: as engine_ops.run(). */
int wasm__run(const struct wasm_world *w, const struct wasm_module *m, struct proc *p, const struct exec_image *img,
              struct outcome *ret);
/* "NAME: @what" on the standard error of @p. */
void wasm__complain(struct proc *p, const char *name, const char *what);
/* The host functions' one entry: see wtx_host_fn. */
int32_t wasm__host_call(void *program, const void *call, uint64_t *args, bool again);

/* ---- ticker.c ---- */

/* Between these two the epoch of @engine goes on each millisecond. */
void wasm__tick_begin(wasm_engine_t *engine);
/* See wasm__tick_begin(). */
void wasm__tick_end(void);
/* The engine is going: nothing may tick it. */
void wasm__tick_forget(void);
