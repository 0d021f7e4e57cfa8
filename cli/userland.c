/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Opens the set below the cache directory, which is @base and @below. */
static int open_set(const char *base, const char *below)
{
    BUF_AUTO struct buf path;
    buf_init(&path, LIMIT_PATH);
    if (!base || base[0] != '/')
        return -1;
    buf_addf(&path, "%s%s/frontal-sandbox/userland/current", base, below);
    return path.err ? -1 : open(path.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The home that /etc/passwd has for us. Read as a file: getpwuid() would load what the C library asks for names. */
static int open_own(void)
{
    FILE *f = fopen("/etc/passwd", "re");
    int fd = -1;
    if (!f)
        return -1;
    for (struct passwd *pw; (pw = fgetpwent(f)) != NULL;) {
        if (pw->pw_uid == getuid()) {
            fd = open_set(pw->pw_dir, "/.cache");
            break;
        }
    }
    fclose(f);
    return fd;
}

int cli_userland_open(void)
{
    const char *dir = getenv("FRONTAL_USERLAND"), *cache = getenv("XDG_CACHE_HOME");
    if (dir && *dir)
        return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = cache && cache[0] == '/' ? open_set(cache, "") : open_set(getenv("HOME"), "/.cache");
    return fd >= 0 ? fd : open_own();
}
