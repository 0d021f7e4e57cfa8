/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <sys/stat.h>

/*
 * vfs_check(): walks the whole tree once by names, layer by layer, and once by the table, and compares. What it keeps
 * for each inode lies in a hash table of its own.
 */

struct seen {
    uint64_t ino; /* 0: empty slot */
    struct node *node;
    uint64_t names, subdirs, entries;
};

struct check {
    struct vfs *v;
    struct seen *seen;
    uint64_t cap, n;
    struct seen **queue; /* directories in the order in which they were found */
    uint64_t queued;
    struct seen *dir; /* being read */
    uint64_t bytes, inodes, n_dirs;
    bool alone;
    const char *what;
    int err;
};

static int fail(struct check *c, const char *what)
{
    c->what = what;
    c->err = -EUCLEAN;
    return 1;
}

static struct seen *seen_slot(const struct check *c, uint64_t ino)
{
    uint64_t i = (ino * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
    while (c->seen[i & (c->cap - 1)].ino != 0 && c->seen[i & (c->cap - 1)].ino != ino)
        i++;
    return &c->seen[i & (c->cap - 1)];
}

static int count_node(void *arg, uint64_t ino, void *obj)
{
    struct check *c = arg;
    (void)ino;
    (void)obj;
    c->n++;
    return 0;
}

static int note_node(void *arg, uint64_t ino, void *obj)
{
    struct check *c = arg;
    struct seen *s = seen_slot(c, ino);
    if (ino >= c->v->next_ino)
        return fail(c, "1: an inode number that was not given out yet");
    *s = (struct seen){.ino = ino, .node = obj};
    return 0;
}

static int prepare(struct check *c)
{
    int rc = vfs__radix_each(c->v->root, 0, count_node, c);
    if (rc < 0)
        return rc;
    for (c->cap = 16; c->cap < c->n * 2; c->cap *= 2)
        ;
    c->seen = vfs__alloc(c->cap * sizeof(struct seen));
    c->queue = vfs__alloc((c->n + 1) * sizeof(struct seen *));
    if (!c->seen || !c->queue)
        return -ENOMEM;
    memset(c->seen, 0, c->cap * sizeof(struct seen));
    rc = vfs__radix_each(c->v->root, 0, note_node, c);
    return rc < 0 ? rc : rc ? c->err : 0;
}

/* ---- names ---- */

static bool good_name(struct str name)
{
    return name.n >= 1 && name.n <= LIMIT_NAME && !memchr(name.p, '/', name.n) && !memchr(name.p, 0, name.n) &&
           !str_eq(name, STR(".")) && !str_eq(name, STR(".."));
}

/* True when the directory @dir is among those that @n knows to name it. */
static bool knows_parent(const struct node *n, uint64_t dir)
{
    if (S_ISDIR(n->mode) || !n->x.links)
        return n->parent == dir;
    for (uint32_t i = 0; i < n->x.links->n; i++) {
        if (n->x.links->e[i].dir == dir)
            return true;
    }
    return false;
}

static int check_name(void *arg, const struct dpage *p, const struct dslot *s)
{
    struct check *c = arg;
    c->dir->entries++;
    if (!good_name(vfs__dslot_name(p, s)))
        return fail(c, "6: a name that cannot be one");
    if (vfs__is_provided(s->u.ino)) {
        c->dir->subdirs++;
        return 0;
    }
    struct seen *t = seen_slot(c, s->u.ino);
    if (!t->node)
        return fail(c, "1: a name that leads nowhere");
    if ((t->node->mode & S_IFMT) != (uint32_t)s->type << 12)
        return fail(c, "1: an entry with another type than its node");
    if (!knows_parent(t->node, c->dir->ino))
        return fail(c, "3: a node that does not know its directory");
    t->names++;
    if (S_ISDIR(t->node->mode)) {
        if (t->names > 1)
            return fail(c, "3: a directory with two names");
        c->dir->subdirs++;
        c->queue[c->queued++] = t;
    }
    return 0;
}

static int check_names(struct check *c)
{
    struct seen *root = seen_slot(c, VFS_ROOT_INO);
    if (!root->node || !S_ISDIR(root->node->mode))
        return fail(c, "1: no root");
    root->names = 1;
    c->queue[c->queued++] = root;
    for (uint32_t i = 0; c->v->mounts && i < c->v->mounts->n; i++) {
        struct seen *s = seen_slot(c, c->v->mounts->m[i].covers);
        if (c->v->mounts->m[i].covers == 0 || !s->node)
            continue;
        if (s->names++ == 0 && S_ISDIR(s->node->mode))
            c->queue[c->queued++] = s;
    }
    for (uint64_t i = 0; i < c->queued; i++) {
        c->dir = c->queue[i];
        if (vfs__dpage_need(&c->dir->node->u.dir) < 0 || vfs__dir_check(c->dir->node->u.dir, c->alone) < 0)
            return fail(c, "7: pages of a directory");
        if (vfs__dir_walk(c->dir->node->u.dir, check_name, c))
            return 1;
    }
    return 0;
}

/* ---- nodes ---- */

/* One page at @index of a file of @size bytes. */
static int check_page(struct check *c, const struct page *p, uint64_t index, uint64_t size)
{
    if (p->len > p->cap || p->cap > VFS_PAGE || (c->alone && p->refs != 1))
        return fail(c, "7: a page");
    if (index * VFS_PAGE + p->len > size)
        return fail(c, "5: bytes beyond the end of a file");
    return 0;
}

struct map_check {
    struct check *c;
    const struct node *n;
    uint64_t bytes, pages;
};

static int check_map_page(void *arg, uint64_t key, void *obj)
{
    struct map_check *m = arg;
    const struct page *p = obj;
    m->bytes += p->cap;
    m->pages++;
    return check_page(m->c, p, key, m->n->size);
}

static int check_content(struct check *c, const struct node *n)
{
    if ((!S_ISREG(n->mode) && !S_ISLNK(n->mode)) || n->flags & (NODE_HOST | NODE_UNSTAT))
        return 0;
    if (!(n->flags & NODE_MAPPED))
        return n->u.page ? check_page(c, n->u.page, 0, n->size) : 0;
    struct map_check m = {.c = c, .n = n};
    if (c->alone && n->u.map->refs != 1)
        return fail(c, "7: the map of a file");
    if (vfs__radix_each(vfs__map_root(n->u.map), 0, check_map_page, &m))
        return 1;
    return m.bytes != n->u.map->bytes || m.pages != n->u.map->pages ? fail(c, "4: pages of a file") : 0;
}

static uint64_t sum_links(const struct links *l)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < l->n; i++)
        sum += l->e[i].count;
    return sum;
}

