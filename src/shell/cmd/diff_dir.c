/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/diff_int.h"

#include <errno.h>

#include "base/num.h"
#include "shell/cmd/file_type.h"
#include "types/errtab.h"

/* Which files are compared, and how directories are gone through. */

/* Directories one in another; more could not be named. */
#define DEPTH_MAX (LIMIT_PATH / 2)

struct names {
    const char **v;
    size_t n, at;
};

/* A pair of directories being compared. */
struct pair {
    struct pair *up;
    const char *name[2];
    struct vfs_stat st[2];
    bool absent[2];
    struct names names[2];
    struct arena_mark mark;
    size_t depth;
};

static enum diff_status worse(enum diff_status a, enum diff_status b)
{
    return a > b ? a : b;
}

static enum diff_status trouble(struct diff *d, int err, const char *name)
{
    if (!d->c->p->must_end)
        cmd_errno(d->c, err, "%s", name);
    return DIFF_TROUBLE;
}

static const char *shown(const struct diff_file *f)
{
    return f->label ? f->label : f->name;
}

/* ---- two files ---- */

static enum diff_status tell_differ(struct diff *d)
{
    cmd_printf(d->c, "%s %s and %s differ\n", d->brief ? "Files" : "Binary files", shown(&d->f[0]), shown(&d->f[1]));
    return DIFF_DIFFER;
}

static int open_both(struct diff *d)
{
    for (unsigned i = 0; i < 2; i++) {
        struct diff_file *f = &d->f[i];
        if (f->absent || f->fd == 0)
            continue;
        f->fd = cmd_open_safe(d->c, f->name, O_RDONLY, 0);
        if (f->fd < 0) {
            trouble(d, f->fd, f->name);
            return -1;
        }
    }
    return 0;
}

/* With -q and nothing ignored bytes are enough: whether they differ, or a negative errno. */
static int bytes_differ(struct diff *d)
{
    const char *have[2];
    size_t n[2] = {0, 0};
    char *block[2] = {cmd_block_get(), cmd_block_get()};
    int r = 0;
    for (;;) {
        for (unsigned i = 0; i < 2 && r == 0; i++) {
            if (n[i] > 0 || d->f[i].absent)
                continue;
            ssize_t k = proc_read(d->c->p, d->f[i].fd, block[i], CMD_BLOCK);
            if (k < 0)
                r = (int)k;
            n[i] = k < 0 ? 0 : (size_t)k;
            have[i] = block[i];
        }
        size_t both = NUM_MIN(n[0], n[1]);
        if (r < 0 || both == 0)
            break;
        if (memcmp(have[0], have[1], both) != 0) {
            r = 1;
            break;
        }
        for (unsigned i = 0; i < 2; i++) {
            have[i] += both;
            n[i] -= both;
        }
        r = cmd_poll(d->c);
    }
    if (r == 0)
        r = n[0] != n[1];
    cmd_block_put(block[0]);
    cmd_block_put(block[1]);
    return r;
}

static enum diff_status compare_texts(struct diff *d)
{
    int binary = diff_read(d);
    if (binary < 0)
        return DIFF_TROUBLE;
    struct str a = buf_str(&d->f[0].text), b = buf_str(&d->f[1].text);
    if (str_eq(a, b))
        return DIFF_SAME;
    if (binary)
        return tell_differ(d);
    if (diff_classify(d) < 0 || diff_search(d) < 0 || diff_list(d) < 0)
        return DIFF_TROUBLE;
    if (!diff_counts(d))
        return DIFF_SAME;
    if (d->brief)
        return tell_differ(d);
    diff_print(d);
    return DIFF_DIFFER;
}

static enum diff_status compare_files(struct diff *d)
{
    const struct diff_file *a = &d->f[0], *b = &d->f[1];
    bool bytes = d->brief && !d->ignore_blank && !d->ignore_case && d->space == DIFF_SPACE_COUNTS;
    if (bytes && S_ISREG(a->st.mode) && S_ISREG(b->st.mode) && a->st.size != b->st.size && a->st.size > 0 &&
        b->st.size > 0)
        return tell_differ(d);
    if (open_both(d) < 0)
        return DIFF_TROUBLE;
    if (!bytes)
        return compare_texts(d);
    int r = bytes_differ(d);
    if (r < 0)
        return trouble(d, r, a->name);
    return r ? tell_differ(d) : DIFF_SAME;
}

