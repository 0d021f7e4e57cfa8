/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/sort_int.h"

#include <ctype.h>

#include "base/num.h"
#include "shell/cmd/version.h"

/* ---- what of a line is a key ---- */

/* Skips @n fields from @p on; behind the last one, its separator too when @past. */
static const char *skip_fields(const struct sort *s, const char *p, const char *end, size_t n, bool past)
{
    if (s->tab >= 0) {
        for (; n > 0 && p < end; n--) {
            const char *e = memchr(p, s->tab, (size_t)(end - p));
            p = e ? e : end;
            if (p < end && (n > 1 || past))
                p++;
        }
        return p;
    }
    for (; n > 0 && p < end; n--) {
        while (p < end && sort__blank(*p))
            p++;
        while (p < end && !sort__blank(*p))
            p++;
    }
    return p;
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && sort__blank(*p))
        p++;
    return p;
}

/* @p and @n characters more, but not beyond @end. */
static const char *skip_chars(const char *p, const char *end, size_t n)
{
    return n < (size_t)(end - p) ? p + n : end;
}

/* The key's part of a line; empty when it ends before it starts. */
static struct str extract(const struct sort *s, const struct sort_key *k, struct str line)
{
    const char *p = line.p, *end = line.p + line.n, *lim = end;
    if (k->sword != SIZE_MAX)
        p = skip_fields(s, p, end, k->sword, true);
    if (k->skip_start)
        p = skip_blanks(p, end);
    if (k->sword != SIZE_MAX)
        p = skip_chars(p, end, k->schar);
    if (k->eword != SIZE_MAX) {
        lim = skip_fields(s, line.p, end, k->echar ? k->eword : k->eword + 1, k->echar > 0);
        if (k->echar) {
            if (k->skip_end)
                lim = skip_blanks(lim, end);
            lim = skip_chars(lim, end, k->echar);
        }
    }
    return str_of(p, lim > p ? (size_t)(lim - p) : 0);
}

static struct str stage_text(const struct sort *s, const struct sort_stage *st, struct str line)
{
    return st->key ? extract(s, st->key, line) : line;
}

size_t sort__length(const struct sort *s, const struct sort_stage *st, struct str line)
{
    return stage_text(s, st, line).n;
}

static bool is_ignored(enum sort_ignore ig, char ch)
{
    if (ig == SORT_DICTIONARY)
        return !(isalnum((unsigned char)ch) || sort__blank(ch));
    return ig == SORT_PRINTING && !isprint((unsigned char)ch);
}

static unsigned char folded(bool fold, char ch)
{
    return (unsigned char)(fold ? toupper((unsigned char)ch) : (unsigned char)ch);
}

/* ---- words ---- */

static uint64_t text_word(struct str t, size_t depth)
{
    if (depth >= t.n)
        return 0;
    size_t n = NUM_MIN(t.n - depth, (size_t)8);
    uint64_t w = 0;
    memcpy(&w, t.p + depth, n);
    return __builtin_bswap64(w);
}

/* Eight bytes of what is compared of a text where bytes are changed or left out. */
static uint64_t mapped_word(const struct sort_key *k, struct str t, size_t depth)
{
    uint64_t w = 0;
    unsigned n = 0;
    for (size_t i = depth; i < t.n && n < 8; i++)
        if (!is_ignored(k->ignore, t.p[i])) {
            w = w << 8 | folded(k->fold, t.p[i]);
            n++;
        }
    return n == 0 ? 0 : w << (64 - 8 * n);
}

uint64_t sort__word(struct sort *s, const struct sort_stage *st, struct str line, size_t depth)
{
    const struct sort_key *k = st->key;
    if (!k)
        return text_word(line, depth);
    if (k->version)
        return 0;
    struct str t = extract(s, k, line);
    if (k->numeric)
        return sort__number_word(t);
    if (k->general)
        return sort__general_word(t);
    if (k->human)
        return sort__human_word(t, k->fold);
    if (k->month)
        return (uint64_t)sort__month(t);
    return k->fold || k->ignore ? mapped_word(k, t, depth) : text_word(t, depth);
}

/* ---- comparison ---- */

static int bytes_cmp(struct str a, struct str b)
{
    size_t n = NUM_MIN(a.n, b.n);
    int r = n ? memcmp(a.p, b.p, n) : 0;
    return r ? r : (a.n > b.n) - (a.n < b.n);
}

