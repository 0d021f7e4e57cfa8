/* SPDX-License-Identifier: Apache-2.0 */
/* pgrep and pkill of procps 4.0. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "regex/regex.h"
#include "shell/cmd/cmd.h"
#include "shell/cmd/processes.h"
#include "shell/shell_int.h"
#include "types/errtab.h"

enum { PGREP_SIGNAL = 256 };

static const struct cmd_opt opts[] = {
    {'d', "delimiter", CMD_ARG},
    {'l', "list-name", CMD_NO_ARG},
    {'a', "list-full", CMD_NO_ARG},
    {'v', "inverse", CMD_NO_ARG},
    {'w', "lightweight", CMD_NO_ARG | CMD_REFUSED},
    {'c', "count", CMD_NO_ARG},
    {'f', "full", CMD_NO_ARG},
    {'g', "pgroup", CMD_ARG},
    {'G', "group", CMD_ARG | CMD_REFUSED},
    {'i', "ignore-case", CMD_NO_ARG},
    {'n', "newest", CMD_NO_ARG},
    {'o', "oldest", CMD_NO_ARG},
    {'O', "older", CMD_ARG | CMD_REFUSED},
    {'P', "parent", CMD_ARG},
    {'s', "session", CMD_ARG | CMD_REFUSED},
    {PGREP_SIGNAL, "signal", CMD_ARG},
    {'t', "terminal", CMD_ARG | CMD_REFUSED},
    {'u', "euid", CMD_ARG},
    {'U', "uid", CMD_ARG},
    {'x', "exact", CMD_NO_ARG},
    {'F', "pidfile", CMD_ARG | CMD_REFUSED},
    {'L', "logpidfile", CMD_NO_ARG | CMD_REFUSED},
    {'r', "runstates", CMD_ARG},
    {'A', "ignore-ancestors", CMD_NO_ARG | CMD_REFUSED},
    {'H', "require-handler", CMD_NO_ARG | CMD_REFUSED},
    {'e', "echo", CMD_NO_ARG},
    {257, "cgroup", CMD_ARG | CMD_REFUSED},
    {258, "ns", CMD_ARG | CMD_REFUSED},
    {259, "nslist", CMD_ARG | CMD_REFUSED},
    {'V', NULL, CMD_NO_ARG},
    {0},
};

struct ids {
    long v[64];
    size_t n;
};

struct pgrep {
    struct cmd *c;
    bool kill, name, all, invert, count, full, icase, newest, oldest, exact, echo;
    int sig;
    const char *delim, *states;
    struct ids groups, parents, users;
    struct regex *re;
    bool picky; /* something but a pattern selects */
};

static int fatal(struct cmd *c, const char *why)
{
    cmd_err(c, "%s", why);
    cmd_err_raw(c, arena_printf(c->arena, "Try `%s --help' for more information.\n", c->name));
    return 2;
}

/* "1,2,root": 0 or a status. */
static int parse_ids(struct pgrep *g, struct ids *ids, const char *list, bool users)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        const char *word = arena_dup(g->c->arena, list, n);
        uint64_t v;
        uint32_t uid, gid;
        if (ids->n == sizeof ids->v / sizeof *ids->v)
            return cmd_refuse(g->c, "so long a list is not implemented here");
        if (users && cmd_user_id(g->c, word, &uid, &gid) == 0)
            v = uid;
        else if (str_u64(str_of(word, n), &v) < 0 || v > UINT32_MAX)
            return fatal(g->c, arena_printf(g->c->arena, users ? "invalid user name: %s" : "not a number: %s", word));
        ids->v[ids->n++] = (long)v;
        list += n + (list[n] == ',');
    }
    g->picky = true;
    return 0;
}

static bool has_id(const struct ids *ids, long id)
{
    for (size_t i = 0; i < ids->n; i++)
        if (ids->v[i] == id)
            return true;
    return ids->n == 0;
}

