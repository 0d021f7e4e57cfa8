/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>

#include "wasm/wasi_int.h"

/* Descriptors in frontal_sandbox_1. */

enum { CLOEXEC = 1, NONBLOCK = 2 };

int wasi__host_pipe(struct wasi *w, const uint64_t *args)
{
    uint32_t flags = ARG32(0);
    int fds[2];
    if (flags & ~(uint32_t)(CLOEXEC | NONBLOCK))
        return WASI_INVAL;
    if (!wasi_in(w, ARG32(1), 8))
        return WASI_FAULT;
    int r = proc_pipe_from(w->p, FIRST_FREE, fds, (flags & CLOEXEC) != 0);
    if (r < 0)
        return wasi__result(w, r);
    for (uint32_t i = 0; i < 2; i++) {
        if (flags & NONBLOCK)
            (void)proc_set_fd_flags(w->p, fds[i], O_NONBLOCK);
        wasi__drop_entry(w, (uint32_t)fds[i]);
        wasi_put32(w, ARG32(1) + UINT64_C(4) * i, (uint32_t)fds[i]);
    }
    return 0;
}

int wasi__host_dup(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0), min = ARG32(1), flags = ARG32(2);
    TRY(wasi__fd(w, fd, 0));
    if ((flags & ~(uint32_t)CLOEXEC) || min > INT32_MAX || min >= w->p->fds_soft)
        return WASI_INVAL;
    if (!wasi_in(w, ARG32(3), 4))
        return WASI_FAULT;
    int r = wasi__dup(w, fd, (int)min, -1, (flags & CLOEXEC) != 0);
    if (r >= 0)
        wasi_put32(w, ARG32(3), (uint32_t)r);
    return wasi__result(w, r);
}

int wasi__host_dup2(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0), to = ARG32(1), flags = ARG32(2);
    TRY(wasi__fd(w, fd, 0));
    if (flags & ~(uint32_t)CLOEXEC)
        return WASI_INVAL;
    if (to > INT32_MAX)
        return WASI_BADF;
    if (fd == to)
        return 0;
    return wasi__result(w, wasi__dup(w, fd, 0, (int)to, (flags & CLOEXEC) != 0));
}

int wasi__host_cloexec(struct wasi *w, const uint64_t *args)
{
    uint32_t fd = ARG32(0), set = ARG32(1);
    TRY(wasi__fd(w, fd, 0));
    if (set > 1 && set != UINT32_MAX)
        return WASI_INVAL;
    if (!wasi_in(w, ARG32(2), 4))
        return WASI_FAULT;
    /* The preopen is made anew for each program, whatever it asks. */
    bool before = fd != PREOPEN && w->p->fds.v[fd].cloexec;
    if (fd != PREOPEN && set != UINT32_MAX)
        (void)proc_set_cloexec(w->p, (int)fd, set != 0);
    wasi_put32(w, ARG32(2), before);
    return 0;
}

int wasi__host_isatty(struct wasi *w, const uint64_t *args)
{
    TRY(wasi__fd(w, ARG32(0), 0));
    return ARG32(0) != PREOPEN && proc_isatty(w->p, (int)ARG32(0)) ? 0 : WASI_NOTTY;
}

int wasi__host_tty_size(struct wasi *w, const uint64_t *args)
{
    uint16_t rows, cols;
    TRY(wasi__host_isatty(w, args));
    if (!wasi_in(w, ARG32(1), 8))
        return WASI_FAULT;
    proc_winsize(w->p->ps, &rows, &cols);
    wasi_put32(w, ARG32(1), rows);
    wasi_put32(w, ARG32(1) + UINT64_C(4), cols);
    return 0;
}
