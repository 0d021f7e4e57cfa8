/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "base/assert.h"

/* ---- struct proc and its family ---- */

#define AFTER_FDS (offsetof(struct proc, fds) + sizeof(struct proc_fds))

/* The compiler must not know @n: it would write "rep stos", whose start-up costs more than the C library's memset here.
 */
static void zero(void *p, size_t n)
{
    __asm__("" : "+r"(n));
    memset(p, 0, n);
}

static struct proc *new_node(struct proc_set *ps)
{
    struct proc_node *n = ps->spare;
    if (n) {
        ps->spare = (struct proc_node *)(void *)n->p.sibling;
        ps->n_spare--;
        uint32_t cap = n->priv.fd_cap;
        /* All but the credentials, which are copied over, and the empty descriptor table, which keeps its memory: this
         * is most of what an inline child costs. */
        zero(&n->p, offsetof(struct proc, cred));
        zero((char *)n + AFTER_FDS, sizeof(*n) - AFTER_FDS);
        n->priv.fd_cap = cap;
    } else {
        n = mem_zalloc(sizeof(*n));
        n->p.fds.v = n->p.fds.inline_v;
        n->priv.fd_cap = PROC_FDS_INLINE;
    }
    n->p.priv = &n->priv;
    n->p.ps = ps;
    return &n->p;
}

void life__free_node(struct proc *p)
{
    struct proc_set *ps = p->ps;
    struct proc_node *n = (struct proc_node *)(void *)p;
    if (ps->n_spare < SPARE_PROCS && ps->n_procs) {
        p->sibling = (struct proc *)(void *)ps->spare;
        ps->spare = n;
        ps->n_spare++;
        return;
    }
    if (p->fds.v != p->fds.inline_v)
        mem_free(p->fds.v);
    mem_free(n);
}

struct proc *life__find(struct proc_set *ps, int pid)
{
    if (pid == 1)
        return &ps->init.p;
    for (struct proc *p = ps->all; p; p = p->priv->all_next)
        if (p->pid == pid)
            return p;
    return NULL;
}

/* A number that is neither a process's nor a group's. */
static int new_pid(struct proc_set *ps)
{
    for (;;) {
        int pid = ps->next_pid;
        if (++ps->next_pid >= PID_MAX) {
            ps->next_pid = PID_FIRST;
            ps->pid_wrapped = true;
        }
        if (!ps->pid_wrapped)
            return pid;
        const struct proc *q = ps->all;
        while (q && q->pid != pid && q->pgid != pid)
            q = q->priv->all_next;
        if (!q)
            return pid;
    }
}

static void link_child(struct proc *parent, struct proc *p)
{
    p->parent = parent;
    p->ppid = parent->pid;
    p->sibling = parent->children;
    parent->children = p;
}

static void unlink_child(struct proc *p)
{
    struct proc **at = &p->parent->children;
    while (*at != p)
        at = &(*at)->sibling;
    *at = p->sibling;
    p->sibling = NULL;
}

static void enter(struct proc *p)
{
    struct proc_set *ps = p->ps;
    p->priv->all_next = ps->all;
    if (ps->all)
        ps->all->priv->all_prev = p;
    ps->all = p;
    ps->n_procs++;
    ps->n_live++;
    ps->usage.processes++;
}

/* Takes a zombie out of the lists; it is no process any more. */
static void forget(struct proc *p)
{
    struct proc_set *ps = p->ps;
    struct proc_priv *pr = p->priv;
    unlink_child(p);
    *(pr->all_prev ? &pr->all_prev->priv->all_next : &ps->all) = pr->all_next;
    if (pr->all_next)
        pr->all_next->priv->all_prev = pr->all_prev;
    pr->all_next = pr->all_prev = NULL;
    ps->n_procs--;
}

static void drop_cwd(struct cwd *c)
{
    if (c && --c->refs == 0) {
        vfs_close(c->h);
        mem_free(c);
    }
}

/* What even a ghost keeps until its code has returned. */
static void drop_shared(struct proc *p)
{
    drop_cwd(p->priv->cwd);
    p->priv->cwd = NULL;
    if (p->priv->cmdline && --p->priv->cmdline->refs == 0)
        mem_free(p->priv->cmdline);
    p->priv->cmdline = NULL;
}

static void free_proc(struct proc *p)
{
    struct proc_set *ps = p->ps;
    drop_shared(p);
    life__free_node(p);
    if (!ps->n_procs && !ps->n_co)
        set__trim(ps);
}

