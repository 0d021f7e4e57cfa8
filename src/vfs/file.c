/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"

/* What holes are peeked at. Never written; not const so that it lies in pages the kernel shares until then. */
static uint8_t zeros[VFS_PAGE];

/* ---- pages for writing ---- */

static struct page *page_resize(struct page *p, uint32_t cap)
{
    struct mem_account *acc = mem_use(NULL);
    struct page *to = mem_try_realloc(p, sizeof(*p) + cap);
    mem_use(acc);
    if (to) {
        to->cap = cap;
        to->named = to->stored = false;
    }
    return to;
}

/* Gives a file the form that holds more than one page. */
static int to_map(struct node *n)
{
    struct filemap *m = vfs__alloc(sizeof(*m));
    if (!m)
        return -ENOMEM;
    *m = (struct filemap){.refs = 1};
    if (n->u.page) {
        if (vfs__radix_reserve(&m->root, RADIX_PAGES, 0) < 0) {
            vfs__filemap_unref(m);
            return -ENOMEM;
        }
        m->bytes = n->u.page->cap;
        m->pages = 1;
        vfs__radix_put(m->root, 0, n->u.page);
    }
    n->u.map = m;
    n->flags |= NODE_MAPPED;
    return 0;
}

static int own_map(struct node *n)
{
    struct filemap *m = n->u.map;
    if (m->refs == 1)
        return 0;
    struct filemap *copy = vfs__alloc(sizeof(*copy));
    if (!copy)
        return -ENOMEM;
    *copy = *m;
    copy->refs = 1;
    if (copy->root)
        copy->root->refs++;
    m->refs--;
    n->u.map = copy;
    return 0;
}

/* Puts @p (NULL: none) in place of a file's page of which the path is owned; counts follow. The old one is not dropped.
 */
static void put_page(struct vfs *v, struct node *n, uint64_t index, struct page *p, const struct page *old,
                     uint32_t old_cap)
{
    uint32_t cap = p ? p->cap : 0;
    v->used.bytes += cap;
    v->used.bytes -= old_cap;
    if (!(n->flags & NODE_MAPPED)) {
        n->u.page = p;
        return;
    }
    n->u.map->bytes += cap;
    n->u.map->bytes -= old_cap;
    n->u.map->pages += old == NULL;
    vfs__radix_put(n->u.map->root, index, p);
}

/* Bytes to make a page of when it must hold @end: files that grow go on growing, so twice as much, and whole pages
 * after the first. */
static size_t generous(const struct page *old, uint64_t index, size_t end)
{
    if (!old)
        return index > 0 ? VFS_PAGE : end;
    if (old->cap >= end)
        return old->cap;
    return NUM_MAX(end, NUM_MIN((size_t)old->cap * 2, (size_t)VFS_PAGE));
}

/* The page at @index of an edited file, one's own and with room for @end bytes. 0, -ENOMEM, -EDQUOT. */
static int page_for_write(struct vfs *v, struct node *n, uint64_t index, size_t end, struct page **ret)
{
    if (index > 0 && !(n->flags & NODE_MAPPED) && to_map(n) < 0)
        return -ENOMEM;
    if (n->flags & NODE_MAPPED && (own_map(n) < 0 || vfs__radix_reserve(&n->u.map->root, RADIX_PAGES, index) < 0))
        return -ENOMEM;
    struct page *p;
    int rc = vfs__content_need(n, index, &p);
    if (rc < 0)
        return rc;
    if (p && p->refs == 1 && p->cap >= end) {
        p->named = p->stored = false;
        *ret = p;
        return 0;
    }
    uint32_t old_cap = p ? p->cap : 0;
    uint32_t cap = vfs__page_cap(generous(p, index, end));
    if (cap > old_cap && vfs__room(v, cap - old_cap) < 0) {
        cap = vfs__page_cap(end);
        if (cap > old_cap && vfs__room(v, cap - old_cap) < 0)
            return -EDQUOT;
    }
    struct page *to;
    if (p && p->refs == 1) {
        to = page_resize(p, cap);
        if (!to)
            return -ENOMEM;
    } else {
        to = vfs__page_new(cap);
        if (!to)
            return -ENOMEM;
        if (p) {
            to->len = p->len;
            memcpy(to->p, p->p, p->len);
            vfs__page_unref(p);
        }
    }
    put_page(v, n, index, to, p, old_cap);
    *ret = to;
    return 0;
}

