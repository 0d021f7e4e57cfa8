/* SPDX-License-Identifier: Apache-2.0 */

/* The working directory, of the program and of its children, and realpath. */
#include "tap.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>

/* As a child whose working directory was removed before it began: nothing is found by a relative name, and no name of "/" is. */
static int in_removed_directory(void)
{
    char buf[PATH_MAX];

    fails(access("etc/passwd", F_OK), ENOENT);
    fails(open("etc/passwd", O_RDONLY), ENOENT);
    fails(open("new", O_WRONLY | O_CREAT, 0644), ENOENT);
    fails(mkdir("new", 0755), ENOENT);
    ok((errno = 0, getcwd(buf, sizeof(buf))) == NULL && errno == ENOENT, "getcwd of a removed directory");
    works(access("/etc/passwd", F_OK));
    works(chdir("/"));
    works(access("etc/passwd", F_OK));
    return done_testing();
}

int main(int argc, char **argv)
{
    char buf[PATH_MAX], *top, *p, *self;
    struct stat st;
    int fd, status = -1;
    pid_t pid;
    FILE *f;

    if (argc > 1)
        return in_removed_directory();
    self = realpath(argv[0], NULL);
    own_directory();
    top = getcwd(NULL, 0);
    ok(top != NULL && strncmp(top, "/tmp/compat-", 12) == 0, "getcwd after chdir");
    works(mkdir("a", 0755));
    works(mkdir("a/b", 0755));
    fd = open("a", O_RDONLY | O_DIRECTORY);
    works(chdir("a/b"));
    ok(getcwd(buf, sizeof(buf)) != NULL && strcmp(buf + strlen(top), "/a/b") == 0, "getcwd below");
    works(chdir(".."));
    ok(stat("b", &st) == 0, "a relative path starts there");
    ok((f = fopen("file", "w")) != NULL && fclose(f) == 0 && access("file", F_OK) == 0, "for WASI's own calls too");
    works(chdir(top));
    works(fchdir(fd));
    ok(access("b", F_OK) == 0 && (f = fopen("file", "r")) != NULL, "fchdir");
    fails(fchdir(99), EBADF);
    fails(chdir("none"), ENOENT);
    fails(chdir("file"), ENOTDIR);
    ok((errno = 0, getcwd(buf, 3)) == NULL && errno == ERANGE, "getcwd: ERANGE");

    f = popen("pwd", "r");
    ok(f != NULL && fgets(buf, sizeof(buf), f) != NULL && strstr(buf, "/a\n") != NULL, "a child inherits it");
    pclose(f);

    works(symlink("b", "l"));
    p = realpath("l/../b/.", NULL);
    ok(p != NULL && strcmp(p + strlen(top), "/a/b") == 0, "realpath");
    ok((errno = 0, realpath("none", buf)) == NULL && errno == ENOENT, "realpath of nothing");
    ok((errno = 0, realpath("", buf)) == NULL && errno == ENOENT, "realpath of an empty name");

    works(mkdir("gone", 0755));
    works(chdir("gone"));
    works(rmdir("../gone"));
    ok(self != NULL && posix_spawn(&pid, self, NULL, NULL, (char *[]){self, "gone", NULL}, environ) == 0 &&
           waitpid(pid, &status, 0) == pid && status == 0,
       "a child in a directory that was removed");
    return done_testing();
}
