/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/expander_int.h"

#include <errno.h>
#include <limits.h>

#include "base/num.h"

/*
 * The word is flattened into one text: literal characters stand for themselves, any other part is BRACE_PART and its
 * index in four bytes. An alternative is a range of that text.
 */

#define NESTING_MOST 200

struct braces {
    struct shell *sh;
    const char *p;
    size_t n;
    uint32_t *close; /* of each '{' its '}', else 0; of other bytes nothing */
    const struct part **parts;
    uint32_t n_parts, cap_parts;
    uint64_t bytes; /* of all texts made so far */
};

struct texts {
    struct str *v;
    uint32_t n, cap;
};

static int too_many(struct braces *b)
{
    sh_error(b->sh, "brace expansion: cannot allocate memory");
    expand__discard(b->sh);
    return -ENOMEM;
}

static int texts_add(struct braces *b, struct texts *t, struct str s)
{
    struct fields f = {t->v, t->n, t->cap};
    b->bytes += s.n;
    if (t->n >= LIMIT_WORDS || b->bytes > LIMIT_STRING || (b->sh->ps && proc_set_mem(b->sh->ps)->hit))
        return too_many(b);
    int r = fields_add(b->sh, &f, s);
    t->v = f.v;
    t->n = f.n;
    t->cap = f.cap;
    return r < 0 ? r : (t->n & 1023) == 0 ? expand__poll(b->sh) : 0;
}

/* ---- the flat text ---- */

/* The code of a part, at @code: its length. */
static size_t put_part(struct braces *b, char *code, const struct part *p)
{
    if (b->n_parts == b->cap_parts) {
        uint32_t cap = b->cap_parts ? b->cap_parts * 2 : 8;
        const struct part **v = arena_alloc(&b->sh->scratch, cap * sizeof(*v));
        if (b->n_parts)
            memcpy(v, b->parts, b->n_parts * sizeof(*v));
        b->parts = v;
        b->cap_parts = cap;
    }
    code[0] = BRACE_PART;
    memcpy(code + 1, &b->n_parts, 4);
    b->parts[b->n_parts++] = p;
    return 5;
}

static int add_part(struct braces *b, struct buf *out, const struct part *p)
{
    char code[5];
    return buf_add(out, code, put_part(b, code, p));
}

static int flatten(struct braces *b, const struct word *w, struct str *ret)
{
    static const struct part code = {.kind = PART_QUOTED, .text = {"\001", 1}};
    struct buf *out = &expand__state(b->sh)->buf;
    size_t start = out->n;
    for (const struct part *p = w->parts; p; p = p->next) {
        if (p->kind != PART_LIT) {
            add_part(b, out, p);
            continue;
        }
        for (size_t i = 0; i < p->text.n; i++) {
            if (p->text.p[i] == BRACE_PART)
                add_part(b, out, &code);
            else
                buf_putc(out, p->text.p[i]);
        }
    }
    return expand__take(b->sh, start, ret);
}

/* Where the '{' at @i closes, before @hi: at a '}' of its level behind a ',' or "..", else 0. As in bash a '}' before
 * that is an ordinary character. */
static size_t find_close(const struct braces *b, size_t i, size_t hi)
{
    size_t level = 0;
    bool parts = false;
    for (i++; i < hi; i++) {
        char c = b->p[i];
        if (c == BRACE_PART)
            i += 4;
        else if (c == '{')
            level++;
        else if (c == '}' && level)
            level--;
        else if (c == '}' && parts)
            return i;
        else if (!level && (c == ',' || (c == '.' && i + 2 < hi && b->p[i + 1] == '.' && b->p[i + 2] != '}')))
            parts = true;
    }
    return 0;
}

/* The next ',' between @i and @end that belongs to this level, or @end. */
static size_t next_comma(const struct braces *b, size_t i, size_t end)
{
    size_t level = 0;
    for (; i < end; i++) {
        if (b->p[i] == BRACE_PART)
            i += 4;
        else if (b->p[i] == '{')
            level++;
        else if (b->p[i] == '}' && level)
            level--;
        else if (b->p[i] == ',' && !level)
            return i;
    }
    return end;
}