void life__reap(struct proc *p)
{
    ASSERT(p->state == PROC_ZOMBIE);
    forget(p);
    if (p->priv->code_running)
        p->priv->detached = true;
    else
        free_proc(p);
}

/* ---- making one ---- */

static void inherit(struct proc *p, const struct proc *parent)
{
    p->pgid = parent->pgid;
    p->cred.uid = parent->cred.uid;
    p->cred.gid = parent->cred.gid;
    p->cred.n_groups = parent->cred.n_groups;
    for (uint32_t i = 0; i < parent->cred.n_groups; i++)
        p->cred.groups[i] = parent->cred.groups[i];
    p->umask = parent->umask;
    p->fds_soft = parent->fds_soft;
    p->fds_hard = parent->fds_hard;
    p->cwd = parent->cwd;
    p->priv->cwd = parent->priv->cwd;
    p->priv->cwd->refs++;
    p->sig_ignored = parent->sig_ignored;
    p->sig_blocked = parent->sig_blocked;
    if (parent->comm == parent->priv->comm) {
        memcpy(p->priv->comm, parent->priv->comm, sizeof(p->priv->comm));
        p->comm = p->priv->comm;
    } else {
        p->comm = parent->comm;
    }
    p->priv->exe_ino = parent->priv->exe_ino;
    fds__copy(p, parent);
}

/* A fork bomb is refused process by process, and ended when it keeps on. */
static int may_fork(struct proc_set *ps)
{
    if (ps->n_procs < ps->limits.processes)
        return 0;
    if (++ps->n_eagain > EAGAIN_MAX)
        proc_kill_all(ps, REASON_PROCESSES);
    return -EAGAIN;
}

/* The child's copy of its parent's argv: shared by all children, made for the first. A process forked from one without
 * argv shares its parent's. */
static struct cmdline *share_cmdline(struct proc *parent)
{
    struct proc_priv *pr = parent->priv;
    if (!pr->cmdline && parent->argv) {
        size_t n = 0;
        for (char **a = parent->argv; *a; a++)
            n += strlen(*a) + 1;
        struct cmdline *c = mem_try(sizeof(*c) + n);
        if (!c)
            return NULL;
        c->refs = 1;
        c->n = 0;
        for (char **a = parent->argv; *a && c->n < n; a++) {
            size_t len = strlen(*a) + 1;
            memcpy(c->bytes + c->n, *a, len);
            c->n += len;
        }
        pr->cmdline = c;
    }
    if (pr->cmdline)
        pr->cmdline->refs++;
    return pr->cmdline;
}

static void give_co(struct proc *p, struct co *co, struct outcome (*main)(struct proc *, void *), void *arg)
{
    co->carrier = co->top = co->active = p;
    co->main = main;
    co->arg = arg;
    p->priv->co = co;
    p->priv->code_running = true;
    p->ps->n_co++;
    sched__ready(p);
}

int proc_fork(struct proc *parent, bool big, struct outcome (*main)(struct proc *p, void *arg), void *arg,
              struct proc **ret)
{
    struct proc_set *ps = parent->ps;
    if (parent->must_end)
        return -EINTR;
    int r = may_fork(ps);
    if (r < 0)
        return r;
    struct co *co = co__new(big);
    if (!co)
        return -ENOMEM;
    struct proc *p = new_node(ps);
    p->pid = new_pid(ps);
    p->start_ns = ps->slice_start;
    inherit(p, parent);
    p->priv->cmdline = share_cmdline(parent);
    link_child(parent, p);
    enter(p);
    give_co(p, co, main, arg);
    *ret = p;
    return 0;
}

int proc_fork_inline(struct proc *parent, struct proc **ret)
{
    struct proc_set *ps = parent->ps;
    if (parent->must_end)
        return -EINTR;
    int r = may_fork(ps);
    if (r < 0)
        return r;
    ASSERT(parent->priv->co && parent->priv->co->top == parent);
    struct proc *p = new_node(ps);
    p->pid = new_pid(ps);
    p->start_ns = ps->slice_start;
    inherit(p, parent);
    p->argv = parent->argv; /* lives as long: the parent's code waits below on the same stack */
    p->priv->env = parent->priv->env;
    p->priv->env_arg = parent->priv->env_arg;
    p->inline_child = true;
    p->priv->inline_parent = parent;
    parent->priv->inline_child = p;
    p->priv->co = parent->priv->co;
    p->priv->co->top = p;
    parent->state = PROC_BLOCKED;
    p->state = PROC_RUNNING;
    link_child(parent, p);
    enter(p);
    *ret = p;
    return 0;
}

