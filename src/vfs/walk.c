/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"

/* ---- permissions ---- */

bool vfs__in_group(const struct vfs_cred *cred, uint32_t gid)
{
    if (cred->gid == gid)
        return true;
    for (uint32_t i = 0; i < cred->n_groups && i < LIMIT_GROUPS; i++) {
        if (cred->groups[i] == gid)
            return true;
    }
    return false;
}

int vfs__permit(const struct vfs_cred *cred, const struct node *n, int want)
{
    uint32_t bits = n->mode;
    if (cred->uid == 0)
        return want & X_OK && !S_ISDIR(n->mode) && !(n->mode & 0111) ? -EACCES : 0;
    if (cred->uid == n->uid)
        bits >>= 6;
    else if (vfs__in_group(cred, n->gid))
        bits >>= 3;
    return (bits & (uint32_t)want & 7) == ((uint32_t)want & 7) ? 0 : -EACCES;
}

int vfs__view(struct vfs *v, uint64_t ino, struct node *tmp, struct node **ret)
{
    if (vfs__is_provided(ino)) {
        *ret = tmp;
        return vfs__provided_node(v, ino, tmp);
    }
    vfs__load_error = 0;
    struct node *n = vfs__node(v, ino);
    if (!n)
        return vfs__absent(-ESTALE);
    if (n->flags & NODE_UNSTAT) {
        int rc = vfs__host_status(v, ino, &n);
        if (rc < 0)
            return rc;
    }
    *ret = n;
    return 0;
}

/* ---- one directory ---- */

/* The node of a directory with its entries known. */
static int listed(struct vfs *v, uint64_t dir, struct node **ret)
{
    vfs__load_error = 0;
    struct node *n = vfs__node(v, dir);
    if (!n)
        return vfs__absent(-ESTALE);
    if (!S_ISDIR(n->mode))
        return -ENOTDIR;
    if (n->flags & NODE_HOST) {
        int rc = vfs__host_list(v, dir, n);
        if (rc < 0)
            return rc;
        n = vfs__node(v, dir);
        if (!n)
            return vfs__absent(-ESTALE);
    }
    *ret = n;
    return vfs__dpage_need(&n->u.dir);
}

static int find_in(const struct node *dir, struct str name, uint64_t *ret_ino, uint32_t *ret_type)
{
    if (name.n > LIMIT_NAME)
        return dir->nlink > 0 ? -ENAMETOOLONG : -ENOENT; /* Linux does not ask a removed directory */
    const struct dslot *s = vfs__dir_find(dir->u.dir, name);
    if (!s)
        return vfs__absent(-ENOENT);
    *ret_ino = s->u.ino;
    *ret_type = (uint32_t)s->type << 12;
    return 0;
}

int vfs__child(struct vfs *v, uint64_t dir, struct str name, uint64_t *ret_ino, uint32_t *ret_type)
{
    if (vfs__is_provided(dir))
        return vfs__provided_child(v, dir, name, ret_ino, ret_type);
    struct node *n;
    int rc = listed(v, dir, &n);
    return rc < 0 ? rc : find_in(n, name, ret_ino, ret_type);
}

int vfs_dir_parent(struct vfs *v, uint64_t dir, uint64_t *ret_parent)
{
    if (vfs__is_provided(dir))
        return vfs__provided_parent(v, dir, ret_parent);
    const struct node *n = vfs__node(v, dir);
    if (!n || !vfs__node(v, n->parent))
        return vfs__absent(-ENOENT);
    if (!S_ISDIR(n->mode))
        return -ENOTDIR;
    *ret_parent = n->parent;
    return 0;
}

/* ---- the walk ---- */

int vfs__walk_init(struct walk *w, struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int flags)
{
    w->v = v;
    w->ctx = ctx;
    w->dir = at ? at : ctx->cwd ? ctx->cwd : VFS_ROOT_INO;
    w->top = w->dir;
    w->slash = false;
    w->beneath = flags & VFS_BENEATH;
    w->links = 0;
    w->path = path;
    w->own = NULL;
    w->depth = 0;
    w->type = LAST_ROOT;
    if (path.n == 0)
        return -ENOENT;
    if (path.n >= LIMIT_PATH)
        return -ENAMETOOLONG;
    if (memchr(path.p, 0, path.n))
        return -EINVAL;
    if (path.p[0] == '/') {
        if (w->beneath)
            return -EXDEV;
        w->dir = VFS_ROOT_INO;
    }
    return 0;
}

