/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/cas_int.h"

#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "base/num.h"

/* ---- packs that are not sealed: log and tail ---- */

int cas__note(struct cas *c, struct pack *p, const struct entry *e)
{
    int r = cas__table_reserve(&c->table, 1);
    if (r < 0)
        return r;
    cas__table_add(&c->table, e);
    p->blobs++;
    p->end = e->off + HEAD_SIZE + e->stored;
    return 0;
}

/* Takes one entry of a log: 1, 0 when the log is not to be believed from here on, or an error. */
static int take_log_entry(struct cas *c, struct pack *p, const struct log_entry *e)
{
    if (e->kind == LOG_SYNCED) {
        if (e->off > p->end)
            return 0;
        p->synced = NUM_MAX(p->synced, e->off);
        return 1;
    }
    /* The sum held, but of a pack that lost its tail the log says too much. */
    if (e->off > p->end || p->size - e->off < HEAD_SIZE + (uint64_t)e->stored)
        return 0;
    uint64_t end = e->off + HEAD_SIZE + e->stored;
    if (end > p->end) {
        struct entry in = {.id = e->id, .off = e->off, .stored = e->stored, .raw = e->raw, .pack = p->index};
        int r = e->off == p->end ? cas__note(c, p, &in) : 0;
        if (r < 0 || e->off != in.off || p->end != end)
            return r;
    }
    p->logged = NUM_MAX(p->logged, end);
    return 1;
}

/* Reads what is new in the log of @p. */
static int read_log(struct cas *c, struct pack *p)
{
    uint8_t head[HEAD_SIZE];
    uint64_t uid;
    FD_AUTO int fd = cas__open(c->packs_dir, p->num, EXT_LOG, O_RDONLY);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    if (p->log_end == 0) {
        ssize_t n = cas__pread(fd, head, sizeof(head), 0);
        if (n < 0)
            return (int)n;
        /* Without a head of this pack it is as if there were no log. */
        if (n < (ssize_t)sizeof(head) || cas__head_get(head, EXT_LOG, &uid) < 0 || uid != p->uid)
            return 0;
        p->log_end = HEAD_SIZE;
    }
    /* Not the scratch memory: a record that is being copied from one pack to another lies there. */
    const size_t chunk = 1024u * HEAD_SIZE;
    MEM_AUTO uint8_t *buf = mem_try(chunk);
    if (!buf)
        return -ENOMEM;
    for (;;) {
        ssize_t n = cas__pread(fd, buf, chunk, p->log_end);
        if (n < 0)
            return (int)n;
        for (ssize_t at = 0; n - at >= (ssize_t)HEAD_SIZE; at += HEAD_SIZE) {
            struct log_entry e;
            int r = cas__log_get(buf + at, p->uid + p->log_end, &e) ? take_log_entry(c, p, &e) : 0;
            if (r <= 0)
                return r;
            p->log_end += HEAD_SIZE;
        }
        if (n < (ssize_t)chunk)
            return 0;
    }
}

/* Reads the head of a pack. One that is not there yet, or was lost with power, leaves p->end 0. */
static int read_head(struct pack *p)
{
    static const uint8_t zero[HEAD_SIZE];
    uint8_t head[HEAD_SIZE];
    if (p->end || p->size < HEAD_SIZE)
        return 0;
    ssize_t n = cas__pread(p->fd, head, sizeof(head), 0);
    if (n < 0)
        return (int)n;
    if (n < (ssize_t)sizeof(head) || memcmp(head, zero, sizeof(head)) == 0)
        return 0;
    int r = cas__head_get(head, EXT_PACK, &p->uid);
    if (r == 0)
        p->end = p->logged = HEAD_SIZE;
    return r;
}

/* Looks for records behind those known. */
static int scan_tail(struct cas *c, struct pack *p)
{
    struct scan s;
    bool bad = false;
    int r;
    cas__scan_init(&s, p->fd, p->uid, p->end, p->size);
    while ((r = cas__scan_next(&s)) > 0) {
        if (r != SCAN_RECORD) {
            bad = true;
            continue;
        }
        struct entry e = {
            .id = s.rec.id, .off = s.off, .stored = s.rec.stored, .raw = s.rec.raw, .pack = p->index, .whole = true};
        if ((r = cas__note(c, p, &e)) < 0)
            break;
        p->broken |= bad;
    }
    cas__scan_done(&s);
    return r;
}

