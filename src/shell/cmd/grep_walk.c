/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/grep_int.h"

#include <ctype.h>
#include <errno.h>

#include "shell/cmd/walk.h"
#include "shell/expand_int.h"

/* Which files grep looks into. */

/* ---- globs ---- */

void grep_glob_add(struct grep *g, struct grep_globs *gl, const char *pattern, bool include)
{
    if (gl->n == gl->cap) {
        gl->cap = gl->cap ? gl->cap * 2 : 8;
        struct grep_glob *v = arena_alloc(g->c->keep, gl->cap * sizeof *v);
        if (gl->n > 0)
            memcpy(v, gl->v, gl->n * sizeof *v);
        gl->v = v;
    }
    gl->v[gl->n++] = (struct grep_glob){pattern, include};
}

int grep_glob_file(struct grep *g, const char *name)
{
    struct buf b;
    buf_init(&b, LIMIT_SCRIPT);
    int fd = cmd_open_input(g->c, name);
    int r = fd < 0 ? fd : cmd_read_all(g->c, fd, &b);
    if (fd >= 0)
        cmd_close_input(g->c, fd);
    struct str text = buf_str(&b);
    for (size_t from = 0; r == 0 && from < text.n;) {
        ptrdiff_t nl = str_find(text, '\n', from);
        size_t end = nl < 0 ? text.n : (size_t)nl, n = end;
        while (n > from && isspace((unsigned char)text.p[n - 1]))
            n--;
        if (n > from)
            grep_glob_add(g, &g->files, arena_dup(g->c->keep, text.p + from, n - from), false);
        from = end + 1;
    }
    buf_done(&b);
    return r;
}

/* Names of the command line match a pattern with any of their ends that begin behind a slash. */
static bool glob_match(const struct grep *g, const char *pattern, const char *name, bool command_line)
{
    int flags = g->utf8 ? PATTERN_UTF8 : 0;
    if (pattern_match(str_c(pattern), str_c(name), flags))
        return true;
    for (const char *p = name; command_line && *p; p++) {
        if (p[0] == '/' && p[1] != '/' && pattern_match(str_c(pattern), str_c(p + 1), flags))
            return true;
    }
    return false;
}

/* The last pattern that matches decides; when none does, the first one's kind says what the rest is. */
static bool excluded(const struct grep *g, const struct grep_globs *gl, const char *name, bool command_line)
{
    if (gl->n == 0)
        return false;
    for (size_t i = gl->n; i-- > 0;) {
        if (glob_match(g, gl->v[i].pattern, name, command_line))
            return !gl->v[i].include;
    }
    return gl->v[0].include;
}

static bool skipped(const struct grep *g, const char *name, bool command_line, bool is_dir)
{
    if (!is_dir)
        return excluded(g, &g->files, name, command_line);
    if (g->dirs == GREP_DIR_SKIP)
        return true;
    return !(command_line && g->omit_dot) && excluded(g, &g->dirs_excluded, name, command_line);
}

static bool is_device(uint32_t mode)
{
    return S_ISCHR(mode) || S_ISBLK(mode) || S_ISSOCK(mode) || S_ISFIFO(mode);
}

static bool skips_devices(const struct grep *g, bool command_line)
{
    return g->devices == GREP_DEV_SKIP || (g->devices == GREP_DEV_COMMAND_LINE && !command_line);
}

/* ---- searching ---- */

void grep_file_error(struct grep *g, int err)
{
    if (!g->no_messages)
        cmd_errno(g->c, err, "%s", g->file);
    g->error = true;
}

/* Reading what is being written would never end. */
static bool is_output(struct grep *g, uint64_t dev, uint64_t ino)
{
    if (!g->out_regular || g->out_quiet || g->max_count <= 1 || g->out_st.dev != dev || g->out_st.ino != ino)
        return false;
    if (!g->no_messages)
        cmd_err(g->c, "%s: input file is also the output", g->file);
    g->error = true;
    return true;
}

static bool search(struct grep *g, struct grep_input *in)
{
    bool hit = grep_scan(g, in);
    if (hit && g->quiet)
        g->stop = true;
    return hit;
}

