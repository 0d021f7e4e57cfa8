/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/pattern_int.h"

#include "base/num.h"
#include "proc/proc.h"

/*
 * A set of positions is a bitmap over 0..n. An item maps the set of places where it may begin to the set of places
 * where it may end; a pattern maps through its items. Backward runs read the pattern and the text from their ends,
 * which gives suffixes.
 */
struct ext {
    const struct pattern *p;
    struct proc *proc;
    struct str text;
    bool utf8, path, back;
    bool stop; /* the process must end, or memory ran out: results no longer matter */
    size_t words;
    struct arena a;
};

static uint64_t *set_new(struct ext *e)
{
    uint64_t *s = arena_try(&e->a, e->words * sizeof(*s));
    if (!s)
        e->stop = true;
    else
        memset(s, 0, e->words * sizeof(*s));
    return s;
}

/* Gives back what was allocated after @m; the first bytes are the caller's stack, which arena_reset() does not know. */
static void ext_reset(struct ext *e, struct arena_mark m)
{
    if (e->a.chunk == m.chunk)
        e->a.p = m.p;
    else
        arena_reset(&e->a, m);
}

static void set_add(uint64_t *s, size_t pos)
{
    s[pos / 64] |= UINT64_C(1) << pos % 64;
}

static bool set_has(const uint64_t *s, size_t pos)
{
    return s[pos / 64] >> pos % 64 & 1;
}

/* The first member >= @pos, or SIZE_MAX. */
static size_t set_next(const struct ext *e, const uint64_t *s, size_t pos)
{
    size_t w = pos / 64;
    if (w >= e->words)
        return SIZE_MAX;
    uint64_t bits = s[w] >> pos % 64 << pos % 64;
    while (!bits) {
        if (++w >= e->words)
            return SIZE_MAX;
        bits = s[w];
    }
    return w * 64 + (size_t)__builtin_ctzll(bits);
}

/* The last member, or SIZE_MAX. */
static size_t set_last(const struct ext *e, const uint64_t *s)
{
    for (size_t w = e->words; w-- > 0;)
        if (s[w])
            return w * 64 + 63 - (size_t)__builtin_clzll(s[w]);
    return SIZE_MAX;
}

static bool ext_poll(struct ext *e)
{
    if (!e->stop && e->proc && proc_poll(e->proc) < 0)
        e->stop = true;
    return e->stop;
}

/* The next character from @pos in the run's direction: false at the end of the text; *ret_next is the place behind it.
 */
static bool ext_char(const struct ext *e, size_t pos, uint32_t *ret, size_t *ret_next)
{
    size_t len = 1, n = e->text.n;
    if (!e->back) {
        if (pos >= n)
            return false;
        *ret = e->utf8 ? uchar_get(e->text.p + pos, n - pos, &len) : (unsigned char)e->text.p[pos];
        *ret_next = pos + len;
        return true;
    }
    if (!pos)
        return false;
    size_t q = pos - 1;
    if (e->utf8)
        while (q && ((unsigned char)e->text.p[q] & 0xc0) == 0x80)
            q--;
    *ret = e->utf8 ? uchar_get(e->text.p + q, n - q, &len) : (unsigned char)e->text.p[q];
    *ret_next = q;
    return true;
}

static uint64_t *ext_seq(struct ext *e, const struct pat_seq *s, const uint64_t *in);

/* All places that characters lead to from @pos, @pos included; with @path until a '/'. */
static void add_all_from(struct ext *e, uint64_t *out, size_t pos, bool path)
{
    uint32_t c;
    size_t next;
    set_add(out, pos);
    while (ext_char(e, pos, &c, &next) && (c != '/' || !path)) {
        pos = next;
        if (set_has(out, pos))
            return; /* the rest was added from an earlier place */
        set_add(out, pos);
    }
}

