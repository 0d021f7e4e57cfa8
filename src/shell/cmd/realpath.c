/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "shell/cmd/canon.h"

static const struct cmd_opt opts[] = {
    {'e', "canonicalize-existing", CMD_NO_ARG},
    {'m', "canonicalize-missing", CMD_NO_ARG},
    {256, "relative-to", CMD_ARG},
    {257, "relative-base", CMD_ARG},
    {'q', "quiet", CMD_NO_ARG},
    {'s', "strip", CMD_NO_ARG},
    {'s', "no-symlinks", CMD_NO_ARG},
    {'z', "zero", CMD_NO_ARG},
    {'L', "logical", CMD_NO_ARG},
    {'P', "physical", CMD_NO_ARG},
    {0},
};

struct realpath {
    struct cmd *c;
    enum canon_mode mode;
    bool no_links, logical, quiet;
    char end;
    const char *to, *base; /* canonical, or NULL */
};

/* The canonical name in c->arena, or NULL and *ret_err. */
static const char *canon(struct realpath *k, const char *name, int *ret_err)
{
    struct buf b;
    const char *s = NULL;
    buf_init(&b, 1u << 20);
    *ret_err = canon_path(k->c, name, k->mode, k->no_links || k->logical, &b);
    if (*ret_err == 0)
        s = arena_dup(k->c->arena, b.p, b.n);
    if (s && k->logical) { /* ".." was taken literally; now the links */
        buf_clear(&b);
        *ret_err = canon_path(k->c, s, k->mode, false, &b);
        s = *ret_err == 0 ? arena_dup(k->c->arena, b.p, b.n) : NULL;
    }
    buf_done(&b);
    return s;
}

/* A directory that names are relative to: NULL after a message. */
static const char *canon_dir(struct realpath *k, const char *name)
{
    struct vfs_ctx ctx = cmd_ctx(k->c);
    uint64_t ino;
    int err;
    const char *s = canon(k, name, &err);
    if (s && k->mode == CANON_EXISTING && vfs_lookup(cmd_vfs(k->c), &ctx, 0, str_c(s), VFS_DIRECTORY, &ino) < 0) {
        err = -ENOTDIR;
        s = NULL;
    }
    if (!s)
        cmd_errno(k->c, err, "%s", cmd_quote(k->c, name, false));
    return s;
}

/* --relative-to has effect only below --relative-base. */
static int set_relative(struct realpath *k, const char *to, const char *base)
{
    if (base && !to)
        to = base;
    if (!to)
        return 0;
    k->to = canon_dir(k, to);
    if (!k->to)
        return -1;
    if (!base)
        return 0;
    if (strcmp(base, to) == 0) {
        k->base = k->to;
        return 0;
    }
    const char *b = canon_dir(k, base);
    if (!b)
        return -1;
    if (canon_prefix(b, k->to)) {
        k->base = b;
    } else {
        k->base = k->to;
        k->to = NULL;
    }
    return 0;
}

static int one(struct realpath *k, const char *name)
{
    struct cmd *c = k->c;
    int err;
    const char *s = canon(k, name, &err);
    if (!s) {
        if (!k->quiet)
            cmd_errno(c, err, "%s", cmd_quote(c, name, false));
        return 1;
    }
    if (!k->to || (k->base && !canon_prefix(k->base, s))) {
        cmd_puts(c, s);
    } else {
        struct buf b;
        buf_init(&b, 1u << 20);
        canon_relative(s, k->to, &b);
        cmd_write(c, b.p, b.n);
        buf_done(&b);
    }
    cmd_putc(c, k->end);
    return 0;
}

static int realpath_main(struct cmd *c)
{
    struct realpath k = {.c = c, .mode = CANON_ALL_BUT_LAST, .end = '\n'};
    const char *to = NULL, *base = NULL;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'e' || o == 'm')
            k.mode = o == 'e' ? CANON_EXISTING : CANON_MISSING;
        if (o == 's' || o == 'L' || o == 'P') {
            k.no_links = o == 's';
            k.logical = o == 'L';
        }
        if (o == 'q')
            k.quiet = true;
        if (o == 'z')
            k.end = 0;
        if (o == 256)
            to = c->optarg;
        if (o == 257)
            base = c->optarg;
    }
    if (c->optind == c->argc)
        return cmd_missing(c);
    if (set_relative(&k, to, base) < 0)
        return 1;
    int status = 0;
    for (int i = c->optind; i < c->argc && !c->p->must_end; i++) {
        struct arena_mark m = arena_mark(c->arena);
        status |= one(&k, c->argv[i]);
        arena_reset(c->arena, m);
    }
    return status;
}

CMD_NAMED("realpath", realpath_, realpath_main, 1, "Usage: realpath [OPTION]... FILE...\n",
          "  -e, --canonicalize-existing  all components must exist\n"
          "  -m, --canonicalize-missing   none needs to exist (without these: all but the last must)\n"
          "  -L, --logical                take '..' before links\n"
          "  -P, --physical               take links as they come (the default)\n"
          "  -q, --quiet                  no messages\n"
          "      --relative-to=DIR        the way from DIR\n"
          "      --relative-base=DIR      absolute names, but for what is below DIR\n"
          "  -s, --strip, --no-symlinks   leave links as they are\n"
          "  -z, --zero                   end each line with NUL\n");
