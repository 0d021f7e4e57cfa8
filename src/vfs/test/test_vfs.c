/* SPDX-License-Identifier: Apache-2.0 */

/* Units of the tree: what the model test cannot reach because a host has no forks, quotas, providers or injected
 * failures. */

#include <linux/fs.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "vfs/test/tree.h"

/* ---- names ---- */

TEST(empty_tree)
{
    struct vfs *v = tree_new();
    struct vfs_stat st = tree_stat(v, "/");
    CHECK_INT(st.mode, S_IFDIR | 0755);
    CHECK_INT(st.nlink, 2);
    CHECK_INT(st.ino, VFS_ROOT_INO);
    CHECK_INT(tree_mkdir(v, "/"), -EEXIST);
    CHECK_INT(vfs_rmdir(v, &tree_ctx, 0, STR("/")), -EBUSY);
    tree_check(v);
    vfs_free(v);
    vfs_free(NULL);
    vfs_close(NULL);
}

/* Numbers in an order that is neither up nor down. */
static unsigned scattered(unsigned i, unsigned n)
{
    return (unsigned)((uint64_t)i * 7919 % n);
}

/* Fills and empties one big directory in the given orders: 0 up, 1 down, 2 scattered. */
static void big_directory(unsigned n, int fill, int empty)
{
    struct vfs *v = tree_new();
    char name[64];
    uint64_t count = 0;
    CHECK_INT(tree_mkdir(v, "/d"), 0);
    for (unsigned i = 0; i < n; i++) {
        unsigned x = fill == 0 ? i : fill == 1 ? n - 1 - i : scattered(i, n);
        snprintf(name, sizeof(name), "/d/%s%u", x % 3 ? "n" : "a-rather-longer-name-", x);
        if (!CHECK_INT(vfs_mknod(v, &tree_ctx, 0, str_c(name), S_IFREG | 0644, 0), 0))
            break;
    }
    tree_check(v);
    CHECK_INT(vfs_dir_count(v, tree_ino(v, "/d"), &count), 0);
    CHECK_INT(count, n);
    for (unsigned i = 0; i < n; i++) {
        unsigned x = empty == 0 ? i : empty == 1 ? n - 1 - i : scattered(i, n);
        snprintf(name, sizeof(name), "/d/%s%u", x % 3 ? "n" : "a-rather-longer-name-", x);
        if (!CHECK_INT(vfs_unlink(v, &tree_ctx, 0, str_c(name)), 0))
            break;
        if (i % (n / 8) == 0)
            tree_check(v);
    }
    CHECK_INT(vfs_rmdir(v, &tree_ctx, 0, STR("/d")), 0);
    tree_check(v);
    vfs_free(v);
}

TEST(big_directories)
{
    for (int fill = 0; fill < 3; fill++) {
        for (int empty = 0; empty < 3; empty++)
            big_directory(20011, fill, empty);
    }
}

TEST(longest_names)
{
    struct vfs *v = tree_new();
    char name[LIMIT_NAME + 3] = "/";
    for (unsigned i = 0; i < 3000; i++) {
        memset(name + 1, 'x', LIMIT_NAME);
        snprintf(name + 1 + scattered(i, 200), 12, "%u", i);
        name[1 + strlen(name + 1)] = 'y';
        name[1 + LIMIT_NAME] = 0;
        int rc = vfs_mknod(v, &tree_ctx, 0, str_c(name), S_IFREG, 0);
        CHECK(rc == 0 || rc == -EEXIST);
    }
    tree_check(v);
    memset(name + 1, 'x', LIMIT_NAME + 1);
    name[LIMIT_NAME + 2] = 0;
    CHECK_INT(vfs_mknod(v, &tree_ctx, 0, str_c(name), S_IFREG, 0), -ENAMETOOLONG);
    CHECK_INT(vfs_mknod(v, &tree_ctx, 0, str_of("a\0b", 3), S_IFREG, 0), -EINVAL);
    vfs_free(v);
}

TEST(reading_a_directory_that_shrinks)
{
    struct vfs *v = tree_new();
    struct vfs_dirent e;
    char name[64], after[LIMIT_NAME + 1] = "";
    unsigned seen = 0;
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "/f%u", i);
        tree_write(v, name, "");
    }
    while (vfs_dir_next(v, VFS_ROOT_INO, str_c(after), &e) == 1) {
        memcpy(after, e.name.p, e.name.n);
        after[e.name.n] = 0;
        seen++;
        CHECK_INT(vfs_unlink(v, &tree_ctx, 0, str_c(after)), 0);
    }
    CHECK_INT(seen, 1000);
    vfs_free(v);
}

TEST(symlink_loops)
{
    struct vfs *v = tree_new();
    char name[32], target[32];
    uint64_t ino;
    tree_write(v, "/l0", "end");
    for (unsigned i = 1; i <= 41; i++) {
        snprintf(name, sizeof(name), "/l%u", i);
        snprintf(target, sizeof(target), "l%u", i - 1);
        CHECK_INT(vfs_symlink(v, &tree_ctx, str_c(target), 0, str_c(name)), 0);
    }
    CHECK_INT(vfs_lookup(v, &tree_ctx, 0, STR("/l40"), 0, &ino), 0);
    CHECK_INT(vfs_lookup(v, &tree_ctx, 0, STR("/l41"), 0, &ino), -ELOOP);
    CHECK_INT(vfs_symlink(v, &tree_ctx, STR("self"), 0, STR("/self")), 0);
    CHECK_INT(vfs_lookup(v, &tree_ctx, 0, STR("/self/x"), 0, &ino), -ELOOP);
    vfs_free(v);
}