/* A file met on a walk. */
static bool walk_file(struct grep *g, const struct walk *w)
{
    struct vfs *v = cmd_vfs(g->c);
    struct vfs_ctx ctx = cmd_ctx(g->c);
    struct vfs_stat st = w->st;
    if (skipped(g, w->name, false, false))
        return false;
    if (S_ISLNK(st.mode)) {
        /* With -R only what leads nowhere is left a link. */
        int err = g->follow_all ? vfs_stat(v, &ctx, w->parent, walk_ref(w), 0, &st) : 0;
        if (err < 0)
            grep_file_error(g, err);
        return false;
    }
    if (is_device(st.mode) && skips_devices(g, false))
        return false;
    if (is_device(st.mode)) {
        struct grep_input in = {.fd = cmd_open_input(g->c, w->path.p)};
        if (in.fd < 0) {
            grep_file_error(g, in.fd);
            return false;
        }
        bool hit = search(g, &in);
        cmd_close_input(g->c, in.fd);
        return hit;
    }
    struct grep_input in = {.fd = -1, .regular = true};
    int r = vfs_open(v, &ctx, w->parent, walk_ref(w), O_RDONLY, 0, &in.h);
    if (r < 0) {
        grep_file_error(g, r);
        return false;
    }
    in.size = vfs_handle_size(in.h);
    if (g->out_regular && vfs_stat_ino(v, st.ino, &st) < 0)
        st.dev = 0;
    bool hit = !is_output(g, st.dev, st.ino) && search(g, &in);
    vfs_close(in.h);
    return hit;
}

static void loop_warning(struct grep *g)
{
    if (!g->no_messages)
        cmd_err(g->c, "%s: warning: recursive directory loop", g->file);
}

static bool walk_dir(struct grep *g, const char *name)
{
    struct walk w;
    enum walk_event ev;
    bool hit = false, names = g->names;
    if (g->with_filename == 0)
        g->names = true;
    /* Directories that links lead to are compared with those above, also by device. */
    walk_init(&w, g->c, WALK_FOLLOW_ARGS | (g->follow_all ? WALK_FOLLOW : WALK_NO_STAT));
    walk_start(&w, name);
    while (!g->stop && g->c->out_err == 0 && (ev = walk_next(&w)) != WALK_END) {
        bool dot = g->omit_dot && w.path.n > 2;
        g->file = dot ? w.path.p + 2 : w.path.p;
        switch (ev) {
        case WALK_FILE:
            hit |= walk_file(g, &w);
            break;
        case WALK_PRE:
            if (w.depth > 0 && skipped(g, w.name, false, true))
                walk_skip(&w);
            break;
        case WALK_UNREAD:
        case WALK_LOST:
            grep_file_error(g, w.err);
            break;
        case WALK_CYCLE:
            loop_warning(g);
            break;
        case WALK_END:
        case WALK_POST:
        default:
            break;
        }
    }
    walk_done(&w);
    g->names = names;
    return hit;
}

/* An operand that is open as @in->fd. */
static bool open_operand(struct grep *g, struct grep_input *in, const char *name)
{
    struct vfs_stat st;
    bool is_stdin = in->fd == 0;
    int r = proc_fstat(g->c->p, in->fd, &st);
    if (r < 0) {
        grep_file_error(g, r);
        return false;
    }
    if (!is_stdin) {
        if (is_device(st.mode) && skips_devices(g, true))
            return false;
        if (skipped(g, name, true, S_ISDIR(st.mode)))
            return false;
        if (S_ISDIR(st.mode) && g->dirs == GREP_DIR_RECURSE)
            return walk_dir(g, name);
    }
    in->regular = S_ISREG(st.mode);
    in->size = st.size;
    /* Standard input may be open for reading and writing at once, and then is what the user meant. */
    if (in->regular && !(is_stdin && (proc_fd_flags(g->c->p, 0) & O_ACCMODE) == O_RDWR) && is_output(g, st.dev, st.ino))
        return false;
    return search(g, in);
}

bool grep_operand(struct grep *g, const char *name)
{
    bool is_stdin = strcmp(name, "-") == 0;
    struct grep_input in = {.fd = 0};
    g->file = is_stdin ? (g->label ? g->label : "(standard input)") : name;
    if (!is_stdin)
        in.fd = cmd_open_safe(g->c, name, O_RDONLY | (skips_devices(g, true) ? O_NONBLOCK : 0), 0);
    if (in.fd < 0) {
        grep_file_error(g, in.fd);
        return false;
    }
    bool hit = open_operand(g, &in, name);
    if (!is_stdin)
        proc_close(g->c->p, in.fd);
    return hit;
}
