/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Prints what storing a tree costs, in nanoseconds of wall time, as what it is compared with waits for the same disk.
 *
 *   bench_image first STORE TREE           TREE, a directory of the host, is read into a tree (not measured) and
 * stored: "PUT SYNC BYTES WRITTEN" bench_image change STORE DIRS EACH ROUNDS text|random a tree of DIRS directories
 * with EACH files of 4 KiB is stored; then, in each round, one file in each directory is written anew and the tree
 * stored: medians "PUT SYNC BYTES WRITTEN"
 *
 * STORE is a directory that is made. PUT ends when the kernel has everything, SYNC is the wait for the disk after it.
 * BYTES are those of the files that are new, WRITTEN those by which the store has grown.
 */

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "vfs/image.h"

#define FILE_SIZE 4096
#define MOST_ROUNDS 1000
#define OPEN_DIRS 16

static const struct vfs_cred root;
static const struct vfs_ctx ctx = {.cred = &root, .cwd = VFS_ROOT_INO, .umask = 022};
static const struct vfs_quota quota = {UINT64_C(1) << 40, UINT64_C(1) << 24};

static struct vfs *tree;
static size_t prefix; /* of the host's paths, that the tree's have not */
static uint64_t bytes;

static void must(int r, const char *what)
{
    if (r < 0) {
        fprintf(stderr, "bench_image: %s: %d\n", what, r);
        exit(1);
    }
}

static void put_file(const char *path, const void *p, size_t n)
{
    struct vfs_handle *h;
    must(vfs_open(tree, &ctx, VFS_ROOT_INO, str_c(path), O_WRONLY | O_CREAT | O_TRUNC, 0644, &h), path);
    must((int)vfs_pwrite(h, p, n, 0, NULL), path);
    vfs_close(h);
    bytes += n;
}

/* ---- what a store grows by ---- */

struct store {
    struct cas *c;
    struct vfs_canon *known;
    uint64_t size;
};

struct cost {
    int64_t put, sync;
    uint64_t bytes, written;
};

static struct store open_store(const char *dir)
{
    struct store s = {.known = vfs_canon_new()};
    must(mkdir(dir, 0755), dir);
    must(cas_open(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), CAS_WRITE | CAS_CREATE, &s.c, NULL), dir);
    return s;
}

static void close_store(struct store *s)
{
    vfs_canon_free(s->known);
    vfs_free(tree); /* what of it is in the store only, is read from there */
    cas_close(s->c);
}

static struct cost store_tree(struct store *s)
{
    struct cas_id id, image;
    struct cas_stat st;
    struct cost k = {.bytes = bytes};
    int64_t t = clock_mono();
    must(vfs_image_store(tree, s->known, s->c, &id, &image), "store");
    must(cas_flush(s->c), "flush");
    k.put = clock_mono() - t;
    t = clock_mono();
    must(cas_sync(s->c), "sync");
    k.sync = clock_mono() - t;
    must(cas_stat(s->c, &st), "stat");
    k.written = st.stored_bytes - s->size;
    s->size = st.stored_bytes;
    bytes = 0;
    return k;
}

static void say(const struct cost *k)
{
    printf("%lld %lld %llu %llu\n", (long long)k->put, (long long)k->sync, (unsigned long long)k->bytes,
           (unsigned long long)k->written);
}

/* ---- the first time ---- */

static int copy_in(const char *path, const struct stat *st, int type, struct FTW *at)
{
    const char *name = path + prefix;
    (void)at;
    if (type == FTW_D && *name)
        must(vfs_mkdir(tree, &ctx, VFS_ROOT_INO, str_c(name), 0755), name);
    if (type != FTW_F)
        return 0;
    size_t n = (size_t)st->st_size;
    MEM_AUTO char *p = mem_alloc(n + 1);
    FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd < 0 || read(fd, p, n) != (ssize_t)n ? -1 : 0, path);
    put_file(name, p, n);
    return 0;
}

static void first(const char *dir, const char *from)
{
    prefix = strlen(from);
    must(nftw(from, copy_in, OPEN_DIRS, FTW_PHYS), from);
    struct store s = open_store(dir);
    struct cost k = store_tree(&s);
    say(&k);
    close_store(&s);
}

/* ---- after a change ---- */

static uint64_t state = 42;

static uint64_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Words of a small dictionary and numbers, about a third of its size when compressed; or bytes that do not compress. */
static void fill(char *p, size_t n, bool text)
{
    static const char *const words[] = {"struct ", "return ", "int ", "static ", "const ", "if (",  ") {\n    ", "}\n",
                                        "size_t ", "-> ",     " = ",  "0;\n",    "name",   "index", "for (",     "; "};
    for (size_t at = 0; at < n;) {
        uint64_t r = next();
        char number[24];
        snprintf(number, sizeof(number), "%llx", (unsigned long long)(r >> 40));
        const char *w = r >> 60 < 6 ? number : words[r % (sizeof(words) / sizeof(words[0]))];
        size_t len = text ? strlen(w) : sizeof(r);
        len = len < n - at ? len : n - at;
        memcpy(p + at, text ? (const void *)w : &r, len);
        at += len;
    }
}

static void write_one(unsigned dir, unsigned file, bool text)
{
    char path[64], p[FILE_SIZE];
    snprintf(path, sizeof(path), "/d%u/f%u", dir, file);
    fill(p, sizeof(p), text);
    put_file(path, p, sizeof(p));
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *v, size_t n)
{
    qsort(v, n, sizeof(*v), by_number);
    return v[n / 2];
}

static void change(const char *dir, unsigned dirs, unsigned each, unsigned rounds, bool text)
{
    static uint64_t put[MOST_ROUNDS], sync_[MOST_ROUNDS], written[MOST_ROUNDS];
    for (unsigned d = 0; d < dirs; d++) {
        char path[32];
        snprintf(path, sizeof(path), "/d%u", d);
        must(vfs_mkdir(tree, &ctx, VFS_ROOT_INO, str_c(path), 0755), path);
        for (unsigned f = 0; f < each; f++)
            write_one(d, f, text);
    }
    struct store s = open_store(dir);
    struct cost k = store_tree(&s);
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned d = 0; d < dirs; d++)
            write_one(d, (unsigned)(next() >> 32) % each, text);
        k = store_tree(&s);
        put[i] = (uint64_t)k.put;
        sync_[i] = (uint64_t)k.sync;
        written[i] = k.written;
    }
    k = (struct cost){(int64_t)median(put, rounds), (int64_t)median(sync_, rounds), k.bytes, median(written, rounds)};
    say(&k);
    close_store(&s);
}

int main(int argc, char **argv)
{
    uint64_t dirs, each, rounds;
    tree = vfs_new(&quota);
    must(tree ? 0 : -1, "vfs_new");
    if (argc == 4 && strcmp(argv[1], "first") == 0) {
        first(argv[2], argv[3]);
    } else if (argc == 7 && strcmp(argv[1], "change") == 0 && str_u64(str_c(argv[3]), &dirs) == 0 &&
               str_u64(str_c(argv[4]), &each) == 0 && str_u64(str_c(argv[5]), &rounds) == 0 && rounds > 0 &&
               rounds <= MOST_ROUNDS && each > 0) {
        change(argv[2], (unsigned)dirs, (unsigned)each, (unsigned)rounds, strcmp(argv[6], "text") == 0);
    } else {
        fprintf(stderr, "usage: bench_image first STORE TREE\n"
                        "       bench_image change STORE DIRS EACH ROUNDS text|random\n");
        return 2;
    }
    return 0;
}
