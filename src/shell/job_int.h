/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * job - background jobs, foreground jobs of job control, and the statuses of children.
 *
 * A shell's children are foreground children, which whoever started them waits for by number, and the rest: processes
 * of jobs, and processes that are remembered by number only (process substitutions). job_reap() takes what has ended;
 * what nobody asked for yet is kept in sh->known, newest last, at most JOB_KNOWN of them.
 */

#include "shell/shell_int.h"

#define JOB_KNOWN 4096

/* A new background job of processes that were just started; sets $! and, in an interactive shell, prints "[1] 12". */
void job_background(struct shell *sh, const int *pids, uint32_t n, struct node *node);
/* Job control: gives the processes the terminal, waits until they end or stop. The job's status. */
int job_foreground(struct shell *sh, const int *pids, uint32_t n, const struct node *node);
/* The same with each one's status, and PIPESTATUS set. */
int job_foreground_statuses(struct shell *sh, const int *pids, uint32_t n, const struct node *node, int *statuses);
/* A child that is no job but may be waited for by its number. */
void job_remember(struct shell *sh, int pid);
/* The outcome of a child that was reaped without being asked for: true and *ret; it is forgotten. */
bool job_take(struct shell *sh, int pid, struct outcome *ret);
/* The message about a child that a signal ended, as bash prints it (jobs.c of its manual: "JOB CONTROL"), or nothing
 * where bash is silent. */
void job_tell_killed(struct shell *sh, int pid, struct outcome o, const struct node *n, bool foreground);
/* Waits for the job to end (or stop, in job control): 0 and *ret, or -EINTR when a trapped signal came or this shell
 * must end. */
int job_wait_done(struct shell *sh, struct job *j, int *ret);
/* As job_wait_done() for a child by its number; -ECHILD when it is none. */
int job_wait_known(struct shell *sh, int pid, int *ret);
/* Waits for the next of @jobs (n == 0: any job or known child) to end: 0, *ret and *ret_pid; -ECHILD when there is
 * none; -EINTR. */
int job_wait_next(struct shell *sh, struct job *const *jobs, uint32_t n, int *ret, int *ret_pid);
/* Waits for all children: 0 or -EINTR. */
int job_wait_all(struct shell *sh);
/* Status of an ended job: of its last process. */
int job_status(const struct job *j);
/* The current (%+) and previous (%-) job, or NULL. */
struct job *job_current(struct shell *sh);
/* See job_current(). */
struct job *job_previous(struct shell *sh);
/* Drops jobs that have ended and been told about. */
void job_clean(struct shell *sh);
/* Prints what changed since the last prompt (interactive shells). */
void job_notify(struct shell *sh);
/* Continues a stopped job, in the foreground (its status) or not. */
int job_continue(struct shell *sh, struct job *j, bool foreground);
/* Gives the clone @c the jobs of its parent, for `jobs` to list; nothing of them is the clone's. */
void job_inherit(struct shell *c, const struct shell *parent);
/* Frees the table. */
void job_drop_all(struct shell *sh);
