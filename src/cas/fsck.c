/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/cas_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "base/fd.h"
#include "base/num.h"

/*
 * Checking. A pack is read from its first byte to its last; what it holds is compared with what its index and its log
 * say. They are read before the pack, so that with a writer at work they never say more than it holds. A damaged index
 * or log is made anew from the pack; a damaged pack is left as it is.
 */

#define PROGRESS (4u << 20) /* bytes between two reports */

struct fsck {
    struct cas *c;
    void (*bad)(void *arg, const struct cas_id *id, const char *what);
    void (*progress)(void *arg, uint64_t done, uint64_t all);
    void *arg;
    uint64_t done, all, said;
    struct pack *p;
    struct buf blob;

    /* Of the pack at hand. */
    struct table good; /* its whole records, in order of offsets */
    struct table lost; /* blobs of it that are damaged */
    uint64_t uid, size;
    uint64_t synced;
    bool index_damaged, log_damaged;
    uint8_t *index, *log; /* the files, or NULL */
    size_t index_n, log_n;
    struct index_head head;
};

static void say(struct fsck *f, const struct cas_id *id, const char *what)
{
    char text[128];
    snprintf(text, sizeof(text), "pack %08x: %s", f->p->num, what);
    f->bad(f->arg, id, text);
}

static void say_at(struct fsck *f, const char *what, uint64_t from, uint64_t to)
{
    char text[96];
    snprintf(text, sizeof(text), "%s, bytes %llu to %llu", what, (unsigned long long)from, (unsigned long long)to);
    say(f, NULL, text);
}

static void advance(struct fsck *f, uint64_t n)
{
    f->done += n;
    if (f->progress && f->done - f->said >= PROGRESS) {
        f->said = f->done;
        f->progress(f->arg, NUM_MIN(f->done, f->all), f->all);
    }
}

/* Notes a blob that is said to be in the pack and is not, once. */
static int lose(struct fsck *f, const struct cas_id *id)
{
    uint32_t pos = 0;
    if (cas__table_next(&f->lost, id, &pos))
        return 0;
    if (cas__table_reserve(&f->lost, 1) < 0)
        return -ENOMEM;
    cas__table_add(&f->lost, &(struct entry){.id = *id});
    return 0;
}

/* Whether the record that is said to be somewhere was found there whole. */
static bool is_good(const struct fsck *f, const struct cas_id *id, uint64_t off, uint32_t stored, uint32_t raw)
{
    uint32_t pos = 0;
    for (const struct entry *e; (e = cas__table_next(&f->good, id, &pos));) {
        if (e->off == off && e->stored == stored && e->raw == raw)
            return true;
    }
    return false;
}

/* ---- reading ---- */

/* The whole file, or NULL when there is none. */
static int read_file(struct fsck *f, enum cas_ext ext, size_t most, uint8_t **ret, size_t *ret_n)
{
    FD_AUTO int fd = cas__open(f->c->packs_dir, f->p->num, ext, O_RDONLY);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    int64_t n = cas__size(fd);
    if (n < 0)
        return (int)n;
    size_t want = (size_t)NUM_MIN((uint64_t)n, (uint64_t)most);
    uint8_t *p = mem_try(want + 1);
    if (!p)
        return -ENOMEM;
    ssize_t got = cas__pread(fd, p, want, 0);
    if (got < 0) {
        mem_free(p);
        return (int)got;
    }
    *ret = p;
    *ret_n = (size_t)got;
    return 0;
}

/* Every byte of an index is below one of two sums. */
static void check_index_sums(struct fsck *f)
{
    if (!f->index)
        return;
    f->index_damaged = f->index_n < HEAD_SIZE + FANOUT_SIZE || cas__index_get(f->index, &f->head) < 0 ||
                       f->index_n != HEAD_SIZE + FANOUT_SIZE + (uint64_t)f->head.count * ENTRY_SIZE ||
                       f->head.sum != cas__sum(f->index + HEAD_SIZE, f->index_n - HEAD_SIZE, 0);
    if (!f->index_damaged) {
        f->uid = f->head.uid;
        f->synced = f->head.pack_size;
    }
}

/* Whether the pack has no head yet: its writer was killed, or power was lost. */
static bool is_empty(const struct fsck *f, int fd)
{
    static const uint8_t zero[HEAD_SIZE];
    uint8_t head[HEAD_SIZE];
    return f->size < HEAD_SIZE ||
           (cas__pread(fd, head, HEAD_SIZE, 0) == (ssize_t)HEAD_SIZE && memcmp(head, zero, HEAD_SIZE) == 0);
}

/* The pack's head: 0 when it can be gone on with. */
static int check_head(struct fsck *f, int fd)
{
    uint8_t head[HEAD_SIZE];
    uint64_t uid;
    ssize_t n = cas__pread(fd, head, sizeof(head), 0);
    if (n < 0)
        return (int)n;
    int r = n < (ssize_t)sizeof(head) ? -EIO : cas__head_get(head, EXT_PACK, &uid);
    if (r == -EINVAL)
        return r;
    if (r == 0) {
        /* An index of another pack. */
        f->index_damaged |= f->index && f->uid && f->uid != uid;
        f->uid = uid;
        return 0;
    }
    say_at(f, "damaged head", 0, HEAD_SIZE);
    if (f->uid == 0 && f->log_n >= HEAD_SIZE)
        (void)cas__head_get(f->log, EXT_LOG, &f->uid);
    return 0;
}

