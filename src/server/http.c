/* SPDX-License-Identifier: Apache-2.0 */

/* Connections: libmicrohttpd in external-epoll mode, the loop, and the life of a request. */

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "server/idempotency.h"
#include "server/server_int.h"
#include "server/service.h"
#include "server/tls.h"
#include "server/token.h"

#define BACKLOG 1024
/* TLS 1.2 and 1.3 with forward secrecy (RFC 9325), as GnuTLS names them. */
#define TLS_PRIORITIES "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:%SERVER_PRECEDENCE"

/* ---- a request ---- */

static void request_free(struct request *r)
{
    if (r->state_free)
        r->state_free(r->state);
    idempotency_end(r);
    sched_watch_cancel(r->watch);
    sched_timer_cancel(r->sv->sched, r->timer);
    sched_exec_unref(r->exec);
    sched_unref(r->session);
    buf_done(&r->body);
    arena_done(&r->arena);
    mem_free(r);
}

static void log_access(const struct request *r, bool whole)
{
    char target[600];
    if (!r->sv->cfg->access_log)
        return;
    log_event(LOG_INFO, "request", "method=%s target=%s status=%u us=%lld tenant=%s%s", r->method,
              log_quote(target, sizeof(target), r->target), r->status,
              (long long)((clock_mono() - r->began) / CLOCK_US), r->tenant ? sched_tenant_name(r->tenant) : "-",
              whole ? "" : " cut=true");
}

static void completed(void *cls, struct MHD_Connection *c, void **con_cls, enum MHD_RequestTerminationCode how)
{
    struct request *r = *con_cls;
    (void)cls, (void)c;
    if (!r)
        return;
    r->sv->n_requests--;
    *r->at = r->next;
    if (r->next)
        r->next->at = r->at;
    if (r->status >= 100 && r->status < 600)
        r->sv->answered[r->status / 100]++;
    log_access(r, how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    request_free(r);
    *con_cls = NULL;
}

/* What is announced is refused before it comes. */
static bool check_length(struct request *r)
{
    const char *text = request_header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t n, max = r->route->piece ? LIMIT_UPLOAD : r->route->body_max;
    if (!text || str_u64(str_c(text), &n) || n <= max)
        return true;
    request_fail(r, API_TOO_LARGE, NULL, "the body has %llu bytes, and at most %llu are taken", (unsigned long long)n,
                 (unsigned long long)max);
    return false;
}

static enum MHD_Result send_response(struct request *r)
{
    struct MHD_Response *resp = r->response;
    enum MHD_Result ok = MHD_queue_response(r->c, r->status, resp);
    MHD_destroy_response(resp);
    return ok;
}

static void take_piece(struct request *r, const char *p, size_t *n)
{
    if (r->route->piece) {
        size_t took = r->response ? *n : r->route->piece(r, str_of(p, *n));
        *n -= took;
        if (*n) {
            r->suspended = true;
            MHD_suspend_connection(r->c);
        }
        return;
    }
    if (!r->too_large && buf_add(&r->body, p, *n))
        r->too_large = true; /* the rest is read and dropped: only then can it be answered */
    *n = 0;
}

static enum MHD_Result dispatch(struct request *r)
{
    if (!r->dispatched) {
        r->dispatched = true;
        if (r->too_large)
            request_fail(r, API_TOO_LARGE, NULL, "the body is over %zu bytes", r->body.max);
        else if (!r->response)
            r->route->handle(r);
    }
    if (r->response)
        return send_response(r);
    r->suspended = true;
    MHD_suspend_connection(r->c);
    return MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                                  const char *version, const char *data, size_t *n, void **con_cls)
{
    struct request *r = *con_cls;
    if (r) {
        r->c = c;
        if (*n == 0)
            return dispatch(r);
        take_piece(r, data, n);
        return MHD_YES;
    }
    r = mem_zalloc(sizeof(*r));
    *con_cls = r;
    r->sv = cls;
    r->c = c;
    r->sv->n_requests++;
    r->next = r->sv->requests;
    r->at = &r->sv->requests;
    if (r->next)
        r->next->at = &r->next;
    r->sv->requests = r;
    r->began = clock_mono();
    r->http11 = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
    r->method = arena_str(&r->arena, str_c(method)).p;
    r->target = arena_str(&r->arena, str_c(url));
    if (!request_route(r, url) || !auth_check(r) || !auth_allows(r, r->route->cap) || !check_length(r)) {
        r->dispatched = true;
        return send_response(r);
    }
    buf_init(&r->body, r->route->body_max);
    return MHD_YES;
}

static size_t leave_escaped(void *cls, struct MHD_Connection *c, char *s)
{
    (void)cls, (void)c;
    return strlen(s); /* request.c decodes, after the path was taken apart */
}

/* ---- listening ---- */

static int listen_unix(struct server *sv, const char *path, struct err *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct stat st;
    if (strlen(path) >= sizeof(a.sun_path))
        return err_set(err, -ENAMETOOLONG, "the path of a Unix socket has at most %zu bytes", sizeof(a.sun_path) - 1);
    memcpy(a.sun_path, path, strlen(path));
    sv->is_unix = true;
    sv->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sv->listen_fd < 0)
        return err_set(err, -errno, "socket: %s", errtab_text(errno));
    /* What a server before has left: one that answers is not ours to take. */
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode)) {
        FD_AUTO int try = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(try, (struct sockaddr *)&a, sizeof(a)) == 0)
            return err_set(err, -EADDRINUSE, "a server listens on '%s' already", path);
        (void)unlink(path);
    }
    mode_t before = umask(0077);
    int r = bind(sv->listen_fd, (struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
    (void)umask(before);
    if (r)
        return err_set(err, r, "'%s': %s", path, errtab_text(r));
    sv->made_path = true;
    snprintf(sv->address, sizeof(sv->address), "unix:%s", path);
    return 0;
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)a;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)a;
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static int check_reach(const struct server *sv, const struct sockaddr *a, const char *spec, struct err *err)
{
    if (sv->has_keys || is_loopback(a))
        return 0;
    return err_set(err, -EPERM,
                   "'%s' can be reached from other machines, and there are no keys: make one (frontal-sandbox "
                   "keys create), or listen on 127.0.0.1 or a Unix socket",
                   spec);
}

