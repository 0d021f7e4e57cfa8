/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the network: [tcp:|udp:]HOST[:PORT[-PORT]]. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "policy/policy_int.h"

#define NAME_MAX_DNS 253 /* RFC 1035, section 2.3.4, as text */

static int bad(struct err *err, struct str value, const char *why)
{
    return err_set(err, -EINVAL, "'%.*s' %s; a rule is [tcp:|udp:]HOST[:PORT[-PORT]]",
                   (int)(value.n < 96 ? value.n : 96), value.p, why);
}

static int read_port(struct str s, uint16_t *ret)
{
    uint64_t v;
    if (str_u64(s, &v) || v == 0 || v > 65535)
        return -EINVAL;
    *ret = (uint16_t)v;
    return 0;
}

/* "443", "8000-8999"; empty: all. */
static int read_ports(struct str s, struct policy_rule *r)
{
    r->lo = 1;
    r->hi = 65535;
    if (s.n == 0)
        return 0;
    ptrdiff_t dash = str_find(s, '-', 0);
    if (dash < 0) {
        int e = read_port(s, &r->lo);
        r->hi = r->lo;
        return e;
    }
    if (read_port(str_of(s.p, (size_t)dash), &r->lo) || read_port(str_from(s, (size_t)dash + 1), &r->hi))
        return -EINVAL;
    return r->lo <= r->hi ? 0 : -EINVAL;
}

/* Clears the bits behind the first @bits. */
static void mask(uint8_t *addr, size_t n, unsigned bits)
{
    for (size_t i = 0; i < n; i++) {
        unsigned keep = bits > 8 * i ? bits - 8 * (unsigned)i : 0;
        if (keep < 8)
            addr[i] &= (uint8_t)(0xff00u >> keep);
    }
}

/* An address, with /N a net. -EINVAL: it is none. */
static int read_address(struct str s, int family, struct policy_rule *r)
{
    char text[INET6_ADDRSTRLEN];
    ptrdiff_t slash = str_find(s, '/', 0);
    struct str addr = slash < 0 ? s : str_of(s.p, (size_t)slash);
    size_t n = family == AF_INET ? 4 : 16;
    uint64_t bits = 8 * n;
    if (addr.n >= sizeof(text) || memchr(addr.p, 0, addr.n))
        return -EINVAL;
    memcpy(text, addr.p, addr.n);
    text[addr.n] = 0;
    if (inet_pton(family, text, r->addr) != 1)
        return -EINVAL;
    if (slash >= 0 && (str_u64(str_from(s, (size_t)slash + 1), &bits) || bits > 8 * n))
        return -EINVAL;
    r->bits = (uint8_t)bits;
    r->host = family == AF_INET ? HOST_IP4 : HOST_IP6;
    mask(r->addr, n, r->bits);
    return 0;
}

/* Letters, digits, '-' and '_', in labels between dots, in lower case in @out. */
static int read_name(struct str s, char *out)
{
    size_t label = 0;
    if (s.n == 0 || s.n > NAME_MAX_DNS)
        return -EINVAL;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (c == '.' ? label == 0 : !plain || ++label > 63)
            return -EINVAL;
        if (c == '.')
            label = 0;
        out[i] = c;
    }
    return label ? 0 : -EINVAL;
}

