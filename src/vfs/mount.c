/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

static const struct vfs_cred root_cred = {0};
static const struct vfs_ctx root_ctx = {.cred = &root_cred, .cwd = VFS_ROOT_INO, .umask = 022};

/* ---- the table of mounts ---- */

void vfs__mounts_unref(struct mounts *m)
{
    if (!m || --m->refs > 0)
        return;
    for (uint32_t i = 0; i < m->n; i++)
        vfs__host_unref(m->m[i].host);
    vfs__free(m);
}

/* Fills @m as a copy of the tree's mounts, and makes it the tree's. */
static void replace_mounts(struct vfs *v, struct mounts *m)
{
    struct mounts *old = v->mounts;
    *m = (struct mounts){.refs = 1, .n = old ? old->n : 0};
    for (uint32_t i = 0; i < m->n; i++) {
        m->m[i] = old->m[i];
        if (m->m[i].host)
            m->m[i].host->refs++;
    }
    vfs__mounts_unref(old);
    v->mounts = m;
}

static size_t mounts_size(uint32_t n)
{
    return sizeof(struct mounts) + n * sizeof(struct mount);
}

/* The mounts with room for one more; NULL: no memory. */
static struct mounts *mounts_grow(struct vfs *v)
{
    struct mounts *m = vfs__alloc(mounts_size((v->mounts ? v->mounts->n : 0) + 1));
    if (m)
        replace_mounts(v, m);
    return m;
}

/* ---- putting something over a name ---- */

/* Where a mount goes: a name in a directory, and what it covers. */
struct spot {
    struct walk w;
    uint64_t covers; /* inode, or 0: the name is new */
    uint32_t type;
};

/* Walks to @path through symlinks; a missing last component is no error. */
static int find_spot(struct spot *s)
{
    for (;;) {
        int rc = vfs__walk_run(&s->w);
        if (rc < 0)
            return rc;
        if (s->w.type != LAST_NAME)
            return -EBUSY;
        rc = vfs__child(s->w.v, s->w.dir, s->w.last, &s->covers, &s->type);
        if (rc == -ENOENT) {
            s->covers = 0;
            return 0;
        }
        if (rc < 0 || s->type != S_IFLNK)
            return rc;
        rc = vfs__walk_follow(&s->w, s->covers);
        if (rc < 0)
            return rc;
    }
}

/* Makes the directories above the last component of @path that are missing. */
static int make_parents(struct vfs *v, struct str path)
{
    for (size_t i = 1; i < path.n; i++) {
        if (path.p[i] != '/')
            continue;
        int rc = vfs_mkdir(v, &root_ctx, VFS_ROOT_INO, str_of(path.p, i), 0755);
        if (rc < 0 && rc != -EEXIST)
            return rc;
    }
    return 0;
}

/* Owns everything that putting @ino of @type at the spot will change. *d is the directory's node. */
static int prepare_spot(struct vfs *v, struct spot *s, uint32_t type, struct node **d)
{
    if (s->covers && (type == S_IFDIR) != (s->type == S_IFDIR))
        return type == S_IFDIR ? -ENOTDIR : -EISDIR;
    if (vfs__is_provided(s->w.dir) || vfs__is_provided(s->covers))
        return -EBUSY;
    if (v->mounts && v->mounts->n >= LIMIT_MOUNTS)
        return -ENOSPC;
    *d = vfs__edit(v, s->w.dir);
    if (!*d)
        return -ENOMEM;
    if (!s->covers && vfs__readonly(v, *d))
        return -EROFS;
    return s->covers ? vfs__dir_own(&(*d)->u.dir, s->w.last) : vfs__dir_reserve(&(*d)->u.dir, s->w.last);
}

/* The name now leads to @ino. */
static void commit_spot(struct vfs *v, struct spot *s, uint64_t ino, uint32_t type, struct node *d)
{
    if (s->covers) {
        struct dslot *slot = vfs__dir_find(d->u.dir, s->w.last);
        slot->u.ino = ino;
        slot->type = (uint8_t)(type >> 12);
    } else {
        vfs__dir_put(&d->u.dir, s->w.last, ino, (uint8_t)(type >> 12));
        d->size++;
        d->nlink += type == S_IFDIR;
    }
    vfs__changed(v, d, VFS_EV_CREATE, s->w.dir, s->w.last, ino);
}

/* ---- providers ---- */

int vfs_provide(struct vfs *v, struct str path, const struct vfs_provider *ops, void *arg)
{
    struct spot s;
    struct node *d;
    int rc = vfs__walk_init(&s.w, v, &root_ctx, VFS_ROOT_INO, path, 0);
    if (rc == 0)
        rc = find_spot(&s);
    if (rc == 0 && !s.covers)
        rc = -ENOENT;
    if (rc == 0)
        rc = prepare_spot(v, &s, S_IFDIR, &d);
    if (rc == 0) {
        struct mounts *m = mounts_grow(v);
        rc = m ? 0 : -ENOMEM;
        if (m) {
            m->m[m->n] = (struct mount){
                .ops = ops, .arg = arg, .parent = s.w.dir, .covers = s.covers, .time = vfs__now(v), .ro = false};
            commit_spot(v, &s, vfs__provided_root(m->n++), S_IFDIR, d);
        }
    }
    vfs__walk_done(&s.w);
    return rc;
}

