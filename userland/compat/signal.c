/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Signals. The host knows two dispositions of a signal, default and ignored, and carries both out. A handler stays
 * here: it runs when the program raises the signal itself. For a signal that comes from outside the host takes the
 * default, with one exception: while SIGPIPE has a handler or is blocked the host ignores it, so that the write that would
 * have raised it gives EPIPE; the handler runs then, and the write fails when that returns.
 */
#include "host.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t __real_write(int fd, const void *buf, size_t n);
ssize_t __real_writev(int fd, const struct iovec *iov, int n);

void *compat_pthread_values[COMPAT_PTHREAD_KEYS];
unsigned compat_pthread_n_keys;

static struct sigaction actions[NSIG];
static sigset_t blocked, pending;

/* wasi-libc's header takes the addresses of these two as SIG_IGN and SIG_ERR. They are never called. */
void __SIG_IGN(int sig)
{
    (void)sig;
}

void __SIG_ERR(int sig)
{
    (void)sig;
    __builtin_trap();
}

static bool valid(int sig)
{
    return sig > 0 && sig < NSIG;
}

void (*compat_handler(int sig))(int)
{
    return valid(sig) ? actions[sig].sa_handler : SIG_DFL;
}

int sigemptyset(sigset_t *set)
{
    *set = (sigset_t){0};
    return 0;
}

int sigfillset(sigset_t *set)
{
    memset(set, 0xff, sizeof(*set));
    return 0;
}

int sigaddset(sigset_t *set, int sig)
{
    if (!valid(sig))
        return host_result(EINVAL);
    set->__bits[(sig - 1) / 32] |= 1UL << ((sig - 1) % 32);
    return 0;
}

int sigdelset(sigset_t *set, int sig)
{
    if (!valid(sig))
        return host_result(EINVAL);
    set->__bits[(sig - 1) / 32] &= ~(1UL << ((sig - 1) % 32));
    return 0;
}

int sigismember(const sigset_t *set, int sig)
{
    if (!valid(sig))
        return host_result(EINVAL);
    return (set->__bits[(sig - 1) / 32] >> ((sig - 1) % 32)) & 1;
}

/* Whether a write to a broken pipe must not end the program: SIGPIPE is caught or waits. */
static bool pipe_held(void)
{
    void (*handler)(int) = actions[SIGPIPE].sa_handler;

    return (handler != SIG_DFL && handler != SIG_IGN) || sigismember(&blocked, SIGPIPE) == 1;
}

int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    if (!valid(sig))
        return host_result(EINVAL);
    if (old != NULL)
        *old = actions[sig];
    if (act != NULL) {
        if ((sig == SIGKILL || sig == SIGSTOP) && act->sa_handler != SIG_DFL)
            return host_result(EINVAL);
        actions[sig] = *act;
        if (sig != SIGKILL && sig != SIGSTOP)
            (void)host_sig_disposition(sig, act->sa_handler == SIG_IGN || (sig == SIGPIPE && pipe_held()));
    }
    return 0;
}

void (*signal(int sig, void (*handler)(int)))(int)
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;

    return sigaction(sig, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
}

static bool ignored_by_default(int sig)
{
    return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH;
}

/* A signal that the program sends to itself. */
static int deliver(int sig)
{
    struct sigaction act = actions[sig];
    sigset_t saved = blocked;
    siginfo_t info;

    if (sigismember(&blocked, sig) == 1 && sig != SIGKILL && sig != SIGSTOP)
        return sigaddset(&pending, sig);
    if (act.sa_handler == SIG_IGN || (act.sa_handler == SIG_DFL && ignored_by_default(sig)))
        return 0;
    if (act.sa_handler == SIG_DFL) {
        int err = host_kill(getpid(), sig);

        if (err == ENOSYS)
            _exit(128 + sig);
        return host_result(err);
    }
    if ((act.sa_flags & SA_RESETHAND) != 0)
        actions[sig].sa_handler = SIG_DFL;
    for (unsigned i = 0; i < 2; i++)
        blocked.__bits[i] |= act.sa_mask.__bits[i];
    if ((act.sa_flags & SA_NODEFER) == 0)
        sigaddset(&blocked, sig);
    info = (siginfo_t){.si_signo = sig, .si_code = SI_USER, .si_pid = getpid(), .si_uid = getuid()};
    if ((act.sa_flags & SA_SIGINFO) != 0)
        act.sa_sigaction(sig, &info, NULL);
    else
        act.sa_handler(sig);
    blocked = saved;
    return 0;
}

