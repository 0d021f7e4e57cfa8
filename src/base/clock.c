/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

static int64_t now(clockid_t id)
{
    struct timespec ts = {0};
    clock_gettime(id, &ts); /* cannot fail for these clocks */
    return (int64_t)ts.tv_sec * CLOCK_S + ts.tv_nsec;
}

int64_t clock_wall(void)
{
    return now(CLOCK_REALTIME);
}

int64_t clock_mono(void)
{
    return now(CLOCK_MONOTONIC);
}

int64_t clock_cpu(void)
{
    return now(CLOCK_THREAD_CPUTIME_ID);
}
