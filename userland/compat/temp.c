/* SPDX-License-Identifier: Apache-2.0 */

/* Temporary files: names from the session's random bytes, which a replay repeats. */
#include "host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TRIES = 100,
    XS = 6,
};

ssize_t getrandom(void *buf, size_t n, unsigned flags)
{
    (void)flags;
    for (size_t done = 0; done < n;) {
        size_t part = n - done < 256 ? n - done : 256;

        if (getentropy((char *)buf + done, part) < 0)
            return -1;
        done += part;
    }
    return (ssize_t)n;
}

/* Where the Xs of @name are, or NULL with EINVAL. */
static char *find_xs(char *name, int suffix_n)
{
    size_t n = strlen(name);

    if (suffix_n < 0 || n < (size_t)suffix_n + XS || memcmp(name + n - suffix_n - XS, "XXXXXX", XS) != 0) {
        errno = EINVAL;
        return NULL;
    }
    return name + n - suffix_n - XS;
}

static void fill(char *xs)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789AB";
    unsigned char r[XS];

    (void)getentropy(r, sizeof(r));
    for (int i = 0; i < XS; i++)
        xs[i] = letters[r[i] % 64];
}

int mkostemps(char *name, int suffix_n, int flags)
{
    char *xs = find_xs(name, suffix_n);

    if (xs == NULL)
        return -1;
    for (int i = 0; i < TRIES; i++) {
        int fd;

        fill(xs);
        fd = open(name, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    memcpy(xs, "XXXXXX", XS);
    return host_result(EEXIST);
}

int mkstemp(char *name)
{
    return mkostemps(name, 0, 0);
}

int mkostemp(char *name, int flags)
{
    return mkostemps(name, 0, flags);
}

int mkstemps(char *name, int suffix_n)
{
    return mkostemps(name, suffix_n, 0);
}

char *mkdtemp(char *name)
{
    char *xs = find_xs(name, 0);

    if (xs == NULL)
        return NULL;
    for (int i = 0; i < TRIES; i++) {
        fill(xs);
        if (mkdir(name, 0700) == 0)
            return name;
        if (errno != EEXIST)
            return NULL;
    }
    memcpy(xs, "XXXXXX", XS);
    errno = EEXIST;
    return NULL;
}

char *mktemp(char *name)
{
    char *xs = find_xs(name, 0);
    struct stat st;

    for (int i = 0; xs != NULL && i < TRIES; i++) {
        fill(xs);
        if (lstat(name, &st) < 0 && errno == ENOENT)
            return name;
    }
    name[0] = '\0';
    return name;
}

FILE *tmpfile(void)
{
    char name[] = P_tmpdir "/tmpfXXXXXX";
    int fd = mkostemps(name, 0, O_CLOEXEC);
    FILE *f;

    if (fd < 0)
        return NULL;
    (void)unlink(name);
    f = fdopen(fd, "w+");
    if (f == NULL)
        close(fd);
    return f;
}

char *tmpnam(char *buf)
{
    static char own[L_tmpnam];
    char *name = buf != NULL ? buf : own;

    strcpy(name, P_tmpdir "/tXXXXXX");
    return *mktemp(name) != '\0' ? name : NULL;
}

char *tempnam(const char *dir, const char *prefix)
{
    char *name;

    if (dir == NULL || access(dir, W_OK | X_OK) < 0)
        dir = P_tmpdir;
    if (asprintf(&name, "%s/%.5sXXXXXX", dir, prefix != NULL ? prefix : "") < 0)
        return NULL;
    if (*mktemp(name) == '\0') {
        free(name);
        return NULL;
    }
    return name;
}
