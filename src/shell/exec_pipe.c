/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "shell/job_int.h"
#include "shell/trap_int.h"
#include "types/errtab.h"

/*
 * All stages but the last are children on coroutines of their own, made first and run when this process waits. The last
 * runs here on the same stack as an inline child (or, with lastpipe, in the shell itself): the shell would only wait
 * for it.
 */

/* What a stage reads from and writes to; -1: the shell's own. */
struct ends {
    int in, out, next; /* next: the read end of @out's pipe, which the stage must not hold */
};

static void wire(struct proc *child, struct ends e)
{
    if (e.in >= 0) {
        (void)proc_dup2(child, e.in, 0, false);
        if (e.in != 0)
            (void)proc_close(child, e.in);
    }
    if (e.out >= 0) {
        (void)proc_dup2(child, e.out, 1, false);
        if (e.out != 1)
            (void)proc_close(child, e.out);
    }
    if (e.next >= 0)
        (void)proc_close(child, e.next);
}

/* `a |& b` is `a 2>&1 | b`, the redirection after a's own. The parser's tree does not change, so the stage's child runs
 * this copy. */
static struct node *with_stderr(struct shell *sh, const struct node *n)
{
    struct arena *a = sh->unit ? &sh->unit->arena : &sh->scratch;
    struct node *c = ARENA_NEW(a, struct node);
    *c = *n;
    struct redir **at = &c->redirs;
    for (const struct redir *r = n->redirs; r; r = r->next) {
        *at = ARENA_NEW(a, struct redir);
        **at = *r;
        at = &(*at)->next;
    }
    struct redir *r = ARENA_NEW(a, struct redir);
    struct word *w = ARENA_NEW(a, struct word);
    struct part *p = ARENA_NEW(a, struct part);
    p->kind = PART_LIT;
    p->text = STR("1");
    w->parts = p;
    w->flags = WORD_LITERAL | WORD_NOSPLIT;
    r->kind = REDIR_DUP_OUT;
    r->fd = 2;
    r->target = w;
    *at = r;
    return c;
}

static struct node *stage_node(struct shell *sh, struct node *n, uint32_t i)
{
    if (!n->pipe.err_too || !n->pipe.err_too[i])
        return n->pipe.cmds[i];
    /* Kept in the tree, so that a loop makes one copy only. */
    n->pipe.cmds[i] = with_stderr(sh, n->pipe.cmds[i]);
    n->pipe.err_too[i] = false;
    return n->pipe.cmds[i];
}

/* Starts one stage beside the others: its pid, or a negative errno after a message. */
static int start_stage(struct shell *sh, struct node *node, struct ends e, int flags)
{
    struct proc *child;
    int r = exec__fork(sh, node, flags | EXEC_IN_PIPE | (e.in >= 0 ? EXEC_STDIN : 0), &child);
    if (r < 0)
        return r;
    wire(child, e);
    return child->pid;
}

static void close_fd(struct shell *sh, int fd)
{
    if (fd >= 0)
        (void)proc_close(sh->p, fd);
}

/* Starts all stages but the last: 0, and the read end for the last in *ret_in. */
static int start_all_but_last(struct shell *sh, struct node *n, int *pids, int flags, int *ret_in,
                              uint32_t *ret_started)
{
    int in = -1;
    for (uint32_t i = 0; i + 1 < n->pipe.n; i++) {
        int pfd[2];
        int r = exec__make_pipe(sh, pfd);
        if (r < 0) {
            sh_errno(sh, r, "pipe error");
            close_fd(sh, in);
            return r;
        }
        int f = i == 0 ? flags : flags & ~EXEC_ASYNC;
        int pid = start_stage(sh, stage_node(sh, n, i), (struct ends){in, pfd[1], pfd[0]}, f);
        close_fd(sh, in);
        close_fd(sh, pfd[1]);
        if (pid < 0) {
            close_fd(sh, pfd[0]);
            return pid;
        }
        in = pfd[0];
        pids[i] = pid;
        *ret_started = i + 1;
    }
    *ret_in = in;
    return 0;
}

