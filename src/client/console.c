/* SPDX-License-Identifier: Apache-2.0 */
#include "client/console.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/num.h"
#include "client/client_int.h"
#include "client/terminal.h"
#include "client/upgrade.h"
#include "types/errtab.h"
#include "types/limits.h"
#include "wire/attach.h"
#include "ws/ws.h"

#define INPUT_WINDOW (256u << 10)
#define INPUT_PIECE (32u << 10)
#define AGAIN_FIRST (100 * CLOCK_MS)
#define AGAIN_MOST (3 * CLOCK_S)
#define SILENCE (60 * CLOCK_S) /* the server pings every 20 s */
#define FAREWELL (2 * CLOCK_S) /* for input to be taken before the exec is left */

struct console {
    const struct console_config *cfg;
    struct client *c;
    struct terminal terminal;
    int sigfd;
    /* the connection */
    struct client_stream *stream; /* NULL: there is none */
    struct ws *ws;
    struct buf early; /* came with the handshake, and is read first */
    size_t early_at;
    bool ready, was_ready; /* READY has come; also on a connection before */
    uint64_t in;           /* bytes received, and when that changed */
    int64_t heard;
    int64_t lost, again, pause; /* since when there is none; when it is tried next, and the pause after that */
    /* the exec */
    bool tty, denied; /* the key may look only */
    uint64_t at[3];   /* output written, of each stream */
    struct json_tree *end;
    /* input */
    struct buf kept; /* read, and not known to be taken */
    uint64_t base;   /* offset of its first byte */
    uint64_t sent;   /* up to there, on this connection */
    bool input_open; /* the exec's */
    bool ended;      /* standard input is at its end */
    bool end_sent;   /* on this connection */
    bool resized;
    bool leaving;
    int leave_signal;
    int64_t leave_by;
    int failed; /* in a message; the error is in why */
    struct err why;
};

/* ---- what is said ---- */

/* On a line of its own: a raw terminal does not go to its begin at a newline. */
static void note(const struct console *k, const char *text)
{
    if (k->terminal.raw)
        fputs("\r\n", stderr);
    client_say(str_c(text));
    if (k->terminal.raw)
        fputs("\r", stderr);
}

/* ---- the connection ---- */

static ssize_t take_bytes(void *arg, void *p, size_t n)
{
    struct console *k = arg;
    struct str rest = str_from(buf_str(&k->early), k->early_at);
    if (rest.n == 0)
        return client_stream_recv(k->stream, p, n);
    n = NUM_MIN(n, rest.n);
    memcpy(p, rest.p, n);
    k->early_at += n;
    return (ssize_t)n;
}

static ssize_t give_bytes(void *arg, const void *p, size_t n)
{
    struct console *k = arg;
    return client_stream_send(k->stream, str_of(p, n));
}

static void disconnect(struct console *k)
{
    ws_free(k->ws);
    client_stream_close(k->stream);
    k->ws = NULL;
    k->stream = NULL;
    k->ready = false;
    buf_clear(&k->early);
    k->early_at = 0;
}

/* There is no connection because of @e: another try comes, or its error. */
static int lost(struct console *k, const struct err *e, struct err *err)
{
    int64_t now = clock_mono();
    bool passing = e->code == -ECONNRESET || e->code == -EAGAIN ||
                   (k->was_ready && (e->code == -ECONNREFUSED || e->code == -EHOSTUNREACH));
    bool first = k->lost == 0;
    disconnect(k);
    k->lost = first ? now : k->lost;
    if (!passing || now - k->lost > CLIENT_PATIENCE_MS * CLOCK_MS)
        return err_set(err, e->code, "%s", e->text);
    if (first && k->was_ready && !k->leaving)
        note(k, "the connection was cut: trying again");
    k->again = now + k->pause;
    k->pause = NUM_MIN(k->pause * 2, AGAIN_MOST);
    return 0;
}

static void on_message(void *arg, bool text, struct str data);

