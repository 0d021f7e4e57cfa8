/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A WebSocket on an exec: its input, its terminal and signals go in, its output and its end come out.
 *
 * Output is taken from what the scheduler keeps, by offset, when the connection has room: however slow the reader is,
 * what waits for it here is QUEUED bytes, and the command is not held up. Input that the exec's queue does not take is
 * held here, at most a message and what was read with it, and the client is not read from until it is taken.
 */

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "apikey/apikey.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"
#include "server/exec_form.h"
#include "server/server_int.h"
#include "wire/attach.h"
#include "ws/ws.h"

#define QUEUED (64u << 10) /* bytes that wait for the connection, before more is taken */
#define PIECE (16u << 10)  /* bytes of output in one message */
#define PING_EVERY                                                                                                     \
    (20 * CLOCK_S)           /* so that nobody between takes the connection for dead, and a peer that is gone shows */
#define LINGER (5 * CLOCK_S) /* for the peer to see the end, and to end its side */

struct attached {
    struct request *r;
    struct ws *ws;
    struct MHD_UpgradeResponseHandle *urh;
    struct server_source source;
    int fd;           /* borrowed from libmicrohttpd; -1: given back */
    uint32_t events;  /* it is polled for */
    struct buf early; /* came with the request, and is read first */
    size_t early_at;
    bool text;      /* output goes as JSON */
    uint64_t at[3]; /* next byte of each stream */
    bool exit_sent, lingers;
    struct buf held;  /* input that is not taken yet */
    bool held_end;    /* and the end after it */
    bool counts;      /* the client places its input, and is told how much was taken */
    uint64_t told;    /* of that */
    uint64_t in, out; /* bytes moved at the last look */
    bool was_full;    /* the connection took no more at that look */
    uint32_t silent;  /* looks since the peer was heard */
};

static void pump(struct attached *a);

/* ---- the connection ---- */

