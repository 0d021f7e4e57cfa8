/* SPDX-License-Identifier: Apache-2.0 */
/* man: what a command says of itself with --help, and help of the shell for its own. Nothing else would be run. */
#include "shell/cmd/cmd.h"

#include <errno.h>

static const struct cmd_opt opts[] = {
    {'a', "all", CMD_NO_ARG},
    {'k', "apropos", CMD_NO_ARG | CMD_REFUSED},
    {'f', "whatis", CMD_NO_ARG | CMD_REFUSED},
    {'w', "where", CMD_NO_ARG | CMD_REFUSED},
    {'P', "pager", CMD_ARG},
    {'K', "global-apropos", CMD_NO_ARG | CMD_REFUSED},
    {'l', "local-file", CMD_NO_ARG | CMD_REFUSED},
    {'s', "sections", CMD_ARG},
    {'M', "manpath", CMD_ARG | CMD_REFUSED},
    {'S', NULL, CMD_ARG},
    {'V', NULL, CMD_NO_ARG},
    {0},
};

static bool is_section(const char *w)
{
    return w[0] >= '1' && w[0] <= '9' && w[1] == 0;
}

/* Runs @argv; whether it could be and succeeded. */
static bool run(struct cmd *c, int argc, char **argv)
{
    return cmd_spawn(c, argc, argv, NULL, NULL) == 0;
}

static bool show(struct cmd *c, char *name)
{
    struct str s = str_c(name);
    if (cmd_find(s) || proc_has_tool(c->p->ps, s)) {
        char *argv[] = {name, (char *)(uintptr_t) "--help", NULL};
        (void)run(c, 2, argv); /* some tools exit with 1 after it */
        return true;
    }
    char *argv[] = {
        (char *)(uintptr_t) "bash", (char *)(uintptr_t) "-c",
        (char *)(uintptr_t) "t=$(type -t -- \"$0\"); [[ $t == builtin || $t == keyword ]] && help -- \"$0\"", name,
        NULL};
    return run(c, 4, argv);
}

static int man_main(struct cmd *c)
{
    int o, status = 0;
    const char *section = NULL;
    while ((o = cmd_getopt(c, opts, false)) >= 0)
        if (o == 'V') {
            cmd_printf(c, "man (Frontal Sandbox) %s\n", FRONTAL_VERSION);
            return 0;
        }
    if (o == -2)
        return cmd_usage_status(c);
    if (c->optind + 1 < c->argc && is_section(c->argv[c->optind]))
        section = c->argv[c->optind++];
    if (c->optind == c->argc) {
        cmd_err_raw(c, "What manual page do you want?\nFor example, try 'man man'.\n");
        return 1;
    }
    for (int i = c->optind; i < c->argc && !cmd_poll(c); i++) {
        if ((!section || *section == '1' || *section == '8') && show(c, c->argv[i]))
            continue;
        cmd_err_raw(c, section ? arena_printf(c->arena, "No manual entry for %s in section %s\n", c->argv[i], section)
                               : arena_printf(c->arena, "No manual entry for %s\n", c->argv[i]));
        status = 16;
    }
    return status;
}

CMD(man, man_main, 1, "Usage: man [SECTION] NAME...\n",
    "What a command says of itself (--help). There are no other pages.\n\n"
    "  -a, -P PAGER, -s, -S LIST  have no effect\n");
