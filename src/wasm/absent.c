/* SPDX-License-Identifier: Apache-2.0 */

/* The engine of a build without Wasmtime: everything but programs in WebAssembly works. */

#include "wasm/wasm.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"

struct wasm_world {
    struct wasm_config cfg;
};

struct wasm_world *wasm_world_new(const struct wasm_config *cfg)
{
    struct wasm_world *w = mem_zalloc(sizeof(*w));
    w->cfg = *cfg;
    return w;
}

void wasm_world_free(struct wasm_world *w)
{
    mem_free(w);
}

size_t wasm_world_tools(struct wasm_world *w, const struct wasm_tool **ret)
{
    (void)w;
    *ret = NULL;
    return 0;
}

int wasm_world_load(struct wasm_world *w, struct err *err)
{
    (void)w;
    return err_set(err, -ENOSYS, "built without WebAssembly: needs rustc 1.95 and cmake, see docs/build-system.md");
}

bool wasm_built(void)
{
    return false;
}

int wasm_prepare(void)
{
    return -ENOSYS;
}

static int claims(void *engine, const struct exec_image *img)
{
    (void)engine;
    (void)img;
    return 0;
}

static int run(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    (void)engine;
    (void)p;
    (void)img;
    (void)ret;
    return -ENOEXEC;
}

const struct engine_ops engine_wasm = {.name = "wasm", .tier = "isolate", .claims = claims, .run = run};
