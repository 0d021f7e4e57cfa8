/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Two ways to cut a long file into blobs, after two changes: pages of a fixed size, as the tree has them, and chunks
 * that end where their content says (a gear hash; 16 KiB to 256 KiB, 64 KiB on average behind the least). The file does
 * not compress, so that only what is cut counts.
 *
 *   bench_chunks MIB DIR     prints for "edit" (4 bytes in the middle) and "insert" (4 bytes at the front) a line
 *                            "WHAT FIXED-BYTES FIXED-NS CHUNKED-BYTES CHUNKED-NS": new bytes in the store, and CPU time
 *                            to find and put them. Fixed pages know which of them was written (all, of an insertion);
 *                            chunks are looked for in the whole file.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cas/store.h"

#define PAGE 65536u
#define LEAST 16384u
#define MOST 262144u
#define MASK (UINT64_C(0xffff) << 48) /* one place in 65,536 */

static uint64_t gear[256];

static void must(int r)
{
    if (r < 0) {
        fprintf(stderr, "bench_chunks: %d\n", r);
        exit(1);
    }
}

static uint64_t next(void)
{
    static uint64_t state = 42;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

static struct cas *open_store(const char *dir, const char *name)
{
    char path[4096];
    struct cas *c;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    must(mkdir(path, 0755));
    must(cas_open(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), CAS_WRITE | CAS_CREATE, &c, NULL));
    return c;
}

struct cost {
    uint64_t bytes;
    int64_t ns;
};

static uint64_t put_bytes(struct cas *c)
{
    struct cas_stat st;
    must(cas_stat(c, &st));
    return st.put_bytes;
}

static struct cost put_fixed(struct cas *c, const uint8_t *p, size_t from, size_t to)
{
    struct cas_id id;
    uint64_t before = put_bytes(c);
    int64_t t = clock_cpu();
    for (size_t at = from / PAGE * PAGE; at < to; at += PAGE)
        must(cas_put(c, str_of((const char *)p + at, to - at < PAGE ? to - at : PAGE), &id));
    must(cas_flush(c));
    t = clock_cpu() - t;
    return (struct cost){put_bytes(c) - before, t};
}

static size_t chunk(const uint8_t *p, size_t n)
{
    uint64_t h = 0;
    size_t i = LEAST;
    if (n <= LEAST)
        return n;
    n = n < MOST ? n : MOST;
    while (i < n) {
        h = (h << 1) + gear[p[i++]];
        if ((h & MASK) == 0)
            break;
    }
    return i;
}

static struct cost put_chunks(struct cas *c, const uint8_t *p, size_t n)
{
    struct cas_id id;
    uint64_t before = put_bytes(c);
    int64_t t = clock_cpu();
    for (size_t at = 0, len; at < n; at += len) {
        len = chunk(p + at, n - at);
        must(cas_put(c, str_of((const char *)p + at, len), &id));
    }
    must(cas_flush(c));
    t = clock_cpu() - t;
    return (struct cost){put_bytes(c) - before, t};
}

static void say(const char *what, struct cost fixed, struct cost chunks)
{
    printf("%s %llu %lld %llu %lld\n", what, (unsigned long long)fixed.bytes, (long long)fixed.ns,
           (unsigned long long)chunks.bytes, (long long)chunks.ns);
}

int main(int argc, char **argv)
{
    uint64_t mib = 0;
    if (argc != 3 || str_u64(str_c(argv[1]), &mib) < 0 || mib == 0 || mib > 1024) {
        fprintf(stderr, "usage: bench_chunks MIB DIR\n");
        return 2;
    }
    size_t n = (size_t)mib << 20, middle = n / 2 / PAGE * PAGE + 1000;
    uint8_t *p = mem_alloc(n + 4);
    for (unsigned i = 0; i < 256; i++)
        gear[i] = next();
    for (size_t i = 0; i < n; i += 8) {
        uint64_t r = next();
        memcpy(p + i, &r, 8);
    }
    struct cas *fixed = open_store(argv[2], "fixed"), *chunks = open_store(argv[2], "chunks");
    say("first", put_fixed(fixed, p, 0, n), put_chunks(chunks, p, n));
    memcpy(p + middle, "edit", 4);
    say("edit", put_fixed(fixed, p, middle, (middle / PAGE + 1) * PAGE), put_chunks(chunks, p, n));
    memmove(p + 4, p, n);
    memcpy(p, "more", 4);
    say("insert", put_fixed(fixed, p, 0, n + 4), put_chunks(chunks, p, n + 4));
    cas_close(fixed);
    cas_close(chunks);
    mem_free(p);
    return 0;
}
