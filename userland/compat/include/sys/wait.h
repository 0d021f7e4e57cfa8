/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

/* Status words are those of Linux. */
#define WNOHANG 1
#define WUNTRACED 2
#define WCONTINUED 8
#define WEXITSTATUS(s) (((s) & 0xff00) >> 8)
#define WTERMSIG(s) ((s) & 0x7f)
#define WSTOPSIG(s) WEXITSTATUS(s)
#define WCOREDUMP(s) ((s) & 0x80)
#define WIFEXITED(s) (!WTERMSIG(s))
#define WIFSTOPPED(s) (((s) & 0xff) == 0x7f)
#define WIFSIGNALED(s) (WTERMSIG(s) != 0 && WTERMSIG(s) != 0x7f)
#define WIFCONTINUED(s) ((s) == 0xffff)

#ifdef __cplusplus
extern "C" {
#endif
pid_t wait(int *ret_status);
pid_t waitpid(pid_t pid, int *ret_status, int options);
pid_t wait3(int *ret_status, int options, struct rusage *ru);
pid_t wait4(pid_t pid, int *ret_status, int options, struct rusage *ru);
#ifdef __cplusplus
}
#endif
