/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Fuzz target: the input is a sequence of operations with raw paths, run on a small tree with symlinks as an ordinary
 * user and as root. After each input the tree must hold its invariants, and a fork taken before must be as it was.
 *
 * A record is: operation, length, that many path bytes. Operations with two paths take the next record's for the
 * second.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "vfs/vfs.h"

/* The target (its name is libFuzzer's). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct input {
    const uint8_t *p;
    size_t n;
};

static const struct vfs_cred root = {0}, user = {.uid = 1000, .gid = 1000};
static const struct vfs_quota quota = {1 << 20, 200};

static struct str take_path(struct input *in)
{
    size_t n = in->n > 0 ? in->p[0] : 0;
    if (in->n > 0)
        in->p++, in->n--;
    if (n > in->n)
        n = in->n;
    struct str s = str_of((const char *)in->p, n);
    in->p += n;
    in->n -= n;
    return s;
}

static struct vfs *build(void)
{
    static const char *const dirs[] = {"/d", "/d/e", "/d/e/f", "/private"};
    static const char *const links[][2] = {
        {"d", "/l"},       {"../..", "/d/e/up"},     {"/d/e/", "/abs"},
        {"loop", "/loop"}, {"missing", "/dangling"}, {"../l/e/up/l/./e", "/d/chain"}};
    struct vfs_ctx ctx = {.cred = &root, .cwd = VFS_ROOT_INO, .umask = 022};
    struct vfs *v = vfs_new(&quota);
    uint64_t ino;
    if (!v)
        abort();
    for (unsigned i = 0; i < 4; i++)
        vfs_mkdir(v, &ctx, 0, str_c(dirs[i]), i == 3 ? 0700 : 01777);
    for (unsigned i = 0; i < 6; i++)
        vfs_symlink(v, &ctx, str_c(links[i][0]), 0, str_c(links[i][1]));
    vfs_mknod(v, &ctx, 0, STR("/d/file"), S_IFREG | 0666, 0);
    if (vfs_lookup(v, &ctx, 0, STR("/d/chain/f"), 0, &ino) < 0 || vfs_chmod(v, &root, VFS_ROOT_INO, 0777) < 0)
        abort();
    return v;
}

static void open_and_write(struct vfs *v, const struct vfs_ctx *ctx, uint64_t at, struct str path, int oflags,
                           uint64_t off)
{
    struct vfs_handle *h = NULL;
    const void *p;
    size_t n;
    if (vfs_open(v, ctx, at, path, oflags, 0644, &h) < 0)
        return;
    vfs_pwrite(h, path.p, path.n, off, NULL);
    vfs_peek(h, off / 2, &p, &n);
    vfs_ftruncate(h, off);
    vfs_close(h);
}

static void run_one(struct vfs *v, const struct vfs_ctx *ctx, struct input *in)
{
    uint8_t op = in->p[0];
    in->p++;
    in->n--;
    struct str a = take_path(in);
    uint64_t ino = 0, at = 0;
    struct vfs_stat st;
    struct buf b;
    int flags = op >> 4 & 7;
    buf_init(&b, LIMIT_PATH);
    if (op & 0x80 && vfs_lookup(v, ctx, 0, STR("/d/e"), VFS_DIRECTORY, &ino) == 0)
        at = ino;
    switch (op & 15) {
    case 0:
        vfs_lookup(v, ctx, at, a, flags, &ino);
        break;
    case 1:
        vfs_mkdir(v, ctx, at, a, 0755);
        break;
    case 2:
        vfs_rmdir(v, ctx, at, a);
        break;
    case 3:
        vfs_unlink(v, ctx, at, a);
        break;
    case 4:
        vfs_symlink(v, ctx, a, at, take_path(in));
        break;
    case 5:
        vfs_link(v, ctx, at, a, 0, take_path(in), flags & 1 ? VFS_FOLLOW_OLD : 0);
        break;
    case 6:
    case 7:
        vfs_rename(v, ctx, at, a, 0, take_path(in), (unsigned)flags & 3);
        break;
    case 8:
        vfs_readlink(v, ctx, at, a, &b);
        break;
    case 9:
        vfs_access(v, ctx, at, a, flags, 0);
        break;
    case 10:
        open_and_write(v, ctx, at, a, O_RDWR | O_CREAT, (uint64_t)flags * 30000);
        break;
    case 11:
        open_and_write(v, ctx, at, a, O_RDWR | (flags & 1 ? O_TRUNC : 0) | (flags & 2 ? O_APPEND : 0),
                       (uint64_t)flags * 7);
        break;
    case 12:
        if (vfs_lookup(v, ctx, at, a, 0, &ino) == 0)
            vfs_chmod(v, ctx->cred, ino, (uint32_t)flags << 6 | 07);
        break;
    case 13:
        if (vfs_lookup(v, ctx, at, a, VFS_NOFOLLOW, &ino) == 0)
            vfs_chown(v, ctx->cred, ino, flags & 1 ? 1000 : UINT32_MAX, flags & 2 ? 1000 : UINT32_MAX);
        break;
    case 14:
        if (vfs_lookup(v, ctx, at, a, VFS_DIRECTORY, &ino) == 0)
            vfs_dir_path(v, ino, &b);
        break;
    default:
        vfs_stat(v, ctx, at, a, flags & VFS_NOFOLLOW, &st);
        break;
    }
    buf_done(&b);
}

static int count_change(void *arg, const struct vfs_change *c)
{
    ++*(unsigned *)arg;
    return c->path.n > 0 && c->path.p[0] == '/' ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct input in = {data, n};
    const char *what;
    unsigned changes = 0;
    struct vfs *v = build(), *before = vfs_fork(v);
    struct vfs_ctx ctx = {.cwd = VFS_ROOT_INO, .umask = 022};
    if (!before)
        abort();
    for (unsigned i = 0; in.n > 0 && i < 500; i++) {
        ctx.cred = i % 3 ? &user : &root;
        run_one(v, &ctx, &in);
    }
    if (vfs_check(v, &what) < 0 || vfs_check(before, &what) < 0)
        abort();
    if (vfs_diff(before, v, count_change, &changes) < 0)
        abort();
    vfs_free(v);
    if (vfs_check(before, &what) < 0)
        abort();
    vfs_free(before);
    return 0;
}
