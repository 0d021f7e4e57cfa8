/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/cas_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "base/fd.h"
#include "base/num.h"

/*
 * Writing. A record that was written in whole is never taken back, not even when the write that it was part of failed:
 * another process may have seen it and relied on it. Only what is no record is cut.
 */

#define KEPT_LEASES 8u /* full packs that wait for a sync; more are synced and sealed at once */

bool cas__pack_full(const struct pack *p)
{
    return p->end >= PACK_BYTES || p->count + p->blobs >= PACK_BLOBS;
}

/* ---- the log of the pack that is written to ---- */

static void add_to_log(struct cas *c, struct pack *p, const struct log_entry *e)
{
    uint8_t bytes[HEAD_SIZE];
    if (c->log_off)
        return;
    if (p->log_end == 0 && c->log.n == 0) {
        cas__head_put(bytes, EXT_LOG, p->uid);
        buf_add(&c->log, bytes, sizeof(bytes));
    }
    cas__log_put(bytes, e, p->uid + p->log_end + c->log.n);
    buf_add(&c->log, bytes, sizeof(bytes));
    if (c->log.err) {
        c->log_off = true;
        buf_clear(&c->log);
    }
}

static void add_entry_to_log(struct cas *c, struct pack *p, const struct entry *e)
{
    struct log_entry le = {.kind = LOG_BLOB, .id = e->id, .off = e->off, .stored = e->stored, .raw = e->raw};
    add_to_log(c, p, &le);
}

/* Writes the log's entries when there are @least bytes of them. Failures are not the caller's: without a log the pack
 * is read instead. */
static void write_log(struct cas *c, struct pack *p, size_t least)
{
    int err = 0;
    if (c->log_off || c->log.n < least)
        return;
    if (c->log_fd < 0) {
        c->log_fd = cas__open(c->packs_dir, p->num, EXT_LOG, O_WRONLY | O_CREAT);
        /* Entries that an earlier writer's death left behind must not be taken for the next ones of ours. */
        if (c->log_fd < 0 || cas__truncate(c->log_fd, p->log_end) < 0) {
            c->log_off = true;
            buf_clear(&c->log);
            return;
        }
    }
    cas__pwrite(c->log_fd, buf_str(&c->log), str_of(NULL, 0), p->log_end, &err);
    if (err == 0) {
        p->log_end += c->log.n;
        p->logged = p->end;
        buf_clear(&c->log);
    } else if (cas__truncate(c->log_fd, p->log_end) < 0) {
        c->log_off = true;
        buf_clear(&c->log);
    }
}

/* ---- leases ---- */

void cas__stop_writing(struct cas *c)
{
    if (c->cur)
        write_log(c, c->cur, HEAD_SIZE);
    cas__forget_log(c);
}

void cas__forget_log(struct cas *c)
{
    c->cur = NULL;
    c->log_off = false;
    buf_clear(&c->log);
    fd_close(&c->log_fd);
}

/* Gives a leased pack without records its head. */
static int begin_pack(struct cas *c, struct pack *p)
{
    uint8_t head[HEAD_SIZE];
    int err = p->size ? cas__truncate(p->fd, 0) : 0;
    if (err == 0)
        err = cas__unlink(c->packs_dir, p->num, EXT_LOG);
    if (err == 0)
        err = cas__unlink(c->packs_dir, p->num, EXT_INDEX);
    if (err < 0)
        return err;
    p->uid = cas__random();
    cas__head_put(head, EXT_PACK, p->uid);
    cas__pwrite(p->fd, str_of((const char *)head, sizeof(head)), str_of(NULL, 0), 0, &err);
    if (err < 0)
        return err;
    p->end = p->size = HEAD_SIZE;
    p->logged = HEAD_SIZE;
    p->synced = 0;
    return 0;
}

/* With the lock held: reads what is new, cuts what is no record. */
static int take_over(struct cas *c, struct pack *p)
{
    bool torn = false;
    /* Others may have written to it since we looked, written an index and begun a new log, sealed it. */
    uint64_t indexed = p->indexed;
    int r = cas__map_index(c, p);
    if (r < 0 && r != -ENOENT && r != -EIO)
        return r;
    if (p->sealed)
        return -EBUSY;
    if (p->indexed != indexed) {
        p->log_end = 0;
        p->logged = p->indexed;
    }
    r = cas__catch_up(c, p, &torn);
    if (r < 0)
        return r;
    if (p->broken || p->size < p->end)
        return -EBUSY;
    if (p->end == 0)
        r = begin_pack(c, p);
    else if (torn)
        r = cas__truncate(p->fd, p->end);
    p->size = p->end;
    p->lease_from = p->end;
    return r;
}

