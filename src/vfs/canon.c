/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The root hash. Each directory has a hash over its entries in order of names: kind, mode, owner, and by kind the size
 * and content, the target, the device number, or the hash of the directory. The tree's is that of the root, with the
 * groups of names that lead to one file after it. What is hashed again is found as vfs_diff() finds it: the table of
 * inodes is compared with that of the last time, and each node that differs marks the directories above it.
 */

#include "vfs/image_int.h"

#include <endian.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"

struct marked {
    uint64_t ino;
    uint64_t depth;
};

struct hashing {
    struct vfs *v;
    struct vfs_canon *k;
    struct marked *dirs; /* every directory once */
    size_t n, cap;
    uint64_t *host; /* changed directories of a mount whose entries are not known yet */
    size_t n_host, cap_host;
    struct radix *seen; /* directories in @dirs */
};

struct vfs_canon *vfs_canon_new(void)
{
    struct vfs_canon *k = vfs__alloc(sizeof(*k));
    if (k)
        *k = (struct vfs_canon){0};
    return k;
}

struct vfs_canon *vfs_canon_fork(const struct vfs_canon *k)
{
    struct vfs_canon *f = vfs_canon_new();
    if (!f)
        return NULL;
    *f = *k;
    f->at = k->at ? vfs_fork(k->at) : NULL;
    if (k->at && !f->at) {
        vfs__free(f);
        return NULL;
    }
    if (f->dirs)
        f->dirs->refs++;
    if (f->linked)
        f->linked->refs++;
    return f;
}

void vfs_canon_free(struct vfs_canon *k)
{
    if (!k)
        return;
    vfs_free(k->at);
    vfs__radix_unref(k->dirs, vfs__image_hash_unref);
    vfs__radix_unref(k->linked, vfs__image_hash_unref);
    vfs__free(k);
}

void vfs__image_name_page(struct page *p)
{
    struct str text = vfs__page_text(p);
    struct cas_hash h;
    p->id = (struct cas_id){{0}};
    if (text.n) {
        cas_hash_init(&h);
        cas_hash_add(&h, text.p, text.n);
        cas_hash_end(&h, p->id.b);
    }
    p->named = true;
}

/* ---- what to hash again ---- */

/* Puts or (with @id NULL) takes away what a table knows of @ino. */
static int set_hash(struct radix **table, uint64_t ino, const struct cas_id *id)
{
    if (!id && !vfs__radix_get(*table, ino))
        return vfs__absent(0);
    struct image_hash *h = id ? vfs__image_hash_new(id) : NULL;
    int rc = id ? vfs__radix_reserve(table, RADIX_HASHES, ino) : vfs__radix_own(table, ino);
    if (rc < 0 || (id && !h)) {
        vfs__image_hash_unref(h);
        return vfs__absent(-ENOMEM);
    }
    vfs__image_hash_unref(id ? vfs__radix_put(*table, ino, h) : vfs__radix_take(table, ino));
    return 0;
}

static int add_marked(struct hashing *h, uint64_t ino)
{
    static const struct cas_id none;
    if (!vfs__grow(&h->dirs, h->n, &h->cap, sizeof(*h->dirs)))
        return -ENOMEM;
    h->dirs[h->n++] = (struct marked){ino, 0};
    return set_hash(&h->seen, ino, &none);
}

static int add_unlisted(struct hashing *h, uint64_t ino)
{
    if (!vfs__grow(&h->host, h->n_host, &h->cap_host, sizeof(*h->host)))
        return -ENOMEM;
    h->host[h->n_host++] = ino;
    return 0;
}

static int mark_up(struct hashing *h, uint64_t ino)
{
    while (!vfs__radix_get(h->seen, ino)) {
        const struct node *n = vfs__node(h->v, ino);
        if (!n || !S_ISDIR(n->mode))
            return vfs__absent(0);
        int rc = add_marked(h, ino);
        if (rc < 0)
            return rc;
        if (n->flags & NODE_HOST && !(n->flags & NODE_CLEAN) && (rc = add_unlisted(h, ino)) < 0)
            return rc;
        if (ino == VFS_ROOT_INO)
            return 0;
        ino = n->parent;
    }
    return 0;
}

