/* SPDX-License-Identifier: Apache-2.0 */

/* The store of blobs: put, get and open, in CPU time.
 * Usage: bench_store DIR [FILES [BYTES]]: an empty directory to make it in. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cas/store.h"

static uint64_t state = 42;

static uint64_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Text as source code is: words of a small dictionary, about a third of its size when compressed. */
static void fill(char *p, size_t n)
{
    static const char *const words[] = {"struct ",   "return ", "int ",    "static ", "const ", "if (",
                                        ") {\n    ", "}\n",     "size_t ", "-> ",     " = ",    "0;\n",
                                        "uint64_t ", "name",    "index",   "for (",   "; "};
    size_t at = 0;
    while (at < n) {
        uint64_t r = next();
        char number[24];
        const char *w = words[r % (sizeof(words) / sizeof(words[0]))];
        if (r >> 60 < 6)
            snprintf(number, sizeof(number), "%llx", (unsigned long long)(r >> 40));
        for (const char *s = r >> 60 < 6 ? number : w; *s && at < n; s++)
            p[at++] = *s;
    }
}

static struct cas *open_store(const char *dir, int flags)
{
    struct cas *c;
    if (cas_open(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), flags, &c, NULL) < 0) {
        fprintf(stderr, "bench_store: cannot open %s\n", dir);
        exit(1);
    }
    return c;
}

static void say(const char *what, int64_t ns, double each)
{
    printf("%-44s %10.3f ms %10.2f us each\n", what, (double)ns / 1e6, (double)ns / 1e3 / each);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_store DIR [FILES [BYTES]]\n");
        return 2;
    }
    size_t files = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000, size = argc > 3 ? strtoul(argv[3], NULL, 10) : 4096;
    char *text = mem_alloc(files * size);
    struct cas_id *ids = mem_alloc(files * sizeof(*ids)), one;
    int bad = 0;
    fill(text, files * size);
    mkdir(argv[1], 0755);

    int64_t t = clock_cpu();
    struct cas *c = open_store(argv[1], CAS_WRITE | CAS_CREATE);
    for (size_t i = 0; i < files; i++)
        bad |= cas_put(c, str_of(text + i * size, size), &ids[i]);
    bad |= cas_flush(c);
    say("first put and flush", clock_cpu() - t, (double)files);
    t = clock_cpu();
    bad |= cas_sync(c);
    say("sync", clock_cpu() - t, 1);
    t = clock_cpu();
    for (size_t i = 0; i < files; i++)
        bad |= cas_put(c, str_of(text + i * size, size), &ids[i]);
    say("put of what is there", clock_cpu() - t, (double)files);
    struct buf out;
    buf_init(&out, LIMIT_CAS_BLOB);
    for (int round = 0; round < 2; round++) {
        t = clock_cpu();
        for (size_t i = 0; i < files; i++) {
            buf_clear(&out);
            bad |= cas_get(c, &ids[i], &out);
        }
    }
    say("get, hot", clock_cpu() - t, (double)files);
    struct cas_stat st;
    bad |= cas_stat(c, &st);
    printf("%llu blobs, %llu bytes, %llu stored\n", (unsigned long long)st.blobs, (unsigned long long)st.bytes,
           (unsigned long long)st.stored_bytes);
    cas_close(c);

    enum { RUNS = 1000 };
    t = clock_cpu();
    for (int i = 0; i < RUNS; i++)
        cas_close(open_store(argv[1], CAS_WRITE));
    say("open and close", clock_cpu() - t, RUNS);
    t = clock_cpu();
    for (int i = 0; i < RUNS; i++) {
        c = open_store(argv[1], CAS_WRITE);
        buf_clear(&out);
        bad |= cas_get(c, &ids[(size_t)i % files], &out);
        cas_close(c);
    }
    say("open, get one, close", clock_cpu() - t, RUNS);
    t = clock_cpu();
    for (int i = 0; i < RUNS; i++) {
        c = open_store(argv[1], CAS_WRITE);
        for (int k = 0; k < 5; k++) {
            int n[2] = {i, k};
            bad |= cas_put(c, str_of((const char *)n, sizeof(n)), &one);
        }
        bad |= cas_flush(c);
        cas_close(c);
    }
    say("open, put five, flush, close", clock_cpu() - t, RUNS);
    buf_done(&out);
    mem_free(text);
    mem_free(ids);
    if (bad)
        fprintf(stderr, "bench_store: a call failed\n");
    return bad != 0;
}