/* proc_start() before anything that can only succeed: the cwd and the coroutine. */
static int start_prepare(struct proc_set *ps, const struct vfs_cred *cred, struct str cwd, struct vfs_handle **ret_cwd,
                         struct co **ret_co)
{
    struct vfs_ctx ctx = {.cred = cred, .cwd = VFS_ROOT_INO};
    struct vfs_handle *h;
    if (ps->n_procs >= ps->limits.processes)
        return -EAGAIN;
    int r = vfs_open(ps->v, &ctx, 0, cwd, O_PATH | O_DIRECTORY, 0, &h);
    if (r < 0)
        return r;
    struct co *co = co__new(true);
    if (!co) {
        vfs_close(h);
        return -ENOMEM;
    }
    *ret_cwd = h;
    *ret_co = co;
    return 0;
}

int proc_start(struct proc_set *ps, const struct vfs_cred *cred, struct str cwd, uint32_t umask, struct proc_file *in,
               struct proc_file *out, struct proc_file *errf, struct outcome (*main)(struct proc *p, void *arg),
               void *arg, struct proc **ret)
{
    struct mem_account *before = set__use(ps);
    struct proc_file *std[3] = {in, out, errf};
    struct vfs_handle *h;
    struct co *co;
    int r = start_prepare(ps, cred, cwd, &h, &co);
    if (r == 0) {
        struct proc *p = new_node(ps);
        p->pid = p->pgid = new_pid(ps);
        p->start_ns = proc_now(ps);
        p->cred = *cred;
        p->umask = umask & 0777;
        p->fds_soft = p->fds_hard = LIMIT_FDS;
        p->priv->cwd = mem_alloc(sizeof(struct cwd));
        *p->priv->cwd = (struct cwd){.refs = 1, .h = h};
        p->cwd = h;
        p->comm = "sh";
        p->priv->first = true;
        for (int i = 0; i < 3; i++)
            p->fds.v[i] = (struct proc_fd){.file = std[i]};
        p->fds.n = 3;
        link_child(&ps->init.p, p);
        enter(p);
        give_co(p, co, main, arg);
        *ret = p;
    } else {
        for (int i = 0; i < 3; i++)
            proc_file_unref(std[i]);
    }
    mem_use(before);
    return r;
}

/* Takes the directory @h as the cwd, if it may be searched. */
static int take_cwd(struct proc *p, struct vfs_handle *h)
{
    int r = vfs_access_ino(p->ps->v, &p->cred, vfs_handle_ino(h), X_OK);
    if (r < 0) {
        vfs_close(h);
        return r;
    }
    struct cwd *c = mem_alloc(sizeof(*c));
    *c = (struct cwd){.refs = 1, .h = h};
    drop_cwd(p->priv->cwd);
    p->priv->cwd = c;
    p->cwd = h;
    return 0;
}

int proc_chdir(struct proc *p, struct str path)
{
    struct vfs_ctx ctx = proc_ctx(p);
    struct vfs_handle *h;
    int r = vfs_open(p->ps->v, &ctx, 0, path, O_PATH | O_DIRECTORY, 0, &h);
    return r < 0 ? r : take_cwd(p, h);
}

int proc_chdir_ino(struct proc *p, uint64_t dir)
{
    struct vfs_handle *h;
    int r = vfs_open_ino(p->ps->v, dir, O_PATH | O_DIRECTORY, &h);
    return r < 0 ? r : take_cwd(p, h);
}

/* ---- ending ---- */

struct outcome life__final(const struct proc *p, struct outcome o)
{
    if (!p->must_end)
        return o;
    return (struct outcome){.kind = OUTCOME_KILLED, .signal = p->end_signal, .reason = p->end_reason};
}

/* Orphans go to init. A stopped one would never be continued by its shell again: as POSIX has it for orphaned groups,
 * HUP and CONT. */
static void orphan_children(struct proc *p)
{
    struct proc *init = &p->ps->init.p;
    while (p->children) {
        struct proc *c = p->children;
        p->children = c->sibling;
        link_child(init, c);
        if (c->state == PROC_ZOMBIE) {
            life__reap(c);
        } else if (c->priv->stopped) {
            signal__send(c, SIGHUP);
            signal__send(c, SIGCONT);
        }
    }
}

