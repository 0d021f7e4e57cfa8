/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/test/test.h"
#include "vfs/vfs.h"
#include "wasm/layer.h"

static const struct vfs_cred user = {.uid = 1000, .gid = 1000};
static const struct vfs_ctx ctx = {.cred = &user, .cwd = VFS_ROOT_INO, .umask = 022};

/* The layer of a directory that the shell text @make fills: its bytes, in a file that is gone. */
static void make_layer(const char *make, struct buf *ret)
{
    char dir[] = "/tmp/layer-XXXXXX", text[4096];
    CHECK(mkdtemp(dir) != NULL);
    snprintf(text, sizeof text,
             "cd %s && mkdir root && cd root && umask 022 && { %s; } && cd .. && \"$MKLAYER\" root out", dir, make);
    CHECK_INT(system(text), 0);
    snprintf(text, sizeof text, "%s/out", dir);
    FD_AUTO int fd = open(text, O_RDONLY);
    char block[65536];
    buf_init(ret, 1u << 26);
    for (ssize_t n; (n = read(fd, block, sizeof block)) > 0;)
        buf_add(ret, block, (size_t)n);
    snprintf(text, sizeof text, "rm -r %s", dir);
    CHECK_INT(system(text), 0);
}

static int open_bytes(const char *p, size_t n, struct layer **ret, struct err *err)
{
    char name[] = "/tmp/layer-XXXXXX";
    int fd = mkstemp(name);
    CHECK(fd >= 0 && unlink(name) == 0);
    CHECK_INT(write(fd, p, n), n);
    return layer_open(fd, ret, err);
}

static struct vfs *tree_with(struct layer *l)
{
    struct vfs_quota q = {1 << 20, 1000};
    struct vfs *v = vfs_new(&q);
    struct vfs_cred root = {0};
    struct vfs_ctx as_root = {.cred = &root, .cwd = VFS_ROOT_INO, .umask = 022};
    CHECK_INT(vfs_mkdir(v, &as_root, 0, STR("/l"), 0755), 0);
    CHECK_INT(vfs_provide(v, STR("/l"), &layer_provider, l), 0);
    return v;
}

static void check_file(struct vfs *v, const char *path, struct str want, uint32_t mode)
{
    char got[256];
    struct vfs_handle *h;
    struct vfs_stat st;
    if (!CHECK_INT(vfs_open(v, &ctx, 0, str_c(path), O_RDONLY, 0, &h), 0))
        return;
    ssize_t n = vfs_pread(h, got, sizeof got, 0);
    CHECK_STR(str_of(got, n < 0 ? 0 : (size_t)n), want);
    CHECK_INT(vfs_stat(v, &ctx, 0, str_c(path), 0, &st), 0);
    CHECK_INT(st.size, want.n);
    CHECK_INT(st.mode, mode);
    CHECK_INT(st.uid, 0);
    vfs_close(h);
}

TEST(files_directories_and_links)
{
    struct buf b;
    struct layer *l;
    struct err err;
    struct vfs_handle *h;
    make_layer("mkdir -p a/b z; printf hello > a/b/f; : > a/empty; printf x > a.txt; chmod +x a.txt; ln -s b/f a/link",
               &b);
    CHECK_INT(open_bytes(b.p, b.n, &l, &err), 0);
    struct vfs *v = tree_with(l);
    check_file(v, "/l/a/b/f", STR("hello"), S_IFREG | 0644);
    check_file(v, "/l/a/empty", STR(""), S_IFREG | 0644);
    check_file(v, "/l/a.txt", STR("x"), S_IFREG | 0755);
    check_file(v, "/l/a/link", STR("hello"), S_IFREG | 0644);
    check_file(v, "/l/a/b/../b/f", STR("hello"), S_IFREG | 0644);
    CHECK_INT(vfs_open(v, &ctx, 0, STR("/l/a/b"), O_RDONLY | O_DIRECTORY, 0, &h), 0);
    vfs_close(h);
    CHECK_INT(vfs_open(v, &ctx, 0, STR("/l/a/none"), O_RDONLY, 0, &h), -ENOENT);
    CHECK_INT(vfs_open(v, &ctx, 0, STR("/l/a.txt"), O_WRONLY, 0, &h), -EACCES);
    CHECK(vfs_open(v, &ctx, 0, STR("/l/new"), O_WRONLY | O_CREAT, 0644, &h) < 0);
    CHECK(vfs_unlink(v, &ctx, 0, STR("/l/a.txt")) < 0);
    struct vfs_dirent e;
    uint64_t dir;
    BUF_AUTO struct buf names;
    buf_init(&names, 4096);
    CHECK_INT(vfs_lookup(v, &ctx, 0, STR("/l"), VFS_DIRECTORY, &dir), 0);
    char after[LIMIT_NAME + 1] = "";
    while (vfs_dir_next(v, dir, str_c(after), &e) == 1) {
        memcpy(after, e.name.p, e.name.n);
        after[e.name.n] = 0;
        buf_addf(&names, "%s ", after);
    }
    CHECK_STR(buf_str(&names), STR("a a.txt z "));
    uint64_t inner, up;
    CHECK_INT(vfs_lookup(v, &ctx, 0, STR("/l/a/b"), VFS_DIRECTORY, &inner), 0);
    buf_trunc(&names, 0);
    CHECK_INT(vfs_dir_path(v, inner, &names), 0);
    CHECK_STR(buf_str(&names), STR("/l/a/b"));
    CHECK_INT(vfs_lookup(v, &ctx, 0, STR("/l/a/.."), VFS_DIRECTORY, &up), 0);
    CHECK_INT(up, dir);
    vfs_free(v);
    layer_close(l);
    buf_done(&b);
}