int cas__lease(struct cas *c, struct pack *p)
{
    if (p->leased)
        return 0;
    if (!p->has_pack || p->sealed || p->broken || p->suspect || p->num <= c->condemned)
        return -EBUSY;
    int fd = cas__open(c->packs_dir, p->num, EXT_PACK, O_RDWR);
    if (fd < 0)
        return fd;
    int r = cas__lock(fd, LOCK_EX | LOCK_NB);
    if (r < 0) {
        fd_close(&fd);
        return r == -EWOULDBLOCK ? -EBUSY : r;
    }
    cas__pack_close(c, p);
    p->fd = fd;
    p->leased = true;
    c->n_open++;
    r = take_over(c, p);
    if (r < 0)
        cas__pack_close(c, p);
    return r;
}

int cas__pack_make(struct cas *c, uint32_t num, struct pack **ret)
{
    while (num++ < UINT32_MAX) {
        int fd = cas__open(c->packs_dir, num, EXT_PACK, O_RDWR | O_CREAT | O_EXCL);
        if (fd == -EEXIST)
            continue;
        if (fd < 0)
            return fd;
        fd_close(&fd);
        struct pack *p = cas__pack_add(c, num);
        if (!p)
            return -ENOMEM;
        p->has_pack = true;
        *ret = p;
        return 0;
    }
    return -ENOSPC;
}

/* Makes a pack of our own. */
static int new_pack(struct cas *c)
{
    uint32_t num = 0;
    /* Others have made packs since; their numbers are taken. */
    int r = cas__refresh(c);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < c->n_packs; i++)
        num = NUM_MAX(num, c->packs[i]->num);
    for (int tries = 0; tries < 1000; tries++) {
        struct pack *p;
        r = cas__pack_make(c, num, &p);
        if (r < 0)
            return r;
        num = p->num;
        /* Another process may have been quicker to lock it. It is not removed on failure for the same reason. */
        r = cas__lease(c, p);
        if (r == -EBUSY)
            continue;
        if (r == 0)
            c->cur = p;
        return r;
    }
    return -EBUSY;
}

/* Sees to it that there is a pack to write to: the fullest that nobody writes to, so that they fill one after the
 * other, or a new one. */
static int take_pack(struct cas *c)
{
    uint64_t below = UINT64_MAX;
    uint32_t last = 0;
    if (c->cur)
        return 0;
    int r = cas__load(c);
    if (r < 0)
        return r;
    for (;;) {
        struct pack *best = NULL;
        for (uint32_t i = 0; i < c->n_packs; i++) {
            struct pack *p = c->packs[i];
            bool tried = p->end > below || (p->end == below && i <= last);
            if (p->has_pack && !p->sealed && !tried && (!best || p->end > best->end))
                best = p;
        }
        if (!best)
            return new_pack(c);
        below = best->end;
        last = best->index;
        if (cas__pack_full(best) || cas__lease(c, best) < 0)
            continue;
        if (cas__pack_full(best)) {
            cas__pack_close(c, best);
            continue;
        }
        c->cur = best;
        break;
    }
    /* What a writer before us did not come to log. */
    struct pack *p = c->cur;
    for (uint32_t i = 0; i < c->table.n && p->logged < p->end; i++) {
        const struct entry *e = &c->table.e[i];
        if (e->pack == p->index && e->off >= p->logged)
            add_entry_to_log(c, p, e);
    }
    return 0;
}

/* ---- records into packs ---- */

/* The record of @e stands at the end of c->cur. */
static void commit(struct cas *c, struct pack *p, struct entry *e)
{
    e->pack = p->index;
    e->off = p->end;
    e->whole = true;
    p->end += HEAD_SIZE + (uint64_t)e->stored;
    p->size = p->end;
    p->blobs++;
    p->dirty = true;
    add_entry_to_log(c, p, e);
}

