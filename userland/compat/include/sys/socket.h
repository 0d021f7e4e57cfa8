/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Declared so that programs compile; socket() fails with EAFNOSUPPORT. */
#include_next <sys/socket.h>

#ifndef PF_UNSPEC
#define PF_UNSPEC AF_UNSPEC
#define PF_INET AF_INET
#define PF_INET6 AF_INET6
#define PF_UNIX AF_UNIX
#endif
#ifndef SO_KEEPALIVE
#define SO_REUSEADDR 2
#define SO_ERROR 4
#define SO_BROADCAST 6
#define SO_SNDBUF 7
#define SO_RCVBUF 8
#define SO_KEEPALIVE 9
#define SO_LINGER 13
#define SO_RCVTIMEO 20
#define SO_SNDTIMEO 21
#endif
#ifndef SOMAXCONN
#define SOMAXCONN 128
#endif

#ifdef __cplusplus
extern "C" {
#endif
int socket(int domain, int type, int protocol);
int socketpair(int domain, int type, int protocol, int fds[2]);
int connect(int fd, const struct sockaddr *addr, socklen_t n);
int bind(int fd, const struct sockaddr *addr, socklen_t n);
int listen(int fd, int backlog);
int setsockopt(int fd, int level, int name, const void *val, socklen_t n);
int getsockname(int fd, struct sockaddr *addr, socklen_t *n);
int getpeername(int fd, struct sockaddr *addr, socklen_t *n);
ssize_t sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *addr, socklen_t addr_n);
ssize_t recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *addr, socklen_t *addr_n);
#ifdef __cplusplus
}
#endif
