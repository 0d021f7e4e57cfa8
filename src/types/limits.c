/* SPDX-License-Identifier: Apache-2.0 */
#include "types/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/num.h"

enum kind { KIND_SIZE, KIND_COUNT, KIND_TIME };

static const struct {
    const char *name;
    enum kind kind;
    size_t offset;
} names[] = {
    {"memory", KIND_SIZE, offsetof(struct limits, memory)},
    {"output", KIND_SIZE, offsetof(struct limits, output)},
    {"files", KIND_SIZE, offsetof(struct limits, files)},
    {"inodes", KIND_COUNT, offsetof(struct limits, inodes)},
    {"processes", KIND_COUNT, offsetof(struct limits, processes)},
    {"cpu", KIND_TIME, offsetof(struct limits, cpu_ms)},
    {"trace", KIND_SIZE, offsetof(struct limits, trace)},
};

struct limits limits_default(void)
{
    return (struct limits){
        .memory = UINT64_C(512) << 20,
        .output = UINT64_C(1) << 30,
        .files = UINT64_C(4) << 30,
        .inodes = UINT64_C(2) << 20,
        .processes = 512,
        .cpu_ms = UINT64_C(3600) * 1000,
        .wall_ms = 0,
        .trace = UINT64_C(1) << 30,
    };
}

const char *limits_names(void)
{
    return "memory, output, files, inodes, processes, cpu, trace";
}

const char *limits_at(const struct limits *l, size_t i, uint64_t *ret_value)
{
    if (i >= sizeof(names) / sizeof(names[0]))
        return NULL;
    memcpy(ret_value, (const char *)l + names[i].offset, sizeof(*ret_value));
    return names[i].name;
}

void limits_text(const struct limits *l, size_t i, char ret[32])
{
    uint64_t v = 0;
    ret[0] = 0;
    if (limits_at(l, i, &v))
        snprintf(ret, 32, "%" PRIu64 "%s", v, names[i].kind == KIND_TIME ? "ms" : "");
}

static int parse(enum kind kind, struct str value, uint64_t *ret)
{
    switch (kind) {
    case KIND_SIZE:
        return limits_size(value, ret);
    case KIND_COUNT:
        return str_u64(value, ret);
    case KIND_TIME:
        return limits_duration(value, ret);
    }
    return -EINVAL;
}

int limits_set(struct limits *l, struct str name, struct str value)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!str_eqc(name, names[i].name))
            continue;
        uint64_t v;
        int r = parse(names[i].kind, value, &v);
        if (r < 0)
            return r;
        memcpy((char *)l + names[i].offset, &v, sizeof(v));
        return 0;
    }
    return -ENOENT;
}

/* Length of the leading run of digits of @s. */
static size_t digits(struct str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n;
}

/* Milliseconds of a suffix; 0 when it is none. No suffix is seconds. */
static uint64_t time_unit(struct str s)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (str_eqc(s, units[i].name))
            return units[i].ms;
    }
    return 0;
}

/* Thousandths of a unit after the decimal point, rounded up so that a wish for some time is never a wish for none. */
static uint64_t thousandths(struct str s)
{
    uint64_t v = 0;
    bool more = false;
    for (size_t i = 0; i < s.n || i < 3; i++) {
        unsigned d = i < s.n ? (unsigned)(s.p[i] - '0') : 0;
        if (i < 3)
            v = v * 10 + d;
        else
            more = more || d;
    }
    return v + more;
}

int limits_duration(struct str text, uint64_t *ret_ms)
{
    uint64_t whole = 0, ms;
    size_t n_whole = digits(text), n_frac = 0;
    struct str rest = str_from(text, n_whole);
    struct str frac = {0};
    if (rest.n && rest.p[0] == '.') {
        n_frac = digits(str_from(rest, 1));
        frac = str_of(rest.p + 1, n_frac);
        rest = str_from(rest, n_frac + 1);
    }
    uint64_t unit = time_unit(rest);
    if (n_whole + n_frac == 0 || !unit)
        return -EINVAL;
    if (n_whole && str_u64(str_of(text.p, n_whole), &whole) < 0)
        return -ERANGE;
    if (!num_mul64(whole, unit, &ms) || !num_add64(ms, (thousandths(frac) * unit + 999) / 1000, &ms))
        return -ERANGE;
    *ret_ms = ms;
    return 0;
}

int limits_size(struct str text, uint64_t *ret)
{
    static const char suffixes[] = "KMGT";
    uint64_t v = 0;
    size_t n = digits(text);
    unsigned shift = 0;
    if (n == 0 || text.n > n + 1)
        return -EINVAL;
    if (text.n == n + 1) {
        const char *s = memchr(suffixes, text.p[n], sizeof(suffixes) - 1);
        if (!s)
            return -EINVAL;
        shift = 10 * (unsigned)(s - suffixes + 1);
    }
    if (str_u64(str_of(text.p, n), &v) < 0 || !num_mul64(v, UINT64_C(1) << shift, &v))
        return -ERANGE;
    *ret = v;
    return 0;
}
