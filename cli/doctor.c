/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox doctor: what this machine offers and lacks. What confines a worker is asked of a real one. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cli/view.h"
#include "confine/confine.h"
#include "types/errtab.h"
#include "wasm/wasm.h"
#include "wire/json.h"
#include "worker/compiler.h"

#define MAX_CHECKS 32

struct report {
    struct json_check v[MAX_CHECKS];
    size_t n;
    struct arena arena;
    bool ok;
};

static void add(struct report *r, const char *name, const char *state, const char *detail, const char *remedy)
{
    if (r->n < MAX_CHECKS)
        r->v[r->n++] = (struct json_check){name, state, arena_str(&r->arena, str_c(detail)).p, remedy};
}

static void check_kernel(struct report *r)
{
    struct utsname u;
    if (uname(&u) == 0)
        add(r, "kernel", "ok", arena_printf(&r->arena, "%s %s %s", u.sysname, u.release, u.machine), "");
}

static int ask_worker(struct report *r, struct wire_ready *ret, struct buf *text)
{
    struct worker w = {0};
    struct err err = {0};
    const struct worker_config cfg = {.userland_fd = -1};
    int e = worker_spawn(&cfg, &w, &err);
    if (e) {
        add(r, "worker", "missing", err.text, "see the message");
        return e;
    }
    uint32_t type;
    struct str body;
    do
        e = chan_recv(&w.chan, true, &type, &body);
    while (e == -EINTR);
    if (e == 1 && type == WIRE_READY && buf_adds(text, body) == 0)
        e = wire_get_ready(buf_str(text), ret);
    else
        e = -EPIPE;
    (void)worker_end(&w);
    if (e)
        add(r, "worker", "missing", "a worker cannot confine itself and ended; its reason is above", "see the message");
    return e;
}

/* The line of @notes about @name, without the name. */
static const char *note_of(struct report *r, struct str notes, const char *name)
{
    struct str key = str_c(name);
    while (notes.n) {
        ptrdiff_t nl = str_find(notes, '\n', 0);
        struct str line = str_of(notes.p, nl < 0 ? notes.n : (size_t)nl);
        if (str_starts(line, key) && line.n > key.n + 2 && line.p[key.n] == ':') {
            struct str rest = str_from(line, key.n + 2);
            ptrdiff_t cut = str_find(rest, '(', 0);
            return arena_dup(&r->arena, rest.p, cut > 0 ? (size_t)cut - 1 : rest.n);
        }
        notes = str_from(notes, line.n + 1);
    }
    return "not applied";
}

static void check_confinement(struct report *r, const struct wire_ready *ready)
{
    for (int i = 0; i < CONFINE_PARTS; i++) {
        enum confine_part p = (enum confine_part)i;
        const char *name = confine_part_name(p);
        if (ready->applied >> i & 1) {
            const char *detail = "applied to a worker";
            if (p == CONFINE_LANDLOCK)
                detail = arena_printf(&r->arena, "applied to a worker, ABI %d", confine_landlock_abi());
            add(r, name, "ok", detail, "");
        } else if (p == CONFINE_USER_NS && geteuid() == 0) {
            add(r, name, "ok", "not used: started by root, capabilities are dropped instead", "");
        } else if (confine_part_matters(p)) {
            add(r, name, "missing", note_of(r, ready->notes, name), confine_part_remedy(p));
            r->ok = false;
        } else {
            add(r, name, "degraded", note_of(r, ready->notes, name), confine_part_remedy(p));
        }
    }
}

static void check_vm(struct report *r)
{
    FD_AUTO int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
    if (kvm >= 0)
        add(r, "kvm", "ok", "/dev/kvm can be opened (no part of this version uses it yet)", "");
    else
        add(r, "kvm", "degraded", arena_printf(&r->arena, "/dev/kvm: %s", errtab_text(errno)),
            "only a later version's microVM tier needs it: enable virtualisation and join the group kvm");
}

static void check_compiler(struct report *r)
{
    BUF_AUTO struct buf path;
    buf_init(&path, LIMIT_PATH);
    if (compiler_find(&path) == 0)
        add(r, "compiler", "ok", arena_printf(&r->arena, "%s makes machine code of modules of your own", path.p), "");
    else
        add(r, "compiler", "degraded", "no frontal-sandbox-compile beside this program: modules of your own do not run",
            "scripts/build makes it; install it into the same directory");
}

/* Asked of this process, which is as near to swap as a worker is. */
static void check_wasm(struct report *r)
{
    if (!wasm_built()) {
        add(r, "webassembly", "degraded", "not part of this build",
            "install rustc 1.95 or newer and cmake, then build again (docs/build-system.md)");
        return;
    }
    FD_AUTO int dir = cli_userland_open();
    struct wasm_tool *tools = NULL;
    size_t n = 0;
    struct err err = {0};
    if (wasm_tools_read(dir, &tools, &n, &err) < 0)
        add(r, "userland", "degraded", err.text, "scripts/setup userland, then userland/build");
    else
        add(r, "userland", "ok", arena_printf(&r->arena, "%zu tools", n), "");
    wasm_tools_free(tools);
    check_compiler(r);
    int e = wasm_prepare();
    if (e >= 0)
        add(r, "slot_reset", "ok", "by what was written (PAGEMAP_SCAN)", "");
    else
        add(r, "slot_reset", "degraded",
            e == -EBUSY ? "whole, as this machine swaps" : "whole, as the kernel cannot scan",
            e == -EBUSY ? "programs start slower; swapoff, or memory.swap.max=0 for the cgroup"
                        : "programs start slower; needs Linux 6.7");
}

static void print(const struct report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct json_check *c = &r->v[i];
        printf("%-9s %-16s %s%s%s\n", c->state, c->name, c->detail, *c->remedy ? "; remedy: " : "", c->remedy);
    }
}

int cli_doctor(int argc, char **argv)
{
    bool json;
    int parsed = cli_json_only(argc, argv, &json);
    if (parsed)
        return parsed < 0 ? CLI_FAILED : 0;
    struct report r = {.ok = true};
    struct wire_ready ready;
    BUF_AUTO struct buf text;
    buf_init(&text, WIRE_BODY_MAX);
    check_kernel(&r);
    int e = ask_worker(&r, &ready, &text);
    if (e == 0)
        check_confinement(&r, &ready);
    check_wasm(&r);
    check_vm(&r);
    if (json) {
        BUF_AUTO struct buf out;
        buf_init(&out, 1u << 20);
        if (json_checks(&out, r.v, r.n, r.ok && e == 0) == 0)
            puts(out.p);
    } else {
        print(&r);
    }
    arena_done(&r.arena);
    return e ? CLI_FAILED : r.ok ? 0 : 1;
}
