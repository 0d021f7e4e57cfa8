/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/vfs_int.h"

#include "base/buf.h"
#include "base/mem.h"

_Thread_local int vfs__load_error;

void vfs__library_unref(struct library *lib)
{
    if (lib && --lib->refs == 0)
        vfs__free(lib);
}

/* The bytes of a blob, charged to no account: the tree is shared. 0 or an error, which is noted. */
static int fetch(const struct library *lib, const struct cas_id *id, size_t max, struct buf *out)
{
    struct mem_account *acc = mem_use(NULL);
    buf_init(out, max);
    int rc = cas_get(lib->store, id, out);
    mem_use(acc);
    /* A name that leads to nothing is damage of the store, not a file that is missing. */
    return rc == -ENOENT || rc == -EFBIG ? -EIO : rc;
}

static void discard(struct buf *b)
{
    struct mem_account *acc = mem_use(NULL);
    buf_done(b);
    mem_use(acc);
}

static void *failed(int rc)
{
    vfs__load_error = rc == -EBADMSG ? -EIO : rc;
    return NULL;
}

struct radix *vfs__radix_load(struct radix **link)
{
    struct radix *r = *link, *to = NULL;
    struct library *lib = ((struct absent *)r->slot)->lib;
    struct buf blob;
    int rc = fetch(lib, &r->id, LIMIT_CAS_BLOB, &blob);
    if (rc == 0)
        rc = vfs__decode_radix(buf_str(&blob), lib, r->level, r->kind, &to);
    discard(&blob);
    if (rc < 0)
        return failed(rc);
    to->stored = true;
    to->id = r->id;
    *link = to;
    vfs__radix_unref(r, NULL);
    return to;
}

struct dpage *vfs__dpage_load(struct dpage **link)
{
    struct dpage *p = *link, *to = NULL;
    struct library *lib = ((struct absent *)p->slot)->lib;
    struct buf blob;
    int rc = fetch(lib, &p->id, LIMIT_CAS_BLOB, &blob);
    if (rc == 0)
        rc = vfs__decode_dpage(buf_str(&blob), lib, p->level == UINT8_MAX ? -1 : p->level, &to);
    discard(&blob);
    if (rc < 0)
        return failed(rc);
    to->stored = true;
    to->id = p->id;
    *link = to;
    vfs__dir_unref(p);
    return to;
}

struct page *vfs__page_load(struct page **link)
{
    struct page *p = *link;
    struct buf blob;
    int rc = fetch(((struct absent *)p->p)->lib, &p->id, p->len, &blob);
    struct page *to = rc == 0 ? vfs__page_new(p->cap) : NULL;
    if (to) {
        if (blob.n)
            memcpy(to->p, blob.p, blob.n);
        memset(to->p + blob.n, 0, p->len - blob.n);
        to->cap = p->cap;
        to->len = p->len;
        to->named = to->stored = true;
        to->id = p->id;
        *link = to;
        vfs__page_unref(p);
    }
    discard(&blob);
    return to ? to : failed(rc < 0 ? rc : -ENOMEM);
}
