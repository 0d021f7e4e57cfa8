/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/cas_int.h"

#include <errno.h>
#include <fcntl.h>
/* ZSTD_c_literalCompressionMode is asked for by its number where it is not stable; zstd is linked in statically. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "base/fd.h"
#include "base/num.h"

/* ---- descriptors ---- */

/* Closes the descriptor that was not used for the longest time. */
static void close_oldest(struct cas *c)
{
    struct pack *oldest = NULL;
    for (uint32_t i = 0; i < c->n_packs; i++) {
        struct pack *p = c->packs[i];
        if (p->fd >= 0 && !p->leased && (!oldest || p->used < oldest->used))
            oldest = p;
    }
    if (oldest)
        cas__pack_close(c, oldest);
}

void cas__pack_close(struct cas *c, struct pack *p)
{
    if (p->fd < 0)
        return;
    fd_close(&p->fd);
    p->leased = false;
    c->n_open--;
    if (c->cur == p)
        c->cur = NULL;
}

int cas__pack_fd(struct cas *c, struct pack *p)
{
    p->used = ++c->clock;
    if (p->fd >= 0)
        return p->fd;
    if (c->n_open >= OPEN_PACKS)
        close_oldest(c);
    int fd = cas__open(c->packs_dir, p->num, EXT_PACK, O_RDONLY);
    c->vanished |= fd == -ENOENT;
    if (fd < 0)
        return fd;
    p->fd = fd;
    c->n_open++;
    return fd;
}

/* ---- records ---- */

#define SCRATCH_KEEP (1u << 20)

uint8_t *cas__scratch(struct cas *c, size_t n)
{
    if (n <= c->scratch_cap && (c->scratch_cap <= SCRATCH_KEEP || n > SCRATCH_KEEP))
        return c->scratch;
    size_t cap = NUM_MAX(n, (size_t)64 << 10);
    uint8_t *p = mem_try(cap);
    if (!p)
        return NULL;
    mem_free(c->scratch);
    c->scratch = p;
    c->scratch_cap = cap;
    return p;
}

int cas__read(struct cas *c, const struct cas_id *id, const struct place *w, bool full, const uint8_t **ret)
{
    struct rec r;
    const uint8_t *p;
    if (!w->pack) {
        *ret = c->buffer + w->off;
        return 0;
    }
    size_t n = HEAD_SIZE + (size_t)w->stored;
    int fd = cas__pack_fd(c, w->pack);
    if (fd < 0)
        return fd;
    uint8_t *s = cas__scratch(c, n);
    if (!s)
        return -ENOMEM;
    ssize_t got = cas__pread(fd, s, n, w->off);
    if (got < 0)
        return (int)got;
    p = s;
    if ((size_t)got != n || !cas__rec_get(p, w->pack->uid + w->off, &r) || cas_id_cmp(&r.id, id) != 0 ||
        r.stored != w->stored || r.raw != w->raw)
        return -EIO;
    if (full && cas__sum(p + HEAD_SIZE, r.stored, 0) != r.sum)
        return -EIO;
    *ret = p;
    return 0;
}

/* Fills @dst with the blob of a record: 0, -EIO or -ENOMEM. */
static int expand(struct cas *c, const uint8_t *body, uint32_t stored, uint8_t *dst, uint32_t raw)
{
    if (stored == raw) {
        if (raw)
            memcpy(dst, body, raw);
        return 0;
    }
    if (!c->dctx)
        c->dctx = ZSTD_createDCtx();
    if (!c->dctx)
        return -ENOMEM;
    /* The output is the window, so a frame that announces a large one costs nothing. */
    size_t n = ZSTD_decompressDCtx(c->dctx, dst, raw, body, stored);
    return ZSTD_isError(n) || n != raw ? -EIO : 0;
}

int cas__unpack(struct cas *c, const struct cas_id *id, const uint8_t *record, uint32_t stored, uint32_t raw,
                struct buf *out)
{
    struct cas_hash h;
    struct cas_id is;
    /* A frame says how long its content is; one that says otherwise than the record is not worth the memory. */
    if (stored < raw && ZSTD_getFrameContentSize(record + HEAD_SIZE, stored) != raw)
        return -EIO;
    struct mem_account *own = mem_use(c->caller);
    int r = buf_reserve(out, raw);
    mem_use(own);
    if (r < 0)
        return r;
    uint8_t *dst = (uint8_t *)out->p + out->n;
    r = expand(c, record + HEAD_SIZE, stored, dst, raw);
    if (r == 0) {
        cas_hash_init(&h);
        cas_hash_add(&h, dst, raw);
        cas_hash_end(&h, is.b);
        r = cas_id_cmp(&is, id) == 0 ? 0 : -EIO;
    }
    if (out->cap) {
        out->n += r == 0 ? raw : 0;
        out->p[out->n] = 0;
    }
    return r;
}

/* Below this a call of zstd costs more than all else that storing the blob does, for some two hundred bytes: the pages
 * of a tree that each command writes anew are that short. */
#define COMPRESS_LEAST 1024

