/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/diff_int.h"

#include <ctype.h>

#include "base/num.h"
#include "types/errtab.h"

/* Two texts as classes of equal lines. */

int diff_no_memory(struct diff *d)
{
    if (!d->c->p->must_end)
        cmd_err(d->c, "memory exhausted");
    return -1;
}

/* ---- reading ---- */

/* A file is binary when a NUL is in its first block. */
#define FIRST_BLOCK 4096u

int diff_read(struct diff *d)
{
    bool binary = false;
    for (unsigned i = 0; i < 2; i++) {
        struct diff_file *f = &d->f[i];
        buf_init(&f->text, LIMIT_LINE);
        int r = f->absent ? 0 : cmd_read_all(d->c, f->fd, &f->text);
        if (r < 0) {
            if (!d->c->p->must_end)
                cmd_errno(d->c, r, "%s", f->name);
            return -1;
        }
        binary = binary || (!d->as_text && f->text.n > 0 && memchr(f->text.p, 0, NUM_MIN(f->text.n, FIRST_BLOCK)));
    }
    return binary;
}

/* ---- lines ---- */

static int split(struct diff *d, struct diff_file *f)
{
    if (f->text.n > 0 && f->text.p[f->text.n - 1] != '\n') {
        f->cut = true;
        if (buf_putc(&f->text, '\n') < 0)
            return diff_no_memory(d);
    }
    const char *p = f->text.p, *end = p + f->text.n;
    for (const char *q = p; q < end; f->n++)
        q = (const char *)memchr(q, '\n', (size_t)(end - q)) + 1;
    f->at = mem_try((f->n + 1) * sizeof *f->at);
    if (!f->at)
        return diff_no_memory(d);
    size_t i = 0;
    for (const char *q = p; q < end; q = (const char *)memchr(q, '\n', (size_t)(end - q)) + 1)
        f->at[i++] = (size_t)(q - p);
    f->at[i] = f->text.n;
    return 0;
}

/* Whether line @i of @a and line @k of @b are the same, in all bytes and in lacking a newline. */
static bool equal_lines(const struct diff_file *a, size_t i, const struct diff_file *b, size_t k)
{
    size_t n = a->at[i + 1] - a->at[i];
    return n == b->at[k + 1] - b->at[k] && memcmp(a->text.p + a->at[i], b->text.p + b->at[k], n) == 0 &&
           (a->cut && i + 1 == a->n) == (b->cut && k + 1 == b->n);
}

/* Leaves out what is the same at both ends, but for as many lines as are shown as context: so many may changes slide.
 */
static void trim(struct diff *d)
{
    struct diff_file *a = &d->f[0], *b = &d->f[1];
    size_t least = NUM_MIN(a->n, b->n), head = 0, tail = 0;
    while (head < least && equal_lines(a, head, b, head))
        head++;
    head -= NUM_MIN(head, d->context);
    if (a->cut == b->cut) {
        while (tail < least - head && equal_lines(a, a->n - 1 - tail, b, b->n - 1 - tail))
            tail++;
        tail -= NUM_MIN(tail, d->context);
    }
    a->first = b->first = head;
    a->count = a->n - head - tail;
    b->count = b->n - head - tail;
}

/* ---- what is ignored ---- */

/* A line without its newline as it is compared, appended to @out. */
static void fold(const struct diff *d, struct str line, struct buf *out)
{
    size_t n = line.n;
    while (d->space != DIFF_SPACE_COUNTS && n > 0 && isspace((unsigned char)line.p[n - 1]))
        n--;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)line.p[i];
        bool blank = isspace(c);
        if (blank && d->space == DIFF_SPACE_ALL)
            continue;
        if (blank && d->space == DIFF_SPACE_AMOUNT) {
            if (i > 0 && isspace((unsigned char)line.p[i - 1]))
                continue;
            c = ' ';
        }
        buf_putc(out, (char)(d->ignore_case ? tolower(c) : c));
    }
}

/* ---- classes ---- */

struct class
{
    struct str text;
    uint64_t hash;
    bool cut;
};

struct classes {
    struct class *v;
    uint32_t n;
    uint32_t *slots; /* index + 1 */
    size_t mask;
};

static uint32_t class_of(struct classes *k, struct class c)
{
    size_t at = c.hash & k->mask;
    for (; k->slots[at]; at = (at + 1) & k->mask) {
        const struct class *o = &k->v[k->slots[at] - 1];
        if (o->hash == c.hash && o->cut == c.cut && str_eq(o->text, c.text))
            return k->slots[at] - 1;
    }
    k->v[k->n] = c;
    k->slots[at] = ++k->n;
    return k->n - 1;
}

static int classify(struct diff *d, struct classes *k, struct diff_file *f, struct buf *folded)
{
    bool folds = d->ignore_case || d->space != DIFF_SPACE_COUNTS;
    uint64_t seed;
    memcpy(&seed, "linehash", sizeof seed);
    /* Folded text never is longer, so it does not move. */
    if (folds && buf_reserve(folded, f->text.n + 1) < 0)
        return diff_no_memory(d);
    for (size_t i = 0; i < f->count; i++) {
        size_t line = f->first + i, from = f->at[line];
        struct str text = str_of(f->text.p + from, f->at[line + 1] - 1 - from);
        bool cut = f->cut && line + 1 == f->n && d->space == DIFF_SPACE_COUNTS;
        if (folds) {
            size_t was = folded->n;
            fold(d, text, folded);
            text = str_of(folded->p + was, folded->n - was);
        }
        f->cls[i] = class_of(k, (struct class){text, str_hash(text, seed), cut});
        if (cmd_poll(d->c) < 0)
            return -1;
    }
    return 0;
}

int diff_classify(struct diff *d)
{
    if (split(d, &d->f[0]) < 0 || split(d, &d->f[1]) < 0)
        return -1;
    trim(d);
    size_t n = d->f[0].count + d->f[1].count, slots = 16;
    if (n > UINT32_MAX / 4)
        return diff_no_memory(d);
    while (slots < 2 * n)
        slots *= 2;
    MEM_AUTO struct class *v = mem_try((n + 1) * sizeof *v);
    MEM_AUTO uint32_t *table = mem_try_zalloc(slots * sizeof *table);
    struct classes k = {.v = v, .slots = table, .mask = slots - 1};
    BUF_AUTO struct buf folded0;
    BUF_AUTO struct buf folded1;
    buf_init(&folded0, LIMIT_LINE);
    buf_init(&folded1, LIMIT_LINE);
    int r = 0;
    for (unsigned i = 0; i < 2 && r == 0; i++) {
        d->f[i].cls = mem_try((d->f[i].count + 1) * sizeof *d->f[i].cls);
        if (!d->f[i].cls || !v || !table)
            r = diff_no_memory(d);
        if (r == 0)
            r = classify(d, &k, &d->f[i], i ? &folded1 : &folded0);
    }
    return r;
}
