/* SPDX-License-Identifier: Apache-2.0 */

/* How the verbs about kept state read their options. */

#include "cli/view.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "snapshot/state.h"
#include "types/errtab.h"

int cli_options_read(struct cli_common *c, const char *verb, int argc, char **argv, const struct cli_opt *opts, int min,
                     int max, const char *what)
{
    bool help = false;
    const char *server = NULL;
    *c = (struct cli_common){0};
    const struct cli_opt common[] = {{"state", CLI_OPT_TEXT, &c->state_dir},
                                     {"server", CLI_OPT_TEXT, &server},
                                     {"json", CLI_OPT_FLAG, &c->json},
                                     {"help", CLI_OPT_FLAG, &help},
                                     {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_opts_parse(verb, argc, argv, common, opts, &help, &server);
    if (server)
        cli_remote();
    if (r == 0 && help) {
        cli_help(verb);
        return 1;
    }
    return cli_operands(verb, r, argc, argv, min, max, what, &c->argc, &c->argv);
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
