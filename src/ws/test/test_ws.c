/* SPDX-License-Identifier: Apache-2.0 */

/* Two ends over two buffers, and one end whose peer is bytes that the test writes by hand (RFC 6455, 5.2). */

#include "ws/ws.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/test/test.h"
#include "types/limits.h"

struct end {
    struct ws *ws;
    struct buf *in, *out; /* what it reads and writes */
    size_t room;          /* bytes that the stream still takes */
    bool ended;           /* the peer has gone */
    char log[4000];
};

static ssize_t take(void *arg, void *p, size_t n)
{
    struct end *e = arg;
    size_t k = n < e->in->n ? n : e->in->n;
    if (k == 0)
        return e->ended ? 0 : -EAGAIN;
    memcpy(p, e->in->p, k);
    memmove(e->in->p, e->in->p + k, e->in->n - k);
    buf_trunc(e->in, e->in->n - k);
    return (ssize_t)k;
}

static ssize_t give(void *arg, const void *p, size_t n)
{
    struct end *e = arg;
    size_t k = n < e->room ? n : e->room;
    if (k == 0)
        return -EAGAIN;
    e->room -= k;
    return buf_add(e->out, p, k) ? -EPIPE : (ssize_t)k;
}

static void note(void *arg, bool text, struct str data)
{
    struct end *e = arg;
    size_t at = strlen(e->log);
    int n = (int)(data.n < 20 ? data.n : 20);
    snprintf(e->log + at, sizeof(e->log) - at, "%s%zu:%.*s;", text ? "t" : "b", data.n, n, data.p);
}

static void open_end(struct end *e, bool client, struct buf *in, struct buf *out)
{
    const struct ws_config cfg = {.client = client, .arg = e, .read = take, .write = give, .message = note};
    *e = (struct end){.in = in, .out = out, .room = SIZE_MAX};
    e->ws = ws_new(&cfg);
    CHECK(e->ws != NULL);
}

static void turn(struct end *e)
{
    ws_receive(e->ws);
    ws_flush(e->ws);
}

struct pair {
    struct buf up, down;
    struct end client, server;
};

static void open_pair(struct pair *p)
{
    buf_init(&p->up, 64u << 20);
    buf_init(&p->down, 64u << 20);
    open_end(&p->client, true, &p->down, &p->up);
    open_end(&p->server, false, &p->up, &p->down);
}

static void close_pair(struct pair *p)
{
    ws_free(p->client.ws);
    ws_free(p->server.ws);
    buf_done(&p->up);
    buf_done(&p->down);
}

TEST(messages_both_ways_and_an_orderly_end)
{
    struct pair p;
    open_pair(&p);
    ws_put(p.client.ws, true, STR("héllo"));
    ws_put(p.client.ws, false, STR("\0\377"));
    ws_put(p.server.ws, false, STR(""));
    turn(&p.client);
    turn(&p.server);
    turn(&p.client);
    CHECK_C(p.server.log, "t6:héllo;b2:;");
    CHECK_C(p.client.log, "b0:;");
    /* What was put before the closing comes before it. */
    ws_put(p.server.ws, true, STR("last"));
    ws_close(p.server.ws, WS_NORMAL, STR("done"));
    CHECK(ws_closing(p.server.ws) && !ws_closed(p.server.ws));
    ws_put(p.server.ws, true, STR("too late"));
    turn(&p.server);
    turn(&p.client);
    CHECK_C(p.client.log, "b0:;t4:last;");
    CHECK_INT(ws_close_code(p.client.ws), WS_NORMAL);
    CHECK(ws_closed(p.client.ws));
    turn(&p.server);
    CHECK(ws_closed(p.server.ws));
    CHECK_INT(ws_close_code(p.server.ws), WS_NORMAL);
    close_pair(&p);
}

