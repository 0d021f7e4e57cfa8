/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include "shell/cmd/canon.h"

static const struct cmd_opt opts[] = {
    {'f', "canonicalize", CMD_NO_ARG},
    {'e', "canonicalize-existing", CMD_NO_ARG},
    {'m', "canonicalize-missing", CMD_NO_ARG},
    {'n', "no-newline", CMD_NO_ARG},
    {'q', "quiet", CMD_NO_ARG},
    {'s', "silent", CMD_NO_ARG},
    {'v', "verbose", CMD_NO_ARG},
    {'z', "zero", CMD_NO_ARG},
    {0},
};

static int readlink_main(struct cmd *c)
{
    int mode = -1, status = 0;
    bool newline = true, verbose = cmd_getenv(c, "POSIXLY_CORRECT") != NULL;
    char end = '\n';
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'f' || o == 'e' || o == 'm')
            mode = o == 'f' ? CANON_ALL_BUT_LAST : o == 'e' ? CANON_EXISTING : CANON_MISSING;
        if (o == 'n')
            newline = false;
        if (o == 'q' || o == 's' || o == 'v')
            verbose = o == 'v';
        if (o == 'z')
            end = 0;
    }
    if (c->optind == c->argc)
        return cmd_missing(c);
    if (!newline && c->argc - c->optind > 1) {
        cmd_err(c, "ignoring --no-newline with multiple arguments");
        newline = true;
    }
    struct buf b;
    buf_init(&b, 1u << 20);
    for (int i = c->optind; i < c->argc && cmd_poll(c) == 0; i++) {
        struct vfs_ctx ctx = cmd_ctx(c);
        buf_clear(&b);
        int r = mode < 0 ? vfs_readlink(cmd_vfs(c), &ctx, 0, str_c(c->argv[i]), &b)
                         : canon_path(c, c->argv[i], (enum canon_mode)mode, false, &b);
        if (r == 0) {
            cmd_write(c, b.p, b.n);
            if (newline)
                cmd_putc(c, end);
            continue;
        }
        status = 1;
        if (verbose)
            cmd_errno(c, r, "%s", cmd_quote(c, c->argv[i], false));
    }
    buf_done(&b);
    return status;
}

CMD_NAMED("readlink", readlink_, readlink_main, 1, "Usage: readlink [OPTION]... FILE...\n",
          "  -f, --canonicalize           the name without links; all but the last component must exist\n"
          "  -e, --canonicalize-existing  the same; all must exist\n"
          "  -m, --canonicalize-missing   the same; none needs to exist\n"
          "  -n, --no-newline             no newline at the end\n"
          "  -q, --quiet, -s, --silent    no messages (the default)\n"
          "  -v, --verbose                messages\n"
          "  -z, --zero                   end each line with NUL\n");
