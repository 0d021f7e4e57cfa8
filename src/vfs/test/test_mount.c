/* SPDX-License-Identifier: Apache-2.0 */

/* Host mounts: what is seen, what stays in the tree, and that nothing leads out of the mount. */

#include <ftw.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "vfs/test/tree.h"

static char top[64];

static const char *host_path(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *p = paths[next++ % 4];
    snprintf(p, sizeof(paths[0]), "%s/%s", top, name);
    return p;
}

static void put(const char *name, const char *text)
{
    int fd = open(host_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static const char *host_read(const char *name)
{
    static char text[256];
    int fd = open(host_path(name), O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return "?";
    text[n] = 0;
    return text;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void teardown(void)
{
    nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A host directory: m/ is what gets mounted, secret.txt lies outside of it. */
static void setup(void)
{
    snprintf(top, sizeof(top), "/tmp/frontal-mount-XXXXXX");
    CHECK(mkdtemp(top) != NULL);
    atexit(teardown);
    put("secret.txt", "SECRET");
    CHECK(mkdir(host_path("m"), 0755) == 0 && mkdir(host_path("m/dir"), 0755) == 0);
    CHECK(mkdir(host_path("m/dir/deep"), 0750) == 0 && mkdir(host_path("outside"), 0755) == 0);
    put("outside/file", "SECRET");
    put("m/a.txt", "alpha");
    put("m/dir/b.txt", "beta");
    put("m/dir/deep/c.txt", "gamma");
    put("m/empty", "");
    CHECK(symlink("dir/b.txt", host_path("m/link")) == 0);
    CHECK(symlink("../secret.txt", host_path("m/up")) == 0);
    CHECK(symlink("/etc/passwd", host_path("m/abs")) == 0);
    CHECK(mkfifo(host_path("m/fifo"), 0600) == 0);
}

static struct vfs *mounted(int flags)
{
    struct vfs *v = tree_new();
    int fd = open(host_path("m"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(vfs_mount_host(v, STR("/mnt/host"), fd, flags, getuid(), getgid(), 1000, 1000), 0);
    return v;
}

static int add_name(void *arg, const struct vfs_dirent *e)
{
    return buf_addf(arg, "%.*s ", (int)e->name.n, e->name.p);
}

TEST(reading)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_RO);
    struct buf b;
    buf_init(&b, 4096);
    CHECK_C(tree_read(v, "/mnt/host/a.txt"), "alpha");
    CHECK_C(tree_read(v, "/mnt/host/dir/deep/c.txt"), "gamma");
    CHECK_C(tree_read(v, "/mnt/host/link"), "beta");
    CHECK_C(tree_read(v, "/mnt/host/dir/../a.txt"), "alpha");
    CHECK_C(tree_read(v, "/mnt/host/empty"), "");
    CHECK_INT(vfs_dir_each(v, tree_ino(v, "/mnt/host"), add_name, &b), 0);
    CHECK_STR(buf_str(&b), STR("a.txt abs dir empty fifo link up "));
    buf_clear(&b);
    CHECK_INT(vfs_readlink(v, &tree_ctx, 0, STR("/mnt/host/abs"), &b), 0);
    CHECK_STR(buf_str(&b), STR("/etc/passwd"));
    struct stat st;
    struct vfs_stat got = tree_stat(v, "/mnt/host/dir/deep/c.txt");
    CHECK_INT(stat(host_path("m/dir/deep/c.txt"), &st), 0);
    CHECK_INT(got.mode, st.st_mode);
    CHECK_INT(got.size, 5);
    CHECK_INT(got.mtime, st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec);
    CHECK_INT(got.blocks, st.st_blocks);
    CHECK_INT(tree_stat(v, "/mnt/host/dir").nlink, 3);
    CHECK_INT(tree_stat(v, "/mnt/host/fifo").mode, S_IFIFO | 0600);
    CHECK(got.dev != tree_stat(v, "/").dev);
    tree_check(v);
    buf_clear(&b);
    CHECK_INT(vfs_dir_path(v, tree_ino(v, "/mnt/host/dir/deep"), &b), 0);
    CHECK_STR(buf_str(&b), STR("/mnt/host/dir/deep"));
    buf_done(&b);
    vfs_free(v);
}

/* What stat says of links, size and blocks is the host's until the tree has a copy of its own. */
TEST(links_and_blocks_are_the_hosts)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_COW);
    struct stat st;
    CHECK_INT(link(host_path("m/a.txt"), host_path("m/dir/a")), 0);
    CHECK_INT(tree_stat(v, "/mnt/host/a.txt").nlink, 2);
    CHECK_INT(tree_stat(v, "/mnt/host/dir/b.txt").nlink, 1);
    CHECK_INT(vfs_link(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), 0, STR("/mnt/host/more"), 0), 0);
    CHECK_INT(tree_stat(v, "/mnt/host/a.txt").nlink, 3);
    CHECK_INT(vfs_unlink(v, &tree_ctx, 0, STR("/mnt/host/a.txt")), 0);
    CHECK_INT(tree_stat(v, "/mnt/host/more").nlink, 2);
    tree_write(v, "/mnt/host/more", "copied");
    CHECK_INT(tree_stat(v, "/mnt/host/more").nlink, 1);
    CHECK_INT(stat(host_path("m/dir"), &st), 0);
    for (int pass = 0; pass < 2; pass++) { /* before and after its entries are known */
        CHECK_INT(tree_stat(v, "/mnt/host/dir").blocks, st.st_blocks);
        CHECK_INT(tree_stat(v, "/mnt/host/dir").size, st.st_size);
        CHECK(tree_ino(v, "/mnt/host/dir/b.txt") != 0);
    }
    tree_check(v);
    vfs_free(v);
}

/* Entering a directory and asking for its status give the same, whichever comes first; who may not read it is refused.
 */
TEST(entering_a_directory)
{
    static const struct vfs_cred other = {.uid = 5, .gid = 5};
    setup();
    for (int stat_first = 0; stat_first < 2; stat_first++) {
        struct vfs *v = mounted(VFS_MOUNT_COW);
        uint64_t dir = tree_ino(v, "/mnt/host/dir");
        if (stat_first)
            CHECK_INT(tree_stat(v, "/mnt/host/dir").mode, S_IFDIR | 0755);
        CHECK_INT(vfs_dir_enter(v, &tree_root, dir), 0);
        CHECK_INT(tree_stat(v, "/mnt/host/dir").mode, S_IFDIR | 0755);
        CHECK_INT(vfs_dir_enter(v, &other, tree_ino(v, "/mnt/host/dir/deep")), -EACCES);
        CHECK_INT(vfs_dir_enter(v, &tree_user, tree_ino(v, "/mnt/host/dir/deep")), 0);
        tree_check(v);
        vfs_free(v);
    }
}

/* A walk down and back up, status of every kind on the way, through more directories than are kept open. */
TEST(down_and_up_again)
{
    enum { DEPTH = 12 };
    setup();
    char path[] = "m/dir/deep/d/d/d/d/d/d/d/d/d/d/d/d", name[300];
    for (int i = 0; i < DEPTH; i++) {
        path[sizeof("m/dir/deep/d") - 1 + 2 * (size_t)i] = 0;
        CHECK_INT(mkdir(host_path(path), 0755), 0);
        snprintf(name, sizeof(name), "%s/f", path);
        put(name, path + strlen(path) - 2 * (size_t)i);
        path[strlen(path)] = '/';
    }
    path[sizeof(path) - 1] = 0;
    struct vfs *v = mounted(VFS_MOUNT_COW);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2 * DEPTH; i++) {
            int level = i < DEPTH ? i + 1 : 2 * DEPTH - i;
            snprintf(name, sizeof(name), "/mnt/host/dir/deep%.*s/f", 2 * level, path + strlen("m/dir/deep"));
            CHECK_INT(tree_stat(v, name).size, 2 * (level - 1));
            CHECK_INT(strlen(tree_read(v, name)), 2 * (level - 1));
        }
    }
    tree_check(v);
    vfs_free(v);
}

