/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasm_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "types/limits.h"

/* Of one program; what a module asks for beyond that does not load. */
#define MEMORY_MAX (UINT64_C(4) << 30)
#define TABLE_MAX 16384
#define INSTANCE_MAX (1u << 20)

/* Of a slot that is free again, kept instead of being given back to the host and faulted in by the next program. */
#define KEEP_MEMORY (32u << 20)
#define KEEP_TABLE (64u << 10)
#define KEEP_STACK (16u << 10)
#define WARM_SLOTS 64

struct wasm_world *wasm_world_new(const struct wasm_config *cfg)
{
    struct wasm_world *w = mem_zalloc(sizeof(*w));
    w->cfg = *cfg;
    return w;
}

void wasm__module_done(struct wasm_module *m)
{
    if (m->pre)
        wasmtime_instance_pre_delete(m->pre);
    if (m->module)
        wasmtime_module_delete(m->module);
    mem_free(m->name);
    mem_free(m->why);
    *m = (struct wasm_module){0};
}

void wasm_world_free(struct wasm_world *w)
{
    if (!w)
        return;
    wasm__tick_forget();
    for (size_t i = 0; i < w->n_modules; i++)
        wasm__module_done(&w->modules[i]);
    mem_free(w->modules);
    wasm__own_done(w);
    wasm_tools_free(w->tools);
    if (w->linker)
        wasmtime_linker_delete(w->linker);
    if (w->engine)
        wasm_engine_delete(w->engine);
    mem_free(w);
}

/* ---- finding ---- */

static int tool_by_name(const void *key, const void *tool)
{
    const struct str *name = key;
    const struct wasm_tool *t = tool;
    return str_cmp(*name, str_c(t->name));
}

/* Reads the manifest once: a question for a tool must not load what runs it. */
static int know_tools(struct wasm_world *w, struct err *err)
{
    if (w->known || w->cfg.dir_fd < 0)
        return 0;
    struct mem_account *before = mem_use(NULL);
    int r = wasm_tools_read(w->cfg.dir_fd, &w->tools, &w->n_tools, err);
    mem_use(before);
    w->known = r == 0;
    return r;
}

size_t wasm_world_tools(struct wasm_world *w, const struct wasm_tool **ret)
{
    (void)know_tools(w, NULL); /* loading says why */
    *ret = w->tools;
    return w->n_tools;
}

const struct wasm_tool *wasm__tool(struct wasm_world *w, struct str name)
{
    (void)know_tools(w, NULL);
    return w->n_tools ? bsearch(&name, w->tools, w->n_tools, sizeof(*w->tools), tool_by_name) : NULL;
}

/* ---- loading ---- */

static void set_pool(const struct wasm_world *w, wasm_config_t *c)
{
    uint32_t n = NUM_MAX(1u, NUM_MIN(w->cfg.programs, LIMIT_WASM_PROGRAMS));
    wasmtime_pooling_allocation_config_t *p = wasmtime_pooling_allocation_config_new();
    /* A module with exceptions has a second memory, the collector's heap. */
    wasmtime_pooling_allocation_config_total_core_instances_set(p, n);
    wasmtime_pooling_allocation_config_total_memories_set(p, 2 * n);
    wasmtime_pooling_allocation_config_total_gc_heaps_set(p, n);
    wasmtime_pooling_allocation_config_total_tables_set(p, n);
    wasmtime_pooling_allocation_config_total_stacks_set(p, n);
    wasmtime_pooling_allocation_config_max_memory_size_set(p, MEMORY_MAX);
    wasmtime_pooling_allocation_config_table_elements_set(p, TABLE_MAX);
    wasmtime_pooling_allocation_config_max_core_instance_size_set(p, INSTANCE_MAX);
    wasmtime_pooling_allocation_config_linear_memory_keep_resident_set(p, KEEP_MEMORY);
    wasmtime_pooling_allocation_config_table_keep_resident_set(p, KEEP_TABLE);
    wasmtime_pooling_allocation_config_async_stack_keep_resident_set(p, KEEP_STACK);
    wasmtime_pooling_allocation_config_max_unused_warm_slots_set(p, WARM_SLOTS);
    wtx_pool_pagemap_scan(p, w->cfg.scan);
    wasmtime_pooling_allocation_strategy_set(c, p);
    wasmtime_pooling_allocation_config_delete(p);
}

