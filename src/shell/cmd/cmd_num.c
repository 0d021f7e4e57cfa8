/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/num.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shell/cmd/cmd.h"

static bool mul_sat(uint64_t *v, uint64_t by)
{
    if (__builtin_mul_overflow(*v, by, v)) {
        *v = UINT64_MAX;
        return false;
    }
    return true;
}

/* Multiplies by @base to the power of @n. */
static bool scale_sat(uint64_t *v, unsigned base, unsigned n)
{
    bool ok = true;
    while (n-- > 0)
        ok &= mul_sat(v, base);
    return ok;
}

/* The power a suffix letter stands for, 1 (K) to 8 (Y); 0 if it is none of those. */
static unsigned suffix_power(char ch)
{
    static const char letters[] = "KMGTPEZY";
    const char *p = ch ? strchr(letters, toupper((unsigned char)ch)) : NULL;
    return p ? (unsigned)(p - letters) + 1 : 0;
}

/* Applies the suffix at @s to @v: OK, SUFFIX (left as it was), OVERFLOW. */
static enum num_status suffix_apply(const char *s, const char *suffixes, uint64_t *v)
{
    bool ok = true;
    if (*s == 0)
        return NUM_OK;
    if (!suffixes || !strchr(suffixes, *s))
        return NUM_SUFFIX;
    unsigned base = 1024, len = 1, power = suffix_power(*s);
    if (power > 0 && strchr(suffixes, '0')) {
        if (s[1] == 'i' && s[2] == 'B') {
            len = 3;
        } else if (s[1] == 'B' || s[1] == 'D') {
            base = 1000;
            len = 2;
        }
    }
    if (s[len] != 0)
        return NUM_SUFFIX;
    if (power > 0)
        ok = scale_sat(v, base, power);
    else if (*s == 'b')
        ok = mul_sat(v, 512);
    else if (*s == 'B')
        ok = mul_sat(v, 1024);
    else if (*s == 'w')
        ok = mul_sat(v, 2);
    else if (*s != 'c')
        return NUM_SUFFIX;
    return ok ? NUM_OK : NUM_OVERFLOW;
}

/* What a base says of @s: 10, or with @any what a C constant says; *s is behind the prefix of a hexadecimal one. */
static unsigned base_of(const char **s, bool any)
{
    const char *p = *s;
    if (!any || p[0] != '0')
        return 10;
    if ((p[1] == 'x' || p[1] == 'X') && isxdigit((unsigned char)p[2])) {
        *s += 2;
        return 16;
    }
    return 8;
}

/* The value of a digit, or 99. */
static unsigned digit_of(char ch)
{
    unsigned char c = (unsigned char)ch;
    return isdigit(c) ? c - (unsigned)'0' : isxdigit(c) ? (unsigned)tolower(c) - 'a' + 10 : 99;
}

