/* SPDX-License-Identifier: Apache-2.0 */

/*
 * posix_spawn and what stands on it. The host does close, dup and chdir-by-descriptor in the child, in order. Opening
 * is done here, in the parent and just before, at a high descriptor that closes on exec; the child then gets a dup.
 */
#include "host.h"
#include "block.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind {
    ACT_CLOSE,
    ACT_DUP,
    ACT_OPEN,
    ACT_CHDIR,
    ACT_FCHDIR,
};

struct compat_spawn_action {
    enum kind kind;
    int fd, fd2, flags;
    mode_t mode;
    char *path;
};

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *fa)
{
    *fa = (posix_spawn_file_actions_t){0};
    return 0;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *fa)
{
    for (unsigned i = 0; i < fa->n; i++)
        free(fa->list[i].path);
    free(fa->list);
    *fa = (posix_spawn_file_actions_t){0};
    return 0;
}

static int add(posix_spawn_file_actions_t *fa, struct compat_spawn_action a, const char *path)
{
    if (a.fd < 0 || a.fd2 < 0)
        return EBADF;
    if (fa->n == fa->size) {
        unsigned size = fa->size * 2 + 8;
        struct compat_spawn_action *list = realloc(fa->list, size * sizeof(*list));

        if (list == NULL)
            return ENOMEM;
        fa->list = list;
        fa->size = size;
    }
    if (path != NULL && (a.path = strdup(path)) == NULL)
        return ENOMEM;
    fa->list[fa->n++] = a;
    return 0;
}

int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *fa, int fd)
{
    return add(fa, (struct compat_spawn_action){.kind = ACT_CLOSE, .fd = fd}, NULL);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *fa, int fd, int fd2)
{
    return add(fa, (struct compat_spawn_action){.kind = ACT_DUP, .fd = fd, .fd2 = fd2}, NULL);
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *fa, int fd, const char *path, int flags, mode_t mode)
{
    return add(fa, (struct compat_spawn_action){.kind = ACT_OPEN, .fd = fd, .flags = flags, .mode = mode}, path);
}

int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *fa, const char *path)
{
    return add(fa, (struct compat_spawn_action){.kind = ACT_CHDIR}, path);
}

int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t *fa, int fd)
{
    return add(fa, (struct compat_spawn_action){.kind = ACT_FCHDIR, .fd = fd}, NULL);
}

int posix_spawnattr_init(posix_spawnattr_t *a)
{
    *a = (posix_spawnattr_t){0};
    return 0;
}

int posix_spawnattr_destroy(posix_spawnattr_t *a)
{
    (void)a;
    return 0;
}

int posix_spawnattr_setflags(posix_spawnattr_t *a, short flags)
{
    a->flags = flags;
    return 0;
}

int posix_spawnattr_getflags(const posix_spawnattr_t *a, short *flags)
{
    *flags = a->flags;
    return 0;
}

int posix_spawnattr_setpgroup(posix_spawnattr_t *a, pid_t pgroup)
{
    a->pgroup = pgroup;
    return 0;
}

int posix_spawnattr_getpgroup(const posix_spawnattr_t *a, pid_t *pgroup)
{
    *pgroup = a->pgroup;
    return 0;
}

int posix_spawnattr_setsigdefault(posix_spawnattr_t *a, const sigset_t *set)
{
    a->sigdefault = *set;
    return 0;
}

int posix_spawnattr_getsigdefault(const posix_spawnattr_t *a, sigset_t *set)
{
    *set = a->sigdefault;
    return 0;
}

int posix_spawnattr_setsigmask(posix_spawnattr_t *a, const sigset_t *set)
{
    a->sigmask = *set;
    return 0;
}

int posix_spawnattr_getsigmask(const posix_spawnattr_t *a, sigset_t *set)
{
    *set = a->sigmask;
    return 0;
}

/* Flags of the host for @a. A group of another leader and a new session cannot be had. */
static int host_flags(const posix_spawnattr_t *a, int *ret_flags)
{
    int flags = 0;

    if (a != NULL) {
        if ((a->flags & POSIX_SPAWN_SETSID) != 0)
            return ENOSYS;
        if ((a->flags & POSIX_SPAWN_SETPGROUP) != 0) {
            if (a->pgroup == 0)
                flags |= 2;
            else if (a->pgroup != getpgrp())
                return EPERM;
        }
        /* The host resets all that are ignored; do so when a signal that is ignored here is among the wanted. */
        if ((a->flags & POSIX_SPAWN_SETSIGDEF) != 0)
            for (int sig = 1; sig < NSIG; sig++)
                if (sigismember(&a->sigdefault, sig) == 1 && compat_handler(sig) == SIG_IGN)
                    flags |= 4;
    }
    *ret_flags = flags;
    return 0;
}

/* A descriptor that no action of @fa names, so that none of them overwrites it. */
static int first_free(const posix_spawn_file_actions_t *fa)
{
    int min = 10;

    for (unsigned i = 0; i < fa->n; i++) {
        if (fa->list[i].fd >= min)
            min = fa->list[i].fd + 1;
        if (fa->list[i].fd2 >= min)
            min = fa->list[i].fd2 + 1;
    }
    return min;
}

/*
 * Opens what action @a opens, relative to @dirfd, at a descriptor not below @min. The host offers no O_EXCL in the
 * child either way: whether the file was made by the parent or the child is not to be told.
 */
static int open_for(const struct compat_spawn_action *a, int dirfd, int min, int *ret_fd)
{
    int flags = a->kind == ACT_CHDIR ? O_RDONLY | O_DIRECTORY : a->flags;
    int fd = openat(dirfd, a->path, flags | O_CLOEXEC, a->mode);
    int high;

    if (fd < 0)
        return errno;
    high = fcntl(fd, F_DUPFD_CLOEXEC, min);
    if (high < 0) {
        int err = errno;

        close(fd);
        return err;
    }
    close(fd);
    *ret_fd = high;
    return 0;
}

