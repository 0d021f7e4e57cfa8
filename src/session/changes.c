/* SPDX-License-Identifier: Apache-2.0 */

/* What changed: the list of changes with unified diffs, and the root hash that names the state. */

#include "session/session_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

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

int session_root(struct session *s, uint8_t ret[32])
{
    struct cas_id root;
    int e = vfs_root_hash(s->tree, s->canon, &root);
    if (e == 0)
        memcpy(ret, root.b, sizeof(root.b));
    return e;
}
