/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/copy.h"

#include <errno.h>

#include "base/num.h"

/* A run of zeros of this length is made a hole when holes are wanted. */
#define HOLE 4096u

/* An open end of a copy: a file of the tree, or a descriptor for what is none (devices, FIFOs, /dev/stdin). */
struct end {
    struct vfs_handle *h;
    int fd;
    uint64_t pos;
};

static void end_close(struct cmd *c, struct end *e)
{
    vfs_close(e->h);
    e->h = NULL;
    if (e->fd >= 0)
        proc_close(c->p, e->fd);
    e->fd = -1;
}

static ssize_t end_read(struct cmd *c, struct end *e, char *p, size_t n)
{
    if (!e->h)
        return proc_read(c->p, e->fd, p, n);
    ssize_t r = vfs_pread(e->h, p, n, e->pos);
    if (r > 0)
        e->pos += (uint64_t)r;
    return r;
}

static int end_write(struct cmd *c, struct end *e, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t w = e->h ? vfs_pwrite(e->h, p, n, e->pos, NULL) : proc_write(c->p, e->fd, p, n);
        if (w < 0)
            return (int)w;
        e->pos += (uint64_t)w;
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

/* ---- content ---- */

static bool is_zero(const char *p, size_t n)
{
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Writes a block, leaving out what is zero when @holes. */
static int write_sparse(struct cmd *c, struct end *to, const char *p, size_t n, bool holes)
{
    if (!holes || !to->h)
        return end_write(c, to, p, n);
    while (n > 0) {
        size_t k = NUM_MIN(n, HOLE);
        if (is_zero(p, k)) {
            to->pos += k;
        } else {
            int r = end_write(c, to, p, k);
            if (r < 0)
                return r;
        }
        p += k;
        n -= k;
    }
    return 0;
}

/* Skips a hole of the source: true when the rest of it is one. */
static bool skip_hole(struct end *from, struct end *to)
{
    uint64_t data;
    int r = vfs_seek_data(from->h, from->pos, false, &data);
    if (r == -ENXIO)
        return true;
    if (r == 0 && data > from->pos) {
        to->pos += data - from->pos;
        from->pos = data;
    }
    return false;
}

static bool copy_data(struct copier *k, struct end *from, struct end *to, const struct vfs_stat *st)
{
    struct cmd *c = k->c;
    char *block = cmd_block_get();
    bool keep = k->o.sparse != COPY_SPARSE_NEVER && from->h && to->h && st->blocks * 512 < st->size;
    bool holes = k->o.sparse == COPY_SPARSE_ALWAYS, ok = true;
    uint64_t start = to->pos;
    while (ok && cmd_poll(c) == 0) {
        if (keep && skip_hole(from, to))
            break;
        ssize_t n = end_read(c, from, block, CMD_BLOCK);
        if (n < 0)
            copy__error(k, (int)n, "error reading", k->src.p);
        if (n <= 0) {
            ok = n == 0;
            break;
        }
        int r = write_sparse(c, to, block, (size_t)n, holes);
        if (r < 0)
            copy__error(k, r, "error writing", k->dst.p);
        ok = r == 0;
    }
    if (ok && to->h && (keep || holes)) { /* a hole at the end */
        uint64_t size = keep ? start + vfs_handle_size(from->h) : to->pos;
        int r = size > vfs_handle_size(to->h) ? vfs_truncate(cmd_vfs(c), vfs_handle_ino(to->h), size) : 0;
        if (r < 0)
            copy__error(k, r, "error writing", k->dst.p);
        ok = r == 0;
    }
    cmd_block_put(block);
    return ok && !c->p->must_end;
}

/* ---- opening ---- */

static bool open_source(struct copier *k, struct copy_item *it, struct end *e)
{
    struct cmd *c = k->c;
    struct vfs_ctx ctx = cmd_ctx(c);
    int r;
    if (S_ISREG(it->sst.mode))
        r = vfs_open(cmd_vfs(c), &ctx, it->src_at, it->src,
                     O_RDONLY | (k->o.deref == COPY_DEREF_NEVER ? O_NOFOLLOW : 0), 0, &e->h);
    else
        r = e->fd = cmd_open_safe(c, k->src.p, O_RDONLY, 0);
    if (r < 0)
        cmd_errno(c, r, "cannot open %s for reading", cmd_quote(c, k->src.p, true));
    return r >= 0;
}

/* Opens what is there, to overwrite it: 0, or a negative errno (-ENOENT: it is to be made, perhaps after it was
 * removed). */
static int open_existing(struct copier *k, struct copy_item *it, struct end *e, bool *ret_fail)
{
    struct cmd *c = k->c;
    struct vfs *v = cmd_vfs(c);
    struct vfs_ctx ctx = cmd_ctx(c);
    int trunc = k->o.attributes_only ? 0 : O_TRUNC, r;
    if (S_ISREG(it->dstat.mode))
        r = vfs_open(v, &ctx, it->dst_at, it->dst, O_WRONLY | trunc, 0, &e->h);
    else
        r = e->fd = cmd_open_safe(c, k->dst.p, O_WRONLY | trunc, 0);
    if (r >= 0 || r == -ENOENT || !k->o.unlink_after_fail)
        return r < 0 ? r : 0;
    r = vfs_unlink(v, &ctx, it->dst_at, it->dst);
    if (r < 0 && r != -ENOENT) {
        copy__error(k, r, "cannot remove", k->dst.p);
        *ret_fail = true;
        return r;
    }
    if (r == 0 && k->o.verbose)
        cmd_printf(c, "removed %s\n", cmd_quote(c, k->dst.p, true));
    return -ENOENT;
}

static int make_new(struct copier *k, struct copy_item *it, struct end *e)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    return vfs_open(cmd_vfs(k->c), &ctx, it->dst_at, it->dst, O_WRONLY | O_CREAT | O_EXCL,
                    it->mode & 0777 & ~it->omitted, &e->h);
}

/* A dangling link at the destination is never written through: true after the message. */
static bool is_dangling(struct copier *k, const struct copy_item *it)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    struct vfs_stat st;
    if (k->o.move || vfs_stat(cmd_vfs(k->c), &ctx, it->dst_at, it->dst, VFS_NOFOLLOW, &st) < 0 || !S_ISLNK(st.mode))
        return false;
    cmd_err(k->c, "not writing through dangling symlink %s", cmd_quote(k->c, k->dst.p, true));
    return true;
}

