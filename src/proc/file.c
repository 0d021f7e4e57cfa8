/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/assert.h"

#define RANDOM_PEEK 4096u

/* What of open(2)'s flags an open file keeps. */
#define KEPT_FLAGS (O_ACCMODE | O_APPEND | O_NONBLOCK | O_PATH)

struct proc_file *file__new(struct proc_set *ps, enum file_kind kind, int oflags)
{
    struct proc_file *f = mem_try_zalloc(sizeof(*f));
    if (!f)
        return NULL;
    int acc = oflags & O_ACCMODE;
    f->refs = 1;
    f->kind = kind;
    f->ps = ps;
    f->oflags = oflags & KEPT_FLAGS;
    f->readable = !(oflags & O_PATH) && acc != O_WRONLY;
    f->writable = !(oflags & O_PATH) && acc != O_RDONLY;
    f->next = ps->files;
    if (ps->files)
        ps->files->prev = f;
    ps->files = f;
    return f;
}

void file__destroy(struct proc_file *f)
{
    struct proc_set *ps = f->ps;
    *(f->prev ? &f->prev->next : &ps->files) = f->next;
    if (f->next)
        f->next->prev = f->prev;
    if (ps->tty_in == f)
        ps->tty_in = NULL;
    if (ps->tty_out == f)
        ps->tty_out = NULL;
    if (f->pipe)
        pipe__close_end(f);
    vfs_close(f->h);
    if (f->kind == FILE_TEXT) {
        mem_free(f->u.text.p);
    } else if (f->kind == FILE_RANDOM) {
        mem_free(f->u.rnd.p);
    } else if (f->kind == FILE_CAPTURE) {
        capture__closed(f->u.capture);
    } else if (f->kind == FILE_TTY) {
        proc_file_unref(f->u.term.in);
        proc_file_unref(f->u.term.out);
    } else if (f->kind == FILE_TERMINAL) {
        tty__unref(f->u.tty);
    }
    mem_free(f);
}

struct proc_file *proc_file_ref(struct proc_file *f)
{
    f->refs++;
    return f;
}

void proc_file_unref(struct proc_file *f)
{
    if (!f || --f->refs)
        return;
    if (f->ps->in_run) {
        file__destroy(f);
        return;
    }
    struct mem_account *before = set__use(f->ps);
    file__destroy(f);
    mem_use(before);
}

struct proc_file *proc_file_vfs(struct proc_set *ps, struct vfs_handle *h, int oflags)
{
    struct mem_account *before = set__use(ps);
    struct proc_file *f = file__new(ps, FILE_VFS, oflags);
    if (f)
        f->h = h;
    mem_use(before);
    return f;
}

struct proc_file *proc_file_text(struct proc_set *ps, struct str s)
{
    struct mem_account *before = set__use(ps);
    struct proc_file *f = file__new(ps, FILE_TEXT, O_RDONLY);
    if (f) {
        f->u.text.p = mem_try(s.n ? s.n : 1);
        f->u.text.n = s.n;
        if (!f->u.text.p) {
            proc_file_unref(f);
            f = NULL;
        } else if (s.n) {
            memcpy(f->u.text.p, s.p, s.n);
        }
    }
    mem_use(before);
    return f;
}

int file__random_peek(struct proc_file *f, const void **ret_p, size_t *ret_n)
{
    if (!f->u.rnd.p) {
        f->u.rnd.p = mem_try(RANDOM_PEEK);
        if (!f->u.rnd.p)
            return -ENOMEM;
    }
    if (f->u.rnd.pos == f->u.rnd.n) {
        proc_entropy(f->ps, f->u.rnd.p, RANDOM_PEEK);
        f->u.rnd.pos = 0;
        f->u.rnd.n = RANDOM_PEEK;
    }
    *ret_p = f->u.rnd.p + f->u.rnd.pos;
    *ret_n = f->u.rnd.n - f->u.rnd.pos;
    return 0;
}

/* ---- open ---- */

/* /dev/tty: the session's terminal, if it has one. */
static int open_tty(struct proc_set *ps, int oflags, struct proc_file **ret)
{
    if (ps->terminal)
        return tty__open(ps, oflags, ret);
    if (!ps->tty_in && !ps->tty_out)
        return -ENXIO;
    struct proc_file *f = file__new(ps, FILE_TTY, oflags);
    if (!f)
        return -ENOMEM;
    f->tty = true;
    f->u.term.in = ps->tty_in ? proc_file_ref(ps->tty_in) : NULL;
    f->u.term.out = ps->tty_out ? proc_file_ref(ps->tty_out) : NULL;
    *ret = f;
    return 0;
}

