/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/str.h"
#include "types/errtab.h"

#define FIRST 3 /* SD_LISTEN_FDS_START */

/* A variable that is a number; 0 when it is none. */
static uint64_t number_of(const char *name)
{
    const char *text = getenv(name);
    uint64_t v;
    return text && str_u64(str_c(text), &v) == 0 ? v : 0;
}

int service_socket(struct err *err)
{
    uint64_t n = number_of("LISTEN_FDS");
    bool ours = n && number_of("LISTEN_PID") == (uint64_t)getpid();
    int listens = 0, type = 0;
    socklen_t len = sizeof(int);
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDNAMES");
    if (!ours)
        return -ENOENT;
    if (n != 1)
        return err_set(err, -EINVAL,
                       "%llu sockets were passed, and one is taken: have one ListenStream= in the socket unit",
                       (unsigned long long)n);
    if (getsockopt(FIRST, SOL_SOCKET, SO_TYPE, &type, &len) || type != SOCK_STREAM ||
        getsockopt(FIRST, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) || !listens)
        return err_set(err, -EINVAL,
                       "the descriptor that was passed is no socket that listens (ListenStream=, Accept=no)");
    if (fcntl(FIRST, F_SETFD, FD_CLOEXEC) || fcntl(FIRST, F_SETFL, O_NONBLOCK))
        return err_set(err, -errno, "the socket that was passed: %s", errtab_text(errno));
    return FIRST;
}

void service_tell(const char *text)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t n = path ? strlen(path) : 0;
    if (n < 2 || n >= sizeof(a.sun_path) || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(a.sun_path, path, n);
    if (path[0] == '@')
        a.sun_path[0] = 0;
    FD_AUTO int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    ssize_t sent = sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&a, len);
    (void)sent;
}

int64_t service_watchdog(void)
{
    uint64_t us = number_of("WATCHDOG_USEC"), pid = number_of("WATCHDOG_PID");
    if (pid && pid != (uint64_t)getpid())
        return 0;
    return us && us < INT64_MAX / 1000 ? (int64_t)us * 1000 / 2 : 0;
}
