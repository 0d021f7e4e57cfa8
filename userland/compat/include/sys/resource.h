/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#ifndef _WASI_EMULATED_PROCESS_CLOCKS
#define _WASI_EMULATED_PROCESS_CLOCKS
#endif
#include_next <sys/resource.h>
#define __NEED_id_t
#include <bits/alltypes.h>
#include <sys/types.h>

typedef unsigned long long rlim_t;
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};

#define RLIM_INFINITY (~0ULL)
#define RLIM_SAVED_CUR RLIM_INFINITY
#define RLIM_SAVED_MAX RLIM_INFINITY
#define RLIMIT_CPU 0
#define RLIMIT_FSIZE 1
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_CORE 4
#define RLIMIT_RSS 5
#define RLIMIT_NPROC 6
#define RLIMIT_NOFILE 7
#define RLIMIT_MEMLOCK 8
#define RLIMIT_AS 9
#define PRIO_PROCESS 0
#define PRIO_PGRP 1
#define PRIO_USER 2
#define PRIO_MIN (-20)
#define PRIO_MAX 20

#ifdef __cplusplus
extern "C" {
#endif
int getrlimit(int what, struct rlimit *l);
int setrlimit(int what, const struct rlimit *l);
int getpriority(int which, id_t who);
int setpriority(int which, id_t who, int prio);
#ifdef __cplusplus
}
#endif