/* ---- directories ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int read_names(struct diff *d, const struct pair *p, unsigned i, struct names *ret)
{
    struct vfs_dirent e;
    const char *after = "";
    size_t cap = 0;
    int r = p->absent[i] ? 0 : vfs_dir_enter(cmd_vfs(d->c), &d->c->p->cred, p->st[i].ino);
    *ret = (struct names){0};
    if (p->absent[i] || r < 0)
        return r;
    while ((r = vfs_dir_next(cmd_vfs(d->c), p->st[i].ino, str_c(after), &e)) == 1) {
        if (ret->n == cap) {
            size_t more = cap ? 2 * cap : 32;
            const char **v = arena_alloc(d->c->arena, more * sizeof *v);
            if (cap)
                memcpy(v, ret->v, cap * sizeof *v);
            ret->v = v;
            cap = more;
        }
        after = ret->v[ret->n++] = arena_dup(d->c->arena, e.name.p, e.name.n);
        if ((r = cmd_poll(d->c)) < 0)
            return r;
    }
    if (ret->n > 0)
        qsort(ret->v, ret->n, sizeof *ret->v, by_name);
    return r;
}

static bool is_loop(const struct pair *p, unsigned i)
{
    for (const struct pair *q = p->up; q; q = q->up)
        if (!q->absent[i] && q->st[i].ino == p->st[i].ino && q->st[i].dev == p->st[i].dev)
            return true;
    return false;
}

/* Begins the pair of directories in d->f: NULL after a message, *ret its status. */
static struct pair *enter(struct diff *d, struct pair *up, struct arena_mark mark, enum diff_status *ret)
{
    struct pair *p = ARENA_NEW(d->c->arena, struct pair);
    p->up = up;
    p->mark = mark;
    p->depth = up ? up->depth + 1 : 0;
    for (unsigned i = 0; i < 2; i++) {
        p->name[i] = d->f[i].name;
        p->st[i] = d->f[i].st;
        p->absent[i] = d->f[i].absent;
    }
    *ret = DIFF_SAME;
    if ((p->absent[0] || is_loop(p, 0)) && (p->absent[1] || is_loop(p, 1))) {
        cmd_err(d->c, "%s: recursive directory loop", p->name[p->absent[0]]);
        *ret = DIFF_TROUBLE;
    } else if (p->depth >= DEPTH_MAX) {
        *ret = trouble(d, -ENAMETOOLONG, p->name[0]);
    }
    for (unsigned i = 0; i < 2 && *ret == DIFF_SAME; i++) {
        int r = read_names(d, p, i, &p->names[i]);
        if (r < 0)
            *ret = trouble(d, r, p->name[i]);
    }
    return *ret == DIFF_SAME ? p : NULL;
}

/* ---- a pair of names ---- */

static const char *below(struct diff *d, const char *dir, const char *name)
{
    size_t n = strlen(dir);
    while (n > 0 && dir[n - 1] == '/')
        n--;
    return arena_printf(d->c->arena, "%.*s/%s", (int)n, dir, name);
}

/* Looks at the files; *ret_err[i] is why one cannot be compared. */
static void look(struct diff *d, bool top, int err[2])
{
    for (unsigned i = 0; i < 2; i++) {
        struct diff_file *f = &d->f[i];
        err[i] = 0;
        if (f->absent)
            continue;
        if (top && strcmp(f->name, "-") == 0) {
            f->fd = 0;
            err[i] = proc_fstat(d->c->p, 0, &f->st);
            int64_t at = S_ISREG(f->st.mode) ? proc_lseek(d->c->p, 0, 0, SEEK_CUR) : 0;
            f->st.size -= at > 0 ? NUM_MIN((uint64_t)at, f->st.size) : 0;
            f->st.mtime = proc_wall(d->c->p->ps);
        } else {
            err[i] = proc_stat(d->c->p, str_c(f->name), 0, &f->st);
        }
    }
    /* -N: what is not there is empty, and so is what patch makes for it. */
    for (unsigned i = 0; i < 2 && d->new_file; i++) {
        struct diff_file *f = &d->f[i];
        bool stub = err[i] == 0 && !f->absent && f->fd < 0 && S_ISREG(f->st.mode) && (f->st.mode & 0777) == 0 &&
                    f->st.size == 0;
        if (stub || (err[i] == -ENOENT && top && err[!i] == 0)) {
            f->absent = true;
            err[i] = 0;
        }
    }
    for (unsigned i = 0; i < 2; i++)
        if (d->f[i].absent)
            d->f[i].st = (struct vfs_stat){.mode = d->f[!i].st.mode};
}

