/* SPDX-License-Identifier: Apache-2.0 */
#include "client/follow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "cli/view.h"
#include "client/client_int.h"
#include "client/sse.h"
#include "types/errtab.h"

#define INPUT_PIECE (64u << 10)
#define INPUT_PAUSE (20 * CLOCK_MS) /* when the server has no room for more */
#define AGAIN_FIRST 100             /* ms */
#define AGAIN_MOST 2000
#define SIGNALS_MOST 3 /* of ours that are forwarded; the last as KILL */

struct following {
    const struct follow_config *cfg;
    struct client *c;
    struct sse sse;
    struct client_op *events, *input, *signal;
    struct buf path, input_path, signal_path, input_body, signal_body;
    char resume[80]; /* Last-Event-ID */
    uint64_t at[3];  /* written, of each stream */
    bool closed[3];  /* its reader is gone */
    int failed;      /* writing: the error */
    struct json_tree *end;
    int64_t lost, again; /* since when the server is not there; when the events are asked for anew */
    int pause;           /* ms */
    bool noted;          /* it was said that the connection was cut */
    bool input_open, input_last;
    int64_t input_again;
    int sigfd, signals;
    int pending; /* a signal that waits for its turn */
    struct err err;
};

/* ---- output ---- */

static int write_output(struct following *f, int stream, uint64_t offset, struct str s)
{
    /* What was written before is not written again, whatever the server sends. */
    uint64_t seen = f->at[stream] > offset ? f->at[stream] - offset : 0;
    if (offset > f->at[stream])
        return -EPROTO;
    if (seen >= s.n)
        return 0;
    s = str_from(s, (size_t)seen);
    f->at[stream] += s.n;
    if (f->cfg->silent || f->closed[stream] || f->failed)
        return 0;
    int r = fd_write_all(stream, s);
    if (r == -EPIPE) {
        f->closed[stream] = true;
        f->pending = SIGHUP; /* nobody reads it: it is told as a command whose terminal is gone */
    } else if (r) {
        f->failed = r;
    }
    return 0;
}

/* An event of the stream. */
static int on_event(void *arg, const struct sse_event *e)
{
    struct following *f = arg;
    struct json_tree *t = NULL;
    ARENA_AUTO struct arena a = {0};
    int r = 0;
    f->pause = AGAIN_FIRST;
    if (!str_eqc(e->name, "output") && !str_eqc(e->name, "exit"))
        return 0;
    if (json_tree_new(e->data, &t))
        return -EPROTO;
    if (str_eqc(e->name, "exit")) {
        json_tree_free(f->end);
        f->end = t;
        return 0;
    }
    int stream = str_eqc(json_tree_text(t, "stream"), "stderr") ? 2 : 1;
    struct str s = json_tree_bytes(t, "data", &a);
    r = s.p ? write_output(f, stream, json_tree_number(t, "offset", UINT64_MAX), s) : -EPROTO;
    json_tree_free(t);
    return r;
}

static int on_piece(void *arg, struct str s)
{
    struct following *f = arg;
    f->lost = 0;
    return sse_feed(&f->sse, s, on_event, f);
}

static void ask_events(struct following *f)
{
    sse_reset(&f->sse);
    f->again = 0;
    snprintf(f->resume, sizeof(f->resume), "Last-Event-ID: %llu-%llu", (unsigned long long)f->at[1],
             (unsigned long long)f->at[2]);
    const struct client_request q = {.method = "GET",
                                     .path = f->path.p,
                                     .accept = "text/event-stream",
                                     .header = f->resume,
                                     .piece = on_piece,
                                     .arg = f};
    f->events = client_begin(f->c, &q);
}

