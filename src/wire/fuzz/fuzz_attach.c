/* SPDX-License-Identifier: Apache-2.0 */

/* Messages of a WebSocket on an exec, of either side: whatever comes is decoded or refused; what was decoded and is
 * written again is the same when it is read once more. The first byte says whether the rest is text. */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "wire/attach.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_binary_again(const struct attach_request *q)
{
    ARENA_AUTO struct arena a = {0};
    BUF_AUTO struct buf out;
    struct attach_request again;
    struct api_problem why;
    buf_init(&out, 16u << 20);
    attach_put_binary(&out, q->placed ? ATTACH_BIN_STDIN_AT : ATTACH_BIN_STDIN, q->offset, q->data);
    ASSERT(attach_get_request(false, buf_str(&out), &a, &again, &why) == 0);
    ASSERT(again.placed == q->placed && again.offset == q->offset && str_eq(again.data, q->data));
}

static void write_event_again(const struct attach_event *e)
{
    ARENA_AUTO struct arena a = {0};
    BUF_AUTO struct buf out;
    struct attach_event again;
    struct api_problem why;
    buf_init(&out, 16u << 20);
    if (e->kind == ATTACH_READY || e->kind == ATTACH_EXIT)
        return;
    attach_put_event(&out, e);
    ASSERT(attach_get_event(true, buf_str(&out), &a, &again, &why) == 0);
    ASSERT(again.kind == e->kind && again.offset == (e->kind == ATTACH_ERROR ? UINT64_MAX : e->offset));
    ASSERT(e->kind != ATTACH_OUTPUT || (again.stream == e->stream && str_eq(again.data, e->data)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_AUTO struct arena a = {0};
    struct attach_request q;
    struct attach_event e;
    struct api_problem why = {"", ""};
    if (size == 0)
        return 0;
    bool text = data[0] & 1;
    struct str in = str_of((const char *)data + 1, size - 1);
    int r = attach_get_request(text, in, &a, &q, &why);
    ASSERT(r == 0 || (text && r == -EINVAL && why.field[0] && why.text[0]) || r == -EBADMSG);
    if (r == 0 && q.kind == ATTACH_STDIN)
        write_binary_again(&q);
    ASSERT(r || q.kind != ATTACH_RESIZE || (q.cols && q.cols < 65536 && q.rows && q.rows < 65536));
    r = attach_get_event(text, in, &a, &e, &why);
    ASSERT(r == 0 || r == -EINVAL || r == -EBADMSG);
    if (r == 0)
        write_event_again(&e);
    return 0;
}
