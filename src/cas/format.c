/* SPDX-License-Identifier: Apache-2.0 */
#include "cas/cas_int.h"

#include <endian.h>
#include <errno.h>

/*
 * The layouts, as docs/internals/store.md gives them: little-endian, every head 64 bytes with a sum over the first 56
 * in the last 8. Here and nowhere else bytes become numbers; each is checked before it leaves.
 */

#define SUM_AT 56

const char cas__rec_magic[4] = {'F', 'R', 'E', 'C'};
static const char magic[][8] = {
    [EXT_PACK] = {'F', 'C', 'A', 'S', 'P', 'A', 'C', 'K'},
    [EXT_LOG] = {'F', 'C', 'A', 'S', 'L', 'O', 'G', '\n'},
    [EXT_INDEX] = {'F', 'C', 'A', 'S', 'I', 'D', 'X', '\n'},
};

void cas__put32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof(v));
}

void cas__put64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof(v));
}

uint32_t cas__get32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return le32toh(v);
}

uint64_t cas__get64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return le64toh(v);
}

/* ---- XXH64 ---- */

#define P1 UINT64_C(0x9E3779B185EBCA87)
#define P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define P3 UINT64_C(0x165667B19E3779F9)
#define P4 UINT64_C(0x85EBCA77C2B2AE63)
#define P5 UINT64_C(0x27D4EB2F165667C5)

static inline uint64_t rotl(uint64_t v, int n)
{
    return v << n | v >> (64 - n);
}

static inline uint64_t turn(uint64_t acc, uint64_t v)
{
    return rotl(acc + v * P2, 31) * P1;
}

static inline uint64_t merge(uint64_t h, uint64_t v)
{
    return (h ^ turn(0, v)) * P1 + P4;
}

uint64_t cas__sum(const void *data, size_t n, uint64_t seed)
{
    const uint8_t *p = data, *end = p + n;
    uint64_t h = seed + P5;
    if (n >= 32) {
        uint64_t a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
        for (; end - p >= 32; p += 32) {
            a = turn(a, cas__get64(p));
            b = turn(b, cas__get64(p + 8));
            c = turn(c, cas__get64(p + 16));
            d = turn(d, cas__get64(p + 24));
        }
        h = merge(merge(merge(merge(rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18), a), b), c), d);
    }
    h += n;
    for (; end - p >= 8; p += 8)
        h = rotl(h ^ turn(0, cas__get64(p)), 27) * P1 + P4;
    if (end - p >= 4) {
        h = rotl(h ^ cas__get32(p) * P1, 23) * P2 + P3;
        p += 4;
    }
    for (; p < end; p++)
        h = rotl(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

static void seal(uint8_t p[HEAD_SIZE], uint64_t seed)
{
    cas__put64(p + SUM_AT, cas__sum(p, SUM_AT, seed));
}

static bool sealed(const uint8_t p[HEAD_SIZE], uint64_t seed)
{
    return cas__get64(p + SUM_AT) == cas__sum(p, SUM_AT, seed);
}

/* ---- records ---- */

bool cas__lengths_ok(uint32_t stored, uint32_t raw)
{
    return raw <= LIMIT_CAS_BLOB && stored <= raw && (stored > 0 || raw == 0);
}

void cas__rec_put(uint8_t p[HEAD_SIZE], const struct rec *r)
{
    memcpy(p, cas__rec_magic, 4);
    cas__put32(p + 4, r->stored < r->raw);
    cas__put32(p + 8, r->stored);
    cas__put32(p + 12, r->raw);
    memcpy(p + 16, r->id.b, CAS_HASH_SIZE);
    cas__put64(p + 48, r->sum);
}

void cas__rec_seal(uint8_t p[HEAD_SIZE], uint64_t place)
{
    seal(p, place);
}

bool cas__rec_get(const uint8_t p[HEAD_SIZE], uint64_t place, struct rec *ret)
{
    struct rec r = {.stored = cas__get32(p + 8), .raw = cas__get32(p + 12), .sum = cas__get64(p + 48)};
    if (memcmp(p, cas__rec_magic, 4) != 0 || !cas__lengths_ok(r.stored, r.raw) ||
        cas__get32(p + 4) != (r.stored < r.raw) || !sealed(p, place))
        return false;
    memcpy(r.id.b, p + 16, CAS_HASH_SIZE);
    *ret = r;
    return true;
}

/* ---- packs, logs, indexes ---- */

void cas__head_put(uint8_t p[HEAD_SIZE], enum cas_ext ext, uint64_t uid)
{
    memset(p, 0, HEAD_SIZE);
    memcpy(p, magic[ext], 8);
    cas__put32(p + 8, STORE_VERSION);
    cas__put64(p + 16, uid);
    seal(p, 0);
}

/* Kind and version are looked at before the sum: another version may have another layout behind them. */
static int check_head(const uint8_t p[HEAD_SIZE], enum cas_ext ext)
{
    if (memcmp(p, magic[ext], 8) != 0)
        return -EIO;
    if (sealed(p, 0))
        return cas__get32(p + 8) == STORE_VERSION ? 0 : -EINVAL;
    return -EIO;
}

int cas__head_get(const uint8_t p[HEAD_SIZE], enum cas_ext ext, uint64_t *ret_uid)
{
    int r = check_head(p, ext);
    if (r == 0)
        *ret_uid = cas__get64(p + 16);
    return r;
}

void cas__log_put(uint8_t p[HEAD_SIZE], const struct log_entry *e, uint64_t place)
{
    memset(p, 0, HEAD_SIZE);
    memcpy(p, e->id.b, CAS_HASH_SIZE);
    cas__put64(p + 32, e->off);
    cas__put32(p + 40, e->stored);
    cas__put32(p + 44, e->raw);
    cas__put32(p + 48, e->kind);
    seal(p, place);
}

bool cas__log_get(const uint8_t p[HEAD_SIZE], uint64_t place, struct log_entry *ret)
{
    struct log_entry e = {.off = cas__get64(p + 32), .stored = cas__get32(p + 40), .raw = cas__get32(p + 44)};
    uint32_t kind = cas__get32(p + 48);
    if ((kind != LOG_BLOB && kind != LOG_SYNCED) || !cas__lengths_ok(e.stored, e.raw) || !sealed(p, place))
        return false;
    e.kind = (enum log_kind)kind;
    memcpy(e.id.b, p, CAS_HASH_SIZE);
    *ret = e;
    return true;
}

void cas__index_put(uint8_t p[HEAD_SIZE], const struct index_head *h)
{
    cas__head_put(p, EXT_INDEX, h->uid);
    cas__put32(p + 12, h->count);
    cas__put64(p + 24, h->pack_size);
    cas__put64(p + 32, h->raw);
    cas__put64(p + 40, h->sum);
    cas__put32(p + 48, h->final);
    seal(p, 0);
}

int cas__index_get(const uint8_t p[HEAD_SIZE], struct index_head *ret)
{
    int r = check_head(p, EXT_INDEX);
    if (r < 0)
        return r;
    *ret = (struct index_head){.uid = cas__get64(p + 16),
                               .pack_size = cas__get64(p + 24),
                               .raw = cas__get64(p + 32),
                               .sum = cas__get64(p + 40),
                               .count = cas__get32(p + 12),
                               .final = cas__get32(p + 48) & 1};
    return ret->pack_size >= HEAD_SIZE && ret->pack_size <= INT64_MAX ? 0 : -EIO;
}

int cas_id_cmp(const struct cas_id *a, const struct cas_id *b)
{
    return memcmp(a->b, b->b, CAS_HASH_SIZE);
}