TEST(a_stream_that_takes_one_byte_at_a_time)
{
    struct pair p;
    open_pair(&p);
    ws_put(p.client.ws, true, STR("first"));
    ws_put(p.client.ws, true, STR("second"));
    ws_close(p.client.ws, WS_GOING_AWAY, STR(""));
    for (int i = 0; i < 1000 && !ws_closed(p.server.ws); i++) {
        p.client.room = p.server.room = 1;
        turn(&p.client);
        turn(&p.server);
    }
    CHECK_C(p.server.log, "t5:first;t6:second;");
    CHECK_INT(ws_close_code(p.server.ws), WS_GOING_AWAY);
    CHECK_INT(ws_queued(p.client.ws), 0);
    close_pair(&p);
}

/* ---- a peer by hand ---- */

/* A frame of a client; @mask false: without masking. */
static void frame(struct buf *to, int first, struct str data, bool mask)
{
    static const char key[4] = {1, 2, 3, 4};
    buf_putc(to, (char)first);
    if (data.n < 126) {
        buf_putc(to, (char)((mask ? 0x80 : 0) | (int)data.n));
    } else {
        bool wide = data.n > 65535;
        buf_putc(to, (char)((mask ? 0x80 : 0) | (wide ? 127 : 126)));
        for (int i = wide ? 7 : 1; i >= 0; i--)
            buf_putc(to, (char)((uint64_t)data.n >> (8 * i)));
    }
    if (mask)
        buf_add(to, key, 4);
    for (size_t i = 0; i < data.n; i++)
        buf_putc(to, (char)(data.p[i] ^ (mask ? key[i % 4] : 0)));
}

/* The close code that a server answers, after what it had to say; 0: none, -1: a close frame without a code. */
static int answered(const struct buf *out)
{
    for (size_t i = 0; i + 1 < out->n;) {
        size_t n = (uint8_t)out->p[i + 1];
        if ((uint8_t)out->p[i] == 0x88)
            return n < 2 ? -1 : (uint8_t)out->p[i + 2] << 8 | (uint8_t)out->p[i + 3];
        i += 2 + n;
    }
    return 0;
}

struct by_hand {
    const char *what;
    struct {
        int first;
        const char *data;
        size_t n;
        bool plain; /* not masked */
    } frames[4];
    const char *log;
    int code;
};

#define DATA(s) (s), sizeof(s) - 1

TEST(frames_by_hand)
{
    static const struct by_hand all[] = {
        {"one message", {{0x81, DATA("abc"), false}}, "t3:abc;", 0},
        {"in three parts", {{0x01, DATA("a"), false}, {0, DATA("b"), false}, {0x80, DATA("c"), false}}, "t3:abc;", 0},
        {"a ping between", {{0x01, DATA("a"), false}, {0x89, DATA("x"), false}, {0x80, DATA("c"), false}}, "t2:ac;", 0},
        {"a character cut in two", {{0x01, DATA("\303"), false}, {0x80, DATA("\251"), false}}, "t2:é;", 0},
        {"not masked", {{0x81, DATA("abc"), true}}, "", 1002},
        {"not UTF-8", {{0x81, DATA("\377"), false}}, "", 1007},
        {"half a character", {{0x81, DATA("\303"), false}}, "", 1007},
        {"a surrogate", {{0x81, DATA("\355\240\200"), false}}, "", 1007},
        {"bytes need not be UTF-8", {{0x82, DATA("\377"), false}}, "b1:\377;", 0},
        {"nothing to go on with", {{0x80, DATA("x"), false}}, "", 1002},
        {"a message within a message", {{0x01, DATA("a"), false}, {0x81, DATA("b"), false}}, "", 1002},
        {"a reserved bit", {{0xc1, DATA("a"), false}}, "", 1002},
        {"a reserved opcode", {{0x83, DATA("a"), false}}, "", 1002},
        {"a ping in parts", {{0x09, DATA("a"), false}}, "", -1},
        {"a close", {{0x88, DATA("\003\350"), false}}, "", 1000},
        {"a close without a code", {{0x88, DATA(""), false}}, "", -1},
        {"a close code of one's own", {{0x88, DATA("\017\240"), false}}, "", 4000},
        {"a close code that is none", {{0x88, DATA("\003\355"), false}}, "", 1002},
        {"nothing after a close", {{0x88, DATA("\003\350"), false}, {0x81, DATA("x"), false}}, "", 1000},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        BUF_AUTO struct buf in, out;
        struct end e;
        buf_init(&in, 1u << 20);
        buf_init(&out, 1u << 20);
        open_end(&e, false, &in, &out);
        for (int k = 0; k < 4 && all[i].frames[k].data; k++)
            frame(&in, all[i].frames[k].first, str_of(all[i].frames[k].data, all[i].frames[k].n),
                  !all[i].frames[k].plain);
        turn(&e);
        int code = answered(&out);
        if (strcmp(e.log, all[i].log) || code != all[i].code)
            CHECK_C(all[i].what, "as expected"); /* names the row that is wrong */
        CHECK_C(e.log, all[i].log);
        CHECK_INT(code, all[i].code);
        CHECK_INT(ws_closed(e.ws), code != 0);
        ws_free(e.ws);
    }
}

