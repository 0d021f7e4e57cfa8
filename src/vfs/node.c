/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/num.h"

static _Thread_local struct mem_account *charged;

struct mem_account *vfs_charge(struct mem_account *acc)
{
    struct mem_account *before = charged;
    charged = acc;
    return before;
}

void *vfs__alloc(size_t n)
{
    struct mem_account *acc = mem_use(charged);
    void *p = mem_try(n);
    mem_use(acc);
    return p;
}

void vfs__free(void *p)
{
    struct mem_account *acc = mem_use(charged);
    mem_free(p);
    mem_use(acc);
}

bool vfs__grow(void *v, size_t n, size_t *cap, size_t size)
{
    void **array = v;
    if (n < *cap)
        return true;
    size_t more = *cap ? *cap * 2 : 64;
    void *to = vfs__alloc(more * size);
    if (!to)
        return false;
    if (n)
        memcpy(to, *array, n * size);
    vfs__free(*array);
    *array = to;
    *cap = more;
    return true;
}

/* ---- nodes ---- */

struct node *vfs__node_new(uint32_t mode)
{
    struct node *n = vfs__alloc(sizeof(*n));
    if (!n)
        return NULL;
    memset(n, 0, sizeof(*n));
    n->refs = 1;
    n->mode = mode;
    return n;
}

/* Calls for the counted object in each of a node's two unions: adds a reference, or drops one. */
static void count_content(struct node *n, bool add)
{
    void *obj = n->u.page;
    if (S_ISDIR(n->mode)) {
        if (add && n->u.dir)
            n->u.dir->refs++;
        else if (!add)
            vfs__dir_unref(n->u.dir);
    } else if (n->flags & (NODE_HOST | NODE_UNSTAT)) {
        if (add)
            n->u.origin->refs++;
        else
            vfs__origin_unref(n->u.origin);
    } else if (S_ISREG(n->mode) || S_ISLNK(n->mode)) {
        if (add && obj)
            ++*(uint32_t *)obj;
        else if (!add && n->flags & NODE_MAPPED)
            vfs__filemap_unref(n->u.map);
        else if (!add)
            vfs__page_unref(n->u.page);
    }
}

void vfs__node_unref(void *node)
{
    struct node *n = node;
    if (!n || --n->refs > 0)
        return;
    count_content(n, false);
    if (S_ISDIR(n->mode))
        vfs__origin_unref(n->x.origin);
    else
        vfs__links_unref(n->x.links);
    vfs__free(n);
}

struct node *vfs__node_copy(struct node *n)
{
    struct node *c = vfs__alloc(sizeof(*c));
    if (!c)
        return NULL;
    *c = *n;
    c->refs = 1;
    count_content(c, true);
    if (S_ISDIR(c->mode)) {
        if (c->x.origin)
            c->x.origin->refs++;
    } else if (c->x.links) {
        c->x.links->refs++;
    }
    return c;
}

uint64_t vfs__node_bytes(const struct node *n)
{
    if ((!S_ISREG(n->mode) && !S_ISLNK(n->mode)) || n->flags & (NODE_HOST | NODE_UNSTAT))
        return 0;
    if (n->flags & NODE_MAPPED)
        return n->u.map->bytes;
    return n->u.page ? n->u.page->cap : 0;
}

/* ---- content ---- */

uint32_t vfs__page_cap(size_t need)
{
    /* malloc hands out 16 k + 8 bytes: use all of them. */
    size_t cap = ((need + sizeof(struct page) + 8 + 15) & ~(size_t)15) - 8 - sizeof(struct page);
    return (uint32_t)NUM_MIN(cap, VFS_PAGE);
}

struct page *vfs__page_new(size_t need)
{
    uint32_t cap = vfs__page_cap(need);
    struct page *p = vfs__alloc(sizeof(*p) + cap);
    if (!p)
        return NULL;
    *p = (struct page){.refs = 1, .cap = cap};
    return p;
}

void vfs__page_unref(void *page)
{
    struct page *p = page;
    if (!p || --p->refs > 0)
        return;
    if (p->absent)
        vfs__library_unref(((struct absent *)p->p)->lib);
    vfs__free(p);
}

