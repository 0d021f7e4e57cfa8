/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cursor.h"

/* The next @n bytes, or NULL and bad. */
static const uint8_t *take(struct cursor *c, uint64_t n)
{
    if (c->bad || (uint64_t)(c->end - c->p) < n) {
        c->bad = true;
        return NULL;
    }
    const uint8_t *p = c->p;
    c->p += n;
    return p;
}

uint8_t cursor_u8(struct cursor *c)
{
    const uint8_t *p = take(c, 1);
    return p ? *p : 0;
}

uint32_t cursor_u32(struct cursor *c)
{
    const uint8_t *p = take(c, 4);
    uint32_t v = 0;
    for (int i = 3; p && i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

uint64_t cursor_u64(struct cursor *c)
{
    const uint8_t *p = take(c, 8);
    uint64_t v = 0;
    for (int i = 7; p && i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

uint64_t cursor_varint(struct cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b = cursor_u8(c);
        if (c->bad || (shift == 63 && b > 1) || (shift > 0 && b == 0))
            break; /* cut short, beyond 64 bits, or not the shortest form */
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return v;
    }
    c->bad = true;
    return 0;
}

struct str cursor_bytes(struct cursor *c, uint64_t n)
{
    const uint8_t *p = take(c, n);
    return p ? str_of((const char *)p, (size_t)n) : str_of(NULL, 0);
}

struct str cursor_str(struct cursor *c)
{
    return cursor_bytes(c, cursor_u32(c));
}
