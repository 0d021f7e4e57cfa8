/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* processes - the session's processes and its clock, as /proc tells them: what ps, pgrep, top and uptime show. */

#include <stddef.h>
#include <stdint.h>

struct cmd;

#define PROCESS_TICKS 100 /* of a second: the unit of times in /proc/PID/stat */

/* Fields as proc(5) names them. */
struct process {
    int pid, ppid, pgid, sid, tty, tpgid;
    int nice, priority, threads;
    char state;
    uint32_t uid, gid;
    uint64_t cpu;     /* user and system time, in ticks */
    uint64_t start;   /* ticks after boot */
    uint64_t vsize;   /* bytes */
    uint64_t rss;     /* pages of 4 KiB */
    const char *comm; /* at most 15 bytes */
    const char *args; /* the command line with blanks between words; "[comm]" when there is none */
};

/* All processes by number, in c->arena. */
struct process *processes_read(struct cmd *c, size_t *ret_n);

/* Seconds since boot, and the time of boot in seconds since 1970. */
double processes_uptime(struct cmd *c);
/* See processes_uptime(). */
int64_t processes_boot(struct cmd *c);

/* Prints " 14:41:51 up 15:54,  0 user,  load average: 0.00, 0.00, 0.00". */
void processes_uptime_line(struct cmd *c);

/* The value of the line "@key:  N kB" of /proc/meminfo; 0 when there is none. */
uint64_t processes_meminfo(struct cmd *c, const char *key);

/* The terminal's name as ps shows it: "pts/0", or "?". */
const char *processes_tty(const struct process *p);

/* Digits of the largest process number. */
int processes_pid_digits(struct cmd *c);

/* After a wrong option: the usage on standard error, as the tools of procps do. Returns cmd_usage_status(). */
int processes_usage(struct cmd *c);