/* Of the listening socket, as a URL. */
static void name_tcp(struct server *sv)
{
    struct sockaddr_storage got;
    socklen_t n = sizeof(got);
    char host[64] = "", port[16] = "";
    if (getsockname(sv->listen_fd, (struct sockaddr *)&got, &n) == 0)
        (void)getnameinfo((struct sockaddr *)&got, n, host, sizeof(host), port, sizeof(port),
                          NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(sv->address, sizeof(sv->address), strchr(host, ':') ? "%s://[%s]:%s" : "%s://%s:%s",
             sv->cfg->tls_cert ? "https" : "http", host, port);
}

static int bind_tcp(struct server *sv, const struct addrinfo *ai, const char *spec, struct err *err)
{
    int one = 1, r = check_reach(sv, ai->ai_addr, spec, err);
    if (r)
        return r;
    sv->listen_fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sv->listen_fd < 0)
        return err_set(err, -errno, "socket: %s", errtab_text(errno));
    (void)setsockopt(sv->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(sv->listen_fd, ai->ai_addr, ai->ai_addrlen))
        return err_set(err, -errno, "cannot listen on '%s': %s", spec, errtab_text(errno));
    name_tcp(sv);
    return 0;
}

/* A socket that the service manager listens on. Its file and mode are the manager's. */
static int take_socket(struct server *sv, int fd, struct err *err)
{
    union {
        struct sockaddr a;
        struct sockaddr_un un;
        struct sockaddr_storage all;
    } u = {.all = {0}};
    socklen_t n = sizeof(u);
    sv->listen_fd = fd;
    if (sv->cfg->listen)
        return err_set(err, -EINVAL, "a socket was passed, and --listen '%s' is given: one of them", sv->cfg->listen);
    if (getsockname(fd, &u.a, &n))
        return err_set(err, -errno, "the socket that was passed: %s", errtab_text(errno));
    if (u.a.sa_family != AF_UNIX) {
        name_tcp(sv);
        return check_reach(sv, &u.a, sv->address, err);
    }
    sv->is_unix = true;
    snprintf(sv->address, sizeof(sv->address), "unix:%s", u.un.sun_path);
    return 0;
}

