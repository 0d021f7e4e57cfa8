/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <stddef.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "base/varint.h"
#include "vfs/image_int.h"

/*
 * The blobs of pages: docs/internals/image.md. Numbers are varints (LEB128), a node's times are differences to its
 * mtime, short content lies in the node. Decoding checks all that the tree's code relies on without looking: types,
 * counts, order and form of names, capacities, mount numbers.
 */

enum content { CONTENT_NONE, CONTENT_INLINE, CONTENT_BLOB };

#define KEPT_FLAGS (NODE_MAPPED | NODE_HOST | NODE_UNSTAT | NODE_CLEAN | NODE_TOP)

/* ---- fields ---- */

void vfs__image_put_id(struct buf *out, const struct cas_id *id)
{
    buf_add(out, id->b, sizeof(id->b));
}

void vfs__image_put_num(struct buf *out, uint64_t v)
{
    uint8_t b[VARINT_MOST];
    buf_add(out, b, (size_t)(varint_put(b, v) - b));
}

/* The difference of a time to @base. It may overflow: wrapping round is undone when read. */
static uint64_t from_base(int64_t t, int64_t base)
{
    return varint_zigzag((int64_t)((uint64_t)t - (uint64_t)base));
}

struct cas_id vfs__image_get_id(struct cursor *c)
{
    struct cas_id id = {{0}};
    struct str s = cursor_bytes(c, sizeof(id.b));
    if (s.n)
        memcpy(id.b, s.p, sizeof(id.b));
    return id;
}

/* A number of at most @max. */
static uint64_t get_most(struct cursor *c, uint64_t max)
{
    uint64_t v = cursor_varint(c);
    c->bad |= v > max;
    return c->bad ? 0 : v;
}

static int64_t get_time(struct cursor *c, int64_t base)
{
    return (int64_t)((uint64_t)varint_unzigzag(cursor_varint(c)) + (uint64_t)base);
}

/* ---- absent pages ---- */

static struct absent absent_of(struct library *lib)
{
    lib->refs++;
    return (struct absent){lib};
}

struct radix *vfs__radix_absent(struct library *lib, const struct cas_id *id, unsigned level, unsigned kind)
{
    struct radix *r = vfs__alloc(offsetof(struct radix, slot) + sizeof(struct absent));
    if (!r)
        return NULL;
    r->refs = 1;
    r->level = (uint8_t)level;
    r->n = 1; /* not known yet */
    r->kind = (uint8_t)kind;
    r->stored = r->absent = true;
    r->id = *id;
    *(struct absent *)r->slot = absent_of(lib);
    return r;
}

static struct dpage *dpage_absent(struct library *lib, const struct cas_id *id, int level)
{
    struct dpage *p = vfs__alloc(sizeof(*p) + sizeof(struct absent));
    if (!p)
        return NULL;
    *p = (struct dpage){
        .refs = 1, .level = level < 0 ? UINT8_MAX : (uint8_t)level, .stored = true, .absent = true, .id = *id};
    *(struct absent *)p->slot = absent_of(lib);
    return p;
}

static struct page *page_absent(struct library *lib, const struct cas_id *id, uint32_t cap, uint32_t len)
{
    struct page *p = vfs__alloc(sizeof(*p) + sizeof(struct absent));
    if (!p)
        return NULL;
    *p = (struct page){.refs = 1, .cap = cap, .len = len, .named = 1, .stored = 1, .absent = 1, .id = *id};
    *(struct absent *)p->p = absent_of(lib);
    return p;
}

/* ---- content ---- */

struct str vfs__page_text(const struct page *p)
{
    size_t n = p->len;
    while (n > 0 && p->p[n - 1] == 0)
        n--;
    return str_of((const char *)p->p, n);
}

static void put_page(struct buf *out, const struct page *p)
{
    vfs__image_put_num(out, p->cap);
    vfs__image_put_num(out, p->len);
    vfs__image_put_id(out, &p->id);
}

