/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include_next <sys/random.h>
#include <sys/types.h>

#define GRND_NONBLOCK 1
#define GRND_RANDOM 2

#ifdef __cplusplus
extern "C" {
#endif
ssize_t getrandom(void *buf, size_t n, unsigned flags);
#ifdef __cplusplus
}
#endif