/* "-KILL" and "-9" of pkill: taken out of argv. */
static void take_signal(struct pgrep *g)
{
    struct cmd *c = g->c;
    for (int i = 1; i < c->argc && g->kill; i++) {
        const char *w = c->argv[i];
        if (w[0] != '-' || !w[1] || strcmp(w, "--") == 0)
            continue;
        int sig = trap_signal_number(str_c(w + 1));
        if (sig < 0)
            continue;
        g->sig = sig;
        memmove(c->argv + i, c->argv + i + 1, (size_t)(c->argc - i) * sizeof *c->argv);
        c->argc--;
        return;
    }
}

static int option(struct pgrep *g, int o)
{
    struct cmd *c = g->c;
    switch (o) {
    case 'd':
        g->delim = c->optarg;
        return g->kill ? fatal(c, "invalid option -- 'd'") : 0;
    case 'l':
        g->name = true;
        return 0;
    case 'a':
        g->all = true;
        return 0;
    case 'v':
        g->invert = true;
        return g->kill ? cmd_refuse(c, "option '%s' is not implemented here", c->opt_name) : 0;
    case 'c':
        g->count = true;
        return 0;
    case 'e':
        g->echo = true;
        return 0;
    case 'f':
        g->full = true;
        return 0;
    case 'i':
        g->icase = true;
        return 0;
    case 'n':
        g->newest = g->picky = true;
        return 0;
    case 'o':
        g->oldest = g->picky = true;
        return 0;
    case 'x':
        g->exact = true;
        return 0;
    case 'r':
        g->states = c->optarg;
        g->picky = true;
        return 0;
    case 'g':
        return parse_ids(g, &g->groups, c->optarg, false);
    case 'P':
        return parse_ids(g, &g->parents, c->optarg, false);
    case 'u':
    case 'U':
        return parse_ids(g, &g->users, c->optarg, true);
    default: /* PGREP_SIGNAL */
        g->sig = trap_signal_number(str_c(c->optarg));
        return g->sig < 0 ? fatal(c, arena_printf(c->arena, "invalid signal: %s", c->optarg)) : 0;
    }
}

static int compile(struct pgrep *g, const char *pattern)
{
    const char *msg;
    unsigned flags = REGEX_ERE | REGEX_NOSUB | (g->icase ? REGEX_ICASE : 0) | (cmd_utf8(g->c) ? REGEX_UTF8 : 0);
    if (g->exact)
        pattern = arena_printf(g->c->arena, "^(%s)$", pattern);
    int r = regex_compile(str_c(pattern), flags, &g->re, &msg);
    if (r == -ENOMEM)
        return cmd_no_memory(g->c);
    if (r < 0)
        cmd_err(g->c, "%s", msg);
    return r < 0 ? 2 : 0;
}

static bool matches(const struct pgrep *g, const struct process *p)
{
    if (!has_id(&g->groups, p->pgid) || !has_id(&g->parents, p->ppid) || !has_id(&g->users, (long)p->uid))
        return false;
    if (g->states && !strchr(g->states, p->state))
        return false;
    if (!g->re)
        return true;
    bool bare = p->args[0] == '[';
    return regex_test(g->re, str_c(g->full && !bare ? p->args : p->comm)) > 0;
}

/* Keeps the one that began last or first. */
static size_t keep_one(const struct pgrep *g, struct process *v, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (g->newest ? v[i].start >= v[best].start : v[i].start < v[best].start)
            best = i;
    v[0] = v[best];
    return 1;
}