static struct page *get_page(struct cursor *c, struct library *lib)
{
    uint32_t cap = (uint32_t)get_most(c, VFS_PAGE), len = (uint32_t)get_most(c, cap);
    struct cas_id id = vfs__image_get_id(c);
    if (c->bad)
        return NULL;
    if (!cas_id_none(&id))
        return page_absent(lib, &id, cap, len);
    struct page *p = vfs__page_new(cap);
    if (p) {
        p->cap = cap;
        p->len = len;
        p->named = p->stored = 1;
        p->id = id;
        memset(p->p, 0, len);
    }
    return p;
}

static void put_content(struct buf *out, const struct node *n)
{
    const struct page *p = n->u.page;
    if (!p) {
        vfs__image_put_num(out, CONTENT_NONE);
    } else if (!p->absent && (p->len <= IMAGE_INLINE || S_ISLNK(n->mode))) {
        vfs__image_put_num(out, CONTENT_INLINE);
        vfs__image_put_num(out, p->cap);
        vfs__image_put_num(out, p->len);
        buf_add(out, p->p, p->len);
    } else {
        vfs__image_put_num(out, CONTENT_BLOB);
        put_page(out, p);
    }
}

static void get_content(struct cursor *c, struct library *lib, struct node *n)
{
    switch (get_most(c, CONTENT_BLOB)) {
    case CONTENT_INLINE: {
        uint32_t cap = (uint32_t)get_most(c, VFS_PAGE), len = (uint32_t)get_most(c, cap);
        struct str s = cursor_bytes(c, len);
        n->u.page = c->bad ? NULL : vfs__page_new(cap);
        if (n->u.page) {
            n->u.page->cap = cap;
            n->u.page->len = len;
            if (len)
                memcpy(n->u.page->p, s.p, len);
        }
        c->bad |= !n->u.page;
        break;
    }
    case CONTENT_BLOB:
        n->u.page = get_page(c, lib);
        /* A target is looked at without loading. */
        c->bad |= !n->u.page || S_ISLNK(n->mode);
        break;
    default:
        break;
    }
    c->bad |= n->u.page && n->u.page->len > n->size;
}

static void put_map(struct buf *out, const struct filemap *m)
{
    vfs__image_put_num(out, m->bytes);
    vfs__image_put_num(out, m->pages);
    vfs__image_put_num(out, m->root ? m->root->level + 1u : 0);
    if (m->root)
        vfs__image_put_id(out, &m->root->id);
}

static void get_map(struct cursor *c, struct library *lib, struct node *n)
{
    struct filemap *m = vfs__alloc(sizeof(*m));
    if (!m) {
        c->bad = true;
        return;
    }
    *m = (struct filemap){.refs = 1};
    m->bytes = cursor_varint(c);
    m->pages = cursor_varint(c);
    unsigned levels = (unsigned)get_most(c, IMAGE_LEVELS);
    struct cas_id id = levels ? vfs__image_get_id(c) : (struct cas_id){{0}};
    if (levels && !c->bad)
        m->root = vfs__radix_absent(lib, &id, levels - 1, RADIX_PAGES);
    c->bad |= levels && !m->root;
    n->u.map = m;
}

/* ---- where a node is on the host ---- */

static void put_origin_path(struct buf *out, const struct origin *o)
{
    if (!o->parent)
        return;
    put_origin_path(out, o->parent);
    if (o->parent->parent)
        buf_putc(out, '/');
    buf_add(out, o->name, o->len);
}

static void put_origin(struct buf *out, const struct origin *o)
{
    struct buf path;
    buf_init(&path, (LIMIT_DEPTH + 1) * (LIMIT_NAME + 1));
    put_origin_path(&path, o);
    vfs__image_put_num(out, o->blocks);
    vfs__image_put_num(out, o->size_or_links);
    vfs__image_put_num(out, path.n);
    buf_adds(out, buf_str(&path));
    if (path.err)
        out->err = path.err;
    buf_done(&path);
}