static struct outcome last_inline(struct shell *sh, struct node *node, int in, int *ret_pid)
{
    struct proc *child;
    int r = proc_fork_inline(sh->p, &child);
    if (r < 0) {
        close_fd(sh, in);
        return (struct outcome){.kind = OUTCOME_EXITED, .code = (uint8_t)exec__cannot_fork(sh, r)};
    }
    wire(child, (struct ends){in, -1, -1});
    close_fd(sh, in);
    *ret_pid = child->pid;
    return proc_end_inline(child, exec__run_inline(sh, child, node, EXEC_IN_PIPE | EXEC_STDIN));
}

/* lastpipe: the last command in the shell itself, its standard input put back afterwards. */
static int last_here(struct shell *sh, struct node *node, int in)
{
    struct proc_file *old = proc_get(sh->p, 0);
    bool cloexec = old && sh->p->fds.v[0].cloexec;
    if (old)
        proc_file_ref(old);
    (void)proc_dup2(sh->p, in, 0, false);
    if (in != 0)
        close_fd(sh, in);
    int status = exec_node(sh, node, 0);
    (void)proc_close(sh->p, 0);
    if (old && proc_install(sh->p, old, 0, cloexec) < 0)
        proc_file_unref(old);
    return status;
}

/* Status of the whole: the last's, or with pipefail the last that failed. */
static int overall(const struct shell *sh, const int *statuses, uint32_t n)
{
    int status = statuses[n - 1];
    if (!sh_opt(sh, OPT_PIPEFAIL))
        return status;
    for (uint32_t i = n; status == 0 && i-- > 0;)
        status = statuses[i];
    return status;
}

static int run_stages(struct shell *sh, struct node *n)
{
    uint32_t count = n->pipe.n, started = 0;
    int *pids = arena_zalloc(&sh->scratch, count * 2 * sizeof *pids), *statuses = pids + count;
    int in = -1;
    int r = start_all_but_last(sh, n, pids, 0, &in, &started);
    struct node *last = stage_node(sh, n, count - 1);
    bool monitor = sh_opt(sh, OPT_MONITOR);
    struct outcome o = {.kind = OUTCOME_EXITED};
    if (r < 0) {
        statuses[count - 1] = sh->last_status;
    } else if (sh_shopt(sh, SHOPT_LASTPIPE) && !monitor) {
        statuses[count - 1] = last_here(sh, last, in);
    } else if (!monitor && !exec__stack_low(sh)) {
        o = last_inline(sh, last, in, &pids[count - 1]);
        statuses[count - 1] = outcome_status(o);
    } else {
        pids[count - 1] = start_stage(sh, last, (struct ends){in, -1, -1}, 0);
        close_fd(sh, in);
        if (pids[count - 1] > 0)
            started = count;
    }
    if (monitor && started == count)
        return job_foreground_statuses(sh, pids, count, n, statuses);
    for (uint32_t i = 0; i < started; i++) {
        struct outcome s = exec__wait(sh, pids[i]);
        statuses[i] = outcome_status(s);
        if (i + 1 == count)
            o = s;
        else if (sh->traps)
            trap_child(sh);
    }
    if (pids[count - 1] > 0)
        (void)exec__child_status(sh, pids[count - 1], o, n);
    else
        exec__check_window(sh);
    exec_set_pipestatus(sh, statuses, count);
    return overall(sh, statuses, count);
}

int exec__pipe_async(struct shell *sh, struct node *n)
{
    struct arena_mark m = arena_mark(&sh->scratch);
    uint32_t count = n->pipe.n, started = 0;
    int *pids = arena_zalloc(&sh->scratch, count * sizeof *pids);
    int in = -1;
    if (start_all_but_last(sh, n, pids, EXEC_ASYNC, &in, &started) < 0) {
        arena_reset(&sh->scratch, m);
        return sh->last_status;
    }
    pids[count - 1] = start_stage(sh, stage_node(sh, n, count - 1), (struct ends){in, -1, -1}, 0);
    close_fd(sh, in);
    if (pids[count - 1] > 0)
        job_background(sh, pids, count, n);
    arena_reset(&sh->scratch, m);
    return sh->flow == FLOW_NONE ? (sh->last_status = 0) : sh->last_status;
}

/* ---- time ---- */

struct times {
    int64_t real, user;
};

