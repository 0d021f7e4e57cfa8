/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <errno.h>

enum { MODE_SIGPIPE, MODE_WARN, MODE_WARN_NOPIPE, MODE_EXIT, MODE_EXIT_NOPIPE };

static const struct cmd_opt opts[] = {
    {'a', "append", CMD_NO_ARG},
    {'i', "ignore-interrupts", CMD_NO_ARG},
    {256, "output-error", CMD_OPT_ARG},
    {'p', NULL, CMD_NO_ARG},
    {0},
};

struct sink {
    const char *name;
    int fd; /* -1: given up */
};

/* A write that failed: says so as the mode has it. Returns true when the command must stop. */
static bool failed(struct cmd *c, struct sink *s, int err, int mode, int *status)
{
    bool fail = err != -EPIPE || mode == MODE_EXIT || mode == MODE_WARN;
    if (s->fd > 2)
        proc_close(c->p, s->fd);
    s->fd = -1;
    if (!fail)
        return false;
    cmd_errno(c, err, "%s", cmd_quote(c, s->name, false));
    *status = 1;
    return mode == MODE_EXIT || mode == MODE_EXIT_NOPIPE;
}

static int write_all(struct cmd *c, int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t w = proc_write(c->p, fd, p, n);
        if (w < 0)
            return (int)w;
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

static int copy(struct cmd *c, struct sink *v, int n, int mode, int status)
{
    char *block = cmd_block_get();
    int open = 0;
    ssize_t got = 0;
    for (int i = 0; i < n; i++)
        open += v[i].fd >= 0;
    while (open > 0 && cmd_poll(c) == 0 && (got = proc_read(c->p, 0, block, CMD_BLOCK)) > 0) {
        for (int i = 0; i < n; i++) {
            int r = v[i].fd < 0 ? 0 : write_all(c, v[i].fd, block, (size_t)got);
            if (r == 0)
                continue;
            open--;
            if (c->p->must_end || failed(c, &v[i], r, mode, &status)) {
                open = 0;
                break;
            }
        }
    }
    cmd_block_put(block);
    if (got < 0) {
        cmd_errno(c, (int)got, "read error");
        status = 1;
    }
    return status;
}

static int tee_main(struct cmd *c)
{
    static const char *const names[] = {"warn", "warn-nopipe", "exit", "exit-nopipe", NULL};
    static const int vals[] = {MODE_WARN, MODE_WARN_NOPIPE, MODE_EXIT, MODE_EXIT_NOPIPE};
    int mode = MODE_SIGPIPE, oflags = O_WRONLY | O_CREAT | O_TRUNC, status = 0;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        if (o == 'a')
            oflags = O_WRONLY | O_CREAT | O_APPEND;
        if (o == 'i')
            proc_sigaction(c->p, SIGINT, PROC_SIG_IGNORE);
        if (o == 'p')
            mode = MODE_WARN_NOPIPE;
        if (o == 256 &&
            (mode = c->optarg ? cmd_choice(c, "--output-error", c->optarg, names, vals) : MODE_WARN_NOPIPE) < 0)
            return cmd_usage_status(c);
    }
    if (mode != MODE_SIGPIPE)
        proc_sigaction(c->p, SIGPIPE, PROC_SIG_IGNORE);
    int n = c->argc - c->optind + 1;
    struct sink *v = arena_alloc(c->arena, (size_t)n * sizeof *v);
    v[0] = (struct sink){"standard output", 1};
    for (int i = 1; i < n; i++) {
        const char *name = c->argv[c->optind + i - 1];
        v[i] = (struct sink){name, cmd_open_safe(c, name, oflags, 0666)};
        if (v[i].fd >= 0)
            continue;
        int err = v[i].fd;
        v[i].fd = -1;
        cmd_errno(c, err, "%s", cmd_quote(c, name, false));
        status = 1;
        if (mode == MODE_EXIT || mode == MODE_EXIT_NOPIPE)
            return 1;
    }
    return copy(c, v, n, mode, status);
}

CMD(tee, tee_main, 1, "Usage: tee [OPTION]... [FILE]...\n",
    "  -a, --append               append to the FILEs\n"
    "  -i, --ignore-interrupts    ignore the interrupt signal\n"
    "  -p                         report write errors, but not of pipes\n"
    "      --output-error[=MODE]  MODE is warn, warn-nopipe, exit or exit-nopipe\n");
