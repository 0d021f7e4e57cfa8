/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/exec_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/mem.h"
#include "shell/job_int.h"
#include "shell/trap_int.h"
#include "types/errtab.h"

/* What a C command or a subshell may need of the stack it shares; with less left the child gets one of its own. */
#define INLINE_STACK (LIMIT_STACK + (64u << 10))

bool exec__stack_low(const struct shell *sh)
{
    return proc_stack_left(sh->p) < INLINE_STACK;
}

int exec__cannot_fork(struct shell *sh, int err)
{
    if (err == -EINTR) {
        sh_poll(sh);
        return 128 + SIGKILL;
    }
    sh_error(sh, "fork: %s", errtab_text(err));
    (void)sh_abort(sh, 254);
    return 254;
}

int exec__make_pipe(struct shell *sh, int ret[2])
{
    int r = proc_pipe(sh->p, ret, true);
    for (int i = 0; r == 0 && i < 2; i++) {
        if (ret[i] > 2)
            continue;
        int high = proc_dup(sh->p, ret[i], 10, true);
        (void)proc_close(sh->p, ret[i]);
        ret[i] = high;
        if (high < 0) {
            (void)proc_close(sh->p, ret[1 - i]);
            r = high;
        }
    }
    return r;
}

/* ---- children that run beside ---- */

bool exec__redirects_stdin(const struct node *n)
{
    for (const struct redir *r = n ? n->redirs : NULL; r; r = r->next) {
        bool in = r->kind == REDIR_IN || r->kind == REDIR_RDWR || r->kind == REDIR_DUP_IN || r->kind == REDIR_HEREDOC ||
                  r->kind == REDIR_HERESTR;
        if (in && !r->var.n && r->fd <= 0)
            return true;
    }
    return false;
}

/* The clone that will run @node. */
static struct shell *clone_for(struct shell *sh, struct proc *child, const struct node *node, int flags)
{
    bool stage = node && node->kind == NODE_SIMPLE && (flags & EXEC_IN_PIPE);
    struct shell *c = shell_clone(sh, child);
    c->stdin_given = (flags & EXEC_STDIN) || exec__redirects_stdin(node);
    if (!stage)
        c->subshell_depth++;
    else if (sh->jobs)
        job_inherit(c, sh);
    return c;
}

/* A subshell that is its process's only command runs in it without another one. */
static int child_node(struct shell *sh, struct node *n, int flags)
{
    if (n->kind != NODE_SUBSHELL)
        return exec_node(sh, n, flags | EXEC_NO_FORK);
    sh->line = n->line;
    int status = n->redirs ? redir_apply(sh, n->redirs, NULL) : 0;
    if (status)
        return sh->last_status = status;
    return exec_node(sh, n->body, EXEC_NO_FORK);
}

static struct outcome child_main(struct proc *p, void *arg)
{
    struct child_start *s = arg;
    struct shell *sh = s->sh;
    (void)p;
    if (s->null_stdin) {
        int fd = proc_open(sh->p, STR("/dev/null"), O_RDONLY, 0);
        if (fd > 0) {
            (void)proc_dup2(sh->p, fd, 0, false);
            (void)proc_close(sh->p, fd);
        }
    }
    if (s->node)
        (void)child_node(sh, s->node, s->flags);
    struct outcome o = shell_finish(sh);
    shell_free(sh);
    ast_unref(s->unit);
    mem_free(s);
    return o;
}

int exec__fork(struct shell *sh, struct node *node, int flags, struct proc **ret)
{
    struct child_start *s = mem_zalloc(sizeof *s);
    struct proc *child;
    int r = proc_fork(sh->p, true, child_main, s, &child);
    if (r < 0) {
        mem_free(s);
        (void)exec__cannot_fork(sh, r);
        return r;
    }
    s->sh = clone_for(sh, child, node, flags);
    s->node = node;
    s->unit = sh->unit ? ast_ref(sh->unit) : NULL;
    s->flags = flags & ~(EXEC_ASYNC | EXEC_STDIN);
    if ((flags & EXEC_ASYNC) && !sh_opt(sh, OPT_MONITOR)) {
        /* POSIX, 2.11: without job control ^C is not for commands that run beside. */
        (void)proc_sigaction(child, SIGINT, PROC_SIG_IGNORE);
        (void)proc_sigaction(child, SIGQUIT, PROC_SIG_IGNORE);
    }
    s->null_stdin = (flags & EXEC_ASYNC) && !sh_opt(sh, OPT_MONITOR) && !sh->stdin_given;
    *ret = child;
    return 0;
}

struct outcome exec__run_inline(struct shell *sh, struct proc *child, struct node *n, int flags)
{
    struct shell *csh = clone_for(sh, child, n, flags);
    if (n)
        (void)child_node(csh, n, flags & ~EXEC_STDIN);
    struct outcome o = shell_finish(csh);
    shell_free(csh);
    return o;
}

