/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/cursor.h"
#include "base/varint.h"
#include "trace/trace_int.h"

static void put_varint(struct buf *b, uint64_t v)
{
    uint8_t x[VARINT_MOST];
    buf_add(b, x, (size_t)(varint_put(x, v) - x));
}

void trace_put_fields(struct buf *out, const struct trace_event *e, const struct trace_field *f, uint32_t n,
                      const struct trace_masks *masks)
{
    for (uint32_t i = 0; i < n; i++, f++) {
        const uint8_t *bytes = trace_field_bytes(e, f);
        struct str s;
        switch ((enum trace_kind)f->kind) {
        case TRACE_UINT:
            if (trace_field_number(e, f) > f->most)
                out->err = out->err ? out->err : -EINVAL;
            put_varint(out, trace_field_number(e, f));
            break;
        case TRACE_INT:
            put_varint(out, varint_zigzag((int64_t)trace_field_number(e, f)));
            break;
        case TRACE_STR:
            s = trace_field_str(e, f);
            put_varint(out, s.n);
            if (buf_adds(out, s) == 0 && masks && masks->n)
                trace_mask_apply(masks, s, out->p + out->n - s.n);
            break;
        case TRACE_ID:
            buf_putc(out, !cas_id_none((const struct cas_id *)bytes));
            if (!cas_id_none((const struct cas_id *)bytes))
                buf_add(out, bytes, f->size);
            break;
        case TRACE_RAW:
            buf_add(out, bytes, f->size);
            break;
        }
    }
}

/* Stores a number in its member; one that does not fit is bad. */
static void set_number(struct cursor *c, const struct trace_field *f, char *p, uint64_t v)
{
    int64_t i = (int64_t)v;
    bool fits = f->kind == TRACE_UINT ? v <= f->most : f->size == 8 || (i >= INT32_MIN && i <= INT32_MAX);
    if (!fits) {
        c->bad = true;
        return;
    }
    /* The machine is little-endian, as all of the product's are: the low bytes come first. */
    memcpy(p, &v, f->size);
}

int trace_get_fields(struct str body, unsigned version, const struct trace_field *f, uint32_t n,
                     struct trace_event *ret)
{
    struct cursor c = cursor_of(body.p, body.n);
    struct str s;
    for (uint32_t i = 0; i < n && f->since <= version; i++, f++) {
        char *p = (char *)ret + f->offset;
        switch ((enum trace_kind)f->kind) {
        case TRACE_UINT:
            set_number(&c, f, p, cursor_varint(&c));
            break;
        case TRACE_INT:
            set_number(&c, f, p, (uint64_t)varint_unzigzag(cursor_varint(&c)));
            break;
        case TRACE_STR:
            s = cursor_bytes(&c, cursor_varint(&c));
            memcpy(p, &s, sizeof(s));
            break;
        case TRACE_ID: {
            uint8_t there = cursor_u8(&c);
            s = cursor_bytes(&c, there == 1 ? f->size : 0);
            if (s.n)
                memcpy(p, s.p, s.n);
            c.bad |= there > 1 || (s.n && cas_id_none((const struct cas_id *)s.p));
            break;
        }
        case TRACE_RAW:
            s = cursor_bytes(&c, f->size);
            if (s.n)
                memcpy(p, s.p, s.n);
            break;
        }
    }
    return cursor_ok(&c) ? 0 : -EBADMSG;
}

void trace_encode(struct buf *out, const struct trace_event *e)
{
    uint32_t n = 0;
    const struct trace_field *f = trace_fields((unsigned)e->type, &n, NULL);
    if (!f)
        out->err = out->err ? out->err : -EINVAL;
    trace_put_fields(out, e, f, n, NULL);
}

int trace_decode(enum trace_type type, unsigned version, struct str body, struct trace_event *ret)
{
    uint32_t n = 0;
    unsigned newest = 0;
    const struct trace_field *f = trace_fields((unsigned)type, &n, &newest);
    if (!f || version < 1 || version > newest)
        return -EBADMSG;
    struct trace_event e = {.type = type};
    if (trace_get_fields(body, version, f, n, &e))
        return -EBADMSG;
    *ret = e;
    return 0;
}
