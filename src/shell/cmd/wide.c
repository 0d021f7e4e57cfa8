/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/wide.h"

#include "regex/unicode.h"

/* Length that the first byte announces, and the bits of the character in it; 0: not a first byte. As the C library's,
 * lengths up to six are known, though nothing beyond four bytes is a character. */
static unsigned lead(uint8_t b, uint32_t *ret_bits)
{
    unsigned len = b < 0xc2 ? 0 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : b < 0xf8 ? 4 : b < 0xfc ? 5 : b < 0xfe ? 6 : 0;
    *ret_bits = len > 0 ? b & (0x7fu >> len) : 0;
    return len;
}

size_t wide_decode(const char *p, size_t n, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t b = (uint8_t)p[0];
    if (b < 0x80) {
        *ret = b;
        return 1;
    }
    uint32_t ch;
    unsigned len = lead(b, &ch);
    if (len == 0 || len > 4 || n < len)
        return 0;
    for (unsigned i = 1; i < len; i++) {
        uint8_t k = (uint8_t)p[i];
        if ((k & 0xc0) != 0x80)
            return 0;
        ch = ch << 6 | (k & 0x3fu);
    }
    if (ch < least[len] || (ch >= 0xd800 && ch <= 0xdfff))
        return 0;
    *ret = ch;
    return len;
}

bool wide_partial(const char *p, size_t n)
{
    uint32_t bits;
    unsigned len = n > 0 ? lead((uint8_t)p[0], &bits) : 0;
    if (len <= n)
        return false;
    for (size_t i = 1; i < n; i++)
        if (((uint8_t)p[i] & 0xc0) != 0x80)
            return false;
    return true;
}

int wide_width(uint32_t ch)
{
    if (ch < 0x7f)
        return ch >= 0x20 ? 1 : -1;
    return unicode_width(ch);
}

bool wide_space(uint32_t ch)
{
    if (ch < 0x80)
        return ch == ' ' || (ch >= 9 && ch <= 13);
    return unicode_is(UNICODE_SPACE, ch);
}