static int connect_again(struct console *k, struct err *err)
{
    struct err e = {0};
    BUF_AUTO struct buf rest, path;
    buf_init(&rest, 4096);
    buf_init(&path, 64u << 10);
    buf_addc(&rest, "/execs/");
    client_put_encoded(&rest, str_c(k->cfg->exec), false);
    buf_addf(&rest, "/attach?stdout_offset=%llu&stderr_offset=%llu", (unsigned long long)k->at[1],
             (unsigned long long)k->at[2]);
    if (rest.err)
        return err_set(err, -EINVAL, "'%.64s' is no id of an exec", k->cfg->exec);
    int r = client_upgrade(k->c, client_session_path(&path, k->cfg->session, rest.p), &k->stream, &k->early, &e);
    if (r) {
        e.code = r;
        return lost(k, &e, err);
    }
    const struct ws_config cfg = {
        .client = true, .arg = k, .read = take_bytes, .write = give_bytes, .message = on_message};
    k->ws = ws_new(&cfg);
    k->in = 0;
    k->heard = clock_mono();
    return k->ws ? 0 : err_set(err, -ENOMEM, "no memory for a connection");
}

/* The WebSocket is closed. */
static int closed(struct console *k, struct err *err)
{
    int code = ws_close_code(k->ws);
    struct err e = {.code = -ECONNRESET};
    snprintf(e.text, sizeof(e.text), "the connection to %s was cut", client_url(k->c));
    bool ours =
        code == WS_PROTOCOL || code == WS_UNSUPPORTED || code == WS_BAD_DATA || code == WS_POLICY || code == WS_TOO_BIG;
    if (ours)
        return err_set(err, -EPROTO, "%s refused what was sent, with the code %d of WebSockets", client_url(k->c),
                       code);
    return lost(k, &e, err);
}

/* ---- input ---- */

static void drop_input(struct console *k)
{
    k->base += k->kept.n;
    k->sent = NUM_MAX(k->sent, k->base);
    buf_clear(&k->kept);
}

/* The server has taken input up to @offset: ours, or that of somebody else who is attached. */
static int taken(struct console *k, uint64_t offset)
{
    if (offset < k->base)
        return err_set(&k->why, -EPROTO, "%s has lost input that it had taken", client_url(k->c));
    size_t drop = (size_t)NUM_MIN(offset - k->base, (uint64_t)k->kept.n), rest = k->kept.n - drop;
    if (rest)
        memmove(k->kept.p, k->kept.p + drop, rest);
    buf_trunc(&k->kept, rest);
    k->base = offset;
    k->sent = NUM_MAX(k->sent, offset);
    return 0;
}

static void put_text(struct console *k, const char *type, const char *signal, bool size)
{
    uint16_t cols, rows;
    BUF_AUTO struct buf b;
    buf_init(&b, 256);
    struct json_writer w = {.out = &b};
    json_begin(&w, NULL, '{');
    json_text(&w, "type", str_c(type));
    if (signal)
        json_text(&w, "signal", str_c(signal));
    if (size) {
        terminal_size(&cols, &rows);
        json_number(&w, "cols", cols);
        json_number(&w, "rows", rows);
    }
    json_end(&w, '}');
    ws_put(k->ws, true, buf_str(&b));
}

/* Sends what the connection takes without holding it. */
static void send_input(struct console *k)
{
    if (k->resized && k->tty && k->terminal.raw && !k->denied)
        put_text(k, "resize", NULL, true);
    k->resized = false;
    ws_flush(k->ws);
    while (!ws_closed(k->ws) && !ws_wants_write(k->ws) && k->sent < k->base + k->kept.n) {
        struct str s = str_from(buf_str(&k->kept), (size_t)(k->sent - k->base));
        s.n = NUM_MIN(s.n, (size_t)INPUT_PIECE);
        BUF_AUTO struct buf b;
        buf_init(&b, INPUT_PIECE + ATTACH_HEAD);
        attach_put_binary(&b, ATTACH_BIN_STDIN_AT, k->sent, s);
        ws_put(k->ws, false, buf_str(&b));
        k->sent += s.n;
        ws_flush(k->ws);
    }
    if (k->ended && k->input_open && !k->end_sent && k->sent == k->base + k->kept.n) {
        k->end_sent = true;
        put_text(k, "stdin_close", NULL, false);
        ws_flush(k->ws);
    }
}

static void leave(struct console *k, int sig)
{
    if (k->leaving)
        return;
    k->leaving = true;
    k->leave_signal = sig;
    k->leave_by = clock_mono() + FAREWELL;
}