TEST(owners)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_RO);
    CHECK_INT(tree_stat(v, "/mnt/host/a.txt").uid, 1000);
    CHECK_INT(tree_stat(v, "/mnt/host/a.txt").gid, 1000);
    if (getuid() == 0) {
        CHECK_INT(chown(host_path("m/dir/b.txt"), 4321, 4322), 0);
        CHECK_INT(chmod(host_path("m/dir/b.txt"), 0600), 0);
        CHECK_INT(tree_stat(v, "/mnt/host/dir/b.txt").uid, 4321);
        CHECK_INT(tree_stat(v, "/mnt/host/dir/b.txt").gid, 4322);
        struct vfs_handle *h = NULL;
        CHECK_INT(vfs_open(v, &tree_user_ctx, 0, STR("/mnt/host/dir/b.txt"), O_RDONLY, 0, &h), -EACCES);
    }
    vfs_free(v);
}

TEST(read_only)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_RO);
    struct vfs_handle *h = NULL;
    tree_write(v, "/file", "x");
    CHECK_INT(tree_write(v, "/mnt/host/a.txt", "x"), -EROFS);
    CHECK_INT(tree_write(v, "/mnt/host/new", "x"), -EROFS);
    CHECK_INT(vfs_open(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), O_RDONLY | O_CREAT, 0644, &h), 0);
    vfs_close(h);
    CHECK_INT(tree_mkdir(v, "/mnt/host/new"), -EROFS);
    CHECK_INT(tree_mkdir(v, "/mnt/host/dir"), -EEXIST);
    CHECK_INT(vfs_unlink(v, &tree_ctx, 0, STR("/mnt/host/a.txt")), -EROFS);
    CHECK_INT(vfs_rmdir(v, &tree_ctx, 0, STR("/mnt/host/dir")), -EROFS);
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), 0, STR("/mnt/host/b"), 0), -EROFS);
    CHECK_INT(vfs_link(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), 0, STR("/mnt/host/b"), 0), -EROFS);
    CHECK_INT(vfs_chmod(v, &tree_root, tree_ino(v, "/mnt/host/a.txt"), 0), -EROFS);
    CHECK_INT(vfs_chown(v, &tree_root, tree_ino(v, "/mnt/host/a.txt"), 1, 1), -EROFS);
    CHECK_INT(vfs_utimens(v, &tree_root, tree_ino(v, "/mnt/host/a.txt"), 1, 1), -EROFS);
    CHECK_INT(vfs_truncate(v, tree_ino(v, "/mnt/host/a.txt"), 0), -EROFS);
    CHECK_INT(vfs_access(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), W_OK, 0), -EROFS);
    CHECK_INT(vfs_access(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), R_OK, 0), 0);
    CHECK_INT(vfs_rmdir(v, &tree_ctx, 0, STR("/mnt/host")), -EBUSY);
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/mnt/host"), 0, STR("/mnt/other"), 0), -EBUSY);
    /* Directories above the mount may move. */
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/mnt"), 0, STR("/moved"), 0), 0);
    CHECK_C(tree_read(v, "/moved/host/link"), "beta");
    tree_check(v);
    CHECK_C(host_read("m/a.txt"), "alpha");
    vfs_free(v);
}

