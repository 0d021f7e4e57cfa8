/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include_next <sys/time.h>

#define ITIMER_REAL 0
#define ITIMER_VIRTUAL 1
#define ITIMER_PROF 2
struct itimerval {
    struct timeval it_interval, it_value;
};
#if !defined(_GNU_SOURCE) && !defined(_BSD_SOURCE)
struct timezone {
    int tz_minuteswest, tz_dsttime;
};
#endif

#ifdef __cplusplus
extern "C" {
#endif
int getitimer(int which, struct itimerval *val);
int setitimer(int which, const struct itimerval *val, struct itimerval *old);
int settimeofday(const struct timeval *tv, const struct timezone *tz);
int utimes(const char *path, const struct timeval t[2]);
int futimes(int fd, const struct timeval t[2]);
int lutimes(const char *path, const struct timeval t[2]);
#ifdef __cplusplus
}
#endif
