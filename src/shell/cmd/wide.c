/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/wide.h"

#include "shell/cmd/wide_int.h"

/* Length that the first byte announces, the smallest code point of that length, and the bits the byte gives; 0: not a first byte. */
static unsigned lead(uint8_t b, uint32_t *ret_min, uint32_t *ret_bits)
{
    if (b >= 0xc2 && b <= 0xdf) {
        *ret_min = 0x80;
        *ret_bits = b & 0x1fu;
        return 2;
    }
    if (b >= 0xe0 && b <= 0xef) {
        *ret_min = 0x800;
        *ret_bits = b & 0x0fu;
        return 3;
    }
    if (b >= 0xf0 && b <= 0xf4) {
        *ret_min = 0x10000;
        *ret_bits = b & 0x07u;
        return 4;
    }
    return 0;
}

size_t wide_decode(const char *p, size_t n, uint32_t *ret)
{
    uint8_t b = (uint8_t)p[0];
    if (b < 0x80) {
        *ret = b;
        return 1;
    }
    uint32_t min, ch;
    unsigned len = lead(b, &min, &ch);
    if (len == 0 || n < len)
        return 0;
    for (unsigned i = 1; i < len; i++) {
        uint8_t k = (uint8_t)p[i];
        if ((k & 0xc0) != 0x80)
            return 0;
        ch = ch << 6 | (k & 0x3fu);
    }
    if (ch < min || ch > 0x10ffff || (ch >= 0xd800 && ch <= 0xdfff))
        return 0;
    *ret = ch;
    return len;
}

bool wide_partial(const char *p, size_t n)
{
    uint32_t min, bits;
    unsigned len = n > 0 ? lead((uint8_t)p[0], &min, &bits) : 0;
    if (len <= n)
        return false;
    for (size_t i = 1; i < n; i++)
        if (((uint8_t)p[i] & 0xc0) != 0x80)
            return false;
    if (n < 2)
        return true;
    uint8_t a = (uint8_t)p[0], k = (uint8_t)p[1];
    return !((a == 0xe0 && k < 0xa0) || (a == 0xed && k > 0x9f) || (a == 0xf0 && k < 0x90) || (a == 0xf4 && k > 0x8f));
}

int wide_width(uint32_t ch)
{
    if (ch < 0x7f)
        return ch >= 0x20 ? 1 : -1;
    size_t lo = 0, hi = wide__n_runs;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (wide__runs[mid] >> 2 <= ch)
            lo = mid;
        else
            hi = mid;
    }
    return (int)(wide__runs[lo] & 3) - 1;
}

bool wide_space(uint32_t ch)
{
    if (ch < 0x80)
        return ch == ' ' || (ch >= 9 && ch <= 13);
    return ch == 0x1680 || (ch >= 0x2000 && ch <= 0x200a && ch != 0x2007) || ch == 0x2028 || ch == 0x2029 || ch == 0x205f ||
           ch == 0x3000;
}
