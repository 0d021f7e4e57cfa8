/* SPDX-License-Identifier: Apache-2.0 */

/* Storing a tree page by page, and making one from its first blob. */

#include "vfs/image.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "vfs/image_int.h"

#define IMAGE_VERSION 1u

enum mount_kind { MOUNT_PROVIDER, MOUNT_DIR, MOUNT_FILE };

struct storing {
    struct cas *c;
    const struct cas_id *named; /* the image of before, or NULL */
    struct buf blob;            /* of the page that is being stored */
};

static int put_blob(struct storing *s, struct cas_id *ret)
{
    return s->blob.err ? s->blob.err : cas_put(s->c, buf_str(&s->blob), ret);
}

static int store_page(struct storing *s, struct page *p)
{
    if (p->stored)
        return 0;
    struct str text = vfs__page_text(p);
    int rc = 0;
    if (text.n)
        rc = cas_put(s->c, text, &p->id);
    else
        p->id = (struct cas_id){{0}};
    p->named = p->stored = rc == 0;
    return rc;
}

static int store_dir(struct storing *s, struct dpage *p)
{
    int rc = 0;
    if (p->stored)
        return 0;
    for (unsigned i = 0; rc == 0 && p->level > 0 && i < p->n; i++)
        rc = store_dir(s, p->slot[i].u.child);
    if (rc < 0)
        return rc;
    buf_clear(&s->blob);
    vfs__encode_dpage(&s->blob, p);
    rc = put_blob(s, &p->id);
    p->stored = rc == 0;
    return rc;
}

static int store_radix(struct storing *s, struct radix *r);

static int store_node(struct storing *s, const struct node *n)
{
    if (S_ISDIR(n->mode))
        return n->u.dir ? store_dir(s, n->u.dir) : 0;
    if (!S_ISREG(n->mode) || n->flags & (NODE_HOST | NODE_UNSTAT))
        return 0;
    if (n->flags & NODE_MAPPED)
        return n->u.map->root ? store_radix(s, n->u.map->root) : 0;
    return n->u.page && n->u.page->len > IMAGE_INLINE ? store_page(s, n->u.page) : 0;
}

/* The recursion is as deep as a table has levels. */
static int store_radix(struct storing *s, struct radix *r)
{
    if (r->stored)
        return 0;
    int rc = 0;
    for (unsigned i = 0; i < RADIX_WIDTH && rc == 0; i++) {
        if (!r->slot[i])
            continue;
        if (r->level > 0)
            rc = store_radix(s, r->slot[i]);
        else if (r->kind == RADIX_NODES)
            rc = store_node(s, r->slot[i]);
        else if (r->kind == RADIX_PAGES)
            rc = store_page(s, r->slot[i]);
    }
    if (rc < 0)
        return rc;
    buf_clear(&s->blob);
    vfs__encode_radix(&s->blob, r);
    rc = put_blob(s, &r->id);
    r->stored = rc == 0;
    return rc;
}

/* Puts the content of nodes that changed, so that hashing finds it named. */
static int store_content(struct storing *s, const struct radix *r)
{
    int rc = 0;
    for (unsigned i = 0; !r->stored && i < RADIX_WIDTH && rc == 0; i++) {
        if (r->slot[i])
            rc = r->level > 0 ? store_content(s, r->slot[i]) : store_node(s, r->slot[i]);
    }
    return rc;
}

static void put_table(struct buf *out, const struct radix *r)
{
    vfs__image_put_num(out, r ? r->level + 1u : 0);
    if (r)
        vfs__image_put_id(out, &r->id);
}

static void put_mount(struct buf *out, const struct mount *m)
{
    vfs__image_put_num(out, m->ops ? MOUNT_PROVIDER : m->host->file ? MOUNT_FILE : MOUNT_DIR);
    vfs__image_put_num(out, m->ops ? m->ops->kind : m->ro);
    vfs__image_put_num(out, m->parent);
    vfs__image_put_num(out, m->covers);
    /* A provider is as old as the processes it shows, which are others in each run: who loads the tree gives it a new
     * time, and a tree in which nothing changed has the same image. */
    vfs__image_put_num(out, m->ops ? 0 : (uint64_t)m->time);
}

