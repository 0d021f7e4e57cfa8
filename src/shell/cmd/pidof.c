/* SPDX-License-Identifier: Apache-2.0 */
/* pidof of sysvinit: numbers of the processes with a name, the newest first. */
#include "shell/cmd/cmd.h"

#include "shell/cmd/processes.h"

static const struct cmd_opt opts[] = {
    {'c', NULL, CMD_NO_ARG | CMD_REFUSED},
    {'d', NULL, CMD_ARG},
    {'o', NULL, CMD_ARG},
    {'q', NULL, CMD_NO_ARG},
    {'s', NULL, CMD_NO_ARG},
    {'x', NULL, CMD_NO_ARG},
    {'z', NULL, CMD_NO_ARG},
    {'n', NULL, CMD_NO_ARG},
    {'h', NULL, CMD_NO_ARG},
    {0},
};

static bool is_called(const struct process *p, const char *name)
{
    size_t n = strcspn(p->args, " ");
    struct str first = str_of(p->args, n);
    const char *slash = memrchr(first.p, '/', first.n);
    struct str base = slash ? str_from(first, (size_t)(slash - first.p) + 1) : first;
    const char *own = strrchr(name, '/');
    return strcmp(p->comm, own ? own + 1 : name) == 0 || str_eqc(base, name) || str_eqc(first, name);
}

static int pidof_main(struct cmd *c)
{
    const char *delim = " ", *omit[32];
    size_t n_omit = 0, n, shown = 0;
    bool quiet = false, single = false;
    int o;
    while ((o = cmd_getopt(c, opts, false)) >= 0) {
        if (o == 'd')
            delim = c->optarg;
        else if (o == 'q')
            quiet = true;
        else if (o == 's')
            single = true;
        else if (o == 'o' && n_omit < sizeof omit / sizeof *omit)
            omit[n_omit++] = strcmp(c->optarg, "%PPID") == 0 ? arena_printf(c->arena, "%d", c->p->ppid) : c->optarg;
        else if (o == 'o')
            return cmd_refuse(c, "so many -o are not implemented here");
        else if (o == 'h') {
            cmd_puts(c, c->def->usage);
            cmd_puts(c, c->def->help);
            return 0;
        }
    }
    if (o == -2)
        return cmd_usage_status(c);
    struct process *v = processes_read(c, &n);
    for (int i = c->optind; i < c->argc; i++) {
        for (size_t k = n; k-- > 0;) {
            bool skip = v[k].pid == c->p->pid || !is_called(&v[k], c->argv[i]);
            for (size_t m = 0; m < n_omit; m++)
                skip = skip || strcmp(omit[m], arena_printf(c->arena, "%d", v[k].pid)) == 0;
            if (skip)
                continue;
            if (!quiet)
                cmd_printf(c, "%s%d", shown ? delim : "", v[k].pid);
            shown++;
            if (single)
                break;
        }
    }
    if (shown && !quiet)
        cmd_putc(c, '\n');
    return shown ? 0 : 1;
}

CMD(pidof, pidof_main, 1, "Usage: pidof [OPTION]... NAME...\n",
    "  -d SEP   between numbers (a blank)\n"
    "  -o PID   not this one; %PPID is the caller\n"
    "  -q       print nothing\n"
    "  -s       only one of each name\n"
    "  -x, -n, -z  scripts too; no file system that hangs; zombies too: it does so anyway\n");
