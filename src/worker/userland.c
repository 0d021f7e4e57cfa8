/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/userland.h"

#include "base/mem.h"
#include "confine/confine.h"
#include "wasm/layer.h"
#include "wasm/wasm.h"

static int seal(void *arg)
{
    (void)arg;
    return confine_no_more_code();
}

static void name_tools(struct userland *u)
{
    const struct wasm_tool *tools;
    size_t n = wasm_world_tools(u->world, &tools);
    u->names = mem_alloc((n + 1) * sizeof(*u->names));
    for (size_t i = 0; i < n; i++)
        u->names[i] = tools[i].name;
    u->session.tools = u->names;
    u->session.n_tools = n;
}

static void show_layer(struct userland *u, int dir_fd)
{
    int fd = wasm_userland_open(dir_fd, "layer");
    if (fd < 0 || layer_open(fd, &u->layer, NULL) < 0)
        return;
    u->session.layer = &layer_provider;
    u->session.layer_arg = u->layer;
}

void userland_init(struct userland *u, int dir_fd, bool scan, bool own, uint32_t programs)
{
    *u = (struct userland){.ask.fd = -1};
    const struct wasm_config cfg = {.dir_fd = dir_fd,
                                    .programs = programs ? programs : WASM_PROGRAMS,
                                    .scan = scan,
                                    .seal = own ? NULL : seal,
                                    .compile = own ? ask_compile : NULL,
                                    .compile_arg = &u->ask};
    u->world = wasm_world_new(&cfg);
    u->session.engine = &engine_wasm;
    u->session.engine_obj = u->world;
    if (dir_fd < 0)
        return;
    name_tools(u);
    show_layer(u, dir_fd);
}

void userland_done(struct userland *u)
{
    layer_close(u->layer);
    mem_free(u->names);
    wasm_world_free(u->world);
}
