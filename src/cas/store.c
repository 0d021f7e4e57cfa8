/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/store.h"

#include <errno.h>
#include <fcntl.h>
#include <zstd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "cas/cas_int.h"

/* ---- opening ---- */

/* Reads the format, and writes it where there is none yet. */
static int check_format(int lock, int flags, struct err *err)
{
    char text[FORMAT_SIZE];
    int r = 0;
    ssize_t n = cas__pread(lock, text, sizeof(text), 0);
    if (n < 0)
        return err_set(err, (int)n, "cannot read the store's lock file");
    if (memcmp(text, FORMAT, (size_t)n) != 0)
        return err_set(err, -EINVAL, "this is not a store, or one of a newer version");
    /* A part of it: the process that began to write it was killed, or power was lost. */
    if ((size_t)n < FORMAT_SIZE && (flags & (CAS_CREATE | CAS_WRITE)))
        cas__pwrite(lock, str_c(FORMAT), str_of(NULL, 0), 0, &r);
    return r < 0 ? err_set(err, r, "cannot write the store's lock file") : 0;
}

static int open_lock(struct cas *c, struct err *err)
{
    int flags = c->flags;
    int mode = flags & (CAS_WRITE | CAS_CREATE) ? O_RDWR : O_RDONLY;
    c->lock = cas__open_at(c->dir, "lock", mode | (flags & CAS_CREATE ? O_CREAT : 0));
    if (c->lock < 0)
        return err_set(err, c->lock, c->lock == -ENOENT ? "there is no store" : "cannot open the store's lock file");
    return check_format(c->lock, flags, err);
}

static int open_packs(struct cas *c, struct err *err)
{
    c->packs_dir = cas__open_at(c->dir, "packs", O_RDONLY | O_DIRECTORY);
    if (c->packs_dir == -ENOENT && (c->flags & CAS_CREATE)) {
        int r = cas__mkdir(c->dir, "packs");
        c->packs_dir = r < 0 ? r : cas__open_at(c->dir, "packs", O_RDONLY | O_DIRECTORY);
    }
    return c->packs_dir < 0 ? err_set(err, c->packs_dir, "cannot open the store's packs") : 0;
}

int cas_open(int dirfd, int flags, struct cas **ret, struct err *err)
{
    OWN_MEMORY;
    struct cas *c = mem_zalloc(sizeof(*c));
    c->dir = dirfd;
    c->flags = flags;
    c->packs_dir = c->lock = c->log_fd = -1;
    c->table.seed = cas__random();
    buf_init(&c->log, SIZE_MAX / 2);
    int r = open_lock(c, err);
    if (r == 0)
        r = open_packs(c, err);
    if (r < 0) {
        cas_close(c);
        return r;
    }
    *ret = c;
    return 0;
}

void cas_close(struct cas *c)
{
    OWN_MEMORY;
    if (!c)
        return;
    cas__leave(c);
    for (uint32_t i = 0; i < c->n_packs; i++) {
        cas__pack_close(c, c->packs[i]);
        cas__unmap_index(c->packs[i]);
        mem_free(c->packs[i]);
    }
    mem_free(c->packs);
    map_done(&c->by_num);
    cas__table_done(&c->table);
    mem_free(c->buffer);
    buf_done(&c->log);
    mem_free(c->scratch);
    ZSTD_freeCCtx(c->cctx);
    ZSTD_freeDCtx(c->dctx);
    fd_close(&c->log_fd);
    fd_close(&c->packs_dir);
    fd_close(&c->lock);
    fd_close(&c->dir);
    mem_free(c);
}

/* ---- blobs ---- */

int cas_put(struct cas *c, struct str data, struct cas_id *ret)
{
    return cas_put_unless(c, data, NULL, ret);
}

int cas_put_unless(struct cas *c, struct str data, const struct cas_id *named, struct cas_id *ret)
{
    OWN_MEMORY;
    struct cas_hash h;
    struct cas_id id;
    if (!(c->flags & CAS_WRITE))
        return -EROFS;
    if (data.n > LIMIT_CAS_BLOB)
        return -EFBIG;
    cas_hash_init(&h);
    cas_hash_add(&h, data.p, data.n);
    cas_hash_end(&h, id.b);
    if (named && cas_id_cmp(&id, named) == 0) {
        *ret = id;
        return 0;
    }
    int r = cas__hold(c);
    if (r == 0)
        r = cas__load(c);
    if (r == 0 && !cas__present(c, &id))
        r = cas__append(c, &id, data);
    if (r == 0)
        *ret = id;
    return r;
}

/* From the first place that gives it. -ENOENT when no place is known, else the error of the last. */
static int get_known(struct cas *c, const struct cas_id *id, struct buf *out)
{
    struct place at;
    int r = -ENOENT;
    struct walk w = cas__walk(c, id);
    while (cas__walk_next(c, &w, &at)) {
        const uint8_t *record;
        r = cas__read(c, id, &at, false, &record);
        if (r == 0)
            r = cas__unpack(c, id, record, at.stored, at.raw, out);
        if (r == 0 || r == -EFBIG)
            break;
    }
    return r;
}

