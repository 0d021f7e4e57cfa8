/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/ls_int.h"

#include <errno.h>

#include "base/num.h"
#include "shell/cmd/msort.h"
#include "shell/cmd/version.h"
#include "shell/expand_int.h"

/* Exit statuses: 1 for a failure below an operand, 2 for an operand's own. */
static void failed(struct ls *l, bool operand, int err, const char *what, const char *path)
{
    l->status = operand ? 2 : NUM_MAX(l->status, 1);
    cmd_errno(l->c, err, "%s %s", what, cmd_quote(l->c, path, true));
}

/* ---- what is left out ---- */

static bool matches(const struct ls *l, const struct ls_pattern *p, struct str name)
{
    for (; p; p = p->next)
        if (!(name.p[0] == '.' && p->text[0] != '.') &&
            pattern_match(str_c(p->text), name, l->quote.utf8 ? PATTERN_UTF8 : 0))
            return true;
    return false;
}

static bool ignored(const struct ls *l, struct str name)
{
    bool dots = str_eqc(name, ".") || str_eqc(name, "..");
    if (l->ignore == LS_IGNORE_DEFAULT && (name.p[0] == '.' || matches(l, l->hidden, name)))
        return true;
    if (l->ignore == LS_IGNORE_DOTS && dots)
        return true;
    return matches(l, l->ignored, name);
}

/* ---- one entry ---- */

static struct ls_file *new_file(struct ls *l)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        struct ls_file *v = mem_try_realloc(l->files, cap * sizeof *v);
        if (!v)
            return NULL;
        l->files = v;
        l->cap = cap;
    }
    struct ls_file *f = &l->files[l->n++];
    *f = (struct ls_file){.width = UINT32_MAX, .quoted = -1};
    return f;
}

/* Status of the entry's link, when a mark, a colour or a long line wants it. */
static void read_target(struct ls *l, struct ls_file *f, uint64_t dir, struct str name)
{
    struct cmd *c = l->c;
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_stat st;
    bool wants = l->indicator >= LS_FILE_TYPE || l->dirs_first ||
                 (l->color && (l->color_target || ls__colored(l, COLOR_ORPHAN) ||
                               (ls__colored(l, COLOR_MISSING) && l->format == LS_LONG)));
    if (l->format == LS_LONG) {
        buf_clear(&l->scratch);
        int r = vfs_readlink(cmd_vfs(c), &ctx, dir, name, &l->scratch);
        if (r < 0)
            failed(l, dir == 0, r, "cannot read symbolic link", f->absolute ? f->absolute : f->name);
        else
            f->target = arena_dup(c->arena, l->scratch.p, l->scratch.n);
    }
    if (wants && vfs_stat(cmd_vfs(c), &ctx, dir, name, 0, &st) == 0) {
        f->target_ok = true;
        f->target_mode = st.mode;
    }
}

/* Whether the entry's status is wanted beyond its type. */
static bool needs_stat(const struct ls *l, uint32_t type, bool operand)
{
    if (l->need_stat || operand)
        return true;
    if (!l->need_type && !l->inode)
        return false;
    if (l->deref == LS_DEREF_ALWAYS && (type == S_IFLNK || type == 0))
        return l->need_type || l->inode;
    if (type == S_IFLNK && (l->color || l->indicator >= LS_FILE_TYPE || l->dirs_first))
        return true;
    if (type == S_IFREG && (l->indicator == LS_CLASSIFY || l->color))
        return true;
    return type == S_IFDIR && l->color; /* sticky, writable */
}

/* Status of an operand: links as the options have it. 0 or an error. */
static int stat_operand(struct ls *l, const char *path, struct vfs_stat *st)
{
    struct proc *p = l->c->p;
    int r = -ENOENT;
    if (l->deref == LS_DEREF_ALWAYS || l->deref == LS_DEREF_ARGS)
        return proc_stat(p, str_c(path), 0, st);
    if (l->deref == LS_DEREF_ARG_DIRS) {
        r = proc_stat(p, str_c(path), 0, st);
        if (r == 0 ? S_ISDIR(st->mode) : r != -ENOENT)
            return r;
    }
    return proc_stat(p, str_c(path), VFS_NOFOLLOW, st);
}