static bool open_dest(struct copier *k, struct copy_item *it, struct end *e)
{
    bool fail = false;
    int r = -ENOENT;
    if (!it->new_dst) {
        r = open_existing(k, it, e, &fail);
        if (fail)
            return false;
        if (r == 0)
            it->omitted = 0;
        else if (r == -ENOENT)
            it->new_dst = true;
    }
    if (r == -ENOENT)
        r = make_new(k, it, e);
    if (r == -EEXIST && is_dangling(k, it))
        return false;
    if (r == -EISDIR && k->dst.n > 0 && k->dst.p[k->dst.n - 1] == '/')
        r = -ENOTDIR;
    if (r < 0)
        copy__error(k, r, "cannot create regular file", k->dst.p);
    return r == 0;
}

/* ---- attributes ---- */

int copy__owner(struct copier *k, const struct copy_item *it, uint64_t ino, const struct vfs_stat *now)
{
    struct cmd *c = k->c;
    struct vfs *v = cmd_vfs(c);
    const struct vfs_cred *cred = &c->p->cred;
    /* While the owner changes, nobody gets rights that neither owner gave. */
    if (!it->new_dst && (k->o.keep_mode || k->o.move))
        vfs_chmod(v, cred, ino, now->mode & it->sst.mode & S_IRWXU);
    int r = vfs_chown(v, cred, ino, it->sst.uid, it->sst.gid);
    if (r == 0)
        return 1;
    if (r == -EPERM || r == -EINVAL)
        vfs_chown(v, cred, ino, UINT32_MAX, it->sst.gid);
    if ((r == -EPERM || r == -EINVAL) && cred->uid != 0)
        return 0;
    copy__error(k, r, "failed to preserve ownership for", k->dst.p);
    return k->o.require ? -1 : 0;
}

static bool attributes(struct copier *k, struct copy_item *it, uint64_t ino)
{
    struct cmd *c = k->c;
    struct vfs *v = cmd_vfs(c);
    const struct vfs_cred *cred = &c->p->cred;
    struct vfs_stat now;
    int r = vfs_stat_ino(v, ino, &now);
    if (r == 0 && k->o.keep_times) {
        r = vfs_utimens(v, cred, ino, it->sst.atime, it->sst.mtime);
        if (r < 0)
            copy__error(k, r, "preserving times for", k->dst.p);
        if (r < 0 && k->o.require)
            return false;
    }
    if (k->o.keep_owner && (now.uid != it->sst.uid || now.gid != it->sst.gid)) {
        r = copy__owner(k, it, ino, &now);
        if (r < 0)
            return false;
        if (r == 0)
            it->mode &= ~(uint32_t)(S_ISUID | S_ISGID | S_ISVTX);
    }
    r = 0;
    if (k->o.keep_mode || k->o.move)
        r = vfs_chmod(v, cred, ino, it->mode & 07777);
    else if (k->o.no_mode && it->new_dst)
        r = vfs_chmod(v, cred, ino, 0666 & ~c->p->umask);
    else if (it->omitted & ~c->p->umask)
        r = vfs_chmod(v, cred, ino, (now.mode & 07777) | (it->omitted & ~c->p->umask));
    if (r < 0)
        copy__error(k, r, "preserving permissions for", k->dst.p);
    return r == 0 || !k->o.require;
}

bool copy__regular(struct copier *k, struct copy_item *it)
{
    struct end from = {.fd = -1}, to = {.fd = -1};
    struct vfs_stat st = it->sst;
    bool ok = open_source(k, it, &from);
    if (ok && from.h)
        vfs_stat_ino(cmd_vfs(k->c), vfs_handle_ino(from.h), &st);
    ok = ok && open_dest(k, it, &to);
    if (ok && !k->o.attributes_only)
        ok = copy_data(k, &from, &to, &st);
    if (ok && to.h)
        ok = attributes(k, it, vfs_handle_ino(to.h));
    end_close(k->c, &from);
    end_close(k->c, &to);
    return ok;
}
