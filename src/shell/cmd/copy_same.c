/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/copy.h"

#include <errno.h>

#include "shell/cmd/canon.h"

static bool same_inode(const struct vfs_stat *a, const struct vfs_stat *b)
{
    return a->ino == b->ino && a->dev == b->dev;
}

/* The directory and last component that (@at, @name) stands for. */
static bool split(struct copier *k, uint64_t at, struct str name, uint64_t *ret_dir, struct str *ret_last)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    while (name.n > 1 && name.p[name.n - 1] == '/')
        name.n--;
    size_t i = name.n;
    while (i > 0 && name.p[i - 1] != '/')
        i--;
    *ret_last = str_from(name, i);
    if (i == 0 && at) {
        *ret_dir = at;
        return true;
    }
    while (i > 1 && name.p[i - 1] == '/')
        i--;
    return vfs_lookup(cmd_vfs(k->c), &ctx, at, i ? str_of(name.p, i) : STR("."), VFS_DIRECTORY, ret_dir) == 0;
}

bool copy__same_name(struct copier *k, uint64_t at_a, struct str a, uint64_t at_b, struct str b)
{
    uint64_t dir_a, dir_b;
    struct str last_a, last_b;
    return split(k, at_a, a, &dir_a, &last_a) && split(k, at_b, b, &dir_b, &last_b) && dir_a == dir_b &&
           str_eq(last_a, last_b);
}

/* Both are links, and links are copied as such. */
static bool links_ok(struct copier *k, const struct copy_item *it, bool same, bool *ret_done)
{
    bool same_name = copy__same_name(k, it->src_at, it->src, it->dst_at, it->dst);
    if (!same_name && same) { /* a second name of the same link: a rename would do nothing */
        *ret_done = true;
        return !k->o.move;
    }
    return !same_name;
}

/* The rest of the cases: @src and @dst are the entries' own status, links not followed. */
static bool entries_ok(struct copier *k, const struct copy_item *it, struct vfs_stat src, struct vfs_stat dst,
                       bool *ret_done)
{
    struct vfs *v = cmd_vfs(k->c);
    struct vfs_ctx ctx = cmd_ctx(k->c);
    bool src_link = S_ISLNK(src.mode), dst_link = S_ISLNK(dst.mode);
    if (k->o.move || k->o.unlink_first) {
        if (dst_link)
            return true;
        if (same_inode(&src, &dst) && dst.nlink > 1 && !copy__same_name(k, it->src_at, it->src, it->dst_at, it->dst))
            return !k->o.move;
    }
    if (!src_link && !dst_link) {
        if (!same_inode(&src, &dst))
            return true;
        if (k->o.hard_link) {
            *ret_done = true;
            return true;
        }
    }
    if (k->o.symbolic_link && dst_link)
        return true;
    if (k->o.deref != COPY_DEREF_NEVER)
        return false;
    struct vfs_stat a = src, b = dst;
    if (src_link && vfs_stat(v, &ctx, it->src_at, it->src, 0, &a) < 0)
        return true;
    if (dst_link && vfs_stat(v, &ctx, it->dst_at, it->dst, 0, &b) < 0)
        return true;
    if (!same_inode(&a, &b))
        return true;
    /* A link may be moved onto the file it leads to, when that is under another name than the link says. */
    if (k->o.move && src_link && dst.nlink > 1) {
        struct buf real;
        buf_init(&real, 1u << 20);
        bool other = canon_path(k->c, k->src.p, CANON_EXISTING, false, &real) == 0 &&
                     !copy__same_name(k, 0, buf_str(&real), it->dst_at, it->dst);
        buf_done(&real);
        return other;
    }
    if (k->o.hard_link) {
        *ret_done = !dst_link;
        return true;
    }
    return false;
}

bool copy__same_ok(struct copier *k, const struct copy_item *it, bool *ret_done)
{
    struct vfs *v = cmd_vfs(k->c);
    struct vfs_ctx ctx = cmd_ctx(k->c);
    struct vfs_stat src = it->sst, dst = it->dstat;
    bool same = same_inode(&src, &dst);
    *ret_done = false;
    if (same && k->o.hard_link) {
        *ret_done = true;
        return true;
    }
    if (k->o.deref == COPY_DEREF_NEVER) {
        if (S_ISLNK(src.mode) && S_ISLNK(dst.mode))
            return links_ok(k, it, same, ret_done);
    } else {
        if (!same)
            return true;
        if (vfs_stat(v, &ctx, it->dst_at, it->dst, VFS_NOFOLLOW, &dst) < 0 ||
            vfs_stat(v, &ctx, it->src_at, it->src, VFS_NOFOLLOW, &src) < 0)
            return true;
        if (S_ISLNK(src.mode) && S_ISLNK(dst.mode) && k->o.unlink_first)
            return true;
    }
    return entries_ok(k, it, src, dst, ret_done);
}
