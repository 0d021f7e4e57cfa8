/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"
#include "config.h"
#include "pkt-line.h"
#include "run-command.h"
#include "sideband.h"
#include "tempfile.h"
#include "frontal.h"

#include <spawn.h>

int frontal_spawn(const struct child_process *cmd, const char *const *argv, char **env, const int pipes[3],
                  int *ret_cd_failed)
{
    posix_spawn_file_actions_t fa;
    int err, high[3] = {-1, -1, -1}, dir = -1;
    pid_t pid = -1;

    *ret_cd_failed = 0;
    posix_spawn_file_actions_init(&fa);
    err = 0;
    /* Copies above the standard three, which no action overwrites; they close by themselves at the exec. */
    for (int i = 0; i < 3 && err == 0; i++)
        if (pipes[i] >= 0) {
            high[i] = fcntl(pipes[i], F_DUPFD_CLOEXEC, 3);
            err = high[i] < 0 ? errno : posix_spawn_file_actions_adddup2(&fa, high[i], i);
        }
    if (err == 0 && cmd->stdout_to_stderr && pipes[1] < 0)
        err = posix_spawn_file_actions_adddup2(&fa, 2, 1);
    /* As start_command() closes in the child: its copies of the pipes, both ends. Nothing else may hold one open. */
    for (int i = 0; i < 6 && err == 0; i++) {
        int fds[6] = {pipes[0], cmd->in, pipes[1], cmd->out, pipes[2], cmd->err}, fd = fds[i], flags, seen = 0;

        for (int k = 0; k < i; k++)
            seen |= fds[k] == fd;
        flags = fd > 2 && !seen ? fcntl(fd, F_GETFD) : -1;
        if (flags >= 0 && (flags & FD_CLOEXEC) == 0)
            err = posix_spawn_file_actions_addclose(&fa, fd);
    }
    if (err == 0 && cmd->dir != NULL) {
        dir = open(cmd->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0) {
            err = errno;
            *ret_cd_failed = 1;
        } else {
            err = posix_spawn_file_actions_addfchdir_np(&fa, dir);
        }
    }
    if (err == 0)
        err = posix_spawn(&pid, argv[1], &fa, NULL, (char *const *)argv + 1, env);
    if (err == ENOEXEC)
        err = posix_spawn(&pid, argv[0], &fa, NULL, (char *const *)argv, env);
    posix_spawn_file_actions_destroy(&fa);
    for (int i = 0; i < 3; i++)
        if (high[i] >= 0)
            close(high[i]);
    if (dir >= 0)
        close(dir);
    if (err != 0) {
        errno = err;
        return -1;
    }
    return pid;
}

/* --- async */

enum { MAX_FDS = 256 };

/*
 * Sets close-on-exec on all descriptors but the standard three, and notes in @set which did not have it. The helper must
 * not hold the other end of its own pipe, nor that of the connection: the far side would wait for an end for ever.
 */
static void hide_descriptors(char set[MAX_FDS])
{
    for (int fd = 3; fd < MAX_FDS; fd++) {
        int flags = fcntl(fd, F_GETFD);

        set[fd] = flags >= 0 && (flags & FD_CLOEXEC) == 0;
        if (set[fd])
            fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
    }
}

static void show_descriptors(const char set[MAX_FDS])
{
    for (int fd = 3; fd < MAX_FDS; fd++)
        if (set[fd])
            fcntl(fd, F_SETFD, 0);
}

static int start_helper(struct async *async, int in, int out)
{
    struct child_process cmd = CHILD_PROCESS_INIT;
    char set[MAX_FDS];
    int failed;

    cmd.git_cmd = 1;
    cmd.in = dup(in);
    /* The multiplexer writes where this program writes. */
    cmd.out = out >= 0 ? dup(out) : 0;
    strvec_push(&cmd.args, "frontal-async");
    strvec_split(&cmd.args, async->frontal);
    if (cmd.in < 0 || cmd.out < 0)
        return error_errno("cannot duplicate a descriptor");
    hide_descriptors(set);
    failed = start_command(&cmd);
    show_descriptors(set);
    if (failed)
        return FRONTAL_ASYNC_FAILED;
    async->pid = cmd.pid;
    child_process_clear(&cmd);
    return async->pid;
}

/* Runs it now; what it writes is then read from a file. */
static int run_now(struct async *async, int fdout[2])
{
    struct tempfile *file = mks_tempfile_t("git-async-XXXXXX");
    int fd = file != NULL ? dup(get_tempfile_fd(file)) : -1, failed;

    if (fd < 0)
        die_errno("cannot make a temporary file");
    failed = async->proc(-1, fd, async->data) != 0;
    if (lseek(get_tempfile_fd(file), 0, SEEK_SET) < 0 || dup2(get_tempfile_fd(file), fdout[0]) < 0)
        die_errno("cannot read back %s", get_tempfile_path(file));
    delete_tempfile(&file);
    return failed ? -2 : -1;
}

int frontal_start_async(struct async *async, int proc_in, int *fdout)
{
    if (async->frontal == NULL) {
        if (proc_in >= 0 || fdout == NULL) {
            error("this needs a fork, which the sandbox does not have");
            return FRONTAL_ASYNC_FAILED;
        }
        return run_now(async, fdout);
    }
    /* A demultiplexer is given its source by way of its data. */
    return start_helper(async, proc_in >= 0 ? proc_in : *(int *)async->data, fdout != NULL ? fdout[1] : -1);
}

/* What receive-pack's copy_to_sideband() does. It is a local connection: nobody waits for signs of life. */
static int mux(void)
{
    char data[LARGE_PACKET_MAX - 5];
    ssize_t n;

    while ((n = xread(0, data, sizeof(data))) > 0) {
        char *nul = memchr(data, '\0', n); /* "all of the pack is read", from index-pack */

        if (nul != NULL) {
            send_sideband(1, 2, data, nul - data, LARGE_PACKET_MAX);
            send_sideband(1, 2, nul + 1, n - (nul + 1 - data), LARGE_PACKET_MAX);
        } else {
            send_sideband(1, 2, data, n, LARGE_PACKET_MAX);
        }
    }
    return n < 0;
}

int cmd_frontal_async(int argc, const char **argv, const char *prefix)
{
    if (argc == 3 && strcmp(argv[1], "demux") == 0)
        return recv_sideband(argv[2], 0, 1) != 0;
    if (argc == 2 && strcmp(argv[1], "mux") == 0)
        return mux();
    die("frontal-async is for git itself");
}

/* The program git-sh-i18n--envsubst of git's shell scripts, inside of this one. */
int frontal_envsubst_main(int argc, const char **argv);

int cmd_sh_i18n__envsubst(int argc, const char **argv, const char *prefix)
{
    return frontal_envsubst_main(argc, argv);
}
