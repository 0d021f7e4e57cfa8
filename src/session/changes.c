/* SPDX-License-Identifier: Apache-2.0 */

/* What changed: the list of changes with unified diffs, and the root hash that names the state. */

#include "session/session_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "cas/hash.h"
#include "snapshot/diff.h"

static struct wire_stat stat_of(const struct vfs_stat *st)
{
    return (struct wire_stat){st->mode, st->uid, st->gid, st->size, st->mtime};
}

int session_diff(struct session *s, bool text, struct str prefix, int (*fn)(void *arg, const struct wire_change *c),
                 void *arg)
{
    struct snapshot_changes all;
    int e = snapshot_changes_get(s->base, s->tree, &prefix, 1, &all);
    if (e)
        return e;
    BUF_AUTO struct buf diff;
    buf_init(&diff, 4 * SNAPSHOT_TEXT_MAX);
    for (size_t i = 0; i < all.n && e == 0; i++) {
        const struct vfs_change *c = &all.v[i];
        buf_clear(&diff);
        if (text && snapshot_change_text(s->base, s->tree, c, &diff))
            buf_clear(&diff);
        struct wire_change w = {(uint8_t)c->kind,    c->content,          c->path,
                                stat_of(&c->old_st), stat_of(&c->new_st), buf_str(&diff)};
        e = fn(arg, &w);
    }
    snapshot_changes_done(&all);
    return e;
}

static void add_number(struct cas_hash *h, uint64_t v)
{
    uint8_t b[8];
    for (int i = 0; i < 8; i++)
        b[i] = (uint8_t)(v >> (8 * i));
    cas_hash_add(h, b, sizeof(b));
}

static void add_bytes(struct cas_hash *h, struct str s)
{
    add_number(h, s.n);
    cas_hash_add(h, s.p, s.n);
}

static int add_content(struct session *s, struct cas_hash *h, const struct vfs_change *c)
{
    struct vfs_ctx ctx = {&session__root_cred, VFS_ROOT_INO, 0};
    if (S_ISLNK(c->new_st.mode)) {
        BUF_AUTO struct buf b;
        buf_init(&b, LIMIT_PATH);
        int e = vfs_readlink(s->tree, &ctx, 0, c->path, &b);
        if (e == 0)
            add_bytes(h, buf_str(&b));
        return e;
    }
    if (!S_ISREG(c->new_st.mode))
        return 0;
    struct vfs_handle *f;
    int e = vfs_open(s->tree, &ctx, 0, c->path, O_RDONLY | O_NOFOLLOW, 0, &f);
    if (e)
        return e;
    add_number(h, c->new_st.size);
    const void *p;
    size_t n;
    uint64_t off = 0;
    while ((e = vfs_peek(f, off, &p, &n)) == 0 && n) {
        cas_hash_add(h, p, n);
        off += n;
    }
    vfs_close(f);
    return e;
}

int session_root(struct session *s, uint8_t ret[32])
{
    struct snapshot_changes all;
    int e = snapshot_changes_get(s->start, s->tree, NULL, 0, &all);
    if (e)
        return e;
    struct cas_hash h;
    cas_hash_init(&h);
    add_bytes(&h, STR("frontal-sandbox root 1"));
    add_bytes(&h, str_c(s->mounts));
    for (size_t i = 0; i < all.n && e == 0; i++) {
        const struct vfs_change *c = &all.v[i];
        add_bytes(&h, c->path);
        add_number(&h, c->new_st.mode);
        if (c->kind == VFS_REMOVED)
            continue;
        add_number(&h, (uint64_t)c->new_st.uid << 32 | c->new_st.gid);
        add_number(&h, c->new_st.rdev);
        e = add_content(s, &h, c);
    }
    snapshot_changes_done(&all);
    if (e == 0)
        cas_hash_end(&h, ret);
    return e;
}