static ssize_t written(ssize_t n)
{
    if (n < 0 && errno == EPIPE && pipe_held()) {
        (void)deliver(SIGPIPE);
        errno = EPIPE;
    }
    return n;
}

ssize_t __wrap_write(int fd, const void *buf, size_t n)
{
    return written(__real_write(fd, buf, n));
}

/* What stdio writes with. */
ssize_t __wrap_writev(int fd, const struct iovec *iov, int n)
{
    return written(__real_writev(fd, iov, n));
}

/* exec(3) sets a caught signal to its default, and the host believes that SIGPIPE is ignored. Nor does it know masks. */
void compat_before_exec(void)
{
    if (pipe_held() && actions[SIGPIPE].sa_handler != SIG_IGN)
        (void)host_sig_disposition(SIGPIPE, 0);
}

void compat_after_exec(void)
{
    if (pipe_held())
        (void)host_sig_disposition(SIGPIPE, 1);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t was = blocked;

    if (set != NULL)
        for (unsigned i = 0; i < 2; i++) {
            switch (how) {
            case SIG_BLOCK:
                blocked.__bits[i] |= set->__bits[i];
                break;
            case SIG_UNBLOCK:
                blocked.__bits[i] &= ~set->__bits[i];
                break;
            case SIG_SETMASK:
                blocked.__bits[i] = set->__bits[i];
                break;
            default:
                return host_result(EINVAL);
            }
        }
    if (old != NULL)
        *old = was;
    if (sigismember(&was, SIGPIPE) != sigismember(&blocked, SIGPIPE))
        (void)host_sig_disposition(SIGPIPE, pipe_held() || actions[SIGPIPE].sa_handler == SIG_IGN);
    for (int sig = 1; sig < NSIG; sig++)
        if (sigismember(&pending, sig) == 1 && sigismember(&blocked, sig) == 0) {
            sigdelset(&pending, sig);
            (void)deliver(sig);
        }
    return 0;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return sigprocmask(how, set, old) < 0 ? errno : 0;
}

int sigpending(sigset_t *set)
{
    *set = pending;
    return 0;
}

/* Nothing from outside would ever end these waits. */
int sigsuspend(const sigset_t *set)
{
    (void)set;
    return host_result(ENOSYS);
}

int sigwait(const sigset_t *set, int *ret_sig)
{
    for (int sig = 1; sig < NSIG; sig++)
        if (sigismember(set, sig) == 1 && sigismember(&pending, sig) == 1) {
            sigdelset(&pending, sig);
            *ret_sig = sig;
            return 0;
        }
    return ENOSYS;
}

int pause(void)
{
    return host_result(ENOSYS);
}

int siginterrupt(int sig, int on)
{
    (void)on;
    return valid(sig) ? 0 : host_result(EINVAL);
}

int sigaltstack(const stack_t *ss, stack_t *old)
{
    (void)ss;
    if (old != NULL)
        *old = (stack_t){.ss_flags = 2}; /* SS_DISABLE */
    return 0;
}

int raise(int sig)
{
    return valid(sig) ? deliver(sig) : host_result(EINVAL);
}

int kill(pid_t pid, int sig)
{
    if (sig != 0 && valid(sig) && pid == getpid())
        return deliver(sig);
    return host_result(host_kill(pid, sig));
}

int killpg(pid_t pgrp, int sig)
{
    return pgrp < 0 ? host_result(EINVAL) : kill(-pgrp, sig);
}

/* wasi-libc's traps at once, without SIGABRT. */
_Noreturn void abort(void)
{
    (void)raise(SIGABRT);
    (void)host_kill(getpid(), SIGABRT);
    __builtin_trap();
}

/* No timers: alarm() has no way to say so, setitimer() has. */
unsigned alarm(unsigned seconds)
{
    (void)seconds;
    return 0;
}

int setitimer(int which, const struct itimerval *val, struct itimerval *old)
{
    (void)which, (void)old;
    return val->it_value.tv_sec == 0 && val->it_value.tv_usec == 0 ? 0 : host_result(ENOSYS);
}

int getitimer(int which, struct itimerval *val)
{
    (void)which;
    *val = (struct itimerval){0};
    return 0;
}
