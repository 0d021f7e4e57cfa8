/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/shell_int.h"

/* A topic: a builtin, or a keyword of the language. */
struct topic {
    const char *name, *synopsis, *help;
};

static const struct topic keywords[] = {
    {"!", "! PIPELINE", "    Turn the status of a pipeline round: 0 becomes 1, anything else 0.\n"},
    {"%", "job_spec [&]", "    Resume a job in the foreground, or with & in the background.\n"},
    {"((", "(( expression ))", "    Evaluate an arithmetic expression; the status is 1 when it is 0, else 0.\n"},
    {"[[", "[[ expression ]]",
     "    Evaluate a conditional expression: the tests of test, patterns with == and !=, regular expressions with "
     "=~.\n"},
    {"case", "case WORD in [PATTERN [| PATTERN]...) COMMANDS ;;]... esac",
     "    Run the commands of the first pattern that WORD matches. ;& goes on with the next clause, ;;& goes on "
     "testing.\n"},
    {"coproc", "coproc [NAME] command [redirections]",
     "    Run a command in the background with its input and output connected to NAME[1] and NAME[0].\n"},
    {"for", "for NAME [in WORDS ... ] ; do COMMANDS; done",
     "    Run the commands once for each word, or for each positional parameter.\n"},
    {"for ((", "for (( exp1; exp2; exp3 )); do COMMANDS; done", "    A loop over arithmetic expressions.\n"},
    {"function", "function name { COMMANDS ; } or name () { COMMANDS ; }",
     "    Define a function; its arguments are $1, $2, ... while it runs.\n"},
    {"if", "if COMMANDS; then COMMANDS; [ elif COMMANDS; then COMMANDS; ]... [ else COMMANDS; ] fi",
     "    Run commands by the status of others.\n"},
    {"select", "select NAME [in WORDS ... ;] do COMMANDS; done",
     "    Print a numbered menu of the words and run the commands for each number read.\n"},
    {"time", "time [-p] pipeline", "    Report the real, user and system time that a pipeline took.\n"},
    {"until", "until COMMANDS; do COMMANDS-2; done", "    Run commands as long as a test fails.\n"},
    {"while", "while COMMANDS; do COMMANDS-2; done", "    Run commands as long as a test succeeds.\n"},
    {"{", "{ COMMANDS ; }", "    Run commands as one, in the shell itself.\n"},
};
#define N_KEYWORDS (sizeof(keywords) / sizeof(keywords[0]))

static size_t topic_count(void)
{
    size_t n;
    builtin_all(&n);
    return n + N_KEYWORDS;
}

/* Builtins first, each sorted by name. */
static struct topic topic_at(size_t i)
{
    size_t n;
    const struct builtin *const *v = builtin_all(&n);
    if (i < n)
        return (struct topic){v[i]->name, v[i]->synopsis, v[i]->help};
    return keywords[i - n];
}

/* The first line of the text, without the blanks before it and the full stop. */
static struct str summary(const struct topic *t)
{
    struct str s = str_c(t->help);
    while (s.n && s.p[0] == ' ')
        s = str_from(s, 1);
    ptrdiff_t nl = str_find(s, '\n', 0);
    return nl >= 0 ? str_of(s.p, (size_t)nl) : s;
}

static void print_topic(struct shell *sh, const struct topic *t, char how)
{
    struct str s = summary(t);
    if (how == 's') {
        sh_printf(sh, "%s: %s\n", t->name, t->synopsis);
    } else if (how == 'd') {
        sh_printf(sh, "%s - %.*s\n", t->name, (int)s.n, s.p);
    } else if (how == 'm') {
        sh_printf(sh, "NAME\n    %s - %.*s\n\nSYNOPSIS\n    %s\n\nDESCRIPTION\n%s\n", t->name, (int)s.n, s.p,
                  t->synopsis, t->help);
    } else {
        sh_printf(sh, "%s: %s\n%s", t->name, t->synopsis, t->help);
    }
}

static void print_list(struct shell *sh)
{
    sh_puts(
        sh,
        "These commands are part of the shell. `help NAME' tells more about one, `type NAME' what a name means.\n\n");
    for (size_t i = 0; i < topic_count(); i++) {
        struct topic t = topic_at(i);
        sh_printf(sh, " %s\n", t.synopsis);
    }
}

/* All topics whose name matches @pat, exactly or as a prefix: their number. */
static int print_matches(struct shell *sh, struct str pat, bool prefix, char how)
{
    int found = 0;
    for (size_t i = 0; i < topic_count(); i++) {
        struct topic t = topic_at(i);
        struct str name = str_c(t.name);
        bool match = prefix ? str_starts(name, pat) : str_eq(name, pat) || pattern_match(pat, name, PATTERN_UTF8);
        if (!match)
            continue;
        print_topic(sh, &t, how);
        found++;
    }
    return found;
}

static int builtin_help_cmd(struct shell *sh, struct builtin_args *a)
{
    struct builtin_opt o = {0};
    char how = 0;
    int c, status = 1;
    while ((c = builtin_getopt(sh, a, "dms", &o)) != -1) {
        if (c == '?')
            return 2;
        how = (char)c;
    }
    if (o.i == a->argc) {
        print_list(sh);
        return 0;
    }
    if (pattern_is_glob(a->argv[o.i], 0))
        sh_printf(sh, "Shell commands matching keyword%s `%s'\n\n", a->argc - o.i > 1 ? "s" : "", a->argv[o.i].p);
    struct str last = {0};
    for (int i = o.i; i < a->argc; i++) {
        last = a->argv[i];
        if (print_matches(sh, last, false, how) || print_matches(sh, last, true, how))
            status = 0;
    }
    if (status)
        sh_error(sh, "help: no help topics match `%s'.  Try `help help' or `man -k %s' or `info %s'.", last.p, last.p,
                 last.p);
    return status;
}

BUILTIN(help, "help", builtin_help_cmd, 0, "help [-dms] [pattern ...]",
        "    Describe builtins and keywords whose names match the patterns; without one, list them.\n"
        "\n"
        "    -d  one line each\n"
        "    -m  laid out as a manual page\n"
        "    -s  the synopsis only\n"
        "\n"
        "    The status is 0 unless nothing matches.\n");
