/* SPDX-License-Identifier: Apache-2.0 */

/* Requests over libcurl's multi interface, their errors, and their repetition. */

#include "client/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "types/errtab.h"
#include "wire/json_read.h"

#define PAUSE_FIRST_MS 100
#define PAUSE_MOST_MS 3000
#define POLLED_MOST 4
#define ERROR_BODY_MAX (64u << 10)

struct client {
    CURLM *multi;
    char *given;  /* the URL as it was given */
    char *base;   /* scheme://host:port and what stands in front of /v1 */
    char *host;   /* of base: host:port */
    char *prefix; /* of base: "" or "/…" */
    char *unix_path, *bearer, *ca;
    bool local; /* a socket of this machine: no proxy is asked */
    struct client_op *ops;
};

struct client_op {
    struct client_op *next, **at;
    struct client *c;
    struct client_request q;
    CURL *easy;
    struct curl_slist *headers;
    struct client_answer answer;
    char why[CURL_ERROR_SIZE];
    char *url;
    bool done, gave; /* gave: a piece has gone to its taker */
    CURLcode code;
    int taker;            /* the error of q.piece */
    int64_t begun, again; /* again: when it is begun anew, or 0 */
    int64_t pause;
};

/* ---- the server ---- */

static bool is_local(const char *host)
{
    return strncmp(host, "localhost", 9) == 0 || strncmp(host, "127.", 4) == 0 || strncmp(host, "[::1]", 5) == 0;
}

static int parse_url(struct client *c, const char *url, struct err *err)
{
    const char *rest = strstr(url, "://");
    const char *scheme = rest ? url : "http";
    size_t n = rest ? (size_t)(rest - url) : 4;
    rest = rest ? rest + 3 : url;
    if (strncmp(url, "unix:", 5) == 0) {
        if (url[5] == 0)
            return err_set(err, -EINVAL, "'%s' names no socket: unix:PATH", url);
        c->unix_path = mem_dup(url + 5, strlen(url + 5));
        rest = "localhost";
        scheme = "http";
        n = 4;
    } else if (!(n == 4 && strncmp(scheme, "http", 4) == 0) && !(n == 5 && strncmp(scheme, "https", 5) == 0)) {
        return err_set(err, -EINVAL, "'%s' is no URL of a server: http://HOST:PORT, https://HOST:PORT or unix:PATH",
                       url);
    }
    size_t host = strcspn(rest, "/");
    size_t path = strlen(rest + host);
    while (path && rest[host + path - 1] == '/')
        path--;
    if (host == 0 || strcspn(rest, "@?# \t\r\n") != strlen(rest))
        return err_set(err, -EINVAL, "'%s' is no URL of a server: http://HOST:PORT, https://HOST:PORT or unix:PATH",
                       url);
    c->host = mem_dup(rest, host);
    c->prefix = mem_dup(rest + host, path);
    size_t all = n + 3 + host + path + 1;
    c->base = mem_alloc(all);
    snprintf(c->base, all, "%.*s://%s%s", (int)n, scheme, c->host, c->prefix);
    c->local = c->unix_path || is_local(c->host);
    return 0;
}

int client_new(const struct client_config *cfg, struct client **ret, struct err *err)
{
    struct client *c = mem_zalloc(sizeof(*c));
    int r = parse_url(c, cfg->url, err);
    if (r == 0 && curl_global_init(CURL_GLOBAL_DEFAULT))
        r = err_set(err, -ENOMEM, "libcurl cannot be started");
    if (r == 0 && !(c->multi = curl_multi_init()))
        r = err_set(err, -ENOMEM, "libcurl cannot be started");
    if (r) {
        client_free(c);
        return r;
    }
    c->given = mem_dup(cfg->url, strlen(cfg->url));
    if (cfg->ca)
        c->ca = mem_dup(cfg->ca, strlen(cfg->ca));
    if (cfg->key && *cfg->key) {
        size_t n = strlen(cfg->key) + sizeof("Bearer ");
        c->bearer = mem_alloc(n);
        snprintf(c->bearer, n, "Bearer %s", cfg->key);
    }
    *ret = c;
    return 0;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    if (c->multi)
        (void)curl_multi_cleanup(c->multi);
    mem_free(c->given);
    mem_free(c->base);
    mem_free(c->host);
    mem_free(c->prefix);
    mem_free(c->unix_path);
    mem_free(c->bearer);
    mem_free(c->ca);
    mem_free(c);
}

const char *client_url(const struct client *c)
{
    return c->given;
}

const char *client_ca(const struct client *c)
{
    return c->ca;
}

const char *client_host(const struct client *c)
{
    return c->host;
}

const char *client_prefix(const struct client *c)
{
    return c->prefix;
}

const char *client_authorization(const struct client *c)
{
    return c->bearer;
}

