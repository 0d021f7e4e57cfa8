/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A handler runs when the program sends the signal to itself, and never otherwise: see compat/README.md. */
#ifndef _WASI_EMULATED_SIGNAL
#define _WASI_EMULATED_SIGNAL
#endif
#include_next <signal.h>

#define __NEED_pid_t
#define __NEED_uid_t
#define __NEED_size_t
#include <__typedef_sigset_t.h>
#include <bits/alltypes.h>

#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SA_NOCLDSTOP 1
#define SA_NOCLDWAIT 2
#define SA_SIGINFO 4
#define SA_ONSTACK 0x08000000
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND 0x80000000

#define SI_USER 0
#define FPE_INTDIV 1
#define FPE_INTOVF 2
#define FPE_FLTDIV 3
#define FPE_FLTOVF 4
#define FPE_FLTUND 5
#define FPE_FLTRES 6
#define FPE_FLTINV 7
#define FPE_FLTSUB 8

#ifndef NSIG
#define NSIG _NSIG
#endif
#define SIGCLD SIGCHLD
#define SIGRTMIN 35
#define SIGRTMAX 64
#define MINSIGSTKSZ 2048
#define SIGSTKSZ 8192

union sigval {
    int sival_int;
    void *sival_ptr;
};

typedef struct {
    int si_signo, si_errno, si_code;
    pid_t si_pid;
    uid_t si_uid;
    void *si_addr;
    int si_status;
    union sigval si_value;
} siginfo_t;

struct sigaction {
    union {
        void (*sa_handler)(int);
        void (*sa_sigaction)(int, siginfo_t *, void *);
    } __handler;
    sigset_t sa_mask;
    int sa_flags;
};
#define sa_handler __handler.sa_handler
#define sa_sigaction __handler.sa_sigaction

typedef struct {
    void *ss_sp;
    int ss_flags;
    size_t ss_size;
} stack_t;

#ifdef __cplusplus
extern "C" {
#endif
int sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int sigprocmask(int how, const sigset_t *set, sigset_t *old);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int sig);
int sigdelset(sigset_t *set, int sig);
int sigismember(const sigset_t *set, int sig);
int sigpending(sigset_t *set);
int sigsuspend(const sigset_t *set);
int sigwait(const sigset_t *set, int *ret_sig);
int siginterrupt(int sig, int on);
int sigaltstack(const stack_t *ss, stack_t *old);
int kill(pid_t pid, int sig);
int killpg(pid_t pgrp, int sig);
char *strsignal(int sig);
#ifdef __cplusplus
}
#endif