/* Whether there is a ',' of any level. */
static bool any_comma(const struct braces *b, size_t i, size_t end)
{
    for (; i < end; i++) {
        if (b->p[i] == BRACE_PART)
            i += 4;
        else if (b->p[i] == ',')
            return true;
    }
    return false;
}

/* ---- {x..y[..step]} ---- */

struct sequence {
    int64_t from, to, step; /* step > 0 */
    bool letters;
    int width; /* zero-padded to this; 0: not */
};

/* A whole number with an optional sign at [p, p + n). */
static bool seq_number(struct str s, int64_t *ret)
{
    if (s.n > 1 && s.p[0] == '+')
        s = str_from(s, 1);
    return s.n && s.p[0] != '+' && str_i64(s, ret) == 0;
}

/* Whether a number is written with leading zeros. */
static bool zero_led(struct str s)
{
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_from(s, 1);
    return s.n > 1 && s.p[0] == '0';
}

static bool letter(struct str s)
{
    return s.n == 1 && ((s.p[0] >= 'a' && s.p[0] <= 'z') || (s.p[0] >= 'A' && s.p[0] <= 'Z'));
}

/* Position of ".." in @s from @i on, or -1. */
static ptrdiff_t dots(struct str s, size_t i)
{
    for (; i + 1 < s.n; i++)
        if (s.p[i] == '.' && s.p[i + 1] == '.')
            return (ptrdiff_t)i;
    return -1;
}

static bool parse_sequence(struct str s, struct sequence *q)
{
    ptrdiff_t d = dots(s, 0);
    if (d < 1)
        return false;
    struct str x = str_of(s.p, (size_t)d), y = str_from(s, (size_t)d + 2);
    ptrdiff_t e = dots(y, 0);
    int64_t step = 1;
    if (e >= 0) {
        if (!seq_number(str_from(y, (size_t)e + 2), &step) || step == INT64_MIN)
            return false;
        y.n = (size_t)e;
    }
    q->step = step < 0 ? -step : step ? step : 1;
    q->width = 0;
    q->letters = letter(x) && letter(y);
    if (q->letters) {
        q->from = x.p[0];
        q->to = y.p[0];
        return true;
    }
    if (!seq_number(x, &q->from) || !seq_number(y, &q->to))
        return false;
    if (zero_led(x) || zero_led(y))
        q->width = (int)NUM_MAX(x.n, y.n);
    return true;
}

/* Number of terms; more than INT_MAX is no sequence to bash. */
static uint64_t sequence_count(const struct sequence *q)
{
    uint64_t diff = q->from < q->to ? (uint64_t)q->to - (uint64_t)q->from : (uint64_t)q->from - (uint64_t)q->to;
    return diff / (uint64_t)q->step + (diff / (uint64_t)q->step != UINT64_MAX);
}