/* ---- one try ---- */

static size_t take(char *p, size_t size, size_t n, void *arg)
{
    struct client_op *op = arg;
    long status = 0;
    n *= size;
    (void)curl_easy_getinfo(op->easy, CURLINFO_RESPONSE_CODE, &status);
    if (op->q.piece && status >= 200 && status < 300) {
        op->gave = true;
        op->taker = op->q.piece(op->q.arg, str_of(p, n));
        return op->taker ? CURL_WRITEFUNC_ERROR : n;
    }
    return buf_add(&op->answer.body, p, n) ? CURL_WRITEFUNC_ERROR : n;
}

static size_t give(char *p, size_t size, size_t n, void *arg)
{
    struct client_op *op = arg;
    ssize_t got;
    do
        got = read(op->q.upload, p, size * n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

static void add_header(struct client_op *op, const char *name, const char *value)
{
    size_t n = strlen(name) + strlen(value) + 3;
    MEM_AUTO char *line = mem_alloc(n);
    snprintf(line, n, "%s: %s", name, value);
    struct curl_slist *l = curl_slist_append(op->headers, line);
    op->headers = l ? l : op->headers;
}

static void set_common(CURL *e, const struct client *c)
{
    /* libcurl copies texts. What an option of a version that this was built against can fail for is memory, and then
     * the request fails in its turn. */
    (void)curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
    (void)curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    if (c->unix_path)
        (void)curl_easy_setopt(e, CURLOPT_UNIX_SOCKET_PATH, c->unix_path);
    if (c->local)
        (void)curl_easy_setopt(e, CURLOPT_PROXY, "");
    if (c->ca)
        (void)curl_easy_setopt(e, CURLOPT_CAINFO, c->ca);
}

static void set_body(struct client_op *op)
{
    const struct client_request *q = &op->q;
    CURL *e = op->easy;
    if (q->uploads) {
        (void)curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
        (void)curl_easy_setopt(e, CURLOPT_READFUNCTION, give);
        (void)curl_easy_setopt(e, CURLOPT_READDATA, op);
        (void)curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->upload_size);
    } else if (q->body.p || strcmp(q->method, "POST") == 0) {
        (void)curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
        (void)curl_easy_setopt(e, CURLOPT_POSTFIELDS, q->body.p ? q->body.p : "");
        add_header(op, "Content-Type", q->type ? q->type : "application/json");
    }
    add_header(op, "Expect", "");
}

static void start(struct client_op *op)
{
    CURL *e = curl_easy_init();
    op->again = 0;
    op->code = CURLE_OUT_OF_MEMORY;
    op->done = !e;
    op->why[0] = 0;
    buf_clear(&op->answer.body);
    op->easy = e;
    if (!e)
        return;
    set_common(e, op->c);
    (void)curl_easy_setopt(e, CURLOPT_URL, op->url);
    (void)curl_easy_setopt(e, CURLOPT_ERRORBUFFER, op->why);
    (void)curl_easy_setopt(e, CURLOPT_PRIVATE, op);
    (void)curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take);
    (void)curl_easy_setopt(e, CURLOPT_WRITEDATA, op);
    set_body(op);
    (void)curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, op->q.method);
    if (strcmp(op->q.method, "HEAD") == 0)
        (void)curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
    if (op->c->bearer)
        add_header(op, "Authorization", op->c->bearer);
    if (op->q.accept)
        add_header(op, "Accept", op->q.accept);
    if (op->q.header) {
        struct curl_slist *l = curl_slist_append(op->headers, op->q.header);
        op->headers = l ? l : op->headers;
    }
    (void)curl_easy_setopt(e, CURLOPT_HTTPHEADER, op->headers);
    if (curl_multi_add_handle(op->c->multi, e))
        op->done = true;
}

static void stop(struct client_op *op)
{
    if (op->easy) {
        (void)curl_multi_remove_handle(op->c->multi, op->easy);
        curl_easy_cleanup(op->easy);
        curl_slist_free_all(op->headers);
    }
    op->easy = NULL;
    op->headers = NULL;
}

/* ---- requests ---- */

struct client_op *client_begin(struct client *c, const struct client_request *q)
{
    struct client_op *op = mem_zalloc(sizeof(*op));
    op->c = c;
    op->q = *q;
    op->begun = clock_mono();
    op->pause = PAUSE_FIRST_MS;
    buf_init(&op->answer.body, CLIENT_ANSWER_MAX);
    size_t n = strlen(c->base) + strlen(q->path) + 1;
    op->url = mem_alloc(n);
    snprintf(op->url, n, "%s%s", c->base, q->path);
    op->next = c->ops;
    op->at = &c->ops;
    if (op->next)
        op->next->at = &op->next;
    c->ops = op;
    start(op);
    return op;
}

