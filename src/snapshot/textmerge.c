/* SPDX-License-Identifier: Apache-2.0 */

/* Two changed texts made one: the changes of both sides are walked together in the order of the text they began as. */

#include <errno.h>

#include "base/num.h"
#include "snapshot/textdiff.h"

/* A change: lines [from, to) of the base became lines [side_from, side_to). */
struct hunk {
    size_t from, to, side_from, side_to;
};

/* The changes of one side, one after the other. */
struct changes {
    const struct textdiff *d;
    struct hunk h; /* the next one */
    bool any;      /* there is one */
};

static void next(struct changes *c)
{
    const struct textdiff_side *a = &c->d->a, *b = &c->d->b;
    struct hunk h = {.from = c->h.to, .side_from = c->h.side_to};
    while (h.from < a->n && !a->changed[h.from] && !b->changed[h.side_from]) {
        h.from++;
        h.side_from++;
    }
    h.to = h.from;
    h.side_to = h.side_from;
    while (a->changed[h.to])
        h.to++;
    while (b->changed[h.side_to])
        h.side_to++;
    c->any = h.to > h.from || h.side_to > h.side_from;
    c->h = h;
}

/* What a side made of a stretch of the base. */
struct stretch {
    size_t from, to;        /* of the base, as far as this side's changes reach */
    size_t lines, lines_to; /* of the side */
    bool any;
};

/* Takes in the changes of @c that begin at or before @to: those that overlap or touch. Returns how far they reach. */
static size_t take(struct changes *c, size_t to, struct stretch *s)
{
    while (c->any && c->h.from <= to) {
        if (!s->any)
            *s = (struct stretch){c->h.from, c->h.to, c->h.side_from, c->h.side_to, true};
        s->to = c->h.to;
        s->lines_to = c->h.side_to;
        to = NUM_MAX(to, c->h.to);
        next(c);
    }
    return to;
}

static void put_lines(struct buf *out, const struct textdiff_side *s, size_t from, size_t to)
{
    if (from < to)
        buf_add(out, s->line[from].p, (size_t)(s->line[to - 1].p + s->line[to - 1].n - s->line[from].p));
}

/* The side's lines for [from, to) of the base. */
static struct str lines_for(const struct changes *c, const struct stretch *s, size_t from, size_t to)
{
    size_t first = s->lines - (s->from - from), end = s->lines_to + (to - s->to);
    const struct str *line = c->d->b.line;
    if (first == end)
        return str_of("", 0);
    return str_of(line[first].p, (size_t)(line[end - 1].p + line[end - 1].n - line[first].p));
}

static int merge(struct changes *a, struct changes *b, struct buf *out)
{
    size_t done = 0;
    next(a);
    next(b);
    while (a->any || b->any) {
        size_t from = !b->any || (a->any && a->h.from < b->h.from) ? a->h.from : b->h.from;
        struct stretch sa = {0}, sb = {0};
        size_t to = from, before;
        do {
            before = to;
            to = take(a, to, &sa);
            to = take(b, to, &sb);
        } while (to != before);
        put_lines(out, &a->d->a, done, from);
        struct str of_a = sa.any ? lines_for(a, &sa, from, to) : str_of("", 0);
        struct str of_b = sb.any ? lines_for(b, &sb, from, to) : str_of("", 0);
        if (sa.any && sb.any && !str_eq(of_a, of_b))
            return 1;
        buf_adds(out, sa.any ? of_a : of_b);
        done = to;
    }
    put_lines(out, &a->d->a, done, a->d->a.n);
    return out->err;
}

int textdiff_merge(struct str base, struct str ours, struct str theirs, struct buf *out)
{
    struct textdiff a, b;
    int r = textdiff_make(base, ours, &a);
    if (r)
        return r;
    r = textdiff_make(base, theirs, &b);
    if (r == 0) {
        r = merge(&(struct changes){.d = &a}, &(struct changes){.d = &b}, out);
        textdiff_done(&b);
    }
    textdiff_done(&a);
    return r;
}
