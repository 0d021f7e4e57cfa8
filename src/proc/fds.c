/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/num.h"

/* ---- the table ---- */

/* Makes descriptor @fd (< LIMIT_FDS) a slot; new ones are closed. */
static void grow(struct proc *p, int fd)
{
    struct proc_fds *t = &p->fds;
    uint32_t n = (uint32_t)fd + 1;
    if (n <= t->n)
        return;
    if (n > p->priv->fd_cap) {
        uint32_t cap = NUM_MIN(NUM_MAX(n, 2 * p->priv->fd_cap), LIMIT_FDS);
        bool inl = t->v == t->inline_v;
        struct proc_fd *v = mem_realloc(inl ? NULL : t->v, cap * sizeof(*v));
        if (inl)
            memcpy(v, t->inline_v, t->n * sizeof(*v));
        t->v = v;
        p->priv->fd_cap = cap;
    }
    for (uint32_t i = t->n; i < n; i++)
        t->v[i] = (struct proc_fd){0};
    t->n = n;
}

static void shrink(struct proc *p)
{
    while (p->fds.n && !p->fds.v[p->fds.n - 1].file)
        p->fds.n--;
}

int fds__lowest(const struct proc *p, int min)
{
    if (min < 0 || (uint32_t)min >= p->fds_soft)
        return -EINVAL;
    uint32_t i = (uint32_t)min;
    while (i < p->fds.n && p->fds.v[i].file)
        i++;
    return i < p->fds_soft ? (int)i : -EMFILE;
}

void fds__copy(struct proc *child, const struct proc *parent)
{
    uint32_t n = parent->fds.n;
    if (!n)
        return;
    grow(child, (int)n - 1);
    struct proc_fd *to = child->fds.v;
    const struct proc_fd *from = parent->fds.v;
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i];
        if (to[i].file)
            to[i].file->refs++;
    }
}

void fds__close_all(struct proc *p)
{
    /* A close may wake others but runs nobody, so the table cannot change under the loop. */
    for (uint32_t i = 0; i < p->fds.n; i++)
        proc_file_unref(p->fds.v[i].file);
    p->fds.n = 0;
}

void fds__close_exec(struct proc *p)
{
    for (uint32_t i = 0; i < p->fds.n; i++)
        if (p->fds.v[i].file && p->fds.v[i].cloexec) {
            proc_file_unref(p->fds.v[i].file);
            p->fds.v[i].file = NULL;
        }
    shrink(p);
}

int proc_install(struct proc *p, struct proc_file *file, int min, bool cloexec)
{
    int fd = fds__lowest(p, min);
    if (fd < 0)
        return fd;
    grow(p, fd);
    p->fds.v[fd] = (struct proc_fd){file, cloexec};
    return fd;
}

struct proc_file *proc_get(const struct proc *p, int fd)
{
    return fd >= 0 && (uint32_t)fd < p->fds.n ? p->fds.v[fd].file : NULL;
}

int proc_dup2(struct proc *p, int old_fd, int new_fd, bool cloexec)
{
    struct proc_file *f = proc_get(p, old_fd);
    if (!f || new_fd < 0 || (uint32_t)new_fd >= p->fds_soft)
        return -EBADF;
    if (old_fd == new_fd)
        return new_fd;
    proc_file_ref(f);
    grow(p, new_fd);
    struct proc_file *before = p->fds.v[new_fd].file;
    p->fds.v[new_fd] = (struct proc_fd){f, cloexec};
    proc_file_unref(before);
    return new_fd;
}

int proc_dup(struct proc *p, int fd, int min, bool cloexec)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f)
        return -EBADF;
    int r = proc_install(p, f, min, cloexec);
    if (r >= 0)
        proc_file_ref(f);
    return r;
}

int proc_close(struct proc *p, int fd)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f)
        return -EBADF;
    p->fds.v[fd].file = NULL;
    if ((uint32_t)fd + 1 == p->fds.n)
        shrink(p);
    proc_file_unref(f);
    return 0;
}

int proc_set_cloexec(struct proc *p, int fd, bool on)
{
    if (!proc_get(p, fd))
        return -EBADF;
    p->fds.v[fd].cloexec = on;
    return 0;
}

int proc_pipe(struct proc *p, int ret[2], bool cloexec)
{
    return proc_pipe_from(p, 0, ret, cloexec);
}

