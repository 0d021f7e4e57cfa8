/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include <ctype.h>

#include "base/num.h"
#include "shell/cmd/num.h"

/* A session is one thread: its processors, those of /proc/cpuinfo, are one. What OpenMP's variables say goes first. */

#define PROCESSORS 1u

enum { OPT_ALL = 256, OPT_IGNORE };

static const struct cmd_opt opts[] = {
    {OPT_ALL, "all", CMD_NO_ARG},
    {OPT_IGNORE, "ignore", CMD_ARG},
    {0},
};

/* The number of threads that a variable says, 0: none. */
static uint64_t threads_of(struct cmd *c, const char *variable)
{
    const char *s = cmd_getenv(c, variable);
    uint64_t v = 0;
    if (!s)
        return 0;
    while (isspace((unsigned char)*s))
        s++;
    if (!isdigit((unsigned char)*s))
        return 0;
    for (; isdigit((unsigned char)*s); s++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
            v = UINT64_MAX;
    while (isspace((unsigned char)*s))
        s++;
    return *s == 0 || *s == ',' ? v : 0;
}

static int nproc_main(struct cmd *c)
{
    uint64_t ignore = 0, n = PROCESSORS;
    bool all = false;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        all |= o == OPT_ALL;
        if (o == OPT_IGNORE && !num_option(c, c->optarg, NULL, 0, UINT64_MAX, "invalid number", &ignore))
            return 1;
    }
    if (c->optind < c->argc)
        return cmd_extra(c, c->argv[c->optind]);
    if (!all) {
        uint64_t asked = threads_of(c, "OMP_NUM_THREADS"), limit = threads_of(c, "OMP_THREAD_LIMIT");
        if (asked > 0)
            n = asked;
        if (limit > 0)
            n = NUM_MIN(n, limit);
    }
    cmd_printf(c, "%llu\n", (unsigned long long)(n > ignore ? n - ignore : 1));
    return 0;
}

CMD(nproc, nproc_main, 1, "Usage: nproc [OPTION]...\n",
    "Prints the number of processors.\n"
    "      --all       whatever the environment says of threads\n"
    "      --ignore=N  so many less, but one at least\n");
