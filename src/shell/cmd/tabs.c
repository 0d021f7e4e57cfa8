/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/tabs.h"

#include <ctype.h>
#include <string.h>

#include "shell/cmd/cmd.h"

void tabs_add(struct tabs *t, uint64_t stop)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 16;
        uint64_t *v = arena_alloc(t->c->arena, cap * sizeof *v);
        if (t->n)
            memcpy(v, t->v, t->n * sizeof *v);
        t->v = v;
        t->cap = cap;
    }
    t->v[t->n++] = stop;
}

/* What a number is for: '/' or '+' in front of it, or 0. */
static int add_as(struct tabs *t, char kind, uint64_t value)
{
    uint64_t *to = kind == '/' ? &t->extend : &t->increment;
    if (kind == 0) {
        tabs_add(t, value);
        return 0;
    }
    if (*to) {
        cmd_err(t->c, "'%c' specifier only allowed with the last value", kind);
        return -1;
    }
    *to = value;
    return 0;
}

/* The number at *s, which is left at its last digit: 0, or -1 after a message. */
static int number(struct tabs *t, const char **s, uint64_t *ret)
{
    const char *start = *s;
    uint64_t v = 0;
    bool fits = true;
    for (; isdigit((unsigned char)**s); (*s)++)
        fits &= !__builtin_mul_overflow(v, 10, &v) && !__builtin_add_overflow(v, (uint64_t)(**s - '0'), &v);
    size_t n = (size_t)(*s - start);
    (*s)--;
    *ret = v;
    if (!fits)
        cmd_err(t->c, "tab stop is too large %s", cmd_quote_loc(t->c, arena_dup(t->c->arena, start, n)));
    return fits ? 0 : -1;
}

int tabs_parse(struct tabs *t, const char *list)
{
    bool have = false, ok = true;
    char kind = 0;
    uint64_t value = 0;
    for (const char *s = list; *s; s++) {
        if (*s == ',' || isblank((unsigned char)*s)) {
            if (have && add_as(t, kind, value) < 0) {
                ok = false;
                break;
            }
            have = false;
        } else if (*s == '/' || *s == '+') {
            if (have) {
                cmd_err(t->c, "'%c' specifier not at start of number: %s", *s, cmd_quote_loc(t->c, s));
                ok = false;
            }
            kind = *s;
        } else if (isdigit((unsigned char)*s)) {
            ok &= number(t, &s, &value) == 0;
            have = true;
        } else {
            cmd_err(t->c, "tab size contains invalid character(s): %s", cmd_quote_loc(t->c, s));
            ok = false;
            break;
        }
    }
    if (ok && have)
        ok = add_as(t, kind, value) == 0;
    return ok ? 0 : -1;
}

int tabs_finish(struct tabs *t)
{
    uint64_t before = 0;
    for (size_t i = 0; i < t->n; before = t->v[i++]) {
        if (t->v[i] == 0 || t->v[i] <= before) {
            cmd_err(t->c, t->v[i] == 0 ? "tab size cannot be 0" : "tab sizes must be ascending");
            return -1;
        }
    }
    if (t->extend && t->increment) {
        cmd_err(t->c, "'/' specifier is mutually exclusive with '+'");
        return -1;
    }
    if (t->n == 0)
        t->every = t->extend ? t->extend : t->increment ? t->increment : 8;
    else if (t->n == 1 && !t->extend && !t->increment)
        t->every = t->v[0];
    return 0;
}

uint64_t tabs_next(const struct tabs *t, uint64_t column, size_t *index)
{
    if (t->every)
        return column + t->every - column % t->every;
    for (; *index < t->n; (*index)++)
        if (column < t->v[*index])
            return t->v[*index];
    if (t->extend)
        return column + t->extend - column % t->extend;
    if (t->increment)
        return column + t->increment - (column - t->v[t->n - 1]) % t->increment;
    return 0;
}