/* Whether it is worth another try: the network's fault, or the server said later. */
static bool is_passing(const struct client_op *op)
{
    switch ((int)op->code) {
    case CURLE_OK:
        return op->answer.status == 429 || op->answer.status == 503;
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
        return true;
    default:
        return false;
    }
}

static void ended(struct client_op *op, CURLcode code)
{
    long status = 0;
    curl_off_t after = 0;
    int64_t now = clock_mono();
    op->code = code;
    (void)curl_easy_getinfo(op->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(op->easy, CURLINFO_RETRY_AFTER, &after);
    op->answer.status = (unsigned)status;
    /* Nobody listens there: that is told at once, unless a server was there before. */
    bool refused = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
    bool again = op->q.repeat && !op->gave && is_passing(op) && !(refused && op->pause == PAUSE_FIRST_MS) &&
                 now - op->begun < CLIENT_PATIENCE_MS * CLOCK_MS;
    if (!again) {
        op->done = true;
        return;
    }
    op->again = now + NUM_MAX(op->pause, NUM_MIN(after * 1000, PAUSE_MOST_MS)) * CLOCK_MS;
    op->pause = NUM_MIN(op->pause * 2, PAUSE_MOST_MS);
    stop(op);
}

static void collect(struct client *c)
{
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(c->multi, &left)) != NULL) {
        struct client_op *op = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode code = m->data.result;
        (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &op);
        if (op)
            ended(op, code);
    }
}

void client_turn(struct client *c, struct pollfd *fds, size_t n, int timeout_ms)
{
    struct curl_waitfd extra[POLLED_MOST];
    int64_t now = clock_mono(), ms = timeout_ms < 0 ? 60000 : timeout_ms;
    int running = 0;
    n = NUM_MIN(n, (size_t)POLLED_MOST);
    for (struct client_op *op = c->ops; op; op = op->next) {
        if (op->again && op->again <= now)
            start(op);
        if (op->again)
            ms = NUM_MIN(ms, (op->again - now) / CLOCK_MS + 1);
        else if (op->done)
            ms = 0;
    }
    for (size_t i = 0; i < n; i++)
        extra[i] = (struct curl_waitfd){fds[i].fd, fds[i].events & POLLIN ? CURL_WAIT_POLLIN : 0, 0};
    (void)curl_multi_perform(c->multi, &running);
    collect(c);
    for (struct client_op *op = c->ops; op; op = op->next) {
        if (op->done)
            ms = 0;
    }
    /* The answer to a failed wait is the next turn's. */
    (void)curl_multi_poll(c->multi, extra, (unsigned)n, (int)ms, NULL);
    for (size_t i = 0; i < n; i++)
        fds[i].revents = 0;
    if (n)
        (void)poll(fds, n, 0); /* libcurl tells an end of file (POLLHUP) from nothing for its own sockets only */
    (void)curl_multi_perform(c->multi, &running);
    collect(c);
}

bool client_done(const struct client_op *op)
{
    return op->done;
}

/* ---- errors ---- */

static const struct {
    const char *code, *remedy;
    int error;
} codes[] = {
    {"invalid_argument", "", -EINVAL},
    {"unauthenticated", "set FRONTAL_SANDBOX_KEY to a key of the server (frontal-sandbox keys create, on its machine)",
     -EACCES},
    {"permission_denied", "", -EPERM},
    {"not_found", "", -ENOENT},
    {"conflict", "", -EBUSY},
    {"too_large", "", -EFBIG},
    {"limit_exceeded", "try again later", -EAGAIN},
    {"unsupported", "", -EOPNOTSUPP},
    {"internal", "the server's log has more", -EIO},
    {"unavailable", "try again later", -EAGAIN},
};

int client_refusal(const struct client *c, unsigned status, struct str body, struct err *err)
{
    struct json_tree *t = NULL;
    if (body.n > ERROR_BODY_MAX || json_tree_new(body, &t) || !json_tree_has(t, "error")) {
        json_tree_free(t);
        return err_set(err, -EPROTO,
                       "%s answered with status %u, and not as a server of Frontal Sandbox: is the URL right?",
                       c->given, status);
    }
    struct str code = json_tree_text(t, "error.code"), text = json_tree_text(t, "error.message");
    struct str log = json_tree_text(t, "error.details.log_id");
    const char *remedy = "";
    int error = -EIO;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (str_eqc(code, codes[i].code)) {
            error = codes[i].error;
            remedy = codes[i].remedy;
        }
    }
    int r = err_set(err, error, "%.*s%s%.*s%s%s%s", (int)text.n, text.n ? text.p : "", log.n ? " (log_id " : "",
                    (int)log.n, log.n ? log.p : "", log.n ? ")" : "", *remedy ? ": " : "", remedy);
    json_tree_free(t);
    return r;
}