/* As num_u64(); *ret is set in every case but BAD. */
static enum num_status magnitude(const char *s, const char *suffixes, bool any_base, uint64_t *ret)
{
    uint64_t v = 0;
    bool fits = true;
    if (isdigit((unsigned char)*s)) {
        unsigned base = base_of(&s, any_base);
        for (unsigned d; (d = digit_of(*s)) < base; s++)
            if (!fits || __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
                fits = false;
        if (!fits)
            v = UINT64_MAX;
    } else if (*s && suffixes && strchr(suffixes, *s)) {
        v = 1;
    } else {
        return NUM_BAD;
    }
    enum num_status st = suffix_apply(s, suffixes, &v);
    *ret = fits ? v : UINT64_MAX;
    return st == NUM_SUFFIX || fits ? st : NUM_OVERFLOW;
}

static const char *number_start(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return *s == '+' ? s + 1 : s;
}

enum num_status num_u64(const char *s, const char *suffixes, uint64_t *ret)
{
    uint64_t v;
    enum num_status st = magnitude(number_start(s), suffixes, false, &v);
    if (st == NUM_OK || st == NUM_OVERFLOW)
        *ret = v;
    return st;
}

enum num_status num_u64_any(const char *s, const char *suffixes, uint64_t *ret)
{
    return magnitude(number_start(s), suffixes, true, ret);
}

enum num_status num_i64(const char *s, const char *suffixes, int64_t *ret)
{
    uint64_t v;
    while (isspace((unsigned char)*s))
        s++;
    bool neg = *s == '-';
    if (*s == '+' || *s == '-')
        s++;
    enum num_status st = magnitude(s, suffixes, false, &v);
    if (st != NUM_OK && st != NUM_OVERFLOW)
        return st;
    uint64_t most = neg ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    if (v > most) {
        v = most;
        st = NUM_OVERFLOW;
    }
    *ret = neg ? (int64_t)(0 - v) : (int64_t)v;
    return st;
}

/* "WHAT: 'TEXT'", and why a number is none that is wanted. */
static bool option_wrong(struct cmd *c, int err, const char *what, const char *text)
{
    cmd_errno(c, err, "%s: %s", what, cmd_quote_loc(c, text));
    return false;
}

/* xdectoumax() calls what is out of range an overflow only when it is large. */
static int out_of_range(bool large)
{
    return large ? -EOVERFLOW : -ERANGE;
}

bool num_option(struct cmd *c, const char *text, const char *suffixes, uint64_t min, uint64_t max, const char *what,
                uint64_t *ret)
{
    uint64_t v = 0;
    enum num_status st = num_u64(text, suffixes, &v);
    if (st == NUM_OVERFLOW)
        return option_wrong(c, -EOVERFLOW, what, text);
    if (st != NUM_OK)
        return option_wrong(c, 0, what, text);
    if (v < min || v > max)
        return option_wrong(c, out_of_range(v > INT32_MAX / 2), what, text);
    *ret = v;
    return true;
}

bool num_option_signed(struct cmd *c, const char *text, const char *suffixes, int64_t min, int64_t max,
                       const char *what, int64_t *ret)
{
    int64_t v = 0;
    enum num_status st = num_i64(text, suffixes, &v);
    if (st == NUM_OVERFLOW)
        return option_wrong(c, -EOVERFLOW, what, text);
    if (st != NUM_OK)
        return option_wrong(c, 0, what, text);
    if (v < min || v > max)
        return option_wrong(c, out_of_range(v > INT32_MAX / 2 || v < INT32_MIN / 2), what, text);
    *ret = v;
    return true;
}

/* ---- sizes for people ---- */

enum num_status num_block_size(const char *spec, struct num_human *ret)
{
    struct num_human h = {.block = 1};
    if (*spec == '\'')
        spec++; /* digits grouped by the locale: C has no grouping */
    if (strcmp(spec, "human-readable") == 0 || strcmp(spec, "si") == 0) {
        h.scale = h.suffix = true;
        h.base1024 = spec[0] == 'h';
        *ret = h;
        return NUM_OK;
    }
    enum num_status st = num_u64_any(spec, "eEgGkKmMpPtTyYzZ0", &h.block);
    if (h.block == 0)
        return NUM_BAD;
    if (st != NUM_OK)
        return st;
    if (!strpbrk(spec, "0123456789")) {
        size_t n = strlen(spec);
        h.suffix = true;
        h.b = spec[n - 1] == 'B';
        h.base1024 = !h.b || (n > 1 && spec[n - 2] == 'i');
    }
    *ret = h;
    return NUM_OK;
}

void num_block_env(struct cmd *c, const char *env_name, struct num_human *ret)
{
    const char *spec = cmd_getenv(c, env_name);
    if (!spec)
        spec = cmd_getenv(c, "BLOCK_SIZE");
    if (!spec)
        spec = cmd_getenv(c, "BLOCKSIZE");
    if (spec && num_block_size(spec, ret) == NUM_OK)
        return;
    *ret = (struct num_human){.block = !spec && cmd_getenv(c, "POSIXLY_CORRECT") ? 512 : 1024};
}

int num_block_error(struct cmd *c, enum num_status st, const char *opt, const char *arg)
{
    if (st == NUM_SUFFIX)
        cmd_err(c, "invalid suffix in %s argument '%s'", opt, arg);
    else if (st == NUM_OVERFLOW)
        cmd_err(c, "%s argument '%s' too large", opt, arg);
    else
        cmd_err(c, "invalid %s argument '%s'", opt, arg);
    return 1;
}

char *num_u64_text(uint64_t v, char out[24])
{
    char *p = out + 23;
    *p = 0;
    do {
        *--p = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    return p;
}

__extension__ typedef unsigned __int128 wide_uint;

/* "K", "KiB", "kB" … for a power; nothing for 0 but "B" when asked. */
static void human_suffix(const struct num_human *h, unsigned power, char *out, size_t n)
{
    static const char letters[] = "KMGTPEZY";
    char letter[2] = {0, 0};
    if (power > 0)
        letter[0] = power == 1 && !h->base1024 ? 'k' : letters[power - 1];
    snprintf(out, n, "%s%s%s", letter, h->b && h->base1024 && power > 0 ? "i" : "", h->b ? "B" : "");
}

/* The unit that leaves fewer than four digits; one decimal below ten. */
static const char *human_scaled(wide_uint bytes, const struct num_human *h, char out[NUM_TEXT])
{
    unsigned base = h->base1024 ? 1024 : 1000, power = 0;
    wide_uint unit = 1;
    char suffix[8];
    while (power < 8 && bytes / unit >= base) {
        unit *= base;
        power++;
    }
    if (power > 0) {
        wide_uint tenths = (bytes * 10 + unit - 1) / unit;
        if (tenths < 100) {
            human_suffix(h, power, suffix, sizeof suffix);
            snprintf(out, NUM_TEXT, "%u.%u%s", (unsigned)(tenths / 10), (unsigned)(tenths % 10), suffix);
            return out;
        }
    }
    uint64_t whole = (uint64_t)((bytes + unit - 1) / unit);
    bool up = power > 0 && power < 8 && whole == base; /* rounding up has filled the unit */
    human_suffix(h, up ? power + 1 : power, suffix, sizeof suffix);
    snprintf(out, NUM_TEXT, "%llu%s%s", up ? 1ULL : (unsigned long long)whole, up ? ".0" : "", suffix);
    return out;
}

const char *num_human_text(uint64_t n, uint64_t unit, const struct num_human *h, char out[NUM_TEXT])
{
    wide_uint bytes = (wide_uint)n * unit;
    if (h->scale)
        return human_scaled(bytes, h, out);
    wide_uint v = (bytes + h->block - 1) / h->block;
    char digits[40], *p = digits + sizeof digits - 1;
    *p = 0;
    do {
        *--p = (char)('0' + (unsigned)(v % 10));
        v /= 10;
    } while (v > 0);
    char suffix[8] = "";
    if (h->suffix) {
        unsigned power = 0;
        for (uint64_t b = h->block; b > 1; b /= h->base1024 ? 1024 : 1000)
            power++;
        human_suffix(h, power, suffix, sizeof suffix);
    }
    snprintf(out, NUM_TEXT, "%s%s", p, suffix);
    return out;
}

bool cmd_interval(const char *text, double *ret)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || !(v >= 0))
        return false;
    if (*end && end[1])
        return false;
    switch (*end) {
    case 0:
    case 's':
        break;
    case 'm':
        v *= 60;
        break;
    case 'h':
        v *= 60 * 60;
        break;
    case 'd':
        v *= 60 * 60 * 24;
        break;
    default:
        return false;
    }
    *ret = v;
    return true;
}