ssize_t vfs__content_write(struct vfs *v, struct node *n, const void *p, size_t len, uint64_t off)
{
    size_t done = 0;
    while (done < len) {
        size_t at = (size_t)((off + done) % VFS_PAGE);
        size_t part = NUM_MIN(len - done, VFS_PAGE - at);
        struct page *pg;
        int rc = page_for_write(v, n, (off + done) / VFS_PAGE, at + part, &pg);
        if (rc < 0)
            return done > 0 ? (ssize_t)done : rc;
        if (at > pg->len)
            memset(pg->p + pg->len, 0, at - pg->len);
        memcpy(pg->p + at, (const char *)p + done, part);
        pg->len = (uint32_t)NUM_MAX(at + part, (size_t)pg->len);
        done += part;
        n->size = NUM_MAX(n->size, off + done);
    }
    return (ssize_t)done;
}

/* ---- size ---- */

static int sum_cap(void *arg, uint64_t key, void *obj)
{
    struct filemap *sum = arg;
    (void)key;
    sum->bytes += ((struct page *)obj)->cap;
    sum->pages++;
    return 0;
}

/* A page cut to @len bytes in place of one that is shared: 0 or -ENOMEM. */
static int cut_page(struct vfs *v, struct node *n, uint64_t index, uint32_t len)
{
    struct page *p;
    int rc = vfs__content_need(n, index, &p);
    if (rc < 0 || !p || p->len <= len)
        return rc;
    /* Its room shrinks whether it is shared or not: what a tree takes must not depend on its forks. */
    uint32_t old_cap = p->cap;
    bool alone = p->refs == 1;
    struct page *to = alone ? page_resize(p, vfs__page_cap(len)) : vfs__page_new(len);
    if (!to)
        return -ENOMEM;
    if (!alone)
        memcpy(to->p, p->p, len);
    to->len = len;
    put_page(v, n, index, to, to, old_cap);
    if (!alone)
        vfs__page_unref(p);
    return 0;
}

/* Drops pages of a mapped file beyond @size. */
static int shrink_map(struct vfs *v, struct node *n, uint64_t size)
{
    uint64_t last = size / VFS_PAGE;
    uint32_t len = (uint32_t)(size % VFS_PAGE);
    uint64_t from = last + (len > 0);
    if (own_map(n) < 0)
        return -ENOMEM;
    struct filemap *m = n->u.map;
    if (vfs__radix_own(&m->root, from) < 0 || vfs__radix_own(&m->root, last) < 0)
        return -ENOMEM;
    int rc = len > 0 ? cut_page(v, n, last, len) : 0;
    if (rc < 0)
        return rc;
    struct filemap sum = {0};
    rc = vfs__radix_each(m->root, from, sum_cap, &sum);
    if (rc < 0)
        return rc;
    vfs__radix_trim(&m->root, from, vfs__page_unref);
    m->bytes -= sum.bytes;
    m->pages -= sum.pages;
    v->used.bytes -= sum.bytes;
    return 0;
}

