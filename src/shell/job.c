/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/job_int.h"

#include <errno.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "shell/exec_int.h"
#include "shell/trap_int.h"

/* ---- children that are known by number ---- */

struct known {
    int pid;
    bool done;
    struct outcome o;
};

static struct known *find_known(struct shell *sh, int pid)
{
    for (uint32_t i = sh->n_known; i-- > 0;)
        if (sh->known[i].pid == pid)
            return &sh->known[i];
    return NULL;
}

static void forget(struct shell *sh, struct known *k)
{
    size_t i = (size_t)(k - sh->known);
    memmove(k, k + 1, (sh->n_known - i - 1) * sizeof *k);
    sh->n_known--;
}

static struct known *add_known(struct shell *sh, int pid)
{
    struct known *k = find_known(sh, pid);
    if (k)
        forget(sh, k); /* the number was used again */
    if (sh->n_known == JOB_KNOWN)
        forget(sh, sh->known);
    if (sh->n_known == sh->cap_known) {
        sh->cap_known = sh->cap_known ? sh->cap_known * 2 : 8;
        sh->known = mem_realloc(sh->known, sh->cap_known * sizeof *sh->known);
    }
    k = &sh->known[sh->n_known++];
    *k = (struct known){.pid = pid};
    return k;
}

void job_remember(struct shell *sh, int pid)
{
    (void)add_known(sh, pid);
}

bool job_take(struct shell *sh, int pid, struct outcome *ret)
{
    struct known *k = find_known(sh, pid);
    if (!k || !k->done)
        return false;
    *ret = k->o;
    forget(sh, k);
    return true;
}

/* ---- jobs ---- */

static void free_job(struct job *j)
{
    for (uint32_t i = 0; i < j->n; i++)
        mem_free(j->texts[i]);
    mem_free(j->texts);
    mem_free(j->pids);
    mem_free(j->statuses);
    mem_free(j->outcomes);
    mem_free(j->text);
    mem_free(j);
}

void job_remove(struct shell *sh, struct job *j)
{
    struct job **at = &sh->jobs;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    free_job(j);
}

void job_drop_all(struct shell *sh)
{
    while (sh->jobs)
        job_remove(sh, sh->jobs);
    mem_free(sh->known);
    sh->known = NULL;
    sh->n_known = sh->cap_known = 0;
}

void job_clean(struct shell *sh)
{
    struct job *next;
    for (struct job *j = sh->jobs; j; j = next) {
        next = j->next;
        if (j->state == JOB_DONE && j->notified)
            job_remove(sh, j);
    }
}

static char *node_text(const struct node *n)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    if (n)
        ast_print_oneline(&out, n);
    return mem_dup(out.n ? out.p : "", out.n);
}

static void drop_inherited(struct shell *sh)
{
    while (sh->jobs_inherited && sh->jobs)
        job_remove(sh, sh->jobs);
    sh->jobs_inherited = false;
}

static void *copy(const void *p, size_t n)
{
    return memcpy(mem_alloc(n), p, n);
}

void job_inherit(struct shell *c, const struct shell *parent)
{
    struct job **at = &c->jobs;
    for (const struct job *j = parent->jobs; j; j = j->next) {
        struct job *k = *at = copy(j, sizeof *j);
        at = &k->next;
        k->pids = copy(j->pids, j->n * sizeof *j->pids);
        k->statuses = copy(j->statuses, j->n * sizeof *j->statuses);
        k->outcomes = copy(j->outcomes, j->n * sizeof *j->outcomes);
        k->texts = copy(j->texts, j->n * sizeof *j->texts);
        k->text = mem_dup(j->text, strlen(j->text));
        for (uint32_t i = 0; i < j->n; i++)
            k->texts[i] = mem_dup(j->texts[i], strlen(j->texts[i]));
    }
    *at = NULL;
    c->jobs_inherited = true;
}

