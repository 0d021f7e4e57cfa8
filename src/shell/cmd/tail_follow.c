/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/tail_int.h"

#include <errno.h>

#include "base/clock.h"
#include "base/num.h"

/* Between looks: the real tool is told by the kernel at once, so the interval is only an upper bound. */
#define LOOK_NS (50 * CLOCK_MS)

static void gone(struct tail *t, struct tail_file *f, int err, bool was_tailable, int before)
{
    struct cmd *c = t->c;
    f->err = err;
    f->tailable = !t->retry;
    if (!f->tailable && was_tailable)
        cmd_errno(c, err, "%s has become inaccessible", cmd_quote(c, tail_pretty(f), true));
    else if (f->tailable && before != err)
        cmd_errno(c, err, "%s", cmd_quote(c, tail_pretty(f), false));
    if (f->fd >= 0)
        cmd_close_input(c, f->fd);
    f->fd = -1;
}

/* The file of this name again: it may have appeared, gone, or be another one. */
static void recheck(struct tail *t, struct tail_file *f)
{
    struct cmd *c = t->c;
    struct vfs_stat st;
    bool was_tailable = f->tailable;
    int before = f->err;
    const char *name = cmd_quote(c, tail_pretty(f), true);
    int fd = cmd_open_input(c, f->name);
    int r = fd < 0 ? fd : proc_fstat(c->p, fd, &st);
    f->unchanged = 0;
    if (r < 0) {
        gone(t, f, r, was_tailable, before);
        return;
    }
    if (!S_ISREG(st.mode) && !S_ISFIFO(st.mode) && !S_ISCHR(st.mode)) {
        f->err = -EINVAL;
        f->tailable = false;
        f->ignore = !(t->retry && t->follow == TAIL_NAME);
        if (was_tailable || before != f->err)
            cmd_err(c, "%s has been replaced with an untailable file%s", name,
                    f->ignore ? "; giving up on this name" : "");
        cmd_close_input(c, fd);
        if (f->fd >= 0)
            cmd_close_input(c, f->fd);
        f->fd = -1;
        return;
    }
    f->tailable = true;
    f->err = 0;
    if (before != 0 && before != -ENOENT) {
        cmd_err(c, "%s has become accessible", name);
    } else if (f->fd < 0) {
        cmd_err(c, "%s has appeared;  following new file", name);
    } else if (f->ino != st.ino || f->dev != st.dev) {
        cmd_err(c, "%s has been replaced;  following new file", name);
        cmd_close_input(c, f->fd);
    } else {
        cmd_close_input(c, fd);
        return;
    }
    tail__opened(t, f, fd);
}

/* Prints what was added. */
static void look(struct tail *t, struct tail_file *f, const struct tail_file **last)
{
    struct cmd *c = t->c;
    struct vfs_stat st;
    int r = proc_fstat(c->p, f->fd, &st);
    if (r < 0) {
        gone(t, f, r, true, 0);
        return;
    }
    if (st.mode == f->mode && (!S_ISREG(st.mode) || st.size == f->size) && st.mtime == f->mtime) {
        if (t->follow == TAIL_NAME)
            recheck(t, f);
        if (S_ISREG(st.mode) || t->follow == TAIL_NAME)
            return;
    }
    if (S_ISREG(st.mode) && st.size < f->size) {
        cmd_err(c, "%s: file truncated", cmd_quote(c, tail_pretty(f), false));
        proc_lseek(c->p, f->fd, 0, SEEK_SET);
        f->size = 0;
    }
    bool more = !S_ISREG(st.mode) || st.size > f->size;
    if (more && *last != f)
        tail__header(t, f);
    if (more)
        *last = f;
    int64_t n = more ? tail__rest(t, f) : 0;
    cmd_flush(c);
    f->mode = st.mode;
    f->mtime = st.mtime;
    f->size += n > 0 ? (uint64_t)n : 0;
}

static bool writers_alive(const struct tail *t)
{
    for (size_t i = 0; i < t->n_pids; i++)
        if (proc_find(t->c->p->ps, (int)t->pids[i]))
            return true;
    return t->n_pids == 0;
}

/* Whether any file is left that can give something. */
static bool any_live(const struct tail *t)
{
    if (t->retry && t->follow == TAIL_NAME)
        return true;
    for (size_t i = 0; i < t->n_files; i++)
        if (t->files[i].fd >= 0 || (t->retry && !t->files[i].ignore))
            return true;
    return false;
}

/* A reader of our output that went away ends the command, as a write would. */
static bool reader_gone(struct tail *t)
{
    struct proc_pollfd p = {.fd = 1, .want_write = true};
    if (proc_poll_fds(t->c->p, &p, 1, proc_now(t->c->p->ps)) <= 0 || !p.bad)
        return false;
    proc_die(t->c->p, SIGPIPE);
    return true;
}

int tail__forever(struct tail *t)
{
    struct cmd *c = t->c;
    const struct tail_file *last = &t->files[t->n_files - 1];
    double ns = t->interval * 1e9;
    int64_t pause = ns < (double)LOOK_NS ? NUM_MAX((int64_t)ns, CLOCK_MS) : LOOK_NS;
    cmd_flush(c);
    for (;;) {
        bool alive = writers_alive(t); /* before the look, so that its last words are read */
        for (size_t i = 0; i < t->n_files; i++) {
            struct tail_file *f = &t->files[i];
            struct arena_mark m = arena_mark(c->arena);
            if (!f->ignore && f->fd < 0)
                recheck(t, f);
            else if (!f->ignore)
                look(t, f, &last);
            arena_reset(c->arena, m);
        }
        if (c->p->must_end || c->out_err != 0 || reader_gone(t))
            return 1;
        if (!any_live(t)) {
            cmd_err(c, "no files remaining");
            return 1;
        }
        if (!alive)
            return 0;
        if (proc_sleep(c->p, proc_now(t->c->p->ps) + pause) < 0 && c->p->must_end)
            return 1;
    }
}
