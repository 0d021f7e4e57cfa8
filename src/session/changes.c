/* SPDX-License-Identifier: Apache-2.0 */

/* What changed: the list of changes with unified diffs, and the root hash that names the state. */

#include "session/session_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "types/errtab.h"

#define DIFF_FILE_MAX (4u << 20) /* larger files are only said to differ */

/* Changes are gathered first, because reading content may touch a tree and the walk must not see that. */
struct gathered {
    struct arena arena;
    struct vfs_change *v;
    size_t n, cap;
    struct str prefix;
};

static bool below(struct str path, struct str prefix)
{
    while (prefix.n > 1 && prefix.p[prefix.n - 1] == '/')
        prefix.n--;
    if (prefix.n <= 1)
        return true;
    return str_starts(path, prefix) && (path.n == prefix.n || path.p[prefix.n] == '/');
}

static int gather(void *arg, const struct vfs_change *c)
{
    struct gathered *g = arg;
    if (!below(c->path, g->prefix))
        return 0;
    if (g->n == g->cap) {
        size_t cap = g->cap ? g->cap * 2 : 64;
        struct vfs_change *v = mem_try_realloc(g->v, cap * sizeof(*v));
        if (!v)
            return -ENOMEM;
        g->v = v;
        g->cap = cap;
    }
    char *p = arena_try(&g->arena, c->path.n + 1);
    if (!p)
        return -ENOMEM;
    memcpy(p, c->path.p, c->path.n);
    p[c->path.n] = 0;
    g->v[g->n] = *c;
    g->v[g->n].path = str_of(p, c->path.n);
    g->n++;
    return 0;
}

static void gathered_done(struct gathered *g)
{
    mem_free(g->v);
    arena_done(&g->arena);
}

/* What a path holds on one side, as text to compare: a file's bytes, nothing for what is not there. */
static int side_text(struct vfs *v, struct str path, const struct vfs_stat *st, struct buf *out)
{
    if (st->mode == 0)
        return 0;
    if (!S_ISREG(st->mode) || st->size > DIFF_FILE_MAX)
        return -EINVAL;
    return session__read_file(v, path, out);
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

static int text_diff(struct session *s, const struct vfs_change *c, struct buf *out)
{
    if (!c->content || (c->old_st.mode && !S_ISREG(c->old_st.mode)) || (c->new_st.mode && !S_ISREG(c->new_st.mode)))
        return 0;
    BUF_AUTO struct buf a = {0};
    BUF_AUTO struct buf b = {0};
    buf_init(&a, DIFF_FILE_MAX + 1);
    buf_init(&b, DIFF_FILE_MAX + 1);
    int e = side_text(s->base, c->path, &c->old_st, &a);
    if (e == 0)
        e = side_text(s->tree, c->path, &c->new_st, &b);
    bool binary = e || (a.n && memchr(a.p, 0, a.n)) || (b.n && memchr(b.p, 0, b.n));
    if (!binary) {
        put_name(out, "---", "a", c->path, c->old_st.mode != 0);
        put_name(out, "+++", "b", c->path, c->new_st.mode != 0);
        e = session__unified(buf_str(&a), buf_str(&b), out);
    }
    if (binary || e) {
        buf_clear(out);
        buf_addf(out, "Binary or large files a%.*s and b%.*s differ\n", (int)c->path.n, c->path.p, (int)c->path.n,
                 c->path.p);
    }
    return 0;
}

static struct wire_stat stat_of(const struct vfs_stat *st)
{
    return (struct wire_stat){st->mode, st->uid, st->gid, st->size, st->mtime};
}

int session_diff(struct session *s, bool text, struct str prefix, int (*fn)(void *arg, const struct wire_change *c),
                 void *arg)
{
    struct gathered g = {.prefix = prefix};
    int e = vfs_diff(s->base, s->tree, gather, &g);
    BUF_AUTO struct buf diff;
    buf_init(&diff, 4 * DIFF_FILE_MAX);
    for (size_t i = 0; i < g.n && e == 0; i++) {
        const struct vfs_change *c = &g.v[i];
        buf_clear(&diff);
        if (text)
            e = text_diff(s, c, &diff);
        struct wire_change w = {(uint8_t)c->kind,    c->content,          c->path,
                                stat_of(&c->old_st), stat_of(&c->new_st), buf_str(&diff)};
        if (e == 0)
            e = fn(arg, &w);
    }
    gathered_done(&g);
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
