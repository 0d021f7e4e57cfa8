/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Prints how many nanoseconds a fork of a tree takes, with what is known of its hashes: the median of many single
 * forks, for each number of files given. The trees live at the same time and take turns, so that both meet the same
 * machine. A fork is released outside the measured time, after one write to it: a fork that nobody touches would
 * measure a counter.
 *
 *   bench_fork FILES…
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "vfs/image.h"

#define ROUNDS 2001
#define MOST_TREES 8
#define PER_DIR 1000

static const struct vfs_cred root;
static const struct vfs_ctx ctx = {.cred = &root, .cwd = VFS_ROOT_INO, .umask = 022};

static void must(int r, const char *what)
{
    if (r < 0) {
        fprintf(stderr, "bench_fork: %s: %d\n", what, r);
        exit(1);
    }
}

static void make_file(struct vfs *v, const char *path)
{
    struct vfs_handle *h;
    must(vfs_open(v, &ctx, VFS_ROOT_INO, str_c(path), O_WRONLY | O_CREAT, 0644, &h), path);
    must((int)vfs_pwrite(h, path, strlen(path), 0, NULL), path);
    vfs_close(h);
}

static struct vfs *tree_of(unsigned files)
{
    static const struct vfs_quota quota = {UINT64_C(1) << 40, UINT64_C(1) << 24};
    struct vfs *v = vfs_new(&quota);
    char path[64];
    must(v ? 0 : -1, "vfs_new");
    for (unsigned i = 0; i < files; i++) {
        if (i % PER_DIR == 0) {
            snprintf(path, sizeof(path), "/d%u", i / PER_DIR);
            must(vfs_mkdir(v, &ctx, VFS_ROOT_INO, str_c(path), 0755), path);
        }
        snprintf(path, sizeof(path), "/d%u/f%u", i / PER_DIR, i);
        make_file(v, path);
    }
    return v;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct vfs *tree[MOST_TREES];
    struct vfs_canon *known[MOST_TREES];
    struct cas_id id;
    static int64_t ns[MOST_TREES][ROUNDS];
    int n = argc - 1 < MOST_TREES ? argc - 1 : MOST_TREES;
    for (int i = 0; i < n; i++) {
        uint64_t files = 0;
        must(str_u64(str_c(argv[i + 1]), &files), "number of files");
        tree[i] = tree_of((unsigned)files);
        known[i] = vfs_canon_new();
        must(known[i] ? vfs_root_hash(tree[i], known[i], &id) : -1, "vfs_root_hash");
    }
    for (int k = 0; k < ROUNDS; k++) {
        for (int i = 0; i < n; i++) {
            int64_t t = clock_mono();
            struct vfs *f = vfs_fork(tree[i]);
            struct vfs_canon *fk = vfs_canon_fork(known[i]);
            ns[i][k] = clock_mono() - t;
            must(f && fk ? 0 : -1, "vfs_fork");
            make_file(f, "/d0/f0");
            vfs_canon_free(fk);
            vfs_free(f);
        }
    }
    for (int i = 0; i < n; i++) {
        qsort(ns[i], ROUNDS, sizeof(ns[i][0]), by_value);
        printf("%lld%c", (long long)ns[i][ROUNDS / 2], i + 1 < n ? ' ' : '\n');
        vfs_canon_free(known[i]);
        vfs_free(tree[i]);
    }
    return 0;
}
