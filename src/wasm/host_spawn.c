/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>

#include "base/mem.h"
#include "wasm/host_exec_int.h"

/*
 * spawn and exec.
 *
 * A spawned child runs on a coroutine of its own. Its parent waits until the child's exec is past the point of no
 * return, or has failed, and then knows which. Both hold the struct between them, so each may be ended at any time:
 * a parent that is leaves the child to itself, as after fork; a child that is was a child, whom wait tells of.
 */

#define ACTION_BYTES 12u

enum { SPAWN_SEARCH = 1, SPAWN_GROUP = 2, SPAWN_DEFAULT = 4, SPAWN_ALL = 7 };
enum action_kind { ACTION_CLOSE, ACTION_DUP, ACTION_CHDIR };

struct action {
    uint32_t kind;
    int fd, fd2;
};

struct spawn {
    uint32_t refs;
    uint32_t flags;
    struct program program;
    struct action *actions;
    uint32_t n_actions;
    uint64_t ignored; /* signals that were the caller's to ignore */
    struct proc *child;
    bool begun, ended;
    int err; /* why it never began */
    struct proc_waitq q;
};

static void spawn_unref(struct spawn *s)
{
    if (--s->refs)
        return;
    mem_free(s->program.argv);
    mem_free(s->actions);
    mem_free(s);
}

/* ---- in the child ---- */

static int act(struct proc *p, const struct action *a)
{
    int r;
    switch ((enum action_kind)a->kind) {
    case ACTION_CLOSE:
        r = proc_close(p, a->fd);
        return r == -EBADF ? 0 : r; /* as POSIX 2024: what is closed already is no error */
    case ACTION_DUP:
        if (a->fd == a->fd2)
            return proc_set_cloexec(p, a->fd, false);
        r = proc_dup2(p, a->fd, a->fd2, false);
        return r < 0 ? r : 0;
    case ACTION_CHDIR:
        if (a->fd == (int)PREOPEN)
            return proc_chdir(p, STR("/"));
        if (!proc_get(p, a->fd))
            return -EBADF;
        return proc_fd_ino(p, a->fd) ? proc_chdir_ino(p, proc_fd_ino(p, a->fd)) : -ENOTDIR;
    }
    return -EINVAL;
}