/* A directory and a file on the command line: the file of that name in the directory. */
static enum diff_status into_dir(struct diff *d)
{
    struct diff_file *dir = &d->f[S_ISDIR(d->f[0].st.mode) ? 0 : 1];
    const struct diff_file *file = dir == &d->f[0] ? &d->f[1] : &d->f[0];
    if (strcmp(file->name, "-") == 0) {
        cmd_err(d->c, "cannot compare '-' to a directory");
        return DIFF_TROUBLE;
    }
    const char *slash = strrchr(file->name, '/');
    dir->name = below(d, dir->name, slash ? slash + 1 : file->name);
    int r = proc_stat(d->c->p, str_c(dir->name), 0, &dir->st);
    return r < 0 ? trouble(d, r, dir->name) : DIFF_SAME;
}

static enum diff_status only_in(struct diff *d, const char *dir, const char *name)
{
    cmd_printf(d->c, "Only in %s: %s\n", dir, name);
    return DIFF_DIFFER;
}

/* What kinds of files are compared how. @name is the last part of both names in @up. *ret_dirs: they are directories to
 * go through. */
static enum diff_status compare_kinds(struct diff *d, const struct pair *up, const char *name, bool *ret_dirs)
{
    struct diff_file *a = &d->f[0], *b = &d->f[1];
    bool dir0 = S_ISDIR(a->st.mode), dir1 = S_ISDIR(b->st.mode), there = !a->absent && !b->absent;
    if (a->absent && b->absent)
        return DIFF_SAME;
    if (there && a->st.ino == b->st.ino && a->st.dev == b->st.dev)
        return DIFF_SAME;
    if (dir0 && dir1) {
        *ret_dirs = !up || d->recursive;
        if (!*ret_dirs)
            cmd_printf(d->c, "Common subdirectories: %s and %s\n", a->name, b->name);
        return DIFF_SAME;
    }
    if (dir0 || dir1 || (up && !(S_ISREG(a->st.mode) && S_ISREG(b->st.mode)))) {
        if (there) {
            cmd_printf(d->c, "File %s is a %s while file %s is a %s\n", shown(a), file_type_text(&a->st), shown(b),
                       file_type_text(&b->st));
            return DIFF_DIFFER;
        }
        return up ? only_in(d, up->name[a->absent], name) : DIFF_SAME;
    }
    return compare_files(d);
}

/* Compares @a and @b, NULL for what is not there, below @up (NULL: the operands). *ret_enter: a pair of directories
 * that is to be gone through. */
static enum diff_status compare(struct diff *d, struct pair *up, const char *a, const char *b, struct pair **ret_enter)
{
    struct arena_mark mark = arena_mark(d->c->arena);
    const char *name[2] = {a ? a : b, b ? b : a};
    enum diff_status status = DIFF_SAME;
    bool dirs = false;
    int err[2];
    *ret_enter = NULL;
    if ((!a || !b) && !d->new_file)
        return only_in(d, up->name[!a], name[0]);
    diff_clear(d);
    d->in_dir = up != NULL;
    for (unsigned i = 0; i < 2; i++) {
        d->f[i].absent = i ? !b : !a;
        d->f[i].name = up ? below(d, up->name[i], name[i]) : name[i];
        d->f[i].label = d->labels[i];
    }
    look(d, !up, err);
    for (unsigned i = 0; i < 2; i++)
        if (err[i] < 0)
            status = trouble(d, err[i], d->f[i].name);
    if (status == DIFF_SAME && !up && S_ISDIR(d->f[0].st.mode) != S_ISDIR(d->f[1].st.mode))
        status = into_dir(d);
    if (status == DIFF_SAME)
        status = compare_kinds(d, up, name[0], &dirs);
    if (status == DIFF_SAME && dirs) {
        *ret_enter = enter(d, up, mark, &status);
        if (*ret_enter)
            return DIFF_SAME;
    }
    if (status == DIFF_SAME && d->report_same && !S_ISDIR(d->f[0].st.mode))
        cmd_printf(d->c, "Files %s and %s are identical\n", shown(&d->f[0]), shown(&d->f[1]));
    diff_clear(d);
    arena_reset(d->c->arena, mark);
    return status;
}

enum diff_status diff_operands(struct diff *d, const char *a, const char *b)
{
    struct pair *p, *in;
    enum diff_status status = compare(d, NULL, a, b, &p);
    while (p && d->c->out_err == 0 && !d->c->p->must_end) {
        struct names *x = &p->names[0], *y = &p->names[1];
        if (x->at == x->n && y->at == y->n) {
            struct pair *done = p;
            p = p->up;
            arena_reset(d->c->arena, done->mark);
            continue;
        }
        int order = x->at == x->n ? 1 : y->at == y->n ? -1 : strcmp(x->v[x->at], y->v[y->at]);
        const char *l = order <= 0 ? x->v[x->at++] : NULL, *r = order >= 0 ? y->v[y->at++] : NULL;
        status = worse(status, compare(d, p, l, r, &in));
        p = in ? in : p;
    }
    diff_clear(d);
    return status;
}