static struct origin *get_origin(struct cursor *c)
{
    uint64_t blocks = cursor_varint(c), size_or_links = cursor_varint(c);
    struct str path = cursor_bytes(c, cursor_varint(c));
    struct origin *o = c->bad ? NULL : vfs__origin_new(NULL, str_of("", 0));
    while (o && path.n) {
        const char *e = memchr(path.p, '/', path.n);
        size_t n = e ? (size_t)(e - path.p) : path.n;
        struct str name = str_of(path.p, n);
        struct origin *up = o;
        o = vfs__image_name_ok(name) && !(e && n + 1 == path.n) ? vfs__origin_new(up, name) : NULL;
        vfs__origin_unref(up);
        path = str_from(path, e ? n + 1 : n);
    }
    if (o) {
        o->blocks = blocks;
        o->size_or_links = size_or_links;
    }
    c->bad |= !o;
    return o;
}

/* ---- nodes ---- */

bool vfs__image_name_ok(struct str name)
{
    return name.n >= 1 && name.n <= LIMIT_NAME && !memchr(name.p, '/', name.n) && !memchr(name.p, 0, name.n) &&
           !str_eqc(name, ".") && !str_eqc(name, "..");
}

static void put_node(struct buf *out, const struct node *n)
{
    const uint64_t fields[] = {
        n->flags & KEPT_FLAGS,
        n->mode,
        n->nlink,
        n->uid,
        n->gid,
        n->mount,
        n->parent,
        n->size,
        from_base(n->mtime, 0),
        from_base(n->atime, n->mtime),
        from_base(n->ctime, n->mtime),
        from_base(n->btime, n->mtime),
    };
    uint8_t b[sizeof(fields) / sizeof(fields[0]) * VARINT_MOST], *end = b;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        end = varint_put(end, fields[i]);
    buf_add(out, b, (size_t)(end - b));
    if (S_ISDIR(n->mode)) {
        vfs__image_put_num(out, (n->u.dir ? 1u : 0) | (n->x.origin ? 2u : 0));
        if (n->u.dir)
            vfs__image_put_id(out, &n->u.dir->id);
        if (n->x.origin)
            put_origin(out, n->x.origin);
        return;
    }
    if (n->flags & (NODE_HOST | NODE_UNSTAT))
        put_origin(out, n->u.origin);
    else if (n->flags & NODE_MAPPED)
        put_map(out, n->u.map);
    else if (S_ISREG(n->mode) || S_ISLNK(n->mode))
        put_content(out, n);
    else
        vfs__image_put_num(out, n->u.rdev);
    const struct links *l = n->x.links;
    vfs__image_put_num(out, l ? l->n : 0);
    for (uint32_t i = 0; l && i < l->n; i++) {
        vfs__image_put_num(out, l->e[i].dir);
        vfs__image_put_num(out, l->e[i].count);
    }
}

static void get_links(struct cursor *c, struct node *n)
{
    uint64_t count = get_most(c, (uint64_t)(c->end - c->p)); /* each takes two bytes or more */
    if (c->bad || count == 0)
        return;
    struct links *l = vfs__alloc(sizeof(*l) + count * sizeof(l->e[0]));
    if (!l) {
        c->bad = true;
        return;
    }
    *l = (struct links){.refs = 1, .cap = (uint32_t)count};
    n->x.links = l;
    for (; l->n < count && !c->bad; l->n++) {
        l->e[l->n].dir = cursor_varint(c);
        l->e[l->n].count = cursor_varint(c);
        c->bad |= l->e[l->n].count == 0 || (l->n > 0 && l->e[l->n].dir <= l->e[l->n - 1].dir);
    }
    c->bad |= count < 2;
}

static void get_dir(struct cursor *c, struct library *lib, struct node *n)
{
    uint64_t has = get_most(c, 3);
    if (has & 1) {
        struct cas_id id = vfs__image_get_id(c);
        n->u.dir = c->bad ? NULL : dpage_absent(lib, &id, -1);
        c->bad |= !n->u.dir;
    }
    if (has & 2)
        n->x.origin = get_origin(c);
}

