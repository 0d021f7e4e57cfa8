/* SPDX-License-Identifier: Apache-2.0 */
#include "apikey/apikey.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/clock.h"
#include "cas/hash.h"

static const char *const names[APIKEY_CAPS] = {
    [APIKEY_SESSIONS_READ] = "sessions.read", [APIKEY_SESSIONS_WRITE] = "sessions.write",
    [APIKEY_EXEC] = "exec",                   [APIKEY_FS_READ] = "fs.read",
    [APIKEY_FS_WRITE] = "fs.write",           [APIKEY_STATE] = "state",
    [APIKEY_TRACE] = "trace",                 [APIKEY_METRICS] = "metrics",
    [APIKEY_POLICY] = "policy",
};

const char *apikey_cap_name(enum apikey_cap c)
{
    return names[c];
}

/* The part of @s up to @end; @s loses both. */
static struct str take_to(struct str *s, char end)
{
    ptrdiff_t at = str_find(*s, end, 0);
    struct str part = at < 0 ? *s : str_of(s->p, (size_t)at);
    *s = at < 0 ? str_of(s->p + s->n, 0) : str_from(*s, (size_t)at + 1);
    return part;
}

int apikey_caps(struct str text, uint32_t *ret)
{
    uint32_t caps = 0;
    if (str_eqc(text, "all")) {
        *ret = APIKEY_ALL;
        return 0;
    }
    do {
        struct str one = take_to(&text, ',');
        int i = 0;
        while (i < APIKEY_CAPS && !str_eqc(one, names[i]))
            i++;
        if (i == APIKEY_CAPS)
            return -EINVAL;
        caps |= 1u << i;
    } while (text.n);
    *ret = caps;
    return 0;
}

void apikey_put_caps(struct buf *out, uint32_t caps)
{
    bool more = false;
    if (caps == APIKEY_ALL) {
        buf_addc(out, "all");
        return;
    }
    for (int i = 0; i < APIKEY_CAPS; i++) {
        if (!(caps >> i & 1))
            continue;
        buf_addf(out, "%s%s", more ? "," : "", names[i]);
        more = true;
    }
}

static bool is_name(struct str s, size_t least)
{
    static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    for (size_t i = 0; i < s.n; i++) {
        if (!s.p[i] || !strchr(chars, s.p[i]))
            return false;
    }
    return s.n >= least && s.n <= APIKEY_NAME_MAX && (s.n == 0 || (s.p[0] != '.' && s.p[0] != '-'));
}

static void hash_secret(struct str secret, char ret[65])
{
    struct cas_hash h;
    uint8_t sum[CAS_HASH_SIZE];
    cas_hash_init(&h);
    cas_hash_add(&h, secret.p, secret.n);
    cas_hash_end(&h, sum);
    for (size_t i = 0; i < sizeof(sum); i++)
        snprintf(ret + 2 * i, 3, "%02x", sum[i]);
}

int apikey_new(struct str tenant, struct str name, uint32_t caps, struct apikey *ret, char *secret)
{
    uint8_t rnd[32];
    if (!is_name(tenant, 1) || !is_name(name, 0) || caps == 0 || (caps & ~APIKEY_ALL))
        return -EINVAL;
    if (getrandom(rnd, sizeof(rnd), 0) != (ssize_t)sizeof(rnd)) /* up to 256 bytes come whole */
        return -EIO;
    *ret = (struct apikey){.id = id_new(ID_KEY), .caps = caps, .created = clock_wall()};
    memcpy(ret->tenant, tenant.p, tenant.n);
    memcpy(ret->name, name.n ? name.p : "", name.n);
    char *p = secret;
    for (size_t i = 0; i < sizeof(rnd); i += 4) {
        /* 32 bits a time, as 7 digits of 5 bits: easy to copy, and without a character that a shell minds. */
        uint32_t v = (uint32_t)rnd[i] << 24 | (uint32_t)rnd[i + 1] << 16 | (uint32_t)rnd[i + 2] << 8 | rnd[i + 3];
        for (int d = 0; d < 7; d++)
            *p++ = "0123456789abcdefghjkmnpqrstvwxyz"[v >> (d == 6 ? 27 : 5 * d) & 31];
    }
    *p = 0;
    hash_secret(str_c(secret), ret->hash);
    return 0;
}

void apikey_put(struct buf *out, const struct apikey *k)
{
    buf_addf(out, "%s %s %s ", k->id.text, k->hash, k->tenant);
    apikey_put_caps(out, k->caps);
    buf_addf(out, " %lld %s\n", (long long)k->created, k->name);
}

int apikey_get(struct str line, struct apikey *ret)
{
    struct apikey k = {.caps = 0};
    struct str id = take_to(&line, ' '), hash = take_to(&line, ' '), tenant = take_to(&line, ' '),
               caps = take_to(&line, ' '), created = take_to(&line, ' ');
    if (id_parse(ID_KEY, id, &k.id) || hash.n != 64 || !is_name(tenant, 1) || apikey_caps(caps, &k.caps) ||
        str_i64(created, &k.created) || !is_name(line, 0))
        return -EINVAL;
    for (size_t i = 0; i < hash.n; i++) {
        if (!hash.p[i] || !strchr("0123456789abcdef", hash.p[i]))
            return -EINVAL;
    }
    memcpy(k.hash, hash.p, hash.n);
    memcpy(k.tenant, tenant.p, tenant.n);
    memcpy(k.name, line.n ? line.p : "", line.n);
    *ret = k;
    return 0;
}

bool apikey_matches(const struct apikey *k, struct str token)
{
    ptrdiff_t dot = str_find(token, '.', 0);
    char hash[65];
    if (dot < 0 || !str_eqc(str_of(token.p, (size_t)dot), k->id.text)) /* ids are no secret */
        return false;
    hash_secret(str_from(token, (size_t)dot + 1), hash);
    unsigned differs = 0;
    for (size_t i = 0; i < 64; i++)
        differs |= (unsigned)(hash[i] ^ k->hash[i]);
    return differs == 0;
}