void wasm__module_open(const struct wasm_world *w, struct wasm_module *m, int fd)
{
    char text[400];
    m->module = wtx_module_from_fd(w->engine, fd, text, sizeof(text));
    if (!m->module) {
        m->why = mem_dup(text, strlen(text));
        return;
    }
    wasmtime_error_t *e = wasmtime_linker_instantiate_pre(w->linker, m->module, &m->pre);
    if (!e)
        return;
    wasm_byte_vec_t v;
    wasmtime_error_message(e, &v);
    m->why = mem_dup(v.data, v.size);
    m->pre = NULL;
    wasm_byte_vec_delete(&v);
    wasmtime_error_delete(e);
}

static int by_name(const void *a, const void *b)
{
    const struct wasm_module *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* The modules that the tools name, each once and sorted. */
static void name_modules(struct wasm_world *w)
{
    w->modules = mem_zalloc((w->n_tools + 1) * sizeof(*w->modules));
    for (size_t i = 0; i < w->n_tools; i++)
        w->modules[i].name = mem_dup(w->tools[i].module, strlen(w->tools[i].module));
    qsort(w->modules, w->n_tools, sizeof(*w->modules), by_name);
    for (size_t i = 0; i < w->n_tools; i++) {
        if (w->n_modules && strcmp(w->modules[w->n_modules - 1].name, w->modules[i].name) == 0)
            mem_free(w->modules[i].name);
        else
            w->modules[w->n_modules++] = w->modules[i];
    }
}

static int module_by_name(const void *key, const void *module)
{
    const struct wasm_module *m = module;
    return strcmp(key, m->name);
}

static void load_module(const struct wasm_world *w, struct wasm_module *m)
{
    char file[LIMIT_NAME + 1];
    if (m->module || m->why)
        return;
    snprintf(file, sizeof(file), "%s.cwasm", m->name);
    int fd = wasm_userland_open(w->cfg.dir_fd, file);
    if (fd >= 0)
        wasm__module_open(w, m, fd);
    else
        m->why = mem_dup("its precompiled file is missing", strlen("its precompiled file is missing"));
}

const struct wasm_module *wasm__module(struct wasm_world *w, const char *name)
{
    struct wasm_module *m =
        w->n_modules ? bsearch(name, w->modules, w->n_modules, sizeof(*w->modules), module_by_name) : NULL;
    if (m) {
        struct mem_account *before = mem_use(NULL);
        load_module(w, m);
        mem_use(before);
    }
    return m;
}

/* Now if no code can be made executable later, else each at its first program: all take 7 ms, one about 0.2. */
static void load_modules(struct wasm_world *w)
{
    name_modules(w);
    for (size_t i = 0; w->cfg.seal && i < w->n_modules; i++)
        load_module(w, &w->modules[i]);
}

static int load(struct wasm_world *w, struct err *err)
{
    int r = know_tools(w, err);
    if (r < 0)
        return r;
    wasm_config_t *c = wasm__settings();
    set_pool(w, c);
    char text[200];
    w->engine = wtx_engine_new(c, text, sizeof(text));
    if (!w->engine)
        return err_set(err, -ENOMEM, "WebAssembly cannot be started: %s", text);
    w->linker = wasmtime_linker_new(w->engine);
    r = wasm__define(w->linker, wasm__host_call, err);
    if (r < 0)
        return r;
    load_modules(w);
    r = w->cfg.seal ? w->cfg.seal(w->cfg.seal_arg) : 0;
    return r < 0 ? err_set(err, r, "executable memory cannot be forbidden") : 0;
}

int wasm_world_load(struct wasm_world *w, struct err *err)
{
    if (!w->tried) {
        /* What is loaded serves every session after, so it is charged to none. */
        struct mem_account *before = mem_use(NULL);
        w->tried = true;
        w->error = load(w, &w->why);
        mem_use(before);
    }
    return w->error < 0 ? err_set(err, w->error, "%s", w->why.text) : 0;
}