/* An exec that the server no longer holds in memory: its output by offset, its result. */
static int read_record(struct following *f, struct err *err)
{
    static const char *const names[] = {NULL, "stdout", "stderr"};
    BUF_AUTO struct buf path, rest;
    buf_init(&path, 4096);
    buf_init(&rest, 4096);
    for (int i = 1; i <= 2; i++) {
        struct client_answer answer;
        buf_clear(&rest);
        buf_addf(&rest, "/execs/%s/output?stream=%s&offset=%llu", f->cfg->exec, names[i], (unsigned long long)f->at[i]);
        const struct client_request q = {
            .method = "GET", .path = client_session_path(&path, f->cfg->session, rest.p), .repeat = true};
        int r = client_ask(f->c, &q, &answer, err);
        if (r == 0)
            r = write_output(f, i, f->at[i], buf_str(&answer.body));
        buf_done(&answer.body);
        if (r)
            return r;
    }
    buf_clear(&rest);
    buf_addf(&rest, "/execs/%s?output_limit=0", f->cfg->exec);
    return client_json(f->c, "GET", client_session_path(&path, f->cfg->session, rest.p), NULL, NULL, &f->end, err);
}

/* The stream ended: with the exec, or it is begun again. */
static int events_ended(struct following *f, struct err *err)
{
    struct err why = {0};
    int r = client_end(f->events, NULL, &why);
    int64_t now = clock_mono();
    f->events = NULL;
    if (f->end)
        return 0;
    if (r == -EOPNOTSUPP)
        return read_record(f, err);
    bool cut = r == 0 || r == -ECONNRESET || r == -ECONNREFUSED || r == -EAGAIN;
    f->lost = f->lost ? f->lost : now;
    if (!cut || now - f->lost > CLIENT_PATIENCE_MS * CLOCK_MS) {
        *err = why;
        return r ? r : err_set(err, -ECONNRESET, "the connection to %s was cut", client_url(f->c));
    }
    if (!f->noted && !f->cfg->quiet)
        cli_error("the connection was cut: going on when the server is there again");
    f->noted = true;
    f->again = now + f->pause * CLOCK_MS;
    f->pause = NUM_MIN(f->pause * 2, AGAIN_MOST);
    return 0;
}

/* ---- input ---- */

static void send_input(struct following *f)
{
    const struct client_request q = {.method = "POST", .path = f->input_path.p, .body = buf_str(&f->input_body)};
    f->input_again = 0;
    f->input = client_begin(f->c, &q);
}

static void read_input(struct following *f)
{
    char piece[INPUT_PIECE];
    ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    f->input_last = n <= 0; /* what cannot be read has ended for the command, too */
    buf_clear(&f->input_body);
    struct json_writer w = {.out = &f->input_body};
    json_begin(&w, NULL, '{');
    if (n > 0) {
        BUF_AUTO struct buf coded;
        buf_init(&coded, 2 * INPUT_PIECE);
        json_put_base64(&coded, str_of(piece, (size_t)n));
        json_text(&w, "data", buf_str(&coded));
        json_text(&w, "encoding", STR("base64"));
    } else {
        json_bool(&w, "close", true);
    }
    json_end(&w, '}');
    send_input(f);
}

static int input_ended(struct following *f, struct err *err)
{
    int r = client_end(f->input, NULL, err);
    f->input = NULL;
    if (r == -EAGAIN || r == -ECONNREFUSED) { /* it was not taken */
        f->input_again = clock_mono() + INPUT_PAUSE;
        return 0;
    }
    if (r == -EBUSY || r == -ENOENT) { /* the command has ended, or closed it */
        f->input_open = false;
        return 0;
    }
    if (r == -ECONNRESET)
        return err_set(err, r,
                       "the connection was cut while input was sent, and nobody knows whether it has arrived: "
                       "the command goes on as %s",
                       f->cfg->exec);
    f->input_open &= !f->input_last;
    return r;
}

/* ---- signals ---- */