void vfs__filemap_unref(struct filemap *m)
{
    if (!m || --m->refs > 0)
        return;
    vfs__radix_unref(m->root, vfs__page_unref);
    vfs__free(m);
}

struct page *vfs__content_page(const struct node *n, uint64_t index)
{
    if (n->flags & NODE_MAPPED)
        return vfs__radix_get(vfs__map_root(n->u.map), index);
    return index == 0 ? n->u.page : NULL;
}

int vfs__content_need(const struct node *n, uint64_t index, struct page **ret)
{
    struct page **link = NULL;
    vfs__load_error = 0;
    if (n->flags & NODE_MAPPED)
        link = (struct page **)vfs__radix_slot(vfs__map_root(n->u.map), index);
    else if (index == 0)
        link = (struct page **)(uintptr_t)&n->u.page;
    *ret = link ? *link : NULL;
    if (*ret && (*ret)->absent)
        *ret = vfs__page_load(link);
    return vfs__absent(0);
}

ssize_t vfs__content_read(const struct node *n, void *p, size_t len, uint64_t off)
{
    if (off >= n->size)
        return 0;
    len = (size_t)NUM_MIN(len, n->size - off);
    for (size_t done = 0; done < len;) {
        struct page *pg;
        int rc = vfs__content_need(n, (off + done) / VFS_PAGE, &pg);
        if (rc < 0)
            return done ? (ssize_t)done : rc;
        size_t at = (size_t)((off + done) % VFS_PAGE);
        size_t part = NUM_MIN(len - done, VFS_PAGE - at);
        size_t stored = pg && pg->len > at ? NUM_MIN(part, pg->len - at) : 0;
        if (stored)
            memcpy((char *)p + done, pg->p + at, stored);
        memset((char *)p + done + stored, 0, part - stored);
        done += part;
    }
    return (ssize_t)len;
}

/* ---- the directories that name a file ---- */

void vfs__links_unref(struct links *l)
{
    if (l && --l->refs == 0)
        vfs__free(l);
}

/* Position of @dir, or where it belongs. */
static uint32_t links_at(const struct links *l, uint64_t dir)
{
    uint32_t lo = 0, hi = l->n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (l->e[mid].dir < dir)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int vfs__links_reserve(struct node *n, uint64_t dir)
{
    const struct links *old = n->x.links;
    if (!old && (dir == n->parent || n->nlink == 0))
        return 0;
    uint32_t need = old ? old->n + 1 : 2;
    if (old && old->refs == 1 && old->cap >= need)
        return 0;
    uint32_t cap = need + need / 2;
    struct links *l = vfs__alloc(sizeof(*l) + cap * sizeof(l->e[0]));
    if (!l)
        return -ENOMEM;
    *l = (struct links){.refs = 1, .cap = cap, .n = old ? old->n : 1};
    if (old)
        memcpy(l->e, old->e, old->n * sizeof(l->e[0]));
    else
        l->e[0] = (struct link){n->parent, n->nlink};
    vfs__links_unref(n->x.links);
    n->x.links = l;
    return 0;
}

void vfs__links_add(struct node *n, uint64_t dir)
{
    struct links *l = n->x.links;
    if (!l) {
        n->parent = dir;
        return;
    }
    uint32_t i = links_at(l, dir);
    if (i < l->n && l->e[i].dir == dir) {
        l->e[i].count++;
        return;
    }
    ASSERT(l->refs == 1 && l->n < l->cap);
    memmove(&l->e[i + 1], &l->e[i], (l->n - i) * sizeof(l->e[0]));
    l->e[i] = (struct link){dir, 1};
    l->n++;
}

void vfs__links_del(struct node *n, uint64_t dir)
{
    struct links *l = n->x.links;
    if (!l)
        return;
    uint32_t i = links_at(l, dir);
    ASSERT(l->refs == 1 && i < l->n && l->e[i].dir == dir);
    if (--l->e[i].count == 0) {
        l->n--;
        memmove(&l->e[i], &l->e[i + 1], (l->n - i) * sizeof(l->e[0]));
    }
    if (l->n == 1) {
        n->parent = l->e[0].dir;
        vfs__links_unref(l);
        n->x.links = NULL;
    } else if (n->parent == dir && l->n > 0) {
        n->parent = l->e[0].dir;
    }
}
