/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The decided merge is done in two passes over the sorted list: backwards what goes, so that a directory is empty when
 * its turn comes, then forwards what comes, so that a directory is there before what it holds. What is still in the way
 * then is a conflict of a directory with something else.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "snapshot/merge_int.h"
#include "types/errtab.h"
#include "vfs/image.h"

static const char in_way[] = "a directory on one side, something else on the other";

static int failed(struct merge *m, struct str path, int r)
{
    return err_set(m->err, r, "%s: %s", path.p, errtab_text(r));
}

/* Status of what lies at @path, not followed: mode 0 when there is nothing. */
static int look(struct vfs *v, struct str path, struct vfs_stat *ret)
{
    *ret = (struct vfs_stat){0};
    int r = vfs_stat(v, &merge__ctx, 0, path, VFS_NOFOLLOW, ret);
    return r == -ENOENT ? 0 : r;
}

/* ---- what goes ---- */

static int take_away(struct merge *m, const struct merge_entry *e)
{
    if (e->act != MERGE_REMOVE)
        return 0;
    int r = e->dir ? vfs_rmdir(m->out, &merge__ctx, 0, e->path) : vfs_unlink(m->out, &merge__ctx, 0, e->path);
    if (e->dir && r == -ENOTEMPTY)
        r = 0; /* the other side has something in it */
    return r < 0 ? failed(m, e->path, r) : 0;
}

/* ---- what comes ---- */

static int set_status(struct merge *m, uint64_t ino, const struct vfs_stat *to)
{
    struct vfs_stat st;
    int r = vfs_stat_ino(m->out, ino, &st);
    if (r == 0 && (st.uid != to->uid || st.gid != to->gid))
        r = vfs_chown(m->out, merge__ctx.cred, ino, to->uid, to->gid);
    if (r == 0 && !S_ISLNK(to->mode))
        r = vfs_chmod(m->out, merge__ctx.cred, ino, to->mode & 07777);
    if (r == 0 && !S_ISDIR(to->mode))
        r = vfs_utimens(m->out, merge__ctx.cred, ino, INT64_MIN, to->mtime);
    return r;
}

/* Makes the directory @path like that of theirs: 0, 1 when something else is in its way, or an error. */
static int need_dir(struct merge *m, struct str path, const struct vfs_stat *to)
{
    struct vfs_stat st;
    int r = look(m->out, path, &st);
    if (r < 0 || (st.mode && !S_ISDIR(st.mode)))
        return r < 0 ? r : 1;
    if (!st.mode)
        r = vfs_mkdir(m->out, &merge__ctx, 0, path, 0755);
    if (r == 0)
        r = look(m->out, path, &st);
    return r < 0 ? r : set_status(m, st.ino, to);
}

/* Makes the directories above @path that ours has not, or has no longer. A symlink is not one: what is below a path
 * must not land elsewhere. 0, 1 after a conflict was noted, or an error. */
static int need_parents(struct merge *m, struct str path)
{
    for (size_t i = 1; i < path.n; i++) {
        if (path.p[i] != '/')
            continue;
        struct str dir = str_of(path.p, i);
        struct vfs_stat st, to;
        int r = look(m->out, dir, &st);
        if (r == 0 && S_ISDIR(st.mode))
            continue;
        if (r == 0)
            r = look(m->tree[MERGE_THEIRS], dir, &to);
        if (r == 0)
            r = need_dir(m, dir, &to);
        if (r == 1)
            r = merge__conflict(m, SNAPSHOT_IN_WAY, dir, in_way);
        else if (r == 0)
            continue;
        return r < 0 ? r : 1;
    }
    return 0;
}

/* Bytes of @from into the new file @to: holes stay holes. */
static int copy_bytes(struct vfs_handle *to, struct vfs_handle *from)
{
    uint64_t off = 0;
    int r;
    while ((r = vfs_seek_data(from, off, false, &off)) == 0) {
        const void *p;
        size_t n;
        r = vfs_peek(from, off, &p, &n);
        ssize_t put = r < 0 || n == 0 ? r : vfs_pwrite(to, p, n, off, NULL);
        if (put < 0 || n == 0)
            return (int)put;
        if ((size_t)put < n)
            return -EDQUOT;
        off += n;
    }
    return r == -ENXIO ? vfs_ftruncate(to, vfs_handle_size(from)) : r;
}

static int make_file(struct merge *m, const struct merge_entry *e)
{
    struct vfs_handle *to = NULL, *from = NULL;
    int r = vfs_open(m->out, &merge__ctx, 0, e->path, O_WRONLY | O_CREAT | O_EXCL, 0600, &to);
    if (r == 0 && e->from != MERGE_BASE) {
        r = vfs_open(m->tree[e->from], &merge__ctx, 0, e->path, O_RDONLY | O_NOFOLLOW, 0, &from);
        if (r == 0)
            r = copy_bytes(to, from);
    } else if (r == 0 && e->text.n) {
        ssize_t put = vfs_pwrite(to, e->text.p, e->text.n, 0, NULL);
        r = put < 0 ? (int)put : (size_t)put < e->text.n ? -EDQUOT : 0;
    }
    vfs_close(from);
    vfs_close(to);
    return r;
}

static int make(struct merge *m, const struct merge_entry *e)
{
    if (S_ISREG(e->to.mode))
        return make_file(m, e);
    if (!S_ISLNK(e->to.mode))
        return vfs_mknod(m->out, &merge__ctx, 0, e->path, e->to.mode, e->to.rdev);
    BUF_AUTO struct buf target = {0};
    buf_init(&target, LIMIT_PATH);
    int r = vfs_readlink(m->tree[e->from], &merge__ctx, 0, e->path, &target);
    return r < 0 ? r : vfs_symlink(m->out, &merge__ctx, buf_str(&target), 0, e->path);
}

