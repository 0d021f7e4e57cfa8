/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_write.h"

#include <inttypes.h>
#include <time.h>

#include "base/clock.h"

/* Length of the UTF-8 sequence at @p (at most @n bytes), 0 when there is none: RFC 3629, no surrogates, no overlong. */
static size_t sequence(const uint8_t *p, size_t n)
{
    uint8_t c = p[0];
    size_t len = c < 0x80 ? 1 : c >= 0xc2 && c <= 0xdf ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) || (c == 0xf0 && p[1] < 0x90) ||
        (c == 0xf4 && p[1] > 0x8f))
        return 0;
    return len;
}

bool json_is_utf8(struct str s)
{
    const uint8_t *p = (const uint8_t *)s.p;
    for (size_t i = 0; i < s.n;) {
        size_t n = p[i] < 0x80 ? 1 : sequence(p + i, s.n - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

void json_put_base64(struct buf *out, struct str s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < s.n; i += 3) {
        size_t left = s.n - i;
        uint32_t v = (uint32_t)(uint8_t)s.p[i] << 16;
        v |= left > 1 ? (uint32_t)(uint8_t)s.p[i + 1] << 8 : 0;
        v |= left > 2 ? (uint32_t)(uint8_t)s.p[i + 2] : 0;
        const char four[4] = {digits[v >> 18], digits[v >> 12 & 63], left > 1 ? digits[v >> 6 & 63] : '=',
                              left > 2 ? digits[v & 63] : '='};
        buf_add(out, four, sizeof(four));
    }
}

/* The comma before, and the key. */
static void lead(struct json_writer *w, const char *key, const char *suffix)
{
    if (w->more)
        buf_putc(w->out, ',');
    w->more = true;
    if (!key)
        return;
    buf_putc(w->out, '"');
    buf_addc(w->out, key);
    buf_addc(w->out, suffix);
    buf_add(w->out, "\":", 2);
}

static void put_quoted(struct buf *out, struct str s)
{
    size_t from = 0;
    buf_putc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        buf_add(out, s.p + from, i - from);
        from = i + 1;
        if (c == '"' || c == '\\') {
            const char two[2] = {'\\', (char)c};
            buf_add(out, two, 2);
        } else if (c == '\n') {
            buf_add(out, "\\n", 2);
        } else {
            buf_addf(out, "\\u%04x", c);
        }
    }
    buf_add(out, s.p + from, s.n - from);
    buf_putc(out, '"');
}

void json_begin(struct json_writer *w, const char *key, char kind)
{
    lead(w, key, "");
    buf_putc(w->out, kind);
    w->more = false;
}

void json_end(struct json_writer *w, char kind)
{
    buf_putc(w->out, kind);
    w->more = true;
}

void json_text(struct json_writer *w, const char *key, struct str s)
{
    bool text = json_is_utf8(s);
    if (!text && !key)
        json_begin(w, NULL, '{');
    lead(w, key ? key : text ? NULL : "base64", "");
    if (text) {
        put_quoted(w->out, s);
        return;
    }
    buf_putc(w->out, '"');
    json_put_base64(w->out, s);
    buf_putc(w->out, '"');
    if (!key) {
        json_end(w, '}');
        return;
    }
    lead(w, key, "_encoding");
    buf_addc(w->out, "\"base64\"");
}

void json_text_or_null(struct json_writer *w, const char *key, struct str s)
{
    if (s.n)
        json_text(w, key, s);
    else
        json_none(w, key);
}

void json_number(struct json_writer *w, const char *key, uint64_t v)
{
    lead(w, key, "");
    if (v <= INT64_MAX)
        buf_addi(w->out, (int64_t)v);
    else
        buf_addf(w->out, "%" PRIu64, v);
}

void json_bool(struct json_writer *w, const char *key, bool v)
{
    lead(w, key, "");
    buf_addc(w->out, v ? "true" : "false");
}

void json_none(struct json_writer *w, const char *key)
{
    lead(w, key, "");
    buf_addc(w->out, "null");
}

void json_time(struct json_writer *w, const char *key, int64_t ns)
{
    time_t s = (time_t)(ns / CLOCK_S);
    struct tm tm;
    char text[64];
    lead(w, key, "");
    if (!gmtime_r(&s, &tm) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        buf_addc(w->out, "null");
    else
        buf_addf(w->out, "\"%s.%03dZ\"", text, (int)(ns % CLOCK_S / CLOCK_MS));
}

void json_sha256(struct json_writer *w, const char *key, const uint8_t *p)
{
    static const char hex[] = "0123456789abcdef";
    char text[64];
    for (size_t i = 0; i < 32; i++) {
        text[2 * i] = hex[p[i] >> 4];
        text[2 * i + 1] = hex[p[i] & 15];
    }
    lead(w, key, "");
    buf_addc(w->out, "\"sha256:");
    buf_add(w->out, text, sizeof(text));
    buf_putc(w->out, '"');
}

void json_raw(struct json_writer *w, const char *key, struct str s)
{
    lead(w, key, "");
    buf_adds(w->out, s);
}
