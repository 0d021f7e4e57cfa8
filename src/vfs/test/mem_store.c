/* SPDX-License-Identifier: Apache-2.0 */
#include "vfs/test/mem_store.h"

#include <errno.h>

#include "base/map.h"
#include "base/mem.h"

struct blob {
    size_t n;
    char p[];
};

struct cas {
    struct map blobs;
    struct mem_store_stat stat;
    uint64_t fail_in;
    int error;
};

struct cas *mem_store_new(void)
{
    return mem_zalloc(sizeof(struct cas));
}

void mem_store_free(struct cas *c)
{
    struct map_iter it = {0};
    while (map_next(&c->blobs, &it))
        mem_free(it.val);
    map_done(&c->blobs);
    mem_free(c);
}

struct mem_store_stat mem_store_count(struct cas *c)
{
    struct mem_store_stat s = c->stat;
    c->stat.puts = c->stat.new_bytes = c->stat.fetched = 0;
    return s;
}

static struct str key_of(const struct cas_id *id)
{
    return str_of((const char *)id->b, sizeof(id->b));
}

bool mem_store_lose(struct cas *c, const struct cas_id *id)
{
    struct blob *b = map_get(&c->blobs, key_of(id));
    if (!b)
        return false;
    map_del(&c->blobs, key_of(id));
    c->stat.blobs--;
    c->stat.bytes -= b->n;
    mem_free(b);
    return true;
}

void mem_store_fail(struct cas *c, uint64_t n, int error)
{
    c->fail_in = n;
    c->error = error;
}

void mem_store_each(struct cas *c, void (*fn)(void *arg, const struct cas_id *id, struct str data), void *arg)
{
    struct map_iter it = {0};
    while (map_next(&c->blobs, &it)) {
        const struct blob *b = it.val;
        struct cas_id id;
        memcpy(id.b, it.key.p, sizeof(id.b));
        fn(arg, &id, str_of(b->p, b->n));
    }
}

int cas_put(struct cas *c, struct str data, struct cas_id *ret)
{
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, data.p, data.n);
    cas_hash_end(&h, ret->b);
    c->stat.puts++;
    if (c->error && c->fail_in-- == 0) {
        int e = c->error;
        c->error = 0;
        return e;
    }
    if (map_get(&c->blobs, key_of(ret)))
        return 0;
    struct blob *b = mem_alloc(sizeof(*b) + data.n + 1);
    b->n = data.n;
    memcpy(b->p, data.p, data.n);
    map_set(&c->blobs, key_of(ret), b);
    c->stat.blobs++;
    c->stat.bytes += data.n;
    c->stat.new_bytes += data.n;
    return 0;
}

int cas_put_unless(struct cas *c, struct str data, const struct cas_id *named, struct cas_id *ret)
{
    (void)named; /* it is there */
    return cas_put(c, data, ret);
}

int cas_get(struct cas *c, const struct cas_id *id, struct buf *out)
{
    const struct blob *b = map_get(&c->blobs, key_of(id));
    c->stat.fetched++;
    return b ? buf_add(out, b->p, b->n) : -ENOENT;
}

int cas_id_cmp(const struct cas_id *a, const struct cas_id *b)
{
    return memcmp(a->b, b->b, sizeof(a->b));
}
