/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"
#include "wasm/wasi_int.h"

#define RANDOM_CHUNK 65536u /* bytes between looks whether the process must end */

/* ---- arguments and environment ---- */

static uint64_t bytes_of(char *const *v, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += strlen(v[i]) + 1;
    return sum;
}

static int put_strings(struct wasi *w, char *const *v, uint32_t n, uint32_t at_v, uint32_t at)
{
    if (!wasi_in_array(w, at_v, n, 4) || !wasi_in(w, at, bytes_of(v, n)))
        return WASI_FAULT;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t len = (uint32_t)strlen(v[i]) + 1;
        wasi_put32(w, at_v + UINT64_C(4) * i, at);
        wasi_put(w, at, v[i], len);
        at += len;
    }
    return 0;
}

static int put_sizes(struct wasi *w, char *const *v, uint32_t n, uint32_t at_n, uint32_t at_bytes)
{
    if (!wasi_in(w, at_n, 4) || !wasi_in(w, at_bytes, 4))
        return WASI_FAULT;
    wasi_put32(w, at_n, n);
    wasi_put32(w, at_bytes, (uint32_t)bytes_of(v, n)); /* at most LIMIT_ARGS */
    return 0;
}

int wasi__args_get(struct wasi *w, const uint64_t *args)
{
    return put_strings(w, w->argv, (uint32_t)w->argc, ARG32(0), ARG32(1));
}

int wasi__args_sizes_get(struct wasi *w, const uint64_t *args)
{
    return put_sizes(w, w->argv, (uint32_t)w->argc, ARG32(0), ARG32(1));
}

int wasi__environ_get(struct wasi *w, const uint64_t *args)
{
    return put_strings(w, w->env, w->n_env, ARG32(0), ARG32(1));
}

int wasi__environ_sizes_get(struct wasi *w, const uint64_t *args)
{
    return put_sizes(w, w->env, w->n_env, ARG32(0), ARG32(1));
}

/* ---- clocks ---- */

enum { CLOCKID_REAL, CLOCKID_MONO, CLOCKID_PROCESS, CLOCKID_THREAD, CLOCKID_N };

int wasi__clock_res_get(struct wasi *w, const uint64_t *args)
{
    if (ARG32(0) >= CLOCKID_N)
        return WASI_INVAL;
    if (!wasi_in(w, ARG32(1), 8))
        return WASI_FAULT;
    wasi_put64(w, ARG32(1), 1);
    return 0;
}

int wasi__clock_time_get(struct wasi *w, const uint64_t *args)
{
    int64_t t, children;
    TRY(wasi__turn(w));
    if (ARG32(0) >= CLOCKID_N)
        return WASI_INVAL;
    if (!wasi_in(w, ARG32(2), 8))
        return WASI_FAULT;
    if (ARG32(0) == CLOCKID_REAL)
        t = proc_wall(w->p->ps);
    else if (ARG32(0) == CLOCKID_MONO)
        t = proc_now(w->p->ps);
    else
        proc_times(w->p, &t, &children);
    wasi_put64(w, ARG32(2), t < 0 ? 0 : (uint64_t)t);
    return 0;
}

/* ---- random ---- */

int wasi__random_get(struct wasi *w, const uint64_t *args)
{
    uint32_t at = ARG32(0), n = ARG32(1);
    if (n > RANDOM_CHUNK && !w->may_block)
        return WASI_BLOCK;
    do {
        TRY(wasi__turn(w));
        if (!wasi_in(w, at, n))
            return WASI_FAULT;
        uint32_t k = NUM_MIN(n, RANDOM_CHUNK);
        if (k)
            proc_entropy(w->p->ps, wasi_at(w, at), k);
        at += k;
        n -= k;
    } while (n);
    return 0;
}

/* ---- the end, signals, turns ---- */

int wasi__proc_exit(struct wasi *w, const uint64_t *args)
{
    w->end = WASI_EXITED;
    w->exit_code = ARG32(0);
    return WASI_END;
}

/* Linux's number of a signal of WASI, which leaves out 16 (STKFLT); 0 when there is none. */
static int linux_signal(uint32_t sig)
{
    if (sig == 0 || sig > 30)
        return 0;
    return (int)(sig < 16 ? sig : sig + 1);
}

int wasi__proc_raise(struct wasi *w, const uint64_t *args)
{
    int sig = linux_signal(ARG32(0));
    if (ARG32(0) == 0)
        return 0;
    if (!sig)
        return WASI_INVAL;
    if (!w->may_block) /* it may stop itself, which is a switch */
        return WASI_BLOCK;
    int r = proc_kill(w->p, w->p->pid, sig);
    wasi__refresh(w);
    return wasi__result(w, r);
}

int wasi__sched_yield(struct wasi *w, const uint64_t *args)
{
    (void)args;
    if (!w->may_block)
        return WASI_BLOCK;
    proc_yield(w->p);
    wasi__refresh(w);
    return wasi__result(w, 0);
}

/* ---- sockets: there are none ---- */

static int no_socket(struct wasi *w, uint32_t fd)
{
    int r = wasi__fd(w, fd, 0);
    return r ? r : WASI_NOTSOCK;
}

int wasi__sock_accept(struct wasi *w, const uint64_t *args)
{
    return no_socket(w, ARG32(0));
}

int wasi__sock_recv(struct wasi *w, const uint64_t *args)
{
    return no_socket(w, ARG32(0));
}

int wasi__sock_send(struct wasi *w, const uint64_t *args)
{
    return no_socket(w, ARG32(0));
}

int wasi__sock_shutdown(struct wasi *w, const uint64_t *args)
{
    return no_socket(w, ARG32(0));
}
