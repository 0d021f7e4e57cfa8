/* SPDX-License-Identifier: Apache-2.0 */
#include "server/glob.h"

#include "types/limits.h"

/* One element of a pattern within a segment. */
struct element {
    bool any; /* '*' */
    bool fits;
    size_t n; /* bytes of the pattern */
};

/* "[…]" at the begin of @p: whether @c is in it. .n is 0 when it has no end, and '[' stands for itself. */
static struct element set(struct str p, unsigned char c)
{
    size_t i = 1;
    bool not = i < p.n && (p.p[i] == '!' || p.p[i] == '^'), in = false;
    i += not;
    for (size_t first = i; i < p.n && (p.p[i] != ']' || i == first); i++) {
        if (p.p[i] == '\\' && i + 1 < p.n)
            i++;
        unsigned char from = (unsigned char)p.p[i], to = from;
        if (i + 2 < p.n && p.p[i + 1] == '-' && p.p[i + 2] != ']') {
            to = (unsigned char)p.p[i + 2];
            i += 2;
        }
        in |= c >= from && c <= to;
    }
    return (struct element){.fits = in != not, .n = i < p.n ? i + 1 : 0};
}

static struct element element(struct str p, unsigned char c)
{
    if (p.p[0] == '*')
        return (struct element){.any = true, .n = 1};
    if (p.p[0] == '?')
        return (struct element){.fits = true, .n = 1};
    if (p.p[0] == '[') {
        struct element e = set(p, c);
        if (e.n)
            return e;
    }
    if (p.p[0] == '\\' && p.n > 1)
        return (struct element){.fits = (unsigned char)p.p[1] == c, .n = 2};
    return (struct element){.fits = (unsigned char)p.p[0] == c, .n = 1};
}

/* Only the last star that was met has to be tried again: what stands before it has found its first place. */
static bool segment_matches(struct str pattern, struct str name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, again = 0;
    for (;;) {
        struct element e = {0};
        if (p < pattern.n)
            e = element(str_from(pattern, p), n < name.n ? (unsigned char)name.p[n] : 0);
        if (e.any) {
            star = p + 1;
            again = n;
            p = star;
        } else if (n == name.n && p == pattern.n) {
            return true;
        } else if (n < name.n && e.fits) {
            p += e.n;
            n++;
        } else if (star != SIZE_MAX && again < name.n) {
            p = star;
            n = ++again;
        } else {
            return false;
        }
    }
}

/* The first segment of @s; what follows its slash, or .p NULL at the end, is *rest. */
static struct str first(struct str s, struct str *rest)
{
    ptrdiff_t at = str_find(s, '/', 0);
    *rest = at < 0 ? str_of(NULL, 0) : str_from(s, (size_t)at + 1);
    return at < 0 ? s : str_of(s.p, (size_t)at);
}

/* Whether no segment at all is what is left of a pattern. */
static bool is_stars(struct str g)
{
    while (g.p) {
        if (!str_eqc(first(g, &g), "**"))
            return false;
    }
    return true;
}

bool glob_matches(struct str glob, struct str path)
{
    struct str star = {NULL, 0}, again = {NULL, 0}, g = glob, p = path;
    bool has_star = false;
    while (p.p) {
        struct str g_rest, p_rest, want = g.p ? first(g, &g_rest) : g, name = first(p, &p_rest);
        if (g.p && str_eqc(want, "**")) {
            if (!g_rest.p)
                return true;
            has_star = true;
            star = g_rest;
            again = p;
            g = star;
        } else if (g.p && segment_matches(want, name)) {
            g = g_rest;
            p = p_rest;
        } else if (has_star) {
            (void)first(again, &again);
            p = again;
            g = star;
        } else {
            return false;
        }
        if (!p.p && is_stars(g))
            return true;
        if (!p.p && has_star && again.p) {
            (void)first(again, &again);
            p = again;
            g = star;
        }
    }
    return false;
}

uint64_t glob_depth(struct str glob)
{
    uint64_t n = 0;
    for (struct str rest = glob; rest.p;) {
        if (str_eqc(first(rest, &rest), "**"))
            return LIMIT_DEPTH;
        n++;
    }
    return n < LIMIT_DEPTH ? n : LIMIT_DEPTH;
}
