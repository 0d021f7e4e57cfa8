/* SPDX-License-Identifier: Apache-2.0 */

/* Trees in the store: the invariants of vfs/image.h, with a store in memory that can lose and fail. */

#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "vfs/image.h"
#include "vfs/test/mem_store.h"
#include "vfs/test/tree.h"
#include "vfs/vfs_int.h"

static const struct vfs_quota quota = {UINT64_C(1) << 34, 1 << 21};

static struct vfs *load(struct cas *c, const struct cas_id *image, struct vfs_canon **ret_canon)
{
    struct vfs_image_env env = {.quota = quota};
    struct vfs *v = NULL;
    struct cas_id root;
    CHECK_INT(vfs_image_load(c, image, &env, &v, ret_canon, &root), 0);
    return v;
}

static struct cas_id store(struct vfs *v, struct vfs_canon *k, struct cas *c, struct cas_id *ret_root)
{
    struct cas_id image = {{0}}, root = {{0}};
    CHECK_INT(vfs_image_store(v, k, c, &root, &image), 0);
    if (ret_root)
        *ret_root = root;
    return image;
}

/* ---- comparing ---- */

static int no_change(void *arg, const struct vfs_change *c)
{
    printf("# differs: %.*s\n", (int)c->path.n, c->path.p);
    ++*(int *)arg;
    return 0;
}

static void add_stat(struct buf *out, struct vfs *v, uint64_t ino)
{
    struct vfs_stat st = {0};
    int rc = vfs_stat_ino(v, ino, &st);
    buf_addf(out, " %d ino%llu %o n%u %u:%u r%llx s%llu b%llu %lld %lld %lld %lld\n", rc, (unsigned long long)st.ino,
             st.mode, st.nlink, st.uid, st.gid, (unsigned long long)st.rdev, (unsigned long long)st.size,
             (unsigned long long)st.blocks, (long long)st.atime, (long long)st.mtime, (long long)st.ctime,
             (long long)st.btime);
}

struct dumping {
    struct vfs *v;
    struct buf *out;
};

static int dump_entry(void *arg, const struct vfs_dirent *e)
{
    const struct dumping *d = arg;
    buf_addf(d->out, "%.*s %o", (int)e->name.n, e->name.p, e->type);
    add_stat(d->out, d->v, e->ino);
    if (e->type == S_IFDIR) {
        struct dumping below = {d->v, d->out};
        CHECK_INT(vfs_dir_each(d->v, e->ino, dump_entry, &below), 0);
        buf_addc(d->out, "..\n");
    }
    return 0;
}

/* Everything that can be seen, status with times and inode numbers. */
static void dump(struct vfs *v, struct buf *out)
{
    buf_init(out, SIZE_MAX / 2);
    struct dumping d = {v, out};
    add_stat(out, v, VFS_ROOT_INO);
    CHECK_INT(vfs_dir_each(v, VFS_ROOT_INO, dump_entry, &d), 0);
}

static void check_same(struct vfs *a, struct vfs *b)
{
    struct buf ta, tb;
    int n = 0;
    dump(a, &ta);
    dump(b, &tb);
    CHECK(str_eq(buf_str(&ta), buf_str(&tb)));
    CHECK_INT(vfs_diff(a, b, no_change, &n), 0);
    CHECK_INT(n, 0);
    buf_done(&ta);
    buf_done(&tb);
    struct vfs_quota ua, ub;
    vfs_usage(a, &ua);
    vfs_usage(b, &ub);
    CHECK_INT(ua.bytes, ub.bytes);
    CHECK_INT(ua.inodes, ub.inodes);
}

/* ---- making trees ---- */

static void write_at(struct vfs *v, const char *path, size_t n, uint64_t off, uint8_t fill)
{
    struct vfs_handle *h = tree_open(v, path, O_WRONLY | O_CREAT);
    uint8_t *p = mem_alloc(n + 1);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(fill + i * 7 + i / 251);
    CHECK_INT(vfs_pwrite(h, p, n, off, NULL), (int64_t)n);
    mem_free(p);
    vfs_close(h);
}