TEST(beneath)
{
    struct vfs *v = tree_new();
    uint64_t ino;
    tree_mkdir(v, "/d");
    tree_mkdir(v, "/d/e");
    tree_write(v, "/x", "");
    vfs_symlink(v, &tree_ctx, STR("../x"), 0, STR("/d/up"));
    vfs_symlink(v, &tree_ctx, STR("/x"), 0, STR("/d/abs"));
    uint64_t d = tree_ino(v, "/d");
    CHECK_INT(vfs_lookup(v, &tree_ctx, d, STR("e/../e/."), VFS_BENEATH, &ino), 0);
    CHECK_INT(vfs_lookup(v, &tree_ctx, d, STR(".."), VFS_BENEATH, &ino), -EXDEV);
    CHECK_INT(vfs_lookup(v, &tree_ctx, d, STR("e/../../d"), VFS_BENEATH, &ino), -EXDEV);
    CHECK_INT(vfs_lookup(v, &tree_ctx, d, STR("/d"), VFS_BENEATH, &ino), -EXDEV);
    CHECK_INT(vfs_lookup(v, &tree_ctx, d, STR("up"), VFS_BENEATH, &ino), -EXDEV);
    CHECK_INT(vfs_lookup(v, &tree_ctx, d, STR("abs"), VFS_BENEATH, &ino), -EXDEV);
    CHECK_INT(vfs_lookup(v, &tree_ctx, d, STR("abs"), VFS_BENEATH | VFS_NOFOLLOW, &ino), 0);
    vfs_free(v);
}

TEST(depth_limit)
{
    struct vfs *v = tree_new();
    struct vfs_ctx ctx = tree_ctx;
    struct vfs_handle *h = NULL, *deep[2] = {NULL, NULL};
    int rc = 0;
    /* Two chains; the second is half as deep. */
    for (int chain = 0; chain < 2; chain++) {
        unsigned depth = chain == 0 ? LIMIT_DEPTH : LIMIT_DEPTH / 2;
        ctx.cwd = VFS_ROOT_INO;
        for (unsigned i = 0; i < depth && rc == 0; i++) {
            struct str name = i == 0 ? chain == 0 ? STR("a") : STR("b") : STR("d");
            rc = vfs_mkdir(v, &ctx, 0, name, 0755);
            vfs_lookup(v, &ctx, 0, name, 0, &ctx.cwd);
        }
        CHECK_INT(rc, 0);
        CHECK_INT(vfs_open_ino(v, ctx.cwd, O_PATH, &deep[chain]), 0);
    }
    ctx.cwd = vfs_handle_ino(deep[0]);
    CHECK_INT(vfs_mkdir(v, &ctx, 0, STR("d"), 0755), -EMLINK);
    CHECK_INT(vfs_mknod(v, &ctx, 0, STR("file"), S_IFREG, 0), 0);
    /* The second chain fits below the second, not below the end of the first. */
    CHECK_INT(vfs_rename(v, &ctx, VFS_ROOT_INO, STR("b/d"), 0, STR("d"), 0), -EMLINK);
    ctx.cwd = vfs_handle_ino(deep[1]);
    CHECK_INT(vfs_mkdir(v, &tree_ctx, 0, STR("/c"), 0755), 0);
    CHECK_INT(vfs_mkdir(v, &tree_ctx, 0, STR("/c/d"), 0755), 0);
    CHECK_INT(vfs_rename(v, &ctx, VFS_ROOT_INO, STR("c"), 0, STR("c"), 0), 0);
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/b"), 0, STR("/a/b"), 0), 0);
    tree_check(v);
    for (int i = 0; i < 2; i++)
        vfs_close(deep[i]);
    vfs_close(h);
    vfs_free(v);
}

TEST(link_limit)
{
    struct vfs *v = tree_new();
    char name[64];
    int rc = 0;
    tree_mkdir(v, "/d");
    tree_mkdir(v, "/e");
    tree_write(v, "/d/f", "x");
    for (unsigned i = 1; i < LIMIT_LINKS && rc == 0; i++) {
        snprintf(name, sizeof(name), "/%s/l%u", i % 2 ? "d" : "e", i);
        rc = vfs_link(v, &tree_ctx, 0, STR("/d/f"), 0, str_c(name), 0);
    }
    CHECK_INT(rc, 0);
    CHECK_INT(vfs_link(v, &tree_ctx, 0, STR("/d/f"), 0, STR("/more"), 0), -EMLINK);
    CHECK_INT(tree_stat(v, "/d/f").nlink, LIMIT_LINKS);
    tree_check(v);
    vfs_free(v);
}

/* ---- content ---- */

static void fill_pattern(uint8_t *p, size_t n, uint64_t off)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)((off + i) * 131 + ((off + i) >> 8));
}

