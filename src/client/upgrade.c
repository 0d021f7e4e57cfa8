/* SPDX-License-Identifier: Apache-2.0 */
#include "client/upgrade.h"

#include <errno.h>
#include <poll.h>
#include <strings.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "client/client.h"
#include "ws/ws.h"

#define PATIENCE (10 * CLOCK_S)
#define ANSWER_MAX (64u << 10) /* head and, of a refusal, body */

static int wait_for(const struct client_stream *s, short events, int64_t until)
{
    struct pollfd p = {client_stream_fd(s), events, 0};
    int64_t left = until - clock_mono();
    if (left <= 0)
        return -ETIMEDOUT;
    (void)poll(&p, 1, (int)(left / CLOCK_MS) + 1); /* whatever it says, the stream is tried next */
    return 0;
}

static int send_all(struct client_stream *s, struct str data, int64_t until)
{
    while (data.n) {
        ssize_t n = client_stream_send(s, data);
        int r = n == -EAGAIN ? wait_for(s, POLLOUT, until) : n < 0 ? (int)n : 0;
        if (r)
            return r;
        data = str_from(data, n > 0 ? (size_t)n : 0);
    }
    return 0;
}

static int receive_more(struct client_stream *s, struct buf *in, int64_t until)
{
    char piece[4096];
    ssize_t n;
    while ((n = client_stream_recv(s, piece, sizeof(piece))) == -EAGAIN) {
        if (wait_for(s, POLLIN, until))
            return -ETIMEDOUT;
    }
    return n > 0 ? buf_add(in, piece, (size_t)n) : n ? (int)n : -ECONNRESET;
}

/* ---- the answer ---- */

/* Bytes of the head with the empty line that ends it; 0: it is not whole. */
static size_t head_size(const struct buf *in)
{
    const char *end = in->n ? memmem(in->p, in->n, "\r\n\r\n", 4) : NULL;
    return end ? (size_t)(end - in->p) + 4 : 0;
}

/* The value of a field, without the blanks around it; .p NULL: there is none. */
static struct str field_of(struct str head, const char *name)
{
    size_t n = strlen(name);
    while (head.n) {
        ptrdiff_t nl = str_find(head, '\n', 0);
        struct str line = str_of(head.p, nl < 0 ? head.n : (size_t)nl);
        head = str_from(head, line.n + 1);
        if (line.n <= n || line.p[n] != ':' || strncasecmp(line.p, name, n) != 0)
            continue;
        line = str_from(line, n + 1);
        while (line.n && (line.p[0] == ' ' || line.p[0] == '\t'))
            line = str_from(line, 1);
        while (line.n && strchr(" \t\r", line.p[line.n - 1]))
            line.n--;
        return line;
    }
    return str_of(NULL, 0);
}

/* 0: it is no status line of HTTP/1. */
static unsigned status_of(struct str head)
{
    uint64_t status;
    bool is_http = head.n > 12 && str_starts(head, STR("HTTP/1.")) && head.p[8] == ' ';
    return is_http && str_u64(str_of(head.p + 9, 3), &status) == 0 ? (unsigned)status : 0;
}

/* A refusal is read whole for what it says; one that breaks off says what has come. */
static int read_refusal(struct client *c, struct client_stream *s, unsigned status, size_t head, struct buf *in,
                        int64_t until, struct err *err)
{
    uint64_t size;
    if (str_u64(field_of(str_of(in->p, head), "Content-Length"), &size) || size > ANSWER_MAX)
        size = 0;
    while (in->n - head < size && receive_more(s, in, until) == 0)
        ;
    return client_refusal(c, status, str_from(buf_str(in), head), err);
}

static int shake_hands(struct client *c, struct client_stream *s, const char *path, struct buf *early, struct err *err)
{
    uint8_t random[16];
    char key[WS_ACCEPT_MAX], accept[WS_ACCEPT_MAX];
    const char *auth = client_authorization(c);
    int64_t until = clock_mono() + PATIENCE;
    BUF_AUTO struct buf b;
    buf_init(&b, ANSWER_MAX);
    if (auth && auth[strcspn(auth, "\r\n")])
        return err_set(err, -EINVAL, "FRONTAL_SANDBOX_KEY has a line break: it is no key");
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return err_set(err, -EIO, "no random bytes");
    ws_key(random, key);
    buf_addf(&b,
             "GET %s%s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n%s%s%s\r\n",
             client_prefix(c), path, client_host(c), key, auth ? "Authorization: " : "", auth ? auth : "",
             auth ? "\r\n" : "");
    int r = b.err ? b.err : send_all(s, buf_str(&b), until);
    buf_clear(&b);
    while (r == 0 && !head_size(&b))
        r = receive_more(s, &b, until);
    if (r)
        return err_set(err, r == -EFBIG ? -EPROTO : -ECONNRESET, "the connection to %s was cut", client_url(c));
    size_t head = head_size(&b);
    unsigned status = status_of(buf_str(&b));
    if (status != 101)
        return read_refusal(c, s, status, head, &b, until, err);
    if (ws_accept(str_c(key), accept) || !str_eqc(field_of(str_of(b.p, head), "Sec-WebSocket-Accept"), accept))
        return err_set(err, -EPROTO, "%s answered a WebSocket's handshake wrongly: is the URL right?", client_url(c));
    return buf_adds(early, str_from(buf_str(&b), head));
}

int client_upgrade(struct client *c, const char *path, struct client_stream **ret, struct buf *early, struct err *err)
{
    struct client_stream *s = NULL;
    int r = client_stream_open(c, &s, err);
    if (r == 0)
        r = shake_hands(c, s, path, early, err);
    if (r)
        client_stream_close(s);
    else
        *ret = s;
    return r;
}
