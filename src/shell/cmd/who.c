/* SPDX-License-Identifier: Apache-2.0 */
/* who and users of coreutils, without a record of log-ins: a session has none. */
#include "shell/cmd/cmd.h"

static const struct cmd_opt none[] = {{0}};

static const struct cmd_opt opts[] = {
    {'a', "all", CMD_NO_ARG},
    {'b', "boot", CMD_NO_ARG},
    {'d', "dead", CMD_NO_ARG},
    {'H', "heading", CMD_NO_ARG},
    {'l', "login", CMD_NO_ARG},
    {'m', NULL, CMD_NO_ARG},
    {'p', "process", CMD_NO_ARG},
    {'q', "count", CMD_NO_ARG},
    {'r', "runlevel", CMD_NO_ARG},
    {'s', "short", CMD_NO_ARG},
    {'t', "time", CMD_NO_ARG},
    {'T', "mesg", CMD_NO_ARG},
    {'u', "users", CMD_NO_ARG},
    {'w', "message", CMD_NO_ARG},
    {256, "lookup", CMD_NO_ARG},
    {'w', "writable", CMD_NO_ARG},
    {0},
};

static int users_main(struct cmd *c)
{
    if (cmd_getopt(c, none, false) == -2)
        return cmd_usage_status(c);
    if (c->optind + 1 < c->argc)
        return cmd_extra(c, c->argv[c->optind + 1]);
    return c->optind < c->argc ? cmd_refuse(c, "a file of log-ins is not implemented here") : 0;
}

/* Whether times are shown as in the C locale, in 12 columns, not in 16. */
static bool c_times(struct cmd *c)
{
    static const char *const names[] = {"LC_ALL", "LC_TIME", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = cmd_getenv(c, names[i]);
        if (v && *v)
            return strcmp(v, "C") == 0 || strcmp(v, "POSIX") == 0;
    }
    return true;
}

static int who_main(struct cmd *c)
{
    bool heading = false, count = false, idle = false, mesg = false;
    int o;
    while ((o = cmd_getopt(c, opts, false)) >= 0) {
        count = count || o == 'q';
        heading = heading || o == 'H';
        idle = idle || o == 'u' || o == 'l' || o == 'a';
        mesg = mesg || o == 'T' || o == 'w' || o == 'a';
    }
    if (o == -2)
        return cmd_usage_status(c);
    int n = c->argc - c->optind;
    if (n > 2)
        return cmd_extra(c, c->argv[c->optind + 2]);
    if (n == 1)
        return cmd_refuse(c, "a file of log-ins is not implemented here");
    if (count)
        cmd_puts(c, "\n# users=0\n");
    else if (heading && (idle || mesg))
        return cmd_refuse(c, "this heading is not implemented here");
    else if (heading)
        cmd_printf(c, "NAME     LINE         %-*s COMMENT\n", c_times(c) ? 12 : 16, "TIME");
    return 0;
}

CMD(users, users_main, 1, "Usage: users [OPTION]...\n", "Who is logged in: nobody is.\n");
CMD(who, who_main, 1, "Usage: who [OPTION]... [am i]\n",
    "Who is logged in: nobody is.\n\n"
    "  -q, --count      names and how many there are\n"
    "  -H, --heading    a line of titles\n"
    "  -a -b -d -l -m -p -r -s -t -T -u -w --lookup  concern what is not there\n");