TEST(sizes_around_pages)
{
    static const size_t sizes[] = {0, 1, 40, 4095, 4096, 65535, 65536, 65537, 131072, 200000, 1000000};
    static uint8_t data[1000000], got[1000000];
    fill_pattern(data, sizeof(data), 0);
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct vfs *v = tree_new();
        struct vfs_handle *h = tree_open(v, "/f", O_RDWR | O_CREAT);
        CHECK_INT(vfs_pwrite(h, data, sizes[i], 0, NULL), sizes[i]);
        memset(got, 0, sizeof(got));
        CHECK_INT(vfs_pread(h, got, sizeof(got), 0), sizes[i]);
        CHECK_INT(memcmp(got, data, sizes[i]), 0);
        CHECK_INT(vfs_handle_size(h), sizes[i]);
        struct vfs *f = vfs_fork(v);
        for (unsigned j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
            CHECK_INT(vfs_ftruncate(h, sizes[j]), 0);
            tree_check(v);
        }
        CHECK_INT(vfs_ftruncate(h, 0), 0);
        struct vfs_handle *fh = tree_open(f, "/f", O_RDONLY);
        CHECK_INT(vfs_pread(fh, got, sizeof(got), 0), sizes[i]);
        CHECK_INT(memcmp(got, data, sizes[i]), 0);
        vfs_close(fh);
        vfs_close(h);
        vfs_free(v);
        tree_check(f);
        vfs_free(f);
    }
}

TEST(holes)
{
    struct vfs *v = tree_new();
    struct vfs_quota used;
    struct vfs_handle *h = tree_open(v, "/f", O_RDWR | O_CREAT);
    uint64_t at, off = UINT64_C(10) << 30, sum = 0;
    const void *p;
    size_t n;
    CHECK_INT(vfs_pwrite(h, "x", 1, off, NULL), 1);
    CHECK_INT(vfs_ftruncate(h, off + 500000), 0);
    vfs_usage(v, &used);
    CHECK(used.bytes <= VFS_PAGE);
    CHECK(tree_stat(v, "/f").blocks <= VFS_PAGE / 512);
    CHECK_INT(vfs_seek_data(h, 5, false, &at), 0);
    CHECK_INT(at / VFS_PAGE, off / VFS_PAGE);
    CHECK_INT(vfs_seek_data(h, 5, true, &at), 0);
    CHECK_INT(at, 5);
    CHECK_INT(vfs_seek_data(h, off, true, &at), 0);
    CHECK_INT(at, off + 1);
    CHECK_INT(vfs_seek_data(h, off + 1, false, &at), -ENXIO);
    CHECK_INT(vfs_seek_data(h, off + 500000, true, &at), -ENXIO);
    for (uint64_t o = off - 100000; vfs_peek(h, o, &p, &n) == 0 && n > 0; o += n) {
        for (size_t i = 0; i < n; i++)
            sum += ((const uint8_t *)p)[i];
    }
    CHECK_INT(sum, 'x');
    CHECK_INT(vfs_pwrite(h, "x", 1, LIMIT_FILE, NULL), -EFBIG);
    CHECK_INT(vfs_ftruncate(h, LIMIT_FILE + 1), -EFBIG);
    CHECK_INT(vfs_ftruncate(h, LIMIT_FILE), 0);
    CHECK_INT(vfs_pwrite(h, "xyz", 3, LIMIT_FILE - 1, NULL), 1);
    tree_check(v);
    vfs_close(h);
    vfs_free(v);
}

TEST(handles_check_their_mode)
{
    struct vfs *v = tree_new();
    char c;
    tree_write(v, "/f", "text");
    struct vfs_handle *r = tree_open(v, "/f", O_RDONLY), *w = tree_open(v, "/f", O_WRONLY),
                      *p = tree_open(v, "/f", O_PATH), *d = tree_open(v, "/", O_RDONLY);
    CHECK_INT(vfs_pwrite(r, "x", 1, 0, NULL), -EBADF);
    CHECK_INT(vfs_pread(w, &c, 1, 0), -EBADF);
    CHECK_INT(vfs_pread(p, &c, 1, 0), -EBADF);
    CHECK_INT(vfs_pwrite(p, "x", 1, 0, NULL), -EBADF);
    CHECK_INT(vfs_pread(d, &c, 1, 0), -EISDIR);
    CHECK_INT(vfs_ftruncate(r, 0), -EINVAL);
    CHECK_INT(vfs_ftruncate(p, 0), -EBADF);
    CHECK_INT(vfs_truncate(v, VFS_ROOT_INO, 0), -EISDIR);
    vfs_close(r);
    vfs_close(w);
    vfs_close(p);
    vfs_close(d);
    vfs_free(v);
}

TEST(append)
{
    struct vfs *v = tree_new();
    uint64_t end = 0;
    tree_write(v, "/f", "abc");
    struct vfs_handle *h = tree_open(v, "/f", O_WRONLY | O_APPEND);
    CHECK_INT(vfs_pwrite(h, "def", 3, 0, &end), 3);
    CHECK_INT(end, 6);
    CHECK_C(tree_read(v, "/f"), "abcdef");
    vfs_close(h);
    vfs_free(v);
}

