/* SPDX-License-Identifier: Apache-2.0 */
/* arch and nproc of coreutils. */
#include "shell/cmd/cmd.h"

#include "base/num.h"
#include "shell/cmd/num.h"
#include "shell/cmd/system.h"

static const struct cmd_opt none[] = {{0}};

static int arch_main(struct cmd *c)
{
    if (cmd_getopt(c, none, false) == -2)
        return cmd_usage_status(c);
    if (c->optind < c->argc)
        return cmd_extra(c, c->argv[c->optind]);
    cmd_printf(c, "%s\n", proc_machine());
    return 0;
}

enum { NPROC_ALL = 256, NPROC_IGNORE };

static const struct cmd_opt nproc_opts[] = {{NPROC_ALL, "all", CMD_NO_ARG}, {NPROC_IGNORE, "ignore", CMD_ARG}, {0}};

/* A number of OMP_…: its first one, or 0. */
static uint64_t from_env(struct cmd *c, const char *name)
{
    const char *text = cmd_getenv(c, name);
    uint64_t v = 0;
    if (!text)
        return 0;
    text += strspn(text, " \t\n\v\f\r");
    size_t n = strspn(text, "0123456789");
    const char *rest = text + n + strspn(text + n, " \t\n\v\f\r");
    return n == 0 || (*rest && *rest != ',') || str_u64(str_of(text, n), &v) < 0 ? 0 : v;
}

static int nproc_main(struct cmd *c)
{
    uint64_t ignore = 0, n = 0, most;
    bool all = false;
    int o;
    while ((o = cmd_getopt(c, nproc_opts, false)) >= 0) {
        if (o == NPROC_ALL)
            all = true;
        else if (num_u64(c->optarg, NULL, &ignore) != NUM_OK) {
            cmd_err(c, "invalid number: %s", cmd_quote_loc(c, c->optarg));
            return 1;
        }
    }
    if (o == -2)
        return cmd_usage_status(c);
    if (c->optind < c->argc)
        return cmd_extra(c, c->argv[c->optind]);
    size_t len;
    for (const char *at = system_file(c, "/proc/cpuinfo", &len); at && (at = strstr(at, "processor\t:")); at++)
        n++;
    n = NUM_MAX(n, (uint64_t)1);
    if (!all) {
        uint64_t want = from_env(c, "OMP_NUM_THREADS");
        most = from_env(c, "OMP_THREAD_LIMIT");
        n = want ? want : n;
        n = most && most < n ? most : n;
    }
    cmd_printf(c, "%llu\n", (unsigned long long)(n > ignore ? n - ignore : 1));
    return 0;
}

CMD(arch, arch_main, 1, "Usage: arch [OPTION]...\n", "The kind of machine, as uname -m.\n");
CMD(nproc, nproc_main, 1, "Usage: nproc [OPTION]...\n",
    "  --all       all there are, whatever OMP_NUM_THREADS says\n  --ignore=N  without N of them\n");
