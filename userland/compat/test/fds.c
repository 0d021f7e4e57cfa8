/* SPDX-License-Identifier: Apache-2.0 */

/* Pipes, duplicates, descriptor flags, locks, what is a terminal. */
#include "tap.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>

int main(void)
{
    struct winsize ws;
    struct stat st;
    char buf[8];
    int p[2], fd, other;

    own_directory();
    works(pipe(p));
    ok(p[0] != p[1] && p[0] > 2, "two descriptors");
    ok(write(p[1], "hello", 5) == 5 && read(p[0], buf, sizeof(buf)) == 5 && memcmp(buf, "hello", 5) == 0, "through a pipe");
    ok(fstat(p[0], &st) == 0 && S_ISFIFO(st.st_mode), "fstat knows a pipe");
    ok(lseek(p[0], 0, SEEK_CUR) == -1 && errno == ESPIPE, "a pipe has no position");
    struct pollfd pf = {.fd = p[0], .events = POLLIN};
    ok(poll(&pf, 1, 0) == 0, "poll: nothing to read");
    (void)!write(p[1], "x", 1);
    ok(poll(&pf, 1, 1000) == 1 && (pf.revents & POLLIN) != 0, "poll: something to read");
    (void)!read(p[0], buf, 1);
    other = dup(p[1]);
    close(p[1]);
    ok(write(other, "y", 1) == 1 && read(p[0], buf, 1) == 1, "a duplicate keeps it open");
    close(other);
    ok(read(p[0], buf, 1) == 0, "end of file when all writers are gone");
    close(p[0]);

    works(pipe2(p, O_CLOEXEC | O_NONBLOCK));
    ok(fcntl(p[0], F_GETFD) == FD_CLOEXEC && fcntl(p[1], F_GETFD) == FD_CLOEXEC, "pipe2: close on exec");
    ok(read(p[0], buf, 1) == -1 && errno == EAGAIN, "pipe2: non-blocking");

    fd = open("f", O_RDWR | O_CREAT, 0600);
    ok(fcntl(fd, F_GETFD) == 0, "open: not close on exec");
    works(fcntl(fd, F_SETFD, FD_CLOEXEC));
    ok(fcntl(fd, F_GETFD) == FD_CLOEXEC, "F_SETFD");
    other = fcntl(fd, F_DUPFD, 20);
    ok(other >= 20 && fcntl(other, F_GETFD) == 0, "F_DUPFD: not below, without the flag");
    ok(write(fd, "ab", 2) == 2 && lseek(other, 0, SEEK_CUR) == 2, "duplicates share the position");
    ok(dup2(other, 30) == 30 && dup2(30, 30) == 30, "dup2");
    fails(dup2(99, 31), EBADF);
    fails(dup(99), EBADF);
    fails(dup3(fd, fd, 0), EINVAL);
    ok(dup3(fd, 31, O_CLOEXEC) == 31 && fcntl(31, F_GETFD) == FD_CLOEXEC, "dup3");
    other = open("f", O_RDONLY | O_CLOEXEC);
    ok(other >= 0 && fcntl(other, F_GETFD) == FD_CLOEXEC, "O_CLOEXEC");
    FILE *f = fopen("f", "re");
    ok(f != NULL && fcntl(fileno(f), F_GETFD) == FD_CLOEXEC, "fopen's e");
    ok((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR, "F_GETFL");
    fails(close(99), EBADF);

    struct flock lock = {.l_type = F_WRLCK};
    works(fcntl(fd, F_SETLK, &lock));
    ok(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK, "nobody else has a lock");
    works(flock(fd, LOCK_EX));
    fails(flock(99, LOCK_EX), EBADF);
    ok(!isatty(fd) && errno == ENOTTY, "a file is no terminal");
    fails(ioctl(fd, TIOCGWINSZ, &ws), ENOTTY);
    struct termios t;
    fails(tcgetattr(fd, &t), ENOTTY);
    return done_testing();
}