TEST(equal_directories_give_equal_files)
{
    struct buf a, b;
    make_layer("mkdir d; echo 1 > d/x; echo 2 > y", &a);
    make_layer("echo 2 > y; mkdir d; sleep 0.01; echo 1 > d/x", &b);
    CHECK(str_eq(buf_str(&a), buf_str(&b)));
    buf_done(&a);
    buf_done(&b);
}

/* Everything that a layer shows, so that a sanitizer sees what it reads. */
static void look_at_all(struct vfs *v, uint64_t dir, int depth)
{
    struct vfs_dirent e;
    char name[LIMIT_NAME + 1] = "";
    for (int i = 0; i < 100 && depth < 6 && vfs_dir_next(v, dir, str_c(name), &e) == 1; i++) {
        struct vfs_handle *h;
        char block[4096];
        memcpy(name, e.name.p, e.name.n);
        name[e.name.n] = 0;
        if (S_ISDIR(e.type))
            look_at_all(v, e.ino, depth + 1);
        else if (S_ISREG(e.type) && vfs_open_ino(v, e.ino, O_RDONLY, &h) == 0) {
            for (uint64_t at = 0; vfs_pread(h, block, sizeof block, at) > 0 && at < 1u << 20;)
                at += sizeof block;
            vfs_close(h);
        }
    }
}

/* A name that lies nowhere: its path is lost, and the others are as they were. */
TEST(damage_is_of_its_path)
{
    struct buf b;
    struct layer *l;
    struct err err;
    struct vfs_handle *h;
    make_layer("mkdir a b; printf hello > a/f; printf x > b/g", &b);
    memset(b.p + 16 + 40 + 8, 0xff, 8); /* entry 1 is a: its name */
    CHECK_INT(open_bytes(b.p, b.n, &l, &err), 0);
    struct vfs *v = tree_with(l);
    CHECK(vfs_open(v, &ctx, 0, STR("/l/a/f"), O_RDONLY, 0, &h) < 0);
    check_file(v, "/l/b/g", STR("x"), S_IFREG | 0644);
    vfs_free(v);
    layer_close(l);
    buf_done(&b);
}

TEST_LIMIT(damage_is_refused_or_harmless, 240)
{
    struct buf b;
    uint64_t rnd = test_seed(), opened = 0, refused = 0;
    make_layer("mkdir -p a/b/c z; printf hello > a/b/f; printf x > a.txt; ln -s b/f a/link; seq 100 > a/b/c/s", &b);
    for (int i = 0; i < 4000; i++) {
        struct buf m;
        struct layer *l;
        struct err err;
        buf_init(&m, b.n);
        buf_adds(&m, buf_str(&b));
        for (uint64_t k = test_rand(&rnd) % 3 + 1; k > 0; k--)
            m.p[test_rand(&rnd) % NUM_MIN(m.n, (size_t)460)] = (char)(test_rand(&rnd) % 4 ? test_rand(&rnd) : 0xff);
        size_t n = test_rand(&rnd) % 4 ? m.n : test_rand(&rnd) % m.n;
        if (open_bytes(m.p, n, &l, &err) == 0) {
            struct vfs *v = tree_with(l);
            uint64_t dir;
            if (vfs_lookup(v, &ctx, 0, STR("/l"), VFS_DIRECTORY, &dir) == 0)
                look_at_all(v, dir, 0);
            vfs_free(v);
            layer_close(l);
            opened++;
        } else {
            refused++;
        }
        buf_done(&m);
    }
    CHECK(opened > 0 && refused > 0);
    buf_done(&b);
}