static struct times now(const struct shell *sh)
{
    return (struct times){proc_now(sh->ps), proc_cpu(sh->ps)};
}

static void put_seconds(struct buf *out, int64_t ns, int digits, bool minutes)
{
    static const int64_t unit[] = {CLOCK_S, CLOCK_S / 10, CLOCK_S / 100, CLOCK_MS};
    if (ns < 0)
        ns = 0;
    int64_t s = ns / CLOCK_S, frac = ns % CLOCK_S / unit[digits];
    if (minutes)
        buf_addf(out, "%lldm%lld", (long long)(s / 60), (long long)(s % 60));
    else
        buf_addf(out, "%lld", (long long)s);
    if (digits)
        buf_addf(out, ".%0*lld", digits, (long long)frac);
    if (minutes)
        buf_putc(out, 's');
}

/* One %-sequence of TIMEFORMAT at @f: the place behind it, or NULL after a message. */
static const char *put_sequence(struct shell *sh, struct buf *out, const char *f, struct times t)
{
    int digits = 3;
    bool minutes = false;
    f++;
    if (*f == '%' || !*f) { /* a lone one at the end stands for itself */
        buf_putc(out, '%');
        return *f ? f + 1 : f;
    }
    if (*f == 'P') {
        int64_t pct = t.real > 0 ? t.user * 10000 / t.real : 0;
        if (pct > 10000)
            pct = 10000;
        buf_addf(out, "%lld.%02lld", (long long)(pct / 100), (long long)(pct % 100));
        return f + 1;
    }
    if (*f >= '0' && *f <= '9') {
        digits = *f > '3' ? 3 : *f - '0';
        f++;
    }
    if (*f == 'l') {
        minutes = true;
        f++;
    }
    if (*f != 'R' && *f != 'U' && *f != 'S') {
        sh_error(sh, "TIMEFORMAT: `%c': invalid format character", *f);
        return NULL;
    }
    put_seconds(out, *f == 'R' ? t.real : *f == 'U' ? t.user : 0, digits, minutes);
    return f + 1;
}

static void print_times(struct shell *sh, struct times before, bool posix)
{
    struct times after = now(sh), t = {after.real - before.real, after.user - before.user};
    struct str set = var_get(sh, "TIMEFORMAT");
    const char *f = posix ? "real %2R\nuser %2U\nsys %2S" : "\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS";
    if (!posix && set.p)
        f = set.p;
    if (!*f)
        return;
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_STRING);
    while (f && *f) {
        if (*f == '%') {
            f = put_sequence(sh, &out, f, t);
        } else {
            buf_putc(&out, *f);
            f++;
        }
    }
    if (!f)
        return;
    buf_putc(&out, '\n');
    sh_write_fd(sh, 2, buf_str(&out));
}

/* ---- the node ---- */

static int run_pipe(struct shell *sh, struct node *n, int flags)
{
    struct arena_mark m = arena_mark(&sh->scratch);
    int status;
    if (n->pipe.n == 0)
        return 0;
    if (n->pipe.n == 1)
        return exec_node(sh, n->pipe.cmds[0], flags);
    sh->line = n->line;
    if (sh_poll(sh))
        return sh->last_status;
    status = run_stages(sh, n);
    arena_reset(&sh->scratch, m);
    return status;
}

int exec__pipe(struct shell *sh, struct node *n, int flags)
{
    struct times before = {0};
    if (n->pipe.timed)
        before = now(sh);
    if (n->pipe.timed || n->pipe.negate)
        flags &= ~EXEC_NO_FORK;
    if (n->pipe.negate)
        sh->errexit_off++;
    int status = run_pipe(sh, n, flags);
    if (n->pipe.negate) {
        sh->errexit_off--;
        /* A `return` or `exit` in it keeps its own status. */
        if (sh->flow == FLOW_NONE)
            status = !status;
    }
    if (n->pipe.timed && sh->flow != FLOW_KILLED)
        print_times(sh, before, n->pipe.time_posix || sh_opt(sh, OPT_POSIX));
    if (sh->flow != FLOW_NONE)
        return sh->last_status;
    sh->last_status = status;
    return n->pipe.negate || n->pipe.n == 1 ? status : exec__ended(sh, status);
}
