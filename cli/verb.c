/* SPDX-License-Identifier: Apache-2.0 */

/* How the verbs about kept state read their options. */

#include "cli/view.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "snapshot/state.h"
#include "types/errtab.h"

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

static int read_options(struct cli_common *c, const char *verb, int argc, char **argv, const struct cli_opt *opts)
{
    struct option longs[OPTS_MAX + 1] = {{0}};
    bool help = false;
    const char *server = NULL;
    const struct cli_opt common[] = {{"state", CLI_OPT_TEXT, &c->state_dir},
                                     {"server", CLI_OPT_TEXT, &server},
                                     {"json", CLI_OPT_FLAG, &c->json},
                                     {"help", CLI_OPT_FLAG, &help}};
    const struct cli_opt *of[OPTS_MAX];
    int n = 0, code, r = 0;
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        of[n++] = &common[i];
    for (; opts && opts->name && n < OPTS_MAX; opts++)
        of[n++] = opts;
    for (int i = 0; i < n; i++)
        longs[i] =
            (struct option){of[i]->name, of[i]->kind == CLI_OPT_FLAG ? no_argument : required_argument, NULL, 256 + i};
    static char name[] = "frontal-sandbox";
    argv[0] = name; /* what getopt_long() puts in front of its messages */
    optind = 0;
    while (r == 0 && !help && (code = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        r = code >= 256 ? set_option(verb, of[code - 256], optarg) : -EINVAL;
        if (server)
            cli_remote();
    }
    return r ? r : help;
}

int cli_options_read(struct cli_common *c, const char *verb, int argc, char **argv, const struct cli_opt *opts, int min,
                     int max, const char *what)
{
    *c = (struct cli_common){0};
    int r = read_options(c, verb, argc, argv, opts);
    if (r > 0) {
        cli_help(verb);
        return r;
    }
    c->argc = argc - optind;
    c->argv = argv + optind;
    if (r == 0 && (c->argc < min || c->argc > max)) {
        cli_error("%s: takes %s, not %d argument%s", verb, what, c->argc, c->argc == 1 ? "" : "s");
        r = -EINVAL;
    }
    if (r)
        fprintf(stderr, "Try 'frontal-sandbox %s --help' for more information.\n", verb);
    return r;
}

int cli_json_only(int argc, char **argv, bool *ret_json)
{
    const char *wrong = argc > 2 ? argv[2] : argc > 1 ? argv[1] : NULL;
    *ret_json = argc == 2 && strcmp(wrong, "--json") == 0;
    if (!wrong || *ret_json)
        return 0;
    if (argc == 2 && strcmp(wrong, "--help") == 0) {
        cli_help(argv[0]);
        return 1;
    }
    cli_error("%s: '%s' is not an option of it (see frontal-sandbox %s --help)", argv[0], wrong, argv[0]);
    return -EINVAL;
}

int cli_sub_verb(const char *verb, const struct cli_sub *subs, int argc, char **argv)
{
    BUF_AUTO struct buf names;
    buf_init(&names, 256);
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        cli_help(verb);
        return 0;
    }
    for (const struct cli_sub *s = subs; s->name; s++) {
        if (argc > 1 && strcmp(argv[1], s->name) == 0)
            return s->fn(argc - 1, argv + 1);
        buf_addf(&names, "%s%s", s == subs ? "" : s[1].name ? ", " : " or ", s->name);
    }
    if (argc > 1)
        cli_error("%s: '%s' is none of %s (see frontal-sandbox %s --help)", verb, argv[1], names.p, verb);
    else
        cli_error("%s: say what: %s (see frontal-sandbox %s --help)", verb, names.p, verb);
    return CLI_FAILED;
}

int cli_fail(const struct err *err)
{
    const char *how = getenv("FRONTAL_SANDBOX_ERRORS");
    if (how && strcmp(how, "named") == 0)
        cli_error("%s: %s", errtab_name(err->code), err->text); /* for who runs verbs and has to tell failures apart */
    else
        cli_error("%s", err->text);
    return CLI_FAILED;
}

struct state *cli_state_open(const struct cli_common *c, bool create)
{
    struct err err = {0};
    struct state *s = NULL;
    if (state_open(c->state_dir, create, &s, &err) == 0)
        return s;
    cli_fail(&err);
    return NULL;
}