static bool type_ok(uint32_t mode)
{
    static const uint32_t types[] = {S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if ((mode & ~07777u) == types[i])
            return true;
    return false;
}

/* A node whose content is not host's and fits its type. */
static bool flags_ok(const struct node *n, const struct library *lib)
{
    bool of_host = (n->flags & (NODE_HOST | NODE_UNSTAT | NODE_CLEAN | NODE_TOP)) != 0;
    if (n->mount > lib->n_mounts || (of_host && !n->mount) || (n->flags & ~KEPT_FLAGS))
        return false;
    if (n->flags & NODE_MAPPED && (!S_ISREG(n->mode) || n->flags & (NODE_HOST | NODE_UNSTAT)))
        return false;
    return !(n->flags & NODE_HOST) || S_ISREG(n->mode) || S_ISDIR(n->mode);
}

static struct node *get_node(struct cursor *c, struct library *lib)
{
    uint32_t flags = (uint32_t)get_most(c, UINT16_MAX), mode = (uint32_t)get_most(c, UINT32_MAX);
    struct node *n = c->bad || !type_ok(mode) ? NULL : vfs__node_new(mode);
    if (!n) {
        c->bad = true;
        return NULL;
    }
    n->nlink = (uint32_t)get_most(c, UINT32_MAX);
    n->uid = (uint32_t)get_most(c, UINT32_MAX);
    n->gid = (uint32_t)get_most(c, UINT32_MAX);
    n->mount = (uint16_t)get_most(c, UINT16_MAX);
    n->parent = cursor_varint(c);
    n->size = cursor_varint(c);
    n->mtime = get_time(c, 0);
    n->atime = get_time(c, n->mtime);
    n->ctime = get_time(c, n->mtime);
    n->btime = get_time(c, n->mtime);
    n->flags = (uint16_t)flags;
    c->bad |= !flags_ok(n, lib) || (S_ISREG(mode) && n->size > LIMIT_FILE) || n->nlink == 0;
    /* While the flags do not fit the content, the node must not be freed by them. */
    n->flags = 0;
    if (c->bad)
        return n;
    if (S_ISDIR(mode)) {
        get_dir(c, lib, n);
        /* A directory made in a mount has no place on the host. */
        c->bad |= (flags & (NODE_HOST | NODE_UNSTAT | NODE_CLEAN | NODE_TOP)) && !n->x.origin;
    } else if (flags & (NODE_HOST | NODE_UNSTAT)) {
        struct origin *o = get_origin(c);
        n->u.origin = o;
        n->flags = o ? (uint16_t)flags : 0;
    } else if (flags & NODE_MAPPED) {
        get_map(c, lib, n);
        n->flags = n->u.map ? NODE_MAPPED : 0;
    } else if (S_ISREG(mode) || S_ISLNK(mode)) {
        get_content(c, lib, n);
        c->bad |= S_ISLNK(mode) && n->size != (n->u.page ? n->u.page->len : 0);
    } else {
        n->u.rdev = cursor_varint(c);
    }
    if (!S_ISDIR(mode))
        get_links(c, n);
    if (!c->bad)
        n->flags = (uint16_t)flags;
    return n;
}

/* ---- pages of tables ---- */

void vfs__encode_radix(struct buf *out, const struct radix *r)
{
    uint32_t used = 0;
    for (unsigned i = 0; i < RADIX_WIDTH; i++)
        used |= r->slot[i] ? UINT32_C(1) << i : 0;
    buf_putc(out, 'R');
    buf_putc(out, (char)(r->kind << 5 | r->level));
    for (unsigned i = 0; i < 32; i += 8)
        buf_putc(out, (char)(used >> i));
    for (unsigned i = 0; i < RADIX_WIDTH; i++) {
        if (!r->slot[i])
            continue;
        if (r->level > 0)
            vfs__image_put_id(out, &((const struct radix *)r->slot[i])->id);
        else if (r->kind == RADIX_NODES)
            put_node(out, r->slot[i]);
        else if (r->kind == RADIX_PAGES)
            put_page(out, r->slot[i]);
        else
            vfs__image_put_id(out, &((const struct image_hash *)r->slot[i])->id);
    }
}

void vfs__image_hash_unref(void *obj)
{
    struct image_hash *h = obj;
    if (h && --h->refs == 0)
        vfs__free(h);
}

static void (*drop_of(unsigned kind))(void *obj)
{
    return kind == RADIX_NODES ? vfs__node_unref : kind == RADIX_PAGES ? vfs__page_unref : vfs__image_hash_unref;
}

static void *get_object(struct cursor *c, struct library *lib, unsigned level, unsigned kind)
{
    if (level == 0 && kind == RADIX_NODES)
        return get_node(c, lib);
    if (level == 0 && kind == RADIX_PAGES)
        return get_page(c, lib);
    struct cas_id id = vfs__image_get_id(c);
    if (c->bad)
        return NULL;
    if (level > 0)
        return vfs__radix_absent(lib, &id, level - 1, kind);
    return vfs__image_hash_new(&id);
}

struct image_hash *vfs__image_hash_new(const struct cas_id *id)
{
    struct image_hash *h = vfs__alloc(sizeof(*h));
    if (h)
        *h = (struct image_hash){1, *id};
    return h;
}

int vfs__decode_radix(struct str blob, struct library *lib, unsigned level, unsigned kind, struct radix **ret)
{
    struct cursor c = cursor_of(blob.p, blob.n);
    if (cursor_u8(&c) != 'R' || cursor_u8(&c) != (kind << 5 | level))
        return -EBADMSG;
    uint32_t used = cursor_u32(&c);
    struct radix *r = vfs__alloc(sizeof(*r));
    if (!r)
        return -ENOMEM;
    memset(r, 0, sizeof(*r));
    *r = (struct radix){.refs = 1, .level = (uint8_t)level, .kind = (uint8_t)kind};
    for (unsigned i = 0; i < RADIX_WIDTH && !c.bad; i++) {
        if (!(used >> i & 1))
            continue;
        r->slot[i] = get_object(&c, lib, level, kind);
        r->n = (uint8_t)(r->n + (r->slot[i] != NULL));
        c.bad |= !r->slot[i];
    }
    if (cursor_ok(&c)) {
        *ret = r;
        return 0;
    }
    vfs__radix_unref(r, drop_of(kind));
    return -EBADMSG;
}

/* ---- pages of directories ---- */

void vfs__encode_dpage(struct buf *out, const struct dpage *p)
{
    buf_putc(out, 'D');
    buf_putc(out, (char)p->level);
    vfs__image_put_num(out, p->n);
    for (unsigned i = 0; i < p->n; i++) {
        const struct dslot *s = &p->slot[i];
        struct str name = vfs__dslot_name(p, s);
        buf_putc(out, (char)s->len);
        buf_adds(out, name);
        if (p->level > 0) {
            vfs__image_put_id(out, &s->u.child->id);
        } else {
            buf_putc(out, (char)s->type);
            vfs__image_put_num(out, s->u.ino);
        }
    }
}

/* Puts the slots of a blob into @p, which has room for them all. */
static void get_slots(struct cursor *c, struct library *lib, struct dpage *p, uint64_t n)
{
    struct str last = {"", 0};
    for (uint64_t i = 0; i < n && !c->bad; i++) {
        struct dslot s = {0};
        struct str name = cursor_bytes(c, cursor_u8(c));
        bool lowest = p->level > 0 && i == 0; /* the bound of a first child is ignored */
        c->bad |= (!lowest && (!vfs__image_name_ok(name) || str_cmp(name, last) <= 0)) || name.n > LIMIT_NAME;
        if (p->level > 0) {
            struct cas_id id = vfs__image_get_id(c);
            s.u.child = c->bad ? NULL : dpage_absent(lib, &id, p->level - 1);
            c->bad |= !s.u.child;
        } else {
            s.type = cursor_u8(c);
            s.u.ino = cursor_varint(c);
            c->bad |= !type_ok((uint32_t)s.type << 12) || s.u.ino == 0;
        }
        /* Never more than a page of ours would hold. */
        c->bad |= (p->n + 1u) * sizeof(s) + p->heap + name.n > p->cap;
        if (!c->bad)
            vfs__dpage_append(p, name, s);
        else if (p->level > 0)
            vfs__dir_unref(s.u.child);
        if (!lowest)
            last = name;
    }
}

int vfs__decode_dpage(struct str blob, struct library *lib, int level, struct dpage **ret)
{
    struct cursor c = cursor_of(blob.p, blob.n);
    uint8_t tag = cursor_u8(&c), lev = cursor_u8(&c);
    uint64_t n = get_most(&c, DPAGE_MAX / sizeof(struct dslot));
    if (c.bad || tag != 'D' || (level >= 0 && lev != level) || lev >= IMAGE_LEVELS || (n == 0 && lev > 0))
        return -EBADMSG;
    /* All names together are shorter than what is left of the blob. */
    size_t need = n * sizeof(struct dslot) + (size_t)(c.end - c.p);
    struct dpage *p = vfs__dpage_new(lev, need < DPAGE_MAX ? (unsigned)need : DPAGE_MAX);
    if (!p)
        return -ENOMEM;
    get_slots(&c, lib, p, n);
    if (cursor_ok(&c)) {
        *ret = p;
        return 0;
    }
    vfs__dir_unref(p);
    return -EBADMSG;
}

/* ---- what a blob leads to ---- */

struct children {
    int (*fn)(void *arg, const struct cas_id *id, bool leaf);
    void *arg;
    int rc;
};

static void tell(struct children *k, const struct cas_id *id, bool leaf)
{
    if (k->rc == 0 && !cas_id_none(id))
        k->rc = k->fn(k->arg, id, leaf);
}

static void node_children(struct children *k, const struct node *n)
{
    if (S_ISDIR(n->mode)) {
        if (n->u.dir)
            tell(k, &n->u.dir->id, false);
    } else if (n->flags & NODE_MAPPED) {
        if (n->u.map->root)
            tell(k, &n->u.map->root->id, false);
    } else if (S_ISREG(n->mode) && !(n->flags & (NODE_HOST | NODE_UNSTAT)) && n->u.page && n->u.page->stored) {
        tell(k, &n->u.page->id, true);
    }
}

static void radix_children(struct children *k, const struct radix *r)
{
    for (unsigned i = 0; i < RADIX_WIDTH; i++) {
        if (!r->slot[i])
            continue;
        if (r->level > 0)
            tell(k, &((const struct radix *)r->slot[i])->id, false);
        else if (r->kind == RADIX_NODES)
            node_children(k, r->slot[i]);
        else if (r->kind == RADIX_PAGES)
            tell(k, &((const struct page *)r->slot[i])->id, true);
    }
}

int vfs__blob_children(struct str blob, int (*fn)(void *arg, const struct cas_id *id, bool leaf), void *arg)
{
    struct library *lib = vfs__alloc(sizeof(*lib));
    if (!lib)
        return -ENOMEM;
    *lib = (struct library){.refs = 1, .n_mounts = UINT16_MAX};
    struct children k = {fn, arg, -EBADMSG};
    if (blob.n >= 2 && blob.p[0] == 'R') {
        struct radix *r;
        unsigned kind = (uint8_t)blob.p[1] >> 5;
        k.rc = kind > RADIX_HASHES ? -EBADMSG : vfs__decode_radix(blob, lib, (uint8_t)blob.p[1] & 31u, kind, &r);
        if (k.rc == 0) {
            radix_children(&k, r);
            vfs__radix_unref(r, drop_of(kind));
        }
    } else if (blob.n >= 2 && blob.p[0] == 'D') {
        struct dpage *p;
        k.rc = vfs__decode_dpage(blob, lib, -1, &p);
        for (unsigned i = 0; k.rc == 0 && p->level > 0 && i < p->n; i++)
            tell(&k, &p->slot[i].u.child->id, false);
        if (k.rc != -EBADMSG && k.rc != -ENOMEM)
            vfs__dir_unref(p);
    }
    vfs__library_unref(lib);
    return k.rc;
}