static int mapped_cmp(const struct sort_key *k, struct str a, struct str b)
{
    size_t i = 0, j = 0;
    for (;; i++, j++) {
        while (i < a.n && is_ignored(k->ignore, a.p[i]))
            i++;
        while (j < b.n && is_ignored(k->ignore, b.p[j]))
            j++;
        if (i >= a.n || j >= b.n)
            return (i < a.n) - (j < b.n);
        int d = folded(k->fold, a.p[i]) - folded(k->fold, b.p[j]);
        if (d)
            return d;
    }
}

/* A copy with bytes changed and left out as the key says. */
static struct str mapped(struct sort *s, const struct sort_key *k, struct str t, int which)
{
    struct buf *b = &s->copy[which];
    if (!k->fold && !k->ignore)
        return t;
    buf_clear(b);
    for (size_t i = 0; i < t.n; i++)
        if (!is_ignored(k->ignore, t.p[i]))
            buf_putc(b, (char)folded(k->fold, t.p[i]));
    return buf_str(b);
}

static int key_cmp(struct sort *s, const struct sort_key *k, struct str a, struct str b)
{
    if (k->numeric)
        return sort__compare_number(a, b);
    if (k->general)
        return sort__compare_general(a, b);
    if (k->human)
        return sort__compare_human(a, b, k->fold);
    if (k->month)
        return sort__month(a) - sort__month(b);
    if (k->version)
        return version_cmp(mapped(s, k, a, 0), mapped(s, k, b, 1));
    return k->fold || k->ignore ? mapped_cmp(k, a, b) : bytes_cmp(a, b);
}

int sort__compare_from(struct sort *s, size_t stage, struct str a, struct str b)
{
    for (; stage < s->n_stages; stage++) {
        const struct sort_stage *st = &s->stages[stage];
        int r = st->key ? key_cmp(s, st->key, extract(s, st->key, a), extract(s, st->key, b)) : bytes_cmp(a, b);
        if (r)
            return st->reverse ? -r : r;
    }
    return 0;
}

/* ---- the plan ---- */

static bool is_plain(const struct sort_key *k)
{
    return !(k->ignore || k->fold || k->skip_start || k->skip_end || k->numeric || k->general || k->human || k->month ||
             k->version || k->random);
}

static int check_key(struct sort *s, const struct sort_key *k)
{
    bool other = k->version || k->random || k->ignore;
    if (k->numeric + k->general + k->human + k->month + other > 1) {
        char text[12], *p = text;
        const struct {
            bool on;
            char ch;
        } all[] = {{k->ignore == SORT_DICTIONARY, 'd'},
                   {k->fold, 'f'},
                   {k->general, 'g'},
                   {k->human, 'h'},
                   {k->ignore == SORT_PRINTING, 'i'},
                   {k->month, 'M'},
                   {k->numeric, 'n'},
                   {k->random, 'R'},
                   {k->version, 'V'}};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (all[i].on)
                *p++ = all[i].ch;
        *p = 0;
        cmd_err(s->c, "options '-%s' are incompatible", text);
        return -1;
    }
    if (k->random) {
        cmd_err(s->c, "option '-R' is not implemented here");
        return -1;
    }
    return 0;
}

static enum sort_kind kind_of(const struct sort_key *k)
{
    if (k->month)
        return SORT_WORD;
    if (k->numeric || k->general || k->human)
        return SORT_NUMBER;
    return k->version || k->ignore ? SORT_COMPARE : SORT_TEXT;
}

int sort__plan(struct sort *s, const struct sort_key *global)
{
    s->stages = arena_alloc(s->c->arena, (s->n_keys + 2) * sizeof *s->stages);
    s->reverse = global->reverse;
    for (size_t i = 0; i < s->n_keys; i++) {
        struct sort_key *k = &s->keys[i];
        if (is_plain(k) && !k->reverse) {
            struct sort_key place = *k;
            *k = *global;
            k->sword = place.sword;
            k->schar = place.schar;
            k->eword = place.eword;
            k->echar = place.echar;
        }
    }
    if (s->n_keys == 0 && !is_plain(global)) {
        struct sort_key *k = ARENA_NEW(s->c->arena, struct sort_key);
        *k = *global;
        k->sword = k->eword = SIZE_MAX;
        s->keys = k;
        s->n_keys = 1;
    }
    for (size_t i = 0; i < s->n_keys; i++) {
        const struct sort_key *k = &s->keys[i];
        if (check_key(s, k) < 0)
            return -1;
        s->stages[s->n_stages++] = (struct sort_stage){k, kind_of(k), k->reverse};
    }
    if (s->n_keys == 0 || !(s->unique || s->stable))
        s->stages[s->n_stages++] = (struct sort_stage){NULL, SORT_TEXT, s->reverse};
    return 0;
}