/* Keys are read even when nothing takes them: two of them are ours. */
static bool wants_input(const struct console *k)
{
    return k->was_ready && !k->ended && !k->leaving && k->kept.n < INPUT_WINDOW && (k->input_open || k->terminal.raw);
}

static void read_input(struct console *k)
{
    char piece[INPUT_PIECE + 1];
    bool keys = false;
    ssize_t n = read(STDIN_FILENO, piece, INPUT_PIECE);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) { /* what cannot be read has ended, too */
        k->ended = true;
        if (k->terminal.raw)
            leave(k, SIGHUP);
        return;
    }
    size_t size = (size_t)n;
    if (k->terminal.raw)
        size = terminal_keys(&k->terminal, piece, size, &keys);
    if (k->input_open && buf_add(&k->kept, piece, size))
        k->failed = err_set(&k->why, -ENOMEM, "no memory for input");
    if (keys)
        leave(k, 0);
}

/* ---- what the server says ---- */

static int on_ready(struct console *k, const struct attach_event *e)
{
    struct json_tree *t = NULL;
    int r = 0;
    if (k->ready)
        return err_set(&k->why, -EPROTO, "%s began twice", client_url(k->c));
    if (!k->was_ready)
        k->base = e->stdin_offset;
    else
        r = taken(k, e->stdin_offset);
    k->sent = k->base;
    k->end_sent = false;
    k->input_open = e->stdin_open && !k->denied;
    k->tty = e->tty;
    if (!k->input_open)
        drop_input(k);
    if (k->tty && !k->was_ready)
        terminal_set_raw(&k->terminal);
    if (k->lost && k->was_ready && !k->leaving)
        note(k, "connected again");
    if (!k->was_ready && json_tree_new(e->exec, &t) == 0 && !json_tree_has(t, "started_at"))
        note(k, "another command runs in the session: this one begins when it has ended");
    json_tree_free(t);
    k->resized = true;
    k->ready = k->was_ready = true;
    k->lost = 0;
    k->pause = AGAIN_FIRST;
    return r;
}

static int on_output(struct console *k, const struct attach_event *e)
{
    uint64_t *at = &k->at[e->stream];
    if (e->offset > *at) {
        char text[96];
        snprintf(text, sizeof(text), "%llu bytes of output before this are not kept any more",
                 (unsigned long long)(e->offset - *at));
        note(k, text);
        *at = e->offset;
    }
    struct str s = str_from(e->data, (size_t)NUM_MIN(*at - e->offset, (uint64_t)e->data.n));
    int r = fd_write_all(e->stream, s);
    if (r)
        return err_set(&k->why, r, "writing output: %s", errtab_text(r));
    *at += s.n;
    return 0;
}

static void on_error(struct console *k, const struct attach_event *e)
{
    bool denied = str_eqc(e->code, "permission_denied");
    BUF_AUTO struct buf text;
    buf_init(&text, 4096);
    buf_adds(&text, e->message);
    if (denied || str_eqc(e->code, "conflict")) { /* it has ended or closed its input: as of a pipe that nobody reads */
        k->input_open = false;
        drop_input(k);
    }
    if (!k->denied && !str_eqc(e->code, "conflict") && !str_eqc(e->code, "not_found"))
        note(k, text.err ? "the server refused a message" : text.p);
    k->denied |= denied;
}

static void on_message(void *arg, bool text, struct str data)
{
    struct console *k = arg;
    struct attach_event e;
    struct api_problem why;
    ARENA_AUTO struct arena a = {0};
    if (k->failed || k->end)
        return;
    int r = attach_get_event(text, data, &a, &e, &why);
    if (r || (e.kind != ATTACH_READY && !k->ready)) {
        k->failed = err_set(&k->why, -EPROTO, "%s sent a message that is not of this version", client_url(k->c));
        return;
    }
    switch (e.kind) {
    case ATTACH_READY:
        k->failed = on_ready(k, &e);
        break;
    case ATTACH_OUTPUT:
        k->failed = on_output(k, &e);
        break;
    case ATTACH_STDIN_TAKEN:
        k->failed = taken(k, e.offset);
        break;
    case ATTACH_ERROR:
        on_error(k, &e);
        break;
    case ATTACH_EXIT:
        if (json_tree_new(e.exec, &k->end))
            k->failed = err_set(&k->why, -EPROTO, "%s sent what is no JSON", client_url(k->c));
        break;
    }
}

