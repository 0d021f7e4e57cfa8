/* SPDX-License-Identifier: Apache-2.0 */

/*
 * By E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy forward form. The cost grows
 * with the square of the number of differing lines, so that number is bounded; texts that differ more are shown as
 * replaced between their common head and tail, which is a correct diff, only not the shortest.
 */

#include "snapshot/textdiff.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"

#define MAX_D 2000        /* differing lines searched for */
#define MAX_LINES 2000000 /* of one side */
#define CONTEXT 3

/* ---- lines ---- */

static int split(struct str s, struct textdiff_side *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '\n' || i + 1 == s.n;
    if (n > MAX_LINES)
        return -EFBIG;
    ret->line = mem_try((n + 1) * sizeof(*ret->line));
    uint8_t *changed = mem_try_zalloc(n + 2);
    if (!ret->line || !changed) {
        mem_free(changed);
        return -ENOMEM;
    }
    ret->changed = changed + 1;
    while (s.n) {
        const char *nl = memchr(s.p, '\n', s.n);
        size_t len = nl ? (size_t)(nl - s.p) + 1 : s.n;
        ret->line[ret->n++] = str_of(s.p, len);
        s = str_from(s, len);
    }
    return 0;
}

bool textdiff_is_text(struct str s)
{
    return s.n == 0 || !memchr(s.p, 0, s.n);
}

void textdiff_done(struct textdiff *d)
{
    for (struct textdiff_side *s = &d->a; s; s = s == &d->a ? &d->b : NULL) {
        mem_free(s->line);
        mem_free(s->changed ? s->changed - 1 : NULL);
    }
    *d = (struct textdiff){0};
}

/* ---- the search ---- */

/* What lies between the common head and tail. */
struct part {
    const struct str *a, *b;
    int32_t n, m;
};

/* The rows of furthest-reaching x for each d; the path is read back from them. Row d holds 2d + 1 values. */
struct rows {
    int32_t *v;
    size_t n, cap;
};

static bool add_row(struct rows *t, size_t n)
{
    if (t->n + n > t->cap) {
        size_t cap = NUM_MAX(t->cap * 2, t->n + n + 1024);
        int32_t *v = mem_try_realloc(t->v, cap * sizeof(*v));
        if (!v)
            return false;
        t->v = v;
        t->cap = cap;
    }
    t->n += n;
    return true;
}

static int32_t row_get(const struct rows *t, int32_t d, int32_t k)
{
    /* Rows 0 … d-1 take d*d values before row d. */
    return t->v[(size_t)d * (size_t)d + (size_t)(k + d)];
}

/* Whether the step into diagonal k at d comes from above (a line of b inserted). */
static bool goes_down(const struct rows *t, int32_t d, int32_t k)
{
    return k == -d || (k != d && row_get(t, d - 1, k - 1) < row_get(t, d - 1, k + 1));
}

/* Fills rows until the end is reached: d, or -1 beyond MAX_D, or -2 when memory is short. */
static int32_t search(const struct part *p, struct rows *t)
{
    for (int32_t d = 0; d <= MAX_D; d++) {
        if (!add_row(t, (size_t)(2 * d + 1)))
            return -2;
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t x = 0;
            if (d > 0)
                x = goes_down(t, d, k) ? row_get(t, d - 1, k + 1) : row_get(t, d - 1, k - 1) + 1;
            int32_t y = x - k;
            while (x < p->n && y < p->m && x >= 0 && y >= 0 && str_eq(p->a[x], p->b[y])) {
                x++;
                y++;
            }
            t->v[(size_t)d * (size_t)d + (size_t)(k + d)] = x;
            if (x >= p->n && y >= p->m)
                return d;
        }
    }
    return -1;
}

/* Reads the path back from the end. */
static void walk_back(const struct part *p, const struct rows *t, int32_t d, uint8_t *gone, uint8_t *come)
{
    int32_t x = p->n, y = p->m;
    for (; d > 0; d--) {
        int32_t k = x - y;
        bool down = goes_down(t, d, k);
        x = row_get(t, d - 1, down ? k + 1 : k - 1);
        y = x - (down ? k + 1 : k - 1);
        if (down)
            come[y] = 1;
        else
            gone[x] = 1;
    }
}

static int mark(struct textdiff *d)
{
    size_t head = 0, tail = 0, n = d->a.n, m = d->b.n;
    while (head < n && head < m && str_eq(d->a.line[head], d->b.line[head]))
        head++;
    while (tail < n - head && tail < m - head && str_eq(d->a.line[n - 1 - tail], d->b.line[m - 1 - tail]))
        tail++;
    struct part p = {d->a.line + head, d->b.line + head, (int32_t)(n - head - tail), (int32_t)(m - head - tail)};
    struct rows t = {0};
    int32_t cost = search(&p, &t);
    if (cost >= 0) {
        walk_back(&p, &t, cost, d->a.changed + head, d->b.changed + head);
    } else if (cost == -1) {
        memset(d->a.changed + head, 1, (size_t)p.n);
        memset(d->b.changed + head, 1, (size_t)p.m);
    }
    mem_free(t.v);
    return cost == -2 ? -ENOMEM : 0;
}

/* ---- where runs lie ---- */

/* A run of changed lines, which may be empty, before an unchanged one or the end. The i-th run of one text lies beside
 * the i-th run of the other. */
struct run {
    size_t from, to;
};

static struct run first_run(const struct textdiff_side *s)
{
    struct run r = {0, 0};
    while (s->changed[r.to])
        r.to++;
    return r;
}

static bool next_run(const struct textdiff_side *s, struct run *r)
{
    if (r->to == s->n)
        return false;
    r->from = ++r->to;
    while (s->changed[r->to])
        r->to++;
    return true;
}

