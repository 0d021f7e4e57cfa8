/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/diff_int.h"

#include "base/num.h"

/* Which lines changed. */

/* ---- lines that are not searched ---- */

enum { KEPT, DROPPED, DOUBTFUL };

/* A line without a match in the other file cannot be part of what is common; one with very many matches leads the
 * search astray. */
static void judge(const struct diff_file *f, const uint32_t *matches, uint8_t *v)
{
    size_t many = 5;
    for (size_t n = f->count / 64 / 4; n > 0; n /= 4)
        many *= 2;
    for (size_t i = 0; i < f->count; i++) {
        uint32_t n = matches[f->cls[i]];
        v[i] = n == 0 ? DROPPED : n > many ? DOUBTFUL : KEPT;
    }
}

/* Keeps doubtful lines at one end of a run: up to three dropped ones together, or the first dropped one beyond eight.
 */
static void keep_at_end(uint8_t *v, size_t n, bool back)
{
    unsigned together = 0;
    for (size_t i = 0; i < n && together < 3; i++) {
        uint8_t *p = back ? &v[n - 1 - i] : &v[i];
        if (i >= 8 && *p == DROPPED)
            return;
        together = *p == DROPPED ? together + 1 : 0;
        if (*p == DOUBTFUL)
            *p = KEPT;
    }
}

/* Keeps all runs of at least @least doubtful lines. */
static void keep_long(uint8_t *v, size_t n, size_t least)
{
    for (size_t i = 0, end; i < n; i = end + 1) {
        for (end = i; end < n && v[end] == DOUBTFUL; end++)
            ;
        if (end - i >= least)
            memset(v + i, KEPT, end - i);
    }
}

/* A run of lines that are dropped or doubtful, the first and last dropped: which of the doubtful ones stay? */
static void settle(uint8_t *v, size_t n)
{
    size_t doubtful = 0, least = 1;
    for (size_t i = 0; i < n; i++)
        doubtful += v[i] == DOUBTFUL;
    if (doubtful * 4 > n) {
        keep_long(v, n, 1);
        return;
    }
    for (size_t k = n / 4 / 4; k > 0; k /= 4)
        least *= 2;
    keep_long(v, n, least + 1);
    keep_at_end(v, n, false);
    keep_at_end(v, n, true);
}

static void settle_all(uint8_t *v, size_t n)
{
    size_t i = 0;
    while (i < n) {
        if (v[i] != DROPPED) {
            v[i++] = KEPT; /* doubtful lines outside of runs */
            continue;
        }
        size_t last = i, end = i;
        for (; end < n && v[end] != KEPT; end++)
            if (v[end] == DROPPED)
                last = end;
        settle(v + i, last + 1 - i);
        i = last + 1;
    }
}

/* ---- the search ---- */

/* What is searched of a file: classes, and which line each is of. */
struct lines {
    uint32_t *cls;
    size_t *real, n;
    uint8_t *changed;
};

struct search {
    struct diff *d;
    struct lines l[2];
    ptrdiff_t *fwd, *bwd; /* by diagonal (x - y): the farthest x from the start, and from the end */
    ptrdiff_t costly;     /* edits after which an answer that is not the shortest will do */
};

/* Part of both files. */
struct box {
    ptrdiff_t x0, x1, y0, y1;
};

struct middle {
    ptrdiff_t x, y;
    bool minimal[2]; /* of the parts before and behind: is the shortest still wanted? */
};

static bool same(const struct search *s, ptrdiff_t x, ptrdiff_t y)
{
    return s->l[0].cls[x] == s->l[1].cls[y];
}

/* The diagonals that a direction has reached. */
struct reach {
    ptrdiff_t *v, lo, hi;
};

/* One more diagonal on either side, or one less where the box ends. */
static void widen(struct reach *r, ptrdiff_t least, ptrdiff_t most, ptrdiff_t outside)
{
    if (r->lo > least)
        r->v[--r->lo - 1] = outside;
    else
        r->lo++;
    if (r->hi < most)
        r->v[++r->hi + 1] = outside;
    else
        r->hi--;
}

/* Where both directions are when neither has met the other and the search is to end: the better of the two. */
static struct middle give_up(const struct box *b, const struct reach *f, const struct reach *r)
{
    ptrdiff_t f_sum = -1, f_x = 0, r_sum = PTRDIFF_MAX, r_x = 0;
    for (ptrdiff_t k = f->hi; k >= f->lo; k -= 2) {
        ptrdiff_t x = NUM_MIN(f->v[k], b->x1);
        x = x - k > b->y1 ? b->y1 + k : x;
        if (x + x - k > f_sum) {
            f_sum = x + x - k;
            f_x = x;
        }
    }
    for (ptrdiff_t k = r->hi; k >= r->lo; k -= 2) {
        ptrdiff_t x = NUM_MAX(r->v[k], b->x0);
        x = x - k < b->y0 ? b->y0 + k : x;
        if (x + x - k < r_sum) {
            r_sum = x + x - k;
            r_x = x;
        }
    }
    if (b->x1 + b->y1 - r_sum < f_sum - (b->x0 + b->y0))
        return (struct middle){f_x, f_sum - f_x, {true, false}};
    return (struct middle){r_x, r_sum - r_x, {false, true}};
}