int cas__catch_up(struct cas *c, struct pack *p, bool *ret_torn)
{
    int fd = cas__pack_fd(c, p);
    if (fd < 0)
        return fd;
    int64_t size = cas__size(fd);
    if (size < 0)
        return (int)size;
    p->size = (uint64_t)size;
    int r = read_head(p);
    if (r < 0)
        return r;
    if (p->end && (p->size > p->end || ret_torn)) {
        r = read_log(c, p);
        if (r == 0 && p->end < p->size)
            r = scan_tail(c, p);
    }
    if (r == 0 && ret_torn)
        *ret_torn = p->end < p->size;
    return r;
}

/* ---- indexes ---- */

uint32_t cas__fanout(const struct pack *p, unsigned first)
{
    /* Checked when it was mapped, and bounded again: the file may be changed below us. */
    return NUM_MIN(cas__get32(p->map + HEAD_SIZE + 4 * (size_t)first), p->count);
}

static int check_index(const uint8_t *m, size_t n, struct index_head *h)
{
    int r = cas__index_get(m, h);
    if (r < 0)
        return r;
    if (n != HEAD_SIZE + FANOUT_SIZE + (uint64_t)h->count * ENTRY_SIZE)
        return -EIO;
    uint32_t before = 0;
    for (unsigned i = 0; i < 256; i++) {
        uint32_t v = cas__get32(m + HEAD_SIZE + 4 * (size_t)i);
        if (v < before)
            return -EIO;
        before = v;
    }
    return before == h->count ? 0 : -EIO;
}

int cas__map_index(struct cas *c, struct pack *p)
{
    struct index_head h;
    const uint8_t *m;
    FD_AUTO int fd = cas__open(c->packs_dir, p->num, EXT_INDEX, O_RDONLY);
    if (fd < 0)
        return fd;
    int64_t n = cas__size(fd);
    if (n < (int64_t)(HEAD_SIZE + FANOUT_SIZE))
        return n < 0 ? (int)n : -EIO;
    int r = cas__map(fd, (size_t)n, &m);
    if (r < 0)
        return r;
    r = check_index(m, (size_t)n, &h);
    if (r == 0 && p->end && p->uid != h.uid)
        r = -EIO;
    if (r < 0) {
        cas__unmap(m, (size_t)n);
        return r;
    }
    cas__unmap_index(p);
    p->map = m;
    p->map_size = (size_t)n;
    p->uid = h.uid;
    p->count = h.count;
    p->indexed = h.pack_size;
    p->sealed = h.final;
    p->end = NUM_MAX(p->end, p->indexed);
    p->synced = NUM_MAX(p->synced, p->indexed);
    p->logged = NUM_MAX(p->logged, p->indexed);
    return 0;
}

void cas__unmap_index(struct pack *p)
{
    if (p->map)
        cas__unmap(p->map, p->map_size);
    p->map = NULL;
}

void cas__index_entry(const struct pack *p, uint32_t i, struct cas_id *id, struct place *ret)
{
    const uint8_t *e = p->map + HEAD_SIZE + FANOUT_SIZE + (size_t)i * ENTRY_SIZE;
    memcpy(id->b, e, CAS_HASH_SIZE);
    *ret = (struct place){.off = cas__get64(e + 32), .stored = cas__get32(e + 40), .raw = cas__get32(e + 44)};
}

