/* SPDX-License-Identifier: Apache-2.0 */

/* The engine of a build without Wasmtime: everything but programs in WebAssembly works. */

#include "wasm/wasm.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "proc/proc.h"

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

const char *wasm_key(void)
{
    return "";
}

int wasm_prepare(void)
{
    return -ENOSYS;
}

static int claims(void *engine, const struct exec_image *img)
{
    (void)engine;
    return str_starts(img->head, STR("\0asm"));
}

static int run(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    (void)ret;
    struct err err = {0};
    int r = wasm_world_load(engine, &err);
    struct str parts[] = {str_c(img->argc ? img->argv[0] : "wasm"), STR(": "), str_c(err.text), STR("\n")};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (proc_write(p, 2, parts[i].p, parts[i].n) < 0)
            break;
    return r < 0 ? -ENOEXEC : r;
}

const struct engine_ops engine_wasm = {.name = "wasm", .tier = "isolate", .claims = claims, .run = run};