static int listen_tcp(struct server *sv, const char *spec, struct err *err)
{
    const char *colon = strrchr(spec, ':');
    struct str host = str_of(spec, colon ? (size_t)(colon - spec) : 0);
    uint64_t port;
    if (!colon || host.n == 0 || str_u64(str_c(colon + 1), &port) || port > 65535)
        return err_set(err, -EINVAL, "'%s' is not ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH", spec);
    if (host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = str_of(host.p + 1, host.n - 2);
    MEM_AUTO char *name = mem_dup(host.p, host.n);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *ai;
    int e = getaddrinfo(name, colon + 1, &hints, &ai);
    if (e)
        return err_set(err, -EADDRNOTAVAIL, "'%s': %s", spec, gai_strerror(e));
    e = bind_tcp(sv, ai, spec, err);
    freeaddrinfo(ai);
    return e;
}

static int start_listening(struct server *sv, struct err *err)
{
    const char *spec = sv->cfg->listen ? sv->cfg->listen : "127.0.0.1:7070";
    int r = service_socket(err);
    if (r != -ENOENT)
        return r < 0 ? r : take_socket(sv, r, err);
    r = strncmp(spec, "unix:", 5) == 0 ? listen_unix(sv, spec + 5, err) : listen_tcp(sv, spec, err);
    if (r == 0 && listen(sv->listen_fd, BACKLOG))
        r = err_set(err, -errno, "cannot listen on '%s': %s", spec, errtab_text(errno));
    return r;
}

/* ---- the loop ---- */

int server_poll(struct server *sv, int fd, struct server_source *src, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = src};
    return epoll_ctl(sv->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

void server_poll_change(struct server *sv, int fd, struct server_source *src, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = src};
    (void)epoll_ctl(sv->epoll, EPOLL_CTL_MOD, fd, &e); /* a descriptor that is in the set cannot fail */
}

void server_poll_end(struct server *sv, int fd)
{
    (void)epoll_ctl(sv->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL))
        return -errno;
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

static int start_daemon(struct server *sv, struct err *err)
{
    uint32_t n = sv->cfg->connections ? sv->cfg->connections : LIMIT_CONNECTIONS;
    const struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_CERT_CALLBACK, 0, tls_callback()},
                                         {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
                                         {MHD_OPTION_END, 0, NULL}};
    const bool secure = sv->cfg->tls_cert != NULL;
    const unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | (secure ? MHD_USE_TLS : 0);
    sv->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, sv, MHD_OPTION_LISTEN_SOCKET, sv->listen_fd, MHD_OPTION_NOTIFY_COMPLETED,
        completed, NULL, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)n, MHD_OPTION_CONNECTION_TIMEOUT, LIMIT_IDLE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)LIMIT_HEADERS, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_ARRAY, secure ? tls : &tls[2], MHD_OPTION_END);
    if (!sv->daemon)
        return err_set(err, -ENOMEM, "libmicrohttpd cannot be started");
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(sv->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return err_set(err, -ENOTSUP, "libmicrohttpd was built without epoll");
    sv->connections = info->epoll_fd;
    sv->epoll = epoll_create1(EPOLL_CLOEXEC);
    int r = sv->epoll < 0 ? -errno : server_poll(sv, sv->signals, &sv->signal_source, EPOLLIN);
    return r ? err_set(err, r, "epoll: %s", errtab_text(r)) : 0;
}

/* What is wrong with the new files is told, and those before stay in use. */
static void reload(struct server *sv)
{
    struct err err = {0};
    char text[600];
    snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)(clock_mono() / CLOCK_US));
    service_tell(text);
    int r = sv->cfg->tls_cert ? tls_load(sv->cfg->tls_cert, sv->cfg->tls_key, &err) : 0;
    if (r)
        log_event(LOG_ERROR, "reload", "error=%s", log_quote(text, sizeof(text), str_c(err.text)));
    else
        log_event(LOG_INFO, "reload", "certificate=%s", sv->cfg->tls_cert ? "new" : "none");
    service_tell("READY=1");
}

