/* SPDX-License-Identifier: Apache-2.0 */

/*
 * ulimit shows the session's limits in the units bash has. All but the number of descriptors belong to the session, not
 * to one process, and are set from outside (--limit): a value that would change one is refused, since a limit that is
 * only noted down would be a lie.
 */

#include "shell/shell_int.h"

#define UNLIMITED UINT64_MAX

struct resource {
    char letter;
    const char *name;
    const char *unit; /* as in -a's listing, with the letter left out; may be empty */
};

/* In the order of `ulimit -a`. */
static const struct resource resources[] = {
    {'R', "real-time non-blocking time", "microseconds, "},
    {'c', "core file size", "blocks, "},
    {'d', "data seg size", "kbytes, "},
    {'e', "scheduling priority", ""},
    {'f', "file size", "blocks, "},
    {'i', "pending signals", ""},
    {'l', "max locked memory", "kbytes, "},
    {'m', "max memory size", "kbytes, "},
    {'n', "open files", ""},
    {'p', "pipe size", "512 bytes, "},
    {'q', "POSIX message queues", "bytes, "},
    {'r', "real-time priority", ""},
    {'s', "stack size", "kbytes, "},
    {'t', "cpu time", "seconds, "},
    {'u', "max user processes", ""},
    {'v', "virtual memory", "kbytes, "},
    {'x', "file locks", ""},
};
#define N_RESOURCES (sizeof(resources) / sizeof(resources[0]))

static uint64_t value_of(const struct shell *sh, char letter, bool hard)
{
    const struct limits *l = proc_set_limits(sh->ps);
    switch (letter) {
    case 'c':
    case 'e':
    case 'i':
    case 'l':
    case 'q':
    case 'r':
        return 0;
    case 'f':
        return LIMIT_FILE / 1024;
    case 'n':
        return hard ? sh->p->fds_hard : sh->p->fds_soft;
    case 'p':
        return LIMIT_PIPE_BUF / 512;
    case 's':
        return LIMIT_SHELL_STACK / 1024;
    case 't':
        return (l->cpu_ms + 999) / 1000;
    case 'u':
        return l->processes;
    case 'd':
    case 'm':
    case 'v':
        return l->memory / 1024;
    default:
        return UNLIMITED;
    }
}

static const struct resource *find(char letter)
{
    for (size_t i = 0; i < N_RESOURCES; i++)
        if (resources[i].letter == letter)
            return &resources[i];
    return NULL;
}

static void print_value(struct shell *sh, uint64_t v)
{
    if (v == UNLIMITED)
        sh_puts(sh, "unlimited\n");
    else
        sh_printf(sh, "%llu\n", (unsigned long long)v);
}

static void print_line(struct shell *sh, const struct resource *r, bool hard)
{
    char unit[40];
    snprintf(unit, sizeof(unit), "(%s-%c) ", r->unit, r->letter);
    sh_printf(sh, "%-20s %20s", r->name, unit);
    print_value(sh, value_of(sh, r->letter, hard));
}

enum which { SOFT = 1, HARD = 2 };

/* The limit on descriptors, which each process has for itself: NULL, or why it may not be that. */
static const char *set_fds(struct proc *p, uint64_t want, unsigned which)
{
    uint64_t soft = which & SOFT ? want : p->fds_soft, hard = which & HARD ? want : p->fds_hard;
    if (soft > hard)
        return "Invalid argument";
    if (hard > LIMIT_FDS || (hard > p->fds_hard && p->cred.uid != 0))
        return "Operation not permitted";
    p->fds_soft = (uint32_t)soft;
    p->fds_hard = (uint32_t)hard;
    return NULL;
}

static int set(struct shell *sh, const struct resource *r, struct str text, unsigned which)
{
    uint64_t now = value_of(sh, r->letter, which == HARD), want;
    if (str_eqc(text, "unlimited"))
        want = UNLIMITED;
    else if (str_eqc(text, "hard") || str_eqc(text, "soft"))
        want = value_of(sh, r->letter, text.p[0] == 'h');
    else if (str_u64(text, &want)) {
        sh_error(sh, "ulimit: %s: invalid number", text.p);
        return 1;
    }
    const char *why = NULL;
    if (r->letter == 'n')
        why = set_fds(sh->p, want, which);
    else if (want != now)
        why = want > now ? "Operation not permitted" : "the sandbox's limits are set from outside (run --limit)";
    if (why)
        sh_error(sh, "ulimit: %s: cannot modify limit: %s", r->name, why);
    return why != NULL;
}

static int builtin_ulimit(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    char letters[64];
    size_t n = 0;
    bool all = false;
    unsigned which = 0;
    int c;
    while ((c = builtin_getopt(sh, a, "SHabcdefiklmnpqrstuvxPRT", &o)) != -1) {
        if (c == '?')
            return 2;
        if (c == 'S' || c == 'H')
            which |= c == 'H' ? HARD : SOFT;
        else if (c == 'a')
            all = true;
        else if (n < sizeof(letters))
            letters[n++] = (char)c;
    }
    if (all) {
        for (size_t i = 0; i < N_RESOURCES; i++)
            print_line(sh, &resources[i], which == HARD);
        return 0;
    }
    if (n == 0)
        letters[n++] = 'f';
    int status = 0;
    for (size_t i = 0; i < n; i++) {
        const struct resource *r = find(letters[i]);
        if (!r) {
            sh_error(sh, "ulimit: -%c: this limit does not exist here", letters[i]);
            status = 1;
        } else if (o.i < a->argc) {
            status |= set(sh, r, a->argv[o.i], which ? which : SOFT | HARD);
        } else if (n > 1) {
            print_line(sh, r, which == HARD);
        } else {
            print_value(sh, value_of(sh, r->letter, which == HARD));
        }
    }
    return status;
}

BUILTIN(ulimit, "ulimit", builtin_ulimit, 0, "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]",
        "    Show the limits of the session.\n"
        "\n"
        "      -a  all of them\n"
        "      -c core  -d data  -e priority  -f file size  -i pending signals  -l locked memory  -m memory\n"
        "      -n descriptors  -p pipe buffer  -q message queues  -r, -R real time  -s stack  -t CPU time\n"
        "      -u processes  -v virtual memory  -x locks\n"
        "      -S, -H  the soft and the hard limit on descriptors; the others have one\n"
        "\n"
        "    Descriptors are limited for this process and what it starts. The other limits are set from outside the\n"
        "    session: one that differs from what is in force is refused.\n"
        "\n"
        "    The status is 0 unless an option or limit is wrong or refused.\n");
