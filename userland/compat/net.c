/* SPDX-License-Identifier: Apache-2.0 */

/* No network in this version of the host's imports: what would open a socket says so, what would look up finds nothing. */
#include "host.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>

int h_errno;

int socket(int domain, int type, int protocol)
{
    (void)domain, (void)type, (void)protocol;
    return host_result(EAFNOSUPPORT);
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
    (void)domain, (void)type, (void)protocol, (void)fds;
    return host_result(EAFNOSUPPORT);
}

/* The rest needs a socket first, so no descriptor is one. */
int connect(int fd, const struct sockaddr *addr, socklen_t n)
{
    (void)fd, (void)addr, (void)n;
    return host_result(ENOTSOCK);
}

int bind(int fd, const struct sockaddr *addr, socklen_t n)
{
    (void)fd, (void)addr, (void)n;
    return host_result(ENOTSOCK);
}

int listen(int fd, int backlog)
{
    (void)fd, (void)backlog;
    return host_result(ENOTSOCK);
}

int setsockopt(int fd, int level, int name, const void *val, socklen_t n)
{
    (void)fd, (void)level, (void)name, (void)val, (void)n;
    return host_result(ENOTSOCK);
}

int getsockname(int fd, struct sockaddr *addr, socklen_t *n)
{
    (void)fd, (void)addr, (void)n;
    return host_result(ENOTSOCK);
}

int getpeername(int fd, struct sockaddr *addr, socklen_t *n)
{
    (void)fd, (void)addr, (void)n;
    return host_result(ENOTSOCK);
}

ssize_t sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *addr, socklen_t addr_n)
{
    (void)fd, (void)buf, (void)n, (void)flags, (void)addr, (void)addr_n;
    return host_result(ENOTSOCK);
}

ssize_t recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *addr, socklen_t *addr_n)
{
    (void)fd, (void)buf, (void)n, (void)flags, (void)addr, (void)addr_n;
    return host_result(ENOTSOCK);
}

struct hostent *gethostbyname(const char *name)
{
    (void)name;
    h_errno = HOST_NOT_FOUND;
    return NULL;
}

struct hostent *gethostbyaddr(const void *addr, socklen_t n, int type)
{
    (void)addr, (void)n, (void)type;
    h_errno = HOST_NOT_FOUND;
    return NULL;
}

struct servent *getservbyname(const char *name, const char *proto)
{
    (void)name, (void)proto;
    return NULL;
}

struct servent *getservbyport(int port, const char *proto)
{
    (void)port, (void)proto;
    return NULL;
}

struct protoent *getprotobyname(const char *name)
{
    (void)name;
    return NULL;
}

const char *hstrerror(int err)
{
    (void)err;
    return "Unknown host";
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    (void)node, (void)service, (void)hints, (void)ret;
    return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *ai)
{
    (void)ai;
}

const char *gai_strerror(int err)
{
    (void)err;
    return "No network";
}

int getnameinfo(const struct sockaddr *addr, socklen_t n, char *host, socklen_t host_n, char *serv, socklen_t serv_n,
                int flags)
{
    (void)addr, (void)n, (void)host, (void)host_n, (void)serv, (void)serv_n, (void)flags;
    return EAI_FAIL;
}

/* These two only convert. */
char *inet_ntoa(struct in_addr addr)
{
    static char text[16];
    const unsigned char *b = (const unsigned char *)&addr;

    snprintf(text, sizeof(text), "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
    return text;
}

in_addr_t inet_addr(const char *text)
{
    struct in_addr addr;

    return inet_aton(text, &addr) != 0 ? addr.s_addr : (in_addr_t)-1;
}