struct job *job_add(struct shell *sh, const int *pids, uint32_t n, int pgid, const struct node *node, bool background)
{
    struct job *j = mem_zalloc(sizeof *j), **at = &sh->jobs;
    int id = 1;
    drop_inherited(sh);
    for (; *at; at = &(*at)->next)
        id = (*at)->id + 1;
    *at = j;
    j->id = id;
    j->pgid = pgid;
    j->n = n;
    j->background = background;
    j->seq = ++sh->next_job;
    j->pids = mem_alloc(n * sizeof *pids);
    memcpy(j->pids, pids, n * sizeof *pids);
    j->statuses = mem_alloc(n * sizeof *j->statuses);
    j->outcomes = mem_zalloc(n * sizeof *j->outcomes);
    j->texts = mem_alloc(n * sizeof *j->texts);
    bool stages = node && node->kind == NODE_PIPE && node->pipe.n == n;
    for (uint32_t i = 0; i < n; i++) {
        j->statuses[i] = -1;
        j->texts[i] = node_text(stages ? node->pipe.cmds[i] : node);
    }
    j->text = node_text(node);
    return j;
}

struct job *job_current(struct shell *sh)
{
    struct job *best = NULL;
    for (struct job *j = sh->jobs; j; j = j->next) {
        if (j->state == JOB_DONE && (sh->interactive || best))
            continue;
        bool stopped = j->state == JOB_STOPPED, had = best && best->state == JOB_STOPPED;
        if (!best || (stopped && !had) || (stopped == had && j->seq > best->seq) ||
            (best->state == JOB_DONE && j->state != JOB_DONE))
            best = j;
    }
    return best;
}

struct job *job_previous(struct shell *sh)
{
    struct job *cur = job_current(sh), *best = NULL;
    for (struct job *j = sh->jobs; j; j = j->next) {
        if (j == cur || (j->state == JOB_DONE && sh->interactive))
            continue;
        bool stopped = j->state == JOB_STOPPED, had = best && best->state == JOB_STOPPED;
        if (!best || (stopped && !had) || (stopped == had && j->seq > best->seq))
            best = j;
    }
    return best;
}

int job_status(const struct job *j)
{
    if (j->state == JOB_STOPPED)
        return 128 + j->stop_signal;
    return j->statuses[j->n - 1];
}

/* ---- text ---- */

#define STATE_WIDTH 24

static void put_state(struct buf *out, const struct job *j, uint32_t i)
{
    size_t start = out->n;
    int status = j->statuses[i];
    if (status < 0)
        buf_addc(out, j->state == JOB_STOPPED
                          ? (j->stop_signal == SIGTSTP ? "Stopped" : trap_signal_text(j->stop_signal))
                          : "Running");
    else if (j->outcomes[i].kind == OUTCOME_KILLED)
        buf_addc(out, trap_signal_text(j->outcomes[i].signal));
    else if (status == 0)
        buf_addc(out, "Done");
    else
        buf_addf(out, "Exit %d", status);
    while (out->n - start < STATE_WIDTH)
        buf_putc(out, ' ');
}

/* "  12 Killed                  sleep 5", a line each; a process in the state of the one before it leaves that out. */
static void put_processes(struct buf *out, const struct job *j, bool running_mark)
{
    for (uint32_t i = 0; i < j->n; i++) {
        if (i)
            buf_addc(out, "\n     ");
        buf_addf(out, "%5d ", j->pids[i]);
        bool same = i && j->statuses[i] == j->statuses[i - 1] && j->outcomes[i].signal == j->outcomes[i - 1].signal;
        if (same)
            buf_addf(out, "%*s", STATE_WIDTH, "");
        else
            put_state(out, j, i);
        buf_addf(out, "%s%s", i ? "| " : "", j->texts[i]);
    }
    if (running_mark)
        buf_addc(out, " &");
}

void job_print(struct shell *sh, const struct job *j, int style, struct buf *out)
{
    if (style == 2) {
        buf_addf(out, "%d\n", j->pids[0]);
        return;
    }
    char mark = j == job_current(sh) ? '+' : j == job_previous(sh) ? '-' : ' ';
    bool amp = j->state == JOB_RUNNING && j->background;
    buf_addf(out, "[%d]%c", j->id, mark);
    if (style == 1) {
        put_processes(out, j, amp);
    } else {
        buf_addc(out, "  ");
        uint32_t show = j->n - 1;
        put_state(out, j, show);
        buf_addf(out, "%s%s", j->text, amp ? " &" : "");
    }
    buf_putc(out, '\n');
}

