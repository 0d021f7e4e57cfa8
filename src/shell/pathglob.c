/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expander_int.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "shell/pattern_int.h"

/*
 * The pattern is cut at its slashes. What stands before the first component that is a pattern is taken as it is
 * written; from there on a list of directories (path as it will be shown, inode) goes from component to component.
 * Directories are read by inode, so a walk costs one lookup for each literal component and nothing for names that do
 * not match.
 */

struct place {
    struct str path; /* ends in '/', or is empty */
    uint64_t ino;
};

struct places {
    struct place *v;
    size_t n, cap;
};

struct globber {
    struct shell *sh;
    struct vfs *vfs;
    struct vfs_ctx ctx;
    int flags;      /* of patterns of one name */
    bool dots;      /* names that begin with '.' need no '.' in the pattern */
    bool skip_dots; /* "." and ".." never match */
    struct fields *out;
    uint32_t n_found;
    struct str ignore; /* GLOBIGNORE */
    int err;
};

static int no_memory(struct globber *g)
{
    if (!g->err)
        g->err = expand__no_memory(g->sh);
    return g->err;
}

/* "DIR" "NAME" and '/' when @slash, in scratch. NULL when it would be too long for a path. */
static char *join(struct globber *g, struct str dir, struct str name, bool slash, size_t *ret_n)
{
    size_t n = dir.n + name.n + slash;
    if (n >= LIMIT_PATH)
        return NULL;
    char *p = arena_try(&g->sh->scratch, n + 1);
    if (!p) {
        no_memory(g);
        return NULL;
    }
    memcpy(p, dir.p, dir.n);
    memcpy(p + dir.n, name.p, name.n);
    if (slash)
        p[n - 1] = '/';
    p[n] = 0;
    *ret_n = n;
    return p;
}

/* The directory that @name in @dir is, or leads to: true and *ret. */
static bool directory_at(struct globber *g, uint64_t dir, struct str name, uint64_t *ret)
{
    struct vfs_stat st;
    return vfs_lookup(g->vfs, &g->ctx, dir, name, 0, ret) == 0 && vfs_stat_ino(g->vfs, *ret, &st) == 0 &&
           S_ISDIR(st.mode);
}

/* Appends a place; @path stays as it is. */
static void push_place(struct globber *g, struct places *l, struct str path, uint64_t ino)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 8;
        struct place *v = l->n < LIMIT_WORDS ? arena_try(&g->sh->scratch, cap * sizeof(*v)) : NULL;
        if (!v) {
            no_memory(g);
            return;
        }
        if (l->n)
            memcpy(v, l->v, l->n * sizeof(*v));
        l->v = v;
        l->cap = cap;
    }
    l->v[l->n++] = (struct place){path, ino};
}

/* Appends the directory @name in @dir. */
static void add_place(struct globber *g, struct places *l, struct str dir, struct str name, uint64_t ino)
{
    size_t n;
    char *p = join(g, dir, name, true, &n);
    if (p)
        push_place(g, l, str_of(p, n), ino);
}

/* Follows the names in @links, which are symlinks in the directory @ino; those that lead to directories are places. */
static void add_links(struct globber *g, struct places *l, struct str dir, uint64_t ino, const struct places *links)
{
    for (size_t i = 0; i < links->n && !g->err; i++) {
        uint64_t to;
        if (directory_at(g, ino, links->v[i].path, &to))
            add_place(g, l, dir, links->v[i].path, to);
    }
}

/* ---- GLOBIGNORE ---- */

static bool ignored(struct globber *g, struct str path)
{
    struct str list = g->ignore;
    int flags = g->flags | PATTERN_PATH;
    for (size_t i = 0; i <= list.n && list.n;) {
        size_t end = i;
        while (end < list.n && list.p[end] != ':')
            end += list.p[end] == '\\' && end + 1 < list.n ? 2 : 1;
        if (end > i && pattern_match(str_of(list.p + i, end - i), path, flags))
            return true;
        i = end + 1;
    }
    return false;
}

static void found(struct globber *g, struct str path)
{
    if (g->err || (g->ignore.n && ignored(g, path)))
        return;
    if (fields_add(g->sh, g->out, path) < 0)
        g->err = -ENOMEM;
    else
        g->n_found++;
}

static void found_in(struct globber *g, struct str dir, struct str name)
{
    size_t n;
    char *p = join(g, dir, name, false, &n);
    if (p)
        found(g, str_of(p, n));
}

/* ---- directories ---- */

static bool readable(struct globber *g, uint64_t ino, bool search)
{
    return vfs_access_ino(g->vfs, g->ctx.cred, ino, 4 | (search ? 1 : 0)) == 0;
}

/* One component over one directory. */
struct scan {
    struct globber *g;
    const struct pattern *pat, *pat_utf8; /* for names of ASCII and for others */
    bool starts_dot;
    bool last;
    struct str dir;
    struct places *next;
    struct places links; /* symlinks that match: where they lead is looked up after the walk */
};