int vfs__resize(struct vfs *v, struct node *n, uint64_t size)
{
    int rc = 0;
    if (size == 0) {
        v->used.bytes -= vfs__node_bytes(n);
        if (n->flags & NODE_MAPPED)
            vfs__filemap_unref(n->u.map);
        else
            vfs__page_unref(n->u.page);
        n->u.page = NULL;
        n->flags &= (uint16_t)~NODE_MAPPED;
    } else if (size < n->size && n->flags & NODE_MAPPED) {
        rc = shrink_map(v, n, size);
    } else if (size < n->size && size < VFS_PAGE) {
        rc = cut_page(v, n, 0, (uint32_t)size);
    }
    if (rc == 0)
        n->size = size;
    return rc;
}

/* A write by an ordinary user takes setuid away, and setgid of what its group may execute or he is no member of. */
static void drop_setid(struct node *n, const struct vfs_cred *cred)
{
    if (!(n->mode & (S_ISUID | S_ISGID)) || cred->uid == 0)
        return;
    n->mode &= ~(uint32_t)S_ISUID;
    if (n->mode & S_IXGRP || !vfs__in_group(cred, n->gid))
        n->mode &= ~(uint32_t)S_ISGID;
}

int vfs__truncate(struct vfs *v, uint64_t ino, uint64_t size, const struct vfs_cred *cred)
{
    struct node tmp, *n;
    int rc = vfs__view(v, ino, &tmp, &n);
    if (rc < 0)
        return rc;
    if (S_ISDIR(n->mode))
        return -EISDIR;
    if (!S_ISREG(n->mode))
        return -EINVAL;
    if (vfs__readonly(v, n))
        return -EROFS;
    if (n == &tmp)
        return -EPERM;
    if (size > LIMIT_FILE)
        return -EFBIG;
    if (n->flags & NODE_HOST && size > 0)
        rc = vfs__host_copy_up(v, ino, size);
    if (rc < 0)
        return rc;
    n = vfs__edit(v, ino);
    if (!n)
        return -ENOMEM;
    if (n->flags & NODE_HOST)
        vfs__host_forget(n);
    rc = vfs__resize(v, n, size);
    if (rc < 0)
        return rc;
    drop_setid(n, cred);
    n->mtime = n->ctime = vfs__now(v);
    vfs__changed(v, n, VFS_EV_WRITE, 0, str_of("", 0), ino);
    return 0;
}

int vfs_truncate(struct vfs *v, uint64_t ino, uint64_t size)
{
    return vfs__truncate(v, ino, size, &vfs__nobody);
}

int vfs_ftruncate(struct vfs_handle *h, uint64_t size)
{
    if (h->oflags & O_PATH)
        return -EBADF;
    if ((h->oflags & O_ACCMODE) != O_WRONLY && (h->oflags & O_ACCMODE) != O_RDWR)
        return -EINVAL;
    return vfs__truncate(h->v, h->hold->ino, size, &h->cred);
}

/* ---- reading ---- */

/* relatime: the access time moves when it is not later than the last change, or a day old. */
static void touch_atime(struct vfs_handle *h, struct node *n)
{
    if (n->atime > n->mtime && n->atime > n->ctime && h->read_before)
        return;
    h->read_before = true;
    if (vfs__readonly(h->v, n))
        return;
    int64_t now = vfs__now(h->v);
    if (n->atime > n->mtime && n->atime > n->ctime && now - n->atime < 86400 * CLOCK_S)
        return;
    n = vfs__edit(h->v, h->hold->ino);
    if (n)
        n->atime = now;
}

/* The node behind a handle that may be read: regular, or served from elsewhere. */
static int for_read(const struct vfs_handle *h, struct node **ret)
{
    if (h->oflags & O_PATH || (h->oflags & O_ACCMODE) == O_WRONLY || (h->oflags & O_ACCMODE) == O_ACCMODE)
        return -EBADF;
    if (vfs__is_provided(h->hold->ino)) {
        *ret = NULL;
        return h->data ? 0 : -EISDIR;
    }
    struct node *n = vfs__node(h->v, h->hold->ino);
    if (!n)
        return vfs__absent(-ESTALE);
    if (!S_ISREG(n->mode))
        return S_ISDIR(n->mode) ? -EISDIR : -EINVAL;
    *ret = n;
    return 0;
}