struct outcome exec__wait(struct shell *sh, int pid)
{
    struct outcome o = {.kind = OUTCOME_LOST};
    for (;;) {
        int r = proc_wait(sh->p, pid, 0, &o, NULL);
        if (r > 0)
            return o;
        if (r == -ECHILD) {
            /* A command of this shell may have reaped it while it ran (lastpipe). */
            (void)job_take(sh, pid, &o);
            return o;
        }
        /* A trapped signal waits until the command has ended. */
        if (sh->p->must_end) {
            sh_poll(sh);
            return (struct outcome){.kind = OUTCOME_KILLED, .signal = SIGKILL, .reason = REASON_SIGNAL};
        }
    }
}

/* ---- what happened to a child ---- */

void exec__check_window(struct shell *sh)
{
    uint16_t rows, cols;
    char text[8];
    proc_winsize(sh->ps, &rows, &cols);
    if (!rows || sh->is_subshell || !sh_shopt(sh, SHOPT_CHECKWINSIZE) || !proc_isatty(sh->p, 2))
        return;
    (void)snprintf(text, sizeof text, "%u", rows);
    (void)var_set_name(sh, "LINES", str_c(text)); /* a readonly one stays */
    (void)snprintf(text, sizeof text, "%u", cols);
    (void)var_set_name(sh, "COLUMNS", str_c(text));
}

int exec__child_status(struct shell *sh, int pid, struct outcome o, const struct node *n)
{
    int status = outcome_status(o);
    exec__check_window(sh);
    if (sh->traps)
        trap_child(sh);
    if (o.kind != OUTCOME_KILLED || sh->p->must_end || o.reason > REASON_SIGNAL)
        return status;
    job_tell_killed(sh, pid, o, n, true);
    return status;
}

/* ---- ( … ) ---- */

int exec__subshell(struct shell *sh, struct node *n, int flags)
{
    struct proc *child;
    int status;
    (void)flags;
    sh->line = n->line;
    if (sh_poll(sh))
        return sh->last_status;
    if (sh_opt(sh, OPT_MONITOR) || exec__stack_low(sh)) {
        if (exec__fork(sh, n, 0, &child) < 0)
            return sh->last_status;
        int pid = child->pid;
        if (sh_opt(sh, OPT_MONITOR))
            status = job_foreground(sh, &pid, 1, n);
        else
            status = exec__child_status(sh, pid, exec__wait(sh, pid), n);
    } else {
        int r = proc_fork_inline(sh->p, &child);
        if (r < 0)
            return exec__cannot_fork(sh, r);
        int pid = child->pid;
        struct outcome o = exec__run_inline(sh, child, n, 0);
        o = proc_end_inline(child, o);
        status = exec__child_status(sh, pid, o, n);
    }
    exec__one_status(sh, status);
    return exec__ended(sh, status);
}

/* ---- $( … ) ---- */

/* $(< file): the file's bytes without a child. */
static int read_file(struct shell *sh, const struct cmdsub *cs, struct buf *out)
{
    struct str name;
    sh->last_cmdsub_status = 1;
    if (expand_redir_target(sh, cs->file, &name) < 0)
        return sh->flow == FLOW_NONE ? 0 : -EINVAL;
    int fd = proc_open(sh->p, name, O_RDONLY, 0);
    if (fd < 0) {
        sh_errno(sh, fd, "%s", name.p);
        return 0;
    }
    for (;;) {
        const void *p;
        size_t n;
        int r = proc_peek(sh->p, fd, &p, &n);
        if (r < 0 || n == 0) {
            if (r < 0 && r != -EINTR)
                sh_errno(sh, r, "%s", name.p);
            break;
        }
        if (buf_add(out, p, n) < 0)
            break;
        proc_consume(sh->p, fd, n);
    }
    (void)proc_close(sh->p, fd);
    sh->last_cmdsub_status = 0;
    return out->err;
}

/* The text without NUL bytes, which no variable can hold, in scratch. */
static int take_text(struct shell *sh, struct str text, struct str *ret)
{
    char *p = arena_try(&sh->scratch, text.n + 1);
    if (!p)
        return -ENOMEM;
    size_t n = 0;
    if (text.n && !memchr(text.p, 0, text.n)) {
        memcpy(p, text.p, text.n);
        n = text.n;
    } else if (text.n) {
        for (size_t i = 0; i < text.n; i++)
            if (text.p[i])
                p[n++] = text.p[i];
        sh_error(sh, "warning: command substitution: ignored null byte in input");
    }
    p[n] = 0;
    *ret = str_of(p, n);
    return 0;
}

