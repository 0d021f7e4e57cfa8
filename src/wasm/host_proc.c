/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/wait.h>

#include "wasm/host_exec_int.h"

/* Processes in frontal_sandbox_1, but for spawn and exec (host_spawn.c). */

/* ---- wait ---- */

/* Linux's status word. */
static uint32_t status_word(struct outcome o, int stopped)
{
    if (stopped)
        return (uint32_t)stopped << 8 | 0x7f;
    if (o.kind == OUTCOME_KILLED)
        return o.signal ? o.signal : SIGKILL;
    return (uint32_t)(outcome_status(o) & 0xff) << 8; /* 125 for one that was lost */
}

int wasi__host_wait(struct wasi *w, const uint64_t *args)
{
    uint32_t flags = ARG32(1);
    struct outcome o = {.kind = OUTCOME_LOST};
    int stopped = 0;
    TRY(wasi__turn(w));
    if (flags & ~(uint32_t)(WNOHANG | WUNTRACED))
        return WASI_INVAL;
    if (!wasi_in(w, ARG32(2), 4) || !wasi_in(w, ARG32(3), 4))
        return WASI_FAULT;
    int now = w->may_block ? (int)flags : (int)flags | WNOHANG;
    int pid = proc_wait(w->p, (int)ARG32(0), now, &o, &stopped);
    if (w->may_block)
        wasi__refresh(w);
    if (pid == 0 && !(flags & WNOHANG))
        return WASI_BLOCK;
    if (pid < 0)
        return wasi__result(w, pid);
    wasi_put32(w, ARG32(2), (uint32_t)pid);
    wasi_put32(w, ARG32(3), pid ? status_word(o, stopped) : 0);
    return wasi__result(w, 0);
}

/* ---- signals ---- */

int wasi__host_kill(struct wasi *w, const uint64_t *args)
{
    TRY(wasi__turn(w));
    if (ARG32(1) > 64)
        return WASI_INVAL;
    /* It may stop itself, which is a switch. */
    if (ARG32(1) && !w->may_block)
        return WASI_BLOCK;
    int r = proc_kill(w->p, (int)ARG32(0), (int)ARG32(1));
    if (w->may_block)
        wasi__refresh(w);
    return wasi__result(w, r);
}

int wasi__host_sig_disposition(struct wasi *w, const uint64_t *args)
{
    if (ARG32(0) > 64 || ARG32(1) > 1)
        return WASI_INVAL;
    int r = proc_sigaction(w->p, (int)ARG32(0), ARG32(1) ? PROC_SIG_IGNORE : PROC_SIG_DEFAULT);
    return wasi__result(w, r);
}

/* ---- who ---- */

int wasi__host_ids(struct wasi *w, const uint64_t *args)
{
    const struct proc *p = w->p;
    /* There is one session, known by its group (as /proc/PID/stat has it), and nobody runs with another's rights. */
    const int pids[] = {p->pid, p->ppid, p->pgid, p->pgid};
    const uint32_t ids[] = {p->cred.uid, p->cred.uid, p->cred.gid, p->cred.gid};
    if (!wasi_in(w, ARG32(0), 32))
        return WASI_FAULT;
    wasi_put(w, ARG32(0), pids, sizeof pids);
    wasi_put(w, ARG32(0) + UINT64_C(16), ids, sizeof ids);
    return 0;
}

int wasi__host_umask(struct wasi *w, const uint64_t *args)
{
    if (!wasi_in(w, ARG32(1), 4))
        return WASI_FAULT;
    wasi_put32(w, ARG32(1), w->p->umask);
    w->p->umask = ARG32(0) & 0777;
    return 0;
}

int wasi__host_cpu_times(struct wasi *w, const uint64_t *args)
{
    int64_t own, children;
    if (!wasi_in(w, ARG32(0), 16))
        return WASI_FAULT;
    proc_times(w->p, &own, &children);
    wasi_put64(w, ARG32(0), (uint64_t)own);
    wasi_put64(w, ARG32(0) + UINT64_C(8), (uint64_t)children);
    return 0;
}