void vfs__walk_done(struct walk *w)
{
    mem_free(w->own);
    while (w->depth > 0)
        mem_free(w->stack[--w->depth].own);
    w->own = NULL;
}

/* May names be looked up in w->dir? *ret is its node, or NULL when it is a provided one. */
static int search(struct walk *w, struct node **ret)
{
    struct node tmp, *n = &tmp;
    int rc = vfs__is_provided(w->dir) ? vfs__provided_node(w->v, w->dir, &tmp) : listed(w->v, w->dir, &n);
    if (rc < 0)
        return rc;
    if (!S_ISDIR(n->mode))
        return -ENOTDIR;
    *ret = n == &tmp ? NULL : n;
    return vfs__permit(w->ctx->cred, n, X_OK);
}

static int go_up(struct walk *w)
{
    if (w->beneath && w->dir == w->top)
        return -EXDEV;
    return vfs_dir_parent(w->v, w->dir, &w->dir);
}

static struct str skip_slashes(struct str s)
{
    while (s.n > 0 && s.p[0] == '/')
        s = str_of(s.p + 1, s.n - 1);
    return s;
}

/* Target of the symlink @ino: borrowed from the tree, or from *ret_own, which the caller frees. */
static int target_of(struct vfs *v, uint64_t ino, struct str *ret, char **ret_own)
{
    struct node tmp, *n;
    int rc = vfs__view(v, ino, &tmp, &n);
    if (rc < 0)
        return rc;
    if (!S_ISLNK(n->mode))
        return -EIO; /* its entry says so: an image that was not made by us */
    if (n != &tmp) {
        *ret = vfs__target(n);
        return 0;
    }
    struct buf b;
    buf_init(&b, LIMIT_PATH - 1);
    rc = vfs__provided_read(v, ino, &b);
    if (rc == 0 && (b.err < 0 || b.n == 0 || memchr(b.p, 0, b.n)))
        rc = b.err < 0 ? b.err : -EINVAL;
    if (rc == 0) {
        size_t len = b.n;
        *ret_own = buf_take(&b);
        *ret = str_of(*ret_own, len);
    }
    buf_done(&b);
    return rc;
}

int vfs__walk_follow(struct walk *w, uint64_t ino)
{
    if (++w->links > LIMIT_SYMLINKS)
        return -ELOOP;
    struct str target;
    char *own = NULL;
    int rc = target_of(w->v, ino, &target, &own);
    if (rc < 0)
        return rc;
    if (w->path.n > 0)
        w->stack[w->depth++] = (struct walk_rest){w->path, w->own};
    else
        mem_free(w->own);
    w->path = target;
    w->own = own;
    if (target.n > 0 && target.p[0] == '/') {
        if (w->beneath)
            return -EXDEV;
        w->dir = VFS_ROOT_INO;
        w->type = LAST_ROOT;
    }
    return target.n > 0 ? 0 : -ENOENT;
}

/* Goes through the name that is not the last one; w->path is what follows it. */
static int descend(struct walk *w, const struct node *dir, struct str name)
{
    uint64_t ino;
    uint32_t type;
    int rc = dir ? find_in(dir, name, &ino, &type) : vfs__provided_child(w->v, w->dir, name, &ino, &type);
    if (rc < 0)
        return rc;
    if (type == S_IFLNK)
        return vfs__walk_follow(w, ino);
    if (type != S_IFDIR)
        return -ENOTDIR;
    w->dir = ino;
    return 0;
}

int vfs__walk_run(struct walk *w)
{
    for (;;) {
        struct str s = skip_slashes(w->path);
        if (s.n == 0) {
            w->path = s;
            if (w->depth == 0)
                return 0;
            mem_free(w->own);
            w->depth--;
            w->path = w->stack[w->depth].rest;
            w->own = w->stack[w->depth].own;
            continue;
        }
        const char *end = memchr(s.p, '/', s.n);
        struct str name = str_of(s.p, end ? (size_t)(end - s.p) : s.n);
        struct str rest = str_from(s, name.n);
        w->path = skip_slashes(rest);
        struct node *dir;
        int rc = search(w, &dir);
        if (rc < 0)
            return rc;
        bool dot = name.p[0] == '.' && name.n == 1;
        bool dotdot = name.p[0] == '.' && name.n == 2 && name.p[1] == '.';
        if (w->path.n == 0 && w->depth == 0) {
            w->last = name;
            w->slash |= rest.n > 0;
            w->type = dot ? LAST_DOT : dotdot ? LAST_DOTDOT : LAST_NAME;
            return 0;
        }
        if (dot)
            continue;
        rc = dotdot ? go_up(w) : descend(w, dir, name);
        if (rc < 0)
            return rc;
    }
}

