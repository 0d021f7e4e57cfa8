/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/test/state_test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/test/test.h"

struct state_test state_test_new(void)
{
    struct state_test t = {.dir = "/dev/shm/state-test-XXXXXX"};
    struct err err = {0};
    if (access("/dev/shm", W_OK))
        snprintf(t.dir, sizeof(t.dir), "/tmp/state-test-XXXXXX");
    CHECK(mkdtemp(t.dir) != NULL);
    snprintf(t.path, sizeof(t.path), "%s/state", t.dir);
    CHECK_INT(state_open(t.path, true, &t.s, &err), 0);
    return t;
}

void state_test_done(struct state_test *t)
{
    char cmd[128];
    state_close(t->s);
    snprintf(cmd, sizeof(cmd), "rm -rf %s", t->dir);
    CHECK_INT(system(cmd), 0);
}

struct trace_state state_test_state(uint8_t n)
{
    struct trace_state st;
    memset(st.root.b, n, sizeof(st.root.b));
    memset(st.image.b, n + 1, sizeof(st.image.b));
    memset(st.shell.b, n + 2, sizeof(st.shell.b));
    return st;
}

void state_test_session(struct state *s, const char *name, char ret_id[STATE_ID_MAX])
{
    struct state_session ses;
    struct trace *t;
    struct err err = {0};
    CHECK_INT(state_session_create(s, str_c(name), &ses, &err), 0);
    CHECK_C(err.text, "");
    struct trace_event e = {
        .type = TRACE_CREATED,
        .u.created = {str_c(ses.id), STR(""), STR("user=user\n"), state_test_state(1)},
    };
    CHECK_INT(trace_open(fd_steal(&ses.trace_fd), TRACE_APPEND | TRACE_NEW, &t, NULL, &err), 0);
    CHECK_INT(trace_append(t, &e), 0);
    CHECK_INT(trace_flush(t), 0);
    trace_close(t);
    CHECK_INT(state_session_commit(s, &ses, &err), 0);
    memcpy(ret_id, ses.id, STATE_ID_MAX);
    state_session_close(&ses);
}

void state_test_exec(struct state *s, const char *who, uint8_t n, bool end)
{
    struct state_session ses;
    struct trace *t;
    struct err err = {0};
    CHECK_INT(state_session_open(s, str_c(who), true, 0, &ses, &err), 0);
    CHECK_INT(trace_open(fd_steal(&ses.trace_fd), TRACE_APPEND, &t, NULL, &err), 0);
    struct trace_event exec = {.type = TRACE_EXEC, .u.exec = {.text = STR("true"), .first_pid = 7}};
    struct trace_event output = {.type = TRACE_OUTPUT, .u.output = {.stream = 1, .size = 1, .data = STR("x")}};
    struct trace_event last = {.type = TRACE_END, .u.end.state = state_test_state(n)};
    CHECK_INT(trace_append(t, &exec), 0);
    CHECK_INT(trace_append(t, &output), 0);
    if (end)
        CHECK_INT(trace_append(t, &last), 0);
    CHECK_INT(trace_flush(t), 0);
    trace_close(t);
    state_session_close(&ses);
}

static void watched(void (*fn)(void *arg), void *arg)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
        _exit(99);
    raise(SIGSTOP);
    fn(arg);
    _exit(0);
}

long state_test_watch(void (*fn)(void *arg), void *arg, long kill_at)
{
    int status;
    long stops = 0;
    pid_t pid = fork();
    if (pid == 0)
        watched(fn, arg);
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        return -1;
    /* Each call stops when it is entered and when it is left. */
    while (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        if (++stops == 2 * kill_at - 1)
            kill(pid, SIGKILL);
    }
    if (kill_at && !WIFEXITED(status) && !WIFSIGNALED(status))
        waitpid(pid, &status, 0);
    CHECK(kill_at || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    return (stops + 1) / 2;
}