static int check_node(struct check *c, const struct seen *s)
{
    const struct node *n = s->node;
    c->inodes++;
    c->bytes += vfs__node_bytes(n);
    if (c->alone && n->refs != 1)
        return fail(c, "7: a node");
    if (s->names == 0)
        return fail(c, "1: a node without a name");
    if (S_ISDIR(n->mode)) {
        c->n_dirs++;
        if (!(n->flags & NODE_HOST) && (n->nlink != 2 + s->subdirs || n->size != s->entries))
            return fail(c, "2: links of a directory");
        return 0;
    }
    c->inodes += s->names - 1;
    if (n->nlink != s->names || (n->x.links && sum_links(n->x.links) != n->nlink))
        return fail(c, "2: links of a file");
    return check_content(c, n);
}

static int check_nodes(struct check *c)
{
    for (uint64_t i = 0; i < c->cap; i++) {
        if (c->seen[i].ino && check_node(c, &c->seen[i]))
            return 1;
    }
    uint32_t orphans = 0;
    for (uint32_t i = 0; i < c->v->holds_cap; i++) {
        const struct node *n = c->v->holds[i] ? c->v->holds[i]->node : NULL;
        if (!n)
            continue;
        orphans++;
        c->inodes++;
        c->bytes += vfs__node_bytes(n);
        c->n_dirs += S_ISDIR(n->mode);
        if (n->nlink != 0)
            return fail(c, "1: a held node out of the table that has names");
        if (check_content(c, n))
            return 1;
    }
    if (orphans != c->v->n_orphans)
        return fail(c, "1: number of held nodes");
    if (c->bytes != c->v->used.bytes || c->inodes != c->v->used.inodes || c->n_dirs != c->v->n_dirs)
        return fail(c, "4: usage");
    return 0;
}

/* Counts of the table's own pages. */
static bool good_radix(const struct radix *r, bool alone)
{
    unsigned n = 0;
    for (unsigned i = 0; i < RADIX_WIDTH; i++) {
        n += r->slot[i] != NULL;
        if (r->level > 0 && r->slot[i] && !good_radix(r->slot[i], alone))
            return false;
    }
    return n == r->n && (!alone || r->refs == 1);
}

int vfs_check(struct vfs *v, const char **ret_what)
{
    struct check c = {.v = v, .alone = v->family->trees == 1};
    int rc = prepare(&c);
    if (rc == 0 && !good_radix(v->root, c.alone))
        fail(&c, "7: the table");
    else if (rc == 0 && check_names(&c) == 0)
        check_nodes(&c);
    vfs__free(c.seen);
    vfs__free(c.queue);
    if (c.err < 0)
        *ret_what = c.what;
    return rc < 0 ? rc : c.err;
}