static void put_image(struct buf *out, const struct vfs *v, const struct vfs_canon *k)
{
    buf_clear(out);
    buf_putc(out, 'I');
    vfs__image_put_num(out, IMAGE_VERSION);
    vfs__image_put_id(out, &k->root);
    vfs__image_put_num(out, v->next_ino);
    /* Of the tree without what only open files hold. */
    vfs__image_put_num(out, k->at->used.bytes);
    vfs__image_put_num(out, k->at->used.inodes);
    vfs__image_put_num(out, k->at->n_dirs);
    vfs__image_put_num(out, v->mounts ? v->mounts->n : 0);
    for (uint32_t i = 0; v->mounts && i < v->mounts->n; i++)
        put_mount(out, &v->mounts->m[i]);
    put_table(out, v->root);
    put_table(out, k->dirs);
    put_table(out, k->linked);
}

static int store(struct storing *s, struct vfs *v, struct vfs_canon *k, struct cas_id *ret_root,
                 struct cas_id *ret_image)
{
    int rc = store_content(s, v->root);
    if (rc == 0)
        rc = vfs_root_hash(v, k, ret_root);
    if (rc == 0)
        rc = store_radix(s, v->root);
    if (rc == 0 && k->dirs)
        rc = store_radix(s, k->dirs);
    if (rc == 0 && k->linked)
        rc = store_radix(s, k->linked);
    if (rc < 0)
        return rc;
    put_image(&s->blob, v, k);
    return s->blob.err ? s->blob.err : cas_put_unless(s->c, buf_str(&s->blob), s->named, ret_image);
}

int vfs_image_store_again(struct vfs *v, struct vfs_canon *k, struct cas *c, const struct cas_id *named,
                          struct cas_id *ret_root, struct cas_id *ret_image)
{
    struct mem_account *acc = mem_use(NULL);
    struct storing s = {.c = c, .named = named};
    buf_init(&s.blob, LIMIT_CAS_BLOB);
    int rc = store(&s, v, k, ret_root, ret_image);
    buf_done(&s.blob);
    mem_use(acc);
    return rc;
}

int vfs_image_store(struct vfs *v, struct vfs_canon *k, struct cas *c, struct cas_id *ret_root,
                    struct cas_id *ret_image)
{
    return vfs_image_store_again(v, k, c, NULL, ret_root, ret_image);
}

/* ---- loading ---- */

struct loading {
    struct library *lib;
    struct vfs *v;
    struct vfs_canon *k;
    struct cas_id root;
    struct vfs_quota used;
    uint64_t n_dirs;
};

static struct host *host_new(const struct vfs_image_host *h, bool file)
{
    struct host *host = h ? vfs__host_new(h->fd, h->host_uid, h->host_gid, h->uid, h->gid)
                          : vfs__host_new(-1, UINT32_MAX, UINT32_MAX, 0, 0);
    if (host)
        host->file = file;
    return host;
}

/* In place of a provider that is not there: its directories are empty. */
static int none_lookup(void *arg, uint64_t id, struct str name, uint64_t *ret_id, uint32_t *ret_mode)
{
    (void)arg;
    (void)id;
    (void)name;
    (void)ret_id;
    (void)ret_mode;
    return -ENOENT;
}

static int none_next(void *arg, uint64_t id, struct str after, char *name, uint64_t *ret_id, uint32_t *ret_mode)
{
    (void)arg;
    (void)id;
    (void)after;
    (void)name;
    (void)ret_id;
    (void)ret_mode;
    return 0;
}

static int none_read(void *arg, uint64_t id, struct buf *out)
{
    (void)arg;
    (void)id;
    (void)out;
    return -EIO;
}

static void none_owner(void *arg, uint64_t id, uint32_t *ret_uid, uint32_t *ret_gid)
{
    (void)arg;
    (void)id;
    *ret_uid = *ret_gid = 0;
}

static const struct vfs_provider no_provider = {
    .lookup = none_lookup, .next = none_next, .read = none_read, .owner = none_owner};

static void set_provider(struct mount *m, uint64_t kind, const struct vfs_image_env *env)
{
    m->ops = &no_provider;
    for (uint32_t i = 0; i < env->n_providers; i++) {
        if (env->providers[i].ops->kind == kind) {
            m->ops = env->providers[i].ops;
            m->arg = env->providers[i].arg;
        }
    }
}

