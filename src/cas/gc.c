/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/cas_int.h"

#include <errno.h>

#include "base/err.h"

/*
 * Garbage collection. A pack that holds something unmarked is written anew: its marked blobs are appended to other
 * packs as any writer does, these are synced, and only then the old one is removed. So at every moment each marked blob
 * is in a pack, and a crash leaves at most one of them in two. What others put meanwhile is in packs that are not
 * looked at: hold.c.
 */

#define BATCH 16u /* packs that are copied before a sync */
#define SMALL (PACK_BYTES / 8)
#define SMALL_MOST 8u /* so many small packs are left as they are */

struct cas_gc {
    struct cas *c;
    struct table marked;
};

int cas_gc_begin(struct cas *c, int wait_ms, struct cas_gc **ret, struct err *err)
{
    OWN_MEMORY;
    if (!(c->flags & CAS_WRITE))
        return err_set(err, -EROFS, "the store is open for reading only");
    cas__stop_writing(c);
    int r = cas__release(c);
    if (r < 0)
        return err_set(err, r, "what was put before cannot be written");
    r = cas__condemn(c, wait_ms, err);
    if (r < 0)
        return r;
    struct cas_gc *gc = mem_zalloc(sizeof(*gc));
    gc->c = c;
    gc->marked.seed = c->table.seed;
    *ret = gc;
    return 0;
}

static bool is_marked(const struct cas_gc *gc, const struct cas_id *id)
{
    uint32_t pos = 0;
    return cas__table_next(&gc->marked, id, &pos) != NULL;
}

int cas_gc_mark(struct cas_gc *gc, const struct cas_id *id)
{
    OWN_MEMORY;
    struct place at;
    struct walk w = cas__walk(gc->c, id);
    if (is_marked(gc, id))
        return 0;
    if (!cas__walk_next(gc->c, &w, &at))
        return -ENOENT;
    if (cas__table_reserve(&gc->marked, 1) < 0)
        return -ENOMEM;
    cas__table_add(&gc->marked, &(struct entry){.id = *id});
    return 1;
}

void cas_gc_abort(struct cas_gc *gc)
{
    OWN_MEMORY;
    if (!gc)
        return;
    cas__pardon(gc->c);
    cas__table_done(&gc->marked);
    mem_free(gc);
}

/* ---- the blobs of one pack ---- */

struct blobs {
    const struct pack *p;
    uint32_t i; /* in the index, then in the table */
    bool in_table;
};

/* The next blob of b->p, wherever it is noted. */
static bool next_blob(const struct cas *c, struct blobs *b, struct cas_id *id, struct place *at)
{
    const struct pack *p = b->p;
    if (!b->in_table) {
        if (p->map && b->i < p->count) {
            cas__index_entry(p, b->i++, id, at);
            at->pack = c->packs[p->index];
            return true;
        }
        b->in_table = true;
        b->i = 0;
    }
    while (b->i < c->table.n) {
        struct entry *e = &c->table.e[b->i++];
        if (e->pack != p->index || (p->map && e->off < p->indexed))
            continue;
        *id = e->id;
        *at = (struct place){.pack = c->packs[p->index], .off = e->off, .stored = e->stored, .raw = e->raw};
        return true;
    }
    return false;
}

/* Counts what of @p is not marked. */
static void count_dead(const struct cas_gc *gc, const struct pack *p, uint64_t *blobs, uint64_t *bytes)
{
    struct cas_id id;
    struct place at;
    struct blobs b = {.p = p};
    while (next_blob(gc->c, &b, &id, &at)) {
        if (is_marked(gc, &id))
            continue;
        ++*blobs;
        *bytes += HEAD_SIZE + (uint64_t)at.stored;
    }
}

/* Whether a good record of @id is in a pack that stays. */
static bool is_kept(struct cas *c, const struct cas_id *id)
{
    struct place at;
    const uint8_t *record;
    struct walk w = cas__walk(c, id);
    while (cas__walk_next(c, &w, &at)) {
        if (!at.pack)
            return true;
        if (at.pack->closed || at.pack->suspect || (!(at.e && at.e->whole) && cas__read(c, id, &at, true, &record) < 0))
            continue;
        /* Another writer's, perhaps: it is waited for before what was here goes. */
        at.pack->dirty |= at.off >= at.pack->synced;
        return true;
    }
    return false;
}

