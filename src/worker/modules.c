/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/modules.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "types/errtab.h"
#include "wasm/wasm.h"
#include "worker/chan.h"

void modules_init(struct modules *m)
{
    *m = (struct modules){.module_fd = -1, .compiler = {.pidfd = -1, .code_fd = -1, .text_fd = -1}};
}

void modules_done(struct modules *m)
{
    compiler_stop(&m->compiler);
    fd_close(&m->module_fd);
    m->asked = false;
}

int modules_fd(const struct modules *m)
{
    return m->compiler.pid > 0 ? m->compiler.pidfd : -1;
}

int64_t modules_deadline(const struct modules *m)
{
    return m->compiler.pid > 0 ? m->compiler.deadline : INT64_MAX;
}

/* @fd: what was asked for (taken), or a negative errno, and @text says why. */
static int answer(struct modules *m, struct chan *c, int fd, const char *text)
{
    FD_AUTO int code = fd < 0 ? -1 : fd;
    const struct wire_compiled a = {.id = m->id, .error = fd < 0 ? fd : 0, .message = str_c(fd < 0 ? text : "")};
    modules_done(m);
    wire_put_compiled(chan_scratch(c), &a);
    return chan_send_fd(c, WIRE_COMPILED, code) ? -EPIPE : 0;
}

/* The name of what the program @compiler makes of the module: it is another when the settings, or the program, are. */
static void make_name(struct modules *m, const char *compiler)
{
    char by[160];
    uint8_t id[CAS_HASH_SIZE];
    struct stat st;
    if (stat(compiler, &st))
        st = (struct stat){0}; /* then it will not start either */
    int n = snprintf(by, sizeof(by), FRONTAL_VERSION " %s %lld %lld.%09ld", wasm_key(), (long long)st.st_size,
                     (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    cas_hash_add(&m->hash, by, n < 0 ? 0 : (size_t)n);
    cas_hash_end(&m->hash, id);
    for (size_t i = 0; i < sizeof(id); i++)
        snprintf(m->name + 2 * i, 3, "%02x", id[i]);
}

/* All of it has come. */
static int whole(struct modules *m, struct chan *c)
{
    struct err err = {0};
    BUF_AUTO struct buf path;
    buf_init(&path, LIMIT_PATH);
    int r = compiler_find(&path);
    if (r < 0)
        return answer(m, c, r, "there is no frontal-sandbox-compile beside frontal-sandbox to compile it");
    make_name(m, path.p);
    FD_AUTO int dir = modcache_open();
    int fd = dir < 0 ? dir : modcache_get(dir, m->name);
    if (fd >= 0)
        return answer(m, c, fd, "");
    r = compiler_start(&m->compiler, path.p, m->module_fd, &err);
    return r < 0 ? answer(m, c, r, err.text) : 0;
}

static int begin(struct modules *m, const struct wire_compile *q)
{
    modules_done(m);
    if (q->size == 0)
        return 0;
    m->asked = true;
    m->id = q->id;
    m->size = q->size;
    m->have = 0;
    cas_hash_init(&m->hash);
    m->module_fd = memfd_create("module", MFD_CLOEXEC);
    return m->module_fd < 0 ? -errno : 0;
}

int modules_take(struct modules *m, struct chan *c, struct str body)
{
    struct wire_compile q;
    if (wire_get_compile(body, &q))
        return -EBADMSG;
    int r = q.offset == 0 ? begin(m, &q) : 0;
    if (r == 0 && q.size == 0)
        return 0;
    if (r == 0 && (!m->asked || q.id != m->id || q.size != m->size || q.offset != m->have || q.data.n == 0))
        return -EBADMSG;
    if (r == 0)
        r = fd_write_all(m->module_fd, q.data);
    if (r < 0)
        return answer(m, c, r, errtab_text(r));
    cas_hash_add(&m->hash, q.data.p, q.data.n);
    m->have += q.data.n;
    return m->have == m->size ? whole(m, c) : 0;
}

int modules_turn(struct modules *m, struct chan *c)
{
    struct err err = {0};
    if (!compiler_ended(&m->compiler))
        return 0;
    int code = compiler_take(&m->compiler, &err);
    if (code < 0)
        return answer(m, c, code, err.text);
    FD_AUTO int dir = modcache_open();
    int kept = dir < 0 ? dir : modcache_put(dir, m->name, code);
    if (kept < 0)
        return answer(m, c, code, ""); /* without a cache it runs as well */
    fd_close(&code);
    return answer(m, c, kept, "");
}