int proc_pipe_from(struct proc *p, int min, int ret[2], bool cloexec)
{
    struct pipe *pp = pipe__new(p->ps);
    struct proc_file *r = pp ? pipe__file(pp, O_RDONLY) : NULL;
    struct proc_file *w = r ? pipe__file(pp, O_WRONLY) : NULL;
    if (pp)
        pipe__unref(pp); /* the files hold it now */
    int err = -ENOMEM, a = -1;
    if (w) {
        a = err = proc_install(p, r, min, cloexec);
        if (a >= 0) {
            int b = err = proc_install(p, w, min, cloexec);
            if (b >= 0) {
                ret[0] = a;
                ret[1] = b;
                return 0;
            }
            proc_close(p, a);
            r = NULL;
        }
    }
    proc_file_unref(r);
    proc_file_unref(w);
    return err;
}

/* ---- questions ---- */

bool proc_isatty(const struct proc *p, int fd)
{
    const struct proc_file *f = proc_get(p, fd);
    return f && f->tty;
}

int proc_fd_flags(const struct proc *p, int fd)
{
    const struct proc_file *f = proc_get(p, fd);
    return f ? f->oflags : -EBADF;
}

int proc_set_fd_flags(struct proc *p, int fd, int oflags)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f || (f->oflags & O_PATH))
        return -EBADF;
    f->oflags = (f->oflags & ~(O_APPEND | O_NONBLOCK)) | (oflags & (O_APPEND | O_NONBLOCK));
    if (f->kind == FILE_VFS)
        vfs_handle_set_append(f->h, (oflags & O_APPEND) != 0);
    return 0;
}

uint64_t proc_fd_ino(const struct proc *p, int fd)
{
    const struct proc_file *f = proc_get(p, fd);
    return f && f->h ? vfs_handle_ino(f->h) : 0;
}

struct vfs_handle *proc_fd_handle(const struct proc *p, int fd)
{
    const struct proc_file *f = proc_get(p, fd);
    return f && f->kind == FILE_VFS ? f->h : NULL;
}

/* Numbers of file systems that no tree uses: of pipes, of the session's own streams. */
enum { DEV_PIPE = 14, DEV_STREAM = 15 };

static void stat_stream(const struct proc_file *f, struct vfs_stat *st)
{
    st->dev = DEV_STREAM;
    st->ino = 1;
    st->nlink = 1;
    st->blksize = 4096;
    st->mode = f->tty ? S_IFCHR | 0620 : f->kind == FILE_NULL ? S_IFCHR | 0666 : S_IFIFO | 0600;
    if (f->tty)
        st->rdev = makedev(136, 0); /* the first pseudo terminal */
    else if (f->kind == FILE_NULL)
        st->rdev = makedev(1, 3); /* null(4), of which the tree has none any more */
}

int file__stat(struct proc_file *f, const struct vfs_cred *cred, struct vfs_stat *ret)
{
    if (f->h)
        return vfs_stat_ino(f->ps->v, vfs_handle_ino(f->h), ret);
    struct vfs_stat st = {.uid = cred->uid, .gid = cred->gid};
    int64_t t = f->ps->boot_wall;
    st.atime = st.mtime = st.ctime = st.btime = t;
    stat_stream(f, &st);
    if (f->kind == FILE_TEXT) {
        st.mode = S_IFREG | 0600;
        st.size = f->u.text.n;
        st.blocks = (f->u.text.n + 511) / 512;
    } else if (f->kind == FILE_PIPE && !f->tty) {
        st.dev = DEV_PIPE;
        st.ino = f->pipe->id;
    }
    *ret = st;
    return 0;
}

int proc_fstat(struct proc *p, int fd, struct vfs_stat *ret)
{
    struct proc_file *f = proc_get(p, fd);
    return f ? file__stat(f, &p->cred, ret) : -EBADF;
}

int proc_ftruncate(struct proc *p, int fd, uint64_t size)
{
    struct proc_file *f = proc_get(p, fd);
    if (!f)
        return -EBADF;
    if (f->kind != FILE_VFS || !f->writable)
        return -EINVAL;
    return vfs_truncate(f->ps->v, vfs_handle_ino(f->h), size);
}

struct vfs_ctx proc_ctx(const struct proc *p)
{
    return (struct vfs_ctx){.cred = &p->cred, .cwd = vfs_handle_ino(p->cwd), .umask = p->umask};
}