/* A point that a shortest way through @b leads through: searched from both ends until they meet. 0 or -1. */
static int find_middle(struct search *s, const struct box *b, bool minimal, struct middle *ret)
{
    const ptrdiff_t least = b->x0 - b->y1, most = b->x1 - b->y0, start = b->x0 - b->y0, end = b->x1 - b->y1;
    struct reach f = {s->fwd, start, start}, r = {s->bwd, end, end};
    bool odd = (start - end) & 1;
    f.v[start] = b->x0;
    r.v[end] = b->x1;
    for (ptrdiff_t cost = 1;; cost++) {
        widen(&f, least, most, -1);
        for (ptrdiff_t k = f.hi; k >= f.lo; k -= 2) {
            ptrdiff_t x = NUM_MAX(f.v[k - 1] + 1, f.v[k + 1]);
            while (x < b->x1 && x - k < b->y1 && same(s, x, x - k))
                x++;
            f.v[k] = x;
            if (odd && r.lo <= k && k <= r.hi && r.v[k] <= x) {
                *ret = (struct middle){x, x - k, {true, true}};
                return 0;
            }
        }
        widen(&r, least, most, PTRDIFF_MAX);
        for (ptrdiff_t k = r.hi; k >= r.lo; k -= 2) {
            ptrdiff_t x = NUM_MIN(r.v[k - 1], r.v[k + 1] - 1);
            while (x > b->x0 && x - k > b->y0 && same(s, x - 1, x - k - 1))
                x--;
            r.v[k] = x;
            if (!odd && f.lo <= k && k <= f.hi && x <= f.v[k]) {
                *ret = (struct middle){x, x - k, {true, true}};
                return 0;
            }
        }
        if (!minimal && cost >= s->costly) {
            *ret = give_up(b, &f, &r);
            return 0;
        }
        if (cmd_poll(s->d->c) < 0)
            return -1;
    }
}

static void note(const struct lines *l, ptrdiff_t from, ptrdiff_t to)
{
    for (; from < to; from++)
        l->changed[l->real[from]] = 1;
}

/* Marks what differs in @b: 0 or -1. Recurses into the smaller half, so at most as often as a size can be halved. */
static int compare(struct search *s, struct box b, bool minimal)
{
    for (;;) {
        while (b.x0 < b.x1 && b.y0 < b.y1 && same(s, b.x0, b.y0)) {
            b.x0++;
            b.y0++;
        }
        while (b.x0 < b.x1 && b.y0 < b.y1 && same(s, b.x1 - 1, b.y1 - 1)) {
            b.x1--;
            b.y1--;
        }
        if (b.x0 == b.x1 || b.y0 == b.y1) {
            note(&s->l[0], b.x0, b.x1);
            note(&s->l[1], b.y0, b.y1);
            return 0;
        }
        struct middle m;
        if (find_middle(s, &b, minimal, &m) < 0)
            return -1;
        struct box half[2] = {{b.x0, m.x, b.y0, m.y}, {m.x, b.x1, m.y, b.y1}};
        bool second = (b.x1 + b.y1) - (m.x + m.y) < (m.x + m.y) - (b.x0 + b.y0);
        if (compare(s, half[second], m.minimal[second]) < 0)
            return -1;
        b = half[!second];
        minimal = m.minimal[!second];
    }
}

/* ---- sliding ---- */

/*
 * The lines that both files keep are as many in one as in the other. Between them, and at the ends, are gaps: gap i
 * lies before kept line i and holds so many lines that changed. A run of changed lines that slides over the kept line
 * behind it (which must equal its first line, and becomes the last of the run) is a gap's number that goes to the next
 * gap, where it joins what is there; so runs need no search, and the same gap of the other file is what lies beside it.
 */
struct gaps {
    size_t *v, n; /* n kept lines: n + 1 gaps */
};

static int count_gaps(const struct diff_file *f, struct gaps *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++)
        n += !f->changed[i];
    ret->v = mem_try_zalloc((n + 1) * sizeof *ret->v);
    ret->n = n;
    if (!ret->v)
        return -1;
    size_t gap = 0;
    for (size_t i = 0; i < f->count; i++) {
        ret->v[gap] += f->changed[i];
        gap += !f->changed[i];
    }
    return 0;
}

/* The run of a gap: its first line, and how many. */
struct run {
    size_t gap, first, lines;
};

static void move_run(struct gaps *g, struct run *r, size_t to)
{
    g->v[r->gap] = 0;
    r->lines += g->v[to];
    g->v[to] = r->lines;
    r->gap = to;
}

/* Over the kept line before it, if that equals its last. */
static bool slide_back(struct gaps *g, const uint32_t *cls, struct run *r)
{
    if (r->gap == 0 || cls[r->first - 1] != cls[r->first + r->lines - 1])
        return false;
    r->first -= 1 + g->v[r->gap - 1];
    move_run(g, r, r->gap - 1);
    return true;
}

