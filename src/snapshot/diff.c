/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/diff.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "snapshot/textdiff.h"

static const struct vfs_cred root_cred;

struct gathering {
    struct snapshot_changes *to;
    const struct str *below;
    size_t n_below;
};

static bool is_below(struct str path, struct str prefix)
{
    while (prefix.n > 1 && prefix.p[prefix.n - 1] == '/')
        prefix.n--;
    if (prefix.n <= 1)
        return true;
    return str_starts(path, prefix) && (path.n == prefix.n || path.p[prefix.n] == '/');
}

static bool wanted(const struct gathering *g, struct str path)
{
    for (size_t i = 0; i < g->n_below; i++)
        if (is_below(path, g->below[i]))
            return true;
    return g->n_below == 0;
}

static int gather(void *arg, const struct vfs_change *c)
{
    const struct gathering *g = arg;
    struct snapshot_changes *to = g->to;
    if (!wanted(g, c->path))
        return 0;
    if (to->n == to->cap) {
        size_t cap = to->cap ? to->cap * 2 : 64;
        struct vfs_change *v = mem_try_realloc(to->v, cap * sizeof(*v));
        if (!v)
            return -ENOMEM;
        to->v = v;
        to->cap = cap;
    }
    char *p = arena_try(&to->arena, c->path.n + 1);
    if (!p)
        return -ENOMEM;
    memcpy(p, c->path.p, c->path.n);
    p[c->path.n] = 0;
    to->v[to->n] = *c;
    to->v[to->n++].path = str_of(p, c->path.n);
    return 0;
}

int snapshot_changes_get(struct vfs *a, struct vfs *b, const struct str *below, size_t n_below,
                         struct snapshot_changes *ret)
{
    struct snapshot_changes c = {0};
    int r = vfs_diff(a, b, gather, &(struct gathering){&c, below, n_below});
    if (r)
        snapshot_changes_done(&c);
    else
        *ret = c;
    return r;
}

void snapshot_changes_done(struct snapshot_changes *c)
{
    mem_free(c->v);
    arena_done(&c->arena);
    *c = (struct snapshot_changes){0};
}

int snapshot_read_text(struct vfs *v, struct str path, struct buf *out)
{
    struct vfs_ctx ctx = {&root_cred, VFS_ROOT_INO, 0};
    struct vfs_handle *h;
    int r = vfs_open(v, &ctx, 0, path, O_RDONLY | O_NOFOLLOW, 0, &h);
    if (r)
        return r;
    uint64_t size = vfs_handle_size(h);
    r = size > SNAPSHOT_TEXT_MAX ? -EFBIG : buf_reserve(out, (size_t)size);
    ssize_t got = r ? r : vfs_pread(h, out->p + out->n, (size_t)size, 0);
    vfs_close(h);
    if (got < 0)
        return (int)got;
    out->n += (size_t)got;
    return 0;
}

/* One side of a change: nothing for what is not there. */
static int side_text(struct vfs *v, struct str path, const struct vfs_stat *st, struct buf *out)
{
    return st->mode == 0 ? 0 : snapshot_read_text(v, path, out);
}

static void put_name(struct buf *out, const char *mark, const char *side, struct str path, bool exists)
{
    buf_addf(out, "%s ", mark);
    if (!exists)
        buf_addc(out, "/dev/null");
    else
        buf_addf(out, "%s%.*s", side, (int)path.n, path.p);
    buf_putc(out, '\n');
}

int snapshot_change_text(struct vfs *a, struct vfs *b, const struct vfs_change *c, struct buf *out)
{
    if (!c->content || (c->old_st.mode && !S_ISREG(c->old_st.mode)) || (c->new_st.mode && !S_ISREG(c->new_st.mode)))
        return 0;
    size_t start = out->n;
    BUF_AUTO struct buf x = {0};
    BUF_AUTO struct buf y = {0};
    buf_init(&x, SNAPSHOT_TEXT_MAX + 1);
    buf_init(&y, SNAPSHOT_TEXT_MAX + 1);
    int r = side_text(a, c->path, &c->old_st, &x);
    if (r == 0)
        r = side_text(b, c->path, &c->new_st, &y);
    bool text = r == 0 && textdiff_is_text(buf_str(&x)) && textdiff_is_text(buf_str(&y));
    if (text) {
        put_name(out, "---", "a", c->path, c->old_st.mode != 0);
        put_name(out, "+++", "b", c->path, c->new_st.mode != 0);
        r = textdiff_unified(buf_str(&x), buf_str(&y), out);
    }
    if (!text || r) {
        if (out->err)
            return out->err;
        buf_trunc(out, start);
        buf_addf(out, "Binary or large files a%.*s and b%.*s differ\n", (int)c->path.n, c->path.p, (int)c->path.n,
                 c->path.p);
    }
    return out->err;
}