static bool find_in_index(struct pack *p, const struct cas_id *id, struct place *ret)
{
    uint32_t lo = id->b[0] ? cas__fanout(p, id->b[0] - 1u) : 0, hi = cas__fanout(p, id->b[0]);
    while (lo < hi) {
        struct cas_id at;
        uint32_t mid = lo + (hi - lo) / 2;
        cas__index_entry(p, mid, &at, ret);
        int d = cas_id_cmp(&at, id);
        if (d == 0) {
            ret->pack = p;
            return ret->off >= HEAD_SIZE && ret->off <= p->indexed && cas__lengths_ok(ret->stored, ret->raw) &&
                   p->indexed - ret->off >= HEAD_SIZE + (uint64_t)ret->stored;
        }
        if (d < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

struct walk cas__walk(const struct cas *c, const struct cas_id *id)
{
    return (struct walk){.id = id, .packs_left = c->n_packs};
}

bool cas__walk_next(struct cas *c, struct walk *w, struct place *ret)
{
    struct entry *e = cas__table_next(&c->table, w->id, &w->table_pos);
    if (e) {
        struct pack *p = e->pack == BUFFERED ? NULL : c->packs[e->pack];
        *ret = (struct place){.e = e, .pack = p, .off = e->off, .stored = e->stored, .raw = e->raw};
        return true;
    }
    while (w->packs_left) {
        struct pack *p = c->packs[--w->packs_left];
        if (p->map && find_in_index(p, w->id, ret))
            return true;
    }
    return false;
}

/* ---- writing an index ---- */

static int by_id(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int d = cas_id_cmp(&x->id, &y->id);
    return d ? d : (x->off > y->off) - (x->off < y->off);
}

int cas__index_build(struct entry *e, uint32_t n, struct index_head *h, uint8_t **ret, size_t *ret_n)
{
    uint32_t fan[256] = {0};
    uint8_t *m = mem_try(HEAD_SIZE + FANOUT_SIZE + (size_t)n * ENTRY_SIZE);
    if (!m)
        return -ENOMEM;
    if (n)
        qsort(e, n, sizeof(*e), by_id);
    h->raw = h->count = 0;
    uint8_t *at = m + HEAD_SIZE + FANOUT_SIZE;
    for (uint32_t i = 0; i < n; i++) {
        /* Of a blob that is twice in a pack, the last: it was written because the first was not to be relied on. */
        if (i + 1 < n && cas_id_cmp(&e[i].id, &e[i + 1].id) == 0)
            continue;
        memcpy(at, e[i].id.b, CAS_HASH_SIZE);
        cas__put64(at + 32, e[i].off);
        cas__put32(at + 40, e[i].stored);
        cas__put32(at + 44, e[i].raw);
        at += ENTRY_SIZE;
        fan[e[i].id.b[0]]++;
        h->raw += e[i].raw;
        h->count++;
    }
    uint32_t sum = 0;
    for (unsigned i = 0; i < 256; i++)
        cas__put32(m + HEAD_SIZE + 4 * (size_t)i, sum += fan[i]);
    *ret_n = (size_t)(at - m);
    h->sum = cas__sum(m + HEAD_SIZE, *ret_n - HEAD_SIZE, 0);
    cas__index_put(m, h);
    *ret = m;
    return 0;
}

int cas__index_write(struct cas *c, uint32_t num, const uint8_t *p, size_t n)
{
    int r = 0;
    FD_AUTO int fd = cas__open(c->packs_dir, num, EXT_TMP, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return fd;
    cas__pwrite(fd, str_of((const char *)p, n), str_of(NULL, 0), 0, &r);
    if (r == 0)
        r = cas__sync_file(fd);
    if (r == 0)
        r = cas__rename(c->packs_dir, num, EXT_TMP, EXT_INDEX);
    if (r < 0)
        (void)cas__unlink(c->packs_dir, num, EXT_TMP);
    else
        (void)cas__unlink(c->packs_dir, num, EXT_LOG);
    return r;
}

/* Collects what the pack holds: the index it has, and of the table what may be relied on. */
static int gather(struct cas *c, struct pack *p, struct entry **ret, uint32_t *ret_n)
{
    uint32_t n = 0;
    const uint32_t most = (p->map ? p->count : 0) + p->blobs;
    struct entry *list = mem_try(((size_t)most + 1) * sizeof(*list));
    if (!list)
        return -ENOMEM;
    *ret = list;
    for (; p->map && n < p->count; n++) {
        struct place at;
        cas__index_entry(p, n, &list[n].id, &at);
        list[n].off = at.off;
        list[n].stored = at.stored;
        list[n].raw = at.raw;
    }
    for (uint32_t i = 0; i < c->table.n && n < most; i++) {
        struct entry *e = &c->table.e[i];
        const uint8_t *record;
        if (e->pack != p->index || (p->map && e->off < p->indexed))
            continue;
        if (!e->whole && e->off >= p->synced) {
            struct place w = {.e = e, .pack = p, .off = e->off, .stored = e->stored, .raw = e->raw};
            int r = cas__read(c, &e->id, &w, true, &record);
            if (r == -EIO)
                continue;
            if (r < 0)
                return r;
            e->whole = true;
        }
        list[n++] = *e;
    }
    *ret_n = n;
    return 0;
}

int cas__index(struct cas *c, struct pack *p, bool final)
{
    MEM_AUTO struct entry *list = NULL;
    MEM_AUTO uint8_t *m = NULL;
    uint32_t n = 0;
    size_t size = 0;
    struct index_head h = {.uid = p->uid, .pack_size = p->end, .final = final};
    int r = gather(c, p, &list, &n);
    if (r == 0)
        r = cas__index_build(list, n, &h, &m, &size);
    if (r == 0)
        r = cas__index_write(c, p->num, m, size);
    if (r == 0)
        r = cas__map_index(c, p);
    if (r == 0) {
        p->log_end = 0;
        p->blobs = 0;
        cas__table_drop(&c->table, p->index, p->indexed);
    }
    if (final)
        cas__pack_close(c, p);
    return r;
}

/* ---- looking what is there ---- */

struct pack *cas__pack_add(struct cas *c, uint32_t num)
{
    if (c->n_packs == c->cap_packs) {
        uint32_t cap = c->cap_packs ? c->cap_packs * 2 : 16;
        struct pack **packs = mem_try_realloc(c->packs, cap * sizeof(*packs));
        if (!packs)
            return NULL;
        c->packs = packs;
        c->cap_packs = cap;
    }
    struct pack *p = mem_try_zalloc(sizeof(*p));
    if (!p)
        return NULL;
    p->num = num;
    p->index = c->n_packs;
    p->fd = -1;
    c->packs[c->n_packs++] = p;
    map_set(&c->by_num, str_of((const char *)&p->num, sizeof(p->num)), p);
    return p;
}

static int found(void *arg, uint32_t num, enum cas_ext ext)
{
    struct cas *c = arg;
    if (ext != EXT_PACK && ext != EXT_INDEX)
        return 0;
    struct pack *p = map_get(&c->by_num, str_of((const char *)&num, sizeof(num)));
    if (!p && !(p = cas__pack_add(c, num)))
        return -ENOMEM;
    p->has_pack |= ext == EXT_PACK;
    p->listed |= ext == EXT_PACK;
    p->has_index |= ext == EXT_INDEX;
    return 0;
}

/* Learns what is new in a pack. */
static int look(struct cas *c, struct pack *p)
{
    if (!p->has_pack || p->sealed || p->leased)
        return 0;
    /* One that is damaged is as if it were not there: the pack itself says what it holds. */
    int r = p->has_index && p->end == 0 ? cas__map_index(c, p) : 0;
    if (r < 0 && r != -EIO)
        return r;
    return p->sealed ? 0 : cas__catch_up(c, p, NULL);
}

/* A pack that was collected: what it had is elsewhere. */
static void forget(struct cas *c, struct pack *p)
{
    if (c->cur == p)
        cas__forget_log(c);
    cas__pack_close(c, p);
    cas__unmap_index(p);
    cas__table_drop(&c->table, p->index, UINT64_MAX);
    /* What is buffered has moved in the table. */
    for (uint32_t i = 0, k = 0; i < c->table.n && k < c->n_pending; i++) {
        if (c->table.e[i].pack == BUFFERED)
            c->pending[k++] = i;
    }
    p->has_pack = p->has_index = p->broken = p->dirty = false;
    p->sealed = true;
    p->count = p->blobs = 0;
}

/* One look: 0, or an error of the listing. */
static int look_at_all(struct cas *c)
{
    for (uint32_t i = 0; i < c->n_packs; i++)
        c->packs[i]->listed = false;
    int r = cas__list(c->packs_dir, found, c);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < c->n_packs; i++) {
        if (c->packs[i]->has_pack && !c->packs[i]->listed)
            forget(c, c->packs[i]);
    }
    c->missing = 0;
    for (uint32_t i = 0; i < c->n_packs; i++) {
        r = look(c, c->packs[i]);
        if (r < 0 && c->missing == 0)
            c->missing = r;
    }
    return 0;
}

int cas__refresh(struct cas *c)
{
    int r;
    /* While one pack was looked at, another may have been collected, and a blob of it copied into the first. */
    for (int tries = 0; tries < COLLECTED_TRIES; tries++) {
        c->vanished = false;
        r = look_at_all(c);
        if (r < 0 || !c->vanished)
            break;
    }
    c->loaded |= r == 0;
    return r;
}

int cas__load(struct cas *c)
{
    if (c->loaded)
        return 0;
    bool give_way;
    int r = c->held || !(c->flags & CAS_WRITE) ? 0 : cas__heed(c, &give_way);
    return r < 0 ? r : cas__refresh(c);
}