static bool name_matches(const struct scan *s, struct str name)
{
    if (name.p[0] == '.' && !s->starts_dot && !s->g->dots)
        return false;
    const struct pattern *p = s->pat_utf8 && !uchar_ascii(name) && uchar_valid(name) ? s->pat_utf8 : s->pat;
    return pattern__run(p, NULL, name, PAT_WHOLE) >= 0;
}

static int scan_entry(void *arg, const struct vfs_dirent *e)
{
    struct scan *s = arg;
    if (!name_matches(s, e->name))
        return 0;
    if (s->last)
        found_in(s->g, s->dir, e->name);
    else if (S_ISDIR(e->type))
        add_place(s->g, s->next, s->dir, e->name, e->ino);
    else if (S_ISLNK(e->type))
        push_place(s->g, &s->links, arena_str(&s->g->sh->scratch, e->name), 0);
    return s->g->err;
}

/* "." and "..", which a directory does not list. */
static void scan_dots(struct scan *s, uint64_t ino)
{
    static const struct str dots[2] = {{".", 1}, {"..", 2}};
    uint64_t to;
    if (s->g->skip_dots || !s->starts_dot)
        return;
    for (int i = 0; i < 2; i++) {
        if (!name_matches(s, dots[i]))
            continue;
        if (s->last)
            found_in(s->g, s->dir, dots[i]);
        else if (directory_at(s->g, ino, dots[i], &to))
            add_place(s->g, s->next, s->dir, dots[i], to);
    }
}

static void scan_directory(struct scan *s, const struct place *at)
{
    struct globber *g = s->g;
    if (!readable(g, at->ino, !s->last))
        return;
    s->dir = at->path;
    s->links = (struct places){0};
    vfs_dir_each(g->vfs, at->ino, scan_entry, s);
    scan_dots(s, at->ino);
    add_links(g, s->next, s->dir, at->ino, &s->links);
}

static void glob_component(struct globber *g, struct str pat, const struct places *cur, struct places *next, bool last)
{
    struct arena *a = &g->sh->scratch;
    struct scan s = {.g = g, .last = last, .next = next};
    s.pat = pattern__compile(a, pat, g->flags & ~PATTERN_UTF8);
    if (g->flags & PATTERN_UTF8)
        s.pat_utf8 = pattern__compile(a, pat, g->flags);
    if (!pattern__usable(g->sh, s.pat)) {
        g->err = -EINVAL;
        return;
    }
    s.starts_dot = pattern__starts_dot(s.pat);
    for (size_t i = 0; i < cur->n && !g->err; i++) {
        scan_directory(&s, &cur->v[i]);
        if (expand__poll(g->sh) < 0)
            g->err = -EINTR;
    }
}

static void literal_component(struct globber *g, struct str name, const struct places *cur, struct places *next,
                              bool last)
{
    for (size_t i = 0; i < cur->n && !g->err; i++) {
        const struct place *at = &cur->v[i];
        uint64_t ino;
        if (last) {
            if (vfs_lookup(g->vfs, &g->ctx, at->ino, name, VFS_NOFOLLOW, &ino) == 0)
                found_in(g, at->path, name);
        } else if (directory_at(g, at->ino, name, &ino)) {
            add_place(g, next, at->path, name, ino);
        }
        if (expand__poll(g->sh) < 0)
            g->err = -EINTR;
    }
}

/* ---- ** ---- */

struct deep {
    struct globber *g;
    bool last;
    struct str dir;
    struct places *dirs; /* found, to be read in turn */
    struct places links;
};

static int deep_entry(void *arg, const struct vfs_dirent *e)
{
    struct deep *d = arg;
    if (e->name.p[0] == '.' && !d->g->dots)
        return 0;
    if (d->last)
        found_in(d->g, d->dir, e->name);
    if (S_ISDIR(e->type))
        add_place(d->g, d->dirs, d->dir, e->name, e->ino);
    else if (S_ISLNK(e->type) && !d->last)
        push_place(d->g, &d->links, arena_str(&d->g->sh->scratch, e->name), 0);
    return d->g->err;
}

/* All directories below those of @cur, and they themselves, go to @next; when @last every file is a match instead.
 * Symlinks to directories are places, but are not gone into; bash leaves them out when the pattern begins with ** and
 * does not
 * @ends (in '/') behind it. */
static void deep_component(struct globber *g, const struct places *cur, struct places *next, bool last, bool ends,
                           bool from_pattern)
{
    for (size_t i = 0; i < cur->n && !g->err; i++) {
        struct places todo = {0};
        struct deep d = {.g = g, .last = last, .dirs = &todo};
        struct place start = cur->v[i];
        if (last && start.path.n)
            found(g, from_pattern ? arena_str(&g->sh->scratch, str_of(start.path.p, start.path.n - 1)) : start.path);
        push_place(g, &todo, start.path, start.ino);
        for (size_t k = 0; k < todo.n && !g->err; k++) {
            struct place at = todo.v[k];
            d.dir = at.path;
            d.links = (struct places){0};
            if (readable(g, at.ino, !last))
                vfs_dir_each(g->vfs, at.ino, deep_entry, &d);
            if (start.path.n || ends)
                add_links(g, next, at.path, at.ino, &d.links);
            if (!last)
                push_place(g, next, at.path, at.ino);
            if (expand__poll(g->sh) < 0)
                g->err = -EINTR;
        }
    }
}