TEST(links_stay_in_the_tree)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_COW);
    struct vfs_handle *h = NULL;
    CHECK_INT(vfs_open(v, &tree_ctx, 0, STR("/mnt/host/up"), O_RDONLY, 0, &h), -ENOENT);
    CHECK_INT(vfs_open(v, &tree_ctx, 0, STR("/mnt/host/abs"), O_RDONLY, 0, &h), -ENOENT);
    CHECK_INT(vfs_open(v, &tree_ctx, 0, STR("/mnt/host/../secret.txt"), O_RDONLY, 0, &h), -ENOENT);
    CHECK_INT(vfs_open(v, &tree_ctx, 0, STR("/mnt/host/dir/../../../../secret.txt"), O_RDONLY, 0, &h), -ENOENT);
    tree_write(v, "/mnt/secret.txt", "ours");
    CHECK_C(tree_read(v, "/mnt/host/up"), "ours");
    vfs_free(v);
}

TEST(copy_on_write)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_COW);
    struct vfs_handle *reader = tree_open(v, "/mnt/host/a.txt", O_RDONLY);
    char text[16] = "";
    struct vfs_quota before, after;
    vfs_usage(v, &before);
    CHECK_INT(vfs_pread(reader, text, 15, 0), 5);
    vfs_usage(v, &after);
    CHECK_INT(after.bytes, before.bytes);
    struct vfs_handle *h = tree_open(v, "/mnt/host/a.txt", O_RDWR);
    CHECK_INT(vfs_pwrite(h, "L", 1, 1, NULL), 1);
    CHECK_INT(vfs_pread(reader, text, 15, 0), 5);
    CHECK_C(text, "aLpha");
    vfs_close(h);
    vfs_close(reader);
    h = tree_open(v, "/mnt/host/dir/b.txt", O_WRONLY | O_APPEND);
    CHECK_INT(vfs_pwrite(h, "!", 1, 0, NULL), 1);
    vfs_close(h);
    CHECK_C(tree_read(v, "/mnt/host/link"), "beta!");
    CHECK_INT(tree_write(v, "/mnt/host/empty", "full"), 0);
    CHECK_INT(vfs_truncate(v, tree_ino(v, "/mnt/host/dir/deep/c.txt"), 2), 0);
    CHECK_C(tree_read(v, "/mnt/host/dir/deep/c.txt"), "ga");
    CHECK_INT(tree_mkdir(v, "/mnt/host/dir/new"), 0);
    CHECK_INT(tree_write(v, "/mnt/host/dir/new/f", "n"), 0);
    CHECK_INT(vfs_unlink(v, &tree_ctx, 0, STR("/mnt/host/up")), 0);
    CHECK_INT(tree_ino(v, "/mnt/host/up"), 0);
    tree_check(v);
    CHECK_C(host_read("m/a.txt"), "alpha");
    CHECK_C(host_read("m/dir/b.txt"), "beta");
    CHECK_C(host_read("m/dir/deep/c.txt"), "gamma");
    CHECK_C(host_read("m/dir/new/f"), "?");
    CHECK_INT(access(host_path("m/up"), F_OK), 0);
    vfs_free(v);
}