/* Copies the marked blobs of @p. *ret_damaged: one of them cannot be read, so the pack must stay. */
static int copy_live(struct cas_gc *gc, const struct pack *p, bool *ret_damaged)
{
    struct cas *c = gc->c;
    struct cas_id id;
    struct place at;
    struct blobs b = {.p = p};
    *ret_damaged = p->broken;
    while (next_blob(c, &b, &id, &at)) {
        const uint8_t *record;
        struct rec rec;
        if (!is_marked(gc, &id) || is_kept(c, &id))
            continue;
        int r = cas__read(c, &id, &at, true, &record);
        if (r == 0 && !cas__rec_get(record, p->uid + at.off, &rec))
            r = -EIO;
        if (r == 0)
            r = cas__append_record(c, &rec, record + HEAD_SIZE);
        else if (r == -EIO) {
            *ret_damaged = true;
            continue;
        }
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- sweeping ---- */

static int remove_pack(struct cas *c, struct pack *p)
{
    cas__pack_close(c, p);
    cas__unmap_index(p);
    /* The pack last: an index without a pack would be taken for that of a later one with its name. */
    int r = cas__unlink(c->packs_dir, p->num, EXT_LOG);
    if (r == 0)
        r = cas__unlink(c->packs_dir, p->num, EXT_INDEX);
    if (r == 0)
        r = cas__unlink(c->packs_dir, p->num, EXT_PACK);
    cas__table_drop(&c->table, p->index, UINT64_MAX);
    /* From here on this handle does not know it; one that could not be removed is found by the next. */
    p->has_pack = p->has_index = p->broken = false;
    p->sealed = true;
    p->count = p->blobs = 0;
    return r;
}

static int remove_orphan(void *arg, uint32_t num, enum cas_ext ext)
{
    struct cas *c = arg;
    struct pack *p = map_get(&c->by_num, str_of((const char *)&num, sizeof(num)));
    if (num > c->condemned)
        return 0;
    if (ext == EXT_TMP || (ext != EXT_PACK && (!p || !p->has_pack)))
        (void)cas__unlink(c->packs_dir, num, ext);
    return 0;
}

/* Writes the packs whose @dead is set anew. */
static int sweep(struct cas_gc *gc, const uint8_t *dead, uint32_t n)
{
    struct cas *c = gc->c;
    for (uint32_t i = 0; i < n;) {
        uint32_t from = i, k = 0;
        MEM_AUTO uint8_t *keep = mem_try_zalloc(n + 1);
        if (!keep)
            return -ENOMEM;
        c->walking = true;
        for (; i < n && k < BATCH; i++) {
            bool damaged;
            if (!dead[i])
                continue;
            int r = copy_live(gc, c->packs[i], &damaged);
            if (r < 0)
                return r;
            keep[i] = damaged;
            k++;
        }
        int r = cas__sync(c);
        for (uint32_t j = from; j < i && r == 0; j++) {
            if (dead[j] && !keep[j])
                r = remove_pack(c, c->packs[j]);
        }
        if (r == 0)
            r = cas__sync_dir(c->packs_dir);
        if (r < 0)
            return r;
    }
    (void)cas__list(c->packs_dir, remove_orphan, c);
    return 0;
}

/* Forgets copies that could not be written. Everything else was flushed before. */
static void drop_buffered(struct cas *c)
{
    cas__table_drop(&c->table, BUFFERED, UINT64_MAX);
    c->n_pending = 0;
    c->buffered = 0;
}

static int sweep_all(struct cas_gc *gc, bool dry, uint64_t *ret_blobs, uint64_t *ret_bytes)
{
    struct cas *c = gc->c;
    uint64_t blobs = 0, bytes = 0;
    uint32_t n = c->n_packs, small = 0;
    int r = cas__flush(c);
    if (r < 0)
        return r;
    MEM_AUTO uint8_t *dead = mem_try_zalloc(n + 1);
    if (!dead)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        small += c->packs[i]->has_pack && c->packs[i]->num <= c->condemned && c->packs[i]->end < SMALL;
    for (uint32_t i = 0; i < n; i++) {
        const struct pack *p = c->packs[i];
        uint64_t before = blobs;
        if (!p->has_pack || p->num > c->condemned)
            continue;
        count_dead(gc, p, &blobs, &bytes);
        dead[i] = blobs > before || (small > SMALL_MOST && p->end < SMALL);
    }
    if (!dry) {
        uint64_t put[3] = {c->put_blobs, c->put_bytes, c->put_stored};
        for (uint32_t i = 0; i < n; i++)
            c->packs[i]->closed = dead[i];
        r = sweep(gc, dead, n);
        c->walking = false;
        if (r < 0)
            drop_buffered(c);
        for (uint32_t i = 0; i < n; i++)
            c->packs[i]->closed = false;
        c->put_blobs = put[0];
        c->put_bytes = put[1];
        c->put_stored = put[2];
    }
    if (r == 0) {
        *ret_blobs = blobs;
        *ret_bytes = bytes;
    }
    return r;
}

int cas_gc_sweep(struct cas_gc *gc, bool dry, uint64_t *ret_blobs, uint64_t *ret_bytes)
{
    OWN_MEMORY;
    int r = sweep_all(gc, dry, ret_blobs, ret_bytes);
    cas_gc_abort(gc);
    return r;
}