static void write_done(struct cas *c, struct pack *p, bool torn)
{
    write_log(c, p, LOG_WRITE);
    if (torn && cas__truncate(p->fd, p->end) < 0) {
        /* Its next writer cuts it. */
        cas__stop_writing(c);
        cas__pack_close(c, p);
    } else if (cas__pack_full(p)) {
        cas__stop_writing(c);
    }
}

/* Hands the buffer to the kernel; what of it was written in whole counts, the rest stays. */
static int write_buffer(struct cas *c)
{
    int err;
    struct pack *p = c->cur;
    uint64_t place = p->uid + p->end;
    for (uint32_t i = 0; i < c->n_pending; i++) {
        const struct entry *e = &c->table.e[c->pending[i]];
        cas__rec_seal(c->buffer + e->off, place + e->off);
    }
    size_t n = cas__pwrite(p->fd, str_of((const char *)c->buffer, c->buffered), str_of(NULL, 0), p->end, &err);
    size_t done = 0;
    uint32_t k = 0;
    for (; k < c->n_pending; k++) {
        struct entry *e = &c->table.e[c->pending[k]];
        size_t len = HEAD_SIZE + (size_t)e->stored;
        if (len > n - done)
            break;
        commit(c, p, e);
        done += len;
    }
    c->n_pending -= k;
    c->buffered -= done;
    memmove(c->buffer, c->buffer + done, c->buffered);
    memmove(c->pending, c->pending + k, c->n_pending * sizeof(*c->pending));
    for (uint32_t i = 0; i < c->n_pending; i++)
        c->table.e[c->pending[i]].off -= done;
    write_done(c, p, n > done);
    return err;
}

static int sync_pack(struct cas *c, struct pack *p);

/* Seals full packs, ours and those that somebody left. That this fails is nobody's error: they can be read. */
static void seal_full(struct cas *c)
{
    for (uint32_t i = 0; i < c->n_packs && c->n_pending == 0; i++) {
        struct pack *p = c->packs[i];
        if (!p->has_pack || p->sealed || p == c->cur || !cas__pack_full(p) || cas__lease(c, p) < 0)
            continue;
        p->dirty = true;
        if (sync_pack(c, p) == 0)
            (void)cas__index(c, p, true);
    }
}

int cas__flush(struct cas *c)
{
    if (c->n_pending == 0)
        return 0;
    int r = take_pack(c);
    if (r == 0)
        r = write_buffer(c);
    if (r == 0 && !c->cur && !c->walking) {
        uint32_t leases = 0;
        for (uint32_t i = 0; i < c->n_packs; i++)
            leases += c->packs[i]->leased;
        if (leases > KEPT_LEASES)
            seal_full(c);
    }
    return r;
}

/* Makes room for a record in the buffer. */
static int make_room(struct cas *c, size_t n)
{
    if (!c->buffer) {
        uint8_t *p = mem_try(BUFFER_SIZE + BUFFER_SIZE / HEAD_SIZE * sizeof(*c->pending));
        if (!p)
            return -ENOMEM;
        c->buffer = p;
        c->pending = (uint32_t *)(void *)(p + BUFFER_SIZE);
    }
    int r = n > BUFFER_SIZE - c->buffered ? cas__flush(c) : 0;
    return r < 0 ? r : cas__table_reserve(&c->table, 1);
}

static void count_put(struct cas *c, const struct rec *r)
{
    c->put_blobs++;
    c->put_bytes += r->raw;
    c->put_stored += HEAD_SIZE + (uint64_t)r->stored;
}

/* The record, whose bytes stand in the buffer behind room for its header, joins it. */
static void join_buffer(struct cas *c, const struct rec *r)
{
    struct entry e = {.id = r->id, .off = c->buffered, .stored = r->stored, .raw = r->raw, .pack = BUFFERED};
    cas__rec_put(c->buffer + c->buffered, r);
    c->buffered += HEAD_SIZE + (size_t)r->stored;
    c->pending[c->n_pending++] = cas__table_add(&c->table, &e);
    count_put(c, r);
}

/* Writes a record that is too large for the buffer. */
static int write_large(struct cas *c, const struct rec *r, const uint8_t *body)
{
    uint8_t head[HEAD_SIZE];
    int err = cas__flush(c);
    if (err == 0)
        err = take_pack(c);
    if (err == 0)
        err = cas__table_reserve(&c->table, 1);
    if (err < 0)
        return err;
    struct pack *p = c->cur;
    cas__rec_put(head, r);
    cas__rec_seal(head, p->uid + p->end);
    size_t n = cas__pwrite(p->fd, str_of((const char *)head, sizeof(head)), str_of((const char *)body, r->stored),
                           p->end, &err);
    if (err == 0) {
        struct entry e = {.id = r->id, .stored = r->stored, .raw = r->raw};
        commit(c, p, &e);
        cas__table_add(&c->table, &e);
        count_put(c, r);
    }
    write_done(c, p, err < 0 && n > 0);
    return err;
}