TEST(atime_moves_as_relatime)
{
    struct vfs *v = tree_new();
    tree_write(v, "/f", "abc");
    int64_t a0 = tree_stat(v, "/f").atime;
    uint64_t gen = vfs_generation(v);
    tree_read(v, "/f");
    int64_t a1 = tree_stat(v, "/f").atime;
    tree_read(v, "/f");
    CHECK(a1 > a0);
    CHECK_INT(tree_stat(v, "/f").atime, a1);
    CHECK_INT(vfs_generation(v), gen);
    CHECK_INT(vfs_utimens(v, &tree_root, tree_ino(v, "/f"), 1000, 500), 0);
    tree_read(v, "/f");
    CHECK(tree_stat(v, "/f").atime >= a1);
    vfs_free(v);
}

/* ---- nameless files, forks ---- */

TEST(unlinked_files_live_while_open)
{
    struct vfs *v = tree_new();
    struct vfs_quota before, during, after;
    char text[8] = "";
    vfs_usage(v, &before);
    tree_write(v, "/f", "abc");
    vfs_usage(v, &during);
    struct vfs_handle *h = tree_open(v, "/f", O_RDWR), *h2 = tree_open(v, "/f", O_RDONLY);
    CHECK_INT(vfs_unlink(v, &tree_ctx, 0, STR("/f")), 0);
    tree_check(v);
    CHECK_INT(vfs_pwrite(h, "X", 1, 1, NULL), 1);
    CHECK_INT(vfs_pread(h2, text, 8, 0), 3);
    CHECK_C(text, "aXc");
    vfs_usage(v, &after);
    CHECK_INT(after.inodes, during.inodes);
    /* A fork does not have it. */
    struct vfs *f = vfs_fork(v);
    vfs_usage(f, &after);
    CHECK_INT(after.inodes, before.inodes);
    CHECK_INT(after.bytes, before.bytes);
    tree_check(f);
    vfs_free(f);
    vfs_close(h);
    vfs_close(h2);
    vfs_usage(v, &after);
    CHECK_INT(after.inodes, before.inodes);
    CHECK_INT(after.bytes, before.bytes);
    tree_check(v);
    vfs_free(v);
}

TEST(nameless_files)
{
    struct vfs *v = tree_new();
    struct vfs_handle *h = NULL;
    struct vfs_stat st;
    CHECK_INT(vfs_open_anon(v, &tree_user_ctx, 0666, &h), 0);
    CHECK_INT(vfs_pwrite(h, "here", 4, 0, NULL), 4);
    CHECK_INT(vfs_stat_ino(v, vfs_handle_ino(h), &st), 0);
    CHECK_INT(st.nlink, 0);
    CHECK_INT(st.uid, 1000);
    CHECK_INT(st.mode, S_IFREG | 0644);
    tree_check(v);
    vfs_close(h);
    CHECK_INT(vfs_stat_ino(v, st.ino, &st), -ESTALE);
    tree_check(v);
    vfs_free(v);
}

TEST(removed_working_directory)
{
    struct vfs *v = tree_new();
    struct vfs_handle *h = NULL;
    struct vfs_ctx ctx = tree_ctx;
    struct buf b;
    uint64_t ino;
    buf_init(&b, LIMIT_PATH);
    tree_mkdir(v, "/d");
    tree_mkdir(v, "/d/e");
    ctx.cwd = tree_ino(v, "/d/e");
    CHECK_INT(vfs_open_ino(v, ctx.cwd, O_PATH, &h), 0);
    CHECK_INT(vfs_dir_path(v, ctx.cwd, &b), 0);
    CHECK_STR(buf_str(&b), STR("/d/e"));
    CHECK_INT(vfs_rmdir(v, &tree_ctx, 0, STR("/d/e")), 0);
    CHECK_INT(vfs_mkdir(v, &ctx, 0, STR("x"), 0755), -ENOENT);
    CHECK_INT(vfs_lookup(v, &ctx, 0, STR(".."), 0, &ino), 0);
    CHECK_INT(ino, tree_ino(v, "/d"));
    CHECK_INT(vfs_dir_path(v, ctx.cwd, &b), -ENOENT);
    CHECK_STR(buf_str(&b), STR("/d/e"));
    vfs_close(h);
    tree_check(v);
    buf_done(&b);
    vfs_free(v);
}

TEST(forks_are_separate)
{
    struct vfs *v = tree_new();
    char name[32];
    for (unsigned i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "/f%u", i);
        tree_write(v, name, name);
    }
    struct vfs *f = vfs_fork(v);
    struct buf before = tree_dump(f);
    for (unsigned i = 0; i < 300; i += 3) {
        snprintf(name, sizeof(name), "/f%u", i);
        if (i % 2)
            vfs_unlink(v, &tree_ctx, 0, str_c(name));
        else
            tree_write(v, name, "changed");
    }
    tree_mkdir(v, "/new");
    struct buf after = tree_dump(f);
    CHECK_STR(buf_str(&after), buf_str(&before));
    tree_check(v);
    tree_check(f);
    vfs_free(v);
    tree_check(f);
    buf_done(&before);
    buf_done(&after);
    vfs_free(f);
}

TEST(fork_costs_the_same_at_any_size)
{
    struct vfs *v = tree_new();
    char name[32];
    int64_t best[2];
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(name, sizeof(name), "/f%u", i);
        tree_write(v, name, "x");
        if (i != 999 && i != 99999)
            continue;
        int64_t least = INT64_MAX;
        for (int k = 0; k < 200; k++) {
            int64_t t = clock_mono();
            struct vfs *f = vfs_fork(v);
            t = clock_mono() - t;
            least = t < least ? t : least;
            vfs_free(f);
        }
        best[i > 999] = least;
    }
    /* Far above what it takes (below a microsecond), far below what any walk would. */
    CHECK(best[0] < 100 * CLOCK_US);
    CHECK(best[1] < 100 * CLOCK_US);
    vfs_free(v);
}

