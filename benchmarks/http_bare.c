/* SPDX-License-Identifier: Apache-2.0 */

/*
 * http_bare - the least that a server with libmicrohttpd can do: reads a request whole, and answers with 200 and a JSON
 * body of so many bytes. The peer of the HTTP benchmarks, on the same kind of loop as ours (one thread, epoll of its
 * own, driven from outside).
 *
 *   http_bare BYTES     prints the port it listens on, and serves until it is killed or its standard input ends
 */

#include <arpa/inet.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char *answer;
static size_t answer_n;

static enum MHD_Result handle(void *arg, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *n, void **state)
{
    static int seen;
    (void)arg, (void)url, (void)method, (void)version, (void)data;
    if (!*state) {
        *state = &seen;
        return MHD_YES;
    }
    if (*n) {
        *n = 0;
        return MHD_YES;
    }
    struct MHD_Response *r = MHD_create_response_from_buffer(answer_n, answer, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(r, "Content-Type", "application/json");
    enum MHD_Result ok = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: http_bare BYTES\n", stderr);
        return 2;
    }
    answer_n = strtoul(argv[1], NULL, 10);
    answer = malloc(answer_n + 1);
    if (!answer)
        return 2;
    memset(answer, 'x', answer_n);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t len = sizeof(to);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&to, sizeof(to)) || listen(fd, 1024) ||
        getsockname(fd, (struct sockaddr *)&to, &len)) {
        perror("http_bare");
        return 2;
    }
    struct MHD_Daemon *d = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
                                            MHD_OPTION_CONNECTION_LIMIT, 20000u, MHD_OPTION_END);
    if (!d) {
        fputs("http_bare: cannot start\n", stderr);
        return 2;
    }
    printf("%u\n", ntohs(to.sin_port));
    fflush(stdout);
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(d, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd p[2] = {{.fd = info->epoll_fd, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    for (;;) {
        char c;
        (void)poll(p, 2, -1);
        if ((p[1].revents & (POLLIN | POLLHUP)) && read(0, &c, 1) <= 0)
            break;
        MHD_run(d);
    }
    MHD_stop_daemon(d);
    free(answer);
    return 0;
}
