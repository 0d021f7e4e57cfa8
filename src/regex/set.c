/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/ast.h"

#include <stdlib.h>

#include "base/num.h"

void rx__set_add(struct arena *a, struct rx_set *s, uint32_t lo, uint32_t hi)
{
    if (s->n > 0 && lo >= s->r[s->n - 1].lo && lo <= s->r[s->n - 1].hi + 1) {
        s->r[s->n - 1].hi = NUM_MAX(s->r[s->n - 1].hi, hi);
        return;
    }
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 4;
        struct unicode_range *r = arena_alloc(a, cap * sizeof(*r));
        if (s->n > 0)
            memcpy(r, s->r, s->n * sizeof(*r));
        s->r = r;
        s->cap = cap;
    }
    s->r[s->n++] = (struct unicode_range){lo, hi};
}

void rx__set_add_class(struct arena *a, struct rx_set *s, enum unicode_class cls, bool utf8)
{
    const struct unicode_range *r;
    size_t n;
    for (unsigned i = 0; (r = unicode_class_table(cls, i, &n)); i++) {
        for (size_t k = 0; k < n; k++) {
            if (utf8)
                rx__set_add(a, s, r[k].lo, r[k].hi);
            else if (r[k].lo < 0x80)
                rx__set_add(a, s, r[k].lo, NUM_MIN(r[k].hi, 0x7fu));
            else
                break;
        }
    }
}

static int by_lo(const void *pa, const void *pb)
{
    const struct unicode_range *a = pa, *b = pb;
    return (a->lo > b->lo) - (a->lo < b->lo);
}

void rx__set_finish(struct rx_set *s)
{
    if (s->n < 2)
        return;
    bool sorted = true;
    for (size_t i = 1; i < s->n && sorted; i++)
        sorted = s->r[i - 1].lo <= s->r[i].lo;
    if (!sorted)
        qsort(s->r, s->n, sizeof(s->r[0]), by_lo);
    size_t w = 0;
    for (size_t i = 1; i < s->n; i++) {
        if (s->r[i].lo <= s->r[w].hi + 1)
            s->r[w].hi = NUM_MAX(s->r[w].hi, s->r[i].hi);
        else
            s->r[++w] = s->r[i];
    }
    s->n = w + 1;
}

bool rx__set_has(const struct rx_set *s, uint32_t c)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (c > s->r[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n && c >= s->r[lo].lo;
}

void rx__set_negate(struct arena *a, struct rx_set *s, bool utf8)
{
    struct rx_set out = {0};
    uint32_t from = 0, last = utf8 ? UNICODE_MAX : 0xff;
    for (size_t i = 0; i < s->n; i++) {
        if (s->r[i].lo > from)
            rx__set_add(a, &out, from, s->r[i].lo - 1);
        from = s->r[i].hi + 1;
    }
    if (from <= last)
        rx__set_add(a, &out, from, last);
    *s = out;
}

/* The GNU C library folds the text to upper case and compares; a small letter of the set itself is then never met. */
void rx__set_unfold(struct arena *a, struct rx_set *s, bool utf8)
{
    struct rx_set out = {0};
    size_t n;
    const struct unicode_map *m = unicode_upper_table(&n);
    for (size_t i = 0; i < n && (utf8 || m[i].lo < 0x80); i++) {
        for (uint32_t c = m[i].lo; c <= m[i].hi; c += m[i].step) {
            if (rx__set_has(s, (uint32_t)((int32_t)c + m[i].delta)))
                rx__set_add(a, &out, c, c);
        }
    }
    size_t mapped = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t lo = s->r[i].lo;
        while (mapped < n && m[mapped].hi < lo)
            mapped++;
        /* Every character of the range that maps to another one is cut out. */
        for (size_t k = mapped; k < n && m[k].lo <= s->r[i].hi && (utf8 || m[k].lo < 0x80); k++) {
            for (uint32_t c = m[k].lo; c <= m[k].hi && c <= s->r[i].hi; c += m[k].step) {
                if (c < lo)
                    continue;
                if (c > lo)
                    rx__set_add(a, &out, lo, c - 1);
                lo = c + 1;
            }
        }
        if (lo <= s->r[i].hi)
            rx__set_add(a, &out, lo, s->r[i].hi);
    }
    rx__set_finish(&out);
    *s = out;
}

void rx__set_unfold_char(struct arena *a, struct rx_set *s, uint32_t up, bool utf8)
{
    size_t n;
    const struct unicode_map *m = unicode_upper_table(&n);
    if (unicode_upper(up) == up)
        rx__set_add(a, s, up, up);
    for (size_t i = 0; i < n && (utf8 || m[i].lo < 0x80); i++) {
        uint32_t c = (uint32_t)((int32_t)up - m[i].delta);
        if (c >= m[i].lo && c <= m[i].hi && (c - m[i].lo) % m[i].step == 0)
            rx__set_add(a, s, c, c);
    }
    rx__set_finish(s);
}

void rx__set_remove(struct arena *a, struct rx_set *s, uint32_t c)
{
    if (!rx__set_has(s, c))
        return;
    struct rx_set out = {0};
    for (size_t i = 0; i < s->n; i++) {
        struct unicode_range r = s->r[i];
        if (c < r.lo || c > r.hi) {
            rx__set_add(a, &out, r.lo, r.hi);
            continue;
        }
        if (r.lo < c)
            rx__set_add(a, &out, r.lo, c - 1);
        if (c < r.hi)
            rx__set_add(a, &out, c + 1, r.hi);
    }
    *s = out;
}