int vfs__walk_last(struct walk *w, uint64_t *ret_ino, uint32_t *ret_type)
{
    if (w->type == LAST_NAME)
        return vfs__child(w->v, w->dir, w->last, ret_ino, ret_type);
    if (w->type == LAST_DOTDOT) {
        int rc = go_up(w);
        if (rc < 0)
            return rc;
    }
    *ret_ino = w->dir;
    *ret_type = S_IFDIR;
    return 0;
}

int vfs_lookup(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int flags, uint64_t *ret_ino)
{
    struct walk w;
    uint64_t ino = 0;
    uint32_t type = 0;
    int rc = vfs__walk_init(&w, v, ctx, at, path, flags);
    while (rc == 0) {
        rc = vfs__walk_run(&w);
        if (rc == 0)
            rc = vfs__walk_last(&w, &ino, &type);
        if (rc < 0 || type != S_IFLNK || (flags & VFS_NOFOLLOW && !w.slash))
            break;
        rc = vfs__walk_follow(&w, ino);
    }
    if (rc == 0 && (w.slash || flags & VFS_DIRECTORY) && type != S_IFDIR)
        rc = -ENOTDIR;
    vfs__walk_done(&w);
    if (rc == 0)
        *ret_ino = ino;
    return rc;
}

/* ---- questions about a path ---- */

int vfs_access_ino(struct vfs *v, const struct vfs_cred *cred, uint64_t ino, int want)
{
    struct node tmp, *n;
    int rc = vfs__view(v, ino, &tmp, &n);
    if (rc < 0)
        return rc;
    bool content = S_ISREG(n->mode) || S_ISDIR(n->mode) || S_ISLNK(n->mode);
    if (want & W_OK && content && vfs__readonly(v, n))
        return -EROFS;
    return vfs__permit(cred, n, want);
}

int vfs_dir_enter(struct vfs *v, const struct vfs_cred *cred, uint64_t dir)
{
    struct node *n = vfs__is_provided(dir) ? NULL : vfs__node(v, dir);
    /* Why a listing failed is told by the status, or by the reading that follows. */
    if (n && S_ISDIR(n->mode) && n->flags & NODE_HOST && n->flags & NODE_UNSTAT)
        (void)vfs__host_list(v, dir, n);
    return vfs_access_ino(v, cred, dir, R_OK);
}

int vfs_access(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int want, int flags)
{
    uint64_t ino;
    int rc = vfs_lookup(v, ctx, at, path, flags, &ino);
    return rc < 0 ? rc : vfs_access_ino(v, ctx->cred, ino, want);
}

int vfs_readlink(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, struct buf *out)
{
    uint64_t ino;
    struct node tmp, *n;
    int rc = vfs_lookup(v, ctx, at, path, VFS_NOFOLLOW, &ino);
    if (rc == 0)
        rc = vfs__view(v, ino, &tmp, &n);
    if (rc < 0)
        return rc;
    if (!S_ISLNK(n->mode))
        return -EINVAL;
    return n == &tmp ? vfs__provided_read(v, ino, out) : buf_adds(out, vfs__target(n));
}

/* Puts "/NAME" in front of what was added to @out since @at. */
static int prepend(struct buf *out, size_t at, struct str name)
{
    if (out->n - at + name.n + 1 >= LIMIT_PATH)
        return -ENAMETOOLONG;
    int rc = buf_insert(out, at, name.p, name.n);
    return rc < 0 ? rc : buf_insert(out, at, "/", 1);
}

