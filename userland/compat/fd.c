/* SPDX-License-Identifier: Apache-2.0 */

/* Descriptors: pipe, dup, fcntl, locks, terminals. */
#include "host.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

int __real_fcntl(int fd, int cmd, ...);
int __real_ioctl(int fd, int request, ...);

int pipe2(int fds[2], int flags)
{
    return host_result(
        host_pipe(((flags & O_CLOEXEC) != 0 ? 1 : 0) | ((flags & O_NONBLOCK) != 0 ? 2 : 0), fds));
}

int pipe(int fds[2])
{
    return pipe2(fds, 0);
}

static int dup_from(int fd, int min, int flags)
{
    int got;

    return host_result(host_dup(fd, min, flags, &got)) < 0 ? -1 : got;
}

int dup(int fd)
{
    return dup_from(fd, 0, 0);
}

int dup2(int fd, int fd2)
{
    return host_result(host_dup2(fd, fd2, 0)) < 0 ? -1 : fd2;
}

int dup3(int fd, int fd2, int flags)
{
    if (fd == fd2)
        return host_result(EINVAL);
    return host_result(host_dup2(fd, fd2, (flags & O_CLOEXEC) != 0)) < 0 ? -1 : fd2;
}

int __wrap_fcntl(int fd, int cmd, ...)
{
    va_list ap;
    void *arg;
    int old;

    va_start(ap, cmd);
    arg = va_arg(ap, void *);
    va_end(ap);
    switch (cmd) {
    case F_DUPFD:
        return dup_from(fd, (int)(intptr_t)arg, 0);
    case F_DUPFD_CLOEXEC:
        return dup_from(fd, (int)(intptr_t)arg, 1);
    case F_GETFD:
        if (host_result(host_cloexec(fd, -1, &old)) < 0)
            return errno == ENOSYS ? 0 : -1;
        return old != 0 ? FD_CLOEXEC : 0;
    case F_SETFD:
        if (host_result(host_cloexec(fd, ((intptr_t)arg & FD_CLOEXEC) != 0, &old)) < 0)
            return errno == ENOSYS ? 0 : -1;
        return 0;
    case F_GETLK:
        ((struct flock *)arg)->l_type = F_UNLCK;
        return 0;
    case F_SETLK:
    case F_SETLKW:
        /* The programs of a session do not lock against each other; a lock is always free. */
        return 0;
    default:
        return __real_fcntl(fd, cmd, arg);
    }
}

int flock(int fd, int op)
{
    struct stat st;

    (void)op;
    return fstat(fd, &st);
}

int lockf(int fd, int cmd, off_t len)
{
    (void)len;
    if (cmd < F_ULOCK || cmd > F_TEST)
        return host_result(EINVAL);
    return flock(fd, 0);
}

void sync(void)
{
}

int syncfs(int fd)
{
    return flock(fd, 0);
}

/* --- terminals */

int isatty(int fd)
{
    return host_result(host_isatty(fd)) < 0 ? 0 : 1;
}

/* wasi-libc's stdio asks by this name whether to buffer lines. */
int __isatty(int fd)
{
    return isatty(fd);
}

int __wrap_ioctl(int fd, int request, ...)
{
    va_list ap;
    void *arg;

    va_start(ap, request);
    arg = va_arg(ap, void *);
    va_end(ap);
    if (request == TIOCGWINSZ) {
        unsigned size[2];

        if (host_result(host_tty_size(fd, size)) < 0)
            return -1;
        *(struct winsize *)arg = (struct winsize){.ws_row = (unsigned short)size[0], .ws_col = (unsigned short)size[1]};
        return 0;
    }
    return __real_ioctl(fd, request, arg);
}

/* What a terminal of Linux has when nobody has changed it. */
static const struct termios defaults = {
    .c_iflag = ICRNL | IXON,
    .c_oflag = OPOST | ONLCR,
    .c_cflag = B38400 | CS8 | CREAD,
    .c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
    .c_cc = {[VINTR] = 3, [VQUIT] = 28, [VERASE] = 127, [VKILL] = 21, [VEOF] = 4, [VMIN] = 1, [VSUSP] = 26},
    .c_ispeed = B38400,
    .c_ospeed = B38400,
};

int tcgetattr(int fd, struct termios *t)
{
    if (!isatty(fd))
        return host_result(ENOTTY);
    *t = defaults;
    return 0;
}

int tcsetattr(int fd, int when, const struct termios *t)
{
    (void)when;
    if (!isatty(fd))
        return host_result(ENOTTY);
    if (t->c_iflag != defaults.c_iflag || t->c_oflag != defaults.c_oflag || t->c_lflag != defaults.c_lflag)
        return host_result(ENOSYS);
    return 0;
}

static int on_tty(int fd)
{
    return isatty(fd) ? 0 : host_result(ENOTTY);
}

int tcflush(int fd, int queue)
{
    (void)queue;
    return on_tty(fd);
}

int tcdrain(int fd)
{
    return on_tty(fd);
}

int tcflow(int fd, int action)
{
    (void)action;
    return on_tty(fd);
}

int tcsendbreak(int fd, int duration)
{
    (void)duration;
    return on_tty(fd);
}

speed_t cfgetospeed(const struct termios *t)
{
    return t->c_ospeed;
}

speed_t cfgetispeed(const struct termios *t)
{
    return t->c_ispeed;
}

int cfsetospeed(struct termios *t, speed_t speed)
{
    t->c_ospeed = speed;
    return 0;
}

int cfsetispeed(struct termios *t, speed_t speed)
{
    t->c_ispeed = speed;
    return 0;
}

void cfmakeraw(struct termios *t)
{
    t->c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
    t->c_oflag &= ~(tcflag_t)OPOST;
    t->c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
    t->c_cflag = (t->c_cflag & ~(tcflag_t)(CSIZE | PARENB)) | CS8;
}

int ttyname_r(int fd, char *buf, size_t n)
{
    if (!isatty(fd))
        return ENOTTY;
    if (n < sizeof("/dev/tty"))
        return ERANGE;
    strcpy(buf, "/dev/tty");
    return 0;
}

char *ttyname(int fd)
{
    static char name[sizeof("/dev/tty")];
    int err = ttyname_r(fd, name, sizeof(name));

    return host_result(err) < 0 ? NULL : name;
}

char *ctermid(char *buf)
{
    static char name[L_ctermid];

    return strcpy(buf != NULL ? buf : name, "/dev/tty");
}