/* ---- quota, accounts ---- */

TEST(quota_of_inodes)
{
    struct vfs_quota q = {1 << 20, 3};
    struct vfs *v = vfs_new(&q);
    struct vfs_handle *h = NULL;
    CHECK_INT(tree_mkdir(v, "/a"), 0);
    CHECK_INT(tree_mkdir(v, "/b"), 0);
    CHECK_INT(tree_mkdir(v, "/c"), -ENOSPC);
    CHECK_INT(vfs_symlink(v, &tree_ctx, STR("t"), 0, STR("/l")), -ENOSPC);
    CHECK_INT(vfs_open(v, &tree_ctx, 0, STR("/f"), O_CREAT | O_WRONLY, 0644, &h), -ENOSPC);
    CHECK_INT(vfs_open_anon(v, &tree_ctx, 0644, &h), -ENOSPC);
    CHECK_INT(vfs_rmdir(v, &tree_ctx, 0, STR("/a")), 0);
    CHECK_INT(tree_write(v, "/c", "x"), 0);
    /* A further name takes an inode too, as on tmpfs: else names would have no limit. */
    CHECK_INT(vfs_link(v, &tree_ctx, 0, STR("/c"), 0, STR("/d"), 0), -ENOSPC);
    CHECK_INT(vfs_rmdir(v, &tree_ctx, 0, STR("/b")), 0);
    CHECK_INT(vfs_link(v, &tree_ctx, 0, STR("/c"), 0, STR("/d"), 0), 0);
    CHECK_INT(tree_mkdir(v, "/e"), -ENOSPC);
    CHECK_INT(vfs_unlink(v, &tree_ctx, 0, STR("/c")), 0);
    CHECK_INT(tree_mkdir(v, "/e"), 0);
    tree_check(v);
    vfs_free(v);
}

TEST(quota_of_bytes)
{
    static uint8_t data[300000];
    struct vfs_quota q = {150000, 100}, used;
    struct vfs *v = vfs_new(&q);
    struct vfs_handle *h = tree_open(v, "/f", O_RDWR | O_CREAT);
    memset(data, 'x', sizeof(data));
    ssize_t got = vfs_pwrite(h, data, sizeof(data), 0, NULL);
    CHECK(got > 60000 && got <= 150000);
    CHECK_INT(vfs_handle_size(h), got);
    CHECK_INT(vfs_pwrite(h, data, sizeof(data), (uint64_t)got + 70000, NULL), -EDQUOT);
    CHECK_INT(vfs_handle_size(h), got);
    vfs_usage(v, &used);
    CHECK(used.bytes <= q.bytes);
    tree_check(v);
    CHECK_INT(vfs_ftruncate(h, 10), 0);
    CHECK_INT(vfs_pwrite(h, data, 60000, 0, NULL), 60000);
    q.bytes = 100;
    vfs_set_quota(v, &q);
    /* Over its quota a tree keeps what it has, and may change it. */
    CHECK_INT(vfs_pwrite(h, data, 60000, 0, NULL), 60000);
    CHECK_INT(vfs_symlink(v, &tree_ctx, STR("target"), 0, STR("/l")), -EDQUOT);
    CHECK_INT(tree_write(v, "/g", "text"), -EDQUOT);
    tree_check(v);
    vfs_close(h);
    vfs_free(v);
}

TEST(memory_is_nobodys)
{
    struct mem_account acc = {.limit = 1};
    struct mem_account *old = mem_use(&acc);
    struct vfs *v = tree_new();
    tree_write(v, "/f", "some text");
    struct vfs *f = vfs_fork(v);
    tree_write(f, "/f", "other text");
    vfs_free(v);
    vfs_free(f);
    mem_use(old);
    CHECK_INT(acc.used, 0);
    CHECK(!acc.hit);
}

/* ---- watch, generation ---- */

struct seen {
    struct buf text;
};

static void on_change(void *arg, enum vfs_event ev, uint64_t dir, struct str name, uint64_t ino)
{
    static const char *const names[] = {"create", "remove", "write", "meta", "rename"};
    struct seen *s = arg;
    (void)ino;
    buf_addf(&s->text, "%s %llu %.*s;", names[ev], (unsigned long long)dir, (int)name.n, name.p);
}

TEST(watch)
{
    struct vfs *v = tree_new();
    struct seen s;
    buf_init(&s.text, 4096);
    vfs_set_watch(v, on_change, &s);
    tree_mkdir(v, "/d");
    tree_write(v, "/f", "x");
    vfs_chmod(v, &tree_root, tree_ino(v, "/f"), 0600);
    vfs_rename(v, &tree_ctx, 0, STR("/f"), 0, STR("/g"), 0);
    vfs_rmdir(v, &tree_ctx, 0, STR("/d"));
    CHECK_STR(buf_str(&s.text),
              STR("create 1 d;create 1 f;write 0 ;meta 0 ;rename 1 f;rename 1 g;meta 0 d;remove 1 d;"));
    uint64_t gen = vfs_generation(v);
    CHECK_INT(tree_mkdir(v, "/g"), -EEXIST);
    CHECK_C(tree_read(v, "/g"), "x");
    CHECK_INT(vfs_generation(v), gen);
    struct vfs *f = vfs_fork(v);
    tree_mkdir(f, "/not-seen");
    CHECK(!strstr(s.text.p, "not-seen"));
    vfs_free(f);
    vfs_free(v);
    buf_done(&s.text);
}

