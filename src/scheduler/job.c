/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Verbs of the command line as processes: what reads trees and logs of a tenant (diff, merge, replay) is done by a
 * process of its own, that ends, and not in the process that all tenants share.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "scheduler/scheduler_int.h"
#include "types/errtab.h"

#define ARGS 16
#define MESSAGE_MAX (64u << 10)

struct job {
    struct job *next;
    struct sched *s;
    char *argv[ARGS + 4];
    sched_job_done *fn;
    void *arg;
    pid_t pid;
    bool started;
    struct stream {
        struct job *job;
        int fd;
        struct source source;
        struct buf text;
        bool overflow;
    } streams[2];
};

static void start_waiting(struct sched *s);

static void job_free(struct job *j)
{
    struct job **at = &j->s->jobs;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    for (int i = 0; i < 2; i++) {
        fd_close(&j->streams[i].fd);
        buf_done(&j->streams[i].text);
    }
    for (int i = 0; i < ARGS + 4; i++)
        mem_free(j->argv[i]);
    mem_free(j);
}

static void finish(struct job *j, int status)
{
    struct sched *s = j->s;
    if (j->started)
        s->n_jobs--;
    if (j->streams[0].overflow) {
        buf_clear(&j->streams[1].text);
        buf_addc(&j->streams[1].text, "the answer is too long");
        status = -1;
    }
    j->fn(j->arg, status, buf_str(&j->streams[0].text), buf_str(&j->streams[1].text));
    job_free(j);
    start_waiting(s);
}

static void on_readable(void *arg, uint32_t events)
{
    struct stream *st = arg;
    struct job *j = st->job;
    char block[65536];
    (void)events;
    ssize_t n = read(st->fd, block, sizeof(block));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        if (buf_add(&st->text, block, (size_t)n))
            st->overflow = true;
        return;
    }
    sched__poll_end(j->s, st->fd);
    fd_close(&st->fd);
    if (j->streams[0].fd >= 0 || j->streams[1].fd >= 0)
        return;
    /* Both streams are closed: it has ended, or is about to. */
    int status = 0;
    pid_t r;
    do
        r = waitpid(j->pid, &status, 0);
    while (r < 0 && errno == EINTR);
    finish(j, r > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static int spawn(struct job *j, int out, int errs)
{
    posix_spawn_file_actions_t acts;
    posix_spawnattr_t attr;
    sigset_t none;
    char named[] = "FRONTAL_SANDBOX_ERRORS=named";
    size_t n = 0;
    while (environ[n])
        n++;
    MEM_AUTO char **envp = mem_alloc((n + 2) * sizeof(*envp));
    memcpy(envp, environ, n * sizeof(*envp));
    envp[n] = named;
    envp[n + 1] = NULL;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&acts);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_addopen(&acts, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&acts, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&acts, errs, STDERR_FILENO);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    int r = posix_spawn(&j->pid, j->s->program, &acts, &attr, j->argv, envp);
    posix_spawn_file_actions_destroy(&acts);
    posix_spawnattr_destroy(&attr);
    return -r;
}

static void start(struct job *j)
{
    int p[2][2] = {{-1, -1}, {-1, -1}};
    int r = pipe2(p[0], O_CLOEXEC) || pipe2(p[1], O_CLOEXEC) ? -errno : 0;
    if (r == 0)
        r = spawn(j, p[0][1], p[1][1]);
    for (int i = 0; i < 2; i++) {
        fd_close(&p[i][1]);
        j->streams[i].fd = fd_steal(&p[i][0]);
        if (r == 0) {
            (void)fcntl(j->streams[i].fd, F_SETFL, O_NONBLOCK); /* of a pipe that is ours */
            r = sched__poll(j->s, j->streams[i].fd, &j->streams[i].source, 0);
        }
    }
    if (r == 0) {
        j->started = true;
        j->s->n_jobs++;
        return;
    }
    buf_addf(&j->streams[1].text, "%s cannot be started: %s", j->s->program, errtab_text(r));
    finish(j, -1);
}

static void start_waiting(struct sched *s)
{
    struct job *last = NULL;
    if (s->n_jobs >= LIMIT_JOBS)
        return;
    for (struct job *j = s->jobs; j; j = j->next)
        last = j->started ? last : j; /* the newest is first */
    if (last)
        start(last);
}

void sched_job(struct sched_tenant *t, const char *const *argv, sched_job_done *fn, void *arg)
{
    struct job *j = mem_zalloc(sizeof(*j));
    int n = 0;
    j->s = t->s;
    j->fn = fn;
    j->arg = arg;
    for (int i = 0; i < 2; i++) {
        j->streams[i] = (struct stream){.job = j, .fd = -1, .source = {on_readable, &j->streams[i]}};
        buf_init(&j->streams[i].text, i == 0 ? LIMIT_JOB_OUTPUT : MESSAGE_MAX);
    }
    j->argv[n++] = mem_dup(t->s->program, strlen(t->s->program));
    for (int i = 0; argv[i] && i < ARGS; i++)
        j->argv[n++] = mem_dup(argv[i], strlen(argv[i]));
    const char *path = state_path(t->state);
    j->argv[n++] = mem_dup("--state", 7);
    j->argv[n++] = mem_dup(path, strlen(path));
    j->next = t->s->jobs;
    t->s->jobs = j;
    start_waiting(t->s);
}

void sched__jobs_end(struct sched *s)
{
    while (s->jobs) {
        struct job *j = s->jobs;
        if (j->started) {
            (void)kill(j->pid, SIGTERM);
            (void)waitpid(j->pid, NULL, 0); /* the verbs end at once */
        }
        job_free(j);
    }
}