/* ---- the pattern ---- */

/* End of the component that begins at @i; a backslash before a '/' goes with the slash. */
static size_t component_end(struct str pat, size_t i)
{
    while (i < pat.n && pat.p[i] != '/') {
        if (pat.p[i] == '\\' && i + 1 < pat.n) {
            if (pat.p[i + 1] == '/')
                return i;
            i++;
        }
        i++;
    }
    return i < pat.n ? i : pat.n;
}

/* Place after the slashes at @i. */
static size_t skip_slashes(struct str pat, size_t i)
{
    for (;;) {
        if (i < pat.n && pat.p[i] == '/')
            i++;
        else if (i + 1 < pat.n && pat.p[i] == '\\' && pat.p[i + 1] == '/')
            i += 2;
        else
            return i;
    }
}

/* Text without the backslashes that quote, in scratch. */
static struct str unescape(struct globber *g, struct str s)
{
    char *p = arena_alloc(&g->sh->scratch, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' && i + 1 < s.n)
            i++;
        p[n++] = s.p[i];
    }
    p[n] = 0;
    return str_of(p, n);
}

/* Extends the literal start of the pattern over whole components; the place where the first component with a pattern
 * begins. */
static size_t literal_prefix(struct globber *g, struct str pat)
{
    size_t from = skip_slashes(pat, 0);
    for (;;) {
        size_t end = component_end(pat, from);
        if (end >= pat.n || pattern_is_glob(str_of(pat.p + from, end - from), g->flags))
            return from;
        from = skip_slashes(pat, end);
    }
}

static bool start_place(struct globber *g, struct str prefix, struct place *ret)
{
    struct str path = unescape(g, prefix);
    struct vfs_stat st;
    if (!path.n) {
        *ret = (struct place){path, g->ctx.cwd};
        return true;
    }
    if (path.n >= LIMIT_PATH || vfs_lookup(g->vfs, &g->ctx, 0, path, 0, &ret->ino) < 0 ||
        vfs_stat_ino(g->vfs, ret->ino, &st) < 0 || !S_ISDIR(st.mode))
        return false;
    ret->path = path;
    return true;
}

static void walk(struct globber *g, struct str pat)
{
    size_t i = literal_prefix(g, pat);
    struct place start;
    if (!start_place(g, str_of(pat.p, i), &start))
        return;
    struct places cur = {&start, 1, 1};
    bool from_pattern = false;
    while (!g->err && cur.n) {
        size_t end = component_end(pat, i), after = skip_slashes(pat, end);
        struct str comp = str_of(pat.p + i, end - i);
        struct places next = {0};
        bool last = end >= pat.n, glob = pattern_is_glob(comp, g->flags);
        bool deep = sh_shopt(g->sh, SHOPT_GLOBSTAR) && str_eqc(comp, "**");
        if (deep && !last) { /* several in a row are one */
            size_t e = component_end(pat, after);
            if (str_eqc(str_of(pat.p + after, e - after), "**")) {
                i = after;
                from_pattern = true;
                continue;
            }
        }
        if (deep)
            deep_component(g, &cur, &next, last, after >= pat.n, from_pattern);
        else if (glob)
            glob_component(g, comp, &cur, &next, last);
        else
            literal_component(g, unescape(g, comp), &cur, &next, last);
        if (last)
            return;
        from_pattern = from_pattern || glob;
        cur = next;
        i = after;
        if (i >= pat.n) { /* the pattern ends in '/': the directories are the matches */
            for (size_t k = 0; k < cur.n; k++)
                if (cur.v[k].path.n)
                    found(g, cur.v[k].path);
            return;
        }
    }
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

int pathglob(struct shell *sh, struct str pat, struct fields *out)
{
    struct globber g = {.sh = sh, .out = out};
    uint32_t first = out->n;
    if (!sh->p)
        return 0;
    g.vfs = proc_set_vfs(sh->ps);
    g.ctx = proc_ctx(sh->p);
    g.ignore = var_get(sh, "GLOBIGNORE");
    g.dots = sh_shopt(sh, SHOPT_DOTGLOB) || g.ignore.n;
    g.skip_dots = sh_shopt(sh, SHOPT_GLOBSKIPDOTS) || g.ignore.n;
    g.flags = (sh->utf8 ? PATTERN_UTF8 : 0) | (sh_shopt(sh, SHOPT_EXTGLOB) ? PATTERN_EXTGLOB : 0) |
              (sh_shopt(sh, SHOPT_NOCASEGLOB) ? PATTERN_NOCASE : 0);
    walk(&g, pat);
    if (g.err)
        return g.err;
    if (g.n_found > 1)
        qsort(out->v + first, g.n_found, sizeof(*out->v), by_bytes);
    return (int)g.n_found;
}
