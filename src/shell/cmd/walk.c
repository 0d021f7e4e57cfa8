/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/walk.h"

#include <errno.h>

#include "shell/cmd/cmd.h"

/* Paths longer than the system's are fine, as every step is taken from its directory; this bounds them. */
#define WALK_PATH_MAX ((size_t)LIMIT_DEPTH * (LIMIT_NAME + 1) + 2 * LIMIT_PATH)

/* Levels when links are followed, which the depth of the tree does not bound. */
#define WALK_DEPTH_MAX (2u * LIMIT_DEPTH)

void walk_init(struct walk *w, struct cmd *c, int flags)
{
    *w = (struct walk){.c = c, .flags = flags};
    buf_init(&w->path, WALK_PATH_MAX);
}

void walk_done(struct walk *w)
{
    buf_done(&w->path);
    mem_free(w->dirs);
    w->dirs = NULL;
}

void walk_start(struct walk *w, const char *path)
{
    size_t n = strlen(path);
    /* Several slashes at the end become one; "//" stays. */
    if (n > 2 && path[n - 1] == '/')
        while (n > 1 && path[n - 2] == '/')
            n--;
    buf_clear(&w->path);
    buf_add(&w->path, path, n);
    w->operand = path;
    w->operand_n = n;
    w->n = 0;
    w->parent = 0;
    w->depth = 0;
    w->err = 0;
    w->started = w->descend = w->post = false;
}

/* The event of an entry whose status is in w->st or w->err. */
static enum walk_event entry_event(struct walk *w)
{
    if (w->err)
        return WALK_LOST;
    if (!S_ISDIR(w->st.mode))
        return WALK_FILE;
    for (size_t i = 0; i < w->n; i++)
        if (w->dirs[i].ino == w->st.ino && w->dirs[i].dev == w->st.dev)
            return WALK_CYCLE;
    w->descend = !(w->flags & WALK_ONE_FS) || w->st.dev == w->root_dev;
    w->post = !w->descend;
    return WALK_PRE;
}

/* Status of the operand: through a link when asked, the link itself when it dangles. */
static enum walk_event first_event(struct walk *w)
{
    struct vfs *v = cmd_vfs(w->c);
    struct vfs_ctx ctx = cmd_ctx(w->c);
    bool follow = w->flags & (WALK_FOLLOW | WALK_FOLLOW_ARGS);
    w->started = true;
    w->name = w->path.p;
    w->err = vfs_stat(v, &ctx, 0, buf_str(&w->path), follow ? 0 : VFS_NOFOLLOW, &w->st);
    if (w->err < 0 && follow && vfs_stat(v, &ctx, 0, buf_str(&w->path), VFS_NOFOLLOW, &w->st) == 0)
        w->err = 0;
    w->root_dev = w->st.dev;
    return entry_event(w);
}

/* Pushes the directory that PRE gave: 0 or why it cannot be read. */
static int enter(struct walk *w)
{
    int r = vfs_dir_enter(cmd_vfs(w->c), &w->c->p->cred, w->st.ino);
    if (r < 0)
        return r;
    if (w->n >= WALK_DEPTH_MAX)
        return -ELOOP;
    if (w->n == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 16;
        w->dirs = mem_realloc(w->dirs, w->cap * sizeof *w->dirs);
    }
    size_t n = w->path.n;
    if (n > 0 && w->path.p[n - 1] == '/')
        n--;
    w->dirs[w->n++] = (struct walk_dir){w->st.ino, w->st.dev, n};
    buf_trunc(&w->path, n);
    return 0;
}

static void entry_stat(struct walk *w, const struct vfs_dirent *e)
{
    struct vfs *v = cmd_vfs(w->c);
    struct vfs_ctx ctx = cmd_ctx(w->c);
    w->err = 0;
    if ((w->flags & WALK_FOLLOW) && e->type == S_IFLNK) {
        if (vfs_stat(v, &ctx, w->parent, str_c(w->name), 0, &w->st) < 0)
            w->err = vfs_stat_ino(v, e->ino, &w->st);
    } else if (w->flags & WALK_NO_STAT) {
        w->st = (struct vfs_stat){.ino = e->ino, .mode = e->type};
    } else {
        w->err = vfs_access_ino(v, &w->c->p->cred, w->parent, X_OK);
        if (w->err == 0)
            w->err = vfs_stat_ino(v, e->ino, &w->st);
    }
}

/* Back in a directory whose entries are all seen: its own name again. */
static enum walk_event leave(struct walk *w, int err)
{
    struct walk_dir *d = &w->dirs[--w->n];
    w->depth = (unsigned)w->n;
    w->path.err = 0;
    buf_trunc(&w->path, d->path_n);
    w->parent = 0;
    if (w->n > 0) {
        w->parent = w->dirs[w->n - 1].ino;
        w->name = w->path.p + w->dirs[w->n - 1].path_n + 1;
    } else {
        buf_clear(&w->path);
        buf_add(&w->path, w->operand, w->operand_n);
        w->name = w->path.p;
    }
    if ((w->flags & WALK_NO_STAT) || vfs_stat_ino(cmd_vfs(w->c), d->ino, &w->st) < 0)
        w->st = (struct vfs_stat){.ino = d->ino, .dev = d->dev, .mode = S_IFDIR};
    w->err = err;
    return err ? WALK_UNREAD : WALK_POST;
}

enum walk_event walk_next(struct walk *w)
{
    struct vfs_dirent e;
    if (cmd_poll(w->c) < 0)
        return WALK_END;
    if (!w->started)
        return first_event(w);
    if (w->descend) {
        w->descend = false;
        w->err = enter(w);
        if (w->err < 0)
            return WALK_UNREAD;
    }
    if (w->post) {
        w->post = false;
        return WALK_POST;
    }
    if (w->n == 0)
        return WALK_END;
    struct walk_dir *d = &w->dirs[w->n - 1];
    size_t from = d->path_n + 1;
    struct str after = w->path.n > from ? str_of(w->path.p + from, w->path.n - from) : STR("");
    int r = vfs_dir_next(cmd_vfs(w->c), d->ino, after, &e);
    if (r <= 0)
        return leave(w, r);
    buf_trunc(&w->path, d->path_n);
    buf_putc(&w->path, '/');
    buf_adds(&w->path, e.name);
    if (w->path.err)
        return leave(w, -ENAMETOOLONG);
    w->depth = (unsigned)w->n;
    w->parent = d->ino;
    w->name = w->path.p + from;
    entry_stat(w, &e);
    return entry_event(w);
}

void walk_skip(struct walk *w)
{
    w->descend = w->post = false;
}
