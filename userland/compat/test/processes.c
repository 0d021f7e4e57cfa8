/* SPDX-License-Identifier: Apache-2.0 */

/* Children: posix_spawn and its actions, popen, system, wait, kill, exec. Wants sh, cat, echo in PATH. */
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/times.h>
#include <sys/wait.h>

static int run(const posix_spawn_file_actions_t *fa, const posix_spawnattr_t *attr, const char *script)
{
    char *argv[] = {"sh", "-c", (char *)script, NULL};
    int status, err;
    pid_t pid;

    err = posix_spawn(&pid, "/bin/sh", fa, attr, argv, environ);
    if (err != 0) {
        errno = err;
        return -1;
    }
    return waitpid(pid, &status, 0) == pid ? status : -2;
}

static const char *content(const char *path)
{
    static char buf[256];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, buf, sizeof(buf) - 1);

    close(fd);
    buf[n < 0 ? 0 : n] = '\0';
    return buf;
}

int main(int argc, char **argv)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    int status, p[2];
    char buf[64];
    pid_t pid;
    FILE *f;

    if (argc > 1 && strcmp(argv[1], "exec") == 0) {
        execlp("sh", "sh", "-c", "exit $1", "sh", argv[2], NULL);
        _exit(99);
    }
    own_directory();
    ok(WEXITSTATUS(run(NULL, NULL, "exit 7")) == 7, "exit status");
    ok(WTERMSIG(run(NULL, NULL, "kill -TERM $$")) == SIGTERM, "ended by a signal");
    ok(posix_spawn(&pid, "/none", NULL, NULL, (char *[]){"none", NULL}, environ) == ENOENT, "no such program");
    ok(posix_spawn(&pid, "/tmp", NULL, NULL, (char *[]){"tmp", NULL}, environ) == EACCES, "a directory");
    ok(posix_spawnp(&pid, "no-such-command", NULL, NULL, (char *[]){"x", NULL}, environ) == ENOENT, "not in PATH");
    fails(wait(&status), ECHILD);
    fails(waitpid(99999, &status, 0), ECHILD);

    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 1, "out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&fa, 1, 2);
    ok(run(&fa, NULL, "echo one; echo two >&2") == 0 && strcmp(content("out"), "one\ntwo\n") == 0, "addopen, adddup2");
    posix_spawn_file_actions_destroy(&fa);
    mkdir("d", 0755);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addchdir_np(&fa, "d");
    posix_spawn_file_actions_addopen(&fa, 1, "../out", O_WRONLY | O_TRUNC, 0);
    ok(run(&fa, NULL, "basename \"$PWD\"; pwd | sed 's:.*/::'") == 0 && strstr(content("out"), "d\n") != NULL,
       "addchdir, and a path relative to it");
    ok(access("out", F_OK) == 0, "our own directory is what it was");
    posix_spawn_file_actions_destroy(&fa);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addclose(&fa, 0);
    ok(WEXITSTATUS(run(&fa, NULL, "cat >/dev/null 2>&1 || exit 3")) == 3, "addclose");
    posix_spawn_file_actions_destroy(&fa);

    signal(SIGPIPE, SIG_IGN);
    posix_spawnattr_init(&attr);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attr, &set);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    ok(run(NULL, NULL, "kill -PIPE $$; exit 4") == 4 << 8, "an ignored signal stays ignored");
    ok(WTERMSIG(run(NULL, &attr, "kill -PIPE $$; exit 4")) == SIGPIPE, "unless it is reset");
    signal(SIGPIPE, SIG_DFL);

    (void)!pipe2(p, O_CLOEXEC);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, p[1], 1);
    pid = 0;
    ok(posix_spawnp(&pid, "echo", &fa, NULL, (char *[]){"echo", "hi", NULL}, environ) == 0 && pid > 0, "posix_spawnp");
    close(p[1]);
    ok(read(p[0], buf, sizeof(buf)) == 3 && memcmp(buf, "hi\n", 3) == 0, "its output");
    ok(read(p[0], buf, sizeof(buf)) == 0, "and the end of it");
    ok(wait(&status) == pid && WIFEXITED(status), "wait finds it");
    posix_spawn_file_actions_destroy(&fa);

    char *sleeper[] = {"sh", "-c", "read x", NULL};
    (void)!pipe2(p, O_CLOEXEC);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, p[0], 0);
    ok(posix_spawn(&pid, "/bin/sh", &fa, NULL, sleeper, environ) == 0 && waitpid(pid, &status, WNOHANG) == 0,
       "WNOHANG: it runs on");
    works(kill(pid, 0));
    works(kill(pid, SIGKILL));
    ok(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "killed");
    fails(kill(pid, 0), ESRCH);
    posix_spawn_file_actions_destroy(&fa);

    f = popen("echo from a child; exit 5", "r");
    ok(f != NULL && fgets(buf, sizeof(buf), f) != NULL && strcmp(buf, "from a child\n") == 0, "popen reads");
    ok(WEXITSTATUS(pclose(f)) == 5, "pclose tells the status");
    f = popen("cat >written", "w");
    ok(f != NULL && fputs("to a child", f) >= 0 && pclose(f) == 0 && strcmp(content("written"), "to a child") == 0,
       "popen writes");
    ok((errno = 0, popen("x", "z")) == NULL && errno == EINVAL, "popen's mode");
    ok(WEXITSTATUS(system("exit 6")) == 6 && system(NULL) != 0, "system");
    ok(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char *[]){argv[0], "exec", "8", NULL}, environ) != 0 ||
           (waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 8),
       "exec in a child of our own kind");
    fails(execv("/none", argv), ENOENT);
#ifdef __wasm__
    fails(fork(), ENOSYS);
#endif
    ok(getpid() > 0 && getppid() > 0 && getpgrp() > 0 && getpid() != getppid(), "ids");
    struct tms t;
    ok(times(&t) != (clock_t)-1, "times");
    return done_testing();
}
