/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_int.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"

/*
 * Links into /proc/PID/fd, which in Linux lead to the open file itself and not to the path that readlink(2) shows.
 * /dev/stdin, /dev/fd and a guest's own links lead there too, so the last component is followed here, a link at a time,
 * until it is such an entry or no link.
 */

bool magic__likely(uint64_t at, struct str path)
{
    if (path.n && path.p[0] == '/')
        path = str_from(path, 1);
    else if (at != VFS_ROOT_INO)
        return false;
    return str_starts(path, STR("dev/std")) || str_starts(path, STR("dev/fd/")) || str_starts(path, STR("proc/"));
}

/* Cuts @path before its last component. False when that is empty, "." or "..": no link then. */
static bool split(struct str path, struct str *ret_dir, struct str *ret_last)
{
    size_t i = path.n;
    while (i && path.p[i - 1] != '/')
        i--;
    *ret_last = str_from(path, i);
    while (i > 1 && path.p[i - 1] == '/')
        i--;
    *ret_dir = i ? str_of(path.p, i) : STR(".");
    return ret_last->n && !str_eqc(*ret_last, ".") && !str_eqc(*ret_last, "..");
}

int magic__find(struct proc *p, uint64_t at, struct str path, bool nofollow, struct proc_file **ret)
{
    struct proc_set *ps = p->ps;
    struct vfs_ctx ctx = proc_ctx(p);
    struct buf target[2];
    uint64_t base = at, there;
    int found = 0;
    if (vfs_lookup(ps->v, &ctx, at, path, VFS_NOFOLLOW, &there) < 0)
        return 0;
    buf_init(&target[0], LIMIT_PATH);
    buf_init(&target[1], LIMIT_PATH);
    for (int i = 0; i < LIMIT_SYMLINKS; i++) {
        struct str dir, last;
        uint64_t dir_ino, ino;
        int pid, fd;
        if (!split(path, &dir, &last) || vfs_lookup(ps->v, &ctx, base, dir, VFS_DIRECTORY, &dir_ino) < 0)
            break;
        ps->procfs_last = 0;
        if (vfs_lookup(ps->v, &ctx, dir_ino, last, VFS_NOFOLLOW, &ino) < 0)
            break;
        if (nofollow)
            break;
        if (ino >= VFS_PROVIDED && procfs__last_is_fd(ps, &pid, &fd)) {
            struct proc *owner = life__find(ps, pid);
            *ret = owner ? proc_get(owner, fd) : NULL;
            found = *ret != NULL;
            break;
        }
        struct buf *b = &target[i & 1];
        buf_clear(b);
        if (vfs_readlink(ps->v, &ctx, dir_ino, last, b) < 0)
            break;
        path = buf_str(b);
        base = dir_ino;
    }
    buf_done(&target[0]);
    buf_done(&target[1]);
    return found;
}

/* A new open of a file or directory of the tree, whatever became of its name. */
static int reopen_vfs(struct proc *p, const struct proc_file *f, int oflags, struct proc_file **ret)
{
    struct vfs *v = p->ps->v;
    uint64_t ino = vfs_handle_ino(f->h);
    struct vfs_handle *h;
    struct vfs_stat st;
    int acc = oflags & O_ACCMODE, r;
    int want = (acc != O_WRONLY ? R_OK : 0) | (acc != O_RDONLY ? W_OK : 0);
    r = vfs_stat_ino(v, ino, &st);
    if (r == 0 && S_ISDIR(st.mode) && (acc != O_RDONLY || (oflags & O_CREAT)))
        r = -EISDIR;
    if (r == 0 && !S_ISDIR(st.mode) && (oflags & O_DIRECTORY))
        r = -ENOTDIR;
    if (r == 0 && !(oflags & O_PATH))
        r = vfs_access_ino(v, &p->cred, ino, want);
    if (r == 0)
        r = vfs_open_ino(v, ino, oflags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW), &h);
    if (r < 0)
        return r;
    struct proc_file *n = file__new(p->ps, FILE_VFS, oflags);
    if (n && (oflags & O_TRUNC) && acc != O_RDONLY)
        r = vfs_truncate(v, ino, 0);
    if (!n || r < 0) {
        vfs_close(h);
        proc_file_unref(n);
        return n ? r : -ENOMEM;
    }
    n->h = h;
    *ret = n;
    return 0;
}

int magic__open(struct proc *p, struct proc_file *f, int oflags, struct proc_file **ret)
{
    int acc = oflags & O_ACCMODE;
    if ((oflags & O_CREAT) && (oflags & O_EXCL))
        return -EEXIST;
    if (f->kind == FILE_VFS)
        return reopen_vfs(p, f, oflags, ret);
    if (oflags & O_DIRECTORY)
        return -ENOTDIR;
    if (f->kind == FILE_PIPE && !f->pipe->feed) {
        struct proc_file *n = pipe__file(f->pipe, oflags);
        if (!n)
            return -ENOMEM;
        *ret = n;
        return 0;
    }
    /* Host streams, captures, devices and here-documents: the same open description, in the directions it has. */
    if ((acc != O_WRONLY && !f->readable) || (acc != O_RDONLY && !f->writable))
        return -EACCES;
    *ret = proc_file_ref(f);
    return 0;
}

int proc_stat_at(struct proc *p, uint64_t at, struct str path, int flags, struct vfs_stat *ret)
{
    struct vfs_ctx ctx = proc_ctx(p);
    struct proc_file *f;
    bool follow = !(flags & VFS_NOFOLLOW);
    bool likely = magic__likely(at, path);
    if (follow && likely && magic__find(p, at, path, false, &f))
        return file__stat(f, &p->cred, ret);
    int r = vfs_stat(p->ps->v, &ctx, at, path, flags, ret);
    if (r == -ENOENT && follow && !likely && magic__find(p, at, path, false, &f))
        return file__stat(f, &p->cred, ret);
    return r;
}

int proc_stat(struct proc *p, struct str path, int flags, struct vfs_stat *ret)
{
    return proc_stat_at(p, 0, path, flags, ret);
}

int proc_access(struct proc *p, struct str path, int want)
{
    return proc_access_at(p, 0, path, want);
}

int proc_access_at(struct proc *p, uint64_t at, struct str path, int want)
{
    struct vfs_ctx ctx = proc_ctx(p);
    struct proc_file *f = NULL;
    bool likely = magic__likely(at, path);
    int r = 0;
    if (!likely || !magic__find(p, at, path, false, &f)) {
        r = vfs_access(p->ps->v, &ctx, at, path, want, 0);
        if (r != -ENOENT || likely || !magic__find(p, at, path, false, &f))
            return r;
    }
    if (f->h)
        return vfs_access_ino(p->ps->v, &p->cred, vfs_handle_ino(f->h), want);
    return want & X_OK ? -EACCES : 0; /* pipes and streams are their reader's and writer's own, 0600 */
}