/* ---- messages about killed children ---- */

static bool silent(int sig)
{
    return sig == SIGINT || sig == SIGPIPE;
}

static void tell_job(struct shell *sh, const struct job *j, int sig)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    if (!sh->interactive && !silent(sig) && sig != SIGTERM && !trap_get(sh, sig)) {
        put_processes(&out, j, false);
        sh_error(sh, "%s", out.p);
    } else if (!j->background && !silent(sig)) {
        buf_addf(&out, "%s\n", trap_signal_text(sig));
        sh_write_fd(sh, 2, buf_str(&out));
    }
}

void job_tell_killed(struct shell *sh, int pid, struct outcome o, const struct node *n, bool foreground)
{
    if (silent(o.signal))
        return;
    struct job j = {.n = 1, .background = !foreground, .state = JOB_DONE};
    int status = outcome_status(o);
    char *text = node_text(n);
    j.pids = &pid;
    j.statuses = &status;
    j.outcomes = &o;
    j.texts = &text;
    tell_job(sh, &j, o.signal);
    mem_free(text);
}

/* ---- what children did ---- */

static bool all_done(const struct job *j)
{
    for (uint32_t i = 0; i < j->n; i++)
        if (j->statuses[i] < 0)
            return false;
    return true;
}

static struct job *job_of(struct shell *sh, int pid, uint32_t *ret_i)
{
    for (struct job *j = sh->jobs; j; j = j->next)
        for (uint32_t i = 0; i < j->n; i++)
            if (j->pids[i] == pid && j->statuses[i] < 0) {
                *ret_i = i;
                return j;
            }
    return NULL;
}

/* The job's last process (or, killed, any) decides what there is to tell. */
static void job_ended(struct shell *sh, struct job *j)
{
    struct outcome last = j->outcomes[j->n - 1];
    j->state = JOB_DONE;
    j->notified = false;
    if (!sh->interactive && last.kind == OUTCOME_KILLED && last.reason <= REASON_SIGNAL && !sh->p->must_end) {
        tell_job(sh, j, last.signal);
        j->notified = true;
    }
}

static void record(struct shell *sh, int pid, struct outcome o, int stopped)
{
    uint32_t i;
    struct job *j = job_of(sh, pid, &i);
    if (stopped) {
        if (j) {
            j->state = JOB_STOPPED;
            j->stop_signal = stopped;
            j->notified = false;
            j->seq = ++sh->next_job;
        }
        return;
    }
    trap_child(sh);
    struct known *k = find_known(sh, pid);
    if (!k)
        k = add_known(sh, pid);
    k->done = true;
    k->o = o;
    if (!j)
        return;
    j->statuses[i] = outcome_status(o);
    j->outcomes[i] = o;
    if (all_done(j))
        job_ended(sh, j);
}

void job_reap(struct shell *sh)
{
    struct outcome o;
    int stopped = 0, pid;
    while ((pid = proc_wait(sh->p, -1, WNOHANG | WUNTRACED, &o, &stopped)) > 0) {
        record(sh, pid, o, stopped);
        stopped = 0;
    }
}

/* Blocks for the next change of any child and records it: 0, -ECHILD, -EINTR. */
static int wait_change(struct shell *sh, int flags)
{
    struct outcome o;
    int stopped = 0;
    int pid = proc_wait(sh->p, -1, flags, &o, &stopped);
    if (pid > 0) {
        record(sh, pid, o, stopped);
        return 0;
    }
    return pid < 0 ? pid : -ECHILD;
}

static int stop_flag(const struct shell *sh)
{
    return sh_opt(sh, OPT_MONITOR) ? WUNTRACED : 0;
}

int job_wait_done(struct shell *sh, struct job *j, int *ret)
{
    while (j->state == JOB_RUNNING) {
        int r = wait_change(sh, stop_flag(sh));
        if (r == -ECHILD) {
            /* Its processes are gone without a trace: nothing is known of them. */
            for (uint32_t i = 0; i < j->n; i++)
                if (j->statuses[i] < 0)
                    j->statuses[i] = 127;
            j->state = JOB_DONE;
            break;
        }
        if (r < 0)
            return r;
    }
    *ret = job_status(j);
    return 0;
}