TEST(the_longest_message_and_one_that_is_longer)
{
    char *big = mem_zalloc(LIMIT_WS_MESSAGE + 1);
    for (size_t more = 0; more < 2; more++) {
        BUF_AUTO struct buf in, out;
        struct end e;
        buf_init(&in, 4u << 20);
        buf_init(&out, 1u << 20);
        open_end(&e, false, &in, &out);
        /* In two parts: it is the whole that counts. */
        frame(&in, 0x02, str_of(big, 1000), true);
        frame(&in, 0x80, str_of(big, LIMIT_WS_MESSAGE - 1000 + more), true);
        for (int i = 0; i < 4; i++)
            turn(&e);
        CHECK_INT(e.log[0] != 0, more == 0);
        CHECK_INT(answered(&out), more ? 1009 : 0);
        ws_free(e.ws);
    }
    mem_free(big);
}

TEST(who_sends_and_does_not_read_is_not_read_from)
{
    BUF_AUTO struct buf in, out;
    struct end e;
    buf_init(&in, 4u << 20);
    buf_init(&out, 1u << 20);
    open_end(&e, false, &in, &out);
    e.room = 0;
    for (int i = 0; i < 100000; i++)
        frame(&in, 0x89, STR("ping"), true);
    for (int i = 0; i < 10; i++)
        turn(&e);
    /* What was read in one go is answered, but no more is read. */
    size_t left = in.n;
    CHECK(!ws_wants_read(e.ws));
    turn(&e);
    CHECK_INT(in.n, left);
    CHECK(left > 0);
    e.room = SIZE_MAX;
    for (int i = 0; i < 1000 && in.n; i++)
        turn(&e);
    CHECK_INT(in.n, 0);
    CHECK_INT(out.n, 100000 * 6);
    ws_free(e.ws);
}

TEST(a_pause_and_an_end_without_a_close)
{
    BUF_AUTO struct buf in, out;
    struct end e;
    buf_init(&in, 1u << 20);
    buf_init(&out, 1u << 20);
    open_end(&e, false, &in, &out);
    ws_pause(e.ws, true);
    frame(&in, 0x81, STR("x"), true);
    turn(&e);
    CHECK_C(e.log, "");
    CHECK(!ws_wants_read(e.ws));
    ws_pause(e.ws, false);
    turn(&e);
    CHECK_C(e.log, "t1:x;");
    e.ended = true;
    turn(&e);
    CHECK(ws_closed(e.ws) && ws_broken(e.ws));
    CHECK_INT(ws_close_code(e.ws), WS_BROKEN);
    ws_free(e.ws);
}

TEST(the_answer_of_the_handshake)
{
    char got[WS_ACCEPT_MAX];
    CHECK_INT(ws_accept(STR("dGhlIHNhbXBsZSBub25jZQ=="), got), 0); /* RFC 6455, 1.3 */
    CHECK_C(got, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    CHECK_INT(ws_accept(STR("dGhlIHNhbXBsZSBub25jZQ"), got), -EINVAL);
    CHECK_INT(ws_accept(STR("dGhlIHNhbXBsZSBub25jZQ=!"), got), -EINVAL);
    CHECK_INT(ws_accept(STR(""), got), -EINVAL);
    ws_key((const uint8_t *)"the sample nonce", got);
    CHECK_C(got, "dGhlIHNhbXBsZSBub25jZQ==");
}
