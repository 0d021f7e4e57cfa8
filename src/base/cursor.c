/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cursor.h"

/* The next @n bytes, or NULL and bad. */
static const uint8_t *take(struct cursor *c, size_t n)
{
    if (c->bad || (size_t)(c->end - c->p) < n) {
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

struct str cursor_str(struct cursor *c)
{
    uint32_t n = cursor_u32(c);
    const uint8_t *p = take(c, n);
    return p ? str_of((const char *)p, n) : str_of(NULL, 0);
}