static struct vfs *rich_tree(void)
{
    struct vfs *v = vfs_new(&quota);
    char path[64];
    tree_mkdir(v, "/d");
    tree_mkdir(v, "/d/e");
    tree_mkdir(v, "/empty");
    CHECK_INT(tree_write(v, "/d/none", ""), 0);
    CHECK_INT(tree_write(v, "/d/short", "a few bytes"), 0);
    write_at(v, "/d/e/5k", 5000, 0, 1);
    write_at(v, "/d/e/page", VFS_PAGE, 0, 2);
    write_at(v, "/d/e/long", 300000, 0, 3);
    write_at(v, "/d/e/sparse", 10, UINT64_C(1) << 33, 4);
    CHECK_INT(vfs_symlink(v, &tree_ctx, STR("../d/e/5k"), 0, STR("/d/link")), 0);
    CHECK_INT(vfs_link(v, &tree_ctx, 0, STR("/d/short"), 0, STR("/d/e/hard"), 0), 0);
    CHECK_INT(vfs_link(v, &tree_ctx, 0, STR("/d/short"), 0, STR("/d/e/harder"), 0), 0);
    CHECK_INT(vfs_mknod(v, &tree_ctx, 0, STR("/d/fifo"), S_IFIFO | 0600, 0), 0);
    CHECK_INT(vfs_mknod(v, &tree_ctx, 0, STR("/d/null"), S_IFCHR | 0666, 0x103), 0);
    tree_mkdir(v, "/many");
    for (int i = 0; i < 3000; i++) {
        snprintf(path, sizeof(path), "/many/file-%d", i);
        CHECK_INT(tree_write(v, path, i % 3 ? "same" : path), 0);
    }
    /* Zeros at the end and in the middle, a file cut back, one that had a page and has none. */
    CHECK_INT(tree_write(v, "/d/zeros", "x"), 0);
    CHECK_INT(vfs_truncate(v, tree_ino(v, "/d/zeros"), 70000), 0);
    write_at(v, "/d/cut", 200000, 0, 5);
    CHECK_INT(vfs_truncate(v, tree_ino(v, "/d/cut"), 65537), 0);
    return v;
}

TEST(loaded_is_equal)
{
    struct cas *c = mem_store_new();
    struct vfs_canon *k = vfs_canon_new(), *k2 = NULL;
    struct vfs *v = rich_tree();
    struct cas_id root, root2, image = store(v, k, c, &root);
    struct vfs *w = load(c, &image, &k2);
    uint64_t fetched = mem_store_count(c).fetched;
    CHECK(fetched < 8); /* nothing was looked at yet */
    check_same(v, w);
    CHECK_INT(vfs_root_hash(w, k2, &root2), 0);
    CHECK_INT(cas_id_cmp(&root, &root2), 0);
    (void)mem_store_count(c);
    struct cas_id again = store(w, k2, c, &root2);
    CHECK_INT(cas_id_cmp(&image, &again), 0);
    CHECK_INT(mem_store_count(c).new_bytes, 0);
    tree_check(w);
    /* Reading one file loads the way to it. */
    vfs_canon_free(k2);
    vfs_free(w);
    w = load(c, &image, &k2);
    (void)mem_store_count(c);
    CHECK_C(tree_read(w, "/d/short"), "a few bytes");
    CHECK(mem_store_count(c).fetched < 8);
    vfs_canon_free(k);
    vfs_canon_free(k2);
    vfs_free(v);
    vfs_free(w);
    mem_store_free(c);
}

/* A change costs what it changed and the way to it. */
TEST(small_changes_are_cheap)
{
    struct cas *c = mem_store_new();
    struct vfs_canon *k = vfs_canon_new();
    struct vfs *v = rich_tree();
    (void)store(v, k, c, NULL);
    (void)mem_store_count(c);
    (void)store(v, k, c, NULL);
    CHECK_INT(mem_store_count(c).new_bytes, 0);
    CHECK_INT(tree_write(v, "/many/file-1500", "changed"), 0);
    (void)store(v, k, c, NULL);
    struct mem_store_stat s = mem_store_count(c);
    CHECK(s.new_bytes < 12000);
    printf("# one short file of 3000: %llu bytes in %llu puts\n", (unsigned long long)s.new_bytes,
           (unsigned long long)s.puts);
    write_at(v, "/d/e/long", 10, 200000, 9);
    (void)store(v, k, c, NULL);
    CHECK(mem_store_count(c).new_bytes < VFS_PAGE + 12000);
    vfs_canon_free(k);
    vfs_free(v);
    mem_store_free(c);
}