/* Fills @out (room for every action) and @opened with descriptors to close afterwards. */
static int translate(const posix_spawn_file_actions_t *fa, struct host_action *out, int *opened, unsigned *ret_opened)
{
    int min = first_free(fa), dirfd = AT_FDCWD;
    unsigned n = 0;

    for (unsigned i = 0; i < fa->n; i++) {
        const struct compat_spawn_action *a = &fa->list[i];
        int err;

        switch (a->kind) {
        case ACT_CLOSE:
            out[i] = (struct host_action){HOST_CLOSE, (uint32_t)a->fd, 0};
            continue;
        case ACT_DUP:
            out[i] = (struct host_action){HOST_DUP, (uint32_t)a->fd, (uint32_t)a->fd2};
            continue;
        case ACT_FCHDIR:
            out[i] = (struct host_action){HOST_CHDIR, (uint32_t)a->fd, 0};
            dirfd = a->fd;
            continue;
        case ACT_OPEN:
        case ACT_CHDIR:
            break;
        }
        err = open_for(a, dirfd, min, &opened[n]);
        *ret_opened = err == 0 ? n + 1 : n;
        if (err != 0)
            return err;
        if (a->kind == ACT_OPEN) {
            out[i] = (struct host_action){HOST_DUP, (uint32_t)opened[n], (uint32_t)a->fd};
        } else {
            out[i] = (struct host_action){HOST_CHDIR, (uint32_t)opened[n], 0};
            dirfd = opened[n];
        }
        n++;
    }
    return 0;
}

static int spawn(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *fa, const posix_spawnattr_t *attr,
                 char *const argv[], char *const envp[], int flags)
{
    unsigned n = fa != NULL ? fa->n : 0, n_opened = 0;
    struct host_action *actions = malloc((n + 1) * sizeof(*actions));
    int *opened = malloc((n + 1) * sizeof(*opened));
    struct block a = {0}, e = {0};
    int pid, more = 0, err = 0, saved = errno;

    if (actions == NULL || opened == NULL || block_init(&a, argv) < 0 || block_init(&e, envp) < 0)
        err = ENOMEM;
    if (err == 0)
        err = host_flags(attr, &more);
    if (err == 0 && n != 0)
        err = translate(fa, actions, opened, &n_opened);
    compat_before_exec();
    if (err == 0)
        err = host_spawn(path, strlen(path), a.text, a.n, e.text, e.n, actions, n, flags | more, &pid);
    compat_after_exec();
    if (err == 0 && ret_pid != NULL)
        *ret_pid = pid;
    for (unsigned i = 0; i < n_opened; i++)
        close(opened[i]);
    block_done(&a);
    block_done(&e);
    free(actions);
    free(opened);
    errno = saved;
    return err;
}

int posix_spawn(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *fa, const posix_spawnattr_t *attr,
                char *const argv[], char *const envp[])
{
    return spawn(ret_pid, path, fa, attr, argv, envp, 0);
}

int posix_spawnp(pid_t *ret_pid, const char *file, const posix_spawn_file_actions_t *fa, const posix_spawnattr_t *attr,
                 char *const argv[], char *const envp[])
{
    return spawn(ret_pid, file, fa, attr, argv, envp, 1);
}

int system(const char *command)
{
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    int err, status;
    pid_t pid;

    if (command == NULL)
        return access("/bin/sh", X_OK) == 0;
    err = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
    if (err != 0)
        return host_result(err);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* --- popen */

struct stream {
    struct stream *next;
    FILE *f;
    pid_t pid;
};

static struct stream *streams;

FILE *popen(const char *command, const char *mode)
{
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    bool reads = mode[0] == 'r';
    posix_spawn_file_actions_t fa;
    struct stream *s;
    int fds[2], mine, err;

    if ((mode[0] != 'r' && mode[0] != 'w') || (mode[1] != '\0' && strcmp(mode + 1, "e") != 0)) {
        errno = EINVAL;
        return NULL;
    }
    s = malloc(sizeof(*s));
    if (s == NULL)
        return NULL;
    /* Both ends close on exec: so no child, this one or another popen's, holds them by accident. */
    if (pipe2(fds, O_CLOEXEC) < 0)
        goto fail;
    mine = reads ? fds[0] : fds[1];
    s->f = fdopen(mine, reads ? "r" : "w");
    if (s->f == NULL)
        goto fail_pipe;
    posix_spawn_file_actions_init(&fa);
    err = posix_spawn_file_actions_adddup2(&fa, reads ? fds[1] : fds[0], reads ? 1 : 0);
    if (err == 0)
        err = posix_spawn(&s->pid, "/bin/sh", &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    close(reads ? fds[1] : fds[0]);
    if (err != 0) {
        fclose(s->f);
        errno = err;
        goto fail;
    }
    s->next = streams;
    streams = s;
    return s->f;
fail_pipe:
    close(fds[0]);
    close(fds[1]);
fail:
    free(s);
    return NULL;
}

int pclose(FILE *f)
{
    for (struct stream **at = &streams; *at != NULL; at = &(*at)->next) {
        struct stream *s = *at;
        pid_t pid = s->pid, got;
        int status;

        if (s->f != f)
            continue;
        *at = s->next;
        free(s);
        fclose(f);
        do
            got = waitpid(pid, &status, 0);
        while (got < 0 && errno == EINTR);
        return got < 0 ? -1 : status;
    }
    return host_result(ECHILD);
}
