/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "wasm/wasi_int.h"

/* Files in frontal_sandbox_1. */

#define CWD UINT32_MAX /* dirfd -1 */
#define STAT_BYTES 96u
#define MODE_BITS 07777u

static struct vfs *tree(const struct wasi *w)
{
    return proc_set_vfs(w->p->ps);
}

/* A path and where it starts: 0 is the working directory. An absolute path has no use for @dirfd. */
static int place(const struct wasi *w, uint32_t dirfd, uint32_t p, uint32_t n, uint64_t *ret_at, struct str *ret)
{
    TRY(wasi__path(w, p, n, ret));
    *ret_at = 0;
    if (dirfd == CWD || (ret->n && ret->p[0] == '/'))
        return 0;
    return wasi__dirfd(w, dirfd, 0, ret_at);
}

static int find(struct wasi *w, uint64_t at, struct str path, int flags, uint64_t *ret_ino)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    return vfs_lookup(tree(w), &ctx, at, path, flags, ret_ino);
}

/* Gives @s to the guest's buffer and its length to @ret_n. */
static int give(struct wasi *w, struct str s, uint32_t p, uint32_t n, uint32_t ret_n)
{
    if (!wasi_in(w, p, n) || !wasi_in(w, ret_n, 4))
        return WASI_FAULT;
    if (s.n > n)
        return WASI_RANGE;
    wasi_put(w, p, s.p, s.n);
    wasi_put32(w, ret_n, (uint32_t)s.n);
    return 0;
}

/* ---- mode, status, owner ---- */

int wasi__host_create_mode(struct wasi *w, const uint64_t *args)
{
    if (ARG32(0) & ~MODE_BITS)
        return WASI_INVAL;
    w->create_mode_set = true;
    w->create_mode = ARG32(0);
    return 0;
}

static void put_stat(struct wasi *w, uint32_t p, const struct vfs_stat *st)
{
    const uint64_t wide[] = {st->dev, st->ino, st->nlink, st->rdev, st->size, st->blocks};
    const uint32_t narrow[] = {st->mode, st->uid, st->gid, st->blksize};
    const int64_t times[] = {st->atime, st->mtime, st->ctime, 0};
    wasi_put(w, p, wide, sizeof wide);
    wasi_put(w, p + UINT64_C(48), narrow, sizeof narrow);
    wasi_put(w, p + UINT64_C(64), times, sizeof times);
}

int wasi__host_stat(struct wasi *w, const uint64_t *args)
{
    uint64_t at;
    struct str path;
    struct vfs_stat st;
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), ARG32(1), ARG32(2), &at, &path));
    if (ARG32(3) > 1)
        return WASI_INVAL;
    if (!wasi_in(w, ARG32(4), STAT_BYTES))
        return WASI_FAULT;
    int r = proc_stat_at(w->p, at, path, ARG32(3) ? VFS_NOFOLLOW : 0, &st);
    if (r == 0)
        put_stat(w, ARG32(4), &st);
    return wasi__result(w, r);
}

int wasi__host_fstat(struct wasi *w, const uint64_t *args)
{
    struct vfs_stat st;
    TRY(wasi__turn(w));
    TRY(wasi__fd(w, ARG32(0), 0));
    if (!wasi_in(w, ARG32(1), STAT_BYTES))
        return WASI_FAULT;
    int r = wasi__fstat(w, ARG32(0), &st);
    if (r == 0)
        put_stat(w, ARG32(1), &st);
    return wasi__result(w, r);
}

/* The file that the first three arguments name. */
static int find_at(struct wasi *w, const uint64_t *args, uint32_t nofollow, uint64_t *ret)
{
    uint64_t at;
    struct str path;
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), ARG32(1), ARG32(2), &at, &path));
    if (nofollow > 1)
        return WASI_INVAL;
    return wasi__result(w, find(w, at, path, nofollow ? VFS_NOFOLLOW : 0, ret));
}

int wasi__host_chmod(struct wasi *w, const uint64_t *args)
{
    uint64_t ino;
    TRY(find_at(w, args, 0, &ino));
    return wasi__result(w, vfs_chmod(tree(w), &w->p->cred, ino, ARG32(3) & MODE_BITS));
}

