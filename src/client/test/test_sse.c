/* SPDX-License-Identifier: Apache-2.0 */
#include "client/sse.h"

#include <errno.h>

#include "base/test/test.h"

/* Events as NAME|ID|DATA; each. */
static int note(void *arg, const struct sse_event *e)
{
    struct buf *out = arg;
    buf_adds(out, e->name);
    buf_putc(out, '|');
    buf_adds(out, e->id);
    buf_putc(out, '|');
    buf_adds(out, e->data);
    return buf_putc(out, ';');
}

/* WHATWG HTML, 9.2.6, and its examples. */
static const char stream[] = "\xef\xbb\xbf" /* no byte order mark is sent by our server; the line is then unknown */
                             ": comment\n\n"
                             "data: YHOO\ndata: +2\r\ndata:10\n\n"
                             "event: add\rid: 1-2\rdata: 73857293\r\r"
                             "event: nothing\n\n"
                             "data\n\n"
                             "data:  two blanks\r\n\r\n"
                             "data: cut";
static const char want[] = "message||YHOO\n+2\n10;add|1-2|73857293;message|1-2|;message|1-2| two blanks;";

TEST(sse_of_any_pieces)
{
    for (size_t piece = 1; piece < sizeof(stream); piece++) {
        struct sse s;
        BUF_AUTO struct buf out;
        buf_init(&out, 4096);
        sse_init(&s, 4096);
        for (size_t i = 0; i < sizeof(stream) - 1; i += piece) {
            size_t left = sizeof(stream) - 1 - i;
            CHECK_INT(sse_feed(&s, str_of(stream + i, left < piece ? left : piece), note, &out), 0);
        }
        CHECK_STR(buf_str(&out), str_c(want));
        sse_done(&s);
    }
}

TEST(sse_is_bounded_and_forgets)
{
    struct sse s;
    BUF_AUTO struct buf out;
    buf_init(&out, 4096);
    sse_init(&s, 16);
    CHECK_INT(sse_feed(&s, STR("data: 0123456789abcdef\n"), note, &out), -EFBIG);
    sse_reset(&s);
    CHECK_INT(sse_feed(&s, STR("data: half"), note, &out), 0);
    sse_reset(&s);
    CHECK_INT(sse_feed(&s, STR("\ndata: x\n\n"), note, &out), 0);
    CHECK_STR(buf_str(&out), STR("message||x;"));
    sse_done(&s);
}