/* ---- providers ---- */

/* A /proc with a file, a symlink and a directory 7 that holds a file: ids 1 2 3 7 8 9. */
static int p_lookup(void *arg, uint64_t id, struct str name, uint64_t *ret_id, uint32_t *ret_mode)
{
    (void)arg;
    if (id == 1 && str_eqc(name, "version"))
        *ret_id = 2, *ret_mode = S_IFREG | 0444;
    else if (id == 1 && str_eqc(name, "self"))
        *ret_id = 3, *ret_mode = S_IFLNK | 0777;
    else if (id == 1 && str_eqc(name, "7"))
        *ret_id = 7, *ret_mode = S_IFDIR | 0555;
    else if (id == 7 && str_eqc(name, "stat"))
        *ret_id = 8, *ret_mode = S_IFREG | 0400;
    else if (id == 7 && str_eqc(name, "fd"))
        *ret_id = 9, *ret_mode = S_IFDIR | 0555;
    else if (id == 9 && str_eqc(name, ".."))
        *ret_id = 7, *ret_mode = S_IFDIR | 0555;
    else
        return -ENOENT;
    return 0;
}

static int p_next(void *arg, uint64_t id, struct str after, char *name, uint64_t *ret_id, uint32_t *ret_mode)
{
    static const char *const root[] = {"7", "self", "version"}, *const dir[] = {"fd", "stat"};
    const char *const *list = id == 1 ? root : dir;
    for (unsigned i = 0; i < (id == 1 ? 3u : id == 7 ? 2u : 0u); i++) {
        if (str_cmp(str_c(list[i]), after) > 0) {
            memcpy(name, list[i], strlen(list[i]) + 1);
            return p_lookup(arg, id, str_c(list[i]), ret_id, ret_mode) == 0 ? 1 : -EIO;
        }
    }
    return 0;
}

static int p_read(void *arg, uint64_t id, struct buf *out)
{
    if (id == 2)
        return buf_addf(out, "version of %s\n", (const char *)arg);
    return id == 3 ? buf_addc(out, "7") : id == 8 ? buf_addc(out, "running") : -EIO;
}

static void p_owner(void *arg, uint64_t id, uint32_t *ret_uid, uint32_t *ret_gid)
{
    (void)arg;
    *ret_uid = *ret_gid = id >= 7 ? 1000 : 0;
}

static const struct vfs_provider provider = {.lookup = p_lookup, .next = p_next, .read = p_read, .owner = p_owner};

static int add_name(void *arg, const struct vfs_dirent *e)
{
    return buf_addf(arg, "%.*s ", (int)e->name.n, e->name.p);
}

TEST(provided_files)
{
    char one[] = "one", two[] = "two";
    struct vfs *v = tree_new();
    struct vfs_handle *h = NULL;
    struct buf b;
    uint64_t ino, up = 0;
    buf_init(&b, LIMIT_PATH);
    CHECK_INT(vfs_provide(v, STR("/proc"), &provider, one), -ENOENT);
    tree_mkdir(v, "/proc");
    CHECK_INT(vfs_provide(v, STR("/proc"), &provider, one), 0);
    tree_check(v);
    CHECK_C(tree_read(v, "/proc/version"), "version of one\n");
    CHECK_C(tree_read(v, "/proc/self/stat"), "running");
    CHECK_C(tree_read(v, "/proc/7/../version"), "version of one\n");
    /* The provider knows the parent of fd, and that of 7 is found by looking. */
    CHECK_C(tree_read(v, "/proc/7/fd/../stat"), "running");
    CHECK_C(tree_read(v, "/proc/7/fd/../../version"), "version of one\n");
    CHECK_INT(tree_stat(v, "/proc/7/stat").uid, 1000);
    CHECK(tree_stat(v, "/proc").dev != tree_stat(v, "/").dev);
    ino = tree_ino(v, "/proc/7");
    CHECK(ino >= VFS_PROVIDED);
    CHECK_INT(vfs_open_ino(v, ino, O_PATH, &h), 0);
    CHECK_INT(vfs_dir_path(v, ino, &b), 0);
    CHECK_STR(buf_str(&b), STR("/proc/7"));
    CHECK_INT(vfs_dir_parent(v, tree_ino(v, "/proc"), &up), 0);
    CHECK_INT(up, VFS_ROOT_INO);
    vfs_close(h);
    buf_clear(&b);
    CHECK_INT(vfs_dir_each(v, tree_ino(v, "/proc"), add_name, &b), 0);
    CHECK_STR(buf_str(&b), STR("7 self version "));
    CHECK_INT(vfs_dir_count(v, tree_ino(v, "/proc"), &up), 0);
    CHECK_INT(up, 3);
    /* Nothing in it can be changed. */
    CHECK_INT(tree_mkdir(v, "/proc/x"), -EPERM);
    CHECK_INT(tree_write(v, "/proc/x", ""), -EPERM);
    CHECK_INT(vfs_unlink(v, &tree_ctx, 0, STR("/proc/version")), -EPERM);
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/proc/version"), 0, STR("/proc/v"), 0), -EPERM);
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/proc/version"), 0, STR("/v"), 0), -EXDEV);
    CHECK_INT(vfs_link(v, &tree_ctx, 0, STR("/proc/version"), 0, STR("/v"), 0), -EXDEV);
    CHECK_INT(vfs_rmdir(v, &tree_ctx, 0, STR("/proc")), -EBUSY);
    CHECK_INT(vfs_chmod(v, &tree_root, tree_ino(v, "/proc/version"), 0), -EPERM);
    CHECK_INT(vfs_open(v, &tree_ctx, 0, STR("/proc/version"), O_WRONLY, 0, &h), -EACCES);
    CHECK_INT(vfs_open(v, &tree_user_ctx, 0, STR("/proc/7/stat"), O_RDONLY, 0, &h), 0);
    CHECK_INT(vfs_handle_size(h), 7);
    vfs_close(h);
    /* A fork's argument is its own. */
    struct vfs *f = vfs_fork(v);
    vfs_set_provider_arg(f, &provider, two);
    CHECK_C(tree_read(f, "/proc/version"), "version of two\n");
    CHECK_C(tree_read(v, "/proc/version"), "version of one\n");
    vfs_free(f);
    buf_done(&b);
    vfs_free(v);
}

