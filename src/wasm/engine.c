/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasm_int.h"

#include <errno.h>
#include <fcntl.h>

#include "base/mem.h"
#include "proc/proc.h"

#define WASM_MAGIC "\0asm"

/* The tool that the file of @img stands for, or NULL. */
static const struct wasm_tool *tool_of(struct wasm_world *w, const struct exec_image *img)
{
    struct str name = proc_tool_name(img->head);
    return name.n ? wasm__tool(w, name) : NULL;
}

static int claims(void *engine, const struct exec_image *img)
{
    return tool_of(engine, img) || str_starts(img->head, STR(WASM_MAGIC));
}

/* Says on standard error why @img does not run, and gives @r. */
static int refuse(struct proc *p, const struct exec_image *img, int r, const char *why)
{
    wasm__complain(p, img->argc ? img->argv[0] : "wasm", why);
    return r;
}

static int run_tool(struct wasm_world *w, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    const struct wasm_tool *t = tool_of(w, img);
    const struct wasm_module *m = t ? wasm__module(w, t->module) : NULL;
    if (!m || !m->pre)
        return refuse(p, img, -ENOEXEC, m ? m->why : "not in the userland");
    return wasm__run(w, m, p, img, ret);
}

/* The whole file: 0, and *ret to free. */
static int read_file(struct proc *p, uint64_t ino, struct str *ret)
{
    struct vfs_handle *h;
    struct vfs_stat st;
    int r = vfs_stat_ino(proc_set_vfs(p->ps), ino, &st);
    if (r == 0 && st.size > LIMIT_WASM_FILE)
        r = -EFBIG;
    if (r == 0)
        r = vfs_open_ino(proc_set_vfs(p->ps), ino, O_RDONLY, &h);
    if (r < 0)
        return r;
    char *bytes = mem_try(st.size + 1);
    ssize_t n = bytes ? vfs_pread(h, bytes, st.size, 0) : -ENOMEM;
    vfs_close(h);
    if (n < 0) {
        mem_free(bytes);
        return (int)n;
    }
    *ret = str_of(bytes, (size_t)n);
    return 0;
}

/* Its bytes are read and hashed each time, since the file may have been written to: all else is done once. */
static int run_own(struct wasm_world *w, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    struct str bytes;
    struct err err = {0};
    int r = read_file(p, img->ino, &bytes);
    if (r < 0)
        return r;
    struct wasm_own *o;
    r = wasm__own_get(w, p, bytes, &o, &err);
    mem_free((void *)(uintptr_t)bytes.p);
    if (r < 0)
        return r == -ENOEXEC ? refuse(p, img, r, err.text) : r;
    r = wasm__run(w, &o->m, p, img, ret);
    wasm__own_put(w, o);
    return r;
}

static int run(void *engine, struct proc *p, const struct exec_image *img, struct outcome *ret)
{
    struct wasm_world *w = engine;
    struct err err = {0};
    bool own = str_starts(img->head, STR(WASM_MAGIC));
    if (own && !w->cfg.compile)
        return refuse(p, img, -ENOEXEC,
                      "a module of the session's own, and only programs of the userland may run here (--modules own "
                      "lets others run)");
    if (wasm_world_load(w, &err) < 0)
        return refuse(p, img, -ENOEXEC, err.text);
    return own ? run_own(w, p, img, ret) : run_tool(w, p, img, ret);
}

const struct engine_ops engine_wasm = {.name = "wasm", .tier = "isolate", .claims = claims, .run = run};