int cas__append_record(struct cas *c, const struct rec *r, const uint8_t *body)
{
    size_t n = HEAD_SIZE + (size_t)r->stored;
    if (n > BUFFER_SIZE)
        return write_large(c, r, body);
    int err = make_room(c, n);
    if (err < 0)
        return err;
    if (r->stored)
        memcpy(c->buffer + c->buffered + HEAD_SIZE, body, r->stored);
    join_buffer(c, r);
    return 0;
}

int cas__append(struct cas *c, const struct cas_id *id, struct str data)
{
    struct rec r = {.id = *id, .raw = (uint32_t)data.n};
    bool small = HEAD_SIZE + data.n <= BUFFER_SIZE;
    int err = small ? make_room(c, HEAD_SIZE + data.n) : 0;
    if (err < 0)
        return err;
    MEM_AUTO uint8_t *large = small ? NULL : mem_try(data.n);
    if (!small && !large)
        return -ENOMEM;
    uint8_t *dst = small ? c->buffer + c->buffered + HEAD_SIZE : large;
    r.stored = cas__compress(c, data, dst);
    r.sum = cas__sum(dst, r.stored, 0);
    if (!small)
        return write_large(c, &r, dst);
    join_buffer(c, &r);
    return 0;
}

/* ---- what may be relied on ---- */

/* Whether the record at @w has all its bytes. Up to the last sync it has; behind it power may have been lost. */
static bool reliable(struct cas *c, const struct cas_id *id, const struct place *w)
{
    const uint8_t *record;
    struct pack *p = w->pack;
    if (!p || w->off < p->synced)
        return true;
    if (p->suspect)
        return false;
    if (!w->e->whole && cas__read(c, id, w, true, &record) < 0)
        return false;
    w->e->whole = true;
    /* Who relies on it waits for it in cas_sync(), whoever wrote it. */
    p->dirty = true;
    return true;
}

bool cas__present(struct cas *c, const struct cas_id *id)
{
    struct place at;
    struct walk w = cas__walk(c, id);
    while (cas__walk_next(c, &w, &at)) {
        /* In a condemned pack it goes away unless somebody names it. */
        if (c->held && at.pack && at.pack->num <= c->condemned)
            continue;
        if (reliable(c, id, &at))
            return true;
    }
    return false;
}

/* ---- sync ---- */

/* Whether all that other writers left in a leased pack and did not sync is whole. */
static bool heritage_ok(struct cas *c, struct pack *p)
{
    for (uint32_t i = 0; i < c->table.n && p->synced < p->lease_from; i++) {
        struct entry *e = &c->table.e[i];
        const uint8_t *record;
        if (e->pack != p->index || e->whole || e->off < p->synced)
            continue;
        struct place w = {.e = e, .pack = p, .off = e->off, .stored = e->stored, .raw = e->raw};
        if (cas__read(c, &e->id, &w, true, &record) < 0)
            return false;
        e->whole = true;
    }
    return true;
}

/* What waiting for the pack's file gave, which went as far as @end when it began. */
static int pack_synced(struct cas *c, struct pack *p, uint64_t end, int r)
{
    if (r < 0) {
        /* The kernel may have dropped what it could not write and say yes the next time. So what is not known to be on
         * the disk is written again, elsewhere. */
        p->suspect = true;
        if (c->cur == p)
            cas__stop_writing(c);
        cas__pack_close(c, p);
        return r;
    }
    if (p->synced == 0) {
        r = cas__sync_dir(c->packs_dir);
        if (r == 0)
            r = cas__sync_dir(c->dir);
        if (r < 0)
            return r;
    }
    p->dirty = p->end > end;
    if (p->leased && heritage_ok(c, p)) {
        p->synced = end;
        if (c->cur == p) {
            struct log_entry e = {.kind = LOG_SYNCED, .off = end};
            add_to_log(c, p, &e);
            write_log(c, p, HEAD_SIZE);
        }
    }
    return 0;
}

