/* SPDX-License-Identifier: Apache-2.0 */

/*
 * http_load - one request over and over, on connections that stay open, and how long the answers took.
 *
 *   http_load [-c CONNECTIONS] [-r RATE] [-n REQUESTS] [-d SECONDS] [-m METHOD] [-H HEADER]... [-b BODY] ADDRESS PORT
 * TARGET
 *
 * With a rate the loop is open: request i is meant for the moment i / RATE, and its time counts from then, whether a
 * connection was free or not. So an answer that stalls is felt by all that should have been sent meanwhile (what Gil
 * Tene calls coordinated omission is not omitted). Without one each connection sends again when it was answered.
 *
 * Prints: requests=N errors=N seconds=S rate=R p50_us=… p99_us=… p999_us=… max_us=…; every answer but 2xx, and each
 * connection that breaks, is an error. Exit status: 0, 1 when there were errors, 2 for a wrong command line.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#define MAX_CONNECTIONS 20000
#define MAX_ANSWER (64u << 20)
#define FOREVER 1e6 /* seconds */

struct connection {
    int fd;
    bool busy;
    int64_t meant; /* when its request was meant to be sent */
    size_t sent;
    char head[4096]; /* what came of the answer's head */
    size_t n_head;
    uint64_t body_left;
    bool in_body;
};

struct load {
    uint32_t connections;
    double rate;
    uint64_t requests; /* to send at most */
    double seconds;
    struct sockaddr_in to;
    struct buf request;
    int epoll;
    struct connection *conn;
    uint32_t *idle, n_idle;
    uint64_t sent, answered, errors;
    uint32_t *us; /* of each answer */
    uint64_t cap;
    int64_t start;
};

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void connect_one(struct load *l, uint32_t i)
{
    struct connection *c = &l->conn[i];
    *c = (struct connection){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    int one = 1;
    if (c->fd < 0 || connect(c->fd, (const struct sockaddr *)&l->to, sizeof(l->to)) < 0)
        die("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u32 = i};
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &e) < 0)
        die("epoll_ctl");
    l->idle[l->n_idle++] = i;
}

/* An error of the request on it, if there is one; the connection is made anew. */
static void broken(struct load *l, uint32_t i)
{
    bool busy = l->conn[i].busy;
    l->errors += busy;
    l->answered += busy;
    close(l->conn[i].fd);
    connect_one(l, i);
    if (!busy)
        l->n_idle--; /* it is among them already */
}

static void push(struct load *l, uint32_t i)
{
    struct connection *c = &l->conn[i];
    while (c->busy && c->sent < l->request.n) {
        ssize_t n = send(c->fd, l->request.p + c->sent, l->request.n - c->sent, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            broken(l, i);
            return;
        }
        c->sent += (size_t)n;
    }
}

static void answered(struct load *l, uint32_t i)
{
    struct connection *c = &l->conn[i];
    int64_t us = (clock_mono() - c->meant) / 1000;
    if (l->answered - l->errors >= l->cap) {
        l->cap = l->cap ? l->cap * 2 : 1 << 16;
        l->us = mem_realloc(l->us, l->cap * sizeof(*l->us));
    }
    l->us[l->answered - l->errors] = us < 0 ? 0 : us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
    l->answered++;
    c->busy = c->in_body = false;
    c->n_head = 0;
    l->idle[l->n_idle++] = i;
}

/* Bytes of the head in c->head, which is whole: whether the answer is one that counts, and how long its body is. */
static bool read_head(struct connection *c)
{
    c->head[c->n_head - 1] = 0;
    if (strncmp(c->head, "HTTP/1.1 2", 10) != 0)
        return false;
    char *length = strcasestr(c->head, "\r\nContent-Length:");
    if (!length) {
        c->body_left = 0;
        return strncmp(c->head + 9, "204", 3) == 0;
    }
    c->body_left = strtoull(length + 17, NULL, 10);
    return c->body_left <= MAX_ANSWER;
}

/* Takes @n bytes at @p: 0 or -1. */
static int take(struct load *l, uint32_t i, const char *p, size_t n)
{
    struct connection *c = &l->conn[i];
    while (n > 0 || (c->in_body && c->body_left == 0)) {
        if (c->in_body) {
            size_t k = n < c->body_left ? n : (size_t)c->body_left;
            c->body_left -= k;
            p += k;
            n -= k;
            if (c->body_left)
                return 0;
            answered(l, i);
            continue;
        }
        if (!c->busy || c->n_head == sizeof(c->head))
            return -1;
        c->head[c->n_head++] = *p++;
        n--;
        if (c->n_head >= 4 && memcmp(c->head + c->n_head - 4, "\r\n\r\n", 4) == 0) {
            if (!read_head(c))
                return -1;
            c->in_body = true;
        }
    }
    return 0;
}

static void pull(struct load *l, uint32_t i)
{
    char block[65536];
    for (;;) {
        ssize_t n = recv(l->conn[i].fd, block, sizeof(block), 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0 || take(l, i, block, (size_t)n)) {
            broken(l, i);
            return;
        }
        if ((size_t)n < sizeof(block))
            return;
    }
}

