/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/wasm_int.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>

/*
 * The epoch's clock, without a thread. A timer sends SIGALRM each millisecond while a program runs. To arm and disarm
 * it around each call of a program would cost two system calls; so it is left running, and its handler stops it when it
 * has found nobody to tick for a few times.
 */

#define TICK_US 1000
#define IDLE_TICKS 4

static wasm_engine_t *volatile ticking; /* NULL: no program runs */
static volatile sig_atomic_t armed, idle;

static void set_timer(long us)
{
    const struct itimerval t = {{0, us}, {0, us}};
    (void)setitimer(ITIMER_REAL, &t, NULL); /* fails only for arguments out of range */
}

static void on_alarm(int sig)
{
    (void)sig;
    int saved = errno;
    if (ticking) {
        idle = 0;
        wasmtime_engine_increment_epoch(ticking);
    } else if (++idle >= IDLE_TICKS) {
        set_timer(0);
        armed = 0;
    }
    errno = saved;
}

void wasm__tick_begin(wasm_engine_t *engine)
{
    /* In this order: from here on the handler disarms nothing. */
    ticking = engine;
    if (armed)
        return;
    armed = 1;
    idle = 0;
    /* On the alternate stack, because what it interrupts may be at the end of its own. */
    struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART | SA_ONSTACK};
    (void)sigaction(SIGALRM, &sa, NULL);
    set_timer(TICK_US);
}

void wasm__tick_end(void)
{
    ticking = NULL;
}

void wasm__tick_forget(void)
{
    ticking = NULL;
    if (armed)
        set_timer(0);
    armed = 0;
}