/* ---- several names of one file ---- */

static int add_name(void *arg, const struct vfs_change *c)
{
    struct merge *m = arg;
    char key[24];
    if (S_ISDIR(c->new_st.mode) || c->new_st.nlink < 2)
        return 0;
    struct str k = str_of(key, (size_t)snprintf(key, sizeof(key), "%llx", (unsigned long long)c->new_st.ino));
    struct merge_names *n = arena_try(&m->arena, sizeof(*n));
    char *p = arena_try(&m->arena, c->path.n + 1);
    if (!n || !p)
        return -ENOMEM;
    memcpy(p, c->path.p, c->path.n);
    p[c->path.n] = 0;
    *n = (struct merge_names){str_of(p, c->path.n), map_get(&m->names, k)};
    map_set(&m->names, k, n);
    return 0;
}

/* All names in theirs of files that have more than one: what an empty tree lacks of it. */
static int know_names(struct merge *m)
{
    struct vfs_quota none = {0, 1};
    struct vfs *empty = m->names_known ? NULL : vfs_new(&none);
    if (!empty)
        return m->names_known ? 0 : -ENOMEM;
    int r = vfs_diff(empty, m->tree[MERGE_THEIRS], add_name, m);
    vfs_free(empty);
    m->names_known = r == 0;
    return r;
}

/* Whether @path is as it will be while the entry @now is being placed. */
static bool settled(const struct merge *m, const struct merge_entry *now, struct str path)
{
    size_t lo = (size_t)(now - m->v) + 1, hi = m->n;
    if (merge__path_cmp(path, now->path) <= 0)
        return true;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (merge__path_cmp(m->v[mid].path, path) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < m->n && str_eq(m->v[lo].path, path); lo++)
        if (m->v[lo].act == MERGE_PLACE)
            return false;
    return true;
}

/* Whether two files of the result are alike but for times: 1, 0 or an error. */
static int alike(struct merge *m, const struct vfs_stat *a, const struct vfs_stat *b)
{
    if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid || a->size != b->size || a->rdev != b->rdev)
        return 0;
    struct cas_id x, y;
    int r = vfs_content_id(m->out, a->ino, &x);
    if (r == 0)
        r = vfs_content_id(m->out, b->ino, &y);
    return r < 0 ? r : cas_id_cmp(&x, &y) == 0;
}

/* Makes @e, which was placed, another name of a file that it is a name of in theirs. */
static int relink(struct merge *m, const struct merge_entry *e)
{
    char key[24];
    struct vfs_stat mine, st;
    int r = know_names(m);
    if (r == 0)
        r = look(m->out, e->path, &mine);
    struct str k = str_of(key, (size_t)snprintf(key, sizeof(key), "%llx", (unsigned long long)e->st[MERGE_THEIRS].ino));
    for (const struct merge_names *n = r == 0 ? map_get(&m->names, k) : NULL; n; n = n->next) {
        if (str_eq(n->path, e->path) || !settled(m, e, n->path))
            continue;
        r = look(m->out, n->path, &st);
        int same = r == 0 && st.mode ? alike(m, &st, &mine) : 0;
        if (same < 0)
            return same;
        if (!same || r < 0)
            continue; /* not there, or below what is no directory */
        r = vfs_unlink(m->out, &merge__ctx, 0, e->path);
        return r < 0 ? r : vfs_link(m->out, &merge__ctx, 0, n->path, 0, e->path, 0);
    }
    return r == -ENOTDIR ? 0 : r;
}

/* ---- placing ---- */

static int place_file(struct merge *m, const struct merge_entry *e)
{
    struct vfs_stat st;
    const struct vfs_stat *t = &e->st[MERGE_THEIRS];
    int r = look(m->out, e->path, &st);
    if (r == 0 && S_ISDIR(st.mode))
        return merge__conflict(m, SNAPSHOT_IN_WAY, e->path, in_way);
    bool same = st.mode && (e->from == MERGE_OURS || (e->from == MERGE_THEIRS && !e->content[MERGE_THEIRS]));
    if (r == 0 && same && st.nlink == 1 && t->nlink == 1)
        return set_status(m, st.ino, &e->to);
    if (r == 0 && st.mode)
        r = vfs_unlink(m->out, &merge__ctx, 0, e->path);
    if (r == 0)
        r = make(m, e);
    if (r == 0)
        r = look(m->out, e->path, &st);
    if (r == 0)
        r = set_status(m, st.ino, &e->to);
    return r == 0 && t->nlink > 1 ? relink(m, e) : r;
}

static int place_dir(struct merge *m, const struct merge_entry *e)
{
    int r = need_dir(m, e->path, &e->to);
    return r == 1 ? merge__conflict(m, SNAPSHOT_IN_WAY, e->path, in_way) : r;
}

static int place(struct merge *m, const struct merge_entry *e)
{
    if (e->act != MERGE_PLACE)
        return 0;
    int r = need_parents(m, e->path);
    if (r == 0)
        r = e->dir ? place_dir(m, e) : place_file(m, e);
    return r < 0 ? failed(m, e->path, r) : 0;
}

int merge__apply(struct merge *m)
{
    int r = 0;
    for (size_t i = m->n; i > 0 && r == 0; i--)
        r = take_away(m, &m->v[i - 1]);
    for (size_t i = 0; i < m->n && r == 0; i++)
        r = place(m, &m->v[i]);
    return r;
}
