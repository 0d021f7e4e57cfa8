/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/num.h"

/*
 * First the two tables are compared, which skips every page they share; each node that differs marks itself and the
 * directories above it, on its side. Then both trees are walked together by name, and only into marked directories.
 *
 * What was merely read in from the host is no difference: a node with NODE_CLEAN is as the host gave it, and when
 * both sides have one of the same place, or one side has not looked yet, they are equal. So a diff reads from the
 * host only what one side changed.
 */

/* ---- sets of inodes ---- */

struct set {
    uint64_t *slot;
    uint64_t cap, n;
};

static uint64_t *set_slot(const struct set *s, uint64_t ino)
{
    uint64_t i = (ino * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
    while (s->slot[i & (s->cap - 1)] != 0 && s->slot[i & (s->cap - 1)] != ino)
        i++;
    return &s->slot[i & (s->cap - 1)];
}

static bool set_has(const struct set *s, uint64_t ino)
{
    return s->cap && *set_slot(s, ino) == ino;
}

static int set_add(struct set *s, uint64_t ino)
{
    if (s->n * 2 >= s->cap) {
        struct set more = {.cap = s->cap ? s->cap * 2 : 64};
        more.slot = vfs__alloc(more.cap * sizeof(uint64_t));
        if (!more.slot)
            return -ENOMEM;
        memset(more.slot, 0, more.cap * sizeof(uint64_t));
        for (uint64_t i = 0; i < s->cap; i++) {
            if (s->slot[i])
                *set_slot(&more, s->slot[i]) = s->slot[i];
        }
        vfs__free(s->slot);
        s->slot = more.slot;
        s->cap = more.cap;
    }
    *set_slot(s, ino) = ino;
    s->n++;
    return 0;
}

/* ---- marking ---- */

struct side {
    struct vfs *v;
    struct set marked;
};

/* A directory pair being walked. A side with ino 0 has nothing here. */
struct frame {
    uint64_t a, b;
    size_t base;      /* bytes of the path before the names of this directory */
    bool same_origin; /* both are the same place of the same mount */
    uint64_t then_b;  /* what replaced the removed directory a, to be told after it; or 0 */
};

struct diff {
    struct side a, b;
    int (*fn)(void *arg, const struct vfs_change *c);
    void *arg;
    struct buf path;
    struct frame *stack;
    size_t depth, cap;
};

static int mark_chain(struct side *s, uint64_t ino)
{
    while (!set_has(&s->marked, ino)) {
        int rc = set_add(&s->marked, ino);
        if (rc < 0)
            return rc;
        const struct node *n = vfs__node(s->v, ino);
        if (!n || ino == VFS_ROOT_INO)
            return 0;
        ino = n->parent;
    }
    return 0;
}

/* Marks an inode and every directory above one of its names. */
static int mark(struct side *s, uint64_t ino)
{
    const struct node *n = vfs__node(s->v, ino);
    int rc = mark_chain(s, ino);
    const struct links *l = n && !S_ISDIR(n->mode) ? n->x.links : NULL;
    for (uint32_t i = 0; rc == 0 && l && i < l->n; i++)
        rc = mark_chain(s, l->e[i].dir);
    return rc;
}

static int mark_pair(void *arg, uint64_t ino, void *obj_a, void *obj_b)
{
    struct diff *d = arg;
    const struct node *a = obj_a, *b = obj_b;
    if ((!a || a->flags & NODE_CLEAN) && (!b || b->flags & NODE_CLEAN))
        return 0;
    int rc = a ? mark(&d->a, ino) : 0;
    return rc == 0 && b ? mark(&d->b, ino) : rc;
}

/* ---- content ---- */

/* Where a file's bytes come from. */
struct source {
    const struct node *n;
    int fd;
    bool borrowed;
    struct page *buf; /* for what is on the host */
};

static int source_open(struct source *s, struct vfs *v, uint64_t ino, struct node *n)
{
    *s = (struct source){.fd = -1, .borrowed = true};
    if (n->flags & NODE_HOST) {
        s->buf = vfs__page_new(VFS_PAGE);
        if (!s->buf)
            return -ENOMEM;
        int rc = vfs__host_open(v, ino, &n, &s->fd, &s->borrowed);
        if (rc < 0)
            return rc;
    }
    s->n = n;
    return 0;
}

static void source_done(struct source *s)
{
    vfs__page_unref(s->buf);
    if (!s->borrowed)
        fd_close(&s->fd);
}

/* The page at @index: borrowed; NULL for a hole. */
static int source_page(struct source *s, uint64_t index, const struct page **ret)
{
    if (!s->buf) {
        struct page *p;
        int rc = vfs__content_need(s->n, index, &p);
        *ret = p;
        return rc;
    }
    ssize_t got = vfs__host_pread(s->fd, s->buf->p, VFS_PAGE, index * VFS_PAGE);
    if (got < 0)
        return (int)got;
    s->buf->len = (uint32_t)got;
    *ret = s->buf;
    return 0;
}

static bool all_zero(const uint8_t *p, size_t n)
{
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Whether two pages read alike; what is not stored reads as zeros. */
static bool page_same(const struct page *a, const struct page *b)
{
    if (a == b)
        return true;
    uint32_t na = a ? a->len : 0, nb = b ? b->len : 0;
    uint32_t both = NUM_MIN(na, nb);
    if (both && memcmp(a->p, b->p, both) != 0)
        return false;
    return na > both ? all_zero(a->p + both, na - both) : nb > both ? all_zero(b->p + both, nb - both) : true;
}

static const struct host *host_of(const struct vfs *v, const struct node *n)
{
    return n->mount ? v->mounts->m[n->mount - 1].host : NULL;
}

/* 1: the bytes differ, 0: they do not. */
static int bytes_differ(struct diff *d, uint64_t ino_a, struct node *a, uint64_t ino_b, struct node *b)
{
    struct source sa = {.fd = -1, .borrowed = true}, sb = sa;
    if (a->size != b->size)
        return 1;
    if (!((a->flags | b->flags) & NODE_HOST) && a->u.page == b->u.page)
        return 0;
    if (a->flags & b->flags & NODE_HOST && host_of(d->a.v, a) == host_of(d->b.v, b) &&
        vfs__origin_same(a->u.origin, b->u.origin))
        return 0;
    int rc = source_open(&sa, d->a.v, ino_a, a);
    if (rc == 0)
        rc = source_open(&sb, d->b.v, ino_b, b);
    uint64_t pages = (a->size + VFS_PAGE - 1) / VFS_PAGE;
    for (uint64_t i = 0; rc == 0 && i < pages; i++) {
        const struct page *pa, *pb;
        rc = source_page(&sa, i, &pa);
        if (rc == 0)
            rc = source_page(&sb, i, &pb);
        if (rc == 0)
            rc = !page_same(pa, pb);
    }
    source_done(&sa);
    source_done(&sb);
    return rc;
}

static int content_differs(struct diff *d, uint64_t ino_a, struct node *a, uint64_t ino_b, struct node *b)
{
    if (S_ISREG(a->mode))
        return bytes_differ(d, ino_a, a, ino_b, b);
    if (S_ISLNK(a->mode))
        return !str_eq(vfs__target(a), vfs__target(b));
    return (S_ISCHR(a->mode) || S_ISBLK(a->mode)) && a->u.rdev != b->u.rdev;
}

/* ---- walking ---- */

static int tell(struct diff *d, enum vfs_change_kind kind, uint64_t a, uint64_t b, bool content)
{
    struct vfs_change c = {.kind = kind, .path = buf_str(&d->path), .content = content};
    int rc = a ? vfs_stat_ino(d->a.v, a, &c.old_st) : 0;
    if (rc == 0 && b)
        rc = vfs_stat_ino(d->b.v, b, &c.new_st);
    return rc < 0 ? rc : d->fn(d->arg, &c);
}

static int push(struct diff *d, uint64_t a, uint64_t b, bool same_origin, uint64_t then_b)
{
    if (d->depth == d->cap) {
        size_t cap = d->cap ? d->cap * 2 : 32;
        struct frame *more = vfs__alloc(cap * sizeof(*more));
        if (!more)
            return -ENOMEM;
        if (d->depth)
            memcpy(more, d->stack, d->depth * sizeof(*more));
        vfs__free(d->stack);
        d->stack = more;
        d->cap = cap;
    }
    int rc = buf_putc(&d->path, '/');
    if (rc < 0)
        return rc == -EFBIG ? -ENAMETOOLONG : rc;
    d->stack[d->depth++] = (struct frame){a, b, d->path.n, same_origin, then_b};
    return 0;
}

/* A name that only one side has, with all that lies below it. */
static int tell_one(struct diff *d, uint64_t a, uint64_t b, bool dir, uint64_t then_b)
{
    int rc = tell(d, a ? VFS_REMOVED : VFS_ADDED, a, b, true);
    return rc == 0 && dir ? push(d, a, b, false, then_b) : rc;
}

static int replaced(struct diff *d, const struct node *a, uint64_t ino_a, const struct node *b, uint64_t ino_b)
{
    bool dir_b = S_ISDIR(b->mode);
    int rc = tell_one(d, ino_a, 0, S_ISDIR(a->mode), ino_b);
    return rc == 0 && !S_ISDIR(a->mode) ? tell_one(d, 0, ino_b, dir_b, 0) : rc;
}

/* True when both nodes are what the same place of the host gave, so that nothing need be compared. */
static bool both_as_host(const struct diff *d, const struct node *a, const struct node *b, bool same_origin)
{
    if (!(a->flags & b->flags & NODE_CLEAN) || (a->mode & S_IFMT) != (b->mode & S_IFMT))
        return false;
    return same_origin || (a->flags & b->flags & NODE_TOP && host_of(d->a.v, a) == host_of(d->b.v, b));
}

static bool places_same(const struct diff *d, const struct node *a, const struct node *b)
{
    return a->mount && b->mount && host_of(d->a.v, a) && host_of(d->a.v, a) == host_of(d->b.v, b) &&
           vfs__origin_same(a->x.origin, b->x.origin);
}

/* A name that both sides have. */
static int compare(struct diff *d, uint64_t ino_a, uint64_t ino_b, bool same_origin)
{
    if (vfs__is_provided(ino_a) || vfs__is_provided(ino_b))
        return 0;
    bool marked = set_has(&d->a.marked, ino_a) || set_has(&d->b.marked, ino_b);
    struct node *a = vfs__node(d->a.v, ino_a), *b = vfs__node(d->b.v, ino_b);
    if (!a || !b)
        return -ESTALE;
    bool down = S_ISDIR(a->mode) && (marked || (ino_a != ino_b && !both_as_host(d, a, b, same_origin)));
    if (a != b && !both_as_host(d, a, b, same_origin)) {
        int rc = vfs__view(d->a.v, ino_a, NULL, &a);
        if (rc == 0)
            rc = vfs__view(d->b.v, ino_b, NULL, &b);
        if (rc < 0)
            return rc;
        if ((a->mode & S_IFMT) != (b->mode & S_IFMT))
            return replaced(d, a, ino_a, b, ino_b);
        bool meta =
            a->mode != b->mode || a->uid != b->uid || a->gid != b->gid || (!S_ISDIR(a->mode) && a->mtime != b->mtime);
        rc = content_differs(d, ino_a, a, ino_b, b);
        if (rc >= 0 && (rc > 0 || meta))
            rc = tell(d, rc > 0 ? VFS_MODIFIED : VFS_META, ino_a, ino_b, rc > 0);
        if (rc != 0)
            return rc;
        a = vfs__node(d->a.v, ino_a);
        b = vfs__node(d->b.v, ino_b);
    }
    return down ? push(d, ino_a, ino_b, places_same(d, a, b), 0) : 0;
}

/* The entry of @dir after the name the walk is at: 1, 0 when there is none (or no directory), or an error. */
static int next_entry(struct vfs *v, uint64_t dir, struct str after, struct vfs_dirent *e)
{
    return dir && !vfs__is_provided(dir) ? vfs_dir_next(v, dir, after, e) : 0;
}

/* A directory is done: back to the one above, and what has come in its place. */
static int pop(struct diff *d)
{
    struct frame f = d->stack[--d->depth];
    buf_trunc(&d->path, f.base - 1);
    if (!f.then_b)
        return 0;
    const struct node *n = vfs__node(d->b.v, f.then_b);
    return n ? tell_one(d, 0, f.then_b, S_ISDIR(n->mode), 0) : -ESTALE;
}

/* Goes on to the next name of the directory on top. */
static int step(struct diff *d)
{
    struct frame f = d->stack[d->depth - 1];
    struct str after = str_from(buf_str(&d->path), f.base);
    struct vfs_dirent ea, eb;
    int ra = next_entry(d->a.v, f.a, after, &ea);
    int rb = ra < 0 ? ra : next_entry(d->b.v, f.b, after, &eb);
    if (rb < 0)
        return rb;
    if (!ra && !rb)
        return pop(d);
    int order = !ra ? 1 : !rb ? -1 : str_cmp(ea.name, eb.name);
    buf_trunc(&d->path, f.base);
    int rc = buf_adds(&d->path, order <= 0 ? ea.name : eb.name);
    if (rc < 0)
        return rc == -EFBIG ? -ENAMETOOLONG : rc;
    if (order == 0)
        return compare(d, ea.ino, eb.ino, f.same_origin);
    if (vfs__is_provided(order < 0 ? ea.ino : eb.ino))
        return 0;
    return order < 0 ? tell_one(d, ea.ino, 0, ea.type == S_IFDIR, 0) : tell_one(d, 0, eb.ino, eb.type == S_IFDIR, 0);
}

int vfs_diff(struct vfs *a, struct vfs *b, int (*fn)(void *arg, const struct vfs_change *c), void *arg)
{
    struct diff d = {.a.v = a, .b.v = b, .fn = fn, .arg = arg};
    if (a->root == b->root)
        return 0;
    buf_init(&d.path, (LIMIT_DEPTH + 1) * (LIMIT_NAME + 1));
    int rc = vfs__radix_diff(&a->root, &b->root, mark_pair, &d);
    if (rc == 0) {
        buf_putc(&d.path, '/');
        rc = compare(&d, VFS_ROOT_INO, VFS_ROOT_INO, false);
        /* The root's own path is "/"; below it the slash is that of the first name. */
        if (rc == 0 && d.depth > 0)
            d.stack[0].base = 1;
        buf_trunc(&d.path, NUM_MIN(d.path.n, (size_t)1));
    }
    while (rc == 0 && d.depth > 0)
        rc = step(&d);
    buf_done(&d.path);
    vfs__free(d.stack);
    vfs__free(d.a.marked.slot);
    vfs__free(d.b.marked.slot);
    return rc;
}
