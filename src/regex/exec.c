/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"
#include "regex/regex_int.h"

/* ---- symbols and contexts ---- */

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* UTF-8 synchronises by itself: which character covers byte @i does not depend on where one began to read. */
static void char_around(struct str t, size_t i, struct rx_char *c)
{
    size_t k = i;
    while (k > 0 && i - k < 3 && continues(t.p[k]))
        k--;
    uint32_t u = 0;
    unsigned len = unicode_decode(t.p + k, t.n - k, &u);
    if (len > 0 && k + len > i)
        *c = (struct rx_char){k, k + len, true, unicode_is_word(u)};
    else
        *c = (struct rx_char){i, i + 1, false, false};
}

unsigned rx__wide_sym(const struct rx_syms *y, struct str t, size_t i, struct rx_char *c)
{
    if (i < c->begin || i >= c->end)
        char_around(t, i, c);
    unsigned sym = y->of[(uint8_t)t.p[i]];
    /* See add_wide() of dfa.c. */
    if (!continues(t.p[i]))
        return sym + (!c->valid ? 2 : c->word ? 0 : 1);
    return sym + (!c->valid ? 3 : i + 1 < c->end ? 0 : c->word ? 1 : 2);
}

enum rx_ctx rx__left(const struct regex *re, struct str t, size_t i, unsigned eflags)
{
    struct rx_char c = {0};
    if (i == 0)
        return eflags & REGEX_NOTBOL ? RX_EDGE_NOT : RX_EDGE;
    return (enum rx_ctx)re->syms.left[rx__sym(&re->syms, t, i - 1, &c)];
}

enum rx_ctx rx__right(const struct regex *re, struct str t, size_t i, unsigned eflags)
{
    struct rx_char c = {0};
    if (i == t.n)
        return eflags & REGEX_NOTEOL ? RX_EDGE_NOT : RX_EDGE;
    return (enum rx_ctx)re->syms.right[rx__sym(&re->syms, t, i, &c)];
}

/* ---- passes ---- */

int rx__make(struct regex *re, struct rx_dfa *d, uint32_t *s, unsigned sym, uint32_t *ret)
{
    if (d->made % RX_POLL_STATES == RX_POLL_STATES - 1) {
        int r = rx__poll(re);
        if (r)
            return r;
    }
    *ret = rx__dfa_make(d, s, sym);
    return *ret == RX_NONE ? -ENOMEM : 0;
}

/* The first byte from @i on that does not leave the state where it is. Most states of a search that has not begun to
 * match stay, and looking at bytes in one row does not wait for the byte before. */
static inline size_t stay(const uint32_t *row, const uint16_t *of, const char *p, size_t i, size_t end, uint32_t cur)
{
    const uint8_t *b = (const uint8_t *)p;
    while (i + 4 <= end && row[of[b[i]]] == cur && row[of[b[i + 1]]] == cur && row[of[b[i + 2]]] == cur &&
           row[of[b[i + 3]]] == cur)
        i += 4;
    return i;
}

/* Where stay() gained little it is not tried again for a while; where it did, soon. */
#define STAY_GAIN 32u
#define STAY_LATER 1024u
#define STAY_SOON 8u

/* Follows transitions from *s at *p up to @end; stops at one that must be looked at and returns it, else *s at @end. */
static inline uint32_t run(const struct rx_dfa *d, struct str t, uint32_t *s, size_t *p, size_t end, struct rx_char *c)
{
    const uint32_t *trans = d->trans;
    const struct rx_syms *y = d->syms;
    uint32_t cur = *s, next = cur;
    size_t i = *p;
    while (i < end) {
        size_t till = end;
        if (!y->wide) {
            size_t from = i;
            i = stay(trans + cur, y->of, t.p, i, end, cur);
            till = NUM_MIN(end, i + (i - from >= STAY_GAIN ? STAY_SOON : STAY_LATER));
            for (; i < till && !((next = trans[cur + y->of[(uint8_t)t.p[i]]]) & RX_STOP); i++)
                cur = next;
        } else {
            for (; i < till && !((next = trans[cur + rx__sym(y, t, i, c)]) & RX_STOP); i++)
                cur = next;
        }
        if (i < till)
            break;
    }
    *s = cur;
    *p = i;
    return i < end ? next : cur;
}

