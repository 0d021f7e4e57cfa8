/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int cli_userland_open(void)
{
    const char *dir = getenv("FRONTAL_USERLAND"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    BUF_AUTO struct buf path;
    buf_init(&path, LIMIT_PATH);
    if (dir && *dir)
        buf_addc(&path, dir);
    else if (cache && cache[0] == '/')
        buf_addf(&path, "%s/frontal-sandbox/userland/current", cache);
    else if (home && home[0] == '/')
        buf_addf(&path, "%s/.cache/frontal-sandbox/userland/current", home);
    if (path.err || path.n == 0)
        return -1;
    return open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}
