/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/find_int.h"

#include <errno.h>
#include <limits.h>

/* Paths longer than the system's are fine, as every step is taken from its directory; this bounds them. */
#define PATH_BYTES ((size_t)LIMIT_DEPTH * (LIMIT_NAME + 1) + 2 * LIMIT_PATH)

/* Levels when links are followed, which the depth of the tree does not bound. */
#define LEVELS_MAX (2u * LIMIT_DEPTH)

/* In front of each name in f->names. */
struct entry {
    uint64_t ino;
    uint16_t type; /* S_IF* */
    uint16_t n;
};

struct str find__base(const struct find *f)
{
    struct str s = find__ref(f);
    while (s.n > 1 && s.p[s.n - 1] == '/')
        s.n--;
    size_t at = s.n;
    while (at > 0 && s.p[at - 1] != '/')
        at--;
    return at < s.n ? str_from(s, at) : s;
}

void find__error(struct find *f, int err)
{
    struct arena_mark m = arena_mark(f->c->arena);
    cmd_errno(f->c, err == -ESTALE ? -ENOENT : err, "%s", cmd_quote_loc(f->c, f->path.p));
    arena_reset(f->c->arena, m);
    f->status = 1;
}

/* ---- status of the entry ---- */

int find__stat_as(struct find *f, bool follow, struct vfs_stat *ret)
{
    struct vfs_ctx ctx = cmd_ctx(f->c);
    int r = vfs_stat(f->v, &ctx, f->parent, find__ref(f), follow ? 0 : VFS_NOFOLLOW, ret);
    if (follow && (r == -ENOENT || r == -ENOTDIR))
        r = vfs_stat(f->v, &ctx, f->parent, find__ref(f), VFS_NOFOLLOW, ret);
    return r == -ESTALE ? -ENOENT : r;
}

int find__stat_arg(struct find *f, const char *name, struct vfs_stat *ret)
{
    struct vfs_ctx ctx = cmd_ctx(f->c);
    bool follow = f->follow || f->follow_args;
    int r = vfs_stat(f->v, &ctx, 0, str_c(name), follow ? 0 : VFS_NOFOLLOW, ret);
    if (follow && (r == -ENOENT || r == -ENOTDIR))
        r = vfs_stat(f->v, &ctx, 0, str_c(name), VFS_NOFOLLOW, ret);
    return r;
}

/* Whether the inode from the listing is still what the name means. */
static bool listing_holds(const struct find *f)
{
    const struct find_level *l = f->n_levels > 0 ? &f->levels[f->n_levels - 1] : NULL;
    return l && f->parent == l->ino && l->gen == vfs_generation(f->v);
}

/* Whether names can be looked up in the directory that is read. */
static bool searchable(struct find *f)
{
    struct find_level *l = &f->levels[f->n_levels - 1];
    if (l->search == 0)
        l->search = vfs_access_ino(f->v, &f->c->p->cred, l->ino, X_OK) == 0 ? 1 : -1;
    return l->search > 0;
}

static int entry_stat(struct find *f)
{
    if (!listing_holds(f) || (f->type == S_IFLNK && find__follows(f)))
        return find__stat_as(f, find__follows(f), &f->st);
    return searchable(f) ? vfs_stat_ino(f->v, f->ino, &f->st) : -EACCES;
}

bool find__stat(struct find *f)
{
    if (f->have_stat)
        return true;
    if (f->err)
        return false;
    f->err = entry_stat(f);
    if (f->err) {
        if (f->err == -ESTALE)
            f->err = -ENOENT;
        if (!f->ignore_race || f->err != -ENOENT)
            find__error(f, f->err);
        return false;
    }
    f->have_stat = true;
    f->type = f->st.mode & S_IFMT;
    f->ino = f->st.ino;
    return true;
}

/* ---- directories ---- */

static int add_name(void *arg, const struct vfs_dirent *e)
{
    struct find *f = arg;
    struct entry h = {.ino = e->ino, .type = (uint16_t)e->type, .n = (uint16_t)e->name.n};
    buf_add(&f->names, &h, sizeof h);
    return buf_adds(&f->names, e->name);
}

/* Pushes the directory @ino, which is the current entry, with its names: 0, or why they cannot be read. */
static int push(struct find *f, uint64_t ino)
{
    if (f->n_levels >= LEVELS_MAX)
        return -ELOOP;
    if (f->n_levels == f->cap_levels) {
        f->cap_levels = f->cap_levels ? f->cap_levels * 2 : 8;
        f->levels = mem_realloc(f->levels, f->cap_levels * sizeof *f->levels);
    }
    size_t from = f->names.n, n = f->path.n;
    int r = vfs_dir_each(f->v, ino, add_name, f);
    if (r < 0) {
        f->names.err = 0;
        buf_trunc(&f->names, from);
        return r;
    }
    if (n > 0 && f->path.p[n - 1] == '/')
        n--;
    f->levels[f->n_levels++] = (struct find_level){
        .ino = ino,
        .dev = f->st.dev,
        .gen = vfs_generation(f->v),
        .path_n = n,
        .from = from,
        .at = from,
        .name_at = f->name_at,
        .parent = f->parent,
        .st = f->st,
        .have_stat = f->have_stat,
    };
    return 0;
}

