/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/num.h"
#include "shell/cmd/walk.h"

#define ANY UINT32_MAX

static const struct cmd_opt opts[] = {
    {'R', "recursive", CMD_NO_ARG},
    {'c', "changes", CMD_NO_ARG},
    {256, "dereference", CMD_NO_ARG},
    {257, "from", CMD_ARG},
    {'h', "no-dereference", CMD_NO_ARG},
    {258, "no-preserve-root", CMD_NO_ARG},
    {259, "preserve-root", CMD_NO_ARG},
    {'f', "quiet", CMD_NO_ARG},
    {'f', "silent", CMD_NO_ARG},
    {260, "reference", CMD_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {'H', NULL, CMD_NO_ARG},
    {'L', NULL, CMD_NO_ARG},
    {'P', NULL, CMD_NO_ARG},
    {0},
};

enum { QUIET, CHANGES, VERBOSE };

/* "user:group" as given: ANY and NULL for what was left out. */
struct owner {
    uint32_t uid, gid;
    const char *user, *group;
};

struct chown {
    struct cmd *c;
    struct owner to, from;
    int verbosity;
    bool silent, recurse, keep_root;
    bool through; /* symlinks lead to what is changed */
    struct vfs_stat root;
};

static bool id_number(const char *s, uint32_t *ret)
{
    uint64_t v;
    if (num_u64(s, "", &v) != NUM_OK || v >= UINT32_MAX)
        return false;
    *ret = (uint32_t)v;
    return true;
}

static const char *number_text(struct cmd *c, uint32_t id)
{
    return arena_printf(c->arena, "%u", id);
}

/* The parts around @sep (NULL: only a user): NULL, or what is wrong. */
static const char *parse_at(struct cmd *c, const char *spec, const char *sep, struct owner *ret)
{
    struct owner o = {ANY, ANY, NULL, NULL};
    size_t n = sep ? (size_t)(sep - spec) : strlen(spec);
    if (n > 0)
        o.user = arena_dup(c->arena, spec, n);
    if (sep && sep[1])
        o.group = sep + 1;
    if (o.user) {
        uint32_t login;
        if (*o.user != '+' && cmd_user_id(c, o.user, &o.uid, &login) == 0) {
            if (sep && !o.group) {
                const char *name = cmd_group_name(c, login);
                o.gid = login;
                o.group = name ? name : number_text(c, login);
                *ret = o;
                return NULL;
            }
        } else if (sep && !o.group) {
            return "invalid spec";
        } else if (!id_number(o.user, &o.uid)) {
            return "invalid user";
        }
    }
    if (o.group && (*o.group == '+' || cmd_group_id(c, o.group, &o.gid) < 0) && !id_number(o.group, &o.gid))
        return "invalid group";
    *ret = o;
    return NULL;
}

/* USER[:GROUP]; a '.' for the ':' is taken, with a warning. */
static int parse_owner(struct cmd *c, const char *spec, struct owner *ret)
{
    const char *colon = strchr(spec, ':'), *dot = strchr(spec, '.');
    const char *wrong = parse_at(c, spec, colon, ret);
    if (wrong && !colon && dot && !parse_at(c, spec, dot, ret)) {
        cmd_err(c, "warning: '.' should be ':': %s", cmd_quote_loc(c, spec));
        return 0;
    }
    if (wrong) {
        cmd_err(c, "%s: %s", wrong, cmd_quote_loc(c, spec));
        return -1;
    }
    return 0;
}

/* "user:group", one of them, or NULL. */
static const char *join(struct cmd *c, const char *user, const char *group)
{
    if (user && group)
        return arena_printf(c->arena, "%s:%s", user, group);
    return user ? user : group;
}

enum outcome_kind_of { FAILED, RETAINED, CHANGED };

static void describe(const struct chown *o, const char *path, const struct vfs_stat *st, enum outcome_kind_of how)
{
    struct cmd *c = o->c;
    const char *user = o->to.user, *group = o->to.group, *old = NULL;
    const char *q = cmd_quote(c, path, true);
    const char *new_spec = join(c, user, group);
    const char *what = user ? "ownership" : group ? "group" : "ownership";
    if (st) {
        const char *u = cmd_user_name(c, st->uid), *g = cmd_group_name(c, st->gid);
        old =
            join(c, user ? (u ? u : number_text(c, st->uid)) : NULL, group ? (g ? g : number_text(c, st->gid)) : NULL);
    }
    if (how == CHANGED)
        cmd_printf(c, "changed %s of %s from %s to %s\n", what, q, old, new_spec);
    else if (how == RETAINED && old)
        cmd_printf(c, "%s of %s retained as %s\n", what, q, old);
    else if (how == RETAINED)
        cmd_printf(c, "ownership of %s retained\n", q);
    else if (!new_spec)
        cmd_printf(c, "failed to change ownership of %s\n", q);
    else if (old)
        cmd_printf(c, "failed to change %s of %s from %s to %s\n", what, q, old, new_spec);
    else
        cmd_printf(c, "failed to change %s of %s to %s\n", what, q, new_spec);
}

static bool wanted(const struct chown *o, const struct vfs_stat *st)
{
    return (o->from.uid == ANY || o->from.uid == st->uid) && (o->from.gid == ANY || o->from.gid == st->gid);
}

static bool is_root(const struct chown *o, const struct vfs_stat *st, const char *path)
{
    if (!o->keep_root || st->ino != o->root.ino || st->dev != o->root.dev)
        return false;
    if (strcmp(path, "/") == 0)
        cmd_err(o->c, "it is dangerous to operate recursively on %s", cmd_quote(o->c, "/", true));
    else
        cmd_err(o->c, "it is dangerous to operate recursively on %s (same as %s)", cmd_quote(o->c, path, true),
                cmd_quote(o->c, "/", true));
    cmd_err(o->c, "use --no-preserve-root to override this failsafe");
    return true;
}

static int change(const struct chown *o, const struct walk *w)
{
    struct vfs *v = cmd_vfs(o->c);
    struct vfs_ctx ctx = cmd_ctx(o->c);
    struct vfs_stat st = w->st;
    int r = 0;
    if (o->through && S_ISLNK(st.mode) && (r = vfs_stat(v, &ctx, w->parent, walk_ref(w), 0, &st)) < 0) {
        if (!o->silent)
            cmd_errno(o->c, r, "cannot dereference %s", cmd_quote(o->c, w->path.p, true));
        if (o->verbosity == VERBOSE)
            describe(o, w->path.p, NULL, FAILED);
        return 1;
    }
    if (is_root(o, &st, w->path.p))
        return 1;
    bool act = wanted(o, &st);
    if (act && (r = vfs_chown(v, ctx.cred, st.ino, o->to.uid, o->to.gid)) < 0 && !o->silent)
        cmd_errno(o->c, r, "changing %s of %s", o->to.uid != ANY ? "ownership" : "group",
                  cmd_quote(o->c, w->path.p, true));
    if (o->verbosity != QUIET) {
        bool changed =
            act && r == 0 && !((o->to.uid == ANY || o->to.uid == st.uid) && (o->to.gid == ANY || o->to.gid == st.gid));
        if (changed || o->verbosity == VERBOSE)
            describe(o, w->path.p, &st, r < 0 ? FAILED : changed ? CHANGED : RETAINED);
    }
    return r < 0;
}

static int unreachable(const struct chown *o, const struct walk *w, const char *what)
{
    if (!o->silent)
        cmd_errno(o->c, w->err, "%s %s", what, cmd_quote(o->c, w->path.p, true));
    if (o->verbosity == VERBOSE)
        describe(o, w->path.p, NULL, FAILED);
    return 1;
}

static int event(const struct chown *o, struct walk *w, enum walk_event ev)
{
    switch (ev) {
    case WALK_FILE:
        return change(o, w);
    case WALK_PRE:
        if (!o->recurse) {
            walk_skip(w);
            return change(o, w);
        }
        if (!is_root(o, &w->st, w->path.p))
            return 0;
        walk_skip(w);
        return 1;
    case WALK_POST:
        return change(o, w);
    case WALK_UNREAD:
        return unreachable(o, w, "cannot read directory");
    case WALK_LOST:
        return unreachable(o, w, "cannot access");
    case WALK_CYCLE:
        cmd_err(o->c,
                "WARNING: Circular directory structure.\nThis almost certainly means that you have a corrupted file "
                "system.\nNOTIFY YOUR SYSTEM MANAGER.\nThe following directory is part of the cycle:\n  %s\n",
                cmd_quote(o->c, w->path.p, false));
        return 1;
    case WALK_END:
        break;
    }
    return 0;
}

struct chown_opts {
    int deref; /* -1 not said, 0 -h, 1 --dereference */
    int walk_flags;
    const char *reference;
};

static int options(struct chown *o, struct chown_opts *s)
{
    struct cmd *c = o->c;
    for (int k; (k = cmd_getopt(c, opts, false)) != -1;) {
        switch (k) {
        case -2:
            return cmd_usage_status(c) + 1;
        case 'R':
            o->recurse = true;
            break;
        case 'c':
        case 'v':
            o->verbosity = k == 'c' ? CHANGES : VERBOSE;
            break;
        case 'f':
            o->silent = true;
            break;
        case 256:
            s->deref = 1;
            break;
        case 'h':
            s->deref = 0;
            break;
        case 257:
            if (parse_owner(c, c->optarg, &o->from) < 0)
                return 2;
            break;
        case 258:
        case 259:
            o->keep_root = k == 259;
            break;
        case 260:
            s->reference = c->optarg;
            break;
        case 'H':
            s->walk_flags = WALK_FOLLOW_ARGS;
            break;
        case 'L':
            s->walk_flags = WALK_FOLLOW;
            break;
        default:
            s->walk_flags = 0;
            break;
        }
    }
    return 0;
}

/* Which links are followed: 0, or a status after a message. */
static int links(struct chown *o, struct chown_opts *s)
{
    if (o->recurse) {
        if (s->walk_flags == 0) {
            if (s->deref == 1) {
                cmd_err(o->c, "-R --dereference requires either -H or -L");
                return 1;
            }
            s->deref = 0;
        }
    } else {
        s->walk_flags = 0;
    }
    o->through = s->deref != 0;
    return 0;
}

static int target(struct chown *o, const struct chown_opts *s)
{
    struct cmd *c = o->c;
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_stat st;
    if (!s->reference)
        return parse_owner(c, c->argv[c->optind++], &o->to) < 0;
    int r = vfs_stat(cmd_vfs(c), &ctx, 0, str_c(s->reference), 0, &st);
    if (r < 0) {
        cmd_errno(c, r, "failed to get attributes of %s", cmd_quote(c, s->reference, true));
        return 1;
    }
    const char *u = cmd_user_name(c, st.uid), *g = cmd_group_name(c, st.gid);
    o->to = (struct owner){st.uid, st.gid, u ? u : number_text(c, st.uid), g ? g : number_text(c, st.gid)};
    return 0;
}

static int chown_main(struct cmd *c)
{
    struct chown o = {.c = c, .from = {ANY, ANY, NULL, NULL}};
    struct chown_opts s = {.deref = -1};
    int r = options(&o, &s);
    if (r != 0)
        return r - 1;
    if (links(&o, &s) != 0)
        return 1;
    int n = c->argc - c->optind;
    if (n < (s.reference ? 1 : 2)) {
        if (n == 0)
            return cmd_missing(c);
        return cmd_usage_error(c, "missing operand after %s", cmd_quote_loc(c, c->argv[c->argc - 1]));
    }
    if (target(&o, &s) != 0)
        return 1;
    o.keep_root &= o.recurse;
    struct vfs_ctx ctx = cmd_ctx(c);
    if (o.keep_root)
        vfs_stat(cmd_vfs(c), &ctx, 0, STR("/"), 0, &o.root);
    struct walk w;
    int status = 0;
    walk_init(&w, c, s.walk_flags);
    for (int i = c->optind; i < c->argc && !c->p->must_end; i++) {
        walk_start(&w, c->argv[i]);
        for (enum walk_event ev;;) {
            struct arena_mark mark = arena_mark(c->arena);
            if ((ev = walk_next(&w)) == WALK_END)
                break;
            status |= event(&o, &w, ev);
            arena_reset(c->arena, mark);
        }
    }
    walk_done(&w);
    return status;
}

CMD(chown, chown_main, 1,
    "Usage: chown [OPTION]... [OWNER][:[GROUP]] FILE...\n  or:  chown [OPTION]... --reference=RFILE FILE...\n",
    "  -c, --changes           as -v, but only for what changes\n"
    "  -f, --silent, --quiet   most messages not\n"
    "  -v, --verbose           a line for each file\n"
    "      --dereference       change what a link leads to (the default)\n"
    "  -h, --no-dereference    change the link\n"
    "      --from=[OWNER][:[GROUP]]  only where these are the present ones\n"
    "      --no-preserve-root  '/' is not special (the default)\n"
    "      --preserve-root     fail to work recursively on '/'\n"
    "      --reference=RFILE   the owner and group of RFILE\n"
    "  -R, --recursive         directories and what is in them; then\n"
    "  -H                      follow a link to a directory that is an operand\n"
    "  -L                      follow every link to a directory\n"
    "  -P                      follow none (the default)\n");