static void take_signals(void *arg, uint32_t events)
{
    struct server *sv = arg;
    struct signalfd_siginfo si;
    (void)events;
    while (read(sv->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
        if (si.ssi_signo == SIGHUP) {
            reload(sv);
            continue;
        }
        sv->quit = sv->draining;
        if (sv->draining)
            continue;
        sv->draining = true;
        sv->drain_until = clock_mono() + (int64_t)sv->cfg->drain_ms * CLOCK_MS;
        log_event(LOG_INFO, "drain", "requests=%u ms=%u", sv->n_requests, sv->cfg->drain_ms);
        int fd = MHD_quiesce_daemon(sv->daemon);
        fd_close(&fd);
        sv->listen_fd = -1;
        service_tell("STOPPING=1");
        sched_drain(sv->sched);
    }
}

static int wait_ms(const struct server *sv)
{
    int64_t until = sched_deadline(sv->sched), now = clock_mono();
    MHD_UNSIGNED_LONG_LONG mhd;
    if (sv->draining)
        until = NUM_MIN(until, now + 20 * CLOCK_MS);
    if (sv->watchdog)
        until = NUM_MIN(until, sv->tell_next);
    int64_t ms = until == INT64_MAX ? 60000 : until <= now ? 0 : NUM_MIN((until - now) / CLOCK_MS + 1, 60000);
    if (MHD_get_timeout(sv->daemon, &mhd) == MHD_YES && mhd < (uint64_t)ms)
        ms = (int64_t)mhd;
    return (int)ms;
}

static bool is_done(const struct server *sv)
{
    if (!sv->draining)
        return false;
    return sv->quit || clock_mono() >= sv->drain_until || (sv->n_requests == 0 && !sched_busy(sv->sched));
}

/* The manager hears from the loop itself, so that one that stands still is noticed. */
static void tell_watchdog(struct server *sv)
{
    int64_t now = sv->watchdog ? clock_mono() : 0;
    if (!sv->watchdog || now < sv->tell_next)
        return;
    service_tell("WATCHDOG=1");
    sv->tell_next = now + sv->watchdog;
}

#define RUNS 4 /* of libmicrohttpd in a row, then the others are looked at */

/* After a request was read or answered, libmicrohttpd wants to look at its connection once more at once. */
static void run_connections(struct server *sv)
{
    MHD_UNSIGNED_LONG_LONG ms;
    for (int i = 0; i < RUNS; i++) {
        sv->resumed = false;
        (void)MHD_run(sv->daemon);
        if (!sv->resumed && (MHD_get_timeout(sv->daemon, &ms) != MHD_YES || ms > 0))
            break;
    }
}

/* What is polled is freed within MHD_run() only, so that an event cannot be of something that is gone. */
static void turn_sources(struct server *sv)
{
    struct epoll_event ev[64];
    int n = epoll_wait(sv->epoll, ev, 64, 0);
    for (int i = 0; i < n; i++) {
        const struct server_source *src = ev[i].data.ptr;
        src->ready(src->arg, ev[i].events);
    }
}

/* The scheduler and libmicrohttpd have an epoll set each, and signals and WebSockets a third. They are polled, not put
 * into a fourth one: a set within a set is not always woken (seen with Linux 6.18, when an eventfd of the inner set is
 * written by another thread). Each is turned to when it has something, or when a time has come; the scheduler first, so
 * that what it has answered is sent in the same round. */
static void serve(struct server *sv)
{
    struct pollfd p[] = {{sched_fd(sv->sched), POLLIN, 0}, {sv->connections, POLLIN, 0}, {sv->epoll, POLLIN, 0}};
    while (!is_done(sv)) {
        int n = poll(p, 3, sv->resumed ? 0 : wait_ms(sv));
        if (n > 0 && p[2].revents)
            turn_sources(sv);
        if (n <= 0 || p[0].revents || sched_deadline(sv->sched) <= clock_mono())
            sched_turn(sv->sched);
        if (n <= 0 || p[1].revents || sv->resumed)
            run_connections(sv);
        tell_watchdog(sv);
    }
}

/* What is still waited for will not come: everybody is told, and no connection stays suspended. */
static void abandon(struct server *sv)
{
    sv->abandoned = true;
    for (struct request *r = sv->requests; r; r = r->next) {
        if (r->attached)
            h_attach_abandon(r);
        else if (r->suspended && !r->response && !r->streaming)
            request_fail(r, API_UNAVAILABLE, NULL, "the server is shutting down");
        else
            request_go_on(r);
    }
    for (int i = 0; i < 8 && sv->requests; i++)
        (void)MHD_run(sv->daemon);
}

int server_run(const struct server_config *cfg, struct sched *sched, void (*listening)(const char *address),
               struct err *err)
{
    struct server sv = {.cfg = cfg, .sched = sched, .listen_fd = -1, .epoll = -1, .signals = -1};
    sv.signal_source = (struct server_source){take_signals, &sv};
    int r = auth_look(&sv);
    r = r ? r : token_open(&sv);
    r = r ? err_set(err, r, "the files of keys and tokens: %s", errtab_text(r)) : 0;
    if (r == 0 && cfg->tls_cert)
        r = tls_load(cfg->tls_cert, cfg->tls_key, err);
    if (r == 0)
        r = start_listening(&sv, err);
    if (r == 0) {
        sv.signals = open_signals();
        r = sv.signals < 0 ? err_set(err, sv.signals, "cannot watch signals: %s", errtab_text(sv.signals)) : 0;
    }
    if (r == 0)
        r = start_daemon(&sv, err);
    if (r == 0) {
        listening(sv.address);
        sv.watchdog = service_watchdog();
        service_tell("READY=1");
        serve(&sv);
    }
    if (sv.daemon) {
        abandon(&sv);
        MHD_stop_daemon(sv.daemon);
    }
    tls_free();
    idempotency_free(&sv);
    auth_free(&sv);
    token_close(&sv);
    if (sv.made_path)
        (void)unlink(sv.address + 5);
    fd_close(&sv.epoll);
    fd_close(&sv.signals);
    if (!sv.daemon)
        fd_close(&sv.listen_fd);
    return r;
}
