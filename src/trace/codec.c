/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/cursor.h"
#include "trace/trace_int.h"

#define VARINT_MOST 10 /* bytes of 64 bits, 7 in each */

static void put_varint(struct buf *b, uint64_t v)
{
    char x[VARINT_MOST];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        x[n++] = (char)(v | 0x80);
    x[n++] = (char)v;
    buf_add(b, x, n);
}

/* One number has one form: the last byte is not 0 when there are several, and nothing goes beyond 64 bits. */
static uint64_t get_varint(struct cursor *c)
{
    uint64_t v = 0;
    for (int i = 0; i < VARINT_MOST; i++) {
        uint8_t b = cursor_u8(c);
        v |= (uint64_t)(b & 0x7f) << 7 * i;
        if (b & 0x80)
            continue;
        if ((i > 0 && b == 0) || (i == VARINT_MOST - 1 && b > 1))
            break;
        return v;
    }
    c->bad = true;
    return 0;
}

/* Small numbers of either sign become small numbers without one. */
static uint64_t zigzag(uint64_t v)
{
    return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

static uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

static bool is_zero(const uint8_t *p)
{
    static const uint8_t zero[CAS_HASH_SIZE];
    return memcmp(p, zero, sizeof(zero)) == 0;
}

static struct str get_bytes(struct cursor *c, uint64_t n)
{
    if (c->bad || (uint64_t)(c->end - c->p) < n) {
        c->bad = true;
        return str_of(NULL, 0);
    }
    struct str s = str_of((const char *)c->p, (size_t)n);
    c->p += n;
    return s;
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
            put_varint(out, zigzag(trace_field_number(e, f)));
            break;
        case TRACE_STR:
            s = trace_field_str(e, f);
            put_varint(out, s.n);
            if (buf_adds(out, s) == 0 && masks && masks->n)
                trace_mask_apply(masks, s, out->p + out->n - s.n);
            break;
        case TRACE_ID:
            buf_putc(out, !is_zero(bytes));
            if (!is_zero(bytes))
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
            set_number(&c, f, p, get_varint(&c));
            break;
        case TRACE_INT:
            set_number(&c, f, p, unzigzag(get_varint(&c)));
            break;
        case TRACE_STR:
            s = get_bytes(&c, get_varint(&c));
            memcpy(p, &s, sizeof(s));
            break;
        case TRACE_ID: {
            uint8_t there = cursor_u8(&c);
            s = get_bytes(&c, there == 1 ? f->size : 0);
            if (s.n)
                memcpy(p, s.p, s.n);
            c.bad |= there > 1 || (s.n && is_zero((const uint8_t *)s.p));
            break;
        }
        case TRACE_RAW:
            s = get_bytes(&c, f->size);
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