void vfs_set_provider_arg(struct vfs *v, const struct vfs_provider *ops, void *arg)
{
    if (v->mounts && v->mounts->refs > 1) {
        /* Small and bounded, and a fork must never go on with the other tree's argument: so this one may not fail. */
        struct mem_account *acc = mem_use(NULL);
        replace_mounts(v, mem_alloc(mounts_size(v->mounts->n)));
        mem_use(acc);
    }
    for (uint32_t i = 0; v->mounts && i < v->mounts->n; i++) {
        if (v->mounts->m[i].ops != ops)
            continue;
        v->mounts->m[i].arg = arg;
        v->mounts->m[i].time = vfs__now(v);
    }
}

/* ---- host mounts ---- */

/* What the descriptor is: a directory, or a file that can be read through it. */
static int check_fd(int fd, uint32_t *ret_type)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return -EINVAL;
    if (S_ISREG(st.st_mode) && flags & O_PATH)
        return -EBADF;
    *ret_type = st.st_mode & S_IFMT;
    return 0;
}

/* The node at the top of a mount; NULL: no memory. */
static struct node *top_node(struct vfs *v, const struct spot *s, uint32_t type)
{
    struct origin *o = vfs__origin_new(NULL, str_of("", 0));
    struct node *n = o ? vfs__node_new(type) : NULL;
    if (!n) {
        vfs__origin_unref(o);
        return NULL;
    }
    n->flags = NODE_HOST | NODE_UNSTAT | NODE_CLEAN | NODE_TOP;
    n->nlink = type == S_IFDIR ? 2 : 1;
    n->parent = s->w.dir;
    n->mount = (uint16_t)((v->mounts ? v->mounts->n : 0) + 1);
    if (type == S_IFDIR)
        n->x.origin = o;
    else
        n->u.origin = o;
    return n;
}

/* Puts the mount of @host at the spot. Takes a reference of @host only when it succeeds. */
static int mount_at(struct vfs *v, struct spot *s, struct host *host, uint32_t type, bool ro)
{
    struct node *d;
    if (v->used.inodes >= v->quota.inodes)
        return -ENOSPC;
    int rc = prepare_spot(v, s, type, &d);
    if (rc < 0)
        return rc;
    struct node *top = top_node(v, s, type);
    struct mounts *m = top && vfs__radix_reserve(&v->root, RADIX_NODES, v->next_ino) == 0 ? mounts_grow(v) : NULL;
    if (!m) {
        vfs__node_unref(top);
        return -ENOMEM;
    }
    m->m[m->n++] = (struct mount){.host = host, .top = v->next_ino, .covers = s->covers, .time = vfs__now(v), .ro = ro};
    vfs__radix_put(v->root, v->next_ino, top);
    commit_spot(v, s, v->next_ino++, type, d);
    v->used.inodes++;
    v->n_dirs += type == S_IFDIR;
    return 0;
}

int vfs_mount_host(struct vfs *v, struct str path, int host_fd, int flags, uint32_t host_uid, uint32_t host_gid,
                   uint32_t uid, uint32_t gid)
{
    uint32_t type = 0;
    struct host *host = vfs__host_new(host_fd, host_uid, host_gid, uid, gid);
    if (!host)
        fd_close(&host_fd);
    int rc = host ? check_fd(host->fd, &type) : -ENOMEM;
    if (rc == 0) {
        host->file = type == S_IFREG;
        rc = make_parents(v, path);
    }
    struct spot s;
    int init = vfs__walk_init(&s.w, v, &root_ctx, VFS_ROOT_INO, path, 0);
    if (rc == 0)
        rc = init;
    if (rc == 0)
        rc = find_spot(&s);
    if (rc == 0)
        rc = mount_at(v, &s, host, type, flags & VFS_MOUNT_RO);
    vfs__walk_done(&s.w);
    if (rc < 0)
        vfs__host_unref(host);
    return rc;
}

int vfs_mount_each(struct vfs *v, int (*fn)(void *arg, const struct vfs_mount *m), void *arg)
{
    BUF_AUTO struct buf path;
    buf_init(&path, 2 * LIMIT_PATH);
    int rc = 0;
    for (uint32_t i = 0; v->mounts && i < v->mounts->n && rc == 0; i++) {
        const struct mount *m = &v->mounts->m[i];
        buf_clear(&path);
        /* One that was covered by another has no name. */
        if (m->host && vfs__path(v, m->top, &path) == 0)
            rc = fn(arg, &(struct vfs_mount){buf_str(&path), VFS_DEV_BASE + i + 1, m->ro});
    }
    return rc;
}