static int get_mounts(struct cursor *c, struct loading *l, const struct vfs_image_env *env)
{
    uint64_t n = cursor_varint(c);
    if (c->bad || n > LIMIT_MOUNTS)
        return -EBADMSG;
    l->lib->n_mounts = (uint32_t)n;
    if (n == 0)
        return 0;
    struct mounts *ms = vfs__alloc(sizeof(*ms) + n * sizeof(ms->m[0]));
    if (!ms)
        return -ENOMEM;
    *ms = (struct mounts){.refs = 1};
    l->v->mounts = ms;
    uint32_t hosts = 0;
    for (; ms->n < n; ms->n++) {
        uint64_t kind = cursor_varint(c), ro = cursor_varint(c);
        struct mount m = {.ro = kind != MOUNT_PROVIDER && ro == 1};
        m.parent = cursor_varint(c);
        m.covers = cursor_varint(c);
        m.time = (int64_t)cursor_varint(c);
        if (c->bad || kind > MOUNT_FILE || ro > (kind == MOUNT_PROVIDER ? UINT8_MAX : 1))
            return -EBADMSG;
        if (kind == MOUNT_PROVIDER) {
            set_provider(&m, ro, env);
        } else {
            const struct vfs_image_host *h = hosts < env->n_hosts ? &env->hosts[hosts] : NULL;
            hosts++;
            m.host = host_new(h, kind == MOUNT_FILE);
            if (!m.host)
                return -ENOMEM;
        }
        ms->m[ms->n] = m;
    }
    return 0;
}

static int get_table(struct cursor *c, struct library *lib, unsigned kind, struct radix **ret)
{
    uint64_t levels = cursor_varint(c);
    if (c->bad || levels > IMAGE_LEVELS)
        return -EBADMSG;
    if (levels == 0)
        return 0;
    struct cas_id id = vfs__image_get_id(c);
    *ret = vfs__radix_absent(lib, &id, (unsigned)levels - 1, kind);
    return *ret ? 0 : -ENOMEM;
}

static int get_image(struct str blob, struct loading *l, const struct vfs_image_env *env)
{
    struct cursor c = cursor_of(blob.p, blob.n);
    struct vfs *v = l->v;
    if (cursor_u8(&c) != 'I' || cursor_varint(&c) != IMAGE_VERSION)
        return -EBADMSG;
    l->root = vfs__image_get_id(&c);
    v->next_ino = cursor_varint(&c);
    v->used.bytes = cursor_varint(&c);
    v->used.inodes = cursor_varint(&c);
    v->n_dirs = cursor_varint(&c);
    if (c.bad || v->next_ino <= VFS_ROOT_INO || v->next_ino >= VFS_PROVIDED)
        return -EBADMSG;
    int rc = get_mounts(&c, l, env);
    /* The new tree has a root page of its own, which goes now. */
    vfs__radix_unref(v->root, vfs__node_unref);
    v->root = NULL;
    if (rc == 0)
        rc = get_table(&c, l->lib, RADIX_NODES, &v->root);
    if (rc == 0)
        rc = get_table(&c, l->lib, RADIX_HASHES, &l->k->dirs);
    if (rc == 0)
        rc = get_table(&c, l->lib, RADIX_HASHES, &l->k->linked);
    if (rc == 0 && (!cursor_ok(&c) || !v->root))
        rc = -EBADMSG;
    if (rc < 0)
        return rc;
    /* The roots of tables are never absent but in files. */
    if (!vfs__radix_load(&v->root) || (l->k->dirs && !vfs__radix_load(&l->k->dirs)) ||
        (l->k->linked && !vfs__radix_load(&l->k->linked)))
        return vfs__absent(-EIO);
    return 0;
}