int wasi__host_fchmod(struct wasi *w, const uint64_t *args)
{
    TRY(wasi__fd(w, ARG32(0), 0));
    uint64_t ino = wasi__ino(w, ARG32(0));
    if (!ino)
        return WASI_INVAL;
    return wasi__result(w, vfs_chmod(tree(w), &w->p->cred, ino, ARG32(1) & MODE_BITS));
}

int wasi__host_chown(struct wasi *w, const uint64_t *args)
{
    uint64_t ino;
    TRY(find_at(w, args, ARG32(3), &ino));
    return wasi__result(w, vfs_chown(tree(w), &w->p->cred, ino, ARG32(4), ARG32(5)));
}

/* The two times as vfs_utimens() has them, which are those of the import. */
int wasi__host_utimens(struct wasi *w, const uint64_t *args)
{
    uint64_t ino;
    TRY(find_at(w, args, ARG32(3), &ino));
    return wasi__result(w, vfs_utimens(tree(w), &w->p->cred, ino, (int64_t)args[4], (int64_t)args[5]));
}

int wasi__host_futimens(struct wasi *w, const uint64_t *args)
{
    TRY(wasi__fd(w, ARG32(0), 0));
    uint64_t ino = wasi__ino(w, ARG32(0));
    if (!ino)
        return 0; /* a pipe's times are nobody's */
    return wasi__result(w, vfs_utimens(tree(w), &w->p->cred, ino, (int64_t)args[1], (int64_t)args[2]));
}

int wasi__host_fchown(struct wasi *w, const uint64_t *args)
{
    TRY(wasi__fd(w, ARG32(0), 0));
    uint64_t ino = wasi__ino(w, ARG32(0));
    if (!ino)
        return WASI_INVAL;
    return wasi__result(w, vfs_chown(tree(w), &w->p->cred, ino, ARG32(1), ARG32(2)));
}

/* Real and effective ids are the same here, so flag 2 changes nothing. */
int wasi__host_access(struct wasi *w, const uint64_t *args)
{
    uint64_t at;
    struct str path;
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), ARG32(1), ARG32(2), &at, &path));
    if (ARG32(3) > 7 || (ARG32(4) & ~2u))
        return WASI_INVAL;
    return wasi__result(w, proc_access_at(w->p, at, path, (int)ARG32(3)));
}

int wasi__host_mkfifo(struct wasi *w, const uint64_t *args)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    uint64_t at;
    struct str path;
    TRY(wasi__turn(w));
    TRY(place(w, ARG32(0), ARG32(1), ARG32(2), &at, &path));
    uint32_t mode = w->create_mode_set ? w->create_mode & 0777 : 0666;
    w->create_mode_set = false;
    return wasi__result(w, vfs_mknod(tree(w), &ctx, at, path, S_IFIFO | mode, 0));
}

/* ---- the working directory, and paths ---- */

int wasi__host_chdir(struct wasi *w, const uint64_t *args)
{
    struct str path;
    TRY(wasi__turn(w));
    TRY(wasi__path(w, ARG32(0), ARG32(1), &path));
    return wasi__result(w, proc_chdir(w->p, path));
}

int wasi__host_fchdir(struct wasi *w, const uint64_t *args)
{
    uint64_t ino;
    TRY(wasi__dirfd(w, ARG32(0), 0, &ino));
    return wasi__result(w, proc_chdir_ino(w->p, ino));
}

int wasi__host_getcwd(struct wasi *w, const uint64_t *args)
{
    struct buf out BUF_AUTO;
    buf_init(&out, LIMIT_PATH);
    int r = vfs_dir_path(tree(w), vfs_handle_ino(w->p->cwd), &out);
    if (r < 0)
        return wasi__result(w, r);
    return give(w, buf_str(&out), ARG32(0), ARG32(1), ARG32(2));
}

/* Cuts the last name off: false when there is none to cut ("..", "/"), so that all of @path is a directory. */
static bool split(struct str path, struct str *ret_dir, struct str *ret_last)
{
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    size_t i = path.n;
    while (i && path.p[i - 1] != '/')
        i--;
    *ret_last = str_from(path, i);
    *ret_dir = i ? str_of(path.p, i) : STR(".");
    return ret_last->n && !str_eqc(*ret_last, ".") && !str_eqc(*ret_last, "..");
}

