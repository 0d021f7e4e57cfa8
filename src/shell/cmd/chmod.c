/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/mode.h"
#include "shell/cmd/walk.h"

/* Modes may begin with '-': each letter one may have then is an "option" that takes the rest of its word. */
#define MODE_LETTER(ch)                                                                                                \
    {                                                                                                                  \
        ch, NULL, CMD_OPT_ARG                                                                                          \
    }

static const struct cmd_opt opts[] = {
    {'c', "changes", CMD_NO_ARG},
    {'R', "recursive", CMD_NO_ARG},
    {256, "no-preserve-root", CMD_NO_ARG},
    {257, "preserve-root", CMD_NO_ARG},
    {'f', "quiet", CMD_NO_ARG},
    {258, "reference", CMD_ARG},
    {'f', "silent", CMD_NO_ARG},
    {'v', "verbose", CMD_NO_ARG},
    MODE_LETTER('r'),
    MODE_LETTER('w'),
    MODE_LETTER('x'),
    MODE_LETTER('X'),
    MODE_LETTER('s'),
    MODE_LETTER('t'),
    MODE_LETTER('u'),
    MODE_LETTER('g'),
    MODE_LETTER('o'),
    MODE_LETTER('a'),
    MODE_LETTER(','),
    MODE_LETTER('+'),
    MODE_LETTER('='),
    MODE_LETTER('0'),
    MODE_LETTER('1'),
    MODE_LETTER('2'),
    MODE_LETTER('3'),
    MODE_LETTER('4'),
    MODE_LETTER('5'),
    MODE_LETTER('6'),
    MODE_LETTER('7'),
    {0},
};

enum { QUIET, CHANGES, VERBOSE };

struct chmod {
    struct cmd *c;
    const char *mode; /* NULL: `fixed` */
    uint32_t fixed;
    int verbosity;
    bool silent, recurse, keep_root, surprises;
    struct vfs_stat root;
};

static void describe(const struct chmod *m, const char *path, uint32_t old, uint32_t new_mode, bool done, bool changed)
{
    char a[11], b[11];
    const char *q = cmd_quote(m->c, path, true);
    cmd_mode_text(old, a);
    cmd_mode_text(new_mode, b);
    if (changed)
        cmd_printf(m->c, "mode of %s changed from %04o (%s) to %04o (%s)\n", q, old & 07777, a + 1, new_mode & 07777,
                   b + 1);
    else if (done)
        cmd_printf(m->c, "mode of %s retained as %04o (%s)\n", q, new_mode & 07777, b + 1);
    else
        cmd_printf(m->c, "failed to change mode of %s from %04o (%s) to %04o (%s)\n", q, old & 07777, a + 1,
                   new_mode & 07777, b + 1);
}

/* A mode that began with '-' and met the umask may not do what it says: tells so. */
static bool surprise(const struct chmod *m, const char *path, uint32_t old, uint32_t new_mode)
{
    uint32_t naive;
    char a[11], b[11];
    mode_apply(m->mode, old, S_ISDIR(old), 0, &naive, NULL);
    if ((new_mode & ~naive) == 0)
        return false;
    cmd_mode_text(new_mode, a);
    cmd_mode_text(naive, b);
    cmd_err(m->c, "%s: new permissions are %s, not %s", cmd_quote(m->c, path, false), a + 1, b + 1);
    return true;
}

static int change(const struct chmod *m, const struct walk *w)
{
    uint32_t old = w->st.mode, new_mode = m->fixed;
    int r = 0;
    bool link = S_ISLNK(old);
    if (m->keep_root && w->st.ino == m->root.ino && w->st.dev == m->root.dev) {
        if (strcmp(w->path.p, "/") == 0)
            cmd_err(m->c, "it is dangerous to operate recursively on %s", cmd_quote(m->c, "/", true));
        else
            cmd_err(m->c, "it is dangerous to operate recursively on %s (same as %s)", cmd_quote(m->c, w->path.p, true),
                    cmd_quote(m->c, "/", true));
        cmd_err(m->c, "use --no-preserve-root to override this failsafe");
        return 1;
    }
    if (m->mode)
        mode_apply(m->mode, old, S_ISDIR(old), m->c->p->umask, &new_mode, NULL);
    if (!link)
        r = vfs_chmod(cmd_vfs(m->c), &m->c->p->cred, w->st.ino, new_mode);
    if (r < 0 && !m->silent)
        cmd_errno(m->c, r, "changing permissions of %s", cmd_quote(m->c, w->path.p, true));
    if (m->verbosity != QUIET) {
        struct vfs_stat st = w->st;
        if (r == 0)
            vfs_stat_ino(cmd_vfs(m->c), w->st.ino, &st); /* the set-id bits may not have been ours to set */
        bool changed = r == 0 && !link && ((old ^ st.mode) & 07777) != 0;
        if (link && m->verbosity == VERBOSE)
            cmd_printf(m->c, "neither symbolic link %s nor referent has been changed\n",
                       cmd_quote(m->c, w->path.p, true));
        else if (!link && (changed || m->verbosity == VERBOSE))
            describe(m, w->path.p, old, new_mode, r == 0, changed);
    }
    if (r == 0 && !link && m->surprises && surprise(m, w->path.p, old, new_mode))
        return 1;
    return r < 0;
}