static int stat_entry(struct ls *l, uint64_t dir, const struct vfs_dirent *e, struct vfs_stat *st)
{
    struct vfs *v = cmd_vfs(l->c);
    struct vfs_ctx ctx = cmd_ctx(l->c);
    if (l->deref == LS_DEREF_ALWAYS && e->type == S_IFLNK)
        return vfs_stat(v, &ctx, dir, e->name, 0, st);
    int r = vfs_access_ino(v, ctx.cred, dir, X_OK);
    return r < 0 ? r : vfs_stat_ino(v, e->ino, st);
}

/* What a file still needs once its status is (or is not) known. */
static void finish(struct ls *l, struct ls_file *f, uint64_t dir, struct str name)
{
    if (f->type == S_IFLNK && (f->st || !l->need_stat))
        if (l->format == LS_LONG || l->color || l->indicator >= LS_FILE_TYPE || l->dirs_first)
            read_target(l, f, dir, name);
    if (!l->some_quoted && l->align_quotes) {
        ls__quote(l, f);
        l->some_quoted = f->quoted > 0;
    }
    ls__measure(l, f);
}

static void add_operand(struct ls *l, const char *path)
{
    struct vfs_stat st;
    int r = stat_operand(l, path, &st);
    if (r < 0) {
        failed(l, true, r, "cannot access", path);
        return;
    }
    struct ls_file *f = new_file(l);
    if (!f)
        return;
    f->name = f->absolute = path;
    f->ino = st.ino;
    f->type = st.mode & S_IFMT;
    f->st = arena_alloc(l->c->arena, sizeof st);
    *f->st = st;
    f->operand_dir = S_ISDIR(st.mode) && !l->immediate;
    finish(l, f, 0, str_c(path));
}

static void add_entry(struct ls *l, const char *dir_path, uint64_t dir, const struct vfs_dirent *e)
{
    struct cmd *c = l->c;
    struct vfs_stat st;
    struct ls_file *f = new_file(l);
    if (!f)
        return;
    f->name = arena_dup(c->arena, e->name.p, e->name.n);
    f->ino = e->ino;
    f->type = e->type;
    if (needs_stat(l, e->type, false)) {
        int r = stat_entry(l, dir, e, &st);
        if (r < 0) {
            const char *path = strcmp(dir_path, ".") == 0 ? f->name
                               : dir_path[strlen(dir_path) - 1] == '/'
                                   ? arena_printf(c->arena, "%s%s", dir_path, f->name)
                                   : arena_printf(c->arena, "%s/%s", dir_path, f->name);
            failed(l, false, r, "cannot access", path);
            f->ino = 0;
        } else {
            f->st = arena_alloc(c->arena, sizeof st);
            *f->st = st;
            f->ino = st.ino;
            f->type = st.mode & S_IFMT;
        }
    }
    finish(l, f, dir, e->name);
}

/* ---- order ---- */

static const char *extension(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot : "";
}

static bool counts_as_dir(const struct ls_file *f)
{
    return f->type == S_IFDIR || f->operand_dir || (f->target_ok && S_ISDIR(f->target_mode));
}

static int by_name(const struct ls_file *a, const struct ls_file *b)
{
    return strcmp(a->name, b->name);
}

static int by_key(const struct ls *l, const struct ls_file *a, const struct ls_file *b)
{
    int64_t x = 0, y = 0;
    switch (l->sort) {
    case LS_BY_TIME:
        x = a->st ? ls__time(l, a->st) : 0;
        y = b->st ? ls__time(l, b->st) : 0;
        return (x < y) - (x > y);
    case LS_BY_SIZE:
        x = a->st ? (int64_t)a->st->size : 0;
        y = b->st ? (int64_t)b->st->size : 0;
        return (x < y) - (x > y);
    case LS_BY_EXTENSION:
        return strcmp(extension(a->name), extension(b->name));
    case LS_BY_VERSION:
        return version_cmp(str_c(a->name), str_c(b->name));
    case LS_BY_WIDTH:
        return (a->width > b->width) - (a->width < b->width);
    case LS_BY_NAME:
    case LS_BY_NONE:
        break;
    }
    return 0;
}