TEST(a_directory_moves_before_it_was_read)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_COW);
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/mnt/host/dir"), 0, STR("/mnt/host/elsewhere"), 0), 0);
    CHECK_C(tree_read(v, "/mnt/host/elsewhere/deep/c.txt"), "gamma");
    CHECK_C(tree_read(v, "/mnt/host/link"), "?");
    CHECK_INT(vfs_rmdir(v, &tree_ctx, 0, STR("/mnt/host/elsewhere")), -ENOTEMPTY);
    tree_check(v);
    vfs_free(v);
}

TEST(across_mounts)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_COW);
    tree_write(v, "/file", "x");
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/file"), 0, STR("/mnt/host/file"), 0), -EXDEV);
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), 0, STR("/a.txt"), 0), -EXDEV);
    CHECK_INT(vfs_link(v, &tree_ctx, 0, STR("/file"), 0, STR("/mnt/host/file"), 0), -EXDEV);
    CHECK_INT(vfs_link(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), 0, STR("/mnt/host/dir/a"), 0), 0);
    CHECK_INT(tree_stat(v, "/mnt/host/dir/a").nlink, 2);
    tree_write(v, "/mnt/host/dir/a", "both");
    CHECK_C(tree_read(v, "/mnt/host/a.txt"), "both");
    tree_check(v);
    vfs_free(v);
}

