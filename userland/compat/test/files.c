/* SPDX-License-Identifier: Apache-2.0 */

/* Modes, owners, stat, access, directories. Right values: POSIX, and the same program run natively. */
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/statvfs.h>

static unsigned mode_of(const char *path)
{
    struct stat st;

    return lstat(path, &st) < 0 ? 0xffff : st.st_mode & 07777;
}

int main(void)
{
    struct stat st, st2;
    struct statvfs sv;
    char buf[64];
    DIR *d;
    int fd;

    own_directory();
    ok(umask(022) != 0777, "umask tells the old one");
    ok(umask(027) == 022, "umask keeps the new one");
    fd = open("f", O_RDWR | O_CREAT | O_EXCL, 0666);
    ok(fd >= 0 && mode_of("f") == 0640, "open makes a file with mode less umask");
    fails(open("f", O_RDWR | O_CREAT | O_EXCL, 0666), EEXIST);
    close(open("g", O_WRONLY | O_CREAT, 0755));
    ok(mode_of("g") == 0750, "an earlier mode does not stay");
    close(openat(AT_FDCWD, "i", O_WRONLY | O_CREAT, 0606));
    ok(mode_of("i") == 0600, "openat of the working directory has a mode");
    works(unlink("i"));
    FILE *f = fopen("h", "w");
    ok(f != NULL && mode_of("h") == 0640, "fopen asks for 0666");
    fclose(f);
    works(mkdir("d", 0777));
    ok(mode_of("d") == 0750, "mkdir has a mode");
    works(mkdirat(AT_FDCWD, "d/e", 0700));
    ok(mode_of("d/e") == 0700, "mkdirat has a mode");
    umask(022);

    int dir = openat(AT_FDCWD, "d", O_DIRECTORY | O_NOFOLLOW); /* O_RDONLY is left out, as many do */
    ok(dir >= 0 && openat(dir, "e", O_DIRECTORY) >= 0 && open(".", O_DIRECTORY | O_CLOEXEC) >= 0, "no access mode is reading");
    fails(write(dir, "x", 1), EBADF);
    close(dir);

    works(chmod("f", 0604));
    ok(mode_of("f") == 0604, "chmod is seen by stat");
    works(fchmod(fd, 04711));
    works(fstat(fd, &st));
    ok((st.st_mode & 07777) == 04711 && S_ISREG(st.st_mode), "fchmod is seen by fstat");
    ok(write(fd, "0123456789", 10) == 10 && fstat(fd, &st) == 0 && st.st_size == 10, "size");
    ok(st.st_nlink == 1 && st.st_ino != 0 && st.st_blksize > 0, "links, inode, block size");
    ok(st.st_uid == getuid() && st.st_gid == getgid(), "owner is the user");
    works(chown("f", getuid(), getgid()));
    works(fchown(fd, -1, -1));
    works(linkat(AT_FDCWD, "f", AT_FDCWD, "f2", 0));
    works(unlink("f2"));
    works(link("f", "f2"));
    ok(stat("f2", &st2) == 0 && st2.st_ino == st.st_ino && st2.st_nlink == 2, "a second link");
    works(symlink("f", "l"));
    ok(lstat("l", &st) == 0 && S_ISLNK(st.st_mode) && stat("l", &st) == 0 && S_ISREG(st.st_mode), "lstat and stat of a link");
    ok(readlink("l", buf, sizeof(buf)) == 1 && buf[0] == 'f', "readlink");
    fails(fchmodat(AT_FDCWD, "l", 0600, AT_SYMLINK_NOFOLLOW), EOPNOTSUPP);
    works(lchown("l", -1, -1));
    fails(stat("none", &st), ENOENT);
    fails(stat("f/x", &st), ENOTDIR);
    fails(stat("", &st), ENOENT);
    fails(fstat(99, &st), EBADF);

    works(access("f", R_OK));
    fails(access("none", F_OK), ENOENT);
    chmod("g", 0000);
    ok(getuid() == 0 || (access("g", R_OK) == -1 && errno == EACCES), "access refuses");
    works(faccessat(AT_FDCWD, "f", W_OK, AT_EACCESS));
    chmod("g", 0600);

    works(mkfifo("p", 0600));
    ok(lstat("p", &st) == 0 && S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode), "a pipe is a pipe");
    fails(mkfifo("p", 0600), EEXIST);
    works(mknod("n", S_IFREG | 0600, 0));

    d = opendir(".");
    ok(d != NULL && (fcntl(dirfd(d), F_GETFD) & FD_CLOEXEC) != 0, "opendir closes on exec");
    int n = 0, types = 1;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL; n++)
        if (e->d_type != DT_UNKNOWN && strcmp(e->d_name, "d") == 0)
            types = e->d_type == DT_DIR;
    ok(n == 10 && types, "readdir: 8 names and two dots (%d)", n);
    closedir(d);

    ok(statvfs(".", &sv) == 0 && sv.f_bsize > 0 && sv.f_namemax >= 255, "statvfs");
    struct timespec t[2] = {{.tv_sec = 1000}, {.tv_sec = 2000, .tv_nsec = 5000}};
    ok(utimensat(AT_FDCWD, "f", t, 0) == 0 && stat("f", &st) == 0 && st.st_mtim.tv_sec == 2000, "utimensat");
    struct timespec keep[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    ok(utimensat(AT_FDCWD, "f", keep, 0) == 0 && stat("f", &st) == 0 && st.st_mtim.tv_sec == 2000 &&
           st.st_atim.tv_sec > 1000000,
       "utimensat omits one time and sets the other to now");
    ok(utimensat(AT_FDCWD, "f", NULL, 0) == 0 && stat("f", &st) == 0 && st.st_mtim.tv_sec > 1000000, "utimensat: now");
    fd = open("f", O_WRONLY);
    ok(futimens(fd, t) == 0 && futimens(fd, keep) == 0 && fstat(fd, &st) == 0 && st.st_mtim.tv_sec == 2000, "futimens");
    close(fd);
    fails(fchownat(AT_FDCWD, "", -1, -1, 0), ENOENT);
    fails(chown("f/", -1, -1), ENOTDIR);
    symlink("nothing", "link");
    works(fchownat(AT_FDCWD, "link", getuid(), getgid(), AT_SYMLINK_NOFOLLOW));
    works(lchown("link", -1, -1));
    fails(chown("link", -1, -1), ENOENT);
    t[0].tv_nsec = 1000000000;
    fails(utimensat(AT_FDCWD, "f", t, 0), EINVAL);
    return done_testing();
}
