/* SPDX-License-Identifier: Apache-2.0 */

/* One event as it lies in the file, in memory: its frame, its chain value, its checks. */

#include <errno.h>

#include "trace/trace_int.h"

static void put_le(char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (char)(v >> 8 * i);
}

void trace_event_chain(struct str s, const struct trace_link *at, struct cas_id *ret)
{
    struct cas_hash h;
    cas_hash_init(&h);
    cas_hash_add(&h, at->genesis->b, sizeof(at->genesis->b));
    cas_hash_add(&h, at->before->b, sizeof(at->before->b));
    cas_hash_add(&h, s.p, s.n - TRACE_TAIL);
    cas_hash_end(&h, ret->b);
}

int trace_event_put(struct buf *out, const struct trace_event *e, const struct trace_link *at,
                    const struct trace_masks *masks, struct cas_id *ret_chain)
{
    size_t begin = out->n;
    uint32_t n = 0;
    unsigned version = 0;
    const struct trace_field *f = trace_fields((unsigned)e->type, &n, &version);
    if (!f)
        return -EINVAL;
    char head[TRACE_HEAD] = {0}, tail[TRACE_TAIL] = {0};
    head[4] = (char)e->type;
    head[5] = (char)version;
    put_le(head + 8, at->seq, 8);
    put_le(head + 16, (uint64_t)e->time, 8);
    out->max = begin + LIMIT_TRACE_EVENT;
    buf_add(out, head, sizeof(head));
    trace_put_fields(out, e, f, n, masks);
    buf_add(out, tail, sizeof(tail));
    if (out->err) {
        int r = out->err;
        out->err = 0;
        buf_trunc(out, begin);
        return r;
    }
    struct str s = str_of(out->p + begin, out->n - begin);
    put_le(out->p + begin, s.n, 4);
    trace_event_chain(s, at, ret_chain);
    memcpy(out->p + out->n - TRACE_TAIL, ret_chain->b, sizeof(ret_chain->b));
    put_le(out->p + out->n - 4, s.n, 4);
    return 0;
}

uint32_t trace_event_length(const char *p)
{
    uint32_t n = trace_u32(p);
    return n >= TRACE_LEAST && n <= LIMIT_TRACE_EVENT ? n : 0;
}

int trace_event_check(struct str s, const struct trace_link *at, const char **ret_why)
{
    struct cas_id chain;
    if (trace_u64(s.p + 8) != at->seq) {
        *ret_why = "another event stands here (removed, doubled or moved)";
        return -EBADMSG;
    }
    trace_event_chain(s, at, &chain);
    if (memcmp(s.p + s.n - TRACE_TAIL, chain.b, sizeof(chain.b)) != 0) {
        *ret_why = "its chain value is wrong";
        return -EBADMSG;
    }
    if (trace_u32(s.p) != s.n || trace_u32(s.p + s.n - 4) != s.n) {
        *ret_why = "its two lengths differ";
        return -EBADMSG;
    }
    return 0;
}

int trace_event_get(struct str s, const struct trace_link *at, struct trace_event *ret, const char **ret_why)
{
    int r = trace_event_check(s, at, ret_why);
    if (r)
        return r;
    struct str body = str_of(s.p + TRACE_HEAD, s.n - TRACE_LEAST);
    *ret_why = "its type or version is not known, or its body is not of its type";
    if (s.p[6] || s.p[7] || trace_decode((enum trace_type)(uint8_t)s.p[4], (uint8_t)s.p[5], body, ret))
        return -EBADMSG;
    ret->seq = at->seq;
    ret->time = (int64_t)trace_u64(s.p + 16);
    return 0;
}