TEST(file_mounts)
{
    setup();
    struct vfs *v = tree_new();
    int fd = open(host_path("m/a.txt"), O_RDONLY | O_CLOEXEC);
    CHECK_INT(vfs_mount_host(v, STR("/etc/conf"), fd, VFS_MOUNT_COW, getuid(), getgid(), 7, 7), 0);
    CHECK_C(tree_read(v, "/etc/conf"), "alpha");
    CHECK_C(tree_read(v, "/etc/conf"), "alpha");
    CHECK_INT(tree_stat(v, "/etc/conf").uid, 7);
    CHECK_INT(vfs_unlink(v, &tree_ctx, 0, STR("/etc/conf")), -EBUSY);
    CHECK_INT(tree_write(v, "/etc/conf", "new"), 0);
    CHECK_C(tree_read(v, "/etc/conf"), "new");
    CHECK_C(host_read("m/a.txt"), "alpha");
    tree_check(v);
    /* A name alone cannot be read through once the worker is confined. */
    fd = open(host_path("m/a.txt"), O_PATH | O_CLOEXEC);
    CHECK_INT(vfs_mount_host(v, STR("/etc/other"), fd, VFS_MOUNT_COW, getuid(), getgid(), 7, 7), -EBADF);
    vfs_free(v);
}