static uint64_t *ext_step(struct ext *e, const struct pat_item *it, const uint64_t *in)
{
    uint64_t *out = set_new(e);
    if (!out)
        return NULL;
    /* As in bash a '*' at the very end takes slashes too. */
    bool path = e->path && it != &e->p->seq.items[e->p->seq.n - 1];
    for (size_t pos = set_next(e, in, 0); pos != SIZE_MAX; pos = set_next(e, in, pos + 1)) {
        uint32_t c;
        size_t next;
        if (it->kind == PAT_STAR)
            add_all_from(e, out, pos, path);
        else if (ext_char(e, pos, &c, &next) && pattern__item(e->p, it, c))
            set_add(out, next);
    }
    return ext_poll(e) ? NULL : out;
}

/* Where any of the alternatives may end. */
static uint64_t *ext_alts(struct ext *e, const struct pat_item *it, const uint64_t *in)
{
    uint64_t *out = set_new(e);
    for (uint32_t k = 0; out && k < it->n_alts; k++) {
        struct arena_mark m = arena_mark(&e->a);
        uint64_t *r = ext_seq(e, &it->alts[k], in);
        if (!r)
            return NULL;
        for (size_t w = 0; w < e->words; w++)
            out[w] |= r[w];
        ext_reset(e, m);
    }
    return out;
}

/* Zero (when @zero) or more repetitions: each turn goes on from the places the last one found. */
static uint64_t *ext_repeat(struct ext *e, const struct pat_item *it, const uint64_t *in, bool zero)
{
    uint64_t *out = set_new(e), *fresh = set_new(e);
    if (!out || !fresh)
        return NULL;
    memcpy(fresh, in, e->words * sizeof(*in));
    if (zero)
        memcpy(out, in, e->words * sizeof(*in));
    for (;;) {
        struct arena_mark m = arena_mark(&e->a);
        uint64_t *r = ext_alts(e, it, fresh), any = 0;
        if (!r || ext_poll(e))
            return NULL;
        for (size_t w = 0; w < e->words; w++) {
            fresh[w] = r[w] & ~out[w];
            out[w] |= fresh[w];
            any |= fresh[w];
        }
        ext_reset(e, m);
        if (!any)
            return out;
    }
}

/* !(…): from each place, all places but those where an alternative ends. */
static uint64_t *ext_not(struct ext *e, const struct pat_item *it, const uint64_t *in)
{
    uint64_t *out = set_new(e), *one = set_new(e), *all = set_new(e);
    if (!out || !one || !all)
        return NULL;
    for (size_t pos = set_next(e, in, 0); pos != SIZE_MAX; pos = set_next(e, in, pos + 1)) {
        struct arena_mark m = arena_mark(&e->a);
        memset(one, 0, e->words * sizeof(*one));
        memset(all, 0, e->words * sizeof(*all));
        set_add(one, pos);
        add_all_from(e, all, pos, e->path);
        uint64_t *r = ext_alts(e, it, one);
        if (!r || ext_poll(e))
            return NULL;
        for (size_t w = 0; w < e->words; w++)
            out[w] |= all[w] & ~r[w];
        ext_reset(e, m);
    }
    return out;
}

static uint64_t *ext_group(struct ext *e, const struct pat_item *it, const uint64_t *in)
{
    if (it->op == '!')
        return ext_not(e, it, in);
    if (it->op == '*' || it->op == '+')
        return ext_repeat(e, it, in, it->op == '*');
    uint64_t *out = ext_alts(e, it, in);
    if (out && it->op == '?')
        for (size_t w = 0; w < e->words; w++)
            out[w] |= in[w];
    return out;
}

/* Where @s may end when it begins at the places of @in; NULL when the run stops. The result lies in the run's arena. */
static uint64_t *ext_seq(struct ext *e, const struct pat_seq *s, const uint64_t *in)
{
    /* Two sets take turns, so that long sequences do not pile up sets. */
    uint64_t *cur = set_new(e);
    if (!cur)
        return NULL;
    memcpy(cur, in, e->words * sizeof(*in));
    for (uint32_t k = 0; k < s->n; k++) {
        const struct pat_item *it = &s->items[e->back ? s->n - 1 - k : k];
        struct arena_mark m = arena_mark(&e->a);
        uint64_t *r = it->kind == PAT_GROUP ? ext_group(e, it, cur) : ext_step(e, it, cur);
        if (!r)
            return NULL;
        memcpy(cur, r, e->words * sizeof(*r));
        ext_reset(e, m);
        if (set_next(e, cur, 0) == SIZE_MAX)
            break;
    }
    return cur;
}

