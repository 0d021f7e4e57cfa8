/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <fcntl.h>
#include <stdio.h>

static const struct {
    const char *name;
    int (*fn)(int argc, char **argv);
} verbs[] = {
    /* clang-format off */
    {"run", cli_run},
    {"shell", cli_shell},
    {"attach", cli_only_remote},
    {"session", cli_session},
    {"execs", cli_only_remote},
    {"trace", cli_trace},
    {"snapshot", cli_snapshot},
    {"restore", cli_restore},
    {"fork", cli_fork},
    {"diff", cli_diff},
    {"merge", cli_merge},
    {"replay", cli_replay},
    {"export", cli_export},
    {"import", cli_import},
    {"store", cli_store},
    {"policy", cli_policy},
    {"tools", cli_tools},
    {"serve", cli_serve},
    {"keys", cli_keys},
    {"doctor", cli_doctor},
    /* clang-format on */
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

/* "run, shell or doctor". */
static const char *all_verbs(void)
{
    static char text[256];
    size_t n = 0;
    for (size_t i = 0; i < VERBS && n < sizeof(text); i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
                              i == 0          ? ""
                              : i + 1 < VERBS ? ", "
                                              : " or ",
                              verbs[i].name);
    return text;
}

static int help(int argc, char **argv)
{
    const char *verb = argc > 0 ? argv[0] : NULL;
    for (size_t i = 0; verb && i < VERBS; i++) {
        if (strcmp(verb, verbs[i].name) == 0) {
            cli_help(verb);
            return 0;
        }
    }
    if (verb) {
        cli_error("there is no verb '%s' (see frontal-sandbox --help)", verb);
        return CLI_FAILED;
    }
    cli_help(NULL);
    return 0;
}

/* A descriptor 0, 1 or 2 that is closed would be given to the next thing opened, which guest input or output would then
 * go to. */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) < 0)
            _exit(CLI_FAILED);
    }
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    if (argc < 2) {
        cli_error("a verb is missing: %s (see frontal-sandbox --help)", all_verbs());
        return CLI_FAILED;
    }
    const char *verb = argv[1];
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0 || strcmp(verb, "help") == 0)
        return help(argc - 2, argv + 2);
    if (strcmp(verb, "--version") == 0 || strcmp(verb, "-V") == 0) {
        puts("frontal-sandbox " FRONTAL_VERSION);
        return 0;
    }
    if (cli_remote_wanted(argc, argv))
        cli_remote();
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(verb, verbs[i].name) == 0)
            return verbs[i].fn(argc - 1, argv + 1);
    }
    cli_error("there is no verb '%s': %s (see frontal-sandbox --help)", verb, all_verbs());
    return CLI_FAILED;
}