static int note(void *arg, uint64_t ino, void *obj_a, void *obj_b)
{
    struct hashing *h = arg;
    static const struct cas_id none;
    const struct node *a = obj_a, *b = obj_b;
    if ((!a || a->flags & NODE_CLEAN) && (!b || b->flags & NODE_CLEAN))
        return 0;
    bool dir = b && S_ISDIR(b->mode);
    int rc = dir ? 0 : set_hash(&h->k->dirs, ino, NULL);
    if (rc == 0)
        rc = set_hash(&h->k->linked, ino, b && !dir && b->nlink > 1 ? &none : NULL);
    if (rc < 0 || !b)
        return rc;
    rc = mark_up(h, dir ? ino : b->parent);
    const struct links *l = dir ? NULL : b->x.links;
    for (uint32_t i = 0; rc == 0 && l && i < l->n; i++)
        rc = mark_up(h, l->e[i].dir);
    return rc;
}

/* Levels above a directory. */
static int measure(struct hashing *h)
{
    for (size_t i = 0; i < h->n; i++) {
        uint64_t ino = h->dirs[i].ino;
        while (ino != VFS_ROOT_INO && h->dirs[i].depth <= LIMIT_DEPTH + 1) {
            const struct node *n = vfs__node(h->v, ino);
            if (!n)
                return vfs__absent(-EIO);
            ino = n->parent;
            h->dirs[i].depth++;
        }
    }
    return 0;
}

static int deepest_first(const void *pa, const void *pb)
{
    const struct marked *a = pa, *b = pb;
    return a->depth != b->depth ? (a->depth < b->depth ? 1 : -1) : a->ino < b->ino ? -1 : a->ino > b->ino;
}

/* ---- hashing ---- */

static void add_num(struct cas_hash *h, uint64_t v)
{
    uint8_t b[8];
    for (int i = 0; i < 8; i++)
        b[i] = (uint8_t)(v >> (8 * i));
    cas_hash_add(h, b, sizeof(b));
}

static void add_str(struct cas_hash *h, struct str s)
{
    add_num(h, s.n);
    cas_hash_add(h, s.p, s.n);
}

struct long_content {
    struct cas_hash h;
    uint64_t pages;
    struct cas_id first;
    uint64_t first_index;
};

static int add_page(void *arg, uint64_t index, void *obj)
{
    struct long_content *l = arg;
    struct page *p = obj;
    if (!p->named)
        vfs__image_name_page(p);
    if (cas_id_none(&p->id))
        return 0; /* reads as a hole */
    if (l->pages++ == 0) {
        l->first = p->id;
        l->first_index = index;
    }
    add_num(&l->h, index);
    cas_hash_add(&l->h, p->id.b, sizeof(p->id.b));
    return 0;
}

/* Names the bytes of a file: of one page its name, of more the hash over all; zeros for none. */
static int name_content(const struct node *n, struct cas_id *ret)
{
    *ret = (struct cas_id){{0}};
    if (!(n->flags & NODE_MAPPED)) {
        if (n->u.page && !n->u.page->named)
            vfs__image_name_page(n->u.page);
        if (n->u.page)
            *ret = n->u.page->id;
        return 0;
    }
    struct long_content l = {.pages = 0};
    cas_hash_init(&l.h);
    int rc = vfs__radix_each(vfs__map_root(n->u.map), 0, add_page, &l);
    struct cas_id all;
    cas_hash_end(&l.h, all.b);
    if (l.pages)
        *ret = l.pages == 1 && l.first_index == 0 ? l.first : all;
    return rc;
}

int vfs_content_id(struct vfs *v, uint64_t ino, struct cas_id *ret)
{
    *ret = (struct cas_id){{0}};
    vfs__load_error = 0;
    const struct node *n = vfs__is_provided(ino) ? NULL : vfs__node(v, ino);
    if (!n)
        return vfs__absent(-ESTALE);
    if (n->flags & (NODE_HOST | NODE_UNSTAT) || S_ISDIR(n->mode))
        return 0;
    return S_ISREG(n->mode) || S_ISLNK(n->mode) ? name_content(n, ret) : 0;
}

/* An entry's fields are a few bytes each: they are hashed some hundred at a time. */
struct one_dir {
    struct hashing *h;
    const struct node *dir;
    struct cas_hash hash;
    size_t n; /* bytes in @b, not hashed yet */
    uint8_t b[2048];
};

static void hash_pending(struct one_dir *d)
{
    cas_hash_add(&d->hash, d->b, d->n);
    d->n = 0;
}

static void put(struct one_dir *d, const void *p, size_t n)
{
    if (n > sizeof(d->b) - d->n)
        hash_pending(d);
    if (n > sizeof(d->b)) {
        cas_hash_add(&d->hash, p, n);
    } else if (n) {
        memcpy(d->b + d->n, p, n);
        d->n += n;
    }
}

static void put_num(struct one_dir *d, uint64_t v)
{
    uint64_t le = htole64(v);
    put(d, &le, sizeof(le));
}