/* The host's canonical text into @out, of LIMIT_POLICY_RULE bytes: how long it is, or -EINVAL. */
static int read_host(struct str s, struct policy_rule *r, char *out, size_t max)
{
    char text[INET6_ADDRSTRLEN];
    bool six = s.n > 1 && s.p[0] == '[' && s.p[s.n - 1] == ']';
    if (str_eqc(s, "*")) {
        r->host = HOST_ANY;
        return snprintf(out, max, "*");
    }
    if (six || read_address(s, AF_INET, r) == 0) {
        if (six && read_address(str_of(s.p + 1, s.n - 2), AF_INET6, r))
            return -EINVAL;
        inet_ntop(six ? AF_INET6 : AF_INET, r->addr, text, sizeof(text));
        return snprintf(out, max, "%s%s/%u%s", six ? "[" : "", text, r->bits, six ? "]" : "");
    }
    bool suffix = str_starts(s, STR("*."));
    size_t star = suffix ? 2 : 0;
    /* What looks like an address and is none must not pass as a name. */
    if (s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9' && !suffix)
        return -EINVAL;
    if (read_name(str_from(s, star), out + star))
        return -EINVAL;
    memcpy(out, "*.", star);
    r->host = suffix ? HOST_SUFFIX : HOST_NAME;
    return (int)s.n;
}

int policy__read_network(struct str value, struct policy_rule *ret, struct err *err)
{
    char text[NAME_MAX_DNS + 64];
    struct policy_rule r = {0};
    struct str rest = value, ports = STR("");
    if (str_starts(rest, STR("tcp:")) || str_starts(rest, STR("udp:"))) {
        r.udp = rest.p[0] == 'u';
        rest = str_from(rest, 4);
    }
    /* The colon of a port is behind the bracket of an address that has colons itself. */
    ptrdiff_t close = str_find(rest, ']', 0);
    ptrdiff_t colon = str_find(rest, ':', close < 0 ? 0 : (size_t)close);
    if (colon >= 0) {
        ports = str_from(rest, (size_t)colon + 1);
        rest = str_of(rest.p, (size_t)colon);
        if (ports.n == 0)
            return bad(err, value, "has a colon and no port");
    }
    if (rest.n == 0)
        return bad(err, value, "names no host");
    if (read_ports(ports, &r))
        return bad(err, value, "has ports that are not 1 to 65535, or colons without brackets");
    size_t n = (size_t)snprintf(text, sizeof(text), "%s:", r.udp ? "udp" : "tcp");
    r.name = (uint32_t)n;
    if (rest.n > NAME_MAX_DNS + 2)
        return bad(err, value, "is too long for a host");
    int host = read_host(rest, &r, text + n, sizeof(text) - n - 16);
    if (host < 0)
        return bad(err, value, "is no name and no address");
    if (r.host == HOST_SUFFIX)
        r.name++; /* the dot is part of what a name ends with, the star is not */
    r.name_n = (uint32_t)host - (r.host == HOST_SUFFIX);
    n += (size_t)host;
    if (r.lo == r.hi)
        n += (size_t)snprintf(text + n, sizeof(text) - n, ":%u", r.lo);
    else if (r.lo != 1 || r.hi != 65535)
        n += (size_t)snprintf(text + n, sizeof(text) - n, ":%u-%u", r.lo, r.hi);
    policy__name(&r, text, n);
    *ret = r;
    return 0;
}

static struct str name_of(const struct policy_rule *r)
{
    return str_of(r->text + r->name, r->name_n);
}

static bool is_address(const struct policy_rule *r)
{
    return r->host == HOST_IP4 || r->host == HOST_IP6;
}

static bool host_covers(const struct policy_rule *a, const struct policy_rule *b)
{
    if (a->host == HOST_ANY)
        return true;
    if (is_address(a)) {
        uint8_t masked[16];
        if (b->host != a->host || b->bits < a->bits)
            return false;
        memcpy(masked, b->addr, 16);
        mask(masked, a->host == HOST_IP4 ? 4 : 16, a->bits);
        return memcmp(masked, a->addr, a->host == HOST_IP4 ? 4 : 16) == 0;
    }
    if (a->host == HOST_SUFFIX)
        return (b->host == HOST_NAME || b->host == HOST_SUFFIX) && str_ends(name_of(b), name_of(a));
    return b->host == HOST_NAME && str_eq(name_of(a), name_of(b));
}

bool policy__network_covers(const struct policy_rule *a, const struct policy_rule *b)
{
    return a->udp == b->udp && a->lo <= b->lo && a->hi >= b->hi && host_covers(a, b);
}

bool policy__network_touch(const struct policy_rule *a, const struct policy_rule *b)
{
    if (a->udp != b->udp || a->lo > b->hi || b->lo > a->hi)
        return false;
    if (host_covers(a, b) || host_covers(b, a))
        return true;
    return is_address(a) != is_address(b);
}