/* ---- the root hash ---- */

/* A tree of the same files, made in another order each time, with detours. */
static struct vfs *shuffled(uint64_t *rng)
{
    enum { N = 60 };
    struct vfs *v = vfs_new(&quota);
    int order[N];
    char path[64], other[64];
    for (int i = 0; i < N; i++)
        order[i] = i;
    for (int i = N - 1; i > 0; i--) {
        int j = (int)(test_rand(rng) % (unsigned)(i + 1)), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "/dir%d", i);
        tree_mkdir(v, path);
    }
    for (int i = 0; i < N; i++) {
        int x = order[i];
        snprintf(path, sizeof(path), "/dir%d/f%d", x % 5, x);
        snprintf(other, sizeof(other), "/dir%d/tmp%llu", (int)(test_rand(rng) % 5), (unsigned long long)test_rand(rng));
        bool detour = test_rand(rng) % 2;
        write_at(v, detour ? other : path, (size_t)x * 3001, 0, (uint8_t)x);
        if (detour && test_rand(rng) % 2)
            write_at(v, other, 100, 190000, 1);
        if (detour) {
            CHECK_INT(vfs_truncate(v, tree_ino(v, other), (uint64_t)x * 3001), 0);
            CHECK_INT(vfs_rename(v, &tree_ctx, 0, str_c(other), 0, str_c(path), 0), 0);
        }
        if (x % 7 == 0) {
            snprintf(other, sizeof(other), "/dir%d/g%d", (x + 1) % 5, x);
            CHECK_INT(vfs_link(v, &tree_ctx, 0, str_c(path), 0, str_c(other), 0), 0);
        }
    }
    return v;
}

static struct cas_id root_of(struct vfs *v)
{
    struct vfs_canon *k = vfs_canon_new();
    struct cas_id id = {{0}};
    CHECK_INT(vfs_root_hash(v, k, &id), 0);
    vfs_canon_free(k);
    return id;
}

TEST(root_is_canonical)
{
    uint64_t rng = test_seed();
    struct vfs *first = shuffled(&rng);
    struct cas_id root = root_of(first);
    for (int i = 0; i < 30; i++) {
        struct vfs *v = shuffled(&rng);
        struct cas_id other = root_of(v);
        if (!CHECK_INT(cas_id_cmp(&root, &other), 0))
            break;
        vfs_free(v);
    }
    vfs_free(first);
}

TEST(root_sees_every_kind_of_change)
{
    static const char *const what[] = {"content", "mode", "owner",  "name",   "link",    "unlink",
                                       "dir",     "size", "target", "device", "linkage", "exchange"};
    for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
        struct vfs *v = rich_tree();
        struct vfs_canon *k = vfs_canon_new();
        struct cas_id a, b, fresh;
        CHECK_INT(vfs_root_hash(v, k, &a), 0);
        int rc = 0;
        switch (i) {
        case 0:
            rc = tree_write(v, "/many/file-7", "SAME");
            break;
        case 1:
            rc = vfs_chmod(v, &tree_root, tree_ino(v, "/many/file-7"), 0600);
            break;
        case 2:
            rc = vfs_chown(v, &tree_root, tree_ino(v, "/many/file-7"), 5, UINT32_MAX);
            break;
        case 3:
            rc = vfs_rename(v, &tree_ctx, 0, STR("/many/file-7"), 0, STR("/many/file-x"), 0);
            break;
        case 4:
            rc = vfs_link(v, &tree_ctx, 0, STR("/many/file-7"), 0, STR("/d/x"), 0);
            break;
        case 5:
            rc = vfs_unlink(v, &tree_ctx, 0, STR("/d/e/hard"));
            break;
        case 6:
            rc = vfs_rmdir(v, &tree_ctx, 0, STR("/empty"));
            break;
        case 7:
            rc = vfs_truncate(v, tree_ino(v, "/d/e/sparse"), UINT64_C(1) << 32);
            break;
        case 8:
            rc = vfs_unlink(v, &tree_ctx, 0, STR("/d/link"));
            CHECK_INT(vfs_symlink(v, &tree_ctx, STR("../d/e/5K"), 0, STR("/d/link")), 0);
            break;
        case 9:
            rc = vfs_unlink(v, &tree_ctx, 0, STR("/d/null"));
            CHECK_INT(vfs_mknod(v, &tree_ctx, 0, STR("/d/null"), S_IFCHR | 0666, 0x105), 0);
            break;
        case 10: /* the same bytes, but a file of its own */
            rc = vfs_unlink(v, &tree_ctx, 0, STR("/d/e/hard"));
            CHECK_INT(tree_write(v, "/d/e/hard", "a few bytes"), 0);
            break;
        default:
            rc = vfs_rename(v, &tree_ctx, 0, STR("/d/e/5k"), 0, STR("/d/e/page"), 2);
            break;
        }
        CHECK_INT(rc, 0);
        CHECK_INT(vfs_root_hash(v, k, &b), 0);
        fresh = root_of(v);
        if (!CHECK(cas_id_cmp(&a, &b) != 0) || !CHECK_INT(cas_id_cmp(&b, &fresh), 0))
            printf("# after: %s\n", what[i]);
        vfs_canon_free(k);
        vfs_free(v);
    }
}