/* ---- the pack ---- */

static int add_good(struct fsck *f, const struct scan *s)
{
    if (cas__table_reserve(&f->good, 1) < 0)
        return -ENOMEM;
    cas__table_add(&f->good,
                   &(struct entry){.id = s->rec.id, .off = s->off, .stored = s->rec.stored, .raw = s->rec.raw});
    return 0;
}

/* Whether what stands at the end of a pack is the beginning of a record whose writer was killed, or what a file that
 * was made longer holds after power was lost. */
static bool is_torn(struct fsck *f, int fd, const struct scan *s)
{
    uint8_t part[4096];
    struct rec rec;
    if (s->off + s->len < f->size || s->off < f->synced)
        return false;
    ssize_t n = cas__pread(fd, part, HEAD_SIZE, s->off);
    if (n < (ssize_t)HEAD_SIZE)
        return true;
    if (cas__rec_get(part, f->uid + s->off, &rec))
        return true;
    for (uint64_t at = s->off; at < f->size; at += (uint64_t)n) {
        n = cas__pread(fd, part, sizeof(part), at);
        if (n <= 0)
            return false;
        for (ssize_t i = 0; i < n; i++) {
            if (part[i])
                return false;
        }
    }
    return true;
}

static int check_record(struct fsck *f, const struct scan *s)
{
    buf_clear(&f->blob);
    int r = cas__unpack(f->c, &s->rec.id, s->body - HEAD_SIZE, s->rec.stored, s->rec.raw, &f->blob);
    if (r == 0)
        return add_good(f, s);
    return r == -EIO ? lose(f, &s->rec.id) : r;
}

static int check_pack(struct fsck *f, int fd)
{
    struct scan s;
    int r;
    cas__scan_init(&s, fd, f->uid, HEAD_SIZE, f->size);
    while ((r = cas__scan_next(&s)) > 0) {
        int r2 = 0;
        if (r == SCAN_RECORD)
            r2 = check_record(f, &s);
        else if (r == SCAN_BAD_BODY)
            r2 = lose(f, &s.rec.id);
        else if (!is_torn(f, fd, &s))
            say_at(f, "damaged", s.off, s.off + s.len);
        advance(f, s.len);
        if (r2 < 0) {
            r = r2;
            break;
        }
    }
    cas__scan_done(&s);
    return r;
}

/* ---- index and log against the pack ---- */

static int compare_index(struct fsck *f)
{
    struct pack look = {.map = f->index, .count = f->head.count};
    int r = 0;
    if (!f->index || f->index_damaged)
        return 0;
    if (f->head.pack_size > f->size || (f->head.final && f->head.pack_size < f->size))
        say_at(f, "not as long as its index says", NUM_MIN(f->size, f->head.pack_size),
               NUM_MAX(f->size, f->head.pack_size));
    for (uint32_t i = 0; i < f->head.count && r == 0; i++) {
        struct cas_id id;
        struct place at;
        cas__index_entry(&look, i, &id, &at);
        if (!is_good(f, &id, at.off, at.stored, at.raw))
            r = lose(f, &id);
    }
    return r;
}

static int compare_log(struct fsck *f)
{
    static const uint8_t zero[HEAD_SIZE];
    uint64_t uid;
    int r = 0;
    if (!f->log || f->log_n < HEAD_SIZE || memcmp(f->log, zero, HEAD_SIZE) == 0)
        return 0;
    if (cas__head_get(f->log, EXT_LOG, &uid) < 0 || uid != f->uid) {
        f->log_damaged = true;
        return 0;
    }
    for (size_t at = HEAD_SIZE; f->log_n - at >= HEAD_SIZE && r == 0; at += HEAD_SIZE) {
        struct log_entry e;
        if (!cas__log_get(f->log + at, uid + at, &e)) {
            f->log_damaged |= memcmp(f->log + at, zero, HEAD_SIZE) != 0;
            continue;
        }
        if (e.kind == LOG_SYNCED)
            continue;
        /* Behind the end of the pack: lost with power, and nobody was told that it was safe. */
        bool cut = e.off > f->size || f->size - e.off < HEAD_SIZE + (uint64_t)e.stored;
        if ((!cut || e.off < f->synced) && !is_good(f, &e.id, e.off, e.stored, e.raw))
            r = lose(f, &e.id);
    }
    return r;
}

/* How far the log says that the pack is on the disk. */
static void read_synced(struct fsck *f)
{
    uint64_t uid = 0;
    if (f->log_n < HEAD_SIZE || cas__head_get(f->log, EXT_LOG, &uid) < 0)
        return;
    for (size_t at = HEAD_SIZE; f->log_n - at >= HEAD_SIZE; at += HEAD_SIZE) {
        struct log_entry e;
        if (cas__log_get(f->log + at, uid + at, &e) && e.kind == LOG_SYNCED)
            f->synced = NUM_MAX(f->synced, e.off);
    }
}

