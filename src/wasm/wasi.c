/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasi.h"

#include <fcntl.h>

#include "base/mem.h"
#include "base/num.h"
#include "engine/engine.h"
#include "wasm/wasi_int.h"

/* ---- a program ---- */

int wasi_init(struct wasi *w, struct proc *p, const struct exec_image *img)
{
    static char *none[1];
    char **env = img->env ? img->env(img->env_arg) : none;
    *w = (struct wasi){.p = p, .argc = img->argc, .argv = img->argv, .env = env ? env : none};
    while (w->env[w->n_env])
        w->n_env++;
    return 0;
}

void wasi_done(struct wasi *w)
{
    for (uint32_t i = 0; i < w->n_fds; i++)
        wasi__dir_free(w->fds[i].dir);
    mem_free(w->fds);
    mem_free((void *)(uintptr_t)w->exec_path.p);
    mem_free(w->exec_argv); /* one block with the strings and exec_env */
    w->fds = NULL;
    w->n_fds = 0;
    w->exec_path = (struct str){0};
    w->exec_argv = w->exec_env = NULL;
}

int wasi__killed(struct wasi *w)
{
    w->end = WASI_KILLED;
    return WASI_END;
}

int wasi__result(struct wasi *w, int64_t r)
{
    if (w->p->must_end)
        return wasi__killed(w);
    return r < 0 ? wasi__errno((int)r) : 0;
}

void wasi__refresh(struct wasi *w)
{
    if (w->refresh)
        w->refresh(w);
}

int wasi__turn(struct wasi *w)
{
    if (!w->may_block && !proc_has_turn(w->p))
        return WASI_BLOCK;
    if (proc_poll(w->p) < 0)
        return wasi__killed(w);
    if (w->may_block)
        wasi__refresh(w);
    return 0;
}

/* ---- descriptors ---- */

struct wasi_fd *wasi__entry(const struct wasi *w, uint32_t fd)
{
    return fd < w->n_fds ? &w->fds[fd] : NULL;
}

int wasi__make_entry(struct wasi *w, uint32_t fd, struct wasi_fd **ret)
{
    if (fd >= w->n_fds) {
        uint32_t n = NUM_MAX(fd + 1, NUM_MIN(2 * w->n_fds, (uint32_t)LIMIT_FDS));
        struct wasi_fd *v = mem_try_realloc(w->fds, n * sizeof *v);
        if (!v)
            return WASI_NOMEM;
        memset(v + w->n_fds, 0, (n - w->n_fds) * sizeof *v);
        w->fds = v;
        w->n_fds = n;
    }
    *ret = &w->fds[fd];
    return 0;
}

void wasi__drop_entry(struct wasi *w, uint32_t fd)
{
    struct wasi_fd *e = wasi__entry(w, fd);
    if (!e)
        return;
    wasi__dir_free(e->dir);
    *e = (struct wasi_fd){0};
}

int wasi__fd(const struct wasi *w, uint32_t fd, uint64_t rights)
{
    const struct wasi_fd *e = wasi__entry(w, fd);
    if (fd == PREOPEN ? e && e->gone : !proc_get(w->p, (int)fd))
        return WASI_BADF;
    return e && (e->lacks & rights) ? WASI_NOTCAPABLE : 0;
}

int wasi__dirfd(const struct wasi *w, uint32_t fd, uint64_t rights, uint64_t *ret_ino)
{
    TRY(wasi__fd(w, fd, rights));
    uint64_t ino = wasi__ino(w, fd);
    if (!ino)
        return WASI_NOTDIR;
    *ret_ino = ino;
    return 0;
}

uint64_t wasi__ino(const struct wasi *w, uint32_t fd)
{
    return fd == PREOPEN ? VFS_ROOT_INO : proc_fd_ino(w->p, (int)fd);
}

int wasi__fstat(struct wasi *w, uint32_t fd, struct vfs_stat *ret)
{
    if (fd == PREOPEN)
        return vfs_stat_ino(proc_set_vfs(w->p->ps), VFS_ROOT_INO, ret);
    return proc_fstat(w->p, (int)fd, ret);
}

int wasi__path(const struct wasi *w, uint32_t p, uint32_t n, struct str *ret)
{
    if (!wasi_in(w, p, n))
        return WASI_FAULT;
    if (n >= LIMIT_PATH)
        return WASI_NAMETOOLONG;
    *ret = wasi_str(w, p, n);
    return 0;
}

/* The process's own descriptor for what the guest has as the preopen. */
static int open_root(struct wasi *w, int min, bool cloexec)
{
    int oflags = O_RDONLY | O_DIRECTORY | (cloexec ? O_CLOEXEC : 0);
    return proc_open_at(w->p, 0, STR("/"), oflags, 0, min, false);
}

/* The lowest free number, but the preopen's. */
static int dup_any(struct wasi *w, uint32_t fd, int min, bool cloexec)
{
    if (fd == PREOPEN)
        return open_root(w, min <= (int)PREOPEN ? FIRST_FREE : min, cloexec);
    if (min <= (int)PREOPEN) {
        int to = min;
        while (to < (int)PREOPEN && proc_get(w->p, to))
            to++;
        if (to < (int)PREOPEN)
            return proc_dup2(w->p, (int)fd, to, cloexec);
        min = FIRST_FREE;
    }
    return proc_dup(w->p, (int)fd, min, cloexec);
}

static int dup_to(struct wasi *w, uint32_t fd, int to, bool cloexec)
{
    if (to == (int)PREOPEN)
        return -ENOTSUP; /* its number cannot stand for anything else: what the process has there is not the guest's */
    if (fd != PREOPEN)
        return proc_dup2(w->p, (int)fd, to, cloexec);
    if ((uint32_t)to >= w->p->fds_soft)
        return -EBADF;
    int tmp = open_root(w, FIRST_FREE, cloexec);
    if (tmp < 0 || tmp == to)
        return tmp;
    int r = proc_dup2(w->p, tmp, to, cloexec);
    (void)proc_close(w->p, tmp);
    return r;
}

int wasi__dup(struct wasi *w, uint32_t fd, int min, int to, bool cloexec)
{
    const struct wasi_fd *from = wasi__entry(w, fd);
    struct wasi_fd copy = {0}, *e;
    if (from)
        copy = (struct wasi_fd){.lacks = from->lacks, .lacks_inh = from->lacks_inh, .sync = from->sync};
    bool note = copy.lacks || copy.lacks_inh || copy.sync;
    /* What is at @to goes only when nothing can fail any more. */
    if (note && to >= 0 && to < LIMIT_FDS && wasi__make_entry(w, (uint32_t)to, &e))
        return -ENOMEM;
    int r = to >= 0 ? dup_to(w, fd, to, cloexec) : dup_any(w, fd, min, cloexec);
    if (r < 0 || (uint32_t)r == fd)
        return r;
    /* Cookies of a directory belong to the descriptor that gave them. */
    wasi__drop_entry(w, (uint32_t)r);
    if (!note)
        return r;
    if (wasi__make_entry(w, (uint32_t)r, &e)) {
        (void)proc_close(w->p, r);
        return -ENOMEM;
    }
    *e = copy;
    return r;
}