/* Name of @ino in the directory @parent. */
static int name_in(struct vfs *v, uint64_t parent, uint64_t ino, struct str *ret)
{
    if (vfs__is_provided(parent)) {
        struct str after = {"", 0};
        uint32_t mode;
        for (uint64_t found = 0; found != ino; after = str_c(v->name)) {
            int rc = vfs__provided_next(v, parent, after, v->name, &found, &mode);
            if (rc <= 0)
                return rc < 0 ? rc : -ENOENT;
        }
        *ret = str_c(v->name);
        return 0;
    }
    struct node *n = vfs__node(v, parent);
    int rc = n ? vfs__dpage_need(&n->u.dir) : 0;
    return rc < 0 ? rc : n && vfs__dir_name_of(n->u.dir, ino, ret) ? 0 : vfs__absent(-ENOENT);
}

int vfs_dir_path(struct vfs *v, uint64_t dir, struct buf *out)
{
    size_t start = out->n;
    int rc = dir == VFS_ROOT_INO ? buf_putc(out, '/') : 0;
    while (rc == 0 && dir != VFS_ROOT_INO) {
        uint64_t parent;
        struct str name;
        rc = vfs_dir_parent(v, dir, &parent);
        if (rc == 0)
            rc = name_in(v, parent, dir, &name);
        if (rc == 0)
            rc = prepend(out, start, name);
        dir = parent;
    }
    if (rc < 0 && out->n > start)
        buf_trunc(out, start);
    return rc;
}

int vfs__path(struct vfs *v, uint64_t ino, struct buf *out)
{
    const struct node *n = vfs__node(v, ino);
    struct str name;
    int rc = n ? name_in(v, n->parent, ino, &name) : -ENOENT;
    if (rc == 0)
        rc = vfs_dir_path(v, n->parent, out);
    if (rc == 0 && n->parent != VFS_ROOT_INO)
        rc = buf_putc(out, '/');
    return rc < 0 ? rc : buf_adds(out, name);
}

/* ---- entries ---- */

int vfs_dir_next(struct vfs *v, uint64_t dir, struct str after, struct vfs_dirent *ret)
{
    if (vfs__is_provided(dir)) {
        uint32_t mode;
        int got = vfs__provided_next(v, dir, after, v->name, &ret->ino, &mode);
        if (got == 1) {
            ret->name = str_c(v->name);
            ret->type = mode & S_IFMT;
        }
        return got;
    }
    struct node *n;
    const struct dpage *p;
    int rc = listed(v, dir, &n);
    if (rc < 0)
        return rc;
    const struct dslot *s = vfs__dir_after(n->u.dir, after, &p);
    if (!s)
        return vfs__absent(0);
    *ret = (struct vfs_dirent){vfs__dslot_name(p, s), s->u.ino, (uint32_t)s->type << 12};
    return 1;
}

struct each {
    int (*fn)(void *arg, const struct vfs_dirent *e);
    void *arg;
};

static int each_slot(void *arg, const struct dpage *p, const struct dslot *s)
{
    const struct each *e = arg;
    struct vfs_dirent d = {vfs__dslot_name(p, s), s->u.ino, (uint32_t)s->type << 12};
    return e->fn(e->arg, &d);
}

int vfs_dir_each(struct vfs *v, uint64_t dir, int (*fn)(void *arg, const struct vfs_dirent *e), void *arg)
{
    if (vfs__is_provided(dir)) {
        struct vfs_dirent d = {.name = {"", 0}};
        int rc = vfs_dir_next(v, dir, d.name, &d);
        for (; rc == 1; rc = vfs_dir_next(v, dir, d.name, &d)) {
            rc = fn(arg, &d);
            if (rc)
                return rc;
        }
        return rc;
    }
    struct node *n;
    int rc = listed(v, dir, &n);
    struct each e = {fn, arg};
    return rc < 0 ? rc : vfs__dir_walk(n->u.dir, each_slot, &e);
}

static int count_one(void *arg, const struct vfs_dirent *e)
{
    (void)e;
    ++*(uint64_t *)arg;
    return 0;
}

int vfs_dir_count(struct vfs *v, uint64_t dir, uint64_t *ret)
{
    uint64_t count = 0;
    struct node *n;
    int rc = vfs__is_provided(dir) ? vfs_dir_each(v, dir, count_one, &count) : listed(v, dir, &n);
    if (rc == 0)
        *ret = vfs__is_provided(dir) ? count : n->size;
    return rc;
}
