/* SPDX-License-Identifier: Apache-2.0 */
#include "ws/ws.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <wslay/wslay.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cas/digest.h"
#include "types/limits.h"
#include "wire/api.h"
#include "wire/json_write.h"

#define READ_AT_ONCE (256u << 10) /* bytes in one ws_receive(): then others have a turn */

struct ws {
    struct ws_config cfg;
    wslay_event_context_ptr ctx;
    bool paused, broken, over; /* over: the closing is through as far as we are concerned */
    uint16_t code;             /* of the close frame that waits until all messages are out; 0: none does */
    char reason[124];
    size_t budget;
    uint64_t in, out;
};

/* ---- what wslay asks for ---- */

static ssize_t on_read(wslay_event_context_ptr ctx, uint8_t *p, size_t n, int flags, void *arg)
{
    struct ws *w = arg;
    (void)flags;
    ssize_t r = w->paused || w->budget == 0 ? -EAGAIN : w->cfg.read(w->cfg.arg, p, n < w->budget ? n : w->budget);
    if (r > 0) {
        w->budget -= (size_t)r;
        w->in += (uint64_t)r;
        return r;
    }
    w->broken |= r != -EAGAIN;
    wslay_event_set_error(ctx, r == -EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static ssize_t on_write(wslay_event_context_ptr ctx, const uint8_t *p, size_t n, int flags, void *arg)
{
    struct ws *w = arg;
    (void)flags;
    ssize_t r = w->cfg.write(w->cfg.arg, p, n);
    if (r > 0) {
        w->out += (uint64_t)r;
        return r;
    }
    w->broken |= r != -EAGAIN;
    wslay_event_set_error(ctx, r == -EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static int on_mask(wslay_event_context_ptr ctx, uint8_t *p, size_t n, void *arg)
{
    (void)ctx, (void)arg;
    return getrandom(p, n, 0) == (ssize_t)n ? 0 : -1; /* four bytes are never given in part */
}

static void on_message(wslay_event_context_ptr ctx, const struct wslay_event_on_msg_recv_arg *m, void *arg)
{
    struct ws *w = arg;
    (void)ctx;
    if (wslay_is_ctrl_frame(m->opcode) || ws_closing(w))
        return;
    w->cfg.message(w->cfg.arg, m->opcode == WSLAY_TEXT_FRAME, str_of((const char *)m->msg, m->msg_length));
}

/* ---- life ---- */

struct ws *ws_new(const struct ws_config *cfg)
{
    const struct wslay_event_callbacks calls = {.recv_callback = on_read,
                                                .send_callback = on_write,
                                                .genmask_callback = on_mask,
                                                .on_msg_recv_callback = on_message};
    struct ws *w = mem_zalloc(sizeof(*w));
    w->cfg = *cfg;
    if (cfg->client ? wslay_event_context_client_init(&w->ctx, &calls, w)
                    : wslay_event_context_server_init(&w->ctx, &calls, w)) {
        mem_free(w);
        return NULL;
    }
    wslay_event_config_set_max_recv_msg_length(w->ctx, LIMIT_WS_MESSAGE);
    return w;
}

void ws_free(struct ws *w)
{
    if (!w)
        return;
    wslay_event_context_free(w->ctx);
    mem_free(w);
}

/* ---- moving ---- */

static bool sent_and_got_close(const struct ws *w)
{
    return wslay_event_get_close_sent(w->ctx) && wslay_event_get_close_received(w->ctx);
}

void ws_receive(struct ws *w)
{
    w->budget = READ_AT_ONCE;
    if (w->over || !ws_wants_read(w))
        return;
    /* A frame that is none is answered by a close frame without a code, after which nothing is read. */
    if (wslay_event_recv(w->ctx) && w->broken)
        w->over = true;
}

void ws_flush(struct ws *w)
{
    if (w->over)
        return;
    if (wslay_event_send(w->ctx))
        w->over = true;
    /* wslay sends control frames first, so that the close frame would overtake what was put before it. */
    if (w->code && wslay_event_get_queued_msg_count(w->ctx) == 0) {
        (void)wslay_event_queue_close(w->ctx, w->code, (const uint8_t *)w->reason, strlen(w->reason));
        w->code = 0; /* a queue that takes it no more has a close frame already */
        if (wslay_event_send(w->ctx))
            w->over = true;
    }
    /* The peer broke the protocol, has been told so, and is not listened to any more. */
    if (wslay_event_get_close_sent(w->ctx) && !wslay_event_want_read(w->ctx))
        w->over = true;
    w->over |= sent_and_got_close(w);
}

bool ws_wants_read(const struct ws *w)
{
    return !w->over && !w->paused && wslay_event_want_read(w->ctx) &&
           wslay_event_get_queued_msg_count(w->ctx) <= LIMIT_WS_QUEUE;
}

bool ws_wants_write(const struct ws *w)
{
    return !w->over && (w->code || wslay_event_want_write(w->ctx));
}

void ws_pause(struct ws *w, bool on)
{
    w->paused = on;
}

static void put(struct ws *w, uint8_t opcode, struct str data)
{
    const struct wslay_event_msg m = {opcode, (const uint8_t *)data.p, data.n};
    if (w->over || ws_closing(w))
        return;
    if (wslay_event_queue_msg(w->ctx, &m))
        w->over = true; /* memory is short */
}

void ws_put(struct ws *w, bool text, struct str data)
{
    put(w, text ? WSLAY_TEXT_FRAME : WSLAY_BINARY_FRAME, data);
}

void ws_ping(struct ws *w)
{
    put(w, WSLAY_PING, str_of("", 0));
}

size_t ws_queued(const struct ws *w)
{
    return wslay_event_get_queued_msg_length(w->ctx);
}

/* ---- closing ---- */

void ws_close(struct ws *w, enum ws_close_code code, struct str reason)
{
    if (w->over || ws_closing(w))
        return;
    w->code = (uint16_t)code;
    snprintf(w->reason, sizeof(w->reason), "%.*s", (int)reason.n, reason.p);
}

bool ws_closing(const struct ws *w)
{
    /* wslay stops reading when it has queued a close frame of its own. */
    return w->over || w->code || wslay_event_get_close_sent(w->ctx) || !wslay_event_want_read(w->ctx);
}

bool ws_closed(const struct ws *w)
{
    return w->over;
}

bool ws_broken(const struct ws *w)
{
    return w->broken;
}

int ws_close_code(const struct ws *w)
{
    return wslay_event_get_close_received(w->ctx) ? wslay_event_get_status_code_received(w->ctx) : WS_BROKEN;
}

void ws_moved(const struct ws *w, uint64_t *ret_in, uint64_t *ret_out)
{
    *ret_in = w->in;
    *ret_out = w->out;
}

/* ---- the handshake (RFC 6455, 4.2.2) ---- */

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

static void base64(const uint8_t *p, size_t n, char ret[WS_ACCEPT_MAX])
{
    BUF_AUTO struct buf b;
    buf_init(&b, WS_ACCEPT_MAX);
    json_put_base64(&b, str_of((const char *)p, n));
    snprintf(ret, WS_ACCEPT_MAX, "%.*s", (int)b.n, b.p);
}

int ws_accept(struct str key, char ret[WS_ACCEPT_MAX])
{
    struct cas_digest d;
    uint8_t sha1[CAS_DIGEST_MAX];
    ARENA_AUTO struct arena a = {0};
    struct str raw;
    if (key.n != 24 || api_base64(key, &a, &raw) || raw.n != 16)
        return -EINVAL;
    cas_digest_init(&d, CAS_SHA1);
    cas_digest_add(&d, key.p, key.n);
    cas_digest_add(&d, GUID, sizeof(GUID) - 1);
    cas_digest_end(&d, sha1);
    base64(sha1, cas_digest_size(CAS_SHA1), ret);
    return 0;
}

void ws_key(const uint8_t random[16], char ret[WS_ACCEPT_MAX])
{
    base64(random, 16, ret);
}
