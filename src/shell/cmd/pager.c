/* SPDX-License-Identifier: Apache-2.0 */
/*
 * less and more when they do not write to a terminal: they copy, and what less cannot read it tells on standard output.
 * On a terminal the userland's programs take over.
 */
#include "shell/cmd/cmd.h"

#include <errno.h>

#include "types/errtab.h"

static int copy(struct cmd *c, int fd)
{
    char *block = cmd_block_get();
    ssize_t n;
    while ((n = proc_read(c->p, fd, block, CMD_BLOCK)) > 0 && !cmd_poll(c))
        if (cmd_write(c, block, (size_t)n) < 0)
            break;
    cmd_block_put(block);
    return n < 0 ? (int)n : 0;
}

/* Letters that only concern how a screen is shown. */
static bool harmless(const char *w, bool less)
{
    return w[0] == '-' && w[1] != '-' && w[1] &&
           w[1 + strspn(w + 1, less ? "aABcCdeEfFgGiIJKLmMnNqQrRsSuUwWX" : "dflcpsu")] == 0;
}

static bool is_dir(struct cmd *c, int fd)
{
    struct vfs_stat st;
    return proc_fstat(c->p, fd, &st) == 0 && S_ISDIR(st.mode);
}

/* The first option that matters, or NULL. */
static const char *option_that_counts(const struct cmd *c, bool less)
{
    for (int i = 1; i < c->argc && strcmp(c->argv[i], "--") != 0; i++)
        if (c->argv[i][0] == '-' && c->argv[i][1] && !harmless(c->argv[i], less))
            return c->argv[i];
    return NULL;
}

static void show(struct cmd *c, const char *name, bool less)
{
    int fd = cmd_open_input(c, name);
    if (!less && fd >= 0 && !is_dir(c, fd))
        cmd_printf(c, "::::::::::::::\n%s\n::::::::::::::\n", name);
    int r = fd < 0 ? fd : copy(c, fd);
    cmd_close_input(c, fd);
    if (r == -EISDIR)
        cmd_printf(c, less ? "%s is a directory\n" : "\n*** %s: directory ***\n\n", name);
    else if (r < 0 && less)
        cmd_printf(c, "%s: %s\n", name, errtab_text(r));
    else if (r < 0)
        cmd_errno(c, r, "cannot open %s", name);
}

static int pager_main(struct cmd *c)
{
    bool less = c->def->name[0] == 'l', any = false, ended = false;
    if (c->argc == 2 && strcmp(c->argv[1], "-V") == 0)
        c->argv[1] = (char *)(uintptr_t) "--version";
    if (cmd_help_alone(c))
        return 0;
    const char *option = option_that_counts(c, less);
    if (option)
        return cmd_refuse(c, "option '%s' is not implemented here", option);
    if (c->out_tty)
        return cmd_refuse(c, "paging on a terminal is not implemented here");
    for (int i = 1; i < c->argc && !cmd_poll(c); i++) {
        const char *w = c->argv[i];
        if (!ended && w[0] == '-' && w[1]) {
            ended = strcmp(w, "--") == 0;
            continue;
        }
        any = true;
        show(c, w, less);
    }
    if (any)
        return 0; /* as the real ones, whatever could not be read */
    if (proc_isatty(c->p, 0))
        return cmd_err(c, less ? "missing filename (\"less --help\" for help)" : "bad usage"), 1;
    int r = copy(c, 0);
    return r < 0 ? (cmd_errno(c, r, "standard input"), 1) : 0;
}

CMD(less, pager_main, 1, "Usage: less [OPTION]... [FILE]...\n",
    "Copies what it is given when it does not write to a terminal.\n");
CMD(more, pager_main, 1, "Usage: more [OPTION]... [FILE]...\n",
    "Copies what it is given when it does not write to a terminal.\n");
