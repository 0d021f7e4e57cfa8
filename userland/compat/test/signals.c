/* SPDX-License-Identifier: Apache-2.0 */

/* Dispositions, handlers that the program raises itself, masks, broken pipes, setjmp. */
#include "tap.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

static volatile int got, got_code;
static jmp_buf env;

static void handler(int sig)
{
    got = sig;
}

static void info_handler(int sig, siginfo_t *info, void *context)
{
    got = sig;
    (void)context;
    got_code = info->si_pid == getpid();
}

static void jumper(int sig)
{
    siglongjmp(env, sig);
}

static int deep(int n)
{
    if (n == 0)
        longjmp(env, 42);
    return deep(n - 1) + 1;
}

int main(void)
{
    struct sigaction act = {.sa_handler = handler}, old;
    sigset_t set, pending;
    int p[2], n;

    works(sigaction(SIGUSR1, &act, &old));
    ok(old.sa_handler == SIG_DFL, "the default at first");
    ok(raise(SIGUSR1) == 0 && got == SIGUSR1, "raise calls the handler");
    got = 0;
    ok(kill(getpid(), SIGUSR1) == 0 && got == SIGUSR1, "so does kill of oneself");
    act = (struct sigaction){.sa_sigaction = info_handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR2, &act, NULL);
    raise(SIGUSR2);
    ok(got == SIGUSR2 && got_code, "SA_SIGINFO");
    ok(signal(SIGUSR1, SIG_IGN) == handler && raise(SIGUSR1) == 0, "ignored");
    fails(sigaction(SIGKILL, &act, NULL), EINVAL);
    fails(sigaction(99, &act, NULL), EINVAL);

    got = 0;
    signal(SIGUSR1, handler);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    works(sigprocmask(SIG_BLOCK, &set, NULL));
    raise(SIGUSR1);
    ok(got == 0 && sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1, "blocked, pending");
    works(sigprocmask(SIG_UNBLOCK, &set, NULL));
    ok(got == SIGUSR1, "delivered when it is unblocked");

    signal(SIGPIPE, SIG_IGN);
    (void)!pipe(p);
    close(p[0]);
    ok((errno = 0, write(p[1], "x", 1)) == -1 && errno == EPIPE, "EPIPE when SIGPIPE is ignored");
    got = 0;
    signal(SIGPIPE, handler);
    ok((errno = 0, write(p[1], "x", 1)) == -1 && errno == EPIPE, "EPIPE when it has a handler");
    ok(got == SIGPIPE, "which has run");
    n = system("kill -PIPE $$");
    ok(WIFSIGNALED(n) && WTERMSIG(n) == SIGPIPE, "a child has the default in place of the handler");
    got = 0;
    ok(write(p[1], "x", 1) == -1 && got == SIGPIPE, "and the handler is still there afterwards");
    got = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    ok((errno = 0, write(p[1], "x", 1)) == -1 && errno == EPIPE && got == 0, "EPIPE when it is blocked");
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    ok(got == SIGPIPE, "the handler runs when it is unblocked");
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    ok(write(p[1], "x", 1) == -1, "blocked, with its default");
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    ok(write(p[1], "x", 1) == -1, "ignored before it is unblocked");

    n = setjmp(env);
    if (n == 0)
        deep(20);
    ok(n == 42, "longjmp out of twenty calls");
    for (volatile int i = 0; i < 1000; i++) {
        n = setjmp(env);
        if (n == 0)
            deep(1);
    }
    ok(n == 42, "a thousand times in one function");
    signal(SIGUSR1, jumper);
    n = sigsetjmp(env, 1);
    if (n == 0)
        raise(SIGUSR1);
    ok(n == SIGUSR1, "longjmp out of a handler");
    n = setjmp(env);
    if (n == 0)
        longjmp(env, 0);
    ok(n == 1, "longjmp of 0 gives 1");
    ok(WTERMSIG(system("kill -ABRT $$")) == SIGABRT, "SIGABRT of a child");
    return done_testing();
}