static void list(const struct pgrep *g, const struct process *v, size_t n)
{
    struct cmd *c = g->c;
    if (g->count) {
        cmd_printf(c, "%zu\n", n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (g->all)
            cmd_printf(c, "%d %s%s", v[i].pid, v[i].args[0] == '[' ? v[i].comm : v[i].args,
                       i + 1 < n ? g->delim : "\n");
        else if (g->name)
            cmd_printf(c, "%d %s%s", v[i].pid, v[i].comm, i + 1 < n ? g->delim : "\n");
        else
            cmd_printf(c, "%d%s", v[i].pid, i + 1 < n ? g->delim : "\n");
    }
}

static int signal_all(const struct pgrep *g, const struct process *v, size_t n)
{
    struct cmd *c = g->c;
    size_t sent = 0;
    for (size_t i = 0; i < n && !cmd_poll(c); i++) {
        int r = proc_kill(c->p, v[i].pid, g->sig);
        if (r == -ESRCH)
            continue;
        if (r < 0) {
            cmd_err(c, "killing pid %d failed: %s", v[i].pid, errtab_text(r));
            continue;
        }
        sent++;
        if (g->echo)
            cmd_printf(c, "%s killed (pid %d)\n", v[i].comm, v[i].pid);
    }
    if (g->count)
        cmd_printf(c, "%zu\n", n);
    return sent ? 0 : 1;
}

static int pgrep_main(struct cmd *c)
{
    struct pgrep g = {.c = c, .delim = "\n", .sig = SIGTERM, .kill = c->def->name[1] == 'k'};
    int o, r = 0;
    c->opt_no_try = true;
    take_signal(&g);
    while (r == 0 && (o = cmd_getopt(c, opts, false)) != -1) {
        if (o == 'V') {
            cmd_printf(c, "%s (Frontal Sandbox) %s\n", c->def->name, FRONTAL_VERSION);
            return 0;
        }
        r = o == -2 ? -1 : option(&g, o);
    }
    if (r)
        return r < 0 ? processes_usage(c) : r;
    if (c->argc - c->optind > 1)
        return fatal(c, "only one pattern can be provided");
    if (c->optind == c->argc && !g.picky)
        return fatal(c, "no matching criteria specified");
    if (g.newest && g.oldest)
        return fatal(c, "-n and -o cannot be used together");
    if (c->optind < c->argc && (r = compile(&g, c->argv[c->optind])))
        return r;
    size_t n, kept = 0;
    struct process *v = processes_read(c, &n);
    for (size_t i = 0; i < n; i++)
        if (v[i].pid != c->p->pid && matches(&g, &v[i]) != g.invert)
            v[kept++] = v[i];
    regex_free(g.re);
    if (kept > 1 && (g.newest || g.oldest))
        kept = keep_one(&g, v, kept);
    if (g.kill)
        return signal_all(&g, v, kept);
    list(&g, v, kept);
    return kept ? 0 : 1;
}

#define PICKS                                                                                                          \
    "  -f, --full          match the command line\n"                                                                   \
    "  -i, --ignore-case   without regard to case\n"                                                                   \
    "  -x, --exact         the whole name\n"                                                                           \
    "  -n, --newest        only the last one that began\n"                                                             \
    "  -o, --oldest        only the first one\n"                                                                       \
    "  -g, --pgroup LIST   of these process groups\n"                                                                  \
    "  -P, --parent LIST   with these parents\n"                                                                       \
    "  -u, --euid LIST     of these users; also -U, --uid\n"                                                           \
    "  -r, --runstates S   in one of these states\n"                                                                   \
    "  -c, --count         how many\n"                                                                                 \
    "  -V, --version       the version\n"

CMD(pgrep, pgrep_main, 2, "Usage: pgrep [options] <pattern>\n",
    "  -d, --delimiter S   between numbers\n"
    "  -l, --list-name     numbers and names\n"
    "  -a, --list-full     numbers and command lines\n"
    "  -v, --inverse       those that do not match\n" PICKS);
CMD(pkill, pgrep_main, 2, "Usage: pkill [options] <pattern>\n",
    "  -SIGNAL, --signal S what is sent (TERM)\n"
    "  -e, --echo          say what was killed\n" PICKS);