/* Over the kept line behind it, if that equals its first. */
static bool slide_on(struct gaps *g, const uint32_t *cls, struct run *r)
{
    if (r->gap == g->n || cls[r->first] != cls[r->first + r->lines])
        return false;
    r->first++;
    move_run(g, r, r->gap + 1);
    return true;
}

/* Moves each run of @a as far to the end as it goes, taking in what it meets on either side; but where it came past a
 * change of the other file, only to the last such place. @other has the gaps of that file. */
static void slide(const struct diff_file *a, struct gaps *g, const struct gaps *other)
{
    struct run r = {0, 0, 0};
    for (size_t kept = 0, first = 0; kept <= g->n; kept = r.gap + 1, first = r.first + r.lines + 1) {
        r = (struct run){kept, first, g->v[kept]};
        if (r.lines == 0)
            continue;
        size_t before, beside; /* the last gap with a change of the other file, or none: SIZE_MAX */
        do {
            before = r.lines;
            while (slide_back(g, a->cls, &r))
                ;
            beside = other->v[r.gap] > 0 ? r.gap : SIZE_MAX;
            while (slide_on(g, a->cls, &r))
                if (other->v[r.gap] > 0)
                    beside = r.gap;
        } while (r.lines != before); /* it took something in, and may go further back now */
        if (beside < r.gap) {        /* what lies between holds no run */
            g->v[r.gap] = 0;
            g->v[beside] = r.lines;
        }
    }
}

static void show_gaps(const struct diff_file *f, const struct gaps *g)
{
    uint8_t *p = f->changed;
    for (size_t i = 0; i <= g->n; i++) {
        memset(p, 1, g->v[i]);
        p += g->v[i];
        if (i < g->n)
            *p++ = 0;
    }
}

/* 0 or -1: no memory. */
static int slide_both(const struct diff_file f[2])
{
    struct gaps g[2] = {{NULL, 0}, {NULL, 0}};
    int r = count_gaps(&f[0], &g[0]);
    if (r == 0)
        r = count_gaps(&f[1], &g[1]);
    if (r == 0) {
        slide(&f[0], &g[0], &g[1]);
        slide(&f[1], &g[1], &g[0]);
        show_gaps(&f[0], &g[0]);
        show_gaps(&f[1], &g[1]);
    }
    mem_free(g[0].v);
    mem_free(g[1].v);
    return r;
}

/* ---- all of it ---- */

static size_t pick(const struct diff_file *f, const uint8_t *v, bool minimal, struct lines *ret)
{
    for (size_t i = 0; i < f->count; i++) {
        if (minimal || v[i] == KEPT) {
            ret->cls[ret->n] = f->cls[i];
            ret->real[ret->n++] = i;
        } else {
            f->changed[i] = 1;
        }
    }
    return ret->n;
}

int diff_search(struct diff *d)
{
    size_t n0 = d->f[0].count, n1 = d->f[1].count, classes = n0 + n1 + 1;
    MEM_AUTO uint32_t *count = mem_try_zalloc(2 * classes * sizeof *count);
    MEM_AUTO uint8_t *verdict = mem_try_zalloc(n0 + n1 + 1);
    MEM_AUTO uint32_t *cls = mem_try((n0 + n1 + 1) * sizeof *cls);
    MEM_AUTO size_t *real = mem_try((n0 + n1 + 1) * sizeof *real);
    if (!count || !verdict || !cls || !real)
        return diff_no_memory(d);
    for (unsigned k = 0; k < 2; k++) {
        struct diff_file *f = &d->f[k];
        f->changed_mem = mem_try_zalloc(f->count + 2);
        if (!f->changed_mem)
            return diff_no_memory(d);
        f->changed = f->changed_mem + 1;
        for (size_t i = 0; i < f->count; i++)
            count[k * classes + f->cls[i]]++;
    }
    struct search s = {.d = d, .l = {{cls, real, 0, d->f[0].changed}, {cls + n0, real + n0, 0, d->f[1].changed}}};
    for (unsigned k = 0; k < 2; k++) {
        uint8_t *v = verdict + k * n0;
        judge(&d->f[k], count + (1 - k) * classes, v);
        settle_all(v, d->f[k].count);
        pick(&d->f[k], v, d->minimal, &s.l[k]);
    }
    size_t diagonals = s.l[0].n + s.l[1].n + 3;
    MEM_AUTO ptrdiff_t *v = mem_try(2 * diagonals * sizeof *v);
    if (!v)
        return diff_no_memory(d);
    s.fwd = v + s.l[1].n + 1;
    s.bwd = s.fwd + diagonals;
    s.costly = 1;
    for (size_t n = diagonals; n > 0; n /= 4)
        s.costly *= 2;
    s.costly = NUM_MAX(s.costly, 4096);
    struct box all = {0, (ptrdiff_t)s.l[0].n, 0, (ptrdiff_t)s.l[1].n};
    if (compare(&s, all, d->minimal) < 0)
        return -1;
    return slide_both(d->f) < 0 ? diff_no_memory(d) : 0;
}