static int enter(struct find *f)
{
    uint64_t ino = f->ino;
    if (!listing_holds(f)) { /* a command may have run since */
        struct vfs_ctx ctx = cmd_ctx(f->c);
        int flags = VFS_DIRECTORY | (find__follows(f) ? 0 : VFS_NOFOLLOW);
        int r = vfs_lookup(f->v, &ctx, f->parent, find__ref(f), flags, &ino);
        if (r < 0)
            return r;
    }
    int r = vfs_dir_enter(f->v, &f->c->p->cred, ino);
    return r < 0 ? r : push(f, ino);
}

/* A directory that is among those it lies in, by links that are followed: its message. */
static bool is_loop(struct find *f)
{
    struct cmd *c = f->c;
    for (size_t i = 0; i < f->n_levels; i++) {
        const struct find_level *l = &f->levels[i];
        if (l->ino != f->st.ino || l->dev != f->st.dev)
            continue;
        const char *above = arena_dup(c->arena, f->path.p, i == 0 ? f->start_n : l->path_n);
        cmd_err(c, "File system loop detected; %s is part of the same file system loop as %s.",
                cmd_quote_loc(c, f->path.p), cmd_quote_loc(c, above));
        f->status = 1;
        return true;
    }
    return false;
}

/* ---- the entry ---- */

/* Commands of -execdir … + that wait for more files belong to another directory when the level changes. */
static void at_level(struct find *f)
{
    if (f->any_dir_batch && f->depth != f->last_level)
        find__run_pending(f, false);
    f->last_level = f->depth;
}

static void visit(struct find *f)
{
    f->prune = false;
    if (f->depth >= f->depth_min)
        find__eval(f);
}

/*
 * What the real tool finds out about an entry before the expression sees it: whether a directory is there and where a
 * link that is followed leads. What cannot be told is visited as a file of no type. False: not visited at all.
 */
static bool look(struct find *f)
{
    bool known = true;
    if (f->have_stat)
        return true;
    if (f->type == S_IFDIR) {
        bool need = f->follow || f->one_fs || (f->post && f->any_stat) || !listing_holds(f) || !searchable(f);
        known = !need || find__stat(f);
    } else if (f->type == S_IFLNK && f->follow) {
        known = find__stat(f);
    }
    if (!known) {
        f->type = 0;
        return f->err != -ELOOP && !(f->ignore_race && f->err == -ENOENT);
    }
    return true;
}

static void entry(struct find *f)
{
    at_level(f);
    if (!look(f))
        return;
    bool dir = f->type == S_IFDIR;
    if (dir && f->follow && is_loop(f))
        return;
    bool down = dir && f->depth < f->depth_max && !(f->one_fs && f->st.dev != f->root_dev);
    if (!f->post || !down) {
        visit(f);
        if (f->stop || !down || f->prune)
            return;
    }
    int r = enter(f);
    if (r < 0) {
        find__error(f, r);
        if (f->post)
            visit(f);
    }
}

/* The next name of the directory on top. */
static void next(struct find *f)
{
    struct find_level *l = &f->levels[f->n_levels - 1];
    struct entry h;
    memcpy(&h, f->names.p + l->at, sizeof h);
    buf_trunc(&f->path, l->path_n);
    buf_putc(&f->path, '/');
    buf_add(&f->path, f->names.p + l->at + sizeof h, h.n);
    l->at += sizeof h + h.n;
    f->name_at = l->path_n + 1;
    f->parent = l->ino;
    f->ino = h.ino;
    f->type = h.type;
    f->depth = (unsigned)f->n_levels;
    f->have_stat = false;
    f->err = 0;
    if (f->path.err) {
        f->path.err = 0;
        find__error(f, -ENAMETOOLONG);
    } else {
        entry(f);
    }
}

/* All names are seen: the directory is the current entry again. */
static void leave(struct find *f)
{
    struct find_level *l = &f->levels[--f->n_levels];
    buf_trunc(&f->names, l->from);
    buf_trunc(&f->path, l->path_n);
    if (f->n_levels == 0 && f->start_n > l->path_n)
        buf_putc(&f->path, '/');
    f->name_at = l->name_at;
    f->parent = l->parent;
    f->ino = l->ino;
    f->type = S_IFDIR;
    f->depth = (unsigned)f->n_levels;
    f->have_stat = l->have_stat;
    f->st = l->st;
    f->err = 0;
    at_level(f);
    if (f->post)
        visit(f);
}

void find__walk(struct find *f, const char *path)
{
    buf_clear(&f->path);
    buf_clear(&f->names);
    buf_addc(&f->path, path);
    f->start_n = f->path.n;
    f->name_at = 0;
    f->parent = 0;
    f->depth = 0;
    f->last_level = UINT_MAX;
    f->n_levels = 0;
    f->have_stat = false;
    f->err = 0;
    if (!find__stat(f))
        return;
    f->root_dev = f->st.dev;
    entry(f);
    while (f->n_levels > 0 && !f->stop) {
        if (cmd_poll(f->c) < 0)
            f->stop = true;
        else if (f->levels[f->n_levels - 1].at < f->names.n)
            next(f);
        else
            leave(f);
    }
}

void find__walk_start(struct find *f)
{
    buf_init(&f->path, PATH_BYTES);
    buf_init(&f->names, SIZE_MAX / 2);
}

void find__walk_done(struct find *f)
{
    buf_done(&f->path);
    buf_done(&f->names);
    mem_free(f->levels);
}