/* The walk gives a link for an operand only when it dangles. */
static int dangling(const struct chmod *m, const struct walk *w)
{
    if (!m->silent)
        cmd_err(m->c, "cannot operate on dangling symlink %s", cmd_quote(m->c, w->path.p, true));
    if (m->verbosity == VERBOSE)
        cmd_printf(m->c, "%s could not be accessed\n", cmd_quote(m->c, w->path.p, true));
    return 1;
}

static int unreachable(const struct chmod *m, const struct walk *w, const char *what)
{
    if (!m->silent)
        cmd_errno(m->c, w->err, "%s %s", what, cmd_quote(m->c, w->path.p, true));
    if (m->verbosity == VERBOSE)
        cmd_printf(m->c, "%s could not be accessed\n", cmd_quote(m->c, w->path.p, true));
    return 1;
}

static int event(const struct chmod *m, struct walk *w, enum walk_event ev)
{
    switch (ev) {
    case WALK_FILE:
        return S_ISLNK(w->st.mode) && w->depth == 0 ? dangling(m, w) : change(m, w);
    case WALK_PRE: {
        int r = change(m, w);
        if (!m->recurse || (r && m->keep_root && w->st.ino == m->root.ino))
            walk_skip(w);
        return r;
    }
    case WALK_UNREAD:
        return unreachable(m, w, "cannot read directory");
    case WALK_LOST:
        return unreachable(m, w, "cannot access");
    case WALK_POST:
    case WALK_CYCLE:
    case WALK_END:
        break;
    }
    return 0;
}

static int run(const struct chmod *m)
{
    struct cmd *c = m->c;
    struct walk w;
    int status = 0;
    walk_init(&w, c, WALK_FOLLOW_ARGS);
    for (int i = c->optind; i < c->argc && !c->p->must_end; i++) {
        walk_start(&w, c->argv[i]);
        for (;;) {
            struct arena_mark mark = arena_mark(c->arena);
            enum walk_event ev = walk_next(&w);
            if (ev == WALK_END)
                break;
            status |= event(m, &w, ev);
            arena_reset(c->arena, mark);
        }
    }
    walk_done(&w);
    return status;
}

/* Joins "-w" to the mode so far. */
static void add_mode(struct chmod *m)
{
    struct cmd *c = m->c;
    const char *word = c->argv[c->optind - 1];
    m->mode = m->mode ? arena_printf(c->arena, "%s,%s", m->mode, word) : word;
    m->surprises = true;
}

static int options(struct chmod *m, const char **reference)
{
    struct cmd *c = m->c;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        switch (o) {
        case -2:
            return -1;
        case 'c':
        case 'v':
            m->verbosity = o == 'c' ? CHANGES : VERBOSE;
            break;
        case 'f':
            m->silent = true;
            break;
        case 'R':
            m->recurse = true;
            break;
        case 256:
        case 257:
            m->keep_root = o == 257;
            break;
        case 258:
            *reference = c->optarg;
            break;
        default:
            add_mode(m);
            break;
        }
    }
    return 0;
}

static int chmod_main(struct cmd *c)
{
    struct chmod m = {.c = c};
    const char *reference = NULL;
    uint32_t unused;
    if (options(&m, &reference) < 0)
        return cmd_usage_status(c);
    struct vfs_ctx ctx = cmd_ctx(c);
    if (reference && m.mode)
        return cmd_usage_error(c, "cannot combine mode and --reference options");
    if (!reference && !m.mode && c->optind < c->argc)
        m.mode = c->argv[c->optind++];
    if (c->optind >= c->argc) {
        if (!m.mode || m.mode != c->argv[c->optind - 1])
            return cmd_missing(c);
        return cmd_usage_error(c, "missing operand after %s", cmd_quote_loc(c, c->argv[c->argc - 1]));
    }
    if (reference) {
        struct vfs_stat st;
        int r = vfs_stat(cmd_vfs(c), &ctx, 0, str_c(reference), 0, &st);
        if (r < 0) {
            cmd_errno(c, r, "failed to get attributes of %s", cmd_quote(c, reference, true));
            return 1;
        }
        m.fixed = st.mode & 07777;
    } else if (mode_apply(m.mode, 0, false, 0, &unused, NULL) < 0) {
        return cmd_usage_error(c, "invalid mode: %s", cmd_quote_loc(c, m.mode));
    }
    m.keep_root &= m.recurse;
    if (m.keep_root)
        vfs_stat(cmd_vfs(c), &ctx, 0, STR("/"), 0, &m.root);
    return run(&m);
}

CMD(chmod, chmod_main, 1,
    "Usage: chmod [OPTION]... MODE[,MODE]... FILE...\n  or:  chmod [OPTION]... OCTAL-MODE FILE...\n"
    "  or:  chmod [OPTION]... --reference=RFILE FILE...\n",
    "  -c, --changes           as -v, but only for what changes\n"
    "  -f, --silent, --quiet   most messages not\n"
    "  -v, --verbose           a line for each file\n"
    "      --no-preserve-root  '/' is not special (the default)\n"
    "      --preserve-root     fail to work recursively on '/'\n"
    "      --reference=RFILE   the mode of RFILE\n"
    "  -R, --recursive         directories and what is in them\n"
    "A MODE is [ugoa]*([-+=]([rwxXst]*|[ugo]))+ or [-+=][0-7]+.\n");