/* The part of an end that is common to forked and inline processes. */
static void end_common(struct proc *p, struct outcome o)
{
    p->outcome = life__final(p, o);
    p->state = PROC_ZOMBIE;
    p->ps->n_live--;
    fds__close_all(p);
    orphan_children(p);
    p->priv->env = NULL;
    p->argv = NULL;
    p->priv->stopped = false;
}

void life__end(struct proc *p, struct outcome o)
{
    struct proc_set *ps = p->ps;
    end_common(p, o);
    if (p == ps->until)
        ps->to_main = true;
    if (p->parent == &ps->init.p) {
        if (!p->priv->first)
            life__reap(p);
        return;
    }
    signal__child(p->parent);
    proc_wake(&p->parent->priv->child_q);
}

void life__make_ghosts(struct proc_set *ps)
{
    struct proc *p = ps->all;
    while (p) {
        bool due = p->priv->ghost_due && p->state != PROC_ZOMBIE;
        p->priv->ghost_due = false;
        if (due)
            life__end(p, p->outcome);
        p = due ? ps->all : p->priv->all_next; /* the list may have changed */
    }
    ps->ghosts_due = false;
}

void life__main_returned(struct proc *p, struct outcome o)
{
    struct proc_priv *pr = p->priv;
    ASSERT(pr->co->top == p);
    pr->co = NULL;
    pr->code_running = false;
    if (pr->detached)
        free_proc(p);
    else if (p->state != PROC_ZOMBIE)
        life__end(p, o);
}

struct outcome proc_end_inline(struct proc *child, struct outcome o)
{
    struct proc *up = child->priv->inline_parent;
    struct co *co = child->priv->co;
    ASSERT(child->inline_child && co->top == child);
    end_common(child, o);
    o = child->outcome;
    co->top = up;
    up->priv->inline_child = NULL;
    up->child_cpu_ns += child->cpu_ns + child->child_cpu_ns;
    forget(child);
    free_proc(child);
    if (up->state != PROC_ZOMBIE) {
        up->state = PROC_RUNNING;
        signal__child(up);
        sched__park_stopped(up);
    }
    return o;
}

void proc_forget(struct proc_set *ps, struct proc *p)
{
    struct mem_account *before = set__use(ps);
    life__reap(p);
    mem_use(before);
}

/* ---- wait ---- */

static bool wait_matches(const struct proc *p, const struct proc *c, int pid)
{
    return pid > 0 ? c->pid == pid : pid == -1 || c->pgid == (pid ? -pid : p->pgid);
}

/* What proc_wait() may report of @c under @flags. */
static bool reportable(const struct proc *c, int flags)
{
    return c->state == PROC_ZOMBIE || ((flags & WUNTRACED) && c->priv->report_stop) ||
           ((flags & WCONTINUED) && c->priv->report_cont);
}

static int report(struct proc *p, struct proc *c, struct outcome *ret, int *ret_stopped)
{
    int pid = c->pid, stopped = 0;
    if (c->state == PROC_ZOMBIE) {
        *ret = c->outcome;
        p->child_cpu_ns += c->cpu_ns + c->child_cpu_ns;
        life__reap(c);
    } else {
        stopped = c->priv->report_stop ? c->priv->stop_signal : SIGCONT;
        c->priv->report_stop = c->priv->report_cont = false;
    }
    if (ret_stopped)
        *ret_stopped = stopped;
    return pid;
}

int proc_wait(struct proc *p, int pid, int flags, struct outcome *ret, int *ret_stopped)
{
    for (;;) {
        struct proc *found = NULL;
        bool any = false;
        /* The list is newest first; Linux looks at the oldest first. */
        for (struct proc *c = p->children; c; c = c->sibling) {
            if (!wait_matches(p, c, pid))
                continue;
            any = true;
            if (reportable(c, flags))
                found = c;
        }
        if (found)
            return report(p, found, ret, ret_stopped);
        if (!any)
            return -ECHILD;
        if (flags & WNOHANG)
            return 0;
        int r = proc_block(p, &p->priv->child_q, INT64_MAX);
        if (r < 0)
            return r;
    }
}

struct proc *proc_child(struct proc *p, int pid)
{
    for (struct proc *c = p->children; c; c = c->sibling)
        if (c->pid == pid)
            return c;
    return NULL;
}

struct proc *proc_find(struct proc_set *ps, int pid)
{
    struct proc *p = life__find(ps, pid);
    return p && p != &ps->init.p && p->state != PROC_ZOMBIE ? p : NULL;
}