static void put_str(struct one_dir *d, struct str s)
{
    put_num(d, s.n);
    put(d, s.p, s.n);
}

static int add_known(struct one_dir *d, const struct node *n, const struct image_hash *below)
{
    put_num(d, (uint64_t)n->uid << 32 | n->gid);
    if (S_ISDIR(n->mode)) {
        static const struct image_hash none;
        put(d, below ? below->id.b : none.id.b, CAS_HASH_SIZE);
        return 0;
    }
    if (S_ISLNK(n->mode)) {
        put_str(d, vfs__target(n));
        return 0;
    }
    if (!S_ISREG(n->mode)) {
        put_num(d, S_ISCHR(n->mode) || S_ISBLK(n->mode) ? n->u.rdev : 0);
        return 0;
    }
    put_num(d, n->size);
    struct cas_id id = {{0}}; /* of content that is the host's still: only the status was changed */
    int rc = n->flags & NODE_HOST ? 0 : name_content(n, &id);
    put(d, id.b, sizeof(id.b));
    return rc;
}

/* The inode that an entry counts as: of a provided directory the one it covers, so that it does not matter whether the
 * provider is there yet. 0: none. */
static uint64_t counts_as(const struct vfs *v, uint64_t ino)
{
    if (!vfs__is_provided(ino))
        return ino;
    for (uint32_t i = 0; v->mounts && i < v->mounts->n; i++)
        if (v->mounts->m[i].ops && vfs__provided_root(i) == ino)
            return v->mounts->m[i].covers;
    return 0;
}

static int add_entry(void *arg, const struct dpage *p, const struct dslot *s)
{
    struct one_dir *d = arg;
    uint64_t ino = counts_as(d->h->v, s->u.ino);
    if (ino == 0)
        return 0;
    const struct node *n = vfs__node(d->h->v, ino);
    if (!n)
        return vfs__absent(-EIO);
    const struct image_hash *below = S_ISDIR(n->mode) ? vfs__radix_get(d->h->k->dirs, ino) : NULL;
    if (n->flags & NODE_CLEAN && !below) {
        /* As the host has it. In a directory that is so itself, it does not matter whether it was looked at. */
        if (d->dir->flags & NODE_CLEAN)
            return 0;
        put_str(d, vfs__dslot_name(p, s));
        put_num(d, n->mode & S_IFMT);
        return 0;
    }
    put_str(d, vfs__dslot_name(p, s));
    put_num(d, (uint64_t)n->mode << 32 | 1);
    return add_known(d, n, below);
}

static int hash_dir(struct hashing *h, uint64_t ino)
{
    struct node *n = vfs__node(h->v, ino);
    int rc = n ? vfs__dpage_need(&n->u.dir) : vfs__absent(-EIO);
    if (rc < 0)
        return rc;
    struct one_dir d;
    d.h = h;
    d.dir = n;
    d.n = 0;
    cas_hash_init(&d.hash);
    rc = vfs__dir_walk(n->u.dir, add_entry, &d);
    hash_pending(&d);
    struct cas_id id;
    cas_hash_end(&d.hash, id.b);
    return rc == 0 ? set_hash(&h->k->dirs, ino, &id) : rc;
}

/* ---- files with more names than one ---- */

struct named {
    uint64_t ino;
    struct str path; /* heap */
};

struct names {
    struct vfs *v;
    struct named *names;
    size_t n, cap;
    uint64_t ino;
    struct buf path;
};

static int add_name(void *arg, const struct dpage *p, const struct dslot *s)
{
    struct names *l = arg;
    if (s->u.ino != l->ino)
        return 0;
    struct str name = vfs__dslot_name(p, s);
    if (!vfs__grow(&l->names, l->n, &l->cap, sizeof(*l->names)))
        return -ENOMEM;
    bool slash = l->path.n > 1;
    char *path = vfs__alloc(l->path.n + slash + name.n);
    if (!path)
        return -ENOMEM;
    memcpy(path, l->path.p, l->path.n);
    if (slash)
        path[l->path.n] = '/';
    memcpy(path + l->path.n + slash, name.p, name.n);
    l->names[l->n++] = (struct named){l->ino, str_of(path, l->path.n + slash + name.n)};
    return 0;
}

static int names_in(struct names *l, uint64_t dir)
{
    struct node *d = vfs__node(l->v, dir);
    int rc = d ? vfs__dpage_need(&d->u.dir) : vfs__absent(-EIO);
    buf_clear(&l->path);
    if (rc == 0)
        rc = vfs_dir_path(l->v, dir, &l->path);
    return rc < 0 ? rc : vfs__dir_walk(d->u.dir, add_name, l);
}

