/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* No network: every look-up fails with HOST_NOT_FOUND or EAI_FAIL. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

struct hostent {
    char *h_name;
    char **h_aliases;
    int h_addrtype;
    int h_length;
    char **h_addr_list;
};
#define h_addr h_addr_list[0]

struct servent {
    char *s_name;
    char **s_aliases;
    int s_port;
    char *s_proto;
};

struct protoent {
    char *p_name;
    char **p_aliases;
    int p_proto;
};

struct addrinfo {
    int ai_flags;
    int ai_family;
    int ai_socktype;
    int ai_protocol;
    socklen_t ai_addrlen;
    struct sockaddr *ai_addr;
    char *ai_canonname;
    struct addrinfo *ai_next;
};

#define HOST_NOT_FOUND 1
#define TRY_AGAIN 2
#define NO_RECOVERY 3
#define NO_DATA 4
#define AI_PASSIVE 1
#define AI_CANONNAME 2
#define AI_NUMERICHOST 4
#define AI_NUMERICSERV 0x400
#define AI_ADDRCONFIG 0x20
#define NI_NUMERICHOST 1
#define NI_NUMERICSERV 2
#define NI_NAMEREQD 8
#define NI_MAXHOST 255
#define NI_MAXSERV 32
#define EAI_AGAIN -3
#define EAI_FAIL -4
#define EAI_FAMILY -6
#define EAI_NONAME -2
#define EAI_SYSTEM -11
#define EAI_MEMORY -10
#define EAI_SERVICE -8

#ifdef __cplusplus
extern "C" {
#endif
extern int h_errno;
struct hostent *gethostbyname(const char *name);
struct hostent *gethostbyaddr(const void *addr, socklen_t n, int type);
struct servent *getservbyname(const char *name, const char *proto);
struct servent *getservbyport(int port, const char *proto);
struct protoent *getprotobyname(const char *name);
const char *hstrerror(int err);
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **ret);
void freeaddrinfo(struct addrinfo *ai);
const char *gai_strerror(int err);
int getnameinfo(const struct sockaddr *addr, socklen_t n, char *host, socklen_t host_n, char *serv, socklen_t serv_n,
                int flags);
#ifdef __cplusplus
}
#endif