/* Writes the index anew from the pack's records. Not when somebody else is at the pack. */
static int repair(struct fsck *f)
{
    struct cas *c = f->c;
    struct pack *p = f->p;
    MEM_AUTO uint8_t *m = NULL;
    size_t n = 0;
    const struct entry *last = f->good.n ? &f->good.e[f->good.n - 1] : NULL;
    uint64_t end = last ? last->off + HEAD_SIZE + last->stored : HEAD_SIZE;
    if (!(c->flags & CAS_WRITE) || p->leased)
        return 0;
    FD_AUTO int fd = cas__open(c->packs_dir, p->num, EXT_PACK, O_RDWR);
    if (fd < 0)
        return fd;
    int r = cas__lock(fd, LOCK_EX | LOCK_NB);
    if (r < 0)
        return r == -EWOULDBLOCK ? 0 : r;
    if (cas__size(fd) != (int64_t)f->size)
        return 0;
    /* The table's order of entries goes with the sorting; it is not looked into any more. */
    struct index_head h = {.uid = f->uid, .pack_size = p->sealed ? f->size : end, .final = p->sealed};
    r = cas__sync_file(fd);
    if (r == 0)
        r = cas__index_build(f->good.e, f->good.n, &h, &m, &n);
    if (r == 0)
        r = cas__index_write(c, p->num, m, n);
    if (r < 0)
        return r;
    cas__pack_close(c, p);
    cas__unmap_index(p);
    cas__table_drop(&c->table, p->index, UINT64_MAX);
    p->end = p->indexed = p->synced = p->logged = p->log_end = 0;
    p->count = p->blobs = 0;
    p->sealed = p->broken = false;
    r = cas__map_index(c, p);
    return r < 0 || p->sealed ? r : cas__catch_up(c, p, NULL);
}

static int fsck_pack(struct fsck *f)
{
    static const size_t index_most = (size_t)PACK_BYTES / HEAD_SIZE * ENTRY_SIZE * 2;
    int r = read_file(f, EXT_INDEX, index_most, &f->index, &f->index_n);
    if (r == 0)
        r = read_file(f, EXT_LOG, 2 * (size_t)PACK_BYTES, &f->log, &f->log_n);
    if (r < 0)
        return r;
    FD_AUTO int fd = cas__open(f->c->packs_dir, f->p->num, EXT_PACK, O_RDONLY);
    if (fd < 0)
        return fd;
    int64_t size = cas__size(fd);
    if (size < 0)
        return (int)size;
    f->size = (uint64_t)size;
    check_index_sums(f);
    read_synced(f);
    if (f->synced == 0 && !f->index && is_empty(f, fd))
        return 0;
    r = check_head(f, fd);
    if (r == 0)
        r = check_pack(f, fd);
    if (r == 0)
        r = compare_index(f);
    if (r == 0)
        r = compare_log(f);
    for (uint32_t i = 0; i < f->lost.n && r == 0; i++)
        say(f, &f->lost.e[i].id, "damaged blob");
    if (r == 0 && (f->index_damaged || f->log_damaged)) {
        say(f, NULL, f->index_damaged ? "damaged index" : "damaged log");
        r = repair(f);
    }
    return r;
}

int cas_fsck(struct cas *c, void (*bad)(void *arg, const struct cas_id *id, const char *what),
             void (*progress)(void *arg, uint64_t done, uint64_t all), void *arg)
{
    OWN_MEMORY;
    struct fsck f = {.c = c, .bad = bad, .progress = progress, .arg = arg};
    /* Packs that go away while it looks are no damage. */
    bool barred = c->barred;
    int r = cas_bar_gc(c, CAS_GC_WAIT_MS, NULL);
    if (r == 0)
        r = cas__flush(c);
    if (r == 0)
        r = cas__refresh(c);
    for (uint32_t i = 0; i < c->n_packs && r == 0; i++) {
        int64_t n = c->packs[i]->has_pack ? cas__size_at(c->packs_dir, c->packs[i]->num, EXT_PACK) : 0;
        f.all += n > 0 ? (uint64_t)n : 0;
    }
    c->caller = NULL;
    buf_init(&f.blob, LIMIT_CAS_BLOB);
    for (uint32_t i = 0; i < c->n_packs && r == 0; i++) {
        f.p = c->packs[i];
        f.uid = f.synced = f.size = 0;
        f.index = f.log = NULL;
        f.index_n = f.log_n = 0;
        f.index_damaged = f.log_damaged = false;
        f.head = (struct index_head){0};
        f.good.seed = f.lost.seed = c->table.seed;
        if (f.p->has_pack)
            r = fsck_pack(&f);
        mem_free(f.index);
        mem_free(f.log);
        cas__table_done(&f.good);
        cas__table_done(&f.lost);
    }
    buf_done(&f.blob);
    if (!barred)
        cas__unbar(c);
    if (progress && r == 0)
        progress(arg, f.all, f.all);
    return r;
}