int cas_get(struct cas *c, const struct cas_id *id, struct buf *out)
{
    c->caller = mem_current();
    OWN_MEMORY;
    bool fresh = !c->loaded;
    int r = cas__load(c);
    if (r < 0)
        return r;
    c->vanished = false;
    r = get_known(c, id, out);
    /* Another process may have put it since; or the pack where it was is collected, and it was copied before. */
    for (int tries = 0; (r == -ENOENT || r == -EIO) && (!fresh || c->vanished) && tries < COLLECTED_TRIES; tries++) {
        int r2 = cas__refresh(c);
        if (r2 < 0)
            return r2;
        c->vanished = false;
        r = get_known(c, id, out);
        fresh = true;
    }
    return r == -ENOENT && c->missing ? c->missing : r;
}

bool cas_has(struct cas *c, const struct cas_id *id)
{
    OWN_MEMORY;
    bool fresh = !c->loaded;
    if (cas__load(c) < 0)
        return false;
    c->vanished = false;
    bool is = cas__present(c, id);
    for (int tries = 0; !is && (!fresh || c->vanished) && tries < COLLECTED_TRIES; tries++) {
        if (cas__refresh(c) < 0)
            break;
        c->vanished = false;
        is = cas__present(c, id);
        fresh = true;
    }
    return is;
}

int cas_flush(struct cas *c)
{
    OWN_MEMORY;
    return cas__flush(c);
}

int cas_sync(struct cas *c)
{
    OWN_MEMORY;
    bool held = c->held;
    int r = c->flags & CAS_WRITE ? cas__hold(c) : 0;
    if (r == 0)
        r = cas__sync(c);
    if (!held && r == 0)
        r = cas__release(c);
    return r;
}

int cas_sync_begin(struct cas *c, int *ret_fd)
{
    OWN_MEMORY;
    return cas__sync_begin(c, ret_fd);
}

int cas_sync_end(struct cas *c, int result)
{
    OWN_MEMORY;
    bool held = c->held;
    int r = cas__hold(c);
    if (r == 0)
        r = cas__sync_end(c, result);
    if (!held && r == 0)
        r = cas__release(c);
    return r;
}

int cas_adopt(struct cas *c)
{
    OWN_MEMORY;
    int r = cas__refresh(c);
    for (uint32_t i = 0; i < c->n_packs && r == 0; i++) {
        struct pack *p = c->packs[i];
        if (p->has_pack && !p->sealed && p->synced < p->end)
            p->dirty = true;
    }
    return r;
}

/* ---- what is in it ---- */

struct seen {
    struct cas_id id;
    uint32_t raw;
};

static int by_seen(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    return cas_id_cmp(&x->id, &y->id);
}

/* Counts the blobs whose id begins with @first, each once however many packs hold it. */
static int stat_part(struct cas *c, unsigned first, struct seen **list, size_t *cap, struct cas_stat *st)
{
    size_t n = 0;
    for (uint32_t i = 0; i <= c->n_packs; i++) {
        /* The last round is the table. */
        const struct pack *p = i < c->n_packs ? c->packs[i] : NULL;
        if (p && !p->map)
            continue;
        uint32_t from = p && first ? cas__fanout(p, first - 1) : 0;
        uint32_t to = p ? cas__fanout(p, first) : c->table.n;
        for (; from < to; from++) {
            struct place at = {0};
            struct seen s;
            if (p)
                cas__index_entry(p, from, &s.id, &at);
            else
                s.id = c->table.e[from].id;
            if (s.id.b[0] != first)
                continue;
            s.raw = p ? at.raw : c->table.e[from].raw;
            if (n == *cap) {
                size_t more = *cap ? *cap * 2 : 256;
                struct seen *q = mem_try_realloc(*list, more * sizeof(*q));
                if (!q)
                    return -ENOMEM;
                *list = q;
                *cap = more;
            }
            (*list)[n++] = s;
        }
    }
    if (n)
        qsort(*list, n, sizeof(**list), by_seen);
    for (size_t i = 0; i < n; i++) {
        if (i && cas_id_cmp(&(*list)[i - 1].id, &(*list)[i].id) == 0)
            continue;
        st->blobs++;
        st->bytes += (*list)[i].raw;
    }
    return 0;
}

int cas_stat(struct cas *c, struct cas_stat *ret)
{
    OWN_MEMORY;
    static const enum cas_ext kept[] = {EXT_PACK, EXT_LOG, EXT_INDEX};
    struct cas_stat st = {.put_blobs = c->put_blobs, .put_bytes = c->put_bytes, .put_stored = c->put_stored};
    MEM_AUTO struct seen *list = NULL;
    size_t cap = 0;
    int r = cas__refresh(c);
    if (r == 0)
        r = c->missing;
    for (unsigned first = 0; first < 256 && r == 0; first++)
        r = stat_part(c, first, &list, &cap, &st);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < c->n_packs; i++) {
        st.packs += c->packs[i]->has_pack;
        for (unsigned k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
            int64_t n = cas__size_at(c->packs_dir, c->packs[i]->num, kept[k]);
            st.stored_bytes += n > 0 ? (uint64_t)n : 0;
        }
    }
    *ret = st;
    return 0;
}
