/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* clock - time in signed 64-bit nanoseconds. */

#include <stdint.h>

#define CLOCK_US INT64_C(1000)
#define CLOCK_MS INT64_C(1000000)
#define CLOCK_S INT64_C(1000000000)

/* Nanoseconds since 1970-01-01 UTC. */
int64_t clock_wall(void);

/* Nanoseconds of a clock that never goes back. */
int64_t clock_mono(void);
/* CPU nanoseconds this thread has used. */
int64_t clock_cpu(void);