/*
 * bash does not try @(…), +(…) and !(…) at the end of the text when a '*' (and maybe some '?') stands before them; and
 * when the text ends where such a '*' begins (or with those '?'), !(…) and all that follows it match. Scripts are
 * tested with that, so it is the same here. The top level of such a pattern over a whole text:
 */
static bool ext_odd(struct ext *e, const uint64_t *in)
{
    const struct pat_seq *s = &e->p->seq;
    size_t n = e->text.n;
    uint64_t *cur = set_new(e), *tail = set_new(e); /* tail: where the '?' behind a '*' lead without it */
    bool star = false;
    if (!cur || !tail)
        return false;
    memcpy(cur, in, e->words * sizeof(*in));
    for (uint32_t k = 0; k < s->n; k++) {
        const struct pat_item *it = &s->items[k];
        bool odd = it->kind == PAT_GROUP && strchr("@+!", it->op);
        if (star && odd && it->op == '!' && set_has(tail, n))
            return true;
        if (star && odd)
            cur[n / 64] &= ~(UINT64_C(1) << n % 64);
        struct arena_mark m = arena_mark(&e->a);
        if (it->kind == PAT_STAR)
            memcpy(tail, cur, e->words * sizeof(*cur));
        uint64_t *t = star && it->kind == PAT_ANY ? ext_step(e, it, tail) : NULL;
        uint64_t *r = it->kind == PAT_GROUP ? ext_group(e, it, cur) : ext_step(e, it, cur);
        if (!r)
            return false;
        if (t)
            memcpy(tail, t, e->words * sizeof(*t));
        memcpy(cur, r, e->words * sizeof(*r));
        ext_reset(e, m);
        star = it->kind == PAT_STAR || (star && it->kind == PAT_ANY);
    }
    return set_has(cur, n);
}

static void ext_init(struct ext *e, const struct pattern *p, struct proc *proc, struct str text, bool back, char *stack,
                     size_t n)
{
    *e = (struct ext){.p = p, .proc = proc, .text = text, .back = back, .words = text.n / 64 + 1};
    e->utf8 = (p->flags & PATTERN_UTF8) != 0;
    e->path = (p->flags & PATTERN_PATH) != 0;
    e->a = (struct arena){NULL, stack, stack + n};
}

#define STACK_BYTES 2048

/* Whether all of @text matches. */
static bool whole_odd(const struct pattern *p, struct proc *proc, struct str text)
{
    _Alignas(16) char stack[STACK_BYTES];
    struct ext e;
    ext_init(&e, p, proc, text, false, stack, sizeof(stack));
    uint64_t *in = set_new(&e);
    bool yes = false;
    if (in) {
        set_add(in, 0);
        yes = ext_odd(&e, in);
    }
    arena_done(&e.a);
    return yes;
}

/* Odd patterns depend on where the text ends, so each part of the text that may match is looked at as a text of its
 * own. */
static ptrdiff_t run_odd(const struct pattern *p, struct proc *proc, struct str text, enum pat_want want)
{
    bool suffix = want == PAT_SUFFIX_SHORT || want == PAT_SUFFIX_LONG;
    bool longest = want == PAT_PREFIX_LONG || want == PAT_SUFFIX_LONG;
    if (want == PAT_WHOLE)
        return whole_odd(p, proc, text) ? (ptrdiff_t)text.n : -1;
    for (size_t k = 0; k <= text.n; k++) {
        size_t n = longest ? text.n - k : k, cut = suffix ? text.n - n : n;
        bool inside = cut < text.n && ((unsigned char)text.p[cut] & 0xc0) == 0x80;
        if ((p->flags & PATTERN_UTF8) && inside)
            continue;
        if (whole_odd(p, proc, suffix ? str_from(text, cut) : str_of(text.p, n)))
            return (ptrdiff_t)n;
        if (proc && proc_poll(proc) < 0)
            break;
    }
    return -1;
}