int rx__scan(struct regex *re, struct rx_dfa *d, struct str t, size_t start, unsigned eflags, size_t *ret_end)
{
    struct rx_char c = {0};
    size_t p = start, last = SIZE_MAX;
    uint32_t s = rx__dfa_start(d, rx__left(re, t, start, eflags), eflags & REGEX_ANCHORED);
    if (s == RX_NONE)
        return -ENOMEM;
    for (;;) {
        if (s & RX_STOP) {
            const struct rx_state *st = rx__dfa_state(d, s);
            if (st->mask && (st->mask == RX_ANY_CTX || (st->mask >> rx__right(re, t, p, eflags) & 1))) {
                last = p;
                if (d->kind == RX_FWD)
                    break;
            }
            if (st->n == 0 && st->closed)
                break;
            s &= ~RX_STOP;
        }
        if (p == t.n)
            break;
        size_t end = t.n - p > RX_POLL_BYTES ? p + RX_POLL_BYTES : t.n;
        uint32_t next = run(d, t, &s, &p, end, &c);
        int r = 0;
        if (p == end)
            r = rx__poll(re);
        else if (next == RX_NONE)
            r = rx__make(re, d, &s, rx__sym(d->syms, t, p, &c), &next);
        if (r)
            return r;
        if (p < end) {
            p++;
            s = next;
        }
    }
    if (last == SIZE_MAX)
        return 0;
    *ret_end = last;
    return 1;
}

int rx__find_start(struct regex *re, struct str t, size_t start, size_t end, unsigned eflags, size_t *ret_start)
{
    struct rx_dfa *d = &re->back;
    struct rx_char c = {0};
    size_t p = end, best = end;
    uint32_t s = rx__dfa_start(d, rx__right(re, t, end, eflags), true);
    if (s == RX_NONE)
        return -ENOMEM;
    for (;;) {
        if (s & RX_STOP) {
            const struct rx_state *st = rx__dfa_state(d, s);
            if (st->n == 0)
                break;
            if (st->mask == RX_ANY_CTX || (st->mask >> rx__left(re, t, p, eflags) & 1))
                best = p;
            s &= ~RX_STOP;
        }
        if (p == start)
            break;
        unsigned sym = rx__sym(d->syms, t, p - 1, &c);
        uint32_t next = d->trans[s + sym];
        int r = 0;
        if (next == RX_NONE)
            r = rx__make(re, d, &s, sym, &next);
        if (r == 0 && p % RX_POLL_BYTES == 0)
            r = rx__poll(re);
        if (r)
            return r;
        s = next;
        p--;
    }
    *ret_start = best;
    return 0;
}

/* ---- a whole search ---- */

/* Bounds and groups by the automata; the pattern has no back-references. */
static int search(struct regex *re, struct str t, size_t start, unsigned eflags, struct regex_span *spans, size_t n)
{
    size_t end, begin = start;
    int r = rx__scan(re, &re->longest, t, start, eflags, &end);
    if (r <= 0)
        return r;
    if (!re->preds.eps_off) {
        r = rx__preds_init(&re->preds, &re->prog);
        if (r < 0)
            return r;
        re->back.preds = &re->preds;
    }
    if (!(eflags & REGEX_ANCHORED)) {
        r = rx__find_start(re, t, start, end, eflags, &begin);
        if (r < 0)
            return r;
    }
    spans[0] = (struct regex_span){(ptrdiff_t)begin, (ptrdiff_t)end};
    for (size_t i = 1; i < n; i++)
        spans[i] = (struct regex_span){-1, -1};
    if (n > 1 && re->prog.n_groups > 0) {
        r = rx__groups(re, t, eflags, spans, NUM_MIN(n, re->prog.n_groups + (size_t)1));
        re->back.hold = false;
        if (r < 0)
            return r;
    }
    return 1;
}

int regex_exec(struct regex *re, struct str text, size_t start, unsigned eflags, struct regex_span *spans,
               size_t n_spans)
{
    if (start > text.n)
        return 0;
    if (re->lit.n > 0 && !(eflags & REGEX_ANCHORED)) {
        size_t hit = rx__lit_find(&re->lit, text, start);
        if (hit == SIZE_MAX)
            return 0;
        if (re->lit.exact) {
            for (size_t i = 0; i < n_spans; i++)
                spans[i] = (struct regex_span){-1, -1};
            if (n_spans > 0)
                spans[0] = (struct regex_span){(ptrdiff_t)hit, (ptrdiff_t)(hit + re->lit.n)};
            if (n_spans <= 1 || re->prog.n_groups == 0)
                return 1;
        }
        if (re->lit.prefix)
            start = hit;
    }
    int r = rx__ready(re);
    if (r < 0)
        return r;
    if (re->word_plain)
        return rx__word(re, text, start, eflags, spans, n_spans);
    if (re->prog.has_backref)
        return rx__backref(re, text, start, eflags, spans, n_spans);
    if (n_spans == 0) {
        size_t end;
        return rx__scan(re, &re->fwd, text, start, eflags, &end);
    }
    return search(re, text, start, eflags, spans, n_spans);
}