TEST(mounts_cover)
{
    setup();
    struct vfs *v = tree_new();
    tree_mkdir(v, "/home");
    tree_write(v, "/home/old", "x");
    tree_write(v, "/plain", "x");
    int fd = open(host_path("m"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(vfs_mount_host(v, STR("/home"), dup(fd), 0, 0, 0, 0, 0), 0);
    CHECK_C(tree_read(v, "/home/a.txt"), "alpha");
    CHECK_INT(tree_ino(v, "/home/old"), 0);
    CHECK_INT(vfs_mount_host(v, STR("/plain"), dup(fd), 0, 0, 0, 0, 0), -ENOTDIR);
    CHECK_INT(vfs_mount_host(v, STR("/"), dup(fd), 0, 0, 0, 0, 0), -EBUSY);
    CHECK_INT(vfs_mount_host(v, STR("/fifo"), open(host_path("m/fifo"), O_PATH | O_CLOEXEC), 0, 0, 0, 0, 0), -EINVAL);
    /* A mount in a mount. */
    CHECK_INT(vfs_mount_host(v, STR("/home/dir"), dup(fd), 0, 0, 0, 0, 0), 0);
    CHECK_C(tree_read(v, "/home/dir/dir/b.txt"), "beta");
    tree_check(v);
    int rc = 0;
    for (unsigned i = 0; i < LIMIT_MOUNTS && rc == 0; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/m%u", i);
        rc = vfs_mount_host(v, str_c(path), dup(fd), VFS_MOUNT_RO, 0, 0, 0, 0);
    }
    CHECK_INT(rc, -ENOSPC);
    close(fd);
    tree_check(v);
    vfs_free(v);
}

static int add_mount(void *arg, const struct vfs_mount *m)
{
    return buf_addf(arg, "%.*s %d %llu\n", (int)m->path.n, m->path.p, m->read_only, (unsigned long long)m->dev);
}

TEST(mounts_are_listed)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_RO);
    struct buf got, want;
    buf_init(&got, 4096);
    buf_init(&want, 4096);
    int fd = open(host_path("m"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(vfs_mount_host(v, STR("/a/b"), dup(fd), VFS_MOUNT_COW, 0, 0, 0, 0), 0);
    CHECK_INT(vfs_mount_host(v, STR("/c"), dup(fd), VFS_MOUNT_COW, 0, 0, 0, 0), 0);
    CHECK_INT(vfs_mount_host(v, STR("/c"), fd, VFS_MOUNT_COW, 0, 0, 0, 0), 0);
    fd = open(host_path("m/a.txt"), O_RDONLY | O_CLOEXEC);
    CHECK_INT(vfs_mount_host(v, STR("/a/file"), fd, VFS_MOUNT_COW, 0, 0, 0, 0), 0);
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/a"), 0, STR("/moved"), 0), 0);
    /* The first one at /c was covered by the second. */
    static const char *const paths[] = {"/mnt/host", "/moved/b", "/c", "/moved/file"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        buf_addf(&want, "%s %d %llu\n", paths[i], i == 0, (unsigned long long)tree_stat(v, paths[i]).dev);
    CHECK_INT(vfs_mount_each(v, add_mount, &got), 0);
    CHECK_STR(buf_str(&got), buf_str(&want));
    buf_done(&got);
    buf_done(&want);
    vfs_free(v);
}

TEST(large_files)
{
    static char block[300000], got[300000];
    setup();
    for (size_t i = 0; i < sizeof(block); i++)
        block[i] = (char)(i * 7 + (i >> 9));
    int fd = open(host_path("m/big"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK_INT(write(fd, block, sizeof(block)), sizeof(block));
    close(fd);
    struct vfs *v = mounted(VFS_MOUNT_COW);
    struct vfs_handle *h = tree_open(v, "/mnt/host/big", O_RDWR);
    const void *p;
    size_t n;
    uint64_t off = 0;
    for (; vfs_peek(h, off, &p, &n) == 0 && n > 0; off += n)
        CHECK_INT(memcmp(p, block + off, n), 0);
    CHECK_INT(off, sizeof(block));
    CHECK_INT(vfs_pwrite(h, "!", 1, 150000, NULL), 1);
    block[150000] = '!';
    CHECK_INT(vfs_pread(h, got, sizeof(got), 0), sizeof(got));
    CHECK_INT(memcmp(got, block, sizeof(got)), 0);
    tree_check(v);
    vfs_close(h);
    vfs_free(v);
}

TEST(what_the_host_changes_later)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_COW);
    struct vfs_stat st;
    struct vfs_handle *h = NULL;
    CHECK(tree_ino(v, "/mnt/host/dir/deep") != 0);
    CHECK(tree_ino(v, "/mnt/host/dir/deep/c.txt") != 0);
    /* Gone; another thing under the name; a link where a directory was. */
    CHECK_INT(unlink(host_path("m/a.txt")), 0);
    CHECK_INT(vfs_stat(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), 0, &st), -ENOENT);
    CHECK_INT(vfs_open(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), O_RDONLY, 0, &h), -ENOENT);
    CHECK_INT(unlink(host_path("m/empty")), 0);
    CHECK_INT(symlink("../secret.txt", host_path("m/empty")), 0);
    CHECK_INT(vfs_open(v, &tree_ctx, 0, STR("/mnt/host/empty"), O_RDONLY, 0, &h), -ESTALE);
    CHECK_INT(vfs_stat(v, &tree_ctx, 0, STR("/mnt/host/empty"), 0, &st), -ESTALE);
    CHECK_INT(rename(host_path("m/dir"), host_path("m/dir2")), 0);
    CHECK_INT(symlink("../outside", host_path("m/dir")), 0);
    nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
    CHECK_INT(vfs_open(v, &tree_ctx, 0, STR("/mnt/host/dir/deep/c.txt"), O_RDONLY, 0, &h), -ESTALE);
    CHECK_INT(vfs_stat(v, &tree_ctx, 0, STR("/mnt/host/dir/b.txt"), 0, &st), -ESTALE);
    tree_check(v);
    vfs_free(v);
}

/* Swaps a directory and a symlink that leads out, as fast as it can. */
static void *swap(void *arg)
{
    volatile bool *stop = arg;
    while (!*stop)
        renameat2(AT_FDCWD, host_path("m/dir"), AT_FDCWD, host_path("m/evil"), RENAME_EXCHANGE);
    return NULL;
}

TEST(swapped_for_a_symlink_while_walking)
{
    volatile bool stop = false;
    pthread_t t;
    unsigned inside = 0, refused = 0;
    setup();
    put("m/dir/file", "INSIDE");
    CHECK_INT(symlink("../outside", host_path("m/evil")), 0);
    CHECK_INT(pthread_create(&t, NULL, swap, (void *)(uintptr_t)&stop), 0);
    for (unsigned i = 0; i < 4000; i++) {
        struct vfs *v = mounted(VFS_MOUNT_COW);
        static const char *const paths[] = {"/mnt/host/dir/file", "/mnt/host/evil/file"};
        const char *text = tree_read(v, paths[i % 2]);
        if (strcmp(text, "INSIDE") == 0)
            inside++;
        else
            refused += strcmp(text, "?") == 0;
        CHECK(!strstr(text, "SECRET"));
        vfs_free(v);
    }
    stop = true;
    pthread_join(t, NULL);
    CHECK_INT(inside + refused, 4000);
    CHECK(inside > 0);
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

static void read_all(struct vfs *v)
{
    struct buf b = tree_dump(v);
    buf_done(&b);
}

TEST(diff_of_a_mount)
{
    setup();
    struct vfs *v = mounted(VFS_MOUNT_COW);
    struct vfs *before = vfs_fork(v);
    read_all(v);
    check_diff(before, v, "");
    CHECK_INT(tree_write(v, "/mnt/host/dir/deep/c.txt", "delta"), 0);
    CHECK_INT(tree_write(v, "/mnt/host/dir/deep/d.txt", "new"), 0);
    CHECK_INT(vfs_unlink(v, &tree_ctx, 0, STR("/mnt/host/a.txt")), 0);
    CHECK_INT(vfs_chmod(v, &tree_root, tree_ino(v, "/mnt/host/dir/b.txt"), 0600), 0);
    check_diff(before, v,
               "-/mnt/host/a.txt m!/mnt/host/dir/b.txt ~/mnt/host/dir/deep/c.txt +/mnt/host/dir/deep/d.txt ");
    /* Back as it was: content is compared with the host's, times are not. */
    struct vfs_stat old = tree_stat(before, "/mnt/host/dir/deep/c.txt");
    CHECK_INT(tree_write(v, "/mnt/host/dir/deep/c.txt", "gamma"), 0);
    CHECK_INT(vfs_utimens(v, &tree_root, tree_ino(v, "/mnt/host/dir/deep/c.txt"), INT64_MIN, old.mtime), 0);
    check_diff(before, v, "-/mnt/host/a.txt m!/mnt/host/dir/b.txt +/mnt/host/dir/deep/d.txt ");
    /* Both sides have read the directory, each for itself. */
    read_all(before);
    check_diff(before, v, "-/mnt/host/a.txt m!/mnt/host/dir/b.txt +/mnt/host/dir/deep/d.txt ");
    tree_check(v);
    tree_check(before);
    vfs_free(before);
    vfs_free(v);
}

TEST(diff_of_swapped_directories)
{
    setup();
    CHECK_INT(mkdir(host_path("m/dir2"), 0755), 0);
    put("m/dir2/b.txt", "another");
    struct vfs *v = mounted(VFS_MOUNT_COW);
    struct vfs *before = vfs_fork(v);
    CHECK_INT(vfs_rename(v, &tree_ctx, 0, STR("/mnt/host/dir"), 0, STR("/mnt/host/dir2"), RENAME_EXCHANGE), 0);
    check_diff(before, v,
               "~/mnt/host/dir/b.txt -/mnt/host/dir/deep -/mnt/host/dir/deep/c.txt ~/mnt/host/dir2/b.txt "
               "+/mnt/host/dir2/deep +/mnt/host/dir2/deep/c.txt ");
    vfs_free(before);
    vfs_free(v);
}

/* ---- limits and failures ---- */

TEST(more_entries_than_inodes)
{
    setup();
    struct vfs_quota quota = {1 << 20, 8}, used, before;
    struct vfs *v = mounted(VFS_MOUNT_COW);
    uint64_t ino;
    vfs_usage(v, &before);
    vfs_set_quota(v, &quota);
    CHECK_INT(vfs_lookup(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), 0, &ino), -ENOSPC);
    vfs_usage(v, &used);
    CHECK_INT(used.inodes, before.inodes);
    tree_check(v);
    quota.inodes = 100;
    vfs_set_quota(v, &quota);
    CHECK_INT(vfs_lookup(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), 0, &ino), 0);
    /* A host file bigger than the quota can be read and not written. */
    quota.bytes = 3;
    vfs_set_quota(v, &quota);
    struct vfs_handle *h = tree_open(v, "/mnt/host/a.txt", O_RDWR);
    CHECK_INT(vfs_pwrite(h, "x", 1, 0, NULL), -EDQUOT);
    vfs_close(h);
    CHECK_C(tree_read(v, "/mnt/host/a.txt"), "alpha");
    tree_check(v);
    vfs_free(v);
}

