/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sessions that nobody uses: what they cost, and what opening one of many costs.
 *
 *   bench_parked make STATE N             makes sessions p0 to p(N-1), forks of one: prints ns for each fork
 *   bench_parked open N STATE N STATE...  prints for each STATE, in turn, the median ns of opening one of its N
 * sessions (its lock, its log's end, its tree's first pages), and the bytes by which this process has grown meanwhile,
 * for each session
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "snapshot/state.h"
#include "vfs/image.h"

#define ROUNDS 501
#define MOST_STATES 4

static const struct vfs_cred root;
static const struct vfs_ctx ctx = {.cred = &root, .cwd = VFS_ROOT_INO, .umask = 022};

static void must(int r, const struct err *err)
{
    if (r < 0) {
        fprintf(stderr, "bench_parked: %d: %s\n", r, err->text);
        exit(1);
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* ---- making ---- */

static struct trace_state make_tree(struct state *s)
{
    static const struct vfs_quota quota = {UINT64_C(1) << 30, UINT64_C(1) << 20};
    struct err err = {0};
    struct trace_state st = {0};
    struct vfs *v = vfs_new(&quota);
    struct vfs_canon *k = vfs_canon_new();
    struct vfs_handle *h;
    struct cas *c;
    must(vfs_open(v, &ctx, VFS_ROOT_INO, STR("/file"), O_WRONLY | O_CREAT, 0644, &h), &err);
    vfs_close(h);
    must(state_store(s, CAS_WRITE | CAS_CREATE, &c, &err), &err);
    must(vfs_image_store(v, k, c, &st.root, &st.image), &err);
    must(cas_sync(c), &err);
    vfs_canon_free(k);
    vfs_free(v);
    cas_close(c);
    return st;
}

static void make_origin(struct state *s)
{
    struct err err = {0};
    struct state_session ses;
    struct trace *t;
    struct trace_event e = {.type = TRACE_CREATED, .u.created = {.config = STR("user=user\n"), .state = make_tree(s)}};
    must(state_session_create(s, STR("origin"), &ses, &err), &err);
    e.u.created.session = str_c(ses.id);
    must(trace_open(fd_steal(&ses.trace_fd), TRACE_APPEND | TRACE_NEW, &t, NULL, &err), &err);
    must(trace_append(t, &e), &err);
    must(trace_sync(t), &err);
    trace_close(t);
    must(state_session_commit(s, &ses, &err), &err);
    state_session_close(&ses);
}

static void make(const char *dir, uint64_t n)
{
    struct err err = {0};
    struct state *s;
    struct state_place from;
    char name[32], id[STATE_ID_MAX];
    must(state_open(dir, true, &s, &err), &err);
    make_origin(s);
    must(state_resolve(s, STR("origin"), &from, &err), &err);
    int64_t t = clock_mono();
    for (uint64_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "p%llu", (unsigned long long)i);
        must(state_fork(s, &from, str_c(name), id, &err), &err);
    }
    printf("%lld\n", (long long)((clock_mono() - t) / (int64_t)n));
    state_place_done(&from);
    state_close(s);
}

/* ---- opening ---- */

/* As a process does that is to run the next command in it. */
static int64_t open_one(const char *dir, uint64_t number)
{
    struct err err = {0};
    struct state *s;
    struct state_session ses;
    struct trace *t;
    struct trace_state st;
    struct cas *c;
    struct vfs *v;
    struct vfs_canon *k;
    uint64_t seq, ino;
    char name[32];
    snprintf(name, sizeof(name), "p%llu", (unsigned long long)number);
    int64_t begin = clock_mono();
    must(state_open(dir, false, &s, &err), &err);
    must(state_session_open(s, str_c(name), true, 0, &ses, &err), &err);
    must(trace_open(fd_steal(&ses.trace_fd), TRACE_APPEND, &t, NULL, &err), &err);
    must(state_last(t, &seq, &st, &err), &err);
    must(state_store(s, CAS_WRITE, &c, &err), &err);
    must(state_tree(c, &st, &v, &k, &err), &err);
    must(vfs_lookup(v, &ctx, VFS_ROOT_INO, STR("/file"), 0, &ino), &err);
    int64_t ns = clock_mono() - begin;
    vfs_canon_free(k);
    vfs_free(v);
    cas_close(c);
    trace_close(t);
    state_session_close(&ses);
    state_close(s);
    return ns;
}

/* Bytes of this process that are in memory. */
static int64_t resident(void)
{
    unsigned long long size, pages;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%llu %llu", &size, &pages) != 2) {
        perror("statm");
        exit(1);
    }
    fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static void open_all(int n, char **args)
{
    static int64_t first[MOST_STATES][ROUNDS], again[MOST_STATES][ROUNDS];
    uint64_t count[MOST_STATES], all = 0, at = 1;
    int states = n / 2;
    for (int i = 0; i < states; i++) {
        struct err err = {.text = "not a number"};
        must(str_u64(str_c(args[2 * i]), &count[i]), &err);
        all += count[i];
        (void)open_one(args[2 * i + 1], 0);
    }
    int64_t before = resident();
    for (int k = 0; k < ROUNDS; k++) {
        at = at * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        for (int i = 0; i < states; i++) {
            first[i][k] = open_one(args[2 * i + 1], (at >> 33) % count[i]);
            again[i][k] = open_one(args[2 * i + 1], (at >> 33) % count[i]);
        }
    }
    int64_t grown = resident() - before;
    for (int i = 0; i < states; i++) {
        qsort(first[i], ROUNDS, sizeof(first[i][0]), by_value);
        qsort(again[i], ROUNDS, sizeof(again[i][0]), by_value);
        printf("%lld %lld ", (long long)first[i][ROUNDS / 2], (long long)again[i][ROUNDS / 2]);
    }
    printf("%g\n", (double)grown / (double)all);
}

int main(int argc, char **argv)
{
    uint64_t n;
    if (argc == 4 && strcmp(argv[1], "make") == 0 && str_u64(str_c(argv[3]), &n) == 0 && n > 0) {
        make(argv[2], n);
        return 0;
    }
    if (argc >= 4 && argc <= 2 + 2 * MOST_STATES && argc % 2 == 0 && strcmp(argv[1], "open") == 0) {
        open_all(argc - 2, argv + 2);
        return 0;
    }
    fprintf(stderr, "usage: bench_parked make STATE N\n       bench_parked open N STATE [N STATE]...\n");
    return 2;
}