/* Follows links of the last component until it is none: the directory it lies in and its name, "" for the directory
 * itself. The texts of links are in @text, by turns. */
static int resolve_last(struct wasi *w, struct str path, struct buf text[2], uint64_t *ret_dir, struct str *ret_last)
{
    struct vfs_ctx ctx = proc_ctx(w->p);
    struct str dir;
    struct vfs_stat st;
    uint64_t base = 0, ino;
    for (int i = 0; i < LIMIT_SYMLINKS; i++) {
        bool named = split(path, &dir, ret_last);
        int r = vfs_lookup(tree(w), &ctx, base, named ? dir : path, VFS_DIRECTORY, ret_dir);
        if (r < 0 || !named) {
            *ret_last = STR("");
            return r;
        }
        r = vfs_lookup(tree(w), &ctx, *ret_dir, *ret_last, VFS_NOFOLLOW, &ino);
        if (r == 0)
            r = vfs_stat_ino(tree(w), ino, &st);
        if (r < 0 || !S_ISLNK(st.mode))
            return r;
        struct buf *b = &text[i & 1];
        buf_clear(b);
        r = vfs_readlink(tree(w), &ctx, *ret_dir, *ret_last, b);
        if (r < 0)
            return r;
        base = *ret_dir;
        path = buf_str(b);
    }
    return -ELOOP;
}

static int real_path(struct wasi *w, struct str path, struct buf *out)
{
    struct buf text[2];
    struct str last;
    uint64_t dir, ino;
    int r = find(w, 0, path, 0, &ino); /* all of it must exist; a slash at the end wants a directory */
    if (r < 0)
        return r;
    buf_init(&text[0], LIMIT_PATH);
    buf_init(&text[1], LIMIT_PATH);
    r = resolve_last(w, path, text, &dir, &last);
    if (r == 0)
        r = vfs_dir_path(tree(w), dir, out);
    if (r == 0 && last.n) {
        if (out->n > 1)
            buf_putc(out, '/');
        buf_adds(out, last);
        r = out->err == -EFBIG ? -ENAMETOOLONG : out->err;
    }
    buf_done(&text[0]);
    buf_done(&text[1]);
    return r;
}

int wasi__host_realpath(struct wasi *w, const uint64_t *args)
{
    struct buf out BUF_AUTO;
    struct str path;
    buf_init(&out, LIMIT_PATH - 1);
    TRY(wasi__turn(w));
    TRY(wasi__path(w, ARG32(0), ARG32(1), &path));
    int r = real_path(w, path, &out);
    if (r < 0)
        return wasi__result(w, r);
    return give(w, buf_str(&out), ARG32(2), ARG32(3), ARG32(4));
}

/* ---- the machine ---- */

int wasi__host_statfs(struct wasi *w, const uint64_t *args)
{
    struct vfs_quota quota, used;
    struct str path;
    uint64_t ino;
    TRY(wasi__turn(w));
    TRY(wasi__path(w, ARG32(0), ARG32(1), &path));
    if (!wasi_in(w, ARG32(2), 48))
        return WASI_FAULT;
    int r = find(w, 0, path, 0, &ino);
    if (r < 0)
        return wasi__result(w, r);
    vfs_get_quota(tree(w), &quota);
    vfs_usage(tree(w), &used);
    uint64_t left = quota.bytes > used.bytes ? quota.bytes - used.bytes : 0;
    uint64_t files = quota.inodes > used.inodes ? quota.inodes - used.inodes : 0;
    const uint64_t out[] = {4096, quota.bytes / 4096, left / 4096, quota.inodes, files, LIMIT_NAME};
    wasi_put(w, ARG32(2), out, sizeof out);
    return 0;
}

int wasi__host_hostname(struct wasi *w, const uint64_t *args)
{
    return give(w, STR(PROC_UTS_NODENAME), ARG32(0), ARG32(1), ARG32(2));
}

int wasi__host_random_seed(struct wasi *w, const uint64_t *args)
{
    uint64_t seed;
    if (!wasi_in(w, ARG32(0), 8))
        return WASI_FAULT;
    proc_entropy(w->p->ps, &seed, sizeof seed);
    wasi_put64(w, ARG32(0), seed);
    return 0;
}