/* ---- signals ---- */

/* Those that would end or stop this process, or that tell of the terminal. */
static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
        sigaddset(&set, caught[i]);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void take_signals(struct console *k)
{
    struct signalfd_siginfo si;
    while (read(k->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
        int sig = (int)si.ssi_signo;
        if (sig == SIGCONT && k->terminal.raw)
            terminal_set_raw(&k->terminal); /* who stopped us may have set another mode */
        if (sig == SIGWINCH || sig == SIGCONT)
            k->resized = true;
        else if ((sig == SIGINT || sig == SIGQUIT) && k->ready)
            put_text(k, "signal", sigabbrev_np(sig), false);
        else
            leave(k, sig);
    }
}

/* ---- the loop ---- */

/* Whether bytes came: then there may be more that the socket does not tell of (TLS). */
static bool receive(struct console *k)
{
    uint64_t in, out, before = k->in;
    ws_receive(k->ws);
    ws_moved(k->ws, &in, &out);
    k->in = in;
    if (in != before)
        k->heard = clock_mono();
    return in != before;
}

static void wait_for_any(struct console *k, bool at_once)
{
    int64_t now = clock_mono(), until = k->stream ? k->heard + SILENCE : k->again;
    if (k->leaving)
        until = NUM_MIN(until, k->leave_by);
    int ms = at_once || until <= now ? 0 : (int)NUM_MIN((until - now) / CLOCK_MS + 1, 60000);
    struct pollfd p[3] = {{k->sigfd, POLLIN, 0}, {-1, POLLIN, 0}, {-1, 0, 0}};
    if (wants_input(k))
        p[1].fd = STDIN_FILENO;
    if (k->stream) {
        p[2].fd = client_stream_fd(k->stream);
        p[2].events = (short)((ws_wants_read(k->ws) ? POLLIN : 0) | (ws_wants_write(k->ws) ? POLLOUT : 0));
    }
    if (poll(p, 3, ms) <= 0)
        return;
    if (p[0].revents)
        take_signals(k);
    if (p[1].revents)
        read_input(k);
}

static int turn(struct console *k, struct err *err)
{
    bool more = false;
    if (!k->stream && clock_mono() >= k->again) {
        int r = connect_again(k, err);
        if (r)
            return r;
    }
    if (k->ws) {
        more = receive(k);
        if (k->ready && !k->failed)
            send_input(k);
        ws_flush(k->ws);
    }
    if (k->failed)
        return err_set(err, k->failed, "%s", k->why.text);
    if (k->end)
        return 0;
    if (k->ws && (ws_closed(k->ws) || clock_mono() - k->heard > SILENCE))
        return closed(k, err);
    wait_for_any(k, more);
    return 0;
}

/* Input that was typed before is delivered first, if the server takes it. */
static bool has_left(const struct console *k)
{
    return k->leaving && (k->kept.n == 0 || !k->ready || clock_mono() >= k->leave_by);
}

int client_console(const struct console_config *cfg, struct console_end *ret, struct err *err)
{
    struct console k = {.cfg = cfg, .c = cfg->client, .pause = AGAIN_FIRST};
    int r = 0;
    buf_init(&k.early, 64u << 10);
    buf_init(&k.kept, INPUT_WINDOW + INPUT_PIECE + 1);
    k.sigfd = open_signals();
    if (k.sigfd < 0)
        r = err_set(err, -errno, "signals: %s", errtab_text(-errno));
    while (r == 0 && !k.end && !has_left(&k))
        r = turn(&k, err);
    if (k.terminal.raw && !k.end)
        fputs("\r\n", stderr);
    terminal_restore(&k.terminal);
    if (r == 0 && !k.end && k.kept.n)
        cli_error("the last %zu bytes of input may not have arrived", k.kept.n);
    *ret = (struct console_end){k.end, k.was_ready, k.leave_signal};
    disconnect(&k);
    buf_done(&k.early);
    buf_done(&k.kept);
    fd_close(&k.sigfd);
    return r;
}
