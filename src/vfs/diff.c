/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/image_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/num.h"

/*
 * First the two tables are compared, which skips every page they share, in memory or by its name in the store; each
 * node that differs marks itself and the directories above it, on its side. Then both trees are walked together by
 * name, and only into marked directories. So nothing need be known of how the trees are related: where inode numbers
 * mean different files, all is marked and all is compared.
 *
 * What was merely read in from the host is no difference: a node with NODE_CLEAN is as the host gave it, and when
 * both sides have one of the same place, or one side has not looked yet, they are equal. So a diff reads from the
 * host only what one side changed. Where the host is not there, what it has to say is unknown (see vfs_diff()).
 */

/* ---- numbers by inode ---- */

struct numbers {
    struct number {
        uint64_t ino, value; /* value 0: free */
    } * slot;
    uint64_t cap, n;
};

static struct number *number_slot(const struct numbers *s, uint64_t ino)
{
    uint64_t i = (ino * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
    while (s->slot[i & (s->cap - 1)].value != 0 && s->slot[i & (s->cap - 1)].ino != ino)
        i++;
    return &s->slot[i & (s->cap - 1)];
}

/* What was put for @ino, or 0. */
static uint64_t number_get(const struct numbers *s, uint64_t ino)
{
    return s->cap ? number_slot(s, ino)->value : 0;
}

/* Puts a value (not 0) for an inode that has none. */
static int number_put(struct numbers *s, uint64_t ino, uint64_t value)
{
    if (s->n * 2 >= s->cap) {
        struct numbers more = {.cap = s->cap ? s->cap * 2 : 64};
        more.slot = vfs__alloc(more.cap * sizeof(*more.slot));
        if (!more.slot)
            return -ENOMEM;
        memset(more.slot, 0, more.cap * sizeof(*more.slot));
        for (uint64_t i = 0; i < s->cap; i++) {
            if (s->slot[i].value)
                *number_slot(&more, s->slot[i].ino) = s->slot[i];
        }
        vfs__free(s->slot);
        s->slot = more.slot;
        s->cap = more.cap;
    }
    *number_slot(s, ino) = (struct number){ino, value};
    s->n++;
    return 0;
}

/* ---- marking ---- */

struct side {
    struct vfs *v;
    struct numbers marked;
    struct numbers pair; /* of a file with several names: the other side's file of the first name that both have */
};

/* A directory pair being walked. A side with ino 0 has nothing here. */
struct frame {
    uint64_t a, b;
    size_t base;      /* bytes of the path before the names of this directory */
    bool same_origin; /* both are the same place of the same mount */
    bool unseen;      /* the side that has nothing here has only not seen it */
    uint64_t then_b;  /* what replaced the removed directory a, to be told after it; or 0 */
};

struct diff {
    struct side a, b;
    int (*fn)(void *arg, const struct vfs_change *c);
    void *arg;
    struct buf path;
    struct frame *stack;
    size_t depth, cap;
    bool hosts; /* one of the trees has a host mount */
};

static int mark_chain(struct side *s, uint64_t ino)
{
    while (!number_get(&s->marked, ino)) {
        int rc = number_put(&s->marked, ino, 1);
        if (rc < 0)
            return rc;
        const struct node *n = vfs__node(s->v, ino);
        if (!n || ino == VFS_ROOT_INO)
            return n ? 0 : vfs__absent(0);
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

static bool same_id(const struct cas_id *a, const struct cas_id *b)
{
    return cas_id_cmp(a, b) == 0;
}

/* Whether two nodes hold the same by what is known without loading or reading. */
static bool known_content(const struct node *a, const struct node *b)
{
    if (S_ISDIR(a->mode)) {
        const struct dpage *p = a->u.dir, *q = b->u.dir;
        return p == q || (p && q && p->stored && q->stored && same_id(&p->id, &q->id));
    }
    if (a->flags & NODE_MAPPED) {
        const struct radix *p = a->u.map->root, *q = b->u.map->root;
        return p == q || (p && q && p->stored && q->stored && p->level == q->level && same_id(&p->id, &q->id));
    }
    if (S_ISREG(a->mode) || S_ISLNK(a->mode)) {
        const struct page *p = a->u.page, *q = b->u.page;
        return p == q || (p && q && p->named && q->named && same_id(&p->id, &q->id));
    }
    return a->u.rdev == b->u.rdev;
}

/* Whether two nodes are equal, names and places too, by what is known without loading or reading: trees that were
 * loaded separately have equal nodes in pages that differ. Of a file with several names only the names themselves
 * tell. */
static bool node_same(const struct node *a, const struct node *b)
{
    bool file = !S_ISDIR(a->mode);
    if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid || a->flags != b->flags || a->mount != b->mount ||
        a->parent != b->parent || a->size != b->size || a->mtime != b->mtime)
        return false;
    if ((a->flags & (NODE_HOST | NODE_UNSTAT)) || a->mount || (file && (a->nlink > 1 || b->nlink > 1)))
        return false;
    return known_content(a, b);
}

static const struct mount *mount_of(const struct vfs *v, const struct node *n)
{
    return n->mount ? &v->mounts->m[n->mount - 1] : NULL;
}

/* Whether only the host knows what @what (flags) stands for, and the host is not there. */
static bool unknown(const struct vfs *v, const struct node *n, unsigned what)
{
    const struct mount *m = mount_of(v, n);
    return n->flags & what && m && m->host && m->host->fd < 0;
}

/* Whether two nodes are of the same mount. One that was loaded without its host is known by when and where it was
 * mounted. */
static bool mount_same(const struct diff *d, const struct node *a, const struct node *b)
{
    const struct mount *p = mount_of(d->a.v, a), *q = mount_of(d->b.v, b);
    if (!p || !q || !p->host || !q->host)
        return false;
    return p->host == q->host || ((p->host->fd < 0 || q->host->fd < 0) && a->mount == b->mount && p->time == q->time &&
                                  p->covers == q->covers && p->host->file == q->host->file);
}

static int mark_pair(void *arg, uint64_t ino, void *obj_a, void *obj_b)
{
    struct diff *d = arg;
    const struct node *a = obj_a, *b = obj_b;
    if ((!a || a->flags & NODE_CLEAN) && (!b || b->flags & NODE_CLEAN) && (!a || !b || mount_same(d, a, b)))
        return 0;
    if (a && b && node_same(a, b))
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

/* The page at @index: borrowed, it may be absent; NULL for a hole. */
static int source_page(struct source *s, uint64_t index, struct page **ret)
{
    if (!s->buf) {
        vfs__load_error = 0;
        *ret = vfs__content_page(s->n, index);
        return *ret ? 0 : vfs__absent(0);
    }
    ssize_t got = vfs__host_pread(s->fd, s->buf->p, VFS_PAGE, index * VFS_PAGE);
    if (got < 0)
        return (int)got;
    s->buf->len = (uint32_t)got;
    s->buf->named = 0;
    *ret = s->buf;
    return 0;
}

static bool all_zero(const uint8_t *p, size_t n)
{
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static const struct cas_id *name_of(struct page *p)
{
    static const struct cas_id none;
    if (p && !p->named)
        vfs__image_name_page(p);
    return p ? &p->id : &none;
}

/* Whether two pages read alike; what is not stored reads as zeros. Names are compared where both are known, and where
 * the bytes would have to be loaded. */
static bool page_same(struct page *a, struct page *b)
{
    if (a == b)
        return true;
    if ((a && a->absent) || (b && b->absent) || ((!a || a->named) && (!b || b->named)))
        return same_id(name_of(a), name_of(b));
    uint32_t na = a ? a->len : 0, nb = b ? b->len : 0;
    uint32_t both = NUM_MIN(na, nb);
    if (both && memcmp(a->p, b->p, both) != 0)
        return false;
    return na > both ? all_zero(a->p + both, na - both) : nb > both ? all_zero(b->p + both, nb - both) : true;
}

static int page_pair(void *arg, uint64_t index, void *a, void *b)
{
    (void)arg;
    (void)index;
    return !page_same(a, b);
}

/* Compares page by page what need not be in memory, nor have tables on both sides. */
static int pages_differ(struct source *a, struct source *b, uint64_t size)
{
    uint64_t pages = (size + VFS_PAGE - 1) / VFS_PAGE;
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < pages; i++) {
        struct page *pa = NULL, *pb = NULL;
        rc = source_page(a, i, &pa);
        if (rc == 0)
            rc = source_page(b, i, &pb);
        if (rc == 0)
            rc = !page_same(pa, pb);
    }
    return rc;
}

/* 1: the bytes differ, 0: they do not. */
static int bytes_differ(struct diff *d, uint64_t ino_a, struct node *a, uint64_t ino_b, struct node *b)
{
    struct source sa = {.fd = -1, .borrowed = true}, sb = sa;
    if (a->size != b->size)
        return 1;
    if (!((a->flags | b->flags) & NODE_HOST) && a->u.page == b->u.page)
        return 0;
    if (a->flags & b->flags & NODE_MAPPED)
        return vfs__radix_diff(&a->u.map->root, &b->u.map->root, page_pair, NULL);
    if (a->flags & b->flags & NODE_HOST && mount_same(d, a, b) && vfs__origin_same(a->u.origin, b->u.origin))
        return 0;
    if (unknown(d->a.v, a, NODE_HOST) || unknown(d->b.v, b, NODE_HOST))
        return 1;
    int rc = source_open(&sa, d->a.v, ino_a, a);
    if (rc == 0)
        rc = source_open(&sb, d->b.v, ino_b, b);
    if (rc == 0)
        rc = pages_differ(&sa, &sb, a->size);
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

static int stat_side(const struct side *s, uint64_t ino, struct vfs_stat *ret)
{
    const struct node *n = vfs__node(s->v, ino);
    if (!ino || !n || !unknown(s->v, n, NODE_UNSTAT))
        return ino ? vfs_stat_ino(s->v, ino, ret) : 0;
    ret->ino = ino;
    ret->mode = n->mode & S_IFMT;
    return 0;
}

static int tell(struct diff *d, enum vfs_change_kind kind, uint64_t a, uint64_t b, bool content)
{
    struct vfs_change c = {.kind = kind, .path = buf_str(&d->path), .content = content};
    int rc = stat_side(&d->a, a, &c.old_st);
    if (rc == 0)
        rc = stat_side(&d->b, b, &c.new_st);
    return rc < 0 ? rc : d->fn(d->arg, &c);
}

static int push(struct diff *d, struct frame f)
{
    if (!vfs__grow(&d->stack, d->depth, &d->cap, sizeof(*d->stack)))
        return -ENOMEM;
    int rc = buf_putc(&d->path, '/');
    if (rc < 0)
        return rc == -EFBIG ? -ENAMETOOLONG : rc;
    f.base = d->path.n;
    d->stack[d->depth++] = f;
    return 0;
}

/* A name that only one side has, with all that lies below it. */
static int tell_one(struct diff *d, uint64_t a, uint64_t b, bool dir, uint64_t then_b)
{
    int rc = tell(d, a ? VFS_REMOVED : VFS_ADDED, a, b, true);
    return rc == 0 && dir ? push(d, (struct frame){.a = a, .b = b, .then_b = then_b}) : rc;
}

/* A name of one side in a directory that the other has not seen: what is as on the host is there too, and of the rest
 * only directories show where they are from. */
static int tell_unseen(struct diff *d, uint64_t a, uint64_t b)
{
    const struct side *s = a ? &d->a : &d->b;
    uint64_t ino = a ? a : b;
    const struct node *n = vfs__node(s->v, ino);
    if (!n)
        return vfs__absent(-ESTALE);
    bool dir = S_ISDIR(n->mode);
    if (!dir || !n->x.origin)
        return n->flags & NODE_CLEAN ? 0 : tell_one(d, a, b, dir, 0);
    return number_get(&s->marked, ino) ? push(d, (struct frame){.a = a, .b = b, .unseen = true}) : 0;
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
    return same_origin || (a->flags & b->flags & NODE_TOP && mount_same(d, a, b));
}

static bool places_same(const struct diff *d, const struct node *a, const struct node *b)
{
    return mount_same(d, a, b) && vfs__origin_same(a->x.origin, b->x.origin);
}

/* 1: one of these names is another file than the one that an earlier name of it was compared with. */
static int links_differ(struct diff *d, uint64_t ino_a, const struct node *a, uint64_t ino_b, const struct node *b)
{
    if (S_ISDIR(a->mode) || (a->nlink < 2 && b->nlink < 2))
        return 0;
    uint64_t of_a = number_get(&d->a.pair, ino_a), of_b = number_get(&d->b.pair, ino_b);
    int rc = of_a ? 0 : number_put(&d->a.pair, ino_a, ino_b);
    if (rc == 0 && !of_b)
        rc = number_put(&d->b.pair, ino_b, ino_a);
    return rc < 0 ? rc : (of_a && of_a != ino_b) || (of_b && of_b != ino_a);
}

/* Two nodes of one type by all that counts. */
static int compare_nodes(struct diff *d, uint64_t ino_a, struct node *a, uint64_t ino_b, struct node *b)
{
    int links = links_differ(d, ino_a, a, ino_b, b);
    if (links < 0)
        return links;
    bool meta = a->mode != b->mode || a->uid != b->uid || a->gid != b->gid || links > 0 ||
                (!S_ISDIR(a->mode) && a->mtime != b->mtime);
    int rc = content_differs(d, ino_a, a, ino_b, b);
    return rc >= 0 && (rc > 0 || meta) ? tell(d, rc > 0 ? VFS_MODIFIED : VFS_META, ino_a, ino_b, rc > 0) : rc;
}

/* A name that both sides have, of which one side knows the type only. */
static int compare_unseen(struct diff *d, uint64_t ino_a, const struct node *a, uint64_t ino_b, const struct node *b)
{
    if ((a->mode & S_IFMT) != (b->mode & S_IFMT))
        return replaced(d, a, ino_a, b, ino_b);
    if (S_ISDIR(a->mode))
        return 0;
    bool content = !(a->flags & b->flags & NODE_HOST);
    return tell(d, content ? VFS_MODIFIED : VFS_META, ino_a, ino_b, content);
}

/* A name that both sides have. */
static int compare(struct diff *d, uint64_t ino_a, uint64_t ino_b, bool same_origin)
{
    if (vfs__is_provided(ino_a) || vfs__is_provided(ino_b))
        return 0;
    bool marked = number_get(&d->a.marked, ino_a) || number_get(&d->b.marked, ino_b);
    if (ino_a == ino_b && !marked && !d->hosts)
        return 0;
    struct node *a = vfs__node(d->a.v, ino_a), *b = vfs__node(d->b.v, ino_b);
    if (!a || !b)
        return vfs__absent(-ESTALE);
    bool down = S_ISDIR(a->mode) && (marked || (ino_a != ino_b && !both_as_host(d, a, b, same_origin)));
    if (a != b && !both_as_host(d, a, b, same_origin)) {
        bool unseen = unknown(d->a.v, a, NODE_UNSTAT) || unknown(d->b.v, b, NODE_UNSTAT);
        int rc = unseen ? 0 : vfs__view(d->a.v, ino_a, NULL, &a);
        if (rc == 0 && !unseen)
            rc = vfs__view(d->b.v, ino_b, NULL, &b);
        if (rc < 0)
            return rc;
        if ((a->mode & S_IFMT) != (b->mode & S_IFMT))
            return replaced(d, a, ino_a, b, ino_b);
        rc = unseen ? compare_unseen(d, ino_a, a, ino_b, b) : compare_nodes(d, ino_a, a, ino_b, b);
        if (rc != 0)
            return rc;
        a = vfs__node(d->a.v, ino_a);
        b = vfs__node(d->b.v, ino_b);
        if (!a || !b)
            return vfs__absent(-ESTALE);
    }
    return down ? push(d, (struct frame){.a = ino_a, .b = ino_b, .same_origin = places_same(d, a, b)}) : 0;
}

/* The entry of @dir after the name the walk is at: 1, 0 when there is none (or no directory), or an error. */
static int next_entry(struct vfs *v, uint64_t dir, struct str after, struct vfs_dirent *e, bool *unseen)
{
    if (!dir || vfs__is_provided(dir))
        return 0;
    const struct node *n = vfs__node(v, dir);
    if (!n || !unknown(v, n, NODE_HOST))
        return vfs_dir_next(v, dir, after, e);
    *unseen = true;
    return 0;
}

/* A directory is done: back to the one above, and what has come in its place. */
static int pop(struct diff *d)
{
    struct frame f = d->stack[--d->depth];
    buf_trunc(&d->path, f.base - 1);
    if (!f.then_b)
        return 0;
    const struct node *n = vfs__node(d->b.v, f.then_b);
    return n ? tell_one(d, 0, f.then_b, S_ISDIR(n->mode), 0) : vfs__absent(-ESTALE);
}

/* Goes on to the next name of the directory on top. */
static int step(struct diff *d)
{
    struct frame f = d->stack[d->depth - 1];
    struct str after = str_from(buf_str(&d->path), f.base);
    struct vfs_dirent ea, eb;
    int ra = next_entry(d->a.v, f.a, after, &ea, &f.unseen);
    int rb = ra < 0 ? ra : next_entry(d->b.v, f.b, after, &eb, &f.unseen);
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
    uint64_t a = order < 0 ? ea.ino : 0, b = order < 0 ? 0 : eb.ino;
    if (vfs__is_provided(a | b))
        return 0;
    return f.unseen ? tell_unseen(d, a, b) : tell_one(d, a, b, (a ? ea : eb).type == S_IFDIR, 0);
}

static bool has_host(const struct vfs *v)
{
    for (uint32_t i = 0; v->mounts && i < v->mounts->n; i++)
        if (v->mounts->m[i].host)
            return true;
    return false;
}

int vfs_diff(struct vfs *a, struct vfs *b, int (*fn)(void *arg, const struct vfs_change *c), void *arg)
{
    struct diff d = {.a.v = a, .b.v = b, .fn = fn, .arg = arg, .hosts = has_host(a) || has_host(b)};
    if (a->root == b->root)
        return 0;
    buf_init(&d.path, (LIMIT_DEPTH + 1) * (LIMIT_NAME + 1));
    vfs__load_error = 0;
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
    for (struct side *s = &d.a; s; s = s == &d.a ? &d.b : NULL) {
        vfs__free(s->marked.slot);
        vfs__free(s->pair.slot);
    }
    return rc;
}