/* How zstd looks for matches. A blob is a page of a file, so most are a few KiB, and the time goes into looking, not
 * into coding: steps of sixteen bytes where nothing matches take three fifths of the time of level 1. The negative
 * levels step as far but leave literals as they are, which costs more bytes than it spares time.
 * docs/internals/store.md has the figures. */
static const struct {
    ZSTD_cParameter name;
    int value;
} how[] = {
    {ZSTD_c_compressionLevel, 1},
    {ZSTD_c_strategy, ZSTD_fast},
    {ZSTD_c_minMatch, 6},
    {ZSTD_c_targetLength, 16}, /* the step */
    {ZSTD_c_literalCompressionMode, ZSTD_ps_enable},
};

/* The parameters stay with the context from blob to blob. */
static ZSTD_CCtx *new_cctx(void)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    for (size_t i = 0; z && i < sizeof(how) / sizeof(how[0]); i++)
        (void)ZSTD_CCtx_setParameter(z, how[i].name, how[i].value); /* one it does not know only costs */
    return z;
}

uint32_t cas__compress(struct cas *c, struct str data, uint8_t *dst)
{
    if (data.n >= COMPRESS_LEAST) {
        if (!c->cctx)
            c->cctx = new_cctx();
        size_t n = c->cctx ? ZSTD_compress2(c->cctx, dst, data.n - data.n / 8, data.p, data.n) : 0;
        if (c->cctx && !ZSTD_isError(n))
            return (uint32_t)n;
    }
    if (data.n)
        memcpy(dst, data.p, data.n);
    return (uint32_t)data.n;
}

/* ---- scanning ---- */

#define WINDOW ((size_t)128 << 10)

void cas__scan_init(struct scan *s, int fd, uint64_t uid, uint64_t from, uint64_t end)
{
    *s = (struct scan){.fd = fd, .uid = uid, .next = from, .end = end};
}

void cas__scan_done(struct scan *s)
{
    mem_free(s->p);
    s->p = NULL;
}

/* The bytes [@off, @off + @n), which lie before s->end. *ret is NULL when the file is shorter than it was. */
static int window(struct scan *s, uint64_t off, size_t n, const uint8_t **ret)
{
    *ret = NULL;
    if (!s->p || off < s->base || off + n > s->base + s->n) {
        size_t want = (size_t)NUM_MIN((uint64_t)NUM_MAX(n, WINDOW), s->end - off);
        if (want > s->cap) {
            uint8_t *p = mem_try(NUM_MAX(want, WINDOW));
            if (!p)
                return -ENOMEM;
            mem_free(s->p);
            s->p = p;
            s->cap = NUM_MAX(want, WINDOW);
        }
        ssize_t got = cas__pread(s->fd, s->p, want, off);
        s->base = off;
        s->n = got < 0 ? 0 : (size_t)got;
        if (got < 0)
            return (int)got;
    }
    if (off + n <= s->base + s->n)
        *ret = s->p + (off - s->base);
    return 0;
}

/* Whether a record's header is at @off, with room for its bytes before the end: 1, 0 or an error. */
static int header_at(struct scan *s, uint64_t off, struct rec *ret)
{
    const uint8_t *h;
    if (s->end - off < HEAD_SIZE)
        return 0;
    int r = window(s, off, HEAD_SIZE, &h);
    if (r < 0 || !h)
        return r;
    return cas__rec_get(h, s->uid + off, ret) && ret->stored <= s->end - off - HEAD_SIZE;
}

/* The next offset after @off at which a header is, or the end. */
static int find_header(struct scan *s, uint64_t off, uint64_t *ret)
{
    while (s->end - off > HEAD_SIZE) {
        const uint8_t *p;
        struct rec rec;
        off++;
        int r = window(s, off, HEAD_SIZE, &p);
        if (r < 0)
            return r;
        if (!p)
            break;
        size_t n = s->n - (size_t)(off - s->base);
        const uint8_t *q = memmem(p, n, cas__rec_magic, sizeof(cas__rec_magic));
        if (!q) {
            /* The magic may begin in the last bytes of the window. */
            off += n - sizeof(cas__rec_magic);
            continue;
        }
        off += (uint64_t)(q - p);
        r = header_at(s, off, &rec);
        if (r < 0)
            return r;
        if (r) {
            *ret = off;
            return 0;
        }
    }
    *ret = s->end;
    return 0;
}

int cas__scan_next(struct scan *s)
{
    if (s->next >= s->end)
        return SCAN_END;
    s->off = s->next;
    int r = header_at(s, s->off, &s->rec);
    if (r < 0)
        return r;
    if (!r) {
        r = find_header(s, s->off, &s->next);
        s->len = s->next - s->off;
        return r < 0 ? r : SCAN_BAD;
    }
    s->len = HEAD_SIZE + (uint64_t)s->rec.stored;
    r = window(s, s->off, (size_t)s->len, &s->body);
    if (r < 0)
        return r;
    s->next = s->off + s->len;
    if (!s->body)
        return SCAN_BAD_BODY;
    s->body += HEAD_SIZE;
    return cas__sum(s->body, s->rec.stored, 0) == s->rec.sum ? SCAN_RECORD : SCAN_BAD_BODY;
}
