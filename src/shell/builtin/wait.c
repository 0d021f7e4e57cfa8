/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/job_int.h"

#include <errno.h>

#include "base/mem.h"
#include "shell/builtin/target_int.h"

struct wait_opts {
    bool next;      /* -n */
    bool finish;    /* -f */
    struct str var; /* -p */
    bool written;   /* as NAME[…] */
};

/* A trapped signal ends the waiting at once; its trap runs after that. The status tells the signal. */
static int interrupted(struct shell *sh)
{
    uint64_t pending = sh->p->sig_pending & sh->p->sig_caught;
    int sig = 0;
    while (pending && !(pending >> sig & 1))
        sig++;
    int status = 128 + sig + 1;
    sh->last_status = status;
    (void)sh_poll(sh);
    return status;
}

static void set_pid(struct shell *sh, const struct wait_opts *w, int pid)
{
    char text[16];
    if (w->var.p)
        (void)target_assign(sh, "wait", w->var, w->written,
                            str_of(text, (size_t)snprintf(text, sizeof text, "%d", pid)));
}

/* One operand: the status, or -EINTR. */
static int wait_one(struct shell *sh, const struct wait_opts *w, struct str id)
{
    uint64_t pid;
    int status = 127, r;
    if (id.n && id.p[0] == '%') {
        struct job *j = job_find(sh, id, "wait");
        if (!j)
            return 127;
        set_pid(sh, w, j->pids[j->n - 1]);
        r = job_wait_done(sh, j, &status);
        if (r == -EINTR)
            return r;
        j->waited = j->notified = true;
        return status;
    }
    if (str_u64(id, &pid) < 0) {
        sh_error(sh, "wait: `%s': not a pid or valid job spec", id.p);
        return 1;
    }
    r = pid <= INT32_MAX ? job_wait_known(sh, (int)pid, &status) : -ECHILD;
    if (r == -EINTR)
        return r;
    if (r < 0) {
        sh_error(sh, "wait: pid %s is not a child of this shell", id.p);
        return 127;
    }
    set_pid(sh, w, (int)pid);
    for (struct job *j = sh->jobs; j; j = j->next)
        if (j->pids[j->n - 1] == (int)pid && j->state == JOB_DONE)
            j->waited = j->notified = true;
    return status;
}

static struct job *job_of_operand(struct shell *sh, struct str id)
{
    uint64_t pid;
    if (id.n && id.p[0] == '%')
        return job_find(sh, id, "wait");
    for (struct job *j = sh->jobs; j && str_u64(id, &pid) == 0; j = j->next)
        for (uint32_t i = 0; i < j->n; i++)
            if ((uint64_t)j->pids[i] == pid)
                return j;
    sh_error(sh, "wait: %s: no such job", id.p);
    return NULL;
}

static int wait_next(struct shell *sh, const struct wait_opts *w, struct builtin_args *a, int from)
{
    uint32_t n = 0;
    struct job **jobs = arena_alloc(&sh->scratch, (size_t)(a->argc - from + 1) * sizeof *jobs);
    for (int i = from; i < a->argc; i++) {
        struct job *j = job_of_operand(sh, a->argv[i]);
        if (j)
            jobs[n++] = j;
    }
    if (from < a->argc && n == 0)
        return 127;
    int status, pid;
    int r = job_wait_next(sh, jobs, n, &status, &pid);
    if (r == -EINTR)
        return interrupted(sh);
    if (r < 0)
        return 127;
    set_pid(sh, w, pid);
    return status;
}

static int builtin_wait(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct wait_opts w = {0};
    int c, status = 0;
    while ((c = builtin_getopt(sh, a, "fnp:", &o)) != -1) {
        if (c == 'n')
            w.next = true;
        else if (c == 'f')
            w.finish = true;
        else if (c == 'p')
            w.var = o.arg;
        else
            return 2;
    }
    if (w.var.p) {
        struct target t;
        w.written = builtin_written(a, w.var);
        if (target_parse(sh, w.var, w.written, &t) < 0) {
            sh_error(sh, "wait: `%s': not a valid identifier", w.var.p);
            return 1;
        }
        (void)(t.elem ? var_unset_elem(sh, t.sym, t.key, t.index) : var_unset(sh, t.sym));
    }
    if (sh->jobs_inherited)
        job_drop_all(sh);
    sh->jobs_inherited = false;
    if (w.next)
        return wait_next(sh, &w, a, o.i);
    if (o.i >= a->argc)
        return job_wait_all(sh) == -EINTR ? interrupted(sh) : 0;
    for (int i = o.i; i < a->argc; i++) {
        status = wait_one(sh, &w, a->argv[i]);
        if (status == -EINTR)
            return interrupted(sh);
    }
    return status;
}

BUILTIN(
    wait, "wait", builtin_wait, BUILTIN_POSIX | BUILTIN_REFS, "wait [-fn] [-p var] [id ...]",
    "    Wait for processes (by number) or jobs (%n) to end, or for all children.\n"
    "\n"
    "      -f      wait until they end, not only until they change\n"
    "      -n      wait for the next one of them to end\n"
    "      -p var  put the number of the process into var\n"
    "\n"
    "    The status is that of the last id; 127 when there is no such child; above 128 when a trapped signal came.\n");
