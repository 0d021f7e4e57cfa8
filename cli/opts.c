/* SPDX-License-Identifier: Apache-2.0 */

/* How options and operands of a verb are read, by the local program and by the client. */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/view.h"
#include "types/limits.h"

#define OPTS_MAX 16

static int set_option(const char *verb, const struct cli_opt *o, const char *arg)
{
    uint64_t n;
    switch (o->kind) {
    case CLI_OPT_FLAG:
        *(bool *)o->to = true;
        return 0;
    case CLI_OPT_TEXT:
        *(const char **)o->to = arg;
        return 0;
    case CLI_OPT_COUNT:
        if (str_u64(str_c(arg), &n) || n == 0) {
            cli_error("%s: --%s: '%s' is not a number above zero", verb, o->name, arg);
            return -EINVAL;
        }
        *(uint64_t *)o->to = n;
        return 0;
    }
    return -EINVAL;
}

int cli_opts_parse(const char *verb, int argc, char **argv, const struct cli_opt *common, const struct cli_opt *own,
                   const bool *help, const char *const *leave)
{
    struct option longs[OPTS_MAX + 1] = {{0}};
    const struct cli_opt *of[OPTS_MAX];
    int n = 0, code, r = 0;
    for (; common->name && n < OPTS_MAX; common++)
        of[n++] = common;
    for (; own && own->name && n < OPTS_MAX; own++)
        of[n++] = own;
    for (int i = 0; i < n; i++)
        longs[i] =
            (struct option){of[i]->name, of[i]->kind == CLI_OPT_FLAG ? no_argument : required_argument, NULL, 256 + i};
    static char name[] = "frontal-sandbox";
    argv[0] = name; /* what getopt_long() puts in front of its messages */
    optind = 0;
    while (r == 0 && !*help && !(leave && *leave) && (code = getopt_long(argc, argv, "", longs, NULL)) != -1)
        r = code >= 256 ? set_option(verb, of[code - 256], optarg) : -EINVAL;
    return r;
}

int cli_operands(const char *verb, int r, int argc, char **argv, int min, int max, const char *what, int *ret_argc,
                 char ***ret_argv)
{
    int n = argc - optind;
    *ret_argc = n;
    *ret_argv = argv + optind;
    if (r == 0 && (n < min || n > max)) {
        cli_error("%s: takes %s, not %d argument%s", verb, what, n, n == 1 ? "" : "s");
        r = -EINVAL;
    }
    if (r)
        fprintf(stderr, "Try 'frontal-sandbox %s --help' for more information.\n", verb);
    return r;
}

int cli_check_env(const char *kv)
{
    const char *eq = strchr(kv, '=');
    if (eq && eq != kv)
        return 0;
    cli_error("--env: '%s' is not NAME=VALUE", kv);
    return -EINVAL;
}

int cli_take_timeout(const char *text, uint64_t *ret_ms)
{
    uint64_t ms;
    if (limits_duration(str_c(text), &ms) || ms == 0) {
        cli_error("--timeout: '%s' is not a time above zero such as 10s, 1.5m or 200ms", text);
        return -EINVAL;
    }
    *ret_ms = ms;
    return 0;
}