/* The clone that runs the commands: set -e does not reach them unless inherit_errexit asks so. */
static struct outcome capture_child(struct shell *sh, struct proc *child, struct node *body)
{
    struct shell *csh = shell_clone(sh, child);
    csh->subshell_depth++;
    csh->trace_level++;
    if (sh->jobs)
        job_inherit(csh, sh);
    if (!sh_shopt(sh, SHOPT_INHERIT_ERREXIT) && !sh_opt(sh, OPT_POSIX))
        csh->opts &= ~(uint32_t)OPT_ERREXIT;
    (void)exec_node(csh, body, EXEC_NO_FORK);
    struct outcome o = shell_finish(csh);
    shell_free(csh);
    return o;
}

struct capture_start {
    struct shell *sh;
    struct node *body;
    struct ast *unit;
};

static struct outcome capture_main(struct proc *p, void *arg)
{
    struct capture_start *s = arg;
    struct outcome o = capture_child(s->sh, p, s->body);
    shell_free(s->sh);
    ast_unref(s->unit);
    mem_free(s);
    return o;
}

/* Puts @f at descriptor 1 of @child. */
static void give_stdout(struct proc *child, struct proc_file *f)
{
    (void)proc_close(child, 1);
    if (proc_install(child, proc_file_ref(f), 1, false) < 0)
        proc_file_unref(f);
}

/* On a stack of its own when this one runs low. */
static int capture_forked(struct shell *sh, struct node *body, struct proc_file *f, struct outcome *ret)
{
    struct proc *child;
    struct capture_start *s = mem_zalloc(sizeof *s);
    int r = proc_fork(sh->p, true, capture_main, s, &child);
    if (r < 0) {
        mem_free(s);
        return r;
    }
    s->sh = shell_clone(sh, child);
    s->body = body;
    s->unit = sh->unit ? ast_ref(sh->unit) : NULL;
    give_stdout(child, f);
    *ret = exec__wait(sh, child->pid);
    return 0;
}

static int capture_inline(struct shell *sh, struct node *body, struct proc_file *f, struct outcome *ret)
{
    struct proc *child;
    int r = proc_fork_inline(sh->p, &child);
    if (r < 0)
        return r;
    give_stdout(child, f);
    *ret = proc_end_inline(child, capture_child(sh, child, body));
    return 0;
}

int exec_capture(struct shell *sh, struct cmdsub *cs, struct str *ret)
{
    sh->had_cmdsub = true;
    sh->last_cmdsub_status = 0;
    *ret = STR("");
    if (cs->file) {
        struct buf out BUF_AUTO;
        buf_init(&out, LIMIT_STRING);
        int r = read_file(sh, cs, &out);
        return r < 0 ? r : take_text(sh, buf_str(&out), ret);
    }
    if (cs->error) {
        /* `…` is parsed with the text around it, but bash finds its errors when it runs. */
        const char *what = sh->parse_what;
        sh->parse_what = "command substitution";
        sh_syntax_error(sh, cs->error);
        sh->parse_what = what;
        sh->last_status = sh->last_cmdsub_status = 2;
        return 0;
    }
    if (!cs->body)
        return 0;
    struct proc_capture *cap;
    struct proc_file *f = proc_file_capture(sh->ps, LIMIT_STRING, &cap);
    if (!f)
        return -ENOMEM;
    struct outcome o;
    int r = exec__stack_low(sh) ? capture_forked(sh, cs->body, f, &o) : capture_inline(sh, cs->body, f, &o);
    if (r < 0) {
        proc_file_unref(f);
        proc_capture_free(cap);
        (void)exec__cannot_fork(sh, r);
        return r;
    }
    r = proc_capture_wait(sh->p, cap, f);
    if (sh->traps)
        trap_child(sh);
    sh->last_cmdsub_status = outcome_status(o);
    sh->last_status = sh->last_cmdsub_status;
    if (r == 0)
        r = take_text(sh, proc_capture_text(cap), ret);
    proc_capture_free(cap);
    if (r < 0)
        sh_poll(sh);
    return r;
}

/* ---- <( … ) and >( … ) ---- */

/* bash names them downwards from 63, and scripts' own descriptors are low. */
static int high_fd(struct shell *sh, int fd)
{
    for (int to = 63; to > 9; to--) {
        if (proc_get(sh->p, to) || proc_dup2(sh->p, fd, to, false) < 0)
            continue;
        (void)proc_close(sh->p, fd);
        return to;
    }
    (void)proc_set_cloexec(sh->p, fd, false);
    return fd;
}

