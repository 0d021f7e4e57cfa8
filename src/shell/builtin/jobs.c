/* SPDX-License-Identifier: Apache-2.0 */
/* jobs, fg, bg and disown. */
#include "shell/job_int.h"

#include <errno.h>

/* ---- jobs ---- */

struct jobs_opts {
    int style; /* of job_print() */
    bool changed, running, stopped;
};

static void show(struct shell *sh, const struct jobs_opts *o, struct job *j)
{
    if ((o->changed && j->notified) || (o->running && j->state != JOB_RUNNING) ||
        (o->stopped && j->state != JOB_STOPPED))
        return;
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    job_print(sh, j, o->style, &out);
    sh_write(sh, buf_str(&out));
    j->notified = true;
}

/* jobs -x: each %spec among the words becomes the job's process group. */
static int run_with_pids(struct shell *sh, struct builtin_args *a, int from)
{
    int n = a->argc - from;
    struct str *v = arena_alloc(&sh->scratch, (size_t)(n + 1) * sizeof *v);
    if (n == 0)
        return 0;
    for (int i = 0; i < n; i++) {
        v[i] = a->argv[from + i];
        if (!v[i].n || v[i].p[0] != '%')
            continue;
        for (struct job *j = sh->jobs; j; j = j->next) {
            uint64_t id;
            if (str_u64(str_from(v[i], 1), &id) == 0 && (uint64_t)j->id == id) {
                v[i] = str_c(arena_printf(&sh->scratch, "%d", j->pids[0]));
                break;
            }
        }
    }
    return exec_argv(sh, n, v, FIND_ALL, false);
}

static int builtin_jobs(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    struct jobs_opts j = {0};
    int c, status = 0;
    while ((c = builtin_getopt(sh, a, "lpnrsx", &o)) != -1) {
        if (c == '?')
            return 2;
        if (c == 'x')
            return run_with_pids(sh, a, o.i);
        if (c == 'l')
            j.style = 1;
        if (c == 'p')
            j.style = 2;
        j.changed |= c == 'n';
        j.running |= c == 'r';
        j.stopped |= c == 's';
    }
    job_clean(sh);
    job_reap(sh);
    for (struct job *k = o.i < a->argc ? NULL : sh->jobs; k; k = k->next)
        show(sh, &j, k);
    for (int i = o.i; i < a->argc; i++) {
        struct job *k = job_find(sh, a->argv[i], "jobs");
        if (k)
            show(sh, &j, k);
        else
            status = 1;
    }
    job_clean(sh);
    return status;
}

BUILTIN(jobs, "jobs", builtin_jobs, BUILTIN_POSIX, "jobs [-lnprs] [jobspec ...] or jobs -x command [args]",
        "    List jobs.\n"
        "\n"
        "      -l  with the numbers of all processes\n"
        "      -n  only those whose state changed since it was last told\n"
        "      -p  only the number of the first process\n"
        "      -r  only running ones\n"
        "      -s  only stopped ones\n"
        "      -x  run command, each jobspec among its words replaced by the job's process group\n"
        "\n"
        "    The status is 0 unless a jobspec or an option is wrong; with -x the command's.\n");

/* ---- fg, bg ---- */

static int no_control(struct shell *sh, const char *who)
{
    sh_error(sh, "%s: no job control", who);
    return 1;
}

static struct job *operand(struct shell *sh, struct builtin_args *a, int i)
{
    return job_find(sh, i < a->argc ? a->argv[i] : (struct str){0}, a->argv[0].p);
}

static int builtin_fg(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    if (!sh_opt(sh, OPT_MONITOR))
        return no_control(sh, "fg");
    if (builtin_getopt(sh, a, "", &o) != -1)
        return 2;
    job_reap(sh);
    struct job *j = operand(sh, a, o.i);
    if (!j)
        return 1;
    if (j->state == JOB_DONE) {
        sh_error(sh, "fg: job has terminated");
        return 1;
    }
    sh_printf(sh, "%s\n", j->text);
    (void)sh_flush(sh);
    return job_continue(sh, j, true);
}

BUILTIN(fg, "fg", builtin_fg, BUILTIN_POSIX, "fg [job_spec]",
        "    Bring a job to the foreground, the current one when none is named.\n"
        "\n"
        "    The status is the job's, or 1 when there is no such job or no job control.\n");

static int resume(struct shell *sh, struct job *j)
{
    if (!j)
        return 1;
    if (j->state == JOB_DONE) {
        sh_error(sh, "bg: job has terminated");
        return 1;
    }
    if (j->state == JOB_RUNNING) {
        sh_error(sh, "bg: job %d already in background", j->id);
        return 0;
    }
    char mark = j == job_current(sh) ? '+' : j == job_previous(sh) ? '-' : ' ';
    sh_printf(sh, "[%d]%c %s &\n", j->id, mark, j->text);
    (void)sh_flush(sh);
    return job_continue(sh, j, false);
}

static int builtin_bg(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    int status = 0;
    if (!sh_opt(sh, OPT_MONITOR))
        return no_control(sh, "bg");
    if (builtin_getopt(sh, a, "", &o) != -1)
        return 2;
    job_reap(sh);
    int i = o.i;
    do {
        status = resume(sh, operand(sh, a, i));
    } while (++i < a->argc);
    return status;
}

BUILTIN(bg, "bg", builtin_bg, BUILTIN_POSIX, "bg [job_spec ...]",
        "    Continue stopped jobs in the background, the current one when none is named.\n"
        "\n"
        "    The status is 0 unless there is no such job or no job control.\n");

/* ---- disown ---- */

static void forget(struct shell *sh, struct job *j, bool only_mark)
{
    if (only_mark)
        j->nohup = true;
    else
        job_remove(sh, j);
}

static int builtin_disown(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    bool all = false, running = false, mark = false;
    int c, status = 0;
    while ((c = builtin_getopt(sh, a, "ahr", &o)) != -1) {
        if (c == '?')
            return 2;
        all |= c == 'a';
        mark |= c == 'h';
        running |= c == 'r';
    }
    job_reap(sh);
    if (o.i >= a->argc && (all || running)) {
        struct job *next;
        for (struct job *j = sh->jobs; j; j = next) {
            next = j->next;
            if (!running || j->state == JOB_RUNNING)
                forget(sh, j, mark);
        }
        return 0;
    }
    int i = o.i;
    do {
        struct job *j = operand(sh, a, i);
        if (j)
            forget(sh, j, mark);
        else
            status = 1;
    } while (++i < a->argc);
    return status;
}

BUILTIN(disown, "disown", builtin_disown, 0, "disown [-h] [-ar] [jobspec ... | pid ...]",
        "    Forget jobs, the current one when none is named.\n"
        "\n"
        "      -a  all jobs\n"
        "      -h  keep them in the table, but do not send them SIGHUP\n"
        "      -r  only running ones\n"
        "\n"
        "    The status is 0 unless a jobspec or an option is wrong.\n");