static ssize_t read_data(const struct vfs_handle *h, void *p, size_t n, uint64_t off)
{
    if (off >= h->data_n)
        return 0;
    n = NUM_MIN(n, h->data_n - (size_t)off);
    memcpy(p, h->data + off, n);
    return (ssize_t)n;
}

ssize_t vfs_pread(struct vfs_handle *h, void *p, size_t n, uint64_t off)
{
    struct node *node;
    int rc = for_read(h, &node);
    if (rc < 0)
        return rc;
    if (!node)
        return read_data(h, p, n, off);
    if (node->flags & NODE_HOST) {
        rc = vfs__handle_host(h);
        return rc < 0 ? rc : vfs__host_read(h->v, node, h->fd, p, n, off);
    }
    ssize_t got = vfs__content_read(node, p, n, off);
    if (got >= 0)
        touch_atime(h, node);
    return got;
}

/* Peeks into a host file through the handle's window. */
static int peek_host(struct vfs_handle *h, const struct node *n, uint64_t off, const void **ret_p, size_t *ret_n)
{
    struct host *host = h->v->mounts->m[n->mount - 1].host;
    int rc = vfs__handle_host(h);
    if (rc < 0)
        return rc;
    if (!h->window) {
        h->window = vfs__window_take(host);
        if (!h->window)
            return -ENOMEM;
        h->host = host;
        host->refs++;
    }
    struct page *w = h->window;
    uint64_t end = h->window_off + w->len;
    if (off < h->window_off || off >= end) {
        if (h->window_eof && off == end) {
            /* The short read before was the end; whoever asks again may see a file that grew. */
            h->window_eof = false;
            *ret_n = 0;
            return 0;
        }
        ssize_t got = vfs__host_read(h->v, n, h->fd, w->p, VFS_PAGE, off);
        if (got < 0)
            return (int)got;
        w->len = (uint32_t)got;
        h->window_off = off;
        h->window_eof = got > 0 && got < VFS_PAGE;
    }
    *ret_p = w->p + (off - h->window_off);
    *ret_n = (size_t)(h->window_off + w->len - off);
    return 0;
}

int vfs_peek(struct vfs_handle *h, uint64_t off, const void **ret_p, size_t *ret_n)
{
    struct node *n;
    int rc = for_read(h, &n);
    if (rc < 0)
        return rc;
    if (!n) {
        *ret_n = off < h->data_n ? h->data_n - (size_t)off : 0;
        if (*ret_n)
            *ret_p = h->data + off;
        return 0;
    }
    if (n->flags & NODE_HOST)
        return peek_host(h, n, off, ret_p, ret_n);
    if (off >= n->size) {
        *ret_n = 0;
    } else {
        struct page *pg;
        rc = vfs__content_need(n, off / VFS_PAGE, &pg);
        if (rc < 0)
            return rc;
        size_t at = (size_t)(off % VFS_PAGE);
        size_t left = (size_t)NUM_MIN(VFS_PAGE - at, n->size - off);
        bool stored = pg && pg->len > at;
        *ret_p = stored ? pg->p + at : zeros + at;
        *ret_n = stored ? NUM_MIN(left, pg->len - at) : left;
    }
    touch_atime(h, n);
    return 0;
}

uint64_t vfs_handle_size(const struct vfs_handle *h)
{
    if (h->data)
        return h->data_n;
    struct node tmp, *n;
    return vfs__view(h->v, h->hold->ino, &tmp, &n) == 0 && !S_ISDIR(n->mode) ? n->size : 0;
}

/* ---- writing ---- */