int job_wait(struct shell *sh, struct job *j)
{
    int status = 0;
    while (job_wait_done(sh, j, &status) == -EINTR)
        if (sh_poll(sh))
            return sh->last_status;
    return status;
}

int job_wait_known(struct shell *sh, int pid, int *ret)
{
    struct known *k;
    if (!find_known(sh, pid) && !proc_child(sh->p, pid))
        return -ECHILD;
    for (;;) {
        k = find_known(sh, pid);
        if (k && k->done)
            break;
        int r = wait_change(sh, 0);
        if (r == -ECHILD)
            return r;
        if (r < 0)
            return r;
    }
    *ret = outcome_status(k->o);
    return 0;
}

int job_wait_pid(struct shell *sh, int pid, int *ret_status)
{
    int r;
    while ((r = job_wait_known(sh, pid, ret_status)) == -EINTR)
        if (sh_poll(sh))
            break;
    return r;
}

/* A job that ended and was not waited for yet. */
static bool fresh(const struct job *j)
{
    return j->state == JOB_DONE && !j->waited;
}

int job_wait_next(struct shell *sh, struct job *const *jobs, uint32_t n, int *ret, int *ret_pid)
{
    for (;;) {
        bool running = false;
        for (struct job *j = sh->jobs; j; j = j->next) {
            bool asked = n == 0;
            for (uint32_t i = 0; i < n; i++)
                asked |= jobs[i] == j;
            if (!asked)
                continue;
            if (fresh(j)) {
                j->waited = j->notified = true;
                *ret = job_status(j);
                *ret_pid = j->pids[j->n - 1];
                return 0;
            }
            running |= j->state == JOB_RUNNING;
        }
        if (!running)
            return -ECHILD;
        int r = wait_change(sh, 0);
        if (r < 0)
            return r;
    }
}

int job_wait_all(struct shell *sh)
{
    for (;;) {
        int r = wait_change(sh, 0);
        if (r == -ECHILD)
            break;
        if (r < 0)
            return r;
    }
    for (struct job *j = sh->jobs; j; j = j->next)
        if (j->state == JOB_DONE)
            j->waited = j->notified = true;
    job_clean(sh);
    sh->n_known = 0;
    return 0;
}

/* ---- starting ---- */

static int own_group(struct shell *sh, const int *pids, uint32_t n)
{
    if (!sh_opt(sh, OPT_MONITOR))
        return sh->p->pgid;
    for (uint32_t i = 0; i < n; i++)
        (void)proc_setpgid(sh->p, pids[i], pids[0]);
    return pids[0];
}

void job_background(struct shell *sh, const int *pids, uint32_t n, struct node *node)
{
    int pgid = own_group(sh, pids, n);
    job_clean(sh);
    struct job *j = job_add(sh, pids, n, pgid, node, true);
    sh->last_bg_pid = pids[n - 1];
    if (!sh->interactive)
        return;
    char text[48];
    int len = snprintf(text, sizeof text, "[%d] %d\n", j->id, sh->last_bg_pid);
    sh_write_fd(sh, 2, str_of(text, (size_t)len));
}

/* Gives the terminal to the job, waits, takes it back. The job is gone after that unless it was stopped. */
static int run_foreground(struct shell *sh, struct job *j, int *statuses)
{
    proc_set_foreground(sh->ps, j->pgid);
    int status = job_wait(sh, j);
    proc_set_foreground(sh->ps, sh->p->pgid);
    exec__check_window(sh);
    if (statuses)
        memcpy(statuses, j->statuses, j->n * sizeof *statuses);
    if (j->state == JOB_STOPPED) {
        struct buf out BUF_AUTO;
        buf_init(&out, LIMIT_STRING);
        buf_putc(&out, '\n');
        j->background = true;
        j->notified = true;
        job_print(sh, j, 0, &out);
        sh_write_fd(sh, 2, buf_str(&out));
        return 128 + j->stop_signal;
    }
    if (j->state == JOB_DONE) {
        struct outcome last = j->outcomes[j->n - 1];
        if (sh->interactive && last.kind == OUTCOME_KILLED && last.signal == SIGINT)
            sh_write_fd(sh, 2, STR("\n"));
        else if (sh->interactive && last.kind == OUTCOME_KILLED)
            tell_job(sh, j, last.signal);
        job_remove(sh, j);
    }
    return status;
}