static int file_cmp(const void *pa, const void *pb, void *arg)
{
    const struct ls_file *a = pa, *b = pb;
    const struct ls *l = arg;
    if (cmd_poll(l->c) < 0)
        return 0; /* the order no longer matters: soon over */
    if (l->dirs_first) {
        int d = counts_as_dir(b) - counts_as_dir(a);
        if (d != 0)
            return d;
    }
    int r = by_key(l, a, b);
    if (r == 0)
        r = by_name(a, b);
    return l->reverse ? -r : r;
}

static void sort_files(struct ls *l)
{
    if (l->sort == LS_BY_NONE)
        return;
    for (size_t i = 0; i < l->n && l->sort == LS_BY_WIDTH; i++)
        ls__quote(l, &l->files[i]);
    bool sorted = true; /* directories come in the order of names */
    for (size_t i = 1; i < l->n && sorted; i++)
        sorted = file_cmp(&l->files[i - 1], &l->files[i], l) <= 0;
    if (sorted)
        return;
    struct ls_file *to = mem_try(l->cap * sizeof *to);
    void **v = mem_try(2 * l->n * sizeof *v);
    if (to && v) {
        for (size_t i = 0; i < l->n; i++)
            v[i] = &l->files[i];
        msort(v, l->n, file_cmp, l, v + l->n);
        for (size_t i = 0; i < l->n; i++)
            to[i] = *(struct ls_file *)v[i];
        mem_free(l->files);
        l->files = to;
        to = NULL;
    } else {
        l->status = cmd_no_memory(l->c);
    }
    mem_free(to);
    mem_free(v);
}

/* ---- directories ---- */

static void queue(struct ls *l, const char *path, bool operand, bool leave)
{
    struct ls_pending *p = mem_alloc(sizeof *p);
    *p = (struct ls_pending){l->pending, mem_dup(path, strlen(path)), operand, leave};
    l->pending = p;
}

/* Queues the directories of the listing, the first to be listed last in; @dir NULL: operands, which also leave the
 * listing. */
static void queue_dirs(struct ls *l, const char *dir)
{
    if (dir)
        queue(l, dir, false, true);
    for (size_t i = l->n; i-- > 0;) {
        struct ls_file *f = &l->files[i];
        bool is_dir = dir ? f->type == S_IFDIR : f->operand_dir;
        if (!is_dir || (dir && (strcmp(f->name, ".") == 0 || strcmp(f->name, "..") == 0)))
            continue;
        if (!dir || f->name[0] == '/') {
            queue(l, f->name, !dir, false);
        } else {
            size_t n = strlen(dir);
            queue(l, arena_printf(l->c->arena, "%s%s%s", dir, n > 0 && dir[n - 1] == '/' ? "" : "/", f->name), false,
                  false);
        }
    }
    size_t n = 0;
    for (size_t i = 0; i < l->n && !dir; i++)
        if (!l->files[i].operand_dir)
            l->files[n++] = l->files[i];
    if (!dir)
        l->n = n;
}

/* Whether the directory is one of those that lead to it; else it is noted. */
static bool loops(struct ls *l, const struct vfs_stat *st)
{
    for (size_t i = 0; i < l->n_active; i++)
        if (l->active[2 * i] == st->ino && l->active[2 * i + 1] == st->dev)
            return true;
    if (l->n_active == l->cap_active) {
        l->cap_active = l->cap_active ? l->cap_active * 2 : 32;
        l->active = mem_realloc(l->active, l->cap_active * 2 * sizeof *l->active);
    }
    l->active[2 * l->n_active] = st->ino;
    l->active[2 * l->n_active + 1] = st->dev;
    l->n_active++;
    return false;
}

/* "." and ".." of a directory, when they are listed. */
static void add_dots(struct ls *l, const char *path, uint64_t dir)
{
    struct vfs *v = cmd_vfs(l->c);
    struct vfs_dirent e = {.name = STR("."), .ino = dir, .type = S_IFDIR};
    if (!ignored(l, e.name))
        add_entry(l, path, dir, &e);
    e.name = STR("..");
    if (vfs_dir_parent(v, dir, &e.ino) == 0 && !ignored(l, e.name))
        add_entry(l, path, dir, &e);
}