/* ---- differences ---- */

static int add_change(void *arg, const struct vfs_change *c)
{
    buf_addf(arg, "%c%s%.*s ", "+-~m"[c->kind], c -> content ? "" : "!", (int)c->path.n, c->path.p);
    return 0;
}

static void check_diff(struct vfs *a, struct vfs *b, const char *want)
{
    struct buf got;
    buf_init(&got, 1 << 20);
    CHECK_INT(vfs_diff(a, b, add_change, &got), 0);
    CHECK_STR(buf_str(&got), str_c(want));
    buf_done(&got);
}

TEST(diffs)
{
    struct vfs *v = tree_new();
    tree_mkdir(v, "/a");
    tree_mkdir(v, "/a/sub");
    tree_mkdir(v, "/z");
    tree_write(v, "/a/sub/one", "1");
    tree_write(v, "/a/two", "2");
    tree_write(v, "/z/three", "3");
    tree_write(v, "/z/untouched", "4");
    struct vfs *f = vfs_fork(v);
    check_diff(v, f, "");
    tree_read(f, "/a/two");
    check_diff(v, f, "");
    tree_write(f, "/a/sub/one", "2");
    check_diff(v, f, "~/a/sub/one ");
    tree_write(f, "/a/sub/new", "n");
    vfs_chmod(f, &tree_root, tree_ino(f, "/z"), 0700);
    check_diff(v, f, "+/a/sub/new ~/a/sub/one m!/z ");
    vfs_rename(f, &tree_ctx, 0, STR("/a/sub"), 0, STR("/b"), 0);
    check_diff(v, f, "-/a/sub -/a/sub/one +/b +/b/new +/b/one m!/z ");
    vfs_unlink(f, &tree_ctx, 0, STR("/z/three"));
    tree_mkdir(f, "/z/three");
    tree_write(f, "/z/three/x", "");
    check_diff(v, f, "-/a/sub -/a/sub/one +/b +/b/new +/b/one m!/z -/z/three +/z/three +/z/three/x ");
    vfs_utimens(f, &tree_root, tree_ino(f, "/a/two"), INT64_MIN, 5);
    CHECK_INT(vfs_link(f, &tree_ctx, 0, STR("/a/two"), 0, STR("/two"), 0), 0);
    check_diff(v, f, "-/a/sub -/a/sub/one m!/a/two +/b +/b/new +/b/one +/two m!/z -/z/three +/z/three +/z/three/x ");
    /* Written through one name, a file differs by both. */
    tree_write(f, "/two", "22");
    check_diff(v, f, "-/a/sub -/a/sub/one ~/a/two +/b +/b/new +/b/one +/two m!/z -/z/three +/z/three +/z/three/x ");
    check_diff(f, v, "+/a/sub +/a/sub/one ~/a/two -/b -/b/new -/b/one -/two m!/z -/z/three -/z/three/x +/z/three ");
    vfs_free(v);
    vfs_free(f);
}

TEST(diff_of_pages)
{
    static uint8_t data[400000];
    struct vfs *v = tree_new();
    struct vfs_handle *h = tree_open(v, "/f", O_RDWR | O_CREAT);
    vfs_pwrite(h, data, sizeof(data), 0, NULL);
    vfs_close(h);
    struct vfs *f = vfs_fork(v);
    h = tree_open(f, "/f", O_RDWR);
    vfs_pwrite(h, data, 100, 200000, NULL);
    vfs_utimens(f, &tree_root, vfs_handle_ino(h), INT64_MIN, tree_stat(v, "/f").mtime);
    check_diff(v, f, "");
    vfs_pwrite(h, "x", 1, 399999, NULL);
    check_diff(v, f, "~/f ");
    /* A hole and written zeros read alike. */
    vfs_ftruncate(h, 0);
    vfs_ftruncate(h, 400000);
    vfs_utimens(f, &tree_root, vfs_handle_ino(h), INT64_MIN, tree_stat(v, "/f").mtime);
    check_diff(v, f, "");
    vfs_close(h);
    vfs_free(v);
    vfs_free(f);
}