static void run_before(const struct textdiff_side *s, struct run *r)
{
    r->to = --r->from;
    while (r->from > 0 && s->changed[r->from - 1])
        r->from--;
}

/* Moves a run up by one line, if what comes in is equal to what goes out, and takes in a run that it meets. */
static bool slide_up(struct textdiff_side *s, struct run *r)
{
    if (r->from == 0 || !str_eq(s->line[r->from - 1], s->line[r->to - 1]))
        return false;
    s->changed[--r->from] = 1;
    s->changed[--r->to] = 0;
    while (r->from > 0 && s->changed[r->from - 1])
        r->from--;
    return true;
}

/* See slide_up(). */
static bool slide_down(struct textdiff_side *s, struct run *r)
{
    if (r->to == s->n || !str_eq(s->line[r->from], s->line[r->to]))
        return false;
    s->changed[r->from++] = 0;
    s->changed[r->to++] = 1;
    while (s->changed[r->to])
        r->to++;
    return true;
}

/* Moves the run @r of @s, beside @o of @other, to its place. @budget bounds all moves: texts of a few different lines
 * could make them many. */
static void place(struct textdiff_side *s, struct run *r, const struct textdiff_side *other, struct run *o,
                  size_t *budget)
{
    size_t size, top;
    bool beside;
    do {
        size = r->to - r->from;
        while (*budget > 0 && slide_up(s, r)) {
            run_before(other, o);
            --*budget;
        }
        top = r->to;
        beside = o->to > o->from;
        while (*budget > 0 && slide_down(s, r)) {
            next_run(other, o);
            beside |= o->to > o->from;
            --*budget;
        }
    } while (size != r->to - r->from);
    while (beside && r->to > top && o->to == o->from && slide_up(s, r))
        run_before(other, o);
}

static void place_all(struct textdiff_side *s, const struct textdiff_side *other)
{
    struct run r = first_run(s), o = first_run(other);
    size_t budget = 16 * (s->n + other->n) + 1024;
    do {
        if (r.to > r.from)
            place(s, &r, other, &o, &budget);
    } while (next_run(s, &r) && next_run(other, &o));
}

int textdiff_make(struct str a, struct str b, struct textdiff *ret)
{
    struct textdiff d = {0};
    int r = split(a, &d.a);
    if (r == 0)
        r = split(b, &d.b);
    if (r == 0)
        r = mark(&d);
    if (r < 0) {
        textdiff_done(&d);
        return r;
    }
    place_all(&d.a, &d.b);
    place_all(&d.b, &d.a);
    *ret = d;
    return 0;
}

/* ---- printing ---- */

/* A place in both texts. */
struct at {
    size_t a, b;
};

static bool at_end(const struct textdiff *d, struct at p)
{
    return p.a == d->a.n && p.b == d->b.n;
}

/* The mark of the next line and the place behind it. */
static char step(const struct textdiff *d, struct at *p)
{
    char op = d->a.changed[p->a] ? '-' : d->b.changed[p->b] ? '+' : ' ';
    p->a += op != '+';
    p->b += op != '-';
    return op;
}

static void put_line(struct buf *out, char op, struct str line)
{
    buf_putc(out, op);
    buf_adds(out, line);
    if (!str_ends(line, STR("\n")))
        buf_addc(out, "\n\\ No newline at end of file\n");
}

static void put_range(struct buf *out, char sign, size_t start, size_t count)
{
    if (count == 1)
        buf_addf(out, "%c%zu", sign, start + 1);
    else
        buf_addf(out, "%c%zu,%zu", sign, count ? start + 1 : start, count);
}

static void put_hunk(struct buf *out, const struct textdiff *d, struct at from, struct at to)
{
    buf_addc(out, "@@ ");
    put_range(out, '-', from.a, to.a - from.a);
    buf_putc(out, ' ');
    put_range(out, '+', from.b, to.b - from.b);
    buf_addc(out, " @@\n");
    while (from.a != to.a || from.b != to.b) {
        struct at p = from;
        char op = step(d, &from);
        put_line(out, op, op == '+' ? d->b.line[p.b] : d->a.line[p.a]);
    }
}

/* Goes on over at most @n unchanged lines. */
static struct at skip_same(const struct textdiff *d, struct at p, size_t n)
{
    while (n-- > 0 && p.a < d->a.n && !d->a.changed[p.a] && !d->b.changed[p.b]) {
        p.a++;
        p.b++;
    }
    return p;
}

static struct at skip_changed(const struct textdiff *d, struct at p)
{
    while (d->a.changed[p.a])
        p.a++;
    while (d->b.changed[p.b])
        p.b++;
    return p;
}

int textdiff_unified(struct str a, struct str b, struct buf *out)
{
    struct textdiff d;
    int r = textdiff_make(a, b, &d);
    if (r)
        return r;
    struct at done = {0, 0};
    for (;;) {
        struct at change = skip_same(&d, done, SIZE_MAX);
        if (at_end(&d, change))
            break;
        size_t lead = NUM_MIN(change.a - done.a, (size_t)CONTEXT);
        struct at end = skip_changed(&d, change), next = skip_same(&d, end, 2 * CONTEXT);
        for (; d.a.changed[next.a] || d.b.changed[next.b]; next = skip_same(&d, end, 2 * CONTEXT))
            end = skip_changed(&d, next);
        end = skip_same(&d, end, CONTEXT);
        put_hunk(out, &d, (struct at){change.a - lead, change.b - lead}, end);
        done = end;
    }
    textdiff_done(&d);
    return out->err;
}
