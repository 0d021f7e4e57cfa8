/* SPDX-License-Identifier: Apache-2.0 */

/* frontal-sandbox serve: checks the options and becomes the server, a program beside this one. */

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/view.h"
#include "types/errtab.h"

#define PROGRAM "frontal-sandbox-server"

static int become(const struct cli_common *c, const char *listen, uint64_t workers, const char *drain, bool quiet)
{
    BUF_AUTO struct buf self, server, fd_text, n_text, drain_text;
    buf_init(&self, LIMIT_PATH);
    buf_init(&server, LIMIT_PATH);
    buf_init(&fd_text, 32);
    buf_init(&n_text, 32);
    buf_init(&drain_text, 32);
    uint64_t ms = 30000;
    if (drain && limits_duration(str_c(drain), &ms)) {
        cli_error("--drain: '%s' is no duration (30s, 500ms)", drain);
        return CLI_FAILED;
    }
    int r = cli_beside(PROGRAM, &self, &server);
    if (r) {
        cli_error("%s is not there (%s): it is built where libmicrohttpd is (scripts/setup)", PROGRAM, errtab_text(r));
        return CLI_FAILED;
    }
    int userland = cli_userland_open();
    if (userland >= 0 && fcntl(userland, F_SETFD, 0) == 0)
        buf_addf(&fd_text, "%d", userland);
    buf_addf(&n_text, "%llu", (unsigned long long)workers);
    buf_addf(&drain_text, "%llu", (unsigned long long)ms);
    const char *argv[20] = {PROGRAM, "--program", self.p};
    int n = 3;
    const char *const pairs[][2] = {{"--listen", listen},
                                    {"--state", c->state_dir},
                                    {"--workers", workers ? n_text.p : NULL},
                                    {"--drain-ms", drain_text.p},
                                    {"--userland", fd_text.n ? fd_text.p : NULL}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (!pairs[i][1])
            continue;
        argv[n++] = pairs[i][0];
        argv[n++] = pairs[i][1];
    }
    if (quiet)
        argv[n++] = "--quiet";
    (void)unsetenv("FRONTAL_SANDBOX_URL"); /* the verbs that it runs are about its own state */
    execv(server.p, (char *const *)(uintptr_t)argv);
    cli_error("%s: %s", server.p, errtab_text(errno));
    return CLI_FAILED;
}

int cli_serve(int argc, char **argv)
{
    struct cli_common c;
    const char *listen = NULL, *drain = NULL;
    uint64_t workers = 0;
    bool quiet = false;
    const struct cli_opt opts[] = {{"listen", CLI_OPT_TEXT, &listen},
                                   {"workers", CLI_OPT_COUNT, &workers},
                                   {"drain", CLI_OPT_TEXT, &drain},
                                   {"quiet", CLI_OPT_FLAG, &quiet},
                                   {NULL, CLI_OPT_FLAG, NULL}};
    int r = cli_options_read(&c, "serve", argc, argv, opts, 0, 0, "no operands");
    if (r)
        return r > 0 ? 0 : CLI_FAILED;
    if (c.json) {
        cli_error("serve takes no --json");
        return CLI_FAILED;
    }
    return become(&c, listen, workers, drain, quiet);
}