/* Sends what is due: the moment of the next, or INT64_MAX. */
static int64_t send_due(struct load *l, bool more)
{
    while (more && l->n_idle && l->sent < l->requests) {
        int64_t now = clock_mono(), meant = now;
        if (l->rate > 0)
            meant = l->start + (int64_t)((double)l->sent / l->rate * 1e9);
        if (meant > now)
            return meant;
        uint32_t i = l->idle[--l->n_idle];
        l->sent++;
        l->conn[i].busy = true;
        l->conn[i].meant = meant;
        l->conn[i].sent = 0;
        push(l, i);
    }
    return INT64_MAX;
}

static void loop(struct load *l)
{
    struct epoll_event ev[256];
    l->start = clock_mono();
    int64_t end = l->start + (int64_t)(l->seconds * 1e9);
    for (;;) {
        bool more = clock_mono() < end;
        int64_t due = send_due(l, more), now = clock_mono();
        bool done = !more || l->sent >= l->requests;
        if (done && l->answered == l->sent)
            return;
        if (now > end + 30 * CLOCK_S) {
            l->errors += l->sent - l->answered;
            return;
        }
        int64_t wait = (due < end || !more ? due : end) - now;
        int ms = wait > 100 * CLOCK_MS ? 100 : (int)(wait / CLOCK_MS);
        int n = epoll_wait(l->epoll, ev, 256, ms);
        for (int k = 0; k < n; k++) {
            push(l, ev[k].data.u32);
            pull(l, ev[k].data.u32);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static uint32_t at(const struct load *l, uint64_t n, double share)
{
    return n ? l->us[(uint64_t)((double)(n - 1) * share)] : 0;
}

static int report(struct load *l)
{
    uint64_t good = l->answered - (l->errors < l->answered ? l->errors : l->answered);
    double s = (double)(clock_mono() - l->start) / 1e9;
    if (good)
        qsort(l->us, good, sizeof(*l->us), by_value);
    printf("requests=%llu errors=%llu seconds=%.3f rate=%.1f p50_us=%u p99_us=%u p999_us=%u max_us=%u\n",
           (unsigned long long)l->sent, (unsigned long long)l->errors, s, (double)good / s, at(l, good, 0.5),
           at(l, good, 0.99), at(l, good, 0.999), at(l, good, 1));
    return l->errors ? 1 : 0;
}

static int usage(void)
{
    fputs("usage: http_load [-c CONNECTIONS] [-r RATE] [-n REQUESTS] [-d SECONDS] [-m METHOD] [-H HEADER]... [-b BODY] "
          "ADDRESS PORT TARGET\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct load l = {
        .connections = 1, .requests = UINT64_MAX, .seconds = FOREVER, .epoll = epoll_create1(EPOLL_CLOEXEC)};
    const char *method = "GET", *body = NULL;
    BUF_AUTO struct buf headers;
    buf_init(&headers, 65536);
    int o;
    while ((o = getopt(argc, argv, "c:r:n:d:m:H:b:")) != -1) {
        if (o == 'c')
            l.connections = (uint32_t)strtoul(optarg, NULL, 10);
        else if (o == 'r')
            l.rate = strtod(optarg, NULL);
        else if (o == 'n')
            l.requests = strtoull(optarg, NULL, 10);
        else if (o == 'd')
            l.seconds = strtod(optarg, NULL);
        else if (o == 'm')
            method = optarg;
        else if (o == 'H')
            buf_addf(&headers, "%s\r\n", optarg);
        else if (o == 'b')
            body = optarg;
        else
            return usage();
    }
    bool endless = l.requests == UINT64_MAX && l.seconds >= FOREVER;
    if (argc - optind != 3 || l.connections == 0 || l.connections > MAX_CONNECTIONS || endless)
        return usage();
    l.to =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)strtoul(argv[optind + 1], NULL, 10))};
    if (inet_pton(AF_INET, argv[optind], &l.to.sin_addr) != 1)
        return usage();
    buf_init(&l.request, 64u << 20);
    buf_addf(&l.request, "%s %s HTTP/1.1\r\nHost: %s:%s\r\n%s", method, argv[optind + 2], argv[optind],
             argv[optind + 1], headers.p);
    if (body)
        buf_addf(&l.request, "Content-Length: %zu\r\n", strlen(body));
    buf_addf(&l.request, "\r\n%s", body ? body : "");
    l.conn = mem_zalloc(l.connections * sizeof(*l.conn));
    l.idle = mem_zalloc(l.connections * sizeof(*l.idle));
    for (uint32_t i = 0; i < l.connections; i++)
        connect_one(&l, i);
    loop(&l);
    int status = report(&l);
    for (uint32_t i = 0; i < l.connections; i++)
        close(l.conn[i].fd);
    close(l.epoll);
    buf_done(&l.request);
    mem_free(l.conn);
    mem_free(l.idle);
    mem_free(l.us);
    return status;
}