static ssize_t take_bytes(void *arg, void *p, size_t n)
{
    struct attached *a = arg;
    if (a->early_at < a->early.n) {
        struct str rest = str_from(buf_str(&a->early), a->early_at);
        n = NUM_MIN(n, rest.n);
        memcpy(p, rest.p, n);
        a->early_at += n;
        return (ssize_t)n;
    }
    ssize_t r = recv(a->fd, p, n, 0);
    return r >= 0 ? r : errno == EINTR || errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

static ssize_t give_bytes(void *arg, const void *p, size_t n)
{
    const struct attached *a = arg;
    ssize_t r = send(a->fd, p, n, MSG_NOSIGNAL);
    return r >= 0 ? r : errno == EINTR || errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

static void give_back(struct attached *a)
{
    struct request *r = a->r;
    if (a->fd < 0)
        return;
    server_poll_end(r->sv, a->fd);
    a->fd = -1;
    sched_watch_cancel(r->watch);
    r->watch = NULL;
    sched_timer_cancel(r->sv->sched, r->timer);
    r->timer = NULL;
    (void)MHD_upgrade_action(a->urh, MHD_UPGRADE_ACTION_CLOSE);
    r->sv->resumed = true;
}

static void on_linger(void *arg)
{
    give_back(arg);
}

/* The closing is through. What the peer still sends is read: a socket that is closed with bytes unread resets the
 * connection, and the peer would not see the close frame. */
static void linger(struct attached *a)
{
    struct request *r = a->r;
    char waste[4096];
    ssize_t n = 1;
    if (ws_broken(a->ws)) {
        give_back(a);
        return;
    }
    if (!a->lingers) {
        a->lingers = true;
        (void)shutdown(a->fd, SHUT_WR);
        sched_watch_cancel(r->watch);
        r->watch = NULL;
        sched_timer_cancel(r->sv->sched, r->timer);
        r->timer = sched_timer(r->sv->sched, clock_mono() + LINGER, on_linger, a);
        server_poll_change(r->sv, a->fd, &a->source, EPOLLIN);
    }
    for (int i = 0; i < 64 && n > 0; i++)
        n = recv(a->fd, waste, sizeof(waste), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        give_back(a);
}

/* ---- what the server says ---- */

static void put_event(struct attached *a, const struct attach_event *e)
{
    BUF_AUTO struct buf b;
    buf_init(&b, 8 * PIECE);
    attach_put_event(&b, e);
    ws_put(a->ws, true, buf_str(&b));
}

static void put_error(struct attached *a, enum api_code code, const char *text)
{
    const struct attach_event e = {.kind = ATTACH_ERROR, .code = str_c(api_code_name(code)), .message = str_c(text)};
    put_event(a, &e);
}

/* READY and EXIT: both hold the exec. */
static void put_exec(struct attached *a, const char *type, const struct sched_exec_info *info)
{
    bool ready = strcmp(type, "ready") == 0;
    BUF_AUTO struct buf b;
    buf_init(&b, LIMIT_REQUEST);
    struct json_writer w = {.out = &b};
    json_begin(&w, NULL, '{');
    json_text(&w, "type", str_c(type));
    if (ready) {
        json_bool(&w, "tty", info->tty);
        json_bool(&w, "stdin_open", info->input_open);
        json_number(&w, "stdin_offset", info->input_total);
    }
    json_begin(&w, "exec", '{');
    exec_form_put(&w, a->r->session, info, 0);
    json_end(&w, '}');
    json_end(&w, '}');
    ws_put(a->ws, true, buf_str(&b));
}

/* Puts the next piece of output there is: whether there was one. */
static bool put_output(struct attached *a, const struct sched_exec_info *info)
{
    for (int i = 1; i <= 2; i++) {
        a->at[i] = NUM_MAX(a->at[i], info->base[i]); /* what is not kept any more is left out */
        struct str s = str_from(info->out[i], (size_t)NUM_MIN(a->at[i] - info->base[i], (uint64_t)info->out[i].n));
        if (s.n == 0)
            continue;
        s.n = NUM_MIN(s.n, (size_t)PIECE);
        if (a->text) {
            s.n = exec_form_whole(s, a->at[i] + s.n < info->total[i]);
            const struct attach_event e = {.kind = ATTACH_OUTPUT, .stream = i, .offset = a->at[i], .data = s};
            put_event(a, &e);
        } else {
            BUF_AUTO struct buf b;
            buf_init(&b, PIECE + ATTACH_HEAD);
            attach_put_binary(&b, i == 1 ? ATTACH_BIN_STDOUT : ATTACH_BIN_STDERR, a->at[i], s);
            ws_put(a->ws, false, buf_str(&b));
        }
        a->at[i] += s.n;
        return true;
    }
    return false;
}

static void put_what_there_is(struct attached *a)
{
    struct sched_exec_info info;
    sched_exec_info(a->r->exec, &info);
    while (ws_queued(a->ws) < QUEUED && put_output(a, &info))
        ws_flush(a->ws);
    if (a->counts && a->told != info.input_total && ws_queued(a->ws) < QUEUED) {
        a->told = info.input_total;
        const struct attach_event e = {.kind = ATTACH_STDIN_TAKEN, .offset = a->told};
        put_event(a, &e);
    }
    bool all = a->at[1] >= info.base[1] + info.out[1].n && a->at[2] >= info.base[2] + info.out[2].n;
    if (all && !info.running && !info.waiting && !a->exit_sent) {
        a->exit_sent = true;
        put_exec(a, "exit", &info);
        ws_close(a->ws, WS_NORMAL, STR("the command has ended"));
    }
    ws_flush(a->ws);
}

/* ---- what the client says ---- */

/* Gives the exec what is held. */
static void push_held(struct attached *a)
{
    if (a->held.n == 0 && !a->held_end)
        return;
    /* Taken out first: what is told meanwhile may lead back to here. */
    struct buf bytes = a->held;
    bool end = a->held_end;
    buf_init(&a->held, LIMIT_STDIN_QUEUED);
    a->held_end = false;
    int e = sched_input(a->r->exec, buf_str(&bytes), end);
    if (e == -EAGAIN) {
        a->held = bytes;
        a->held_end = end;
        ws_pause(a->ws, true);
        return;
    }
    buf_done(&bytes);
    ws_pause(a->ws, false);
    if (e)
        put_error(a, API_CONFLICT, "its standard input is closed (\"stdin_open\":true keeps it open)");
}

static void take_stdin(struct attached *a, const struct attach_request *q)
{
    struct sched_exec_info info;
    struct str data = q->data;
    sched_exec_info(a->r->exec, &info);
    uint64_t have = info.input_total + a->held.n;
    if (q->placed) {
        a->counts = true;
        if (q->offset > have) {
            put_error(a, API_INVALID_ARGUMENT, "input is missing between what was taken and the offset");
            ws_close(a->ws, WS_POLICY, STR("input is missing"));
            return;
        }
        /* What was sent before, and has come. */
        data = str_from(data, (size_t)NUM_MIN(have - q->offset, (uint64_t)data.n));
        if (data.n == 0)
            return;
    }
    if (!info.input_open) {
        put_error(a, API_CONFLICT, "its standard input is closed (\"stdin_open\":true keeps it open)");
        return;
    }
    if (buf_adds(&a->held, data))
        ws_close(a->ws, WS_INTERNAL, STR("no memory for input"));
    else
        push_held(a);
}

static void take_signal(struct attached *a, struct str name)
{
    int sig = exec_form_signal(name), e = sig ? sched_signal(a->r->exec, sig) : 0;
    if (sig == 0)
        put_error(a, API_INVALID_ARGUMENT,
                  "'signal' is HUP, INT, QUIT, KILL, USR1, USR2, TERM, CONT, STOP, TSTP or WINCH");
    else if (e)
        put_error(a, errtab_api(e), e == -ESRCH ? "the exec has ended" : errtab_text(e));
}

static void carry_out(struct attached *a, const struct attach_request *q)
{
    int e;
    switch (q->kind) {
    case ATTACH_STDIN:
        take_stdin(a, q);
        break;
    case ATTACH_STDIN_CLOSE:
        a->held_end = true;
        push_held(a);
        break;
    case ATTACH_RESIZE:
        e = sched_resize(a->r->exec, (uint16_t)q->rows, (uint16_t)q->cols);
        if (e)
            put_error(a, errtab_api(e), e == -ESRCH ? "the exec has ended" : errtab_text(e));
        break;
    case ATTACH_SIGNAL:
        take_signal(a, q->signal);
        break;
    }
}

static void on_message(void *arg, bool text, struct str data)
{
    struct attached *a = arg;
    ARENA_AUTO struct arena arena = {0};
    struct attach_request q;
    struct api_problem why;
    int e = attach_get_request(text, data, &arena, &q, &why);
    if (e == -EBADMSG) {
        struct str reason = text ? STR("a text message is a JSON object")
                                 : STR("a binary message begins with 0, or with 3 and 8 bytes");
        ws_close(a->ws, text ? WS_BAD_DATA : WS_UNSUPPORTED, reason);
    } else if (e) {
        char what[sizeof(why.field) + sizeof(why.text) + 8];
        snprintf(what, sizeof(what), "'%s' %s", why.field, why.text);
        put_error(a, API_INVALID_ARGUMENT, what);
    } else if (!(a->r->caps >> APIKEY_EXEC & 1)) {
        put_error(a, API_PERMISSION_DENIED, "the key has not the capability 'exec'");
    } else {
        carry_out(a, &q);
    }
}

/* ---- the life of it ---- */

static void on_change(void *arg)
{
    struct attached *a = arg;
    sched_watch_cancel(a->r->watch);
    a->r->watch = NULL;
    pump(a);
}

static void on_ping(void *arg)
{
    struct attached *a = arg;
    struct request *r = a->r;
    uint64_t in, out;
    ws_moved(a->ws, &in, &out);
    bool alive = in != a->in || (a->was_full && out != a->out) || a->held.n;
    a->in = in;
    a->out = out;
    a->silent = alive ? 0 : a->silent + 1;
    a->was_full = ws_wants_write(a->ws);
    sched_timer_cancel(r->sv->sched, r->timer);
    r->timer = NULL;
    if ((int64_t)a->silent * PING_EVERY >= LIMIT_IDLE_S * CLOCK_S) {
        give_back(a);
        return;
    }
    r->timer = sched_timer(r->sv->sched, clock_mono() + PING_EVERY, on_ping, a);
    if (!a->was_full)
        ws_ping(a->ws);
    pump(a);
}

/* Moves what can be moved, and waits for the rest. */
static void pump(struct attached *a)
{
    struct request *r = a->r;
    if (a->fd < 0)
        return;
    if (a->lingers) {
        linger(a);
        return;
    }
    push_held(a);
    put_what_there_is(a);
    if (ws_closed(a->ws)) {
        linger(a);
        return;
    }
    if (!r->watch && !a->exit_sent)
        r->watch = sched_exec_watch(r->exec, false, on_change, a);
    uint32_t events = (ws_wants_read(a->ws) ? EPOLLIN : 0) | (ws_wants_write(a->ws) ? EPOLLOUT : 0);
    if (events != a->events)
        server_poll_change(r->sv, a->fd, &a->source, events);
    a->events = events;
}

static void on_events(void *arg, uint32_t events)
{
    struct attached *a = arg;
    if (a->fd >= 0 && !a->lingers && events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        if (!ws_wants_read(a->ws) && events & (EPOLLHUP | EPOLLERR)) {
            give_back(a); /* it is not read from, and would be told again and again */
            return;
        }
        ws_receive(a->ws);
    }
    pump(a);
}

static void attached_free(void *p)
{
    struct attached *a = p;
    ws_free(a->ws);
    buf_done(&a->early);
    buf_done(&a->held);
}

static void upgraded(void *cls, struct MHD_Connection *c, void *con_cls, const char *extra, size_t n_extra,
                     MHD_socket sock, struct MHD_UpgradeResponseHandle *urh)
{
    struct attached *a = cls;
    struct request *r = a->r;
    struct sched_exec_info info;
    int one = 1;
    (void)c, (void)con_cls;
    a->urh = urh;
    a->fd = sock;
    a->source = (struct server_source){on_events, a};
    a->events = EPOLLIN;
    r->attached = a;
    (void)setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* keys should not wait; no matter on others */
    if (buf_add(&a->early, extra, n_extra) || server_poll(r->sv, sock, &a->source, EPOLLIN)) {
        give_back(a);
        return;
    }
    r->timer = sched_timer(r->sv->sched, clock_mono() + PING_EVERY, on_ping, a);
    sched_exec_info(r->exec, &info);
    put_exec(a, "ready", &info);
    if (n_extra)
        ws_receive(a->ws);
    pump(a);
}

void h_attach_abandon(struct request *r)
{
    struct attached *a = r->attached;
    if (a->fd < 0)
        return;
    if (!a->lingers) {
        ws_close(a->ws, WS_GOING_AWAY, STR("the server is shutting down"));
        ws_flush(a->ws);
    }
    give_back(a);
}

/* ---- the route ---- */

/* Whether a header that is a list of words has @word (RFC 9110, 5.6.1), whatever its case. */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p && *p;) {
        p += strspn(p, " \t,");
        size_t len = strcspn(p, ",");
        size_t end = len;
        while (end && (p[end - 1] == ' ' || p[end - 1] == '\t'))
            end--;
        if (end == n && strncasecmp(p, word, n) == 0)
            return true;
        p += len;
    }
    return false;
}

/* RFC 6455, 4.2.1. False after an answer. */
static bool check_handshake(struct request *r, char accept[WS_ACCEPT_MAX])
{
    const char *version = request_header(r, "Sec-WebSocket-Version"), *key = request_header(r, "Sec-WebSocket-Key");
    if (!r->http11 || !has_word(request_header(r, MHD_HTTP_HEADER_UPGRADE), "websocket") ||
        !has_word(request_header(r, MHD_HTTP_HEADER_CONNECTION), "upgrade") || !version || strcmp(version, "13") != 0) {
        request_fail_as(r, MHD_HTTP_UPGRADE_REQUIRED, API_INVALID_ARGUMENT,
                        "this route is a WebSocket (RFC 6455, version 13)");
        if (r->response) {
            (void)MHD_add_response_header(r->response, "Sec-WebSocket-Version", "13");
            (void)MHD_add_response_header(r->response, MHD_HTTP_HEADER_UPGRADE, "websocket");
        }
        return false;
    }
    if (key && ws_accept(str_c(key), accept) == 0)
        return true;
    request_fail(r, API_INVALID_ARGUMENT, "Sec-WebSocket-Key", "Sec-WebSocket-Key is not 16 bytes in base64");
    return false;
}

static bool check_offset(struct request *r, const char *name, uint64_t offset, uint64_t total)
{
    if (offset <= total)
        return true;
    request_fail(r, API_INVALID_ARGUMENT, name, "the stream has %llu bytes so far", (unsigned long long)total);
    return false;
}

void h_attach(struct request *r)
{
    char accept[WS_ACCEPT_MAX];
    struct attached *a = arena_alloc(&r->arena, sizeof(*a));
    *a = (struct attached){.r = r, .fd = -1};
    struct str framing = request_query(r, "framing");
    struct sched_exec_info info;
    if (framing.p && !str_eqc(framing, "binary") && !str_eqc(framing, "text")) {
        request_fail(r, API_INVALID_ARGUMENT, "framing", "'framing' is binary or text");
        return;
    }
    a->text = str_eqc(framing, "text");
    if (!check_handshake(r, accept) || !request_query_number(r, "stdout_offset", 0, UINT64_MAX, &a->at[1]) ||
        !request_query_number(r, "stderr_offset", 0, UINT64_MAX, &a->at[2]) || !request_session(r))
        return;
    r->exec = sched_exec_find(r->session, r->params[1]);
    if (!r->exec) {
        request_fail(r, API_NOT_FOUND, NULL, "no exec of that id runs in the session, or has ended lately");
        return;
    }
    sched_exec_info(r->exec, &info);
    if (!check_offset(r, "stdout_offset", a->at[1], info.total[1]) ||
        !check_offset(r, "stderr_offset", a->at[2], info.total[2]))
        return;
    const struct ws_config cfg = {.arg = a, .read = take_bytes, .write = give_bytes, .message = on_message};
    a->ws = ws_new(&cfg);
    buf_init(&a->early, LIMIT_HEADERS);
    buf_init(&a->held, LIMIT_STDIN_QUEUED);
    r->state = a;
    r->state_free = attached_free;
    struct MHD_Response *resp = a->ws ? MHD_create_response_for_upgrade(upgraded, a) : NULL;
    if (!resp) {
        request_fail_errno(r, -ENOMEM, NULL);
        return;
    }
    (void)MHD_add_response_header(resp, MHD_HTTP_HEADER_UPGRADE, "websocket");
    (void)MHD_add_response_header(resp, "Sec-WebSocket-Accept", accept);
    request_reply(r, resp, MHD_HTTP_SWITCHING_PROTOCOLS);
}