int job_foreground(struct shell *sh, const int *pids, uint32_t n, const struct node *node)
{
    return run_foreground(sh, job_add(sh, pids, n, own_group(sh, pids, n), node, false), NULL);
}

int job_foreground_statuses(struct shell *sh, const int *pids, uint32_t n, const struct node *node, int *statuses)
{
    int status = run_foreground(sh, job_add(sh, pids, n, own_group(sh, pids, n), node, false), statuses);
    if (sh->flow == FLOW_KILLED)
        return sh->last_status;
    for (uint32_t i = 0; i < n; i++)
        if (statuses[i] < 0)
            statuses[i] = status;
    exec_set_pipestatus(sh, statuses, n);
    for (uint32_t i = n; sh_opt(sh, OPT_PIPEFAIL) && status == 0 && i-- > 0;)
        status = statuses[i];
    return status;
}

int job_continue(struct shell *sh, struct job *j, bool foreground)
{
    j->state = JOB_RUNNING;
    j->notified = false;
    j->background = !foreground;
    j->seq = ++sh->next_job;
    if (foreground)
        proc_set_foreground(sh->ps, j->pgid);
    (void)proc_kill(sh->p, -j->pgid, SIGCONT);
    return foreground ? run_foreground(sh, j, NULL) : 0;
}

void job_notify(struct shell *sh)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    job_reap(sh);
    for (struct job *j = sh->jobs; j; j = j->next) {
        if (j->notified || j->state == JOB_RUNNING)
            continue;
        job_print(sh, j, 0, &out);
        j->notified = true;
    }
    if (out.n)
        sh_write_fd(sh, 2, buf_str(&out));
    job_clean(sh);
}

/* ---- %spec ---- */

static struct job *by_text(struct shell *sh, struct str t, bool inside, bool *ret_many)
{
    struct job *found = NULL;
    *ret_many = false;
    for (struct job *j = sh->jobs; j; j = j->next) {
        struct str text = str_c(j->text);
        bool hit = inside ? memmem(text.p, text.n, t.p, t.n) != NULL : str_starts(text, t);
        if (!hit)
            continue;
        *ret_many |= found != NULL;
        found = j;
    }
    return found;
}

static struct job *by_id(struct shell *sh, uint64_t id)
{
    for (struct job *j = sh->jobs; j; j = j->next)
        if ((uint64_t)j->id == id)
            return j;
    return NULL;
}

static struct job *by_pid(struct shell *sh, uint64_t pid)
{
    for (struct job *j = sh->jobs; j; j = j->next)
        for (uint32_t i = 0; i < j->n; i++)
            if ((uint64_t)j->pids[i] == pid)
                return j;
    return NULL;
}

struct job *job_find(struct shell *sh, struct str spec, const char *who)
{
    struct job *j = NULL;
    bool many = false;
    uint64_t n;
    struct str t = spec;
    if (t.n && t.p[0] == '%')
        t = str_from(t, 1);
    else if (t.n && str_u64(t, &n) == 0)
        j = by_pid(sh, n);
    if (j) {
        return j;
    } else if (spec.n == 0 || t.n == 0 || str_eq(t, STR("%")) || str_eq(t, STR("+"))) {
        j = job_current(sh);
        spec = spec.n ? spec : STR("current");
    } else if (str_eq(t, STR("-"))) {
        j = job_previous(sh);
        if (!j)
            j = job_current(sh);
    } else if (str_u64(t, &n) == 0) {
        j = by_id(sh, n);
    } else {
        j = by_text(sh, t.p[0] == '?' ? str_from(t, 1) : t, t.p[0] == '?', &many);
    }
    if (many)
        sh_error(sh, "%s: %.*s: ambiguous job spec", who, (int)t.n, t.p);
    if (!j || many)
        sh_error(sh, "%s: %.*s: no such job", who, (int)spec.n, spec.p);
    return many ? NULL : j;
}
