/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* tree - what the tests of the vfs share: short forms of calls, and a text of a whole tree. */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/test/test.h"
#include "vfs/vfs.h"

static const struct vfs_cred tree_root = {0};
static const struct vfs_cred tree_user = {.uid = 1000, .gid = 1000};
static const struct vfs_ctx tree_ctx = {.cred = &tree_root, .cwd = VFS_ROOT_INO, .umask = 022};
static const struct vfs_ctx tree_user_ctx = {.cred = &tree_user, .cwd = VFS_ROOT_INO, .umask = 022};

/* A tree with a quota of 1 GiB and 1 M inodes. */
static inline struct vfs *tree_new(void)
{
    static const struct vfs_quota quota = {UINT64_C(1) << 30, 1 << 20};
    return vfs_new(&quota);
}

static inline int tree_mkdir(struct vfs *v, const char *path)
{
    return vfs_mkdir(v, &tree_ctx, 0, str_c(path), 0755);
}

/* Opens as root. */
static inline struct vfs_handle *tree_open(struct vfs *v, const char *path, int oflags)
{
    struct vfs_handle *h = NULL;
    int rc = vfs_open(v, &tree_ctx, 0, str_c(path), oflags, 0644, &h);
    CHECK_INT(rc, 0);
    return h;
}

/* Makes or replaces a file with @text. */
static inline int tree_write(struct vfs *v, const char *path, const char *text)
{
    struct vfs_handle *h = NULL;
    int rc = vfs_open(v, &tree_ctx, 0, str_c(path), O_WRONLY | O_CREAT | O_TRUNC, 0644, &h);
    if (rc == 0) {
        ssize_t got = vfs_pwrite(h, text, strlen(text), 0, NULL);
        rc = got < 0 ? (int)got : 0;
    }
    vfs_close(h);
    return rc;
}

/* The bytes of a file, at most 4095, NUL-terminated, in a static buffer; "?" when it cannot be read. */
static inline const char *tree_read(struct vfs *v, const char *path)
{
    static char text[4096];
    struct vfs_handle *h = NULL;
    ssize_t got = -1;
    if (vfs_open(v, &tree_ctx, 0, str_c(path), O_RDONLY, 0, &h) == 0)
        got = vfs_pread(h, text, sizeof(text) - 1, 0);
    vfs_close(h);
    if (got < 0)
        return "?";
    text[got] = 0;
    return text;
}

static inline uint64_t tree_ino(struct vfs *v, const char *path)
{
    uint64_t ino = 0;
    return vfs_lookup(v, &tree_ctx, 0, str_c(path), VFS_NOFOLLOW, &ino) == 0 ? ino : 0;
}

static inline struct vfs_stat tree_stat(struct vfs *v, const char *path)
{
    struct vfs_stat st = {0};
    CHECK_INT(vfs_stat(v, &tree_ctx, 0, str_c(path), VFS_NOFOLLOW, &st), 0);
    return st;
}

/* Fails the test with the invariant that does not hold. */
static inline void tree_check(struct vfs *v)
{
    const char *what = "";
    int rc = vfs_check(v, &what);
    CHECK_INT(rc, 0);
    if (rc < 0)
        CHECK_C(what, "");
}

/* Appends a line for everything below @dir: path, status but atime, content. */
static inline void tree_text(struct vfs *v, uint64_t dir, struct buf *path, struct buf *out)
{
    struct vfs_dirent e;
    char name[LIMIT_NAME + 1] = "";
    size_t base = path->n;
    while (vfs_dir_next(v, dir, str_c(name), &e) == 1) {
        struct vfs_stat st = {0};
        memcpy(name, e.name.p, e.name.n);
        name[e.name.n] = 0;
        buf_trunc(path, base);
        buf_addf(path, "/%s", name);
        CHECK_INT(vfs_stat_ino(v, e.ino, &st), 0);
        buf_addf(out, "%s %o %u %u %u %llu %llu %lld %lld", path->p, st.mode, st.nlink, st.uid, st.gid,
                 (unsigned long long)st.ino, (unsigned long long)st.size, (long long)st.mtime, (long long)st.ctime);
        if (S_ISLNK(st.mode)) {
            buf_addc(out, " -> ");
            CHECK_INT(vfs_readlink(v, &tree_ctx, dir, str_c(name), out), 0);
        } else if (S_ISREG(st.mode)) {
            struct vfs_handle *h = NULL;
            const void *p = NULL;
            size_t n = 0;
            uint64_t off = 0, hash = 1;
            CHECK_INT(vfs_open_ino(v, e.ino, O_RDONLY, &h), 0);
            for (; h && vfs_peek(h, off, &p, &n) == 0 && n > 0; off += n) {
                for (size_t i = 0; i < n; i++)
                    hash = (hash ^ ((const uint8_t *)p)[i]) * UINT64_C(0x100000001b3);
            }
            buf_addf(out, " %llx", (unsigned long long)hash);
            vfs_close(h);
        }
        buf_putc(out, '\n');
        if (S_ISDIR(st.mode))
            tree_text(v, e.ino, path, out);
    }
    buf_trunc(path, base);
}

/* The text of a whole tree; the caller calls buf_done(). */
static inline struct buf tree_dump(struct vfs *v)
{
    struct buf path, out;
    buf_init(&path, 1 << 20);
    buf_init(&out, 256 << 20);
    tree_text(v, VFS_ROOT_INO, &path, &out);
    buf_done(&path);
    return out;
}
