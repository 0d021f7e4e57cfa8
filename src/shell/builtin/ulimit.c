/* SPDX-License-Identifier: Apache-2.0 */

/*
 * ulimit shows the session's limits in the units bash has. They belong to the session, not to one process, and are set
 * from outside
 * (--limit): a value that would change one is refused, since a limit that is only noted down would be a lie.
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

static uint64_t value_of(const struct shell *sh, char letter)
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
        return LIMIT_FDS;
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

static void print_line(struct shell *sh, const struct resource *r)
{
    char unit[40];
    snprintf(unit, sizeof(unit), "(%s-%c)", r->unit, r->letter);
    sh_printf(sh, "%-20s %20s ", r->name, unit);
    print_value(sh, value_of(sh, r->letter));
}

static int set(struct shell *sh, const struct resource *r, struct str text)
{
    uint64_t now = value_of(sh, r->letter), want;
    if (str_eqc(text, "unlimited"))
        want = UNLIMITED;
    else if (str_eqc(text, "hard") || str_eqc(text, "soft"))
        want = now;
    else if (str_u64(text, &want)) {
        sh_error(sh, "ulimit: %s: invalid number", text.p);
        return 1;
    }
    if (want == now)
        return 0;
    sh_error(sh, "ulimit: %s: cannot modify limit: %s", r->name,
             want > now ? "Operation not permitted" : "the sandbox's limits are set from outside (run --limit)");
    return 1;
}

static int builtin_ulimit(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    char letters[64];
    size_t n = 0;
    bool all = false;
    int c;
    while ((c = builtin_getopt(sh, a, "SHabcdefiklmnpqrstuvxPRT", &o)) != -1) {
        if (c == '?')
            return 2;
        if (c == 'a')
            all = true;
        else if (c != 'S' && c != 'H' && n < sizeof(letters))
            letters[n++] = (char)c;
    }
    if (all) {
        for (size_t i = 0; i < N_RESOURCES; i++)
            print_line(sh, &resources[i]);
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
            status |= set(sh, r, a->argv[o.i]);
        } else if (n > 1) {
            print_line(sh, r);
        } else {
            print_value(sh, value_of(sh, r->letter));
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
        "      -S, -H  soft and hard limits are the same here\n"
        "\n"
        "    The limits are set from outside the session: a limit that differs from what is in force is refused.\n"
        "\n"
        "    The status is 0 unless an option or limit is wrong or refused.\n");
