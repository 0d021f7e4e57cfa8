/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A store whose files hold anything. The first byte picks what the rest is: a pack, an index, a log, or the stored
 * bytes of a record. Sums are made right before the store sees them, or nothing behind a sum would ever be reached.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/num.h"
#include "cas/cas_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define UID UINT64_C(0x1122334455667788)

static int dir = -1, packs = -1;
static char path[64];

static void remove_store(void)
{
    static const enum cas_ext all[] = {EXT_PACK, EXT_LOG, EXT_INDEX, EXT_TMP};
    for (uint32_t num = 1; num < 4; num++) {
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
            (void)cas__unlink(packs, num, all[i]);
    }
}

static void remove_dir(void)
{
    remove_store();
    unlinkat(dir, "packs", AT_REMOVEDIR);
    unlinkat(dir, "lock", 0);
    rmdir(path);
}

static void make_dir(void)
{
    snprintf(path, sizeof(path), "/dev/shm/cas-fuzz-XXXXXX");
    if (!mkdtemp(path)) {
        snprintf(path, sizeof(path), "/tmp/cas-fuzz-XXXXXX");
        ASSERT(mkdtemp(path));
    }
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT(dir >= 0 && mkdirat(dir, "packs", 0755) == 0);
    packs = openat(dir, "packs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT(packs >= 0);
    atexit(remove_dir);
}

static void write_file(uint32_t num, enum cas_ext ext, const uint8_t *p, size_t n)
{
    int err, fd = cas__open(packs, num, ext, O_WRONLY | O_CREAT | O_TRUNC);
    ASSERT(fd >= 0);
    cas__pwrite(fd, str_of((const char *)p, n), str_of(NULL, 0), 0, &err);
    ASSERT(err == 0);
    close(fd);
}

/* Gives @p a record's header where it has the magic, with the sums that belong there. */
static void seal_records(uint8_t *p, size_t n)
{
    for (size_t at = HEAD_SIZE; n - at >= HEAD_SIZE;) {
        if (memcmp(p + at, cas__rec_magic, 4) != 0) {
            at++;
            continue;
        }
        uint32_t stored = cas__get32(p + at + 8);
        size_t has = NUM_MIN((size_t)stored, n - at - HEAD_SIZE);
        cas__put64(p + at + 48, cas__sum(p + at + HEAD_SIZE, has, 0));
        cas__rec_seal(p + at, UID + at);
        at += HEAD_SIZE + has;
    }
}

/* A pack of three records, one of them compressed by name only. */
static void write_sound_pack(uint32_t num)
{
    uint8_t p[HEAD_SIZE + 3 * (HEAD_SIZE + 8)] = {0};
    cas__head_put(p, EXT_PACK, UID);
    for (unsigned i = 0; i < 3; i++) {
        struct rec r = {.stored = 8, .raw = i == 2 ? 1u << 16 : 8};
        memset(&r.id, (int)i, sizeof(r.id));
        cas__rec_put(p + HEAD_SIZE + i * (HEAD_SIZE + 8), &r);
    }
    seal_records(p, sizeof(p));
    write_file(num, EXT_PACK, p, sizeof(p));
}

static void write_index(uint8_t *p, size_t n)
{
    if (n < HEAD_SIZE + FANOUT_SIZE)
        return;
    struct index_head h = {.uid = UID,
                           .pack_size = cas__get64(p + 24),
                           .count = (uint32_t)((n - HEAD_SIZE - FANOUT_SIZE) / ENTRY_SIZE),
                           .sum = cas__sum(p + HEAD_SIZE, n - HEAD_SIZE, 0),
                           .final = p[48] & 1};
    cas__index_put(p, &h);
}

static void seal_log(uint8_t *p, size_t n)
{
    if (n < HEAD_SIZE)
        return;
    cas__head_put(p, EXT_LOG, UID);
    for (size_t at = HEAD_SIZE; n - at >= HEAD_SIZE; at += HEAD_SIZE)
        cas__put64(p + at + 56, cas__sum(p + at, 56, UID + at));
}

static void write_record(const uint8_t *p, size_t n)
{
    uint8_t *q = mem_zalloc(2 * HEAD_SIZE + n);
    struct rec r = {.stored = (uint32_t)n, .raw = n >= 4 ? cas__get32(p) % (LIMIT_CAS_BLOB + 1) : 0};
    cas__head_put(q, EXT_PACK, UID);
    cas__rec_put(q + HEAD_SIZE, &r);
    if (n)
        memcpy(q + 2 * HEAD_SIZE, p, n);
    seal_records(q, 2 * HEAD_SIZE + n);
    write_file(1, EXT_PACK, q, 2 * HEAD_SIZE + n);
    mem_free(q);
}

static void ignore(void *arg, const struct cas_id *id, const char *what)
{
    (void)arg;
    (void)id;
    ASSERT(what);
}

/* Everything that one can do with a store. */
static void use(const uint8_t *data, size_t size, int flags)
{
    struct cas *c;
    struct cas_stat st;
    struct cas_gc *gc;
    uint64_t blobs, bytes;
    int any = 0; /* every answer is right but a crash */
    BUF_AUTO struct buf out;
    buf_init(&out, LIMIT_CAS_BLOB);
    if (cas_open(dup(dir), flags, &c, NULL) < 0)
        return;
    (void)cas_stat(c, &st);
    for (size_t at = 0; at + CAS_HASH_SIZE <= size && at < 1024; at += 16) {
        struct cas_id id;
        memcpy(id.b, data + at, sizeof(id.b));
        buf_clear(&out);
        (void)cas_has(c, &id);
        any |= cas_get(c, &id, &out);
    }
    for (int i = 0; i < 3; i++) {
        struct cas_id id;
        memset(&id, i, sizeof(id));
        buf_clear(&out);
        any |= cas_get(c, &id, &out);
    }
    (void)cas_fsck(c, ignore, NULL, NULL);
    if (flags & CAS_WRITE) {
        struct cas_id id;
        any |= cas_put(c, STR("new"), &id);
        if (cas_flush(c) == 0) {
            buf_clear(&out);
            ASSERT(cas_get(c, &id, &out) == 0 && str_eqc(buf_str(&out), "new"));
        }
        any |= cas_sync(c);
        if (cas_gc_begin(c, 0, &gc, NULL) == 0) {
            (void)cas_gc_mark(gc, &id);
            (void)cas_gc_sweep(gc, false, &blobs, &bytes);
        }
    }
    ASSERT(any <= 0);
    cas_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (dir < 0)
        make_dir();
    if (size == 0)
        return 0;
    size_t n = size - 1;
    uint8_t *p = mem_alloc(n + 1);
    memcpy(p, data + 1, n);
    remove_store();
    switch (data[0] % 4) {
    case 0:
        if (n >= HEAD_SIZE) {
            cas__head_put(p, EXT_PACK, UID);
            seal_records(p, n);
        }
        write_file(1, EXT_PACK, p, n);
        break;
    case 1:
        write_sound_pack(1);
        write_index(p, n);
        write_file(1, EXT_INDEX, p, n);
        break;
    case 2:
        write_sound_pack(1);
        seal_log(p, n);
        write_file(1, EXT_LOG, p, n);
        break;
    default:
        write_record(p, n);
        break;
    }
    int lock = openat(dir, "lock", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ASSERT(lock >= 0);
    ASSERT(write(lock, "frontal-cas 1\n", 14) == 14);
    close(lock);
    use(p, n, 0);
    use(p, n, CAS_WRITE | CAS_CREATE);
    mem_free(p);
    return 0;
}