static int device_kind(uint64_t rdev)
{
    if (major(rdev) == 5 && minor(rdev) == 0)
        return FILE_TTY;
    if (major(rdev) != 1)
        return -ENXIO;
    switch (minor(rdev)) {
    case 3:
        return FILE_NULL;
    case 5:
        return FILE_ZERO;
    case 7:
        return FILE_FULL;
    case 8:
    case 9:
        return FILE_RANDOM;
    default:
        return -ENXIO;
    }
}

/* Makes the open file of a handle, by what it is: takes @h on success. */
static int from_handle(struct proc *p, struct vfs_handle *h, int oflags, bool may_wait, struct proc_file **ret)
{
    struct vfs_stat st;
    int kind = FILE_VFS;
    int r = vfs_stat_ino(p->ps->v, vfs_handle_ino(h), &st);
    if (r < 0)
        return r;
    if (!(oflags & O_PATH)) {
        uint32_t type = st.mode & S_IFMT;
        if (type == S_IFIFO && !may_wait && !(oflags & O_NONBLOCK))
            return -EAGAIN;
        if (type == S_IFIFO)
            return pipe__open_fifo(p, h, oflags, ret);
        if (type == S_IFCHR)
            kind = device_kind(st.rdev);
        else if (type == S_IFBLK || type == S_IFSOCK)
            kind = -ENXIO;
    }
    if (kind < 0)
        return kind;
    if (kind == FILE_TTY) {
        r = open_tty(p->ps, oflags, ret);
        if (r == 0)
            (*ret)->h = h;
        return r;
    }
    struct proc_file *f = file__new(p->ps, (enum file_kind)kind, oflags);
    if (!f)
        return -ENOMEM;
    f->h = h;
    *ret = f;
    return 0;
}

/* The open file of a path that is no link into /proc/PID/fd. */
static int open_path(struct proc *p, uint64_t at, struct str path, int oflags, uint32_t mode, bool may_wait,
                     struct proc_file **ret)
{
    struct vfs_ctx ctx = proc_ctx(p);
    struct vfs_handle *h;
    int r = vfs_open(p->ps->v, &ctx, at, path, oflags, mode, &h);
    if (r < 0)
        return r;
    r = from_handle(p, h, oflags, may_wait, ret);
    if (r < 0)
        vfs_close(h);
    return r;
}

struct proc_file *proc_file_null(struct proc_set *ps)
{
    struct mem_account *before = set__use(ps);
    struct proc_file *f = file__new(ps, FILE_NULL, O_RDONLY);
    static const struct vfs_cred root;
    struct vfs_ctx ctx = {.cred = &root, .cwd = VFS_ROOT_INO};
    struct vfs_stat st;
    struct vfs_handle *h;
    if (f && vfs_open(ps->v, &ctx, 0, STR("/dev/null"), O_RDONLY | O_NOFOLLOW | O_PATH, 0, &h) == 0) {
        if (vfs_stat_ino(ps->v, vfs_handle_ino(h), &st) == 0 && S_ISCHR(st.mode) && device_kind(st.rdev) == FILE_NULL)
            f->h = h;
        else
            vfs_close(h);
    }
    mem_use(before);
    return f;
}

int proc_open(struct proc *p, struct str path, int oflags, uint32_t mode)
{
    return proc_open_at(p, 0, path, oflags, mode, 0, true);
}

int proc_open_at(struct proc *p, uint64_t at, struct str path, int oflags, uint32_t mode, int min, bool may_wait)
{
    if (p->must_end)
        return -EINTR;
    int fd = fds__lowest(p, min);
    if (fd < 0)
        return fd;
    struct proc_file *f = NULL, *link = NULL;
    bool nofollow = (oflags & (O_NOFOLLOW | O_EXCL)) != 0;
    int r = 0;
    bool likely = magic__likely(at, path);
    if (likely && magic__find(p, at, path, nofollow, &link)) {
        r = magic__open(p, link, oflags, &f);
    } else {
        r = open_path(p, at, path, oflags, mode, may_wait, &f);
        /* A link from elsewhere into /proc/PID/fd may name what has no path. */
        if ((r == -ENOENT || r == -EACCES) && !likely && magic__find(p, at, path, nofollow, &link))
            r = magic__open(p, link, oflags, &f);
    }
    if (r < 0)
        return r;
    r = proc_install(p, f, min, (oflags & O_CLOEXEC) != 0);
    if (r < 0) /* the table cannot have filled while the open blocked, but cost nothing to be sure */
        proc_file_unref(f);
    return r;
}
