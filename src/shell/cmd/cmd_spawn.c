/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "engine/engine.h"

/* Where execvp(3) of glibc looks when PATH is not set. */
#define SPAWN_PATH "/bin:/usr/bin"

/* Stack that an inline child needs: a program may be a shell. */
#define SPAWN_STACK (384u << 10)

struct spawn {
    int argc;
    char **argv;
    char **(*env)(void *);
    void *env_arg;
    const char *path; /* value of PATH */
    int err;          /* negative errno when nothing began */
    bool orphan;      /* the parent is gone; who runs it frees it */
    bool ended;       /* who runs it is done with it */
};

static char **env_given(void *arg)
{
    return arg;
}

static const char *env_find(char **env, const char *name)
{
    size_t n = strlen(name);
    for (; *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}

/* A file without a known form is a shell script, as execvp(3) has it. */
static int exec_script(struct proc *p, struct spawn *s, const char *file, struct outcome *ret)
{
    char **v = mem_try(((size_t)s->argc + 2) * sizeof *v);
    if (!v)
        return -ENOMEM;
    v[0] = (char *)(uintptr_t) "/bin/sh";
    v[1] = (char *)(uintptr_t)file;
    for (int i = 1; i <= s->argc; i++)
        v[i + 1] = s->argv[i];
    if (s->argc == 0)
        v[2] = NULL;
    int r = proc_exec(p, STR("/bin/sh"), s->argc > 0 ? s->argc + 1 : 2, v, s->env, s->env_arg, ret);
    mem_free(v);
    return r;
}

static int exec_one(struct proc *p, struct spawn *s, const char *file, struct outcome *ret)
{
    int r = proc_exec(p, str_c(file), s->argc, s->argv, s->env, s->env_arg, ret);
    return r == -ENOEXEC ? exec_script(p, s, file, ret) : r;
}

/* The search of execvp(3). */
static int exec_search(struct proc *p, struct spawn *s, struct outcome *ret)
{
    const char *name = s->argv[0];
    if (*name == 0)
        return -ENOENT;
    if (strchr(name, '/'))
        return exec_one(p, s, name, ret);
    char file[LIMIT_PATH];
    int found = -ENOENT;
    const char *dir = s->path;
    for (;;) {
        const char *e = strchrnul(dir, ':');
        size_t n = (size_t)(e - dir), len = strlen(name);
        if (n + len + 2 <= sizeof file) {
            memcpy(file, dir, n);
            if (n > 0)
                file[n++] = '/';
            memcpy(file + n, name, len + 1);
            int r = exec_one(p, s, file, ret);
            if (r == -EACCES)
                found = r;
            else if (r != -ENOENT && r != -ENOTDIR)
                return r;
        }
        if (*e == 0)
            return found;
        dir = e + 1;
    }
}

/* ---- on the caller's stack ---- */

static int spawn_inline(struct cmd *c, struct spawn *s, struct outcome *ret)
{
    struct proc *child;
    int r = proc_fork_inline(c->p, &child);
    if (r < 0)
        return r;
    struct outcome o = {.kind = OUTCOME_EXITED, .code = 127};
    r = exec_search(child, s, &o);
    o = proc_end_inline(child, o);
    if (r < 0 && o.kind == OUTCOME_EXITED)
        return r;
    *ret = o;
    return 0;
}

/* ---- on a stack of its own ---- */

static struct outcome spawn_main(struct proc *p, void *arg)
{
    struct spawn *s = arg;
    struct outcome o = {.kind = OUTCOME_EXITED, .code = 127};
    int r = exec_search(p, s, &o);
    if (s->orphan) {
        mem_free(s);
    } else {
        s->err = r < 0 ? r : 0;
        s->ended = true;
    }
    return o;
}

/* The parent goes before its child: who is last frees. */
static void spawn_leave(struct spawn *s)
{
    if (s->ended)
        mem_free(s);
    else
        s->orphan = true;
}

static size_t strings_size(char **v)
{
    size_t n = sizeof *v;
    for (; *v; v++)
        n += sizeof *v + strlen(*v) + 1;
    return n;
}

/* Copies @v to *at (pointers first, then bytes) and moves it on. */
static char **strings_copy(char **v, int count, char **at)
{
    char **to = (char **)(void *)*at;
    char *bytes = *at + ((size_t)count + 1) * sizeof *v;
    for (int i = 0; i < count; i++) {
        size_t n = strlen(v[i]) + 1;
        memcpy(bytes, v[i], n);
        to[i] = bytes;
        bytes += n;
    }
    to[count] = NULL;
    *at = bytes + (-(uintptr_t)bytes & (sizeof *v - 1));
    return to;
}

/* One block that holds all: the child may outlive the caller's arguments. */
static struct spawn *spawn_copy(const struct spawn *s)
{
    char **env = s->env ? s->env(s->env_arg) : NULL;
    static char *none[1];
    int n_env = 0;
    if (!env)
        env = none;
    while (env[n_env])
        n_env++;
    size_t path_n = strlen(s->path) + 1;
    struct spawn *k = mem_try(sizeof *k + strings_size(s->argv) + strings_size(env) + path_n + 3 * sizeof(char *));
    if (!k)
        return NULL;
    char *at = (char *)(k + 1);
    *k = *s;
    k->argv = strings_copy(s->argv, s->argc, &at);
    k->env_arg = strings_copy(env, n_env, &at);
    k->env = env_given;
    k->path = memcpy(at, s->path, path_n);
    return k;
}

/* A copy of @s and a child that runs it. */
static int spawn_begin(struct cmd *c, const struct spawn *s, struct spawn **ret, int *ret_pid)
{
    struct spawn *k = spawn_copy(s);
    struct proc *child;
    if (!k)
        return -ENOMEM;
    int r = proc_fork(c->p, true, spawn_main, k, &child);
    if (r < 0) {
        mem_free(k);
        return r;
    }
    *ret = k;
    *ret_pid = child->pid;
    return 0;
}

/* After proc_wait() gave @o: frees @k. */
static int spawn_end(struct spawn *k, struct outcome o)
{
    int r = o.kind == OUTCOME_EXITED ? k->err : 0;
    spawn_leave(k);
    return r;
}

static int spawn_forked(struct cmd *c, const struct spawn *s, struct outcome *ret)
{
    struct spawn *k;
    int pid, r = spawn_begin(c, s, &k, &pid);
    if (r < 0)
        return r;
    do {
        r = proc_wait(c->p, pid, 0, ret, NULL);
    } while (r == -EINTR && !c->p->must_end);
    if (r < 0) {
        spawn_leave(k);
        return r;
    }
    return spawn_end(k, *ret);
}

/* What to run, with the command's own environment when @env is NULL. */
static struct spawn spawn_of(struct cmd *c, int argc, char **argv, char **env)
{
    const char *path = env ? env_find(env, "PATH") : cmd_getenv(c, "PATH");
    return (struct spawn){
        .argc = argc,
        .argv = argv,
        .env = env ? env_given : c->img->env,
        .env_arg = env ? (void *)env : c->img->env_arg,
        .path = path ? path : SPAWN_PATH,
    };
}

int cmd_exec(struct cmd *c, int argc, char **argv, char **env, struct outcome *ret)
{
    struct spawn s = spawn_of(c, argc, argv, env);
    cmd_flush(c);
    return exec_search(c->p, &s, ret);
}

int cmd_spawn(struct cmd *c, int argc, char **argv, char **env, struct outcome *ret)
{
    struct spawn s = spawn_of(c, argc, argv, env);
    struct outcome o;
    cmd_flush(c);
    int r = proc_stack_left(c->p) >= SPAWN_STACK ? spawn_inline(c, &s, &o) : spawn_forked(c, &s, &o);
    if (r < 0)
        return r;
    if (ret)
        *ret = o;
    return outcome_status(o);
}

int cmd_spawn_start(struct cmd *c, int argc, char **argv, char **env, struct cmd_child *ret)
{
    struct spawn s = spawn_of(c, argc, argv, env);
    cmd_flush(c);
    return spawn_begin(c, &s, &ret->spawn, &ret->pid);
}

int cmd_spawn_wait(struct cmd *c, struct cmd_child *v, size_t n, size_t *ret_i, struct outcome *ret)
{
    for (;;) {
        int pid = proc_wait(c->p, -1, 0, ret, NULL);
        if (pid < 0 && (pid != -EINTR || c->p->must_end)) {
            for (size_t i = 0; i < n; i++)
                if (v[i].pid)
                    spawn_leave(v[i].spawn);
            return pid;
        }
        for (size_t i = 0; i < n && pid > 0; i++)
            if (v[i].pid == pid) {
                *ret_i = i;
                v[i].pid = 0;
                v[i].err = spawn_end(v[i].spawn, *ret);
                return 0;
            }
    }
}

int cmd_spawn_wait_until(struct cmd *c, struct cmd_child *child, int64_t deadline, struct outcome *ret)
{
    struct proc *p = c->p;
    (void)proc_sigaction(p, SIGCHLD, PROC_SIG_CATCH);
    for (;;) {
        p->sig_pending &= ~(1ull << (SIGCHLD - 1));
        int pid = p->must_end ? -EINTR : proc_wait(p, child->pid, WNOHANG, ret, NULL);
        if (pid < 0) {
            spawn_leave(child->spawn);
            child->pid = 0;
            return pid;
        }
        if (pid > 0) {
            child->pid = 0;
            child->err = spawn_end(child->spawn, *ret);
            return 0;
        }
        if (proc_signal_pending(p))
            return -EINTR;
        if (proc_sleep(p, deadline) == 0)
            return -ETIMEDOUT;
    }
}