int exec_procsub(struct shell *sh, struct cmdsub *cs, struct str *ret)
{
    bool reads = cs->direction == '<'; /* the command around reads what @cs writes */
    int pfd[2];
    struct proc *child;
    /* Nobody waits for those of before: in a loop they would stay. */
    proc_yield(sh->p);
    job_reap(sh);
    int r = exec__make_pipe(sh, pfd);
    if (r < 0) {
        sh_errno(sh, r, "cannot make pipe for process substitution");
        return r;
    }
    r = exec__fork(sh, cs->body, 0, &child);
    int mine = pfd[reads ? 0 : 1], other = pfd[reads ? 1 : 0];
    if (r < 0) {
        (void)proc_close(sh->p, mine);
        (void)proc_close(sh->p, other);
        return r;
    }
    (void)proc_dup2(child, other, reads ? 1 : 0, false);
    if (other != (reads ? 1 : 0))
        (void)proc_close(child, other);
    (void)proc_close(child, mine);
    (void)proc_close(sh->p, other);
    for (uint32_t i = 0; i < sh->n_procsub; i++)
        (void)proc_close(child, sh->procsub_fds[i]);
    int fd = high_fd(sh, mine);
    sh->procsub_fds = mem_realloc(sh->procsub_fds, (sh->n_procsub + 1) * sizeof *sh->procsub_fds);
    sh->procsub_fds[sh->n_procsub++] = fd;
    sh->last_bg_pid = child->pid;
    job_remember(sh, child->pid);
    *ret = str_c(arena_printf(&sh->scratch, "/dev/fd/%d", fd));
    return 0;
}

void exec__close_procsubs(struct shell *sh, uint32_t n)
{
    while (sh->n_procsub > n)
        (void)proc_close(sh->p, sh->procsub_fds[--sh->n_procsub]);
}

/* ---- & ---- */

int exec__background(struct shell *sh, struct node *n)
{
    struct proc *child;
    if (sh_poll(sh))
        return sh->last_status;
    job_reap(sh);
    if (n->body->kind == NODE_PIPE && n->body->pipe.n > 1 && !n->body->pipe.negate && !n->body->pipe.timed)
        return exec__pipe_async(sh, n->body);
    if (exec__fork(sh, n->body, EXEC_ASYNC, &child) < 0)
        return sh->last_status;
    int pid = child->pid;
    job_background(sh, &pid, 1, n->body);
    return sh->last_status = 0;
}

/* ---- coproc ---- */

static void set_coproc(struct shell *sh, struct str name, int rfd, int wfd, int pid)
{
    char text[16];
    struct sym *s = sym_get(sh, name);
    char *pid_name = arena_printf(&sh->scratch, "%.*s_PID", (int)name.n, name.p);
    if (!s || var_make_array(sh, s, VAR_ARRAY, false) < 0)
        return;
    (void)var_set_elem(sh, s, (struct str){0}, 0, str_of(text, (size_t)snprintf(text, sizeof text, "%d", rfd)), false);
    (void)var_set_elem(sh, s, (struct str){0}, 1, str_of(text, (size_t)snprintf(text, sizeof text, "%d", wfd)), false);
    (void)var_set_name(sh, pid_name, str_of(text, (size_t)snprintf(text, sizeof text, "%d", pid)));
}

int exec__coproc(struct shell *sh, struct node *n)
{
    int in[2], out[2];
    struct proc *child;
    struct str name = n->coproc.name.n ? n->coproc.name : STR("COPROC");
    struct arena_mark m = arena_mark(&sh->scratch);
    sh->line = n->line;
    if (sh_poll(sh))
        return sh->last_status;
    if (!sym_valid(name)) {
        sh_error(sh, "`%.*s': not a valid identifier", (int)name.n, name.p);
        return exec__ended(sh, 1);
    }
    if (exec__make_pipe(sh, in) < 0)
        return exec__ended(sh, 1);
    if (exec__make_pipe(sh, out) < 0 || exec__fork(sh, n->coproc.body, 0, &child) < 0) {
        (void)proc_close(sh->p, in[0]);
        (void)proc_close(sh->p, in[1]);
        return exec__ended(sh, 1);
    }
    (void)proc_dup2(child, in[0], 0, false);
    (void)proc_dup2(child, out[1], 1, false);
    int all[] = {in[0], in[1], out[0], out[1]};
    for (int i = 0; i < 4; i++)
        (void)proc_close(child, all[i]);
    (void)proc_close(sh->p, in[0]);
    (void)proc_close(sh->p, out[1]);
    int rfd = high_fd(sh, out[0]), wfd = high_fd(sh, in[1]);
    (void)proc_set_cloexec(sh->p, rfd, true);
    (void)proc_set_cloexec(sh->p, wfd, true);
    int pid = child->pid;
    sh->coproc_pid = pid;
    set_coproc(sh, name, rfd, wfd, pid);
    job_background(sh, &pid, 1, n);
    arena_reset(&sh->scratch, m);
    return sh->last_status = 0;
}