/* ---- in step: what is done to a loaded tree and to the one it was stored from gives the same ---- */

#define NAMES 12

static void random_path(uint64_t *rng, char out[32])
{
    uint64_t r = test_rand(rng);
    if (r % 3 == 0)
        snprintf(out, 32, "/%c", (char)('a' + r / 8 % NAMES));
    else
        snprintf(out, 32, "/%c/%c", (char)('a' + r / 8 % NAMES), (char)('a' + r / 256 % NAMES));
}

static int random_op(struct vfs *v, uint64_t rng)
{
    char p[32], q[32];
    uint64_t op = test_rand(&rng) % 12, n = test_rand(&rng) % 200000, off = test_rand(&rng) % 150000;
    random_path(&rng, p);
    random_path(&rng, q);
    uint64_t ino;
    struct vfs_handle *h;
    int rc = 0;
    switch (op) {
    case 0:
    case 1:
    case 2:
        rc = vfs_open(v, &tree_ctx, 0, str_c(p), O_WRONLY | O_CREAT | O_NOFOLLOW, 0644, &h);
        if (rc == 0) {
            vfs_close(h);
            if (tree_stat(v, p).mode & S_IFREG)
                write_at(v, p, (size_t)(n % (op ? 3000 : 200000)), op == 2 ? 0 : off, (uint8_t)n);
        }
        return rc;
    case 3:
    case 4:
        return vfs_mkdir(v, &tree_ctx, 0, str_c(p), 0755);
    case 5:
        return vfs_unlink(v, &tree_ctx, 0, str_c(p));
    case 6:
        return vfs_rmdir(v, &tree_ctx, 0, str_c(p));
    case 7:
        return vfs_rename(v, &tree_ctx, 0, str_c(p), 0, str_c(q), (unsigned)(n % 3));
    case 8:
        return vfs_link(v, &tree_ctx, 0, str_c(p), 0, str_c(q), 0);
    case 9:
        return vfs_symlink(v, &tree_ctx, str_c(q), 0, str_c(p));
    default:
        rc = vfs_lookup(v, &tree_ctx, 0, str_c(p), VFS_NOFOLLOW, &ino);
        if (rc == 0)
            rc = op == 10 ? vfs_chmod(v, &tree_root, ino, (uint32_t)(n & 07777)) : vfs_truncate(v, ino, off * (n % 3));
        return rc;
    }
}

static int64_t steps(void *arg)
{
    return *(int64_t *)arg += 1000;
}