static int touch_everything(struct vfs *v)
{
    struct vfs_stat st;
    struct vfs_handle *h = NULL;
    int rc = vfs_stat(v, &tree_ctx, 0, STR("/mnt/host/link"), VFS_NOFOLLOW, &st);
    if (rc == 0)
        rc = vfs_stat(v, &tree_ctx, 0, STR("/mnt/host/dir/deep/c.txt"), 0, &st);
    if (rc == 0)
        rc = vfs_open(v, &tree_ctx, 0, STR("/mnt/host/a.txt"), O_RDWR, 0, &h);
    if (rc == 0) {
        const void *p;
        size_t n;
        rc = vfs_peek(h, 0, &p, &n);
    }
    if (rc == 0) {
        ssize_t got = vfs_pwrite(h, "x", 1, 0, NULL);
        rc = got < 0 ? (int)got : 0;
    }
    vfs_close(h);
    return rc;
}

TEST(failed_allocations_on_the_host_side)
{
    setup();
    struct vfs *fresh = mounted(VFS_MOUNT_COW);
    int rc = -ENOMEM;
    for (uint64_t k = 1; rc == -ENOMEM && k < 1000; k++) {
        struct vfs *v = vfs_fork(fresh);
        mem_fail_after(k);
        rc = touch_everything(v);
        mem_fail_after(0);
        CHECK(rc == 0 || rc == -ENOMEM);
        tree_check(v);
        /* What failed works when there is memory. */
        CHECK_INT(touch_everything(v), 0);
        CHECK_C(tree_read(v, "/mnt/host/a.txt"), "xlpha");
        tree_check(v);
        vfs_free(v);
    }
    CHECK_INT(rc, 0);
    for (uint64_t k = 1; k < 30; k++) {
        struct vfs *v = vfs_fork(fresh);
        int fd = open(host_path("m"), O_PATH | O_DIRECTORY | O_CLOEXEC);
        mem_fail_after(k);
        rc = vfs_mount_host(v, STR("/x/y/z"), fd, VFS_MOUNT_RO, 0, 0, 0, 0);
        mem_fail_after(0);
        CHECK(rc == 0 || rc == -ENOMEM);
        tree_check(v);
        vfs_free(v);
    }
    vfs_free(fresh);
}

TEST(descriptors_are_closed)
{
    setup();
    int probe = dup(0);
    close(probe);
    for (int i = 0; i < 5; i++) {
        struct vfs *v = mounted(VFS_MOUNT_COW);
        struct vfs *f = vfs_fork(v);
        read_all(v);
        read_all(f);
        vfs_free(v);
        vfs_free(f);
    }
    int again = dup(0);
    CHECK_INT(again, probe);
    close(again);
}