static void take_signals(struct following *f)
{
    struct signalfd_siginfo si;
    while (read(f->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
        f->signals++;
        f->pending = f->signals >= SIGNALS_MOST ? SIGKILL : (int)si.ssi_signo;
    }
}

static void send_signal(struct following *f)
{
    buf_clear(&f->signal_body);
    buf_addf(&f->signal_body, "{\"signal\":\"%s\"}", sigabbrev_np(f->pending));
    f->pending = 0;
    const struct client_request q = {.method = "POST", .path = f->signal_path.p, .body = buf_str(&f->signal_body)};
    f->signal = client_begin(f->c, &q);
}

/* ---- the loop ---- */

static int turn(struct following *f, struct err *err)
{
    int64_t now = clock_mono(), until = now + 60 * CLOCK_S;
    int r = 0;
    if (f->again && f->again <= now)
        ask_events(f);
    if (f->input_again && f->input_again <= now)
        send_input(f);
    if (f->pending && !f->signal)
        send_signal(f);
    until = f->again ? NUM_MIN(until, f->again) : until;
    until = f->input_again ? NUM_MIN(until, f->input_again) : until;
    struct pollfd p[2] = {{f->sigfd, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    bool reads = f->input_open && !f->input && !f->input_again;
    client_turn(f->c, p, reads ? 2 : 1, (int)((until - now) / CLOCK_MS + 1));
    if (p[0].revents)
        take_signals(f);
    if (reads && p[1].revents)
        read_input(f);
    if (f->signal && client_done(f->signal)) {
        struct err ignored; /* one that comes too late is no failure, and the stream tells of a server that is gone */
        (void)client_end(f->signal, NULL, &ignored);
        f->signal = NULL;
    }
    if (f->input && client_done(f->input))
        r = input_ended(f, err);
    if (r == 0 && f->events && client_done(f->events))
        r = events_ended(f, err);
    return r;
}

static int check_whole(const struct following *f, struct err *err)
{
    uint64_t total = json_tree_number(f->end, "stdout_bytes", 0) + json_tree_number(f->end, "stderr_bytes", 0);
    if (f->failed)
        return err_set(err, f->failed, "writing output: %s", errtab_text(f->failed));
    if (f->at[1] + f->at[2] < total && !f->cfg->silent)
        return err_set(err, -EOVERFLOW,
                       "%llu bytes of output were not kept by the server: more than it keeps was printed",
                       (unsigned long long)(total - f->at[1] - f->at[2]));
    return 0;
}

static void open_paths(struct following *f)
{
    BUF_AUTO struct buf rest;
    buf_init(&rest, 4096);
    struct buf *all[] = {&f->path, &f->input_path, &f->signal_path};
    static const char *const tails[] = {"/output", "/stdin", "/signal"};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        buf_init(all[i], 4096);
        buf_clear(&rest);
        buf_addf(&rest, "/execs/%s%s", f->cfg->exec, tails[i]);
        client_session_path(all[i], f->cfg->session, rest.p);
    }
    buf_init(&f->input_body, 4 * INPUT_PIECE);
    buf_init(&f->signal_body, 256);
}

static void done(struct following *f)
{
    struct client_op *all[] = {f->events, f->input, f->signal};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i])
            (void)client_end(all[i], NULL, &f->err);
    }
    sse_done(&f->sse);
    buf_done(&f->path);
    buf_done(&f->input_path);
    buf_done(&f->signal_path);
    buf_done(&f->input_body);
    buf_done(&f->signal_body);
    fd_close(&f->sigfd);
}

int client_follow(const struct follow_config *cfg, struct json_tree **ret, struct err *err)
{
    struct following f = {.cfg = cfg, .c = cfg->client, .input_open = cfg->input, .pause = AGAIN_FIRST};
    sigset_t set;
    int r = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    f.sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sse_init(&f.sse, CLIENT_ANSWER_MAX);
    open_paths(&f);
    ask_events(&f);
    while (r == 0 && !f.end)
        r = turn(&f, err);
    if (r == 0)
        r = check_whole(&f, err);
    *ret = f.end;
    done(&f);
    return r;
}