static int load(struct cas *c, const struct cas_id *image, struct vfs_image_env *env, struct loading *l)
{
    l->lib = vfs__alloc(sizeof(*l->lib));
    l->v = vfs_new(&env->quota);
    l->k = vfs_canon_new();
    if (!l->lib || !l->v || !l->k)
        return -ENOMEM;
    *l->lib = (struct library){.refs = 1, .store = c};
    struct buf blob;
    buf_init(&blob, LIMIT_CAS_BLOB);
    int rc = cas_get(c, image, &blob);
    if (rc == 0)
        rc = get_image(buf_str(&blob), l, env);
    buf_done(&blob);
    if (rc < 0)
        return rc == -ENOENT ? -EIO : rc;
    l->k->root = l->root;
    l->k->at = vfs_fork(l->v);
    return l->k->at ? 0 : -ENOMEM;
}

int vfs_image_load(struct cas *c, const struct cas_id *image, struct vfs_image_env *env, struct vfs **ret,
                   struct vfs_canon **ret_canon, struct cas_id *ret_root)
{
    struct mem_account *acc = mem_use(NULL);
    struct loading l = {0};
    int rc = load(c, image, env, &l);
    if (rc == 0) {
        *ret = l.v;
        *ret_canon = l.k;
        *ret_root = l.root;
    } else {
        /* The descriptors stay the caller's. */
        for (uint32_t i = 0; l.v && l.v->mounts && i < l.v->mounts->n; i++)
            if (l.v->mounts->m[i].host)
                l.v->mounts->m[i].host->fd = -1;
        vfs_canon_free(l.k);
        vfs_free(l.v);
    }
    vfs__library_unref(l.lib);
    mem_use(acc);
    return rc;
}

void vfs_image_own_mounts(struct vfs *v, uint32_t uid, uint32_t gid)
{
    for (uint32_t i = 0; v->mounts && i < v->mounts->n; i++) {
        struct host *h = v->mounts->m[i].host;
        if (h) {
            h->uid = uid;
            h->gid = gid;
        }
    }
}

/* ---- walking the blobs ---- */

struct todo {
    struct cas_id id;
    bool leaf;
};

struct walking {
    struct todo *v;
    size_t n, cap;
};

static int add_todo(void *arg, const struct cas_id *id, bool leaf)
{
    struct walking *w = arg;
    if (!vfs__grow(&w->v, w->n, &w->cap, sizeof(*w->v)))
        return -ENOMEM;
    w->v[w->n++] = (struct todo){*id, leaf};
    return 0;
}

/* Names in an image's first blob. */
static int image_children(struct str blob, struct walking *w)
{
    struct cursor c = cursor_of(blob.p, blob.n);
    if (cursor_u8(&c) != 'I' || cursor_varint(&c) != IMAGE_VERSION)
        return -EBADMSG;
    (void)vfs__image_get_id(&c);
    for (int i = 0; i < 4; i++)
        (void)cursor_varint(&c);
    uint64_t mounts = cursor_varint(&c);
    for (uint64_t i = 0; i < mounts * 5 && !c.bad; i++)
        (void)cursor_varint(&c);
    int rc = 0;
    for (int i = 0; i < 3 && rc == 0 && !c.bad; i++) {
        if (cursor_varint(&c) == 0)
            continue;
        struct cas_id id = vfs__image_get_id(&c);
        rc = c.bad ? -EBADMSG : add_todo(w, &id, false);
    }
    return rc < 0 || cursor_ok(&c) ? rc : -EBADMSG;
}

int vfs_image_walk(struct cas *c, const struct cas_id *image, int (*fn)(void *arg, const struct cas_id *id),
                   void (*bad)(void *arg, const struct cas_id *id, int error), void *arg)
{
    struct walking w = {0};
    BUF_AUTO struct buf blob;
    buf_init(&blob, LIMIT_CAS_BLOB);
    int rc = add_todo(&w, image, false);
    for (bool first = true; rc >= 0 && w.n > 0; first = false) {
        struct todo t = w.v[--w.n];
        rc = fn(arg, &t.id);
        if (rc <= 0 || t.leaf)
            continue;
        buf_clear(&blob);
        int got = cas_get(c, &t.id, &blob);
        if (got == 0)
            got = first ? image_children(buf_str(&blob), &w) : vfs__blob_children(buf_str(&blob), add_todo, &w);
        if (got < 0 && bad && got != -ENOMEM)
            bad(arg, &t.id, got);
        else if (got < 0)
            rc = got == -ENOENT ? -EIO : got;
    }
    vfs__free(w.v);
    return rc < 0 ? rc : 0;
}
