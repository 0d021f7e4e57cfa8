/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The verbs against a server: --server URL or FRONTAL_SANDBOX_URL make this program become frontal-sandbox-client, a
 * program beside it, so that what that links is nothing that a local run loads.
 */

#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "types/errtab.h"

#define PROGRAM "frontal-sandbox-client"

/* Verbs that are about sessions: with FRONTAL_SANDBOX_URL never those of this machine. */
static const char *const remote[] = {
    "run",  "shell", "session", "trace",  "snapshot", "restore", "fork",
    "diff", "merge", "replay",  "export", "import",   "store",
};

static char **words; /* as given; getopt_long() permutes and overwrites the other */

int cli_beside(const char *name, struct buf *self, struct buf *ret)
{
    char path[LIMIT_PATH];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
    if (n <= 0 || (size_t)n == sizeof(path))
        return -ENOENT;
    (void)buf_add(self, path, (size_t)n);
    while (n > 0 && path[n - 1] != '/')
        n--;
    (void)buf_add(ret, path, (size_t)n);
    (void)buf_addc(ret, name);
    if (self->err || ret->err)
        return -ENAMETOOLONG;
    return access(ret->p, X_OK) ? -errno : 0;
}

bool cli_remote_wanted(int argc, char **argv)
{
    const char *url = getenv("FRONTAL_SANDBOX_URL");
    words = mem_alloc(((size_t)argc + 1) * sizeof(*words));
    memcpy(words, argv, ((size_t)argc + 1) * sizeof(*words));
    for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++) {
        if (strcmp(argv[1], remote[i]) == 0)
            return url && *url;
    }
    return false;
}

int cli_only_remote(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], "--help") != 0)
        cli_remote();
    cli_help(argv[0]);
    return 0;
}

void cli_remote(void)
{
    BUF_AUTO struct buf self, client;
    buf_init(&self, LIMIT_PATH);
    buf_init(&client, LIMIT_PATH);
    int r = cli_beside(PROGRAM, &self, &client);
    if (r) {
        cli_error("%s is not there (%s): it is built where libcurl is (scripts/setup)", PROGRAM, errtab_text(r));
        exit(CLI_FAILED);
    }
    execv(client.p, words);
    cli_error("%s: %s", client.p, errtab_text(errno));
    exit(CLI_FAILED);
}