TEST_LIMIT(in_step, 300)
{
    uint64_t rng = test_seed();
    struct cas *c = mem_store_new();
    struct vfs *a = vfs_new(&quota), *b = vfs_new(&quota);
    struct vfs_canon *ka = vfs_canon_new(), *kb = vfs_canon_new();
    int64_t ta = 5, tb = 5;
    vfs_set_clock(a, steps, &ta);
    vfs_set_clock(b, steps, &tb);
    /* The roots were made at two times. */
    CHECK_INT(vfs_utimens(a, &tree_root, VFS_ROOT_INO, 1, 1), 0);
    struct cas_id first = store(a, ka, c, NULL);
    vfs_free(b);
    vfs_canon_free(kb);
    b = load(c, &first, &kb);
    tb = ta;
    vfs_set_clock(b, steps, &tb);
    uint64_t rounds = test_env("FRONTAL_IMAGE_OPS", 20000);
    for (uint64_t i = 1; i <= rounds; i++) {
        uint64_t seed = test_rand(&rng);
        if (!CHECK_INT(random_op(a, seed), random_op(b, seed)))
            break;
        if (test_rand(&rng) % 64)
            continue;
        struct cas_id ra, rb, ia = store(a, ka, c, &ra), ib = store(b, kb, c, &rb), fresh = {{0}};
        if (test_rand(&rng) % 8 == 0)
            fresh = root_of(a);
        else
            fresh = ra;
        if (!CHECK_INT(cas_id_cmp(&ra, &rb), 0) || !CHECK_INT(cas_id_cmp(&ia, &ib), 0) ||
            !CHECK_INT(cas_id_cmp(&ra, &fresh), 0))
            break;
        vfs_free(b);
        vfs_canon_free(kb);
        b = load(c, &ib, &kb);
        tb = ta;
        vfs_set_clock(b, steps, &tb);
        if (test_rand(&rng) % 16 == 0) {
            check_same(a, b);
            tree_check(a);
            tree_check(b);
        }
    }
    check_same(a, b);
    vfs_canon_free(ka);
    vfs_canon_free(kb);
    vfs_free(a);
    vfs_free(b);
    mem_store_free(c);
}

/* ---- forks ---- */

TEST(forks_hash_apart)
{
    struct vfs *v = rich_tree();
    struct vfs_canon *k = vfs_canon_new();
    struct cas_id before, after, forked;
    CHECK_INT(vfs_root_hash(v, k, &before), 0);
    struct vfs *f = vfs_fork(v);
    struct vfs_canon *kf = vfs_canon_fork(k);
    CHECK_INT(tree_write(f, "/d/short", "other"), 0);
    CHECK_INT(vfs_root_hash(f, kf, &forked), 0);
    CHECK_INT(vfs_root_hash(v, k, &after), 0);
    CHECK(cas_id_cmp(&forked, &before) != 0);
    CHECK_INT(cas_id_cmp(&after, &before), 0);
    CHECK_C(tree_read(v, "/d/short"), "a few bytes");
    vfs_canon_free(k);
    vfs_canon_free(kf);
    vfs_free(v);
    vfs_free(f);
}

/* ---- faults ---- */

static struct cas_id lose;

static void find_text(void *arg, const struct cas_id *id, struct str data)
{
    const char *text = arg;
    if (data.n >= strlen(text) && memcmp(data.p, text, strlen(text)) == 0)
        lose = *id;
}