static int prepare(struct proc *p, const struct spawn *s)
{
    if (s->flags & SPAWN_GROUP)
        (void)proc_setpgid(p, 0, 0);
    for (int sig = 1; (s->flags & SPAWN_DEFAULT) && sig <= 64; sig++)
        if (s->ignored & (UINT64_C(1) << (sig - 1)))
            (void)proc_sigaction(p, sig, PROC_SIG_DEFAULT);
    for (uint32_t i = 0; i < s->n_actions; i++) {
        int r = act(p, &s->actions[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static void begun(void *arg)
{
    struct spawn *s = arg;
    s->begun = true;
    proc_wake(&s->q);
}

static char **given(void *arg)
{
    return arg;
}

struct run {
    struct proc *p;
    const struct program *g;
    struct outcome o;
};

static int run_one(void *arg, struct str path)
{
    struct run *r = arg;
    return proc_exec(r->p, path, r->g->argc, r->g->argv, given, r->g->env, &r->o);
}

static struct outcome spawn_main(struct proc *p, void *arg)
{
    struct spawn *s = arg;
    struct run run = {.p = p, .g = &s->program};
    int r = prepare(p, s);
    if (r == 0) {
        proc_on_exec(p, begun, s);
        r = wasi__search(&s->program, run_one, &run);
        proc_on_exec(p, NULL, NULL);
    }
    if (r < 0) /* as a shell has it, for the case that the parent has gone on */
        run.o = (struct outcome){.kind = OUTCOME_EXITED, .code = r == -ENOENT ? 127 : 126};
    s->err = r < 0 ? r : 0;
    s->ended = true;
    proc_wake(&s->q);
    spawn_unref(s);
    return run.o;
}

/* ---- in the parent ---- */

/* The actions, checked and copied. */
static int take_actions(const struct wasi *w, uint32_t p, uint32_t n, struct spawn *s)
{
    if (n > LIMIT_WASI_ACTIONS)
        return WASI_INVAL;
    if (!wasi_in_array(w, p, n, ACTION_BYTES))
        return WASI_FAULT;
    if (!n)
        return 0;
    s->actions = mem_try(n * sizeof *s->actions);
    if (!s->actions)
        return WASI_NOMEM;
    s->n_actions = n;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t at = p + (uint64_t)ACTION_BYTES * i;
        struct action *a = &s->actions[i];
        *a = (struct action){wasi_get32(w, at), (int)wasi_get32(w, at + 4), (int)wasi_get32(w, at + 8)};
        if (a->kind > ACTION_CHDIR)
            return WASI_INVAL;
        /* What the process has under the preopen's number is not the caller's to give. */
        if (a->kind == ACTION_DUP && a->fd == (int)PREOPEN)
            return WASI_BADF;
    }
    return 0;
}

/* Waits until it is known how the exec went: 0, or an error and there is no child. */
static int await(struct wasi *w, struct spawn *s, int pid)
{
    struct outcome o;
    while (!s->begun && !s->ended)
        if (proc_block(w->p, &s->q, INT64_MAX) < 0 && w->p->must_end)
            return -EINTR;
    /* One that a signal ended before its exec was a child all the same. */
    if (!s->ended || !s->err || s->err == -EINTR)
        return 0;
    int r;
    do {
        r = proc_wait(w->p, pid, 0, &o, NULL);
    } while (r == -EINTR && !w->p->must_end);
    return s->err;
}

static int spawn_run(struct wasi *w, struct spawn *s, uint32_t ret)
{
    struct proc *child;
    s->ignored = w->p->sig_ignored;
    s->refs++;
    int r = proc_fork(w->p, true, spawn_main, s, &child);
    if (r < 0) {
        s->refs--;
        return wasi__result(w, r);
    }
    int pid = child->pid;
    r = await(w, s, pid);
    wasi__refresh(w);
    if (r == 0 && wasi_in(w, ret, 4))
        wasi_put32(w, ret, (uint32_t)pid);
    return wasi__result(w, r);
}

int wasi__host_spawn(struct wasi *w, const uint64_t *args)
{
    uint32_t flags = ARG32(8), ret = ARG32(9);
    if (!w->may_block)
        return WASI_BLOCK;
    TRY(wasi__turn(w));
    if (flags & ~(uint32_t)SPAWN_ALL)
        return WASI_INVAL;
    if (!wasi_in(w, ret, 4))
        return WASI_FAULT;
    struct spawn *s = mem_try_zalloc(sizeof *s);
    if (!s)
        return WASI_NOMEM;
    s->refs = 1;
    s->flags = flags;
    int r = wasi__program(w, args, (flags & SPAWN_SEARCH) != 0, &s->program);
    if (r == 0)
        r = take_actions(w, ARG32(6), ARG32(7), s);
    if (r == 0)
        r = spawn_run(w, s, ret);
    spawn_unref(s);
    return r;
}

/* ---- exec ---- */

struct probe {
    struct wasi *w;
    struct str found;
};

static int probe_one(void *arg, struct str path)
{
    struct probe *q = arg;
    int r = proc_exec_probe(q->w->p, path, NULL, NULL);
    if (r < 0)
        return r;
    char *copy = mem_try(path.n + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, path.p, path.n);
    copy[path.n] = 0;
    q->found = str_of(copy, path.n);
    return 0;
}

/* The program's memory goes before the next one begins, so all that can fail is looked at here. */
int wasi__host_exec(struct wasi *w, const uint64_t *args)
{
    struct program g;
    struct probe q = {.w = w};
    TRY(wasi__turn(w));
    if (ARG32(6) & ~(uint32_t)SPAWN_SEARCH)
        return WASI_INVAL;
    TRY(wasi__program(w, args, ARG32(6) != 0, &g));
    int r = wasi__search(&g, probe_one, &q);
    if (r < 0) {
        mem_free(g.argv);
        return wasi__result(w, r);
    }
    w->exec_path = q.found;
    w->exec_argv = g.argv;
    w->exec_env = g.env;
    w->end = WASI_EXEC;
    return WASI_END;
}