/* ---- injected failures ---- */

static uint64_t rng;

static const char *random_path(void)
{
    static char paths[4][256];
    static unsigned next;
    char *p = paths[next++ % 4];
    uint64_t x = test_rand(&rng);
    int depth = (int)(x >> 20 & 3);
    p[0] = 0;
    for (int i = 0; i <= depth; i++)
        snprintf(p + strlen(p), 12, "/%c", 'a' + (char)(x >> (24 + i * 4) & 3));
    /* Long names, so that pages of directories split and join. */
    if (x >> 50 & 1)
        snprintf(p + strlen(p), 200, "/%02u-%0150u", (unsigned)(x >> 51 & 31), 7u);
    return p;
}

struct op {
    int what;
    char a[256], b[256];
    uint64_t n;
};

static int run_op(struct vfs *v, const struct op *o)
{
    static uint8_t data[200000];
    struct str a = str_c(o->a), b = str_c(o->b);
    struct vfs_handle *h = NULL;
    uint64_t ino = 0;
    int rc;
    switch (o->what) {
    case 0:
    case 1:
        return vfs_mkdir(v, &tree_ctx, 0, a, 0755);
    case 2:
        return vfs_unlink(v, &tree_ctx, 0, a);
    case 3:
        return vfs_rmdir(v, &tree_ctx, 0, a);
    case 4:
        return vfs_symlink(v, &tree_ctx, b, 0, a);
    case 5:
        return vfs_link(v, &tree_ctx, 0, a, 0, b, 0);
    case 6:
    case 7:
        return vfs_rename(v, &tree_ctx, 0, a, 0, b, o->n % 5 ? 0 : RENAME_EXCHANGE);
    case 8:
        rc = vfs_lookup(v, &tree_ctx, 0, a, VFS_NOFOLLOW, &ino);
        return rc < 0 ? rc : vfs_chmod(v, &tree_root, ino, 0700 + (uint32_t)(o->n & 077));
    case 9:
        rc = vfs_lookup(v, &tree_ctx, 0, a, VFS_NOFOLLOW, &ino);
        return rc < 0 ? rc : vfs_truncate(v, ino, o->n % 150000);
    default:
        /* Opened before and written under failure: two calls, so the first may leave its file. */
        rc = vfs_open(v, &tree_ctx, 0, a, O_RDWR | (o->what == 10 ? O_CREAT : 0), 0644, &h);
        if (rc == 0 && o->what > 10) {
            ssize_t got = vfs_pwrite(h, data, (size_t)(o->n % sizeof(data)), o->n >> 20 & 0xffff, NULL);
            rc = got < 0 ? (int)got : 0;
        }
        vfs_close(h);
        return rc;
    }
}

/* Runs each operation with its first allocation failing, then its second, and so on, until it comes through: every
 * failure must leave the tree as it was. The tree is shared with a fork, so that everything has to be copied. */
TEST_LIMIT(failed_allocations, 300)
{
    struct vfs *v = tree_new();
    unsigned failures = 0;
    rng = test_seed();
    /* A seed may draw many operations that allocate little: then more of them are run, so that as many failures are
     * seen. */
    for (unsigned i = 0; i < 3000 || (failures <= 1000 && i < 12000); i++) {
        struct op o = {.what = (int)(test_rand(&rng) >> 30 & 0xff) % 13, .n = test_rand(&rng)};
        snprintf(o.a, sizeof(o.a), "%s", random_path());
        snprintf(o.b, sizeof(o.b), "%s", random_path());
        struct vfs *shared = vfs_fork(v);
        struct buf before = tree_dump(v);
        for (uint64_t k = 1; k < 200; k++) {
            mem_fail_after(k);
            int rc = run_op(v, &o);
            mem_fail_after(0);
            if (rc != -ENOMEM)
                break;
            failures++;
            struct buf after = tree_dump(v);
            if (!CHECK_STR(buf_str(&after), buf_str(&before))) {
                fprintf(stderr, "# op %u: %d %s %s\n", i, o.what, o.a, o.b);
                return;
            }
            buf_done(&after);
            tree_check(v);
        }
        struct buf kept = tree_dump(shared);
        CHECK_STR(buf_str(&kept), buf_str(&before));
        buf_done(&kept);
        buf_done(&before);
        vfs_free(shared);
        tree_check(v);
    }
    CHECK(failures > 1000);
    fprintf(stderr, "# %u failures\n", failures);
    vfs_free(v);
}

TEST(failed_allocations_of_trees)
{
    struct vfs_quota q = {1 << 20, 100};
    struct vfs *v = NULL;
    for (uint64_t k = 1; !v; k++) {
        mem_fail_after(k);
        v = vfs_new(&q);
        mem_fail_after(0);
    }
    mem_fail_after(1);
    CHECK(vfs_fork(v) == NULL);
    mem_fail_after(0);
    struct vfs_handle *h = NULL;
    for (uint64_t k = 1; !h; k++) {
        mem_fail_after(k);
        vfs_open_anon(v, &tree_ctx, 0600, &h);
        mem_fail_after(0);
        tree_check(v);
    }
    vfs_close(h);
    vfs_free(v);
}
