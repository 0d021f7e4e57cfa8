/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

/* As often as three letters have values: then a template that short is surely used up. */
#define MKTEMP_TRIES (62 * 62 * 62)

static const struct cmd_opt opts[] = {
    {'d', "directory", CMD_NO_ARG}, {'q', "quiet", CMD_NO_ARG},   {256, "suffix", CMD_ARG},
    {'u', "dry-run", CMD_NO_ARG},   {257, "tmpdir", CMD_OPT_ARG}, {'p', NULL, CMD_ARG},
    {'t', NULL, CMD_NO_ARG},        {'V', NULL, CMD_NO_ARG},      {0},
};

struct mktemp_opts {
    bool directory, quiet, dry, in_dir, deprecated;
    const char *suffix, *dir;
};

/* Makes one try: 0, -EEXIST when the name is taken, another error. */
static int make(struct cmd *c, const struct mktemp_opts *m, const char *name)
{
    struct vfs *v = cmd_vfs(c);
    struct vfs_ctx ctx = cmd_ctx(c);
    struct vfs_handle *h;
    struct vfs_stat st;
    int r;
    if (m->dry) {
        r = vfs_stat(v, &ctx, 0, str_c(name), VFS_NOFOLLOW, &st);
        return r == 0 ? -EEXIST : r == -ENOENT ? 0 : r;
    }
    if (m->directory)
        return vfs_mkdir(v, &ctx, 0, str_c(name), 0700);
    r = vfs_open(v, &ctx, 0, str_c(name), O_RDWR | O_CREAT | O_EXCL, 0600, &h);
    if (r == 0)
        vfs_close(h);
    return r;
}

/* Replaces the @n letters at @x until the name is new. */
static int make_new(struct cmd *c, const struct mktemp_opts *m, const char *name, char *x, size_t n)
{
    int r = -EEXIST;
    for (int i = 0; i < MKTEMP_TRIES && r == -EEXIST; i++) {
        if (cmd_poll(c) < 0)
            return -EINTR;
        cmd_random_letters(c, x, n);
        r = make(c, m, name);
    }
    return r;
}

/* The directory that the options choose for @template; NULL after a message. */
static const char *directory(struct cmd *c, const struct mktemp_opts *m, const char *template)
{
    const char *env = cmd_getenv(c, "TMPDIR");
    const char *given = m->dir && *m->dir ? m->dir : NULL;
    env = env && *env ? env : NULL;
    if (m->deprecated) {
        if (strchr(template, '/')) {
            cmd_err(c, "invalid template, %s, contains directory separator", cmd_quote_loc(c, template));
            return NULL;
        }
        return env ? env : given ? given : "/tmp";
    }
    if (*template == '/') {
        cmd_err(c, "invalid template, %s; with --tmpdir, it may not be absolute", cmd_quote_loc(c, template));
        return NULL;
    }
    return given ? given : env ? env : "/tmp";
}

/* Prints the name, and takes the file back when that fails. */
static int tell(struct cmd *c, const struct mktemp_opts *m, const char *name)
{
    cmd_puts(c, name);
    cmd_putc(c, '\n');
    if (cmd_flush(c) < 0 && !m->dry) {
        struct vfs_ctx ctx = cmd_ctx(c);
        if (m->directory)
            (void)vfs_rmdir(cmd_vfs(c), &ctx, 0, str_c(name));
        else
            (void)vfs_unlink(cmd_vfs(c), &ctx, 0, str_c(name));
    }
    return 0;
}

static int run(struct cmd *c, const struct mktemp_opts *m, const char *template)
{
    size_t len = strlen(template), suffix_n;
    if (m->suffix) {
        if (len == 0 || template[len - 1] != 'X') {
            cmd_err(c, "with --suffix, template %s must end in X", cmd_quote_loc(c, template));
            return 1;
        }
        template = arena_printf(c->arena, "%s%s", template, m->suffix);
        suffix_n = strlen(m->suffix);
        len += suffix_n;
    } else {
        const char *x = strrchr(template, 'X');
        suffix_n = x ? strlen(x + 1) : 0;
    }
    const char *suffix = template + len - suffix_n;
    if (strchr(suffix, '/')) {
        cmd_err(c, "invalid suffix %s, contains directory separator", cmd_quote_loc(c, suffix));
        return 1;
    }
    size_t n = 0;
    while (n < len - suffix_n && suffix[-(ptrdiff_t)n - 1] == 'X')
        n++;
    if (n < 3) {
        cmd_err(c, "too few X's in template %s", cmd_quote_loc(c, template));
        return 1;
    }
    if (m->in_dir) {
        const char *dir = directory(c, m, template);
        if (!dir)
            return 1;
        size_t dir_n = strlen(dir);
        while (dir_n > 0 && dir[dir_n - 1] == '/')
            dir_n--;
        template = dir_n ? arena_printf(c->arena, "%.*s/%s", (int)dir_n, dir, template)
                         : arena_printf(c->arena, "%s%s", dir, template);
    }
    char *name = arena_dup(c->arena, template, strlen(template));
    int r = make_new(c, m, name, name + strlen(name) - suffix_n - n, n);
    if (r < 0) {
        if (!m->quiet)
            cmd_errno(c, r, "failed to create %s via template %s", m->directory ? "directory" : "file",
                      cmd_quote_loc(c, template));
        return 1;
    }
    return tell(c, m, name);
}

static int mktemp_main(struct cmd *c)
{
    struct mktemp_opts m = {0};
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        switch (o) {
        case -2:
            return cmd_usage_status(c);
        case 'd':
            m.directory = true;
            break;
        case 'q':
            m.quiet = true;
            break;
        case 'u':
            m.dry = true;
            break;
        case 'p':
        case 257:
            m.dir = c->optarg;
            m.in_dir = true;
            break;
        case 't':
            m.in_dir = m.deprecated = true;
            break;
        case 256:
            m.suffix = c->optarg;
            break;
        default: /* -V is --version, as the real tool has it */
            cmd_printf(c, "%s (Frontal Sandbox) %s\n", c->def->name, FRONTAL_VERSION);
            return 0;
        }
    }
    int n = c->argc - c->optind;
    if (n > 1)
        return cmd_usage_error(c, "too many templates");
    if (n == 0)
        m.in_dir = true;
    return run(c, &m, n == 0 ? "tmp.XXXXXXXXXX" : c->argv[c->optind]);
}

CMD_NAMED("mktemp", temp, mktemp_main, 1, "Usage: mktemp [OPTION]... [TEMPLATE]\n",
          "Makes a file (mode 600) or directory (700) with a new name and prints it. TEMPLATE holds three X or more, "
          "which become\n"
          "letters and digits; without it, it is tmp.XXXXXXXXXX in the directory for temporary files.\n"
          "  -d, --directory     make a directory\n"
          "  -u, --dry-run       make nothing, only print a name (unsafe)\n"
          "  -q, --quiet         no message when it cannot be made\n"
          "      --suffix=SUFF   put SUFF behind TEMPLATE, which then ends in X\n"
          "  -p DIR, --tmpdir[=DIR]  TEMPLATE is relative to DIR, or $TMPDIR, or /tmp\n"
          "  -t                  TEMPLATE is a name in $TMPDIR, or the DIR of -p, or /tmp (deprecated)\n");