static int transport_error(const struct client_op *op, CURLcode code, const char *why, struct err *err)
{
    const char *url = op->c->given;
    if (op->taker)
        return err_set(err, op->taker, "%s", errtab_text(op->taker));
    switch ((int)code) {
    case CURLE_COULDNT_CONNECT:
        return err_set(err, -ECONNREFUSED, "no server answers at %s (%s): frontal-sandbox serve starts one", url, why);
    case CURLE_COULDNT_RESOLVE_HOST:
        return err_set(err, -EHOSTUNREACH, "the host of %s is not known: %s", url, why);
    case CURLE_PEER_FAILED_VERIFICATION:
        return err_set(err, -EPROTO, "the certificate of %s is not believed (%s): give its authority with --ca FILE",
                       url, why);
    case CURLE_SSL_CACERT_BADFILE:
        return err_set(err, -EINVAL, "--ca: %s cannot be read as certificates (PEM)", op->c->ca ? op->c->ca : "it");
    case CURLE_SSL_CONNECT_ERROR:
        return err_set(err, -EPROTO, "no TLS with %s (%s): does it speak https?", url, why);
    case CURLE_WRITE_ERROR:
        return err_set(err, -EFBIG, "%s sent more than is taken", url);
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
        return err_set(err, -ECONNRESET, "the connection to %s was cut: %s", url, why);
    default:
        return err_set(err, -EPROTO, "%s: %s", url, why);
    }
}

int client_end(struct client_op *op, struct client_answer *ret, struct err *err)
{
    int r = 0;
    if (!op->done)
        r = err_set(err, -ECANCELED, "ended before its answer");
    else if (op->code)
        r = transport_error(op, op->code, op->why[0] ? op->why : curl_easy_strerror(op->code), err);
    else if (op->answer.status < 200 || op->answer.status >= 300)
        r = client_refusal(op->c, op->answer.status, buf_str(&op->answer.body), err);
    stop(op);
    *op->at = op->next;
    if (op->next)
        op->next->at = op->at;
    if (ret)
        *ret = op->answer;
    else
        buf_done(&op->answer.body);
    mem_free(op->url);
    mem_free(op);
    return r;
}

int client_ask(struct client *c, const struct client_request *q, struct client_answer *ret, struct err *err)
{
    struct client_op *op = client_begin(c, q);
    while (!client_done(op))
        client_turn(c, NULL, 0, -1);
    return client_end(op, ret, err);
}

/* ---- a connection of one's own ---- */

struct client_stream {
    CURL *easy;
    int fd;
};

int client_stream_open(struct client *c, struct client_stream **ret, struct err *err)
{
    char why[CURL_ERROR_SIZE] = "";
    curl_socket_t fd = CURL_SOCKET_BAD;
    CURL *e = curl_easy_init();
    if (!e)
        return err_set(err, -ENOMEM, "no memory for a connection");
    set_common(e, c);
    (void)curl_easy_setopt(e, CURLOPT_URL, c->base);
    (void)curl_easy_setopt(e, CURLOPT_ERRORBUFFER, why);
    (void)curl_easy_setopt(e, CURLOPT_CONNECT_ONLY, 1L);
    (void)curl_easy_setopt(e, CURLOPT_HTTPPROXYTUNNEL, 1L); /* a proxy passes bytes on, and no more */
    CURLcode code = curl_easy_perform(e);
    if (code == CURLE_OK)
        code = curl_easy_getinfo(e, CURLINFO_ACTIVESOCKET, &fd);
    if (code || fd == CURL_SOCKET_BAD) {
        const struct client_op op = {.c = c};
        int r = transport_error(&op, code ? code : CURLE_COULDNT_CONNECT, why[0] ? why : curl_easy_strerror(code), err);
        curl_easy_cleanup(e);
        return r;
    }
    *ret = mem_zalloc(sizeof(**ret));
    **ret = (struct client_stream){e, (int)fd};
    return 0;
}

void client_stream_close(struct client_stream *s)
{
    if (!s)
        return;
    curl_easy_cleanup(s->easy);
    mem_free(s);
}

int client_stream_fd(const struct client_stream *s)
{
    return s->fd;
}

ssize_t client_stream_send(struct client_stream *s, struct str data)
{
    size_t n = 0;
    CURLcode code = curl_easy_send(s->easy, data.p, data.n, &n);
    return code == CURLE_OK ? (ssize_t)n : code == CURLE_AGAIN ? -EAGAIN : -ECONNRESET;
}

ssize_t client_stream_recv(struct client_stream *s, void *to, size_t max)
{
    size_t n = 0;
    CURLcode code = curl_easy_recv(s->easy, to, max, &n);
    return code == CURLE_OK ? (ssize_t)n : code == CURLE_AGAIN ? -EAGAIN : -ECONNRESET;
}
