/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Unified diffs by E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy forward form. The
 * cost grows with the square of the number of differing lines, so that number is bounded; texts that differ more are
 * shown as replaced between their common head and tail, which is a correct diff, only not the shortest.
 */

#include "session/session_int.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"

#define MAX_D 2000        /* differing lines searched for */
#define MAX_LINES 2000000 /* of one side */
#define CONTEXT 3

struct lines {
    struct str *v;
    size_t n;
};

/* One line of the script: ' ' both, '-' only old, '+' only new. */
struct edits {
    char *op;
    size_t n;
};

static int split(struct str s, struct lines *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '\n' || i + 1 == s.n;
    if (n > MAX_LINES)
        return -EFBIG;
    ret->v = mem_try((n + 1) * sizeof(*ret->v));
    if (!ret->v)
        return -ENOMEM;
    ret->n = 0;
    while (s.n) {
        const char *nl = memchr(s.p, '\n', s.n);
        size_t len = nl ? (size_t)(nl - s.p) + 1 : s.n;
        ret->v[ret->n++] = str_of(s.p, len);
        s = str_from(s, len);
    }
    return 0;
}

/* The rows of furthest-reaching x for each d; the path is read back from them. Row d holds 2d + 1 values. */
struct trace {
    int32_t *v;
    size_t n, cap;
};

static bool trace_row(struct trace *t, size_t n)
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

static int32_t row_get(const struct trace *t, int32_t d, int32_t k)
{
    /* Rows 0 … d-1 take d*d values before row d. */
    return t->v[(size_t)d * (size_t)d + (size_t)(k + d)];
}

/* Whether the step into diagonal k at d comes from above (a line of b inserted). */
static bool goes_down(const struct trace *t, int32_t d, int32_t k)
{
    return k == -d || (k != d && row_get(t, d - 1, k - 1) < row_get(t, d - 1, k + 1));
}

/* Fills rows until the end is reached: d, or -1 beyond MAX_D, or -2 when memory is short. */
static int32_t search(const struct lines *a, const struct lines *b, struct trace *t)
{
    int32_t n = (int32_t)a->n, m = (int32_t)b->n;
    for (int32_t d = 0; d <= MAX_D; d++) {
        if (!trace_row(t, (size_t)(2 * d + 1)))
            return -2;
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t x = 0;
            if (d > 0)
                x = goes_down(t, d, k) ? row_get(t, d - 1, k + 1) : row_get(t, d - 1, k - 1) + 1;
            int32_t y = x - k;
            while (x < n && y < m && x >= 0 && y >= 0 && str_eq(a->v[x], b->v[y])) {
                x++;
                y++;
            }
            t->v[(size_t)d * (size_t)d + (size_t)(k + d)] = x;
            if (x >= n && y >= m)
                return d;
        }
    }
    return -1;
}

/* Reads the path back from the end, filling ops from their end. */
static void walk_back(const struct lines *a, const struct lines *b, const struct trace *t, int32_t d, struct edits *e,
                      size_t at)
{
    int32_t x = (int32_t)a->n, y = (int32_t)b->n;
    for (; d > 0; d--) {
        int32_t k = x - y;
        bool down = goes_down(t, d, k);
        int32_t px = row_get(t, d - 1, down ? k + 1 : k - 1);
        int32_t py = px - (down ? k + 1 : k - 1);
        for (; x > px + !down && y > py + down; x--, y--)
            e->op[--at] = ' ';
        e->op[--at] = down ? '+' : '-';
        x = px;
        y = py;
    }
    for (; x > 0; x--)
        e->op[--at] = ' ';
}

/* The edit script of the middle parts @a and @b, appended to @e. */
static int script(const struct lines *a, const struct lines *b, struct edits *e)
{
    struct trace t = {0};
    int32_t d = search(a, b, &t);
    if (d >= 0) {
        size_t len = (a->n + b->n + (size_t)d) / 2;
        walk_back(a, b, &t, d, e, e->n + len);
        e->n += len;
    } else if (d == -1) {
        memset(e->op + e->n, '-', a->n);
        memset(e->op + e->n + a->n, '+', b->n);
        e->n += a->n + b->n;
    }
    mem_free(t.v);
    return d == -2 ? -ENOMEM : 0;
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

/* Prints one hunk: script entries [from, to), which begin at line @ai of a and @bi of b. */
static void put_hunk(struct buf *out, const struct lines *a, const struct lines *b, const struct edits *e, size_t from,
                     size_t to, size_t ai, size_t bi)
{
    size_t an = 0, bn = 0;
    for (size_t i = from; i < to; i++) {
        an += e->op[i] != '+';
        bn += e->op[i] != '-';
    }
    buf_addc(out, "@@ ");
    put_range(out, '-', ai, an);
    buf_putc(out, ' ');
    put_range(out, '+', bi, bn);
    buf_addc(out, " @@\n");
    for (size_t i = from; i < to; i++) {
        put_line(out, e->op[i], e->op[i] == '+' ? b->v[bi] : a->v[ai]);
        ai += e->op[i] != '+';
        bi += e->op[i] != '-';
    }
}

static void put_hunks(struct buf *out, const struct lines *a, const struct lines *b, const struct edits *e)
{
    size_t ai = 0, bi = 0, done = 0; /* positions of entry `done` */
    for (size_t i = 0; i < e->n;) {
        if (e->op[i] == ' ') {
            i++;
            continue;
        }
        size_t from = i > done + CONTEXT ? i - CONTEXT : done;
        size_t last = i; /* last change of this hunk */
        for (size_t j = i; j < e->n && j <= last + 2 * CONTEXT; j++)
            if (e->op[j] != ' ')
                last = j;
        size_t to = last + 1 + CONTEXT < e->n ? last + 1 + CONTEXT : e->n;
        for (; done < from; done++) {
            ai++;
            bi++;
        }
        put_hunk(out, a, b, e, from, to, ai, bi);
        for (; done < to; done++) {
            ai += e->op[done] != '+';
            bi += e->op[done] != '-';
        }
        i = to;
    }
}

static int diff_lines(const struct lines *a, const struct lines *b, struct buf *out)
{
    MEM_AUTO char *ops = mem_try(a->n + b->n + 1);
    if (!ops)
        return -ENOMEM;
    struct edits e = {ops, 0};
    size_t head = 0, tail = 0;
    while (head < a->n && head < b->n && str_eq(a->v[head], b->v[head]))
        head++;
    while (tail < a->n - head && tail < b->n - head && str_eq(a->v[a->n - 1 - tail], b->v[b->n - 1 - tail]))
        tail++;
    memset(ops, ' ', head);
    e.n = head;
    struct lines am = {a->v + head, a->n - head - tail}, bm = {b->v + head, b->n - head - tail};
    int r = script(&am, &bm, &e);
    if (r)
        return r;
    memset(ops + e.n, ' ', tail);
    e.n += tail;
    put_hunks(out, a, b, &e);
    return out->err;
}

int session__unified(struct str a, struct str b, struct buf *out)
{
    struct lines al = {0}, bl = {0};
    int r = split(a, &al);
    if (r == 0)
        r = split(b, &bl);
    if (r == 0)
        r = diff_lines(&al, &bl, out);
    mem_free(al.v);
    mem_free(bl.v);
    return r;
}