/* Checks and the content in memory, for a write at @off of at most *n bytes. */
static int for_write(struct vfs_handle *h, size_t *n, uint64_t *off, struct node **ret)
{
    int mode = h->oflags & O_ACCMODE;
    if (h->oflags & O_PATH || (mode != O_WRONLY && mode != O_RDWR))
        return -EBADF;
    struct node *node = vfs__node(h->v, h->hold->ino);
    if (!node)
        return vfs__absent(-ESTALE);
    if (!S_ISREG(node->mode))
        return -EINVAL;
    if (node->flags & NODE_HOST) {
        int rc = vfs__host_copy_up(h->v, h->hold->ino, UINT64_MAX);
        if (rc < 0)
            return rc;
    }
    node = vfs__edit(h->v, h->hold->ino);
    if (!node)
        return -ENOMEM;
    if (h->oflags & O_APPEND)
        *off = node->size;
    if (*off >= LIMIT_FILE)
        return -EFBIG;
    *n = (size_t)NUM_MIN(*n, LIMIT_FILE - *off);
    *ret = node;
    return 0;
}

ssize_t vfs_pwrite(struct vfs_handle *h, const void *p, size_t n, uint64_t off, uint64_t *ret_end)
{
    struct node *node = NULL;
    if (n == 0 && !(h->oflags & O_PATH) && (h->oflags & O_ACCMODE) != O_RDONLY) {
        if (ret_end)
            *ret_end = h->oflags & O_APPEND ? vfs_handle_size(h) : off;
        return 0;
    }
    int rc = for_write(h, &n, &off, &node);
    if (rc < 0)
        return rc;
    ssize_t got = vfs__content_write(h->v, node, p, n, off);
    if (got < 0)
        return got;
    drop_setid(node, &h->cred);
    node->mtime = node->ctime = vfs__now(h->v);
    vfs__changed(h->v, node, VFS_EV_WRITE, 0, str_of("", 0), h->hold->ino);
    if (ret_end)
        *ret_end = off + (uint64_t)got;
    return got;
}

/* ---- holes ---- */

struct seek {
    uint64_t off, found;
};

static int first_data(void *arg, uint64_t key, void *obj)
{
    struct seek *s = arg;
    const struct page *p = obj;
    uint64_t start = NUM_MAX(s->off, key * VFS_PAGE);
    if (start >= key * VFS_PAGE + p->len)
        return 0;
    s->found = start;
    return 1;
}

static uint64_t next_data(const struct node *n, uint64_t off)
{
    struct seek s = {off, UINT64_MAX};
    if (n->flags & NODE_HOST)
        return off;
    if (n->flags & NODE_MAPPED)
        (void)vfs__radix_each(vfs__map_root(n->u.map), off / VFS_PAGE, first_data, &s);
    else if (n->u.page)
        first_data(&s, 0, n->u.page);
    return s.found;
}

static uint64_t next_hole(const struct node *n, uint64_t off)
{
    while (!(n->flags & NODE_HOST) && off < n->size) {
        const struct page *p = vfs__content_page(n, off / VFS_PAGE);
        size_t at = (size_t)(off % VFS_PAGE);
        if (!p || p->len <= at)
            return off;
        off += p->len - at;
        if (p->len < VFS_PAGE)
            return NUM_MIN(off, n->size);
    }
    return n->size;
}

int vfs_seek_data(struct vfs_handle *h, uint64_t off, bool hole, uint64_t *ret)
{
    struct node tmp, *n;
    if (h->oflags & O_PATH)
        return -EBADF;
    int rc = vfs__view(h->v, h->hold->ino, &tmp, &n);
    if (rc < 0)
        return rc;
    if (!S_ISREG(n->mode))
        return -EINVAL;
    if (n == &tmp ? off >= h->data_n : off >= n->size)
        return -ENXIO;
    if (n == &tmp) {
        *ret = hole ? h->data_n : off;
        return 0;
    }
    uint64_t at = hole ? next_hole(n, off) : next_data(n, off);
    if (at == UINT64_MAX)
        return -ENXIO;
    *ret = at;
    return 0;
}
