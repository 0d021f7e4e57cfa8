/* SPDX-License-Identifier: Apache-2.0 */

/*
 * frontal-sandbox-client: the verbs against a server. `frontal-sandbox VERB --server URL` becomes it; it takes the same
 * words.
 */

#include "client/client_int.h"

static const struct {
    const char *name;
    int (*fn)(int argc, char **argv);
} verbs[] = {
    /* clang-format off */
    {"run", client_run},
    {"attach", client_attach},
    {"session", client_session},
    {"execs", client_execs},
    {"trace", client_trace},
    {"snapshot", client_snapshot},
    {"restore", client_restore},
    {"fork", client_fork},
    {"diff", client_diff},
    {"merge", client_merge},
    {"replay", client_replay},
    /* clang-format on */
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(verb, verbs[i].name) == 0)
            return verbs[i].fn(argc - 1, argv + 1);
    }
    cli_error("%s has no form for a server%s", *verb ? verb : "this",
              *verb ? " (without FRONTAL_SANDBOX_URL it is about this machine)" : "");
    return CLIENT_FAILED;
}
