/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The working directory. wasi-libc keeps one of its own, a string that it puts before relative paths; the host has the
 * real one, which children inherit. Every change goes to the host first and then into the string.
 */
#include "host.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* wasi-libc's getcwd.c. It frees nothing that chdir.c there has not allocated. */
extern char *__wasilibc_cwd;
int __real_chdir(const char *path);
char *__real_getcwd(char *buf, size_t n);
/* Without this function in the program, wasi-libc takes every relative path from "/". */
int __wasilibc_find_relpath_alloc(const char *path, const char **prefix, char **relative, size_t *n, int grow);
static void *volatile keep_relative_paths;

static char cwd[PATH_MAX];
static const char unnamed[] = "/proc/self/cwd";

void compat_sync_cwd(void)
{
    char now[PATH_MAX];
    size_t n = 0;
    int err = host_getcwd(now, sizeof(now) - 1, &n);

    if (err == ENOSYS) {
        const char *pwd = getenv("PWD");

        if (pwd != NULL && pwd[0] == '/')
            (void)__real_chdir(pwd);
        return;
    }
    if (err != 0 || n == 0) {
        /* Removed, or too long for a string: relative paths must fail, and not be taken from "/". The link tells why. */
        n = sizeof(unnamed) - 1;
        memcpy(now, unnamed, n);
    }
    now[n] = '\0';
    memcpy(cwd, now, n + 1);
    __wasilibc_cwd = cwd;
}

/* "used", since the linker runs constructors only of object files that something else in the program leads to. */
__attribute__((constructor(60), used)) void compat_start(void)
{
    keep_relative_paths = (void *)__wasilibc_find_relpath_alloc;
    compat_sync_cwd();
}

int __wrap_chdir(const char *path)
{
    int err = host_chdir(path, strlen(path));

    if (err == ENOSYS)
        return __real_chdir(path);
    if (err == 0)
        compat_sync_cwd();
    return host_result(err);
}

int fchdir(int fd)
{
    int err = host_fchdir(fd);

    if (err == 0)
        compat_sync_cwd();
    return host_result(err);
}

char *__wrap_getcwd(char *buf, size_t n)
{
    char now[PATH_MAX];
    size_t len = 0;
    int err = host_getcwd(now, sizeof(now) - 1, &len);

    if (err == ENOSYS)
        return __real_getcwd(buf, n);
    if (buf != NULL && n == 0)
        err = EINVAL;
    if (err == 0 && (buf != NULL || n != 0) && len >= n)
        err = ERANGE;
    if (err == 0 && buf == NULL && (buf = malloc(n != 0 ? n : len + 1)) == NULL)
        err = ENOMEM;
    if (host_result(err) < 0)
        return NULL;
    memcpy(buf, now, len);
    buf[len] = '\0';
    return buf;
}

char *get_current_dir_name(void)
{
    return getcwd(NULL, 0);
}

char *realpath(const char *path, char *buf)
{
    char out[PATH_MAX];
    size_t n = 0;
    int err;

    if (path == NULL)
        err = EINVAL;
    else if (path[0] == '\0')
        err = ENOENT;
    else
        err = host_realpath(path, strlen(path), out, sizeof(out) - 1, &n);
    if (err == ERANGE)
        err = ENAMETOOLONG;
    if (err == 0 && buf == NULL && (buf = malloc(n + 1)) == NULL)
        err = ENOMEM;
    if (host_result(err) < 0)
        return NULL;
    memcpy(buf, out, n);
    buf[n] = '\0';
    return buf;
}