static int names_of(void *arg, uint64_t ino, void *obj)
{
    struct names *l = arg;
    (void)obj;
    const struct node *n = vfs__node(l->v, ino);
    if (!n)
        return vfs__absent(0);
    l->ino = ino;
    const struct links *k = n->x.links;
    int rc = k ? 0 : names_in(l, n->parent);
    for (uint32_t i = 0; rc == 0 && k && i < k->n; i++)
        rc = names_in(l, k->e[i].dir);
    return rc;
}

static int by_path(const void *pa, const void *pb)
{
    return str_cmp(((const struct named *)pa)->path, ((const struct named *)pb)->path);
}

/* Adds each group of names: a name counts its group by the number of the group's first name in order. */
static int add_links(struct hashing *h, struct cas_hash *out)
{
    if (!h->k->linked)
        return 0;
    struct names l = {.v = h->v};
    struct radix *first = NULL;
    buf_init(&l.path, (LIMIT_DEPTH + 1) * (LIMIT_NAME + 1));
    int rc = vfs__radix_each(h->k->linked, 0, names_of, &l);
    if (l.n)
        qsort(l.names, l.n, sizeof(*l.names), by_path);
    for (size_t i = 0; i < l.n && rc == 0; i++) {
        const struct image_hash *f = vfs__radix_get(first, l.names[i].ino);
        uint64_t group = i;
        struct cas_id id = {{0}};
        memcpy(id.b, &group, sizeof(group));
        if (f)
            memcpy(&group, f->id.b, sizeof(group));
        else
            rc = set_hash(&first, l.names[i].ino, &id);
        add_str(out, l.names[i].path);
        add_num(out, group);
    }
    for (size_t i = 0; i < l.n; i++)
        vfs__free((void *)(uintptr_t)l.names[i].path.p);
    vfs__free(l.names);
    vfs__radix_unref(first, vfs__image_hash_unref);
    buf_done(&l.path);
    return rc;
}

static int hash_tree(struct hashing *h)
{
    static struct radix *const none = NULL;
    const struct vfs *at = h->k->at;
    int rc = vfs__radix_diff(at ? &at->root : &none, &h->v->root, note, h);
    for (size_t i = 0; i < h->n_host && rc == 0; i++) {
        const struct node *n = vfs__node(h->v, h->host[i]);
        if (n && n->flags & NODE_HOST)
            rc = vfs__host_list(h->v, h->host[i], n);
        if (rc != -ENOMEM && rc != -ENOSPC)
            rc = 0; /* gone from the host: then it has no names beside what was changed */
    }
    if (rc == 0)
        rc = measure(h);
    if (rc == 0 && h->n)
        qsort(h->dirs, h->n, sizeof(*h->dirs), deepest_first);
    for (size_t i = 0; i < h->n && rc == 0; i++)
        rc = hash_dir(h, h->dirs[i].ino);
    if (rc < 0)
        return rc;
    const struct node *root = vfs__node(h->v, VFS_ROOT_INO);
    const struct image_hash *top = vfs__radix_get(h->k->dirs, VFS_ROOT_INO);
    if (!root || !top)
        return vfs__absent(-EIO);
    struct cas_hash out;
    cas_hash_init(&out);
    add_str(&out, STR("frontal-sandbox tree 1"));
    add_num(&out, root->mode);
    add_num(&out, (uint64_t)root->uid << 32 | root->gid);
    cas_hash_add(&out, top->id.b, sizeof(top->id.b));
    rc = add_links(h, &out);
    cas_hash_end(&out, h->k->root.b);
    return rc;
}

int vfs_root_hash(struct vfs *v, struct vfs_canon *k, struct cas_id *ret)
{
    if (!k->at || k->at->root != v->root) {
        struct hashing h = {.v = v, .k = k};
        vfs__load_error = 0;
        int rc = hash_tree(&h);
        vfs__free(h.dirs);
        vfs__free(h.host);
        vfs__radix_unref(h.seen, vfs__image_hash_unref);
        struct vfs *at = rc == 0 ? vfs_fork(v) : NULL;
        vfs_free(k->at); /* after a failure nothing is known: the next time hashes all */
        k->at = at;
        if (!at) {
            vfs__radix_unref(k->dirs, vfs__image_hash_unref);
            vfs__radix_unref(k->linked, vfs__image_hash_unref);
            k->dirs = k->linked = NULL;
            return rc < 0 ? rc : -ENOMEM;
        }
    }
    *ret = k->root;
    return 0;
}