ptrdiff_t pattern__run_ext(const struct pattern *p, struct proc *proc, struct str text, enum pat_want want)
{
    _Alignas(16) char stack[STACK_BYTES];
    struct ext e;
    bool back = want == PAT_SUFFIX_SHORT || want == PAT_SUFFIX_LONG;
    if (p->odd && !(p->flags & PATTERN_PATH))
        return run_odd(p, proc, text, want);
    ext_init(&e, p, proc, text, back, stack, sizeof(stack));
    uint64_t *in = set_new(&e), *out = NULL;
    ptrdiff_t r = -1;
    if (in) {
        set_add(in, back ? text.n : 0);
        out = ext_seq(&e, &p->seq, in);
    }
    if (out && set_next(&e, out, 0) != SIZE_MAX) {
        ptrdiff_t n = (ptrdiff_t)text.n, lo = (ptrdiff_t)set_next(&e, out, 0), hi = (ptrdiff_t)set_last(&e, out);
        switch (want) {
        case PAT_WHOLE:
            r = hi == n ? n : -1;
            break;
        case PAT_PREFIX_SHORT:
            r = lo;
            break;
        case PAT_PREFIX_LONG:
            r = hi;
            break;
        case PAT_SUFFIX_SHORT:
            r = n - hi;
            break;
        case PAT_SUFFIX_LONG:
            r = n - lo;
            break;
        }
    }
    arena_done(&e.a);
    return r;
}

static bool search_odd(const struct pattern *p, struct proc *proc, struct str text, size_t from, size_t *ret_start,
                       size_t *ret_len)
{
    for (size_t pos = from; pos <= text.n; pos++) {
        if ((p->flags & PATTERN_UTF8) && pos < text.n && ((unsigned char)text.p[pos] & 0xc0) == 0x80)
            continue;
        ptrdiff_t n = run_odd(p, proc, str_from(text, pos), PAT_PREFIX_LONG);
        if (n >= 0) {
            *ret_start = pos;
            *ret_len = (size_t)n;
            return true;
        }
        if (proc && proc_poll(proc) < 0)
            break;
    }
    return false;
}

/* Whether no match begins at @pos or later; @in is overwritten. */
static bool none_from(struct ext *e, uint64_t *in, size_t pos)
{
    struct arena_mark m = arena_mark(&e->a);
    if (e->path)
        return false;
    memset(in, 0, e->words * sizeof(*in));
    add_all_from(e, in, pos, false);
    uint64_t *out = ext_seq(e, &e->p->seq, in);
    bool none = !out || set_next(e, out, 0) == SIZE_MAX;
    ext_reset(e, m);
    return none;
}

bool pattern__search_ext(const struct pattern *p, struct proc *proc, struct str text, size_t from, size_t *ret_start,
                         size_t *ret_len)
{
    _Alignas(16) char stack[STACK_BYTES];
    struct ext e;
    bool found = false;
    if (from > text.n)
        return false;
    if (p->odd && !(p->flags & PATTERN_PATH))
        return search_odd(p, proc, text, from, ret_start, ret_len);
    ext_init(&e, p, proc, text, false, stack, sizeof(stack));
    uint64_t *in = set_new(&e);
    size_t pos = from;
    for (int tries = 0; in && !found; tries += tries < 2) {
        struct arena_mark m = arena_mark(&e.a);
        /* When the first place is none, all are looked at together: without any match the search ends here. */
        if (tries == 1 && none_from(&e, in, pos))
            break;
        memset(in, 0, e.words * sizeof(*in));
        set_add(in, pos);
        uint64_t *out = ext_seq(&e, &p->seq, in);
        if (!out || ext_poll(&e))
            break;
        size_t end = set_last(&e, out), next = 0;
        uint32_t c;
        ext_reset(&e, m);
        if (end != SIZE_MAX) {
            *ret_start = pos;
            *ret_len = end - pos;
            found = true;
        } else if (!ext_char(&e, pos, &c, &next)) {
            break;
        }
        pos = next;
    }
    arena_done(&e.a);
    return found;
}
