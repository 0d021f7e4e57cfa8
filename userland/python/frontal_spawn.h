/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What subprocess does between fork and exec, said beforehand as the actions of posix_spawn(). _posixsubprocess.c of
 * CPython includes this and calls frontal_spawn() in the place of its do_fork_exec(), with the same arguments.
 *
 * An error goes the way that it goes there: into the error pipe, as "OSError:HEX-ERRNO:" with "noexec" behind it when
 * the failure came before the exec. The pid is then one that no process has, so that waiting for it finds nothing.
 *
 * preexec_fn cannot be: it is Python code that would run in a copy of this process. start_new_session is a process
 * group of its own, which is what it is used for: no session here has more than the one terminal.
 */
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

enum { FRONTAL_NO_PID = 0x7fffffff, FRONTAL_FDS = 1024 };

static void frontal_spawn_report(int fd, int err, int before_exec)
{
    char text[40];
    int n = snprintf(text, sizeof(text), "OSError:%X:%s", (unsigned)frontal_errno_number(err), before_exec ? "noexec" : "");

    (void)_Py_write_noraise(fd, text, (size_t)n);
}

static PyObject *frontal_no_preexec(void)
{
    PyErr_SetString(PyExc_NotImplementedError,
                    "preexec_fn needs a fork, which the sandbox does not have; use cwd, env, umask, pass_fds, "
                    "start_new_session or a wrapping sh -c");
    return NULL;
}

/* A copy above the standard three, so that no later action overwrites it. */
static int frontal_spawn_high(int fd, int *ret_high)
{
    *ret_high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return *ret_high < 0 ? errno : 0;
}

static int frontal_spawn_kept(PyObject *fds, int fd)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fds); i++)
        if (PyLong_AsLong(PyTuple_GET_ITEM(fds, i)) == fd)
            return 1;
    return 0;
}

/* Closes what exec would leave open, and keeps what the caller asks for. The first preopened directory is WASI's. */
static int frontal_spawn_descriptors(posix_spawn_file_actions_t *fa, int close_fds, PyObject *keep, int errpipe)
{
    int err = 0;

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keep) && err == 0; i++) {
        int fd = (int)PyLong_AsLong(PyTuple_GET_ITEM(keep, i));

        if (fd != errpipe)
            err = posix_spawn_file_actions_adddup2(fa, fd, fd);
    }
    for (int fd = 4; close_fds && fd < FRONTAL_FDS && err == 0; fd++) {
        int flags = fcntl(fd, F_GETFD);

        if (flags >= 0 && (flags & FD_CLOEXEC) == 0 && !frontal_spawn_kept(keep, fd))
            err = posix_spawn_file_actions_addclose(fa, fd);
    }
    return err;
}

static pid_t frontal_spawn(char *const exec_array[], char *const argv[], char *const envp[], const char *cwd,
                           int p2cread, int p2cwrite, int c2pread, int c2pwrite, int errread, int errwrite,
                           int errpipe_read, int errpipe_write, int close_fds, int restore_signals, int call_setsid,
                           pid_t pgid_to_set, int call_setgid, gid_t gid, int call_setgroups, size_t groups_size,
                           const gid_t *groups, int call_setuid, uid_t uid, int child_umask, const void *child_sigmask,
                           PyObject *py_fds_to_keep, PyObject *preexec_fn, PyObject *preexec_fn_args_tuple)
{
    int std[3] = {p2cread, c2pwrite, errwrite}, high[3] = {-1, -1, -1}, dirfd = -1;
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    int err = 0, first = 0, before_exec = 1;
    mode_t old_umask = 0;
    short flags = 0;
    sigset_t sigs;
    pid_t pid = -1;

    (void)p2cwrite, (void)c2pread, (void)errread, (void)errpipe_read, (void)child_sigmask, (void)preexec_fn_args_tuple;
    (void)groups, (void)preexec_fn;
    posix_spawn_file_actions_init(&fa);
    posix_spawnattr_init(&attr);
    /* Nobody becomes another; to be who one is succeeds. */
    if ((call_setuid && uid != getuid()) || (call_setgid && gid != getgid()) || (call_setgroups && groups_size != 0))
        err = EPERM;
    for (int i = 0; i < 3 && err == 0; i++)
        if (std[i] >= 0)
            err = frontal_spawn_high(std[i], &high[i]);
    for (int i = 0; i < 3 && err == 0; i++)
        if (high[i] >= 0)
            err = posix_spawn_file_actions_adddup2(&fa, high[i], i);
    if (err == 0 && cwd != NULL) {
        dirfd = open(cwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        err = dirfd < 0 ? errno : posix_spawn_file_actions_addfchdir_np(&fa, dirfd);
    }
    if (err == 0)
        err = frontal_spawn_descriptors(&fa, close_fds, py_fds_to_keep, errpipe_write);
    if (restore_signals) {
        flags |= POSIX_SPAWN_SETSIGDEF;
        sigemptyset(&sigs);
        sigaddset(&sigs, SIGPIPE);
        sigaddset(&sigs, SIGXFSZ);
        posix_spawnattr_setsigdefault(&attr, &sigs);
    }
    if (call_setsid || pgid_to_set >= 0) {
        flags |= POSIX_SPAWN_SETPGROUP;
        posix_spawnattr_setpgroup(&attr, call_setsid ? 0 : pgid_to_set);
    }
    posix_spawnattr_setflags(&attr, flags);
    if (child_umask >= 0)
        old_umask = umask((mode_t)child_umask);
    if (err == 0) {
        /* As execvp: the first failure that is more than absence is the one to tell. */
        before_exec = 0;
        for (int i = 0; exec_array[i] != NULL; i++) {
            err = posix_spawn(&pid, exec_array[i], &fa, &attr, argv, envp != NULL ? envp : environ);
            if (err == 0)
                break;
            if (err != ENOENT && err != ENOTDIR && first == 0)
                first = err;
        }
        if (err != 0 && first != 0)
            err = first;
    }
    if (child_umask >= 0)
        umask(old_umask);
    for (int i = 0; i < 3; i++)
        if (high[i] >= 0)
            close(high[i]);
    if (dirfd >= 0)
        close(dirfd);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&fa);
    if (err != 0) {
        frontal_spawn_report(errpipe_write, err, before_exec);
        return FRONTAL_NO_PID;
    }
    return pid;
}