int regex_test(struct regex *re, struct str text)
{
    return regex_exec(re, text, 0, 0, NULL, 0);
}

/* ---- lines ---- */

static size_t line_begin(struct str buf, size_t from, size_t at, char eol)
{
    const char *p = at > from ? memrchr(buf.p + from, eol, at - from) : NULL;
    return p ? (size_t)(p - buf.p) + 1 : from;
}

static size_t line_end(struct str buf, size_t at, char eol)
{
    const char *p = at < buf.n ? memchr(buf.p + at, eol, buf.n - at) : NULL;
    return p ? (size_t)(p - buf.p) : buf.n;
}

/* Runs RX_LINES from a place in a line, which has @left before it: 1 and a place in the first line that matches, 0 or
 * an error. */
static int scan_lines(struct regex *re, struct str buf, size_t from, enum rx_ctx left, char eol, size_t *ret_at)
{
    struct rx_dfa *d = &re->lines;
    struct rx_char c = {0};
    size_t p = from;
    d->eol = (unsigned char)eol;
    uint32_t s = rx__dfa_start(d, left, false);
    if (s == RX_NONE)
        return -ENOMEM;
    for (;;) {
        bool at_end = p == buf.n;
        if (at_end && (p == from || buf.p[p - 1] == eol))
            return 0;
        const struct rx_state *st = rx__dfa_state(d, s);
        if (st->mask) {
            enum rx_ctx right = at_end || buf.p[p] == eol ? RX_EDGE : rx__right(re, buf, p, 0);
            if (st->mask >> right & 1) {
                *ret_at = p;
                return 1;
            }
        }
        if (at_end)
            return 0;
        if (st->n == 0 && st->closed) {
            p = line_end(buf, p, eol);
            s = rx__dfa_start(d, RX_EDGE, false);
            if (s == RX_NONE)
                return -ENOMEM;
            if (p < buf.n)
                p++;
            else
                return 0;
            continue;
        }
        s &= ~RX_STOP;
        size_t end = buf.n - p > RX_POLL_BYTES ? p + RX_POLL_BYTES : buf.n;
        uint32_t next = run(d, buf, &s, &p, end, &c);
        int r = 0;
        if (p == end)
            r = rx__poll(re);
        else if (next == RX_NONE)
            r = rx__make(re, d, &s, rx__sym(d->syms, buf, p, &c), &next);
        if (r)
            return r;
        if (p == end)
            continue;
        if (next == RX_EOL_HIT) {
            *ret_at = p;
            return 1;
        }
        p++;
        s = next;
    }
}

/* The automaton took the line; whether that is all there is to it. */
static bool needs_check(const struct regex *re)
{
    return re->prog.has_backref || re->word_plain;
}

int regex_find_line(struct regex *re, struct str buf, size_t from, char eol, size_t *ret_start, size_t *ret_end)
{
    int r = rx__ready(re);
    if (r < 0)
        return r;
    while (from < buf.n) {
        size_t at = 0, begin = from, end;
        struct str within = buf;
        if (re->lit.n > 0) {
            at = rx__lit_find(&re->lit, buf, from);
            if (at == SIZE_MAX)
                return 0;
            begin = line_begin(buf, from, at, eol);
            within.n = line_end(buf, at, eol);
        }
        if (!re->lit.exact) {
            /* No match of the line begins before the string that all begin with. */
            bool skip = re->lit.n > 0 && re->lit.prefix && !needs_check(re) && at > begin;
            size_t start = skip ? at : begin;
            r = scan_lines(re, within, start, skip ? rx__left(re, buf, at, 0) : RX_EDGE, eol, &at);
            if (r < 0 || (r == 0 && re->lit.n == 0))
                return r;
            if (r == 0) {
                from = within.n + 1;
                continue;
            }
            if (re->lit.n == 0)
                begin = line_begin(buf, from, at, eol);
        }
        end = line_end(buf, at, eol);
        r = needs_check(re) ? regex_test(re, str_of(buf.p + begin, end - begin)) : 1;
        if (r < 0)
            return r;
        if (r > 0) {
            *ret_start = begin;
            *ret_end = end;
            return 1;
        }
        from = end + 1;
    }
    return 0;
}