TEST(missing_blob_is_an_error_of_its_path)
{
    struct cas *c = mem_store_new();
    struct vfs_canon *k = vfs_canon_new(), *k2 = NULL;
    struct vfs *v = rich_tree();
    char text[200], got[8];
    memset(text, 'Q', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    CHECK_INT(tree_write(v, "/d/victim", text), 0);
    struct cas_id image = store(v, k, c, NULL);
    mem_store_each(c, find_text, text);
    CHECK(mem_store_lose(c, &lose));
    struct vfs *w = load(c, &image, &k2);
    struct vfs_handle *h = tree_open(w, "/d/victim", O_RDWR);
    CHECK_INT(vfs_pread(h, got, sizeof(got), 0), -EIO);
    CHECK_INT(vfs_pwrite(h, "x", 1, 5, NULL), -EIO);
    vfs_close(h);
    CHECK_C(tree_read(w, "/d/short"), "a few bytes");
    CHECK_INT(tree_write(w, "/d/victim", "anew"), 0);
    CHECK_C(tree_read(w, "/d/victim"), "anew");
    vfs_canon_free(k2);
    vfs_free(w);
    /* A page of names: of the whole directory only what is behind that page is gone. */
    struct vfs *x = load(c, &image, &k2);
    struct node *many = vfs__node(x, tree_ino(x, "/many"));
    if (!CHECK(many) || !CHECK_INT(vfs__dpage_need(&many->u.dir), 0) || !CHECK(many->u.dir->level > 0))
        return;
    lose = many->u.dir->slot[many->u.dir->n - 1].u.child->id;
    CHECK(mem_store_lose(c, &lose));
    struct vfs_stat st;
    CHECK_INT(vfs_stat(x, &tree_ctx, 0, STR("/many/file-999"), 0, &st), -EIO);
    CHECK_INT(vfs_stat(x, &tree_ctx, 0, STR("/many/file-1"), 0, &st), 0);
    CHECK_INT(vfs_stat(x, &tree_ctx, 0, STR("/many/nothing"), 0, &st), -EIO);
    CHECK_INT(vfs_stat(x, &tree_ctx, 0, STR("/many/aaa"), 0, &st), -ENOENT);
    CHECK_INT(tree_write(x, "/many/aaa", "b"), 0);
    struct vfs_dirent e;
    int rc = 1;
    char after[LIMIT_NAME + 1] = "";
    while (rc == 1 && (rc = vfs_dir_next(x, tree_ino(x, "/many"), str_c(after), &e)) == 1)
        snprintf(after, sizeof(after), "%.*s", (int)e.name.n, e.name.p);
    CHECK_INT(rc, -EIO);
    vfs_canon_free(k);
    vfs_canon_free(k2);
    vfs_free(v);
    vfs_free(x);
    mem_store_free(c);
}

TEST(failed_put_leaves_the_tree)
{
    struct cas *c = mem_store_new();
    struct vfs *v = rich_tree();
    struct vfs_canon *k = vfs_canon_new();
    struct cas_id root, image, id = {{0}};
    int rc = -1;
    for (uint64_t n = 0; rc != 0; n++) {
        mem_store_fail(c, n, -ENOSPC);
        rc = vfs_image_store(v, k, c, &root, &image);
        CHECK(rc == 0 || rc == -ENOSPC);
        if (n > 20000)
            break;
    }
    CHECK_INT(rc, 0);
    tree_check(v);
    id = store(v, k, c, NULL);
    CHECK_INT(cas_id_cmp(&id, &image), 0);
    vfs_canon_free(k);
    vfs_free(v);
    mem_store_free(c);
}

/* ---- walking and hostile bytes ---- */

static int count_blob(void *arg, const struct cas_id *id)
{
    struct cas *seen = arg; /* a store in which a blob named by a name says that it was seen */
    struct mem_store_stat before = mem_store_count(seen);
    struct cas_id tmp;
    CHECK_INT(cas_put(seen, str_of((const char *)id->b, sizeof(id->b)), &tmp), 0);
    return mem_store_count(seen).blobs > before.blobs;
}

TEST(walk_finds_every_blob)
{
    struct cas *c = mem_store_new(), *seen = mem_store_new();
    struct vfs *v = rich_tree();
    struct vfs_canon *k = vfs_canon_new();
    struct cas_id image = store(v, k, c, NULL);
    CHECK_INT(vfs_image_walk(c, &image, count_blob, NULL, seen), 0);
    CHECK_INT(mem_store_count(seen).blobs, mem_store_count(c).blobs);
    vfs_canon_free(k);
    vfs_free(v);
    mem_store_free(c);
    mem_store_free(seen);
}

static int ignore_child(void *arg, const struct cas_id *id, bool leaf)
{
    (void)arg;
    (void)id;
    (void)leaf;
    return 0;
}

static void mutate(void *arg, const struct cas_id *id, struct str data)
{
    uint64_t *rng = arg;
    (void)id;
    if (data.n == 0 || (data.p[0] != 'R' && data.p[0] != 'D'))
        return;
    char *p = mem_alloc(data.n);
    for (int i = 0; i < 40; i++) {
        memcpy(p, data.p, data.n);
        size_t n = test_rand(rng) % 8 == 0 ? (size_t)(test_rand(rng) % data.n) : data.n;
        for (uint64_t k = test_rand(rng) % 4; k < 4 && n; k++)
            p[test_rand(rng) % n] = (char)test_rand(rng);
        int rc = vfs__blob_children(str_of(p, n), ignore_child, NULL);
        CHECK(rc == 0 || rc == -EBADMSG);
    }
    mem_free(p);
}

TEST(hostile_blobs)
{
    uint64_t rng = test_seed();
    struct cas *c = mem_store_new();
    struct vfs *v = rich_tree();
    struct vfs_canon *k = vfs_canon_new();
    (void)store(v, k, c, NULL);
    mem_store_each(c, mutate, &rng);
    vfs_canon_free(k);
    vfs_free(v);
    mem_store_free(c);
}