static int read_entries(struct ls *l, const char *path, uint64_t dir)
{
    struct vfs *v = cmd_vfs(l->c);
    struct vfs_dirent e;
    char name[LIMIT_NAME + 1] = "";
    size_t n = 0;
    int r;
    /* Not read by way of it: it is there to be seen in /proc/self/fd, as opendir(3)'s is. */
    int fd = proc_open(l->c->p, str_c(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    while ((r = cmd_poll(l->c)) == 0 && (r = vfs_dir_next(v, dir, str_of(name, n), &e)) > 0) {
        n = NUM_MIN(e.name.n, (size_t)LIMIT_NAME);
        memcpy(name, e.name.p, n);
        name[n] = 0;
        e.name = str_of(name, n);
        if (!ignored(l, e.name))
            add_entry(l, path, dir, &e);
    }
    if (fd >= 0)
        proc_close(l->c->p, fd);
    return r;
}

static void print_total(struct ls *l)
{
    char text[NUM_TEXT];
    uint64_t blocks = 0;
    if (l->format != LS_LONG && !l->blocks)
        return;
    for (size_t i = 0; i < l->n; i++)
        blocks += l->files[i].st ? l->files[i].st->blocks : 0;
    cmd_printf(l->c, "total %s%c", num_human_text(blocks, 512, &l->human, text), l->eol);
}

static void clear(struct ls *l)
{
    l->n = 0;
    l->some_quoted = false;
    l->w = (struct ls_widths){0};
}

static void list_dir(struct ls *l, const struct ls_pending *p, bool header)
{
    struct cmd *c = l->c;
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_stat st;
    struct arena_mark mark = arena_mark(c->arena);
    int r = vfs_stat(cmd_vfs(c), &ctx, 0, str_c(p->path), 0, &st);
    if (r == 0 && !S_ISDIR(st.mode))
        r = -ENOTDIR;
    if (r == 0)
        r = vfs_access_ino(cmd_vfs(c), ctx.cred, st.ino, R_OK);
    if (r < 0) {
        failed(l, p->operand, r, "cannot open directory", p->path);
        return;
    }
    if (l->recursive && loops(l, &st)) {
        cmd_err(c, "%s: not listing already-listed directory", cmd_quote(c, p->path, false));
        l->status = 2;
        return;
    }
    clear(l);
    if (header || l->recursive) {
        if (l->printed)
            cmd_putc(c, '\n');
        ls__print_header(l, p->path);
    }
    l->printed = true;
    add_dots(l, p->path, st.ino);
    r = read_entries(l, p->path, st.ino);
    if (r < 0 && !c->p->must_end)
        failed(l, p->operand, r, "reading directory", p->path);
    sort_files(l);
    if (l->recursive)
        queue_dirs(l, p->path);
    print_total(l);
    ls__print(l);
    arena_reset(c->arena, mark);
}

/* Lists what is queued; directories found on the way go in front. */
static void list_pending(struct ls *l, bool header)
{
    while (l->pending) {
        struct ls_pending *p = l->pending;
        l->pending = p->next;
        if (p->leave)
            l->n_active -= l->n_active > 0;
        else if (!l->c->p->must_end && l->c->out_err == 0)
            list_dir(l, p, header);
        mem_free(p->path);
        mem_free(p);
    }
}

void ls__run(struct ls *l, int n, char **operands)
{
    clear(l);
    for (int i = 0; i < n; i++)
        add_operand(l, operands[i]);
    sort_files(l);
    queue_dirs(l, NULL);
    if (l->n > 0) {
        ls__print(l);
        if (l->pending)
            cmd_putc(l->c, '\n');
    }
    bool header = l->n > 0 || n > 1 || (l->pending && l->pending->next);
    list_pending(l, header);
    mem_free(l->files);
    mem_free(l->active);
    buf_done(&l->scratch);
}
