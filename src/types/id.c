/* SPDX-License-Identifier: Apache-2.0 */
#include "types/id.h"

#include <errno.h>
#include <sys/random.h>

#include "base/assert.h"
#include "base/clock.h"

#define DIGITS 26 /* 10 of time, 16 of entropy, 5 bits each */

static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

static struct str prefix_of(enum id_kind kind)
{
    switch (kind) {
    case ID_SESSION:
        return STR("sbx_");
    case ID_EXEC:
        return STR("exec_");
    case ID_SNAPSHOT:
        return STR("snap_");
    case ID_KEY:
        return STR("key_");
    }
    UNREACHABLE();
}

/* Writes the low @n * 5 bits of @v as @n digits. */
static void put_digits(char *out, uint64_t v, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        out[i] = alphabet[v & 31];
        v >>= 5;
    }
}

struct id id_new(enum id_kind kind)
{
    struct id id = {{0}};
    uint8_t rnd[10];
    uint64_t hi = 0, lo = 0;
    struct str prefix = prefix_of(kind);
    ssize_t n;
    do
        n = getrandom(rnd, sizeof(rnd), 0);
    while (n < 0 && errno == EINTR);
    ASSERT(n == (ssize_t)sizeof(rnd)); /* up to 256 bytes come whole; an id without entropy must not exist */
    for (int i = 0; i < 5; i++) {
        hi = hi << 8 | rnd[i];
        lo = lo << 8 | rnd[i + 5];
    }
    memcpy(id.text, prefix.p, prefix.n);
    char *p = id.text + prefix.n;
    put_digits(p, (uint64_t)(clock_wall() / CLOCK_MS) & ((UINT64_C(1) << 48) - 1), 10);
    put_digits(p + 10, hi, 8);
    put_digits(p + 18, lo, 8);
    return id;
}

uint64_t id_ms(const struct id *id)
{
    uint64_t v = 0;
    const char *p = strchr(id->text, '_');
    for (int i = 1; p && p[i] && i <= 10; i++) {
        const char *d = strchr(alphabet, p[i]);
        v = v << 5 | (uint64_t)(d ? d - alphabet : 0);
    }
    return v;
}

int id_parse(enum id_kind kind, struct str text, struct id *ret)
{
    struct str prefix = prefix_of(kind);
    if (text.n != prefix.n + DIGITS || !str_starts(text, prefix))
        return -EINVAL;
    const char *p = text.p + prefix.n;
    /* 26 digits hold 130 bits; the two that 128 leave over are 0. */
    if (p[0] > '7')
        return -EINVAL;
    for (size_t i = 0; i < DIGITS; i++) {
        if (!p[i] || !memchr(alphabet, p[i], sizeof(alphabet) - 1))
            return -EINVAL;
    }
    *ret = (struct id){{0}};
    memcpy(ret->text, text.p, text.n);
    return 0;
}