static int sync_pack(struct cas *c, struct pack *p)
{
    int fd = cas__pack_fd(c, p);
    if (fd == -ENOENT) {
        /* Collected: what something names was copied and synced before. */
        p->dirty = false;
        return 0;
    }
    if (fd < 0)
        return fd;
    uint64_t end = p->end;
    return pack_synced(c, p, end, cas__sync_file(fd));
}

/* Copies what a failed sync left in doubt into another pack. */
static int rescue(struct cas *c, struct pack *p)
{
    c->walking = true;
    for (uint32_t i = 0, n = c->table.n; i < n; i++) {
        struct entry e = c->table.e[i];
        struct place w = {.pack = p, .off = e.off, .stored = e.stored, .raw = e.raw};
        const uint8_t *record;
        struct rec rec;
        if (e.pack != p->index || e.off < p->synced)
            continue;
        int r = cas__read(c, &e.id, &w, true, &record);
        if (r == -ENOENT)
            break; /* collected: see sync_pack() */
        if (r < 0)
            return r;
        if (!cas__rec_get(record, p->uid + e.off, &rec))
            return -EIO;
        r = cas__append_record(c, &rec, record + HEAD_SIZE);
        if (r < 0)
            return r;
    }
    p->dirty = false;
    return 0;
}

/* Puts into the index what is in the log of the synced pack that is written to, if that is much. */
static void index_cur(struct cas *c, uint32_t least)
{
    struct pack *p = c->cur;
    if (!p || p->synced < p->end || p->blobs < NUM_MAX(least, p->count / 8))
        return;
    if (cas__index(c, p, false) == 0) {
        buf_clear(&c->log);
        fd_close(&c->log_fd);
        c->log_off = false;
    }
}

/* What is done now and then when all is on the disk. */
static void tidy_packs(struct cas *c)
{
    if (!(c->flags & CAS_WRITE) || !c->loaded)
        return;
    index_cur(c, LOG_BLOBS);
    seal_full(c);
}

int cas__sync_begin(struct cas *c, int *ret_fd)
{
    struct pack *one = NULL;
    int r = cas__flush(c);
    for (uint32_t i = 0; i < c->n_packs && r == 0; i++) {
        struct pack *p = c->packs[i];
        if (!p->dirty)
            continue;
        if (one || p->suspect || p->synced == 0)
            return -EBUSY; /* several, or what takes more than its file */
        one = p;
    }
    int fd = r || !one ? -1 : cas__pack_fd(c, one);
    if (one && r == 0 && fd < 0)
        return -EBUSY;
    if (r)
        return r;
    c->awaited = one;
    c->awaited_end = one ? one->end : 0;
    *ret_fd = fd;
    return 0;
}

int cas__sync_end(struct cas *c, int result)
{
    struct pack *p = c->awaited;
    c->awaited = NULL;
    if (!p)
        return 0;
    if (cas__pack_fd(c, p) == -ENOENT) { /* see sync_pack() */
        p->dirty = false;
        return 0;
    }
    int r = pack_synced(c, p, c->awaited_end, result);
    if (r == 0)
        tidy_packs(c);
    return r;
}

int cas__sync(struct cas *c)
{
    int r = 0;
    for (uint32_t i = 0; i < c->n_packs && r == 0; i++) {
        if (c->packs[i]->suspect && c->packs[i]->dirty)
            r = rescue(c, c->packs[i]);
    }
    c->walking = false;
    if (r == 0)
        r = cas__flush(c);
    for (uint32_t i = 0; i < c->n_packs && r == 0; i++) {
        if (c->packs[i]->dirty)
            r = sync_pack(c, c->packs[i]);
    }
    if (r == 0)
        tidy_packs(c);
    return r;
}

void cas__leave(struct cas *c)
{
    if (c->cur && cas__hold(c) < 0)
        cas__forget_log(c); /* it may be condemned */
    /* Who never syncs does so here, once in some thousand blobs: all who come after read the log. */
    struct pack *p = cas__flush(c) == 0 ? c->cur : NULL;
    if (p && p->blobs >= NUM_MAX(2 * LOG_BLOBS, p->count / 4) && sync_pack(c, p) == 0)
        index_cur(c, LOG_BLOBS);
    if (c->cur)
        write_log(c, c->cur, HEAD_SIZE);
}