static int put_sequence(struct braces *b, const struct sequence *q, struct texts *out)
{
    static const struct part nothing = {.kind = PART_QUOTED, .text = {"", 0}};
    uint64_t count = sequence_count(q);
    if (count > LIMIT_WORDS)
        return too_many(b);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t by = i * (uint64_t)q->step;
        int64_t val = (int64_t)(q->from <= q->to ? (uint64_t)q->from + by : (uint64_t)q->from - by);
        char num[32];
        int n = 1;
        num[0] = (char)val;
        if (q->letters && val == '\\') /* a backslash of a range of characters quotes nothing and goes, as in bash */
            n = (int)put_part(b, num, &nothing);
        else if (!q->letters)
            n = q->width && q->width < 30 ? snprintf(num, sizeof(num), "%0*lld", q->width, (long long)val)
                                          : snprintf(num, sizeof(num), "%lld", (long long)val);
        int r = texts_add(b, out, arena_str(&b->sh->scratch, str_of(num, (size_t)n)));
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- expansion ---- */

static int expand_range(struct braces *b, size_t lo, size_t hi, int depth, struct texts *out);

/* What the braces from @i to @close stand for: 1 and the texts, 0 when they are ordinary characters. */
static int expand_group(struct braces *b, size_t i, size_t close, int depth, struct texts *out)
{
    if (any_comma(b, i + 1, close)) {
        for (size_t at = i + 1;;) {
            size_t comma = next_comma(b, at, close);
            int r = expand_range(b, at, comma, depth + 1, out);
            if (r < 0)
                return r;
            if (comma >= close)
                return 1;
            at = comma + 1;
        }
    }
    struct str inside = str_of(b->p + i + 1, close - i - 1);
    struct sequence q;
    if (memchr(inside.p, BRACE_PART, inside.n) || !parse_sequence(inside, &q) || sequence_count(&q) > INT_MAX)
        return 0;
    int r = put_sequence(b, &q, out);
    return r < 0 ? r : 1;
}

/* Every text of @head, then @middle, then every text of @tail (NULL: nothing). */
static int multiply(struct braces *b, struct texts *head, struct str middle, const struct texts *tail)
{
    static const struct str nothing = {"", 0};
    uint32_t n_tail = tail ? tail->n : 1;
    struct texts out = {0};
    if ((uint64_t)head->n * n_tail > LIMIT_WORDS)
        return too_many(b);
    for (uint32_t i = 0; i < head->n; i++) {
        for (uint32_t k = 0; k < n_tail; k++) {
            struct str h = head->v[i], t = tail ? tail->v[k] : nothing;
            char *p = arena_try(&b->sh->scratch, h.n + middle.n + t.n + 1);
            if (!p)
                return too_many(b);
            memcpy(p, h.p, h.n);
            if (middle.n)
                memcpy(p + h.n, middle.p, middle.n);
            memcpy(p + h.n + middle.n, t.p, t.n);
            p[h.n + middle.n + t.n] = 0;
            int r = texts_add(b, &out, str_of(p, h.n + middle.n + t.n));
            if (r < 0)
                return r;
        }
    }
    *head = out;
    return 0;
}

/* The place after a "{}" at @i, which is left alone where a text or the rest of one begins. */
static size_t skip_empty(const struct braces *b, size_t i, size_t hi)
{
    return hi - i >= 2 && b->p[i] == '{' && b->p[i + 1] == '}' ? i + 2 : i;
}

static int expand_range(struct braces *b, size_t lo, size_t hi, int depth, struct texts *out)
{
    static struct str empty = {"", 0};
    struct texts all = {&empty, 1, 1};
    size_t done = lo; /* what lies before is in `all` */
    int r = 0;
    if (depth > NESTING_MOST || arith__stack_low(b->sh))
        return too_many(b);
    size_t i = skip_empty(b, lo, hi);
    size_t whole = i == lo && i < hi && b->p[i] == '{' ? find_close(b, i, hi) : 0;
    if (whole && whole == hi - 1) { /* nothing to multiply with */
        r = expand_group(b, i, whole, depth, out);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    while (i < hi && r == 0) {
        struct texts group = {0};
        size_t close = b->p[i] == '{' ? find_close(b, i, hi) : 0;
        if (!close) {
            i += b->p[i] == BRACE_PART ? 5 : 1;
            r = b->p[i - 1] == '{' ? expand__poll(b->sh) : 0;
            continue;
        }
        int got = expand_group(b, i, close, depth, &group);
        if (got > 0) {
            r = multiply(b, &all, str_of(b->p + done, i - done), &group);
            done = close + 1;
        }
        i = skip_empty(b, close + 1, hi);
        r = got < 0 ? got : r;
    }
    if (r == 0 && (done < hi || all.v == &empty))
        r = multiply(b, &all, str_of(b->p + done, hi - done), NULL);
    for (uint32_t k = 0; r == 0 && k < all.n; k++)
        r = texts_add(b, out, all.v[k]);
    return r;
}

int expand__braces(struct shell *sh, const struct word *w, struct str **ret, uint32_t *ret_n,
                   const struct part ***ret_parts)
{
    struct braces b = {.sh = sh};
    struct texts out = {0};
    struct str flat;
    int r = flatten(&b, w, &flat);
    b.p = flat.p;
    b.n = flat.n;
    if (r == 0)
        r = expand_range(&b, 0, b.n, 0, &out);
    if (r < 0)
        return r;
    *ret = out.v;
    *ret_n = out.n;
    *ret_parts = b.parts;
    return 0;
}
